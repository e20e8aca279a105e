/* power.c: the hosts' power draw, and the changes between their states. */
#include "sim/cluster/cluster_internal.h"

#include <errno.h>

/* vCenter's own bookkeeping; no host boots. */
#define MAINTENANCE_EXIT_S 10.0

double power_host_watts(const struct cluster *c, uint32_t host, double used_mhz)
{
    const struct host_model *m = &c->s->hosts[host];
    const struct host_sim *h = &c->hosts[host];

    if (h->now.dead && !h->plugged) /* it has lost its power */
        return 0;
    if (h->now.dead)
        return h->now.powered ? m->boot_w : m->standby_w;
    switch (h->now.state) {
    case HOST_ON:
    case HOST_ENTERING_MAINTENANCE:
    case HOST_MAINTENANCE:
        return host_model_watts(m, used_mhz / host_of(c, host)->is.total[RES_CPU]);
    case HOST_ENTERING_STANDBY:
        return m->sleep_w;
    case HOST_POWERING_ON:
        return m->boot_w;
    case HOST_STANDBY:
        return m->standby_w;
    case HOST_DISCONNECTED: /* it may run, but the manager does not reach it */
    case host_state_count:
        break;
    }
    return 0;
}

/* The error depends on host and second only: reading changes no later event. */
static double reading_error(const struct cluster *c, uint32_t host)
{
    struct rng rng = {c->s->seed ^ ((uint64_t)host << 32) ^ (uint64_t)c->now_s};

    (void)rng_next(&rng);
    return rng_range(&rng, -1, 1) * c->s->hosts[host].meter_error;
}

int power_meter_read(const struct cluster *c, const char *host, double *ret_w, struct err *err)
{
    uint32_t i = snapshot_find_host(c->initial, host);

    if (i == IX_NONE)
        return err_set(err, -ENOENT, "there is no host %s", host);
    if (!c->s->hosts[i].meter)
        return err_set(err, -ENOTSUP, "host %s has no meter", host);
    *ret_w = c->hosts[i].now.watts * (1 + reading_error(c, i));
    return 0;
}

static void enter(struct cluster *c, uint32_t host, enum host_state state)
{
    totals_integrate_host(c, host);
    totals_end_sleep(c, host);
    c->hosts[host].now.state = state;
    c->hosts[host].now.powered = state != HOST_STANDBY && !c->hosts[host].now.dead;
    c->hosts[host].tree.built = false;
    cluster_mark_host(c, host);
}

/* Begins a change of state; one that takes no time ends at once. */
static void change(struct cluster *c, uint32_t host, enum host_state meanwhile, double takes_s, uint32_t task)
{
    struct host_sim *h = &c->hosts[host];

    h->task = task;
    h->change_from_s = c->now_s;
    h->change_s = takes_s;
    enter(c, host, meanwhile);
    if (takes_s > 0)
        events_set(&c->events, event_slot(c, SIM_EVENT_HOST, host), c->now_s + takes_s);
    else
        cluster_on_host(c, host);
}

static void become_on(struct cluster *c, uint32_t host)
{
    c->hosts[host].on_since = instant(c);
    enter(c, host, HOST_ON);
    c->slots_changed = true;
}

void power_come_back(struct cluster *c, uint32_t host)
{
    struct host_sim *h = &c->hosts[host];

    totals_integrate_host(c, host);
    h->now.dead = h->plugged = false;
    become_on(c, host);
    if (h->was_serviced)
        enter(c, host, HOST_MAINTENANCE);
}

void power_maintenance_cancel(struct cluster *c, uint32_t host)
{
    c->hosts[host].task = TASK_NONE;
    enter(c, host, HOST_ON); /* since when it has been on is as it was */
    c->slots_changed = true;
}

void power_standby_begin(struct cluster *c, uint32_t host, uint32_t task)
{
    c->hosts[host].was_serviced = c->hosts[host].now.state == HOST_MAINTENANCE;
    change(c, host, HOST_ENTERING_STANDBY, c->s->hosts[host].sleep_s, task);
}

void power_wake_begin(struct cluster *c, uint32_t host, uint32_t task)
{
    double factor;

    c->hosts[host].wake_fails = fault_fails_wake(c, host, &factor);
    change(c, host, HOST_POWERING_ON, c->s->hosts[host].boot_s * factor, task);
}

void power_boot_begin(struct cluster *c, uint32_t host)
{
    struct host_sim *h = &c->hosts[host];
    double factor;

    totals_integrate_host(c, host);
    h->now.powered = h->plugged = true;
    cluster_mark_host(c, host);
    if (!fault_fails_wake(c, host, &factor))
        events_set(&c->events, event_slot(c, SIM_EVENT_HOST, host),
                   c->now_s + c->s->hosts[host].boot_s * factor);
    else
        h->totals.failures++;
}

void power_maintenance_exit(struct cluster *c, uint32_t host, uint32_t task)
{
    change(c, host, HOST_MAINTENANCE, MAINTENANCE_EXIT_S, task);
}

void power_maintenance_enter(struct cluster *c, uint32_t host, uint32_t task)
{
    c->hosts[host].task = task;
    enter(c, host, HOST_ENTERING_MAINTENANCE);
    power_maintenance_check(c, host);
}

void power_maintenance_check(struct cluster *c, uint32_t host)
{
    struct host_sim *h = &c->hosts[host];

    if (h->now.dead || h->now.state != HOST_ENTERING_MAINTENANCE || cluster_guests(c, host) > 0 ||
        h->arrives.n > 0)
        return;
    enter(c, host, HOST_MAINTENANCE);
    task_succeed(c, h->task);
    h->task = TASK_NONE;
}

static void end_wake(struct cluster *c, uint32_t host)
{
    struct host_sim *h = &c->hosts[host];

    if (h->wake_fails) {
        h->totals.failures++;
        enter(c, host, HOST_STANDBY);
        task_fail(c, h->task, -EIO, "The host does not respond after it was powered on.");
        return;
    }
    h->totals.power_ons++;
    become_on(c, host);
    if (h->was_serviced)
        enter(c, host, HOST_MAINTENANCE);
    cluster_agents_start(c, host);
    task_succeed(c, h->task);
}

static void end_standby(struct cluster *c, uint32_t host)
{
    struct host_sim *h = &c->hosts[host];

    h->totals.power_offs++;
    h->standby_since = instant(c);
    cluster_agents_stop(c, host);
    enter(c, host, HOST_STANDBY);
    h->asleep_since_s = c->now_s;
    task_succeed(c, h->task);
}

void cluster_on_host(struct cluster *c, uint32_t host)
{
    struct host_sim *h = &c->hosts[host];

    if (h->now.dead) {
        h->totals.power_ons += h->plugged;
        cluster_on_host_back(c, host);
        return;
    }
    switch (h->now.state) {
    case HOST_POWERING_ON:
        end_wake(c, host);
        break;
    case HOST_ENTERING_STANDBY:
        end_standby(c, host);
        break;
    case HOST_MAINTENANCE:
        become_on(c, host);
        task_succeed(c, h->task);
        break;
    case HOST_ON:
    case HOST_ENTERING_MAINTENANCE:
    case HOST_STANDBY:
    case HOST_DISCONNECTED:
    case host_state_count:
        return;
    }
    h->task = TASK_NONE;
}
