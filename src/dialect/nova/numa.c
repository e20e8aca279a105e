/* numa.c: NUMATopologyFilter: the NUMA cells that flavours and images ask for. Those of hosts: numa_hosts.c.
 */
#include "dialect/nova/internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CPUS_MAX 65536
#define NODES_MAX 64 /* of a snapshot's VM */

/* What a request asks for. Texts NULL: nothing. */
struct topology {
    json_int_t nodes, cpus, mem_mb;
    bool dedicated, isolates; /* CPUs of its own; one more for the emulator */
    const char *pages;        /* "small", "large", "any" */
    json_int_t page_kb;       /* 0: no certain size */
};

static int refuse(const struct cloud *c, const struct request *r, const char *what, const char *value,
                  const char *why)
{
    return err_set(c->err, -EINVAL, "flavor \"%s\": %s \"%s\": %s", r->flavor, what, value, why);
}

/* The extra spec hw:NAME. */
static const char *of_flavor(const struct cloud *c, const struct request *r, const char *name)
{
    const char *text =
        nova_python_str(json_object_get(r->extra_specs, arena_printf(c->a, "hw:%s", name)), c->a);

    return text && *text ? text : NULL;
}

/* The property hw_NAME of the image, also one that image.c does not know. */
static const char *of_image(const struct cloud *c, const struct request *r, const char *name)
{
    const json_t *inner = json_object_get(r->image_json, "properties");
    const char *text = nova_python_str(
        json_object_get(json_is_object(inner) ? inner : r->image_json, arena_printf(c->a, "hw_%s", name)),
        c->a);

    return text && *text ? text : NULL;
}

/* Of either; both at once are an error there. */
static int of_one(const struct cloud *c, const struct request *r, const char *name, const char **ret)
{
    const char *image = of_image(c, r, name);

    *ret = of_flavor(c, r, name);
    if (*ret && image)
        return refuse(c, r, arena_printf(c->a, "hw:%s", name), *ret,
                      "the image has it as well, expected one of them");
    *ret = *ret ? *ret : image;
    return 0;
}

static int read_nodes(const struct cloud *c, const struct request *r, struct topology *t)
{
    const char *text;
    int e = of_one(c, r, "numa_nodes", &text);

    if (e < 0 || !text)
        return e;
    return nova_python_int(text, c->a, &t->nodes) && t->nodes >= 1 && t->nodes <= NODES_MAX
               ? 0
               : refuse(c, r, "hw:numa_nodes", text, "expected 1 to 64");
}

/* A size such as "2MB", "1GB" or "2048", which is KiB. */
static bool read_size(const char *text, json_int_t *ret_kb)
{
    static const char prefixes[] = "KMGT";
    char *end;
    double size = strtod(text, &end);
    double factor = 1;

    if (end == text || !isfinite(size) || strcspn(text, "eExXpPnN") < (size_t)(end - text))
        return false;
    if (*end == '\0' && strspn(text, "0123456789") == strlen(text)) {
        *ret_kb = (json_int_t)size;
        return size >= 1 && size <= COUNT_MAX;
    }
    for (size_t i = 0; i < 4; i++)
        if (*end == prefixes[i])
            factor = pow(1024, (double)i + 1);
    end += factor > 1 ? 1 : 0;
    end += factor > 1 && *end == 'i' ? 1 : 0;
    bool bits = strcmp(end, "b") == 0 || strcmp(end, "bit") == 0;
    double kb = ceil(size * factor / (bits ? 8 : 1)) / 1024;

    *ret_kb = (json_int_t)kb;
    return (bits || strcmp(end, "B") == 0) && kb >= 1 && kb <= COUNT_MAX && kb == floor(kb);
}

static int read_pages(const struct cloud *c, const struct request *r, struct topology *t)
{
    const char *flavor = of_flavor(c, r, "mem_page_size");
    const char *image = of_image(c, r, "mem_page_size");
    const char *text = flavor;

    if (image && (!flavor || (strcmp(flavor, "any") != 0 && strcmp(flavor, "large") != 0)))
        return refuse(c, r, "hw:mem_page_size", flavor ? flavor : "",
                      "the image may have it only with \"any\" or \"large\"");
    text = image ? image : flavor;
    if (!text)
        return 0;
    if (strcmp(text, "small") == 0 || strcmp(text, "large") == 0 || strcmp(text, "any") == 0)
        t->pages = text;
    else if (!read_size(text, &t->page_kb))
        return refuse(c, r, "hw:mem_page_size", text,
                      "expected small, large, any, KiB, or a size such as \"2MB\"");
    return 0;
}

