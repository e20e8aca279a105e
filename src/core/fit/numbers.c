/* numbers.c: the value of an expression on many hosts at once, in columns where it is about numbers. */
#include "core/fit/numbers.h"

#include <math.h>
#include <string.h>

#define BLOCK 256 /* hosts that are evaluated together: their columns stay in the cache */

/* ---- what can be evaluated in columns ---- */

/* What is known of a node before it is evaluated. */
enum shape {
    SHAPE_FIXED,  /* the same on all hosts: of the VM alone */
    SHAPE_NUMBER, /* a number or absent */
    SHAPE_TRUTH,  /* true or false */
    SHAPE_OTHER   /* host by host */
};

struct shaping {
    const struct fit *fit;
    const struct expression *x;
    uint8_t *shapes; /* by node */
};

static bool has_shape(enum shape s, enum shape wanted)
{
    return s == wanted || s == SHAPE_FIXED;
}

static bool all_have(const struct shaping *s, uint32_t ix, enum shape wanted)
{
    const struct expression_node *nodes = s->x->nodes;

    for (uint32_t i = ix + 1; i < nodes[ix].end; i = nodes[i].end)
        if (!has_shape(s->shapes[i], wanted))
            return false;
    return true;
}

/* Whether the node is a number or absent, though it may be fixed. */
static bool is_number(const struct shaping *s, uint32_t i)
{
    const struct expression_node *n = &s->x->nodes[i];

    if (s->shapes[i] != SHAPE_FIXED)
        return s->shapes[i] == SHAPE_NUMBER;
    switch (n->kind) {
    case EXPRESSION_CONSTANT:
        return n->is.type == VALUE_NUMBER;
    case EXPRESSION_VARIABLE:
        return n->variable == VARIABLE_VM_VCPUS || n->variable == VARIABLE_VM_MEM_MB;
    case EXPRESSION_OPERATOR:
        break;
    }
    return (n->op >= OPERATOR_ADD && n->op <= OPERATOR_NUMBER) || n->op == OPERATOR_COUNT;
}

/* All operands from `first` on, which is one of the node's. */
static bool are_numbers(const struct shaping *s, uint32_t ix, uint32_t first)
{
    for (uint32_t i = first; i < s->x->nodes[ix].end; i = s->x->nodes[i].end)
        if (!is_number(s, i))
            return false;
    return true;
}

/* Of an external unit's answers: all are scores, all are lists of hosts, or some are of each. */
static enum shape shape_of_answers(const struct snapshot *s, const char *unit)
{
    bool numbers = false;
    bool truths = false;

    for (uint32_t i = 0; i < s->n_answers; i++) {
        const struct unit_answer *x = &s->answers[i];

        if (!answer_counts(x) || strcmp(x->unit, unit) != 0)
            continue;
        numbers = numbers || x->scores;
        truths = truths || !x->scores;
    }
    return !truths ? SHAPE_NUMBER : !numbers ? SHAPE_TRUTH : SHAPE_OTHER;
}

static enum shape shape_of_variable(const struct shaping *s, const struct expression_node *n)
{
    if (n->variable == VARIABLE_ANSWER_MULTIPLIER)
        return SHAPE_NUMBER;
    if (n->variable == VARIABLE_ANSWER)
        return shape_of_answers(s->fit->snap, n->name);
    if (expression_owner_of(n->variable) == OWNER_VM)
        return SHAPE_FIXED;
    if (expression_owner_of(n->variable) == OWNER_GROUP)
        return SHAPE_OTHER;
    return expression_variable_is_live(n->variable) || s->fit->numbers[n->column] ? SHAPE_NUMBER
                                                                                  : SHAPE_OTHER;
}

static enum shape shape_of_operator(const struct shaping *s, uint32_t ix)
{
    const struct expression_node *n = &s->x->nodes[ix];

