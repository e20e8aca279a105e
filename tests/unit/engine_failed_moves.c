/* Moves that failed: what is avoided afterwards, for how long, and what ends it. */
#include "engine_world.h"

#include "engine/actions/action.h"
#include "engine/knowledge/failed_moves.h"
#include "engine/knowledge/rejections.h"
#include "engine/retry.h"

#include <errno.h>

/* ---- the world: scripted passes that always want the same ---- */

static void begin(struct world *w, int moves)
{
    world_init(w, 6, 30);
    w->settings.policy.automation = AUTOMATION_FULL;
    w->settings.policy.avoid = (struct avoid_policy){
        .pause_s = 600, .pause_max_s = 2400, .host_failures = 3, .cluster_failures = 10};
    w->settings.policy.cool_down_s = 60;
    w->hottest = 1.2;
    w->tasks_fail = true;
    for (int i = 0; i < moves; i++)
        w->script[i] = (struct world_move){.vm = i, .to = 1 + i % 5, .priority = 3};
    for (int i = 0; i < moves; i++)
        w->vms[i].host = 0;
    w->n_script = moves;
}

static void look_now(void)
{
    uint64_t ticket;

    assert_int_equal(engine_run(W->engine, W->now, &ticket, NULL), 0);
    world_run(2);
}

/* What stands in the newest snapshot; vm, host < 0: any. */
static const struct avoid *avoided(int vm, int host)
{
    const struct snapshot *s = engine_snapshot(W->engine);
    char id[16];
    uint32_t v = IX_NONE;
    uint32_t h = IX_NONE;

    if (vm >= 0) {
        (void)snprintf(id, sizeof id, "vm%02d", vm);
        v = snapshot_find_vm(s, id);
    }
    if (host >= 0) {
        w_host_id(host, id);
        h = snapshot_find_host(s, id);
    }
    for (uint32_t i = 0; i < s->n_avoid; i++)
        if (s->avoid[i].vm == v && s->avoid[i].host == h)
            return &s->avoid[i];
    return NULL;
}

static void test_pair_waits_longer_each_time(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 1);
    world_begin_engine();
    world_run(30);
    assert_int_equal(w.starts[0], 1);
    const struct avoid *x = avoided(0, 1);
    assert_non_null(x);
    assert_int_equal(x->failures, 1);
    assert_string_equal(x->reason, "the task failed");
    world_run(500); /* recommended by every scripted pass; approved by none */
    assert_int_equal(w.starts[0], 1);
    world_run(150);
    assert_int_equal(w.starts[0], 2);
    world_run(1100); /* twice as long */
    assert_int_equal(w.starts[0], 2);
    assert_int_equal(avoided(0, 1)->failures, 2);
    w.tasks_fail = false;
    world_run(200);
    assert_int_equal(w.starts[0], 3);
    assert_null(avoided(0, 1));
    assert_int_equal(w.n_failures, 1); /* in the store: the cluster's last moves only */
    assert_string_equal(w.failures[0].vm, "");
    assert_string_equal(w.failures[0].host, "");
    world_release();
}

static void test_next_host_is_taken_at_once(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 1);
    w.script[0].priority = 1;
    world_begin_engine();
    world_run(30);
    assert_int_equal(w.starts[0], 1);
    w.script[0].to = 2;
    w.tasks_fail = false;
    look_now();
    world_run(20);
    assert_int_equal(w.starts[0], 2);
    assert_int_equal(w.vms[0].host, 2);
    world_release();
}

/* Of twelve moves to one host, four run at a time: what was approved and has not begun is taken back. */
static void test_host_takes_none_for_a_while(void **state)
{
    struct world w;
    int begun = 0;

    (void)state;
    begin(&w, 12);
    w.settings.policy.avoid.cluster_failures = 0;
    for (int i = 0; i < 12; i++)
        w.script[i].to = 1;
    world_begin_engine();
    world_run(200);
    assert_non_null(avoided(-1, 1));
    assert_int_equal(avoided(-1, 1)->failures >= 3, 1);
    for (int i = 0; i < 12; i++)
        begun += w.starts[i];
    assert_in_range(begun, 3, 8);
    world_release();
}

