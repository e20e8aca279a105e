/* Takes the slots with the highest bounds from blocks of slots. */
#include "core/balance/source_queue.h"

/* A step opens about as many blocks anyway. */
#define FEW_BLOCKS 4

void source_queue_init(struct source_queue *q, struct bounds *b, struct arena *a)
{
    size_t n = 0;

    for (uint32_t level = 0; level <= b->top; level++)
        n += b->n_blocks[level];
    *q = (struct source_queue){.b = b, .items = arena_array(a, struct source, n)};
}

/* Moves an item down to its place in the heap. */
static void sink(struct source_queue *q, uint32_t i)
{
    struct source *items = q->items;
    struct source s = items[i];

    for (uint32_t k = 2 * i + 1; k < q->n; k = 2 * i + 1) {
        k += k + 1 < q->n && items[k + 1].bound > items[k].bound;
        if (items[k].bound <= s.bound)
            break;
        items[i] = items[k];
        i = k;
    }
    items[i] = s;
}

/* Moves the last item up to its place in the heap. */
static void rise(struct source_queue *q)
{
    uint32_t i = q->n - 1;
    struct source s = q->items[i];

    for (; i > 0 && q->items[(i - 1) / 2].bound < s.bound; i = (i - 1) / 2)
        q->items[i] = q->items[(i - 1) / 2];
    q->items[i] = s;
}

/* Appends what a block consists of, in order. rises: the items before it are a heap. */
static void add_parts(struct source_queue *q, uint32_t level, uint32_t block, bool rises)
{
    double bound[BOUNDS_BLOCK];
    uint32_t n = bounds_open_block(q->b, level, block, bound);

    for (uint32_t i = 0; i < n; i++) {
        if (bound[i] < q->floor)
            continue;
        uint32_t part = block * BOUNDS_BLOCK + i;
        q->items[q->n++] = (struct source){bound[i], level == 1 ? q->b->order[part] : part, level - 1};
        if (rises)
            rise(q);
    }
}

/* A block with an unknown bound is opened at once, and so are all blocks where there are few. */
void source_queue_begin(struct source_queue *q, double floor)
{
    uint32_t top = q->b->top;
    bool all = q->b->n_blocks[top] <= FEW_BLOCKS;

    q->n = 0;
    q->floor = floor;
    for (uint32_t k = 0; k < q->b->n_blocks[top]; k++) {
        double bound = bounds_of_block(q->b, top, k);
        if (all || bound == NO_LIMIT)
            add_parts(q, top, k, false);
        else if (bound >= floor)
            q->items[q->n++] = (struct source){bound, k, top};
    }
    for (uint32_t i = q->n / 2; i-- > 0;)
        sink(q, i);
}

/* Replaces the block, which has the highest bound but for those above it, by its parts. */
static void open_block(struct source_queue *q, uint32_t i)
{
    struct source block = q->items[i];

    q->items[i] = q->items[--q->n];
    if (i < q->n)
        sink(q, i);
    add_parts(q, block.level, block.at, true);
}

struct source *source_queue_first(struct source_queue *q, double least)
{
    while (q->n > 0 && q->items[0].bound >= least) {
        if (q->items[0].level == 0)
            return &q->items[0];
        open_block(q, 0);
    }
    return NULL;
}

double source_queue_second(struct source_queue *q)
{
    for (;;) {
        uint32_t i = q->n > 2 && q->items[2].bound > q->items[1].bound ? 2 : 1;
        if (i >= q->n)
            return q->floor;
        if (q->items[i].level == 0)
            return q->items[i].bound; /* at least floor */
        open_block(q, i);
    }
}

void source_queue_sink(struct source_queue *q)
{
    sink(q, 0);
}

void source_queue_remove(struct source_queue *q)
{
    q->items[0] = q->items[--q->n];
    sink(q, 0);
}
