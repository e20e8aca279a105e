/* Placements (§3.2): a placed VM fits at every moment of any order that depends_on allows; a refused VM
 * fits on no host, not even after one move of another VM; the shortage that a fault names is the true one;
 * pairs are placed as a whole or not at all; and no VM starts before its manager reaches the host where it is
 * registered. */
#include "core/place/place.h"

#include "core/pass.h"
#include "core/plan/pass_state.h"
#include "oracle.h"
#include "random_cluster.h"
#include "restart.h"
#include "walk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ORDERS 3
#define ROUNDING 1e-5
#define CLOSE 1e-7

struct tally {
    unsigned placed, refused, made_room, woken, unjudged, kept, figures, registered;
};

struct world {
    uint64_t seed;
    struct arena a;
    struct snapshot snap;
    struct policy policy;
    struct plan plan;
    struct oracle o;
    struct restart restart;
    struct tally *tally;
    bool spare_was_there; /* nothing is missing at the beginning */
    const uint32_t *vms;
    uint32_t n_vms;
};

static const char *id_of(const struct world *w, uint32_t vm)
{
    return w->snap.vms[vm].is.id;
}

static const struct recommendation *placement_of(const struct world *w, uint32_t vm)
{
    for (uint32_t i = 0; i < w->plan.n_recommendations; i++)
        if (w->plan.recommendations[i].action == ACTION_PLACE && w->plan.recommendations[i].vm == vm)
            return &w->plan.recommendations[i];
    return NULL;
}

static const struct fault *fault_of(const struct world *w, uint32_t vm)
{
    for (uint32_t i = 0; i < w->plan.n_faults; i++)
        if (w->plan.faults[i].code == FAULT_CANNOT_PLACE && w->plan.faults[i].vm == vm)
            return &w->plan.faults[i];
    return NULL;
}

/* The host that has the definition of the VM, where it cannot be reached now; IX_NONE: it can. */
static uint32_t out_of_reach(const struct world *w, uint32_t vm)
{
    uint32_t h = w->snap.vms[vm].host;
    enum host_state state = h == IX_NONE ? HOST_ON : w->snap.hosts[h].is.state;

    return state == HOST_STANDBY || state == HOST_POWERING_ON || state == HOST_DISCONNECTED ? h : IX_NONE;
}

static void begin(struct world *w, uint64_t seed, const struct cluster_options *options, struct tally *tally)
{
    struct rng r = {.state = seed};

    *w = (struct world){.seed = seed, .tally = tally};
    random_cluster(&r, options, &w->a, &w->snap);
    random_policy(&r, &w->policy);
    w->vms = new_vms(&w->snap, &w->a, &w->n_vms);
}

static void decide(struct world *w, const uint32_t *vms, uint32_t n)
{
    struct err err = {0};

    if (place_run(&w->snap, &w->policy, vms, n, &w->a, &w->plan, &err) < 0)
        fail_msg("seed %llu: %s", (unsigned long long)w->seed, err.text);
    oracle_init(&w->o, &w->snap, &w->plan.policy, &w->a);
    oracle_expect(&w->o, vms, n);
    restart_init(&w->restart, &w->o, RESTART_OF_SOURCE, &w->tally->unjudged, &w->a);
    uint32_t running = 0;
    for (uint32_t h = 0; h < w->snap.n_hosts; h++)
        running += oracle_runs_vms(&w->o, h);
    w->spare_was_there = restart_first_without(&w->restart, true) == IX_NONE &&
                         (w->snap.ha.policy != HA_HOST_FAILURES || running > w->snap.ha.hosts);
}

/* ---- every moment ---- */

