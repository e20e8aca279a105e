/* Brings the VMs of an affine set together on one host when they run on several. */
#include "core/plan/correct.h"
#include "core/plan/prerequisite_moves.h"

/* Sums that just fit, added in another order. */
#define ROUNDING 1e-6

/* Whether an anti-affinity rule separates a VM of the unit from a VM on the slot that cannot leave. */
static bool must_make_way(const struct layout *l, uint32_t unit, uint32_t slot)
{
    const struct rules *rules = l->rules;

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        uint32_t vm = l->unit_vms[i];
        for (uint32_t j = rules->groups.from[vm]; j < rules->groups.from[vm + 1]; j++) {
            uint32_t g = rules->groups.of[j];
            struct span vms = l->snap->rules[rules->group_rule[g]].vms;
            for (uint32_t k = 0; k < vms.n && l->apart[(size_t)g * l->n_slots + slot] > 1; k++) {
                uint32_t other = l->vm_unit[vms.items[k]];
                if (other != IX_NONE && other != unit && l->unit_slot[other] == slot &&
                    !correct_can_move(l, other))
                    return true;
            }
        }
    }
    return false;
}

static enum check refuses(const struct layout *l, uint32_t unit, uint32_t slot)
{
    if (l->rules->fit.live_from && layout_live_refuses(l, unit, slot))
        return CHECK_FIT_FILTER;
    return l->cells ? layout_cells_refuse(l, unit, slot, IX_NONE, NULL, NULL) : CHECK_NONE;
}

/* The first part that a filter refuses which reads what moves change, or for which no cells or devices are
 * left, as the parts come one after the other; unit IX_NONE: none. Restores the layout. */
static struct obstacle first_refused(struct layout *l, uint32_t component, uint32_t slot)
{
    struct obstacle refused = {CHECK_NONE, IX_NONE, slot};
    uint32_t parts = 0;
    uint32_t n = 0;

    for (uint32_t u = l->set_first[component]; u != IX_NONE; u = l->unit_next[u])
        parts++;
    struct layout_mark *marks = arena_array(l->a, struct layout_mark, parts);

    for (uint32_t u = l->set_first[component]; u != IX_NONE && refused.unit == IX_NONE; u = l->unit_next[u]) {
        if (l->unit_slot[u] == slot)
            continue;
        enum check check = refuses(l, u, slot);
        if (check != CHECK_NONE)
            refused = (struct obstacle){check, u, slot};
        else
            layout_try(l, u, slot, &marks[n++]);
    }
    while (n > 0)
        layout_undo_in_order(l, &marks[--n]);
    return refused;
}

/* The first check that keeps another part of the set from moving to this slot with this priority; CHECK_NONE:
 * all parts may move there. The order of their moves makes no difference to the capacity that they need. */
static struct obstacle obstacle_at(struct layout *l, uint32_t component, uint32_t slot, unsigned priority)
{
    double mem = 0;
    double phys = 0;
    double reserved[RES_COUNT] = {0};