/* Thread policies need the siblings of each CPU, which a snapshot does not have. */
static int check_threads(const struct cloud *c, const struct request *r)
{
    const char *policy;

    for (int i = 0; i < 2; i++) {
        policy = i == 0 ? of_flavor(c, r, "cpu_thread_policy") : of_image(c, r, "cpu_thread_policy");
        if (policy && strcmp(policy, "prefer") != 0)
            return refuse(c, r, "hw:cpu_thread_policy", policy, "not known here, expected \"prefer\"");
    }
    policy = json_string_value(json_object_get(r->extra_specs, "trait:HW_CPU_HYPERTHREADING"));
    return policy ? refuse(c, r, "trait:HW_CPU_HYPERTHREADING", policy, "not known here with CPUs of its own")
                  : 0;
}

static int read_policy(const struct cloud *c, const struct request *r, struct topology *t)
{
    const char *flavor = of_flavor(c, r, "cpu_policy");
    const char *image = of_image(c, r, "cpu_policy");
    const char *emulator = of_flavor(c, r, "emulator_threads_policy");
    bool pcpus = json_object_get(r->extra_specs, "resources:PCPU") != NULL;

    if (flavor && image && strcmp(flavor, "shared") == 0 && strcmp(image, "shared") != 0)
        return refuse(c, r, "hw:cpu_policy", flavor, "the image has another policy");
    t->dedicated = pcpus || strcmp(flavor ? flavor : image ? image : "", "dedicated") == 0;
    t->isolates = t->dedicated && emulator && strcmp(emulator, "isolate") == 0;
    return t->dedicated ? check_threads(c, r) : 0;
}

/* ---- CPUs and memory of each cell ---- */

/* hw:NAME.0, hw:NAME.1 and so on, of the flavour or of the image, up to the first that is missing. */
static int read_list(const struct cloud *c, const struct request *r, const char *name, struct words *ret)
{
    struct words lists[2] = {{0}, {0}};

    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < NODES_MAX; k++) {
            const char *key = arena_printf(c->a, "%s.%zu", name, k);
            const char *text = i == 0 ? of_flavor(c, r, key) : of_image(c, r, key);
            if (!text)
                break;
            nova_words_add(&lists[i], text, c->a);
        }
    *ret = lists[0].n > 0 ? lists[0] : lists[1];
    return lists[0].n > 0 && lists[1].n > 0
               ? refuse(c, r, arena_printf(c->a, "hw:%s.0", name), lists[0].items[0],
                        "the image has it as well, expected one of them")
               : 0;
}

/* "0-3,^2,7": marks the CPUs of the set; false: not such a text, or a CPU that is marked already or too high.
 */
static bool mark_cpus(const struct cloud *c, const char *text, bool *taken, json_int_t cpus,
                      json_int_t *ret_n)
{
    struct words parts = nova_parts_split(text, ',', c->a);
    bool *is = arena_array(c->a, bool, (size_t)cpus);

    for (int without = 0; without < 2; without++)
        for (size_t i = 0; i < parts.n; i++) {
            const char *part = parts.items[i];
            bool caret = *part == '^';
            const char *from = part + caret;
            const char *dash = strchr(from, '-');
            json_int_t first, last;

            if (!*part || caret != (without == 1))
                continue;
            if (!nova_python_int(dash ? arena_strndup(c->a, from, (size_t)(dash - from)) : from, c->a,
                                 &first) ||
                (dash && !nova_python_int(dash + 1, c->a, &last)))
                return false;
            last = dash ? last : first;
            if (first > last || first < 0 || (!without && last >= cpus))
                return false;
            for (json_int_t k = first; k <= last && k < cpus; k++)
                is[k] = !without;
        }
    *ret_n = 0;
    for (json_int_t k = 0; k < cpus; k++) {
        if (is[k] && taken[k])
            return false;
        taken[k] = taken[k] || is[k];
        *ret_n += is[k];
    }
    return true;
}

