/* Simulated clusters: the resources that VMs get, the measurements, and the counters. */
#include "sim_world.h"

#include <errno.h>

/* ---- dividing ---- */

struct vm_case {
    const char *id, *pool;
    double wants, reservation, limit, shares; /* of CPU; limit 0: none */
    double gets;
};

/* One host of 10,000 MHz; 2 vCPUs of 5,000. */
static void divide_and_compare(const struct vm_case *vms, size_t n, const char *pool, double pool_reservation,
                               double pool_limit, double pool_shares)
{
    struct sim w;

    sim_init(&w);
    small_host(&w.small, "h1", 10000, 65536)->is.cores = 2;
    if (pool) {
        struct seen_pool *p = small_pool(&w.small, pool, NULL);

        p->is.alloc[RES_CPU] = (struct alloc){
            .reservation = pool_reservation, .limit = pool_limit, .shares = pool_shares, .expandable = true};
    }
    for (size_t i = 0; i < n; i++) {
        struct seen_vm *v = small_vm(&w.small, vms[i].id, "h1", vms[i].wants, 1024);

        v->is.vcpus = 2;
        v->pool = vms[i].pool;
        v->is.alloc[RES_CPU] = (struct alloc){.reservation = vms[i].reservation,
                                              .limit = vms[i].limit > 0 ? vms[i].limit : NO_LIMIT,
                                              .shares = vms[i].shares};
    }
    sim_build(&w);
    sim_begin(&w);
    sim_check(&w);
    for (size_t i = 0; i < n; i++) {
        double gets = sim_gets(&w, vms[i].id, RES_CPU);

        if (fabs(gets - vms[i].gets) > 1)
            print_error("%s gets %f, expected %f\n", vms[i].id, gets, vms[i].gets);
        assert_true(fabs(gets - vms[i].gets) <= 1);
        NEAR(sim_gets(&w, vms[i].id, RES_MEM), 1024);
    }
    sim_release(&w);
}

static void test_enough_for_all(void **state)
{
    static const struct vm_case vms[] = {{"a", NULL, 3000, 0, 0, 1000, 3000},
                                         {"b", NULL, 4000, 0, 1500, 1000, 1500},
                                         {"c", NULL, 0, 500, 0, 1000, 0}};

    (void)state;
    divide_and_compare(vms, ELEMENTS(vms), NULL, 0, 0, 0);
}

static void test_reservation_limit_shares(void **state)
{
    static const struct vm_case shares[] = {{"a", NULL, 9000, 0, 0, 3000, 7500},
                                            {"b", NULL, 9000, 0, 0, 1000, 2500}};
    static const struct vm_case reserved[] = {{"a", NULL, 9000, 0, 0, 3000, 6000},
                                              {"b", NULL, 9000, 4000, 0, 1000, 4000}};
    static const struct vm_case limited[] = {{"a", NULL, 9000, 0, 2000, 3000, 2000},
                                             {"b", NULL, 9000, 0, 0, 1000, 8000}};
    static const struct vm_case modest[] = {{"a", NULL, 1000, 0, 0, 9000, 1000},
                                            {"b", NULL, 9500, 0, 0, 1000, 9000}};

    (void)state;
    divide_and_compare(shares, ELEMENTS(shares), NULL, 0, 0, 0);
    divide_and_compare(reserved, ELEMENTS(reserved), NULL, 0, 0, 0);
    divide_and_compare(limited, ELEMENTS(limited), NULL, 0, 0, 0);
    divide_and_compare(modest, ELEMENTS(modest), NULL, 0, 0, 0);
}

/* What the pool has is for all of its VMs together, however many they are. */
static void test_pools(void **state)
{
    static const struct vm_case shares[] = {{"a", "p", 9000, 0, 0, 1000, 2500},
                                            {"b", "p", 9000, 0, 0, 1000, 2500},
                                            {"c", NULL, 9000, 0, 0, 4000, 5000}};
    static const struct vm_case limited[] = {{"a", "p", 3000, 0, 0, 1000, 1000},
                                             {"b", "p", 3000, 0, 0, 2000, 2000}};
    static const struct vm_case reserved[] = {{"a", "p", 9000, 0, 0, 1000, 8000},
                                              {"c", NULL, 9000, 0, 0, 9000, 2000}};

    (void)state;
    divide_and_compare(shares, ELEMENTS(shares), "p", 0, NO_LIMIT, 4000);
    divide_and_compare(limited, ELEMENTS(limited), "p", 0, 3000, 4000);
    divide_and_compare(reserved, ELEMENTS(reserved), "p", 8000, NO_LIMIT, 1000);
}

