/* VMs that an admin powers on: their hosts, their order, all or none, and only once. */
#include "engine_world.h"

#define VMS(...)                                                                                             \
    (const char *const[])                                                                                    \
    {                                                                                                        \
        __VA_ARGS__                                                                                          \
    }

/* h0 with vm00 ... vm03; vm02 and vm03 are off. To place vm02 at h1, vm00 has to leave that for h0. */
static void begin_off(struct world *w, enum automation automation)
{
    world_init(w, 3, 4);
    w->settings.policy.automation = automation;
    w->imbalance = w->target = 0.1;
    w->vms[0].host = 1;
    w->vms[2].off = w->vms[3].off = true;
    w->places[0] = (struct world_move){.vm = 0, .to = 0, .priority = 1};
    w->places[1] =
        (struct world_move){.kind = ACTION_PLACE, .vm = 2, .to = 1, .priority = 1, .depends_on = 1};
    w->n_places = 2;
    world_begin_engine();
    world_run(3);
}

static int ask(const char *const *vms, size_t n, bool apply, uint64_t *ret_ticket, struct err *err)
{
    const struct place_request q = {.vms = vms, .n_vms = n, .apply = apply, .by = "tester"};

    return engine_place(W->engine, &q, W->now, ret_ticket, err);
}

static int place(const char *const *vms, size_t n, bool apply, struct placement *ret, struct err *err)
{
    return world_place(&(struct place_request){.vms = vms, .n_vms = n, .apply = apply, .by = "tester"}, ret,
                       err);
}

static void test_a_look_changes_nothing(void **state)
{
    struct world w;
    struct placement p;
    struct err err;

    (void)state;
    begin_off(&w, AUTOMATION_FULL);
    int passes = w.n_passes;

    assert_int_equal(place(VMS("vm02"), 1, false, &p, &err), 0);
    assert_int_equal(p.plan->n_recommendations, 2);
    assert_int_equal(p.n_unplaced, 0);
    assert_int_equal(p.n_ids, 0);
    assert_int_equal(w.placements, 1);
    assert_int_equal(w.n_passes, passes);
    world_run(300);
    assert_int_equal(w.n_actions, 0);
    assert_int_equal(w.n_tasks, 0);
    world_release();
}

/* At every level: whoever asks has approved it. */
static void test_carried_out_in_order(void **state)
{
    static const enum automation levels[] = {AUTOMATION_MANUAL, AUTOMATION_PARTIAL, AUTOMATION_FULL};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(levels); i++) {
        struct world w;
        struct placement p;
        struct err err;

        begin_off(&w, levels[i]);
        int passes = w.n_passes;

        assert_int_equal(place(VMS("vm02", "vm02"), 2, true, &p, &err), 0);
        assert_int_equal(p.n_ids, 2);
        assert_int_equal(p.ids[0], 1);
        assert_int_equal(p.ids[1], 2);
        assert_int_equal(w.n_passes, passes + 1); /* the decision can be replayed */
        assert_string_equal(world_action(1)->approved_by, "tester");
        assert_int_equal(world_action(2)->kind, ACTION_PLACE);
        assert_int_equal(world_action(2)->depends_on[0], 1);
        world_run(4);
        assert_int_equal(world_state(1), ACTION_RUNNING);
        assert_int_equal(world_state(2), ACTION_APPROVED);
        assert_true(w.vms[2].off);
        for (int t = 0; t < 20; t++) {
            world_second();
            assert_true(w.starts[2] == 0 || world_state(1) == ACTION_DONE);
        }
        assert_int_equal(world_state(2), ACTION_DONE);
        assert_false(w.vms[2].off);
        assert_int_equal(w.vms[2].host, 1);
        assert_int_equal(w.starts[2], 1);
        assert_true(w.vms[3].off);
        world_release();
    }
}

static int polls[2]; /* that may take a further step; that may not */

