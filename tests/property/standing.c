/* Recommendations hold still: with nothing but noise in the demand, a move for balance that the last pass
 * recommended is made again wherever it passes all checks when its turn comes. Where load really changes, or
 * few moves may be made, the plan is about as good as one without what stands. Mandatory moves are the same
 * whatever stands, and what is too old does not count. */
#include "core/pass.h"
#include "core/plan/pass_state.h"
#include "core/preferred_rules.h"
#include "load.h"
#include "oracle.h"
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#define PASSES 4
#define NOISE 0.02 /* of each VM's demand, either way */
#define MARGIN 0.1
#define MARGIN_OF_PLAN 0.15
#define ROUNDING 1e-9
#define OLD_S (12 * 3600)

struct tally {
    unsigned stood, gone, gone_free; /* moves for balance that the next pass repeats, or not; of free plans */
    unsigned moves, moves_free;
    double fall, fall_free; /* of the imbalance */
    unsigned over, over_free;
};

/* By host VMs demand as much as before, two thirds of it or a third. */
static void change_load(struct rng *r, struct snapshot *s, struct arena *a)
{
    double *by = arena_array(a, double, s->n_hosts);

    for (uint32_t i = 0; i < s->n_hosts; i++)
        by[i] = (1 + (double)rng_below(r, 3)) / 3;
    for (uint32_t v = 0; v < s->n_vms; v++)
        if (s->vms[v].host != IX_NONE)
            s->vms[v].is.demand[RES_CPU] *= by[s->vms[v].host];
}

static void make_noise(struct rng *r, const struct snapshot *calm, struct snapshot *s)
{
    for (uint32_t v = 0; v < s->n_vms; v++) {
        struct vm_facts *is = &s->vms[v].is;
        double by = 1 + NOISE * (2 * rng_unit(r) - 1);

        *is = calm->vms[v].is;
        is->demand[RES_CPU] *= by;
        if (is->state == VM_ON)
            vm_facts_windows(is);
    }
}

static void let_stand(const struct plan *plan, instant_s since, struct snapshot *s, struct arena *a)
{
    s->standing = arena_array(a, struct pending, plan->n_recommendations);
    s->n_standing = plan->n_recommendations;
    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        const struct recommendation *x = &plan->recommendations[i];

        s->standing[i] = (struct pending){.action = x->action,
                                          .vm = x->vm,
                                          .from = x->from,
                                          .to = x->to,
                                          .host = x->host,
                                          .reason = x->reason,
                                          .group = x->group,
                                          .since = since};
    }
}

static bool is_again(const struct recommendation *x, const struct plan *then)
{
    for (uint32_t i = 0; i < then->n_recommendations; i++)
        if (then->recommendations[i].vm == x->vm && then->recommendations[i].to == x->to)
            return true;
    return false;
}

static unsigned count_gone(const struct plan *before, const struct plan *then, unsigned *stood)
{
    unsigned gone = 0;

    for (uint32_t i = 0; i < before->n_recommendations; i++)
        if (oracle_is_balancing(&before->recommendations[i])) {
            bool again = is_again(&before->recommendations[i], then);
            gone += !again;
            *stood += again;
        }
    return gone;
}

static unsigned over(const struct plan *plan)
{
    unsigned n = 0;

    for (uint32_t i = 0; i < plan->after.n_hosts; i++)
        for (int r = 0; r < RES_COUNT; r++)
            n += plan->after.hosts[i].n[r] > 1 + ROUNDING;
    return n;
}

/* ---- by brute force: no standing move is passed over ---- */

static double gain_of(struct pass *p, uint32_t unit, uint32_t slot)
{
    struct move_trial t;

    move_trial_begin(&p->layout, p->climb.score.weight, unit, &t);
    return move_score_gain(&p->climb.score, &t, slot);
}

/* A standing single move that the plan leaves out when its turn has come passes at no level that has anything
 * to do. */
