/* Hosts that an admin puts to standby or wakes, and proofs of a wake-up that an admin requests. */
#include "engine_world.h"

/* A person approves everything; h2 is empty. */
static void begin_manual(struct world *w)
{
    world_init(w, 4, 4);
    w->settings.policy.dpm.enabled = true;
    w->boot_s = 30;
    w->imbalance = 0;
    world_begin_engine();
    world_run(2);
}

/* What an admin has asked for is not taken back by a pass. */
static void test_an_admins_wish_stands(void **state)
{
    struct world w;
    uint64_t id;

    (void)state;
    begin_manual(&w);
    w.vms[2].host = 2;
    world_run(60);
    assert_int_equal(engine_standby(w.engine, "h2", "tester", w.now, &id, NULL), 0);
    w.high = 0.5;
    world_run(1000);
    assert_int_equal(world_state(id), ACTION_APPROVED);
    w.vms[2].host = 0;
    world_run(70);
    assert_int_equal(world_state(id), ACTION_DONE);
    world_release();
}

/* The moves off it that wait for their turn are not begun any more; the one that has begun goes on. */
static void test_standby_taken_back(void **state)
{
    (void)state;
    for (int by_wake = 0; by_wake <= 1; by_wake++) {
        struct world w;
        uint64_t id, ids[WAKE_ACTIONS];

        begin_manual(&w);
        w.settings.policy.migrations_per_host = 1;
        engine_configure(w.engine, &w.settings, w.now);
        w.vms[2].host = w.vms[3].host = 2;
        w.tasks_stick = true;
        world_run(60);
        for (int vm = 2; vm < 4; vm++)
            w.script[w.n_script++] = (struct world_move){.vm = vm, .to = 0, .priority = 1, .evacuates = true};
        assert_int_equal(engine_standby(w.engine, "h2", "tester", w.now, &id, NULL), 0);
        world_run(70);
        assert_int_equal(w.starts[2], 1);
        assert_int_equal(world_state(id + 2), ACTION_APPROVED);
        w.n_script = 0;
        if (by_wake)
            assert_int_equal(engine_wake(w.engine, "h2", false, "tester", w.now, ids, NULL), 0);
        else
            assert_int_equal(engine_reject(w.engine, &id, 1, false, 3600, "tester", w.now, NULL, NULL), 0);
        assert_int_equal(world_state(id), by_wake ? ACTION_CANCELLED : ACTION_REJECTED);
        assert_int_equal(world_state(id + 1), ACTION_RUNNING);
        assert_int_equal(world_state(id + 2), ACTION_CANCELLED);
        assert_non_null(strstr(world_action(id + 2)->why, "host h2 is not put to standby"));
        world_run(600);
        assert_int_equal(w.starts[3], 0);
        world_release();
    }
}

/* A move that the standby depends on fails; another VM that has come to the host waits for its turn. */
static void test_standby_that_cannot_be(void **state)
{
    struct world w;

    (void)state;
    world_init_standby(&w);
    w.vms[3].host = 0;
    w.script[1] = w.script[2];
    w.n_script = 2;
    w.settings.policy.migrations_per_host = 1;
    w.tasks_stick = true;
    world_begin_engine();
    world_run(60);
    assert_int_equal(w.starts[2], 1);
    w.vms[3].host = 2;
    w.script[w.n_script++] = (struct world_move){.vm = 3, .to = 1, .priority = 1, .evacuates = true};
    world_run(130);
    const uint64_t last = w.n_actions;

    assert_string_equal(world_action(last)->vm, "vm03");
    assert_int_equal(world_action(last)->reason, REASON_STANDBY);
    assert_int_equal(world_state(last), ACTION_APPROVED);
    w.n_script = 0;
    w.tasks_fail = true;
    w.tasks_stick = false;
    for (int i = 0; i < w.n_tasks; i++)
        w.tasks[i].stuck = false;
    world_run(60);
    assert_int_equal(w.downs[2], 0);
    assert_int_equal(world_state(last), ACTION_CANCELLED);
    assert_non_null(strstr(world_action(last)->why, "host h2 is not put to standby"));
    assert_int_equal(w.starts[3], 0);
    world_release();
}

