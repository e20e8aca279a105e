/* expression.c: reads and writes expressions, with the operands and types of every operator. Evaluates
 * nothing. */
#include "model/expression.h"

#include "model/attributes.h"
#include "model/inventory_check.h"

#include <ballast/facts.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What a value may be; an attribute may be any. */
#define TRUTH (1u << VALUE_TRUTH)
#define NUMBER (1u << VALUE_NUMBER)
#define TEXT (1u << VALUE_TEXT)
#define TEXTS (1u << VALUE_TEXTS)
#define ONE (TRUTH | NUMBER | TEXT)
#define ANY (ONE | TEXTS)
#define KIND (1u << 30)       /* a constant text: the kind of groups */
#define CONDITIONS (1u << 29) /* a text; a constant must be conditions on a version */
#define MANY EXPRESSION_NODES_MAX
#define MEMBERS EXPRESSION_MEMBERS_MAX

struct signature {
    uint32_t least, most;
    unsigned first, rest; /* types of the first operand and of the others */
    unsigned gives;
};

static const struct signature signatures[expression_operator_count] = {
    [OPERATOR_AND] = {1, MANY, TRUTH, TRUTH, TRUTH},
    [OPERATOR_OR] = {1, MANY, TRUTH, TRUTH, TRUTH},
    [OPERATOR_NOT] = {1, 1, TRUTH, 0, TRUTH},
    [OPERATOR_IF] = {3, 3, TRUTH, ANY, ANY},
    [OPERATOR_GIVEN] = {1, 1, ANY, 0, TRUTH},
    [OPERATOR_DEFAULT] = {2, MANY, ANY, ANY, ANY},
    [OPERATOR_EQUAL] = {2, 2, ONE, ONE, TRUTH},
    [OPERATOR_UNEQUAL] = {2, 2, ONE, ONE, TRUTH},
    [OPERATOR_LESS] = {2, 2, NUMBER, NUMBER, TRUTH},
    [OPERATOR_AT_MOST] = {2, 2, NUMBER, NUMBER, TRUTH},
    [OPERATOR_MORE] = {2, 2, NUMBER, NUMBER, TRUTH},
    [OPERATOR_AT_LEAST] = {2, 2, NUMBER, NUMBER, TRUTH},
    [OPERATOR_BEFORE] = {2, 2, TEXT, TEXT, TRUTH},
    [OPERATOR_NOT_AFTER] = {2, 2, TEXT, TEXT, TRUTH},
    [OPERATOR_AFTER] = {2, 2, TEXT, TEXT, TRUTH},
    [OPERATOR_NOT_BEFORE] = {2, 2, TEXT, TEXT, TRUTH},
    [OPERATOR_SAME_LETTERS] = {2, 2, TEXT, TEXT, TRUTH},
    [OPERATOR_IN] = {2, MEMBERS, ANY, ANY, TRUTH},
    [OPERATOR_HAS_ALL] = {2, MEMBERS, ANY, ANY, TRUTH},
    [OPERATOR_CONTAINS] = {2, 2, TEXT, TEXT, TRUTH},
    [OPERATOR_STARTS_WITH] = {2, 2, TEXT, TEXT, TRUTH},
    [OPERATOR_ENDS_WITH] = {2, 2, TEXT, TEXT, TRUTH},
    [OPERATOR_VERSION] = {2, 2, TEXT, TEXT | CONDITIONS, TRUTH},
    [OPERATOR_ADD] = {2, MANY, NUMBER, NUMBER, NUMBER},
    [OPERATOR_SUBTRACT] = {2, 2, NUMBER, NUMBER, NUMBER},
    [OPERATOR_MULTIPLY] = {2, MANY, NUMBER, NUMBER, NUMBER},
    [OPERATOR_DIVIDE] = {2, 2, NUMBER, NUMBER, NUMBER},
    [OPERATOR_MIN] = {1, MANY, NUMBER, NUMBER, NUMBER},
    [OPERATOR_MAX] = {1, MANY, NUMBER, NUMBER, NUMBER},
    [OPERATOR_FLOOR] = {1, 1, NUMBER, 0, NUMBER},
    [OPERATOR_MOST_OF_HOSTS] = {1, 1, NUMBER, 0, NUMBER},
    [OPERATOR_BETWEEN_HOSTS] = {1, 1, NUMBER, 0, NUMBER},
    [OPERATOR_NUMBER] = {1, 1, TEXT | NUMBER, 0, NUMBER},
    [OPERATOR_SPLIT] = {1, 1, TEXT, 0, TEXTS},
    [OPERATOR_COUNT] = {1, 1, ANY, 0, NUMBER},
    [OPERATOR_ANY_GROUP] = {2, 2, KIND, TRUTH, TRUTH},
    [OPERATOR_ALL_GROUPS] = {2, 2, KIND, TRUTH, TRUTH},
    [OPERATOR_GROUPS] = {1, 1, KIND, 0, NUMBER},
    [OPERATOR_LEAST_OF_GROUPS] = {2, 2, KIND, NUMBER, NUMBER},
    [OPERATOR_MOST_OF_GROUPS] = {2, 2, KIND, NUMBER, NUMBER},
};

