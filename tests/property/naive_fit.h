/* naive_fit.h: what a pipeline says of a VM and a host, evaluated in the slowest way and from the
 * documentation of the operators alone: no columns, no classes, no bitmaps. */
#ifndef BALLAST_TESTS_NAIVE_FIT_H
#define BALLAST_TESTS_NAIVE_FIT_H

#include <ballast/snapshot.h>

bool naive_is_true(const struct snapshot *s, const struct expression *x, uint32_t vm, uint32_t host);

/* Whether every stage of this use that the VM's pipeline has keeps the host. */
bool naive_fits(const struct snapshot *s, enum fit_use use, uint32_t vm, uint32_t host);

/* Whether the VM may join those on the host, by the counts of its pipeline. is_on: whether another VM takes
 * there. */
bool naive_counts_allow(const struct snapshot *s, enum fit_use use, uint32_t vm, uint32_t host,
                        bool (*is_on)(const void *with, uint32_t vm, uint32_t host), const void *with);

/* The number that an expression without counts is for the VM on the host; NaN: none. */
double naive_number(const struct snapshot *s, const struct expression *x, uint32_t vm, uint32_t host);

#endif
