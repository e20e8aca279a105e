/* why.c: which stage refuses a host to a VM, by which values; and how many hosts each stage leaves. */
#include "core/fit/fit.h"

static bool stands_before(const struct expression *x, uint32_t from, uint32_t ix)
{
    const struct expression_node *n = &x->nodes[ix];

    for (uint32_t i = from; i < ix; i++)
        if (x->nodes[i].kind == EXPRESSION_VARIABLE && x->nodes[i].column == n->column &&
            expression_owner_of(x->nodes[i].variable) == expression_owner_of(n->variable))
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
        enum expression_owner owner = expression_owner_of(n->variable);

        if (n->kind != EXPRESSION_VARIABLE || owner == OWNER_GROUP || stands_before(x, ret->node, i))
            continue;
        values[ret->n_values++] = (struct known_value){
            .node = i, .is = owner == OWNER_HOST ? scope->host[n->column] : scope->vm[n->column]};
    }
    ret->values = values;
}

static const struct pipeline *pipeline_of(const struct fit *fit, uint32_t vm)
{
    uint32_t ix = fit->class_of && fit->class_of[vm] != IX_NONE ? fit->snap->vms[vm].pipeline : IX_NONE;

    return ix == IX_NONE ? NULL : &fit->snap->pipelines[ix];
}

const struct refusal *fit_refusal(const struct fit *fit, enum fit_use use, uint32_t vm, uint32_t host,
                                  struct arena *a)
{
    const struct pipeline *p = pipeline_of(fit, vm);
    const struct value *row = p ? fit_vm_row(fit, vm, a) : NULL;

    for (uint32_t i = 0; p && i < p->n; i++) {
        const struct expression *x = &fit->parts[PART_FILTER][p->first + i].x;
        struct expression_scope scope = fit_scope(fit, row, host);

        if (!fit_filters(fit, p->first + i, use) || expression_is_true(x, &scope))
            continue;
        struct refusal *ret = arena_new(a, struct refusal);

        ret->stage = p->first + i;
        ret->node = expression_deciding(x, &scope);
        list_values(x, &scope, ret, a);
        return ret;
    }
    return NULL;
}

uint32_t fit_hosts_left(const struct fit *fit, enum fit_use use, uint32_t vm, const uint64_t *hosts,
                        struct arena *a, const struct stage_left **ret)
{
    const struct pipeline *p = pipeline_of(fit, vm);
    struct stage_left *left = p ? arena_array(a, struct stage_left, p->n) : NULL;
    const struct value *row = p ? fit_vm_row(fit, vm, a) : NULL;
    uint64_t *now = arena_array(a, uint64_t, fit->words);
    uint32_t n = 0;

    for (uint32_t w = 0; w < fit->words; w++)
        now[w] = hosts[w];
    for (uint32_t i = 0; p && i < p->n && (n == 0 || left[n - 1].hosts > 0); i++) {
        if (!fit_filters(fit, p->first + i, use))
            continue;
        left[n].stage = p->first + i;
        for (uint32_t h = 0; h < fit->snap->n_hosts; h++) {
            struct expression_scope scope = fit_scope(fit, row, h);

            if (!(now[h / 64] >> (h % 64) & 1))
                continue;
            if (expression_is_true(&fit->parts[PART_FILTER][p->first + i].x, &scope))
                left[n].hosts++;
            else
                now[h / 64] &= ~((uint64_t)1 << (h % 64));
        }
        n++;
    }
    *ret = left;
    return n;
}
