#include "sim/run/memory_store.h"

#include "base/idmap.h"
#include "base/xalloc.h"
#include "engine/actions/action_record.h"
#include "engine/knowledge/demand_profile.h"
#include "sim/run/memory_energy.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Actions and migrations are appended in the order of their ids and ends, and pruned from the front. */
struct store {
    const struct snapshot *vms;
    bool keep_samples;
    uint64_t last_action, last_pass;
    int64_t decide_us;
    struct action_record *actions; /* by id; strings their own */
    size_t n_actions, cap_actions;
    struct migration_record *migrations;
    size_t n_migrations, cap_migrations;
    struct sample_record *samples; /* in the order in which they were taken; vm borrowed */
    size_t n_samples, cap_samples;
    struct pattern_record patterns[DEMAND_SLOTS];        /* by number of the slot; time 0: none */
    struct idmap rates, dirties, settings, hosts, notes; /* values: the record, or the text; their own */
    struct memory_energy energy;
};

struct store *memory_store_new(const struct snapshot *vms, bool keep_samples)
{
    struct store *s = xcalloc(1, sizeof *s);

    s->vms = vms;
    s->keep_samples = keep_samples;
    return s;
}

int64_t memory_store_decide_us(const struct store *s)
{
    return s->decide_us;
}

struct energy_record memory_store_energy(const struct store *s)
{
    return memory_energy_sum(&s->energy);
}

/* ---- records that own their strings ---------------------------------------------------------- */

static void drop(const char *s)
{
    free((void *)(uintptr_t)s);
}

static void migration_release(struct migration_record *m)
{
    drop(m->vm);
    drop(m->from);
    drop(m->to);
}

static void rate_free(void *value)
{
    struct rate_record *r = value;

    if (!r)
        return;
    drop(r->from);
    drop(r->to);
    free(r);
}

static void dirty_free(void *value)
{
    struct dirty_record *d = value;

    if (!d)
        return;
    drop(d->vm);
    free(d);
}

static void setting_free(void *value)
{
    struct setting_record *r = value;

    if (!r)
        return;
    drop(r->host);
    drop(r->pool);
    free(r);
}

static void host_free(void *value)
{
    struct host_record *h = value;

    if (!h)
        return;
    drop(h->host);
    free(h);
}

void memory_store_free(struct store *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n_actions; i++)
        action_record_release(&s->actions[i]);
    for (size_t i = 0; i < s->n_migrations; i++)
        migration_release(&s->migrations[i]);
    free(s->actions);
    free(s->migrations);
    free(s->samples);
    idmap_release(&s->rates, rate_free);
    idmap_release(&s->dirties, dirty_free);
    idmap_release(&s->settings, setting_free);
    idmap_release(&s->hosts, host_free);
    idmap_release(&s->notes, free);
    memory_energy_release(&s->energy);
    free(s);
}

/* Room for one more at the end of an array. */
static void *grow(void *items, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return items;
    *cap = *cap ? *cap * 2 : 64;
    return xreallocarray(items, *cap, size);
}

/* ---- what is put ----------------------------------------------------------------------------- */

/* begin(), and commit(). */
static int ms_always(struct store *s, struct err *err)
{
    (void)s, (void)err;
    return 0;
}

static void ms_rollback(struct store *s)
{
    (void)s;
    assert(!"no put fails");
}

