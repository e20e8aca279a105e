/* The data guard: which figures it accepts, the fault for each rejected one, and the demand that such a VM
 * counts with. */
#include "unit.h"

#include "core/demand/demand.h"
#include "core/demand/sample_guard.h"
#include "render/wording/wording.h"
#include "small_cluster.h"

#include <string.h>

/* One VM of 2 vCPUs and 4 GiB on a host of four cores of 2 GHz. */
struct guard_case {
    const char *what;
    double cpu, mem, consumed, overhead, age_s;
    int64_t interval_s;
    const char *marked; /* by the source */
    const char *found;  /* NULL: nothing */
};

static const struct guard_case guard_cases[] = {
    {"all is well", 1000, 2048, 2048, 0, UNKNOWN, 300, NULL, NULL},
    {"all that it has", 4000, 4096, 4096, 0, UNKNOWN, 300, NULL, NULL},
    {"rounded up", 4030, 4100, 4100, 0, UNKNOWN, 300, NULL, NULL},
    {"too much CPU", 4100, 2048, 2048, 0, UNKNOWN, 300, NULL,
     "the reported CPU demand is 4100 MHz, but its 2 vCPUs can use at most 4000 MHz on h1"},
    {"too much memory", 1000, 4300, 2048, 0, UNKNOWN, 300, NULL,
     "the reported memory demand is 4300 MiB, but the VM has 4096 MiB"},
    {"the hypervisor's own for it counts", 1000, 4300, 4300, 256, UNKNOWN, 300, NULL, NULL},
    {"consumes too much", 1000, 2048, 9000, 0, UNKNOWN, 300, NULL,
     "the reported memory consumption is 9000 MiB, but the VM has 4096 MiB"},
    {"three intervals old", 1000, 2048, 2048, 0, 900, 300, NULL, NULL},
    {"older", 1000, 2048, 2048, 0, 960, 300, NULL, "the measurements are 16 min old"},
    {"five minutes are not old at any interval", 1000, 2048, 2048, 0, 300, 20, NULL, NULL},
    {"six are", 1000, 2048, 2048, 0, 360, 20, NULL, "the measurements are 6 min old"},
    {"so at a long interval", 1000, 2048, 2048, 0, 3600, 1800, NULL, NULL},
    {"marked by its source", 0, 2048, 2048, 0, UNKNOWN, 300, "its CPU use is given as -5 MHz",
     "its CPU use is given as -5 MHz"},
};

static void one_vm(struct small *s, const struct guard_case *c)
{
    small_init(s);
    s->policy.interval_s = c->interval_s;
    small_host(s, "h1", 8000, 16384)->is.cores = 4;
    struct seen_vm *v = small_vm(s, "v1", "h1", c->cpu, 4096);
    v->is.vcpus = 2;
    v->is.demand[RES_MEM] = c->mem;
    v->is.consumed_mb = c->consumed;
    v->is.overhead_mb = c->overhead;
    v->is.sample_age_s = c->age_s;
    v->is.sample_bad = c->marked;
    small_build(s);
}

static void test_what_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(guard_cases); i++) {
        const struct guard_case *c = &guard_cases[i];
        struct small s;
        struct guard g;
        one_vm(&s, c);
        struct finding f;
        const char *found =
            sample_guard_find(&s.snap, &s.policy, 0, &f) ? wording_text(&s.snap, &f, &s.a) : NULL;
        if (!found != !c->found || (found && strcmp(found, c->found) != 0))
            fail_msg("%s: \"%s\"", c->what, found ? found : "nothing");
        sample_guard_judge(&s.snap, &s.policy, &s.a, &g);
        assert_int_equal(g.n, 1);
        assert_int_equal(g.n_bad, c->found != NULL);
        if ((g.snap == &s.snap) != !c->found)
            fail_msg("%s: the snapshot is used as it is, or not", c->what);
        small_release(&s);
    }
}

