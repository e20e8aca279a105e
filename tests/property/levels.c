/* Migration thresholds are monotone: from one snapshot, without a limit of moves, each level from 2 to 5
 * makes the moves of the level below first, never fewer, and leaves no more imbalance. */
#include "core/pass.h"
#include "model/generate.h"
#include "model/snapshot_build.h"
#include "oracle.h"
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define CLOSE 1e-9
#define LEVEL_FIRST 2
#define LEVEL_LAST 5

struct tally {
    unsigned moves[LEVEL_LAST + 1];
    unsigned compared; /* pairs of levels that make the same corrections */
};

/* The next recommendation from this one on that is a move for balance, or that is none; NULL: there is none.
 */
static const struct recommendation *next(const struct plan *plan, bool balancing, uint32_t *i)
{
    while (*i < plan->n_recommendations && oracle_is_balancing(&plan->recommendations[*i]) != balancing)
        ++*i;
    return *i < plan->n_recommendations ? &plan->recommendations[(*i)++] : NULL;
}

/* The first that differs of `less` from `more`, which may have further ones; NULL: none. */
static const struct recommendation *first_difference(const struct plan *less, const struct plan *more,
                                                     bool balancing)
{
    const struct recommendation *x;
    uint32_t i = 0;
    uint32_t k = 0;

    while ((x = next(less, balancing, &i)) != NULL) {
        const struct recommendation *y = next(more, balancing, &k);
        if (!y || x->vm != y->vm || x->from != y->from || x->to != y->to || x->host != y->host)
            return x;
    }
    return NULL;
}

/* A level may keep a preferred rule that another gives up, because more hosts get below their capacity. */
static bool is_corrected_alike(const struct plan *x, const struct plan *y)
{
    return !first_difference(x, y, false) && !first_difference(y, x, false);
}

static unsigned count_moves(const struct plan *plan)
{
    uint32_t i = 0;
    unsigned n = 0;

    while (next(plan, true, &i) != NULL)
        n++;
    return n;
}

static void plan_at(const struct snapshot *s, const struct policy *base, int level, struct arena *a,
                    struct plan *ret)
{
    struct policy policy = *base;
    struct err err = {0};

    policy.migration_threshold = level;
    policy.moves_max = 0;
    assert_int_equal(pass_run(s, &policy, a, ret, &err), 0);
}

/* With the weights after the other plan: a move that relieves the last host above its capacity changes them.
 */
static double imbalance_of(const struct plan *plan, const struct plan *weighed_as)
{
    double sum = 0;

    for (int r = 0; r < RES_COUNT; r++)
        sum += weighed_as->after.weight[r] * plan->after.imbalance_of[r];
    return sum;
}

static void check_levels(uint64_t seed, const struct snapshot *s, const struct policy *policy,
                         struct arena *a, struct tally *t)
{
    struct plan plan[LEVEL_LAST + 1];

    for (int level = LEVEL_FIRST; level <= LEVEL_LAST; level++) {
        plan_at(s, policy, level, a, &plan[level]);
        t->moves[level] += count_moves(&plan[level]);
    }
    for (int level = LEVEL_FIRST; level < LEVEL_LAST; level++) {
        if (!is_corrected_alike(&plan[level], &plan[level + 1]))
            continue;
        const struct recommendation *other = first_difference(&plan[level], &plan[level + 1], true);
        if (other)
            fail_msg("seed %llu: a move of level %d (recommendation %u) is not one of the first of level %d",
                     (unsigned long long)seed, level, other->id, level + 1);
        t->compared++;
        if (imbalance_of(&plan[level + 1], &plan[level]) > plan[level].after.imbalance + CLOSE)
            fail_msg("seed %llu: level %d leaves an imbalance of %g, level %d of %g",
                     (unsigned long long)seed, level, plan[level].after.imbalance, level + 1,
                     imbalance_of(&plan[level + 1], &plan[level]));
    }
}

