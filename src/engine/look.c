/* look.c: the figures of a look at the cluster. Keeping them is the store's. */
#include "engine/look.h"

#include "base/name_define.h"
#include "core/demand/demand.h"
#include "core/demand/sample_guard.h"
#include "core/divvy/divvy.h"
#include "engine/decide.h"
#include "engine/knowledge/energy_account.h"
#include "engine/observation.h"
#include "engine/state.h"

#include <math.h>

NAME_DEFINE(look_kind, LOOK_KINDS)

#define LOOK_FIGURE_IS(e, word, step, kinds, sum, of) [e] = {word, step, kinds, sum, of},
const struct look_figure_is look_figures[look_figure_count] = {LOOK_FIGURES(LOOK_FIGURE_IS)};

static const enum look_figure demand_of[RES_COUNT] = {LOOK_CPU_DEMAND, LOOK_MEM_DEMAND};
static const enum look_figure entitlement_of[RES_COUNT] = {LOOK_CPU_ENTITLEMENT, LOOK_MEM_ENTITLEMENT};
static const enum look_figure delivered_of[RES_COUNT] = {LOOK_CPU_DELIVERED, LOOK_MEM_DELIVERED};
static const enum look_figure score_of[RES_COUNT] = {LOOK_CPU_SCORE, LOOK_MEM_SCORE};
static const enum look_figure capacity_of[RES_COUNT] = {LOOK_CPU_CAPACITY, LOOK_MEM_CAPACITY};

double look_score(double demand, double entitlement, double delivered)
{
    const double due = demand < entitlement ? demand : entitlement;

    if (isnan(demand) || isnan(entitlement) || isnan(delivered))
        return UNKNOWN;
    return due > 0 && delivered < due ? 100 * delivered / due : 100;
}

/* ---- sums of VMs ----------------------------------------------------------------------------- */

/* What the VMs of a group have together. */
struct group {
    double demand[RES_COUNT], entitlement[RES_COUNT], delivered[RES_COUNT];
    double got[RES_COUNT], due[RES_COUNT]; /* of those with a score */
    uint32_t n_known[RES_COUNT];           /* VMs of which it is known what they got */
    uint32_t n;                            /* VMs with figures */
};

static void add_vm(struct group *g, const struct look_object *vm)
{
    g->n++;
    for (int r = 0; r < RES_COUNT; r++) {
        const double demand = vm->of[demand_of[r]], entitlement = vm->of[entitlement_of[r]],
                     delivered = vm->of[delivered_of[r]];

        g->demand[r] += demand;
        g->entitlement[r] += entitlement;
        if (isnan(delivered))
            continue;
        g->n_known[r]++;
        g->delivered[r] += delivered;
        g->due[r] += fmin(demand, entitlement);
        g->got[r] += fmin(delivered, fmin(demand, entitlement));
    }
}

/* A group without VMs wants nothing and gets nothing; one whose VMs are all unknown is unknown. */
static void put_group(const struct group *g, uint32_t n_vms, struct look_object *ret)
{
    if (g->n == 0 && n_vms > 0)
        return;
    for (int r = 0; r < RES_COUNT; r++) {
        ret->of[demand_of[r]] = g->demand[r];
        ret->of[entitlement_of[r]] = g->entitlement[r];
        if (g->n_known[r] == 0 && g->n > 0)
            continue;
        ret->of[delivered_of[r]] = g->delivered[r];
        ret->of[score_of[r]] = look_score(g->due[r], g->due[r], g->got[r]);
    }
}

/* ---- objects --------------------------------------------------------------------------------- */

struct taking {
    const struct engine *engine;
    const struct snapshot *snap;
    double *entitlement[RES_COUNT]; /* by VM */
    struct group *hosts, *pools, cluster;
    uint32_t *host_vms, *pool_vms; /* running, with figures or not */
    uint32_t n_on;
    double by_score[LOOK_VMS_UNKNOWN - LOOK_VMS_FROM_99 + 1];
    struct look_object *objects;
    size_t n;
};

static struct look_object *add_object(struct taking *t, enum look_kind kind, const char *id)
{
    struct look_object *o = &t->objects[t->n++];

