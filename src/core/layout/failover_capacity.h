/* failover_capacity.h: capacity that is reserved for restarts after a host failure (§3.3.2).
 *
 * High availability restarts the VMs of a lost host on other hosts and guarantees their reservations. So for
 * each host that may fail, each of its VMs with a reservation has a failover slot: capacity in one piece on
 * another host, its holder, that other VMs' reservations may not use. Hosts fail one at a time (host_failures
 * N: N at a time), so a holder uses the same capacity for several losses.
 *
 *   host_failures N: all VMs of the host, and of the N - 1 other hosts with the largest reservations;
 *   percent:         each VM of the host by itself; and that share of all capacity stays unreserved;
 *   dedicated:       nothing: failover hosts run no VMs (host.failover);
 *   spare VMs:       under every policy, each spare VM of the snapshot has a failover slot.
 *
 * The configuration's policy keeps more than reservations, which VMs of many hypervisors do not have: for
 * each VM the memory that policy.mem_admission asks of its destination (promise.by_admission). Failover slots
 * of VMs with a higher restart priority are found first; a VM with the priority `disabled` has none of that
 * policy.
 *
 * When a failover slot is found, its holder also has the NUMA cells, the devices and the counts of pipelines
 * that the VM needs, beside those of the other VMs of the loss. They are not reserved: a later move may take
 * them. plan/failover_after.c holds back a move for balance that leaves a gap in this way; a gap that a
 * mandatory move leaves is a fault (tests/property/failover_cells.c). The search is greedy: it may miss an
 * arrangement.
 *
 * Invariant of reservations (tests/property/failover_capacity.c): if the pass starts without a gap, each VM
 * of a lost host has its failover slot at every moment of any order of the plan's moves that depends_on
 * allows, unless maintenance had to take failover capacity (plan/evacuate.c). A gap is a VM without a
 * failover slot; plan/failover_moves.c tries to close it. */
#ifndef BALLAST_CORE_FAILOVER_CAPACITY_H
#define BALLAST_CORE_FAILOVER_CAPACITY_H

#include <ballast/arena.h>
#include <ballast/snapshot.h>

struct layout;

/* What the loss of a host needs on one holder. */
struct failover_reserved {
    uint32_t slot;
    double used[RES_COUNT];
};

struct failover_reserved_list {
    struct failover_reserved *items;
    uint32_t n;
    size_t cap;
};

/* The reverse index: an entry of by_lost for this holder. */
struct failover_holder {
    uint32_t lost, entry; /* by_lost[lost].items[entry] */
};

struct failover_holder_list {
    struct failover_holder *items;
    uint32_t n;
    size_t cap;
};

struct failover_gap {
    uint32_t vm;   /* IX_NONE: the cluster has too few hosts to lose one */
    uint32_t lost; /* slot; IX_NONE: a spare VM */
    double need[RES_COUNT];
    bool closed;   /* a failover slot exists, or a host that is being woken will hold it */
    bool hopeless; /* the VM may run on the lost host only: reported, but not counted as open */
};

struct failover_capacity {
    const struct layout *l;
    struct arena *a;
    bool active;                      /* false: the pass reserves nothing */
    bool yields;                      /* a move may take it: a host must be emptied, and nothing else helps */
    bool promised;                    /* a policy asks for failover slots of all VMs */
    bool singly;                      /* percent: each VM by itself */
    double *capacity[RES_COUNT];      /* by slot */
    double *taken[RES_COUNT];         /* by slot: what running VMs take of it (promise.by_admission) */
    double *unit_takes[RES_COUNT];    /* likewise, by unit */
    double inverse_least[RES_COUNT];  /* 1 / capacity of the largest host */
    double *reserved[RES_COUNT];      /* by slot: failover reservation */
    double *for_spare_vms[RES_COUNT]; /* of `reserved`: for spare VMs */
    double *least[RES_COUNT];         /* of `reserved`: for failover slots found earlier; NULL: none */
    double *peak[RES_COUNT];          /* by slot: Σ reservations at the start and of all arrivals since */
    struct failover_reserved_list *by_lost; /* by lost slot, woken hosts included */
    struct failover_holder_list *by_holder; /* by holder */
    uint32_t *slot_of;                      /* by VM: the holder for the loss of its own host; IX_NONE */
    bool *counted_on;                       /* by slot: one of the N - 1 other hosts */
    bool *over;                             /* by slot: reservations exceeded the capacity at the start */
    struct failover_gap *gaps;
    uint32_t n_gaps, n_open;
    bool had_gaps; /* at the start */
    bool unsaid;   /* a hopeless gap was added and not reported yet */
    size_t cap_gaps;
    double *use[RES_COUNT];      /* scratch, by slot: what the present loss uses */
    struct failover_live *live;  /* cells, devices and counts (failover_internal.h); NULL: there are none */
    bool finding;                /* find_all() is at work: `live` is of the layout */
    struct failover_note *notes; /* what failover_undo() puts back (failover_internal.h) */
    size_t n_notes, cap_notes;
    bool trying;
};

