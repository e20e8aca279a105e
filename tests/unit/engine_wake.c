/* Hosts that fail to wake, and the facts kept about hosts that do wake. */
#include "engine_world.h"

#include <math.h>

/* h2 and h3 sleep. The pass wants h2 on; or h3, when h2 cannot be counted on. */
static void begin(struct world *w)
{
    world_init(w, 4, 4);
    w->settings.policy.automation = AUTOMATION_FULL;
    w->settings.policy.dpm.enabled = true;
    w->settings.policy.dpm.automation = AUTOMATION_AUTOMATIC;
    w->settings.policy.interval_s = 600; /* so that a pass in between is seen */
    w->boot_s = 40;
    w->imbalance = 0;
    w->host_state[2] = w->host_state[3] = HOST_STANDBY;
    w->script[0] = (struct world_move){.kind = ACTION_POWER_ON, .to = 2, .priority = 1};
    w->script[1] = (struct world_move){.kind = ACTION_POWER_ON, .to = 3, .priority = 1, .otherwise = true};
    w->n_script = 2;
    world_begin_engine();
}

static const struct host_facts *fact(int host)
{
    char id[16];

    w_host_id(host, id);
    const struct snapshot *s = engine_snapshot(W->engine);

    return &s->hosts[snapshot_find_host(s, id)].is;
}

/* ---- a host that does not come ---------------------------------------------------------------- */

static const struct {
    const char *name;
    bool stale, refused, fails, lies, sticks, cannot_cancel, hides;
    instant_s within;
} failure_cases[] = {
    {.name = "it is refused", .refused = true, .within = 20},
    {.name = "its manager says that it is in no standby", .stale = true, .within = 1830},
    {.name = "its task fails", .fails = true, .within = 20},
    {.name = "said to be woken, and sleeps on", .lies = true, .within = 1830},
    {.name = "the same, and it is not seen", .lies = true, .hides = true, .within = 1830},
    {.name = "its task hangs", .sticks = true, .within = 1830},
    {.name = "and cannot be stopped", .sticks = true, .cannot_cancel = true, .within = 1830},
};

/* An alarm, and another one in its place in the pass that is made at once. */
static void test_another_one_is_woken(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(failure_cases); i++) {
        struct world w;
        instant_s failed = 0;

        print_message("  %s\n", failure_cases[i].name);
        begin(&w);
        w.tasks_fail = failure_cases[i].fails;
        w.tasks_lie = failure_cases[i].lies;
        w.tasks_stick = failure_cases[i].sticks;
        w.cannot_cancel = failure_cases[i].cannot_cancel;
        w.check_code = failure_cases[i].stale ? -ESTALE : 0;
        world_run(1);
        assert_int_equal(world_state(1), ACTION_APPROVED);
        w.start_code = failure_cases[i].refused ? -EPERM : 0;
        while (w.n_tasks == 0 && w.start_code != 0)
            world_second();
        world_run(1);
        if (failure_cases[i].hides) { /* as one that we have put to standby */
            w.n_known = 2;
            w.known[0] = (struct host_record){.host = "h2", .put_down = WORLD_START, .boot_s = UNKNOWN};
            w.known[1] = (struct host_record){.host = "h3", .put_down = WORLD_START, .boot_s = UNKNOWN};
            world_restart();
            w.hides = true;
        }
        while (failed == 0 && w.now < WORLD_START + failure_cases[i].within) {
            world_second();
            failed = world_state(1) == ACTION_FAILED ? w.now : 0;
        }
        assert_true(failed != 0);
        assert_int_equal(w_count_events("wake_failed"), 1);
        w.tasks_fail = w.tasks_lie = w.tasks_stick = false;
        world_run(5);
        assert_int_equal(w.wakes[3], 1);
        assert_true(fact(2)->wake_failed_at != 0 && !fact(2)->wake_verified);
        world_run(100);
        assert_int_equal(w.host_state[3], HOST_ON);
        assert_true(w.wakes[2] <= 1);
        world_release();
    }
}

/* The clock was set back between two processes while a host was being woken: that is found to have failed as
 * soon as ever, and not hours later, when the clock has caught up. */
static void test_clock_set_back(void **state)
{
    struct world w;
    instant_s until;

    (void)state;
    begin(&w);
    w.tasks_stick = true;
    world_run(5);
    assert_int_equal(world_state(1), ACTION_RUNNING);
    w.now -= 3 * 3600;
    world_restart();
    until = w.now + 1830;
    while (w.now < until && world_state(1) != ACTION_FAILED)
        world_second();
    assert_int_equal(world_state(1), ACTION_FAILED);
    w.tasks_stick = false;
    world_run(100);
    assert_int_equal(w.host_state[3], HOST_ON);
    world_release();
}

