/* Samples that are missing, old or impossible: the engine marks the VM and never refuses the inventory;
 * and the demand that such a VM counts with. */
#include "unit.h"

#include "engine/actions/action.h"
#include "engine/knowledge/vm_demand.h"
#include "engine/observation.h"
#include "engine/persist.h"
#include "engine/source_poll.h"
#include "engine/state.h"

#include <string.h>

#define NOW 1767225600

/* ---- a store that counts what is kept ---- */

struct store {
    size_t kept;
};

static int s_begin(struct store *s, struct err *err)
{
    (void)s, (void)err;
    return 0;
}

static int s_put(struct store *s, const struct record *record, struct err *err)
{
    (void)err;
    s->kept += record->kind == RECORD_SAMPLE;
    return 0;
}

static const struct store_ops s_ops = {.begin = s_begin, .commit = s_begin, .put = s_put};

struct bench {
    struct store store;
    struct engine e;
    struct source_poll poll;
    struct persist persist;
    struct actions actions;
    struct collected seen;
    struct observation *built;
};

static void bench_init(struct bench *b)
{
    *b = (struct bench){.e = {.cluster = (char *)"c"}};
    policy_default(&b->e.settings.policy);
    b->e.port.store_ops = &s_ops;
    b->e.port.store = &b->store;
    b->e.poll = &b->poll;
    b->e.persist = &b->persist;
    b->e.actions = &b->actions;
    b->e.knowledge = knowledge_new();
    knowledge_configure(b->e.knowledge, &b->e.settings);
}

static void bench_release(struct bench *b)
{
    observation_unref(b->built);
    knowledge_free(b->e.knowledge);
    action_queue_release(&b->actions);
    slot_usage_release(&b->actions);
}

/* A host of 8 cores of 2 GHz, and VMs of two vCPUs and 4 GiB that use 1 GHz and 2 GiB. */
static struct seen_vm *some_vms(struct bench *b, unsigned n)
{
    struct arena *a = &b->seen.arena;
    struct seen_host *h = inventory_add_host(&b->seen.inventory, a);

    h->is.id = "h";
    h->is.total[RES_CPU] = 16000;
    h->is.total[RES_MEM] = 65536;
    h->is.cores = 8;
    for (unsigned i = 0; i < n; i++) {
        struct seen_vm *v = inventory_add_vm(&b->seen.inventory, a);
        v->is.vcpus = 2;
        v->is.mem_mb = 4096;
        vm_facts_default(&v->is);
        v->is.id = arena_printf(a, "v%u", i);
        v->host = "h";
        v->is.consumed_mb = 2048;
        v->sample = (struct vm_sample){.present = true,
                                       .interval_ms = UNKNOWN,
                                       .cpu_used_mhz = 1000,
                                       .cpu_run_ms = UNKNOWN,
                                       .cpu_sleep_ms = UNKNOWN,
                                       .cpu_ready_ms = UNKNOWN,
                                       .core_mhz = 2000,
                                       .mem_active_mb = UNKNOWN,
                                       .mem_guest_used_mb = UNKNOWN,
                                       .mem_consumed_mb = 2048,
                                       .mem_overhead_mb = UNKNOWN};
    }
    return b->seen.inventory.vms;
}

static const struct vm_facts *gathered(struct bench *b, instant_s now)
{
    struct err err = {0};

    observation_unref(b->built);
    b->built = NULL;
    if (observation_build(&b->e, &b->seen, 1, now, &b->built, &err) < 0)
        fail_msg("refused: %s", err.text);
    return &b->built->snap.vms[0].is;
}

static void test_impossible(void **state)
{
    static const struct {
        size_t offset;
        double value;
        const char *said;
    } cases[] = {
        {offsetof(struct vm_sample, cpu_used_mhz), -5, "its CPU use is given as -5 MHz"},
        {offsetof(struct vm_sample, cpu_used_mhz), INFINITY, "its CPU use is given as inf MHz"},
        {offsetof(struct vm_sample, cpu_ready_ms), -1,
         "the time that it waited for a core is given as -1 ms"},
        {offsetof(struct vm_sample, mem_active_mb), -2048, "its memory in use is given as -2048 MiB"},
        {offsetof(struct vm_sample, mem_consumed_mb), 1e15, "the memory that backs it is given as 1e+15 MiB"},
        {offsetof(struct vm_sample, cpu_used_mhz), 1000, NULL},
        {offsetof(struct vm_sample, cpu_used_mhz), 99000, NULL}, /* for the pass to see */
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct bench b;
        bench_init(&b);
        struct seen_vm *v = some_vms(&b, 1);
        memcpy((char *)&v->sample + cases[i].offset, &cases[i].value, sizeof(double));
        v->is.consumed_mb = v->sample.mem_consumed_mb; /* as a collector hands it on */
        const struct vm_facts *f = gathered(&b, NOW);
        const char *said = f->sample_bad;
        if (!said != !cases[i].said || (said && strcmp(said, cases[i].said) != 0))
            fail_msg("case %zu: \"%s\"", i, said ? said : "nothing");
        assert_int_equal(b.store.kept, cases[i].value == 1000);
        bench_release(&b);
    }
}

/* What was known a minute ago is what it counts with, and goes on to be. */
static void test_last_known(void **state)
{
    static const struct {
        bool missing;
        double used;
    } cases[] = {{true, UNKNOWN}, {false, -1}};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct bench b;
        bench_init(&b);
        some_vms(&b, 1);
        assert_true(gathered(&b, NOW)->demand[RES_CPU] == 1000);
        for (int minute = 1; minute <= 2; minute++) {
            some_vms(&b, 1)->sample.cpu_used_mhz = cases[i].used;
            const struct vm_facts *f = gathered(&b, NOW + 60 * minute);
            assert_true(f->demand_unknown == cases[i].missing && !f->sample_bad == cases[i].missing);
            assert_true(f->demand[RES_CPU] == 1000 && f->demand[RES_MEM] == 2048);
            assert_true(f->window[WINDOW_5M][RES_CPU].max == 1000);
        }
        assert_int_equal(b.store.kept, 1); /* it is no measurement */
        some_vms(&b, 1)->sample.cpu_used_mhz = cases[i].used;
        assert_true(gathered(&b, NOW + 2 * DEMAND_HISTORY_LENGTH_S)->demand[RES_CPU] == 0); /* too long ago */
        bench_release(&b);
    }
}

/* Against the newest sample of all: the peer's clock may be wrong. */
static void test_age(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b);
    struct seen_vm *v = some_vms(&b, 3);
    v[0].sample.measured = 1000000;
    v[1].sample.measured = 1000000 - 3600;
    const struct vm_facts *f = gathered(&b, NOW);
    assert_true(f->sample_age_s == 0);
    assert_true(b.built->snap.vms[1].is.sample_age_s == 3600);
    assert_true(isnan(b.built->snap.vms[2].is.sample_age_s)); /* it said nothing */
    assert_int_equal(b.store.kept, 2);
    bench_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_impossible),
        cmocka_unit_test(test_last_known),
        cmocka_unit_test(test_age),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
