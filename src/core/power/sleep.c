/* Chooses the hosts to put to standby (§4.2): each host is tried on the layout that the ones before it leave.
 */
#include "base/order.h"
#include "core/plan/prerequisite_moves.h"
#include "core/power/deep_sleep.h"
#include "core/power/proactive.h"
#include "core/power/ready_by.h"

#include <string.h>

/* A smaller fall of a score is rounding. */
#define SCORE_LEAST 1e-9

/* Trials of hosts in the search for prerequisite moves: some milliseconds. A power-off is not mandatory. */
#define PREREQUISITE_TRIALS 100000

struct weighed {
    struct sized vm; /* its first VM, with the weight of the unit */
    uint32_t unit;
};

/* A copy of the units to evacuate, because moves change the slot's list. Agents stay: the hypervisor powers
 * them off after the other VMs have left (§3.3.3). */
static struct weighed *list_leaving(const struct power *w, uint32_t slot, uint32_t *ret_n)
{
    const struct layout *l = w->l;
    struct weighed *list = arena_array(w->p->a, struct weighed, l->list[slot].n);
    uint32_t n = 0;

    for (uint32_t i = 0; i < l->list[slot].n; i++) {
        uint32_t u = l->list[slot].items[i];
        double weight = 0;
        if (layout_is_agent(l, u))
            continue;
        for (int r = 0; r < RES_COUNT; r++)
            weight += w->u.unit[u].mean[WINDOW_40M][r] * l->inverse[r][slot];
        list[n++] = (struct weighed){.vm = {weight, l->unit_first[u]}, .unit = u};
    }
    order_sort(list, n, sizeof list[0], order_largest);
    *ret_n = n;
    return list;
}

/* The conditions for a destination: the highest utilization, and whether it must also serve the worst-case
 * demand. */
struct bound {
    double most;
    bool worst;
};

static bool takes(struct power *w, uint32_t unit, uint32_t slot, const struct bound *b)
{
    w->evaluated++;
    return utilization_takes(&w->u, unit, slot, WINDOW_5M, b->most) &&
           utilization_takes(&w->u, unit, slot, WINDOW_40M, b->most) &&
           (!b->worst || utilization_holds_worst(&w->u, unit, slot));
}

/* Of the allowed hosts within the bound and later in the order than this one, the last to be put to standby:
 * VMs in cool-down would keep a host on that could be the next to go. IX_NONE. */
static uint32_t find_holder(struct power *w, uint32_t unit, uint32_t slot, const struct bound *b)
{
    for (uint32_t i = w->n_order; i-- > 0 && w->order[i] != slot;)
        if (!w->l->closing[w->order[i]] && takes(w, unit, w->order[i], b) &&
            layout_check(w->l, unit, w->order[i]) == CHECK_NONE)
            return w->order[i];
    return IX_NONE;
}

/* Of the hosts that stay on and stay within the range, the one with the lowest imbalance; ties go to the
 * lower slot. IX_NONE: *ret_check is POWER_RAISES_HIGH if only the range rejected some host. */
static uint32_t find_room(struct power *w, uint32_t unit, bool worst, enum power_check *ret_check)
{
    const struct layout *l = w->l;
    uint32_t best = IX_NONE;
    double best_added = 0;

    *ret_check = POWER_VM_NO_ROOM;
    for (uint32_t i = 0; i < w->n_alive; i++) {
        uint32_t t = w->alive[i];
        double added = layout_added_squares(l, unit, t);
        if (best != IX_NONE && added >= best_added)
            continue;
        bool within = takes(w, unit, t, &(struct bound){w->u.above, worst});
        if (!within && *ret_check == POWER_RAISES_HIGH)
            continue;
        if (layout_check(l, unit, t) != CHECK_NONE)
            continue;
        if (!within) {
            *ret_check = POWER_RAISES_HIGH;
            continue;
        }
        best = t;
        best_added = added;
    }
    return best;
}

/* Of the hosts within the range, the one that would be the least full in the worst case with the unit on it,
 * and why that is too full. IX_NONE: none. */
static enum power_check find_worst(struct power *w, uint32_t unit, struct power_verdict *v)
{
    enum power_check check = POWER_BURSTS;
    double least = 0;

