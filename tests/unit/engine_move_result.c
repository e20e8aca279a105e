/* What a move was expected to do to its hosts, and what they showed ten minutes after it. */
#include "engine_world.h"

#include "engine/actions/move_result.h"

#include <math.h>

#define NEAR 1e-9

/* Eight VMs at 500 MHz on h0; vm00 goes to h1, where nothing runs. */
static void move_one(struct world *w)
{
    world_init(w, 4, 8);
    w->settings.policy.automation = AUTOMATION_FULL;
    w->hottest = 1.2;
    w->script[0] = (struct world_move){.vm = 0, .to = 1, .priority = 3};
    w->n_script = 1;
    world_begin_engine();
    world_run(40);
    assert_int_equal(world_state(1), ACTION_DONE);
}

static const struct move_result *result(uint64_t id)
{
    return &world_action(id)->result;
}

static double capacity(int host)
{
    const struct snapshot *s = engine_snapshot(W->engine);
    char id[16];

    w_host_id(host, id);
    return s->hosts[snapshot_find_host(s, id)].capacity[RES_CPU];
}

static void set_demand(double mhz)
{
    for (int i = 0; i < W->n_vms; i++)
        W->vms[i].cpu = mhz;
}

static void test_observed_after_ten_minutes(void **state)
{
    struct world w;

    (void)state;
    move_one(&w);
    assert_true(fabs(result(1)->predicted[MOVE_FROM][RES_CPU] - 7 * 500 / capacity(0)) < NEAR);
    assert_true(fabs(result(1)->predicted[MOVE_TO][RES_CPU] - 500 / capacity(1)) < NEAR);
    assert_int_equal(result(1)->observed_at, 0);
    world_run(500);
    assert_int_equal(result(1)->observed_at, 0);
    world_run(200);
    assert_true(result(1)->observed_at >= world_action(1)->ended + 600);
    assert_true(move_result_agrees(result(1)));
    assert_false(result(1)->overlaps);
    assert_true(result(1)->duration_s > 0 && result(1)->duration_s < 40);
    world_release();
}

/* The whole action takes longer than copying: what the first one takes more is expected of the second. */
static void test_whole_action(void **state)
{
    struct world w;

    (void)state;
    move_one(&w);
    assert_true(isnan(move_result_predicted_action_s(world_action(1))));
    const double took_s = move_result_action_s(world_action(1));
    const double overhead_s = took_s - result(1)->duration_s;

    assert_true(took_s >= result(1)->duration_s && overhead_s > 0);
    world_restart(); /* it is learned from the stored action */
    w.script[0].vm = 1;
    world_run(400);
    assert_int_equal(world_state(2), ACTION_DONE);
    assert_true(fabs(result(2)->overhead_s - overhead_s) < NEAR);
    assert_true(fabs(move_result_predicted_action_s(world_action(2)) - world_action(2)->duration_s -
                     overhead_s) < NEAR);
    world_restart();
    assert_true(fabs(result(2)->overhead_s - overhead_s) < NEAR);
    world_release();
}

/* What was predicted and when it ended are stored, so that the next process observes. */
static void test_over_a_restart(void **state)
{
    struct world w;

    (void)state;
    move_one(&w);
    double predicted = result(1)->predicted[MOVE_FROM][RES_CPU];

    set_demand(700); /* 40 % more than was predicted */
    world_run(120);
    world_restart();
    world_run(700);
    assert_true(fabs(result(1)->predicted[MOVE_FROM][RES_CPU] - predicted) < NEAR);
    assert_true(result(1)->observed_at > 0);
    assert_true(fabs(result(1)->observed[MOVE_FROM][RES_CPU] - 7 * 700 / capacity(0)) < NEAR);
    assert_false(move_result_agrees(result(1)));
    world_release();
}

/* Nothing is said of ten minutes after a move by what was seen an hour after it. */
static void test_down_meanwhile(void **state)
{
    struct world w;

    (void)state;
    move_one(&w);
    w.now += 1800;
    world_restart();
    world_run(300);
    assert_true(result(1)->predicted_at > 0);
    assert_int_equal(result(1)->observed_at, 0);
    world_release();
}

