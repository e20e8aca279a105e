/* sim.h: the cluster that is not there as a source (`source: kind: sim`): pretend_collector, which the
 * simulator (src/sim) brings along with the cluster itself. */
#ifndef BALLAST_COLLECTORS_SIM_H
#define BALLAST_COLLECTORS_SIM_H

#include "sim/pretend/pretend.h"

#endif
