/* cluster_demand.h: what all VMs want together: watched, kept by quarters of an hour, expected. */
#ifndef BALLAST_ENGINE_KNOWLEDGE_CLUSTER_DEMAND_H
#define BALLAST_ENGINE_KNOWLEDGE_CLUSTER_DEMAND_H

#include "engine/knowledge/demand_profile.h"
#include "engine/knowledge/knowledge.h"

extern const struct knowledge_ops cluster_demand_ops;

const struct demand_profile *cluster_demand_profile(const struct cluster_demand *d);
/* The time zone in which days are days. */
const char *cluster_demand_zone(const struct cluster_demand *d);
/* An action was approved: perhaps the wake of a host for what is expected. */
void cluster_demand_approved(struct cluster_demand *d, const struct action_record *r, instant_s now);

#endif
