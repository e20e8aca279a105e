/* policies: no move of a simulated cluster goes to a host that a filter of the VM's pipeline refuses.
 *
 *     policies SCENARIO
 *
 * Each plan is walked in its order, from the snapshot that it was made of. What the filters say is found by
 * the oracle of tests/property, which evaluates each expression from its text and adds every figure up anew.
 * Prints the moves, and in how many of them a filter was asked that moves change; the first one that is
 * refused ends it with 1. */
#include "property/naive_fit.h"
#include "property/oracle.h"
#include "sim/run/simulate.h"

#include "engine/engine.h"

#include <ballast/names.h>

#include <stdio.h>

struct watched {
    const struct plan *last;
    instant_s decided;
    unsigned plans, moves, asked,
        refusing; /* refusing: hosts refused to VMs by filters, of those of the moves */
    bool wrong;
};

static bool is_right(struct watched *w, const struct oracle *o, const struct plan *plan,
                     const struct recommendation *rec, double t_s)
{
    const struct snapshot *s = plan->snap;
    const enum fit_use use = oracle_fit_use(o, rec->vm, false);

    w->moves++;
    for (uint32_t h = 0; h < s->n_hosts; h++) {
        unsigned unused = 0;
        w->refusing += !oracle_live_allows_at(o, rec->vm, h, use, NULL, &unused);
    }
    if (naive_fits(s, use, rec->vm, rec->to) && oracle_live_allows(o, plan, rec, &w->asked) &&
        oracle_counts_allow(o, rec->vm, rec->to, use))
        return true;
    printf("at %.0f s: %s of %s to %s (%s), which a filter refuses\n", t_s, action_kind_name(rec->action),
           s->vms[rec->vm].is.name, s->hosts[rec->to].is.name, reason_name(rec->reason));
    return false;
}

static int watch(void *ctx, const struct engine *e, const struct cluster *cluster, double t_s)
{
    const struct plan *plan = engine_plan(e);
    struct watched *w = ctx;
    struct arena a = {0};
    struct oracle o;

    (void)cluster;
    if (!plan || (plan == w->last && plan->snap->time == w->decided))
        return 0;
    w->last = plan;
    w->decided = plan->snap->time;
    w->plans++;
    oracle_init(&o, plan->snap, &plan->policy, &a);
    for (uint32_t i = 0; i < plan->n_recommendations && !w->wrong; i++) {
        const struct recommendation *rec = &plan->recommendations[i];

        w->wrong = !oracle_is_power(rec) && !is_right(w, &o, plan, rec, t_s);
        oracle_begin(&o, rec);
        oracle_end(&o, rec);
    }
    arena_release(&a);
    return w->wrong ? -1 : 0;
}

int main(int argc, char **argv)
{
    struct arena a = {0};
    struct scenario s;
    struct simulation result;
    struct watched w = {0};
    struct err err = {0};
    const struct simulate_options options = {.watch = watch, .ctx = &w};

    if (argc != 2) {
        (void)fprintf(stderr, "usage: policies SCENARIO\n");
        return 2;
    }
    int e = scenario_read(argv[1], &(struct scenario_options){0}, &a, &s, &err);

    if (e == 0)
        e = simulate(&s, &options, &a, &result, &err);
    if (e < 0 && !w.wrong)
        (void)fprintf(stderr, "policies: %s\n", err.text);
    printf("%u plans, %u moves, %u times a filter was asked that moves change, %u hosts refused by one\n",
           w.plans, w.moves, w.asked, w.refusing);
    arena_release(&a);
    return e < 0 || w.wrong;
}
