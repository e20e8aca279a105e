/* numa.c: checks and sorts NUMA cells and devices of hosts and VMs. */
#include "model/numa.h"

#include "base/order.h"
#include "model/snapshot_build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATIO_MAX 1e6

/* A figure of an entry of a list. */
struct figure {
    const char *name;
    uint32_t value;
};

static int refuse_entry(const struct place *at, const char *list, uint32_t ix, const char *field,
                        const char *why)
{
    char path[96];

    (void)snprintf(path, sizeof path, "%s/%u%s%s", list, ix, *field ? "/" : "", field);
    return inventory_check_refuse(at, path, "%s", why);
}

static int check_figures(const struct place *at, const char *list, uint32_t ix, const struct figure *figures,
                         size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (figures[i].value > NUMA_COUNT_MAX)
            return refuse_entry(at, list, ix, figures[i].name, "absurd, expected at most 1000000000");
    return 0;
}

static bool is_ratio(bool given, double ratio)
{
    return !given || (isfinite(ratio) && ratio >= 0 && ratio <= RATIO_MAX);
}

static int check_pages(const struct place *at, uint32_t cell, const struct numa_cell *c)
{
    const struct numa_pages *pages = c->pages.items;

    if (c->pages.n > NUMA_PAGES_MAX)
        return refuse_entry(at, "numa", cell, "pages", "too many sizes, expected at most 8");
    for (uint32_t i = 0; i < c->pages.n; i++) {
        if (pages[i].size_kb == 0)
            return refuse_entry(at, "numa", cell, "pages", "a size of 0, expected KiB");
        if (pages[i].size_kb > NUMA_COUNT_MAX || pages[i].total > NUMA_COUNT_MAX ||
            pages[i].used_elsewhere > NUMA_COUNT_MAX)
            return refuse_entry(at, "numa", cell, "pages", "an absurd figure, expected at most 1000000000");
    }
    return 0;
}

static int check_cells(const struct place *at, const struct host_facts *h)
{
    const struct numa_cell *cells = h->numa.items;
    int r;

    if (h->numa.n > NUMA_CELLS_MAX)
        return inventory_check_refuse(at, "numa", "%u cells, expected at most %d", h->numa.n, NUMA_CELLS_MAX);
    for (uint32_t i = 0; i < h->numa.n; i++) {
        const struct numa_cell *c = &cells[i];
        const struct figure figures[] = {{"id", c->id},
                                         {"cpus", c->cpus},
                                         {"dedicated", c->dedicated},
                                         {"mem_mb", c->mem_mb},
                                         {"cpus_used_elsewhere", c->cpus_used_elsewhere},
                                         {"dedicated_used_elsewhere", c->dedicated_used_elsewhere},
                                         {"mem_used_elsewhere_mb", c->mem_used_elsewhere_mb}};

        if ((r = check_figures(at, "numa", i, figures, sizeof figures / sizeof *figures)) < 0 ||
            (r = check_pages(at, i, c)) < 0)
            return r;
        if (!is_ratio(c->cpu_ratio_given, c->cpu_ratio))
            return refuse_entry(at, "numa", i, "cpu_ratio", "no ratio, expected 0 to 1000000");
        if (!is_ratio(c->mem_ratio_given, c->mem_ratio))
            return refuse_entry(at, "numa", i, "mem_ratio", "no ratio, expected 0 to 1000000");
        for (uint32_t k = 0; k < i; k++)
            if (cells[k].id == c->id)
                return refuse_entry(at, "numa", i, "id", "the id of another cell, expected its own");
    }
    return 0;
}

static bool has_texts(const struct labels *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (!inventory_check_is_name(l->items[i].key) || !l->items[i].value)
            return false;
    return l->n <= ATTRIBUTES_MAX;
}

static bool has_names(const struct ids *ids)
{
    for (uint32_t i = 0; i < ids->n; i++)
        if (!inventory_check_is_name(ids->items[i]))
            return false;
    return ids->n <= FACT_NAMES_MAX;
}

#define PROPERTIES_EXPECTED "expected texts by names of at most 255 bytes"

static int check_pools(const struct place *at, const struct host_facts *h)
{
    const struct device_pool *pools = h->device_pools.items;

    if (h->device_pools.n > DEVICE_POOLS_MAX)
        return inventory_check_refuse(at, "device_pools", "%u pools, expected at most %d", h->device_pools.n,
                                      DEVICE_POOLS_MAX);
    for (uint32_t i = 0; i < h->device_pools.n; i++) {
        const struct figure figures[] = {{"count", pools[i].count}, {"cell", pools[i].cell}};
        int r = check_figures(at, "device_pools", i, figures, sizeof figures / sizeof *figures);

        if (r < 0)
            return r;
        if (pools[i].id && !inventory_check_is_name(pools[i].id))
            return refuse_entry(at, "device_pools", i, "id", "empty or too long, expected a name");
        if (!has_texts(&pools[i].properties))
            return refuse_entry(at, "device_pools", i, "properties", PROPERTIES_EXPECTED);
        if (!has_names(&pools[i].on_request))
            return refuse_entry(at, "device_pools", i, "on_request", "expected names of properties");
        for (uint32_t k = 0; pools[i].id && k < i; k++)
            if (pools[k].id && strcmp(pools[k].id, pools[i].id) == 0)
                return refuse_entry(at, "device_pools", i, "id", "the id of another pool, expected its own");
    }
    return 0;
}

