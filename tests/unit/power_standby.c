/* Putting a host to standby by its methods: the conditions for cutting power, and the steps before it. */
#include "power_world.h"

/* ---- standby ----------------------------------------------------------------------------------- */

static const struct {
    const char *name, *order;
    int ipmi, redfish, source; /* what a soft shutdown answers */
    int cut, deaf;             /* what a cut, and the chassis, answer */
    bool hangs;                /* the operating system does not go down */
    bool hard_off, unproven, source_fails;
    instant_s until;
    const char *asked;
    enum task_state state;
    const char *says;
} standbys[] = {
    {.name = "softly", .order = "ir", .until = 60, .asked = "ipmi.down", .state = TASK_SUCCEEDED},
    {.name = "a packet cannot", .order = "wr", .until = 60, .asked = "redfish.down", .state = TASK_SUCCEEDED},
    {.name = "the first fails",
     .order = "ir",
     .ipmi = -ETIMEDOUT,
     .until = 60,
     .asked = "ipmi.down redfish.down",
     .state = TASK_SUCCEEDED,
     .says = "[ipmi: ipmi says no to down]"},
    {.name = "none takes it: nothing is cut",
     .order = "ir",
     .ipmi = -ENOTSUP,
     .redfish = -EACCES,
     .hard_off = true,
     .until = 800,
     .asked = "ipmi.down redfish.down",
     .state = TASK_FAILED,
     .says = "no other method"},
    {.name = "it hangs: the next one is asked",
     .order = "ir",
     .hangs = true,
     .until = 320,
     .asked = "ipmi.down redfish.down",
     .state = TASK_RUNNING,
     .says = "it is still on 300 s later"},
    {.name = "and then given up",
     .order = "ir",
     .hangs = true,
     .until = 800,
     .asked = "ipmi.down redfish.down",
     .state = TASK_FAILED,
     .says = "its power is not cut: hard_off is not set"},
    {.name = "or cut where that is set",
     .order = "i",
     .hangs = true,
     .hard_off = true,
     .until = 800,
     .asked = "ipmi.down ipmi.cut",
     .state = TASK_SUCCEEDED},
    {.name = "never of one that is not proven empty",
     .order = "i",
     .hangs = true,
     .hard_off = true,
     .unproven = true,
     .until = 800,
     .asked = "ipmi.down",
     .state = TASK_FAILED,
     .says = "it is not proven empty"},
    {.name = "nor of one that cannot be seen",
     .order = "i",
     .hangs = true,
     .hard_off = true,
     .deaf = -ETIMEDOUT,
     .until = BOOTS_S + 10,
     .asked = "ipmi.down",
     .state = TASK_FAILED,
     .says = "is still not off"},
    {.name = "the cut fails, another one cuts",
     .order = "ir",
     .hangs = true,
     .hard_off = true,
     .cut = -EIO,
     .redfish = -ENOTSUP,
     .until = 800,
     .asked = "ipmi.down redfish.down ipmi.cut redfish.cut",
     .state = TASK_SUCCEEDED},
    {.name = "the source's own",
     .order = "hi",
     .until = 100,
     .asked = "hypervisor.start",
     .state = TASK_RUNNING},
    {.name = "refused",
     .order = "hi",
     .source = -EPERM,
     .until = 100,
     .asked = "hypervisor.start ipmi.down",
     .state = TASK_SUCCEEDED},
    {.name = "in standby already",
     .order = "hi",
     .source = -ESTALE,
     .until = 100,
     .asked = "hypervisor.start",
     .state = TASK_SUCCEEDED},
    {.name = "the source's own fails: that is no reason to cut",
     .order = "h",
     .source_fails = true,
     .hard_off = true,
     .until = 800,
     .asked = "hypervisor.start",
     .state = TASK_FAILED},
};

