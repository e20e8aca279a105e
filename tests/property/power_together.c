/* All inputs of power management at once: a schedule, expected demand, demand correlation, and
 * past quiet times. None of them undoes a power change of another, in a plan or pass after pass. */
#include "core/pass.h"
#include "load.h"
#include "oracle.h"
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CLOSE 1e-3
#define HOUR_S 3600

struct tally {
    unsigned plans, off, high, early, ready, faults, closed;
};

/* ---- what a cluster goes by ---- */

static void random_settings(struct rng *r, struct policy *policy)
{
    policy_default(policy);
    random_dpm(r, policy);
    policy->dpm.automation = AUTOMATION_AUTOMATIC;
    policy->dpm.off_min_s = 60 * (10 + (int64_t)rng_below(r, 40));
    policy->moves_max = 0;
}

static void random_memory(struct rng *r, struct arena *a, struct snapshot *s)
{
    for (int w = 0; w < WINDOW_COUNT && rng_below(r, 2) == 0; w++)
        for (int k = 0; k < RES_COUNT; k++)
            s->correlation.of[w][k] = rng_unit(r);
    if (rng_below(r, 2) == 0)
        random_quiet(r, a, s);
}

static void add_managed(const struct snapshot *s, uint32_t host, const struct policy *policy,
                        double to[RES_COUNT])
{
    for (int k = 0; k < RES_COUNT && host_is_managed(&s->hosts[host], policy->dpm.automation); k++)
        to[k] += s->hosts[host].capacity[k];
}

static void random_schedule(struct rng *r, const struct policy *policy, struct snapshot *s)
{
    double part = rng_unit(r);

    s->schedule = (struct schedule_facts){.given = true, .power_off = rng_below(r, 4) > 0};
    s->schedule.power_off_changes = s->time + 60 * (1 + (instant_s)rng_below(r, 600));
    if (rng_below(r, 4) == 0)
        return;
    s->schedule.ready_by = s->time + 60 * ((instant_s)rng_below(r, rng_below(r, 2) ? 240 : 40) - 20);
    if (s->schedule.ready_by <= s->time) /* nothing is put to standby after one that has passed */
        s->schedule.power_off = false;
    for (uint32_t h = 0; h < s->n_hosts; h++)
        add_managed(s, h, policy, s->schedule.ready);
    for (int k = 0; k < RES_COUNT; k++)
        s->schedule.ready[k] *= part;
}

static void plan_it(const struct snapshot *s, const struct policy *policy, struct arena *a, struct plan *ret)
{
    struct err err = {0};

    assert_int_equal(pass_run(s, policy, a, ret, &err), 0);
}

/* ---- one plan ---- */

static bool is_coming(const struct snapshot *s, uint32_t host)
{
    for (uint32_t i = 0; i < s->n_pending; i++)
        if (s->pending[i].action == ACTION_POWER_ON && s->pending[i].host == host)
            return true;
    return s->hosts[host].is.state == HOST_POWERING_ON;
}

static bool is_going(const struct snapshot *s, uint32_t host)
{
    for (uint32_t i = 0; i < s->n_pending; i++)
        if (s->pending[i].action == ACTION_POWER_OFF && s->pending[i].host == host)
            return true;
    return s->hosts[host].is.state == HOST_ENTERING_STANDBY;
}

static bool is_recommended(const struct plan *p, enum action_kind action, uint32_t host)
{
    for (uint32_t i = 0; i < p->n_recommendations; i++)
        if (p->recommendations[i].action == action && p->recommendations[i].host == host)
            return true;
    return false;
}

static bool is_leaving(const struct snapshot *s, uint32_t host)
{
    for (uint32_t i = 0; i < s->n_pending; i++)
        if (s->pending[i].action == ACTION_ENTER_MAINTENANCE && s->pending[i].host == host)
            return true;
    return false;
}

