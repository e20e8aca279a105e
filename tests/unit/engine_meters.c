/* The power draw of hosts in the engine's own account, and how the engine reads meters. */
#include "engine_world.h"

#include <math.h>

static void begin(struct world *w, int hosts, int vms)
{
    world_init(w, hosts, vms);
    w->figures = true;
    w->keeps = true;
    world_begin_engine();
}

static struct engine_power power(void)
{
    struct engine_power p;

    engine_power(W->engine, &p);
    return p;
}

static const struct host_facts *fact(int host)
{
    char id[16];

    w_host_id(host, id);
    const struct snapshot *s = engine_snapshot(W->engine);

    return &s->hosts[snapshot_find_host(s, id)].is;
}

static double used_wh(const char *host)
{
    double sum = 0;

    for (int i = 0; i < W->n_energy; i++)
        sum += strcmp(W->energy[i].host, host) == 0 ? W->energy[i].used_wh : 0;
    return sum;
}

static double span_s(const char *host)
{
    double sum = 0;

    for (int i = 0; i < W->n_energy; i++)
        sum += strcmp(W->energy[i].host, host) == 0 ? W->energy[i].span_s : 0;
    return sum;
}

#define assert_near(a, b) assert_within((a), (b), 1e-6)

/* ---- without meters -------------------------------------------------------------------------- */

/* h0 has VMs that want `wanted` of its 10,000 MHz; h1 is in the state. Each draws 100 W to 200 W. */
static const struct {
    const char *name;
    enum host_state state;
    double wanted, limit;
    double watts, all_on_w, unmet;
    uint32_t unknown;
} states[] = {
    {"both on: half of the work each", HOST_ON, 4000, 0, 140 + 100, 120 + 120, 0, 0},
    {"one sleeps", HOST_STANDBY, 4000, 0, 140 + 10, 120 + 120, 0, 0},
    {"one boots: firmware and kernel keep it hardly busy", HOST_POWERING_ON, 4000, 0, 140 + 100, 120 + 120, 0,
     0},
    {"one is serviced: it would be in any case", HOST_MAINTENANCE, 4000, 0, 140 + 100, 140 + 100, 0, 0},
    {"one is on its way there", HOST_ENTERING_MAINTENANCE, 4000, 0, 140 + 100, 120 + 120, 0, 0},
    {"one is not seen", HOST_DISCONNECTED, 4000, 0, 140, 140, 0, 1},
    {"more than the host has", HOST_STANDBY, 14000, 0, 200 + 10, 150 + 150, 4000, 0},
    {"a limit is no shortage", HOST_STANDBY, 14000, 1000, 180 + 10, 140 + 140, 0, 0},
};

static void test_states(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(states); i++) {
        struct world w;

        print_message("  %s\n", states[i].name);
        world_init(&w, 2, 8);
        w.figures = true;
        w.host_state[1] = states[i].state;
        w.awake_at[1] = w.now + 100;
        for (int v = 0; v < 8; v++) {
            w.vms[v].cpu = states[i].wanted / 8;
            w.vms[v].cpu_limit = states[i].limit;
            w.vms[v].mem = 100;
        }
        world_begin_engine();
        world_run(1);
        struct engine_power p = power();

        assert_near(p.watts, states[i].watts);
        assert_near(p.all_on_w, states[i].all_on_w);
        assert_near(p.unmet[RES_CPU], states[i].unmet);
        assert_int_equal(p.unknown, states[i].unknown);
        assert_int_equal(p.measured, 0);
        world_release();
    }
}

/* What an admin says counts, whether the source says something or not; of the other host nothing is said. */
static void test_told(void **state)
{
    static const double watts[] = {80, 180, 200};
    static const struct host_draw draws = {{watts, 3}, 6};
    static const struct host_power_method ways[] = {{"h0", WAKE_HYPERVISOR, WAKE_HYPERVISOR, &draws}};

    (void)state;
    for (int figures = 0; figures < 2; figures++) {
        struct world w;

        world_init(&w, 2, 8);
        w.figures = figures;
        w.settings.ways = ways;
        w.settings.n_ways = 1;
        for (int v = 0; v < 8; v++)
            w.vms[v].cpu = 2500.0 / 8;
        world_begin_engine();
        world_run(1);
        assert_near(power().watts, 130 + (figures ? 100 : 0)); /* a quarter: half way from 80 to 180 */
        assert_int_equal(power().unknown, figures ? 0 : 1);
        if (!figures) /* nobody sleeps: nothing is saved, and the other one's part is not known */
            assert_near(power().all_on_w, 130);
        assert_near(fact(0)->power_standby_w, 6);
        assert_near(fact(0)->power_idle_w, 80);
        world_release();
    }
}