static void test_no_more_than_its_cores(void **state)
{
    struct sim w;

    (void)state;
    sim_init(&w);
    small_host(&w.small, "h1", 10000, 65536)->is.cores = 4;
    small_vm(&w.small, "a", "h1", 9000, 1024);
    sim_build(&w);
    sim_begin(&w);
    NEAR(sim_gets(&w, "a", RES_CPU), 2500);
    NEAR(cluster_vm(w.c, 0)->wants[RES_CPU], 9000);
    sim_run(&w, 100);
    NEAR(cluster_vm_totals(w.c, 0)->wanted[RES_CPU], 900000);
    NEAR(cluster_vm_totals(w.c, 0)->delivered[RES_CPU], 250000);
    NEAR(cluster_host_totals(w.c, 0)->overloaded_s, 100);
    sim_release(&w);
}

/* What the pools are given on the host from outside is what counts there from then on. */
static void test_settings_are_kept(void **state)
{
    struct sim w;
    struct inventory inv;
    struct snapshot s;
    struct pool_setting set = {.pool = "p"};

    (void)state;
    sim_init(&w);
    small_host(&w.small, "h1", 10000, 65536);
    small_host(&w.small, "h2", 10000, 65536);
    small_pool(&w.small, "p", NULL);
    small_vm(&w.small, "a", "h1", 9000, 1024)->pool = "p";
    small_vm(&w.small, "b", "h1", 9000, 1024);
    sim_build(&w);
    sim_begin(&w);
    sim_look(&w, &inv, &s);
    assert_true(inv.settings_seen);
    assert_int_equal(s.n_settings, 1); /* h2 has no VM of p */
    NEAR(s.settings[0].alloc[RES_CPU].shares, 4000);
    NEAR(sim_gets(&w, "a", RES_CPU), 8000); /* 4000 shares against 1000 */
    for (int r = 0; r < RES_COUNT; r++)
        set.alloc[r] = (struct alloc){.limit = 3000, .shares = 500};
    const struct pool_settings q = {.host = "h1", .settings = &set, .n_settings = 1};

    assert_int_equal(cluster_set_pools(w.c, &q, NULL), 0);
    NEAR(sim_gets(&w, "a", RES_CPU), 3000); /* a third of the host by shares, and the limit */
    NEAR(sim_gets(&w, "b", RES_CPU), 7000);
    sim_look(&w, &inv, &s);
    NEAR(s.settings[0].alloc[RES_CPU].limit, 3000);
    set.alloc[RES_CPU].reservation = 5000;
    assert_int_equal(cluster_set_pools(w.c, &q, NULL), -EINVAL);
    set.pool = "nobody";
    assert_int_equal(cluster_set_pools(w.c, &q, NULL), -ENOENT);
    set = (struct pool_setting){.pool = "p", .nothing = true};
    assert_int_equal(cluster_set_pools(w.c, &q, NULL), 0);
    NEAR(sim_gets(&w, "a", RES_CPU), 8000); /* a VM is there: the pool counts as if nobody had set it */
    sim_release(&w);
}

/* A pool that was given nothing to reserve still reserves what its members do. */
static void test_reserved_in_a_pool(void **state)
{
    struct sim w;
    struct pool_setting set = {.pool = "p"};

    (void)state;
    sim_init(&w);
    small_host(&w.small, "h1", 10000, 65536);
    small_pool(&w.small, "p", NULL);
    small_vm(&w.small, "a", "h1", 9000, 1024)->pool = "p";
    small_vm(&w.small, "b", "h1", 9000, 1024);
    w.small.inv.vms[0].is.alloc[RES_CPU].reservation = 6000;
    sim_build(&w);
    sim_begin(&w);
    for (int r = 0; r < RES_COUNT; r++)
        set.alloc[r] = (struct alloc){.limit = NO_LIMIT, .shares = 1};
    const struct pool_settings q = {.host = "h1", .settings = &set, .n_settings = 1};

    assert_int_equal(cluster_set_pools(w.c, &q, NULL), 0);
    NEAR(sim_gets(&w, "a", RES_CPU), 6000);
    NEAR(sim_gets(&w, "b", RES_CPU), 4000);
    sim_release(&w);
}