/* Where the action stands, or where it would be inserted. */
static size_t find_action(const struct store *s, uint64_t id)
{
    size_t low = 0;
    size_t high = s->n_actions;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (s->actions[mid].id < id)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static int ms_put_action(struct store *s, const struct action_record *r, struct err *err)
{
    struct action_record copy = action_record_copy(r);
    size_t i = find_action(s, r->id);

    (void)err;
    if (s->last_action < r->id)
        s->last_action = r->id;
    if (i < s->n_actions && s->actions[i].id == r->id) {
        action_record_release(&s->actions[i]);
        s->actions[i] = copy;
        return 0;
    }
    s->actions = grow(s->actions, s->n_actions, &s->cap_actions, sizeof *s->actions);
    memmove(&s->actions[i + 1], &s->actions[i], (s->n_actions++ - i) * sizeof *s->actions);
    s->actions[i] = copy;
    return 0;
}

static int ms_put_migration(struct store *s, const struct migration_record *m, struct err *err)
{
    struct migration_record copy = *m;

    (void)err;
    copy.vm = xstrdup(m->vm);
    copy.from = xstrdup(m->from);
    copy.to = xstrdup(m->to);
    s->migrations = grow(s->migrations, s->n_migrations, &s->cap_migrations, sizeof *s->migrations);
    s->migrations[s->n_migrations++] = copy;
    return 0;
}

/* Two ids as one key. Ids do not hold a newline. */
static char *key_of(const char *a, const char *b)
{
    size_t n = strlen(a) + strlen(b) + 2;
    char *key = xcalloc(n, 1);

    (void)snprintf(key, n, "%s\n%s", a, b);
    return key;
}

static int ms_put_rate(struct store *s, const struct rate_record *rate, struct err *err)
{
    char *key = key_of(rate->from, rate->to);
    void **slot = idmap_slot(&s->rates, key);
    struct rate_record *copy = xcalloc(1, sizeof *copy);

    (void)err;
    *copy = *rate;
    copy->from = xstrdup(rate->from);
    copy->to = xstrdup(rate->to);
    rate_free(*slot);
    *slot = copy;
    free(key);
    return 0;
}

static int ms_put_dirty(struct store *s, const struct dirty_record *dirty, struct err *err)
{
    void **slot = idmap_slot(&s->dirties, dirty->vm);
    struct dirty_record *copy = xcalloc(1, sizeof *copy);

    (void)err;
    *copy = *dirty;
    copy->vm = xstrdup(dirty->vm);
    dirty_free(*slot);
    *slot = copy;
    return 0;
}

static int ms_put_host(struct store *s, const struct host_record *host, struct err *err)
{
    void **slot = idmap_slot(&s->hosts, host->host);
    struct host_record *copy = xcalloc(1, sizeof *copy);

    (void)err;
    *copy = *host;
    copy->host = xstrdup(host->host);
    host_free(*slot);
    *slot = copy;
    return 0;
}

static int ms_put_energy(struct store *s, const struct energy_record *energy, struct err *err)
{
    (void)err;
    memory_energy_put(&s->energy, energy);
    return 0;
}

static int ms_put_samples(struct store *s, const struct sample_record *samples, size_t n, struct err *err)
{
    (void)err;
    for (size_t i = 0; s->keep_samples && i < n; i++) {
        uint32_t vm = snapshot_find_vm(s->vms, samples[i].vm);

        if (vm == IX_NONE)
            continue;
        s->samples = grow(s->samples, s->n_samples, &s->cap_samples, sizeof *s->samples);
        s->samples[s->n_samples] = samples[i];
        s->samples[s->n_samples++].vm = s->vms->vms[vm].is.id;
    }
    return 0;
}

static int ms_put_pass(struct store *s, const struct pass_record *pass, struct err *err)
{
    (void)err;
    s->last_pass = pass->id;
    s->decide_us += pass->decide_us;
    return 0;
}

static int ms_put_setting(struct store *s, const struct setting_record *setting, struct err *err)
{
    char *key = key_of(setting->host, setting->pool);
    void **slot = idmap_slot(&s->settings, key);
    struct setting_record *copy = xcalloc(1, sizeof *copy);

    (void)err;
    *copy = *setting;
    copy->host = xstrdup(setting->host);
    copy->pool = xstrdup(setting->pool);
    setting_free(*slot);
    *slot = copy;
    free(key);
    return 0;
}

/* An entry without a value is one that was forgotten. */
static int ms_forget_setting(struct store *s, const char *host, const char *pool, struct err *err)
{
    char *key = key_of(host, pool);
    void **slot = idmap_slot(&s->settings, key);

    (void)err;
    setting_free(*slot);
    *slot = NULL;
    free(key);
    return 0;
}

/* In the place of the one that is too old to be looked at. */
static int ms_put_pattern(struct store *s, const struct pattern_record *pattern, struct err *err)
{
    (void)err;
    s->patterns[pattern->time / DEMAND_SLOT_S % DEMAND_SLOTS] = *pattern;
    return 0;
}

static int ms_put_note(struct store *s, const char *key, const char *value, struct err *err)
{
    void **slot = idmap_slot(&s->notes, key);

    (void)err;
    free(*slot);
    *slot = xstrdup(value);
    return 0;
}

/* ---- what is forgotten ----------------------------------------------------------------------- */

static void prune_actions(struct store *s, instant_s before)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->n_actions; i++) {
        if (s->actions[i].ended != 0 && s->actions[i].ended < before)
            action_record_release(&s->actions[i]);
        else
            s->actions[kept++] = s->actions[i];
    }
    s->n_actions = kept;
}

