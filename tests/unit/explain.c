/* The explanation of each host, for one VM. */
#include "unit.h"

#include "core/explain.h"
#include "small_cluster.h"

#include <errno.h>
#include <string.h>

static const char *explained(struct small *s, const char *vm)
{
    struct explanation e;
    struct err err = {0};
    const char *text = "";

    small_build(s);
    assert_int_equal(explain_vm(&s->snap, &s->policy, small_vm_ix(s, vm), IX_NONE, &s->a, &e, &err), 0);
    for (uint32_t i = 0; i < e.n; i++)
        text = arena_printf(&s->a, "%s%s%s", text, i > 0 ? " " : "",
                            e.candidates[i].verdict == VERDICT_CHOSEN ? "chosen"
                                                                      : check_name(e.candidates[i].check));
    return text;
}

static void expect(struct small *s, const char *vm, const char *expected)
{
    assert_string_equal(explained(s, vm), expected);
    small_release(s);
}

/* h1 is hot, h2 and h3 are cold, h3 more so. */
static void hot_host(struct small *s)
{
    small_init(s);
    small_host(s, "h1", 10000, 16384);
    small_host(s, "h2", 10000, 16384);
    small_host(s, "h3", 10000, 16384);
    small_vm(s, "v1", "h1", 4000, 1024);
    small_vm(s, "v2", "h1", 4000, 1024);
    small_vm(s, "v3", "h2", 1000, 1024);
}

static void test_moved(void **state)
{
    struct small s;

    (void)state;
    hot_host(&s);
    expect(&s, "v1", "current_host less_gain chosen");

    hot_host(&s);
    s.inv.hosts[0].is.state = HOST_ENTERING_MAINTENANCE;
    s.inv.hosts[2].is.mem_free_mb = 100;
    s.inv.hosts[2].is.own.given = true;
    expect(&s, "v1", "current_host chosen memory_free");
}

static void test_stays(void **state)
{
    struct small s;

    (void)state;
    hot_host(&s);
    expect(&s, "v3", "target_reached current_host target_reached");

    hot_host(&s);
    s.policy.migration_threshold = 1;
    expect(&s, "v1", "current_host mandatory_only mandatory_only");

    hot_host(&s);
    s.inv.vms[0].is.automation = AUTOMATION_DISABLED;
    s.inv.hosts[1].is.state = HOST_STANDBY;
    s.inv.vms[2].host = "h3";
    expect(&s, "v1", "current_host vm_disabled vm_disabled");

    hot_host(&s);
    s.policy.cost_benefit = true; /* the VMs are content: nothing is gained */
    s.policy.migration_threshold = 4;
    s.inv.vms[0].is.demand[RES_CPU] = 2400;
    s.inv.vms[1].is.demand[RES_CPU] = 2400;
    expect(&s, "v1", "current_host cost_benefit cost_benefit");

    hot_host(&s);
    small_migration(&s, "v1", "h1", "h2");
    expect(&s, "v1", "current_host vm_migrating vm_migrating");
}

/* What holds one VM of a pair is not said of the other. */
static void test_pair(void **state)
{
    struct small s;

    (void)state;
    hot_host(&s);
    s.inv.vms[1].is.automation = AUTOMATION_DISABLED;
    small_rule(&s, RULE_VM_AFFINE, true, "v1 v2", "");
    expect(&s, "v1", "current_host unit_held unit_held");

    hot_host(&s);
    s.inv.vms[1].is.automation = AUTOMATION_DISABLED;
    small_rule(&s, RULE_VM_AFFINE, true, "v1 v2", "");
    expect(&s, "v2", "current_host vm_disabled vm_disabled");
}

static void test_no_such(void **state)
{
    struct small s;
    struct explanation e;
    struct err err = {0};

    (void)state;
    hot_host(&s);
    small_build(&s);
    assert_int_equal(explain_vm(&s.snap, &s.policy, 3, IX_NONE, &s.a, &e, &err), -EINVAL);
    assert_int_equal(explain_vm(&s.snap, &s.policy, 0, 3, &s.a, &e, &err), -EINVAL);
    assert_int_equal(explain_vm(&s.snap, &s.policy, 0, 1, &s.a, &e, &err), 0);
    assert_int_equal(e.n, 1);
    small_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moved),
        cmocka_unit_test(test_stays),
        cmocka_unit_test(test_pair),
        cmocka_unit_test(test_no_such),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
