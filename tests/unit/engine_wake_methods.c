/* Proofs of single methods: which one woke a host, and what ends its proof. */
#include "engine_world.h"

#include <math.h>

/* h2 and h3 sleep. The pass wants h2 on; or h3, when h2 cannot be counted on. */
static void begin(struct world *w)
{
    world_init(w, 4, 4);
    w->settings.policy.automation = AUTOMATION_FULL;
    w->settings.policy.dpm.enabled = true;
    w->settings.policy.dpm.automation = AUTOMATION_AUTOMATIC;
    w->settings.policy.interval_s = 600; /* so that a pass in between is seen */
    w->boot_s = 40;
    w->imbalance = 0;
    w->host_state[2] = w->host_state[3] = HOST_STANDBY;
    w->script[0] = (struct world_move){.kind = ACTION_POWER_ON, .to = 2, .priority = 1};
    w->script[1] = (struct world_move){.kind = ACTION_POWER_ON, .to = 3, .priority = 1, .otherwise = true};
    w->n_script = 2;
    world_begin_engine();
}

static const struct host_facts *fact(int host)
{
    char id[16];

    w_host_id(host, id);
    const struct snapshot *s = engine_snapshot(W->engine);

    return &s->hosts[snapshot_find_host(s, id)].is;
}

#define BOTH (WAKE_IPMI | WAKE_WOL)

/* h2 is woken by methods of its own; the source says nothing of proofs. */
static void begin_methods(struct world *w, struct host_power_method *way)
{
    begin(w);
    w->unproven = true;
    *way = (struct host_power_method){
        .name = "h2", .wakes = BOTH, .sleeps = WAKE_IPMI, .settings = {5, 6, 7, 1}, .tries_s = 100};
    w->settings.ways = way;
    w->settings.n_ways = 1;
    engine_configure(w->engine, &w->settings, w->now);
}

static void wake_h2(struct world *w)
{
    const instant_s until = w->now + 600;

    while (w->host_state[2] != HOST_ON && w->now < until)
        world_second();
    assert_int_equal(w->host_state[2], HOST_ON);
    w->n_script = 0;
    world_run(70);
}

static struct engine_method_proof proof_of(unsigned method)
{
    struct engine_method_proof all[WAKE_METHODS];
    const size_t n = engine_method_proofs(W->engine, "h2", all);

    for (size_t i = 0; i < n; i++) {
        if (all[i].method == method)
            return all[i];
    }
    fail();
    return all[0];
}

/* A proof is of one method with its settings, before and after a restart. */
static void test_proof_is_of_a_method(void **state)
{
    static const struct {
        unsigned ways;
        uint64_t ipmi;
        bool is_proven;
    } later[] = {
        {BOTH, 5, true},  {WAKE_WOL, 5, false}, {BOTH | WAKE_REDFISH, 5, true}, {WAKE_IPMI, 5, true},
        {BOTH, 8, false}, {BOTH, 9, false},     {WAKE_IPMI, 5, true},
    };
    struct host_power_method way;
    struct world w;

    (void)state;
    begin_methods(&w, &way);
    w.may_have_woken = WAKE_IPMI;
    wake_h2(&w);
    for (size_t i = 0; i < ELEMENTS(later); i++) {
        way.wakes = later[i].ways;
        way.settings[0] = later[i].ipmi;
        if (i % 2 == 0)
            engine_configure(w.engine, &w.settings, w.now);
        else
            world_restart();
        world_run(70);
        assert_int_equal(fact(2)->wake_verified, later[i].is_proven);
        if (way.wakes & WAKE_IPMI)
            assert_int_equal(proof_of(WAKE_IPMI).is, later[i].is_proven ? METHOD_PROVEN : METHOD_EXPIRED);
        if (way.wakes & WAKE_WOL)
            assert_int_equal(proof_of(WAKE_WOL).is, METHOD_NEVER);
        /* the last of n methods has its turn after n - 1 shares of the time limit: three boots, or a minute,
         * and the tries */
        const int n_ways = __builtin_popcount(way.wakes);
        const int limit = (int)fmax(3 * fact(2)->boot_s, 60) + 100;

        if (n_ways == 1)
            assert_true(isnan(fact(2)->wake_tries_s));
        else
            assert_int_equal(fact(2)->wake_tries_s, limit - limit / n_ways);
    }
    world_release();
}

/* Where several can have done it, or none is known to have, the wake proves none. */
static void test_proves_none(void **state)
{
    static const unsigned sets[] = {0, BOTH, WAKE_IPMI | WAKE_HYPERVISOR};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(sets); i++) {
        struct host_power_method way;
        struct world w;

        begin_methods(&w, &way);
        w.may_have_woken = sets[i];
        wake_h2(&w);
        assert_false(fact(2)->wake_verified);
        assert_true(fact(2)->wake_failed_last == 0 && w_count_events("wake_failed") == 0);
        world_release();
    }
}

/* IPMI refuses, and Wake-on-LAN does it: that is kept with the wake and is a fault until IPMI works again,
 * has other settings, or answers. */
