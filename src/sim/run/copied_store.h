/* copied_store.h: a store in memory whose records another store gets too, so that a run leaves what a service
 * leaves on a disk: for tests of what reads that. */
#ifndef BALLAST_SIM_COPIED_STORE_H
#define BALLAST_SIM_COPIED_STORE_H

#include "engine/ports.h"

/* What gets the records. */
struct store_copy {
    const struct store_ops *ops;
    struct store *store;
    uint32_t passes_kept; /* with their snapshots */
};

extern const struct store_ops copied_store;

/* memory: a memory_store, which is read; both are borrowed. An error of the copy is the put's. */
struct store *copied_store_new(struct store *memory, const struct store_copy *copy);
void copied_store_free(struct store *s);

#endif
