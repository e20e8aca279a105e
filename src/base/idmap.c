/* idmap.c: a hash table from ids to pointers. It owns the keys, not the values. */
#include "base/idmap.h"

#include "base/fingerprint.h"
#include "base/xalloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CAP_MIN 64

static size_t hash(const char *key)
{
    uint64_t h = fingerprint_add(FINGERPRINT_NONE, key);

    return (size_t)(h ^ (h >> 32));
}

/* The entry of the key, or the free entry for it. Needs a free entry, so cap > n. */
static struct idmap_entry *probe(const struct idmap *m, const char *key)
{
    size_t i = hash(key) & (m->cap - 1);

    while (m->entries[i].key && strcmp(m->entries[i].key, key) != 0)
        i = (i + 1) & (m->cap - 1);
    return &m->entries[i];
}

static void resize(struct idmap *m, size_t cap)
{
    struct idmap bigger = {.entries = xcalloc(cap, sizeof *bigger.entries), .n = m->n, .cap = cap};

    for (size_t i = 0; i < m->cap; i++) {
        if (m->entries[i].key)
            *probe(&bigger, m->entries[i].key) = m->entries[i];
    }
    free(m->entries);
    *m = bigger;
}

void *idmap_get(const struct idmap *m, const char *key)
{
    return m->cap ? probe(m, key)->value : NULL;
}

void **idmap_slot(struct idmap *m, const char *key)
{
    if (m->n >= m->cap / 4 * 3)
        resize(m, m->cap ? m->cap * 2 : CAP_MIN);
    struct idmap_entry *entry = probe(m, key);

    if (!entry->key) {
        entry->key = xstrdup(key);
        m->n++;
    }
    return &entry->value;
}

void *idmap_make(struct idmap *m, const char *key, size_t size)
{
    void **slot = idmap_slot(m, key);

    if (!*slot)
        *slot = xcalloc(1, size);
    return *slot;
}

void idmap_keep(struct idmap *m, bool (*keep)(const char *key, void *value, void *ctx), void *ctx)
{
    size_t left = 0;

    for (size_t i = 0; i < m->cap; i++) {
        struct idmap_entry *entry = &m->entries[i];

        if (!entry->key)
            continue;
        if (keep(entry->key, entry->value, ctx)) {
            left++;
            continue;
        }
        free(entry->key);
        *entry = (struct idmap_entry){0};
    }
    if (left == m->n)
        return;
    m->n = left;
    resize(m, m->cap); /* removed entries may have broken probe chains */
}

void idmap_release(struct idmap *m, void (*dispose)(void *value))
{
    for (size_t i = 0; i < m->cap; i++) {
        if (m->entries[i].key && dispose)
            dispose(m->entries[i].value);
        free(m->entries[i].key);
    }
    free(m->entries);
    *m = (struct idmap){0};
}
