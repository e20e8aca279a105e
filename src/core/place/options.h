/* options.h: the hosts where a waiting VM may be powered on, best first; and if there is none, the one that
 * comes closest. */
#ifndef BALLAST_CORE_OPTIONS_H
#define BALLAST_CORE_OPTIONS_H

#include "core/plan/pass_state.h"

struct option {
    uint32_t slot;
    bool joins;       /* one that it should be with runs there */
    double imbalance; /* with the unit there */
};

struct options {
    struct option *items; /* those that it should be with first, then the best balance, then the lower host */
    uint32_t n;
};

void options_rank(const struct pass *p, uint32_t unit, struct options *ret);

/* Why the unit can be powered on nowhere: what is missing, and by how much, on the host that comes closest
 * (*ret_host; IX_NONE: there is no host). */
struct finding options_none(const struct pass *p, uint32_t unit, uint32_t *ret_host);

#endif