    o->kind = kind;
    o->id = id;
    for (int f = 0; f < look_figure_count; f++)
        o->of[f] = UNKNOWN;
    return o;
}

static double delivered_mem(const struct vm_sample *s)
{
    return isnan(s->mem_overhead_mb) ? s->mem_consumed_mb : s->mem_consumed_mb + s->mem_overhead_mb;
}

/* Whether the figures of a running VM are there and can be right. */
static bool has_figures(const struct engine *e, const struct snapshot *s, uint32_t ix)
{
    const struct vm_facts *is = &s->vms[ix].is;
    struct finding wrong;

    return !is->demand_unknown && !is->sample_bad && !sample_guard_find(s, &e->settings.policy, ix, &wrong);
}

static double delivered_to(const struct vm_sample *s, enum resource r)
{
    return !s->present ? UNKNOWN : r == RES_CPU ? s->cpu_used_mhz : delivered_mem(s);
}

static void put_vm(const struct taking *t, uint32_t ix, const struct vm_sample *s, struct look_object *o)
{
    for (int r = 0; r < RES_COUNT; r++) {
        const double demand = t->snap->vms[ix].is.demand[r], entitlement = t->entitlement[r][ix],
                     delivered = delivered_to(s, (enum resource)r);

        o->of[demand_of[r]] = demand;
        o->of[entitlement_of[r]] = entitlement;
        o->of[delivered_of[r]] = delivered;
        o->of[score_of[r]] = look_score(demand, entitlement, delivered);
    }
}

static void count_score(struct taking *t, const struct look_object *o)
{
    const double score = fmin(o->of[LOOK_CPU_SCORE], o->of[LOOK_MEM_SCORE]); /* of one known: that one */
    const enum look_figure f = isnan(score)               ? LOOK_VMS_UNKNOWN
                               : score >= LOOK_SCORE_FULL ? LOOK_VMS_FROM_99
                               : score >= LOOK_SCORE_GOOD ? LOOK_VMS_FROM_95
                               : score >= LOOK_SCORE_FAIR ? LOOK_VMS_FROM_80
                                                          : LOOK_VMS_BELOW_80;

    t->by_score[f - LOOK_VMS_FROM_99]++;
}

static void take_vm(struct taking *t, uint32_t ix, const struct seen_vm *seen)
{
    const struct snapshot *s = t->snap;
    const struct vm *v = &s->vms[ix];

    if (!vm_takes_part(s, v))
        return;
    t->n_on++;
    t->host_vms[v->host]++;
    for (uint32_t p = v->pool; p != IX_NONE; p = s->pools[p].parent)
        t->pool_vms[p]++;
    if (!has_figures(t->engine, s, ix)) {
        t->by_score[LOOK_VMS_UNKNOWN - LOOK_VMS_FROM_99]++;
        return;
    }
    struct look_object *o = add_object(t, LOOK_VM, v->is.id);

    put_vm(t, ix, &seen->sample, o);
    count_score(t, o);
    add_vm(&t->cluster, o);
    add_vm(&t->hosts[v->host], o);
    for (uint32_t p = v->pool; p != IX_NONE; p = s->pools[p].parent)
        add_vm(&t->pools[p], o);
}

static void take_hosts(struct taking *t, struct look_object *cluster)
{
    const struct snapshot *s = t->snap;
    double power = 0;

    for (int f = LOOK_HOSTS_ON; f <= LOOK_HOSTS_OTHER; f++)
        cluster->of[f] = 0;
    for (int r = 0; r < RES_COUNT; r++)
        cluster->of[capacity_of[r]] = 0;
    for (uint32_t i = 0; i < s->n_hosts; i++) {
        const struct host *h = &s->hosts[i];
        struct look_object *o = add_object(t, LOOK_HOST, h->is.id);
        struct energy_sample draws;

        put_group(&t->hosts[i], t->host_vms[i], o);
        for (int r = 0; r < RES_COUNT; r++) {
            o->of[capacity_of[r]] = host_can_run_vms(h) ? h->capacity[r] : 0;
            cluster->of[capacity_of[r]] += o->of[capacity_of[r]];
        }
        if (energy_account_last_sample(t->engine->knowledge->energy, h->is.id, &draws))
            o->of[LOOK_POWER] = draws.watts;
        power += o->of[LOOK_POWER]; /* one that is unknown makes the sum unknown */
        o->of[LOOK_HOSTS_ON] = h->is.state == HOST_ON;
        o->of[LOOK_HOSTS_STANDBY] = h->is.state == HOST_STANDBY;
        o->of[LOOK_HOSTS_OTHER] = h->is.state != HOST_ON && h->is.state != HOST_STANDBY;
        for (int f = LOOK_HOSTS_ON; f <= LOOK_HOSTS_OTHER; f++)
            cluster->of[f] += o->of[f];
    }
    cluster->of[LOOK_POWER] = power;
}

