/* Finds the best move of each step of the climb. move_score.c judges a single move. */
#include "core/balance/climb.h"

#include "base/thread_pool.h"

#include <string.h>

/* A gain below all others, but finite: bounds are multiplied and added to. */
#define NOTHING (-1e9)
#define ROUNDING 1e-13

#define LIKELY_PART 0.95

/* A unit whose better moves are rejected is searched down to this part of the minimum goodness, so that it
 * need not be searched again when the gains of the next steps are a little lower. */
#define AHEAD_PART 0.5

/* ... but not below this part of the best move: its slot probably changes before its lower moves matter. */
#define BEST_PART 0.8

/* A slot is searched down to this part of the next slot's bound. */
#define NEXT_PART 0.9

void climb_init(struct climb *c, struct layout *l, struct migration_cost *costs, struct plan_stats *stats,
                struct arena *a)
{
    *c = (struct climb){.l = l, .costs = costs};
    c->score.stats = stats;
    c->score.vms_left = UINT32_MAX;
    move_score_set_level(&c->score, l, costs, LAYOUT_LEVEL_FIRST);
    move_score_refresh(&c->score, l, costs);
    c->score.preference = move_preference_new(l, move_score_average_gain(l), a);
    destination_index_init(&c->destinations, l, costs->rates.into, c->score.preference, a);
    bounds_init(&c->bounds, l, c->score.preference && c->score.preference->price > 0, a);
    source_queue_init(&c->sources, &c->bounds, a);
    c->pays = arena_array(a, bool, l->n_units);
    c->pays_known = arena_array(a, bool, l->n_on);
    c->corners_at = arena_array(a, uint64_t, l->n_on);
    c->slowest = arena_array(a, double, l->n_units);
    c->limit = arena_array(a, double, l->n_units);
    for (int r = 0; r < RES_COUNT; r++)
        c->positive[r] = arena_array(a, double, l->n_units);
    c->known_to = arena_array(a, uint32_t, l->n_units);
    c->known = arena_array(a, double, l->n_units);
    c->again = arena_array(a, uint32_t, l->n_units);
    c->towards = arena_array(a, struct bounds_towards, l->n_on);
    c->changed = (struct changed_slots){.newest = IX_NONE};
    c->changed.older = arena_array(a, uint32_t, l->n_on);
    c->changed.newer = arena_array(a, uint32_t, l->n_on);
    c->changed.changed_at = arena_array(a, uint64_t, l->n_on);
    c->changed.left_at = arena_array(a, uint64_t, l->n_on);
    c->changed.searched_at = arena_array(a, uint64_t, l->n_on);
}

/* Makes the slot the newest. */
static void note_change(struct changed_slots *s, uint32_t slot)
{
    if (s->changed_at[slot] > 0 && s->newest != slot) {
        s->older[s->newer[slot]] = s->older[slot];
        if (s->older[slot] != IX_NONE)
            s->newer[s->older[slot]] = s->newer[slot];
    }
    if (s->newest != slot) {
        s->older[slot] = s->newest;
        if (s->newest != IX_NONE)
            s->newer[s->newest] = slot;
    }
    s->newest = slot;
    s->changed_at[slot] = ++s->n;
}

static void forget_what_pays(struct climb *c)
{
    for (uint32_t i = 0; i < c->l->n_on; i++)
        c->pays_known[i] = false;
}

/* What checks rejected may pass from now on: for when anything that a check uses has changed by other means
 * than climb_apply() - the minimum goodness excepted, which is a limit of gain. */
static void forget_rejections(struct climb *c)
{
    forget_what_pays(c); /* and with it the bounds, which cover only the units that could pay */
    bounds_forget_all(&c->bounds);
    c->unknown = true;
}

