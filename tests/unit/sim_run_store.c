/* The store of a simulated service: the records that a restart finds. */
#include "unit.h"

#include "sim/run/memory_store.h"

#include <string.h>

static char id_a[] = "vm-a";
static struct vm vms[] = {{.is = {.id = "vm-a"}}, {.is = {.id = "vm-b"}}};
static const struct snapshot snap = {.vms = vms, .n_vms = 2};

static struct action_record record(uint64_t id, enum action_state state, instant_s ended)
{
    return (struct action_record){
        .id = id, .uid = "u", .state = state, .kind = ACTION_MIGRATE, .vm = id_a, .ended = ended};
}

static struct stored load(struct store *s, instant_s since, struct arena *a)
{
    struct stored ret;

    assert_int_equal(memory_store.load(s, since, since, a, &ret, NULL), 0);
    return ret;
}

static void test_actions(void **state)
{
    struct store *s = memory_store_new(&snap, true);
    struct arena a = {0};
    uint64_t needs[] = {1, 2};
    struct action_record r = record(3, ACTION_STARTING, 0);

    (void)state;
    r.depends_on = needs;
    r.n_depends_on = 2;
    struct action_record first = record(1, ACTION_DONE, 100);
    struct action_record second = record(2, ACTION_FAILED, 200);

    assert_int_equal(memory_store.put(s, &(struct record){RECORD_ACTION, .action = &first}, NULL), 0);
    assert_int_equal(memory_store.put(s, &(struct record){RECORD_ACTION, .action = &r}, NULL), 0);
    assert_int_equal(memory_store.put(s, &(struct record){RECORD_ACTION, .action = &second}, NULL),
                     0); /* out of order */
    r.state = ACTION_RUNNING;
    r.task = "task-9";
    assert_int_equal(memory_store.put(s, &(struct record){RECORD_ACTION, .action = &r}, NULL),
                     0); /* replaces */
    needs[0] = 99;       /* what was put is the store's own */

    struct stored got = load(s, 150, &a);

    assert_int_equal(got.last_action, 3);
    assert_int_equal(got.n_actions, 2);
    assert_int_equal(got.actions[0].id, 2);
    assert_int_equal(got.actions[1].state, ACTION_RUNNING);
    assert_string_equal(got.actions[1].task, "task-9");
    assert_int_equal(got.actions[1].depends_on[0], 1);

    const struct retention keep = {.ended_before = 300};

    assert_int_equal(memory_store.prune(s, &keep, NULL), 0);
    got = load(s, 0, &a);
    assert_int_equal(got.n_actions, 1);
    assert_int_equal(got.last_action, 3); /* numbers are never given again */
    memory_store_free(s);
    arena_release(&a);
}

static void test_samples_by_vm_then_time(void **state)
{
    const struct sample_record early[] = {{.vm = "vm-b", .time = 10, .demand = {1, 2}},
                                          {.vm = "vm-a", .time = 10, .demand = {3, 4}},
                                          {.vm = "gone", .time = 10}};
    const struct sample_record late[] = {{.vm = "vm-b", .time = 20}, {.vm = "vm-a", .time = 20}};
    struct store *s = memory_store_new(&snap, true);
    struct arena a = {0};

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(memory_store.put(s, &(struct record){RECORD_SAMPLE, .sample = &early[i]}, NULL), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(memory_store.put(s, &(struct record){RECORD_SAMPLE, .sample = &late[i]}, NULL), 0);
    struct stored got = load(s, 0, &a);

    assert_int_equal(got.n_samples, 4);
    assert_string_equal(got.samples[0].vm, "vm-a");
    assert_true(got.samples[0].time == 10 && got.samples[1].time == 20);
    assert_string_equal(got.samples[2].vm, "vm-b");
    assert_true(got.samples[0].demand[RES_MEM] == 4);

    const struct retention keep = {.samples_before = 15};

    assert_int_equal(memory_store.prune(s, &keep, NULL), 0);
    got = load(s, 0, &a);
    assert_int_equal(got.n_samples, 2);
    memory_store_free(s);
    arena_release(&a);
}

static void test_what_was_learned_and_set(void **state)
{
    struct store *s = memory_store_new(&snap, false);
    struct arena a = {0};
    struct rate_record rate = {.from = "h1", .to = "h2", .mb_s = 100, .learned = 10};
    const struct dirty_record dirty = {.vm = "vm-a", .mb_s = 7, .learned = 20};
    struct setting_record setting = {.host = "h2", .pool = "p1"};
    const struct host_record asleep = {.host = "h1", .put_down = 5, .boot_s = 90};
    const struct host_record long_gone = {.host = "h2", .seen = 5};

    (void)state;
    assert_int_equal(memory_store.put(s, &(struct record){RECORD_RATE, .rate = &rate}, NULL), 0);
    rate.mb_s = 200;
    assert_int_equal(memory_store.put(s, &(struct record){RECORD_RATE, .rate = &rate}, NULL), 0);
    assert_int_equal(memory_store.put(s, &(struct record){RECORD_DIRTY, .dirty = &dirty}, NULL), 0);
    assert_int_equal(memory_store.put(s, &(struct record){RECORD_HOST, .host = &asleep}, NULL), 0);
    assert_int_equal(memory_store.put(s, &(struct record){RECORD_HOST, .host = &long_gone}, NULL), 0);
    assert_int_equal(memory_store.put(s, &(struct record){RECORD_SETTING, .setting = &setting}, NULL), 0);
    setting.host = "h1";
    assert_int_equal(memory_store.put(s, &(struct record){RECORD_SETTING, .setting = &setting}, NULL), 0);
    assert_int_equal(
        memory_store.put(s, &(struct record){RECORD_NOTE, .note = &(struct note){"source", "x"}}, NULL), 0);
    assert_int_equal(
        memory_store.put(s, &(struct record){RECORD_NOTE, .note = &(struct note){"frozen", "y"}}, NULL), 0);
    assert_int_equal(
        memory_store.forget(s, &(struct record){RECORD_NOTE, .note = &(struct note){.key = "frozen"}}, NULL),
        0);
    struct stored got = load(s, 0, &a);

    assert_int_equal(got.n_rates, 1);
    assert_true(got.rates[0].mb_s == 200);
    assert_int_equal(got.n_dirties, 1);
    assert_int_equal(got.n_hosts, 2);
    assert_int_equal(got.n_settings, 2);
    assert_string_equal(got.settings[0].host, "h1");
    assert_int_equal(got.n_notes, 1);
    assert_string_equal(got.notes[0].key, "source");
    assert_int_equal(
        memory_store.forget(
            s,
            &(struct record){RECORD_SETTING, .setting = &(struct setting_record){.host = "h1", .pool = "p1"}},
            NULL),
        0);

    const struct retention keep = {.learned_before = 15, .hosts_before = 15};

    assert_int_equal(memory_store.prune(s, &keep, NULL), 0);
    got = load(s, 0, &a);
    assert_int_equal(got.n_settings, 1);
    assert_int_equal(got.n_rates, 0);
    assert_int_equal(got.n_dirties, 1);
    assert_int_equal(got.n_hosts, 1); /* what we put to sleep is not forgotten */
    assert_string_equal(got.hosts[0].host, "h1");
    memory_store_free(s);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_actions),
        cmocka_unit_test(test_samples_by_vm_then_time),
        cmocka_unit_test(test_what_was_learned_and_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
