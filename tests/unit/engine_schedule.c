/* Windows and ready-by times in the engine: the schedule in snapshots, and the actions that the engine
 * cancels for it. */
#include "engine_world.h"

#include "base/cleanup.h"

/* 1970-01-12T13:46:40Z: the world begins. */
#define WINDOW_LONG "1970-01-12 13:00 UTC for 8h"

struct plans {
    struct arena arena;
    struct schedule_window windows[2];
    struct calendar ready[2];
    struct schedule schedule;
};

static void set_schedule(struct world *w, struct plans *p, const char *window, const char *ready)
{
    p->schedule =
        (struct schedule){.windows = p->windows, .ready_by = p->ready, .zone = "UTC", .ready_percent = 50};
    if (window) {
        assert_int_equal(schedule_window_parse(window, "UTC", &p->arena, &p->windows[0], NULL), 0);
        p->schedule.n_windows = 1;
    }
    if (ready) {
        assert_int_equal(calendar_parse(ready, "UTC", &p->arena, &p->ready[0], NULL), 0);
        p->schedule.n_ready_by = 1;
    }
    w->settings.schedule = &p->schedule;
}

static void begin(struct world *w, struct plans *p, const char *window, const char *ready)
{
    world_init_standby(w);
    *p = (struct plans){0};
    set_schedule(w, p, window, ready);
    world_begin_engine();
}

static void end(struct plans *p)
{
    world_release();
    arena_release(&p->arena);
}

static const struct schedule_facts *seen(const struct world *w)
{
    return &engine_snapshot(w->engine)->schedule;
}

/* What passes are told, and that it is stored with them. */
static void test_in_the_snapshot(void **state)
{
    struct world w;
    struct plans p;

    (void)state;
    begin(&w, &p, WINDOW_LONG, "16:00");
    world_run(3);
    double cpu = 0;
    const struct snapshot *s = engine_snapshot(w.engine);
    for (uint32_t i = 0; i < s->n_hosts; i++)
        cpu += s->hosts[i].capacity[RES_CPU];
    assert_true(seen(&w)->given && seen(&w)->power_off);
    assert_int_equal(seen(&w)->ready_by, 1000000 - 13 * 3600 - 46 * 60 - 40 + 16 * 3600);
    assert_int_equal(seen(&w)->power_off_changes, seen(&w)->ready_by);
    assert_true(cpu > 0 && seen(&w)->ready[RES_CPU] == cpu / 2);
    end(&p);
}

/* Hosts in maintenance, kept for failures or left alone by DPM are not waited for. */
static void test_only_what_is_managed(void **state)
{
    struct world w;
    struct plans p;

    (void)state;
    begin(&w, &p, NULL, "16:00");
    world_run(3);
    double all = seen(&w)->ready[RES_MEM];
    w.host_dpm[1] = AUTOMATION_DISABLED;
    world_run(120);
    assert_true(seen(&w)->ready[RES_MEM] > 0 && seen(&w)->ready[RES_MEM] < all);
    end(&p);
}

static void test_nothing_is_said(void **state)
{
    struct world w;
    struct plans p;

    (void)state;
    begin(&w, &p, NULL, NULL);
    world_run(40);
    assert_false(seen(&w)->given);
    assert_int_equal(w.host_state[2], HOST_STANDBY);
    end(&p);
}

/* ---- the window closes ---- */

/* The host was asked, perhaps unheard, and by then the window is closed: it is not asked once more. */
static void test_closes_after_an_unclear_start(void **state)
{
    for (int closes = 0; closes < 2; closes++) {
        struct world w;
        struct plans p;

        (void)state;
        begin(&w, &p, WINDOW_LONG, NULL);
        while (world_state(3) != ACTION_STARTING && w.now < WORLD_START + 100) {
            if (world_state(1) == ACTION_DONE && world_state(2) == ACTION_DONE)
                w.start_code = -ETIMEDOUT;
            world_second();
        }
        assert_int_equal(world_state(3), ACTION_STARTING);
        if (closes)
            set_schedule(&w, &p, "1970-01-12 01:00 UTC for 1h", NULL);
        engine_configure(w.engine, &w.settings, w.now);
        world_run(400);
        assert_int_equal(w.downs[2], !closes);
        assert_int_equal(world_state(3), closes ? ACTION_CANCELLED : ACTION_DONE);
        end(&p);
    }
}

/* The host is being emptied when it does: the migrations end, and the host stays on. */
static void test_closes_in_mid_evacuation(void **state)
{
    struct world w;
    struct plans p;

    (void)state;
    begin(&w, &p, "1970-01-12 13:00 UTC for 46min 55s", NULL); /* 15 seconds are left */
    w.task_s = 30;
    world_run(10);
    assert_int_equal(world_state(1), ACTION_RUNNING);
    assert_int_equal(world_state(3), ACTION_APPROVED);
    world_run(10);
    assert_int_equal(world_state(3), ACTION_CANCELLED);
    assert_non_null(strstr(world_action(3)->why, "dpm.windows"));
    w.n_script = 0;
    world_run(300);
    assert_int_equal(world_state(1), ACTION_DONE);
    assert_int_equal(w.downs[2], 0);
    assert_int_equal(w.host_state[2], HOST_ON);
    end(&p);
}

