/* Building a snapshot: wrong input of collectors is refused, and the result is sorted, linked and fast to
 * make. */
#include "unit.h"

#include "base/rng.h"
#include "model/snapshot_build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N 3 /* hosts, VMs and pools of the small cluster */

static const char *const host_ids[N] = {"hc", "ha", "hb"}; /* not in order */
static const char *const vm_ids[N] = {"v2", "v1", "v3"};
static const char *const pool_ids[N] = {"p1", "p3", "p2"};

/* Three hosts; v2 and v3 on hc, v1 on ha; p1 > p3 > p2. */
static void small_cluster(struct arena *a, struct inventory *inv)
{
    static const char *const host_of[N] = {"hc", "ha", "hc"};
    static const char *const parent_of[N] = {NULL, "p1", "p3"};

    *inv = (struct inventory){.cluster = "c", .time = 1767225600};
    for (int i = 0; i < N; i++) {
        struct seen_host *h = inventory_add_host(inv, a);
        h->is.id = host_ids[i];
        h->is.total[RES_CPU] = 10000;
        h->is.total[RES_MEM] = 4096;
        h->is.reserved[RES_MEM] = 96;
        h->is.cores = 4;
        struct seen_vm *v = inventory_add_vm(inv, a);
        v->is.vcpus = 2;
        v->is.mem_mb = 1024;
        vm_facts_default(&v->is);
        v->is.id = vm_ids[i];
        v->is.demand[RES_CPU] = 1000;
        vm_facts_windows(&v->is);
        v->host = host_of[i];
        v->pool = pool_ids[i];
        struct seen_pool *p = inventory_add_pool(inv, a);
        p->is.id = pool_ids[i];
        p->parent = parent_of[i];
    }
}

static void test_sorted_and_linked(void **state)
{
    struct arena a = {0};
    struct inventory inv;
    struct snapshot s;
    struct err err = {0};

    (void)state;
    small_cluster(&a, &inv);
    assert_int_equal(snapshot_build(&inv, &a, &s, &err), 0);
    assert_string_equal(s.hosts[0].is.id, "ha");
    assert_string_equal(s.hosts[2].is.id, "hc");
    assert_string_equal(s.hosts[2].is.name, "hc"); /* a name that is not known is the id */
    assert_int_equal(s.hosts[0].capacity[RES_MEM], 4000);
    assert_string_equal(s.vms[0].is.id, "v1");
    assert_int_equal(s.vms[0].host, 0);
    assert_int_equal(s.vms[0].pool, snapshot_find_pool(&s, "p3"));
    assert_int_equal(s.pools[snapshot_find_pool(&s, "p2")].parent, snapshot_find_pool(&s, "p3"));
    assert_int_equal(s.pools[snapshot_find_pool(&s, "p1")].parent, IX_NONE);
    assert_int_equal(s.hosts[0].vms.n, 1);
    assert_int_equal(s.hosts[1].vms.n, 0);
    assert_int_equal(s.hosts[2].vms.n, 2);
    assert_int_equal(s.hosts[2].vms.items[0], snapshot_find_vm(&s, "v2"));
    assert_int_equal(s.hosts[2].vms.items[1], snapshot_find_vm(&s, "v3"));
    assert_int_equal(snapshot_find_host(&s, "h"), IX_NONE);
    assert_int_equal(snapshot_find_vm(&s, "v9"), IX_NONE);
    arena_release(&a);
}

static const struct label twice[] = {{"k", "1"}, {"k", "2"}};
static const struct label broken[] = {{"k", NULL}};
static const char *const one_host[] = {"ha"};

static void no_id(struct inventory *inv)
{
    inv->vms[1].is.id = NULL;
}

static void no_cluster(struct inventory *inv)
{
    inv->cluster = NULL;
}

static void no_hosts(struct inventory *inv)
{
    inv->n_hosts = 0;
}

static void labels_twice(struct inventory *inv)
{
    inv->hosts[1].is.labels = (struct labels){twice, 2};
}

static void label_without_value(struct inventory *inv)
{
    inv->vms[0].is.labels = (struct labels){broken, 1};
}

static void vm_nowhere(struct inventory *inv)
{
    inv->vms[2].host = NULL;
}

static void vm_on_sleeping_host(struct inventory *inv)
{
    inv->hosts[1].is.state = HOST_STANDBY;
}

static void pool_circle(struct inventory *inv)
{
    inv->pools[0].parent = "p2";
}

static void pool_of_itself(struct inventory *inv)
{
    inv->pools[2].parent = "p2";
}

