/* At every level the climb takes the same moves as a search over all pairs of a unit and a host; no move that
 * passes gains more than the bound of its host, or that of the host's block; every move lowers the imbalance;
 * and planning again on the result finds no move. */
#include "core/pass.h"
#include "core/plan/pass_state.h"
#include "core/plan/plan.h"
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/* Two sums of the same numbers in another order. */
#define ROUNDING 1e-13

/* No slot's bound is above that of any of its blocks. */
static void check_blocks(uint64_t seed, const struct bounds *b)
{
    for (uint32_t s = 0; s < b->l->n_on; s++)
        for (uint32_t level = 1, k = b->place[s] / BOUNDS_BLOCK; level <= b->top; level++, k /= BOUNDS_BLOCK)
            if (bounds_of_block(b, level, k) < bounds_now(b, s))
                fail_msg("seed %llu: the bound of slot %u is %.17g, that of its block of level %u %.17g",
                         (unsigned long long)seed, s, bounds_now(b, s), level, bounds_of_block(b, level, k));
}

/* The bound of the source covers a move that passes. */
static void check_bound(const struct bounds *b, uint32_t from, double gain)
{
    double bound = bounds_now(b, from) + (b->adjusted ? bounds_adjusted_more(b, from) : 0);

    if (gain > bound + ROUNDING)
        fail_msg("a move off slot %u gains %.17g, its bound is %.17g", from, gain, bound);
}

/* The step of §3.1.2 as it is written: every movable unit, every host. */
static struct move brute_step(const struct climb *c, struct plan_stats *stats)
{
    struct move_score j = c->score;
    struct move best = {.unit = IX_NONE, .to_slot = IX_NONE};

    j.stats = stats;
    for (uint32_t u = 0; u < c->l->n_units; u++) {
        if (c->l->unit_held[u] != CHECK_NONE || c->l->unit_slot[u] >= c->l->n_on)
            continue;
        struct move_trial t;
        c->costs->left[u].since = 0; /* computed anew, so that a kept one that no longer holds is found */
        move_trial_begin(c->l, j.weight, u, &t);
        for (uint32_t s = 0; s < c->l->n_on; s++) {
            if (s == c->l->unit_slot[u])
                continue;
            double gain = move_score_gain(&j, &t, s);
            struct move m = {.unit = u, .to_slot = s, .gain = move_score_adjusted(&j, u, s, gain)};
            if (m.gain > gain)
                fail_msg("a score raises the gain of unit %u on %u from %.17g to %.17g", u, s, gain, m.gain);
            if (move_score_check(&j, u, s, gain) != CHECK_NONE)
                continue;
            check_bound(&c->bounds, c->l->unit_slot[u], m.gain);
            if (move_score_is_better(&j, &m, &best))
                best = m;
        }
    }
    return best;
}

/* What scores and buckets change. */
struct tally {
    unsigned moves, refused;
    uint64_t rejected[check_count];
};

static double some_weight(uint64_t seed)
{
    static const double weights[] = {1, 0.3, 3, 0, 10};

    return weights[seed % (sizeof weights / sizeof *weights)];
}

/* No VM of the move goes to a worse bucket than its host's. */
static void check_bucket(uint64_t seed, const struct climb *c, const struct move *m)
{
    const struct move_preference *p = c->score.preference;

    if (p && move_preference_worse_bucket(p, m->unit, m->to_slot, NULL) != IX_NONE)
        fail_msg("seed %llu: unit %u goes to a worse bucket", (unsigned long long)seed, m->unit);
}

/* Every third cluster keeps some of the spaces for a VM of some size: then moves for balance are refused that
 * take one. */
static void keep_spaces(struct pass *p, uint64_t seed)
{
    if (seed % 3 != 0)
        return;
    p->policy.room = (struct room_policy){.cpus = 2 + (int64_t)(seed % 5), .cpu_ratio = 3};
    (void)spaces_init(&p->spaces, &p->layout, p->a);
    spaces_guard_begin(&p->spaces_guard, &p->spaces, spaces_of_all(&p->spaces) - seed % 2);
    p->climb.score.guard = &p->spaces_guard;
}

