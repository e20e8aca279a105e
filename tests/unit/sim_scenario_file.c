/* Scenario files: the scenario that each one gives. */
#include "unit.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "model/snapshot_json.h"
#include "sim/scenario/build.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOSTS "hosts: [{name: esx, count: 4, cores: 2, core_mhz: 1000, mem_mb: 4096}]\n"
#define BEGIN "duration_s: 3600\n" HOSTS

#define VMS "vms:\n- {name: web, count: 2, mem_mb: 64, workload: {cpu: 100}}\n"

static int parse(struct arena *a, const char *text, const struct scenario_override *o, size_t n,
                 struct scenario *ret, struct err *err)
{
    const struct scenario_options options = {.overrides = o, .n_overrides = n};

    return scenario_parse("f.yaml", text, strlen(text), &options, a, ret, err);
}

static struct scenario good(struct arena *a, const char *text)
{
    struct scenario s = {0};
    struct err err = {0};

    if (parse(a, text, NULL, 0, &s, &err) < 0)
        fail_msg("%s", err.text);
    return s;
}

static const struct host *host_of(const struct scenario *s, const char *vm)
{
    const struct vm *v = &s->initial.vms[snapshot_find_vm(&s->initial, vm)];

    return v->host == IX_NONE ? NULL : &s->initial.hosts[v->host];
}

/* ---- overrides ---- */

static void test_overrides(void **state)
{
    static const struct scenario_override o[] = {
        {"duration_s", "7200"},
        {"seed", "9"},
        {"migration_threshold", "5"},
        {"settings.dpm.enabled", "true"},
        {"dpm.ratio", "7"},
        {"vms.web.count", "3"},
        {"hosts.0.power.idle_w", "90"},
        {"vms.0.workload", "{cpu: {kind: constant, level: 300}, mem: 32}"},
        {"settings.seed", "4"},
        {"faults.rates.host_dies", "0.5"},
    };
    static const char *const texts[] = {
        BEGIN VMS,
        BEGIN VMS "settings: {migration_threshold: 1, dpm: {enabled: false, ratio: 2}}\nfaults:\n",
        BEGIN VMS "settings: {dpm.enabled: false, dpm: {target: 50}}\nseed: 3\n",
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(texts); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct scenario s;
        struct err err = {0};
        if (parse(&a, texts[i], o, ELEMENTS(o), &s, &err) < 0)
            fail_msg("%s", err.text);
        assert_true(s.duration_s == 7200 && s.seed == 9);
        assert_true(s.policy.migration_threshold == 5 && s.policy.dpm.enabled && s.policy.dpm.ratio == 7);
        assert_true(s.policy.seed == 4);
        assert_int_equal(s.initial.n_vms, 3);
        assert_true(s.hosts[0].watts[0] == 90 && s.hosts[0].watts[1] == 300);
        assert_true(s.initial.vms[2].is.demand[RES_CPU] == 300 && s.initial.vms[2].is.demand[RES_MEM] == 32);
        assert_true(s.rates[SIM_HOST_DIES].rate == 0.5 && s.rates[SIM_HOST_DIES].for_s == 3600);
    }
}

/* The seed that is given counts more than that of the file. */
static void test_seed(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct scenario_options options = {.seed_given = true, .seed = 77};
    struct scenario s;
    struct err err = {0};

    (void)state;
    assert_int_equal(
        scenario_parse("f", BEGIN "seed: 3\n", strlen(BEGIN "seed: 3\n"), &options, &a, &s, &err), 0);
    assert_true(s.seed == 77);
}

/* ---- what becomes of a good one ---- */

