/* demand_profile.c: what was watched, by quarters of an hour. What follows from it: demand_forecast.c. */
#include "engine/knowledge/demand_profile_internal.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* A look stands for the time since the last one; for none if that is longer: nobody was there. */
#define LOOK_STANDS_S 300

#define PART_S 300 /* that the highest mean is taken of */

#define WATCHED_LEAST_S (PATTERN_SLOT_S / 2)
#define PART_WATCHED_LEAST_S (PART_S / 2)

struct pattern *pattern_new(void)
{
    struct pattern *p = xcalloc(1, sizeof *p);

    p->offsets = xcalloc(OFFSETS, sizeof *p->offsets);
    return p;
}

void pattern_free(struct pattern *p)
{
    if (p)
        free(p->offsets);
    free(p);
}

void pattern_set_zone(struct pattern *p, utc_offset_fn offset, void *zone)
{
    p->offset = offset;
    p->zone = zone;
    memset(p->offsets, 0, OFFSETS * sizeof *p->offsets);
}

instant_s slot_begin(instant_s at)
{
    return at - at % PATTERN_SLOT_S;
}

const struct pattern_record *slot_find(const struct pattern *p, instant_s begin)
{
    if (begin <= 0) /* nobody was there before 1970 */
        return NULL;
    const struct pattern_record *r = &p->slots[begin / PATTERN_SLOT_S % PATTERN_SLOTS];

    return r->time == begin ? r : NULL;
}

/* The slot of that time, which takes the place of the one that is PATTERN_DAYS older. */
static struct pattern_record *slot_make(struct pattern *p, instant_s begin)
{
    struct pattern_record *r = &p->slots[begin / PATTERN_SLOT_S % PATTERN_SLOTS];

    if (r->time != begin)
        *r = (struct pattern_record){.time = begin,
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

static void part_end(struct pattern *p)
{
    for (int r = 0; r < RES_COUNT && p->part.seen_s >= PART_WATCHED_LEAST_S; r++)
        p->peak[r] = fmax(p->peak[r], p->part.sum[r] / p->part.seen_s);
    p->part = (struct tally){0};
}

/* What was watched of the slot becomes its record. */
static void slot_end(struct pattern *p)
{
    struct pattern_record *s = slot_make(p, p->open);

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
static void foresee(struct pattern *p, instant_s now)
{
    struct pattern_record *s = slot_make(p, slot_begin(now) + PATTERN_SLOT_S);
    struct expected x;

    (void)expect_raw(p, s->time, now, &x);
    for (int r = 0; r < RES_COUNT; r++)
        s->expected[r] = x.demand[r];
    s->days = x.days;
    s->of = x.of;
}

void pattern_add(struct pattern *p, instant_s now, const struct pattern_look *look)
{
    instant_s gap = p->looked == 0 ? 0 : now - p->looked;
    instant_s begin = slot_begin(now);

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

void pattern_woke(struct pattern *p, instant_s now)
{
    slot_make(p, slot_begin(now))->woken++;
}

/* ---- what is asked --------------------------------------------------------------------------- */

static bool is_something(const struct pattern_record *s)
{
    return !isnan(s->mean[RES_CPU]) || !isnan(s->expected[RES_CPU]) || !isnan(s->expected[RES_MEM]) ||
           s->woken > 0;
}

size_t pattern_slots(const struct pattern *p, instant_s since, instant_s now, struct arena *a,
                     struct pattern_record **ret)
{
    instant_s first = slot_begin(since);
    size_t n = 0;

    if (now - first > (instant_s)PATTERN_SLOTS * PATTERN_SLOT_S)
        first = slot_begin(now) - (instant_s)(PATTERN_SLOTS - 1) * PATTERN_SLOT_S;
    *ret = arena_array(a, struct pattern_record, PATTERN_SLOTS);
    for (instant_s t = first; t <= now && n < PATTERN_SLOTS; t += PATTERN_SLOT_S) {
        const struct pattern_record *s = slot_find(p, t);
        if (s && is_something(s))
            (*ret)[n++] = *s;
    }
    return n;
}

bool pattern_dirty(const struct pattern *p)
{
    return p->unstored_from != 0;
}

/* Those that have come to an end, and the present one: what was expected of it outlives a restart in it. */
size_t pattern_unstored(const struct pattern *p, struct arena *a, struct pattern_record **ret)
{
    *ret = NULL;
    return p->unstored_from == 0 ? 0 : pattern_slots(p, p->unstored_from, p->open, a, ret);
}

void pattern_stored(struct pattern *p)
{
    p->unstored_from = 0;
}

void pattern_recall(struct pattern *p, const struct pattern_record *r)
{
    if (r->time > 0 && r->time % PATTERN_SLOT_S == 0)
        *slot_make(p, r->time) = *r;
}
