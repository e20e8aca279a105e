/* Whole passes on clusters of a few lines: mandatory moves, forbidden moves, and the faults in their
 * place. */
#include "unit.h"

#include "core/pass.h"
#include "small_cluster.h"

#include <errno.h>
#include <string.h>

/* Three hosts of 10 GHz and 16 GiB; the VMs are added by each test. */
static void three_hosts(struct small *s)
{
    small_init(s);
    s->policy.optional_moves = false; /* what is mandatory */
    small_host(s, "h1", 10000, 16384);
    small_host(s, "h2", 10000, 16384);
    small_host(s, "h3", 10000, 16384);
}

static void expect(struct small *s, const char *what, const char *moves, const char *faults)
{
    const char *got = small_moves(s);

    if (strcmp(got, moves) != 0 || strcmp(small_faults(s, &s->a), faults) != 0)
        fail_msg("%s: \"%s\" and \"%s\", expected \"%s\" and \"%s\"", what, got, small_faults(s, &s->a),
                 moves, faults);
    small_release(s);
}

/* ---- anti-affinity ---- */

static void test_apart(void **state)
{
    struct small s;

    (void)state;
    three_hosts(&s);
    small_vm(&s, "v1", "h1", 100, 1024);
    small_vm(&s, "v2", "h1", 100, 512);
    small_vm(&s, "v3", "h2", 900, 512);
    small_rule(&s, RULE_VM_ANTI_AFFINE, true, "v1 v2", "");
    expect(&s, "the cheaper one leaves", "v2>h3", "");

    three_hosts(&s);
    small_vm(&s, "v1", "h1", 100, 1024);
    small_vm(&s, "v2", "h1", 100, 512);
    small_rule(&s, RULE_VM_ANTI_AFFINE, true, "v1 v2", "");
    small_rule(&s, RULE_HOST_AFFINE, true, "v2", "h1");
    expect(&s, "the other one leaves where the cheaper one cannot", "v1>h2", "");

    three_hosts(&s);
    small_vm(&s, "v1", "h1", 100, 512);
    small_vm(&s, "v2", "h1", 100, 512);
    small_vm(&s, "v3", "h2", 100, 512);
    small_vm(&s, "v4", "h2", 100, 512);
    small_rule(&s, RULE_VM_ANTI_AFFINE, true, "v1 v2 v3 v4", "");
    small_rule(&s, RULE_HOST_AFFINE, true, "v1 v2", "h1");
    expect(&s, "what cannot be mended on one host does not stop another", "v3>h3",
           "rule_too_large:- rule_violated:v1");

    three_hosts(&s);
    small_vm(&s, "v1", "h1", 100, 512);
    small_vm(&s, "v2", "h1", 100, 1024);
    small_rule(&s, RULE_VM_ANTI_AFFINE, true, "v1 v2", "");
    small_migration(&s, "v2", "h1", "h2");
    expect(&s, "one of them is leaving already", "", "");

    three_hosts(&s);
    small_vm(&s, "v1", "h1", 100, 512);
    small_vm(&s, "v2", "h2", 100, 512);
    small_rule(&s, RULE_VM_ANTI_AFFINE, true, "v1 v2", "");
    small_pending(&s, "v2", "h2", "h1");
    expect(&s, "one of them will come to the other", "v1>h3", "");
}

/* ---- affinity ---- */

static void test_together(void **state)
{
    struct small s;

    (void)state;
    three_hosts(&s);
    small_vm(&s, "v1", "h1", 100, 1024);
    small_vm(&s, "v2", "h2", 100, 512);
    small_rule(&s, RULE_VM_AFFINE, true, "v1 v2", "");
    expect(&s, "the smaller comes to the larger", "v2>h1", "");

    three_hosts(&s);
    small_vm(&s, "v1", "h1", 100, 1024);
    small_vm(&s, "v2", "h2", 100, 512);
    small_rule(&s, RULE_VM_AFFINE, true, "v1 v2", "");
    small_migration(&s, "v2", "h2", "h1");
    expect(&s, "it is on its way", "", "");

    three_hosts(&s);
    small_vm(&s, "v1", "h1", 100, 1024);
    small_vm(&s, "v2", "h2", 100, 512);
    small_rule(&s, RULE_VM_AFFINE, true, "v1 v2", "");
    small_pending(&s, "v2", "h2", "h3");
    expect(&s, "nobody runs after one that is on its way", "", "");

    three_hosts(&s);
    small_vm(&s, "v1", "h1", 100, 1024);
    struct seen_vm *off = small_vm(&s, "v2", "h2", 0, 512);
    off->is.state = VM_OFF;
    off->is.demand[RES_MEM] = 0;
    small_vm(&s, "v3", "h3", 100, 512);
    small_rule(&s, RULE_VM_AFFINE, true, "v1 v2", "");
    small_rule(&s, RULE_VM_AFFINE, true, "v2 v3", "");
    expect(&s, "one that is off joins nobody", "", "");

    three_hosts(&s);
    small_vm(&s, "v1", "h1", 100, 1024)->is.last_migrated = s.inv.time - 60;
    small_vm(&s, "v2", "h2", 100, 512)->is.automation = AUTOMATION_DISABLED;
    small_rule(&s, RULE_VM_AFFINE, true, "v1 v2", "");
    expect(&s, "the one that may move does, rested or not", "v1>h2", "");

    three_hosts(&s);
    small_vm(&s, "v1", "h1", 100, 1024)->is.automation = AUTOMATION_DISABLED;
    small_vm(&s, "v2", "h2", 100, 512)->is.automation = AUTOMATION_DISABLED;
    small_rule(&s, RULE_VM_AFFINE, true, "v1 v2", "");
    expect(&s, "neither may", "", "rule_violated:v2");
}

