/* action.c: the list of actions, and the one way for an action to change its state. */
#include "engine/actions/action.h"

#include "base/xalloc.h"
#include "engine/actions/action_record.h"
#include "engine/actions/copy_links.h"
#include "engine/actions/migration_timing.h"
#include "engine/actions/move_result.h"
#include "engine/actions/power_outcome.h"
#include "engine/actions/preconditions.h"
#include "engine/events.h"
#include "engine/knowledge/failed_moves.h"
#include "engine/knowledge/knowledge.h"
#include "engine/knowledge/migration_stats.h"
#include "engine/knowledge/rejections.h"
#include "engine/observation.h"
#include "engine/persist.h"
#include "engine/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UID_MAX 128

static void action_free(struct action *x)
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
    action_list_add(&e->actions->unstored, x);
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
    for (size_t i = 0; i < e->actions->n; i++)
        e->actions->list[i]->needed_by.n = 0;
    for (size_t i = 0; i < e->actions->n; i++)
        link_needs(e, e->actions->list[i]);
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
        x->r.version = 1;
        x->r.id = ++e->actions->last_id;
        (void)snprintf(uid, sizeof uid, "%s-%llu", e->actions->instance, (unsigned long long)x->r.id);
        x->r.uid = uid;
    }
    x->r = action_record_copy(&x->r);
    link_needs(e, x);
    e->actions->list =
        xalloc_grow(e->actions->list, e->actions->n, &e->actions->cap, sizeof *e->actions->list);
    e->actions->list[e->actions->n++] = x; /* the highest id so far, so they stay sorted */
    if (news)
        action_changed(e, x);
    (void)slot_usage_update(e->actions, x);
    return x;
}

struct action *action_find(const struct engine *e, uint64_t id)
{
    size_t low = 0;
    size_t high = e->actions->n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (e->actions->list[mid]->r.id == id)
            return e->actions->list[mid];
        if (e->actions->list[mid]->r.id < id)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

bool action_is_of_power(const struct action *x)
{
    return x->r.kind == ACTION_POWER_ON || x->r.kind == ACTION_POWER_OFF;
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

bool action_list_powers_off(const struct action_list *list, const char *host)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct action *x = list->items[i];

        if (x->r.kind == ACTION_POWER_OFF && action_committed(x) && x->r.state != ACTION_APPROVED &&
            strcmp(x->r.host, host) == 0)
            return true;
    }
    return false;
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

bool action_depends_on(const struct action_record *r, uint64_t id)
{
    for (uint32_t i = 0; i < r->n_depends_on; i++) {
        if (r->depends_on[i] == id)
            return true;
    }
    return false;
}

bool action_needs_group(const struct action_record *r)
{
    return r->group != 0 && r->kind != ACTION_POWER_ON;
}

static double consumed_mb(const struct engine *e, const char *vm)
{
    if (!e->now_seen)
        return UNKNOWN;
    uint32_t ix = snapshot_find_vm(&e->now_seen->snap, vm);

    return ix == IX_NONE ? UNKNOWN : e->now_seen->snap.vms[ix].is.consumed_mb;
}

static void note_end(struct engine *e, const struct action *x)
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

    persist_migration(e, &r);
}

/* Nobody has rejected those that are rejected along with it: their VMs have a cool-down. */
static bool is_rejected_itself(const struct engine *e, const struct action_record *r, instant_s now)
{
    return r->kind == ACTION_MIGRATE && r->state == ACTION_REJECTED &&
           rejections_find(e->knowledge->failed_moves, r, now) == now;
}

