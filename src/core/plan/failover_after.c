/* Whether moves leave failover capacity as it was.
 *
 * Each move keeps the failover slots that the pass has found. The next pass finds them anew: the hosts that
 * count as lost together may then be others, or the search fails where reservations are tight. Then it would
 * move VMs, or wake a host. */
#include "core/plan/plan.h"

#include <string.h>

static uint32_t count_missing(const struct layout *l, struct arena *a)
{
    struct failover_capacity found;

    failover_capacity_init(&found, l, a);
    return found.n_open;
}

/* After the first n decisions. */
static uint32_t count_missing_after(const struct pass *p, size_t n)
{
    struct arena a = {0};
    struct layout then;

    layout_init_bare(&then, p->snap, &p->policy, &p->rules, p->entitlement, &a);
    memcpy(then.waking, p->layout.waking, then.n_slots * sizeof then.waking[0]);
    memcpy(then.closing, p->layout.closing, then.n_slots * sizeof then.closing[0]);
    for (size_t i = 0; i < n; i++)
        if (p->decisions[i].unit != IX_NONE)
            layout_move(&then, p->decisions[i].unit, p->decisions[i].to_slot);
    uint32_t missing = count_missing(&then, &a);
    arena_release(&a);
    return missing;
}

uint32_t plan_failover_broken_by(const struct pass *p, size_t first)
{
    size_t good = first;
    size_t bad = p->n_decisions;

    if (!p->layout.failover.active || bad == first)
        return IX_NONE;
    uint32_t missing = count_missing(&p->layout, p->a);
    if (missing == 0)
        return IX_NONE;
    uint32_t before = count_missing_after(p, first);
    if (missing <= before)
        return IX_NONE;
    while (bad - good > 1) {
        size_t middle = good + (bad - good) / 2;
        if (count_missing_after(p, middle) > before)
            bad = middle;
        else
            good = middle;
    }
    return p->decisions[bad - 1].unit;
}

uint32_t plan_failover_lost(const struct pass *p)
{
    const struct failover_capacity *s = &p->layout.failover;

    return s->active && !s->had_gaps && p->n_decisions > 0 ? count_missing(&p->layout, p->a) : 0;
}
