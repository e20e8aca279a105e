/* Room for large VMs: spaces are what a plain count finds; no plan of a few moves makes more than brute
 * force, and most make as many; moves for balance and for room do not undo each other. */
#include "core/pass.h"
#include "core/plan/pass_state.h"
#include "core/plan/plan.h"
#include "core/room/room_search.h"
#include "load.h"
#include "oracle.h"
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ROUNDING 1e-6

/* ---- a plain count ---- */

/* How many VMs of the size fit on the host now. */
static uint64_t count_on(const struct oracle *o, uint32_t host)
{
    const struct room_policy *size = &o->policy->room;
    const struct host *h = &o->snap->hosts[host];
    double cpus = h->is.cores * size->cpu_ratio;
    double mem = oracle_limit(o, host, ORACLE_MEM) - oracle_taken(o, host, ORACLE_MEM);
    double free = oracle_limit(o, host, ORACLE_PHYSICAL) - oracle_taken(o, host, ORACLE_PHYSICAL);
    double n = INFINITY;

    if (!oracle_runs_vms(o, host) || !oracle_receives(o, host))
        return 0;
    for (uint32_t v = 0; v < o->snap->n_vms; v++)
        cpus -= oracle_is_on(o, v, host) ? o->snap->vms[v].is.vcpus : 0;
    if (size->cpus > 0)
        n = floor((cpus + ROUNDING) / (double)size->cpus);
    if (size->mem_mb > 0)
        n = fmin(n, floor((fmin(mem, free) + ROUNDING) / size->mem_mb));
    return n > 0 ? (uint64_t)n : 0;
}

static uint64_t count_all(const struct oracle *o)
{
    uint64_t n = 0;

    for (uint32_t h = 0; h < o->snap->n_hosts; h++)
        n += count_on(o, h);
    return n;
}

/* ---- each plan ---- */

struct tally {
    unsigned moves, sets, made;
};

/* The plan's own figures; each move group for room ends with more spaces than it began with. */
static void check_plan(uint64_t seed, const struct cluster_options *options, struct tally *tally)
{
    struct arena a = {0};
    struct rng r = {.state = seed};
    struct snapshot snap;
    struct policy policy;
    struct plan plan;
    struct oracle o;
    struct err err = {0};

    random_cluster(&r, options, &a, &snap);
    random_policy(&r, &policy);
    random_room(&r, &policy);
    policy.room.cells = 0; /* which cell a VM gets the plain count does not know */
    assert_int_equal(pass_run(&snap, &policy, &a, &plan, &err), 0);
    oracle_init(&o, plan.snap, &plan.policy, &a);
    uint64_t spaces = count_all(&o);
    if (spaces != plan.spaces_before)
        fail_msg("seed %llu: %llu spaces, counted %llu", (unsigned long long)seed,
                 (unsigned long long)plan.spaces_before, (unsigned long long)spaces);
    for (uint32_t i = 0; i < plan.n_recommendations; i++) {
        const struct recommendation *rec = &plan.recommendations[i];
        const struct recommendation *next = i + 1 < plan.n_recommendations ? rec + 1 : NULL;

        oracle_begin(&o, rec);
        oracle_end(&o, rec);
        if (rec->reason != REASON_ROOM) {
            spaces = count_all(&o);
            continue;
        }
        tally->moves++;
        for (int k = 0; k < RES_COUNT; k++)
            if (oracle_norm(&o, rec->to, (enum resource)k) >
                1 - plan.policy.headroom_percent[k] / 100 + ROUNDING)
                fail_msg("seed %llu: recommendation %u takes the headroom of its host",
                         (unsigned long long)seed, rec->id);
        if (next && rec->group != 0 && next->group == rec->group)
            continue;
        uint64_t after = count_all(&o);
        if (after <= spaces)
            fail_msg("seed %llu: after recommendation %u there are %llu spaces, before its group %llu",
                     (unsigned long long)seed, rec->id, (unsigned long long)after,
                     (unsigned long long)spaces);
        tally->sets++;
        tally->made += (unsigned)(after - spaces);
        spaces = after;
    }
    if (count_all(&o) != plan.spaces_after)
        fail_msg("seed %llu: %llu spaces after the plan, counted %llu", (unsigned long long)seed,
                 (unsigned long long)plan.spaces_after, (unsigned long long)count_all(&o));
    arena_release(&a);
}

static void check_plans(const struct cluster_options *o, unsigned clusters)
{
    struct tally tally = {0};

    for (unsigned i = 0; i < test_clusters(clusters); i++)
        check_plan(test_seed() + i, o, &tally);
    (void)printf("%u moves in %u sets make %u spaces\n", tally.moves, tally.sets, tally.made);
    if (test_is_usual())
        assert_true(tally.sets > clusters / 15);
}

