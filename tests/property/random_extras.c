/* Optional features of a random cluster: deep pools, hosts in standby, agent VMs that do not run yet,
 * fault-tolerant pairs, failover capacity, VMs to be placed, approved recommendations. */
#include "random_cluster.h"

#include <string.h>

static bool chance(struct rng *r, double p)
{
    return rng_unit(r) < p;
}

static const char *any_host(struct rng *r, const struct inventory *inv)
{
    return inv->hosts[rng_below(r, (uint32_t)inv->n_hosts)].is.id;
}

static struct seen_host *host_of(const struct inventory *inv, const char *id)
{
    for (size_t i = 0; i < inv->n_hosts; i++)
        if (id && strcmp(inv->hosts[i].is.id, id) == 0)
            return &inv->hosts[i];
    return NULL;
}

static bool is_on_its_way(const struct inventory *inv, const struct seen_vm *v)
{
    for (size_t i = 0; i < inv->n_migrations; i++)
        if (strcmp(inv->migrations[i].vm, v->is.id) == 0)
            return true;
    for (size_t i = 0; i < inv->n_pending; i++)
        if (inv->pending[i].vm && strcmp(inv->pending[i].vm, v->is.id) == 0)
            return true;
    return false;
}

static void append(struct arena *a, struct ids *ids, const char *id)
{
    const char **items = arena_array(a, const char *, (size_t)ids->n + 1);

    for (uint32_t i = 0; i < ids->n; i++)
        items[i] = ids->items[i];
    items[ids->n] = id;
    *ids = (struct ids){.items = items, .n = ids->n + 1};
}

static void reserve(struct seen_vm *v, double cpu_mhz, double mem_mb)
{
    v->is.alloc[RES_CPU].reservation = cpu_mhz;
    v->is.alloc[RES_MEM].reservation = fmin(mem_mb, v->is.mem_mb);
    for (int k = 0; k < RES_COUNT; k++)
        v->is.alloc[k].limit = fmax(v->is.alloc[k].limit, v->is.alloc[k].reservation);
}

/* A VM that is off. */
static struct seen_vm *add_off(struct rng *r, struct inventory *inv, struct arena *a, const char *id,
                               const char *host)
{
    struct seen_vm *v = inventory_add_vm(inv, a);

    v->is.vcpus = 1 + rng_below(r, 4);
    v->is.mem_mb = 1024 * (1 + rng_below(r, 12));
    vm_facts_default(&v->is);
    v->is.id = id;
    v->is.name = id;
    v->is.state = VM_OFF;
    v->host = host;
    if (chance(r, 0.2))
        v->is.overhead_mb = 64;
    return v;
}

/* A chain of three, and now and then a sibling on the way. */
static void add_deep_pools(struct rng *r, struct inventory *inv, struct arena *a)
{
    uint32_t n = 3 + rng_below(r, 3);

    for (uint32_t i = 0; i < n; i++) {
        struct seen_pool *p = inventory_add_pool(inv, a);
        p->is.id = arena_printf(a, "q%u", i);
        p->is.name = p->is.id;
        p->parent = i == 0 ? NULL : arena_printf(a, "q%u", i < 3 ? i - 1 : rng_below(r, 3));
        for (int k = 0; k < RES_COUNT; k++) {
            p->is.alloc[k].shares = 500 * (1 + rng_below(r, 8));
            p->is.alloc[k].reservation = chance(r, 0.6) ? 1000 * rng_below(r, 12) : 0;
            if (chance(r, 0.3))
                p->is.alloc[k].limit = p->is.alloc[k].reservation + 2000 * (1 + rng_below(r, 10));
            p->is.alloc[k].expandable = chance(r, 0.5);
        }
        p->is.scalable_shares = chance(r, 0.3);
    }
    for (size_t i = 0; i < inv->n_vms; i++)
        if (chance(r, 0.5))
            inv->vms[i].pool = arena_printf(a, "q%u", rng_below(r, n));
}

