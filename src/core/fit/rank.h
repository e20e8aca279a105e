/* rank.h: the order of hosts by the scores, buckets, cuts and picks of a VM's pipeline (`applies: place`).
 *
 * Scores are normalised over the hosts that are ranked. Random choices follow from the seed of the stage and
 * the ids of VM and host, so that a plan can be repeated. */
#ifndef BALLAST_CORE_FIT_RANK_H
#define BALLAST_CORE_FIT_RANK_H

#include "core/fit/fit.h"

#include <math.h>

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

/* A ranking that is kept while hosts change: the same scores as those of a new one at any time, to the last
 * digit.
 *
 *     r = fit_ranking_new(fit, vm, &live, hosts, n, a);
 *     fit_ranking_renew(r, i, ...);     for each host that has changed, or that is no candidate
 *     fit_ranking_score(r);             then score, buckets and fit_ranking_get() are valid
 *
 * Scales are found over the candidates, so a host that comes or leaves may change all scores. Where it does
 * not, a host costs a few operations; else all hosts cost one addition for each score. */
struct ranking_stage;

struct fit_ranking {
    const struct fit *fit;
    uint32_t vm; /* may be replaced by one of the same class that is counted likewise */
    struct expression_live live;
    const uint32_t *hosts;
    uint32_t n;
    const double **buckets; /* by bucket stage, then host */
    uint32_t n_buckets;
    double *score;   /* by host; FIT_LEFT_OUT: no candidate, or cut */
    bool *candidate; /* by host; at first all are */

    struct ranking_stage *stages;
    uint32_t n_stages;
    const struct pick_facts *shuffle; /* NULL: hosts of equal score are not shuffled */
    bool cuts, scored;
    double *left; /* by host: 0, or UNKNOWN: no candidate, or cut */
    double
        *sorted; /* scratch, by host: the values of a score that ranks, or that an operator over hosts has */
    uint32_t n_sorted;
    uint32_t *changed; /* hosts since the last scoring */
    uint32_t n_changed;
    bool *has_changed; /* by host: it is among them */
};

#define FIT_LEFT_OUT (-INFINITY)

/* An upper bound of the bytes that a new ranking of n hosts takes of its arena. */
size_t fit_ranking_bytes(const struct fit *fit, uint32_t vm, uint32_t n);

/* hosts: stays with the caller, and so does what `live` reads. */
struct fit_ranking *fit_ranking_new(const struct fit *fit, uint32_t vm, const struct expression_live *live,
                                    const uint32_t *hosts, uint32_t n, struct arena *a);

/* Evaluates on the ith host again what moves change. */
void fit_ranking_renew(struct fit_ranking *r, uint32_t i, bool candidate);

void fit_ranking_score(struct fit_ranking *r);

/* What each stage that scores adds on the ith host, and which stages they are; each NULL or with room for all
 * of the VM's stages. Returns how many. Valid as scores are. */
uint32_t fit_ranking_parts(const struct fit_ranking *r, uint32_t i, double *ret, uint32_t *ret_stages);

/* The ith host's place in the order. buckets: room for n_buckets, in which ret's stand. */
void fit_ranking_get(const struct fit_ranking *r, uint32_t i, double *buckets, struct fit_ranked *ret);

/* Lower bucket, higher score, draw; 0: equal. Both ranked for the same VM. */
int fit_rank_compare(const struct fit_ranked *x, const struct fit_ranked *y);

/* The last cut of the VM's pipeline. */
uint32_t fit_rank_cut(const struct fit *fit, uint32_t vm);

/* Of the n best hosts in order, the one that the pipeline's last pick takes. */
uint32_t fit_rank_pick(const struct fit *fit, uint32_t vm, uint32_t n);

#endif
