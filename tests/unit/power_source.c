/* The source is asked before a standby, and right before each request to a controller, whether it can do
 * without the host. */
#include "power_world.h"

static const struct {
    const char *name, *order;
    int source, own, begins; /* check() of a standby by a controller, of one by the source itself; start() */
    bool without_standby;    /* the source knows none */
    instant_s until;
    int check;
    const char *asked;
    enum task_state state;
    const char *says;
} sources[] = {
    {.name = "what only matters to itself",
     .order = "i",
     .own = -EPERM,
     .until = 60,
     .asked = "ipmi.down",
     .state = TASK_SUCCEEDED},
    {.name = "it cannot, a controller can",
     .order = "hi",
     .own = -EPERM,
     .begins = -EPERM,
     .until = 60,
     .asked = "hypervisor.start ipmi.down",
     .state = TASK_SUCCEEDED},
    {.name = "it cannot, and needs the host on",
     .order = "hi",
     .source = -EPERM,
     .begins = -EPERM,
     .until = 60,
     .check = -EPERM,
     .asked = "hypervisor.start",
     .state = TASK_FAILED,
     .says = "host esx1 was not asked to shut down: the source says no"},
    {.name = "it refuses",
     .order = "ir",
     .source = -EPERM,
     .until = 60,
     .check = -EPERM,
     .asked = "",
     .state = TASK_FAILED,
     .says = "host esx1 was not asked to shut down: the source says no"},
    {.name = "it does not answer",
     .order = "i",
     .source = -ETIMEDOUT,
     .until = 290,
     .check = -ETIMEDOUT,
     .asked = "",
     .state = TASK_RUNNING},
    {.name = "for long",
     .order = "i",
     .source = -ETIMEDOUT,
     .until = 310,
     .check = -ETIMEDOUT,
     .asked = "",
     .state = TASK_FAILED,
     .says = "host esx1 was not asked to shut down: the source says no"},
    {.name = "it counts the host as off",
     .order = "i",
     .source = -ESTALE,
     .until = 60,
     .check = -ESTALE,
     .asked = "ipmi.down",
     .state = TASK_SUCCEEDED},
    {.name = "it knows no standby",
     .order = "i",
     .source = -ENOTSUP,
     .without_standby = true,
     .until = 60,
     .asked = "ipmi.down",
     .state = TASK_SUCCEEDED},
};

static void test_source_is_asked(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(sources); i++) {
        struct actuators_world w;
        struct err err = {0};

        print_message("  %s\n", sources[i].name);
        begin(&w, sources[i].order, OPERATION_STANDBY, false);
        inner.check = sources[i].source;
        inner.own = sources[i].own;
        inner.start = sources[i].begins;
        inner_ops.operations &= ~(sources[i].without_standby ? 1u << OPERATION_STANDBY : 0);
        assert_int_equal(w.ops.check(w.x, &w.q, &err), sources[i].check);
        start(&w);
        struct task_progress p = run_until(&w, sources[i].until);

        assert_string_equal(asked, sources[i].asked);
        assert_int_equal(p.state, sources[i].state);
        if (sources[i].says && !strstr(w.why, sources[i].says))
            fail_msg("it said %s", w.why);
        end(&w);
    }
}

/* Its answer takes long, and the proof that the host is empty does not hold; it is busy, and then no more;
 * the service goes down meanwhile. */
static void test_source_is_asked_in_time(void **state)
{
    struct actuators_world w;
    struct task_progress p;

    (void)state;
    begin(&w, "i", OPERATION_STANDBY, false);
    start(&w);
    inner.check_takes_ms = 31000;
    assert_int_equal(run_until(&w, 100).state, TASK_RUNNING);
    assert_string_equal(asked, "");
    inner.check_takes_ms = 0;
    inner.check = -EBUSY;
    assert_int_equal(run_until(&w, 200).state, TASK_RUNNING);
    assert_string_equal(asked, "");
    inner.check = -ECANCELED;
    assert_int_equal(w.ops.poll(w.x, &w.q, w.task, &p, NULL), -ECANCELED);
    inner.check = 0;
    assert_int_equal(run_until(&w, 260).state, TASK_SUCCEEDED);
    assert_string_equal(asked, "ipmi.down");
    end(&w);
}

/* Power is cut only if the source can do without the host at that moment, too; one that has left the source
 * by then is cut. */
static void test_source_is_asked_before_the_cut(void **state)
{
    static const int says[] = {0, -ESTALE, -EPERM, -ETIMEDOUT};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(says); i++) {
        struct actuators_world w;
        bool cut = says[i] == 0 || says[i] == -ESTALE;

        begin(&w, "i", OPERATION_STANDBY, true);
        os_hangs = true;
        start(&w);
        for (instant_s t = 0; !strstr(w.task, "p1 c "); t++)
            assert_int_equal(run_until(&w, t).state, TASK_RUNNING);
        inner.check = says[i];
        struct task_progress p = run_until(&w, BOOTS_S - 1);

        assert_string_equal(asked, cut ? "ipmi.down ipmi.cut" : "ipmi.down");
        assert_int_equal(p.state, cut ? TASK_SUCCEEDED : TASK_FAILED);
        assert_true(cut || strstr(w.why, "its power is not cut: the source says no"));
        end(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_source_is_asked),
        cmocka_unit_test(test_source_is_asked_in_time),
        cmocka_unit_test(test_source_is_asked_before_the_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
