/* demand_slots.h: the slots of a demand profile, as demand_profile.c fills and demand_forecast.c reads them.
 */
#ifndef BALLAST_ENGINE_KNOWLEDGE_DEMAND_SLOTS_H
#define BALLAST_ENGINE_KNOWLEDGE_DEMAND_SLOTS_H

#include "engine/knowledge/demand_profile.h"

#include <math.h>

/* A mean on its way. */
struct tally {
    double sum[RES_COUNT];
    double seen_s;
};

/* What the zone said of a slot. */
struct offset {
    instant_s slot; /* 0: nothing */
    int64_t offset_s;
};

/* The days that are kept, and those to come that anybody asks for. */
#define OFFSETS (2 * DEMAND_SLOTS)

struct demand_profile {
    struct demand_profile_record slots[DEMAND_SLOTS]; /* by number of the slot; time 0: none */
    utc_offset_fn offset;
    void *zone;
    struct offset *offsets; /* by number of the slot; OFFSETS; of its own */
    instant_s oldest;       /* no slot before it is known; 0: none is */
    instant_s looked;       /* last; 0: not yet */
    instant_s open;         /* the slot that is being watched; 0: none */
    struct tally demand, size, part;
    double peak[RES_COUNT];     /* of the open slot */
    double size_now[RES_COUNT]; /* of the last look */
    instant_s unstored_from;    /* the first slot that has ended and is not stored; 0: none */
};

instant_s demand_profile_slot_begin(instant_s at);

/* What the days alike say, whatever came of it on the last of them. Kept beside what comes. */
bool demand_forecast_raw(const struct demand_profile *p, instant_s at, instant_s now, struct expected *ret);

/* NULL: nothing is known of it. */
const struct demand_profile_record *demand_profile_slot_find(const struct demand_profile *p, instant_s begin);

#endif
