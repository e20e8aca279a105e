/* failed_moves.h: which moves failed, and until when they are not tried again; with what a person rejected
 * (rejections.h).
 *
 * A failure says something about the VM and the host that it was to go to: the two are avoided, each time
 * twice as long. Where moves of several VMs to a host fail in a row, the host is avoided; where moves of a VM
 * to several hosts fail, it moves only if its host must be emptied; where many of the cluster's last moves
 * failed, or did harm (actions/move_result.h), optional moves pause; where many of the last mandatory moves
 * did harm, these pause, too, and VMs leave only hosts that must be emptied. The settings avoid.* say how
 * many and how long. fill() puts all that holds into the inventory, so that it stands in the snapshot, and a
 * replay decides the same.
 *
 * A success there, a host that comes back into service, or an admin ends it; a rejection only an admin. */
#ifndef BALLAST_ENGINE_KNOWLEDGE_FAILED_MOVES_H
#define BALLAST_ENGINE_KNOWLEDGE_FAILED_MOVES_H

#include "engine/knowledge/knowledge.h"

struct failed_moves;

extern const struct knowledge_ops failed_moves_ops;

/* The end of a move. why: the peer's words, NULL where it succeeded. */
struct move_end {
    const char *vm, *from, *to; /* ids */
    instant_s at;
    bool off;    /* the VM is off: that says nothing of other VMs, nor of its copies */
    bool passes; /* it is tried there again soon: backoff_is_short() */
    const char *why;
};

void failed_moves_take(struct failed_moves *f, const struct move_end *m);

/* Whether the move empties a host that must be emptied. */
bool failed_moves_empties_host(const struct action_record *r);

/* A move that empties no such host was looked at ten minutes after its end: why it did harm, NULL where it
 * did not. Moves pause for many of these as they do for many failures. */
void failed_moves_judge(struct failed_moves *f, bool mandatory, const char *why, instant_s now);

/* What forbids this move now; NULL: nothing. Optional moves also wait while the VM is avoided everywhere, or
 * those of the cluster pause. Valid until the next call that changes anything. */
const struct failure_record *failed_moves_find(const struct failed_moves *f, const struct action_record *r,
                                               instant_s now);

/* When a move of this VM to this host last failed; 0: it has not, or has succeeded since. */
instant_s failed_moves_last(const struct failed_moves *f, const char *vm, const char *to);

/* Forgets what is known of this VM, of this host, or (both NULL) everything; returns how much. */
size_t failed_moves_forgive(struct failed_moves *f, const char *vm, const char *host);

#endif