/* Killed at any second of a standby, after the request: the next process has never read the host, and knows
 * that it sleeps. */
static void test_killed_and_never_read(void **state)
{
    unsigned on_the_way = 0;

    (void)state;
    for (int at = 1; at <= 40; at++) {
        struct world w;
        uint64_t id, ids[WAKE_ACTIONS];

        begin_manual(&w);
        world_run(60);
        assert_int_equal(engine_standby(w.engine, "h2", "tester", w.now, &id, NULL), 0);
        world_run(at);
        on_the_way += world_state(id) == ACTION_RUNNING || world_state(id) == ACTION_VERIFYING;
        if (world_state(id) != ACTION_APPROVED && world_state(id) != ACTION_STARTING) {
            w.host_state[2] = HOST_STANDBY;
            w.unread[2] = true;
            world_restart();
            world_run(100);
            assert_int_equal(engine_snapshot(w.engine)->hosts[2].is.state, HOST_STANDBY);
            assert_int_equal(world_state(id), ACTION_DONE);
            assert_int_equal(engine_wake(w.engine, "h2", false, "tester", w.now, ids, NULL), 0);
        }
        world_release();
    }
    assert_true(on_the_way > 0);
}

static void test_maintenance_and_standby(void **state)
{
    struct world w;
    struct err err = {0};
    uint64_t down, wish, up[WAKE_ACTIONS] = {0}, cancelled[POWER_CHANGES];

    (void)state;
    begin_manual(&w);
    w.host_state[3] = HOST_MAINTENANCE;
    world_run(60);
    assert_int_equal(engine_standby(w.engine, "h3", "tester", w.now, &down, &err), -EBUSY);
    assert_non_null(strstr(err.text, "`ballast maintenance exit`"));
    /* one that is about to sleep enters maintenance instead */
    w.vms[2].host = 2;
    world_run(60);
    assert_int_equal(engine_standby(w.engine, "h2", "tester", w.now, &down, NULL), 0);
    assert_int_equal(engine_maintenance(w.engine, "h2", true, "tester", w.now, &wish, cancelled, NULL), 0);
    assert_int_equal(world_state(down), ACTION_CANCELLED);
    assert_int_equal(cancelled[1], down); /* which the admin is told */
    assert_int_equal(cancelled[0], 0);
    assert_int_equal(engine_standby(w.engine, "h2", "tester", w.now, &down, &err), -EBUSY);
    assert_int_equal(engine_maintenance(w.engine, "h2", false, "tester", w.now, &wish, NULL, NULL), 0);
    /* one that sleeps is taken out of service without being woken */
    w.vms[2].host = 0;
    world_run(60);
    assert_int_equal(engine_standby(w.engine, "h2", "tester", w.now, &down, NULL), 0);
    world_run(60);
    assert_int_equal(w.host_state[2], HOST_STANDBY);
    assert_int_equal(engine_maintenance(w.engine, "h2", true, "tester", w.now, &wish, NULL, NULL), 0);
    world_run(120);
    assert_int_equal(world_state(wish), ACTION_APPROVED);
    assert_non_null(strstr(world_action(wish)->why, "is not woken for VMs"));
    assert_int_equal(engine_snapshot(w.engine)->hosts[2].is.dpm, AUTOMATION_DISABLED);
    assert_int_equal(w.wakes[2], 0);
    /* the admin switches it on */
    assert_int_equal(engine_wake(w.engine, "h2", false, "tester", w.now, up, NULL), 0);
    world_run(180);
    assert_int_equal(world_state(up[0]), ACTION_DONE);
    assert_int_equal(w.host_state[2], HOST_MAINTENANCE);
    world_release();
}

