/* idmap.h: from an id to whatever belongs to it. Open addressing; keys are copied, values are the owner's.
 *
 * Nothing is removed singly: the owner rebuilds the map when it wants to forget (idmap_keep()).
 */
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

/* Where the value of the key stands; a new key gets NULL. Valid until the next call. */
void **idmap_slot(struct idmap *m, const char *key);

/* Keeps the entries that `keep` says yes to; it disposes of the values that it says no to. */
void idmap_keep(struct idmap *m, bool (*keep)(const char *key, void *value, void *ctx), void *ctx);

/* Frees the keys and the table; the values through dispose, where it is not NULL. */
void idmap_release(struct idmap *m, void (*dispose)(void *value));

#endif
