/* options.h: which units a host has to lose for one more space, or several.
 *
 * An option is a set of units of a slot. It promises a gain: the spaces that the slot has more without them,
 * less those that the units cover themselves wherever they go (a unit of twice the size takes two spaces from
 * any slot that was left with exactly its size). Of each number of units the option of the most gain counts,
 * then the one with the least memory to copy; one of more units must promise more than all of fewer. That is
 * a knapsack for each number of spaces: small, because a space needs few units, and because units that take
 * the same are alike.
 *
 * All sets are looked at that could be better, up to OPTION_TRIALS for each slot; the sets of few and large
 * units come first. */
#ifndef BALLAST_CORE_OPTIONS_H
#define BALLAST_CORE_OPTIONS_H

#include "core/room/spaces.h"

#define OPTION_UNITS_MAX 8
#define OPTION_TRIALS 4000

struct room_option {
    uint32_t units[OPTION_UNITS_MAX]; /* the largest first */
    uint32_t n;                       /* 0: none */
    uint32_t vms;
    uint32_t gain;
    double copied_mb;
};

struct room_options {
    struct room_option of[OPTION_UNITS_MAX]; /* by number of units, less 1 */
};

/* The options of the slot in the layout's present state. stays: by unit; those do not leave, nor do units
 * that are held from balance. trials: what is left of the search; counted down. */
void room_options_find(const struct spaces *s, uint32_t slot, const bool *stays, int64_t *trials,
                       struct room_options *ret, struct arena *scratch);

/* The option that gains most for each VM, of at most so many VMs; of equals the one with the least memory to
 * copy for each space, then the fewest VMs. NULL: none. */
const struct room_option *room_options_best(const struct room_options *o, uint32_t vms_max);

/* Whether x is better than y in that order; y may be NULL. */
bool room_option_is_better(const struct room_option *x, const struct room_option *y);

#endif
