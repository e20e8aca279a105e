/* rates.h: how fast memory is copied from one slot to another (§3.1.4).
 *
 * What past migrations between the two hosts have shown (the snapshot's migration_rates); of a pair without
 * any, the slower of the two hosts' own rates; of a host that has none, the setting. Built once a pass, read
 * only after; a look-up is O(1), and O(log n) for the n pairs that are known of the source, if there are any.
 */
#ifndef BALLAST_CORE_RATES_H
#define BALLAST_CORE_RATES_H

#include "core/layout/layout.h"

struct rates {
    const struct layout *l;
    double *own;     /* by slot, MiB/s */
    double *fastest; /* by slot: at least the rate to any destination */
    double *into;    /* by slot: at least the rate from anywhere */
    bool *single;    /* by slot: ... and that is the rate to every one of them */
    uint32_t *first; /* by host: its first pair in the snapshot's list, and one past the last host's; NULL: no
                      * pair is known */
    bool differ;     /* not all of them are the same */
};

void rates_init(struct rates *r, const struct layout *l, struct arena *a);

/* The pairs that are known of the slot's host as source; NULL: none. */
const struct migration_rate *rates_pairs_of(const struct rates *r, uint32_t slot, uint32_t *ret_n);

/* MiB/s, more than 0. Between a slot and itself: its own rate. */
double rates_between(const struct rates *r, uint32_t from_slot, uint32_t to_slot);

#endif
