/* Chooses the hosts to wake (§4.3): one after the other, until no host is above the range. */
#include "core/power/proactive.h"

#include "core/plan/correct.h"
#include "core/plan/host_wakes.h"

/* A smaller fall of a score is rounding. */
#define SCORE_LEAST 1e-9

/* Which VMs may move to relieve a host, and where to. */
struct relief {
    const uint32_t *to;
    uint32_t n;
    bool resting; /* VMs in cool-down as well */
};

static double excess_of(const struct utilization *u, uint32_t slot)
{
    return u->high[RES_CPU][slot] + u->high[RES_MEM][slot];
}

static double high_of(const struct scores *s)
{
    return s->high[RES_CPU] * s->high[RES_CPU] + s->high[RES_MEM] * s->high[RES_MEM];
}

static double low_of(const struct scores *s)
{
    return s->low[RES_CPU] * s->low[RES_CPU] + s->low[RES_MEM] * s->low[RES_MEM];
}

static enum reason reason_of(const struct power *w)
{
    return w->rise ? REASON_EXPECTED_DEMAND : REASON_HIGH_UTILIZATION;
}

/* The cool-down protects against moves for balance. A relief to a woken host ignores it: after a night of
 * consolidation all VMs are in cool-down. */
static bool may_relieve(const struct power *w, uint32_t unit, bool resting)
{
    enum check held = w->l->unit_held[unit];

    return !w->moved[unit] && !layout_is_rejected(w->l, unit, reason_of(w)) &&
           (held == CHECK_NONE || layout_holds_balance_only(held) || (resting && held == CHECK_VM_COOL_DOWN));
}

/* The fall of the squared scores without the unit. Its destination stays within the range and adds nothing.
 */
static double gain_of(const struct power *w, uint32_t unit, uint32_t slot)
{
    return excess_of(&w->u, slot) - utilization_high_without(&w->u, unit, slot);
}

/* The unit with the largest fall of the squares, then the least memory to copy, then the lower VM; IX_NONE:
 * all remaining units are stuck. */
static uint32_t best_to_leave(const struct power *w, uint32_t slot, const struct relief *how,
                              const bool *stuck)
{
    const struct layout *l = w->l;
    uint32_t best = IX_NONE;
    double best_gain = SCORE_LEAST * SCORE_LEAST;

    for (uint32_t i = 0; i < l->list[slot].n; i++) {
        uint32_t u = l->list[slot].items[i];
        if (stuck[u] || !may_relieve(w, u, how->resting))
            continue;
        double gain = gain_of(w, u, slot);
        if (gain < best_gain ||
            (best != IX_NONE && gain == best_gain &&
             (l->unit_backed[u] > l->unit_backed[best] ||
              (l->unit_backed[u] == l->unit_backed[best] && l->unit_first[u] > l->unit_first[best]))))
            continue;
        best = u;
        best_gain = gain;
    }
    return best;
}

/* Of the allowed hosts that stay within the range, the one with the lowest imbalance; IX_NONE. */
static uint32_t best_to_take(const struct power *w, uint32_t unit, const struct relief *how)
{
    const struct layout *l = w->l;
    uint32_t best = IX_NONE;
    double best_added = 0;

    for (uint32_t i = 0; i < how->n; i++) {
        uint32_t to = how->to[i];
        double added = layout_added_squares(l, unit, to);
        if (to == l->unit_slot[unit] || l->closing[to] || (best != IX_NONE && added >= best_added) ||
            !utilization_takes(&w->u, unit, to, WINDOW_5M, w->u.above) || layout_just_left(l, unit, to) ||
            layout_check(l, unit, to) != CHECK_NONE)
            continue;
        best = to;
        best_added = added;
    }
    return best;
}

/* The slot furthest above the range, of those not given up. */
static uint32_t highest(const struct power *w, const bool *given_up)
{
    uint32_t best = IX_NONE;

    for (uint32_t i = 0; i < w->l->n_slots; i++)
        if (utilization_counts(w->l, i) && !given_up[i] && excess_of(&w->u, i) > 0 &&
            (best == IX_NONE || excess_of(&w->u, i) > excess_of(&w->u, best)))
            best = i;
    return best;
}

/* Moves VMs off hosts above the range while that lowers the score, each VM once. No destination comes above
 * the range. */
static void relieve(struct power *w, const struct relief *how)
{
    bool *given_up = arena_array(w->p->a, bool, w->l->n_slots);
    bool *stuck = arena_array(w->p->a, bool, w->l->n_units);
    uint32_t slot;

    while ((slot = highest(w, given_up)) != IX_NONE) {
        uint32_t unit = best_to_leave(w, slot, how, stuck);
        uint32_t to = unit == IX_NONE ? IX_NONE : best_to_take(w, unit, how);
        if (to != IX_NONE)
            what_if_move(w, unit, to);
        else if (unit != IX_NONE)
            stuck[unit] = true;
        else
            given_up[slot] = true;
    }
    utilization_score(&w->u, &w->scores);
}