static void test_standby(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(standbys); i++) {
        struct actuators_world w;

        print_message("  %s\n", standbys[i].name);
        begin(&w, standbys[i].order, OPERATION_STANDBY, standbys[i].hard_off);
        fakes[POWER_IPMI].shut_down = standbys[i].ipmi;
        fakes[POWER_REDFISH].shut_down = standbys[i].redfish;
        fakes[POWER_IPMI].cut = standbys[i].cut;
        fakes[POWER_IPMI].chassis = fakes[POWER_REDFISH].chassis = standbys[i].deaf;
        os_hangs = standbys[i].hangs;
        inner.start = standbys[i].source;
        if (standbys[i].source_fails) {
            inner.progress.state = TASK_FAILED;
            (void)err_set(&inner.progress.why, -EIO, "it broke");
        }
        start(&w);
        struct task_progress p = run_until(&w, 2);

        w.q.power.proven_empty = !standbys[i].unproven;
        if (p.state == TASK_RUNNING)
            p = run_until(&w, standbys[i].until);
        assert_string_equal(asked, standbys[i].asked);
        assert_int_equal(p.state, standbys[i].state);
        if (standbys[i].says && !strstr(w.why, standbys[i].says))
            fail_msg("it said %s", w.why);
        end(&w);
    }
}

/* What was not asked while it was proven empty is not asked later without a new proof. */
static void test_proof_is_judged_anew(void **state)
{
    struct actuators_world w;
    struct task_progress p;

    (void)state;
    begin(&w, "ir", OPERATION_STANDBY, true);
    fakes[POWER_IPMI].shut_down = -ETIMEDOUT;
    start(&w);
    (void)run_until(&w, 0);
    w.q.power.proven_empty = false; /* a VM has appeared there */
    p = run_until(&w, 400);
    assert_int_equal(p.state, TASK_FAILED);
    assert_string_equal(asked, "ipmi.down");
    assert_non_null(strstr(w.why, "it is not proven empty any more"));
    end(&w);
}

/* ---- answers that are lost --------------------------------------------------------------------- */

/* What was perhaps heard is given as long as what was taken, before anything else comes of it. */
static const struct {
    const char *name, *order;
    int ipmi, redfish; /* what a soft shutdown answers */
    bool heard;        /* those that fail have heard it all the same */
    bool hangs, hard_off;
    instant_s until;
    const char *asked;
    enum task_state state;
    const char *says;
} lost_cases[] = {
    {.name = "it has heard it",
     .order = "i",
     .ipmi = -ETIMEDOUT,
     .heard = true,
     .until = 60,
     .asked = "ipmi.down",
     .state = TASK_SUCCEEDED},
    {.name = "the next one refuses",
     .order = "ir",
     .ipmi = -ECONNRESET,
     .redfish = -ENOTSUP,
     .heard = true,
     .until = 60,
     .asked = "ipmi.down redfish.down",
     .state = TASK_SUCCEEDED},
    {.name = "it may be on its way down",
     .order = "i",
     .ipmi = -ETIMEDOUT,
     .hangs = true,
     .until = 290,
     .asked = "ipmi.down",
     .state = TASK_RUNNING},
    {.name = "nobody has taken it: that is no reason to cut",
     .order = "i",
     .ipmi = -ETIMEDOUT,
     .hangs = true,
     .hard_off = true,
     .until = 400,
     .asked = "ipmi.down",
     .state = TASK_FAILED,
     .says = "something perhaps asked host esx1 to shut down"},
    {.name = "refused by all: at once",
     .order = "ir",
     .ipmi = -EACCES,
     .redfish = -ECONNREFUSED,
     .hangs = true,
     .until = 5,
     .asked = "ipmi.down redfish.down",
     .state = TASK_FAILED,
     .says = "no other method"},
    {.name = "one took it, the other perhaps: the power stays while it may be going down",
     .order = "ir",
     .redfish = -ETIMEDOUT,
     .hangs = true,
     .hard_off = true,
     .until = 590,
     .asked = "ipmi.down redfish.down",
     .state = TASK_RUNNING},
    {.name = "and is cut after that",
     .order = "ir",
     .redfish = -ETIMEDOUT,
     .hangs = true,
     .hard_off = true,
     .until = 700,
     .asked = "ipmi.down redfish.down ipmi.cut",
     .state = TASK_SUCCEEDED},
};

