/* The vSphere collector's mapping: states that exclude each other, figures that contradict each other,
 * shares by level, rules with unknown objects. */
#include "unit.h"

#include "base/cleanup.h"
#include "collectors/vsphere/counters.h"

#include <errno.h>
#include <string.h>

static struct vs_inventory_host a_host(const char *id)
{
    return (struct vs_inventory_host){.id = id,
                                      .connection = CONNECTION_CONNECTED,
                                      .power = HOST_POWER_ON,
                                      .core_mhz = 2000,
                                      .cores = 8,
                                      .mem_mb = 65536,
                                      .mem_used_mb = UNKNOWN};
}

static struct vs_inventory_vm a_vm(const char *id, const char *host)
{
    struct vm_sample sample = {.present = true,
                               .interval_ms = UNKNOWN,
                               .cpu_used_mhz = 100,
                               .cpu_run_ms = UNKNOWN,
                               .cpu_sleep_ms = UNKNOWN,
                               .cpu_ready_ms = UNKNOWN,
                               .core_mhz = UNKNOWN,
                               .mem_active_mb = 100,
                               .mem_guest_used_mb = UNKNOWN,
                               .mem_consumed_mb = 1000,
                               .mem_overhead_mb = UNKNOWN};

    return (struct vs_inventory_vm){.id = id,
                                    .host = host,
                                    .state = VM_ON,
                                    .state_known = true,
                                    .connected = true,
                                    .vcpus = 2,
                                    .mem_mb = 2048,
                                    .sample = sample};
}

static void map(struct vs_inventory *s, struct inventory *ret)
{
    struct err err = {0};

    s->cluster = "c";
    s->root_pool = "root";
    if (vs_inventory_map(s, ret, &err) < 0)
        fail_msg("%s", err.text);
}

static const struct {
    int64_t elapsed_ms;
    unsigned samples;
} readings[] = {{-1, 3},    {0, 1},     {5000, 1},  {20000, 1},  {29999, 1},
                {30000, 2}, {45000, 2}, {60000, 3}, {3600000, 3}};

/* As many samples as are new, a minute at most. */
static void test_samples(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(readings); i++)
        assert_int_equal(counters_samples_since(readings[i].elapsed_ms), readings[i].samples);
}

static const struct {
    enum connection connection;
    enum host_power power;
    enum standby_mode standby;
    bool in_maintenance, entering, with_vm;
    enum host_state state;
} hosts[] = {
    {CONNECTION_CONNECTED, HOST_POWER_ON, STANDBY_NONE, false, false, true, HOST_ON},
    {CONNECTION_CONNECTED, HOST_POWER_ON, STANDBY_NONE, true, false, false, HOST_MAINTENANCE},
    {CONNECTION_CONNECTED, HOST_POWER_ON, STANDBY_NONE, true, false, true, HOST_ENTERING_MAINTENANCE},
    {CONNECTION_CONNECTED, HOST_POWER_ON, STANDBY_NONE, false, true, true, HOST_ENTERING_MAINTENANCE},
    {CONNECTION_CONNECTED, HOST_POWER_ON, STANDBY_ENTERING, false, false, true, HOST_ENTERING_STANDBY},
    {CONNECTION_LOST, HOST_POWER_STANDBY, STANDBY_IN, false, false, false, HOST_STANDBY},
    {CONNECTION_LOST, HOST_POWER_STANDBY, STANDBY_NONE, false, false, false, HOST_STANDBY},
    {CONNECTION_LOST, HOST_POWER_STANDBY, STANDBY_IN, true, false, false, HOST_STANDBY},
    {CONNECTION_LOST, HOST_POWER_STANDBY, STANDBY_IN, false, false, true, HOST_DISCONNECTED},
    {CONNECTION_LOST, HOST_POWER_STANDBY, STANDBY_EXITING, false, false, false, HOST_POWERING_ON},
    {CONNECTION_LOST, HOST_POWER_ON, STANDBY_NONE, false, false, true, HOST_DISCONNECTED},
    {CONNECTION_LOST, HOST_POWER_ON, STANDBY_NONE, true, false, false, HOST_DISCONNECTED},
    {CONNECTION_UNKNOWN, HOST_POWER_ON, STANDBY_NONE, false, false, false, HOST_DISCONNECTED},
    {CONNECTION_CONNECTED, HOST_POWER_UNKNOWN, STANDBY_NONE, false, false, false, HOST_DISCONNECTED},
    {CONNECTION_CONNECTED, HOST_POWER_OFF, STANDBY_NONE, false, false, false, HOST_DISCONNECTED},
};

