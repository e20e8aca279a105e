/* exchange_room.h: whether hosts can hold units once others have left, and the units of a host by size.
 *
 * The size of a unit is the memory that it is admitted with or, where admission is not checked, the physical
 * memory that it needs. The free memory of two hosts limits the size of a unit that can change places with
 * another one, so that in a full cluster few units have to be tried. */
#ifndef BALLAST_CORE_EXCHANGE_ROOM_H
#define BALLAST_CORE_EXCHANGE_ROOM_H

#include "core/layout/layout.h"

/* Tolerance of sums that just fit and are added in another order; MHz or MiB. */
#define EXCHANGE_ROUNDING 1e-6

/* Amounts that units take of a slot, or give back. */
struct exchange_amounts {
    double reserved[RES_COUNT], mem, phys, backed;
};

/* The amounts of two units together; IX_NONE: no unit. */
struct exchange_amounts exchange_room_of(const struct layout *l, uint32_t x, uint32_t y);

/* Whether the slot can hold the units that it takes once it has given others away. Rules are not checked. */
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

/* Limits of sizes. No unit outside of them fits; a unit within them need not fit. */
struct exchange_sizes {
    double least, most;
};

void exchange_room_init(struct exchange_by_size *r, const struct layout *l);

/* Sorts the units of the slot, if they have changed since the last call. */
void exchange_room_sort(struct exchange_by_size *r, uint32_t slot);

/* The memory that the slot has left, measured as sizes are; below 0: it is overcommitted. */
double exchange_room_left(const struct exchange_by_size *r, uint32_t slot);

/* The sizes of units whose departure from a slot with `left` makes room for a unit of `size`, and that fit
 * into `room`. */
struct exchange_sizes exchange_room_sizes(double size, double left, double room);

/* The units of the slot, which has been sorted, within these sizes. */
struct exchange_units exchange_room_within(const struct exchange_by_size *r, uint32_t slot,
                                           struct exchange_sizes sizes);

#endif
