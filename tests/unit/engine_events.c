/* Published events: each is stored together with its change or not at all; host states, whichever program
 * changes them. */
#include "engine_world.h"

#include <stdlib.h>

static void begin(struct world *w)
{
    world_init_standby(w);
    w->keeps = true;
    world_begin_engine();
}

/* The state that the stored events say of the action last; action_state_count: nothing. */
static enum action_state told(uint64_t id)
{
    enum action_state state = action_state_count;

    for (int i = 0; i < W->n_stored; i++) {
        char *word;

        if (strtoull(W->stored[i], &word, 10) == id && word != W->stored[i])
            assert_int_equal(action_state_parse(word + 1, &state), 0);
    }
    return state;
}

static void assert_told_is_true(void)
{
    for (uint64_t id = 1; id <= W->n_actions; id++)
        assert_int_equal(told(id), W->actions[id - 1].state);
    assert_int_equal(told(W->n_actions + 1), action_state_count);
}

/* Killed at any call: what the store says of actions, and what its events say of them, is the same. */
static void test_killed(void **state)
{
    (void)state;
    for (int crash = 1; crash < 120; crash++) {
        for (int before = 0; before < 2; before++) {
            struct world w;

            begin(&w);
            w.crash_in = crash;
            w.crash_before_effect = before == 1;
            world_run(30);
            assert_told_is_true();
            w.dead = false;
            w.crash_in = 0;
            world_restart();
            world_run(120);
            assert_told_is_true();
            assert_int_equal(world_state(3), ACTION_DONE);
            world_release();
        }
    }
}

static int count(const char *line)
{
    int n = 0;

    for (int i = 0; i < W->n_stored; i++)
        n += strcmp(W->stored[i], line) == 0;
    return n;
}

/* While nothing can be stored they wait, and come once, in their order. */
static void test_store_broken(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    world_run(5);
    w.store_broken = true;
    int before = w.n_stored;

    w.host_state[3] = HOST_MAINTENANCE;
    world_run(60);
    assert_int_equal(w.n_stored, before);
    assert_true(w.n_waiting > 1);
    w.store_broken = false;
    world_run(30);
    assert_int_equal(w.n_waiting, 0);
    assert_int_equal(count("storing_failed"), 1);
    assert_true(count("host") >= 1);
    assert_true(w.n_stored == w.n_events && w.n_events < 64);
    for (int i = 0; i < w.n_stored; i++)
        assert_string_equal(w.stored[i], w.events[i]);
    assert_told_is_true();
    world_release();
}

/* Each change, by us or others, and by an earlier process what it knew; nothing at the first look. */
static void test_hosts(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, 3, 2);
    w.keeps = true;
    world_begin_engine();
    world_run(5);
    assert_int_equal(count("host"), 0);
    static const enum host_state changes[] = {
        HOST_STANDBY,     HOST_ON,     HOST_DISCONNECTED, HOST_ON, HOST_ENTERING_MAINTENANCE,
        HOST_MAINTENANCE, HOST_STANDBY};

    for (size_t i = 0; i < ELEMENTS(changes); i++) {
        w.host_state[2] = changes[i];
        world_run(130);
        assert_int_equal(count("host"), i + 1);
    }
    world_restart();
    world_run(130);
    assert_int_equal(count("host"), ELEMENTS(changes)); /* it sleeps, as it did */
    engine_free(w.engine);
    w.engine = NULL;
    w.n_waiting = 0;
    w.host_state[2] = HOST_ON; /* woken while nobody looked */
    world_begin_engine();
    world_run(130);
    assert_int_equal(count("host"), ELEMENTS(changes) + 1);
    world_release();
}

/* A host that is taken out of the cluster, one that comes back, and a new one; not a source that is away for
 * a while, nor a start. */