void climb_set_level(struct climb *c, int64_t level)
{
    move_score_set_level(&c->score, c->l, c->costs, level);
    memset(c->score.stats->rejected, 0,
           sizeof c->score.stats->rejected); /* why the last level goes no further */
    forget_rejections(c);
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

/* Raises the largest contributions of the unit (the positive parts of bounds.h). */
static void raise_positive(struct climb *c, uint32_t unit, int r, double falls)
{
    c->positive[r][unit] = falls > c->positive[r][unit] ? falls : c->positive[r][unit];
}

/* The gain of a unit on a host with the lowest N of its class in both resources; and its contributions. */
static void bound_unit_at_corner(struct climb *c, const struct move_trial *t, uint32_t unit,
                                 const struct destination_class *tc, double *gain)
{
    const struct destination_node *corner = &c->destinations.nodes[tc->first_node + 1];
    double sum = ROUNDING; /* the sum of the parts may differ from the trial's result in its last digit */

    for (int r = 0; r < RES_COUNT; r++) {
        double part = t->demand[r] * tc->inverse[r];
        double mean = (t->sum[r] + part) / t->n;
        double variance = (t->sum_squares[r] + (2 * corner->least[r] + part) * part) / t->n - mean * mean;
        double falls = t->weight[r] * (c->bounds.sigma[r] - sqrt(variance > 0 ? variance : 0));
        sum += falls;
        raise_positive(c, unit, r, falls);
    }
    *gain = sum > *gain ? sum : *gain;
}

/* The same over all classes that are not too slow. */
static double bound_unit(struct climb *c, uint32_t unit)
{
    struct move_trial t;
    double gain = NOTHING;

    for (int r = 0; r < RES_COUNT; r++)
        c->positive[r][unit] = 0;
    move_trial_begin(c->l, c->score.weight, unit, &t);
    for (uint32_t k = 0; k < c->destinations.n_classes; k++)
        if (!destination_index_too_slow(&c->destinations, &c->destinations.classes[k], c->slowest[unit]))
            bound_unit_at_corner(c, &t, unit, &c->destinations.classes[k], &gain);
    return gain;
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
        c->known_to[u] = IX_NONE;
        c->limit[u] = c->pays[u] ? bound_unit(c, u) : NOTHING;
        if (!c->pays[u])
            continue;
        for (int r = 0; r < RES_COUNT; r++)
            positive[r] = c->positive[r][u] > positive[r] ? c->positive[r][u] : positive[r];
        if (best == IX_NONE || c->limit[u] > c->limit[list->items[best]])
            best = i;
    }
    bounds_set(&c->bounds, slot, best == IX_NONE ? NOTHING : c->limit[list->items[best]], positive);
    return best;
}

static void search_corners_of(void *arg, uint32_t begin, uint32_t end)
{
    struct climb *c = arg;

    for (uint32_t i = begin; i < end; i++) {
        (void)search_corners(c, i);
        c->corners_at[i] = c->step;
    }
}

/* Gives all slots a bound at once, by threads; the bounds then say which slots need a full search. */
static void search_all_corners(struct climb *c)
{
    parallel_for(c->l->policy->thread_pool, c->l->n_on, layout_slots_grain(c->l), search_corners_of, c);
    bounds_sort(&c->bounds);
    c->unknown = false;
}

/* The index of the unit with the highest bound; IX_NONE: no unit pays. */
static uint32_t find_first(const struct climb *c, uint32_t slot)
{
    const struct unit_list *list = &c->l->list[slot];
    uint32_t best = IX_NONE;

    for (uint32_t i = 0; i < list->n; i++)
        if (c->pays[list->items[i]] &&
            (best == IX_NONE || c->limit[list->items[i]] > c->limit[list->items[best]]))
            best = i;
    return best;
}

/* The gain from which a move is of use in this step. */
static double needed(const struct climb *c, const struct move *best)
{
    return best->unit == IX_NONE ? c->floor : best->gain;
}

/* The score with which a search looks further than the step needs. */
static struct move_score score_ahead(const struct climb *c)
{
    struct move_score score = c->score;

    score.goodness *= AHEAD_PART;
    return score;
}

static void take(const struct climb *c, const struct move *m, struct move *best)
{
    if (m->unit != IX_NONE && m->gain >= needed(c, best) && move_score_is_better(&c->score, m, best))
        *best = *m;
}

/* Finds the unit's best move that passes the checks and gains no more than this, and sets its limit. Returns
 * how other moves were rejected. */
static enum rejection search_ahead(struct climb *c, const struct move_trial *t, uint32_t unit, double most,
                                   struct move *best)
{
    struct move_score score = score_ahead(c);
    struct gain_range range = {.least = fmax(score.goodness, BEST_PART * needed(c, best)), .most = most};
    struct move own = {.unit = IX_NONE, .to_slot = IX_NONE};

