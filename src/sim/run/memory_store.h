/* memory_store.h: the engine's store port in memory. It outlives the engine, so that a service that is killed
 * within a run finds what it had stored.
 *
 * Nothing that is put can fail, so no transaction is ever rolled back; and nothing can be interrupted between
 * begin() and commit(), because a simulated service dies between two of its calls and not within one. Of
 * passes only the number is kept. There is no list(), which only serves people.
 */
#ifndef BALLAST_SIM_MEMORY_STORE_H
#define BALLAST_SIM_MEMORY_STORE_H

#include "engine/ports.h"

#include <ballast/snapshot.h>

extern const struct store_ops memory_store;

/* vms: borrowed, for the ids of samples; those of other VMs are not kept. keep_samples: false where nobody
 * will ever restart, which is all that samples are for. */
struct store *memory_store_new(const struct snapshot *vms, bool keep_samples);
void memory_store_free(struct store *s);

/* Time that deciding took, of all passes and placements that were stored so far. */
int64_t memory_store_decide_us(const struct store *s);

/* The energy account of the cluster, since the beginning. */
struct energy_record memory_store_energy(const struct store *s);

#endif
