/* backoff.h: what is left alone for a while: a VM that was moved or whose move failed, a host that did not
 * wake or did not go to standby. */
#ifndef BALLAST_ENGINE_ACTIONS_BACKOFF_H
#define BALLAST_ENGINE_ACTIONS_BACKOFF_H

#include "engine/ports.h"

struct actions;
struct policy;

/* What is remembered of a VM because of its own moves, or of a host because it was to be woken. */
struct backoff {
    instant_s moved;   /* last arrived somewhere, moved by Ballast or an admin; or was woken */
    char *left;        /* the host that this move took it from; NULL: a host's, or no move */
    instant_s tried;   /* last failed or was refused by a person */
    instant_s until;   /* the engine does not try by itself before this */
    unsigned failures; /* in a row */
};

/* Made if there is none yet. */
struct backoff *backoff_of_vm(struct actions *all, const char *vm);
/* It has arrived at another host than `from`, at that time. */
void backoff_moved(struct backoff *b, const char *from, instant_s at);
/* A clock that was set back: nothing was done in the future, and no pause is longer than the longest. NULL:
 * nothing to do. */
void backoff_clock(struct backoff *b, instant_s now);
/* Those of VMs and hosts that nothing has happened to since then. */
void backoff_forget(struct actions *all, instant_s before);
/* Whether a failed move is tried again soon: it is mandatory, and its cause may pass (a manager that did not
 * begin it, a lock, a time-out), unless somebody stopped it. */
bool backoff_is_short(const struct action_record *r);
/* What an end at that time means for the next one of the same VM or host. taught: a move that failed because
 * of the VM or its destination, which knowledge/failed_moves.h remembers; the VM may go elsewhere at once. */
void backoff_end(struct actions *all, const struct policy *p, const struct action_record *r, bool taught,
                 instant_s ended);
void backoff_release(struct actions *all);

#endif
