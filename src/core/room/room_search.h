/* room_search.h: moves that make room for VMs of a given size (policy.room): the most spaces (spaces.h) for a
 * number of moved VMs, then the least memory to copy.
 *
 * One move at a time is trapped: a space often needs two VMs to leave, and the first of them gains nothing.
 * So the moves are searched in sets: the option (options.h) that gains most for each moved VM is taken, and
 * each of its units goes where it takes no space: first to hosts that cannot have one more space themselves
 * by losing few units, then where it fits best. Then the search removes some sets at random and goes on from
 * there, and keeps what is better (README.md).
 *
 * Guarantees, checked by tests/property/room_moves.c:
 *   - each move passes layout_check() in the state that the moves before it leave: the moves can be made one
 * by one, in this order; its destination keeps its headroom;
 *   - a unit moves once, and none that is held from balance;
 *   - all moves together raise the spaces, and so does each set after the sets before it;
 *   - the imbalance after no move is above `imbalance_max`;
 *   - the same layout, question and seed give the same moves. */
#ifndef BALLAST_CORE_ROOM_SEARCH_H
#define BALLAST_CORE_ROOM_SEARCH_H

#include "core/room/spaces.h"

struct room_question {
    uint32_t vms_max;     /* VMs that may move */
    uint64_t enough;      /* spaces; no set is added once there are so many */
    double imbalance_max; /* NO_LIMIT: any */
};

struct room_move {
    uint32_t unit, to_slot;
    uint32_t set;      /* 1, 2, ...: moves that make spaces together, beside each other */
    uint32_t for_slot; /* where the spaces of the set are made: the slot that all its units leave */
    uint32_t gain;     /* spaces that the set makes, less those that it takes elsewhere */
};

struct room_moves {
    struct room_move *items;
    uint32_t n;
    uint64_t before, after; /* spaces of all slots */
    bool vms_short;         /* with more VMs that may move there might be more */
    uint64_t evaluated;     /* of policy.search_budget */
};

/* Searches; the layout is the same afterwards. The policy must give a size (spaces_init()). */
void room_search(struct layout *l, const struct room_question *q, struct arena *a, struct room_moves *ret);

#endif