    v->other = IX_NONE;
    for (uint32_t i = 0; i < w->n_alive; i++) {
        uint32_t t = w->alive[i];
        if (!takes(w, unit, t, &(struct bound){w->u.above, false}) ||
            layout_check(w->l, unit, t) != CHECK_NONE)
            continue;
        double full = 0;
        enum resource fuller = RES_CPU;
        for (int r = 0; r < RES_COUNT; r++) {
            double load = utilization_worst(&w->u, unit, t, (enum resource)r) * w->l->inverse[r][t];
            if (load > full) {
                full = load;
                fuller = (enum resource)r;
            }
        }
        if (v->other != IX_NONE && full >= least)
            continue;
        least = full;
        v->other = w->l->slot_host[t];
        v->r = fuller;
        v->is = 1 / w->l->inverse[fuller][t];
        v->bound = utilization_worst(&w->u, unit, t, fuller);
        bool rises = w->u.rise[fuller] > 0 && utilization_risen(&w->u, unit, t, fuller) >= v->bound;
        check = rises ? POWER_MISSED_BEFORE : POWER_BURSTS;
    }
    return check;
}

/* Every host that stays on must be able to serve the worst case of its VMs: a burst that is missing its
 * capacity is over before a host has booted. */
static uint32_t find_destination(struct power *w, uint32_t unit, uint32_t slot, struct power_verdict *v,
                                 enum power_check *ret_check)
{
    uint32_t to = w->p->standing_to[unit];

    if (to >= w->l->n_on || to == slot || w->l->closing[to] ||
        !takes(w, unit, to, &(struct bound){w->u.above, true}) || layout_check(w->l, unit, to) != CHECK_NONE)
        to = w->spread ? IX_NONE : find_holder(w, unit, slot, &(struct bound){w->fill, true});
    if (to == IX_NONE && !w->spread)
        to = find_holder(w, unit, slot, &(struct bound){w->u.above, true});
    if (to == IX_NONE)
        to = find_room(w, unit, true, ret_check);
    if (to != IX_NONE || *ret_check != POWER_RAISES_HIGH || find_room(w, unit, false, ret_check) == IX_NONE)
        return to;
    *ret_check = find_worst(w, unit, v);
    return IX_NONE;
}

/* The VMs that move for this host and have not moved in the plan. */
static uint64_t vms_to_move(const struct power *w, const struct weighed *list, uint32_t n)
{
    uint64_t vms = 0;

    for (uint32_t i = 0; i < n; i++)
        if (!w->moved[list[i].unit])
            vms += w->l->unit_from[list[i].unit + 1] - w->l->unit_from[list[i].unit];
    return vms;
}

/* A host is evacuated completely or not at all: one with more VMs than moves_max goes as the only host. */
static bool exceeds_moves(const struct power *w, uint64_t vms)
{
    return vms > w->moves_left && w->moves_left < (uint64_t)w->l->policy->moves_max;
}

static bool may_make_way(const void *with, uint32_t unit)
{
    const struct power *w = with;
    uint32_t vm;

    return !w->moved[unit] && sleep_check_vms(w, unit, &vm);
}

/* Whether every host that receives a VM stays within the range and serves its worst case. */
static bool holds_range(void *with, uint32_t unit, const struct prerequisite_moves *way)
{
    struct power *w = with;
    size_t first = w->n_steps;
    const struct bound bound = {w->u.above, true};
    bool good = true;

    failover_undo_begin(&w->l->failover);
    for (uint32_t i = 0; i < way->n && good; i++) {
        good = takes(w, way->out[i].unit, way->out[i].to_slot, &bound);
        if (good)
            what_if_move(w, way->out[i].unit, way->out[i].to_slot);
    }
    good = good && takes(w, unit, way->to_slot, &bound);
    what_if_undo(w, first);
    failover_undo(&w->l->failover);
    return good;
}

