/* Improves a plan for balance: takes moves back, and lets the climb find other moves. */
#include "core/balance/deep_search.h"

#include "core/balance/exchange_order.h"

#include "base/rng.h"

#include <string.h>

/* Moves that are taken back at a time, at most. */
#define BACK_MAX 4
/* How often a move is taken back because it shares a host with the first one, and not by chance. */
#define RELATED 0.7
/* How often the first move that was taken back may not be made again; how often the climb's best move is not
 * made. */
#define HOLD_FIRST 0.2
#define REDIRECT 0.6
#define PASS_OVER 0.1
/* At the beginning a plan is kept that is worse by up to this part of the measure; the part falls to 0. */
#define WARMTH 0.05
/* The weight of all memory that the first plan copies, as imbalance: the last digit that is shown. */
#define MEMORY_WORTH 1e-4
/* The weights of an overloaded host and of an outlier, as imbalance. */
#define OVERLOAD_WORTH 10.0
#define UNEVEN_WORTH 1e-3
/* Parts of the remaining budget: for a plan that moves one VM less; for the first search among plans that
 * move as many VMs. And how many searches in a row may find nothing. */
#define FEWER_PART 0.2
#define FIRST_PART 0.05
#define IDLE_MAX 4
/* Trials of one search for exchanges. */
#define EXCHANGE_TRIALS 100000
/* Evaluations that a step is charged for the bounds of each host and unit that it searches. */
#define UNITS_SEARCHED 4
#define BETTER 1e-9

struct made {
    struct proposed is;
    uint32_t from[EXCHANGE_STEPS_MAX];
};

struct made_list {
    struct made *items;
    uint32_t n;
};

struct deep {
    struct climb *c;
    struct layout *l;
    struct exchange_search *exchanges;
    const struct deep_goal *goal;
    struct rng rng;
    int64_t budget; /* evaluations left */
    struct made_list now, best;
    struct made_list before, left, reached; /* scratch */
    uint32_t *held;
    uint32_t n_held;
    uint32_t vms;
    double mb, mb_worth; /* of the plan; imbalance for 1 MiB */
    double best_measure;
    bool at_target; /* only plans that reach the target are kept */
};

void deep_search_add(struct proposal *p, const struct proposed *is, struct arena *a)
{
    p->items = arena_grow(a, p->items, p->n, &p->cap, sizeof p->items[0]);
    p->items[p->n++] = *is;
}

/* ---- one move or exchange ---- */

static uint32_t members(const struct layout *l, uint32_t unit)
{
    return l->unit_from[unit + 1] - l->unit_from[unit];
}

static double single_gain(const struct climb *c, uint32_t unit, uint32_t to)
{
    struct move_trial t;

    move_trial_begin(c->l, c->score.weight, unit, &t);
    return move_score_gain(&c->score, &t, to);
}

/* At the present minimum goodness alone. */
static bool passes_now(struct climb *c, const struct proposed *is, struct exchange *ret)
{
    const struct layout *l = c->l;

    *ret = (struct exchange){.steps = is->steps, .unit = is->unit};
    for (uint32_t i = 0; i < is->steps.n; i++)
        if (l->unit_held[is->steps.unit[i]] != CHECK_NONE)
            return false;
    if (l->unit_slot[is->unit] >= l->n_on || is->steps.to_slot[0] >= l->n_on)
        return false;
    if (is->steps.n > 1)
        return exchange_order_passes(c, ret);
    ret->gain = single_gain(c, is->unit, is->steps.to_slot[0]);
    if (move_score_check_cheaply(&c->score, is->unit, is->steps.to_slot[0], ret->gain) != CHECK_NONE)
        return false;
    migration_cost_worth(c->costs, is->unit, is->steps.to_slot[0], &ret->worth);
    return true;
}

bool deep_search_passes(struct climb *c, const struct proposed *is, struct exchange *ret)
{
    move_score_refresh(&c->score, c->l, c->costs);
    c->score.goodness = c->score.goodness0;
    do {
        if (passes_now(c, is, ret))
            return true;
    } while (move_score_lower_goodness(&c->score));
    return false;
}

/* Sets the check that holds the unit from moving. */
static void set_held(struct climb *c, uint32_t unit, enum check held)
{
    uint32_t slot = c->l->unit_slot[unit];

    c->l->unit_held[unit] = held;
    if (slot >= c->l->n_on)
        return;
    c->pays_known[slot] = false;
    bounds_forget(&c->bounds, slot);
}

