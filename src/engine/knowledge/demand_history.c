#include "engine/knowledge/demand_history.h"

#include "base/idmap.h"
#include "base/xalloc.h"
#include "engine/knowledge/demand_correlation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_5M_S 300

/* A sample stands for the time since the one before, but not for longer than this. */
#define SAMPLE_STANDS_S 300.0

#define DAY_S 86400.0

/* The highest rise of each part of the day is kept. */
#define PARTS 4
#define PART_S ((instant_s)DAY_S / PARTS)

/* A level has changed when demand is away from it by this share of it, and by this much. */
#define LEVEL_SHARE 0.25
static const double level_least[RES_COUNT] = {[RES_CPU] = 100, [RES_MEM] = 64};

struct sample {
    instant_s time;
    float demand[RES_COUNT]; /* half the memory; seven digits are plenty */
};

struct track {
    struct sample *items; /* oldest first */
    size_t n, cap;
    double level[RES_COUNT];    /* moving average of an hour */
    double variance[RES_COUNT]; /* about that level; moving average of a day */
    double watched_s;
    struct rise {
        instant_s at; /* of the cluster's rise; another time than there: the VM had no sample then */
        float of;
    } rises[PARTS][RES_COUNT];
};

/* The highest rise of all VMs in a part of the day. */
struct highest {
    instant_s at; /* 0: none */
    double of;
};

struct demand_history {
    struct idmap tracks;
    struct highest highest[PARTS][RES_COUNT];
};

struct demand_history *demand_history_new(void)
{
    return xcalloc(1, sizeof(struct demand_history));
}

static void track_free(void *value)
{
    struct track *t = value;

    if (!t)
        return;
    free(t->items);
    free(t);
}

void demand_history_free(struct demand_history *h)
{
    if (!h)
        return;
    idmap_release(&h->tracks, track_free);
    free(h);
}

static void track_drop_before(struct track *t, instant_s time)
{
    size_t gone = 0;

    while (gone < t->n && t->items[gone].time < time)
        gone++;
    if (gone == 0)
        return;
    memmove(t->items, t->items + gone, (t->n - gone) * sizeof *t->items);
    t->n -= gone;
}

/* Moving averages that begin as plain means: the first samples do not weigh more than later ones. */
static void follow(struct track *t, instant_s time, const double demand[RES_COUNT])
{
    double for_s = t->n > 0 ? fmin((double)(time - t->items[t->n - 1].time), SAMPLE_STANDS_S) : 0;

    t->watched_s += for_s;
    for (int r = 0; r < RES_COUNT; r++) {
        if (!(t->watched_s > 0)) {
            t->level[r] = demand[r];
            continue;
        }
        double away = demand[r] - t->level[r];
        t->variance[r] += for_s / fmin(t->watched_s, DAY_S) * (away * away - t->variance[r]);
        t->level[r] += for_s / fmin(t->watched_s, DEMAND_HISTORY_LENGTH_S) * away;
    }
}

bool demand_history_add(struct demand_history *h, const char *vm, instant_s time,
                        const double demand[RES_COUNT])
{
    struct track *t = idmap_make(&h->tracks, vm, sizeof(struct track));

    if (t->n > 0 && time < t->items[t->n - 1].time + DEMAND_HISTORY_SPACING_S)
        return false;
    follow(t, time, demand);
    if (t->n == t->cap) {
        track_drop_before(t, time - DEMAND_HISTORY_LENGTH_S);
        t->items = xalloc_grow(t->items, t->n, &t->cap, sizeof *t->items);
    }
    struct sample *s = &t->items[t->n++];

    s->time = time;
    for (int r = 0; r < RES_COUNT; r++)
        s->demand[r] = (float)demand[r];
    return true;
}

/* What has changed since the last sample before then; 0 if there is none. */
static double rise_of(const struct track *t, instant_s since, enum resource r)
{
    size_t i = t->n;

    while (i > 0 && t->items[i - 1].time > since)
        i--;
    return i > 0 ? (double)t->items[t->n - 1].demand[r] - (double)t->items[i - 1].demand[r] : 0;
}