static void check_left_out(uint64_t seed, struct pass *p, const struct pending *x)
{
    struct move_score *score = &p->climb.score;
    const struct layout *l = &p->layout;
    uint32_t unit = l->vm_unit[x->vm];
    uint32_t to = l->host_slot[x->to];

    for (int64_t level = LAYOUT_LEVEL_FIRST; level <= p->policy.migration_threshold; level++) {
        move_score_set_level(score, l, &p->migration_cost, level);
        move_score_refresh(score, l, &p->migration_cost);
        if (l->unit_held[unit] != CHECK_NONE ||
            layout_imbalance(l) <= layout_target(&p->policy, l->n_on, level))
            continue;
        double gain = gain_of(p, unit, to);
        if (gain >= score->goodness && move_score_check(score, unit, to, gain) == CHECK_NONE)
            fail_msg("seed %llu: the standing move of %s gains %.9f, passes at level %d and is left out",
                     (unsigned long long)seed, p->snap->vms[x->vm].is.id, gain, (int)level);
    }
}

static bool makes(const struct pass *p, const struct decision *d, const struct pending *x)
{
    return d->stands && d->unit == p->layout.vm_unit[x->vm] && d->to_slot == p->layout.host_slot[x->to];
}

/* The standing ones come first, in their order. n: the first decision for balance. */
static void check_first(uint64_t seed, struct pass *p, const struct pass *made, size_t n)
{
    for (uint32_t i = 0; i < p->snap->n_standing; i++) {
        const struct pending *x = &p->snap->standing[i];
        if (n < made->n_decisions && makes(p, &made->decisions[n], x)) {
            climb_apply(&p->climb, &(struct move){.unit = made->decisions[n].unit,
                                                  .to_slot = made->decisions[n].to_slot});
            n++;
        } else if (x->group == 0 && (x->reason == REASON_BALANCE_CPU || x->reason == REASON_BALANCE_MEM)) {
            check_left_out(seed, p, x);
        }
    }
}

/* Where a limit or a lasting overload leaves other moves out, what stands lacks little of the best: the
 * margin, and what the new plan lacks of one that knows of no standing move, because it prefers their
 * destinations. */
static void check_margin(uint64_t seed, const struct pass *made, const struct snapshot *s, struct arena *a)
{
    struct snapshot without = *s;

    without.n_standing = 0;
    const struct pass *other = preferred_rules_run(&without, &made->policy, IX_NONE, a);
    const struct balance_measure *x = &made->measure;
    const struct balance_measure *y = &other->measure;
    if ((made->end == CHECK_MOVES_MAX || x->over > 0) && y->over <= x->over &&
        y->fall - x->fall > MARGIN_OF_PLAN * fabs(y->fall) + ROUNDING)
        fail_msg("seed %llu: with what stands the imbalance falls by %.6f, without by %.6f",
                 (unsigned long long)seed, x->fall, y->fall);
}

static void check_none_is_passed_over(uint64_t seed, const struct snapshot *s, const struct policy *policy,
                                      struct arena *a)
{
    const struct pass *made = preferred_rules_run(s, policy, IX_NONE, a);
    struct pass *p = arena_new(a, struct pass);

    check_margin(seed, made, s, a);
    pass_prepare(p, s, policy, 0, IX_NONE, a);
    p->layout.moves_are_optional = true;
    p->climb.score.vms_left = UINT32_MAX;
    for (uint32_t u = 0; made->held_back && u < p->layout.n_units; u++)
        if (made->held_back[u])
            p->layout.unit_held[u] = CHECK_VM_HELD_BACK;
    if (made->end == CHECK_MOVES_MAX || made->anew)
        return;
    size_t first = 0;
    for (; first < made->n_decisions && made->decisions[first].priority == PRIORITY_MANDATORY; first++)
        climb_apply(&p->climb, &(struct move){.unit = made->decisions[first].unit,
                                              .to_slot = made->decisions[first].to_slot});
    check_first(seed, p, made, first);
}

