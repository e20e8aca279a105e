/* fit.c: compiles pipelines: columns of what the stages read, request classes, and a bitmap of hosts for
 * each. */
#include "core/fit/fit.h"

#include "base/order.h"
#include "core/fit/numbers.h"
#include "core/fit/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns ---- */

static uint32_t column_of(struct fit_columns *c, const struct expression_node *variable, struct arena *a)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (c->items[i]->variable == variable->variable &&
            (!variable->name || strcmp(c->items[i]->name, variable->name) == 0))
            return i;
    c->items = arena_grow(a, c->items, c->n, &c->cap, sizeof(*c->items));
    c->items[c->n] = variable;
    return c->n++;
}

/* Adds the column to the ascending list, once. */
static void add_read(uint32_t *reads, uint32_t *n, uint32_t column)
{
    uint32_t at = *n;

    while (at > 0 && reads[at - 1] > column)
        at--;
    if (at > 0 && reads[at - 1] == column)
        return;
    memmove(reads + at + 1, reads + at, (*n - at) * sizeof *reads);
    reads[at] = column;
    ++*n;
}

static const struct expression *expression_of(const struct stage_facts *s, enum fit_part part)
{
#define PART(e, member) [e] = offsetof(struct stage_facts, member)
    static const size_t offset[PARTS] = {PART(PART_FILTER, filter),     PART(PART_LIMIT, limit),
                                         PART(PART_SCORE, score),       PART(PART_MULTIPLIER, multiplier),
                                         PART(PART_BUCKET, bucket),     PART(PART_COUNT, count),
                                         PART(PART_PER, per),           PART(PART_FROM, from),
                                         PART(PART_FIRST, first),       PART(PART_VMS, vms),
                                         PART(PART_SMALLEST, smallest), PART(PART_TO, to),
                                         PART(PART_FITS, fits),         PART(PART_RESERVE, reserve)};
#undef PART

    return (const struct expression *)(const void *)((const char *)s + offset[part]);
}

static struct value sorted_texts(const struct value *v, struct arena *a)
{
    const char **items = arena_copy(a, v->texts.items, v->texts.n, sizeof *items);

    qsort(items, v->texts.n, sizeof *items, order_texts);
    return (struct value){.type = VALUE_TEXTS, .texts = {items, v->texts.n}};
}

/* The counting stage of this name in the pipeline of the stage. The snapshot was checked: there is one. */
static uint32_t stage_named(const struct fit *fit, uint32_t stage, const char *name)
{
    uint32_t i = fit->snap->pipelines[fit->snap->stages[stage].pipeline].first;

    while (fit->snap->stages[i].is.count.n == 0 || strcmp(fit->snap->stages[i].is.name, name) != 0)
        i++;
    return i;
}

static void resolve(struct fit *fit, uint32_t stage, enum fit_part part, struct arena *a)
{
    const struct expression *x = expression_of(&fit->snap->stages[stage].is, part);
    struct fit_expression *ret = &fit->parts[part][stage];
    struct expression_node *nodes = arena_array(a, struct expression_node, x->n);
    uint32_t *reads[OWNER_COUNT];

    for (int o = 0; o < OWNER_COUNT; o++)
        reads[o] = arena_array(a, uint32_t, (size_t)x->n + 1);
    for (uint32_t i = 0; i < x->n; i++) {
        nodes[i] = x->nodes[i];
        if (nodes[i].kind == EXPRESSION_CONSTANT && nodes[i].is.type == VALUE_TEXTS)
            nodes[i].is = sorted_texts(&nodes[i].is, a);
        if (nodes[i].kind == EXPRESSION_OPERATOR)
            ret->asks_groups |= nodes[i].op >= OPERATOR_ANY_GROUP;
        ret->over_hosts |= expression_is_over_hosts(&nodes[i]);
        if (nodes[i].kind != EXPRESSION_VARIABLE)
            continue;
        if (expression_variable_is_live(nodes[i].variable)) {
            nodes[i].column = nodes[i].name ? stage_named(fit, stage, nodes[i].name) : 0;
            ret->live = true;
            continue;
        }
        enum expression_owner o = expression_owner_of(nodes[i].variable);
        bool answer = expression_variable_is_answer(nodes[i].variable);
        nodes[i].name = answer ? fit->snap->stages[stage].is.external : nodes[i].name;
        nodes[i].column = column_of(&fit->columns[o], &nodes[i], a);
        ret->asks_unit |= answer;
        ret->answer = answer ? nodes[i].column : ret->answer;
        add_read(reads[o], &ret->n_reads[o], nodes[i].column);
    }
    for (int o = 0; o < OWNER_COUNT; o++)
        ret->reads[o] = reads[o];
    ret->live |= ret->over_hosts;
    ret->x = (struct expression){.nodes = nodes, .n = x->n};
    if (x->n > 0 && !ret->live && ret->n_reads[OWNER_VM] == 0)
        ret->known = arena_new(a, struct fit_known);
}

