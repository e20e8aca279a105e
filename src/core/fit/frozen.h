/* frozen.h: scores and buckets of moves (`applies: move`), as they are when the pass begins.
 *
 * A VM's score on a host is the sum of its pipeline's score stages, each normalised as the stage says, on a
 * scale from 0 (the worst of the hosts that the filters of moves leave) to 1 (the best of them); where these
 * are all equal, 0. Scale and counts are those of the beginning, whatever the pass moves. So a score depends
 * on the VM and the host alone, and a search that keeps what it found about a pair may keep it for the whole
 * pass. Cuts and picks say nothing about a move.
 *
 * What is counted on the VM's own host, its load and its free memory are without the VM (but for counts over
 * groups of hosts, which a move within the group does not change): it would not be better off elsewhere
 * because it counts itself.
 *
 * Computed for a VM when it is first asked for; VMs for which all stages have equal values share a table. */
#ifndef BALLAST_CORE_FIT_FROZEN_H
#define BALLAST_CORE_FIT_FROZEN_H

#include "core/fit/fit.h"

/* What moves change, as it is when the pass begins: with all VMs; and, on the VM's own host, without the VM
 * and what moves with it. */
struct fit_then {
    struct expression_live all, beside;
};

struct fit_frozen;

/* hosts: those among which VMs may move; must outlive the result, as must `then`. NULL: no stage of any
 * pipeline scores or buckets a move. */
struct fit_frozen *fit_frozen_new(const struct fit *fit, const uint64_t *hosts, const struct fit_then *then,
                                  struct arena *a);

/* The VM's score on a host, 0 ... 1; 0 without scores. */
double fit_frozen_score(struct fit_frozen *f, uint32_t vm, uint32_t host);

/* Whether a stage of the VM's pipeline scores moves. */
bool fit_frozen_scores(struct fit_frozen *f, uint32_t vm);

/* The scores by host, shared by all VMs with equal scores, but for each VM's own host (*ret_own). NULL: no
 * stage scores moves. */
const double *fit_frozen_table(struct fit_frozen *f, uint32_t vm, double *ret_own);

/* By how much the score falls from the VM's host to this one; 0: not at all. */
double fit_frozen_drop(struct fit_frozen *f, uint32_t vm, uint32_t to);

/* The stage that puts the host into a worse bucket than the VM's own host. */
struct fit_frozen_bucket {
    uint32_t stage;
    double here, there; /* INFINITY: no number */
};

/* Whether the host is in a worse bucket: of several stages the first that differs decides. ret may be NULL.
 */
bool fit_frozen_worse_bucket(struct fit_frozen *f, uint32_t vm, uint32_t to, struct fit_frozen_bucket *ret);

/* The stage by which the VM's score falls most from one host to the other. */
uint32_t fit_frozen_stage_of_drop(struct fit_frozen *f, uint32_t vm, uint32_t from, uint32_t to);

#endif
