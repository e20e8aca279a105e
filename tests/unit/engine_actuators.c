/* The engine with actuators/power as its actuators, on controllers that report a wrong state, lose replies
 * and hang: the outcome for a host that both of them act on. */
#include "engine_world.h"

#include "actuators/power/power.h"
#include "base/job.h"

#include <stdlib.h>

#define SEEN_AFTER_S 100

/* The controllers of h2, and what the host does when they ask it. */
static struct {
    int wake[POWER_METHOD_COUNT], down[POWER_METHOD_COUNT], cut[POWER_METHOD_COUNT]; /* calls that came */
    int wake_code, down_code; /* what the first one answers */
    bool heard;               /* what it fails to do it does all the same */
    bool lies;                /* the first one says yes, and nothing happens */
    bool cut_lost;            /* a cut is heard, and its answer is lost */
    bool hangs;               /* the operating system does not go down */
    instant_s takes_s;        /* or after so long */
    instant_s off_at;         /* 0: it does not go down */
    instant_s cut_at;         /* controllers are slow to see it */
    bool late;                /* only the first wake fails with its code: the answer comes too late */
    bool still;               /* polls come to nothing: the service has not got that far */
    int vms_cut;              /* that ran on it when it went off: never */
} C;

static struct power_config setup;
static struct actuator_ops ops;
static struct actuator *actuators;
static unsigned lives;

struct power_method {
    enum power_method_kind kind;
};

static int make(const struct power_host *host, enum power_method_kind kind, struct power_method **ret)
{
    (void)host;
    *ret = calloc(1, sizeof **ret);
    (*ret)->kind = kind;
    return 0;
}

static int make_ipmi(const struct power_host *host, struct power_method **ret, struct err *err)
{
    (void)err;
    return make(host, POWER_IPMI, ret);
}

static int make_redfish(const struct power_host *host, struct power_method **ret, struct err *err)
{
    (void)err;
    return make(host, POWER_REDFISH, ret);
}

static void let_go(struct power_method *m)
{
    free(m);
}

static bool is_first(const struct power_method *m)
{
    return m->kind == POWER_IPMI;
}

static int chassis(struct power_method *m, enum chassis *ret, struct err *err)
{
    (void)m, (void)err;
    *ret = W->host_state[2] == HOST_STANDBY && W->now >= C.cut_at + SEEN_AFTER_S ? CHASSIS_OFF : CHASSIS_ON;
    return 0;
}

static int wake(struct power_method *m, struct err *err)
{
    C.wake[m->kind]++;
    if (C.late && C.wake[m->kind] == 1)
        return err_set(err, C.wake_code, "its answer is late");
    if (is_first(m) && C.wake_code < 0 && !C.late)
        return err_set(err, C.wake_code, "it fails");
    if ((!is_first(m) || !C.lies) && W->host_state[2] == HOST_STANDBY) {
        W->host_state[2] = HOST_POWERING_ON;
        W->awake_at[2] = W->now + W->boot_s;
    }
    return 0;
}

static void go_off(void)
{
    for (int i = 0; i < W->n_vms; i++)
        C.vms_cut += W->vms[i].host == 2 && !W->vms[i].off;
    W->host_state[2] = HOST_STANDBY;
    W->downs[2]++;
    C.off_at = 0;
}

static int shut_down(struct power_method *m, const struct controller_identity *only, struct err *err)
{
    int code = is_first(m) ? C.down_code : 0;

    assert_null(only); /* it cannot identify */
    C.down[m->kind]++;
    if ((code == 0 || C.heard) && !C.hangs && C.off_at == 0 && W->host_state[2] == HOST_ON)
        C.off_at = W->now + C.takes_s;
    return code < 0 ? err_set(err, code, "its answer is lost") : 0;
}

static int cut(struct power_method *m, const struct controller_identity *only, struct err *err)
{
    assert_null(only);
    C.cut[m->kind]++;
    C.cut_at = W->now;
    if (W->host_state[2] == HOST_ON)
        go_off();
    return C.cut_lost ? err_set(err, -ETIMEDOUT, "its answer is lost") : 0;
}

#define ALL (POWER_CAN_WAKE | POWER_CAN_SHUT_DOWN | POWER_CAN_CUT | POWER_CAN_TELL)
#define METHOD(name, KIND)                                                                                   \
    static const struct power_method_ops name##_method = {.kind = (KIND),                                    \
                                                          .can = ALL,                                        \
                                                          .create = make_##name,                             \
                                                          .chassis = chassis,                                \
                                                          .wake = wake,                                      \
                                                          .shut_down = shut_down,                            \
                                                          .cut = cut,                                        \
                                                          .destroy = let_go};
METHOD(ipmi, POWER_IPMI)
METHOD(redfish, POWER_REDFISH)

static bool by_methods(const struct job *o, struct job_result *ret)
{
    if (o->operation.kind != OPERATION_WAKE && o->operation.kind != OPERATION_STANDBY)
        return false;
    if (o->kind == JOB_POLL && C.still)
        ret->code = -ECANCELED;
    else
        job_run(&ops, actuators, o, ret);
    return true;
}

