/* destination_scores.h: the highest score of the hosts in each box of the index of destinations
 * (destination_index.h), for the VMs that share a table of scores (core/fit/frozen.h). With it a search
 * leaves out boxes whose hosts gain too little for their scores.
 *
 * Scores are the same for the whole pass; the boxes are found when a unit is first searched, and again after
 * the trees were rebuilt. Units of several VMs have none, nor have further units once all take too much
 * memory: their searches look at each host. */
#ifndef BALLAST_CORE_DESTINATION_SCORES_H
#define BALLAST_CORE_DESTINATION_SCORES_H

#include "core/balance/move_preference.h"

struct destination_index;
struct destination_scores;

/* What a search needs of a unit. */
struct unit_scores {
    const double *score; /* by host; NULL: each host is looked at */
    const double *most;  /* by node: the highest score of its hosts */
    double own;          /* the score on the unit's own host */
    double price;        /* of a drop by 1 */
};

/* preference: may be NULL, then the result is. */
struct destination_scores *destination_scores_new(const struct move_preference *preference,
                                                  const struct layout *l, struct arena *a);

struct unit_scores destination_scores_of(const struct destination_index *t, uint32_t unit);

#endif
