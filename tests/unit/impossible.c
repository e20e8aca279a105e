/* Rules that no plan can satisfy, found when they are compiled. */
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
    for (int i = 1; i <= 4; i++)
        small_vm(s, arena_printf(&s->a, "v%d", i), "h1", 100, 256);
}

/* Two VMs that must be together, each with its own hosts. */
static void test_sets_without_a_host(void **state)
{
    static const struct {
        const char *what, *first, *second;
        bool impossible;
    } cases[] = {
        {"no host in common", "h1", "h2 h3", true},
        {"one in common", "h1 h2", "h2 h3", false},
        {"one goes anywhere", "h1", NULL, false},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct small s;
        struct rules r;
        three_hosts(&s);
        small_rule(&s, RULE_VM_AFFINE, true, "v1 v2", "");
        small_rule(&s, RULE_HOST_AFFINE, true, "v1", cases[i].first);
        if (cases[i].second)
            small_rule(&s, RULE_HOST_AFFINE, true, "v2", cases[i].second);
        small_build(&s);
        rules_compile(&s.snap, 0, &s.a, &r);
        if (r.held[0] != cases[i].impossible || r.held[1] != cases[i].impossible ||
            r.n_conflicts != cases[i].impossible)
            fail_msg("%s: %u conflicts", cases[i].what, r.n_conflicts);
        if (cases[i].impossible) {
            assert_int_equal(r.conflicts[0].rule, 0);
            assert_int_equal(r.conflicts[0].other, IX_NONE);
            assert_true(r.conflicts[0].with != IX_NONE);
        }
        small_release(&s);
    }
}

/* The halves of a pair in one set, directly or by way of another VM. */
static void test_joined_pairs(void **state)
{
    static const struct {
        const char *what, *first, *second;
        bool joined;
    } cases[] = {
        {"one rule", "v1 v2", "v3 v4", true},
        {"by way of v3", "v1 v3", "v2 v3", true},
        {"in two sets", "v1 v3", "v2 v4", false},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct small s;
        struct rules r;
        three_hosts(&s);
        s.inv.vms[0].is.kind = VM_FT_PRIMARY;
        s.inv.vms[1].is.kind = VM_FT_SECONDARY;
        s.inv.vms[1].ft_peer = "v1";
        small_rule(&s, RULE_VM_AFFINE, true, cases[i].first, "");
        small_rule(&s, RULE_VM_AFFINE, true, cases[i].second, "");
        small_build(&s);
        rules_compile(&s.snap, 0, &s.a, &r);
        if (r.held[0] != cases[i].joined || r.held[1] != cases[i].joined || r.n_conflicts != cases[i].joined)
            fail_msg("%s: %u conflicts", cases[i].what, r.n_conflicts);
        small_release(&s);
    }
}

static void test_groups_that_are_too_large(void **state)
{
    static const struct {
        const char *vms, *hosts; /* hosts: where they may run, NULL: all three */
        uint32_t n_vms, n_hosts; /* 0: it is not too large */
    } cases[] = {
        {"v1 v2 v3", NULL, 0, 0},
        {"v1 v2 v3 v4", NULL, 4, 3},
        {"v1 v2 v3", "h1 h2", 3, 2},
        {"v1 v2", "h1 h2", 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct small s;
        struct rules r;
        three_hosts(&s);
        small_rule(&s, RULE_VM_ANTI_AFFINE, true, cases[i].vms, "");
        if (cases[i].hosts)
            small_rule(&s, RULE_HOST_AFFINE, true, cases[i].vms, cases[i].hosts);
        small_build(&s);
        rules_compile(&s.snap, 0, &s.a, &r);
        assert_int_equal(r.n_too_large, cases[i].n_vms > 0);
        if (r.n_too_large > 0) {
            assert_int_equal(r.too_large[0].vms, cases[i].n_vms);
            assert_int_equal(r.too_large[0].hosts, cases[i].n_hosts);
        }
        small_release(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets_without_a_host),
        cmocka_unit_test(test_joined_pairs),
        cmocka_unit_test(test_groups_that_are_too_large),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