static void test_optional_moves_pause(void **state)
{
    struct world w;
    int begun = 0;

    (void)state;
    begin(&w, 25);
    w.settings.policy.avoid.host_failures = 0;
    w.settings.policy.avoid.cluster_failures = 4;
    world_begin_engine();
    world_run(300);
    const struct avoid *x = avoided(-1, -1);
    assert_non_null(x);
    assert_true(x->failures >= 4);
    for (int i = 0; i < 25; i++)
        begun += w.starts[i];
    assert_true(begun < 20); /* those under way end */
    int was = begun;
    w.script[24].priority = 1; /* mandatory: goes on */
    w.n_script = 1;
    w.script[0] = w.script[24];
    w.script[0].to = 2;
    w.tasks_fail = false;
    look_now();
    world_run(30);
    begun = 0;
    for (int i = 0; i < 25; i++)
        begun += w.starts[i];
    assert_int_equal(begun, was + 1);
    world_release();
}

/* Which errors say something about the VM or the host. */
static const struct {
    int code;
    bool counts;
} codes[] = {
    {-EREMOTEIO, true},  {-EIO, true},           {-EPERM, true},   {-EHOSTDOWN, true},
    {-ECANCELED, false}, {-ENOENT, false},       {-ESTALE, false}, {-ECONNRESET, false},
    {-ETIMEDOUT, false}, {-EHOSTUNREACH, false}, {-EACCES, false}, {-ESRCH, false},
};

static void test_what_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(codes); i++) {
        struct world w;

        begin(&w, 1);
        w.task_error = codes[i].code;
        world_begin_engine();
        world_run(30);
        print_message("  %s\n", strerror(-codes[i].code));
        assert_int_equal(world_state(1), ACTION_FAILED);
        assert_true((avoided(0, 1) != NULL) == codes[i].counts);
        assert_true(retry_blames_peer(codes[i].code) == codes[i].counts);
        world_release();
    }
}

/* What a person cancelled rests with the VM: no destination is to blame. */
static void test_cancelled_vm_backs_off(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 1);
    w.settings.policy.cool_down_s = 600;
    w.task_error = -ECANCELED;
    world_begin_engine();
    world_run(580);
    assert_int_equal(w.starts[0], 1); /* recommended in every pass, not tried again within 600 s */
    world_run(120);
    assert_int_equal(w.starts[0], 2);
    world_run(1000);
    assert_int_equal(w.starts[0], 2); /* the second time it waits twice as long */
    world_run(300);
    assert_int_equal(w.starts[0], 3);
    world_release();
}

static void test_hung_task_counts(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 1);
    w.tasks_stick = true;
    world_begin_engine();
    world_run(700); /* cancelled by the engine, not by a person */
    assert_int_equal(world_state(1), ACTION_FAILED);
    assert_non_null(avoided(0, 1));
    world_release();
}

static void test_survives_a_restart(void **state)
{
    static const instant_s clocks[] = {0, -3000, 100};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(clocks); i++) {
        struct world w;

        begin(&w, 12);
        for (int k = 0; k < 12; k++)
            w.script[k].to = 1;
        world_begin_engine();
        world_run(60);
        w.n_script = 0;
        instant_s left = avoided(-1, 1)->until - w.now;
        w.now += clocks[i];
        world_restart();
        look_now();
        const struct avoid *x = avoided(-1, 1);
        assert_non_null(x);
        assert_true(x->until - w.now <= left + 60 && x->until - w.now >= left - 200);
        assert_non_null(avoided(0, 1));
        world_run(left + 120); /* and no longer */
        look_now();
        assert_null(avoided(-1, 1));
        world_release();
    }
}

static void test_repaired_host_starts_anew(void **state)
{
    static const enum host_state out[] = {HOST_MAINTENANCE, HOST_DISCONNECTED, HOST_ENTERING_MAINTENANCE};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(out); i++) {
        struct world w;

        begin(&w, 12);
        for (int k = 0; k < 12; k++)
            w.script[k].to = 1;
        world_begin_engine();
        world_run(60);
        w.n_script = 0;
        assert_non_null(avoided(-1, 1));
        for (int k = 0; k < W->n_vms; k++) /* a host in maintenance is empty */
            w.vms[k].host = w.vms[k].host == 1 ? 0 : w.vms[k].host;
        w.host_state[1] = out[i];
        look_now();
        assert_non_null(avoided(-1, 1));
        w.host_state[1] = HOST_ON;
        look_now();
        look_now(); /* what the first one saw is in the next */
        assert_null(avoided(-1, 1));
        assert_null(avoided(0, 1));
        world_release();
    }
}

