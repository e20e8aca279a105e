/* Finds the best exchange: enumerates rings and chains of units, bounded by what they could gain at most.
 * exchange_order.c puts one in order and checks it. */
#include "core/balance/exchange.h"

#include "core/balance/exchange_gain.h"
#include "core/balance/exchange_order.h"

#include <stdlib.h>

/* A trial of all checks counts as so many trials of a gain. */
#define CHECKS_TRIALS 100

struct search {
    struct climb *c;
    const struct layout *l;
    const struct move_score *score;
    struct exchange_search *own;
    uint32_t n_sources, n_destinations;
    uint32_t third[2 * EXCHANGE_WINDOW]; /* slots that may be the third */
    uint32_t n_third;
    uint64_t trials; /* left of this step */
    uint32_t migrations;
    double stable; /* the longest stable time */
    struct exchange best;
    struct ring best_ring;
};

/* What an exchange must gain to be of use now: no less than the best one, but for rounding. */
static double needed(const struct search *s)
{
    double least = fmax(s->score->goodness * s->migrations, GAIN_LEAST);

    return s->best.steps.n > 0 ? fmax(s->best.gain - GAIN_LEAST, least) : least;
}

static bool may_move(const struct layout *l, uint32_t unit)
{
    return l->unit_held[unit] == CHECK_NONE;
}

/* ---- what hosts can hold ---- */

/* What units take of a slot, or give it back. */
struct amounts {
    double reserved[RES_COUNT], mem, phys, backed;
};

static struct amounts amounts_of(const struct layout *l, uint32_t x, uint32_t y)
{
    struct amounts sum = {.mem = 0};

    for (int k = 0; k < 2; k++) {
        uint32_t u = k == 0 ? x : y;
        if (u == IX_NONE)
            continue;
        for (int r = 0; r < RES_COUNT; r++)
            sum.reserved[r] += l->unit_reserved[r][u];
        sum.mem += l->unit_mem[u];
        sum.phys += l->unit_phys[u];
        sum.backed += l->unit_backed[u];
    }
    return sum;
}

/* Whether the slot can hold what it takes once it has given the others. Rules are left aside. */
static bool holds_amounts(const struct layout *l, uint32_t slot, const struct amounts *takes,
                          const struct amounts *gives)
{
    const struct host *h = &l->snap->hosts[l->slot_host[slot]];

    for (int r = 0; r < RES_COUNT; r++)
        if (takes->reserved[r] > 0 && l->reserved[r][slot] + takes->reserved[r] - gives->reserved[r] >
                                          h->capacity[r] + EXCHANGE_ROUNDING)
            return false;
    if (takes->mem > 0 &&
        l->mem_taken[slot] + takes->mem - gives->mem > l->mem_limit[slot] + EXCHANGE_ROUNDING)
        return false;
    return takes->phys <= l->mem_free[slot] + gives->backed + EXCHANGE_ROUNDING;
}

static bool holds(const struct layout *l, uint32_t slot, uint32_t takes, uint32_t gives)
{
    const struct amounts in = amounts_of(l, takes, IX_NONE);
    const struct amounts out = amounts_of(l, gives, IX_NONE);

    return holds_amounts(l, slot, &in, &out);
}

/* ---- trials ---- */

static bool spend(struct search *s, uint64_t n)
{
    s->trials -= s->trials < n ? s->trials : n;
    return s->trials > 0;
}

/* Whether the benefit could be worth the cost: the end of all shortage on the slots, for the longest stable
 * time. */
static bool may_pay(const struct search *s, const struct ring *g)
{
    const struct migration_cost *costs = s->c->costs;
    double shortage[RES_COUNT] = {0};
    double cost[RES_COUNT] = {0};

    if (!s->l->policy->cost_benefit || !(costs->ratio > 0))
        return true;
    for (uint32_t i = 0; i < g->n; i++) {
        cost[RES_CPU] += g->unit[i] == IX_NONE ? 0 : costs->ratio * costs->least[g->unit[i]];
        for (int r = 0; r < RES_COUNT; r++)
            shortage[r] += costs->slot_shortage[r][g->slot[i]].expected * s->stable * (1 + 1e-9);
    }
    for (int r = 0; r < RES_COUNT && g->slot[g->n] != g->slot[0]; r++)
        shortage[r] += costs->slot_shortage[r][g->slot[g->n]].expected * s->stable * (1 + 1e-9);
    return migration_cost_over_capacity(costs, shortage) > migration_cost_over_capacity(costs, cost);
}

