/* proxmox_actuator.h: the actuator of a Proxmox VE cluster (`source: kind: proxmox`). See README.md. */
#ifndef BALLAST_ACTUATORS_PROXMOX_ACTUATOR_H
#define BALLAST_ACTUATORS_PROXMOX_ACTUATOR_H

#include <ballast/actuator.h>

extern const struct actuator_ops proxmox_actuator;

#endif
