/* Finds the best move of each step of the climb. move_score.c judges a single move. */
#include "core/balance/climb.h"

#include <string.h>

/* A gain below all others, but finite: bounds are multiplied and added to. */
#define NOTHING (-1e9)
#define ROUNDING 1e-13

#define LIKELY_PART 0.95

void climb_init(struct climb *c, struct layout *l, struct migration_cost *costs, struct plan_stats *stats,
                struct arena *a)
{
    *c = (struct climb){.l = l, .costs = costs};
    c->score.stats = stats;
    c->score.vms_left = UINT32_MAX;
    move_score_set_level(&c->score, l, costs, LAYOUT_LEVEL_FIRST);
    move_score_refresh(&c->score, l, costs);
    destination_index_init(&c->destinations, l, costs->rates.into, a);
    bounds_init(&c->bounds, l, a);
    c->sources = arena_array(a, struct source_slot, l->n_on);
    c->bound = arena_array(a, double, l->n_on);
    c->pays = arena_array(a, bool, l->n_units);
    c->pays_known = arena_array(a, bool, l->n_on);
    c->slowest = arena_array(a, double, l->n_units);
    c->corner = arena_array(a, double, l->n_units);
}

static void forget_what_pays(struct climb *c)
{
    for (uint32_t i = 0; i < c->l->n_on; i++)
        c->pays_known[i] = false;
}

void climb_set_level(struct climb *c, int64_t level)
{
    move_score_set_level(&c->score, c->l, c->costs, level);
    memset(c->score.stats->rejected, 0,
           sizeof c->score.stats->rejected); /* why the last level goes no further */
    forget_what_pays(c); /* and with it the bounds, which cover only the units that could pay */
    bounds_forget_all(&c->bounds);
    c->last_gain = 0;
}

static bool may_pay(struct climb *c, uint32_t slot, uint32_t unit)
{
    const struct rates *rates = &c->costs->rates;

    if (rates->single[slot])
        return migration_cost_may_pay(c->costs, unit);
    c->slowest[unit] = migration_cost_rate_needed(c->costs, unit);
    return c->slowest[unit] < rates->fastest[slot];
}

/* Finds the units of the slot that may move and could pay. The answer depends on this slot only, so it holds
 * until the slot changes. */
static void find_paying_units(struct climb *c, uint32_t slot)
{
    const struct unit_list *list = &c->l->list[slot];
    double largest[RES_COUNT] = {0};

    for (uint32_t i = 0; i < list->n; i++) {
        enum check check = c->l->unit_held[list->items[i]];
        for (int r = 0; r < RES_COUNT && check == CHECK_NONE; r++)
            largest[r] = fmax(largest[r], c->l->unit_demand[r][list->items[i]]);
        if (check == CHECK_NONE && c->l->policy->cost_benefit && !may_pay(c, slot, list->items[i]))
            check = CHECK_COST_BENEFIT;
        c->pays[list->items[i]] = check == CHECK_NONE;
    }
    bounds_set_largest(&c->bounds, slot, largest);
    c->pays_known[slot] = true;
}

/* The gain of a unit on a host with the lowest N of its class in both resources, and the largest contribution
 * of each resource (the positive parts of bounds.h). */
static void bound_unit_at_corner(const struct climb *c, const struct move_trial *t,
                                 const struct destination_class *tc, double *gain, double positive[RES_COUNT])
{
    const struct destination_node *corner = &c->destinations.nodes[tc->first_node + 1];
    double sum = ROUNDING; /* the sum of the parts may differ from the trial's result in its last digit */

    for (int r = 0; r < RES_COUNT; r++) {
        double part = t->demand[r] * tc->inverse[r];
        double mean = (t->sum[r] + part) / t->n;
        double variance = (t->sum_squares[r] + (2 * corner->least[r] + part) * part) / t->n - mean * mean;
        double falls = t->weight[r] * (c->bounds.sigma[r] - sqrt(variance > 0 ? variance : 0));
        sum += falls;
        positive[r] = falls > positive[r] ? falls : positive[r];
    }
    *gain = sum > *gain ? sum : *gain;
}

/* First, cheap search of a slot: every unit at the corner of each class. Returns the index of the unit with
 * the highest bound. */
static uint32_t search_corners(struct climb *c, uint32_t slot)
{
    const struct unit_list *list = &c->l->list[slot];
    uint32_t best = IX_NONE;
    double positive[RES_COUNT] = {0};

    if (!c->pays_known[slot])
        find_paying_units(c, slot);
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t u = list->items[i];
        struct move_trial t;
        c->corner[i] = NOTHING;
        if (!c->pays[u])
            continue;
        move_trial_begin(c->l, c->score.weight, u, &t);
        for (uint32_t k = 0; k < c->destinations.n_classes; k++)
            if (!destination_index_too_slow(&c->destinations, &c->destinations.classes[k], c->slowest[u]))
                bound_unit_at_corner(c, &t, &c->destinations.classes[k], &c->corner[i], positive);
        if (best == IX_NONE || c->corner[i] > c->corner[best])
            best = i;
    }
    bounds_set(&c->bounds, slot, best == IX_NONE ? NOTHING : c->corner[best], positive);
    return best;
}

