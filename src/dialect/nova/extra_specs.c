/* extra_specs.c: the operators of extra specs, of a value and as an expression: "<or> a <or> b", ">= 5". */
#include "dialect/nova/internal.h"

#include <math.h>
#include <string.h>

enum kind {
    COMPARES_NUMBERS,
    COMPARES_TEXTS,
    HAS_PART,
    HAS_ALL_PARTS,
    ONE_OF,
};

/* The operators, and their form in expressions. "=" is "at least". */
static const struct operator
{
    const char *word, *op;
    enum kind kind;
}
operators[] = {
    {"=", ">=", COMPARES_NUMBERS},           {"==", "=", COMPARES_NUMBERS},
    {"!=", "!=", COMPARES_NUMBERS},          {">=", ">=", COMPARES_NUMBERS},
    {"<=", "<=", COMPARES_NUMBERS},          {"s==", "=", COMPARES_TEXTS},
    {"s!=", "!=", COMPARES_TEXTS},           {"s<", "s<", COMPARES_TEXTS},
    {"s<=", "s<=", COMPARES_TEXTS},          {"s>", "s>", COMPARES_TEXTS},
    {"s>=", "s>=", COMPARES_TEXTS},          {"<in>", "contains", HAS_PART},
    {"<all-in>", "contains", HAS_ALL_PARTS}, {"<or>", "in", ONE_OF},
};

/* NULL: the requirement is the value itself. */
static const struct operator* operator_of(const struct words *words)
{
    for (size_t i = 0; words->n > 0 && i < sizeof operators / sizeof *operators; i++)
        if (strcmp(words->items[0], operators[i].word) == 0)
            return &operators[i];
    return NULL;
}

static bool holds(const char *op, double x, double y)
{
    return strcmp(op, "=") == 0    ? x == y
           : strcmp(op, "!=") == 0 ? x != y
           : strcmp(op, ">=") == 0 ? x >= y
                                   : x <= y;
}

static bool texts_hold(const char *op, int order)
{
    return strcmp(op, "=") == 0     ? order == 0
           : strcmp(op, "!=") == 0  ? order != 0
           : strcmp(op, "s<") == 0  ? order < 0
           : strcmp(op, "s<=") == 0 ? order <= 0
           : strcmp(op, "s>") == 0  ? order > 0
                                    : order >= 0;
}

/* The words at 1, 3, 5 and so on: between them is "<or>", whatever it says. */
static struct words alternatives(const struct words *words, struct arena *a)
{
    struct words ret = {0};

    for (size_t i = 1; i < words->n; i += 2)
        nova_words_add(&ret, words->items[i], a);
    return ret;
}

bool extra_spec_matches(const char *value, const char *requirement, struct arena *a)
{
    struct words words = nova_words_split(requirement, a);
    const struct operator* o = operator_of(&words);
    double x;
    double y;

    if (!o)
        return strcmp(value, requirement) == 0;
    if (words.n < 2)
        return false;
    switch (o->kind) {
    case COMPARES_NUMBERS:
        return nova_python_float(value, a, &x) && nova_python_float(words.items[1], a, &y) &&
               holds(o->op, x, y);
    case COMPARES_TEXTS:
        return texts_hold(o->op, strcmp(value, words.items[1]));
    case HAS_PART:
        return strstr(value, words.items[1]) != NULL;
    case HAS_ALL_PARTS:
        for (size_t i = 1; i < words.n; i++)
            if (!strstr(value, words.items[i]))
                return false;
        return true;
    case ONE_OF:
        break;
    }
    words = alternatives(&words, a);
    return nova_words_have(&words, value);
}

/* Infinities and "nan" are numbers to Python; a variable is finite. */
static json_t *number_expression(const char *variable, const struct operator* o, const char *operand,
                                 struct arena *a)
{
    double y;

    if (!nova_python_float(operand, a, &y))
        return json_false();
    if (isfinite(y))
        return json_pack("[s, [s, s], f]", o->op, "number", variable, y);
    return holds(o->op, 0, y) ? json_pack("[s, [s, s]]", "given", "number", variable) : json_false();
}

/* The number equals the text, which Python would print so. */
static json_t *equals_whole(json_t *value, const char *text, struct arena *a)
{
    json_int_t whole;

    if (!nova_python_int(text, a, &whole) ||
        strcmp(arena_printf(a, "%" JSON_INTEGER_FORMAT, whole), text) != 0)
        return json_false();
    return json_pack("[s, O, I]", "=", value, whole);
}

static json_t *compare_whole(json_t *value, const struct operator* o, const char *operand, struct arena *a)
{
    double y;

    if (!nova_python_float(operand, a, &y))
        return json_false();
    return isfinite(y)          ? json_pack("[s, O, f]", o->op, value, y)
           : holds(o->op, 0, y) ? json_pack("[s, O]", "given", value)
                                : json_false();
}

static json_t *whole_expression(json_t *value, const char *requirement, struct arena *a)
{
    struct words words = nova_words_split(requirement, a);
    const struct operator* o = operator_of(&words);

    if (!o)
        return equals_whole(value, requirement, a);
    if (words.n < 2)
        return json_false();
    if (o->kind == COMPARES_NUMBERS)
        return compare_whole(value, o, words.items[1], a);
    if (o->kind == COMPARES_TEXTS && strcmp(o->op, "=") == 0)
        return equals_whole(value, words.items[1], a);
    if (o->kind == COMPARES_TEXTS && strcmp(o->op, "!=") == 0)
        return json_pack("[s, [s, O], [s, o]]", "and", "given", value, "not",
                         equals_whole(value, words.items[1], a));
    if (o->kind != ONE_OF)
        return NULL;
    json_t *ret = json_pack("[s, b]", "or", 0);

    words = alternatives(&words, a);
    for (size_t i = 0; i < words.n; i++)
        (void)json_array_append_new(ret, equals_whole(value, words.items[i], a));
    return ret;
}

json_t *extra_spec_number_expression(json_t *value, const char *requirement, struct arena *a)
{
    json_t *ret = whole_expression(value, requirement, a);

    json_decref(value);
    return ret;
}

static json_t *parts_expression(const char *variable, const struct words *words, struct arena *a)
{
    json_t *ret = json_pack("[s]", "and");

    for (size_t i = 1; i < words->n; i++)
        (void)json_array_append_new(
            ret, json_pack("[s, s, s]", "contains", variable, nova_constant(words->items[i], a)));
    return ret;
}

json_t *extra_spec_expression(const char *variable, const char *requirement, struct arena *a)
{
    struct words words = nova_words_split(requirement, a);
    const struct operator* o = operator_of(&words);

    if (!o)
        return json_pack("[s, s, s]", "=", variable, nova_constant(requirement, a));
    if (words.n < 2)
        return json_false();
    switch (o->kind) {
    case COMPARES_NUMBERS:
        return number_expression(variable, o, words.items[1], a);
    case COMPARES_TEXTS:
    case HAS_PART:
        return json_pack("[s, s, s]", o->op, variable, nova_constant(words.items[1], a));
    case HAS_ALL_PARTS:
        return parts_expression(variable, &words, a);
    case ONE_OF:
        break;
    }
    words = alternatives(&words, a);
    return nova_expression_in(json_string(variable), &words, a);
}
