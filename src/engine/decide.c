/* decide.c: from a snapshot to numbered recommendations, and what of them goes ahead by itself. */
#include "engine/decide.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/thread_pool.h"
#include "base/xalloc.h"
#include "core/pass.h"
#include "engine/actions/action.h"
#include "engine/actions/action_states.h"
#include "engine/actions/copy_links.h"
#include "engine/actions/pool_updates.h"
#include "engine/actions/power_outcome.h"
#include "engine/actions/power_preconditions.h"
#include "engine/actions/preconditions.h"
#include "engine/events.h"
#include "engine/knowledge/failed_moves.h"
#include "engine/knowledge/hosts.h"
#include "engine/knowledge/vm_demand.h"
#include "engine/observation.h"
#include "engine/other_service.h"
#include "engine/persist.h"
#include "engine/proofs.h"
#include "engine/recommendations.h"
#include "engine/source_poll.h"
#include "engine/state.h"
#include "model/snapshot_json.h"
#include "render/render.h"
#include "render/wording/wording.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IMBALANCED_PASSES_NEEDED 2
#define WATCH_GAP_LOOKS 3 /* so many looks may fail in a row ... */
#define WATCH_GAP_LEAST_S                                                                                    \
    900 /* ... and a service may be restarted, before a cluster counts as newly watched */
#define EVENT_TEXT_MAX 512
#define FAULTS_PUBLISHED_MAX 20 /* of one pass, as events */

/* ---- when ------------------------------------------------------------------------------------ */

void decide_end_runs(struct engine *e, int code, const struct err *err, uint64_t pass)
{
    if (e->poll->asked_run <= e->passes->runs_done)
        return;
    e->passes->runs_done = e->poll->asked_run;
    e->passes->run_code = code;
    e->passes->run_pass = pass;
    e->passes->run_error = err ? *err : (struct err){0};
}

void decide_pass_at_once(struct engine *e, instant_s now)
{
    e->passes->again = true;
    e->passes->next = now;
}

/* ---- the plan -------------------------------------------------------------------------------- */

static bool some_host_over(const struct metrics *m)
{
    for (uint32_t i = 0; i < m->n_hosts; i++) {
        for (int r = 0; r < RES_COUNT; r++) {
            if (m->hosts[i].n[r] > 1)
                return true;
        }
    }
    return false;
}

/* The power of hosts, and what comes with it: that rests on the last 40 minutes, and has nothing to do with
 * the imbalance of the moment. */
static bool is_for_power(const struct recommendation *r)
{
    return r->action == ACTION_POWER_ON || r->action == ACTION_POWER_OFF || reason_is_standby(r->reason);
}

/* Whether there is something to balance: I above its target, or moves that the outlier rule asks for. */
static bool imbalanced(const struct plan *plan)
{
    if (plan->before.imbalance > plan->before.target)
        return true;
    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        if (plan->recommendations[i].priority > PRIORITY_MANDATORY &&
            !is_for_power(&plan->recommendations[i]))
            return true;
    }
    return false;
}

/* Samples come with the looks, so the newest and the oldest may each be one look away. */
static bool is_watched(const struct engine *e, instant_s now)
{
    instant_s look = source_poll_period_s(e);
    instant_s gap = look * WATCH_GAP_LOOKS > WATCH_GAP_LEAST_S ? look * WATCH_GAP_LOOKS : WATCH_GAP_LEAST_S;

    return e->settings.policy.dpm.watch_s == 0 ||
           demand_history_watched_s(vm_demand_history(e->knowledge->vms), now, gap) + look >=
               e->settings.policy.dpm.watch_s;
}

