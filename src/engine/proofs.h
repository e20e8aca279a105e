/* proofs.h: a host that has not slept for long is proven to wake: put to standby and woken again
 * (dpm.prove_every).
 *
 * A host is due dpm.prove_every after its newest wake. After each pass in a quiet time the host that is due
 * for longest is tried on a what-if snapshot; if nothing stands against its power-off, the power-off becomes
 * a recommendation. Its approval approves the wake that follows, too. The service approves it by itself where
 * it may put that host to standby and move its VMs without asking.
 *
 * A quiet time lies within dpm.windows; without windows it is one in which demand is in the lowest quarter of
 * the last day's and not expected to rise. The proof must be over, by the longest that a wake may take,
 * before the window closes and before dpm.ready_by.
 *
 * One host at a time, none while another host changes its power or is in maintenance, and none whose last
 * wake failed or whose proof has expired: those wait for `ballast wake HOST --verify`. Why the host that is
 * due for longest waits stands in the line after the night (knowledge/nights.h). */
#ifndef BALLAST_ENGINE_PROOFS_H
#define BALLAST_ENGINE_PROOFS_H

#include "engine/engine.h"

struct action;
struct action_record;
struct observation;

struct proofs *proofs_new(void);
void proofs_free(struct proofs *p);

/* Chooses the host after a pass on v, whose plan counts. watched: the cluster has been watched for
 * dpm.watch_s. */
void proofs_choose(struct engine *e, const struct observation *v, bool watched, instant_s now);
/* Whether a proof is approved and not over, a person's too: no other host is put to standby meanwhile. */
bool proofs_go_on(const struct engine *e);
/* Whether the chosen host is proven without asking, so that no other host is put to standby in this pass. */
bool proofs_come_first(const struct engine *e);
/* The recommendation of the chosen host; false: none is chosen. Its strings last until the next choice. */
bool proofs_recommendation(const struct engine *e, uint64_t pass, struct action_record *ret);
/* Approves it where a person is not asked. */
void proofs_approve(struct engine *e, instant_s now);

/* A power-off that proofs_recommendation() made. */
bool proofs_is_proof(const struct action_record *r);
/* Such a power-off was approved: its host is woken after it, and a pass that empties the host follows. */
void proofs_approved(struct engine *e, const struct action *down, instant_s now);

#endif
