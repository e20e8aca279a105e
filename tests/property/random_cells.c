/* Random NUMA cells and devices of hosts and VMs. Small figures, so that cells and pools are often nearly
 * full. */
#include "random_fit.h"

#include <ballast/snapshot.h>

#include <stdio.h>
#include <string.h>

static const char *const products[] = {"nic", "gpu", "disk"};
static const char *const ids[] = {"p0", "p1", "p2", "p3"};

static bool chance(struct rng *r, double p)
{
    return rng_unit(r) < p;
}

static struct labels properties(struct rng *r, bool typed, struct arena *a)
{
    struct label *items = arena_array(a, struct label, 2);
    uint32_t n = 0;

    if (chance(r, 0.85))
        items[n++] = (struct label){"product", products[rng_below(r, 3)]};
    if (typed && chance(r, 0.5))
        items[n++] = (struct label){"type", chance(r, 0.5) ? "pf" : "vf"};
    return (struct labels){items, n};
}

static void fill_host(struct rng *r, struct host_facts *h, struct arena *a)
{
    static const char *const type[] = {"type"};
    uint32_t n = 1 + rng_below(r, 4);
    struct numa_cell *cells = arena_array(a, struct numa_cell, n);
    struct device_pool *pools = arena_array(a, struct device_pool, 4);
    bool sockets = chance(r, 0.8);
    bool paged = chance(r, 0.5);

    for (uint32_t i = 0; i < n; i++) {
        struct numa_pages *pages = arena_array(a, struct numa_pages, 2);

        cells[i] = (struct numa_cell){.id = 2 * i,
                                      .socket = i / 2,
                                      .socket_given = sockets,
                                      .cpus = 2 + rng_below(r, 5),
                                      .dedicated = rng_below(r, 5),
                                      .mem_mb = 1024 * (2 + rng_below(r, 6)),
                                      .cpu_ratio = 1 + rng_below(r, 3),
                                      .cpu_ratio_given = chance(r, 0.8),
                                      .mem_ratio = 1.5,
                                      .mem_ratio_given = chance(r, 0.5),
                                      .mem_used_elsewhere_mb = chance(r, 0.2) ? 512 : 0};
        pages[0] = (struct numa_pages){.size_kb = 2048, .total = 512 * (1 + rng_below(r, 4))};
        pages[1] = (struct numa_pages){
            .size_kb = 4, .total = 256 * cells[i].mem_mb, .used_elsewhere = rng_below(r, 2)};
        cells[i].pages = (struct objects){pages, paged ? 2 : 0};
    }
    h->numa = (struct objects){cells, n};
    n = rng_below(r, 5);
    for (uint32_t i = 0; i < n; i++) {
        pools[i] = (struct device_pool){.id = ids[i],
                                        .count = rng_below(r, 4),
                                        .cell = 2 * rng_below(r, h->numa.n),
                                        .cell_given = chance(r, 0.7),
                                        .properties = properties(r, true, a)};
        if (pools[i].properties.n == 2 && strcmp(pools[i].properties.items[1].value, "pf") == 0)
            pools[i].on_request = (struct ids){type, 1};
    }
    h->device_pools = (struct objects){pools, n};
}

static void fill_vm(struct rng *r, struct vm_facts *v, struct arena *a)
{
    uint32_t n = chance(r, 0.7) ? 1 + rng_below(r, 2) : 0;
    struct vm_numa_cell *cells = arena_array(a, struct vm_numa_cell, 2);
    struct device_request *requests = arena_array(a, struct device_request, 2);
    bool dedicated = chance(r, 0.3);
    bool known = chance(r, 0.5);

    for (uint32_t i = 0; i < n; i++) {
        cells[i] = (struct vm_numa_cell){.mem_mb = 512 * (1 + rng_below(r, 3)),
                                         .pages = chance(r, 0.3) ? (enum numa_page_choice)rng_below(r, 4)
                                                                 : NUMA_PAGES_BY_SIZE,
                                         .cell = 2 * i,
                                         .cell_given = known,
                                         .fixed = known && chance(r, 0.1)};
        *(dedicated ? &cells[i].dedicated : &cells[i].cpus) = 1 + rng_below(r, 2);
    }
    v->numa = (struct objects){cells, n};
    n = chance(r, 0.3) ? 1 + rng_below(r, 2) : 0;
    for (uint32_t i = 0; i < n; i++) {
        struct device_spec *specs = arena_array(a, struct device_spec, 2);

        specs[0].properties = properties(r, true, a);
        specs[1].properties = properties(r, chance(r, 0.5), a);
        requests[i] = (struct device_request){.count = 1 + rng_below(r, 2),
                                              .any_of = {specs, 1 + rng_below(r, 2)},
                                              .affinity = (enum device_affinity)rng_below(r, 4)};
    }
    v->device_requests = (struct objects){requests, n};
}

void random_cells(struct rng *r, struct inventory *inv, struct arena *a)
{
    for (size_t i = 0; i < inv->n_hosts; i++)
        if (chance(r, 0.9))
            fill_host(r, &inv->hosts[i].is, a);
    for (size_t i = 0; i < inv->n_vms; i++)
        if (inv->vms[i].is.kind == VM_NORMAL && chance(r, 0.5))
            fill_vm(r, &inv->vms[i].is, a);
}