static json_t *cell_of(const struct topology *t, json_int_t cpus, json_int_t mem_mb, bool first)
{
    json_t *cell = json_pack("{s: I, s: I, s: s*}", t->dedicated ? "dedicated" : "cpus",
                             cpus + (first && t->isolates), "mem_mb", mem_mb, "pages", t->pages);

    if (t->page_kb > 0)
        (void)json_object_set_new(cell, "page_kb", json_integer(t->page_kb));
    return cell;
}

static int even_cells(const struct cloud *c, const struct request *r, const struct topology *t, json_t *cells)
{
    if (t->cpus % t->nodes != 0 || t->mem_mb % t->nodes != 0)
        return refuse(c, r, "hw:numa_nodes", arena_printf(c->a, "%d", (int)t->nodes),
                      "its vcpus and its ram cannot be divided by it");
    for (json_int_t i = 0; i < t->nodes; i++)
        (void)json_array_append_new(cells, cell_of(t, t->cpus / t->nodes, t->mem_mb / t->nodes, i == 0));
    return 0;
}

static int listed_cells(const struct cloud *c, const struct request *r, const struct topology *t,
                        const struct words *cpus, const struct words *mem, json_t *cells)
{
    bool *taken = arena_array(c->a, bool, (size_t)t->cpus);
    json_int_t sum_cpus = 0, sum_mem = 0, n_cpus, mem_mb;

    if (cpus->n != (size_t)t->nodes || mem->n != (size_t)t->nodes)
        return refuse(c, r, "hw:numa_nodes", arena_printf(c->a, "%d", (int)t->nodes),
                      "expected hw:numa_cpus and hw:numa_mem of each node, or of none");
    for (size_t i = 0; i < cpus->n; i++) {
        if (!mark_cpus(c, cpus->items[i], taken, t->cpus, &n_cpus))
            return refuse(c, r, "hw:numa_cpus", cpus->items[i],
                          "expected CPUs of the flavor, each in one node");
        if (!nova_python_int(mem->items[i], c->a, &mem_mb) || mem_mb < 0 || mem_mb > t->mem_mb)
            return refuse(c, r, "hw:numa_mem", mem->items[i], "expected MiB");
        sum_cpus += n_cpus;
        sum_mem += mem_mb;
        (void)json_array_append_new(cells, cell_of(t, n_cpus, mem_mb, i == 0));
    }
    if (sum_cpus != t->cpus || sum_mem != t->mem_mb)
        return refuse(c, r, "hw:numa_cpus", cpus->items[0],
                      "not all vcpus and all ram of the flavor are in a node");
    return 0;
}

static int add_cells(struct cloud *c, const struct request *r, struct topology *t)
{
    struct words cpus, mem;
    json_t *cells = json_array();
    int e;

    t->nodes = t->nodes > 0 ? t->nodes : 1;
    t->cpus = json_integer_value(json_object_get(r->flavor_json, "vcpus"));
    t->mem_mb = json_integer_value(json_object_get(r->flavor_json, "ram"));
    if (t->cpus < 1 || t->cpus > CPUS_MAX)
        e = refuse(c, r, "vcpus", arena_printf(c->a, "%lld", (long long)t->cpus), "expected 1 to 65536");
    else if ((e = read_list(c, r, "numa_cpus", &cpus)) == 0 && (e = read_list(c, r, "numa_mem", &mem)) == 0)
        e = cpus.n > 0 || mem.n > 0 ? listed_cells(c, r, t, &cpus, &mem, cells) : even_cells(c, r, t, cells);
    vm_set_needs(c, r, "numa", cells);
    return e;
}

/* The cells that the request asks for, and the devices near them. */
static int ask(struct cloud *c, const struct request *r)
{
    struct topology t = {0};
    int e;

    if ((e = read_policy(c, r, &t)) < 0 || (e = read_nodes(c, r, &t)) < 0 || (e = read_pages(c, r, &t)) < 0)
        return e;
    if (t.nodes == 0 && !t.pages && t.page_kb == 0 && !t.dedicated &&
        !json_object_get(r->extra_specs, "hw:pmem"))
        return 0;
    e = add_cells(c, r, &t);
    return e < 0 ? e : pci_ask(c, r);
}

int nova_filter_numa(struct cloud *c, const struct request *r, json_t **ret)
{
    int e = ask(c, r);

    /* the name only: the cells of the VM are compared with those of hosts */
    if (e == 0 && vm_given(c, "numa"))
        *ret = json_pack("{s: s}", "needs", "numa");
    return e;
}
