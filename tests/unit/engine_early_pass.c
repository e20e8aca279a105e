/* Passes that run before the interval ends, because a host has become short of a resource. */
#include "engine_world.h"

/* Looks every ten seconds, a pass every ten minutes. h1 and h2 have 10,000 each, and vm00 and vm01 want 500.
 */
static void begin(struct world *w)
{
    world_init(w, 2, 2);
    w->settings.policy.interval_s = 600;
    w->settings.look_s = 10;
    w->vms[1].host = 1;
    world_begin_engine();
    world_run(30);
    assert_int_equal(w->passes, 1);
}

static const struct {
    const char *what;
    double cpu, limit, mem;
    bool off, leaves; /* the VM; its host */
    int passes;
} cases[] = {
    {"it wants all that there is", .cpu = 10000, .mem = 500, .passes = 1},
    {"CPU is short", .cpu = 10001, .mem = 500, .passes = 2},
    {"memory is short", .cpu = 500, .mem = 10001, .passes = 2},
    {"it could not be given more anyway", .cpu = 30000, .limit = 9000, .mem = 500, .passes = 1},
    {"it is limited, and short all the same", .cpu = 30000, .limit = 10001, .mem = 500, .passes = 2},
    {"it is off", .cpu = 30000, .mem = 500, .off = true, .passes = 1},
    {"its host is being emptied anyway", .cpu = 30000, .mem = 500, .leaves = true, .passes = 1},
};

static void test_what_is_short(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct world w;

        print_message("  %s\n", cases[i].what);
        begin(&w);
        w.vms[0].cpu = cases[i].cpu;
        w.vms[0].cpu_limit = cases[i].limit;
        w.vms[0].mem = cases[i].mem;
        w.vms[0].off = cases[i].off;
        if (cases[i].leaves)
            w.host_state[0] = HOST_ENTERING_MAINTENANCE;
        world_run(60);
        assert_int_equal(w.passes, cases[i].passes);
        world_release();
    }
}

/* One that stays short is no news, and restless demand does not make a pass of every look: after a pass that
 * came early the next one comes an interval later. */
static void test_not_at_every_look(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    w.vms[0].cpu = 20000;
    world_run(20);
    assert_int_equal(w.passes, 2);
    for (int i = 0; i < 10; i++) { /* now the one, now the other */
        w.vms[i % 2].cpu = 500;
        w.vms[1 - i % 2].cpu = 20000;
        world_run(50);
    }
    assert_int_equal(w.passes, 2);
    world_run(100);
    assert_int_equal(w.passes, 3);
    world_release();
}

/* Nor does one that has been short since the last pass that was due; when it had enough then, it is news
 * again. */
static void test_news_again(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    w.vms[0].cpu = 20000;
    world_run(20 + 600);
    assert_int_equal(w.passes, 3);
    world_run(400); /* short all the time */
    assert_int_equal(w.passes, 3);
    w.vms[0].cpu = 500;
    world_run(250);
    assert_int_equal(w.passes, 4);
    w.vms[0].cpu = 20000;
    world_run(20);
    assert_int_equal(w.passes, 5);
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_short),
        cmocka_unit_test(test_not_at_every_look),
        cmocka_unit_test(test_news_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
