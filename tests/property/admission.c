/* Admission control against its definition, from the VM's pool up. And its purpose: a cluster whose VMs
 * were admitted one after the other can guarantee every reservation; with one of the refused VMs it
 * cannot. */
#include "core/divvy/admission.h"
#include "core/pass.h"
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* What is there for x more: the pool gives of its own first, and asks above for the rest. */
static bool may_reserve(const struct admission *ad, int r, uint32_t pool, double x)
{
    double used = ad->used[r][pool == IX_NONE ? ad->snap->n_pools : pool];

    if (pool == IX_NONE)
        return used + x <= ad->capacity[r];
    const struct pool *p = &ad->snap->pools[pool];
    const struct alloc *set = &p->is.alloc[r];
    double own = fmax(set->reservation - used, 0);

    if (used + x > set->limit)
        return false;
    return x <= own || (set->expandable && may_reserve(ad, r, p->parent, x - own));
}

static void check_left(uint64_t seed, const struct admission *ad)
{
    for (int r = 0; r < RES_COUNT; r++) {
        for (uint32_t i = 0; i <= ad->snap->n_pools; i++) {
            uint32_t pool = i < ad->snap->n_pools ? i : IX_NONE;
            double left = admission_left(ad, (enum resource)r, pool, NULL, NULL);
            if ((left > 1 && !may_reserve(ad, r, pool, left - 1e-3)) || may_reserve(ad, r, pool, left + 1e-3))
                fail_msg("seed %llu: %.10g is said to be left in pool %u", (unsigned long long)seed, left, i);
        }
    }
}

static bool promises_too_much(const struct snapshot *s, struct arena *a)
{
    struct policy policy;
    struct plan plan;
    struct err err = {0};

    policy_default(&policy);
    assert_int_equal(pass_run(s, &policy, a, &plan, &err), 0);
    for (uint32_t i = 0; i < plan.n_faults; i++)
        if (plan.faults[i].code == FAULT_POOL_OVERCOMMITTED ||
            (plan.faults[i].code == FAULT_OVERCOMMITTED &&
             plan.faults[i].host == IX_NONE)) /* not of a host */
            return true;
    return false;
}

/* The VMs are let in one after the other, with what each of them reserves; who is refused reserves nothing.
 */
static void check_one_by_one(uint64_t seed, struct snapshot *s, struct arena *a, unsigned *refused)
{
    double *wanted[RES_COUNT];
    struct admission ad;
    struct shortage shortage = {0};
    uint32_t last = IX_NONE;

    for (int r = 0; r < RES_COUNT; r++)
        wanted[r] = arena_array(a, double, s->n_vms);
    for (uint32_t i = 0; i < s->n_vms; i++)
        for (int r = 0; r < RES_COUNT; r++) {
            wanted[r][i] = s->vms[i].is.alloc[r].reservation;
            s->vms[i].is.alloc[r].reservation = 0;
        }
    if (promises_too_much(s, a))
        return; /* the pools by themselves do */
    admission_init(s, a, &ad);
    for (uint32_t i = 0; i < s->n_vms; i++) {
        struct vm_facts *f = &s->vms[i].is;
        if (!vm_takes_part(s, &s->vms[i]))
            continue;
        for (int r = 0; r < RES_COUNT; r++)
            f->alloc[r].reservation = wanted[r][i];
        if (admission_fits(&ad, i, &shortage)) {
            admission_take(&ad, i);
            continue;
        }
        last = shortage.by > 1 ? i : last;
        f->alloc[RES_CPU].reservation = 0;
        f->alloc[RES_MEM].reservation = 0;
    }
    check_left(seed, &ad);
    if (promises_too_much(s, a))
        fail_msg("seed %llu: all were admitted, and there is not enough", (unsigned long long)seed);
    if (last == IX_NONE)
        return;
    for (int r = 0; r < RES_COUNT; r++)
        s->vms[last].is.alloc[r].reservation = wanted[r][last];
    if (!promises_too_much(s, a))
        fail_msg("seed %llu: %s was refused, and there is enough", (unsigned long long)seed,
                 s->vms[last].is.id);
    ++*refused;
}

static void check(uint64_t seed, unsigned *refused)
{
    struct arena a = {0};
    struct rng r = {.state = seed};
    struct snapshot s;
    struct admission ad;

    random_cluster(
        &r, &(struct cluster_options){.hosts_max = 5, .vms_max = 50, .pools_max = 10, .tight = true}, &a, &s);
    admission_init(&s, &a, &ad);
    check_left(seed, &ad);
    check_one_by_one(seed, &s, &a, refused);
    arena_release(&a);
}

static void test_admission(void **state)
{
    unsigned refused = 0;

    (void)state;
    for (unsigned i = 0; i < test_clusters(2000); i++)
        check(test_seed() + i, &refused);
    if (test_is_usual())
        assert_true(refused > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_admission)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
