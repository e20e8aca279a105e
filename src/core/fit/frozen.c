/* frozen.c: tables of scores and buckets by host, shared by the VMs for which they are equal. */
#include "core/fit/frozen.h"

#include "core/fit/numbers.h"
#include "core/fit/rows.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A score stage of a pipeline. */
struct scoring {
    uint32_t stage;
    const double *value, *multiplier; /* by host; multiplier NULL: 1 */
    double least, most;               /* of the values, with what the stage gives */
};

/* What VMs of one pipeline with equal tables and the same hosts share. */
struct shared {
    const struct scoring *scores;
    uint32_t n_scores;
    double least, most; /* of the sums */
    const double *sum;  /* by host, 0 ... 1 */
    const uint32_t *bucket_stages;
    const double *const *buckets; /* by bucket stage, then host */
    uint32_t n_buckets;
    const uint64_t *hosts; /* over which is scaled */
};

/* A VM: what it shares, and its values on its own host. */
struct own {
    const struct shared *shared; /* NULL: not asked for yet, or no score and no bucket */
    bool known;
    double score;
    const double *buckets;
};

#define EXTREMES (sizeof(struct expression_extremes) / sizeof(double))

struct fit_frozen {
    const struct fit *fit;
    const uint64_t *hosts;
    const struct fit_then *then;
    struct arena *a;
    struct own *vms; /* by VM */
    bool *ranks;     /* by pipeline: a stage scores or buckets a move */
    bool *counts;    /* by pipeline: and reads what moves change */
    const struct shared *
        *by_class; /* of pipelines that read nothing that moves change; NULL: not asked for yet */
    struct fit_rows table_keys; /* rows: part and stage, then what the expression reads */
    const double **tables;      /* by host, UNKNOWN: no number; then for operators over hosts, by node */
    size_t cap_tables;
    struct fit_rows shared_keys; /* rows: the pipeline, its tables, the number of its hosts */
    struct shared **shared;
    size_t cap_shared;
    const uint64_t **bitmaps; /* distinct */
    uint32_t n_bitmaps;
    size_t cap_bitmaps;
    struct value *key; /* scratch */
    uint64_t *bits;    /* scratch */
};

static bool scores_moves(const struct stage_facts *s)
{
    return s->score.n > 0 && s->applies >> FIT_MOVE & 1;
}

static bool buckets_moves(const struct stage_facts *s)
{
    return s->bucket.n > 0 && s->applies >> FIT_MOVE & 1;
}

/* ---- hosts ---- */

static bool is_in(const uint64_t *hosts, uint32_t h)
{
    return hosts[h / 64] >> (h % 64) & 1;
}

/* The number of a bitmap that is equal to the hosts to which filters let the VM move. */
static uint32_t hosts_of(struct fit_frozen *f, uint32_t vm)
{
    const uint64_t *allowed = fit_hosts(f->fit, FIT_MOVE, vm);
    size_t bytes = f->fit->words * sizeof(uint64_t);

    if (!allowed)
        return 0; /* f->hosts */
    for (uint32_t w = 0; w < f->fit->words; w++)
        f->bits[w] = allowed[w] & f->hosts[w];
    for (uint32_t i = 0; i < f->n_bitmaps; i++)
        if (memcmp(f->bitmaps[i], f->bits, bytes) == 0)
            return i;
    f->bitmaps = arena_grow(f->a, f->bitmaps, f->n_bitmaps, &f->cap_bitmaps, sizeof(*f->bitmaps));
    f->bitmaps[f->n_bitmaps] = arena_copy(f->a, f->bits, 1, bytes);
    return f->n_bitmaps++;
}

/* 0 for these hosts, UNKNOWN for all others. */
static const double *left_of(const struct fit_frozen *f, const uint64_t *hosts)
{
    double *ret = arena_array(f->a, double, f->fit->snap->n_hosts);

    for (uint32_t h = 0; h < f->fit->snap->n_hosts; h++)
        ret[h] = is_in(hosts, h) ? 0 : UNKNOWN;
    return ret;
}

/* ---- tables ---- */

static void add_number(const struct fit_frozen *f, uint32_t *n, double number)
{
    f->key[(*n)++] = (struct value){.type = VALUE_NUMBER, .number = number};
}

/* The attributes of VMs with this row that the expression reads. */
static void add_reads(const struct fit_frozen *f, const struct fit_expression *x, const struct value *row,
                      uint32_t *n)
{
    for (uint32_t i = 0; i < x->n_reads[OWNER_VM]; i++)
        f->key[(*n)++] = row[x->reads[OWNER_VM][i]];
}