static void test_plans(void **state)
{
    (void)state;
    check_plans(&(struct cluster_options){.hosts_max = 9, .vms_max = 60, .mixed_hosts = true}, 1500);
    check_plans(&(struct cluster_options){.hosts_max = 8,
                                          .vms_max = 40,
                                          .mixed_hosts = true,
                                          .tight = true,
                                          .rules = true,
                                          .evacuate = true,
                                          .agents = true,
                                          .in_flight = true,
                                          .ft = true,
                                          .ha = true,
                                          .approved = true},
                1500);
}

/* ---- brute force ---- */

#define MOVES_MAX 3

struct brute {
    struct layout *l;
    struct spaces s;
    bool *moved;
    uint64_t best;
};

/* What the search allows: a place that all checks allow, with its headroom and CPUs for the VM. */
static bool may_go(const struct brute *b, uint32_t unit, uint32_t slot)
{
    const struct layout *l = b->l;
    double left[SPACE_FIGURES_MAX];
    double taken[SPACE_FIGURES_MAX];

    spaces_left(&b->s, slot, left);
    if (!spaces_taken(&b->s, unit, slot, taken))
        return false;
    for (uint32_t f = 0; f < spaces_width(&b->s, slot); f++)
        if (spaces_takes(&b->s, f) > 0 && left[f] - taken[f] < -ROUNDING)
            return false;
    for (int r = 0; r < RES_COUNT; r++)
        if (l->norm[r][slot] + l->unit_demand[r][unit] * l->inverse[r][slot] >
            1 - l->policy->headroom_percent[r] / 100)
            return false;
    return layout_check(l, unit, slot) == CHECK_NONE;
}

static void try_all(struct brute *b, uint32_t left)
{
    struct layout *l = b->l;
    uint64_t now = spaces_of_all(&b->s);

    b->best = now > b->best ? now : b->best;
    for (uint32_t u = 0; u < l->n_units && left > 0; u++) {
        uint32_t vms = l->unit_from[u + 1] - l->unit_from[u];

        if (b->moved[u] || l->unit_held[u] != CHECK_NONE || vms > left || l->unit_slot[u] >= l->n_on)
            continue;
        for (uint32_t s = 0; s < l->n_on; s++) {
            struct layout_mark mark;

            if (s == l->unit_slot[u] || !may_go(b, u, s))
                continue;
            b->moved[u] = true;
            layout_try(l, u, s, &mark);
            try_all(b, left - vms);
            layout_undo_in_order(l, &mark);
            b->moved[u] = false;
        }
    }
}

/* The layout is the same after the search, to the last digit. */
static void check_unchanged(uint64_t seed, const struct layout *l, const uint32_t *slots, const double *norms)
{
    if (memcmp(l->unit_slot, slots, l->n_units * sizeof *slots) != 0 ||
        memcmp(l->norm[RES_CPU], norms, l->n_slots * sizeof *norms) != 0)
        fail_msg("seed %llu: the search changes the layout", (unsigned long long)seed);
}

struct compared {
    unsigned clusters, possible, equal, less;
};

static void compare(uint64_t seed, struct compared *ret)
{
    const struct cluster_options options = {
        .hosts_max = 4, .vms_max = 10, .mixed_hosts = true, .rules = seed % 2 == 0, .cells = seed % 3 == 0};
    struct arena a = {0};
    struct rng r = {.state = seed};
    struct snapshot snap;
    struct policy policy;
    struct pass p;
    struct room_moves found;
    const struct room_question q = {.vms_max = MOVES_MAX, .enough = UINT64_MAX, .imbalance_max = NO_LIMIT};

    random_cluster(&r, &options, &a, &snap);
    random_policy(&r, &policy);
    random_room(&r, &policy);
    policy.room.cpu_ratio = rng_range(&r, 0.5, 2);
    pass_prepare(&p, &snap, &policy, true, IX_NONE, &a);
    struct brute b = {.l = &p.layout, .moved = arena_array(&a, bool, p.layout.n_units)};
    assert_true(spaces_init(&b.s, &p.layout, &a));
    uint32_t *slots = arena_array(&a, uint32_t, p.layout.n_units);
    double *norms = arena_array(&a, double, p.layout.n_slots);
    memcpy(slots, p.layout.unit_slot, p.layout.n_units * sizeof *slots);
    memcpy(norms, p.layout.norm[RES_CPU], p.layout.n_slots * sizeof *norms);
    uint64_t before = spaces_of_all(&b.s);
    room_search(&p.layout, &q, &a, &found);
    check_unchanged(seed, &p.layout, slots, norms);
    assert_int_equal(found.before, before);
    try_all(&b, MOVES_MAX);
    if (found.after > b.best)
        fail_msg("seed %llu: %llu spaces, brute force finds %llu", (unsigned long long)seed,
                 (unsigned long long)found.after, (unsigned long long)b.best);
    ret->clusters++;
    ret->possible += b.best > before;
    ret->equal += b.best > before && found.after == b.best;
    ret->less += (unsigned)(b.best - found.after);
    for (uint32_t i = 0; i < found.n; i++) {
        assert_true(may_go(&b, found.items[i].unit, found.items[i].to_slot));
        layout_move(&p.layout, found.items[i].unit, found.items[i].to_slot);
    }
    assert_int_equal(spaces_of_all(&b.s), found.after);
    arena_release(&a);
}

