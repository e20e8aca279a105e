#include "core/plan/room.h"

#include "core/plan/correct.h"

/* Sums that just fit, added in another order. */
#define ROUNDING 1e-6

/* How many VMs of a host are tried for one step, the likeliest first. */
#define TRIES_MAX 8

void room_shortage(const struct layout *l, uint32_t unit, uint32_t slot, double ret[ROOM_NEEDS],
                   double ret_need[ROOM_NEEDS])
{
    const struct host *h = &l->snap->hosts[l->slot_host[slot]];

    for (int r = 0; r < RES_COUNT; r++) {
        int k = r == RES_CPU ? ROOM_CPU : ROOM_MEM;
        ret_need[k] = l->unit_reserved[r][unit];
        ret[k] = ret_need[k] > 0
                     ? l->reserved[r][slot] + l->spare.room[r][slot] + ret_need[k] - h->capacity[r]
                     : 0;
    }
    ret_need[ROOM_ADMITTED] = l->unit_mem[unit];
    ret[ROOM_ADMITTED] = l->mem_taken[slot] + l->unit_mem[unit] - l->mem_limit[slot];
    ret_need[ROOM_FREE] = l->unit_phys[unit];
    ret[ROOM_FREE] = l->unit_phys[unit] - l->mem_free[slot];
}

static void freed_by(const struct layout *l, uint32_t unit, double ret[ROOM_NEEDS])
{
    ret[ROOM_CPU] = l->unit_reserved[RES_CPU][unit];
    ret[ROOM_MEM] = l->unit_reserved[RES_MEM][unit];
    ret[ROOM_ADMITTED] = l->unit_mem[unit];
    ret[ROOM_FREE] = l->unit_backed[unit];
}

/* Whether VMs that move away can mend what the check found. */
static bool is_mendable(enum check check)
{
    return check == CHECK_RULE_ANTI_AFFINITY || check == CHECK_FT_PEER || check == CHECK_RESERVATION_CPU ||
           check == CHECK_RESERVATION_MEM || check == CHECK_SPARE_CAPACITY || check == CHECK_MEMORY ||
           check == CHECK_MEMORY_FREE;
}

static bool may_make_way(const struct layout *l, uint32_t unit)
{
    return l->unit_held[unit] != CHECK_RULE_AFFINITY && correct_can_move(l, unit);
}

/* The unit that a rule wants away; IX_NONE: it cannot leave. */
static uint32_t unit_in_the_way(const struct layout *l, uint32_t unit, uint32_t slot, enum check check)
{
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
    return u != IX_NONE && u != unit && may_make_way(l, u) ? u : IX_NONE;
}

/* Who to try next: of those that free enough the one with the least memory to copy, else the one that frees
 * most of what is short. */
static uint32_t next_to_try(const struct layout *l, uint32_t slot, const double shortage[ROOM_NEEDS],
                            const uint32_t *tried, uint32_t n_tried)
{
    uint32_t best = IX_NONE;
    bool best_enough = false;
    double best_part = 0;

    for (uint32_t i = 0; i < l->list[slot].n; i++) {
        uint32_t u = l->list[slot].items[i];
        double freed[ROOM_NEEDS];
        double part = 0;
        bool enough = true;
        bool seen = false;
        for (uint32_t k = 0; k < n_tried; k++)
            seen = seen || tried[k] == u;
        if (seen || !may_make_way(l, u))
            continue;
        freed_by(l, u, freed);
        for (int k = 0; k < ROOM_NEEDS; k++) {
            if (!(shortage[k] > 0))
                continue;
            part += fmin(freed[k] / shortage[k], 1);
            enough = enough && freed[k] >= shortage[k] - ROUNDING;
        }
        if (!(part > 0))
            continue;
        bool better = best == IX_NONE;
        if (!better && enough != best_enough)
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
            best_part = part;
        }
    }
    return best;
}