/* One VM's change leaves the host as if all of it had been computed anew; here it is, after each. */
static void test_small_changes(void **state)
{
    struct sim w;
    double before[12], wanted, delivered, watts;

    (void)state;
    sim_init(&w);
    small_host(&w.small, "h1", 10000, 65536)->is.cores = 4;
    small_pool(&w.small, "p", NULL);
    for (int i = 0; i < 12; i++) {
        struct seen_vm *v = small_vm(&w.small, arena_printf(&w.small.a, "v%02d", i), "h1", 1, 1024);

        v->pool = i % 3 == 0 ? "p" : NULL;
        v->is.alloc[RES_CPU].limit = i % 4 == 0 ? 500 : NO_LIMIT;
        v->is.alloc[RES_CPU].shares = 1000 + 100 * i;
    }
    sim_build(&w);
    for (uint32_t i = 0; i < 12; i++)
        w.s.vms[i].of[RES_CPU] = (struct workload){.kind = WORKLOAD_UNIFORM,
                                                   .seed = i,
                                                   .high = 700,
                                                   .high_spread = 900,
                                                   .high_s = 600,
                                                   .step_s = 12 + i,
                                                   .scale = 1,
                                                   .max = 1e9};
    sim_begin(&w);
    const struct pool_settings nothing = {.host = "h1"};
    const struct host_now *h = cluster_host(w.c, 0);
    uint32_t short_of = 0;

    for (int k = 0; k < 5000; k++) {
        sim_run(&w, sim_next_s(w.c));
        for (uint32_t i = 0; i < 12; i++)
            before[i] = cluster_vm(w.c, i)->gets[RES_CPU];
        wanted = h->wanted[RES_CPU], delivered = h->delivered[RES_CPU], watts = h->watts;
        short_of += wanted > 10000;
        if (k % 10 == 0) /* and not each time, so that small changes follow one another */
            assert_int_equal(cluster_set_pools(w.c, &nothing, NULL), 0);
        for (uint32_t i = 0; i < 12; i++)
            NEAR(cluster_vm(w.c, i)->gets[RES_CPU], before[i]);
        NEAR(h->wanted[RES_CPU], wanted);
        NEAR(h->delivered[RES_CPU], delivered);
        NEAR(h->watts, watts);
    }
    assert_in_range(short_of, 100, 4900);
    sim_release(&w);
}

/* A limited pool holds its VMs back, whatever room its host has. */
static void test_small_changes_in_a_limited_pool(void **state)
{
    struct sim w;

    (void)state;
    sim_init(&w);
    small_host(&w.small, "h1", 10000, 65536);
    small_pool(&w.small, "p", NULL)->is.alloc[RES_CPU].limit = 2000;
    small_vm(&w.small, "a", "h1", 1000, 1024)->pool = "p";
    small_vm(&w.small, "b", "h1", 500, 1024)->pool = "p";
    sim_build(&w);
    w.s.vms[1].of[RES_CPU] = (struct workload){.kind = WORKLOAD_SPIKE,
                                               .level = 500,
                                               .high = 3000,
                                               .from_s = 30,
                                               .until_s = 300,
                                               .scale = 1,
                                               .max = 1e9};
    sim_begin(&w);
    NEAR(sim_gets(&w, "b", RES_CPU), 500);
    sim_run(&w, 40);
    NEAR(sim_gets(&w, "a", RES_CPU), 1000);
    NEAR(sim_gets(&w, "b", RES_CPU), 1000);
    sim_release(&w);
}

