/* In every order that depends_on allows, with any overlap: no rule is newly violated at any moment, and no
 * host gets more than its capacity. And no dependency could be left out. */
#include "core/pass.h"
#include "oracle.h"
#include "random_cluster.h"
#include "walk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define ORDERS 6 /* tried for each plan */
#define ROUNDING 1e-5

static const char *const need_names[ORACLE_NEEDS] = {"CPU reservations", "memory reservations",
                                                     "admitted memory", "physical memory"};

/* In the plans so far. */
static unsigned exchanged, waited;

struct world {
    uint64_t seed;
    struct oracle o;
    const struct plan *plan;
    unsigned *filters;              /* that moves change: how often they were asked */
    double (*before)[ORACLE_NEEDS]; /* by host, at the start */
};

/* Was this pair on one host before the first move? Then the rule was violated from the start. */
static bool shared_a_host_before(const struct oracle *o, uint32_t x, uint32_t y)
{
    const uint32_t mine[] = {o->home[x], o->home_also[x]};

    for (int i = 0; i < 2; i++)
        if (mine[i] != IX_NONE && (o->home[y] == mine[i] || o->home_also[y] == mine[i]))
            return true;
    return false;
}

/* The VM has begun to occupy its destination. */
static void check_arrival(void *ctx, uint32_t i, bool begins)
{
    const struct world *w = ctx;
    const struct recommendation *rec = &w->plan->recommendations[i];
    const struct oracle *o = &w->o;

    if (!begins || oracle_is_power(rec))
        return;
    if (!oracle_receives(o, rec->to) || !oracle_may_run(o, rec->vm, rec->to, false))
        fail_msg("seed %llu: recommendation %u moves its VM where it may not run",
                 (unsigned long long)w->seed, rec->id);
    for (uint32_t v = 0; v < o->snap->n_vms; v++)
        if (v != rec->vm && oracle_is_on(o, v, rec->to) && oracle_kept_apart(o, v, rec->vm, false) &&
            !shared_a_host_before(o, v, rec->vm))
            fail_msg("seed %llu: when recommendation %u begins, %s and %s are together",
                     (unsigned long long)w->seed, rec->id, o->snap->vms[v].is.id,
                     o->snap->vms[rec->vm].is.id);
    if (!oracle_live_allows(o, w->plan, rec, w->filters))
        fail_msg("seed %llu: when recommendation %u begins, a filter that moves change refuses %s",
                 (unsigned long long)w->seed, rec->id, o->snap->hosts[rec->to].is.id);
    for (int need = 0; need < ORACLE_NEEDS; need++) {
        double taken = oracle_taken(o, rec->to, (enum oracle_need)need);
        double most = fmax(oracle_limit(o, rec->to, (enum oracle_need)need), w->before[rec->to][need]);
        if (oracle_needs(o, rec->vm, (enum oracle_need)need) > 0 && taken > most + ROUNDING)
            fail_msg("seed %llu: when recommendation %u begins, %s of %s is %.10g of %.10g",
                     (unsigned long long)w->seed, rec->id, need_names[need], o->snap->hosts[rec->to].is.id,
                     taken, most);
    }
}

/* Everything that came earlier has arrived; of what left the destination, only what the recommendation names
 * is gone, and of that not even `dropped`. */
static bool fits_without(struct world *w, uint32_t i, uint32_t dropped)
{
    const struct recommendation *rec = &w->plan->recommendations[i];
    struct oracle *o = &w->o;
    bool fits = true;

    oracle_reset(o);
    for (uint32_t k = 0; k <= i; k++) {
        const struct recommendation *earlier = &w->plan->recommendations[k];
        if (earlier->to == rec->to)
            oracle_begin(o, earlier);
    }
    for (uint32_t k = 0; k < rec->n_depends_on; k++) {
        const struct recommendation *needed = &w->plan->recommendations[rec->depends_on[k] - 1];
        if (rec->depends_on[k] == dropped && needed->action == ACTION_POWER_ON)
            return needed->host != rec->to;
        if (rec->depends_on[k] != dropped && !oracle_is_power(needed) && needed->vm != rec->vm)
            o->at[needed->vm] = IX_NONE;
    }
    for (uint32_t v = 0; v < o->snap->n_vms; v++)
        fits =
            fits && (v == rec->vm || !oracle_is_on(o, v, rec->to) || !oracle_kept_apart(o, v, rec->vm, true));
    fits = fits && oracle_counts_allow(o, rec->vm, rec->to, FIT_MOVE);
    for (int need = 0; need < ORACLE_NEEDS; need++)
        fits = fits && (!(oracle_needs(o, rec->vm, (enum oracle_need)need) > 0) ||
                        oracle_taken(o, rec->to, (enum oracle_need)need) <=
                            oracle_limit(o, rec->to, (enum oracle_need)need) + ROUNDING / 2);
    return fits;
}

/* Whether room is kept for failures that the VM's reservation must not take: the program "spare" knows how
 * much. */
