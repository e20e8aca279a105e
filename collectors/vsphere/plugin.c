/* plugin.c: collector and actuator of a vCenter, for src/plugins. */
#include "actuators/vsphere/vsphere.h"
#include "collectors/vsphere/vsphere.h"

const struct plugin vsphere_plugin = {
    .collector = &vsphere_collector,
    .actuator = &vsphere_actuator,
};