#define EQUAL_SHARE 0.9

static void test_brute_force(void **state)
{
    struct compared c = {0};

    (void)state;
    for (unsigned i = 0; i < test_clusters(2000); i++)
        compare(test_seed() + i, &c);
    (void)printf(
        "%u clusters, in %u of them moves make room; as many spaces as brute force in %u, %u fewer in all\n",
        c.clusters, c.possible, c.equal, c.less);
    if (test_is_usual()) {
        assert_true(c.possible > c.clusters / 12);
        assert_true(c.equal > EQUAL_SHARE * c.possible);
    }
}

/* ---- beside balancing ---- */

#define PASSES 8

/* What a host lacks comes before room. */
static bool has_headroom(const struct plan *plan)
{
    for (uint32_t i = 0; i < plan->before.n_hosts; i++)
        for (int r = 0; r < RES_COUNT; r++)
            if (plan->before.hosts[i].n[r] > 1 - plan->policy.headroom_percent[r] / 100)
                return false;
    return true;
}

/* Under flat load, whatever has passed since the last move: as many spaces as room.free says are never lost
 * to a move that need not be, and after some passes nothing moves any more. */
static void settle(uint64_t seed, unsigned *moves)
{
    const struct cluster_options options = {
        .hosts_max = 9, .vms_max = 60, .mixed_hosts = true, .cells = seed % 3 == 0};
    struct arena a = {0};
    struct rng r = {.state = seed};
    struct snapshot snap;
    struct policy policy;
    struct err err = {0};
    bool rests = false;

    random_cluster(&r, &options, &a, &snap);
    policy_default(&policy);
    random_room(&r, &policy);
    policy.objective = OBJECTIVE_BALANCE;
    policy.room.free = 1 + rng_below(&r, 20);
    flat_load(&snap);
    for (int pass = 0; pass < PASSES && !rests; pass++) {
        struct snapshot then;
        struct plan plan;
        bool only_optional;

        assert_int_equal(pass_run(&snap, &policy, &a, &plan, &err), 0);
        rests = true;
        only_optional = has_headroom(&plan);
        for (uint32_t i = 0; i < plan.n_recommendations; i++) {
            enum reason reason = plan.recommendations[i].reason;
            bool optional =
                reason == REASON_ROOM || reason == REASON_BALANCE_CPU || reason == REASON_BALANCE_MEM;
            only_optional = only_optional && optional;
            rests = rests && !optional;
            *moves += reason == REASON_ROOM;
        }
        uint64_t kept = (uint64_t)policy.room.free;
        kept = plan.spaces_before < kept ? plan.spaces_before : kept;
        if (only_optional && plan.spaces_after < kept)
            fail_msg("seed %llu: pass %d leaves %llu of %llu spaces, %llu are to be kept",
                     (unsigned long long)seed, pass, (unsigned long long)plan.spaces_after,
                     (unsigned long long)plan.spaces_before, (unsigned long long)kept);
        oracle_carried_out(&plan, snap.time, &a, &then);
        snap = then;
        snap.time += policy.cool_down_s + policy.interval_s;
    }
    if (!rests)
        fail_msg("seed %llu: VMs still move after %d passes", (unsigned long long)seed, PASSES);
    arena_release(&a);
}

static void test_beside_balancing(void **state)
{
    unsigned moves = 0;

    (void)state;
    for (unsigned i = 0; i < test_clusters(800); i++)
        settle(test_seed() + i, &moves);
    (void)printf("%u moves for room\n", moves);
    if (test_is_usual())
        assert_true(moves > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_brute_force),
        cmocka_unit_test(test_beside_balancing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
