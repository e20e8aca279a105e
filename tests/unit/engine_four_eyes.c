/* What takes two people begins when two have asked, and not before. */
#include "engine_world.h"

#define WITHIN_S 600
#define ALL_ACTIONS ((1u << four_eyes_action_count) - 1)

static const uint64_t ids[] = {1, 2};

/* vm00 ... vm03 on h0; the script moves vm00 to h1 and vm01 to h2. */
static void begin_moves(struct world *w, unsigned actions)
{
    world_init(w, 4, 4);
    w->settings.policy.automation = AUTOMATION_MANUAL;
    w->settings.four_eyes = actions;
    w->settings.four_eyes_s = WITHIN_S;
    w->hottest = 1.2;
    w->script[0] = (struct world_move){.vm = 0, .to = 1, .priority = 3};
    w->script[1] = (struct world_move){.vm = 1, .to = 2, .priority = 3};
    w->n_script = 2;
    world_begin_engine();
    world_run(3);
}

static int approve_as(const char *person, const uint64_t *list, size_t n, struct err *err)
{
    char by[80];

    (void)snprintf(by, sizeof by, "%.60s (test)", person ? person : "program");
    engine_set_person(W->engine, person);
    int r = engine_approve(W->engine, list, NULL, n, by, W->now, NULL, err);

    engine_set_person(W->engine, NULL);
    return r;
}

static size_t count_first(void)
{
    struct engine_first_request *list;
    struct arena a = {0};
    size_t n = engine_first_requests(W->engine, &a, &list);

    arena_release(&a);
    return n;
}

static void test_two_people(void **state)
{
    struct world w;
    struct err err = {0};

    (void)state;
    begin_moves(&w, 1u << FOUR_EYES_APPROVE);
    assert_int_equal(approve_as("ann", ids, 1, &err), -ENOKEY);
    assert_non_null(strstr(err.text, "to approve recommendation 1 takes two people"));
    assert_non_null(strstr(err.text, "ann (test) is noted as the first"));
    assert_non_null(strstr(err.text, "within 10 min"));
    assert_int_equal(w_count_events("first_request"), 1);
    assert_int_equal(world_state(1), ACTION_RECOMMENDED);
    assert_non_null(strstr(world_action(1)->why, "approved by ann (test), waits for a second person until "));
    world_run(120); /* passes that want the same */
    assert_int_equal(world_state(1), ACTION_RECOMMENDED);
    assert_non_null(world_action(1)->why);
    assert_int_equal(w.n_tasks, 0);
    assert_int_equal(approve_as("bob", ids, 1, NULL), 0);
    assert_int_equal(world_state(1), ACTION_APPROVED);
    assert_string_equal(world_action(1)->approved_by, "ann (test) and bob (test)");
    assert_int_equal(count_first(), 0);
    world_run(30);
    assert_int_equal(world_state(1), ACTION_DONE);
    assert_int_equal(world_state(2), ACTION_RECOMMENDED);
    world_release();
}

/* Who asked first is looked up again when the second agrees. */
static void test_first_has_lost_the_right(void **state)
{
    struct world w;
    struct err err = {0};

    (void)state;
    begin_moves(&w, 1u << FOUR_EYES_APPROVE);
    assert_int_equal(approve_as("ann", ids, 1, &err), -ENOKEY);
    w.lost = "ann (test)";
    assert_int_equal(approve_as("bob", ids, 1, &err), -ENOKEY);
    assert_non_null(strstr(err.text, "bob (test) is noted as the first"));
    assert_int_equal(count_first(), 1);
    assert_int_equal(approve_as("cat", ids, 1, NULL), 0);
    world_run(30);
    assert_int_equal(world_state(1), ACTION_DONE);
    world_release();
}

