/* idmap.h: a hash table from ids to pointers. Open addressing; keys are copied, the caller owns the values.
 *
 * There is no removal of one entry: idmap_keep() rebuilds the table from the entries to keep. */
#ifndef BALLAST_BASE_IDMAP_H
#define BALLAST_BASE_IDMAP_H

#include <stdbool.h>
#include <stddef.h>

struct idmap_entry {
    char *key; /* NULL: free */
    void *value;
};

struct idmap {
    struct idmap_entry *entries;
    size_t n, cap; /* cap is a power of two, or 0 */
};

/* The value, or NULL. */
void *idmap_get(const struct idmap *m, const char *key);

/* The address of the key's value; a new key gets NULL. Valid until the next call. */
void **idmap_slot(struct idmap *m, const char *key);

/* The value; a new key gets one of this size, zeroed, to be freed with free(). */
void *idmap_make(struct idmap *m, const char *key, size_t size);

/* Keeps the entries for which `keep` returns true; `keep` disposes of the values of all others. */
void idmap_keep(struct idmap *m, bool (*keep)(const char *key, void *value, void *ctx), void *ctx);

/* Frees keys and table, and each value with dispose, if not NULL. */
void idmap_release(struct idmap *m, void (*dispose)(void *value));

/* For CLEANUP(): the values stay. */
static inline void idmap_releasep(struct idmap *m)
{
    idmap_release(m, NULL);
}

#endif
