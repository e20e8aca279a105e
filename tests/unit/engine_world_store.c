/* engine_world_store.c: the store port in memory. */
#include "engine_world.h"

#include "engine/actions/action_record.h"

/* ---- store ----------------------------------------------------------------------------------- */

static int w_load(struct store *s, instant_s since, instant_s samples_since, struct arena *a,
                  struct stored *ret, struct err *err)
{
    (void)s, (void)samples_since, (void)err;
    *ret = (struct stored){.instance = "test", .last_action = W->n_actions, .last_pass = W->last_pass};
    ret->actions = arena_array(a, struct action_record, W->n_actions + 1);
    for (uint64_t i = 0; i < W->n_actions; i++) {
        if (W->actions[i].id != 0 && (W->actions[i].ended == 0 || W->actions[i].ended >= since))
            ret->actions[ret->n_actions++] = W->actions[i];
    }
    ret->migrations = arena_array(a, struct migration_record, WORLD_TASKS);
    for (int i = 0; i < W->n_migrations && i < WORLD_TASKS; i++) {
        if (W->migrations[i].ended >= since)
            ret->migrations[ret->n_migrations++] = W->migrations[i];
    }
    ret->rates = W->rates;
    ret->n_rates = (size_t)W->n_rates;
    ret->dirties = W->dirties;
    ret->n_dirties = (size_t)W->n_dirties;
    ret->failures = W->failures;
    ret->n_failures = (size_t)W->n_failures;
    ret->settings = W->parts;
    ret->n_settings = (size_t)W->n_parts;
    ret->hosts = W->known;
    ret->n_hosts = (size_t)W->n_known;
    ret->energy = W->energy;
    ret->n_energy = (size_t)W->n_energy;
    ret->patterns = arena_array(a, struct demand_profile_record, WORLD_PATTERNS);
    for (int i = 0; i < WORLD_PATTERNS; i++) {
        if (W->patterns[i].time != 0)
            ret->patterns[ret->n_patterns++] = W->patterns[i];
    }
    ret->newest = W->newest_record;
    const struct note notes[] = {
        {"frozen", W->paused_note},
        {"frozen_by", W->paused_by_note},
        {NOTE_RESTORED, W->restored_note},
        {"went_down/vm00", W->down_note},
        {"source", W->source_note},
        {"night", W->night_note},
        {"last_night", W->last_night_note},
        {"four_eyes", W->four_eyes_note},
        {"mem_reclaim_unconfirmed", W->reclaim_note},
        {"other_service", W->others_note},
        {"maintenance_roll", W->roll_note},
        {"failing_units", W->failing_units_note},
    };

    ret->notes = arena_array(a, struct note, ELEMENTS(notes) + WORLD_VMS);
    for (size_t i = 0; i < ELEMENTS(notes); i++) {
        if (notes[i].value[0])
            ret->notes[ret->n_notes++] = notes[i];
    }
    for (int i = 0; i < WORLD_VMS; i++) {
        if (W->start_notes[i][0])
            ret->notes[ret->n_notes++] = (struct note){.key = arena_printf(a, "start_keys/%s", W->vms[i].id),
                                                       .value = W->start_notes[i]};
    }
    return 0;
}

/* What is used of each list: to copy the whole of them took a fifth of the time of these tests. */
static int w_begin(struct store *s, struct err *err)
{
    (void)s;
    if (W->store_broken) {
        W->n_refused++;
        return err_set(err, -EIO, "the disk is full");
    }
    assert_false(W->in_transaction);
    W->in_transaction = true;
    memcpy(W->shadow, W->actions, (size_t)W->n_actions * sizeof *W->actions);
    W->n_shadow = W->n_actions;
    memcpy(W->parts_shadow, W->parts, (size_t)W->n_parts * sizeof *W->parts);
    W->n_parts_shadow = W->n_parts;
    memcpy(W->known_shadow, W->known, (size_t)W->n_known * sizeof *W->known);
    W->n_known_shadow = W->n_known;
    W->n_stored_shadow = W->n_stored;
    memcpy(W->failures_shadow, W->failures, (size_t)W->n_failures * sizeof *W->failures);
    W->n_failures_shadow = W->n_failures;
    memcpy(W->energy_shadow, W->energy, (size_t)W->n_energy * sizeof *W->energy);
    W->n_energy_shadow = W->n_energy;
    memcpy(W->four_eyes_shadow, W->four_eyes_note, strlen(W->four_eyes_note) + 1);
    return 0;
}

