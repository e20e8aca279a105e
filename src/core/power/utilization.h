/* utilization.h: whether the hosts that are on are too many or too few (§4.1). */
#ifndef BALLAST_CORE_UTILIZATION_H
#define BALLAST_CORE_UTILIZATION_H

#include "core/layout/layout.h"

/* high: how far hosts are above the range (mean + 2 σ of demand over 5 minutes, so that hosts are woken
 * quickly); low: how far they are below it (over 40 minutes, so that they are put to sleep slowly). The
 * demands of different VMs are taken as independent: their variances add. */
void utilization_scores(const struct layout *l, double ret_high[RES_COUNT], double ret_low[RES_COUNT]);

#endif