/* What tells VMs apart for $host.used and $host.left of this stage: with `per`, what the VM is counted with;
 * and the limit. */
static void add_count(const struct fit_frozen *f, const struct expression_node *variable, uint32_t vm,
                      const struct value *row, uint32_t *n)
{
    const struct fit_counts *counts = &f->fit->counts;
    uint32_t measure = counts->measure_of[variable->column];

    if (variable->variable == VARIABLE_HOST_LEFT)
        add_reads(f, &f->fit->parts[PART_LIMIT][variable->column], row, n);
    if (f->fit->parts[PART_PER][variable->column].x.n == 0)
        return;
    uint32_t length = (*n)++;
    double shares = 0;

    for (uint32_t k = counts->shares_from[vm]; k < counts->shares_from[vm + 1]; k++)
        if (counts->counters[counts->shares[k].counter].measure == measure) {
            add_number(f, n, counts->shares[k].counter);
            shares++;
        }
    f->key[length] = (struct value){.type = VALUE_NUMBER, .number = shares};
}

/* What tells VMs apart for the expression. Load and free memory are the same to all. */
static uint32_t table_key(struct fit_frozen *f, enum fit_part part, uint32_t stage, uint32_t vm)
{
    const struct fit_expression *x = &f->fit->parts[part][stage];
    const struct value *row = f->fit->class_row[f->fit->class_of[vm]];
    uint32_t n = 0;

    add_number(f, &n, part * (double)f->fit->snap->n_stages + stage);
    if (x->over_hosts)
        add_number(f, &n, hosts_of(f, vm));
    add_reads(f, x, row, &n);
    for (uint32_t i = 0; x->live && i < x->x.n; i++) {
        const struct expression_node *node = &x->x.nodes[i];

        if (node->kind == EXPRESSION_VARIABLE &&
            (node->variable == VARIABLE_HOST_USED || node->variable == VARIABLE_HOST_LEFT))
            add_count(f, node, vm, row, &n);
    }
    return n;
}

/* The number of the expression's table for the VM. */
static uint32_t table_of(struct fit_frozen *f, enum fit_part part, uint32_t stage, uint32_t vm)
{
    uint32_t known = f->table_keys.n;
    uint32_t n_hosts = f->fit->snap->n_hosts;
    uint32_t number = fit_rows_number(&f->table_keys, f->key, table_key(f, part, stage, vm), f->a);

    if (number < known)
        return number;
    const struct fit_expression *x = &f->fit->parts[part][stage];
    double *of = arena_array(f->a, double, (size_t)n_hosts + (x->over_hosts ? EXTREMES * x->x.n : 0));
    struct expression_scope scope = fit_live_scope(f->fit, vm, 0, &f->then->all);
    struct expression_extremes *over = (void *)(of + n_hosts);

    if (x->over_hosts) {
        fit_over_hosts(f->fit, x, &scope, NULL, left_of(f, f->bitmaps[hosts_of(f, vm)]), n_hosts, of, over);
        scope.over_hosts = over;
    }
    fit_numbers(f->fit, x, &scope, NULL, n_hosts, f->a, of);
    f->tables = arena_grow(f->a, f->tables, known, &f->cap_tables, sizeof(*f->tables));
    f->tables[number] = of;
    return number;
}

/* ---- scores ---- */

static void find_scale(const struct fit_frozen *f, const uint64_t *hosts, struct scoring *s)
{
    const struct stage_facts *is = &f->fit->snap->stages[s->stage].is;

    s->least = is->least_given ? is->least : INFINITY;
    s->most = is->most_given ? is->most : -INFINITY;
    for (uint32_t h = 0; h < f->fit->snap->n_hosts; h++) {
        if (!is_in(hosts, h) || isnan(s->value[h]))
            continue;
        s->least = fmin(s->least, s->value[h]);
        s->most = fmax(s->most, s->value[h]);
    }
    s->most = fmax(s->most, s->least);
}

static double rank_of(const struct fit_frozen *f, const uint64_t *hosts, const struct scoring *s, double v,
                      bool or_equal)
{
    double less = 0;

    for (uint32_t h = 0; h < f->fit->snap->n_hosts; h++)
        less += is_in(hosts, h) && (s->value[h] < v || (or_equal && s->value[h] == v));
    return less;
}

/* Always finite, as rank.c has them: an infinite sum is no order. */
static double bounded(double v)
{
    return fmin(fmax(v, -DBL_MAX), DBL_MAX);
}