/* Not even where all that is missing is the last look. What has begun goes on. */
static void test_each_second(void **state)
{
    int begun = 0;

    (void)state;
    for (int left = 1; left < 40; left++) {
        struct world w;
        struct plans p;
        char window[64];

        (void)snprintf(window, sizeof window, "1970-01-12 13:00 UTC for %ds", 46 * 60 + 40 + left);
        begin(&w, &p, window, NULL);
        for (int i = 0; i < 60; i++) {
            world_run(1);
            if (w.now >= WORLD_START + left)
                w.n_script = 0; /* what a pass would do */
        }
        assert_int_equal(world_state(3), w.downs[2] ? ACTION_DONE : ACTION_CANCELLED);
        assert_int_equal(w.host_state[2], w.downs[2] ? HOST_STANDBY : HOST_ON);
        assert_true(w.downs[2] >= begun); /* once there is time enough, there is with more */
        begun = w.downs[2];
        end(&p);
    }
    assert_int_equal(begun, 1);
}

/* A person may at any time; the minimums hold. */
static void test_asked_for_outside(void **state)
{
    struct world w;
    struct plans p;
    uint64_t id;

    (void)state;
    begin(&w, &p, "1970-01-13 20:00 UTC for 1h", NULL);
    w.n_script = 0;
    w.vms[2].host = w.vms[3].host = 0;
    world_run(3);
    assert_false(seen(&w)->power_off);
    assert_int_equal(engine_standby(w.engine, "h2", "root", w.now, &id, NULL), 0);
    world_run(120);
    assert_int_equal(world_state(id), ACTION_DONE);
    assert_int_equal(w.host_state[2], HOST_STANDBY);
    w.settings.policy.dpm.hosts_min = 3;
    engine_configure(w.engine, &w.settings, w.now);
    assert_int_equal(engine_standby(w.engine, "h3", "root", w.now, &id, NULL), -EPERM);
    end(&p);
}

/* ---- restarts, reloads, clocks ---- */

/* The process is killed while the host is emptied, and begins again when the window is over. */
static void test_restart(void **state)
{
    struct world w;
    struct plans p;

    (void)state;
    begin(&w, &p, "1970-01-12 13:00 UTC for 46min 55s", NULL);
    w.task_s = 30;
    world_run(10);
    assert_int_equal(world_state(3), ACTION_APPROVED);
    w.n_script = 0;
    w.now += 60;
    world_restart();
    world_run(300);
    assert_int_equal(w.downs[2], 0);
    assert_int_equal(w.host_state[2], HOST_ON);
    end(&p);
}

/* A window that is taken away by a reload counts from the next inventory on. */
static void test_reload(void **state)
{
    struct world w;
    struct plans p;
    struct plans other = {0};

    (void)state;
    begin(&w, &p, WINDOW_LONG, NULL);
    w.task_s = 100;
    world_run(10);
    assert_int_equal(world_state(3), ACTION_APPROVED);
    set_schedule(&w, &other, "1970-01-13 20:00 UTC for 1h", NULL);
    engine_configure(w.engine, &w.settings, w.now);
    arena_release(&p.arena); /* the old one is nobody's any more */
    w.n_script = 0;
    world_run(300);
    assert_int_equal(world_state(3), ACTION_CANCELLED);
    assert_int_equal(w.host_state[2], HOST_ON);
    end(&other);
}

/* The clock jumps, over the end of the window and back again: what is told fits the time at every inventory.
 */
static void test_clock_jumps(void **state)
{
    static const instant_s jumps[] = {8 * 3600, -8 * 3600, 30 * 3600, -29 * 3600};
    struct world w;
    struct plans p;

    (void)state;
    begin(&w, &p, WINDOW_LONG, "16:00");
    w.n_script = 0;
    for (size_t i = 0; i < ELEMENTS(jumps); i++) {
        struct schedule_state is;

        w.now += jumps[i];
        world_run(120);
        const struct snapshot *s = engine_snapshot(w.engine);
        schedule_at(&p.schedule, s->time, &is);
        assert_int_equal(s->schedule.power_off, is.open);
        assert_int_equal(s->schedule.power_off_changes, is.changes);
        assert_int_equal(s->schedule.ready_by, is.ready_by);
    }
    end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_the_snapshot),
        cmocka_unit_test(test_only_what_is_managed),
        cmocka_unit_test(test_nothing_is_said),
        cmocka_unit_test(test_closes_after_an_unclear_start),
        cmocka_unit_test(test_closes_in_mid_evacuation),
        cmocka_unit_test(test_each_second),
        cmocka_unit_test(test_asked_for_outside),
        cmocka_unit_test(test_restart),
        cmocka_unit_test(test_reload),
        cmocka_unit_test(test_clock_jumps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