/* It turns out to have failed with the very inventory that a pass is made of, which was not told: one more.
 */
static void test_fails_as_a_pass_is_made(void **state)
{
    struct world w;
    uint64_t ticket;

    (void)state;
    begin(&w);
    w.tasks_lie = true;
    world_run(1800);
    assert_int_equal(world_state(1), ACTION_VERIFYING);
    while (world_state(1) == ACTION_VERIFYING) {
        assert_int_equal(engine_run(w.engine, w.now, &ticket, NULL), 0);
        world_second();
    }
    world_run(5);
    assert_int_equal(w.wakes[3], 1);
    world_release();
}

/* Left alone for the cool-down, then tried once more; one that came by itself is as good as any. */
static void test_left_alone_for_a_while(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    w.n_script = 1;
    w.tasks_fail = true;
    world_run(500);
    assert_int_equal(w.wakes[2], 1);
    assert_true(fact(2)->wake_failed_at > WORLD_START);
    world_restart();
    world_run(50);
    assert_true(fact(2)->wake_failed_at > WORLD_START);
    assert_int_equal(w.wakes[2], 1);
    world_run(700);
    assert_int_equal(w.wakes[2], 2);
    w.host_state[2] = HOST_ON; /* somebody went there */
    world_run(70);
    assert_int_equal(fact(2)->wake_failed_at, 0);
    assert_false(fact(2)->wake_verified); /* that was no proof */
    world_release();
}

/* One that comes up in maintenance has been woken: no alarm. */
static void test_up_in_maintenance(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    w.boot_s = 9999;
    world_run(20);
    assert_int_equal(world_state(1), ACTION_VERIFYING);
    w.host_state[2] = HOST_MAINTENANCE;
    world_run(100);
    assert_int_equal(world_state(1), ACTION_FAILED);
    assert_int_equal(w_count_events("wake_failed"), 0);
    assert_int_equal(fact(2)->wake_failed_at, 0);
    world_release();
}

/* ---- what is remembered ----------------------------------------------------------------------- */

/* How long it takes to boot, which is how long the next wake is waited for; over a restart, too. */
static void test_boot_is_learned(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    w.n_script = 1;
    w.boot_s = 160;
    world_run(400);
    assert_int_equal(world_state(1), ACTION_DONE);
    double learned = fact(2)->boot_s;

    assert_true(learned >= 160 && learned <= 240);
    assert_true(isnan(fact(3)->boot_s));
    world_restart();
    world_run(2);
    assert_true(fact(2)->boot_s == learned);
    w.host_state[2] = HOST_STANDBY;
    w.boot_s = 99999;
    world_run(640);
    assert_int_equal(world_state(2), ACTION_VERIFYING);
    instant_s started = world_action(2)->started;

    world_run(580);
    assert_int_equal(world_state(2), ACTION_FAILED);
    assert_true(world_action(2)->ended - started <= (instant_s)(3 * learned) + 60);
    world_release();
}

/* Since when hosts are on or asleep, where the source does not say. */
static void test_since_when(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    w.n_script = 0;
    world_run(100);
    assert_true(fact(0)->on_since == 0 && fact(2)->standby_since == 0); /* longer than anybody knows */
    w.host_state[2] = HOST_ON;
    w.host_state[0] = HOST_STANDBY;
    for (int i = 0; i < w.n_vms; i++)
        w.vms[i].host = 1;
    world_run(70);
    instant_s t = fact(2)->on_since;

    assert_true(t > WORLD_START + 100 && fact(0)->standby_since == t);
    world_restart();
    world_run(70);
    assert_true(fact(2)->on_since == t && fact(0)->standby_since == t);
    w.host_state[2] = HOST_DISCONNECTED; /* that says nothing */
    world_run(70);
    w.host_state[2] = HOST_ON;
    world_run(70);
    assert_int_equal(fact(2)->on_since, t);
    w.host_state[2] = HOST_MAINTENANCE; /* it begins anew */
    world_run(70);
    w.host_state[2] = HOST_ON;
    world_run(70);
    assert_true(fact(2)->on_since > t);
    world_release();
}

/* What we put to standby sleeps, though the source has lost it, until it is seen up; also one that is not
 * even in the inventory any more is not forgotten. */
