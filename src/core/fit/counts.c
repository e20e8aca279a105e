/* counts.c: what each VM takes of what counting stages measure. The layout sums it up by host. */
#include "core/fit/fit.h"

#include "core/fit/rows.h"

#include <math.h>
#include <string.h>

int64_t fit_amount(double v)
{
    const double most = 1e15;

    return (int64_t)round(fmin(fmax(v, -most), most) * FIT_AMOUNT_ONE);
}

struct counting {
    struct fit *fit;
    struct arena *a;
    struct fit_rows keys; /* rows: the measure, the text */
    uint32_t *counter_of; /* by number of the row */
    uint32_t n_numbered;
    size_t cap_numbered;
    uint32_t n_shares;
};

/* The groups of this kind of each host. */
static void list_groups_of_kind(struct fit *fit, const char *kind, struct arena *a, struct fit_counter *ret)
{
    uint32_t n_hosts = fit->snap->n_hosts;
    uint32_t *from = arena_array(a, uint32_t, (size_t)n_hosts + 1);
    uint32_t *groups = arena_array(a, uint32_t, fit->groups_from[n_hosts]);
    uint32_t n = 0;

    for (uint32_t h = 0; h < n_hosts; h++) {
        for (uint32_t i = fit->groups_from[h]; i < fit->groups_from[h + 1]; i++)
            if (strcmp(fit->snap->groups[fit->groups_of[i]].is.kind, kind) == 0)
                groups[n++] = fit->groups_of[i];
        from[h + 1] = n;
    }
    ret->from = from;
    ret->groups = groups;
}

static bool same_text(const char *x, const char *y)
{
    return x == y || (x && y && strcmp(x, y) == 0);
}

/* Both resolved: equal variables are in one column. */
static bool same_expression(const struct expression *x, const struct expression *y)
{
    bool same = x->n == y->n;

    for (uint32_t i = 0; same && i < x->n; i++) {
        const struct expression_node *m = &x->nodes[i];
        const struct expression_node *n = &y->nodes[i];

        same = m->kind == n->kind && m->end == n->end;
        switch (m->kind) {
        case EXPRESSION_CONSTANT:
            same = same && expression_value_same(&m->is, &n->is);
            break;
        case EXPRESSION_VARIABLE:
            same = same && m->variable == n->variable && m->column == n->column;
            break;
        case EXPRESSION_OPERATOR:
            same = same && m->op == n->op;
            break;
        }
    }
    return same;
}

static bool same_measure(const struct fit *fit, uint32_t x, uint32_t y)
{
    const struct stage_facts *a = &fit->snap->stages[x].is;
    const struct stage_facts *b = &fit->snap->stages[y].is;

    return a->off == b->off && same_text(a->over, b->over) &&
           same_expression(&fit->parts[PART_COUNT][x].x, &fit->parts[PART_COUNT][y].x) &&
           same_expression(&fit->parts[PART_PER][x].x, &fit->parts[PART_PER][y].x);
}

/* Numbers what the counting stages measure. */
static void find_measures(struct fit *fit, struct arena *a)
{
    const struct snapshot *s = fit->snap;
    struct fit_counts *counts = &fit->counts;

    counts->measure_of = arena_array(a, uint32_t, s->n_stages);
    counts->of_measure = arena_array(a, uint32_t, s->n_stages);
    for (uint32_t i = 0; i < s->n_stages; i++) {
        uint32_t m = 0;

        counts->measure_of[i] = IX_NONE;
        if (s->stages[i].is.count.n == 0)
            continue;
        while (m < counts->n_measures && !same_measure(fit, counts->of_measure[m], i))
            m++;
        if (m == counts->n_measures)
            counts->of_measure[counts->n_measures++] = i;
        counts->measure_of[i] = m;
    }
    counts->whole = arena_array(a, uint32_t, counts->n_measures);
    for (uint32_t m = 0; m < counts->n_measures; m++)
        counts->whole[m] = IX_NONE;
}

static void list_bounds(struct fit *fit, struct arena *a)
{
    const struct snapshot *s = fit->snap;
    struct fit_counts *counts = &fit->counts;
    uint32_t n = 0;

    counts->bounds_from = arena_array(a, uint32_t, (size_t)s->n_pipelines + 1);
    counts->bounds = arena_array(a, struct fit_bound, s->n_stages);
    for (uint32_t p = 0; p < s->n_pipelines; p++) {
        for (uint32_t i = s->pipelines[p].first; i < s->pipelines[p].first + s->pipelines[p].n; i++)
            if (s->stages[i].is.limit.n > 0)
                counts->bounds[n++] = (struct fit_bound){i, counts->measure_of[i], s->stages[i].is.applies};
        counts->bounds_from[p + 1] = n;
    }
}

