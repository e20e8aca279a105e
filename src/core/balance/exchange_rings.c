/* Enumerates swaps, chains, rotations and two for one, within upper bounds of the gain and limits of sizes.
 * exchange_order.c puts an exchange in order and checks it. */
#include "core/balance/exchange_rings.h"

/* A trial of all checks counts as so many trials of a gain; of what it could pay at most: as a fifth. */
#define CHECKS_TRIALS 100

void exchange_rings_set_needed(struct exchange_rings *s)
{
    double least = fmax(s->score->goodness * s->migrations, GAIN_LEAST);

    s->needed = s->best.steps.n > 0 ? fmax(s->best.gain - GAIN_LEAST, least) : least;
}

/* ---- trials ---- */

/* Whether units u and w may pay, with others whose surplus is at most this. */
static bool may_pay(const struct exchange_rings *s, uint32_t u, uint32_t w, double others)
{
    const struct exchange_relief *r = &s->own->relief;

    return exchange_relief_may_pay(r, r->surplus[u] + r->surplus[w] + others);
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

static bool is_better(const struct exchange_rings *s, const struct exchange *x, const struct ring *g)
{
    const struct exchange *than = &s->best;

    if (than->steps.n == 0 || fabs(x->gain - than->gain) > GAIN_LEAST)
        return than->steps.n == 0 || x->gain > than->gain;
    if (x->copy_cost != than->copy_cost)
        return x->copy_cost < than->copy_cost;
    return has_lower_ids(s->l, g, &s->best_ring);
}

/* With each unit moving once, or one of them waiting on the first slot on which it can. */
static bool find_order(struct exchange_rings *s, const struct ring *g, struct exchange *x)
{
    if (s->migrations == g->n)
        return exchange_rings_spend(s, CHECKS_TRIALS) && exchange_order_find(s->c, g, IX_NONE, x);
    for (uint32_t i = 0; i < s->n_third; i++)
        if (exchange_rings_spend(s, CHECKS_TRIALS) && exchange_order_find(s->c, g, s->third[i], x))
            return true;
    return false;
}

/* Takes the ring if it is better than the best so far and passes all checks. */
static void try_ring(struct exchange_rings *s, const struct ring *g, double gain)
{
    const struct move_preference *preference = s->score->preference;
    struct exchange x = {.unit = g->unit[0], .gain = gain};

    for (uint32_t i = 0; i < g->n; i++) {
        if (preference)
            x.gain -= move_preference_cost(preference, g->unit[i], ring_to(g, i));
        x.copy_cost += s->c->costs->least[g->unit[i]];
    }
    if (!(x.gain >= s->needed) || !is_better(s, &x, g))
        return;
    struct exchange_steps steps = {.n = g->n};
    for (uint32_t i = 0; i < g->n; i++) {
        steps.unit[i] = g->unit[i];
        steps.to_slot[i] = ring_to(g, i);
    }
    if (s->l->policy->cost_benefit &&
        (!exchange_rings_spend(s, CHECKS_TRIALS / 5) || !exchange_cost_may_pay(s->c->costs, &steps)))
        return;
    if (!find_order(s, g, &x))
        return;
    if (s->best.steps.n == 0 && s->trials > EXCHANGE_TRIALS_BETTER) {
        s->spared = s->trials - EXCHANGE_TRIALS_BETTER;
        s->trials = EXCHANGE_TRIALS_BETTER;
    }
    s->best = x;
    s->best_ring = *g;
    exchange_rings_set_needed(s);
}

/* ---- exchanges of two and three ---- */

struct exchange_units exchange_rings_making_room(const struct exchange_rings *s, uint32_t c, uint32_t u,
                                                 double room)
{
    return exchange_room_within(
        &s->own->room, c, exchange_room_sizes(exchange_rings_size(s, u), exchange_rings_left(s, c), room));
}

void exchange_rings_swaps(struct exchange_rings *s, const struct parabolas *p, uint32_t h, uint32_t c,
                          uint32_t u)
{
    const struct layout *l = s->l;
    const struct exchange_units list =
        exchange_rings_making_room(s, c, u, exchange_rings_left(s, h) + exchange_rings_size(s, u));

    if (!exchange_rings_spend(s, list.n))
        return;
    for (uint32_t i = 0; i < list.n; i++) {
        uint32_t w = list.units[i].unit;
        if (!may_pay(s, u, w, 0))
            continue;
        double gain = exchange_gain_at(s->score, p, l->unit_demand[RES_CPU][u] - l->unit_demand[RES_CPU][w],
                                       l->unit_demand[RES_MEM][u] - l->unit_demand[RES_MEM][w]);
        if (!(gain >= s->needed) || !exchange_rings_may_move(l, w) || !exchange_room_holds(l, c, u, w) ||
            !exchange_room_holds(l, h, w, u))
            continue;
        try_ring(s, &(struct ring){.n = 2, .unit = {u, w}, .slot = {h, c, h}}, gain);
    }
}

struct exchange_with_unit exchange_rings_with(const struct exchange_rings *s, uint32_t h, uint32_t c,
                                              uint32_t u)
{
    struct exchange_with_unit ret = {.sums = exchange_gain_now(s->score)};

    exchange_gain_shift(s->score, &ret.sums, h, u, IX_NONE);
    exchange_gain_shift(s->score, &ret.sums, c, IX_NONE, u);
    for (int r = 0; r < RES_COUNT; r++)
        ret.norm_c[r] = exchange_gain_norm(s->score, r, c, IX_NONE, u);
    return ret;
}

void exchange_rings_chains(struct exchange_rings *s, const struct exchange_with_unit *state,
                           const uint32_t slots[3], uint32_t u)
{
    const struct layout *l = s->l;
    uint32_t c = slots[1];
    uint32_t x = slots[2];
    const double norm_x[] = {l->norm[RES_CPU][x], l->norm[RES_MEM][x]};
    const struct parabolas p = exchange_gain_between(s->score, &state->sums, c, state->norm_c, x, norm_x);

    if (!exchange_rings_spend(s, 1) || exchange_gain_most(s->score, &p) < s->needed)
        return;
    const struct exchange_units list = exchange_rings_making_room(s, c, u, exchange_rings_left(s, x));
    if (!exchange_rings_spend(s, list.n))
        return;
    for (uint32_t i = 0; i < list.n; i++) {
        uint32_t w = list.units[i].unit;
        if (!may_pay(s, u, w, 0))
            continue;
        double gain = exchange_gain_at(s->score, &p, l->unit_demand[RES_CPU][w], l->unit_demand[RES_MEM][w]);
        if (!(gain >= s->needed) || !exchange_rings_may_move(l, w) ||
            !exchange_room_holds(l, x, w, IX_NONE) || !exchange_room_holds(l, c, u, w))
            continue;
        try_ring(s, &(struct ring){.n = 2, .unit = {u, w}, .slot = {slots[0], c, x}}, gain);
    }
}

/* The last unit of a rotation, from x to h. */
static void search_last(struct exchange_rings *s, const struct parabolas *p, struct ring *g,
                        const struct exchange_units *list)
{
    const struct layout *l = s->l;

    if (!exchange_rings_spend(s, list->n))
        return;
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t v = list->units[i].unit;
        if (!may_pay(s, g->unit[0], g->unit[1], s->own->relief.surplus[v]))
            continue;
        double gain = exchange_gain_at(s->score, p, l->unit_demand[RES_CPU][v], l->unit_demand[RES_MEM][v]);
        if (!(gain >= s->needed) || !exchange_rings_may_move(l, v) ||
            !exchange_room_holds(l, g->slot[2], g->unit[1], v) ||
            !exchange_room_holds(l, g->slot[0], v, g->unit[0]))
            continue;
        g->unit[2] = v;
        try_ring(s, g, gain);
    }
}

