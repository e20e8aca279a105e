/* A decision lasts, with the default settings: under flat load the passes after a plan neither undo nor
 * repeat its moves, no host that a plan puts to standby is woken by a later one, and none goes to standby
 * that a fault of the same plan names. */
#include "core/pass.h"
#include "load.h"
#include "model/snapshot_build.h"
#include "oracle.h"
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

struct world {
    uint64_t seed;
    struct arena a;
    struct snapshot snap; /* as the next pass sees it */
    struct policy policy;
    struct plan plan; /* of the last pass */
    int pass;
};

static void begin(struct world *w, uint64_t seed, const struct cluster_options *options)
{
    struct rng r = {.state = seed};

    *w = (struct world){.seed = seed};
    random_cluster(&r, options, &w->a, &w->snap);
    policy_default(&w->policy);
    w->policy.dpm.enabled = options->power;
}

/* Nothing changes by itself: the load is flat, and nothing becomes possible because time has passed. */
static void settle_down(struct snapshot *s)
{
    flat_load(s);
    for (uint32_t h = 0; h < s->n_hosts; h++) {
        s->hosts[h].is.on_since = 0;
        s->hosts[h].is.woken = (struct woken){0};
    }
}

static void plan_it(struct world *w)
{
    struct err err = {0};

    assert_int_equal(pass_run(&w->snap, &w->policy, &w->a, &w->plan, &err), 0);
}

/* The plan succeeds at once; no demand changes. */
static void apply_plan(struct world *w)
{
    struct snapshot then;

    oracle_carried_out(&w->plan, w->snap.time, &w->a, &then);
    w->snap = then;
    w->snap.time += w->policy.interval_s;
    w->pass++;
}

/* ---- the moves of a plan ---- */

#define PASSES_AFTER 3

/* A VM does not go back but for a mandatory reason, and does not move again for balance or to save power. */
static void check_moves_last(uint64_t seed, const struct cluster_options *options, unsigned *moves)
{
    struct world w;

    begin(&w, seed, options);
    settle_down(&w.snap);
    uint32_t *left = arena_array(&w.a, uint32_t, w.snap.n_vms); /* by VM: the host that it left */
    for (uint32_t v = 0; v < w.snap.n_vms; v++)
        left[v] = IX_NONE;
    int *when = arena_array(&w.a, int, w.snap.n_vms); /* ... and in which pass */
    for (; w.pass <= PASSES_AFTER; apply_plan(&w)) {
        plan_it(&w);
        for (uint32_t i = 0; i < w.plan.n_recommendations; i++) {
            const struct recommendation *rec = &w.plan.recommendations[i];
            if (rec->action != ACTION_MIGRATE)
                continue;
            /* in an exchange a VM may wait on a third host */
            bool waits = rec->group != 0 && oracle_is_balancing(rec) && when[rec->vm] == w.pass;
            bool again = left[rec->vm] != IX_NONE && !waits;
            bool back = again && rec->to == left[rec->vm] && rec->priority != PRIORITY_MANDATORY;
            if (back || (again && (oracle_is_balancing(rec) || rec->reason == REASON_CONSOLIDATE ||
                                   oracle_makes_room_to_sleep(rec))))
                fail_msg("seed %llu: pass %d moves %s %s: %s", (unsigned long long)seed, w.pass,
                         w.snap.vms[rec->vm].is.id, back ? "back" : "again", reason_name(rec->reason));
            left[rec->vm] = waits ? left[rec->vm] : rec->from;
            when[rec->vm] = w.pass;
            *moves += w.pass == 0;
        }
    }
    arena_release(&w.a);
}

static void check_moves_of(const struct cluster_options *options, unsigned clusters)
{
    unsigned moves = 0;

    clusters = test_some(clusters);
    for (unsigned i = 0; i < test_clusters(clusters); i++)
        check_moves_last(test_seed() + i, options, &moves);
    (void)printf("%u moves\n", moves);
    if (test_is_usual())
        assert_true(moves > clusters / 2);
}

static void test_moves_for_balance_last(void **state)
{
    (void)state;
    check_moves_of(
        &(struct cluster_options){.hosts_max = 9, .vms_max = 60, .mixed_hosts = true, .deep_pools = true},
        500);
}

static void test_moves_when_tight_last(void **state)
{
    (void)state;
    check_moves_of(&(struct cluster_options){.hosts_max = 9,
                                             .vms_max = 60,
                                             .mixed_hosts = true,
                                             .tight = true,
                                             .rules = true,
                                             .ha = true,
                                             .evacuate = true},
                   500);
}

/* VMs change places. */
static void test_exchanges_last(void **state)
{
    (void)state;
    check_moves_of(
        &(struct cluster_options){
            .hosts_max = 6, .vms_max = 40, .mixed_hosts = true, .tight = true, .full = true},
        500);
}

static void test_moves_to_save_power_last(void **state)
{
    (void)state;
    check_moves_of(&(struct cluster_options){.hosts_max = 9,
                                             .vms_max = 40,
                                             .mixed_hosts = true,
                                             .rules = true,
                                             .ha = true,
                                             .sleeping = true,
                                             .power = true},
                   1000);
}

