/* placement.c: VMs that an admin wants powered on, or migrated to the best host: where, and what is begun for
 * it.
 *
 * A request waits for an inventory that is asked for after it, so that a VM that was made a moment ago is
 * known, and that nothing that was approved meanwhile is forgotten. One inventory decides all that wait for
 * it, one after the other: what was begun is pending in its snapshot at once. Where external units were asked
 * about that snapshot, their answers hold for the first that begins something; the others wait for the next.
 * A pass waits for the next inventory, too. */
#include "engine/placement.h"

#include "base/cleanup.h"
#include "base/order.h"
#include "base/strbuf.h"
#include "base/thread_pool.h"
#include "base/xalloc.h"
#include "core/place/best.h"
#include "core/place/place.h"
#include "engine/actions/action.h"
#include "engine/actions/action_states.h"
#include "engine/actions/power_outcome.h"
#include "engine/admin_commands.h"
#include "engine/approval.h"
#include "engine/decide.h"
#include "engine/four_eyes.h"
#include "engine/observation.h"
#include "engine/persist.h"
#include "engine/recommendations.h"
#include "engine/source_poll.h"
#include "engine/state.h"
#include "render/render.h"
#include "render/wording/wording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACINGS_MAX 256       /* more than clients may wait (client.c) */
#define DECIDE_MOST_US 1000000 /* the others wait for the next inventory: the service has more to do */
#define REFUSALS_MOST 3        /* hosts that are asked to start a VM, as in oVirt: then it is the VM */
#define REFUSAL_S 600          /* a host that refused to start a VM so lately is asked last */
#define ABANDONED_S 60         /* a decision that was not fetched for so long is dropped */

/* ---- what waits, and what was decided -------------------------------------------------------- */

static void pending_placement_free(struct pending_placement *p)
{
    for (size_t i = 0; i < p->n_names; i++)
        free(p->names[i]);
    free(p->names);
    free(p->by);
    observation_unref(p->decided_from);
    arena_release(&p->arena);
    free(p);
}

static void forget(struct engine *e, size_t i)
{
    pending_placement_free(e->placements->list[i]);
    memmove(&e->placements->list[i], &e->placements->list[i + 1],
            (--e->placements->n - i) * sizeof *e->placements->list);
}

static void conclude(struct pending_placement *p, int code, instant_s now)
{
    p->decided = true;
    p->decided_at = now;
    p->code = code;
}

void placement_fail(struct engine *e, uint64_t serial, const struct err *why, instant_s now)
{
    for (size_t i = 0; i < e->placements->n; i++) {
        struct pending_placement *p = e->placements->list[i];

        if (!placement_queue_wants_inventory(e, p) || p->after >= serial)
            continue;
        p->error = *why;
        conclude(p, why->code ? why->code : -EIO, now);
    }
}

void placement_expire(struct engine *e, instant_s now)
{
    for (size_t i = e->placements->n; i-- > 0;) {
        struct pending_placement *p = e->placements->list[i];

        if (p->decided && p->decided_at + ABANDONED_S < now)
            forget(e, i);
        else if (!p->decided && p->deadline <= now)
            conclude(p, placement_queue_explain(e, p, now), now);
    }
}

/* ---- which VMs ------------------------------------------------------------------------------- */

/* A VM is named by its id, or by its name where that is not ambiguous. */
static int find_vm(const struct snapshot *s, const char *word, uint32_t *ret, struct err *err)
{
    uint32_t found = snapshot_find_vm(s, word);
    bool by_id = found != IX_NONE;

    for (uint32_t i = 0; !by_id && i < s->n_vms; i++) {
        if (strcmp(s->vms[i].is.name, word) != 0)
            continue;
        if (found != IX_NONE)
            return err_set(err, -EINVAL, "there are several VMs \"%s\": name one by its id, %s or %s", word,
                           s->vms[found].is.id, s->vms[i].is.id);
        found = i;
    }
    if (found == IX_NONE)
        return err_set(err, -EINVAL, "there is no VM \"%s\"; `ballast vms` lists them", word);
    *ret = found;
    return 0;
}

