/* plan.h: the decision of a pass (ballast-plan/1), before it is rendered.
 *
 * Lives in the arena of its pass; indices refer to the pass's snapshot.
 */
#ifndef BALLAST_PLAN_H
#define BALLAST_PLAN_H

#include <ballast/finding.h>
#include <ballast/policy.h>
#include <ballast/snapshot.h>

struct host_load {
    uint32_t host;
    double n[RES_COUNT]; /* normalized entitlement */
};

/* A reason why a state is not even. */
struct unevenness {
    enum uneven kind;
    const struct finding *found;
};

#define UNEVENNESS_MAX 5 /* the imbalance, and the other two for each resource */

/* The state of the cluster in figures; §3.1.1 and §4.1. */
struct metrics {
    double imbalance;
    double imbalance_of[RES_COUNT]; /* population standard deviation of n */
    double weight[RES_COUNT];
    double target;
    double dpm_high[RES_COUNT], dpm_low[RES_COUNT];
    struct host_load *hosts; /* those that can run VMs, by index */
    uint32_t n_hosts;
    struct unevenness uneven[UNEVENNESS_MAX]; /* most serious first; none: the load is even */
    uint32_t n_uneven;
};

/* Another host that could power on the VM, with the reasons for the chosen host. */
struct alternative {
    uint32_t host;
    double imbalance_after;
    const struct finding *found;
};

#define PRIORITY_MANDATORY 1
#define PRIORITY_PREFERRED 2 /* for a preferred rule */

struct recommendation {
    uint32_t id; /* 1, 2, ... in the order in which they can be carried out */
    enum action_kind action;
    unsigned priority;                 /* 1 mandatory ... 5 slight */
    uint32_t vm, from, to, host, rule; /* IX_NONE where it does not apply */
    enum reason reason;
    const struct finding *found; /* its reason, with the deciding figures */
    const uint32_t *depends_on;  /* ids that must have succeeded first; ascending */
    uint32_t n_depends_on;
    uint32_t group; /* 0: none; moves that only make sense together share one */
    double imbalance_after;
    double cost[RES_COUNT], benefit[RES_COUNT]; /* MHz s, MiB s */
    double duration_s;
    const struct alternative *alternatives; /* ACTION_PLACE of a single VM: other hosts, best first */
    uint32_t n_alternatives;
};

/* The controls that a VM should have on its host, where hosts have no pools (§3.1.7). */
struct vm_setting_due {
    uint32_t vm, host;
    struct vm_control to; /* given false: back to those of its admin, whose values these are */
};

struct fault {
    enum fault_code code;
    uint32_t vm, host, rule; /* IX_NONE where it does not apply */
    const struct finding *found;
};

/* The VMs without failover capacity: one fault names one of them and counts the others. */
static inline double plan_vms_unprotected(const struct fault *faults, size_t n)
{
    double vms = 0;

    for (size_t i = 0; i < n; i++) {
        int of_fault = finding_find_figure(faults[i].found, FIGURE_VMS);
        if (faults[i].code == FAULT_SPARE_MISSING)
            vms += of_fault < 0 ? 1 : faults[i].found->figures[of_fault].value;
    }
    return vms;
}

/* Says what failover capacity the cluster of one plan has, and that of the other does not; NULL: nothing. */
static inline const struct fault *plan_capacity_given_up(const struct fault *now, size_t n_now,
                                                         const struct fault *then, size_t n_then)
{
    if (plan_vms_unprotected(then, n_then) <= plan_vms_unprotected(now, n_now))
        return NULL;
    for (size_t i = 0; i < n_then; i++) {
        double more = plan_vms_unprotected(&then[i], 1);
        for (size_t k = 0; k < n_now; k++)
            more -= now[k].found->code == then[i].found->code ? plan_vms_unprotected(&now[k], 1) : 0;
        if (more > 0)
            return &then[i];
    }
    return NULL;
}

/* A lower bound of the imbalance after any plan (policy.bound). */
struct plan_bound_facts {
    uint32_t vms;       /* VMs that the plan may move for balance; if it reaches the target, that it moves */
    double imbalance;   /* after these moves of the plan */
    double least;       /* no plan that moves as many VMs ends at a lower imbalance */
    double least_ruled; /* the same for plans that keep rules and pipelines */
    bool reaches;       /* the plan reaches the target */
    uint32_t vms_least; /* if so: no plan that moves fewer VMs reaches it */
    const struct finding *found;
};

struct plan_stats {
    uint64_t candidates; /* pairs of a VM and a host that the pass could have evaluated */
    uint64_t evaluated;  /* evaluated pairs; the others were proved worse */
    uint64_t rejected[check_count];
    const struct plan_bound_facts *bound; /* NULL: not asked for, or there is no balancing */
    int64_t decide_us;                    /* filled in by the caller, which has a clock */
};

struct plan {
    const struct snapshot *snap;
    struct policy policy; /* moves_max resolved */
    struct metrics before, after;
    struct recommendation *recommendations;
    uint32_t n_recommendations;
    struct host_setting *settings; /* that should change, by host, then pool (§3.1.7) */
    uint32_t n_settings;
    struct vm_setting_due *vm_settings; /* that should change, by host, then VM */
    uint32_t n_vm_settings;
    struct fault *faults;
    uint32_t n_faults;
    uint32_t n_candidates; /* hosts for the only VM that is to be powered on; else 0 */
    enum check end;        /* why there are no more moves for balance: CHECK_TARGET_REACHED, CHECK_MOVES_MAX,
                            * CHECK_MANDATORY_ONLY, CHECK_POWER_FIRST, CHECK_NO_SPACE; CHECK_NONE: none passed, see
                            * stats.rejected */
    const struct finding *ratio;   /* what the threshold asks of a move for balance; NULL: nothing is asked */
    const struct finding *refused; /* end CHECK_NONE: why the best move for balance was rejected; NULL: none
                                    * would lower the imbalance */
    const struct finding *stays_on; /* until when past quiet times keep hosts on; NULL: they keep none */
    const instant_s
        *ready_wakes; /* by host: when it is woken for dpm.ready_by at the latest; 0: not. NULL: none */
    uint64_t spaces_before, spaces_after; /* for VMs of the size of policy.room, in all hosts */
    const struct finding *room;           /* both, in words; NULL: the policy gives no size */
    struct plan_stats stats;
};

#endif
