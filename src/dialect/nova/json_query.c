/* json_query.c: JsonFilter: the hint "query" as an expression, with the peculiarities of Python that Nova's
 * evaluation has: an operand without a value is left out, and "not" gives a list, which is true within
 * another operator as soon as it has an entry. */
#include "dialect/nova/internal.h"

#include <errno.h>
#include <string.h>

#define DEPTH_MAX 6
#define OPERANDS_MAX 64
#define BRANCHES_MAX 3 /* operands of one comparison that a host may lack */

enum { IS_TRUTH = 1, IS_NUMBER = 2, IS_TEXT = 4, IS_ANY = 7 };

struct operand {
    json_t *value; /* borrowed from `kept` of the query */
    unsigned types;
    bool may_lack; /* a variable: of this host it may have no value */
    bool is_list;  /* of "not" */
};

struct query {
    struct cloud *c;
    const char *where; /* the hints */
    json_t *kept;
    json_t *whole; /* "and", that no comparison is an error, and at the end the query */
};

static json_t *keep(struct query *q, json_t *value)
{
    (void)json_array_append_new(q->kept, value);
    return value;
}

static int refuse(const struct query *q, const char *what)
{
    return err_set(q->c->err, -EINVAL, "%s/query: %s", q->where, what);
}

/* ---- operands ---- */

/* The value as an attribute; what is neither a number nor a text is there, and equal to nothing. */
static void set_variable(struct cloud *c, const char *name, const struct words *path)
{
    size_t i;
    const json_t *state;

    json_array_foreach(c->states, i, state)
    {
        const json_t *at = state;

        for (size_t p = 0; p < path->n && at; p++)
            at = json_object_get(at, path->items[p]);
        if (at && !json_is_null(at))
            host_set(c, i, name,
                     json_is_object(at) || json_is_array(at) ? json_array() : json_copy((json_t *)at));
    }
}

static struct operand variable(struct query *q, const char *text)
{
    json_t *now = consumed_field(q->c, text + 1);

    if (now)
        return (struct operand){.value = keep(q, now), .types = IS_NUMBER, .may_lack = true};
    const char *name = arena_printf(q->c->a, "query:%s", text + 1);
    struct words path = nova_parts_split(text + 1, '.', q->c->a);

    set_variable(q->c, name, &path);
    return (struct operand){.value = keep(q, json_string(arena_printf(q->c->a, ATTRIBUTE "%s", name))),
                            .types = IS_ANY,
                            .may_lack = true};
}

static int compile(struct query *q, const json_t *list, unsigned depth, struct operand *ret);

/* False in *ret_is: it is left out. */
static int read_operand(struct query *q, const json_t *n, unsigned depth, struct operand *ret, bool *ret_is)
{
    const char *text = json_string_value(n);

    *ret_is = !json_is_null(n) && !(text && !*text);
    if (!*ret_is)
        return 0;
    if (json_is_array(n))
        return compile(q, n, depth + 1, ret);
    if (json_is_object(n))
        return refuse(q, "an object, expected a number, a text or a list");
    if (text && text[0] == '$')
        *ret = variable(q, text);
    else
        *ret = (struct operand){.value = keep(q, json_copy((json_t *)n)),
                                .types = text                ? IS_TEXT
                                         : json_is_number(n) ? IS_NUMBER
                                                             : IS_TRUTH};
    return 0;
}

/* ---- truth ---- */

static json_t *given(const struct operand *o)
{
    return o->may_lack ? json_pack("[s, O]", "given", o->value) : json_true();
}

/* Whether Python takes the operand for true. */
static json_t *is_true(const struct operand *o)
{
    if (o->types == IS_TRUTH)
        return json_incref(o->value);
    if (o->may_lack && o->types == IS_NUMBER)
        return json_pack("[s, O, i]", "!=", o->value, 0);
    if (!o->may_lack)
        return json_boolean(json_string_length(o->value) > 0 || json_number_value(o->value) != 0);
    return json_pack("[s, [s, O, b], [s, O, i], [s, O, s]]", "or", "=", o->value, 1, "!=", o->value, 0,
                     "!=", o->value, "");
}

static json_t *combined(const char *op, const struct operand *operands, size_t n)
{
    bool all = strcmp(op, "and") == 0;
    json_t *ret = json_pack("[s]", op);

    for (size_t i = 0; i < n; i++)
        (void)json_array_append_new(
            ret, all && operands[i].may_lack
                     ? json_pack("[s, [s, o], o]", "or", "not", given(&operands[i]), is_true(&operands[i]))
                     : is_true(&operands[i]));
    if (n > 0)
        return ret;
    json_decref(ret);
    return json_boolean(all);
}

/* At the top Nova asks whether one of them is not true; elsewhere whether there is one. */
static json_t *negated(const struct operand *operands, size_t n, bool top)
{
    json_t *ret = json_pack("[s, b]", "or", 0);

    for (size_t i = 0; i < n; i++)
        (void)json_array_append_new(
            ret, top ? json_pack("[s, o, [s, o]]", "and", given(&operands[i]), "not", is_true(&operands[i]))
                     : given(&operands[i]));
    return ret;
}

/* ---- comparisons ---- */

