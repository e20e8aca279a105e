/* The right machine: which controllers a host is shut down by, and which are refused. */
#include "power_world.h"

#define OTHER "33333333-0042-5110-8036-b6c04f593132"
#define NONE "03000200-0400-0500-0006-000700080009"

static const struct {
    const char *name;
    const char *host, *ipmi, *redfish, *mark; /* UUIDs; the mark of both */
    const char *confirmed;
    int code;
    enum identity_verdict verdict;
    const char *says, *is;
} cases[] = {
    {.name = "both are the host's",
     .host = UUID,
     .ipmi = UUID,
     .redfish = UUID,
     .is = "ipmi " UUID " at 10.0.0.1; redfish " UUID " at https://10.0.0.2"},
    {.name = "in another order of bytes",
     .host = UUID,
     .ipmi = "3231594f-c0b6-3680-1051-420044454c4c",
     .redfish = "44454c4c-4200-1051-8036-b6c04f593132",
     .is = "ipmi 3231594f-c0b6-3680-1051-420044454c4c at 10.0.0.1; redfish "
           "44454c4c-4200-1051-8036-b6c04f593132 at https://10.0.0.2"},
    {.name = "one is another machine's",
     .host = UUID,
     .ipmi = UUID,
     .redfish = OTHER,
     .code = -EPERM,
     .verdict = IDENTITY_DIFFERS,
     .says = "belongs to machine " OTHER ", but the hypervisor says that the host is machine " UUID,
     .is = "ipmi " UUID " at 10.0.0.1; redfish " OTHER " at https://10.0.0.2"},
    {.name = "a person knows better",
     .host = UUID,
     .ipmi = UUID,
     .redfish = OTHER,
     .mark = "serial 7",
     .confirmed = "ipmi " UUID " serial 7 at 10.0.0.1; redfish " OTHER " serial 7 at https://10.0.0.2",
     .verdict = IDENTITY_CONFIRMED,
     .is = "ipmi " UUID " serial 7 at 10.0.0.1; redfish " OTHER " serial 7 at https://10.0.0.2"},
    {.name = "but another controller is there now",
     .host = UUID,
     .ipmi = UUID,
     .redfish = OTHER,
     .mark = "serial 8",
     .confirmed = "ipmi " UUID " serial 7 at 10.0.0.1; redfish " OTHER " serial 7 at https://10.0.0.2",
     .code = -EPERM,
     .verdict = IDENTITY_DIFFERS,
     .says = "belongs to machine " OTHER,
     .is = "ipmi " UUID " serial 8 at 10.0.0.1; redfish " OTHER " serial 8 at https://10.0.0.2"},
    {.name = "part of a confirmed text is none",
     .host = UUID,
     .ipmi = UUID,
     .redfish = OTHER,
     .confirmed = "redfish " OTHER " serial 7 at https://10.0.0.2",
     .code = -EPERM,
     .verdict = IDENTITY_DIFFERS,
     .is = "ipmi " UUID " at 10.0.0.1; redfish " OTHER " at https://10.0.0.2"},
    {.name = "a placeholder is none",
     .host = UUID,
     .ipmi = NONE,
     .redfish = UUID,
     .code = -EPERM,
     .verdict = IDENTITY_UNKNOWN,
     .says = "the controller reports a placeholder",
     .is = "ipmi " NONE " at 10.0.0.1; redfish " UUID " at https://10.0.0.2"},
    {.name = "equal placeholders are none",
     .host = NONE,
     .ipmi = NONE,
     .redfish = NONE,
     .code = -EPERM,
     .verdict = IDENTITY_UNKNOWN,
     .says = "a placeholder",
     .is = "ipmi " NONE " at 10.0.0.1; redfish " NONE " at https://10.0.0.2"},
    {.name = "the hypervisor reports none",
     .ipmi = UUID,
     .redfish = UUID,
     .code = -EPERM,
     .verdict = IDENTITY_UNKNOWN,
     .says = "the hypervisor reports no hardware UUID of this host alone; `ballast confirm-controller esx1`",
     .is = "ipmi " UUID " at 10.0.0.1; redfish " UUID " at https://10.0.0.2"},
    {.name = "the controllers report nothing: where they are is confirmed",
     .host = UUID,
     .confirmed = "ipmi at 10.0.0.1; redfish at https://10.0.0.2",
     .verdict = IDENTITY_CONFIRMED,
     .is = "ipmi at 10.0.0.1; redfish at https://10.0.0.2"},
    {.name = "a placeholder and a serial number that every board has: swapped with another host's",
     .host = UUID,
     .ipmi = NONE,
     .redfish = NONE,
     .mark = "serial To be filled by O.E.M.",
     .confirmed = "ipmi " NONE " serial To be filled by O.E.M. at 10.0.0.1; redfish " NONE
                  " serial To be filled by O.E.M. at https://10.0.0.9",
     .code = -EPERM,
     .verdict = IDENTITY_UNKNOWN,
     .says = "(redfish)",
     .is = "ipmi " NONE " serial To be filled by O.E.M. at 10.0.0.1; redfish " NONE
           " serial To be filled by O.E.M. at https://10.0.0.2"},
    {.name = "and elsewhere is not",
     .host = UUID,
     .confirmed = "ipmi at 10.0.0.1; redfish at https://10.0.0.9",
     .code = -EPERM,
     .verdict = IDENTITY_UNKNOWN,
     .says = "(redfish)",
     .is = "ipmi at 10.0.0.1; redfish at https://10.0.0.2"},
};

