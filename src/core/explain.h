/* explain.h: the check that decides about each destination of a VM, or about a host's power.
 *
 * The pass runs again up to the VM's move; for a VM that stays up to the last step that could have moved it:
 * the moves for balance, or those that empty its host, which come before them. Every host is judged at that
 * moment by the functions that the pass itself uses. */
#ifndef BALLAST_CORE_EXPLAIN_H
#define BALLAST_CORE_EXPLAIN_H

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/plan.h>

struct candidate {
    uint32_t host;
    enum verdict verdict;
    enum check check;
    const struct finding *found;
    double imbalance_after;                     /* UNKNOWN: an earlier check rejected the host */
    double cost[RES_COUNT], benefit[RES_COUNT]; /* likewise */
    double score;        /* by the VM's pipeline; UNKNOWN: it refuses the host, or has no scores */
    const double *parts; /* of the score, by scoring stage; NULL likewise */
};

struct explanation {
    uint32_t vm;
    struct candidate *candidates; /* by host */
    uint32_t n;
    const struct finding *summary;
    const struct stage_left
        *left; /* the hosts that are on and pass each stage of its pipeline; n_left 0: none */
    uint32_t n_left;
    const uint32_t *scoring; /* the stages of its pipeline that score; n_scoring 0: none */
    uint32_t n_scoring;
};

/* host: IX_NONE for all hosts. -EINVAL: the snapshot has no such VM or host. */
int explain_vm(const struct snapshot *snap, const struct policy *policy, uint32_t vm, uint32_t host,
               struct arena *a, struct explanation *ret, struct err *err);

/* Why the plan wakes a host, puts it to standby, or does neither (§4). */
struct host_explanation {
    uint32_t host;
    enum verdict verdict;   /* chosen, or rejected */
    enum power_check check; /* POWER_FINE: the plan wakes it or puts it to standby */
    const struct finding *found;
    double utilization[RES_COUNT];              /* mean over 40 minutes plus two deviations; UNKNOWN */
    double cost[RES_COUNT], benefit[RES_COUNT]; /* of a power-off; UNKNOWN: not judged */
    const struct finding *outlook;              /* the demand forecast; NULL: none */
    const struct finding *distrust;             /* it was lost again and again; NULL: it is trusted */
    double off_s, watts;                        /* UNKNOWN likewise, or not known */
};

int explain_host(const struct snapshot *snap, const struct policy *policy, uint32_t host, struct arena *a,
                 struct host_explanation *ret, struct err *err);

#endif
