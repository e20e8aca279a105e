/* knowledge.c: the table of all pieces of knowledge, and the loops over it. */
#include "engine/knowledge/knowledge.h"

#include "base/texts.h"
#include "base/xalloc.h"
#include "engine/knowledge/cluster_demand.h"
#include "engine/knowledge/energy_account.h"
#include "engine/knowledge/failed_moves.h"
#include "engine/knowledge/host_losses.h"
#include "engine/knowledge/hosts.h"
#include "engine/knowledge/identities.h"
#include "engine/knowledge/load_clock.h"
#include "engine/knowledge/meters.h"
#include "engine/knowledge/migration_stats.h"
#include "engine/knowledge/nights.h"
#include "engine/knowledge/own_use.h"
#include "engine/knowledge/pool_settings.h"
#include "engine/knowledge/start_keys.h"
#include "engine/knowledge/unit_failures.h"
#include "engine/knowledge/vm_demand.h"
#include "engine/knowledge/vm_stops.h"

#include <stdlib.h>

/* In the order in which they see an inventory: a piece may ask those before it. */
static const struct piece {
    size_t offset; /* of its pointer in struct knowledge */
    const struct knowledge_ops *ops;
} pieces[] = {
    {offsetof(struct knowledge, vms), &vm_demand_ops},
    {offsetof(struct knowledge, migrations), &migration_stats_ops},
    {offsetof(struct knowledge, hosts), &hosts_ops},
    {offsetof(struct knowledge, own_use), &own_use_ops},
    {offsetof(struct knowledge, loads), &load_clock_ops},
    {offsetof(struct knowledge, cluster), &cluster_demand_ops},
    {offsetof(struct knowledge, energy), &energy_ops},
    {offsetof(struct knowledge, meters), &meters_ops},
    {offsetof(struct knowledge, identities), &identities_ops},
    {offsetof(struct knowledge, pools), &pool_settings_ops},
    {offsetof(struct knowledge, failed_moves), &failed_moves_ops},
    {offsetof(struct knowledge, outages), &host_losses_ops},
    {offsetof(struct knowledge, nights), &nights_ops},
    {offsetof(struct knowledge, starts), &start_keys_ops},
    {offsetof(struct knowledge, units), &unit_failures_ops},
    {offsetof(struct knowledge, stops), &vm_stops_ops},
};

#define EACH_PIECE(p)                                                                                        \
    const struct piece *p = pieces;                                                                          \
    p < pieces + sizeof pieces / sizeof *pieces;                                                             \
    p++

static void **slot_of(const struct knowledge *k, const struct piece *p)
{
    return (void **)((char *)(uintptr_t)k + p->offset);
}

static void *state_of(const struct knowledge *k, const struct piece *p)
{
    return *slot_of(k, p);
}

void knowledge_touch(struct known_map *map, struct known_entry *entry)
{
    map->dirty = true;
    entry->dirty = true;
}

/* ---- one piece --------------------------------------------------------------------------------- */

void *knowledge_piece_new(const struct knowledge_ops *piece)
{
    return piece->create ? piece->create() : xcalloc(1, piece->size);
}

void knowledge_piece_free(const struct knowledge_ops *piece, void *state)
{
    struct known_map *map = state;

    if (piece->release) {
        piece->release(state);
        return;
    }
    idmap_release(&map->of, piece->entry_free);
    free(map);
}

bool knowledge_piece_is_dirty(const struct knowledge_ops *piece, const void *state)
{
    const bool *dirty = state;

    if (piece->is_dirty)
        return piece->is_dirty(state);
    return (piece->persist || piece->entry_persist) && *dirty;
}

int knowledge_piece_persist(const struct knowledge_ops *piece, const void *state, const struct store_ops *ops,
                            struct store *s, struct err *err)
{
    const struct known_map *map = state;
    int r = 0;

    if (piece->persist)
        return piece->persist(state, ops, s, err);
    for (size_t i = 0; r == 0 && i < map->of.cap; i++) {
        const struct known_entry *x = map->of.entries[i].value;

        if (x && x->dirty)
            r = piece->entry_persist(map->of.entries[i].key, x, ops, s, err);
    }
    return r;
}

