/* Scenario files and overrides: line and message of each error. */
#include "unit.h"

#include "base/cleanup.h"
#include "sim/scenario/scenario.h"

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

/* ---- what is wrong ---- */

static const struct {
    const char *text;
    const char *sentence; /* what it begins with */
} wrong[] = {
    {"", "f.yaml:1: duration_s is missing, expected the seconds to simulate"},
    {"duration_s: 60\n", "f.yaml:1: there are no hosts, expected a snapshot or some hosts"},
    {BEGIN "duraton_s: 5\n", "f.yaml:3: \"duraton_s\" is not a known key, did you mean \"duration_s\"?"},
    {BEGIN "cluster: x\n", "f.yaml:3: \"cluster\" is not a known key, expected one of name, start"},
    {"duration_s: soon\n" HOSTS, "f.yaml:1: duration_s is \"soon\", expected a number from 1 to 320000000"},
    {"duration_s: '60'\n" HOSTS, "f.yaml:1: duration_s is \"60\", expected a number"},
    {"duration_s: [60]\n" HOSTS, "f.yaml:1: duration_s is a list, expected a number"},
    {BEGIN "measure_from_s: 3600\n",
     "f.yaml:3: measure_from_s is 3600, expected less than duration_s (3600)"},
    {BEGIN "seed: 1.5\n", "f.yaml:3: seed is 1.5, expected a whole number"},
    {BEGIN "start: monday\n", "f.yaml:3: start is \"monday\", expected a date like"},
    {"duration_s: 300000000\nsample_s: 1\n" HOSTS, "f.yaml:2: sample_s is too small for duration_s"},
    {BEGIN "settings: {migration_treshold: 3}\n",
     "f.yaml:3: \"migration_treshold\" is not a known key, did you mean "},
    {BEGIN "settings:\n  dpm:\n    target: 120\n",
     "f.yaml:5: dpm.target is \"120\", expected a number from 0 to 100"},
    {BEGIN "settings: {dpm.ratio: 3, dpm: {ratio: 4}}\n", "f.yaml:3: settings.dpm.ratio is given twice"},
    {BEGIN "settings: [a]\n", "f.yaml:3: settings is a list, expected {KEY: VALUE}"},
    /* hosts */
    {"duration_s: 60\nhosts: 5\n", "f.yaml:2: hosts is \"5\", expected a list of groups"},
    {"duration_s: 60\nhosts:\n- {cores: 2}\n", "f.yaml:3: hosts.0.name is missing, expected a name"},
    {"duration_s: 60\nhosts:\n- {name: a, cores: 2}\n",
     "f.yaml:3: host \"a\" has no core_mhz, expected cores"},
    {"duration_s: 60\nhosts:\n- {name: a, count: 99999}\n",
     "f.yaml:3: hosts.0.count is \"99999\", expected a whole number from 1 to 2000"},
    {"duration_s: 60\nhosts:\n- {name: a, power: {idle_w: 5, watts: [1, 2]}}\n",
     "f.yaml:3: hosts.0.power has both watts and idle_w"},
    {"duration_s: 60\nhosts:\n- {name: a, power: {watts: [1]}}\n",
     "f.yaml:3: hosts.0.power.watts has 1 figures, expected 2 to 101, from no load to full load"},
    {"duration_s: 60\nhosts:\n- {name: a, cores: 1, core_mhz: 5, mem_mb: 9, power: {idle_w: 9, peak_w: 3}}\n",
     "f.yaml:3: a: /hosts/0/power_peak_w: 3 is below power_idle_w"},
    {"duration_s: 60\nhosts:\n- {match: a}\n",
     "f.yaml:3: hosts.0.match: no host of the snapshot is called \"a\""},
    {"duration_s: 60\nhosts:\n- {name: a, cycle: [{name: b}]}\n",
     "f.yaml:3: hosts.0.cycle.0: name is the group's, expected what differs"},
    {"duration_s: 60\nhosts:\n- {name: a, cycle: []}\n", "f.yaml:3: hosts.0.cycle is empty"},
    {"duration_s: 60\nhosts:\n- {name: a, cycle: [{}], split: [{}]}\n",
     "f.yaml:3: hosts.0.cycle and split stand together"},
    {BEGIN "snapshot: nothing.json\n", "f.yaml:3: nothing.json: "},
    /* VMs */
    {BEGIN "vms:\n- {name: v, mem_mb: 5}\n", "f.yaml:4: VM \"v\" has no workload.cpu, expected its demand"},
    {BEGIN "vms:\n- {name: v, workload: {cpu: 5}}\n", "f.yaml:4: VM \"v\" has no mem_mb"},
    {BEGIN "vms:\n- {name: v, mem_mb: 5, workload: {cpu: {level: 5}}}\n",
     "f.yaml:4: vms.0.workload.cpu has no kind, expected a number, trace or {kind: ...}"},
    {BEGIN "vms:\n- {name: v, mem_mb: 5, workload: {cpu: {kind: constant}}}\n",
     "f.yaml:4: vms.0.workload.cpu.level is missing, expected it for kind constant"},
    {BEGIN "vms:\n- {name: v, mem_mb: 5, workload: {cpu: {kind: constant, level: 1, high: 2}}}\n",
     "f.yaml:4: vms.0.workload.cpu.high means nothing for kind constant"},
    {BEGIN "vms:\n- {name: v, mem_mb: 5, workload: {cpu: {kind: sine}}}\n",
     "f.yaml:4: vms.0.workload.cpu.kind is \"sine\", expected constant, high_low"},
    {BEGIN "vms:\n- {name: v, mem_mb: 5, workload: {cpu: {kind: spike, level: 1, high: 2, from_s: 9, "
           "until_s: 9}}}\n",
     "f.yaml:4: vms.0.workload.cpu.until_s is 9, expected more than from_s (9)"},
    {BEGIN "vms:\n- {name: v, mem_mb: 5, workload: {cpu: {kind: normal, high: 1, low_s: 60}}}\n",
     "f.yaml:4: vms.0.workload.cpu has low_s without low"},
    {BEGIN "vms:\n- {name: v, mem_mb: 5, workload: {cpu: {kind: office, every_s: 5}}}\n",
     "f.yaml:4: vms.0.workload.cpu.every_s means nothing for kind office"},
    {BEGIN "vms:\n- {name: v, mem_mb: 5, workload: {cpu: {kind: office, evry_s: 5}}}\n",
     "f.yaml:4: vms.0.workload.cpu.evry_s is not known, expected one of the keys of kind office: kind, "
     "scale, high, high_spread, low, low_spread, step_s, from_s, until_s, rise_s, spread_s, percent"},
    {BEGIN "vms:\n- {name: v, mem_mb: 5, workload: {cpu: {kind: office, from_s: 57700}}}\n",
     "f.yaml:4: vms.0.workload.cpu.until_s is 61200, expected from_s + rise_s (61300) or later"},
    {BEGIN "vms:\n- {name: v, mem_mb: 5, workload: {cpu: {kind: office, until_s: 84000}}}\n",
     "f.yaml:4: vms.0.workload.cpu.until_s + rise_s is 87600, expected at most a day (86400)"},
    {BEGIN "vms:\n- {name: v, mem_mb: 5, workload: {cpu: {kind: bursty, high_s: 40000}}}\n",
     "f.yaml:4: vms.0.workload.cpu.low_s is 3600, expected at least a tenth of high_s (4000)"},
    {BEGIN "vms:\n- {name: v, mem_mb: 5, workload: {cpu: {kind: surge, every_s: 3600}}}\n",
     "f.yaml:4: vms.0.workload.cpu.every_s is 3600, expected 0 (once) or vary_s + spread_s + 2 rise_s + "
     "high_s"},
    {BEGIN "vms:\n- {name: v, mem_mb: 5, workload: {cpu: {kind: surge, part: 1.5}}}\n",
     "f.yaml:4: vms.0.workload.cpu.part is \"1.5\", expected a number from 0 to 1"},
    {BEGIN "vms:\n- {name: v, mem_mb: 5, workload: {cpu: {kind: batch, every_s: 3600}}}\n",
     "f.yaml:4: vms.0.workload.cpu.every_s is 3600, expected the longest job (1.5 high_s, 5400) or more"},
    {BEGIN "vms:\n- {name: v, mem_mb: 5, workload: {cpu: {kind: normal, high: 5, spread_s: 5}}}\n",
     "f.yaml:4: vms.0.workload.cpu.spread_s means nothing for kind normal"},
    {BEGIN "vms:\n- {name: v, mem_mb: 5, dirty_mb_s: much, workload: {cpu: 5}}\n",
     "f.yaml:4: vms.0.dirty_mb_s is \"much\", expected idle, web, batch, database or MiB/s"},
    {BEGIN "vms:\n- {name: v, mem_mb: 5, dirty_mb_s: -1, workload: {cpu: 5}}\n",
     "f.yaml:4: vms.0.dirty_mb_s is \"-1\", expected a number from 0 to 1000000"},
    {BEGIN "vms:\n- {name: v, mem_mb: 5, workload: {cpu: trace}}\n",
     "f.yaml:4: there are no traces, expected workload.dir or workload.file"},
    {BEGIN "vms:\n- {name: v, count: traces, mem_mb: 5, workload: {cpu: 4}}\n",
     "f.yaml:4: vms.0.workload.cpu is no trace"},
    {BEGIN "workload: {dir: /nowhere/at/all}\nvms:\n- {name: v, mem_mb: 5, workload: {cpu: trace}}\n",
     "f.yaml:5: /nowhere/at/all: No such file"},
    {BEGIN "workload: {format: prometheus, cpu: {file: x, unit: cores}}\n" VMS,
     "f.yaml:3: workload.vm is missing, expected it for the format prometheus"},
    {BEGIN "workload: {format: prometheus, vm: d}\n" VMS,
     "f.yaml:3: workload.cpu is missing, expected it for the format prometheus"},
    {BEGIN "workload: {format: prometheus, vm: d, cpu: {file: x}}\n" VMS,
     "f.yaml:3: workload.cpu.unit is missing, expected mhz, cores, percent or seconds"},
    {BEGIN "workload: {format: prometheus, vm: d, cpu: {file: x, unit: gib}}\n" VMS,
     "f.yaml:3: workload.cpu.unit is \"gib\", expected mhz, cores, percent or seconds"},
    {BEGIN "workload: {format: prometheus, vm: d, cpu: {unit: mhz}}\n" VMS,
     "f.yaml:3: workload.cpu.file is missing, expected the file with this figure"},
    {BEGIN "workload: {format: prometheus, vm: d, cpu: {file: x, column: c, unit: mhz}}\n" VMS,
     "f.yaml:3: workload.cpu.column means nothing for the format prometheus, expected metric"},
    {BEGIN "workload: {format: prometheus, vm: d, time: t, cpu: {file: x, unit: mhz}}\n" VMS,
     "f.yaml:3: workload.time means nothing for the format prometheus, expected it with table"},
    {BEGIN "workload: {format: prometheus, vm: d, percent: true, cpu: {file: x, unit: mhz}}\n" VMS,
     "f.yaml:3: workload.percent means nothing here, expected unit: percent"},
    {BEGIN "workload: {format: prometheus, vm: d, from: today, cpu: {file: x, unit: mhz}}\n" VMS,
     "f.yaml:3: workload.from is \"today\", expected a date like 2026-01-05T00:00:00Z"},
    {BEGIN
     "workload: {format: prometheus, vm: d, vcpus: {file: x, unit: mib}, cpu: {file: x, unit: mhz}}\n" VMS,
     "f.yaml:3: workload.vcpus.unit means nothing here, expected none"},
    {BEGIN "workload: {format: prometheus, vm: d, cpu: {file: /nowhere/at/all, unit: mhz}}\n" VMS,
     "f.yaml:3: /nowhere/at/all: No such file"},
    {BEGIN "workload: {format: table, file: x, vm: v, cpu: {column: c, unit: mhz}}\n" VMS,
     "f.yaml:3: workload.time is missing, expected it for the format table"},
    {BEGIN "workload: {format: table, file: x, vm: v, time: t, cpu: {unit: mhz}}\n" VMS,
     "f.yaml:3: workload.cpu.column is missing, expected its heading"},
    {BEGIN "workload: {format: table, file: x, vm: v, time: t, delimiter: \"::\", cpu: {column: c, unit: "
           "mhz}}\n" VMS,
     "f.yaml:3: workload.delimiter is \"::\", expected one character, or tab"},
    {BEGIN "workload: {dir: x, vm: v}\n" VMS,
     "f.yaml:3: workload.vm means nothing for the format planetlab, expected it with prometheus and table"},
    {BEGIN "vms:\n- {name: v, mem_mb: 5, workload: {cpu: 1}, at: mars}\n",
     "f.yaml:4: at: there is no host or group of hosts \"mars\", expected one, or random"},
    {BEGIN "vms:\n- {name: v, mem_mb: 9999, mem: {reservation: 5000}, workload: {cpu: 1}}\n",
     "f.yaml:4: VM \"v\" fits on none of the 4 hosts"},
    {"duration_s: 60\nhosts: [{name: a, state: standby, cores: 2, core_mhz: 1000, mem_mb: 4096}]\n" VMS,
     "f.yaml:4: VM \"web-001\" may begin on none of the hosts that are on"},
    {BEGIN "vms:\n- {name: v, mem_mb: 5, mem: {reservation: 6}, workload: {cpu: 1}}\n",
     "f.yaml:4: v: /vms/0/mem/reservation: 6 is above the configured size"},
    {BEGIN "vms:\n- {name: v, mem_mb: 5, pool: p, workload: {cpu: 1}}\n", "f.yaml:4: v: /vms/0/pool: "},
    {BEGIN "vms:\n- {name: v, mem_mb: 5, cpu: {shares: many}, workload: {cpu: 1}}\n",
     "f.yaml:4: vms.0.cpu.shares is \"many\", expected low, normal, high or a number"},
    {BEGIN "vms:\n- {name: v, mem_mb: 5, lasts_s: {uniform: [5, 1]}, workload: {cpu: 1}}\n",
     "f.yaml:4: vms.0.lasts_s: 1 is below 5"},
    {BEGIN
     "vms:\n- {name: esx, mem_mb: 5, workload: {cpu: 1}}\n- {name: esx, mem_mb: 5, workload: {cpu: 1}}\n",
     "f.yaml:5: esx: /vms/1/id: \"esx\" is the id of /vms/0 already"},
    /* pools, rules, ha */
    {BEGIN "pools:\n- {name: a, parent: b}\n", "f.yaml:4: /pools/0/parent: "},
    {BEGIN "pools: [{}]\n", "f.yaml:3: pools.0.name is missing"},
    {BEGIN "rules:\n- {name: r, kind: vm-vm-affine}\n", "f.yaml:4: rules.0.vms is missing"},
    {BEGIN "rules:\n- {name: r, kind: vm-vm-affine, vms: [x]}\n",
     "f.yaml:4: there is no VM or group of VMs \"x\""},
    {BEGIN "ha: {policy: luck}\n", "f.yaml:3: ha.policy is \"luck\", expected none, host_failures, percent"},
    {BEGIN "ha: {failover_hosts: mars}\n", "f.yaml:3: there is no host or group of hosts \"mars\""},
    /* faults and operations */
    {BEGIN "faults: {rates: {host_dies: 2000}}\n", "f.yaml:3: faults.rates.host_dies is \"2000\""},
    {BEGIN "faults: {rates: {wake_fails: 2}}\n",
     "f.yaml:3: faults.rates.wake_fails is 2, expected at most 1"},
    {BEGIN "faults: {rates: {wake_fails: {rate: 1, for_s: 5}}}\n",
     "f.yaml:3: faults.rates.wake_fails has for_s"},
    {BEGIN "faults: {rates: {meteor: 1}}\n", "f.yaml:3: \"faults.rates.meteor\" is not a known key"},
    {BEGIN "faults: {script: [{at_s: 5}]}\n", "f.yaml:3: faults.script.0 has no fault"},
    {BEGIN "faults: {script: [{host_dies: esx-001}]}\n", "f.yaml:3: faults.script.0 has no at_s"},
    {BEGIN "faults: {script: [{at_s: 5, host_dies: esx}]}\n",
     "f.yaml:3: faults.script.0.host_dies is \"esx\", expected the name of a host"},
    {BEGIN "faults: {script: [{at_s: 5, host_dies: any}]}\n",
     "f.yaml:3: faults.script.0.host_dies is \"any\", expected the name of a host"},
    {BEGIN "faults: {script: [{at_s: 5, source_deaf: any}]}\n",
     "f.yaml:3: faults.script.0.source_deaf is \"any\", expected true"},
    {BEGIN "faults: {script: [{at_s: 5, source_deaf: true, factor: 2}]}\n",
     "f.yaml:3: faults.script.0.factor means nothing for source_deaf"},
    {BEGIN "faults: {script: [{at_s: 5, source_deaf: true, actuator_deaf: true}]}\n",
     "f.yaml:3: faults.script.0: source_deaf and actuator_deaf stand together"},
    {BEGIN "script: [{at_s: 5}]\n", "f.yaml:3: script.0 is not complete"},
    {BEGIN "script: [{at_s: 5, maintenance_enter: mars}]\n", "f.yaml:3: script.0: there is no host \"mars\""},
    {BEGIN "script: [{at_s: 5, set: {horizon: 5}}]\n",
     "f.yaml:3: \"horizon\" is not a known key, did you mean \"horizon_s\"?"},
};

