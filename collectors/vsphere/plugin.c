/* plugin.c: collector and actuator of a vCenter, for src/plugins. */
#include "actuators/vsphere/vsphere.h"
#include "collectors/vsphere/vsphere.h"
#include "net/login_guard.h"

const struct plugin vsphere_plugin = {
    .collector = &vsphere_collector,
    .actuator = &vsphere_actuator,
    .open = login_guard_open, /* what all sessions share, as net/vsphere/session.h expects it */
    .close = login_guard_close,
};
