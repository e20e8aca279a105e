/* failover_internal.h: what the files of failover capacity share. */
#ifndef BALLAST_CORE_SPARE_PARTS_H
#define BALLAST_CORE_SPARE_PARTS_H

#include "core/layout/failover_capacity.h"
#include "core/layout/layout.h"

/* Sums that just fit, added in another order. */
#define ROUNDING 1e-6

static inline double spare_capacity_of(const struct spare *s, enum resource r, uint32_t slot)
{
    return s->capacity[r][slot];
}

static inline double spare_need_of(const struct spare *s, uint32_t vm, int r)
{
    return s->l->snap->vms[vm].is.alloc[r].reservation;
}

/* What the loss needs of the slot; NULL: nothing. */
struct kept *spare_find_kept(const struct spare *s, uint32_t lost, uint32_t slot);

/* Whether the slot could ever take something over from `lost`. */
bool spare_is_refuge(const struct spare *s, uint32_t lost, uint32_t slot, const uint64_t *allowed);

/* By how much more the slot would have to keep, were this needed of it on top of what is used there already.
 */
double spare_raise_of(const struct spare *s, int r, uint32_t slot, double used, double need);

/* The VM's place for this loss is there. */
void spare_keep_place(struct spare *s, uint32_t vm, uint32_t lost, uint32_t slot);

/* Sums up anew what is kept there. */
void spare_refresh(struct spare *s, uint32_t slot);

/* Whether the gap is a spare VM's, and there is room where that is said to be. */
bool spare_fits_at_home(const struct spare *s, const struct spare_gap *gap);

/* The same, added if there is none. */
struct kept *spare_add_kept(struct spare *s, uint32_t lost, uint32_t slot);

bool spare_reserves(const struct spare *s, uint32_t vm);

/* The slot that has to keep least more, then the one with most left; or, if any will do, the first that there
 * is. IX_NONE: none. What the loss uses of each slot already stands in s->use. */
uint32_t spare_find_refuge(const struct spare *s, uint32_t lost, const uint64_t *allowed,
                           const double need[RES_COUNT], uint32_t n_slots, bool any);

/* ---- failover_slots.c ---- */

void spare_add_gap(struct spare *s, uint32_t vm, uint32_t lost, const double need[RES_COUNT]);

/* Whether no other host, one that sleeps included, could ever run it. */
bool spare_is_bound_to(const struct spare *s, const uint64_t *allowed, uint32_t slot);

/* Spare VMs, then the VMs of each host that may be lost. */
void spare_place_vms(struct spare *s);
void spare_plan_losses(struct spare *s);

/* ---- failover_undo.c: while a trial is on, whatever spare_follow() is about to change is noted first;
 * spare_undo() puts it back, the last first. A copy of everything would take longer than most searches. ----
 */

enum note_kind {
    NOTE_ROOM,    /* room and peak of a slot */
    NOTE_USED,    /* of[slot].items[ix].used */
    NOTE_KEPT,    /* an entry is added to of[slot] */
    NOTE_KEEPERS, /* an entry is added to at[slot] */
    NOTE_PLACE,   /* place_of[slot], a VM */
};

struct spare_note {
    enum note_kind kind;
    uint32_t slot, ix;
    double was[RES_COUNT], peak[RES_COUNT];
};

/* ix: of an entry, for NOTE_USED. Does nothing while no trial is on. */
void spare_note(struct spare *s, enum note_kind kind, uint32_t slot, uint32_t ix);

#endif