/* ---- requests ---------------------------------------------------------------------------------- */

static int check_allowed(const struct engine *e, bool migrates, struct err *err)
{
    if (e->paused)
        return err_set(err, -EBUSY, "the service is paused and starts nothing; `ballast resume` ends that");
    return approval_check_operation(
        e, &(struct action_record){.kind = migrates ? ACTION_MIGRATE : ACTION_PLACE}, err);
}

/* The request in words, for the message of a first request. */
static const char *wanted(const struct place_request *q, const char *first, struct arena *a)
{
    if (q->migrates)
        return arena_printf(a, "migrate VM %.100s to its best host", first);
    return q->n_vms == 1 ? arena_printf(a, "power on VM %.100s", first)
                         : arena_printf(a, "power on %zu VMs, first %.100s", q->n_vms, first);
}

/* Whether two people have asked for this, where the four-eyes rule applies. VMs are compared by id where it
 * is known, in any order. */
static int agree(struct engine *e, const struct place_request *q, instant_s now,
                 char ret_by[FOUR_EYES_BY_MAX], struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct snapshot *s = engine_snapshot(e);
    const char **ids = arena_array(&a, const char *, q->n_vms);
    CLEANUP(strbuf_releasep) struct strbuf key = STRBUF_EMPTY;
    uint32_t ix;

    for (size_t i = 0; i < q->n_vms; i++)
        ids[i] = s && find_vm(s, q->vms[i], &ix, NULL) == 0 ? s->vms[ix].is.id : q->vms[i];
    qsort(ids, q->n_vms, sizeof *ids, order_texts);
    for (size_t i = 0; i < q->n_vms; i++) {
        if (i == 0 || strcmp(ids[i], ids[i - 1]) != 0)
            strbuf_printf(&key, "%s\n", ids[i]);
    }
    const struct four_eyes_request request = {
        .action = q->migrates ? FOUR_EYES_MIGRATE : FOUR_EYES_PLACE,
        .key = key.text,
        .what = wanted(q, s ? snapshot_vm_name(s, ids[0]) : ids[0], &a),
    };
    return four_eyes_agree(e, &request, q->by, now, ret_by, err);
}

static struct pending_placement *add(struct engine *e, const struct place_request *request, const char *who,
                                     instant_s now)
{
    struct pending_placement *p = xcalloc(1, sizeof *p);

    p->names = xcalloc(request->n_vms, sizeof *p->names);
    for (; p->n_names < request->n_vms; p->n_names++)
        p->names[p->n_names] = xstrdup(request->vms[p->n_names]);
    p->migrates = request->migrates;
    p->apply = request->apply;
    p->by = xstrdup(who);
    p->ticket = ++e->placements->last_ticket;
    p->asked = now;
    p->deadline = e->settings.lock_wait_s > 0 ? now + e->settings.lock_wait_s : INT64_MAX;
    p->after = e->poll->serial;
    e->placements->list =
        xreallocarray(e->placements->list, e->placements->n + 1, sizeof(struct pending_placement *));
    e->placements->list[e->placements->n++] = p;
    source_poll_want(e, now);
    return p;
}

int engine_place(struct engine *e, const struct place_request *request, instant_s now, uint64_t *ret_ticket,
                 struct err *err)
{
    char who[FOUR_EYES_BY_MAX];
    int r;

    (void)snprintf(who, sizeof who, "%s", request->by);
    if (request->n_vms == 0)
        return err_set(err, -EINVAL, "no VM was named");
    if (request->apply && (r = check_allowed(e, request->migrates, err)) < 0)
        return r;
    if (e->placements->n == PLACINGS_MAX)
        return err_set(err, -EAGAIN, "%d such requests wait already: try again later", PLACINGS_MAX);
    if (request->apply && (r = agree(e, request, now, who, err)) < 0)
        return r;
    *ret_ticket = add(e, request, who, now)->ticket;
    engine_tick(e, now);
    return 0;
}