/* Never with garbage: all of its figures are within what it could use, and nobody else's are touched. */
static void test_what_it_counts_with(void **state)
{
    struct small s;
    struct guard g;
    double demand[2];

    (void)state;
    small_init(&s);
    small_host(&s, "h1", 8000, 65536)->is.cores = 4;
    struct seen_vm *bad = small_vm(&s, "v1", "h1", 1e6, 4096);
    bad->is.demand[RES_MEM] = 1e6;
    bad->is.consumed_mb = 1e6;
    bad->is.overhead_mb = 100;
    small_vm(&s, "v2", "h1", 500, 4096);
    small_build(&s);
    sample_guard_judge(&s.snap, &s.policy, &s.a, &g);
    const struct vm_facts *f = &g.snap->vms[0].is;
    assert_true(f->demand[RES_CPU] == 2000 && f->demand[RES_MEM] == 4196 && f->consumed_mb == 4196);
    for (int w = 0; w < WINDOW_COUNT; w++)
        assert_true(f->window[w][RES_CPU].max == 2000 && f->window[w][RES_MEM].mean == 4196);
    assert_null(g.snap->vms[1].is.sample_bad);
    assert_true(g.snap->vms[1].is.demand[RES_CPU] == 500);
    assert_true(s.snap.vms[0].is.demand[RES_CPU] == 1e6); /* the snapshot stays as it is */
    demand_estimate(&s.snap, RES_CPU, demand);
    assert_true(demand[0] == 2000 && demand[1] == 500);
    small_release(&s);
}

/* Its figures may be of the host that it comes from. */
static void test_in_flight(void **state)
{
    struct small s;

    (void)state;
    small_init(&s);
    small_host(&s, "fast", 3000, 16384);
    small_host(&s, "slow", 1500, 16384);
    small_vm(&s, "v1", "slow", 2900, 1024);
    small_migration(&s, "v1", "fast", "slow");
    small_vm(&s, "v2", "slow", 2900, 1024);
    small_build(&s);
    struct finding f;
    assert_false(sample_guard_find(&s.snap, &s.policy, 0, &f));
    assert_true(sample_guard_find(&s.snap, &s.policy, 1, &f));
    small_release(&s);
}

/* More than a tenth; VMs that are off, or of hosts that are not seen, do not count. */
static void test_too_many(void **state)
{
    static const struct {
        uint32_t vms, bad, off;
        bool distrusts;
    } cases[] = {{20, 0, 0, false}, {20, 2, 0, false}, {20, 3, 0, true}, {10, 1, 0, false},
                 {9, 1, 0, true},   {1, 1, 0, true},   {9, 1, 5, true},  {0, 0, 3, false}};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct small s;
        struct guard g;
        small_init(&s);
        small_host(&s, "h1", 10000, 65536);
        for (uint32_t k = 0; k < cases[i].vms; k++) {
            struct seen_vm *v = small_vm(&s, arena_printf(&s.a, "v%02u", k), "h1", 100, 512);
            v->is.demand_unknown = k < cases[i].bad && k % 2 == 0;
            v->is.demand[RES_CPU] = k < cases[i].bad && k % 2 == 1 ? 1e6 : 100;
        }
        for (uint32_t k = 0; k < cases[i].off; k++) {
            struct seen_vm *v = small_vm(&s, arena_printf(&s.a, "z%02u", k), "h1", 0, 512);
            v->is.state = VM_OFF;
            v->is.demand[RES_MEM] = 0;
        }
        small_build(&s);
        sample_guard_judge(&s.snap, &s.policy, &s.a, &g);
        if (sample_guard_distrusts(&g) != cases[i].distrusts || g.n != cases[i].vms ||
            g.n_bad != cases[i].bad)
            fail_msg("case %zu: %u of %u", i, g.n_bad, g.n);
        small_release(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_found),
        cmocka_unit_test(test_what_it_counts_with),
        cmocka_unit_test(test_in_flight),
        cmocka_unit_test(test_too_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
