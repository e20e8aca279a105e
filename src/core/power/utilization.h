/* utilization.h: whether too many or too few hosts are on (§4.1).
 *
 * Utilization is demand over capacity: the mean of a window plus two standard deviations. The deviation of a
 * host's VMs together is √((1 - ρ) Σσ² + ρ (Σσ)²), with the correlation ρ measured over the cluster for this
 * window and resource (0, independent VMs, if it was not measured). The part due to correlation is limited by
 * the sum of the VMs' maxima. The window is 5 minutes for "above the range", so that hosts wake quickly, and
 * 40 minutes for "below the range", so that they go to standby slowly. A migrating VM counts on its
 * destination. Hosts that are about to be powered off or serviced do not count. Demand beyond a limit does
 * not count (capped_demand.h).
 *
 * While some host has a shortage, the present demand replaces the mean of 5 minutes wherever it is higher: a
 * surge takes minutes to show in the mean, and hosts would wake a few at a time. */
#ifndef BALLAST_CORE_UTILIZATION_H
#define BALLAST_CORE_UTILIZATION_H

#include "core/layout/layout.h"
#include "core/power/capped_demand.h"

/* §4.1: "mean plus two standard deviations" */
#define UTILIZATION_DEVIATIONS 2

/* The demand of a unit, or of all units of a slot. */
struct loads {
    double mean[WINDOW_COUNT][RES_COUNT];
    double variance[WINDOW_COUNT][RES_COUNT], deviation[WINDOW_COUNT][RES_COUNT]; /* Σσ², Σσ */
    double most[WINDOW_COUNT][RES_COUNT];                                         /* Σ of the VMs' maxima */
    double now[RES_COUNT];
    double rise[RES_COUNT]; /* when the cluster's demand rose most within minutes */
    double able[RES_COUNT]; /* what the VMs can use at most: vCPUs and configured memory, or limits */
};

/* Call utilization_move() with each layout_move(). */
struct utilization {
    const struct layout *l;
    const struct capped_demand *capped;     /* of the layout's VMs; NULL: computed by utilization_init() */
    double wanted[WINDOW_COUNT][RES_COUNT]; /* Σ mean demand of all VMs, within their own limits only;
                                               utilization_init() */
    double above, aim, below; /* the range, and the first fill level of the hosts that stay on */
    bool surge;               /* some host has a shortage now */
    double rise[RES_COUNT]; /* demand of a sudden rise over present demand, which hosts that receive VMs must
                             * serve; 0: none (sleep_worth_expect()) */
    bool
        rise_is_missed[RES_COUNT]; /* sudden rises need more hosts than stay on, and time off pays for them */
    struct loads *unit, *slot;
    double *high[RES_COUNT], *low[RES_COUNT]; /* by slot: the squares that make up the scores */
};

/* Restores the state before a what-if move to the last digit. */
struct utilization_mark {
    uint32_t slot[2];
    struct loads loads[2];
};

struct scores {
    double high[RES_COUNT], low[RES_COUNT];
};

/* u: zeroed, or of the same layout. */
void utilization_init(struct utilization *u, const struct layout *l, struct arena *a);

void utilization_move(struct utilization *u, uint32_t unit, uint32_t from, uint32_t to,
                      struct utilization_mark *ret);
void utilization_undo(struct utilization *u, const struct utilization_mark *mark);

/* Multiplies the demand of each resource, to judge a forecast. Ignores a surge. */
void utilization_scale(struct utilization *u, const double by[RES_COUNT]);

/* √Σ of the squares over the slots that count; O(slots). */
void utilization_score(const struct utilization *u, struct scores *ret);

/* Whether the slot counts: on or woken by the plan, and staying on. */
static inline bool utilization_counts(const struct layout *l, uint32_t slot)
{
    return layout_counts(l, slot) && !l->closing[slot];
}

/* (Mean + deviations) over capacity. */
double utilization_of(const struct utilization *u, const struct loads *loads, enum window w, enum resource r,
                      uint32_t slot);

/* Worst-case demand of the slot with the unit on it, MHz or MiB: mean of an hour plus four standard
 * deviations, where each VM's deviation is that of the last hour or, if higher, its usual one; or the demand
 * of a sudden rise if that is higher: all VMs' in proportion to their demand, or each VM's own. */
double utilization_worst(const struct utilization *u, uint32_t unit, uint32_t slot, enum resource r);

/* The part of a sudden rise in that: the demand of the slot with the unit on it at one. */
double utilization_risen(const struct utilization *u, uint32_t unit, uint32_t slot, enum resource r);

/* Whether the slot serves its worst-case demand with the unit on it. */
bool utilization_holds_worst(const struct utilization *u, uint32_t unit, uint32_t slot);

/* Whether the slot's utilization in this window is at most `most` with the unit on it. */
bool utilization_takes(const struct utilization *u, uint32_t unit, uint32_t slot, enum window w, double most);

/* The slot's part of the squared high scores without the unit. */
double utilization_high_without(const struct utilization *u, uint32_t unit, uint32_t slot);

/* The scores of a layout. capped: of its VMs; it does not depend on where they are. */
void utilization_scores(const struct layout *l, const struct capped_demand *capped,
                        double ret_high[RES_COUNT], double ret_low[RES_COUNT]);

#endif
