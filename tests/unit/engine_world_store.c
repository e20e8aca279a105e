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
    ret->settings = W->parts;
    ret->n_settings = (size_t)W->n_parts;
    ret->hosts = W->known;
    ret->n_hosts = (size_t)W->n_known;
    ret->energy = W->energy;
    ret->n_energy = (size_t)W->n_energy;
    ret->patterns = arena_array(a, struct pattern_record, WORLD_PATTERNS);
    for (int i = 0; i < WORLD_PATTERNS; i++) {
        if (W->patterns[i].time != 0)
            ret->patterns[ret->n_patterns++] = W->patterns[i];
    }
    ret->notes = arena_array(a, struct note, 3);
    if (W->paused_note[0])
        ret->notes[ret->n_notes++] = (struct note){.key = "frozen", .value = W->paused_note};
    if (W->source_note[0])
        ret->notes[ret->n_notes++] = (struct note){.key = "source", .value = W->source_note};
    if (W->regret_note[0])
        ret->notes[ret->n_notes++] = (struct note){.key = "regret", .value = W->regret_note};
    return 0;
}

static int w_begin(struct store *s, struct err *err)
{
    (void)s;
    if (W->store_broken) {
        W->n_refused++;
        return err_set(err, -EIO, "the disk is full");
    }
    assert_false(W->in_transaction);
    W->in_transaction = true;
    memcpy(W->shadow, W->actions, sizeof W->actions);
    W->n_shadow = W->n_actions;
    memcpy(W->parts_shadow, W->parts, sizeof W->parts);
    W->n_parts_shadow = W->n_parts;
    memcpy(W->known_shadow, W->known, sizeof W->known);
    W->n_known_shadow = W->n_known;
    W->n_stored_shadow = W->n_stored;
    memcpy(W->energy_shadow, W->energy, sizeof W->energy);
    W->n_energy_shadow = W->n_energy;
    return 0;
}

