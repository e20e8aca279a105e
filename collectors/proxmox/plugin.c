/* plugin.c: collector and actuator of a Proxmox VE cluster, for src/plugins. */
#include "actuators/proxmox/proxmox_actuator.h"
#include "collectors/proxmox/proxmox.h"
#include "net/login_guard.h"

/* What all sessions of a source share, as net/proxmox/session.h expects it. */
static int open_shared(const struct source_config *cfg, void **ret, struct err *err)
{
    struct login_guard *g = NULL;
    int r = login_guard_new(false, &g, err);

    (void)cfg;
    *ret = g;
    return r;
}

static void close_shared(void *shared)
{
    login_guard_free(shared);
}

const struct plugin proxmox_plugin = {
    .collector = &proxmox_collector,
    .actuator = &proxmox_actuator,
    .open = open_shared,
    .close = close_shared,
};