/* A wake that has begun cannot be taken back: it goes on, and the admin is told. */
static void test_maintenance_during_a_wake(void **state)
{
    struct world w;
    uint64_t wish, down, up[WAKE_ACTIONS] = {0}, power[POWER_CHANGES];

    (void)state;
    begin_manual(&w);
    assert_int_equal(engine_standby(w.engine, "h2", "tester", w.now, &down, NULL), 0);
    world_run(120);
    assert_int_equal(w.host_state[2], HOST_STANDBY);
    w.boot_s = 100;
    assert_int_equal(engine_wake(w.engine, "h2", false, "tester", w.now, up, NULL), 0);
    world_run(20);
    assert_true(world_state(up[0]) == ACTION_RUNNING || world_state(up[0]) == ACTION_VERIFYING);
    assert_int_equal(engine_maintenance(w.engine, "h2", true, "tester", w.now, &wish, power, NULL), 0);
    assert_int_equal(power[0], up[0]);
    assert_int_equal(power[1], 0);
    world_run(300);
    assert_int_equal(world_state(up[0]), ACTION_DONE);
    assert_int_equal(world_state(wish), ACTION_DONE);
    assert_int_equal(w.host_state[2], HOST_MAINTENANCE);
    world_release();
}

/* ---- what an admin asks for ------------------------------------------------------------------ */

static const struct {
    const char *name, *host;
    bool unproven, paused, blind, dedicated;
    enum host_state is;
    int hosts_min;
    unsigned without; /* operations */
    int code;
    const char *says;
} refusal_cases[] = {
    {.name = "no such host", .host = "h9", .code = -EINVAL, .says = "no host has the id or name \"h9\""},
    {.name = "not proven", .unproven = true, .code = -EPERM, .says = "`ballast wake h2 --verify`"},
    {.name = "paused", .paused = true, .code = -EBUSY, .says = "`ballast resume`"},
    {.name = "not seen",
     .blind = true,
     .code = -EHOSTUNREACH,
     .says = "cannot be read now; `ballast status`"},
    {.name = "lost",
     .is = HOST_DISCONNECTED,
     .code = -EBUSY,
     .says = "h2 is disconnected: only a host that is on can be put to standby; its manager"},
    {.name = "boots",
     .is = HOST_POWERING_ON,
     .code = -EBUSY,
     .says = "h2 is powering_on: only a host that is on can be put to standby; it is powering on"},
    {.name = "needed",
     .hosts_min = 4,
     .code = -EPERM,
     .says = "dpm.hosts_min is 4; another host has to be woken first"},
    {.name = "cannot",
     .without = 1u << OPERATION_STANDBY,
     .code = -ENOTSUP,
     .says = "has no other way to be switched: power.hosts"},
    {.name = "no way back",
     .without = 1u << OPERATION_WAKE,
     .code = -ENOTSUP,
     .says = "would stay in standby; power.hosts"},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(refusal_cases); i++) {
        struct world w;
        struct err err = {0};
        uint64_t id = 77;

        print_message("  %s\n", refusal_cases[i].name);
        begin_manual(&w);
        w.unproven = refusal_cases[i].unproven;
        w.host_state[2] = refusal_cases[i].is;
        w.awake_at[2] = w.now + 1000;
        w.source_down = refusal_cases[i].blind;
        w.settings.policy.dpm.hosts_min = refusal_cases[i].hosts_min ? refusal_cases[i].hosts_min : 1;
        w.settings.operations &= ~refusal_cases[i].without;
        engine_configure(w.engine, &w.settings, w.now);
        world_run(60);
        if (refusal_cases[i].paused)
            assert_int_equal(engine_pause(w.engine, "tester", w.now, NULL), 0);
        assert_int_equal(engine_standby(w.engine, refusal_cases[i].host ? refusal_cases[i].host : "h2",
                                        "tester", w.now, &id, &err),
                         refusal_cases[i].code);
        assert_non_null(strstr(err.text, refusal_cases[i].says));
        w.source_down = false;
        world_run(100);
        assert_int_equal(w.downs[2], 0);
        world_release();
    }
}

static const struct {
    enum host_state is;
    const char *says;
} wake_refusals[] = {
    {HOST_MAINTENANCE, "h2 is maintenance: only a host in standby can be woken; `ballast maintenance exit`"},
    {HOST_ENTERING_MAINTENANCE, "can be woken; `ballast maintenance exit`"},
    {HOST_ENTERING_STANDBY, "can be woken; ask again when it is there"},
    {HOST_DISCONNECTED, "check its power and its connection"},
};

