/* persist.c: what outlives a restart, written as transactions and read back once. */
#include "engine/internal.h"

#include "base/rfc3339.h"
#include "base/xalloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NOTE_PAUSED "frozen" /* since when; the key in stores of every version */
#define NOTE_SOURCE "source" /* what all the ids and the names of tasks belong to */

void storing_failed(struct engine *e, const struct err *why, instant_s now)
{
    bool news = e->store_error.code == 0;

    e->store_error = *why;
    if (e->store_error.code == 0)
        e->store_error.code = -EIO;
    e->store_failures++;
    instant_s pause = back_off_s(e->store_failures);

    e->store_retry_at = now + (pause < STORE_RETRY_MAX_S ? pause : STORE_RETRY_MAX_S);
    if (news)
        publish(e, &(struct event){.kind = EVENT_STORE_FAILED, .time = now, .text = e->store_error.text});
}

void unstored_release(struct unstored_migration *m)
{
    free((void *)(uintptr_t)m->r.vm);
    free((void *)(uintptr_t)m->r.from);
    free((void *)(uintptr_t)m->r.to);
}

/* Each try may take the store's whole patience, in which the loop serves nobody: a lock of another program
 * must not make an admin's pause wait. */
static bool left_alone(const struct engine *e, instant_s now)
{
    return e->store_error.code != 0 && now < e->store_retry_at;
}

static void unstored_clear(struct engine *e)
{
    for (size_t i = 0; i < e->n_unstored; i++)
        unstored_release(&e->unstored[i]);
    e->n_unstored = 0;
}

static bool anything_dirty(const struct engine *e)
{
    return e->unstored_actions.n > 0 || e->n_unstored > 0 || e->note_dirty || e->pools.dirty ||
           e->hosts_dirty || energy_is_unstored(e->energy) || e->events_dirty || pattern_dirty(e->pattern);
}

static int by_id(const void *a, const void *b)
{
    const struct action *const *x = a;
    const struct action *const *y = b;

    return ((*x)->r.id > (*y)->r.id) - ((*x)->r.id < (*y)->r.id);
}

static int put_all(struct engine *e, const struct pass_record *pass, struct err *err)
{
    const struct store_ops *ops = e->port.store_ops;
    struct store *s = e->port.store;
    const struct action_list *dirty = &e->unstored_actions;
    int r;

    if (dirty->n > 0)
        qsort(dirty->items, dirty->n, sizeof(struct action *), by_id);
    for (size_t i = 0; i < dirty->n; i++) {
        if ((r = ops->put_action(s, &dirty->items[i]->r, err)) < 0)
            return r;
    }
    for (size_t i = 0; i < e->n_unstored; i++) {
        const struct unstored_migration *m = &e->unstored[i];

        if ((r = ops->put_migration(s, &m->r, err)) < 0 ||
            (m->taught && (r = learn_store(e, &m->r, err)) < 0))
            return r;
    }
    if (e->pools.dirty && (r = pools_store(e, err)) < 0)
        return r;
    if (e->hosts_dirty && (r = hosts_store(e, err)) < 0)
        return r;
    if (energy_is_unstored(e->energy) && (r = energy_store(e->energy, ops, s, err)) < 0)
        return r;
    if (pattern_dirty(e->pattern) && (r = patterns_store(e, err)) < 0)
        return r;
    if (e->note_dirty) {
        char since[RFC3339_MAX];
        const char *value = e->paused ? rfc3339_format(e->paused_since, since) : NULL;

        if ((r = ops->put_note(s, NOTE_PAUSED, value, err)) < 0 ||
            (r = ops->put_note(s, NOTE_SOURCE, e->source_name, err)) < 0 ||
            (e->regret.dirty && (r = regret_store(e, err)) < 0))
            return r;
    }
    if (e->events_dirty && (r = e->port.event_sink_ops->keep(e->port.event_sink, err)) < 0)
        return r;
    return pass ? ops->put_pass(s, pass, err) : 0;
}

int storing_flush(struct engine *e, const struct pass_record *pass, instant_s now)
{
    const struct store_ops *ops = e->port.store_ops;
    struct err err = {0};

    if (!pass && !anything_dirty(e) && e->store_error.code == 0)
        return 0;
    if (left_alone(e, now))
        return e->store_error.code;
    int r = ops->begin(e->port.store, &err);

    if (r == 0) {
        r = put_all(e, pass, &err);
        if (r < 0)
            ops->rollback(e->port.store);
        else
            r = ops->commit(e->port.store, &err);
    }
    if (r < 0) {
        storing_failed(e, &err, now);
        return r;
    }
    for (size_t i = 0; i < e->unstored_actions.n; i++)
        e->unstored_actions.items[i]->dirty = false;
    e->unstored_actions.n = 0;
    if (e->store_error.code != 0) /* what could not be begun may be now */
        agenda_add_all(e);
    unstored_clear(e);
    pools_stored(e);
    hosts_stored(e);
    regret_stored(e);
    energy_stored(e->energy);
    pattern_stored(e->pattern);
    e->note_dirty = false;
    if (e->events_dirty)
        e->port.event_sink_ops->kept(e->port.event_sink);
    e->events_dirty = false;
    e->store_error = (struct err){0};
    e->store_failures = 0;
    return 0;
}

