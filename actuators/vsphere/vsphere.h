/* vsphere.h: the actuator of a vCenter's cluster, by its SOAP API (`source: kind: vsphere`). See
 * README.md.
 */
#ifndef BALLAST_ACTUATORS_VSPHERE_H
#define BALLAST_ACTUATORS_VSPHERE_H

#include <ballast/actuator.h>

extern const struct actuator_ops vsphere_actuator;

#endif