static void test_host_states(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(hosts); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct vs_inventory s;
        struct inventory inv;
        struct vs_inventory_host h = a_host("h");
        struct vs_inventory_vm v = a_vm("v", "h");

        vs_inventory_init(&s, &a);
        h.connection = hosts[i].connection;
        h.power = hosts[i].power;
        h.standby = hosts[i].standby;
        h.in_maintenance = hosts[i].in_maintenance;
        h.entering_maintenance = hosts[i].entering;
        s.hosts = &h, s.n_hosts = 1;
        s.vms = &v, s.n_vms = hosts[i].with_vm ? 1 : 0;
        map(&s, &inv);
        if (inv.hosts[0].is.state != hosts[i].state)
            fail_msg("host %zu: %s, expected %s", i, host_state_name(inv.hosts[0].is.state),
                     host_state_name(hosts[i].state));
    }
}

static void test_host_without_hardware(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct vs_inventory s;
    struct inventory inv;
    struct vs_inventory_host h = a_host("h");

    (void)state;
    vs_inventory_init(&s, &a);
    h.core_mhz = UNKNOWN;
    s.hosts = &h, s.n_hosts = 1;
    map(&s, &inv);
    assert_int_equal(inv.hosts[0].is.state, HOST_DISCONNECTED);
    assert_true(inv.hosts[0].is.total[RES_CPU] == 0);
}

static const struct {
    double used_mb, vm_consumed_mb, free_mb;
} memory[] = {
    {UNKNOWN, 1000, UNKNOWN}, {0, 0, UNKNOWN},         {20000, 10000, 45536},
    {20000, 22000, 45536},    {20000, 23000, UNKNOWN}, /* a host cannot use less than its VMs do */
    {70000, 1000, UNKNOWN},                            /* nor more than it has */
};

static void test_free_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(memory); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct vs_inventory s;
        struct inventory inv;
        struct vs_inventory_host h = a_host("h");
        struct vs_inventory_vm v = a_vm("v", "h");

        vs_inventory_init(&s, &a);
        h.mem_used_mb = memory[i].used_mb;
        v.sample.mem_consumed_mb = memory[i].vm_consumed_mb;
        s.hosts = &h, s.n_hosts = 1;
        s.vms = &v, s.n_vms = 1;
        map(&s, &inv);
        double got = inv.hosts[0].is.mem_free_mb;
        if (isnan(memory[i].free_mb) ? !isnan(got) : got != memory[i].free_mb)
            fail_msg("memory %zu: %g", i, got);
    }
}

static const struct {
    double effective, reserved; /* of two hosts with 16000 MHz each */
} kept[] = {{UNKNOWN, 0}, {32000, 0}, {28800, 1600}, {24000, 4000}, {23000, 0}, {64000, 0}, {0, 0}};

static void test_kept_for_the_hypervisor(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(kept); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct vs_inventory s;
        struct inventory inv;
        struct vs_inventory_host h[] = {a_host("a"), a_host("b"), a_host("asleep")};

        vs_inventory_init(&s, &a);
        h[2].standby = STANDBY_IN;
        s.effective[RES_CPU] = kept[i].effective;
        s.hosts = h, s.n_hosts = 3;
        map(&s, &inv);
        assert_true(fabs(inv.hosts[0].is.reserved[RES_CPU] - kept[i].reserved) < 1e-6);
        assert_true(fabs(inv.hosts[2].is.reserved[RES_CPU] - kept[i].reserved) < 1e-6);
        assert_true(inv.hosts[0].is.reserved[RES_MEM] == 0);
    }
}

static const struct {
    enum shares_level level;
    double given, cpu, mem; /* of 2 vCPUs and 2048 MiB */
} shares[] = {
    {SHARES_NORMAL, 0, 2000, 20480}, {SHARES_LOW, 99, 1000, 10240}, {SHARES_HIGH, 99, 4000, 40960},
    {SHARES_CUSTOM, 77, 77, 77},     {SHARES_CUSTOM, 0, 0, 0},      {SHARES_CUSTOM, UNKNOWN, 2000, 20480},
};

