/* plugin.c: collector and actuator of a vCenter, for src/plugins. */
#include "actuators/vsphere/vsphere.h"
#include "collectors/vsphere/vsphere.h"
#include "net/login_guard.h"

/* What all sessions of a source share, as net/vsphere/session.h expects it. */
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

const struct plugin vsphere_plugin = {
    .collector = &vsphere_collector,
    .actuator = &vsphere_actuator,
    .open = open_shared,
    .close = close_shared,
};
