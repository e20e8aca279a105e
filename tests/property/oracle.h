/* oracle.h: answers the core's questions from the snapshot, in the slowest way.
 *
 * No running sums, no units, no slots: every figure is added up over all VMs. A running migration counts
 * on both of its hosts. A VM that is about to be powered on, by an approved recommendation or by the plan,
 * is on its host from the moment at which its start may begin, and may then use its whole size. Agent VMs
 * that do not run yet count with their reservations. */
#ifndef BALLAST_TESTS_ORACLE_H
#define BALLAST_TESTS_ORACLE_H

#include <ballast/plan.h>

enum oracle_need { ORACLE_CPU_RESERVED, ORACLE_MEM_RESERVED, ORACLE_MEM, ORACLE_PHYSICAL, ORACLE_NEEDS };

struct oracle {
    const struct snapshot *snap;
    const struct policy *policy;
    struct arena *a;
    double *entitlement[RES_COUNT];
    uint32_t *home;      /* by VM: its host at the start; IX_NONE: takes no part */
    uint32_t *home_also; /* ... and the other end of its migration that was under way or approved then */
    bool *arrived;       /* ... which is the end that it comes from */
    uint32_t *at, *also; /* now */
    bool *in_flight;
    bool *starts; /* by VM: it is powered on, and nobody knows what it will use */
    bool *woken;  /* by host: it was in standby, and runs VMs now */
    bool *asleep; /* by host: it was on, and is in standby now */
};

void oracle_init(struct oracle *o, const struct snapshot *snap, const struct policy *policy, struct arena *a);

/* Says that these VMs are going to be powered on by the plan. VMs whose power-on is approved then count with
 * all that they may use, too. Once, after oracle_init(). */
void oracle_expect(struct oracle *o, const uint32_t *vms, uint32_t n);

/* All VMs back to where they were, and all hosts as they were. */
void oracle_reset(struct oracle *o);

/* It wakes a host, or puts one to standby. */
static inline bool oracle_is_power(const struct recommendation *rec)
{
    return rec->action == ACTION_POWER_ON || rec->action == ACTION_POWER_OFF;
}

/* The recommendation has begun; it has succeeded. */
void oracle_begin(struct oracle *o, const struct recommendation *rec);
void oracle_end(struct oracle *o, const struct recommendation *rec);

/* Whether the host runs VMs now; and whether it may receive any: it is not about to go, and its agents are
 * there. */
static inline bool oracle_runs_vms(const struct oracle *o, uint32_t host)
{
    return (host_can_run_vms(&o->snap->hosts[host]) && !o->asleep[host]) || o->woken[host];
}

bool oracle_receives(const struct oracle *o, uint32_t host);

static inline bool oracle_is_on(const struct oracle *o, uint32_t vm, uint32_t host)
{
    return o->at[vm] == host || o->also[vm] == host;
}

/* What one VM needs of its destination, and what its host gets back. */
double oracle_needs(const struct oracle *o, uint32_t vm, enum oracle_need need);
double oracle_frees(const struct oracle *o, uint32_t vm, enum oracle_need need);

/* What backs the VM and may be taken back by the settings; of all VMs that are on the host, now or at the
 * start. */
double oracle_idle(const struct oracle *o, uint32_t vm);
double oracle_idle_on(const struct oracle *o, uint32_t host, bool at_start);

/* What is taken of the host now, and what its VMs can have. ORACLE_PHYSICAL: since the start, of what was
 * free then. */
double oracle_taken(const struct oracle *o, uint32_t host, enum oracle_need need);
/* What the host itself takes before its VMs do. */
double oracle_own_use(const struct oracle *o, uint32_t host, enum oracle_need need);

double oracle_limit(const struct oracle *o, uint32_t host, enum oracle_need need);

/* Whether the counts of its pipeline let the VM join those that are there now. */
bool oracle_counts_allow(const struct oracle *o, uint32_t vm, uint32_t host, enum fit_use use);

/* Whether the filters that moves change let the VM come, with those that move with it (by VM; NULL: none).
 * Adds the number of such filters to *ret_asked. */
bool oracle_live_allows_at(const struct oracle *o, uint32_t vm, uint32_t host, enum fit_use use,
                           const bool *with, unsigned *ret_asked);

/* Whether the filters that moves change let the recommendation bring its VM now, which may have begun. VMs
 * that move with it are left out. Adds the number of such filters to *ret_asked. */
bool oracle_live_allows(const struct oracle *o, const struct plan *plan, const struct recommendation *rec,
                        unsigned *ret_asked);

/* Whether its needs fit on top of what is there now, and its counts. */
bool oracle_fits(const struct oracle *o, uint32_t vm, uint32_t host);

/* By compatibility and by the rules; with_preferred: by all of them. */
/* Whether the facts of the VM or of the host forbid the recommendation: its destination does not offer what
 * the VM needs, or the VM is moved though it is immovable, or for less than a mandatory reason. */
bool oracle_forbids(const struct snapshot *s, const struct recommendation *rec);

/* Whether the host offers what the VM needs, name by name. */
bool oracle_offers(const struct snapshot *s, uint32_t vm, uint32_t host);

/* What binds the VM there: it stays, it is powered on by this plan, or it moves. One whose start is approved
 * has its host already. */
enum fit_use oracle_fit_use(const struct oracle *o, uint32_t vm, bool runs_there);

bool oracle_may_run(const struct oracle *o, uint32_t vm, uint32_t host, bool with_preferred);

/* By a rule, or as the halves of a fault-tolerant pair. */
bool oracle_kept_apart(const struct oracle *o, uint32_t x, uint32_t y, bool with_preferred);

/* Whether one that must be kept apart from the VM is there. */
bool oracle_meets(const struct oracle *o, uint32_t vm, uint32_t host, bool with_preferred);

/* N, and the imbalance with the weights of this state or with given ones; the standard deviation in two
 * passes. Over the hosts that run VMs. */
double oracle_norm(const struct oracle *o, uint32_t host, enum resource r);
void oracle_weights(const struct oracle *o, double ret_weight[RES_COUNT]);
double oracle_sigma(const struct oracle *o, enum resource r);
double oracle_imbalance(const struct oracle *o);
double oracle_imbalance_at(const struct oracle *o, const double weight[RES_COUNT]);

/* The snapshot that an inventory would show after the plan was carried out; moved VMs were migrated at
 * `moved_at`. */
void oracle_carried_out(const struct plan *plan, instant_s moved_at, struct arena *a, struct snapshot *ret);

/* The same recommendations in the same order with the same figures, and the same faults. */
bool oracle_same_plan(const struct plan *x, const struct plan *y);

/* A move for balance, alone or as a part of an exchange. */
static inline bool oracle_is_balancing(const struct recommendation *rec)
{
    return rec->reason == REASON_BALANCE_CPU || rec->reason == REASON_BALANCE_MEM ||
           rec->reason == REASON_EXCHANGE;
}

/* A prerequisite move that is not mandatory makes room for a power-off. */
static inline bool oracle_makes_room_to_sleep(const struct recommendation *rec)
{
    return rec->reason == REASON_PREREQUISITE && rec->priority > 1;
}

#endif