/* Makes the prerequisite moves that bring the unit to some host. IX_NONE: there are none. */
static uint32_t make_room(struct power *w, uint32_t unit, struct power_verdict *v)
{
    const struct prerequisite_terms terms = {may_make_way, holds_range, w};
    struct prerequisite_moves way;
    uint32_t before = v->n_making_room;

    if (!w->may_make_room || !prerequisite_moves_find(w->p, unit, IX_NONE, &terms, &way))
        return IX_NONE;
    for (uint32_t i = 0; i < way.n; i++) {
        uint32_t u = way.out[i].unit;
        what_if_move(w, u, way.out[i].to_slot);
        w->room_for[u] = unit;
        v->n_making_room += w->l->unit_from[u + 1] - w->l->unit_from[u];
    }
    v->n_moves += v->n_making_room - before;
    return way.to_slot;
}

static enum power_check bring_out(struct power *w, uint32_t unit, uint32_t slot, struct power_verdict *v)
{
    enum power_check check;
    struct power_verdict why = *v;
    uint32_t to = find_destination(w, unit, slot, &why, &check);

    if (to == IX_NONE)
        to = make_room(w, unit, v);
    if (to == IX_NONE) {
        *v = why;
        v->vm = w->l->unit_first[unit];
        return check;
    }
    what_if_move(w, unit, to);
    return exceeds_moves(w, v->n_moves) ? POWER_MOVES_MAX : POWER_FINE;
}

static enum power_check evacuate(struct power *w, uint32_t slot, struct power_verdict *v)
{
    uint32_t n;
    struct weighed *list = list_leaving(w, slot, &n);
    enum power_check check;

    v->n_moves = (uint32_t)vms_to_move(w, list, n);
    v->bound = (double)w->moves_left;
    if (exceeds_moves(w, v->n_moves))
        return POWER_MOVES_MAX;
    for (uint32_t i = 0; i < n; i++) {
        check = bring_out(w, list[i].unit, slot, v);
        if (check != POWER_FINE)
            return check;
    }
    return POWER_FINE;
}

static enum power_check compare_scores(struct power *w, struct power_verdict *v)
{
    bool lower = false;

    v->before = w->scores;
    utilization_score(&w->u, &v->after);
    for (int r = 0; r < RES_COUNT; r++) {
        v->r = (enum resource)r;
        if (v->after.high[r] > v->before.high[r] + SCORE_LEAST)
            return POWER_RAISES_HIGH;
        if (v->after.low[r] > v->before.low[r] + SCORE_LEAST)
            return POWER_KEEPS_LOW;
        lower = lower || v->after.low[r] < v->before.low[r] - SCORE_LEAST;
    }
    return lower ? POWER_FINE : POWER_KEEPS_LOW;
}

static bool is_complete(const struct failover_capacity *s)
{
    return s->n_open == 0 && failover_gap_excess(s, RES_CPU, IX_NONE, IX_NONE, NULL) <= 0 &&
           failover_gap_excess(s, RES_MEM, IX_NONE, IX_NONE, NULL) <= 0;
}

bool sleep_failover_slots(struct power *w)
{
    struct failover_capacity *s = &w->l->failover;

    if (!s->active)
        return true;
    failover_capacity_renew_beside(s);
    return is_complete(s);
}

/* Whether the next pass will find a failover slot for every VM: it finds them anew, after the moves. With
 * several failures the hosts that count as lost together may then be others. */
static bool keeps_failover_slots(const struct power *w)
{
    struct failover_capacity after;

    if (!w->l->failover.active)
        return true;
    failover_capacity_init(&after, w->l, w->p->a);
    return is_complete(&after);
}

static bool keeps_spaces(const struct power *w)
{
    const struct pass *p = w->p;

    return !p->has_room_size || p->policy.room.free == 0 ||
           spaces_of_all(&p->spaces) >= (uint64_t)p->policy.room.free;
}

static enum power_check play(struct power *w, uint32_t slot, struct power_verdict *v)
{
    size_t first = w->n_steps;
    enum power_check check = evacuate(w, slot, v);

    if (check == POWER_FINE)
        check = compare_scores(w, v);
    if (check == POWER_FINE)
        check = failover_demand_check(w, v);
    if (check != POWER_FINE)
        return check;
    sleep_worth_estimate(w, slot, first, &v->worth);
    if ((check = ready_by_check(w, slot, v)) != POWER_FINE ||
        (check = sleep_worth_pays(w, &v->worth, &v->r)) != POWER_FINE ||
        (check = proactive_lets_sleep(w, slot, v)) != POWER_FINE)
        return check;
    v->vm = needed_to_start(w, slot);
    if (v->vm != IX_NONE)
        return POWER_NEEDED;
    if (!keeps_failover_slots(w))
        return POWER_SPARE;
    return keeps_spaces(w) ? POWER_FINE : POWER_ROOM;
}

