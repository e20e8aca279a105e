/* The clock of a host's load beyond a level of a pipeline's balance. */
#include "engine/knowledge/load_clock.h"

#include "model/snapshot_build.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MINUTE 60

struct world {
    void *piece;
    struct arena a;
    instant_s now;
    struct pipeline_balance balance;
    bool on;
    double over_s; /* the source's own; UNKNOWN */
};

/* A look at a host of 10,000 MHz whose VM demands so much; over_s of it. */
static double look(struct world *w, double mhz)
{
    struct inventory inv = {.cluster = "c", .time = w->now += MINUTE, .schedule.power_off = true};
    const struct knowledge_context c = {.inventory = &inv};
    struct stage_facts *stage = arena_new(&w->a, struct stage_facts);
    struct seen_host *h = inventory_add_host(&inv, &w->a);
    struct seen_vm *v = inventory_add_vm(&inv, &w->a);
    struct seen_pipeline *p = inventory_add_pipeline(&inv, &w->a);
    struct snapshot snap;
    struct err err;

    h->is.id = "h";
    h->is.state = w->on ? HOST_ON : HOST_MAINTENANCE;
    h->is.total[RES_CPU] = 10000;
    h->is.total[RES_MEM] = 65536;
    h->is.cores = 10;
    h->is.over_s = w->over_s;
    v->is.vcpus = 10;
    v->is.mem_mb = 1024;
    vm_facts_default(&v->is);
    v->is.id = "v";
    v->is.state = w->on ? VM_ON : VM_OFF;
    v->host = "h";
    v->is.demand[RES_CPU] = w->on ? mhz : 0;
    v->is.consumed_mb = v->is.demand[RES_MEM] = w->on ? 1024 : 0;
    vm_facts_windows(&v->is);
    *stage = (struct stage_facts){.name = "s", .needs_given = true};
    *p = (struct seen_pipeline){.name = "p", .stages = {stage, 1}, .balance = w->balance};
    if (snapshot_build(&inv, &w->a, &snap, &err) < 0)
        fail_msg("%s", err.text);
    load_clock_ops.observe(w->piece, &c, &snap, &w->a);
    return snap.hosts[0].is.over_s;
}

static struct world begin(void)
{
    return (struct world){
        .piece = knowledge_piece_new(&load_clock_ops),
        .now = 1000000,
        .on = true,
        .over_s = UNKNOWN,
        .balance = {.given = true, .high = 80, .low = 20, .high_given = true, .low_given = true}};
}

static void end(struct world *w)
{
    assert_false(knowledge_piece_is_dirty(&load_clock_ops, w->piece)); /* nothing is stored */
    knowledge_piece_free(&load_clock_ops, w->piece);
    arena_release(&w->a);
}

static void test_runs_while_beyond(void **state)
{
    struct world w = begin();

    (void)state;
    assert_true(isnan(look(&w, 5000)));
    assert_float_equal(look(&w, 8000), 0, 0);
    assert_float_equal(look(&w, 9000), MINUTE, 0);
    assert_float_equal(look(&w, 2000), 2 * MINUTE, 0); /* from the one to the other it goes on */
    assert_true(isnan(look(&w, 2001)));                /* 21 %, rounded up */
    assert_float_equal(look(&w, 7901), 0, 0);          /* 80 %, likewise: it begins anew */
    assert_true(isnan(look(&w, 7900)));
    end(&w);
}

static void test_only_where_levels_are(void **state)
{
    struct world w = begin();

    (void)state;
    w.balance.low_given = false;
    assert_true(isnan(look(&w, 0)));
    assert_float_equal(look(&w, 9000), 0, 0);
    w.balance.high_given = false;
    assert_true(isnan(look(&w, 9000)));
    w.balance.high_given = true;
    assert_float_equal(look(&w, 9000), 0, 0); /* what nobody asked for was not watched */
    w.on = false;
    assert_true(isnan(look(&w, 9000)));
    w.on = true;
    assert_float_equal(look(&w, 9000), 0, 0);
    w.over_s = 500;
    assert_float_equal(look(&w, 9000), 500, 0); /* the source's own stands */
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_while_beyond),
        cmocka_unit_test(test_only_where_levels_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