/* Levels that are not given are parts of what the VM can use; what VMs have in common is the scenario's. */
static void test_generators(void **state)
{
    static const char text[] = BEGIN
        "start: \"2026-01-08T06:00:00Z\"\nseed: 7\nvms:\n"
        "- {name: o, count: 2, vcpus: 2, mem_mb: 64, workload: {cpu: {kind: office}, mem: {kind: office, "
        "percent: true, high: 80}}}\n"
        "- {name: s, count: 2, mem_mb: 64, workload: {cpu: {kind: surge, high: 600, high_spread: 0}}}\n";
    CLEANUP(arena_releasep) struct arena a = {0};
    struct scenario one = good(&a, text), two = good(&a, text);
    const struct workload *cpu = &one.vms[0].of[RES_CPU], *mem = &one.vms[0].of[RES_MEM];
    const struct workload *surge = one.vms[2].of;

    (void)state;
    assert_true(cpu->high == 1000 && cpu->low == 100 && cpu->high_spread == 200 && cpu->scale == 1);
    assert_true(mem->high == 80 && mem->low == 5 && fabs(mem->scale - 0.64) < 1e-12);
    assert_true(cpu->week_s == 3 * 86400 + 6 * 3600); /* a Thursday */
    assert_true(cpu->event_seed == mem->event_seed && cpu->seed != mem->seed && cpu->phase_s == mem->phase_s);
    assert_true(cpu->event_seed != one.vms[1].of[RES_CPU].event_seed);
    assert_true(cpu->phase_s != one.vms[1].of[RES_CPU].phase_s);
    assert_true(surge->common_seed == one.vms[3].of[RES_CPU].common_seed);
    assert_true(surge->high == 600 && surge->high_spread == 0 && surge->low == 100);
    for (double t = 0; t < 100000; t += 777) {
        for (uint32_t i = 0; i < one.initial.n_vms; i++)
            assert_true(workload_at(&one.vms[i].of[RES_CPU], t).value ==
                        workload_at(&two.vms[i].of[RES_CPU], t).value);
    }
}

static void test_defaults(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct scenario s = good(&a, BEGIN VMS);

    (void)state;
    assert_string_equal(s.name, "f.yaml");
    assert_int_equal(s.start, 1767571200);
    assert_true(s.ballast && s.sample_s == 60 && s.look_s == 0 && s.measure_from_s == 0 &&
                s.restart_s == 120);
    assert_true(s.policy.automation == AUTOMATION_FULL && s.policy.dpm.automation == AUTOMATION_AUTOMATIC);
    assert_string_equal(s.initial.hosts[3].is.id, "esx-004");
    assert_string_equal(s.initial.vms[1].is.id, "web-002");
    assert_true(s.initial.hosts[0].capacity[RES_CPU] == 2000 && s.initial.hosts[0].is.boot_s == 180);
    assert_true(s.hosts[0].n_watts == 2 && s.hosts[0].watts[0] == 200 && s.hosts[0].boot_w == 300);
    assert_true(s.vms[0].arrives_s == 0 && isinf(s.vms[0].leaves_s));
    assert_string_equal(s.vms[0].share_class, "normal");
    assert_true(s.vms[0].of[RES_CPU].max == 1000 && s.vms[0].of[RES_MEM].max == 64);
    assert_true(s.initial.vms[0].is.demand[RES_CPU] == 100 && s.initial.vms[0].is.demand[RES_MEM] == 64);
}

static void test_whole_numbers(void **state)
{
    static const struct scenario_override count = {"vms.web.count", "1e1"};
    CLEANUP(arena_releasep) struct arena a = {0};
    struct scenario s = {0}, plain = good(&a, BEGIN VMS);
    struct err err = {0};

    (void)state;
    assert_int_equal(parse(&a, BEGIN VMS, &count, 1, &s, &err), 0);
    assert_string_equal(s.initial.vms[9].is.id, "web-010");
    assert_int_equal(s.initial.n_vms - 10, plain.initial.n_vms - 2);
}

/* A number is the VM's; a word is a rate for each vCPU; without either the workload says what the VM is. */
static void test_dirty_rates(void **state)
{
    static const struct {
        const char *keys;
        double mb_s;
    } vms[] = {
        {"workload: {cpu: 5}", 5},
        {"dirty_mb_s: web, workload: {cpu: 5}", 8},
        {"dirty_mb_s: database, workload: {cpu: 5}", 32},
        {"dirty_mb_s: idle, workload: {cpu: {kind: batch}}", 2},
        {"dirty_mb_s: 0.5, workload: {cpu: {kind: batch}}", 0.5},
        {"workload: {cpu: {kind: batch}}", 16},
        {"workload: {cpu: {kind: office}, mem: {kind: batch}}", 8},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(vms); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct scenario s =
            good(&a, arena_printf(&a, BEGIN "vms: [{name: v, vcpus: 2, mem_mb: 64, %s}]\n", vms[i].keys));
        if (fabs(s.vms[0].dirty_mb_s - vms[i].mb_s) > 1e-9)
            fail_msg("%s: %g", vms[i].keys, s.vms[0].dirty_mb_s);
    }
}

