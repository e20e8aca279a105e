/* The weights of VMs on hosts without pools against the promises of vm_controls.h: a host that divides by
 * them gives what the host's own tree would give (host_division.h), which is computed by other code. */
#include "core/divvy/vm_controls.h"
#include "core/demand/demand.h"
#include "core/divvy/divvy.h"
#include "core/divvy/pool_parts.h"
#include "host_division.h"
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Weights are whole shares of at least this many where hosts are compared: so they are off by half a percent.
 */
#define FINE_SHARES 100.0
#define DIVISION_OFF 0.01 /* of the host */

struct counts {
    unsigned full, compared, pooled, untouched, raised;
};

struct world {
    uint64_t seed;
    struct snapshot snap;
    double *demand[RES_COUNT];
    const struct vm_control *to;
};

/* The pools become those of the configuration. Of the VMs below the root, half have nothing of it. */
static void take_pools_off_hosts(struct rng *r, struct snapshot *s)
{
    s->vm_controls = s->overridden = true;
    for (uint32_t p = 0; p < s->n_pools; p++)
        s->pools[p].is.origin = RULE_OF_CONFIGURATION;
    for (uint32_t i = 0; i < s->n_vms; i++) {
        struct vm *v = &s->vms[i];
        struct alloc *cpu = &v->is.alloc[RES_CPU];

        cpu->shares = fmax(cpu->shares, 200);
        v->source_pool = IX_NONE;
        if (v->pool == IX_NONE && rng_unit(r) < 0.5) {
            cpu->reservation = 0; /* a kernel has none */
            continue;
        }
        v->is.overridden = true;
        for (int k = 0; k < RES_COUNT; k++)
            v->is.source_alloc[k] = (struct alloc){.limit = NO_LIMIT, .shares = 1000};
    }
}

static void begin(struct world *w, uint64_t seed, struct arena *a)
{
    struct rng rng = {.state = seed};

    *w = (struct world){.seed = seed};
    random_cluster(&rng,
                   &(struct cluster_options){.hosts_max = 4,
                                             .vms_max = 40,
                                             .pools_max = 8,
                                             .mixed_hosts = true,
                                             .evacuate = true,
                                             .deep_pools = seed % 2 == 1},
                   a, &w->snap);
    take_pools_off_hosts(&rng, &w->snap);
    double load = rng_range(&rng, 0.5, 6);
    for (uint32_t i = 0; i < w->snap.n_vms; i++)
        w->snap.vms[i].is.demand[RES_CPU] *= load;
    for (int r = 0; r < RES_COUNT; r++) {
        w->demand[r] = arena_array(a, double, w->snap.n_vms);
        demand_estimate(&w->snap, (enum resource)r, w->demand[r]);
    }
    w->to = vm_controls_targets(&w->snap, w->demand, a);
}

static bool is_in_configuration(const struct vm *v)
{
    return v->pool != IX_NONE || v->is.overridden;
}

/* By the weights, and limits, that the VMs then have. False: the weights are too coarse to compare, or pools
 * are limited on a host that is not full. */
static bool divide_by_weights(const struct world *w, uint32_t host, double *const got[RES_COUNT],
                              struct arena *a, double *ret)
{
    const struct snapshot *s = &w->snap;
    struct divvy_child *children = arena_array(a, struct divvy_child, s->n_vms);
    double *portion = arena_array(a, double, s->n_vms);
    double capacity = host_room(&s->hosts[host], RES_CPU), sum = 0, wanted = 0;
    bool fine = true;
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->n_vms; i++) {
        const struct vm *v = &s->vms[i];
        const struct alloc *cpu = &v->is.alloc[RES_CPU];

        if (v->host != host || !vm_takes_part(s, v))
            continue;
        double want = fmin(fmax(w->demand[RES_CPU][i], cpu->reservation), cpu->limit);
        children[n++] = (struct divvy_child){0, want, w->to[i].shares};
        fine = fine && w->to[i].shares >= FINE_SHARES && w->to[i].shares < VM_CONTROLS_SHARES_MAX;
        sum += got[RES_CPU][i];
        wanted += want;
    }
    if (!fine || wanted < capacity || sum < capacity * (1 - 1e-6))
        return false;
    divvy_solve_shares(children, n, capacity, a, portion);
    n = 0;
    for (uint32_t i = 0; i < s->n_vms; i++)
        if (s->vms[i].host == host && vm_takes_part(s, &s->vms[i]))
            ret[i] = portion[n++];
    return true;
}

