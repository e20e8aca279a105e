/* sample_guard.h: bad samples decide nothing.
 *
 * A VM whose samples are missing (demand_unknown), stale, or above what it could use is not moved for
 * balance; mandatory moves may move it. It counts with the known figures, capped by what it could use. If
 * more than a tenth of a cluster's VMs have bad samples, the pass makes mandatory moves only.
 *
 * Malformed figures (a negative demand, a mean outside minimum and maximum) do not get here: the snapshot is
 * refused, or the collector marks them (sample_bad). */
#ifndef BALLAST_CORE_DEMAND_SAMPLE_GUARD_H
#define BALLAST_CORE_DEMAND_SAMPLE_GUARD_H

#include <ballast/arena.h>
#include <ballast/finding.h>
#include <ballast/policy.h>
#include <ballast/snapshot.h>

struct guard {
    /* The snapshot with sample_bad set for every VM that takes part and has impossible samples, and its
     * figures capped; and with what squeezed guests would use. The original snapshot if there are none. */
    const struct snapshot *snap;
    const struct finding **found; /* by VM: what is impossible; NULL: no VM has impossible samples */
    uint32_t n, n_bad;            /* VMs that take part; those with missing, stale or impossible samples */
};

/* The copies live in a. */
void sample_guard_judge(const struct snapshot *snap, const struct policy *policy, struct arena *a,
                        struct guard *ret);

/* Whether too many samples are bad for moves that are not mandatory: more than a tenth, so of nine VMs or
 * fewer a single one. */
bool sample_guard_distrusts(const struct guard *g);

/* The impossible figure of a VM that takes part. False: none. Missing samples are not found here. */
bool sample_guard_find(const struct snapshot *snap, const struct policy *policy, uint32_t vm,
                       struct finding *ret);

/* What sample_guard_judge() found of the VM; NULL: nothing. */
const struct finding *sample_guard_found(const struct guard *g, uint32_t vm);

/* The most that a VM can use on its host: a core per vCPU; its configured memory and the hypervisor's
 * overhead. During a migration, a core of the faster host, because the figures may be of either. */
double sample_guard_most(const struct snapshot *snap, uint32_t vm, enum resource r);

#endif
