/* power_on.c: checks and begins the start of a VM on a given host. vsphere.c follows the task. */
#include "actuators/vsphere/operations.h"

#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

int power_on_is_due(const struct vsphere *v, const struct operation *q, const struct entity *vm,
                    struct err *err)
{
    if (vm->powered_on && strcmp(vm->host, q->to) == 0)
        return err_set(err, -ESTALE, "%s: VM %s runs on %s already", vsphere_url(v), vm->name, q->to);
    if (vm->powered_on)
        return err_set(err, -ESTALE, "%s: VM %s runs already, on %s and not on %s", vsphere_url(v), vm->name,
                       vm->host[0] ? vm->host : "no host", q->to);
    if (!vm->connected)
        return err_set(
            err, -EHOSTDOWN,
            "%s: VM %s cannot be reached by vCenter at the moment: the host where it is registered "
            "(%s) must be back, or the VM be registered elsewhere",
            vsphere_url(v), vm->name, vm->host[0] ? vm->host : "none");
    return 0;
}

/* ---- who chooses the host */

/* DRS's settings for this VM. */
struct drs {
    const char *vm;
    bool enabled, own_levels;
    char level[32], own[32]; /* words of DrsBehavior; "": not said */
    bool excepted;           /* DRS leaves this VM alone */
};

static void drs_begin(void *ctx)
{
    struct drs *d = ctx;

    *d = (struct drs){.vm = d->vm};
}

static int drs_object(void *ctx, const struct vsphere_object *o, struct err *err)
{
    struct drs *d = ctx;
    const xml_node *drs = vsphere_prop(o, "configurationEx.drsConfig");
    const xml_node *overrides = xml_child(drs, "enableVmBehaviorOverrides");

    (void)err;
    if (strcmp(o->type, "ClusterComputeResource") != 0)
        return 0;
    d->enabled = xml_bool(xml_child(drs, "enabled"));
    d->own_levels = !overrides || xml_bool(overrides);
    xml_line(xml_child(drs, "defaultVmBehavior"), d->level, sizeof d->level);
    const xml_node *list = vsphere_prop(o, "configurationEx.drsVmConfig");
    for (const xml_node *n = xml_child(list, "ClusterDrsVmConfigInfo"); n; n = xml_again(n)) {
        const xml_node *enabled = xml_child(n, "enabled");
        if (!xml_text_is(xml_child(n, "key"), d->vm))
            continue;
        d->excepted = enabled && !xml_bool(enabled);
        xml_line(xml_child(n, "behavior"), d->own, sizeof d->own);
    }
    return 0;
}

/* Where DRS may place the VM by itself (levels partiallyAutomated and fullyAutomated), it ignores the
 * requested host, and Ballast may have made room on another. */
int power_on_is_ours(struct vsphere *v, const struct operation *q, const struct entity *vm, struct err *err)
{
    static const char *const paths[] = {"configurationEx.drsConfig", "configurationEx.drsVmConfig", NULL};
    static const char *const first[] = {"cluster", NULL};
    const struct vsphere_wanted wanted = {"ClusterComputeResource", paths};
    const struct vsphere_step step = {"cluster", "HostSystem", "parent", NULL};
    const struct vsphere_query query = {.start_type = "HostSystem",
                                        .start = q->to,
                                        .skip_start = true,
                                        .wanted = &wanted,
                                        .n_wanted = 1,
                                        .steps = &step,
                                        .n_steps = 1,
                                        .first = first};
    struct drs d = {.vm = q->vm};
    const struct vsphere_reader reader = {.begin = drs_begin, .object = drs_object, .ctx = &d};
    int r = vsphere_retrieve(v, &query, &reader, err);

    if (r == -ENOENT)
        return err_set(err, -ENOENT, "%s: there is no host %s any more", vsphere_url(v), q->to);
    if (r < 0 || !d.enabled || (d.own_levels && d.excepted))
        return r;
    const char *level = d.own_levels && d.own[0] ? d.own : d.level;
    if (strcmp(level, "fullyAutomated") != 0 && strcmp(level, "partiallyAutomated") != 0)
        return 0;
    return err_set(err, -EPERM,
                   "%s: DRS of vCenter chooses the host of VM %s itself (%s): set the cluster's DRS, or the "
                   "VM's own level, to manual",
                   vsphere_url(v), vm->name, level);
}

/* One call does both: it first moves the VM's registration, if the host is another of the cluster, and it
 * resumes a suspended VM. Where the host is not compatible, vCenter starts the VM where it is registered
 * and reports success: only an inventory shows it. */
int power_on_begin(struct vsphere *v, const struct operation *q, char ret_task[TASK_NAME_MAX],
                   struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf body = STRBUF_EMPTY;

    vsphere_begin(&body, "PowerOnVM_Task", "VirtualMachine", q->vm);
    vsphere_put_ref(&body, "host", "HostSystem", q->to);
    vsphere_end(&body, "PowerOnVM_Task");
    return vsphere_call_for_task(v, "PowerOnVM_Task", &body, ret_task, err);
}
