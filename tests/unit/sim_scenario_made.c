#include "sim_scenario_made.h"

#include "unit.h"

#include "model/snapshot_build.h"

#include <string.h>

struct workload sim_constant(double level, double most)
{
    return (struct workload){.kind = WORKLOAD_CONSTANT, .level = level, .scale = 1, .max = most};
}

static void add_hosts(struct inventory *inv, uint32_t n, struct arena *a)
{
    for (uint32_t i = 0; i < n; i++) {
        struct seen_host *h = inventory_add_host(inv, a);

        h->is.id = h->is.name = arena_printf(a, "h%02u", i);
        h->is.state = HOST_ON;
        h->is.total[RES_CPU] = SIM_HOST_MHZ;
        h->is.total[RES_MEM] = SIM_HOST_MB;
        h->is.cores = 4;
        h->is.power_idle_w = 100;
        h->is.power_peak_w = 200;
        h->is.boot_s = 120;
        h->is.wake_methods = WAKE_HYPERVISOR;
        h->is.wake_verified = true;
    }
}

static void add_vms(struct inventory *inv, uint32_t n, uint32_t hosts, double cpu_mhz, bool on_one_host,
                    struct arena *a)
{
    for (uint32_t i = 0; i < n; i++) {
        struct seen_vm *v = inventory_add_vm(inv, a);

        v->is.vcpus = 1;
        v->is.mem_mb = SIM_VM_MB;
        vm_facts_default(&v->is);
        v->is.id = v->is.name = arena_printf(a, "vm%03u", i);
        v->is.state = VM_ON;
        v->host = inv->hosts[on_one_host ? 0 : i % hosts].is.id;
        v->is.demand[RES_CPU] = cpu_mhz;
        v->is.demand[RES_MEM] = SIM_VM_MB * 0.75;
        v->is.consumed_mb = SIM_VM_MB * 0.75;
        vm_facts_windows(&v->is);
    }
}

static void add_models(struct scenario *s, double cpu_mhz, struct arena *a)
{
    s->hosts = arena_array(a, struct host_model, s->initial.n_hosts);
    s->vms = arena_array(a, struct vm_model, s->initial.n_vms);
    for (uint32_t i = 0; i < s->initial.n_hosts; i++)
        s->hosts[i] = (struct host_model){.watts = {100, 200},
                                          .n_watts = 2,
                                          .standby_w = 10,
                                          .boot_w = 150,
                                          .sleep_w = 120,
                                          .boot_s = 120,
                                          .sleep_s = 20,
                                          .link_mb_s = 1000};
    for (uint32_t i = 0; i < s->initial.n_vms; i++) {
        s->vms[i] = (struct vm_model){.leaves_s = INFINITY, .dirty_mb_s = 5};
        s->vms[i].of[RES_CPU] = sim_constant(cpu_mhz, SIM_CORE_MHZ);
        s->vms[i].of[RES_MEM] = sim_constant(SIM_VM_MB * 0.75, SIM_VM_MB);
    }
}

void sim_scenario_make(struct scenario *ret, uint32_t hosts, uint32_t vms, double cpu_mhz, bool on_one_host,
                       struct arena *a)
{
    struct inventory inv = {.cluster = "test", .time = SIM_START};
    struct err err = {0};

    *ret = (struct scenario){
        .name = "test",
        .file = "test.yaml",
        .start = SIM_START,
        .duration_s = 3600,
        .seed = 1,
        .ballast = true,
        .sample_s = 60,
        .migration = {.rate_mb_s = 500, .downtime_s = 0.3, .rounds_max = 10, .slowdown = 0.1},
        .restart_s = 60,
    };
    policy_default(&ret->policy);
    ret->policy.automation = AUTOMATION_FULL;
    add_hosts(&inv, hosts, a);
    add_vms(&inv, vms, hosts, cpu_mhz, on_one_host, a);
    if (snapshot_build(&inv, a, &ret->initial, &err) < 0)
        fail_msg("%s", err.text);
    add_models(ret, cpu_mhz, a);
}

struct scripted_fault *sim_scenario_fault(struct scenario *s, struct arena *a, double at_s,
                                          enum sim_fault kind)
{
    struct scripted_fault *list = arena_array(a, struct scripted_fault, (size_t)s->n_faults + 1);
    uint32_t i = s->n_faults;

    if (s->n_faults > 0)
        memcpy(list, s->faults, s->n_faults * sizeof *list);
    for (; i > 0 && list[i - 1].at_s > at_s; i--)
        list[i] = list[i - 1];
    list[i] = (struct scripted_fault){
        .at_s = at_s, .kind = kind, .host = IX_NONE, .vm = IX_NONE, .for_s = INFINITY, .factor = 1};
    s->faults = list;
    s->n_faults++;
    return &list[i];
}

struct scripted_operation *sim_scenario_operation(struct scenario *s, struct arena *a, double at_s,
                                                  enum scripted_kind kind)
{
    struct scripted_operation *list = arena_array(a, struct scripted_operation, (size_t)s->n_operations + 1);
    uint32_t i = s->n_operations;

    if (s->n_operations > 0)
        memcpy(list, s->operations, s->n_operations * sizeof *list);
    for (; i > 0 && list[i - 1].at_s > at_s; i--)
        list[i] = list[i - 1];
    list[i] = (struct scripted_operation){.at_s = at_s, .kind = kind, .host = IX_NONE};
    s->operations = list;
    s->n_operations++;
    return &list[i];
}

void sim_scenario_arrives(struct scenario *s, uint32_t vm, double arrives_s, double leaves_s)
{
    struct vm *v = &s->initial.vms[vm];

    s->vms[vm].arrives_s = arrives_s;
    s->vms[vm].leaves_s = leaves_s;
    v->is.state = VM_OFF;
    v->is.demand[RES_CPU] = v->is.demand[RES_MEM] = 0;
    vm_facts_windows(&v->is);
}
