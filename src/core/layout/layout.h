/* layout.h: the what-if copy of the cluster that a pass works on. The snapshot stays as it is.
 *
 * Hosts are *slots* here: those that can run VMs come first (0 ... n_on - 1, and only they count in the
 * metrics), the others after them, so that VMs can leave a host that is being emptied, or go to one that is
 * being woken for them. VMs that are about to be powered on wait in one more slot, `outside`, which is no
 * host. VMs that move together are *units*: one VM, or the members of an affine set that sit on one host. VMs
 * of disconnected hosts take no part; a VM whose migration is in flight, or approved and not begun, is a unit
 * that cannot be moved and weighs on both ends, whichever of them it is listed on while the migration runs.
 *
 * The layout keeps running sums (Σ N and Σ N² per resource, over the slots that count), so that trying a move
 * is O(1) and so is making it. N = Σ entitlement / capacity (§3.1.1).
 */
#ifndef BALLAST_CORE_LAYOUT_H
#define BALLAST_CORE_LAYOUT_H

#include "core/layout/failover_capacity.h"
#include "core/rules/rules.h"

#include <ballast/plan.h>

/* N above this is more than a host has; what is above 1 by less is rounding. */
#define LAYOUT_FULL (1 + 1e-9)

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
    uint32_t outside;            /* = n_slots: every array by slot has an element for it */
    uint32_t *slot_host;         /* slot -> host; outside: IX_NONE */
    uint32_t *host_slot;         /* host -> slot; IX_NONE: a disconnected one */
    double *norm[RES_COUNT];     /* N */
    double *inverse[RES_COUNT];  /* 1 / capacity */
    double *reserved[RES_COUNT]; /* Σ reservations */
    double *leaving[RES_COUNT];  /* ... of these, of VMs in flight that will be elsewhere in the end */
    double *mem_taken;           /* Σ of what the VMs take, by policy.mem_admission */
    double *mem_limit;           /* capacity × policy.mem_overcommit */
    double *mem_free;            /* physically free, after the moves so far; NO_LIMIT where not known */
    double *mem_free0;           /* ... before any of the plan's moves; those in flight have what they need */
    bool *agents_ready;
    bool *closing; /* about to be switched off or serviced by an approved recommendation: receives nothing */
    bool *waking;  /* in standby, and woken by the plan: receives what it is woken for */
    bool
        *asleep; /* on, and put to standby by the plan (then it is closing, too): does not count at its end */
    struct unit_list *list;

    double sum[RES_COUNT], sum_squares[RES_COUNT]; /* of N */
    uint32_t over[RES_COUNT];                      /* slots with N > 1 */

    uint32_t n_units;
    uint32_t *unit_slot;
    uint32_t *unit_first;           /* its VM with the lowest index */
    uint32_t *unit_from, *unit_vms; /* unit_vms[unit_from[u] ... unit_from[u + 1]) */
    uint32_t *unit_index;           /* its index in its slot's list */
    double *unit_demand[RES_COUNT]; /* entitlement */
    double *unit_reserved[RES_COUNT];
    double *unit_mem;              /* what it takes, by policy.mem_admission */
    double *unit_phys;             /* host memory that must be there for it: at least what backs it now */
    double *unit_backed;           /* what its host gets back when it leaves */
    const uint64_t **unit_allowed; /* hosts (not slots); NULL: every one */
    enum check *unit_held;         /* CHECK_NONE: it may be moved for balance */
    uint32_t *vm_unit;             /* IX_NONE: takes no part */
    uint32_t *set_first;           /* by component: the first unit of the affine set; IX_NONE */
    uint32_t *unit_next;           /* the next unit of the same set, in ascending order; IX_NONE: the last */
    bool *in_flight;               /* by VM: migrating, or about to by an approved recommendation */
    uint32_t *going_to;            /* by VM in flight: the slot where it will be; IX_NONE: where it is */
    uint32_t *other_end;           /* by VM in flight: the slot that it weighs on besides its own */
    bool has_pairs;                /* fault-tolerant ones */

    uint16_t *apart; /* [group × n_slots]: members of the anti-affinity group there */
    struct failover_capacity failover;
};

/* entitlement: by resource, then VM. */
void layout_init(struct layout *l, const struct snapshot *snap, const struct policy *policy,
                 const struct rules *rules, double *const entitlement[RES_COUNT], struct arena *a);

/* The same without failover capacity, for a layout that is not asked what may go where. */
void layout_init_bare(struct layout *l, const struct snapshot *snap, const struct policy *policy,
                      const struct rules *rules, double *const entitlement[RES_COUNT], struct arena *a);

/* Moves the unit; the caller has checked. Failover capacity follows in a step of its own
 * (failover_capacity_follow()). */
void layout_move(struct layout *l, uint32_t unit, uint32_t to_slot);

/* The same for a trial, and back again: every figure is then what it was, to the last digit. Several are
 * undone in reverse order. */
struct layout_mark {
    uint32_t unit;
    uint32_t slot[2]; /* from, to */
    double norm[2][RES_COUNT], reserved[2][RES_COUNT], mem_taken[2], mem_free[2];
    double sum[RES_COUNT], sum_squares[RES_COUNT];
};