    enum rejection rejected = destination_index_best(&c->destinations, &score, t, unit, range, &own);
    c->limit[unit] = own.unit == IX_NONE ? range.least : own.gain;
    take(c, &own, best);
    return rejected;
}

/* Searches all destinations of one unit, which sets its limit: first without the checks, then with them if
 * that could be the best move. Returns the bound of the units searched so far; *rejected: how moves were
 * rejected that limits leave out. */
static double search_unit(struct climb *c, uint32_t unit, double bound, enum rejection *rejected,
                          struct move *best)
{
    double most = needed(c, best);
    double floor = bound < most ? bound : most;
    struct gain_range range = {.least = most > c->score.goodness ? most : -NO_LIMIT, .most = NO_LIMIT};
    struct move_trial t;

    move_trial_begin(c->l, c->score.weight, unit, &t);
    c->score.slowest = c->slowest[unit];
    double gain = destination_index_relaxed(&c->destinations, &c->score, &t, c->l->unit_slot[unit],
                                            (struct gain_range){.least = floor, .most = NO_LIMIT});
    c->limit[unit] = gain < c->limit[unit] ? gain : c->limit[unit];
    enum rejection r = REJECTION_NONE;
    if (gain >= most)
        r = destination_index_best(&c->destinations, &c->score, &t, unit, range, best);
    if (r != REJECTION_NONE && best->unit == unit)
        c->limit[unit] = best->gain;
    else if (r != REJECTION_NONE)
        r = rejection_worse(r, search_ahead(c, &t, unit, most, best));
    *rejected = rejection_worse(*rejected, r);
    return gain > bound ? gain : bound;
}

/* The slot's new bound leaves out the moves that were rejected so. */
static void leave_out_rejected(struct climb *c, uint32_t slot, enum rejection rejected)
{
    const struct unit_list *list = &c->l->list[slot];
    double most = NOTHING;

    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t u = list->items[i];
        most = c->limit[u] > most ? c->limit[u] : most;
        if (c->known_to[u] != IX_NONE && c->known[u] > most)
            most = c->known[u];
    }
    bounds_leave_out(&c->bounds, slot, most, rejected);
    c->changed.searched_at[slot] = c->changed.n;
}

/* Second, full search of a slot: the units that could have the best move, the highest bound first. The slot's
 * new bound covers the other units. */
static void search_anew(struct climb *c, uint32_t slot, struct move *best)
{
    const struct unit_list *list = &c->l->list[slot];
    uint32_t first = c->corners_at[slot] == c->step ? find_first(c, slot) : search_corners(c, slot);
    enum rejection rejected = REJECTION_NONE;

    c->corners_at[slot] = 0;
    if (first == IX_NONE || c->limit[list->items[first]] < needed(c, best) ||
        c->limit[list->items[first]] < GAIN_LEAST)
        return;
    double bound = search_unit(c, list->items[first], NOTHING, &rejected, best);
    for (uint32_t i = 0; i < list->n; i++) {
        double limit = c->limit[list->items[i]];
        if (i != first && (limit > bound || limit >= needed(c, best)))
            bound = search_unit(c, list->items[i], bound, &rejected, best);
    }
    if (rejected != REJECTION_NONE)
        leave_out_rejected(c, slot, rejected);
    else
        bounds_lower(&c->bounds, slot, bound);
}

/* Judges one move of the unit that its limit does not cover. The best one that passes is known from now on;
 * the limit covers the others. */
static void judge(struct climb *c, const struct move_score *score, const struct move *m, double gain,
                  struct move *known, enum rejection *rejected)
{
    bool good = m->gain >= score->goodness;
    double other = m->gain;

    if (m->gain <= c->limit[m->unit])
        return;
    enum check check = good ? move_score_check_cheaply(score, m->unit, m->to_slot, gain) : CHECK_NONE;
    *rejected = rejection_worse(*rejected, move_score_rejection(score, check));
    if (check != CHECK_NONE)
        return;
    if (good && (known->unit == IX_NONE || move_score_is_better(score, m, known))) {
        other = known->unit == IX_NONE ? NOTHING : known->gain;
        *known = *m;
    }
    c->limit[m->unit] = other > c->limit[m->unit] ? other : c->limit[m->unit];
}

