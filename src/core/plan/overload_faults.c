/* Adds a fault for each host that stays overloaded: because no other host has memory for its VMs, or because
 * of what rejects the best move off it; and one for the cluster if all hosts together have less than is
 * wanted: entitlements, and so the loads of hosts, are then cut down to what there is. */
#include "core/plan/plan.h"

#include "core/divvy/divvy.h"
#include "core/plan/host_wakes.h"
#include "core/plan/prerequisite_moves.h"

/* Of the hosts with most free memory so many are looked at. */
#define HOSTS_MAX 64

struct roomy_hosts {
    uint32_t slot[HOSTS_MAX];
    uint32_t n;
};

static double room_of(const struct layout *l, uint32_t slot)
{
    return fmin(l->mem_limit[slot] - l->mem_taken[slot], l->mem_free[slot]);
}

/* Inserts the slot, the most room first. */
static void add_host(const struct layout *l, struct roomy_hosts *hosts, uint32_t slot)
{
    uint32_t at = hosts->n;

    while (at > 0 && room_of(l, slot) > room_of(l, hosts->slot[at - 1]))
        at--;
    if (at == HOSTS_MAX)
        return;
    hosts->n += hosts->n < HOSTS_MAX;
    for (uint32_t i = hosts->n - 1; i > at; i--)
        hosts->slot[i] = hosts->slot[i - 1];
    hosts->slot[at] = slot;
}

/* The memory that the host lacks for the unit. 0: none, or something else is missing, too. */
static double missing_memory(const struct layout *l, uint32_t unit, uint32_t slot)
{
    double shortage[SHORTAGE_COUNT];
    double need[SHORTAGE_COUNT];
    enum check check = layout_check(l, unit, slot);

    if (check != CHECK_MEMORY && check != CHECK_MEMORY_FREE && check != CHECK_RESERVATION_MEM)
        return 0;
    prerequisite_move_shortage(l, unit, slot, shortage, need);
    if (shortage[SHORTAGE_CPU] > 0)
        return 0;
    return fmax(shortage[SHORTAGE_MEM], fmax(shortage[SHORTAGE_ADMITTED], shortage[SHORTAGE_FREE]));
}

/* Whether the move would relieve the host enough and pay. */
static bool would_be_made(const struct pass *p, uint32_t unit, uint32_t slot)
{
    const struct move_score *score = &p->climb.score;
    struct move_trial t;
    struct migration_worth w;

    move_trial_begin(&p->layout, score->weight, unit, &t);
    double gain = move_score_gain(score, &t, slot);
    if (gain < GAIN_LEAST || gain < score->goodness)
        return false;
    migration_cost_worth(&p->migration_cost, unit, slot, &w);
    return !p->policy.cost_benefit ||
           (migration_cost_pays(&p->migration_cost, &w) && w.worse <= MOVE_WORSE_LEAST);
}

/* The rule that keeps the slot's largest unit together; IX_NONE: it is a single VM, or none can leave. */
static uint32_t rule_of_largest(const struct pass *p, uint32_t slot, enum resource r)
{
    const struct layout *l = &p->layout;
    uint32_t u = IX_NONE;

    for (uint32_t i = 0; i < l->list[slot].n; i++)
        if (u == IX_NONE || l->unit_demand[r][l->list[slot].items[i]] > l->unit_demand[r][u])
            u = l->list[slot].items[i];
    return u == IX_NONE ? IX_NONE : rules_find_bond(&p->rules, l->unit_first[u]);
}

/* Whether a move would be made but for a cool-down, which ends by itself. */
static bool waits_for_cool_down(const struct pass *p, uint32_t from)
{
    const struct layout *l = &p->layout;

    for (uint32_t i = 0; i < l->list[from].n; i++)
        for (uint32_t to = 0; l->unit_held[l->list[from].items[i]] == CHECK_VM_COOL_DOWN && to < l->n_on;
             to++)
            if (to != from && layout_check(l, l->list[from].items[i], to) == CHECK_NONE &&
                would_be_made(p, l->list[from].items[i], to))
                return true;
    return false;
}

/* Without what leaves by migrations that are under way or approved. */
static double load_that_stays(const struct pass *p, enum resource r, uint32_t slot)
{
    const struct layout *l = &p->layout;
    double load = l->norm[r][slot];

    for (uint32_t vm = 0; vm < p->snap->n_vms; vm++)
        if (l->in_flight[vm] && l->vm_unit[vm] != IX_NONE && layout_slot_of(l, vm) != slot &&
            (l->unit_slot[l->vm_unit[vm]] == slot || l->other_end[vm] == slot))
            load -= p->entitlement[r][vm] * l->inverse[r][slot];
    return load;
}

/* A short peak is no fault; nor is what an exchange might relieve that the limit of moves prevents, nor the
 * hosts' small differences where all hosts together are short. */
static void report_held(struct pass *p, uint32_t slot, enum resource r, bool is_short)
{
    const struct layout *l = &p->layout;
    const struct finding *why =
        p->migration_cost.short_for_long[slot] ? plan_refused_finding(p, slot, slot + 1) : NULL;
    bool has_no_room = !why || (why->check >= CHECK_RESERVATION_CPU && why->check <= CHECK_MEMORY_FREE);

    if (!p->migration_cost.short_for_long[slot] || (is_short && (!why || why->check == CHECK_MIN_GOODNESS)) ||
        (has_no_room && p->climb.score.vms_left < EXCHANGE_STEPS_MAX) || waits_for_cool_down(p, slot))
        return;
    plan_fault(p, FAULT_OVERLOADED, IX_NONE, l->slot_host[slot], IX_NONE,
               (struct finding){.code = FIND_OVERLOAD_HELD,
                                .resource = r,
                                .subjects = {{SUBJECT_HOST, l->slot_host[slot]},
                                             {SUBJECT_RULE, why ? IX_NONE : rule_of_largest(p, slot, r)}},
                                .figures = {{FIGURE_LOAD, l->norm[r][slot]}},
                                .because = why});
}