/* Managed capacity less what must be ready: that will be on, and that can be. */
static void add_up(const struct snapshot *s, const struct policy *policy, const struct plan *p,
                   double ret_on[RES_COUNT], double ret_able[RES_COUNT])
{
    for (int k = 0; k < RES_COUNT; k++)
        ret_on[k] = ret_able[k] = -s->schedule.ready[k];
    for (uint32_t h = 0; h < s->n_hosts; h++) {
        const struct host_facts *f = &s->hosts[h].is;
        bool sleeps = f->state == HOST_STANDBY;
        bool coming = is_recommended(p, ACTION_POWER_ON, h) || is_coming(s, h);
        bool stays = !sleeps && !is_going(s, h) && !is_recommended(p, ACTION_POWER_OFF, h);
        if (is_leaving(s, h))
            continue;
        if (stays || coming)
            add_managed(s, h, policy, ret_on);
        bool failed = (sleeps || f->state == HOST_POWERING_ON) && f->wake_failed_last != 0;
        if (!failed && (!sleeps || coming || f->wake_failed_at == 0))
            add_managed(s, h, policy, ret_able);
    }
}

static bool lacks(const double of[RES_COUNT])
{
    return of[RES_CPU] < -CLOSE || of[RES_MEM] < -CLOSE;
}

static void check_ready(uint64_t seed, const struct snapshot *s, const struct policy *policy,
                        const struct plan *p, unsigned off)
{
    double on[RES_COUNT], able[RES_COUNT];
    bool fault = false;
    bool going = false; /* what can be woken soon may do instead of what sleeps */
    double left = (double)(s->schedule.ready_by - s->time);

    if (s->schedule.ready_by == 0)
        return;
    add_up(s, policy, p, on, able);
    for (uint32_t h = 0; h < s->n_hosts; h++)
        going = going || is_going(s, h);
    for (uint32_t i = 0; i < p->n_faults; i++)
        fault = fault || p->faults[i].code == FAULT_READY_BY;
    if (left > 0 && fault != lacks(able))
        fail_msg("seed %llu: %s said that capacity will be missing", (unsigned long long)seed,
                 fault ? "it is" : "it is not");
    if (off > 0 && lacks(on) && left < (double)policy->dpm.off_min_s)
        fail_msg("seed %llu: what is put to standby would be needed back in %g s", (unsigned long long)seed,
                 left);
    for (uint32_t h = 0;
         h < s->n_hosts && !going && left > 0 && left < (double)policy->interval_s && lacks(on); h++)
        if (s->hosts[h].is.state == HOST_STANDBY && s->hosts[h].is.wake_failed_at == 0 &&
            !s->hosts[h].failover && host_is_managed(&s->hosts[h], policy->dpm.automation) &&
            !is_recommended(p, ACTION_POWER_ON, h) && !is_coming(s, h))
            fail_msg("seed %llu: %s sleeps on, and capacity is missing in %g s", (unsigned long long)seed,
                     s->hosts[h].is.id, left);
}

static void check_minimums(uint64_t seed, const struct snapshot *s, const struct policy *policy,
                           const struct plan *p)
{
    uint32_t n = 0;
    double capacity[RES_COUNT] = {0};

    for (uint32_t h = 0; h < s->n_hosts; h++) {
        if (!host_can_run_vms(&s->hosts[h]) || is_going(s, h) || is_recommended(p, ACTION_POWER_OFF, h))
            continue;
        n++;
        for (int k = 0; k < RES_COUNT; k++)
            capacity[k] += s->hosts[h].capacity[k];
    }
    if (n < policy->dpm.hosts_min || capacity[RES_CPU] < policy->dpm.min[RES_CPU] - CLOSE ||
        capacity[RES_MEM] < policy->dpm.min[RES_MEM] - CLOSE)
        fail_msg("seed %llu: %u hosts with %g MHz and %g MiB stay on", (unsigned long long)seed, n,
                 capacity[RES_CPU], capacity[RES_MEM]);
}

