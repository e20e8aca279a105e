/* Cost and benefit: the expected shortfall against an integral, the migration model against its rounds,
 * and the bound by which the climb skips a unit against every single move of that unit. */
#include "core/costbenefit/migration_cost.h"
#include "core/costbenefit/shortfall.h"
#include "core/pass.h"
#include "core/plan/pass_state.h"
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/* ---- the expected shortfall ---- */

#define STEPS 2000
#define FAR 10.0 /* standard deviations; beyond, nothing is left to integrate */

/* ∫ (x - C)+ φ((x - mean) / σ) dx / σ, by Simpson's rule. */
static double integrated(double mean, double stddev, double capacity)
{
    double from = fmax(-FAR, (capacity - mean) / stddev);
    double step = (FAR - from) / STEPS;
    double sum = 0;

    if (from >= FAR)
        return 0;
    for (int i = 0; i <= STEPS; i++) {
        double z = from + i * step;
        double f = (mean + z * stddev - capacity) * exp(-z * z / 2) / sqrt(2 * acos(-1.0));
        sum += f * (i == 0 || i == STEPS ? 1 : i % 2 == 1 ? 4 : 2);
    }
    return sum * step / 3;
}

static void test_shortfall(void **state)
{
    (void)state;
    for (unsigned i = 0; i < test_clusters(2000); i++) {
        uint64_t seed = test_seed() + i;
        struct rng r = {.state = seed};
        double capacity = rng_range(&r, 100, 100000);
        double mean = capacity * rng_range(&r, 0, 2);
        double stddev = capacity * (rng_unit(&r) < 0.5 ? rng_range(&r, 0.001, 0.1) : rng_range(&r, 0.1, 2));
        double got = shortfall_expected(mean, stddev, capacity);
        double exact = integrated(mean, stddev, capacity);
        if (!(fabs(got - exact) <= 1e-6 * stddev))
            fail_msg("seed %llu: mean %.10g, σ %.10g, capacity %.10g: %.12g, expected %.12g",
                     (unsigned long long)seed, mean, stddev, capacity, got, exact);
        if (shortfall_expected(mean, stddev, capacity * 1.01) > got + 1e-6 * stddev ||
            shortfall_expected(mean * 1.01, stddev, capacity) < got - 1e-6 * stddev ||
            shortfall_expected(mean, stddev * 1.01, capacity) < got - 1e-6 * stddev)
            fail_msg("seed %llu: more demand or less capacity makes less of a shortfall",
                     (unsigned long long)seed);
    }
}

/* ---- the migration model ---- */

static void test_migration(void **state)
{
    (void)state;
    for (unsigned i = 0; i < test_clusters(5000); i++) {
        uint64_t seed = test_seed() + i;
        struct rng r = {.state = seed};
        double mem = rng_unit(&r) < 0.05 ? 0 : rng_range(&r, 1, 262144);
        double rate = rng_range(&r, 10, 5000);
        double dirty = rng_unit(&r) < 0.1 ? UNKNOWN : rate * rng_range(&r, 0, 1.3);
        struct migration_model m;
        struct migration_model slower;

        migration_model(mem, dirty, rate, &m);
        migration_model(mem, dirty, rate * 0.9, &slower);
        if (m.converges && dirty >= rate)
            fail_msg("seed %llu: converges, though more is dirtied than copied", (unsigned long long)seed);
        if (!isnan(dirty) && dirty < 0.5 * rate && !m.converges)
            fail_msg("seed %llu: half the rate does not converge", (unsigned long long)seed);
        if (m.downtime_s > 0.3 + 1e-12)
            fail_msg("seed %llu: down for %.10g s, 0.3 s are allowed", (unsigned long long)seed,
                     m.downtime_s);
        if (m.copied_mb < mem || m.duration_s < mem / rate - 1e-9)
            fail_msg("seed %llu: %.10g MiB copied of %.10g", (unsigned long long)seed, m.copied_mb, mem);
        /* what was sent took as long as it takes to send it, and at the end the guest stood still at most 0.3
         * s */
        if (fabs(m.duration_s - m.copied_mb / rate) > 0.3 + 1e-6)
            fail_msg("seed %llu: %.10g s for %.10g MiB", (unsigned long long)seed, m.duration_s, m.copied_mb);
        if (m.converges == slower.converges && slower.duration_s < m.duration_s - 0.3 - 1e-9)
            fail_msg("seed %llu: faster at a lower rate", (unsigned long long)seed);
    }
}

/* ---- the model backwards ---- */

