/* expression.c: evaluates expressions. src/model/expression.c reads them and has checked what is known of
 * types. */
#include "core/fit/expression.h"

#include "base/number.h"
#include "base/texts.h"
#include "model/expression.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SEPARATOR ',' /* between the parts of a text */
#define BLANK ' '

static const struct value absent = {.type = VALUE_ABSENT};

/* Where the evaluation is; group: the one that an operator of groups asks about. */
struct at {
    const struct expression *x;
    const struct expression_scope *s;
    uint32_t group;
};

static struct value value_at(const struct at *at, uint32_t ix);

static struct value truth(bool is)
{
    return (struct value){.type = VALUE_TRUTH, .truth = is};
}

/* Not finite: absent. */
static struct value number(double v)
{
    return isfinite(v) ? (struct value){.type = VALUE_NUMBER, .number = v + 0.0} : absent;
}

static bool is_true(const struct at *at, uint32_t ix)
{
    struct value v = value_at(at, ix);

    return v.type == VALUE_TRUTH && v.truth;
}

/* ---- logic ---- */

static struct value all(const struct at *at, uint32_t ix)
{
    for (uint32_t i = ix + 1; i < at->x->nodes[ix].end; i = at->x->nodes[i].end)
        if (!is_true(at, i))
            return truth(false);
    return truth(true);
}

static struct value any(const struct at *at, uint32_t ix)
{
    for (uint32_t i = ix + 1; i < at->x->nodes[ix].end; i = at->x->nodes[i].end)
        if (is_true(at, i))
            return truth(true);
    return truth(false);
}

static struct value first_given(const struct at *at, uint32_t ix)
{
    for (uint32_t i = ix + 1; i < at->x->nodes[ix].end; i = at->x->nodes[i].end) {
        struct value v = value_at(at, i);

        if (v.type != VALUE_ABSENT)
            return v;
    }
    return absent;
}

static struct value choose(const struct at *at, uint32_t ix)
{
    const struct expression_node *nodes = at->x->nodes;
    uint32_t then = nodes[ix + 1].end;

    return value_at(at, is_true(at, ix + 1) ? then : nodes[then].end);
}

/* ---- comparisons ---- */

/* Single values of one type. */
static bool comparable(const struct value *a, const struct value *b)
{
    return a->type == b->type && (a->type == VALUE_TRUTH || a->type == VALUE_NUMBER || a->type == VALUE_TEXT);
}

bool expression_value_same(const struct value *a, const struct value *b)
{
    if (a->type != b->type)
        return false;
    switch (a->type) {
    case VALUE_ABSENT:
        return true;
    case VALUE_TRUTH:
        return a->truth == b->truth;
    case VALUE_NUMBER:
        return a->number == b->number;
    case VALUE_TEXT:
    case VALUE_PARTS:
        return strcmp(a->text, b->text) == 0;
    case VALUE_TEXTS:
        break;
    }
    for (uint32_t i = 0; i < a->texts.n && i < b->texts.n; i++)
        if (strcmp(a->texts.items[i], b->texts.items[i]) != 0)
            return false;
    return a->texts.n == b->texts.n;
}

static struct value equal(const struct value *a, const struct value *b, bool wanted)
{
    return truth(comparable(a, b) && expression_value_same(a, b) == wanted);
}

static struct value compare_numbers(enum expression_operator op, const struct value *a, const struct value *b)
{
    double x = a->number;
    double y = b->number;

    return truth(a->type == VALUE_NUMBER && b->type == VALUE_NUMBER &&
                 (op == OPERATOR_LESS      ? x < y
                  : op == OPERATOR_AT_MOST ? x <= y
                  : op == OPERATOR_MORE    ? x > y
                                           : x >= y));
}

static char small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_letters(const char *a, const char *b)
{
    while (*a && small(*a) == small(*b)) {
        a++;
        b++;
    }
    return small(*a) == small(*b);
}

/* Whether the second is a part of the first. Both are short: 255 bytes, or a text of the inventory. */
static bool contains(const char *text, const char *part)
{
    size_t length = strlen(part);

    for (; *text; text++)
        if (strncmp(text, part, length) == 0)
            return true;
    return length == 0;
}

static struct value compare_texts(enum expression_operator op, const struct value *a, const struct value *b)
{
    bool agrees = false;

