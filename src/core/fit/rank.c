/* rank.c: scores, cuts, buckets and picks, for one VM and the hosts that are left to it. Where few hosts have
 * changed since, it computes again what depends on them. */
#include "core/fit/rank.h"

#include "base/order.h"
#include "core/fit/numbers.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static const struct pipeline *pipeline_of(const struct fit *fit, uint32_t vm)
{
    uint32_t ix = fit->class_of ? fit->snap->vms[vm].pipeline : IX_NONE;

    return ix == IX_NONE ? NULL : &fit->snap->pipelines[ix];
}

static bool is_ranking(const struct stage_facts *s)
{
    enum stage_kind kind = stage_kind_of(s);

    return s->applies & 1u << FIT_PLACE &&
           (kind == STAGE_SCORE || kind == STAGE_CUT || kind == STAGE_BUCKET || kind == STAGE_PICK);
}

bool fit_ranks(const struct fit *fit, uint32_t vm)
{
    const struct pipeline *p = pipeline_of(fit, vm);

    for (uint32_t i = 0; p && i < p->n; i++)
        if (is_ranking(&fit->snap->stages[p->first + i].is))
            return true;
    return false;
}

/* ---- values ---- */

/* A stage that ranks. */
struct ranking_stage {
    uint32_t stage;
    enum stage_kind kind;
    bool live, live_by; /* moves change the values, or the multiplier */
    double *values;     /* of a score or bucket, by host; UNKNOWN: no number */
    double *by;         /* of the multiplier; NULL: 1 */
    struct expression_extremes
        *over;               /* of a score, for its operators over hosts, by node; NULL: it has none */
    double *parts;           /* what the score adds on each host; 0 where it is no number */
    double least, most;      /* the scale of the parts */
    bool rescale;            /* values that the scale depends on have changed */
    struct extremes *blocks; /* of a scale, by block of hosts */
};

/* The extremes of the values of some remaining hosts; INFINITY and -INFINITY: no host has a value. */
struct extremes {
    double least, most;
};

#define BLOCK 64u /* hosts of which the extremes are kept */

/* The numbers that the expression is on hosts from ... from + n - 1 of the ranking. */
static void numbers_on(const struct fit_ranking *r, const struct fit_expression *x,
                       const struct expression_extremes *over, uint32_t from, uint32_t n,
                       struct arena *scratch, double *ret)
{
    struct expression_scope of = fit_live_scope(r->fit, r->vm, 0, &r->live);

    of.over_hosts = over;
    fit_numbers(r->fit, x, &of, r->hosts + from, n, scratch, ret + from);
}

static const struct fit_expression *value_expression(const struct fit_ranking *r,
                                                     const struct ranking_stage *s)
{
    return &r->fit->parts[s->kind == STAGE_BUCKET ? PART_BUCKET : PART_SCORE][s->stage];
}

/* A bucket that is no number is the last. */
static void find_values(const struct fit_ranking *r, const struct ranking_stage *s, uint32_t from, uint32_t n,
                        struct arena *scratch)
{
    numbers_on(r, value_expression(r, s), s->over, from, n, scratch, s->values);
    for (uint32_t i = from; s->kind == STAGE_BUCKET && i < from + n; i++)
        s->values[i] = isnan(s->values[i]) ? INFINITY : s->values[i];
}

