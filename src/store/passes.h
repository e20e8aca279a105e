/* passes.h: the passes that are kept, for the service: their figures, and what one of them decided from.
 *
 * As for store_ops: 0 or a negative errno and a sentence; results are copied into the arena. */
#ifndef BALLAST_STORE_PASSES_H
#define BALLAST_STORE_PASSES_H

#include "engine/ports.h"

#include <stdbool.h>
#include <string.h>

struct pass_query {
    instant_s since; /* only passes from this time on; 0: all */
    uint64_t before; /* only passes with a smaller number; 0: all */
    unsigned limit;  /* at most this many, of the newest */
};

struct kept_pass {
    struct pass_record is; /* without its texts */
    bool has_snapshot;
};

/* Lists passes, newest first, without reading their texts. ret_more: how many more the query finds. */
int store_list_passes(struct store *s, const struct pass_query *q, struct arena *a, struct kept_pass **ret,
                      size_t *ret_n, uint64_t *ret_more, struct err *err);

/* Whether a pass with this trigger can be made again: what an admin had placed or migrated is no pass. */
static inline bool pass_trigger_is_pass(const char *trigger)
{
    return strcmp(trigger, "place") != 0 && strcmp(trigger, "migrate") != 0;
}

/* A snapshot as it is stored. */
struct stored_snapshot {
    unsigned char *data; /* malloc'ed; NULL: the pass was kept without it */
    size_t len;
    size_t text_len;
    unsigned held_back; /* HELD_BACK_*: what its pass left out */
    char trigger[16];
};

/* Reads what the pass decided from, without inflating it, which takes long. -ENOENT: there is no such pass.
 */
int store_read_snapshot(struct store *s, uint64_t pass, struct stored_snapshot *ret, struct err *err);
void store_snapshot_release(struct stored_snapshot *p);

/* Inflates it, in any thread. -EIO: it is damaged. */
int store_snapshot_text(const struct stored_snapshot *p, struct arena *a, const char **ret);

#endif
