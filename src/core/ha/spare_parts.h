/* spare_parts.h: what spare.c and gaps.c share; for nobody else. */
#ifndef BALLAST_CORE_SPARE_PARTS_H
#define BALLAST_CORE_SPARE_PARTS_H

#include "core/ha/spare.h"
#include "core/layout/layout.h"

static inline double spare_capacity_of(const struct spare *s, enum resource r, uint32_t slot)
{
    return s->capacity[r][slot];
}

static inline double spare_need_of(const struct spare *s, uint32_t vm, int r)
{
    return s->l->snap->vms[vm].is.alloc[r].reservation;
}

/* What the loss of `lost` needs of the slot; NULL: nothing. */
struct kept *spare_find_kept(const struct spare *s, uint32_t lost, uint32_t slot);

/* Whether the slot could ever take something over from `lost`. */
bool spare_is_refuge(const struct spare *s, uint32_t lost, uint32_t slot, const uint64_t *allowed);

/* By how much more the slot would have to keep, were this needed of it on top of what is used there already.
 */
double spare_raise_of(const struct spare *s, int r, uint32_t slot, double used, double need);

/* The VM's place for the loss of `lost` is on this slot from now on. */
void spare_keep_place(struct spare *s, uint32_t vm, uint32_t lost, uint32_t slot);

/* What the slot keeps, summed up anew. */
void spare_refresh(struct spare *s, uint32_t slot);

/* gaps.c: whether a spare VM fits where it is said to be. */
bool spare_fits_at_home(const struct spare *s, const struct spare_gap *gap);

#endif