/* What a migration taught gives the same migration again. Where more than one answer does, any will do. */
static void test_backwards(void **state)
{
    (void)state;
    for (unsigned i = 0; i < test_clusters(5000); i++) {
        uint64_t seed = test_seed() + i;
        struct rng r = {.state = seed};
        double mem = rng_range(&r, 256, 262144);
        double rate = rng_range(&r, 10, 5000);
        double dirty = rng_unit(&r) < 0.1 ? UNKNOWN : rate * rng_range(&r, 0, 0.75);
        struct migration_model m;
        struct migration_model again;

        migration_model(mem, dirty, rate, &m);
        double found = migration_rate_of(mem, dirty, m.duration_s);
        migration_model(mem, dirty, found, &again);
        /* where one round more or less is needed, the downtime jumps by what is allowed of it */
        if (fabs(again.duration_s - m.duration_s) > 0.3 + 1e-6 * m.duration_s)
            fail_msg("seed %llu: %.10g s at %.10g MiB/s, and %.10g s at the rate found, %.10g",
                     (unsigned long long)seed, m.duration_s, rate, again.duration_s, found);
        if (isnan(dirty))
            continue;
        found = migration_dirty_of(mem, rate, m.duration_s);
        migration_model(mem, found, rate, &again);
        if (fabs(again.duration_s - m.duration_s) > 0.3 + 1e-6 * m.duration_s || found < 0 || found > rate)
            fail_msg("seed %llu: %.10g s with %.10g MiB/s dirtied, and %.10g s with those found, %.10g",
                     (unsigned long long)seed, m.duration_s, dirty, again.duration_s, found);
    }
}

/* ---- rates ---- */

/* As the header says it, pair by pair. */
static double expected_rate(const struct pass *p, uint32_t from_slot, uint32_t to_slot)
{
    const struct snapshot *s = p->snap;
    uint32_t from = p->layout.slot_host[from_slot];
    uint32_t to = p->layout.slot_host[to_slot];
    double rate[2] = {s->hosts[from].is.migration_rate_mb_s, s->hosts[to].is.migration_rate_mb_s};

    for (uint32_t i = 0; i < s->n_migration_rates; i++)
        if (s->migration_rates[i].from == from && s->migration_rates[i].to == to)
            return s->migration_rates[i].rate_mb_s;
    for (int i = 0; i < 2; i++)
        rate[i] = isnan(rate[i]) ? p->policy.migration_rate_mb_s : rate[i];
    return rate[0] < rate[1] ? rate[0] : rate[1];
}

static void check_rates(uint64_t seed, const struct pass *p)
{
    const struct rates *r = &p->migration_cost.rates;

    for (uint32_t from = 0; from < p->layout.n_slots; from++)
        for (uint32_t to = 0; to < p->layout.n_on; to++) {
            double rate = rates_between(r, from, to);
            if (from == to)
                continue;
            if (rate != expected_rate(p, from, to))
                fail_msg("seed %llu: %.10g MiB/s from slot %u to %u, expected %.10g",
                         (unsigned long long)seed, rate, from, to, expected_rate(p, from, to));
            if (rate > r->fastest[from] || (r->single[from] && rate != r->fastest[from]) ||
                (!r->differ && rate != r->fastest[0]))
                fail_msg("seed %llu: %.10g MiB/s from slot %u to %u, and at most %.10g",
                         (unsigned long long)seed, rate, from, to, r->fastest[from]);
        }
}

/* ---- the bound ---- */

static double expected_there(const struct pass *p, uint32_t slot, enum resource r)
{
    const struct layout *l = &p->layout;
    double sum = p->snap->hosts[l->slot_host[slot]].own.now[r];

    for (uint32_t v = 0; v < p->snap->n_vms; v++) {
        uint32_t u = l->vm_unit[v];
        if (u != IX_NONE && (l->going_to[v] != IX_NONE ? l->going_to[v] : l->unit_slot[u]) == slot)
            sum += fmin(p->demand[r][v], p->entitlement[r][v]);
    }
    return sum;
}

