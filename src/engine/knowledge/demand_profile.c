/* demand_profile.c: what was watched, by quarters of an hour. What follows from it: demand_forecast.c. */
#include "engine/knowledge/demand_slots.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* A look stands for the time since the last one; for none if that is longer: the service was down. */
#define LOOK_STANDS_S 300

/* The highest mean is taken of so much: a burst is served while it lasts, however short it is. */
#define PART_S 60

#define WATCHED_LEAST_S (DEMAND_SLOT_S / 2)
#define PART_WATCHED_LEAST_S (PART_S / 2)

struct demand_profile *demand_profile_new(void)
{
    struct demand_profile *p = xcalloc(1, sizeof *p);

    p->offsets = xcalloc(OFFSETS, sizeof *p->offsets);
    return p;
}

void demand_profile_free(struct demand_profile *p)
{
    if (p)
        free(p->offsets);
    free(p);
}

void demand_profile_set_zone(struct demand_profile *p, utc_offset_fn offset, void *zone)
{
    p->offset = offset;
    p->zone = zone;
    memset(p->offsets, 0, OFFSETS * sizeof *p->offsets);
}

instant_s demand_profile_slot_begin(instant_s at)
{
    return at - at % DEMAND_SLOT_S;
}

const struct demand_profile_record *demand_profile_slot_find(const struct demand_profile *p, instant_s begin)
{
    if (begin <= 0) /* no samples before 1970 */
        return NULL;
    const struct demand_profile_record *r = &p->slots[begin / DEMAND_SLOT_S % DEMAND_SLOTS];

    return r->time == begin ? r : NULL;
}

/* The slot of that time, which takes the place of the one that is DEMAND_DAYS older. */
static struct demand_profile_record *slot_make(struct demand_profile *p, instant_s begin)
{
    struct demand_profile_record *r = &p->slots[begin / DEMAND_SLOT_S % DEMAND_SLOTS];

    if (p->oldest == 0 || begin < p->oldest)
        p->oldest = begin;
    if (r->time != begin)
        *r = (struct demand_profile_record){.time = begin,
                                            .mean = {UNKNOWN, UNKNOWN},
                                            .peak = {UNKNOWN, UNKNOWN},
                                            .size = {UNKNOWN, UNKNOWN},
                                            .expected = {UNKNOWN, UNKNOWN}};
    return r;
}

static void tally_add(struct tally *t, const double of[RES_COUNT], double for_s)
{
    t->seen_s += for_s;
    for (int r = 0; r < RES_COUNT; r++)
        t->sum[r] += of[r] * for_s;
}

static void part_end(struct demand_profile *p)
{
    for (int r = 0; r < RES_COUNT && p->part.seen_s >= PART_WATCHED_LEAST_S; r++)
        p->peak[r] = fmax(p->peak[r], p->part.sum[r] / p->part.seen_s);
    p->part = (struct tally){0};
}

/* What was watched of the slot becomes its record. */
static void slot_end(struct demand_profile *p)
{
    struct demand_profile_record *s = slot_make(p, p->open);

    part_end(p);
    for (int r = 0; r < RES_COUNT && p->demand.seen_s >= WATCHED_LEAST_S; r++) {
        s->mean[r] = p->demand.sum[r] / p->demand.seen_s;
        s->peak[r] = fmax(p->peak[r], s->mean[r]);
        s->size[r] = p->size.sum[r] / p->size.seen_s;
    }
    p->demand = (struct tally){0};
    p->size = (struct tally){0};
    for (int r = 0; r < RES_COUNT; r++)
        p->peak[r] = 0;
    p->unstored_from = p->unstored_from == 0 ? p->open : p->unstored_from;
}

/* What is expected of the next slot is kept in it: it is compared with what comes. */
static void foresee(struct demand_profile *p, instant_s now)
{
    struct demand_profile_record *s = slot_make(p, demand_profile_slot_begin(now) + DEMAND_SLOT_S);
    struct expected x;

    (void)demand_forecast_raw(p, s->time, now, &x);
    for (int r = 0; r < RES_COUNT; r++)
        s->expected[r] = x.demand[r];
    s->days = x.days;
    s->of = x.of;
}

void demand_profile_add(struct demand_profile *p, instant_s now, const struct cluster_demand_sums *look)
{
    instant_s gap = p->looked == 0 ? 0 : now - p->looked;
    instant_s begin = demand_profile_slot_begin(now);

    if (p->looked != 0 && gap <= 0)
        return;
    if (p->open != 0 && p->open != begin)
        slot_end(p);
    else if (p->looked != 0 && now / PART_S != p->looked / PART_S)
        part_end(p);
    if (p->open != begin)
        (void)slot_make(p, begin);
    p->open = begin;
    double for_s = gap <= LOOK_STANDS_S ? (double)gap : 0;
    tally_add(&p->demand, look->demand, for_s);
    tally_add(&p->size, look->size, for_s);
    tally_add(&p->part, look->demand, for_s);
    for (int r = 0; r < RES_COUNT; r++)
        p->size_now[r] = look->size[r];
    p->looked = now;
    foresee(p, now);
}

void demand_profile_woke(struct demand_profile *p, instant_s now)
{
    slot_make(p, demand_profile_slot_begin(now))->woken++;
}

/* ---- what is asked --------------------------------------------------------------------------- */

static bool is_something(const struct demand_profile_record *s)
{
    return !isnan(s->mean[RES_CPU]) || !isnan(s->expected[RES_CPU]) || !isnan(s->expected[RES_MEM]) ||
           s->woken > 0;
}

size_t demand_profile_slots(const struct demand_profile *p, instant_s since, instant_s now, struct arena *a,
                            struct demand_profile_record **ret)
{
    instant_s first = demand_profile_slot_begin(since);
    size_t n = 0;

    if (now - first > (instant_s)DEMAND_SLOTS * DEMAND_SLOT_S)
        first = demand_profile_slot_begin(now) - (instant_s)(DEMAND_SLOTS - 1) * DEMAND_SLOT_S;
    *ret = arena_array(a, struct demand_profile_record, DEMAND_SLOTS);
    for (instant_s t = first; t <= now && n < DEMAND_SLOTS; t += DEMAND_SLOT_S) {
        const struct demand_profile_record *s = demand_profile_slot_find(p, t);
        if (s && is_something(s))
            (*ret)[n++] = *s;
    }
    return n;
}

bool demand_profile_dirty(const struct demand_profile *p)
{
    return p->unstored_from != 0;
}

/* Those that have come to an end, and the present one: what was expected of it outlives a restart in it. */
size_t demand_profile_unstored(const struct demand_profile *p, struct arena *a,
                               struct demand_profile_record **ret)
{
    *ret = NULL;
    return p->unstored_from == 0 ? 0 : demand_profile_slots(p, p->unstored_from, p->open, a, ret);
}

void demand_profile_stored(struct demand_profile *p)
{
    p->unstored_from = 0;
}

void demand_profile_recall(struct demand_profile *p, const struct demand_profile_record *r)
{
    if (r->time > 0 && r->time % DEMAND_SLOT_S == 0)
        *slot_make(p, r->time) = *r;
}
