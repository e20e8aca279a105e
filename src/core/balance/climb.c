#include "core/balance/climb.h"

/* A move must gain at least this part of what moving an average VM away by one average load would
 * (README.md). */
#define GOODNESS_PART 0.5
/* ... lowered by halves, at most so often. */
#define GOODNESS_HALVINGS 4
/* Imbalance is far above the target when it is this many times as high. */
#define GOODNESS_FAR 1.5

static double positive(double x)
{
    return x > 0 ? x : 0;
}

/* An average VM is 1 / V of the load; the imbalance that one move can undo is of that order. */
static double goodness_of(const struct layout *l)
{
    double load = 0;

    if (l->n_units == 0 || l->n_on == 0)
        return 0;
    for (int r = 0; r < RES_COUNT; r++)
        load += l->sum[r] / l->n_on / RES_COUNT;
    return GOODNESS_PART * load / l->n_units;
}

void climb_init(struct climb *c, struct layout *l, struct forecast *f, struct plan_stats *stats,
                struct arena *a)
{
    *c = (struct climb){.l = l, .f = f};
    c->judge.stats = stats;
    c->goodness0 = l->policy->min_goodness ? goodness_of(l) : 0;
    c->judge.goodness = c->goodness0;
    judge_refresh(&c->judge, l, f);
    targets_init(&c->targets, l, a);
    bounds_init(&c->bounds, l, a);
    c->looked = arena_array(a, bool, l->n_on);
    c->corner = arena_array(a, double, l->n_units);
}

void climb_restart(struct climb *c)
{
    judge_refresh(&c->judge, c->l, c->f);
    for (uint32_t i = 0; i < c->l->n_on; i++)
        targets_update(&c->targets, i);
    targets_refresh(&c->targets);
    bounds_forget_all(&c->bounds);
}

/* What the resources that become better contribute at the corner of the coldest hosts: bounds.h's positive
 * part. */
static double positive_part(const struct climb *c, const struct trial *t, const struct target_class *tc,
                            const struct target_node *corner)
{
    double sum = 0;

    for (int r = 0; r < RES_COUNT; r++) {
        double part = t->demand[r] * tc->inverse[r];
        double mean = (t->sum[r] + part) / t->n;
        double variance = (t->sum_squares[r] + (2 * corner->least[r] + part) * part) / t->n - mean * mean;
        sum += t->weight[r] * positive(c->bounds.sigma[r] - sqrt(positive(variance)));
    }
    return sum;
}

/* Whether the unit is a candidate at all, wherever it might go. */
static bool may_move(const struct climb *c, uint32_t unit)
{
    if (c->l->unit_held[unit] != CHECK_NONE)
        return false;
    return !c->l->policy->cost_benefit || forecast_may_pay(c->f, unit);
}

/* The first, cheap look at a slot: every unit at the corner of the coldest hosts. Returns that bound. */
static double look_at_corners(struct climb *c, uint32_t slot)
{
    const struct unit_list *list = &c->l->list[slot];
    double most = -NO_LIMIT;
    double most_positive = 0;

    for (uint32_t i = 0; i < list->n; i++) {
        c->corner[i] = -NO_LIMIT;
        if (!may_move(c, list->items[i]))
            continue;
        struct trial t;
        trial_begin(c->l, c->judge.weight, list->items[i], &t);
        for (uint32_t k = 0; k < c->targets.n_classes; k++) {
            const struct target_class *tc = &c->targets.classes[k];
            c->corner[i] = fmax(c->corner[i], targets_corner_gain(&c->targets, &c->judge, &t, k));
            most_positive =
                fmax(most_positive, positive_part(c, &t, tc, &c->targets.nodes[tc->first_node + 1]));
        }
        most = fmax(most, c->corner[i]);
    }
    /* far below anything, yet finite: it is multiplied and added to */
    bounds_set(&c->bounds, slot, most > -NO_LIMIT ? most : -1e9, most_positive);
    return most;
}

/* One unit in full: its real destinations, and the bound that remains of it. */
static double look_at_unit(struct climb *c, uint32_t unit, double bound, struct move *best)
{
    struct trial t;

    trial_begin(c->l, c->judge.weight, unit, &t);
    bound = targets_relaxed(&c->targets, &c->judge, &t, c->l->unit_slot[unit], bound);
    targets_best(&c->targets, &c->judge, &t, unit, best);
    return bound;
}

/* The second, thorough look: the units in question one by one, the most promising first. */
static void look_at_slot(struct climb *c, uint32_t slot, struct move *best)
{
    const struct unit_list *list = &c->l->list[slot];
    double corner_bound = look_at_corners(c, slot);
    double needed = best->unit == IX_NONE ? c->judge.goodness : best->gain;

    if (corner_bound < needed || !(corner_bound > 0))
        return;
    double bound = -1e9;
    for (;;) {
        uint32_t next = IX_NONE;
        for (uint32_t i = 0; i < list->n; i++)
            if (c->corner[i] > -NO_LIMIT && (next == IX_NONE || c->corner[i] > c->corner[next]))
                next = i;
        if (next == IX_NONE)
            break;
        needed = best->unit == IX_NONE ? c->judge.goodness : best->gain;
        /* what is left can neither be the best move nor raise the bound */
        if (c->corner[next] <= bound && c->corner[next] < needed)
            break;
        bound = look_at_unit(c, list->items[next], bound, best);
        c->corner[next] = -NO_LIMIT;
    }
    bounds_set(&c->bounds, slot, bound, c->bounds.positive[slot]);
}

struct move climb_step(struct climb *c)
{
    struct move best = {.unit = IX_NONE, .to_slot = IX_NONE, .gain = 0};

    judge_refresh(&c->judge, c->l, c->f);
    targets_refresh(&c->targets);
    for (uint32_t i = 0; i < c->l->n_on; i++)
        c->looked[i] = false;
    for (;;) {
        uint32_t next = IX_NONE;
        double most = 0;
        for (uint32_t i = 0; i < c->l->n_on; i++) {
            double bound = bounds_now(&c->bounds, i);
            if (!c->looked[i] && (next == IX_NONE || bound > most)) {
                next = i;
                most = bound;
            }
        }
        double needed = best.unit == IX_NONE ? c->judge.goodness : best.gain;
        if (next == IX_NONE || most < needed || !(most > 0))
            return best;
        c->looked[next] = true;
        look_at_slot(c, next, &best);
    }
}

void climb_apply(struct climb *c, const struct move *m)
{
    uint32_t from = c->l->unit_slot[m->unit];

    layout_move(c->l, m->unit, m->to_slot);
    forecast_move(c->f, m->unit, from, m->to_slot);
    c->l->unit_held[m->unit] = CHECK_VM_MOVED;
    if (from < c->l->n_on)
        targets_update(&c->targets, from);
    targets_update(&c->targets, m->to_slot);
    bounds_after_move(&c->bounds, &c->targets, from, m->to_slot);
}

bool climb_lower_goodness(struct climb *c)
{
    double target = layout_target(c->l->n_on, c->l->policy->migration_threshold);
    double least = c->goodness0 / (1 << GOODNESS_HALVINGS);

    if (!(c->judge.goodness > least) || c->judge.imbalance < GOODNESS_FAR * target)
        return false;
    c->judge.goodness /= 2;
    return true;
}