static void check_moment(void *ctx, uint32_t i, bool begins)
{
    struct world *w = ctx;
    const struct recommendation *rec = &w->plan.recommendations[i];
    const struct oracle *o = &w->o;

    if (rec->action == ACTION_POWER_ON)
        return;
    if (begins && rec->action == ACTION_PLACE && out_of_reach(w, rec->vm) != IX_NONE) {
        w->tally->registered++;
        if (!o->woken[out_of_reach(w, rec->vm)])
            fail_msg("seed %llu: recommendation %u starts %s before its host can be reached",
                     (unsigned long long)w->seed, rec->id, id_of(w, rec->vm));
    }
    if (begins && (!oracle_receives(o, rec->to) || !oracle_may_run(o, rec->vm, rec->to, false) ||
                   oracle_meets(o, rec->vm, rec->to, false)))
        fail_msg("seed %llu: recommendation %u brings %s where it may not run", (unsigned long long)w->seed,
                 rec->id, id_of(w, rec->vm));
    for (int need = 0; begins && need < ORACLE_NEEDS; need++)
        if (oracle_needs(o, rec->vm, (enum oracle_need)need) > 0 &&
            oracle_taken(o, rec->to, (enum oracle_need)need) >
                oracle_limit(o, rec->to, (enum oracle_need)need) + ROUNDING)
            fail_msg("seed %llu: when recommendation %u begins, need %d of %s is %.10g of %.10g",
                     (unsigned long long)w->seed, rec->id, need, w->snap.hosts[rec->to].is.id,
                     oracle_taken(o, rec->to, (enum oracle_need)need),
                     oracle_limit(o, rec->to, (enum oracle_need)need));
    if (!w->spare_was_there || !restart_minds(&w->restart, rec->vm))
        return;
    uint32_t host = restart_first_without(&w->restart, false);
    if (host != IX_NONE)
        fail_msg("seed %llu: when recommendation %u has %s, not all VMs could be restarted if %s were lost",
                 (unsigned long long)w->seed, rec->id, begins ? "begun" : "succeeded",
                 restart_what_is_lost(&w->restart, host));
    w->tally->kept++;
}

static void walk_plan(struct world *w)
{
    struct rng r = {.state = w->seed};
    struct walk orders;

    walk_init(&orders, &w->plan, &w->o, check_moment, w, &w->a);
    for (int i = 0; i < ORDERS && w->plan.n_recommendations > 0; i++)
        walk_by_chance(&orders, &r);
    for (uint32_t i = 0; i < w->plan.n_recommendations; i++)
        walk_early(&orders, i);
    oracle_reset(&w->o);
}

/* One after the other: the figures, and who is moved at all. */
static void check_steps(struct world *w)
{
    for (uint32_t i = 0; i < w->plan.n_recommendations; i++) {
        const struct recommendation *rec = &w->plan.recommendations[i];
        bool moves = rec->action == ACTION_MIGRATE;
        if (moves &&
            (w->o.at[rec->vm] != rec->from || w->o.in_flight[rec->vm] || rec->reason != REASON_PREREQUISITE ||
             w->snap.vms[rec->vm].is.automation == AUTOMATION_DISABLED || oracle_forbids(&w->snap, rec) ||
             w->snap.vms[rec->vm].is.kind == VM_AGENT))
            fail_msg("seed %llu: recommendation %u moves %s", (unsigned long long)w->seed, rec->id,
                     id_of(w, rec->vm));
        if (rec->action == ACTION_POWER_ON &&
            (w->snap.hosts[rec->host].is.state != HOST_STANDBY || w->snap.hosts[rec->host].failover ||
             w->snap.hosts[rec->host].is.dpm == AUTOMATION_DISABLED))
            fail_msg("seed %llu: recommendation %u wakes %s", (unsigned long long)w->seed, rec->id,
                     w->snap.hosts[rec->host].is.id);
        w->tally->made_room += moves;
        w->tally->woken += rec->action == ACTION_POWER_ON;
        oracle_end(&w->o, rec);
        if (fabs(rec->imbalance_after - oracle_imbalance(&w->o)) > CLOSE)
            fail_msg("seed %llu: after recommendation %u the imbalance is %.10g, not %.10g",
                     (unsigned long long)w->seed, rec->id, oracle_imbalance(&w->o), rec->imbalance_after);
    }
    oracle_reset(&w->o);
}

/* ---- pools ---- */