/* Either of two, or one: what they approved and has not begun does not begin. */
static void test_approver_has_lost_the_right(void **state)
{
    static const char *const lost[] = {"ann (test)", "bob (test)", "cat (test)"};

    (void)state;
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++) {
        struct world w;

        begin_moves(&w, 1u << FOUR_EYES_APPROVE);
        w.settings.policy.migrations_per_cluster = 1;
        engine_configure(W->engine, &w.settings, w.now);
        assert_int_equal(approve_as("cat", ids, 1, NULL), -ENOKEY);
        assert_int_equal(approve_as("cat", &ids[1], 1, NULL), -ENOKEY);
        assert_int_equal(approve_as("bob", ids, 1, NULL), 0);
        assert_int_equal(approve_as("ann", &ids[1], 1, NULL), 0);
        world_run(2);
        assert_int_equal(world_state(2), ACTION_APPROVED);
        w.lost = lost[i];
        world_run(120);
        assert_int_equal(world_state(1), ACTION_DONE); /* it had begun */
        assert_int_equal(world_state(2), i == 1 ? ACTION_DONE : ACTION_CANCELLED);
        if (i != 1) {
            assert_non_null(strstr(world_action(2)->why, "may not any more: the token was revoked"));
            assert_int_equal(world_action(2)->attempts, 0);
        }
        world_release();
    }
}

/* What has begun goes on: a half-made migration would be worse. */
static void test_begun_goes_on(void **state)
{
    struct world w;

    (void)state;
    begin_moves(&w, 0);
    assert_int_equal(approve_as("ann", ids, 1, NULL), 0);
    world_run(2);
    w.lost = "ann (test)";
    world_run(60);
    assert_int_equal(world_state(1), ACTION_DONE);
    world_release();
}

/* However one person asks, it is one person. */
static void test_one_person(void **state)
{
    static const char *const same[] = {"ann", "ANN", "Ann"};
    struct world w;
    struct err err = {0};

    (void)state;
    begin_moves(&w, 1u << FOUR_EYES_APPROVE);
    assert_int_equal(approve_as(NULL, ids, 1, &err), -EPERM);
    assert_non_null(strstr(err.text, "program (test) names no person"));
    assert_int_equal(approve_as("", ids, 1, &err), -EPERM);
    assert_int_equal(count_first(), 0);
    assert_int_equal(approve_as("ann", ids, 2, NULL), -ENOKEY);
    for (size_t i = 0; i < ELEMENTS(same); i++) {
        assert_int_equal(approve_as(same[i], ids, 2, &err), -EALREADY);
        assert_non_null(strstr(err.text, "ann (test) has asked to approve 2 recommendations already"));
    }
    assert_int_equal(engine_pause(w.engine, "ann", w.now, NULL), 0);
    assert_int_equal(approve_as("bob", ids, 1, NULL), -EBUSY);
    assert_int_equal(engine_resume(w.engine, "ann", w.now, NULL), 0);
    assert_int_equal(approve_as("ann", ids, 1, NULL), -EALREADY);
    world_restart();
    world_run(3);
    assert_int_equal(approve_as("ann", ids, 1, NULL), -EALREADY);
    assert_int_equal(approve_as(NULL, ids, 1, NULL), -EPERM);
    assert_int_equal(w.n_tasks, 0);
    /* a name that is too long to tell it from others is none */
    char longer[2 * PERSON_NAME_MAX];

    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_int_equal(approve_as(longer, ids, 1, NULL), -EPERM);
    world_release();
}

static void test_the_first_expires(void **state)
{
    struct world w;

    (void)state;
    begin_moves(&w, 1u << FOUR_EYES_APPROVE);
    assert_int_equal(approve_as("ann", ids, 1, NULL), -ENOKEY);
    world_run(WITHIN_S - 10);
    assert_int_equal(approve_as("ann", ids, 1, NULL), -EALREADY); /* which is no new request */
    world_run(11);
    assert_null(world_action(1)->why);
    assert_int_equal(count_first(), 0);
    assert_int_equal(approve_as("bob", ids, 1, NULL), -ENOKEY);
    assert_int_equal(approve_as("ann", ids, 1, NULL), 0);
    assert_string_equal(world_action(1)->approved_by, "bob (test) and ann (test)");
    world_release();
}

