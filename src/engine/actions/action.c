/* action.c: the list of actions, and the one way for an action to change its state. */
#include "base/xalloc.h"
#include "engine/actions/action_record.h"
#include "engine/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UID_MAX 128

void action_free(struct action *x)
{
    if (!x)
        return;
    action_record_release(&x->r);
    action_list_release(&x->needed_by);
    free(x);
}

void action_changed(struct engine *e, struct action *x)
{
    if (x->dirty)
        return;
    x->dirty = true;
    action_list_add(&e->unstored_actions, x);
}

static void link_needs(const struct engine *e, struct action *x)
{
    for (uint32_t i = 0; i < x->r.n_depends_on; i++) {
        struct action *y = action_find(e, x->r.depends_on[i]);

        if (y)
            action_list_add(&y->needed_by, x);
    }
}

void actions_link(struct engine *e)
{
    for (size_t i = 0; i < e->n_actions; i++)
        e->actions[i]->needed_by.n = 0;
    for (size_t i = 0; i < e->n_actions; i++)
        link_needs(e, e->actions[i]);
}

void action_set_depends(struct engine *e, struct action *x, const uint64_t *ids, uint32_t n)
{
    uint64_t *copy = NULL;

    if (n > 0) {
        copy = xcalloc(n, sizeof *copy);
        memcpy(copy, ids, n * sizeof *copy);
    }
    free((void *)(uintptr_t)x->r.depends_on);
    x->r.depends_on = copy;
    x->r.n_depends_on = n;
    link_needs(e, x);
    action_changed(e, x);
}

struct action *action_add(struct engine *e, const struct action_record *r)
{
    struct action *x = xcalloc(1, sizeof *x);
    bool news = r->id == 0;
    char uid[UID_MAX];

    x->r = *r;
    if (news) {
        x->r.id = ++e->last_action;
        (void)snprintf(uid, sizeof uid, "%s-%llu", e->instance, (unsigned long long)x->r.id);
        x->r.uid = uid;
    }
    x->r = action_record_copy(&x->r);
    link_needs(e, x);
    if (e->n_actions == e->cap_actions) {
        e->cap_actions = e->cap_actions ? e->cap_actions * 2 : 64;
        e->actions = xreallocarray(e->actions, e->cap_actions, sizeof *e->actions);
    }
    e->actions[e->n_actions++] = x; /* the highest id so far, so they stay sorted */
    if (news)
        action_changed(e, x);
    (void)action_counts(e, x);
    return x;
}

struct action *action_find(const struct engine *e, uint64_t id)
{
    size_t low = 0;
    size_t high = e->n_actions;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (e->actions[mid]->r.id == id)
            return e->actions[mid];
        if (e->actions[mid]->r.id < id)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

bool action_ended(const struct action *x)
{
    switch (x->r.state) {
    case ACTION_DONE:
    case ACTION_FAILED:
    case ACTION_CANCELLED:
    case ACTION_REJECTED:
    case ACTION_EXPIRED:
        return true;
    case ACTION_RECOMMENDED:
    case ACTION_APPROVED:
    case ACTION_STARTING:
    case ACTION_RUNNING:
    case ACTION_VERIFYING:
    case action_state_count:
        break;
    }
    return false;
}

bool action_under_way(const struct action *x)
{
    return x->r.state == ACTION_STARTING || x->r.state == ACTION_RUNNING;
}

bool action_committed(const struct action *x)
{
    return x->r.state != ACTION_RECOMMENDED && !action_ended(x);
}

enum operation_kind action_operation(enum action_kind kind)
{
    switch (kind) {
    case ACTION_MIGRATE:
        return OPERATION_MIGRATE;
    case ACTION_PLACE:
        return OPERATION_POWER_ON_VM;
    case ACTION_ENTER_MAINTENANCE:
        return OPERATION_ENTER_MAINTENANCE;
    case ACTION_EXIT_MAINTENANCE:
        return OPERATION_EXIT_MAINTENANCE;
    case ACTION_POWER_ON:
        return OPERATION_WAKE;
    case ACTION_POWER_OFF:
        return OPERATION_STANDBY;
    case action_kind_count:
        break;
    }
    return OPERATION_MIGRATE;
}

static struct hold *hold_in(struct idmap *holds, const char *id)
{
    void **slot = idmap_slot(holds, id);