/* With the cost of these units alone (IX_NONE: none). */
static bool units_may_pay(const struct search *s, const uint32_t slots[3], uint32_t u, uint32_t w)
{
    const struct ring g = {.n = 2, .unit = {u, w}, .slot = {slots[0], slots[1], slots[2]}};

    return may_pay(s, &g);
}

/* Equal exchanges are chosen by the ids of VMs, then of hosts. */
static bool has_lower_ids(const struct layout *l, const struct ring *x, const struct ring *than)
{
    if (x->n != than->n)
        return x->n < than->n;
    for (uint32_t i = 0; i < x->n; i++)
        if (x->unit[i] != than->unit[i])
            return l->unit_first[x->unit[i]] < l->unit_first[than->unit[i]];
    return l->slot_host[x->slot[x->n]] < l->slot_host[than->slot[x->n]];
}

static bool is_better(const struct search *s, const struct exchange *x, const struct ring *g)
{
    const struct exchange *than = &s->best;

    if (than->steps.n == 0 || fabs(x->gain - than->gain) > GAIN_LEAST)
        return than->steps.n == 0 || x->gain > than->gain;
    if (x->copy_cost != than->copy_cost)
        return x->copy_cost < than->copy_cost;
    return has_lower_ids(s->l, g, &s->best_ring);
}

/* With each unit moving once, or one of them waiting on the first slot on which it can. */
static bool find_order(struct search *s, const struct ring *g, struct exchange *x)
{
    if (s->migrations == g->n)
        return spend(s, CHECKS_TRIALS) && exchange_order_find(s->c, g, IX_NONE, x);
    for (uint32_t i = 0; i < s->n_third; i++)
        if (spend(s, CHECKS_TRIALS) && exchange_order_find(s->c, g, s->third[i], x))
            return true;
    return false;
}

/* Takes the ring if it is better than the best so far and passes all checks. */
static void try_ring(struct search *s, const struct ring *g, double gain)
{
    const struct move_preference *preference = s->score->preference;
    struct exchange x = {.unit = g->unit[0], .gain = gain};

    for (uint32_t i = 0; i < g->n; i++) {
        if (preference)
            x.gain -= move_preference_cost(preference, g->unit[i], ring_to(g, i));
        x.copy_cost += s->c->costs->least[g->unit[i]];
    }
    if (!(x.gain >= needed(s)) || !is_better(s, &x, g) || !may_pay(s, g) || !find_order(s, g, &x))
        return;
    s->best = x;
    s->best_ring = *g;
}

/* ---- rings of two and three ---- */

static void search_swaps(struct search *s, const struct parabolas *p, uint32_t h, uint32_t c, uint32_t u)
{
    const struct layout *l = s->l;
    const struct unit_list *list = &l->list[c];

    if (!spend(s, list->n))
        return;
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t w = list->items[i];
        double gain = exchange_gain_at(s->score, p, l->unit_demand[RES_CPU][u] - l->unit_demand[RES_CPU][w],
                                       l->unit_demand[RES_MEM][u] - l->unit_demand[RES_MEM][w]);
        if (!(gain >= needed(s)) || !may_move(l, w) || !holds(l, c, u, w) || !holds(l, h, w, u))
            continue;
        try_ring(s, &(struct ring){.n = 2, .unit = {u, w}, .slot = {h, c, h}}, gain);
    }
}

/* The state with u on c, and what more could be gained by moving load from c to x. */
static struct parabolas parabolas_after(const struct search *s, uint32_t h, uint32_t c, uint32_t x,
                                        uint32_t u)
{
    struct sums sums = exchange_gain_now(s->score);
    double norm_c[RES_COUNT];
    double norm_x[RES_COUNT];

    exchange_gain_shift(s->score, &sums, h, u, IX_NONE);
    exchange_gain_shift(s->score, &sums, c, IX_NONE, u);
    for (int r = 0; r < RES_COUNT; r++) {
        norm_c[r] = exchange_gain_norm(s->score, r, c, IX_NONE, u);
        norm_x[r] = s->l->norm[r][x];
    }
    return exchange_gain_between(s->score, &sums, c, norm_c, x, norm_x);
}

