/* domain_xml.c: reads the description of a domain. It judges what a single description shows (devices that
 * tie it to its host), not what needs a second one (storage, networks). */
#include "net/libvirt/domain_xml.h"

#include "base/order.h"
#include "base/strbuf.h"
#include "net/libvirt/controls.h"
#include "net/libvirt/domain_numa.h"
#include "net/libvirt/settings.h"
#include "net/xml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VCPUS_MOST 4096
#define MEM_MOST_MB 1e9
#define LABELS_MOST 64
#define CPU_XML_MOST ((size_t)64 << 10)
#define NOVA_URI "http://openstack.org/xmlns/libvirt/nova/"
#define NOVA_FLAVOR_MOST 6 /* facts of a flavour */
#define NOVA_NUMBER_MOST 1e9
#define QUOTA_MOST 1e13 /* microseconds; beyond, and below 0: none */

/* ---- small values --------------------------------------------------------------------------------- */

static const char *attribute_line(const xml_node *node, const char *name, struct arena *a)
{
    const char *value = node ? xml_attribute(node, name, a) : NULL;
    char text[XML_LINE_MAX];

    if (!value || !value[0])
        return NULL;
    net_one_line(value, text, sizeof text);
    return arena_strdup(a, text);
}

static bool attribute_is(const xml_node *node, const char *name, const char *value, struct arena *a)
{
    const char *is = node ? xml_attribute(node, name, a) : NULL;

    return is && strcmp(is, value) == 0;
}

/* A size by its unit: 'KiB' if none is given. UNKNOWN: none, or not of a size. */
double domain_xml_mb(int64_t v, const char *unit)
{
    static const struct {
        const char *word;
        double bytes;
    } units[] = {{"b", 1},
                 {"bytes", 1},
                 {"KB", 1e3},
                 {"k", 1024},
                 {"KiB", 1024},
                 {"MB", 1e6},
                 {"M", 1048576},
                 {"MiB", 1048576},
                 {"GB", 1e9},
                 {"G", 1073741824.0},
                 {"GiB", 1073741824.0},
                 {"TB", 1e12},
                 {"T", 1099511627776.0},
                 {"TiB", 1099511627776.0}};
    double bytes = unit ? 0 : KIB_PER_MIB;

    for (size_t i = 0; unit && i < sizeof units / sizeof units[0]; i++)
        bytes = strcmp(unit, units[i].word) == 0 ? units[i].bytes : bytes;
    if (v <= 0 || bytes <= 0)
        return UNKNOWN;
    return (double)v * bytes / BYTES_PER_MIB;
}

static double size_mb(const xml_node *node, struct arena *a)
{
    int64_t v = 0;

    return xml_int(node, &v) < 0 ? UNKNOWN : domain_xml_mb(v, xml_attribute(node, "unit", a));
}

static double positive(const xml_node *node)
{
    int64_t v = 0;

    return xml_int(node, &v) == 0 && v > 0 ? (double)v : 0;
}

static void because(const char **why, const char *phrase)
{
    if (!*why)
        *why = phrase;
}

/* ---- size and controls ---------------------------------------------------------------------------- */

static void read_size(const xml_node *root, struct arena *a, struct domain_xml *ret)
{
    const xml_node *vcpu = xml_child(root, "vcpu");
    const char *current = vcpu ? xml_attribute(vcpu, "current", a) : NULL;
    double n = current ? strtod(current, NULL) : positive(vcpu);
    double mem = size_mb(xml_child(root, "memory"), a);

    ret->vcpus = n >= 1 && n <= VCPUS_MOST ? (uint32_t)n : 0;
    ret->mem_mb = mem > 0 && mem <= MEM_MOST_MB ? mem : 0;
}

/* CPUs' worth of a quota in each period; NO_LIMIT: none. */
static double cpus_of(double quota, const xml_node *tune, const char *period_name)
{
    double period = positive(xml_child(tune, period_name));

    if (!(quota > 0) || quota > QUOTA_MOST)
        return NO_LIMIT;
    return quota / (period > 0 ? period : 100000); /* the kernel's period */
}