static int run_pass(struct engine *e, struct observation *v, instant_s now, struct err *err)
{
    struct policy policy = e->settings.policy;
    struct arena *a = &v->seen.arena;
    int64_t begin = e->settings.clock_us ? e->settings.clock_us() : 0;
    int r;

    CLEANUP(thread_pool_freep) struct thread_pool *threads = thread_pool_new(policy.threads);
    policy.thread_pool = threads;
    policy.optional_moves = true;
    const bool watched = !policy.dpm.enabled || is_watched(e, now);

    policy.dpm.may_sleep = watched && !proofs_go_on(e);
    if ((r = pass_run(&v->snap, &policy, a, &v->plan, err)) < 0)
        return r;
    proofs_choose(e, v, watched, now);
    if (policy.dpm.may_sleep && proofs_come_first(e)) { /* no other host goes to standby meanwhile */
        policy.dpm.may_sleep = false;
        if ((r = pass_run(&v->snap, &policy, a, &v->plan, err)) < 0)
            return r;
    }
    e->passes->n_imbalanced = imbalanced(&v->plan) ? e->passes->n_imbalanced + 1 : 0;
    /* Against thrashing, only in full automation: a peak that is gone by the next pass is not worth a
     * migration. A person is shown the moves at once, and rules of pipelines have a clock of their own. */
    if (policy.automation == AUTOMATION_FULL && v->plan.end != CHECK_POLICY && e->passes->n_imbalanced > 0 &&
        e->passes->n_imbalanced < IMBALANCED_PASSES_NEEDED && !some_host_over(&v->plan.before)) {
        policy.optional_moves = false;
        if ((r = pass_run(&v->snap, &policy, a, &v->plan, err)) < 0)
            return r;
    }
    e->passes->held_back = (policy.optional_moves ? 0 : HELD_BACK_OPTIONAL_MOVES) |
                           (policy.dpm.may_sleep ? 0 : HELD_BACK_STANDBY);
    observation_set_policy(v, &e->settings.policy); /* it may have changed since the inventory */
    if (e->settings.clock_us)
        v->plan.stats.decide_us = e->settings.clock_us() - begin;
    v->decided = true;
    return 0;
}

/* ---- automation ------------------------------------------------------------------------------ */

static bool is_held(const struct idmap *holds, const char *id, instant_s now)
{
    const struct backoff *h = idmap_get(holds, id);

    return h && h->until > now;
}

/* Level full, and a VM that has no wish of its own and whose move did not fail just now. The cluster's level
 * is the most that happens by itself; a VM set to automatic in a manual cluster is still asked for. The
 * threshold needs no second look: the pass stops where its level is content, so all that the plan holds is
 * wanted, the moves off an outlier below the target (priority 4 or 5) too. */
static bool may_move(const struct engine *e, const struct snapshot *s, const struct action *x, instant_s now)
{
    uint32_t ix = snapshot_find_vm(s, x->r.vm);

    return e->settings.policy.automation == AUTOMATION_FULL && ix != IX_NONE &&
           s->vms[ix].is.automation != AUTOMATION_MANUAL && s->vms[ix].is.automation != AUTOMATION_DISABLED &&
           (x->r.priority == PRIORITY_MANDATORY || !preconditions_balance_waits(e, now)) &&
           !is_held(&e->actions->vm_backoff, x->r.vm, now) && !copy_links_had_no_end(e, x) &&
           !failed_moves_find(e->knowledge->failed_moves, &x->r, now);
}

/* The person who asked for the host's maintenance or standby, or approved a proof that it wakes, which this
 * move empties it for: the command is the approval, at every level. NULL: no such person. */
static const char *asked_by(const struct engine *e, const struct snapshot *s, const struct action *x,
                            instant_s now)
{
    uint32_t ix = x->r.kind == ACTION_MIGRATE ? snapshot_find_vm(s, x->r.vm) : IX_NONE;

    if (ix == IX_NONE || s->vms[ix].is.automation == AUTOMATION_DISABLED ||
        (x->r.reason != REASON_MAINTENANCE && x->r.reason != REASON_STANDBY &&
         x->r.reason != REASON_OFF_VM) ||
        is_held(&e->actions->vm_backoff, x->r.vm, now) || copy_links_had_no_end(e, x))
        return NULL;
    for (size_t i = 0; i < e->actions->n; i++) {
        const struct action *y = e->actions->list[i];

        if ((y->r.kind == ACTION_ENTER_MAINTENANCE || y->r.kind == ACTION_POWER_OFF) &&
            (y->r.pass == 0 || proofs_is_proof(&y->r)) && action_committed(y) &&
            (x->r.reason != REASON_OFF_VM || y->r.reason == REASON_ASKED) &&
            strcmp(y->r.approved_by, APPROVED_BY_ENGINE) != 0 && strcmp(y->r.host, x->r.from) == 0)
            return y->r.approved_by;
    }
    return NULL;
}

