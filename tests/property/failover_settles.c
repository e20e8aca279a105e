/* Under flat load moves end, whether the reservations leave room for a failure or not: after PASSES_TO_SETTLE
 * passes no VM moves for failover capacity, and none returns to a host that it left; soon after the first
 * cool-downs, none moves at all. Moves that close gaps load no host beyond its headroom. Maintenance ends
 * where the other hosts have room, if need be in the capacity for failures. */
#include "core/pass.h"
#include "model/snapshot_build.h"
#include "oracle.h"
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define HOSTS_MAX 6
#define CPU_MHZ 32000
#define MEM_MB 65536
#define PASSES 12 /* longer than a cool-down */
#define PASSES_TO_SETTLE 2
#define PASSES_OF_RELIEF 3 /* failover slots that are found anew may leave room for one more */
#define PASSES_TO_END                                                                                        \
    8 /* level 5 moves for any gain: that may wait for the cool-downs of the first passes                    \
       */

struct world {
    uint64_t seed;
    struct rng r;
    struct arena a;
    struct snapshot snap;
    struct policy policy;
    struct plan plan;
    bool *was_on; /* by VM and host */
    int pass;
};

struct tally {
    unsigned gaps, closing, moves, stuck, given_up;
};

/* ---- clusters ---- */

static void add_hosts(struct world *w, struct inventory *inv)
{
    uint32_t n = 2 + rng_below(&w->r, rng_below(&w->r, 3) == 0 ? 1 : HOSTS_MAX - 1);
    bool mixed = rng_below(&w->r, 3) == 0;

    for (uint32_t i = 0; i < n; i++) {
        struct seen_host *h = inventory_add_host(inv, &w->a);
        double size = mixed ? 1 + rng_below(&w->r, 2) : 1;
        h->is.id = h->is.name = arena_printf(&w->a, "h%u", i);
        h->is.total[RES_CPU] = CPU_MHZ * size;
        h->is.total[RES_MEM] = MEM_MB * size;
        h->is.cores = 16;
        h->is.mem_free_mb = h->is.total[RES_MEM];
    }
    if (n > 2 && rng_below(&w->r, 3) == 0)
        inv->hosts[rng_below(&w->r, n)].is.state = HOST_ENTERING_MAINTENANCE;
}

/* VMs that together have this part of the memory, of which a part of them reserve a part. Some hosts are
 * fuller than others, none beyond its size. */
static void add_vms(struct world *w, struct inventory *inv)
{
    struct rng *r = &w->r;
    double fill = rng_range(r, 0.2, 0.95);
    double protected = rng_below(r, 2) == 0 ? 1 : rng_range(r, 0.2, 1);
    double uneven = rng_below(r, 2) == 0 ? 0 : 0.5;
    double reserved = rng_below(r, 2) == 0 ? 1 : rng_unit(r);
    double load = rng_range(r, 0.05, 0.8);
    bool halves = rng_below(r, 3) == 0;
    uint32_t largest = 1 + rng_below(r, 6);

    for (size_t h = 0; h < inv->n_hosts; h++) {
        double left = inv->hosts[h].is.total[RES_MEM] * fmin(fill * rng_range(r, 1 - uneven, 1 + uneven), 1);
        for (double mem = 0; left > 0; left -= mem) {
            struct seen_vm *v = inventory_add_vm(inv, &w->a);
            mem = 4096 * (1 + rng_below(r, largest));
            if (mem > left) {
                inv->n_vms--;
                break;
            }
            v->is.mem_mb = mem;
            v->is.vcpus = 4;
            vm_facts_default(&v->is);
            v->is.id = v->is.name = arena_printf(&w->a, "v%03zu", inv->n_vms);
            v->is.state = VM_ON;
            v->host = inv->hosts[h].is.id;
            v->is.demand[RES_CPU] = fmin(CPU_MHZ * mem / MEM_MB * load * rng_range(r, 0.5, 1.5), 4 * 2000);
            v->is.demand[RES_MEM] = mem * rng_range(r, 0.2, 0.8);
            v->is.consumed_mb = mem * rng_range(r, 0.8, 1);
            if (rng_unit(r) < protected)
                v->is.alloc[RES_MEM].reservation = mem * reserved;
            if (rng_unit(r) < protected / 3)
                v->is.alloc[RES_CPU].reservation = v->is.demand[RES_CPU];
            vm_facts_windows(&v->is);
            inv->hosts[h].is.mem_free_mb -= v->is.consumed_mb;
            if (!halves)
                continue;
            const char **ids = arena_array(&w->a, const char *, inv->n_hosts);
            for (size_t i = h % 2; i < inv->n_hosts; i += 2)
                ids[v->compatible_hosts.n++] = inv->hosts[i].is.id;
            v->compatible_given = true;
            v->compatible_hosts.items = ids;
        }
    }
}

