/* layout.h: the what-if copy of the cluster on which a pass tries and makes its moves. The snapshot does not
 * change.
 *
 * Hosts are *slots*: first those that can run VMs (0 ... n_on - 1; only they count in the metrics), then the
 * others, which VMs may leave (evacuation) or be woken for. VMs that wait for a power-on are in one more
 * slot, `outside`, which is no host. VMs that move together are *units*: one VM, or the members of an affine
 * set on one host. VMs of disconnected hosts take no part. A VM with a migration in flight, or approved and
 * not begun, is a unit that cannot move and uses capacity on both hosts, whichever of them the inventory
 * lists it on.
 *
 * The layout keeps running sums (Σ N and Σ N² per resource, over the slots that count), so that making or
 * trying a move is O(1). N = Σ entitlement / capacity (§3.1.1). */
#ifndef BALLAST_CORE_LAYOUT_H
#define BALLAST_CORE_LAYOUT_H

#include "core/layout/failover_capacity.h"
#include "core/rules/rules.h"

#include <ballast/plan.h>

/* A host with N above this is overloaded; an excess below 1e-9 is rounding. */
#define LAYOUT_FULL (1 + 1e-9)

/* The levels (policy.migration_threshold) that make moves for balance. */
#define LAYOUT_LEVEL_FIRST 2
#define LAYOUT_LEVEL_LAST 5

/* The units of a slot, in no particular order. */
struct unit_list {
    uint32_t *items;
    uint32_t n;
    size_t cap;
};

struct layout {
    const struct snapshot *snap;
    const struct policy *policy;
    const struct rules *rules;
    struct arena *a;

    uint32_t n_slots, n_on;
    uint32_t outside;            /* = n_slots; every array by slot has an element for it */
    uint32_t *slot_host;         /* slot -> host; outside: IX_NONE */
    uint32_t *host_slot;         /* host -> slot; IX_NONE: disconnected */
    double *norm[RES_COUNT];     /* N, with the host's own use */
    double *inverse[RES_COUNT];  /* 1 / capacity */
    double *reserved[RES_COUNT]; /* Σ reservations, and the host's own use */
    double *leaving[RES_COUNT];  /* Σ reservations of VMs that are migrating away; part of `reserved` */
    double *mem_taken;           /* Σ memory of the VMs, by policy.mem_admission, and the host's own use */
    double *mem_leaving;         /* of VMs that are migrating away; part of `mem_taken` */
    double *mem_limit;           /* capacity × policy.mem_overcommit */
    double *mem_free;  /* what VMs that come may use after the moves so far: what is physically free,
                          and mem_idle; NO_LIMIT: unknown */
    double *mem_free0; /* ... before the plan's moves; migrations in flight already have their memory */
    double *mem_idle;  /* part of mem_free: it backs VMs of the slot, and the settings let the hypervisor
                          reclaim it */
    bool *agents_ready;
    bool *closing; /* an approved recommendation will power off or service it: receives nothing */
    bool *waking;  /* in standby, woken by the plan: receives the VMs that it is woken for */
    bool *asleep;  /* on, put to standby by the plan (and closing): does not count at the end of the plan */
    struct unit_list *list;

    double sum[RES_COUNT], sum_squares[RES_COUNT]; /* of N */
    uint32_t over[RES_COUNT];                      /* slots with N > 1 */

