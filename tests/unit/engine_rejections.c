/* What a person rejected is not recommended again for the same reason: a VM's moves to whichever host, a
 * host's standby or wake; over restarts, and until its time is over. */
#include "engine_world.h"

#include "engine/knowledge/rejections.h"

#define REJECT_S 3600

static void begin(struct world *w, int moves)
{
    world_init(w, 4, 8);
    w->settings.policy.automation = AUTOMATION_MANUAL;
    w->settings.policy.dpm.automation = AUTOMATION_MANUAL;
    w->settings.policy.cool_down_s = 60;
    w->settings.policy.avoid.reject_s = REJECT_S;
    for (int i = 0; i < moves; i++) {
        w->script[i] = (struct world_move){.vm = i, .to = 1 + i, .priority = 3};
        w->vms[i].host = 0;
    }
    w->n_script = moves;
    world_begin_engine();
}

static void look_now(void)
{
    uint64_t ticket;

    assert_int_equal(engine_run(W->engine, W->now, &ticket, NULL), 0);
    world_run(2);
}

/* The entry of the newest snapshot for the VM, or for the host. */
static const struct avoid *avoided(const char *vm, const char *host)
{
    const struct snapshot *s = engine_snapshot(W->engine);
    uint32_t v = vm ? snapshot_find_vm(s, vm) : IX_NONE;
    uint32_t h = host ? snapshot_find_host(s, host) : IX_NONE;

    for (uint32_t i = 0; i < s->n_avoid; i++)
        if (s->avoid[i].vm == v && s->avoid[i].host == h)
            return &s->avoid[i];
    return NULL;
}

static void pass_time(instant_s s)
{
    W->now += s;
    world_run(70);
    look_now();
}

/* The actions that are recommended now. */
static int n_recommended(void)
{
    int n = 0;

    for (uint64_t id = 1; id <= W->n_actions; id++)
        n += world_state(id) == ACTION_RECOMMENDED;
    return n;
}

/* Every scripted pass wants it again: the engine does not, for another host neither, over a restart neither.
 */
static void test_rejected_does_not_come_back(void **state)
{
    const uint64_t first = 1;
    struct world w;

    (void)state;
    begin(&w, 2);
    world_run(30);
    assert_int_equal(n_recommended(), 2);
    assert_int_equal(engine_reject(w.engine, &first, 1, false, 0, "alice", w.now, NULL, NULL), 0);
    w.script[0].to = 2;
    look_now();
    assert_int_equal(n_recommended(), 1);
    for (int restarts = 0; restarts < 2; restarts++) {
        const struct avoid *x = avoided("vm00", NULL);
        const struct snapshot *s = engine_snapshot(w.engine);
        assert_non_null(x);
        assert_true(x->is_rejection && x->rejected == REASON_BALANCE_CPU);
        assert_string_equal(x->reason, "rejected by alice");
        assert_int_equal(s->vms[x->vm].is.last_migrated, 0); /* free to move for other reasons */
        world_restart();
        world_run(70);
        look_now();
        assert_int_equal(n_recommended(), 1);
    }
    w.script[0].evacuates = true;
    look_now();
    assert_int_equal(n_recommended(), 2);
    w.script[0].evacuates = false;
    look_now();
    assert_int_equal(n_recommended(), 1);
    w.now += 3600;
    world_run(70);
    look_now();
    assert_int_equal(n_recommended(), 2);
    assert_null(avoided("vm00", NULL));
    world_release();
}

static void test_for_as_long_as_said(void **state)
{
    const uint64_t first = 1;

    (void)state;
    for (int ever = 0; ever < 2; ever++) {
        struct world w;

        begin(&w, 2);
        world_run(30);
        assert_int_equal(engine_reject(w.engine, &first, 1, false, ever ? REJECT_FOR_EVER : 7 * 86400,
                                       "alice", w.now, NULL, NULL),
                         0);
        const char *why = world_action(1)->why;
        assert_non_null(
            strstr(why, ever ? "rejected by alice: for ever VM vm00 goes to no host for this reason"
                             : "rejected by alice: until 1970-01-19T"));
        pass_time(6 * 86400);
        world_restart();
        world_run(70);
        look_now();
        assert_int_equal(n_recommended(), 1);
        pass_time(2 * 86400);
        assert_int_equal(n_recommended(), ever ? 1 : 2);
        engine_retry(w.engine, "alice", w.now); /* which ends every one */
        world_run(70);
        look_now();
        assert_int_equal(n_recommended(), 2);
        world_release();
    }
}