static void add_stage(struct fit_ranking *r, uint32_t stage, struct arena *a)
{
    const struct stage_facts *is = &r->fit->snap->stages[stage].is;
    struct ranking_stage *s = &r->stages[r->n_stages++];

    *s = (struct ranking_stage){.stage = stage, .kind = stage_kind_of(is), .rescale = true};
    r->cuts = r->cuts || s->kind == STAGE_CUT;
    if (s->kind == STAGE_PICK && is->pick.shuffle)
        r->shuffle = &is->pick;
    if (s->kind != STAGE_SCORE && s->kind != STAGE_BUCKET)
        return;
    const struct fit_expression *x = value_expression(r, s);
    const struct fit_expression *by = &r->fit->parts[PART_MULTIPLIER][stage];

    s->live = x->live;
    s->values = arena_array(a, double, r->n);
    s->over = x->over_hosts ? arena_array(a, struct expression_extremes, x->x.n) : NULL;
    if (!s->over) /* else when it is known which hosts are left */
        find_values(r, s, 0, r->n, a);
    if (s->kind == STAGE_BUCKET) {
        r->buckets[r->n_buckets++] = s->values;
        return;
    }
    s->parts = arena_array(a, double, r->n);
    s->blocks = arena_array(a, struct extremes, r->n / BLOCK + 1);
    s->live_by = by->live;
    s->by = is->multiplier.n > 0 ? arena_array(a, double, r->n) : NULL;
    if (s->by)
        numbers_on(r, by, NULL, 0, r->n, a, s->by);
}

/* Of a score with operators over hosts: these, then all values. False: it has none. */
static bool find_over_hosts(const struct fit_ranking *r, struct ranking_stage *s)
{
    const struct expression_scope of = fit_live_scope(r->fit, r->vm, 0, &r->live);

    if (!s->over)
        return false;
    fit_over_hosts(r->fit, value_expression(r, s), &of, r->hosts, r->left, r->n, r->sorted, s->over);
    find_values(r, s, 0, r->n, NULL);
    s->rescale = true;
    return true;
}

/* ---- scores ---- */

/* Sorts the values of the hosts that are left. */
static uint32_t sort_values(const struct fit_ranking *r, const struct ranking_stage *s, double *sorted)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->n; i++)
        if (!isnan(s->values[i] + r->left[i]))
            sorted[n++] = s->values[i];
    qsort(sorted, n, sizeof *sorted, order_numbers);
    return n;
}

static bool ranks(enum normalisation how)
{
    return how == NORMALISE_RANK || how == NORMALISE_RANK_HIGH;
}

