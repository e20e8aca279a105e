/* decide.h: passes: when one is due, and what came of the last. */
#ifndef BALLAST_ENGINE_DECIDE_H
#define BALLAST_ENGINE_DECIDE_H

#include "engine/ports.h"

#include <ballast/plan.h>

struct engine;
struct action;
struct observation;

struct passes {
    instant_s next;
    bool again;    /* since the newest inventory, something was learned that the next pass is to begin with */
    uint64_t last; /* the number of the last pass or placement */
    uint64_t decided_id; /* the number of the last pass; placements have numbers between */
    instant_s last_time;
    struct observation *decided; /* what the last pass was made from; NULL: none in this process */
    bool early;                  /* the last pass did not wait for its interval to end */
    unsigned n_hosts_changed;    /* inventories in a row that show other hosts on than it was made from */
    uint64_t n_here;             /* made by this process */
    unsigned n_imbalanced;       /* in a row */
    unsigned held_back;          /* HELD_BACK_* of the last one */
    struct err error;            /* of the newest attempt; code 0: it worked */

    uint64_t runs_wanted, runs_done; /* tickets of engine_run() */
    int run_code;                    /* of the last run */
    struct err run_error;
    uint64_t run_pass;
};

int decide(struct engine *e, const char *trigger, instant_s now, struct err *err);

/* Stores what was decided, with what it was decided from, and all that else is to be stored. On failure the
 * rest is tried again, the record is lost. */
int decide_store(struct engine *e, const struct plan *plan, uint64_t pass, const char *trigger,
                 instant_s now);

/* Answers the runs that wait for this pass, or for its inventory. */
void decide_end_runs(struct engine *e, int code, const struct err *err, uint64_t pass);
/* The newest decision does not hold any more: another pass at once. */
void decide_pass_at_once(struct engine *e, instant_s now);

#endif