static void test_lost_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(lost_cases); i++) {
        struct actuators_world w;

        print_message("  %s\n", lost_cases[i].name);
        begin(&w, lost_cases[i].order, OPERATION_STANDBY, lost_cases[i].hard_off);
        fakes[POWER_IPMI].shut_down = lost_cases[i].ipmi;
        fakes[POWER_REDFISH].shut_down = lost_cases[i].redfish;
        fakes[POWER_IPMI].hears = fakes[POWER_REDFISH].hears = lost_cases[i].heard;
        os_hangs = lost_cases[i].hangs;
        start(&w);
        struct task_progress p = run_until(&w, lost_cases[i].until);

        assert_string_equal(asked, lost_cases[i].asked);
        assert_int_equal(p.state, lost_cases[i].state);
        if (lost_cases[i].says && !strstr(w.why, lost_cases[i].says))
            fail_msg("it said %s", w.why);
        end(&w);
    }
}

/* The source may have begun: it is asked once more, which follows what runs, and only then the next one. */
static void test_lost_by_the_source(void **state)
{
    struct actuators_world w;

    (void)state;
    begin(&w, "hi", OPERATION_STANDBY, false);
    inner.start = -ETIMEDOUT;
    start(&w);
    (void)run_until(&w, 5);
    inner.start = 0;
    inner.progress.state = TASK_SUCCEEDED;
    assert_int_equal(run_until(&w, 30).state, TASK_SUCCEEDED);
    assert_null(strstr(asked, "ipmi"));
    end(&w);

    begin(&w, "hi", OPERATION_STANDBY, false);
    inner.start = -ETIMEDOUT;
    start(&w);
    assert_int_equal(run_until(&w, 100).state, TASK_SUCCEEDED);
    assert_non_null(strstr(asked, "ipmi.down"));
    end(&w);

    /* the source has forgotten its task: how it ended only an inventory can tell, and nobody else is asked */
    begin(&w, "hi", OPERATION_STANDBY, false);
    inner.progress.state = TASK_FAILED;
    inner.progress.gone = true;
    start(&w);
    struct task_progress p = run_until(&w, 100);

    assert_true(p.state == TASK_FAILED && p.gone);
    assert_string_equal(asked, "hypervisor.start");
    end(&w);
}

/* The service goes down in the midst of a call: the next process makes the same one once more. */
static void test_service_goes_down(void **state)
{
    static const enum operation_kind operations[] = {OPERATION_STANDBY, OPERATION_WAKE};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(operations); i++) {
        struct actuators_world w;
        struct task_progress p = {0};
        struct err err = {0};

        begin(&w, "i", operations[i], false);
        fakes[POWER_IPMI].wake = fakes[POWER_IPMI].shut_down = -ECANCELED;
        start(&w);
        assert_int_equal(w.ops.poll(w.x, &w.q, w.task, &p, &err), -ECANCELED);
        fakes[POWER_IPMI].wake = fakes[POWER_IPMI].shut_down = 0;
        another_process(&w);
        (void)run_until(&w, 5);
        assert_string_equal(asked,
                            operations[i] == OPERATION_WAKE ? "ipmi.wake ipmi.wake" : "ipmi.down ipmi.down");
        fakes[POWER_IPMI].chassis = -ECANCELED;
        w.q.power.now = BEGIN + 20;
        assert_int_equal(w.ops.poll(w.x, &w.q, w.task, &p, &err), -ECANCELED);
        end(&w);
    }
}

/* ---- cutting, once ------------------------------------------------------------------------------ */

