/* numbers.c: the value of an expression on many hosts at once, in columns where it is about numbers. */
#include "core/fit/numbers.h"

#include <math.h>
#include <string.h>

#define BITS 64   /* of a word of truths */
#define BLOCK 256 /* hosts that are evaluated together: their columns stay in the cache */

/* ---- values of a block ---- */

struct block {
    const struct fit *fit;
    const struct fit_expression *x;
    const struct expression_scope *of;
    const uint64_t *const
        *marks;            /* by node with SHAPE_TEXT before it: the codes of the texts that it asks for */
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
    bool known =
        live && live->values && live->values(live->with, b->of->vm_ix, n, b->hosts, b->first, b->n, ret);
    for (uint32_t i = 0; !known && i < b->n; i++)
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

/* Whether the host's text is among the marked ones; of UNEQUAL, whether it is another. */
static void among(const struct block *b, uint32_t ix, double *ret)
{
    const struct fit_codes *codes = b->fit->codes[b->x->x.nodes[ix + 1].column];
    bool wanted = b->x->x.nodes[ix].op != OPERATOR_UNEQUAL;
    const uint64_t *marks = b->marks[ix];

    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t code = codes->of[host_at(b, i)];
        ret[i] = (marks[code / BITS] >> (code % BITS) & 1) == wanted;
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
    if (node->n > 0 && b->x->shapes[ix + 1] == SHAPE_TEXT) {
        among(b, ix, ret);
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
    case OPERATOR_BETWEEN_HOSTS:
        operand(b, ix + 1, false, ret);
        for (uint32_t i = 0; i < b->n; i++)
            ret[i] = b->of->over_hosts ? expression_between(&b->of->over_hosts[ix], ret[i]) : UNKNOWN;
        return;
    case OPERATOR_FLOOR:
        operand(b, ix + 1, false, ret);
        for (uint32_t i = 0; i < b->n; i++)
            ret[i] = floor(ret[i]);
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
    uint32_t root; /* the node that is asked for */
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
    scope.over_hosts = q->of->over_hosts;
    struct value v = expression_part_value(&q->x->x, q->root, &scope);

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

static void mark(uint64_t *marks, uint32_t code)
{
    if (code != IX_NONE)
        marks[code / BITS] |= (uint64_t)1 << (code % BITS);
}

/* Marks the codes of the value's texts. */
static void mark_texts(const struct fit_codes *codes, const struct value *v, struct arena *a, uint64_t *marks)
{
    struct expression_texts w = {.v = v};
    struct expression_text t;

    while (expression_next_text(&w, &t)) {
        const struct value text = {.type = VALUE_TEXT, .text = arena_strndup(a, t.text, t.n)};
        mark(marks, fit_rows_find(codes->rows, &text, 1));
    }
}

/* What is asked for: of UNEQUAL to no text, each text and none, so that no host has another. */
static const uint64_t *marks_of(const struct asked *q, uint32_t ix, struct arena *a)
{
    static const struct value none = {.type = VALUE_ABSENT};
    const struct expression_node *nodes = q->x->x.nodes;
    const struct fit_codes *codes = q->fit->codes[nodes[ix + 1].column];
    uint64_t *marks = arena_array(a, uint64_t, (size_t)codes->n / BITS + 1);

    for (uint32_t i = nodes[ix + 1].end; i < nodes[ix].end; i = nodes[i].end) {
        struct value v = expression_part_value(&q->x->x, i, q->of);

        if (nodes[ix].op == OPERATOR_IN || v.type == VALUE_TEXT)
            mark_texts(codes, &v, a, marks);
        else if (nodes[ix].op == OPERATOR_UNEQUAL)
            memset(marks, 0xff, (codes->n / BITS + 1) * sizeof *marks);
    }
    if (nodes[ix].op == OPERATOR_UNEQUAL)
        mark(marks, fit_rows_find(codes->rows, &none, 1));
    return marks;
}

static const uint64_t *const *find_marks(const struct asked *q, struct arena *a)
{
    const uint64_t **marks = NULL;

    for (uint32_t i = 0; i + 1 < q->x->x.n; i++) {
        if (q->x->shapes[i + 1] != SHAPE_TEXT)
            continue;
        marks = marks ? marks : arena_array(a, const uint64_t *, q->x->x.n);
        marks[i] = marks_of(q, i, a);
    }
    return marks;
}

static void by_column(const struct asked *q, const uint32_t *hosts, uint32_t n, struct arena *a, double *ret)
{
    const uint64_t *const *marks = find_marks(q, a);

    for (uint32_t from = 0; from < n; from += BLOCK) {
        const struct block b = {.fit = q->fit,
                                .x = q->x,
                                .of = q->of,
                                .marks = marks,
                                .hosts = hosts ? hosts + from : NULL,
                                .first = from,
                                .n = n - from < BLOCK ? n - from : BLOCK};

        node_values(&b, q->root, ret + from);
    }
}

static void find_numbers(const struct fit *fit, const struct fit_expression *x,
                         const struct expression_scope *of, uint32_t root, const uint32_t *hosts, uint32_t n,
                         struct arena *a, double *ret)
{
    const struct asked q = {fit, x, of, false, root};

    if (x->shapes && x->shapes[root] == SHAPE_NUMBER) {
        by_column(&q, hosts, n, a, ret);
    } else if (x->shapes) { /* the same on all hosts; a truth is no number */
        struct value v = {.type = VALUE_ABSENT};
        if (x->shapes[root] == SHAPE_FIXED)
            v = expression_part_value(&x->x, root, of);
        for (uint32_t i = 0; i < n; i++)
            ret[i] = answer_of(&q, &v);
    } else if (x->profile) {
        by_profile(&q, hosts, n, a, ret);
    } else {
        for (uint32_t i = 0; i < n; i++)
            ret[i] = on_host(&q, hosts ? hosts[i] : i);
    }
}

/* The numbers of all hosts; NULL at the first call, computed at the second. */
static const double *known_numbers(const struct fit *fit, const struct fit_expression *x,
                                   const struct expression_scope *of)
{
    struct fit_known *known = x->known;

    if (!known || known->numbers || !known->asked) {
        if (known)
            known->asked = true;
        return known ? known->numbers : NULL;
    }
    double *numbers = arena_array(fit->a, double, fit->snap->n_hosts);

    find_numbers(fit, x, of, 0, NULL, fit->snap->n_hosts, fit->a, numbers);
    known->numbers = numbers;
    return numbers;
}

void fit_numbers(const struct fit *fit, const struct fit_expression *x, const struct expression_scope *of,
                 const uint32_t *hosts, uint32_t n, struct arena *a, double *ret)
{
    const double *numbers = known_numbers(fit, x, of);

    if (!numbers) {
        find_numbers(fit, x, of, 0, hosts, n, a, ret);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        ret[i] = numbers[hosts ? hosts[i] : i];
}

void fit_over_hosts(const struct fit *fit, const struct fit_expression *x, const struct expression_scope *of,
                    const uint32_t *hosts, const double *left, uint32_t n, double *values,
                    struct expression_extremes *ret)
{
    struct expression_scope scope = *of;

    scope.over_hosts = ret;
    for (uint32_t ix = x->x.n; ix-- > 0;) { /* one within another comes first */
        struct expression_extremes e = {UNKNOWN, UNKNOWN};

        if (!expression_is_over_hosts(&x->x.nodes[ix]))
            continue;
        find_numbers(fit, x, &scope, ix + 1, hosts, n, NULL, values); /* no arena: as x is live */
        for (uint32_t i = 0; i < n; i++) {
            double v = values[i] + left[i];
            e.least = fmin(e.least, v);
            e.most = fmax(e.most, v);
        }
        ret[ix] = e;
    }
}

/* ---- truths of all hosts, a bit each ---- */

/* Of the first n values from `from` on. */
static uint64_t pack(const double *values, uint32_t n)
{
    uint64_t bits = 0;

    if (n == BITS)
        for (uint32_t i = 0; i < BITS; i++)
            bits |= (uint64_t)(values[i] == 1) << i;
    else
        for (uint32_t i = 0; i < n; i++)
            bits |= (uint64_t)(values[i] == 1) << i;
    return bits;
}

static void bits_of_columns(const struct asked *q, uint32_t n, struct arena *a, uint64_t *ret)
{
    const uint64_t *const *marks = find_marks(q, a);
    double values[BLOCK];

    for (uint32_t from = 0; from < n; from += BLOCK) {
        uint32_t here = n - from < BLOCK ? n - from : BLOCK;
        const struct block b = {
            .fit = q->fit, .x = q->x, .of = q->of, .marks = marks, .first = from, .n = here};

        node_values(&b, 0, values);
        for (uint32_t w = 0; w < here; w += BITS)
            ret[(from + w) / BITS] = pack(values + w, here - w < BITS ? here - w : BITS);
    }
}

/* All profiles are among all hosts. */
static void bits_of_profiles(const struct asked *q, uint32_t n, struct arena *a, uint64_t *ret)
{
    uint8_t *truths = arena_array(a, uint8_t, q->x->n_profiles);

    for (uint32_t p = 0; p < q->x->n_profiles; p++)
        truths[p] = of_profile(q, p) == 1;
    for (uint32_t h = 0; h + BITS <= n; h += BITS) {
        const uint32_t *profile = q->x->profile + h;
        uint64_t bits = 0;

        for (uint32_t i = 0; i < BITS; i++)
            bits |= (uint64_t)truths[profile[i]] << i;
        ret[h / BITS] = bits;
    }
    for (uint32_t h = n / BITS * BITS; h < n; h++)
        ret[h / BITS] |= (uint64_t)truths[q->x->profile[h]] << (h % BITS);
}

void fit_truths(const struct fit *fit, const struct fit_expression *x, const struct expression_scope *of,
                struct arena *a, uint64_t *ret)
{
    const struct asked q = {fit, x, of, true, 0};
    uint32_t n = fit->snap->n_hosts;

    if (x->shapes && x->shapes[0] == SHAPE_TRUTH) {
        bits_of_columns(&q, n, a, ret);
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