/* Where x is on the scale; of halves its length is finite. */
static double between(double x, double least, double most)
{
    return isfinite(most - least) ? (x - least) / (most - least)
                                  : (x / 2 - least / 2) / (most / 2 - least / 2);
}

/* What a value adds to the score. */
static double part_of_score(const struct fit_frozen *f, const uint64_t *hosts, const struct scoring *s,
                            double v, double by)
{
    if (isnan(v) || isnan(by))
        return 0;
    switch (f->fit->snap->stages[s->stage].is.normalise) {
    case NORMALISE_MINMAX:
        v = s->most > s->least ? between(v, s->least, s->most) : 0;
        break;
    case NORMALISE_CLAMP:
        v = fmin(fmax(v, 0), 1);
        break;
    case NORMALISE_RANK:
        v = rank_of(f, hosts, s, v, false);
        break;
    case NORMALISE_RANK_HIGH: /* without the host itself */
        v = fmax(rank_of(f, hosts, s, v, true) - 1, 0);
        break;
    case NORMALISE_NONE:
    case normalisation_count:
        break;
    }
    return bounded(by * v);
}

static double part_on(const struct fit_frozen *f, const struct shared *s, uint32_t k, uint32_t host)
{
    const struct scoring *x = &s->scores[k];

    return part_of_score(f, s->hosts, x, x->value[host], x->multiplier ? x->multiplier[host] : 1);
}

static double scaled(const struct shared *s, double sum)
{
    return s->most > s->least ? fmin(fmax(between(sum, s->least, s->most), 0), 1) : 0;
}

static void sum_up(const struct fit_frozen *f, struct shared *s)
{
    uint32_t n_hosts = f->fit->snap->n_hosts;
    double *sum = arena_array(f->a, double, n_hosts);

    s->least = INFINITY;
    s->most = -INFINITY;
    for (uint32_t h = 0; h < n_hosts; h++) {
        for (uint32_t k = 0; k < s->n_scores; k++)
            sum[h] = bounded(sum[h] + part_on(f, s, k, h));
        if (!is_in(s->hosts, h))
            continue;
        s->least = fmin(s->least, sum[h]);
        s->most = fmax(s->most, sum[h]);
    }
    for (uint32_t h = 0; h < n_hosts; h++)
        sum[h] = scaled(s, sum[h]);
    s->sum = sum;
}

/* numbers: of the tables of each scoring stage of the pipeline (its multiplier's after it; 0: none), then of
 * each bucket. */
static struct shared *make_shared(struct fit_frozen *f, const struct pipeline *p, const uint32_t *numbers,
                                  const uint64_t *hosts)
{
    struct scoring *scores = arena_array(f->a, struct scoring, p->n);
    uint32_t *stages = arena_array(f->a, uint32_t, p->n);
    const double **buckets = arena_array(f->a, const double *, p->n);
    struct shared *s = arena_new(f->a, struct shared);

    *s = (struct shared){.scores = scores, .bucket_stages = stages, .buckets = buckets, .hosts = hosts};
    for (uint32_t i = p->first; i < p->first + p->n; i++) {
        const struct stage_facts *is = &f->fit->snap->stages[i].is;

        if (scores_moves(is)) {
            struct scoring *x = &scores[s->n_scores++];
            *x = (struct scoring){.stage = i, .value = f->tables[*numbers++]};
            x->multiplier = is->multiplier.n > 0 ? f->tables[*numbers++] : NULL;
            find_scale(f, hosts, x);
        } else if (buckets_moves(is)) {
            stages[s->n_buckets] = i;
            buckets[s->n_buckets++] = f->tables[*numbers++];
        }
    }
    if (s->n_scores > 0)
        sum_up(f, s);
    return s;
}