/* What is reserved right below the pool (IX_NONE: the root), by those that run now or are about to. */
static double reserved_below(const struct world *w, uint32_t pool, int r)
{
    double sum = 0;

    for (uint32_t v = 0; v < w->snap.n_vms; v++)
        if (w->snap.vms[v].pool == pool && (w->o.at[v] != IX_NONE || w->o.also[v] != IX_NONE))
            sum += w->snap.vms[v].is.alloc[r].reservation;
    for (uint32_t p = 0; p < w->snap.n_pools; p++) {
        const struct alloc *set = &w->snap.pools[p].is.alloc[r];
        if (w->snap.pools[p].parent != pool)
            continue;
        sum += set->expandable ? fmin(fmax(set->reservation, reserved_below(w, p, r)), set->limit)
                               : set->reservation;
    }
    return sum;
}

/* Whether the pools give the VM what it reserves on top of what is reserved now; it may be among that
 * already: more is 0 then. */
static bool pools_give(const struct world *w, uint32_t vm, int r, double more)
{
    uint32_t p = w->snap.vms[vm].pool;

    if (!(w->snap.vms[vm].is.alloc[r].reservation > 0))
        return true;
    for (; p != IX_NONE; p = w->snap.pools[p].parent) {
        const struct alloc *set = &w->snap.pools[p].is.alloc[r];
        double used = reserved_below(w, p, r);
        if (used + more > set->limit + ROUNDING)
            return false;
        if (used + more <= set->reservation + ROUNDING)
            return true;
        if (!set->expandable)
            return false;
        more = fmin(more, used + more - set->reservation);
    }
    double capacity = 0;
    for (uint32_t h = 0; h < w->snap.n_hosts; h++)
        capacity += oracle_runs_vms(&w->o, h) ? host_room(&w->snap.hosts[h], r) : 0;
    return reserved_below(w, IX_NONE, r) + more <= capacity + ROUNDING;
}

/* percent: whether the share is still left free. */
static bool leaves_share(const struct world *w, int r, double more)
{
    enum oracle_need need = r == RES_CPU ? ORACLE_CPU_RESERVED : ORACLE_MEM_RESERVED;
    double reserved = more;
    double capacity = 0;

    if (w->snap.ha.policy != HA_PERCENT || !(w->snap.ha.percent[r] > 0))
        return true;
    for (uint32_t h = 0; h < w->snap.n_hosts; h++) {
        reserved += w->snap.hosts[h].is.state == HOST_DISCONNECTED ? 0 : oracle_taken(&w->o, h, need);
        capacity += oracle_runs_vms(&w->o, h) ? host_room(&w->snap.hosts[h], r) : 0;
    }
    for (uint32_t v = 0; v < w->snap.n_vms; v++)
        reserved -=
            w->o.at[v] != IX_NONE && w->o.also[v] != IX_NONE ? w->snap.vms[v].is.alloc[r].reservation : 0;
    return reserved <= capacity * (1 - w->snap.ha.percent[r] / 100) + ROUNDING;
}

/* A host is woken for what comes to it, or for a VM that is registered there and starts. */
static void check_not_in_vain(const struct world *w, uint32_t host)
{
    bool needed = false;

    for (uint32_t i = 0; i < w->plan.n_recommendations && !needed; i++) {
        const struct recommendation *rec = &w->plan.recommendations[i];
        bool moves = rec->action == ACTION_PLACE || rec->action == ACTION_MIGRATE;
        needed =
            moves && (rec->to == host || (rec->action == ACTION_PLACE && out_of_reach(w, rec->vm) == host));
    }
    if (!needed)
        fail_msg("seed %llu: %s is woken in vain", (unsigned long long)w->seed, w->snap.hosts[host].is.id);
}

