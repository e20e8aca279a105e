/* demand_quiet.c: how long demand has stayed at or below a level in the past, and how long it is therefore
 * expected to stay there. README.md, "Quiet times". */
#include "engine/knowledge/demand_slots.h"

#include "base/order.h"

#include <stdlib.h>

/* Steps per resource from the present demand to the highest that was seen. */
#define LEVELS 32

/* Hosts go to standby after 40 minutes of low demand: a shorter time is no quiet. */
#define QUIET_LEAST_S 2400

/* Longer than any before, demand is taken to stay low for half as long again. */
#define BEYOND_PART 0.5

#define QUARTILE 0.25

/* A forecast of so much of what came was right. */
#define FORESEEN_PART 0.85

/* VMs have become so much larger, or smaller: the slot says nothing of the present cluster. */
#define SIZE_MOST 2.0

/* Slots of a day, and so many of them must have been watched. */
#define DAY_SLOTS (24 * 3600 / DEMAND_SLOT_S)
#define DAY_WATCHED (DAY_SLOTS * 3 / 4)

/* A quiet time that is over. */
struct ended {
    double quiet_s;
    double rise; /* UNKNOWN: foreseen */
};

/* What is known of one resource, slot by slot, the oldest first. */
struct series {
    double *peak;   /* scaled to the VMs that run now; UNKNOWN: not watched */
    bool *foreseen; /* the forecast said so */
    uint32_t n;
    double last_s;       /* length of the last slot so far */
    struct ended *ended; /* scratch: the quiet times of a level */
    uint32_t n_ended;
};

static double scale(const struct demand_profile *p, const struct demand_profile_record *s, int r)
{
    if (isnan(s->size[r]) || !(s->size[r] > 0) || !(p->size_now[r] > 0))
        return 1;
    double by = p->size_now[r] / s->size[r];
    return by <= SIZE_MOST && by >= 1 / SIZE_MOST ? by : UNKNOWN;
}

/* The open slot counts with what it has seen so far. */
static double peak_of(const struct demand_profile *p, instant_s begin, int r)
{
    const struct demand_profile_record *s = demand_profile_slot_find(p, begin);

    if (begin == p->open)
        return p->demand.seen_s > 0 ? fmax(p->peak[r], p->demand.sum[r] / p->demand.seen_s) : UNKNOWN;
    return s && !isnan(s->peak[r]) ? s->peak[r] * scale(p, s, r) : UNKNOWN;
}

static void read_series(const struct demand_profile *p, instant_s now, int r, struct arena *a,
                        struct series *ret)
{
    instant_s last = demand_profile_slot_begin(now);
    instant_s first = last - (instant_s)(DEMAND_SLOTS - 1) * DEMAND_SLOT_S;

    first = first < p->oldest ? p->oldest : first;
    size_t most = last < first ? 1 : (size_t)((last - first) / DEMAND_SLOT_S) + 1;

    *ret = (struct series){.peak = arena_array(a, double, most),
                           .foreseen = arena_array(a, bool, most),
                           .ended = arena_array(a, struct ended, most)};
    for (instant_s t = first; t <= last; t += DEMAND_SLOT_S) {
        const struct demand_profile_record *s = demand_profile_slot_find(p, t);
        double peak = peak_of(p, t, r);
        if (isnan(peak) && (ret->n == 0 || t == last))
            continue; /* before the first one; the present one has not been seen yet */
        ret->last_s = t == last ? (double)(now - t) : DEMAND_SLOT_S;
        ret->foreseen[ret->n] = s && s->expected[r] >= FORESEEN_PART * peak;
        ret->peak[ret->n++] = peak;
    }
}

/* The slot in which demand rose above the level, and the next one: hosts that are woken then are up only
 * after some minutes, in which demand may rise further. */
static double rise_at(const struct series *s, uint32_t i)
{
    double next = i + 1 < s->n ? s->peak[i + 1] : UNKNOWN;

    return next > s->peak[i] ? (s->peak[i] + next) / 2 : s->peak[i];
}

