/* demand_forecast.c: what the days before let expect. */
#include "engine/knowledge/demand_slots.h"

#include "base/order.h"

#include <stdlib.h>

#define DAY_S (24 * 3600)
#define WEEK_DAYS 7
#define EPOCH_WEEKDAY 3 /* 1970-01-01 was a Thursday; Monday is 0 */
#define SATURDAY 5

#define ALIKE_MOST 10 /* days that are looked at */
#define WEEKS_MOST 4
#define WEEKS_LEAST 3 /* one day may be expected to be like the last; a weekday only like several */

#define AGREE_PART 0.85 /* of what is expected: a day that came to so much had it */
#define QUARTILE 0.75
#define SIZE_MOST 2.0 /* the VMs have become so much larger, or smaller: another cluster */
#define RECENT 3
#define RECENT_AGREE 2

/* So many days in a row on which it did not come, of the last two weeks, and it is not expected any more. */
#define TRUST_DAYS 14
#define TRUST_MISSED 2

/* So many slots in a row below what was expected of them make it another day; it is looked for so far back.
 */
#define DISTRUST_SLOTS 2
#define DISTRUST_S (18 * 3600)

/* What the days alike had at the time of one slot, the newest first. */
struct days {
    double value[ALIKE_MOST];
    uint32_t n;
};

/* Zones are slow to ask, and change their mind twice a year. */
static int64_t offset_at(const struct demand_profile *p, instant_s t)
{
    instant_s slot = demand_profile_slot_begin(t);

    if (!p->offset || slot < 0) /* no samples before 1970 */
        return 0;
    struct offset *o = &p->offsets[slot / DEMAND_SLOT_S % OFFSETS];
    if (o->slot != slot)
        *o = (struct offset){.slot = slot, .offset_s = p->offset(p->zone, slot)};
    return o->offset_s;
}

static instant_s local(const struct demand_profile *p, instant_s t)
{
    return t + offset_at(p, t);
}

/* The same time of the day, so many days earlier. The clock may have been changed in between. */
static instant_s days_earlier(const struct demand_profile *p, instant_s t, int days)
{
    instant_s earlier = t - (instant_s)days * DAY_S;

    return demand_profile_slot_begin(earlier + offset_at(p, t) - offset_at(p, earlier));
}

static int weekday(const struct demand_profile *p, instant_s t)
{
    return (int)((local(p, t) / DAY_S + EPOCH_WEEKDAY) % WEEK_DAYS);
}

/* Whether the day that many days earlier counts. */
static bool is_alike(enum alike_days kind, int today, int days)
{
    int then = (today + WEEK_DAYS - days % WEEK_DAYS) % WEEK_DAYS;

    if (kind == ALIKE_WEEKDAY)
        return days % WEEK_DAYS == 0;
    return (then >= SATURDAY) == (today >= SATURDAY);
}

/* How large the VMs are now, against this time of that day. UNKNOWN: too different. */
static double growth(const struct demand_profile *p, instant_s now, int days, int r)
{
    const struct demand_profile_record *then = demand_profile_slot_find(p, days_earlier(p, now, days));

    if (!then || isnan(then->size[r]) || !(then->size[r] > 0) || !(p->size_now[r] > 0))
        return 1;
    double factor = p->size_now[r] / then->size[r];
    return factor <= SIZE_MOST && factor >= 1 / SIZE_MOST ? factor : UNKNOWN;
}

static void collect(const struct demand_profile *p, instant_s slot, instant_s now, enum alike_days kind,
                    int r, struct days *ret)
{
    uint32_t most = kind == ALIKE_WEEKDAY ? WEEKS_MOST : ALIKE_MOST;
    /* a slot of tomorrow is compared with today, if that part of today is over */
    int today = weekday(p, slot);

    ret->n = 0;
    for (int d = 1; d < DEMAND_DAYS && ret->n < most; d++) {
        if (!is_alike(kind, today, d))
            continue;
        instant_s at = days_earlier(p, slot, d);
        if (at < p->oldest)
            break;
        const struct demand_profile_record *s =
            at + DEMAND_SLOT_S <= now ? demand_profile_slot_find(p, at) : NULL;
        double factor = s && !isnan(s->peak[r]) ? growth(p, now, d, r) : UNKNOWN;
        if (!isnan(factor))
            ret->value[ret->n++] = s->peak[r] * factor;
    }
}

