/* Where the climb finds no move, the search for exchanges finds the best of all swaps, chains and rotations,
 * in any order that it may have; no step of it may not be made at its moment, and it lowers the imbalance. */
#include "all_exchanges.h"

#include "core/pass.h"
#include "core/plan/pass_state.h"
#include "core/plan/plan.h"
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ROUNDING 1e-7 /* a deviation near 0 is the root of a difference */

struct tally {
    unsigned searches, exchanges, by_number[EXCHANGE_STEPS_MAX + 1], waits, chains;
};

struct brute {
    struct pass *p;
    uint32_t migrations;
    struct exchange best;
};

static double pull(const struct layout *l, const double weight[RES_COUNT], uint32_t slot, double sign)
{
    double most = 0;

    for (int r = 0; r < RES_COUNT; r++) {
        double sigma = layout_load_stddev(l, (enum resource)r);
        if (sigma > 0)
            most = fmax(most, sign * weight[r] * (l->norm[r][slot] - l->sum[r] / l->n_on) / sigma);
    }
    return most;
}

/* The host is above the others in some resource, its unit's destination below them, and what keeps the unit
 * from going there alone is want of room, or of headroom. */
static bool wants_room(const struct pass *p, uint32_t unit, uint32_t to)
{
    const struct layout *l = &p->layout;
    const double *weight = p->climb.score.weight;
    enum check check = layout_check(l, unit, to);
    double after = l->norm[RES_MEM][to] + l->unit_demand[RES_MEM][unit] * l->inverse[RES_MEM][to];

    if (!(pull(l, weight, l->unit_slot[unit], 1) > 0) || !(pull(l, weight, to, -1) > 0))
        return false;
    return check == CHECK_RESERVATION_CPU || check == CHECK_RESERVATION_MEM ||
           check == CHECK_SPARE_CAPACITY || check == CHECK_MEMORY || check == CHECK_MEMORY_FREE ||
           (check == CHECK_NONE && after > 1 - l->policy->headroom_percent[RES_MEM] / 100);
}

/* Whether the slot would have room for the unit if the other one were not there. */
static bool fits_without(struct layout *l, uint32_t unit, uint32_t slot, uint32_t other)
{
    const struct host *h = &l->snap->hosts[l->slot_host[slot]];
    struct layout_mark mark;
    bool fits = true;

    layout_try(l, other, l->unit_slot[unit], &mark);
    for (int r = 0; r < RES_COUNT; r++)
        fits = fits && (!(l->unit_reserved[r][unit] > 0) ||
                        l->reserved[r][slot] + l->unit_reserved[r][unit] <= h->capacity[r] + 1e-6);
    fits = fits &&
           (!(l->unit_mem[unit] > 0) || l->mem_taken[slot] + l->unit_mem[unit] <= l->mem_limit[slot] + 1e-6);
    fits = fits && l->unit_phys[unit] <= l->mem_free[slot] + 1e-6;
    layout_undo_in_order(l, &mark);
    return fits;
}

/* Nothing less makes room for the first unit. */
static bool is_needed(struct pass *p, const struct ring *g)
{
    struct layout *l = &p->layout;

    if (!wants_room(p, g->unit[0], g->slot[1]))
        return false;
    return !g->two_for_one || (!fits_without(l, g->unit[0], g->slot[1], g->unit[1]) &&
                               !fits_without(l, g->unit[0], g->slot[1], g->unit[2]));
}

/* By really moving the units. */
static double gain_of(struct pass *p, const struct ring *g)
{
    struct layout *l = &p->layout;
    struct layout_mark marks[RING_MAX];
    double imbalance = 0;

    for (uint32_t i = 0; i < g->n; i++)
        layout_try(l, g->unit[i], ring_to(g, i), &marks[i]);
    for (int r = 0; r < RES_COUNT; r++)
        imbalance += p->climb.score.weight[r] * layout_load_stddev(l, (enum resource)r);
    for (uint32_t i = g->n; i-- > 0;)
        layout_undo_in_order(l, &marks[i]);
    double gain = p->climb.score.imbalance - imbalance;
    for (uint32_t i = 0; i < g->n && p->climb.score.preference; i++)
        gain -= move_preference_cost(p->climb.score.preference, g->unit[i], ring_to(g, i));
    return gain;
}