/* The quiet times of the level that are over. Returns how long the present one has lasted. */
static double find_ended(struct series *s, double level, bool foresees)
{
    uint32_t run = 0;

    s->n_ended = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        double quiet_s = (double)run * DEMAND_SLOT_S;
        bool over = s->peak[i] > level;
        if (over && quiet_s >= QUIET_LEAST_S)
            s->ended[s->n_ended++] = (struct ended){
                .quiet_s = quiet_s, .rise = foresees && s->foreseen[i] ? UNKNOWN : rise_at(s, i)};
        run = over || isnan(s->peak[i]) ? 0 : run + 1;
    }
    return run > 0 ? (double)(run - 1) * DEMAND_SLOT_S + s->last_s : 0;
}

/* After how much more of it demand is expected to stay quiet for needs_s longer. */
static double enough_after(const struct series *s, double age_s, double needs_s)
{
    double at = age_s;

    for (uint32_t i = 0; i < s->n_ended; i++) { /* the shortest first */
        uint32_t quartile = i + (uint32_t)(QUARTILE * (s->n_ended - i - 1));
        if (s->ended[i].quiet_s > at && s->ended[quartile].quiet_s - at >= needs_s)
            return at - age_s;
        at = fmax(at, s->ended[i].quiet_s);
    }
    return fmax(at, needs_s / BEYOND_PART) - age_s;
}

/* Of the quiet times that lasted longer than the present one; of all, if none did. */
static void expect(struct series *s, double age_s, double needs_s, struct quiet *ret)
{
    uint32_t first = 0;

    order_sort(s->ended, s->n_ended, sizeof s->ended[0], order_numbers);
    ret->lasts_s = BEYOND_PART * age_s;
    ret->age_s = age_s;
    ret->enough_s = enough_after(s, age_s, needs_s);
    if (s->n_ended == 0)
        return;
    while (first < s->n_ended && s->ended[first].quiet_s <= age_s)
        first++;
    if (first < s->n_ended)
        ret->lasts_s = s->ended[first + (uint32_t)(QUARTILE * (s->n_ended - first - 1))].quiet_s - age_s;
    else
        first = 0;
    ret->of = s->n_ended - first;
    for (uint32_t i = first; i < s->n_ended; i++) {
        if (isnan(s->ended[i].rise))
            continue;
        ret->sudden++;
        ret->rise += s->ended[i].rise;
    }
    if (ret->sudden > 0)
        ret->rise /= ret->sudden;
}

size_t demand_quiet(const struct demand_profile *p, instant_s now, bool foresees, double needs_s,
                    struct arena *a, struct quiet **ret)
{
    size_t n = 0;

    *ret = arena_array(a, struct quiet, RES_COUNT * (LEVELS + (size_t)1));
    for (int r = 0; r < RES_COUNT; r++) {
        struct series s;
        double most = 0;
        read_series(p, now, r, a, &s);
        for (uint32_t i = 0; i < s.n; i++)
            most = fmax(most, s.peak[i]); /* of an UNKNOWN and a number the number */
        double least = s.n > 0 && !isnan(s.peak[s.n - 1]) ? s.peak[s.n - 1] : 0;
        double before = -1;
        for (uint32_t i = 0; i <= LEVELS && s.n > 0; i++) {
            double level = i == LEVELS ? most : least + (most - least) * i / LEVELS;
            struct quiet *q = &(*ret)[n];
            if (!(level > before))
                continue;
            *q = (struct quiet){.level = {UNKNOWN, UNKNOWN}};
            q->level[r] = before = level;
            expect(&s, find_ended(&s, level, foresees), needs_s, q);
            n++;
        }
    }
    return n;
}

bool demand_profile_day(const struct demand_profile *p, instant_s now, struct demand_day *ret)
{
    double peaks[DAY_SLOTS];
    const instant_s open = demand_profile_slot_begin(now);
    uint32_t n = 0;

    *ret = (struct demand_day){UNKNOWN, UNKNOWN, UNKNOWN};
    for (instant_s t = open - DAY_SLOTS * DEMAND_SLOT_S; t < open; t += DEMAND_SLOT_S) {
        const struct demand_profile_record *s = demand_profile_slot_find(p, t);

        ret->last = s ? s->peak[RES_CPU] : UNKNOWN;
        if (!isnan(ret->last))
            peaks[n++] = ret->last;
    }
    if (n < DAY_WATCHED || isnan(ret->last))
        return false;
    qsort(peaks, n, sizeof peaks[0], order_numbers);
    ret->half = (peaks[0] + peaks[n - 1]) / 2;
    ret->quiet = fmin(peaks[(n - 1) / 4], ret->half);
    return true;
}
