/* Optional moves: runs the climb (balance/) level by level, and where it finds no move the search for
 * exchanges; gives each move its reason and priority. */
#include "core/plan/plan.h"

#include "core/plan/correct.h"

/* A benefit below this is rounding: seconds of the whole cluster's capacity. */
#define BENEFIT_LEAST 1e-9

/* The resource that the move is for: that of the larger benefit, or whose deviation falls more where the
 * move has no benefit. w: what the move, or the exchange that it is a part of, is worth. */
static enum resource resource_of(const struct pass *p, const struct move *m, const struct migration_worth *w)
{
    const struct layout *l = &p->layout;
    double fall[RES_COUNT];
    double benefit[RES_COUNT] = {0};
    struct move_trial t;

    for (int r = 0; r < RES_COUNT && p->policy.cost_benefit; r++)
        benefit[r] = w->benefit[r] / p->migration_cost.capacity[r];
    if (benefit[RES_CPU] > BENEFIT_LEAST || benefit[RES_MEM] > BENEFIT_LEAST)
        return benefit[RES_MEM] > benefit[RES_CPU] ? RES_MEM : RES_CPU;
    move_trial_begin(l, p->climb.score.weight, m->unit, &t);
    for (int r = 0; r < RES_COUNT; r++) {
        struct move_trial one = t;
        one.weight[!r] = 0;
        fall[r] = t.weight[r] * layout_load_stddev(l, (enum resource)r) - move_trial_at(l, &one, m->to_slot);
    }
    return fall[RES_MEM] > fall[RES_CPU] ? RES_MEM : RES_CPU;
}

/* A smaller part of a host's capacity that VMs lack is not worth a search. */
#define LACK_LEAST 0.01

/* What the slot's VMs lack because the hypervisor does not enforce the configuration. NULL: next to nothing.
 */
static const struct finding *find_lack(const struct pass *p, uint32_t slot)
{
    static const enum finding_figure figure[RES_COUNT] = {
        [RES_CPU] = FIGURE_CPU_MHZ, [RES_MEM] = FIGURE_MEM_MB};

    for (int r = 0; r < RES_COUNT && p->policy.cost_benefit; r++) {
        double lack = contention_lack(&p->migration_cost.contention, (enum resource)r, slot);
        if (lack * p->layout.inverse[r][slot] > LACK_LEAST)
            return finding_keep(p->a,
                                (struct finding){.code = FIND_UNEVEN_LACK,
                                                 .resource = (enum resource)r,
                                                 .subjects = {{SUBJECT_HOST, p->layout.slot_host[slot]}},
                                                 .figures = {{figure[r], lack}}});
    }
    return NULL;
}

/* What is not even where the imbalance is within the plan's target: about the hosts of the move, which gives
 * the resource that the move is for, or else about other hosts. NULL: the imbalance is above the target. */
static const struct finding *purpose_within(const struct pass *p, const struct move *m, enum resource *r)
{
    const struct layout *l = &p->layout;
    int64_t level = p->policy.migration_threshold;
    struct unevenness uneven[UNEVENNESS_MAX];
    double imbalance = layout_imbalance(l);

    if (imbalance > layout_target(&p->policy, l->n_on, level))
        return NULL;
    const struct finding *found = find_lack(p, l->unit_slot[m->unit]);
    if (!found)
        found = layout_uneven_move(l, level, *r, l->unit_slot[m->unit], m->to_slot, p->a);
    if (!found) {
        if (layout_unevenness(l, level, imbalance, uneven, p->a) == 0)
            return NULL;
        found = uneven[0].found;
        if (uneven[0].kind == UNEVEN_IMBALANCE)
            return found;
        if (found->subjects[0].ix != l->slot_host[l->unit_slot[m->unit]])
            return finding_keep(
                p->a, (struct finding){.code = p->proposing ? FIND_UNEVEN_PLAN : FIND_UNEVEN_ELSEWHERE,
                                       .because = found});
    }
    *r = found->resource;
    return found;
}

/* Whether VMs lack on some host what another may have. */
static bool some_lack(const struct pass *p)
{
    const struct contention *c = &p->migration_cost.contention;

    for (uint32_t i = 0; c->l && i < p->layout.n_on; i++)
        if (find_lack(p, i))
            return true;
    return false;
}

/* Whether this level has nothing to mend. */
static bool is_balanced(const struct pass *p, int64_t level)
{
    const struct layout *l = &p->layout;

    return layout_imbalance(l) <= layout_target(&p->policy, l->n_on, level) &&
           !layout_has_outlier(l, level) && !layout_lacks_headroom(l) && !some_lack(p);
}

static enum outcome make_move(struct pass *p, const struct move *m, int64_t level, uint32_t *left)
{
    struct migration_worth w;

