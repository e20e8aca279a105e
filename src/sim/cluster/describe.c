/* describe.c: the cluster as a collector sees it.
 *
 * A collector does not see demand, but a hypervisor's measurements: CPU use and waiting time of vCPUs
 * since the last inventory, touched memory and backed memory. Strings are the scenario's, which outlives
 * the inventory.
 */
#include "sim/cluster/cluster_internal.h"

#include "core/demand/demand.h"
#include "model/snapshot_to_inventory.h"

/* Minimum interval between two inventories; below it a hypervisor shows present values. */
#define INTERVAL_LEAST_S 1.0
#define INTERVAL_NOW_S 20.0

#define BALLOON_PART 0.65    /* of its memory a guest gives back at most: ESXi's default */
#define WANTED_WITHIN_S 60.0 /* what is touched within it is wanted */
#define SWAPS_FOR_S 300.0    /* a host that has swapped for so long says so */

void describe_counters_reset(struct cluster *c, uint32_t vm)
{
    c->vms[vm].counters = (struct counters){.since_s = c->now_s};
}

static uint32_t vcpus_of(const struct cluster *c, uint32_t vm)
{
    return vm_of(c, vm)->is.vcpus;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Of a host: what is left for memory that was touched once and is idle now. */
struct backing {
    double idle_part; /* of each VM's idle memory that is still backed */
    double free_mb;
};

static double idle_mb(const struct cluster *c, uint32_t vm)
{
    const struct vm_sim *v = &c->vms[vm];

    return fmax(0, v->consumed_mb + vm_of(c, vm)->is.overhead_mb - v->now.wants[RES_MEM]);
}

static struct backing backing_of(const struct cluster *c, uint32_t host)
{
    const struct host_sim *h = &c->hosts[host];
    double left = host_of(c, host)->capacity[RES_MEM], idle = 0;

    for (uint32_t i = 1; is_up(h) && i < h->tree.n; i++) {
        const struct node *n = &h->tree.nodes[i];

        if (n->is_vm && n->arriving)
            left -= fmin(c->vms[n->ix].now.wants[RES_MEM], left);
    }
    for (uint32_t i = 0; i < h->vms.n; i++) {
        left -= c->vms[h->vms.items[i]].now.gets[RES_MEM];
        idle += idle_mb(c, h->vms.items[i]);
    }
    left = fmax(left, 0);
    return (struct backing){.idle_part = idle > left ? left / idle : 1, .free_mb = fmax(left - idle, 0)};
}

/* A guest works in what it was left. */
double describe_active_mb(const struct cluster *c, uint32_t vm)
{
    const struct vm_sim *v = &c->vms[vm];

    return fmin(v->working_mb, fmax(0, v->now.gets[RES_MEM] - vm_of(c, vm)->is.overhead_mb));
}

/* Of a VM's memory that it has touched, what its host does not back any more. */
static double taken_mb(const struct cluster *c, uint32_t vm, const struct backing *b)
{
    const struct vm_now *v = &c->vms[vm].now;

    return fmax(0, v->wants[RES_MEM] - v->gets[RES_MEM]) + (1 - b->idle_part) * idle_mb(c, vm);
}

/* A guest gives back by its balloon first, then its hypervisor swaps. What it wants of that it reads back at
 * least once in the time over which wants are measured. */
static void describe_squeeze(const struct cluster *c, uint32_t vm, const struct backing *b,
                             struct vm_facts *f)
{
    const struct vm_now *v = &c->vms[vm].now;
    double taken = taken_mb(c, vm, b);

    f->ballooned_mb = fmin(taken, BALLOON_PART * f->mem_mb);
    f->swapped_mb = taken - f->ballooned_mb;
    f->swap_in_mb_s = fmin(f->swapped_mb, fmax(0, v->wants[RES_MEM] - v->gets[RES_MEM])) / WANTED_WITHIN_S;
}

/* ---- a VM's measurements --------------------------------------------------------------------- */

static struct vm_sample measure(struct cluster *c, uint32_t vm, const struct backing *b)
{
    struct vm_sim *v = &c->vms[vm];
    double length_s = c->now_s - v->counters.since_s;
    double overhead = vm_of(c, vm)->is.overhead_mb;
    struct counters x = v->counters;

    if (length_s < INTERVAL_LEAST_S) {
        length_s = INTERVAL_NOW_S;
        x = (struct counters){.used_mhz_s = v->used_mhz * length_s,
                              .run_s = v->used_mhz / c->core_mhz[v->now.host] * length_s,
                              .ready_s = v->ready * length_s,
                              .active_mb_s = describe_active_mb(c, vm) * length_s};
    }
    return (struct vm_sample){
        .present = true,
        .measured = instant(c),
        .interval_ms = length_s * 1000,
        .cpu_used_mhz = x.used_mhz_s / length_s,
        .cpu_run_ms = x.run_s * 1000,
        .cpu_ready_ms = x.ready_s * 1000,
        .cpu_sleep_ms = fmax(0, (vcpus_of(c, vm) * length_s - x.run_s - x.ready_s) * 1000),
        .core_mhz = c->core_mhz[v->now.host],
        .mem_active_mb = x.active_mb_s / length_s,
        .mem_guest_used_mb = UNKNOWN,
        .mem_consumed_mb = fmax(0, v->now.gets[RES_MEM] - overhead) + b->idle_part * fmax(0, idle_mb(c, vm)),
        .mem_overhead_mb = overhead,
    };
}

static struct vm_sample look_at(struct cluster *c, uint32_t vm, const struct backing *b)
{
    struct vm_sim *v = &c->vms[vm];

    totals_integrate_vm(c, vm);
    if (!(v->sample.present && c->now_s < v->stale_until_s))
        v->sample = measure(c, vm, b);
    describe_counters_reset(c, vm);
    return c->now_s < v->garbage_until_s ? fault_garbage_sample(c, vm, v->sample) : v->sample;
}

/* ---- objects --------------------------------------------------------------------------------- */

/* Without the VMs that are not there (any more). */
static struct ids present_vms(const struct cluster *c, struct span vms, struct arena *a)
{
    const char **ids = arena_array(a, const char *, vms.n);
    uint32_t n = 0;

    for (uint32_t i = 0; i < vms.n; i++) {
        if (c->vms[vms.items[i]].present)
            ids[n++] = vm_of(c, vms.items[i])->is.id;
    }
    return (struct ids){.items = ids, .n = n};
}

static void describe_hosts(struct cluster *c, struct arena *a, const struct backing *b, struct inventory *inv)
{
    for (uint32_t i = 0; i < c->initial->n_hosts; i++) {
        const struct host_sim *h = &c->hosts[i];
        struct seen_host *seen = inventory_add_host(inv, a);

        seen->is = host_of(c, i)->is;
        seen->is.state = h->now.state;
        seen->is.on_since = seen->booted = h->on_since;
        seen->is.standby_since = h->now.state == HOST_STANDBY ? h->standby_since : 0;
        seen->is.mem_free_mb = is_up(h) ? b[i].free_mb : UNKNOWN;
        seen->agents_required = present_vms(c, host_of(c, i)->agents_required, a);
    }
}

static void describe_running(struct cluster *c, uint32_t vm, const struct backing *b, struct seen_vm *seen,
                             struct host_facts *host)
{
    struct vm_sim *v = &c->vms[vm];
    struct vm_facts *f = &seen->is;

    seen->sample = look_at(c, vm, &b[v->now.host]);
    f->state = VM_ON;
    f->consumed_mb = seen->sample.mem_consumed_mb;
    double cpu = demand_cpu_mhz(&seen->sample, f->vcpus);
    double mem = demand_mem_mb(&seen->sample, c->s->policy.mem_idle_percent);

    f->demand[RES_CPU] = isnan(cpu) ? 0 : cpu;
    f->demand[RES_MEM] = isnan(mem) ? 0 : mem;
    f->stable_s = UNKNOWN;
    describe_squeeze(c, vm, b, f);
    if (c->now_s - c->hosts[v->now.host].short_since_s >= SWAPS_FOR_S) /* false where it is UNKNOWN */
        host->swap_in_mb_s += f->swap_in_mb_s;
}

static void describe_vm(struct cluster *c, uint32_t vm, const struct backing *b, struct arena *a,
                        struct inventory *inv)
{
    const struct vm *v = vm_of(c, vm);
    const struct vm_sim *x = &c->vms[vm];
    struct seen_vm *seen = inventory_add_vm(inv, a);
    const char **ids = arena_array(a, const char *, v->compatible_hosts.n);

    *seen = snapshot_to_inventory_vm(c->initial, v, ids);
    seen->host = x->home == IX_NONE ? NULL : host_of(c, x->home)->is.id;
    if (v->ft_peer != IX_NONE && !c->vms[v->ft_peer].present)
        seen->ft_peer = NULL;
    seen->is.last_migrated = v->is.last_migrated; /* later moves: the mover remembers them */
    seen->is.demand[RES_CPU] = seen->is.demand[RES_MEM] = 0;
    seen->is.set = x->set;
    if (x->now.host != IX_NONE) {
        describe_running(c, vm, b, seen, &inv->hosts[x->now.host].is);
    } else if (x->down && c->hosts[x->home].now.dead) {
        seen->is.state = VM_ON; /* as far as anybody can tell */
        seen->is.demand_unknown = true;
    } else {
        seen->is.state = x->state;
    }
    vm_facts_windows(&seen->is);
}

static void describe_migrations(const struct cluster *c, struct arena *a, struct inventory *inv)
{
    for (uint32_t i = 0; i < c->moving.n; i++) {
        uint32_t vm = c->moving.items[i];
        const struct moving *m = &c->vms[vm].moving;

        *inventory_add_migration(inv, a) =
            (struct seen_migration){.vm = vm_of(c, vm)->is.id,
                                    .from = host_of(c, m->from)->is.id,
                                    .to = host_of(c, m->to)->is.id,
                                    .started = c->s->start + (instant_s)m->begun_s};
    }
}

static void describe_pools(const struct cluster *c, struct arena *a, struct inventory *inv)
{
    for (uint32_t i = 0; i < c->initial->n_pools; i++)
        *inventory_add_pool(inv, a) = snapshot_to_inventory_pool(c->initial, &c->initial->pools[i]);
    for (uint32_t h = 0; h < c->initial->n_hosts; h++) {
        for (uint32_t i = 0; i < c->hosts[h].n_parts; i++) {
            const struct pool_part *p = &c->hosts[h].parts[i];

            if (p->implied && c->s->parts_unset)
                continue;
            *inventory_add_setting(inv, a) =
                (struct seen_setting){.host = host_of(c, h)->is.id,
                                      .pool = c->initial->pools[p->pool].is.id,
                                      .alloc = {p->alloc[RES_CPU], p->alloc[RES_MEM]}};
        }
    }
    inv->settings_seen = true;
    inv->vm_controls = c->initial->vm_controls;
}

static void describe_rules(const struct cluster *c, struct arena *a, struct inventory *inv)
{
    for (uint32_t i = 0; i < c->initial->n_rules; i++) {
        const struct rule *r = &c->initial->rules[i];
        struct seen_rule *seen = inventory_add_rule(inv, a);

        *seen = snapshot_to_inventory_rule(c->initial, r,
                                           arena_array(a, const char *, (size_t)r->vms.n + r->hosts.n));
        seen->vms = present_vms(c, r->vms, a);
    }
    inv->ha = c->initial->ha;
    inv->ha_failover_hosts = snapshot_to_inventory_failover_hosts(
        c->initial, arena_array(a, const char *, c->initial->ha_failover_hosts.n));
}

/* Groups and pipelines do not change. */
static void describe_placement(const struct cluster *c, struct arena *a, struct inventory *inv)
{
    const struct snapshot *s = c->initial;

    for (uint32_t i = 0; i < s->n_groups; i++)
        *inventory_add_group(inv, a) =
            snapshot_to_inventory_group(s, &s->groups[i], arena_array(a, const char *, s->groups[i].hosts.n));
    for (uint32_t i = 0; i < s->n_pipelines; i++)
        *inventory_add_pipeline(inv, a) = snapshot_to_inventory_pipeline(s, &s->pipelines[i], a);
}

void describe_cluster(struct cluster *c, struct arena *a, struct inventory *ret)
{
    struct backing *b = arena_array(a, struct backing, c->initial->n_hosts);

    uint32_t n_hosts = c->initial->n_hosts, n_vms = c->initial->n_vms;

    *ret = (struct inventory){.cluster = c->initial->cluster,
                              .time = instant(c),
                              .hosts = arena_array(a, struct seen_host, n_hosts),
                              .vms = arena_array(a, struct seen_vm, n_vms),
                              .cap_hosts = n_hosts,
                              .cap_vms = n_vms};
    for (uint32_t i = 0; i < c->initial->n_hosts; i++)
        b[i] = backing_of(c, i);
    describe_hosts(c, a, b, ret);
    for (uint32_t i = 0; i < c->initial->n_vms; i++) {
        if (c->vms[i].present)
            describe_vm(c, i, b, a, ret);
    }
    describe_pools(c, a, ret);
    describe_rules(c, a, ret);
    describe_placement(c, a, ret);
    describe_migrations(c, a, ret);
}
