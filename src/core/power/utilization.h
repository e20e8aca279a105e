/* utilization.h: whether the hosts that are on are too many or too few (§4.1).
 *
 * Utilization is demand over capacity: the mean of a window plus two standard deviations. Of the VMs of a
 * host together that is √((1 - ρ) Σσ² + ρ (Σσ)²), with the correlation ρ that was measured over the cluster
 * (of the same window and resource; 0 where none was: independent, variances add). What correlation adds
 * goes no further than what each of them wanted at the most: more than that all together cannot have wanted,
 * though two levels with three deviations make it so. The window is 5 minutes where it is asked
 * whether a host is above the range, so that hosts are woken quickly, and 40 minutes where it is asked
 * whether one is below, so that they are put to standby slowly. A VM on its way counts where it will be.
 * Hosts that are about to be switched off or serviced do not count: they are as good as gone. What a VM wants
 * beyond a limit counts nowhere (capped_demand.h).
 *
 * While some host is short, what VMs want right now stands in for the mean of 5 minutes wherever it is more:
 * a surge takes minutes to show in the mean, and hosts would be woken a few at a time while everybody waits.
 */
#ifndef BALLAST_CORE_UTILIZATION_H
#define BALLAST_CORE_UTILIZATION_H

#include "core/layout/layout.h"
#include "core/power/capped_demand.h"

/* "mean plus two standard deviations" */
#define UTILIZATION_DEVIATIONS 2

/* Of a unit, or of all that is on a slot. */
struct loads {
    double mean[WINDOW_COUNT][RES_COUNT];
    double variance[WINDOW_COUNT][RES_COUNT], deviation[WINDOW_COUNT][RES_COUNT]; /* Σσ², Σσ */
    double most[WINDOW_COUNT][RES_COUNT];                                         /* Σ of each one's most */
    double now[RES_COUNT];
};

/* Kept up to date while units are moved: utilization_move() beside layout_move(). */
struct utilization {
    const struct layout *l;
    const struct capped_demand *capped;     /* of the layout's VMs; made anew where it is NULL */
    double wanted[WINDOW_COUNT][RES_COUNT]; /* by all VMs in the mean, within their own limits only */
    double above, aim, below;               /* the range, and how far hosts that stay are filled at first */
    bool surge;                             /* some host is short right now */
    double rise[RES_COUNT]; /* how many times as much as now was wanted when hosts were missed; 0: unknown */
    struct loads *unit, *slot;
    double *high[RES_COUNT], *low[RES_COUNT]; /* by slot: the squares that the scores are made of */
};

/* What a what-if move changes, to be put back to the last digit. */
struct utilization_mark {
    uint32_t slot[2];
    struct loads loads[2];
};

/* At the worst-case demand; usual: without the early-wake penalty. */
struct unserved {
    double worst[RES_COUNT], usual[RES_COUNT];
};

static inline void unserved_add(struct unserved *to, const struct unserved *of, enum resource r, double by)
{
    to->worst[r] += by * of->worst[r];
    to->usual[r] += by * of->usual[r];
}

struct scores {
    double high[RES_COUNT], low[RES_COUNT];
};

/* u: zeroed, or of the same layout. */
void utilization_init(struct utilization *u, const struct layout *l, struct arena *a);

void utilization_move(struct utilization *u, uint32_t unit, uint32_t from, uint32_t to,
                      struct utilization_mark *ret);
void utilization_undo(struct utilization *u, const struct utilization_mark *mark);

/* All that is wanted times so much, of each resource: what would be. What is wanted right now is left aside.
 */
void utilization_scale(struct utilization *u, const double by[RES_COUNT]);

/* √Σ of the squares over the slots that count; O(slots). */
void utilization_score(const struct utilization *u, struct scores *ret);

/* Whether the slot counts: on or woken, and not about to leave. */
static inline bool utilization_counts(const struct layout *l, uint32_t slot)
{
    return layout_counts(l, slot) && !l->closing[slot];
}

/* Demand of so many deviations over capacity. */
double utilization_of(const struct utilization *u, const struct loads *loads, enum window w, enum resource r,
                      uint32_t slot);

/* What would go unserved on the slot were demand at its worst, MHz or MiB: the mean of an hour plus three
 * standard deviations (§4.2); or, under an early-wake penalty, as much as was wanted then, if that is
 * more.
 */
void utilization_unserved(const struct utilization *u, enum resource r, uint32_t slot, struct unserved *ret);

/* Whether nothing would with the unit there. */
bool utilization_holds_worst(const struct utilization *u, uint32_t unit, uint32_t slot);

/* Whether the slot's utilization in this window is at most `most` with the unit there. */
bool utilization_takes(const struct utilization *u, uint32_t unit, uint32_t slot, enum window w, double most);

/* What the slot's part of the high score would be without the unit: the squares of both resources. */
double utilization_high_without(const struct utilization *u, uint32_t unit, uint32_t slot);

/* The scores of a layout by themselves. */
void utilization_scores(const struct layout *l, double ret_high[RES_COUNT], double ret_low[RES_COUNT]);

#endif
