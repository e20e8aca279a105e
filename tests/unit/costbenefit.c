/* The cost-benefit check, case by case: v1 moves from h1 to h2. */
#include "unit.h"

#include "core/pass.h"
#include "core/plan/pass_state.h"
#include "small_cluster.h"

enum answer { PAYS, COSTS_MORE, WORST_CASE };

static const struct {
    const char *what;
    double mine, beside, there;     /* MHz of v1, of its neighbour, of who is on h2; hosts have 10 GHz */
    double mem_mb, dirty, stable_s; /* of v1 */
    double beside_min, there_max;   /* of the last hour */
    enum answer expected;
} cases[] = {
    {"an overloaded host and an empty one", 4000, 9000, 0, 2048, 10, 3600, 9000, 0, PAYS},
    {"nobody is short of anything", 1000, 2000, 0, 2048, 10, 3600, 2000, 0, COSTS_MORE},
    {"a full host for another", 4000, 9000, 9000, 2048, 10, 3600, 9000, 9000, COSTS_MORE},
    {"too much memory to copy for a little", 500, 9600, 0, 262144, 200, 600, 4000, 0, COSTS_MORE},
    {"the destination may be full within the hour", 4000, 9000, 0, 2048, 10, 600, 2000, 30000, WORST_CASE},
    {"the destination may be full, but it is far worse here", 4000, 20000, 0, 2048, 10, 3600, 20000, 7000,
     PAYS},
    {"a surge that was seen only now", 4000, 9000, 0, 2048, 10, 0, 9000, 0, PAYS},
    {"the worst case is no worse than it is now, only longer", 4000, 9000, 0, 2048, 10, 600, 2000, 8900,
     PAYS},
};

static void prepare(struct small *s, struct pass *p, size_t i)
{
    static const char *const ids[] = {"v1", "v2", "v3"};
    const double demand[] = {cases[i].mine, cases[i].beside, cases[i].there};
    const double mem[] = {cases[i].mem_mb, 1024, 1024};

    small_init(s);
    s->own_windows = true;
    small_host(s, "h1", 10000, 1048576);
    small_host(s, "h2", 10000, 1048576);
    for (int k = 0; k < 3; k++) {
        struct seen_vm *v = small_vm(s, ids[k], k < 2 ? "h1" : "h2", demand[k], mem[k]);
        vm_facts_windows(&v->is);
        v->is.stable_s = cases[i].stable_s;
        v->is.dirty_mb_s = cases[i].dirty;
    }
    s->inv.vms[1].is.window[WINDOW_60M][RES_CPU].min = cases[i].beside_min;
    s->inv.vms[2].is.window[WINDOW_60M][RES_CPU].max = fmax(cases[i].there_max, cases[i].there);
    small_build(s);
    pass_prepare(p, &s->snap, &s->policy, false, IX_NONE, &s->a);
}

static void test_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct small s;
        struct pass p;
        struct migration_worth w;
        prepare(&s, &p, i);
        uint32_t unit = p.layout.vm_unit[0];
        migration_cost_worth(&p.migration_cost, unit, 1, &w);
        enum answer got = !migration_cost_pays(&p.migration_cost, &w) ? COSTS_MORE
                          : w.worse > 0                               ? WORST_CASE
                                                                      : PAYS;
        if (got != cases[i].expected)
            fail_msg("%s: gain %g, loss %g, worse %g", cases[i].what, w.gain, w.loss, w.worse);
        if (got != COSTS_MORE)
            assert_true(migration_cost_may_pay(&p.migration_cost, unit));
        small_release(&s);
    }
}

/* Disks that are copied with a VM take time and CPU; so many, that a move that paid does not. */
static void test_copied_disks(void **state)
{
    const double disks_mb[] = {0, 20480, 4e6};
    double least_s = 0, before = -1;

    (void)state;
    for (size_t i = 0; i < ELEMENTS(disks_mb); i++) {
        struct small s;
        struct pass p;
        struct migration_worth w;

        small_init(&s);
        small_host(&s, "h1", 10000, 1048576);
        small_host(&s, "h2", 10000, 1048576);
        small_vm(&s, "v1", "h1", 4000, 2048)->is.disks_copied_mb = disks_mb[i];
        small_vm(&s, "v2", "h1", 9000, 1024);
        for (size_t k = 0; k < 2; k++)
            vm_facts_windows(&s.inv.vms[k].is);
        small_build(&s);
        pass_prepare(&p, &s.snap, &s.policy, false, IX_NONE, &s.a);
        uint32_t unit = p.layout.vm_unit[0];
        double duration_s = migration_cost_duration(&p.migration_cost, unit, p.layout.unit_slot[unit], 1);

        migration_cost_worth(&p.migration_cost, unit, 1, &w);
        least_s = i == 0 ? duration_s : least_s;
        assert_within(duration_s - least_s, disks_mb[i] / s.policy.migration_rate_mb_s, 1e-6);
        assert_true(w.loss > before);
        assert_int_equal(migration_cost_pays(&p.migration_cost, &w), i < 2);
        before = w.loss;
        small_release(&s);
    }
}

