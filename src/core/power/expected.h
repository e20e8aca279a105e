/* expected.h: what the coming hours are expected to bring (§7.1, "proactive operation").
 *
 * A snapshot may say what all VMs together will want, as the days before have taught (snapshot.forecast;
 * src/engine/knowledge/demand_profile.h). From that it is judged whether the hosts that are on, or coming,
 * would still be within the range were every VM's demand to grow as the sum is expected to. It only ever
 * wakes hosts earlier, or keeps them on; a rise of less than RISE_LEAST is none. Without a forecast, or with
 * dpm.proactive false, nothing here changes any decision.
 */
#ifndef BALLAST_CORE_EXPECTED_H
#define BALLAST_CORE_EXPECTED_H

#include "core/power/power.h"

/* The largest growth of each resource in some time to come. */
struct rise {
    double now[RES_COUNT];                  /* the mean of 5 minutes of all VMs that take part */
    double part[RES_COUNT];                 /* of that, what the limits of pools let VMs get */
    double factor[RES_COUNT];               /* expected over now; 1: no rise */
    const struct expected *slot[RES_COUNT]; /* what it is expected from; NULL: no rise */
};

/* What all VMs together wanted over the last 5 minutes. */
double expected_now(const struct power *w, enum resource r);

/* Whether the hosts that are on and coming would be above the range at what is expected by the time that a
 * host which is woken now can be of use; sets w->rise. */
bool expected_needs(struct power *w);

/* How long a host that was woken then for a rise is wanted: the rise begins before one that is woken is of
 * use, and is through, or has not come, when its quarter of an hour is over. 0: nothing is expected of that
 * time any more. */
double expected_wanted_s(const struct power *w, instant_s woken);

/* Wakes for w->rise what high utilization would be woken for then. */
void expected_wake(struct power *w);

/* Whether the slot, which the what-if has emptied, may go to standby: what is expected does not need it again
 * before being off has paid. POWER_NEEDED_SOON: it does. */
enum power_check expected_lets_sleep(struct power *w, uint32_t slot, struct power_verdict *v);

/* ---- expected_finding.c ---- */

/* Of w->rise: what hosts are woken or kept on for. */
struct finding expected_finding_wake(const struct power *w, uint32_t slot, const struct power_verdict *v);
struct finding expected_finding_rise(const struct power *w);

/* Of a host that expected_lets_sleep() has kept on. */
struct finding expected_finding_needed(uint32_t host, const struct power_verdict *v);

/* What the next hours bring, for who asks about a host; NULL: nothing is expected. */
const struct finding *expected_finding_outlook(const struct power *w);

#endif