/* A host without figures is not guessed at. */
static void test_no_figures(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 2, 4);
    w.figures = false;
    world_run(400);
    assert_int_equal(power().unknown, 2);
    assert_near(power().watts, 0);
    assert_near(used_wh(""), 0);
    assert_true(w.n_energy >= 3);
    assert_near(w.energy[0].unknown_s, w.energy[0].host_s);
    world_release();
}

/* What a VM lacks of memory is what all of them want beyond the host's. */
static void test_memory(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 2, 24);
    for (int v = 0; v < 24; v++)
        w.vms[v].mem = 500;
    world_run(1);
    assert_near(power().unmet[RES_MEM], 2000);
    world_release();
}

/* What VMs want beyond the limit of their pool is no price of hosts that sleep. */
static void test_limited_pool(void **state)
{
    (void)state;
    for (int limited = 0; limited < 2; limited++) {
        struct world w;

        begin(&w, 1, 8);
        w.pool_limit = limited ? 9000 : 0;
        for (int v = 0; v < 8; v++)
            w.vms[v].cpu = 2000;
        world_run(1);
        assert_near(power().wanted[RES_CPU], limited ? 9000 : 16000);
        assert_near(power().unmet[RES_CPU], limited ? 0 : 6000);
        world_release();
    }
}

/* ---- with meters ----------------------------------------------------------------------------- */

/* Each is asked about once a minute, a few at a time; what was read stands in the snapshot, and counts. */
static void test_asked(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 6, 4);
    w.meters = true;
    w.host_state[5] = HOST_STANDBY;
    for (int i = 0; i < 6; i++)
        w.meter_w[i] = 250 + i;
    w.meter_w[5] = 7;
    world_run(900);
    assert_int_equal(w.questions_most, 4);
    for (int i = 0; i < 6; i++) {
        assert_in_range(w.n_measured[i], 12, 16);
        assert_near(fact(i)->power_w, w.meter_w[i]);
    }
    assert_int_equal(power().measured, 6);
    assert_near(power().watts, 5 * 250 + 10 + 7);
    assert_near(used_wh("h5"), 7 * span_s("h5") / 3600);
    world_release();
}

/* What it read while the host was on says nothing once it sleeps, nor what is old. */
static void test_phases(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 2, 4);
    w.meters = true;
    w.meter_w[0] = w.meter_w[1] = 250;
    world_run(200);
    assert_near(fact(1)->power_w, 250);
    w.host_state[1] = HOST_STANDBY;
    w.meter_hangs[1] = true;
    for (int i = 0; i < 120; i++) {
        world_second();
        if (fact(1)->state == HOST_STANDBY)
            assert_true(isnan(fact(1)->power_w));
    }
    assert_int_equal(fact(1)->state, HOST_STANDBY);
    assert_near(power().watts, 250 + 10);
    w.meter_hangs[0] = true; /* and h0 is not heard of any more */
    world_run(290);
    assert_near(fact(0)->power_w, 250);
    world_run(120);
    assert_true(isnan(fact(0)->power_w));
    assert_int_equal(power().measured, 0);
    world_release();
}

/* A controller that hangs holds up nobody else. */
static void test_hangs(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 6, 4);
    w.meters = true;
    for (int i = 0; i < 6; i++)
        w.meter_w[i] = 200;
    for (int i = 0; i < 3; i++)
        w.meter_hangs[i] = true;
    world_run(900);
    for (int i = 3; i < 6; i++)
        assert_in_range(w.n_measured[i], 12, 16);
    for (int i = 0; i < 3; i++)
        w.meter_hangs[i] = false;
    world_run(120);
    for (int i = 0; i < 3; i++)
        assert_in_range(w.n_measured[i], 2, 3);
    world_release();
}

/* What is answered, and how often it is asked in the hour after. */
static const struct {
    const char *name;
    int code;
    double watts;
    int least, most;
} answers[] = {
    {"watts", 0, 150, 55, 61},
    {"there is no meter", -ENOTSUP, 0, 1, 1},
    {"it does not answer: ever more rarely", -ETIMEDOUT, 0, 4, 6},
    {"nonsense is no reading", 0, -5, 4, 6},
    {"nor is this", 0, INFINITY, 4, 6},
    {"nor 0 W of a host that is on", 0, 0, 4, 6},
};

static int events(const char *kind)
{
    int n = 0;

    for (int i = 0; i < W->n_stored; i++)
        n += strcmp(W->stored[i], kind) == 0;
    return n;
}

