/* reply_cluster.c: hosts, VMs and pools as JSON, in the order in which a person expects their names. */
#include "daemon/replies/replies.h"

#include "base/cleanup.h"
#include "base/natural.h"
#include "base/wake_method.h"
#include "core/demand/demand.h"
#include "core/divvy/divvy.h"
#include "core/place/starting.h"
#include "engine/look.h"

#include <stdlib.h>

static const char *const res_word[RES_COUNT] = {[RES_CPU] = "cpu", [RES_MEM] = "mem"};

typedef const char *(*name_fn)(const struct snapshot *s, uint32_t ix);

static const char *host_name(const struct snapshot *s, uint32_t ix)
{
    return s->hosts[ix].is.name;
}

static const char *vm_name(const struct snapshot *s, uint32_t ix)
{
    return s->vms[ix].is.name;
}

static const char *pool_name(const struct snapshot *s, uint32_t ix)
{
    return s->pools[ix].is.name;
}

struct sorting {
    const struct snapshot *snap;
    name_fn name;
};

/* Objects with the same name by their ids, as in the snapshot. */
static int compare_names(const void *a, const void *b, void *ctx)
{
    const struct sorting *how = ctx;
    const uint32_t *x = a;
    const uint32_t *y = b;
    int order = natural_compare(how->name(how->snap, *x), how->name(how->snap, *y));

    return order != 0 ? order : (*x > *y) - (*x < *y);
}

/* Indexes in the order in which a person expects the names. */
static uint32_t *by_name(const struct snapshot *s, uint32_t n, name_fn name, struct arena *a)
{
    uint32_t *list = arena_array(a, uint32_t, (size_t)n + 1);
    struct sorting how = {s, name};

    for (uint32_t i = 0; i < n; i++)
        list[i] = i;
    qsort_r(list, n, sizeof *list, compare_names, &how);
    return list;
}

/* Each VM's capped demand and entitlement, and what it was delivered (of VMs alone); what hosts are to get;
 * all by index. */
struct shares_of {
    double *demand[RES_COUNT];
    double *entitlement[RES_COUNT];
    double *delivered[RES_COUNT];
    double *pending[RES_COUNT];
};

static void divide(const struct snapshot *s, struct arena *a, struct shares_of *ret)
{
    starting_on_the_way(s, a, ret->pending);
    for (int r = 0; r < RES_COUNT; r++) {
        ret->demand[r] = arena_array(a, double, s->n_vms);
        ret->entitlement[r] = arena_array(a, double, s->n_vms);
        demand_estimate(s, (enum resource)r, ret->demand[r]);
        (void)divvy_entitle(s, (enum resource)r, ret->demand[r], a, ret->entitlement[r]);
    }
}

void reply_cluster_put_waking(struct json_writer *w, const struct engine *e, const char *host)
{
    struct engine_waking is;

    if (!jw_begin_known(w, "waking", engine_waking(e, host, &is)))
        return;
    jw_text(w, "method", wake_method_name(is.method));
    jw_text(w, "why", is.why);
    jw_end(w);
}

/* Of the methods that Ballast itself would call: those of the configuration, or the source's own. */
static void put_proofs(struct json_writer *w, const struct engine *e, const char *host)
{
    struct engine_method_proof proofs[WAKE_METHODS];
    const size_t n = engine_method_proofs(e, host, proofs);

    jw_begin(w, "wake_proofs", JW_ARRAY, JW_INLINE);
    for (size_t i = 0; i < n; i++) {
        jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
        jw_text(w, "method", wake_method_name(proofs[i].method));
        jw_text(w, "state", method_proof_name(proofs[i].is));
        jw_instant(w, "proven", proofs[i].proven);
        jw_instant(w, "failed", proofs[i].failed);
        jw_text(w, "why", proofs[i].why);
        jw_end(w);
    }
    jw_end(w);
}