void demand_history_look(struct demand_history *h, const struct sample_record *vms, size_t n, instant_s now)
{
    size_t part = (size_t)(now / PART_S % PARTS);

    for (int r = 0; r < RES_COUNT; r++) {
        struct highest *highest = &h->highest[part][r];
        double sum = 0;

        if (now - highest->at > PART_S)
            *highest = (struct highest){0};
        for (size_t i = 0; i < n; i++)
            sum += rise_of(idmap_get(&h->tracks, vms[i].vm), now - DEMAND_HISTORY_RISE_S, (enum resource)r);
        if (sum <= highest->of)
            continue;
        *highest = (struct highest){now, sum};
        for (size_t i = 0; i < n; i++) {
            struct track *t = idmap_get(&h->tracks, vms[i].vm);

            t->rises[part][r] =
                (struct rise){now, (float)rise_of(t, now - DEMAND_HISTORY_RISE_S, (enum resource)r)};
        }
    }
}

void demand_history_rise(const struct demand_history *h, const char *vm, instant_s now, double ret[RES_COUNT])
{
    const struct track *t = idmap_get(&h->tracks, vm);

    for (int r = 0; r < RES_COUNT; r++) {
        const struct highest *highest = NULL;

        ret[r] = UNKNOWN;
        for (int i = 0; i < PARTS; i++) {
            const struct highest *x = &h->highest[i][r];

            if (x->at == 0 || now - x->at > (instant_s)DAY_S || (highest && x->of <= highest->of))
                continue;
            highest = x;
            ret[r] = t && t->rises[i][r].at == x->at ? (double)t->rises[i][r].of : UNKNOWN;
        }
    }
}

/* What a window holds so far. */
struct tally {
    double sum, min, max;
    size_t n;
};

/* Which samples of a track a window has, and where they are added up over all VMs. */
struct window_part {
    const struct track *t;
    size_t first, end;
    instant_s now;
    struct demand_correlation *all; /* may be NULL */
};

/* Σ of the squares of how far the samples are from the mean. */
static double add_squares(const struct window_part *p, enum resource r, double mean)
{
    double squares = 0;

    for (size_t i = p->first; i < p->end; i++) {
        double d = (double)p->t->items[i].demand[r] - mean;

        squares += d * d;
    }
    return squares;
}

/* The same, and each is added to what all VMs do. */
static double add_together(const struct window_part *p, enum window w, enum resource r, double mean,
                           double present)
{
    double *away = p->all->away[w][r];
    bool *seen = p->all->seen[w];
    double squares = (present - mean) * (present - mean);

    away[0] += present - mean;
    seen[0] = true;
    for (size_t i = p->first; i < p->end; i++) {
        uint32_t at = demand_correlation_at(p->now - p->t->items[i].time);
        double d = (double)p->t->items[i].demand[r] - mean;

        squares += d * d;
        away[at] += d;
        seen[at] = true;
    }
    demand_correlation_end(p->all, w, r, squares);
    return squares;
}

/* The second pass: from the mean, so that a steady VM has a standard deviation of 0 and not of rounding. */
static struct demand_stats describe_window(const struct window_part *p, enum window w, enum resource r,
                                           double present, const struct tally *x)
{
    struct demand_stats ret = {.mean = x->sum / (double)x->n, .min = x->min, .max = x->max};
    double squares = p->all ? add_together(p, w, r, ret.mean, present)
                            : (present - ret.mean) * (present - ret.mean) + add_squares(p, r, ret.mean);

    ret.stddev = sqrt(squares / (double)x->n);
    /* rounding must not put the mean outside of what was seen */
    ret.mean = fmin(fmax(ret.mean, ret.min), ret.max);
    return ret;
}

static void tally_sample(struct tally *x, double d)
{
    x->sum += d;
    x->n++;
    x->min = d < x->min ? d : x->min;
    x->max = d > x->max ? d : x->max;
}

/* Each window holds the shorter ones, so that one way back through the samples serves them all. */
static void describe_windows(const struct track *t, instant_s now, instant_s low_s,
                             const double demand[RES_COUNT], struct demand_correlation *all,
                             struct demand_stats ret[][RES_COUNT])
{
    const instant_s length_s[WINDOW_COUNT] = {/* ascending */
                                              [WINDOW_5M] = low_s < WINDOW_5M_S ? low_s : WINDOW_5M_S,
                                              [WINDOW_40M] = low_s,
                                              [WINDOW_60M] = DEMAND_HISTORY_LENGTH_S};
    struct tally tally[RES_COUNT];
    size_t end = t ? t->n : 0;