static void fill_rows(struct fit *fit, struct arena *a)
{
    const struct snapshot *s = fit->snap;
    const struct fit_columns *of_host = &fit->columns[OWNER_HOST];
    const struct fit_columns *of_group = &fit->columns[OWNER_GROUP];
    struct value *hosts = arena_array(a, struct value, (size_t)s->n_hosts * of_host->n);
    struct value *groups = arena_array(a, struct value, (size_t)s->n_groups * of_group->n);

    for (uint32_t h = 0; h < s->n_hosts; h++)
        for (uint32_t c = 0; c < of_host->n; c++)
            hosts[(size_t)h * of_host->n + c] = expression_host_value(&s->hosts[h], of_host->items[c]);
    for (uint32_t g = 0; g < s->n_groups; g++)
        for (uint32_t c = 0; c < of_group->n; c++)
            groups[(size_t)g * of_group->n + c] = expression_group_value(&s->groups[g], of_group->items[c]);
    fit->hosts = hosts;
    fit->groups = groups;
}

/* The groups of each host, ascending. */
static void list_groups(struct fit *fit, struct arena *a)
{
    const struct snapshot *s = fit->snap;
    uint32_t *from = arena_array(a, uint32_t, (size_t)s->n_hosts + 1);
    uint32_t *next = arena_array(a, uint32_t, s->n_hosts);

    for (uint32_t g = 0; g < s->n_groups; g++)
        for (uint32_t i = 0; i < s->groups[g].hosts.n; i++)
            from[s->groups[g].hosts.items[i] + 1]++;
    for (uint32_t h = 0; h < s->n_hosts; h++)
        from[h + 1] += from[h];
    uint32_t *of = arena_array(a, uint32_t, from[s->n_hosts]);

    for (uint32_t g = 0; g < s->n_groups; g++)
        for (uint32_t i = 0; i < s->groups[g].hosts.n; i++) {
            uint32_t h = s->groups[g].hosts.items[i];
            of[from[h] + next[h]++] = g;
        }
    fit->groups_from = from;
    fit->groups_of = of;
}

/* ---- request classes ---- */

struct compiler {
    struct fit *fit;
    struct arena *a;
    struct fit_rows classes;   /* rows: the pipeline's number, then what its stages read of the VM */
    struct fit_rows *by_stage; /* rows: what the stage reads of the VM */
    const uint64_t ***bits;    /* by stage, then number in by_stage: the hosts for which the stage is true */
    size_t *cap_bits;
    double *values; /* scratch, by host */
    struct value *row;
    size_t cap_classes[fit_use_count], cap_limits, cap_rows;
    struct fit_rows *by_limit; /* likewise, of what the limit of a stage reads of the VM */
    const int64_t ***limits;   /* by stage, then number in by_limit */
    size_t *cap_stage_limits;
};

struct expression_scope fit_scope(const struct fit *fit, const struct value *vm_row, uint32_t host)
{
    return (struct expression_scope){
        .host = fit->hosts + (size_t)host * fit->columns[OWNER_HOST].n,
        .vm = vm_row,
        .groups = fit->groups,
        .group_width = fit->columns[OWNER_GROUP].n,
        .snap = fit->snap,
        .host_groups = fit->groups_of + fit->groups_from[host],
        .n_host_groups = fit->groups_from[host + 1] - fit->groups_from[host],
        .host_ix = host,
    };
}