static void begin_case(struct actuators_world *w, size_t i, enum operation_kind kind)
{
    print_message("  %s\n", cases[i].name);
    begin(w, "ir", kind, true);
    w->host.ipmi.address = "10.0.0.1";
    w->host.redfish.url = "https://10.0.0.2";
    fakes[POWER_IPMI].uuid = cases[i].ipmi;
    fakes[POWER_REDFISH].uuid = cases[i].redfish;
    fakes[POWER_IPMI].mark = fakes[POWER_REDFISH].mark = cases[i].mark;
    w->q.power.machine =
        (struct machine_identity){.hardware_uuid = cases[i].host, .confirmed = cases[i].confirmed};
}

static void test_report(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct actuators_world w;
        struct identity_report r;
        struct err err = {0};

        begin_case(&w, i, OPERATION_STANDBY);
        const struct identification q = {
            .host = w.q.host, .host_name = w.q.host_name, .machine = w.q.power.machine};

        assert_int_equal(w.ops.identify(w.x, &q, &r, &err), 0);
        assert_int_equal(r.verdict, cases[i].verdict);
        assert_string_equal(r.is, cases[i].is);
        assert_true(!cases[i].says || strstr(r.why.text, cases[i].says));
        assert_true((r.why.text[0] != '\0') == (cases[i].code != 0));
        end(&w);
    }
}

/* Before the evacuation, and when the host is empty. */
static void test_check(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * ELEMENTS(cases); i++) {
        struct actuators_world w;
        struct err err = {0};

        begin_case(&w, i / 2, OPERATION_STANDBY);
        w.q.power.ahead = i % 2;
        assert_int_equal(w.ops.check(w.x, &w.q, &err), cases[i / 2].code);
        if (cases[i / 2].says && !strstr(err.text, cases[i / 2].says))
            fail_msg("it said %s", err.text);
        assert_string_equal(asked, "");
        end(&w);
    }
}

/* Whatever was checked before: an address that has become another machine's gets no request. */
static void test_shutdown(void **state)
{
    unsigned refused = 0;

    (void)state;
    for (size_t i = 0; i < 2 * ELEMENTS(cases); i++) {
        struct actuators_world w;
        struct err err = {0};

        begin_case(&w, i / 2, OPERATION_STANDBY);
        w.sequence[0] = i % 2 ? POWER_REDFISH : POWER_IPMI; /* each alone */
        w.host.n_sequence = 1;
        const int code = w.ops.check(w.x, &w.q, &err);

        assert_true(code == 0 || code == -EPERM);
        start(&w);
        struct task_progress p = run_until(&w, BOOTS_S + 10);

        assert_int_equal(p.state, code == 0 ? TASK_SUCCEEDED : TASK_FAILED);
        assert_string_equal(asked, code != 0 ? "" : i % 2 ? "redfish.down" : "ipmi.down");
        assert_true(code == 0 || strstr(w.why, "`ballast confirm-controller esx1`"));
        refused += code != 0;
        end(&w);
    }
    assert_in_range(refused, 7, ELEMENTS(cases) + 3);
}