/* Between the two values that it lies between. */
static double upper_quartile(const struct days *d)
{
    double sorted[ALIKE_MOST];

    for (uint32_t i = 0; i < d->n; i++)
        sorted[i] = d->value[i];
    qsort(sorted, d->n, sizeof sorted[0], order_numbers);
    double at = QUARTILE * (d->n - 1);
    uint32_t low = (uint32_t)at;
    if (low + 1 >= d->n)
        return sorted[d->n - 1];
    return sorted[low] + (at - low) * (sorted[low + 1] - sorted[low]);
}

/* How many of the newest n days came to it. */
static uint32_t came(const struct days *d, uint32_t n, double expected)
{
    uint32_t hits = 0;

    for (uint32_t i = 0; i < n && i < d->n; i++)
        hits += d->value[i] >= AGREE_PART * expected;
    return hits;
}

/* False: too few days, or they do not agree. */
static bool agree(const struct days *d, enum alike_days kind, double *ret_value, uint32_t *ret_hits)
{
    if (d->n < (kind == ALIKE_WEEKDAY ? WEEKS_LEAST : 1))
        return false;
    double value = upper_quartile(d);
    uint32_t hits = came(d, d->n, value);
    uint32_t recent = d->n < RECENT ? d->n : RECENT;
    uint32_t asked = recent < RECENT_AGREE ? recent : RECENT_AGREE;

    *ret_value = value;
    *ret_hits = hits;
    return 3 * hits >= 2 * d->n && came(d, RECENT, value) >= asked;
}

static bool expect_one(const struct demand_profile *p, instant_s slot, instant_s now, int r,
                       struct expected *ret)
{
    const enum alike_days kinds[] = {ALIKE_WEEKDAY,
                                     weekday(p, slot) >= SATURDAY ? ALIKE_WEEKENDS : ALIKE_WORKING_DAYS};
    struct days d;
    uint32_t hits;
    double value;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        collect(p, slot, now, kinds[i], r, &d);
        if (!agree(&d, kinds[i], &value, &hits))
            continue;
        ret->demand[r] = value;
        if (ret->of == 0) { /* of both resources the CPU's days are said */
            ret->days = hits;
            ret->of = d.n;
            ret->alike = kinds[i];
        }
        return true;
    }
    return false;
}

bool demand_forecast_raw(const struct demand_profile *p, instant_s at, instant_s now, struct expected *ret)
{
    bool any = false;

    *ret = (struct expected){.time = demand_profile_slot_begin(at), .demand = {UNKNOWN, UNKNOWN}};
    for (int r = 0; r < RES_COUNT; r++)
        any = expect_one(p, ret->time, now, r, ret) || any;
    return any;
}

/* ---- what came of it ------------------------------------------------------------------------- */

enum outcome { OUTCOME_NONE, OUTCOME_CAME, OUTCOME_MISSED };

/* top: the most that came in a week. A night that is a little quieter than the others is no other day. */
static enum outcome outcome_of(const struct demand_profile_record *s, int r, double top)
{
    if (!s || isnan(s->expected[r]) || isnan(s->peak[r]))
        return OUTCOME_NONE;
    return s->expected[r] - s->peak[r] > (1 - AGREE_PART) * top ? OUTCOME_MISSED : OUTCOME_CAME;
}