/* The power of hosts has a level of its own, whatever the level for VMs is. */
static bool may_wake(const struct engine *e, const struct snapshot *s, const struct action *x, instant_s now)
{
    uint32_t ix = snapshot_find_host(s, x->r.host);

    return ix != IX_NONE && !is_held(&e->actions->wake_backoff, x->r.host, now) &&
           power_preconditions_are_automatic(e, &s->hosts[ix].is);
}

static bool may_sleep(const struct engine *e, const struct snapshot *s, const struct action *x, instant_s now)
{
    uint32_t ix = snapshot_find_host(s, x->r.host);

    return ix != IX_NONE && !is_held(&e->actions->standby_backoff, x->r.host, now) &&
           power_preconditions_are_automatic(e, &s->hosts[ix].is) &&
           slot_usage_of_host(e->actions, x->r.host)->arriving == 0 &&
           power_preconditions_check_standby(e, ix, x, NULL) == 0;
}

static bool actuators_can(const struct engine *e, const struct action *x)
{
    if (x->r.kind == ACTION_POWER_ON || x->r.kind == ACTION_POWER_OFF)
        return hosts_can(e->knowledge->hosts, x->r.kind, x->r.host);
    return (e->settings.operations & (1u << action_operation(x->r.kind))) != 0;
}

/* In whose name it is approved without asking: the engine's, or that of a person whose command needs it.
 * NULL: it waits. Where rules may be missing it waits for a person who approves that very move, even if a
 * person asked for what needs it. VMs are never powered on unasked, at any level: what a person asked for is
 * approved by asking (placement.c). */
static const char *approver(const struct engine *e, const struct snapshot *s, const struct action *x,
                            instant_s now)
{
    bool may_break_rule = s->labels_unread && x->r.kind != ACTION_POWER_ON;

    if (e->paused || !actuators_can(e, x) || may_break_rule)
        return NULL;
    bool may = x->r.reason == REASON_OFF_VM    ? x->r.group != 0 /* as the standby that it belongs to */
               : x->r.kind == ACTION_MIGRATE   ? may_move(e, s, x, now)
               : x->r.kind == ACTION_POWER_ON  ? may_wake(e, s, x, now)
               : x->r.kind == ACTION_POWER_OFF ? may_sleep(e, s, x, now)
                                               : false;
    const char *person = asked_by(e, s, x, now);

    may = may && (!engine_held_back(e) || x->r.kind == ACTION_POWER_ON);

    return person ? person : may ? APPROVED_BY_ENGINE : NULL;
}

/* Moves that must come before one that a person asked for are asked for too. Returns whether there was one
 * more. */
static bool extend_to_prerequisites(struct action **list, const char **by, size_t n)
{
    bool changed = false;

    for (size_t i = 0; i < n; i++) {
        bool person = by[i] && strcmp(by[i], APPROVED_BY_ENGINE) != 0;

        for (size_t k = 0; person && k < n; k++) {
            const struct action_record *r = &list[k]->r;

            if (by[k] || r->kind != ACTION_MIGRATE || !action_depends_on(&list[i]->r, r->id))
                continue;
            by[k] = by[i];
            changed = true;
        }
    }
    return changed;
}

/* Not without what it depends on, and a group as a whole or not at all. Returns whether it changed something.
 */
