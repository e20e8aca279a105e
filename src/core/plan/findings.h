/* findings.h: what is told of a decision, and of why a VM does not go to a host, as data (ballast/finding.h).
 */
#ifndef BALLAST_CORE_FINDINGS_H
#define BALLAST_CORE_FINDINGS_H

#include "core/plan/pass_state.h"

/* decision_finding.c: what a recommendation tells of its decision. vm: the one of its unit that it is for;
 * IX_NONE for a host. */
const struct finding *decision_finding(const struct pass *p, const struct decision *d, uint32_t vm);

/* check_finding.c: the figures behind a check of a VM and a host. worth: where the check is of cost and
 * benefit. */
const struct finding *check_finding(const struct pass *p, uint32_t vm, uint32_t host, enum check check,
                                    const struct migration_worth *worth);

#endif
