/* Builds the finding of a recommendation: the subjects, the loads of both hosts, the figures of the reason.
 */
#include "core/plan/correct.h"

static struct finding find_wake(const struct pass *p, const struct decision *d)
{
    return (struct finding){
        .code = FIND_WAKE,
        .reason = d->reason,
        .subjects = {{SUBJECT_HOST, p->layout.slot_host[d->to_slot]}, {SUBJECT_FOR_VM, d->for_vm}}};
}

/* Of each VM of the unit an equal part; UNKNOWN: nothing is reclaimed. */
static double reclaimed_mb(const struct pass *p, const struct decision *d)
{
    uint32_t members = p->layout.unit_from[d->unit + 1] - p->layout.unit_from[d->unit];

    return d->worth.reclaimed_mb > 0 ? d->worth.reclaimed_mb / members : UNKNOWN;
}

/* The number of decisions before this one, if any of them changes the loads of its hosts; else UNKNOWN. */
static double decisions_before(const struct pass *p, const struct decision *d)
{
    const size_t before = d == &p->next ? p->n_decisions : (size_t)(d - p->decisions);

    for (size_t i = before; i-- > 0;) {
        const struct decision *e = &p->decisions[i];

        if (e->unit != IX_NONE &&
            (e->to_slot == d->from_slot || e->to_slot == d->to_slot || e->from_slot == d->to_slot ||
             (e->from_slot == d->from_slot && d->action == ACTION_MIGRATE)))
            return (double)before;
    }
    return UNKNOWN;
}

static struct finding find_placement(const struct pass *p, const struct decision *d, uint32_t vm)
{
    return (struct finding){.code = FIND_PLACEMENT,
                            .reason = d->reason,
                            .subjects = {{SUBJECT_VM, vm}, {SUBJECT_TO, p->layout.slot_host[d->to_slot]}},
                            .figures = {{FIGURE_CPU_MHZ, p->entitlement[RES_CPU][vm]},
                                        {FIGURE_MEM_MB, p->entitlement[RES_MEM][vm]},
                                        {FIGURE_CPU_LOAD_TO, d->load_to[RES_CPU]},
                                        {FIGURE_MEM_LOAD_TO, d->load_to[RES_MEM]},
                                        {FIGURE_MOVES, decisions_before(p, d)},
                                        {FIGURE_RECLAIMED, reclaimed_mb(p, d)}}};
}

/* The stage that wants a VM of the unit away from its host; IX_NONE: none does. */
static uint32_t evicting_stage(const struct pass *p, uint32_t unit)
{
    const struct layout *l = &p->layout;

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        uint32_t vm = l->unit_vms[i];
        if (rules_fit_evicts(&p->rules, vm))
            return fit_refusal(&p->rules.fit, FIT_CORRECT, vm, p->snap->vms[vm].host, NULL, p->a)->stage;
    }
    return IX_NONE;
}

static struct finding find_move(const struct pass *p, const struct decision *d, uint32_t vm)
{
    bool incompatible = d->reason == REASON_RULE && d->rule == IX_NONE;
    uint32_t peer = incompatible ? correct_peer_beside(p, d->unit, d->from_slot) : IX_NONE;

    return (struct finding){.code = FIND_MOVE,
                            .reason = d->reason,
                            .subjects = {{SUBJECT_VM, vm},
                                         {SUBJECT_FOR_VM, d->for_vm},
                                         {SUBJECT_FT_PEER, peer},
                                         {SUBJECT_FROM, p->layout.slot_host[d->from_slot]},
                                         {SUBJECT_TO, p->layout.slot_host[d->to_slot]},
                                         {SUBJECT_RULE, d->rule},
                                         {SUBJECT_STAGE, d->evicted_by  ? d->evicted_by - 1
                                                         : incompatible ? evicting_stage(p, d->unit)
                                                                        : IX_NONE}},
                            .figures = {{FIGURE_CPU_MHZ, p->entitlement[RES_CPU][vm]},
                                        {FIGURE_MEM_MB, p->entitlement[RES_MEM][vm]},
                                        {FIGURE_CPU_LOAD, d->load_from[RES_CPU]},
                                        {FIGURE_MEM_LOAD, d->load_from[RES_MEM]},
                                        {FIGURE_CPU_LOAD_TO, d->load_to[RES_CPU]},
                                        {FIGURE_MEM_LOAD_TO, d->load_to[RES_MEM]},
                                        {FIGURE_MOVES, decisions_before(p, d)},
                                        {FIGURE_RECLAIMED, reclaimed_mb(p, d)}},
                            .because = d->because};
}

const struct finding *decision_finding(const struct pass *p, const struct decision *d, uint32_t vm)
{
    if (d->found)
        return d->found;
    return finding_keep(p->a, d->action == ACTION_POWER_ON ? find_wake(p, d)
                              : d->action == ACTION_PLACE  ? find_placement(p, d, vm)
                                                           : find_move(p, d, vm));
}
