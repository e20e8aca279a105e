/* A pass makes the same plan, statistics included, however many threads work on its loops and in whatever
 * order and parts. */
#include "base/strbuf.h"
#include "base/thread_pool.h"
#include "core/pass.h"
#include "core/place/place.h"
#include "random_cluster.h"
#include "render/render.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define PART_MAX 5 /* items; even small clusters have several parts in each loop */

/* Real threads, for loops of any length. */
struct short_loops {
    struct thread_pool port;
    struct thread_pool *real;
};

static void run_short(struct thread_pool *p, uint32_t n, uint32_t grain, thread_pool_body *body, void *arg)
{
    struct short_loops *s = (struct short_loops *)p;

    (void)grain;
    parallel_for(s->real, n, 1 + n % PART_MAX, body, arg);
}

/* One thread, the last part first. */
static void run_backwards(struct thread_pool *p, uint32_t n, uint32_t grain, thread_pool_body *body,
                          void *arg)
{
    uint32_t part = 1 + n % PART_MAX;

    (void)p;
    (void)grain;
    for (uint32_t begin = n - n % part; n > 0; begin -= part) {
        if (begin < n)
            body(arg, begin, begin + part < n ? begin + part : n);
        if (begin == 0)
            break;
    }
}

/* The plan of the pass, or of the placement of the new VMs. */
static void decide(const struct snapshot *snap, const struct policy *policy, struct thread_pool *pool,
                   bool places, struct strbuf *ret)
{
    struct arena a = {0};
    struct policy with_pool = *policy;
    struct plan plan;
    struct err err = {0};
    uint32_t n;

    with_pool.thread_pool = pool;
    const uint32_t *vms = new_vms(snap, &a, &n);
    strbuf_init(ret, STRBUF_NO_LIMIT);
    if (!places)
        assert_int_equal(pass_run(snap, &with_pool, &a, &plan, &err), 0);
    if (places && (n == 0 || place_run(snap, &with_pool, vms, n, &a, &plan, &err) < 0))
        strbuf_puts(ret, err.text);
    else
        render_plan_json(&plan, ret);
    arena_release(&a);
}

static void compare(uint64_t seed, const struct snapshot *snap, const struct policy *policy, bool places,
                    struct thread_pool *const *pools, size_t n_pools)
{
    struct strbuf serial;

    decide(snap, policy, NULL, places, &serial);
    for (size_t i = 0; i < n_pools; i++) {
        struct strbuf other;
        decide(snap, policy, pools[i], places, &other);
        if (strcmp(serial.text, other.text) != 0)
            fail_msg("seed %llu: %s with pool %zu is another one", (unsigned long long)seed,
                     places ? "placement" : "plan", i);
        strbuf_release(&other);
    }
    strbuf_release(&serial);
}

static void test_same_plan(void **state)
{
    static const struct cluster_options cases[] = {
        {.hosts_max = 12, .vms_max = 120},
        {.hosts_max = 8,
         .vms_max = 80,
         .mixed_hosts = true,
         .rules = true,
         .tight = true,
         .evacuate = true,
         .in_flight = true,
         .rates = true,
         .pairs = true,
         .deep_pools = true,
         .ha = true,
         .scores = true,
         .newcomers = true},
        {.hosts_max = 6, .vms_max = 40, .full = true, .exchange = true, .cells = true, .deep = true},
        {.hosts_max = 8, .vms_max = 60, .sleeping = true, .power = true, .approved = true, .newcomers = true},
        {.hosts_max = 8, .vms_max = 60, .matched = true, .power = true, .room = true, .deep = true},
    };
    struct short_loops two = {{run_short}, thread_pool_new(2)};
    struct short_loops eight = {{run_short}, thread_pool_new(8)};
    struct thread_pool backwards = {run_backwards};
    struct thread_pool *const pools[] = {&two.port, &eight.port, &backwards};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned k = 0; k < test_clusters(120); k++) {
            struct arena a = {0};
            struct rng r = {.state = test_seed() + k};
            struct snapshot snap;
            struct policy policy;

            random_cluster(&r, &cases[i], &a, &snap);
            random_policy(&r, &policy);
            if (cases[i].power)
                random_dpm(&r, &policy);
            if (cases[i].room)
                random_room(&r, &policy);
            if (cases[i].deep)
                deep_policy(&policy);
            compare(test_seed() + k, &snap, &policy, false, pools, sizeof pools / sizeof *pools);
            if (cases[i].newcomers)
                compare(test_seed() + k, &snap, &policy, true, pools, sizeof pools / sizeof *pools);
            arena_release(&a);
        }
    thread_pool_free(two.real);
    thread_pool_free(eight.real);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_plan),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
