/* A deep search is compared with the best of all plans of up to three moves, exchanges included: it is never
 * better, never worse than the greedy plan, and mostly as good.
 *
 * Every step passes the product's own checks when it is made. The minimum goodness is off, because what the
 * climb asks of a move depends on the moves before it. */
#include "all_exchanges.h"
#include "core/balance/deep_search.h"
#include "core/pass.h"
#include "core/plan/pass_state.h"
#include "core/plan/plan.h"
#include "core/rules/rules.h"
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define MOVES_MAX 3
#define STATES_MAX 20000
#define BUDGET 200000
#define ROUNDING 1e-9
#define SHOWN 1e-4 /* a smaller difference of imbalance does not count */

/* How good a plan is. The class counts first: overloads, imbalance above the target, not balanced. */
struct worth {
    uint32_t over, unreached, vms;
    double imbalance, mb;
};

struct search {
    struct pass *p;
    struct worth now;            /* vms and mb of the present plan */
    uint64_t states[STATES_MAX]; /* seen with moves left, so that each is left once */
    uint32_t n_states;
    uint32_t class_over, class_unreached; /* of the best plans, of which the least is kept: */
    double imbalance, mb;                 /* mb of those that move the fewest VMs */
    uint32_t vms;
    unsigned plans;
};

/* ---- all plans ---- */

static bool is_level_balanced(const struct pass *p, int64_t level)
{
    const struct layout *l = &p->layout;

    return layout_imbalance(l) <= layout_target(&p->policy, l->n_on, level) &&
           !layout_has_outlier(l, level) && !layout_lacks_headroom(l);
}

static void measure(struct search *s)
{
    const struct layout *l = &s->p->layout;
    struct worth *now = &s->now;

    now->over = l->over[RES_CPU] + l->over[RES_MEM];
    now->imbalance = layout_imbalance(l);
    now->unreached = (now->imbalance > layout_plan_target(l) ? 2u : 0u) +
                     (is_level_balanced(s->p, s->p->policy.migration_threshold) ? 0u : 1u);
    s->plans++;
    bool better =
        now->over != s->class_over ? now->over < s->class_over : now->unreached < s->class_unreached;
    bool same = now->over == s->class_over && now->unreached == s->class_unreached;
    if (!better && !same)
        return;
    bool fewest = better || now->vms < s->vms || (now->vms == s->vms && now->mb < s->mb);
    s->class_over = now->over;
    s->class_unreached = now->unreached;
    s->imbalance = better ? now->imbalance : fmin(s->imbalance, now->imbalance);
    s->vms = fewest ? now->vms : s->vms;
    s->mb = fewest ? now->mb : s->mb;
}

/* Whether the move or exchange passes at a level that has something to mend. */
static bool passes(struct search *s, const struct proposed *is)
{
    struct pass *p = s->p;
    struct exchange x;

    for (int64_t level = LAYOUT_LEVEL_FIRST; level <= p->policy.migration_threshold; level++) {
        if (is_level_balanced(p, level))
            continue;
        move_score_set_level(&p->climb.score, &p->layout, &p->migration_cost, level);
        if (deep_search_passes(&p->climb, is, &x))
            return true;
    }
    return false;
}

/* Whether the state has been seen. Units that have moved away and back are held, and so never come here. */
static bool is_seen(struct search *s)
{
    const struct layout *l = &s->p->layout;
    uint64_t state = 1;

    for (uint32_t u = 0; u < l->n_units; u++)
        state = state * 5 + (l->unit_slot[u] < l->n_on ? l->unit_slot[u] : l->n_on);
    for (uint32_t i = 0; i < s->n_states; i++)
        if (s->states[i] == state)
            return true;
    assert_true(s->n_states < STATES_MAX);
    s->states[s->n_states++] = state;
    return false;
}

static void try_all(struct search *s, uint32_t left);

/* Makes it, and tries all that may follow. */
static void follow(struct search *s, const struct proposed *is, uint32_t left)
{
    struct layout *l = &s->p->layout;
    struct worth before = s->now;
    uint32_t from[EXCHANGE_STEPS_MAX];

    for (uint32_t i = 0; i < is->steps.n; i++) {
        uint32_t u = is->steps.unit[i];
        from[i] = l->unit_slot[u];
        s->now.vms += l->unit_from[u + 1] - l->unit_from[u];
        s->now.mb += l->unit_backed[u];
        climb_apply(&s->p->climb, &(struct move){.unit = u, .to_slot = is->steps.to_slot[i]});
    }
    uint32_t vms = s->now.vms - before.vms;
    measure(s);
    if (vms < left && !is_level_balanced(s->p, s->p->policy.migration_threshold) && !is_seen(s))
        try_all(s, left - vms);
    for (uint32_t i = is->steps.n; i-- > 0;)
        climb_take_back(&s->p->climb, is->steps.unit[i], from[i]);
    s->now = before;
}