/* A meter that falters is asked again, and its loss is told once, and its return. */
static void test_lost(void **state)
{
    static const int codes[] = {-ENOTSUP, -EBUSY, -EACCES};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(codes); i++) {
        struct world w;

        begin(&w, 2, 4);
        w.meters = true;
        w.meter_w[0] = w.meter_w[1] = 200;
        world_run(120);
        w.meter_code[0] = codes[i]; /* once */
        world_run(70);
        w.meter_code[0] = 0;
        world_run(300);
        assert_near(fact(0)->power_w, 200);
        assert_int_equal(events("meter_lost"), 0);
        w.meter_code[0] = codes[i]; /* for long */
        world_run(3600);
        assert_true(isnan(fact(0)->power_w));
        assert_int_equal(events("meter_lost"), 1);
        assert_int_equal(events("meter_back"), 0);
        w.meter_code[0] = 0;
        world_run(3700);
        assert_near(fact(0)->power_w, 200);
        assert_int_equal(events("meter_lost"), 1);
        assert_int_equal(events("meter_back"), 1);
        world_release();
    }
}

/* One that never had a reading is asked hourly, and when the host has come on. */
static void test_none_yet(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 2, 4);
    w.meters = true;
    w.meter_w[0] = w.meter_w[1] = 200;
    w.meter_code[1] = -ENOTSUP;
    w.host_state[1] = HOST_STANDBY;
    world_run(600);
    assert_int_equal(w.n_measured[1], 1);
    w.meter_code[1] = 0;
    w.host_state[1] = HOST_ON;
    world_run(120);
    assert_near(fact(1)->power_w, 200);
    w.meter_code[1] = -ENOTSUP;
    world_run(600);
    w.meter_code[1] = 0;
    world_run(3700);
    assert_near(fact(1)->power_w, 200);
    assert_int_equal(events("meter_back"), events("meter_lost"));
    world_release();
}

static void test_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(answers); i++) {
        struct world w;

        print_message("  %s\n", answers[i].name);
        begin(&w, 2, 4);
        w.meters = true;
        w.meter_code[0] = answers[i].code;
        w.meter_w[0] = answers[i].watts;
        w.meter_w[1] = 50;
        world_run(3600);
        assert_in_range(w.n_measured[0], answers[i].least, answers[i].most);
        assert_in_range(w.n_measured[1], 55, 61);
        assert_int_equal(power().measured, answers[i].least > 50 ? 2 : 1);
        int before = w.n_measured[0];

        engine_configure(w.engine, &w.settings, w.now); /* it may have been mended */
        world_run(61);
        assert_true(w.n_measured[0] > before);
        world_release();
    }
}

/* A meter that reads half as much again as the model: hosts that sleep would have drawn so much more, too. */
static void test_scale(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 2, 0);
    w.meters = true;
    w.meter_w[0] = w.meter_w[1] = 150;
    world_run(200);
    assert_near(power().all_on_w, 300);
    w.host_state[1] = HOST_STANDBY;
    w.meter_w[1] = 12;
    world_run(200);
    assert_near(power().watts, 162);
    assert_near(power().all_on_w, 300);
    w.figures = false; /* without a model, what was read stands for it */
    w.host_state[1] = HOST_ON;
    w.meter_w[1] = 150;
    world_run(200); /* another model is no fluctuation */
    w.host_state[1] = HOST_STANDBY;
    w.meter_w[1] = 12;
    world_run(200);
    assert_near(power().watts, 162);
    assert_within(power().all_on_w, 300, 1);
    world_release();
}

/* Takes wakes on, and does nothing. */
static bool asleep_while_it_boots(const struct job *o, struct job_result *ret)
{
    if (o->kind == JOB_MEASURE || o->operation.kind != OPERATION_WAKE)
        return false;
    *ret = (struct job_result){.progress = {.state = TASK_RUNNING, .percent = -1}};
    if (o->kind == JOB_START)
        (void)snprintf(ret->task, sizeof ret->task, "t");
    return true;
}

/* Killed and begun anew every few minutes, at any call: an hour is an hour. */
static void test_killed(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 2, 0);
    for (int i = 0; i < 60; i++) {
        w.crash_in = 1 + i % 7;
        world_run(60);
        if (w.dead)
            world_restart();
    }
    assert_within(span_s("h0"), 3600, 300); /* less what came before the first row, and after the last */
    assert_true(span_s("h0") <= 3600);
    assert_near(used_wh("h0"), 100 * span_s("h0") / 3600);
    world_release();
}

/* The same of hosts without a model, known by their meters alone, which are first read some time after each
 * start: meanwhile the last reading before the kill counts, and is marked as no reading. */
