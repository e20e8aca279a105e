/* rank.h: the order of hosts by the scores, buckets, cuts and picks of a VM's pipeline (`applies: place`).
 *
 * Scores are normalised over the hosts that are ranked. Random choices follow from the seed of the stage and
 * the ids of VM and host, so that a plan can be repeated. */
#ifndef BALLAST_CORE_FIT_RANK_H
#define BALLAST_CORE_FIT_RANK_H

#include "core/fit/fit.h"

struct fit_ranked {
    uint32_t host;
    double *buckets; /* of the bucket stages, in their order */
    uint32_t n_buckets;
    double score;
    uint64_t draw; /* orders hosts of equal score, where a pick shuffles them; else 0 */
    bool out;      /* a cut has left it out */
};

/* Whether a stage of the VM's pipeline ranks hosts. */
bool fit_ranks(const struct fit *fit, uint32_t vm);

/* Fills all but host. */
void fit_rank(const struct fit *fit, uint32_t vm, const struct expression_live *live,
              struct fit_ranked *hosts, uint32_t n, struct arena *a);

/* Lower bucket, higher score, draw; 0: equal. Both ranked for the same VM. */
int fit_rank_compare(const struct fit_ranked *x, const struct fit_ranked *y);

/* The last cut of the VM's pipeline. */
uint32_t fit_rank_cut(const struct fit *fit, uint32_t vm);

/* Of the n best hosts in order, the one that the pipeline's last pick takes. */
uint32_t fit_rank_pick(const struct fit *fit, uint32_t vm, uint32_t n);

#endif