static void test_admin_may_retry(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 1);
    world_begin_engine();
    world_run(30);
    assert_non_null(avoided(0, 1));
    w.tasks_fail = false;
    engine_retry(w.engine, "tester", w.now);
    assert_string_equal(w.last_by, "tester"); /* the event says who */
    w.last_by[0] = '\0';
    engine_retry(w.engine, "tester", w.now);
    assert_string_equal(w.last_by, ""); /* there was nothing left to forget */
    look_now();
    world_run(20);
    assert_int_equal(w.starts[0], 2);
    assert_int_equal(w.vms[0].host, 1);
    world_release();
}

/* A recommendation that a person applies is carried out, whatever failed since. */
static void test_persons_apply_overrides(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 1);
    world_begin_engine();
    world_run(30);
    assert_non_null(avoided(0, 1));
    w.tasks_fail = false;
    look_now(); /* the scripted pass recommends it again; the engine does not approve it */
    world_run(10);
    assert_int_equal(w.starts[0], 1);
    assert_int_equal(world_state(2), ACTION_RECOMMENDED);
    assert_int_equal(world_apply(2), 0);
    world_run(30);
    assert_int_equal(w.starts[0], 2);
    assert_int_equal(w.vms[0].host, 1);
    assert_null(avoided(0, 1));
    world_release();
}

/* ---- the piece by itself ---- */

static struct failed_moves *piece(struct engine_settings *settings)
{
    struct failed_moves *f = knowledge_piece_new(&failed_moves_ops);

    settings->policy.avoid =
        (struct avoid_policy){.pause_s = 100, .pause_max_s = 350, .host_failures = 3, .cluster_failures = 4};
    failed_moves_ops.configure(f, settings);
    return f;
}

static void end(struct failed_moves *f, const char *vm, const char *from, const char *to, instant_s at,
                const char *why)
{
    failed_moves_take(f, &(struct move_end){.vm = vm, .from = from, .to = to, .at = at, .why = why});
}

static const struct failure_record *found(const struct failed_moves *f, const char *vm, const char *to,
                                          bool mandatory, instant_s now)
{
    struct action_record r = {.vm = vm,
                              .to = to,
                              .reason = REASON_RULE,
                              .priority = mandatory ? PRIORITY_MANDATORY : PRIORITY_PREFERRED};

    return failed_moves_find(f, &r, now);
}

static void test_pauses_grow_to_the_most(void **state)
{
    static const instant_s lengths[] = {100, 200, 350, 350};
    struct engine_settings settings = {0};
    struct failed_moves *f = piece(&settings);
    instant_s now = 1000;

    (void)state;
    for (size_t i = 0; i < ELEMENTS(lengths); i++) {
        end(f, "a", "h0", "h1", now, "no");
        assert_int_equal(found(f, "a", "h1", true, now)->until, now + lengths[i]);
        assert_null(found(f, "a", "h1", true, now + lengths[i]));
        assert_null(found(f, "a", "h2", true, now));
        assert_null(found(f, "b", "h1", true, now)); /* one VM says nothing of the host */
        now += lengths[i];
        end(f, "z", "h8", "h9", now, NULL);
    }
    end(f, "a", "h0", "h1", now, NULL);
    assert_int_equal(failed_moves_last(f, "a", "h1"), 0);
    end(f, "a", "h0", "h1", now, "no");
    assert_int_equal(found(f, "a", "h1", true, now)->until, now + 100);
    knowledge_piece_free(&failed_moves_ops, f);
}

