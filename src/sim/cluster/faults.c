/* faults.c: the scenario's faults, by script or by rate.
 *
 * Each random draw belongs to one object (a host, a VM, its n-th migration) and depends on the seed, the
 * kind of fault and that object only: a policy's other actions do not change it. Times are drawn in whole
 * seconds, so that the last digit of a logarithm decides nothing.
 */
#include "sim/cluster/cluster_internal.h"

#include "base/xalloc.h"

#include <errno.h>
#include <stdlib.h>

/* Time until the next try to restart a VM that found no host. */
#define RESTART_RETRY_S 30.0

enum { DEAF_SOURCE, DEAF_ACTUATOR };

static const struct {
    enum sim_event event;
    enum sim_fault fault;
} timed[] = {
    {SIM_EVENT_SOURCE_DEAF, SIM_SOURCE_DEAF},
    {SIM_EVENT_ACTUATOR_DEAF, SIM_ACTUATOR_DEAF},
    {SIM_EVENT_HOST_DIES, SIM_HOST_DIES},
    {SIM_EVENT_SAMPLES_STALE, SIM_SAMPLES_STALE},
    {SIM_EVENT_SAMPLES_GARBAGE, SIM_SAMPLES_GARBAGE},
};

/* ---- draws ---- */

static struct rng stream(const struct cluster *c, enum sim_fault kind, uint32_t index, uint32_t n)
{
    struct rng r = {.state = c->s->seed ^ ((uint64_t)kind + 1) << 56};

    r.state = rng_next(&r) ^ index;
    r.state = rng_next(&r) ^ n;
    return r;
}

static bool drawn(const struct cluster *c, enum sim_fault kind, uint32_t index, uint32_t n)
{
    struct rng r = stream(c, kind, index, n);

    return c->s->rates[kind].rate > 0 && rng_unit(&r) < c->s->rates[kind].rate;
}

/* Exponentially distributed, so that faults come at the rate per day. */
static void wait_for(struct cluster *c, enum sim_event event, enum sim_fault kind, uint32_t index)
{
    double u = rng_unit(&c->rng[kind][index]);
    double wait_s = ceil(-log(1 - u) * DAY_S / c->s->rates[kind].rate);

    events_set(&c->events, event_slot(c, event, index), c->now_s + fmax(wait_s, 1));
}

void faults_init(struct cluster *c)
{
    const struct scenario *s = c->s;

    if (s->n_faults > 0)
        events_set(&c->events, event_slot(c, SIM_EVENT_SCRIPTED_FAULT, 0), fmax(s->faults[0].at_s, 0));
    for (size_t k = 0; k < sizeof timed / sizeof *timed; k++) {
        enum sim_fault kind = timed[k].fault;
        uint32_t n = c->first_slot[timed[k].event + 1] - c->first_slot[timed[k].event];

        if (!(s->rates[kind].rate > 0))
            continue;
        c->rng[kind] = arena_array(&c->arena, struct rng, n + 1);
        for (uint32_t i = 0; i < n; i++) {
            c->rng[kind][i] = stream(c, kind, i, 0);
            wait_for(c, timed[k].event, kind, i);
        }
    }
}

/* ---- armed faults: for the next migration or wake-up ---- */

static void arm(struct cluster *c, const struct scripted_fault *f)
{
    c->armed = xreallocarray(c->armed, c->n_armed + 1, sizeof *c->armed);
    c->armed[c->n_armed++] =
        (struct armed_fault){.kind = f->kind, .host = f->host, .vm = f->vm, .factor = f->factor};
}

/* The first armed fault for this object; each strikes once. */
static bool take_armed(struct cluster *c, enum sim_fault kind, uint32_t host, uint32_t vm, double *ret_factor)
{
    for (uint32_t i = 0; i < c->n_armed; i++) {
        const struct armed_fault *a = &c->armed[i];

        if (a->kind != kind || (a->host != IX_NONE && a->host != host) || (a->vm != IX_NONE && a->vm != vm))
            continue;
        if (ret_factor)
            *ret_factor = a->factor;
        c->n_armed--;
        for (; i < c->n_armed; i++)
            c->armed[i] = c->armed[i + 1];
        return true;
    }
    return false;
}

