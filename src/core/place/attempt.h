/* attempt.h: one way to go about a placement, from the beginning. Within place/. */
#ifndef BALLAST_CORE_ATTEMPT_H
#define BALLAST_CORE_ATTEMPT_H

#include "core/place/options.h"
#include "core/plan/pass_state.h"

struct attempt {
    struct pass p;
    const bool *left_out; /* by VM: not to be tried (again) */
    uint32_t n_failed;    /* VMs */
    uint32_t half;        /* IX_NONE, or half of a pair of which the other half has no host */
    struct options first; /* of the only VM */
};

/* ---- outcome.c ---- */

/* Rules of the VMs that were placed, broken for want of a better host. */
void attempt_report_broken(struct attempt *t);

/* The other hosts that would do for the only VM. */
void attempt_add_alternatives(struct attempt *t, uint32_t vm, struct plan *plan);

#endif