static void test_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(wrong); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct scenario s;
        struct err err = {0};
        int r = parse(&a, wrong[i].text, NULL, 0, &s, &err);
        if (r >= 0 || strncmp(err.text, wrong[i].sentence, strlen(wrong[i].sentence)) != 0)
            print_error("%s\n--> %d \"%s\"\n    \"%s\"\n", wrong[i].text, r, err.text, wrong[i].sentence);
        assert_true(r < 0);
        assert_memory_equal(err.text, wrong[i].sentence, strlen(wrong[i].sentence));
    }
}

/* ---- overrides ---- */

static const struct {
    const char *path, *value, *sentence;
} wrong_overrides[] = {
    {"", "1", "--set : this is no path"},
    {"a..b", "1", "--set a..b: this is no path"},
    {"durations_s", "1",
     "--set durations_s: \"durations_s\" is not a known key, did you mean \"duration_s\"?"},
    {"duration_s.x", "1", "--set duration_s.x: there is nothing below duration_s, it is a single value"},
    {"duration_s", "[", "--set duration_s:2: not valid YAML"},
    {"duration_s", "1\nseed: 5", "--set duration_s: this is more than one value, expected one"},
    {"duration_s", "x", "--set duration_s: duration_s is \"x\", expected a number"},
    {"vms.5.count", "1",
     "--set vms.5.count: there is no \"5\" in the list, expected a number from 0 to 0 or the name"},
    {"vms.web.workload.cpu.level", "1", "--set vms.web.workload.cpu.level: there is nothing below"},
    {"vms.web.cont", "1", "--set vms.web.cont: \"vms.0.cont\" is not a known key, did you mean \"count\"?"},
    {"settings.dpm.tarket", "1",
     "--set settings.dpm.tarket: \"dpm.tarket\" is not a known key, did you mean \"dpm.target\"?"},
    {"dpm.target", "999", "--set dpm.target: dpm.target is \"999\", expected a number from 0 to 100"},
};

static void test_wrong_overrides(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(wrong_overrides); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        const struct scenario_override o = {wrong_overrides[i].path, wrong_overrides[i].value};
        const char *sentence = wrong_overrides[i].sentence;
        struct scenario s;
        struct err err = {0};
        if (parse(&a, BEGIN VMS, &o, 1, &s, &err) >= 0 || strncmp(err.text, sentence, strlen(sentence)) != 0)
            fail_msg("\"%s\", expected \"%s\"", err.text, sentence);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_wrong_overrides),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