static void test_overlapping(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, 4, 8);
    w.settings.policy.automation = AUTOMATION_FULL;
    w.hottest = 1.2;
    w.script[0] = (struct world_move){.vm = 0, .to = 1, .priority = 3};
    w.script[1] = (struct world_move){.vm = 1, .to = 2, .priority = 3}; /* off the same host */
    w.n_script = 2;
    world_begin_engine();
    world_run(800);
    for (uint64_t id = 1; id <= 2; id++) {
        assert_int_equal(world_state(id), ACTION_DONE);
        assert_true(result(id)->observed_at > 0);
        assert_true(result(id)->overlaps);
        /* both moves were approved when the first one began */
        assert_true(fabs(result(id)->predicted[MOVE_FROM][RES_CPU] - 6 * 500 / capacity(0)) < NEAR);
        assert_true(fabs(result(id)->predicted[MOVE_TO][RES_CPU] - 500 / capacity((int)id)) < NEAR);
        assert_true(move_result_agrees(result(id)));
    }
    world_release();
}

/* A person moves another VM to the destination. */
static void test_moved_by_others(void **state)
{
    struct world w;

    (void)state;
    move_one(&w);
    world_run(120);
    w.vms[5].host = 1;
    world_run(600);
    assert_true(result(1)->observed_at > 0);
    assert_true(result(1)->overlaps);
    world_release();
}

static void test_judgement(void **state)
{
    static const struct {
        double predicted, observed;
        bool agrees;
    } cases[] = {
        {0.50, 0.59, true}, {0.50, 0.61, false},   {0.50, 0.41, true},  {0.50, 0.39, false},
        {0, 0.009, true},   {0, 0.011, false},     {0.02, 0.029, true}, {0.02, 0.031, false},
        {1.2, 1.43, true},  {1.2, UNKNOWN, false},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        for (int at = 0; at < MOVE_HOSTS * RES_COUNT; at++) { /* any one of the four loads decides */
            struct move_result r = {0};

            r.predicted[at / RES_COUNT][at % RES_COUNT] = cases[i].predicted;
            r.observed[at / RES_COUNT][at % RES_COUNT] = cases[i].observed;
            assert_true(move_result_agrees(&r) == cases[i].agrees);
        }
    }
    assert_true(move_result_duration_agrees(&(struct move_result){.duration_s = 11.9}, 10));
    assert_false(move_result_duration_agrees(&(struct move_result){.duration_s = 12.1}, 10));
    assert_false(move_result_duration_agrees(&(struct move_result){.duration_s = UNKNOWN}, 10));
    assert_true(fabs(move_result_shortage(1.25) - 0.25) < NEAR && move_result_shortage(0.9) < NEAR);
}

/* The pause for optional moves that stands in the newest snapshot; NULL: none. */
static const struct avoid *pause_of(const struct world *w)
{
    const struct snapshot *s = engine_snapshot(w->engine);

    for (uint32_t i = 0; i < s->n_avoid; i++)
        if (s->avoid[i].vm == IX_NONE && s->avoid[i].host == IX_NONE)
            return &s->avoid[i];
    return NULL;
}

/* Two VMs go to h1 for balance, and want so much there that it is short of CPU, while h0 would have room for
 * either. */
static void move_two_to_harm(struct world *w, unsigned priority, double mhz)
{
    world_init(w, 4, 8);
    w->settings.policy.automation = AUTOMATION_FULL;
    w->settings.policy.avoid.cluster_failures = 2;
    w->hottest = 1.2;
    w->script[0] = (struct world_move){.vm = 0, .to = 1, .priority = priority};
    w->script[1] = (struct world_move){.vm = 1, .to = 1, .priority = priority};
    w->n_script = 2;
    world_begin_engine();
    world_run(60);
    assert_int_equal(world_state(2), ACTION_DONE);
    w->vms[0].cpu = w->vms[1].cpu = mhz;
    w->n_script = 0;
    world_run(800);
}

