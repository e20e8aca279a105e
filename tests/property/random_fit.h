/* random_fit.h: random groups, attributes and pipelines. */
#ifndef BALLAST_TESTS_RANDOM_FIT_H
#define BALLAST_TESTS_RANDOM_FIT_H

#include "base/rng.h"

#include <ballast/inventory.h>

/* Traits and attributes of hosts, groups, what VMs ask for, and pipelines for most VMs. tame: stages that
 * leave most VMs some hosts; else any expression of the grammar. */
void random_fit(struct rng *r, struct inventory *inv, bool tame, struct arena *a);

/* Pipelines whose scores and buckets apply to moves, for most VMs, and the attributes that they read. Their
 * filters leave most hosts. */
void random_scores(struct rng *r, struct inventory *inv, struct arena *a);

/* NUMA cells and devices of most hosts and many VMs; sometimes a host has more in a cell than fits. */
void random_cells(struct rng *r, struct inventory *inv, struct arena *a);

#endif
