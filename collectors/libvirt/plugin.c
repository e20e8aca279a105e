/* plugin.c: collector and actuator of KVM hosts, for src/plugins, and what both share: the connections, and
 * the migrations that this process has begun. */
#include "actuators/libvirt/leftovers.h"
#include "actuators/libvirt/libvirt_actuator.h"
#include "actuators/libvirt/migrations.h"
#include "collectors/libvirt/libvirt_settings.h"
#include "net/libvirt/connections.h"

#include "base/xalloc.h"

#include <stdlib.h>

static int open_shared(const struct source_config *cfg, void **ret, struct err *err)
{
    const struct libvirt_settings *s = cfg->settings;
    const struct libvirt_host_settings *list = s->hosts.items;
    struct libvirt_host *hosts = xcalloc(s->hosts.n + 1, sizeof *hosts);
    struct libvirt_shared *shared = xcalloc(1, sizeof *shared);

    (void)err;
    for (uint32_t i = 0; i < s->hosts.n; i++)
        hosts[i] = (struct libvirt_host){.name = list[i].name, .uri = list[i].uri};
    shared->conns = libvirt_connections_new(hosts, s->hosts.n, cfg->username, cfg->password, cfg->identities);
    shared->migrations = migrations_new(shared->conns, s);
    shared->left_over = leftovers_found;
    free(hosts);
    *ret = shared;
    return 0;
}

static void close_shared(void *shared)
{
    struct libvirt_shared *s = shared;

    migrations_close(s->migrations);
    libvirt_connections_close(s->conns);
    free(s);
}

const struct plugin libvirt_plugin = {
    .collector = &libvirt_collector,
    .actuator = &libvirt_actuator,
    .open = open_shared,
    .close = close_shared,
};
