/* The layout: units and the reasons that keep them in place, running migrations, the check that decides,
 * the metrics. */
#include "unit.h"

#include "core/pass.h"
#include "core/plan/pass_state.h"
#include "small_cluster.h"

#include <string.h>

static void prepare(struct small *s, struct pass *p)
{
    small_build(s);
    pass_prepare(p, &s->snap, &s->policy, false, IX_NONE, &s->a);
}

static bool near(double x, double y)
{
    return fabs(x - y) < 1e-9;
}

/* A VM whose second approved move begins where the first one ends uses capacity on all three hosts, and
 * counts where it will be, in whatever order the moves are given. */
static void test_two_moves_of_a_vm(void **state)
{
    (void)state;
    for (int reversed = 0; reversed < 2; reversed++) {
        struct small s;
        struct pass p;
        small_init(&s);
        for (int i = 1; i <= 3; i++)
            small_host(&s, i == 1 ? "h1" : i == 2 ? "h2" : "h3", 10000, 16384);
        small_vm(&s, "v1", "h1", 1000, 4096);
        small_vm(&s, "v2", "h2", 500, 1024);
        for (int i = 0; i < 2; i++)
            if (i == reversed)
                small_pending(&s, "v1", "h1", "h3");
            else
                small_pending(&s, "v1", "h3", "h2");
        prepare(&s, &p);
        const struct layout *l = &p.layout;
        assert_int_equal(s.snap.pending[0].to, 2);
        assert_int_equal(s.snap.pending[1].to, 1);
        assert_int_equal(l->unit_held[l->vm_unit[0]], CHECK_VM_MIGRATING);
        assert_int_equal(layout_slot_of(l, 0), 1);
        assert_true(near(l->mem_taken[0], 4096) && near(l->mem_taken[1], 4096 + 1024) &&
                    near(l->mem_taken[2], 4096));
        assert_true(near(l->norm[RES_CPU][0], 0.1) && near(l->norm[RES_CPU][1], 0.15) &&
                    near(l->norm[RES_CPU][2], 0.1));
        small_release(&s);
    }
}

/* What is held of a pair that must stay together: the stronger reason, whichever VM it is about. */
static void test_what_holds(void **state)
{
    enum trait { NORMAL, DISABLED, RESTING, UNKNOWN_DEMAND, FLYING, REJECTED };
    static const struct {
        enum trait first, second;
        enum check expected;
    } cases[] = {
        {NORMAL, NORMAL, CHECK_NONE},
        {DISABLED, NORMAL, CHECK_VM_DISABLED},
        {NORMAL, DISABLED, CHECK_VM_DISABLED},
        {RESTING, NORMAL, CHECK_VM_COOL_DOWN},
        {RESTING, DISABLED, CHECK_VM_DISABLED}, /* a rest must not hide it */
        {DISABLED, RESTING, CHECK_VM_DISABLED},
        {RESTING, FLYING, CHECK_VM_MIGRATING},
        {UNKNOWN_DEMAND, NORMAL, CHECK_VM_DEMAND_UNKNOWN},
        {NORMAL, REJECTED, CHECK_VM_REJECTED},
        {RESTING, REJECTED, CHECK_VM_COOL_DOWN}, /* which holds it from preferred rules, too */
        {REJECTED, RESTING, CHECK_VM_COOL_DOWN},
        {REJECTED, FLYING, CHECK_VM_MIGRATING},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct small s;
        struct pass p;
        const enum trait traits[] = {cases[i].first, cases[i].second};
        small_init(&s);
        small_host(&s, "h1", 10000, 16384);
        small_host(&s, "h2", 10000, 16384);
        for (int k = 0; k < 2; k++) {
            struct seen_vm *v = small_vm(&s, k == 0 ? "v1" : "v2", "h1", 1000, 512);
            v->is.automation = traits[k] == DISABLED ? AUTOMATION_DISABLED : AUTOMATION_INHERIT;
            v->is.last_migrated = traits[k] == RESTING ? s.inv.time - 60 : 0;
            v->is.demand_unknown = traits[k] == UNKNOWN_DEMAND;
            if (traits[k] == FLYING)
                small_migration(&s, v->is.id, "h1", "h2");
            if (traits[k] == REJECTED)
                *inventory_add_avoid(&s.inv, &s.a) = (struct seen_avoid){
                    .vm = v->is.id, .until = s.inv.time + 60, .rejected = reason_name(REASON_EXCHANGE)};
        }
        small_rule(&s, RULE_VM_AFFINE, true, "v1 v2", "");
        prepare(&s, &p);
        assert_int_equal(p.layout.n_units, 1);
        if (p.layout.unit_held[0] != cases[i].expected)
            fail_msg("case %zu: %s, expected %s", i, check_name(p.layout.unit_held[0]),
                     check_name(cases[i].expected));
        small_release(&s);
    }
}

