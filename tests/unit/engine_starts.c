/* Many requests to power VMs on at a time: the room that decisions hold, the order, the time limits, and
 * hosts that refuse (O15 of src/dialect/ovirt/README.md). */
#include "engine_world.h"

#define HOSTS 3
#define TICKETS WORLD_VMS

static uint64_t tickets[TICKETS]; /* by VM; 0: not asked for */

/* vm00 runs on h0; all others are off and registered there. Each host has room for so many VMs. */
static void begin(struct world *w, int n_vms, int room)
{
    memset(tickets, 0, sizeof tickets);
    world_init(w, HOSTS, n_vms);
    w->settings.policy.automation = AUTOMATION_MANUAL;
    w->imbalance = w->target = 0.1;
    w->room_mb = 1000 * room;
    w->settings.lock_wait_s = 120;
    w->settings.lock_hold_s = 600;
    for (int i = 1; i < n_vms; i++)
        w->vms[i].off = true;
    world_begin_engine();
    world_run(3);
}

static void ask_as(int vm, const char *by)
{
    const char *name = W->vms[vm].id;
    const struct place_request q = {.vms = &name, .n_vms = 1, .apply = true, .by = by};

    assert_int_equal(engine_place(W->engine, &q, W->now, &tickets[vm], NULL), 0);
}

static void ask(int vm)
{
    ask_as(vm, "tester");
}

/* 0: it was begun; 1: it has no place; -EINPROGRESS: it waits; else the error. */
static int answer(int vm, struct err *err)
{
    struct placement p;
    int r = engine_place_result(W->engine, tickets[vm], &p, err);

    return r < 0 ? r : (int)p.n_unplaced;
}

/* What runs at the peer, and what will by what was begun there: the room at this moment. */
static void check_room(int room)
{
    int at[HOSTS] = {0};

    for (int i = 0; i < W->n_vms; i++)
        at[W->vms[i].host] += !W->vms[i].off;
    for (int i = 0; i < W->n_tasks; i++)
        at[W->tasks[i].to] += W->tasks[i].kind == OPERATION_POWER_ON_VM && W->tasks[i].state == TASK_RUNNING;
    for (int h = 0; h < HOSTS; h++)
        assert_true(at[h] <= room);
}

static void run_checked(int seconds, int room)
{
    for (int i = 0; i < seconds; i++) {
        world_second();
        check_room(room);
    }
}

static int count(int code)
{
    int n = 0;

    for (int i = 0; i < TICKETS; i++)
        n += tickets[i] != 0 && answer(i, NULL) == code;
    return n;
}

/* Room for 18, of which one is taken: of 30 that are asked for, 17 run. The others wait as long as one of
 * these could still fail, and are told then. Two inventories decide all. */
static void test_more_than_fit(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 31, 6);
    for (int i = 1; i < 31; i++)
        ask(i);
    world_answer();
    world_answer();
    assert_int_equal(count(0), 17);
    assert_int_equal(count(-EINPROGRESS), 13);
    run_checked(5, 6);
    assert_int_equal(count(-EINPROGRESS), 13); /* some are on their way */
    run_checked(30, 6);
    assert_int_equal(count(1), 13);
    assert_int_equal(count(0), 17);
    int run = 0;

    for (int i = 0; i < 31; i++)
        run += !w.vms[i].off;
    assert_int_equal(run, 18);
    world_release();
}

/* Everybody sees at once what was begun, though the source has not been asked again. */
static void test_seen_at_once(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 3, 3);
    ask(1);
    world_answer();
    assert_int_equal(answer(1, NULL), 0);
    const struct snapshot *s = engine_snapshot(w.engine);

    assert_int_equal(s->n_pending, 1);
    assert_string_equal(s->vms[s->pending[0].vm].is.id, "vm01");
    world_release();
}

/* The last place: a start that fails gives it to one that waits, without a request anew. */
static void test_release(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 4, 1); /* two places */
    w.tasks_fail = true;
    w.task_error = -EACCES; /* no host's fault: the VMs are not tried elsewhere */
    w.task_s = 20;
    ask(1);
    ask(2);
    ask(3);
    run_checked(10, 1);
    assert_int_equal(count(0), 2);
    assert_int_equal(answer(3, NULL), -EINPROGRESS);
    int asks = w.n_asks;

    run_checked(5, 1);
    assert_true(w.n_asks <= asks + 1); /* it does not keep the source busy while it waits */
    run_checked(8, 1);
    w.tasks_fail = false;
    assert_int_equal(answer(3, NULL), 0);
    run_checked(40, 1);
    assert_true(w.vms[1].off && w.vms[2].off);
    assert_false(w.vms[3].off);
    world_release();
}