static double quota(const xml_node *tune, const char *quota_name, const char *period_name)
{
    int64_t q = 0;

    return xml_int(xml_child(tune, quota_name), &q) < 0 ? NO_LIMIT : cpus_of((double)q, tune, period_name);
}

static double attribute_number(const xml_node *node, const char *name, struct arena *a)
{
    const char *text = xml_attribute(node, name, a);
    double v = text ? strtod(text, NULL) : 0;

    return v > 0 && v <= QUOTA_MOST ? v : 0;
}

static const xml_node *metadata_of(const xml_node *root, const char *uri, const char *element)
{
    const xml_node *m = xml_first(xml_child(root, "metadata"));

    while (m && !xml_is_ns(m, uri, element))
        m = xml_next(m);
    return m;
}

/* What the domain's admin has set, where Ballast has set something else. */
static void read_own_controls(const xml_node *root, struct arena *a, struct domain_xml *ret)
{
    const xml_node *tune = xml_child(root, "cputune");
    const xml_node *own = metadata_of(root, LIBVIRT_CONTROLS_URI, LIBVIRT_CONTROLS_ELEMENT);

    ret->set = own != NULL;
    ret->own_shares = own ? attribute_number(own, "shares", a) : ret->shares;
    ret->own_vcpu_quota =
        own ? cpus_of(attribute_number(own, "vcpu_quota", a), tune, "period") : ret->vcpu_quota;
    ret->own_global_quota =
        own ? cpus_of(attribute_number(own, "global_quota", a), tune, "global_period") : ret->global_quota;
}

static void read_controls(const xml_node *root, struct arena *a, struct domain_xml *ret)
{
    const xml_node *cpu = xml_child(root, "cputune");
    const xml_node *mem = xml_child(root, "memtune");
    double hard = size_mb(xml_child(mem, "hard_limit"), a);
    double least = size_mb(xml_child(mem, "min_guarantee"), a);

    ret->shares = positive(xml_child(cpu, "shares"));
    ret->vcpu_quota = quota(cpu, "quota", "period");
    ret->global_quota = quota(cpu, "global_quota", "global_period");
    ret->hard_limit_mb = hard < MEM_MOST_MB ? hard : NO_LIMIT; /* also what stands for none */
    ret->min_guarantee_mb = least > 0 && least < MEM_MOST_MB ? least : 0;
    ret->locked = xml_child(root, "memoryBacking/locked") != NULL;
    if (xml_child(cpu, "vcpupin") || xml_child(cpu, "emulatorpin") || xml_child(cpu, "iothreadpin"))
        because(&ret->mandatory_only, "virtual CPUs pinned to those of its host");
    if (xml_child(root, "numatune/memory"))
        because(&ret->mandatory_only, "memory pinned to NUMA nodes of its host");
    if (xml_child(root, "memoryBacking/hugepages"))
        because(&ret->mandatory_only, "memory in huge pages");
}

/* ---- CPU ------------------------------------------------------------------------------------------ */

struct feature {
    const char *name, *policy;
};

/* Names of models, vendors and features, which go into XML again. */
static bool is_word(const char *text)
{
    return text && text[0] && strlen(text) <= FACT_NAME_BYTES_MAX &&
           text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+:-")] == '\0';
}

/* One spelling for equal CPUs: the features by name. */
static void read_model(const xml_node *cpu, const char *model, struct arena *a, struct domain_xml *ret)
{
    struct feature *features = NULL;
    struct strbuf b;
    size_t n = 0, cap = 0;

    for (const xml_node *f = xml_child(cpu, "feature"); f; f = xml_again(f)) {
        struct feature x = {xml_attribute(f, "name", a), xml_attribute(f, "policy", a)};

        if (!is_word(x.name) || (x.policy && !is_word(x.policy)))
            return;
        features = arena_grow(a, features, n, &cap, sizeof *features);
        features[n++] = x;
    }
    if (n > 0)
        qsort(features, n, sizeof *features, order_texts);
    strbuf_init(&b, CPU_XML_MOST);
    strbuf_printf(&b, "<cpu mode='custom' match='exact'><model fallback='forbid'>%s</model>", model);
    for (size_t i = 0; i < n; i++)
        strbuf_printf(&b, "<feature policy='%s' name='%s'/>",
                      features[i].policy ? features[i].policy : "require", features[i].name);
    strbuf_puts(&b, "</cpu>");
    if (!b.overflow) {
        ret->cpu = DOMAIN_CPU_MODEL;
        ret->cpu_model = model;
        ret->cpu_xml = arena_strdup(a, b.text);
    }
    strbuf_release(&b);
}

