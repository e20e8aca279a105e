/* Moves for room: asks the search (room/) and records its moves, those that make spaces together as one move
 * group. */
#include "core/plan/plan.h"
#include "core/room/room_search.h"

#define PRIORITY_ROOM 3

static const struct finding *find_room_made(const struct pass *p, const struct room_move *m)
{
    return finding_keep(p->a,
                        (struct finding){.code = FIND_ROOM_MADE,
                                         .subjects = {{SUBJECT_HOST, p->layout.slot_host[m->for_slot]}},
                                         .figures = {{FIGURE_SPACES, m->gain},
                                                     {FIGURE_ROOM_CPUS, (double)p->policy.room.cpus},
                                                     {FIGURE_ROOM_MEM, p->policy.room.mem_mb},
                                                     {FIGURE_ROOM_CELLS, (double)p->policy.room.cells}}});
}

/* False: the pass stops here. */
static bool make_moves(struct pass *p, const struct room_moves *found)
{
    int64_t level = p->policy.migration_threshold;
    unsigned priority = level < PRIORITY_ROOM ? (unsigned)level : PRIORITY_ROOM;
    bool goes_on = true;

    for (uint32_t i = 0; i < found->n && goes_on; i++) {
        const struct room_move *m = &found->items[i];
        bool begins = i == 0 || found->items[i - 1].set != m->set;
        bool alone = begins && (i + 1 == found->n || found->items[i + 1].set != m->set);

        if (begins)
            p->move_group = alone ? 0 : ++p->n_move_groups;
        p->because = find_room_made(p, m);
        goes_on = plan_move(p, m->unit, m->to_slot, REASON_ROOM, IX_NONE, priority);
    }
    p->move_group = 0;
    p->because = NULL;
    return goes_on;
}

void plan_make_room(struct pass *p)
{
    const struct layout *l = &p->layout;
    bool is_objective = p->policy.objective == OBJECTIVE_ROOM;
    uint64_t left = plan_moves_left(p);
    struct room_question q = {.vms_max = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX,
                              .enough = is_objective ? UINT64_MAX : (uint64_t)p->policy.room.free,
                              .imbalance_max = NO_LIMIT};
    size_t first = p->n_decisions;
    struct room_moves found;

    if (!p->has_room_size || !p->policy.optional_moves || p->stopped || p->hold_back != IX_NONE ||
        p->policy.migration_threshold < LAYOUT_LEVEL_FIRST)
        return;
    if (!is_objective) {
        if (spaces_of_all(&p->spaces) >= q.enough)
            return;
        q.imbalance_max = fmax(layout_imbalance(l), layout_plan_target(l));
    }
    room_search(&p->layout, &q, p->a, &found);
    p->stats.evaluated += found.evaluated;
    if (!make_moves(p, &found))
        return;
    if (is_objective)
        p->end = found.vms_short ? CHECK_MOVES_MAX : CHECK_NO_SPACE;
    p->hold_back = plan_failover_broken_by(p, first);
}

void plan_tell_room(const struct pass *p, struct plan *ret)
{
    if (!p->has_room_size)
        return;
    ret->spaces_before = p->spaces_before;
    ret->spaces_after = spaces_of_all(&p->spaces);
    ret->room =
        finding_keep(p->a, (struct finding){.code = FIND_ROOM,
                                            .figures = {{FIGURE_SPACES, (double)ret->spaces_before},
                                                        {FIGURE_SPACES_AFTER, (double)ret->spaces_after},
                                                        {FIGURE_ROOM_CPUS, (double)p->policy.room.cpus},
                                                        {FIGURE_ROOM_MEM, p->policy.room.mem_mb},
                                                        {FIGURE_ROOM_CELLS, (double)p->policy.room.cells}}});
}