static void choose_policy(struct world *w, struct inventory *inv)
{
    struct rng *r = &w->r;

    inv->ha = (struct ha_facts){.policy = HA_HOST_FAILURES, .hosts = 1 + rng_below(r, 2)};
    if (rng_below(r, 4) == 0)
        inv->ha = (struct ha_facts){
            .policy = HA_PERCENT,
            .percent = {[RES_CPU] = rng_range(r, 10, 40), [RES_MEM] = rng_range(r, 10, 40)}};
    if (inv->n_hosts > 2 && rng_below(r, 6) == 0) {
        const char **ids = arena_array(&w->a, const char *, 1);
        inv->ha = (struct ha_facts){.policy = HA_DEDICATED};
        ids[0] = inv->hosts[rng_below(r, (uint32_t)inv->n_hosts)].is.id;
        inv->ha_failover_hosts = (struct ids){.items = ids, .n = 1};
    }
    policy_default(&w->policy);
    w->policy.migration_threshold = 1 + rng_below(r, 5);
}

static void begin(struct world *w, uint64_t seed)
{
    struct inventory inv = {.cluster = "settles", .time = 1767225600};
    struct err err = {0};

    *w = (struct world){.seed = seed, .r = {.state = seed}};
    add_hosts(w, &inv);
    add_vms(w, &inv);
    choose_policy(w, &inv);
    if (snapshot_build(&inv, &w->a, &w->snap, &err) < 0)
        fail_msg("seed %llu: %s", (unsigned long long)seed, err.text);
}

static void plan_it(struct world *w)
{
    struct err err = {0};

    if (pass_run(&w->snap, &w->policy, &w->a, &w->plan, &err) < 0)
        fail_msg("seed %llu: %s", (unsigned long long)w->seed, err.text);
}

/* The plan succeeds at once; no demand changes. */
static void apply_plan(struct world *w)
{
    struct snapshot then;

    oracle_carried_out(&w->plan, w->snap.time, &w->a, &then);
    w->snap = then;
    w->snap.time += w->policy.interval_s;
    w->pass++;
}

static double load_after(const struct plan *plan, uint32_t host, int r)
{
    for (uint32_t i = 0; i < plan->after.n_hosts; i++)
        if (plan->after.hosts[i].host == host)
            return plan->after.hosts[i].n[r];
    return 0;
}

/* What a move that closes a gap may not do. A host that must be emptied may fill others. */
static void check_closing_move(const struct world *w, const struct recommendation *rec)
{
    for (uint32_t i = 0; i < w->plan.n_recommendations; i++)
        if (w->snap.hosts[w->plan.recommendations[i].from].is.state == HOST_ENTERING_MAINTENANCE)
            return;
    for (int r = 0; r < RES_COUNT; r++)
        if (load_after(&w->plan, rec->to, r) > 1 - w->policy.headroom_percent[r] / 100 + 1e-6 &&
            w->policy.migration_threshold == 1)
            fail_msg("seed %llu: pass %d loads %s to %.0f %% for failover capacity",
                     (unsigned long long)w->seed, w->pass, w->snap.hosts[rec->to].is.id,
                     load_after(&w->plan, rec->to, r) * 100);
}

