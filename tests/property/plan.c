/* A plan's statements about itself are true: every figure equals its recomputation from the snapshot,
 * every move for balance lowers the imbalance, limits are kept, and the same input gives the same plan. */
#include "core/pass.h"
#include "oracle.h"
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/* Running sums against sums taken anew, and a root of a small difference. */
#define CLOSE 1e-7

struct world {
    uint64_t seed;
    struct arena a;
    struct snapshot snap;
    struct policy policy;
    struct plan plan;
    struct oracle o;
    bool *asleep; /* by host: none is woken */
};

static void begin(struct world *w, uint64_t seed, const struct cluster_options *options)
{
    struct rng r = {.state = seed};
    struct err err = {0};

    *w = (struct world){.seed = seed};
    random_cluster(&r, options, &w->a, &w->snap);
    random_policy(&r, &w->policy);
    if (options->power)
        random_dpm(&r, &w->policy);
    assert_int_equal(pass_run(&w->snap, &w->policy, &w->a, &w->plan, &err), 0);
    oracle_init(&w->o, &w->snap, &w->plan.policy, &w->a);
    w->asleep = arena_array(&w->a, bool, w->snap.n_hosts);
}

static void check_metrics(const struct world *w, const struct metrics *m, const char *when)
{
    double weight[RES_COUNT];
    uint32_t on = 0;

    oracle_weights(&w->o, weight);
    for (uint32_t h = 0; h < w->snap.n_hosts; h++) {
        if (!oracle_runs_vms(&w->o, h))
            continue;
        for (int r = 0; r < RES_COUNT; r++)
            if (m->hosts[on].host != h ||
                fabs(m->hosts[on].n[r] - oracle_norm(&w->o, h, (enum resource)r)) > CLOSE)
                fail_msg("seed %llu: %s, N of %s is %.10g, not %.10g", (unsigned long long)w->seed, when,
                         w->snap.hosts[h].is.id, oracle_norm(&w->o, h, (enum resource)r), m->hosts[on].n[r]);
        on++;
    }
    assert_int_equal(m->n_hosts, on);
    for (int r = 0; r < RES_COUNT; r++) {
        if (m->weight[r] != weight[r])
            fail_msg("seed %llu: %s, the weight is %g, not %g", (unsigned long long)w->seed, when, weight[r],
                     m->weight[r]);
        if (fabs(m->imbalance_of[r] - oracle_sigma(&w->o, (enum resource)r)) > CLOSE)
            fail_msg("seed %llu: %s, σ is %.10g, not %.10g", (unsigned long long)w->seed, when,
                     oracle_sigma(&w->o, (enum resource)r), m->imbalance_of[r]);
    }
    double target = on > 0 ? 0.1 * (double)(5 - w->plan.policy.migration_threshold) * sqrt(2.0 / on) : 0;
    if (fabs(m->imbalance - oracle_imbalance(&w->o)) > CLOSE || fabs(m->target - target) > CLOSE)
        fail_msg("seed %llu: %s, the imbalance is %.10g of %.10g, not %.10g of %.10g",
                 (unsigned long long)w->seed, when, oracle_imbalance(&w->o), target, m->imbalance, m->target);
}

static double widest(const struct oracle *o, enum resource r, double *ret_most)
{
    double least = NO_LIMIT;

    *ret_most = 0;
    for (uint32_t h = 0; h < o->snap->n_hosts; h++) {
        if (!host_can_run_vms(&o->snap->hosts[h]))
            continue;
        least = fmin(least, oracle_norm(o, h, r));
        *ret_most = fmax(*ret_most, oracle_norm(o, h, r));
    }
    return *ret_most - least;
}

/* Whether there was something to even out before this move (§3.1.1). */
static bool needed_balance(const struct oracle *o, double imbalance, double target,
                           const struct policy *policy)
{
    static const double outlier[] = {0, 0, 0.3, 0.2, 0.1, 0.05};
    bool needed = imbalance > target - CLOSE;

    for (int r = 0; r < RES_COUNT; r++) {
        double most;
        double wide = widest(o, (enum resource)r, &most);
        needed = needed || (most > 0.5 - CLOSE && wide > outlier[policy->migration_threshold] - CLOSE);
        double kept = 1 - policy->headroom_percent[r] / 100;
        needed = needed || (policy->cost_benefit && most > kept - CLOSE && wide > CLOSE);
    }
    return needed;
}

/* The host that a finding names; IX_NONE: none. */
static uint32_t named_host(const struct finding *f, enum finding_subject name)
{
    for (int i = 0; i < FINDING_SUBJECTS_MAX; i++)
        if (f->subjects[i].name == name)
            return f->subjects[i].ix;
    return IX_NONE;
}

