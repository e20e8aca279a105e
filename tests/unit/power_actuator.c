/* A host's power methods in their order, around the source's own actuator: waking, the calls that pass
 * through, and how another process reads the name of a task. */
#include "power_world.h"

/* ---- waking ------------------------------------------------------------------------------------ */

static const struct {
    const char *name, *order;
    int ipmi, redfish, wol, source; /* what the calls answer */
    bool lies, deaf, source_fails;  /* yes, and nothing happens; no chassis; the source's task fails */
    instant_s until;
    const char *asked;
    enum task_state state;
    unsigned method; /* that is being tried at the end; 0: any */
    const char *says;
} wakes[] = {
    {.name = "the first works", .order = "irw", .until = 200, .asked = "ipmi.wake", .state = TASK_RUNNING},
    {.name = "the first fails",
     .order = "iw",
     .ipmi = -ETIMEDOUT,
     .until = 200,
     .asked = "ipmi.wake wol.wake",
     .state = TASK_RUNNING,
     .says = "[ipmi: ipmi says no to wake]"},
    {.name = "the order is the configuration's",
     .order = "wri",
     .wol = -ENETDOWN,
     .until = 100,
     .asked = "wol.wake redfish.wake",
     .state = TASK_RUNNING},
    {.name = "all fail: at once, so that another host is woken",
     .order = "irw",
     .ipmi = -EACCES,
     .redfish = -EPROTO,
     .wol = -ENETDOWN,
     .until = 5,
     .asked = "ipmi.wake redfish.wake wol.wake",
     .state = TASK_FAILED,
     .says = "no other method"},
    {.name = "answers are lost: each is asked once more, and then it has failed",
     .order = "ir",
     .ipmi = -ETIMEDOUT,
     .redfish = -EACCES,
     .until = 100,
     .asked = "ipmi.wake redfish.wake ipmi.wake redfish.wake",
     .state = TASK_FAILED,
     .says = "no other method"},
    {.name = "it says yes and is off",
     .order = "ir",
     .lies = true,
     .until = 100,
     .asked = "ipmi.wake redfish.wake",
     .state = TASK_FAILED,
     .says = "ipmi said yes, but host esx1 is still off"},
    {.name = "it says on, and the host does not come: each gets its share",
     .order = "irw",
     .until = BOOTS_S,
     .asked = "ipmi.wake redfish.wake wol.wake",
     .state = TASK_RUNNING,
     .method = WAKE_WOL,
     .says = "was not back within 300 s"},
    {.name = "nobody waits any more",
     .order = "i",
     .until = BOOTS_S + 10,
     .asked = "ipmi.wake",
     .state = TASK_FAILED,
     .says = "was not back 901 s after"},
    {.name = "a controller that turns deaf is given its share",
     .order = "iw",
     .deaf = true,
     .until = 400,
     .asked = "ipmi.wake",
     .state = TASK_RUNNING},
    {.name = "the source's own call comes first",
     .order = "hi",
     .until = 100,
     .asked = "hypervisor.start",
     .state = TASK_RUNNING,
     .method = WAKE_HYPERVISOR},
    {.name = "which is refused",
     .order = "hi",
     .source = -EPERM,
     .until = 100,
     .asked = "hypervisor.start ipmi.wake",
     .state = TASK_RUNNING,
     .method = WAKE_IPMI,
     .says = "[hypervisor: the source does not begin]"},
    {.name = "or fails",
     .order = "hi",
     .source_fails = true,
     .until = 100,
     .asked = "hypervisor.start ipmi.wake",
     .state = TASK_RUNNING,
     .says = "[hypervisor: it broke]"},
    {.name = "the source says that it is awake",
     .order = "hi",
     .source = -ESTALE,
     .until = 400,
     .asked = "hypervisor.start",
     .state = TASK_RUNNING},
};

static void test_wake(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(wakes); i++) {
        struct actuators_world w;

        print_message("  %s\n", wakes[i].name);
        begin(&w, wakes[i].order, OPERATION_WAKE, false);
        fakes[POWER_IPMI].wake = wakes[i].ipmi;
        fakes[POWER_REDFISH].wake = wakes[i].redfish;
        fakes[POWER_WOL].wake = wakes[i].wol;
        inner.start = wakes[i].source;
        fakes[POWER_IPMI].moves = fakes[POWER_REDFISH].moves = !wakes[i].lies;
        fakes[POWER_IPMI].chassis = wakes[i].deaf ? -ETIMEDOUT : 0;
        if (wakes[i].source_fails) {
            inner.progress.state = TASK_FAILED;
            (void)err_set(&inner.progress.why, -EIO, "it broke");
        }
        start(&w);
        struct task_progress p = run_until(&w, wakes[i].until);

        assert_string_equal(asked, wakes[i].asked);
        assert_int_equal(p.state, wakes[i].state);
        if (wakes[i].method != 0)
            assert_int_equal(p.method, wakes[i].method);
        if (wakes[i].says && !strstr(w.why, wakes[i].says))
            fail_msg("it said %s", w.why);
        end(&w);
    }
}