static void check_plan(uint64_t seed, const struct snapshot *s, const struct policy *policy,
                       const struct plan *p, struct tally *t)
{
    unsigned off = 0;
    unsigned on = 0;

    for (uint32_t i = 0; i < p->n_recommendations; i++) {
        const struct recommendation *rec = &p->recommendations[i];
        off += rec->action == ACTION_POWER_OFF;
        on += rec->action == ACTION_POWER_ON;
        t->high += rec->action == ACTION_POWER_ON && rec->reason == REASON_HIGH_UTILIZATION;
        t->early += rec->action == ACTION_POWER_ON && rec->reason == REASON_EXPECTED_DEMAND;
        t->ready += rec->action == ACTION_POWER_ON && rec->reason == REASON_READY_BY;
    }
    if (off > 0 && on > 0)
        fail_msg("seed %llu: hosts are woken and put to standby", (unsigned long long)seed);
    if (off > 0 && s->schedule.given && !s->schedule.power_off)
        fail_msg("seed %llu: %u hosts are put to standby outside of the windows", (unsigned long long)seed,
                 off);
    if (off > 0)
        check_minimums(seed, s, policy, p);
    check_ready(seed, s, policy, p, off);
    for (uint32_t i = 0; i < p->n_faults; i++)
        t->faults += p->faults[i].code == FAULT_READY_BY;
    t->closed += !s->schedule.power_off && on > 0;
    t->off += off;
    t->plans++;
}

static void random_everything(struct rng *r, const struct cluster_options *o, struct policy *policy,
                              struct arena *a, struct snapshot *s)
{
    random_cluster(r, o, a, s);
    random_settings(r, policy);
    random_memory(r, a, s);
    for (uint32_t h = 0; h < s->n_hosts; h++) {
        if (s->hosts[h].is.state == HOST_STANDBY && rng_below(r, 6) == 0)
            s->hosts[h].is.wake_failed_at = s->time - HOUR_S;
        else if (s->hosts[h].is.state == HOST_STANDBY && !is_coming(s, h) && rng_below(r, 4) == 0)
            s->hosts[h].is.state = HOST_ENTERING_STANDBY;
        if (s->hosts[h].is.wake_failed_at != 0 || rng_below(r, 8) == 0)
            s->hosts[h].is.wake_failed_last = s->time - HOUR_S;
        if (rng_below(r, 4) == 0)
            s->hosts[h].is.wake_tries_s = 60 * (double)rng_below(r, 20);
    }
    random_schedule(r, policy, s);
}

static void check(uint64_t seed, const struct cluster_options *o, struct tally *t)
{
    struct arena a = {0};
    struct rng r = {.state = seed};
    struct snapshot s;
    struct policy policy;
    struct plan plan, again;

    random_everything(&r, o, &policy, &a, &s);
    expect_rise(&s, &policy, 0.5 + 3 * rng_unit(&r), s.time + (instant_s)rng_below(&r, HOUR_S), &a);
    plan_it(&s, &policy, &a, &plan);
    check_plan(seed, &s, &policy, &plan, t);
    plan_it(&s, &policy, &a, &again);
    if (!oracle_same_plan(&plan, &again))
        fail_msg("seed %llu: the same input, and another plan", (unsigned long long)seed);
    arena_release(&a);
}

static void print(const struct tally *t)
{
    (void)printf("%u plans: %u put to standby, woken for load %u, early %u, by a time %u (%u times outside "
                 "of windows); "
                 "%u faults\n",
                 t->plans, t->off, t->high, t->early, t->ready, t->closed, t->faults);
}

static void test_one_plan(void **state)
{
    struct tally t = {0};

    (void)state;
    for (unsigned i = 0; i < test_clusters(3000); i++)
        check(test_seed() + i,
              &(struct cluster_options){.hosts_max = 9,
                                        .vms_max = 30,
                                        .mixed_hosts = true,
                                        .rules = (test_seed() + i) % 2 == 1,
                                        .ha = (test_seed() + i) % 3 == 1,
                                        .sleeping = true,
                                        .approved = (test_seed() + i) % 4 == 1,
                                        .power = true},
              &t);
    print(&t);
    if (test_is_usual())
        assert_true(t.off > 100 && t.ready > 40 && t.faults > 20 && t.closed > 20);
}

/* ---- plan after plan, under flat load ---- */

#define PASSES 40

struct past {
    instant_s *off, *on, *early; /* by host; 0: never */
    instant_s rise;              /* when what was expected should have come; it does not */
};

/* Nobody goes back on what was done: what was put to standby is woken for a time, or for what is expected, no
 * sooner than it had to be off; what was woken stays on, unless for what has
 * not come, or for load where another one woken later does for both: it is then not woken again. */
