/* exchange_order.h: puts the units of an exchange in an order in which each step is safe, and judges it. */
#ifndef BALLAST_CORE_EXCHANGE_ORDER_H
#define BALLAST_CORE_EXCHANGE_ORDER_H

#include "core/balance/exchange.h"

#define RING_MAX 3

/* unit[i] moves from slot[i] to slot[i + 1]. A chain ends at another slot than its first, a ring at the same.
 * two_for_one: unit[1] and unit[2] both move from slot[1] to slot[0]. */
struct ring {
    uint32_t n;
    uint32_t unit[RING_MAX], slot[RING_MAX + 1];
    bool two_for_one;
};

static inline uint32_t ring_to(const struct ring *g, uint32_t i)
{
    return g->slot[g->two_for_one && i > 0 ? 0 : i + 1];
}

/* What a failed check of a single move says about an exchange. */
enum exchange_room {
    EXCHANGE_ROOM_THERE,   /* no check failed */
    EXCHANGE_ROOM_MISSING, /* other units could leave, so that there is room */
    EXCHANGE_ROOM_NO_HELP, /* it fails whatever the other units do */
};

enum exchange_room exchange_order_room(enum check check);

/* The first order in which every step passes its checks in the state that the steps before it leave, and in
 * which the exchange is worth its cost. Begins with unit[0] if it can, so that the host is relieved first.
 * wait: the slot on which one unit waits; IX_NONE: each unit moves once. Fills ret->steps and ret->worth.
 * The layout is the same afterwards. */
bool exchange_order_find(struct climb *c, const struct ring *g, uint32_t wait, struct exchange *ret);

/* Whether x->steps pass all checks in this order, and gain enough. Fills x->gain and x->worth. */
bool exchange_order_passes(struct climb *c, struct exchange *x);

#endif