static void partial_vm(struct inventory *inv)
{
    inv->vms[0].is.automation = AUTOMATION_FULL;
}

static void peak_below_idle(struct inventory *inv)
{
    inv->hosts[0].is.power_idle_w = 200;
    inv->hosts[0].is.power_peak_w = 100;
}

static void no_cores(struct inventory *inv)
{
    inv->hosts[2].is.cores = 0;
}

static void many_vcpus(struct inventory *inv)
{
    inv->vms[2].is.vcpus = UINT32_MAX;
}

static void failover_unknown(struct inventory *inv)
{
    static const char *const ids[] = {"hx"};
    inv->ha_failover_hosts = (struct ids){ids, 1};
}

static void failover_twice(struct inventory *inv)
{
    static const char *const ids[] = {"ha", "ha"};
    inv->ha_failover_hosts = (struct ids){ids, 2};
}

static void too_many_percent(struct inventory *inv)
{
    inv->ha.percent[RES_MEM] = 101;
}

static void peer_of_normal(struct inventory *inv)
{
    inv->vms[0].ft_peer = "v1";
}

static void agent_unknown(struct inventory *inv)
{
    static const char *const ids[] = {"v1", "v7"};
    inv->hosts[0].agents_required = (struct ids){ids, 2};
}

static struct seen_migration_rate odd_rate = {.from = "ha", .to = "hb"};

static void set_rate(struct inventory *inv, const char *to, double rate_mb_s)
{
    odd_rate.to = to;
    odd_rate.rate_mb_s = rate_mb_s;
    inv->migration_rates = &odd_rate;
    inv->n_migration_rates = 1;
}

static void rate_to_nowhere(struct inventory *inv)
{
    set_rate(inv, NULL, 100);
}

static void rate_not_a_number(struct inventory *inv)
{
    set_rate(inv, "hb", UNKNOWN);
}

static void rate_endless(struct inventory *inv)
{
    set_rate(inv, "hb", INFINITY);
}

static const struct {
    void (*break_it)(struct inventory *inv);
    const char *expected;
} wrongs[] = {
    {no_id, "/vms/1/id: missing or empty"},
    {no_cluster, "/cluster: missing or empty"},
    {no_hosts, "/hosts: empty"},
    {labels_twice, "/hosts/1/labels: \"k\" is given twice"},
    {label_without_value, "/vms/0/labels: a label without"},
    {vm_nowhere, "/vms/2/host: missing though the VM is on"},
    {vm_on_sleeping_host, "/vms/1/host: \"ha\" is in standby though the VM is on"},
    {pool_circle, "/pools/0/parent: the parents of \"p1\" go round"},
    {pool_of_itself, "/pools/2/parent: the parents of \"p2\" go round"},
    {partial_vm, "/vms/0/automation: \"full\" does not apply"},
    {peak_below_idle, "/hosts/0/power_peak_w: 100 is below power_idle_w"},
    {no_cores, "/hosts/2/cores: 0, expected 1 or more"},
    {many_vcpus, "/vms/2/vcpus: 4294967295 is absurd"},
    {failover_unknown, "/ha/failover_hosts/0: no object of /hosts has the id \"hx\""},
    {failover_twice, "/ha/failover_hosts: \"ha\" is listed twice"},
    {too_many_percent, "/ha/mem_percent: 101 is not a percentage"},
    {peer_of_normal, "/vms/0/ft_peer: given though the kind is \"normal\""},
    {rate_to_nowhere, "/migration_rates/0/to: missing"},
    {rate_not_a_number, "/migration_rates/0/rate_mb_s: not a number"},
    {rate_endless, "/migration_rates/0/rate_mb_s: inf is absurd"},
    {agent_unknown, "/hosts/0/agents_required/1: no object of /vms has the id \"v7\""},
};

static void expect_refused(const struct inventory *inv, struct arena *a, const char *expected)
{
    struct snapshot untouched;
    struct snapshot s;
    struct err err = {0};

    memset(&s, 0x5a, sizeof s);
    memset(&untouched, 0x5a, sizeof untouched);
    assert_int_equal(snapshot_build(inv, a, &s, &err), -EINVAL);
    print_message("%s\n", err.text);
    assert_int_equal(err.code, -EINVAL);
    if (strncmp(err.text, expected, strlen(expected)) != 0)
        fail_msg("%s: expected %s", err.text, expected);
    assert_memory_equal(&s, &untouched, sizeof s);
}