/* Which moves for balance remain is a matter of levels, but mandatory moves end at once. */
static int passes_to_end(const struct world *w)
{
    static const int passes[] = {
        0, PASSES_TO_SETTLE, PASSES_OF_RELIEF, PASSES_OF_RELIEF, PASSES_OF_RELIEF, PASSES_TO_END};

    return passes[w->policy.migration_threshold];
}

static void check_pass(struct world *w, struct tally *t)
{
    for (uint32_t i = 0; i < w->plan.n_recommendations; i++) {
        const struct recommendation *rec = &w->plan.recommendations[i];
        bool closes = rec->reason == REASON_SPARE_CAPACITY;
        if (w->pass >= PASSES_TO_SETTLE && closes)
            fail_msg("seed %llu: pass %d still moves %s from %s to %s: %s", (unsigned long long)w->seed,
                     w->pass, w->snap.vms[rec->vm].is.id, w->snap.hosts[rec->from].is.id,
                     w->snap.hosts[rec->to].is.id, reason_name(rec->reason));
        bool *was_on = &w->was_on[rec->vm * w->snap.n_hosts];
        was_on[rec->from] = true;
        if (w->pass >= passes_to_end(w) || (w->pass >= PASSES_TO_SETTLE && was_on[rec->to]))
            fail_msg("seed %llu: pass %d moves %s from %s to %s: %s", (unsigned long long)w->seed, w->pass,
                     w->snap.vms[rec->vm].is.id, w->snap.hosts[rec->from].is.id, w->snap.hosts[rec->to].is.id,
                     reason_name(rec->reason));
        t->moves++;
        t->closing += closes;
        if (closes)
            check_closing_move(w, rec);
    }
}

/* ---- maintenance ---- */

/* What the hosts that are on lack of their headroom after the plan. */
static double headroom_lack(const struct plan *plan, const struct policy *policy)
{
    double lack = 0;

    for (uint32_t i = 0; i < plan->after.n_hosts; i++)
        for (int r = 0; r < RES_COUNT; r++)
            lack += fmax(plan->after.hosts[i].n[r] - 1 + policy->headroom_percent[r] / 100, 0);
    return lack;
}

/* Where maintenance leaves failover capacity missing anyway, it fills no host for what would be kept of it:
 * the hosts have as much headroom as if nobody asked for that capacity. */
static void check_given_up(struct world *w, struct tally *t)
{
    struct snapshot alone = w->snap;
    struct policy policy = w->policy;
    struct plan kept;
    struct plan plan;
    struct err err = {0};
    bool missing = false;
    bool enters = false;

    policy.migration_threshold = 1;
    alone.ha.policy = HA_NONE;
    alone.promise = (struct failover_promise){0};
    for (uint32_t i = 0; i < w->snap.n_hosts; i++)
        enters = enters || w->snap.hosts[i].is.state == HOST_ENTERING_MAINTENANCE;
    if (!enters || w->snap.ha.policy == HA_DEDICATED)
        return;
    assert_int_equal(pass_run(&w->snap, &policy, &w->a, &kept, &err), 0);
    assert_int_equal(pass_run(&alone, &policy, &w->a, &plan, &err), 0);
    for (uint32_t i = 0; i < kept.n_faults; i++)
        missing = missing || kept.faults[i].found->code == FIND_NO_RESTART_ROOM ||
                  kept.faults[i].found->code == FIND_NO_HOST_TO_LOSE;
    for (uint32_t i = 0; i < kept.n_recommendations; i++)
        missing = missing && kept.recommendations[i].reason == REASON_MAINTENANCE;
    if (!missing || kept.n_recommendations != plan.n_recommendations)
        return;
    t->given_up++;
    if (headroom_lack(&kept, &policy) > headroom_lack(&plan, &policy) + 1e-6)
        fail_msg("seed %llu: maintenance leaves failover capacity missing, and takes %.0f instead of %.0f %% "
                 "of headroom",
                 (unsigned long long)w->seed, headroom_lack(&kept, &policy) * 100,
                 headroom_lack(&plan, &policy) * 100);
}

