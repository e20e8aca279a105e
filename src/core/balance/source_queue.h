/* source_queue.h: the slots whose units may have the best move of a step, the highest bound first. Slots come
 * in blocks (bounds.h), which are opened only where their bound reaches that of the first slot. */
#ifndef BALLAST_CORE_SOURCE_QUEUE_H
#define BALLAST_CORE_SOURCE_QUEUE_H

#include "core/balance/bounds.h"

/* A slot, or a block that is not opened yet. */
struct source {
    double bound;
    uint32_t at;    /* slot or block */
    uint32_t level; /* of the block; 0: a slot */
};

struct source_queue {
    struct bounds *b;
    struct source *items; /* a heap: none has a higher bound than the one above it */
    uint32_t n;
    double floor; /* slots with a lower bound are left out */
};

void source_queue_init(struct source_queue *q, struct bounds *b, struct arena *a);

/* Begins with all slots whose bound is at least floor, which is above 0. */
void source_queue_begin(struct source_queue *q, double floor);

/* The slot with the highest bound, if that is at least this; NULL: there is none. Its bound may be lowered by
 * source_queue_sink(). */
struct source *source_queue_first(struct source_queue *q, double least);

/* The second highest bound; at least floor. After source_queue_first(). */
double source_queue_second(struct source_queue *q);

/* Puts the first slot where its lowered bound belongs; or removes it. */
void source_queue_sink(struct source_queue *q);
void source_queue_remove(struct source_queue *q);

#endif
