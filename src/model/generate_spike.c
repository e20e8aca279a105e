/* generate_spike.c: the experiment of §5.2. VMs of four pools idle, evenly over the hosts; then each VM of
 * the first two pools, which share half of the hosts, demands a fifth of a core. */
#include "model/generate_parts.h"

#define CORE_MHZ 2500.0
#define IDLE_LOW 0.008 /* of a core */
#define IDLE_HIGH 0.016
#define SPIKE_LOW 0.18 /* "roughly 20 %"; with the idle load the hosts are just overloaded */
#define SPIKE_HIGH 0.24

static const struct {
    const char *id, *name;
    double cpu_shares, mem_shares;
    bool spikes;
} pools[] = {
    {"rp-high", "RP-HighShare", 8000, 327680, true},
    {"rp-low", "RP-LowShare", 2000, 81920, false},
    {"rp-norm-1", "RP-NormShare-1", 4000, 163840, true},
    {"rp-norm-2", "RP-NormShare-2", 4000, 163840, false},
};

static void add_pools(struct generation *g)
{
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) {
        struct pool_facts *f = &inventory_add_pool(&g->inv, g->a)->is;
        f->id = pools[i].id;
        f->name = pools[i].name;
        f->alloc[RES_CPU].shares = pools[i].cpu_shares;
        f->alloc[RES_MEM].shares = pools[i].mem_shares;
    }
}

/* The k-th VM of a host of the busy half, or of the idle half: the two pools of a half alternate. */
static size_t pool_of(bool spikes, uint32_t k)
{
    size_t skip = k % 2;

    for (size_t i = 0;; i++) {
        if (pools[i].spikes == spikes && skip-- == 0)
            return i;
    }
}

void generate_spike_vms(struct generation *g)
{
    uint32_t loud_hosts = (g->options->hosts + 1) / 2;

    add_pools(g);
    for (uint32_t h = 0; h < g->options->hosts; h++) {
        bool spikes = h < loud_hosts;
        for (uint32_t k = g->first_of[h]; k < g->first_of[h + 1]; k++) {
            struct seen_vm *v = &g->inv.vms[g->vms_of[k]];
            double idle = CORE_MHZ * rng_range(&g->rng, IDLE_LOW, IDLE_HIGH);
            double loud = CORE_MHZ * rng_range(&g->rng, SPIKE_LOW, SPIKE_HIGH);
            double consumed = v->is.mem_mb * rng_range(&g->rng, 0.25, 0.45);
            const struct vm_use use = {
                .cpu_mhz = spikes ? loud : idle,
                .cpu_before_mhz = idle,
                .cpu_most_mhz = CORE_MHZ,
                .consumed_mb = consumed,
                .active_mb = consumed * rng_range(&g->rng, 0.15, 0.3),
            };
            v->pool = pools[pool_of(spikes, k)].id;
            generate_use(g, &v->is, &use);
        }
    }
}