static void read_cpu(const xml_node *root, struct arena *a, struct domain_xml *ret)
{
    const xml_node *cpu = xml_child(root, "cpu");
    const char *model = xml_line_of(xml_child(cpu, "model"), a);

    if (attribute_is(cpu, "mode", "host-passthrough", a) || attribute_is(cpu, "mode", "maximum", a))
        ret->cpu = DOMAIN_CPU_HOST;
    else if (cpu && is_word(model))
        read_model(cpu, model, a, ret);
}

/* ---- devices -------------------------------------------------------------------------------------- */

static void add_disk(const xml_node *disk, struct arena *a, struct domain_xml *ret, size_t *cap)
{
    const xml_node *source = xml_child(disk, "source");
    struct domain_disk d = {.optional = attribute_is(source, "startupPolicy", "optional", a)};

    if (!source || attribute_is(disk, "type", "network", a))
        return;
    d.path = attribute_line(source, "file", a);
    if (!d.path)
        d.path = attribute_line(source, "dev", a);
    if (!d.path)
        d.path = attribute_line(source, "dir", a);
    d.pool = attribute_line(source, "pool", a);
    d.volume = attribute_line(source, "volume", a);
    if (!d.path && !d.pool) {
        if (!attribute_is(disk, "type", "vhostuser", a) && !attribute_is(disk, "type", "nvme", a))
            return; /* an empty drive */
        because(&ret->immovable, "a disk that is a device of its host");
        return;
    }
    d.target = attribute_line(xml_child(disk, "target"), "dev", a);
    d.copyable = d.target && !attribute_is(disk, "type", "dir", a) &&
                 !attribute_is(disk, "device", "cdrom", a) && !attribute_is(disk, "device", "floppy", a) &&
                 !xml_child(disk, "readonly") && !xml_child(disk, "shareable") &&
                 !xml_child(disk, "transient");
    ret->disks = arena_grow(a, ret->disks, ret->n_disks, cap, sizeof *ret->disks);
    ret->disks[ret->n_disks++] = d;
}

static void add_interface(const xml_node *nic, struct arena *a, struct domain_xml *ret, const char ***names,
                          size_t *cap)
{
    static const char *const attributes[][2] = {
        {"network", "network"}, {"bridge", "bridge"}, {"direct", "dev"}};
    const xml_node *source = xml_child(nic, "source");
    const char *name = NULL;

    /* a transient one of a team is unplugged for the migration */
    if (attribute_is(nic, "type", "hostdev", a) &&
        !attribute_is(xml_child(nic, "teaming"), "type", "transient", a))
        because(&ret->immovable, "a network card passed through");
    if (attribute_is(nic, "type", "vhostuser", a))
        because(&ret->mandatory_only, "a vhost-user network card");
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0] && source; i++) {
        if (attribute_is(nic, "type", attributes[i][0], a))
            name = attribute_line(source, attributes[i][1], a);
    }
    for (uint32_t i = 0; name && i < ret->networks.n; i++)
        name = strcmp((*names)[i], name) == 0 ? NULL : name;
    if (!name || strlen(name) > FACT_NAME_BYTES_MAX || ret->networks.n >= FACT_NAMES_MAX)
        return;
    *names = arena_grow(a, *names, ret->networks.n, cap, sizeof **names);
    (*names)[ret->networks.n++] = name;
}