/* Models follow their objects though the snapshot sorts them. */
static void test_order(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct scenario s = good(&a, "duration_s: 60\n"
                                 "hosts:\n"
                                 "- {name: z, cores: 1, core_mhz: 1000, mem_mb: 512, boot_s: 26}\n"
                                 "- {name: a, cores: 1, core_mhz: 1000, mem_mb: 512, boot_s: 1}\n"
                                 "vms:\n"
                                 "- {name: y, mem_mb: 5, at: z, dirty_mb_s: 25, workload: {cpu: 25}}\n"
                                 "- {name: b, mem_mb: 5, at: [a], dirty_mb_s: 2, workload: {cpu: 2}}\n");

    (void)state;
    assert_true(s.hosts[0].boot_s == 1 && s.hosts[1].boot_s == 26);
    assert_true(s.vms[0].dirty_mb_s == 2 && s.vms[1].dirty_mb_s == 25);
    assert_true(s.vms[0].of[RES_CPU].level == 2);
    assert_string_equal(host_of(&s, "y")->is.id, "z");
    assert_string_equal(host_of(&s, "b")->is.id, "a");
}

/* Two kinds of hosts by turns, four kinds of VMs in blocks: CloudSim's cluster. */
static void test_variants(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct scenario s = good(&a, "duration_s: 60\n"
                                 "hosts:\n"
                                 "- name: h\n"
                                 "  count: 5\n"
                                 "  mem_mb: 4096\n"
                                 "  cycle: [{cores: 2, core_mhz: 1860, power: {watts: [86, 100, 117]}}, "
                                 "{kind: g5, cores: 2, core_mhz: 2660}]\n"
                                 "vms:\n"
                                 "- name: v\n"
                                 "  count: 10\n"
                                 "  workload: {cpu: 10}\n"
                                 "  split: [{mem_mb: 4, at: g5}, {mem_mb: 3}, {mem_mb: 2}, {mem_mb: 1}]\n");
    static const double mem_mb[] = {4, 4, 4, 3, 3, 3, 2, 2, 2, 1};

    (void)state;
    for (uint32_t i = 0; i < 5; i++) {
        assert_true(s.initial.hosts[i].is.total[RES_CPU] == (i % 2 ? 5320 : 3720));
        assert_int_equal(s.hosts[i].n_watts, i % 2 ? 2 : 3);
    }
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(s.initial.vms[i].host % 2, 1);
    for (uint32_t i = 0; i < 10; i++)
        assert_true(s.initial.vms[i].is.mem_mb == mem_mb[i]);
}

static void test_pools_and_shares(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct scenario s = good(
        &a, BEGIN
        "pools:\n"
        "- {name: gold, cpu: {shares: high, reservation: 500}, mem: {shares: 7, limit: 900}}\n"
        "- {name: lead, parent: gold, cpu: {shares: low, expandable: false}}\n"
        "vms:\n"
        "- {name: a, vcpus: 2, mem_mb: 100, pool: gold, cpu: {shares: high}, workload: {cpu: 1}}\n"
        "- {name: b, mem_mb: 100, pool: lead, share_class: mine, mem: {shares: low}, workload: {cpu: 1}}\n"
        "- {name: c, mem_mb: 100, cpu: {shares: 5, limit: 50}, workload: {cpu: 1}}\n");
    const struct snapshot *i = &s.initial;

    (void)state;
    assert_true(i->pools[0].is.alloc[RES_CPU].shares == 8000 &&
                i->pools[0].is.alloc[RES_CPU].reservation == 500);
    assert_true(i->pools[0].is.alloc[RES_MEM].shares == 7 && i->pools[0].is.alloc[RES_MEM].limit == 900);
    assert_true(i->pools[0].is.alloc[RES_CPU].expandable && !i->pools[1].is.alloc[RES_CPU].expandable);
    assert_true(i->pools[1].is.alloc[RES_CPU].shares == 2000 &&
                i->pools[1].is.alloc[RES_MEM].shares == 163840);
    assert_int_equal(i->pools[1].parent, 0);
    assert_true(i->vms[0].is.alloc[RES_CPU].shares == 4000 && i->vms[1].is.alloc[RES_MEM].shares == 500);
    assert_true(i->vms[2].is.alloc[RES_CPU].shares == 5 && i->vms[2].is.alloc[RES_CPU].limit == 50);
    assert_string_equal(s.vms[0].share_class, "gold");
    assert_string_equal(s.vms[1].share_class, "mine");
    assert_string_equal(s.vms[2].share_class, "custom");
}