/* Whatever became of the call: a method is asked to cut at most once, by one process. */
static void test_cut_once(void **state)
{
    static const struct {
        const char *name, *order;
        int code;
        bool works, dies_before, dies_after;
        const char *asked;
        enum task_state state;
    } cases[] = {
        {"its answer is lost", "i", -ETIMEDOUT, true, false, false, "ipmi.cut", TASK_SUCCEEDED},
        {"and it was not heard", "i", -ETIMEDOUT, false, false, false, "ipmi.cut", TASK_FAILED},
        {"and another one can", "ir", -ETIMEDOUT, false, false, false, "ipmi.cut redfish.cut", TASK_FAILED},
        {"the process dies after it", "i", 0, false, false, true, "ipmi.cut", TASK_FAILED},
        {"it dies after it, and it has worked", "i", 0, true, false, true, "ipmi.cut", TASK_SUCCEEDED},
        {"it dies before it", "i", 0, true, true, false, "", TASK_FAILED},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct actuators_world w;
        struct task_progress p = {0};
        char before[TASK_NAME_MAX];

        print_message("  %s\n", cases[i].name);
        begin(&w, cases[i].order, OPERATION_STANDBY, true);
        os_hangs = true;
        for (int k = 0; k < POWER_METHOD_COUNT; k++) {
            fakes[k].cut = cases[i].code;
            fakes[k].hears = cases[i].works;
        }
        start(&w);
        for (instant_s t = 0; !strstr(w.task, "p1 c "); t++)
            assert_int_equal(run_until(&w, t).state, TASK_RUNNING);
        asked[0] = '\0';
        (void)snprintf(before, sizeof before, "%s", w.task);
        fakes[POWER_IPMI].moves = fakes[POWER_REDFISH].moves = cases[i].works;
        if (cases[i].dies_after)
            assert_int_equal(w.ops.poll(w.x, &w.q, w.task, &p, NULL), 0);
        assert_string_equal(w.task, before);
        if (cases[i].dies_after || cases[i].dies_before)
            another_process(&w);
        p = run_until(&w, BOOTS_S + 10);
        assert_string_equal(asked, cases[i].asked);
        assert_int_equal(p.state, cases[i].state);
        assert_true(p.state == TASK_SUCCEEDED || p.gone); /* an inventory tells */
        end(&w);
    }
}

/* ---- several controllers of one host ------------------------------------------------------------- */

static const struct {
    const char *name;
    int ipmi_deaf;
    enum chassis ipmi, redfish; /* what they say after they were asked; unknown: the truth */
    bool hangs, hard_off;
    instant_s until;
    const char *asked;
    enum task_state state;
    bool gone;
    const char *says;
} views[] = {
    {.name = "the first is deaf: the second tells",
     .ipmi_deaf = -ETIMEDOUT,
     .until = 20,
     .asked = "ipmi.down",
     .state = TASK_SUCCEEDED},
    {.name = "one says off, one says on: it is not taken for off",
     .redfish = CHASSIS_ON,
     .until = 200,
     .asked = "ipmi.down",
     .state = TASK_RUNNING},
    {.name = "nor is anything more asked of either",
     .redfish = CHASSIS_ON,
     .until = 310,
     .asked = "ipmi.down",
     .state = TASK_FAILED,
     .gone = true,
     .says = "redfish says that host esx1 is on, and ipmi that it is off"},
    {.name = "the other way round, and it hangs: nothing is cut",
     .redfish = CHASSIS_OFF,
     .hangs = true,
     .hard_off = true,
     .until = 400,
     .asked = "ipmi.down",
     .state = TASK_FAILED,
     .gone = true,
     .says = "ipmi says that host esx1 is on, and redfish that it is off"},
    {.name = "both say on: it is cut",
     .hangs = true,
     .hard_off = true,
     .until = 700,
     .asked = "ipmi.down redfish.down ipmi.cut",
     .state = TASK_SUCCEEDED},
};

