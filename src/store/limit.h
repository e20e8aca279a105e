/* limit.h: how large the store may become, how large it is, and what is left of its disk.
 *
 * Beyond its limit the store deletes what decides nothing, the oldest first: passes (the newest is kept),
 * then means of looks, then looks. Actions, events, tokens and what was learned are never deleted for space;
 * they are bounded by `history.days` and `history.events`. The file does not shrink: what was freed is used
 * again. */
#ifndef BALLAST_STORE_LIMIT_H
#define BALLAST_STORE_LIMIT_H

#include "engine/ports.h"

struct store_size {
    uint64_t used_bytes;  /* of the file, without what is free in it and without the write-ahead log */
    uint64_t limit_bytes; /* 0: none */
    instant_s figures_s;  /* from the oldest figures over time that are kept to the newest look */
    uint64_t disk_bytes, disk_free_bytes; /* of its file system, for the service's user; 0, 0: not known */
};

/* 0 or -EIO and a sentence. */
int store_size(struct store *s, struct store_size *ret, struct err *err);

/* What an admin should know of the size, a sentence in the arena; NULL: nothing. */
const char *store_size_warning(const struct store_size *is, struct arena *a);

/* Deletes what exceeds the limit, some with each call. Part of put_look(). */
int store_limit_enforce(struct store *s, struct err *err);

/* Of a look at `now`: deletes samples of the two oldest looks, if they are older than an hour, but not in the
 * hour after a gap: a clock that is wrong for a moment makes everything old. *ret_held: it is not that hour.
 */
int store_delete_old_samples(struct store *s, instant_s now, bool *ret_held, struct err *err);

/* Whether looks after `now` may be deleted, which tell that the clock was set back. A clock that is behind
 * for a moment must not delete the past: more than a tenth of the looks stay until it has been behind for an
 * hour, and looks are left out meanwhile. */
int store_may_drop_future(struct store *s, instant_s now, bool *ret, struct err *err);

#endif