static void check(uint64_t seed, const struct cluster_options *o, bool changes, struct tally *t)
{
    struct arena a = {0};
    struct rng r = {.state = seed};
    struct snapshot calm;
    struct policy policy;
    struct plan last, free_last;
    struct err err = {0};
    unsigned ignored = 0;

    random_cluster(&r, o, &a, &calm);
    policy_default(&policy);
    if (changes && seed % 2 == 0)
        policy.moves_max = 1 + rng_below(&r, calm.n_hosts);
    flat_load(&calm);
    assert_int_equal(pass_run(&calm, &policy, &a, &last, &err), 0);
    free_last = last;
    for (int i = 0; i < PASSES; i++) {
        struct snapshot *s = arena_new(&a, struct snapshot);
        struct plan still, free_plan;

        *s = calm;
        s->vms = arena_array(&a, struct vm, calm.n_vms);
        memcpy(s->vms, calm.vms, calm.n_vms * sizeof *s->vms);
        s->time += (i + 1) * policy.interval_s;
        if (changes && i == PASSES - 1)
            change_load(&r, &calm, &a);
        make_noise(&r, &calm, s);
        assert_int_equal(pass_run(s, &policy, &a, &free_plan, &err), 0);
        t->gone_free += count_gone(&free_last, &free_plan, &ignored);
        free_last = free_plan;
        struct snapshot *with = arena_new(&a, struct snapshot);
        *with = *s;
        let_stand(&last, calm.time, with, &a);
        assert_int_equal(pass_run(with, &policy, &a, &still, &err), 0);
        t->gone += count_gone(&last, &still, &t->stood);
        check_none_is_passed_over(seed, with, &policy, &a);
        t->moves += still.n_recommendations;
        t->moves_free += free_plan.n_recommendations;
        t->fall += still.before.imbalance - still.after.imbalance;
        t->fall_free += free_plan.before.imbalance - free_plan.after.imbalance;
        t->over += over(&still);
        t->over_free += over(&free_plan);
        last = still;
    }
    arena_release(&a);
}

static void check_all(const struct cluster_options *o, bool changes, unsigned clusters, struct tally *ret)
{
    struct tally t = {0};

    for (unsigned i = 0; i < clusters; i++)
        check(test_seed() + i, o, changes, &t);
    (void)printf("%u moves stood, %u gone; %u gone where none stands; moves %u and %u, imbalance falls by "
                 "%.3f and %.3f, %u and %u loads above 1\n",
                 t.stood, t.gone, t.gone_free, t.moves, t.moves_free, t.fall, t.fall_free, t.over,
                 t.over_free);
    *ret = t;
    if (!test_is_usual())
        return;
    assert_true(t.stood > clusters / 3 && t.gone * 2 < t.gone_free);
    assert_true(t.fall > 0.95 * t.fall_free && t.over <= t.over_free + t.over_free / 50 + 1);
}

static void test_moves_hold_still(void **state)
{
    struct tally t;

    (void)state;
    check_all(&(struct cluster_options){.hosts_max = 9, .vms_max = 60, .mixed_hosts = true}, false,
              test_clusters(500), &t);
}

/* Of many hosts, another one is nearly always clearly better for a VM by itself. */
static void test_moves_of_many_hosts_hold_still(void **state)
{
    struct tally t;

    (void)state;
    check_all(&(struct cluster_options){.hosts_max = 80, .vms_max = 600, .mixed_hosts = true}, false,
              (test_clusters(480) + 39) / 40, &t);
    if (test_is_usual())
        assert_true(t.gone * 8 < t.stood);
}

static void test_changes_are_followed(void **state)
{
    struct tally t;

    (void)state;
    check_all(&(struct cluster_options){.hosts_max = 12, .vms_max = 90, .mixed_hosts = true}, true,
              test_clusters(300), &t);
}

static void test_exchanges_hold_still(void **state)
{
    struct tally t;

    (void)state;
    check_all(
        &(struct cluster_options){
            .hosts_max = 6, .vms_max = 40, .mixed_hosts = true, .tight = true, .full = true},
        false, test_clusters(500), &t);
}

/* ---- mandatory moves ---- */