void exchange_rings_rotations(struct exchange_rings *s, uint32_t h, uint32_t c, uint32_t x, uint32_t u)
{
    double room = exchange_rings_left(s, h) + exchange_rings_size(s, u); /* for v */
    const struct exchange_units list =
        exchange_rings_making_room(s, c, u, exchange_rings_left(s, x) + fmax(room, 0) + EXCHANGE_ROUNDING);

    if (!exchange_rings_spend(s, list.n))
        return;
    for (uint32_t i = 0; i < list.n; i++) {
        struct ring g = {.n = 3, .unit = {u, list.units[i].unit, IX_NONE}, .slot = {h, c, x, h}};
        if (!may_pay(s, u, g.unit[1], s->own->relief.most[x]) || !exchange_rings_may_move(s->l, g.unit[1]) ||
            !exchange_room_holds(s->l, c, u, g.unit[1]))
            continue;
        const struct exchange_units last = exchange_rings_making_room(s, x, g.unit[1], room);
        if (last.n == 0)
            continue;
        struct sums sums = exchange_gain_now(s->score);
        double norm_x[RES_COUNT];
        double norm_h[RES_COUNT];
        exchange_gain_shift(s->score, &sums, h, u, IX_NONE);
        exchange_gain_shift(s->score, &sums, c, g.unit[1], u);
        exchange_gain_shift(s->score, &sums, x, IX_NONE, g.unit[1]);
        for (int r = 0; r < RES_COUNT; r++) {
            norm_x[r] = exchange_gain_norm(s->score, r, x, IX_NONE, g.unit[1]);
            norm_h[r] = exchange_gain_norm(s->score, r, h, u, IX_NONE);
        }
        const struct parabolas p = exchange_gain_between(s->score, &sums, x, norm_x, h, norm_h);
        if (exchange_gain_most(s->score, &p) >= s->needed)
            search_last(s, &p, &g, &last);
    }
}

