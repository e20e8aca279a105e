/* builtin.c: the built-in cluster, for when no snapshot is given. */
#include "sim/fake_cluster/fake_cluster_internal.h"

#include "base/rng.h"

/* Four hosts, the first loaded above 90 % and the others below half, and two databases on the wrong hosts:
 * every kind of recommendation that a first look should show. */

#define HOSTS 4
#define CORES 16
#define CORE_MHZ 2600.0
#define HOST_MEM_MB 131072.0
#define RATE_MB_S 400.0

static const struct group {
    const char *name; /* "web" makes web-01, web-02, ... */
    uint32_t vcpus;
    double mem_mb;
    double cpu_mhz, used_share; /* of what one wants; give or take a little */
    const char *pool;
    const char *hosts; /* a digit for each VM */
} groups[] = {
    {"web", 2, 4096, 1900, 0.70, "production", "111111112234"},
    {"app", 4, 8192, 2300, 0.75, "production", "11111223"},
    {"db", 8, 16384, 5600, 0.85, "production", "114"},
    {"build", 4, 8192, 3500, 0.40, "test", "23"},
    {"stage", 2, 4096, 700, 0.30, "test", "222333444"},
    {"dns", 1, 1024, 150, 0.40, NULL, "123"},
    {"mail", 2, 4096, 600, 0.50, NULL, "334"},
};

static void add_hosts(struct inventory *inv, struct arena *a)
{
    for (int i = 1; i <= HOSTS; i++) {
        struct seen_host *h = inventory_add_host(inv, a);

        h->is.id = h->is.name = arena_printf(a, "pretend-%d", i);
        h->is.total[RES_CPU] = CORES * CORE_MHZ;
        h->is.total[RES_MEM] = HOST_MEM_MB;
        h->is.reserved[RES_MEM] = 4096;
        h->is.cores = CORES;
        h->is.power_idle_w = 120;
        h->is.power_peak_w = 310;
        h->is.boot_s = 180;
        h->is.wake_methods = WAKE_HYPERVISOR;
        h->is.wake_verified = true;
        h->is.migration_rate_mb_s = RATE_MB_S;
        h->is.migrations_max = 4;
    }
}

static void add_pool(struct inventory *inv, struct arena *a, const char *name, double share)
{
    struct seen_pool *p = inventory_add_pool(inv, a);

    p->is.id = p->is.name = name;
    p->is.alloc[RES_CPU].shares *= share;
    p->is.alloc[RES_MEM].shares *= share;
}

static void add_vms(struct inventory *inv, struct arena *a, const struct group *g, struct rng *rng)
{
    for (size_t i = 0; g->hosts[i]; i++) {
        struct seen_vm *v = inventory_add_vm(inv, a);

        v->is.vcpus = g->vcpus;
        v->is.mem_mb = g->mem_mb;
        vm_facts_default(&v->is);
        v->is.id = v->is.name = arena_printf(a, "%s-%02zu", g->name, i + 1);
        v->host = arena_printf(a, "pretend-%c", g->hosts[i]);
        v->pool = g->pool;
        v->is.demand[RES_CPU] = g->cpu_mhz * rng_range(rng, 0.95, 1.05);
        v->is.demand[RES_MEM] = g->mem_mb * g->used_share * rng_range(rng, 0.95, 1.05);
        v->is.consumed_mb = g->mem_mb * 0.9;
        v->is.overhead_mb = 32 + 16.0 * g->vcpus;
        v->is.dirty_mb_s = 8.0 * g->vcpus;
    }
}

void fake_cluster_fill(struct inventory *inv, struct arena *a, const char *cluster)
{
    struct rng rng = {.state = 1}; /* the levels are part of the cluster; the seed only lets them waver */
    static const char *const apart[] = {"db-01", "db-02"};

    inv->cluster = cluster;
    add_hosts(inv, a);
    add_pool(inv, a, "production", 4);
    add_pool(inv, a, "test", 1);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        add_vms(inv, a, &groups[i], &rng);
    struct seen_rule *r = inventory_add_rule(inv, a);

    rule_facts_default(&r->is, RULE_VM_ANTI_AFFINE);
    r->is.id = "db-apart";
    r->is.name = "databases apart";
    r->vms = (struct ids){.items = apart, .n = 2};
}
