/* host_operations.c: begins maintenance and standby of a host, and ends them. vsphere.c follows the tasks. */
#include "actuators/vsphere/operations.h"

#include "base/cleanup.h"

#include <errno.h>

/* vCenter's own time limit for the operation; the engine has its own. */
#define NO_TIMEOUT 0
#define STANDBY_TIMEOUT_S 900

static int already(const struct vsphere *v, const struct entity *host, const char *what, struct err *err)
{
    return err_set(err, -ESTALE, "%s: host %s %s already", vsphere_url(v), host->name, what);
}

int host_operation_is_due(const struct vsphere *v, const struct operation *q, const struct entity *host,
                          struct err *err)
{
    bool awake = host->powered_on && !host->standby;

    switch (q->kind) {
    case OPERATION_ENTER_MAINTENANCE:
        if (host->in_maintenance)
            return already(v, host, "is in maintenance", err);
        break;
    case OPERATION_EXIT_MAINTENANCE:
        if (!host->in_maintenance)
            return already(v, host, "is out of maintenance", err);
        break;
    case OPERATION_STANDBY:
        if (host->standby)
            return already(v, host, "is in standby", err);
        if (host->vsan)
            return err_set(
                err, -EPERM,
                "%s: host %s is part of vSAN: its disks hold data of other hosts' VMs, so it stays on",
                vsphere_url(v), host->name);
        if (q->power.by_controller) /* vCenter need not reach it */
            return 0;
        break;
    case OPERATION_WAKE:
        if (awake)
            return already(v, host, "is awake", err);
        return 0; /* a sleeping host is not connected */
    case OPERATION_MIGRATE:
    case OPERATION_POWER_ON_VM:
        break;
    }
    if (!host->connected || !awake)
        return err_set(err, -EHOSTDOWN, "%s: host %s is not connected or not on", vsphere_url(v), host->name);
    return 0;
}

struct host_method {
    const char *name, *timeout;
    int timeout_s;
    bool keeps_off_vms; /* has a parameter for VMs that are off */
};

static struct host_method method_of(enum operation_kind operation)
{
    switch (operation) {
    case OPERATION_ENTER_MAINTENANCE:
        return (struct host_method){"EnterMaintenanceMode_Task", "timeout", NO_TIMEOUT, true};
    case OPERATION_EXIT_MAINTENANCE:
        return (struct host_method){"ExitMaintenanceMode_Task", "timeout", NO_TIMEOUT, false};
    case OPERATION_STANDBY:
        return (struct host_method){"PowerDownHostToStandBy_Task", "timeoutSec", STANDBY_TIMEOUT_S, true};
    case OPERATION_WAKE:
        return (struct host_method){"PowerUpHostFromStandBy_Task", "timeoutSec", STANDBY_TIMEOUT_S, false};
    case OPERATION_MIGRATE:
    case OPERATION_POWER_ON_VM:
        break;
    }
    return (struct host_method){0};
}

int host_operation_begin(struct vsphere *v, const struct operation *q, char ret_task[TASK_NAME_MAX],
                         struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf body = STRBUF_EMPTY;
    struct host_method m = method_of(q->kind);

    vsphere_begin(&body, m.name, "HostSystem", q->host);
    strbuf_printf(&body, "<%s>%d</%s>", m.timeout, m.timeout_s, m.timeout);
    if (m.keeps_off_vms)
        soap_put_text(&body, "evacuatePoweredOffVms", "false");
    vsphere_end(&body, m.name);
    return vsphere_call_for_task(v, m.name, &body, ret_task, err);
}
