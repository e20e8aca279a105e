/* demand_correlation.h: how far VMs rise and fall together, measured.
 *
 * Were each VM's demand to vary for itself, the variance of their sum would be the sum of their variances;
 * did all vary as one, its standard deviation would be the sum of their standard deviations. Where the
 * measured one lies between the two says how far they go together: var(Σx) = (1 - ρ) Σσ² + ρ (Σσ)². One ρ for
 * a window and a resource, over all VMs of the cluster, so that migrations change nothing.
 *
 * Each VM counts with how far it was from its own mean whenever it was seen, and with nothing when it was
 * not: one that comes or goes makes no step in the sum.
 */
#ifndef BALLAST_ENGINE_KNOWLEDGE_DEMAND_CORRELATION_H
#define BALLAST_ENGINE_KNOWLEDGE_DEMAND_CORRELATION_H

#include "engine/knowledge/demand_history.h"

/* The present, and one place for each time that samples can have within the hour. */
#define DEMAND_CORRELATION_TIMES (DEMAND_HISTORY_LENGTH_S / DEMAND_HISTORY_SPACING_S + 2)

/* What the VMs do that were described so far. Begins as {0}. */
struct demand_correlation {
    double away[WINDOW_COUNT][RES_COUNT][DEMAND_CORRELATION_TIMES]; /* Σ over VMs: how far from their means */
    bool seen[WINDOW_COUNT][DEMAND_CORRELATION_TIMES];
    double squares[WINDOW_COUNT][RES_COUNT], deviations[WINDOW_COUNT][RES_COUNT]; /* Σ of s, of √s */
};

/* Where a time is kept that lies so many seconds back, 0 <= ago <= DEMAND_HISTORY_LENGTH_S: samples of a VM
 * that keep their distance have places of their own, those of one look all the same. */
static inline uint32_t demand_correlation_at(instant_s ago)
{
    return ((uint32_t)ago + DEMAND_HISTORY_SPACING_S - 1) / DEMAND_HISTORY_SPACING_S;
}

/* One VM, all of whose times have been added in away and seen: the sum of the squares of what was added. */
void demand_correlation_end(struct demand_correlation *t, enum window w, enum resource r, double squares);

/* 0 where there are too few samples to tell. What independent VMs may show by chance is taken off. */
struct correlation demand_correlation_result(const struct demand_correlation *t);

#endif