static void test_killed_with_meters(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, 2, 0);
    w.figures = false;
    w.meters = true;
    w.meter_w[0] = w.meter_w[1] = 150;
    world_begin_engine();
    world_run(200);
    for (int i = 0; i < 50; i++) {
        w.crash_in = 1 + i % 40;
        world_run(70);
        if (w.dead)
            world_restart();
    }
    double unknown_s = 0;
    double measured_s = 0;

    for (int i = 0; i < W->n_energy; i++) {
        unknown_s += strcmp(W->energy[i].host, "h0") == 0 ? W->energy[i].unknown_s : 0;
        measured_s += strcmp(W->energy[i].host, "h0") == 0 ? W->energy[i].measured_s : 0;
    }
    assert_in_range((long)span_s("h0"), 3200, 3700);
    assert_true(unknown_s <= 120); /* before the first reading */
    assert_true(measured_s < span_s("h0") - unknown_s);
    assert_within(used_wh("h0"), 150 * (span_s("h0") - unknown_s) / 3600, 0.01);
    world_release();
}

/* A source that shows a host as asleep until it is back: from the call on the host draws its idle power, or
 * its meter's reading as soon as there is one; readings from its standby count no longer. */
static void test_boots_unseen(void **state)
{
    for (int metered = 0; metered < 2; metered++) {
        struct world w;
        struct err err = {0};
        uint64_t ids[WAKE_ACTIONS];

        (void)state;
        world_init(&w, 2, 0);
        w.figures = true;
        w.meters = metered;
        w.boot_s = 600;
        w.host_state[1] = HOST_STANDBY;
        w.meter_w[0] = 100;
        w.meter_w[1] = 7;
        w.settings.policy.dpm.boot_s = 600;
        world_begin_engine();
        world_run(130);
        assert_near(power().watts, 100 + (metered ? 7 : 10));
        w.actuators = asleep_while_it_boots;
        assert_int_equal(engine_wake(w.engine, "h1", false, "admin", w.now, ids, &err), 0);
        world_run(3);
        w.meter_w[1] = 130;
        world_run(130);
        assert_int_equal(fact(1)->state, HOST_STANDBY);
        assert_near(power().watts, 100 + (metered ? 130 : 100));
        assert_int_equal(power().measured, metered ? 2 : 0);
        world_release();
    }
}

/* While a host goes to standby its meter is asked every ten seconds, and may read nothing: its power goes at
 * a moment that is not known. */
static void test_going_down(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 2, 0);
    w.meters = true;
    w.meter_w[0] = w.meter_w[1] = 100;
    world_run(200);
    const int before = w.n_measured[1];

    w.host_state[1] = HOST_ENTERING_STANDBY;
    while (fact(1)->state != HOST_ENTERING_STANDBY)
        world_second();
    w.meter_w[1] = 0;
    for (int i = 0; i < 60; i++) {
        uint64_t ticket;

        assert_int_equal(engine_run(w.engine, w.now, &ticket, NULL), 0); /* an inventory each second */
        world_second();
    }
    assert_in_range(w.n_measured[1] - before, 5, 8);
    assert_near(fact(1)->power_w, 0);
    assert_in_range(w.n_measured[0], 4, 6);
    world_release();
}

/* What the meter read while the host was woken counts where the wake has failed: the host may boot still. */
static void test_wake_given_up(void **state)
{
    struct world w;
    struct err err = {0};
    uint64_t ids[WAKE_ACTIONS];

    (void)state;
    begin(&w, 2, 0);
    w.meters = true;
    w.tasks_lie = true;
    w.host_state[1] = HOST_STANDBY;
    w.meter_w[0] = 100;
    w.meter_w[1] = 7;
    world_run(130);
    assert_int_equal(engine_wake(w.engine, "h1", false, "admin", w.now, ids, &err), 0);
    world_run(20);
    w.meter_w[1] = 130;
    while (world_state(ids[0]) != ACTION_FAILED)
        world_second();
    w.meter_hangs[1] = true;
    world_run(120);
    assert_int_equal(fact(1)->state, HOST_STANDBY);
    assert_near(fact(1)->power_w, 130);
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states),        cmocka_unit_test(test_told),
        cmocka_unit_test(test_no_figures),    cmocka_unit_test(test_memory),
        cmocka_unit_test(test_limited_pool),  cmocka_unit_test(test_asked),
        cmocka_unit_test(test_phases),        cmocka_unit_test(test_hangs),
        cmocka_unit_test(test_lost),          cmocka_unit_test(test_none_yet),
        cmocka_unit_test(test_answers),       cmocka_unit_test(test_scale),
        cmocka_unit_test(test_killed),        cmocka_unit_test(test_killed_with_meters),
        cmocka_unit_test(test_boots_unseen),  cmocka_unit_test(test_going_down),
        cmocka_unit_test(test_wake_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
