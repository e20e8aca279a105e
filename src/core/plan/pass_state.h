/* pass_state.h: the data that the steps of a pass share. One step writes each field; later steps only read
 * it. Only plan/, power/, place/ and the pass include this header: the other folders take arguments and
 * return results. */
#ifndef BALLAST_CORE_PASS_STATE_H
#define BALLAST_CORE_PASS_STATE_H

#include "core/balance/climb.h"
#include "core/balance/deep_search.h"
#include "core/balance/exchange.h"
#include "core/balance/plan_bound.h"
#include "core/costbenefit/migration_cost.h"
#include "core/demand/sample_guard.h"
#include "core/divvy/admission.h"
#include "core/layout/layout.h"
#include "core/room/spaces.h"
#include "core/rules/rules.h"

#include <ballast/arena.h>
#include <ballast/plan.h>

/* A decision, in the order of decisions: move or power on a unit at to_slot (ACTION_MIGRATE, ACTION_PLACE),
 * or wake the host of to_slot or put it to standby (ACTION_POWER_ON, ACTION_POWER_OFF; unit IX_NONE). */
struct decision {
    enum action_kind action;
    uint32_t unit, from_slot, to_slot, rule;
    uint32_t for_vm;     /* the VM that this prerequisite move frees capacity for; IX_NONE */
    uint32_t move_group; /* 0, or the number of decisions that only make sense together */
    enum reason reason;
    unsigned priority;
    struct migration_worth worth;
    double imbalance_before, imbalance_after;
    double load_from[RES_COUNT], load_to[RES_COUNT]; /* N before the move */
    double failover_reserved[RES_COUNT];             /* failover reservation of to_slot after the move */
    const struct finding *because; /* of a move for balance within the target, or for room: why;
                                    * NULL */
    bool proposed;                 /* by the deep search: by itself another move may gain more */
    bool stands;                   /* it is preferred to moves that gain hardly more */
    const struct finding *found;   /* NULL, or a finding whose figures the pass does not keep */
    uint32_t evicted_by;           /* the counting stage that wants it away, + 1; 0: none */
};

/* The measure of the moves for balance. */
struct balance_measure {
    bool known;         /* the pass has balanced */
    uint32_t over;      /* loads above 1 */
    bool above, uneven; /* the imbalance is above the target; balancing has not reached its end */
    bool stands;        /* some of the moves do */
    double imbalance, fall;
    uint32_t vms;
    double mb;          /* memory that is copied */
    size_t first, last; /* of the decisions: first ... last - 1 */
};

struct capped_demand; /* power/capped_demand.h */

struct pass {
    struct guard guard;
    const struct snapshot *snap; /* the guard's copy: impossible samples are marked and replaced */
    struct policy policy; /* moves_max is a number after pass_prepare(); optional_moves is false where the
                             guard says so */
    struct arena *a;

    double *demand[RES_COUNT], *entitlement[RES_COUNT]; /* by VM */
    struct admission admission;                         /* pool reservations, as the snapshot has them */
    struct rules rules;
    const struct capped_demand *capped; /* of all VMs: the same before the plan and after it */
    struct layout layout;
    struct migration_cost migration_cost;
    struct climb climb;
    struct exchange_search exchanges;
    struct plan_bound *bound, *bound_ruled; /* policy.bound: without rules and with them; NULL: not asked */
    bool has_room_size;                     /* the policy says for what size room is counted, kept or made */
    struct spaces spaces;
    uint64_t spaces_before; /* any decision */
    struct spaces_guard spaces_guard;
    struct metrics before;
    const struct finding *because; /* of the next move for balance or room; NULL */

    struct decision *decisions;
    size_t n_decisions, cap_decisions;
    uint32_t move_group, n_move_groups; /* of the current decisions; 0: none */
    uint32_t *slot_move_group;          /* by slot: of the decision that wakes its host */
    uint32_t for_vm;                    /* the VM that the current prerequisite moves are for; IX_NONE */
    bool off_vms_leave;                 /* hosts that go to standby, if another can run them */
    bool *coming;                       /* by slot: wake under way, or approved */
    const bool *held_back; /* by unit: makes no move for balance, as an earlier try found; NULL: none */
    uint32_t hold_back;    /* a unit that the next try must hold back; IX_NONE: this try stands */
    const struct proposal *search_from; /* the pass ends where balancing begins, with a deep search from these
                                           moves, the greedy ones; NULL */
    struct proposal found;              /* the moves that the deep search proposes */
    const struct proposal *proposal;    /* moves for balance that are made first; NULL: none */
    bool proposing;                     /* the moves of `proposal` are being made */
    uint32_t *standing_to; /* by unit: where a recommendation of the last pass moves it for another reason
                            * than balance; IX_NONE: none */
    bool *standing_off;    /* by slot: the last pass recommended to put its host to standby */
    bool anew;             /* no move for balance of the last pass stands */
    bool stands;           /* the move for balance that is being made is one of them */
    struct balance_measure measure;
    bool gives_up_failover;   /* for maintenance: it cannot be kept anyway (failover_after.c) */
    bool failover_lost;       /* VMs have lost their failover slot by the corrections (failover_after.c) */
    uint64_t failover_trials; /* remaining trials of hosts in the checks of moves that close gaps */
    bool may_make_room;       /* whether mandatory moves may use prerequisite moves and wakes */
    uint64_t prerequisite_trials; /* remaining trials of hosts in the search for prerequisite moves */
    struct fault *faults;
    size_t n_faults, cap_faults;
    struct plan_stats stats;
    enum check end; /* why the climb ended: CHECK_TARGET_REACHED, CHECK_MOVES_MAX, CHECK_MANDATORY_ONLY,
                     * CHECK_POWER_FIRST, CHECK_NO_SPACE; CHECK_NONE: no move passed */

    struct ready_by *ready_by; /* wakes that dpm.ready_by requires (power/ready_by.h); NULL: none */
    struct power *power;       /* the judged hosts (power/power.h); NULL: DPM judges none */

    uint32_t watched_vm;  /* explain: the pass stops right before a move of this VM; IX_NONE */
    bool stopped;         /* the pass stopped at watched_vm ... */
    struct decision next; /* ... before this move */
};

/* Appends a decision; changes nothing else. */
void plan_record(struct pass *p, const struct decision *d);

/* Records the decision to move the unit and moves it on the layout. False: the pass stops here. */
bool plan_move(struct pass *p, uint32_t unit, uint32_t to_slot, enum reason reason, uint32_t rule,
               unsigned priority);

/* The number of VMs that the plan may still move (policy.moves_max); UINT64_MAX: no limit. */
uint64_t plan_moves_left(const struct pass *p);

/* Adds a fault. `found` is copied. */
void plan_fault(struct pass *p, enum fault_code code, uint32_t vm, uint32_t host, uint32_t rule,
                struct finding found);

#endif
