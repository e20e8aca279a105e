/* knowledge.c: the table of all pieces of knowledge, and the loops over it. */
#include "engine/knowledge/knowledge.h"

#include "base/xalloc.h"
#include "engine/knowledge/cluster_demand.h"
#include "engine/knowledge/energy_account.h"
#include "engine/knowledge/failed_moves.h"
#include "engine/knowledge/hosts.h"
#include "engine/knowledge/identities.h"
#include "engine/knowledge/meters.h"
#include "engine/knowledge/migration_stats.h"
#include "engine/knowledge/nights.h"
#include "engine/knowledge/own_use.h"
#include "engine/knowledge/pool_settings.h"
#include "engine/knowledge/start_keys.h"
#include "engine/knowledge/unit_failures.h"
#include "engine/knowledge/vm_demand.h"

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
    {offsetof(struct knowledge, cluster), &cluster_demand_ops},
    {offsetof(struct knowledge, energy), &energy_ops},
    {offsetof(struct knowledge, meters), &meters_ops},
    {offsetof(struct knowledge, identities), &identities_ops},
    {offsetof(struct knowledge, pools), &pool_settings_ops},
    {offsetof(struct knowledge, failed_moves), &failed_moves_ops},
    {offsetof(struct knowledge, nights), &nights_ops},
    {offsetof(struct knowledge, starts), &start_keys_ops},
    {offsetof(struct knowledge, units), &unit_failures_ops},
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

struct knowledge *knowledge_new(void)
{
    struct knowledge *k = xcalloc(1, sizeof *k);

    for (EACH_PIECE(p))
        *slot_of(k, p) = p->ops->create();
    return k;
}

void knowledge_free(struct knowledge *k)
{
    if (!k)
        return;
    for (EACH_PIECE(p))
        p->ops->release(state_of(k, p));
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
        if (p->ops->is_dirty && p->ops->is_dirty(state_of(k, p)))
            return true;
    }
    return false;
}

int knowledge_persist(const struct knowledge *k, const struct store_ops *ops, struct store *s,
                      struct err *err)
{
    int r = 0;

    for (EACH_PIECE(p)) {
        if (r == 0 && p->ops->is_dirty && p->ops->is_dirty(state_of(k, p)))
            r = p->ops->persist(state_of(k, p), ops, s, err);
    }
    return r;
}

void knowledge_stored(struct knowledge *k)
{
    for (EACH_PIECE(p)) {
        if (p->ops->is_dirty && p->ops->is_dirty(state_of(k, p)))
            p->ops->stored(state_of(k, p));
    }
}

void knowledge_recall(struct knowledge *k, const struct stored *s, instant_s now)
{
    for (EACH_PIECE(p)) {
        if (p->ops->recall)
            p->ops->recall(state_of(k, p), s, now);
    }
}

void knowledge_disown(struct knowledge *k, struct engine *e, const struct stored *s, instant_s now)
{
    for (EACH_PIECE(p)) {
        if (p->ops->disown)
            p->ops->disown(state_of(k, p), e, s, now);
    }
}

void knowledge_forget(struct knowledge *k, const struct retention *keep, instant_s now)
{
    for (EACH_PIECE(p)) {
        if (p->ops->forget)
            p->ops->forget(state_of(k, p), keep, now);
    }
}
