/* plan_bound.h: a proved lower bound of the imbalance after any plan that moves a given number of VMs.
 *
 * A plan moves each VM to one host or leaves it. A relaxed plan moves any part of each VM to any hosts, and
 * all parts together are at most the given number of VMs. Each plan is also a relaxed plan, so none is more
 * even than the best relaxed plan.
 *
 * The imbalance I = Σ_r w_r σ_r is convex, because σ is a norm of N less its mean. For any prices y_r of the
 * hosts that add up to 0 and have the norm w_r / √n at most, Cauchy and Schwarz give I >= Σ_r y_r · N_r: the
 * bound. The right side is linear in the moves, so its least value is known: the VMs that save most, each to
 * the host with the lowest price. The gradients of I along the way of Frank and Wolfe (1956) are such prices,
 * and so is each mean of them; the largest bound counts. So a search that ends early gives a lower bound, not
 * a wrong one.
 *
 * The weights are those of the state that the plan reaches. Moves that do not change the loads at the end (a
 * VM that waits on a third host) only use up moves. The bound does not cover hosts that are woken or put to
 * standby.
 *
 * Complexity: rounds × (V log V + V × hosts with the lowest prices), at most PLAN_BOUND_ROUNDS rounds. */
#ifndef BALLAST_CORE_PLAN_BOUND_H
#define BALLAST_CORE_PLAN_BOUND_H

#include "core/layout/layout.h"

#define PLAN_BOUND_ROUNDS 200

/* A VM that may be moved, or with the rules a unit. */
struct bound_item {
    uint32_t slot, vms;
    double load[RES_COUNT];  /* MHz, MiB */
    const uint64_t *allowed; /* hosts; NULL: every one */
};

/* A host at its price for 1 MHz and 1 MiB. */
struct bound_price {
    double of[RES_COUNT];
    uint32_t slot;
};

/* An item at the host where it saves most. */
struct bound_saving {
    double each; /* for each VM of the item; below 0 */
    uint32_t item, to_slot;
};

struct plan_bound {
    const struct layout *l;
    struct bound_item *items;
    uint32_t n_items;
    double *start[RES_COUNT]; /* N by slot, as the layout was at the beginning */
    /* scratch, by slot or item */
    double *norm[RES_COUNT], *price[RES_COUNT], *corner[RES_COUNT];
    struct bound_price *cheapest;
    struct bound_saving *savings;
};

/* Takes the layout's present state as the beginning. with_rules: only what may move for balance moves, and
 * only to hosts that its rules, its pipeline and its needs allow; what other moves could change (capacity,
 * anti-affinity) is left aside. entitlement: by resource, then VM. */
void plan_bound_begin(struct plan_bound *b, const struct layout *l, double *const entitlement[RES_COUNT],
                      bool with_rules, struct arena *a);

/* The bound: no plan that moves `vms` VMs ends at a lower imbalance. */
double plan_bound_imbalance(struct plan_bound *b, const double weight[RES_COUNT], uint32_t vms);

/* The least number of VMs: no plan that moves fewer reaches this imbalance; most: a number that does. */
uint32_t plan_bound_vms(struct plan_bound *b, const double weight[RES_COUNT], double target, uint32_t most);

#endif
