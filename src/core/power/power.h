/* power.h: which hosts to put to standby or wake (§4): the entry points for the pass, and what the files of
 * power/ share.
 *
 * A what-if runs on the pass's own layout: what_if_move() and what_if_close() note each step, what_if_undo()
 * restores the layout to the last digit. The chosen moves are then made by plan_move(), as all other moves.
 */
#ifndef BALLAST_CORE_POWER_H
#define BALLAST_CORE_POWER_H

#include "core/plan/pass_state.h"
#include "core/power/utilization.h"

/* After all moves: wakes hosts or puts them to standby. */
void power_evaluate(struct pass *p);

/* Before the balancing, power-offs only: a move for balance could go to a host that is not needed. False: no
 * host is put to standby, so the pass goes on with the balancing. */
bool power_first(struct pass *p);

/* ---- within power/, and for explain ---- */

#define PRIORITY_WAKE 2
#define PRIORITY_SLEEP 3

/* One move of a what-if. */
struct what_if_step {
    uint32_t unit, from, to;
    bool moved_before; /* by an earlier step */
    double reclaimed_mb;
    struct layout_mark layout;
    struct utilization_mark utilization;
};

/* Cost and benefit of a power-off, in MHz s and MiB s. */
struct sleep_worth {
    double cost[RES_COUNT], benefit[RES_COUNT];
    double quiet_s;    /* for so long demand is expected to stay low */
    double off_s;      /* expected time off */
    double evacuate_s; /* time to evacuate it */
    double watts;      /* saved while it is off; UNKNOWN */
};

/* The check that decided about a host. */
struct power_verdict {
    bool asked; /* false: no check was made */
    enum power_check check;
    uint32_t vm, other; /* subjects of the check: a VM; a host or a rule (indices of the snapshot) */
    enum resource r;
    double is, bound; /* the compared figures; UNKNOWN */
    uint32_t hosts;   /* POWER_FAILOVER_DEMAND: hosts that may be lost; 0: a percentage of the capacity */
    struct scores before, after;
    const struct quiet *quiet[RES_COUNT]; /* past quiet times; NULL: demand has never been higher */
    double left[RES_COUNT];               /* capacity of the hosts that stay on */
    struct sleep_worth worth;
    uint32_t n_moves;            /* VMs to migrate, */
    uint32_t n_making_room;      /* of which prerequisite moves */
    const struct expected *soon; /* POWER_NEEDED_SOON: the forecast slot */
    const struct fault *fault;   /* POWER_NEEDED: the fault; NULL: vm waits for a host */
};

/* The fullest host per resource, and its load. */
struct fullest {
    uint32_t host[RES_COUNT]; /* IX_NONE: no host runs VMs */
    double load[RES_COUNT];
};

struct power {
    struct pass *p;
    struct layout *l;
    struct utilization u;
    struct scores scores; /* of the what-if's present state */
    struct what_if_step *steps;
    size_t n_steps, cap_steps;
    bool *moved;        /* by unit: moved by a step */
    uint32_t *home;     /* by unit: its slot before the first step */
    uint32_t *room_for; /* by unit: the unit that its move makes room for; IX_NONE */
    bool may_make_room; /* whether VMs of hosts that stay on may make room */
    bool spread;        /* whether leaving VMs prefer the host with the lowest imbalance to a fuller one */
    bool *busy;         /* by slot: one end of a migration in flight or of an approved action */
    uint32_t *alive;    /* slots that are on and stay on */
    uint32_t n_alive;
    double alive_capacity[RES_COUNT];
    double fill;              /* a host that stays on is filled to this load first */
    uint64_t evaluated;       /* pairs of a unit and a host, in the present choice */
    uint64_t trials;          /* prerequisite_trials of the pass before the first choice */
    double *by_capacity;      /* scratch: one for each host */
    uint32_t *order, n_order; /* slots in the order of the trials */
    uint32_t *asleep;         /* slots put to standby, in the order of the decisions */
    uint32_t n_asleep;
    uint64_t moves_left;                /* of policy.moves_max */
    struct fullest fullest;             /* after the last power-off */
    struct failover_capacity failover0; /* the pass's own, before the what-if */
    struct power_verdict *verdicts;     /* by slot */
    enum power_check end;               /* why no check was made of the remaining hosts that are on */
    enum power_check wake_end;          /* ... in standby */
    bool lacks_host;                    /* hosts that are on cannot take the load, or not that of the rise */
    const struct rise *rise; /* proactive.h: the rise that hosts are woken for; NULL: present demand */
};

