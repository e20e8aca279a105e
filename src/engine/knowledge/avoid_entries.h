/* avoid_entries.h: what is not tried again, entry by entry: by a VM and a host, or what stands in their
 * place. failed_moves.c counts failures in them, rejections.c notes what a person rejected. For these two
 * only. */
#ifndef BALLAST_ENGINE_KNOWLEDGE_AVOID_ENTRIES_H
#define BALLAST_ENGINE_KNOWLEDGE_AVOID_ENTRIES_H

#include "base/idmap.h"
#include "engine/knowledge/failed_moves.h"

struct avoid_entry {
    struct failure_record r; /* owns its strings */
    bool gone;               /* to be forgotten by the store */
    bool dirty;
};

struct failed_moves {
    struct idmap entries;
    const struct policy *policy; /* borrowed until the next configure() */
    bool dirty;
};

#define EACH_ENTRY(f, x)                                                                                     \
    size_t i_ = 0;                                                                                           \
    i_ < (f)->entries.cap;                                                                                   \
    i_++)                                                                                                    \
        for (struct avoid_entry *x = (f)->entries.entries[i_].value; x && !x->gone; x = NULL

struct avoid_entry *avoid_entry_find(const struct failed_moves *f, const char *vm, const char *host);

/* Found or made; the caller changes it. */
struct avoid_entry *avoid_entry_make(struct failed_moves *f, const char *vm, const char *host);

void avoid_entry_drop(struct failed_moves *f, struct avoid_entry *x); /* NULL is fine */
void avoid_entry_touch(struct failed_moves *f, struct avoid_entry *x);
void avoid_entry_set_text(const char **at, const char *text);
bool avoid_entry_holds(const struct failure_record *r, instant_s now);

/* Of the piece of knowledge (knowledge.h). */
void *avoid_entries_create(void);
void avoid_entries_release(void *piece);
bool avoid_entries_is_dirty(const void *piece);
int avoid_entries_persist(const void *piece, const struct store_ops *ops, struct store *s, struct err *err);
void avoid_entries_stored(void *piece);
void avoid_entries_recall(void *piece, const struct stored *s, instant_s now);

#endif
