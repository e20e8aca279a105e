/* Copies in rounds: which get on, which are given up, and what is said then. The peer is a pre-copy of its
 * own, in this file: it copies at a link's rate, divided among the copies, and tells what QEMU would. */
#include "engine_world.h"

#define VMS 3
#define DOWNTIME_S 0.3
#define MIB_PER_GIB 1024.0

/* What a peer tells: each subset is a hypervisor's. */
enum what_is_told { TELLS_ROUNDS, TELLS_RATES, TELLS_PERCENT };

static struct copying {
    enum what_is_told tells;
    double link_mb_s, dirty_mb_s[VMS], mem_mb, working_mb;
    double slowed_most; /* percent; 0: the peer slows no guest down */
    double wasted_mb;   /* of the last copy that was cancelled */
    bool stands;        /* no byte flows */
    struct {
        bool on;
        double at, left, again, copied, slowed;
        unsigned round;
    } of[VMS];
} c;

static double rate(void)
{
    int n = world_running(-1);

    return c.stands ? 0 : c.link_mb_s / (n > 0 ? n : 1);
}

static void end_task(const char *vm)
{
    for (int i = 0; i < W->n_tasks; i++) {
        if (W->tasks[i].vm == w_vm(vm) && W->tasks[i].state == TASK_RUNNING)
            W->tasks[i].stuck = false;
    }
}

static void next_round(int vm, const char *name)
{
    if (c.of[vm].again < rate() * DOWNTIME_S)
        end_task(name);
    if (c.of[vm].again > c.mem_mb / 2 && c.of[vm].slowed < c.slowed_most)
        c.of[vm].slowed += c.of[vm].slowed == 0 ? 20 : 10;
    c.of[vm].left = fmax(c.of[vm].again, 1);
    c.of[vm].again = 0;
    c.of[vm].round++;
}

/* Until now, or the end of the present round. */
static void copy_on(int vm, const char *name)
{
    if (!c.of[vm].on) {
        c.of[vm].on = true;
        c.of[vm].at = (double)W->now;
        c.of[vm].copied = c.of[vm].again = c.of[vm].slowed = 0;
        c.of[vm].left = c.mem_mb;
        c.of[vm].round = 1;
    }
    while (c.of[vm].at < (double)W->now) {
        double until = fmin((double)W->now, c.of[vm].at + (c.stands ? INFINITY : c.of[vm].left / rate()));
        double s = until - c.of[vm].at;

        c.of[vm].at = until;
        c.of[vm].copied += rate() * s;
        c.of[vm].left -= rate() * s;
        c.of[vm].again =
            fmin(c.of[vm].again + s * c.dirty_mb_s[vm] * (1 - c.of[vm].slowed / 100), c.working_mb);
        if (c.of[vm].left < 1e-6)
            next_round(vm, name);
    }
}

static void tell(int vm, struct task_progress *ret)
{
    const double all = c.mem_mb;

    ret->percent = (int)fmin(99, 100 * c.of[vm].copied / all);
    if (c.tells == TELLS_PERCENT)
        return;
    ret->copied_mb = c.of[vm].copied;
    ret->rate_mb_s = rate();
    if (c.tells == TELLS_RATES) {
        ret->round = 1 + (unsigned)(c.of[vm].copied / all);
        ret->dirty_mb_s = c.dirty_mb_s[vm] > rate() ? c.dirty_mb_s[vm] : 0;
        return;
    }
    ret->round = c.of[vm].round;
    ret->left_mb = c.of[vm].left;
    ret->slowed = (unsigned)c.of[vm].slowed;
    ret->may_slow = c.slowed_most > 0 && c.of[vm].slowed == 0;
}

static bool copies(const struct job *o, struct job_result *ret)
{
    if (o->kind == JOB_CANCEL) {
        c.wasted_mb = c.of[w_vm(o->operation.vm)].copied;
        c.of[w_vm(o->operation.vm)].on = false;
    }
    if (o->kind != JOB_POLL || o->operation.kind != OPERATION_MIGRATE)
        return false;
    int vm = w_vm(o->operation.vm);

    copy_on(vm, o->operation.vm);
    W->actuators = NULL;
    *ret = w_carry_out(o);
    W->actuators = copies;
    if (ret->progress.state == TASK_RUNNING)
        tell(vm, &ret->progress);
    return true;
}

/* So many VMs of that size leave h0, which is to be emptied. */
static void begin(struct world *w, int n, enum what_is_told tells, double link_mb_s, double dirty_mb_s)
{
    c = (struct copying){
        .tells = tells, .link_mb_s = link_mb_s, .mem_mb = 8 * MIB_PER_GIB, .working_mb = 8 * MIB_PER_GIB};
    world_init(w, 3, VMS);
    w->settings.policy.automation = AUTOMATION_FULL;
    w->hottest = 1.2;
    w->vm_mem_mb = c.mem_mb;
    w->tasks_stick = true;
    w->actuators = copies;
    for (int i = 0; i < n; i++) {
        c.dirty_mb_s[i] = dirty_mb_s;
        w->script[i] = (struct world_move){.vm = i, .to = 1 + i % 2, .priority = 1};
    }
    w->n_script = n;
    world_begin_engine();
}

