/* destination_scores.h: the highest score of the hosts in each box of the destination index
 * (destination_index.h), for the VMs that share a table of scores (core/fit/frozen.h). With it a search skips
 * boxes whose scores are too low for their gain.
 *
 * Scores do not change in a pass. The highest scores are computed when a unit is first searched, and again
 * after the trees were rebuilt. There are none for units of several VMs, nor for further units once the
 * tables take too much memory: their searches look at each host. */
#ifndef BALLAST_CORE_DESTINATION_SCORES_H
#define BALLAST_CORE_DESTINATION_SCORES_H

#include "core/balance/move_preference.h"

struct destination_index;
struct destination_scores;

/* The scores of a unit, for its search. */
struct unit_scores {
    const double *score; /* by host; NULL: each host is looked at */
    const double *most;  /* by node: the highest score of its hosts */
    double own;          /* the score on the unit's own host */
    double price;        /* gain that a score lower by 1 costs */
};

/* preference NULL: returns NULL. */
struct destination_scores *destination_scores_new(const struct move_preference *preference,
                                                  const struct layout *l, struct arena *a);

struct unit_scores destination_scores_of(const struct destination_index *t, uint32_t unit);

#endif