bool fault_refuses_migration(struct cluster *c, uint32_t vm)
{
    struct vm_sim *v = &c->vms[vm];

    if (v->forced != sim_fault_count)
        return v->forced == SIM_MIGRATION_REFUSED;
    if (!take_armed(c, SIM_MIGRATION_REFUSED, v->now.host, vm, NULL) &&
        !drawn(c, SIM_MIGRATION_REFUSED, vm, v->attempts))
        return false;
    v->attempts++;
    return true;
}

/* Only by force: a scenario has no faults of starts. */
bool fault_refuses_start(const struct cluster *c, uint32_t vm)
{
    return c->vms[vm].forced == SIM_MIGRATION_REFUSED;
}

enum sim_fault fault_of_migration(struct cluster *c, uint32_t vm)
{
    static const enum sim_fault kinds[] = {SIM_MIGRATION_FAILS, SIM_MIGRATION_HANGS};
    struct vm_sim *v = &c->vms[vm];
    enum sim_fault fault = v->forced;

    for (size_t i = 0; i < 2 && fault == sim_fault_count; i++) {
        if (take_armed(c, kinds[i], v->now.host, vm, NULL) || drawn(c, kinds[i], vm, v->attempts))
            fault = kinds[i];
    }
    v->attempts++;
    return fault;
}

bool fault_host_refuses(const struct cluster *c, uint32_t vm, uint32_t host)
{
    return c->now_s < c->hosts[host].refuses_until_s || drawn(c, SIM_HOST_REFUSES, vm, host);
}

bool fault_fails_wake(struct cluster *c, uint32_t host, double *ret_factor)
{
    uint32_t n = c->hosts[host].wakes++;

    *ret_factor = 1;
    if (!take_armed(c, SIM_WAKE_SLOW, host, IX_NONE, ret_factor) && drawn(c, SIM_WAKE_SLOW, host, n))
        *ret_factor = c->s->rates[SIM_WAKE_SLOW].factor;
    return take_armed(c, SIM_WAKE_FAILS, host, IX_NONE, NULL) || drawn(c, SIM_WAKE_FAILS, host, n);
}

bool fault_loses_answer(struct cluster *c, uint32_t host, uint32_t vm)
{
    uint32_t index = vm != IX_NONE ? vm : c->initial->n_vms + host;

    return take_armed(c, SIM_ANSWER_LOST, host, vm, NULL) ||
           drawn(c, SIM_ANSWER_LOST, index, (uint32_t)c->now_s);
}

/* ---- hosts that die ---- */

static void lose_task(struct cluster *c, uint32_t host)
{
    struct host_sim *h = &c->hosts[host];

    events_set(&c->events, event_slot(c, SIM_EVENT_HOST, host), INFINITY);
    task_fail(c, h->task, -EHOSTDOWN, "The host has stopped responding.");
    h->task = TASK_NONE;
}

static void lose_migrations(struct cluster *c, uint32_t host)
{
    for (uint32_t i = 0; i < c->initial->n_vms; i++) {
        const struct moving *m = &c->vms[i].moving;

        if (m->stage != MOVING_NOT && (m->from == host || m->to == host))
            migrate_fail(c, i, -EHOSTDOWN, "A host of the migration has stopped responding.");
    }
}

/* A VM that was being restarted there after its own host had died waits for another. */
static void lose_starts(struct cluster *c, uint32_t host)
{
    for (uint32_t i = 0; i < c->initial->n_vms; i++) {
        struct vm_sim *v = &c->vms[i];

        if (v->starting != host)
            continue;
        cluster_vm_start_fail(c, i, -EHOSTDOWN, "The host has stopped responding.");
        if (v->down)
            events_set(&c->events, event_slot(c, SIM_EVENT_START, i), c->now_s + RESTART_RETRY_S);
    }
}