/* Each move of a set names the rule that its own VM is in. */
static void test_chain_of_rules(void **state)
{
    struct small s;

    (void)state;
    three_hosts(&s);
    small_vm(&s, "v1", "h1", 100, 1024);
    small_vm(&s, "v2", "h2", 100, 512);
    small_vm(&s, "v3", "h3", 100, 512);
    small_rule(&s, RULE_VM_AFFINE, true, "v1 v3", "");
    small_rule(&s, RULE_VM_AFFINE, true, "v2 v3", "");
    assert_string_equal(small_moves(&s), "v2>h1 v3>h1");
    assert_int_equal(s.plan.recommendations[0].rule, 1);
    assert_int_equal(s.plan.recommendations[1].rule, 0);
    assert_int_equal(s.plan.recommendations[0].priority, 1);
    small_release(&s);
}

/* The unit that the others have come to stays, though its host has too many reservations. */
static void test_meeting_place_holds(void **state)
{
    struct small s;

    (void)state;
    three_hosts(&s);
    small_vm(&s, "v1", "h1", 100, 2048)->is.alloc[RES_CPU].reservation = 3000;
    small_vm(&s, "v2", "h2", 100, 512);
    small_vm(&s, "v3", "h1", 100, 512)->is.alloc[RES_CPU].reservation = 8000;
    small_rule(&s, RULE_VM_AFFINE, true, "v1 v2", "");
    expect(&s, "together, then relieved", "v2>h1 v3>h2", "");
}

/* ---- where a VM may run ---- */

static void test_hosts(void **state)
{
    struct small s;

    (void)state;
    three_hosts(&s);
    small_vm(&s, "v1", "h1", 100, 512);
    small_rule(&s, RULE_HOST_AFFINE, true, "v1", "h3");
    expect(&s, "affine", "v1>h3", "");

    three_hosts(&s);
    small_vm(&s, "v1", "h1", 100, 512);
    small_rule(&s, RULE_HOST_ANTI_AFFINE, true, "v1", "h1 h2");
    expect(&s, "anti-affine", "v1>h3", "");

    three_hosts(&s);
    small_vm(&s, "v1", "h1", 100, 512);
    small_rule(&s, RULE_HOST_AFFINE, true, "v1", "h3");
    small_rule(&s, RULE_HOST_ANTI_AFFINE, true, "v1", "h3");
    expect(&s, "both", "", "rule_conflict:v1");

    three_hosts(&s);
    small_vm(&s, "v1", "h1", 100, 512)->is.last_migrated = s.inv.time - 60;
    small_vm(&s, "v2", "h1", 100, 512);
    small_rule(&s, RULE_VM_AFFINE, true, "v1 v2", "");
    small_rule(&s, RULE_VM_ANTI_AFFINE, true, "v1 v2", "");
    expect(&s, "a contradiction is left alone, rested or not", "", "rule_conflict:v2");
}

/* A mandatory rule weighs more than a preferred one, and compatibility more than both. */
static void test_priorities(void **state)
{
    static const struct {
        bool compatible, mandatory;
        int64_t level;
        bool optional_moves;
        const char *moves;
        unsigned priority;
    } cases[] = {
        {true, true, 3, true, "v1>h3", 1},   {true, false, 3, true, "v1>h3", 2},
        {false, false, 3, true, "v1>h3", 1}, {true, true, 1, true, "v1>h3", 1},
        {true, false, 1, true, "", 0}, /* level 1: mandatory moves only */
        {true, true, 3, false, "v1>h3", 1},  {true, false, 3, false, "", 0},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct small s;
        three_hosts(&s);
        s.policy.migration_threshold = cases[i].level;
        s.policy.optional_moves = cases[i].optional_moves;
        struct seen_vm *v = small_vm(&s, "v1", "h1", 100, 512);
        v->compatible_given = !cases[i].compatible;
        v->compatible_hosts = small_ids(&s, "h2 h3");
        small_rule(&s, RULE_HOST_AFFINE, false, "v1", "h3");
        if (cases[i].mandatory)
            small_rule(&s, RULE_HOST_ANTI_AFFINE, true, "v1", "h1");
        if (strcmp(small_moves(&s), cases[i].moves) != 0)
            fail_msg("case %zu: moves", i);
        if (s.plan.n_recommendations > 0)
            assert_int_equal(s.plan.recommendations[0].priority, cases[i].priority);
        small_release(&s);
    }
}

