/* order.h: orders for qsort() and bsearch(); qsort() of a list that may be empty.
 *
 * Each order compares two elements that are of the type, or structs that begin with a member of it. */
#ifndef BALLAST_BASE_ORDER_H
#define BALLAST_BASE_ORDER_H

#include <stdint.h>
#include <stdlib.h>

/* As qsort(); `items` may be NULL where n is 0. */
static inline void order_sort(void *items, size_t n, size_t size, int (*order)(const void *, const void *))
{
    if (n > 0)
        qsort(items, n, size, order);
}

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
