/* backoff.h: what is left alone for a while: a VM that was moved or whose move failed, a host that did not
 * wake or did not go to standby. */
#ifndef BALLAST_ENGINE_ACTIONS_BACKOFF_H
#define BALLAST_ENGINE_ACTIONS_BACKOFF_H

#include "engine/engine.h"

struct actions;

/* What is remembered of a VM because of its own moves, or of a host because it was to be woken. */
struct backoff {
    instant_s moved;   /* last arrived somewhere, by an action of ours or somebody else's; or was woken */
    instant_s tried;   /* last failed or was refused by a person */
    instant_s until;   /* the engine does not try by itself before this */
    unsigned failures; /* in a row */
};

/* Of a VM, or of that of an action, which may be a host; made if there is none yet. */
struct backoff *backoff_of_vm(struct engine *e, const char *vm);
struct backoff *backoff_of_action(struct engine *e, const struct action_record *r);
/* Those of VMs and hosts that nothing has happened to since then. */
void backoff_forget(struct engine *e, instant_s before);
/* How long the engine does not try again by itself after so many failures in a row, or a rejection (1). */
instant_s backoff_length_s(const struct engine *e, enum action_kind kind, unsigned failures);
/* Whether its end says something about the next one of its kind. */
bool backoff_follows(const struct action_record *r);
/* What an end at that time means for the next one of the same VM or host. */
void backoff_end(struct engine *e, const struct action_record *r, instant_s ended);
void backoff_release(struct actions *all);

#endif
