/* findings.h: the reason of a decision, or of a rejected destination, as data (ballast/finding.h). */
#ifndef BALLAST_CORE_FINDINGS_H
#define BALLAST_CORE_FINDINGS_H

#include "core/plan/pass_state.h"

/* decision_finding.c: the finding of a recommendation. vm: the VM of the decision's unit; IX_NONE for a host.
 */
const struct finding *decision_finding(const struct pass *p, const struct decision *d, uint32_t vm);

/* check_finding.c: the figures of a check of a VM and a host. worth: used by checks of cost and benefit. */
const struct finding *check_finding(const struct pass *p, uint32_t vm, uint32_t host, enum check check,
                                    const struct migration_worth *worth);

/* Likewise: what the move to the chosen host costs and gains. because: the decision's finding. */
const struct finding *check_finding_chosen(const struct pass *p, const struct migration_worth *worth,
                                           const struct finding *because);

/* fit_finding.c: each completes *f and returns true, or finds nothing. */

/* The filter of the VM's pipeline that refuses the host; live: also those that moves change. */
bool fit_finding_refusal(const struct pass *p, uint32_t vm, uint32_t host, bool live, struct finding *f);

/* The limit of its pipeline, or of a VM that moves with it, that keeps the VM off the slot. */
bool fit_finding_quantity(const struct layout *l, uint32_t vm, uint32_t slot, struct finding *f);

/* What the slot lacks of the NUMA cells and devices that the VM, or one that moves with it, needs, and the
 * stage of that name. */
bool fit_finding_cells(const struct layout *l, uint32_t vm, uint32_t slot, struct finding *f);

/* What an entry of the snapshot's avoid[] says. */
static inline struct finding finding_of_avoid(enum finding_code code, const struct avoid *x)
{
    struct finding f = {.code = code, .peer = x->reason, .check = x->mandatory ? CHECK_AVOID : CHECK_NONE};

    finding_subject(&f, SUBJECT_VM, x->vm);
    finding_subject(&f, SUBJECT_HOST, x->host);
    finding_figure(&f, FIGURE_FAILURES, x->failures);
    finding_figure(&f, FIGURE_UNTIL, (double)x->until);
    return f;
}

/* Adds the host, how often it was lost lately, and until when it is distrusted; nothing if it was not. */
static inline void finding_add_losses(struct finding *f, const struct snapshot *s, uint32_t host)
{
    const struct host_losses *x = &s->hosts[host].is.losses;

    if (x->n == 0)
        return;
    finding_subject(f, SUBJECT_HOST, host);
    finding_figure(f, FIGURE_FAILURES, x->n);
    finding_figure(f, FIGURE_AT, (double)x->last);
    finding_figure(f, FIGURE_UNTIL, (double)x->distrusted_until);
}

static inline struct finding finding_of_distrust(const struct snapshot *s, uint32_t host)
{
    struct finding f = {.code = FIND_DISTRUSTED};

    finding_add_losses(&f, s, host);
    return f;
}

#endif
