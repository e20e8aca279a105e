/* rank.c: scores, cuts, buckets and picks, for one VM and the hosts that are left to it. */
#include "core/fit/rank.h"

#include "core/fit/numbers.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

struct ranking {
    const struct fit *fit;
    uint32_t vm;
    const struct expression_live *live;
    struct fit_ranked *hosts;
    uint32_t n;
    uint32_t *index;         /* the hosts' numbers in the snapshot */
    double *values, *others; /* scratch, by host; UNKNOWN: absent */
    uint32_t buckets;        /* stages so far */
    struct arena *a;
};

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

/* The numbers that the expression is on the hosts. */
static void numbers_on(const struct ranking *r, const struct fit_expression *x, double *ret)
{
    const struct expression_scope of = fit_live_scope(r->fit, r->vm, 0, r->live);

    fit_numbers(r->fit, x, &of, false, r->index, r->n, r->a, ret);
}

/* ---- scores ---- */

static int by_number(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;

    return (*x > *y) - (*x < *y);
}

/* Puts in place of each value how many are less. */
static void rank_values(const struct ranking *r)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->n; i++)
        if (!r->hosts[i].out && !isnan(r->values[i]))
            r->others[n++] = r->values[i];
    qsort(r->others, n, sizeof *r->others, by_number);
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t low = 0;
        uint32_t high = n;

        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (r->others[middle] < r->values[i])
                low = middle + 1;
            else
                high = middle;
        }
        r->values[i] = isnan(r->values[i]) ? r->values[i] : (double)low;
    }
}

static void find_scale(const struct ranking *r, const struct stage_facts *s, double *ret_least,
                       double *ret_most)
{
    double least = s->least_given ? s->least : INFINITY;
    double most = s->most_given ? s->most : -INFINITY;

    for (uint32_t i = 0; i < r->n; i++) {
        if (r->hosts[i].out || isnan(r->values[i]))
            continue;
        least = fmin(least, r->values[i]);
        most = fmax(most, r->values[i]);
    }
    *ret_least = least;
    *ret_most = fmax(most, least);
}

static double normalised(const struct stage_facts *s, double v, double least, double most)
{
    switch (s->normalise) {
    case NORMALISE_MINMAX:
        if (!isfinite(most - least)) /* of halves it is finite */
            return (v / 2 - least / 2) / (most / 2 - least / 2);
        return most > least ? (v - least) / (most - least) : 0;
    case NORMALISE_CLAMP:
        return fmin(fmax(v, 0), 1);
    case NORMALISE_RANK:
    case NORMALISE_NONE:
    case normalisation_count:
        break;
    }
    return v;
}

static double bounded(double v)
{
    return fmin(fmax(v, -DBL_MAX), DBL_MAX);
}

static void add_scores(const struct ranking *r, uint32_t stage)
{
    const struct stage_facts *s = &r->fit->snap->stages[stage].is;
    double least;
    double most;

    numbers_on(r, &r->fit->parts[PART_SCORE][stage], r->values);
    find_scale(r, s, &least, &most);
    if (s->normalise == NORMALISE_RANK)
        rank_values(r);
    if (s->multiplier.n > 0)
        numbers_on(r, &r->fit->parts[PART_MULTIPLIER][stage], r->others);
    for (uint32_t i = 0; i < r->n; i++) {
        double by = s->multiplier.n > 0 ? r->others[i] : 1;
        double adds = by * normalised(s, r->values[i], least, most);

        if (!r->hosts[i].out && !isnan(adds)) /* always finite: an infinite sum is no order */
            r->hosts[i].score = bounded(r->hosts[i].score + bounded(adds));
    }
}

/* Those that are left are equal: scores begin anew. */
static void cut(const struct ranking *r, const struct cut_facts *c)
{
    bool any = false;

    for (uint32_t step = 0; step < c->steps && !any; step++) {
        double part = c->steps > 1 ? (double)step / (c->steps - 1) : 0;
        double threshold = step + 1 == c->steps && c->steps > 1 ? c->to : c->from + (c->to - c->from) * part;

        for (uint32_t i = 0; i < r->n; i++)
            any = any || (!r->hosts[i].out && r->hosts[i].score > threshold);
        for (uint32_t i = 0; any && i < r->n; i++)
            r->hosts[i].out = r->hosts[i].out || !(r->hosts[i].score > threshold);
    }
    for (uint32_t i = 0; i < r->n; i++) {
        r->hosts[i].out = r->hosts[i].out || !any;
        r->hosts[i].score = 0;
    }
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

static void shuffle(const struct ranking *r, const struct pick_facts *pick)
{
    uint64_t start = draw(r->fit, r->vm, pick);

    for (uint32_t i = 0; pick->shuffle && i < r->n; i++)
        r->hosts[i].draw = mix_text(start, r->fit->snap->hosts[r->hosts[i].host].is.id);
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

/* ---- all stages ---- */

static void ask(struct ranking *r, uint32_t stage)
{
    const struct stage_facts *s = &r->fit->snap->stages[stage].is;

    switch (stage_kind_of(s)) {
    case STAGE_SCORE:
        add_scores(r, stage);
        break;
    case STAGE_CUT:
        cut(r, &s->cut);
        break;
    case STAGE_BUCKET:
        numbers_on(r, &r->fit->parts[PART_BUCKET][stage], r->values);
        for (uint32_t i = 0; i < r->n; i++)
            r->hosts[i].buckets[r->buckets] = isnan(r->values[i]) ? INFINITY : r->values[i];
        r->buckets++;
        break;
    case STAGE_PICK:
        shuffle(r, &s->pick);
        break;
    case STAGE_NONE:
    case STAGE_FILTER:
    case STAGE_COUNT:
        break;
    }
}

static bool is_bucket(const struct stage_facts *s)
{
    return is_ranking(s) && stage_kind_of(s) == STAGE_BUCKET;
}

void fit_rank(const struct fit *fit, uint32_t vm, const struct expression_live *live,
              struct fit_ranked *hosts, uint32_t n, struct arena *a)
{
    const struct pipeline *p = pipeline_of(fit, vm);
    struct ranking r = {.fit = fit, .vm = vm, .live = live, .hosts = hosts, .n = n, .a = a};
    uint32_t n_buckets = 0;

    if (!p)
        return;
    for (uint32_t i = 0; i < p->n; i++)
        n_buckets += is_bucket(&fit->snap->stages[p->first + i].is);
    double *buckets = arena_array(a, double, (size_t)n *n_buckets);

    r.index = arena_array(a, uint32_t, n);
    r.values = arena_array(a, double, n);
    r.others = arena_array(a, double, n);
    for (uint32_t i = 0; i < n; i++) {
        r.index[i] = hosts[i].host;
        hosts[i] = (struct fit_ranked){
            .host = hosts[i].host, .buckets = buckets + (size_t)i * n_buckets, .n_buckets = n_buckets};
    }
    for (uint32_t i = 0; i < p->n; i++)
        if (is_ranking(&fit->snap->stages[p->first + i].is))
            ask(&r, p->first + i);
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