static const unsigned variable_types[expression_variable_count] = {
    [VARIABLE_HOST_ID] = TEXT,          [VARIABLE_HOST_NAME] = TEXT,
    [VARIABLE_HOST_CORES] = NUMBER,     [VARIABLE_HOST_CPU_MHZ] = NUMBER,
    [VARIABLE_HOST_MEM_MB] = NUMBER,    [VARIABLE_HOST_CPU_VENDOR] = TEXT,
    [VARIABLE_HOST_TRAITS] = TEXTS,     [VARIABLE_HOST_NETWORKS] = TEXTS,
    [VARIABLE_HOST_DATASTORES] = TEXTS, [VARIABLE_HOST_DEVICES] = TEXTS,
    [VARIABLE_HOST_CPU_MODES] = TEXTS,  [VARIABLE_HOST_LABEL] = TEXT,
    [VARIABLE_HOST_QUANTITY] = NUMBER,  [VARIABLE_HOST_USED] = NUMBER,
    [VARIABLE_HOST_LEFT] = NUMBER,      [VARIABLE_HOST_FREE_MEM] = NUMBER,
    [VARIABLE_HOST_LOAD] = NUMBER,      [VARIABLE_VM_GROUPS] = TEXTS,
    [VARIABLE_HOST_ATTRIBUTE] = ANY,    [VARIABLE_VM_ID] = TEXT,
    [VARIABLE_VM_NAME] = TEXT,          [VARIABLE_VM_VCPUS] = NUMBER,
    [VARIABLE_VM_MEM_MB] = NUMBER,      [VARIABLE_VM_KIND] = TEXT,
    [VARIABLE_HOST_OVER] = NUMBER,      [VARIABLE_VM_CPU_MHZ] = NUMBER,
    [VARIABLE_VM_FOLDER] = TEXT,        [VARIABLE_VM_OWNER] = TEXT,
    [VARIABLE_VM_LABEL] = TEXT,         [VARIABLE_VM_FLAVOR] = ANY,
    [VARIABLE_VM_IMAGE] = ANY,          [VARIABLE_VM_HINT] = ANY,
    [VARIABLE_ANSWER] = TRUTH | NUMBER, [VARIABLE_ANSWER_MULTIPLIER] = NUMBER,
    [VARIABLE_GROUP_ID] = TEXT,         [VARIABLE_GROUP_NAME] = TEXT,
    [VARIABLE_GROUP_META] = TEXT,       [VARIABLE_VM_HOST] = TEXT,
};

/* The expression that is being read. */
struct reading {
    const struct reader *r;
    struct expression_node nodes[EXPRESSION_NODES_MAX];
    uint32_t n;
    const char **members; /* of the constant texts that are being read */
};

