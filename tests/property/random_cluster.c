#include "random_cluster.h"

#include "random_fit.h"

#include "model/snapshot_build.h"
#include "model/snapshot_json.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ELEMENTS_OF(array) ((uint32_t)(sizeof(array) / sizeof(array)[0]))

static bool chance(struct rng *r, double p)
{
    return rng_unit(r) < p;
}

static void add_host(struct rng *r, const struct cluster_options *o, struct inventory *inv, struct arena *a,
                     uint32_t i)
{
    struct seen_host *h = inventory_add_host(inv, a);
    double size = o->mixed_hosts ? 1 + rng_below(r, 3) : 1;

    h->is.id = arena_printf(a, "h%02u", i);
    h->is.name = arena_printf(a, "host-%02u", i);
    h->is.total[RES_CPU] = 10000 * size;
    h->is.total[RES_MEM] = 32768 * (o->mixed_hosts ? 1 + rng_below(r, 2) : 1);
    h->is.cores = 8;
    if (chance(r, 0.2))
        h->is.reserved[RES_CPU] = 500;
    if (i > 0 && o->evacuate && chance(r, 0.15))
        h->is.state = chance(r, 0.5) ? HOST_ENTERING_MAINTENANCE : HOST_ENTERING_STANDBY;
    if (i > 0 && chance(r, 0.05))
        h->is.state = HOST_DISCONNECTED;
    if (o->rates && chance(r, 0.7))
        h->is.migration_rate_mb_s = rng_range(r, 50, 1000);
    if (o->tight && chance(r, 0.3))
        h->is.mem_free_mb = rng_range(r, 0, 16384);
}

static void add_pool(struct rng *r, struct inventory *inv, struct arena *a, uint32_t i)
{
    struct seen_pool *p = inventory_add_pool(inv, a);

    p->is.id = arena_printf(a, "p%u", i);
    p->is.name = p->is.id;
    if (i > 0 && chance(r, 0.6))
        p->parent = arena_printf(a, "p%u", rng_below(r, i));
    for (int k = 0; k < RES_COUNT; k++) {
        p->is.alloc[k].shares = 500 * (1 + rng_below(r, 8));
        if (chance(r, 0.3))
            p->is.alloc[k].reservation = 500 * rng_below(r, 8);
        if (chance(r, 0.2))
            p->is.alloc[k].limit = p->is.alloc[k].reservation + 5000 * (1 + rng_below(r, 4));
        p->is.alloc[k].expandable = chance(r, 0.7);
    }
    p->is.scalable_shares = chance(r, 0.2);
}

static void add_windows(struct rng *r, struct vm_facts *f)
{
    vm_facts_windows(f);
    if (chance(r, 0.3))
        return;
    for (int w = 0; w < WINDOW_COUNT; w++) {
        for (int k = 0; k < RES_COUNT; k++) {
            struct demand_stats *d = &f->window[w][k];
            d->mean = f->demand[k] * rng_range(r, 0.6, 1.2);
            d->stddev = f->demand[k] * rng_range(r, 0, 0.5);
            d->min = d->mean * rng_range(r, 0.2, 1);
            d->max = d->mean * rng_range(r, 1, 2);
        }
    }
}

