/* history.h: actions that have ended, and the VMs and hosts that the store knows, for the service's replies.
 *
 * As for store_ops: 0 or a negative errno and a sentence; results are copied into the arena. */
#ifndef BALLAST_STORE_HISTORY_H
#define BALLAST_STORE_HISTORY_H

#include "engine/ports.h"

struct action_query {
    instant_s since;         /* only actions that ended at or after this time; 0: all */
    const char *vm;          /* only actions of this VM; NULL: all */
    const char *host;        /* only actions of this host, moves from it and to it included; NULL: all */
    enum action_state state; /* only those that ended so; action_state_count: all but expired recommendations,
                              * which are many and of which nothing came */
    uint64_t before;         /* only actions behind this one in the list; 0: all. If it is gone from the
                              * store, those behind it are, too */
    unsigned limit;          /* at most this many, of the newest */
};

/* Lists actions by their end, newest first. ret_more: how many more the query finds. */
int store_list_actions(struct store *s, const struct action_query *q, struct arena *a,
                       struct action_record **ret, size_t *ret_n, uint64_t *ret_more, struct err *err);

/* Calls `each` for every action that ended at or after `since`, by its end, without expired recommendations.
 * Of the record only these are set: kind, state, vm, from, to, host, why, duration_s, started, ended, result.
 * Its texts last for the call. */
int store_each_end(struct store *s, instant_s since, void (*each)(void *ctx, const struct action_record *r),
                   void *ctx, struct err *err);

/* A fault that a pass found, or found no more. */
struct fault_event {
    instant_s time;
    bool cleared;
    const char *code;      /* NULL: stands for many that were not listed */
    const char *vm, *host; /* ids; NULL */
};

/* Lists the stored events of faults, oldest first. ret_from: the time of the oldest event of any kind that is
 * left, if older ones were deleted; else 0. */
int store_list_faults(struct store *s, struct arena *a, struct fault_event **ret, size_t *ret_n,
                      instant_s *ret_from, struct err *err);

enum store_subject { STORE_VM, STORE_HOST };

/* Finds a VM or host that may be gone from the inventory: by its id in actions and events, or by the name
 * that the newest events (STORE_NAMES_AMONG of them) have for it. ret: its id. -ENOENT: not known, and *err
 * is not set. -EINVAL and a sentence: several had this name. */
#define STORE_NAMES_AMONG 100000

int store_find_subject(struct store *s, enum store_subject what, const char *word, struct arena *a,
                       const char **ret, struct err *err);

#endif
