/* expression.h: the value of an expression (ballast/expression.h) for a VM and a host.
 *
 * Pure, and without allocation: what an expression reads is looked up before, once for each host, each group
 * and each class of VMs, and stands in rows of values. Depth and size are bounded where expressions are read.
 * Equal on all machines: only + - * /, floor and comparisons of numbers, and bytes of texts. */
#ifndef BALLAST_CORE_FIT_EXPRESSION_H
#define BALLAST_CORE_FIT_EXPRESSION_H

#include <ballast/arena.h>
#include <ballast/snapshot.h>

enum expression_owner { OWNER_HOST, OWNER_VM, OWNER_GROUP, OWNER_COUNT };

enum expression_owner expression_owner_of(enum expression_variable variable);

/* The value of a variable node, by the facts of its owner. Absent: the source does not know it. */
struct value expression_host_value(const struct host *h, const struct expression_node *variable);
struct value expression_vm_value(const struct snapshot *s, uint32_t vm,
                                 const struct expression_node *variable);
struct value expression_group_value(const struct host_group *g, const struct expression_node *variable);

/* What the external unit says of the VM; NULL: nothing. */
const struct unit_answer *expression_answer(const struct vm *v, const char *unit);

/* What moves change. value: of such a variable, for the VM on the host; UNKNOWN: absent. values: the same on
 * n hosts; hosts NULL: first, first + 1 ...; may be NULL, or return false if value is to be asked. */
struct expression_live {
    double (*value)(const void *with, uint32_t vm, const struct expression_node *variable, uint32_t host);
    const void *with;
    bool (*values)(const void *with, uint32_t vm, const struct expression_node *variable,
                   const uint32_t *hosts, uint32_t first, uint32_t n, double *ret);
};

/* What the operand of a node is on the hosts that are ranked; UNKNOWN: absent on all. */
struct expression_extremes {
    double least, most;
};

static inline double expression_between(const struct expression_extremes *e, double v)
{
    return e->least == e->most ? v - v : (v - e->least) / (e->most - e->least); /* UNKNOWN stays so */
}

/* The rows in which the variables' values stand: node.column is the place in its owner's row. */
struct expression_scope {
    const struct value *host, *vm;
    const struct value *groups;  /* a row for each group of the snapshot */
    uint32_t group_width;        /* values in one of these rows */
    const struct snapshot *snap; /* for the kinds of its groups */
    const uint32_t *host_groups; /* the groups that the host is in, ascending */
    uint32_t n_host_groups;
    const struct expression_live *live;           /* NULL: what moves change is absent */
    uint32_t vm_ix, host_ix;                      /* for it */
    const struct expression_extremes *over_hosts; /* by node; NULL: no hosts are ranked */
};

/* The value of a variable of the VM or the host. */
struct value expression_variable_value(const struct expression_node *variable,
                                       const struct expression_scope *scope);

/* The value of the expression. Its constant texts are sorted. */
struct value expression_value(const struct expression *x, const struct expression_scope *scope);

/* The value of one of its nodes that is not below an operator of groups. */
struct value expression_part_value(const struct expression *x, uint32_t node,
                                   const struct expression_scope *scope);

/* Whether the expression is true. A value of another type, or none, is not. */
bool expression_is_true(const struct expression *x, const struct expression_scope *scope);

/* The node that decides why the expression is not true: of operands that must all hold the first that does
 * not. `at` of expression_deciding(x, 0, scope) is where to begin. */
uint32_t expression_deciding(const struct expression *x, const struct expression_scope *scope);

/* Walks over the texts of a value: of a list, of the parts of a text, or the text itself. Begin with v alone.
 */
struct expression_texts {
    const struct value *v;
    uint32_t i;
    const char *at;
};

/* A text that need not end with a zero. */
struct expression_text {
    const char *text;
    size_t n;
};

bool expression_next_text(struct expression_texts *w, struct expression_text *ret);

/* Whether both are the same value. */
bool expression_value_same(const struct value *a, const struct value *b);

#endif
