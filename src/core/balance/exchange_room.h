/* exchange_room.h: what hosts can hold once units have left them, and the units that it leaves to be tried.
 *
 * The units of a host are sorted by size: the memory that they are admitted with; where that is not checked,
 * the physical memory that they need. A unit that is to change places with another one has a size within
 * limits that the free memory of both hosts sets, so that in a full cluster few are left. */
#ifndef BALLAST_CORE_EXCHANGE_ROOM_H
#define BALLAST_CORE_EXCHANGE_ROOM_H

#include "core/layout/layout.h"

/* Sums that just fit, added in another order; MHz or MiB. */
#define EXCHANGE_ROUNDING 1e-6

/* What units take of a slot, or give it back. */
struct exchange_amounts {
    double reserved[RES_COUNT], mem, phys, backed;
};

/* Of two units; IX_NONE: of one, or none. */
struct exchange_amounts exchange_room_of(const struct layout *l, uint32_t x, uint32_t y);

/* Whether the slot can hold what it takes once it has given the others. Rules are left aside. */
bool exchange_room_holds_amounts(const struct layout *l, uint32_t slot, const struct exchange_amounts *takes,
                                 const struct exchange_amounts *gives);
bool exchange_room_holds(const struct layout *l, uint32_t slot, uint32_t takes, uint32_t gives);

/* A unit by its size. */
struct exchange_unit {
    double size;
    uint32_t unit;
};

struct exchange_sorted {
    uint32_t n, cap;
    uint32_t *of;                /* the list of the slot when it was sorted */
    struct exchange_unit *units; /* the smallest first */
};

struct exchange_by_size {
    const struct layout *l;
    const double *size;             /* by unit */
    const double *free;             /* by slot: of the physical memory; NULL: mem_limit less mem_taken */
    struct exchange_sorted *sorted; /* by slot that is on */
};

/* Units of a slot, the smallest first. */
struct exchange_units {
    const struct exchange_unit *units;
    uint32_t n;
};

/* Sizes of units. Nothing outside of them fits; what is within may fail all the same. */
struct exchange_sizes {
    double least, most;
};

void exchange_room_init(struct exchange_by_size *r, const struct layout *l);

/* Sorts the units of the slot again, if they are others than the last time. */
void exchange_room_sort(struct exchange_by_size *r, uint32_t slot);

/* What the slot has left, as sizes are measured; below 0: more is taken than it has. */
double exchange_room_left(const struct exchange_by_size *r, uint32_t slot);

/* The sizes of units that must leave a slot with this much left so that one of this size has room, and that
 * fit into as much as `room`. */
struct exchange_sizes exchange_room_sizes(double size, double left, double room);

/* The units of the slot, which has been sorted, within these sizes. */
struct exchange_units exchange_room_within(const struct exchange_by_size *r, uint32_t slot,
                                           struct exchange_sizes sizes);

#endif