/* The chassis is read less and less often, and the next method has its turn as early as before. */
static void test_fewer_readings(void **state)
{
    struct actuators_world w;
    struct task_progress p;
    instant_s second = 0;

    (void)state;
    begin(&w, "ir", OPERATION_WAKE, false);
    fakes[POWER_IPMI].moves = false; /* it says yes, and the chassis stays off */
    start(&w);
    chassis_reads = 0;
    do
        p = run_until(&w, second++);
    while (!strstr(asked, "redfish.wake"));
    assert_in_range(second, 45, 48);
    assert_int_equal(chassis_reads, 2 * 7); /* by both: at 10, 11, 13, 17, 25, 41 and 45 s */
    assert_int_equal(p.state, TASK_RUNNING);
    chassis_reads = 0;
    (void)run_until(&w, second + 60); /* the second one is on at its first reading */
    assert_int_equal(chassis_reads, 2);
    end(&w);
}

/* One late answer is no failed wake, nor is an error of a controller that has done it. */
static void test_late_answer(void **state)
{
    static const int codes[] = {-ETIMEDOUT, -ECONNRESET, -EBUSY};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(codes); i++) {
        struct actuators_world w;

        begin(&w, "r", OPERATION_WAKE, false);
        fakes[POWER_REDFISH].wake = codes[i];
        fakes[POWER_REDFISH].moves = true;
        start(&w);
        (void)run_until(&w, 0);
        assert_string_equal(asked, "redfish.wake");
        another_process(&w); /* the name of the task says that an answer was lost */
        fakes[POWER_REDFISH].wake = 0;
        struct task_progress p = run_until(&w, 60);

        assert_int_equal(p.state, TASK_RUNNING);
        assert_string_equal(asked, "redfish.wake redfish.wake");
        assert_int_equal(chassis_is, CHASSIS_ON);
        end(&w);
    }
}

/* A host that a controller calls on before any request was woken by a person, or by itself: the method is not
 * proven by that. Where the controller errs, the next method has its turn, and is proven. */
static void test_on_already(void **state)
{
    struct actuators_world w;
    struct task_progress p;

    (void)state;
    begin(&w, "iw", OPERATION_WAKE, false);
    fakes[POWER_IPMI].wake = -ESTALE;
    fakes[POWER_IPMI].says = CHASSIS_ON;
    start(&w);
    p = run_until(&w, 100);
    assert_string_equal(asked, "ipmi.wake");
    assert_int_equal(p.state, TASK_RUNNING);
    assert_int_equal(p.may_have_woken, 0);
    p = run_until(&w, BOOTS_S - 1);
    assert_string_equal(asked, "ipmi.wake wol.wake");
    assert_int_equal(p.may_have_woken, WAKE_WOL);
    end(&w);
}

/* Whatever moment the process dies at: the same call at most once more, and the same way to the end. */
static void test_killed_before_the_name_is_stored(void **state)
{
    struct actuators_world w;
    char before[TASK_NAME_MAX];
    struct task_progress p = {0};

    (void)state;
    begin(&w, "iw", OPERATION_WAKE, false);
    start(&w);
    (void)snprintf(before, sizeof before, "%s", w.task);
    assert_int_equal(w.ops.poll(w.x, &w.q, w.task, &p, NULL), 0); /* asked; the answer is lost */
    assert_string_equal(w.task, before);
    another_process(&w);
    p = run_until(&w, 100);
    assert_int_equal(p.state, TASK_RUNNING);
    assert_string_equal(asked, "ipmi.wake ipmi.wake");
    end(&w);

    /* a day later nothing is asked of anybody, and nobody has failed */
    begin(&w, "iw", OPERATION_WAKE, false);
    start(&w);
    w.q.power.now += 24 * 3600;
    assert_int_equal(w.ops.poll(w.x, &w.q, w.task, &p, NULL), 0);
    assert_int_equal(p.state, TASK_FAILED);
    assert_int_equal(p.why.code, -ESRCH);
    assert_string_equal(asked, "");
    end(&w);
}

/* Time in which no controller could be asked does not count: stopped, paused or dead between the intent and a
 * call.
 */