    if (a->type != VALUE_TEXT || b->type != VALUE_TEXT)
        return truth(false);
    if (op == OPERATOR_SAME_LETTERS)
        return truth(same_letters(a->text, b->text));
    if (op == OPERATOR_CONTAINS)
        return truth(contains(a->text, b->text));
    if (op == OPERATOR_STARTS_WITH)
        return truth(strncmp(a->text, b->text, strlen(b->text)) == 0);
    if (op == OPERATOR_ENDS_WITH)
        return truth(texts_end_with(a->text, b->text));
    if (op == OPERATOR_VERSION)
        return truth(version_agrees(a->text, b->text, &agrees) && agrees);
    int order = strcmp(a->text, b->text);

    return truth(op == OPERATOR_BEFORE      ? order < 0
                 : op == OPERATOR_NOT_AFTER ? order <= 0
                 : op == OPERATOR_AFTER     ? order > 0
                                            : order >= 0);
}

/* ---- lists ---- */

bool expression_next_text(struct expression_texts *w, struct expression_text *ret)
{
    const struct value *v = w->v;

    if (v->type == VALUE_TEXTS && w->i < v->texts.n) {
        *ret = (struct expression_text){v->texts.items[w->i], strlen(v->texts.items[w->i])};
        w->i++;
        return true;
    }
    if (v->type == VALUE_TEXT && w->i++ == 0) {
        *ret = (struct expression_text){v->text, strlen(v->text)};
        return true;
    }
    if (v->type != VALUE_PARTS || (w->i > 0 && !w->at))
        return false;
    const char *from = w->i++ == 0 ? v->text : w->at;
    const char *end = from;

    while (*end && *end != SEPARATOR)
        end++;
    w->at = *end == SEPARATOR ? end + 1 : NULL;
    while (from < end && *from == BLANK)
        from++;
    while (from < end && end[-1] == BLANK)
        end--;
    *ret = (struct expression_text){from, (size_t)(end - from)};
    return true;
}

static bool has_text(const struct value *v, struct expression_text wanted)
{
    struct expression_texts w = {.v = v};
    struct expression_text p;

    while (expression_next_text(&w, &p))
        if (p.n == wanted.n && memcmp(p.text, wanted.text, p.n) == 0)
            return true;
    return false;
}

/* Whether a value of `a` is one of `b`; of all: every one of `b`, of which there may be none, is one of `a`.
 */
static bool meets(const struct value *a, const struct value *b, bool of_all)
{
    struct expression_texts w = {.v = of_all ? b : a};
    struct expression_text p;

    if (a->type == VALUE_NUMBER || a->type == VALUE_TRUTH || b->type == VALUE_NUMBER ||
        b->type == VALUE_TRUTH)
        return comparable(a, b) && expression_value_same(a, b);
    if (a->type == VALUE_ABSENT || b->type == VALUE_ABSENT)
        return false;
    while (expression_next_text(&w, &p))
        if (has_text(of_all ? a : b, p) != of_all)
            return !of_all;
    return of_all;
}

static int compare_with_part(const void *key, const void *item)
{
    const struct expression_text *p = key;
    const char *text = *(const char *const *)item;
    int order = strncmp(p->text, text, p->n);

    return order != 0 ? order : -(text[p->n] != '\0');
}

/* Whether a text of the value is one of the sorted ones. */
static bool meets_sorted(const struct value *a, const struct ids *list)
{
    struct expression_texts w = {.v = a};
    struct expression_text p;

    while (expression_next_text(&w, &p))
        if (bsearch(&p, list->items, list->n, sizeof list->items[0], compare_with_part))
            return true;
    return false;
}

static struct value member(const struct at *at, uint32_t ix, bool of_all)
{
    const struct expression_node *nodes = at->x->nodes;
    struct value first = value_at(at, ix + 1);

    for (uint32_t i = nodes[ix + 1].end; i < nodes[ix].end; i = nodes[i].end) {
        bool sorted = nodes[i].kind == EXPRESSION_CONSTANT && nodes[i].is.type == VALUE_TEXTS && !of_all;
        struct value other = value_at(at, i);

        if ((sorted ? meets_sorted(&first, &other.texts) : meets(&first, &other, of_all)) != of_all)
            return truth(!of_all);
    }
    return truth(of_all);
}

static struct value count(const struct value *v)
{
    struct expression_texts w = {.v = v};
    struct expression_text p;
    double n = v->type == VALUE_TRUTH || v->type == VALUE_NUMBER;

    while (expression_next_text(&w, &p))
        n++;
    return number(n);
}

/* ---- numbers ---- */

