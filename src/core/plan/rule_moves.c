/* rule_moves.c: moves for balance by the rules of pipelines (policy.balancer), in place of the climb; why a
 * VM stays by them. All that keeps a VM off a host, or on its own, binds these moves too. */
#include "core/fit/rank.h"
#include "core/plan/correct.h"
#include "core/plan/plan.h"

#include <math.h>
#include <stdlib.h>

#define PERCENT 100

/* A rule at one moment of the plan; arrays by slot. */
struct rule_now {
    const struct pass *p;
    uint32_t stage;
    bool *from, *to; /* VMs leave it, and may come to it */
    double *first;
};

/* A unit that the rule may move, and its turn. */
struct leaver {
    uint32_t unit, slot, vm;
    double first, size;
};

bool rule_moves_decide(const struct pass *p)
{
    for (uint32_t i = 0; p->policy.balancer == BALANCER_POLICY && i < p->snap->n_pipelines; i++)
        if (p->snap->pipelines[i].balance.given)
            return true;
    return false;
}

static struct value value_of(const struct rule_now *r, enum fit_part part, uint32_t vm, uint32_t slot)
{
    const struct fit_live live = layout_live(&r->p->layout);

    return fit_rule_value(&r->p->rules.fit, part, r->stage, vm, r->p->layout.slot_host[slot], &live.is);
}

static bool holds(const struct rule_now *r, enum fit_part part, uint32_t vm, uint32_t slot)
{
    struct value v = value_of(r, part, vm, slot);

    return r->p->rules.fit.parts[part][r->stage].x.n == 0 || (v.type == VALUE_TRUTH && v.truth);
}

static double number_of(const struct rule_now *r, enum fit_part part, uint32_t vm, uint32_t slot)
{
    struct value v = value_of(r, part, vm, slot);

    return v.type == VALUE_NUMBER ? v.number : 0;
}

static uint32_t or_last(const struct snapshot *s, uint32_t host)
{
    return host == IX_NONE ? s->n_hosts : host;
}

bool *rule_moves_busy(const struct pass *p)
{
    const struct snapshot *s = p->snap;
    bool *host = arena_array(p->a, bool, (size_t)s->n_hosts + 1); /* the last: none */
    bool *busy = arena_array(p->a, bool, (size_t)p->layout.n_slots + 1);

    for (uint32_t i = 0; i < s->n_migrations; i++)
        host[or_last(s, s->migrations[i].from)] = host[or_last(s, s->migrations[i].to)] = true;
    for (uint32_t i = 0; i < s->n_pending; i++) {
        const struct pending *x = &s->pending[i];
        host[or_last(s, x->from)] = host[or_last(s, x->to)] = host[or_last(s, x->host)] = true;
    }
    for (uint32_t i = 0; i < p->layout.n_slots; i++)
        busy[i] = host[p->layout.slot_host[i]];
    for (size_t i = 0; i < p->n_decisions; i++)
        busy[p->decisions[i].from_slot] = busy[p->decisions[i].to_slot] = true;
    return busy;
}

/* Asks the rule about all hosts. */
static struct rule_now ask_hosts(const struct pass *p, uint32_t stage)
{
    const struct layout *l = &p->layout;
    const struct stage_facts *is = &p->snap->stages[stage].is;
    const bool *busy = rule_moves_busy(p);
    double fullest = -INFINITY;
    struct rule_now r = {.p = p,
                         .stage = stage,
                         .from = arena_array(p->a, bool, l->n_slots),
                         .to = arena_array(p->a, bool, l->n_slots),
                         .first = arena_array(p->a, double, l->n_slots)};

    for (uint32_t i = 0; i < l->n_on; i++) {
        if (busy[i] || l->closing[i])
            continue;
        r.from[i] = holds(&r, PART_FROM, IX_NONE, i);
        r.to[i] = holds(&r, PART_TO, IX_NONE, i);
        r.first[i] = number_of(&r, PART_FIRST, IX_NONE, i);
        fullest = r.from[i] ? fmax(fullest, r.first[i]) : fullest;
    }
    for (uint32_t i = 0; is->gap_given && i < l->n_on; i++) {
        r.from[i] = r.from[i] && r.first[i] == fullest;
        r.to[i] = r.to[i] && r.first[i] <= fullest - is->gap;
    }
    return r;
}

/* Whether the condition holds for all VMs of the unit, which are of the rule's pipeline. */
static bool all_hold(const struct rule_now *r, enum fit_part part, uint32_t unit, uint32_t slot)
{
    const struct layout *l = &r->p->layout;

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++)
        if (l->snap->vms[l->unit_vms[i]].pipeline != l->snap->stages[r->stage].pipeline ||
            !holds(r, part, l->unit_vms[i], slot))
            return false;
    return true;
}