static bool withhold(const struct engine *e, struct action **list, const char **by, size_t n)
{
    bool changed = false;

    for (size_t i = 0; i < n; i++) {
        bool held = false;

        for (uint32_t d = 0; d < list[i]->r.n_depends_on; d++) {
            const struct action *y = action_find(e, list[i]->r.depends_on[d]);

            if (y && (action_committed(y) || y->r.state == ACTION_DONE))
                continue;
            size_t k = 0;

            while (k < n && list[k] != y)
                k++;
            held = held || k == n || !by[k];
        }
        for (size_t k = 0; k < n; k++)
            held =
                held || (action_needs_group(&list[i]->r) && list[k]->r.group == list[i]->r.group && !by[k]);
        if (held && by[i]) {
            by[i] = NULL;
            changed = true;
        }
    }
    return changed;
}

static void approve_by_itself(struct engine *e, const struct observation *v, const uint64_t *number,
                              struct arena *a, instant_s now)
{
    const struct plan *plan = &v->plan;
    struct action **list = arena_array(a, struct action *, plan->n_recommendations);
    const char **by = arena_array(a, const char *, plan->n_recommendations);
    size_t n = 0;

    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        struct action *x = action_find(e, number[plan->recommendations[i].id]);

        if (!x || x->r.state != ACTION_RECOMMENDED) /* a host that is being woken already, say */
            continue;
        by[n] = approver(e, &v->snap, x, now);
        list[n++] = x;
    }
    while (extend_to_prerequisites(list, by, n))
        ;
    while (withhold(e, list, by, n))
        ;
    for (size_t i = 0; i < n; i++) {
        if (by[i])
            action_approve(e, list[i], by[i], now);
    }
}

/* ---- the record ------------------------------------------------------------------------------ */

int decide_store(struct engine *e, const struct plan *plan, uint64_t pass, const char *trigger, instant_s now)
{
    CLEANUP(strbuf_releasep) struct strbuf snapshot = STRBUF_EMPTY;
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;

    bool kept = e->settings.passes_kept > 0;

    if (kept) { /* most of what a pass costs; not where passes are not kept */
        snapshot_dump(plan->snap, &snapshot);
        render_plan_json(plan, &text);
    }
    const struct pass_record r = {
        .id = pass,
        .time = now,
        .trigger = trigger,
        .imbalance_before = plan->before.imbalance,
        .imbalance_after = plan->after.imbalance,
        .target = plan->before.target,
        .n_recommendations = plan->n_recommendations,
        .n_faults = plan->n_faults,
        .decide_us = plan->stats.decide_us,
        .held_back = e->passes->held_back,
        .snapshot = kept ? snapshot.text : NULL,
        .plan = kept ? text.text : NULL,
    };

    return persist_flush(e, &r, now);
}

static void publish_pass(struct engine *e, const struct plan *plan,
                         const struct recommendation_changes *changes, instant_s now)
{
    char text[EVENT_TEXT_MAX];
    char changed[EVENT_TEXT_MAX / 4] = "";

    if (changes->n_new + changes->n_gone + changes->n_redirected > 0)
        (void)snprintf(changed, sizeof changed, " (%u new, %u gone, %u with another destination)",
                       changes->n_new, changes->n_gone, changes->n_redirected);
    (void)snprintf(
        text, sizeof text, "pass %llu: imbalance %.3f (target %.3f), %u recommendation%s%s, %.3f after",
        (unsigned long long)e->passes->last, plan->before.imbalance, plan->before.target,
        plan->n_recommendations, plan->n_recommendations == 1 ? "" : "s", changed, plan->after.imbalance);
    events_publish(
        e,
        &(struct event){
            .kind = EVENT_PASS_DONE, .time = now, .pass = e->passes->last, .changes = changes, .text = text});
}