/* ---- where VMs begin ---- */

static void test_placement(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct scenario s = good(
        &a, BEGIN "vms:\n"
                  "- {name: even, count: 8, mem_mb: 64, at: spread, workload: {cpu: 1}}\n"
                  "- {name: half, count: 4, mem_mb: 64, at: {hosts: \"esx-00[34]\"}, workload: {cpu: 1}}\n"
                  "- {name: one, mem_mb: 64, workload: {cpu: 1}, compatible: esx-00?, at: esx-002}\n"
                  "- {name: only, mem_mb: 64, workload: {cpu: 1}, compatible: [esx-004]}\n"
                  "- {name: late, mem_mb: 64, workload: {cpu: 1}, arrives_s: 60, lasts_s: 9}\n");
    unsigned even[4] = {0}, half[4] = {0};

    (void)state;
    for (uint32_t i = 0; i < s.initial.n_vms; i++) {
        const struct vm *v = &s.initial.vms[i];
        even[v->host % 4] += strncmp(v->is.id, "even", 4) == 0;
        half[v->host % 4] += strncmp(v->is.id, "half", 4) == 0;
    }
    for (int h = 0; h < 4; h++) {
        assert_int_equal(even[h], 2);
        assert_int_equal(half[h], h < 2 ? 0 : 2);
    }
    assert_string_equal(host_of(&s, "one")->is.id, "esx-002");
    assert_string_equal(host_of(&s, "only")->is.id, "esx-004");
    assert_int_equal(s.initial.vms[snapshot_find_vm(&s.initial, "one")].compatible_hosts.n, 4);
    uint32_t late = snapshot_find_vm(&s.initial, "late");

    assert_null(host_of(&s, "late"));
    assert_int_equal(s.initial.vms[late].is.state, VM_OFF);
    assert_true(s.vms[late].arrives_s == 60 && s.vms[late].leaves_s == 69);
}

/* Two sizes of host, of which the second one draws less for the same work and is too slow for big VMs. */
#define TWO_KINDS                                                                                            \
    "duration_s: 60\n"                                                                                       \
    "hosts:\n"                                                                                               \
    "- {name: big, cores: 2, core_mhz: 2000, mem_mb: 1000, power: {watts: [100, 200]}}\n"                    \
    "- {name: thin, count: 2, cores: 2, core_mhz: 1000, mem_mb: 1000, power: {watts: [100, 110]}}\n"         \
    "- {name: asleep, cores: 9, core_mhz: 9000, mem_mb: 9000, state: standby}\n"

static const struct {
    const char *vms;
    bool fits;
    const char *hosts[4]; /* of v-001 ... */
} fitted[] = {
    {"{name: v, count: 3, mem_mb: 400, vcpu_mhz: 1000, at: first_fit, workload: {cpu: 1}}",
     true,
     {"big", "big", "thin-001"}},
    {"{name: v, count: 3, mem_mb: 10, vcpu_mhz: 1500, at: {how: first_fit, fill_to: 0.8}, workload: {cpu: "
     "1}}",
     false,
     {NULL}},
    {"{name: v, count: 4, mem_mb: 10, vcpu_mhz: 1000, at: least_power, workload: {cpu: 1}}",
     true,
     {"thin-001", "thin-001", "thin-002", "thin-002"}},
    {"{name: v, count: 4, mem_mb: 10, vcpu_mhz: 1000, at: {how: least_power, fill_to: 0.9}, workload: {cpu: "
     "1}}",
     true,
     {"thin-001", "thin-002", "big", "big"}},
    {"{name: v, count: 1, mem_mb: 10, vcpu_mhz: 1001, at: least_power, workload: {cpu: 1}}", true, {"big"}},
    {"{name: v, count: 3, mem_mb: 600, mem: {reservation: 600}, at: {hosts: thin, how: random}, workload: "
     "{cpu: 1}}",
     false,
     {NULL}},
};

static void test_fit(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(fitted); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct scenario s;
        struct err err = {0};
        bool fits =
            parse(&a, arena_printf(&a, TWO_KINDS "vms:\n- %s\n", fitted[i].vms), NULL, 0, &s, &err) == 0;
        if (fits != fitted[i].fits)
            fail_msg("%s: %s", fitted[i].vms, err.text);
        for (uint32_t v = 0; fits && v < s.initial.n_vms; v++)
            assert_string_equal(s.initial.hosts[s.initial.vms[v].host].is.id, fitted[i].hosts[v]);
    }
}