    uint32_t n_units;
    uint32_t *unit_slot;
    uint32_t *unit_first;           /* its VM with the lowest index */
    uint32_t *unit_from, *unit_vms; /* unit_vms[unit_from[u] ... unit_from[u + 1]) */
    uint32_t *unit_index;           /* its index in its slot's list */
    double *const *entitlement;     /* by resource, then VM */
    double *unit_demand[RES_COUNT]; /* entitlement */
    double *unit_reserved[RES_COUNT];
    double *unit_mem;    /* memory, by policy.mem_admission */
    double *unit_phys;   /* memory that it takes of mem_free of its destination: at least what backs it now,
                            without unit_idle */
    double *unit_backed; /* memory that it gives back to mem_free of its host */
    double *unit_idle;   /* memory that backs it and may be reclaimed: part of mem_idle where it runs */
    const uint64_t **unit_allowed; /* hosts (not slots); NULL: every one */
    const uint64_t **unit_restart; /* of these, the hosts where it can be powered on (rules.h) */
    uint64_t **unit_avoided;       /* hosts to which its moves failed; NULL: none is avoided */
    bool *distrusted;              /* by slot, host_is_distrusted(); NULL: none is */
    enum check *unit_held;         /* CHECK_NONE: may move for balance */
    uint32_t *vm_unit;             /* IX_NONE: takes no part */
    uint32_t *set_first;           /* by component: the first unit of the affine set; IX_NONE */
    uint32_t *unit_next;           /* the next unit of its affine set, ascending; IX_NONE: the last */
    bool *in_flight;               /* by VM: migrating, or about to by an approved recommendation */
    uint32_t *going_to;            /* by VM in flight: its destination; IX_NONE: the slot that lists it */
    uint32_t *other_end;           /* by VM in flight: the other slot on which it uses capacity */
    bool has_pairs;                /* the cluster has fault-tolerant pairs */

    int64_t
        *used; /* of counters of pipelines: used[used_from[counter] + slot, or group]; NULL: there are none */
    size_t *used_from;
    size_t n_used;
    bool *corrected;            /* by measure (fit_counts): a limit of it moves VMs away */
    bool moves_are_optional;    /* no move exceeds such a limit of a VM at its destination, opens a gap in
                                   failover capacity, or goes to a distrusted host */
    bool keeps_headroom;        /* no move takes a host's headroom */
    struct layout_cells *cells; /* what is taken of NUMA cells and devices; NULL: no VM needs any */
    uint16_t *apart;            /* [group × n_slots]: members of the anti-affinity group there */
    struct failover_capacity failover;
};

/* entitlement: by resource, then VM. */
void layout_init(struct layout *l, const struct snapshot *snap, const struct policy *policy,
                 const struct rules *rules, double *const entitlement[RES_COUNT], struct arena *a);

/* layout_init() without failover capacity, for a layout on which no destination is checked. */
void layout_init_bare(struct layout *l, const struct snapshot *snap, const struct policy *policy,
                      const struct rules *rules, double *const entitlement[RES_COUNT], struct arena *a);

/* The capacities that one VM uses; those of its unit are their sums. */
struct vm_weight {
    double demand[RES_COUNT], reserved[RES_COUNT], mem, phys, backed, idle;
};
struct vm_weight layout_weigh_vm(const struct layout *l, uint32_t vm);

/* The memory that a VM needs on a host, by policy.mem_admission. */
double layout_mem_admitted(const struct policy *policy, const struct vm_facts *v);

/* Moves the unit without any check. Call failover_capacity_follow() first. */
void layout_move(struct layout *l, uint32_t unit, uint32_t to_slot);

/* Takes a move back that the unit made from this slot: both hosts have as much free memory as before it. */
void layout_move_back(struct layout *l, uint32_t unit, uint32_t from_slot);

/* Tries a move and undoes it: every figure is restored to the last digit. Several trials are undone in
 * reverse order. */
struct layout_mark {
    uint32_t unit;
    uint32_t index;   /* in its slot's list */
    uint32_t slot[2]; /* from, to */
    double norm[2][RES_COUNT], reserved[2][RES_COUNT], mem_taken[2], mem_free[2], mem_idle[2];
    double sum[RES_COUNT], sum_squares[RES_COUNT];
    size_t cells; /* of cells.c */
};

void layout_try(struct layout *l, uint32_t unit, uint32_t to_slot, struct layout_mark *ret);
void layout_undo(struct layout *l, const struct layout_mark *mark);

