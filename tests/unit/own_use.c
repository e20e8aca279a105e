/* What a host uses itself: learned only where it and its VMs were measured over the same time. */
#include "unit.h"

#include "base/xalloc.h"
#include "engine/knowledge/own_use.h"
#include "model/snapshot_build.h"

#include <ballast/policy.h>
#include <ballast/snapshot.h>

#include <math.h>
#include <stdlib.h>

#define MINUTE 60

struct world {
    struct arena a;
    void *piece;
    instant_s now;
    double free_mb, cpu_mhz; /* of the host h0 */
    int n_vms;
    bool copies, unknown;
};

/* What the look's snapshot says of h0. */
static struct own_use look(struct world *w)
{
    struct inventory inv = {.cluster = "c", .time = w->now += MINUTE};
    struct engine_settings settings = {0};
    struct knowledge_context c = {.settings = &settings, .inventory = &inv, .look_period_s = MINUTE};
    struct snapshot snap;
    struct err err = {0};

    policy_default(&settings.policy);
    for (int i = 0; i < 2; i++) {
        struct seen_host *h = inventory_add_host(&inv, &w->a);
        h->is.id = i == 0 ? "h0" : "h1";
        h->is.state = HOST_ON;
        h->is.total[RES_CPU] = 20000;
        h->is.total[RES_MEM] = 65536;
        h->is.cores = 8;
        h->is.mem_free_mb = i == 0 ? w->free_mb : UNKNOWN;
        h->cpu_used_mhz = i == 0 ? w->cpu_mhz : UNKNOWN;
    }
    for (int i = 0; i < w->n_vms; i++) {
        struct seen_vm *v = inventory_add_vm(&inv, &w->a);
        v->is.id = arena_printf(&w->a, "v%d", i);
        v->is.vcpus = 2;
        v->is.mem_mb = 8192;
        vm_facts_default(&v->is);
        v->is.id = arena_printf(&w->a, "v%d", i);
        v->host = "h0";
        v->is.consumed_mb = v->is.demand[RES_MEM] = 4096;
        v->is.demand[RES_CPU] = 1000;
        v->is.demand_unknown = w->unknown;
        v->sample = (struct vm_sample){.present = true, .cpu_used_mhz = 1000};
        vm_facts_windows(&v->is);
    }
    if (w->copies) {
        struct seen_migration *m = inventory_add_migration(&inv, &w->a);
        *m = (struct seen_migration){.vm = "v0", .from = "h0", .to = "h1"};
    }
    own_use_ops.fill(w->piece, &c, &inv, &w->a);
    if (snapshot_build(&inv, &w->a, &snap, &err) < 0)
        fail_msg("%s", err.text);
    own_use_ops.observe(w->piece, &c, &snap, &w->a);
    assert_true(inv.hosts[1].is.own.given && inv.hosts[1].is.own.at == 0);
    return inv.hosts[0].is.own;
}

static void begin(struct world *w)
{
    *w = (struct world){.piece = own_use_ops.create(),
                        .now = 1000000,
                        .free_mb = 65536 - 2 * 4096 - 9000,
                        .cpu_mhz = 5000,
                        .n_vms = 2};
    assert_true(look(w).at == 0); /* nothing is known yet */
    assert_true(look(w).at == 0); /* the first look teaches nothing: it is not known since when the VMs run */
    assert_true(look(w).at == 0); /* nor does one alone */
    struct own_use own = look(w);
    assert_true(own.given && own.at == w->now - MINUTE);
    assert_float_equal(own.now[RES_CPU], 3000, 1e-6);
    assert_float_equal(own.now[RES_MEM], 9000, 1e-6);
}

static void end(struct world *w)
{
    own_use_ops.release(w->piece);
    arena_release(&w->a);
}

static void test_windows(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    for (int i = 0; i < 10; i++)
        (void)look(&w);
    w.cpu_mhz = 12000; /* the VMs' samples of this look say nothing */
    (void)look(&w);
    w.cpu_mhz = 9000; /* a burst of the host's own */
    (void)look(&w);
    (void)look(&w);
    w.cpu_mhz = 5000;
    (void)look(&w);
    struct own_use own = look(&w);
    assert_float_equal(own.now[RES_CPU], 3000, 1e-6);
    assert_float_equal(own.window[WINDOW_60M][RES_CPU].max, 7000, 1e-6);
    assert_true(own.window[WINDOW_60M][RES_CPU].mean > 3000 && own.window[WINDOW_60M][RES_CPU].stddev > 0);
    end(&w);
}

/* Each change is of what VMs use; none may be taken for the host's own. */
static void test_last_value_stands(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    w.copies = true;
    w.free_mb -= 4096;
    for (int i = 0; i < 3; i++)
        (void)look(&w);
    w.copies = false;
    w.n_vms = 1; /* v1 was powered off, and its memory is not given back yet */
    (void)look(&w);
    assert_float_equal(look(&w).now[RES_MEM], 9000, 1e-6);
    w.unknown = true;
    for (int i = 0; i < 3; i++)
        (void)look(&w);
    struct own_use own = look(&w);
    assert_true(own.at < w.now - 3 * MINUTE);
    end(&w);
}

static int put(struct store *s, const struct record *record, struct err *err)
{
    struct stored *kept = (void *)s;
    static struct sample_record samples[32];

    (void)err;
    assert_int_equal(record->kind, RECORD_SAMPLE);
    kept->samples = samples;
    samples[kept->n_samples] = *record->sample;
    samples[kept->n_samples++].vm = xstrdup(record->sample->vm);
    return 0;
}

/* The last value stands after a restart too, with its time and what the hour had of it. */
static void test_restart(void **state)
{
    static const struct store_ops ops = {.put = put};
    struct stored kept = {0};
    struct world w;
    struct err err = {0};

    (void)state;
    begin(&w);
    for (int i = 0; i < 6; i++) {
        w.cpu_mhz = i == 2 ? 9000 : 5000 + i;
        (void)look(&w);
        if (knowledge_piece_is_dirty(&own_use_ops, w.piece))
            assert_int_equal(knowledge_piece_persist(&own_use_ops, w.piece, &ops, (void *)&kept, &err), 0);
        knowledge_piece_stored(&own_use_ops, w.piece);
        assert_false(knowledge_piece_is_dirty(&own_use_ops, w.piece));
    }
    const instant_s learned = w.now;
    const size_t n = kept.n_samples;
    own_use_ops.release(w.piece);
    w.piece = own_use_ops.create();
    own_use_ops.recall(w.piece, &kept, w.now);
    w.now += 600;
    w.cpu_mhz = 19000; /* whose is not known: the VMs may have come meanwhile */
    struct own_use own = look(&w);
    assert_true(own.given && own.at == learned);
    assert_float_equal(own.now[RES_CPU], 3004, 1e-6);
    assert_float_equal(own.window[WINDOW_60M][RES_CPU].max, 3004, 1e-6);
    assert_float_equal(look(&w).now[RES_CPU], 3004, 1e-6);
    for (size_t i = 0; i < n; i++)
        free((void *)(uintptr_t)kept.samples[i].vm);
    end(&w);
}

static void test_never_below_zero(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    w.cpu_mhz = 100;
    w.free_mb = 65000;
    (void)look(&w);
    (void)look(&w);
    struct own_use own = look(&w);
    assert_true(own.now[RES_CPU] == 0 && own.now[RES_MEM] == 0);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows), cmocka_unit_test(test_last_value_stands),
        cmocka_unit_test(test_restart), cmocka_unit_test(test_never_below_zero)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
