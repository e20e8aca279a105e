/* The dependencies of a move: the departures that free its capacity, and no others. */
#include "unit.h"

#include "small_cluster.h"

#include <string.h>

/* Everything that a plan says of its order: "v1>h2 v2>h1(1)". */
static const char *order_of(struct small *s)
{
    const char *text = "";

    (void)small_moves(s);
    for (uint32_t i = 0; i < s->plan.n_recommendations; i++) {
        const struct recommendation *rec = &s->plan.recommendations[i];
        text = arena_printf(&s->a, "%s%s%s>%s", text, i > 0 ? " " : "", s->snap.vms[rec->vm].is.id,
                            s->snap.hosts[rec->to].is.id);
        for (uint32_t k = 0; k < rec->n_depends_on; k++)
            text = arena_printf(&s->a, "%s(%u)", text, rec->depends_on[k]);
    }
    return text;
}

/* h1 is to be emptied onto h2, from which something has to go first to h3, where it belongs. */
static void begin(struct small *s)
{
    small_init(s);
    s->policy.optional_moves = false;
    small_host(s, "h1", 10000, 16384);
    small_host(s, "h2", 10000, 8192);
    small_host(s, "h3", 10000, 16384);
}

static void expect(struct small *s, const char *what, const char *expected)
{
    const char *got = order_of(s);

    if (strcmp(got, expected) != 0)
        fail_msg("%s: \"%s\", expected \"%s\"", what, got, expected);
    small_release(s);
}

static void test_memory(void **state)
{
    struct small s;

    (void)state;
    begin(&s);
    small_vm(&s, "v1", "h2", 100, 6144);
    small_vm(&s, "v2", "h1", 100, 4096);
    small_rule(&s, RULE_HOST_AFFINE, true, "v1", "h3");
    small_rule(&s, RULE_HOST_AFFINE, true, "v2", "h2");
    expect(&s, "what did not fit at first is tried again", "v1>h3 v2>h2(1)");

    begin(&s);
    small_vm(&s, "v1", "h1", 100, 6144);
    small_vm(&s, "v2", "h2", 100, 8192);
    small_vm(&s, "v3", "h3", 100, 1024);
    small_rule(&s, RULE_HOST_AFFINE, true, "v1", "h3");
    small_rule(&s, RULE_HOST_AFFINE, true, "v2", "h1");
    small_rule(&s, RULE_HOST_AFFINE, true, "v3", "h2");
    expect(&s, "each waits for the one that makes its room", "v1>h3 v2>h1 v3>h2(2)");

    begin(&s);
    small_vm(&s, "v1", "h2", 100, 1024);
    small_vm(&s, "v2", "h2", 100, 1024);
    small_vm(&s, "v3", "h3", 100, 1024);
    small_rule(&s, RULE_HOST_AFFINE, true, "v1 v2", "h1");
    small_rule(&s, RULE_HOST_AFFINE, true, "v3", "h2");
    expect(&s, "nobody waits where there is room", "v1>h1 v2>h1 v3>h2");

    begin(&s);
    small_vm(&s, "v1", "h2", 100, 2048);
    small_vm(&s, "v2", "h2", 100, 4096);
    small_vm(&s, "v3", "h2", 100, 1024);
    small_vm(&s, "v4", "h3", 100, 4096);
    small_rule(&s, RULE_HOST_AFFINE, true, "v1 v2 v3", "h1");
    small_rule(&s, RULE_HOST_AFFINE, true, "v4", "h2");
    expect(&s, "the one that frees most, not all of them", "v1>h1 v2>h1 v3>h1 v4>h2(2)");
}

static void test_physical_memory(void **state)
{
    struct small s;

    (void)state;
    begin(&s);
    s.inv.hosts[1].is.mem_free_mb = 512;
    small_vm(&s, "v1", "h2", 100, 1024);
    small_vm(&s, "v2", "h3", 100, 1024);
    small_rule(&s, RULE_HOST_AFFINE, true, "v1", "h1");
    small_rule(&s, RULE_HOST_AFFINE, true, "v2", "h2");
    expect(&s, "admitted, but not there yet", "v1>h1 v2>h2(1)");
}

static void test_reservations(void **state)
{
    struct small s;

    (void)state;
    begin(&s);
    small_vm(&s, "v1", "h2", 100, 512)->is.alloc[RES_CPU].reservation = 6000;
    small_vm(&s, "v2", "h3", 100, 512)->is.alloc[RES_CPU].reservation = 6000;
    small_vm(&s, "v3", "h3", 100, 512);
    small_rule(&s, RULE_HOST_AFFINE, true, "v1", "h1");
    small_rule(&s, RULE_HOST_AFFINE, true, "v2 v3", "h2");
    expect(&s, "a VM that reserves nothing does not wait", "v1>h1 v2>h2(1) v3>h2");
}

static void test_anti_affinity(void **state)
{
    struct small s;

    (void)state;
    begin(&s);
    small_vm(&s, "v1", "h2", 100, 512);
    small_vm(&s, "v2", "h3", 100, 512);
    small_rule(&s, RULE_VM_ANTI_AFFINE, true, "v1 v2", "");
    small_rule(&s, RULE_HOST_AFFINE, true, "v1", "h1");
    small_rule(&s, RULE_HOST_AFFINE, true, "v2", "h2");
    expect(&s, "not while the other is there", "v1>h1 v2>h2(1)");
}

/* A pair moves as one group, and costs are divided among its members. */
static void test_group(void **state)
{
    struct small s;

    (void)state;
    begin(&s);
    s.inv.hosts[0].is.state = HOST_ENTERING_MAINTENANCE;
    small_vm(&s, "v1", "h1", 100, 1024);
    small_vm(&s, "v2", "h1", 100, 1024);
    small_vm(&s, "v3", "h1", 100, 512);
    small_rule(&s, RULE_VM_AFFINE, true, "v1 v2", "");
    (void)small_moves(&s);
    assert_int_equal(s.plan.n_recommendations, 3);
    assert_int_equal(s.plan.recommendations[0].group, 1);
    assert_int_equal(s.plan.recommendations[1].group, 1);
    assert_int_equal(s.plan.recommendations[2].group, 0);
    assert_int_equal(s.plan.recommendations[0].to, s.plan.recommendations[1].to);
    assert_true(s.plan.recommendations[0].cost[RES_CPU] == s.plan.recommendations[1].cost[RES_CPU]);
    small_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),       cmocka_unit_test(test_physical_memory),
        cmocka_unit_test(test_reservations), cmocka_unit_test(test_anti_affinity),
        cmocka_unit_test(test_group),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
