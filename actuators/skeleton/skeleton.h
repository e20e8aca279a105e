/* skeleton.h: a whole actuator in one file, for a hypervisor that does not exist. Copy it to begin one. */
#ifndef BALLAST_ACTUATORS_SKELETON_H
#define BALLAST_ACTUATORS_SKELETON_H

#include <ballast/actuator.h>

extern const struct actuator_ops skeleton_actuator;

#endif
