/* generators.h: the demand of typical VMs: office, bursty, surge, batch. Inside workload only.
 *
 * Each is a pure function of the workload and the time, as workload_at() is. Events (a burst, a surge, a job)
 * are drawn from event_seed, so that a VM's CPU and memory have them at the same time; the noise around a
 * level is drawn from the workload's own seed, anew every step_s. */
#ifndef BALLAST_SIM_WORKLOAD_GENERATORS_H
#define BALLAST_SIM_WORKLOAD_GENERATORS_H

#include "base/rng.h"
#include "sim/workload/workload.h"

struct workload_value generators_office_at(const struct workload *w, double t);
struct workload_value generators_bursty_at(const struct workload *w, double t);
struct workload_value generators_surge_at(const struct workload *w, double t);
struct workload_value generators_batch_at(const struct workload *w, double t);

/* ---- shared with workload.c ---- */

/* The interval between two multiples of a length, counted from an origin, that contains t. */
struct workload_cell {
    double index;
    double begin, end;
};
struct workload_cell workload_cell_at(double t, double origin, double length);

/* A stream of random numbers for one place (a phase, a step) of one seed, independent of its neighbours. */
struct rng workload_draw(uint64_t seed, uint64_t place);

#endif