static const struct shared *find_shared(struct fit_frozen *f, uint32_t vm)
{
    uint32_t pipeline = f->fit->snap->vms[vm].pipeline;
    const struct pipeline *p = &f->fit->snap->pipelines[pipeline];
    uint32_t *numbers = arena_array(f->a, uint32_t, 2 * (size_t)p->n + 1);
    uint32_t n = 0;

    for (uint32_t i = p->first; i < p->first + p->n; i++) {
        const struct stage_facts *is = &f->fit->snap->stages[i].is;

        if (scores_moves(is)) {
            numbers[n++] = table_of(f, PART_SCORE, i, vm);
            if (is->multiplier.n > 0)
                numbers[n++] = table_of(f, PART_MULTIPLIER, i, vm);
        } else if (buckets_moves(is)) {
            numbers[n++] = table_of(f, PART_BUCKET, i, vm);
        }
    }
    uint32_t hosts = hosts_of(f, vm);
    uint32_t known = f->shared_keys.n;

    f->key[0] = (struct value){.type = VALUE_NUMBER, .number = pipeline};
    f->key[1] = (struct value){.type = VALUE_NUMBER, .number = hosts};
    for (uint32_t i = 0; i < n; i++)
        f->key[2 + i] = (struct value){.type = VALUE_NUMBER, .number = numbers[i]};
    uint32_t number = fit_rows_number(&f->shared_keys, f->key, 2 + n, f->a);
    if (number == known) {
        f->shared = arena_grow(f->a, f->shared, known, &f->cap_shared, sizeof(*f->shared));
        f->shared[number] = make_shared(f, p, numbers, f->bitmaps[hosts]);
    }
    return f->shared[number];
}

/* ---- a VM ---- */

/* The value of a part of a stage on the VM's own host, without the VM; UNKNOWN: no number. */
static double value_at_home(struct fit_frozen *f, enum fit_part part, uint32_t stage, uint32_t vm)
{
    const struct fit_expression *x = &f->fit->parts[part][stage];
    struct expression_scope scope = fit_live_scope(f->fit, vm, f->fit->snap->vms[vm].host, &f->then->beside);

    if (x->over_hosts)
        scope.over_hosts = (const void *)(f->tables[table_of(f, part, stage, vm)] + f->fit->snap->n_hosts);
    struct value v = expression_value(&x->x, &scope);

    return v.type == VALUE_NUMBER ? v.number : UNKNOWN;
}

static double part_at_home(struct fit_frozen *f, const struct shared *s, uint32_t k, uint32_t vm)
{
    const struct scoring *x = &s->scores[k];
    double by = x->multiplier ? value_at_home(f, PART_MULTIPLIER, x->stage, vm) : 1;

    return part_of_score(f, s->hosts, x, value_at_home(f, PART_SCORE, x->stage, vm), by);
}

static void fill_home(struct fit_frozen *f, uint32_t vm, struct own *o)
{
    const struct shared *s = o->shared;
    double *buckets = arena_array(f->a, double, s->n_buckets);
    double sum = 0;

    for (uint32_t k = 0; k < s->n_scores; k++)
        sum = bounded(sum + part_at_home(f, s, k, vm));
    o->score = s->n_scores > 0 ? scaled(s, sum) : 0;
    for (uint32_t k = 0; k < s->n_buckets; k++)
        buckets[k] = value_at_home(f, PART_BUCKET, s->bucket_stages[k], vm);
    o->buckets = buckets;
}

static const struct own *own_of(struct fit_frozen *f, uint32_t vm)
{
    struct own *o = &f->vms[vm];
    uint32_t pipeline = f->fit->snap->vms[vm].pipeline;

    if (o->known)
        return o;
    o->known = true;
    if (pipeline == IX_NONE || !f->ranks[pipeline] || f->fit->snap->vms[vm].host == IX_NONE)
        return o;
    uint32_t class = f->fit->class_of[vm];
    bool counts = f->counts[pipeline];

    o->shared = counts || !f->by_class[class] ? find_shared(f, vm) : f->by_class[class];
    if (!counts)
        f->by_class[class] = o->shared;
    if (counts)
        fill_home(f, vm, o);
    else
        o->score = o->shared->n_scores > 0 ? o->shared->sum[f->fit->snap->vms[vm].host] : 0;
    return o;
}

/* ---- questions ---- */

bool fit_frozen_scores(struct fit_frozen *f, uint32_t vm)
{
    const struct own *o = own_of(f, vm);

    return o->shared && o->shared->n_scores > 0;
}

double fit_frozen_score(struct fit_frozen *f, uint32_t vm, uint32_t host)
{
    const struct own *o = own_of(f, vm);

    if (!fit_frozen_scores(f, vm))
        return 0;
    return host == f->fit->snap->vms[vm].host ? o->score : o->shared->sum[host];
}

const double *fit_frozen_table(struct fit_frozen *f, uint32_t vm, double *ret_own)
{
    const struct own *o = own_of(f, vm);

    *ret_own = o->score;
    return o->shared && o->shared->n_scores > 0 ? o->shared->sum : NULL;
}

