/* persist.c: what outlives a restart, written as transactions and read back once. */
#include "engine/persist.h"

#include "base/cleanup.h"
#include "base/instant.h"
#include "base/order.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "engine/actions/action.h"
#include "engine/decide.h"
#include "engine/events.h"
#include "engine/four_eyes.h"
#include "engine/knowledge/demand_history.h"
#include "engine/knowledge/demand_profile.h"
#include "engine/knowledge/failed_moves.h"
#include "engine/knowledge/knowledge.h"
#include "engine/knowledge/rejections.h"
#include "engine/look.h"
#include "engine/maintenance_roll.h"
#include "engine/observation.h"
#include "engine/other_service.h"
#include "engine/reclaim_confirm.h"
#include "engine/retry.h"
#include "engine/source_poll.h"
#include "engine/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RETRY_MAX_S 8            /* between two tries: without the store nothing begins */
#define REMEMBERED_S (24 * 3600) /* how far back a restart reads at least */
#define PRUNE_S 3600
#define CLOCK_TRUSTED_S (24 * 3600) /* after a leap of the clock nothing is too old for so long */
#define LOOK_GAP_PERIODS 3          /* what lies further apart leaves a gap */
#define CLOCK_SLACK_S 5             /* what a clock may be corrected by between two processes */
#define ENERGY_HOURS_KEPT_DAYS 8    /* what was drawn is kept by the hour for so long, then by the day */

#define SERVICE "ballastd" /* who pauses where no person did */

#define NOTE_PAUSED "frozen" /* since when; the key in stores of every version */
#define NOTE_PAUSED_BY "frozen_by"
#define NOTE_ROLL "maintenance_roll"
#define NOTE_FOUR_EYES "four_eyes"
#define NOTE_SOURCE "source" /* what all the ids and the names of tasks belong to */

static void persist_failed(struct engine *e, const struct err *why, instant_s now)
{
    bool news = e->persist->error.code == 0;

    e->persist->error = *why;
    if (e->persist->error.code == 0)
        e->persist->error.code = -EIO;
    e->persist->failures++;
    instant_s pause = retry_wait_s(e->persist->failures);

    e->persist->retry_at = now + (pause < RETRY_MAX_S ? pause : RETRY_MAX_S);
    if (news)
        events_publish(
            e, &(struct event){.kind = EVENT_STORE_FAILED, .time = now, .text = e->persist->error.text});
}

void persist_migration(struct engine *e, const struct migration_record *r)
{
    struct persist *p = e->persist;

    p->migrations = xalloc_grow(p->migrations, p->n_migrations, &p->cap_migrations, sizeof *p->migrations);
    struct migration_record *m = &p->migrations[p->n_migrations++];

    *m = *r;
    m->vm = xstrdup(r->vm);
    m->from = xstrdup(r->from);
    m->to = xstrdup(r->to);
}

static void clear_migrations(struct persist *p)
{
    for (size_t i = 0; i < p->n_migrations; i++) {
        free((void *)(uintptr_t)p->migrations[i].vm);
        free((void *)(uintptr_t)p->migrations[i].from);
        free((void *)(uintptr_t)p->migrations[i].to);
    }
    p->n_migrations = 0;
}

void persist_free(struct persist *p)
{
    clear_migrations(p);
    free(p->migrations);
    free(p);
}

/* Each try may take the store's whole patience, during which no request is served: a lock of another program
 * must not make an admin's pause wait. */
static bool left_alone(const struct engine *e, instant_s now)
{
    return e->persist->error.code != 0 && now < e->persist->retry_at;
}

static bool anything_dirty(const struct engine *e)
{
    return e->actions->unstored.n > 0 || e->persist->n_migrations > 0 || e->persist->notes_dirty ||
           e->persist->events_dirty || knowledge_is_dirty(e->knowledge);
}

static int by_id(const void *a, const void *b)
{
    const struct action *const *x = a;
    const struct action *const *y = b;

    return ((*x)->r.id > (*y)->r.id) - ((*x)->r.id < (*y)->r.id);
}

static int put_note(struct engine *e, const char *key, const char *value, struct err *err)
{
    const struct record note = {RECORD_NOTE, .note = &(struct note){key, value}};

    return value ? e->port.store_ops->put(e->port.store, &note, err)
                 : e->port.store_ops->forget(e->port.store, &note, err);
}

