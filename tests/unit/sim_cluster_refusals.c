/* Hosts of a simulated cluster that refuse VMs. */
#include "sim_world.h"

#include <errno.h>

/* Three hosts of 10,000 MHz; n VMs of 1,000 MHz and 1,000 MiB on h1. */
static void begin(struct sim *w, int n_vms, const struct scripted_fault *faults, uint32_t n)
{
    sim_init(w);
    for (int i = 0; i < 3; i++)
        small_host(&w->small, (const char *[]){"h1", "h2", "h3"}[i], 10000, 16384);
    for (int i = 0; i < n_vms; i++)
        small_vm(&w->small, arena_printf(&w->small.a, "v%02d", i), "h1", 1000, 1000);
    sim_build(w);
    w->s.faults = (struct scripted_fault *)(uintptr_t)faults;
    w->s.n_faults = n;
}

static uint32_t where(const struct sim *w, uint32_t vm)
{
    return cluster_vm(w->c, vm)->host;
}

/* Unlike the others it does not strike once: the host refuses every VM for a while, or some VMs for good. */
static void test_host_refuses(void **state)
{
    static const struct scripted_fault fault = {
        .kind = SIM_HOST_REFUSES, .host = 1, .vm = IX_NONE, .for_s = 100};
    struct sim w;
    char task[TASK_NAME_MAX];
    unsigned refused = 0;

    (void)state;
    begin(&w, 2, &fault, 1);
    sim_begin(&w);
    sim_run(&w, 1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sim_move(&w, "v00", "h1", "h2", task), 0);
        sim_run(&w, 1 + 30 * (i + 1));
        assert_int_equal(sim_poll(&w, task).state, TASK_FAILED);
        assert_int_equal(sim_poll(&w, task).why.code, -EREMOTEIO);
        assert_int_equal(where(&w, 0), 0);
    }
    sim_run(&w, 101);
    assert_int_equal(sim_move(&w, "v00", "h1", "h2", task), 0);
    sim_run(&w, 140);
    assert_int_equal(where(&w, 0), 1);
    sim_release(&w);

    begin(&w, 20, NULL, 0);
    w.s.rates[SIM_HOST_REFUSES].rate = 0.5;
    sim_begin(&w);
    sim_run(&w, 1);
    for (uint32_t i = 0; i < 20; i++) {
        for (int k = 0; k < 3; k++) { /* the same each time */
            bool before = where(&w, i) == 1;

            if (!before)
                assert_int_equal(sim_move(&w, w.s.initial.vms[i].is.id, "h1", "h2", task), 0);
            sim_run(&w, 100 * (3 * i + (uint32_t)k + 1));
            assert_true(k == 0 || before == (where(&w, i) == 1));
        }
        refused += where(&w, i) != 1;
    }
    assert_in_range(refused, 4, 16);
    sim_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_host_refuses)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
