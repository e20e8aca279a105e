/* Whether moves leave failover capacity as it was.
 *
 * Each move keeps the failover slots that the pass has found. The next pass finds them anew: the hosts that
 * count as lost together may then be others, or the search fails where reservations are tight. Then it would
 * move VMs, or wake a host. */
#include "core/plan/plan.h"

#include "base/cleanup.h"

#include <string.h>

/* Two sums of the same needs may differ in their last digits. */
#define ROUNDING 1e-6

double plan_failover_lack(const struct layout *l)
{
    struct failover_capacity found;
    CLEANUP(arena_releasep) struct arena a = {0};

    failover_capacity_init(&found, l, &a);
    return failover_gaps_lack(&found);
}

/* After the first n decisions. */
static double lack_after(const struct pass *p, size_t n)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct layout then;

    layout_init_bare(&then, p->snap, &p->policy, &p->rules, p->entitlement, &a);
    memcpy(then.waking, p->layout.waking, then.n_slots * sizeof then.waking[0]);
    memcpy(then.closing, p->layout.closing, then.n_slots * sizeof then.closing[0]);
    for (size_t i = 0; i < n; i++)
        if (p->decisions[i].unit != IX_NONE)
            layout_move(&then, p->decisions[i].unit, p->decisions[i].to_slot);
    return plan_failover_lack(&then);
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

/* What hosts lack of their headroom. */
static double headroom_lack(const struct layout *l)
{
    double lack = 0;

    for (uint32_t i = 0; i < l->n_on; i++)
        for (int r = 0; r < RES_COUNT; r++)
            lack += fmax(l->norm[r][i] - layout_load_limit(l, (enum resource)r), 0);
    return lack;
}

static uint32_t count_stuck(const struct pass *p)
{
    uint32_t n = 0;

    for (size_t i = 0; i < p->n_faults; i++)
        n += p->faults[i].code == FAULT_CANNOT_EVACUATE;
    return n;
}

bool plan_evacuates_better(const struct pass *p, const struct pass *than)
{
    double less = headroom_lack(&than->layout) - headroom_lack(&p->layout);

    if (count_stuck(p) > count_stuck(than))
        return false;
    if (fabs(less) > ROUNDING)
        return less > 0;
    return layout_imbalance(&p->layout) < layout_imbalance(&than->layout) - ROUNDING &&
           plan_failover_lack(&p->layout) <= plan_failover_lack(&than->layout) + ROUNDING;
}