/* A start of the VM that its host refused lately. */
static bool refused_start(const struct action *x, const char *vm, instant_s now)
{
    return x->start_refused && strcmp(x->r.vm, vm) == 0 && x->r.ended + REFUSAL_S > now;
}

void placement_try_elsewhere(struct engine *e, const struct action *refused, instant_s now)
{
    const struct place_request q = {
        .vms = &refused->r.vm, .n_vms = 1, .apply = true, .by = refused->r.approved_by};

    unsigned refusals = 0;

    for (size_t i = 0; i < e->actions->n; i++)
        refusals += refused_start(e->actions->list[i], refused->r.vm, now);
    if (q.by && refusals < REFUSALS_MOST && e->placements->n < PLACINGS_MAX &&
        check_allowed(e, false, NULL) == 0)
        add(e, &q, q.by, now)->elsewhere = true;
}

static size_t find_placing(const struct engine *e, uint64_t ticket)
{
    size_t i = 0;

    while (i < e->placements->n && e->placements->list[i]->ticket != ticket)
        i++;
    return i;
}

int engine_place_result(const struct engine *e, uint64_t ticket, struct placement *ret, struct err *err)
{
    size_t i = find_placing(e, ticket);

    if (i == e->placements->n)
        return err_set(err, -ENOENT, "the result of the placement was not fetched in time and is gone");
    const struct pending_placement *p = e->placements->list[i];

    if (!p->decided)
        return err_set(err, -EINPROGRESS, "the placement is being decided");
    if (p->code < 0) {
        if (err)
            *err = p->error;
        return p->code;
    }
    *ret = p->is;
    ret->plan = &p->plan;
    return 0;
}

void engine_place_release(struct engine *e, uint64_t ticket)
{
    size_t i = find_placing(e, ticket);

    if (i < e->placements->n)
        forget(e, i);
}

/* ---- whether it can be asked for ------------------------------------------------------------- */

/* done: "powered on". */
static int check_not_taken(const struct engine *e, const struct vm *v, const char *done, struct err *err)
{
    for (size_t i = 0; i < e->actions->n; i++) {
        const struct action_record *r = &e->actions->list[i]->r;

        if (action_committed(e->actions->list[i]) && r->vm && strcmp(r->vm, v->is.id) == 0)
            return err_set(err, -EALREADY, "VM %s is being %s already: action %llu is %s", v->is.name, done,
                           (unsigned long long)r->id, action_state_name(r->state));
    }
    return 0;
}

/* Whether the VM can be powered on, apart from room on hosts. */
static int check_vm(const struct engine *e, const struct snapshot *s, uint32_t ix, struct err *err)
{
    const struct vm *v = &s->vms[ix];
    const struct host *h = v->host == IX_NONE ? NULL : &s->hosts[v->host];
    int r;

    if (v->is.state == VM_ON)
        return err_set(err, -EALREADY, "VM %s runs already, on host %s", v->is.name, h->is.name);
    if ((r = check_not_taken(e, v, "powered on", err)) < 0)
        return r;
    if (h && h->is.state == HOST_DISCONNECTED)
        return err_set(
            err, -EHOSTDOWN,
            "VM %s is registered on host %s, which is disconnected: it cannot be started before the "
            "host is back, or the VM is registered elsewhere",
            v->is.name, h->is.name);
    return 0;
}

