/* avoid_entries.h: what is not tried again, entry by entry: by a VM and a host, or what stands in their
 * place. failed_moves.c counts failures in them, rejections.c notes what a person rejected. For these two
 * only. */
#ifndef BALLAST_ENGINE_KNOWLEDGE_AVOID_ENTRIES_H
#define BALLAST_ENGINE_KNOWLEDGE_AVOID_ENTRIES_H

#include "engine/knowledge/failed_moves.h"
#include "engine/knowledge/knowledge.h"

struct avoid_entry {
    struct known_entry known;
    struct failure_record r; /* owns its strings */
};

struct failed_moves {
    struct known_map entries;
    const struct policy *policy; /* borrowed until the next configure() */
};

#define EACH_ENTRY(f, x)                                                                                     \
    size_t i_ = 0;                                                                                           \
    i_ < (f)->entries.of.cap;                                                                                \
    i_++)                                                                                                    \
        for (struct avoid_entry *x = (f)->entries.of.entries[i_].value; x && !x->known.gone; x = NULL

struct avoid_entry *avoid_entry_find(const struct failed_moves *f, const char *vm, const char *host);

/* Found or made; the caller changes it. */
struct avoid_entry *avoid_entry_make(struct failed_moves *f, const char *vm, const char *host);

void avoid_entry_drop(struct failed_moves *f, struct avoid_entry *x); /* NULL is fine */
bool avoid_entry_holds(const struct failure_record *r, instant_s now);

/* Of the piece of knowledge (knowledge.h). */
void avoid_entry_free(void *entry);
int avoid_entry_persist(const char *key, const void *entry, const struct store_ops *ops, struct store *s,
                        struct err *err);
void avoid_entries_recall(void *piece, const struct stored *s, instant_s now);

#endif