/* Within the target a move says what is not even: about its own hosts, with the resource of its reason, or
 * that it is about others. The state is the one before the move. */
static void check_purpose(const struct world *w, const struct recommendation *rec)
{
    const struct finding *f = rec->found->because;

    if (!oracle_is_balancing(rec) || !f || f->code == FIND_UNEVEN_IMBALANCE)
        return;
    bool elsewhere = f->code == FIND_UNEVEN_ELSEWHERE;
    f = elsewhere ? f->because : f;
    uint32_t host = named_host(f, SUBJECT_HOST);
    bool own =
        host == rec->from || (f->code == FIND_UNEVEN_OUTLIER && named_host(f, SUBJECT_OTHER_HOST) == rec->to);
    if (own == elsewhere)
        fail_msg("seed %llu: the purpose of recommendation %u is%s about its own hosts",
                 (unsigned long long)w->seed, rec->id, own ? "" : " not");
    bool mem = rec->reason == REASON_BALANCE_MEM;
    if (own && mem != (f->resource == RES_MEM))
        fail_msg("seed %llu: the reason of recommendation %u is %s, but its purpose is not",
                 (unsigned long long)w->seed, rec->id, reason_name(rec->reason));
    if (fabs(f->figures[0].value - oracle_norm(&w->o, host, f->resource)) > CLOSE)
        fail_msg("seed %llu: the purpose of recommendation %u says that %s is at %g, not %g",
                 (unsigned long long)w->seed, rec->id, w->snap.hosts[host].is.id, f->figures[0].value,
                 oracle_norm(&w->o, host, f->resource));
}

/* A move for balance, or all moves of a group, which count as one. */
static void check_step(struct world *w, uint32_t from, uint32_t to)
{
    const struct recommendation *first = &w->plan.recommendations[from];
    bool *woken = w->o.woken;
    double weight[RES_COUNT];

    bool is_exchange = false;
    for (uint32_t i = from; i < to; i++)
        is_exchange = is_exchange || w->plan.recommendations[i].reason == REASON_EXCHANGE;
    w->o.woken = w->asleep; /* what is balanced are the hosts that are on */
    oracle_weights(&w->o, weight);
    double before = oracle_imbalance_at(&w->o, weight);
    bool needed = needed_balance(&w->o, before, w->plan.before.target, &w->plan.policy);
    w->o.woken = woken;
    check_purpose(w, first);
    for (uint32_t i = from; i < to; i++) {
        const struct recommendation *rec = &w->plan.recommendations[i];
        if (oracle_is_power(rec)) {
            oracle_end(&w->o, rec);
            continue;
        }
        if (w->o.at[rec->vm] != rec->from || rec->from == rec->to ||
            (oracle_is_balancing(rec) && !is_exchange && rec->to != first->to))
            fail_msg("seed %llu: recommendation %u moves its VM from where it is not",
                     (unsigned long long)w->seed, rec->id);
        enum vm_kind kind = w->snap.vms[rec->vm].is.kind;
        bool half = kind == VM_FT_PRIMARY || kind == VM_FT_SECONDARY;
        if (w->o.in_flight[rec->vm] || (kind != VM_NORMAL && (!half || oracle_is_balancing(rec))) ||
            w->snap.vms[rec->vm].is.automation == AUTOMATION_DISABLED || oracle_forbids(&w->snap, rec))
            fail_msg("seed %llu: recommendation %u moves a VM that is not to be touched",
                     (unsigned long long)w->seed, rec->id);
        oracle_end(&w->o, rec);
        double after = oracle_imbalance(&w->o);
        if (fabs(rec->imbalance_after - after) > CLOSE)
            fail_msg("seed %llu: after recommendation %u the imbalance is %.10g, not %.10g",
                     (unsigned long long)w->seed, rec->id, after, rec->imbalance_after);
    }
    if (!oracle_is_balancing(first))
        return;
    w->o.woken = w->asleep;
    if (!(oracle_imbalance_at(&w->o, weight) < before + 1e-12) || !needed)
        fail_msg(
            "seed %llu: recommendation %u takes the imbalance from %.10g to %.10g, and balance was%s needed",
            (unsigned long long)w->seed, first->id, before, oracle_imbalance_at(&w->o, weight),
            needed ? "" : " not");
    if (first->priority < 2 || first->priority > (unsigned)w->plan.policy.migration_threshold)
        fail_msg("seed %llu: recommendation %u has priority %u at migration threshold %u",
                 (unsigned long long)w->seed, first->id, first->priority,
                 (unsigned)w->plan.policy.migration_threshold);
    w->o.woken = woken;
}

