/* Hosts that are proven to wake once in a while (dpm.prove_every): when, which, by whom, and what stands
 * against it. */
#include "engine_world.h"

#include "base/cleanup.h"
#include "engine/knowledge/night_record.h"

#include <math.h>

#define EVERY (30 * 86400)
#define HOUR 3600
#define DAY (24 * HOUR)
#define MIDNIGHT ((instant_s)1767571200) /* 2026-01-05T00:00:00Z */
#define TODAY (MIDNIGHT + 3 * DAY)
#define LOW 2000.0
#define BUSY 8000.0

struct plan_of_days {
    struct arena arena;
    struct calendar ready;
    struct schedule_window window;
    struct schedule schedule;
};

static void know(struct world *w, const char *host, instant_s woke)
{
    w->known[w->n_known++] = (struct host_record){
        .host = arena_strdup(&w->memory, host), .on_since = woke, .woke = woke, .boot_s = 60, .seen = w->now};
}

/* Four hosts; vm02 is on h2, the others on h0. h2 and h3 woke once, h2 longer ago. Automatic. */
static void prepare(struct world *w, struct plan_of_days *p, instant_s of_day, const char *window)
{
    world_init(w, 4, 4);
    *p = (struct plan_of_days){.schedule = {.zone = "UTC", .ready_percent = 100, .prove_every_s = EVERY}};
    if (window) {
        assert_int_equal(schedule_window_parse(window, "UTC", &p->arena, &p->window, NULL), 0);
        p->schedule.windows = &p->window;
        p->schedule.n_windows = 1;
    }
    w->now = TODAY + of_day;
    w->settings.schedule = &p->schedule;
    w->settings.policy.automation = AUTOMATION_FULL;
    w->settings.policy.dpm.enabled = true;
    w->settings.policy.dpm.automation = AUTOMATION_AUTOMATIC;
    w->settings.policy.dpm.standby_s = 60;
    w->settings.policy.dpm.watch_s = 0;
    w->boot_s = 30;
    w->imbalance = 0;
    know(w, "h2", w->now - EVERY - DAY);
    know(w, "h3", w->now - EVERY + DAY);
}

static void set_ready_by(struct world *w, struct plan_of_days *p, const char *text)
{
    assert_int_equal(calendar_parse(text, "UTC", &p->arena, &p->ready, NULL), 0);
    p->schedule.ready_by = &p->ready;
    p->schedule.n_ready_by = 1;
    (void)w;
}

static void begin(void)
{
    world_begin_engine();
    world_run(400);
}

static void end(struct plan_of_days *p)
{
    world_release();
    arena_release(&p->arena);
}

/* The newest power-off of the host for a proof; 0: none. */
static uint64_t proof_of(const char *host)
{
    for (uint64_t i = W->n_actions; i > 0; i--) {
        const struct action_record *r = &W->actions[i - 1];

        if (r->kind == ACTION_POWER_OFF && r->reason == REASON_WAKE_TEST && strcmp(r->host, host) == 0)
            return r->id;
    }
    return 0;
}

/* How often a host was put to standby. */
static int n_downs(void)
{
    int n = 0;

    for (int i = 0; i < WORLD_HOSTS; i++)
        n += W->downs[i];
    return n;
}

static instant_s woke(const char *host)
{
    for (int i = 0; i < W->n_known; i++) {
        if (strcmp(W->known[i].host, host) == 0)
            return W->known[i].woke;
    }
    return 0;
}

static void test_automatic(void **state)
{
    struct world w;
    struct plan_of_days p;

    (void)state;
    prepare(&w, &p, 2 * HOUR, "20:00 for 10h");
    begin();
    world_run(2000);
    assert_int_equal(w.downs[2], 1);
    assert_int_equal(w.wakes[2], 1);
    assert_int_equal(w.host_state[2], HOST_ON);
    assert_int_equal(n_downs(), 1); /* h3 is not due */
    assert_string_equal(world_action(proof_of("h2"))->approved_by, "engine");
    assert_non_null(strstr(world_action(proof_of("h2"))->text, "its last wake was on 2025-12-08"));
    assert_true(woke("h2") > TODAY);
    world_run(3 * HOUR);
    assert_int_equal(n_downs(), 1);
    end(&p);
}

/* A person approves the one power-off; the wake follows from it. */
static void test_manual(void **state)
{
    struct world w;
    struct plan_of_days p;

    (void)state;
    prepare(&w, &p, 2 * HOUR, "20:00 for 10h");
    w.settings.policy.dpm.automation = AUTOMATION_MANUAL;
    w.settings.policy.automation = AUTOMATION_MANUAL;
    begin();
    const uint64_t id = proof_of("h2");

    assert_int_equal(world_state(id), ACTION_RECOMMENDED);
    world_run(1500); /* it keeps its number */
    assert_int_equal(proof_of("h2"), id);
    assert_int_equal(world_state(id), ACTION_RECOMMENDED);
    assert_int_equal(n_downs(), 0);
    assert_int_equal(world_apply(id), 0);
    world_run(1000);
    assert_int_equal(world_state(id), ACTION_DONE);
    assert_int_equal(w.downs[2], 1);
    assert_int_equal(w.wakes[2], 1);
    assert_int_equal(w.host_state[2], HOST_ON);
    end(&p);
}