    if (n->op >= OPERATOR_ANY_GROUP)
        return SHAPE_OTHER;
    if (all_have(s, ix, SHAPE_FIXED))
        return SHAPE_FIXED;
    switch ((int)n->op) { /* all others are not about numbers */
    case OPERATOR_AND:
    case OPERATOR_OR:
    case OPERATOR_NOT:
        return all_have(s, ix, SHAPE_TRUTH) ? SHAPE_TRUTH : SHAPE_OTHER;
    case OPERATOR_IF:
        return has_shape(s->shapes[ix + 1], SHAPE_TRUTH) && are_numbers(s, ix, s->x->nodes[ix + 1].end)
                   ? SHAPE_NUMBER
                   : SHAPE_OTHER;
    case OPERATOR_DEFAULT:
        return are_numbers(s, ix, ix + 1) ? SHAPE_NUMBER : SHAPE_OTHER;
    case OPERATOR_GIVEN:
    case OPERATOR_EQUAL:
    case OPERATOR_UNEQUAL:
    case OPERATOR_LESS:
    case OPERATOR_AT_MOST:
    case OPERATOR_MORE:
    case OPERATOR_AT_LEAST:
        return all_have(s, ix, SHAPE_NUMBER) ? SHAPE_TRUTH : SHAPE_OTHER;
    case OPERATOR_ADD:
    case OPERATOR_SUBTRACT:
    case OPERATOR_MULTIPLY:
    case OPERATOR_DIVIDE:
    case OPERATOR_MIN:
    case OPERATOR_MAX:
    case OPERATOR_NUMBER:
        return all_have(s, ix, SHAPE_NUMBER) ? SHAPE_NUMBER : SHAPE_OTHER;
    default:
        return SHAPE_OTHER;
    }
}

static void find_shapes(struct fit *fit, struct fit_expression *x, struct arena *a)
{
    struct shaping s = {fit, &x->x, arena_array(a, uint8_t, x->x.n)};

    for (uint32_t i = x->x.n; i-- > 0;) { /* operands stand behind their operator */
        const struct expression_node *n = &x->x.nodes[i];
        s.shapes[i] = (uint8_t)(n->kind == EXPRESSION_CONSTANT   ? SHAPE_FIXED
                                : n->kind == EXPRESSION_VARIABLE ? shape_of_variable(&s, n)
                                                                 : shape_of_operator(&s, i));
    }
    x->shapes = x->x.n > 0 && s.shapes[0] != SHAPE_OTHER ? s.shapes : NULL;
}

/* The column of the hosts' values, if all are numbers or absent. */
static const double *number_column(const struct fit *fit, uint32_t column, struct arena *a)
{
    uint32_t width = fit->columns[OWNER_HOST].n;
    double *ret = NULL;

    for (uint32_t h = 0; h < fit->snap->n_hosts; h++) {
        const struct value *v = &fit->hosts[(size_t)h * width + column];
        if (v->type != VALUE_NUMBER && v->type != VALUE_ABSENT)
            return NULL;
    }
    ret = arena_array(a, double, fit->snap->n_hosts);
    for (uint32_t h = 0; h < fit->snap->n_hosts; h++) {
        const struct value *v = &fit->hosts[(size_t)h * width + column];
        ret[h] = v->type == VALUE_NUMBER ? v->number : UNKNOWN;
    }
    return ret;
}

void fit_numbers_compile(struct fit *fit, struct arena *a)
{
    fit->numbers = arena_array(a, const double *, fit->columns[OWNER_HOST].n);
    for (uint32_t c = 0; c < fit->columns[OWNER_HOST].n; c++)
        fit->numbers[c] = number_column(fit, c, a);
    for (int part = 0; part < PARTS_OF_CLASS; part++)
        for (uint32_t i = 0; i < fit->snap->n_stages; i++)
            find_shapes(fit, &fit->parts[part][i], a);
}

/* ---- values of a block ---- */

struct block {
    const struct fit *fit;
    const struct fit_expression *x;
    const struct expression_scope *of;
    const uint32_t *hosts; /* NULL: first, first + 1 ... */
    uint32_t first, n;
};

static uint32_t host_at(const struct block *b, uint32_t i)
{
    return b->hosts ? b->hosts[i] : b->first + i;
}

static void node_values(const struct block *b, uint32_t ix, double *ret);