static void test_stood_still(void **state)
{
    struct actuators_world w;
    struct task_progress p = {0};

    (void)state;
    for (int paused = 0; paused < 2; paused++) {
        begin(&w, "iw", OPERATION_WAKE, false);
        start(&w);
        w.q.power.now += BOOTS_S + 300;
        if (paused) {
            w.q.only_adopt = true;
            assert_int_equal(w.ops.poll(w.x, &w.q, w.task, &p, NULL), 0);
            assert_true(p.state == TASK_RUNNING && p.task[0] == '\0');
            assert_int_equal(p.waits_since, w.q.power.now);
            assert_string_equal(asked, "");
            w.q.only_adopt = false;
        }
        p = run_until(&w, BOOTS_S + 300); /* one poll */
        assert_int_equal(p.state, TASK_RUNNING);
        assert_string_equal(asked, "ipmi.wake");
        assert_int_equal(p.waits_since, BEGIN + BOOTS_S + 300);
        p = run_until(&w, BOOTS_S + 300 + BOOTS_S); /* all of its time, from the call on */
        assert_int_equal(p.state, TASK_RUNNING);
        assert_string_equal(asked, "ipmi.wake wol.wake");
        p = run_until(&w, BOOTS_S + 300 + BOOTS_S + 10);
        assert_true(p.state == TASK_FAILED && p.gone);
        end(&w);
    }

    /* between the first and the second */
    begin(&w, "iw", OPERATION_WAKE, false);
    fakes[POWER_IPMI].wake = -ETIMEDOUT;
    start(&w);
    (void)run_until(&w, 0);
    w.q.power.now += BOOTS_S;
    p = run_until(&w, BOOTS_S + 5);
    assert_int_equal(p.state, TASK_RUNNING);
    assert_string_equal(asked, "ipmi.wake wol.wake");
    p = run_until(&w, 2 * BOOTS_S - 10);
    assert_int_equal(p.state, TASK_RUNNING);
    end(&w);

    /* too long */
    begin(&w, "iw", OPERATION_WAKE, false);
    fakes[POWER_IPMI].wake = -ETIMEDOUT;
    start(&w);
    (void)run_until(&w, 0);
    w.q.power.now += 2 * 3600;
    p = run_until(&w, 3 * 3600);
    assert_true(p.state == TASK_FAILED && p.gone);
    assert_string_equal(asked, "ipmi.wake");
    end(&w);
}

/* Another controller says the contrary: the next method is asked, and the first may still be right. */
static void test_controllers_disagree(void **state)
{
    struct actuators_world w;
    struct task_progress p;

    (void)state;
    begin(&w, "irw", OPERATION_WAKE, false);
    fakes[POWER_REDFISH].says = CHASSIS_OFF;
    fakes[POWER_REDFISH].wake = fakes[POWER_WOL].wake = -EACCES;
    start(&w);
    p = run_until(&w, 40);
    assert_string_equal(asked, "ipmi.wake");
    p = run_until(&w, 100);
    assert_string_equal(asked, "ipmi.wake redfish.wake wol.wake");
    assert_int_equal(p.state, TASK_RUNNING);
    assert_non_null(strstr(w.why, "ipmi says that host esx1 is on, and redfish that it is off"));
    end(&w);

    /* the last one: it is waited for */
    begin(&w, "wir", OPERATION_WAKE, false);
    fakes[POWER_WOL].wake = fakes[POWER_IPMI].wake = -EACCES;
    fakes[POWER_IPMI].says = CHASSIS_OFF;
    start(&w);
    p = run_until(&w, BOOTS_S - 10);
    assert_int_equal(p.state, TASK_RUNNING);
    assert_string_equal(asked, "wol.wake ipmi.wake redfish.wake");
    end(&w);

    /* the first is deaf, and the second says that nothing has come of it */
    begin(&w, "iwr", OPERATION_WAKE, false);
    fakes[POWER_IPMI].chassis = -ETIMEDOUT;
    fakes[POWER_IPMI].moves = false;
    start(&w);
    (void)run_until(&w, 60);
    assert_string_equal(asked, "ipmi.wake wol.wake");
    end(&w);
}

/* A controller that took the call, late: what it has done shows later, too, and no other is asked for that.
 */
static void test_slow_call(void **state)
{
    struct actuators_world w;

    (void)state;
    begin(&w, "iw", OPERATION_WAKE, false);
    call_takes_ms = 50000;
    fakes[POWER_IPMI].moves = false;
    start(&w);
    (void)run_until(&w, 0);
    assert_string_equal(asked, "ipmi.wake");
    (void)run_until(&w, 50 + 30);
    chassis_is = CHASSIS_ON;
    (void)run_until(&w, 200);
    assert_string_equal(asked, "ipmi.wake");
    end(&w);
}

