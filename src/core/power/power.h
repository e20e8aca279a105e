/* power.h: which hosts are put to standby, or woken (§4): what the pass calls, and what the files of power/
 * share.
 *
 * A what-if is played on the pass's own layout and taken back: what it does is written down step by step
 * (what_if_move(), what_if_close()) and undone to the last digit (what_if_undo()). What was chosen is then
 * made anew by the same functions that make every other move (plan_move()).
 */
#ifndef BALLAST_CORE_POWER_H
#define BALLAST_CORE_POWER_H

#include "core/plan/pass_state.h"
#include "core/power/utilization.h"

/* On the state that everything before has produced. */
void power_evaluate(struct pass *p);

/* The same before anything is balanced, for power-offs alone: what is moved for balance first could be moved
 * to a host that is not needed. False: no host is put to standby, and the pass goes on. */
bool power_first(struct pass *p);

/* ---- within power/, and for explain ---- */

#define PRIORITY_WAKE 2
#define PRIORITY_SLEEP 3

/* One move of a what-if. */
struct what_if_step {
    uint32_t unit, to;
    bool moved_before;        /* by an earlier step */
    struct unserved unserved; /* how much more goes unserved after it, at the worst-case demand */
    struct layout_mark layout;
    struct utilization_mark utilization;
};

/* What powering a host off costs and gains, in MHz s and MiB s. */
struct sleep_worth {
    double cost[RES_COUNT], benefit[RES_COUNT];
    double usual[RES_COUNT]; /* the cost without the early-wake penalty */
    double lacks[RES_COUNT]; /* what would go unserved without it at the worst-case demand, MHz and MiB */
    double off_s;            /* how long it is expected to be off */
    double evacuate_s;       /* until it is empty */
    double watts;            /* saved meanwhile; UNKNOWN */
};

/* Why a host is not put to standby or woken, or that it is. */
struct power_verdict {
    bool asked; /* false: its turn never came */
    enum power_check check;
    uint32_t vm, other; /* that the check is about: a VM; a host or a rule (indices of the snapshot) */
    enum resource r;
    double is, bound; /* the figures that were compared; UNKNOWN */
    struct scores before, after;
    struct sleep_worth worth;
    uint32_t n_moves;            /* VMs that have to leave */
    const struct expected *soon; /* POWER_NEEDED_SOON: what it is needed for */
};

/* The hosts that are fullest, and how full. */
struct fullest {
    uint32_t host[RES_COUNT]; /* IX_NONE: no host runs VMs */
    double load[RES_COUNT];
};

struct power {
    struct pass *p;
    struct layout *l;
    struct utilization u;
    struct scores scores; /* of the state that the what-if has come to */
    struct what_if_step *steps;
    size_t n_steps, cap_steps;
    bool *moved;     /* by unit: by a step */
    uint32_t *home;  /* by unit: where it was before the first step */
    bool *busy;      /* by slot: one end of a migration under way, or of something approved */
    uint32_t *alive; /* slots that are on and stay so */
    uint32_t n_alive;
    double alive_capacity[RES_COUNT];
    uint32_t *order, n_order; /* slots in the order in which they are tried for standby */
    uint32_t *asleep;         /* slots that are put to standby, in the order of the decisions */
    uint32_t n_asleep;
    uint64_t moves_left;                /* of policy.moves_max */
    double stable_s;                    /* how long demand is expected to stay as it is */
    struct fullest fullest;             /* once all of those are asleep */
    struct failover_capacity failover0; /* the pass's own */
    struct power_verdict *verdicts;     /* by slot */
    enum power_check end;               /* why no other host that is on was asked */
    enum power_check wake_end;          /* ... that sleeps */
    const struct rise *rise; /* expected.h: what hosts are woken for; NULL: for what is wanted now */
};

/* ---- what_if.c ---- */

void what_if_begin(struct power *w, struct pass *p);

/* Moves the unit on the what-if. The caller has checked. */
void what_if_move(struct power *w, uint32_t unit, uint32_t to);

/* Takes back all steps but the first n. */
void what_if_undo(struct power *w, size_t n);

/* The slot leaves the cluster, or comes back. */
void what_if_close(struct power *w, uint32_t slot);
void what_if_reopen(struct power *w, uint32_t slot);

/* ---- rank.c: the orders of §4.4. Slots, the first to be tried first. ---- */

uint32_t rank_to_sleep(const struct power *w, uint32_t *ret);
uint32_t rank_to_wake(const struct power *w, uint32_t *ret);

/* ---- sleep.c, sleep_checks.c ---- */

/* Puts to standby what can be, one after the other. */
void sleep_hosts(struct power *w);

/* What speaks against a host without moving anything; POWER_FINE: nothing does. */
enum power_check sleep_check(const struct power *w, uint32_t slot, struct power_verdict *ret);

/* Whether DPM leaves the host as it is, by what the host says or, where it says nothing, the setting. */
bool power_is_disabled(const struct power *w, uint32_t slot);

/* Of this, what the host itself is and says; of one that sleeps whether it may be woken. */
enum power_check sleep_check_host(const struct power *w, uint32_t slot, struct power_verdict *ret);
enum power_check wake_check_host(const struct power *w, uint32_t slot);

/* ---- sleep_worth.c ---- */

double sleep_worth_stable_time(const struct power *w);

/* The worth of the steps from `first` on, which have emptied the slot. */
void sleep_worth_estimate(const struct power *w, uint32_t slot, size_t first, struct sleep_worth *ret);

/* Whether it does: POWER_FINE, POWER_COST_BENEFIT, or POWER_MISSED_BEFORE, if it would without the early-wake
 * penalty. ret_r: the resource that decided. */
enum power_check sleep_worth_pays(const struct power *w, const struct sleep_worth *worth,
                                  enum resource *ret_r);

/* ---- wake.c ---- */

void wake_hosts(struct power *w);

/* What of the squares of the high scores the hosts that are on cannot do away with among themselves. Played
 * and taken back. resting: also with VMs that were moved a short time ago. */
double wake_left_over(struct power *w, bool resting);

/* ---- power_finding.c ---- */

/* Of the what-if as it stands. */
struct fullest power_finding_fullest(const struct power *w, enum window window);
struct finding power_finding_sleep(const struct power *w, uint32_t slot, const struct power_verdict *v);
struct finding power_finding_wake(const struct power *w, uint32_t slot, const struct power_verdict *v);

/* ---- why_not.c ---- */

/* What decided about the host in this pass. */
void power_why(const struct power *w, uint32_t host, struct power_verdict *ret);

/* The same with the figures that decided. */
struct finding power_why_finding(const struct power *w, uint32_t host, const struct power_verdict *v);

#endif