/* The gain of a unit on a slot; its contributions are noted. */
static double gain_on(struct climb *c, const struct move_trial *t, uint32_t unit, uint32_t slot)
{
    double after = 0;

    for (int r = 0; r < RES_COUNT; r++) {
        double root = move_trial_part(t, r, c->l->norm[r][slot], c->l->inverse[r][slot]);
        raise_positive(c, unit, r, t->weight[r] * c->bounds.sigma[r] - root);
        after += root;
    }
    return c->score.imbalance - after;
}

/* Whether the unit gains so little on a changed slot that the move need not be judged: its limit covers it.
 */
static bool covers(struct climb *c, uint32_t unit, const struct bounds_towards *t)
{
    double gain = ROUNDING;
    double of[RES_COUNT];

    for (int r = 0; r < RES_COUNT; r++) {
        of[r] = t->per_demand[r] * c->l->unit_demand[r][unit];
        gain += of[r];
    }
    if (gain >= AHEAD_PART * c->score.goodness && gain > c->limit[unit])
        return false;
    c->limit[unit] = gain > c->limit[unit] ? gain : c->limit[unit];
    for (int r = 0; r < RES_COUNT; r++)
        raise_positive(c, unit, r, of[r]);
    return true;
}

/* Whether moves from one slot to the other may be allowed that were not when the first was searched. */
static bool is_judged_again(const struct climb *c, uint32_t slot, uint32_t to)
{
    const uint64_t *at =
        c->bounds.rejected[slot] == REJECTION_MAY_END ? c->changed.changed_at : c->changed.left_at;

    return at[to] > c->changed.searched_at[slot];
}

/* Judges the unit's moves to the first n slots of c->towards, and the one that was known. */
static enum rejection search_changed(struct climb *c, uint32_t slot, uint32_t unit, uint32_t n,
                                     struct move *best)
{
    enum rejection rejected = REJECTION_NONE;
    struct move_score score;
    struct move known = {.unit = IX_NONE, .to_slot = IX_NONE};
    uint32_t to = c->known_to[unit];
    struct move_trial t;
    bool begun = false;

    for (uint32_t i = 0; i <= n; i++) {
        /* last the known one, if it has not come yet */
        uint32_t other = i < n ? c->towards[i].slot : to;
        if (i == n ? to == IX_NONE || is_judged_again(c, slot, to)
                   : other != to && covers(c, unit, &c->towards[i]))
            continue;
        if (!begun) {
            score = score_ahead(c);
            move_trial_begin(c->l, c->score.weight, unit, &t);
            begun = true;
        }
        double gain = gain_on(c, &t, unit, other);
        struct move m = {unit, other, move_score_adjusted(&score, unit, other, gain)};
        judge(c, &score, &m, gain, &known, &rejected);
    }
    c->known_to[unit] = known.to_slot;
    c->known[unit] = known.unit == IX_NONE ? NOTHING : known.gain;
    take(c, &known, best);
    return rejected;
}

/* Brings the unit's limit to the present step. Only where it says that the unit may have the best move it is
 * computed how much the unit could gain at all. */
static void renew_limit(struct climb *c, uint32_t unit, const struct bounds_carry *factors,
                        const struct move *best)
{
    double limit = factors->factor * c->limit[unit] + factors->more;

    for (int r = 0; r < RES_COUNT; r++) {
        c->positive[r][unit] = factors->grow[r] * c->positive[r][unit] + factors->shift;
        limit += factors->part[r] * c->positive[r][unit];
    }
    if (c->bounds.adjusted)
        limit = fmax(limit, 0);
    if (limit >= needed(c, best)) {
        double bound = bound_unit(c, unit);
        limit = bound < limit ? bound : limit;
    }
    c->limit[unit] = limit;
}

/* The slots that changed since a slot's last search, and on which its units gain too little to be judged. */
struct left_out {
    double gain, of[RES_COUNT]; /* the most that a unit gains, and by each resource */
};

/* Lists, in c->towards, the slots that changed since the slot's last search, but for those on which its units
 * gain too little, and those whose change ended no rejection. */
