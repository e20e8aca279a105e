/* capabilities_xml.c: reads the capabilities of a host. */
#include "collectors/libvirt/capabilities_xml.h"

#include "base/fingerprint.h"
#include "base/order.h"
#include "base/strbuf.h"
#include "net/libvirt/domain_xml.h"
#include "net/xml.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HZ_PER_MHZ 1e6
#define TSC_MOST_HZ 1e11

/* Model, and a fingerprint of all features in an order of their own. */
static const char *name_cpu(const xml_node *cpu, struct arena *a)
{
    const char *model = xml_line_of(xml_child(cpu, "model"), a);
    const char **features = NULL;
    uint64_t print = FINGERPRINT_NONE;
    size_t n = 0, cap = 0;

    for (const xml_node *f = xml_child(cpu, "feature"); f; f = xml_again(f)) {
        const char *name = xml_attribute(f, "name", a);

        if (!name)
            continue;
        features = arena_grow(a, features, n, &cap, sizeof *features);
        features[n++] = name;
    }
    if (!model)
        return NULL;
    if (n > 0)
        qsort(features, n, sizeof *features, order_texts);
    for (size_t i = 0; i < n; i++)
        print = fingerprint_add(fingerprint_add(print, features[i]), " ");
    return arena_printf(a, "host-passthrough %.100s (%08x)", model, (unsigned)(print ^ print >> 32));
}

/* ---- features -------------------------------------------------------------------------------------- */

/* Names that go into XML again. */
static bool is_word(const char *text)
{
    return text && text[0] && strlen(text) <= FACT_NAME_BYTES_MAX &&
           text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+:-")] == '\0';
}

static struct ids features_of(const xml_node *cpu, struct arena *a)
{
    const char **items = NULL;
    size_t n = 0, cap = 0;

    for (const xml_node *f = xml_child(cpu, "feature"); f && n < FACT_NAMES_MAX; f = xml_again(f)) {
        const char *name = xml_attribute(f, "name", a);
        const char *policy = xml_attribute(f, "policy", a);

        if (!is_word(name) || (policy && (strcmp(policy, "disable") == 0 || strcmp(policy, "forbid") == 0)))
            continue;
        items = arena_grow(a, items, n, &cap, sizeof *items);
        items[n++] = name;
    }
    return (struct ids){.items = items, .n = (uint32_t)n};
}

/* Model, vendor and features: what virConnectBaselineCPU() reads. */
static const char *xml_of(const xml_node *cpu, const struct ids *features, struct arena *a)
{
    const char *arch = xml_line_of(xml_child(cpu, "arch"), a);
    const char *model = xml_line_of(xml_child(cpu, "model"), a);
    const char *vendor = xml_line_of(xml_child(cpu, "vendor"), a);
    struct strbuf b;
    const char *ret = NULL;

    if (!is_word(arch) || !is_word(model))
        return NULL;
    strbuf_init(&b, LIBVIRT_XML_BYTES_MAX);
    strbuf_printf(&b, "<cpu><arch>%s</arch><model>%s</model>", arch, model);
    if (is_word(vendor))
        strbuf_printf(&b, "<vendor>%s</vendor>", vendor);
    for (uint32_t i = 0; i < features->n; i++)
        strbuf_printf(&b, "<feature name='%s'/>", features->items[i]);
    strbuf_puts(&b, "</cpu>");
    if (!b.overflow)
        ret = arena_strdup(a, b.text);
    strbuf_release(&b);
    return ret;
}

struct ids capabilities_xml_features(const char *cpu_xml, struct arena *a)
{
    xml_doc *doc = NULL;
    struct ids ret = {0};

    if (strlen(cpu_xml) > LIBVIRT_XML_BYTES_MAX || xml_parse(cpu_xml, strlen(cpu_xml), &doc, NULL) < 0)
        return ret;
    if (xml_is(xml_root(doc), "cpu"))
        ret = features_of(xml_root(doc), a);
    xml_free(doc);
    return ret;
}

/* ---- what else a host says of itself ---------------------------------------------------------------- */

static const char *vendor_of(const xml_node *cpu, struct arena *a)
{
    char *text = xml_text(xml_child(cpu, "vendor"), a);

    if (!text || !text[0] || strlen(text) > FACT_NAME_BYTES_MAX)
        return NULL;
    for (char *c = text; *c; c++) {
        if (!isgraph((unsigned char)*c))
            return NULL;
        *c = (char)tolower((unsigned char)*c);
    }
    return text;
}

static double tsc_of(const xml_node *cpu, struct arena *a)
{
    for (const xml_node *c = xml_child(cpu, "counter"); c; c = xml_again(c)) {
        const char *name = xml_attribute(c, "name", a);
        const char *hz = xml_attribute(c, "frequency", a);
        double v = hz ? strtod(hz, NULL) : 0;

        if (name && strcmp(name, "tsc") == 0 && v >= HZ_PER_MHZ && v <= TSC_MOST_HZ)
            return v / HZ_PER_MHZ;
    }
    return UNKNOWN;
}

struct names {
    const char **items;
    size_t n, cap;
};

static void add_machine(struct names *l, const char *arch, const char *machine, struct arena *a)
{
    if (!machine || !machine[0] || l->n >= FACT_NAMES_MAX || strlen(machine) > FACT_NAME_BYTES_MAX)
        return;
    l->items = arena_grow(a, l->items, l->n, &l->cap, sizeof *l->items);
    l->items[l->n++] = arena_printf(a, "%s/%s", arch, machine);
}

