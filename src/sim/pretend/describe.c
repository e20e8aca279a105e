#include "sim/pretend/pretend_internal.h"

#include "base/random.h"

#include <string.h>

/* How far demand wavers around its level, and how long it takes from one height to the next. */
#define WAVER 0.04
#define WAVER_S 60.0

/* Of consumed but idle memory, what the level of demand is taken to hold (the setting's default). */
#define IDLE_SHARE 0.25

#define INTERVAL_MS 20000.0

/* A number in [-1, 1) that belongs to this VM and step. */
static double noise(uint64_t seed, uint32_t vm, uint64_t step)
{
    struct rng r = {.state = seed ^ ((uint64_t)vm << 32) ^ (step * 0x9e3779b97f4a7c15u)};

    return rng_range(&r, -1, 1);
}

/* 1, give or take WAVER; goes in straight lines from one step's height to the next one's. */
static double waver(const struct pretend *p, uint32_t vm)
{
    double at = p->now_s(p->clock) * p->speed / WAVER_S;
    uint64_t step = (uint64_t)at;
    double along = at - (double)step;

    return 1 + WAVER * ((1 - along) * noise(p->seed, vm, step) + along * noise(p->seed, vm, step + 1));
}

static const char *host_id(const struct pretend *p, uint32_t ix)
{
    return ix == IX_NONE ? NULL : p->snap.hosts[ix].is.id;
}

/* How much memory is taken on each host, by index. */
static double *taken_mb(const struct pretend *p, struct arena *a)
{
    double *sum = arena_array(a, double, p->snap.n_hosts + 1);

    for (uint32_t i = 0; i < p->snap.n_vms; i++) {
        const struct vm *v = &p->snap.vms[i];

        if (!p->removed[i] && v->host != IX_NONE && v->is.state == VM_ON)
            sum[v->host] += v->is.consumed_mb + v->is.overhead_mb;
    }
    return sum;
}

/* The part of what its VMs want that each host can give, by index. */
static double *granted(const struct pretend *p, const double *wanted_mhz, struct arena *a)
{
    double *sum = arena_array(a, double, p->snap.n_hosts + 1);

    for (uint32_t i = 0; i < p->snap.n_vms; i++) {
        if (p->snap.vms[i].host != IX_NONE)
            sum[p->snap.vms[i].host] += wanted_mhz[i];
    }
    for (uint32_t h = 0; h < p->snap.n_hosts; h++)
        sum[h] =
            sum[h] > p->snap.hosts[h].capacity[RES_CPU] ? p->snap.hosts[h].capacity[RES_CPU] / sum[h] : 1;
    return sum;
}

static double core_mhz(const struct host *h)
{
    return h->is.total[RES_CPU] / (h->is.cores ? h->is.cores : 1);
}

/* Never more than its vCPUs have where it runs: a level that was measured on a faster host, or that wavers
 * past the top, is no figure that a hypervisor could report. */
static double *wanted_cpu(const struct pretend *p, struct arena *a)
{
    double *wanted = arena_array(a, double, p->snap.n_vms + 1);

    for (uint32_t i = 0; i < p->snap.n_vms; i++) {
        const struct vm *v = &p->snap.vms[i];

        if (p->removed[i] || v->is.state != VM_ON || v->host == IX_NONE)
            continue;
        wanted[i] =
            fmin(v->is.demand[RES_CPU] * waver(p, i), v->is.vcpus * core_mhz(&p->snap.hosts[v->host]));
    }
    return wanted;
}

/* What a hypervisor would have measured: the VM ran for the part that it got, and was ready for the rest. */
static struct vm_sample sample(const struct vm *v, const struct host *h, double wanted_mhz, double wanted_mb,
                               double part)
{
    double core = core_mhz(h);
    double all_ms = INTERVAL_MS * v->is.vcpus;
    double wanted_ms = fmin(wanted_mhz / core * INTERVAL_MS, all_ms);
    double active_mb = (wanted_mb - v->is.overhead_mb - IDLE_SHARE * v->is.consumed_mb) / (1 - IDLE_SHARE);

    return (struct vm_sample){
        .present = true,
        .interval_ms = INTERVAL_MS,
        .cpu_used_mhz = wanted_mhz * part,
        .cpu_run_ms = wanted_ms * part,
        .cpu_ready_ms = wanted_ms * (1 - part),
        .cpu_sleep_ms = all_ms - wanted_ms,
        .core_mhz = core,
        .mem_active_mb = fmin(fmax(active_mb, 0), v->is.consumed_mb),
        .mem_guest_used_mb = UNKNOWN,
        .mem_consumed_mb = v->is.consumed_mb,
        .mem_overhead_mb = v->is.overhead_mb,
    };
}

static const char **ids_of(const struct pretend *p, struct span s, bool vms, struct arena *a, uint32_t *ret_n)
{
    const char **ids = arena_array(a, const char *, s.n + 1);
    uint32_t n = 0;

    for (uint32_t i = 0; i < s.n; i++) {
        if (vms && p->removed[s.items[i]])
            continue;
        ids[n++] = arena_strdup(a, vms ? p->snap.vms[s.items[i]].is.id : host_id(p, s.items[i]));
    }
    *ret_n = n;
    return ids;
}

static struct ids ids_in(const struct pretend *p, struct span s, bool vms, struct arena *a)
{
    struct ids ret = {0};

    ret.items = ids_of(p, s, vms, a, &ret.n);
    return ret;
}