/* One more move out of the slot, made on the layout. */
static bool step_out(struct pass *p, uint32_t unit, uint32_t slot, enum check check, struct way *way,
                     struct layout_mark *marks)
{
    struct layout *l = &p->layout;
    uint32_t tried[TRIES_MAX];
    double shortage[ROOM_NEEDS];
    double need[ROOM_NEEDS];
    bool by_rule = check == CHECK_RULE_ANTI_AFFINITY || check == CHECK_FT_PEER;

    room_shortage(l, unit, slot, shortage, need);
    for (uint32_t n = 0; n < (by_rule ? 1 : TRIES_MAX); n++) {
        struct obstacle why;
        uint32_t u =
            by_rule ? unit_in_the_way(l, unit, slot, check) : next_to_try(l, slot, shortage, tried, n);
        if (u == IX_NONE || p->room_trials == 0)
            return false;
        uint32_t to = correct_best_target(p, u, &why);
        p->room_trials -= p->room_trials < l->n_on ? p->room_trials : l->n_on;
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

/* What has to move away from this slot; the layout is put back as it was. */
static bool way_to(struct pass *p, uint32_t unit, uint32_t slot, struct way *ret)
{
    struct layout *l = &p->layout;
    enum check check = layout_check(l, unit, slot);
    struct way way = {.to_slot = slot};
    struct layout_mark marks[ROOM_MOVES_MAX];

    if (check != CHECK_NONE && p->room_trials == 0)
        return false;
    while (is_mendable(check) && way.n < ROOM_MOVES_MAX && step_out(p, unit, slot, check, &way, marks))
        check = layout_check(l, unit, slot);
    if (check == CHECK_NONE) {
        double weight[RES_COUNT];
        struct trial t;
        layout_weights(l, weight);
        trial_begin(l, weight, unit, &t);
        way.imbalance = slot < l->n_on ? trial_at(l, &t, slot) : 0;
    }
    for (uint32_t i = way.n; i-- > 0;)
        layout_undo(l, &marks[i]);
    if (check != CHECK_NONE)
        return false;
    *ret = way;
    return true;
}

/* Step by step what is kept for failures changes as well, which the search leaves aside. */
static bool stands_rehearsal(struct pass *p, uint32_t unit, const struct way *way)
{
    struct layout *l = &p->layout;
    struct layout_mark marks[ROOM_MOVES_MAX];
    uint32_t done = 0;
    bool good = true;

    if (!l->spare.active)
        return true;
    spare_try(&l->spare);
    for (; done < way->n && good; done++) {
        good = layout_check(l, way->out[done].unit, way->out[done].to_slot) == CHECK_NONE;
        spare_follow(&l->spare, way->out[done].unit, way->out[done].to_slot);
        layout_try(l, way->out[done].unit, way->out[done].to_slot, &marks[done]);
    }
    good = good && layout_check(l, unit, way->to_slot) == CHECK_NONE;
    while (done-- > 0)
        layout_undo(l, &marks[done]);
    spare_undo(&l->spare);
    return good;
}

static bool is_better(const struct way *x, const struct way *than)
{
    if (x->n != than->n)
        return x->n < than->n;
    if (x->copied_mb != than->copied_mb)
        return x->copied_mb < than->copied_mb;
    return x->imbalance < than->imbalance;
}

bool room_find(struct pass *p, uint32_t unit, uint32_t only, struct way *ret)
{
    bool found = false;

    for (uint32_t i = 0; i < p->layout.n_on; i++) {
        struct way way;
        if (i == p->layout.unit_slot[unit] || (only != IX_NONE && i != only))
            continue;
        if (!way_to(p, unit, i, &way) || (found && !is_better(&way, ret)) || !stands_rehearsal(p, unit, &way))
            continue;
        *ret = way;
        found = true;
    }
    return found;
}

bool room_take(struct pass *p, uint32_t unit, const struct way *way)
{
    uint32_t bundle = p->bundle;

    if (way->n > 0 && bundle == 0)
        p->bundle = ++p->n_bundles;
    p->for_vm = p->layout.unit_first[unit];
    for (uint32_t i = 0; i < way->n; i++)
        if (!pass_take(p, way->out[i].unit, way->out[i].to_slot, REASON_PREREQUISITE, IX_NONE,
                       PRIORITY_MANDATORY))
            return false;
    p->for_vm = IX_NONE;
    return true;
}

/* ---- hosts in standby ---- */

bool room_may_be_woken(const struct pass *p, uint32_t slot)
{
    const struct host *h = &p->snap->hosts[p->layout.slot_host[slot]];

    return h->is.state == HOST_STANDBY && h->is.dpm != AUTOMATION_DISABLED && h->is.wake_failed_at == 0 &&
           !h->failover && !p->coming[slot];
}

unsigned room_uncertainty(const struct pass *p, uint32_t slot)
{
    const struct host_facts *h = &p->snap->hosts[p->layout.slot_host[slot]].is;
    enum automation level = h->dpm == AUTOMATION_INHERIT ? p->policy.dpm.automation : h->dpm;

    return (level == AUTOMATION_AUTOMATIC ? 0u : 2u) + (h->wake_verified ? 0u : 1u);
}

bool room_comes_first(const struct pass *p, uint32_t slot, uint32_t than)
{
    const struct layout *l = &p->layout;
    double mine = 0;
    double theirs = 0;

    if (than == IX_NONE)
        return true;
    if (l->waking[slot] != l->waking[than])
        return l->waking[slot];
    if (room_uncertainty(p, slot) != room_uncertainty(p, than))
        return room_uncertainty(p, slot) < room_uncertainty(p, than);
    for (int r = 0; r < RES_COUNT; r++) {
        double a = p->snap->hosts[l->slot_host[slot]].capacity[r];
        double b = p->snap->hosts[l->slot_host[than]].capacity[r];
        mine += a / (a + b);
        theirs += b / (a + b);
    }
    return mine > theirs;
}

static bool would_fit(struct layout *l, uint32_t unit, uint32_t slot)
{
    bool waking = l->waking[slot];

    l->waking[slot] = true;
    bool fits = layout_check(l, unit, slot) == CHECK_NONE;
    l->waking[slot] = waking;
    return fits;
}

uint32_t room_sleeping_host(struct pass *p, uint32_t unit)
{
    struct layout *l = &p->layout;
    uint32_t best = IX_NONE;

    for (uint32_t i = l->n_on; i < l->n_slots; i++)
        if (room_may_be_woken(p, i) && room_comes_first(p, i, best) && would_fit(l, unit, i))
            best = i;
    return best;
}

uint32_t room_coming(const struct pass *p, uint32_t unit)
{
    struct layout l = p->layout; /* the arrays are shared: waking is put back */

    for (uint32_t i = l.n_on; i < l.n_slots; i++)
        if (p->coming[i] && would_fit(&l, unit, i))
            return i;
    return IX_NONE;
}

void room_record_wake(struct pass *p, uint32_t slot, const struct wake_why *why, uint32_t bundle)
{
    pass_record(p, &(struct decision){.action = ACTION_POWER_ON,
                                      .unit = IX_NONE,
                                      .from_slot = slot,
                                      .to_slot = slot,
                                      .rule = IX_NONE,
                                      .for_vm = why->for_vm,
                                      .reason = why->reason,
                                      .priority = why->priority,
                                      .bundle = bundle,
                                      .imbalance_after = layout_imbalance(&p->layout),
                                      .found = why->found});
}

void room_wake_host(struct pass *p, uint32_t slot, const struct wake_why *why)
{
    p->layout.waking[slot] = true;
    p->slot_bundle[slot] = ++p->n_bundles;
    room_record_wake(p, slot, why, p->slot_bundle[slot]);
}

void room_wake(struct pass *p, uint32_t slot, enum reason reason, uint32_t for_vm)
{
    if (!p->layout.waking[slot])
        room_wake_host(p, slot, &(struct wake_why){reason, for_vm, PRIORITY_MANDATORY, NULL});
}