static void add_vm(struct rng *r, const struct cluster_options *o, struct inventory *inv, struct arena *a,
                   uint32_t i, uint32_t hot)
{
    struct seen_vm *v = inventory_add_vm(inv, a);
    /* half of the VMs crowd on a few hosts, so that there is something to balance */
    uint32_t host = chance(r, 0.5) ? rng_below(r, hot) : rng_below(r, (uint32_t)inv->n_hosts);

    v->is.vcpus = 2 + rng_below(r, 3); /* of 1250 MHz at least: enough for the demand below */
    v->is.mem_mb = 1024 * (1 + rng_below(r, o->tight ? 12 : 6));
    vm_facts_default(&v->is);
    v->is.id = arena_printf(a, "v%03u", i);
    v->is.name = arena_printf(a, "vm-%03u", i);
    v->host = inv->hosts[host].is.id;
    if (chance(r, 0.05)) {
        v->is.state = VM_OFF;
        return;
    }
    v->is.state = VM_ON;
    v->is.demand[RES_CPU] = chance(r, 0.1) ? 0 : 50 * rng_below(r, 50);
    v->is.demand[RES_MEM] = v->is.mem_mb * rng_unit(r);
    v->is.consumed_mb = fmax(v->is.demand[RES_MEM], v->is.mem_mb * rng_unit(r));
    if (chance(r, 0.2))
        v->is.overhead_mb = 64;
    if (chance(r, o->tight ? 0.4 : 0.1))
        v->is.alloc[RES_CPU].reservation = 100 * rng_below(r, 20);
    if (chance(r, o->tight ? 0.4 : 0.1))
        v->is.alloc[RES_MEM].reservation = v->is.mem_mb * rng_unit(r);
    if (chance(r, 0.1))
        v->is.alloc[RES_CPU].limit = v->is.alloc[RES_CPU].reservation + 500;
    if (chance(r, 0.3))
        v->is.dirty_mb_s = rng_range(r, 0, 300);
    if (chance(r, 0.3))
        v->is.stable_s = rng_range(r, 0, 4000);
    if (chance(r, 0.05))
        v->is.automation = AUTOMATION_DISABLED;
    if (chance(r, 0.05))
        v->is.last_migrated = inv->time - rng_below(r, 3600);
    if (chance(r, 0.02))
        v->is.demand_unknown = true;
    if (chance(r, 0.01))
        v->is.sample_age_s = 7200;
    else if (chance(r, 0.01))
        v->is.demand[RES_MEM] = 3 * v->is.mem_mb; /* cannot be, wherever the VM is moved to */
    if (inv->n_pools > 0 && chance(r, 0.7))
        v->pool = arena_printf(a, "p%u", rng_below(r, (uint32_t)inv->n_pools));
    add_windows(r, &v->is);
    if (o->rules && chance(r, 0.1)) {
        const char **ids = arena_array(a, const char *, inv->n_hosts);
        v->compatible_given = true;
        for (uint32_t h = 0; h < inv->n_hosts; h++)
            if (h == host || chance(r, 0.5))
                ids[v->compatible_hosts.n++] = inv->hosts[h].is.id;
        v->compatible_hosts.items = ids;
    }
}

static void add_rule(struct rng *r, struct inventory *inv, struct arena *a, uint32_t i)
{
    struct seen_rule *rule = inventory_add_rule(inv, a);
    uint32_t n = 2 + rng_below(r, 3);

    rule_facts_default(&rule->is, (enum rule_kind)rng_below(r, rule_kind_count));
    rule->is.id = arena_printf(a, "r%u", i);
    rule->is.name = arena_printf(a, "rule-%u", i);
    rule->is.mandatory = chance(r, 0.8);
    rule->is.enabled = chance(r, 0.9);
    const char **vms = arena_array(a, const char *, n);
    uint32_t first = rng_below(r, (uint32_t)inv->n_vms);
    for (uint32_t k = 0; k < n && k < inv->n_vms; k++)
        vms[rule->vms.n++] = inv->vms[(first + 7 * k) % inv->n_vms].is.id;
    /* a set names each VM once */
    for (uint32_t k = 1; k < rule->vms.n; k++)
        if (vms[k] == vms[0])
            rule->vms.n = k;
    rule->vms.items = vms;
    if (rule->is.kind != RULE_HOST_AFFINE && rule->is.kind != RULE_HOST_ANTI_AFFINE)
        return;
    const char **hosts = arena_array(a, const char *, inv->n_hosts);
    for (uint32_t h = 0; h < inv->n_hosts; h++)
        if (chance(r, 0.4))
            hosts[rule->hosts.n++] = inv->hosts[h].is.id;
    rule->hosts.items = hosts;
}

/* Migrations of VMs that run; half of them approved and not begun, some nearly over. */
static void add_flights(struct rng *r, struct inventory *inv, struct arena *a)
{
    for (size_t i = 0; i < inv->n_vms; i++) {
        const struct seen_vm *v = &inv->vms[i];
        const char *to = inv->hosts[rng_below(r, (uint32_t)inv->n_hosts)].is.id;
        if (v->is.state != VM_ON || to == v->host || !chance(r, 0.1))
            continue;
        if (chance(r, 0.5)) {
            struct seen_migration *m = inventory_add_migration(inv, a);
            *m = (struct seen_migration){.vm = v->is.id, .from = v->host, .to = to, .started = inv->time};
            if (chance(r, 0.3)) { /* it has switched over, and the source has not let go yet */
                m->from = to;
                m->to = v->host;
            }
            continue;
        }
        struct seen_pending *p = inventory_add_pending(inv, a);
        *p = (struct seen_pending){
            .action = ACTION_MIGRATE, .vm = v->is.id, .from = v->host, .to = to, .host = NULL};
    }
}

