/* proactive.h: proactive operation (§7.1): wakes and power-offs under the demand forecast.
 *
 * A snapshot may hold a forecast of the total demand (snapshot.forecast; learned by
 * src/engine/knowledge/demand_profile.h). This module asks whether the hosts that are on or waking stay
 * within the range if each VM's demand grows as the total does. It only wakes hosts earlier or keeps them on;
 * a rise below RISE_LEAST does not count. Without a forecast, or with dpm.proactive false, no decision
 * changes. */
#ifndef BALLAST_CORE_POWER_PROACTIVE_H
#define BALLAST_CORE_POWER_PROACTIVE_H

#include "core/power/power.h"

/* The largest growth of each resource in a period. */
struct rise {
    double now[RES_COUNT];                  /* total demand of the VMs that take part, mean of 5 minutes */
    double part[RES_COUNT];                 /* of `now`: the part that pool limits allow */
    double factor[RES_COUNT];               /* forecast over now; 1: no rise */
    const struct expected *slot[RES_COUNT]; /* the forecast slot; NULL: no rise */
};

/* The total demand of all VMs, mean of the last 5 minutes. */
double proactive_now(const struct power *w, enum resource r);

/* The part of it that pool limits allow. */
double proactive_part_given(const struct power *w, enum resource r);

/* Whether the hosts that are on or waking would exceed the range at the forecast for the time at which a host
 * woken now can run VMs. Sets w->rise. */
bool proactive_needs(struct power *w);

/* How long a host woken for a rise at `woken` is kept on: until the quarter of an hour of the rise's start is
 * over. 0: the forecast shows no rise for that time any more. */
double proactive_wanted_s(const struct power *w, instant_s woken);

/* Scales the loads and the scores to w->rise, and back. The layout is the pass's own; ret_was restores w->u.
 */
void proactive_look_ahead(struct power *w, struct utilization *ret_was);
void proactive_look_back(struct power *w, const struct utilization *was);

/* Wakes hosts for w->rise as wake_hosts() does for the present demand. */
void proactive_wake(struct power *w);

/* Whether the slot, empty in the what-if, may go to standby: the forecast does not need it before the
 * power-off has paid. Else POWER_NEEDED_SOON. */
enum power_check proactive_lets_sleep(struct power *w, uint32_t slot, struct power_verdict *v);

/* ---- expected_finding.c ---- */

/* The finding of a wake for w->rise, and of keeping all hosts on for it. */
struct finding proactive_finding_wake(const struct power *w, uint32_t slot, const struct power_verdict *v);
struct finding proactive_finding_rise(const struct power *w);

/* The finding of a host that proactive_lets_sleep() keeps on. */
struct finding proactive_finding_needed(uint32_t host, const struct power_verdict *v);

/* The forecast of the next hours, for explain; NULL: none. */
const struct finding *proactive_finding_outlook(const struct power *w);

#endif
