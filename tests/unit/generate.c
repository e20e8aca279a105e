/* Generated clusters: equal for the same seed, valid, plausible, and with no rule violated at the start. */
#include "unit.h"

#include "base/strbuf.h"
#include "cloud.h"
#include "core/fit/fit.h"
#include "model/generate.h"
#include "model/snapshot_build.h"
#include "model/snapshot_json.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const struct generate_options cases[] = {
    {1, 0, 1, SHAPE_UNIFORM},    {1, 1, 1, SHAPE_SKEWED},    {3, 1, 7, SHAPE_POOLS},
    {2, 5, 2, SHAPE_SPIKE},      {8, 80, 1, SHAPE_UNIFORM},  {8, 80, 1, SHAPE_SKEWED},
    {8, 80, 1, SHAPE_SPIKE},     {8, 80, 1, SHAPE_POOLS},    {7, 300, 9, SHAPE_POOLS},
    {32, 1280, 3, SHAPE_SKEWED}, {32, 1280, 3, SHAPE_SPIKE}, {32, 1280, 3, SHAPE_POOLS},
    {96, 10000, 5, SHAPE_POOLS}, {10, 11, 4, SHAPE_POOLS},
};

static void build(const struct generate_options *o, struct arena *a, struct snapshot *ret)
{
    struct inventory inv;
    struct err err = {0};

    if (generate(o, a, &inv, &err) < 0 || snapshot_build(&inv, a, ret, &err) < 0)
        fail_msg("%s %u x %u: %s", generate_shape_name(o->shape), o->hosts, o->vms, err.text);
    assert_int_equal(ret->n_hosts, o->hosts);
    assert_int_equal(ret->n_vms, o->vms);
}

static void test_same_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct arena a = {0};
        struct strbuf texts[2];
        for (int k = 0; k < 2; k++) {
            struct snapshot s;
            build(&cases[i], &a, &s);
            strbuf_init(&texts[k], STRBUF_NO_LIMIT);
            snapshot_dump(&s, &texts[k]);
        }
        assert_string_equal(texts[0].text, texts[1].text);
        strbuf_release(&texts[0]);
        strbuf_release(&texts[1]);
        arena_release(&a);
    }
}

static bool listed(const struct span *span, uint32_t ix)
{
    for (uint32_t i = 0; i < span->n; i++) {
        if (span->items[i] == ix)
            return true;
    }
    return false;
}

static void check_rule_holds(const struct snapshot *s, const struct rule *r)
{
    for (uint32_t i = 0; i < r->vms.n; i++) {
        uint32_t host = s->vms[r->vms.items[i]].host;
        for (uint32_t k = 0; k < i; k++) {
            bool on_one_host = s->vms[r->vms.items[k]].host == host;
            assert_true(r->is.kind != RULE_VM_AFFINE || on_one_host);
            assert_true(r->is.kind != RULE_VM_ANTI_AFFINE || !on_one_host);
        }
        assert_true(r->is.kind != RULE_HOST_AFFINE || listed(&r->hosts, host));
        assert_true(r->is.kind != RULE_HOST_ANTI_AFFINE || !listed(&r->hosts, host));
    }
}

static void check_memory_fits(const struct snapshot *s, const struct host *h)
{
    double consumed = 0;
    double reserved[RES_COUNT] = {0};

    for (uint32_t i = 0; i < h->vms.n; i++) {
        const struct vm_facts *f = &s->vms[h->vms.items[i]].is;
        consumed += f->consumed_mb + f->overhead_mb;
        for (int r = 0; r < RES_COUNT; r++)
            reserved[r] += f->alloc[r].reservation;
        assert_true(f->consumed_mb <= f->mem_mb && f->demand[RES_CPU] <= f->vcpus * 2500.0);
    }
    assert_true(consumed <= 0.95 * h->capacity[RES_MEM]);
    assert_true(reserved[RES_CPU] <= h->capacity[RES_CPU] && reserved[RES_MEM] <= h->capacity[RES_MEM]);
}

static void check_pools_cover(const struct snapshot *s)
{
    for (uint32_t p = 0; p < s->n_pools; p++) {
        for (int r = 0; r < RES_COUNT; r++) {
            double below = 0;
            for (uint32_t i = 0; i < s->n_vms; i++)
                below += s->vms[i].pool == p ? s->vms[i].is.alloc[r].reservation : 0;
            for (uint32_t i = 0; i < s->n_pools; i++)
                below += s->pools[i].parent == p ? s->pools[i].is.alloc[r].reservation : 0;
            assert_true(below <= s->pools[p].is.alloc[r].reservation);
        }
    }
}

static void test_valid(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct arena a = {0};
        struct snapshot s;
        build(&cases[i], &a, &s);
        for (uint32_t h = 0; h < s.n_hosts; h++)
            check_memory_fits(&s, &s.hosts[h]);
        for (uint32_t r = 0; r < s.n_rules; r++)
            check_rule_holds(&s, &s.rules[r]);
        check_pools_cover(&s);
        arena_release(&a);
    }
}