/* Ascending, each once, in whatever order and however often they were named. */
static int find_vms(const struct engine *e, const struct snapshot *s, struct pending_placement *p)
{
    uint32_t *vms = arena_array(&p->arena, uint32_t, p->n_names);
    int r;

    p->is = (struct placement){.vms = vms, .best = IX_NONE};
    p->mem_mb = 0;
    for (size_t i = 0; i < p->n_names; i++) {
        if ((r = find_vm(s, p->names[i], &vms[i], &p->error)) < 0 ||
            (r = p->migrates ? check_not_taken(e, &s->vms[vms[i]], "moved", &p->error)
                             : check_vm(e, s, vms[i], &p->error)) < 0)
            return r;
    }
    qsort(vms, p->n_names, sizeof *vms, order_indexes);
    for (size_t i = 0; i < p->n_names; i++) {
        if (i > 0 && vms[i] == vms[i - 1])
            continue;
        p->mem_mb += s->vms[vms[i]].is.mem_mb;
        vms[p->is.n_vms++] = vms[i];
    }
    return 0;
}

/* ---- what is begun --------------------------------------------------------------------------- */

/* What an earlier pass recommends for a VM of this plan, and that is not approved, is superseded. */
static void supersede(struct engine *e, const char *vm, bool migrates, instant_s now)
{
    const char *why =
        migrates ? "an admin migrates it" : "a VM that was powered on by hand needs it elsewhere";

    for (size_t i = 0; vm && i < e->actions->n; i++) {
        struct action *x = e->actions->list[i];

        if (x->r.state == ACTION_RECOMMENDED && x->r.vm && strcmp(x->r.vm, vm) == 0)
            action_enter(e, x, ACTION_EXPIRED, why, now);
    }
}

/* Everything that the plan needs can be asked for, and nothing of it is under way otherwise. */
static int check_plan(const struct engine *e, struct pending_placement *p)
{
    const struct plan *plan = &p->plan;

    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        const struct action_record r =
            recommendation_record(plan->snap, &plan->recommendations[i], e->passes->last);
        int code = approval_check_operation(e, &r, &p->error);

        if (code < 0)
            return code;
        if (recommendation_vm_is_taken(e, r.vm))
            return err_set(&p->error, -EBUSY, "VM %s, which %s, is being moved: try again",
                           snapshot_vm_name(plan->snap, r.vm),
                           p->migrates ? "moves with it" : "would have to make room");
    }
    return 0;
}

/* The plan's actions, with numbers and needs, then approved as one. */
static int begin_plan(struct engine *e, struct pending_placement *p, instant_s now)
{
    const struct plan *plan = &p->plan;
    uint64_t *number = recommendation_numbers(plan, &p->arena);
    struct action **begun = arena_array(&p->arena, struct action *, plan->n_recommendations);
    size_t n = 0;

    e->passes->last++;
    uint64_t *ids = arena_array(&p->arena, uint64_t, plan->n_recommendations);

    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        const struct recommendation *rec = &plan->recommendations[i];
        struct action_record r = recommendation_record(plan->snap, rec, e->passes->last);
        const struct action *woken = recommendation_find_power_change(e, &r);

        if (woken) {
            number[rec->id] = woken->r.id;
            continue;
        }
        supersede(e, r.vm, p->migrates, now);
        r.text = wording_text(plan->snap, rec->found, &p->arena);
        struct action *x = action_add(e, &r);

        (void)recommendation_needs(e, x, rec, number, &p->arena); /* nothing of the plan was dropped */
        action_enter(e, x, ACTION_RECOMMENDED, NULL, now);
        number[rec->id] = x->r.id;
        ids[n] = x->r.id;
        begun[n++] = x;
    }
    for (size_t i = 0; i < n; i++)
        action_approve(e, begun[i], p->by, now);
    p->is.ids = ids;
    p->is.n_ids = n;
    placement_queue_add(&e->now_seen->snap, plan, false, &e->now_seen->seen.arena); /* all readers see it */
    e->passes->next = now;                                                          /* passes are to see it */
    if (decide_store(e, plan, e->passes->last, p->migrates ? "migrate" : "place", now) < 0)
        return err_set(&p->error, -EIO,
                       "approved, but that could not be stored and is forgotten at a restart: %s",
                       e->persist->error.text);
    return 0;
}