/* Each method before the last may take its time in vain, and leaves the last one all of the boots. */
static void test_time_for_each(void **state)
{
    struct actuators_world w;

    (void)state;
    begin(&w, "i", OPERATION_WAKE, false);
    w.host.timeout_s = 20;
    assert_int_equal(power_wake_tries_s(&w.setup, &w.host), 0);
    end(&w);
    begin(&w, "iw", OPERATION_WAKE, false);
    w.host.timeout_s = 20;
    assert_int_equal(power_wake_tries_s(&w.setup, &w.host), 100);
    /* a host that boots in 20 s, whose first method lies */
    w.q.power.patience_s = 60 + power_wake_tries_s(&w.setup, &w.host);
    fakes[POWER_IPMI].moves = false;
    start(&w);
    instant_s t = 0;
    while (!strstr(asked, "wol.wake"))
        assert_int_equal(run_until(&w, t++).state, TASK_RUNNING);
    assert_true(t + 60 <= w.q.power.patience_s);
    end(&w);
    /* one that says on, and does not come */
    begin(&w, "irw", OPERATION_WAKE, false);
    w.host.timeout_s = 20;
    w.q.power.patience_s = 60 + power_wake_tries_s(&w.setup, &w.host);
    start(&w);
    for (t = 0; !strstr(asked, "redfish.wake"); t++)
        assert_int_equal(run_until(&w, t).state, TASK_RUNNING);
    assert_true(t >= 60 && t <= 100);
    while (!strstr(asked, "wol.wake"))
        assert_int_equal(run_until(&w, t++).state, TASK_RUNNING);
    assert_true(t + 60 <= w.q.power.patience_s);
    end(&w);
}

/* While nothing is to begin, what was asked is followed, and the next one is not asked. */
static void test_paused(void **state)
{
    struct actuators_world w;

    (void)state;
    begin(&w, "iw", OPERATION_WAKE, false);
    fakes[POWER_IPMI].wake = -ETIMEDOUT;
    start(&w);
    (void)run_until(&w, 0);
    w.q.only_adopt = true;
    assert_int_equal(run_until(&w, 300).state, TASK_RUNNING);
    assert_string_equal(asked, "ipmi.wake");
    w.q.only_adopt = false;
    (void)run_until(&w, 310);
    assert_string_equal(asked, "ipmi.wake wol.wake");
    end(&w);
}

/* ---- what is not its own ------------------------------------------------------------------------ */

static void test_the_rest_passes_through(void **state)
{
    struct actuators_world w;
    struct task_progress p = {0};
    struct err err = {0};
    char task[TASK_NAME_MAX] = "";

    (void)state;
    begin(&w, "i", OPERATION_WAKE, false);
    w.q.host = "host-2";
    w.q.host_name = "esx2";
    assert_int_equal(w.ops.start(w.x, &w.q, task, &err), 0); /* no entry: the source's own */
    assert_string_equal(task, "task 17");
    assert_int_equal(w.ops.poll(w.x, &w.q, task, &p, &err), 0);
    assert_int_equal(p.percent, 10);
    assert_int_equal(w.ops.cancel(w.x, &w.q, task, &err), 0);
    w.q.kind = OPERATION_MIGRATE;
    w.q.host = NULL;
    assert_int_equal(w.ops.start(w.x, &w.q, task, &err), 0);
    assert_int_equal(inner.starts, 2);
    assert_null(w.ops.apply_settings); /* as the source's own */
    end(&w);

    /* by its id, too; and without a source's own actuator */
    begin(&w, "i", OPERATION_WAKE, false);
    w.host.name = "host-1";
    w.q.host_name = NULL;
    start(&w);
    end(&w);
    w.setup.inner = NULL;
    power_actuator(&w.setup, &w.ops);
    assert_int_equal(w.ops.create(&w.cfg, &w.x, NULL), 0);
    assert_int_equal(w.ops.check(w.x, &w.q, &err), 0);
    w.q.host = "host-9";
    assert_int_equal(w.ops.start(w.x, &w.q, task, &err), -ENOTSUP);
    w.q.kind = OPERATION_MIGRATE;
    assert_int_equal(w.ops.check(w.x, &w.q, &err), -ENOTSUP);
    end(&w);
}