/* What VMs use of a host. */
struct use {
    double mem_mb, arrived_mb, reserved[RES_COUNT];
};

static void use_add(struct use *u, const struct vm_facts *v)
{
    u->mem_mb += v->mem_mb + v->overhead_mb;
    for (int r = 0; r < RES_COUNT; r++)
        u->reserved[r] += v->alloc[r].reservation + (r == RES_MEM ? v->overhead_mb : 0);
}

static bool has_room(const struct world *w, uint32_t host, struct use u, const struct vm_facts *v)
{
    const struct host *h = &w->snap.hosts[host];

    use_add(&u, v);
    return h->is.state == HOST_ON && !h->failover && u.mem_mb <= h->is.total[RES_MEM] &&
           u.arrived_mb + v->mem_mb + v->overhead_mb <= h->is.mem_free_mb &&
           u.reserved[RES_CPU] <= h->capacity[RES_CPU] && u.reserved[RES_MEM] <= h->capacity[RES_MEM];
}

/* Whether the VMs that are still on hosts under maintenance fit, one after the other, on the first host with
 * room. */
static bool could_all_leave(const struct world *w, uint32_t *ret_left)
{
    struct use used[HOSTS_MAX + 1] = {0};

    *ret_left = 0;
    for (uint32_t i = 0; i < w->snap.n_vms; i++)
        use_add(&used[w->snap.vms[i].host], &w->snap.vms[i].is);
    for (uint32_t i = 0; i < w->snap.n_vms; i++) {
        const struct vm *v = &w->snap.vms[i];
        uint32_t to = 0;
        if (w->snap.hosts[v->host].is.state != HOST_ENTERING_MAINTENANCE)
            continue;
        ++*ret_left;
        while (to < w->snap.n_hosts && !(vm_is_compatible(v, to) && has_room(w, to, used[to], &v->is)))
            to++;
        if (to == w->snap.n_hosts)
            return false;
        use_add(&used[to], &v->is);
        used[to].arrived_mb += v->is.mem_mb + v->is.overhead_mb;
    }
    return true;
}

static void check_maintenance(const struct world *w, struct tally *t)
{
    uint32_t left;

    if (could_all_leave(w, &left) && left > 0)
        fail_msg("seed %llu: %u VMs have room elsewhere, and are still on the host that enters maintenance",
                 (unsigned long long)w->seed, left);
    t->stuck += left > 0;
}

static void check(uint64_t seed, struct tally *t)
{
    struct world w;

    begin(&w, seed);
    w.was_on = arena_array(&w.a, bool, (size_t)w.snap.n_vms *w.snap.n_hosts);
    check_given_up(&w, t);
    for (; w.pass < PASSES; apply_plan(&w)) {
        plan_it(&w);
        check_pass(&w, t);
        for (uint32_t i = 0; i < w.plan.n_faults && w.pass == PASSES_TO_SETTLE; i++)
            t->gaps += w.plan.faults[i].code == FAULT_SPARE_MISSING;
    }
    check_maintenance(&w, t);
    arena_release(&w.a);
}

static void test_clusters_settle(void **state)
{
    struct tally t = {0};

    (void)state;
    for (unsigned i = 0; i < test_clusters(2000); i++)
        check(test_seed() + i, &t);
    (void)printf(
        "%u moves, %u of them close gaps; %u faults stay; %u hosts are not emptied; %u give up failover "
        "capacity\n",
        t.moves, t.closing, t.gaps, t.stuck, t.given_up);
    if (test_is_usual())
        assert_true(t.closing > 50 && t.gaps > 200 && t.given_up > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_clusters_settle)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
