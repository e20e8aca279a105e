/* Adds faults for samples that the guard (demand/sample_guard.h) rejects. */
#include "core/plan/faults.h"

void plan_report_samples(struct pass *p)
{
    const struct snapshot *s = p->snap;
    const struct guard *g = &p->guard;

    if (sample_guard_distrusts(g))
        plan_fault(p, FAULT_SAMPLES_BAD, IX_NONE, IX_NONE, IX_NONE,
                   (struct finding){.code = FIND_SAMPLES_DISTRUSTED,
                                    .figures = {{FIGURE_VMS, g->n_bad}, {FIGURE_VMS_ALL, g->n}}});
    for (uint32_t i = 0; i < s->n_vms; i++) {
        const struct vm *v = &s->vms[i];
        if (!vm_takes_part(s, v))
            continue;
        if (v->is.demand_unknown)
            plan_fault(p, FAULT_DEMAND_UNKNOWN, i, v->host, IX_NONE,
                       (struct finding){.code = FIND_DEMAND_UNKNOWN, .subjects = {{SUBJECT_VM, i}}});
        else if (v->is.sample_bad)
            plan_fault(p, FAULT_SAMPLE_BAD, i, v->host, IX_NONE,
                       (struct finding){.code = FIND_SAMPLE_DISTRUSTED,
                                        .subjects = {{SUBJECT_VM, i}},
                                        .because = sample_guard_found(g, i)});
    }
}
