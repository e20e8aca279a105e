/* inventory_check_placement.c: what can be wrong with one group or one pipeline by itself. */
#include "model/inventory_check.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int check_group(const struct seen_group *g, size_t ix, struct err *err)
{
    const struct place at = {.kind = "groups", .ix = ix, .err = err};
    if (!g->is.id || !*g->is.id)
        return inventory_check_refuse(&at, "id", "missing or empty, expected a text that is unique");
    if (!g->is.kind || !*g->is.kind || strlen(g->is.kind) > FACT_NAME_BYTES_MAX)
        return inventory_check_refuse(&at, "kind",
                                      "missing, empty or too long, expected a text such as \"zone\"");
    if (g->is.meta.n > ATTRIBUTES_MAX)
        return inventory_check_refuse(&at, "meta", "%u entries, expected at most %d", g->is.meta.n,
                                      ATTRIBUTES_MAX);
    for (uint32_t i = 0; i < g->is.meta.n; i++)
        if (!g->is.meta.items[i].key || !g->is.meta.items[i].value)
            return inventory_check_refuse(&at, "meta", "an entry without key or value, expected texts");
    return 0;
}

struct stage_place {
    const struct stage_facts *stages; /* of the pipeline */
    uint32_t ix;
    struct stage_mistake *mistake;
};

static int refuse_stage(const struct stage_place *s, const char *field, const char *why)
{
    *s->mistake = (struct stage_mistake){.stage = s->ix, .field = field, .why = why};
    return -EINVAL;
}

#define NAME_EXPECTED "missing, empty or too long, expected a text of at most 255 bytes"

static int check_stage_name(const struct stage_place *s)
{
    const char *name = s->stages[s->ix].name;

    if (!inventory_check_is_name(name))
        return refuse_stage(s, "name", NAME_EXPECTED);
    for (uint32_t k = 0; k < s->ix; k++)
        if (strcmp(s->stages[k].name, name) == 0)
            return refuse_stage(s, "name", "the name of another stage, expected its own");
    return 0;
}

/* One kind of stage, and only what belongs to it. */
static int check_kind(const struct stage_place *s)
{
    const struct stage_facts *x = &s->stages[s->ix];
    int kinds = (x->filter.n > 0) + (x->count.n > 0) + (x->score.n > 0) + (x->bucket.n > 0) + x->cut.given +
                x->pick.given + x->needs_given + (x->from.n > 0) + (x->reserve.n > 0);

    if (kinds != 1)
        return refuse_stage(
            s, "", "expected one of filter, count, score, cut, bucket, pick, needs, from and reserve");
    if ((x->from.n > 0) != (x->to.n > 0) ||
        (x->from.n == 0 &&
         (x->first.n > 0 || x->gap_given || x->vms.n > 0 || x->smallest.n > 0 || x->fits.n > 0)))
        return refuse_stage(s, "", "a part of a rule, expected from and to with it");
    if ((x->gap_given && (x->first.n == 0 || !(x->gap > 0))) || (x->keep > 0 && x->reserve.n == 0))
        return refuse_stage(s, "", "gap, expected above 0 and with first; or keep, expected with reserve");
    if (x->count.n == 0 && (x->limit.n > 0 || x->per.n > 0 || x->over || x->off))
        return refuse_stage(s, "", "limit, per, over or off without count, expected all in one stage");
    if (x->over && (!*x->over || strlen(x->over) > FACT_NAME_BYTES_MAX))
        return refuse_stage(s, "over", "empty or too long, expected the kind of groups");
    if (x->score.n == 0 && (x->multiplier.n > 0 || x->normalise_given || x->least_given || x->most_given))
        return refuse_stage(s, "", "normalise, multiplier, least or most without score");
    if ((x->least_given || x->most_given) && x->normalise != NORMALISE_MINMAX)
        return refuse_stage(s, "", "least and most are of minmax only");
    return 0;
}

static bool reads_answer(const struct expression *x)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (x->nodes[i].kind == EXPRESSION_VARIABLE && expression_variable_is_answer(x->nodes[i].variable))
            return true;
    return false;
}

