/* sim_changes.c: changes of a simulated cluster that only a test makes. */
#include "sim_changes.h"

#include "sim/cluster/cluster_internal.h"

void sim_remove_vm(struct cluster *c, uint32_t vm)
{
    if (!c->vms[vm].present)
        return;
    cluster_vm_leave(c, vm);
    events_set(&c->events, event_slot(c, SIM_EVENT_PRESENCE, vm), INFINITY);
    cluster_recompute(c);
}

void sim_set_fault(struct cluster *c, uint32_t vm, enum sim_fault fault)
{
    c->vms[vm].forced = fault;
}

void sim_refuse_settings(struct cluster *c, uint32_t host, bool refuses)
{
    c->hosts[host].refuses_settings = refuses;
}

uint32_t sim_vm_operations(const struct cluster *c)
{
    return c->vm_operations;
}