/* Likewise, and the units of each slot are in the order that they had. */
void layout_undo_in_order(struct layout *l, const struct layout_mark *mark);

/* How much memory the hypervisor of the slot must reclaim from VMs if the unit comes, and `freed` is free
 * besides; 0: enough is free. */
double layout_reclaims(const struct layout *l, uint32_t unit, uint32_t slot, double freed);

/* The first failed check of the unit on the slot, in the order of names.h; CHECK_NONE: it may move there.
 * Ignores unit_held and the benefit. */
enum check layout_check(const struct layout *l, uint32_t unit, uint32_t to_slot);

/* Whether what layout_check() and layout_live() say of the unit, which is on no host, changes on a slot only
 * when units come to it or leave it, or to another one that is counted with it (fit_counts.over_groups); and
 * does not depend on NUMA cells and devices, which layout_units_are_alike() does not compare. */
bool layout_checks_are_local(const struct layout *l, uint32_t unit);

/* Of two units of which that is true: whether they are told the same on every slot. */
bool layout_units_are_alike(const struct layout *l, uint32_t x, uint32_t y);

/* avoided.c: the entry of the snapshot's avoid[] that keeps the VM off the host, or the unit; with two
 * IX_NONE the one that pauses optional moves. NULL: none holds now. */
const struct avoid *layout_find_avoid(const struct snapshot *s, uint32_t vm, uint32_t host);
const struct avoid *layout_find_avoid_of_unit(const struct layout *l, uint32_t unit, uint32_t host);
void layout_init_avoided(struct layout *l);

/* The person's rejection of moves of the VM for this reason, or of any VM of the unit, or of the host's
 * standby or wake; NULL, false: there is none. */
const struct avoid *layout_find_rejection(const struct snapshot *s, uint32_t vm, enum reason reason);
const struct avoid *layout_find_host_rejection(const struct snapshot *s, uint32_t host, enum reason reason);
bool layout_is_rejected(const struct layout *l, uint32_t unit, enum reason reason);

/* The slot of the VM after all migrations in flight; IX_NONE: it takes no part. */
/* parallel_for(): how many units are worth another thread (about a tenth of a millisecond), and as many slots
 * as have so many units. */
#define LAYOUT_UNITS_GRAIN 2048

static inline uint32_t layout_slots_grain(const struct layout *l)
{
    return l->n_units > 0 ? 1 + (uint32_t)((uint64_t)LAYOUT_UNITS_GRAIN * l->n_slots / l->n_units) : 1;
}

static inline uint32_t layout_slot_of(const struct layout *l, uint32_t vm)
{
    if (l->vm_unit[vm] == IX_NONE)
        return IX_NONE;
    return l->going_to[vm] != IX_NONE ? l->going_to[vm] : l->unit_slot[l->vm_unit[vm]];
}

static inline bool layout_is_distrusted(const struct layout *l, uint32_t slot)
{
    return l->distrusted && l->distrusted[slot];
}

/* Whether another member of the unit's affine set is on the slot. */
bool layout_has_component(const struct layout *l, uint32_t slot, uint32_t unit);

/* Whether an anti-affinity rule keeps the unit off the slot; which VM of the unit, and which VM there
 * (IX_NONE: no single one). */
bool layout_apart_conflict(const struct layout *l, uint32_t unit, uint32_t slot, uint32_t *ret_vm,
                           uint32_t *ret_other);

/* ---- quantities.c: counted quantities of pipelines ---- */

/* A unit that takes more than a limit leaves. Amounts as in core/fit/fit.h. */
struct layout_excess {
    uint32_t vm, stage, counter;
    int64_t takes, used, limit; /* used: by others */
};

void layout_init_quantities(struct layout *l);

/* Adds what VMs that are off take of the counters that count them, where they are listed. A VM that is being
 * powered on takes at its new host only. After the migrations in flight. */
