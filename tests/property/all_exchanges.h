/* all_exchanges.h: enumerates the exchanges that core/balance/exchange.h describes. */
#ifndef BALLAST_TESTS_ALL_EXCHANGES_H
#define BALLAST_TESTS_ALL_EXCHANGES_H

#include "core/balance/exchange_order.h"

/* Calls judge(to, ring, wait) for each swap, chain, rotation and two for one of the layout, whether it has
 * room and passes or not. wait: the slot on which a VM waits; IX_NONE. judge() leaves the layout as it is. */
void all_exchanges(const struct layout *l, void (*judge)(void *to, const struct ring *g, uint32_t wait),
                   void *to);

#endif
