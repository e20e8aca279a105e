/* sim_contradiction.h: what tests ask of the inside of a simulated cluster. */
#ifndef BALLAST_TESTS_UNIT_SIM_CONTRADICTION_H
#define BALLAST_TESTS_UNIT_SIM_CONTRADICTION_H

#include "sim/cluster/cluster.h"

/* Checks invariants of a cluster: no VM on two hosts or on a sleeping one, no more memory than there is,
 * no host that gives more than it has. NULL: all hold; else a sentence in the arena. */
const char *sim_contradiction(const struct cluster *c, struct arena *a);

/* The time of the next event; INFINITY: none. */
double sim_next_s(const struct cluster *c);

#endif