    migration_cost_worth(&p->migration_cost, m->unit, m->to_slot, &w);
    enum resource r = resource_of(p, m, &w);
    p->because = purpose_within(p, m, &r);
    enum reason reason = r == RES_MEM ? REASON_BALANCE_MEM : REASON_BALANCE_CPU;
    uint32_t members = p->layout.unit_from[m->unit + 1] - p->layout.unit_from[m->unit];
    bool goes_on = plan_move(p, m->unit, m->to_slot, reason, IX_NONE, (unsigned)level);
    p->because = NULL;
    *left -= *left == UINT32_MAX ? 0 : members;
    return goes_on ? OUTCOME_MOVED : OUTCOME_STOPPED;
}

/* Makes the best single move. */
static enum outcome take_move(struct pass *p, int64_t level, uint32_t *left)
{
    struct move m = climb_step(&p->climb);

    return m.unit == IX_NONE ? OUTCOME_STUCK : make_move(p, &m, level, left);
}

/* The benefit is that of the exchange: equal parts for its moves, so that the plan's sums are right. */
static void share_benefit(struct decision *d, const struct exchange *x)
{
    for (int r = 0; r < RES_COUNT; r++)
        d->worth.benefit[r] = x->worth.benefit[r] / x->steps.n;
}

/* Records one move group. The move that the others make way for has the reason of a single move. */
static enum outcome make_exchange(struct pass *p, const struct exchange *x, int64_t level, uint32_t *left)
{
    struct move m = {.unit = x->unit};

    for (uint32_t i = 0; i < x->steps.n; i++)
        m.to_slot = x->steps.unit[i] == x->unit ? x->steps.to_slot[i] : m.to_slot;
    enum resource r = resource_of(p, &m, &x->worth);
    const struct finding *because = purpose_within(p, &m, &r);
    bool goes_on = true;
    p->move_group = ++p->n_move_groups;
    for (uint32_t i = 0; i < x->steps.n && goes_on; i++) {
        uint32_t u = x->steps.unit[i];
        bool is_main = u == x->unit && x->steps.to_slot[i] == m.to_slot;
        enum reason balance = r == RES_MEM ? REASON_BALANCE_MEM : REASON_BALANCE_CPU;
        p->because = is_main ? because : NULL;
        p->for_vm = is_main ? IX_NONE : p->layout.unit_first[x->unit];
        goes_on = plan_move(p, u, x->steps.to_slot[i], is_main ? balance : REASON_EXCHANGE, IX_NONE,
                            (unsigned)level);
        share_benefit(goes_on ? &p->decisions[p->n_decisions - 1] : &p->next, x);
        *left -= *left == UINT32_MAX ? 0 : p->layout.unit_from[u + 1] - p->layout.unit_from[u];
    }
    p->move_group = 0;
    p->because = NULL;
    p->for_vm = IX_NONE;
    return goes_on ? OUTCOME_MOVED : OUTCOME_STOPPED;
}

/* Makes the best exchange. */
static enum outcome take_exchange(struct pass *p, int64_t level, uint32_t *left)
{
    struct exchange x;

    exchange_find(&p->exchanges, &p->climb, &x);
    return x.steps.n == 0 ? OUTCOME_STUCK : make_exchange(p, &x, level, left);
}

/* Makes one of the proposed moves or exchanges, at the lowest level that is not balanced and at which it
 * passes. OUTCOME_STUCK: it passes at no level. */
static enum outcome make_proposed(struct pass *p, const struct proposed *is, uint32_t *left)
{
    struct climb *c = &p->climb;
    struct exchange x;

    for (int64_t level = LAYOUT_LEVEL_FIRST; level <= p->policy.migration_threshold; level++) {
        if (is_balanced(p, level))
            continue;
        move_score_set_level(&c->score, &p->layout, &p->migration_cost, level);
        c->score.vms_left = *left;
        if (!deep_search_passes(c, is, &x))
            continue;
        if (is->steps.n > 1)
            return make_exchange(p, &x, level, left);
        return make_move(p, &(struct move){.unit = is->unit, .to_slot = is->steps.to_slot[0]}, level, left);
    }
    return OUTCOME_STUCK;
}

/* Makes the moves that the deep search proposes, or else those that stand, in their order; a move that does
 * not pass is left out. False: the pass stops here. */
static bool make_first(struct pass *p, uint32_t *left)
{
    struct proposal standing = {0};
    const struct proposal *list = p->proposal ? p->proposal : &standing;
    bool goes_on = true;

    if (!p->proposal && !p->anew)
        plan_standing_list(p, &standing);
    p->proposing = p->proposal != NULL;
    p->stands = !p->proposal;
    for (uint32_t i = 0; i < list->n && goes_on; i++)
        goes_on = make_proposed(p, &list->items[i], left) != OUTCOME_STOPPED;
    p->proposing = p->proposing && !goes_on;
    p->stands = false;
    return goes_on;
}

