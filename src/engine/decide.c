/* decide.c: from a frozen snapshot to numbered recommendations, and what of them goes ahead by itself. */
#include "engine/internal.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "core/pass.h"
#include "engine/memory.h"
#include "model/snapshot_json.h"
#include "render/render.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IMBALANCED_PASSES_NEEDED 2
#define EVENT_TEXT_MAX 512
#define FAULTS_PUBLISHED_MAX 20 /* of one pass, as events */

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

/* Whether there is something to balance: I above its target, or moves that the outlier rule asks for. */
static bool imbalanced(const struct plan *plan)
{
    if (plan->before.imbalance > plan->before.target)
        return true;
    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        if (plan->recommendations[i].priority > PRIORITY_MANDATORY)
            return true;
    }
    return false;
}

static int run_pass(struct engine *e, struct view *v, struct err *err)
{
    struct policy policy = e->settings.policy;
    struct arena *a = &v->seen.arena;
    int64_t begin = e->settings.clock_us ? e->settings.clock_us() : 0;
    int r;

    policy.optional_moves = true;
    if ((r = pass_run(&v->snap, &policy, a, &v->plan, err)) < 0)
        return r;
    e->imbalanced_passes = imbalanced(&v->plan) ? e->imbalanced_passes + 1 : 0;
    /* Against thrashing, only where nobody looks: a peak that is gone by the next pass is not worth a
     * migration. A person is shown the moves at once. */
    if (policy.automation == AUTOMATION_FULL && e->imbalanced_passes > 0 &&
        e->imbalanced_passes < IMBALANCED_PASSES_NEEDED && !some_host_over(&v->plan.before)) {
        policy.optional_moves = false;
        if ((r = pass_run(&v->snap, &policy, a, &v->plan, err)) < 0)
            return r;
    }
    if (e->settings.clock_us)
        v->plan.stats.decide_us = e->settings.clock_us() - begin;
    v->decided = true;
    return 0;
}

/* ---- recommendations ------------------------------------------------------------------------- */

static bool same_text(const char *x, const char *y)
{
    return x == y || (x && y && strcmp(x, y) == 0);
}

static const char *vm_id(const struct snapshot *s, uint32_t ix)
{
    return ix == IX_NONE ? NULL : s->vms[ix].is.id;
}

static const char *host_id(const struct snapshot *s, uint32_t ix)
{
    return ix == IX_NONE ? NULL : s->hosts[ix].is.id;
}

/* The record that says what the recommendation says; number and dependencies apart. */
static struct action_record describe(const struct snapshot *s, const struct recommendation *rec,
                                     uint64_t pass)
{
    struct action_record r = {
        .pass = pass,
        .state = ACTION_RECOMMENDED,
        .kind = rec->action,
        .priority = rec->priority,
        .vm = vm_id(s, rec->vm),
        .from = host_id(s, rec->from),
        .to = host_id(s, rec->to),
        .host = host_id(s, rec->host),
        .reason = rec->reason,
        .rule = rec->rule == IX_NONE ? NULL : s->rules[rec->rule].is.id,
        .text = rec->text,
        .group = rec->group,
        .imbalance_after = rec->imbalance_after,
        .duration_s = rec->duration_s,
        .created = s->time,
        .seen = s->time,
    };

    for (int res = 0; res < RES_COUNT; res++) {
        r.cost[res] = rec->cost[res];
        r.benefit[res] = rec->benefit[res];
    }
    return r;
}

/* The unapproved recommendation of an earlier pass that this one repeats, or NULL. */
static struct action *find_repeated(const struct engine *e, const struct action_record *r)
{
    for (size_t i = 0; i < e->n_actions; i++) {
        struct action *x = e->actions[i];

        if (x->r.state == ACTION_RECOMMENDED && x->r.kind == r->kind && same_text(x->r.vm, r->vm) &&
            same_text(x->r.from, r->from) && same_text(x->r.to, r->to) && same_text(x->r.host, r->host))
            return x;
    }
    return NULL;
}

static void replace_text(const char **place, const char *text)
{
    char *own = (char *)(uintptr_t)*place;

    xstrset(&own, text);
    *place = own;
}

/* Takes over what the newer pass says of the same move; number, uid and age stay. */
static void refresh(struct action *x, const struct action_record *r)
{
    x->r.pass = r->pass;
    x->r.priority = r->priority;
    x->r.reason = r->reason;
    x->r.group = r->group;
    x->r.imbalance_after = r->imbalance_after;
    x->r.duration_s = r->duration_s;
    x->r.seen = r->seen;
    for (int res = 0; res < RES_COUNT; res++) {
        x->r.cost[res] = r->cost[res];
        x->r.benefit[res] = r->benefit[res];
    }
    replace_text(&x->r.rule, r->rule);
    replace_text(&x->r.text, r->text);
    x->dirty = true;
}

