/* fit_finding.c: which stage of its pipeline refuses a host to a VM, and what the host lacks of the NUMA
 * cells and devices that a VM needs, with the figures. */
#include "core/plan/findings.h"

bool fit_finding_refusal(const struct pass *p, uint32_t vm, uint32_t host, bool live, struct finding *f)
{
    const struct fit_live now = layout_live(&p->layout);

    f->refusal =
        fit_refusal(&p->rules.fit, rules_fit_use(&p->snap->vms[vm]), vm, host, live ? &now : NULL, p->a);
    if (!f->refusal)
        return false;
    finding_subject(f, SUBJECT_OTHER_VM, vm);
    finding_subject(f, SUBJECT_HOST, host);
    finding_subject(f, SUBJECT_STAGE, f->refusal->stage);
    return true;
}

bool fit_finding_quantity(const struct layout *l, uint32_t vm, uint32_t slot, struct finding *f)
{
    struct layout_excess x;
    uint32_t unit = l->vm_unit[vm];

    if (!l->used || !(unit == IX_NONE ? layout_quantity_refuses_vm(l, vm, slot, &x)
                                      : layout_quantity_refuses(l, FIT_MOVE, unit, slot, &x)))
        return false;
    finding_subject(f, SUBJECT_OTHER_VM, x.vm);
    finding_subject(f, SUBJECT_HOST, l->slot_host[slot]);
    finding_subject(f, SUBJECT_STAGE, x.stage);
    finding_figure(f, FIGURE_TAKES, (double)x.takes / FIT_AMOUNT_ONE);
    finding_figure(f, FIGURE_USED, (double)x.used / FIT_AMOUNT_ONE);
    finding_figure(f, FIGURE_AT_MOST, x.limit == FIT_NOTHING ? UNKNOWN : (double)x.limit / FIT_AMOUNT_ONE);
    return true;
}

bool fit_finding_cells(const struct layout *l, uint32_t vm, uint32_t slot, struct finding *f)
{
    static const enum finding_figure of_figure[] = {[CELLS_CPUS] = FIGURE_CELL_CPUS,
                                                    [CELLS_DEDICATED] = FIGURE_CELL_DEDICATED,
                                                    [CELLS_MEM] = FIGURE_CELL_MEM};
    struct cells_shortage x;
    uint32_t unit = l->vm_unit[vm];
    enum check check = unit == IX_NONE || !l->cells ? layout_cells_refuse_vm(l, vm, slot, &x)
                                                    : layout_cells_refuse(l, unit, slot, IX_NONE, &vm, &x);

    if (check == CHECK_NONE)
        return false;
    uint32_t stage = fit_needs_stage(&l->rules->fit, vm, check);
    finding_subject(f, SUBJECT_OTHER_VM, vm);
    finding_subject(f, SUBJECT_HOST, l->slot_host[slot]);
    if (stage != IX_NONE)
        finding_subject(f, SUBJECT_STAGE, stage);
    switch (x.lack) {
    case LACK_TOGETHER:
        break;
    case LACK_CELLS:
        finding_figure(f, FIGURE_CELLS, x.cell);
        break;
    case LACK_FIGURE:
        finding_figure(f, FIGURE_CELL, x.cell);
        finding_figure(f, of_figure[x.figure], (double)x.takes);
        finding_figure(f, FIGURE_USED, (double)x.used);
        finding_figure(f, FIGURE_AT_MOST, (double)x.at_most);
        break;
    case LACK_PAGES:
        finding_figure(f, FIGURE_CELL, x.cell);
        finding_figure(f, FIGURE_CELL_PAGES, (double)x.takes);
        break;
    case LACK_DEVICES:
        finding_figure(f, FIGURE_TAKES, (double)x.takes);
        finding_figure(f, FIGURE_AT_MOST, (double)x.at_most);
        break;
    }
    return true;
}
