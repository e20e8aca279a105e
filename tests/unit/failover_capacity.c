/* Failover capacity: how much on which host, which VMs may use it, how much is missing. */
#include "unit.h"

#include "core/layout/failover_internal.h"
#include "core/pass.h"
#include "core/plan/pass_state.h"
#include "small_cluster.h"

#include <string.h>

/* Reserves the CPU that it uses. */
static struct seen_vm *reserving(struct small *s, const char *id, const char *host, double mhz)
{
    struct seen_vm *v = small_vm(s, id, host, mhz, 256);

    v->is.alloc[RES_CPU].reservation = mhz;
    return v;
}

static void three_hosts(struct small *s, struct ha_facts ha)
{
    small_init(s);
    s->inv.ha = ha;
    small_host(s, "h1", 10000, 16384);
    small_host(s, "h2", 10000, 16384);
    small_host(s, "h3", 10000, 16384);
}

static void prepare(struct small *s, struct pass *p)
{
    small_build(s);
    pass_prepare(p, &s->snap, &s->policy, 0, IX_NONE, &s->a);
}

static uint32_t unit_of(const struct small *s, const struct pass *p, const char *vm)
{
    return p->layout.vm_unit[small_vm_ix(s, vm)];
}

static double kept_by_all(const struct pass *p)
{
    double sum = 0;

    for (uint32_t i = 0; i < p->layout.n_on; i++)
        sum += p->layout.failover.reserved[RES_CPU][i];
    return sum;
}

/* What one host keeps for the loss of one it keeps for that of another too. */
static void test_what_is_kept(void **state)
{
    static const struct {
        const char *what;
        struct ha_facts ha;
        double kept;
        uint32_t gaps;
    } cases[] = {
        {"no policy", {.policy = HA_NONE}, 0, 0},
        {"one of them", {.policy = HA_HOST_FAILURES, .hosts = 1}, 5000, 0},
        {"none of them", {.policy = HA_HOST_FAILURES, .hosts = 0}, 0, 0},
        {"too few hosts", {.policy = HA_HOST_FAILURES, .hosts = 3}, -1, 1},
        {"a share", {.policy = HA_PERCENT, .percent = {10, 0}}, 5000, 0},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct small s;
        struct pass p;
        three_hosts(&s, cases[i].ha);
        reserving(&s, "a", "h1", 5000);
        reserving(&s, "b", "h2", 4000);
        prepare(&s, &p);
        if (cases[i].kept >= 0 && kept_by_all(&p) != cases[i].kept)
            fail_msg("%s: %g MHz are kept, expected %g", cases[i].what, kept_by_all(&p), cases[i].kept);
        if ((p.layout.failover.n_open > 0) != (cases[i].gaps > 0))
            fail_msg("%s: %u gaps", cases[i].what, p.layout.failover.n_open);
        small_release(&s);
    }
}

/* c goes where a and b still have their places, its own included. */
static void test_who_may_come(void **state)
{
    static const struct {
        const char *what;
        double mhz; /* of c, on h3 */
        bool to_h1, to_h2;
    } cases[] = {
        {"small", 500, true, true},
        {"as much as both leave", 1000, true, true},
        {"a place that is kept is not looked for elsewhere", 2000, false, false},
        {"fits nowhere else were h1 lost", 4000, false, false},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct small s;
        struct pass p;
        three_hosts(&s, (struct ha_facts){.policy = HA_HOST_FAILURES, .hosts = 1});
        s.inv.hosts[2].is.total[RES_CPU] = 5000;
        reserving(&s, "a", "h1", 6000);
        reserving(&s, "b", "h2", 3000);
        reserving(&s, "c", "h3", cases[i].mhz);
        prepare(&s, &p);
        assert_int_equal(p.layout.failover.n_open, 0);
        uint32_t c = unit_of(&s, &p, "c");
        bool h1 = layout_check(&p.layout, c, 0) == CHECK_NONE;
        bool h2 = layout_check(&p.layout, c, 1) == CHECK_NONE;
        if (h1 != cases[i].to_h1 || h2 != cases[i].to_h2)
            fail_msg("%s: to h1 %d, to h2 %d", cases[i].what, h1, h2);
        small_release(&s);
    }
}

