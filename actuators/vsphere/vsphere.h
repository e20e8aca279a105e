/* vsphere.h: acts on a cluster of a vCenter over its SOAP API (`source: kind: vsphere`). README.md tells how.
 */
#ifndef BALLAST_ACTUATORS_VSPHERE_H
#define BALLAST_ACTUATORS_VSPHERE_H

#include <ballast/actuator.h>

extern const struct actuator_ops vsphere_actuator;

#endif