/* What is rejected may be given another duration, over a restart; what is over, or was rejected along with
 * another, may not. */
static void test_replaced(void **state)
{
    const uint64_t both[] = {1, 2};
    struct arena a = {0};
    struct left_outs rest = {.a = &a};
    struct err err = {0};
    struct world w;

    (void)state;
    begin(&w, 2);
    w.script[1].depends_on = 1;
    world_run(30);
    assert_int_equal(engine_reject(w.engine, both, 1, false, 7 * 86400, "alice", w.now, NULL, NULL), 0);
    assert_int_equal(world_state(2), ACTION_REJECTED);
    w.now += 60;
    assert_int_equal(engine_reject(w.engine, both, 1, false, 0, "bob", w.now, NULL, &err), -EALREADY);
    assert_non_null(strstr(err.text, "`ballast reject --for TIME` changes for how long"));
    assert_int_equal(
        engine_reject(w.engine, both, 2, true, 2 * (instant_s)REJECT_S, "bob", w.now, &rest, NULL), 0);
    assert_int_equal(rest.n, 1);
    assert_string_equal(rest.list[0].why, "recommendation 2 is rejected already, too late to reject it");
    assert_non_null(strstr(world_action(1)->why, "rejected by bob: until"));
    assert_string_equal(world_action(1)->ended_by, "bob");
    for (int restarts = 0; restarts < 2; restarts++) {
        look_now();
        assert_string_equal(avoided("vm00", NULL)->reason, "rejected by bob");
        world_restart();
        world_run(70);
    }
    assert_string_equal(world_action(1)->ended_by, "bob");
    pass_time(2 * (instant_s)REJECT_S);
    assert_null(avoided("vm00", NULL));
    assert_int_equal(n_recommended(), 2);
    arena_release(&a);
    world_release();
}

/* Each of a list that was rejected itself says so, and none twice. */
static void test_list(void **state)
{
    const uint64_t list[] = {1, 2, 1};
    struct world w;

    (void)state;
    begin(&w, 2);
    w.script[1].depends_on = 1;
    world_run(30);
    const int before = w.n_events;
    assert_int_equal(engine_reject(w.engine, list, 3, false, 0, "alice", w.now, NULL, NULL), 0);
    assert_non_null(strstr(world_action(1)->why, "VM vm00 goes to no host for this reason (balance of load"));
    assert_non_null(strstr(world_action(2)->why, "VM vm01 goes to no host for this reason (balance of load"));
    assert_int_equal(w.n_events - before, 2);
    world_release();
}

/* A rejected standby rests for the host, a rejected wake for the host and the reason. */
static void test_power(void **state)
{
    (void)state;
    for (int wake = 0; wake < 2; wake++) {
        const uint64_t first = 1;
        struct world w;

        world_init(&w, 4, 4);
        w.settings.policy.automation = AUTOMATION_MANUAL;
        w.settings.policy.dpm.automation = AUTOMATION_MANUAL;
        w.settings.policy.cool_down_s = 60;
        w.settings.policy.avoid.reject_s = REJECT_S;
        for (int i = 0; i < 4; i++)
            w.vms[i].host = 0;
        w.host_state[3] = wake ? HOST_STANDBY : HOST_ON;
        w.script[0] = (struct world_move){.kind = wake ? ACTION_POWER_ON : ACTION_POWER_OFF,
                                          .vm = -1,
                                          .to = 3,
                                          .priority = 3,
                                          .for_load = true};
        w.n_script = 1;
        world_begin_engine();
        world_run(70);
        assert_int_equal(n_recommended(), 1);
        assert_int_equal(engine_reject(w.engine, &first, 1, false, 0, "alice", w.now, NULL, NULL), 0);
        assert_non_null(strstr(world_action(1)->why, wake
                                                         ? "host h3 is not woken for this reason"
                                                         : "host h3 does not go to standby for this reason"));
        for (int restarts = 0; restarts < 2; restarts++) {
            world_run(400);
            look_now();
            assert_int_equal(n_recommended(), 0);
            assert_non_null(avoided(NULL, "h3"));
            assert_int_equal(avoided(NULL, "h3")->rejected,
                             wake ? REASON_HIGH_UTILIZATION : REASON_CONSOLIDATE);
            world_restart();
        }
        if (wake) {
            w.script[0].for_load = false; /* for another reason it may */
            look_now();
            assert_int_equal(n_recommended(), 1);
            w.script[0].for_load = true;
        }
        pass_time(REJECT_S);
        assert_int_equal(n_recommended(), 1);
        world_release();
    }
}