static struct labels copy_labels(struct labels l, struct arena *a)
{
    struct label *items = arena_array(a, struct label, l.n + 1);

    for (uint32_t i = 0; i < l.n; i++)
        items[i] = (struct label){arena_strdup(a, l.items[i].key), arena_strdup(a, l.items[i].value)};
    return (struct labels){.items = items, .n = l.n};
}

static void describe_hosts(const struct pretend *p, struct arena *a, struct inventory *inv)
{
    const double *taken = taken_mb(p, a);

    for (uint32_t i = 0; i < p->snap.n_hosts; i++) {
        const struct host *h = &p->snap.hosts[i];
        struct seen_host *seen = inventory_add_host(inv, a);

        seen->is = h->is;
        seen->is.id = arena_strdup(a, h->is.id);
        seen->is.name = arena_strdup(a, h->is.name);
        seen->is.labels = copy_labels(h->is.labels, a);
        seen->is.mem_free_mb = fmax(h->capacity[RES_MEM] - taken[i], 0);
        seen->agents_required = ids_in(p, h->agents_required, true, a);
    }
}

static void describe_vms(const struct pretend *p, struct arena *a, struct inventory *inv)
{
    double *wanted = wanted_cpu(p, a);
    double *part = granted(p, wanted, a);

    for (uint32_t i = 0; i < p->snap.n_vms; i++) {
        const struct vm *v = &p->snap.vms[i];

        if (p->removed[i])
            continue;
        struct seen_vm *seen = inventory_add_vm(inv, a);

        seen->is = v->is;
        seen->is.id = arena_strdup(a, v->is.id);
        seen->is.name = arena_strdup(a, v->is.name);
        seen->is.labels = copy_labels(v->is.labels, a);
        seen->host = arena_strdup(a, host_id(p, v->host));
        seen->pool = v->pool == IX_NONE ? NULL : arena_strdup(a, p->snap.pools[v->pool].is.id);
        if (v->ft_peer != IX_NONE && !p->removed[v->ft_peer])
            seen->ft_peer = arena_strdup(a, p->snap.vms[v->ft_peer].is.id);
        seen->compatible_given = v->compatible_given;
        seen->compatible_hosts = ids_in(p, v->compatible_hosts, false, a);
        if (v->is.state == VM_ON && v->host != IX_NONE) {
            seen->is.demand[RES_CPU] = wanted[i];
            seen->is.demand[RES_MEM] = v->is.demand[RES_MEM] * waver(p, i);
            seen->sample =
                sample(v, &p->snap.hosts[v->host], wanted[i], seen->is.demand[RES_MEM], part[v->host]);
        }
        vm_facts_windows(&seen->is);
    }
}

static void describe_rest(const struct pretend *p, struct arena *a, struct inventory *inv)
{
    for (uint32_t i = 0; i < p->snap.n_pools; i++) {
        const struct pool *pool = &p->snap.pools[i];
        struct seen_pool *seen = inventory_add_pool(inv, a);

        seen->is = pool->is;
        seen->is.id = arena_strdup(a, pool->is.id);
        seen->is.name = arena_strdup(a, pool->is.name);
        seen->parent = pool->parent == IX_NONE ? NULL : arena_strdup(a, p->snap.pools[pool->parent].is.id);
    }
    for (uint32_t i = 0; i < p->snap.n_rules; i++) {
        const struct rule *rule = &p->snap.rules[i];
        struct seen_rule *seen = inventory_add_rule(inv, a);

        seen->is = rule->is;
        seen->is.id = arena_strdup(a, rule->is.id);
        seen->is.name = arena_strdup(a, rule->is.name);
        seen->vms = ids_in(p, rule->vms, true, a);
        seen->hosts = ids_in(p, rule->hosts, false, a);
    }
    for (uint32_t i = 0; i < p->snap.n_settings; i++) {
        const struct host_setting *h = &p->snap.settings[i];
        struct seen_setting *seen = inventory_add_setting(inv, a);

        seen->host = arena_strdup(a, host_id(p, h->host));
        seen->pool = arena_strdup(a, p->snap.pools[h->pool].is.id);
        memcpy(seen->alloc, h->alloc, sizeof seen->alloc);
    }
    inv->settings_seen = true;
    inv->ha = p->snap.ha;
    inv->ha_failover_hosts = ids_in(p, p->snap.ha_failover_hosts, false, a);
}

static void describe_migrations(const struct pretend *p, struct arena *a, struct inventory *inv)
{
    double now = p->now_s(p->clock);

    for (size_t i = 0; i < p->n_tasks; i++) {
        const struct task *t = &p->tasks[i];

        if (t->deed != DEED_MIGRATE || t->state != TASK_RUNNING || p->removed[t->vm])
            continue;
        struct seen_migration *m = inventory_add_migration(inv, a);

        m->vm = arena_strdup(a, p->snap.vms[t->vm].is.id);
        m->from = arena_strdup(a, host_id(p, t->from));
        m->to = arena_strdup(a, host_id(p, t->to));
        m->started = inv->time - (instant_s)(now - t->begun_s);
    }
}

void pretend_describe(const struct pretend *p, struct arena *a, struct inventory *ret)
{
    *ret = (struct inventory){.cluster = arena_strdup(a, p->snap.cluster), .time = pretend_instant(p)};
    describe_hosts(p, a, ret);
    describe_vms(p, a, ret);
    describe_rest(p, a, ret);
    describe_migrations(p, a, ret);
}