static bool is_same(const struct recommendation *x, const struct recommendation *y)
{
    return x->action == y->action && x->vm == y->vm && x->from == y->from && x->to == y->to &&
           x->host == y->host && x->reason == y->reason && x->priority == y->priority;
}

/* The mandatory ones of the one plan that the other one lacks. */
static void check_mandatory(uint64_t seed, const struct plan *plan, const struct plan *other)
{
    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        const struct recommendation *x = &plan->recommendations[i];
        uint32_t k = 0;
        while (k < other->n_recommendations && !is_same(x, &other->recommendations[k]))
            k++;
        if (x->priority == PRIORITY_MANDATORY && k == other->n_recommendations)
            fail_msg("seed %llu: what stands for balance changes a mandatory move of %s",
                     (unsigned long long)seed, plan->snap->vms[x->vm].is.id);
    }
}

/* Any moves, for balance, as if a pass had recommended them. */
static void let_any_stand(struct rng *r, instant_s since, struct snapshot *s, struct arena *a)
{
    s->standing = arena_array(a, struct pending, s->n_vms);
    for (uint32_t v = 0; v < s->n_vms; v++)
        if (s->vms[v].host != IX_NONE && rng_below(r, 2) == 0)
            s->standing[s->n_standing++] =
                (struct pending){.action = ACTION_MIGRATE,
                                 .vm = v,
                                 .from = s->vms[v].host,
                                 .to = (uint32_t)rng_below(r, s->n_hosts),
                                 .host = IX_NONE,
                                 .reason = rng_below(r, 3) == 0 ? REASON_EXCHANGE : REASON_BALANCE_CPU,
                                 .group = (uint32_t)rng_below(r, 3),
                                 .since = since};
}

static void check_any(uint64_t seed, unsigned *mandatory)
{
    struct arena a = {0};
    struct rng r = {.state = seed};
    struct snapshot s, with;
    struct policy policy;
    struct plan plan, other;
    struct err err = {0};

    random_cluster(&r,
                   &(struct cluster_options){.hosts_max = 9,
                                             .vms_max = 50,
                                             .mixed_hosts = true,
                                             .rules = true,
                                             .tight = true,
                                             .evacuate = true,
                                             .ha = seed % 2 == 0},
                   &a, &s);
    for (uint32_t i = 0; i < s.n_rules;
         i++) /* which preferred rules are kept depends on the moves for balance */
        s.rules[i].is.mandatory = true;
    policy_default(&policy);
    assert_int_equal(pass_run(&s, &policy, &a, &plan, &err), 0);
    with = s;
    let_any_stand(&r, s.time - OLD_S + 1, &with, &a);
    assert_int_equal(pass_run(&with, &policy, &a, &other, &err), 0);
    check_mandatory(seed, &plan, &other);
    check_mandatory(seed, &other, &plan);
    for (uint32_t i = 0; i < with.n_standing; i++)
        with.standing[i].since = rng_below(&r, 2) == 0 ? s.time - OLD_S : s.time + 1;
    assert_int_equal(pass_run(&with, &policy, &a, &other, &err), 0);
    assert_int_equal(other.n_recommendations, plan.n_recommendations);
    for (uint32_t i = 0; i < plan.n_recommendations; i++) {
        assert_true(is_same(&plan.recommendations[i], &other.recommendations[i]));
        *mandatory += plan.recommendations[i].priority == PRIORITY_MANDATORY;
    }
    arena_release(&a);
}

static void test_mandatory_moves_come_first(void **state)
{
    unsigned mandatory = 0;

    (void)state;
    for (unsigned i = 0; i < test_clusters(1000); i++)
        check_any(test_seed() + i, &mandatory);
    (void)printf("%u mandatory moves\n", mandatory);
    if (test_is_usual())
        assert_true(mandatory > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moves_hold_still), cmocka_unit_test(test_moves_of_many_hosts_hold_still),
        cmocka_unit_test(test_changes_are_followed), cmocka_unit_test(test_exchanges_hold_still),
        cmocka_unit_test(test_mandatory_moves_come_first)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