static void test_expires_with_the_window(void **state)
{
    struct world w;
    struct plan_of_days p;

    (void)state;
    prepare(&w, &p, 5 * HOUR, "20:00 for 10h");
    w.settings.policy.dpm.automation = AUTOMATION_MANUAL;
    begin();
    const uint64_t id = proof_of("h2");

    assert_int_equal(world_state(id), ACTION_RECOMMENDED);
    world_run(HOUR + 600);
    assert_int_equal(world_state(id), ACTION_EXPIRED);
    end(&p);
}

/* Each keeps the host on, alone. */
static const struct {
    const char *name, *window, *ready;
    instant_s of_day;
    instant_s later_s; /* the host woke so much later */
    bool disabled, host_disabled, maintenance, no_room, failed, off;
    int hosts_min;
} no_cases[] = {
    {.name = "not due", .later_s = 2 * DAY},
    {.name = "no prove_every", .off = true},
    {.name = "before the window", .of_day = 15 * HOUR},
    {.name = "the window closes too early", .of_day = 5 * HOUR + 55 * 60},
    {.name = "ready_by comes too early", .of_day = 2 * HOUR, .ready = "02:05"},
    {.name = "dpm disabled", .disabled = true},
    {.name = "host disabled", .host_disabled = true},
    {.name = "another one is in maintenance", .maintenance = true},
    {.name = "no room", .no_room = true},
    {.name = "too few hosts", .hosts_min = 4},
    {.name = "its last wake failed", .failed = true},
};

static void test_not_now(void **state)
{
    (void)state;
    for (size_t i = 0; i <= ELEMENTS(no_cases); i++) {
        const bool none = i == ELEMENTS(no_cases); /* without any of them it happens */
        struct world w;
        struct plan_of_days p;

        print_message("  %s\n", none ? "nothing" : no_cases[i].name);
        prepare(&w, &p, none || !no_cases[i].of_day ? 2 * HOUR : no_cases[i].of_day, "20:00 for 10h");
        w.n_known = 1;
        if (!none) {
            w.known[0].woke += no_cases[i].later_s;
            w.known[0].wake_failed = no_cases[i].failed ? w.now - DAY : 0;
            p.schedule.prove_every_s = no_cases[i].off ? 0 : EVERY;
            w.settings.policy.dpm.enabled = !no_cases[i].disabled;
            w.settings.policy.dpm.hosts_min = no_cases[i].hosts_min;
            w.host_dpm[2] = no_cases[i].host_disabled ? AUTOMATION_DISABLED : AUTOMATION_INHERIT;
            w.host_state[3] = no_cases[i].maintenance ? HOST_MAINTENANCE : HOST_ON;
            w.high_without = no_cases[i].no_room ? 0.3 : 0;
            if (no_cases[i].ready)
                set_ready_by(&w, &p, no_cases[i].ready);
        }
        begin();
        assert_int_equal(n_downs() + (proof_of("h2") != 0), none ? 2 : 0);
        end(&p);
    }
}

static void test_one_at_a_time(void **state)
{
    struct world w;
    struct plan_of_days p;

    (void)state;
    prepare(&w, &p, 2 * HOUR, "20:00 for 10h");
    w.known[1].woke = w.now - EVERY - HOUR;
    world_begin_engine();
    for (int i = 0; i < 4000; i++) {
        int on = 0;

        world_second();
        for (int h = 0; h < 4; h++)
            on += w.host_state[h] == HOST_ON;
        assert_true(on >= 3);
    }
    assert_int_equal(w.downs[2], 1);
    assert_int_equal(w.downs[3], 1);
    assert_true(woke("h2") < woke("h3"));
    end(&p);
}

/* It does not wake: an alarm, and no other proof but a person's. */
static void test_failed_wake(void **state)
{
    struct world w;
    struct plan_of_days p;

    (void)state;
    prepare(&w, &p, 2 * HOUR, "20:00 for 10h");
    world_begin_engine();
    for (int i = 0; i < 1000 && w.host_state[2] != HOST_STANDBY; i++)
        world_second();
    assert_int_equal(w.host_state[2], HOST_STANDBY);
    w.tasks_fail = true;
    world_run(1500);
    w.tasks_fail = false;
    w.host_state[2] = HOST_ON; /* somebody switched it on */
    world_run(2 * DAY);
    assert_int_equal(w.downs[2], 1);
    assert_int_equal(w.downs[3], 1); /* it was due meanwhile, and is another host */
    end(&p);
}