/* A truth is no number to a comparison, nor to arithmetic; a number is no truth. */
static double fixed_value(const struct block *b, uint32_t ix, bool as_truth)
{
    struct value v = expression_part_value(&b->x->x, ix, b->of);

    if (as_truth)
        return v.type == VALUE_TRUTH && v.truth;
    return v.type == VALUE_NUMBER ? v.number : UNKNOWN;
}

static void operand(const struct block *b, uint32_t ix, bool as_truth, double *ret)
{
    if (b->x->shapes[ix] != SHAPE_FIXED) {
        node_values(b, ix, ret);
        return;
    }
    double v = fixed_value(b, ix, as_truth);

    for (uint32_t i = 0; i < b->n; i++)
        ret[i] = v;
}

/* Without an answer: not true, or no number. */
static void answer_values(const struct block *b, const struct expression_node *n, double *ret)
{
    const struct value *v = &b->of->vm[n->column];
    const struct unit_answer *x =
        v->type == VALUE_ABSENT ? NULL : &b->fit->snap->answers[(uint32_t)v->number];
    const double *numbers = !x                                          ? NULL
                            : n->variable == VARIABLE_ANSWER_MULTIPLIER ? x->multipliers
                                                                        : x->scores;
    bool truths = b->x->shapes[n - b->x->x.nodes] == SHAPE_TRUTH;

    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t h = host_at(b, i);

        ret[i] = truths ? x && x->kept[h / 64] >> (h % 64) & 1 : numbers ? numbers[h] : UNKNOWN;
    }
}

static void variable_values(const struct block *b, const struct expression_node *n, double *ret)
{
    const struct expression_live *live = b->of->live;
    const double *column;

    if (expression_variable_is_answer(n->variable)) {
        answer_values(b, n, ret);
        return;
    }
    if (!expression_variable_is_live(n->variable)) {
        column = b->fit->numbers[n->column];
        for (uint32_t i = 0; i < b->n; i++)
            ret[i] = column[host_at(b, i)];
        return;
    }
    for (uint32_t i = 0; i < b->n; i++)
        ret[i] = live ? live->value(live->with, b->of->vm_ix, n, host_at(b, i)) : UNKNOWN;
    for (uint32_t i = 0; i < b->n; i++)
        ret[i] = isfinite(ret[i]) ? ret[i] : UNKNOWN;
}

/* x op y, in x. Absent operands are NaN, and so is what is not finite. */
static void combine(enum expression_operator op, uint32_t n, double *x, const double *y)
{
    switch ((int)op) { /* all others are no arithmetic */
    case OPERATOR_ADD:
        for (uint32_t i = 0; i < n; i++)
            x[i] += y[i];
        break;
    case OPERATOR_SUBTRACT:
        for (uint32_t i = 0; i < n; i++)
            x[i] -= y[i];
        break;
    case OPERATOR_MULTIPLY:
        for (uint32_t i = 0; i < n; i++)
            x[i] *= y[i];
        break;
    case OPERATOR_DIVIDE:
        for (uint32_t i = 0; i < n; i++)
            x[i] = y[i] == 0 ? UNKNOWN : x[i] / y[i];
        break;
    case OPERATOR_MIN:
        for (uint32_t i = 0; i < n; i++)
            x[i] = isnan(x[i]) || x[i] < y[i] ? x[i] : y[i];
        break;
    default:
        for (uint32_t i = 0; i < n; i++)
            x[i] = isnan(x[i]) || x[i] > y[i] ? x[i] : y[i];
        break;
    }
    for (uint32_t i = 0; i < n; i++)
        x[i] = isfinite(x[i]) ? x[i] : UNKNOWN;
}