/* Where the VMs do not fit without waking a host, or not at all, one that was to go to standby and is still
 * on stays on instead. What was found without it counts no more: the next inventory shows it on. */
static bool takes_standby_back(struct engine *e, struct pending_placement *p, instant_s now)
{
    if (!p->apply || e->paused || !power_outcome_withdraw_standbys(e, &p->plan, p->is.n_unplaced > 0, now))
        return false;
    p->after = e->poll->serial;
    e->passes->next = now;
    source_poll_want(e, now);
    return true;
}

/* Finds the hosts on which the VMs would be powered on. */
static int plan_placement(struct engine *e, const struct snapshot *s, struct pending_placement *p)
{
    CLEANUP(thread_pool_freep) struct thread_pool *threads = thread_pool_new(e->settings.policy.threads);
    struct policy policy = e->settings.policy;

    policy.thread_pool = threads;
    int r = place_run(s, &policy, p->is.vms, p->is.n_vms, &p->arena, &p->plan, &p->error);

    if (r == 0)
        p->is.n_unplaced = render_unplaced_count(&p->plan, p->is.vms, p->is.n_vms);
    return r;
}

/* Finds the best host of the VM. */
static int plan_migration(struct engine *e, const struct snapshot *s, struct pending_placement *p)
{
    struct best_host best;
    int r = best_host_find(s, &e->settings.policy, *p->is.vms, &p->arena, &best, &p->plan, &p->error);

    if (r == 0 && best.host == IX_NONE)
        return err_set(&p->error, -ENOSPC, "no host may run VM %s: %s", s->vms[*p->is.vms].is.name,
                       wording_text(s, best.why, &p->arena));
    p->is.best = best.host;
    return r;
}

/* The cluster in which no VM may start where it was refused; `s` itself where none was. */
static const struct snapshot *without_refusing(const struct engine *e, const struct snapshot *s,
                                               struct pending_placement *p)
{
    struct snapshot *ret = NULL;

    for (size_t i = 0; i < p->is.n_vms; i++)
        for (size_t k = 0; k < e->actions->n; k++) {
            uint32_t vm = p->is.vms[i];
            const struct action *x = e->actions->list[k];
            uint32_t host =
                refused_start(x, s->vms[vm].is.id, s->time) ? snapshot_find_host(s, x->r.to) : IX_NONE;
            uint32_t words = (s->n_hosts + 63) / 64;

            if (host == IX_NONE)
                continue;
            if (!ret) {
                ret = arena_copy(&p->arena, s, 1, sizeof *s);
                ret->vms = arena_copy(&p->arena, s->vms, s->n_vms, sizeof *s->vms);
            }
            uint64_t *offered = arena_array(&p->arena, uint64_t, words);

            for (uint32_t w = 0; w < words; w++)
                offered[w] = ret->vms[vm].offered ? ret->vms[vm].offered[w] : UINT64_MAX;
            offered[host / 64] &= ~(UINT64_C(1) << host % 64);
            ret->vms[vm].offered = offered;
        }
    return ret ? ret : s;
}

/* Who asks again after a refusal gets another host, or the same where none other is left. */
static int plan_start(struct engine *e, const struct snapshot *s, struct pending_placement *p)
{
    const struct snapshot *others = without_refusing(e, s, p);
    int r = plan_placement(e, others, p);

    return others == s || p->elsewhere || (r == 0 && p->is.n_unplaced == 0) ? r : plan_placement(e, s, p);
}

static int plan_on(struct engine *e, const struct snapshot *s, struct pending_placement *p)
{
    int r = find_vms(e, s, p);

    return r < 0 ? r : p->migrates ? plan_migration(e, s, p) : plan_start(e, s, p);
}