static void judge(void *to, const struct ring *g, uint32_t wait)
{
    struct brute *b = to;
    struct climb *c = &b->p->climb;
    if (g->n + (wait != IX_NONE) != b->migrations || !is_needed(b->p, g))
        return;
    struct exchange x = {.unit = g->unit[0], .gain = gain_of(b->p, g)};
    if (x.gain < GAIN_LEAST || x.gain < c->score.goodness * b->migrations ||
        (b->best.steps.n > 0 && x.gain <= b->best.gain))
        return;
    if (exchange_order_find(c, g, wait, &x))
        b->best = x;
}

/* Takes the steps, each of which must be allowed when it begins. */
static void take(uint64_t seed, struct pass *p, const struct exchange *x, struct tally *tally)
{
    double before = p->climb.score.imbalance;
    double weight[RES_COUNT] = {p->climb.score.weight[RES_CPU], p->climb.score.weight[RES_MEM]};
    double after = 0;

    for (uint32_t i = 0; i < x->steps.n; i++) {
        enum check check = layout_check(&p->layout, x->steps.unit[i], x->steps.to_slot[i]);
        if (check != CHECK_NONE)
            fail_msg("seed %llu: step %u of an exchange fails the check %d", (unsigned long long)seed, i,
                     (int)check);
        for (uint32_t k = 0; k < i; k++)
            tally->waits += x->steps.unit[k] == x->steps.unit[i];
        climb_apply(&p->climb, &(struct move){.unit = x->steps.unit[i], .to_slot = x->steps.to_slot[i]});
    }
    for (int r = 0; r < RES_COUNT; r++)
        after += weight[r] * layout_load_stddev(&p->layout, (enum resource)r);
    if (!(after < before))
        fail_msg("seed %llu: an exchange takes the imbalance from %.17g to %.17g", (unsigned long long)seed,
                 before, after);
    tally->exchanges++;
    tally->by_number[x->steps.n]++;
}

/* Returns whether an exchange was made. */
static bool compare(uint64_t seed, struct pass *p, struct tally *tally)
{
    struct exchange x;
    struct brute b = {.p = p};

    exchange_find(&p->exchanges, &p->climb, &x);
    for (b.migrations = 2; b.migrations <= EXCHANGE_STEPS_MAX && b.best.steps.n == 0; b.migrations++)
        all_exchanges(&p->layout, judge, &b);
    tally->searches++;
    if (x.steps.n != b.best.steps.n || (x.steps.n > 0 && fabs(x.gain - b.best.gain) > ROUNDING))
        fail_msg("seed %llu: the search finds an exchange of %u migrations that gains %.17g, brute force one "
                 "of %u "
                 "that gains %.17g",
                 (unsigned long long)seed, x.steps.n, x.gain, b.best.steps.n, b.best.gain);
    if (x.steps.n == 0)
        return false;
    take(seed, p, &x, tally);
    return true;
}

static void compare_searches(uint64_t seed, const struct cluster_options *o, struct tally *tally)
{
    struct arena a = {0};
    struct rng r = {.state = seed};
    struct snapshot snap;
    struct policy policy;
    struct pass p;

    random_cluster(&r, o, &a, &snap);
    random_policy(&r, &policy);
    pass_prepare(&p, &snap, &policy, true, IX_NONE, &a);
    if (o->evacuate)
        plan_correct(&p);
    for (int64_t level = LAYOUT_LEVEL_FIRST; level <= policy.migration_threshold; level++) {
        climb_set_level(&p.climb, level);
        for (;;) {
            struct move m = climb_step(&p.climb);
            if (m.unit != IX_NONE)
                climb_apply(&p.climb, &m);
            else if (!move_score_lower_goodness(&p.climb.score) && !compare(seed, &p, tally))
                break;
        }
    }
    arena_release(&a);
}

static struct tally run(const struct cluster_options *o, unsigned clusters)
{
    struct tally t = {0};

    for (unsigned i = 0; i < test_clusters(clusters); i++)
        compare_searches(test_seed() + i, o, &t);
    (void)printf(
        "%u searches, %u exchanges: %u of two, %u of three, %u of four migrations; in %u a VM waits\n",
        t.searches, t.exchanges, t.by_number[2], t.by_number[3], t.by_number[4], t.waits);
    return t;
}

static void test_four_hosts(void **state)
{
    (void)state;
    struct tally t = run(&(struct cluster_options){.hosts_max = 4, .vms_max = 12, .full = true}, 10000);

    if (test_is_usual())
        assert_true(t.by_number[2] > 50 && t.by_number[3] > 10);
}

static void test_mixed_hosts_and_rules(void **state)
{
    (void)state;
    (void)run(
        &(struct cluster_options){
            .hosts_max = 5, .vms_max = 20, .mixed_hosts = true, .rules = true, .tight = true, .full = true},
        1000);
}

