/* attempt.h: one attempt to place all VMs. For place/ only. */
#ifndef BALLAST_CORE_ATTEMPT_H
#define BALLAST_CORE_ATTEMPT_H

#include "core/place/rankings.h"
#include "core/plan/pass_state.h"

struct attempt {
    struct pass p;
    const bool *left_out; /* by VM: left out of this attempt */
    uint32_t n_failed;    /* VMs */
    uint32_t half;        /* IX_NONE, or the half of a fault-tolerant pair whose other half has no host */
    struct options first; /* candidates of the only VM */
    struct rankings *rankings; /* NULL: there is only one VM */
};

/* ---- outcome.c ---- */

/* Adds faults for rules that the placed VMs violate. */
void attempt_report_broken(struct attempt *t);

/* Adds the other candidates of the only VM. */
void attempt_add_alternatives(struct attempt *t, uint32_t vm, struct plan *plan);

#endif
