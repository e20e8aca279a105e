/* events.h: what is due next: a binary heap with one place for each thing that can happen.
 *
 * A thing has a slot of its own and at most one time at which it is due, which can be changed at any moment.
 * Slots are numbered by kind, then index, and things that are due at the same time come in the order of their
 * slots. O(log n) each; nothing is allocated after events_init().
 */
#ifndef BALLAST_SIM_CLUSTER_EVENTS_H
#define BALLAST_SIM_CLUSTER_EVENTS_H

#include <ballast/arena.h>

#include <stdint.h>

struct events {
    double *due;    /* by slot; INFINITY: never */
    uint32_t *heap; /* slots that are due sometime, the next one first */
    uint32_t *at;   /* by slot: where it is in the heap */
    uint32_t n;
};

void events_init(struct events *e, uint32_t n_slots, struct arena *a);

/* due_s INFINITY: not any more. */
void events_set(struct events *e, uint32_t slot, double due_s);

/* When something is due next; INFINITY: never. *ret_slot: what; unchanged if there is nothing. */
double events_next(const struct events *e, uint32_t *ret_slot);

#endif
