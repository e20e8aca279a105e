/* What the engine tells of a night: when it ends, who slept, what was drawn, and that a restart loses none of
 * it. */
#include "engine_world.h"

#include "base/cleanup.h"
#include "engine/knowledge/night_record.h"
#include "schedule/night.h"

#include <math.h>

struct plan_of_days {
    struct arena arena;
    struct calendar ready;
    struct schedule_window window;
    struct schedule schedule;
};

/* The world begins at 13:46:40. h3 has no VM, and capacity is to be back at 15:00. */
static void begin(struct world *w, struct plan_of_days *p, const char *ready)
{
    *p = (struct plan_of_days){.schedule = {.zone = "UTC", .ready_percent = 100}};
    if (ready) {
        assert_int_equal(calendar_parse(ready, "UTC", &p->arena, &p->ready, NULL), 0);
        p->schedule.ready_by = &p->ready;
        p->schedule.n_ready_by = 1;
    }
    world_init(w, 4, 4);
    w->settings.schedule = &p->schedule;
    w->name_of[3] = "esx3";
    w->figures = true;
    w->keeps = true;
    w->settings.policy.interval_s = 900;
    w->boot_s = 60;
    w->imbalance = 0;
    world_begin_engine();
    world_run(70);
}

static void end(struct plan_of_days *p)
{
    world_release();
    arena_release(&p->arena);
}

static int told(void)
{
    int n = 0;

    for (int i = 0; i < W->n_stored; i++)
        n += strcmp(W->stored[i], "night") == 0;
    return n;
}

static struct night_record last_night(void)
{
    struct engine_status st;
    struct night_record r;
    struct err err = {0};

