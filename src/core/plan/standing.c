/* Recommendations of the last pass that nobody has approved yet (snapshot.h) are preferred
 * to others that are about as good: of many hosts and VMs with about the same load, noise makes each pass
 * find others the best. A mandatory move and one for a power-off prefer their standing destination, a host
 * whose power-off stands is tried before others, and moves for balance that stand are made before others.
 * These are judged as a whole: one by one, each has a destination that is better at its turn, to which later
 * ones go. */
#include "core/plan/plan.h"

#define STANDING_S (12 * 3600) /* so long they are preferred: a night */
#define MARGIN 0.1             /* part of the best gain that what stands may lack */

static bool holds(const struct snapshot *s, const struct pending *x)
{
    return x->since <= s->time && s->time - x->since < STANDING_S;
}

static bool is_for_balance(const struct snapshot *s, const struct pending *x)
{
    return holds(s, x) && x->action == ACTION_MIGRATE &&
           (x->reason == REASON_BALANCE_CPU || x->reason == REASON_BALANCE_MEM ||
            x->reason == REASON_EXCHANGE);
}

void plan_standing_init(struct pass *p)
{
    const struct layout *l = &p->layout;

    p->standing_to = arena_array(p->a, uint32_t, l->n_units);
    p->standing_off = arena_array(p->a, bool, (size_t)l->n_slots + 1);
    for (uint32_t u = 0; u < l->n_units; u++)
        p->standing_to[u] = IX_NONE;
    for (uint32_t i = 0; i < p->snap->n_standing; i++) {
        const struct pending *x = &p->snap->standing[i];
        uint32_t unit = x->vm == IX_NONE ? IX_NONE : l->vm_unit[x->vm];
        uint32_t slot = x->host == IX_NONE ? IX_NONE : l->host_slot[x->host];
        if (!holds(p->snap, x))
            continue;
        if (slot != IX_NONE)
            p->standing_off[slot] = x->action == ACTION_POWER_OFF;
        if (unit != IX_NONE && x->from == l->slot_host[l->unit_slot[unit]] && !is_for_balance(p->snap, x))
            p->standing_to[unit] = l->host_slot[x->to];
    }
}

double plan_standing_imbalance(const struct pass *p, uint32_t unit, uint32_t slot, double imbalance)
{
    return p->standing_to[unit] == slot ? (1 - MARGIN) * imbalance : imbalance;
}

/* Where the steps before have brought the unit. */
static uint32_t slot_after(const struct layout *l, const struct exchange_steps *steps, uint32_t unit)
{
    uint32_t slot = l->unit_slot[unit];

    for (uint32_t i = 0; i < steps->n; i++)
        slot = steps->unit[i] == unit ? steps->to_slot[i] : slot;
    return slot;
}

/* Adds the move as the next step. False: it is not possible any more. */
static bool add_step(const struct layout *l, const struct pending *x, struct proposed *is)
{
    uint32_t unit = l->vm_unit[x->vm];
    uint32_t from = l->host_slot[x->from];
    uint32_t to = l->host_slot[x->to];

    if (unit == IX_NONE || from >= l->n_on || to >= l->n_on || from == to)
        return false;
    uint32_t at = slot_after(l, &is->steps, unit);
    if (at == to) /* of another VM of the unit */
        return true;
    if (at != from || is->steps.n == EXCHANGE_STEPS_MAX)
        return false;
    is->unit = is->unit == IX_NONE || x->reason != REASON_EXCHANGE ? unit : is->unit;
    is->steps.unit[is->steps.n] = unit;
    is->steps.to_slot[is->steps.n++] = to;
    return true;
}

void plan_standing_list(const struct pass *p, struct proposal *ret)
{
    const struct snapshot *s = p->snap;
    uint32_t next;

    for (uint32_t i = 0; i < s->n_standing; i = next) {
        struct proposed is = {.unit = IX_NONE};
        bool whole = true;
        for (next = i; next == i || (next < s->n_standing && s->standing[i].group != 0 &&
                                     s->standing[next].group == s->standing[i].group);
             next++)
            whole = whole && is_for_balance(s, &s->standing[next]) &&
                    add_step(&p->layout, &s->standing[next], &is);
        if (whole && is.steps.n > 0)
            deep_search_add(ret, &is, p->a);
    }
}

bool plan_standing_is_beaten(const struct balance_measure *stands, const struct balance_measure *by)
{
    bool enough = by->fall >= stands->fall || (!by->above && !by->uneven);

    if (by->over < (1 - MARGIN) * stands->over || by->over > stands->over)
        return by->over < stands->over;
    return by->fall - stands->fall > MARGIN * fabs(by->fall) ||
           (enough && by->vms < (1 - MARGIN) * stands->vms);
}