/* One of a pair is on its way: its destination carries that one, and where it comes from still both. */
static void test_in_flight(void **state)
{
    struct small s;
    struct pass p;

    (void)state;
    for (int both = 0; both < 2; both++) {
        small_init(&s);
        small_host(&s, "h1", 10000, 16384);
        small_host(&s, "h2", 10000, 16384)->is.mem_free_mb = 8192;
        small_vm(&s, "v1", "h1", 1000, 1024)->is.alloc[RES_CPU].reservation = 500;
        small_vm(&s, "v2", "h1", 3000, 2048)->is.alloc[RES_CPU].reservation = 700;
        small_rule(&s, RULE_VM_AFFINE, true, "v1 v2", "");
        small_migration(&s, "v1", "h1", "h2");
        if (both)
            small_pending(&s, "v2", "h1", "h2");
        prepare(&s, &p);
        const struct layout *l = &p.layout;
        assert_true(near(l->norm[RES_CPU][0], 0.4));
        assert_true(near(l->norm[RES_CPU][1], both ? 0.4 : 0.1));
        assert_true(near(l->reserved[RES_CPU][1], both ? 1200 : 500));
        assert_true(near(l->mem_free[1], both ? 5120 : 7168));
        assert_int_equal(l->going_to[0], 1);
        assert_int_equal(l->going_to[1], both ? 1 : IX_NONE);
        /* the forecast expects them where they will be */
        assert_true(near(p.migration_cost.slot[RES_CPU][0].load, both ? 0 : 3000));
        assert_true(near(p.migration_cost.slot[RES_CPU][1].load, both ? 4000 : 1000));
        small_release(&s);
    }
}

/* The hypervisor shows the VM at its destination already, but the migration has not ended: it weighs on both
 * ends all the same, needs no more memory, and what it reserves at the source is about to be free. */
static void test_switched_over(void **state)
{
    struct small s;
    struct pass p;

    (void)state;
    small_init(&s);
    small_host(&s, "h1", 10000, 16384)->is.mem_free_mb = 8192;
    small_host(&s, "h2", 10000, 16384)->is.mem_free_mb = 8192;
    small_vm(&s, "v1", "h2", 1000, 1024)->is.alloc[RES_CPU].reservation = 500;
    small_migration(&s, "v1", "h1", "h2");
    prepare(&s, &p);
    const struct layout *l = &p.layout;
    for (uint32_t slot = 0; slot < 2; slot++) {
        assert_true(near(l->norm[RES_CPU][slot], 0.1));
        assert_true(near(l->reserved[RES_CPU][slot], 500));
        assert_true(near(l->leaving[RES_CPU][slot], slot == 0 ? 500 : 0));
        assert_true(near(l->mem_free[slot], 8192));
    }
    assert_int_equal(l->going_to[0], IX_NONE);
    assert_true(near(p.migration_cost.slot[RES_CPU][0].load, 0));
    small_release(&s);
}

/* v1 wants to go from h1 to h2. */
enum trouble { NONE, OFF, COMPATIBLE, AGENT, HOST_RULE, APART, CPU_RESERVED, MEM_RESERVED, ADMISSION, FREE };
static const struct {
    enum trouble trouble;
    enum check expected;
} check_cases[] = {
    {NONE, CHECK_NONE},
    {OFF, CHECK_HOST_NOT_ON},
    {COMPATIBLE, CHECK_INCOMPATIBLE},
    {AGENT, CHECK_AGENT_MISSING},
    {HOST_RULE, CHECK_RULE_VM_HOST},
    {APART, CHECK_RULE_ANTI_AFFINITY},
    {CPU_RESERVED, CHECK_RESERVATION_CPU},
    {MEM_RESERVED, CHECK_RESERVATION_MEM},
    {ADMISSION, CHECK_MEMORY},
    {FREE, CHECK_MEMORY_FREE},
};

static void test_checks(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(check_cases); i++) {
        enum trouble t = check_cases[i].trouble;
        struct small s;
        struct pass p;
        small_init(&s);
        s.policy.mem_admission = t == MEM_RESERVED ? MEM_ADMISSION_RESERVATION : MEM_ADMISSION_CONSUMED;
        small_host(&s, "h1", 10000, 16384);
        struct seen_host *h2 = small_host(&s, "h2", 10000, t == ADMISSION ? 4000 : 16384);
        h2->is.state = t == OFF ? HOST_ENTERING_STANDBY : HOST_ON;
        h2->is.mem_free_mb = t == FREE ? 2047 : UNKNOWN;
        h2->is.own.given = true;
        h2->agents_required = t == AGENT ? small_ids(&s, "v2") : (struct ids){0};
        struct seen_vm *v1 = small_vm(&s, "v1", "h1", 1000, 2048);
        v1->is.alloc[RES_CPU].reservation = 1000;
        v1->is.alloc[RES_MEM].reservation = 2048;
        v1->compatible_given = t == COMPATIBLE;
        v1->compatible_hosts = small_ids(&s, "h1");
        struct seen_vm *v2 = small_vm(&s, "v2", t == AGENT ? "h1" : "h2", 1000, 2048);
        v2->is.alloc[RES_CPU].reservation = t == CPU_RESERVED ? 9001 : 0;
        if (t == MEM_RESERVED) {
            v2->is.mem_mb = 16384;
            v2->is.alloc[RES_MEM].reservation = 15000;
        }
        if (t == HOST_RULE)
            small_rule(&s, RULE_HOST_ANTI_AFFINE, true, "v1", "h2");
        if (t == APART)
            small_rule(&s, RULE_VM_ANTI_AFFINE, true, "v1 v2", "");
        prepare(&s, &p);
        enum check got = layout_check(&p.layout, p.layout.vm_unit[0], 1);
        if (got != check_cases[i].expected)
            fail_msg("case %zu: %s, expected %s", i, check_name(got), check_name(check_cases[i].expected));
        small_release(&s);
    }
}

