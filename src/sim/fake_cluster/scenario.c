/* scenario.c: makes an endless scenario of a snapshot. cluster.c of sim/cluster runs it. */
#include "sim/fake_cluster/fake_cluster_internal.h"

#include <string.h>

/* The range of demand around its level, and the time between its changes. */
#define WAVER 0.04
#define WAVER_S 60.0

/* The demand of a VM that was off when it starts: parts of its cores and of its memory. */
#define FRESH_CPU_SHARE 0.2
#define FRESH_MEM_SHARE 0.5

/* Used where the snapshot has no value. */
#define RATE_MB_S 250.0
#define BOOT_S 180.0
#define STANDBY_S 60.0
#define STANDBY_W 8.0 /* of a host's controller, while the host sleeps */
#define DIRTY_MB_S 5.0

/* All hosts copy as fast as the slowest one says; migrations do not share a network. */
static struct migration_model migrations_of(const struct snapshot *snap)
{
    double rate = INFINITY;

    for (uint32_t i = 0; i < snap->n_hosts; i++)
        rate = fmin(rate, snap->hosts[i].is.migration_rate_mb_s); /* one that is not known does not count */
    return (struct migration_model){
        .kind = MIGRATION_PRECOPY,
        .rate_mb_s = rate < INFINITY ? fmax(rate, 1) : RATE_MB_S,
        .downtime_s = 0.3,
        .rounds_max = 30,
        .cpu_mhz_per_mb_s = 5,
        .slowdown = 0.1,
    };
}

/* Draw as in the snapshot, with a meter; none where the snapshot has no figures. */
static struct host_model model_of_host(const struct host_facts *h)
{
    bool known = h->power_idle_w >= 0 && h->power_peak_w >= h->power_idle_w;
    struct host_model m = {
        .watts = {known ? h->power_idle_w : 0, known ? h->power_peak_w : 0},
        .n_watts = known ? 2 : 0,
        .boot_w = known ? h->power_peak_w : 0,
        .sleep_w = known ? h->power_idle_w : 0,
        .standby_w = !known                    ? 0
                     : h->power_standby_w >= 0 ? h->power_standby_w
                                               : STANDBY_W,
        .meter = known,
        .boot_s = isnan(h->boot_s) ? BOOT_S : h->boot_s,
        .sleep_s = STANDBY_S,
        .link_mb_s = INFINITY,
    };

    if (h->power_curve_w.n > 0) {
        memcpy(m.watts, h->power_curve_w.watts, h->power_curve_w.n * sizeof m.watts[0]);
        m.n_watts = h->power_curve_w.n;
    }
    return m;
}

static double fastest_core_mhz(const struct snapshot *snap)
{
    double most = 0;

    for (uint32_t i = 0; i < snap->n_hosts; i++) {
        const struct host_facts *h = &snap->hosts[i].is;

        most = fmax(most, h->total[RES_CPU] / (h->cores ? h->cores : 1));
    }
    return most;
}

static struct workload wavering(uint64_t seed, double max)
{
    return (struct workload){
        .kind = WORKLOAD_UNIFORM,
        .seed = seed,
        .high = 1,
        .high_spread = WAVER,
        .step_s = WAVER_S,
        .max = max,
    };
}

void fake_cluster_set_level(struct scenario *s, uint32_t vm, double cpu_mhz, double mem_mb)
{
    const struct vm_facts *f = &s->initial.vms[vm].is;
    double idle = s->policy.mem_idle_percent / 100;
    double active_mb = (mem_mb - f->overhead_mb - idle * f->consumed_mb) / fmax(1 - idle, 0.01);

    if (f->state != VM_ON) /* it has touched nothing when it starts, and nothing of it is idle */
        active_mb = mem_mb - f->overhead_mb;
    else
        active_mb = fmin(active_mb, f->consumed_mb);
    s->vms[vm].of[RES_CPU].scale = cpu_mhz;
    s->vms[vm].of[RES_MEM].scale = fmax(active_mb, 0);
}

/* A starting VM has the snapshot's demand; where that has none, because the VM was off, a part of its
 * size. An unknown demand counts as given: this VM has one. */
static void add_vm(struct scenario *s, uint32_t vm, uint64_t seed, double core_mhz)
{
    struct vm_facts *f = &s->initial.vms[vm].is;
    struct vm_model *m = &s->vms[vm];
    double cpu = f->demand[RES_CPU], mem = f->demand[RES_MEM];

    *m = (struct vm_model){
        .of = {[RES_CPU] = wavering(workload_seed(seed, f->id, "cpu"), INFINITY),
               [RES_MEM] = wavering(workload_seed(seed, f->id, "mem"), f->mem_mb)},
        .leaves_s = INFINITY,
        .dirty_mb_s = isnan(f->dirty_mb_s) ? DIRTY_MB_S : f->dirty_mb_s,
    };
    f->demand_unknown = false;
    f->sample_bad = NULL;
    f->sample_age_s = UNKNOWN;
    if (f->state != VM_ON && !(cpu > 0))
        cpu = FRESH_CPU_SHARE * core_mhz * f->vcpus;
    if (f->state != VM_ON && !(mem > 0))
        mem = FRESH_MEM_SHARE * f->mem_mb;
    fake_cluster_set_level(s, vm, cpu, mem);
}

void fake_cluster_scenario(const struct snapshot *snap, instant_s start, uint64_t seed, struct arena *a,
                           struct scenario *ret)
{
    *ret = (struct scenario){
        .name = snap->cluster,
        .start = start,
        .duration_s = INFINITY,
        .seed = seed,
        .initial = *snap,
        .hosts = arena_array(a, struct host_model, snap->n_hosts + 1),
        .vms = arena_array(a, struct vm_model, snap->n_vms + 1),
        .migration = migrations_of(snap),
        .scheduler = SCHEDULER_SHARES,
        .restart_s = INFINITY,
        .parts_unset = true,
    };
    policy_default(&ret->policy);
    for (uint32_t i = 0; i < snap->n_hosts; i++)
        ret->hosts[i] = model_of_host(&snap->hosts[i].is);
    for (uint32_t i = 0; i < snap->n_vms; i++)
        add_vm(ret, i, seed, fastest_core_mhz(snap));
}