/* Whether an action is under way, or waits, for the same VM. The pass knows of those and proposes nothing for
 * their VMs; should it ever do so, what was approved first wins. */
static bool vm_is_taken(const struct engine *e, const char *vm)
{
    for (size_t i = 0; vm && i < e->n_actions; i++) {
        const struct action *x = e->actions[i];

        if (action_committed(x) && same_text(x->r.vm, vm))
            return true;
    }
    return false;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a;
    const uint64_t *y = b;

    return (*x > *y) - (*x < *y);
}

/* Translates the plan's numbers, and adds what the plan could not name: moves of earlier plans that make room
 * at this one's destination and have not ended. False: it depends on something that was dropped. */
static bool set_dependencies(struct engine *e, struct action *x, const struct recommendation *rec,
                             const uint64_t *number, struct arena *a)
{
    uint64_t *ids = arena_array(a, uint64_t, rec->n_depends_on + e->n_actions);
    uint32_t n = 0;

    for (uint32_t i = 0; i < rec->n_depends_on; i++) {
        if (number[rec->depends_on[i]] == 0)
            return false;
        ids[n++] = number[rec->depends_on[i]];
    }
    for (size_t i = 0; i < e->n_actions; i++) {
        const struct action *y = e->actions[i];

        if (action_committed(y) && y->r.kind == ACTION_MIGRATE && x->r.to && same_text(y->r.from, x->r.to))
            ids[n++] = y->r.id;
    }
    if (n > 0)
        qsort(ids, n, sizeof *ids, by_number);
    if (n != x->r.n_depends_on || (n > 0 && memcmp(ids, x->r.depends_on, n * sizeof *ids) != 0))
        action_set_depends(x, ids, n);
    return true;
}

/* Gives every recommendation of the plan its number: ret_number[plan's id], 0 for one that was dropped. */
static void take_recommendations(struct engine *e, const struct view *v, uint64_t pass, struct arena *a,
                                 uint64_t *ret_number, instant_s now)
{
    const struct plan *plan = &v->plan;

    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        const struct recommendation *rec = &plan->recommendations[i];
        struct action_record r = describe(&v->snap, rec, pass);

        if (vm_is_taken(e, r.vm))
            continue;
        struct action *x = find_repeated(e, &r);
        bool news = !x;

        if (x)
            refresh(x, &r);
        else
            x = action_add(e, &r);
        if (!set_dependencies(e, x, rec, ret_number, a)) {
            action_enter(e, x, ACTION_EXPIRED, "what it depends on cannot be carried out", now);
            continue;
        }
        ret_number[rec->id] = x->r.id;
        if (news)
            action_enter(e, x, ACTION_RECOMMENDED, NULL, now);
    }
    for (size_t i = 0; i < e->n_actions; i++) {
        struct action *x = e->actions[i];

        if (x->r.state == ACTION_RECOMMENDED && x->r.pass != pass)
            action_enter(e, x, ACTION_EXPIRED, "a later pass no longer recommends it", now);
    }
}

/* ---- automation ------------------------------------------------------------------------------ */

/* Whether the engine may approve it without asking: level full, a VM that has no wish of its own and did not
 * fail just now. The cluster's level is the most that happens by itself; a VM set to automatic in a manual
 * cluster is still asked for. The threshold needs no second look: the pass stops where its level is content,
 * so all that the plan holds is wanted, the moves off an outlier below the target (priority 4 or 5) too. */
static bool may_approve(const struct engine *e, const struct snapshot *s, const struct action *x,
                        instant_s now)
{
    const struct policy *p = &e->settings.policy;

    if (p->automation != AUTOMATION_FULL || e->frozen || x->r.kind != ACTION_MIGRATE ||
        !(e->settings.deeds & (1u << DEED_MIGRATE)))
        return false;
    uint32_t ix = snapshot_find_vm(s, x->r.vm);

    if (ix == IX_NONE || s->vms[ix].is.automation == AUTOMATION_MANUAL ||
        s->vms[ix].is.automation == AUTOMATION_DISABLED)
        return false;
    const struct hold *h = idmap_get(&e->holds, x->r.vm);

    return !h || h->until <= now;
}

/* Not without what it depends on, and a group as a whole or not at all. Returns whether it changed something.
 */
static bool withhold(const struct engine *e, struct action **list, bool *ok, size_t n)
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
            held = held || k == n || !ok[k];
        }
        for (size_t k = 0; k < n; k++)
            held = held || (list[i]->r.group != 0 && list[k]->r.group == list[i]->r.group && !ok[k]);
        if (held && ok[i]) {
            ok[i] = false;
            changed = true;
        }
    }
    return changed;
}