static void check_bound(uint64_t seed, const struct pass *p, unsigned *paid)
{
    const struct layout *l = &p->layout;

    for (uint32_t s = 0; s < l->n_slots; s++)
        for (int r = 0; r < RES_COUNT; r++)
            if (fabs(p->migration_cost.slot[r][s].load - expected_there(p, s, (enum resource)r)) > 1e-6)
                fail_msg("seed %llu: %.10g is expected on slot %u, not %.10g", (unsigned long long)seed,
                         expected_there(p, s, (enum resource)r), s, p->migration_cost.slot[r][s].load);
    for (uint32_t u = 0; u < l->n_units; u++) {
        bool may = migration_cost_may_pay(&p->migration_cost, u);
        if (l->unit_slot[u] >= l->n_on || l->unit_held[u] == CHECK_VM_MIGRATING)
            continue;
        for (uint32_t s = 0; s < l->n_on; s++) {
            struct migration_worth w;
            if (s == l->unit_slot[u])
                continue;
            migration_cost_worth(&p->migration_cost, u, s, &w);
            bool pays = migration_cost_pays(&p->migration_cost, &w);
            if (pays && !may)
                fail_msg("seed %llu: unit %u pays on slot %u (gain %.10g, loss %.10g), and is passed over",
                         (unsigned long long)seed, u, s, w.gain, w.loss);
            if (pays && !p->migration_cost.rates.single[l->unit_slot[u]] &&
                rates_between(&p->migration_cost.rates, l->unit_slot[u], s) <=
                    migration_cost_rate_needed(&p->migration_cost, u))
                fail_msg("seed %llu: unit %u pays on slot %u at %.10g MiB/s, and needs more than %.10g",
                         (unsigned long long)seed, u, s,
                         rates_between(&p->migration_cost.rates, l->unit_slot[u], s),
                         migration_cost_rate_needed(&p->migration_cost, u));
            if (w.cost[RES_CPU] < p->migration_cost.least[u] * (1 - 1e-12))
                fail_msg("seed %llu: unit %u costs %.10g on slot %u, and %.10g at least",
                         (unsigned long long)seed, u, w.cost[RES_CPU], s, p->migration_cost.least[u]);
            *paid += pays;
        }
    }
}

static void check_cluster(uint64_t seed, unsigned *paid)
{
    struct arena a = {0};
    struct rng r = {.state = seed};
    struct snapshot snap;
    struct policy policy;
    struct pass p;
    struct cluster_options options = {.hosts_max = 8,
                                      .vms_max = 60,
                                      .mixed_hosts = true,
                                      .rules = true,
                                      .in_flight = seed % 2 == 1,
                                      .rates = seed % 5 > 1,
                                      .pairs = seed % 4 > 1,
                                      .tight = seed % 3 == 0};

    random_cluster(&r, &options, &a, &snap);
    random_policy(&r, &policy);
    policy.cost_benefit = false; /* so that there are moves */
    pass_prepare(&p, &snap, &policy, true, IX_NONE, &a);
    check_rates(seed, &p);
    check_bound(seed, &p, paid);
    pass_decide(&p, &snap, &policy, RULES_PREFERRED, IX_NONE, &a);
    move_score_refresh(&p.climb.score, &p.layout, &p.migration_cost);
    check_bound(seed, &p, paid);
    arena_release(&a);
}

static void test_may_pay(void **state)
{
    unsigned paid = 0;

    (void)state;
    for (unsigned i = 0; i < test_clusters(600); i++)
        check_cluster(test_seed() + i, &paid);
    (void)printf("%u moves would pay\n", paid);
    if (test_is_usual())
        assert_true(paid > 600);
}

/* ---- the time after a migration ---- */

/* What is left of a time after this duration, in the mean: the integral over the chance that it lasts. */
static double left_of(double stable, double duration)
{
    const double end = 2e4 * stable;
    double sum = 0;

    for (double t = duration, step; t < end; t += step) {
        step = (stable + t) / 2000;
        double chance = stable / (stable + t + step / 2);
        sum += chance * chance * step;
    }
    return sum;
}

static void test_time_after(void **state)
{
    struct rng r = {.state = test_seed()};
    bool lasting[] = {false, true};
    const struct migration_cost costs = {.short_for_long = lasting};

    (void)state;
    for (unsigned i = 0; i < test_clusters(200); i++) {
        double stable = rng_range(&r, 60, 7200);
        double duration = rng_range(&r, 0, 3) * stable;
        double until_end = migration_cost_time_after(&costs, 0, stable, duration);
        double lasts = migration_cost_time_after(&costs, 1, stable, duration);
        assert_true(until_end == fmax(stable - duration, 0));
        assert_true(lasts >= until_end && lasts <= stable);
        if (fabs(lasts - left_of(stable, duration)) > 1e-3 * stable)
            fail_msg("%g s of %g s are left after %g s, not %g", left_of(stable, duration), stable, duration,
                     lasts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time_after), cmocka_unit_test(test_shortfall), cmocka_unit_test(test_migration),
        cmocka_unit_test(test_backwards),  cmocka_unit_test(test_may_pay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