static const char *expected_of(unsigned types)
{
    return types & KIND               ? "the kind of groups, a text"
           : types & CONDITIONS       ? "conditions on a version, such as \">=6.0, <7\""
           : types == TRUTH           ? "a condition, which is true or false"
           : types == NUMBER          ? "a number"
           : types == TEXT            ? "a text"
           : types == (TEXT | TEXTS)  ? "a text or texts"
           : types == (TEXT | NUMBER) ? "a text or a number"
                                      : "a number, a text, true or false";
}

/* ---- expressions ---- */

static struct expression_node *add(struct reading *x, const struct node *n, enum expression_kind kind)
{
    if (x->n == EXPRESSION_NODES_MAX) {
        (void)reader_complain(x->r, n, "one entry too many, expected at most %d in an expression",
                              EXPRESSION_NODES_MAX);
        return NULL;
    }
    x->nodes[x->n] = (struct expression_node){.kind = kind, .end = x->n + 1};
    return &x->nodes[x->n++];
}

static int read_variable(struct reading *x, const struct node *n, bool in_group, unsigned *ret_types)
{
    const char *text = node_text(n);
    struct expression_node *node = add(x, n, EXPRESSION_VARIABLE);

    if (!node)
        return -EINVAL;
    for (int v = 0; v < expression_variable_count; v++) {
        const char *word = expression_variable_name((enum expression_variable)v);
        size_t length = strlen(word);
        bool named = word[length - 1] == '.';

        if (named ? strncmp(text, word, length) != 0 : strcmp(text, word) != 0)
            continue;
        if (named && !inventory_check_is_name(text + length))
            return reader_refuse(x->r, n, "a name of at most 255 bytes after the last dot");
        if (strncmp(word, "$group.", strlen("$group.")) == 0 && !in_group)
            return reader_refuse(x->r, n, "it in the second operand of any_group and its like only");
        node->variable = (enum expression_variable)v;
        node->name = named ? arena_strdup(x->r->a, text + length) : NULL;
        *ret_types = variable_types[v];
        return 0;
    }
    return reader_refuse(x->r, n,
                         "a variable such as \"$host.cores\" or \"$vm.hints.NAME\", or \"$$\" for \"$\"");
}

static int read_constant(struct reading *x, const struct node *n, unsigned *ret_types)
{
    struct expression_node *node = add(x, n, EXPRESSION_CONSTANT);
    int e = node ? attributes_read_value(x->r, n, &node->is) : -EINVAL;

    if (e < 0)
        return e;
    if (node->is.type == VALUE_TEXT && node->is.text[0] == '$')
        node->is.text++; /* "$$" */
    *ret_types = 1u << node->is.type;
    return 0;
}

static int read_node(struct reading *x, const struct node *n, unsigned depth, bool in_group,
                     unsigned *ret_types);

/* Types of the operands that the operator's own table cannot tell. */
static int check_pair(const struct reading *x, const struct node *list, enum expression_operator op,
                      unsigned first, unsigned second)
{
    bool compares = op == OPERATOR_EQUAL || op == OPERATOR_UNEQUAL;

    return !compares || first & second ? 0 : reader_refuse(x->r, list, "two values of one type");
}

static int check_operand(const struct reading *x, const struct node *n, uint32_t at, unsigned allowed,
                         unsigned types)
{
    const struct expression_node *node = &x->nodes[at];
    bool constant = node->kind == EXPRESSION_CONSTANT;
    bool agrees;

    if (allowed & KIND)
        return constant && types == TEXT && inventory_check_is_name(node->is.text)
                   ? 0
                   : reader_refuse(x->r, n, expected_of(KIND));
    if (!(types & allowed))
        return reader_refuse(x->r, n, expected_of(allowed));
    if (allowed & CONDITIONS && constant && !version_agrees("0", node->is.text, &agrees))
        return reader_refuse(x->r, n, expected_of(CONDITIONS));
    return 0;
}

