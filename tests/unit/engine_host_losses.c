/* Hosts that die with their VMs: which losses count, how long a host is distrusted for them, and what ends
 * that. */
#include "engine_world.h"

#define HOUR_S 3600
#define DAY_S (24 * HOUR_S)
#define LOOKS_S 130 /* longer than what is at once */

static const struct host_losses *losses(int host)
{
    const struct snapshot *s = engine_snapshot(W->engine);
    char id[16];

    w_host_id(host, id);
    return &s->hosts[snapshot_find_host(s, id)].is.losses;
}

static bool is_distrusted(int host)
{
    return engine_snapshot(W->engine)->time < losses(host)->distrusted_until;
}

/* Four hosts with four VMs each. */
static void begin(struct world *w)
{
    world_init(w, 4, 16);
    for (int i = 0; i < 16; i++)
        w->vms[i].host = i % 4;
    world_begin_engine();
    world_run(LOOKS_S);
}

static void stop_vms(int host, int n)
{
    for (int i = 0; i < W->n_vms; i++)
        if (W->vms[i].host == host && n-- > 0)
            W->vms[i].off = true;
}

/* It goes with its VMs, and comes back with them. */
static void die(int host)
{
    W->host_state[host] = HOST_DISCONNECTED;
    stop_vms(host, W->n_vms);
    world_run(LOOKS_S);
    W->host_state[host] = HOST_ON;
    for (int i = 0; i < W->n_vms; i++)
        W->vms[i].off = W->vms[i].off && W->vms[i].host != host;
    world_run(LOOKS_S);
}

/* How a host goes, once more after a first loss. */
static const struct {
    const char *name;
    int hosts;      /* that go, from h1 on */
    int apart_s;    /* between them */
    int stopped;    /* VMs of each that stop; those that move are elsewhere before the host goes */
    bool unlisted;  /* it is not listed, rather than disconnected */
    bool restarted; /* those that stop run elsewhere then */
    bool moved;     /* they were moved away before */
    bool booted;    /* those that are left run there again when it is back, from boot on */
    bool counts;
} ways[] = {
    {"all VMs stop", 1, 0, 4, false, false, false, false, true},
    {"neither is listed any more, and they are off when it is back", 1, 0, 4, true, false, false, false,
     true},
    {"all are restarted elsewhere", 1, 0, 4, false, true, false, false, true},
    {"most VMs stop", 1, 0, 3, false, false, false, false, true},
    {"half of them do", 1, 0, 2, false, false, false, false, false},
    {"one of them was shut down", 1, 0, 1, false, false, false, false, false},
    {"the manager lost sight", 1, 0, 0, false, false, false, false, false},
    {"two hosts at once", 2, 0, 4, false, false, false, false, false},
    {"two hosts in two minutes", 2, 60, 4, false, false, false, false, false},
    {"two hosts, one after the other", 2, 600, 4, false, false, false, false, true},
    {"all hosts but one", 3, 0, 4, false, false, false, false, false},
    {"its VMs had been moved away", 1, 0, 4, false, false, true, false, false},
    {"all run there again after a boot", 1, 0, 0, false, false, false, true, true},
    {"it boots empty", 1, 0, 0, false, false, true, true, false},
};

static void leave(int host, size_t way)
{
    W->host_state[host] = HOST_DISCONNECTED;
    W->gone[host] = ways[way].unlisted;
    if (ways[way].moved)
        for (int i = 0; i < W->n_vms; i++)
            W->vms[i].host = W->vms[i].host == host ? 0 : W->vms[i].host;
    stop_vms(host, ways[way].stopped);
    for (int i = 0; i < W->n_vms && ways[way].unlisted; i++)
        W->vms[i].host = W->vms[i].host == host ? -1 : W->vms[i].host;
}

static void test_which_losses_count(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(ways); i++) {
        struct world w;

        print_message("  %s\n", ways[i].name);
        begin(&w);
        for (int h = 1; h <= ways[i].hosts; h++) {
            leave(h, i);
            if (h < ways[i].hosts)
                world_run(ways[i].apart_s);
        }
        world_run(LOOKS_S);
        for (int k = 0; k < w.n_vms && ways[i].restarted; k++) {
            w.vms[k].host = w.vms[k].off ? 0 : w.vms[k].host;
            w.vms[k].off = false;
        }
        world_run(LOOKS_S);
        for (int h = 1; h <= ways[i].hosts; h++) {
            w.host_state[h] = HOST_ON;
            w.booted[h] = ways[i].booted ? w.now - 1 : 1;
            w.gone[h] = false;
            for (int k = 0; k < w.n_vms; k++)
                w.vms[k].host = w.vms[k].host < 0 ? h : w.vms[k].host;
        }
        world_run(LOOKS_S);
        for (int h = 1; h <= ways[i].hosts; h++) {
            assert_int_equal(losses(h)->n, ways[i].counts);
            assert_false(is_distrusted(h)); /* once is no habit */
        }
        assert_int_equal(losses(0)->n, 0);
        world_release();
    }
}

