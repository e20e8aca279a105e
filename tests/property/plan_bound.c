/* No plan ends below the bound for its number of moves: compared with all plans of small clusters. */
#include "core/balance/plan_bound.h"
#include "core/pass.h"
#include "core/plan/pass_state.h"
#include "core/plan/plan.h"
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define MOVES_MAX 6 /* three exchanges of two VMs */
#define THINGS_MAX 64
#define ROUNDING 1e-9

/* VMs that move as a whole. */
struct thing {
    uint32_t slot, vms;
    double load[RES_COUNT];
    const uint64_t *allowed;
};

/* The best of all plans. */
struct brute {
    const struct layout *l;
    struct thing things[THINGS_MAX];
    uint32_t n;
    double norm[RES_COUNT][8];
    double weight[RES_COUNT];
    double best[MOVES_MAX + 1]; /* imbalance, by the number of VMs that move at most */
};

static double imbalance(const struct brute *b)
{
    uint32_t n = b->l->n_on;
    double sum = 0;

    for (int r = 0; r < RES_COUNT; r++) {
        double mean = 0;
        double squares = 0;
        for (uint32_t i = 0; i < n; i++)
            mean += b->norm[r][i] / n;
        for (uint32_t i = 0; i < n; i++)
            squares += (b->norm[r][i] - mean) * (b->norm[r][i] - mean) / n;
        sum += b->weight[r] * sqrt(squares);
    }
    return sum;
}

static void shift(struct brute *b, const struct thing *t, uint32_t slot, double sign)
{
    for (int r = 0; r < RES_COUNT && slot < b->l->n_on; r++)
        b->norm[r][slot] += sign * t->load[r] * b->l->inverse[r][slot];
}

/* All ways to move the things from `first` on, with so many VMs moved already. */
static void try_all(struct brute *b, uint32_t first, uint32_t moved, uint32_t most)
{
    b->best[moved] = fmin(b->best[moved], imbalance(b));
    for (uint32_t k = first; k < b->n; k++) {
        const struct thing *t = &b->things[k];
        if (moved + t->vms > most)
            continue;
        for (uint32_t to = 0; to < b->l->n_on; to++) {
            if (to == t->slot || (t->allowed && !bitmap_has(t->allowed, b->l->slot_host[to])))
                continue;
            shift(b, t, t->slot, -1);
            shift(b, t, to, 1);
            try_all(b, k + 1, moved + t->vms, most);
            shift(b, t, to, -1);
            shift(b, t, t->slot, 1);
        }
    }
}

static void add_vms(struct brute *b, const struct pass *p)
{
    for (uint32_t v = 0; v < p->snap->n_vms; v++) {
        uint32_t u = b->l->vm_unit[v];
        if (u == IX_NONE || b->l->in_flight[v] || b->l->unit_slot[u] == b->l->outside || b->n == THINGS_MAX)
            continue;
        b->things[b->n++] = (struct thing){
            b->l->unit_slot[u], 1, {p->entitlement[RES_CPU][v], p->entitlement[RES_MEM][v]}, NULL};
    }
}

static void add_units(struct brute *b)
{
    const struct layout *l = b->l;

    for (uint32_t u = 0; u < l->n_units && b->n < THINGS_MAX; u++)
        if (l->unit_held[u] == CHECK_NONE)
            b->things[b->n++] = (struct thing){l->unit_slot[u],
                                               l->unit_from[u + 1] - l->unit_from[u],
                                               {l->unit_demand[RES_CPU][u], l->unit_demand[RES_MEM][u]},
                                               l->unit_allowed[u]};
}

struct tally {
    unsigned compared, tight; /* tight: the bound is within a tenth of the best plan */
    unsigned raised;          /* rules raise the bound */
    unsigned known;           /* the number of moves to a target has a bound */
};