static double combine(enum expression_operator op, double x, double y)
{
    switch ((int)op) { /* all others are no arithmetic */
    case OPERATOR_ADD:
        return x + y;
    case OPERATOR_SUBTRACT:
        return x - y;
    case OPERATOR_MULTIPLY:
        return x * y;
    case OPERATOR_DIVIDE:
        return y == 0 ? NAN : x / y;
    case OPERATOR_MIN:
        return x < y ? x : y;
    default:
        return x > y ? x : y;
    }
}

static struct value calculate(const struct at *at, uint32_t ix)
{
    const struct expression_node *nodes = at->x->nodes;
    struct value sum = value_at(at, ix + 1);

    for (uint32_t i = nodes[ix + 1].end; sum.type == VALUE_NUMBER && i < nodes[ix].end; i = nodes[i].end) {
        struct value v = value_at(at, i);

        sum = v.type == VALUE_NUMBER ? number(combine(nodes[ix].op, sum.number, v.number)) : absent;
    }
    return sum.type == VALUE_NUMBER ? sum : absent;
}

static struct value as_number(const struct value *v)
{
    double x;

    if (v->type == VALUE_NUMBER)
        return *v;
    return v->type == VALUE_TEXT && number_parse(v->text, &x) ? number(x) : absent;
}

/* ---- groups ---- */

/* The next group of the host of the kind that the operator names, from *i on; IX_NONE: there is none. */
static uint32_t next_group(const struct at *at, uint32_t ix, uint32_t *i)
{
    const char *kind = at->x->nodes[ix + 1].is.text;

    while (*i < at->s->n_host_groups) {
        uint32_t g = at->s->host_groups[(*i)++];

        if (strcmp(at->s->snap->groups[g].is.kind, kind) == 0)
            return g;
    }
    return IX_NONE;
}

static struct value of_groups(const struct at *at, uint32_t ix)
{
    const enum expression_operator op = at->x->nodes[ix].op;
    struct at inner = *at;
    struct value best = absent;
    double n = 0;
    uint32_t i = 0;

    while ((inner.group = next_group(at, ix, &i)) != IX_NONE) {
        n++;
        if (op == OPERATOR_GROUPS)
            continue;
        struct value v = value_at(&inner, ix + 2);
        bool holds = v.type == VALUE_TRUTH && v.truth;

        if (op == OPERATOR_ANY_GROUP && holds)
            return truth(true);
        if (op == OPERATOR_ALL_GROUPS && !holds)
            return truth(false);
        if (v.type == VALUE_NUMBER && op != OPERATOR_ANY_GROUP && op != OPERATOR_ALL_GROUPS &&
            (best.type == VALUE_ABSENT ||
             (op == OPERATOR_LEAST_OF_GROUPS ? v.number < best.number : v.number > best.number)))
            best = v;
    }
    return op == OPERATOR_GROUPS       ? number(n)
           : op == OPERATOR_ANY_GROUP  ? truth(false)
           : op == OPERATOR_ALL_GROUPS ? truth(true)
                                       : best;
}

/* ---- one node ---- */

/* Operators of one or two operands whose values are all that they need. */
static struct value of_values(const struct at *at, uint32_t ix)
{
    const struct expression_node *nodes = at->x->nodes;
    struct value a = value_at(at, ix + 1);
    struct value b = nodes[ix].n > 1 ? value_at(at, nodes[ix + 1].end) : absent;

    switch ((int)nodes[ix].op) { /* value_at() has the others */
    case OPERATOR_NOT:
        return truth(!(a.type == VALUE_TRUTH && a.truth));
    case OPERATOR_GIVEN:
        return truth(a.type != VALUE_ABSENT);
    case OPERATOR_EQUAL:
    case OPERATOR_UNEQUAL:
        return equal(&a, &b, nodes[ix].op == OPERATOR_EQUAL);
    case OPERATOR_LESS:
    case OPERATOR_AT_MOST:
    case OPERATOR_MORE:
    case OPERATOR_AT_LEAST:
        return compare_numbers(nodes[ix].op, &a, &b);
    case OPERATOR_BETWEEN_HOSTS:
        return a.type == VALUE_NUMBER && at->s->over_hosts
                   ? number(expression_between(&at->s->over_hosts[ix], a.number))
                   : absent;
    case OPERATOR_FLOOR:
        return a.type == VALUE_NUMBER ? number(floor(a.number)) : absent;
    case OPERATOR_NUMBER:
        return as_number(&a);
    case OPERATOR_SPLIT:
        return a.type == VALUE_TEXT ? (struct value){.type = VALUE_PARTS, .text = a.text} : absent;
    case OPERATOR_COUNT:
        return a.type == VALUE_ABSENT ? absent : count(&a);
    default:
        return compare_texts(nodes[ix].op, &a, &b);
    }
}

