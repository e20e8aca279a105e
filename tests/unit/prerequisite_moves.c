/* Prerequisite moves: how much capacity is missing for a VM, which VM moves away for it, which host is
 * woken. */
#include "unit.h"

#include "core/pass.h"
#include "core/plan/host_wakes.h"
#include "core/plan/pass_state.h"
#include "core/plan/prerequisite_moves.h"
#include "small_cluster.h"

#include <string.h>

static void prepare(struct small *s, struct pass *p)
{
    small_build(s);
    pass_prepare(p, &s->snap, &s->policy, 0, IX_NONE, &s->a);
}

/* big, on h1, wants to go to h2 of 8 GiB, where x and y are; h3 has 4 GiB left. */
static void full_host(struct small *s)
{
    small_init(s);
    small_host(s, "h1", 10000, 16384);
    small_host(s, "h2", 10000, 8192);
    small_host(s, "h3", 10000, 4096);
    small_vm(s, "big", "h1", 1000, 6144);
    small_vm(s, "x", "h2", 1000, 2048);
    small_vm(s, "y", "h2", 1000, 1024);
}

static uint32_t unit_of(const struct small *s, const struct pass *p, const char *vm)
{
    return p->layout.vm_unit[small_vm_ix(s, vm)];
}

static void test_shortage(void **state)
{
    struct small s;
    struct pass p;
    double lack[SHORTAGE_COUNT];
    double need[SHORTAGE_COUNT];

    (void)state;
    full_host(&s);
    s.inv.vms[0].is.alloc[RES_CPU].reservation = 9000;
    s.inv.vms[1].is.alloc[RES_CPU].reservation = 3000;
    s.inv.hosts[1].is.mem_free_mb = 5000;
    s.inv.hosts[1].is.own.given = true;
    prepare(&s, &p);
    prerequisite_move_shortage(&p.layout, unit_of(&s, &p, "big"), 1, lack, need);
    assert_true(need[SHORTAGE_CPU] == 9000 && lack[SHORTAGE_CPU] == 2000);
    assert_true(need[SHORTAGE_MEM] == 0 && lack[SHORTAGE_MEM] <= 0);
    assert_true(need[SHORTAGE_ADMITTED] == 6144 && lack[SHORTAGE_ADMITTED] == 1024);
    assert_true(need[SHORTAGE_FREE] == 6144 && lack[SHORTAGE_FREE] == 1144);
    small_release(&s);
}

/* The least that is enough; nobody who may not move, nobody who has nowhere to go. */
static void test_who_moves_away(void **state)
{
    static const struct {
        const char *what;
        const char *disabled; /* of x and y */
        double h3_mb;
        const char *expected; /* "": nobody can */
    } cases[] = {
        {"the smaller one is enough", "", 4096, "y"},
        {"the smaller one may not", "y", 4096, "x"},
        {"the larger one has nowhere to go", "y", 1024, ""},
        {"neither may", "x y", 4096, ""},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct small s;
        struct pass p;
        struct prerequisite_moves way = {.n = 0};
        full_host(&s);
        s.inv.hosts[0].is.state = HOST_ENTERING_MAINTENANCE;
        s.inv.hosts[2].is.total[RES_MEM] = cases[i].h3_mb;
        for (int k = 1; k < 3; k++)
            if (strstr(cases[i].disabled, s.inv.vms[k].is.id))
                s.inv.vms[k].is.automation = AUTOMATION_DISABLED;
        prepare(&s, &p);
        bool found = prerequisite_moves_find(&p, unit_of(&s, &p, "big"), IX_NONE, NULL, &way);
        const char *who = found ? s.snap.vms[p.layout.unit_first[way.out[0].unit]].is.id : "";
        if (strcmp(who, cases[i].expected) != 0 || (found && way.n != 1))
            fail_msg("%s: \"%s\" moves away", cases[i].what, who);
        small_release(&s);
    }
}

/* Nothing is changed by looking. */
static void test_looking_changes_nothing(void **state)
{
    struct small s;
    struct pass p;
    struct prerequisite_moves way;

    (void)state;
    full_host(&s);
    prepare(&s, &p);
    double taken = p.layout.mem_taken[1];
    double sum = p.layout.sum[RES_CPU];
    assert_true(prerequisite_moves_find(&p, unit_of(&s, &p, "big"), 1, NULL, &way));
    assert_true(p.layout.mem_taken[1] == taken && p.layout.sum[RES_CPU] == sum);
    assert_int_equal(p.layout.unit_slot[unit_of(&s, &p, "y")], 1);
    assert_int_equal(p.n_decisions, 0);
    small_release(&s);
}

static void test_what_may_be_woken(void **state)
{
    static const struct {
        const char *what;
        enum host_state state;
        enum automation dpm;
        bool pending, may;
    } cases[] = {
        {"it sleeps", HOST_STANDBY, AUTOMATION_INHERIT, false, true},
        {"a person approves", HOST_STANDBY, AUTOMATION_MANUAL, false, true},
        {"never touched", HOST_STANDBY, AUTOMATION_DISABLED, false, false},
        {"it is on its way", HOST_POWERING_ON, AUTOMATION_INHERIT, false, false},
        {"it is about to be", HOST_STANDBY, AUTOMATION_INHERIT, true, false},
        {"somebody works on it", HOST_MAINTENANCE, AUTOMATION_INHERIT, false, false},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct small s;
        struct pass p;
        full_host(&s);
        struct seen_host *h = small_host(&s, "h4", 10000, 16384);
        h->is.state = cases[i].state;
        h->is.dpm = cases[i].dpm;
        if (cases[i].pending)
            *inventory_add_pending(&s.inv, &s.a) =
                (struct seen_pending){.action = ACTION_POWER_ON, .host = "h4"};
        prepare(&s, &p);
        uint32_t slot = p.layout.host_slot[small_host_ix(&s, "h4")];
        if (host_wake_is_allowed(&p, slot, REASON_RULE) != cases[i].may)
            fail_msg("%s", cases[i].what);
        assert_int_equal(host_wake_find(&p, unit_of(&s, &p, "big"), REASON_RULE),
                         cases[i].may ? slot : IX_NONE);
        small_release(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shortage),
        cmocka_unit_test(test_who_moves_away),
        cmocka_unit_test(test_looking_changes_nothing),
        cmocka_unit_test(test_what_may_be_woken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