static void compare(uint64_t seed, struct plan_bound *bound, struct brute *b, uint32_t most, struct tally *t)
{
    for (uint32_t k = 0; k <= MOVES_MAX; k++)
        b->best[k] = NO_LIMIT;
    try_all(b, 0, 0, most);
    for (uint32_t k = 0; k <= most; k++) {
        b->best[k] = fmin(b->best[k], k > 0 ? b->best[k - 1] : NO_LIMIT);
        double least = plan_bound_imbalance(bound, b->weight, k);
        if (least > b->best[k] + ROUNDING)
            fail_msg("seed %llu: %u moves reach %.9f, the bound says %.9f", (unsigned long long)seed, k,
                     b->best[k], least);
        t->compared++;
        t->tight += least >= 0.9 * b->best[k];
    }
    for (uint32_t k = 0; k <= most; k++) {
        double target = b->best[k] + ROUNDING;
        uint32_t least = plan_bound_vms(bound, b->weight, target, most);
        if (least > k)
            fail_msg("seed %llu: %u moves reach %.9f, but %u are said to be needed", (unsigned long long)seed,
                     k, target, least);
        t->known += least > 1;
    }
}

static void compare_bounds(uint64_t seed, const struct cluster_options *o, uint32_t most, struct tally *t)
{
    struct arena a = {0};
    struct rng r = {.state = seed};
    struct plan_bound any;
    struct plan_bound ruled;
    struct snapshot snap;
    struct policy policy;
    struct pass p;

    random_cluster(&r, o, &a, &snap);
    random_policy(&r, &policy);
    pass_prepare(&p, &snap, &policy, true, IX_NONE, &a);
    plan_bound_begin(&any, &p.layout, p.entitlement, false, &a);
    plan_bound_begin(&ruled, &p.layout, p.entitlement, true, &a);
    struct brute b = {.l = &p.layout};
    layout_weights(&p.layout, b.weight);
    for (int k = 0; k < RES_COUNT; k++)
        for (uint32_t i = 0; i < p.layout.n_on; i++)
            b.norm[k][i] = p.layout.norm[k][i];
    struct brute units = b;
    add_vms(&b, &p);
    add_units(&units);
    if (p.layout.n_on > 0) {
        compare(seed, &any, &b, most, t);
        compare(seed, &ruled, &units, most, t);
        t->raised += plan_bound_imbalance(&ruled, b.weight, most) >
                     plan_bound_imbalance(&any, b.weight, most) + ROUNDING;
    }
    arena_release(&a);
}

/* The plan says what the bound says of the moves that it makes. */
static void check_plan(uint64_t seed, const struct cluster_options *o, unsigned *told)
{
    struct arena a = {0};
    struct rng r = {.state = seed};
    struct snapshot snap;
    struct policy policy;
    struct plan plan;
    struct err err = {0};

    random_cluster(&r, o, &a, &snap);
    random_policy(&r, &policy);
    policy.bound = true;
    assert_int_equal(pass_run(&snap, &policy, &a, &plan, &err), 0);
    const struct plan_bound_facts *b = plan.stats.bound;
    if (b) {
        assert_true(b->least <= b->least_ruled && b->least_ruled <= b->imbalance + ROUNDING);
        assert_true(!b->reaches || b->vms_least <= b->vms);
        assert_true(plan.n_recommendations > 0 || b->imbalance == plan.before.imbalance);
        *told += 1;
    }
    arena_release(&a);
}

static void test_all_plans(void **state)
{
    static const struct {
        struct cluster_options of;
        uint32_t moves;
        unsigned clusters;
    } cases[] = {
        {{.hosts_max = 4, .vms_max = 12}, 3, 400},
        {{.hosts_max = 4,
          .vms_max = 12,
          .mixed_hosts = true,
          .rules = true,
          .evacuate = true,
          .in_flight = true},
         3,
         400},
        {{.hosts_max = 4, .vms_max = 12, .mixed_hosts = true, .full = true}, MOVES_MAX, 10},
    };
    struct tally t = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned k = 0; k < test_clusters(cases[i].clusters); k++)
            compare_bounds(test_seed() + k, &cases[i].of, cases[i].moves, &t);
    (void)printf("%u bounds, %u within a tenth; rules raise %u; %u targets need more than a move\n",
                 t.compared, t.tight, t.raised, t.known);
    if (test_is_usual())
        assert_true(t.tight > t.compared / 3 && t.raised > 10 && t.known > 100);
}

static void test_plans(void **state)
{
    const struct cluster_options o = {
        .hosts_max = 8, .vms_max = 40, .mixed_hosts = true, .rules = true, .tight = true, .in_flight = true};
    unsigned told = 0;

    (void)state;
    for (unsigned i = 0; i < test_clusters(500); i++)
        check_plan(test_seed() + i, &o, &told);
    if (test_is_usual())
        assert_true(told > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_plans),
        cmocka_unit_test(test_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