/* The best move whose check is the reason that is given, by trying all pairs without any check. */
static void compare_refused(uint64_t seed, struct climb *c, struct tally *tally)
{
    struct move best = climb_best_refused(c, 0, c->l->n_on);
    double most = GAIN_LEAST;
    double its = 0;

    for (uint32_t i = 0; i < c->l->n_on; i++)
        for (uint32_t k = 0; k < c->l->list[i].n; k++) {
            uint32_t u = c->l->list[i].items[k];
            struct move_trial t;
            move_trial_begin(c->l, c->score.weight, u, &t);
            for (uint32_t to = 0; to < c->l->n_on; to++) {
                double gain = move_score_gain(&c->score, &t, to);
                if (to == i || c->l->unit_held[u] == CHECK_VM_MOVED || layout_is_agent(c->l, u))
                    continue;
                most = gain > most ? gain : most;
                if (u == best.unit && to == best.to_slot)
                    its = gain;
            }
        }
    if (best.unit == IX_NONE ? most > GAIN_LEAST : its != most)
        fail_msg("seed %llu: the best refused move gains %.17g, not %.17g", (unsigned long long)seed, most,
                 its);
    tally->refused += best.unit != IX_NONE;
}

static void compare_climbs(uint64_t seed, const struct cluster_options *o, struct tally *tally)
{
    unsigned *moves = &tally->moves;
    struct arena a = {0};
    struct rng r = {.state = seed};
    struct snapshot snap;
    struct policy policy;
    struct pass p;

    random_cluster(&r, o, &a, &snap);
    random_policy(&r, &policy);
    policy.score_weight = some_weight(seed);
    pass_prepare(&p, &snap, &policy, true, IX_NONE, &a);
    if (o->evacuate)
        plan_correct(&p);
    keep_spaces(&p, seed);
    for (int64_t level = LAYOUT_LEVEL_FIRST;;) {
        struct plan_stats stats = {0};
        double before = layout_imbalance(&p.layout);
        double weight[RES_COUNT];
        struct move fast = climb_step(&p.climb);
        struct move brute = brute_step(&p.climb, &stats);
        check_blocks(seed, &p.climb.bounds);
        for (int k = 0; k < check_count; k++)
            tally->rejected[k] += stats.rejected[k];
        if (fast.unit != brute.unit || fast.to_slot != brute.to_slot || fast.gain != brute.gain)
            fail_msg("seed %llu, move %u: the climb takes unit %u to %u (gain %.17g), brute force unit %u to "
                     "%u (%.17g)",
                     (unsigned long long)seed, *moves, fast.unit, fast.to_slot, fast.gain, brute.unit,
                     brute.to_slot, brute.gain);
        if (fast.unit == IX_NONE) {
            if (move_score_lower_goodness(&p.climb.score))
                continue;
            if (++level > policy.migration_threshold)
                break;
            climb_set_level(&p.climb, level);
            continue;
        }
        check_bucket(seed, &p.climb, &fast);
        layout_weights(&p.layout, weight);
        climb_apply(&p.climb, &fast);
        check_blocks(seed, &p.climb.bounds);
        double after = weight[RES_CPU] * layout_load_stddev(&p.layout, RES_CPU) +
                       weight[RES_MEM] * layout_load_stddev(&p.layout, RES_MEM);
        if (!(after < before))
            fail_msg("seed %llu: a move takes the imbalance from %.17g to %.17g", (unsigned long long)seed,
                     before, after);
        ++*moves;
    }
    compare_refused(seed, &p.climb, tally);
    arena_release(&a);
}

static void run(const struct cluster_options *o, unsigned clusters)
{
    struct tally tally = {0};

    clusters = test_some(clusters);
    for (unsigned i = 0; i < test_clusters(clusters); i++)
        compare_climbs(test_seed() + i, o, &tally);
    (void)printf("%u moves compared; pairs kept apart by scores %llu, by buckets %llu\n", tally.moves,
                 (unsigned long long)tally.rejected[CHECK_FIT_SCORE],
                 (unsigned long long)tally.rejected[CHECK_FIT_BUCKET]);
    if (!test_is_usual())
        return;
    assert_true(tally.moves > clusters && tally.refused > clusters / 4);
    assert_true(!o->scores || tally.rejected[CHECK_FIT_SCORE] > clusters);
    assert_true(!o->scores || tally.rejected[CHECK_FIT_BUCKET] > clusters);
}

