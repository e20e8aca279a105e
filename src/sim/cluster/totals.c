/* totals.c: integrals over time. Between two changes every rate is constant, so they are exact. */
#include "sim/cluster/cluster_internal.h"

void totals_integrate_vm(struct cluster *c, uint32_t vm)
{
    struct vm_sim *v = &c->vms[vm];
    double dt = c->now_s - v->settled_s;
    struct vm_totals *t = &v->totals;

    v->settled_s = c->now_s;
    if (!(dt > 0) || !v->to_run)
        return;
    for (int r = 0; r < RES_COUNT; r++) {
        t->wanted[r] += v->now.due[r] * dt;
        t->delivered[r] += v->now.gets[r] * dt;
    }
    t->to_run_s += dt;
    t->lost_moving_mhz_s += v->lost_mhz * dt;
    if (v->down || v->moving.stage == MOVING_STOPPED)
        t->down_s += dt;
    if (v->now.host == IX_NONE)
        return;
    v->counters.used_mhz_s += v->used_mhz * dt;
    v->counters.run_s += v->used_mhz / c->core_mhz[v->now.host] * dt;
    v->counters.ready_s += v->ready * dt;
    v->counters.active_mb_s += describe_active_mb(c, vm) * dt;
    if (is_moving(v))
        migrate_integrate(c, vm, dt);
}

void totals_integrate_host(struct cluster *c, uint32_t host)
{
    struct host_sim *h = &c->hosts[host];
    double dt = c->now_s - h->settled_s;
    struct host_totals *t = &h->totals;

    h->settled_s = c->now_s;
    if (!(dt > 0))
        return;
    for (int r = 0; r < RES_COUNT; r++) {
        t->capacity[r] += host_of(c, host)->capacity[r] * dt;
        t->available[r] += is_up(h) ? host_of(c, host)->capacity[r] * dt : 0;
        t->delivered[r] += h->now.delivered[r] * dt;
    }
    t->energy_j += h->now.watts * dt;
    t->energy_idle_off_j += h->idle_off_watts * dt;
    t->active_s += h->active ? dt : 0;
    t->overloaded_s += h->overloaded ? dt : 0;
    t->on_s += is_up(h) ? dt : 0;
    t->booting_s += h->now.state == HOST_POWERING_ON && !h->now.dead ? dt : 0;
}

static void integrate_hot(struct cluster *c)
{
    c->hot_s += c->n_hot > 0 ? c->now_s - c->hot_from_s : 0;
    c->hot_from_s = c->now_s;
}

void totals_set_hot(struct cluster *c, uint32_t host, bool hot)
{
    struct host_sim *h = &c->hosts[host];

    if (h->hot == hot)
        return;
    integrate_hot(c);
    h->hot = hot;
    c->n_hot += hot ? 1u : -1u;
}

void totals_end_sleep(struct cluster *c, uint32_t host)
{
    struct host_sim *h = &c->hosts[host];

    if (isnan(h->asleep_since_s))
        return;
    c->sleeps_s = arena_grow(&c->arena, c->sleeps_s, c->n_sleeps, &c->cap_sleeps, sizeof *c->sleeps_s);
    c->sleeps_s[c->n_sleeps++] = c->now_s - h->asleep_since_s;
    h->asleep_since_s = NAN;
}

/* Reading integrates up to now; the cluster is const to the reader, its integrals are not. */
static struct cluster *mutable(const struct cluster *c)
{
    return (struct cluster *)(uintptr_t)c;
}

const struct host_totals *cluster_host_totals(const struct cluster *c, uint32_t host)
{
    totals_integrate_host(mutable(c), host);
    return &c->hosts[host].totals;
}

const struct vm_totals *cluster_vm_totals(const struct cluster *c, uint32_t vm)
{
    totals_integrate_vm(mutable(c), vm);
    return &c->vms[vm].totals;
}

double cluster_hot_s(const struct cluster *c)
{
    integrate_hot(mutable(c));
    return c->hot_s;
}

const double *cluster_sleeps_s(const struct cluster *c, size_t *ret_n)
{
    *ret_n = c->n_sleeps;
    return c->sleeps_s;
}

void cluster_reset_totals(struct cluster *c)
{
    integrate_hot(c);
    c->hot_s = 0;
    c->n_sleeps = 0;
    for (uint32_t i = 0; i < c->initial->n_hosts; i++) {
        totals_integrate_host(c, i);
        c->hosts[i].totals = (struct host_totals){0};
    }
    for (uint32_t i = 0; i < c->initial->n_vms; i++) {
        totals_integrate_vm(c, i);
        c->vms[i].totals = (struct vm_totals){0};
    }
}

const struct host_now *cluster_host(const struct cluster *c, uint32_t host)
{
    return &c->hosts[host].now;
}

const struct vm_now *cluster_vm(const struct cluster *c, uint32_t vm)
{
    return &c->vms[vm].now;
}

uint32_t cluster_migrations_running(const struct cluster *c)
{
    return c->moving.n;
}