void fault_vm_goes_down(struct cluster *c, uint32_t vm)
{
    c->vms[vm].down = true;
    c->vms[vm].state = VM_OFF;
    if (c->s->restart_s < INFINITY)
        events_set(&c->events, event_slot(c, SIM_EVENT_START, vm), c->now_s + c->s->restart_s);
}

static void lose_vms(struct cluster *c, uint32_t host)
{
    struct host_sim *h = &c->hosts[host];

    while (h->vms.n > 0) {
        uint32_t vm = h->vms.items[h->vms.n - 1];

        cluster_displace_vm(c, vm);
        fault_vm_goes_down(c, vm);
    }
}

void fault_host_dies(struct cluster *c, uint32_t host, double for_s)
{
    struct host_sim *h = &c->hosts[host];

    if (h->now.dead || h->now.state == HOST_STANDBY || h->now.state == HOST_DISCONNECTED)
        return; /* nothing runs that could die */
    totals_integrate_host(c, host);
    h->was_serviced = h->now.state == HOST_MAINTENANCE;
    h->now.dead = true;
    h->now.powered = false;
    h->now.state = HOST_DISCONNECTED;
    lose_task(c, host);
    lose_migrations(c, host);
    lose_starts(c, host);
    lose_vms(c, host);
    h->tree.built = false;
    cluster_mark_host(c, host);
    c->slots_changed = true;
    if (for_s < INFINITY)
        events_set(&c->events, event_slot(c, SIM_EVENT_HOST, host), c->now_s + for_s);
}

void cluster_on_host_back(struct cluster *c, uint32_t host)
{
    power_come_back(c, host);
    for (uint32_t i = 0; i < c->initial->n_vms; i++) {
        const struct vm_sim *v = &c->vms[i];

        if (v->down && v->home == host && v->starting == IX_NONE)
            fault_restart_try(c, i);
    }
}

/* The demand of the host's VMs and arriving VMs, as a part of its capacity. */
static double load(const struct cluster *c, uint32_t host)
{
    const struct host_sim *h = &c->hosts[host];
    double sum = 0;

    for (uint32_t i = 0; i < h->vms.n; i++)
        sum += c->vms[h->vms.items[i]].now.wants[RES_CPU];
    for (uint32_t i = 0; i < h->arrives.n; i++)
        sum += c->vms[h->arrives.items[i]].now.wants[RES_CPU];
    return sum / fmax(host_of(c, host)->capacity[RES_CPU], 1);
}

/* As HA does: reservations must fit; the least loaded host first, ties go to the lower index. */
void fault_restart_try(struct cluster *c, uint32_t vm)
{
    struct vm_sim *v = &c->vms[vm];
    uint32_t best = IX_NONE;
    double least = INFINITY;

    if (!v->present || !v->down)
        return;
    for (uint32_t h = 0; h < c->initial->n_hosts; h++) {
        double l = load(c, h);

        if (c->hosts[h].now.dead || c->hosts[h].now.state != HOST_ON || !cluster_vm_is_compatible(c, vm, h) ||
            !cluster_vm_fits(c, vm, h) || l >= least)
            continue;
        best = h;
        least = l;
    }
    if (best == IX_NONE) {
        events_set(&c->events, event_slot(c, SIM_EVENT_START, vm), c->now_s + RESTART_RETRY_S);
        return;
    }
    cluster_vm_start_begin(c, vm, best, TASK_NONE);
}

/* ---- events ---- */

/* For a fault without a given VM or host: the first running one, from a random index on. */
static uint32_t any_host(const struct cluster *c)
{
    struct rng r = stream(c, SIM_HOST_DIES, IX_NONE, c->next_fault);
    uint32_t n = c->initial->n_hosts, first = rng_below(&r, n);

    for (uint32_t i = 0; i < n; i++) {
        if (is_up(&c->hosts[(first + i) % n]))
            return (first + i) % n;
    }
    return IX_NONE;
}

