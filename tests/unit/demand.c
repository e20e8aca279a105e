/* The demand of a VM, computed from a sample (§2.3). */
#include "unit.h"

#include "core/demand/demand.h"
#include "small_cluster.h"

static const struct vm_sample nothing = {.present = true,
                                         .interval_ms = 20000,
                                         .cpu_used_mhz = UNKNOWN,
                                         .cpu_run_ms = UNKNOWN,
                                         .cpu_sleep_ms = UNKNOWN,
                                         .cpu_ready_ms = UNKNOWN,
                                         .core_mhz = 2000,
                                         .mem_active_mb = UNKNOWN,
                                         .mem_guest_used_mb = UNKNOWN,
                                         .mem_consumed_mb = UNKNOWN,
                                         .mem_overhead_mb = UNKNOWN};

static void test_cpu(void **state)
{
    static const struct {
        double used, run, sleep, ready, expected;
    } cases[] = {
        {1000, 10000, 10000, 0, 1000},      /* nobody was in its way */
        {1000, 10000, 10000, 4000, 1200},   /* half of 4 s of 20 s at 2 GHz */
        {1000, 10000, 0, 4000, 1400},       /* it never slept: all of it */
        {0, 0, 20000, 20000, 0},            /* it did not want to run */
        {1000, UNKNOWN, 10000, 4000, 1400}, /* nobody knows: all of it */
        {1000, 10000, 10000, UNKNOWN, 1000},
        {UNKNOWN, 10000, 10000, 4000, UNKNOWN},
        {7800, 20000, 0, 4000, 8000},   /* never more than four cores have */
        {9000, 20000, 0, 4000, 9000},   /* but what was used is not made less */
        {1000, 20000, 0, 90000, 10000}, /* nor a time that cannot be: the guard is to see it */
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct vm_sample s = nothing;
        s.cpu_used_mhz = cases[i].used;
        s.cpu_run_ms = cases[i].run;
        s.cpu_sleep_ms = cases[i].sleep;
        s.cpu_ready_ms = cases[i].ready;
        double got = demand_cpu_mhz(&s, 4);
        if (isnan(cases[i].expected) ? !isnan(got) : !(fabs(got - cases[i].expected) < 1e-9))
            fail_msg("case %zu: %g, expected %g", i, got, cases[i].expected);
    }
    assert_true(isnan(demand_cpu_mhz(&(struct vm_sample){.present = false, .cpu_used_mhz = 1000}, 4)));
}

static void test_memory(void **state)
{
    static const struct {
        double active, guest, consumed, overhead, idle_percent, expected;
    } cases[] = {
        {1000, UNKNOWN, 3000, 100, 25, 1600}, /* + a quarter of 2000, + overhead */
        {1000, UNKNOWN, 3000, 100, 100, 3100},
        {1000, UNKNOWN, 3000, UNKNOWN, 0, 1000},
        {UNKNOWN, 2000, 3000, 0, 25, 2250}, /* the guest's own word */
        {1000, 2000, 3000, 0, 0, 1000},     /* the hypervisor's comes first */
        {UNKNOWN, UNKNOWN, 3000, 0, 25, 3000},
        {4000, UNKNOWN, 3000, 0, 25, 4000}, /* no less than none idle */
        {1000, UNKNOWN, UNKNOWN, 0, 25, 1000},
        {UNKNOWN, UNKNOWN, UNKNOWN, 100, 25, UNKNOWN},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct vm_sample s = nothing;
        s.mem_active_mb = cases[i].active;
        s.mem_guest_used_mb = cases[i].guest;
        s.mem_consumed_mb = cases[i].consumed;
        s.mem_overhead_mb = cases[i].overhead;
        double got = demand_mem_mb(&s, cases[i].idle_percent);
        if (isnan(cases[i].expected) ? !isnan(got) : !(fabs(got - cases[i].expected) < 1e-9))
            fail_msg("case %zu: %g, expected %g", i, got, cases[i].expected);
    }
}

/* Within reservation and limit, and nothing for those that take no part. */
static void test_of_a_cluster(void **state)
{
    static const struct {
        double demand, reservation, limit, expected;
        enum vm_state vm;
        enum host_state host;
    } cases[] = {
        {1000, 0, NO_LIMIT, 1000, VM_ON, HOST_ON},
        {1000, 1500, NO_LIMIT, 1500, VM_ON, HOST_ON},
        {1000, 0, 500, 500, VM_ON, HOST_ON},
        {1000, 0, NO_LIMIT, 1000, VM_ON, HOST_ENTERING_MAINTENANCE},
        {1000, 0, NO_LIMIT, 1000, VM_ON, HOST_ENTERING_STANDBY},
        {1000, 0, NO_LIMIT, 0, VM_ON, HOST_DISCONNECTED},
        {0, 1500, NO_LIMIT, 0, VM_OFF, HOST_ON},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct small s;
        double demand = -1;
        small_init(&s);
        small_host(&s, "h1", 10000, 16384)->is.state = cases[i].host;
        small_host(&s, "h2", 10000, 16384);
        struct seen_vm *v = small_vm(&s, "v1", "h1", cases[i].demand, 1024);
        v->is.state = cases[i].vm;
        v->is.alloc[RES_CPU].reservation = cases[i].reservation;
        v->is.alloc[RES_CPU].limit = cases[i].limit;
        if (v->is.state == VM_OFF)
            v->is.demand[RES_MEM] = 0;
        small_build(&s);
        demand_estimate(&s.snap, RES_CPU, &demand);
        if (demand != cases[i].expected)
            fail_msg("case %zu: %g, expected %g", i, demand, cases[i].expected);
        small_release(&s);
    }
}

/* 16 GiB, of which the host has taken some: what the guest would use besides its demand. */
static void test_squeezed(void **state)
{
    static const struct {
        double demand, ballooned, swapped, swap_in, expected;
    } cases[] = {
        {4096, 0, 0, 0, 0},           {5120, 6144, 0, 0, 3072}, /* it uses half of what it was left */
        {10240, 6144, 0, 0, 6144},                              /* all of it */
        {10240, 4096, 2048, 0, 6144},                           /* swapped out as well */
        {5120, 0, 6144, 0.5, 6144},                             /* it reads back what it was deprived of */
        {0, 6144, 0, 0, 0},                                     /* an idle one misses nothing */
        {16384, 6144, 0, 0, 0},                                 /* it wants all that it has anyway */
        {0, 99999, 0, 1, 16384},                                /* never more than it has */
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct vm_facts f = {.mem_mb = 16384, .vcpus = 2};
        vm_facts_default(&f);
        f.demand[RES_MEM] = f.consumed_mb = cases[i].demand;
        f.ballooned_mb = cases[i].ballooned;
        f.swapped_mb = cases[i].swapped;
        f.swap_in_mb_s = cases[i].swap_in;
        vm_facts_windows(&f);
        double got = vm_facts_squeezed_mb(&f);
        if (fabs(got - cases[i].expected) > 1e-9)
            fail_msg("case %zu: %g, expected %g", i, got, cases[i].expected);
        demand_release(&f);
        assert_true(fabs(f.demand[RES_MEM] - cases[i].demand - got) < 1e-9);
        assert_true(fabs(f.window[WINDOW_60M][RES_MEM].max - cases[i].demand - got) < 1e-9);
        assert_true(f.consumed_mb <= f.mem_mb && (got == 0 || vm_facts_squeezed_mb(&f) == 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_of_a_cluster),
        cmocka_unit_test(test_squeezed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