static void check_division(const struct world *w, struct counts *counts, struct arena *a)
{
    const struct snapshot *s = &w->snap;
    double *got[RES_COUNT];
    double *by_weights = arena_array(a, double, s->n_vms);

    host_division(s, a, got);
    for (uint32_t h = 0; h < s->n_hosts; h++) {
        double capacity = host_room(&s->hosts[h], RES_CPU);

        if (!host_is_up(&s->hosts[h]))
            continue;
        counts->full++;
        if (!divide_by_weights(w, h, got, a, by_weights))
            continue;
        counts->compared++;
        for (uint32_t i = 0; i < s->n_vms; i++) {
            if (s->vms[i].host != h || !vm_takes_part(s, &s->vms[i]))
                continue;
            counts->pooled += s->vms[i].pool != IX_NONE;
            if (fabs(by_weights[i] - got[RES_CPU][i]) > DIVISION_OFF * capacity)
                fail_msg("seed %llu: %s gets %.1f of %.1f MHz by its weight %.0f, and %.1f by the pools",
                         (unsigned long long)w->seed, s->vms[i].is.id, by_weights[i], capacity,
                         w->to[i].shares, got[RES_CPU][i]);
        }
    }
}

/* What the configuration does not mention stays; limits of VMs are handed on. */
static void check_vms(const struct world *w, struct counts *counts)
{
    for (uint32_t i = 0; i < w->snap.n_vms; i++) {
        const struct vm *v = &w->snap.vms[i];
        const struct vm_control *to = &w->to[i];

        if (!is_in_configuration(v)) {
            counts->untouched++;
            assert_false(to->given);
            assert_true(to->shares == v->is.alloc[RES_CPU].shares);
        }
        assert_true(to->limit == v->is.alloc[RES_CPU].limit);
        assert_true(to->shares >= VM_CONTROLS_SHARES_MIN || !to->given);
    }
}

/* A pool below the root weighs at most twice its part of the shares, unless VMs reserve more. */
static void check_pools(const struct world *w, struct counts *counts, struct arena *a)
{
    const struct snapshot *s = &w->snap;
    struct host_setting *parts;
    uint32_t n;

    pool_parts(s, w->demand, a, &parts, &n);
    for (uint32_t k = 0; k < n; k++) {
        double weight = 0, reserved = parts[k].alloc[RES_CPU].reservation, rounding = 0;

        if (s->pools[parts[k].pool].parent != IX_NONE || !host_is_up(&s->hosts[parts[k].host]))
            continue;
        for (uint32_t i = 0; i < s->n_vms; i++) {
            uint32_t top = s->vms[i].pool;

            while (top != IX_NONE && s->pools[top].parent != IX_NONE)
                top = s->pools[top].parent;
            if (top != parts[k].pool || s->vms[i].host != parts[k].host || !vm_takes_part(s, &s->vms[i]))
                continue;
            weight += w->to[i].shares;
            reserved += s->vms[i].is.alloc[RES_CPU].reservation;
            rounding += VM_CONTROLS_SHARES_MIN;
        }
        counts->raised += weight > parts[k].alloc[RES_CPU].shares + rounding;
        if (reserved == 0 && weight > 2 * parts[k].alloc[RES_CPU].shares + rounding)
            fail_msg("seed %llu: %s weighs %.0f on %s, and has %.0f shares there",
                     (unsigned long long)w->seed, s->pools[parts[k].pool].is.id, weight,
                     s->hosts[parts[k].host].is.id, parts[k].alloc[RES_CPU].shares);
    }
}

/* What is set is not asked for again, and is given back when the configuration is gone. */
static void check_settles(struct world *w, struct arena *a)
{
    struct vm_setting_due *list;
    uint32_t n, set = 0;

    vm_controls(&w->snap, w->demand, a, &list, &n);
    for (uint32_t i = 0; i < n; i++)
        w->snap.vms[list[i].vm].is.set = list[i].to;
    vm_controls(&w->snap, w->demand, a, &list, &n);
    assert_int_equal(n, 0);
    for (uint32_t i = 0; i < w->snap.n_vms; i++)
        set += w->snap.vms[i].is.set.given;
    w->snap.vm_controls = false;
    vm_controls(&w->snap, w->demand, a, &list, &n);
    assert_int_equal(n, set);
    for (uint32_t i = 0; i < n; i++)
        assert_false(list[i].to.given);
}

static void test_weights(void **state)
{
    struct counts counts = {0};
    unsigned clusters = test_clusters(3000);

    (void)state;
    for (unsigned i = 0; i < clusters; i++) {
        struct arena a = {0};
        struct world w;

        begin(&w, test_seed() + i, &a);
        check_division(&w, &counts, &a);
        check_vms(&w, &counts);
        check_pools(&w, &counts, &a);
        check_settles(&w, &a);
        arena_release(&a);
    }
    (void)printf(
        "%u hosts, of which %u compared with %u VMs in pools; %u VMs left alone; %u pools weigh more\n",
        counts.full, counts.compared, counts.pooled, counts.untouched, counts.raised);
    if (test_is_usual())
        assert_true(counts.compared > 500 && counts.pooled > 1000 && counts.untouched > 500 &&
                    counts.raised > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_weights)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