static void count(struct deep *d, uint32_t unit, bool made)
{
    uint32_t vms = members(d->l, unit);

    d->vms = made ? d->vms + vms : d->vms - vms;
    d->mb += made ? d->l->unit_backed[unit] : -d->l->unit_backed[unit];
}

static void make(struct deep *d, const struct proposed *is)
{
    struct made *m = &d->now.items[d->now.n++];

    *m = (struct made){.is = *is};
    for (uint32_t i = 0; i < is->steps.n; i++) {
        m->from[i] = d->l->unit_slot[is->steps.unit[i]];
        climb_apply(d->c, &(struct move){.unit = is->steps.unit[i], .to_slot = is->steps.to_slot[i]});
        count(d, is->steps.unit[i], true);
    }
}

/* Takes the k-th move back. */
static struct made unmake(struct deep *d, uint32_t k)
{
    struct made m = d->now.items[k];
    const struct exchange_steps *steps = &m.is.steps;

    d->now.n--;
    memmove(&d->now.items[k], &d->now.items[k + 1], (d->now.n - k) * sizeof m);
    for (uint32_t i = steps->n; i-- > 0;) {
        climb_take_back(d->c, steps->unit[i], m.from[i]);
        count(d, steps->unit[i], false);
    }
    for (uint32_t i = 0; i < steps->n; i++)
        set_held(d->c, steps->unit[i], CHECK_NONE);
    if (d->c->score.guard)
        d->c->score.guard->fewest = d->c->score.guard->now;
    return m;
}

static void unmake_all(struct deep *d)
{
    while (d->now.n > 0)
        (void)unmake(d, d->now.n - 1);
}

static void copy(struct made_list *to, const struct made_list *from)
{
    to->n = from->n;
    if (from->n > 0)
        memcpy(to->items, from->items, from->n * sizeof from->items[0]);
}

static void make_all(struct deep *d, const struct made_list *list)
{
    for (uint32_t i = 0; i < list->n; i++)
        make(d, &list->items[i].is);
}

/* ---- the measure of a plan ---- */

static bool is_uneven(const struct deep *d)
{
    return layout_has_outlier(d->l, d->goal->level) || layout_lacks_headroom(d->l);
}

static bool is_at_target(const struct deep *d)
{
    return layout_imbalance(d->l) <= d->goal->target && !is_uneven(d);
}

/* The measure of the present plan, less is better: imbalance above the target, then memory copied. */
static double measure(const struct deep *d)
{
    double above = layout_imbalance(d->l) - d->goal->target;
    uint32_t over = d->l->over[RES_CPU] + d->l->over[RES_MEM];

    return OVERLOAD_WORTH * over + fmax(0, above) + (above <= 0 && is_uneven(d) ? UNEVEN_WORTH : 0) +
           d->mb * d->mb_worth;
}

/* ---- the next move ---- */

static void spend(struct deep *d, uint64_t evaluated)
{
    const struct layout *l = d->l;

    d->budget -=
        (int64_t)(d->c->score.stats->evaluated - evaluated) + l->n_on + UNITS_SEARCHED * l->n_units / l->n_on;
}

/* The climb's best move; where there is none, the best exchange. False: neither. */
static bool find_next(struct deep *d, struct proposed *ret)
{
    struct climb *c = d->c;

    do {
        uint64_t evaluated = c->score.stats->evaluated;
        struct move m = climb_step(c);
        spend(d, evaluated);
        if (m.unit != IX_NONE) {
            *ret = (struct proposed){.unit = m.unit, .steps = {1, {m.unit}, {m.to_slot}}};
            return true;
        }
    } while (move_score_lower_goodness(&c->score));
    struct exchange x;
    d->exchanges->trials =
        d->budget < EXCHANGE_TRIALS ? (uint64_t)fmax(0, (double)d->budget) : EXCHANGE_TRIALS;
    uint64_t trials = d->exchanges->trials;
    exchange_find(d->exchanges, c, &x);
    d->budget -= (int64_t)(trials - d->exchanges->trials);
    *ret = (struct proposed){.unit = x.unit, .steps = x.steps};
    return x.steps.n > 0;
}

static void hold(struct deep *d, uint32_t unit)
{
    set_held(d->c, unit, CHECK_VM_HELD_BACK);
    d->held[d->n_held++] = unit;
}

static void release_held(struct deep *d)
{
    while (d->n_held > 0)
        set_held(d->c, d->held[--d->n_held], CHECK_NONE);
}