struct expression_scope fit_live_scope(const struct fit *fit, uint32_t vm, uint32_t host,
                                       const struct expression_live *live)
{
    struct expression_scope ret = fit_scope(fit, fit->class_row[fit->class_of[vm]], host);

    ret.live = live;
    ret.vm_ix = vm;
    return ret;
}

struct value fit_rule_value(const struct fit *fit, enum fit_part part, uint32_t stage, uint32_t vm,
                            uint32_t host, const struct expression_live *live)
{
    const struct fit_expression *x = &fit->parts[part][stage];
    struct expression_scope scope = fit_scope(fit, fit->rule_row, host);

    if (x->x.n == 0)
        return (struct value){.type = VALUE_ABSENT};
    for (uint32_t i = 0; i < x->n_reads[OWNER_VM]; i++) {
        uint32_t column = x->reads[OWNER_VM][i];
        fit->rule_row[column] = expression_vm_value(fit->snap, vm, fit->columns[OWNER_VM].items[column]);
    }
    scope.live = live;
    scope.vm_ix = vm;
    return expression_value(&x->x, &scope);
}

static const uint64_t *evaluate(struct compiler *c, const struct fit_expression *stage,
                                const struct value *vm_row)
{
    const struct fit *fit = c->fit;
    const struct expression_scope of = {.vm = vm_row, .snap = fit->snap};
    uint64_t *bits = arena_array(c->a, uint64_t, fit->words);

    fit_truths(fit, stage, &of, c->a, bits);
    return bits;
}

/* The number of what the expression reads of VMs with this row. */
static uint32_t number_of(struct compiler *c, const struct fit_expression *x, struct fit_rows *known,
                          const struct value *vm_row)
{
    for (uint32_t i = 0; i < x->n_reads[OWNER_VM]; i++)
        c->row[i] = vm_row[x->reads[OWNER_VM][i]];
    return fit_rows_number(known, c->row, x->n_reads[OWNER_VM], c->a);
}

static const int64_t *evaluate_limit(struct compiler *c, const struct fit_expression *limit,
                                     const struct value *vm_row)
{
    const struct expression_scope of = {.vm = vm_row, .snap = c->fit->snap};
    int64_t *ret = arena_array(c->a, int64_t, c->fit->snap->n_hosts);

    fit_numbers(c->fit, limit, &of, NULL, c->fit->snap->n_hosts, c->a, c->values);
    for (uint32_t h = 0; h < c->fit->snap->n_hosts; h++)
        ret[h] = isnan(c->values[h]) ? FIT_NOTHING : fit_amount(c->values[h]);
    return ret;
}

/* The limit of a counting stage for VMs with this row, by host. */
static const int64_t *stage_limits(struct compiler *c, uint32_t stage, const struct value *vm_row)
{
    const struct fit_expression *limit = &c->fit->parts[PART_LIMIT][stage];
    uint32_t n = c->by_limit[stage].n;
    uint32_t number = number_of(c, limit, &c->by_limit[stage], vm_row);

    if (number == n) {
        c->limits[stage] =
            arena_grow(c->a, c->limits[stage], n, &c->cap_stage_limits[stage], sizeof(*c->limits[stage]));
        c->limits[stage][n] = evaluate_limit(c, limit, vm_row);
    }
    return c->limits[stage][number];
}

static const int64_t **class_limits(struct compiler *c, const struct pipeline *p, const struct value *vm_row)
{
    const int64_t **ret = NULL;

    for (uint32_t i = 0; i < p->n; i++) {
        if (c->fit->snap->stages[p->first + i].is.limit.n == 0)
            continue;
        ret = ret ? ret : arena_array(c->a, const int64_t *, p->n);
        ret[i] = stage_limits(c, p->first + i, vm_row);
    }
    return ret;
}

/* The hosts for which the stage is true of VMs with this row. */
static const uint64_t *stage_hosts(struct compiler *c, uint32_t stage, const struct value *vm_row)
{
    const struct fit_expression *s = &c->fit->parts[PART_FILTER][stage];
    struct fit_rows *known = &c->by_stage[stage];
    uint32_t n = known->n;
    uint32_t number = number_of(c, s, known, vm_row);

    if (number == n) {
        c->bits[stage] = arena_grow(c->a, c->bits[stage], n, &c->cap_bits[stage], sizeof(*c->bits[stage]));
        c->bits[stage][n] = evaluate(c, s, vm_row);
    }
    return c->bits[stage][number];
}

