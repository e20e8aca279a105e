/* cluster_demand.c: what each snapshot shows of the cluster's demand goes into the profile, and what that
 * lets expect goes into the snapshot. */
#include "engine/knowledge/cluster_demand.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "core/demand/sample_guard.h"
#include "core/power/sleep_worth.h"
#include "schedule/zone.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct cluster_demand {
    struct demand_profile *profile;
    struct zone *zone; /* that its days are of; NULL: UTC */
    char *zone_name;
};

const struct demand_profile *cluster_demand_profile(const struct cluster_demand *d)
{
    return d->profile;
}

const char *cluster_demand_zone(const struct cluster_demand *d)
{
    return d->zone_name ? d->zone_name : ZONE_UTC;
}

void cluster_demand_approved(struct cluster_demand *d, const struct action_record *r, instant_s now)
{
    if (r->kind == ACTION_POWER_ON && r->reason == REASON_EXPECTED_DEMAND)
        demand_profile_woke(d->profile, now);
}

/* So far ahead snapshots look: longer than a host is ever expected to stay off. */
#define FORECAST_SLOTS (6 * 3600 / DEMAND_SLOT_S)

/* One VM of so many without figures that can be trusted is too many for a sum. */
#define UNKNOWN_PART 10

/* False: too little is known to say what all of them want. A figure that cannot be right is no peak. */
static bool take_sums(const struct snapshot *s, const struct policy *policy, struct cluster_demand_sums *ret)
{
    struct finding wrong;
    uint32_t n = 0, unknown = 0;

    *ret = (struct cluster_demand_sums){0};
    for (uint32_t i = 0; i < s->n_vms; i++) {
        const struct vm_facts *v = &s->vms[i].is;

        if (!vm_takes_part(s, &s->vms[i]))
            continue;
        n++;
        ret->size[RES_CPU] += v->vcpus;
        ret->size[RES_MEM] += v->mem_mb;
        bool impossible = sample_guard_find(s, policy, i, &wrong);
        unknown += v->demand_unknown || v->sample_bad || impossible;
        if (impossible)
            continue;
        for (int r = 0; r < RES_COUNT; r++)
            ret->demand[r] += fmin(v->demand[r], vm_facts_limit_in_force(v, r));
    }
    return unknown * UNKNOWN_PART <= n;
}

static void observe(void *piece, const struct knowledge_context *c, struct snapshot *s, struct arena *a)
{
    struct cluster_demand *d = piece;
    struct cluster_demand_sums sums;
    const struct policy *policy = &c->settings->policy;

    if (take_sums(s, policy, &sums))
        demand_profile_add(d->profile, s->time, &sums);
    s->n_forecast = (uint32_t)demand_forecast_next(d->profile, s->time, FORECAST_SLOTS, a, &s->forecast);
    s->n_quiet = (uint32_t)demand_quiet(d->profile, s->time, policy->dpm.proactive,
                                        sleep_worth_enough_s(s, policy), a, &s->quiet);
}

static int64_t offset_of(void *zone, instant_s at)
{
    return zone_local(zone, at) - at;
}

/* Days are those of the schedule's zone (dpm.time_zone). */
static void configure(void *piece, const struct engine_settings *settings)
{
    struct cluster_demand *d = piece;
    const char *name = settings->schedule ? settings->schedule->zone : NULL;

    if (!name || (d->zone_name && strcmp(name, d->zone_name) == 0))
        return;
    zone_close(d->zone);
    xstrset(&d->zone_name, name);
    d->zone = zone_open(name);
    demand_profile_set_zone(d->profile, d->zone ? offset_of : NULL, d->zone);
}

/* ---- the store ------------------------------------------------------------------------------- */

static bool is_dirty(const void *piece)
{
    const struct cluster_demand *d = piece;

    return demand_profile_dirty(d->profile);
}

static int persist(const void *piece, const struct store_ops *ops, struct store *s, struct err *err)
{
    const struct cluster_demand *d = piece;
    CLEANUP(arena_releasep) struct arena a = {0};
    struct demand_profile_record *list;
    size_t n = demand_profile_unstored(d->profile, &a, &list);
    int r = 0;

    for (size_t i = 0; r == 0 && i < n; i++)
        r = ops->put(s, &(struct record){RECORD_PATTERN, .pattern = &list[i]}, err);
    return r;
}

static void stored(void *piece)
{
    struct cluster_demand *d = piece;

    demand_profile_stored(d->profile);
}

static void recall(void *piece, const struct stored *s, instant_s now)
{
    struct cluster_demand *d = piece;

    (void)now;
    for (size_t i = 0; i < s->n_patterns; i++)
        demand_profile_recall(d->profile, &s->patterns[i]);
}

/* ---- life ------------------------------------------------------------------------------------ */

static void *create(void)
{
    struct cluster_demand *d = xcalloc(1, sizeof *d);

    d->profile = demand_profile_new();
    return d;
}

static void release(void *piece)
{
    struct cluster_demand *d = piece;

    demand_profile_free(d->profile);
    zone_close(d->zone);
    free(d->zone_name);
    free(d);
}

const struct knowledge_ops cluster_demand_ops = {
    .create = create,
    .release = release,
    .configure = configure,
    .observe = observe,
    .is_dirty = is_dirty,
    .persist = persist,
    .stored = stored,
    .recall = recall,
};
