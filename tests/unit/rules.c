/* Compiled rules: the hosts of each VM, affinity sets, anti-affinity, and contradictions. */
#include "unit.h"

#include "core/rules/rules.h"
#include "small_cluster.h"

#include <string.h>

static void three_hosts(struct small *s)
{
    small_init(s);
    small_host(s, "h1", 10000, 16384);
    small_host(s, "h2", 10000, 16384);
    small_host(s, "h3", 10000, 16384);
    for (int i = 1; i <= 5; i++)
        small_vm(s, arena_printf(&s->a, "v%d", i), "h1", 100, 256);
}

/* The hosts that v1 may run on. */
static const struct {
    const char *what;
    const char *compatible; /* NULL: all */
    struct {
        enum rule_kind kind;
        bool mandatory;
        const char *hosts;
    } rule[2];
    uint32_t n_rules;
    bool with_preferred;
    const char *expected;
    uint32_t conflicts;
} where_cases[] = {
    {"no rule", NULL, {{0}}, 0, true, "h1 h2 h3", 0},
    {"compatible", "h2 h3", {{0}}, 0, true, "h2 h3", 0},
    {"affine", NULL, {{RULE_HOST_AFFINE, true, "h1 h2"}}, 1, false, "h1 h2", 0},
    {"anti-affine", NULL, {{RULE_HOST_ANTI_AFFINE, true, "h1 h2"}}, 1, false, "h3", 0},
    {"compatible and affine", "h2 h3", {{RULE_HOST_AFFINE, true, "h1 h2"}}, 1, false, "h2", 0},
    {"two rules",
     NULL,
     {{RULE_HOST_AFFINE, true, "h1 h2"}, {RULE_HOST_ANTI_AFFINE, true, "h1"}},
     2,
     false,
     "h2",
     0},
    {"preferred counts", NULL, {{RULE_HOST_AFFINE, false, "h2"}}, 1, true, "h2", 0},
    {"preferred does not", NULL, {{RULE_HOST_AFFINE, false, "h2"}}, 1, false, "h1 h2 h3", 0},
    {"contradiction",
     NULL,
     {{RULE_HOST_AFFINE, true, "h1"}, {RULE_HOST_ANTI_AFFINE, true, "h1"}},
     2,
     false,
     "",
     1},
    {"no host at all", NULL, {{RULE_HOST_ANTI_AFFINE, true, "h1 h2 h3"}}, 1, false, "", 1},
    {"incompatible with the rule", "h3", {{RULE_HOST_AFFINE, true, "h1"}}, 1, false, "", 1},
};

static void test_where(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(where_cases); i++) {
        struct small s;
        struct rules r;
        three_hosts(&s);
        if (where_cases[i].compatible) {
            s.inv.vms[0].compatible_given = true;
            s.inv.vms[0].compatible_hosts = small_ids(&s, where_cases[i].compatible);
        }
        for (uint32_t k = 0; k < where_cases[i].n_rules; k++)
            small_rule(&s, where_cases[i].rule[k].kind, where_cases[i].rule[k].mandatory, "v1",
                       where_cases[i].rule[k].hosts);
        small_build(&s);
        rules_compile(&s.snap, where_cases[i].with_preferred, &s.a, &r);
        const char *got = "";
        for (uint32_t h = 0; h < s.snap.n_hosts; h++)
            if (rules_allow(&r, 0, h))
                got = arena_printf(&s.a, "%s%s%s", got, *got ? " " : "", s.snap.hosts[h].is.id);
        if (strcmp(got, where_cases[i].expected) != 0 || r.n_conflicts != where_cases[i].conflicts)
            fail_msg("%s: \"%s\", expected \"%s\"; %u conflicts", where_cases[i].what, got,
                     where_cases[i].expected, r.n_conflicts);
        assert_int_equal(r.held[0], where_cases[i].conflicts > 0);
        assert_false(r.held[1]);
        small_release(&s);
    }
}

/* Whose other side is named: only of a rule that has no host in common with this one. */
static void test_contrary(void **state)
{
    static const struct {
        const char *what, *compatible, *hosts[3];
        uint32_t other; /* named once, however many rules there are */
    } cases[] = {
        {"two", NULL, {"h1", "h2"}, 0},
        {"the second and the third", NULL, {"h1 h2 h3", "h1", "h2"}, 1},
        {"all three", NULL, {"h1 h2", "h2 h3", "h1 h3"}, IX_NONE},
        {"two, and one more", NULL, {"h1", "h2", "h3"}, 0},
        {"compatibility", "h3", {"h1 h2", "h1"}, IX_NONE},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct small s;
        struct rules r;
        three_hosts(&s);
        if (cases[i].compatible) {
            s.inv.vms[0].compatible_given = true;
            s.inv.vms[0].compatible_hosts = small_ids(&s, cases[i].compatible);
        }
        for (uint32_t k = 0; k < 3 && cases[i].hosts[k]; k++)
            small_rule(&s, RULE_HOST_AFFINE, true, "v1", cases[i].hosts[k]);
        small_build(&s);
        rules_compile(&s.snap, false, &s.a, &r);
        assert_int_equal(r.n_conflicts, 1);
        if (r.conflicts[0].other != cases[i].other)
            fail_msg("%s: %u", cases[i].what, r.conflicts[0].other);
        assert_int_equal(r.conflicts[0].with, IX_NONE);
        small_release(&s);
    }
}