    for (uint32_t u = l->set_first[component]; u != IX_NONE; u = l->unit_next[u]) {
        if (l->unit_slot[u] == slot) {
            /* the unit may not stay on the slot, so no other part may join it there */
            if (l->unit_allowed[u] && !bitmap_has(l->unit_allowed[u], l->slot_host[slot]))
                return (struct obstacle){CHECK_RULE_VM_HOST, u, slot};
            if (must_make_way(l, u, slot))
                return (struct obstacle){CHECK_RULE_ANTI_AFFINITY, u, slot};
            continue;
        }
        if (!correct_may_move(l, u, priority))
            return (struct obstacle){!correct_can_move(l, u)              ? l->unit_held[u]
                                     : layout_moves_only_if_it_must(l, u) ? CHECK_VM_MANDATORY_ONLY
                                                                          : CHECK_VM_COOL_DOWN,
                                     u, IX_NONE};
        if (layout_is_rejected(l, u, REASON_RULE))
            return (struct obstacle){CHECK_VM_REJECTED, u, IX_NONE};
        enum check check = layout_check(l, u, slot);
        if (check != CHECK_NONE)
            return (struct obstacle){check, u, slot};
        mem += l->unit_mem[u];
        phys += l->unit_phys[u];
        for (int r = 0; r < RES_COUNT; r++)
            reserved[r] += l->unit_reserved[r][u];
    }
    if (l->used && layout_set_exceeds(l, component, slot))
        return (struct obstacle){CHECK_FIT_QUANTITY, IX_NONE, slot};
    const struct host *h = &l->snap->hosts[l->slot_host[slot]];
    const double *kept = l->failover.reserved[RES_MEM];
    bool by_admission = l->snap->promise.by_admission;
    for (int r = 0; r < RES_COUNT; r++)
        if (reserved[r] > 0 && l->reserved[r][slot] +
                                       (r == RES_MEM && by_admission ? 0 : l->failover.reserved[r][slot]) +
                                       reserved[r] >
                                   h->capacity[r] + ROUNDING)
            return (struct obstacle){r == RES_CPU ? CHECK_RESERVATION_CPU : CHECK_RESERVATION_MEM, IX_NONE,
                                     slot};
    if (l->mem_taken[slot] + mem + (by_admission ? kept[slot] : 0) > l->mem_limit[slot] + ROUNDING)
        return (struct obstacle){CHECK_MEMORY, IX_NONE, slot};
    if (phys > l->mem_free[slot] + ROUNDING)
        return (struct obstacle){CHECK_MEMORY_FREE, IX_NONE, slot};
    return l->rules->fit.live_from || l->cells ? first_refused(l, component, slot)
                                               : (struct obstacle){CHECK_NONE, IX_NONE, slot};
}

/* Prefers the slot that already runs the most memory of the set: the least to migrate. */
uint32_t affine_set_meeting_slot(struct layout *l, uint32_t component, unsigned priority,
                                 struct obstacle *ret_why)
{
    uint32_t best = IX_NONE;
    double best_there = -1;

    *ret_why = (struct obstacle){CHECK_HOST_NOT_ON, IX_NONE, IX_NONE};
    for (uint32_t i = 0; i < l->n_slots; i++) {
        double there = 0;
        if (i >= l->n_on && !l->waking[i])
            continue;
        for (uint32_t u = l->set_first[component]; u != IX_NONE; u = l->unit_next[u])
            if (l->unit_slot[u] == i)
                there += 1 + l->unit_backed[u];
        struct obstacle why = obstacle_at(l, component, i, priority);
        /* "off" and "a part has already moved in this plan" explain nothing to an admin: keep the earlier
         * obstacle */
        if (ret_why->check == CHECK_HOST_NOT_ON || ret_why->check == CHECK_VM_MOVED ||
            (why.check > ret_why->check && why.check != CHECK_VM_MOVED))
            *ret_why = why;
        if (there > best_there && why.check == CHECK_NONE) {
            best = i;
            best_there = there;
        }
    }
    return best;
}

static bool is_elsewhere_in_part(const struct layout *l, const struct rule *rule, uint32_t unit)
{
    for (uint32_t k = 0; k < rule->vms.n; k++) {
        uint32_t u = l->vm_unit[rule->vms.items[k]];
        if (u != IX_NONE && l->unit_slot[u] != l->unit_slot[unit])
            return true;
    }
    return false;
}

/* The affinity rule that joins the unit to another part of its set: a mandatory one if any, then the first.
 */
static uint32_t rule_that_joins(const struct pass *p, uint32_t unit)
{
    const struct layout *l = &p->layout;
    uint32_t best = IX_NONE;

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        const struct span of = rules_of(&p->rules, l->unit_vms[i]);
        for (uint32_t k = 0; k < of.n; k++) {
            const struct rule *rule = &p->snap->rules[of.items[k]];
            bool better = best == IX_NONE || rule->is.mandatory > p->snap->rules[best].is.mandatory ||
                          (rule->is.mandatory == p->snap->rules[best].is.mandatory && of.items[k] < best);
            if (better && rule->is.kind == RULE_VM_AFFINE && rules_in_force(&p->rules, rule) &&
                is_elsewhere_in_part(l, rule, unit))
                best = of.items[k];
        }
    }
    return best;
}