static void search_chains(struct search *s, uint32_t h, uint32_t c, uint32_t x, uint32_t u)
{
    const struct layout *l = s->l;
    const struct unit_list *list = &l->list[c];
    const struct parabolas p = parabolas_after(s, h, c, x, u);

    if (!spend(s, 1) || exchange_gain_most(s->score, &p) < needed(s) || !spend(s, list->n))
        return;
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t w = list->items[i];
        double gain = exchange_gain_at(s->score, &p, l->unit_demand[RES_CPU][w], l->unit_demand[RES_MEM][w]);
        if (!(gain >= needed(s)) || !may_move(l, w) || !holds(l, x, w, IX_NONE) || !holds(l, c, u, w))
            continue;
        try_ring(s, &(struct ring){.n = 2, .unit = {u, w}, .slot = {h, c, x}}, gain);
    }
}

/* The last unit of a rotation, from x to h. */
static void search_last(struct search *s, const struct parabolas *p, struct ring *g)
{
    const struct layout *l = s->l;
    const struct unit_list *list = &l->list[g->slot[2]];

    if (!spend(s, list->n))
        return;
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t v = list->items[i];
        double gain = exchange_gain_at(s->score, p, l->unit_demand[RES_CPU][v], l->unit_demand[RES_MEM][v]);
        if (!(gain >= needed(s)) || !may_move(l, v) || !holds(l, g->slot[2], g->unit[1], v) ||
            !holds(l, g->slot[0], v, g->unit[0]))
            continue;
        g->unit[2] = v;
        try_ring(s, g, gain);
    }
}

static void search_rotations(struct search *s, uint32_t h, uint32_t c, uint32_t x, uint32_t u)
{
    const struct unit_list *list = &s->l->list[c];

    if (!spend(s, list->n))
        return;
    for (uint32_t i = 0; i < list->n; i++) {
        struct ring g = {.n = 3, .unit = {u, list->items[i], IX_NONE}, .slot = {h, c, x, h}};
        struct sums sums = exchange_gain_now(s->score);
        double norm_x[RES_COUNT];
        double norm_h[RES_COUNT];
        if (!may_move(s->l, g.unit[1]) || !holds(s->l, c, u, g.unit[1]) ||
            !units_may_pay(s, g.slot, u, g.unit[1]))
            continue;
        exchange_gain_shift(s->score, &sums, h, u, IX_NONE);
        exchange_gain_shift(s->score, &sums, c, g.unit[1], u);
        exchange_gain_shift(s->score, &sums, x, IX_NONE, g.unit[1]);
        for (int r = 0; r < RES_COUNT; r++) {
            norm_x[r] = exchange_gain_norm(s->score, r, x, IX_NONE, g.unit[1]);
            norm_h[r] = exchange_gain_norm(s->score, r, h, u, IX_NONE);
        }
        const struct parabolas p = exchange_gain_between(s->score, &sums, x, norm_x, h, norm_h);
        if (exchange_gain_most(s->score, &p) >= needed(s))
            search_last(s, &p, &g);
    }
}

/* Two units of c change places with one of h, where neither of them alone makes room for it. */
static void search_two_for_one(struct search *s, const struct parabolas *p, uint32_t h, uint32_t c,
                               uint32_t u)
{
    const struct layout *l = s->l;
    const struct unit_list *list = &l->list[c];
    const struct amounts one = amounts_of(l, u, IX_NONE);

    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t w = list->items[i];
        double cpu = l->unit_demand[RES_CPU][u] - l->unit_demand[RES_CPU][w];
        double mem = l->unit_demand[RES_MEM][u] - l->unit_demand[RES_MEM][w];
        if (!may_move(l, w) || holds(l, c, u, w))
            continue;
        if (!spend(s, list->n))
            return;
        for (uint32_t k = i + 1; k < list->n; k++) {
            uint32_t v = list->items[k];
            double gain = exchange_gain_at(s->score, p, cpu - l->unit_demand[RES_CPU][v],
                                           mem - l->unit_demand[RES_MEM][v]);
            const struct amounts two = amounts_of(l, w, v);
            if (!(gain >= needed(s)) || !may_move(l, v) || !holds_amounts(l, c, &one, &two) ||
                !holds_amounts(l, h, &two, &one) || holds(l, c, u, v))
                continue;
            try_ring(s, &(struct ring){.n = 3, .unit = {u, w, v}, .slot = {h, c, h, h}, .two_for_one = true},
                     gain);
        }
    }
}

/* ---- hosts ---- */

/* The most that any one unit of some hosts needs, of each amount. */
struct largest {
    struct amounts of;
    double demand_mem;
};