static void w_undo(void)
{
    W->n_actions = W->n_shadow;
    memcpy(W->actions, W->shadow, (size_t)W->n_actions * sizeof *W->actions);
    W->n_parts = W->n_parts_shadow;
    memcpy(W->parts, W->parts_shadow, (size_t)W->n_parts * sizeof *W->parts);
    W->n_known = W->n_known_shadow;
    memcpy(W->known, W->known_shadow, (size_t)W->n_known * sizeof *W->known);
    W->n_stored = W->n_stored_shadow;
    W->n_failures = W->n_failures_shadow;
    memcpy(W->failures, W->failures_shadow, (size_t)W->n_failures * sizeof *W->failures);
    W->n_energy = W->n_energy_shadow;
    memcpy(W->energy, W->energy_shadow, (size_t)W->n_energy * sizeof *W->energy);
    memcpy(W->four_eyes_note, W->four_eyes_shadow, strlen(W->four_eyes_shadow) + 1);
}

static int w_commit(struct store *s, struct err *err)
{
    (void)s, (void)err;
    assert_true(W->in_transaction);
    W->in_transaction = false;
    if (!w_alive())
        w_undo();
    return 0;
}

static void w_rollback(struct store *s)
{
    (void)s;
    W->in_transaction = false;
    w_undo();
}

static void put_migration(const struct migration_record *m)
{
    struct migration_record *to = &W->migrations[W->n_migrations++ % WORLD_TASKS];

    *to = *m;
    to->vm = arena_strdup(&W->memory, m->vm);
    to->from = arena_strdup(&W->memory, m->from);
    to->to = arena_strdup(&W->memory, m->to);
}

static void put_rate(const struct rate_record *rate)
{
    int i = 0;

    while (i < W->n_rates &&
           (strcmp(W->rates[i].from, rate->from) != 0 || strcmp(W->rates[i].to, rate->to) != 0))
        i++;
    assert_true(i < WORLD_RATES);
    W->n_rates += i == W->n_rates;
    W->rates[i] = *rate;
    W->rates[i].from = arena_strdup(&W->memory, rate->from);
    W->rates[i].to = arena_strdup(&W->memory, rate->to);
}

static void put_dirty(const struct dirty_record *dirty)
{
    int i = 0;

    while (i < W->n_dirties && strcmp(W->dirties[i].vm, dirty->vm) != 0)
        i++;
    W->n_dirties += i == W->n_dirties;
    W->dirties[i] = *dirty;
    W->dirties[i].vm = arena_strdup(&W->memory, dirty->vm);
}

static int find_failure(const struct failure_record *r)
{
    int i = 0;

    while (i < W->n_failures &&
           (strcmp(W->failures[i].vm, r->vm) != 0 || strcmp(W->failures[i].host, r->host) != 0))
        i++;
    return i;
}

static void put_failure(const struct failure_record *r)
{
    int i = find_failure(r);

    assert_true(i < WORLD_FAILURES);
    W->n_failures += i == W->n_failures;
    W->failures[i] = *r;
    W->failures[i].vm = arena_strdup(&W->memory, r->vm);
    W->failures[i].host = arena_strdup(&W->memory, r->host);
    W->failures[i].from = arena_strdup(&W->memory, r->from);
    W->failures[i].reason = arena_strdup(&W->memory, r->reason);
}

static void forget_failure(const struct failure_record *r)
{
    int i = find_failure(r);

    if (i < W->n_failures)
        W->failures[i] = W->failures[--W->n_failures];
}

static void put_host(const struct host_record *host)
{
    int i = 0;

    while (i < W->n_known && strcmp(W->known[i].host, host->host) != 0)
        i++;
    assert_true(i < WORLD_HOSTS);
    W->n_known += i == W->n_known;
    W->known[i] = *host;
    W->known[i].host = arena_strdup(&W->memory, host->host);
    W->known[i].facts = host->facts ? arena_strdup(&W->memory, host->facts) : NULL;
    W->known[i].confirmed = host->confirmed ? arena_strdup(&W->memory, host->confirmed) : NULL;
    W->known[i].confirmed_by = host->confirmed_by ? arena_strdup(&W->memory, host->confirmed_by) : NULL;
    for (int m = 0; m < WAKE_METHODS; m++)
        W->known[i].proofs[m].why = arena_strdup(&W->memory, host->proofs[m].why);
}

static void put_energy(const struct energy_record *energy)
{
    int i = 0;

    assert_true(energy->until > energy->time);
    while (i < W->n_energy &&
           (W->energy[i].time != energy->time || strcmp(W->energy[i].host, energy->host) != 0))
        i++;
    if (i == WORLD_ENERGY) /* the oldest are not asked for any more */
        return;
    W->n_energy += i == W->n_energy;
    W->energy[i] = *energy;
    W->energy[i].host = arena_strdup(&W->memory, energy->host);
}

