/* pass_state.h: what the steps of a pass hand on to each other. Each field is written by one step and final
 * after it. */
#ifndef BALLAST_CORE_PASS_STATE_H
#define BALLAST_CORE_PASS_STATE_H

#include "core/balance/climb.h"
#include "core/costbenefit/costbenefit.h"
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
    uint32_t for_vm; /* IX_NONE, or the VM that it makes room for */
    uint32_t bundle; /* 0, or a number that decisions share which only make sense together */
    enum reason reason;
    unsigned priority;
    struct worth worth;
    double imbalance_before, imbalance_after;
    double load_from[RES_COUNT], load_to[RES_COUNT]; /* N before the move */
    double kept[RES_COUNT];                          /* at to_slot for failures, once the unit is there */
    const char *text; /* NULL, or the sentence, where it needs figures that are not kept */
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
    struct forecast forecast;
    struct climb climb;
    struct metrics before;

    struct decision *decisions;
    size_t n_decisions, cap_decisions;
    uint32_t bundle, n_bundles; /* of the decisions that are being taken; 0: none */
    uint32_t *slot_bundle;      /* by slot: of the decision that wakes its host */
    uint32_t for_vm;            /* whom they make room for; IX_NONE */
    bool *coming;               /* by slot: being woken, or about to be by an approved recommendation */
    bool may_make_room;         /* others may be moved, and hosts woken, for what must move */
    uint64_t room_trials;       /* how many hosts may still be tried in looking for room */
    struct fault *faults;
    size_t n_faults, cap_faults;
    struct plan_stats stats;
    enum check end; /* why the climb ended: CHECK_TARGET_REACHED, CHECK_MOVES_MAX, CHECK_MANDATORY_ONLY,
                     * CHECK_POWER_FIRST; CHECK_NONE: no move passed */

    struct ready *ready; /* power/ready.h: who is woken when for dpm.ready_by; NULL: nobody has to be */
    struct power *power; /* power/power.h: what was asked of the hosts; NULL: nothing */

    uint32_t watched_vm;  /* IX_NONE; explain: the pass stops right before this VM is moved ... */
    bool stopped;         /* ... and did */
    struct decision next; /* ... here is the move */
};

/* Everything before the first decision. rules: RULES_PREFERRED ... (rules.h). */
void pass_prepare(struct pass *p, const struct snapshot *snap, const struct policy *policy, unsigned rules,
                  uint32_t watched_vm, struct arena *a);

/* Mandatory moves (plan/correct.c), then optional ones while they pay, then hosts to standby or out of it. */
void pass_decide(struct pass *p);

/* Appends a decision as it is. */
void pass_record(struct pass *p, const struct decision *d);

/* Records the decision to move the unit and makes it; returns false when the pass is to stop here. */
bool pass_take(struct pass *p, uint32_t unit, uint32_t to_slot, enum reason reason, uint32_t rule,
               unsigned priority);

void pass_fault(struct pass *p, enum fault_code code, uint32_t vm, uint32_t host, uint32_t rule,
                const char *text);

/* How many mandatory constraints are left unmet: VMs where they may not be, pairs that are together, sets
 * that are not, VMs on hosts that are to be emptied, what faults say of reservations and spare capacity, and
 * hosts short of something; and preferred rules of which a fault says that they could not be kept. Counted in
 * the state, since one fault may stand for several. */
uint32_t pass_violations(const struct pass *p);

/* Whether the rule, in force or not, is broken in the state that the pass has come to. */
bool pass_breaks(const struct pass *p, const struct rule *rule);

/* The pass that counts, of the two of §3.3.1 where there are preferred rules. */
struct pass *pass_settle(const struct snapshot *snap, const struct policy *policy, uint32_t watched_vm,
                         struct arena *a);

/* ---- the steps, each in its own file ---- */

/* demand/guard_faults.c: a fault for each VM whose figures are missing or cannot be right, and for too many.
 */
void guard_report(struct pass *p);

/* divvy/pool_faults.c: a fault for each pool in which more is reserved than there is, and for the cluster. */
void admission_report(struct pass *p);

/* plan/correct.c: the fewest and cheapest moves that mend what is violated; a fault for what cannot be
 * mended. */
void plan_correct(struct pass *p);

/* plan/rule_faults.c: names the rules that no plan can keep. */
void rules_report(struct pass *p);

/* power/ready.c: wakes those that must be on by dpm.ready_by, each in time. */
void power_ready(struct pass *p);

/* When they are, by host; NULL: none is. */
const instant_s *ready_wakes_by_host(const struct pass *p);

/* power/power.c: which hosts are put to standby, or woken, on the state that all of that has produced (§4).
 */
void power_evaluate(struct pass *p);

/* The same before anything is balanced, for power-offs alone: what is moved for balance first could be moved
 * to a host that is not needed. False: no host is put to standby, and the pass goes on. */
bool power_first(struct pass *p);

/* plan/order.c: decisions become recommendations, with dependencies and the imbalance after each. */
void plan_order(struct pass *p, struct plan *ret);

/* plan/text.c: sentences. */
const char *text_decision(const struct pass *p, const struct decision *d, uint32_t vm);
const char *text_mhz(struct arena *a, double mhz);
const char *text_mb(struct arena *a, double mb);

/* A phrase, such as a check's meaning, as a sentence: it begins with a capital and ends with a stop. */
const char *text_sentence(struct arena *a, const char *phrase);

/* plan/text_check.c: one about a VM and a host, with the numbers that decided. worth: where the check is of
 * cost and benefit. */
const char *text_check(const struct pass *p, uint32_t vm, uint32_t host, enum check check,
                       const struct worth *worth);

#endif