static void raise_to_largest(const struct layout *l, uint32_t slot, struct largest *most)
{
    for (uint32_t i = 0; i < l->list[slot].n; i++) {
        uint32_t u = l->list[slot].items[i];
        if (!may_move(l, u))
            continue;
        for (int r = 0; r < RES_COUNT; r++)
            most->of.reserved[r] = fmax(most->of.reserved[r], l->unit_reserved[r][u]);
        most->of.mem = fmax(most->of.mem, l->unit_mem[u]);
        most->of.phys = fmax(most->of.phys, l->unit_phys[u]);
        most->demand_mem = fmax(most->demand_mem, l->unit_demand[RES_MEM][u]);
    }
}

static double headroom_from(const struct layout *l)
{
    return 1 - l->policy->headroom_percent[RES_MEM] / 100;
}

/* Whether the slot may lack room for a unit of the host: where it does not, nothing is searched. */
static bool may_lack_room(const struct layout *l, const struct largest *most, uint32_t slot)
{
    const struct amounts none = {.mem = 0};
    bool reserves = most->of.reserved[RES_CPU] > 0 || most->of.reserved[RES_MEM] > 0;

    return (l->failover.active && reserves) || !holds_amounts(l, slot, &most->of, &none) ||
           l->norm[RES_MEM][slot] + most->demand_mem * l->inverse[RES_MEM][slot] > headroom_from(l);
}

/* Whether single moves of the unit to the slot fail for want of room: the slot cannot hold it beside the
 * units that are there, or it would use memory that its headroom should keep free. */
static bool wants_room(const struct search *s, uint32_t unit, uint32_t slot)
{
    const struct layout *l = s->l;

    switch (exchange_order_room(layout_check(l, unit, slot))) {
    case EXCHANGE_ROOM_MISSING:
        return true;
    case EXCHANGE_ROOM_THERE:
        return exchange_gain_norm(s->score, RES_MEM, slot, IX_NONE, unit) > headroom_from(l);
    case EXCHANGE_ROOM_NO_HELP:
        break;
    }
    return false;
}

/* The third slots with which chains or rotations of these two hosts could gain enough. Returns the number. */
static uint32_t list_thirds(struct search *s, uint32_t h, uint32_t c, uint32_t thirds[2 * EXCHANGE_WINDOW])
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->n_third; i++) {
        const uint32_t slots[] = {h, c, s->third[i]};
        if (slots[2] != h && slots[2] != c && spend(s, 1) && units_may_pay(s, slots, IX_NONE, IX_NONE) &&
            exchange_gain_most_among(s->score, slots) >= needed(s))
            thirds[n++] = slots[2];
    }
    return n;
}

static void search_pair(struct search *s, uint32_t h, uint32_t c)
{
    const struct unit_list *list = &s->l->list[h];
    const struct sums now = exchange_gain_now(s->score);
    const double norm_h[] = {s->l->norm[RES_CPU][h], s->l->norm[RES_MEM][h]};
    const double norm_c[] = {s->l->norm[RES_CPU][c], s->l->norm[RES_MEM][c]};
    const struct parabolas p = exchange_gain_between(s->score, &now, h, norm_h, c, norm_c);
    uint32_t thirds[2 * EXCHANGE_WINDOW];
    uint32_t n = list_thirds(s, h, c, thirds);
    /* of two units, also by way of a third host */
    bool swaps = s->migrations <= 3 && exchange_gain_most(s->score, &p) >= needed(s) &&
                 units_may_pay(s, (const uint32_t[]){h, c, h}, IX_NONE, IX_NONE);

    for (uint32_t i = 0; i < list->n && (swaps || n > 0); i++) {
        uint32_t u = list->items[i];
        if (!spend(s, 10))
            return;
        if (!may_move(s->l, u) || !wants_room(s, u, c))
            continue;
        bool pays = swaps && units_may_pay(s, (const uint32_t[]){h, c, h}, u, IX_NONE);
        if (pays)
            search_swaps(s, &p, h, c, u);
        if (pays && s->migrations == 3)
            search_two_for_one(s, &p, h, c, u);
        for (uint32_t k = 0; k < n; k++) {
            if (!units_may_pay(s, (const uint32_t[]){h, c, thirds[k]}, u, IX_NONE))
                continue;
            if (s->migrations == 2)
                search_chains(s, h, c, thirds[k], u);
            else
                search_rotations(s, h, c, thirds[k], u);
        }
    }
}

static int by_pull(const void *a, const void *b)
{
    const struct exchange_slot *x = a;
    const struct exchange_slot *y = b;

    return x->by != y->by ? (x->by < y->by) - (x->by > y->by) : (x->slot > y->slot) - (x->slot < y->slot);
}

