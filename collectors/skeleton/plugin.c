/* plugin.c: collector and actuator side by side, for src/plugins. */
#include "actuators/skeleton/skeleton.h"
#include "collectors/skeleton/skeleton.h"

const struct plugin skeleton_plugin = {
    .collector = &skeleton_collector,
    .actuator = &skeleton_actuator,
};