/* How many of them are less, or also as much. */
static double rank_of(const double *sorted, uint32_t n, double v, bool or_equal)
{
    uint32_t low = 0;
    uint32_t high = n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (sorted[middle] < v || (or_equal && sorted[middle] == v))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The extremes of the remaining hosts of a block. LANES comparisons run side by side, because each one waits
 * for the one before it. */
static struct extremes extremes_of(const struct fit_ranking *r, const double *values, uint32_t block)
{
    enum { LANES = 8 };
    const uint32_t end = r->n - block * BLOCK < BLOCK ? r->n : (block + 1) * BLOCK;
    uint32_t from = block * BLOCK;
    double least[LANES];
    double most[LANES];

    for (int k = 0; k < LANES; k++) {
        least[k] = INFINITY;
        most[k] = -INFINITY;
    }
    for (; from + LANES <= end; from += LANES)
        for (uint32_t k = 0; k < LANES; k++) {
            double v = values[from + k] + r->left[from + k];

            least[k] = v < least[k] ? v : least[k];
            most[k] = v > most[k] ? v : most[k];
        }
    for (; from < end; from++) {
        double v = values[from] + r->left[from];

        least[0] = v < least[0] ? v : least[0];
        most[0] = v > most[0] ? v : most[0];
    }
    for (int k = 1; k < LANES; k++) {
        least[0] = least[k] < least[0] ? least[k] : least[0];
        most[0] = most[k] > most[0] ? most[k] : most[0];
    }
    return (struct extremes){least[0], most[0]};
}

/* The scale over all blocks. Reads the blocks of changed hosts again, or all. */
static void find_scale(const struct fit_ranking *r, struct ranking_stage *s, bool all)
{
    const struct stage_facts *is = &r->fit->snap->stages[s->stage].is;
    uint32_t n_blocks = (r->n + BLOCK - 1) / BLOCK;
    double least = is->least_given ? is->least : INFINITY;
    double most = is->most_given ? is->most : -INFINITY;

    for (uint32_t b = 0; all && b < n_blocks; b++)
        s->blocks[b] = extremes_of(r, s->values, b);
    for (uint32_t c = 0; !all && c < r->n_changed; c++)
        s->blocks[r->changed[c] / BLOCK] = extremes_of(r, s->values, r->changed[c] / BLOCK);
    for (uint32_t b = 0; b < n_blocks; b++) {
        least = s->blocks[b].least < least ? s->blocks[b].least : least;
        most = s->blocks[b].most > most ? s->blocks[b].most : most;
    }
    s->least = least;
    s->most = most > least ? most : least;
}

static double bounded(double v)
{
    return v < -DBL_MAX ? -DBL_MAX : v > DBL_MAX ? DBL_MAX : v;
}

/* What the stage adds to the scores of hosts from ... to - 1. Always finite: an infinite sum is no order. */
static void find_parts(const struct fit_ranking *r, const struct ranking_stage *s, uint32_t from, uint32_t to)
{
    const enum normalisation how = r->fit->snap->stages[s->stage].is.normalise;
    bool huge = !isfinite(s->most - s->least); /* of halves it is finite */
    double by = huge ? 0.5 : 1;
    double least = s->least * by;
    double range = s->most * by - least;
    bool even = !huge && !(s->most > s->least);
    double *parts = s->parts;

    switch (how) {
    case NORMALISE_MINMAX:
        for (uint32_t i = from; !even && i < to; i++)
            parts[i] = (s->values[i] * by - least) / range;
        for (uint32_t i = from; even && i < to; i++)
            parts[i] = 0;
        break;
    case NORMALISE_CLAMP:
        for (uint32_t i = from; i < to; i++)
            parts[i] = s->values[i] > 1 ? 1 : s->values[i] > 0 ? s->values[i] : 0;
        break;
    case NORMALISE_RANK:
        for (uint32_t i = from; i < to; i++)
            parts[i] = isnan(s->values[i]) ? UNKNOWN : rank_of(r->sorted, r->n_sorted, s->values[i], false);
        break;
    case NORMALISE_RANK_HIGH: /* without the host itself */
        for (uint32_t i = from; i < to; i++)
            parts[i] =
                isnan(s->values[i]) ? UNKNOWN : rank_of(r->sorted, r->n_sorted, s->values[i], true) - 1;
        break;
    case NORMALISE_NONE:
    case normalisation_count:
        for (uint32_t i = from; i < to; i++)
            parts[i] = s->values[i];
        break;
    }
    for (uint32_t i = from; s->by && i < to; i++)
        parts[i] *= s->by[i];
    bool finite = true;
    for (uint32_t i = from; i < to; i++)
        finite &= fabs(parts[i]) <= DBL_MAX;
    for (uint32_t i = from; !finite && i < to; i++)
        parts[i] = isnan(parts[i]) ? 0 : bounded(parts[i]);
}

/* Computes the scale again; all: from all hosts, not only from changed ones. True: the scale has changed. */
static bool rescale(struct fit_ranking *r, struct ranking_stage *s, bool all)
{
    const struct stage_facts *is = &r->fit->snap->stages[s->stage].is;
    double least = s->least;
    double most = s->most;

    if (is->normalise == NORMALISE_MINMAX && (s->rescale || r->n_changed > 0))
        find_scale(r, s, all);
    if (!s->rescale)
        return false;
    s->rescale = false;
    if (ranks(is->normalise))
        r->n_sorted = sort_values(r, s, r->sorted);
    return ranks(is->normalise) || s->least != least || s->most != most;
}

static void add_parts(const struct fit_ranking *r, const double *parts, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        r->score[i] = bounded(r->score[i] + parts[i]);
}

/* Those that are left are equal: scores begin anew. */
static void cut(const struct fit_ranking *r, const struct cut_facts *c)
{
    bool any = false;

    for (uint32_t step = 0; step < c->steps && !any; step++) {
        double part = c->steps > 1 ? (double)step / (c->steps - 1) : 0;
        double threshold = step + 1 == c->steps && c->steps > 1 ? c->to : c->from + (c->to - c->from) * part;

        for (uint32_t i = 0; i < r->n; i++)
            any = any || r->score[i] + r->left[i] > threshold;
        for (uint32_t i = 0; any && i < r->n; i++)
            r->left[i] = r->score[i] + r->left[i] > threshold ? 0 : UNKNOWN;
    }
    for (uint32_t i = 0; i < r->n; i++) {
        r->left[i] = any ? r->left[i] : UNKNOWN;
        r->score[i] = 0;
    }
}

/* Sums up the scores of a few hosts, whose parts are known. */
static void sum_up_some(const struct fit_ranking *r, uint32_t from, uint32_t n)
{
    double *score = r->score + from;
    bool finite = true;

    for (uint32_t i = 0; i < n; i++)
        score[i] = 0;
    for (uint32_t k = 0; k < r->n_stages; k++) {
        const double *parts = r->stages[k].kind == STAGE_SCORE ? r->stages[k].parts + from : NULL;

        for (uint32_t i = 0; parts && i < n; i++)
            score[i] += parts[i];
    }
    for (uint32_t i = 0; i < n; i++) /* a sum that was infinite once is not finite again */
        finite &= fabs(score[i]) <= DBL_MAX;
    for (uint32_t i = 0; !finite && i < n; i++)
        score[i] = 0;
    for (uint32_t k = 0; !finite && k < r->n_stages; k++)
        if (r->stages[k].kind == STAGE_SCORE)
            add_parts(r, r->stages[k].parts, from, from + n);
    for (uint32_t i = 0; i < n; i++)
        score[i] = isnan(r->left[from + i]) ? FIT_LEFT_OUT : score[i];
}

/* Scores of the hosts from ... to - 1, a few at a time, so that they stay in the cache. */
static void sum_up(const struct fit_ranking *r, uint32_t from, uint32_t to)
{
    const uint32_t most = 4 * BLOCK;

    for (; from < to; from += most)
        sum_up_some(r, from, to - from < most ? to - from : most);
}

/* All stages on all hosts, one after the other: which hosts a score sees depends on the cuts before it. */
static void score_all(struct fit_ranking *r)
{
    for (uint32_t i = 0; i < r->n; i++) {
        r->score[i] = 0;
        r->left[i] = r->candidate[i] ? 0 : UNKNOWN;
    }
    for (uint32_t k = 0; k < r->n_stages; k++) {
        struct ranking_stage *s = &r->stages[k];

        s->rescale = true;
        (void)find_over_hosts(r, s);
        if (s->kind == STAGE_CUT)
            cut(r, &r->fit->snap->stages[s->stage].is.cut);
        if (s->kind != STAGE_SCORE)
            continue;
        (void)rescale(r, s, true);
        find_parts(r, s, 0, r->n);
        if (r->cuts)
            add_parts(r, s->parts, 0, r->n);
    }
    if (!r->cuts)
        sum_up(r, 0, r->n);
    for (uint32_t i = 0; r->cuts && i < r->n; i++)
        r->score[i] = isnan(r->left[i]) ? FIT_LEFT_OUT : r->score[i];
}

/* The hosts that have changed, and all where a scale has. */
static void score_changed(struct fit_ranking *r)
{
    bool all = false;

    for (uint32_t k = 0; k < r->n_stages; k++) {
        struct ranking_stage *s = &r->stages[k];
        bool over = find_over_hosts(r, s);
        bool other = (s->kind == STAGE_SCORE && rescale(r, s, over)) || over;

        if (other)
            find_parts(r, s, 0, r->n);
        for (uint32_t c = 0; !other && s->kind == STAGE_SCORE && c < r->n_changed; c++)
            find_parts(r, s, r->changed[c], r->changed[c] + 1);
        all = all || other;
    }
    if (all)
        sum_up(r, 0, r->n);
    for (uint32_t c = 0; !all && c < r->n_changed; c++)
        sum_up(r, r->changed[c], r->changed[c] + 1);
}

/* ---- chance ---- */

static uint64_t mix(uint64_t x) /* the finalizer of splitmix64 */
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint64_t mix_text(uint64_t x, const char *text)
{
    for (; *text; text++)
        x = mix(x + (unsigned char)*text + 0x9e3779b97f4a7c15u);
    return x;
}

static uint64_t draw(const struct fit *fit, uint32_t vm, const struct pick_facts *pick)
{
    return mix_text(mix(pick->seed + 0x9e3779b97f4a7c15u), fit->snap->vms[vm].is.id);
}

/* Orders hosts of equal score by chance; 0: by something else. */
static uint64_t draw_of(const struct fit_ranking *r, uint32_t i)
{
    if (!r->shuffle)
        return 0;
    return mix_text(draw(r->fit, r->vm, r->shuffle), r->fit->snap->hosts[r->hosts[i]].is.id);
}

uint32_t fit_rank_pick(const struct fit *fit, uint32_t vm, uint32_t n)
{
    const struct pipeline *p = pipeline_of(fit, vm);
    const struct pick_facts *pick = NULL;

    for (uint32_t i = 0; p && i < p->n; i++)
        if (fit->snap->stages[p->first + i].is.pick.given)
            pick = &fit->snap->stages[p->first + i].is.pick;
    if (!pick || pick->subset < 2 || n < 2)
        return 0;
    return (uint32_t)(draw(fit, vm, pick) % (pick->subset < n ? pick->subset : n));
}

/* ---- a ranking ---- */

#define PIECE 16 /* at most this many bytes are unused between two arrays */

size_t fit_ranking_bytes(const struct fit *fit, uint32_t vm, uint32_t n)
{
    const struct pipeline *p = pipeline_of(fit, vm);
    size_t columns = 4; /* the three below, and the hosts that change */
    size_t blocks = 0;
    size_t nodes = 0; /* of scores with operators over hosts */

    for (uint32_t i = 0; p && i < p->n; i++) {
        const struct stage_facts *is = &fit->snap->stages[p->first + i].is;
        columns += is->bucket.n > 0 ? 1u : is->score.n > 0 ? 2u + (is->multiplier.n > 0) : 0u;
        blocks += is->score.n > 0;
        nodes += fit->parts[PART_SCORE][p->first + i].over_hosts ? is->score.n + PIECE : 0;
    }
    return columns * (n * sizeof(double) + PIECE) + nodes * sizeof(struct expression_extremes) +
           blocks * ((n / BLOCK + 1) * sizeof(struct extremes) + PIECE) +
           (p ? p->n : 0) * (sizeof(struct ranking_stage) + sizeof(double *)) + sizeof(struct fit_ranking) +
           8 * PIECE;
}

struct fit_ranking *fit_ranking_new(const struct fit *fit, uint32_t vm, const struct expression_live *live,
                                    const uint32_t *hosts, uint32_t n, struct arena *a)
{
    const struct pipeline *p = pipeline_of(fit, vm);
    struct fit_ranking *r = arena_new(a, struct fit_ranking);
    uint32_t n_stages = p ? p->n : 0;

    *r = (struct fit_ranking){.fit = fit, .vm = vm, .live = *live, .hosts = hosts, .n = n};
    r->stages = arena_array(a, struct ranking_stage, n_stages);
    r->buckets = arena_array(a, const double *, n_stages);
    r->score = arena_array(a, double, n);
    r->left = arena_array(a, double, n);
    r->sorted = arena_array(a, double, n);
    r->candidate = arena_array(a, bool, n);
    r->changed = arena_array(a, uint32_t, n);
    r->has_changed = arena_array(a, bool, n);
    for (uint32_t i = 0; i < n; i++)
        r->candidate[i] = true;
    for (uint32_t i = 0; i < n_stages; i++)
        if (is_ranking(&fit->snap->stages[p->first + i].is))
            add_stage(r, p->first + i, a);
    return r;
}

/* Whether the host's value is one that bounds the scale. */
static bool bounds_scale(const struct fit_ranking *r, const struct ranking_stage *s, uint32_t i)
{
    double v = s->values[i] + r->left[i];

    return v <= s->least || v >= s->most || ranks(r->fit->snap->stages[s->stage].is.normalise);
}

void fit_ranking_renew(struct fit_ranking *r, uint32_t i, bool candidate)
{
    for (uint32_t k = 0; k < r->n_stages; k++) /* as it was */
        r->stages[k].rescale |= r->stages[k].kind == STAGE_SCORE && bounds_scale(r, &r->stages[k], i);
    r->candidate[i] = candidate;
    r->left[i] = candidate ? 0 : UNKNOWN;
    for (uint32_t k = 0; k < r->n_stages; k++) {
        struct ranking_stage *s = &r->stages[k];

        if (s->live) /* without scratch: only what moves do not change needs it */
            find_values(r, s, i, 1, NULL);
        if (s->live_by && s->by)
            numbers_on(r, &r->fit->parts[PART_MULTIPLIER][s->stage], NULL, i, 1, NULL, s->by);
        s->rescale |= s->kind == STAGE_SCORE && bounds_scale(r, s, i);
    }
    if (!r->has_changed[i])
        r->changed[r->n_changed++] = i;
    r->has_changed[i] = true;
}

void fit_ranking_score(struct fit_ranking *r)
{
    if (r->cuts || !r->scored)
        score_all(r);
    else
        score_changed(r);
    r->scored = true;
    for (; r->n_changed > 0; r->n_changed--)
        r->has_changed[r->changed[r->n_changed - 1]] = false;
}

uint32_t fit_ranking_parts(const struct fit_ranking *r, uint32_t i, double *ret, uint32_t *ret_stages)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < r->n_stages; k++) {
        if (r->stages[k].kind != STAGE_SCORE)
            continue;
        if (ret)
            ret[n] = r->stages[k].parts[i] + 0.0; /* no -0 */
        if (ret_stages)
            ret_stages[n] = r->stages[k].stage;
        n++;
    }
    return n;
}

void fit_ranking_get(const struct fit_ranking *r, uint32_t i, double *buckets, struct fit_ranked *ret)
{
    for (uint32_t k = 0; k < r->n_buckets; k++)
        buckets[k] = r->buckets[k][i];
    *ret = (struct fit_ranked){.host = r->hosts[i],
                               .buckets = buckets,
                               .n_buckets = r->n_buckets,
                               .score = r->score[i] == FIT_LEFT_OUT ? 0 : r->score[i],
                               .draw = draw_of(r, i),
                               .out = r->score[i] == FIT_LEFT_OUT};
}

int fit_rank_compare(const struct fit_ranked *x, const struct fit_ranked *y)
{
    for (uint32_t i = 0; i < x->n_buckets; i++)
        if (x->buckets[i] != y->buckets[i])
            return x->buckets[i] < y->buckets[i] ? -1 : 1;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->draw > y->draw) - (x->draw < y->draw);
}

uint32_t fit_rank_cut(const struct fit *fit, uint32_t vm)
{
    const struct pipeline *p = pipeline_of(fit, vm);
    uint32_t ret = p->first;

    for (uint32_t i = p->first; i < p->first + p->n; i++)
        ret = fit->snap->stages[i].is.cut.given ? i : ret;
    return ret;
}