/* How much moving load off the slot lowers the imbalance, by the resource for which that is most. */
static double pull_of(const struct search *s, uint32_t slot, double sign)
{
    const struct layout *l = s->l;
    double most = 0;

    for (int r = 0; r < RES_COUNT; r++) {
        double sigma = layout_load_stddev(l, (enum resource)r);
        double by = sign * s->score->weight[r] * (l->norm[r][slot] - l->sum[r] / l->n_on);
        most = sigma > 0 ? fmax(most, by / sigma) : most;
    }
    return most;
}

static void add_third(struct search *s, uint32_t slot)
{
    for (uint32_t i = 0; i < s->n_third; i++)
        if (s->third[i] == slot)
            return;
    s->third[s->n_third++] = slot;
}

static void list_slots(struct search *s)
{
    const struct layout *l = s->l;
    struct exchange_search *own = s->own;
    struct largest most = {.demand_mem = 0};

    for (uint32_t i = 0; i < l->n_on; i++)
        raise_to_largest(l, i, &most);
    for (uint32_t i = 0; i < l->n_on; i++) {
        double above = pull_of(s, i, 1);
        double below = pull_of(s, i, -1);
        own->roomy[i] = (struct exchange_slot){i, fmin(l->mem_limit[i] - l->mem_taken[i], l->mem_free[i])};
        if (above > 0)
            own->sources[s->n_sources++] = (struct exchange_slot){i, above};
        if (below > 0 && may_lack_room(l, &most, i))
            own->destinations[s->n_destinations++] = (struct exchange_slot){i, below};
        s->stable = fmax(s->stable, migration_cost_stable_time(s->c->costs, i));
    }
    if (l->n_on == 0)
        return;
    qsort(own->sources, s->n_sources, sizeof *own->sources, by_pull);
    qsort(own->destinations, s->n_destinations, sizeof *own->destinations, by_pull);
    qsort(own->roomy, l->n_on, sizeof *own->roomy, by_pull);
    for (uint32_t i = 0; i < l->n_on && i < EXCHANGE_WINDOW; i++)
        add_third(s, own->roomy[i].slot);
    for (uint32_t i = 0; i < s->n_destinations && i < EXCHANGE_WINDOW; i++)
        add_third(s, own->destinations[i].slot);
}

/* The destinations from `first` on, of one source. */
static void search_source(struct search *s, uint32_t h, uint32_t first)
{
    struct largest most = {.demand_mem = 0};

    if (!spend(s, s->l->list[h].n))
        return;
    raise_to_largest(s->l, h, &most);
    for (uint32_t k = first; k < s->n_destinations && k < first + EXCHANGE_WINDOW; k++) {
        uint32_t c = s->own->destinations[k].slot;
        if (c != h && may_lack_room(s->l, &most, c))
            search_pair(s, h, c);
    }
}

/* The destinations in windows, each with all sources. */
static void search_all(struct search *s)
{
    for (uint32_t first = 0; first < s->n_destinations && s->best.steps.n == 0; first += EXCHANGE_WINDOW)
        for (uint32_t i = 0; i < s->n_sources && s->trials > 0; i++) {
            if (i >= EXCHANGE_WINDOW && s->best.steps.n > 0)
                break;
            search_source(s, s->own->sources[i].slot, first);
        }
}

void exchange_search_init(struct exchange_search *own, const struct layout *l)
{
    *own = (struct exchange_search){.trials = EXCHANGE_TRIALS_PASS};
    own->sources = arena_array(l->a, struct exchange_slot, l->n_on);
    own->destinations = arena_array(l->a, struct exchange_slot, l->n_on);
    own->roomy = arena_array(l->a, struct exchange_slot, l->n_on);
}

void exchange_find(struct exchange_search *own, struct climb *c, struct exchange *ret)
{
    struct search s = {.c = c, .l = c->l, .score = &c->score, .own = own};

    *ret = (struct exchange){.unit = IX_NONE};
    move_score_refresh(&c->score, c->l, c->costs);
    list_slots(&s);
    for (s.migrations = 2; s.migrations <= EXCHANGE_STEPS_MAX && s.best.steps.n == 0; s.migrations++) {
        uint64_t most = own->trials < EXCHANGE_TRIALS_STEP ? own->trials : EXCHANGE_TRIALS_STEP;
        s.trials = most;
        search_all(&s);
        own->trials -= most - s.trials;
    }
    *ret = s.best;
}
