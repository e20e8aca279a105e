/* Minimum goodness (§3.1.3): its value, the moves that it rejects, and how far it is lowered. */
#include "unit.h"

#include "core/pass.h"
#include "core/plan/pass_state.h"
#include "small_cluster.h"

#include <string.h>

/* h1 with eight VMs that nobody may touch, and one more; h2 with nothing. */
static void prepare(struct small *s, double each_mhz, double mhz, double mem_mb)
{
    small_init(s);
    s->policy.min_goodness = true;
    small_host(s, "h1", 20000, 65536);
    small_host(s, "h2", 20000, 65536);
    for (int i = 0; i < 8; i++)
        small_vm(s, arena_printf(&s->a, "big%d", i), "h1", each_mhz, 4096)->is.automation =
            AUTOMATION_DISABLED;
    small_vm(s, "v", "h1", mhz, mem_mb);
}

static const struct {
    const char *what;
    double each_mhz, mhz, mem_mb;
    const char *moves;
} cases[] = {
    {"a trifle, where the hosts are uneven", 1000, 100, 256, ""},
    {"a little, where the hosts are uneven", 1000, 200, 512, ""},
    {"a little, where they are far from even", 2400, 300, 768, "v>h2"},
    {"a trifle, where they are far from even", 2400, 100, 256, ""},
    {"dust, where they are far from even", 2400, 10, 64, ""},
    {"what makes a difference, where the hosts are uneven", 1000, 2000, 2048, "v>h2"},
};

static void test_both_sides(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct small s;
        prepare(&s, cases[i].each_mhz, cases[i].mhz, cases[i].mem_mb);
        const char *moves = small_moves(&s);
        if (strcmp(moves, cases[i].moves) != 0)
            fail_msg("%s: \"%s\", expected \"%s\"", cases[i].what, moves, cases[i].moves);
        small_release(&s);
        prepare(&s, cases[i].each_mhz, cases[i].mhz, cases[i].mem_mb);
        s.policy.min_goodness = false; /* nothing else keeps it */
        assert_string_equal(small_moves(&s), "v>h2");
        small_release(&s);
    }
}

static void begin_climb(struct small *s, struct pass *p)
{
    small_build(s);
    pass_prepare(p, &s->snap, &s->policy, false, IX_NONE, &s->a);
    climb_set_level(&p->climb, s->policy.migration_threshold);
}

/* What moving an average VM away could do, load / V, and a half and a quarter of it where that is too much.
 */
static void test_lowered_twice(void **state)
{
    struct small s;
    struct pass p;
    int halvings = 0;

    (void)state;
    prepare(&s, 2400, 10, 64);
    begin_climb(&s, &p);
    double load = ((19210.0 / 20000 + 32832.0 / 65536) / 2) / 2;
    double first = p.climb.score.goodness;

    assert_true(fabs(first - load / 9) < 1e-9);
    assert_int_equal(climb_step(&p.climb).unit, IX_NONE);
    while (move_score_lower_goodness(&p.climb.score)) {
        halvings++;
        assert_true(p.climb.score.goodness == first / (1 << halvings));
        assert_int_equal(climb_step(&p.climb).unit, IX_NONE);
    }
    assert_int_equal(halvings, 2);
    assert_false(move_score_lower_goodness(&p.climb.score));
    small_release(&s);
}

/* Where the imbalance is not far above the target, it stays what it was. */
static void test_not_lowered(void **state)
{
    struct small s;
    struct pass p;

    (void)state;
    prepare(&s, 1000, 100, 256); /* 0.23, and 1.5 times the target is 0.3 */
    begin_climb(&s, &p);
    assert_int_equal(climb_step(&p.climb).unit, IX_NONE);
    assert_false(move_score_lower_goodness(&p.climb.score));
    assert_true(p.climb.score.goodness == p.climb.score.goodness0);
    small_release(&s);
    prepare(&s, 2400, 100, 256); /* switched off */
    s.policy.min_goodness = false;
    begin_climb(&s, &p);
    assert_true(p.climb.score.goodness == 0);
    assert_int_not_equal(climb_step(&p.climb).unit, IX_NONE);
    assert_false(move_score_lower_goodness(&p.climb.score));
    small_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_both_sides),
                                       cmocka_unit_test(test_lowered_twice),
                                       cmocka_unit_test(test_not_lowered)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