/* What the host uses itself, and the memory in use beside what its VMs consume. */
static void put_real_use(struct json_writer *w, const struct snapshot *s, const struct host *h)
{
    const bool up = host_is_up(h);
    double vms = 0;

    for (uint32_t i = 0; i < h->vms.n; i++) {
        const struct vm_facts *v = &s->vms[h->vms.items[i]].is;

        vms += v->consumed_mb + v->overhead_mb;
    }
    jw_figure(w, "own_cpu_mhz", up ? h->own.now[RES_CPU] : UNKNOWN);
    jw_figure(w, "own_mem_mb", up ? h->own.now[RES_MEM] : UNKNOWN);
    jw_instant(w, "own_at", up ? (h->is.own.at != 0 ? h->is.own.at : s->time) : 0);
    jw_figure(w, "mem_used_mb", up ? h->is.total[RES_MEM] - h->is.mem_free_mb : UNKNOWN);
    jw_figure(w, "mem_vms_mb", up ? vms : UNKNOWN);
    jw_figure(w, "swap_in_mb_s", h->is.swap_in_mb_s);
    jw_figure(w, "mem_pressure", h->is.mem_pressure);
}

static void put_host(struct json_writer *w, const struct engine *e, const struct host *h,
                     const struct shares_of *shares)
{
    jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
    jw_text(w, "id", h->is.id);
    jw_text(w, "name", h->is.name);
    jw_text(w, "state", host_state_name(h->is.state));
    jw_text(w, "disconnected_why", h->is.disconnected_why);
    jw_int(w, "cores", h->is.cores);
    jw_int(w, "vms", h->vms.n);
    jw_bool(w, "in_inventory", !h->is.left_inventory);
    jw_text(w, "hardware_uuid", h->is.hardware_uuid);
    jw_text(w, "cpu_vendor", h->is.cpu_vendor);
    jw_text(w, "failure_detection", failure_detection_name(h->is.failure_detection));
    jw_bool(w, "quarantine", h->is.quarantine);
    jw_int(w, "losses", h->is.losses.n);
    jw_instant(w, "last_loss", h->is.losses.last);
    jw_instant(w, "distrusted_until", h->is.losses.distrusted_until);
    jw_bool(w, "vsan", h->is.vsan);
    jw_bool(w, "serves_storage", h->is.serves_storage);
    jw_text(w, "dpm", automation_name(h->is.dpm));
    jw_begin(w, "wake_methods", JW_ARRAY, JW_INLINE);
    for (unsigned i = 0; i < WAKE_METHODS; i++) {
        if (h->is.wake_methods & WAKE_METHOD(i))
            jw_text(w, NULL, wake_method_name(WAKE_METHOD(i)));
    }
    jw_end(w);
    jw_bool(w, "wake_verified", h->is.wake_verified);
    put_proofs(w, e, h->is.id);
    jw_instant(w, "wake_failed_at", h->is.wake_failed_at);
    reply_cluster_put_waking(w, e, h->is.id);
    reply_identity_put(w, e, h->is.id);
    jw_figure(w, "boot_s", h->is.boot_s);
    jw_figure(w, "power_w", h->is.power_w);
    put_real_use(w, engine_snapshot(e), h);
    jw_instant(w, "on_since", h->is.on_since);
    jw_instant(w, "standby_since", h->is.standby_since);
    for (int r = 0; r < RES_COUNT; r++) {
        double demand = 0;
        double entitled = 0;

        for (uint32_t i = 0; i < h->vms.n; i++) {
            demand += shares->demand[r][h->vms.items[i]];
            entitled += shares->entitlement[r][h->vms.items[i]];
        }
        jw_begin(w, res_word[r], JW_OBJECT, JW_INLINE);
        jw_figure(w, "capacity", h->capacity[r]);
        jw_figure(w, "demand", demand);
        jw_figure(w, "entitlement", entitled);
        jw_figure(w, "load", h->capacity[r] > 0 ? entitled / h->capacity[r] : UNKNOWN);
        jw_figure(w, "pending", shares->pending[r][h - engine_snapshot(e)->hosts]);
        jw_end(w);
    }
    jw_end(w);
}