/* ---- hosts that go to standby ---- */

/* Whether the fault names the host, or one of its reasons does: as short of something that an empty host may
 * have. A preferred rule that is given up needs no host, and a best candidate that a rule forbids is none. */
static bool is_named(const struct fault *fault, uint32_t host)
{
    bool named = fault->host == host;

    if (fault->code == FAULT_PREFERENCE_DROPPED)
        return false;
    for (const struct finding *f = fault->found; f && f->code != FIND_CLOSEST; f = f->because)
        for (int i = 0; i < FINDING_SUBJECTS_MAX && f->subjects[i].name != SUBJECT_END; i++) {
            enum finding_subject name = f->subjects[i].name;
            bool of_host = name == SUBJECT_HOST || name == SUBJECT_OTHER_HOST || name == SUBJECT_FROM ||
                           name == SUBJECT_TO || name == SUBJECT_CPU_FULLEST || name == SUBJECT_MEM_FULLEST;
            named = named || (of_host && f->subjects[i].ix == host);
        }
    return named;
}

static void check_faults_keep_hosts(uint64_t seed, const struct cluster_options *options, unsigned *slept,
                                    unsigned *faults)
{
    struct world w;

    begin(&w, seed, options);
    plan_it(&w);
    *faults += w.plan.n_faults;
    for (uint32_t i = 0; i < w.plan.n_recommendations; i++) {
        const struct recommendation *rec = &w.plan.recommendations[i];
        if (rec->action != ACTION_POWER_OFF)
            continue;
        for (uint32_t f = 0; f < w.plan.n_faults; f++)
            if (is_named(&w.plan.faults[f], rec->host))
                fail_msg("seed %llu: %s goes to standby, and a fault names it: %s", (unsigned long long)seed,
                         w.snap.hosts[rec->host].is.id, fault_code_name(w.plan.faults[f].code));
        ++*slept;
    }
    arena_release(&w.a);
}

static void test_faults_keep_hosts(void **state)
{
    unsigned slept = 0;
    unsigned faults = 0;

    (void)state;
    for (unsigned i = 0; i < test_clusters(3000); i++)
        check_faults_keep_hosts(test_seed() + i,
                                &(struct cluster_options){.hosts_max = 9,
                                                          .vms_max = 40,
                                                          .mixed_hosts = true,
                                                          .rules = true,
                                                          .tight = (test_seed() + i) % 3 == 0,
                                                          .evacuate = (test_seed() + i) % 4 == 0,
                                                          .ft = (test_seed() + i) % 2 == 0,
                                                          .ha = (test_seed() + i) % 5 < 3,
                                                          .sleeping = true,
                                                          .power = true},
                                &slept, &faults);
    (void)printf("%u hosts put to standby beside %u faults\n", slept, faults);
    if (test_is_usual())
        assert_true(slept > 300 && faults > 300);
}

#define PASSES_OF_POWER 8

static void check_sleep_lasts(uint64_t seed, uint32_t losses, unsigned *slept)
{
    struct world w;

    begin(&w, seed,
          &(struct cluster_options){.hosts_max = 9,
                                    .vms_max = 40,
                                    .mixed_hosts = true,
                                    .rules = seed % 3 == 0,
                                    .ha = true,
                                    .sleeping = seed % 2 == 0,
                                    .power = true});
    settle_down(&w.snap);
    w.snap.ha = (struct ha_facts){.policy = HA_HOST_FAILURES, .hosts = losses};
    w.snap.ha_failover_hosts.n = 0;
    snapshot_build_promise(&w.snap);
    for (uint32_t h = 0; h < w.snap.n_hosts; h++)
        w.snap.hosts[h].failover = false;
    bool *sleeps = arena_array(&w.a, bool, w.snap.n_hosts);
    for (; w.pass < PASSES_OF_POWER; apply_plan(&w)) {
        plan_it(&w);
        for (uint32_t i = 0; i < w.plan.n_recommendations; i++) {
            const struct recommendation *rec = &w.plan.recommendations[i];
            if (rec->action == ACTION_POWER_ON && sleeps[rec->host])
                fail_msg("seed %llu, %u losses: pass %d wakes %s again: %s", (unsigned long long)seed, losses,
                         w.pass, w.snap.hosts[rec->host].is.id, reason_name(rec->reason));
            if (rec->action == ACTION_POWER_OFF)
                sleeps[rec->host] = true;
            *slept += rec->action == ACTION_POWER_OFF;
        }
    }
    arena_release(&w.a);
}

static void test_sleep_lasts(void **state)
{
    unsigned slept = 0;

    (void)state;
    for (unsigned i = 0; i < test_clusters(350); i++)
        for (uint32_t losses = 1; losses <= 2; losses++)
            check_sleep_lasts(test_seed() + i, losses, &slept);
    (void)printf("%u hosts put to standby\n", slept);
    if (test_is_usual())
        assert_true(slept > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moves_for_balance_last), cmocka_unit_test(test_moves_when_tight_last),
        cmocka_unit_test(test_exchanges_last),         cmocka_unit_test(test_moves_to_save_power_last),
        cmocka_unit_test(test_faults_keep_hosts),      cmocka_unit_test(test_sleep_lasts)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