/* Values of two types are unequal. */
static json_t *compare(const char *op, const struct operand *x, const struct operand *y)
{
    unsigned types = x->types & y->types;
    bool equal = strcmp(op, "=") == 0 || strcmp(op, "in") == 0;
    json_t *ret = json_pack("[s, b]", "or", 0);

    if (equal && types && !x->is_list && !y->is_list)
        (void)json_array_append_new(ret, json_pack("[s, O, O]", "=", x->value, y->value));
    if (!equal && types & IS_NUMBER)
        (void)json_array_append_new(ret, json_pack("[s, O, O]", op, x->value, y->value));
    if (!equal && types & IS_TEXT)
        (void)json_array_append_new(ret, json_pack("[s+, O, O]", "s", op, x->value, y->value));
    return ret;
}

/* Whether the values have no order: it takes two numbers or two texts. */
static json_t *has_no_order(const char *op, const struct operand *x, const struct operand *y)
{
    unsigned types = x->types & y->types;
    json_t *ret = json_pack("[s, b]", "or", 0);

    (void)op;
    if (types & IS_NUMBER)
        (void)json_array_append_new(ret, json_pack("[s, [s, O, O], [s, O, O]]", "or", "<", x->value, y->value,
                                                   ">=", x->value, y->value));
    if (types & IS_TEXT)
        (void)json_array_append_new(ret, json_pack("[s, [s, O, O], [s, O, O]]", "or", "s<", x->value,
                                                   y->value, "s>=", x->value, y->value));
    return json_pack("[s, o]", "not", ret);
}

typedef json_t *compare_pair(const char *op, const struct operand *x, const struct operand *y);

/* The first operand with each other one: the values of all pairs under `join`. A host that lacks an operand:
 * the others move up. */
static json_t *compare_first(const char *join, const char *op, const struct operand *operands, size_t n,
                             compare_pair *pair)
{
    struct operand others[OPERANDS_MAX];
    size_t i = 0;

    while (i < n && !operands[i].may_lack)
        i++;
    if (i < n) {
        size_t to = 0;

        for (size_t o = 0; o < n; o++)
            if (o != i)
                others[to++] = operands[o];
        json_t *without = compare_first(join, op, others, to, pair);

        memcpy(others, operands, n * sizeof *others);
        others[i].may_lack = false;
        return json_pack("[s, o, o, o]", "if", given(&operands[i]), compare_first(join, op, others, n, pair),
                         without);
    }
    json_t *ret = json_pack("[s, b]", join, strcmp(join, "and") == 0 && n > 1);

    for (i = 1; i < n; i++)
        (void)json_array_append_new(ret, pair(op, &operands[0], &operands[i]));
    return ret;
}

/* Nova fails where it compares values without an order, wherever in the query: the host is refused. */
static int compared(const struct query *q, const char *op, const struct operand *operands, size_t n,
                    json_t **ret)
{
    bool is_in = strcmp(op, "in") == 0;
    unsigned lack = 0;

    for (size_t i = 0; i < n; i++)
        lack += operands[i].may_lack;
    if (lack > BRANCHES_MAX)
        return refuse(q, "more than three variables in one comparison");
    *ret = compare_first(is_in ? "or" : "and", op, operands, n, compare);
    if (!is_in && strcmp(op, "=") != 0)
        (void)json_array_append_new(
            q->whole, json_pack("[s, o]", "not", compare_first("or", op, operands, n, has_no_order)));
    return 0;
}

/* ---- lists ---- */

static int compile(struct query *q, const json_t *list, unsigned depth, struct operand *ret)
{
    static const char *const comparisons[] = {"=", "<", ">", "in", "<=", ">="};
    const char *op = json_string_value(json_array_get(list, 0));
    struct operand operands[OPERANDS_MAX];
    size_t n = 0;
    json_t *value = NULL;
    bool is;
    int e = 0;

    *ret = (struct operand){.types = IS_TRUTH};
    if (json_array_size(list) == 0) {
        ret->value = keep(q, json_true());
        return 0;
    }
    if (!op || depth > DEPTH_MAX || json_array_size(list) > OPERANDS_MAX)
        return refuse(q, "expected an operator and up to 63 operands, in up to seven lists in one another");
    for (size_t i = 1; e == 0 && i < json_array_size(list); i++) {
        e = read_operand(q, json_array_get(list, i), depth, &operands[n], &is);
        n += is;
    }
    if (e < 0)
        return e;
    ret->is_list = strcmp(op, "not") == 0;
    if (ret->is_list)
        value = negated(operands, n, depth == 0);
    else if (strcmp(op, "and") == 0 || strcmp(op, "or") == 0)
        value = combined(op, operands, n);
    for (size_t i = 0; !value && e == 0 && i < sizeof comparisons / sizeof *comparisons; i++)
        if (strcmp(op, comparisons[i]) == 0)
            e = compared(q, op, operands, n, &value);
    if (e == 0 && !value)
        return refuse(q, "an unknown operator, expected =, <, >, in, <=, >=, not, or, and");
    ret->value = value ? keep(q, value) : NULL;
    return e;
}

int nova_filter_json(struct cloud *c, const struct request *r, json_t **ret)
{
    const json_t *hint = json_object_get(r->hints, "query");
    const char *text = json_string_value(json_is_array(hint) ? json_array_get(hint, 0) : hint);
    struct query q = {.c = c, .where = r->hints_where};
    struct operand whole = {0};

    if (!text || !*text)
        return 0;
    json_t *query = json_loads(text, 0, NULL);

    q.kept = json_array();
    q.whole = json_pack("[s]", "and");
    int e = json_is_array(query) ? compile(&q, query, 0, &whole) : refuse(&q, "expected a list in JSON");

    if (e == 0)
        (void)json_array_append(q.whole, whole.value);
    if (e == 0)
        *ret = q.whole;
    else
        json_decref(q.whole);
    json_decref(query);
    json_decref(q.kept);
    return e;
}
