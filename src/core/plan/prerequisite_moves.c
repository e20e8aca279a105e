/* Finds the fewest moves of other VMs that make room for one, and makes them. */
#include "core/plan/prerequisite_moves.h"

#include "core/plan/correct.h"

/* Sums that just fit, added in another order. */
#define ROUNDING 1e-6

/* VMs tried per host and step, in the order of next_to_try(). */
#define TRIES_MAX 8

void prerequisite_move_shortage(const struct layout *l, uint32_t unit, uint32_t slot,
                                double ret[SHORTAGE_COUNT], double ret_need[SHORTAGE_COUNT])
{
    const struct host *h = &l->snap->hosts[l->slot_host[slot]];
    bool by_admission = l->snap->promise.by_admission;

    for (int r = 0; r < RES_COUNT; r++) {
        int k = r == RES_CPU ? SHORTAGE_CPU : SHORTAGE_MEM;
        double kept = r == RES_MEM && by_admission ? 0 : l->failover.reserved[r][slot];
        ret_need[k] = l->unit_reserved[r][unit];
        ret[k] = ret_need[k] > 0 ? l->reserved[r][slot] + kept + ret_need[k] - h->capacity[r] : 0;
    }
    ret_need[SHORTAGE_ADMITTED] = l->unit_mem[unit];
    ret[SHORTAGE_ADMITTED] = l->mem_taken[slot] + (by_admission ? l->failover.reserved[RES_MEM][slot] : 0) +
                             l->unit_mem[unit] - l->mem_limit[slot];
    ret_need[SHORTAGE_FREE] = l->unit_phys[unit];
    ret[SHORTAGE_FREE] = l->unit_phys[unit] - l->mem_free[slot];
}

static void freed_by(const struct layout *l, uint32_t unit, double ret[SHORTAGE_COUNT])
{
    ret[SHORTAGE_CPU] = l->unit_reserved[RES_CPU][unit];
    ret[SHORTAGE_MEM] = l->unit_reserved[RES_MEM][unit];
    ret[SHORTAGE_ADMITTED] = l->unit_mem[unit];
    ret[SHORTAGE_FREE] = l->unit_backed[unit];
}

/* Whether moving other VMs away can satisfy the check. */
static bool is_mendable(enum check check)
{
    return check == CHECK_RULE_ANTI_AFFINITY || check == CHECK_FT_PEER || check == CHECK_RESERVATION_CPU ||
           check == CHECK_RESERVATION_MEM || check == CHECK_SPARE_CAPACITY || check == CHECK_MEMORY ||
           check == CHECK_MEMORY_FREE || check == CHECK_FIT_QUANTITY || check == CHECK_FIT_NUMA ||
           check == CHECK_FIT_DEVICE;
}

struct search {
    struct pass *p;
    const struct prerequisite_terms *terms; /* NULL: mandatory moves */
    uint32_t unit;                          /* needs the room */
};

static bool may_make_way(const struct search *s, uint32_t unit)
{
    const struct layout *l = &s->p->layout;

    return l->unit_held[unit] != CHECK_RULE_AFFINITY && correct_can_move(l, unit) &&
           !layout_is_rejected(l, unit, REASON_PREREQUISITE) &&
           (!s->terms || s->terms->may_make_way(s->terms->with, unit));
}

/* The unit that a rule forbids beside this one; IX_NONE: it cannot leave. */
static uint32_t unit_in_the_way(const struct search *s, uint32_t slot, enum check check)
{
    const struct layout *l = &s->p->layout;
    uint32_t unit = s->unit;
    uint32_t vm;
    uint32_t other = IX_NONE;

    if (check == CHECK_RULE_ANTI_AFFINITY)
        layout_apart_conflict(l, unit, slot, &vm, &other);
    for (uint32_t i = l->unit_from[unit]; check == CHECK_FT_PEER && i < l->unit_from[unit + 1]; i++) {
        uint32_t peer = l->snap->vms[l->unit_vms[i]].ft_peer;
        if (peer != IX_NONE && l->vm_unit[peer] != IX_NONE && l->unit_slot[l->vm_unit[peer]] == slot)
            other = peer;
    }
    uint32_t u = other == IX_NONE ? IX_NONE : l->vm_unit[other];
    return u != IX_NONE && u != unit && may_make_way(s, u) ? u : IX_NONE;
}

/* Of the units that free all of the shortage, the one with the least memory to copy; else the one that frees
 * most. Units that move only when they must come last. */