void layout_count_off(struct layout *l);

/* Adds what the VM takes (by = 1), or subtracts it, to `used`, which is l->used or a copy. */
void layout_count_shares(const struct layout *l, int64_t *used, uint32_t vm, uint32_t slot, int by);

/* What the unit takes of the counter; IX_NONE: 0. */
int64_t layout_unit_takes(const struct layout *l, uint32_t unit, uint32_t counter);

/* What is taken of the counting stage on the slot, of what the VM would be counted with (IX_NONE: 0 where the
 * stage has `per`), by `used`: l->used or a copy; 0: of nothing. USED_BY_OTHERS: by all VMs but this one when
 * its unit is there. */
enum used_by { USED_BY_ALL, USED_BESIDE_UNIT, USED_BY_OTHERS };
int64_t layout_stage_used(const struct layout *l, const int64_t *used, uint32_t vm, uint32_t stage,
                          uint32_t slot, enum used_by by);

/* Whether a limit keeps the unit off the slot: its own, or while moves_are_optional one that would then move
 * a VM away from there; with FIT_CORRECT, whether one wants it away. ret: the first one; may be NULL. */
bool layout_quantity_refuses(const struct layout *l, enum fit_use use, uint32_t unit, uint32_t slot,
                             struct layout_excess *ret);

/* Whether a limit keeps a VM without a host off the slot, by the sums in `used`. */
bool layout_vm_exceeds(const struct layout *l, const int64_t *used, uint32_t vm, uint32_t slot);

/* Whether the limit of the counting stage, which is of the VM's pipeline, keeps the VM off the slot. ret: by
 * which figures; may be NULL. */
bool layout_stage_exceeds(const struct layout *l, uint32_t vm, uint32_t stage, uint32_t slot,
                          struct layout_excess *ret);

/* The same as layout_quantity_refuses() for a VM that is part of no unit. */
bool layout_quantity_refuses_vm(const struct layout *l, uint32_t vm, uint32_t slot,
                                struct layout_excess *ret);

/* ---- cells.c: NUMA cells and devices ---- */

/* What a VM takes of a figure of its slot's row (core/fit/cells.h). */
struct cells_take {
    uint32_t figure;
    int64_t amount;
};

/* Each VM keeps the cells and devices that it got when it came to its slot. */
struct layout_cells {
    int64_t *used; /* the rows of all hosts, by host */
    size_t *takes_from;
    struct cells_take *takes; /* of vm: room from takes[takes_from[vm]] to takes[takes_from[vm + 1]] */
    uint32_t *n_takes;        /* by VM */
    struct cells_take *saved; /* what units took before moves that are tried, in the order of the trials */
    size_t n_saved, cap_saved;
};

/* After all VMs have their slots, those in flight included: they take on both. */
void layout_init_cells(struct layout *l);

/* The unit has left `from` and takes at `to`. */
void layout_move_cells(struct layout *l, uint32_t unit, uint32_t from, uint32_t to);

/* Before a move that is tried; then, after layout_move() back: what the unit took before. */
size_t layout_save_cells(struct layout *l, uint32_t unit);
void layout_restore_cells(struct layout *l, uint32_t unit, size_t saved);

/* CHECK_FIT_NUMA or CHECK_FIT_DEVICE: the slot has not what the unit needs, also if another unit leaves it
 * (without; IX_NONE: none does). ret_vm: the VM that does not fit; ret: why. Both may be NULL. */
enum check layout_cells_refuse(const struct layout *l, uint32_t unit, uint32_t slot, uint32_t without,
                               uint32_t *ret_vm, struct cells_shortage *ret);

/* The same for a VM, also one that is part of no unit. */
enum check layout_cells_refuse_vm(const struct layout *l, uint32_t vm, uint32_t slot,
                                  struct cells_shortage *ret);

/* Whether the unit takes any. */
bool layout_takes_cells(const struct layout *l, uint32_t unit);

