/* faults.h: what the steps below found and an admin is to know, said as faults. plan_report_state() (plan.h)
 * asks for all of it. */
#ifndef BALLAST_CORE_FAULTS_H
#define BALLAST_CORE_FAULTS_H

#include "core/plan/pass_state.h"

/* pool_faults.c: each pool in which more is reserved than there is, and the cluster. */
void plan_report_pools(struct pass *p);

/* sample_faults.c: each VM whose figures are missing or cannot be right, and that there are too many. */
void plan_report_samples(struct pass *p);

/* rule_faults.c: the rules that no plan can keep. */
void plan_report_rules(struct pass *p);

#endif
