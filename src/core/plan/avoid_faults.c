/* Adds a fault for everything that is not tried again yet because it failed. */
#include "core/plan/faults.h"

#include "core/plan/findings.h"

/* What the cluster, a host, or one VM avoids: fewer and fewer VMs. */
enum scope { SCOPE_CLUSTER, SCOPE_HOST, SCOPE_VM, N_SCOPES };

static enum scope scope_of(const struct avoid *x)
{
    return x->vm != IX_NONE ? SCOPE_VM : x->host != IX_NONE ? SCOPE_HOST : SCOPE_CLUSTER;
}

/* The pause of the cluster comes first, and single VMs, of which there may be hundreds, last: lists of faults
 * are cut off. */
void plan_report_avoided(struct pass *p)
{
    const struct snapshot *s = p->snap;

    for (enum scope scope = SCOPE_CLUSTER; scope < N_SCOPES; scope++)
        for (uint32_t i = 0; i < s->n_avoid; i++) {
            const struct avoid *x = &s->avoid[i];
            if (s->time < x->until && !x->is_rejection && scope_of(x) == scope)
                plan_fault(p, FAULT_AVOID, x->vm, x->host, IX_NONE, finding_of_avoid(FIND_AVOID, x));
        }
}
