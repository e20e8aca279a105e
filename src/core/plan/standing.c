/* Recommendations of the last pass that nobody has approved yet (snapshot.h) are preferred
 * to others that are about as good: of many hosts and VMs with about the same load, noise makes each pass
 * find others the best. A mandatory move prefers its standing destination, a move for balance that stands is
 * made instead of the best one, and a host whose power-off stands is tried before others. */
#include "core/plan/plan.h"

#define STANDING_S (12 * 3600) /* so long they are preferred: a night */
#define MARGIN 0.1             /* part of the best one's gain that a standing one may lack */

static bool holds(const struct snapshot *s, const struct pending *x)
{
    return x->since <= s->time && s->time - x->since < STANDING_S;
}

static bool is_for_balance(const struct snapshot *s, const struct pending *x)
{
    return holds(s, x) && x->action == ACTION_MIGRATE &&
           (x->reason == REASON_BALANCE_CPU || x->reason == REASON_BALANCE_MEM ||
            x->reason == REASON_EXCHANGE);
}

void plan_standing_init(struct pass *p)
{
    const struct layout *l = &p->layout;

    p->standing_to = arena_array(p->a, uint32_t, l->n_units);
    p->standing_off = arena_array(p->a, bool, (size_t)l->n_slots + 1);
    for (uint32_t u = 0; u < l->n_units; u++)
        p->standing_to[u] = IX_NONE;
    for (uint32_t i = 0; i < p->snap->n_standing; i++) {
        const struct pending *x = &p->snap->standing[i];
        uint32_t unit = x->vm == IX_NONE ? IX_NONE : l->vm_unit[x->vm];
        uint32_t slot = x->host == IX_NONE ? IX_NONE : l->host_slot[x->host];
        if (!holds(p->snap, x))
            continue;
        if (slot != IX_NONE)
            p->standing_off[slot] = x->action == ACTION_POWER_OFF;
        if (unit != IX_NONE && x->from == l->slot_host[l->unit_slot[unit]] && !is_for_balance(p->snap, x))
            p->standing_to[unit] = l->host_slot[x->to];
    }
}

double plan_standing_imbalance(const struct pass *p, uint32_t unit, uint32_t slot, double imbalance)
{
    return p->standing_to[unit] == slot ? (1 - MARGIN) * imbalance : imbalance;
}

/* Where the steps before have brought the unit. */
static uint32_t slot_after(const struct layout *l, const struct exchange_steps *steps, uint32_t unit)
{
    uint32_t slot = l->unit_slot[unit];

    for (uint32_t i = 0; i < steps->n; i++)
        slot = steps->unit[i] == unit ? steps->to_slot[i] : slot;
    return slot;
}

/* Adds the move as the next step. False: it is not possible any more. */
static bool add_step(const struct layout *l, const struct pending *x, struct proposed *is)
{
    uint32_t unit = l->vm_unit[x->vm];
    uint32_t from = l->host_slot[x->from];
    uint32_t to = l->host_slot[x->to];

    if (unit == IX_NONE || from >= l->n_on || to >= l->n_on || from == to)
        return false;
    uint32_t at = slot_after(l, &is->steps, unit);
    if (at == to) /* of another VM of the unit */
        return true;
    if (at != from || is->steps.n == EXCHANGE_STEPS_MAX)
        return false;
    is->unit = is->unit == IX_NONE || x->reason != REASON_EXCHANGE ? unit : is->unit;
    is->steps.unit[is->steps.n] = unit;
    is->steps.to_slot[is->steps.n++] = to;
    return true;
}

void plan_standing_list(struct pass *p)
{
    const struct snapshot *s = p->snap;
    uint32_t next;

    for (uint32_t i = 0; i < s->n_standing; i = next) {
        struct proposed is = {.unit = IX_NONE};
        bool whole = true;
        for (next = i; next == i || (next < s->n_standing && s->standing[i].group != 0 &&
                                     s->standing[next].group == s->standing[i].group);
             next++)
            whole = whole && is_for_balance(s, &s->standing[next]) &&
                    add_step(&p->layout, &s->standing[next], &is);
        if (whole && is.steps.n > 0)
            deep_search_add(&p->standing, &is, p->a);
    }
    p->standing_refused = arena_array(p->a, int64_t, p->standing.n);
}

static double gain_of(const struct climb *c, const struct proposed *is, struct move_trial *ret)
{
    move_trial_begin(c->l, c->score.weight, is->unit, ret);
    return move_score_adjusted(&c->score, is->unit, is->steps.to_slot[0],
                               move_score_gain(&c->score, ret, is->steps.to_slot[0]));
}

bool plan_standing_is_beaten(struct pass *p, const struct proposed *is)
{
    struct climb *c = &p->climb;
    struct move best = {.unit = IX_NONE, .to_slot = IX_NONE};
    struct move_trial t;
    const struct gain_range range = {.least = gain_of(c, is, &t) / (1 - MARGIN), .most = NO_LIMIT};

    c->score.slowest = 0;
    (void)destination_index_best(&c->destinations, &c->score, &t, is->unit, range, &best);
    return best.unit != IX_NONE;
}

void plan_standing_instead(struct pass *p, struct move *best)
{
    struct climb *c = &p->climb;
    const double least = fmax((1 - MARGIN) * best->gain, c->score.goodness);

    for (uint32_t i = 0; i < p->standing.n && !p->stands; i++) {
        const struct proposed *is = &p->standing.items[i];
        struct move_trial t;
        struct exchange x;
        if (p->standing_refused[i] == c->score.level || is->steps.n > 1 || gain_of(c, is, &t) < least)
            continue;
        p->stands = deep_search_passes_now(c, is, &x);
        if (p->stands)
            *best = (struct move){.unit = is->unit, .to_slot = is->steps.to_slot[0]};
        else
            p->standing_refused[i] = c->score.level; /* a later move of the level hardly changes that */
    }
}