/* The set moves as a whole or not at all, so its mandatory rule, if any, sets the priority of all moves. */
static unsigned priority_of_set(const struct pass *p, uint32_t component)
{
    unsigned priority = PRIORITY_PREFERRED;

    for (uint32_t u = p->layout.set_first[component]; u != IX_NONE; u = p->layout.unit_next[u])
        if (correct_priority(p, rule_that_joins(p, u)) == PRIORITY_MANDATORY)
            priority = PRIORITY_MANDATORY;
    return priority;
}

/* ---- prerequisite moves ---- */

/* Finds the prerequisite moves for one part of the set; none if it fits already. */
static bool way_of_part(struct pass *p, uint32_t unit, uint32_t slot, struct prerequisite_moves *ret)
{
    *ret = (struct prerequisite_moves){.to_slot = slot};
    return layout_check(&p->layout, unit, slot) == CHECK_NONE ||
           prerequisite_moves_find(p, unit, slot, NULL, ret);
}

/* The number of prerequisite moves for the whole set to meet on this slot, and the memory they copy;
 * UINT32_MAX: impossible. Restores the layout. */
static uint32_t others_to_move(struct pass *p, uint32_t component, uint32_t slot, double *ret_copied_mb)
{
    struct layout *l = &p->layout;
    uint32_t parts = 0;
    for (uint32_t u = l->set_first[component]; u != IX_NONE; u = l->unit_next[u])
        parts++;
    struct layout_mark *marks =
        arena_array(p->a, struct layout_mark, (size_t)parts * (PREREQUISITE_MOVES_MAX + 1));
    uint32_t n = 0;
    uint32_t others = 0;

    *ret_copied_mb = 0;
    for (uint32_t u = l->set_first[component]; u != IX_NONE && others != UINT32_MAX; u = l->unit_next[u]) {
        struct prerequisite_moves way;
        bool stays = l->unit_slot[u] == slot;
        bool may = stays ? !l->unit_allowed[u] || bitmap_has(l->unit_allowed[u], l->slot_host[slot])
                         : correct_can_move(l, u) && !layout_is_rejected(l, u, REASON_RULE) &&
                               way_of_part(p, u, slot, &way);
        if (!may) {
            others = UINT32_MAX;
            continue;
        }
        if (stays)
            continue;
        for (uint32_t i = 0; i < way.n; i++)
            layout_try(l, way.out[i].unit, way.out[i].to_slot, &marks[n++]);
        layout_try(l, u, slot, &marks[n++]);
        others += way.n;
        *ret_copied_mb += way.copied_mb + l->unit_backed[u];
    }
    while (n > 0)
        layout_undo(l, &marks[--n]);
    return others;
}

/* The slot with the fewest prerequisite moves, then the least memory to copy. */
static uint32_t slot_to_clear(struct pass *p, uint32_t component)
{
    uint32_t best = IX_NONE;
    uint32_t best_others = UINT32_MAX;
    double best_copied = 0;

    for (uint32_t i = 0; i < p->layout.n_on; i++) {
        double copied;
        uint32_t others = others_to_move(p, component, i, &copied);
        if (others == UINT32_MAX || others > best_others || (others == best_others && copied >= best_copied))
            continue;
        best = i;
        best_others = others;
        best_copied = copied;
    }
    return best;
}

