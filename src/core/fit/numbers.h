/* numbers.h: the value of an expression on many hosts at once.
 *
 * Where an expression is about numbers, its nodes are evaluated in columns, a block of hosts at a time. Other
 * expressions are evaluated once for each profile of hosts, or host by host where they read what moves
 * change. All ways give the same values as expression_value(). */
#ifndef BALLAST_CORE_FIT_NUMBERS_H
#define BALLAST_CORE_FIT_NUMBERS_H

#include "core/fit/fit.h"

/* What is known of a node before it is evaluated. */
enum shape {
    SHAPE_FIXED,  /* the same on all hosts: of the VM alone */
    SHAPE_NUMBER, /* a number or absent */
    SHAPE_TRUTH,  /* true or false */
    SHAPE_TEXT,   /* a text of the host or absent; most hosts have another */
    SHAPE_OTHER   /* host by host */
};

/* shapes.c: finds the expressions that can be evaluated in columns, and those columns. After the rows of
 * hosts. */
void fit_numbers_compile(struct fit *fit, struct arena *a);

/* On each of the hosts (NULL: the first n of the snapshot): the number that the expression is; UNKNOWN: none.
 * of: the VM's values and, where the expression reads it, what moves change; its host does not matter. */
void fit_numbers(const struct fit *fit, const struct fit_expression *x, const struct expression_scope *of,
                 const uint32_t *hosts, uint32_t n, struct arena *a, double *ret);

/* The scope's over_hosts, by node, of the hosts whose `left` is 0 (UNKNOWN: it does not count). values:
 * scratch, by host. */
void fit_over_hosts(const struct fit *fit, const struct fit_expression *x, const struct expression_scope *of,
                    const uint32_t *hosts, const double *left, uint32_t n, double *values,
                    struct expression_extremes *ret);

/* The hosts of the snapshot on which the expression is true, a bit each; moves must not change it. ret:
 * zeros.
 */
void fit_truths(const struct fit *fit, const struct fit_expression *x, const struct expression_scope *of,
                struct arena *a, uint64_t *ret);

#endif
