/* Pass after pass with changing demands, hosts and rules: no VM moves again within its cool-down, and none
 * moves back to its previous host, unless the move is mandatory. */
#include "core/pass.h"
#include "oracle.h"
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define PASSES 14
#define INTERVAL_S 300
#define PRIORITY_MANDATORY 1

struct counts {
    unsigned moves, again, back; /* in all; within the cool-down; ... of these, to where it came from */
};

/* What has become of the cluster by the next pass. */
static void live_on(struct rng *r, struct snapshot *s)
{
    for (uint32_t i = 0; i < s->n_vms; i++) {
        struct vm_facts *f = &s->vms[i].is;
        if (f->state != VM_ON || rng_unit(r) < 0.5)
            continue;
        f->demand[RES_CPU] = fmin(rng_unit(r) < 0.3 ? 0 : 3000 * rng_unit(r), f->alloc[RES_CPU].limit);
        f->demand[RES_MEM] = f->consumed_mb * rng_unit(r);
        vm_facts_windows(f);
    }
    for (uint32_t i = 1; i < s->n_hosts; i++) {
        enum host_state *state = &s->hosts[i].is.state;
        if (*state == HOST_ENTERING_MAINTENANCE && rng_unit(r) < 0.5)
            *state = HOST_ON;
        else if (*state == HOST_ON && rng_unit(r) < 0.05)
            *state = HOST_ENTERING_MAINTENANCE;
    }
    for (uint32_t i = 0; i < s->n_rules; i++)
        if (rng_unit(r) < 0.3)
            s->rules[i].is.enabled = !s->rules[i].is.enabled;
}

/* Where each VM was moved from last, and when. */
struct past {
    uint32_t from;
    instant_s when;
    uint32_t group; /* of a move for balance */
};

static void check_plan(uint64_t seed, const struct plan *plan, struct past *past, struct counts *counts)
{
    const struct snapshot *s = plan->snap;

    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        const struct recommendation *rec = &plan->recommendations[i];
        if (rec->action != ACTION_MIGRATE)
            continue;
        struct past *p = &past[rec->vm];
        if (p->when == s->time && rec->group != 0 && rec->group == p->group) /* it waited on a third host */
            continue;
        bool rests = p->when != 0 && s->time - p->when < plan->policy.cool_down_s;
        counts->moves++;
        counts->again += rests;
        counts->back += rests && rec->to == p->from;
        if (p->when == s->time)
            fail_msg("seed %llu: %s is moved twice in one plan", (unsigned long long)seed,
                     s->vms[rec->vm].is.id);
        if (rests && rec->priority != PRIORITY_MANDATORY)
            fail_msg("seed %llu: %s was moved off %s %lld s ago, and is moved %s with priority %u (%s)",
                     (unsigned long long)seed, s->vms[rec->vm].is.id, s->hosts[p->from].is.id,
                     (long long)(s->time - p->when), rec->to == p->from ? "back" : "again", rec->priority,
                     reason_name(rec->reason));
        *p = (struct past){
            .from = rec->from, .when = s->time, .group = oracle_is_balancing(rec) ? rec->group : 0};
    }
}

static void check_sequence(uint64_t seed, struct counts *counts)
{
    struct arena a = {0};
    struct rng r = {.state = seed};
    struct snapshot snap;
    struct policy policy;

    random_cluster(
        &r,
        &(struct cluster_options){
            .hosts_max = 7, .vms_max = 40, .mixed_hosts = true, .rules = true, .tight = seed % 3 == 0},
        &a, &snap);
    random_policy(&r, &policy);
    policy.migration_threshold = 3 + rng_below(&r, 3);
    policy.cool_down_s = INTERVAL_S * (1 + rng_below(&r, 8));
    struct past *past = arena_array(&a, struct past, snap.n_vms);

    for (uint32_t i = 0; i < snap.n_vms; i++)
        snap.vms[i].is.last_migrated = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        struct plan plan;
        struct snapshot then;
        struct err err = {0};
        assert_int_equal(pass_run(&snap, &policy, &a, &plan, &err), 0);
        check_plan(seed, &plan, past, counts);
        oracle_carried_out(&plan, snap.time, &a, &then);
        snap = then;
        snap.time += INTERVAL_S;
        live_on(&r, &snap);
    }
    arena_release(&a);
}

static void test_nobody_goes_to_and_fro(void **state)
{
    struct counts counts = {0};

    (void)state;
    for (unsigned i = 0; i < test_clusters(400); i++)
        check_sequence(test_seed() + i, &counts);
    (void)printf("%u moves, %u within a cool-down because they had to be, %u of these back\n", counts.moves,
                 counts.again, counts.back);
    if (test_is_usual())
        assert_true(counts.moves > 4000 && counts.back > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nobody_goes_to_and_fro)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
