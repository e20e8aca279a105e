/* Whether moves leave failover capacity as it was.
 *
 * Each move keeps the failover slots that the pass has found. The next pass finds them anew: the hosts that
 * count as lost together may then be others, or the search fails where reservations are tight. Then it would
 * move VMs, or wake a host. */
#include "core/plan/plan.h"

#include <string.h>

/* Two sums of the same needs may differ in their last digits. */
#define ROUNDING 1e-6

double plan_failover_lack(const struct layout *l)
{
    struct failover_capacity found;
    struct arena a = {0};

    failover_capacity_init(&found, l, &a);
    double lack = failover_gaps_lack(&found);
    arena_release(&a);
    return lack;
}

/* After the first n decisions. */
static double lack_after(const struct pass *p, size_t n)
{
    struct arena a = {0};
    struct layout then;

    layout_init_bare(&then, p->snap, &p->policy, &p->rules, p->entitlement, &a);
    memcpy(then.waking, p->layout.waking, then.n_slots * sizeof then.waking[0]);
    memcpy(then.closing, p->layout.closing, then.n_slots * sizeof then.closing[0]);
    for (size_t i = 0; i < n; i++)
        if (p->decisions[i].unit != IX_NONE)
            layout_move(&then, p->decisions[i].unit, p->decisions[i].to_slot);
    double lack = plan_failover_lack(&then);
    arena_release(&a);
    return lack;
}

uint32_t plan_failover_broken_by(const struct pass *p, size_t first)
{
    size_t good = first;
    size_t bad = p->n_decisions;

    if (!p->layout.failover.active || bad == first)
        return IX_NONE;
    double lack = plan_failover_lack(&p->layout);
    if (!(lack > 0))
        return IX_NONE;
    double before = lack_after(p, first);
    if (lack <= before + ROUNDING)
        return IX_NONE;
    while (bad - good > 1) {
        size_t middle = good + (bad - good) / 2;
        if (lack_after(p, middle) > before + ROUNDING)
            bad = middle;
        else
            good = middle;
    }
    return p->decisions[bad - 1].unit;
}

bool plan_failover_lost(const struct pass *p)
{
    const struct failover_capacity *s = &p->layout.failover;

    return s->active && !s->had_gaps && p->n_decisions > 0 && plan_failover_lack(&p->layout) > 0;
}
