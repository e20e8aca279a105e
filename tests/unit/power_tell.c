/* Before a controller switches a host off, the hypervisor puts the host into maintenance mode. */
#include "power_world.h"

static const struct {
    const char *name, *order;
    int enter;            /* what the request to enter maintenance mode answers */
    enum task_state ends; /* its task */
    bool gone, maintained, entering, forgets;
    int ipmi; /* what a soft shutdown answers */
    instant_s until;
    const char *asked;
    enum task_state state;
    enum maintenance_news news; /* at the end */
    const char *says;
} tells[] = {
    {.name = "before the first controller",
     .order = "ir",
     .ends = TASK_SUCCEEDED,
     .until = 60,
     .asked = "hypervisor.enter ipmi.down",
     .state = TASK_SUCCEEDED},
    {.name = "once",
     .order = "ir",
     .ends = TASK_SUCCEEDED,
     .ipmi = -EACCES,
     .until = 60,
     .asked = "hypervisor.enter ipmi.down redfish.down",
     .state = TASK_SUCCEEDED},
    {.name = "not where its own standby is first",
     .order = "hi",
     .ends = TASK_SUCCEEDED,
     .until = 60,
     .asked = "hypervisor.start",
     .state = TASK_RUNNING},
    {.name = "it refuses",
     .order = "ir",
     .enter = -EPERM,
     .until = 60,
     .asked = "",
     .state = TASK_FAILED,
     .says = "could not enter maintenance mode first: the source lets it not enter"},
    {.name = "its task fails",
     .order = "ir",
     .ends = TASK_FAILED,
     .until = 60,
     .asked = "hypervisor.enter",
     .state = TASK_FAILED,
     .says = "could not enter maintenance mode first: a VM runs"},
    {.name = "its task does not end",
     .order = "ir",
     .ends = TASK_RUNNING,
     .until = 400,
     .asked = "hypervisor.enter",
     .state = TASK_FAILED,
     .says = "has not finished after 300 s"},
    {.name = "its task is forgotten, and the host is in it",
     .order = "ir",
     .ends = TASK_FAILED,
     .gone = true,
     .until = 60,
     .asked = "hypervisor.enter hypervisor.enter ipmi.down",
     .state = TASK_SUCCEEDED},
    {.name = "the answer is lost",
     .order = "ir",
     .enter = -ECONNRESET,
     .ends = TASK_SUCCEEDED,
     .until = 60,
     .asked = "hypervisor.enter hypervisor.enter ipmi.down",
     .state = TASK_SUCCEEDED},
    {.name = "a person has put it there",
     .order = "ir",
     .maintained = true,
     .until = 60,
     .asked = "",
     .state = TASK_FAILED,
     .news = MAINTENANCE_NOT_OURS,
     .says = "others have put it into maintenance mode"},
    {.name = "a person is about to",
     .order = "ir",
     .entering = true,
     .until = 60,
     .asked = "",
     .state = TASK_FAILED,
     .news = MAINTENANCE_NOT_OURS,
     .says = "others have put it into maintenance mode"},
    {.name = "nothing is asked that the caller does not remember",
     .order = "ir",
     .forgets = true,
     .until = 400,
     .asked = "",
     .state = TASK_FAILED,
     .news = MAINTENANCE_NOT_OURS},
};

static void begin_standby(struct actuators_world *w, const char *order)
{
    begin(w, order, OPERATION_STANDBY, false);
    inner_ops.operations |= 1u << OPERATION_ENTER_MAINTENANCE | 1u << OPERATION_EXIT_MAINTENANCE;
    start(w);
}

static void test_hypervisor_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(tells); i++) {
        struct actuators_world w;

        print_message("  %s\n", tells[i].name);
        begin_standby(&w, tells[i].order);
        inner.enter = tells[i].enter;
        inner.entering.state = tells[i].ends;
        inner.entering.gone = tells[i].gone;
        if (tells[i].ends == TASK_FAILED && !tells[i].gone)
            (void)err_set(&inner.entering.why, -EIO, "a VM runs");
        inner.in_maintenance = tells[i].maintained;
        inner.enters = tells[i].entering;
        fakes[POWER_IPMI].shut_down = tells[i].ipmi;
        struct task_progress p = run_until(&w, 0);

        assert_null(strstr(asked, "enter")); /* the mark is stored first */
        if (p.state == TASK_RUNNING && strcmp(tells[i].order, "hi") != 0 && tells[i].enter != -EPERM)
            assert_int_equal(p.maintenance, MAINTENANCE_BEGINS);
        w.q.power.maintenance_is_ours = !tells[i].forgets;
        if (tells[i].gone) {
            p = run_until(&w, 1);
            inner.in_maintenance = true;
        }
        if (p.state == TASK_RUNNING)
            p = run_until(&w, tells[i].until);
        assert_string_equal(asked, tells[i].asked);
        assert_int_equal(p.state, tells[i].state);
        if (p.state == TASK_FAILED) {
            assert_int_equal(p.maintenance, tells[i].news);
            assert_false(p.gone);
        }
        if (tells[i].says && !strstr(w.why, tells[i].says))
            fail_msg("it said %s", w.why);
        end(&w);
    }
}

/* A process dies right after the call: the next one finds the host in maintenance mode, and that is ours. */
static void test_told_by_the_process_before(void **state)
{
    struct actuators_world w;

    (void)state;
    begin_standby(&w, "ir");
    (void)run_until(&w, 0);
    w.q.power.maintenance_is_ours = true;
    inner.in_maintenance = true;
    another_process(&w);
    struct task_progress p = run_until(&w, 60);

    assert_int_equal(p.state, TASK_SUCCEEDED);
    assert_string_equal(asked, "hypervisor.enter ipmi.down");
    end(&w);
}

/* Between our question and our request a person was quicker. */
static void test_a_person_was_quicker(void **state)
{
    struct actuators_world w;

    (void)state;
    begin_standby(&w, "ir");
    (void)run_until(&w, 0);
    w.q.power.maintenance_is_ours = true;
    inner.in_maintenance = true;
    struct task_progress p = run_until(&w, 60);

    assert_true(p.state == TASK_FAILED && p.maintenance == MAINTENANCE_NOT_OURS);
    assert_string_equal(asked, "hypervisor.enter");
    end(&w);
}

/* A standby that is asked for while the host is still in the maintenance mode of the one before. */
static void test_told_by_the_standby_before(void **state)
{
    struct actuators_world w;

    (void)state;
    begin_standby(&w, "ir");
    w.q.power.maintenance_is_ours = inner.in_maintenance = true;
    struct task_progress p = run_until(&w, 60);

    assert_int_equal(p.state, TASK_SUCCEEDED);
    assert_string_equal(asked, "hypervisor.enter ipmi.down");
    end(&w);
}

static void test_cancelled(void **state)
{
    struct actuators_world w;
    struct err err = {0};

    (void)state;
    begin_standby(&w, "ir");
    inner.entering.state = TASK_RUNNING;
    w.q.power.maintenance_is_ours = true;
    (void)run_until(&w, 5);
    assert_int_equal(w.ops.cancel(w.x, &w.q, w.task, &err), 0);
    assert_int_equal(inner.cancels, 1);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hypervisor_is_told),
        cmocka_unit_test(test_told_by_the_process_before),
        cmocka_unit_test(test_a_person_was_quicker),
        cmocka_unit_test(test_told_by_the_standby_before),
        cmocka_unit_test(test_cancelled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
