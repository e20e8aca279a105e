/* Power-offs that did not pay off: the early-wake penalty, how it survives a restart and how it decays. */
#include "engine_world.h"

#include <math.h>

#define CALM 500.0
#define BUSY 5000.0 /* four VMs on one host of 10,000: as much is missing as a host can give */
#define QUIET 2400

static void set_demand(double cpu)
{
    for (int i = 0; i < W->n_vms; i++)
        W->vms[i].cpu = cpu;
}

static const struct early_wake_penalty *seen(void)
{
    return &engine_snapshot(W->engine)->early_wake_penalty;
}

/* All VMs are on h0, h2 is put to standby, and the world is calm. */
static void begin_limited(struct world *w, double pool_limit)
{
    uint64_t id;

    world_init(w, 3, 4);
    w->settings.policy.automation = AUTOMATION_FULL;
    w->settings.policy.dpm.enabled = true;
    w->settings.policy.dpm.automation = AUTOMATION_AUTOMATIC;
    w->boot_s = 120;
    w->hottest = 1.2;
    w->pool_limit = pool_limit;
    set_demand(CALM);
    world_begin_engine();
    world_run(70);
    assert_int_equal(engine_standby(w->engine, "h2", "tester", w->now, &id, NULL), 0);
    world_run(90);
    assert_int_equal(w->host_state[2], HOST_STANDBY);
}

static void begin(struct world *w)
{
    begin_limited(w, 0);
}

/* Demand comes back, and the next pass wakes h2. */
static void surge(struct world *w, double demand, bool for_load)
{
    uint64_t ticket;

    set_demand(demand);
    w->script[0] = (struct world_move){
        .kind = ACTION_POWER_ON, .to = 2, .priority = 1, .group = 1, .for_load = for_load};
    w->n_script = 1;
    assert_int_equal(engine_run(w->engine, w->now, &ticket, NULL), 0);
    world_run(100);
    w->n_script = 0;
    world_run(200);
    assert_int_equal(w->host_state[2], HOST_ON);
}

static const struct {
    const char *name;
    instant_s off_s;
    double demand;
    bool for_load, somebody_else;
    bool penalized;
    double pool_limit; /* of all VMs; 0: none */
} cases[] = {
    {"missed after some minutes", 600, BUSY, true, false, true},
    {"missed after three hours, which is too soon yet", 3 * 3600, BUSY, true, false, true},
    {"missed after a night, which has paid", 10 * 3600, BUSY, true, false, false},
    {"woken before anything was missing", 600, 2400, true, false, false},
    {"a little was missing, after more than that costs", 3 * 3600, 2600, true, false, false},
    {"woken for spare capacity", 600, BUSY, false, false, false},
    {"no more than a little would be given, for the limit of a pool", 3 * 3600, BUSY, true, false, false,
     10100},
    {"the limit of a pool gives it", 3 * 3600, BUSY, true, false, true, 20000},
    {"put to standby by somebody else", 600, BUSY, true, true, false},
};

static void test_what_is_penalized(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct world w;

        print_message("  %s\n", cases[i].name);
        if (cases[i].somebody_else) {
            world_init(&w, 3, 4);
            w.settings.policy.automation = AUTOMATION_FULL;
            w.settings.policy.dpm.enabled = true;
            w.settings.policy.dpm.automation = AUTOMATION_AUTOMATIC;
            w.boot_s = 120;
            w.hottest = 1.2;
            w.host_state[2] = HOST_STANDBY;
            set_demand(CALM);
            world_begin_engine();
        } else {
            begin_limited(&w, cases[i].pool_limit);
        }
        world_run(cases[i].off_s);
        assert_int_equal(seen()->at, 0);
        surge(&w, cases[i].demand, cases[i].for_load);
        assert_int_equal(seen()->at != 0, cases[i].penalized);
        if (cases[i].penalized) {
            assert_true(fabs(seen()->wanted[RES_CPU] - 4 * BUSY) < 1);
            assert_true(seen()->quiet_s > 1.5 * (double)(cases[i].off_s + QUIET));
            assert_true(seen()->quiet_s < 1.5 * (double)(cases[i].off_s + QUIET + 300));
            assert_true(w.now - seen()->busy_at <= 70); /* and still is */
        }
        world_release();
    }
}