/* ---- hosts that are to be emptied ---- */

static void test_evacuation(void **state)
{
    struct small s;

    (void)state;
    three_hosts(&s);
    s.inv.hosts[0].is.state = HOST_ENTERING_STANDBY;
    small_vm(&s, "v1", "h1", 100, 512)->is.last_migrated = s.inv.time - 60;
    small_vm(&s, "v2", "h1", 100, 512)->is.automation = AUTOMATION_DISABLED;
    small_vm(&s, "v3", "h1", 100, 512)->is.kind = VM_AGENT;
    small_vm(&s, "v4", "h1", 100, 512)->is.demand_unknown = true;
    small_vm(&s, "v5", "h1", 100, 512);
    small_migration(&s, "v5", "h1", "h2");
    expect(&s, "rest does not keep a VM, its owner does; agents and travellers need nothing", "v1>h3 v4>h2",
           "samples_bad:- demand_unknown:v4 cannot_evacuate:v2"); /* one of five is more than a tenth */

    three_hosts(&s);
    s.inv.hosts[0].is.state = HOST_ENTERING_MAINTENANCE;
    small_vm(&s, "v1", "h1", 100, 512)->is.last_migrated = s.inv.time - 60;
    small_vm(&s, "v2", "h1", 100, 512)->is.automation = AUTOMATION_DISABLED;
    small_rule(&s, RULE_VM_AFFINE, true, "v1 v2", "");
    expect(&s, "a set with one that is never touched is not touched", "",
           "cannot_evacuate:v1 cannot_evacuate:v2");

    small_init(&s);
    small_host(&s, "h1", 10000, 16384)->is.state = HOST_ENTERING_MAINTENANCE;
    small_vm(&s, "v1", "h1", 100, 512);
    expect(&s, "nowhere to go", "", "cannot_evacuate:v1");
}

/* A set that is scattered and of which some must leave: they go where the rest can come to, or stay, so that
 * nobody moves twice. */
static void test_scattered_evacuation(void **state)
{
    struct small s;

    (void)state;
    three_hosts(&s);
    s.inv.hosts[0].is.state = HOST_ENTERING_STANDBY;
    small_vm(&s, "v1", "h1", 100, 512);
    small_vm(&s, "v2", "h2", 100, 512);
    small_rule(&s, RULE_VM_AFFINE, true, "v1 v2", "");
    small_rule(&s, RULE_HOST_ANTI_AFFINE, true, "v2", "h2");
    expect(&s, "the one that is not leaving may not stay either", "v1>h3 v2>h3", "");

    three_hosts(&s);
    small_vm(&s, "v1", "h1", 100, 512);
    small_vm(&s, "v2", "h2", 100, 4096);
    small_vm(&s, "v3", "h3", 100, 512);
    small_rule(&s, RULE_VM_AFFINE, true, "v1 v2 v3", "");
    small_rule(&s, RULE_HOST_ANTI_AFFINE, true, "v3", "h1 h3");
    expect(&s, "to where most of it is", "v3>h2 v1>h2", "");
}

/* Of a pair it is the second that cannot run anywhere: the fault must not blame the first. */
static void test_violator(void **state)
{
    struct small s;
    struct seen_vm *v;

    (void)state;
    three_hosts(&s);
    small_vm(&s, "v1", "h1", 100, 512);
    v = small_vm(&s, "v2", "h1", 100, 512);
    v->compatible_given = true;
    small_rule(&s, RULE_VM_AFFINE, true, "v1 v2", "");
    expect(&s, "nowhere at all", "", "rule_violated:v2");
}

/* An idle host that is about to go by an approved recommendation is no target, for whatever reason. */
static void test_closing_host(void **state)
{
    static const enum action_kind closes[] = {ACTION_POWER_OFF, ACTION_ENTER_MAINTENANCE};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(closes); i++) {
        struct small s;
        three_hosts(&s);
        s.policy.optional_moves = true;
        s.policy.migration_threshold = 5;
        s.inv.hosts[0].is.state = HOST_ENTERING_MAINTENANCE;
        small_vm(&s, "v1", "h1", 1000, 512);
        small_vm(&s, "v2", "h3", 4000, 512);
        *inventory_add_pending(&s.inv, &s.a) = (struct seen_pending){.action = closes[i], .host = "h2"};
        expect(&s, action_kind_name(closes[i]), "v1>h3", "");
    }
}