static void add_sleeping(struct rng *r, struct inventory *inv, struct arena *a)
{
    static const enum automation dpm[] = {AUTOMATION_INHERIT, AUTOMATION_DISABLED, AUTOMATION_MANUAL,
                                          AUTOMATION_AUTOMATIC};
    uint32_t n = rng_below(r, 4);

    for (uint32_t i = 0; i < n; i++) {
        struct seen_host *h = inventory_add_host(inv, a);
        h->is.id = arena_printf(a, "s%02u", i);
        h->is.name = arena_printf(a, "sleeper-%02u", i);
        h->is.total[RES_CPU] = 10000 * (1 + rng_below(r, 2));
        h->is.total[RES_MEM] = 32768;
        h->is.cores = 8;
        h->is.state = chance(r, 0.7) ? HOST_STANDBY : HOST_POWERING_ON;
        h->is.dpm = dpm[rng_below(r, 4)];
        h->is.boot_s = chance(r, 0.5) ? 300 : UNKNOWN;
        for (size_t v = 0; v < inv->n_vms; v++)
            if (inv->vms[v].compatible_given && chance(r, 0.5))
                append(a, &inv->vms[v].compatible_hosts, h->is.id);
        for (size_t k = 0; k < inv->n_rules; k++)
            if (inv->rules[k].hosts.n > 0 && chance(r, 0.5))
                append(a, &inv->rules[k].hosts, h->is.id);
    }
}

static void add_idle_agents(struct rng *r, struct inventory *inv, struct arena *a)
{
    for (size_t h = 0; h < inv->n_hosts; h++) {
        if (!chance(r, 0.25))
            continue;
        struct seen_vm *v = add_off(r, inv, a, arena_printf(a, "a%02zu", h), inv->hosts[h].is.id);
        v->is.kind = VM_AGENT;
        reserve(v, 200 * rng_below(r, 8), 512 * rng_below(r, 4));
        append(a, &inv->hosts[h].agents_required, v->is.id);
    }
}

/* The secondary is a copy of the primary. */
static void pair_up(struct rng *r, const struct inventory *inv, struct seen_vm *primary,
                    struct seen_vm *secondary)
{
    const struct seen_host *h = host_of(inv, primary->host);
    bool may_join = !secondary->compatible_given && h && h->is.state != HOST_STANDBY;

    primary->is.kind = VM_FT_PRIMARY;
    secondary->is.kind = VM_FT_SECONDARY;
    if (chance(r, 0.5))
        primary->ft_peer = secondary->is.id;
    else
        secondary->ft_peer = primary->is.id;
    secondary->is.mem_mb = fmax(primary->is.mem_mb, secondary->is.mem_mb);
    reserve(secondary, primary->is.alloc[RES_CPU].reservation, primary->is.alloc[RES_MEM].reservation);
    if (may_join && !is_on_its_way(inv, secondary) && secondary->is.state == VM_ON && chance(r, 0.3))
        secondary->host = primary->host;
}

static void add_ft(struct rng *r, const struct inventory *inv)
{
    for (uint32_t i = 0, n = rng_below(r, 4); i < n; i++) {
        struct seen_vm *x = &inv->vms[rng_below(r, (uint32_t)inv->n_vms)];
        struct seen_vm *y = &inv->vms[rng_below(r, (uint32_t)inv->n_vms)];
        if (x == y || x->is.kind != VM_NORMAL || y->is.kind != VM_NORMAL)
            continue;
        if (x->is.state == y->is.state || chance(r, 0.3))
            pair_up(r, inv, x, y);
    }
}

/* ---- spare capacity ---- */