/* A proof does not hold for as long as a slow controller needs to say which machine it is. */
static void test_slow(void **state)
{
    (void)state;
    for (int cut = 0; cut < 2; cut++) {
        struct actuators_world w;

        begin(&w, "i", OPERATION_STANDBY, true);
        os_hangs = true;
        start(&w);
        if (cut)
            assert_int_equal(run_until(&w, 10).state, TASK_RUNNING);
        identify_takes_ms = 31000;
        struct task_progress p = run_until(&w, BOOTS_S + 10);

        assert_int_equal(p.state, TASK_FAILED);
        assert_string_equal(asked, cut ? "ipmi.down" : "");
        end(&w);
    }
}

/* It changes between the soft shutdown and the cut. */
static void test_cut(void **state)
{
    struct actuators_world w;

    (void)state;
    begin(&w, "i", OPERATION_STANDBY, true);
    os_hangs = true;
    start(&w);
    assert_int_equal(run_until(&w, 10).state, TASK_RUNNING);
    assert_string_equal(asked, "ipmi.down");
    fakes[POWER_IPMI].uuid = OTHER;
    struct task_progress p = run_until(&w, BOOTS_S + 10);

    assert_int_equal(p.state, TASK_FAILED);
    assert_string_equal(asked, "ipmi.down");
    assert_non_null(strstr(w.why, "belongs to machine " OTHER));
    another_process(&w);
    end(&w);
}

/* Waking ends no workload, and is needed now. */
static void test_wake(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct actuators_world w;
        struct err err = {0};

        begin_case(&w, i, OPERATION_WAKE);
        assert_int_equal(w.ops.check(w.x, &w.q, &err), 0);
        start(&w);
        (void)run_until(&w, 1);
        assert_string_equal(asked, "ipmi.wake");
        end(&w);
    }
}

/* One that does not answer is not identified, and not asked to shut down: the next one is. */
static void test_deaf(void **state)
{
    struct actuators_world w;
    struct identity_report r;
    struct err err = {0};

    (void)state;
    begin(&w, "ir", OPERATION_STANDBY, true);
    fakes[POWER_IPMI].identify = -ETIMEDOUT;
    const struct identification q = {
        .host = w.q.host, .host_name = w.q.host_name, .machine = w.q.power.machine};

    assert_int_equal(w.ops.check(w.x, &w.q, &err), 0);
    assert_int_equal(w.ops.identify(w.x, &q, &r, &err), 0);
    assert_int_equal(r.verdict, IDENTITY_MATCHES);
    assert_string_equal(r.is, "redfish " UUID " at ?");
    assert_string_equal(r.why.text, "ipmi is deaf");
    start(&w);
    assert_int_equal(run_until(&w, BOOTS_S).state, TASK_SUCCEEDED);
    assert_string_equal(asked, "redfish.down");
    fakes[POWER_REDFISH].identify = -EACCES;
    assert_int_equal(w.ops.identify(w.x, &q, &r, &err), -ETIMEDOUT);
    end(&w);
    begin(&w, "wh", OPERATION_STANDBY, true);
    assert_int_equal(w.ops.identify(w.x, &q, &r, &err), -ENOTSUP);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_report),   cmocka_unit_test(test_check),
                                       cmocka_unit_test(test_shutdown), cmocka_unit_test(test_cut),
                                       cmocka_unit_test(test_wake),     cmocka_unit_test(test_deaf),
                                       cmocka_unit_test(test_slow)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