static bool minds_spare(const struct oracle *o, const struct recommendation *rec)
{
    bool kept = o->snap->ha.policy == HA_HOST_FAILURES || o->snap->ha.policy == HA_PERCENT;

    for (uint32_t v = 0; v < o->snap->n_vms; v++)
        kept = kept || o->snap->vms[v].is.kind == VM_SPARE;
    return kept && (oracle_needs(o, rec->vm, ORACLE_CPU_RESERVED) > 0 ||
                    oracle_needs(o, rec->vm, ORACLE_MEM_RESERVED) > 0);
}

/* A host goes down after every move off it, and after nothing else. */
static void check_empties(const struct world *w, const struct recommendation *off)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < w->plan->n_recommendations; i++) {
        const struct recommendation *rec = &w->plan->recommendations[i];
        if (oracle_is_power(rec) || rec->from != off->host)
            continue;
        if (n >= off->n_depends_on || off->depends_on[n++] != rec->id)
            fail_msg("seed %llu: recommendation %u does not wait for %u", (unsigned long long)w->seed,
                     off->id, rec->id);
    }
    if (n != off->n_depends_on)
        fail_msg("seed %llu: recommendation %u waits for %u others", (unsigned long long)w->seed, off->id,
                 off->n_depends_on - n);
}

static bool takes_cells(const struct world *w, uint32_t vm)
{
    const struct vm_facts *v = &w->o.snap->vms[vm].is;

    return v->numa.n > 0 || v->device_requests.n > 0;
}

/* Whether a filter that moves change keeps the plan's order of the two: one of them is bound where both come
 * or go. Or both take NUMA cells or devices there, and which ones depends on the order. */
static bool keeps_order(struct world *w, const struct recommendation *rec, uint32_t id)
{
    const struct recommendation *earlier = &w->plan->recommendations[id - 1];
    unsigned mine = 0;
    unsigned theirs = 0;

    if (oracle_is_power(earlier))
        return false;
    if (takes_cells(w, rec->vm) && takes_cells(w, earlier->vm) &&
        (earlier->to == rec->to || earlier->from == rec->to || earlier->to == rec->from))
        return true;
    (void)oracle_live_allows(&w->o, w->plan, rec, &mine);
    (void)oracle_live_allows(&w->o, w->plan, earlier, &theirs);
    return (mine > 0 && (earlier->to == rec->to || earlier->from == rec->to)) ||
           (theirs > 0 && (earlier->to == rec->to || earlier->to == rec->from));
}

/* Whether the earlier one brings the VM to where this one takes it from. */
static bool continues(const struct world *w, const struct recommendation *rec, uint32_t id)
{
    const struct recommendation *earlier = &w->plan->recommendations[id - 1];

    return !oracle_is_power(earlier) && !oracle_is_power(rec) && earlier->vm == rec->vm &&
           earlier->to == rec->from;
}

static void check_minimal(struct world *w)
{
    for (uint32_t i = 0; i < w->plan->n_recommendations; i++) {
        const struct recommendation *rec = &w->plan->recommendations[i];
        if (rec->action == ACTION_POWER_OFF) {
            check_empties(w, rec);
            continue;
        }
        if (!oracle_is_power(rec) &&
            (fits_without(w, i, 0), !oracle_counts_allow(&w->o, rec->vm, rec->to, FIT_MOVE)))
            fail_msg("seed %llu: a count is above its limit where recommendation %u brings %s",
                     (unsigned long long)w->seed, rec->id, w->o.snap->vms[rec->vm].is.id);
        for (uint32_t k = 0; k < rec->n_depends_on; k++) {
            if (rec->depends_on[k] >= rec->id || (k > 0 && rec->depends_on[k] <= rec->depends_on[k - 1]))
                fail_msg("seed %llu: recommendation %u depends on %u", (unsigned long long)w->seed, rec->id,
                         rec->depends_on[k]);
            bool wakes = w->plan->recommendations[rec->depends_on[k] - 1].action == ACTION_POWER_ON;
            if (keeps_order(w, rec, rec->depends_on[k]) || continues(w, rec, rec->depends_on[k]))
                continue;
            if ((wakes || !minds_spare(&w->o, rec)) && fits_without(w, i, rec->depends_on[k]))
                fail_msg("seed %llu: recommendation %u could do without %u", (unsigned long long)w->seed,
                         rec->id, rec->depends_on[k]);
        }
    }
}