/* Hosts that are waking, or woken by the plan for another reason: they count as on. */
static uint32_t list_coming(const struct power *w, uint32_t *ret)
{
    uint32_t n = 0;

    for (uint32_t i = w->l->n_on; i < w->l->n_slots; i++)
        if (w->p->coming[i] || w->l->waking[i])
            ret[n++] = i;
    return n;
}

struct waking {
    struct power *w;
    uint32_t *coming;
    uint32_t n_coming;
    bool *was_waking; /* by slot: state before the what-if */
    uint32_t *woken;
    uint32_t n_woken;
    double high; /* remaining squared high scores */
};

/* Relieves hosts among those that are on or waking. */
static void do_without(struct waking *k)
{
    struct power *w = k->w;
    uint32_t *to = arena_array(w->p->a, uint32_t, w->l->n_slots);
    uint32_t n = 0;

    for (uint32_t i = 0; i < w->l->n_on; i++)
        to[n++] = i;
    for (uint32_t i = 0; i < k->n_coming; i++) {
        to[n++] = k->coming[i];
        w->l->waking[k->coming[i]] = true;
    }
    relieve(w, &(struct relief){.to = to, .n = n});
    k->high = high_of(&w->scores);
}

static void relieve_within(struct power *w, bool resting)
{
    uint32_t *to = arena_array(w->p->a, uint32_t, w->l->n_on);

    for (uint32_t i = 0; i < w->l->n_on; i++)
        to[i] = i;
    relieve(w, &(struct relief){.to = to, .n = w->l->n_on, .resting = resting});
}

double wake_left_over(struct power *w, bool resting)
{
    size_t first = w->n_steps;

    failover_undo_begin(&w->l->failover);
    relieve_within(w, resting);
    double left = high_of(&w->scores);
    what_if_undo(w, first);
    failover_undo(&w->l->failover);
    utilization_score(&w->u, &w->scores);
    return left;
}

bool wake_relieves_all(struct power *w)
{
    relieve_within(w, false);
    return !(high_of(&w->scores) > 0);
}

/* The remaining score with one more host. Leaves the what-if in place. */
static double wake_trial(struct waking *k, uint32_t slot)
{
    struct power *w = k->w;

    w->l->waking[slot] = true;
    relieve(w, &(struct relief){.to = &slot, .n = 1, .resting = true});
    return high_of(&w->scores);
}

static void take_trial_back(struct waking *k, uint32_t slot, size_t first)
{
    what_if_undo(k->w, first);
    k->w->l->waking[slot] = false;
}

/* Of the first host that is enough and the later ones that are too and no less certain to wake, the one that
 * adds least to the low score (§4.3: "Some extra evaluation is performed for the last host needed"). */
static uint32_t least_low(struct waking *k, const uint32_t *order, uint32_t i, uint32_t n, size_t first)
{
    struct power *w = k->w;
    uint32_t best = i;
    double least = low_of(&w->scores);
    double none = 0;

    take_trial_back(k, order[i], first);
    struct scores s;
    utilization_score(&w->u, &s);
    none = low_of(&s);
    unsigned certain = host_wake_uncertainty(w->p, order[i]);
    for (uint32_t j = i + 1; j < n && least > none + SCORE_LEAST; j++) {
        if (host_wake_uncertainty(w->p, order[j]) > certain)
            break;
        if (w->l->waking[order[j]]) /* chosen earlier, for a state that this one could not relieve */
            continue;
        double high = wake_trial(k, order[j]);
        double low = low_of(&w->scores);
        if (!(high > 0) && low < least - SCORE_LEAST) {
            best = j;
            least = low;
        }
        take_trial_back(k, order[j], first);
    }
    return best;
}

static bool next_host(struct waking *k, const uint32_t *order, uint32_t n)
{
    struct power *w = k->w;
    size_t first = w->n_steps;

    for (uint32_t i = 0; i < n; i++) {
        if (w->l->waking[order[i]])
            continue;
        double left = wake_trial(k, order[i]);
        w->verdicts[order[i]] = (struct power_verdict){
            .asked = true, .check = POWER_NO_RELIEF, .vm = IX_NONE, .other = IX_NONE, .after = w->scores};
        if (!(left < k->high - SCORE_LEAST * SCORE_LEAST)) {
            take_trial_back(k, order[i], first);
            continue;
        }
        uint32_t chosen = order[i];
        if (!(left > 0)) {
            chosen = order[least_low(k, order, i, n, first)];
            left = wake_trial(k, chosen);
        }
        w->verdicts[order[i]].check = POWER_OTHER_BETTER;
        w->verdicts[chosen] = (struct power_verdict){
            .asked = true, .check = POWER_FINE, .vm = IX_NONE, .other = IX_NONE, .after = w->scores};
        k->woken[k->n_woken++] = chosen;
        k->high = left;
        return true;
    }
    return false;
}