/* An approval is for a destination. */
static void test_another_destination(void **state)
{
    static const uint32_t newer[] = {2};
    struct world w;

    (void)state;
    begin_moves(&w, 1u << FOUR_EYES_APPROVE);
    assert_int_equal(approve_as("ann", ids, 1, NULL), -ENOKEY);
    w.script[0].to = 3;
    world_run(70);
    assert_int_equal(world_action(1)->version, 2);
    assert_null(world_action(1)->why);
    engine_set_person(w.engine, "bob");
    assert_int_equal(engine_approve(w.engine, ids, newer, 1, "bob", w.now, NULL, NULL), -ENOKEY);
    w.script[0].to = 1; /* back: a third version, which no person has read */
    world_run(70);
    assert_int_equal(world_action(1)->version, 3);
    assert_int_equal(count_first(), 0);
    assert_int_equal(w.n_tasks, 0);
    world_release();
}

static void test_any_person_withdraws(void **state)
{
    struct world w;

    (void)state;
    begin_moves(&w, 1u << FOUR_EYES_APPROVE);
    assert_int_equal(approve_as("ann", ids, 1, NULL), -ENOKEY);
    assert_int_equal(engine_reject(w.engine, ids, 1, false, 0, "carl", w.now, NULL, NULL), 0);
    assert_int_equal(count_first(), 0);
    assert_non_null(strstr(world_action(1)->why, "rejected by carl: until "));
    assert_int_equal(approve_as("bob", ids, 1, NULL), -EALREADY);
    assert_int_equal(w.n_tasks, 0);
    world_release();
}

/* Two people whose lists overlap are not in each other's way. */
static void test_lists(void **state)
{
    struct world w;
    struct err err = {0};

    (void)state;
    begin_moves(&w, 1u << FOUR_EYES_APPROVE);
    assert_int_equal(approve_as("ann", &ids[0], 1, NULL), -ENOKEY);
    assert_int_equal(approve_as("bob", &ids[1], 1, NULL), -ENOKEY);
    assert_int_equal(approve_as("bob", ids, 2, &err), -ENOKEY); /* all or nothing */
    assert_non_null(strstr(err.text, "; 1 of them has another person's approval"));
    assert_int_equal(world_state(1), ACTION_RECOMMENDED);
    assert_int_equal(approve_as("ann", ids, 2, NULL), 0);
    assert_int_equal(world_state(1), ACTION_APPROVED);
    assert_int_equal(world_state(2), ACTION_APPROVED);
    assert_int_equal(count_first(), 0);
    world_release();
}

/* The process is killed at any call in which a person asks. What was answered is kept, and one person begins
 * nothing. */
static void test_killed(void **state)
{
    (void)state;
    for (int mode = 0; mode < CRASH_MODES; mode++) {
        for (int at = 1; at < 12; at++) {
            struct world w;

            begin_moves(&w, 1u << FOUR_EYES_APPROVE);
            w.crash_in = at;
            w.crash_before_effect = mode == CRASH_BEFORE_EFFECT;
            int first = approve_as("ann", ids, 1, NULL);
            const bool answered = !w.dead;

            world_restart();
            world_run(3);
            assert_int_equal(w.n_tasks, 0);
            assert_int_equal(world_state(1), ACTION_RECOMMENDED);
            int again = approve_as("ann", ids, 1, NULL);

            if (answered)
                assert_int_equal(first, -ENOKEY);
            assert_int_equal(again, answered ? -EALREADY : again == -EALREADY ? -EALREADY : -ENOKEY);
            w.crash_in = at;
            int second = approve_as("bob", ids, 1, NULL);
            const bool begun = !w.dead;

            world_restart();
            world_run(3);
            if (begun)
                assert_int_equal(second, 0);
            if (begun || world_state(1) != ACTION_RECOMMENDED)
                assert_string_equal(world_action(1)->approved_by, "ann (test) and bob (test)");
            else
                assert_int_equal(approve_as("bob", ids, 1, NULL), 0);
            world_run(60);
            assert_int_equal(world_state(1), ACTION_DONE);
            assert_int_equal(w.starts[0], 1);
            world_release();
        }
    }
}

