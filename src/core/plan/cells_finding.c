/* cells_finding.c: what a host lacks of the NUMA cells and devices that a VM needs, with its figures. */
#include "core/plan/findings.h"

bool cells_finding(const struct layout *l, uint32_t unit, uint32_t slot, struct finding *f)
{
    static const enum finding_figure of_figure[] = {[CELLS_CPUS] = FIGURE_CELL_CPUS,
                                                    [CELLS_DEDICATED] = FIGURE_CELL_DEDICATED,
                                                    [CELLS_MEM] = FIGURE_CELL_MEM};
    struct cells_shortage x;
    uint32_t vm;

    if (!l->cells || layout_cells_refuse(l, unit, slot, IX_NONE, &vm, &x) == CHECK_NONE)
        return false;
    finding_subject(f, SUBJECT_OTHER_VM, vm);
    finding_subject(f, SUBJECT_HOST, l->slot_host[slot]);
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
