/* nights.h: how hosts slept since the last morning, told once: which slept and when, which did not wake at
 * once and why, the energy drawn and saved, and what VMs lacked.
 *
 * A night begins where the one before ended. It ends at the next `dpm.ready_by`; without one, where
 * `dpm.windows` close; without either, at 08:00 in dpm.time_zone. If a host is being woken then, the end
 * waits for it, up to an hour. A night in which no host slept and none was to be switched is not told.
 *
 * Where dpm.prove_every is set, the line names the host whose newest wake is the oldest, and how many hosts
 * are due for another one; a host that is due is told also after a night in which no host slept, with the
 * reason why it was not proven (proofs.h).
 *
 * A host that left the inventory (left_hosts.h) is not counted. */
#ifndef BALLAST_ENGINE_KNOWLEDGE_NIGHTS_H
#define BALLAST_ENGINE_KNOWLEDGE_NIGHTS_H

#include "engine/knowledge/knowledge.h"

extern const struct knowledge_ops nights_ops;

/* A power change has ended. */
void nights_action_ended(struct nights *n, const struct snapshot *s, const struct action_record *r);
/* A method on the way to wake the host has failed. */
void nights_method_failed(struct nights *n, const struct snapshot *s, const char *host, const char *why);
/* Why the proof of the host that is due for longest does not take place now: told with the night. late: only
 * that too little of the quiet time is left, which replaces no other reason. */
void nights_proof_waits(struct nights *n, const char *host, const char *why, bool late);
/* Whether a wake that was done took a fifth longer than expected. */
bool nights_wake_is_late(const struct action_record *r);

/* The last night that was told: the sentence, and as JSON (src/daemon/README.md, `night` of `status`). NULL:
 * there was none. */
const char *nights_last_text(const struct nights *n);
const char *nights_last_json(const struct nights *n);

#endif