enum power_check sleep_try_empty(struct power *w, uint32_t slot, struct power_verdict *v)
{
    struct failover_capacity before = w->l->failover;
    enum power_check check = sleep_check(w, slot, v);

    if (check != POWER_FINE)
        return check;
    what_if_close(w, slot);
    check = sleep_failover_slots(w) ? failover_demand_check(w, v) : POWER_SPARE;
    v->vm = check == POWER_FINE ? needed_to_start(w, slot) : IX_NONE;
    if (v->vm != IX_NONE)
        check = POWER_NEEDED;
    if (check == POWER_FINE && !keeps_failover_slots(w))
        check = POWER_SPARE;
    if (check == POWER_FINE && !keeps_spaces(w))
        check = POWER_ROOM;
    if (check == POWER_FINE) {
        w->asleep[w->n_asleep++] = slot;
        return check;
    }
    what_if_reopen(w, slot);
    w->l->failover = before;
    return check;
}

/* POWER_FINE leaves the what-if in place; any other result undoes it. */
static enum power_check try_once(struct power *w, uint32_t slot, bool rehearse, struct power_verdict *v)
{
    size_t first = w->n_steps;
    struct failover_capacity before = w->l->failover;
    enum power_check check = sleep_check(w, slot, v);

    if (check != POWER_FINE)
        return check;
    what_if_close(w, slot);
    w->asleep[w->n_asleep++] = slot;
    check = sleep_worth_expect(w, slot, v);
    if (check == POWER_FINE)
        check = sleep_failover_slots(w) ? play(w, slot, v) : POWER_SPARE;
    if (check == POWER_FINE && rehearse)
        check = sleep_moves_rehearse(w);
    if (check == POWER_FINE)
        return check;
    w->n_asleep--;
    what_if_undo(w, first);
    what_if_reopen(w, slot);
    w->l->failover = before;
    return check;
}

/* Tries the power-off of one host. Filled destinations may leave too few failover slots, or moves that do not
 * stand in the order of the plan, where spread VMs do not. rehearse: the moves so far must stand in that
 * order.
 */
static enum power_check try_host(struct power *w, uint32_t slot, bool rehearse, struct power_verdict *v)
{
    struct power_verdict spread = {0};
    enum power_check check = try_once(w, slot, rehearse, v);

    if (check != POWER_SPARE && check != POWER_ORDER)
        return check;
    w->spread = true;
    if (try_once(w, slot, rehearse, &spread) == POWER_FINE) {
        *v = spread;
        check = POWER_FINE;
    }
    w->spread = false;
    return check;
}

static bool is_low(const struct scores *s)
{
    return s->low[RES_CPU] > 0 && s->low[RES_MEM] > 0;
}

static uint64_t vms_moved(const struct power *w)
{
    uint64_t vms = 0;

    for (size_t i = 0; i < w->n_steps; i++)
        vms += w->l->unit_from[w->steps[i].unit + 1] - w->l->unit_from[w->steps[i].unit];
    return vms;
}

/* Hosts above the range are relieved before the first power-off is tried: every other host is judged on the
 * layout that this leaves. False: the moves are too many. */
static bool relieve_first(struct power *w)
{
    if (!(w->scores.high[RES_CPU] > 0) && !(w->scores.high[RES_MEM] > 0))
        return true;
    if (w->l->failover.active)
        failover_capacity_renew_beside(&w->l->failover); /* the pass's own stays as it is */
    if (!wake_relieves_all(w) || vms_moved(w) > w->moves_left)
        return false;
    w->moves_left -= vms_moved(w);
    return true;
}

