/* naive_fit.h: what a pipeline says of a VM and a host, evaluated in the slowest way and from the
 * documentation of the operators alone: no columns, no classes, no bitmaps. */
#ifndef BALLAST_TESTS_NAIVE_FIT_H
#define BALLAST_TESTS_NAIVE_FIT_H

#include <ballast/snapshot.h>

bool naive_is_true(const struct snapshot *s, const struct expression *x, uint32_t vm, uint32_t host);

/* Whether the filter of the stage keeps the host, for this use. */
bool naive_keeps(const struct snapshot *s, uint32_t stage, enum fit_use use, uint32_t vm, uint32_t host);

/* Whether every filter of this use that the VM's pipeline has keeps the host; those that moves change are
 * left out. */
bool naive_fits(const struct snapshot *s, enum fit_use use, uint32_t vm, uint32_t host);

/* The state of the cluster. is_on: whether another VM takes there, or, with off, is listed there; load and
 * free_mem_mb: of the host without the VM. */
struct naive_state {
    bool (*is_on)(const void *with, uint32_t vm, uint32_t host, bool off);
    double (*load)(const void *with, uint32_t vm, uint32_t host);
    double (*free_mem_mb)(const void *with, uint32_t vm, uint32_t host); /* NaN: not known */
    const void *with;
};

/* Whether the VM may join those on the host, by the counts of its pipeline. */
bool naive_counts_allow(const struct snapshot *s, enum fit_use use, uint32_t vm, uint32_t host,
                        const struct naive_state *state);

/* Whether every filter of this use that moves change keeps the host now. Adds 1 to *ret_asked for each. */
bool naive_live_allows(const struct snapshot *s, enum fit_use use, uint32_t vm, uint32_t host,
                       const struct naive_state *state, unsigned *ret_asked);

/* The number that an expression without counts is for the VM on the host; NaN: none. */
double naive_number(const struct snapshot *s, const struct expression *x, uint32_t vm, uint32_t host);

#endif