/* Each says why, and what is to be done. */
static void test_wake_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(wake_refusals); i++) {
        struct world w;
        struct err err = {0};
        uint64_t ids[WAKE_ACTIONS];

        begin_manual(&w);
        w.host_state[2] = wake_refusals[i].is;
        world_run(60);
        assert_int_equal(engine_wake(w.engine, "h2", i % 2 == 0, "tester", w.now, ids, &err), -EBUSY);
        assert_non_null(strstr(err.text, wake_refusals[i].says));
        assert_int_equal(w.wakes[2], 0);
        world_release();
    }
}

/* Down, up, and each of them taken back while nothing has been asked yet. */
static void test_standby_and_wake(void **state)
{
    struct world w;
    uint64_t down, again, up[WAKE_ACTIONS] = {0};

    (void)state;
    begin_manual(&w);
    assert_int_equal(engine_standby(w.engine, "h2", "tester", w.now, &down, NULL), 0);
    assert_int_equal(engine_standby(w.engine, "h2", "tester", w.now, &again, NULL), 0);
    assert_int_equal(again, down);
    assert_int_equal(engine_wake(w.engine, "h2", false, "tester", w.now, up, NULL), 0);
    assert_true(up[0] == down && up[1] == 0);
    assert_int_equal(world_state(down), ACTION_CANCELLED);
    assert_int_equal(engine_wake(w.engine, "h2", false, "tester", w.now, up, NULL), 0);
    assert_int_equal(up[0], 0); /* it is on */
    assert_int_equal(engine_standby(w.engine, "h2", "tester", w.now, &down, NULL), 0);
    world_run(40);
    assert_int_equal(world_state(down), ACTION_DONE);
    assert_string_equal(world_action(down)->approved_by, "tester");
    assert_int_equal(world_action(down)->reason, REASON_ASKED);
    assert_int_equal(engine_standby(w.engine, "h2", "tester", w.now, &again, NULL), 0);
    assert_int_equal(again, 0);
    assert_int_equal(engine_wake(w.engine, "h2", true, "tester", w.now, up, NULL), 0);
    world_run(60);
    assert_int_equal(world_state(up[0]), ACTION_DONE);
    assert_int_equal(w.host_state[2], HOST_ON);
    assert_int_equal(w.downs[2], 1);
    assert_int_equal(w.wakes[2], 1);
    world_release();
}

/* While it goes down: it is woken as soon as it sleeps. */
static void test_woken_on_its_way_down(void **state)
{
    struct world w;
    uint64_t down, up[WAKE_ACTIONS] = {0};

    (void)state;
    begin_manual(&w);
    w.task_s = 20;
    assert_int_equal(engine_standby(w.engine, "h2", "tester", w.now, &down, NULL), 0);
    world_run(10);
    assert_int_equal(world_state(down), ACTION_RUNNING);
    assert_int_equal(engine_wake(w.engine, "h2", false, "tester", w.now, up, NULL), 0);
    assert_int_equal(world_state(up[0]), ACTION_APPROVED);
    world_run(120);
    assert_int_equal(world_state(down), ACTION_DONE);
    assert_int_equal(world_state(up[0]), ACTION_DONE);
    assert_int_equal(w.host_state[2], HOST_ON);
    world_release();
}

/* ---- the proof ------------------------------------------------------------------------------- */

