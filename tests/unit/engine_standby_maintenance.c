/* The engine, actuators/power and a hypervisor whose failure detection must know of a standby: the host h2
 * enters maintenance mode before its controller switches it off, and leaves it when it serves again. */
#include "engine_world.h"

#include "actuators/power/power.h"
#include "base/job.h"

#include <stdlib.h>

#define ENTERS_IN_S 3
#define MANY_S 800 /* in which all that begins has ended */

/* h2, its hypervisor and its controller. */
static struct {
    instant_s enters_at; /* a task to enter maintenance mode ends then; 0: none runs */
    instant_s boots_until;
    int enters, lost;   /* tasks; times it went dark while the hypervisor took it for running */
    int down_code;      /* what the controller answers */
    bool refuses_entry; /* the hypervisor does */
    bool serves;        /* the host comes up without its maintenance mode */
} H;

static struct power_config setup;
static struct actuator_ops ops;
static struct actuator *actuators;
static unsigned lives;

struct power_method {
    int unused;
};

static int make(const struct power_host *host, struct power_method **ret, struct err *err)
{
    (void)host, (void)err;
    *ret = calloc(1, sizeof **ret);
    return 0;
}

static void let_go(struct power_method *m)
{
    free(m);
}

static bool is_dark(void)
{
    return W->host_state[2] == HOST_STANDBY;
}

static int chassis(struct power_method *m, enum chassis *ret, struct err *err)
{
    (void)m, (void)err;
    *ret = is_dark() && H.boots_until == 0 ? CHASSIS_OFF : CHASSIS_ON;
    return 0;
}

static void boot(void)
{
    if (is_dark() && H.boots_until == 0)
        H.boots_until = W->now + W->boot_s;
}

static int wake(struct power_method *m, struct err *err)
{
    (void)m, (void)err;
    boot();
    return 0;
}

static int shut_down(struct power_method *m, const struct controller_identity *only, struct err *err)
{
    (void)m, (void)only;
    if (H.down_code < 0)
        return err_set(err, H.down_code, "the controller says no");
    if (is_dark())
        return 0;
    H.lost += W->host_state[2] != HOST_MAINTENANCE;
    W->host_state[2] = HOST_STANDBY;
    W->downs[2]++;
    return 0;
}

static const struct power_method_ops method = {.kind = POWER_IPMI,
                                               .can = POWER_CAN_WAKE | POWER_CAN_SHUT_DOWN | POWER_CAN_TELL,
                                               .create = make,
                                               .chassis = chassis,
                                               .wake = wake,
                                               .shut_down = shut_down,
                                               .destroy = let_go};

/* ---- the hypervisor, as far as the workers of power ask it -------------------------------------- */

static int inner_create(const struct source_config *cfg, struct actuator **ret, struct err *err)
{
    (void)cfg, (void)err;
    *ret = (struct actuator *)&H;
    return 0;
}

static int inner_start(struct actuator *x, const struct operation *q, char ret[TASK_NAME_MAX],
                       struct err *err)
{
    (void)x;
    assert_int_equal(q->kind, OPERATION_ENTER_MAINTENANCE);
    if (W->host_state[2] == HOST_MAINTENANCE)
        return err_set(err, -ESTALE, "it is in maintenance mode");
    if (H.enters_at == 0 && q->only_adopt)
        return err_set(err, -ESRCH, "no task runs");
    if (H.refuses_entry)
        return err_set(err, -EPERM, "the hypervisor says no");
    if (H.enters_at == 0) {
        H.enters++;
        H.enters_at = W->now + ENTERS_IN_S;
    }
    (void)snprintf(ret, TASK_NAME_MAX, "enter-%d", H.enters);
    return 0;
}

static int inner_poll(struct actuator *x, const struct operation *q, const char *task,
                      struct task_progress *ret, struct err *err)
{
    (void)x, (void)q, (void)task, (void)err;
    *ret = (struct task_progress){.state = H.enters_at != 0 ? TASK_RUNNING : TASK_SUCCEEDED, .percent = -1};
    return 0;
}

static int inner_cancel(struct actuator *x, const struct operation *q, const char *task, struct err *err)
{
    (void)x, (void)q, (void)task, (void)err;
    H.enters_at = 0;
    return 0;
}

static void inner_destroy(struct actuator *x)
{
    (void)x;
}

static const struct actuator_ops inner_ops = {.kind = "inner",
                                              .operations = 1u << OPERATION_ENTER_MAINTENANCE |
                                                            1u << OPERATION_EXIT_MAINTENANCE,
                                              .create = inner_create,
                                              .start = inner_start,
                                              .poll = inner_poll,
                                              .cancel = inner_cancel,
                                              .destroy = inner_destroy};

static bool by_methods(const struct job *o, struct job_result *ret)
{
    if (o->operation.kind != OPERATION_WAKE && o->operation.kind != OPERATION_STANDBY)
        return false;
    job_run(&ops, actuators, o, ret);
    return true;
}