/* The least memory with which one of the slot's units could leave, and whither. */
static void report_host(struct pass *p, const struct roomy_hosts *hosts, uint32_t from, enum resource r,
                        bool is_short)
{
    const struct layout *l = &p->layout;
    double least = NO_LIMIT;
    uint32_t unit = IX_NONE;
    uint32_t to = IX_NONE;

    for (uint32_t i = 0; i < l->list[from].n; i++)
        for (uint32_t k = 0; k < hosts->n; k++) {
            uint32_t u = l->list[from].items[i];
            if (l->unit_held[u] != CHECK_NONE || hosts->slot[k] == from)
                continue;
            double missing = missing_memory(l, u, hosts->slot[k]);
            bool less = missing < least || (missing == least && l->unit_first[u] < l->unit_first[unit]);
            if (!(missing > 0) || !less || !would_be_made(p, u, hosts->slot[k]))
                continue;
            least = missing;
            unit = u;
            to = hosts->slot[k];
        }
    if (unit == IX_NONE) {
        report_held(p, from, r, is_short);
        return;
    }
    plan_fault(p, FAULT_NO_ROOM, IX_NONE, l->slot_host[from], IX_NONE,
               (struct finding){.code = FIND_NO_ROOM,
                                .resource = r,
                                .subjects = {{SUBJECT_HOST, l->slot_host[from]},
                                             {SUBJECT_OTHER_HOST, l->slot_host[to]},
                                             {SUBJECT_VM, l->unit_first[unit]}},
                                .figures = {{FIGURE_LOAD, l->norm[r][from]}, {FIGURE_MEM_MISSING, least}}});
}

/* What the hosts' VMs want of this demand within the limits of their pools, which cap it. */
static double sum_wanted(const struct pass *p, enum resource r, double *demand)
{
    struct divvy_tree t;
    double sum = 0;

    if (divvy_has_limits(p->snap, r)) {
        divvy_build(p->snap, r, demand, p->a, &t);
        (void)divvy_limit(&t, p->a, demand);
    }
    for (uint32_t vm = 0; vm < p->snap->n_vms; vm++)
        sum += layout_slot_of(&p->layout, vm) < p->layout.n_on ? demand[vm] : 0;
    return sum;
}

/* Whether all hosts together have less than is wanted within all limits, now and in the mean of an hour. */
static bool report_shortage(struct pass *p, enum resource r)
{
    const struct layout *l = &p->layout;
    double *now = arena_array(p->a, double, p->snap->n_vms);
    double *hour = arena_array(p->a, double, p->snap->n_vms);
    double has = 0;

    for (uint32_t i = 0; i < l->n_on; i++)
        has += host_room(&p->snap->hosts[l->slot_host[i]], r);
    for (uint32_t vm = 0; vm < p->snap->n_vms; vm++) {
        const struct vm_facts *is = &p->snap->vms[vm].is;
        now[vm] = p->demand[r][vm];
        hour[vm] = fmin(is->window[WINDOW_60M][r].mean, is->alloc[r].limit);
    }
    double wanted = sum_wanted(p, r, now);
    if (fmin(wanted, sum_wanted(p, r, hour)) <= has * LAYOUT_FULL)
        return false;
    plan_fault(
        p, FAULT_OVERLOADED, IX_NONE, l->n_on == 1 ? l->slot_host[0] : IX_NONE, IX_NONE,
        (struct finding){.code = FIND_OVERLOAD_OF_ALL,
                         .resource = r,
                         .figures = {{FIGURE_NEED, wanted}, {FIGURE_HAS, has}, {FIGURE_HOSTS, l->n_on}}});
    return true;
}

void plan_report_overload(struct pass *p)
{
    const struct layout *l = &p->layout;
    struct roomy_hosts hosts = {.n = 0};
    bool is_short[RES_COUNT] = {false};

    /* the next pass has the room of a host that comes */
    if (host_wake_coming(p) != IX_NONE || sample_guard_distrusts(&p->guard))
        return;
    for (int r = 0; r < RES_COUNT && l->n_on > 0; r++)
        is_short[r] = report_shortage(p, (enum resource)r);
    if (p->end != CHECK_NONE || l->over[RES_CPU] + l->over[RES_MEM] == 0)
        return;
    /* else the limit of moves may have prevented an exchange */
    for (uint32_t i = 0; i < l->n_on && p->climb.score.vms_left >= EXCHANGE_STEPS_MAX; i++)
        add_host(l, &hosts, i);
    move_score_refresh(&p->climb.score, l, &p->migration_cost);
    for (uint32_t i = 0; i < l->n_on; i++) {
        enum resource r = l->norm[RES_MEM][i] > l->norm[RES_CPU][i] ? RES_MEM : RES_CPU;
        if (l->norm[r][i] > LAYOUT_FULL && load_that_stays(p, r, i) > LAYOUT_FULL)
            report_host(p, &hosts, i, r, is_short[r]);
    }
}