static void read_bound(const xml_node *d, struct arena *a, struct domain_xml *ret)
{
    if (xml_is(d, "hostdev") && !attribute_is(xml_child(d, "teaming"), "type", "transient", a))
        because(&ret->immovable, "a device of its host passed through");
    else if (xml_is(d, "filesystem"))
        because(&ret->immovable, "a folder shared with its host");
    else if (xml_is(d, "shmem"))
        because(&ret->immovable, "memory shared with other VMs of its host");
    else if (xml_is(d, "tpm") && attribute_is(xml_child(d, "backend"), "type", "passthrough", a))
        because(&ret->immovable, "the TPM of its host");
    else if (xml_is(d, "memory") && attribute_is(d, "model", "nvdimm", a))
        because(&ret->immovable, "an NVDIMM of its host");
    else if ((xml_is(d, "serial") || xml_is(d, "parallel")) && attribute_is(d, "type", "dev", a))
        because(&ret->immovable, "a port of its host");
}

static void read_devices(const xml_node *root, struct arena *a, struct domain_xml *ret)
{
    const char **names = NULL;
    size_t cap_names = 0, cap_disks = 0;

    for (const xml_node *d = xml_first(xml_child(root, "devices")); d; d = xml_next(d)) {
        if (xml_is(d, "disk"))
            add_disk(d, a, ret, &cap_disks);
        else if (xml_is(d, "interface"))
            add_interface(d, a, ret, &names, &cap_names);
        else
            read_bound(d, a, ret);
    }
    ret->networks.items = names;
    if (xml_child(root, "launchSecurity"))
        because(&ret->immovable, "memory that is encrypted for its host");
}

/* ---- notes ---------------------------------------------------------------------------------------- */

#define LEFT_OVER_MOST 32

/* The task of the element, then those of the elements in it. */
static void read_left_over(const xml_node *root, struct arena *a, struct domain_xml *ret)
{
    const xml_node *note = metadata_of(root, LIBVIRT_LEFT_OVER_URI, LIBVIRT_LEFT_OVER_ELEMENT);
    const char **items = note ? arena_array(a, const char *, LEFT_OVER_MOST) : NULL;
    uint32_t n = 0;

    for (const xml_node *x = note; x && n < LEFT_OVER_MOST; x = x == note ? xml_first(note) : xml_next(x)) {
        const char *task = xml_attribute(x, "task", a);

        if (task)
            items[n++] = task;
    }
    ret->left_over = (struct ids){.items = items, .n = n};
}

/* ---- labels --------------------------------------------------------------------------------------- */

static void add_label(struct label **items, uint32_t *n, size_t *cap, struct arena *a, const char *key,
                      const char *value)
{
    if (!value || *n >= LABELS_MOST || strlen(key) > FACT_NAME_BYTES_MAX ||
        strlen(value) > FACT_NAME_BYTES_MAX)
        return;
    for (uint32_t i = 0; i < *n; i++) {
        if (strcmp((*items)[i].key, key) == 0)
            return; /* the first counts */
    }
    *items = arena_grow(a, *items, *n, cap, sizeof **items);
    (*items)[(*n)++] = (struct label){.key = key, .value = value};
}

/* The title, and the texts of the metadata two levels deep: <app:instance><app:role>web</…> is instance.role.
 */
static void read_labels(const xml_node *root, struct arena *a, struct domain_xml *ret)
{
    struct label *items = NULL;
    uint32_t n = 0;
    size_t cap = 0;

    add_label(&items, &n, &cap, a, "title", xml_line_of(xml_child(root, "title"), a));
    for (const xml_node *m = xml_first(xml_child(root, "metadata")); m; m = xml_next(m)) {
        const char *name = xml_name(m);

        if (!xml_first(m))
            add_label(&items, &n, &cap, a, arena_strdup(a, name), xml_line_of(m, a));
        for (const xml_node *k = xml_first(m); k; k = xml_next(k)) {
            if (!xml_first(k))
                add_label(&items, &n, &cap, a, arena_printf(a, "%s.%s", name, xml_name(k)),
                          xml_line_of(k, a));
        }
    }
    ret->labels = (struct labels){.items = items, .n = n};
}