/* Plans with all that is under way or kept for others. */
static void plan_anew(struct engine *e, struct pending_placement *p)
{
    int64_t began_us = e->settings.clock_us ? e->settings.clock_us() : 0;

    p->code = plan_on(e, placement_queue_begin(e, p), p);
    if (e->settings.clock_us)
        p->plan.stats.decide_us = e->settings.clock_us() - began_us;
}

/* Whether only what is under way, or is kept for others, is in the way. True: the plan is that without it. */
static bool is_blocked(struct engine *e, struct pending_placement *p)
{
    struct snapshot *s = arena_copy(&p->arena, &e->now_seen->snap, 1, sizeof *s);
    struct pending_placement kept = *p;

    if (!p->apply || p->plan.snap->n_pending + p->plan.snap->n_migrations == 0)
        return false;
    s->n_pending = s->n_migrations = 0;
    if (plan_on(e, s, p) == 0 && p->is.n_unplaced == 0)
        return true;
    kept.arena = p->arena;
    *p = kept;
    return false;
}

static int begin(struct engine *e, struct pending_placement *p, instant_s now)
{
    int r;

    if (p->plan.snap->labels_unread)
        return err_set(&p->error, -EAGAIN,
                       "nothing was %s: labels and tags could not be read yet, so a rule may forbid these "
                       "hosts: %s",
                       p->migrates ? "migrated" : "powered on", p->plan.snap->labels_unread);
    if ((r = check_allowed(e, p->migrates, &p->error)) < 0 || (r = check_plan(e, p)) < 0)
        return r;
    return begin_plan(e, p, now);
}

/* Decides by the plan. -EINPROGRESS: the request goes on waiting. */
static int decide_placing(struct engine *e, struct pending_placement *p, instant_s now)
{
    if (p->code < 0 && p->code != -ENOSPC)
        return p->code;
    if (!p->migrates && takes_standby_back(e, p, now))
        return -EINPROGRESS;
    p->released = e->actions->released;
    p->blocked = (p->code < 0 || p->is.n_unplaced > 0) && is_blocked(e, p);
    if (p->blocked)
        return -EINPROGRESS;
    if (p->code < 0 || !p->apply || p->is.n_unplaced > 0) /* all of it or nothing: it is one plan */
        return p->code;
    return p->plan.n_recommendations > 0 ? begin(e, p, now) : 0;
}

bool placement_decide(struct engine *e, uint64_t serial, instant_s now)
{
    placement_expire(e, now);
    CLEANUP(freep) struct pending_placement **queue = xcalloc(e->placements->n + 1, sizeof *queue);
    const int64_t began_us = e->settings.clock_us ? e->settings.clock_us() : 0;
    size_t n = 0;
    bool begun = false;

    for (size_t i = 0; i < e->placements->n; i++) {
        struct pending_placement *p = e->placements->list[i];

        if (p->decided || p->after >= serial)
            continue;
        p->passed_over = e->settings.clock_us && e->settings.clock_us() - began_us > DECIDE_MOST_US / 2;
        if (p->passed_over)
            continue;
        p->aged = now - p->asked >= p->deadline - now;
        plan_anew(e, p);
        queue[n++] = p;
    }
    order_sort(queue, n, sizeof(struct pending_placement *), placement_queue_order);
    for (size_t i = 0; i < n && !(begun && e->now_seen->snap.n_answers > 0); i++) {
        struct pending_placement *p = queue[i];

        p->passed_over = e->settings.clock_us && e->settings.clock_us() - began_us > DECIDE_MOST_US;
        if (p->passed_over)
            continue;
        if (i > 0 && p->code == 0 && p->is.n_unplaced == 0) /* those before it may have taken its room */
            plan_anew(e, p);
        int code = decide_placing(e, p, now);

        if (code != -EINPROGRESS)
            conclude(p, code, now);
        begun = begun || p->is.n_ids > 0;
    }
    return begun;
}

void placement_free(struct placements *p)
{
    for (size_t i = 0; i < p->n; i++)
        pending_placement_free(p->list[i]);
    free(p->list);
    free(p);
}
