/* deep_search.h: searches for a plan for balance that is better than the greedy one: more even where the
 * number of moves is limited, with fewer moves or less memory to copy where the target is reached.
 *
 * Large neighbourhood search (Shaw 1998): a round takes some moves of the plan back, forbids the first of
 * them, and lets the climb go on from there, which then finds other moves. The result is kept if it is
 * better, at the beginning also if it is a little worse (simulated annealing). All moves are those of climb.h
 * and exchange.h, and pass their checks. The moves of a kept plan are in an order in which each passes its
 * checks when it is made, the best first.
 *
 * The result depends on the input, the policy's seed and search_budget, not on the clock. */
#ifndef BALLAST_CORE_DEEP_SEARCH_H
#define BALLAST_CORE_DEEP_SEARCH_H

#include "core/balance/exchange.h"

/* A move, or an exchange. */
struct proposed {
    struct exchange_steps steps;
    uint32_t unit; /* of an exchange: the unit that the others make way for */
};

/* Moves for balance, in the order in which they are made. */
struct proposal {
    struct proposed *items;
    uint32_t n;
    size_t cap;
    uint64_t evaluated; /* by the search */
};

struct deep_goal {
    uint32_t vms_max; /* VMs that may move; UINT32_MAX: any number */
    double target;    /* imbalance at which balancing ends */
    int64_t level;    /* of the checks */
};

/* Searches from the moves of `from`, which are not made in the climb's layout yet. ret->n 0: no better plan
 * was found. Leaves the climb, its layout and its costs unusable. */
void deep_search(struct climb *c, struct exchange_search *exchanges, const struct deep_goal *goal,
                 const struct proposal *from, struct arena *a, struct proposal *ret);

/* Whether the move or exchange passes all checks at the climb's present level, at the least minimum goodness
 * of the present state. ret: as exchange_find() gives it, also of a single move. */
bool deep_search_passes(struct climb *c, const struct proposed *is, struct exchange *ret);

/* Adds one. */
void deep_search_add(struct proposal *p, const struct proposed *is, struct arena *a);

#endif
