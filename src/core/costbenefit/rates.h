/* rates.h: how fast hosts copy memory to one another (§3.1.4).
 *
 * The rate of past migrations between the two hosts (the snapshot's migration_rates); without any, the lower
 * of the two hosts' own rates; without those, the setting. Built once per pass, then read only. A look-up is
 * O(1), or O(log n) for a source with n known pairs. */
#ifndef BALLAST_CORE_RATES_H
#define BALLAST_CORE_RATES_H

#include "core/layout/layout.h"

struct rates {
    const struct layout *l;
    double *own;     /* by slot, MiB/s */
    double *fastest; /* by slot: upper bound of the rate to any destination */
    double *into;    /* by slot: upper bound of the rate from any source */
    bool *single;    /* by slot: `fastest` is the rate to every destination */
    uint32_t *first; /* by host: index of its first pair in the snapshot's list; one element more for the end;
                        NULL: no known pairs */
    bool differ;     /* the hosts have different rates */
};

void rates_init(struct rates *r, const struct layout *l, struct arena *a);

/* The known pairs with the slot's host as source; NULL: none. */
const struct migration_rate *rates_pairs_of(const struct rates *r, uint32_t slot, uint32_t *ret_n);

/* MiB/s, more than 0. From a slot to itself: its own rate. */
double rates_between(const struct rates *r, uint32_t from_slot, uint32_t to_slot);

#endif