static bool count_polls(const struct job *o, struct job_result *ret)
{
    (void)ret;
    polls[o->operation.only_adopt] += o->kind == JOB_POLL && o->operation.kind == OPERATION_POWER_ON_VM;
    return false;
}

static void test_no_further_step_while_paused(void **state)
{
    struct world w;
    struct placement p;

    (void)state;
    begin_off(&w, AUTOMATION_MANUAL);
    w.actuators = count_polls;
    w.task_s = 40;
    assert_int_equal(place(VMS("vm02"), 1, true, &p, NULL), 0);
    for (polls[0] = 0; polls[0] == 0;)
        world_second();
    assert_int_equal(engine_pause(w.engine, "tester", w.now, NULL), 0);
    polls[0] = 0;
    world_run(15);
    assert_true(polls[0] == 0 && polls[1] > 0);
    world_release();
}

/* A VM is where it is planned for, as far as passes can see, from approval until it runs. */
static void test_passes_see_it(void **state)
{
    struct world w;
    struct placement p;
    struct err err;

    (void)state;
    begin_off(&w, AUTOMATION_MANUAL);
    w.task_s = 20;
    assert_int_equal(place(VMS("vm02"), 1, true, &p, &err), 0);
    int passes = w.passes;

    world_run(3);
    assert_true(w.passes > passes); /* soon, and not on the inventory that the placement was made from */
    const struct snapshot *s = engine_snapshot(w.engine);

    assert_int_equal(s->n_pending, 1);
    assert_int_equal(s->pending[0].action, ACTION_PLACE);
    assert_string_equal(s->vms[s->pending[0].vm].is.id, "vm02");
    assert_string_equal(s->hosts[s->pending[0].to].is.id, "h1");
    world_run(30);
    assert_int_equal(world_state(2), ACTION_RUNNING);
    uint64_t ticket;

    assert_int_equal(engine_run(w.engine, w.now, &ticket, NULL), 0);
    world_answer();
    assert_int_equal(engine_snapshot(w.engine)->n_pending, 1);
    world_run(30);
    assert_int_equal(world_state(2), ACTION_DONE);
    assert_int_equal(engine_snapshot(w.engine)->n_pending, 0);
    world_release();
}

/* Each is decided with what was begun before it. */
static void test_two_at_a_time(void **state)
{
    struct world w;
    struct err err;
    struct placement p;
    uint64_t first, second, look;

    (void)state;
    begin_off(&w, AUTOMATION_MANUAL);
    w.places[2] = (struct world_move){.kind = ACTION_PLACE, .vm = 3, .to = 2, .priority = 1};
    w.n_places = 3;
    w.places[0].vm = 1; /* vm01 is there */
    assert_int_equal(ask(VMS("vm02"), 1, true, &first, &err), 0);
    assert_int_equal(ask(VMS("vm03"), 1, true, &second, &err), 0);
    assert_int_equal(ask(VMS("vm03"), 1, false, &look, &err), 0);
    world_answer();
    assert_int_equal(engine_place_result(w.engine, first, &p, &err), 0);
    assert_int_equal(engine_place_result(w.engine, second, &p, &err), -EINPROGRESS);
    world_answer();
    assert_int_equal(engine_place_result(w.engine, second, &p, &err), 0);
    assert_int_equal(p.plan->snap->n_pending, 1);
    assert_int_equal(engine_place_result(w.engine, look, &p, &err), -EALREADY);
    assert_non_null(strstr(err.text, "is being powered on already: action"));
    world_run(60);
    assert_false(w.vms[2].off);
    assert_false(w.vms[3].off);
    world_release();
}

