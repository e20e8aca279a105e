/* per_host_pools.c: the pools' settings on each host.
 *
 * They begin with the snapshot's; where it has none, with those of pool_parts(), which Ballast would set
 * first, so that a cluster without Ballast has sensible trees; or with none, if the scenario says so
 * (parts_unset). Where a VM comes to a host without settings for its pool, the pool gets no reservation,
 * its own limit and its VMs' part of its shares, until they are set.
 */
#include "sim/cluster/cluster_internal.h"

#include "base/xalloc.h"
#include "core/divvy/pool_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Index of the pool's settings, or where to insert them. */
static uint32_t find_failover_slot(const struct host_sim *h, uint32_t pool, bool *ret_found)
{
    uint32_t low = 0, high = h->n_parts;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (h->parts[mid].pool < pool)
            low = mid + 1;
        else
            high = mid;
    }
    *ret_found = low < h->n_parts && h->parts[low].pool == pool;
    return low;
}

static struct pool_part *part_for(struct host_sim *h, uint32_t pool)
{
    bool found;
    uint32_t at = find_failover_slot(h, pool, &found);

    if (found)
        return &h->parts[at];
    h->parts = xalloc_grow(h->parts, h->n_parts, &h->cap_parts, sizeof *h->parts);
    memmove(&h->parts[at + 1], &h->parts[at], (h->n_parts - at) * sizeof *h->parts);
    h->n_parts++;
    h->parts[at] = (struct pool_part){.pool = pool, .implied = true};
    return &h->parts[at];
}

static void set_parts(struct cluster *c, const struct host_setting *all, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct pool_part *p = part_for(&c->hosts[all[i].host], all[i].pool);

        p->implied = false;
        memcpy(p->alloc, all[i].alloc, sizeof p->alloc);
    }
}

void per_host_pools_init(struct cluster *c)
{
    const struct snapshot *s = c->initial;
    double *demand[RES_COUNT];
    struct host_setting *parts;
    uint32_t n;

    c->below = arena_array(&c->arena, struct index_list, s->n_pools + 1);
    for (uint32_t i = 0; i < s->n_vms; i++) {
        for (uint32_t p = s->vms[i].pool; p != IX_NONE; p = s->pools[p].parent)
            cluster_list_append(&c->below[p], i);
    }
    if (c->s->scheduler == SCHEDULER_WEIGHTS)
        return;
    if (s->n_settings > 0 || c->s->parts_unset) {
        set_parts(c, s->settings, s->n_settings);
        return;
    }
    for (int r = 0; r < RES_COUNT; r++) {
        demand[r] = arena_array(&c->scratch, double, s->n_vms + 1);
        for (uint32_t i = 0; i < s->n_vms; i++)
            demand[r][i] = workload_at(&c->s->vms[i].of[r], 0).value;
    }
    pool_parts(s, demand, &c->scratch, &parts, &n);
    set_parts(c, parts, n);
    arena_reset(&c->scratch);
}

/* ---- pools without settings of their host ---- */

static bool is_here(const struct cluster *c, uint32_t vm, uint32_t host)
{
    const struct vm_sim *v = &c->vms[vm];

    return v->now.host == host || (is_moving(v) && v->moving.to == host);
}

static void imply(struct cluster *c, uint32_t host, struct pool_part *part)
{
    const struct pool_facts *pool = &c->initial->pools[part->pool].is;
    const struct index_list *vms = &c->below[part->pool];

    for (int r = 0; r < RES_COUNT; r++) {
        double here = 0, all = 0;

        for (uint32_t i = 0; i < vms->n; i++) {
            double shares = vm_of(c, vms->items[i])->is.alloc[r].shares;

            all += c->vms[vms->items[i]].now.host != IX_NONE ? shares : 0;
            here += is_here(c, vms->items[i], host) ? shares : 0;
        }
        part->alloc[r] =
            (struct alloc){.limit = pool->alloc[r].limit,
                           .shares = fmax(1, pool->alloc[r].shares * fmin(here / fmax(all, 1), 1))};
    }
}

static void follow_vm(struct cluster *c, uint32_t host, uint32_t vm)
{
    for (uint32_t p = vm_of(c, vm)->pool; p != IX_NONE; p = c->initial->pools[p].parent)
        (void)part_for(&c->hosts[host], p);
}

void per_host_pools_update(struct cluster *c, uint32_t host)
{
    struct host_sim *h = &c->hosts[host];

    if (c->initial->n_pools == 0 || c->s->scheduler == SCHEDULER_WEIGHTS)
        return;
    uint32_t set = 0;

    for (uint32_t i = 0; i < h->n_parts; i++) { /* those without settings are computed anew */
        if (!h->parts[i].implied)
            h->parts[set++] = h->parts[i];
    }
    h->n_parts = set;
    for (uint32_t i = 0; i < h->vms.n; i++)
        follow_vm(c, host, h->vms.items[i]);
    for (uint32_t i = 0; i < h->arrives.n; i++) {
        if (is_moving(&c->vms[h->arrives.items[i]]))
            follow_vm(c, host, h->arrives.items[i]);
    }
    for (uint32_t i = 0; i < h->n_parts; i++) {
        if (h->parts[i].implied)
            imply(c, host, &h->parts[i]);
    }
}

/* ---- what is set ---- */

static int check_request(const struct cluster *c, const struct pool_settings *q, struct err *err)
{
    for (size_t i = 0; i < q->n_settings; i++) {
        const struct pool_setting *s = &q->settings[i];

        if (snapshot_find_pool(c->initial, s->pool) == IX_NONE)
            return err_set(err, -ENOENT, "the pool %s does not exist", s->pool);
        for (int r = 0; r < RES_COUNT; r++) {
            if (!s->nothing && s->alloc[r].limit < s->alloc[r].reservation)
                return err_set(err, -EINVAL, "the pool %s would be limited below what it reserves on %s",
                               s->pool, q->host);
        }
    }
    return 0;
}

int per_host_pools_apply(struct cluster *c, const struct pool_settings *q, struct err *err)
{
    uint32_t host = snapshot_find_host(c->initial, q->host);

    if (host == IX_NONE)
        return err_set(err, -ENOENT, "the host %s does not exist", q->host);
    struct host_sim *h = &c->hosts[host];

    if (!is_up(h))
        return err_set(err, -EHOSTDOWN, "the pools of host %s cannot be set: it is in state %s", q->host,
                       host_state_name(h->now.dead ? HOST_DISCONNECTED : h->now.state));
    if (h->refuses_settings)
        return err_set(err, -EPERM, "the host %s refuses to set its pools", q->host);
    int r = check_request(c, q, err);

    if (r < 0 || (r = vm_weights_apply(c, host, q, err)) < 0)
        return r;
    for (size_t i = 0; i < q->n_settings; i++) {
        const struct pool_setting *s = &q->settings[i];
        bool found;
        uint32_t at = find_failover_slot(h, snapshot_find_pool(c->initial, s->pool), &found);

        if (s->nothing && found) {
            memmove(&h->parts[at], &h->parts[at + 1], (h->n_parts - at - 1) * sizeof *h->parts);
            h->n_parts--;
        } else if (!s->nothing) {
            struct pool_part *p = part_for(h, snapshot_find_pool(c->initial, s->pool));

            p->implied = false;
            memcpy(p->alloc, s->alloc, sizeof p->alloc);
        }
    }
    h->tree.built = false;
    cluster_mark_host(c, host);
    return 0;
}