/* Those of the emulator, and those of each kind of domain where it has some of its own. */
static void add_machines(const xml_node *in, struct names *l, const char *arch, struct arena *a)
{
    for (const xml_node *m = xml_child(in, "machine"); m; m = xml_again(m)) {
        add_machine(l, arch, xml_text(m, a), a);
        add_machine(l, arch, xml_attribute(m, "canonical", a), a);
    }
}

static struct ids machines_of(const xml_node *root, struct arena *a)
{
    struct names l = {0};

    for (const xml_node *g = xml_child(root, "guest"); g; g = xml_again(g)) {
        const xml_node *arch = xml_child(g, "arch");
        const char *name = arch ? xml_attribute(arch, "name", a) : NULL;

        if (!name || strlen(name) > FACT_NAME_BYTES_MAX)
            continue;
        add_machines(arch, &l, name, a);
        for (const xml_node *d = xml_child(arch, "domain"); d; d = xml_again(d))
            add_machines(d, &l, name, a);
    }
    if (l.n > 0)
        qsort(l.items, l.n, sizeof *l.items, order_texts);
    size_t kept = 0;
    for (size_t i = 0; i < l.n; i++) {
        if (kept == 0 || strcmp(l.items[kept - 1], l.items[i]) != 0)
            l.items[kept++] = l.items[i];
    }
    return (struct ids){.items = l.items, .n = (uint32_t)kept};
}

/* ---- NUMA nodes ---- */

static bool read_figure(const xml_node *node, const char *attribute, struct arena *a, uint32_t *ret)
{
    const char *text = attribute && node ? xml_attribute(node, attribute, a) : NULL;
    char *end = NULL;
    int64_t v = text ? strtoll(text, &end, 10) : -1;

    if (!attribute && xml_int(node, &v) < 0)
        return false;
    *ret = (uint32_t)v;
    return v >= 0 && v <= NUMA_COUNT_MAX && (!text || (end != text && *end == '\0'));
}

/* Pages of each size, whatever of them is in use: libvirt gives sizes in KiB. */
static struct objects pages_of(const xml_node *cell, struct arena *a)
{
    struct numa_pages *items = arena_array(a, struct numa_pages, NUMA_PAGES_MAX);
    uint32_t n = 0;

    for (const xml_node *p = xml_child(cell, "pages"); p && n < NUMA_PAGES_MAX; p = xml_again(p)) {
        bool known = !read_figure(p, "size", a, &items[n].size_kb) || items[n].size_kb == 0 ||
                     !read_figure(p, NULL, a, &items[n].total);

        for (uint32_t i = 0; i < n; i++)
            known = known || items[i].size_kb == items[n].size_kb;
        n += !known;
    }
    return (struct objects){items, n};
}

static struct objects cells_of(const xml_node *topology, struct arena *a)
{
    struct numa_cell *items = arena_array(a, struct numa_cell, NUMA_CELLS_MAX);
    uint32_t n = 0;

    for (const xml_node *c = xml_child(topology, "cells/cell"); c; c = xml_again(c)) {
        struct numa_cell *to = &items[n];
        int64_t kib = 0;
        bool good = n < NUMA_CELLS_MAX && read_figure(c, "id", a, &to->id) &&
                    xml_int(xml_child(c, "memory"), &kib) == 0 && kib >= 0 &&
                    kib / (int64_t)KIB_PER_MIB <= NUMA_COUNT_MAX;

        for (uint32_t i = 0; good && i < n; i++)
            good = items[i].id != to->id;
        if (!good)
            return (struct objects){0};
        to->mem_mb = (uint32_t)(kib / (int64_t)KIB_PER_MIB);
        for (const xml_node *cpu = xml_child(c, "cpus/cpu"); cpu; cpu = xml_again(cpu)) {
            to->cpus++;
            to->socket_given = read_figure(cpu, "socket_id", a, &to->socket);
        }
        to->pages = pages_of(c, a);
        n++;
    }
    return (struct objects){items, n};
}

static int parse(const char *text, const char *expected, xml_doc **ret, struct err *err)
{
    size_t len = strlen(text);

    if (len > LIBVIRT_XML_BYTES_MAX)
        return err_set(err, -EFBIG, "the %s have %zu bytes, expected at most %zu", expected, len,
                       LIBVIRT_XML_BYTES_MAX);
    int r = xml_parse(text, len, ret, err);

    return r < 0 ? err_widen(err, "the %s cannot be read", expected) : 0;
}

int capabilities_xml_read(const char *text, struct arena *a, struct capabilities_xml *ret, struct err *err)
{
    xml_doc *doc = NULL;
    int r = parse(text, "capabilities", &doc, err);

    if (r < 0)
        return r;
    const xml_node *root = xml_root(doc);
    const xml_node *cpu = xml_child(root, "host/cpu");
    struct capabilities_xml c = {.uuid = xml_line_of(xml_child(root, "host/uuid"), a),
                                 .arch = xml_line_of(xml_child(cpu, "arch"), a),
                                 .vendor = vendor_of(cpu, a),
                                 .host_cpu = name_cpu(cpu, a),
                                 .tsc_mhz = tsc_of(cpu, a),
                                 .numa = cells_of(xml_child(root, "host/topology"), a),
                                 .machines = machines_of(root, a),
                                 .features = features_of(cpu, a)};

    c.cpu_xml = xml_of(cpu, &c.features, a);

    if (!xml_is(root, "capabilities"))
        r = err_set(err, -EPROTO, "the capabilities are not those of a host");
    xml_free(doc);
    if (r == 0)
        *ret = c;
    return r;
}