/* A move and the move back leave the forecast as it was. */
static void test_there_and_back(void **state)
{
    struct small s;
    struct pass p;
    struct migration_worth before;
    struct migration_worth after;

    (void)state;
    prepare(&s, &p, 0);
    uint32_t unit = p.layout.vm_unit[0];
    migration_cost_worth(&p.migration_cost, unit, 1, &before);
    layout_move(&p.layout, unit, 1);
    migration_cost_move(&p.migration_cost, unit, 0, 1);
    assert_true(fabs(p.migration_cost.slot[RES_CPU][1].load - 4000) < 1e-9);
    layout_move(&p.layout, unit, 0);
    migration_cost_move(&p.migration_cost, unit, 1, 0);
    migration_cost_worth(&p.migration_cost, unit, 1, &after);
    assert_true(fabs(before.gain - after.gain) < 1e-6 * fabs(before.gain));
    assert_true(before.duration_s == after.duration_s);
    small_release(&s);
}

static void know_rate(struct small *s, const char *from, const char *to, double rate_mb_s)
{
    *inventory_add_migration_rate(&s->inv, &s->a) =
        (struct seen_migration_rate){.from = from, .to = to, .rate_mb_s = rate_mb_s};
}

/* h1 is overloaded, and the other hosts are empty and alike. */
static void three_hosts(struct small *s)
{
    small_init(s);
    s->policy.cost_benefit = true;
    for (int i = 1; i <= 3; i++)
        small_host(s, i == 1 ? "h1" : i == 2 ? "h2" : "h3", 10000, 65536);
    for (int i = 1; i <= 3; i++)
        small_vm(s, i == 1 ? "v1" : i == 2 ? "v2" : "v3", "h1", 4000, 4096)->is.stable_s = 3600;
}

/* The pair's rate, else the slower host's, else the setting; and what it takes follows from it. */
static void test_rate_of_pair(void **state)
{
    struct small s;
    struct pass p;
    struct migration_worth to_h2, to_h3;

    (void)state;
    three_hosts(&s);
    s.inv.hosts[1].is.migration_rate_mb_s = 125;
    know_rate(&s, "h2", "h1", 40); /* the other way round says nothing */
    know_rate(&s, "h1", "h3", 1000);
    small_build(&s);
    pass_prepare(&p, &s.snap, &s.policy, false, IX_NONE, &s.a);
    assert_true(rates_between(&p.migration_cost.rates, 0, 1) == 125);
    assert_true(rates_between(&p.migration_cost.rates, 0, 2) == 1000);
    assert_true(rates_between(&p.migration_cost.rates, 1, 0) == 40);
    assert_true(rates_between(&p.migration_cost.rates, 2, 0) == s.policy.migration_rate_mb_s);
    migration_cost_worth(&p.migration_cost, 0, 1, &to_h2);
    migration_cost_worth(&p.migration_cost, 0, 2, &to_h3);
    assert_true(to_h3.duration_s < to_h2.duration_s / 7 && to_h3.loss < to_h2.loss);
    assert_true(to_h2.duration_s == migration_cost_duration(&p.migration_cost, 0, 0, 1));
    small_release(&s);
}

/* Of destinations that are equally good the one that is reached sooner; of all else the lower. */
static void test_faster_way_wins(void **state)
{
    static const struct {
        double to_h2, to_h3; /* 0: not known */
        const char *moves;
    } ways[] = {
        {0, 0, "v1>h2"}, {0, 100, "v1>h2"}, {0, 1000, "v1>h3"}, {100, 0, "v1>h3"}, {400, 400, "v1>h2"},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(ways); i++) {
        struct small s;
        three_hosts(&s);
        s.policy.moves_max = 1;
        if (ways[i].to_h2 > 0)
            know_rate(&s, "h1", "h2", ways[i].to_h2);
        if (ways[i].to_h3 > 0)
            know_rate(&s, "h1", "h3", ways[i].to_h3);
        assert_string_equal(small_moves(&s), ways[i].moves);
        small_release(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_answers), cmocka_unit_test(test_there_and_back),
                                       cmocka_unit_test(test_copied_disks),
                                       cmocka_unit_test(test_rate_of_pair),
                                       cmocka_unit_test(test_faster_way_wins)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
