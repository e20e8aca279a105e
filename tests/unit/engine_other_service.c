/* Another service on the same cluster is known by what it does: it undoes our moves, or does them itself. */
#include "engine_world.h"

#define MOVES 4
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
    w.vms[1].host = w.vms[2].host = 1;
    world_run(130);
    assert_int_equal(faults(), 1);
    assert_non_null(
        strstr(engine_snapshot(w.engine)->source_faults.items[0], "as this service was about to"));
    world_release();
}

/* What a person approved, what empties a host, what goes elsewhere, what is long ago, and what happens once.
 */
static void test_is_no_sign(void **state)
{
    static const struct {
        const char *what;
        enum automation level;
        bool empties;
        int to, waits_s;
        bool maintenance;
    } cases[] = {
        {"a person approved them", AUTOMATION_MANUAL, false, 0, 0, false},
        {"a host was emptied by us", AUTOMATION_FULL, true, 0, 0, false},
        {"they go on to a third host", AUTOMATION_FULL, false, 2, 0, false},
        {"they are an hour apart", AUTOMATION_FULL, false, 0, HOUR_S + 120, false},
        {"their host is emptied by others", AUTOMATION_FULL, false, 0, 0, true},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct world w;

        print_message("  %s\n", cases[i].what);
        moved(&w, cases[i].level, cases[i].empties);
        if (cases[i].maintenance)
            w.host_state[1] = HOST_ENTERING_MAINTENANCE;
        others_move(&w, 0, cases[i].to);
        world_run(cases[i].waits_s);
        others_move(&w, 1, cases[i].to);
        world_run(60);
        assert_int_equal(faults(), 0);
        assert_false(engine_confirm_alone(w.engine));
        world_release();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_undoes_our_moves),
        cmocka_unit_test(test_does_our_moves),
        cmocka_unit_test(test_is_no_sign),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