static void test_wrongs(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(wrongs); i++) {
        struct arena a = {0};
        struct inventory inv;
        small_cluster(&a, &inv);
        wrongs[i].break_it(&inv);
        expect_refused(&inv, &a, wrongs[i].expected);
        arena_release(&a);
    }
}

/* Every number of a host, a VM and a pool, with every value that none may have. */
static const struct {
    const char *field;
    size_t offset;
    bool unknown_is_fine;
} host_numbers[] =
    {
        {"cpu_mhz", offsetof(struct host_facts, total[RES_CPU]), false},
        {"mem_mb", offsetof(struct host_facts, total[RES_MEM]), false},
        {"cpu_reserved_mhz", offsetof(struct host_facts, reserved[RES_CPU]), false},
        {"mem_reserved_mb", offsetof(struct host_facts, reserved[RES_MEM]), false},
        {"mem_free_mb", offsetof(struct host_facts, mem_free_mb), true},
        {"power_idle_w", offsetof(struct host_facts, power_idle_w), true},
        {"power_peak_w", offsetof(struct host_facts, power_peak_w), true},
        {"boot_s", offsetof(struct host_facts, boot_s), true},
        {"wake_tries_s", offsetof(struct host_facts, wake_tries_s), true},
        {"migration_rate_mb_s", offsetof(struct host_facts, migration_rate_mb_s), true},
},
  vm_numbers[] = {
      {"mem_mb", offsetof(struct vm_facts, mem_mb), false},
      {"cpu/demand", offsetof(struct vm_facts, demand[RES_CPU]), false},
      {"mem/demand", offsetof(struct vm_facts, demand[RES_MEM]), false},
      {"mem/consumed", offsetof(struct vm_facts, consumed_mb), false},
      {"mem/overhead", offsetof(struct vm_facts, overhead_mb), false},
      {"stable_s", offsetof(struct vm_facts, stable_s), true},
      {"dirty_mb_s", offsetof(struct vm_facts, dirty_mb_s), true},
      {"cpu/reservation", offsetof(struct vm_facts, alloc[RES_CPU].reservation), false},
      {"mem/limit", offsetof(struct vm_facts, alloc[RES_MEM].limit), false},
      {"cpu/shares", offsetof(struct vm_facts, alloc[RES_CPU].shares), false},
      {"windows/40m/mem/stddev", offsetof(struct vm_facts, window[WINDOW_40M][RES_MEM].stddev), false},
      {"windows/60m/cpu/max", offsetof(struct vm_facts, window[WINDOW_60M][RES_CPU].max), false},
      {"windows/5m/cpu/mean", offsetof(struct vm_facts, window[WINDOW_5M][RES_CPU].mean), false},
};

static const double bad_numbers[] = {-1, -INFINITY, INFINITY, NAN, 1e13, 1e300};

static void try_number(bool of_vm, const char *field, size_t offset, double bad)
{
    struct arena a = {0};
    struct inventory inv;
    char expected[128];

    small_cluster(&a, &inv);
    char *facts = of_vm ? (char *)&inv.vms[1].is : (char *)&inv.hosts[1].is;
    memcpy(facts + offset, &bad, sizeof bad);
    (void)snprintf(expected, sizeof expected, "/%s/1/%s: ", of_vm ? "vms" : "hosts", field);
    expect_refused(&inv, &a, expected);
    arena_release(&a);
}

static void test_bad_numbers(void **state)
{
    (void)state;
    for (size_t b = 0; b < ELEMENTS(bad_numbers); b++) {
        for (size_t i = 0; i < ELEMENTS(host_numbers); i++) {
            if (!(host_numbers[i].unknown_is_fine && isnan(bad_numbers[b])))
                try_number(false, host_numbers[i].field, host_numbers[i].offset, bad_numbers[b]);
        }
        for (size_t i = 0; i < ELEMENTS(vm_numbers); i++) {
            bool no_limit = strcmp(vm_numbers[i].field, "mem/limit") == 0 && bad_numbers[b] == INFINITY;
            if (!no_limit && !(vm_numbers[i].unknown_is_fine && isnan(bad_numbers[b])))
                try_number(true, vm_numbers[i].field, vm_numbers[i].offset, bad_numbers[b]);
        }
    }
}