static int put_all(struct engine *e, const struct pass_record *pass, struct err *err)
{
    const struct store_ops *ops = e->port.store_ops;
    struct store *s = e->port.store;
    const struct action_list *dirty = &e->actions->unstored;
    int r;

    order_sort(dirty->items, dirty->n, sizeof(struct action *), by_id);
    for (size_t i = 0; i < dirty->n; i++) {
        if ((r = ops->put(s, &(struct record){RECORD_ACTION, .action = &dirty->items[i]->r}, err)) < 0)
            return r;
    }
    for (size_t i = 0; i < e->persist->n_migrations; i++) {
        if ((r = ops->put(s, &(struct record){RECORD_MIGRATION, .migration = &e->persist->migrations[i]},
                          err)) < 0)
            return r;
    }
    if ((r = knowledge_persist(e->knowledge, ops, s, err)) < 0)
        return r;
    if (e->persist->notes_dirty) {
        char since[RFC3339_MAX];
        const char *value = e->paused ? rfc3339_format(e->paused_since, since) : NULL;

        CLEANUP(arena_releasep) struct arena a = {0};

        if ((r = put_note(e, NOTE_PAUSED, value, err)) < 0 ||
            (r = put_note(e, NOTE_PAUSED_BY, e->paused_by, err)) < 0 ||
            (r = put_note(e, NOTE_RESTORED, e->restored, err)) < 0 ||
            (r = put_note(e, NOTE_OTHER_SERVICE, e->others_act, err)) < 0 ||
            (r = put_note(e, NOTE_ROLL, maintenance_roll_text(e, &a), err)) < 0 ||
            (r = put_note(e, NOTE_FOUR_EYES, four_eyes_text(e, &a), err)) < 0 ||
            (r = put_note(e, NOTE_RECLAIM, e->unconfirmed, err)) < 0 ||
            (r = put_note(e, NOTE_SOURCE, e->source_name, err)) < 0)
            return r;
    }
    if (e->persist->events_dirty && (r = e->port.event_sink_ops->keep(e->port.event_sink, err)) < 0)
        return r;
    return pass ? ops->put(s, &(struct record){RECORD_PASS, .pass = pass}, err) : 0;
}

int persist_flush(struct engine *e, const struct pass_record *pass, instant_s now)
{
    const struct store_ops *ops = e->port.store_ops;
    struct err err = {0};

    if (!pass && !anything_dirty(e) && e->persist->error.code == 0)
        return 0;
    if (left_alone(e, now))
        return e->persist->error.code;
    int r = ops->begin(e->port.store, &err);

    if (r == 0) {
        r = put_all(e, pass, &err);
        if (r < 0)
            ops->rollback(e->port.store);
        else
            r = ops->commit(e->port.store, &err);
    }
    if (r < 0) {
        persist_failed(e, &err, now);
        return r;
    }
    for (size_t i = 0; i < e->actions->unstored.n; i++)
        e->actions->unstored.items[i]->dirty = false;
    e->actions->unstored.n = 0;
    if (e->persist->error.code != 0) /* what could not be begun may be now */
        action_queue_add_all(e->actions);
    clear_migrations(e->persist);
    knowledge_stored(e->knowledge);
    e->persist->notes_dirty = false;
    if (e->persist->events_dirty)
        e->port.event_sink_ops->kept(e->port.event_sink);
    e->persist->events_dirty = false;
    e->persist->error = (struct err){0};
    e->persist->failures = 0;
    return 0;
}

/* The time from the look before; after a gap, one look's. */
static instant_s time_covered(const struct engine *e, instant_s time)
{
    const instant_s period = source_poll_period_s(e);
    const instant_s since = time - e->persist->last_look;

    return e->persist->last_look > 0 && since > 0 && since <= LOOK_GAP_PERIODS * period ? since : period;
}

static int put_look(struct engine *e, const struct observation *v, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct look look;

    if (!e->port.store_ops->put_look)
        return 0;
    look_take(e, v, time_covered(e, v->snap.time), &a, &look);
    int r = e->port.store_ops->put_look(e->port.store, &look, err);

    if (r == 0)
        e->persist->last_look = look.time;
    return r;
}

/* Lost samples make the windows and the series poorer, and nothing else: they are not kept for another try.
 */
