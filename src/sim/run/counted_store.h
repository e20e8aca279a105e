/* counted_store.h: the service's store (store/sqlite.h) in a simulated run. It outlives the engine, so that a
 * service that is killed finds its records again, and it counts what the run's metrics say. Its name is the
 * same in each run, and so are the uids of actions.
 *
 * No put fails: there is no disk, and a simulated service never dies between begin() and commit(). */
#ifndef BALLAST_SIM_COUNTED_STORE_H
#define BALLAST_SIM_COUNTED_STORE_H

#include "engine/ports.h"

/* Energy is never pruned: QUERY_ENERGY and QUERY_HOST_ENERGY have all of the run. */
extern const struct store_ops counted_store;

/* of: an empty store, borrowed. NULL: one in memory, without samples. */
int counted_store_open(struct store *of, struct store **ret, struct err *err);

/* Samples of earlier times are left out, in a store in memory: only a restart reads them. */
void counted_store_skip_samples(struct store *s, instant_s before);

/* NULL is fine. */
void counted_store_close(struct store *s);

/* Moves whose hosts were observed ten minutes after their end. */
struct move_counts {
    /* [1]: those that other moves overlapped with. timed: of n, those whose duration is known. */
    uint32_t n[2], as_predicted[2], timed[2], times_as_predicted[2];
    uint32_t harmful; /* of all */
};

/* What was stored so far. */
struct store_counts {
    int64_t decide_us; /* decision time of all passes and placements */
    struct move_counts moves;
    struct energy_record energy; /* of the cluster */
};

/* Errors as of store_ops. */
int counted_store_get(struct store *s, struct store_counts *ret, struct err *err);

#endif