static bool is_text(const struct expression_node *n)
{
    return n->kind == EXPRESSION_CONSTANT && (n->is.type == VALUE_TEXT || n->is.type == VALUE_TEXTS);
}

/* Constant texts that follow one another as members are one node of texts: the last operand joins the one
 * before it. most: texts that there can be. */
static void join_member(struct reading *x, uint32_t before, size_t most)
{
    struct expression_node *list = &x->nodes[before];
    const char **items = x->members;

    if (list->is.type == VALUE_TEXT) {
        items = x->members = arena_array(x->r->a, const char *, most);
        items[0] = list->is.text;
        list->is = (struct value){.type = VALUE_TEXTS, .texts = {items, 1}};
    }
    items[list->is.texts.n++] = x->nodes[--x->n].is.text;
}

/* Reads the operands of the node ix. types: of the first, and of the others. */
static int read_operands(struct reading *x, const struct node *list, uint32_t ix, unsigned depth,
                         bool in_group, unsigned types[2])
{
    const enum expression_operator op = x->nodes[ix].op;
    const bool has_members = op == OPERATOR_IN || op == OPERATOR_HAS_ALL;
    const struct signature *s = &signatures[op];
    const struct node *n = list->first->next;
    uint32_t before = IX_NONE;
    int e = 0;

    for (uint32_t i = 0; e == 0 && n; i++, n = n->next) {
        unsigned allowed = i == 0 ? s->first : s->rest;
        uint32_t at = x->n;
        unsigned its = 0;

        if ((e = read_node(x, n, depth + 1, in_group || (i > 0 && s->first & KIND), &its)) == 0)
            e = check_operand(x, n, at, allowed, its);
        types[i > 0] |= its;
        if (e == 0 && has_members && i > 1 && is_text(&x->nodes[before]) && is_text(&x->nodes[at])) {
            join_member(x, before, list->n - i);
            continue;
        }
        before = at;
        x->nodes[ix].n++;
    }
    x->nodes[ix].end = x->n;
    return e;
}

static int read_operator(struct reading *x, const struct node *list, unsigned depth, bool in_group,
                         unsigned *ret_types)
{
    struct expression_node *node = add(x, list, EXPRESSION_OPERATOR);
    uint32_t ix = x->n - 1;
    unsigned types[2] = {0, 0};
    int e;

    if (!node)
        return -EINVAL;
    if (depth == EXPRESSION_DEPTH_MAX)
        return reader_complain(x->r, list, "too deep, expected at most %d lists in one another",
                               EXPRESSION_DEPTH_MAX);
    const struct node *n = list->first;

    if (!n)
        return reader_refuse(x->r, list, "an operator and its operands");
    if (!node_text(n) || expression_operator_parse(node_text(n), &node->op) < 0)
        return reader_refuse(x->r, n, "an operator such as \"and\" or \">=\"");
    const enum expression_operator op = node->op;
    const struct signature *s = &signatures[op];

    if (list->n - 1 < s->least || list->n - 1 > s->most)
        return reader_complain(x->r, list, "%s\"%s\" with %zu operands, expected %u%s",
                               list->json ? "" : "is ", expression_operator_name(op), list->n - 1, s->least,
                               s->most == s->least ? "" : " or more");
    if (in_group && s->first & KIND)
        return reader_refuse(x->r, n, "no operator of groups within another");
    e = read_operands(x, list, ix, depth, in_group, types);
    *ret_types = s->gives == ANY ? types[1] | (op == OPERATOR_DEFAULT ? types[0] : 0) : s->gives;
    return e < 0 ? e : check_pair(x, list, op, types[0], types[1]);
}