/* A restart may break a preference, not what is mandatory. */
static void test_rules_of_places(void **state)
{
    (void)state;
    for (int mandatory = 0; mandatory < 2; mandatory++) {
        struct small s;
        struct pass p;
        three_hosts(&s, (struct ha_facts){.policy = HA_HOST_FAILURES, .hosts = 1});
        reserving(&s, "a", "h1", 5000);
        small_rule(&s, RULE_HOST_AFFINE, mandatory, "a", "h1");
        small_build(&s);
        pass_prepare(&p, &s.snap, &s.policy, RULES_PREFERRED, IX_NONE, &s.a);
        assert_int_equal(p.layout.failover.n_gaps, mandatory); /* said, but the others' places stay as dear */
        assert_int_equal(p.layout.failover.n_open, 0);
        small_release(&s);
    }
}

/* Those that fit where they are said to be come first, whatever their ids. */
static void test_spare_vms(void **state)
{
    struct small s;
    struct pass p;

    (void)state;
    three_hosts(&s, (struct ha_facts){.policy = HA_NONE});
    reserving(&s, "a", "h1", 8000);
    reserving(&s, "b", "h2", 8000);
    reserving(&s, "s1", NULL, 9000)->is.kind = VM_SPARE;
    reserving(&s, "s2", "h3", 9500)->is.kind = VM_SPARE;
    for (int i = 2; i < 4; i++) {
        s.inv.vms[i].is.state = VM_OFF;
        s.inv.vms[i].is.demand[RES_CPU] = 0;
        s.inv.vms[i].is.demand[RES_MEM] = 0;
    }
    prepare(&s, &p);
    assert_true(p.layout.failover.reserved[RES_CPU][2] == 9500);
    assert_int_equal(p.layout.failover.n_gaps, 1);
    assert_int_equal(p.layout.failover.gaps[0].vm, small_vm_ix(&s, "s1"));
    small_release(&s);
}

static void needs_cell(struct seen_vm *v)
{
    static struct vm_numa_cell cell = {.mem_mb = 256, .dedicated = 2};

    v->is.numa = (struct objects){&cell, 1};
}

/* What the restarts of a loss take is free again when other losses are judged, and when none is. */
static void test_cells_after_a_loss(void **state)
{
    static struct numa_cell cell = {.cpus = 4, .dedicated = 2, .mem_mb = 16384};
    struct small s;
    struct pass p;

    (void)state;
    three_hosts(&s, (struct ha_facts){.policy = HA_HOST_FAILURES, .hosts = 1});
    for (int i = 0; i < 3; i++)
        s.inv.hosts[i].is.numa = (struct objects){&cell, 1};
    reserving(&s, "a", "h1", 1000);
    needs_cell(&s.inv.vms[0]);
    reserving(&s, "b", "h3", 1000);
    needs_cell(&s.inv.vms[1]);
    small_vm(&s, "off", "h1", 0, 256)->is.state = VM_OFF;
    s.inv.vms[2].is.demand[RES_MEM] = 0;
    needs_cell(&s.inv.vms[2]);
    prepare(&s, &p);
    assert_int_equal(p.layout.failover.n_gaps, 0);
    assert_true(failover_live_fits(&p.layout.failover, small_vm_ix(&s, "off"), 1));
    assert_false(failover_live_fits(&p.layout.failover, small_vm_ix(&s, "off"), 0));
    small_release(&s);
}

/* A VM that migrates reserves once in the share that is kept free. */
static void test_share_with_a_flight(void **state)
{
    struct small s;
    struct pass p;

    (void)state;
    three_hosts(&s, (struct ha_facts){.policy = HA_PERCENT, .percent = {50, 0}});
    reserving(&s, "a", "h1", 7500);
    reserving(&s, "b", "h2", 7500);
    small_migration(&s, "b", "h2", "h3");
    prepare(&s, &p);
    uint32_t a = unit_of(&s, &p, "a");
    double percent;

    assert_true(failover_gap_excess(&p.layout.failover, RES_CPU, IX_NONE, IX_NONE, &percent) == 0);
    assert_true(percent == 50);
    assert_true(failover_gap_excess(&p.layout.failover, RES_CPU, a, IX_NONE, NULL) == 7500);
    assert_true(failover_gap_excess(&p.layout.failover, RES_MEM, a, IX_NONE, NULL) < 0);
    small_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_kept),       cmocka_unit_test(test_who_may_come),
        cmocka_unit_test(test_rules_of_places),    cmocka_unit_test(test_spare_vms),
        cmocka_unit_test(test_cells_after_a_loss), cmocka_unit_test(test_share_with_a_flight),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