/* In the end: pools, shares, pairs, one answer for each VM; no host is woken in vain. */
static void check_end(struct world *w)
{
    for (uint32_t i = 0; i < w->plan.n_recommendations; i++)
        if (w->plan.recommendations[i].action == ACTION_POWER_ON)
            check_not_in_vain(w, w->plan.recommendations[i].host);
    for (uint32_t i = 0; i < w->plan.n_recommendations; i++)
        oracle_end(&w->o, &w->plan.recommendations[i]);
    for (uint32_t i = 0; i < w->n_vms; i++) {
        uint32_t vm = w->vms[i];
        uint32_t peer = w->snap.vms[vm].ft_peer;
        bool placed = placement_of(w, vm) != NULL;
        if (placed == (fault_of(w, vm) != NULL))
            fail_msg("seed %llu: %s is %s", (unsigned long long)w->seed, id_of(w, vm),
                     placed ? "placed, and a fault says it is not" : "not placed, and nothing is said");
        if (peer != IX_NONE && placed != (placement_of(w, peer) != NULL))
            fail_msg("seed %llu: of %s and %s only one is powered on", (unsigned long long)w->seed,
                     id_of(w, vm), id_of(w, peer));
        for (int r = 0; r < RES_COUNT && placed; r++)
            if (!pools_give(w, vm, r, 0) ||
                (w->snap.vms[vm].is.alloc[r].reservation > 0 && !leaves_share(w, r, 0)))
                fail_msg("seed %llu: %s is placed, and its %s reservation is not there",
                         (unsigned long long)w->seed, id_of(w, vm), r == RES_CPU ? "CPU" : "memory");
        w->tally->placed += placed;
        w->tally->refused += !placed;
    }
    oracle_reset(&w->o);
}

/* ---- the largest first; the order in which they are named says nothing ---- */

static double size_of(const struct world *w, uint32_t vm)
{
    double size = 0;

    for (int r = 0; r < RES_COUNT; r++) {
        double largest = 0;
        for (uint32_t h = 0; h < w->snap.n_hosts; h++)
            if (w->snap.hosts[h].is.state != HOST_DISCONNECTED)
                largest = fmax(largest, w->snap.hosts[h].capacity[r]);
        size = fmax(size, w->o.entitlement[r][vm] / largest);
    }
    return size;
}

static void check_largest_first(const struct world *w)
{
    double last = NO_LIMIT;

    for (uint32_t i = 0; i < w->plan.n_recommendations; i++) {
        const struct recommendation *rec = &w->plan.recommendations[i];
        if (rec->action != ACTION_PLACE || w->snap.n_rules > 0 || w->snap.vms[rec->vm].ft_peer != IX_NONE)
            continue;
        double size = size_of(w, rec->vm);
        if (size > last + CLOSE)
            fail_msg("seed %llu: %s is larger than one that is placed before it", (unsigned long long)w->seed,
                     id_of(w, rec->vm));
        last = size;
    }
}

static void check_same_backwards(struct world *w)
{
    uint32_t *back = arena_array(&w->a, uint32_t, w->n_vms);
    struct plan again;
    struct err err = {0};

    for (uint32_t i = 0; i < w->n_vms; i++)
        back[i] = w->vms[w->n_vms - 1 - i];
    assert_int_equal(place_run(&w->snap, &w->policy, back, w->n_vms, &w->a, &again, &err), 0);
    if (!oracle_same_plan(&again, &w->plan))
        fail_msg("seed %llu: the same VMs named backwards, another plan", (unsigned long long)w->seed);
}

static void check_together(uint64_t seed, const struct cluster_options *options, struct tally *tally)
{
    struct world w;

    begin(&w, seed, options, tally);
    decide(&w, w.vms, w.n_vms);
    check_steps(&w);
    walk_plan(&w);
    check_end(&w);
    check_largest_first(&w);
    check_same_backwards(&w);
    arena_release(&w.a);
}

/* ---- one VM: what is refused ---- */

static bool fits_on(const struct world *w, uint32_t vm, uint32_t host)
{
    return oracle_receives(&w->o, host) && oracle_may_run(&w->o, vm, host, false) &&
           !oracle_meets(&w->o, vm, host, false) && oracle_fits(&w->o, vm, host);
}

static bool is_affine(const struct world *w, uint32_t vm)
{
    for (uint32_t i = 0; i < w->snap.n_rules; i++)
        for (uint32_t k = 0; w->snap.rules[i].is.kind == RULE_VM_AFFINE && k < w->snap.rules[i].vms.n; k++)
            if (w->snap.rules[i].vms.items[k] == vm)
                return true;
    return false;
}