/* Hosts that refuse to start a VM are left out, one after the other; where the last one refuses, too, nothing
 * more is begun, and who asks again is not refused a host that has refused. */
static void test_refused(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 4, 2);
    w.refusing = 1 << 0 | 1 << 1;
    ask(1);
    run_checked(60, 2);
    assert_false(w.vms[1].off);
    assert_int_equal(w.vms[1].host, 2);
    assert_int_equal(w.n_tasks, 3);
    w.refusing |= 1 << 2;
    ask(2);
    run_checked(120, 2);
    assert_true(w.vms[2].off);
    assert_int_equal(w.n_tasks, 6);
    w.refusing = 0;
    ask(2);
    run_checked(20, 2);
    assert_false(w.vms[2].off);
    assert_int_equal(w.n_tasks, 7);
    world_release();
}

/* The answer to the first call was lost, so the VM may be about to run: a refusal of the second sends it
 * nowhere else. */
static void test_refused_after_a_lost_answer(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 2, 2);
    w.start_code = -ECONNRESET;
    ask(1);
    for (int i = 0; i < 60 && w.start_code != 0; i++)
        world_second();
    assert_int_equal(w.n_tasks, 0);
    w.start_code = -EPERM;
    world_run(200);
    assert_int_equal(w.start_code, 0); /* the second call was made */
    assert_int_equal(w.n_tasks, 0);
    assert_true(w.vms[1].off);
    world_release();
}

/* The room is held for longer than lock_wait_s: who holds it is named, and nothing is begun later. */
static void test_lock_wait(void **state)
{
    struct world w;
    struct err err;

    (void)state;
    begin(&w, 4, 1);
    w.tasks_stick = true;
    w.settings.lock_wait_s = 50;
    engine_configure(w.engine, &w.settings, w.now);
    ask_as(1, "ann");
    ask(2);
    world_run(10);
    ask(3);
    world_run(49);
    assert_int_equal(answer(3, NULL), -EINPROGRESS);
    assert_true(engine_wakeup(w.engine, w.now) <= w.now + 1);
    world_run(1);
    assert_int_equal(answer(3, &err), -ETIMEDOUT);
    print_message("%s\n", err.text);
    assert_non_null(strstr(err.text, "placement.lock_wait_s (50 s)"));
    assert_non_null(strstr(err.text, "approved by ann"));
    assert_non_null(strstr(err.text, "action 1 (place vm01, host h1), approved by ann"));
    world_run(600);
    assert_int_equal(w.starts[3], 0);
    world_release();
}

/* The source does not answer: that is named. */
static void test_lock_wait_for_the_source(void **state)
{
    struct world w;
    struct err err;

    (void)state;
    begin(&w, 4, 2);
    w.settings.lock_wait_s = 8;
    engine_configure(w.engine, &w.settings, w.now);
    w.source_silent = true;
    ask(1);
    world_run(7);
    assert_int_equal(answer(1, NULL), -EINPROGRESS);
    world_run(1);
    assert_int_equal(answer(1, &err), -ETIMEDOUT);
    assert_non_null(strstr(err.text, "by the source, asked 8 s ago"));
    w.source_silent = false;
    world_run(50);
    assert_int_equal(w.starts[1], 0);
    world_release();
}

/* Nothing of a decision could begin for lock_hold_s: it is void, and its room is free for others. */
static void test_lock_hold(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 4, 1);
    w.settings.lock_hold_s = 30;
    w.settings.lock_wait_s = 100;
    engine_configure(w.engine, &w.settings, w.now);
    w.check_code = -EBUSY; /* the hypervisor puts it off */
    ask(1);
    ask(2);
    world_answer();
    world_answer();
    assert_int_equal(count(0), 2);
    ask(3);
    world_answer();
    assert_int_equal(engine_pause(w.engine, "tester", w.now, NULL), 0);
    world_run(28);
    assert_int_equal(world_state(1), ACTION_APPROVED);
    assert_int_equal(answer(3, NULL), -EINPROGRESS);
    world_run(8);
    assert_int_equal(world_state(1), ACTION_CANCELLED);
    assert_int_equal(world_state(2), ACTION_CANCELLED);
    assert_non_null(strstr(world_action(1)->why, "could not be begun"));
    assert_int_equal(engine_snapshot(w.engine)->n_pending, 0);
    assert_int_equal(answer(3, NULL), -EBUSY); /* the service is paused */
    assert_int_equal(engine_resume(w.engine, "tester", w.now, NULL), 0);
    w.check_code = 0;
    world_run(60);
    assert_int_equal(w.starts[1] + w.starts[2] + w.starts[3], 0);
    world_release();
}