/* What was remembered is there after a restart, and says from when on it is quiet. */
static void test_outlives_a_restart(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    world_run(1200);
    surge(&w, BUSY, true);
    struct early_wake_penalty before = *seen();

    assert_true(before.at != 0);
    world_restart();
    world_run(70);
    assert_int_equal(seen()->at, before.at);
    assert_true(fabs(seen()->quiet_s - before.quiet_s) < 10);
    assert_true(seen()->wanted[RES_CPU] == before.wanted[RES_CPU]);
    set_demand(CALM);
    world_run(130);
    instant_s busy_at = seen()->busy_at;

    world_run(600);
    assert_int_equal(seen()->busy_at, busy_at);
    world_restart();
    world_run(70);
    assert_true(seen()->busy_at <= busy_at && seen()->busy_at >= busy_at - 600);
    world_release();
}

/* What is written there by nobody of ours is not believed; nor is another source's. */
static void test_not_believed(void **state)
{
    static const char *const notes[] = {"x",
                                        "5",
                                        "1000 1000 1000 nan 1 1 1 1",
                                        "1000 1000 1000 9000 -1 1 1 1",
                                        "1000 1000 1000 9000 1 1 1",
                                        "0 1000 1000 9000 1 1 1 1"};
    struct world w;

    (void)state;
    for (size_t i = 0; i < ELEMENTS(notes); i++) {
        world_init(&w, 3, 4);
        (void)snprintf(w.early_wake_penalty_note, sizeof w.early_wake_penalty_note, "%s", notes[i]);
        world_begin_engine();
        world_run(70);
        assert_int_equal(seen()->at, 0);
        world_release();
    }
    world_init(&w, 3, 4);
    (void)snprintf(w.early_wake_penalty_note, sizeof w.early_wake_penalty_note,
                   "%d %d %d 9000 20000 1 2000 1", WORLD_START, WORLD_START, WORLD_START);
    world_begin_engine();
    world_run(70);
    assert_int_equal(seen()->at, WORLD_START);
    assert_true(seen()->wanted[RES_CPU] == 20000);
    world_release();
}

/* Half as much is asked after a day, and what is less than a quiet is forgotten; unless demand comes and goes
 * as before. */
static void test_decays(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    world_run(1200);
    surge(&w, BUSY, true);
    double asked = seen()->quiet_s;

    assert_true(asked > 5400 && asked < 6000);
    set_demand(CALM);
    world_run(130);
    w.now += 12 * 3600;
    world_run(130);
    assert_true(fabs(seen()->quiet_s / asked - 0.7071) < 0.01);
    w.now += 24 * 3600;
    world_run(130);
    assert_int_equal(seen()->at, 0);
    assert_string_equal(w.early_wake_penalty_note, "");
    world_release();
}

static void test_proven_right(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    world_run(1200);
    surge(&w, BUSY, true);
    instant_s at = seen()->at;

    for (int i = 0; i < 30; i++) { /* days of quiet and busy hours */
        double asked = seen()->quiet_s;

        set_demand(CALM);
        world_run(100);
        w.now += 4500; /* less than is asked, more than power-off would have waited */
        world_run(100);
        set_demand(BUSY);
        world_run(200);
        assert_true(seen()->quiet_s >= asked * 0.9);
        assert_true(w.now - seen()->busy_at <= 70);
    }
    assert_int_equal(seen()->at, at);
    assert_true(w.now - at > 24 * 3600);
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_penalized), cmocka_unit_test(test_outlives_a_restart),
        cmocka_unit_test(test_not_believed),      cmocka_unit_test(test_decays),
        cmocka_unit_test(test_proven_right),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