/* ---- why_not.c ---- */

/* How many hosts past quiet times keep on, and until when at the latest for the first of them, if demand
 * stays as low as it is; NULL: they keep none. */
const struct finding *power_stays_finding(const struct power *w);

/* ---- what_if.c ---- */

void what_if_begin(struct power *w, struct pass *p);

/* Moves the unit on the what-if, without any check. */
void what_if_move(struct power *w, uint32_t unit, uint32_t to);

/* Undoes all steps but the first n. */
void what_if_undo(struct power *w, size_t n);

/* Takes the slot out of the cluster, or back in. */
void what_if_close(struct power *w, uint32_t slot);
void what_if_reopen(struct power *w, uint32_t slot);

/* ---- rank.c: hosts in the order of §4.4 ---- */

uint32_t rank_to_sleep(const struct power *w, uint32_t *ret);
uint32_t rank_to_wake(const struct power *w, enum reason reason, uint32_t *ret);

/* ---- sleep.c, sleep_checks.c ---- */

/* Puts hosts to standby, one after the other. */
void sleep_hosts(struct power *w);

/* How hosts are chosen. */
struct sleep_way {
    const uint32_t *order;  /* in which they are tried; NULL: that of rank_to_sleep() */
    double fill;            /* power.fill */
    bool may_make_room;     /* power.may_make_room */
    uint64_t evaluated_max; /* the choice ends after so many pairs of a unit and a host */
    uint32_t given;         /* so many hosts are chosen unrehearsed (sleep_moves_rehearse()) */
    uint32_t *stood;        /* set to the largest number of first hosts whose moves stand; NULL: not asked */
};

/* Chooses hosts, and leaves the what-if with all their moves in place. */
void sleep_choose(struct power *w, const struct sleep_way *way);

/* Puts a host without VMs to standby on the layout, if that is allowed whatever the load; else changes
 * nothing.
 */
enum power_check sleep_try_empty(struct power *w, uint32_t slot, struct power_verdict *v);

/* Undoes the moves; the chosen hosts stay chosen. */
void sleep_take_back(struct power *w);

/* Undoes everything. start: a copy of *w before the first choice. */
void sleep_start_again(struct power *w, const struct power *start);

/* Finds the failover slots without the closed hosts before any VM leaves them, so that every move is checked
 * against them. False: some are missing. */
bool sleep_failover_slots(struct power *w);

/* ---- sleep_moves.c ---- */

struct planned;

/* The moves of the plan, in groups: first the relief of hosts that stay on, then each host's evacuation in
 * the order of the choice. */
struct planned_moves {
    struct planned **of;
    uint32_t *n;
    uint32_t n_groups;
};

/* Those of the what-if's present state. */
struct planned_moves sleep_moves_list(const struct power *w);

/* Whether each move passes its checks in the order of the plan, after sleep_take_back(): POWER_FINE,
 * POWER_SPARE or POWER_ORDER. */
enum power_check sleep_moves_stand(struct power *w, const struct planned_moves *moves);

/* The same of the what-if's present state, which stays in place. */
enum power_check sleep_moves_rehearse(struct power *w);

/* Adds a power-off to the plan; move_group 0: no VM moves for it. */
void sleep_moves_record(struct power *w, uint32_t slot, uint32_t move_group, struct finding found);

/* Adds them, and the power-offs, to the plan. */
void sleep_moves_make(struct power *w, const struct planned_moves *moves);

/* The first reason against a power-off before any move is tried; POWER_FINE: none. */
enum power_check sleep_check(const struct power *w, uint32_t slot, struct power_verdict *ret);