/* The exchanges that pass, listed before any is made. */
struct listed {
    struct search *s;
    uint32_t left;
    struct proposal items;
    struct arena a;
};

static void list(void *to, const struct ring *g, uint32_t wait)
{
    struct listed *all = to;
    struct pass *p = all->s->p;
    struct exchange x = {.unit = g->unit[0]};

    if (g->n + (wait != IX_NONE) > all->left)
        return;
    move_score_set_level(&p->climb.score, &p->layout, &p->migration_cost, p->policy.migration_threshold);
    if (!exchange_order_find(&p->climb, g, wait, &x))
        return;
    struct proposed is = {.steps = x.steps, .unit = x.unit};
    if (passes(all->s, &is))
        deep_search_add(&all->items, &is, &all->a);
}

static void try_all(struct search *s, uint32_t left)
{
    const struct layout *l = &s->p->layout;
    struct listed all = {.s = s, .left = left};

    s->p->climb.score.vms_left = left;
    for (uint32_t u = 0; u < l->n_units; u++)
        for (uint32_t to = 0; to < l->n_on && l->unit_held[u] == CHECK_NONE; to++) {
            const struct proposed is = {.unit = u, .steps = {1, {u}, {to}}};
            if (to != l->unit_slot[u] && passes(s, &is))
                deep_search_add(&all.items, &is, &all.a);
        }
    all_exchanges(l, list, &all);
    for (uint32_t i = 0; i < all.items.n; i++)
        follow(s, &all.items.items[i], left);
    arena_release(&all.a);
}

/* A pass up to where the moves for balance begin. */
static struct pass *begin(const struct snapshot *snap, const struct policy *policy, struct arena *a)
{
    struct pass *p = arena_new(a, struct pass);

    pass_prepare(p, snap, policy, RULES_PREFERRED, IX_NONE, a);
    plan_correct(p);
    quarantine_empty_hosts(p);
    return p;
}

/* The best of all plans. */
static void search_all(struct pass *p, struct search *s)
{
    *s = (struct search){.p = p, .class_over = UINT32_MAX};
    measure(s);
    uint64_t left = plan_moves_left(p);
    if (p->policy.optional_moves && left > 0 && !is_level_balanced(p, p->policy.migration_threshold))
        try_all(s, (uint32_t)left);
}

/* ---- the comparison ---- */

struct tally {
    unsigned clusters, open, best, greedy_best;
};

static struct worth worth_of(const struct pass *p)
{
    const struct balance_measure *m = &p->measure;

    return (struct worth){m->over, (m->above ? 2u : 0u) + (m->uneven ? 1u : 0u), m->vms, m->imbalance, m->mb};
}

static void say(const char *who, const struct worth *w)
{
    (void)fprintf(stderr, "%s: %u overloads, unreached %u, %u VMs, imbalance %.9f, %.1f MB\n", who, w->over,
                  w->unreached, w->vms, w->imbalance, w->mb);
}

/* Whether the first plan is better, by more than a difference of imbalance of `least`. */
static bool is_better(const struct worth *x, const struct worth *than, double least)
{
    if (x->over != than->over || x->unreached != than->unreached)
        return x->over != than->over ? x->over < than->over : x->unreached < than->unreached;
    if (x->unreached > 0)
        return x->imbalance < than->imbalance - least;
    return x->vms != than->vms ? x->vms < than->vms : x->mb < than->mb - 1;
}

/* However many moves a search has made and taken back, its layout is that of its plan: each host has the free
 * memory that the moves leave. */