void exchange_rings_two_for_one(struct exchange_rings *s, const struct parabolas *p, uint32_t h, uint32_t c,
                                uint32_t u)
{
    const struct layout *l = s->l;
    const struct exchange_sorted *all = &s->own->room.sorted[c];
    const struct exchange_amounts one = exchange_room_of(l, u, IX_NONE);
    double room = exchange_rings_left(s, h) + exchange_rings_size(s, u);
    const struct exchange_relief *relief = &s->own->relief;

    for (uint32_t i = 0; i < all->n; i++) {
        uint32_t w = all->units[i].unit;
        double paid = relief->surplus[u] + relief->all[c] - relief->price * s->c->costs->least[w];
        if (!exchange_relief_may_pay(relief, paid) || !exchange_rings_may_move(l, w))
            continue;
        double size = all->units[i].size;
        double cpu = l->unit_demand[RES_CPU][u] - l->unit_demand[RES_CPU][w];
        double mem = l->unit_demand[RES_MEM][u] - l->unit_demand[RES_MEM][w];
        struct exchange_sizes sizes =
            exchange_room_sizes(exchange_rings_size(s, u), exchange_rings_left(s, c) + size, room - size);
        const struct exchange_units list = exchange_room_within(&s->own->room, c, sizes);
        if (list.n == 0 || exchange_room_holds(l, c, u, w) ||
            exchange_gain_most_up_to(s->score, p, cpu, mem) < s->needed)
            continue;
        if (!exchange_rings_spend(s, list.n))
            return;
        for (uint32_t k = 0; k < list.n; k++) {
            uint32_t v = list.units[k].unit;
            if (!exchange_relief_may_pay(relief, paid - relief->price * s->c->costs->least[v]))
                continue;
            double gain = exchange_gain_at(s->score, p, cpu - l->unit_demand[RES_CPU][v],
                                           mem - l->unit_demand[RES_MEM][v]);
            const struct exchange_amounts two = exchange_room_of(l, w, v);
            if (&list.units[k] <= &all->units[i] || !(gain >= s->needed) || !exchange_rings_may_move(l, v) ||
                !exchange_room_holds_amounts(l, c, &one, &two) ||
                !exchange_room_holds_amounts(l, h, &two, &one) || exchange_room_holds(l, c, u, v))
                continue;
            try_ring(s, &(struct ring){.n = 3, .unit = {u, w, v}, .slot = {h, c, h, h}, .two_for_one = true},
                     gain);
        }
    }
}