/* Whether the unit's own pipeline lets it stay: else another host is better, whichever. */
static bool may_stay(const struct layout *l, uint32_t unit)
{
    uint32_t slot = l->unit_slot[unit];

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++)
        if (rules_fit_refuses(l->rules, l->unit_vms[i], l->slot_host[slot]))
            return false;
    return !(l->rules->fit.live_from && layout_live_refuses(l, unit, slot));
}

/* The best of the slots by the VM's pipeline, then with the lowest imbalance: the order of placement. */
static uint32_t best_of(const struct pass *p, uint32_t unit, const uint32_t *slots, uint32_t n)
{
    const struct layout *l = &p->layout;
    const struct fit_live live = layout_live(l);
    uint32_t *hosts = arena_array(p->a, uint32_t, n);
    struct fit_ranked best = {0}, x;
    double weight[RES_COUNT], least = 0;
    uint32_t ret = IX_NONE;
    struct move_trial t;

    for (uint32_t i = 0; i < n; i++)
        hosts[i] = l->slot_host[slots[i]];
    struct fit_ranking *r = fit_ranking_new(&p->rules.fit, l->unit_first[unit], &live.is, hosts, n, p->a);
    double *buckets = arena_array(p->a, double, (size_t)n * r->n_buckets);
    fit_ranking_score(r);
    layout_weights(l, weight);
    move_trial_begin(l, weight, unit, &t);
    for (uint32_t i = 0; i < n; i++) {
        bool here = slots[i] == l->unit_slot[unit];
        double imbalance = here ? layout_imbalance(l) : move_trial_at(l, &t, slots[i]);

        fit_ranking_get(r, i, buckets + (size_t)i * r->n_buckets, &x);
        int order = ret == IX_NONE ? -1 : fit_rank_compare(&x, &best);
        if (x.out || order > 0 || (order == 0 && imbalance >= least))
            continue;
        best = x;
        least = imbalance;
        ret = slots[i];
    }
    return ret;
}

/* Where the rule would have the unit: the best of the hosts to which it may go and its own. */
static uint32_t destination_of(const struct rule_now *r, uint32_t unit)
{
    const struct layout *l = &r->p->layout;
    uint32_t *slots = arena_array(r->p->a, uint32_t, l->n_on);
    uint32_t home = l->unit_slot[unit], n = 0, others = 0;

    for (uint32_t i = 0; i < l->n_on; i++) {
        bool may = i == home ? may_stay(l, unit)
                             : r->to[i] && layout_check(l, unit, i) == CHECK_NONE &&
                                   !layout_just_left(l, unit, i) && all_hold(r, PART_FITS, unit, i);
        if (may)
            slots[n++] = i;
        others += may && i != home;
    }
    return others > 0 ? best_of(r->p, unit, slots, n) : home;
}

static int in_turn(const void *a, const void *b)
{
    const struct leaver *x = a;
    const struct leaver *y = b;

    if (x->first != y->first)
        return x->first > y->first ? -1 : 1;
    if (x->slot != y->slot)
        return x->slot < y->slot ? -1 : 1;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return (x->vm > y->vm) - (x->vm < y->vm);
}

static struct leaver *list_leavers(const struct rule_now *r, uint32_t *ret_n)
{
    const struct layout *l = &r->p->layout;
    struct leaver *list = arena_array(r->p->a, struct leaver, l->n_units);

    *ret_n = 0;
    for (uint32_t u = 0; u < l->n_units; u++) {
        struct leaver x = {u, l->unit_slot[u], l->unit_first[u], .size = 0};

        if (x.slot >= l->n_on || !r->from[x.slot] || l->unit_held[u] != CHECK_NONE ||
            layout_is_rejected(l, u, REASON_POLICY) || !all_hold(r, PART_VMS, u, x.slot))
            continue;
        x.first = r->first[x.slot];
        for (uint32_t i = l->unit_from[u]; i < l->unit_from[u + 1]; i++)
            x.size += number_of(r, PART_SMALLEST, l->unit_vms[i], x.slot);
        list[(*ret_n)++] = x;
    }
    qsort(list, *ret_n, sizeof *list, in_turn);
    return list;
}

