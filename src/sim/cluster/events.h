/* events.h: the next event: a binary heap with one slot for each possible event.
 *
 * An event has a slot of its own and at most one due time, which can change at any moment. Slots are
 * numbered by kind, then index; events of the same time come in the order of their slots. O(log n) each;
 * no allocation after events_init().
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

/* due_s INFINITY: removes the event. */
void events_set(struct events *e, uint32_t slot, double due_s);

/* The time of the next event; INFINITY: none. *ret_slot: its slot; unchanged if there is none. */
double events_next(const struct events *e, uint32_t *ret_slot);

#endif