/* A host that is not seen may be known by name only; compatible with no host at all is a fact, too. */
static void test_allowed(void **state)
{
    struct arena a = {0};
    struct inventory inv;
    struct snapshot s;
    struct err err = {0};

    (void)state;
    small_cluster(&a, &inv);
    inv.hosts[1].is.state = HOST_DISCONNECTED;
    inv.hosts[1].is.cores = 0;
    for (int r = 0; r < RES_COUNT; r++)
        inv.hosts[1].is.total[r] = inv.hosts[1].is.reserved[r] = 0;
    inv.vms[0].compatible_given = true;
    inv.vms[1].compatible_given = true;
    inv.vms[1].compatible_hosts = (struct ids){one_host, 1};
    inv.vms[2].is.state = VM_OFF;
    inv.vms[2].is.demand[RES_CPU] = 0;
    assert_int_equal(snapshot_build(&inv, &a, &s, &err), 0);
    assert_true(s.vms[snapshot_find_vm(&s, "v2")].compatible_given);
    assert_int_equal(s.vms[snapshot_find_vm(&s, "v2")].compatible_hosts.n, 0);
    assert_int_equal(s.vms[snapshot_find_vm(&s, "v1")].compatible_hosts.n, 1);
    assert_int_equal(s.hosts[snapshot_find_host(&s, "hc")].vms.n, 1);
    arena_release(&a);
}

static void test_defaults(void **state)
{
    struct vm_facts v = {.vcpus = 4, .mem_mb = 2048};
    struct rule_facts r;
    struct pool_facts p;
    struct host_facts h;

    (void)state;
    vm_facts_default(&v);
    assert_true(v.alloc[RES_CPU].shares == 4000 && v.alloc[RES_MEM].shares == 20480);
    assert_true(v.alloc[RES_CPU].limit == NO_LIMIT && v.consumed_mb == 2048 && isnan(v.stable_s));
    v.demand[RES_CPU] = 7;
    vm_facts_windows(&v);
    assert_true(v.window[WINDOW_60M][RES_CPU].max == 7 && v.window[WINDOW_60M][RES_CPU].stddev == 0);
    rule_facts_default(&r, RULE_VM_ANTI_AFFINE);
    assert_true(r.enabled && r.mandatory);
    rule_facts_default(&r, RULE_HOST_AFFINE);
    assert_true(r.enabled && !r.mandatory);
    pool_facts_default(&p);
    assert_true(p.alloc[RES_MEM].expandable && p.alloc[RES_MEM].limit == NO_LIMIT);
    host_facts_default(&h);
    assert_true(isnan(h.power_idle_w) && h.state == HOST_ON && h.dpm == AUTOMATION_INHERIT);
}

/* A deep chain of pools and a large cluster in no order: neither may take more than n log n. */
static void test_large(void **state)
{
    const uint32_t n_hosts = 1000;
    const uint32_t n = getenv("BALLAST_TEST_SLOW") ? 5000 : 100000;
    struct arena a = {0};
    struct inventory inv = {.cluster = "c"};
    struct rng rng = {.state = 1};
    struct snapshot s;
    struct err err = {0};

    (void)state;
    for (uint32_t i = 0; i < n_hosts; i++) {
        struct seen_host *h = inventory_add_host(&inv, &a);
        h->is.id = arena_printf(&a, "h%u", i);
        h->is.total[RES_CPU] = h->is.total[RES_MEM] = 1e5;
        h->is.cores = 1;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct seen_vm *v = inventory_add_vm(&inv, &a);
        v->is.vcpus = 1;
        v->is.mem_mb = 1;
        vm_facts_default(&v->is);
        v->is.id = arena_printf(&a, "v%u-%u", rng_below(&rng, 1000), i);
        v->host = inv.hosts[rng_below(&rng, n_hosts)].is.id;
        struct seen_pool *p = inventory_add_pool(&inv, &a);
        p->is.id = arena_printf(&a, "p%u", i);
        p->parent = i > 0 ? inv.pools[i - 1].is.id : NULL;
        v->pool = p->is.id;
    }
    clock_t began = clock();
    assert_int_equal(snapshot_build(&inv, &a, &s, &err), 0);
    print_message("%.3f s\n", (double)(clock() - began) / CLOCKS_PER_SEC);
    uint32_t sum = 0;
    for (uint32_t h = 0; h < n_hosts; h++) {
        for (uint32_t k = 0; k < s.hosts[h].vms.n; k++)
            assert_int_equal(s.vms[s.hosts[h].vms.items[k]].host, h);
        sum += s.hosts[h].vms.n;
    }
    assert_int_equal(sum, n);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sorted_and_linked), cmocka_unit_test(test_wrongs),
        cmocka_unit_test(test_bad_numbers),       cmocka_unit_test(test_allowed),
        cmocka_unit_test(test_defaults),          cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