/* What the snapshot says that pools have on hosts is what they begin with. */
static void test_settings_of_the_snapshot(void **state)
{
    struct sim w;
    struct snapshot t;
    struct seen_setting *set;

    (void)state;
    sim_init(&w);
    small_host(&w.small, "h1", 10000, 65536);
    small_pool(&w.small, "p", NULL);
    small_vm(&w.small, "a", "h1", 9000, 1024)->pool = "p";
    small_vm(&w.small, "b", "h1", 9000, 1024);
    set = inventory_add_setting(&w.small.inv, &w.small.a);
    set->host = "h1";
    set->pool = "p";
    for (int r = 0; r < RES_COUNT; r++)
        set->alloc[r].shares = 1000;
    sim_build(&w);
    sim_begin(&w);
    NEAR(sim_gets(&w, "a", RES_CPU), 5000);
    cluster_truth(w.c, &w.small.a, &t);
    assert_int_equal(t.n_settings, 1);
    NEAR(t.settings[0].alloc[RES_CPU].shares, 1000);
    sim_release(&w);
}

/* A VM that lacks half of its memory gets by with half of its CPU, if that is how swapping is. */
static void test_memory_short(void **state)
{
    static const double slowdown[] = {0, 1, 4};
    static const double cpu[] = {4000, 2000, 0};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(slowdown); i++) {
        struct sim w;

        sim_init(&w);
        small_host(&w.small, "h1", 10000, 4096);
        small_vm(&w.small, "a", "h1", 4000, 4096);
        small_vm(&w.small, "b", "h1", 4000, 4096);
        sim_build(&w);
        w.s.swap_slowdown = slowdown[i];
        sim_begin(&w);
        NEAR(sim_gets(&w, "a", RES_MEM), 2048);
        NEAR(sim_gets(&w, "b", RES_CPU), cpu[i]);
        sim_release(&w);
    }
}

/* CloudSim's model: everybody by the same factor, whatever its settings, whole MHz. */
static void test_proportional(void **state)
{
    struct sim w;

    (void)state;
    sim_init(&w);
    small_host(&w.small, "h1", 10000, 65536)->is.cores = 1;
    small_vm(&w.small, "a", "h1", 9000, 1024)->is.alloc[RES_CPU].reservation = 9000;
    small_vm(&w.small, "b", "h1", 6001, 1024);
    sim_build(&w);
    w.s.scheduler = SCHEDULER_PROPORTIONAL;
    sim_begin(&w);
    NEAR(sim_gets(&w, "a", RES_CPU), floor(9000 * 10000.0 / 15001));
    NEAR(sim_gets(&w, "b", RES_CPU), floor(6001 * 10000.0 / 15001));
    sim_release(&w);
}

/* ---- measuring ---- */

/* Used and ready time lead the engine's formula to what the VM wants, also when it gets less. */
static void test_samples_tell_the_demand(void **state)
{
    struct sim w;
    struct inventory inv;
    struct snapshot s;

    (void)state;
    sim_init(&w);
    small_host(&w.small, "h1", 10000, 16384)->is.cores = 4;
    for (int i = 0; i < 4; i++) {
        struct seen_vm *v = small_vm(&w.small, (const char *[]){"a", "b", "c", "d"}[i], "h1", 5000, 2048);

        v->is.vcpus = 2;
        v->is.consumed_mb = 2048;
        v->is.demand[RES_MEM] = 1024;
    }
    sim_build(&w);
    sim_begin(&w);
    for (int look = 0; look < 3; look++) {
        sim_look(&w, &inv, &s);
        for (size_t i = 0; i < inv.n_vms; i++) {
            const struct vm_sample *m = &inv.vms[i].sample;

            assert_true(m->present);
            NEAR(m->cpu_used_mhz, 2500);
            NEAR(m->interval_ms, look == 2 ? 60000 : 20000);
            NEAR(m->cpu_run_ms + m->cpu_ready_ms + m->cpu_sleep_ms, 2 * m->interval_ms);
            assert_true(m->cpu_ready_ms > 0);
            NEAR(inv.vms[i].is.demand[RES_CPU], 5000);
            NEAR(m->mem_active_mb, 1024);
            NEAR(m->mem_consumed_mb, 2048);
        }
        NEAR(inv.hosts[0].is.mem_free_mb, 16384 - 4 * 2048);
        if (look == 1)
            sim_run(&w, 60);
    }
    sim_release(&w);
}