static void take_pools(struct taking *t)
{
    for (uint32_t i = 0; i < t->snap->n_pools; i++)
        put_group(&t->pools[i], t->pool_vms[i], add_object(t, LOOK_POOL, t->snap->pools[i].is.id));
}

static void take_cluster(struct taking *t, instant_s covers_s, struct look_object *o)
{
    const struct engine *e = t->engine;
    const struct plan *plan = e->passes->decided ? &e->passes->decided->plan : NULL;

    put_group(&t->cluster, t->n_on, o);
    for (int f = LOOK_VMS_FROM_99; f <= LOOK_VMS_UNKNOWN; f++)
        o->of[f] = t->by_score[f - LOOK_VMS_FROM_99];
    if (plan && e->passes->last_time >= t->snap->time - covers_s) {
        o->of[LOOK_IMBALANCE_BEFORE] = plan->before.imbalance;
        o->of[LOOK_IMBALANCE_AFTER] = plan->after.imbalance;
    }
}

void look_take(const struct engine *e, const struct observation *v, instant_s covers_s, struct arena *a,
               struct look *ret)
{
    const struct snapshot *s = &v->snap;
    const struct inventory *inv = &v->seen.inventory;
    struct taking t = {
        .engine = e,
        .snap = s,
        .hosts = arena_array(a, struct group, s->n_hosts),
        .pools = arena_array(a, struct group, s->n_pools),
        .host_vms = arena_array(a, uint32_t, s->n_hosts),
        .pool_vms = arena_array(a, uint32_t, s->n_pools),
        .objects = arena_array(a, struct look_object, (size_t)1 + s->n_hosts + s->n_pools + s->n_vms)};
    double *demand = arena_array(a, double, s->n_vms);

    for (int r = 0; r < RES_COUNT; r++) {
        t.entitlement[r] = arena_array(a, double, s->n_vms);
        demand_estimate(s, (enum resource)r, demand);
        (void)divvy_entitle(s, (enum resource)r, demand, a, t.entitlement[r]);
    }
    struct look_object *cluster = add_object(&t, LOOK_CLUSTER, "");

    for (size_t i = 0; i < inv->n_vms; i++) {
        uint32_t ix = inv->vms[i].is.id ? snapshot_find_vm(s, inv->vms[i].is.id) : IX_NONE;

        if (ix != IX_NONE)
            take_vm(&t, ix, &inv->vms[i]);
    }
    take_hosts(&t, cluster);
    take_pools(&t);
    take_cluster(&t, covers_s, cluster);
    *ret = (struct look){.time = s->time, .covers_s = covers_s, .objects = t.objects, .n = t.n};
}

void look_delivered(const struct engine *e, struct arena *a, double *ret[RES_COUNT])
{
    const struct snapshot *s = &e->now_seen->snap;
    const struct inventory *inv = &e->now_seen->seen.inventory;

    for (int r = 0; r < RES_COUNT; r++) {
        ret[r] = arena_array(a, double, s->n_vms);
        for (uint32_t i = 0; i < s->n_vms; i++)
            ret[r][i] = UNKNOWN;
    }
    for (size_t i = 0; i < inv->n_vms; i++) {
        const uint32_t ix = inv->vms[i].is.id ? snapshot_find_vm(s, inv->vms[i].is.id) : IX_NONE;

        if (ix == IX_NONE || !vm_takes_part(s, &s->vms[ix]) || !has_figures(e, s, ix))
            continue;
        for (int r = 0; r < RES_COUNT; r++)
            ret[r][ix] = delivered_to(&inv->vms[i].sample, (enum resource)r);
    }
}