static void test_not_forgotten(void **state)
{
    struct world w;
    struct arena a = {0};
    struct asleep *list;
    uint64_t id;

    (void)state;
    begin(&w);
    w.n_script = 0;
    w.host_state[3] = HOST_ON;
    world_run(70);
    assert_int_equal(engine_standby(w.engine, "h3", "tester", w.now, &id, NULL), 0);
    world_run(30);
    w.hides = true;
    world_run(70);
    assert_int_equal(fact(3)->state, HOST_STANDBY);
    assert_int_equal(fact(2)->state, HOST_DISCONNECTED); /* that was somebody else's */
    w.n_hosts = 3;
    world_run(70);
    w.now += (instant_s)100 * 24 * 3600;
    world_restart();
    world_run(70);
    assert_int_equal(engine_asleep(w.engine, &a, &list), 1);
    assert_string_equal(list[0].host, "h3");
    assert_true(list[0].ours && !list[0].there);
    w.n_hosts = 4;
    world_run(70);
    assert_int_equal(fact(3)->state, HOST_STANDBY);
    w.vms[0].host = 3; /* a VM runs there: it does not sleep, whatever we think */
    world_run(70);
    assert_int_equal(fact(3)->state, HOST_DISCONNECTED);
    arena_release(&a);
    world_release();
}

/* ---- a host that leaves the inventory while it sleeps ------------------------------------------ */

/* h3, which people call esx3, is put to standby by us and taken out of the inventory; then the service starts
 * anew. */
static void begin_left(struct world *w)
{
    uint64_t id;

    begin(w);
    w->keeps = true;
    w->n_script = 0;
    w->name_of[3] = "esx3";
    w->host_state[3] = HOST_ON;
    world_run(70);
    assert_int_equal(engine_standby(w->engine, "esx3", "tester", w->now, &id, NULL), 0);
    world_run(70);
    assert_int_equal(w->host_state[3], HOST_STANDBY);
    w->gone[3] = true;
    world_run(70);
    assert_int_equal(w_count_events("host_lost"), 1);
    world_restart();
}

static struct asleep only_asleep(struct arena *a, const char *host)
{
    struct asleep *list;
    size_t n = engine_asleep(W->engine, a, &list);

    for (size_t i = 0; i < n; i++) {
        if (strcmp(list[i].host, host) == 0)
            return list[i];
    }
    return (struct asleep){0};
}

static void test_woken_by_name(void **state)
{
    struct world w;
    struct arena a = {0};
    uint64_t ids[WAKE_ACTIONS], id, cancelled[POWER_CHANGES];
    struct err err = {0};

    (void)state;
    begin_left(&w);
    assert_string_equal(only_asleep(&a, "h3").name, "esx3"); /* before the first inventory, too */
    world_run(70);
    assert_string_equal(only_asleep(&a, "h3").name, "esx3");
    assert_true(only_asleep(&a, "h3").ours && !only_asleep(&a, "h3").there);
    assert_true(fact(3)->left_inventory && fact(3)->state == HOST_STANDBY);
    assert_true(fact(3)->total[RES_MEM] == fact(2)->total[RES_MEM] && fact(3)->standby_since != 0);
    assert_int_equal(w_count_events("host_lost"), 1); /* not once more by the new process */

    assert_int_equal(engine_standby(w.engine, "esx3", "tester", w.now, &id, &err), -EBUSY);
    assert_int_equal(engine_maintenance(w.engine, "esx3", true, "tester", w.now, &id, cancelled, &err),
                     -EBUSY);
    assert_non_null(strstr(err.text, "host esx3 sleeps and is not in the inventory any more"));
    assert_int_equal(engine_wake(w.engine, "esx3", false, "tester", w.now, ids, &err), 0);
    world_run(100);
    assert_int_equal(w.host_state[3], HOST_ON);
    assert_int_equal(world_state(ids[0]), ACTION_VERIFYING); /* done when an inventory shows it */
    w.gone[3] = false;
    world_run(70);
    assert_int_equal(world_state(ids[0]), ACTION_DONE);
    assert_int_equal(w_count_events("host_back"), 1);
    assert_true(!fact(3)->left_inventory && fact(3)->state == HOST_ON);
    assert_null(only_asleep(&a, "h3").host);
    arena_release(&a);
    world_release();
}

/* The service is started while the host sleeps, and its source lists hosts that it has never read: the host
 * still sleeps, with its size, and can be woken. One that did not sleep stays disconnected. */
