/* pass_state.h: what the steps of a pass hand on to each other. Each field is written by one step and final
 * after it. Only plan/, power/, place/ and the pass itself know it: the folders below take what they need as
 * arguments and return what they found. */
#ifndef BALLAST_CORE_PASS_STATE_H
#define BALLAST_CORE_PASS_STATE_H

#include "core/balance/climb.h"
#include "core/costbenefit/migration_cost.h"
#include "core/demand/guard.h"
#include "core/divvy/admission.h"
#include "core/layout/layout.h"
#include "core/rules/rules.h"

#include <ballast/arena.h>
#include <ballast/plan.h>

/* What was decided on, in the order of the decisions: a unit is moved or powered on at to_slot
 * (ACTION_MIGRATE, ACTION_PLACE), or the host of to_slot is woken or put to standby (ACTION_POWER_ON,
 * ACTION_POWER_OFF; unit IX_NONE). */
struct decision {
    enum action_kind action;
    uint32_t unit, from_slot, to_slot, rule;
    uint32_t for_vm;     /* IX_NONE, or the VM that this makes room for */
    uint32_t move_group; /* 0, or a number that decisions share which only make sense together */
    enum reason reason;
    unsigned priority;
    struct migration_worth worth;
    double imbalance_before, imbalance_after;
    double load_from[RES_COUNT], load_to[RES_COUNT]; /* N before the move */
    double failover_reserved[RES_COUNT];             /* at to_slot for failures, once the unit is there */
    const struct finding *found;                     /* NULL, or what needs figures that are not kept */
};

struct pass {
    struct guard guard;
    const struct snapshot *snap; /* the guard's: impossible figures are marked, and mended */
    struct policy
        policy; /* moves_max resolved by pass_prepare(), optional_moves false where the guard says so */
    struct arena *a;

    double *demand[RES_COUNT], *entitlement[RES_COUNT]; /* by VM */
    struct admission admission; /* of reservations to pools, as the snapshot has them */
    struct rules rules;
    struct layout layout;
    struct migration_cost migration_cost;
    struct climb climb;
    struct metrics before;

    struct decision *decisions;
    size_t n_decisions, cap_decisions;
    uint32_t move_group, n_move_groups; /* of the decisions that are being taken; 0: none */
    uint32_t *slot_move_group;          /* by slot: of the decision that wakes its host */
    uint32_t for_vm;                    /* whom they make room for; IX_NONE */
    bool *coming;                 /* by slot: being woken, or about to be by an approved recommendation */
    bool may_make_room;           /* others may be moved, and hosts woken, for what must move */
    uint64_t prerequisite_trials; /* how many hosts may still be tried in looking for room */
    struct fault *faults;
    size_t n_faults, cap_faults;
    struct plan_stats stats;
    enum check end; /* why the climb ended: CHECK_TARGET_REACHED, CHECK_MOVES_MAX, CHECK_MANDATORY_ONLY,
                     * CHECK_POWER_FIRST; CHECK_NONE: no move passed */

    struct ready_by
        *ready_by;       /* power/ready_by.h: who is woken when for dpm.ready_by; NULL: nobody has to be */
    struct power *power; /* power/power.h: what was asked of the hosts; NULL: nothing */

    uint32_t watched_vm;  /* IX_NONE; explain: the pass stops right before this VM is moved ... */
    bool stopped;         /* ... and did */
    struct decision next; /* ... here is the move */
};

/* Appends a decision as it is. */
void plan_record(struct pass *p, const struct decision *d);

/* Records the decision to move the unit and makes it; returns false when the pass is to stop here. */
bool plan_move(struct pass *p, uint32_t unit, uint32_t to_slot, enum reason reason, uint32_t rule,
               unsigned priority);

/* How many VMs the plan may still move (policy.moves_max); UINT64_MAX: there is no limit. */
uint64_t plan_moves_left(const struct pass *p);

/* found is copied. */
void plan_fault(struct pass *p, enum fault_code code, uint32_t vm, uint32_t host, uint32_t rule,
                struct finding found);

#endif