/* Whether an earlier move of the same exchange brings the VM to where this one takes it from. */
static bool waits_in_exchange(const struct plan *plan, uint32_t i)
{
    const struct recommendation *rec = &plan->recommendations[i];
    unsigned n = 0;

    for (uint32_t k = 0; k < i; k++) {
        const struct recommendation *x = &plan->recommendations[k];
        if (oracle_is_power(x) || x->vm != rec->vm)
            continue;
        n++;
        if (x->group == 0 || x->group != rec->group || x->to != rec->from ||
            (x->reason != REASON_EXCHANGE && rec->reason != REASON_EXCHANGE))
            return false;
    }
    return n == 1;
}

static void check_plan(uint64_t seed, const struct cluster_options *options, unsigned *moves)
{
    struct world w;
    uint32_t balancing = 0;

    begin(&w, seed, options);
    bool *moved = arena_array(&w.a, bool, w.snap.n_vms);
    check_metrics(&w, &w.plan.before, "before");
    for (uint32_t i = 0; i < w.plan.n_recommendations;) {
        uint32_t end = i + 1;
        while (w.plan.recommendations[i].group != 0 && end < w.plan.n_recommendations &&
               w.plan.recommendations[end].group == w.plan.recommendations[i].group)
            end++;
        check_step(&w, i, end);
        for (; i < end; i++) {
            const struct recommendation *rec = &w.plan.recommendations[i];
            if (rec->id == i + 1 && oracle_is_power(rec))
                continue;
            if (rec->id != i + 1 || (moved[rec->vm] && !waits_in_exchange(&w.plan, i)))
                fail_msg("seed %llu: recommendation %u moves its VM again", (unsigned long long)seed,
                         rec->id);
            moved[rec->vm] = true;
            balancing += oracle_is_balancing(rec);
        }
    }
    check_metrics(&w, &w.plan.after, "after");
    if (w.plan.policy.moves_max > 0 && balancing > w.plan.policy.moves_max)
        fail_msg("seed %llu: %u moves, %lld are allowed", (unsigned long long)seed, balancing,
                 (long long)w.plan.policy.moves_max);
    if (w.plan.policy.migration_threshold == 1)
        assert_int_equal(balancing, 0);
    *moves += w.plan.n_recommendations;
    arena_release(&w.a);
}

static void run(const struct cluster_options *o, unsigned clusters)
{
    unsigned moves = 0;

    clusters = test_some(clusters);
    for (unsigned i = 0; i < test_clusters(clusters); i++)
        check_plan(test_seed() + i, o, &moves);
    (void)printf("%u moves\n", moves);
    if (test_is_usual())
        assert_true(moves > clusters / 2);
}

static void test_figures(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 8, .vms_max = 60, .mixed_hosts = true, .rules = true}, 2000);
}

static void test_figures_when_tight(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 8,
                                  .vms_max = 60,
                                  .mixed_hosts = true,
                                  .tight = true,
                                  .rules = true,
                                  .evacuate = true,
                                  .agents = true,
                                  .pools_max = 9},
        2000);
}

/* VMs change places. */
static void test_figures_when_full(void **state)
{
    (void)state;
    run(
        &(struct cluster_options){
            .hosts_max = 6, .vms_max = 40, .mixed_hosts = true, .rules = true, .tight = true, .full = true},
        2000);
}

static void test_figures_with_moves_under_way(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 8,
                                  .vms_max = 60,
                                  .mixed_hosts = true,
                                  .rules = true,
                                  .evacuate = true,
                                  .in_flight = true},
        2000);
}

static void test_figures_with_failures(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 8,
                                  .vms_max = 50,
                                  .mixed_hosts = true,
                                  .tight = true,
                                  .rules = true,
                                  .evacuate = true,
                                  .in_flight = true,
                                  .deep_pools = true,
                                  .sleeping = true,
                                  .idle_agents = true,
                                  .ft = true,
                                  .ha = true,
                                  .approved = true},
        2500);
}

static void test_figures_with_power(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 9,
                                  .vms_max = 50,
                                  .mixed_hosts = true,
                                  .rules = true,
                                  .evacuate = true,
                                  .in_flight = true,
                                  .sleeping = true,
                                  .idle_agents = true,
                                  .ft = true,
                                  .ha = true,
                                  .approved = true,
                                  .power = true},
        1500);
}

/* ---- again ---- */

static void check_same_again(uint64_t seed, const struct cluster_options *options)
{
    struct world x;
    struct world y;

    begin(&x, seed, options);
    begin(&y, seed, options);
    if (!oracle_same_plan(&x.plan, &y.plan))
        fail_msg("seed %llu: the same cluster, another plan", (unsigned long long)seed);
    arena_release(&x.a);
    arena_release(&y.a);
}

