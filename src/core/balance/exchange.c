/* Finds the best exchange: takes sources, destinations and units in the order of their possible gain.
 * exchange_rings.c tries the exchanges of a unit. */
#include "core/balance/exchange.h"

#include "core/balance/exchange_rings.h"

#include <stdlib.h>

/* A gain below all others. */
#define NO_GAIN (-1e9)

/* ---- hosts ---- */

/* The most that any one unit of some hosts needs, of each amount. */
struct largest {
    struct exchange_amounts of;
    double demand_mem;
};

static void raise_to_largest(const struct layout *l, uint32_t slot, struct largest *most)
{
    for (uint32_t i = 0; i < l->list[slot].n; i++) {
        uint32_t u = l->list[slot].items[i];
        if (!exchange_rings_may_move(l, u))
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

/* Whether the slot may lack room for one of the units: where it does not, nothing is searched. */
static bool may_lack_room(const struct layout *l, const struct largest *most, uint32_t slot)
{
    const struct exchange_amounts none = {.mem = 0};
    bool reserves =
        most->of.reserved[RES_CPU] > 0 || most->of.reserved[RES_MEM] > 0 || l->snap->promise.by_admission;

    return (l->failover.active && reserves) || !exchange_room_holds_amounts(l, slot, &most->of, &none) ||
           l->norm[RES_MEM][slot] + most->demand_mem * l->inverse[RES_MEM][slot] > headroom_from(l);
}

static bool may_lack_room_for(const struct layout *l, uint32_t unit, uint32_t slot)
{
    return may_lack_room(
        l, &(struct largest){exchange_room_of(l, unit, IX_NONE), l->unit_demand[RES_MEM][unit]}, slot);
}

/* Whether single moves of the unit to the slot fail for want of room: the slot cannot hold it beside the
 * units that are there, or it would use memory that its headroom should keep free. */
static bool wants_room(const struct exchange_rings *s, uint32_t unit, uint32_t slot)
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

/* ---- pairs of hosts ---- */

/* A source and a destination, and the third slots with which chains or rotations of them could gain enough.
 */
struct pair {
    uint32_t h, c;
    struct parabolas p; /* the gain of load that moves from h to c */
    double most;        /* upper bound of the gain of swaps, and of two for one; NO_GAIN: they cannot pay */
    double surplus;     /* upper bound of what the units that return in them add to the surplus */
    uint32_t third[2 * EXCHANGE_WINDOW];
    double third_most[2 * EXCHANGE_WINDOW];    /* upper bounds of the gain of three slots */
    double third_surplus[2 * EXCHANGE_WINDOW]; /* and of what the other units add to the surplus */
    uint32_t n_thirds;
    double thirds_most, room; /* the largest of these; the most that a third slot has left */
    double thirds_surplus;    /* upper bound of what all other units of these exchanges add to the surplus */
};

static void list_thirds(struct exchange_rings *s, struct pair *pair)
{
    const struct exchange_relief *relief = &s->own->relief;

    pair->thirds_most = NO_GAIN;
    pair->room = -NO_LIMIT;
    pair->thirds_surplus = -NO_LIMIT;
    for (uint32_t i = 0; i < s->n_third; i++) {
        const uint32_t slots[] = {pair->h, pair->c, s->third[i]};
        double surplus = relief->most[pair->c] + (s->migrations == 2 ? 0 : relief->most[slots[2]]);
        if (slots[2] == slots[0] || slots[2] == slots[1] ||
            !exchange_relief_may_pay(relief, relief->most[pair->h] + surplus) || !exchange_rings_spend(s, 1))
            continue;
        double most = exchange_gain_most_among(s->score, slots);
        if (most < s->needed)
            continue;
        pair->third[pair->n_thirds] = slots[2];
        pair->third_surplus[pair->n_thirds] = surplus;
        pair->third_most[pair->n_thirds++] = most;
        pair->thirds_surplus = fmax(pair->thirds_surplus, surplus);
        pair->thirds_most = fmax(pair->thirds_most, most);
        pair->room = fmax(pair->room, exchange_rings_left(s, slots[2]));
    }
}

static void begin_pair(struct exchange_rings *s, uint32_t h, uint32_t c, struct pair *pair)
{
    const struct layout *l = s->l;
    const struct exchange_relief *relief = &s->own->relief;
    const struct sums now = exchange_gain_now(s->score);
    const double norm_h[] = {l->norm[RES_CPU][h], l->norm[RES_MEM][h]};
    const double norm_c[] = {l->norm[RES_CPU][c], l->norm[RES_MEM][c]};

    *pair = (struct pair){
        .h = h, .c = c, .p = exchange_gain_between(s->score, &now, h, norm_h, c, norm_c), .most = NO_GAIN};
    pair->surplus = s->migrations == 3 ? fmax(relief->most[c], relief->all[c]) : relief->most[c];
    list_thirds(s, pair);
    if (s->migrations <= 3 && exchange_relief_may_pay(relief, relief->most[h] + pair->surplus))
        pair->most = exchange_gain_most(s->score, &pair->p);
}

/* Whether the sizes leave a unit of c with which u could change places. */
static bool may_exchange(const struct exchange_rings *s, const struct pair *pair, uint32_t u, bool swaps)
{
    double made = fmax(exchange_rings_left(s, pair->h) + exchange_rings_size(s, u), 0);
    double room = pair->room + (s->migrations == 2 ? 0 : made + EXCHANGE_ROUNDING);

    if (swaps && (s->migrations == 3 || exchange_rings_making_room(s, pair->c, u, made).n > 0))
        return true;
    return pair->thirds_most >= s->needed && exchange_rings_making_room(s, pair->c, u, room).n > 0;
}

/* A unit of the source, which might leave for the destination. */
static void search_leaver(struct exchange_rings *s, const struct pair *pair,
                          const struct exchange_leaver *leaver)
{
    uint32_t h = pair->h;
    uint32_t c = pair->c;
    uint32_t u = leaver->unit;
    const struct exchange_relief *relief = &s->own->relief;
    bool swaps =
        leaver->most >= s->needed && exchange_relief_may_pay(relief, relief->surplus[u] + pair->surplus);

    if (!may_exchange(s, pair, u, swaps) || !exchange_rings_spend(s, 10) || !wants_room(s, u, c))
        return;
    if (swaps)
        exchange_rings_swaps(s, &pair->p, h, c, u);
    if (swaps && s->migrations == 3)
        exchange_rings_two_for_one(s, &pair->p, h, c, u);
    const struct exchange_with_unit state = exchange_rings_with(s, h, c, u);
    for (uint32_t k = 0; k < pair->n_thirds; k++) {
        const uint32_t slots[] = {h, c, pair->third[k]};
        if (pair->third_most[k] < s->needed ||
            !exchange_relief_may_pay(relief, relief->surplus[u] + pair->third_surplus[k]))
            continue;
        if (s->migrations == 2)
            exchange_rings_chains(s, &state, slots, u);
        else
            exchange_rings_rotations(s, h, c, slots[2], u);
    }
}

/* Whether x comes before y. */
static bool comes_first(const struct exchange_leaver *x, const struct exchange_leaver *y)
{
    if (x->most != y->most)
        return x->most > y->most;
    return x->pair != y->pair ? x->pair < y->pair : x->unit < y->unit;
}

/* Puts the leaver at i where it belongs in a heap whose first one comes before all others. */
static void sink(struct exchange_leaver *heap, uint32_t n, uint32_t i)
{
    const struct exchange_leaver is = heap[i];

    for (uint32_t child = 2 * i + 1; child < n; child = 2 * i + 1) {
        if (child + 1 < n && comes_first(&heap[child + 1], &heap[child]))
            child++;
        if (!comes_first(&heap[child], &is))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = is;
}

/* Adds the units of the source that may leave for the destination to the first n leavers; returns how many
 * there are then. */
static uint32_t list_leavers(struct exchange_rings *s, const struct pair *pairs, uint32_t i, uint32_t n)
{
    const struct layout *l = s->l;
    const struct pair *pair = &pairs[i];
    const struct unit_list *list = &l->list[pair->h];
    struct exchange_search *own = s->own;

    for (uint32_t k = 0; k < list->n; k++) {
        uint32_t u = list->items[k];
        double surplus = own->relief.surplus[u];
        bool thirds = pair->thirds_most >= s->needed &&
                      exchange_relief_may_pay(&own->relief, surplus + pair->thirds_surplus);
        bool swaps =
            pair->most >= s->needed && exchange_relief_may_pay(&own->relief, surplus + pair->surplus);
        if (!exchange_rings_may_move(l, u) || !(swaps || thirds) || !may_lack_room_for(l, u, pair->c))
            continue;
        double most = NO_GAIN;
        if (swaps)
            most = fmin(exchange_gain_most_up_to(s->score, &pair->p, l->unit_demand[RES_CPU][u],
                                                 l->unit_demand[RES_MEM][u]),
                        pair->most);
        if (most < s->needed && !thirds)
            continue;
        own->leavers = arena_grow(l->a, own->leavers, n, &own->cap_leavers, sizeof *own->leavers);
        own->leavers[n++] = (struct exchange_leaver){i, u, most};
    }
    return n;
}

/* Tries the units of some sources for some destinations, in the order of their possible gain, so that the
 * gain of the first rules out most others. */
static void search_leavers(struct exchange_rings *s, const struct pair *pairs, uint32_t n_pairs)
{
    double thirds_most = NO_GAIN;
    uint32_t n = 0;

    for (uint32_t i = 0; i < n_pairs; i++) {
        if ((pairs[i].most < s->needed && pairs[i].thirds_most < s->needed) ||
            !exchange_rings_spend(s, s->l->list[pairs[i].h].n))
            continue;
        n = list_leavers(s, pairs, i, n);
        thirds_most = fmax(thirds_most, pairs[i].thirds_most);
    }
    struct exchange_leaver *heap = s->own->leavers;
    for (uint32_t i = n / 2; i-- > 0;)
        sink(heap, n, i);
    while (n > 0 && s->trials > 0 && (heap[0].most >= s->needed || thirds_most >= s->needed)) {
        const struct exchange_leaver first = heap[0];
        heap[0] = heap[--n];
        sink(heap, n, 0);
        if (first.most >= s->needed || pairs[first.pair].thirds_most >= s->needed)
            search_leaver(s, &pairs[first.pair], &first);
    }
}

static int by_pull(const void *a, const void *b)
{
    const struct exchange_slot *x = a;
    const struct exchange_slot *y = b;

    return x->by != y->by ? (x->by < y->by) - (x->by > y->by) : (x->slot > y->slot) - (x->slot < y->slot);
}

/* How much moving load off the slot lowers the imbalance, by the resource for which that is most. */
static double pull_of(const struct exchange_rings *s, uint32_t slot, double sign)
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

static void add_third(struct exchange_rings *s, uint32_t slot)
{
    for (uint32_t i = 0; i < s->n_third; i++)
        if (s->third[i] == slot)
            return;
    s->third[s->n_third++] = slot;
}

static void list_slots(struct exchange_rings *s)
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
    for (uint32_t i = 0; i < s->n_third; i++)
        exchange_room_sort(&own->room, s->third[i]);
}

/* The sources from `first_h` on, for the destinations from `first_c` on. */
static void search_window(struct exchange_rings *s, uint32_t first_h, uint32_t first_c)
{
    struct pair pairs[EXCHANGE_WINDOW * EXCHANGE_WINDOW];
    uint32_t n = 0;

    for (uint32_t i = first_h; i < s->n_sources && i < first_h + EXCHANGE_WINDOW; i++) {
        struct largest most = {.demand_mem = 0};
        uint32_t h = s->own->sources[i].slot;
        if (!exchange_rings_spend(s, s->l->list[h].n))
            break;
        raise_to_largest(s->l, h, &most);
        for (uint32_t k = first_c; k < s->n_destinations && k < first_c + EXCHANGE_WINDOW; k++) {
            uint32_t c = s->own->destinations[k].slot;
            if (c != h && may_lack_room(s->l, &most, c))
                begin_pair(s, h, c, &pairs[n++]);
        }
    }
    search_leavers(s, pairs, n);
}

/* The destinations in windows, each with all sources until there is an exchange. */
static void search_all(struct exchange_rings *s)
{
    for (uint32_t c = 0; c < s->n_destinations && s->best.steps.n == 0; c += EXCHANGE_WINDOW) {
        for (uint32_t k = c; k < s->n_destinations && k < c + EXCHANGE_WINDOW; k++)
            exchange_room_sort(&s->own->room, s->own->destinations[k].slot);
        for (uint32_t h = 0; h < s->n_sources && s->trials > 0 && s->best.steps.n == 0; h += EXCHANGE_WINDOW)
            search_window(s, h, c);
    }
}

void exchange_search_init(struct exchange_search *own, const struct layout *l)
{
    *own = (struct exchange_search){.trials = EXCHANGE_TRIALS_PASS};
    own->sources = arena_array(l->a, struct exchange_slot, l->n_on);
    own->destinations = arena_array(l->a, struct exchange_slot, l->n_on);
    own->roomy = arena_array(l->a, struct exchange_slot, l->n_on);
    exchange_relief_init(&own->relief, l);
    exchange_room_init(&own->room, l);
}

void exchange_find(struct exchange_search *own, struct climb *c, struct exchange *ret)
{
    struct exchange_rings s = {.c = c, .l = c->l, .score = &c->score, .own = own};

    *ret = (struct exchange){.unit = IX_NONE};
    move_score_refresh(&c->score, c->l, c->costs);
    exchange_relief_refresh(&own->relief, c->costs);
    list_slots(&s);
    for (s.migrations = 2; s.migrations <= EXCHANGE_STEPS_MAX && s.best.steps.n == 0; s.migrations++) {
        uint64_t most = own->trials < EXCHANGE_TRIALS_STEP ? own->trials : EXCHANGE_TRIALS_STEP;
        s.trials = most;
        exchange_rings_set_needed(&s);
        search_all(&s);
        own->trials -= most - s.trials - s.spared;
    }
    *ret = s.best;
}