/* By the seed and the name alone: other groups change nothing. */
static void test_random(void **state)
{
    static const char vms[] =
        "- {name: v, count: 40, mem_mb: 1, at: random, workload: {cpu: {kind: high_low, "
        "levels: [1, 2], high_s: 600, level: 0, low_s: 600, phase: random}}}\n";
    CLEANUP(arena_releasep) struct arena a = {0};
    struct scenario x = good(&a, arena_printf(&a, BEGIN "vms:\n%s", vms));
    struct scenario y =
        good(&a, arena_printf(&a, BEGIN "vms:\n- {name: a, mem_mb: 1, workload: {cpu: 1}}\n%s", vms));
    struct scenario z = good(&a, arena_printf(&a, BEGIN "seed: 1\nvms:\n%s", vms));
    unsigned moved = 0, shifted = 0, on_first = 0;

    (void)state;
    for (uint32_t i = 0; i < 40; i++) {
        assert_int_equal(x.initial.vms[i].host, y.initial.vms[i + 1].host);
        assert_true(x.vms[i].of[RES_CPU].phase_s == y.vms[i + 1].of[RES_CPU].phase_s);
        assert_true(x.vms[i].of[RES_CPU].seed == y.vms[i + 1].of[RES_CPU].seed);
        moved += x.initial.vms[i].host != z.initial.vms[i].host;
        shifted += x.vms[i].of[RES_CPU].phase_s != z.vms[i].of[RES_CPU].phase_s;
        on_first += x.initial.vms[i].host == 0;
    }
    assert_in_range(moved, 20, 39);
    assert_in_range(shifted, 35, 40);
    assert_in_range(on_first, 4, 18);
}

/* ---- faults, operations ---- */

static void test_scripts(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct scenario s = good(&a, BEGIN VMS "faults:\n"
                                           "  rates: {migration_fails: 0.25, wake_slow: {rate: 0.5, factor: "
                                           "4}, source_deaf: {rate: 2, for_s: 60}}\n"
                                           "  restart_s: never\n"
                                           "  script:\n"
                                           "  - {at_s: 50, wake_slow: any}\n"
                                           "  - {at_s: 10, host_dies: esx-003, for_s: 600}\n"
                                           "  - {at_s: 50, samples_stale: web-002}\n"
                                           "script:\n"
                                           "- {at_s: 9, maintenance_exit: esx-002}\n"
                                           "- {at_s: 7, set: {migration_threshold: 4, dpm: {ratio: 3}}}\n");

    (void)state;
    assert_true(s.rates[SIM_MIGRATION_FAILS].rate == 0.25 && s.rates[SIM_MIGRATION_HANGS].rate == 0);
    assert_true(s.rates[SIM_WAKE_SLOW].factor == 4 && s.rates[SIM_SOURCE_DEAF].for_s == 60);
    assert_true(isinf(s.restart_s));
    assert_int_equal(s.n_faults, 3);
    assert_true(s.faults[0].kind == SIM_HOST_DIES && s.faults[0].host == 2 && s.faults[0].for_s == 600);
    assert_true(s.faults[1].kind == SIM_WAKE_SLOW && s.faults[1].host == IX_NONE && s.faults[1].factor == 3);
    assert_true(s.faults[2].kind == SIM_SAMPLES_STALE && s.faults[2].vm == 1 && isinf(s.faults[2].for_s));
    assert_int_equal(s.n_operations, 3);
    assert_string_equal(s.operations[0].key, "migration_threshold");
    assert_string_equal(s.operations[1].key, "dpm.ratio");
    assert_string_equal(s.operations[1].value, "3");
    assert_true(s.operations[2].kind == SCRIPT_MAINTENANCE_EXIT && s.operations[2].host == 1);
}

/* ---- files beside it ---- */

static const char *put(const char *folder, const char *name, const char *text, struct arena *a)
{
    const char *path = arena_printf(a, "%s/%s", folder, name);
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return path;
}

