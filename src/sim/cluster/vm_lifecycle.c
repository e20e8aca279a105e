/* vm_lifecycle.c: VMs arrive, start, run on a host, change their demand and leave. migrate.c moves them. */
#include "sim/cluster/cluster_internal.h"

#include <errno.h>

/* ---- demand ---- */

static void want(struct cluster *c, uint32_t vm, enum resource r)
{
    struct vm_sim *v = &c->vms[vm];
    const struct vm_facts *f = &vm_of(c, vm)->is;
    struct workload_value w = workload_at(&c->s->vms[vm].of[r], c->now_s);

    v->until_s[r] = w.until_s;
    if (f->kind == VM_SPARE)
        return; /* it stands for reserved capacity, and has no demand */
    if (r == RES_CPU) {
        v->now.wants[r] = w.value;
        return;
    }
    v->working_mb = fmin(w.value, f->mem_mb);
    v->consumed_mb = fmax(v->consumed_mb, v->working_mb);
    v->now.wants[r] = v->working_mb + f->overhead_mb;
}

static void wait_for_demand(struct cluster *c, uint32_t vm)
{
    const struct vm_sim *v = &c->vms[vm];

    events_set(&c->events, event_slot(c, SIM_EVENT_DEMAND, vm),
               fmin(v->until_s[RES_CPU], v->until_s[RES_MEM]));
}

void cluster_vm_demand_begin(struct cluster *c, uint32_t vm)
{
    totals_integrate_vm(c, vm);
    c->vms[vm].to_run = true;
    want(c, vm, RES_CPU);
    want(c, vm, RES_MEM);
    schedule_vm_due(c, vm);
    wait_for_demand(c, vm);
}

static void demand_end(struct cluster *c, uint32_t vm)
{
    struct vm_sim *v = &c->vms[vm];

    totals_integrate_vm(c, vm);
    v->to_run = v->down = false;
    v->now.wants[RES_CPU] = v->now.wants[RES_MEM] = 0;
    schedule_vm_due(c, vm);
    events_set(&c->events, event_slot(c, SIM_EVENT_DEMAND, vm), INFINITY);
}

void cluster_on_demand(struct cluster *c, uint32_t vm)
{
    struct vm_sim *v = &c->vms[vm];
    double mem_before = v->now.wants[RES_MEM];

    totals_integrate_vm(c, vm);
    for (int r = 0; r < RES_COUNT; r++) {
        if (v->until_s[r] <= c->now_s)
            want(c, vm, (enum resource)r);
    }
    schedule_vm_due(c, vm);
    wait_for_demand(c, vm);
    if (v->now.host == IX_NONE || (v->now.wants[RES_MEM] == mem_before && schedule_vm(c, vm)))
        return;
    cluster_mark_host(c, v->now.host);
    if (is_moving(v))
        cluster_mark_host(c, v->moving.to); /* its memory is taken there, too */
}

/* ---- on hosts ---- */

static void changed(struct cluster *c, uint32_t host)
{
    c->hosts[host].tree.built = false;
    cluster_mark_host(c, host);
}

void cluster_place_vm(struct cluster *c, uint32_t vm, uint32_t host)
{
    struct vm_sim *v = &c->vms[vm];

    totals_integrate_vm(c, vm);
    totals_integrate_host(c, host);
    v->now.host = v->home = host;
    v->state = VM_ON;
    v->down = false;
    cluster_list_insert(&c->hosts[host].vms, vm);
    describe_counters_reset(c, vm); /* another hypervisor counts anew */
    changed(c, host);
}

void cluster_displace_vm(struct cluster *c, uint32_t vm)
{
    struct vm_sim *v = &c->vms[vm];
    uint32_t host = v->now.host;

    totals_integrate_vm(c, vm);
    totals_integrate_host(c, host);
    (void)cluster_list_remove(&c->hosts[host].vms, vm);
    v->now.host = IX_NONE;
    v->now.gets[RES_CPU] = v->now.gets[RES_MEM] = 0;
    v->used_mhz = v->ready = v->lost_mhz = 0;
    changed(c, host);
    power_maintenance_check(c, host);
}

void cluster_expect_vm(struct cluster *c, uint32_t vm, uint32_t host)
{
    cluster_list_insert(&c->hosts[host].arrives, vm);
    changed(c, host);
}

void cluster_unexpect_vm(struct cluster *c, uint32_t vm, uint32_t host)
{
    (void)cluster_list_remove(&c->hosts[host].arrives, vm);
    changed(c, host);
    power_maintenance_check(c, host);
}

/* Reservations of VMs that run there, and of those on their way. */
bool cluster_vm_fits(const struct cluster *c, uint32_t vm, uint32_t host)
{
    const struct host_sim *h = &c->hosts[host];

    for (int r = 0; r < RES_COUNT; r++) {
        double sum = vm_of(c, vm)->is.alloc[r].reservation;

        for (uint32_t i = 0; i < h->vms.n; i++)
            sum += vm_of(c, h->vms.items[i])->is.alloc[r].reservation;
        for (uint32_t i = 0; i < h->arrives.n; i++) {
            if (h->arrives.items[i] != vm)
                sum += vm_of(c, h->arrives.items[i])->is.alloc[r].reservation;
        }
        if (sum > host_of(c, host)->capacity[r])
            return false;
    }
    return true;
}

