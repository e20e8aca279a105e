/* The hosts on which a VM may be powered on, best first, and the message if there is none. */
#include "unit.h"

#include "core/pass.h"
#include "core/place/options.h"
#include "core/place/place.h"
#include "core/plan/pass_state.h"
#include "render/wording/wording.h"
#include "small_cluster.h"

#include <string.h>

/* The newcomer waits; h1 is busier than h2, h3 has no memory for it. */
static struct seen_vm *three_hosts(struct small *s)
{
    small_init(s);
    small_host(s, "h1", 10000, 16384);
    small_host(s, "h2", 10000, 16384);
    small_host(s, "h3", 10000, 2048);
    small_vm(s, "v1", "h1", 3000, 1024);
    small_vm(s, "v2", "h2", 1000, 1024);
    struct seen_vm *v = small_vm(s, "new", NULL, 0, 4096);
    v->is.state = VM_OFF;
    v->is.demand[RES_CPU] = 0;
    v->is.demand[RES_MEM] = 0;
    return v;
}

static const char *plan_for(struct small *s)
{
    struct err err = {0};

    small_build(s);
    uint32_t vm = small_vm_ix(s, "new");
    assert_int_equal(place_run(&s->snap, &s->policy, &vm, 1, &s->a, &s->plan, &err), 0);
    for (uint32_t i = 0; i < s->plan.n_recommendations; i++)
        if (s->plan.recommendations[i].action == ACTION_PLACE)
            return s->snap.hosts[s->plan.recommendations[i].to].is.id;
    assert_int_equal(s->plan.n_faults, 1);
    assert_int_equal(s->plan.faults[0].code, FAULT_CANNOT_PLACE);
    return wording_text(&s->snap, s->plan.faults[0].found, &s->a);
}

static void test_best_first(void **state)
{
    static const struct {
        const char *what;
        enum rule_kind kind;
        const char *vms, *hosts; /* NULL: no rule */
        const char *expected;
        uint32_t alternatives;
    } cases[] = {
        {"the best balance", RULE_VM_AFFINE, NULL, NULL, "h2", 1},
        {"with those that it belongs to", RULE_VM_AFFINE, "new v1", "", "h1", 0},
        {"apart from another", RULE_VM_ANTI_AFFINE, "new v2", "", "h1", 0},
        {"where it is licensed", RULE_HOST_AFFINE, "new", "h1 h3", "h1", 0},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct small s;
        (void)three_hosts(&s);
        if (cases[i].vms)
            small_rule(&s, cases[i].kind, true, cases[i].vms, cases[i].hosts);
        const char *got = plan_for(&s);
        if (strcmp(got, cases[i].expected) != 0)
            fail_msg("%s: %s, expected %s", cases[i].what, got, cases[i].expected);
        if (s.plan.recommendations[0].n_alternatives != cases[i].alternatives)
            fail_msg("%s: %u alternatives", cases[i].what, s.plan.recommendations[0].n_alternatives);
        small_release(&s);
    }
}

/* What is missing, and by how much, where it comes closest. */
static void test_what_is_missing(void **state)
{
    static const struct {
        const char *what;
        double mem_mb, reserved_mhz;
        const char *said; /* part of it */
    } cases[] = {
        {"memory", 18432, 0, "3.0 GiB of memory is missing"},
        {"reservation", 1024, 9500, "The best candidate is h2, where 500 MHz of unreserved CPU is missing"},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct small s;
        struct seen_vm *v = three_hosts(&s);
        v->is.mem_mb = cases[i].mem_mb;
        v->is.alloc[RES_CPU].reservation = cases[i].reserved_mhz;
        for (size_t k = 0; k < 2; k++) { /* nobody makes room */
            s.inv.vms[k].is.automation = AUTOMATION_DISABLED;
            s.inv.vms[k].is.alloc[RES_CPU].reservation = k == 0 ? 2000 : 1000;
        }
        s.inv.hosts[2].is.total[RES_CPU] = 5000;
        const char *got = plan_for(&s);
        if (!strstr(got, cases[i].said))
            fail_msg("%s: \"%s\"", cases[i].what, got);
        small_release(&s);
    }
}

static void test_no_host_at_all(void **state)
{
    struct small s;

    (void)state;
    (void)three_hosts(&s);
    s.inv.n_vms = 0;
    (void)small_vm(&s, "new", NULL, 0, 4096);
    s.inv.vms[0].is.state = VM_OFF;
    s.inv.vms[0].is.demand[RES_MEM] = 0;
    for (size_t h = 0; h < 3; h++)
        s.inv.hosts[h].is.state = HOST_MAINTENANCE;
    assert_non_null(strstr(plan_for(&s), "No host can run VMs."));
    small_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best_first),
        cmocka_unit_test(test_what_is_missing),
        cmocka_unit_test(test_no_host_at_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