static void compare(enum expression_operator op, uint32_t n, double *x, const double *y)
{
    switch ((int)op) { /* all others are no comparison */
    case OPERATOR_EQUAL:
        for (uint32_t i = 0; i < n; i++)
            x[i] = x[i] == y[i];
        break;
    case OPERATOR_UNEQUAL: /* of two numbers */
        for (uint32_t i = 0; i < n; i++)
            x[i] = x[i] < y[i] || x[i] > y[i];
        break;
    case OPERATOR_LESS:
        for (uint32_t i = 0; i < n; i++)
            x[i] = x[i] < y[i];
        break;
    case OPERATOR_AT_MOST:
        for (uint32_t i = 0; i < n; i++)
            x[i] = x[i] <= y[i];
        break;
    case OPERATOR_MORE:
        for (uint32_t i = 0; i < n; i++)
            x[i] = x[i] > y[i];
        break;
    default:
        for (uint32_t i = 0; i < n; i++)
            x[i] = x[i] >= y[i];
        break;
    }
}

/* The operands one after the other, into ret. */
static void fold_values(const struct block *b, uint32_t ix, double *ret)
{
    const struct expression_node *nodes = b->x->x.nodes;
    const enum expression_operator op = nodes[ix].op;
    bool truths = op == OPERATOR_AND || op == OPERATOR_OR;
    double other[BLOCK];

    operand(b, ix + 1, truths, ret);
    for (uint32_t i = 0; truths && i < b->n; i++)
        ret[i] = ret[i] == 1;
    for (uint32_t k = nodes[ix + 1].end; k < nodes[ix].end; k = nodes[k].end) {
        operand(b, k, truths, other);
        if (op == OPERATOR_DEFAULT)
            for (uint32_t i = 0; i < b->n; i++)
                ret[i] = isnan(ret[i]) ? other[i] : ret[i];
        else if (op == OPERATOR_AND)
            for (uint32_t i = 0; i < b->n; i++)
                ret[i] = ret[i] == 1 && other[i] == 1;
        else if (op == OPERATOR_OR)
            for (uint32_t i = 0; i < b->n; i++)
                ret[i] = ret[i] == 1 || other[i] == 1;
        else if (op >= OPERATOR_EQUAL && op <= OPERATOR_AT_LEAST)
            compare(op, b->n, ret, other);
        else
            combine(op, b->n, ret, other);
    }
}

static void choose(const struct block *b, uint32_t ix, double *ret)
{
    uint32_t then = b->x->x.nodes[ix + 1].end;
    double condition[BLOCK];
    double other[BLOCK];

    operand(b, ix + 1, true, condition);
    operand(b, then, false, ret);
    operand(b, b->x->x.nodes[then].end, false, other);
    for (uint32_t i = 0; i < b->n; i++)
        ret[i] = condition[i] == 1 ? ret[i] : other[i];
}

static void node_values(const struct block *b, uint32_t ix, double *ret)
{
    const struct expression_node *node = &b->x->x.nodes[ix];

    if (node->kind == EXPRESSION_VARIABLE) {
        variable_values(b, node, ret);
        return;
    }
    switch ((int)node->op) { /* the others fold */
    case OPERATOR_IF:
        choose(b, ix, ret);
        return;
    case OPERATOR_NOT:
        operand(b, ix + 1, true, ret);
        for (uint32_t i = 0; i < b->n; i++)
            ret[i] = !(ret[i] == 1);
        return;
    case OPERATOR_GIVEN:
        operand(b, ix + 1, false, ret);
        for (uint32_t i = 0; i < b->n; i++)
            ret[i] = !isnan(ret[i]);
        return;
    default:
        fold_values(b, ix, ret);
        return;
    }
}

/* ---- all hosts ---- */

struct asked {
    const struct fit *fit;
    const struct fit_expression *x;
    const struct expression_scope *of;
    bool truths;
};

static double answer_of(const struct asked *q, const struct value *v)
{
    if (q->truths)
        return v->type == VALUE_TRUTH && v->truth;
    return v->type == VALUE_NUMBER ? v->number : UNKNOWN;
}

static double on_host(const struct asked *q, uint32_t host)
{
    struct expression_scope scope = fit_scope(q->fit, q->of->vm, host);

    scope.live = q->of->live;
    scope.vm_ix = q->of->vm_ix;
    struct value v = expression_value(&q->x->x, &scope);

    return answer_of(q, &v);
}

static double of_profile(const struct asked *q, uint32_t p)
{
    return on_host(q, q->x->of_profile[p]);
}