/* ---- live.c: what moves change, as filters and scores of pipelines read it ---- */

/* Of the state of the layout at the moment of each question. The VMs of one unit are on a host together or
 * not at all: what is asked for one of them counts the others there. */
struct fit_live layout_live(const struct layout *l);

/* Whether a filter that reads it keeps the unit off the slot. */
bool layout_live_refuses(const struct layout *l, uint32_t unit, uint32_t slot);

/* Whether the parts of the affine set that are elsewhere, all together, are too much for one of them on the
 * slot.
 */
bool layout_set_exceeds(const struct layout *l, uint32_t component, uint32_t slot);

/* The number of violations: pairs of an anti-affinity rule on one host; 1 for an affinity rule whose VMs are
 * on several hosts. `there` is scratch, by slot, all 0 before and after. */
uint32_t layout_rule_violations(const struct layout *l, const struct rule *rule, uint32_t *there);

/* Whether the rule is violated, enabled or not. */
bool layout_breaks_rule(const struct layout *l, const struct rule *rule);

/* The VM's own reason not to move for balance, whatever the host; CHECK_NONE: none. */
enum check layout_vm_check(const struct layout *l, uint32_t vm);

/* Whether a VM of the unit is in its cool-down, whatever else holds it. */
bool layout_cools_down(const struct layout *l, uint32_t unit);

/* Whether a VM of the unit moves only for a mandatory reason, whatever else holds it. */
bool layout_moves_only_if_it_must(const struct layout *l, uint32_t unit);

/* Whether a VM of the unit has left the slot within its cool-down: only a mandatory move takes it back. */
bool layout_just_left(const struct layout *l, uint32_t unit, uint32_t slot);

/* The load of the slot with the unit there, and the highest one that leaves headroom: parts of the capacity.
 */
double layout_load_with(const struct layout *l, uint32_t unit, uint32_t slot, enum resource r);
double layout_load_limit(const struct layout *l, enum resource r);
bool layout_fills_headroom(const struct layout *l, uint32_t unit, uint32_t slot);

/* Whether the check only prevents moves for balance; any other prevents every move. */
bool layout_holds_from_balance(enum check held);
/* Whether it prevents nothing else: moves that save power, or for a preferred rule, are made. */
bool layout_holds_balance_only(enum check held);

static inline bool layout_is_agent(const struct layout *l, uint32_t unit)
{
    return l->snap->vms[l->unit_first[unit]].is.kind == VM_AGENT;
}

/* Whether the slot counts in the metrics at the end of the plan. */
static inline bool layout_counts(const struct layout *l, uint32_t slot)
{
    return slot < l->n_on ? !l->asleep[slot] : l->waking[slot];
}

/* ---- metrics ---- */

/* ½ : ½, or 3 : 1 in favour of the one resource of which some host has a shortage. */
void layout_weights(const struct layout *l, double ret_weight[RES_COUNT]);

double layout_load_stddev(const struct layout *l, enum resource r);

/* With the weights of the present state. */
double layout_imbalance(const struct layout *l);

/* The imbalance at the end of the plan: with the hosts that it wakes, without those that it puts to standby.
 * O(hosts). ret_of: σ of each resource. */
double layout_imbalance_woken(const struct layout *l, double ret_of[RES_COUNT], double ret_weight[RES_COUNT]);

/* The imbalance target of a level: 0.1 · (5 - level) · √(2 / n). policy.target replaces the target of
 * migration_threshold, and is the least target of the levels below. */
double layout_target(const struct policy *policy, uint32_t n_on, int64_t level);

/* The target of the plan: that of migration_threshold, for the hosts that are on. */
static inline double layout_plan_target(const struct layout *l)
{
    return layout_target(l->policy, l->n_on, l->policy->migration_threshold);
}

/* Whether max - min of N exceeds the limit of the level, with a host more than half full. In a large cluster
 * one hot host hardly changes σ. */
