/* sim.h: the actuators for the cluster that is not there (`source: kind: sim`): pretend_actuator, which the
 * simulator (src/sim) brings along with the cluster itself. */
#ifndef BALLAST_ACTUATORS_SIM_H
#define BALLAST_ACTUATORS_SIM_H

#include "sim/pretend/pretend.h"

#endif