static void add_policy(struct rng *r, struct inventory *inv, struct arena *a)
{
    inv->ha.policy = chance(r, 0.1)   ? HA_NONE
                     : chance(r, 0.5) ? HA_HOST_FAILURES
                     : chance(r, 0.7) ? HA_PERCENT
                                      : HA_DEDICATED;
    inv->ha.hosts = chance(r, 0.6) ? 1 : rng_below(r, 4);
    for (int k = 0; k < RES_COUNT; k++)
        inv->ha.percent[k] = chance(r, 0.2) ? 0 : 5 * rng_below(r, 13);
    if (inv->ha.policy != HA_DEDICATED)
        return;
    append(a, &inv->ha_failover_hosts, any_host(r, inv));
    const char *other = any_host(r, inv);
    if (chance(r, 0.2) && strcmp(other, inv->ha_failover_hosts.items[0]) != 0)
        append(a, &inv->ha_failover_hosts, other);
}

/* The configuration's, beside the source's or alone. */
static void add_own_policy(struct rng *r, struct inventory *inv, struct arena *a)
{
    struct ha_configured *own = &inv->ha_configured;

    if (chance(r, 0.3)) {
        inv->ha.policy = HA_NONE;
        inv->ha_failover_hosts.n = 0;
    }
    own->given = true;
    own->policy = chance(r, 0.6) ? HA_HOST_FAILURES : chance(r, 0.6) ? HA_PERCENT : HA_DEDICATED;
    own->hosts = own->policy != HA_HOST_FAILURES ? 0 : chance(r, 0.8) ? 1 : 2;
    for (int k = 0; k < RES_COUNT && own->policy == HA_PERCENT; k++)
        own->percent[k] = chance(r, 0.2) ? 0 : 5 * rng_below(r, 9);
    if (own->policy == HA_DEDICATED)
        append(a, &own->failover_hosts, any_host(r, inv));
    for (size_t i = 0; i < inv->n_vms; i++)
        inv->vms[i].is.restart_priority = (enum restart_priority)rng_below(r, RESTART_HIGH + 1);
}

static void add_spare_vms(struct rng *r, struct inventory *inv, struct arena *a)
{
    for (uint32_t i = 0, n = rng_below(r, 3); i < n; i++) {
        const char *host = chance(r, 0.6) ? any_host(r, inv) : NULL;
        struct seen_vm *v = add_off(r, inv, a, arena_printf(a, "x%u", i), host);
        v->is.kind = VM_SPARE;
        reserve(v, 500 * rng_below(r, 8), 1024 * rng_below(r, 6));
        if (!chance(r, 0.2))
            continue;
        v->compatible_given = true;
        for (size_t h = 0; h < inv->n_hosts; h++)
            if (chance(r, 0.5))
                append(a, &v->compatible_hosts, inv->hosts[h].is.id);
    }
}

static void add_ha(struct rng *r, bool own, struct inventory *inv, struct arena *a)
{
    double part = rng_unit(r);

    add_policy(r, inv, a);
    for (size_t i = 0; i < inv->n_vms; i++) {
        struct seen_vm *v = &inv->vms[i];
        bool reserves = v->is.kind != VM_AGENT && chance(r, part);
        double cpu = chance(r, 0.7) ? 250 * (1 + rng_below(r, 12)) : 0;
        double mem = chance(r, 0.7) ? 1024 * (1 + rng_below(r, 6)) : 0;
        if (reserves)
            reserve(v, cpu, mem);
    }
    if (chance(r, 0.3))
        add_spare_vms(r, inv, a);
    if (own)
        add_own_policy(r, inv, a);
}

/* ---- VMs that are about to be powered on ---- */

static void join_rules(struct rng *r, struct inventory *inv, struct arena *a, const char *vm)
{
    for (size_t k = 0; k < inv->n_rules; k++)
        if (chance(r, 0.25))
            append(a, &inv->rules[k].vms, vm);
}