/* Why the rule moves a VM, for the sentence: the level only where the host is beyond it. */
static const struct finding *why(const struct rule_now *r, uint32_t from, uint32_t to)
{
    const struct layout *l = &r->p->layout;
    const struct pipeline_balance *b = &l->snap->pipelines[l->snap->stages[r->stage].pipeline].balance;
    double over_s = l->snap->hosts[l->slot_host[from]].is.over_s;
    bool high = b->high_given && l->norm[RES_CPU][from] * PERCENT >= b->high;
    struct finding f = {.code = FIND_RULE_MOVES,
                        .subjects = {{SUBJECT_FROM, l->slot_host[from]},
                                     {SUBJECT_TO, l->slot_host[to]},
                                     {SUBJECT_STAGE, r->stage}},
                        .figures = {{FIGURE_CPU_LOAD, l->norm[RES_CPU][from]},
                                    {FIGURE_MEM_LOAD, l->norm[RES_MEM][from]},
                                    {FIGURE_CPU_LOAD_TO, l->norm[RES_CPU][to]},
                                    {FIGURE_MEM_LOAD_TO, l->norm[RES_MEM][to]},
                                    {FIGURE_IS_S, over_s}}};

    if (!isnan(over_s) && (high || b->low_given))
        finding_figure(&f, high ? FIGURE_LOAD_MAX : FIGURE_LOAD_MIN, (high ? b->high : b->low) / PERCENT);
    return finding_keep(r->p->a, f);
}

/* The first move of a pipeline's rules, in their order; OUTCOME_STUCK: they make none. */
static enum outcome follow_rules(struct pass *p, const struct pipeline *of)
{
    uint32_t n;

    for (uint32_t i = of->first; i < of->first + of->n; i++) {
        if (p->snap->stages[i].is.from.n == 0)
            continue;
        const struct rule_now r = ask_hosts(p, i);
        const struct leaver *list = list_leavers(&r, &n);
        for (uint32_t k = 0; k < n; k++) {
            uint32_t to = destination_of(&r, list[k].unit);
            if (to == list[k].slot)
                continue;
            p->because = why(&r, list[k].slot, to);
            bool goes_on = plan_move(p, list[k].unit, to, REASON_POLICY, IX_NONE, LAYOUT_LEVEL_FIRST);
            p->because = NULL;
            return goes_on ? OUTCOME_MOVED : OUTCOME_STOPPED;
        }
    }
    return OUTCOME_STUCK;
}

void rule_moves_make(struct pass *p)
{
    size_t first = p->n_decisions;
    enum outcome last = OUTCOME_STUCK;

    if (p->policy.migration_threshold < LAYOUT_LEVEL_FIRST)
        return;
    p->end = CHECK_POLICY;
    for (uint32_t i = 0; i < p->snap->n_pipelines && last != OUTCOME_STOPPED; i++) {
        const struct pipeline *of = &p->snap->pipelines[i];
        uint32_t moves = of->balance.moves > 0 ? of->balance.moves : 1;

        do
            last = of->balance.given && plan_moves_left(p) > 0 ? follow_rules(p, of) : OUTCOME_STUCK;
        while (last == OUTCOME_MOVED && --moves > 0);
    }
    if (last != OUTCOME_STOPPED && p->n_decisions > first)
        p->hold_back = plan_failover_broken_by(p, first);
}

/* How far the rule comes with the unit, which nothing holds, and the slot. */
static enum finding_code stays_by(const struct rule_now *r, uint32_t unit, uint32_t slot)
{
    uint32_t home = r->p->layout.unit_slot[unit];

    return !r->from[home]                        ? FIND_RULE_NOT_FROM
           : !all_hold(r, PART_VMS, unit, home)  ? FIND_RULE_NOT_VM
           : !r->to[slot]                        ? FIND_RULE_NOT_TO
           : !all_hold(r, PART_FITS, unit, slot) ? FIND_RULE_NO_FIT
           : destination_of(r, unit) != slot     ? FIND_RULE_RANKED
                                                 : FIND_RULE_OTHER_VM;
}

const struct finding *rule_moves_stays(const struct pass *p, uint32_t unit, uint32_t slot)
{
    const struct layout *l = &p->layout;
    uint32_t pipeline = l->snap->vms[l->unit_first[unit]].pipeline;
    struct finding f = {.code = FIND_MEANING, .check = CHECK_POLICY};

    for (uint32_t i = 0; i < l->snap->n_stages && pipeline != IX_NONE; i++) {
        if (l->snap->stages[i].pipeline != pipeline || l->snap->stages[i].is.from.n == 0)
            continue;
        const struct rule_now r = ask_hosts(p, i);
        enum finding_code code = stays_by(&r, unit, slot);
        if (f.code != FIND_MEANING && code <= f.code)
            continue;
        f = (struct finding){.code = code,
                             .check = CHECK_POLICY,
                             .subjects = {{SUBJECT_STAGE, i},
                                          {SUBJECT_FROM, l->slot_host[l->unit_slot[unit]]},
                                          {SUBJECT_TO, l->slot_host[slot]}},
                             .figures = {{FIGURE_CPU_LOAD, l->norm[RES_CPU][l->unit_slot[unit]]},
                                         {FIGURE_CPU_LOAD_TO, l->norm[RES_CPU][slot]}}};
    }
    return finding_keep(p->a, f);
}