/* Climbs until the plan moves this many VMs or reaches the target. Now and then skips the best move. */
static void refill(struct deep *d, uint32_t vms_max)
{
    struct proposed next;

    d->c->score.goodness = d->c->score.goodness0;
    while (d->vms < vms_max && d->budget > 0 && !is_at_target(d)) {
        d->c->score.vms_left = vms_max - d->vms;
        if (!find_next(d, &next))
            break;
        if (rng_unit(&d->rng) < PASS_OVER)
            hold(d, next.unit);
        else
            make(d, &next);
    }
    release_held(d);
}

/* ---- the order ---- */

/* The move that gains most for each migration, of those that pass; IX_NONE: none passes. */
static uint32_t best_passing(struct deep *d, const struct made_list *list)
{
    uint32_t best = IX_NONE;
    double most = 0;

    move_score_refresh(&d->c->score, d->l, d->c->costs);
    d->budget -= list->n;
    for (uint32_t i = 0; i < list->n; i++) {
        const struct proposed *is = &list->items[i].is;
        struct exchange x;
        if (is->steps.n == 1 && best != IX_NONE && single_gain(d->c, is->unit, is->steps.to_slot[0]) <= most)
            continue;
        if (!deep_search_passes(d->c, is, &x) || (best != IX_NONE && x.gain / is->steps.n <= most))
            continue;
        best = i;
        most = x.gain / is->steps.n;
    }
    return best;
}

/* Puts the plan in an order in which each move passes when it is made, the best first. Moves after the target
 * is reached are dropped. False: there is no such order; the plan is unchanged. */
static bool put_in_order(struct deep *d)
{
    struct made_list *left = &d->left;

    copy(&d->before, &d->now);
    copy(left, &d->now);
    unmake_all(d);
    while (left->n > 0 && !is_at_target(d)) {
        d->c->score.vms_left = d->goal->vms_max - d->vms;
        uint32_t k = best_passing(d, left);
        if (k == IX_NONE)
            break;
        make(d, &left->items[k].is);
        left->items[k] = left->items[--left->n];
    }
    if (left->n == 0 || is_at_target(d))
        return true;
    unmake_all(d);
    make_all(d, &d->before);
    return false;
}

static void keep_if_best(struct deep *d)
{
    if (measure(d) < d->best_measure - BETTER && (!d->at_target || is_at_target(d)) && put_in_order(d)) {
        copy(&d->best, &d->now);
        d->best_measure = measure(d);
    }
}

/* ---- the search ---- */

static bool share_a_slot(const struct made *x, const struct made *y)
{
    uint32_t to = x->is.steps.to_slot[0];
    uint32_t other = y->is.steps.to_slot[0];

    return x->from[0] == y->from[0] || to == other || x->from[0] == other || to == y->from[0];
}

/* The next move to take back: often one that shares a host with the first. */
static uint32_t choose_back(struct deep *d, const struct made *first)
{
    uint32_t k = rng_below(&d->rng, d->now.n);

    if (!first || !(rng_unit(&d->rng) < RELATED))
        return k;
    for (uint32_t i = 0; i < d->now.n; i++)
        if (share_a_slot(&d->now.items[(k + i) % d->now.n], first))
            return (k + i) % d->now.n;
    return k;
}

/* Makes the climb begin otherwise: forbids the first move, or sends its unit to the destination of the last
 * move. */
static void begin_otherwise(struct deep *d, const struct made *back, uint32_t n)
{
    double u = rng_unit(&d->rng);

    if (n > 0 && u < HOLD_FIRST) {
        hold(d, back[0].is.unit);
    } else if (n > 1 && u < HOLD_FIRST + REDIRECT && back[0].is.steps.n == 1) {
        struct proposed other = back[0].is;
        struct exchange x;
        other.steps.to_slot[0] = back[n - 1].is.steps.to_slot[0];
        if (other.steps.to_slot[0] != d->l->unit_slot[other.unit] && deep_search_passes(d->c, &other, &x))
            make(d, &other);
    }
}

/* One round: takes some moves back and climbs on. Restores the plan unless the new one is better, or only a
 * little worse. */
static void change(struct deep *d, uint32_t vms_max, double warmth)
{
    double before = measure(d);
    d->budget--; /* so that a round without a search ends the budget, too */
    uint32_t n_back = 1 + rng_below(&d->rng, BACK_MAX);
    struct made back[BACK_MAX];
    uint32_t n = 0;

    while (n < n_back && d->now.n > 0) {
        uint32_t k = choose_back(d, n > 0 ? &back[0] : NULL);
        back[n++] = unmake(d, k);
    }
    uint32_t kept = d->now.n;
    begin_otherwise(d, back, n);
    refill(d, vms_max);
    double u = rng_unit(&d->rng);
    if (measure(d) <= before - warmth * log(1 - u)) {
        keep_if_best(d);
        return;
    }
    while (d->now.n > kept)
        (void)unmake(d, d->now.n - 1);
    while (n > 0)
        make(d, &back[--n].is);
}