static void test_a_method_fails_on_the_way(void **state)
{
    static const int codes[] = {-EACCES, -EPERM};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(codes); i++) {
        struct host_power_method way;
        struct world w;

        begin_methods(&w, &way);
        w.may_have_woken = WAKE_WOL;
        w.method_failed = WAKE_IPMI;
        w.method_code = codes[i];
        wake_h2(&w);
        assert_int_equal(world_state(1), ACTION_DONE);
        assert_string_equal(w.actions[0].why, "the method failed");
        assert_int_equal(proof_of(WAKE_IPMI).is, METHOD_FAILED);
        assert_string_equal(proof_of(WAKE_IPMI).why, "the method failed");
        assert_int_equal(proof_of(WAKE_WOL).is, METHOD_PROVEN);
        assert_true(fact(2)->wake_verified);
        assert_non_null(strstr(fact(2)->power_fault, "ipmi did not wake host h2"));
        world_restart();
        world_run(70);
        assert_int_equal(proof_of(WAKE_IPMI).is, METHOD_FAILED);
        assert_non_null(fact(2)->power_fault);
        if (i == 0) { /* its controller takes the login again */
            w.controllers = true;
            world_restart();
            world_run(70);
            assert_int_equal(proof_of(WAKE_IPMI).is, METHOD_NEVER);
        } else {
            way.settings[0] = 8;
            engine_configure(w.engine, &w.settings, w.now);
            world_run(70);
            assert_int_equal(proof_of(WAKE_IPMI).is, METHOD_NEVER);
        }
        assert_null(fact(2)->power_fault);
        world_release();
    }
}

/* A test of one method. Its host comes by another one: it is not lost, and the test has failed. */
static void test_one_method(void **state)
{
    static const struct {
        unsigned woken_by;
        enum action_state ends;
    } cases[] = {{WAKE_IPMI, ACTION_DONE}, {WAKE_WOL, ACTION_FAILED}, {BOTH, ACTION_FAILED}};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        uint64_t ids[WAKE_ACTIONS];
        struct host_power_method way;
        struct err err = {0};
        struct world w;

        begin_methods(&w, &way);
        w.n_script = 0;
        world_run(70);
        assert_int_equal(engine_test_wake_method(w.engine, "h2", WAKE_REDFISH, "tester", w.now, ids, &err),
                         -EINVAL);
        assert_non_null(strstr(err.text, "expected one of: ipmi, wol"));
        w.may_have_woken = cases[i].woken_by;
        assert_int_equal(engine_test_wake_method(w.engine, "h2", WAKE_IPMI, "tester", w.now, ids, &err), 0);
        world_restart(); /* the method is stored with the action */
        wake_h2(&w);
        assert_int_equal(w.method, WAKE_IPMI);
        assert_int_equal(world_state(ids[0]), cases[i].ends);
        assert_int_equal(proof_of(WAKE_IPMI).is,
                         cases[i].woken_by == WAKE_IPMI ? METHOD_PROVEN : METHOD_NEVER);
        assert_int_equal(proof_of(WAKE_WOL).is, cases[i].woken_by == WAKE_WOL ? METHOD_PROVEN : METHOD_NEVER);
        assert_int_equal(w_count_events("wake_failed"), 0);
        assert_true(fact(2)->wake_failed_last == 0 && fact(2)->wake_failed_at == 0);
        world_release();
    }
}

/* A store of an older version: a host was proven as a whole. */
static void test_older_proofs(void **state)
{
    static const struct {
        unsigned had, has;
        bool entry, is_proven;
    } cases[] = {
        {WAKE_IPMI, BOTH, true, true}, {BOTH, BOTH, true, false},         {0, WAKE_IPMI, true, true},
        {0, BOTH, true, false},        {WAKE_HYPERVISOR, 0, false, true}, {0, 0, false, true},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct host_power_method way;
        struct world w;

        begin_methods(&w, &way);
        w.n_script = 0;
        way.wakes = cases[i].has;
        w.settings.n_ways = cases[i].entry ? 1 : 0;
        w.n_known = 1;
        w.known[0] = (struct host_record){.host = "h2",
                                          .seen = WORLD_START,
                                          .woke = 1000,
                                          .woke_by = WOKE_BY_OLDER | cases[i].had,
                                          .boot_s = UNKNOWN};
        w.n_events = 0;
        world_restart();
        world_run(70);
        assert_int_equal(fact(2)->wake_verified, cases[i].is_proven);
        assert_int_equal(w_count_events("fault"), cases[i].is_proven ? 0 : 1);
        world_restart(); /* told once */
        world_run(70);
        assert_int_equal(fact(2)->wake_verified, cases[i].is_proven);
        assert_int_equal(w_count_events("fault"), cases[i].is_proven ? 0 : 1);
        world_release();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_proof_is_of_a_method),
        cmocka_unit_test(test_proves_none),
        cmocka_unit_test(test_a_method_fails_on_the_way),
        cmocka_unit_test(test_one_method),
        cmocka_unit_test(test_older_proofs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