/* Whether DPM is disabled for the host, by its own setting or else the cluster's. */
bool power_is_disabled(const struct power *w, uint32_t slot);

/* Whether all VMs of the unit may move to save power; ret_vm: the first that may not. */
bool sleep_check_vms(const struct power *w, uint32_t unit, uint32_t *ret_vm);

/* Whether a host was woken for load or for an expected rise and must still stay on. No host goes to standby
 * then: the load that it was woken for fills the others too. ret: the host, how long ago, and for how long.
 */
bool sleep_check_wakes(const struct power *w, struct power_verdict *ret);

/* The checks of sleep_check() that depend on the host alone; for a host in standby, whether it may be woken.
 */
enum power_check sleep_check_host(const struct power *w, uint32_t slot, struct power_verdict *ret);
enum power_check wake_check_host(const struct power *w, uint32_t slot);

/* ---- needed.c ---- */

/* The fault of the plan so far that names the host, or one of whose VMs could run there; NULL: none. ret_vm:
 * that VM; IX_NONE: the fault names the host. */
const struct fault *needed_by_fault(const struct power *w, uint32_t slot, uint32_t *ret_vm);

/* A VM that waits for a host and has no room on those that stay on, but could run on the slot; IX_NONE. */
uint32_t needed_to_start(const struct power *w, uint32_t slot);

/* ---- failover_demand.c ---- */

/* Whether the hosts that stay on could serve the demand after the losses that ha promises to survive:
 * POWER_FINE or POWER_FAILOVER_DEMAND. host_failures N: any N of them; percent: that share of their capacity;
 * dedicated: as many hosts as there are failover hosts, with the failover hosts running VMs instead. */
enum power_check failover_demand_check(const struct power *w, struct power_verdict *ret);

/* ---- sleep_worth.c ---- */

/* How long demand is expected to stay low enough without the slot, which was closed: by past quiet times,
 * else dpm.off_min_s. POWER_QUIET_SHORT: less than dpm.off_min_s. Where time off would not pay for a shortage
 * at the next rise, w->u.rise is set: hosts that receive VMs must be able to serve it. */
enum power_check sleep_worth_expect(struct power *w, uint32_t slot, struct power_verdict *v);

/* Cost and benefit of the steps from `first` on, which have evacuated the slot. ret->quiet_s is
 * given. */
void sleep_worth_estimate(const struct power *w, uint32_t slot, size_t first, struct sleep_worth *ret);

/* Whether the power-off pays: POWER_FINE or POWER_COST_BENEFIT. ret_r: the resource that decided. */
enum power_check sleep_worth_pays(const struct power *w, const struct sleep_worth *worth,
                                  enum resource *ret_r);

/* ---- reserve.c ---- */

/* Whether pipelines with a reserve decide about the power of hosts, instead of the target range. */
bool reserve_decides(const struct pass *p);

/* For each such pipeline: wakes a host, or puts one without VMs to standby, so that as many of these are on
 * as it keeps. may_sleep: whether hosts may go to standby in this pass. */
void reserve_step(struct power *w, bool may_sleep);

/* ---- wake.c ---- */

void wake_hosts(struct power *w);

/* The part of the squared high scores that moves among the present hosts cannot remove. Tried and undone.
 * resting: moves VMs in cool-down as well. */
double wake_left_over(struct power *w, bool resting);

/* Moves VMs off hosts above the range to other hosts that are on, and leaves the what-if in place. Whether no
 * host is above the range then. */
bool wake_relieves_all(struct power *w);

/* ---- power_finding.c ---- */

/* The fullest hosts in the what-if's present state. */
struct fullest power_finding_fullest(const struct power *w, enum window window);
struct finding power_finding_sleep(const struct power *w, uint32_t slot, const struct power_verdict *v);
struct finding power_finding_wake(const struct power *w, uint32_t slot, const struct power_verdict *v);

/* ---- why_not.c ---- */

/* The check that decided about the host in this pass. */
void power_why(const struct power *w, uint32_t host, struct power_verdict *ret);

/* Its finding, with the figures. */
struct finding power_why_finding(const struct power *w, uint32_t host, const struct power_verdict *v);

#endif