static void prune_migrations(struct store *s, instant_s before)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->n_migrations; i++) {
        if (s->migrations[i].ended < before)
            migration_release(&s->migrations[i]);
        else
            s->migrations[kept++] = s->migrations[i];
    }
    s->n_migrations = kept;
}

static void prune_samples(struct store *s, instant_s before)
{
    size_t gone = 0;

    while (gone < s->n_samples && s->samples[gone].time < before)
        gone++;
    if (gone == 0)
        return;
    memmove(s->samples, &s->samples[gone], (s->n_samples - gone) * sizeof *s->samples);
    s->n_samples -= gone;
}

static bool keep_rate(const char *key, void *value, void *ctx)
{
    const struct rate_record *r = value;
    bool keep = r->learned >= *(const instant_s *)ctx;

    (void)key;
    if (!keep)
        rate_free(value);
    return keep;
}

static bool keep_dirty(const char *key, void *value, void *ctx)
{
    const struct dirty_record *d = value;
    bool keep = d->learned >= *(const instant_s *)ctx;

    (void)key;
    if (!keep)
        dirty_free(value);
    return keep;
}

static bool keep_host(const char *key, void *value, void *ctx)
{
    const struct host_record *h = value;
    bool keep = h->put_down != 0 || h->seen >= *(const instant_s *)ctx;

    (void)key;
    if (!keep)
        host_free(value);
    return keep;
}

static int ms_prune(struct store *s, const struct retention *keep, struct err *err)
{
    instant_s learned_before = keep->learned_before;
    instant_s hosts_before = keep->hosts_before;

    (void)err;
    prune_actions(s, keep->ended_before);
    prune_migrations(s, keep->ended_before);
    prune_samples(s, keep->samples_before);
    idmap_keep(&s->rates, keep_rate, &learned_before);
    idmap_keep(&s->dirties, keep_dirty, &learned_before);
    idmap_keep(&s->hosts, keep_host, &hosts_before);
    memory_energy_prune(&s->energy, keep->energy_before);
    return 0;
}

/* ---- what a restart reads -------------------------------------------------------------------- */

static int by_vm_then_time(const void *x, const void *y)
{
    const struct sample_record *a = x;
    const struct sample_record *b = y;
    int order = strcmp(a->vm, b->vm);

    return order != 0 ? order : (a->time > b->time) - (a->time < b->time);
}

static int by_host_then_pool(const void *x, const void *y)
{
    const struct setting_record *a = x;
    const struct setting_record *b = y;
    int order = strcmp(a->host, b->host);

    return order != 0 ? order : strcmp(a->pool, b->pool);
}

static void load_history(const struct store *s, instant_s since, instant_s samples_since, struct arena *a,
                         struct stored *ret)
{
    ret->actions = arena_array(a, struct action_record, s->n_actions);
    for (size_t i = 0; i < s->n_actions; i++) {
        if (s->actions[i].ended == 0 || s->actions[i].ended >= since)
            ret->actions[ret->n_actions++] = action_record_lend(&s->actions[i], a);
    }
    ret->migrations = arena_array(a, struct migration_record, s->n_migrations);
    for (size_t i = 0; i < s->n_migrations; i++) {
        const struct migration_record *m = &s->migrations[i];
        struct migration_record *to = &ret->migrations[ret->n_migrations];

        if (m->ended < since)
            continue;
        *to = *m;
        to->vm = arena_strdup(a, m->vm);
        to->from = arena_strdup(a, m->from);
        to->to = arena_strdup(a, m->to);
        ret->n_migrations++;
    }
    ret->samples = arena_array(a, struct sample_record, s->n_samples);
    for (size_t i = 0; i < s->n_samples; i++) {
        if (s->samples[i].time >= samples_since)
            ret->samples[ret->n_samples++] = s->samples[i];
    }
    if (ret->n_samples > 0)
        qsort(ret->samples, ret->n_samples, sizeof *ret->samples, by_vm_then_time);
}