static int read_node(struct reading *x, const struct node *n, unsigned depth, bool in_group,
                     unsigned *ret_types)
{
    const char *text = n->kind == NODE_LIST ? NULL : node_text(n);

    if (n->kind == NODE_LIST)
        return read_operator(x, n, depth, in_group, ret_types);
    return text && text[0] == '$' && text[1] != '$' ? read_variable(x, n, in_group, ret_types)
                                                    : read_constant(x, n, ret_types);
}

static int read_of_type(const struct reader *r, const struct node *n, unsigned allowed, void *at)
{
    struct expression *ret = at;
    struct reading x = {.r = r, .n = 0};
    unsigned types = 0;
    int e = read_node(&x, n, 0, false, &types);

    if (e < 0)
        return e;
    if (!(types & allowed))
        return reader_refuse(r, n, expected_of(allowed));
    *ret = (struct expression){.nodes = arena_copy(r->a, x.nodes, x.n, sizeof *x.nodes), .n = x.n};
    return 0;
}

int expression_read(const struct reader *r, const struct node *n, void *at)
{
    return read_of_type(r, n, TRUTH, at);
}

int expression_read_number(const struct reader *r, const struct node *n, void *at)
{
    return read_of_type(r, n, NUMBER, at);
}

int expression_read_texts(const struct reader *r, const struct node *n, void *at)
{
    return read_of_type(r, n, TEXT | TEXTS, at);
}

bool expression_known(const void *at)
{
    return ((const struct expression *)at)->n > 0;
}

static void write_text(struct json_writer *w, const char *key, const char *first, const char *second)
{
    char text[2 * FACT_NAME_BYTES_MAX];

    (void)snprintf(text, sizeof text, "%s%s", first, second);
    jw_text(w, key, text);
}

static void write_constant(struct json_writer *w, const char *key, const struct value *v)
{
    if (v->type == VALUE_TEXT && v->text[0] == '$')
        write_text(w, key, "$", v->text);
    else
        attributes_write_value(w, key, v);
}

static void write_node(struct json_writer *w, const char *key, const struct expression *x, uint32_t at)
{
    const struct expression_node *node = &x->nodes[at];

    switch (node->kind) {
    case EXPRESSION_CONSTANT:
        if (node->is.type != VALUE_TEXTS)
            write_constant(w, key, &node->is);
        for (uint32_t i = 0; node->is.type == VALUE_TEXTS && i < node->is.texts.n; i++)
            write_constant(w, key, &(struct value){.type = VALUE_TEXT, .text = node->is.texts.items[i]});
        return;
    case EXPRESSION_VARIABLE:
        write_text(w, key, expression_variable_name(node->variable), node->name ? node->name : "");
        return;
    case EXPRESSION_OPERATOR:
        jw_begin(w, key, JW_ARRAY, JW_INLINE);
        jw_text(w, NULL, expression_operator_name(node->op));
        for (uint32_t i = at + 1; i < node->end; i = x->nodes[i].end)
            write_node(w, NULL, x, i);
        jw_end(w);
        return;
    }
}

const char *expression_variable_text(const struct expression_node *variable, struct arena *a)
{
    return arena_printf(a, "%s%s", expression_variable_name(variable->variable),
                        variable->name ? variable->name : "");
}

void expression_write_part(struct json_writer *w, const char *key, const struct expression *x, uint32_t node)
{
    write_node(w, key, x, node);
}

void expression_write(struct json_writer *w, const char *key, const void *at)
{
    write_node(w, key, at, 0);
}

void expression_copy(const void *from, void *to, struct arena *a)
{
    const struct expression *x = from;
    struct expression *ret = to;
    struct expression_node *nodes = arena_array(a, struct expression_node, x->n);

    for (uint32_t i = 0; i < x->n; i++) {
        nodes[i] = x->nodes[i];
        nodes[i].name = x->nodes[i].name ? arena_strdup(a, x->nodes[i].name) : NULL;
        nodes[i].is = attributes_copy_value(&x->nodes[i].is, a);
    }
    *ret = (struct expression){.nodes = nodes, .n = x->n};
}
