/* expression.h: what the stages of a pipeline ask about a VM and a host: a small tree over their facts.
 *
 * In JSON and YAML a list is an operator and its operands, a text that begins with "$" is a variable ("$$"
 * for a text that begins with "$" itself), anything else is a constant:
 *
 *     ["and", [">=", "$host.attributes.cores", 8], ["in", "$vm.hints.zone", "$host.traits"]]
 *
 * names.h lists operators and variables. src/model/expression.h reads and writes expressions and refuses
 * wrong types; src/core/fit evaluates them. A variable without a value is absent: a comparison with an absent
 * value is not true, arithmetic with one is absent, and whatever is not the truth value true counts as false.
 */
#ifndef BALLAST_EXPRESSION_H
#define BALLAST_EXPRESSION_H

#include <ballast/names.h>

#include <stdbool.h>
#include <stdint.h>

/* Ids of objects, or names. */
struct ids {
    const char *const *items;
    uint32_t n;
};

enum value_type {
    VALUE_ABSENT,
    VALUE_TRUTH,
    VALUE_NUMBER, /* finite */
    VALUE_TEXT,
    VALUE_TEXTS,
    VALUE_PARTS, /* a text as the list of its parts between commas; only while an expression is evaluated */
};

struct value {
    enum value_type type;
    union {
        bool truth;
        double number;
        const char *text;
        struct ids texts;
    };
};

/* Values by name: what a host has, or what a VM asks for. */
struct attribute {
    const char *name;
    struct value is;
};

struct attributes {
    const struct attribute *items;
    uint32_t n;
};

#define ATTRIBUTES_MAX 1024
#define ATTRIBUTE_TEXTS_MAX 1024

/* Bounds of one expression. */
#define EXPRESSION_DEPTH_MAX 20
#define EXPRESSION_NODES_MAX 512
#define EXPRESSION_MEMBERS_MAX 65536 /* operands of `in` and `has_all` */

enum expression_kind { EXPRESSION_CONSTANT, EXPRESSION_VARIABLE, EXPRESSION_OPERATOR };

struct expression_node {
    enum expression_kind kind;
    struct value
        is; /* of a constant; texts: several constant operands of `in` or `has_all`, one after the other */
    enum expression_variable variable;
    const char *name; /* of the attribute, label and so on; NULL: the variable has none */
    uint32_t column;  /* src/core/fit: where the variable's value is; of $host.used and .left: the stage */
    enum expression_operator op;
    uint32_t n;   /* operands */
    uint32_t end; /* the node after this one and all its operands */
};

/* A node comes before its operands, which follow one another. */
struct expression {
    const struct expression_node *nodes;
    uint32_t n; /* 0: there is none */
};

/* Whether moves change what the variable is worth. */
static inline bool expression_variable_is_live(enum expression_variable v)
{
    return v == VARIABLE_HOST_USED || v == VARIABLE_HOST_LEFT || v == VARIABLE_HOST_FREE_MEM ||
           v == VARIABLE_HOST_LOAD;
}

/* Whether it is what an external unit says. */
static inline bool expression_variable_is_answer(enum expression_variable v)
{
    return v == VARIABLE_ANSWER || v == VARIABLE_ANSWER_MULTIPLIER;
}

/* Whether the node is of an operator over the hosts that are ranked. */
static inline bool expression_is_over_hosts(const struct expression_node *n)
{
    return n->kind == EXPRESSION_OPERATOR &&
           (n->op == OPERATOR_MOST_OF_HOSTS || n->op == OPERATOR_BETWEEN_HOSTS);
}

/* Whether moves change what the expression is worth: by a variable, or by which hosts are ranked. */
static inline bool expression_is_live(const struct expression *x)
{
    for (uint32_t i = 0; i < x->n; i++)
        if ((x->nodes[i].kind == EXPRESSION_VARIABLE && expression_variable_is_live(x->nodes[i].variable)) ||
            expression_is_over_hosts(&x->nodes[i]))
            return true;
    return false;
}

#endif
