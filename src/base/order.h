/* order.h: orders for qsort() and bsearch().
 *
 * Each compares two elements that are of the type, or structs that begin with a member of it. */
#ifndef BALLAST_BASE_ORDER_H
#define BALLAST_BASE_ORDER_H

#include <stdint.h>

int order_texts(const void *a, const void *b);   /* const char *, by their bytes */
int order_names(const void *a, const void *b);   /* const char *, as a person expects them (natural.h) */
int order_numbers(const void *a, const void *b); /* double; the lowest first, none is NaN */
int order_indexes(const void *a, const void *b); /* uint32_t, the lowest first */

/* An object by its index, with its size: what is to be sorted by it. */
struct sized {
    double size;
    uint32_t index;
};

int order_largest(const void *a, const void *b); /* struct sized, the largest first; then by their index */

#endif
