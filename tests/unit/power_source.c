/* The source is asked before a standby, and right before each request to a controller, whether it can do
 * without the host. */
#include "power_world.h"

#include <limits.h>

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

/* ---- something happens right before each call ---- */

static struct {
    unsigned n, at;     /* calls so far; the call that the event comes before */
    unsigned seen, end; /* the last look that can see it, and the request that ends what runs there */
    const char *look;
    bool cannot; /* happen at that time */
    void (*event)(void);
} race;

static void race_call(const char *what)
{
    if (race.n == race.at)
        race.event();
    if (strcmp(what, race.look) == 0 && race.end == 0)
        race.seen = race.n + 1; /* 0: none */
    if ((strcmp(what, "down") == 0 || strcmp(what, "cut") == 0) && race.n >= race.at)
        race.end = race.n;
    race.n++;
}

static void none(void)
{
}

static void vm_comes(void)
{
    inner.check = -EBUSY;
}

static void vote_goes(void)
{
    inner.check = -EPERM;
}

static void maintenance_ends(void)
{
    race.cannot = !inner.in_maintenance;
    inner.in_maintenance = inner.enters = false;
}

/* While the host is in maintenance mode no VM can come, so that is looked at last. */
static const struct {
    const char *name;
    void (*event)(void);
    const char *order, *look;
    unsigned most; /* that get through */
    bool told, without_standby, hard;
} races[] = {
    {"a VM comes", vm_comes, "i", "check", 1, .told = false},
    {"a VM comes, Redfish", vm_comes, "r", "check", 1, .told = false},
    {"a VM comes, and the power is cut", vm_comes, "i", "check", 2, .hard = true},
    {"a VM comes, the source knows no standby", vm_comes, "i", "check", 1, .without_standby = true},
    {"a VM comes there, and the power is cut", vm_comes, "i", "check", 2, .without_standby = true,
     .hard = true},
    {"a vote goes", vote_goes, "i", "check", 1, .told = false},
    {"a vote goes, maintenance mode", vote_goes, "i", "check", 2, .told = true},
    {"others end the maintenance mode", maintenance_ends, "i", "adopt", 1, .told = true},
    {"others end it, Redfish", maintenance_ends, "r", "adopt", 1, .told = true},
    {"others end it, and the power is cut", maintenance_ends, "i", "adopt", 2, .told = true, .hard = true},
};

/* One standby with the event before the call `at`; UINT_MAX: none. */
static void race_run(size_t i, unsigned at)
{
    struct actuators_world w;

    begin(&w, races[i].order, OPERATION_STANDBY, races[i].hard);
    if (races[i].without_standby)
        inner_ops.operations = 1u << OPERATION_MIGRATE | 1u << OPERATION_STANDBY_CHECK;
    if (races[i].told)
        inner_ops.operations |= 1u << OPERATION_ENTER_MAINTENANCE | 1u << OPERATION_EXIT_MAINTENANCE;
    os_hangs = races[i].hard;
    w.q.power.maintenance_is_ours = false;
    start(&w);
    memset(&race, 0, sizeof race);
    race.at = at;
    race.look = races[i].look;
    race.event = at == UINT_MAX ? none : races[i].event;
    before_call = race_call;
    for (instant_s t = 0; t < BOOTS_S && run_until(&w, t).state == TASK_RUNNING; t++)
        w.q.power.maintenance_is_ours = true; /* the caller has stored it */
    end(&w);
}

/* What ends the workload of a host is asked only if a look at the source came after the event: of all calls
 * of a standby, it gets through only before a request itself. */
static void test_races(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(races); i++) {
        unsigned through = 0;

        race_run(i, UINT_MAX);
        const unsigned n = race.n;

        assert_int_equal(race.end, 0);
        assert_non_null(strstr(asked, races[i].hard ? "cut" : "down"));
        for (unsigned at = 0; at < n; at++) {
            race_run(i, at);
            if (race.cannot)
                continue;
            if (race.end > 0 && race.seen > at)
                fail_msg("%s: before call %u, seen at %u, and asked at %u", races[i].name, at, race.seen - 1,
                         race.end);
            through += race.end > 0;
        }
        print_message("  %s: %u of %u got through\n", races[i].name, through, n);
        assert_true(through <= races[i].most);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_source_is_asked),
        cmocka_unit_test(test_source_is_asked_in_time),
        cmocka_unit_test(test_source_is_asked_before_the_cut),
        cmocka_unit_test(test_races),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