static void remember_end(struct engine *e, struct action *x, instant_s now)
{
    /* one without an end failed because of its rate, which copy_links.h remembers */
    bool no_end = x->r.state == ACTION_FAILED && x->progress.has_no_end;
    bool taught = x->r.kind == ACTION_MIGRATE && x->r.state == ACTION_FAILED && x->blames_peer;

    if (!x->is_back || x->r.state == ACTION_DONE) /* a test that failed, and its host is awake */
        backoff_end(e->actions, &e->settings.policy, &x->r,
                    taught || no_end || is_rejected_itself(e, &x->r, now), now);
    if (x->r.kind != ACTION_MIGRATE || (x->r.state != ACTION_DONE && x->r.state != ACTION_FAILED))
        return;
    if (action_copies(x) && (x->r.state == ACTION_DONE || no_end))
        copy_links_end(e, x, now);
    if (x->r.state == ACTION_DONE) {
        migration_timing_end(e->knowledge->migrations, x, now);
        move_result_end(x);
        migration_stats_take_overhead(e->knowledge->migrations, &x->r);
    }
    if (taught || x->r.state == ACTION_DONE)
        failed_moves_take(e->knowledge->failed_moves,
                          &(struct move_end){.vm = x->r.vm,
                                             .from = x->r.from,
                                             .to = x->r.to,
                                             .at = now,
                                             .off = !action_copies(x),
                                             .passes = backoff_is_short(&x->r),
                                             .why = taught ? (x->r.why ? x->r.why : "no reason") : NULL});
    if (action_copies(x))
        note_end(e, x);
}

void action_enter(struct engine *e, struct action *x, enum action_state state, const char *why, instant_s now)
{
    const bool copied = x->r.kind == ACTION_MIGRATE && action_under_way(x);
    const bool held = action_committed(x);
    char *text = (char *)(uintptr_t)x->r.why;

    xstrset(&text, why);
    x->r.why = text;
    x->r.state = state;
    action_changed(e, x);
    if (slot_usage_update(e->actions, x))
        action_queue_wake(e->actions, x);
    if (copied && !action_under_way(x))
        copy_progress_links_changed(e->actions, x, now);
    if (state == ACTION_APPROVED)
        x->r.approved = now;
    if (state == ACTION_STARTING)
        x->r.started = now;
    if (action_ended(x)) {
        x->r.ended = now;
        e->actions->released += held;
        remember_end(e, x, now);
    }
    events_publish(e, &(struct event){.kind = EVENT_ACTION,
                                      .time = now,
                                      .action = &x->r,
                                      .pass = x->r.pass,
                                      .text = x->r.why ? x->r.why : x->r.text});
    if (action_ended(x))
        power_outcome_apply(e, x, now);
}

void action_set_ended_by(struct engine *e, struct action *x, const char *by)
{
    char *own = (char *)(uintptr_t)x->r.ended_by;

    xstrset(&own, by);
    x->r.ended_by = own;
    action_changed(e, x);
}

const char *action_append_why(const struct action *x, const char *more, char buffer[WHY_ALL])
{
    const char *before = x->r.why;

    if (!before || !before[0] || strcmp(before, more) == 0)
        (void)snprintf(buffer, WHY_ALL, "%s", more);
    else
        (void)snprintf(buffer, WHY_ALL, "%.*s; %s", (int)(WHY_ALL - WHY_MAX), before, more);
    return buffer;
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
    struct action **kept = xcalloc(e->actions->cap, sizeof(struct action *));
    size_t n = 0;

    action_queue_forget(e->actions);
    /* freed afterwards: is_needed() looks at others */
    for (size_t i = 0; i < e->actions->n; i++) {
        struct action *x = e->actions->list[i];
        bool over = action_ended(x) && !x->dirty && !x->job_out && x->r.ended + ACTION_ENDED_SHOWN_S < now;

        kept[n++] = x;
        if (over && !is_needed(x))
            n--;
    }
    size_t next = 0;

    for (size_t i = 0; i < e->actions->n; i++) {
        if (next < n && e->actions->list[i] == kept[next])
            next++;
        else
            action_free(e->actions->list[i]);
    }
    free(e->actions->list);
    e->actions->list = kept;
    e->actions->n = n;
    actions_link(e);
    slot_usage_rebuild(e->actions);
}

void actions_free(struct actions *all)
{
    for (size_t i = 0; i < all->n; i++)
        action_free(all->list[i]);
    free(all->list);
    free(all->instance);
    action_list_release(&all->unstored);
    action_queue_release(all);
    slot_usage_release(all);
    backoff_release(all);
    free(all);
}