/* A unit is asked by a stage that reads its answer. */
static int check_external(const struct stage_place *s)
{
    const struct stage_facts *x = &s->stages[s->ix];
    bool reads = reads_answer(&x->filter) || reads_answer(&x->score) || reads_answer(&x->bucket);

    if (x->external && !inventory_check_is_name(x->external))
        return refuse_stage(s, "external", "empty or too long, expected the name of an external unit");
    if (x->external && !reads)
        return refuse_stage(s, "external", "without $answer, expected it in filter, score or bucket");
    if (!x->external && (reads || reads_answer(&x->multiplier)))
        return refuse_stage(s, "", "$answer without external, expected the external unit that answers");
    if (reads_answer(&x->count) || reads_answer(&x->limit) || reads_answer(&x->per))
        return refuse_stage(s, "", "$answer in a count, expected it in filter, score or bucket");
    if (x->on_failure_given && (!x->external || x->filter.n == 0))
        return refuse_stage(s, "on_failure", "without external and filter, expected all in one stage");
    return 0;
}

static bool finite_cut(const struct cut_facts *c)
{
    return isfinite(c->from) && isfinite(c->to) && c->from >= c->to && c->steps >= 1 &&
           c->steps <= CUT_STEPS_MAX;
}

static int check_figures(const struct stage_place *s)
{
    const struct stage_facts *x = &s->stages[s->ix];

    if ((x->least_given && !isfinite(x->least)) || (x->most_given && !isfinite(x->most)) ||
        (x->least_given && x->most_given && x->least > x->most))
        return refuse_stage(s, "", "least and most, expected numbers, the least first");
    if (x->cut.given && !finite_cut(&x->cut))
        return refuse_stage(s, "cut", "expected from, a number to that is not above it, and 1 to 1000 steps");
    return 0;
}

static int check_uses(const struct stage_place *s)
{
    const struct stage_facts *x = &s->stages[s->ix];
    enum stage_kind kind = stage_kind_of(x);

    if (x->applies & 1u << FIT_CORRECT && kind != STAGE_FILTER && kind != STAGE_COUNT)
        return refuse_stage(s, "applies", "correct without filter or count");
    if (x->applies & 1u << FIT_CORRECT && !(x->applies & 1u << FIT_MOVE))
        return refuse_stage(
            s, "applies",
            "correct without move would move a VM to where the stage refuses it, expected both");
    if (x->applies & 1u << FIT_CORRECT && expression_is_live(&x->filter))
        return refuse_stage(s, "applies",
                            "correct, but the filter reads what moves change, expected place and move only");
    if (x->applies & 1u << FIT_MOVE && (kind == STAGE_CUT || kind == STAGE_PICK))
        return refuse_stage(s, "applies", "a cut or a pick is of placement only, expected place");
    return 0;
}

/* Whether a stage before this one counts under this name. */
static bool is_counted(const struct stage_place *s, const char *name)
{
    for (uint32_t i = 0; i < s->ix; i++)
        if (s->stages[i].count.n > 0 && strcmp(s->stages[i].name, name) == 0)
            return true;
    return false;
}

/* Of whom an expression may read. */
enum readable { OF_BOTH, OF_VM, OF_HOST };

/* live: it may read what moves change. */
static int check_variables(const struct stage_place *s, const char *field, const struct expression *x,
                           enum readable of, bool live)
{
    for (uint32_t i = 0; i < x->n; i++) {
        const struct expression_node *n = &x->nodes[i];
        bool of_groups = n->kind == EXPRESSION_OPERATOR && n->op >= OPERATOR_ANY_GROUP;
        bool variable = n->kind == EXPRESSION_VARIABLE;
        bool of_vm = n->variable >= VARIABLE_VM_ID && n->variable < VARIABLE_GROUP_ID;
        bool counted = variable && (n->variable == VARIABLE_HOST_USED || n->variable == VARIABLE_HOST_LEFT);

        if (of == OF_HOST && variable && of_vm)
            return refuse_stage(s, field, "reads a VM, expected variables of the host only");
        if (of == OF_VM && (of_groups || (variable && !of_vm)))
            return refuse_stage(s, field, "reads a host or its groups, expected variables of the VM only");
        if (variable && expression_variable_is_live(n->variable) && !live)
            return refuse_stage(
                s, field,
                "reads $host.used, $host.left, $host.free_mem_mb or $host.load, expected them "
                "in filter, score, bucket and rules only");
        if (counted && !is_counted(s, n->name))
            return refuse_stage(s, field, "reads a count that no stage before it has, expected its name");
    }
    return 0;
}

