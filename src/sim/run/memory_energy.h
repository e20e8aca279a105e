/* memory_energy.h: what the memory store keeps of the energy account. What is pruned goes on counting in its
 * sum, so that a run of weeks can be compared with what its hosts drew. */
#ifndef BALLAST_SIM_MEMORY_ENERGY_H
#define BALLAST_SIM_MEMORY_ENERGY_H

#include "base/idmap.h"
#include "engine/ports.h"

struct memory_energy {
    struct idmap rows; /* "time\nhost" -> struct energy_record; its own */
    struct energy_record gone;
};

void memory_energy_release(struct memory_energy *m);
void memory_energy_put(struct memory_energy *m, const struct energy_record *r);
void memory_energy_prune(struct memory_energy *m, instant_s before);
/* Those that begin then or later, by time and host. */
void memory_energy_load(const struct memory_energy *m, instant_s since, struct arena *a, struct stored *ret);
/* Of the cluster, since the beginning. */
struct energy_record memory_energy_sum(const struct memory_energy *m);

#endif