void layout_try(struct layout *l, uint32_t unit, uint32_t to_slot, struct layout_mark *ret);
void layout_undo(struct layout *l, const struct layout_mark *mark);

/* Whether the unit may go there: the first check that fails, in the order of names.h, or CHECK_NONE. Does not
 * ask whether the unit may be moved at all (unit_held), nor whether it pays. */
enum check layout_check(const struct layout *l, uint32_t unit, uint32_t to_slot);

/* The slot where the VM will be when what is under way has ended; IX_NONE: it takes no part. */
static inline uint32_t layout_slot_of(const struct layout *l, uint32_t vm)
{
    if (l->vm_unit[vm] == IX_NONE)
        return IX_NONE;
    return l->going_to[vm] != IX_NONE ? l->going_to[vm] : l->unit_slot[l->vm_unit[vm]];
}

/* Whether another member of the unit's affine set is there. */
bool layout_has_component(const struct layout *l, uint32_t slot, uint32_t unit);

/* The same for the rules alone: which VM of the unit is in the way, and which other (IX_NONE: none in
 * particular). */
bool layout_apart_conflict(const struct layout *l, uint32_t unit, uint32_t slot, uint32_t *ret_vm,
                           uint32_t *ret_other);

/* Pairs on one host of those that the rule keeps apart; whether those that it keeps together are on several.
 * `there` is scratch, by slot, all 0 before and after. */
uint32_t layout_rule_violations(const struct layout *l, const struct rule *rule, uint32_t *there);

/* Whether the rule, in force or not, is broken. */
bool layout_breaks_rule(const struct layout *l, const struct rule *rule);

/* Whether the VM may be moved for balance: what its own state says, without asking about any host. */
enum check layout_vm_check(const struct layout *l, uint32_t vm);

/* Whether a VM of the unit was migrated within the cool-down, whatever else holds it. */
bool layout_cools_down(const struct layout *l, uint32_t unit);

/* What keeps a VM only from being moved for balance, of what that finds; the rest keeps it from being moved
 * at all. */
bool layout_holds_from_balance(enum check held);

/* Whether the slot counts in the figures of the plan's end. */
static inline bool layout_counts(const struct layout *l, uint32_t slot)
{
    return slot < l->n_on ? !l->asleep[slot] : l->waking[slot];
}

/* ---- metrics ---- */

/* ½ : ½, or 3 : 1 towards the one resource that some host is short of. */
void layout_weights(const struct layout *l, double ret_weight[RES_COUNT]);

double layout_sigma(const struct layout *l, enum resource r);

/* With the weights of this very state. */
double layout_imbalance(const struct layout *l);

/* The same with the hosts that the plan wakes, which run VMs once it is carried out, and without those that
 * it puts to standby; O(hosts). ret_of: the deviation of each resource. */
double layout_imbalance_woken(const struct layout *l, double ret_of[RES_COUNT], double ret_weight[RES_COUNT]);

/* 0.1 · (5 - level) · √(2 / n) */
double layout_target(uint32_t n_on, int64_t level);

/* Whether one host stands out though the imbalance is low: in a large cluster it vanishes in σ. max - min of
 * N beyond what the level allows, with a host more than half full. */
bool layout_has_outlier(const struct layout *l, int64_t level);

/* All of it, but for the scores of power management. */
void layout_metrics(const struct layout *l, struct metrics *ret, struct arena *a);

/* How much more uneven the loads become with the unit on the slot, wherever it comes from: what is added to Σ
 * N² of both resources. Orders equal hosts as the imbalance does. */
static inline double layout_added_squares(const struct layout *l, uint32_t unit, uint32_t slot)
{
    double sum = 0;

    for (int r = 0; r < RES_COUNT; r++) {
        double part = l->unit_demand[r][unit] * l->inverse[r][slot];
        sum += (2 * l->norm[r][slot] + part) * part;
    }
    return sum;
}

/* What moving a unit would do to the imbalance, with the weights held at what they are before the move. All
 * that depends only on the unit and where it is, computed once: */
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

/* The imbalance with the unit on a host with these N and 1 / capacity. Never rises when norm falls, so the
 * least N of several equal hosts bounds them all. */
static inline double move_trial_imbalance(const struct move_trial *t, const double norm[RES_COUNT],
                                          const double inverse[RES_COUNT])
{
    double imbalance = 0;

    for (int r = 0; r < RES_COUNT; r++) {
        double part = t->demand[r] * inverse[r];
        double mean = (t->sum[r] + part) / t->n;
        double variance = (t->sum_squares[r] + (2 * norm[r] + part) * part) / t->n - mean * mean;
        imbalance += t->weight[r] * sqrt(variance > 0 ? variance : 0);
    }
    return imbalance;
}

static inline double move_trial_at(const struct layout *l, const struct move_trial *t, uint32_t slot)
{
    const double norm[RES_COUNT] = {l->norm[RES_CPU][slot], l->norm[RES_MEM][slot]};
    const double inverse[RES_COUNT] = {l->inverse[RES_CPU][slot], l->inverse[RES_MEM][slot]};

    return move_trial_imbalance(t, norm, inverse);
}

#endif