/* Lost samples make the windows poorer, and nothing else: they are not kept for another try. */
void storing_samples(struct engine *e, const struct sample_record *samples, size_t n, instant_s now)
{
    const struct store_ops *ops = e->port.store_ops;
    struct err err = {0};

    if (n == 0 || left_alone(e, now))
        return;
    int r = ops->begin(e->port.store, &err);

    if (r == 0) {
        r = ops->put_samples(e->port.store, samples, n, &err);
        if (r < 0)
            ops->rollback(e->port.store);
        else
            r = ops->commit(e->port.store, &err);
    }
    if (r < 0)
        storing_failed(e, &err, now);
}

static instant_s longer(instant_s a, instant_s b)
{
    return a > b ? a : b;
}

/* How far back a restart must look: a cool-down may be set to a week. */
static instant_s remembered_s(const struct engine *e)
{
    return longer(REMEMBERED_S, e->settings.policy.cool_down_s);
}

static instant_s day_of(instant_s t)
{
    return t - t % ENERGY_DAY_S;
}

void storing_prune(struct engine *e, instant_s now)
{
    struct err err = {0};
    const instant_s oldest = now - longer(e->settings.history_days * 24 * 3600, remembered_s(e));
    const struct retention keep = {
        .samples_before = now - HISTORY_LENGTH_S,
        .ended_before = oldest,
        .learned_before = oldest,
        .hosts_before = oldest,
        .patterns_before = now - (instant_s)PATTERN_SLOTS * PATTERN_SLOT_S,
        .passes_kept = e->settings.passes_kept,
        .energy_before = oldest,
        .energy_days_before = day_of(now - ENERGY_HOURS_KEPT_DAYS * ENERGY_DAY_S),
    };

    if (now < e->next_prune)
        return;
    e->next_prune = now + PRUNE_S;
    history_forget(e->history, now);
    learned_forget(e->learned, keep.learned_before);
    hosts_forget(e, keep.hosts_before);
    holds_forget(e, now - remembered_s(e));
    energy_forget(e->energy, keep.energy_before);
    if (left_alone(e, now))
        return;
    if (e->port.store_ops->prune(e->port.store, &keep, &err) < 0)
        storing_failed(e, &err, now);
}

/* ---- a restart ------------------------------------------------------------------------------- */

/* An end in the future tells of a clock that was set back. How long ago it was, nobody knows: it is taken for
 * now, so that the VM rests for a cool-down and no longer. Dropped, the next pass could take it back; left as
 * it is, it would rest until the clock has caught up. */
static instant_s past(instant_s ended, instant_s now)
{
    return ended < now ? ended : now;
}

/* What the ends of its actions say about a VM or a host, oldest first. */
static void recall_hold(struct engine *e, const struct action_record *r, instant_s now)
{
    const instant_s ended = past(r->ended, now);

    if (!action_leaves_hold(r) || !(r->vm || r->host) || r->ended == 0)
        return;
    if (r->state != ACTION_DONE && r->state != ACTION_FAILED && r->state != ACTION_REJECTED)
        return;
    struct hold *h = action_hold(e, r);

    if (r->state == ACTION_DONE) {
        *h = (struct hold){.moved = ended, .tried = h->tried};
        return;
    }
    h->tried = ended;
    if (r->state == ACTION_FAILED)
        h->failures++;
    h->until = ended + hold_length_s(e, r->kind, r->state == ACTION_FAILED ? h->failures : 1);
}