static double needed(const struct climb *c, const struct move *best)
{
    return best->unit == IX_NONE ? c->score.goodness : best->gain;
}

/* Searches all destinations of one unit. Returns the bound of the units searched so far. */
static double search_unit(struct climb *c, uint32_t unit, double bound, struct move *best)
{
    struct move_trial t;

    move_trial_begin(c->l, c->score.weight, unit, &t);
    c->score.slowest = c->slowest[unit];
    bound = destination_index_relaxed(&c->destinations, &c->score, &t, c->l->unit_slot[unit], bound);
    if (bound >= needed(c, best))
        destination_index_best(&c->destinations, &c->score, &t, unit, best);
    return bound;
}

/* Second, full search of a slot: the units that could have the best move, the highest bound first. The slot's
 * new bound covers the other units. */
static void search_slot(struct climb *c, uint32_t slot, struct move *best)
{
    const struct unit_list *list = &c->l->list[slot];
    uint32_t first = search_corners(c, slot);

    if (first == IX_NONE || c->corner[first] < needed(c, best) || c->corner[first] < GAIN_LEAST)
        return;
    double bound = search_unit(c, list->items[first], NOTHING, best);
    for (uint32_t i = 0; i < list->n; i++)
        if (i != first && (c->corner[i] > bound || c->corner[i] >= needed(c, best)))
            bound = search_unit(c, list->items[i], bound, best);
    bounds_lower(&c->bounds, slot, bound);
}

/* Lists the slots with a positive bound of at least floor. */
static uint32_t list_sources(struct climb *c, double floor)
{
    uint32_t n = 0;

    floor = floor > GAIN_LEAST ? floor : GAIN_LEAST;

    /* two loops: the first has no branches, so the compiler vectorizes it */
    for (uint32_t i = 0; i < c->l->n_on; i++)
        c->bound[i] = bounds_now(&c->bounds, i);
    for (uint32_t i = 0; i < c->l->n_on; i++)
        if (c->bound[i] >= floor)
            c->sources[n++] = (struct source_slot){.slot = i, .bound = c->bound[i]};
    return n;
}

static uint32_t drop_hopeless(struct climb *c, uint32_t n, double gain)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < n; i++)
        if (c->sources[i].bound >= gain)
            c->sources[kept++] = c->sources[i];
    return kept;
}

/* Searches the listed slots until no bound reaches the best move. */
static void search_sources(struct climb *c, double floor, struct move *best)
{
    uint32_t n = list_sources(c, floor);

    while (n > 0) {
        uint32_t next = 0;
        for (uint32_t i = 1; i < n; i++)
            if (c->sources[i].bound > c->sources[next].bound)
                next = i;
        if (c->sources[next].bound < needed(c, best))
            return;
        search_slot(c, c->sources[next].slot, best);
        c->sources[next] = c->sources[--n];
        /* the first search rules out most other slots */
        if (best->unit != IX_NONE)
            n = drop_hopeless(c, n, best->gain);
    }
}

struct move climb_step(struct climb *c)
{
    struct move best = {.unit = IX_NONE, .to_slot = IX_NONE, .gain = 0};

    move_score_refresh(&c->score, c->l, c->costs);
    destination_index_refresh(&c->destinations);
    /* the best move probably gains about as much as the one before */
    double likely = LIKELY_PART * c->last_gain;
    if (likely > c->score.goodness)
        search_sources(c, likely, &best);
    if (best.unit == IX_NONE || best.gain < likely)
        search_sources(c, needed(c, &best), &best);
    c->last_gain = best.gain;
    return best;
}

void climb_apply(struct climb *c, const struct move *m)
{
    uint32_t from = c->l->unit_slot[m->unit];

    double weight_before = c->bounds.weight[RES_CPU];

    failover_capacity_follow(&c->l->failover, m->unit, m->to_slot);
    layout_move(c->l, m->unit, m->to_slot);
    migration_cost_move(c->costs, m->unit, from, m->to_slot);
    c->l->unit_held[m->unit] = CHECK_VM_MOVED;
    if (m->to_slot < c->l->n_on) {
        destination_index_update(&c->destinations, m->to_slot);
        c->pays_known[m->to_slot] = false;
    }
    if (from < c->l->n_on) {
        destination_index_update(&c->destinations, from);
        c->pays_known[from] = false;
    }
    bounds_after_move(&c->bounds, &c->destinations, from, m->to_slot);
    /* `pays` depends on the weights of the imbalance */
    if (c->bounds.weight[RES_CPU] != weight_before)
        forget_what_pays(c);
}

void climb_count_rejected(struct climb *c)
{
    uint64_t others = c->l->n_on > 0 ? c->l->n_on - 1 : 0;

    for (uint32_t i = 0; i < c->l->n_on; i++) {
        if (!c->pays_known[i])
            find_paying_units(c, i);
        for (uint32_t k = 0; k < c->l->list[i].n; k++) {
            uint32_t u = c->l->list[i].items[k];
            enum check held = c->l->unit_held[u];
            if (held != CHECK_NONE && held != CHECK_VM_MOVED)
                c->score.stats->rejected[held] += others;
            if (held == CHECK_NONE && !c->pays[u])
                c->score.stats->rejected[CHECK_COST_BENEFIT] += others;
        }
    }
}
