/* order.h: orders for qsort() and bsearch().
 *
 * Each compares two elements that are of the type, or structs that begin with a member of it. */
#ifndef BALLAST_BASE_ORDER_H
#define BALLAST_BASE_ORDER_H

int order_texts(const void *a, const void *b);   /* const char *, by their bytes */
int order_names(const void *a, const void *b);   /* const char *, as a person expects them (natural.h) */
int order_numbers(const void *a, const void *b); /* double; the lowest first, none is NaN */
int order_indexes(const void *a, const void *b); /* uint32_t, the lowest first */

#endif