static void approve_by_itself(struct engine *e, const struct view *v, const uint64_t *number, struct arena *a,
                              instant_s now)
{
    const struct plan *plan = &v->plan;
    struct action **list = arena_array(a, struct action *, plan->n_recommendations);
    bool *ok = arena_array(a, bool, plan->n_recommendations);
    size_t n = 0;

    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        struct action *x = action_find(e, number[plan->recommendations[i].id]);

        if (!x)
            continue;
        ok[n] = may_approve(e, &v->snap, x, now);
        list[n++] = x;
    }
    while (withhold(e, list, ok, n))
        ;
    for (size_t i = 0; i < n; i++) {
        if (ok[i])
            action_approve(e, list[i], "engine", now);
    }
}

/* ---- the record ------------------------------------------------------------------------------ */

static void store_pass(struct engine *e, const struct view *v, const char *trigger, instant_s now)
{
    CLEANUP(strbuf_releasep) struct strbuf snapshot = {0};
    CLEANUP(strbuf_releasep) struct strbuf plan = {0};

    strbuf_init(&snapshot, STRBUF_NO_LIMIT);
    strbuf_init(&plan, STRBUF_NO_LIMIT);
    snapshot_dump(&v->snap, &snapshot);
    render_plan_json(&v->plan, &plan);
    const struct pass_record r = {
        .id = e->last_pass,
        .time = now,
        .trigger = trigger,
        .imbalance_before = v->plan.before.imbalance,
        .imbalance_after = v->plan.after.imbalance,
        .target = v->plan.before.target,
        .n_recommendations = v->plan.n_recommendations,
        .n_faults = v->plan.n_faults,
        .decide_us = v->plan.stats.decide_us,
        .snapshot = snapshot.text,
        .plan = plan.text,
    };

    (void)storing_flush(e, &r,
                        now); /* on failure the actions are tried again, the record of the pass is lost */
}

static void publish_pass(struct engine *e, const struct plan *plan, instant_s now)
{
    char text[EVENT_TEXT_MAX];

    (void)snprintf(text, sizeof text,
                   "pass %llu: imbalance %.3f (target %.3f), %u recommendation%s, %.3f after",
                   (unsigned long long)e->last_pass, plan->before.imbalance, plan->before.target,
                   plan->n_recommendations, plan->n_recommendations == 1 ? "" : "s", plan->after.imbalance);
    publish(e, &(struct event){.kind = EVENT_PASS_DONE, .time = now, .pass = e->last_pass, .text = text});
}

/* Only what the last pass did not find: a fault may stand for weeks, and status shows all of them. */
static void publish_faults(struct engine *e, const struct plan *plan, const struct plan *last, instant_s now)
{
    struct idmap known = {0};
    uint32_t n = 0;
    char more[EVENT_TEXT_MAX];

    for (uint32_t i = 0; last && i < last->n_faults; i++)
        *idmap_slot(&known, last->faults[i].text) = e;
    for (uint32_t i = 0; i < plan->n_faults; i++) {
        if (idmap_get(&known, plan->faults[i].text) || n++ >= FAULTS_PUBLISHED_MAX)
            continue;
        publish(e, &(struct event){
                       .kind = EVENT_FAULT, .time = now, .pass = e->last_pass, .text = plan->faults[i].text});
    }
    idmap_release(&known, NULL);
    if (n <= FAULTS_PUBLISHED_MAX)
        return;
    (void)snprintf(more, sizeof more, "and %u more faults that were not there before",
                   n - FAULTS_PUBLISHED_MAX);
    publish(e, &(struct event){.kind = EVENT_FAULT, .time = now, .pass = e->last_pass, .text = more});
}

int decide(struct engine *e, const char *trigger, instant_s now, struct err *err)
{
    struct view *v = e->now_seen;
    struct arena *a = &v->seen.arena;
    int r = run_pass(e, v, err);

    if (r < 0)
        return err_widen(err, "the pass could not decide");
    struct view *last = e->decided;

    v->references++;
    e->decided = v;
    e->last_pass++;
    e->passes_here++;
    e->last_pass_time = now;

    uint32_t highest = 0;

    for (uint32_t i = 0; i < v->plan.n_recommendations; i++) {
        if (v->plan.recommendations[i].id > highest)
            highest = v->plan.recommendations[i].id;
    }
    uint64_t *number = arena_array(a, uint64_t, (size_t)highest + 1);

    publish_pass(e, &v->plan, now);
    publish_faults(e, &v->plan, last ? &last->plan : NULL, now);
    view_unref(last);
    take_recommendations(e, v, e->last_pass, a, number, now);
    approve_by_itself(e, v, number, a, now);
    pools_take(e, v);
    store_pass(e, v, trigger, now);
    actions_forget(e, now);
    return 0;
}