static void w_undo(void)
{
    memcpy(W->actions, W->shadow, sizeof W->actions);
    W->n_actions = W->n_shadow;
    memcpy(W->parts, W->parts_shadow, sizeof W->parts);
    W->n_parts = W->n_parts_shadow;
    memcpy(W->known, W->known_shadow, sizeof W->known);
    W->n_known = W->n_known_shadow;
    W->n_stored = W->n_stored_shadow;
    memcpy(W->energy, W->energy_shadow, sizeof W->energy);
    W->n_energy = W->n_energy_shadow;
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

static int w_put_action(struct store *s, const struct action_record *r, struct err *err)
{
    (void)s, (void)err;
    assert_true(W->in_transaction && r->id > 0 && r->id <= WORLD_ACTIONS);
    if (W->dead)
        return 0;
    W->actions[r->id - 1] = action_record_lend(r, &W->memory);
    if (W->n_actions < r->id)
        W->n_actions = r->id;
    return 0;
}

static int w_put_migration(struct store *s, const struct migration_record *m, struct err *err)
{
    (void)s, (void)err;
    if (W->dead)
        return 0;
    struct migration_record c = *m;

    c.vm = arena_strdup(&W->memory, m->vm);
    c.from = arena_strdup(&W->memory, m->from);
    c.to = arena_strdup(&W->memory, m->to);
    W->migrations[W->n_migrations++ % WORLD_TASKS] = c;
    return 0;
}

static int w_put_rate(struct store *s, const struct rate_record *rate, struct err *err)
{
    int i = 0;

    (void)s, (void)err;
    assert_true(W->in_transaction);
    if (W->dead)
        return 0;
    while (i < W->n_rates &&
           (strcmp(W->rates[i].from, rate->from) != 0 || strcmp(W->rates[i].to, rate->to) != 0))
        i++;
    assert_true(i < WORLD_RATES);
    W->n_rates += i == W->n_rates;
    W->rates[i] = *rate;
    W->rates[i].from = arena_strdup(&W->memory, rate->from);
    W->rates[i].to = arena_strdup(&W->memory, rate->to);
    return 0;
}

static int w_put_dirty(struct store *s, const struct dirty_record *dirty, struct err *err)
{
    int i = 0;

    (void)s, (void)err;
    assert_true(W->in_transaction);
    if (W->dead)
        return 0;
    while (i < W->n_dirties && strcmp(W->dirties[i].vm, dirty->vm) != 0)
        i++;
    W->n_dirties += i == W->n_dirties;
    W->dirties[i] = *dirty;
    W->dirties[i].vm = arena_strdup(&W->memory, dirty->vm);
    return 0;
}

static int w_put_host(struct store *s, const struct host_record *host, struct err *err)
{
    int i = 0;

    (void)s, (void)err;
    assert_true(W->in_transaction);
    if (W->dead)
        return 0;
    while (i < W->n_known && strcmp(W->known[i].host, host->host) != 0)
        i++;
    assert_true(i < WORLD_HOSTS);
    W->n_known += i == W->n_known;
    W->known[i] = *host;
    W->known[i].host = arena_strdup(&W->memory, host->host);
    return 0;
}

static int w_put_energy(struct store *s, const struct energy_record *energy, struct err *err)
{
    int i = 0;

    (void)s, (void)err;
    assert_true(W->in_transaction && energy->until > energy->time);
    if (W->dead)
        return 0;
    while (i < W->n_energy &&
           (W->energy[i].time != energy->time || strcmp(W->energy[i].host, energy->host) != 0))
        i++;
    if (i == WORLD_ENERGY) /* the oldest are not asked for any more */
        return 0;
    W->n_energy += i == W->n_energy;
    W->energy[i] = *energy;
    W->energy[i].host = arena_strdup(&W->memory, energy->host);
    return 0;
}

static int w_put_samples(struct store *s, const struct sample_record *samples, size_t n, struct err *err)
{
    (void)s, (void)samples, (void)err;
    W->n_samples += (int)n;
    return 0;
}

static int w_put_pass(struct store *s, const struct pass_record *pass, struct err *err)
{
    (void)s, (void)err;
    assert_true((pass->snapshot != NULL) == (W->settings.passes_kept > 0));
    assert_true((pass->plan != NULL) == (W->settings.passes_kept > 0));
    if (!W->dead)
        W->last_pass = pass->id;
    W->n_passes++;
    return 0;
}

/* The newest WORLD_PATTERNS of them. */
static int w_put_pattern(struct store *s, const struct pattern_record *pattern, struct err *err)
{
    (void)s, (void)err;
    assert_true(W->in_transaction);
    if (!W->dead)
        W->patterns[pattern->time / DEMAND_SLOT_S % WORLD_PATTERNS] = *pattern;
    return 0;
}

static int w_put_note(struct store *s, const char *key, const char *value, struct err *err)
{
    (void)s, (void)err;
    bool paused = strcmp(key, "frozen") == 0;

    bool regret = strcmp(key, "regret") == 0;

    assert_true(paused || regret || strcmp(key, "source") == 0);
    if (W->dead)
        return 0;
    if (regret) {
        (void)snprintf(W->regret_note, sizeof W->regret_note, "%s", value ? value : "");
        return 0;
    }
    if (paused)
        (void)snprintf(W->paused_note, sizeof W->paused_note, "%s", value ? value : "");
    else
        (void)snprintf(W->source_note, sizeof W->source_note, "%s", value ? value : "");
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
    .put_action = w_put_action,
    .put_migration = w_put_migration,
    .put_rate = w_put_rate,
    .put_dirty = w_put_dirty,
    .put_host = w_put_host,
    .put_energy = w_put_energy,
    .put_samples = w_put_samples,
    .put_pass = w_put_pass,
    .put_setting = w_put_setting,
    .forget_setting = w_forget_setting,
    .put_note = w_put_note,
    .prune = w_prune,
    .put_pattern = w_put_pattern,
};
