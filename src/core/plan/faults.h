/* faults.h: faults that exist before the pass decides anything. plan_report_state() (plan.h) calls all of
 * them. */
#ifndef BALLAST_CORE_FAULTS_H
#define BALLAST_CORE_FAULTS_H

#include "core/plan/pass_state.h"

/* pool_faults.c: each pool with excess reservations, and the cluster. */
void plan_report_pools(struct pass *p);

/* sample_faults.c: each VM with missing or impossible samples, and one fault if there are too many. */
void plan_report_samples(struct pass *p);

/* avoid_faults.c: everything that failed and is not tried again yet. */
void plan_report_avoided(struct pass *p);

/* rule_faults.c: each rule that no plan can satisfy. */
void plan_report_rules(struct pass *p);

#endif