    while (end > 0 && t->items[end - 1].time >= now) /* the present is counted already */
        end--;
    size_t first = end;

    for (int r = 0; r < RES_COUNT; r++)
        tally[r] = (struct tally){.sum = demand[r], .min = demand[r], .max = demand[r], .n = 1};
    for (int w = 0; w < WINDOW_COUNT; w++) {
        for (; first > 0 && t->items[first - 1].time > now - length_s[w]; first--) {
            for (int r = 0; r < RES_COUNT; r++)
                tally_sample(&tally[r], (double)t->items[first - 1].demand[r]);
        }
        const struct window_part part = {.t = t, .first = first, .end = end, .now = now, .all = all};
        for (int r = 0; r < RES_COUNT; r++)
            ret[w][r] = describe_window(&part, (enum window)w, (enum resource)r, demand[r], &tally[r]);
    }
}

static bool same_level(const struct sample *s, const double present[RES_COUNT])
{
    for (int r = 0; r < RES_COUNT; r++) {
        double away = fabs((double)s->demand[r] - present[r]);

        if (away > level_least[r] && away > LEVEL_SHARE * present[r])
            return false;
    }
    return true;
}

static double stable_s(const struct track *t, instant_s now, const double present[RES_COUNT])
{
    instant_s since = now;

    for (size_t i = t->n; i > 0; i--) {
        const struct sample *s = &t->items[i - 1];

        if (s->time >= now)
            continue;
        if (s->time < now - DEMAND_HISTORY_LENGTH_S)
            break;
        if (!same_level(s, present))
            return (double)(now - since);
        since = s->time;
    }
    return now - since >= DEMAND_HISTORY_ENOUGH_S ? (double)(now - since) : UNKNOWN;
}

void demand_history_describe(const struct demand_history *h, const char *vm, instant_s now, instant_s low_s,
                             const double demand[RES_COUNT], struct demand_correlation *all,
                             struct demand_stats ret[][RES_COUNT], double *ret_stable_s)
{
    const struct track *t = idmap_get(&h->tracks, vm);

    describe_windows(t, now, low_s, demand, all, ret);
    *ret_stable_s = t ? stable_s(t, now, demand) : UNKNOWN;
}

/* The factor is that of a prediction from so many hours: what was seen in few hours says little of the next.
 */
void demand_history_deviation(const struct demand_history *h, const char *vm, double ret[RES_COUNT])
{
    const struct track *t = idmap_get(&h->tracks, vm);

    for (int r = 0; r < RES_COUNT; r++)
        ret[r] = t && t->watched_s > 0
                     ? sqrt(t->variance[r] * (1 + DEMAND_HISTORY_LENGTH_S / fmin(t->watched_s, DAY_S)))
                     : UNKNOWN;
}

instant_s demand_history_watched_s(const struct demand_history *h, instant_s now, instant_s gap_s)
{
    instant_s longest = 0;

    for (size_t i = 0; i < h->tracks.cap; i++) {
        const struct track *t = h->tracks.entries[i].key ? h->tracks.entries[i].value : NULL;
        instant_s since = now;

        for (size_t k = t ? t->n : 0; k > 0 && since - t->items[k - 1].time <= gap_s; k--)
            since = t->items[k - 1].time;
        longest = now - since > longest ? now - since : longest;
    }
    return longest;
}

bool demand_history_last(const struct demand_history *h, const char *vm, instant_s now,
                         double ret_demand[RES_COUNT])
{
    const struct track *t = idmap_get(&h->tracks, vm);

    if (!t || t->n == 0 || t->items[t->n - 1].time < now - DEMAND_HISTORY_LENGTH_S)
        return false;
    for (int r = 0; r < RES_COUNT; r++)
        ret_demand[r] = (double)t->items[t->n - 1].demand[r];
    return true;
}

static bool keep_track(const char *key, void *value, void *ctx)
{
    const instant_s *now = ctx;
    struct track *t = value;

    (void)key;
    track_drop_before(t, *now - DEMAND_HISTORY_LENGTH_S);
    if (t->n > 0)
        return true;
    track_free(t);
    return false;
}

void demand_history_forget(struct demand_history *h, instant_s now)
{
    idmap_keep(&h->tracks, keep_track, &now);
}