static void load_learned(const struct store *s, struct arena *a, struct stored *ret)
{
    ret->rates = arena_array(a, struct rate_record, s->rates.n);
    ret->dirties = arena_array(a, struct dirty_record, s->dirties.n);
    for (size_t i = 0; i < s->rates.cap; i++) {
        const struct rate_record *r = s->rates.entries[i].value;

        if (!r)
            continue;
        ret->rates[ret->n_rates] = *r;
        ret->rates[ret->n_rates].from = arena_strdup(a, r->from);
        ret->rates[ret->n_rates++].to = arena_strdup(a, r->to);
    }
    for (size_t i = 0; i < s->dirties.cap; i++) {
        const struct dirty_record *d = s->dirties.entries[i].value;

        if (!d)
            continue;
        ret->dirties[ret->n_dirties] = *d;
        ret->dirties[ret->n_dirties++].vm = arena_strdup(a, d->vm);
    }
}

static void load_hosts(const struct store *s, struct arena *a, struct stored *ret)
{
    ret->hosts = arena_array(a, struct host_record, s->hosts.n);
    for (size_t i = 0; i < s->hosts.cap; i++) {
        const struct host_record *h = s->hosts.entries[i].value;

        if (!h)
            continue;
        ret->hosts[ret->n_hosts] = *h;
        ret->hosts[ret->n_hosts++].host = arena_strdup(a, h->host);
    }
}

static void load_words(const struct store *s, struct arena *a, struct stored *ret)
{
    ret->settings = arena_array(a, struct setting_record, s->settings.n);
    for (size_t i = 0; i < s->settings.cap; i++) {
        const struct setting_record *r = s->settings.entries[i].value;

        if (!r)
            continue;
        ret->settings[ret->n_settings] = *r;
        ret->settings[ret->n_settings].host = arena_strdup(a, r->host);
        ret->settings[ret->n_settings++].pool = arena_strdup(a, r->pool);
    }
    if (ret->n_settings > 0)
        qsort(ret->settings, ret->n_settings, sizeof *ret->settings, by_host_then_pool);
    ret->notes = arena_array(a, struct note, s->notes.n);
    for (size_t i = 0; i < s->notes.cap; i++) {
        const struct idmap_entry *n = &s->notes.entries[i];

        if (n->key && n->value)
            ret->notes[ret->n_notes++] =
                (struct note){.key = arena_strdup(a, n->key), .value = arena_strdup(a, n->value)};
    }
}

static int ms_load(struct store *s, instant_s since, instant_s samples_since, struct arena *a,
                   struct stored *ret, struct err *err)
{
    (void)err;
    *ret = (struct stored){.instance = "simulated", .last_action = s->last_action, .last_pass = s->last_pass};
    load_history(s, since, samples_since, a, ret);
    load_learned(s, a, ret);
    load_hosts(s, a, ret);
    load_words(s, a, ret);
    memory_energy_load(&s->energy, samples_since - ENERGY_HOUR_S, a, ret);
    ret->patterns = arena_array(a, struct pattern_record, DEMAND_SLOTS);
    for (size_t i = 0; i < DEMAND_SLOTS; i++)
        if (s->patterns[i].time != 0)
            ret->patterns[ret->n_patterns++] = s->patterns[i];
    return 0;
}

const struct store_ops memory_store = {
    .load = ms_load,
    .begin = ms_always,
    .commit = ms_always,
    .rollback = ms_rollback,
    .put_action = ms_put_action,
    .put_migration = ms_put_migration,
    .put_rate = ms_put_rate,
    .put_dirty = ms_put_dirty,
    .put_host = ms_put_host,
    .put_energy = ms_put_energy,
    .put_samples = ms_put_samples,
    .put_pass = ms_put_pass,
    .put_setting = ms_put_setting,
    .forget_setting = ms_forget_setting,
    .put_note = ms_put_note,
    .prune = ms_prune,
    .put_pattern = ms_put_pattern,
};