static bool may_make_way(const struct world *w, uint32_t vm, uint32_t host)
{
    const struct vm_facts *v = &w->snap.vms[vm].is;

    return w->o.at[vm] == host && !w->o.in_flight[vm] && v->kind == VM_NORMAL &&
           v->automation != AUTOMATION_DISABLED && !v->immovable && !is_affine(w, vm);
}

/* A VM on the host whose move to any other would make room; IX_NONE: none. */
static uint32_t who_could_make_way(struct world *w, uint32_t vm, uint32_t host)
{
    unsigned asked = 0;

    for (uint32_t other = 0; other < w->snap.n_vms; other++) {
        if (!may_make_way(w, other, host))
            continue;
        /* nothing moves away for a filter that reads what moves change */
        if (!oracle_live_allows_at(&w->o, vm, host, FIT_PLACE, NULL, &asked))
            return IX_NONE;
        for (uint32_t to = 0; to < w->snap.n_hosts; to++) {
            if (to == host || !fits_on(w, other, to))
                continue;
            w->o.at[other] = to;
            bool enough = fits_on(w, vm, host);
            w->o.at[other] = host;
            if (enough)
                return other;
        }
    }
    return IX_NONE;
}

static bool may_be_woken(const struct world *w, uint32_t host)
{
    const struct host *h = &w->snap.hosts[host];
    bool sleeps = h->is.state == HOST_STANDBY && h->is.dpm != AUTOMATION_DISABLED && !h->failover &&
                  !host_is_avoided(h) && h->is.wake_failed_at == 0;

    for (uint32_t i = 0; i < w->snap.n_pending; i++)
        sleeps = sleeps && w->snap.pending[i].host != host;
    return sleeps;
}

/* A host in standby that would do. */
static bool could_be_woken(const struct world *w, uint32_t vm, uint32_t host)
{
    return may_be_woken(w, host) && oracle_may_run(&w->o, vm, host, false) &&
           !oracle_meets(&w->o, vm, host, false) && oracle_fits(&w->o, vm, host);
}

static void check_refused(struct world *w, uint32_t vm, const struct fault *f)
{
    bool waits = f->found->because && f->found->because->code == FIND_WAITS_FOR_HOST;
    bool pool = false;
    uint32_t registered = out_of_reach(w, vm);

    if (f->found->because && f->found->because->code == FIND_OUT_OF_REACH && registered == IX_NONE)
        fail_msg("seed %llu: %s can be reached", (unsigned long long)w->seed, id_of(w, vm));
    if (registered != IX_NONE && !may_be_woken(w, registered))
        return;
    for (int r = 0; r < RES_COUNT; r++)
        pool = pool || !pools_give(w, vm, r, w->snap.vms[vm].is.alloc[r].reservation);
    if (pool)
        return;
    for (uint32_t h = 0; h < w->snap.n_hosts; h++) {
        const char *host = w->snap.hosts[h].is.id;
        uint32_t other;
        if (fits_on(w, vm, h))
            fail_msg("seed %llu: %s, but it fits on %s", (unsigned long long)w->seed,
                     fault_code_name(f->code), host);
        if (!waits && could_be_woken(w, vm, h))
            fail_msg("seed %llu: %s, but it fits on %s, which sleeps", (unsigned long long)w->seed,
                     fault_code_name(f->code), host);
        if (oracle_receives(&w->o, h) && oracle_may_run(&w->o, vm, h, false) &&
            (other = who_could_make_way(w, vm, h)) != IX_NONE)
            fail_msg("seed %llu: %s, but it fits on %s if %s moves away", (unsigned long long)w->seed,
                     fault_code_name(f->code), host, id_of(w, other));
    }
}