int numa_check_host(const struct place *at, const struct host_facts *h)
{
    int r = check_cells(at, h);

    return r < 0 ? r : check_pools(at, h);
}

static int check_request(const struct place *at, uint32_t ix, const struct device_request *q)
{
    const struct device_spec *specs = q->any_of.items;

    if (q->count == 0 || q->count > NUMA_COUNT_MAX)
        return refuse_entry(at, "device_requests", ix, "count", "expected 1 to 1000000000");
    if (q->any_of.n == 0 || q->any_of.n > DEVICE_REQUESTS_MAX)
        return refuse_entry(at, "device_requests", ix, "any_of", "expected 1 to 64 alternatives");
    for (uint32_t i = 0; i < q->any_of.n; i++)
        if (!has_texts(&specs[i].properties))
            return refuse_entry(at, "device_requests", ix, "any_of", PROPERTIES_EXPECTED);
    if (q->pool && !inventory_check_is_name(q->pool))
        return refuse_entry(at, "device_requests", ix, "pool",
                            "empty or too long, expected the id of a pool");
    return 0;
}

int numa_check_vm(const struct place *at, const struct vm_facts *v)
{
    const struct vm_numa_cell *cells = v->numa.items;
    const struct device_request *requests = v->device_requests.items;
    int r;

    if (v->numa.n > NUMA_CELLS_MAX)
        return inventory_check_refuse(at, "numa", "%u cells, expected at most %d", v->numa.n, NUMA_CELLS_MAX);
    for (uint32_t i = 0; i < v->numa.n; i++) {
        const struct vm_numa_cell *c = &cells[i];
        const struct figure figures[] = {{"cpus", c->cpus},
                                         {"dedicated", c->dedicated},
                                         {"mem_mb", c->mem_mb},
                                         {"page_kb", c->page_kb},
                                         {"cell", c->cell}};

        if ((r = check_figures(at, "numa", i, figures, sizeof figures / sizeof *figures)) < 0)
            return r;
        if (c->fixed && !c->cell_given)
            return refuse_entry(at, "numa", i, "fixed", "without cell, expected both");
        for (uint32_t k = 0; c->cell_given && k < i; k++)
            if (cells[k].cell_given && cells[k].cell == c->cell)
                return refuse_entry(at, "numa", i, "cell", "the cell of another one, expected its own");
    }
    if (v->device_requests.n > DEVICE_REQUESTS_MAX)
        return inventory_check_refuse(at, "device_requests", "%u requests, expected at most %d",
                                      v->device_requests.n, DEVICE_REQUESTS_MAX);
    for (uint32_t i = 0; i < v->device_requests.n; i++)
        if ((r = check_request(at, i, &requests[i])) < 0)
            return r;
    return 0;
}

/* ---- order ---- */

static int sort_pages(const struct place *at, struct objects *pages, struct arena *a)
{
    struct numa_pages *items = arena_copy(a, pages->items, pages->n, sizeof *items);

    qsort(items, pages->n, sizeof *items, order_indexes);
    for (uint32_t i = 1; i < pages->n; i++)
        if (items[i].size_kb == items[i - 1].size_kb)
            return inventory_check_refuse(at, "numa", "pages of %u KiB are given twice, expected once",
                                          items[i].size_kb);
    pages->items = items;
    return 0;
}

int numa_sort_host(const struct place *at, struct host_facts *h, struct arena *a)
{
    int r = 0;

    if (h->numa.n > 0) {
        struct numa_cell *cells = arena_copy(a, h->numa.items, h->numa.n, sizeof *cells);

        for (uint32_t i = 0; r == 0 && i < h->numa.n; i++)
            r = cells[i].pages.n > 0 ? sort_pages(at, &cells[i].pages, a) : 0;
        h->numa.items = cells;
    }
    if (h->device_pools.n > 0) {
        struct device_pool *pools = arena_copy(a, h->device_pools.items, h->device_pools.n, sizeof *pools);

        for (uint32_t i = 0; r == 0 && i < h->device_pools.n; i++)
            r = snapshot_build_sort_labels(at, "device_pools", &pools[i].properties, a);
        h->device_pools.items = pools;
    }
    return r;
}

int numa_sort_vm(const struct place *at, struct vm_facts *v, struct arena *a)
{
    int r = 0;

    if (v->device_requests.n == 0)
        return 0;
    struct device_request *requests =
        arena_copy(a, v->device_requests.items, v->device_requests.n, sizeof *requests);

    for (uint32_t i = 0; r == 0 && i < v->device_requests.n; i++) {
        struct device_spec *specs =
            arena_copy(a, requests[i].any_of.items, requests[i].any_of.n, sizeof *specs);

        for (uint32_t k = 0; r == 0 && k < requests[i].any_of.n; k++)
            r = snapshot_build_sort_labels(at, "device_requests", &specs[k].properties, a);
        requests[i].any_of.items = specs;
    }
    v->device_requests.items = requests;
    return r;
}