/* Which rule is named, when several keep a VM off a host: a mandatory one. */
static void test_which_rule(void **state)
{
    struct small s;
    struct rules r;

    (void)state;
    three_hosts(&s);
    small_rule(&s, RULE_HOST_AFFINE, false, "v1", "h2");
    small_rule(&s, RULE_HOST_ANTI_AFFINE, true, "v1 v2", "h1");
    small_build(&s);
    rules_compile(&s.snap, true, &s.a, &r);
    assert_int_equal(rules_find_vm_host(&r, 0, 0), 1);
    assert_int_equal(rules_find_vm_host(&r, 0, 1), IX_NONE);
    assert_int_equal(rules_find_vm_host(&r, 0, 2), 0);
    assert_int_equal(rules_find_vm_host(&r, 2, 0), IX_NONE);
    rules_compile(&s.snap, false, &s.a, &r);
    assert_int_equal(rules_find_vm_host(&r, 0, 2), IX_NONE);
    small_release(&s);
}

/* Sets by their lowest member, v1 ... v5. */
static void test_together(void **state)
{
    static const struct {
        const char *what;
        const char *sets[2];
        const char *off, *unseen; /* a VM that is off; one on a host that is not seen */
        uint32_t expected[5];
    } cases[] = {
        {"none", {"", ""}, "", "", {0, 1, 2, 3, 4}},
        {"a pair", {"v2 v4", ""}, "", "", {0, 1, 2, 1, 4}},
        {"two that overlap are one", {"v4 v5", "v2 v4"}, "", "", {0, 1, 2, 1, 1}},
        {"two that do not", {"v4 v5", "v1 v3"}, "", "", {0, 1, 0, 3, 3}},
        {"one that is off joins nobody", {"v1 v2", "v2 v3"}, "v2", "", {0, 1, 2, 3, 4}},
        {"one that is off leaves the others", {"v1 v2 v3", ""}, "v1", "", {0, 1, 1, 3, 4}},
        {"one that is not seen", {"v1 v2", "v2 v3"}, "", "v2", {0, 1, 2, 3, 4}},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct small s;
        struct rules r;
        three_hosts(&s);
        s.inv.hosts[2].is.state = HOST_DISCONNECTED;
        for (size_t v = 0; v < s.inv.n_vms; v++) {
            if (strcmp(s.inv.vms[v].is.id, cases[i].off) == 0) {
                s.inv.vms[v].is.state = VM_OFF;
                s.inv.vms[v].is.demand[RES_CPU] = 0;
                s.inv.vms[v].is.demand[RES_MEM] = 0;
            }
            if (strcmp(s.inv.vms[v].is.id, cases[i].unseen) == 0)
                s.inv.vms[v].host = "h3";
        }
        for (int k = 0; k < 2; k++)
            if (*cases[i].sets[k])
                small_rule(&s, RULE_VM_AFFINE, true, cases[i].sets[k], "");
        small_build(&s);
        rules_compile(&s.snap, false, &s.a, &r);
        for (uint32_t v = 0; v < 5; v++)
            if (r.component[v] != cases[i].expected[v])
                fail_msg("%s: v%u is with v%u, expected v%u", cases[i].what, v + 1, r.component[v] + 1,
                         cases[i].expected[v] + 1);
        small_release(&s);
    }
}

static void test_contradictions(void **state)
{
    static const struct {
        const char *what, *affine, *apart;
        bool mandatory; /* apart */
        bool with_preferred;
        bool held[5];
    } cases[] = {
        {"the same pair", "v1 v2", "v1 v2", true, false, {true, true}},
        {"two of three", "v1 v2 v3", "v3 v5 v1", true, false, {true, false, true}},
        {"no two of them", "v1 v2", "v2 v3", true, false, {false}},
        {"preferred, not in force", "v1 v2", "v1 v2", false, false, {false}},
        {"preferred, in force", "v1 v2", "v1 v2", false, true, {true, true}},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct small s;
        struct rules r;
        three_hosts(&s);
        small_rule(&s, RULE_VM_AFFINE, true, cases[i].affine, "");
        small_rule(&s, RULE_VM_ANTI_AFFINE, cases[i].mandatory, cases[i].apart, "");
        small_build(&s);
        rules_compile(&s.snap, cases[i].with_preferred, &s.a, &r);
        for (uint32_t v = 0; v < 5; v++)
            if (r.held[v] != cases[i].held[v])
                fail_msg("%s: v%u is%s held", cases[i].what, v + 1, r.held[v] ? "" : " not");
        assert_int_equal(r.n_conflicts > 0, cases[i].held[0]);
        if (r.n_conflicts > 0) {
            assert_int_equal(r.conflicts[0].rule, 1);
            assert_int_equal(r.conflicts[0].other, 0);
            assert_true(r.held[r.conflicts[0].vm] && r.held[r.conflicts[0].with]);
        }
        small_release(&s);
    }
}

/* v1 with v2, v2 with v3, v1 apart from v3: each with a rule of its own, and all three are named. */
static void test_contradiction_by_way_of_another(void **state)
{
    struct small s;
    struct rules r;

    (void)state;
    three_hosts(&s);
    small_rule(&s, RULE_VM_AFFINE, true, "v1 v2", "");
    small_rule(&s, RULE_VM_AFFINE, true, "v2 v3", "");
    small_rule(&s, RULE_VM_ANTI_AFFINE, true, "v1 v3", "");
    small_build(&s);
    rules_compile(&s.snap, false, &s.a, &r);
    assert_int_equal(r.n_conflicts, 1);
    assert_int_equal(r.conflicts[0].rule, 2);
    assert_int_equal(r.conflicts[0].other, 1);
    assert_int_equal(r.conflicts[0].vm, 2);
    assert_int_equal(r.conflicts[0].with, 0);
    assert_true(r.held[0] && !r.held[1] && r.held[2]);
    small_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_where),          cmocka_unit_test(test_contrary),
        cmocka_unit_test(test_which_rule),     cmocka_unit_test(test_together),
        cmocka_unit_test(test_contradictions), cmocka_unit_test(test_contradiction_by_way_of_another),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