static void test_host_after_moves_of_several_vms(void **state)
{
    struct engine_settings settings = {0};
    struct failed_moves *f = piece(&settings);

    (void)state;
    end(f, "a", "h0", "h1", 1, "no");
    end(f, "b", "h0", "h1", 2, "no");
    end(f, "d", "h5", "h1", 3, NULL); /* not in a row */
    end(f, "c", "h0", "h1", 4, "no");
    assert_null(found(f, "x", "h1", true, 5));
    end(f, "a", "h0", "h1", 6, "no");
    end(f, "b", "h0", "h1", 7, "no");
    const struct failure_record *r = found(f, "x", "h1", true, 8);
    assert_non_null(r);
    assert_int_equal(r->until, 107);
    assert_null(found(f, "x", "h1", true, 107));
    end(f, "e", "h0", "h1", 200, "no"); /* again: twice as long */
    assert_int_equal(found(f, "x", "h1", true, 201)->until, 400);
    end(f, "e", "h0", "h1", 210, NULL);
    assert_null(found(f, "x", "h1", true, 211));
    knowledge_piece_free(&failed_moves_ops, f);
}

static instant_s rejected(const struct failed_moves *f, const char *vm, enum reason reason, instant_s now)
{
    const struct action_record r = {
        .kind = ACTION_MIGRATE, .vm = vm, .from = "h0", .to = "h9", .reason = reason};

    return rejections_find(f, &r, now);
}

/* A rejection is for a VM and a reason, whatever the destination; the reasons of balance are one. */
static void test_rejected_for_a_reason(void **state)
{
    static const struct {
        enum reason rejected, asked;
        bool same;
    } cases[] = {
        {REASON_BALANCE_MEM, REASON_BALANCE_CPU, true},
        {REASON_BALANCE_CPU, REASON_EXCHANGE, true},
        {REASON_AGENT, REASON_HOST_OVERCOMMITTED, true},
        {REASON_RULE, REASON_RULE, true},
        {REASON_RULE, REASON_BALANCE_CPU, false},
        {REASON_BALANCE_CPU, REASON_RULE, false},
        {REASON_BALANCE_CPU, REASON_MAINTENANCE, false},
        {REASON_MAINTENANCE, REASON_MAINTENANCE, true},
        {REASON_PREREQUISITE, REASON_PREREQUISITE, true},
        {REASON_CONSOLIDATE, REASON_CONSOLIDATE, true},
        {REASON_QUARANTINE, REASON_QUARANTINE, true},
        {REASON_QUARANTINE, REASON_RULE, false},
        {REASON_CONSOLIDATE, REASON_STANDBY, false},
        {REASON_ASKED, REASON_ASKED, false},
        {REASON_HIGH_UTILIZATION, REASON_HIGH_UTILIZATION, true},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct engine_settings settings = {0};
        struct failed_moves *f = piece(&settings);
        const struct action_record r = {.kind = ACTION_MIGRATE,
                                        .pass = 1,
                                        .vm = "a",
                                        .from = "h0",
                                        .to = "h1",
                                        .reason = cases[i].rejected};

        assert_int_equal(rejections_add(f, &r, 0, "alice", 1000), 0);
        assert_int_equal(rejected(f, "a", cases[i].asked, 1000), 0);
        settings.policy.avoid.reject_s = 500;
        assert_int_equal(rejections_add(f, &r, 0, "alice", 1000),
                         cases[i].rejected == REASON_ASKED ? 0 : 1500);
        assert_int_equal(rejected(f, "a", cases[i].asked, 1499), cases[i].same ? 1000 : 0);
        assert_int_equal(rejected(f, "a", cases[i].asked, 1500), 0);
        assert_int_equal(rejected(f, "b", cases[i].asked, 1499), 0);
        assert_null(found(f, "a", "h1", true, 1001)); /* nothing failed */
        for (int k = 1; k < 5; k++) {
            const char host[] = {'h', (char)('0' + k), 0};
            end(f, "a", "h0", host, 1001 + k,
                k < 3 ? "no" : NULL); /* neither a failure nor a success ends it */
        }
        assert_int_equal(rejected(f, "a", cases[i].asked, 1499), cases[i].same ? 1000 : 0);
        (void)failed_moves_forgive(f, NULL, NULL);
        assert_int_equal(rejected(f, "a", cases[i].asked, 1499), 0);
        knowledge_piece_free(&failed_moves_ops, f);
    }
}

