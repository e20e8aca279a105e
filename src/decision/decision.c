/* decision.c: answers questions about a snapshot. Reading the snapshot, and what becomes of the answer, is
 * the caller's. */
#include "decision/internal.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread_pool.h"
#include "core/demand/demand.h"
#include "core/divvy/divvy.h"
#include "core/explain.h"
#include "core/pass.h"
#include "model/named.h"
#include "render/render.h"

#include <errno.h>
#include <string.h>

/* What an answer is made from. */
struct asked {
    const struct decision_question *q;
    const struct snapshot *snap;
    const struct policy *policy;
    struct arena *a;
    const struct decision_output *out;
    const char **ret_field;
};

static int answer_plan(const struct asked *x, struct err *err)
{
    const int64_t began_us = clock_us(CLOCK_MONOTONIC);
    struct plan plan;
    int r = pass_run(x->snap, x->policy, x->a, &plan, err);

    if (r < 0)
        return r;
    plan.stats.decide_us = clock_us(CLOCK_MONOTONIC) - began_us;
    if (x->out->json)
        render_plan_json(&plan, x->out->json);
    if (x->out->text)
        render_plan_text(&plan, x->out->text);
    return 0;
}

/* ---- explain --------------------------------------------------------------------------------- */

/* The note for a missing dpm.enabled: the default may differ from the service's setting. */
static const char *assumption(const struct decision_question *q, const struct snapshot *snap)
{
    static const char key[] = "dpm.enabled=";

    if (snap->policy || q->configured)
        return NULL;
    for (size_t i = 0; i < q->n_sets; i++) {
        if (strncmp(q->sets[i], key, strlen(key)) == 0)
            return NULL;
    }
    return "This is assumed, as the default: this snapshot does not hold the settings. --config FILE takes "
           "them from the service's configuration, --set dpm.enabled=true asks what would be if it were on.";
}

static int explain_a_vm(const struct asked *x, uint32_t vm, uint32_t host, struct err *err)
{
    struct explanation explanation;
    int r = explain_vm(x->snap, x->policy, vm, host, x->a, &explanation, err);

    if (r < 0)
        return r;
    if (x->out->json)
        render_explain_json(x->snap, &explanation, x->out->json);
    if (x->out->text)
        render_explain_text(x->snap, &explanation, x->out->text);
    return 0;
}

static int explain_a_host(const struct asked *x, uint32_t host, struct err *err)
{
    const char *assumed = assumption(x->q, x->snap);
    struct host_explanation explanation;
    int r = explain_host(x->snap, x->policy, host, x->a, &explanation, err);

    if (r < 0)
        return r;
    if (x->out->json)
        render_explain_host_json(x->snap, &explanation, assumed, x->out->json);
    if (x->out->text)
        render_explain_host_text(x->snap, &explanation, assumed, x->out->text);
    return 0;
}

static int answer_explain(const struct asked *x, struct err *err)
{
    uint32_t vm = IX_NONE;
    uint32_t host = IX_NONE;
    int r;

    if (!x->q->vm && !x->q->host)
        return err_set(err, -EINVAL, "expected a VM, a host, or both");
    if (x->q->vm && (r = named_vm(x->snap, x->q->vm, &vm, err)) < 0) {
        *x->ret_field = "vm";
        return r;
    }
    if (x->q->host && (r = named_host(x->snap, x->q->host, &host, err)) < 0) {
        *x->ret_field = "host";
        return r;
    }
    return vm != IX_NONE ? explain_a_vm(x, vm, host, err) : explain_a_host(x, host, err);
}

/* ---- what if --------------------------------------------------------------------------------- */

/* The plan of the changed cluster, and the cluster's present state. The latter is the "before" of any plan,
 * so a pass with mandatory moves only is enough. */
static int answer_what_if(const struct asked *x, struct err *err)
{
    struct policy shortest = *x->policy;
    struct what_if question;
    struct plan plan;
    struct plan now;
    int r;

    what_if_init(&question, x->snap, x->a);
    if ((r = what_if_changes(x->q, &question, x->a, x->ret_field, err)) < 0)
        return r;
    const int64_t began_us = clock_us(CLOCK_MONOTONIC);

    shortest.optional_moves = false;
    if ((r = pass_run(&question.snap, x->policy, x->a, &plan, err)) < 0 ||
        (r = pass_run(question.base, &shortest, x->a, &now, err)) < 0)
        return r;
    plan.stats.decide_us = clock_us(CLOCK_MONOTONIC) - began_us;
    if (x->out->json)
        render_what_if_json(&plan, &question, &now.before, x->out->json);
    if (x->out->text)
        render_what_if_text(&plan, &question, &now, x->out->text);
    return 0;
}

/* ---- entitlements ---------------------------------------------------------------------------- */

static void answer_entitlements(const struct asked *x)
{
    const struct divvy_tree *trees[RES_COUNT] = {NULL};

    for (int r = 0; r < RES_COUNT; r++) {
        if (!x->q->resources[r])
            continue;
        double *demand = arena_array(x->a, double, x->snap->n_vms);
        struct divvy_tree *tree = arena_new(x->a, struct divvy_tree);

        demand_estimate(x->snap, (enum resource)r, demand);
        divvy_build(x->snap, (enum resource)r, demand, x->a, tree);
        trees[r] = tree;
    }
    if (x->out->json)
        render_entitlements_json(x->snap, trees, x->out->json);
    if (x->out->text)
        render_entitlements_text(x->snap, trees, x->q->wide, x->out->text);
}

int decision_answer(const struct decision_question *q, const struct snapshot *snap,
                    const struct policy *policy, struct arena *a, const struct decision_output *out,
                    const char **ret_field, struct err *err)
{
    CLEANUP(thread_pool_freep) struct thread_pool *threads = thread_pool_new(policy->threads);
    struct policy with_threads = *policy;
    const struct asked x = {
        .q = q, .snap = snap, .policy = &with_threads, .a = a, .out = out, .ret_field = ret_field};

    with_threads.thread_pool = threads;

    *ret_field = NULL;
    switch (q->kind) {
    case DECISION_PLAN:
        return answer_plan(&x, err);
    case DECISION_EXPLAIN:
        return answer_explain(&x, err);
    case DECISION_WHAT_IF:
        return answer_what_if(&x, err);
    case DECISION_ENTITLEMENTS:
        answer_entitlements(&x);
        break;
    }
    return 0;
}