/* The same trouble in two passes, though its sentence has other figures in it. */
static const char *fault_key(const struct plan *plan, const struct fault *f, struct arena *a)
{
    const struct snapshot *s = plan->snap;

    /* it names one VM of several, and any of its figures may change */
    if (f->code == FAULT_SPARE_MISSING && f->host == IX_NONE && f->found->code != FIND_SOURCE_FAULT)
        return arena_printf(a, "%d %d %d", (int)f->code, (int)f->found->code, (int)f->found->resource);
    if (f->vm == IX_NONE && f->host == IX_NONE && f->rule == IX_NONE)
        return arena_printf(a, "%d %s", (int)f->code, wording_text(s, f->found, a));
    return arena_printf(a, "%d|%s|%s|%s", (int)f->code, f->vm == IX_NONE ? "" : s->vms[f->vm].is.id,
                        f->host == IX_NONE ? "" : s->hosts[f->host].is.id,
                        f->rule == IX_NONE ? "" : s->rules[f->rule].is.id);
}

/* Says, as events of that kind, which faults of the one plan the other one does not have. */
static void publish_others(struct engine *e, enum event_kind kind, const struct plan *plan,
                           const struct plan *other, instant_s now)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct idmap known = {0};
    uint32_t n = 0;
    char more[EVENT_TEXT_MAX];

    for (uint32_t i = 0; other && i < other->n_faults; i++)
        *idmap_slot(&known, fault_key(other, &other->faults[i], &a)) = e;
    for (uint32_t i = 0; i < plan->n_faults; i++) {
        const struct fault *f = &plan->faults[i];

        if (idmap_get(&known, fault_key(plan, f, &a)) || n++ >= FAULTS_PUBLISHED_MAX)
            continue;
        events_publish(e,
                       &(struct event){.kind = kind,
                                       .time = now,
                                       .pass = e->passes->last,
                                       .fault = f->code,
                                       .vm = f->vm == IX_NONE ? NULL : plan->snap->vms[f->vm].is.id,
                                       .host = f->host == IX_NONE ? NULL : plan->snap->hosts[f->host].is.id,
                                       .snapshot = plan->snap,
                                       .text = wording_text(plan->snap, f->found, &a)});
    }
    idmap_release(&known, NULL);
    if (n <= FAULTS_PUBLISHED_MAX)
        return;
    (void)snprintf(more, sizeof more, "and %u more faults that %s", n - FAULTS_PUBLISHED_MAX,
                   kind == EVENT_FAULT ? "were not there before" : "are not there any more");
    events_publish(
        e, &(struct event){
               .kind = kind, .time = now, .pass = e->passes->last, .fault = fault_code_count, .text = more});
}

/* Only what has changed since the last pass: a fault may stand for weeks, and status shows all of them. After
 * a restart each is said anew. */
static void publish_faults(struct engine *e, const struct plan *plan, const struct plan *last, instant_s now)
{
    publish_others(e, EVENT_FAULT, plan, last, now);
    if (last)
        publish_others(e, EVENT_FAULT_CLEARED, last, plan, now);
}

int decide(struct engine *e, const char *trigger, instant_s now, struct err *err)
{
    struct observation *v = e->now_seen;
    struct arena *a = &v->seen.arena;
    int r = run_pass(e, v, now, err);

    if (r < 0)
        return err_widen(err, "the pass could not decide");
    struct observation *last = e->passes->decided;

    v->references++;
    e->passes->decided = v;
    e->passes->decided_id = ++e->passes->last;
    e->passes->n_here++;
    e->passes->last_time = now;

    uint64_t *number = recommendation_numbers(&v->plan, a);

    struct recommendation_changes changes;

    publish_faults(e, &v->plan, last ? &last->plan : NULL, now);
    observation_unref(last);
    bool withdrawn = power_outcome_withdraw_standbys(e, &v->plan, false, now);

    struct action_record proof;
    const bool proves = proofs_recommendation(e, e->passes->last, &proof);

    recommendations_take(e, v, proves ? &proof : NULL, e->passes->last, a, number, &changes, now);
    publish_pass(e, &v->plan, &changes, now);
    if (withdrawn) { /* the plan counted without those hosts: the next one, made at once, counts with them */
        e->passes->again = true;
    } else {
        approve_by_itself(e, v, number, a, now);
        proofs_approve(e, now);
    }
    pool_updates_take(e, v);
    (void)decide_store(e, &v->plan, e->passes->last, trigger, now);
    actions_forget(e, now);
    return 0;
}
