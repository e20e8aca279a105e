/* plugin.c: collector and actuator of a Proxmox VE cluster, for src/plugins. */
#include "actuators/proxmox/proxmox_actuator.h"
#include "collectors/proxmox/proxmox.h"
#include "net/login_guard.h"

const struct plugin proxmox_plugin = {
    .collector = &proxmox_collector,
    .actuator = &proxmox_actuator,
    .open = login_guard_open, /* what all sessions share, as net/proxmox/session.h expects it */
    .close = login_guard_close,
};