/* Of an interval the mean: 30 s at 1000 MHz, 30 s at 3000. */
static void test_samples_are_means(void **state)
{
    struct sim w;
    struct inventory inv;
    struct snapshot s;

    (void)state;
    sim_init(&w);
    small_host(&w.small, "h1", 10000, 16384);
    small_vm(&w.small, "a", "h1", 1000, 1024);
    sim_build(&w);
    w.s.vms[0].of[RES_CPU] = (struct workload){.kind = WORKLOAD_SPIKE,
                                               .level = 1000,
                                               .high = 3000,
                                               .from_s = 30,
                                               .until_s = 300,
                                               .scale = 1,
                                               .max = 10000};
    sim_begin(&w);
    sim_look(&w, &inv, &s);
    assert_true(sim_next_s(w.c) == 30);
    sim_run(&w, 60);
    sim_look(&w, &inv, &s);
    NEAR(inv.vms[0].is.demand[RES_CPU], 2000);
    assert_int_equal(inv.time, EPOCH + 60);
    assert_int_equal(inv.vms[0].sample.measured, EPOCH + 60);
    sim_run(&w, 90);
    sim_look(&w, &inv, &s);
    NEAR(inv.vms[0].is.demand[RES_CPU], 3000);
    NEAR(cluster_vm_totals(w.c, 0)->delivered[RES_CPU], 30 * 1000 + 60 * 3000);
    sim_release(&w);
}

/* A VM that has come from a faster host is not said to use more than its cores have here. */
static void test_another_host_counts_anew(void **state)
{
    struct sim w;
    struct inventory inv;
    struct snapshot s;

    (void)state;
    sim_init(&w);
    small_host(&w.small, "h1", 10000, 16384);
    small_host(&w.small, "h2", 10000, 16384)->is.cores = 2;
    small_vm(&w.small, "a", "h1", 9000, 1000);
    sim_build(&w);
    sim_begin(&w);
    assert_int_equal(sim_move(&w, "a", "h1", "h2", NULL), 0);
    sim_run(&w, 60);
    sim_look(&w, &inv, &s);
    NEAR(inv.vms[0].sample.interval_ms, 50000);
    NEAR(inv.vms[0].sample.cpu_used_mhz, 5000);
    NEAR(inv.vms[0].is.demand[RES_CPU], 5000);
    sim_release(&w);
}

/* Idle memory goes first when the host is short of it. */
static void test_idle_memory_is_reclaimed(void **state)
{
    struct sim w;
    struct inventory inv;
    struct snapshot s;

    (void)state;
    sim_init(&w);
    small_host(&w.small, "h1", 10000, 4096);
    small_vm(&w.small, "a", "h1", 1000, 4096)->is.demand[RES_MEM] = 1024;
    small_vm(&w.small, "b", "h1", 1000, 2048)->is.demand[RES_MEM] = 2048;
    sim_build(&w);
    sim_begin(&w);
    sim_look(&w, &inv, &s);
    NEAR(inv.vms[0].is.consumed_mb, 2048);
    NEAR(inv.vms[1].is.consumed_mb, 2048);
    NEAR(inv.hosts[0].is.mem_free_mb, 0);
    NEAR(inv.vms[0].is.ballooned_mb, 2048); /* of its idle memory */
    NEAR(inv.vms[0].is.swapped_mb, 0);
    NEAR(inv.vms[0].is.swap_in_mb_s, 0);
    NEAR(inv.vms[1].is.ballooned_mb, 0);
    sim_release(&w);
}

/* Two guests want twice what the host has. What each says that it uses fits; what was taken is said beside
 * it. */