/* What is refused, in words, and without anything begun. */
static const struct {
    const char *name;
    const char *vms[2];
    bool paused, no_actuators, no_wake, source_down, apply_only;
    enum host_state host; /* of h0, where both are registered */
    int code;
    const char *text;
} refusals[] = {
    {"no such VM", {"vm02", "nobody"}, .code = -EINVAL, .text = "there is no VM \"nobody\""},
    {"it runs", {"vm02", "vm01"}, .code = -EALREADY, .text = "VM vm01 runs already, on host h0"},
    {"paused", {"vm02"}, .paused = true, .apply_only = true, .code = -EBUSY, .text = "paused"},
    {"nobody to do it",
     {"vm02"},
     .no_actuators = true,
     .apply_only = true,
     .code = -ENOTSUP,
     .text = "this source cannot be asked to power a VM on"},
    {"nobody to wake the host",
     {"vm03"},
     .no_wake = true,
     .apply_only = true,
     .code = -ENOTSUP,
     .text = "host h2 is to be switched on, which this source cannot be asked for"},
    {"the source is lost", {"vm02"}, .source_down = true, .code = -ECONNREFUSED, .text = "no answer"},
    {"its host is not seen",
     {"vm02"},
     .host = HOST_DISCONNECTED,
     .code = -EHOSTDOWN,
     .text = "VM vm02 is registered on host h0, which is disconnected"},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(refusals); i++) {
        for (int apply = 0; apply < 2; apply++) {
            struct world w;
            struct placement p;
            struct err err = {0};

            print_message("  %s%s\n", refusals[i].name, apply ? "" : ", a look");
            begin_off(&w, AUTOMATION_MANUAL);
            w.host_state[2] = HOST_STANDBY;
            w.places[2] = (struct world_move){.kind = ACTION_POWER_ON, .to = 2, .priority = 1};
            w.places[3] =
                (struct world_move){.kind = ACTION_PLACE, .vm = 3, .to = 2, .priority = 1, .depends_on = 3};
            w.n_places = 4;
            if (refusals[i].paused)
                assert_int_equal(engine_pause(w.engine, "tester", w.now, NULL), 0);
            if (refusals[i].no_actuators)
                w.settings.operations &= ~(1u << OPERATION_POWER_ON_VM);
            if (refusals[i].no_wake)
                w.settings.operations &= ~(1u << OPERATION_WAKE);
            engine_configure(w.engine, &w.settings, w.now);
            w.source_down = refusals[i].source_down;
            w.host_state[0] = refusals[i].host;
            int r = place(refusals[i].vms, refusals[i].vms[1] ? 2 : 1, apply, &p, &err);

            if (refusals[i].apply_only && !apply) {
                assert_int_equal(r, 0);
            } else {
                assert_int_equal(r, refusals[i].code);
                assert_non_null(strstr(err.text, refusals[i].text));
            }
            world_run(5);
            assert_int_equal(w.n_actions, 0);
            world_release();
        }
    }
}

/* Who hangs up before it was decided has changed their mind. */
static void test_given_up(void **state)
{
    struct world w;
    struct placement p;
    struct err err;
    uint64_t ticket;

    (void)state;
    begin_off(&w, AUTOMATION_FULL);
    assert_int_equal(ask(VMS("vm02"), 1, true, &ticket, &err), 0);
    engine_place_release(w.engine, ticket);
    world_run(100);
    assert_int_equal(engine_place_result(w.engine, ticket, &p, &err), -ENOENT);
    assert_int_equal(w.placements, 0);
    assert_int_equal(w.n_actions, 0);
    assert_true(w.vms[2].off);
    world_release();
}

/* The source hangs: that is said in good time, also to those who ask once it is known to hang, and what was
 * asked for meanwhile is not done when it answers in the end. */
static void test_silence(void **state)
{
    struct world w;
    struct placement p;
    struct err err;
    uint64_t before, after, run, pass;

    (void)state;
    begin_off(&w, AUTOMATION_FULL);
    w.source_silent = true;
    world_run(60); /* one is asked for */
    assert_int_not_equal(w.asked, 0);
    assert_int_equal(ask(VMS("vm02"), 1, true, &before, &err), 0);
    assert_int_equal(engine_place_result(w.engine, before, &p, &err), -EINPROGRESS);
    world_run(2 * w.settings.policy.interval_s);
    assert_int_equal(engine_place_result(w.engine, before, &p, &err), -ETIMEDOUT);
    assert_non_null(strstr(err.text, "the source has not answered for"));
    assert_int_equal(ask(VMS("vm02"), 1, true, &after, &err), 0);
    assert_int_equal(engine_place_result(w.engine, after, &p, &err), -ETIMEDOUT);
    assert_int_equal(engine_run(w.engine, w.now, &run, &err), 0);
    assert_int_equal(engine_run_result(w.engine, run, &pass, &err), -ETIMEDOUT);
    w.source_silent = false;
    world_run(100);
    assert_int_equal(w.n_actions, 0);
    assert_true(w.vms[2].off);
    world_release();
}

