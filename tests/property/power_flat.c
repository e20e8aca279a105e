/* Power management under flat load: no host alternates between standby and on, and after a few passes nothing
 * happens any more. */
#include "core/pass.h"
#include "load.h"
#include "oracle.h"
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define WINDOW_S 2400

struct tally {
    unsigned off, on;
};

#define PASSES 20
#define SETTLES 8 /* passes after which nothing happens any more */
#define INTERVAL_S 600

static void check_flat(uint64_t seed, const struct cluster_options *options, struct tally *tally)
{
    struct arena a = {0};
    struct rng r = {.state = seed};
    struct snapshot snap;
    struct policy policy;

    random_cluster(&r, options, &a, &snap);
    random_policy(&r, &policy);
    random_dpm(&r, &policy);
    policy.moves_max = 0; /* else it takes as many passes as it takes */
    flat_load(&snap);
    for (uint32_t h = 0; h < snap.n_hosts; h++)
        snap.hosts[h].is.woken = (struct woken){0};
    bool *put_down = arena_array(&a, bool, snap.n_hosts);
    instant_s *woken = arena_array(&a, instant_s, snap.n_hosts);

    for (int pass = 0; pass < PASSES; pass++) {
        struct plan plan;
        struct snapshot then;
        struct err err = {0};
        assert_int_equal(pass_run(&snap, &policy, &a, &plan, &err), 0);
        for (uint32_t i = 0; i < plan.n_recommendations; i++) {
            const struct recommendation *rec = &plan.recommendations[i];
            if (rec->action == ACTION_POWER_ON && rec->reason == REASON_HIGH_UTILIZATION &&
                put_down[rec->host])
                fail_msg("seed %llu: pass %d wakes %s, which an earlier one has put to standby",
                         (unsigned long long)seed, pass, snap.hosts[rec->host].is.id);
            if (rec->action == ACTION_POWER_OFF && woken[rec->host] != 0 &&
                snap.time - woken[rec->host] < WINDOW_S)
                fail_msg("seed %llu: pass %d puts %s to standby, which an earlier one has woken",
                         (unsigned long long)seed, pass, snap.hosts[rec->host].is.id);
            if (rec->vm == IX_NONE && rec->reason != REASON_SPARE_CAPACITY && pass >= SETTLES)
                fail_msg("seed %llu: pass %d still does: %s", (unsigned long long)seed, pass,
                         reason_name(rec->reason));
            if (rec->action == ACTION_POWER_OFF)
                put_down[rec->host] = true;
            if (rec->action == ACTION_POWER_ON)
                woken[rec->host] = snap.time;
            tally->off += rec->action == ACTION_POWER_OFF;
            tally->on += rec->action == ACTION_POWER_ON;
        }
        oracle_carried_out(&plan, snap.time, &a, &then);
        snap = then;
        snap.time += INTERVAL_S;
    }
    arena_release(&a);
}

/* What was woken went again a pass or two later. */
static const uint64_t flapped[] = {1992, 2423, 3625, 9732, 10233};

static void check_flat_of(uint64_t seed, struct tally *t)
{
    check_flat(seed,
               &(struct cluster_options){.hosts_max = 9,
                                         .vms_max = 40,
                                         .mixed_hosts = true,
                                         .rules = seed % 2 == 1,
                                         .sleeping = true,
                                         .power = true},
               t);
}

static void test_flat_load(void **state)
{
    struct tally t = {0};

    (void)state;
    for (unsigned i = 0; i < test_clusters(800); i++)
        check_flat_of(test_seed() + i, &t);
    for (size_t i = 0; i < sizeof flapped / sizeof *flapped && !getenv("BALLAST_TEST_SEED"); i++)
        check_flat_of(flapped[i], &t);
    (void)printf("%u hosts put to standby, %u woken\n", t.off, t.on);
    if (test_is_usual())
        assert_true(t.off > 200 && t.on > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_flat_load)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