static void test_shares(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(shares); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct vs_inventory s;
        struct inventory inv;
        struct vs_inventory_host h = a_host("h");
        struct vs_inventory_vm v = a_vm("v", "h");

        vs_inventory_init(&s, &a);
        for (int r = 0; r < RES_COUNT; r++)
            v.alloc[r] = (struct vs_inventory_alloc){
                .given = true, .level = shares[i].level, .shares = shares[i].given, .limit = NO_LIMIT};
        s.hosts = &h, s.n_hosts = 1;
        s.vms = &v, s.n_vms = 1;
        map(&s, &inv);
        assert_true(inv.vms[0].is.alloc[RES_CPU].shares == shares[i].cpu);
        assert_true(inv.vms[0].is.alloc[RES_MEM].shares == shares[i].mem);
    }
}

/* Half a fault-tolerant pair, a pool that is its own ancestor, a rule and a group of strangers. */
static void test_broken_references(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    static const char *const named[] = {"v", "ghost", "v", "w"};
    struct vs_inventory s;
    struct inventory inv;
    struct vs_inventory_host h = a_host("h");
    struct vs_inventory_vm v[] = {a_vm("v", "h"), a_vm("w", "h"), a_vm("x", "nowhere")};
    struct vs_inventory_pool p[] = {{.id = "p", .parent = "q"}, {.id = "q", .parent = "p"}, {.id = "root"}};
    struct vs_inventory_rule r[] = {{.id = "1", .apart = true, .vms = {.items = named, .n = 4}},
                                    {.id = "2", .vms = {.items = named, .n = 2}},
                                    {.id = "3", .of_groups = true, .vm_group = "none", .on_hosts = "none"}};

    (void)state;
    vs_inventory_init(&s, &a);
    v[0].kind = VM_FT_PRIMARY;
    v[0].ft_peers = (struct ids){.items = &named[1], .n = 1};
    v[1].pool = "unknown";
    s.hosts = &h, s.n_hosts = 1;
    s.vms = v, s.n_vms = 3;
    s.pools = p, s.n_pools = 3;
    s.rules = r, s.n_rules = 3;
    map(&s, &inv);
    assert_int_equal(inv.n_vms, 2);
    assert_int_equal(inv.vms[0].is.kind, VM_NORMAL);
    assert_int_equal(inv.vms[0].is.automation, AUTOMATION_DISABLED);
    assert_null(inv.vms[1].pool);
    assert_int_equal(inv.n_pools, 2);
    assert_int_equal(inv.n_rules, 1);
    assert_int_equal(inv.rules[0].vms.n, 2);

    s.root_pool = NULL;
    assert_int_equal(vs_inventory_map(&s, &inv, NULL), -EPROTO);
}

/* Pairs count where both halves say so; what else is left of one is an ordinary VM that stays. */
static void test_pairs(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    static const char *const second_and_gone[] = {"gone", "b"};
    static const char *const a_id[] = {"a"};
    static const char *const e_id[] = {"e"};
    static const char *const f_id[] = {"f"};
    struct vs_inventory s;
    struct inventory inv;
    struct vs_inventory_host h = a_host("h");
    struct vs_inventory_vm v[] = {a_vm("a", "h"), a_vm("b", "h"), a_vm("c", "h"),
                                  a_vm("d", "h"), a_vm("e", "h"), a_vm("f", "h")};
    struct vs_inventory_override own[] = {{.id = "a", .automation = AUTOMATION_MANUAL},
                                          {.id = "e", .automation = AUTOMATION_MANUAL}};

    (void)state;
    vs_inventory_init(&s, &a);
    v[0].kind = VM_FT_PRIMARY, v[0].ft_peers = (struct ids){second_and_gone, 2};
    v[1].kind = VM_FT_SECONDARY, v[1].ft_peers = (struct ids){a_id, 1};
    v[2].kind = VM_FT_SECONDARY, v[2].ft_peers = (struct ids){a_id, 1}; /* of old: a does not know it */
    v[3].kind = VM_FT_PRIMARY, v[3].ft_peers = (struct ids){e_id, 1};   /* e was switched off since */
    v[5].kind = VM_FT_PRIMARY, v[5].ft_peers = (struct ids){f_id, 1};
    s.hosts = &h, s.n_hosts = 1;
    s.vms = v, s.n_vms = ELEMENTS(v);
    s.overrides = own, s.n_overrides = 2;
    s.overrides_count = false;
    map(&s, &inv);
    assert_string_equal(inv.vms[0].ft_peer, "b");
    assert_string_equal(inv.vms[1].ft_peer, "a");
    assert_int_equal(inv.vms[0].is.automation, AUTOMATION_MANUAL); /* no EVC: it stands */
    for (size_t i = 2; i < ELEMENTS(v); i++) {
        assert_null(inv.vms[i].ft_peer);
        assert_int_equal(inv.vms[i].is.kind, VM_NORMAL);
        assert_int_equal(inv.vms[i].is.automation, i == 4 ? AUTOMATION_INHERIT : AUTOMATION_DISABLED);
    }
}