static bool is_over_hosts(const struct expression *x)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (expression_is_over_hosts(&x->nodes[i]))
            return true;
    return false;
}

static int check_expressions(const struct stage_place *s)
{
    const struct stage_facts *x = &s->stages[s->ix];
    const struct {
        const char *field;
        const struct expression *x;
        enum readable of;
        bool live;
    } parts[] = {{"filter", &x->filter, OF_BOTH, true},    {"count", &x->count, OF_VM, false},
                 {"limit", &x->limit, OF_BOTH, false},     {"per", &x->per, OF_VM, false},
                 {"score", &x->score, OF_BOTH, true},      {"multiplier", &x->multiplier, OF_BOTH, false},
                 {"bucket", &x->bucket, OF_BOTH, true},    {"from", &x->from, OF_HOST, true},
                 {"first", &x->first, OF_HOST, true},      {"vms", &x->vms, OF_VM, false},
                 {"smallest", &x->smallest, OF_VM, false}, {"to", &x->to, OF_HOST, true},
                 {"fits", &x->fits, OF_BOTH, true},        {"reserve", &x->reserve, OF_HOST, true}};
    int r = 0;

    if (reads_answer(&x->vms) || reads_answer(&x->smallest) || reads_answer(&x->fits))
        return refuse_stage(s, "", "$answer in a rule, expected it in filter, score or bucket");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].x != &x->score && is_over_hosts(parts[i].x))
            return refuse_stage(s, "", "most_of_hosts or between_hosts, expected them in score only");
    for (size_t i = 0; r == 0 && i < sizeof parts / sizeof *parts; i++)
        r = check_variables(s, parts[i].field, parts[i].x, parts[i].of, parts[i].live);
    return r;
}

int inventory_check_stages(const struct seen_pipeline *p, struct stage_mistake *ret)
{
    int r = 0;

    for (uint32_t i = 0; r == 0 && i < p->stages.n; i++) {
        const struct stage_place s = {p->stages.items, i, ret};

        if ((r = check_stage_name(&s)) < 0 || (r = check_kind(&s)) < 0 || (r = check_external(&s)) < 0 ||
            (r = check_figures(&s)) < 0 || (r = check_uses(&s)) < 0)
            return r;
        r = check_expressions(&s);
        if (r == 0 && !p->balance.given && (s.stages[i].from.n > 0 || s.stages[i].reserve.n > 0))
            r = refuse_stage(&s, "", "a rule or a reserve, expected `balance` in its pipeline");
    }
    return r;
}

static int check_pipeline(const struct seen_pipeline *p, size_t ix, struct err *err)
{
    const struct place at = {.kind = "pipelines", .ix = ix, .err = err};
    struct stage_mistake m;
    char path[96];

    if (!inventory_check_is_name(p->name))
        return inventory_check_refuse(&at, "name", NAME_EXPECTED);
    if (inventory_check_stages(p, &m) == 0)
        return 0;
    (void)snprintf(path, sizeof path, "stages/%u%s%s", m.stage, *m.field ? "/" : "", m.field);
    return inventory_check_refuse(&at, path, "%s", m.why);
}

int inventory_check_placement(const struct inventory *inv, struct err *err)
{
    size_t groups[rule_origin_count] = {0}, pipelines[rule_origin_count] = {0};
    int r = 0;

    for (size_t i = 0; i < inv->n_groups; i++)
        if (++groups[inv->groups[i].is.origin] > GROUPS_MAX)
            return err_set(err, -EINVAL, "/groups: %zu, expected at most %d", inv->n_groups, GROUPS_MAX);
    for (size_t i = 0; i < inv->n_pipelines; i++)
        if (++pipelines[inv->pipelines[i].origin] > PIPELINES_MAX)
            return err_set(err, -EINVAL, "/pipelines: %zu, expected at most %d", inv->n_pipelines,
                           PIPELINES_MAX);
    for (size_t i = 0; r == 0 && i < inv->n_groups; i++)
        r = check_group(&inv->groups[i], i, err);
    for (size_t i = 0; r == 0 && i < inv->n_pipelines; i++)
        r = check_pipeline(&inv->pipelines[i], i, err);
    return r;
}