/* A reload switches the rule off and on. */
static void test_reload(void **state)
{
    struct world w;

    (void)state;
    begin_moves(&w, 1u << FOUR_EYES_APPROVE);
    assert_int_equal(approve_as("ann", ids, 1, NULL), -ENOKEY);
    w.settings.four_eyes = 1u << FOUR_EYES_STANDBY;
    engine_configure(w.engine, &w.settings, w.now);
    assert_null(world_action(1)->why);
    assert_int_equal(approve_as(NULL, &ids[1], 1, NULL), 0);
    assert_string_equal(world_action(2)->approved_by, "program (test)");
    w.settings.four_eyes = 1u << FOUR_EYES_APPROVE;
    engine_configure(w.engine, &w.settings, w.now);
    assert_int_equal(approve_as("bob", ids, 1, NULL), -ENOKEY); /* what was asked before is forgotten */
    w.settings.four_eyes_s = 60;
    engine_configure(w.engine, &w.settings, w.now);
    world_run(61);
    assert_int_equal(approve_as("ann", ids, 1, NULL), -ENOKEY);
    world_release();
}

/* The rule is about people: what the automation level allows needs none. */
static void test_automation(void **state)
{
    struct world w;

    (void)state;
    begin_moves(&w, ALL_ACTIONS);
    w.settings.policy.automation = AUTOMATION_FULL;
    engine_configure(w.engine, &w.settings, w.now);
    world_run(200);
    assert_int_equal(world_state(1), ACTION_DONE);
    assert_string_equal(world_action(1)->approved_by, "engine");
    world_release();
}

/* ---- commands -------------------------------------------------------------------------------- */

enum { STANDBY, WAKE, VERIFY, ENTER, LEAVE, ROLL, STOP, PLACE, MIGRATE };

static int ask(const char *person, int what, const char *host, uint64_t *ret_id)
{
    const struct place_request q = {
        .vms = &host, .n_vms = 1, .migrates = what == MIGRATE, .apply = true, .by = person};
    uint64_t up[WAKE_ACTIONS] = {0};
    int r = -EINVAL;

    *ret_id = 0;
    engine_set_person(W->engine, person);
    switch (what) {
    case STANDBY:
        r = engine_standby(W->engine, host, person, W->now, ret_id, NULL);
        break;
    case WAKE:
    case VERIFY:
        r = engine_wake(W->engine, host, what == VERIFY, person, W->now, up, NULL);
        *ret_id = up[0];
        break;
    case ENTER:
    case LEAVE:
        r = engine_maintenance(W->engine, host, what == ENTER, person, W->now, ret_id, NULL, NULL);
        break;
    case ROLL:
        r = engine_roll_begin(W->engine, &host, 1, 1, person, W->now, NULL);
        break;
    case STOP:
        r = engine_roll_stop(W->engine, NULL, person, W->now, NULL);
        break;
    case PLACE:
    case MIGRATE:
        r = engine_place(W->engine, &q, W->now, ret_id, NULL);
        break;
    }
    engine_set_person(W->engine, NULL);
    return r;
}

static void begin_commands(struct world *w, unsigned actions)
{
    begin_moves(w, actions);
    w->n_script = 0;
    w->settings.policy.dpm.enabled = true;
    w->boot_s = 30;
    engine_configure(w->engine, &w->settings, w->now);
    world_run(70);
}