static int64_t no_time(void)
{
    return 0;
}

static void another_life(void)
{
    static char life[16];

    (void)snprintf(life, sizeof life, "life%u", ++lives);
    setup.life = life;
}

static void begin(struct world *w)
{
    static const enum power_method_kind order[] = {POWER_IPMI};
    static const struct power_host host = {.name = "h2", .sequence = order, .n_sequence = 1, .timeout_s = 20};
    static struct host_power_method way;
    static struct source_config cfg;

    memset(&H, 0, sizeof H);
    world_init_standby(w);
    setup = (struct power_config){.inner = &inner_ops,
                                  .hosts = &host,
                                  .n_hosts = 1,
                                  .methods = {[POWER_IPMI] = &method},
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
    w->settings.policy.interval_s = 60;
    w->hides = true;
    w->actuators = by_methods;
    world_begin_engine();
}

static void end(void)
{
    assert_int_equal(H.lost, 0);
    ops.destroy(actuators);
    world_release();
}

static void second(void)
{
    if (H.enters_at != 0 && W->now >= H.enters_at) {
        H.enters_at = 0;
        if (W->host_state[2] == HOST_ON)
            W->host_state[2] = HOST_MAINTENANCE;
    }
    if (H.boots_until != 0 && W->now >= H.boots_until) {
        H.boots_until = 0;
        W->host_state[2] = H.serves ? HOST_ON : HOST_MAINTENANCE;
    }
    world_second();
}

static void run(instant_s seconds)
{
    for (instant_s i = 0; i < seconds; i++)
        second();
}

static enum host_state seen(void)
{
    const struct snapshot *s = engine_snapshot(W->engine);

    return s ? s->hosts[snapshot_find_host(s, "h2")].is.state : host_state_count;
}

static bool is_marked(void)
{
    for (int i = 0; i < W->n_known; i++) {
        if (strcmp(W->known[i].host, "h2") == 0)
            return W->known[i].our_maintenance != 0;
    }
    return false;
}

static void fall_asleep(void)
{
    for (int s = 0; s < 300 && world_state(3) != ACTION_DONE; s++)
        second();
    assert_int_equal(world_state(3), ACTION_DONE);
    W->n_script = 0;
    assert_true(is_dark() && is_marked());
    run(70);
    assert_int_equal(seen(), HOST_STANDBY);
}

static uint64_t wake_it(void)
{
    uint64_t ids[WAKE_ACTIONS];
    struct err err = {0};

    assert_int_equal(engine_wake(W->engine, "h2", false, "anna", W->now, ids, &err), 0);
    return ids[0];
}

/* ---- tests ------------------------------------------------------------------------------------- */

static void test_told_and_back(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    w.vms[0].host = 2;
    w.vms[0].off = true;
    for (int s = 0; s < 300 && w.host_state[2] != HOST_MAINTENANCE; s++)
        second();
    assert_int_equal(w.downs[2], 0);
    assert_true(is_marked());
    assert_non_null(strstr(world_action(3)->why, "enters maintenance mode before it is switched off"));
    fall_asleep();
    assert_int_equal(w.downs[2], 1);
    assert_string_equal(world_action(3)->why, "host h2 is in standby, and 1 VM that is registered on it does "
                                              "not run and cannot be started there: vm00");

    uint64_t id = wake_it();
    bool powering_on = false;

    for (int s = 0; s < 300 && world_state(id) != ACTION_DONE; s++) {
        second();
        powering_on = powering_on || (w.host_state[2] == HOST_MAINTENANCE && seen() == HOST_POWERING_ON);
        assert_true(world_state(id) != ACTION_DONE || w.host_state[2] == HOST_ON);
    }
    assert_true(powering_on);
    assert_int_equal(world_state(id), ACTION_DONE);
    run(70);
    assert_false(is_marked());
    assert_int_equal(seen(), HOST_ON);
    assert_int_equal(w.n_actions, id + 1); /* one that ends the maintenance mode */
    assert_int_equal(world_action(id + 1)->kind, ACTION_EXIT_MAINTENANCE);
    assert_int_equal(world_state(id + 1), ACTION_DONE);
    end();
}

/* Whatever call the process dies at, in the standby or in the wake: the hypervisor knows of each standby, and
 * no host stays in maintenance mode. */
static void test_killed(void **state)
{
    unsigned died = 0;

    (void)state;
    for (int asleep = 0; asleep < 2; asleep++) {
        for (int mode = 0; mode < 3; mode++) {
            for (int at = 1; at <= 60; at++) {
                struct world w;

                begin(&w);
                if (asleep) {
                    fall_asleep();
                    (void)wake_it();
                } else {
                    while (world_state(3) != ACTION_RUNNING)
                        second();
                }
                w.crash_in = at;
                w.crash_before_effect = mode == 0;
                for (int s = 0; s < 200 && !w.dead; s++)
                    second();
                died += w.dead;
                w.crash_in = 0;
                if (w.dead) {
                    for (int k = 0; mode == 2 && k < w.n_jobs; k++)
                        (void)w_carry_out(&w.jobs[k]);
                    w.n_jobs = 0;
                    run(ENTERS_IN_S + 1);
                    another_life();
                    world_restart();
                }
                w.n_script = 0;
                run(MANY_S);
                if (is_dark()) {
                    assert_true(is_marked());
                    assert_int_equal(seen(), HOST_STANDBY);
                    (void)wake_it();
                    run(MANY_S);
                }
                if (w.host_state[2] != HOST_ON || is_marked() || seen() != HOST_ON)
                    fail_msg("asleep %d, mode %d, call %d: it is %s, seen as %s", asleep, mode, at,
                             host_state_name(w.host_state[2]), host_state_name(seen()));
                end();
            }
        }
    }
    assert_true(died > 200);
}

/* A host that comes up by itself, or by hand. */
static void test_comes_up_by_itself(void **state)
{
    for (int serves = 0; serves < 2; serves++) {
        struct world w;

        (void)state;
        begin(&w);
        fall_asleep();
        H.serves = serves;
        boot();
        run(200);
        assert_int_equal(w.host_state[2], HOST_ON);
        assert_false(is_marked());
        end();
    }
}

static void test_standby_fails(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    H.down_code = -EACCES;
    for (int s = 0; s < 300 && world_state(3) != ACTION_FAILED; s++)
        second();
    W->n_script = 0;
    assert_int_equal(world_state(3), ACTION_FAILED);
    assert_int_equal(w.host_state[2], HOST_MAINTENANCE);
    run(70); /* the controller refused: the host cannot go any more */
    assert_int_equal(seen(), HOST_ON);
    assert_int_equal(w.host_state[2], HOST_ON);
    assert_false(is_marked());
    end();
}

static void test_hypervisor_refuses(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    H.refuses_entry = true;
    for (int s = 0; s < 300 && world_state(3) != ACTION_FAILED; s++)
        second();
    assert_int_equal(world_state(3), ACTION_FAILED);
    assert_non_null(strstr(world_action(3)->why, "the hypervisor says no"));
    assert_int_equal(w.downs[2], 0);
    second();
    assert_false(is_marked());
    end();
}

/* The end of the maintenance mode is refused at first. */
static void test_tried_again(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    fall_asleep();
    boot();
    while (w.host_state[2] != HOST_MAINTENANCE)
        second();
    w.tasks_fail = true;
    run(100);
    assert_int_equal(w.host_state[2], HOST_MAINTENANCE);
    assert_true(is_marked());
    w.tasks_fail = false;
    run(200);
    assert_int_equal(w.host_state[2], HOST_ON);
    end();
}

/* ---- what a person has begun ---- */

static void test_maintenance_of_a_person(void **state)
{
    struct world w;
    struct err err = {0};
    uint64_t id;

    (void)state;
    begin(&w); /* at the hypervisor, while the engine is about to */
    while (world_state(3) != ACTION_STARTING && world_state(3) != ACTION_RUNNING)
        second();
    w.host_state[2] = HOST_MAINTENANCE;
    W->n_script = 0;
    run(MANY_S);
    assert_int_equal(w.host_state[2], HOST_MAINTENANCE);
    assert_int_equal(w.downs[2], 0);
    assert_false(is_marked());
    end();

    begin(&w); /* at the hypervisor, right after ours has ended: no inventory has shown the host in service */
    fall_asleep();
    boot();
    for (int s = 0; s < 300 && w.host_state[2] != HOST_ON; s++) {
        w.source_silent = seen() == HOST_POWERING_ON;
        second();
    }
    assert_true(w.host_state[2] == HOST_ON && is_marked());
    w.host_state[2] = HOST_MAINTENANCE;
    w.source_silent = false;
    run(MANY_S);
    assert_int_equal(w.host_state[2], HOST_MAINTENANCE);
    assert_false(is_marked());
    end();

    begin(&w); /* by this service, while the host sleeps */
    fall_asleep();
    assert_int_equal(engine_maintenance(w.engine, "h2", true, "anna", w.now, &id, NULL, &err), 0);
    boot();
    run(MANY_S);
    assert_int_equal(w.host_state[2], HOST_MAINTENANCE);
    assert_int_equal(world_state(id), ACTION_DONE);
    assert_false(is_marked());
    assert_int_equal(seen(), HOST_MAINTENANCE);
    assert_int_equal(engine_maintenance(w.engine, "h2", false, "anna", w.now, &id, NULL, &err), 0);
    run(100);
    assert_int_equal(w.host_state[2], HOST_ON);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_told_and_back),           cmocka_unit_test(test_killed),
        cmocka_unit_test(test_comes_up_by_itself),      cmocka_unit_test(test_standby_fails),
        cmocka_unit_test(test_hypervisor_refuses),      cmocka_unit_test(test_tried_again),
        cmocka_unit_test(test_maintenance_of_a_person),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