/* ---- reservations ---- */

static void test_overcommitted_host(void **state)
{
    struct small s;

    (void)state;
    three_hosts(&s);
    small_vm(&s, "v1", "h1", 100, 512)->is.alloc[RES_CPU].reservation = 8000;
    small_vm(&s, "v2", "h1", 100, 512)->is.alloc[RES_CPU].reservation = 1500;
    small_vm(&s, "v3", "h1", 100, 512)->is.alloc[RES_CPU].reservation = 2500;
    expect(&s, "the smallest that is enough", "v3>h2", "");

    three_hosts(&s);
    small_vm(&s, "v1", "h1", 100, 512)->is.alloc[RES_CPU].reservation = 8000;
    small_vm(&s, "v2", "h1", 100, 512)->is.alloc[RES_CPU].reservation = 2500;
    small_rule(&s, RULE_HOST_AFFINE, true, "v2", "h1");
    expect(&s, "another, where the smallest may not leave", "v1>h2", "");

    three_hosts(&s);
    small_vm(&s, "v1", "h1", 100, 512)->is.alloc[RES_CPU].reservation = 8000;
    small_vm(&s, "v2", "h1", 100, 512)->is.alloc[RES_CPU].reservation = 2500;
    small_migration(&s, "v2", "h1", "h2");
    expect(&s, "one that is leaving is enough", "", "");
}

/* ---- settings ---- */

static void test_settings(void **state)
{
    struct small s;
    struct err err = {0};

    (void)state;
    three_hosts(&s);
    small_build(&s);
    s.policy.migration_threshold = 6;
    assert_int_equal(pass_run(&s.snap, &s.policy, &s.a, &s.plan, &err), -EINVAL);
    s.policy.migration_threshold = 0;
    assert_int_equal(pass_run(&s.snap, &s.policy, &s.a, &s.plan, &err), -EINVAL);
    small_release(&s);
}

/* The limit counts VMs: a pair that does not fit into what is left is passed over. */
static void test_moves_max(void **state)
{
    static const struct {
        int64_t most;
        uint32_t moves;
    } cases[] = {{1, 1}, {2, 2}, {3, 3}, {0, 4}};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct small s;
        small_init(&s);
        s.policy.migration_threshold = 5;
        s.policy.moves_max = cases[i].most;
        small_host(&s, "h1", 10000, 16384);
        small_host(&s, "h2", 10000, 16384);
        for (int k = 1; k <= 8; k++)
            small_vm(&s, arena_printf(&s.a, "v%d", k), "h1", 1000, 512);
        small_rule(&s, RULE_VM_AFFINE, true, "v1 v2", "");
        (void)small_moves(&s);
        if (s.plan.n_recommendations != cases[i].moves)
            fail_msg("at most %lld: %u moves", (long long)cases[i].most, s.plan.n_recommendations);
        small_release(&s);
    }
}

/* What the corrections need comes out of the same purse; they are made whatever the limit. */
static void test_moves_max_after_corrections(void **state)
{
    static const struct {
        int64_t most;
        uint32_t moves;
    } cases[] = {{1, 2}, {2, 2}, {3, 3}, {0, 4}};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct small s;
        small_init(&s);
        s.policy.migration_threshold = 5;
        s.policy.moves_max = cases[i].most;
        small_host(&s, "h1", 10000, 16384);
        small_host(&s, "h2", 10000, 16384);
        small_host(&s, "h3", 10000, 16384)->is.state = HOST_ENTERING_MAINTENANCE;
        for (int k = 1; k <= 8; k++)
            small_vm(&s, arena_printf(&s.a, "v%d", k), k <= 6 ? "h1" : "h3", 1000, 512);
        (void)small_moves(&s);
        if (s.plan.n_recommendations != cases[i].moves)
            fail_msg("at most %lld: %u moves", (long long)cases[i].most, s.plan.n_recommendations);
        small_release(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_together),
        cmocka_unit_test(test_chain_of_rules),
        cmocka_unit_test(test_meeting_place_holds),
        cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_priorities),
        cmocka_unit_test(test_evacuation),
        cmocka_unit_test(test_overcommitted_host),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_moves_max),
        cmocka_unit_test(test_moves_max_after_corrections),
        cmocka_unit_test(test_scattered_evacuation),
        cmocka_unit_test(test_violator),
        cmocka_unit_test(test_closing_host),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