static void choose(struct power *w, const struct sleep_way *way)
{
    w->order = arena_array(w->p->a, uint32_t, w->l->n_on);
    w->n_order = rank_to_sleep(w, w->order);
    if (way->order)
        memcpy(w->order, way->order, w->n_order * sizeof w->order[0]);
    for (uint32_t i = 0; i < w->n_order && is_low(&w->scores) && w->evaluated < way->evaluated_max; i++) {
        struct power_verdict *v = &w->verdicts[w->order[i]];
        v->check = try_host(w, w->order[i], w->n_asleep >= way->given, v);
        if (v->check != POWER_FINE)
            continue;
        w->scores = v->after;
        w->moves_left -= w->moves_left > v->n_moves ? v->n_moves : w->moves_left;
        if (way->stood && sleep_moves_rehearse(w) == POWER_FINE)
            *way->stood = w->n_asleep;
    }
    w->end = POWER_NOT_LOW;
}

void sleep_choose(struct power *w, const struct sleep_way *way)
{
    w->fill = way->fill;
    w->may_make_room = way->may_make_room;
    w->evaluated = 0;
    if (relieve_first(w))
        choose(w, way);
    else
        w->end = POWER_HIGH;
}

void sleep_take_back(struct power *w)
{
    what_if_undo(w, 0);
    w->l->failover = w->failover0;
}

void sleep_start_again(struct power *w, const struct power *start)
{
    sleep_take_back(w);
    while (w->n_asleep > 0)
        what_if_reopen(w, w->asleep[--w->n_asleep]);
    w->scores = start->scores;
    w->moves_left = start->moves_left;
    w->p->prerequisite_trials = start->trials;
    for (int r = 0; r < RES_COUNT; r++) {
        w->alive_capacity[r] = start->alive_capacity[r];
        w->u.rise[r] = 0;
    }
    for (uint32_t i = 0; i < w->l->n_slots; i++)
        w->verdicts[i] = (struct power_verdict){0};
}

/* Chooses the hosts anew; their moves are undone and listed. False: the moves do not stand in the order of
 * the plan. */
static bool choose_and_list(struct power *w, const struct power *start, const struct sleep_way *way,
                            struct planned_moves *ret)
{
    sleep_start_again(w, start);
    sleep_choose(w, way);
    *ret = sleep_moves_list(w);
    w->fullest = power_finding_fullest(w, WINDOW_40M);
    sleep_take_back(w);
    return sleep_moves_stand(w, ret) == POWER_FINE;
}

/* Each host is tried on the state after all moves so far, but the plan passes through others, and with one
 * host more it may not stand. Then the last hosts are taken back until it does, and the others are tried,
 * each with the whole plan. So a lower dpm.hosts_min never leaves more hosts on. */
static bool choose_standing(struct power *w, const struct power *start, struct sleep_way *way,
                            struct planned_moves *ret)
{
    uint32_t stood = 0;

    way->given = UINT32_MAX;
    if (choose_and_list(w, start, way, ret))
        return true;
    way->stood = &stood;
    sleep_start_again(w, start);
    sleep_choose(w, way);
    way->stood = NULL;
    way->given = stood;
    return choose_and_list(w, start, way, ret);
}

void sleep_hosts(struct power *w)
{
    struct planned_moves moves;
    struct sleep_way way = {.fill = w->u.aim, .may_make_room = true, .evaluated_max = UINT64_MAX};

    /* no mandatory move comes after this step */
    if (w->p->prerequisite_trials > PREREQUISITE_TRIALS)
        w->p->prerequisite_trials = PREREQUISITE_TRIALS;
    w->trials = w->p->prerequisite_trials;
    const struct power start = *w;
    bool stands = choose_standing(w, &start, &way, &moves);
    if (way.given < UINT32_MAX && w->p->prerequisite_trials < w->trials) { /* room was sought */
        struct sleep_way with_room = way;
        uint32_t n = w->n_asleep;
        way.may_make_room = false;
        stands = choose_standing(w, &start, &way, &moves);
        if (w->n_asleep < n) {
            way = with_room;
            stands = choose_and_list(w, &start, &way, &moves);
        }
    }
    if (w->l->policy->search == SEARCH_DEEP) {
        deep_sleep_search(w, &start, &way);
        stands = choose_and_list(w, &start, &way, &moves);
    }
    if (stands && w->n_asleep > 0)
        sleep_moves_make(w, &moves);
}