static void put_note(const char *key, const char *value)
{
    const struct {
        const char *key;
        char *text;
        size_t size;
    } notes[] = {
        {"frozen", W->paused_note, sizeof W->paused_note},
        {"frozen_by", W->paused_by_note, sizeof W->paused_by_note},
        {NOTE_RESTORED, W->restored_note, sizeof W->restored_note},
        {"source", W->source_note, sizeof W->source_note},
        {"maintenance_roll", W->roll_note, sizeof W->roll_note},
        {"mem_reclaim_unconfirmed", W->reclaim_note, sizeof W->reclaim_note},
        {"other_service", W->others_note, sizeof W->others_note},
        {"four_eyes", W->four_eyes_note, sizeof W->four_eyes_note},
        {"night", W->night_note, sizeof W->night_note},
        {"failing_units", W->failing_units_note, sizeof W->failing_units_note},
        {"last_night", W->last_night_note, sizeof W->last_night_note},
        {"went_down/vm00", W->down_note, sizeof W->down_note},
    };
    size_t i = 0;

    for (int vm = 0; strncmp(key, "start_keys/", 11) == 0 && vm < WORLD_VMS; vm++) {
        if (strcmp(key + 11, W->vms[vm].id) != 0)
            continue;
        (void)snprintf(W->start_notes[vm], sizeof W->start_notes[vm], "%s", value ? value : "");
        return;
    }
    while (i < ELEMENTS(notes) && strcmp(notes[i].key, key) != 0)
        i++;
    assert_true(i < ELEMENTS(notes));
    (void)snprintf(notes[i].text, notes[i].size, "%s", value ? value : "");
}

/* What a world that is dead is given is lost, but counted. */
static int w_put(struct store *s, const struct record *record, struct err *err)
{
    const struct action_record *action = record->action;
    const struct demand_profile_record *pattern = record->pattern;

    (void)s, (void)err;
    assert_true(W->in_transaction);
    W->n_samples += record->kind == RECORD_SAMPLE;
    W->n_passes += record->kind == RECORD_PASS;
    if (record->kind == RECORD_PASS) {
        assert_true((record->pass->snapshot != NULL) == (W->settings.passes_kept > 0));
        assert_true((record->pass->plan != NULL) == (W->settings.passes_kept > 0));
    }
    if (W->dead)
        return 0;
    switch (record->kind) {
    case RECORD_ACTION:
        assert_true(action->id > 0 && action->id <= WORLD_ACTIONS);
        W->actions[action->id - 1] = action_record_lend(action, &W->memory);
        if (W->n_actions < action->id)
            W->n_actions = action->id;
        break;
    case RECORD_MIGRATION:
        put_migration(record->migration);
        break;
    case RECORD_RATE:
        put_rate(record->rate);
        break;
    case RECORD_DIRTY:
        put_dirty(record->dirty);
        break;
    case RECORD_HOST:
        put_host(record->host);
        break;
    case RECORD_ENERGY:
        put_energy(record->energy);
        break;
    case RECORD_SETTING:
        w_put_setting(record->setting);
        break;
    case RECORD_NOTE:
        put_note(record->note->key, record->note->value);
        break;
    case RECORD_PASS:
        W->last_pass = record->pass->id;
        break;
    case RECORD_PATTERN: /* the newest WORLD_PATTERNS of them */
        W->patterns[pattern->time / DEMAND_SLOT_S % WORLD_PATTERNS] = *pattern;
        break;
    case RECORD_FAILURE:
        put_failure(record->failure);
        break;
    case RECORD_SAMPLE:
    case record_kind_count:
        break;
    }
    return 0;
}

static int w_forget(struct store *s, const struct record *record, struct err *err)
{
    (void)s, (void)err;
    if (W->dead)
        return 0;
    if (record->kind == RECORD_NOTE)
        put_note(record->note->key, NULL);
    else if (record->kind == RECORD_FAILURE)
        forget_failure(record->failure);
    else
        w_forget_setting(record->setting->host, record->setting->pool);
    return 0;
}

static int w_prune(struct store *s, const struct retention *keep, struct err *err)
{
    (void)s;
    W->kept_since = keep->ended_before;
    if (!W->store_broken) {
        if (keep->learned_before > W->now) /* those of another source */
            W->n_rates = W->n_dirties = W->n_known = 0;
        return 0;
    }
    W->n_refused++;
    return err_set(err, -EIO, "the disk is full");
}

const struct store_ops w_store_ops = {
    .load = w_load,
    .begin = w_begin,
    .commit = w_commit,
    .rollback = w_rollback,
    .put = w_put,
    .forget = w_forget,
    .prune = w_prune,
};