static void test_several_controllers(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(views); i++) {
        struct actuators_world w;

        print_message("  %s\n", views[i].name);
        begin(&w, "ir", OPERATION_STANDBY, views[i].hard_off);
        os_hangs = views[i].hangs;
        start(&w);
        struct task_progress p = run_until(&w, 1);

        fakes[POWER_IPMI].chassis = views[i].ipmi_deaf;
        fakes[POWER_IPMI].says = views[i].ipmi;
        fakes[POWER_REDFISH].says = views[i].redfish;
        p = run_until(&w, views[i].until);
        assert_string_equal(asked, views[i].asked);
        assert_int_equal(p.state, views[i].state);
        assert_int_equal(p.gone, views[i].gone);
        if (views[i].says && !strstr(w.why, views[i].says))
            fail_msg("it said %s", w.why);
        end(&w);
    }
}

/* They come to disagree while everything was made ready to cut. */
static void test_disagree_before_the_cut(void **state)
{
    struct actuators_world w;
    struct task_progress p;

    (void)state;
    begin(&w, "ir", OPERATION_STANDBY, true);
    w.q.power.patience_s = 2 * BOOTS_S;
    os_hangs = true;
    start(&w);
    for (instant_s t = 0; !strstr(w.task, "p1 c "); t++)
        assert_int_equal(run_until(&w, t).state, TASK_RUNNING);
    fakes[POWER_REDFISH].says = CHASSIS_OFF;
    p = run_until(&w, BOOTS_S + 100);
    assert_true(p.state == TASK_FAILED && p.gone);
    assert_string_equal(asked, "ipmi.down redfish.down");
    assert_non_null(strstr(w.why, "do not agree"));
    end(&w);
}

/* The proof that the host is empty is of the moment when it was polled, and does not hold for minutes. */
static void test_slow_looks(void **state)
{
    (void)state;
    for (int slow = 0; slow < 2; slow++) {
        struct actuators_world w;

        begin(&w, "ir", OPERATION_STANDBY, true);
        w.q.power.patience_s = 3 * BOOTS_S;
        os_hangs = true;
        start(&w);
        for (instant_s t = 0; !strstr(w.task, "p1 c "); t++)
            assert_int_equal(run_until(&w, t).state, TASK_RUNNING);
        look_takes_ms = slow ? 16000 : 14000; /* each of two */
        struct task_progress p = run_until(&w, 3 * BOOTS_S);

        assert_int_equal(p.state, slow ? TASK_FAILED : TASK_SUCCEEDED);
        assert_string_equal(asked, slow ? "ipmi.down redfish.down" : "ipmi.down redfish.down ipmi.cut");
        assert_true(!slow || strstr(w.why, "takes too long"));
        end(&w);
    }
}

/* ---- before anything is asked ------------------------------------------------------------------- */

static const struct {
    const char *name, *order;
    enum operation_kind kind;
    enum chassis chassis;
    int deaf, source;
    int code;
    const char *says;
} checks[] = {
    {"standby", "i", OPERATION_STANDBY, CHASSIS_ON, 0, 0, 0, NULL},
    {"a packet alone cannot shut down", "w", OPERATION_STANDBY, CHASSIS_ON, 0, 0, -ENOTSUP,
     "no method to be shut down by"},
    {"its controller is deaf, and nothing else could wake it", "i", OPERATION_STANDBY, CHASSIS_ON, -ETIMEDOUT,
     0, -ETIMEDOUT, "deaf"},
    {"a packet could, but nothing else could shut it down", "iw", OPERATION_STANDBY, CHASSIS_ON, -ETIMEDOUT,
     0, -ETIMEDOUT, "deaf"},
    {"a packet could, and the source shuts it down", "iwh", OPERATION_STANDBY, CHASSIS_ON, -ETIMEDOUT, 0, 0,
     NULL},
    {"the controller of another machine", "iw", OPERATION_STANDBY, CHASSIS_OFF, 0, 0, -EPERM,
     "of another machine"},
    {"put down by its controller, so not in standby for the source", "ih", OPERATION_WAKE, CHASSIS_OFF, 0,
     -ESTALE, 0, NULL},
    {"the same, and the source is all there is", "h", OPERATION_WAKE, CHASSIS_OFF, 0, -ESTALE, -ESTALE,
     "says no"},
    {"in standby already, says the source", "ih", OPERATION_STANDBY, CHASSIS_ON, 0, -ESTALE, -ESTALE,
     "the source says no"},
    {"the source needs it on, whatever would shut it down", "hi", OPERATION_STANDBY, CHASSIS_ON, 0, -EPERM,
     -EPERM, "the source says no"},
    {"only the source, and it cannot", "h", OPERATION_STANDBY, CHASSIS_ON, 0, -EPERM, -EPERM,
     "the source says no"},
    {"wake", "w", OPERATION_WAKE, CHASSIS_OFF, 0, 0, 0, NULL},
    {"no way at all", "", OPERATION_WAKE, CHASSIS_OFF, 0, 0, -ENOTSUP, "no method to be woken by"},
};