static void record_wake(struct power *w, uint32_t slot)
{
    const struct power_verdict *v = &w->verdicts[slot];
    struct finding f = w->rise ? proactive_finding_wake(w, slot, v) : power_finding_wake(w, slot, v);

    host_wake_take(w->p, slot,
                   &(struct wake_why){reason_of(w), IX_NONE, PRIORITY_WAKE, finding_keep(w->p->a, f)});
}

/* The moves to woken hosts, from the plan's state. Moves among the other hosts are left to the climb, which
 * did not find them worth their cost. Tried and undone. */
static struct move *moves_there(struct waking *k, size_t *ret_n)
{
    struct power *w = k->w;

    for (uint32_t i = 0; i < k->n_woken; i++)
        w->l->waking[k->woken[i]] = true;
    failover_undo_begin(&w->l->failover);
    relieve(w, &(struct relief){.to = k->woken, .n = k->n_woken, .resting = true});
    size_t n = w->n_steps;
    struct move *moves = arena_array(w->p->a, struct move, n);
    for (size_t i = 0; i < n; i++)
        moves[i] = (struct move){.unit = w->steps[i].unit, .to_slot = w->steps[i].to};
    k->high = high_of(&w->scores);
    what_if_undo(w, 0);
    failover_undo(&w->l->failover);
    utilization_score(&w->u, &w->scores);
    *ret_n = n;
    return moves;
}

/* Drops a host chosen earlier if a later one alone is enough and no VM moves to the earlier one. */
static void leave_asleep(struct waking *k, const struct move *moves, size_t n)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < k->n_woken; i++) {
        bool used = k->high > 0;
        for (size_t j = 0; j < n && !used; j++)
            used = moves[j].to_slot == k->woken[i];
        if (used)
            k->woken[left++] = k->woken[i];
        else {
            k->w->l->waking[k->woken[i]] = false;
            k->w->verdicts[k->woken[i]].check = POWER_OTHER_BETTER;
        }
    }
    k->n_woken = left;
}

static void make_decisions(struct waking *k, const struct move *moves, size_t n)
{
    struct power *w = k->w;

    for (uint32_t i = 0; i < k->n_woken; i++)
        record_wake(w, k->woken[i]);
    for (size_t i = 0; i < n; i++)
        if (layout_check(w->l, moves[i].unit, moves[i].to_slot) == CHECK_NONE &&
            !plan_move(w->p, moves[i].unit, moves[i].to_slot, reason_of(w), IX_NONE, PRIORITY_WAKE))
            return;
}

enum power_check wake_check_host(const struct power *w, uint32_t slot)
{
    const struct host_facts *h = &w->l->snap->hosts[w->l->slot_host[slot]].is;

    if (host_is_avoided(&w->l->snap->hosts[w->l->slot_host[slot]]))
        return POWER_HOST_QUARANTINE;
    if (power_is_disabled(w, slot))
        return POWER_HOST_DISABLED;
    if (layout_find_host_rejection(w->l->snap, w->l->slot_host[slot], reason_of(w)))
        return POWER_REJECTED;
    if (w->p->coming[slot] || w->l->waking[slot])
        return POWER_HOST_COMING;
    return h->wake_failed_at != 0 ? POWER_WAKE_FAILED : POWER_FINE;
}

void wake_hosts(struct power *w)
{
    struct layout *l = w->l;
    uint32_t *order = arena_array(w->p->a, uint32_t, l->n_slots);
    struct waking k = {.w = w};
    struct scores before = w->scores;

    k.coming = arena_array(w->p->a, uint32_t, l->n_slots);
    k.woken = arena_array(w->p->a, uint32_t, l->n_slots);
    k.was_waking = arena_array(w->p->a, bool, l->n_slots);
    for (uint32_t i = 0; i < l->n_slots; i++)
        k.was_waking[i] = l->waking[i];
    k.n_coming = list_coming(w, k.coming);
    uint32_t n = rank_to_wake(w, reason_of(w), order);
    failover_undo_begin(&l->failover);
    do_without(&k);
    w->wake_end = k.high > 0 ? POWER_NO_RELIEF : POWER_WITHOUT_IT;
    while (k.high > 0 && next_host(&k, order, n))
        w->verdicts[k.woken[k.n_woken - 1]].before = before;
    what_if_undo(w, 0);
    failover_undo(&l->failover);
    for (uint32_t i = 0; i < l->n_slots; i++)
        l->waking[i] = k.was_waking[i];
    utilization_score(&w->u, &w->scores);
    if (k.n_woken == 0)
        return;
    w->wake_end = POWER_OTHER_BETTER;
    size_t n_moves;
    struct move *moves = moves_there(&k, &n_moves);
    leave_asleep(&k, moves, n_moves);
    make_decisions(&k, moves, n_moves);
}