static uint32_t next_to_try(const struct search *s, uint32_t slot, const double shortage[SHORTAGE_COUNT],
                            const uint32_t *tried, uint32_t n_tried)
{
    const struct layout *l = &s->p->layout;
    uint32_t best = IX_NONE;
    bool best_enough = false;
    bool best_free = false;
    double best_part = 0;

    for (uint32_t i = 0; i < l->list[slot].n; i++) {
        uint32_t u = l->list[slot].items[i];
        double freed[SHORTAGE_COUNT];
        double part = 0;
        bool enough = true;
        bool seen = false;
        for (uint32_t k = 0; k < n_tried; k++)
            seen = seen || tried[k] == u;
        if (seen || !may_make_way(s, u))
            continue;
        freed_by(l, u, freed);
        for (int k = 0; k < SHORTAGE_COUNT; k++) {
            if (!(shortage[k] > 0))
                continue;
            part += fmin(freed[k] / shortage[k], 1);
            enough = enough && freed[k] >= shortage[k] - ROUNDING;
        }
        if (!(part > 0))
            continue;
        bool is_free = !layout_moves_only_if_it_must(l, u);
        bool better = best == IX_NONE;
        if (!better && is_free != best_free)
            better = is_free;
        else if (!better && enough != best_enough)
            better = enough;
        else if (!better && enough && l->unit_backed[u] != l->unit_backed[best])
            better = l->unit_backed[u] < l->unit_backed[best];
        else if (!better && !enough && part != best_part)
            better = part > best_part;
        else if (!better)
            better = l->unit_first[u] < l->unit_first[best];
        if (better) {
            best = u;
            best_enough = enough;
            best_free = is_free;
            best_part = part;
        }
    }
    return best;
}

/* Whether the taker makes way; ret_enough: whether the unit then comes there, as far as it is known. */
static bool takes_of(const struct search *s, uint32_t slot, uint32_t taker, const struct layout_excess *x,
                     bool *ret_enough)
{
    const struct layout *l = &s->p->layout;

    *ret_enough = true;
    if (x->stage != IX_NONE)
        return layout_unit_takes(l, taker, x->counter) > 0;
    *ret_enough = layout_cells_refuse(l, s->unit, slot, taker, NULL, NULL) == CHECK_NONE;
    return layout_takes_cells(l, taker);
}

/* Of the units that take of the count that keeps the unit off the slot, or of its cells and devices, the one
 * with the least memory to copy; first those whose leaving is enough. */
static uint32_t next_taker(const struct search *s, uint32_t slot, enum check check, const uint32_t *tried,
                           uint32_t n_tried)
{
    const struct layout *l = &s->p->layout;
    struct layout_excess x = {.stage = IX_NONE};
    uint32_t best = IX_NONE;
    bool best_enough = false;

    if (check == CHECK_FIT_QUANTITY && !layout_quantity_refuses(l, FIT_MOVE, s->unit, slot, &x))
        return IX_NONE;
    for (uint32_t i = 0; i < l->list[slot].n; i++) {
        uint32_t u = l->list[slot].items[i];
        bool seen = false;
        bool enough;

        for (uint32_t k = 0; k < n_tried; k++)
            seen = seen || tried[k] == u;
        if (seen || !may_make_way(s, u) || !takes_of(s, slot, u, &x, &enough))
            continue;
        bool better = best == IX_NONE;
        if (!better && enough != best_enough)
            better = enough;
        else if (!better && l->unit_backed[u] != l->unit_backed[best])
            better = l->unit_backed[u] < l->unit_backed[best];
        else if (!better)
            better = l->unit_first[u] < l->unit_first[best];
        best = better ? u : best;
        best_enough = better ? enough : best_enough;
    }
    return best;
}

/* Makes one prerequisite move on the layout. */
static bool step_out(const struct search *s, uint32_t slot, enum check check, struct prerequisite_moves *way,
                     struct layout_mark *marks)
{
    struct pass *p = s->p;
    struct layout *l = &p->layout;
    uint32_t tried[TRIES_MAX];
    double shortage[SHORTAGE_COUNT];
    double need[SHORTAGE_COUNT];
    bool by_rule = check == CHECK_RULE_ANTI_AFFINITY || check == CHECK_FT_PEER;
    bool by_amount = check == CHECK_FIT_QUANTITY || check == CHECK_FIT_NUMA || check == CHECK_FIT_DEVICE;