static void test_small_equal_hosts(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 8, .vms_max = 60}, 1500);
}

static void test_mixed_hosts_and_rules(void **state)
{
    (void)state;
    run(
        &(struct cluster_options){
            .hosts_max = 12, .vms_max = 80, .mixed_hosts = true, .rules = true, .tight = true},
        1500);
}

static void test_larger_clusters(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 90, .vms_max = 700}, 40);
    run(&(struct cluster_options){.hosts_max = 90, .vms_max = 700, .mixed_hosts = true, .rules = true}, 40);
    /* blocks of bounds of two levels */
    run(&(struct cluster_options){.hosts_max = 500, .vms_max = 800}, 8);
}

static void test_after_corrections(void **state)
{
    (void)state;
    run(
        &(struct cluster_options){
            .hosts_max = 12, .vms_max = 80, .rules = true, .tight = true, .evacuate = true},
        800);
}

static void test_moves_under_way(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 12,
                                  .vms_max = 80,
                                  .mixed_hosts = true,
                                  .rules = true,
                                  .evacuate = true,
                                  .agents = true,
                                  .in_flight = true,
                                  .rates = true},
        800);
}

static void test_failures(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 10,
                                  .vms_max = 50,
                                  .mixed_hosts = true,
                                  .rules = true,
                                  .evacuate = true,
                                  .deep_pools = true,
                                  .sleeping = true,
                                  .idle_agents = true,
                                  .ft = true,
                                  .ha = true,
                                  .approved = true},
        500);
}

/* Few VMs and many hosts: most of those are equally empty, and the one that is reached fastest wins. */
static void test_rates_of_pairs(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 12, .vms_max = 14, .pairs = true}, 1000);
    run(
        &(struct cluster_options){
            .hosts_max = 12, .vms_max = 80, .mixed_hosts = true, .rules = true, .rates = true, .pairs = true},
        500);
}

/* Most moves of much gain fit nowhere. */
static void test_full_memory(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 12, .vms_max = 120, .full = true}, 500);
    run(&(struct cluster_options){.hosts_max = 40, .vms_max = 500, .mixed_hosts = true, .full = true}, 40);
    run(
        &(struct cluster_options){
            .hosts_max = 16, .vms_max = 160, .rules = true, .rates = true, .full = true, .ha = true},
        300);
    run(
        &(struct cluster_options){
            .hosts_max = 40, .vms_max = 400, .rules = true, .pairs = true, .full = true, .ha = true},
        30);
}

/* A move makes its source a holder of failover slots, which lets a VM of a third host pass. */
static void test_exchange_of_failover_slots(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 8, .vms_max = 100, .exchange = true}, 1500);
}

/* Scores take their part of the gain, and buckets reject. */
static void test_scores(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 8, .vms_max = 60, .scores = true}, 1500);
    run(&(struct cluster_options){.hosts_max = 12,
                                  .vms_max = 80,
                                  .mixed_hosts = true,
                                  .rules = true,
                                  .tight = true,
                                  .scores = true},
        1000);
    run(&(struct cluster_options){.hosts_max = 40, .vms_max = 500, .full = true, .scores = true}, 60);
    run(&(struct cluster_options){.hosts_max = 40, .vms_max = 400, .mixed_hosts = true, .scores = true}, 60);
    run(
        &(struct cluster_options){
            .hosts_max = 16, .vms_max = 160, .pairs = true, .full = true, .ha = true, .scores = true},
        200);
    /* both deviations fall together: a limit of the adjusted gain must be carried with what that adds */
    run(&(struct cluster_options){.hosts_max = 90, .vms_max = 600, .matched = true, .scores = true}, 120);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_equal_hosts),
        cmocka_unit_test(test_mixed_hosts_and_rules),
        cmocka_unit_test(test_larger_clusters),
        cmocka_unit_test(test_after_corrections),
        cmocka_unit_test(test_moves_under_way),
        cmocka_unit_test(test_rates_of_pairs),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_full_memory),
        cmocka_unit_test(test_exchange_of_failover_slots),
        cmocka_unit_test(test_scores),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