static void test_by_name(void **state)
{
    struct world w;
    struct placement p;
    struct err err;

    (void)state;
    begin_off(&w, AUTOMATION_MANUAL);
    w.vm_name = "twin";
    assert_int_equal(place(VMS("twin"), 1, false, &p, &err), -EINVAL);
    assert_non_null(strstr(err.text, "several VMs \"twin\": name one by its id, vm00 or vm01"));
    assert_int_equal(place(VMS("vm02"), 1, false, &p, &err), 0);
    world_release();
}

/* One of them fits nowhere: the other is not begun either, and the faults say which. */
static void test_all_or_nothing(void **state)
{
    struct world w;
    struct placement p;
    struct err err;

    (void)state;
    begin_off(&w, AUTOMATION_FULL);
    for (int apply = 0; apply < 2; apply++) {
        assert_int_equal(place(VMS("vm03", "vm02"), 2, apply, &p, &err), 0);
        assert_int_equal(p.n_unplaced, 1);
        assert_int_equal(p.n_vms, 2);
        assert_int_equal(p.plan->n_faults, 1);
        assert_string_equal(p.plan->snap->vms[p.plan->faults[0].vm].is.id, "vm03");
        assert_int_equal(p.n_ids, 0);
    }
    world_run(100);
    assert_int_equal(w.n_actions, 0);
    assert_int_equal(w.n_tasks, 0);
    world_release();
}

/* What has to make room does not, so the VM is not started. */
static void test_prerequisite_fails(void **state)
{
    struct world w;
    struct placement p;
    struct err err;

    (void)state;
    begin_off(&w, AUTOMATION_MANUAL);
    w.tasks_fail = true;
    assert_int_equal(place(VMS("vm02"), 1, true, &p, &err), 0);
    world_run(30);
    assert_int_equal(world_state(1), ACTION_FAILED);
    assert_int_equal(world_state(2), ACTION_CANCELLED);
    assert_int_equal(w.starts[2], 0);
    world_release();
}

/* A host that sleeps is woken first; here it takes longer than a plan otherwise holds. The VM is to start
 * there, or is registered there and starts elsewhere, though no manager sees the host while it boots. */
static void test_host_is_woken(void **state)
{
    (void)state;
    for (int registered = 0; registered < 2; registered++) {
        struct world w;
        struct placement p;
        int to = registered ? 1 : 2;

        begin_off(&w, AUTOMATION_MANUAL);
        w.vms[2].host = registered ? 2 : 0;
        w.host_state[2] = HOST_STANDBY;
        w.boot_s = 900;
        w.places[0] = (struct world_move){.kind = ACTION_POWER_ON, .to = 2, .priority = 3};
        w.places[1] =
            (struct world_move){.kind = ACTION_PLACE, .vm = 2, .to = to, .priority = 3, .depends_on = 1};
        assert_int_equal(place(VMS("vm02"), 1, true, &p, NULL), 0);
        for (int t = 0; t < 880; t++) {
            if (registered && w.host_state[2] == HOST_POWERING_ON)
                w.host_state[2] = HOST_DISCONNECTED;
            world_second();
        }
        assert_int_equal(w.wakes[2], 1);
        assert_int_equal(w.starts[2], 0);
        assert_int_equal(world_state(2), ACTION_APPROVED);
        w.host_state[2] = registered ? HOST_ON : w.host_state[2];
        world_run(120);
        assert_int_equal(world_state(2), ACTION_DONE);
        assert_int_equal(w.vms[2].host, to);
        world_release();
    }
}