/* Once for each profile that is among the hosts. */
static void by_profile(const struct asked *q, const uint32_t *hosts, uint32_t n, struct arena *a, double *ret)
{
    double *values = arena_array(a, double, q->x->n_profiles);
    bool *known = arena_array(a, bool, q->x->n_profiles);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t p = q->x->profile[hosts ? hosts[i] : i];

        if (!known[p]) {
            values[p] = of_profile(q, p);
            known[p] = true;
        }
        ret[i] = values[p];
    }
}

static void by_column(const struct asked *q, const uint32_t *hosts, uint32_t n, double *ret)
{
    for (uint32_t from = 0; from < n; from += BLOCK) {
        const struct block b = {
            q->fit, q->x, q->of, hosts ? hosts + from : NULL, from, n - from < BLOCK ? n - from : BLOCK};

        node_values(&b, 0, ret + from);
    }
}

void fit_numbers(const struct fit *fit, const struct fit_expression *x, const struct expression_scope *of,
                 const uint32_t *hosts, uint32_t n, struct arena *a, double *ret)
{
    const struct asked q = {fit, x, of, false};

    if (x->shapes && x->shapes[0] == SHAPE_NUMBER) {
        by_column(&q, hosts, n, ret);
    } else if (x->shapes) { /* the same on all hosts; a truth is no number */
        struct value v = {.type = VALUE_ABSENT};
        if (x->shapes[0] == SHAPE_FIXED)
            v = expression_value(&x->x, of);
        for (uint32_t i = 0; i < n; i++)
            ret[i] = answer_of(&q, &v);
    } else if (x->profile) {
        by_profile(&q, hosts, n, a, ret);
    } else {
        for (uint32_t i = 0; i < n; i++)
            ret[i] = on_host(&q, hosts ? hosts[i] : i);
    }
}

/* ---- truths of all hosts, a bit each ---- */

#define BITS 64

static void bits_of_columns(const struct asked *q, uint32_t n, uint64_t *ret)
{
    double values[BLOCK];

    for (uint32_t from = 0; from < n; from += BLOCK) {
        uint32_t here = n - from < BLOCK ? n - from : BLOCK;
        const struct block b = {q->fit, q->x, q->of, NULL, from, here};

        node_values(&b, 0, values);
        for (uint32_t w = 0; w < here; w += BITS) {
            uint64_t bits = 0;
            for (uint32_t i = 0; i < BITS && w + i < here; i++)
                bits |= (uint64_t)(values[w + i] == 1) << i;
            ret[(from + w) / BITS] = bits;
        }
    }
}

/* All profiles are among all hosts. */
static void bits_of_profiles(const struct asked *q, uint32_t n, struct arena *a, uint64_t *ret)
{
    uint8_t *truths = arena_array(a, uint8_t, q->x->n_profiles);

    for (uint32_t p = 0; p < q->x->n_profiles; p++)
        truths[p] = of_profile(q, p) == 1;
    for (uint32_t w = 0; w < n; w += BITS) {
        uint64_t bits = 0;
        for (uint32_t i = 0; i < BITS && w + i < n; i++)
            bits |= (uint64_t)truths[q->x->profile[w + i]] << i;
        ret[w / BITS] = bits;
    }
}

void fit_truths(const struct fit *fit, const struct fit_expression *x, const struct expression_scope *of,
                struct arena *a, uint64_t *ret)
{
    const struct asked q = {fit, x, of, true};
    uint32_t n = fit->snap->n_hosts;

    if (x->shapes && x->shapes[0] == SHAPE_TRUTH) {
        bits_of_columns(&q, n, ret);
        return;
    }
    if (!x->shapes && x->profile) {
        bits_of_profiles(&q, n, a, ret);
        return;
    }
    bool all = x->shapes && x->shapes[0] == SHAPE_FIXED && expression_is_true(&x->x, of);

    for (uint32_t h = 0; h < n; h++)
        ret[h / BITS] |= (uint64_t)(x->shapes ? all : on_host(&q, h) == 1) << (h % BITS);
}