static void add_newcomers(struct rng *r, struct inventory *inv, struct arena *a)
{
    uint32_t first = (uint32_t)inv->n_vms;
    uint32_t n = 1 + rng_below(r, 5);

    for (uint32_t i = 0; i < n; i++) {
        struct seen_vm *v =
            add_off(r, inv, a, arena_printf(a, "w%02u", i), chance(r, 0.2) ? any_host(r, inv) : NULL);
        if (chance(r, 0.7))
            reserve(v, 250 * rng_below(r, 14), 1024 * rng_below(r, 8));
        if (inv->n_pools > 0 && chance(r, 0.5))
            v->pool = inv->pools[rng_below(r, (uint32_t)inv->n_pools)].is.id;
        if (chance(r, 0.1))
            v->is.alloc[RES_CPU].limit = v->is.alloc[RES_CPU].reservation + 500;
        v->compatible_given = chance(r, 0.2);
        for (size_t h = 0; v->compatible_given && h < inv->n_hosts; h++)
            if (chance(r, 0.6))
                append(a, &v->compatible_hosts, inv->hosts[h].is.id);
        join_rules(r, inv, a, v->is.id);
    }
    if (n > 1 && chance(r, 0.3))
        pair_up(r, inv, &inv->vms[first], &inv->vms[first + 1]);
}

static void add_pending(struct inventory *inv, struct arena *a, enum action_kind action, const char *vm,
                        const char *host)
{
    bool of_vm = action == ACTION_PLACE;

    *inventory_add_pending(inv, a) = (struct seen_pending){
        .action = action, .vm = vm, .to = of_vm ? host : NULL, .host = of_vm ? NULL : host};
}

static void add_approved(struct rng *r, struct inventory *inv, struct arena *a)
{
    for (uint32_t i = 0, n = rng_below(r, 4); i < n; i++) {
        const char *host = any_host(r, inv);
        struct seen_vm *v = add_off(r, inv, a, arena_printf(a, "y%02u", i), chance(r, 0.3) ? host : NULL);
        if (chance(r, 0.6))
            reserve(v, 250 * rng_below(r, 12), 1024 * rng_below(r, 6));
        join_rules(r, inv, a, v->is.id);
        add_pending(inv, a, ACTION_PLACE, v->is.id, host);
    }
    for (size_t h = 0; h < inv->n_hosts; h++) {
        enum host_state state = inv->hosts[h].is.state;
        if (state == HOST_STANDBY && chance(r, 0.3))
            add_pending(inv, a, ACTION_POWER_ON, NULL, inv->hosts[h].is.id);
        if (state == HOST_ON && chance(r, 0.05))
            add_pending(inv, a, chance(r, 0.5) ? ACTION_POWER_OFF : ACTION_ENTER_MAINTENANCE, NULL,
                        inv->hosts[h].is.id);
    }
}

/* Steep at first, as most servers are. */
static void add_curve(struct host_facts *f, struct arena *a)
{
    double *watts = arena_array(a, double, 3);

    watts[0] = f->power_idle_w;
    watts[1] = f->power_idle_w * 1.7;
    watts[2] = f->power_peak_w;
    f->power_curve_w = (struct power_curve){watts, 3};
}

/* Some were woken, for whatever, not long ago. */
static void add_wake(struct rng *r, struct host_facts *f, instant_s now)
{
    enum reason reason = (enum reason)rng_below(r, reason_count);
    instant_s at = now - 60 * (instant_s)rng_below(r, 100);

    if (rng_below(r, 4) == 0 && f->state == HOST_ON)
        f->woken = (struct woken){.at = at, .reason = reason};
}

/* Quiet clusters mostly: everybody wants only a part of what was said. */
static void add_power(struct rng *r, struct inventory *inv, struct arena *a)
{
    double part = chance(r, 0.3) ? 1 : rng_range(r, 0.02, 0.6);
    struct rng own = {.state = r->state + 1};

    for (size_t h = 0; h < inv->n_hosts; h++) {
        struct host_facts *f = &inv->hosts[h].is;
        f->wake_verified = chance(r, 0.9);
        f->on_since = inv->time - 60 * rng_below(r, 100);
        f->standby_since = inv->time - 60 * rng_below(r, 100);
        add_wake(&own, f, inv->time);
        if (chance(r, 0.5))
            f->power_idle_w = rng_range(r, 80, 200);
        f->power_peak_w = f->power_idle_w * 2;
        if (h % 3 == 0 && !isnan(f->power_idle_w))
            add_curve(f, a);
        if (chance(r, 0.1))
            f->dpm = chance(r, 0.5) ? AUTOMATION_DISABLED : AUTOMATION_AUTOMATIC;
    }
    for (size_t i = 0; i < inv->n_vms; i++) {
        struct vm_facts *f = &inv->vms[i].is;
        for (int k = 0; k < RES_COUNT; k++) {
            f->demand[k] *= part;
            for (int w = 0; w < WINDOW_COUNT; w++) {
                f->window[w][k].mean *= part;
                f->window[w][k].stddev *= part;
                f->window[w][k].min *= part;
                f->window[w][k].max *= part;
            }
        }
        if (chance(r, 0.3))
            f->last_migrated = 0;
    }
}