/* A peer that does otherwise than it was asked, or says otherwise than it is. */
static const struct {
    const char *name;
    bool lies, lands, fails, sticks, lost;
    int start_code;
    int by_hand; /* somebody else starts it at that host before we do (0: nobody), after the check */
    enum action_state after;
    const char *why;
} conduct[] = {
    {"all is well", .after = ACTION_DONE},
    {"said to be done, and off", .lies = true, .after = ACTION_FAILED, .why = "inventory shows no change"},
    {"started where it was registered", .lands = true, .after = ACTION_FAILED,
     .why = "VM vm03 runs on host h0 and not on h2"},
    {"the task fails", .fails = true, .after = ACTION_FAILED, .why = "the task failed"},
    {"it hangs", .sticks = true, .after = ACTION_FAILED},
    {"the answer gets lost", .lost = true, .after = ACTION_DONE},
    {"refused", .start_code = -EPERM, .after = ACTION_FAILED, .why = "the start was refused"},
    {"no answer at first", .start_code = -ECONNRESET, .after = ACTION_DONE},
    {"started by hand, there", .by_hand = 2, .after = ACTION_DONE},
    {"started by hand, elsewhere", .by_hand = 1, .after = ACTION_FAILED,
     .why = "VM vm03 runs on host h1 and not on h2"},
};

static void test_conduct_of_the_peer(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(conduct); i++) {
        struct world w;
        struct placement p;
        struct err err;

        print_message("  %s\n", conduct[i].name);
        begin_off(&w, AUTOMATION_MANUAL);
        w.places[0] = (struct world_move){.kind = ACTION_PLACE, .vm = 3, .to = 2, .priority = 3};
        w.n_places = 1;
        w.tasks_lie = conduct[i].lies;
        w.lands_where_it_is = conduct[i].lands;
        w.tasks_fail = conduct[i].fails;
        w.tasks_stick = conduct[i].sticks;
        w.start_lost = conduct[i].lost;
        w.start_code = conduct[i].start_code;
        assert_int_equal(place(VMS("vm03"), 1, true, &p, &err), 0);
        if (conduct[i].by_hand) {
            struct job check = w.jobs[0];
            struct job_result r = w_carry_out(&check);

            w.n_jobs = 0;
            w.vms[3].off = false;
            w.vms[3].host = conduct[i].by_hand;
            engine_on_job_result(w.engine, &check, &r, w.now);
        }
        world_run(conduct[i].sticks ? 400 : 60);
        assert_int_equal(w.actions[0].state, conduct[i].after);
        assert_true(w.starts[3] <= 1);
        if (conduct[i].why)
            assert_non_null(strstr(w.actions[0].why, conduct[i].why));
        world_release();
    }
}

/* Killed at every call that it makes, in three ways: each VM is started once, after what it needs. */
static void test_killed_at_every_call(void **state)
{
    (void)state;
    for (int mode = 0; mode < CRASH_MODES; mode++) {
        int died = 0;

        for (int at = 1; at <= 40; at++) {
            struct world w;
            uint64_t ticket;

            begin_off(&w, AUTOMATION_MANUAL);
            assert_int_equal(ask(VMS("vm02"), 1, true, &ticket, NULL), 0);
            died += world_killed(mode, at, 40);
            bool approved = w.n_actions == 2;

            world_run(100);
            assert_int_equal(w.starts[2], approved);
            assert_int_equal(w.starts[0], approved);
            assert_int_equal(w.vms[2].off, !approved);
            for (uint64_t k = 0; k < w.n_actions; k++)
                assert_int_equal(w.actions[k].state, ACTION_DONE);
            world_release();
        }
        assert_true(died > 15);
    }
}