static uint32_t list_changed(struct climb *c, uint32_t slot, struct left_out *ret)
{
    const struct changed_slots *changed = &c->changed;
    uint32_t n = 0;

    *ret = (struct left_out){.gain = NOTHING};
    for (uint32_t s = changed->newest; s != IX_NONE; s = changed->older[s]) {
        if (changed->changed_at[s] <= changed->searched_at[slot])
            break;
        if (!is_judged_again(c, slot, s))
            continue;
        struct bounds_towards towards = bounds_gain_towards(&c->bounds, slot, s);
        if (towards.gain >= AHEAD_PART * c->score.goodness) {
            c->towards[n++] = towards;
            continue;
        }
        ret->gain = towards.gain > ret->gain ? towards.gain : ret->gain;
        for (int r = 0; r < RES_COUNT; r++)
            ret->of[r] = towards.of[r] > ret->of[r] ? towards.of[r] : ret->of[r];
    }
    return n;
}

/* Searches those of the n units in c->again that could have the best move, the highest limit first. Moves
 * that gain more than the unit's limit need not be judged: they do not pass, or the best of them is known. */
static enum rejection search_limited(struct climb *c, uint32_t n, struct move *best)
{
    enum rejection rejected = REJECTION_NONE;

    while (n > 0) {
        struct move_trial t;
        uint32_t i = 0;
        for (uint32_t k = 1; k < n; k++)
            i = c->limit[c->again[k]] > c->limit[c->again[i]] ? k : i;
        uint32_t u = c->again[i];
        if (c->limit[u] < needed(c, best))
            break;
        c->again[i] = c->again[--n];
        move_trial_begin(c->l, c->score.weight, u, &t);
        c->score.slowest = c->slowest[u];
        rejected = rejection_worse(rejected, search_ahead(c, &t, u, c->limit[u], best));
    }
    return rejected;
}

/* Searches a slot of which the last search left out rejected moves: no unit is searched again but for the
 * slots that changed since, unless its limit says that it may have the best move. */
static void search_again(struct climb *c, uint32_t slot, struct move *best)
{
    const struct unit_list *list = &c->l->list[slot];
    struct bounds_carry factors = bounds_carry_of(&c->bounds, slot);
    struct left_out others;
    uint32_t n_changed = list_changed(c, slot, &others);
    uint32_t n = 0;
    enum rejection rejected = c->bounds.rejected[slot];

    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t u = list->items[i];
        if (!c->pays[u])
            continue;
        renew_limit(c, u, &factors, best);
        c->limit[u] = c->limit[u] > others.gain ? c->limit[u] : others.gain;
        for (int r = 0; r < RES_COUNT; r++)
            raise_positive(c, u, r, others.of[r]);
        rejected = rejection_worse(rejected, search_changed(c, slot, u, n_changed, best));
        if (c->limit[u] >= needed(c, best))
            c->again[n++] = u;
    }
    rejected = rejection_worse(rejected, search_limited(c, n, best));
    leave_out_rejected(c, slot, rejected);
}

static void search_slot(struct climb *c, uint32_t slot, struct move *best)
{
    if (bounds_leaves_out(&c->bounds, slot))
        search_again(c, slot, best);
    else
        search_anew(c, slot, best);
}

/* Searches the slots with a bound of at least floor until no bound reaches the best move. Without a best move
 * yet, a slot whose bound leaves out rejected moves is searched only down to about the next one's bound, and
 * takes its turn again. */
static void search_sources(struct climb *c, double floor, struct move *best)
{
    struct source_queue *q = &c->sources;
    struct source *first;

    floor = fmax(floor, GAIN_LEAST);
    source_queue_begin(q, floor);
    while ((first = source_queue_first(q, best->unit == IX_NONE ? floor : best->gain))) {
        uint32_t slot = first->at;
        c->floor = floor;
        if (best->unit == IX_NONE && bounds_leaves_out(&c->bounds, slot))
            c->floor = fmax(NEXT_PART * source_queue_second(q), floor);
        search_slot(c, slot, best);
        double left = bounds_now(&c->bounds, slot); /* just set: nothing to add for scores */
        bool done = best->unit != IX_NONE || !(c->floor > floor) || left < floor;
        if (!done && !(left < first->bound)) { /* rounding: to the end at once */
            c->floor = floor;
            search_slot(c, slot, best);
            done = true;
        }
        first->bound = left;
        if (done)
            source_queue_remove(q);
        else
            source_queue_sink(q);
    }
}

