/* Another service on the same cluster is known by what it does: it undoes our moves, or does them itself. */
#include "engine_world.h"

#define MOVES 5
#define HOUR_S 3600

static uint32_t faults(void)
{
    return engine_snapshot(W->engine)->source_faults.n;
}

/* vm00, vm01, ... go from h0 to h1. */
static void begin(struct world *w, enum automation level, bool empties)
{
    world_init(w, 3, MOVES + 2);
    w->settings.policy.automation = level;
    w->settings.policy.cool_down_s = 600;
    w->hottest = 1.2;
    for (int i = 0; i < w->n_vms; i++)
        w->vms[i].host = 0;
    for (int i = 0; i < MOVES; i++)
        w->script[i] = (struct world_move){.vm = i, .to = 1, .priority = 3, .evacuates = empties};
    w->n_script = MOVES;
    w->host_state[0] = empties ? HOST_ENTERING_MAINTENANCE : HOST_ON;
    world_begin_engine();
}

static void moved(struct world *w, enum automation level, bool empties)
{
    begin(w, level, empties);
    world_run(5);
    for (uint64_t id = 1; level == AUTOMATION_MANUAL && id <= MOVES; id++)
        assert_int_equal(world_apply(id), 0);
    world_run(200);
    for (int i = 0; i < MOVES; i++)
        assert_int_equal(w->vms[i].host, 1);
    w->n_script = 0;
    w->host_state[0] = HOST_ON;
}

static void others_move(struct world *w, int vm, int to)
{
    w->vms[vm].host = to;
    world_run(70);
}

/* vm04 would go, if anything went by itself. */
static bool acts(struct world *w)
{
    const int before = w->starts[MOVES];

    w->vms[MOVES].host = 0;
    w->script[0] = (struct world_move){.vm = MOVES, .to = 2, .priority = 3};
    w->n_script = 1;
    world_run(700);
    w->n_script = 0;
    return w->starts[MOVES] > before;
}

static void test_undoes_our_moves(void **state)
{
    struct world w;

    (void)state;
    moved(&w, AUTOMATION_FULL, false);
    others_move(&w, 0, 0);
    assert_int_equal(faults(), 0);
    others_move(&w, 1, 0);
    world_run(60);
    assert_int_equal(faults(), 1);
    assert_non_null(strstr(engine_snapshot(w.engine)->source_faults.items[0],
                           "VM vm01 from host h1 to host h0, where this service"));
    assert_false(acts(&w));
    world_restart();
    assert_false(acts(&w));
    assert_int_equal(faults(), 1);
    assert_true(engine_confirm_alone(w.engine));
    assert_false(engine_confirm_alone(w.engine));
    assert_true(acts(&w));
    assert_int_equal(faults(), 0);
    world_restart();
    world_run(70);
    assert_int_equal(faults(), 0);
    world_release();
}

/* It is moved by others before its turn has come here. */
static void test_does_our_moves(void **state)
{
    struct world w;

    (void)state;
    begin(&w, AUTOMATION_FULL, false);
    w.settings.policy.migrations_per_host = 1;
    engine_configure(w.engine, &w.settings, w.now);
    w.tasks_stick = true;
    world_run(30);
    assert_int_equal(w.starts[0], 1);
    assert_int_equal(w.starts[1] + w.starts[2], 0);
    w.vms[4].host = 2; /* not where they were to go */
    others_move(&w, 3, 2);
    assert_int_equal(faults(), 0);
    w.vms[1].host = 1;
    others_move(&w, 2, 1);
    world_run(60);
    assert_int_equal(faults(), 1);
    assert_non_null(
        strstr(engine_snapshot(w.engine)->source_faults.items[0], "as this service was about to"));
    world_release();
}

/* What a person approved, what empties a host, what goes elsewhere, and what brings VMs to a host that has
 * come. */
static void test_is_no_sign(void **state)
{
    static const struct {
        const char *what;
        enum automation level;
        bool empties;
        int to;
        enum host_state from, back_to; /* what their hosts are doing meanwhile */
        instant_s booted;              /* the host that they go to; before now */
    } cases[] = {
        {"a person approved them", AUTOMATION_MANUAL, false, 0, HOST_ON, HOST_ON, 0},
        {"a host was emptied by us", AUTOMATION_FULL, true, 0, HOST_ON, HOST_ON, 0},
        {"they go on to a third host", AUTOMATION_FULL, false, 2, HOST_ON, HOST_ON, 0},
        {"their host is emptied by others", AUTOMATION_FULL, false, 0, HOST_ENTERING_MAINTENANCE, HOST_ON, 0},
        {"they go to a host that is to go", AUTOMATION_FULL, false, 0, HOST_ON, HOST_ENTERING_MAINTENANCE, 0},
        {"", AUTOMATION_FULL, false, 0, HOST_ON, HOST_ON, 3000}, /* these are signs */
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        const bool signs = cases[i].what[0] == '\0';
        struct world w;

        print_message("  %s\n", cases[i].what);
        moved(&w, cases[i].level, cases[i].empties);
        w.booted[0] = cases[i].booted != 0 ? w.now - cases[i].booted : 0;
        w.host_state[1] = cases[i].from;
        w.host_state[0] = cases[i].back_to;
        world_run(70);
        others_move(&w, 0, cases[i].to);
        others_move(&w, 1, cases[i].to);
        world_run(60);
        assert_int_equal(faults(), signs);
        assert_int_equal(engine_confirm_alone(w.engine), signs);
        world_release();
    }
}