void persist_samples(struct engine *e, const struct observation *v, const struct sample_record *samples,
                     size_t n, instant_s now)
{
    const struct store_ops *ops = e->port.store_ops;
    struct err err = {0};

    if ((n == 0 && !ops->put_look) || left_alone(e, now))
        return;
    int r = ops->begin(e->port.store, &err);

    if (r == 0) {
        for (size_t i = 0; r == 0 && i < n; i++)
            r = ops->put(e->port.store, &(struct record){RECORD_SAMPLE, .sample = &samples[i]}, &err);
        if (r == 0)
            r = put_look(e, v, &err);
        if (r < 0)
            ops->rollback(e->port.store);
        else
            r = ops->commit(e->port.store, &err);
    }
    if (r < 0)
        persist_failed(e, &err, now);
}

/* How far back a restart must look: a cool-down may be set to a week. */
static instant_s remembered_s(const struct engine *e)
{
    return instant_later(REMEMBERED_S, e->settings.policy.cool_down_s);
}

static instant_s day_of(instant_s t)
{
    return t - t % ENERGY_DAY_S;
}

void persist_prune(struct engine *e, instant_s now)
{
    struct err err = {0};
    const instant_s oldest = now - instant_later(e->settings.history_days * 24 * 3600, remembered_s(e));
    const struct retention keep = {
        .ended_before = oldest,
        .learned_before = oldest,
        .hosts_before = oldest,
        .patterns_before = now - (instant_s)DEMAND_SLOTS * DEMAND_SLOT_S,
        .passes_kept = e->settings.passes_kept,
        .energy_before = oldest,
        .looks_before = oldest,
        .energy_days_before = day_of(now - ENERGY_HOURS_KEPT_DAYS * ENERGY_DAY_S),
    };

    struct persist *p = e->persist;
    /* A clock that has leapt, or that a machine starts with, may be ahead by years and set right soon: until
     * then all that is kept would be too old. */
    const bool leapt = now < p->next_prune - CLOCK_TRUSTED_S || now > p->next_prune + PRUNE_S;

    if (now < p->next_prune && !leapt)
        return;
    p->next_prune = now + (leapt ? CLOCK_TRUSTED_S : PRUNE_S);
    if (leapt)
        return;
    p->pruned = now;
    knowledge_forget(e->knowledge, &keep, now);
    backoff_forget(e->actions, now - remembered_s(e));
    if (left_alone(e, now))
        return;
    if (e->port.store_ops->prune(e->port.store, &keep, &err) < 0)
        persist_failed(e, &err, now);
}

/* ---- a restart ------------------------------------------------------------------------------- */

/* What the ends of its actions say about a VM or a host, oldest first. An end in the future tells of a clock
 * that was set back. Its age is unknown: it is taken for now, so that the VM has one cool-down and no longer.
 * Dropped, the next pass could take it back; left as it is, it would rest until the clock has caught up. */
static void recall_backoff(struct engine *e, const struct action_record *r, instant_s now)
{
    if ((r->vm || r->host) && r->ended != 0)
        backoff_end(e->actions, &e->settings.policy, r,
                    r->kind == ACTION_MIGRATE &&
                        (r->state == ACTION_FAILED
                             ? failed_moves_last(e->knowledge->failed_moves, r->vm, r->to) == r->ended
                             : rejections_find(e->knowledge->failed_moves, r, now) == r->ended),
                    instant_earlier(r->ended, now));
}

