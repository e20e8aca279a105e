/* events.c: the heap of events by time. It does not know what an event means. */
#include "sim/cluster/events.h"

#include <ballast/units.h>

#include <stdbool.h>

void events_init(struct events *e, uint32_t n_slots, struct arena *a)
{
    *e = (struct events){.due = arena_array(a, double, n_slots),
                         .heap = arena_array(a, uint32_t, n_slots),
                         .at = arena_array(a, uint32_t, n_slots)};
    for (uint32_t i = 0; i < n_slots; i++) {
        e->due[i] = INFINITY;
        e->at[i] = IX_NONE;
    }
}

static bool comes_before(const struct events *e, uint32_t x, uint32_t y)
{
    return e->due[x] < e->due[y] || (e->due[x] == e->due[y] && x < y);
}

static void put(struct events *e, uint32_t place, uint32_t slot)
{
    e->heap[place] = slot;
    e->at[slot] = place;
}

static void sift_up(struct events *e, uint32_t place)
{
    uint32_t slot = e->heap[place];

    while (place > 0 && comes_before(e, slot, e->heap[(place - 1) / 2])) {
        put(e, place, e->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(e, place, slot);
}

static void sift_down(struct events *e, uint32_t place)
{
    uint32_t slot = e->heap[place];

    for (;;) {
        uint32_t kid = 2 * place + 1;

        if (kid >= e->n)
            break;
        if (kid + 1 < e->n && comes_before(e, e->heap[kid + 1], e->heap[kid]))
            kid++;
        if (!comes_before(e, e->heap[kid], slot))
            break;
        put(e, place, e->heap[kid]);
        place = kid;
    }
    put(e, place, slot);
}

static void take_out(struct events *e, uint32_t slot)
{
    uint32_t place = e->at[slot];
    uint32_t last = e->heap[--e->n];

    e->at[slot] = IX_NONE;
    if (last == slot)
        return;
    put(e, place, last);
    sift_up(e, place);
    sift_down(e, e->at[last]);
}

void events_set(struct events *e, uint32_t slot, double due_s)
{
    bool was_due = e->at[slot] != IX_NONE;

    e->due[slot] = due_s;
    if (!(due_s < INFINITY)) {
        if (was_due)
            take_out(e, slot);
        return;
    }
    if (!was_due)
        put(e, e->n++, slot);
    sift_up(e, e->at[slot]);
    sift_down(e, e->at[slot]);
}

double events_next(const struct events *e, uint32_t *ret_slot)
{
    if (e->n == 0)
        return INFINITY;
    *ret_slot = e->heap[0];
    return e->due[e->heap[0]];
}