static void test_target(void **state)
{
    static const struct {
        double target;
        uint32_t hosts;
        int64_t level;
        double expected;
    } cases[] = {{TARGET_AUTO, 32, 3, 0.05},
                 {TARGET_AUTO, 32, 5, 0},
                 {TARGET_AUTO, 2, 4, 0.1},
                 {TARGET_AUTO, 2, 1, 0.4},
                 {TARGET_AUTO, 8, 3, 0.1},
                 {TARGET_AUTO, 0, 3, 0},
                 {0.02, 32, 3, 0.02},
                 {0.02, 32, 2, 0.075},
                 {0.2, 32, 3, 0.2},
                 {0.2, 32, 2, 0.2},
                 {0, 32, 3, 0}};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct policy policy = {.migration_threshold = 3, .target = cases[i].target};
        assert_true(near(layout_target(&policy, cases[i].hosts, cases[i].level), cases[i].expected));
    }
}

/* Two hosts with these loads: the weights, the imbalance, and whether one stands out. */
static void test_metrics(void **state)
{
    static const struct {
        double cpu[2], mem[2]; /* of 10000 MHz, 10000 MiB; entitlement is demand while it fits together */
        double weight_cpu, imbalance;
        bool outlier[6]; /* by level */
    } cases[] = {
        {{5000, 5000}, {2000, 2000}, 0.5, 0, {false}},
        {{8000, 2000}, {5000, 5000}, 0.5, 0.15, {0, 0, true, true, true, true}},
        {{6000, 3500}, {5000, 5000}, 0.5, 0.0625, {0, 0, false, true, true, true}},
        {{4900, 1000}, {100, 100}, 0.5, 0.0975, {false}}, /* nobody is half full */
        {{11000, 1000}, {5000, 5000}, 0.75, 0.375, {0, 0, true, true, true, true}},
        {{5000, 5000}, {11000, 1000}, 0.25, 0.375, {0, 0, true, true, true, true}},
        {{11000, 1000}, {11000, 1000}, 0.5, 0.5, {0, 0, true, true, true, true}},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct small s;
        struct pass p;
        double weight[RES_COUNT];
        small_init(&s);
        small_host(&s, "h1", 10000, 10000);
        small_host(&s, "h2", 10000, 10000);
        small_vm(&s, "v1", "h1", cases[i].cpu[0], cases[i].mem[0])->is.vcpus = 2; /* may want more than h1 */
        small_vm(&s, "v2", "h2", cases[i].cpu[1], cases[i].mem[1]);
        prepare(&s, &p);
        layout_weights(&p.layout, weight);
        if (weight[RES_CPU] != cases[i].weight_cpu || !near(layout_imbalance(&p.layout), cases[i].imbalance))
            fail_msg("case %zu: weight %g, imbalance %.10g", i, weight[RES_CPU], layout_imbalance(&p.layout));
        for (int level = 1; level <= 5; level++)
            if (layout_has_outlier(&p.layout, level) != cases[i].outlier[level])
                fail_msg("case %zu: an outlier at level %d or not?", i, level);
        small_release(&s);
    }
}

/* Rounding leaves less than 0 of these loads, when they are subtracted in the order in which they came. */
static void test_emptied(void **state)
{
    static const double demand[] = {1000, 1700, 2000};
    struct small s;
    struct pass p;

    (void)state;
    small_init(&s);
    small_host(&s, "h1", 10000, 10000);
    small_host(&s, "h2", 10000, 10000);
    small_vm(&s, "v1", "h1", demand[0], demand[0]);
    small_vm(&s, "v2", "h1", demand[1], demand[1])->is.vcpus = 2;
    small_vm(&s, "v3", "h1", demand[2], demand[2])->is.vcpus = 2;
    prepare(&s, &p);
    assert_int_equal(p.layout.n_units, ELEMENTS(demand));
    for (uint32_t u = 0; u < p.layout.n_units; u++)
        layout_move(&p.layout, u, 1);
    for (int r = 0; r < RES_COUNT; r++) {
        assert_true(p.layout.norm[r][0] == 0);
        assert_true(!signbit(p.layout.norm[r][0]));
        assert_true(near(p.layout.norm[r][1], 0.47));
    }
    small_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_holds), cmocka_unit_test(test_two_moves_of_a_vm),
        cmocka_unit_test(test_in_flight),  cmocka_unit_test(test_switched_over),
        cmocka_unit_test(test_checks),     cmocka_unit_test(test_target),
        cmocka_unit_test(test_metrics),    cmocka_unit_test(test_emptied),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