/* What the VMs of a host consume, at least 4096; some of them, by that chance, reserve what they consume. */
static double consumed_on(struct rng *r, struct inventory *inv, const struct host_facts *host,
                          double reserving)
{
    double used = 0;

    for (size_t i = 0; i < inv->n_vms; i++) {
        struct vm_facts *v = &inv->vms[i].is;
        if (inv->vms[i].host != host->id || v->state != VM_ON)
            continue;
        v->consumed_mb = fmax(v->consumed_mb, fmin(v->demand[RES_MEM], v->mem_mb));
        if (chance(r, reserving))
            v->alloc[RES_MEM].reservation = fmin(v->consumed_mb, v->mem_mb);
        used += v->consumed_mb + v->overhead_mb;
    }
    return fmax(used, 4096);
}

/* The memory of most hosts is hardly more than their VMs use; some have room for one or two VMs. */
static void fill_memory(struct rng *r, struct inventory *inv)
{
    for (size_t h = 0; h < inv->n_hosts; h++) {
        struct host_facts *host = &inv->hosts[h].is;
        double used = consumed_on(r, inv, host, 0.3);
        double free_mb = chance(r, 0.8) ? rng_range(r, 0, 0.03) * used : rng_range(r, 1000, 8000);
        host->total[RES_MEM] = host->reserved[RES_MEM] + used + free_mb;
        if (chance(r, 0.5))
            host->mem_free_mb = free_mb;
    }
}

/* A third of all clusters: 85 to 99 % of each host's memory is consumed, in half of them reserved too. Its
 * own random numbers, so that the other clusters are as without. */
static void crowd_memory(uint64_t seed, struct inventory *inv)
{
    struct rng own = {.state = seed};
    bool crowded = chance(&own, 1.0 / 3);
    double reserving = chance(&own, 0.5) ? 1 : 0.3;

    for (size_t h = 0; h < inv->n_hosts && crowded; h++) {
        struct host_facts *host = &inv->hosts[h].is;
        if (host->state == HOST_STANDBY || host->state == HOST_POWERING_ON)
            continue;
        double used = consumed_on(&own, inv, host, reserving);
        double usable = used / rng_range(&own, 0.85, 0.99);
        host->total[RES_MEM] = host->reserved[RES_MEM] + usable;
        if (chance(&own, 0.5))
            host->mem_free_mb = usable - used;
    }
}

/* In a third of all clusters, hosts use much themselves. Its own random numbers. */
static void give_own_use(uint64_t seed, struct inventory *inv)
{
    struct rng own = {.state = seed ^ 0x6f776e};
    bool any = chance(&own, 1.0 / 3);

    for (size_t h = 0; h < inv->n_hosts; h++) {
        struct host_facts *host = &inv->hosts[h].is;
        host->own.given = true; /* mem_free_mb is by chance */
        for (int r = 0; r < RES_COUNT && any && chance(&own, 0.4); r++) {
            host->own.now[r] = rng_range(&own, 0, 0.6) * host->total[r];
            for (int w = 0; w < WINDOW_COUNT && chance(&own, 0.7); w++) {
                double most = rng_range(&own, 1, 1.5) * host->own.now[r];
                host->own.window[w][r] = (struct demand_stats){most * 0.6, most * 0.1, most * 0.2, most};
            }
        }
    }
}

/* The deviations of both resources then rise and fall together. */
static void match_memory(struct inventory *inv)
{
    const struct host_facts *host = &inv->hosts[0].is;

    for (size_t h = 0; h < inv->n_hosts; h++)
        inv->hosts[h].is.reserved[RES_CPU] = inv->hosts[h].is.reserved[RES_MEM] = 0;
    for (size_t i = 0; i < inv->n_vms; i++) {
        struct vm_facts *v = &inv->vms[i].is;

        v->demand[RES_MEM] = v->demand[RES_CPU] * host->total[RES_MEM] / host->total[RES_CPU];
        v->mem_mb = fmax(v->mem_mb, ceil(v->demand[RES_MEM]));
        v->consumed_mb = fmax(v->consumed_mb, v->demand[RES_MEM]);
        v->overhead_mb = 0;
        for (int r = 0; r < RES_COUNT; r++)
            v->alloc[r].limit = NO_LIMIT;
    }
}