/* It comes back out of maintenance, or after it died with its VMs, and others bring VMs to it. */
static void test_a_host_comes_back(void **state)
{
    (void)state;
    for (int died = 0; died <= 1; died++) {
        struct world w;

        moved(&w, AUTOMATION_FULL, false);
        for (int vm = MOVES; vm < w.n_vms; vm++) {
            w.vms[vm].host = died ? 0 : 2;
            w.vms[vm].off = died;
        }
        w.host_state[0] = died ? HOST_DISCONNECTED : HOST_MAINTENANCE;
        world_run(130);
        w.host_state[0] = HOST_ON;
        world_run(130);
        assert_int_equal(engine_snapshot(w.engine)->hosts[0].is.losses.n, died);
        others_move(&w, 0, 0);
        others_move(&w, 1, 0);
        world_run(60);
        assert_int_equal(faults(), 0);
        world_release();
    }
}

/* It died long ago, has just booted, and others are faster than this service to bring VMs to it. */
static void test_a_host_boots_late(void **state)
{
    struct world w;

    (void)state;
    begin(&w, AUTOMATION_FULL, false);
    w.n_script = 0;
    for (int i = 0; i < MOVES; i++)
        w.vms[i].host = 1;
    world_run(130);
    w.vms[MOVES].off = w.vms[MOVES + 1].off = true;
    w.host_state[0] = HOST_DISCONNECTED;
    world_run(2 * HOUR_S);
    w.host_state[0] = HOST_ON;
    w.booted[0] = w.now - 60;
    world_run(130);
    w.settings.policy.migrations_per_host = 1;
    engine_configure(w.engine, &w.settings, w.now);
    w.tasks_stick = true;
    for (int i = 0; i < MOVES; i++)
        w.script[w.n_script++] = (struct world_move){.vm = i, .to = 0, .priority = 3};
    world_run(70);
    assert_int_equal(w.starts[0], 1);
    for (int i = 1; i < 3; i++) {
        assert_int_equal(w.starts[i], 0);
        others_move(&w, i, 0);
    }
    world_run(60);
    assert_int_equal(faults(), 0);
    world_release();
}

/* A host is emptied to put it to standby, which is taken back, and others bring its VMs back. */
static void test_consolidates(void **state)
{
    struct world w;

    (void)state;
    world_init_standby(&w);
    w.vms[1].host = 2;
    w.script[2] = (struct world_move){.vm = 1, .to = 1, .priority = 3, .group = 1, .empties = true};
    w.script[3] = (struct world_move){.kind = ACTION_POWER_OFF, .to = 2, .priority = 3, .group = 1};
    w.n_script = 4;
    w.settings.policy.migrations_per_host = 1;
    world_begin_engine();
    for (int i = 0; i < 200 && (world_state(1) != ACTION_DONE || world_state(2) != ACTION_DONE); i++)
        world_second();
    const uint64_t down = 4;

    assert_int_equal(world_action(down)->kind, ACTION_POWER_OFF);
    assert_int_equal(world_state(down), ACTION_APPROVED);
    w.n_script = 0;
    assert_int_equal(engine_reject(w.engine, &down, 1, false, 0, "tester", w.now, NULL, NULL), 0);
    world_run(130);
    for (int vm = 2; vm < 4; vm++) {
        assert_int_equal(world_state((uint64_t)vm - 1), ACTION_DONE);
        assert_int_equal(world_action((uint64_t)vm - 1)->reason, REASON_CONSOLIDATE);
        others_move(&w, vm, 2);
    }
    world_run(60);
    assert_int_equal(faults(), 0);
    world_release();
}

/* A person moves many at once; and the second sign must come within an hour of the first. */
static void test_how_often(void **state)
{
    struct world w;

    (void)state;
    begin(&w, AUTOMATION_FULL, false);
    w.n_script = 2;
    world_run(200);
    w.n_script = 0;
    w.vms[0].host = w.vms[1].host = 0;
    world_run(HOUR_S - 200);
    assert_int_equal(faults(), 0);
    for (int i = 2; i < MOVES; i++)
        w.script[w.n_script++] = (struct world_move){.vm = i, .to = 1, .priority = 3};
    world_run(200);
    assert_int_equal(w.vms[2].host, 1);
    w.n_script = 0;
    world_run(120);
    others_move(&w, 2, 0); /* the second sign, an hour after the first */
    assert_int_equal(faults(), 0);
    others_move(&w, 3, 0); /* the third, soon after the second */
    world_run(60);
    assert_int_equal(faults(), 1);
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_undoes_our_moves),  cmocka_unit_test(test_does_our_moves),
        cmocka_unit_test(test_is_no_sign),        cmocka_unit_test(test_a_host_comes_back),
        cmocka_unit_test(test_a_host_boots_late), cmocka_unit_test(test_consolidates),
        cmocka_unit_test(test_how_often),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
