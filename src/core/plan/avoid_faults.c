/* Adds a fault for everything that is not tried again yet because it failed. */
#include "core/plan/faults.h"

#include "core/plan/findings.h"

void plan_report_avoided(struct pass *p)
{
    const struct snapshot *s = p->snap;

    for (uint32_t i = 0; i < s->n_avoid; i++) {
        const struct avoid *x = &s->avoid[i];
        if (s->time >= x->until)
            continue;
        plan_fault(p, FAULT_AVOID, x->vm, x->host, IX_NONE, finding_of_avoid(FIND_AVOID, x));
    }
}