/* Twice as long each time, a week at most, from when it is back. */
static void test_time_doubles(void **state)
{
    struct world w;
    instant_s expected = HOUR_S;

    (void)state;
    begin(&w);
    die(1);
    for (int i = 2; i <= 11; i++) {
        die(1);
        assert_int_equal(losses(1)->n, i);
        assert_in_range(losses(1)->distrusted_until - w.now, expected - LOOKS_S, expected);
        assert_false(is_distrusted(2));
        expected = expected * 2 < 7 * DAY_S ? expected * 2 : 7 * DAY_S;
    }
    assert_int_equal(expected, 7 * DAY_S);
    world_release();
}

static void test_distrust_ends(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    die(1);
    die(1);
    world_run(HOUR_S - 2 * LOOKS_S);
    assert_true(is_distrusted(1));
    world_run(2 * LOOKS_S);
    assert_false(is_distrusted(1));
    die(1); /* within a day: it counts on */
    assert_int_equal(losses(1)->n, 3);
    world_run(2 * HOUR_S + DAY_S + HOUR_S);
    assert_int_equal(losses(1)->n, 0);
    die(1); /* and after a day of trust it is the first */
    assert_int_equal(losses(1)->n, 1);
    assert_false(is_distrusted(1));
    world_release();
}

/* Nothing was lost when it went empty; but it has not been up for as long as it had to. */
static void test_time_begins_anew(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    die(1);
    die(1);
    for (int i = 0; i < w.n_vms; i++)
        w.vms[i].host = w.vms[i].host == 1 ? 0 : w.vms[i].host;
    world_run(HOUR_S - 2 * LOOKS_S);
    die(1);
    assert_int_equal(losses(1)->n, 2);
    assert_in_range(losses(1)->distrusted_until - w.now, HOUR_S - LOOKS_S, HOUR_S);
    world_run(HOUR_S - 2 * LOOKS_S); /* a network that fails is none of its faults */
    instant_s until = losses(1)->distrusted_until;
    w.host_state[1] = w.host_state[2] = HOST_DISCONNECTED;
    world_run(LOOKS_S);
    w.host_state[1] = w.host_state[2] = HOST_ON;
    world_run(LOOKS_S);
    assert_int_equal(losses(1)->distrusted_until, until);
    world_release();
}

static void test_over_a_restart(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    die(1);
    world_restart();
    world_run(LOOKS_S);
    assert_int_equal(losses(1)->n, 1);
    die(1);
    instant_s until = losses(1)->distrusted_until;
    world_restart();
    world_run(LOOKS_S);
    assert_int_equal(losses(1)->n, 2);
    assert_int_equal(losses(1)->distrusted_until, until);
    engine_retry(w.engine, "tester", w.now); /* is for what failed */
    world_run(LOOKS_S);
    assert_int_equal(losses(1)->n, 2);
    assert_int_equal(engine_trust(w.engine, "h1", "tester", w.now, NULL), 0);
    world_restart();
    world_run(LOOKS_S);
    assert_int_equal(losses(1)->n, 0);
    world_release();
}

static void test_trust(void **state)
{
    struct world w;
    struct err err = {0};

    (void)state;
    begin(&w);
    assert_int_equal(engine_trust(w.engine, "h1", "ann", w.now, &err), -EINVAL);
    assert_non_null(strstr(err.text, "no loss of host h1 counts"));
    assert_int_equal(engine_trust(w.engine, "h9", "ann", w.now, &err), -EINVAL);
    assert_non_null(strstr(err.text, "h9"));
    die(1);
    die(1);
    assert_true(is_distrusted(1));
    assert_int_equal(engine_trust(w.engine, "h1", "ann", w.now, &err), 0);
    assert_string_equal(w.last_by, "ann");
    world_run(LOOKS_S);
    assert_false(is_distrusted(1));
    assert_int_equal(losses(1)->n, 0);
    die(1);
    assert_int_equal(losses(1)->n, 1);
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_losses_count), cmocka_unit_test(test_time_doubles),
        cmocka_unit_test(test_distrust_ends),      cmocka_unit_test(test_time_begins_anew),
        cmocka_unit_test(test_over_a_restart),     cmocka_unit_test(test_trust),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
