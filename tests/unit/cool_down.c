/* A VM that was migrated a minute ago: which reasons move it and which wait for its cool-down. */
#include "unit.h"

#include "small_cluster.h"

#include <string.h>

enum why { BALANCE, HOST_RULE, APART, AFFINITY, AFFINITY_OF_THREE, INCOMPATIBLE, EVACUATION, RESERVATIONS };

static const struct {
    const char *what;
    enum why why;
    bool mandatory;    /* the rule */
    const char *rests; /* ids, with spaces between */
    const char *moves;
    const char *faults; /* what is only put off is no fault */
} cases[] = {
    {"for balance, another one goes", BALANCE, false, "v1", "v2>h2", ""},
    {"for balance, nobody is left", BALANCE, false, "v1 v2 v3", "", ""},
    {"a preferred host, rested", HOST_RULE, false, "", "v1>h3", ""},
    {"a preferred host waits", HOST_RULE, false, "v1", "", ""},
    {"a mandatory host does not", HOST_RULE, true, "v1", "v1>h3", ""},
    {"apart, rested: the smaller one", APART, false, "", "v2>h2", ""},
    {"preferably apart: the other one goes", APART, false, "v2", "v1>h2", ""},
    {"preferably apart: both rest", APART, false, "v1 v2", "", ""},
    {"apart: both rest, and one goes", APART, true, "v1 v2", "v2>h2", ""},
    {"together, rested: to the larger one", AFFINITY, false, "", "v2>h1", ""},
    {"preferably together: to the one that rests", AFFINITY, false, "v2", "v1>h2", ""},
    {"preferably together: both rest", AFFINITY, false, "v1 v2", "", ""},
    {"together: both rest, and one goes", AFFINITY, true, "v1 v2", "v2>h1", ""},
    {"preferably together: all come to the one that rests", AFFINITY_OF_THREE, false, "v3", "v1>h3 v2>h3",
     ""},
    {"not compatible", INCOMPATIBLE, false, "v1", "v1>h2", ""},
    {"maintenance", EVACUATION, false, "v1", "v1>h2", ""},
    {"more reserved than there is", RESERVATIONS, false, "v1 v2", "v2>h2", ""},
};

static void three_hosts(struct small *s)
{
    small_init(s);
    s->policy.mem_admission = MEM_ADMISSION_CONSUMED;
    for (int i = 0; i < 3; i++)
        small_host(s, i == 0 ? "h1" : i == 1 ? "h2" : "h3", 10000, 16384);
}

static void prepare(struct small *s, enum why why, bool mandatory)
{
    three_hosts(s);
    switch (why) {
    case BALANCE:
        small_vm(s, "v1", "h1", 4000, 1024);
        small_vm(s, "v2", "h1", 3000, 1024);
        small_vm(s, "v3", "h1", 200, 1024);
        s->policy.moves_max = 1;
        return;
    case HOST_RULE:
        small_vm(s, "v1", "h1", 100, 512);
        small_rule(s, RULE_HOST_AFFINE, mandatory, "v1", "h3");
        return;
    case APART:
        small_vm(s, "v1", "h1", 100, 1024);
        small_vm(s, "v2", "h1", 100, 512);
        small_rule(s, RULE_VM_ANTI_AFFINE, mandatory, "v1 v2", "");
        return;
    case AFFINITY:
        small_vm(s, "v1", "h1", 100, 1024);
        small_vm(s, "v2", "h2", 100, 512);
        small_rule(s, RULE_VM_AFFINE, mandatory, "v1 v2", "");
        return;
    case AFFINITY_OF_THREE:
        small_vm(s, "v1", "h1", 100, 1024);
        small_vm(s, "v2", "h2", 100, 1024);
        small_vm(s, "v3", "h3", 100, 512);
        small_rule(s, RULE_VM_AFFINE, mandatory, "v1 v2 v3", "");
        return;
    case INCOMPATIBLE:
        small_vm(s, "v1", "h1", 100, 512)->compatible_given = true;
        s->inv.vms[0].compatible_hosts = small_ids(s, "h2 h3");
        return;
    case EVACUATION:
        small_vm(s, "v1", "h1", 100, 512);
        s->inv.hosts[0].is.state = HOST_ENTERING_MAINTENANCE;
        return;
    case RESERVATIONS:
        small_vm(s, "v1", "h1", 100, 512)->is.alloc[RES_CPU].reservation = 8000;
        small_vm(s, "v2", "h1", 100, 512)->is.alloc[RES_CPU].reservation = 4000;
        return;
    }
}

