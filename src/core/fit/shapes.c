/* shapes.c: finds which expressions can be evaluated in columns of hosts, and the columns of numbers. */
#include "core/fit/numbers.h"

#include <string.h>

struct shaping {
    struct fit *fit;
    struct arena *a;
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

static bool finds_texts(enum expression_operator op)
{
    return op == OPERATOR_IN || op == OPERATOR_EQUAL || op == OPERATOR_UNEQUAL;
}

/* Whether the node asks for a text of hosts among fixed ones, where hosts are hardly ever alike. Marks the
 * variable. */
static bool is_among(const struct shaping *s, uint32_t ix)
{
    const struct expression_node *nodes = s->x->nodes;
    const struct expression_node *of = &nodes[ix + 1];

    if (!finds_texts(nodes[ix].op) || of->kind != EXPRESSION_VARIABLE || s->shapes[ix + 1] != SHAPE_OTHER ||
        expression_owner_of(of->variable) != OWNER_HOST)
        return false;
    for (uint32_t i = of->end; i < nodes[ix].end; i = nodes[i].end)
        if (s->shapes[i] != SHAPE_FIXED)
            return false;
    const struct fit_codes *codes = fit_codes_of(s->fit, of->column, s->a);

    if (!codes->texts || codes->n <= s->fit->snap->n_hosts / 2)
        return false;
    s->shapes[ix + 1] = SHAPE_TEXT;
    return true;
}

static enum shape shape_of_operator(const struct shaping *s, uint32_t ix)
{
    const struct expression_node *n = &s->x->nodes[ix];

    if (n->op >= OPERATOR_ANY_GROUP)
        return SHAPE_OTHER;
    if (n->op == OPERATOR_MOST_OF_HOSTS)
        return is_number(s, ix + 1) ? SHAPE_FIXED : SHAPE_OTHER;
    if (all_have(s, ix, SHAPE_FIXED))
        return SHAPE_FIXED;
    if (!expression_is_live(s->x) && is_among(s, ix))
        return SHAPE_TRUTH;
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
    case OPERATOR_FLOOR:
    case OPERATOR_BETWEEN_HOSTS:
    case OPERATOR_NUMBER:
        return all_have(s, ix, SHAPE_NUMBER) ? SHAPE_NUMBER : SHAPE_OTHER;
    default:
        return SHAPE_OTHER;
    }
}

static void find_shapes(struct fit *fit, struct fit_expression *x, struct arena *a)
{
    struct shaping s = {fit, a, &x->x, arena_array(a, uint8_t, x->x.n)};

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