static void add_counter(struct counting *c, uint32_t measure, const char *of)
{
    struct fit_counts *counts = &c->fit->counts;
    const char *over = c->fit->snap->stages[counts->of_measure[measure]].is.over;
    struct fit_counter counter = {.measure = measure, .of = of};

    for (uint32_t i = 0; over && i < counts->n_counters && !counter.from; i++)
        if (counts->counters[i].measure == measure) {
            counter.from = counts->counters[i].from;
            counter.groups = counts->counters[i].groups;
        }
    if (over && !counter.from)
        list_groups_of_kind(c->fit, over, c->a, &counter);
    counts->over_groups = counts->over_groups || over;
    counts->counters = arena_grow(c->a, counts->counters, counts->n_counters, &counts->cap_counters,
                                  sizeof(*counts->counters));
    if (!of)
        counts->whole[measure] = counts->n_counters;
    counts->counters[counts->n_counters++] = counter;
}

static void add_share(struct counting *c, uint32_t measure, const char *of, int64_t takes)
{
    struct fit_counts *counts = &c->fit->counts;
    uint32_t counter = of ? IX_NONE : counts->whole[measure];

    if (of) {
        const struct value key[] = {{.type = VALUE_NUMBER, .number = measure},
                                    {.type = VALUE_TEXT, .text = of}};
        uint32_t number = fit_rows_number(&c->keys, key, 2, c->a);

        if (number == c->n_numbered) {
            c->counter_of = arena_grow(c->a, c->counter_of, number, &c->cap_numbered, sizeof *c->counter_of);
            c->counter_of[c->n_numbered++] = counts->n_counters;
            add_counter(c, measure, of);
        }
        counter = c->counter_of[number];
    } else if (counter == IX_NONE) {
        counter = counts->n_counters;
        add_counter(c, measure, NULL);
    }
    counts->shares =
        arena_grow(c->a, counts->shares, c->n_shares, &counts->cap_shares, sizeof(*counts->shares));
    counts->shares[c->n_shares++] = (struct fit_share){counter, takes};
}

/* A text that is listed twice counts once. */
static void add_texts(struct counting *c, uint32_t measure, const struct value *per, int64_t takes)
{
    if (per->type == VALUE_TEXT)
        add_share(c, measure, per->text, takes);
    for (uint32_t i = 0; per->type == VALUE_TEXTS && i < per->texts.n; i++) {
        bool again = false;
        for (uint32_t k = 0; k < i; k++)
            again = again || strcmp(per->texts.items[k], per->texts.items[i]) == 0;
        if (!again)
            add_share(c, measure, per->texts.items[i], takes);
    }
}

static void count_vm(struct counting *c, uint32_t measure, const struct value *row)
{
    const struct fit *fit = c->fit;
    const struct expression_scope scope = {.vm = row, .snap = fit->snap};
    uint32_t stage = fit->counts.of_measure[measure];
    struct value takes = expression_value(&fit->parts[PART_COUNT][stage].x, &scope);
    int64_t amount = takes.type == VALUE_NUMBER ? fit_amount(fmin(takes.number, FIT_AMOUNT_MOST)) : 0;

    if (amount <= 0)
        return;
    if (fit->snap->stages[stage].is.per.n == 0) {
        add_share(c, measure, NULL, amount);
        return;
    }
    struct value per = expression_value(&fit->parts[PART_PER][stage].x, &scope);

    add_texts(c, measure, &per, amount);
}

static bool *columns_read(const struct fit *fit, struct arena *a)
{
    bool *reads = arena_array(a, bool, (size_t)fit->columns[OWNER_VM].n + 1);

    for (uint32_t m = 0; m < fit->counts.n_measures; m++)
        for (int part = PART_COUNT; part <= PART_PER; part++) {
            const struct fit_expression *x = &fit->parts[part][fit->counts.of_measure[m]];
            for (uint32_t k = 0; k < x->n_reads[OWNER_VM]; k++)
                reads[x->reads[OWNER_VM][k]] = true;
        }
    return reads;
}

void fit_counts_compile(struct fit *fit, struct arena *a)
{
    const struct snapshot *s = fit->snap;
    struct counting c = {.fit = fit, .a = a};

    find_measures(fit, a);
    if (fit->counts.n_measures == 0)
        return;
    list_bounds(fit, a);
    const bool *reads = columns_read(fit, a);
    struct value *row = arena_array(a, struct value, (size_t)fit->columns[OWNER_VM].n + 1);

    fit->counts.shares_from = arena_array(a, uint32_t, (size_t)s->n_vms + 1);
    for (uint32_t vm = 0; vm < s->n_vms; vm++) {
        fit_fill_vm_row(fit, vm, reads, row);
        for (uint32_t m = 0; m < fit->counts.n_measures; m++)
            count_vm(&c, m, row);
        fit->counts.shares_from[vm + 1] = c.n_shares;
    }
}
