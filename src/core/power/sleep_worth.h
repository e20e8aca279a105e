/* sleep_worth.h: what the engine must know of cost and benefit of a power-off. */
#ifndef BALLAST_CORE_SLEEP_WORTH_H
#define BALLAST_CORE_SLEEP_WORTH_H

#include <ballast/policy.h>
#include <ballast/snapshot.h>

/* Seconds. If demand is expected to stay low for so long, past quiet times keep no host on, however suddenly
 * they ended. */
double sleep_worth_enough_s(const struct snapshot *s, const struct policy *policy);

#endif