static void test_same_input_same_plan(void **state)
{
    (void)state;
    for (unsigned i = 0; i < test_clusters(150); i++)
        check_same_again(test_seed() + i, &(struct cluster_options){.hosts_max = 10,
                                                                    .vms_max = 80,
                                                                    .mixed_hosts = true,
                                                                    .tight = true,
                                                                    .rules = true,
                                                                    .evacuate = true,
                                                                    .in_flight = true,
                                                                    .deep_pools = true,
                                                                    .sleeping = true,
                                                                    .idle_agents = true,
                                                                    .ft = true,
                                                                    .ha = true,
                                                                    .approved = true});
}

/* A plan that was carried out leaves nothing to balance for the VMs that it did not move. */
static void check_nothing_left(uint64_t seed, const struct cluster_options *options, unsigned *planned)
{
    struct arena a = {0};
    struct rng r = {.state = seed};
    struct snapshot snap;
    struct snapshot then;
    struct policy policy;
    struct plan plan;
    struct plan again;
    struct err err = {0};

    random_cluster(&r, options, &a, &snap);
    random_policy(&r, &policy);
    policy.cost_benefit = false;
    policy.min_goodness = false; /* what is enough depends on the load, which an evacuation changes */
    policy.moves_max = 0;
    assert_int_equal(pass_run(&snap, &policy, &a, &plan, &err), 0);
    oracle_carried_out(&plan, snap.time, &a, &then);
    assert_int_equal(pass_run(&then, &policy, &a, &again, &err), 0);
    for (uint32_t i = 0; i < again.n_recommendations; i++)
        if (oracle_is_balancing(&again.recommendations[i]))
            fail_msg("seed %llu: after a plan of %u moves another moves VM %s for balance",
                     (unsigned long long)seed, plan.n_recommendations,
                     snap.vms[again.recommendations[i].vm].is.id);
    *planned += plan.n_recommendations;
    arena_release(&a);
}

static void test_nothing_left(void **state)
{
    unsigned planned = 0;

    (void)state;
    for (unsigned i = 0; i < test_clusters(600); i++)
        check_nothing_left(test_seed() + i,
                           &(struct cluster_options){
                               .hosts_max = 8, .vms_max = 60, .mixed_hosts = true, .evacuate = i % 2 == 1},
                           &planned);
    if (test_is_usual())
        assert_true(planned > 600);
}

/* Plan after plan, with no rest for the VMs that were moved: it comes to an end, and each plan leaves the
 * cluster better than it was. Both hold while the weights of the imbalance stay: a plan that ends an overload
 * changes them, the next one may begin it again by the other weights, and only cost_benefit or cool_down_s
 * ends that. */
static void check_comes_to_an_end(uint64_t seed)
{
    struct arena a = {0};
    struct rng r = {.state = seed};
    struct snapshot snap;
    struct policy policy;
    struct plan plan;
    struct err err = {0};
    int rounds = 0; /* in which the weights stayed */
    int plans = 0;

    random_cluster(&r, &(struct cluster_options){.hosts_max = 8, .vms_max = 40, .mixed_hosts = true}, &a,
                   &snap);
    random_policy(&r, &policy);
    policy.cost_benefit = false;
    policy.cool_down_s = 0;
    do {
        struct snapshot then;
        assert_int_equal(pass_run(&snap, &policy, &a, &plan, &err), 0);
        bool same_weights = true; /* throughout: nobody is short of anything */
        for (uint32_t h = 0; h < plan.before.n_hosts; h++)
            for (int k = 0; k < RES_COUNT; k++)
                same_weights =
                    same_weights && plan.before.hosts[h].n[k] <= 1 && plan.after.hosts[h].n[k] <= 1;
        if (plan.n_recommendations > 0 && same_weights && !(plan.after.imbalance < plan.before.imbalance))
            fail_msg("seed %llu: a plan leaves the imbalance at %.17g, it was %.17g",
                     (unsigned long long)seed, plan.after.imbalance, plan.before.imbalance);
        oracle_carried_out(&plan, 0, &a, &then);
        snap = then;
        rounds = plan.before.weight[RES_CPU] == plan.after.weight[RES_CPU] ? rounds + 1 : 0;
        if (rounds > 40)
            fail_msg("seed %llu: plan after plan, and no end", (unsigned long long)seed);
    } while (plan.n_recommendations > 0 && ++plans < 200);
    arena_release(&a);
}

static void test_comes_to_an_end(void **state)
{
    (void)state;
    for (unsigned i = 0; i < test_clusters(300); i++)
        check_comes_to_an_end(test_seed() + i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_figures_when_tight),
        cmocka_unit_test(test_figures_when_full),
        cmocka_unit_test(test_figures_with_moves_under_way),
        cmocka_unit_test(test_figures_with_failures),
        cmocka_unit_test(test_figures_with_power),
        cmocka_unit_test(test_same_input_same_plan),
        cmocka_unit_test(test_nothing_left),
        cmocka_unit_test(test_comes_to_an_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