static void check_layout(uint64_t seed, struct pass *p, const struct pass *greedy, struct arena *a)
{
    struct layout *l = &p->layout;
    double *free_mb = arena_array(a, double, (size_t)l->n_slots + 1);
    const struct deep_goal goal = {(uint32_t)plan_moves_left(p), layout_plan_target(l),
                                   p->policy.migration_threshold};
    struct proposal from, found;

    uint32_t *at = arena_array(a, uint32_t, (size_t)l->n_units + 1);
    for (uint32_t u = 0; u < l->n_units; u++)
        at[u] = l->unit_slot[u];
    for (uint32_t i = 0; i < l->n_slots; i++)
        free_mb[i] = l->mem_free[i];
    plan_moves_for_balance(greedy, &from);
    deep_search(&p->climb, &p->exchanges, &goal, &from, a, &found);
    for (uint32_t i = 0; i < found.n; i++)
        for (uint32_t k = 0; k < found.items[i].steps.n; k++) {
            uint32_t u = found.items[i].steps.unit[k];
            free_mb[at[u]] += l->unit_backed[u];
            at[u] = found.items[i].steps.to_slot[k];
            free_mb[at[u]] -= l->unit_phys[u];
        }
    for (uint32_t i = 0; i < l->n_on && found.n > 0; i++)
        if (l->mem_free[i] < NO_LIMIT && fabs(l->mem_free[i] - free_mb[i]) > 1e-3)
            fail_msg("seed %llu: after the search a host has %.3f MB free, its plan leaves %.3f",
                     (unsigned long long)seed, l->mem_free[i], free_mb[i]);
}

static void compare(uint64_t seed, const struct cluster_options *o, struct tally *t)
{
    struct arena a = {0};
    struct rng r = {.state = seed};
    struct snapshot snap;
    struct policy policy;
    struct search *s = arena_new(&a, struct search);
    struct pass *greedy = arena_new(&a, struct pass);
    struct pass *deep = arena_new(&a, struct pass);

    random_cluster(&r, o, &a, &snap);
    random_policy(&r, &policy);
    policy.migration_threshold = 2 + (int64_t)(seed % 4);
    policy.min_goodness = false;
    policy.moves_max = MOVES_MAX;
    pass_decide(greedy, &snap, &policy, RULES_PREFERRED, IX_NONE, &a);
    policy.search = SEARCH_DEEP;
    policy.search_budget = BUDGET;
    pass_decide(deep, &snap, &policy, RULES_PREFERRED, IX_NONE, &a);
    if (!greedy->measure.known) {
        arena_release(&a);
        return;
    }
    search_all(begin(&snap, &policy, &a), s);
    check_layout(seed, begin(&snap, &policy, &a), greedy, &a);
    const struct worth least = {s->class_over, s->class_unreached, s->vms, s->imbalance, s->mb};
    const struct worth of_greedy = worth_of(greedy), of_deep = worth_of(deep);
    if (is_better(&of_deep, &least, ROUNDING) || is_better(&of_greedy, &of_deep, SHOWN + ROUNDING)) {
        say("all plans", &least);
        say("greedy", &of_greedy);
        say("deep", &of_deep);
        fail_msg("seed %llu: a deep search is better than the best of %u plans, or worse than greedy",
                 (unsigned long long)seed, s->plans);
    }
    t->clusters++;
    t->open += s->plans > 1;
    t->best += s->plans > 1 && !is_better(&least, &of_deep, SHOWN);
    t->greedy_best += s->plans > 1 && !is_better(&least, &of_greedy, SHOWN);
    arena_release(&a);
}

/* The part of the clusters with moves in which a deep search reaches the best plan, and greedy: .84, .75, .85
 * and .52, .56, .69 of 1,000 clusters of each kind (BALLAST_TEST_CLUSTERS=1000
 * build/tests/property/property-best_plan). With the default budget, 100 times as large, it reached 8 of 10,
 * 8 of 10 and 4 of 5, as with this one, in a minute. */
#define SHARE 0.7

static void run(const struct cluster_options *o)
{
    struct tally t = {0};

    for (unsigned i = 0; i < test_clusters(100); i++)
        compare(test_seed() + i, o, &t);
    (void)printf("%u clusters, %u with moves: a deep search reaches the best plan in %u, greedy in %u\n",
                 t.clusters, t.open, t.best, t.greedy_best);
    if (test_is_usual())
        assert_true(t.open > 10 && t.best >= SHARE * t.open);
}

static void test_plain(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 4, .vms_max = 12});
}

static void test_full(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 4, .vms_max = 12, .full = true});
}

static void test_rules(void **state)
{
    (void)state;
    run(&(struct cluster_options){
        .hosts_max = 4, .vms_max = 12, .mixed_hosts = true, .rules = true, .tight = true});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plain), cmocka_unit_test(test_full),
                                       cmocka_unit_test(test_rules)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