struct move climb_step(struct climb *c)
{
    struct move best = {.unit = IX_NONE, .to_slot = IX_NONE, .gain = 0};

    if (!c->searched)
        forget_rejections(c);
    c->searched = true;
    move_score_refresh(&c->score, c->l, c->costs);
    destination_index_refresh(&c->destinations);
    c->step++;
    if (c->unknown)
        search_all_corners(c);
    /* the best move probably gains about as much as the one before */
    double likely = LIKELY_PART * c->last_gain;
    if (likely > c->score.goodness)
        search_sources(c, likely, &best);
    if (best.unit == IX_NONE)
        search_sources(c, c->score.goodness, &best);
    c->last_gain = best.gain;
    return best;
}

/* change: layout_move(), or layout_move_back(). */
static void apply(struct climb *c, const struct move *m,
                  void (*change)(struct layout *l, uint32_t unit, uint32_t slot))
{
    uint32_t from = c->l->unit_slot[m->unit];
    double weight_before = c->bounds.weight[RES_CPU];

    const struct failover_capacity *failover = &c->l->failover;
    double reserved[RES_COUNT] = {failover->reserved[RES_CPU][from], failover->reserved[RES_MEM][from]};
    uint32_t spaces =
        c->score.guard ? spaces_of(c->score.guard->s, from) + spaces_of(c->score.guard->s, m->to_slot) : 0;
    failover_capacity_follow(&c->l->failover, m->unit, m->to_slot);
    /* where the source has become a holder, other VMs may use the same capacity for other losses */
    bool holds_more = failover->reserved[RES_CPU][from] > reserved[RES_CPU] ||
                      failover->reserved[RES_MEM][from] > reserved[RES_MEM];
    change(c->l, m->unit, m->to_slot);
    if (c->score.guard)
        spaces_guard_follow(c->score.guard, from, m->to_slot, spaces);
    migration_cost_move(c->costs, m->unit, from, m->to_slot);
    c->l->unit_held[m->unit] = CHECK_VM_MOVED;
    if (m->to_slot < c->l->n_on) {
        destination_index_update(&c->destinations, m->to_slot);
        note_change(&c->changed, m->to_slot);
        c->pays_known[m->to_slot] = false;
    }
    if (from < c->l->n_on) {
        destination_index_update(&c->destinations, from);
        note_change(&c->changed, from);
        c->changed.left_at[from] = c->changed.n;
        c->pays_known[from] = false;
    }
    if (!c->searched)
        return;
    bounds_after_move(&c->bounds, &c->destinations, from, m->to_slot);
    /* a count over groups of hosts has changed on other hosts, too */
    if (holds_more || c->l->rules->fit.counts.over_groups)
        bounds_forget_rejections(&c->bounds);
    /* `pays` depends on the weights of the imbalance */
    if (c->bounds.weight[RES_CPU] != weight_before)
        forget_what_pays(c);
}

void climb_apply(struct climb *c, const struct move *m)
{
    apply(c, m, layout_move);
}

void climb_take_back(struct climb *c, uint32_t unit, uint32_t from_slot)
{
    apply(c, &(struct move){.unit = unit, .to_slot = from_slot}, layout_move_back);
    c->l->unit_held[unit] = CHECK_NONE;
}

struct move climb_best_refused(struct climb *c, uint32_t first, uint32_t end)
{
    const struct layout *l = c->l;
    struct move_score score = c->score;
    struct move best = {.unit = IX_NONE, .to_slot = IX_NONE, .gain = GAIN_LEAST};
    struct move_trial t;