/* Named and counted by their traces; sizes and memory from them. */
static void test_traces(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    char folder[] = "/tmp/ballast-scenario-XXXXXX";

    (void)state;
    assert_non_null(mkdtemp(folder));
    const char *one = put(folder, "one", "0;2;2000;500;1048576;524288\n300;2;2000;100;1048576;524288\n", &a);
    const char *two = put(folder, "two", "0;4;4000;800;2097152;524288\n", &a);
    const char *begin = arena_printf(&a, BEGIN "workload: {dir: %s, format: bitbrains}\nvms:\n", folder);
    struct scenario s =
        good(&a, arena_printf(&a,
                              "%s- {name: b, count: traces, names: traces, vcpus: trace, mem_mb: trace, "
                              "workload: trace}\n",
                              begin));

    assert_int_equal(s.initial.n_vms, 2);
    assert_string_equal(s.initial.vms[1].is.id, "two");
    assert_int_equal(s.initial.vms[0].is.vcpus, 2);
    assert_true(s.initial.vms[1].is.mem_mb == 2048 && s.initial.vms[0].is.demand[RES_MEM] == 512);
    assert_true(workload_at(&s.vms[0].of[RES_CPU], 300).value == 100);
    assert_true(s.vms[1].of[RES_CPU].max == 4000);

    s = good(&a, arena_printf(&a,
                              "%s- {name: x, count: 2, mem_mb: 64, workload: {cpu: trace}}\n"
                              "- {name: y, mem_mb: 64, workload: {cpu: {kind: trace, file: %s, scale: 2}}}\n",
                              begin, one));
    assert_true(s.initial.vms[0].is.demand[RES_CPU] == 500 && s.initial.vms[1].is.demand[RES_CPU] == 800);
    assert_true(s.initial.vms[2].is.demand[RES_CPU] == 1000 && s.initial.vms[2].is.demand[RES_MEM] == 64);

    s = good(&a, arena_printf(
                     &a,
                     "%s- {name: p, mem_mb: 64, vcpus: 2, vcpu_mhz: 500, workload: {cpu: {kind: trace, file: "
                     "%s, format: csv, percent: true}}}\n",
                     begin, put(folder, "three.csv", "0,50\n60,200\n", &a)));
    assert_true(s.initial.vms[0].is.demand[RES_CPU] == 500);
    assert_true(workload_at(&s.vms[0].of[RES_CPU], 60).value == 1000); /* it cannot use more */
    struct err err = {0};

    (void)put(folder, "three.csv", "0,50\n1e-9,200\n", &a);
    const char *too_short =
        arena_printf(&a,
                     "%s- {name: p, mem_mb: 64, workload: {cpu: {kind: trace, file: %s/three.csv, "
                     "format: csv, repeat: true}}}\n",
                     begin, folder);

    assert_int_equal(parse(&a, too_short, NULL, 0, &s, &err), -EINVAL);
    assert_non_null(strstr(err.text, "lasts 2e-09 s, expected 1 s or more"));
    assert_int_equal(remove(arena_printf(&a, "%s/three.csv", folder)), 0);
    const char *too_many =
        arena_printf(&a, "%s- {name: x, count: 3, mem_mb: 64, workload: {cpu: trace}}\n", begin);

    assert_int_equal(parse(&a, too_many, NULL, 0, &s, &err), -EINVAL);
    assert_non_null(strstr(err.text, "has 2 traces, expected one more for VM \"x-003\""));
    assert_int_equal(remove(one), 0);
    assert_int_equal(remove(two), 0);
    assert_int_equal(remove(folder), 0);
}

