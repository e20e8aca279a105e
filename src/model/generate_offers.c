/* generate_offers.c: the shape "mixed": hosts that differ in networks, datastores, devices and CPU, and VMs
 * that need some of what their own host offers. */
#include "model/generate_parts.h"

#define NETWORKS 8          /* the first half on every host */
#define NETWORK_SHARE 0.7   /* of hosts with each of the others */
#define HOSTS_PER_STORE 16u /* that share a datastore */
#define GPU_SHARE 0.1
#define GPU "grid_p40-2q"

static bool chance(struct generation *g, double p)
{
    return rng_unit(&g->rng) < p;
}

static struct offer offer(struct generation *g, uint32_t most, const char ***ret)
{
    *ret = arena_array(g->a, const char *, most);
    return (struct offer){.names.items = *ret, .known = true};
}

static void add(struct ids *to, const char **items, const char *name)
{
    items[to->n++] = name;
}

/* The second half of the hosts is a generation older. */
static void offer_host(struct generation *g, uint32_t h)
{
    struct host_facts *f = &g->inv.hosts[h].is;
    bool old = h >= (g->options->hosts + 1) / 2;
    const char **items;

    f->networks = offer(g, NETWORKS, &items);
    for (uint32_t i = 0; i < NETWORKS; i++)
        if (i < NETWORKS / 2 || chance(g, NETWORK_SHARE))
            add(&f->networks.names, items, arena_printf(g->a, "net-%u", i + 1));
    f->datastores = offer(g, 2, &items);
    add(&f->datastores.names, items, "shared");
    add(&f->datastores.names, items, arena_printf(g->a, "store-%u", h / HOSTS_PER_STORE + 1));
    f->devices = offer(g, 1, &items);
    if (chance(g, GPU_SHARE))
        add(&f->devices.names, items, GPU);
    f->cpu_vendor = "intel";
    f->cpu_modes = offer(g, 2, &items);
    add(&f->cpu_modes.names, items, "intel-broadwell");
    if (!old)
        add(&f->cpu_modes.names, items, "intel-skylake");
    f->failure_detection = FAILURE_DETECTION_HEALTHY;
}

/* One of the names that the VM's host offers. */
static struct ids one_of(struct generation *g, const struct offer *has)
{
    const char **items = arena_array(g->a, const char *, 1);

    items[0] = has->names.items[rng_below(&g->rng, has->names.n)];
    return (struct ids){.items = items, .n = 1};
}

static void need(struct generation *g, struct vm_facts *f, const struct host_facts *host)
{
    f->networks = one_of(g, &host->networks);
    f->datastores = one_of(g, &host->datastores);
    f->cpu_vendor = host->cpu_vendor;
    if (chance(g, 0.3))
        f->cpu_mode = host->cpu_modes.names.items[rng_below(&g->rng, host->cpu_modes.names.n)];
    if (host->devices.names.n > 0 && chance(g, 0.1)) {
        f->devices = one_of(g, &host->devices);
        f->mandatory_only = "vGPU " GPU;
    }
    if (chance(g, 0.01))
        f->immovable = "a passthrough device";
}

void generate_offers(struct generation *g)
{
    for (uint32_t h = 0; h < g->options->hosts; h++)
        offer_host(g, h);
    for (uint32_t i = 0; i < g->options->vms; i++)
        need(g, &g->inv.vms[i].is, &g->inv.hosts[g->host_of[i]].is);
}