static void test_inventory(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, 4, 2);
    w.keeps = true;
    w.gone[3] = true;
    world_begin_engine();
    world_run(130);
    assert_int_equal(w.n_stored, count("pass_done")); /* the first look tells of no host */

    w.gone[2] = true;
    w.source_down = true; /* nobody knows */
    world_run(400);
    assert_int_equal(count("host_lost"), 0);
    w.source_down = false;
    world_run(130);
    assert_int_equal(count("host_lost"), 1);
    assert_int_equal(count("host_back") + count("host"), 0);
    world_run(600); /* said once */
    assert_int_equal(count("host_lost"), 1);

    w.gone[2] = false;
    world_run(130);
    assert_int_equal(count("host_back"), 1);
    assert_int_equal(count("host"), 0);
    w.gone[3] = false; /* never seen before */
    world_run(130);
    assert_int_equal(count("host"), 1);
    assert_int_equal(count("host_back"), 1);

    w.source_down = true;
    world_run(400);
    w.source_down = false;
    world_run(130);
    world_restart();
    world_run(130);
    assert_int_equal(count("host_lost"), 1);
    assert_int_equal(count("host_back"), 1);
    assert_int_equal(count("host"), 1);
    world_release();
}

/* Gone while nobody looked: a start compares with nothing. One that comes back asleep says both. */
static void test_inventory_restart(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, 3, 2);
    w.keeps = true;
    world_begin_engine();
    world_run(130);
    engine_free(w.engine);
    w.engine = NULL;
    w.n_waiting = 0;
    w.gone[2] = true;
    world_begin_engine();
    world_run(130);
    assert_int_equal(count("host_lost"), 0);
    w.gone[2] = false; /* an earlier process knew it */
    w.host_state[2] = HOST_STANDBY;
    world_run(130);
    assert_int_equal(count("host_back"), 1);
    w.gone[2] = true;
    world_run(130);
    w.gone[2] = false;
    w.host_state[2] = HOST_ON;
    world_run(130);
    assert_int_equal(count("host_lost"), 1);
    assert_int_equal(count("host_back"), 2);
    assert_int_equal(count("host"), 1);
    world_release();
}

/* What waits for an approval is an event when it is new and when it is gone. Another destination is told with
 * the pass; another reason makes another recommendation. */
static void test_recommendations(void **state)
{
    const uint64_t first = 1;
    const uint32_t second_version = 2;
    struct world w;

    (void)state;
    world_init(&w, 4, 4);
    w.settings.policy.automation = AUTOMATION_MANUAL;
    w.keeps = true;
    w.hottest = 1.2;
    w.script[0] = (struct world_move){.vm = 0, .to = 1, .priority = 3};
    w.script[1] = (struct world_move){.vm = 1, .to = 1, .priority = 3};
    w.n_script = 2;
    world_begin_engine();
    world_run(300);
    assert_true(w.passes >= 5);
    assert_int_equal(count("1 recommended") + count("2 recommended"), 2);
    assert_int_equal(w.n_redirected, 0);
    w.script[0].to = 2;
    world_run(300);
    assert_int_equal(w.n_stored, 2 + count("pass_done"));
    assert_int_equal(w.n_redirected, 1);
    assert_string_equal(world_action(1)->to, "h2");
    assert_int_equal(world_apply(1), -ESTALE); /* h1 was read, h2 was not */
    assert_int_equal(engine_approve(w.engine, &first, &second_version, 1, "tester", w.now, NULL, NULL), 0);
    world_run(10);
    assert_int_equal(w.tasks[0].to, 2);
    w.script[0] = w.script[1];
    w.script[0].to = 3;
    w.script[0].evacuates = true;
    w.n_script = 1;
    world_run(60);
    assert_int_equal(world_state(2), ACTION_EXPIRED);
    assert_int_equal(count("2 expired"), 1);
    assert_int_equal(world_state(3), ACTION_RECOMMENDED);
    assert_int_equal(w.n_redirected, 1);
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_store_broken),
        cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_inventory),
        cmocka_unit_test(test_inventory_restart),
        cmocka_unit_test(test_recommendations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