static void run(const struct cluster_options *options, unsigned clusters)
{
    struct tally t = {0};

    for (unsigned i = 0; i < test_clusters(clusters); i++) {
        struct arena a = {0};
        struct rng r = {.state = test_seed() + i};
        struct snapshot s;
        struct policy policy;
        random_cluster(&r, options, &a, &s);
        policy_default(&policy);
        check_levels(test_seed() + i, &s, &policy, &a, &t);
        arena_release(&a);
    }
    (void)printf("%u, %u, %u, %u moves at levels 2 to 5\n", t.moves[2], t.moves[3], t.moves[4], t.moves[5]);
    if (test_is_usual())
        assert_true(t.moves[LEVEL_LAST] > t.moves[LEVEL_FIRST] && t.compared > 2 * clusters);
}

static void test_contended(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 9, .vms_max = 90, .mixed_hosts = true, .deep_pools = true},
        600);
}

/* VMs change places. */
static void test_full(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 6, .vms_max = 40, .mixed_hosts = true, .full = true}, 600);
}

static void test_quiet(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 9, .vms_max = 40, .mixed_hosts = true, .power = true}, 600);
}

static void test_corrections_first(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 9,
                                  .vms_max = 60,
                                  .mixed_hosts = true,
                                  .tight = true,
                                  .rules = true,
                                  .evacuate = true,
                                  .in_flight = true,
                                  .ha = true},
        600);
}

/* ---- large clusters ---- */

#define LEFT_BY_LEVEL_5 0.6

static void check_large(enum generate_shape shape, uint32_t hosts, uint32_t vms, uint64_t seed)
{
    struct arena a = {0};
    struct inventory inv;
    struct snapshot s;
    struct policy policy;
    struct plan plan[LEVEL_LAST + 1];
    struct tally t = {0};
    struct err err = {0};

    assert_int_equal(
        generate(&(struct generate_options){.hosts = hosts, .vms = vms, .seed = seed, .shape = shape}, &a,
                 &inv, &err),
        0);
    assert_int_equal(snapshot_build(&inv, &a, &s, &err), 0);
    policy_default(&policy);
    check_levels(seed, &s, &policy, &a, &t);
    for (int level = LEVEL_FIRST; level <= LEVEL_LAST; level++)
        plan_at(&s, &policy, level, &a, &plan[level]);
    for (int level = LEVEL_FIRST; level < LEVEL_LAST; level++)
        if (!(count_moves(&plan[level + 1]) > count_moves(&plan[level]) &&
              plan[level + 1].after.imbalance < plan[level].after.imbalance))
            fail_msg("%u hosts, seed %llu: levels %d and %d do the same", hosts, (unsigned long long)seed,
                     level, level + 1);
    if (!(plan[LEVEL_LAST].after.imbalance <= LEFT_BY_LEVEL_5 * plan[LEVEL_FIRST].after.imbalance))
        fail_msg("%u hosts, seed %llu: level 5 leaves an imbalance of %g, level 2 of %g", hosts,
                 (unsigned long long)seed, plan[LEVEL_LAST].after.imbalance,
                 plan[LEVEL_FIRST].after.imbalance);
    (void)printf("%u hosts: %u, %u, %u, %u moves, imbalance %.3f, %.3f, %.3f, %.3f\n", hosts, t.moves[2],
                 t.moves[3], t.moves[4], t.moves[5], plan[2].after.imbalance, plan[3].after.imbalance,
                 plan[4].after.imbalance, plan[5].after.imbalance);
    arena_release(&a);
}

static void test_levels_differ(void **state)
{
    static const enum generate_shape shapes[] = {SHAPE_SKEWED, SHAPE_SPIKE};

    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        check_large(shapes[i], 32, 1280, test_seed());
        check_large(shapes[i], 64, 3000, test_seed());
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_contended), cmocka_unit_test(test_quiet),
                                       cmocka_unit_test(test_full), cmocka_unit_test(test_corrections_first),
                                       cmocka_unit_test(test_levels_differ)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