static void test_commands(void **state)
{
    static const struct {
        int what, undo; /* -1: nothing does */
        const char *of;
    } cases[] = {{STANDBY, WAKE, "h3"}, {VERIFY, -1, "h3"},    {ENTER, LEAVE, "h3"}, {ROLL, STOP, "h3"},
                 {PLACE, -1, "vm03"},   {WAKE, STANDBY, "h2"}, {MIGRATE, -1, "vm00"}};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct world w;
        uint64_t id;

        begin_commands(&w, ALL_ACTIONS);
        w.host_state[2] = HOST_STANDBY;
        w.vms[3].off = true;
        world_run(70);
        if (ask("ann", cases[i].what, cases[i].of, &id) != -ENOKEY)
            fail_msg("case %zu: began with one person", i);
        assert_int_equal(id, 0);
        assert_int_equal(count_first(), 1);
        assert_int_equal(ask("ann", cases[i].what, cases[i].of, &id), -EALREADY);
        world_restart();
        world_run(3);
        assert_int_equal(ask("Ann", cases[i].what, cases[i].of, &id), -EALREADY);
        assert_int_equal(w.n_tasks, 0);
        if (cases[i].undo >= 0) { /* taken back, by either */
            (void)ask("carl", cases[i].undo, cases[i].of, &id);
            assert_int_equal(ask("bob", cases[i].what, cases[i].of, &id), -ENOKEY);
            assert_int_equal(ask("ann", cases[i].what, cases[i].of, &id), 0);
        } else {
            assert_int_equal(ask("bob", cases[i].what, cases[i].of, &id), 0);
        }
        assert_int_equal(count_first(), 0);
        if (cases[i].what == ROLL) {
            struct engine_roll roll;

            assert_true(engine_roll_state(w.engine, &roll));
            assert_string_equal(roll.by, "bob and ann");
        } else if (cases[i].what != PLACE && cases[i].what != MIGRATE) {
            assert_non_null(strstr(world_action(id)->approved_by, " and "));
        }
        world_release();
    }
}

/* Another command does not do what takes two people. */
static void test_no_way_around(void **state)
{
    struct world w;
    uint64_t id;

    (void)state;
    begin_commands(&w, 1u << FOUR_EYES_MAINTENANCE | 1u << FOUR_EYES_STANDBY);
    assert_int_equal(ask("ann", ROLL, "h3", &id), -ENOKEY);
    assert_int_equal(ask("ann", VERIFY, "h3", &id), -ENOKEY);
    assert_int_equal(ask("ann", ENTER, "h3", &id), -ENOKEY);
    assert_int_equal(ask("ann", STANDBY, "h3", &id), -ENOKEY);
    assert_int_equal(ask("bob", ENTER, "h1", &id), -ENOKEY); /* another host is another request */
    assert_int_equal(w.n_tasks, 0);
    assert_int_equal(ask("ann", WAKE, "h1", &id), 0); /* it is on; and waking is not among them */
    assert_int_equal(ask("ann", MIGRATE, "vm00", &id), 0);
    world_release();
    begin_commands(&w, 1u << FOUR_EYES_APPROVE);
    assert_int_equal(ask("ann", MIGRATE, "vm00", &id), -ENOKEY);
    assert_int_equal(ask("ann", PLACE, "vm00", &id), 0); /* it runs: the result says so */
    world_release();
}

/* A person cannot fill the store with requests. */
static void test_too_many(void **state)
{
    struct world w;
    uint64_t ticket;
    int r = -ENOKEY;
    int n = 0;

    (void)state;
    begin_commands(&w, ALL_ACTIONS);
    engine_set_person(w.engine, "ann");
    for (; n < 1000 && r == -ENOKEY; n++) {
        char name[16];
        const char *vm = name;
        const struct place_request q = {.vms = &vm, .n_vms = 1, .apply = true, .by = "ann"};

        (void)snprintf(name, sizeof name, "new-%d", n);
        r = engine_place(w.engine, &q, w.now, &ticket, NULL);
    }
    assert_int_equal(r, -EUSERS);
    assert_int_equal(n, 101);
    assert_int_equal(ask("bob", ENTER, "h3", &ticket), -ENOKEY); /* others have room */
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_people),
        cmocka_unit_test(test_first_has_lost_the_right),
        cmocka_unit_test(test_approver_has_lost_the_right),
        cmocka_unit_test(test_begun_goes_on),
        cmocka_unit_test(test_one_person),
        cmocka_unit_test(test_the_first_expires),
        cmocka_unit_test(test_another_destination),
        cmocka_unit_test(test_any_person_withdraws),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_reload),
        cmocka_unit_test(test_automation),
        cmocka_unit_test(test_commands),
        cmocka_unit_test(test_no_way_around),
        cmocka_unit_test(test_too_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