static int64_t no_time(void)
{
    return 0;
}

/* The process is another one. */
static void another_life(void)
{
    static char life[16];

    (void)snprintf(life, sizeof life, "life%u", ++lives);
    setup.life = life;
}

static struct power_host host;
static struct host_power_method way;

static void begin(struct world *w, size_t n_methods, bool asleep)
{
    static const enum power_method_kind order[] = {POWER_IPMI, POWER_REDFISH};
    static struct source_config cfg;

    memset(&C, 0, sizeof C);
    C.takes_s = 30;
    world_init_standby(w);
    host = (struct power_host){
        .name = "h2", .sequence = order, .n_sequence = n_methods, .timeout_s = 20, .hard_off = true};
    setup = (struct power_config){.hosts = &host,
                                  .n_hosts = 1,
                                  .methods = {[POWER_IPMI] = &ipmi_method, [POWER_REDFISH] = &redfish_method},
                                  .clock_ms = no_time};
    another_life();
    cfg.shared = &setup;
    power_actuator(&setup, &ops);
    assert_int_equal(ops.create(&cfg, &actuators, NULL), 0);
    way = (struct host_power_method){.name = "h2",
                                     .wakes = power_wakes(&setup, &host),
                                     .sleeps = power_sleeps(&setup, &host),
                                     .tries_s = power_wake_tries_s(&setup, &host)};
    w->settings.ways = &way;
    w->settings.n_ways = 1;
    w->settings.policy.interval_s = 600;
    w->hides = true; /* its manager knows nothing of controllers */
    w->actuators = by_methods;
    if (asleep) {
        w->host_state[2] = HOST_STANDBY;
        w->vms[2].host = w->vms[3].host = 0;
        w->script[0] = (struct world_move){.kind = ACTION_POWER_ON, .to = 2, .priority = 1};
        w->n_script = 1;
        w->known[0] =
            (struct host_record){.host = "h2", .put_down = WORLD_START - 3600, .woke = 1, .boot_s = 20};
        w->n_known = 1;
    }
    world_begin_engine();
}

static void end(void)
{
    assert_int_equal(C.vms_cut, 0);
    ops.destroy(actuators);
    world_release();
}

static void second(void)
{
    if (C.off_at != 0 && W->now >= C.off_at)
        go_off();
    world_second();
}

/* Until the action has ended. */
static enum action_state run(uint64_t id, instant_s most)
{
    const instant_s until = W->now + most;

    while (W->now < until && !(world_action(id) && world_action(id)->ended != 0))
        second();
    return world_state(id);
}

static const struct host_facts *fact(void)
{
    const struct snapshot *s = engine_snapshot(W->engine);

    return &s->hosts[snapshot_find_host(s, "h2")].is;
}

static void assert_not_forgotten(void)
{
    struct arena a = {0};
    struct asleep *list;

    assert_int_equal(engine_asleep(W->engine, &a, &list), 1);
    assert_true(list[0].ours);
    arena_release(&a);
    assert_int_equal(fact()->state, HOST_STANDBY);
}

/* ---- standby ---------------------------------------------------------------------------------- */

/* A host that goes down is put down by us, however little its controllers say of it. */
static void test_goes_down_all_the_same(void **state)
{
    static const struct {
        const char *name;
        instant_s takes_s, stopped_s;
        size_t methods;
        enum action_state is;
    } cases[] = {
        {"in half a minute", 30, 0, 1, ACTION_DONE},
        {"the second one takes it as well", 30, 0, 2, ACTION_DONE},
        {"in four minutes", 240, 0, 1, ACTION_DONE},
        {"later than anybody waits", 700, 0, 1, ACTION_FAILED},
        {"while the service stands still for an hour", 240, 3600, 1, ACTION_DONE},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct world w;

        print_message("  %s\n", cases[i].name);
        begin(&w, cases[i].methods, false);
        host.hard_off = false;
        C.down_code = -ETIMEDOUT;
        C.heard = true;
        C.takes_s = cases[i].takes_s;
        while (C.down[POWER_IPMI] == 0)
            second();
        w.n_script = 0;
        second();
        if (cases[i].stopped_s > 0)
            w.now += cases[i].stopped_s;
        assert_int_equal(run(3, 2000), cases[i].is);
        while (w.downs[2] == 0 || w.now < world_action(3)->ended + 70)
            second();
        world_run(70);
        assert_not_forgotten();
        assert_int_equal(w.downs[2], 1);
        end();
    }
}

static bool is_about_to_cut(void)
{
    const struct action_record *r = world_action(3);

    return r && r->task && strncmp(r->task, "p1 c ", 5) == 0;
}