/* Whatever a pass recommends: nobody asked for it. */
static void test_never_unasked(void **state)
{
    struct world w;

    (void)state;
    begin_off(&w, AUTOMATION_FULL);
    w.imbalance = 0.3;
    w.hottest = 1.2;
    w.script[0] = (struct world_move){.kind = ACTION_PLACE, .vm = 2, .to = 1, .priority = 1};
    w.n_script = 1;
    world_run(200);
    assert_int_equal(world_state(1), ACTION_RECOMMENDED);
    assert_int_equal(w.starts[2], 0);
    assert_int_equal(world_apply(1), 0);
    world_run(15);
    assert_int_equal(world_state(1), ACTION_DONE);
    world_release();
}

/* A recommendation for a VM that the placement moves elsewhere is no longer the plan; the others wait for the
 * next pass. */
static void test_recommendations_give_way(void **state)
{
    struct world w;
    struct placement p;
    struct err err;

    (void)state;
    begin_off(&w, AUTOMATION_MANUAL);
    w.script[0] = (struct world_move){.vm = 0, .to = 2, .priority = 3};
    w.script[1] = (struct world_move){.vm = 1, .to = 1, .priority = 3};
    w.n_script = 2;
    world_run(60);
    assert_int_equal(world_state(1), ACTION_RECOMMENDED);
    assert_int_equal(world_state(2), ACTION_RECOMMENDED);
    w.n_script = 0;
    assert_int_equal(place(VMS("vm02"), 1, true, &p, &err), 0);
    assert_int_equal(world_state(1), ACTION_EXPIRED);
    assert_int_equal(world_apply(1), -EALREADY);
    assert_int_equal(world_state(2), ACTION_RECOMMENDED);
    assert_int_equal(world_apply(2), -ESTALE); /* into a host whose room is promised by now */
    world_run(30);
    assert_int_equal(w.vms[0].host, 0);
    assert_false(w.vms[2].off);
    world_release();
}

/* A VM that was made a moment ago; and what nobody fetches is not kept for ever. */
static void test_fresh_and_forgotten(void **state)
{
    struct world w;
    struct placement p;
    struct err err;
    uint64_t ticket;

    (void)state;
    begin_off(&w, AUTOMATION_MANUAL);
    w.vms[3].host = -1;
    world_run(100);
    assert_int_equal(place(VMS("vm03"), 1, false, &p, &err), -EINVAL);
    w.vms[3].host = 0;
    assert_int_equal(place(VMS("vm03"), 1, false, &p, &err), 0);
    assert_int_equal(ask(VMS("vm03"), 1, false, &ticket, &err), 0);
    world_run(10);
    assert_int_equal(engine_place_result(w.engine, ticket, &p, &err), 0);
    world_run(70);
    assert_int_equal(engine_place_result(w.engine, ticket, &p, &err), -ENOENT);
    w.source_silent = true; /* what was asked for before may show what was before */
    world_run(30);
    assert_true(w.asked != 0);
    assert_int_equal(ask(VMS("vm03"), 1, false, &ticket, &err), 0);
    w.source_silent = false;
    world_answer();
    assert_int_equal(engine_place_result(w.engine, ticket, &p, &err), -EINPROGRESS);
    world_answer();
    assert_int_equal(engine_place_result(w.engine, ticket, &p, &err), 0);
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_look_changes_nothing),
        cmocka_unit_test(test_carried_out_in_order),
        cmocka_unit_test(test_no_further_step_while_paused),
        cmocka_unit_test(test_passes_see_it),
        cmocka_unit_test(test_two_at_a_time),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_given_up),
        cmocka_unit_test(test_silence),
        cmocka_unit_test(test_by_name),
        cmocka_unit_test(test_all_or_nothing),
        cmocka_unit_test(test_prerequisite_fails),
        cmocka_unit_test(test_host_is_woken),
        cmocka_unit_test(test_conduct_of_the_peer),
        cmocka_unit_test(test_killed_at_every_call),
        cmocka_unit_test(test_never_unasked),
        cmocka_unit_test(test_recommendations_give_way),
        cmocka_unit_test(test_fresh_and_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
