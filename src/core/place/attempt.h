/* attempt.h: one attempt to place all VMs. For place/ only. */
#ifndef BALLAST_CORE_ATTEMPT_H
#define BALLAST_CORE_ATTEMPT_H

#include "core/place/rankings.h"
#include "core/plan/pass_state.h"

struct attempt {
    struct pass p;
    const struct snapshot *seen; /* where the waiting VMs are registered */
    const bool *left_out;        /* by VM: left out of this attempt */
    uint32_t n_failed;           /* VMs */
    uint32_t half;        /* IX_NONE, or the half of a fault-tolerant pair whose other half has no host */
    struct options first; /* candidates of the only VM */
    struct rankings *rankings; /* NULL: there is only one VM */
};

/* ---- registered.c ---- */

/* Whether all VMs of the unit are registered where their manager reaches them, or will once the plan has
 * woken hosts. False: the host of one that is not, and why. */
bool attempt_can_start(const struct attempt *t, uint32_t unit, uint32_t *ret_host, struct finding *ret_why);

/* The slot of a host that must be woken for the unit anyway and has room for it then; IX_NONE. */
uint32_t attempt_own_slot(struct attempt *t, uint32_t unit);

/* The slot of a host to wake for the unit: one that must be woken anyway comes first. IX_NONE. */
uint32_t attempt_find_wake(struct attempt *t, uint32_t unit);

/* Wakes the hosts that must be woken for the unit. */
void attempt_wake_own(struct attempt *t, uint32_t unit);

/* Lets each power-on wait for the wake of the host where its VM is registered. */
void attempt_order_wakes(const struct attempt *t, struct plan *plan);

/* ---- outcome.c ---- */

/* Adds faults for rules that the placed VMs violate. */
void attempt_report_broken(struct attempt *t);

/* Adds the other candidates of the only VM. */
void attempt_add_alternatives(struct attempt *t, uint32_t vm, struct plan *plan);

#endif