bool layout_has_outlier(const struct layout *l, int64_t level);

/* Whether a host uses more than a tenth of its headroom (policy.headroom_percent), or lacks capacity, while
 * another host is less full; whether a move pays is another question.
 * False without cost_benefit: headroom is a part of the benefit. */
bool layout_lacks_headroom(const struct layout *l);

/* Why the state of the slots that count is not even, at this level; the most serious reason first. Returns
 * the number. */
uint32_t layout_unevenness(const struct layout *l, int64_t level, double imbalance,
                           struct unevenness ret[UNEVENNESS_MAX], struct arena *a);

/* What is not even about the two slots of a move at this level: the source uses its headroom, or the loads
 * differ too much; `first` is the resource that is asked first. NULL: neither. */
const struct finding *layout_uneven_move(const struct layout *l, int64_t level, enum resource first,
                                         uint32_t from, uint32_t to, struct arena *a);

/* All metrics except the scores of power management. */
void layout_metrics(const struct layout *l, struct metrics *ret, struct arena *a);

/* The growth of Σ N² of both resources with the unit on the slot. Orders equal hosts as the imbalance does.
 */
static inline double layout_added_squares(const struct layout *l, uint32_t unit, uint32_t slot)
{
    double sum = 0;

    for (int r = 0; r < RES_COUNT; r++) {
        double part = l->unit_demand[r][unit] * l->inverse[r][slot];
        sum += (2 * l->norm[r][slot] + part) * part;
    }
    return sum;
}

/* The imbalance after a move of one unit, with the weights of the state before. Computed once per unit: */
struct move_trial {
    double n; /* slots that count */
    double weight[RES_COUNT];
    double demand[RES_COUNT];
    double sum[RES_COUNT], sum_squares[RES_COUNT]; /* without the unit */
};

static inline void move_trial_begin(const struct layout *l, const double weight[RES_COUNT], uint32_t unit,
                                    struct move_trial *t)
{
    uint32_t s = l->unit_slot[unit];

    t->n = l->n_on;
    for (int r = 0; r < RES_COUNT; r++) {
        double part = s < l->n_on ? l->unit_demand[r][unit] * l->inverse[r][s] : 0;
        double norm = s < l->n_on ? l->norm[r][s] : 0;
        t->weight[r] = weight[r];
        t->demand[r] = l->unit_demand[r][unit];
        t->sum[r] = l->sum[r] - part;
        t->sum_squares[r] = l->sum_squares[r] - (2 * norm - part) * part;
    }
}

/* The weighted deviation of a resource with the unit on a host with this N and 1 / capacity. */
static inline double move_trial_part(const struct move_trial *t, int r, double norm, double inverse)
{
    double part = t->demand[r] * inverse;
    double mean = (t->sum[r] + part) / t->n;
    double variance = (t->sum_squares[r] + (2 * norm + part) * part) / t->n - mean * mean;

    return t->weight[r] * sqrt(variance > 0 ? variance : 0);
}

/* The imbalance with the unit on a host with this N and 1 / capacity. Never rises when norm falls, so the
 * lowest N of several equal hosts is a bound for all of them. */
static inline double move_trial_imbalance(const struct move_trial *t, const double norm[RES_COUNT],
                                          const double inverse[RES_COUNT])
{
    double imbalance = 0;

    for (int r = 0; r < RES_COUNT; r++)
        imbalance += move_trial_part(t, r, norm[r], inverse[r]);
    return imbalance;
}

static inline double move_trial_at(const struct layout *l, const struct move_trial *t, uint32_t slot)
{
    const double norm[RES_COUNT] = {l->norm[RES_CPU][slot], l->norm[RES_MEM][slot]};
    const double inverse[RES_COUNT] = {l->inverse[RES_CPU][slot], l->inverse[RES_MEM][slot]};

    return move_trial_imbalance(t, norm, inverse);
}

#endif
