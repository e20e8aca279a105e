/* guard.h: figures that cannot be right decide nothing.
 *
 * A VM whose figures are missing (demand_unknown), old, or more than the VM could use is left where it is: it
 * may have to leave its host, but is not moved for balance. It counts with what is known of it, never with
 * more than it could use. When more than a tenth of a cluster's VMs are like that, the picture as a whole is
 * not to be trusted, and the pass makes mandatory moves only.
 *
 * What is malformed in itself (a negative demand, a mean outside its minimum and maximum) never gets here: a
 * snapshot with it is refused, and who reads a live source marks it (sample_bad).
 */
#ifndef BALLAST_CORE_GUARD_H
#define BALLAST_CORE_GUARD_H

#include <ballast/arena.h>
#include <ballast/finding.h>
#include <ballast/policy.h>
#include <ballast/snapshot.h>

struct guard {
    /* The snapshot with a sample_bad for every VM that takes part and whose figures cannot be right, and
     * these figures put within what the VM could use. The snapshot itself where nothing is to be mended. */
    const struct snapshot *snap;
    const struct finding **found; /* by VM: what cannot be right about its figures; NULL: of no VM anything */
    uint32_t n, n_bad; /* VMs that take part, and of these the ones with missing, old or impossible figures */
};

/* What is mended lives in a. */
void guard_judge(const struct snapshot *snap, const struct policy *policy, struct arena *a,
                 struct guard *ret);

/* Whether too many figures are bad for any move that is not mandatory. Literally more than a tenth: of nine
 * VMs or fewer a single one is enough. */
bool guard_distrusts(const struct guard *g);

/* What cannot be right about the figures of a VM that takes part. False: nothing. That figures are missing is
 * not found here. */
bool guard_find(const struct snapshot *snap, const struct policy *policy, uint32_t vm, struct finding *ret);

/* The same of a VM that was judged; NULL: nothing. */
const struct finding *guard_found(const struct guard *g, uint32_t vm);

/* The most that a VM on a host can use: a core for each vCPU; its configured memory, and the hypervisor's own
 * for it. While it is being migrated, a core of the faster of the two hosts: the figures may be of either. */
double guard_most(const struct snapshot *snap, uint32_t vm, enum resource r);

#endif