double fit_frozen_drop(struct fit_frozen *f, uint32_t vm, uint32_t to)
{
    const struct own *o = own_of(f, vm);

    return fit_frozen_scores(f, vm) ? fmax(o->score - o->shared->sum[to], 0) : 0;
}

/* No number: last. */
static double bucket_or_last(double v)
{
    return isnan(v) ? INFINITY : v;
}

bool fit_frozen_worse_bucket(struct fit_frozen *f, uint32_t vm, uint32_t to, struct fit_frozen_bucket *ret)
{
    const struct own *o = own_of(f, vm);

    for (uint32_t k = 0; o->shared && k < o->shared->n_buckets; k++) {
        const double *by_host = o->shared->buckets[k];
        double here = bucket_or_last(o->buckets ? o->buckets[k] : by_host[f->fit->snap->vms[vm].host]);
        double there = bucket_or_last(by_host[to]);

        if (there == here)
            continue;
        if (ret)
            *ret = (struct fit_frozen_bucket){o->shared->bucket_stages[k], here, there};
        return there > here;
    }
    return false;
}

uint32_t fit_frozen_stage_of_drop(struct fit_frozen *f, uint32_t vm, uint32_t from, uint32_t to)
{
    const struct own *o = own_of(f, vm);
    bool at_home = from == f->fit->snap->vms[vm].host && o->buckets;
    uint32_t ret = IX_NONE;
    double most = 0;

    for (uint32_t k = 0; o->shared && k < o->shared->n_scores; k++) {
        double here = at_home ? part_at_home(f, o->shared, k, vm) : part_on(f, o->shared, k, from);
        double falls = here - part_on(f, o->shared, k, to);

        if (ret != IX_NONE && !(falls > most))
            continue;
        ret = o->shared->scores[k].stage;
        most = falls;
    }
    return ret;
}

/* ---- building ---- */

/* Which pipelines rank moves, and by what is counted. False: none does. */
static bool find_pipelines(struct fit_frozen *f)
{
    const struct snapshot *s = f->fit->snap;
    bool any = false;

    f->ranks = arena_array(f->a, bool, s->n_pipelines);
    f->counts = arena_array(f->a, bool, s->n_pipelines);
    for (uint32_t i = 0; i < s->n_pipelines; i++)
        for (uint32_t k = s->pipelines[i].first; k < s->pipelines[i].first + s->pipelines[i].n; k++) {
            const struct stage_facts *is = &s->stages[k].is;

            if (!scores_moves(is) && !buckets_moves(is))
                continue;
            any = f->ranks[i] = true;
            for (int part = PART_SCORE; part <= PART_BUCKET; part++)
                f->counts[i] |= expression_is_live(&f->fit->parts[part][k].x);
        }
    return any;
}

/* The longest key: a table's, or that of what VMs share. */
static size_t key_most(const struct fit *fit)
{
    const struct snapshot *s = fit->snap;
    size_t n_columns = fit->columns[OWNER_VM].n;
    size_t nodes = 0;
    size_t shares = 0;

    for (uint32_t vm = 0; fit->counts.shares_from && vm < s->n_vms; vm++) {
        uint32_t own = fit->counts.shares_from[vm + 1] - fit->counts.shares_from[vm];
        shares = own > shares ? own : shares;
    }
    for (int part = PART_SCORE; part <= PART_BUCKET; part++)
        for (uint32_t i = 0; i < s->n_stages; i++)
            if (fit->parts[part][i].live && fit->parts[part][i].x.n > nodes)
                nodes = fit->parts[part][i].x.n;
    return 2 + 2 * (size_t)s->n_stages + n_columns + nodes * (1 + n_columns + shares);
}

struct fit_frozen *fit_frozen_new(const struct fit *fit, const uint64_t *hosts, const struct fit_then *then,
                                  struct arena *a)
{
    if (fit->snap->n_pipelines == 0)
        return NULL;
    struct fit_frozen *f = arena_new(a, struct fit_frozen);

    *f = (struct fit_frozen){.fit = fit, .hosts = hosts, .then = then, .a = a};
    if (!find_pipelines(f))
        return NULL;
    f->vms = arena_array(a, struct own, fit->snap->n_vms);
    f->by_class = arena_array(a, const struct shared *, fit->n_classes);
    f->key = arena_array(a, struct value, key_most(fit));
    f->bits = arena_array(a, uint64_t, fit->words);
    f->bitmaps = arena_grow(a, f->bitmaps, 0, &f->cap_bitmaps, sizeof(*f->bitmaps));
    f->bitmaps[f->n_bitmaps++] = hosts;
    return f;
}
