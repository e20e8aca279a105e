/* demand_watch.c: what each inventory shows of the cluster's demand goes into the pattern, and what that lets
 * expect goes into the snapshot. */
#include "engine/internal.h"

#include "base/xalloc.h"
#include "schedule/zone.h"

#include <stdlib.h>
#include <string.h>

/* So far ahead snapshots look: longer than a host is ever expected to stay off. */
#define FORECAST_SLOTS (6 * 3600 / PATTERN_SLOT_S)

/* One VM of so many without figures that can be trusted is too many for a sum. */
#define UNKNOWN_PART 10

static bool is_trusted(const struct vm_facts *v)
{
    return !v->demand_unknown && !v->sample_bad;
}

/* False: too little is known to say what all of them want. */
static bool take_sums(const struct snapshot *s, struct pattern_look *ret)
{
    uint32_t n = 0, unknown = 0;

    *ret = (struct pattern_look){0};
    for (uint32_t i = 0; i < s->n_vms; i++) {
        const struct vm_facts *v = &s->vms[i].is;

        if (!vm_takes_part(s, &s->vms[i]))
            continue;
        n++;
        unknown += !is_trusted(v);
        for (int r = 0; r < RES_COUNT; r++)
            ret->demand[r] += fmin(v->demand[r], v->alloc[r].limit);
        ret->size[RES_CPU] += v->vcpus;
        ret->size[RES_MEM] += v->mem_mb;
    }
    return unknown * UNKNOWN_PART <= n;
}

void patterns_look(struct engine *e, struct snapshot *s, struct arena *a, instant_s now)
{
    struct pattern_look look;

    if (take_sums(s, &look))
        pattern_add(e->pattern, now, &look);
    s->n_forecast = (uint32_t)pattern_forecast(e->pattern, now, FORECAST_SLOTS, a, &s->forecast);
}

static int64_t offset_of(void *zone, instant_s at)
{
    return zone_local(zone, at) - at;
}

void patterns_configure(struct engine *e)
{
    const char *name = e->settings.schedule ? e->settings.schedule->zone : NULL;

    if (!name || (e->zone_name && strcmp(name, e->zone_name) == 0))
        return;
    zone_close(e->zone);
    xstrset(&e->zone_name, name);
    e->zone = zone_open(name);
    pattern_set_zone(e->pattern, e->zone ? offset_of : NULL, e->zone);
}

void patterns_release(struct engine *e)
{
    pattern_free(e->pattern);
    zone_close(e->zone);
    free(e->zone_name);
}

void patterns_approved(struct engine *e, const struct action_record *r, instant_s now)
{
    if (r->kind == ACTION_POWER_ON && r->reason == REASON_EXPECTED_DEMAND)
        pattern_woke(e->pattern, now);
}

int patterns_store(const struct engine *e, struct err *err)
{
    struct arena a = {0};
    struct pattern_record *list;
    size_t n = pattern_unstored(e->pattern, &a, &list);
    int r = 0;

    for (size_t i = 0; r == 0 && i < n; i++)
        r = e->port.store_ops->put_pattern(e->port.store, &list[i], err);
    arena_release(&a);
    return r;
}

void patterns_recall(struct engine *e, const struct stored *s)
{
    for (size_t i = 0; i < s->n_patterns; i++)
        pattern_recall(e->pattern, &s->patterns[i]);
}

void engine_forecast(const struct engine *e, instant_s now, instant_s back_s, instant_s ahead_s,
                     struct arena *a, struct engine_forecast *ret)
{
    uint32_t slots = (uint32_t)(ahead_s / PATTERN_SLOT_S) + 1;

    *ret = (struct engine_forecast){
        .enabled = e->settings.policy.dpm.enabled,
        .proactive = e->settings.policy.dpm.proactive,
        .zone = e->zone_name ? e->zone_name : ZONE_UTC,
        .doubted = pattern_doubted(e->pattern, now),
    };
    ret->n_past = pattern_slots(e->pattern, now - back_s, now, a, &ret->past);
    struct expected *ahead = arena_array(a, struct expected, slots);
    for (uint32_t i = 1; i < slots; i++) /* doubted or not: that may be over until then */
        ret->n_ahead +=
            pattern_expect(e->pattern, now + (instant_s)i * PATTERN_SLOT_S, now, &ahead[ret->n_ahead]);
    ret->ahead = ahead;
}