/* What past migrations between two hosts have shown; some of it far from what the hosts' own rates say. */
static void add_pairs(struct rng *r, struct inventory *inv, struct arena *a)
{
    double part = rng_unit(r);

    for (size_t from = 0; from < inv->n_hosts; from++)
        for (size_t to = 0; to < inv->n_hosts; to++)
            if (from != to && chance(r, part))
                *inventory_add_migration_rate(inv, a) =
                    (struct seen_migration_rate){.from = inv->hosts[from].is.id,
                                                 .to = inv->hosts[to].is.id,
                                                 .rate_mb_s = rng_range(r, 5, 2000)};
}

/* An agent runs on the host that requires it, or, now and then, does not. */
static void add_agents(struct rng *r, struct inventory *inv, struct arena *a)
{
    for (size_t h = 0; h < inv->n_hosts; h++) {
        if (!chance(r, 0.2))
            continue;
        struct seen_vm *v = &inv->vms[rng_below(r, (uint32_t)inv->n_vms)];
        const char **ids = arena_array(a, const char *, 1);
        ids[0] = v->is.id;
        inv->hosts[h].agents_required = (struct ids){.items = ids, .n = 1};
        v->is.kind = VM_AGENT;
        if (!v->compatible_given && chance(r, 0.8))
            v->host = inv->hosts[h].is.id;
    }
}

/* To a file that is not there yet: BALLAST_TEST_KEEP and a number. */
static void keep(const struct snapshot *s, struct arena *a)
{
    const char *name = getenv("BALLAST_TEST_KEEP");
    FILE *f = NULL;
    struct strbuf b;

    for (int i = 1; name && !f && i < 100; i++)
        f = fopen(arena_printf(a, "%s%d.json", name, i), "wx");
    if (!f)
        return;
    strbuf_init(&b, SNAPSHOT_BYTES_MAX);
    snapshot_dump(s, &b);
    (void)fputs(b.text, f);
    strbuf_release(&b);
    (void)fclose(f);
}

/* ---- what hosts offer and VMs need ---- */

static const char *const net_names[] = {"net-a", "net-b", "net-c"};
static const char *const store_names[] = {"ssd-1", "ssd-2"};
static const char *const device_names[] = {"grid_p40-1q", "grid_p40-2q"};
static const char *const mode_names[] = {"amd-zen", "intel-broadwell", "intel-skylake"};

/* Some of the names; NULL at the end of none. */
static struct ids some_of(struct rng *r, struct arena *a, const char *const *names, uint32_t n, double part)
{
    const char **items = arena_array(a, const char *, n);
    uint32_t k = 0;

    for (uint32_t i = 0; i < n; i++)
        if (chance(r, part))
            items[k++] = names[i];
    return (struct ids){.items = items, .n = k};
}

static struct offer offer_some(struct rng *r, struct arena *a, const char *const *names, uint32_t n)
{
    struct ids some = some_of(r, a, names, n, 0.8);

    return chance(r, 0.9) ? (struct offer){some, true} : (struct offer){0};
}

