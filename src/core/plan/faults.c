/* Calls the reports of faults that exist before the pass decides anything. */
#include "core/plan/faults.h"

#include "core/plan/plan.h"

void plan_report_state(struct pass *p)
{
    const struct snapshot *s = p->snap;

    plan_report_pools(p);
    for (uint32_t i = 0; i < s->n_hosts; i++)
        if (s->hosts[i].is.state == HOST_DISCONNECTED && s->hosts[i].vms.n > 0)
            plan_fault(p, FAULT_HOST_DISCONNECTED, IX_NONE, i, IX_NONE,
                       (struct finding){.code = FIND_HOST_UNSEEN,
                                        .subjects = {{SUBJECT_HOST, i}},
                                        .figures = {{FIGURE_VMS, s->hosts[i].vms.n}}});
    plan_report_samples(p);
    plan_report_rules(p);
}