static void test_failures_and_rates(void **state)
{
    (void)state;
    (void)run(&(struct cluster_options){.hosts_max = 5,
                                        .vms_max = 20,
                                        .rules = true,
                                        .evacuate = true,
                                        .in_flight = true,
                                        .pairs = true,
                                        .full = true,
                                        .ha = true,
                                        .scores = true},
              1000);
}

static bool near(double x, double y)
{
    return fabs(x - y) <= 1e-9 * (1 + fabs(x) + fabs(y));
}

static void compare_worth(uint64_t seed, const struct migration_worth *one,
                          const struct migration_worth *move)
{
    bool same = near(one->gain, move->gain) && near(one->loss, move->loss) && near(one->worse, move->worse) &&
                near(one->stable_s, move->stable_s) && near(one->duration_s, move->duration_s);

    for (int r = 0; r < RES_COUNT; r++)
        same = same && near(one->cost[r], move->cost[r]) && near(one->benefit[r], move->benefit[r]) &&
               near(one->worse_of[r], move->worse_of[r]) && near(one->more_of[r], move->more_of[r]);
    if (!same)
        fail_msg("seed %llu: an exchange of one move is worth %g at a loss of %g and worse by %g, the move "
                 "%g, %g, %g",
                 (unsigned long long)seed, one->gain, one->loss, one->worse, move->gain, move->loss,
                 move->worse);
}

/* The sums of all slots, to the last digit. */
static uint64_t sums_of(const struct migration_cost *costs)
{
    uint64_t hash = 1;

    for (uint32_t i = 0; i <= costs->l->n_slots; i++) {
        const double sums[] = {costs->slot[RES_CPU][i].load,
                               costs->slot[RES_MEM][i].load,
                               costs->slot[RES_CPU][i].variance,
                               costs->slot[RES_MEM][i].min,
                               costs->slot[RES_CPU][i].max,
                               costs->slot_shortage[RES_CPU][i].expected,
                               costs->slot_shortage[RES_MEM][i].today,
                               costs->slot_stable[i]};
        for (size_t k = 0; k < sizeof sums / sizeof *sums; k++) {
            uint64_t bits;
            memcpy(&bits, &sums[k], sizeof bits);
            hash = (hash ^ bits) * 1099511628211u;
        }
    }
    return hash;
}

/* An exchange of one move is worth what the move is; and whatever is tried leaves no trace. */
static void test_worth(void **state)
{
    const struct cluster_options o = {
        .hosts_max = 6, .vms_max = 40, .mixed_hosts = true, .tight = true, .pairs = true, .deep_pools = true};

    (void)state;
    for (unsigned i = 0; i < test_clusters(500); i++) {
        struct arena a = {0};
        struct rng r = {.state = test_seed() + i};
        struct snapshot snap;
        struct policy policy;
        struct pass p;
        random_cluster(&r, &o, &a, &snap);
        random_policy(&r, &policy);
        pass_prepare(&p, &snap, &policy, true, IX_NONE, &a);
        const struct layout *l = &p.layout;
        uint64_t before = sums_of(&p.migration_cost);
        for (int k = 0; k < 20 && l->n_units > 0 && l->n_on > 1; k++) {
            struct exchange_steps steps = {.n = 1 + rng_below(&r, EXCHANGE_STEPS_MAX)};
            struct migration_worth of_all;
            struct migration_worth of_move;
            bool on_hosts = true;
            for (uint32_t m = 0; m < steps.n; m++) {
                steps.unit[m] = rng_below(&r, l->n_units);
                steps.to_slot[m] = rng_below(&r, l->n_on);
                on_hosts = on_hosts && l->unit_slot[steps.unit[m]] < l->n_on;
            }
            if (!on_hosts || l->unit_slot[steps.unit[0]] == steps.to_slot[0])
                continue;
            exchange_cost_worth(&p.migration_cost, &steps, &of_all);
            assert_true(sums_of(&p.migration_cost) == before);
            steps.n = 1;
            exchange_cost_worth(&p.migration_cost, &steps, &of_all);
            migration_cost_worth(&p.migration_cost, steps.unit[0], steps.to_slot[0], &of_move);
            compare_worth(test_seed() + i, &of_all, &of_move);
        }
        arena_release(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worth),
        cmocka_unit_test(test_four_hosts),
        cmocka_unit_test(test_mixed_hosts_and_rules),
        cmocka_unit_test(test_failures_and_rates),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