/* A standby that fails is not tried again in the night. */
static void test_failed_standby(void **state)
{
    struct world w;
    struct plan_of_days p;

    (void)state;
    prepare(&w, &p, 2 * HOUR, "20:00 for 10h");
    w.vms[2].host = 0;
    w.tasks_fail = true;
    begin();
    world_run(1000);
    const uint64_t id = proof_of("h2");

    assert_int_equal(world_state(id), ACTION_FAILED);
    world_run(3 * HOUR);
    assert_int_equal(proof_of("h2"), id);
    w.tasks_fail = false;
    world_run(DAY);
    assert_int_equal(w.wakes[2], 1);
    end(&p);
}

/* A rejected proof rests for as long as a person says, over a restart. */
static void test_rejected(void **state)
{
    struct world w;
    struct plan_of_days p;

    (void)state;
    prepare(&w, &p, 2 * HOUR, "20:00 for 10h");
    w.settings.policy.dpm.automation = AUTOMATION_MANUAL;
    w.settings.policy.automation = AUTOMATION_MANUAL;
    begin();
    const uint64_t id = proof_of("h2");

    assert_int_equal(engine_reject(w.engine, &id, 1, false, 3 * (instant_s)DAY, "alice", w.now, NULL, NULL),
                     0);
    world_run(2 * DAY);
    world_restart();
    world_run(HOUR);
    assert_int_equal(proof_of("h2"), id);
    world_run(DAY + HOUR);
    assert_int_not_equal(proof_of("h2"), id);
    end(&p);
}

/* Killed at any call of the proof: the host is woken, and no other proof is made. */
static void test_restarts(void **state)
{
    (void)state;
    for (int mode = 0; mode < CRASH_MODES; mode++) {
        for (int at = 1; at < 60; at += 4) {
            struct world w;
            struct plan_of_days p;

            prepare(&w, &p, 2 * HOUR, "20:00 for 10h");
            w.vms[2].host = 0;
            world_begin_engine();
            (void)world_killed((enum crash_mode)mode, at, 300);
            world_run(2500);
            assert_int_equal(w.host_state[2], HOST_ON);
            assert_true(woke("h2") > TODAY);
            assert_int_equal(n_downs(), 1);
            end(&p);
        }
    }
}

static void fill_days(struct world *w)
{
    for (instant_s t = MIDNIGHT; t + DEMAND_SLOT_S <= w->now; t += DEMAND_SLOT_S) {
        const double cpu = t % DAY >= 6 * HOUR ? BUSY : LOW;

        w->patterns[t / DEMAND_SLOT_S % WORLD_PATTERNS] = (struct demand_profile_record){
            .time = t,
            .mean = {cpu, LOW},
            .peak = {cpu, LOW},
            .size = {UNKNOWN, UNKNOWN},
            .expected = {UNKNOWN, UNKNOWN},
        };
    }
}

/* Without windows the quiet quarter of the day is found in the demand, and not shortly before it rises. */
static void test_quiet_hours(void **state)
{
    static const struct {
        instant_s of_day;
        bool known, proves;
    } cases[] = {
        {2 * HOUR, true, true},
        {2 * HOUR, false, false},
        {12 * HOUR, true, false},
        {5 * HOUR + 57 * 60, true, false}, /* it rises at 6 */
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct world w;
        struct plan_of_days p;

        print_message("  case %zu\n", i);
        prepare(&w, &p, cases[i].of_day, NULL);
        if (cases[i].known)
            fill_days(&w);
        begin();
        assert_int_equal(proof_of("h2") != 0, cases[i].proves);
        end(&p);
    }
}

/* The line after the night says why a proof that is due did not take place, or when the next one is due. */
static void test_told(void **state)
{
    static const char *const says[] = {
        "; next proof due: h3, 2026-01-09",
        "; proof due: h2 (not proven in the night: hosts would be loaded above",
        "; proof due: h2 (not proven in the night: its recommendation was not "
        "approved; `ballast wake h2 --verify`)"};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(says); i++) {
        struct world w;
        struct plan_of_days p;
        struct engine_status st;

        prepare(&w, &p, 2 * HOUR, "20:00 for 10h");
        w.high_without = i == 1 ? 0.3 : 0;
        if (i == 2)
            w.settings.policy.dpm.automation = AUTOMATION_MANUAL;
        begin();
        world_run(HOUR);
        world_restart();
        world_run(4 * HOUR);
        engine_status(w.engine, &st);
        assert_non_null(st.last_night);
        if (!strstr(st.last_night, says[i]))
            fail_msg("%s", st.last_night);
        end(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_automatic),
        cmocka_unit_test(test_manual),
        cmocka_unit_test(test_expires_with_the_window),
        cmocka_unit_test(test_not_now),
        cmocka_unit_test(test_one_at_a_time),
        cmocka_unit_test(test_failed_wake),
        cmocka_unit_test(test_failed_standby),
        cmocka_unit_test(test_rejected),
        cmocka_unit_test(test_restarts),
        cmocka_unit_test(test_quiet_hours),
        cmocka_unit_test(test_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
