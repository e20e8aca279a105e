/* why.c: which stage refuses a host to a VM, by which values; and how many hosts each stage leaves. */
#include "core/fit/fit.h"

static bool stands_before(const struct expression *x, uint32_t from, uint32_t ix)
{
    const struct expression_node *n = &x->nodes[ix];

    for (uint32_t i = from; i < ix; i++)
        if (x->nodes[i].kind == EXPRESSION_VARIABLE && x->nodes[i].column == n->column &&
            x->nodes[i].variable == n->variable)
            return true;
    return false;
}

/* The values of the variables below the node, each once. Those of groups are left out: they have a value for
 * each group. */
static void list_values(const struct expression *x, const struct expression_scope *scope, struct refusal *ret,
                        struct arena *a)
{
    struct known_value *values = arena_array(a, struct known_value, x->nodes[ret->node].end - ret->node);

    for (uint32_t i = ret->node; i < x->nodes[ret->node].end; i++) {
        const struct expression_node *n = &x->nodes[i];
        if (n->kind != EXPRESSION_VARIABLE || expression_owner_of(n->variable) == OWNER_GROUP ||
            stands_before(x, ret->node, i))
            continue;
        values[ret->n_values++] = (struct known_value){.node = i, .is = expression_variable_value(n, scope)};
    }
    ret->values = values;
}

/* If a part that decides reads what an external unit says: the unit, and its answer. */
static void name_unit(const struct fit *fit, const struct expression *x, uint32_t vm, struct refusal *ret)
{
    for (uint32_t i = 0; i < ret->n_values; i++)
        if (x->nodes[ret->values[i].node].variable == VARIABLE_ANSWER)
            ret->unit = fit->snap->stages[ret->stage].is.external;
    if (ret->unit)
        ret->answer = expression_answer(&fit->snap->vms[vm], ret->unit);
}

/* The comparison that decides within the part: of one that refuses in several ways the last. */
static uint32_t comparison_of(const struct expression *x, uint32_t node, const struct expression_scope *of)
{
    while (x->nodes[node].kind == EXPRESSION_OPERATOR &&
           (x->nodes[node].op == OPERATOR_OR || x->nodes[node].op == OPERATOR_AND)) {
        bool all = x->nodes[node].op == OPERATOR_AND;
        uint32_t end = x->nodes[node].end;
        uint32_t next = node + 1;

        for (uint32_t i = next; i < end; i = x->nodes[i].end) {
            struct value v = expression_part_value(x, i, of);

            next = i;
            if (all && !(v.type == VALUE_TRUTH && v.truth))
                break;
        }
        node = next;
    }
    return node;
}

static double limit_of(const struct expression *x, const struct expression_scope *of, uint32_t deciding)
{
    const struct expression_node *n = &x->nodes[comparison_of(x, deciding, of)];

    if (n->kind != EXPRESSION_OPERATOR || n->op < OPERATOR_EQUAL || n->op > OPERATOR_AT_LEAST)
        return UNKNOWN;
    struct value v = expression_part_value(x, x->nodes[(n - x->nodes) + 1].end, of);

    return v.type == VALUE_NUMBER ? v.number : UNKNOWN;
}

static const struct pipeline *pipeline_of(const struct fit *fit, uint32_t vm)
{
    uint32_t ix = fit->class_of && fit->class_of[vm] != IX_NONE ? fit->snap->vms[vm].pipeline : IX_NONE;

    return ix == IX_NONE ? NULL : &fit->snap->pipelines[ix];
}

/* The first filter of this use that refuses the host; only_units: because of an external unit's answer. */
static const struct refusal *find_refusal(const struct fit *fit, enum fit_use use, uint32_t vm, uint32_t host,
                                          const struct fit_live *live, bool only_units, struct arena *a)
{
    const struct pipeline *p = pipeline_of(fit, vm);

    for (uint32_t i = 0; p && i < p->n; i++) {
        const struct fit_expression *x = &fit->parts[PART_FILTER][p->first + i];
        struct expression_scope scope = fit_live_scope(fit, vm, host, live ? &live->is : NULL);

        if (!fit_filters(fit, p->first + i, use) || (x->live && !live) ||
            fit_unanswered(fit, p->first + i, use, scope.vm) || expression_is_true(&x->x, &scope))
            continue;
        struct refusal *ret = arena_new(a, struct refusal);

        ret->stage = p->first + i;
        ret->node = expression_deciding(&x->x, &scope);
        ret->limit = limit_of(&x->x, &scope, ret->node);
        list_values(&x->x, &scope, ret, a);
        name_unit(fit, &x->x, vm, ret);
        if (ret->unit || !only_units)
            return ret;
    }
    return NULL;
}

