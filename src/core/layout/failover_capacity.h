/* failover_capacity.h: room that is reserved for restarts after a failure (§3.3.2).
 *
 * High availability restarts the VMs of a lost host on other hosts, and promises no more than they reserve.
 * So for each host that could be lost, each of its VMs that reserves something has a failover slot: room on
 * another host (the holder), in one piece, that the reservations of other VMs may not take. Hosts are lost
 * one at a time (but for the others that the policy counts on), so the holder's room for one loss serves for
 * another too.
 *
 *   host_failures N: all VMs of the host, together with those of the N - 1 others that have most reserved;
 *   percent:         each VM of the host by itself; and the sum of all reservations leaves that share free;
 *   dedicated:       nothing: the failover hosts are the room, and run no VMs (host.failover);
 *   spare VMs:       whatever the policy, each in the snapshot has a failover slot as if it ran.
 *
 * Promise (tests/property/failover_capacity.c): when nothing is missing at the beginning, then at every
 * moment of any order of a plan's moves that depends_on allows, each VM of a lost host still has its failover
 * slot. What is missing at the beginning is a gap, which plan/failover_moves.c tries to close.
 */
#ifndef BALLAST_CORE_FAILOVER_CAPACITY_H
#define BALLAST_CORE_FAILOVER_CAPACITY_H

#include <ballast/arena.h>
#include <ballast/snapshot.h>

struct layout;

/* What the loss of one host needs on another. */
struct failover_reserved {
    uint32_t slot;
    double used[RES_COUNT];
};

struct failover_reserved_list {
    struct failover_reserved *items;
    uint32_t n;
    size_t cap;
};

/* The other way round: the entry of `lost` that is about this holder. */
struct failover_holder {
    uint32_t lost, entry; /* by_lost[lost].items[entry] */
};

struct failover_holder_list {
    struct failover_holder *items;
    uint32_t n;
    size_t cap;
};

struct failover_gap {
    uint32_t vm;   /* IX_NONE: there are too few hosts to lose one */
    uint32_t lost; /* slot; IX_NONE: it is a spare VM */
    double need[RES_COUNT];
    bool closed;   /* it has a failover slot now, or will have */
    bool hopeless; /* its VM may run on the lost host only: reported, but not counted as open */
};

struct failover_capacity {
    const struct layout *l;
    struct arena *a;
    bool active;                      /* otherwise nothing is reserved */
    bool singly;                      /* percent: VM by VM */
    double *capacity[RES_COUNT];      /* by slot */
    double inverse_least[RES_COUNT];  /* 1 / capacity of the largest */
    double *reserved[RES_COUNT];      /* by slot: for failures */
    double *for_spare_vms[RES_COUNT]; /* of it, for spare VMs */
    double *least[RES_COUNT]; /* of it, what stays reserved for failover slots found earlier; or NULL */
    double *peak[RES_COUNT];  /* Σ reservations at the beginning and of all arrivals since */
    struct failover_reserved_list *by_lost; /* by slot that may be lost, a woken one too */
    struct failover_holder_list *by_holder; /* by slot that holds something */
    uint32_t *slot_of;                      /* by VM: the holder, should its own host be lost; IX_NONE */
    bool *counted_on;                       /* by slot: one of the N - 1 others */
    bool *over; /* by slot: more was reserved there at the beginning than it has */
    struct failover_gap *gaps;
    uint32_t n_gaps, n_open;
    bool had_gaps; /* at the beginning */
    bool unsaid;   /* a gap has come that is hopeless, and was not reported yet */
    size_t cap_gaps;
    double *use[RES_COUNT];      /* scratch: by slot, while one loss is looked at */
    struct failover_note *notes; /* what failover_undo() puts back (failover_internal.h) */
    size_t n_notes, cap_notes;
    bool trying;
};

/* The layout's slots and units are complete. */
void failover_capacity_init(struct failover_capacity *s, const struct layout *l, struct arena *a);

/* Finds all failover slots anew, in the layout as it is now, woken hosts included. Where something was
 * missing at the beginning, moves are not rejected for want of a failover slot: VMs that they leave without
 * one are found here. */
void failover_capacity_renew(struct failover_capacity *s);

/* The same beside the failover slots that were found before: what is reserved for those stays reserved, and
 * everything that was ever taken to be on a slot counts. The arrays of *s as they were are left alone, so
 * that a copy of *s that was made before brings them back. For hosts that are being emptied: what they held
 * needs another holder. */
void failover_capacity_renew_beside(struct failover_capacity *s);

/* Whether the unit may come to this slot as far as failures are concerned: what is reserved there stays free,
 * and its VMs have a failover slot elsewhere should this host be lost. Asked of units that reserve something.
 */
bool failover_capacity_admits(const struct failover_capacity *s, uint32_t unit, uint32_t to_slot);

/* The first half of that: whether what the unit reserves and what is reserved on the slot for failures are
 * more than it has. If so, of which resource, and how much is reserved for failures; both may be NULL. */
bool failover_capacity_blocks(const struct failover_capacity *s, uint32_t unit, uint32_t to_slot,
                              enum resource *ret_r, double *ret_reserved);

/* Follows a decision, before layout_move(). */
void failover_capacity_follow(struct failover_capacity *s, uint32_t unit, uint32_t to_slot);

/* What is followed from here on is noted, until failover_undo() puts it back. One at a time. */
void failover_undo_begin(struct failover_capacity *s);
void failover_undo(struct failover_capacity *s);

/* Reserves a failover slot for the gap's VM if there is room now that VMs have been moved away, and closes
 * it. */
bool failover_gap_close(struct failover_capacity *s, struct failover_gap *gap);

/* Closes a gap for which nothing has to be reserved. */
void failover_gap_dismiss(struct failover_capacity *s, struct failover_gap *gap);

/* What the gap needs of this slot beyond what is reserved there already, and what the slot has left for it.
 * False: the slot is no candidate. */
bool failover_gap_measure(const struct failover_capacity *s, const struct failover_gap *gap, uint32_t slot,
                          double ret_more[RES_COUNT], double ret_left[RES_COUNT]);

/* percent: by how much the reservations exceed what may be reserved, with `more` on top; <= 0: they do not.
 */
double failover_gap_excess(const struct failover_capacity *s, enum resource r, double more);

#endif