    score.slowest = 0;
    destination_index_refresh(&c->destinations);
    for (uint32_t i = first; i < end; i++)
        for (uint32_t k = 0; k < l->list[i].n; k++) {
            uint32_t u = l->list[i].items[k];
            if (l->unit_held[u] == CHECK_VM_MOVED || layout_is_agent(l, u))
                continue;
            move_trial_begin(l, score.weight, u, &t);
            double gain = destination_index_relaxed(
                &c->destinations, &score, &t, i, (struct gain_range){.least = best.gain, .most = NO_LIMIT});
            if (gain > best.gain)
                best = (struct move){.unit = u, .to_slot = IX_NONE, .gain = gain};
        }
    if (best.unit != IX_NONE)
        move_trial_begin(l, score.weight, best.unit, &t);
    for (uint32_t i = 0; i < l->n_on && best.unit != IX_NONE && best.to_slot == IX_NONE; i++)
        if (i != l->unit_slot[best.unit] && move_score_gain(&score, &t, i) >= best.gain)
            best.to_slot = i;
    return best;
}

static uint32_t find_coldest(const struct climb *c)
{
    const struct layout *l = c->l;
    double least = NO_LIMIT;
    uint32_t coldest = 0;

    for (uint32_t i = 0; i < l->n_on; i++) {
        double load = 0;
        for (int r = 0; r < RES_COUNT; r++)
            load += c->score.weight[r] * l->norm[r][i];
        coldest = load < least ? i : coldest;
        least = load < least ? load : least;
    }
    return coldest;
}

/* Whether the unit gains so much on any host; rules and memory are ignored. */
static bool reaches(const struct climb *c, const struct move_score *score, const struct move_trial *t,
                    uint32_t unit, double gain)
{
    double enough = fmax(gain, GAIN_LEAST);
    struct gain_range range = {.least = nextafter(enough, 0), .most = enough};

    return destination_index_relaxed(&c->destinations, score, t, c->l->unit_slot[unit], range) >= enough;
}

/* The check, in the order of names.h, at which the best move of a unit fails that cannot pay anywhere; rules
 * and memory are left aside. likely: a slot on which it probably gains much, so that few others are tried. */
static enum check check_of_unpaid(const struct climb *c, uint32_t unit, uint32_t likely)
{
    struct move_score score = c->score;
    struct move_trial t;

    score.slowest = 0;
    move_trial_begin(c->l, score.weight, unit, &t);
    double gain = c->l->unit_slot[unit] == likely ? 0 : move_score_gain(&score, &t, likely);
    if (gain >= fmax(score.goodness, GAIN_LEAST) || reaches(c, &score, &t, unit, score.goodness))
        return CHECK_COST_BENEFIT;
    return gain >= GAIN_LEAST || reaches(c, &score, &t, unit, 0) ? CHECK_MIN_GOODNESS : CHECK_NO_GAIN;
}

struct unpaid_search {
    struct climb *c;
    uint32_t coldest;
};

/* Finds the check of each unit that may move and cannot pay; CHECK_NONE for all others. */
static void find_checks_of_unpaid(void *arg, uint32_t begin, uint32_t end)
{
    const struct unpaid_search *s = arg;
    struct climb *c = s->c;

    for (uint32_t i = begin; i < end; i++) {
        if (!c->pays_known[i])
            find_paying_units(c, i);
        for (uint32_t k = 0; k < c->l->list[i].n; k++) {
            uint32_t u = c->l->list[i].items[k];
            bool unpaid = c->l->unit_held[u] == CHECK_NONE && !c->pays[u];
            c->again[u] = unpaid ? check_of_unpaid(c, u, s->coldest) : CHECK_NONE;
        }
    }
}

void climb_count_rejected(struct climb *c, bool searched)
{
    uint64_t others = c->l->n_on > 0 ? c->l->n_on - 1 : 0;
    struct unpaid_search search = {c, searched ? find_coldest(c) : IX_NONE};

    if (searched)
        parallel_for(c->l->policy->thread_pool, c->l->n_on, layout_slots_grain(c->l), find_checks_of_unpaid,
                     &search);
    for (uint32_t i = 0; i < c->l->n_on; i++)
        for (uint32_t k = 0; k < c->l->list[i].n; k++) {
            uint32_t u = c->l->list[i].items[k];
            enum check held = c->l->unit_held[u];
            if (held != CHECK_NONE && held != CHECK_VM_MOVED)
                c->score.stats->rejected[held] += others;
            if (searched && c->again[u] != CHECK_NONE)
                c->score.stats->rejected[c->again[u]] += others;
        }
}