/* An agent that is required is required where it is registered, running or not; elsewhere it is nobody's. */
static void test_agents(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct vs_inventory s;
    struct inventory inv;
    struct vs_inventory_host h[] = {a_host("h"), a_host("i")};
    struct vs_inventory_vm v[] = {a_vm("filter", "h"), a_vm("off", "h"), a_vm("vcls", "i"),
                                  a_vm("away", "nowhere"), a_vm("template", "i")};

    (void)state;
    vs_inventory_init(&s, &a);
    for (size_t i = 0; i < ELEMENTS(v); i++) {
        v[i].kind = VM_AGENT;
        v[i].required = i != 2;
    }
    v[1].state = VM_OFF;
    v[4].template_ = true;
    s.hosts = h, s.n_hosts = 2;
    s.vms = v, s.n_vms = ELEMENTS(v);
    map(&s, &inv);
    assert_int_equal(inv.n_vms, 3);
    assert_int_equal(inv.hosts[0].agents_required.n, 2);
    assert_string_equal(inv.hosts[0].agents_required.items[0], "filter");
    assert_string_equal(inv.hosts[0].agents_required.items[1], "off");
    assert_int_equal(inv.hosts[1].agents_required.n, 0);
}

/* A pool's shares scale where any pool above it, the root among them, or the cluster has its descendants'
 * scaled; what it says of its own descendants is not about itself. */
static void test_scalable_shares(void **state)
{
    static const struct {
        bool cluster, root, outer, inner, outer_scales, inner_scales;
    } scaling[] = {{.cluster = true, .outer_scales = true, .inner_scales = true},
                   {.root = true, .outer_scales = true, .inner_scales = true},
                   {.outer = true, .inner_scales = true},
                   {.inner = true},
                   {0}};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(scaling); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct vs_inventory s;
        struct inventory inv;
        struct vs_inventory_pool p[] = {
            {.id = "root", .scales_descendants = scaling[i].root},
            {.id = "outer", .parent = "root", .scales_descendants = scaling[i].outer},
            {.id = "inner", .parent = "outer", .scales_descendants = scaling[i].inner}};

        vs_inventory_init(&s, &a);
        s.pools = p, s.n_pools = 3;
        s.root_scales = scaling[i].cluster;
        map(&s, &inv);
        assert_int_equal(inv.pools[0].is.scalable_shares, scaling[i].outer_scales);
        assert_int_equal(inv.pools[1].is.scalable_shares, scaling[i].inner_scales);
    }
}

/* Two vCPUs of 2 GHz: turbo is taken for all that they have, what no turbo gives is left for the pass to see.
 */
static void test_turbo(void **state)
{
    static const struct {
        double used, expected;
    } cases[] = {{100, 100},    {4000, 4000},   {4001, 4000}, {6800, 4000},
                 {10000, 4000}, {10001, 10001}, {1e9, 1e9}};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct vs_inventory_host h = a_host("h");
        struct vs_inventory_vm v = a_vm("v", "h");
        struct vs_inventory s;
        struct inventory inv;

        v.sample.cpu_used_mhz = cases[i].used;
        vs_inventory_init(&s, &a);
        s.hosts = &h;
        s.n_hosts = 1;
        s.vms = &v;
        s.n_vms = 1;
        map(&s, &inv);
        if (inv.vms[0].sample.cpu_used_mhz != cases[i].expected)
            fail_msg("%g MHz become %g, expected %g", cases[i].used, inv.vms[0].sample.cpu_used_mhz,
                     cases[i].expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_host_states),
        cmocka_unit_test(test_host_without_hardware),
        cmocka_unit_test(test_free_memory),
        cmocka_unit_test(test_kept_for_the_hypervisor),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_broken_references),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_agents),
        cmocka_unit_test(test_turbo),
        cmocka_unit_test(test_scalable_shares),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