/* The layout's slots and units must be complete. */
void failover_capacity_init(struct failover_capacity *s, const struct layout *l, struct arena *a);

/* Finds all failover slots anew in the present layout, woken hosts included. A pass that starts with a gap
 * makes moves without a further failover slot; this function finds those slots. */
void failover_capacity_renew(struct failover_capacity *s);
/* The same, but for reservations alone: as if no VM needed cells, devices or counts. */
void failover_capacity_renew_reservations(struct failover_capacity *s);

/* Finds failover slots beside the present ones, which stay reserved; every reservation that was ever counted
 * on a slot still counts. For hosts under evacuation, whose failover slots need another holder. The arrays of
 * the former *s stay unchanged, so an earlier copy of *s restores them. */
void failover_capacity_renew_beside(struct failover_capacity *s);

/* Whether failover capacity allows the move: the slot keeps its failover reservation, and the unit's VMs have
 * failover slots elsewhere for the loss of this host. */
bool failover_capacity_admits(const struct failover_capacity *s, uint32_t unit, uint32_t to_slot);

/* Whether the unit's reservation and the slot's failover reservation together exceed its capacity; of which
 * resource, and the failover reservation (each may be NULL). */
bool failover_capacity_blocks(const struct failover_capacity *s, uint32_t unit, uint32_t to_slot,
                              enum resource *ret_r, double *ret_reserved);

/* Updates the failover slots for a move, before layout_move(). */
void failover_capacity_follow(struct failover_capacity *s, uint32_t unit, uint32_t to_slot);

/* Notes the changes from here on; failover_undo() restores them. Not nested. */
void failover_undo_begin(struct failover_capacity *s);
void failover_undo(struct failover_capacity *s);

/* Reserves a failover slot for the gap's VM if a host has the capacity now. Closes the gap. */
bool failover_gap_close(struct failover_capacity *s, struct failover_gap *gap);

/* Whether a host has room for the reservation, so that the gap is one of NUMA cells, devices or counts. */
bool failover_gap_is_live(const struct failover_capacity *s, const struct failover_gap *gap);

/* What is missing: the needs of all open gaps, each as a part of the largest host; 1 for each missing host.
 */
double failover_gaps_lack(const struct failover_capacity *s);

/* Closes a gap that needs no reservation. */
void failover_gap_dismiss(struct failover_capacity *s, struct failover_gap *gap);

/* What the gap needs beyond the slot's failover reservation, and the slot's free capacity. False: the slot is
 * no candidate. */
bool failover_gap_measure(const struct failover_capacity *s, const struct failover_gap *gap, uint32_t slot,
                          double ret_more[RES_COUNT], double ret_left[RES_COUNT]);

/* Whether what failover_gap_measure() found the gap to need is free. */
bool failover_gap_fits(const double more[RES_COUNT], const double left[RES_COUNT]);

/* percent: what VMs take, with two more units (IX_NONE: none), beyond the share that they may take; <= 0:
 * that share is free. Of the source's policy and the configuration's, the one that lacks more; ret_percent:
 * its percentage; may be NULL. */
double failover_gap_excess(const struct failover_capacity *s, enum resource r, uint32_t unit, uint32_t other,
                           double *ret_percent);

#endif