static void test_vm_that_fails_everywhere(void **state)
{
    struct engine_settings settings = {0};
    struct failed_moves *f = piece(&settings);

    (void)state;
    end(f, "a", "h0", "h1", 1, "no");
    end(f, "a", "h0", "h2", 2, "no");
    assert_null(found(f, "a", "h4", false, 3));
    end(f, "a", "h0", "h3", 3, "no");
    assert_non_null(found(f, "a", "h4", false, 4));
    assert_null(found(f, "a", "h4", true, 4)); /* its host may have to be emptied */
    assert_null(found(f, "b", "h4", true, 4));
    assert_int_equal(failed_moves_forgive(f, "a", NULL), 4);
    assert_null(found(f, "a", "h1", true, 4));
    knowledge_piece_free(&failed_moves_ops, f);
}

/* The network of h0 is broken: nothing leaves it, whatever the destination. */
static void test_source_is_blamed(void **state)
{
    static const char *const vms[] = {"a", "b", "c", "d", "e", "g", "i", "j", "k"};
    struct engine_settings settings = {0};
    struct failed_moves *f = piece(&settings);
    int blamed = 0;

    (void)state;
    for (size_t i = 0; i < ELEMENTS(vms); i++)
        end(f, vms[i], "h0", i % 3 == 0 ? "h1" : i % 3 == 1 ? "h2" : "h3", (instant_s)i + 1, "no");
    blamed += found(f, "x", "h1", true, 10) != NULL;
    blamed += found(f, "x", "h2", true, 10) != NULL;
    blamed += found(f, "x", "h3", true, 10) != NULL;
    assert_int_equal(blamed, 0);
    assert_non_null(found(f, "x", "h1", false, 10)); /* but optional moves pause */
    knowledge_piece_free(&failed_moves_ops, f);
}

static void test_cluster_of_the_last_moves(void **state)
{
    struct engine_settings settings = {0};
    struct failed_moves *f = piece(&settings);
    char vm[16];

    (void)state;
    for (int i = 0; i < 3; i++) {
        (void)snprintf(vm, sizeof vm, "v%d", i);
        end(f, vm, "h0", "h1", 1 + i, "no");
    }
    for (int i = 0; i < 17; i++) /* the first is then the oldest of 20 */
        end(f, "ok", "h2", "h3", 10 + i, NULL);
    assert_null(found(f, "x", "h9", false, 30));
    end(f, "v3", "h0", "h4", 31, "no"); /* the first has dropped out */
    assert_null(found(f, "x", "h9", false, 32));
    end(f, "v4", "h0", "h4", 33, "no");
    end(f, "v5", "h0", "h4", 34, "no");
    assert_null(found(f, "x", "h9", false, 35)); /* so have the other two */
    end(f, "v6", "h0", "h4", 34, "no");
    assert_non_null(found(f, "x", "h9", false, 35));
    assert_null(found(f, "x", "h9", true, 35));
    for (int i = 0; i < 17; i++)
        end(f, "ok", "h2", "h3", 40 + i, NULL);
    assert_null(found(f, "x", "h9", false, 60)); /* ends early: moves succeed again */
    knowledge_piece_free(&failed_moves_ops, f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pair_waits_longer_each_time),
        cmocka_unit_test(test_next_host_is_taken_at_once),
        cmocka_unit_test(test_host_takes_none_for_a_while),
        cmocka_unit_test(test_optional_moves_pause),
        cmocka_unit_test(test_what_counts),
        cmocka_unit_test(test_cancelled_vm_backs_off),
        cmocka_unit_test(test_hung_task_counts),
        cmocka_unit_test(test_survives_a_restart),
        cmocka_unit_test(test_repaired_host_starts_anew),
        cmocka_unit_test(test_admin_may_retry),
        cmocka_unit_test(test_persons_apply_overrides),
        cmocka_unit_test(test_pauses_grow_to_the_most),
        cmocka_unit_test(test_host_after_moves_of_several_vms),
        cmocka_unit_test(test_rejected_for_a_reason),
        cmocka_unit_test(test_vm_that_fails_everywhere),
        cmocka_unit_test(test_source_is_blamed),
        cmocka_unit_test(test_cluster_of_the_last_moves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