    prerequisite_move_shortage(l, s->unit, slot, shortage, need);
    for (uint32_t n = 0; n < (by_rule ? 1 : TRIES_MAX); n++) {
        struct obstacle why;
        uint32_t u = by_rule     ? unit_in_the_way(s, slot, check)
                     : by_amount ? next_taker(s, slot, check, tried, n)
                                 : next_to_try(s, slot, shortage, tried, n);
        if (u == IX_NONE || p->prerequisite_trials == 0)
            return false;
        uint32_t to = correct_best_target(p, u, &why);
        p->prerequisite_trials -= p->prerequisite_trials < l->n_on ? p->prerequisite_trials : l->n_on;
        if (to == IX_NONE) {
            tried[n] = u;
            continue;
        }
        layout_try(l, u, to, &marks[way->n]);
        way->out[way->n++] = (struct move){.unit = u, .to_slot = to};
        way->copied_mb += l->unit_backed[u];
        return true;
    }
    return false;
}

/* The prerequisite moves for this slot. Restores the layout. */
static bool way_to(const struct search *s, uint32_t slot, struct prerequisite_moves *ret)
{
    struct layout *l = &s->p->layout;
    uint32_t unit = s->unit;
    enum check check = layout_check(l, unit, slot);
    struct prerequisite_moves way = {.to_slot = slot};
    struct layout_mark marks[PREREQUISITE_MOVES_MAX];

    if (check != CHECK_NONE && s->p->prerequisite_trials == 0)
        return false;
    while (is_mendable(check) && way.n < PREREQUISITE_MOVES_MAX && step_out(s, slot, check, &way, marks))
        check = layout_check(l, unit, slot);
    if (check == CHECK_NONE) {
        double weight[RES_COUNT];
        struct move_trial t;
        layout_weights(l, weight);
        move_trial_begin(l, weight, unit, &t);
        way.imbalance = slot < l->n_on ? move_trial_at(l, &t, slot) : 0;
    }
    for (uint32_t i = way.n; i-- > 0;)
        layout_undo(l, &marks[i]);
    if (check != CHECK_NONE)
        return false;
    *ret = way;
    return true;
}

/* Failover reservations change with each move, which the search ignores; the rehearsal checks them. */
static bool stands_rehearsal(struct pass *p, uint32_t unit, const struct prerequisite_moves *way)
{
    struct layout *l = &p->layout;
    struct layout_mark marks[PREREQUISITE_MOVES_MAX];
    uint32_t done = 0;
    bool good = true;

    if (!l->failover.active)
        return true;
    failover_undo_begin(&l->failover);
    for (; done < way->n && good; done++) {
        good = layout_check(l, way->out[done].unit, way->out[done].to_slot) == CHECK_NONE;
        failover_capacity_follow(&l->failover, way->out[done].unit, way->out[done].to_slot);
        layout_try(l, way->out[done].unit, way->out[done].to_slot, &marks[done]);
    }
    good = good && layout_check(l, unit, way->to_slot) == CHECK_NONE;
    while (done-- > 0)
        layout_undo(l, &marks[done]);
    failover_undo(&l->failover);
    return good;
}

static bool is_better(const struct prerequisite_moves *x, const struct prerequisite_moves *than)
{
    if (x->n != than->n)
        return x->n < than->n;
    if (x->copied_mb != than->copied_mb)
        return x->copied_mb < than->copied_mb;
    return x->imbalance < than->imbalance;
}

bool prerequisite_moves_find(struct pass *p, uint32_t unit, uint32_t only,
                             const struct prerequisite_terms *terms, struct prerequisite_moves *ret)
{
    const struct search s = {.p = p, .terms = terms, .unit = unit};
    bool found = false;

    for (uint32_t i = 0; i < p->layout.n_on; i++) {
        struct prerequisite_moves way;
        if (i == p->layout.unit_slot[unit] || (only != IX_NONE && i != only))
            continue;
        if (!way_to(&s, i, &way) || (found && !is_better(&way, ret)) || !stands_rehearsal(p, unit, &way) ||
            (terms && !terms->holds(terms->with, unit, &way)))
            continue;
        *ret = way;
        found = true;
    }
    return found;
}

bool prerequisite_moves_take(struct pass *p, uint32_t unit, const struct prerequisite_moves *way)
{
    uint32_t move_group = p->move_group;

    if (way->n > 0 && move_group == 0)
        p->move_group = ++p->n_move_groups;
    p->for_vm = p->layout.unit_first[unit];
    for (uint32_t i = 0; i < way->n; i++)
        if (!plan_move(p, way->out[i].unit, way->out[i].to_slot, REASON_PREREQUISITE, IX_NONE,
                       PRIORITY_MANDATORY))
            return false;
    p->for_vm = IX_NONE;
    return true;
}
