/* exchange_rings.h: the part of the search of exchange.h that tries the exchanges of one unit u of a source h
 * and a destination c with all other units, and keeps the best exchange so far. */
#ifndef BALLAST_CORE_EXCHANGE_RINGS_H
#define BALLAST_CORE_EXCHANGE_RINGS_H

#include "core/balance/exchange.h"
#include "core/balance/exchange_gain.h"
#include "core/balance/exchange_order.h"

/* The search of one step, for exchanges of this many migrations. */
struct exchange_rings {
    struct climb *c;
    const struct layout *l;
    const struct move_score *score;
    struct exchange_search *own;
    uint32_t n_sources, n_destinations;
    uint32_t third[2 * EXCHANGE_WINDOW]; /* slots that may be the third of an exchange */
    uint32_t n_third;
    uint64_t trials; /* left of this step */
    uint64_t spared; /* beyond EXCHANGE_TRIALS_BETTER, taken off when the first exchange was found */
    uint32_t migrations;
    double needed; /* an exchange must gain this */
    struct exchange best;
    struct ring best_ring;
};

/* Sets the gain that further exchanges need: that of the best one, but for rounding. */
void exchange_rings_set_needed(struct exchange_rings *s);

static inline bool exchange_rings_may_move(const struct layout *l, uint32_t unit)
{
    return l->unit_held[unit] == CHECK_NONE;
}

/* Counts trials. False: none is left. */
static inline bool exchange_rings_spend(struct exchange_rings *s, uint64_t n)
{
    s->trials -= s->trials < n ? s->trials : n;
    return s->trials > 0;
}

static inline double exchange_rings_size(const struct exchange_rings *s, uint32_t unit)
{
    return s->own->room.size[unit];
}

static inline double exchange_rings_left(const struct exchange_rings *s, uint32_t slot)
{
    return exchange_room_left(&s->own->room, slot);
}

/* The units of c that make room for u when they leave, and that fit into `room`. */
struct exchange_units exchange_rings_making_room(const struct exchange_rings *s, uint32_t c, uint32_t u,
                                                 double room);

/* The state with u on c. */
struct exchange_with_unit {
    struct sums sums;
    double norm_c[RES_COUNT];
};

struct exchange_with_unit exchange_rings_with(const struct exchange_rings *s, uint32_t h, uint32_t c,
                                              uint32_t u);

/* Swaps of u with a unit of c; p: the gain of load that moves from h to c. */
void exchange_rings_swaps(struct exchange_rings *s, const struct parabolas *p, uint32_t h, uint32_t c,
                          uint32_t u);

/* Two units of c change places with one of h, where neither of them alone makes room for it. */
void exchange_rings_two_for_one(struct exchange_rings *s, const struct parabolas *p, uint32_t h, uint32_t c,
                                uint32_t u);

/* Chains: a unit of c makes room by leaving for a third slot; slots: h, c and the third. */
void exchange_rings_chains(struct exchange_rings *s, const struct exchange_with_unit *state,
                           const uint32_t slots[3], uint32_t u);

/* Rotations: a unit of c leaves for x, and a unit of x for h. */
void exchange_rings_rotations(struct exchange_rings *s, uint32_t h, uint32_t c, uint32_t x, uint32_t u);

#endif