/* ---- OpenStack ------------------------------------------------------------------------------------- */

static void add_number(struct attribute *items, uint32_t *n, const char *name, const xml_node *node)
{
    int64_t v;

    if (xml_int(node, &v) == 0 && v >= 0 && v <= NOVA_NUMBER_MOST)
        items[(*n)++] = (struct attribute){name, {.type = VALUE_NUMBER, .number = (double)v}};
}

static void add_text(struct attribute *items, uint32_t *n, const char *name, const char *text)
{
    if (text && strlen(text) <= FACT_NAME_BYTES_MAX)
        items[(*n)++] = (struct attribute){name, {.type = VALUE_TEXT, .text = text}};
}

/* Whose server it is, and what it was made from, as nova-compute notes it. */
static void read_nova(const xml_node *root, struct arena *a, struct domain_xml *ret)
{
    const xml_node *is = metadata_of(root, NOVA_URI "1.1", "instance");
    struct attribute *flavor = arena_array(a, struct attribute, NOVA_FLAVOR_MOST);
    struct attribute *image = arena_array(a, struct attribute, 1);
    uint32_t n_flavor = 0;
    uint32_t n_image = 0;

    is = is ? is : metadata_of(root, NOVA_URI "1.0", "instance");
    const xml_node *of = xml_child(is, "flavor");
    const xml_node *from = xml_child(is, "root");
    const char *owner = attribute_line(xml_child(is, "owner/project"), "uuid", a);

    ret->owner = owner && strlen(owner) <= FACT_NAME_BYTES_MAX ? owner : NULL;
    add_number(flavor, &n_flavor, "disk_gb", xml_child(of, "disk"));
    add_number(flavor, &n_flavor, "ephemeral_gb", xml_child(of, "ephemeral"));
    add_number(flavor, &n_flavor, "mem_mb", xml_child(of, "memory"));
    add_text(flavor, &n_flavor, "name", attribute_line(of, "name", a));
    add_number(flavor, &n_flavor, "swap_mb", xml_child(of, "swap"));
    add_number(flavor, &n_flavor, "vcpus", xml_child(of, "vcpus"));
    if (attribute_is(from, "type", "image", a))
        add_text(image, &n_image, "id", attribute_line(from, "uuid", a));
    ret->flavor = (struct attributes){flavor, n_flavor};
    ret->image = (struct attributes){image, n_image};
}

int domain_xml_read(const char *text, struct arena *a, struct domain_xml *ret, struct err *err)
{
    struct domain_xml d = {0};
    size_t len = strlen(text);
    xml_doc *doc = NULL;

    if (len > LIBVIRT_XML_BYTES_MAX)
        return err_set(err, -EFBIG, "the description has %zu bytes, expected at most %zu", len,
                       LIBVIRT_XML_BYTES_MAX);
    int r = xml_parse(text, len, &doc, err);

    if (r < 0)
        return err_widen(err, "the description cannot be read");
    const xml_node *root = xml_root(doc);

    d.uuid = xml_line_of(xml_child(root, "uuid"), a);
    d.name = xml_line_of(xml_child(root, "name"), a);
    d.type = attribute_line(root, "type", a);
    d.arch = attribute_line(xml_child(root, "os/type"), "arch", a);
    d.machine = attribute_line(xml_child(root, "os/type"), "machine", a);
    read_size(root, a, &d);
    domain_numa_read(root, a, &d);
    read_controls(root, a, &d);
    read_own_controls(root, a, &d);
    read_left_over(root, a, &d);
    read_cpu(root, a, &d);
    read_devices(root, a, &d);
    read_labels(root, a, &d);
    read_nova(root, a, &d);
    bool domain = xml_is(root, "domain");

    xml_free(doc);
    if (!domain)
        return err_set(err, -EPROTO, "the description is not one of a domain");
    *ret = d;
    return 0;
}