static void test_never_read(void **state)
{
    struct world w;
    uint64_t id, ids[WAKE_ACTIONS];

    (void)state;
    begin(&w);
    w.keeps = true;
    w.n_script = 0;
    w.host_state[3] = HOST_ON;
    world_run(70);
    assert_int_equal(engine_standby(w.engine, "h3", "tester", w.now, &id, NULL), 0);
    world_run(70);
    assert_int_equal(w.host_state[3], HOST_STANDBY);
    w.vms[0].off = true;
    w.unread[3] = w.unread[1] = true;
    world_restart();
    world_run(70);
    assert_int_equal(fact(3)->state, HOST_STANDBY);
    assert_int_equal(snapshot_find_vm(engine_snapshot(w.engine), w.vms[0].id), IX_NONE); /* on h1, perhaps */
    assert_true(!fact(3)->left_inventory && fact(3)->cores == 4 && fact(3)->total[RES_MEM] == 10000);
    assert_int_equal(fact(1)->state, HOST_DISCONNECTED);
    world_restart(); /* what was filled in is kept */
    world_run(70);
    assert_true(fact(3)->state == HOST_STANDBY && fact(3)->cores == 4);
    w.unread[1] = false; /* what is unread now sleeps, and runs nothing */
    world_run(70);
    assert_int_not_equal(snapshot_find_vm(engine_snapshot(w.engine), w.vms[0].id), IX_NONE);
    assert_int_equal(engine_wake(w.engine, "h3", false, "tester", w.now, ids, NULL), 0);
    world_run(100);
    w.unread[3] = false;
    world_run(70);
    assert_int_equal(fact(3)->state, HOST_ON);
    assert_int_equal(world_state(ids[0]), ACTION_DONE);
    world_release();
}

/* It is on, but its source does not list it: the wake fails with a reason that says so. The pass tries no
 * second time, a person may. */
static void test_left_for_good(void **state)
{
    struct world w;
    uint64_t ids[WAKE_ACTIONS];

    (void)state;
    begin_left(&w);
    world_run(70);
    assert_int_equal(fact(3)->dpm, AUTOMATION_INHERIT);
    assert_int_equal(engine_wake(w.engine, "esx3", false, "tester", w.now, ids, NULL), 0);
    world_run(1900);
    assert_int_equal(world_state(ids[0]), ACTION_FAILED);
    assert_non_null(strstr(w.actions[ids[0] - 1].why, "it is not in the inventory"));
    assert_int_equal(w_count_events("wake_failed"), 1);
    assert_int_equal(fact(3)->dpm, AUTOMATION_DISABLED);
    assert_int_equal(engine_wake(w.engine, "h3", false, "tester", w.now, ids, NULL), 0);
    world_release();
}

/* Another entry is the host now: one of its name. A VM that runs on a host says that it does not sleep. */
static void test_left_and_listed_anew(void **state)
{
    struct world w;
    struct arena a = {0};

    (void)state;
    begin_left(&w);
    w.n_hosts = 5;
    w.name_of[4] = "esx3";
    world_run(70);
    assert_int_equal(snapshot_find_host(engine_snapshot(w.engine), "h3"), IX_NONE);
    assert_null(only_asleep(&a, "h3").host);
    world_restart();
    world_run(70);
    assert_null(only_asleep(&a, "h3").host);
    arena_release(&a);
    world_release();
}

/* So is one of its hardware UUID, but not where several hosts report the same: firmware that has none. */
static void test_left_and_uuid(void **state)
{
    static const char own[] = "4c4c4544-0042-3510-8054-b7c04f4a3231";

    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        struct world w;
        struct arena a = {0};
        uint64_t id;

        begin(&w);
        w.keeps = true;
        w.n_script = 0;
        w.host_state[3] = HOST_ON;
        w.uuid_of[3] = own;
        w.uuid_of[1] = shared ? own : NULL;
        world_run(70);
        assert_int_equal(engine_standby(w.engine, "h3", "tester", w.now, &id, NULL), 0);
        world_run(70);
        w.gone[3] = true;
        w.n_hosts = 5;
        w.uuid_of[4] = shared ? NULL : own;
        world_run(70);
        assert_true((only_asleep(&a, "h3").host != NULL) == shared);
        arena_release(&a);
        world_release();
    }
}

