/* libvirt_actuator.h: the actuator of plain KVM hosts. */
#ifndef BALLAST_ACTUATORS_LIBVIRT_LIBVIRT_ACTUATOR_H
#define BALLAST_ACTUATORS_LIBVIRT_LIBVIRT_ACTUATOR_H

#include <ballast/actuator.h>

extern const struct actuator_ops libvirt_actuator;

#endif