static uint32_t any_vm(const struct cluster *c, enum sim_fault kind)
{
    struct rng r = stream(c, kind, IX_NONE, c->next_fault);
    uint32_t n = c->initial->n_vms, first = n > 0 ? rng_below(&r, n) : 0;

    for (uint32_t i = 0; i < n; i++) {
        if (c->vms[(first + i) % n].now.host != IX_NONE)
            return (first + i) % n;
    }
    return IX_NONE;
}

static void strike(struct cluster *c, const struct scripted_fault *f)
{
    uint32_t host = f->host, vm = f->vm;
    double until_s = c->now_s + f->for_s;

    switch (f->kind) {
    case SIM_MIGRATION_FAILS:
    case SIM_MIGRATION_HANGS:
    case SIM_MIGRATION_REFUSED:
    case SIM_WAKE_FAILS:
    case SIM_WAKE_SLOW:
    case SIM_ANSWER_LOST:
        arm(c, f);
        return;
    case SIM_HOST_DIES:
        host = host == IX_NONE ? any_host(c) : host;
        if (host != IX_NONE)
            fault_host_dies(c, host, f->for_s);
        return;
    case SIM_HOST_REFUSES:
        c->hosts[host].refuses_until_s = until_s;
        return;
    case SIM_SAMPLES_STALE:
    case SIM_SAMPLES_GARBAGE:
        vm = vm == IX_NONE ? any_vm(c, f->kind) : vm;
        if (vm == IX_NONE)
            return;
        if (f->kind == SIM_SAMPLES_STALE)
            c->vms[vm].stale_until_s = until_s;
        else
            c->vms[vm].garbage_until_s = until_s;
        return;
    case SIM_SOURCE_DEAF:
        c->deaf_until_s[DEAF_SOURCE] = until_s;
        return;
    case SIM_ACTUATOR_DEAF:
        c->deaf_until_s[DEAF_ACTUATOR] = until_s;
        return;
    case SIM_SERVICE_RESTARTS: /* the run's, not the cluster's */
    case sim_fault_count:
        return;
    }
}

void cluster_strike(struct cluster *c, const struct scripted_fault *fault)
{
    strike(c, fault);
    cluster_recompute(c);
}

void cluster_on_fault(struct cluster *c, enum sim_event event, uint32_t index)
{
    const struct scenario *s = c->s;

    for (size_t k = 0; k < sizeof timed / sizeof *timed; k++) {
        enum sim_fault kind = timed[k].fault;

        if (timed[k].event != event)
            continue;
        strike(c, &(struct scripted_fault){
                      .kind = kind, .host = index, .vm = index, .for_s = s->rates[kind].for_s});
        wait_for(c, event, kind, index);
        return;
    }
    while (c->next_fault < s->n_faults && s->faults[c->next_fault].at_s <= c->now_s) {
        strike(c, &s->faults[c->next_fault]);
        c->next_fault++;
    }
    if (c->next_fault < s->n_faults)
        events_set(&c->events, event_slot(c, SIM_EVENT_SCRIPTED_FAULT, 0), s->faults[c->next_fault].at_s);
}

/* ---- impossible figures ---- */

struct vm_sample fault_garbage_sample(const struct cluster *c, uint32_t vm, struct vm_sample good)
{
    struct rng r = stream(c, SIM_SAMPLES_GARBAGE, vm, (uint32_t)c->now_s + 1);

    switch (rng_below(&r, 5)) {
    case 0:
        good.cpu_used_mhz = -5;
        break;
    case 1:
        good.cpu_used_mhz *= 1e9;
        break;
    case 2:
        good.cpu_ready_ms = 1000 * (good.interval_ms + 1);
        break;
    case 3:
        good.mem_active_mb = 1e15;
        break;
    default:
        good.cpu_used_mhz = UNKNOWN;
        break;
    }
    return good;
}
