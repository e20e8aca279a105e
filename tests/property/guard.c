/* Figures that are missing, old or impossible: no plan moves such a VM for balance, and with more than a
 * tenth of such VMs a plan has mandatory moves only. Judged here from the snapshot alone. */
#include "core/pass.h"
#include "oracle.h"
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static bool is_bad(const struct snapshot *s, const struct policy *policy, const struct vm *v)
{
    const struct host *h = &s->hosts[v->host];
    double old_s = fmax(3 * (double)policy->interval_s, 300);

    return v->is.demand_unknown || v->is.sample_age_s > old_s ||
           v->is.demand[RES_CPU] > 1.01 * v->is.vcpus * h->is.total[RES_CPU] / h->is.cores ||
           v->is.demand[RES_MEM] > 1.01 * (v->is.mem_mb + v->is.overhead_mb);
}

static bool names(const struct plan *plan, enum fault_code code, uint32_t vm)
{
    for (uint32_t i = 0; i < plan->n_faults; i++)
        if (plan->faults[i].code == code && plan->faults[i].vm == vm)
            return true;
    return false;
}

static void check(uint64_t seed, unsigned *distrusted, unsigned *balanced)
{
    struct arena a = {0};
    struct rng r = {.state = seed};
    struct snapshot s;
    struct policy policy;
    struct plan plan;
    struct err err = {0};
    uint32_t n = 0;
    uint32_t bad = 0;

    random_cluster(&r,
                   &(struct cluster_options){
                       .hosts_max = 8, .vms_max = 60, .mixed_hosts = true, .rules = true, .evacuate = true},
                   &a, &s);
    random_policy(&r, &policy);
    policy.cost_benefit = false;
    assert_int_equal(pass_run(&s, &policy, &a, &plan, &err), 0);
    for (uint32_t i = 0; i < s.n_vms; i++) {
        if (!vm_takes_part(&s, &s.vms[i]))
            continue;
        bool mine = is_bad(&s, &policy, &s.vms[i]);
        n++;
        bad += mine;
        if (mine != (names(&plan, FAULT_SAMPLE_BAD, i) || names(&plan, FAULT_DEMAND_UNKNOWN, i)))
            fail_msg("seed %llu: the figures of %s are %s", (unsigned long long)seed, s.vms[i].is.id,
                     mine ? "bad, and nothing is said" : "good, and a fault says they are not");
    }
    if (names(&plan, FAULT_SAMPLES_BAD, IX_NONE) != (10 * bad > n))
        fail_msg("seed %llu: %u of %u are bad", (unsigned long long)seed, bad, n);
    for (uint32_t i = 0; i < plan.n_recommendations; i++) {
        const struct recommendation *rec = &plan.recommendations[i];
        bool for_balance = oracle_is_balancing(rec);
        if (for_balance && is_bad(&s, &policy, &s.vms[rec->vm]))
            fail_msg("seed %llu: %s is moved for balance", (unsigned long long)seed, s.vms[rec->vm].is.id);
        if (rec->priority > 1 && 10 * bad > n)
            fail_msg("seed %llu: %u of %u are bad, and %s is moved with priority %u",
                     (unsigned long long)seed, bad, n, s.vms[rec->vm].is.id, rec->priority);
        *balanced += for_balance;
    }
    *distrusted += 10 * bad > n;
    arena_release(&a);
}

static void test_guard(void **state)
{
    unsigned distrusted = 0;
    unsigned balanced = 0;

    (void)state;
    for (unsigned i = 0; i < test_clusters(2000); i++)
        check(test_seed() + i, &distrusted, &balanced);
    if (test_is_usual())
        assert_true(distrusted > 100 && balanced > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_guard)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