/* An entry that is gone since: only an inventory can tell; names that nobody here has written. */
static void test_strange_tasks(void **state)
{
    static const char *const bad[] = {"p1 ",
                                      "p1 a",
                                      "p1 z 0 0 1 1 4:esx1",
                                      "p1 a 99 0 1 1 4:esx1",
                                      "p1 a 0 0 1 1 40:esx1",
                                      "p1 a 0 0 1 1 -4:esx1",
                                      "p1 a 0 0 1 1 4"};
    struct actuators_world w;
    struct task_progress p = {0};
    struct err err = {0};

    (void)state;
    begin(&w, "i", OPERATION_WAKE, false);
    for (size_t i = 0; i < ELEMENTS(bad); i++)
        assert_int_equal(w.ops.poll(w.x, &w.q, bad[i], &p, &err), -EINVAL);
    assert_int_equal(w.ops.poll(w.x, &w.q, "p1 a 0 0 1000000 1000000 4:esx9", &p, &err), 0);
    assert_true(p.state == TASK_FAILED && p.gone);
    assert_int_equal(w.ops.poll(w.x, &w.q, "p1 w 3 0 1000000 1000000 4:esx1", &p, &err), 0);
    assert_true(p.state == TASK_FAILED && p.gone);
    assert_string_equal(asked, "");
    assert_int_equal(w.ops.cancel(w.x, &w.q, "p1 w 0 1 1000000 1000000 4:esx1", &err), -ENOTSUP);
    assert_int_equal(w.ops.cancel(w.x, &w.q, "p1 h 0 1 1000000 1000000 4:esx1 task 17", &err), 0);

    /* names with blanks and digits in them come back as they went */
    struct power_task c = {.phase = PHASE_INNER,
                           .method = 2,
                           .accepted = true,
                           .controllers_disagree = true,
                           .answered_last = 3,
                           .looks = 5,
                           .began = 5,
                           .since = 7};
    struct power_task back;
    char name[TASK_NAME_MAX];

    (void)snprintf(c.entry, sizeof c.entry, "12: esx 1");
    (void)snprintf(c.inner, sizeof c.inner, "task 3:4");
    assert_int_equal(power_task_write(&c, name, &err), 0);
    assert_int_equal(power_task_read(name, &back, &err), 0);
    assert_string_equal(back.entry, c.entry);
    assert_string_equal(back.inner, c.inner);
    assert_true(back.phase == c.phase && back.method == 2 && back.accepted && back.began == 5 &&
                back.since == 7);
    assert_true(back.controllers_disagree && !back.reply_lost && back.answered_last == 3 && back.looks == 5 &&
                !back.told);
    end(&w);
}

static void test_measure(void **state)
{
    const struct measurement known = {.host = "host-1", .host_name = "esx1"};
    const struct measurement unknown = {.host = "host-2"};
    struct actuators_world w;
    struct err err = {0};
    double got = 0;

    (void)state;
    begin(&w, "ir", OPERATION_WAKE, false);
    watts_are = 212;
    fakes[POWER_IPMI].watts = -ENOTSUP;
    assert_int_equal(w.ops.measure(w.x, &known, &got, &err), 0);
    assert_true(got == 212);
    fakes[POWER_REDFISH].watts = -ETIMEDOUT; /* it may have a meter */
    assert_int_equal(w.ops.measure(w.x, &known, &got, &err), -ETIMEDOUT);
    fakes[POWER_REDFISH].watts = -ENOTSUP;
    assert_int_equal(w.ops.measure(w.x, &known, &got, &err), -ENOTSUP);
    assert_int_equal(w.ops.measure(w.x, &unknown, &got, &err), -ENOTSUP);
    fakes[POWER_REDFISH].watts = 0;
    watts_are = -1;
    assert_int_equal(w.ops.measure(w.x, &known, &got, &err), -EPROTO);
    watts_are = 0; /* of a host that is on it is no reading */
    assert_int_equal(w.ops.measure(w.x, &known, &got, &err), 0);
    struct measurement on = known;
    on.on = true;
    assert_int_equal(w.ops.measure(w.x, &on, &got, &err), -EPROTO);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wake),
        cmocka_unit_test(test_late_answer),
        cmocka_unit_test(test_fewer_readings),
        cmocka_unit_test(test_on_already),
        cmocka_unit_test(test_killed_before_the_name_is_stored),
        cmocka_unit_test(test_paused),
        cmocka_unit_test(test_the_rest_passes_through),
        cmocka_unit_test(test_stood_still),
        cmocka_unit_test(test_controllers_disagree),
        cmocka_unit_test(test_time_for_each),
        cmocka_unit_test(test_slow_call),
        cmocka_unit_test(test_strange_tasks),
        cmocka_unit_test(test_measure),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
