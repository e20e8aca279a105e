/* VMs that are about to run count on their future host. */
#include "unit.h"

#include "base/cleanup.h"
#include "core/place/place.h"
#include "core/place/starting.h"
#include "small_cluster.h"

#include <ballast/snapshot.h>

#include <errno.h>
#include <string.h>

/* Two VMs on h1, and v3 with 5000 MHz at most and 4096 MiB that does not run; h2 is empty. */
static void begin(struct small *s, bool pending)
{
    small_init(s);
    for (int i = 0; i < 2; i++) {
        struct seen_host *h = small_host(s, i ? "h2" : "h1", 10000, 16384);

        h->is.cores = 2;
        h->is.mem_free_mb = i ? 16384 : 8192;
    }
    small_vm(s, "v1", "h1", 3000, 4096);
    small_vm(s, "v2", "h1", 2000, 4096);
    struct seen_vm *v = small_vm(s, "v3", "h1", 0, 4096);

    v->is.state = VM_OFF;
    v->is.demand[RES_CPU] = v->is.demand[RES_MEM] = 0;
    vm_facts_windows(&v->is);
    if (pending)
        *inventory_add_pending(&s->inv, &s->a) =
            (struct seen_pending){.action = ACTION_PLACE, .vm = "v3", .to = "h2"};
}

/* What was just placed uses all it can, as far as the next one is concerned, though not as the plan's
 * snapshot has it. */
static void test_next_placement_sees_the_load(void **state)
{
    static const char *const expected[] = {"h2", "h1"};

    (void)state;
    for (int pending = 0; pending < 2; pending++) {
        struct small s;
        struct plan plan;
        struct err err;

        begin(&s, pending);
        s.inv.vms[0].is.demand[RES_CPU] = 500;
        s.inv.vms[1].is.demand[RES_CPU] = 500;
        struct seen_vm *v = small_vm(&s, "v6", "h1", 0, 1024);

        v->is.state = VM_OFF;
        v->is.demand[RES_CPU] = v->is.demand[RES_MEM] = 0;
        small_build(&s);
        uint32_t vm = small_vm_ix(&s, "v6");

        assert_int_equal(place_run(&s.snap, &s.policy, &vm, 1, &s.a, &plan, &err), 0);
        assert_int_equal(plan.n_recommendations, 1);
        assert_string_equal(s.snap.hosts[plan.recommendations[0].to].is.id, expected[pending]);
        assert_ptr_equal(plan.snap, &s.snap);
        assert_int_equal(s.snap.vms[small_vm_ix(&s, "v3")].is.state, VM_OFF);
        if (pending) {
            uint32_t again = small_vm_ix(&s, "v3");

            assert_int_equal(place_run(&s.snap, &s.policy, &again, 1, &s.a, &plan, &err), -EINVAL);
            assert_non_null(strstr(err.text, "is being powered on already"));
        }
        small_release(&s);
    }
}

/* Nor does it get the same room. */
static void test_next_placement_sees_the_room(void **state)
{
    static const char *const expected[] = {"h2", "h1"};

    (void)state;
    for (int pending = 0; pending < 2; pending++) {
        struct small s;
        struct plan plan;
        struct err err;

        begin(&s, pending);
        struct seen_vm *v = small_vm(&s, "v6", "h1", 0, 2048);

        v->is.state = VM_OFF;
        v->is.demand[RES_CPU] = v->is.demand[RES_MEM] = 0;
        vm_facts_windows(&v->is);
        s.inv.vms[1].is.alloc[RES_MEM].reservation = 4096;
        s.inv.vms[2].is.mem_mb = 12288;
        s.inv.vms[2].is.alloc[RES_MEM].reservation = 12288;
        v->is.mem_mb = 6144;
        v->is.alloc[RES_MEM].reservation = 6144;
        small_build(&s);
        uint32_t vm = small_vm_ix(&s, "v6");

        assert_int_equal(place_run(&s.snap, &s.policy, &vm, 1, &s.a, &plan, &err), 0);
        assert_int_equal(plan.n_recommendations, 1);
        assert_string_equal(s.snap.hosts[plan.recommendations[0].to].is.id, expected[pending]);
        small_release(&s);
    }
}

/* What has arrived, or cannot be seen, is as the snapshot says. */
static void test_only_what_has_not_begun(void **state)
{
    struct small s;

    (void)state;
    begin(&s, true);
    s.inv.hosts[1].is.state = HOST_DISCONNECTED;
    small_build(&s);
    assert_ptr_equal(starting_counted(&s.snap, &s.a), &s.snap);
    small_release(&s);
    begin(&s, true);
    s.inv.vms[2].is.state = VM_ON;
    s.inv.vms[2].host = "h2";
    small_build(&s);
    assert_ptr_equal(starting_counted(&s.snap, &s.a), &s.snap);
    small_release(&s);
}

/* The memory that it will take is not given away, where it is known what is free. */
static void test_memory(void **state)
{
    struct small s;

    (void)state;
    begin(&s, true);
    s.inv.hosts[0].is.mem_free_mb = UNKNOWN;
    small_build(&s);
    const struct snapshot *c = starting_counted(&s.snap, &s.a);
    const struct host *h2 = &c->hosts[small_host_ix(&s, "h2")];

    assert_true(h2->is.mem_free_mb == 16384 - 4096);
    assert_int_equal(h2->vms.n, 1);
    assert_true(isnan(c->hosts[small_host_ix(&s, "h1")].is.mem_free_mb));
    small_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_next_placement_sees_the_load),
        cmocka_unit_test(test_next_placement_sees_the_room),
        cmocka_unit_test(test_only_what_has_not_begun),
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