static void check_turn(uint64_t seed, int pass, const struct snapshot *s, const struct policy *policy,
                       const struct recommendation *rec, struct past *past)
{
    bool wakes = rec->action == ACTION_POWER_ON;

    if (rec->action != ACTION_POWER_OFF && !wakes)
        return;
    bool foreseen = rec->reason == REASON_READY_BY || rec->reason == REASON_EXPECTED_DEMAND;
    instant_s was_off = past->off[rec->host];
    if (wakes && was_off != 0 && !(foreseen && s->time - was_off >= policy->dpm.off_min_s) &&
        rec->reason != REASON_SPARE_CAPACITY)
        fail_msg("seed %llu: pass %d wakes again: %s", (unsigned long long)seed, pass,
                 reason_name(rec->reason));
    bool due = s->time < past->rise && past->early[rec->host] != 0;
    if (!wakes && (past->on[rec->host] != 0 || due))
        fail_msg("seed %llu: pass %d undoes a wake: %s", (unsigned long long)seed, pass,
                 reason_name(rec->reason));
    bool early = rec->reason == REASON_EXPECTED_DEMAND;
    if (wakes && rec->reason == REASON_HIGH_UTILIZATION)
        return;
    (!wakes ? past->off : early ? past->early : past->on)[rec->host] = s->time;
}

static void check_passes(uint64_t seed, const struct cluster_options *o, struct tally *t)
{
    struct arena a = {0};
    struct rng r = {.state = seed};
    struct snapshot s;
    struct policy policy;

    random_everything(&r, o, &policy, &a, &s);
    flat_load(&s);
    double factor = 1 + 2 * rng_unit(&r);
    instant_s from = s.time + (instant_s)rng_below(&r, 3 * HOUR_S);
    struct past past = {.off = arena_array(&a, instant_s, s.n_hosts),
                        .on = arena_array(&a, instant_s, s.n_hosts),
                        .early = arena_array(&a, instant_s, s.n_hosts),
                        .rise = from};

    for (int pass = 0; pass < PASSES; pass++) {
        struct plan plan;
        struct snapshot then;
        if (s.schedule.ready_by != 0 && s.schedule.ready_by <= s.time)
            s.schedule.power_off = false; /* src/schedule: until a window begins, which none does here */
        if (s.schedule.power_off && s.schedule.power_off_changes <= s.time)
            s.schedule.power_off = false;
        s.schedule.power_off_changes = s.schedule.power_off ? s.schedule.power_off_changes : 0;
        expect_rise(&s, &policy, s.time < from ? factor : 1, from, &a); /* what does not come is forgotten */
        plan_it(&s, &policy, &a, &plan);
        check_plan(seed, &s, &policy, &plan, t);
        for (uint32_t i = 0; i < plan.n_recommendations; i++)
            check_turn(seed, pass, &s, &policy, &plan.recommendations[i], &past);
        oracle_carried_out(&plan, s.time, &a, &then);
        s = then;
        for (uint32_t h = 0; h < s.n_hosts; h++)
            if (s.hosts[h].is.state == HOST_ENTERING_STANDBY)
                s.hosts[h].is.state = HOST_STANDBY;
        s.time += policy.interval_s;
    }
    arena_release(&a);
}

static void test_pass_after_pass(void **state)
{
    static const struct cluster_options options = {
        .hosts_max = 9, .vms_max = 30, .mixed_hosts = true, .sleeping = true, .power = true};
    struct tally t = {0};

    (void)state;
    for (unsigned i = 0; i < test_clusters(600); i++)
        check_passes(test_seed() + i, &options, &t);
    if (!getenv("BALLAST_TEST_SEED")) /* what was woken for a rise went before it came */
        check_passes(6041, &options, &t);
    if (!getenv("BALLAST_TEST_SEED")) /* went to standby for a host that was woken for load with it */
        check_passes(13474, &options, &t);
    if (!getenv("BALLAST_TEST_SEED")) /* was woken for ready_by a minute too early */
        check_passes(7026, &options, &t);
    print(&t);
    if (test_is_usual())
        assert_true(t.off > 100 && t.early > 10 && t.ready > 50 && t.faults > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_plan),
                                       cmocka_unit_test(test_pass_after_pass)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