    if (!*slot)
        *slot = xcalloc(1, sizeof(struct hold));
    return *slot;
}

struct hold *hold_of(struct engine *e, const char *vm)
{
    return hold_in(&e->holds, vm);
}

struct hold *action_hold(struct engine *e, const struct action_record *r)
{
    if (r->vm)
        return hold_in(&e->holds, r->vm);
    return hold_in(r->kind == ACTION_POWER_OFF ? &e->sleep_holds : &e->host_holds, r->host);
}

bool action_needs_group(const struct action_record *r)
{
    return r->group != 0 && r->kind != ACTION_POWER_ON;
}

bool action_leaves_hold(const struct action_record *r)
{
    return r->kind == ACTION_MIGRATE || r->kind == ACTION_POWER_ON || r->kind == ACTION_POWER_OFF;
}

/* Twice as long after each failure in a row: of what moves from the cool-down on. A host that did not wake is
 * asked again much sooner: asking does no harm, and it may be the only one that is left to be woken; others
 * whose wake-up is proven come before it. */
instant_s hold_length_s(const struct engine *e, enum action_kind kind, unsigned failures)
{
    const struct policy *p = &e->settings.policy;
    instant_s length = kind == ACTION_POWER_ON ? p->interval_s : p->cool_down_s;
    instant_s most = kind == ACTION_POWER_ON ? HOLD_WAKE_MAX_S : HOLD_MAX_S;

    length = length > 0 ? length : 1;
    for (unsigned i = 1; i < failures && length < most; i++)
        length *= 2;
    return length < most ? length : most;
}

/* As after a restart, which reads no further back. */
static bool keep_hold(const char *key, void *value, void *ctx)
{
    const instant_s *before = ctx;
    const struct hold *h = value;

    (void)key;
    if (h->moved >= *before || h->tried >= *before || h->until >= *before)
        return true;
    free(value);
    return false;
}

void holds_forget(struct engine *e, instant_s before)
{
    struct idmap *const all[] = {&e->holds, &e->host_holds, &e->sleep_holds};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        idmap_keep(all[i], keep_hold, &before);
}

static double consumed_mb(const struct engine *e, const char *vm)
{
    if (!e->now_seen)
        return UNKNOWN;
    uint32_t ix = snapshot_find_vm(&e->now_seen->snap, vm);

    return ix == IX_NONE ? UNKNOWN : e->now_seen->snap.vms[ix].is.consumed_mb;
}

void migration_note(struct engine *e, const struct migration_record *r, bool taught)
{
    if (e->n_unstored == e->cap_unstored) {
        e->cap_unstored = e->cap_unstored ? e->cap_unstored * 2 : 16;
        e->unstored = xreallocarray(e->unstored, e->cap_unstored, sizeof *e->unstored);
    }
    struct unstored_migration *m = &e->unstored[e->n_unstored++];

    *m = (struct unstored_migration){.r = *r, .taught = taught};
    m->r.vm = xstrdup(r->vm);
    m->r.from = xstrdup(r->from);
    m->r.to = xstrdup(r->to);
}

static void note_end(struct engine *e, const struct action *x, bool taught)
{
    const struct migration_record r = {
        .action = x->r.id,
        .vm = x->r.vm,
        .from = x->r.from,
        .to = x->r.to,
        .started = x->r.started,
        .ended = x->r.ended,
        .mem_mb = x->copy.began != 0 ? x->copy.mem_mb : consumed_mb(e, x->r.vm),
        .ok = x->r.state == ACTION_DONE,
    };

    migration_note(e, &r, taught);
}

/* What its end means for the next one of the same VM or host. */
static void remember_end(struct engine *e, const struct action *x, instant_s now)
{
    if (!action_leaves_hold(&x->r))
        return;
    if (x->r.state == ACTION_DONE) {
        struct hold *h = action_hold(e, &x->r);

        h->moved = now;
        h->failures = 0;
        h->until = 0;
    } else if (x->r.state == ACTION_FAILED) {
        struct hold *h = action_hold(e, &x->r);

        h->tried = now;
        h->until = now + hold_length_s(e, x->r.kind, ++h->failures);
    } else if (x->r.state == ACTION_REJECTED) {
        struct hold *h = action_hold(e, &x->r);

        h->tried = now;
        h->until = now + hold_length_s(e, x->r.kind, 1);
    }
    if (x->r.kind != ACTION_MIGRATE)
        return;
    if (x->r.state == ACTION_DONE)
        note_end(e, x, learn_ends(e, x, now));
    else if (x->r.state == ACTION_FAILED)
        note_end(e, x, false);
}

void action_enter(struct engine *e, struct action *x, enum action_state state, const char *why, instant_s now)
{
    char *text = (char *)(uintptr_t)x->r.why;

    xstrset(&text, why);
    x->r.why = text;
    x->r.state = state;
    action_changed(e, x);
    if (action_counts(e, x))
        agenda_wake(e, x);
    if (state == ACTION_APPROVED)
        x->r.approved = now;
    if (state == ACTION_STARTING)
        x->r.started = now;
    if (action_ended(x)) {
        x->r.ended = now;
        remember_end(e, x, now);
    }
    publish(e, &(struct event){.kind = EVENT_ACTION,
                               .time = now,
                               .action = &x->r,
                               .pass = x->r.pass,
                               .text = x->r.why ? x->r.why : x->r.text});
    if (action_ended(x))
        power_ended(e, x, now);
}

/* Whether a live action must still find out how this one ended. */
static bool is_needed(const struct action *x)
{
    for (size_t i = 0; i < x->needed_by.n; i++) {
        const struct action *y = x->needed_by.items[i];

        if (action_ended(y))
            continue;
        for (uint32_t d = 0; d < y->r.n_depends_on; d++) {
            if (y->r.depends_on[d] == x->r.id)
                return true;
        }
    }
    return false;
}

void actions_forget(struct engine *e, instant_s now)
{
    struct action **kept = xcalloc(e->cap_actions, sizeof(struct action *));
    size_t n = 0;

    agenda_forget(e);
    /* freed afterwards: is_needed() looks at others */
    for (size_t i = 0; i < e->n_actions; i++) {
        struct action *x = e->actions[i];
        bool over = action_ended(x) && !x->dirty && !x->job_out && x->r.ended + ENDED_SHOWN_S < now;

        kept[n++] = x;
        if (over && !is_needed(x))
            n--;
    }
    size_t next = 0;

    for (size_t i = 0; i < e->n_actions; i++) {
        if (next < n && e->actions[i] == kept[next])
            next++;
        else
            action_free(e->actions[i]);
    }
    free(e->actions);
    e->actions = kept;
    e->n_actions = n;
    actions_link(e);
    occupancy_rebuild(e);
}
