/* task.c: reads a TaskInfo. It starts and cancels no task. */
#include "net/vsphere/task.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *id;
    enum vsphere_work work;
} works[] = {
    {"VirtualMachine.relocate", VSPHERE_WORK_MIGRATE},   /* RelocateVM_Task */
    {"VirtualMachine.migrate", VSPHERE_WORK_MIGRATE},    /* MigrateVM_Task */
    {"VirtualMachine.relocateVm", VSPHERE_WORK_MIGRATE}, /* the name that govmomi's simulator gives it */
    {"Drm.ExecuteVMotionLRO", VSPHERE_WORK_MIGRATE},     /* DRS itself */
    {"VirtualMachine.powerOn", VSPHERE_WORK_POWER_ON},   /* PowerOnVM_Task, also of a suspended VM */
    {"Drm.ExecuteVmPowerOnLRO",
     VSPHERE_WORK_POWER_ON}, /* started through DRS; the name depends on the version */
    {"Datacenter.ExecuteVmPowerOnLRO", VSPHERE_WORK_POWER_ON},
    {"HostSystem.enterMaintenanceMode", VSPHERE_WORK_ENTER_MAINTENANCE},
    {"HostSystem.exitMaintenanceMode", VSPHERE_WORK_EXIT_MAINTENANCE},
    {"HostSystem.enterStandbyMode", VSPHERE_WORK_STANDBY},
    {"HostSystem.exitStandbyMode", VSPHERE_WORK_WAKE},
    {"Drm.EnterStandbyLRO", VSPHERE_WORK_STANDBY},
    {"Drm.ExitStandbyLRO", VSPHERE_WORK_WAKE},
};

static const struct {
    const char *word;
    enum vsphere_task_state state;
} states[] = {
    {"queued", VSPHERE_TASK_QUEUED},
    {"running", VSPHERE_TASK_RUNNING},
    {"success", VSPHERE_TASK_SUCCESS},
    {"error", VSPHERE_TASK_ERROR},
};

static void read_error(const xml_node *error, struct vsphere_task *t)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const char *type = xml_type(xml_child(error, "fault"), &a);

    (void)snprintf(t->error_type, sizeof t->error_type, "%s", type ? type : "");
    xml_line(xml_child(error, "localizedMessage"), t->error_text, sizeof t->error_text);
}

int vsphere_task_read(const xml_node *info, struct vsphere_task *ret, struct err *err)
{
    struct vsphere_task t = {.work = VSPHERE_WORK_OTHER, .percent = -1};
    const xml_node *state = xml_child(info, "state");
    int64_t percent;
    size_t i = 0;

    while (i < sizeof states / sizeof states[0] && !xml_text_is(state, states[i].word))
        i++;
    if (i == sizeof states / sizeof states[0])
        return err_set(err, -EPROTO, "the task's state is missing or unknown");
    t.state = states[i].state;
    for (i = 0; i < sizeof works / sizeof works[0]; i++) {
        if (xml_text_is(xml_child(info, "descriptionId"), works[i].id))
            t.work = works[i].work;
    }
    if (xml_int(xml_child(info, "progress"), &percent) == 0 && percent >= 0 && percent <= 100)
        t.percent = (int)percent;
    t.cancelable = xml_bool(xml_child(info, "cancelable"));
    (void)xml_int(xml_child(info, "eventChainId"), &t.chain);
    xml_line(xml_child(info, "entity"), t.entity, sizeof t.entity);
    xml_line(xml_child(info, "startTime"), t.started, sizeof t.started);
    if (t.state == VSPHERE_TASK_ERROR)
        read_error(xml_child(info, "error"), &t);
    *ret = t;
    return 0;
}
