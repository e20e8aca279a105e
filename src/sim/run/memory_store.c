#include "sim/run/memory_store.h"

#include "base/idmap.h"
#include "base/xalloc.h"
#include "engine/actions/action_record.h"
#include "engine/actions/move_result.h"
#include "engine/knowledge/demand_profile.h"
#include "engine/knowledge/energy_account.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRINGS_MAX 8

/* How keyed records are stored: their size, their strings, and their key. */
static const struct shape {
    size_t size;
    size_t strings[STRINGS_MAX]; /* offsets; the key's strings first */
    unsigned n_strings, n_key;
    size_t time; /* offset of an instant in the key, if has_time */
    bool has_time;
} shapes[record_kind_count] = {
    [RECORD_RATE] = {sizeof(struct rate_record),
                     {offsetof(struct rate_record, from), offsetof(struct rate_record, to)},
                     .n_strings = 2,
                     .n_key = 2},
    [RECORD_DIRTY] = {sizeof(struct dirty_record),
                      {offsetof(struct dirty_record, vm)},
                      .n_strings = 1,
                      .n_key = 1},
    [RECORD_HOST] = {sizeof(struct host_record),
                     {offsetof(struct host_record, host), offsetof(struct host_record, confirmed),
                      offsetof(struct host_record, confirmed_by), offsetof(struct host_record, facts),
                      offsetof(struct host_record, proofs[0].why),
                      offsetof(struct host_record, proofs[1].why),
                      offsetof(struct host_record, proofs[2].why),
                      offsetof(struct host_record, proofs[3].why)},
                     .n_strings = 8,
                     .n_key = 1},
    [RECORD_SETTING] = {sizeof(struct setting_record),
                        {offsetof(struct setting_record, host), offsetof(struct setting_record, pool)},
                        .n_strings = 2,
                        .n_key = 2},
    [RECORD_NOTE] = {sizeof(struct note),
                     {offsetof(struct note, key), offsetof(struct note, value)},
                     .n_strings = 2,
                     .n_key = 1},
    [RECORD_ENERGY] = {sizeof(struct energy_record),
                       {offsetof(struct energy_record, host)},
                       .n_strings = 1,
                       .n_key = 1,
                       .time = offsetof(struct energy_record, time),
                       .has_time = true},
    [RECORD_FAILURE] = {sizeof(struct failure_record),
                        {offsetof(struct failure_record, vm), offsetof(struct failure_record, host),
                         offsetof(struct failure_record, from), offsetof(struct failure_record, reason)},
                        .n_strings = 4,
                        .n_key = 2},
    [RECORD_MIGRATION] = {sizeof(struct migration_record),
                          {offsetof(struct migration_record, vm), offsetof(struct migration_record, from),
                           offsetof(struct migration_record, to)},
                          .n_strings = 3},
};

/* Actions are appended by id, migrations by end, and both are pruned from the front. */
struct store {
    const struct snapshot *vms;
    bool keep_samples;
    uint64_t last_action, last_pass;
    int64_t decide_us;
    struct move_counts moves;
    struct action_record *actions; /* by id; owns its strings */
    size_t n_actions, cap_actions;
    struct migration_record *migrations; /* owns its strings */
    size_t n_migrations, cap_migrations;
    struct sample_record *samples; /* in order of time; vm borrowed */
    size_t n_samples, cap_samples;
    struct demand_profile_record patterns[DEMAND_SLOTS]; /* by slot number; time 0: none */
    struct idmap keyed[record_kind_count];               /* key -> record, for kinds with a key; owned */
    struct energy_record energy_gone;                    /* the cluster's energy in pruned records */
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

struct move_counts memory_store_moves(const struct store *s)
{
    return s->moves;
}

static bool is_cluster(const struct energy_record *r)
{
    return *r->host == '\0';
}

struct energy_record memory_store_energy(const struct store *s, const char *host)
{
    const struct idmap *rows = &s->keyed[RECORD_ENERGY];
    struct energy_record sum = *host == '\0' ? s->energy_gone : (struct energy_record){.host = host};

