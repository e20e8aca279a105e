/* placement.h: VMs that an admin wants powered on, or migrated to the best host. */
#ifndef BALLAST_ENGINE_PLACEMENT_H
#define BALLAST_ENGINE_PLACEMENT_H

#include "engine/observation.h"

struct action;
struct engine;

/* In the order in which they were asked for. */
struct placements {
    struct pending_placement **list;
    size_t n;
    uint64_t last_ticket;
};

/* Some request waits for an inventory. */
bool placement_wait(const struct engine *e);
/* Decides what waited for this inventory. True: something was begun, so nothing else is to be decided from
 * it. */
bool placement_decide(struct engine *e, uint64_t serial, instant_s now);
/* What waits for this inventory, or an earlier one, waits in vain. */
void placement_fail(struct engine *e, uint64_t serial, const struct err *why, instant_s now);
/* Ends requests that have waited for too long, and results that no caller has fetched. */
void placement_expire(struct engine *e, instant_s now);
instant_s placement_wakeup(const struct engine *e); /* when that is due; INT64_MAX: never */
/* A host has refused to start a VM that was asked for: the next best one is asked, three in all. */
void placement_try_elsewhere(struct engine *e, const struct action *refused, instant_s now);
void placement_free(struct placements *p);

/* ---- between placement.c and placement_queue.c ----------------------------------------------- */

/* Waits for an inventory, then holds what was decided until it is fetched. Where only what is under way is in
 * the way it is blocked: tried again with each inventory, and when an action ends one is asked for. */
struct pending_placement {
    uint64_t ticket;
    uint64_t after; /* only an inventory with a higher serial decides it */
    instant_s asked, deadline;
    char **names;
    size_t n_names;
    bool migrates, apply;
    bool elsewhere; /* nobody asked: a host has refused to start the VM */
    char *by;
    bool blocked, aged; /* aged: it has waited for half of its time */
    bool passed_over;   /* those before it took all the time of the last inventory */
    uint64_t released;  /* actions that had ended when it was last tried */
    bool decided;
    instant_s decided_at;
    int code; /* of the decision; < 0: error says why there is none */
    struct err error;
    struct observation *decided_from; /* what follows is of it */
    struct arena arena;
    struct plan plan;    /* blocked: of the cluster without what is under way */
    struct placement is; /* but its plan */
    double mem_mb;       /* of the VMs */
};

/* Whether it can only go on with another inventory. */
bool placement_queue_wants_inventory(const struct engine *e, const struct pending_placement *p);
/* For qsort() of pointers to planned requests: aged ones as they were asked for; then those with the most
 * hosts left, then the smallest ("VM requests with less constraints and resources, higher priority", oVirt).
 */
int placement_queue_order(const void *a, const void *b);
/* Begins anew with the newest inventory: its snapshot, with the starts of blocked requests that are aged, so
 * that younger ones do not take their room for ever. */
const struct snapshot *placement_queue_begin(const struct engine *e, struct pending_placement *p);
/* Adds what the plan recommends, or its starts alone, to what is pending. */
void placement_queue_add(struct snapshot *s, const struct plan *plan, bool only_starts, struct arena *a);
/* -ETIMEDOUT, and in its error what or whom it has waited for. */
int placement_queue_explain(const struct engine *e, struct pending_placement *p, instant_s now);

#endif