static void walk_plan(uint64_t seed, const struct cluster_options *options, unsigned *dependencies,
                      unsigned *filters)
{
    struct arena a = {0};
    struct rng r = {.state = seed};
    struct snapshot snap;
    struct policy policy;
    struct plan plan;
    struct err err = {0};

    random_cluster(&r, options, &a, &snap);
    for (uint32_t h = 0; h < snap.n_hosts; h++) /* the model of live filters does not know of it */
        snap.hosts[h].own = (struct own_use){0};
    random_policy(&r, &policy);
    if (options->power)
        random_dpm(&r, &policy);
    if (options->room)
        random_room(&r, &policy);
    if (options->deep)
        deep_policy(&policy);
    assert_int_equal(pass_run(&snap, &policy, &a, &plan, &err), 0);
    struct world w = {.seed = seed, .plan = &plan, .filters = filters};
    struct walk orders;
    oracle_init(&w.o, &snap, &plan.policy, &a);
    walk_init(&orders, &plan, &w.o, check_arrival, &w, &a);
    w.before = arena_alloc(&a, snap.n_hosts, sizeof w.before[0]);
    for (uint32_t h = 0; h < snap.n_hosts; h++)
        for (int need = 0; need < ORACLE_NEEDS; need++)
            w.before[h][need] = oracle_taken(&w.o, h, (enum oracle_need)need);
    check_minimal(&w);
    for (int i = 0; i < ORDERS && plan.n_recommendations > 0; i++)
        walk_by_chance(&orders, &r);
    for (uint32_t i = 0; i < plan.n_recommendations; i++)
        walk_early(&orders, i);
    for (uint32_t i = 0; i < plan.n_recommendations; i++) {
        const struct recommendation *rec = &plan.recommendations[i];
        *dependencies += rec->n_depends_on;
        exchanged += rec->reason == REASON_EXCHANGE;
        for (uint32_t k = 0; k < rec->n_depends_on; k++)
            waited += continues(&w, rec, rec->depends_on[k]);
    }
    arena_release(&a);
}

static void run(const struct cluster_options *o, unsigned clusters)
{
    unsigned dependencies = 0;
    unsigned filters = 0;

    clusters = test_some(clusters);
    for (unsigned i = 0; i < test_clusters(clusters); i++)
        walk_plan(test_seed() + i, o, &dependencies, &filters);
    (void)printf("%u dependencies, live filters asked %u times\n", dependencies, filters);
    if (test_is_usual())
        assert_true(dependencies > 0);
}

static void test_tight(void **state)
{
    (void)state;
    run(
        &(struct cluster_options){
            .hosts_max = 6, .vms_max = 50, .mixed_hosts = true, .tight = true, .rules = true},
        2500);
}

static void test_evacuations(void **state)
{
    (void)state;
    run(
        &(struct cluster_options){
            .hosts_max = 8, .vms_max = 60, .tight = true, .rules = true, .evacuate = true, .agents = true},
        2500);
}

/* Hosts at 85 to 99 % of memory, consumed or reserved: VMs change places, and some wait on a third host. */
static void test_full(void **state)
{
    (void)state;
    exchanged = waited = 0;
    run(&(struct cluster_options){.hosts_max = 6, .vms_max = 40, .mixed_hosts = true, .full = true}, 2500);
    run(
        &(struct cluster_options){
            .hosts_max = 6, .vms_max = 40, .rules = true, .tight = true, .full = true, .ha = true},
        1500);
    (void)printf("%u moves of exchanges, %u of them from where a VM waited\n", exchanged, waited);
    if (test_is_usual())
        assert_true(exchanged > test_some(500) && waited > test_some(20));
}

/* What keeps the plan's order also frees memory: what is needed beside that is no more than needed. */
static void test_cells(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 6, .vms_max = 40, .mixed_hosts = true, .cells = true}, 1000);
    run(
        &(struct cluster_options){
            .hosts_max = 6, .vms_max = 40, .rules = true, .tight = true, .cells = true, .full = true},
        1000);
}

static void test_with_moves_under_way(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 8,
                                  .vms_max = 60,
                                  .mixed_hosts = true,
                                  .tight = true,
                                  .rules = true,
                                  .evacuate = true,
                                  .in_flight = true},
        2500);
}

static void test_failures(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 6,
                                  .vms_max = 30,
                                  .mixed_hosts = true,
                                  .rules = true,
                                  .evacuate = true,
                                  .deep_pools = true,
                                  .idle_agents = true,
                                  .ha = true},
        1500);
}

static void test_everything(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 6,
                                  .vms_max = 40,
                                  .mixed_hosts = true,
                                  .tight = true,
                                  .rules = true,
                                  .evacuate = true,
                                  .agents = true,
                                  .in_flight = true,
                                  .deep_pools = true,
                                  .sleeping = true,
                                  .idle_agents = true,
                                  .ft = true,
                                  .ha = true,
                                  .approved = true},
        1500);
}

static void test_power(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 8,
                                  .vms_max = 40,
                                  .mixed_hosts = true,
                                  .rules = true,
                                  .evacuate = true,
                                  .in_flight = true,
                                  .sleeping = true,
                                  .ha = true,
                                  .power = true},
        1500);
}

static void test_room(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 8,
                                  .vms_max = 40,
                                  .mixed_hosts = true,
                                  .tight = true,
                                  .rules = true,
                                  .in_flight = true,
                                  .ha = true,
                                  .power = true,
                                  .room = true},
        1500);
}

static void test_deep_search(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 8,
                                  .vms_max = 40,
                                  .mixed_hosts = true,
                                  .tight = true,
                                  .rules = true,
                                  .evacuate = true,
                                  .in_flight = true,
                                  .ha = true,
                                  .full = true,
                                  .deep = true},
        400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tight),
        cmocka_unit_test(test_evacuations),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_with_moves_under_way),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_power),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_deep_search),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
