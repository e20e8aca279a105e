/* failover_internal.h: what the files of failover capacity share. */
#ifndef BALLAST_CORE_FAILOVER_INTERNAL_H
#define BALLAST_CORE_FAILOVER_INTERNAL_H

#include "core/layout/failover_capacity.h"
#include "core/layout/layout.h"

/* Two sums of the same numbers may differ by this much, because their order of addition differs. */
#define ROUNDING 1e-6

static inline double failover_capacity_of_slot(const struct failover_capacity *s, enum resource r,
                                               uint32_t slot)
{
    return s->capacity[r][slot];
}

static inline double failover_capacity_need_of(const struct failover_capacity *s, uint32_t vm, int r)
{
    const struct vm_facts *v = &s->l->snap->vms[vm].is;
    const struct failover_promise *p = &s->l->snap->promise;

    if (v->restart_priority == RESTART_DISABLED && v->kind != VM_SPARE)
        return p->by_source ? v->alloc[r].reservation : 0;
    return p->by_admission && r == RES_MEM ? layout_mem_admitted(s->l->policy, v) : v->alloc[r].reservation;
}

/* The slot's reservation for the loss; NULL: none. */
struct failover_reserved *failover_capacity_find_reserved(const struct failover_capacity *s, uint32_t lost,
                                                          uint32_t slot);

/* Whether the slot's host is on and kept empty for failures: it holds failover slots, too, where a policy
 * asks for slots beside one of dedicated hosts. */
static inline bool failover_capacity_is_dedicated(const struct failover_capacity *s, uint32_t slot)
{
    const struct host *h = &s->l->snap->hosts[s->l->slot_host[slot]];

    return h->failover && h->is.state == HOST_ON && !host_is_avoided(h);
}

/* Whether the slot could ever be the holder of a VM of `lost`. */
bool failover_capacity_is_candidate(const struct failover_capacity *s, uint32_t lost, uint32_t slot,
                                    const uint64_t *allowed);

/* The growth of the slot's failover reservation if the loss needs this much beside what it already uses
 * there. */
double failover_capacity_raise_of(const struct failover_capacity *s, int r, uint32_t slot, double used,
                                  double need);

/* Makes the slot the VM's holder for this loss. */
void failover_slot_reserve(struct failover_capacity *s, uint32_t vm, uint32_t lost, uint32_t slot);

/* Recomputes the slot's failover reservation. */
void failover_capacity_refresh(struct failover_capacity *s, uint32_t slot);

/* Whether the gap is that of a spare VM whose snapshot host has the capacity. */
bool failover_gap_fits_at_home(const struct failover_capacity *s, const struct failover_gap *gap);

/* The slot's reservation for the loss; adds an empty one if there is none. */
struct failover_reserved *failover_capacity_add_reserved(struct failover_capacity *s, uint32_t lost,
                                                         uint32_t slot);

/* Whether the VM has a reservation: only such VMs have failover slots. */
bool failover_capacity_protects(const struct failover_capacity *s, uint32_t vm);

/* The candidate whose failover reservation grows least, then the one with most free capacity, a distrusted
 * host last; any: the first candidate. IX_NONE: none. s->use must hold what the loss uses of each slot. */
struct failover_subject {
    uint32_t vm;   /* of a loss that was begun (failover_live_begin()) */
    uint32_t unit; /* IX_NONE, or instead: a unit that moves now */
};
uint32_t failover_capacity_find_candidate(const struct failover_capacity *s, uint32_t lost,
                                          const struct failover_subject *who, const uint64_t *allowed,
                                          const double need[RES_COUNT], uint32_t n_slots, bool any);

/* ---- failover_live.c ---- */

void failover_live_init(struct failover_capacity *s);

/* Begins a loss: the VMs of the lost hosts give their counts back. only: this VM of the lost host; IX_NONE:
 * all its VMs, and those of the other hosts that count as lost. failover_live_end() undoes that and all
 * counts taken since. */
void failover_live_begin(struct failover_capacity *s, uint32_t lost, uint32_t only);
void failover_live_end(struct failover_capacity *s);

/* Whether the slot has the cells, devices and counts that the VM needs; the second function takes them. */
bool failover_live_fits(const struct failover_capacity *s, uint32_t vm, uint32_t slot);
void failover_live_take(struct failover_capacity *s, uint32_t vm, uint32_t slot, bool for_good);

/* Whether the slot has them for a unit in the present layout, which may have changed since
 * failover_live_init(). */
bool failover_live_has_now(const struct failover_capacity *s, uint32_t unit, uint32_t slot);

/* ---- failover_slots.c ---- */

/* Adds a gap. */
void failover_slot_missing(struct failover_capacity *s, uint32_t vm, uint32_t lost,
                           const double need[RES_COUNT]);

/* Whether no other host, hosts in standby included, could ever run the VM. */
bool failover_slot_is_bound(const struct failover_capacity *s, const uint64_t *allowed, uint32_t slot);

/* Failover slots for spare VMs, and for the VMs of each host that may fail. */
void failover_slots_for_spare_vms(struct failover_capacity *s);
void failover_slots_for_losses(struct failover_capacity *s);

/* ---- failover_undo.c: failover_undo_begin() makes failover_capacity_follow() note what it changes;
 * failover_undo() restores that in reverse order. A copy of everything would take longer than most searches.
 * ---- */

enum failover_note_kind {
    NOTE_AMOUNT,   /* the failover reservation of a slot, and its peak */
    NOTE_USED,     /* by_lost[slot].items[ix].used */
    NOTE_RESERVED, /* an entry was added to by_lost[slot] */
    NOTE_HOLDERS,  /* an entry was added to by_holder[slot] */
    NOTE_SLOT,     /* slot_of[slot], a VM */
};

struct failover_note {
    enum failover_note_kind kind;
    uint32_t slot, ix;
    double was[RES_COUNT], peak[RES_COUNT];
};

/* ix: the entry, for NOTE_USED. Does nothing without failover_undo_begin(). */
void failover_undo_note(struct failover_capacity *s, enum failover_note_kind kind, uint32_t slot,
                        uint32_t ix);

#endif
