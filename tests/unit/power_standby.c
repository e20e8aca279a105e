/* Putting a host to standby by its methods: when power is cut, and when never; what is seen to before. */
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
     .says = "was not seen off"},
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
        struct hands_world w;

        print_message("  %s\n", standbys[i].name);
        begin(&w, standbys[i].order, DEED_STANDBY, standbys[i].hard_off);
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

        w.q.proven_empty = !standbys[i].unproven;
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
    struct hands_world w;
    struct task_progress p;

    (void)state;
    begin(&w, "ir", DEED_STANDBY, true);
    fakes[POWER_IPMI].shut_down = -ETIMEDOUT;
    start(&w);
    (void)run_until(&w, 0);
    w.q.proven_empty = false; /* a VM has appeared there */
    p = run_until(&w, 400);
    assert_int_equal(p.state, TASK_FAILED);
    assert_string_equal(asked, "ipmi.down");
    assert_non_null(strstr(w.why, "it is not proven empty any more"));
    end(&w);
}

/* ---- before anything is asked ------------------------------------------------------------------- */

static const struct {
    const char *name, *order;
    enum deed deed;
    enum chassis chassis;
    int deaf, source;
    int code;
    const char *says;
} checks[] = {
    {"standby", "i", DEED_STANDBY, CHASSIS_ON, 0, 0, 0, NULL},
    {"a packet alone cannot shut down", "w", DEED_STANDBY, CHASSIS_ON, 0, 0, -ENOTSUP,
     "no method to be shut down by"},
    {"its controller is deaf, and nothing else could wake it", "i", DEED_STANDBY, CHASSIS_ON, -ETIMEDOUT, 0,
     -ETIMEDOUT, "deaf"},
    {"a packet could", "iw", DEED_STANDBY, CHASSIS_ON, -ETIMEDOUT, 0, 0, NULL},
    {"the controller of another machine", "iw", DEED_STANDBY, CHASSIS_OFF, 0, 0, -EPERM,
     "of another machine"},
    {"put down by its controller, so not in standby for the source", "ih", DEED_WAKE, CHASSIS_OFF, 0, -ESTALE,
     0, NULL},
    {"the same, and the source is all there is", "h", DEED_WAKE, CHASSIS_OFF, 0, -ESTALE, -ESTALE, "says no"},
    {"in standby already, says the source", "ih", DEED_STANDBY, CHASSIS_ON, 0, -ESTALE, -ESTALE,
     "the source says no"},
    {"the source cannot, another way can", "hi", DEED_STANDBY, CHASSIS_ON, 0, -EPERM, 0, NULL},
    {"only the source, and it cannot", "h", DEED_STANDBY, CHASSIS_ON, 0, -EPERM, -EPERM,
     "the source says no"},
    {"wake", "w", DEED_WAKE, CHASSIS_OFF, 0, 0, 0, NULL},
    {"no way at all", "", DEED_WAKE, CHASSIS_OFF, 0, 0, -ENOTSUP, "no method to be woken by"},
};

static void test_check(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(checks); i++) {
        struct hands_world w;
        struct err err = {0};

        print_message("  %s\n", checks[i].name);
        begin(&w, checks[i].order, checks[i].deed, false);
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

/* The clock is set back while a host goes down: it is given its time anew, and not hours. */
static void test_clock_set_back(void **state)
{
    struct hands_world w;

    (void)state;
    begin(&w, "i", DEED_STANDBY, false);
    os_hangs = true;
    start(&w);
    assert_int_equal(run_until(&w, 100).state, TASK_RUNNING);
    w.q.now -= 7200;
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
        cmocka_unit_test(test_check),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