/* A pass that needs it wakes it, at every level that it is woken at otherwise. */
static void test_left_and_needed(void **state)
{
    struct world w;

    (void)state;
    begin_left(&w);
    world_run(70);
    w.script[0] = (struct world_move){.kind = ACTION_POWER_ON, .to = 3, .priority = 1};
    w.n_script = 1;
    world_run(700);
    assert_int_equal(w.host_state[3], HOST_ON);
    w.n_script = 0;
    w.gone[3] = false;
    world_run(70);
    assert_int_equal(w_count_events("wake_failed"), 0);
    assert_int_equal(fact(3)->state, HOST_ON);
    world_release();
}

/* ---- a host whose standby has not ended ---------------------------------------------------------- */

/* h2 is seen in standby, and its power-off, action 1, has not ended: its task did, and no inventory has come
 * since. A pass wants h2 on again: action 2. */
static void begin_wake_during_standby(struct world *w)
{
    uint64_t id, ticket;

    begin(w);
    w->n_script = 0;
    w->host_state[2] = HOST_ON;
    w->tasks_stick = true;
    world_run(2);
    assert_int_equal(engine_standby(w->engine, "h2", "tester", w->now, &id, NULL), 0);
    world_run(20);
    assert_int_equal(world_state(1), ACTION_RUNNING);
    w->host_state[2] = HOST_STANDBY;
    w->n_script = 1;
    assert_int_equal(engine_run(w->engine, w->now, &ticket, NULL), 0);
    for (int s = 0; s < 60 && world_state(2) == action_state_count; s++)
        world_second();
    assert_int_equal(world_state(1), ACTION_RUNNING);
    assert_int_equal(world_state(2), ACTION_APPROVED);
    w->source_silent = true;
    w->tasks_stick = w->tasks[0].stuck = false;
    for (int s = 0; s < 60 && world_state(1) == ACTION_RUNNING; s++)
        world_second();
    assert_int_equal(world_state(1), ACTION_VERIFYING);
}

/* Until all has ended. The two never act on the host at the same time. */
static void expect_one_after_the_other(struct world *w)
{
    for (int s = 0; s < 300 && w->host_state[2] != HOST_ON; s++) {
        world_second();
        assert_true(w->wakes[2] == 0 || world_state(1) == ACTION_DONE);
    }
    world_run(70);
    assert_int_equal(world_state(1), ACTION_DONE);
    assert_int_equal(world_state(2), ACTION_DONE);
    assert_int_equal(w->wakes[2], 1);
    assert_int_equal(w->downs[2], 1);
    assert_int_equal(fact(2)->state, HOST_ON);
}

/* The wake waits for the inventory that ends the standby, and says so. */
static void test_wake_waits_for_the_end_of_the_standby(void **state)
{
    struct world w;

    (void)state;
    begin_wake_during_standby(&w);
    world_run(5);
    assert_int_equal(world_state(2), ACTION_APPROVED);
    assert_int_equal(w.wakes[2], 0);
    assert_non_null(strstr(world_action(2)->why, "the standby of host h2 has not ended yet"));
    w.source_silent = false;
    expect_one_after_the_other(&w);
    world_release();
}

/* Killed at any call: the next process finds a power-off that is being verified, and a wake that waits for
 * it. A power-off that saw the host on again would wait for it to go, and the wake would fail. */
static void test_killed_between_standby_and_wake(void **state)
{
    (void)state;
    for (int mode = 0; mode < CRASH_MODES; mode++) {
        for (int at = 1; at <= 40; at++) {
            for (int silent_s = 0; silent_s <= 10; silent_s += 5) {
                struct world w;

                begin_wake_during_standby(&w);
                world_run(silent_s);
                w.source_silent = silent_s == 5; /* read again before the kill, or not before the restart */
                (void)world_killed(mode, at, 20);
                w.source_silent = false;
                expect_one_after_the_other(&w);
                world_release();
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_another_one_is_woken),
        cmocka_unit_test(test_left_alone_for_a_while),
        cmocka_unit_test(test_clock_set_back),
        cmocka_unit_test(test_fails_as_a_pass_is_made),
        cmocka_unit_test(test_up_in_maintenance),
        cmocka_unit_test(test_boot_is_learned),
        cmocka_unit_test(test_since_when),
        cmocka_unit_test(test_not_forgotten),
        cmocka_unit_test(test_woken_by_name),
        cmocka_unit_test(test_never_read),
        cmocka_unit_test(test_left_for_good),
        cmocka_unit_test(test_left_and_listed_anew),
        cmocka_unit_test(test_left_and_needed),
        cmocka_unit_test(test_left_and_uuid),
        cmocka_unit_test(test_wake_waits_for_the_end_of_the_standby),
        cmocka_unit_test(test_killed_between_standby_and_wake),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