static void let_rest(struct small *s, const char *ids, instant_s ago)
{
    const struct ids rest = small_ids(s, ids);

    for (uint32_t i = 0; i < rest.n; i++)
        for (size_t v = 0; v < s->inv.n_vms; v++)
            if (strcmp(s->inv.vms[v].is.id, rest.items[i]) == 0)
                s->inv.vms[v].is.last_migrated = s->inv.time - ago;
}

static void test_who_moves(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct small s;
        prepare(&s, cases[i].why, cases[i].mandatory);
        let_rest(&s, cases[i].rests, 60);
        const char *moves = small_moves(&s);
        const char *faults = small_faults(&s, &s.a);
        if (strcmp(moves, cases[i].moves) != 0 || strcmp(faults, cases[i].faults) != 0)
            fail_msg("%s: \"%s\" with faults \"%s\", expected \"%s\" with \"%s\"", cases[i].what, moves,
                     faults, cases[i].moves, cases[i].faults);
        small_release(&s);
    }
}

/* Where its set is scattered, or its demand not known, a VM is held for that; it rests all the same. */
static void test_rest_is_not_hidden(void **state)
{
    struct small s;

    (void)state;
    prepare(&s, HOST_RULE, false);
    s.inv.vms[0].is.demand_unknown = true;
    let_rest(&s, "v1", 60);
    assert_string_equal(small_moves(&s), "");
    small_release(&s);
    prepare(&s, HOST_RULE, false); /* the other half of the unit rests */
    small_vm(&s, "v2", "h1", 100, 512);
    small_rule(&s, RULE_VM_AFFINE, true, "v1 v2", "");
    let_rest(&s, "v2", 60);
    assert_string_equal(small_moves(&s), "");
    small_release(&s);
}

/* A rule that waits is kept in mind: nothing is moved to where it would be violated, and the rest is the
 * cool-down, to the second. */
static void test_waiting_rule_counts(void **state)
{
    static const struct {
        instant_s ago;
        const char *moves;
    } times[] = {{0, ""}, {1799, ""}, {1800, "v1>h3"}, {86400, "v1>h3"}, {-1799, ""}, {-1800, "v1>h3"}};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(times); i++) {
        struct small s;
        prepare(&s, HOST_RULE, false);
        let_rest(&s, "v1", times[i].ago);
        assert_string_equal(small_moves(&s), times[i].moves);
        small_release(&s);
    }
    struct small s;
    three_hosts(&s);
    s.policy.moves_max = 1;
    small_vm(&s, "v1", "h1", 100, 512);  /* rests, where it would rather not be */
    small_vm(&s, "v2", "h2", 6000, 512); /* may be on h2 and h3, and h1 is the emptiest */
    small_vm(&s, "v3", "h2", 6000, 512);
    small_vm(&s, "v4", "h3", 3000, 512);
    small_rule(&s, RULE_HOST_AFFINE, false, "v1 v2 v3", "h2 h3");
    let_rest(&s, "v1", 60);
    assert_string_equal(small_moves(&s), "v2>h3");
    small_release(&s);
}

/* Were it a fault, the pass would do without any preferred rule. */
static void test_others_are_followed(void **state)
{
    static const enum why waits[] = {HOST_RULE, APART, AFFINITY};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(waits); i++) {
        struct small s;
        prepare(&s, waits[i], false);
        small_vm(&s, "v9", "h2", 100, 512);
        small_rule(&s, RULE_HOST_AFFINE, false, "v9", "h3");
        let_rest(&s, "v1 v2", 60);
        assert_string_equal(small_moves(&s), "v9>h3");
        small_release(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_moves), cmocka_unit_test(test_rest_is_not_hidden),
        cmocka_unit_test(test_waiting_rule_counts), cmocka_unit_test(test_others_are_followed)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