/* The hosts that all stages of this use leave; NULL: all hosts of the cluster. */
static const uint64_t *class_hosts(struct compiler *c, const struct pipeline *p, enum fit_use use,
                                   const struct value *vm_row)
{
    uint32_t n_hosts = c->fit->snap->n_hosts;
    uint64_t *bits = arena_array(c->a, uint64_t, c->fit->words);
    bool refuses = false;

    for (uint32_t w = 0; w < c->fit->words; w++)
        bits[w] = w < n_hosts / 64 ? UINT64_MAX : ((uint64_t)1 << (n_hosts % 64)) - 1;
    for (uint32_t i = p->first; i < p->first + p->n; i++) {
        if (!fit_filters(c->fit, i, use) || c->fit->parts[PART_FILTER][i].live ||
            fit_unanswered(c->fit, i, use, vm_row))
            continue;
        const uint64_t *of = stage_hosts(c, i, vm_row);
        for (uint32_t w = 0; w < c->fit->words; w++) {
            refuses |= (bits[w] & ~of[w]) != 0;
            bits[w] &= of[w];
        }
    }
    return refuses ? bits : NULL;
}

/* The columns of VMs that the stages of a pipeline read, ascending. */
struct vm_columns {
    uint32_t *items;
    uint32_t n;
};

static struct vm_columns columns_of(const struct fit *fit, const struct pipeline *p, struct arena *a)
{
    struct vm_columns ret = {.items = arena_array(a, uint32_t, (size_t)fit->columns[OWNER_VM].n + 1)};

    for (uint32_t i = p->first; i < p->first + p->n; i++)
        for (int part = 0; part < PARTS_OF_CLASS; part++)
            for (uint32_t k = 0; k < fit->parts[part][i].n_reads[OWNER_VM]; k++)
                add_read(ret.items, &ret.n, fit->parts[part][i].reads[OWNER_VM][k]);
    return ret;
}

/* The values by column, those of other columns absent. */
static const struct value *full_row(const struct fit *fit, const struct vm_columns *c,
                                    const struct value *values, struct arena *a)
{
    struct value *ret = arena_array(a, struct value, (size_t)fit->columns[OWNER_VM].n + 1);

    for (uint32_t i = 0; i < fit->columns[OWNER_VM].n; i++)
        ret[i] = (struct value){.type = VALUE_ABSENT};
    for (uint32_t i = 0; i < c->n; i++)
        ret[c->items[i]] = values[i];
    return ret;
}

static void add_class(struct compiler *c, const struct pipeline *p, const struct value *vm_row)
{
    struct fit *fit = c->fit;

    for (int use = 0; use < fit_use_count; use++) {
        fit->allowed[use] = arena_grow(c->a, fit->allowed[use], fit->n_classes, &c->cap_classes[use],
                                       sizeof(*fit->allowed[use]));
        fit->allowed[use][fit->n_classes] = class_hosts(c, p, (enum fit_use)use, vm_row);
    }
    fit->limits = arena_grow(c->a, fit->limits, fit->n_classes, &c->cap_limits, sizeof(*fit->limits));
    fit->limits[fit->n_classes] = class_limits(c, p, vm_row);
    fit->class_row = arena_grow(c->a, fit->class_row, fit->n_classes, &c->cap_rows, sizeof(*fit->class_row));
    fit->class_row[fit->n_classes] = vm_row;
    fit->n_classes++;
}

