/* counts.c: what each VM takes of what counting stages measure. The layout sums it up by host. */
#include "core/fit/fit.h"

#include "base/texts.h"
#include "core/fit/rows.h"

#include <math.h>
#include <string.h>

int64_t fit_amount(double v)
{
    const double most = 1e15;

    return (int64_t)round(fmin(fmax(v, -most), most) * FIT_AMOUNT_ONE);
}

struct measured_share {
    uint32_t measure;
    struct fit_share is;
};

/* What VMs take that have equal values of all that some measures read. */
struct row_shares {
    struct measured_share *items; /* by measure */
    uint32_t n;
    size_t cap;
};

/* The measures that read the same columns of VMs are evaluated once for each distinct row of these. */
struct counted_rows {
    const uint32_t *reads; /* columns, ascending */
    uint32_t n_reads;
    struct fit_rows rows;
    uint32_t *row_of;          /* by VM */
    struct row_shares *shares; /* by row */
    uint32_t next;             /* scratch: the first of a VM's row that is not listed yet */
};

struct counting {
    struct fit *fit;
    struct arena *a;
    struct fit_rows keys; /* rows: the measure, the text */
    uint32_t *counter_of; /* by number of the row */
    uint32_t n_numbered;
    size_t cap_numbered;
    struct counted_rows *tables;
    uint32_t n_tables;
    size_t cap_tables;
    struct value *row; /* scratch: of a VM, by column */
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

    return a->off == b->off && texts_same(a->over, b->over) &&
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

static void add_share(struct counting *c, struct row_shares *to, uint32_t measure, const char *of,
                      int64_t takes)
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
    to->items = arena_grow(c->a, to->items, to->n, &to->cap, sizeof *to->items);
    to->items[to->n++] = (struct measured_share){measure, {counter, takes}};
}

/* A text that is listed twice counts once. */
static void add_texts(struct counting *c, struct row_shares *to, uint32_t measure, const struct value *per,
                      int64_t takes)
{
    if (per->type == VALUE_TEXT)
        add_share(c, to, measure, per->text, takes);
    for (uint32_t i = 0; per->type == VALUE_TEXTS && i < per->texts.n; i++) {
        bool again = false;
        for (uint32_t k = 0; k < i; k++)
            again = again || strcmp(per->texts.items[k], per->texts.items[i]) == 0;
        if (!again)
            add_share(c, to, measure, per->texts.items[i], takes);
    }
}

/* What VMs with this row take of the measure. */
static void count_row(struct counting *c, struct counted_rows *t, uint32_t number, uint32_t measure)
{
    const struct fit *fit = c->fit;
    const struct expression_scope scope = {.vm = c->row, .snap = fit->snap};
    uint32_t stage = fit->counts.of_measure[measure];

    for (uint32_t i = 0; i < t->n_reads; i++)
        c->row[t->reads[i]] = t->rows.keys[number].row[i];
    struct value takes = expression_value(&fit->parts[PART_COUNT][stage].x, &scope);
    int64_t amount = takes.type == VALUE_NUMBER ? fit_amount(fmin(takes.number, FIT_AMOUNT_MOST)) : 0;

    if (amount <= 0)
        return;
    if (fit->snap->stages[stage].is.per.n == 0) {
        add_share(c, &t->shares[number], measure, NULL, amount);
        return;
    }
    struct value per = expression_value(&fit->parts[PART_PER][stage].x, &scope);

    add_texts(c, &t->shares[number], measure, &per, amount);
}

/* The columns of VMs that the measure reads, ascending. */
static const uint32_t *columns_read(const struct counting *c, uint32_t measure, uint32_t *ret_n)
{
    const struct fit *fit = c->fit;
    bool *reads = arena_array(c->a, bool, (size_t)fit->columns[OWNER_VM].n + 1);
    uint32_t *ret = arena_array(c->a, uint32_t, fit->columns[OWNER_VM].n);

    for (int part = PART_COUNT; part <= PART_PER; part++) {
        const struct fit_expression *x = &fit->parts[part][fit->counts.of_measure[measure]];
        for (uint32_t k = 0; k < x->n_reads[OWNER_VM]; k++)
            reads[x->reads[OWNER_VM][k]] = true;
    }
    *ret_n = 0;
    for (uint32_t i = 0; i < fit->columns[OWNER_VM].n; i++)
        if (reads[i])
            ret[(*ret_n)++] = i;
    return ret;
}

static void number_vms(struct counting *c, struct counted_rows *t)
{
    const struct fit *fit = c->fit;
    struct value *row = arena_array(c->a, struct value, t->n_reads);

    t->row_of = arena_array(c->a, uint32_t, fit->snap->n_vms);
    for (uint32_t vm = 0; vm < fit->snap->n_vms; vm++) {
        for (uint32_t i = 0; i < t->n_reads; i++)
            row[i] = expression_vm_value(fit->snap, vm, fit->columns[OWNER_VM].items[t->reads[i]]);
        t->row_of[vm] = fit_rows_number(&t->rows, row, t->n_reads, c->a);
    }
    t->shares = arena_array(c->a, struct row_shares, t->rows.n);
}

static struct counted_rows *table_of(struct counting *c, uint32_t measure)
{
    uint32_t n;
    const uint32_t *reads = columns_read(c, measure, &n);

    for (uint32_t i = 0; i < c->n_tables; i++)
        if (c->tables[i].n_reads == n && memcmp(c->tables[i].reads, reads, n * sizeof *reads) == 0)
            return &c->tables[i];
    c->tables = arena_grow(c->a, c->tables, c->n_tables, &c->cap_tables, sizeof *c->tables);
    struct counted_rows *t = &c->tables[c->n_tables++];

    *t = (struct counted_rows){.reads = reads, .n_reads = n};
    number_vms(c, t);
    return t;
}

/* Lists what the VM takes, by measure. */
static void list_shares(struct counting *c, uint32_t vm)
{
    struct fit_counts *counts = &c->fit->counts;

    for (uint32_t i = 0; i < c->n_tables; i++)
        c->tables[i].next = 0;
    for (;;) {
        struct counted_rows *first = NULL;
        const struct measured_share *least = NULL;

        for (uint32_t i = 0; i < c->n_tables; i++) {
            struct counted_rows *t = &c->tables[i];
            const struct row_shares *mine = &t->shares[t->row_of[vm]];

            if (t->next == mine->n || (least && least->measure < mine->items[t->next].measure))
                continue;
            first = t;
            least = &mine->items[t->next];
        }
        if (!first)
            return;
        first->next++;
        counts->shares =
            arena_grow(c->a, counts->shares, c->n_shares, &counts->cap_shares, sizeof(*counts->shares));
        counts->shares[c->n_shares++] = least->is;
    }
}

void fit_counts_compile(struct fit *fit, struct arena *a)
{
    const struct snapshot *s = fit->snap;
    struct counting c = {.fit = fit, .a = a};

    find_measures(fit, a);
    if (fit->counts.n_measures == 0)
        return;
    list_bounds(fit, a);
    c.row = arena_array(a, struct value, (size_t)fit->columns[OWNER_VM].n + 1);
    for (uint32_t m = 0; m < fit->counts.n_measures; m++) {
        struct counted_rows *t = table_of(&c, m);
        for (uint32_t i = 0; i < t->rows.n; i++)
            count_row(&c, t, i, m);
    }
    fit->counts.shares_from = arena_array(a, uint32_t, (size_t)s->n_vms + 1);
    for (uint32_t vm = 0; vm < s->n_vms; vm++) {
        list_shares(&c, vm);
        fit->counts.shares_from[vm + 1] = c.n_shares;
    }
}