static void put_vm(struct json_writer *w, const struct snapshot *s, uint32_t ix,
                   const struct shares_of *shares)
{
    const struct vm *v = &s->vms[ix];

    jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
    jw_text(w, "id", v->is.id);
    jw_text(w, "name", v->is.name);
    jw_text(w, "state", vm_state_name(v->is.state));
    jw_text(w, "host", v->host == IX_NONE ? NULL : s->hosts[v->host].is.id);
    jw_text(w, "host_name", v->host == IX_NONE ? NULL : s->hosts[v->host].is.name);
    jw_text(w, "pool", v->pool == IX_NONE ? NULL : s->pools[v->pool].is.id);
    jw_text(w, "automation", automation_name(v->is.automation));
    jw_int(w, "vcpus", v->is.vcpus);
    jw_figure(w, "mem_mb", v->is.mem_mb);
    jw_bool(w, "demand_unknown", v->is.demand_unknown);
    jw_figure(w, "ballooned_mb", v->is.ballooned_mb);
    jw_figure(w, "swapped_mb", v->is.swapped_mb);
    for (int r = 0; r < RES_COUNT; r++) {
        jw_begin(w, res_word[r], JW_OBJECT, JW_INLINE);
        jw_figure(w, "demand", shares->demand[r][ix]);
        jw_figure(w, "entitlement", shares->entitlement[r][ix]);
        jw_figure(w, "delivered", shares->delivered[r][ix]);
        jw_figure(w, "score",
                  look_score(v->is.demand[r], shares->entitlement[r][ix], shares->delivered[r][ix]));
        jw_end(w);
    }
    jw_instant(w, "last_migrated", v->is.last_migrated);
    jw_end(w);
}

static void put_pool_figures(struct json_writer *w, const struct divvy_tree *tree, enum resource r,
                             uint32_t ix)
{
    for (uint32_t i = 0; i < tree->n; i++) {
        const struct divvy_node *n = &tree->nodes[i];

        if (n->kind != DIVVY_POOL || n->ix != ix)
            continue;
        jw_begin(w, res_word[r], JW_OBJECT, JW_INLINE);
        jw_figure(w, "reservation", n->set.reservation);
        jw_figure(w, "limit", n->set.limit); /* NO_LIMIT becomes null */
        jw_figure(w, "shares", n->set.shares);
        jw_figure(w, "demand", n->demand);
        jw_figure(w, "entitlement", n->entitlement);
        jw_end(w);
        return;
    }
}

static void put_pools(struct json_writer *w, const struct snapshot *s, const struct shares_of *shares,
                      struct arena *a)
{
    struct divvy_tree trees[RES_COUNT];

    for (int r = 0; r < RES_COUNT; r++)
        divvy_build(s, (enum resource)r, shares->demand[r], a, &trees[r]);
    jw_begin(w, "pools", JW_ARRAY, JW_INLINE);
    const uint32_t *order = by_name(s, s->n_pools, pool_name, a);
    for (uint32_t i = 0; i < s->n_pools; i++) {
        const struct pool *p = &s->pools[order[i]];

        jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
        jw_text(w, "id", p->is.id);
        jw_text(w, "name", p->is.name);
        jw_text(w, "parent", p->parent == IX_NONE ? NULL : s->pools[p->parent].is.id);
        jw_text(w, "parent_name", p->parent == IX_NONE ? NULL : s->pools[p->parent].is.name);
        for (int r = 0; r < RES_COUNT; r++)
            put_pool_figures(w, &trees[r], (enum resource)r, order[i]);
        jw_end(w);
    }
    jw_end(w);
}

void reply_cluster_put(struct json_writer *w, const struct engine *e, enum request_kind kind)
{
    const struct snapshot *s = engine_snapshot(e);
    CLEANUP(arena_releasep) struct arena a = {0};
    bool hosts = kind == REQUEST_HOSTS;
    struct shares_of shares;

    divide(s, &a, &shares);
    if (kind == REQUEST_POOLS) {
        put_pools(w, s, &shares, &a);
        return;
    }
    if (!hosts)
        look_delivered(e, &a, shares.delivered);
    uint32_t n = hosts ? s->n_hosts : s->n_vms;
    const uint32_t *order = by_name(s, n, hosts ? host_name : vm_name, &a);

    jw_begin(w, hosts ? "hosts" : "vms", JW_ARRAY, JW_INLINE);
    for (uint32_t i = 0; i < n; i++) {
        if (hosts)
            put_host(w, e, &s->hosts[order[i]], &shares);
        else
            put_vm(w, s, order[i], &shares);
    }
    jw_end(w);
}