/* Spends this budget on plans that move at most this many VMs. Where only plans at the target are kept, ends
 * at the first one. */
static void anneal(struct deep *d, uint32_t vms_max, double evaluations)
{
    double begin = (double)d->budget;
    double warmest = WARMTH * measure(d);

    while (d->budget > 0 && (double)d->budget > begin - evaluations) {
        double left = 1 - (begin - (double)d->budget) / evaluations;
        change(d, vms_max, warmest * left * left);
        if (d->at_target && d->best_measure < NO_LIMIT)
            return;
    }
}

static void take_best(struct deep *d)
{
    unmake_all(d);
    make_all(d, &d->best);
}

/* Longer and longer searches, until IDLE_MAX in a row find nothing better. */
static void anneal_again(struct deep *d, uint32_t vms_max)
{
    double evaluations = FIRST_PART * (double)d->budget;
    uint32_t idle = 0;

    while (d->budget > 0 && idle < IDLE_MAX) {
        double best = d->best_measure;
        anneal(d, vms_max, evaluations);
        take_best(d);
        idle = d->best_measure < best - BETTER ? 0 : idle + 1;
        evaluations *= 2;
    }
}

/* Takes back the move whose removal leaves the lowest imbalance. */
static void drop_one(struct deep *d)
{
    uint32_t n = d->now.n;
    uint32_t best = 0;
    double least = NO_LIMIT;

    d->budget -= (int64_t)n * d->l->n_on; /* each move changes hosts, and measures all of them */
    for (uint32_t k = 0; k < n; k++) {    /* the first goes to the end each time, so the order stays */
        struct made first = unmake(d, 0);
        double without = measure(d);
        best = without < least ? k : best;
        least = without < least ? without : least;
        make(d, &first.is);
    }
    (void)unmake(d, best);
}

/* From a plan at the target, searches plans that move fewer and fewer VMs, until a part of the budget finds
 * none. */
static void move_fewer(struct deep *d)
{
    d->at_target = true;
    while (d->vms > 1 && d->budget > 0) {
        uint32_t vms_max = d->vms - 1;
        double measured = d->best_measure;
        copy(&d->reached, &d->best);
        d->best_measure = NO_LIMIT;
        drop_one(d);
        anneal(d, vms_max, FEWER_PART * (double)d->budget);
        if (d->best_measure < NO_LIMIT)
            continue;
        copy(&d->best, &d->reached);
        d->best_measure = measured;
        break;
    }
    d->at_target = false;
    take_best(d);
}

static struct made_list new_list(const struct layout *l, struct arena *a)
{
    return (struct made_list){.items = arena_array(a, struct made, (size_t)l->n_units + 1)};
}

static void begin(struct deep *d, const struct proposal *from, struct arena *a)
{
    struct made_list *lists[] = {&d->now, &d->best, &d->before, &d->left, &d->reached};

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        *lists[i] = new_list(d->l, a);
    d->held = arena_array(a, uint32_t, (size_t)d->l->n_units + 1);
    climb_set_level(d->c, d->goal->level);
    for (uint32_t i = 0; i < from->n; i++)
        make(d, &from->items[i]);
    d->mb_worth = MEMORY_WORTH / fmax(d->mb, 1);
    copy(&d->best, &d->now);
    d->best_measure = measure(d);
}

void deep_search(struct climb *c, struct exchange_search *exchanges, const struct deep_goal *goal,
                 const struct proposal *from, struct arena *a, struct proposal *ret)
{
    const struct policy *policy = c->l->policy;
    struct deep d = {.c = c,
                     .l = c->l,
                     .exchanges = exchanges,
                     .goal = goal,
                     .rng = {.state = (uint64_t)policy->seed},
                     .budget = policy->search_budget};

    *ret = (struct proposal){0};
    if (from->n == 0 || c->l->n_on < 2)
        return;
    begin(&d, from, a);
    double first = d.best_measure;
    uint32_t vms = d.vms;
    if (!is_at_target(&d))
        anneal_again(&d, goal->vms_max);
    if (is_at_target(&d)) {
        move_fewer(&d);
        anneal_again(&d, d.vms);
    }
    ret->evaluated = (uint64_t)(policy->search_budget - d.budget);
    if (d.vms >= vms && !(d.best_measure < first - BETTER))
        return;
    for (uint32_t i = 0; i < d.best.n; i++)
        deep_search_add(ret, &d.best.items[i].is, a);
}
