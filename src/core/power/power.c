/* Whether hosts are put to standby or woken (§4): the last thing that a pass asks. */
#include "core/power/power.h"

#include "core/plan/correct.h"

static bool any(const double of[RES_COUNT])
{
    return of[RES_CPU] > 0 || of[RES_MEM] > 0;
}

/* Whether a host is on its way: by the cluster's state, or by this very plan. */
static bool anything_comes(const struct pass *p)
{
    const struct layout *l = &p->layout;

    for (uint32_t i = 0; i < l->n_slots; i++)
        if (p->coming[i] || l->waking[i])
            return true;
    return false;
}

void power_evaluate(struct pass *p)
{
    struct power w;

    if (!p->policy.dpm.enabled || p->stopped || !correct_is_due(p, PRIORITY_WAKE))
        return;
    what_if_begin(&w, p);
    if (any(w.scores.high))
        wake_hosts(&w);
    else if (correct_is_due(p, PRIORITY_SLEEP) && !anything_comes(p) && p->layout.spare.n_open == 0 &&
             w.scores.low[RES_CPU] > 0 && w.scores.low[RES_MEM] > 0)
        sleep_hosts(&w);
}
