/* script.c: what whoever plays with the cluster does to it from outside: a test, a demonstration. */
#include "sim/cluster/cluster_internal.h"

bool cluster_has_vm(const struct cluster *c, uint32_t vm)
{
    return c->vms[vm].present;
}

void cluster_remove_vm(struct cluster *c, uint32_t vm)
{
    if (!c->vms[vm].present)
        return;
    leave_cluster(c, vm);
    events_set(&c->events, slot(c, EVENT_PRESENCE, vm), INFINITY);
    settle_world(c);
}

void cluster_demand_changed(struct cluster *c, uint32_t vm)
{
    struct vm_sim *v = &c->vms[vm];

    if (!v->to_run)
        return;
    v->until_s[RES_CPU] = v->until_s[RES_MEM] = c->now_s;
    on_demand(c, vm);
    settle_world(c);
}

void cluster_set_fault(struct cluster *c, uint32_t vm, enum sim_fault fault)
{
    c->vms[vm].forced = fault;
}

void cluster_refuse_settings(struct cluster *c, uint32_t host, bool refuses)
{
    c->hosts[host].refuses_settings = refuses;
}

void cluster_number_tasks_from(struct cluster *c, uint32_t serial)
{
    c->last_serial = serial - 1;
}

uint32_t cluster_vm_deeds(const struct cluster *c)
{
    return c->vm_deeds;
}