/* However much is copied again, and whatever the percentage does meanwhile: what remains shrinks. */
static void test_a_copy_that_shrinks_is_let_end(void **state)
{
    static const enum what_is_told all[] = {TELLS_ROUNDS, TELLS_RATES, TELLS_PERCENT};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(all); i++) {
        struct world w;

        begin(&w, 1, all[i], 50, 42.5);
        world_run(1600);
        if (world_state(1) != ACTION_DONE)
            fail_msg("%d: %s", all[i], world_action(1)->why);
        assert_int_equal(w.starts[0], 1);
        assert_true(c.of[0].copied > 5 * c.mem_mb);
        world_release();
    }
}

/* It is given up after three rounds, with its figures; what does not shrink is no fault of the host. */
static void test_a_copy_without_end_is_given_up(void **state)
{
    static const enum what_is_told all[] = {TELLS_ROUNDS, TELLS_RATES};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(all); i++) {
        struct world w;

        begin(&w, 1, all[i], 50, 70);
        for (int s = 0; s < 10 * 8192 / 50 && world_state(1) != ACTION_FAILED; s++)
            world_second();
        assert_int_equal(world_state(1), ACTION_FAILED);
        assert_non_null(strstr(world_action(1)->why, "what remains has not shrunk since round "));
        assert_non_null(strstr(world_action(1)->why, "MiB/s while "));
        assert_in_range((int)(c.wasted_mb / c.mem_mb), 3, 6);
        assert_int_equal(w.n_failures, 0);
        world_run(4000); /* at this rate it is not tried again, and waits for a person */
        assert_int_equal(w.starts[0], 1);
        assert_int_equal(world_state(2), ACTION_RECOMMENDED);
        assert_int_equal(world_apply(2), 0);
        world_run(60);
        assert_int_equal(w.starts[0], 2);
        world_release();
    }
}

/* VMs that write more than their part of the link, or about which nothing is known, have it one after the
 * other. */
static void test_one_after_the_other(void **state)
{
    (void)state;
    for (int known = 0; known < 2; known++) {
        struct world w;

        begin(&w, 3, TELLS_ROUNDS, 110, 60);
        w.dirty_mb_s = known ? 60 : 0;
        for (int s = 0; s < 900; s++) {
            world_second();
            assert_true(world_running(0) <= 1);
        }
        for (uint64_t id = 1; id <= 3; id++)
            assert_int_equal(world_state(id), ACTION_DONE);
        world_release();
    }
}

/* Those that are known to write little have it together. */
static void test_calm_ones_together(void **state)
{
    struct world w;
    int most = 0;

    (void)state;
    begin(&w, 3, TELLS_ROUNDS, 110, 2);
    w.dirty_mb_s = 2;
    for (int s = 0; s < 400; s++) {
        world_second();
        most = world_running(0) > most ? world_running(0) : most;
    }
    assert_int_equal(most, 3);
    assert_int_equal(world_state(3), ACTION_DONE);
    world_release();
}

/* The guest is slowed down more and more, until it ends: that is progress, though nothing shrinks for long.
 */
static void test_the_peers_own_help_counts(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 1, TELLS_ROUNDS, 50, 300);
    c.slowed_most = 99;
    world_run(14 * 8192 / 50);
    assert_int_equal(world_state(1), ACTION_DONE);
    assert_int_equal(w.starts[0], 1);
    world_release();
}

/* Bytes that do not flow are another matter, whatever was copied before. */
static void test_a_copy_that_stands_still_hangs(void **state)
{
    static const enum what_is_told all[] = {TELLS_ROUNDS, TELLS_RATES};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(all); i++) {
        struct world w;

        begin(&w, 1, all[i], 10, 1);
        world_run(200);
        c.stands = true;
        world_run(280);
        assert_int_equal(world_state(1), ACTION_RUNNING);
        world_run(60);
        assert_int_equal(world_state(1), ACTION_FAILED);
        assert_non_null(strstr(world_action(1)->why, "no progress for 3"));
        world_release();
    }
}

/* A percentage alone stands still while a round is repeated: it has the time that a slow link takes. */
static void test_a_percentage_alone_has_more_time(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 1, TELLS_PERCENT, 50, 1);
    world_run(100);
    double waits = world_action(1) ? fmax(300, c.mem_mb / 5) : 0;
    c.stands = true;
    world_run((instant_s)waits - 30);
    assert_int_equal(world_state(1), ACTION_RUNNING);
    world_run(90);
    assert_int_equal(world_state(1), ACTION_FAILED);
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_copy_that_shrinks_is_let_end),
        cmocka_unit_test(test_a_copy_without_end_is_given_up),
        cmocka_unit_test(test_one_after_the_other),
        cmocka_unit_test(test_calm_ones_together),
        cmocka_unit_test(test_the_peers_own_help_counts),
        cmocka_unit_test(test_a_copy_that_stands_still_hangs),
        cmocka_unit_test(test_a_percentage_alone_has_more_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
