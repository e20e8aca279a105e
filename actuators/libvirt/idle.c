/* idle.c: whether a host has no active VM, before its controller shuts it down. */
#include "actuators/libvirt/operations.h"

#include "net/http.h"
#include "net/libvirt/connections.h"

#include <errno.h>

int idle_check(struct migrations *m, const char *host, struct err *err)
{
    size_t at = migrations_host(m, host);
    virConnectPtr conn = NULL;

    if (at == SIZE_MAX)
        return err_set(err, -ENOENT, "host %s is not in source.hosts", host);
    int r = migrations_ask(m, at, net_now_ms(), err);
    if (r < 0)
        return r;
    if ((r = migrations_connect(m, at, net_now_ms() + MIGRATIONS_CONNECT_MS, &conn, err)) == 0) {
        int n = virConnectNumOfDomains(conn);

        r = n < 0   ? libvirt_connections_fail(err, host)
            : n > 0 ? err_set(err, -EBUSY, "%d VMs run on host %s, or are on their way there", n, host)
                    : 0;
        migrations_disconnect(m, at, conn);
    }
    migrations_answered(m, at, net_now_ms());
    return r;
}