static struct value operator_value(const struct at *at, uint32_t ix)
{
    switch ((int)at->x->nodes[ix].op) { /* of_values() has the others */
    case OPERATOR_AND:
        return all(at, ix);
    case OPERATOR_OR:
        return any(at, ix);
    case OPERATOR_IF:
        return choose(at, ix);
    case OPERATOR_DEFAULT:
        return first_given(at, ix);
    case OPERATOR_IN:
    case OPERATOR_HAS_ALL:
        return member(at, ix, at->x->nodes[ix].op == OPERATOR_HAS_ALL);
    case OPERATOR_ADD:
    case OPERATOR_SUBTRACT:
    case OPERATOR_MULTIPLY:
    case OPERATOR_DIVIDE:
    case OPERATOR_MIN:
    case OPERATOR_MAX:
        return calculate(at, ix);
    case OPERATOR_MOST_OF_HOSTS:
        return at->s->over_hosts ? number(at->s->over_hosts[ix].most) : absent;
    case OPERATOR_ANY_GROUP:
    case OPERATOR_ALL_GROUPS:
    case OPERATOR_GROUPS:
    case OPERATOR_LEAST_OF_GROUPS:
    case OPERATOR_MOST_OF_GROUPS:
        return of_groups(at, ix);
    default:
        return of_values(at, ix);
    }
}

static struct value value_at(const struct at *at, uint32_t ix)
{
    const struct expression_node *node = &at->x->nodes[ix];

    switch (node->kind) {
    case EXPRESSION_CONSTANT:
        return node->is;
    case EXPRESSION_OPERATOR:
        return operator_value(at, ix);
    case EXPRESSION_VARIABLE:
        break;
    }
    if (expression_owner_of(node->variable) == OWNER_GROUP)
        return at->s->groups[(size_t)at->group * at->s->group_width + node->column];
    return expression_variable_value(node, at->s);
}

/* What the answer with this number says of the host. */
static struct value answered(const struct expression_node *n, const struct expression_scope *scope)
{
    const struct value *number_of = &scope->vm[n->column];

    if (number_of->type == VALUE_ABSENT)
        return absent;
    const struct unit_answer *x = &scope->snap->answers[(uint32_t)number_of->number];

    if (n->variable == VARIABLE_ANSWER_MULTIPLIER)
        return x->multipliers ? number(x->multipliers[scope->host_ix]) : absent;

    return x->scores ? number(x->scores[scope->host_ix])
                     : truth(x->kept[scope->host_ix / 64] >> (scope->host_ix % 64) & 1);
}

struct value expression_variable_value(const struct expression_node *variable,
                                       const struct expression_scope *scope)
{
    const struct expression_live *live = scope->live;

    if (expression_variable_is_answer(variable->variable))
        return answered(variable, scope);
    if (expression_owner_of(variable->variable) == OWNER_VM)
        return scope->vm[variable->column];
    if (!expression_variable_is_live(variable->variable))
        return scope->host[variable->column];
    return live ? number(live->value(live->with, scope->vm_ix, variable, scope->host_ix)) : absent;
}

struct value expression_part_value(const struct expression *x, uint32_t node,
                                   const struct expression_scope *scope)
{
    const struct at at = {.x = x, .s = scope, .group = IX_NONE};

    return value_at(&at, node);
}

struct value expression_value(const struct expression *x, const struct expression_scope *scope)
{
    return expression_part_value(x, 0, scope);
}

bool expression_is_true(const struct expression *x, const struct expression_scope *scope)
{
    struct value v = expression_value(x, scope);

    return v.type == VALUE_TRUTH && v.truth;
}

uint32_t expression_deciding(const struct expression *x, const struct expression_scope *scope)
{
    const struct at at = {.x = x, .s = scope, .group = IX_NONE};
    uint32_t ix = 0;

    while (x->nodes[ix].kind == EXPRESSION_OPERATOR &&
           (x->nodes[ix].op == OPERATOR_AND || (x->nodes[ix].op == OPERATOR_OR && x->nodes[ix].n == 1))) {
        uint32_t i = ix + 1;

        while (i < x->nodes[ix].end && is_true(&at, i))
            i = x->nodes[i].end;
        if (i >= x->nodes[ix].end)
            break; /* it is true */
        ix = i;
    }
    return ix;
}