/* Down and up once; from then on it may sleep. Over a restart, too. */
static void test_verify(void **state)
{
    struct world w;
    struct err err = {0};
    uint64_t down, ids[WAKE_ACTIONS] = {0};

    (void)state;
    begin_manual(&w);
    w.unproven = true;
    w.vms[2].host = 2; /* an admin moves it away, later */
    world_run(60);
    assert_int_equal(engine_standby(w.engine, "h2", "tester", w.now, &down, &err), -EPERM);
    assert_int_equal(engine_wake(w.engine, "h2", true, "tester", w.now, ids, NULL), 0);
    assert_true(ids[0] != 0 && ids[1] != 0);
    assert_int_equal(engine_standby(w.engine, "h2", "tester", w.now, &down, NULL),
                     -EBUSY); /* it would wake */
    world_run(2000);
    assert_int_equal(world_state(ids[0]), ACTION_APPROVED); /* it waits as long as it takes */
    assert_int_equal(world_state(ids[1]), ACTION_APPROVED);
    w.vms[2].host = 0;
    world_run(200);
    assert_int_equal(world_state(ids[0]), ACTION_DONE);
    assert_int_equal(world_state(ids[1]), ACTION_DONE);
    assert_true(w.downs[2] == 1 && w.wakes[2] == 1 && w.host_state[2] == HOST_ON);
    assert_true(engine_snapshot(w.engine)->hosts[2].is.wake_verified);
    assert_false(engine_snapshot(w.engine)->hosts[1].is.wake_verified);
    world_restart();
    world_run(5);
    assert_true(engine_snapshot(w.engine)->hosts[2].is.wake_verified);
    assert_int_equal(engine_standby(w.engine, "h2", "tester", w.now, &down, NULL), 0);
    world_run(30);
    assert_int_equal(w.host_state[2], HOST_STANDBY);
    world_release();
}

/* It is taken back, or never gets there: nothing is proven, and nothing stays behind. */
static void test_verify_ends_early(void **state)
{
    struct world w;
    uint64_t ids[WAKE_ACTIONS] = {0}, back[WAKE_ACTIONS] = {0};

    (void)state;
    begin_manual(&w);
    w.unproven = true;
    w.vms[2].host = 2;
    world_run(60);
    assert_int_equal(engine_wake(w.engine, "h2", true, "tester", w.now, ids, NULL), 0);
    assert_int_equal(engine_wake(w.engine, "h2", true, "tester", w.now, back, NULL), 0);
    assert_true(back[0] == ids[0] && back[1] == ids[1]);
    assert_int_equal(engine_wake(w.engine, "h2", false, "tester", w.now, back, NULL), 0);
    assert_int_equal(world_state(ids[0]), ACTION_CANCELLED);
    assert_int_equal(world_state(ids[1]), ACTION_CANCELLED);
    w.vms[2].host = 0;
    world_run(60);
    w.tasks_fail = true;
    assert_int_equal(engine_wake(w.engine, "h2", true, "tester", w.now, ids, NULL), 0);
    world_run(60);
    assert_int_equal(world_state(ids[0]), ACTION_FAILED);
    assert_int_equal(world_state(ids[1]), ACTION_CANCELLED);
    assert_int_equal(w.wakes[2], 0);
    assert_false(engine_snapshot(w.engine)->hosts[2].is.wake_verified);
    world_release();
}

/* Killed at any call: it goes down once and comes up once, and the proof is there. */
static void test_verify_killed(void **state)
{
    (void)state;
    for (int mode = 0; mode < CRASH_MODES; mode++) {
        for (int at = 1; at <= 45; at++) {
            struct world w;
            uint64_t ids[WAKE_ACTIONS] = {0};

            begin_manual(&w);
            w.unproven = true;
            world_run(60);
            assert_int_equal(engine_wake(w.engine, "h2", true, "tester", w.now, ids, NULL), 0);
            (void)world_killed(mode, at, 100);
            world_run(400);
            assert_true(w.downs[2] == 1 && w.wakes[2] == 1 && w.host_state[2] == HOST_ON);
            assert_true(engine_snapshot(w.engine)->hosts[2].is.wake_verified);
            world_release();
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_admins_wish_stands),
        cmocka_unit_test(test_standby_taken_back),
        cmocka_unit_test(test_standby_that_cannot_be),
        cmocka_unit_test(test_killed_and_never_read),
        cmocka_unit_test(test_maintenance_and_standby),
        cmocka_unit_test(test_maintenance_during_a_wake),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_wake_refusals),
        cmocka_unit_test(test_standby_and_wake),
        cmocka_unit_test(test_woken_on_its_way_down),
        cmocka_unit_test(test_verify),
        cmocka_unit_test(test_verify_ends_early),
        cmocka_unit_test(test_verify_killed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
