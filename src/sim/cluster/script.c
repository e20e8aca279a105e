/* script.c: changes of the cluster from outside, by a test or a demonstration. */
#include "sim/cluster/cluster_internal.h"

bool cluster_has_vm(const struct cluster *c, uint32_t vm)
{
    return c->vms[vm].present;
}

void cluster_demand_changed(struct cluster *c, uint32_t vm)
{
    struct vm_sim *v = &c->vms[vm];

    if (!v->to_run)
        return;
    v->until_s[RES_CPU] = v->until_s[RES_MEM] = c->now_s;
    cluster_on_demand(c, vm);
    cluster_recompute(c);
}

static void switch_off(struct cluster *c, uint32_t host)
{
    struct host_sim *h = &c->hosts[host];

    if (h->now.dead) { /* while it booted */
        totals_integrate_host(c, host);
        events_set(&c->events, event_slot(c, SIM_EVENT_HOST, host), INFINITY);
        h->now.powered = false;
        cluster_mark_host(c, host);
    } else if (h->now.powered) {
        fault_host_dies(c, host, INFINITY);
        h->totals.power_offs++;
    }
    h->plugged = h->now.dead;
}

void cluster_switch(struct cluster *c, uint32_t host, bool on)
{
    const struct host_sim *h = &c->hosts[host];

    if (!on)
        switch_off(c, host);
    else if (h->now.dead && !h->now.powered)
        power_boot_begin(c, host);
    else if (h->now.state == HOST_STANDBY)
        power_wake_begin(c, host, TASK_NONE);
    cluster_recompute(c);
}

void cluster_put_vm(struct cluster *c, uint32_t vm, uint32_t host)
{
    struct vm_sim *v = &c->vms[vm];

    if (!v->present || v->now.host == IX_NONE || v->now.host == host)
        return;
    cluster_displace_vm(c, vm);
    if (host == IX_NONE)
        fault_vm_goes_down(c, vm);
    else
        cluster_place_vm(c, vm, host);
    cluster_recompute(c);
}

void cluster_number_tasks_from(struct cluster *c, uint32_t serial)
{
    c->last_serial = serial - 1;
}