static void test_harm_pauses(void **state)
{
    struct world w;

    (void)state;
    move_two_to_harm(&w, 3, 6000);
    for (uint64_t id = 1; id <= 2; id++) {
        double short_by = 2 * 6000 / capacity(1) - 1; /* h0 had room for it: all of that is harm */

        assert_true(fabs(result(id)->harm - short_by) < NEAR);
        assert_true(move_result_harmed(result(id)));
    }
    assert_non_null(pause_of(&w));
    assert_int_equal(pause_of(&w)->failures, 0);
    assert_non_null(strstr(pause_of(&w)->reason, "2 of the last 20 optional moves did harm"));
    w.script[0] = (struct world_move){.vm = 2, .to = 2, .priority = 3};
    w.script[1] = (struct world_move){.vm = 3, .to = 3, .priority = 1};
    w.n_script = 2;
    world_run(300);
    assert_int_equal(w.vms[2].host, 0); /* optional */
    assert_int_equal(w.vms[3].host, 3); /* mandatory */
    world_restart();
    world_run(10);
    assert_non_null(pause_of(&w));
    engine_retry(w.engine, "tester", w.now);
    world_run(400);
    assert_null(pause_of(&w));
    assert_int_equal(w.vms[2].host, 2);
    world_release();
}

/* All moves pause, but not those that empty a host. */
static void test_mandatory_harm_pauses(void **state)
{
    struct world w;

    (void)state;
    move_two_to_harm(&w, 1, 6000);
    assert_non_null(pause_of(&w));
    assert_true(pause_of(&w)->mandatory);
    assert_non_null(strstr(pause_of(&w)->reason, "2 of the last 20 mandatory moves did harm"));
    w.script[0] = (struct world_move){.vm = 2, .to = 2, .priority = 1};
    w.script[1] = (struct world_move){.vm = 3, .to = 3, .priority = 1, .evacuates = true};
    w.n_script = 2;
    w.host_state[0] = HOST_ENTERING_MAINTENANCE;
    world_run(300);
    assert_int_equal(w.vms[2].host, 0);
    assert_int_equal(w.vms[3].host, 3);
    engine_retry(w.engine, "tester", w.now);
    world_run(400);
    assert_int_equal(w.vms[2].host, 2);
    world_release();
}

/* Hosts that have all they want were not harmed, whatever they want. */
static void test_no_harm(void **state)
{
    struct world w;

    (void)state;
    move_two_to_harm(&w, 3, 4000);
    assert_true(fabs(result(1)->harm) < NEAR);
    assert_null(pause_of(&w));
    world_release();
}

/* By its figures the host has room, but the VM lacks more than before; a host that is full explains it. */
static void test_figures_are_wrong(void **state)
{
    struct move_result m = {.vm_lack = {0.05, 0.3}, .observed = {{0.5, 0.5}, {0.7, 0.5}}};

    (void)state;
    assert_true(move_result_harmed(&m));
    m.vm_lack[0] = 0.25;
    assert_false(move_result_harmed(&m));
    m = (struct move_result){.vm_lack = {0.05, 0.3}, .observed = {{0.5, 0.5}, {1.1, 0.5}}};
    assert_false(move_result_harmed(&m));
    m.vm_lack[1] = m.harm = UNKNOWN;
    assert_false(move_result_harmed(&m));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_observed_after_ten_minutes),
        cmocka_unit_test(test_whole_action),
        cmocka_unit_test(test_over_a_restart),
        cmocka_unit_test(test_down_meanwhile),
        cmocka_unit_test(test_overlapping),
        cmocka_unit_test(test_moved_by_others),
        cmocka_unit_test(test_judgement),
        cmocka_unit_test(test_harm_pauses),
        cmocka_unit_test(test_mandatory_harm_pauses),
        cmocka_unit_test(test_no_harm),
        cmocka_unit_test(test_figures_are_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