/* A snapshot goes on as it was; entries with match change what they name, the others add. */
static void test_snapshot(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    CLEANUP(strbuf_releasep) struct strbuf text = {0};
    char folder[] = "/tmp/ballast-scenario-XXXXXX";
    struct scenario before =
        good(&a, BEGIN VMS
             "- {name: db, mem_mb: 512, pool: p, cpu: {shares: 77}, workload: {cpu: 300, mem: 100}}\n"
             "- {name: off, mem_mb: 512, arrives_s: 9, workload: {cpu: 300}}\n"
             "pools: [{name: p}]\nrules: [{name: r, kind: vm-vm-anti-affine, vms: web}]\n");

    (void)state;
    assert_non_null(mkdtemp(folder));
    strbuf_init(&text, STRBUF_NO_LIMIT);
    before.initial.vms[snapshot_find_vm(&before.initial, "db")].is.last_migrated = before.start - 600;
    before.initial.vms[snapshot_find_vm(&before.initial, "web-002")].is.name = "db";
    snapshot_dump(&before.initial, &text);
    const char *snapshot = put(folder, "now.json", text.text, &a);
    struct scenario s = good(
        &a, arena_printf(&a,
                         "duration_s: 60\nstart: \"2026-01-06T00:00:00Z\"\nsnapshot: %s\n"
                         "hosts:\n- {match: esx-00?, boot_s: 9}\n- {match: esx-002, power: {idle_w: 50}}\n"
                         "- {name: new, cores: 1, core_mhz: 5000, mem_mb: 512}\n"
                         "vms:\n- {match: 'web-*', workload: {cpu: 55}}\n- {match: db, vcpus: 3}\n"
                         "- {name: more, mem_mb: 9, pool: p, workload: {cpu: 5}}\n",
                         snapshot));
    const struct snapshot *i = &s.initial;

    assert_int_equal(i->n_hosts, 5);
    assert_int_equal(i->n_vms, 5);
    assert_int_equal(i->n_rules, 1);
    assert_true(s.hosts[0].boot_s == 9 && s.hosts[4].boot_s == 180);
    assert_true(s.hosts[0].watts[0] == 200 && s.hosts[1].watts[0] == 50);
    assert_true(i->hosts[0].is.total[RES_CPU] == 2000);
    uint32_t db = snapshot_find_vm(i, "db"), off = snapshot_find_vm(i, "off"),
             web = snapshot_find_vm(i, "web-001");

    assert_string_equal(host_of(&s, "db")->is.id, host_of(&before, "db")->is.id);
    assert_true(i->vms[db].is.demand[RES_CPU] == 300 && i->vms[db].is.alloc[RES_CPU].shares == 77);
    assert_true(workload_at(&s.vms[db].of[RES_MEM], 50).value == 100);
    assert_true(i->vms[db].is.vcpus == 3 && i->vms[snapshot_find_vm(i, "web-002")].is.vcpus == 1);
    assert_true(i->vms[web].is.demand[RES_CPU] == 55 && i->vms[web].is.demand[RES_MEM] == 64);
    assert_string_equal(s.vms[web].share_class, "normal"); /* by their number */
    assert_string_equal(s.vms[db].share_class, "p");
    assert_true(i->vms[off].is.state == VM_OFF && isinf(s.vms[off].arrives_s));
    assert_true(s.start == before.start + 86400);
    assert_true(i->vms[db].is.last_migrated == 1767571200 + 86400 - 600 && i->hosts[0].is.on_since == 0);
    assert_int_equal(remove(snapshot), 0);
    assert_int_equal(remove(folder), 0);
}

/* ---- the document ---- */

/* Every key that is read stands in the manual page. */
static void test_documented(void **state)
{
    const struct schema *const tables[] = {
        &top_keys,       &host_keys,   &power_keys, &vm_keys,    &at_keys,       &alloc_keys,
        &range_keys,     &pool_keys,   &rule_keys,  &ha_keys,    &workload_keys, &source_keys,
        &migration_keys, &faults_keys, &rate_keys,  &rates_keys, &event_keys,    &operation_keys,
    };
    CLEANUP(arena_releasep) struct arena a = {0};
    const char *source = getenv("BALLAST_SOURCE_DIR");

    (void)state;
    if (!source)
        skip();
    FILE *f = fopen(arena_printf(&a, "%s/packaging/man/ballast-simulate.5", source), "re");
    char *text = arena_array(&a, char, 65536);

    assert_non_null(f);
    assert_in_range(fread(text, 1, 65535, f), 1000, 65534);
    (void)fclose(f);
    for (size_t t = 0; t < ELEMENTS(tables); t++) {
        for (size_t k = 0; k < tables[t]->n; k++) {
            const char *name = tables[t]->fields[k].name;
            bool there = strstr(text, arena_printf(&a, "Ic %s ", name)) ||
                         strstr(text, arena_printf(&a, "Ic %s\n", name));
            if (!there)
                fail_msg("ballast-simulate.5 does not have %s", name);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {

        cmocka_unit_test(test_overrides),
        cmocka_unit_test(test_seed),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_generators),
        cmocka_unit_test(test_whole_numbers),
        cmocka_unit_test(test_dirty_rates),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_variants),
        cmocka_unit_test(test_pools_and_shares),
        cmocka_unit_test(test_placement),
        cmocka_unit_test(test_fit),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_scripts),
        cmocka_unit_test(test_traces),
        cmocka_unit_test(test_snapshot),
        cmocka_unit_test(test_documented),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