/* What has begun is not void, however long it takes. */
static void test_lock_hold_begun(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 3, 1);
    w.settings.lock_hold_s = 10;
    engine_configure(w.engine, &w.settings, w.now);
    w.task_s = 60;
    ask(1);
    world_run(90);
    assert_false(w.vms[1].off);
    world_release();
}

/* Of three that are decided together, the one with most hosts left comes first, then the smallest. */
static void test_order(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 6, 2);
    w.vms[1].may_be_at = 1u << 1; /* asked for first, and may run on h1 alone */
    w.vms[2].mem_mb = 2000;
    w.vms[4].may_be_at = 1u << 1;
    ask(5); /* the inventory is on its way: the others wait for the next */
    ask(1);
    ask(2);
    ask(3);
    ask(4);
    world_answer();
    world_answer();
    /* h0 has one place left for vm05; then vm03 and vm02 may choose, and vm02 takes h2 */
    assert_int_equal(answer(3, NULL), 0);
    assert_int_equal(answer(2, NULL), 0);
    assert_int_equal(answer(1, NULL), 0);
    assert_int_equal(answer(4, NULL), -EINPROGRESS);
    run_checked(20, 2);
    assert_int_equal(w.vms[3].host, 1);
    assert_int_equal(w.vms[2].host, 2);
    assert_int_equal(w.vms[1].host, 1);
    assert_int_equal(answer(4, NULL), 1);
    world_release();
}

/* A large VM waits for two places at a time, while small ones come without end and each place that is given
 * back would do for one of them. It gets its room after half of its time. patience: lock_wait_s. */
static int starve(int patience)
{
    struct world w;
    int next = 2;
    int got = -1;

    begin(&w, 40, 2);
    w.settings.lock_wait_s = 4 * patience;
    engine_configure(w.engine, &w.settings, w.now);
    for (int i = 1; i < 40; i++)
        w.vms[i].may_be_at = 1u << 1;
    w.vms[1].mem_mb = 2000;
    w.tasks_fail = true; /* what is begun gives its room back */
    w.task_s = 10;
    ask(next++);
    ask(next++);
    world_run(5);
    w.settings.lock_wait_s = patience;
    engine_configure(w.engine, &w.settings, w.now);
    ask(1);
    w.settings.lock_wait_s = 4 * patience;
    engine_configure(w.engine, &w.settings, w.now);
    for (int t = 0; t < patience && got < 0; t++) {
        if (t % 5 == 0 && next < 40)
            ask(next++);
        run_checked(1, 2);
        got = answer(1, NULL) == 0 ? t : -1;
    }
    world_release();
    return got;
}

static void test_ageing(void **state)
{
    (void)state;
    int got = starve(100);

    print_message("after %d s\n", got);
    assert_true(got >= 45 && got < 75);
}

/* A decision on which an external unit had a say is the only one of its inventory. */
static void test_units(void **state)
{
    struct world w;

    (void)state;
    memset(tickets, 0, sizeof tickets);
    world_init(&w, HOSTS, 5);
    w.settings.policy.automation = AUTOMATION_MANUAL;
    w.room_mb = 3000;
    w.units = true;
    w.unit_keeps = 7;
    for (int i = 1; i < 5; i++)
        w.vms[i].off = true;
    world_begin_engine();
    world_run(3);
    for (int i = 1; i < 5; i++)
        ask(i);
    int begun = 0;

    for (int i = 0; i < 20 && begun < 4; i++) {
        world_second(); /* in which the unit answers once */
        assert_true(count(0) - begun <= 1);
        begun = count(0);
    }
    assert_int_equal(begun, 4);
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_more_than_fit),
        cmocka_unit_test(test_seen_at_once),
        cmocka_unit_test(test_release),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_refused_after_a_lost_answer),
        cmocka_unit_test(test_lock_wait),
        cmocka_unit_test(test_lock_wait_for_the_source),
        cmocka_unit_test(test_lock_hold),
        cmocka_unit_test(test_lock_hold_begun),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_ageing),
        cmocka_unit_test(test_units),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