static void cpu_loads(const struct snapshot *s, double *ret_mean, double *ret_stddev, double *ret_max)
{
    double sum = 0;
    double squares = 0;

    *ret_max = 0;
    for (uint32_t h = 0; h < s->n_hosts; h++) {
        double n = 0;
        for (uint32_t i = 0; i < s->hosts[h].vms.n; i++)
            n += s->vms[s->hosts[h].vms.items[i]].is.demand[RES_CPU];
        n /= s->hosts[h].capacity[RES_CPU];
        sum += n;
        squares += n * n;
        *ret_max = fmax(*ret_max, n);
    }
    *ret_mean = sum / s->n_hosts;
    *ret_stddev = sqrt(squares / s->n_hosts - *ret_mean * *ret_mean);
}

static void test_shapes(void **state)
{
    static const struct {
        enum generate_shape shape;
        double mean[2], stddev[2], max[2]; /* from, to */
    } expected[] = {
        {SHAPE_UNIFORM, {0.49, 0.51}, {0, 0.02}, {0.5, 0.53}},
        {SHAPE_SKEWED, {0.53, 0.57}, {0.23, 0.27}, {0.9, 1}},
        {SHAPE_SPIKE, {0.5, 0.6}, {0.45, 0.55}, {1, 1.15}},
        {SHAPE_POOLS, {0.6, 0.8}, {0.2, 0.3}, {1, 1.2}},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(expected); i++) {
        for (uint64_t seed = 1; seed <= 5; seed++) {
            struct arena a = {0};
            struct snapshot s;
            double mean;
            double stddev;
            double max;
            build(&(struct generate_options){32, 1280, seed, expected[i].shape}, &a, &s);
            cpu_loads(&s, &mean, &stddev, &max);
            print_message("%s %llu: %.3f %.3f %.3f\n", generate_shape_name(expected[i].shape),
                          (unsigned long long)seed, mean, stddev, max);
            assert_true(mean >= expected[i].mean[0] && mean <= expected[i].mean[1]);
            assert_true(stddev >= expected[i].stddev[0] && stddev <= expected[i].stddev[1]);
            assert_true(max >= expected[i].max[0] && max <= expected[i].max[1]);
            arena_release(&a);
        }
    }
}

static void test_refused(void **state)
{
    struct arena a = {0};
    struct inventory inv;
    struct err err = {0};

    (void)state;
    assert_int_equal(generate(&(struct generate_options){.hosts = 0}, &a, &inv, &err), -EINVAL);
    assert_int_equal(generate(&(struct generate_options){.hosts = UINT32_MAX}, &a, &inv, &err), -EINVAL);
    assert_int_equal(generate(&(struct generate_options){.hosts = 1, .vms = UINT32_MAX}, &a, &inv, &err),
                     -EINVAL);
    arena_release(&a);
}

/* What the VMs of a host take together of each counter. */
static void assert_within_limits(const struct snapshot *s, const struct fit *fit)
{
    unsigned bound = 0;
    unsigned scores = 0;

    for (uint32_t v = 0; v < s->n_vms; v++) {
        const struct fit_bound *b;
        uint32_t n = fit_bounds(fit, v, &b);

        for (uint32_t k = fit->counts.shares_from[v]; k < fit->counts.shares_from[v + 1]; k++) {
            uint32_t counter = fit->counts.shares[k].counter;
            int64_t sum = 0;

            for (uint32_t o = 0; o < s->n_vms; o++)
                for (uint32_t i = fit->counts.shares_from[o];
                     s->vms[o].host == s->vms[v].host && i < fit->counts.shares_from[o + 1]; i++)
                    sum += fit->counts.shares[i].counter == counter ? fit->counts.shares[i].takes : 0;
            for (uint32_t i = 0; i < n; i++) {
                if (!fit_limits(fit, &b[i], &fit->counts.shares[k], FIT_MOVE))
                    continue;
                bound++;
                assert_true(sum <= fit_limit(fit, v, b[i].stage, s->vms[v].host));
            }
        }
    }
    for (uint32_t i = 0; i < s->n_stages; i++)
        scores += s->stages[i].is.score.n > 0;
    assert_true(bound > s->n_vms && scores == 2);
}

/* Each filter refuses hosts, none refuses a VM its own host, counts are within their limits, and VMs that ask
 * for the same share a class. */
static void test_cloud(void **state)
{
    struct arena a = {0};
    struct inventory inv;
    struct snapshot s;
    struct err err = {0};
    struct fit fit;
    unsigned refusals[STAGES_MAX] = {0}, refused = 0;

    (void)state;
    if (cloud_generate(40, 1200, 1, &a, &inv, &err) < 0 || snapshot_build(&inv, &a, &s, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(s.n_groups, 7);
    fit_compile(&s, &a, &fit);
    for (uint32_t v = 0; v < s.n_vms; v++) {
        assert_false(fit_refuses(&fit, FIT_MOVE, v, s.vms[v].host));
        for (uint32_t h = 0; h < s.n_hosts; h++) {
            const struct refusal *r = fit_refusal(&fit, FIT_MOVE, v, h, NULL, &a);

            if (r)
                refusals[r->stage]++;
            refused += r != NULL;
        }
    }
    for (uint32_t i = 0; i < s.n_stages; i++)
        assert_true(s.stages[i].is.filter.n == 0 || refusals[i] > 200);
    assert_within_limits(&s, &fit);
    assert_true(refused < s.n_vms * s.n_hosts * 8 / 10);
    assert_true(fit.n_classes > 100 && fit.n_classes < s.n_vms);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_again), cmocka_unit_test(test_valid), cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_cloud),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