/* Whatever call the process dies at: no controller is asked to cut twice, and the host is never forgotten. */
static void test_killed_while_power_is_cut(void **state)
{
    (void)state;
    for (int mode = 0; mode < 3; mode++) {
        for (int at = 1; at <= 40; at++) {
            struct world w;

            begin(&w, 1 + (size_t)at % 2, false);
            C.hangs = true;
            C.cut_lost = at % 3 == 0;
            for (int s = 0; s < 1000 && !is_about_to_cut(); s++)
                second();
            assert_int_equal(world_state(3), ACTION_RUNNING);
            w.crash_in = at;
            w.crash_before_effect = mode == 0;
            for (int s = 0; s < 300 && !w.dead; s++)
                second();
            if (w.dead) {
                for (int k = 0; mode == 2 && k < w.n_jobs;
                     k++) /* carried out, and the engine never read the answer */
                    (void)w_carry_out(&w.jobs[k]);
                w.n_jobs = 0;
                another_life();
                world_restart();
            }
            w.n_script = 0;
            (void)run(3, 2500);
            assert_true(world_action(3) == NULL || world_action(3)->ended != 0);
            assert_true(C.cut[POWER_IPMI] <= 1 && C.cut[POWER_REDFISH] <= 1);
            world_run(70);
            if (w.downs[2] > 0)
                assert_not_forgotten();
            else
                assert_int_equal(fact()->state, HOST_ON);
            end();
        }
    }
}

/* ---- waking ------------------------------------------------------------------------------------ */

/* A host that boots in 20 s: whatever its first method does, the second one has time enough. */
static void test_second_method_has_time(void **state)
{
    static const struct {
        const char *name;
        int code;
        bool lies;
    } cases[] = {{"the first fails", -ETIMEDOUT, false}, {"the first lies", 0, true}};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct world w;

        print_message("  %s\n", cases[i].name);
        begin(&w, 2, true);
        w.boot_s = 45; /* and this time it takes longer */
        C.wake_code = cases[i].code;
        C.lies = cases[i].lies;
        assert_int_equal(run(1, 600), ACTION_DONE);
        assert_true(C.wake[POWER_IPMI] == 1 && C.wake[POWER_REDFISH] == 1);
        assert_int_equal(w_count_events("wake_failed"), 0);
        end();
    }
}

/* One late answer of the only method: the host wakes, and no wake has failed. */
static void test_one_late_answer(void **state)
{
    static const int codes[] = {-ETIMEDOUT, -ECONNRESET, -EBUSY};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(codes); i++) {
        struct world w;

        begin(&w, 1, true);
        C.wake_code = codes[i];
        C.late = true;
        assert_int_equal(run(1, 600), ACTION_DONE);
        assert_int_equal(C.wake[POWER_IPMI], 2);
        assert_int_equal(w_count_events("wake_failed"), 0);
        assert_int_equal(w.host_state[2], HOST_ON);
        end();
    }
}

/* No source is asked between the intent and the first call, for so long: the service stands still, is paused,
 * or is dead. It goes on; after hours nobody has failed, and the pass that is made at once wants it as
 * before.
 */
static const struct {
    const char *name;
    instant_s still_s;
    bool paused, killed, lies;
    enum action_state is;
} still_cases[] = {
    {"stopped for a moment", 10, false, false, false, ACTION_DONE},
    {"stopped for longer than it is waited", 2500, false, false, false, ACTION_DONE},
    {"paused", 2500, true, false, false, ACTION_DONE},
    {"dead", 2500, false, true, false, ACTION_DONE},
    {"stopped, and then it does not come", 2500, false, false, true, ACTION_FAILED},
    {"stopped for hours", 7200, false, false, false, ACTION_CANCELLED},
    {"paused for hours", 7200, true, false, false, ACTION_CANCELLED},
};

static void stand_still(struct world *w, size_t i)
{
    const instant_s until = w->now + still_cases[i].still_s;

    if (still_cases[i].paused)
        assert_int_equal(engine_pause(w->engine, "tester", w->now, NULL), 0);
    while (still_cases[i].paused && w->now < until)
        second();
    w->now = until;
    if (still_cases[i].killed)
        world_restart();
    if (still_cases[i].paused)
        assert_int_equal(engine_resume(w->engine, "tester", w->now, NULL), 0);
}

static void test_stopped_before_the_first_call(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(still_cases); i++) {
        const bool fails = still_cases[i].is == ACTION_FAILED;
        struct world w;

        print_message("  %s\n", still_cases[i].name);
        begin(&w, 1, true);
        C.still = true;
        while (world_state(1) != ACTION_RUNNING) /* the name of its task is stored */
            second();
        C.still = false;
        C.lies = still_cases[i].lies;
        stand_still(&w, i);
        assert_int_equal(C.wake[POWER_IPMI], 0);
        assert_int_equal(run(1, 600), still_cases[i].is);
        world_run(120);
        assert_int_equal(C.wake[POWER_IPMI], 1);
        assert_int_equal(w_count_events("wake_failed"), fails);
        assert_int_equal(fact()->state, fails ? HOST_STANDBY : HOST_ON);
        assert_true(fact()->boot_s <
                    60); /* what is learned is how long it boots, and not how long nobody asked */
        end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goes_down_all_the_same),
        cmocka_unit_test(test_killed_while_power_is_cut),
        cmocka_unit_test(test_second_method_has_time),
        cmocka_unit_test(test_one_late_answer),
        cmocka_unit_test(test_stopped_before_the_first_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