const struct refusal *fit_refusal(const struct fit *fit, enum fit_use use, uint32_t vm, uint32_t host,
                                  const struct fit_live *live, struct arena *a)
{
    return find_refusal(fit, use, vm, host, live, false, a);
}

const struct refusal *fit_unit_refusal(const struct fit *fit, enum fit_use use, uint32_t vm, uint32_t host,
                                       struct arena *a)
{
    return find_refusal(fit, use, vm, host, NULL, true, a);
}

bool fit_has_live(const struct fit *fit, enum fit_use use, uint32_t vm)
{
    uint32_t p = fit->live_from ? fit->snap->vms[vm].pipeline : IX_NONE;

    for (uint32_t i = p == IX_NONE ? 0 : fit->live_from[p]; p != IX_NONE && i < fit->live_from[p + 1]; i++)
        if (fit_filters(fit, fit->live[i], use))
            return true;
    return false;
}

bool fit_live_refuses(const struct fit *fit, enum fit_use use, uint32_t vm, uint32_t host,
                      const struct expression_live *live)
{
    uint32_t p = fit->live_from ? fit->snap->vms[vm].pipeline : IX_NONE;

    for (uint32_t i = p == IX_NONE ? 0 : fit->live_from[p]; p != IX_NONE && i < fit->live_from[p + 1]; i++) {
        struct expression_scope scope = fit_live_scope(fit, vm, host, live);

        if (fit_filters(fit, fit->live[i], use) && !fit_unanswered(fit, fit->live[i], use, scope.vm) &&
            !expression_is_true(&fit->parts[PART_FILTER][fit->live[i]].x, &scope))
            return true;
    }
    return false;
}

uint32_t fit_needs_stage(const struct fit *fit, uint32_t vm, enum check check)
{
    const struct pipeline *p = pipeline_of(fit, vm);
    enum stage_needs asked = check == CHECK_FIT_NUMA ? STAGE_NEEDS_NUMA : STAGE_NEEDS_DEVICES;
    uint32_t other = IX_NONE;

    for (uint32_t i = 0; p && i < p->n; i++) {
        const struct stage_facts *is = &fit->snap->stages[p->first + i].is;

        if (is->needs_given && is->needs == asked)
            return p->first + i;
        if (is->needs_given && check == CHECK_FIT_DEVICE && other == IX_NONE)
            other = p->first + i;
    }
    return other;
}

/* Whether the stage may leave hosts out for this use. */
static bool leaves_out(const struct fit *fit, uint32_t stage, enum fit_use use, const struct fit_live *live)
{
    const struct stage_facts *is = &fit->snap->stages[stage].is;

    if (is->limit.n > 0)
        return live && (is->applies >> use & 1);
    if (is->needs_given)
        return live && live->lacks && (is->applies >> use & 1);
    return fit_filters(fit, stage, use) && (live || !fit->parts[PART_FILTER][stage].live);
}

static bool keeps(const struct fit *fit, uint32_t stage, enum fit_use use, uint32_t vm, uint32_t host,
                  const struct fit_live *live)
{
    struct expression_scope scope = fit_live_scope(fit, vm, host, live ? &live->is : NULL);

    if (fit->snap->stages[stage].is.limit.n > 0)
        return !live->exceeds(live->is.with, vm, stage, host);
    if (fit->snap->stages[stage].is.needs_given) {
        enum check lack = live->lacks(live->is.with, vm, host);
        return lack == CHECK_NONE || fit_needs_stage(fit, vm, lack) != stage;
    }
    return fit_unanswered(fit, stage, use, scope.vm) ||
           expression_is_true(&fit->parts[PART_FILTER][stage].x, &scope);
}

uint32_t fit_hosts_left(const struct fit *fit, enum fit_use use, uint32_t vm, const uint64_t *hosts,
                        const struct fit_live *live, struct arena *a, const struct stage_left **ret)
{
    const struct pipeline *p = pipeline_of(fit, vm);
    struct stage_left *left = p ? arena_array(a, struct stage_left, p->n) : NULL;
    uint64_t *now = arena_array(a, uint64_t, fit->words);
    uint32_t n = 0;

    for (uint32_t w = 0; w < fit->words; w++)
        now[w] = hosts[w];
    for (uint32_t i = 0; p && i < p->n && (n == 0 || left[n - 1].hosts > 0); i++) {
        if (!leaves_out(fit, p->first + i, use, live))
            continue;
        left[n].stage = p->first + i;
        for (uint32_t h = 0; h < fit->snap->n_hosts; h++) {
            if (!(now[h / 64] >> (h % 64) & 1))
                continue;
            if (keeps(fit, p->first + i, use, vm, h, live))
                left[n].hosts++;
            else
                now[h / 64] &= ~((uint64_t)1 << (h % 64));
        }
        n++;
    }
    *ret = left;
    return n;
}
