/* failover_internal.h: what the files of failover capacity share. */
#ifndef BALLAST_CORE_FAILOVER_INTERNAL_H
#define BALLAST_CORE_FAILOVER_INTERNAL_H

#include "core/layout/failover_capacity.h"
#include "core/layout/layout.h"

/* Sums that just fit, added in another order. */
#define ROUNDING 1e-6

static inline double failover_capacity_of_slot(const struct failover_capacity *s, enum resource r,
                                               uint32_t slot)
{
    return s->capacity[r][slot];
}

static inline double failover_capacity_need_of(const struct failover_capacity *s, uint32_t vm, int r)
{
    return s->l->snap->vms[vm].is.alloc[r].reservation;
}

/* What is reserved on the slot for the loss; NULL: nothing. */
struct failover_reserved *failover_capacity_find_reserved(const struct failover_capacity *s, uint32_t lost,
                                                          uint32_t slot);

/* Whether the slot could ever hold something for `lost`. */
bool failover_capacity_is_candidate(const struct failover_capacity *s, uint32_t lost, uint32_t slot,
                                    const uint64_t *allowed);

/* By how much more would have to be reserved on the slot, were this needed on top of what is used there
 * already. */
double failover_capacity_raise_of(const struct failover_capacity *s, int r, uint32_t slot, double used,
                                  double need);

/* Reserves the VM's failover slot for this loss there. */
void failover_slot_reserve(struct failover_capacity *s, uint32_t vm, uint32_t lost, uint32_t slot);

/* Sums up anew what is reserved there. */
void failover_capacity_refresh(struct failover_capacity *s, uint32_t slot);

/* Whether the gap is a spare VM's, and the host that the snapshot gives for that VM has room. */
bool failover_gap_fits_at_home(const struct failover_capacity *s, const struct failover_gap *gap);

/* What is reserved on the slot for the loss, added if there is nothing. */
struct failover_reserved *failover_capacity_add_reserved(struct failover_capacity *s, uint32_t lost,
                                                         uint32_t slot);

/* Whether it reserves something: only such VMs have a failover slot. */
bool failover_capacity_protects(const struct failover_capacity *s, uint32_t vm);

/* The slot where least more has to be reserved, then the one with most left; or, if any will do, the first
 * that there is. IX_NONE: none. What the loss uses of each slot already stands in s->use. */
uint32_t failover_capacity_find_candidate(const struct failover_capacity *s, uint32_t lost,
                                          const uint64_t *allowed, const double need[RES_COUNT],
                                          uint32_t n_slots, bool any);

/* ---- failover_slots.c ---- */

/* Adds a gap: there is no failover slot for the VM. */
void failover_slot_missing(struct failover_capacity *s, uint32_t vm, uint32_t lost,
                           const double need[RES_COUNT]);

/* Whether no other host, one in standby included, could ever run it. */
bool failover_slot_is_bound(const struct failover_capacity *s, const uint64_t *allowed, uint32_t slot);

/* Spare VMs, then the VMs of each host that may be lost. */
void failover_slots_for_spare_vms(struct failover_capacity *s);
void failover_slots_for_losses(struct failover_capacity *s);

/* ---- failover_undo.c: after failover_undo_begin() whatever failover_capacity_follow() is about to change is
 * noted first; failover_undo() puts it back, the last first. A copy of everything would take longer than most
 * searches.
 */

enum failover_note_kind {
    NOTE_AMOUNT,   /* what is reserved on a slot, and its peak */
    NOTE_USED,     /* by_lost[slot].items[ix].used */
    NOTE_RESERVED, /* an entry is added to by_lost[slot] */
    NOTE_HOLDERS,  /* an entry is added to by_holder[slot] */
    NOTE_SLOT,     /* slot_of[slot], a VM */
};

struct failover_note {
    enum failover_note_kind kind;
    uint32_t slot, ix;
    double was[RES_COUNT], peak[RES_COUNT];
};

/* ix: of an entry, for NOTE_USED. Does nothing unless failover_undo_begin() was called. */
void failover_undo_note(struct failover_capacity *s, enum failover_note_kind kind, uint32_t slot,
                        uint32_t ix);

#endif
