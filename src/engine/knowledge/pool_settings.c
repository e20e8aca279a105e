/* pool_settings.c: what was last set for pools on hosts, by host and pool. */
#include "engine/knowledge/pool_settings.h"

#include "base/xalloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_MAX 512

struct set_part {
    struct known_entry known;
    char *host, *pool;
    struct alloc alloc[RES_COUNT];
};

struct known_pool_settings {
    struct known_map set; /* "host\npool" -> struct set_part */
};

/* ---- what was set ---------------------------------------------------------------------------- */

static void part_free(void *value)
{
    struct set_part *p = value;

    free(p->host);
    free(p->pool);
    free(p);
}

void pool_settings_remember(struct known_pool_settings *all, const char *host, const char *pool,
                            const struct alloc alloc[RES_COUNT], bool gone, bool dirty)
{
    char key[KEY_MAX];

    if ((size_t)snprintf(key, sizeof key, "%s\n%s", host, pool) >= sizeof key)
        return; /* ids of no hypervisor; it is set anew at each pass */
    void **slot = idmap_slot(&all->set.of, key);

    if (!*slot) {
        struct set_part *fresh = xcalloc(1, sizeof *fresh);
        fresh->host = xstrdup(host);
        fresh->pool = xstrdup(pool);
        *slot = fresh;
    }
    struct set_part *p = *slot;

    memcpy(p->alloc, alloc, sizeof p->alloc);
    p->known.gone = gone;
    p->known.dirty = dirty;
    all->set.dirty = all->set.dirty || dirty;
}

static void fill(void *piece, const struct knowledge_context *c, struct inventory *inv, struct arena *a)
{
    const struct known_pool_settings *all = piece;
    struct idmap there = {0};

    (void)c;
    if (inv->settings_seen || all->set.of.n == 0)
        return;
    for (size_t i = 0; i < inv->n_hosts; i++) {
        if (inv->hosts[i].is.id)
            *idmap_slot(&there, arena_printf(a, "h%s", inv->hosts[i].is.id)) = inv;
    }
    for (size_t i = 0; i < inv->n_pools; i++) {
        if (inv->pools[i].is.id)
            *idmap_slot(&there, arena_printf(a, "p%s", inv->pools[i].is.id)) = inv;
    }
    for (size_t i = 0; i < all->set.of.cap; i++) {
        const struct set_part *p = all->set.of.entries[i].value;

        if (!p || p->known.gone || !idmap_get(&there, arena_printf(a, "h%s", p->host)) ||
            !idmap_get(&there, arena_printf(a, "p%s", p->pool)))
            continue;
        struct seen_setting *seen = inventory_add_setting(inv, a);

        seen->host = arena_strdup(a, p->host);
        seen->pool = arena_strdup(a, p->pool);
        memcpy(seen->alloc, p->alloc, sizeof seen->alloc);
    }
    idmap_release(&there, NULL);
}

/* A pool that was deleted took its settings along. */
void pool_settings_forget_deleted(struct known_pool_settings *all, const struct snapshot *s)
{
    for (size_t i = 0; i < all->set.of.cap; i++) {
        struct set_part *p = all->set.of.entries[i].value;

        if (!p || p->known.gone || snapshot_find_pool(s, p->pool) != IX_NONE)
            continue;
        p->known.gone = true;
        knowledge_touch(&all->set, &p->known);
    }
}

/* ---- the store ------------------------------------------------------------------------------- */

static int entry_persist(const char *key, const void *entry, const struct store_ops *ops, struct store *s,
                         struct err *err)
{
    const struct set_part *p = entry;
    struct setting_record record = {.host = p->host, .pool = p->pool};
    const struct record stored = {RECORD_SETTING, .setting = &record};

    (void)key;
    memcpy(record.alloc, p->alloc, sizeof record.alloc);
    return p->known.gone ? ops->forget(s, &stored, err) : ops->put(s, &stored, err);
}

static void recall(void *piece, const struct stored *s, instant_s now)
{
    (void)now;
    for (size_t i = 0; i < s->n_settings; i++)
        pool_settings_remember(piece, s->settings[i].host, s->settings[i].pool, s->settings[i].alloc, false,
                               false);
}

/* What was set at another source is to be forgotten in the store, too. */
static void disown(void *piece, struct engine *e, const struct stored *s, instant_s now)
{
    (void)e, (void)now;
    for (size_t i = 0; i < s->n_settings; i++)
        pool_settings_remember(piece, s->settings[i].host, s->settings[i].pool, s->settings[i].alloc, true,
                               true);
}

const struct knowledge_ops pool_settings_ops = {
    .size = sizeof(struct known_pool_settings),
    .entry_free = part_free,
    .entry_persist = entry_persist,
    .fill = fill,
    .recall = recall,
    .disown = disown,
};