/* What is said to be missing on the host that comes closest. */
static void check_figure(struct world *w, uint32_t vm, const struct fault *f)
{
    static const enum check of[ORACLE_NEEDS] = {CHECK_RESERVATION_CPU, CHECK_RESERVATION_MEM, CHECK_MEMORY,
                                                CHECK_MEMORY_FREE};
    const struct finding *why = f->found->because;

    if (f->host == IX_NONE || !why || why->code != FIND_CLOSEST_SHORT)
        return;
    for (int need = 0; need < ORACLE_NEEDS; need++) {
        double lack = oracle_taken(&w->o, f->host, (enum oracle_need)need) +
                      oracle_needs(&w->o, vm, (enum oracle_need)need) -
                      oracle_limit(&w->o, f->host, (enum oracle_need)need);
        if (lack > 0 && why->check == of[need] && fabs(why->figures[0].value - lack) < 1e-3)
            return;
    }
    fail_msg("seed %llu: %s, %.3f is not what is missing", (unsigned long long)w->seed,
             check_name(why->check), why->figures[0].value);
}

static void check_alternatives(const struct world *w, uint32_t vm)
{
    const struct recommendation *rec = placement_of(w, vm);

    for (uint32_t i = 0; rec && i < rec->n_alternatives; i++)
        if (rec->alternatives[i].host == rec->to || !fits_on(w, vm, rec->alternatives[i].host))
            fail_msg("seed %llu: %s is said to do as well for %s", (unsigned long long)w->seed,
                     w->snap.hosts[rec->alternatives[i].host].is.id, id_of(w, vm));
}

static bool keeps_nothing(const struct world *w)
{
    bool nothing = w->snap.ha.policy == HA_NONE;

    for (uint32_t v = 0; v < w->snap.n_vms; v++)
        nothing = nothing && w->snap.vms[v].is.kind != VM_SPARE;
    return nothing;
}

static void check_alone(uint64_t seed, const struct cluster_options *options, struct tally *tally)
{
    struct world w;

    begin(&w, seed, options, tally);
    for (uint32_t i = 0; i < w.n_vms; i++) {
        if (w.snap.vms[w.vms[i]].ft_peer != IX_NONE)
            continue;
        decide(&w, &w.vms[i], 1);
        const struct fault *f = fault_of(&w, w.vms[i]);
        if (f && keeps_nothing(&w)) {
            check_refused(&w, w.vms[i], f);
            check_figure(&w, w.vms[i], f);
            tally->figures++;
        }
        check_alternatives(&w, w.vms[i]);
        walk_plan(&w);
    }
    arena_release(&w.a);
}

static void run(const struct cluster_options *o, unsigned clusters)
{
    struct tally t = {0};

    for (unsigned i = 0; i < test_clusters(clusters); i++) {
        check_together(test_seed() + i, o, &t);
        check_alone(test_seed() + i, o, &t);
    }
    (void)printf(
        "%u placed, %u refused, %u moves made room, %u hosts woken; %u starts after the wake of their "
        "own host; %u refusals looked into; spare capacity was there at %u moments, %u searches took "
        "too long\n",
        t.placed, t.refused, t.made_room, t.woken, t.registered, t.figures, t.kept, t.unjudged);
    if (test_is_usual())
        assert_true(t.placed > clusters && t.refused > clusters / 4 && (!o->sleeping || t.registered > 0));
}

static void test_plain(void **state)
{
    (void)state;
    run(
        &(struct cluster_options){
            .hosts_max = 4, .vms_max = 16, .mixed_hosts = true, .tight = true, .newcomers = true},
        600);
}

static void test_rules_and_pools(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 5,
                                  .vms_max = 20,
                                  .mixed_hosts = true,
                                  .rules = true,
                                  .tight = true,
                                  .evacuate = true,
                                  .agents = true,
                                  .in_flight = true,
                                  .deep_pools = true,
                                  .sleeping = true,
                                  .idle_agents = true,
                                  .ft = true,
                                  .newcomers = true,
                                  .approved = true},
        600);
}

static void test_spare_capacity(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 6,
                                  .vms_max = 14,
                                  .rules = true,
                                  .sleeping = true,
                                  .idle_agents = true,
                                  .ha = true,
                                  .newcomers = true},
        1500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_rules_and_pools),
        cmocka_unit_test(test_spare_capacity),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