    for (size_t i = 0; i < rows->cap; i++) {
        const struct energy_record *r = rows->entries[i].value;

        if (r && strcmp(r->host, host) == 0)
            energy_account_add(&sum, r);
    }
    return sum;
}

/* ---- records that own their strings ---------------------------------------------------------- */

static const char **string_of(const void *record, size_t offset)
{
    return (const char **)((char *)(uintptr_t)record + offset);
}

/* Of a string that may be NULL. */
static char *copy_of(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

static void own_strings(const struct shape *shape, void *record)
{
    for (unsigned i = 0; i < shape->n_strings; i++)
        *string_of(record, shape->strings[i]) = copy_of(*string_of(record, shape->strings[i]));
}

static void drop_strings(const struct shape *shape, void *record)
{
    for (unsigned i = 0; i < shape->n_strings; i++)
        free((void *)(uintptr_t)*string_of(record, shape->strings[i]));
}

static void lend_strings(const struct shape *shape, void *record, struct arena *a)
{
    for (unsigned i = 0; i < shape->n_strings; i++)
        *string_of(record, shape->strings[i]) = arena_strdup(a, *string_of(record, shape->strings[i]));
}

static void drop(const struct shape *shape, void *record)
{
    if (!record)
        return;
    drop_strings(shape, record);
    free(record);
}

void memory_store_free(struct store *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n_actions; i++)
        action_record_release(&s->actions[i]);
    for (size_t i = 0; i < s->n_migrations; i++)
        drop_strings(&shapes[RECORD_MIGRATION], &s->migrations[i]);
    free(s->actions);
    free(s->migrations);
    free(s->samples);
    for (int kind = 0; kind < record_kind_count; kind++) {
        for (size_t i = 0; i < s->keyed[kind].cap; i++)
            drop(&shapes[kind], s->keyed[kind].entries[i].value);
        idmap_release(&s->keyed[kind], NULL);
    }
    free(s);
}

/* ---- put ------------------------------------------------------------------------------------- */

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

/* The action's index, or the index at which to insert it. */
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

static void count_move(struct move_counts *m, const struct action_record *r)
{
    m->n[r->result.overlaps]++;
    m->as_predicted[r->result.overlaps] += move_result_agrees(&r->result);
    m->harmful += move_result_harmed(&r->result);
    if (isnan(r->result.duration_s))
        return;
    m->timed[r->result.overlaps]++;
    m->times_as_predicted[r->result.overlaps] += move_result_duration_agrees(&r->result, r->duration_s);
}

static void put_action(struct store *s, const struct action_record *r)
{
    struct action_record copy = action_record_copy(r);
    size_t i = find_action(s, r->id);

    if (s->last_action < r->id)
        s->last_action = r->id;
    if (i < s->n_actions && s->actions[i].id == r->id) {
        if (s->actions[i].result.observed_at == 0 && r->result.observed_at != 0)
            count_move(&s->moves, r);
        action_record_release(&s->actions[i]);
        s->actions[i] = copy;
        return;
    }
    s->actions = xalloc_grow(s->actions, s->n_actions, &s->cap_actions, sizeof *s->actions);
    memmove(&s->actions[i + 1], &s->actions[i], (s->n_actions++ - i) * sizeof *s->actions);
    s->actions[i] = copy;
}

static void put_migration(struct store *s, const struct migration_record *m)
{
    s->migrations = xalloc_grow(s->migrations, s->n_migrations, &s->cap_migrations, sizeof *s->migrations);
    s->migrations[s->n_migrations] = *m;
    own_strings(&shapes[RECORD_MIGRATION], &s->migrations[s->n_migrations++]);
}

static void put_sample(struct store *s, const struct sample_record *sample)
{
    uint32_t vm = s->keep_samples ? snapshot_find_vm(s->vms, sample->vm) : IX_NONE;

    if (vm == IX_NONE)
        return;
    s->samples = xalloc_grow(s->samples, s->n_samples, &s->cap_samples, sizeof *s->samples);
    s->samples[s->n_samples] = *sample;
    s->samples[s->n_samples++].vm = s->vms->vms[vm].is.id;
}

/* The value of the record with this key. Ids hold no newline, which separates the parts. */
static void **slot_of(struct store *s, const struct record *record)
{
    const struct shape *shape = &shapes[record->kind];
    char key[1024];
    int n = 0;

    if (shape->has_time)
        n = snprintf(key, sizeof key, "%" PRId64 "\n",
                     *(const instant_s *)((const char *)record->any + shape->time));
    for (unsigned i = 0; i < shape->n_key; i++)
        n += snprintf(key + n, sizeof key - (size_t)n, "%s\n", *string_of(record->any, shape->strings[i]));
    assert((size_t)n < sizeof key);
    return idmap_slot(&s->keyed[record->kind], key);
}

static void put_keyed(struct store *s, const struct record *record)
{
    const struct shape *shape = &shapes[record->kind];
    void **slot = slot_of(s, record);
    void *copy = xcalloc(1, shape->size);

    memcpy(copy, record->any, shape->size);
    own_strings(shape, copy);
    drop(shape, *slot);
    *slot = copy;
}

static int ms_put(struct store *s, const struct record *record, struct err *err)
{
    (void)err;
    switch (record->kind) {
    case RECORD_ACTION:
        put_action(s, record->action);
        break;
    case RECORD_MIGRATION:
        put_migration(s, record->migration);
        break;
    case RECORD_SAMPLE:
        put_sample(s, record->sample);
        break;
    case RECORD_PASS:
        s->last_pass = record->pass->id;
        s->decide_us += record->pass->decide_us;
        break;
    case RECORD_PATTERN: /* replaces the slot that is too old to be read */
        s->patterns[record->pattern->time / DEMAND_SLOT_S % DEMAND_SLOTS] = *record->pattern;
        break;
    case RECORD_RATE:
    case RECORD_DIRTY:
    case RECORD_HOST:
    case RECORD_SETTING:
    case RECORD_NOTE:
    case RECORD_ENERGY:
    case RECORD_FAILURE:
        put_keyed(s, record);
        break;
    case record_kind_count:
        break;
    }
    return 0;
}

/* An entry without a value was deleted. */
static int ms_forget(struct store *s, const struct record *record, struct err *err)
{
    void **slot = slot_of(s, record);

    (void)err;
    drop(&shapes[record->kind], *slot);
    *slot = NULL;
    return 0;
}

/* ---- forget and prune ------------------------------------------------------------------------ */

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
            drop_strings(&shapes[RECORD_MIGRATION], &s->migrations[i]);
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

struct pruning {
    struct store *s;
    const struct retention *keep;
    enum record_kind kind;
};

static bool is_recent(const struct pruning *p, const void *value)
{
    const struct rate_record *rate = value;
    const struct dirty_record *dirty = value;
    const struct host_record *host = value;
    const struct energy_record *energy = value;

    switch (p->kind) {
    case RECORD_RATE:
        return rate->learned >= p->keep->learned_before;
    case RECORD_DIRTY:
        return dirty->learned >= p->keep->learned_before;
    case RECORD_HOST:
        return host->put_down != 0 || host->our_maintenance != 0 || host->maintenance != 0 ||
               host->seen >= p->keep->hosts_before;
    case RECORD_ENERGY:
        return energy->time + energy->length_s > p->keep->energy_before;
    case RECORD_ACTION:
    case RECORD_MIGRATION:
    case RECORD_SAMPLE:
    case RECORD_PASS:
    case RECORD_SETTING:
    case RECORD_NOTE:
    case RECORD_PATTERN:
    case RECORD_FAILURE:
    case record_kind_count:
        break;
    }
    return true;
}

static bool keep_recent(const char *key, void *value, void *ctx)
{
    const struct pruning *p = ctx;

    (void)key;
    if (!value || is_recent(p, value))
        return true;
    if (p->kind == RECORD_ENERGY && is_cluster(value))
        energy_account_add(&p->s->energy_gone, value);
    drop(&shapes[p->kind], value);
    return false;
}

static int ms_prune(struct store *s, const struct retention *keep, struct err *err)
{
    (void)err;
    prune_actions(s, keep->ended_before);
    prune_migrations(s, keep->ended_before);
    prune_samples(s, keep->samples_before);
    for (int kind = 0; kind < record_kind_count; kind++)
        idmap_keep(&s->keyed[kind], keep_recent,
                   &(struct pruning){.s = s, .keep = keep, .kind = (enum record_kind)kind});
    return 0;
}

/* ---- load at a restart ----------------------------------------------------------------------- */

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

static int by_time_then_host(const void *x, const void *y)
{
    const struct energy_record *a = x;
    const struct energy_record *b = y;

    return a->time != b->time ? (a->time > b->time) - (a->time < b->time) : strcmp(a->host, b->host);
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
        if (s->migrations[i].ended < since)
            continue;
        ret->migrations[ret->n_migrations] = s->migrations[i];
        lend_strings(&shapes[RECORD_MIGRATION], &ret->migrations[ret->n_migrations++], a);
    }
    ret->samples = arena_array(a, struct sample_record, s->n_samples);
    for (size_t i = 0; i < s->n_samples; i++) {
        if (s->samples[i].time >= samples_since)
            ret->samples[ret->n_samples++] = s->samples[i];
    }
    if (ret->n_samples > 0)
        qsort(ret->samples, ret->n_samples, sizeof *ret->samples, by_vm_then_time);
    ret->patterns = arena_array(a, struct demand_profile_record, DEMAND_SLOTS);
    for (size_t i = 0; i < DEMAND_SLOTS; i++) {
        if (s->patterns[i].time != 0)
            ret->patterns[ret->n_patterns++] = s->patterns[i];
    }
}