static void find_top(const struct demand_profile *p, instant_s now, double ret[RES_COUNT])
{
    for (int r = 0; r < RES_COUNT; r++)
        ret[r] = 0;
    for (instant_s t = demand_profile_slot_begin(now); t > now - WEEK_DAYS * DAY_S && t >= p->oldest;
         t -= DEMAND_SLOT_S) {
        const struct demand_profile_record *s = demand_profile_slot_find(p, t);
        for (int r = 0; s && r < RES_COUNT; r++)
            ret[r] = fmax(ret[r], s->peak[r]); /* of an UNKNOWN and a number the number */
    }
}

/* How well it has foreseen the last days: not where it was expected on two days of this kind and did not
 * come, and has not come on any since. Days between them of which something else was expected say nothing. */
static bool is_trusted(const struct demand_profile *p, const struct expected *x, int r, double top)
{
    enum alike_days kind = weekday(p, x->time) >= SATURDAY ? ALIKE_WEEKENDS : ALIKE_WORKING_DAYS;
    int missed = 0;

    for (int d = 1; d <= TRUST_DAYS && missed < TRUST_MISSED; d++) {
        const struct demand_profile_record *s = demand_profile_slot_find(p, days_earlier(p, x->time, d));
        if (!is_alike(kind, weekday(p, x->time), d) || !s)
            continue;
        if (s->peak[r] >= AGREE_PART * x->demand[r]) /* false where it was not watched */
            return true;
        missed += outcome_of(s, r, top) == OUTCOME_MISSED;
    }
    return missed < TRUST_MISSED;
}

static bool expect_trusted(const struct demand_profile *p, instant_s at, instant_s now,
                           const double top[RES_COUNT], struct expected *ret)
{
    bool any = false;

    if (!demand_forecast_raw(p, at, now, ret))
        return false;
    for (int r = 0; r < RES_COUNT; r++) {
        if (!is_trusted(p, ret, r, top[r]))
            ret->demand[r] = UNKNOWN;
        any = any || !isnan(ret->demand[r]);
    }
    return any;
}

bool demand_forecast_at(const struct demand_profile *p, instant_s at, instant_s now, struct expected *ret)
{
    double top[RES_COUNT];

    find_top(p, now, top);
    return expect_trusted(p, at, now, top, ret);
}

/* The newest slots that are over decide: as long as none of them came as expected, and DISTRUST_SLOTS did
 * not.
 */
static instant_s doubted_since(const struct demand_profile *p, instant_s now, int r, double top)
{
    uint32_t missed = 0;
    instant_s since = 0;

    for (instant_s t = demand_profile_slot_begin(now) - DEMAND_SLOT_S; t > now - DISTRUST_S;
         t -= DEMAND_SLOT_S) {
        enum outcome is = outcome_of(demand_profile_slot_find(p, t), r, top);
        if (is == OUTCOME_CAME)
            break;
        if (is == OUTCOME_MISSED) {
            missed++;
            since = t;
        }
    }
    return missed >= DISTRUST_SLOTS ? since : 0;
}

instant_s demand_forecast_doubted_since(const struct demand_profile *p, instant_s now)
{
    double top[RES_COUNT];

    find_top(p, now, top);
    instant_s cpu = doubted_since(p, now, RES_CPU, top[RES_CPU]);
    instant_s mem = doubted_since(p, now, RES_MEM, top[RES_MEM]);
    return cpu == 0 || (mem != 0 && mem < cpu) ? mem : cpu;
}

size_t demand_forecast_next(const struct demand_profile *p, instant_s now, uint32_t slots, struct arena *a,
                            struct expected **ret)
{
    double top[RES_COUNT];
    size_t n = 0;

    *ret = NULL;
    if (demand_forecast_doubted_since(p, now) != 0)
        return 0;
    find_top(p, now, top);
    *ret = arena_array(a, struct expected, slots);
    for (uint32_t i = 0; i < slots; i++)
        n += expect_trusted(p, demand_profile_slot_begin(now) + (instant_s)i * DEMAND_SLOT_S, now, top,
                            &(*ret)[n]);
    return n;
}