    engine_status(W->engine, &st);
    assert_non_null(st.last_night);
    if (night_record_read(st.last_night_json, &r, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(r.text, st.last_night);
    return r;
}

static void standby(const char *host)
{
    uint64_t id;

    assert_int_equal(engine_standby(W->engine, host, "tester", W->now, &id, NULL), 0);
    world_run(120);
}

static uint64_t wake(const char *host)
{
    uint64_t ids[WAKE_ACTIONS];

    assert_int_equal(engine_wake(W->engine, host, false, "tester", W->now, ids, NULL), 0);
    return ids[0];
}

static double stored_wh(void)
{
    double sum = 0;

    for (int i = 0; i < W->n_energy; i++)
        sum += W->energy[i].host[0] == '\0' ? W->energy[i].used_wh : 0;
    return sum;
}

/* A host sleeps for half an hour, and the service is killed meanwhile. */
static void test_one_host_slept(void **state)
{
    struct world w;
    struct plan_of_days p;

    (void)state;
    begin(&w, &p, "15:00");
    standby("h3");
    const instant_s asleep = w.now;

    world_run(600);
    world_restart();
    world_run(1200);
    wake("h3");
    world_run(200);
    assert_int_equal(w.host_state[3], HOST_ON);
    const instant_s on = w.now;

    world_run((int)(1000000 - 1000000 % 86400 + 15 * 3600 - w.now) - 1);
    assert_int_equal(told(), 0);
    world_run(70);
    assert_int_equal(told(), 1);
    struct night_record r = last_night();
    const struct night_host *h = idmap_get(&r.hosts, "h3");

    assert_int_equal(r.hosts.n, 1);
    assert_non_null(strstr(r.text, "last night, 13:46 to 15:0"));
    assert_non_null(strstr(r.text, "UTC: 1 host slept, 0.5 h in all: esx3 13:"));
    assert_non_null(strstr(r.text, "; VMs lacked nothing"));
    assert_true(h->from != 0 && h->from <= asleep && h->until >= on - 200 && h->until <= on);
    assert_true(fabs(h->asleep_s - (double)(h->until - h->from)) <= 130); /* known to a look or two */
    assert_true(!h->late && !h->failed);
    /* as the account has it, but for the one look that it is ahead; and what sleep saved at 90 W and more */
    assert_true(fabs(r.used_kwh * 1000 - stored_wh()) < 0.02 * stored_wh());
    assert_true(r.saved_kwh * 1000 > 0.8 * 90 * h->asleep_s / 3600 &&
                r.saved_kwh * 1000 < 200 * h->asleep_s / 3600);
    night_record_release(&r);
    world_restart(); /* kept for `status` */
    r = last_night();
    night_record_release(&r);
    world_run(24 * 3600); /* nothing slept: no line */
    assert_int_equal(told(), 1);
    end(&p);
}

/* What did not go well is told with its reason; a host that sleeps on begins the next night asleep. */
static void test_trouble(void **state)
{
    struct world w;
    struct plan_of_days p;

    (void)state;
    begin(&w, &p, "15:00");
    standby("h3");
    standby("h2");
    w.tasks_fail = true;
    const uint64_t id = wake("h3");

    world_run(100);
    assert_int_equal(world_state(id), ACTION_FAILED);
    world_run(3600);
    w.tasks_fail = false;
    world_run(1000);
    assert_int_equal(told(), 1);
    struct night_record r = last_night();

    assert_non_null(strstr(r.text, "2 hosts slept"));
    assert_non_null(strstr(r.text, "; did not wake: esx3 ("));
    assert_non_null(strstr(r.text, "h2 since 13:"));
    night_record_release(&r);
    wake("h2");
    world_run(300);
    world_run(24 * 3600);
    assert_int_equal(told(), 2);
    r = last_night();
    assert_true(((const struct night_host *)idmap_get(&r.hosts, "h2"))->until != 0);
    assert_true(((const struct night_host *)idmap_get(&r.hosts, "h3"))->until == 0);
    assert_null(strstr(r.text, "did not wake"));
    night_record_release(&r);
    end(&p);
}

/* A host that is being woken at the end is waited for. */
static void test_wakes_are_waited_for(void **state)
{
    struct world w;
    struct plan_of_days p;

    (void)state;
    begin(&w, &p, "14:00");
    standby("h3");
    w.boot_s = 900;
    world_run((int)(1000000 - 1000000 % 86400 + 14 * 3600 - w.now) - 100);
    wake("h3");
    world_run(400);
    assert_int_equal(told(), 0);
    world_run(900);
    assert_int_equal(told(), 1);
    struct night_record r = last_night();

    assert_true(((const struct night_host *)idmap_get(&r.hosts, "h3"))->until != 0);
    night_record_release(&r);
    end(&p);
}

/* Which host is due for a proof is told, also where none slept. */
static void test_next_proof(void **state)
{
    struct world w;
    struct plan_of_days p;

    (void)state;
    begin(&w, &p, "15:00");
    p.schedule.prove_every_s = 26 * 3600;
    w.settings.policy.dpm.enabled = true;
    w.settings.policy.dpm.automation = AUTOMATION_MANUAL;
    w.unproven = true;
    engine_configure(w.engine, &w.settings, w.now);
    uint64_t ids[WAKE_ACTIONS];

    assert_int_equal(engine_wake(w.engine, "h3", true, "tester", w.now, ids, NULL), 0);
    world_run(300);
    assert_int_equal(world_state(ids[1]), ACTION_DONE);
    world_run(3600 + 1200);
    assert_int_equal(told(), 1);
    struct night_record r = last_night();

    assert_string_equal(r.proof_host, "h3");
    assert_int_equal(r.proofs_due, 0);
    assert_non_null(strstr(r.text, "; next proof due: esx3, 1970-01-13"));
    night_record_release(&r);
    world_run(24 * 3600); /* not due yet, and no host slept */
    assert_int_equal(told(), 1);
    world_run(24 * 3600);
    assert_int_equal(told(), 2);
    r = last_night();
    assert_int_equal(r.proofs_due, 1);
    assert_non_null(strstr(r.text, "no host slept"));
    assert_non_null(strstr(r.text, "; proof due: esx3 (not proven in the night: its recommendation was not "
                                   "approved; `ballast wake esx3 --verify`)"));
    night_record_release(&r);
    end(&p);
}

/* ---- when a night ends ------------------------------------------------------------------------ */

static void test_ends(void **state)
{
    static const struct {
        const char *window, *ready, *zone;
        instant_s after, end;
    } cases[] = {
        /* 1700000000 is Tue 2023-11-14 22:13:20 UTC */
        {NULL, NULL, "UTC", 1700000000, 1700035200},             /* Wed 08:00 */
        {NULL, NULL, "Europe/Berlin", 1700000000, 1700031600},   /* 08:00 there */
        {NULL, NULL, "UTC", 1700035200, 1700121600},             /* the next day's */
        {NULL, "Mon..Fri 07:30", "UTC", 1700000000, 1700033400}, /* Wed 07:30 */
        {"20:00 for 10h", "Mon..Fri 07:30", "UTC", 1700000000, 1700033400},
        {"20:00 for 10h", NULL, "UTC", 1700000000, 1700028000},    /* open: closes Wed 06:00 */
        {"20:00 for 10h", NULL, "UTC", 1700028000, 1700114400},    /* closed: the next one's end */
        {"Sat 00:00 for 2d", NULL, "UTC", 1700000000, 1700438400}, /* Mon 00:00 */
        {"00:00 for 1d", NULL, "UTC", 1700000000, 1700035200},     /* never closed: 08:00 */
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct schedule_window window = {0};
        struct calendar ready = {0};
        struct schedule s = {.windows = &window, .ready_by = &ready, .zone = cases[i].zone};

        if (cases[i].window) {
            assert_int_equal(schedule_window_parse(cases[i].window, "UTC", &a, &window, NULL), 0);
            s.n_windows = 1;
        }
        if (cases[i].ready) {
            assert_int_equal(calendar_parse(cases[i].ready, "UTC", &a, &ready, NULL), 0);
            s.n_ready_by = 1;
        }
        print_message("  case %zu\n", i);
        assert_int_equal(schedule_night_end(&s, cases[i].after), cases[i].end);
    }
    assert_int_equal(schedule_night_end(NULL, 1700000000), 1700035200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_host_slept),
        cmocka_unit_test(test_trouble),
        cmocka_unit_test(test_wakes_are_waited_for),
        cmocka_unit_test(test_next_proof),
        cmocka_unit_test(test_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