static bool is_kept(const char *key, void *entry, void *ctx)
{
    const struct knowledge_ops *piece = ctx;
    struct known_entry *x = entry;

    (void)key;
    x->dirty = false;
    if (!x->gone)
        return true;
    piece->entry_free(x);
    return false;
}

void knowledge_piece_stored(const struct knowledge_ops *piece, void *state)
{
    struct known_map *map = state;

    if (piece->stored)
        piece->stored(state);
    if (piece->entry_persist)
        idmap_keep(&map->of, is_kept, (void *)(uintptr_t)piece);
    if (!piece->is_dirty)
        *(bool *)state = false;
}

/* ---- all of them ------------------------------------------------------------------------------- */

struct knowledge *knowledge_new(void)
{
    struct knowledge *k = xcalloc(1, sizeof *k);

    for (EACH_PIECE(p))
        *slot_of(k, p) = knowledge_piece_new(p->ops);
    return k;
}

void knowledge_free(struct knowledge *k)
{
    if (!k)
        return;
    for (EACH_PIECE(p))
        knowledge_piece_free(p->ops, state_of(k, p));
    free(k);
}

void knowledge_configure(struct knowledge *k, const struct engine_settings *settings)
{
    for (EACH_PIECE(p)) {
        if (p->ops->configure)
            p->ops->configure(state_of(k, p), settings);
    }
}

void knowledge_fill(struct knowledge *k, const struct knowledge_context *c, struct inventory *inv,
                    struct arena *a)
{
    for (EACH_PIECE(p)) {
        if (p->ops->fill)
            p->ops->fill(state_of(k, p), c, inv, a);
    }
}

void knowledge_observe(struct knowledge *k, const struct knowledge_context *c, struct snapshot *s,
                       struct arena *a)
{
    for (EACH_PIECE(p)) {
        if (p->ops->observe)
            p->ops->observe(state_of(k, p), c, s, a);
    }
}

bool knowledge_is_dirty(const struct knowledge *k)
{
    for (EACH_PIECE(p)) {
        if (knowledge_piece_is_dirty(p->ops, state_of(k, p)))
            return true;
    }
    return false;
}

int knowledge_persist(const struct knowledge *k, const struct store_ops *ops, struct store *s,
                      struct err *err)
{
    int r = 0;

    for (EACH_PIECE(p)) {
        if (r == 0 && knowledge_piece_is_dirty(p->ops, state_of(k, p)))
            r = knowledge_piece_persist(p->ops, state_of(k, p), ops, s, err);
    }
    return r;
}

void knowledge_stored(struct knowledge *k)
{
    for (EACH_PIECE(p)) {
        if (knowledge_piece_is_dirty(p->ops, state_of(k, p)))
            knowledge_piece_stored(p->ops, state_of(k, p));
    }
}

void knowledge_recall(struct knowledge *k, const struct stored *s, instant_s now)
{
    for (EACH_PIECE(p)) {
        if (p->ops->recall)
            p->ops->recall(state_of(k, p), s, now);
    }
}

/* What is stored of another source's objects is to be forgotten. */
static void disown_notes(const struct knowledge_ops *piece, void *state, const struct stored *s)
{
    for (size_t i = 0; i < s->n_notes; i++) {
        const char *key = texts_after(piece->note_prefix, s->notes[i].key);
        struct known_entry *x = key ? piece->entry_make(state, key) : NULL;

        if (!x)
            continue;
        x->gone = true;
        knowledge_touch(state, x);
    }
}

void knowledge_disown(struct knowledge *k, struct engine *e, const struct stored *s, instant_s now)
{
    for (EACH_PIECE(p)) {
        if (p->ops->disown)
            p->ops->disown(state_of(k, p), e, s, now);
        if (p->ops->note_prefix)
            disown_notes(p->ops, state_of(k, p), s);
    }
}

void knowledge_forget(struct knowledge *k, const struct retention *keep, instant_s now)
{
    for (EACH_PIECE(p)) {
        if (p->ops->forget)
            p->ops->forget(state_of(k, p), keep, now);
    }
}
