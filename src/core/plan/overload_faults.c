/* Adds a fault for each host that stays overloaded: because no other host has memory for its VMs, or because
 * of what rejects the best move off it. */
#include "core/plan/plan.h"

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

/* A short peak is no fault; nor is what an exchange might relieve that the limit of moves prevents. */
static void report_held(struct pass *p, uint32_t slot, enum resource r)
{
    const struct layout *l = &p->layout;
    const struct finding *why =
        p->migration_cost.short_for_long[slot] ? plan_refused_finding(p, slot, slot + 1) : NULL;
    bool has_no_room = !why || (why->check >= CHECK_RESERVATION_CPU && why->check <= CHECK_MEMORY_FREE);

    if (!p->migration_cost.short_for_long[slot] ||
        (has_no_room && p->climb.score.vms_left < EXCHANGE_STEPS_MAX))
        return;
    plan_fault(p, FAULT_OVERLOADED, IX_NONE, l->slot_host[slot], IX_NONE,
               (struct finding){.code = FIND_OVERLOAD_HELD,
                                .resource = r,
                                .subjects = {{SUBJECT_HOST, l->slot_host[slot]}},
                                .figures = {{FIGURE_LOAD, l->norm[r][slot]}},
                                .because = why});
}

/* The least memory with which one of the slot's units could leave, and whither. */
static void report_host(struct pass *p, const struct roomy_hosts *hosts, uint32_t from, enum resource r)
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
        report_held(p, from, r);
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

void plan_report_overload(struct pass *p)
{
    const struct layout *l = &p->layout;
    struct roomy_hosts hosts = {.n = 0};

    if (p->end != CHECK_NONE || l->over[RES_CPU] + l->over[RES_MEM] == 0)
        return;
    for (uint32_t i = 0; i < l->n_slots; i++) /* the next pass has the room of a host that comes */
        if (p->coming[i] || l->waking[i])
            return;
    /* else the limit of moves may have prevented an exchange */
    for (uint32_t i = 0; i < l->n_on && p->climb.score.vms_left >= EXCHANGE_STEPS_MAX; i++)
        add_host(l, &hosts, i);
    move_score_refresh(&p->climb.score, l, &p->migration_cost);
    for (uint32_t i = 0; i < l->n_on; i++) {
        enum resource r = l->norm[RES_MEM][i] > l->norm[RES_CPU][i] ? RES_MEM : RES_CPU;
        if (l->norm[r][i] > LAYOUT_FULL)
            report_host(p, &hosts, i, r);
    }
}