bool cluster_vm_is_compatible(const struct cluster *c, uint32_t vm, uint32_t host)
{
    return vm_is_compatible(vm_of(c, vm), host);
}

/* ---- starts ---- */

/* task TASK_NONE: a restart after the VM's host has died. It is no operation, so a forced fault does not
 * apply. */
void cluster_vm_start_begin(struct cluster *c, uint32_t vm, uint32_t host, uint32_t task)
{
    struct vm_sim *v = &c->vms[vm];
    double takes_s = POWER_ON_S;

    v->starting = host;
    v->start_task = task;
    v->start_fault = task == TASK_NONE ? sim_fault_count : v->forced;
    if (v->start_fault == SIM_MIGRATION_HANGS)
        takes_s = INFINITY;
    else if (v->start_fault != sim_fault_count)
        takes_s = POWER_ON_S * FAULT_AT;
    cluster_expect_vm(c, vm, host);
    events_set(&c->events, event_slot(c, SIM_EVENT_START, vm), c->now_s + takes_s);
}

void cluster_vm_start_fail(struct cluster *c, uint32_t vm, int code, const char *why)
{
    struct vm_sim *v = &c->vms[vm];
    uint32_t host = v->starting;

    v->starting = IX_NONE;
    events_set(&c->events, event_slot(c, SIM_EVENT_START, vm), INFINITY);
    cluster_unexpect_vm(c, vm, host);
    task_fail(c, v->start_task, code, why);
}

/* ---- agents: they stay with their host, and run while it does ---- */

uint32_t cluster_guests(const struct cluster *c, uint32_t host)
{
    const struct index_list *l = &c->hosts[host].vms;
    uint32_t n = 0;

    for (uint32_t i = 0; i < l->n; i++)
        n += vm_of(c, l->items[i])->is.kind != VM_AGENT;
    return n;
}

void cluster_agents_stop(struct cluster *c, uint32_t host)
{
    const struct index_list *l = &c->hosts[host].vms;

    while (l->n > 0) { /* nothing else runs there: task_check_operation() */
        uint32_t vm = l->items[l->n - 1];

        cluster_displace_vm(c, vm);
        demand_end(c, vm);
        c->vms[vm].state = VM_OFF;
    }
}

void cluster_agents_start(struct cluster *c, uint32_t host)
{
    for (uint32_t i = 0; i < c->initial->n_vms; i++) {
        const struct vm_sim *v = &c->vms[i];

        if (vm_of(c, i)->is.kind == VM_AGENT && v->present && v->home == host && v->now.host == IX_NONE &&
            v->starting == IX_NONE)
            cluster_vm_start_begin(c, i, host, TASK_NONE);
    }
}

/* ---- arrival and departure ---- */

void cluster_vm_leave(struct cluster *c, uint32_t vm)
{
    struct vm_sim *v = &c->vms[vm];

    if (v->moving.stage != MOVING_NOT)
        migrate_fail(c, vm, -ENOENT, "The virtual machine has been deleted.");
    if (v->starting != IX_NONE)
        cluster_vm_start_fail(c, vm, -ENOENT, "The virtual machine has been deleted.");
    if (v->now.host != IX_NONE)
        cluster_displace_vm(c, vm);
    demand_end(c, vm);
    events_set(&c->events, event_slot(c, SIM_EVENT_START, vm), INFINITY);
    v->state = VM_OFF;
    v->present = false;
    c->slots_changed = true;
}

void cluster_on_presence(struct cluster *c, uint32_t vm)
{
    struct vm_sim *v = &c->vms[vm];

    if (v->present) {
        cluster_vm_leave(c, vm);
        return;
    }
    v->present = true;
    c->arrivals[c->n_arrivals++] = vm;
    cluster_vm_demand_begin(c, vm);
    if (c->s->vms[vm].leaves_s < INFINITY)
        events_set(&c->events, event_slot(c, SIM_EVENT_PRESENCE, vm), fmax(c->s->vms[vm].leaves_s, c->now_s));
}

/* A requested start ends; or a restart without a host yet is tried. */
void cluster_on_start(struct cluster *c, uint32_t vm)
{
    struct vm_sim *v = &c->vms[vm];
    uint32_t host = v->starting;

    if (host == IX_NONE) {
        fault_restart_try(c, vm);
        return;
    }
    if (v->start_fault != sim_fault_count) {
        cluster_vm_start_fail(c, vm, -EIO, "The VM could not be started: a file of it is locked.");
        return;
    }
    v->starting = IX_NONE;
    v->consumed_mb = 0; /* its memory is touched anew */
    cluster_vm_demand_begin(c, vm);
    cluster_place_vm(c, vm, host);
    cluster_unexpect_vm(c, vm, host);
    task_succeed(c, v->start_task);
}