/* Makes the moves of one level, at most *left. False: the pass stops here. */
static bool climb_level(struct pass *p, int64_t level, uint32_t *left)
{
    struct climb *c = &p->climb;

    climb_set_level(c, level);
    for (;;) {
        bool balanced = is_balanced(p, level);
        p->end = balanced ? CHECK_TARGET_REACHED : *left == 0 ? CHECK_MOVES_MAX : CHECK_NONE;
        if (p->end != CHECK_NONE)
            return true;
        c->score.vms_left = *left;
        enum outcome outcome = take_move(p, level, left);
        if (outcome == OUTCOME_STUCK && move_score_lower_goodness(&c->score))
            continue;
        if (outcome == OUTCOME_STUCK)
            outcome = take_exchange(p, level, left);
        if (outcome != OUTCOME_MOVED)
            return outcome == OUTCOME_STUCK;
    }
}

static void hold_back(struct pass *p)
{
    enum check *held = p->layout.unit_held;

    for (uint32_t u = 0; u < p->layout.n_units && p->held_back; u++)
        if (p->held_back[u] && held[u] == CHECK_NONE)
            held[u] = CHECK_VM_HELD_BACK;
}

/* One level after the other, so that a level's moves are the first ones of the next level's. A move's
 * priority is the level that makes it. */
void plan_balance(struct pass *p)
{
    uint64_t most = plan_moves_left(p);
    uint32_t left = most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
    size_t first = p->n_decisions;

    p->end = CHECK_MANDATORY_ONLY;
    if (!p->policy.optional_moves)
        return;
    plan_bound_start(p);
    hold_back(p);
    if (rule_moves_decide(p)) {
        rule_moves_make(p);
        return;
    }
    if (p->policy.objective == OBJECTIVE_ROOM)
        return;
    if (p->has_room_size && p->policy.room.free > 0) {
        spaces_guard_begin(&p->spaces_guard, &p->spaces, (uint64_t)p->policy.room.free);
        p->climb.score.guard = &p->spaces_guard;
    }
    if (p->search_from && !plan_search_deeper(p, left))
        return;
    if (!make_first(p, &left))
        return;
    size_t kept = first; /* decisions that leave failover capacity as it was */
    for (int64_t level = LAYOUT_LEVEL_FIRST; level <= p->policy.migration_threshold; level++) {
        if (!climb_level(p, level, &left))
            return;
        if (p->n_decisions == kept)
            continue;
        p->hold_back = plan_failover_broken_by(p, first); /* by level: as the level below does */
        if (p->hold_back != IX_NONE)
            break;
        kept = p->n_decisions;
    }
    plan_measure_balance(p, first);
    plan_bound_tell(p, first);
}

const struct finding *plan_ratio_finding(const struct pass *p)
{
    if (p->climb.score.level < LAYOUT_LEVEL_FIRST || !p->policy.cost_benefit)
        return NULL;
    return finding_keep(p->a,
                        (struct finding){.code = FIND_RATIO,
                                         .figures = {{FIGURE_RATIO_MIN, p->migration_cost.ratio},
                                                     {FIGURE_THRESHOLD, (double)p->climb.score.level}}});
}

const struct finding *plan_refused_finding(struct pass *p, uint32_t first, uint32_t end)
{
    const struct layout *l = &p->layout;
    struct plan_stats uncounted = {0};
    struct migration_worth w;

    if (p->end != CHECK_NONE)
        return NULL;
    move_score_refresh(&p->climb.score, l, &p->migration_cost);
    struct move_score score = p->climb.score;
    struct move m = climb_best_refused(&p->climb, first, end);
    if (m.unit == IX_NONE)
        return NULL;
    score.stats = &uncounted;
    enum check held = l->unit_held[m.unit];
    enum check check = held != CHECK_NONE ? held : move_score_check(&score, m.unit, m.to_slot, m.gain);
    if (check == CHECK_NONE)
        return NULL;
    migration_cost_worth(&p->migration_cost, m.unit, m.to_slot, &w);
    uint32_t vm = l->unit_first[m.unit];
    for (uint32_t i = l->unit_from[m.unit]; i < l->unit_from[m.unit + 1]; i++)
        vm = layout_vm_check(l, vm) != check && layout_vm_check(l, l->unit_vms[i]) == check ? l->unit_vms[i]
                                                                                            : vm;
    uint32_t to = l->slot_host[m.to_slot];
    return finding_keep(p->a,
                        (struct finding){.code = FIND_REFUSED,
                                         .check = check,
                                         .subjects = {{SUBJECT_VM, vm},
                                                      {SUBJECT_FROM, l->slot_host[l->unit_slot[m.unit]]},
                                                      {SUBJECT_TO, to}},
                                         .figures = {{FIGURE_IMBALANCE_AFTER, score.imbalance - m.gain}},
                                         .because = check_finding(p, vm, to, check, &w)});
}

void plan_review(struct pass *p)
{
    correct_failover_review(p);
    climb_count_rejected(&p->climb, p->end == CHECK_NONE);
}