static void test_squeezed_guests(void **state)
{
    struct sim w;
    struct inventory inv;
    struct snapshot s;

    (void)state;
    sim_init(&w);
    small_host(&w.small, "h1", 10000, 2048);
    small_vm(&w.small, "a", "h1", 1000, 4096);
    small_vm(&w.small, "b", "h1", 1000, 4096);
    sim_build(&w);
    sim_begin(&w);
    for (int minute = 0; minute < 6; minute++) {
        sim_look(&w, &inv, &s);
        for (int i = 0; i < 2; i++) {
            NEAR(inv.vms[i].sample.mem_active_mb, 1024);
            NEAR(inv.vms[i].is.ballooned_mb, 0.65 * 4096);
            NEAR(inv.vms[i].is.swapped_mb, 3072 - 0.65 * 4096);
            NEAR(inv.vms[i].is.swap_in_mb_s, inv.vms[i].is.swapped_mb / 60);
            NEAR(vm_facts_squeezed_mb(&inv.vms[i].is), 3072);
        }
        NEAR(inv.hosts[0].is.swap_in_mb_s, minute < 5 ? 0 : 2 * inv.vms[0].is.swap_in_mb_s);
        sim_run(&w, 60 * (minute + 1));
    }
    sim_release(&w);
}

/* ---- counting ---- */

static void test_totals(void **state)
{
    struct sim w;

    (void)state;
    sim_init(&w);
    small_host(&w.small, "h1", 10000, 8192);
    small_host(&w.small, "h2", 10000, 8192);
    small_vm(&w.small, "a", "h1", 2500, 1024);
    sim_build(&w);
    sim_begin(&w);
    sim_run(&w, 1000);
    const struct host_totals *h = cluster_host_totals(w.c, 0);

    NEAR(h->capacity[RES_CPU], 1e7);
    NEAR(h->available[RES_MEM], 8192e3);
    NEAR(h->delivered[RES_CPU], 2.5e6);
    NEAR(h->energy_j, 125e3);
    NEAR(h->energy_idle_off_j, 125e3);
    NEAR(h->active_s, 1000);
    NEAR(h->overloaded_s, 0);
    h = cluster_host_totals(w.c, 1);
    NEAR(h->energy_j, 100e3);
    NEAR(h->energy_idle_off_j, 0);
    NEAR(h->active_s, 0);
    NEAR(h->on_s, 1000);
    cluster_reset_totals(w.c);
    sim_run(&w, 1500);
    NEAR(cluster_host_totals(w.c, 0)->energy_j, 62.5e3);
    NEAR(cluster_vm_totals(w.c, 0)->delivered[RES_MEM], 1024 * 500);
    sim_release(&w);
}

static void test_truth(void **state)
{
    struct sim w;
    struct snapshot t;

    (void)state;
    sim_init(&w);
    small_host(&w.small, "h1", 10000, 8192);
    small_host(&w.small, "h2", 10000, 8192);
    small_vm(&w.small, "a", "h1", 2500, 1024);
    small_vm(&w.small, "b", "h1", 9500, 1024);
    sim_build(&w);
    sim_begin(&w);
    assert_int_equal(sim_move(&w, "b", "h1", "h2", NULL), 0);
    sim_run(&w, 1);
    cluster_truth(w.c, &w.small.a, &t);
    NEAR(t.vms[1].is.demand[RES_CPU], 9500);
    assert_int_equal(t.n_migrations, 1);
    assert_int_equal(t.hosts[0].vms.n, 2);
    sim_run(&w, 100);
    cluster_truth(w.c, &w.small.a, &t);
    assert_int_equal(t.n_migrations, 0);
    assert_int_equal(t.vms[1].host, 1);
    assert_int_equal(t.hosts[1].vms.items[0], 1);
    assert_int_equal(t.time, EPOCH + 100);
    sim_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_enough_for_all),
        cmocka_unit_test(test_reservation_limit_shares),
        cmocka_unit_test(test_pools),
        cmocka_unit_test(test_no_more_than_its_cores),
        cmocka_unit_test(test_settings_are_kept),
        cmocka_unit_test(test_settings_of_the_snapshot),
        cmocka_unit_test(test_reserved_in_a_pool),
        cmocka_unit_test(test_small_changes),
        cmocka_unit_test(test_small_changes_in_a_limited_pool),
        cmocka_unit_test(test_memory_short),

        cmocka_unit_test(test_proportional),
        cmocka_unit_test(test_samples_tell_the_demand),
        cmocka_unit_test(test_samples_are_means),
        cmocka_unit_test(test_another_host_counts_anew),
        cmocka_unit_test(test_idle_memory_is_reclaimed),
        cmocka_unit_test(test_squeezed_guests),
        cmocka_unit_test(test_totals),
        cmocka_unit_test(test_truth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