/* A quarter of the clusters report them. Its own random numbers, so that all else is as without. */
static void add_offers(uint64_t seed, struct inventory *inv, struct arena *a)
{
    struct rng own = {.state = seed};
    struct rng *r = &own;

    if (!chance(r, 0.25))
        return;
    for (size_t i = 0; i < inv->n_hosts; i++) {
        struct host_facts *h = &inv->hosts[i].is;

        h->networks = offer_some(r, a, net_names, ELEMENTS_OF(net_names));
        h->datastores = offer_some(r, a, store_names, ELEMENTS_OF(store_names));
        h->devices = offer_some(r, a, device_names, ELEMENTS_OF(device_names));
        h->cpu_modes = offer_some(r, a, mode_names, ELEMENTS_OF(mode_names));
        bool few = inv->n_hosts == 2; /* or one host would be left */
        h->quarantine = !few && chance(r, 0.04);
        h->failure_detection = !few && chance(r, 0.04) ? FAILURE_DETECTION_UNHEALTHY
                               : chance(r, 0.8)        ? FAILURE_DETECTION_HEALTHY
                                                       : FAILURE_DETECTION_UNKNOWN;
        h->vsan = chance(r, 0.1);
        h->cpu_vendor = chance(r, 0.1) ? "amd" : chance(r, 0.9) ? "intel" : NULL;
    }
    for (size_t i = 0; i < inv->n_vms; i++) {
        struct vm_facts *v = &inv->vms[i].is;

        if (v->kind == VM_AGENT)
            continue;
        v->networks = some_of(r, a, net_names, ELEMENTS_OF(net_names), 0.3);
        v->datastores = some_of(r, a, store_names, ELEMENTS_OF(store_names), 0.3);
        v->devices = some_of(r, a, device_names, ELEMENTS_OF(device_names), 0.05);
        v->cpu_mode = chance(r, 0.1) ? mode_names[rng_below(r, ELEMENTS_OF(mode_names))] : NULL;
        v->cpu_vendor = chance(r, 0.1) ? "intel" : NULL;
        v->immovable = chance(r, 0.03) ? "a passthrough device" : NULL;
        v->mandatory_only = chance(r, 0.05) ? "latency sensitivity high" : NULL;
    }
}

void random_cluster(struct rng *r, const struct cluster_options *o, struct arena *a, struct snapshot *ret)
{
    struct inventory inv = {.cluster = "random", .time = 1767225600};
    uint32_t hosts = 2 + rng_below(r, o->hosts_max - 1);
    uint32_t vms = 1 + rng_below(r, o->vms_max);
    struct err err = {0};

    for (uint32_t i = 0; i < hosts; i++)
        add_host(r, o, &inv, a, i);
    for (uint32_t i = 0, n = rng_below(r, o->pools_max ? o->pools_max + 1 : 5); i < n; i++)
        add_pool(r, &inv, a, i);
    for (uint32_t i = 0; i < vms; i++)
        add_vm(r, o, &inv, a, i, 1 + hosts / 4);
    for (uint32_t i = 0, n = o->rules ? rng_below(r, 6) : 0; i < n; i++)
        add_rule(r, &inv, a, i);
    if (o->agents)
        add_agents(r, &inv, a);
    if (o->in_flight)
        add_flights(r, &inv, a);
    if (o->pairs)
        add_pairs(r, &inv, a);
    random_extras(r, o, &inv, a);
    if (o->full)
        fill_memory(r, &inv);
    if (o->matched)
        match_memory(&inv);
    struct rng fork = *r;
    struct rng crowd = {.state = r->state + 1};
    if (!o->full && !o->matched)
        crowd_memory(rng_next(&crowd), &inv);
    if (o->rules)
        add_offers(rng_next(&fork), &inv, a);
    struct rng fits = {.state = rng_next(&fork)};
    if (o->scores)
        random_scores(&fits, &inv, a);
    else if (o->rules && chance(&fits, 0.25))
        random_fit(&fits, &inv, true, a);
    if (o->cells)
        random_cells(&fits, &inv, a);
    give_own_use(fork.state, &inv);
    if (snapshot_build(&inv, a, ret, &err) < 0) {
        (void)fprintf(stderr, "the random cluster is invalid: %s\n", err.text);
        exit(1);
    }
    keep(ret, a);
}

/* As the command takes them. */
static void say_policy(const struct policy *p)
{
    struct arena a = {0};

    for (size_t i = 0; i < policy_settings.n; i++) {
        const struct field *f = &policy_settings.fields[i];

        if (strchr(f->name, '.') == NULL)
            (void)fprintf(stderr, "--set %s=%s ", f->name, policy_get(p, f, &a));
    }
    (void)fprintf(stderr, "\n");
    arena_release(&a);
}

