/* memory_store.h: the engine's store port in memory. It outlives the engine, so that a service that is killed
 * during a run finds its records again.
 *
 * No put can fail, and a simulated service never dies between begin() and commit(), so no transaction is
 * rolled back. Of passes only the number is kept. There is no list(), which only the command line uses. */
#ifndef BALLAST_SIM_MEMORY_STORE_H
#define BALLAST_SIM_MEMORY_STORE_H

#include "engine/ports.h"

#include <ballast/snapshot.h>

extern const struct store_ops memory_store;

/* vms: borrowed, for the ids of samples; samples of other VMs are dropped. keep_samples: false if no restart
 * can follow, the only use of samples. */
struct store *memory_store_new(const struct snapshot *vms, bool keep_samples);
void memory_store_free(struct store *s);

/* Decision time of all passes and placements so far. */
int64_t memory_store_decide_us(const struct store *s);

/* Moves whose hosts were observed ten minutes after their end, so far. */
struct move_counts {
    /* [1]: those that other moves overlapped with. timed: of n, those whose duration is known. */
    uint32_t n[2], as_predicted[2], timed[2], times_as_predicted[2];
    uint32_t harmful; /* of all */
};

struct move_counts memory_store_moves(const struct store *s);

/* The energy account of a host without the hours that were pruned; host "": of the cluster, from the
 * beginning of the run. */
struct energy_record memory_store_energy(const struct store *s, const char *host);

#endif
