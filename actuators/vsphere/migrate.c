/* migrate.c: checks and begins migrations. vsphere.c follows the tasks. */
#include "actuators/vsphere/operations.h"

#include "base/cleanup.h"
#include "base/log.h"

#include <errno.h>
#include <string.h>

int migrate_is_due(const struct vsphere *v, const struct operation *q, const struct entity *vm,
                   struct err *err)
{
    if (strcmp(vm->host, q->to) == 0)
        return err_set(err, -ESTALE, "%s: VM %s has arrived on %s already", vsphere_url(v), vm->name, q->to);
    if (strcmp(vm->host, q->from) != 0)
        return err_set(err, -ESTALE, "%s: VM %s is on %s now and no longer on %s", vsphere_url(v), vm->name,
                       vm->host[0] ? vm->host : "no host", q->from);
    if (vm->powered_on == q->off)
        return err_set(err, -ESTALE, "%s: VM %s %s", vsphere_url(v), vm->name,
                       q->off ? "is not off any more"
                              : "does not run any more, so there is nothing to migrate");
    if (!vm->connected)
        return err_set(err, -EHOSTDOWN, "%s: VM %s cannot be reached by vCenter at the moment",
                       vsphere_url(v), vm->name);
    return 0;
}

int migrate_can_arrive(struct vsphere *v, const struct operation *q, char ret_name[MOREF_MAX],
                       struct err *err)
{
    struct entity host;
    int r = vsphere_entity_look(v, "HostSystem", q->to, VSPHERE_WORK_ENTER_MAINTENANCE, &host, err);

    if (r < 0)
        return err_widen(err, "the destination");
    if (!host.connected || !host.powered_on || host.standby)
        return err_set(err, -EHOSTDOWN, "%s: the destination %s is not connected or not on", vsphere_url(v),
                       host.name);
    if (host.in_maintenance || host.task_name[0])
        return err_set(err, -EHOSTDOWN, "%s: the destination %s is in maintenance or about to be",
                       vsphere_url(v), host.name);
    memcpy(ret_name, host.name, MOREF_MAX);
    return 0;
}

/* Only the host changes: without a pool in the spec the VM stays in its own. */
static int relocate(struct vsphere *v, const struct operation *q, char ret_task[TASK_NAME_MAX],
                    struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf body = STRBUF_EMPTY;

    vsphere_begin(&body, "RelocateVM_Task", "VirtualMachine", q->vm);
    strbuf_puts(&body, "<spec>");
    vsphere_put_ref(&body, "host", "HostSystem", q->to);
    strbuf_puts(&body, "</spec><priority>defaultPriority</priority>");
    vsphere_end(&body, "RelocateVM_Task");
    return vsphere_call_for_task(v, "RelocateVM_Task", &body, ret_task, err);
}

/* The older method, which peers that cannot relocate may still have. */
static int migrate(struct vsphere *v, const struct operation *q, char ret_task[TASK_NAME_MAX],
                   struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf body = STRBUF_EMPTY;

    vsphere_begin(&body, "MigrateVM_Task", "VirtualMachine", q->vm);
    vsphere_put_ref(&body, "host", "HostSystem", q->to);
    strbuf_puts(&body, "<priority>defaultPriority</priority>");
    vsphere_end(&body, "MigrateVM_Task");
    return vsphere_call_for_task(v, "MigrateVM_Task", &body, ret_task, err);
}

int migrate_begin(struct vsphere *v, const struct operation *q, char ret_task[TASK_NAME_MAX], struct err *err)
{
    int r = relocate(v, q, ret_task, err);

    return r == -ENOTSUP ? migrate(v, q, ret_task, err) : r;
}

/* A TaskInfo has no destination; the event that announces the migration has, and both have the same chain
 * id. */
int migrate_goes_there(struct vsphere *v, const struct operation *q, const struct entity *vm, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    CLEANUP(strbuf_releasep) struct strbuf body = STRBUF_EMPTY;
    CLEANUP(soap_answer_releasep) struct soap_answer answer = {0};
    const char *manager = vsphere_content(v)->event_manager;

    if (!manager[0] || vm->task.chain == 0)
        return 0;
    vsphere_begin(&body, "QueryEvents", "EventManager", manager);
    strbuf_printf(&body, "<filter><eventChainId>%lld</eventChainId></filter>", (long long)vm->task.chain);
    vsphere_end(&body, "QueryEvents");
    if (vsphere_call(v, "QueryEvents", &body, &answer, NULL) < 0)
        return 0;
    for (const xml_node *e = xml_child(answer.payload, "returnval"); e; e = xml_again(e)) {
        const char *to = xml_text(xml_child(e, "destHost/host"), &a);
        int64_t chain = 0;
        if (!to || xml_int(xml_child(e, "chainId"), &chain) < 0 || chain != vm->task.chain)
            continue;
        if (strcmp(to, q->to) != 0)
            return err_set(err, -EBUSY, "%s: VM %s is being migrated to %s by somebody else (%s)",
                           vsphere_url(v), vm->name, to, vm->task_name);
    }
    return 0;
}