/* Copies all records of a kind to the arena. */
static void *load_keyed(const struct store *s, enum record_kind kind, struct arena *a, size_t *ret_n)
{
    const struct shape *shape = &shapes[kind];
    const struct idmap *map = &s->keyed[kind];
    char *list = arena_alloc(a, map->n, shape->size);

    *ret_n = 0;
    for (size_t i = 0; i < map->cap; i++) {
        if (!map->entries[i].value)
            continue;
        char *to = list + (*ret_n)++ * shape->size;

        memcpy(to, map->entries[i].value, shape->size);
        lend_strings(shape, to, a);
    }
    return list;
}

static int ms_load(struct store *s, instant_s since, instant_s samples_since, struct arena *a,
                   struct stored *ret, struct err *err)
{
    (void)err;
    *ret = (struct stored){.instance = "simulated", .last_action = s->last_action, .last_pass = s->last_pass};
    load_history(s, since, samples_since, a, ret);
    ret->rates = load_keyed(s, RECORD_RATE, a, &ret->n_rates);
    ret->failures = load_keyed(s, RECORD_FAILURE, a, &ret->n_failures);
    ret->dirties = load_keyed(s, RECORD_DIRTY, a, &ret->n_dirties);
    ret->hosts = load_keyed(s, RECORD_HOST, a, &ret->n_hosts);
    ret->notes = load_keyed(s, RECORD_NOTE, a, &ret->n_notes);
    ret->settings = load_keyed(s, RECORD_SETTING, a, &ret->n_settings);
    if (ret->n_settings > 0)
        qsort(ret->settings, ret->n_settings, sizeof *ret->settings, by_host_then_pool);
    ret->energy = load_keyed(s, RECORD_ENERGY, a, &ret->n_energy);
    if (ret->n_energy > 0)
        qsort(ret->energy, ret->n_energy, sizeof *ret->energy, by_time_then_host);
    for (; ret->n_energy > 0 && ret->energy->time < samples_since - ENERGY_HOUR_S; ret->n_energy--)
        ret->energy++;
    return 0;
}

const struct store_ops memory_store = {
    .load = ms_load,
    .begin = ms_always,
    .commit = ms_always,
    .rollback = ms_rollback,
    .put = ms_put,
    .forget = ms_forget,
    .prune = ms_prune,
};
