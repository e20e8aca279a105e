/* What an admin is to know of the figures that a pass did not believe. */
#include "core/plan/faults.h"

void plan_report_samples(struct pass *p)
{
    const struct snapshot *s = p->snap;
    const struct guard *g = &p->guard;

    if (guard_distrusts(g))
        pass_fault(p, FAULT_SAMPLES_BAD, IX_NONE, IX_NONE, IX_NONE,
                   arena_printf(p->a,
                                "The figures of %u of %u VMs are missing, old or impossible, which is more "
                                "than a tenth: only mandatory moves are made.",
                                g->n_bad, g->n));
    for (uint32_t i = 0; i < s->n_vms; i++) {
        const struct vm *v = &s->vms[i];
        if (!vm_takes_part(s, v))
            continue;
        if (v->is.demand_unknown)
            pass_fault(p, FAULT_DEMAND_UNKNOWN, i, v->host, IX_NONE,
                       arena_printf(p->a, "What %s needs could not be read; it is not moved for balance.",
                                    v->is.name));
        else if (v->is.sample_bad)
            pass_fault(p, FAULT_SAMPLE_BAD, i, v->host, IX_NONE,
                       arena_printf(p->a, "%s is not moved for balance: %s.", v->is.name, v->is.sample_bad));
    }
}