static int by_end(const void *a, const void *b)
{
    const struct action_record *const *x = a;
    const struct action_record *const *y = b;

    if ((*x)->ended != (*y)->ended)
        return ((*x)->ended > (*y)->ended) - ((*x)->ended < (*y)->ended);
    return ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

static void recall_backoffs(struct engine *e, const struct stored *s, struct arena *a, instant_s now)
{
    const struct action_record **ended = arena_array(a, const struct action_record *, s->n_actions);

    for (size_t i = 0; i < s->n_actions; i++)
        ended[i] = &s->actions[i];
    order_sort(ended, s->n_actions, sizeof(const struct action_record *), by_end);
    for (size_t i = 0; i < s->n_actions; i++)
        recall_backoff(e, ended[i], now);
    /* migrations outlive their actions' rows if an admin trims those */
    for (size_t i = 0; i < s->n_migrations; i++) {
        const struct migration_record *m = &s->migrations[i];

        if (!m->ok)
            continue;
        struct backoff *h = backoff_of_vm(e->actions, m->vm);

        if (h->moved < instant_earlier(m->ended, now))
            backoff_moved(h, m->from, instant_earlier(m->ended, now));
    }
}

/* An action of an earlier process. Where it was being started, or was to be verified, only an inventory that
 * is asked for from now on can tell where it stands; one that runs is polled by its task's name. */
static void recall_action(struct engine *e, const struct action_record *r, instant_s now)
{
    if (r->ended != 0 && r->ended + ACTION_ENDED_SHOWN_S < now)
        return;
    struct action *x = action_add(e, r);

    x->recalled = true;
    x->inventory_after = e->poll->serial;
    /* the clock was set back: its start time is unknown, so that nothing is begun anew because of it, and
     * nothing is waited for until the clock has caught up; nor does a host stay on until then for what it is
     * being woken for, or is left alone because it did not go */
    if (!action_ended(x) && x->r.started > now + CLOCK_SLACK_S) {
        x->r.started = now - source_poll_stale_after_s(e) - 1;
        if (x->r.approved > x->r.started)
            x->r.approved = x->r.started;
        action_changed(e, x);
    }
    x->r.ended = instant_earlier(x->r.ended, now);
    if (x->r.state == ACTION_RUNNING &&
        !x->r.task) { /* an old version's, or a damaged row: treat as unclear */
        x->r.state = ACTION_STARTING;
        action_changed(e, x);
        (void)slot_usage_update(e->actions, x);
    }
}

static void recall_paused(struct engine *e, const struct stored *s, instant_s now)
{
    const char *since = ports_find_note(s, NOTE_PAUSED);

    xstrset(&e->restored, ports_find_note(s, NOTE_RESTORED));
    e->paused = since || e->restored;
    e->persist->notes_dirty = e->paused && !since;
    xstrset(&e->paused_by, since ? ports_find_note(s, NOTE_PAUSED_BY) : e->restored ? SERVICE : NULL);
    if (e->paused && (!since || rfc3339_parse(since, &e->paused_since) < 0))
        e->paused_since = now;
    if (e->restored)
        events_publish(
            e, &(struct event){.kind = EVENT_PAUSED, .time = now, .by = e->paused_by, .text = e->restored});
}

/* What stands in the store is of another source, where the same ids and names of tasks mean other things:
 * nothing of it is carried on here, nor does it say anything about these VMs. */
static void disown(struct engine *e, instant_s now)
{
    const struct retention keep = {.samples_before = INT64_MAX,
                                   .learned_before = INT64_MAX,
                                   .hosts_before = INT64_MAX,
                                   .passes_kept = UINT32_MAX,
                                   .energy_before = INT64_MAX,
                                   .patterns_before = INT64_MAX,
                                   .looks_before = INT64_MAX};
    struct err err = {0};

    for (size_t i = 0; i < e->actions->n; i++) {
        if (!action_ended(e->actions->list[i]))
            action_enter(e, e->actions->list[i], ACTION_CANCELLED,
                         "it was for another source than the configuration names now", now);
    }
    if (e->port.store_ops->prune(e->port.store, &keep, &err) < 0)
        persist_failed(e, &err, now);
}

int persist_load(struct engine *e, instant_s now, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct stored s = {0};
    int r = e->port.store_ops->load(e->port.store, now - remembered_s(e), now - DEMAND_HISTORY_LENGTH_S, &a,
                                    &s, err);

    if (r < 0)
        return err_widen(err, "the store cannot be read");
    e->actions->instance = xstrdup(s.instance);
    e->actions->last_id = s.last_action;
    e->passes->last = s.last_pass;
    /* a long stop of the service looks the same, and can wait as well */
    e->persist->next_prune =
        now + (s.newest > 0 && now - s.newest > CLOCK_TRUSTED_S ? CLOCK_TRUSTED_S : PRUNE_S);
    for (size_t i = 0; i < s.n_actions; i++)
        recall_action(e, &s.actions[i], now);
    actions_link(e);
    recall_paused(e, &s, now);

    const char *source = ports_find_note(&s, NOTE_SOURCE);
    bool same = !source || !e->source_name || strcmp(source, e->source_name) == 0;

    if (e->source_name && (!source || !same))
        e->persist->notes_dirty = true;
    reclaim_confirm_recall(e, ports_find_note(&s, NOTE_RECLAIM));
    if (same) {
        other_service_recall(e, ports_find_note(&s, NOTE_OTHER_SERVICE));
        maintenance_roll_recall(e, ports_find_note(&s, NOTE_ROLL));
        four_eyes_recall(e, ports_find_note(&s, NOTE_FOUR_EYES));
        knowledge_recall(e->knowledge, &s, now);
        recall_backoffs(e, &s, &a, now);
    } else {
        disown(e, now);
        knowledge_disown(e->knowledge, e, &s, now);
    }
    return 0;
}
