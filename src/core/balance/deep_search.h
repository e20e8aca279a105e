/* deep_search.h: a plan for balance that is better than the greedy one: more even where the number of moves
 * is limited, or fewer moves and less memory to copy where the target is reached.
 *
 * Large neighbourhood search (Shaw 1998): take some moves of the plan back, hold the first of them, and let
 * the climb go on from there, which now finds other moves; keep the result if it is better, at the beginning
 * also if it is a little worse (simulated annealing). So all steps are those of climb.h and exchange.h, and
 * pass their checks. A plan that is kept is put in an order in which each of its moves passes its checks when
 * it is made, the best first.
 *
 * The policy's seed and search_budget decide alone: the same input gives the same plan. */
#ifndef BALLAST_CORE_DEEP_SEARCH_H
#define BALLAST_CORE_DEEP_SEARCH_H

#include "core/balance/exchange.h"

/* A move, or an exchange. */
struct proposed {
    struct exchange_steps steps;
    uint32_t unit; /* which the others make way for */
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
    double target;    /* imbalance that is even enough */
    int64_t level;    /* of the checks */
};

/* Searches from the moves of `from`, which the climb's state does not have yet. ret->n is 0: nothing better
 * was found. The climb, its layout and costs are changed and of no further use. */
void deep_search(struct climb *c, struct exchange_search *exchanges, const struct deep_goal *goal,
                 const struct proposal *from, struct arena *a, struct proposal *ret);

/* Whether the move or exchange passes all checks at the climb's present level, at the least minimum goodness
 * of the present state. ret: as exchange_find() gives it, also of a single move. */
bool deep_search_passes(struct climb *c, const struct proposed *is, struct exchange *ret);

/* Adds one. */
void deep_search_add(struct proposal *p, const struct proposed *is, struct arena *a);

#endif
