/* Tries the orders of an exchange on the layout, step by step. */
#include "core/balance/exchange_order.h"

enum exchange_room exchange_order_room(enum check check)
{
    if (check == CHECK_NONE)
        return EXCHANGE_ROOM_THERE;
    if (check == CHECK_RESERVATION_CPU || check == CHECK_RESERVATION_MEM || check == CHECK_SPARE_CAPACITY ||
        check == CHECK_MEMORY || check == CHECK_MEMORY_FREE)
        return EXCHANGE_ROOM_MISSING;
    return EXCHANGE_ROOM_NO_HELP;
}

/* Whether each step passes its checks. Restores the layout. */
static bool steps_pass(struct climb *c, const struct exchange_steps *steps)
{
    struct layout *l = c->l;
    const struct move_preference *preference = c->score.preference;
    struct layout_mark marks[EXCHANGE_STEPS_MAX];
    uint32_t done = 0;
    bool good = true;

    failover_undo_begin(&l->failover);
    while (done < steps->n && good) {
        uint32_t u = steps->unit[done];
        uint32_t to = steps->to_slot[done];
        good = layout_check(l, u, to) == CHECK_NONE &&
               !(c->score.guard && spaces_guard_refuses(c->score.guard, u, to)) &&
               !(preference && move_preference_worse_bucket(preference, u, to, NULL) != IX_NONE);
        if (!good)
            break;
        failover_capacity_follow(&l->failover, u, to);
        layout_try(l, u, to, &marks[done++]);
    }
    while (done-- > 0)
        layout_undo_in_order(l, &marks[done]);
    failover_undo(&l->failover);
    return good;
}

static bool is_worth_it(const struct climb *c, const struct exchange_steps *steps,
                        struct migration_worth *ret)
{
    exchange_cost_worth(c->costs, steps, ret);
    return !c->l->policy->cost_benefit ||
           (migration_cost_pays(c->costs, ret) && ret->worse <= MOVE_WORSE_LEAST);
}

/* Whether the plan may still move so many VMs. */
static bool may_move_all(const struct climb *c, const struct exchange_steps *steps)
{
    uint32_t vms = 0;

    for (uint32_t i = 0; i < steps->n; i++)
        vms += c->l->unit_from[steps->unit[i] + 1] - c->l->unit_from[steps->unit[i]];
    return vms <= c->score.vms_left;
}

static void add_step(struct exchange_steps *steps, uint32_t unit, uint32_t to)
{
    steps->unit[steps->n] = unit;
    steps->to_slot[steps->n++] = to;
}

/* Each unit goes where the one before it has left; the first one, or the slot on which it waits, has room. */
static struct exchange_steps order_from(const struct ring *g, uint32_t first, uint32_t wait)
{
    struct exchange_steps steps = {0};

    for (uint32_t i = 0; i < g->n; i++) {
        uint32_t k = (first + g->n - i) % g->n;
        add_step(&steps, g->unit[k], i == 0 && wait != IX_NONE ? wait : g->slot[k + 1]);
    }
    if (wait != IX_NONE)
        add_step(&steps, g->unit[first], g->slot[first + 1]);
    return steps;
}

/* Both units leave before the one comes that they make way for. */
static struct exchange_steps order_of_two(const struct ring *g, uint32_t first)
{
    struct exchange_steps steps = {0};

    add_step(&steps, g->unit[1 + first], g->slot[0]);
    add_step(&steps, g->unit[2 - first], g->slot[0]);
    add_step(&steps, g->unit[0], g->slot[1]);
    return steps;
}

bool exchange_order_find(struct climb *c, const struct ring *g, uint32_t wait, struct exchange *ret)
{
    bool closed = g->slot[g->n] == g->slot[0];
    uint32_t orders = g->two_for_one ? 2 : g->n;

    if (wait != IX_NONE && (!closed || g->two_for_one))
        return false;
    for (uint32_t first = closed ? 0 : g->n - 1; first < orders; first++) {
        if (wait == g->slot[first] || wait == g->slot[first + 1])
            continue;
        struct exchange_steps steps = g->two_for_one ? order_of_two(g, first) : order_from(g, first, wait);
        c->score.stats->evaluated++;
        if (!may_move_all(c, &steps) || !steps_pass(c, &steps) || !is_worth_it(c, &steps, &ret->worth))
            continue;
        ret->steps = steps;
        return true;
    }
    return false;
}

/* By making all steps, with the weights held. Restores the layout. */
static double gain_of_steps(struct climb *c, const struct exchange_steps *steps)
{
    const struct move_score *score = &c->score;
    struct layout_mark marks[EXCHANGE_STEPS_MAX];
    double gain = score->imbalance;

    for (uint32_t i = 0; i < steps->n; i++)
        layout_try(c->l, steps->unit[i], steps->to_slot[i], &marks[i]);
    for (int r = 0; r < RES_COUNT; r++)
        gain -= score->weight[r] * layout_load_stddev(c->l, (enum resource)r);
    for (uint32_t i = steps->n; i-- > 0;)
        layout_undo_in_order(c->l, &marks[i]);
    for (uint32_t i = 0; i < steps->n && score->preference; i++) {
        bool waits = false; /* only where the unit ends counts */
        for (uint32_t k = i + 1; k < steps->n; k++)
            waits = waits || steps->unit[k] == steps->unit[i];
        gain -= waits ? 0 : move_preference_cost(score->preference, steps->unit[i], steps->to_slot[i]);
    }
    return gain;
}

bool exchange_order_passes(struct climb *c, struct exchange *x)
{
    c->score.stats->evaluated++;
    x->gain = gain_of_steps(c, &x->steps);
    return x->gain >= fmax(c->score.goodness * x->steps.n, GAIN_LEAST) && may_move_all(c, &x->steps) &&
           steps_pass(c, &x->steps) && is_worth_it(c, &x->steps, &x->worth);
}