static struct seen_vm *add_reserving(struct rng *r, struct inventory *inv, struct arena *a, const char *id,
                                     uint32_t host, double mhz)
{
    struct seen_vm *v = inventory_add_vm(inv, a);

    v->is.vcpus = 8;
    v->is.mem_mb = 1024;
    vm_facts_default(&v->is);
    v->is.id = id;
    v->is.name = id;
    v->is.state = VM_ON;
    v->host = inv->hosts[host].is.id;
    v->is.demand[RES_CPU] = mhz * rng_range(r, 0.8, 1.6);
    v->is.demand[RES_MEM] = 512;
    v->is.consumed_mb = 512;
    reserve(v, mhz, 0);
    vm_facts_windows(&v->is);
    return v;
}

/* Only the second host could hold `second` for the loss of the fourth, where it may move to, and is full of
 * reservations. When `first` moves from the second host to the third one, the second host keeps its capacity
 * for the loss of the third, and can use it for the loss of the fourth as well. */
static void add_exchange(struct rng *r, struct inventory *inv, struct arena *a)
{
    double first = rng_range(r, 1500, 4000);
    double second = first * rng_range(r, 0.6, 1.1);
    double full = inv->hosts[1].is.total[RES_CPU] - inv->hosts[1].is.reserved[RES_CPU];

    if (inv->n_hosts < 4)
        return;
    inv->ha.policy = HA_HOST_FAILURES;
    inv->ha.hosts = 1;
    for (size_t i = 0; i < inv->n_vms; i++)
        reserve(&inv->vms[i], 0, 0);
    (void)add_reserving(r, inv, a, "x-first", 1, first);
    struct seen_vm *v = add_reserving(r, inv, a, "x-second", 0, second);
    v->compatible_given = true;
    append(a, &v->compatible_hosts, inv->hosts[1].is.id);
    append(a, &v->compatible_hosts, inv->hosts[3].is.id);
    v = add_reserving(r, inv, a, "x-stays", 1, full - first - second * rng_range(r, 0.3, 1.2));
    v->is.automation = AUTOMATION_DISABLED;
    v->is.demand[RES_CPU] = 0;
}

void random_extras(struct rng *r, const struct cluster_options *o, struct inventory *inv, struct arena *a)
{
    if (o->deep_pools)
        add_deep_pools(r, inv, a);
    if (o->sleeping)
        add_sleeping(r, inv, a);
    if (o->idle_agents)
        add_idle_agents(r, inv, a);
    if (o->ft)
        add_ft(r, inv);
    if (o->ha)
        add_ha(r, o->own_ha, inv, a);
    if (o->newcomers)
        add_newcomers(r, inv, a);
    if (o->approved)
        add_approved(r, inv, a);
    if (o->power)
        add_power(r, inv, a);
    if (o->exchange)
        add_exchange(r, inv, a);
}

uint32_t *new_vms(const struct snapshot *s, struct arena *a, uint32_t *ret_n)
{
    uint32_t *items = arena_array(a, uint32_t, s->n_vms);

    *ret_n = 0;
    for (uint32_t i = 0; i < s->n_vms; i++)
        if (s->vms[i].is.id[0] == 'w')
            items[(*ret_n)++] = i;
    return items;
}
