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
#define EXPRESSION_DEPTH_MAX 16
#define EXPRESSION_NODES_MAX 512

enum expression_kind { EXPRESSION_CONSTANT, EXPRESSION_VARIABLE, EXPRESSION_OPERATOR };

struct expression_node {
    enum expression_kind kind;
    struct value is; /* of a constant */
    enum expression_variable variable;
    const char *name; /* of the attribute, label and so on; NULL: the variable has none */
    uint32_t column;  /* src/core/fit: where the variable's value is */
    enum expression_operator op;
    uint32_t n;   /* operands */
    uint32_t end; /* the node after this one and all its operands */
};

/* A node comes before its operands, which follow one another. */
struct expression {
    const struct expression_node *nodes;
    uint32_t n; /* 0: there is none */
};

#endif