/* A needed wake is left out of several, and not rejected along with what it is for. */
static void test_needed_wake_is_named(void **state)
{
    const uint64_t both[] = {1, 2};
    struct arena a = {0};
    struct left_outs rest = {.a = &a};
    struct world w;

    (void)state;
    begin(&w, 0);
    w.host_state[3] = HOST_STANDBY;
    w.script[0] = (struct world_move){
        .kind = ACTION_POWER_ON, .vm = -1, .to = 3, .priority = 1, .group = 1, .for_load = true};
    w.script[1] = (struct world_move){.vm = 0, .to = 3, .priority = 1, .group = 1, .depends_on = 1};
    w.n_script = 2;
    look_now();
    assert_int_equal(n_recommended(), 2);
    assert_int_equal(engine_reject(w.engine, both, 1, true, 0, "alice", w.now, NULL, NULL), -EPERM);
    assert_int_equal(engine_reject(w.engine, both, 2, false, 0, "alice", w.now, &rest, NULL), 0);
    assert_int_equal(rest.n, 1);
    assert_non_null(strstr(rest.list[0].why, "is only rejected alone, by its number: `ballast reject 1`"));
    assert_int_equal(world_state(1), ACTION_RECOMMENDED);
    assert_int_equal(world_state(2), ACTION_REJECTED);
    assert_int_equal(engine_reject(w.engine, both, 1, false, 0, "alice", w.now, NULL, NULL), 0);
    assert_int_equal(world_state(1), ACTION_REJECTED);
    arena_release(&a);
    world_release();
}

/* The host stays in service, and what happened says that the rejection is the cause. */
static void test_stops_maintenance(void **state)
{
    struct world w;
    uint64_t entered = 0, move;

    (void)state;
    begin(&w, 2);
    w.script[1].depends_on = 1;
    w.task_s = 600;
    w.script[0].evacuates = w.script[1].evacuates = true;
    world_run(5);
    assert_int_equal(
        engine_maintenance(w.engine, "h0", MAINTENANCE_ENTER, "bob", w.now, &entered, NULL, NULL), 0);
    world_run(10);
    for (move = 1; move < w.n_actions; move++)
        if (world_action(move)->kind == ACTION_MIGRATE && world_state(move) == ACTION_APPROVED)
            break;
    assert_int_equal(world_state(move), ACTION_APPROVED);
    assert_int_equal(world_state(entered), ACTION_APPROVED);
    assert_int_equal(engine_reject(w.engine, &move, 1, false, 0, "alice", w.now, NULL, NULL), 0);
    assert_int_equal(world_state(move), ACTION_REJECTED);
    assert_int_equal(world_state(entered), ACTION_CANCELLED);
    assert_string_equal(world_action(entered)->ended_by, "alice");
    assert_non_null(strstr(world_action(entered)->why, "alice rejected that VM vm0"));
    assert_non_null(strstr(world_action(entered)->why, "leaves the host, which stops its maintenance"));
    world_run(5);
    const struct snapshot *s = engine_snapshot(w.engine);
    assert_int_equal(s->hosts[snapshot_find_host(s, "h0")].is.state, HOST_ON);
    assert_int_equal(s->n_avoid, 0); /* the next maintenance is another wish */
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rejected_does_not_come_back),
        cmocka_unit_test(test_for_as_long_as_said),
        cmocka_unit_test(test_replaced),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_power),
        cmocka_unit_test(test_needed_wake_is_named),
        cmocka_unit_test(test_stops_maintenance),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
