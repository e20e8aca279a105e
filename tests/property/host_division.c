#include "host_division.h"

#include "core/demand/demand.h"
#include "core/divvy/divvy.h"
#include "core/divvy/pool_parts.h"

/* A cluster that is this host alone: its VMs, and the pools with their parts there. */
struct alone {
    struct snapshot snap;
    struct host host;
    uint32_t *vms; /* by index of the VM here: that in the whole cluster */
    double *wants;
};

static void take_parts(struct alone *x, const struct snapshot *s, uint32_t host, enum resource r,
                       const struct host_setting *parts, uint32_t n_parts, struct arena *a)
{
    x->snap.pools = arena_array(a, struct pool, s->n_pools);
    for (uint32_t p = 0; p < s->n_pools; p++) {
        x->snap.pools[p] = s->pools[p];
        x->snap.pools[p].is.scalable_shares = false; /* the parts' shares are scaled already */
        x->snap.pools[p].is.alloc[r] = (struct alloc){.limit = NO_LIMIT, .expandable = true};
    }
    for (uint32_t i = 0; i < n_parts; i++)
        if (parts[i].host == host) {
            x->snap.pools[parts[i].pool].is.alloc[r] = parts[i].alloc[r];
            x->snap.pools[parts[i].pool].is.alloc[r].expandable = true;
        }
}

static void take_vms(struct alone *x, const struct snapshot *s, uint32_t host, enum resource r,
                     const double *demand, struct arena *a)
{
    double *of_pool = arena_array(a, double, s->n_pools); /* what its VMs here want */

    x->snap.vms = arena_array(a, struct vm, s->n_vms);
    x->vms = arena_array(a, uint32_t, s->n_vms);
    x->wants = arena_array(a, double, s->n_vms);
    for (uint32_t v = 0; v < s->n_vms; v++) {
        if (s->vms[v].host != host || !vm_takes_part(s, &s->vms[v]))
            continue;
        struct vm *vm = &x->snap.vms[x->snap.n_vms];
        *vm = s->vms[v];
        vm->host = 0;
        x->wants[x->snap.n_vms] = demand[v];
        x->vms[x->snap.n_vms++] = v;
        for (uint32_t p = vm->pool; p != IX_NONE; p = s->pools[p].parent)
            of_pool[p] += demand[v];
    }
    for (uint32_t p = 0; p < s->n_pools; p++)
        x->snap.pools[p].is.alloc[r].reservation = fmin(x->snap.pools[p].is.alloc[r].reservation, of_pool[p]);
}

static void divide(const struct snapshot *s, uint32_t host, enum resource r, const struct host_setting *parts,
                   uint32_t n_parts, const double *demand, struct arena *a, double *ret_got)
{
    struct alone x = {.snap = *s, .host = s->hosts[host]};

    x.snap.hosts = &x.host;
    x.snap.n_hosts = 1;
    x.snap.n_vms = x.snap.n_rules = x.snap.n_migrations = x.snap.n_pending = 0;
    x.host.is.state = HOST_ON;
    x.host.failover = false;
    take_parts(&x, s, host, r, parts, n_parts, a);
    take_vms(&x, s, host, r, demand, a);
    double *got = arena_array(a, double, x.snap.n_vms);
    (void)divvy_entitle(&x.snap, r, x.wants, a, got);
    for (uint32_t v = 0; v < x.snap.n_vms; v++)
        ret_got[x.vms[v]] = got[v];
}

void host_division(const struct snapshot *s, struct arena *a, double *ret_got[RES_COUNT])
{
    double *demand[RES_COUNT];
    struct host_setting *parts;
    uint32_t n_parts;

    for (int r = 0; r < RES_COUNT; r++) {
        demand[r] = arena_array(a, double, s->n_vms);
        ret_got[r] = arena_array(a, double, s->n_vms);
        demand_estimate(s, (enum resource)r, demand[r]);
    }
    pool_parts(s, demand, a, &parts, &n_parts);
    for (uint32_t h = 0; h < s->n_hosts; h++)
        for (int r = 0; r < RES_COUNT; r++)
            divide(s, h, (enum resource)r, parts, n_parts, demand[r], a, ret_got[r]);
}
