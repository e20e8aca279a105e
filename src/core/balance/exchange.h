/* exchange.h: moves that only make sense together, where a single move has no room at its destination.
 *
 * A unit u of a host h would leave for a host c, which has no room for it (exchange.c says what counts as
 * room). Then a unit w of c makes way for it:
 *
 *    swap      u: h -> c    w: c -> h
 *    chain     u: h -> c    w: c -> x                   x has room for w
 *    rotation  u: h -> c    w: c -> x    v: x -> h
 *    two       u: h -> c    w: c -> h    v: c -> h      neither w nor v alone makes room for u
 *
 * The moves are put in an order in which each has room at its destination when it begins; where there is
 * none, one of the units waits on a host that has room for it (it moves twice). Each step passes the checks
 * of a move in the state that the steps before it leave. An exchange is judged like a move, as a whole: its
 * gain over the number of its migrations is at least the minimum goodness, and its benefit is worth the cost
 * of all of them
 * (../costbenefit/exchange_cost.h).
 *
 * The fewest migrations come first: an exchange of three is looked for only if none of two passes. Among
 * those of as many migrations the one that gains most is taken, then the cheaper one, then that of the lower
 * VMs.
 *
 * Complexity: sources and destinations are sorted by the difference of their loads, and pairs of them are
 * searched in windows of EXCHANGE_WINDOW each, until a window has an exchange. The units of the sources in a
 * window come in the order of the gain with the best imaginable unit in return. A unit is skipped if that
 * gain is below the minimum goodness or the best exchange so far, or if the exchange cannot pay. Of the units
 * of the destination only those are tried whose size lets both hosts hold what they get (exchange_room.h). A
 * third host is one of the first EXCHANGE_WINDOW destinations or of the EXCHANGE_WINDOW hosts with most room.
 * With v units a host that is at most n · W · v² trials for swaps, n · W² · v² for chains, n · W² · v³ for
 * rotations, n · W · v³ for two. The trials of a step and of a pass are limited. A small cluster is searched
 * completely (tests/property/exchange.c). */
#ifndef BALLAST_CORE_EXCHANGE_H
#define BALLAST_CORE_EXCHANGE_H

#include "core/balance/climb.h"
#include "core/balance/exchange_relief.h"
#include "core/balance/exchange_room.h"
#include "core/costbenefit/exchange_cost.h"

#define EXCHANGE_WINDOW 8

/* Limits of trials, after the first exchange of a step (1 ms), of a step (some ms), of a pass (0.1 s). */
#define EXCHANGE_TRIALS_BETTER 20000
#define EXCHANGE_TRIALS_STEP 100000
#define EXCHANGE_TRIALS_PASS 5000000

struct exchange {
    struct exchange_steps steps; /* n is 0: none */
    uint32_t unit;               /* u, which the others make way for */
    double gain;                 /* of all steps together; adjusted like that of a move */
    double copy_cost;            /* a lower bound of what copying costs, which decides between equal gains */
    struct migration_worth worth;
};

/* A slot by how much its load is above (below) the others', or by its room. */
struct exchange_slot {
    uint32_t slot;
    double by;
};

/* A unit that might leave for the destination of a pair (exchange.c), and an upper bound of the gain. */
struct exchange_leaver {
    uint32_t pair, unit;
    double most;
};

/* The search of one pass. */
struct exchange_search {
    struct exchange_slot *sources, *destinations, *roomy; /* scratch, by slot; the most first */
    uint64_t trials;                                      /* left of the pass */
    struct exchange_by_size room;
    struct exchange_relief relief;
    struct exchange_leaver *leavers; /* scratch */
    size_t cap_leavers;
};

void exchange_search_init(struct exchange_search *own, const struct layout *l);

/* Finds the best exchange at the climb's present level and minimum goodness. Call it where climb_step() finds
 * no move. The layout is the same afterwards. */
void exchange_find(struct exchange_search *own, struct climb *c, struct exchange *ret);

#endif