static void test_check(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(checks); i++) {
        struct actuators_world w;
        struct err err = {0};

        print_message("  %s\n", checks[i].name);
        begin(&w, checks[i].order, checks[i].kind, false);
        chassis_is = checks[i].chassis;
        fakes[POWER_IPMI].chassis = checks[i].deaf;
        inner.check = checks[i].source;
        assert_int_equal(w.ops.check(w.x, &w.q, &err), checks[i].code);
        assert_string_equal(asked, ""); /* no effect */
        if (checks[i].says && !strstr(err.text, checks[i].says))
            fail_msg("it said %s", err.text);
        end(&w);
    }
}

/* The second one counts as much: it answers where the first is deaf, and may be that of another machine. */
static void test_second_controller(void **state)
{
    struct actuators_world w;
    struct err err = {0};

    (void)state;
    begin(&w, "ir", OPERATION_STANDBY, false);
    fakes[POWER_IPMI].chassis = -ETIMEDOUT;
    assert_int_equal(w.ops.check(w.x, &w.q, &err), 0);
    fakes[POWER_REDFISH].chassis = -ETIMEDOUT;
    assert_int_equal(w.ops.check(w.x, &w.q, &err), -ETIMEDOUT);
    fakes[POWER_IPMI].chassis = fakes[POWER_REDFISH].chassis = 0;
    fakes[POWER_REDFISH].says = CHASSIS_OFF;
    assert_int_equal(w.ops.check(w.x, &w.q, &err), -EPERM);
    assert_non_null(strstr(err.text, "(redfish)"));
    end(&w);
}

/* The clock is set back while a host goes down: it is given its time anew, and not hours. */
static void test_clock_set_back(void **state)
{
    struct actuators_world w;

    (void)state;
    begin(&w, "i", OPERATION_STANDBY, false);
    os_hangs = true;
    start(&w);
    assert_int_equal(run_until(&w, 100).state, TASK_RUNNING);
    w.q.power.now -= 7200;
    assert_int_equal(run_until(&w, 100 - 7200 + 290).state, TASK_RUNNING);
    assert_int_equal(run_until(&w, 100 - 7200 + 310).state, TASK_FAILED);
    assert_string_equal(asked, "ipmi.down");
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_standby),
        cmocka_unit_test(test_clock_set_back),
        cmocka_unit_test(test_proof_is_judged_anew),
        cmocka_unit_test(test_lost_answers),
        cmocka_unit_test(test_lost_by_the_source),
        cmocka_unit_test(test_service_goes_down),
        cmocka_unit_test(test_cut_once),
        cmocka_unit_test(test_several_controllers),
        cmocka_unit_test(test_disagree_before_the_cut),
        cmocka_unit_test(test_slow_looks),
        cmocka_unit_test(test_second_controller),
        cmocka_unit_test(test_check),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
