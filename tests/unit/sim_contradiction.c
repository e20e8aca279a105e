/* sim_contradiction.c: checks the invariants of the cluster by computing its sums anew. */
#include "sim_contradiction.h"

#include "sim/cluster/cluster_internal.h"

/* Sums of the same numbers in another order differ by less than this part. */
#define HAIR (1 + 1e-6)

static bool differ(double x, double y)
{
    return fabs(x - y) > 1e-3;
}

static const char *vm_contradicts(const struct cluster *c, uint32_t vm, struct arena *a)
{
    const struct vm_sim *v = &c->vms[vm];
    const char *id = vm_of(c, vm)->is.id;
    uint32_t found = 0;

    for (uint32_t h = 0; h < c->initial->n_hosts; h++) {
        for (uint32_t i = 0; i < c->hosts[h].vms.n; i++)
            found += c->hosts[h].vms.items[i] == vm;
    }
    if (found != (v->now.host == IX_NONE ? 0u : 1u))
        return arena_printf(a, "the VM %s runs on %u hosts", id, found);
    if (v->now.host == IX_NONE)
        return v->now.gets[RES_CPU] > 0 || v->now.gets[RES_MEM] > 0
                   ? arena_printf(a, "the VM %s does not run and gets something", id)
                   : NULL;
    const struct host_sim *h = &c->hosts[v->now.host];

    if (!v->present)
        return arena_printf(a, "the VM %s runs and is not there", id);
    if (!is_up(h))
        return arena_printf(a, "the VM %s runs on %s, which is in state %s", id,
                            host_of(c, v->now.host)->is.id, host_state_name(h->now.state));
    if (v->now.gets[RES_CPU] > schedule_vm_most_mhz(c, vm, v->now.host) * HAIR)
        return arena_printf(a, "the VM %s gets more CPU than its vCPUs can use", id);
    for (int r = 0; r < RES_COUNT; r++) {
        double most = fmin(v->now.wants[r], vm_weights_alloc(c, vm, (enum resource)r).limit);

        if (c->s->scheduler != SCHEDULER_PROPORTIONAL && v->now.gets[r] > most * HAIR)
            return arena_printf(a, "the VM %s gets more than it wants or may have", id);
    }
    if (v->now.migrating && (v->moving.from != v->now.host || c->hosts[v->moving.to].now.dead))
        return arena_printf(a, "the VM %s is migrated from where it is not, or to a dead host", id);
    return NULL;
}

static const char *host_contradicts(const struct cluster *c, uint32_t host, struct arena *a)
{
    const struct host_sim *h = &c->hosts[host];
    const struct host *is = host_of(c, host);
    double used = h->taken_mhz, mem = 0, wanted = 0, delivered = 0;
    uint32_t moves = 0;

    for (uint32_t i = 0; i < h->vms.n; i++) {
        const struct vm_sim *v = &c->vms[h->vms.items[i]];

        used += v->used_mhz;
        mem += v->now.gets[RES_MEM];
        wanted += v->now.due[RES_CPU];
        delivered += v->now.gets[RES_CPU];
    }
    if (differ(wanted, h->now.wanted[RES_CPU]) || differ(delivered, h->now.delivered[RES_CPU]) ||
        differ(used, h->given_mhz + h->taken_mhz))
        return arena_printf(a, "what the VMs of the host %s want and get does not add up", is->is.id);
    if (used > is->capacity[RES_CPU] * HAIR)
        return arena_printf(a, "the host %s gives %.1f MHz and has %.1f", is->is.id, used,
                            is->capacity[RES_CPU]);
    if (mem > is->capacity[RES_MEM] * HAIR)
        return arena_printf(a, "the host %s gives %.1f MiB and has %.1f", is->is.id, mem,
                            is->capacity[RES_MEM]);
    for (uint32_t i = 0; i < c->moving.n; i++) {
        const struct moving *m = &c->vms[c->moving.items[i]].moving;
        moves += m->from == host || m->to == host;
    }
    if (moves != h->n_moves || moves > migrate_slots_of(c, host))
        return arena_printf(a, "the host %s has %u migrations, counts %u and may have %u", is->is.id, moves,
                            h->n_moves, migrate_slots_of(c, host));
    if (!is_up(h) && (h->vms.n > 0 || h->arrives.n > 0))
        return arena_printf(a, "VMs are on or on their way to the host %s, which is in state %s", is->is.id,
                            host_state_name(h->now.state));
    if (!(h->now.watts >= 0 && h->now.watts < INFINITY))
        return arena_printf(a, "the host %s draws %f W", is->is.id, h->now.watts);
    return NULL;
}

const char *sim_contradiction(const struct cluster *c, struct arena *a)
{
    const char *why = NULL;

    for (uint32_t i = 0; !why && i < c->initial->n_hosts; i++)
        why = host_contradicts(c, i, a);
    for (uint32_t i = 0; !why && i < c->initial->n_vms; i++)
        why = vm_contradicts(c, i, a);
    return why;
}

double sim_next_s(const struct cluster *c)
{
    uint32_t s;

    return events_next(&c->events, &s);
}