static int by_end(const void *a, const void *b)
{
    const struct action_record *const *x = a;
    const struct action_record *const *y = b;

    if ((*x)->ended != (*y)->ended)
        return ((*x)->ended > (*y)->ended) - ((*x)->ended < (*y)->ended);
    return ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

static void recall_holds(struct engine *e, const struct stored *s, struct arena *a, instant_s now)
{
    const struct action_record **ended = arena_array(a, const struct action_record *, s->n_actions);

    for (size_t i = 0; i < s->n_actions; i++)
        ended[i] = &s->actions[i];
    if (s->n_actions > 0)
        qsort(ended, s->n_actions, sizeof(const struct action_record *), by_end);
    for (size_t i = 0; i < s->n_actions; i++)
        recall_hold(e, ended[i], now);
    /* migrations outlive their actions' rows if an admin trims those */
    for (size_t i = 0; i < s->n_migrations; i++) {
        const struct migration_record *m = &s->migrations[i];

        if (!m->ok)
            continue;
        struct hold *h = hold_of(e, m->vm);

        if (h->moved < past(m->ended, now))
            h->moved = past(m->ended, now);
    }
}

static void recall_demand(struct engine *e, const struct stored *s, instant_s now)
{
    for (size_t i = 0; i < s->n_samples; i++) {
        if (s->samples[i].time <= now)
            (void)history_add(e->history, s->samples[i].vm, s->samples[i].time, s->samples[i].demand);
    }
}

/* An action of an earlier process. Where it was being started, or was to be verified, only an inventory that
 * is asked for from now on can tell where it stands; one that runs is polled by its task's name. */
static void recall_action(struct engine *e, const struct action_record *r, instant_s now)
{
    if (r->ended != 0 && r->ended + ENDED_SHOWN_S < now)
        return;
    struct action *x = action_add(e, r);

    x->adopted = true;
    x->look_after = e->serial;
    /* the clock was set back: when it began, nobody knows, so that nothing is begun anew because of it, and
     * nothing is waited for until the clock has caught up; nor does a host stay on until then for what it is
     * being woken for, or is left alone because it did not go */
    if (!action_ended(x) && x->r.started > now + CLOCK_SLACK_S) {
        x->r.started = now - stale_after_s(e) - 1;
        if (x->r.approved > x->r.started)
            x->r.approved = x->r.started;
        action_changed(e, x);
    }
    x->r.ended = past(x->r.ended, now);
    if (x->r.state == ACTION_RUNNING &&
        !x->r.task) { /* an old version's, or a damaged row: treat as unclear */
        x->r.state = ACTION_STARTING;
        action_changed(e, x);
        (void)action_counts(e, x);
    }
}

static const char *find_note(const struct stored *s, const char *key)
{
    for (size_t i = 0; i < s->n_notes; i++) {
        if (strcmp(s->notes[i].key, key) == 0)
            return s->notes[i].value;
    }
    return NULL;
}

static void recall_paused(struct engine *e, const struct stored *s, instant_s now)
{
    const char *since = find_note(s, NOTE_PAUSED);

    e->paused = since != NULL;
    if (since && rfc3339_parse(since, &e->paused_since) < 0)
        e->paused_since = now;
}

/* What stands in the store is of another source, where the same ids and names of tasks mean other things:
 * nothing of it is carried on here, nor does it say anything about these VMs. */
static void disown(struct engine *e, instant_s now)
{
    const struct retention keep = {.samples_before = now + 1,
                                   .learned_before = INT64_MAX,
                                   .hosts_before = INT64_MAX,
                                   .passes_kept = UINT32_MAX,
                                   .energy_before = INT64_MAX,
                                   .patterns_before = INT64_MAX};
    struct err err = {0};

    for (size_t i = 0; i < e->n_actions; i++) {
        if (!action_ended(e->actions[i]))
            action_enter(e, e->actions[i], ACTION_CANCELLED,
                         "it was for another source than the configuration names now", now);
    }
    if (e->port.store_ops->prune(e->port.store, &keep, &err) < 0)
        storing_failed(e, &err, now);
}

int storing_load(struct engine *e, instant_s now, struct err *err)
{
    struct arena a = {0};
    struct stored s = {0};
    int r =
        e->port.store_ops->load(e->port.store, now - remembered_s(e), now - HISTORY_LENGTH_S, &a, &s, err);

    if (r < 0) {
        arena_release(&a);
        return err_widen(err, "the store cannot be read");
    }
    e->instance = xstrdup(s.instance);
    e->last_action = s.last_action;
    e->last_pass = s.last_pass;
    for (size_t i = 0; i < s.n_actions; i++)
        recall_action(e, &s.actions[i], now);
    actions_link(e);
    recall_paused(e, &s, now);

    const char *source = find_note(&s, NOTE_SOURCE);
    bool same = !source || !e->source_name || strcmp(source, e->source_name) == 0;

    e->note_dirty = e->source_name && (!source || !same);
    pools_recall(e, &s, same);
    if (same) {
        recall_demand(e, &s, now);
        learn_recall(e, &s);
        recall_holds(e, &s, &a, now);
        hosts_recall(e, &s, now);
        regret_recall(e, find_note(&s, NOTE_REGRET), now);
        energy_recall(e->energy, s.energy, s.n_energy, now);
        patterns_recall(e, &s);
    } else {
        disown(e, now);
        hosts_disown(e, &s, now);
    }
    arena_release(&a);
    return 0;
}