static void classify(struct compiler *c)
{
    struct fit *fit = c->fit;
    const struct snapshot *s = fit->snap;
    const struct expression_node *const *columns = fit->columns[OWNER_VM].items;
    struct value *row = arena_array(c->a, struct value, (size_t)fit->columns[OWNER_VM].n + 1);
    struct vm_columns *reads = arena_array(c->a, struct vm_columns, s->n_pipelines);

    for (uint32_t i = 0; i < s->n_pipelines; i++)
        reads[i] = columns_of(fit, &s->pipelines[i], c->a);
    for (uint32_t i = 0; i < s->n_vms; i++) {
        uint32_t pipeline = s->vms[i].pipeline;

        fit->class_of[i] = IX_NONE;
        if (pipeline == IX_NONE)
            continue;
        const struct vm_columns *read = &reads[pipeline];

        row[0] = (struct value){.type = VALUE_NUMBER, .number = pipeline};
        for (uint32_t k = 0; k < read->n; k++)
            row[k + 1] = expression_vm_value(s, i, columns[read->items[k]]);
        fit->class_of[i] = fit_rows_number(&c->classes, row, read->n + 1, c->a);
        if (fit->class_of[i] == fit->n_classes)
            add_class(c, &s->pipelines[pipeline],
                      full_row(fit, read, c->classes.keys[fit->n_classes].row + 1, c->a));
    }
}

/* The filters of each pipeline that moves change. */
static void list_live(struct fit *fit, struct arena *a)
{
    const struct snapshot *s = fit->snap;
    uint32_t *from = arena_array(a, uint32_t, (size_t)s->n_pipelines + 1);
    uint32_t n = 0;

    fit->live = arena_array(a, uint32_t, s->n_stages);
    for (uint32_t p = 0; p < s->n_pipelines; p++) {
        for (uint32_t i = s->pipelines[p].first; i < s->pipelines[p].first + s->pipelines[p].n; i++)
            if (fit->parts[PART_FILTER][i].live)
                fit->live[n++] = i;
        from[p + 1] = n;
    }
    fit->live_from = n > 0 ? from : NULL;
}

void fit_prepare(const struct snapshot *snap, struct arena *a, struct fit *ret)
{
    *ret = (struct fit){.snap = snap, .a = a, .words = (snap->n_hosts + 63) / 64};
    if (snap->n_pipelines == 0)
        return;
    for (int part = 0; part < PARTS; part++) {
        ret->parts[part] = arena_array(a, struct fit_expression, snap->n_stages);
        for (uint32_t i = 0; i < snap->n_stages; i++)
            if (part < PART_FROM || expression_of(&snap->stages[i].is, (enum fit_part)part)->n > 0)
                resolve(ret, i, (enum fit_part)part, a);
    }
    fill_rows(ret, a);
    ret->rule_row = arena_array(a, struct value, (size_t)ret->columns[OWNER_VM].n + 1);
    list_groups(ret, a);
    ret->codes = arena_array(a, const struct fit_codes *, (size_t)ret->columns[OWNER_HOST].n + 1);
    fit_numbers_compile(ret, a);
    for (int part = 0; part < PARTS_OF_CLASS; part++)
        for (uint32_t i = 0; i < snap->n_stages; i++) {
            struct fit_expression *x = &ret->parts[part][i];
            if (x->x.n > 0 && !x->shapes && !x->live && !x->asks_unit)
                fit_find_profiles(ret, x, a);
        }
    fit_counts_compile(ret, a);
    list_live(ret, a);
}

void fit_classify(struct fit *fit, struct arena *a)
{
    const struct snapshot *s = fit->snap;
    struct compiler c = {.fit = fit, .a = a};

    if (s->n_pipelines == 0)
        return;
    fit->class_of = arena_array(a, uint32_t, s->n_vms);
    c.by_stage = arena_array(a, struct fit_rows, s->n_stages);
    c.bits = arena_array(a, const uint64_t **, s->n_stages);
    c.cap_bits = arena_array(a, size_t, s->n_stages);
    c.by_limit = arena_array(a, struct fit_rows, s->n_stages);
    c.limits = arena_array(a, const int64_t **, s->n_stages);
    c.cap_stage_limits = arena_array(a, size_t, s->n_stages);
    c.values = arena_array(a, double, s->n_hosts);
    c.row = arena_array(a, struct value, (size_t)fit->columns[OWNER_VM].n + 1);
    classify(&c);
}

void fit_compile(const struct snapshot *snap, struct arena *a, struct fit *ret)
{
    fit_prepare(snap, a, ret);
    fit_classify(ret, a);
    fit_cells_compile(snap, a, &ret->cells);
}