/* False: the pass stops here. A part that cannot move after all leaves the set scattered and gets a fault. */
static bool join_at(struct pass *p, uint32_t component, uint32_t to, unsigned priority)
{
    struct layout *l = &p->layout;
    uint32_t move_group = p->move_group;

    p->move_group = ++p->n_move_groups;
    for (uint32_t u = l->set_first[component]; u != IX_NONE; u = l->unit_next[u]) {
        struct prerequisite_moves way;
        if (l->unit_slot[u] == to)
            continue;
        if (!correct_can_move(l, u) || !way_of_part(p, u, to, &way)) {
            correct_violated(p, u, rule_that_joins(p, u), (struct obstacle){layout_check(l, u, to), u, to});
            continue;
        }
        if (!prerequisite_moves_take(p, u, &way) ||
            !plan_move(p, u, to, REASON_RULE, rule_that_joins(p, u), priority))
            return false;
    }
    p->move_group = move_group;
    return true;
}

/* Holds the parts that are already on the meeting slot, so that later corrections do not move them away
 * again. */
static void hold_those_joined(struct layout *l, uint32_t component, uint32_t at)
{
    for (uint32_t o = l->set_first[component]; o != IX_NONE; o = l->unit_next[o])
        if (l->unit_slot[o] == at && l->unit_held[o] != CHECK_VM_MOVED)
            l->unit_held[o] = CHECK_UNIT_HELD;
}

static bool any_moves_only_if_it_must(const struct layout *l, uint32_t component)
{
    for (uint32_t u = l->set_first[component]; u != IX_NONE; u = l->unit_next[u])
        if (layout_moves_only_if_it_must(l, u))
            return true;
    return false;
}

/* One set whose parts are on several hosts. */
static bool bring_together(struct pass *p, uint32_t unit)
{
    struct layout *l = &p->layout;
    uint32_t component = p->rules.component[l->unit_first[unit]];
    unsigned priority = priority_of_set(p, component);
    if (!correct_is_due(p, priority))
        return true;
    struct obstacle why;
    uint32_t to = affine_set_meeting_slot(l, component, priority, &why);
    if (to == IX_NONE && priority != PRIORITY_MANDATORY && !any_moves_only_if_it_must(l, component) &&
        affine_set_meeting_slot(l, component, PRIORITY_MANDATORY, &why) != IX_NONE)
        return true; /* at the end of a cool-down */
    if (to == IX_NONE && priority == PRIORITY_MANDATORY && p->may_make_room) {
        to = slot_to_clear(p, component);
        if (to != IX_NONE) {
            bool goes_on = join_at(p, component, to, priority);
            hold_those_joined(l, component, to);
            return goes_on;
        }
    }
    if (to == IX_NONE) {
        uint32_t who = why.unit == IX_NONE ? unit : why.unit;
        correct_violated(p, who, rule_that_joins(p, who), why);
        return true;
    }
    for (uint32_t o = l->set_first[component]; o != IX_NONE; o = l->unit_next[o]) {
        if (l->unit_slot[o] == to)
            continue;
        if (!plan_move(p, o, to, REASON_RULE, rule_that_joins(p, o), priority))
            return false;
    }
    hold_those_joined(l, component, to);
    return true;
}

/* Handles every affine set that runs on several hosts, whatever else holds its VMs. A set with a migration in
 * flight waits for its end, because that migration may bring the set together. */
bool affine_sets_bring_together(struct pass *p)
{
    struct layout *l = &p->layout;
    uint32_t *first = arena_array(p->a, uint32_t, p->snap->n_vms); /* by component: a unit of it, + 1 */
    bool *done = arena_array(p->a, bool, p->snap->n_vms);

    for (uint32_t i = 0; i < p->snap->n_vms; i++)
        if (l->in_flight[i])
            done[p->rules.component[i]] = true;
    for (uint32_t u = 0; u < l->n_units; u++) {
        uint32_t component = p->rules.component[l->unit_first[u]];
        if (first[component] == 0) {
            first[component] = u + 1;
            continue;
        }
        uint32_t other = first[component] - 1;
        if (done[component] || l->unit_slot[u] == l->unit_slot[other] || p->rules.held[l->unit_first[u]])
            continue;
        done[component] = true;
        if (!bring_together(p, other))
            return false;
    }
    return true;
}