void random_policy(struct rng *r, struct policy *ret)
{
    policy_default(ret);
    ret->migration_threshold = 1 + rng_below(r, 5);
    ret->cost_benefit = chance(r, 0.5);
    ret->min_goodness = chance(r, 0.5);
    ret->mem_admission = (enum mem_admission)rng_below(r, mem_admission_count);
    int64_t few = 1 + rng_below(r, 6);
    int64_t many = chance(r, 0.5) ? 0 : MOVES_AUTO;

    ret->moves_max = chance(r, 0.3) ? few : many;
    ret->mem_overcommit = chance(r, 0.2) ? 1.5 : 1;
    if (getenv("BALLAST_TEST_KEEP"))
        say_policy(ret);
}

void deep_policy(struct policy *ret)
{
    ret->search = SEARCH_DEEP;
    ret->search_budget = 20000;
}

void random_room(struct rng *r, struct policy *ret)
{
    ret->room.cpus = chance(r, 0.8) ? 2 + rng_below(r, 8) : 0;
    ret->room.mem_mb = ret->room.cpus == 0 || chance(r, 0.5) ? 1024 * (2 + rng_below(r, 14)) : 0;
    ret->room.cpu_ratio = rng_range(r, 0.5, 4);
    ret->room.cells = chance(r, 0.3) ? 1 + rng_below(r, 2) : 0;
    if (chance(r, 0.5))
        ret->objective = OBJECTIVE_ROOM;
    else
        ret->room.free = 1 + rng_below(r, 20);
}

#define QUIET_LEVELS 6

void random_quiet(struct rng *r, struct arena *a, struct snapshot *s)
{
    double demand[RES_COUNT] = {0};

    for (uint32_t v = 0; v < s->n_vms; v++)
        for (int k = 0; k < RES_COUNT; k++)
            demand[k] += s->vms[v].is.demand[k];
    s->n_quiet = 0;
    s->quiet = arena_array(a, struct quiet, RES_COUNT * (size_t)QUIET_LEVELS);
    for (int k = 0; k < RES_COUNT; k++)
        for (uint32_t i = 0; i < QUIET_LEVELS; i++) {
            struct quiet *q = &s->quiet[s->n_quiet++];
            *q = (struct quiet){.level = {UNKNOWN, UNKNOWN}, .lasts_s = rng_range(r, 0, 40000)};
            q->level[k] = demand[k] * (1 + 0.5 * i);
            q->of = i + 1 < QUIET_LEVELS ? 1 + (uint32_t)rng_below(r, 9) : 0;
            q->sudden = (uint32_t)rng_below(r, q->of + 1);
            q->rise = q->sudden > 0 ? q->level[k] * rng_range(r, 1, 3) : 0;
            q->age_s = q->lasts_s + 1;
            q->enough_s = q->lasts_s + 60;
        }
}

void random_dpm(struct rng *r, struct policy *ret)
{
    static const double ratios[] = {0, 1, 40};

    ret->dpm.enabled = true;
    ret->dpm.ratio = ratios[rng_below(r, 3)];
    ret->dpm.target = chance(r, 0.7) ? 63 : rng_range(r, 30, 80);
    ret->dpm.tolerance = chance(r, 0.7) ? 18 : rng_range(r, 0, 20);
    ret->dpm.hosts_min = 1 + rng_below(r, 2);
    if (chance(r, 0.2))
        ret->dpm.min[rng_below(r, RES_COUNT)] = rng_range(r, 0, 60000);
}

uint64_t test_seed(void)
{
    const char *text = getenv("BALLAST_TEST_SEED");

    return text ? strtoull(text, NULL, 10) : 1;
}

unsigned test_clusters(unsigned fallback)
{
    const char *text = getenv("BALLAST_TEST_CLUSTERS");

    if (getenv("BALLAST_TEST_SEED"))
        return 1;
    if (text)
        return (unsigned)strtoul(text, NULL, 10);
    return getenv("BALLAST_TEST_SLOW") && !getenv("BALLAST_TEST_LONG") ? (fallback + 9) / 10 : fallback;
}

unsigned test_some(unsigned all)
{
    return getenv("BALLAST_TEST_LONG") || getenv("BALLAST_TEST_SLOW") ? all : (all + 2) / 3;
}

bool test_is_usual(void)
{
    return !getenv("BALLAST_TEST_SEED") && !getenv("BALLAST_TEST_CLUSTERS") &&
           (!getenv("BALLAST_TEST_SLOW") || getenv("BALLAST_TEST_LONG"));
}
