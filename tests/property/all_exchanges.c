/* Every exchange that core/balance/exchange.h describes, by brute force. */
#include "all_exchanges.h"

struct search {
    const struct layout *l;
    void (*judge)(void *to, const struct ring *g, uint32_t wait);
    void *to;
};

static bool may_move(const struct layout *l, uint32_t u)
{
    return l->unit_held[u] == CHECK_NONE && l->unit_slot[u] < l->n_on;
}

static void judge_waiting(const struct search *s, const struct ring *g)
{
    s->judge(s->to, g, IX_NONE);
    for (uint32_t t = 0; t < s->l->n_on && g->slot[g->n] == g->slot[0]; t++)
        s->judge(s->to, g, t);
}

static void judge_two(const struct search *s, const struct ring *g)
{
    const struct layout *l = s->l;

    for (uint32_t v = g->unit[1] + 1; v < l->n_units; v++) {
        const struct ring two = {.n = 3,
                                 .unit = {g->unit[0], g->unit[1], v},
                                 .slot = {g->slot[0], g->slot[1], g->slot[0], g->slot[0]},
                                 .two_for_one = true};
        if (may_move(l, v) && l->unit_slot[v] == g->slot[1])
            s->judge(s->to, &two, IX_NONE);
    }
}

static void close_ring(const struct search *s, struct ring *g)
{
    const struct layout *l = s->l;

    judge_two(s, g);
    g->n = 2;
    g->slot[2] = g->slot[0];
    judge_waiting(s, g);
    for (uint32_t x = 0; x < l->n_on; x++) {
        if (x == g->slot[0] || x == g->slot[1])
            continue;
        g->n = 2;
        g->slot[2] = x;
        judge_waiting(s, g);
        for (uint32_t v = 0; v < l->n_units; v++) {
            if (!may_move(l, v) || l->unit_slot[v] != x)
                continue;
            g->n = 3;
            g->unit[2] = v;
            g->slot[3] = g->slot[0];
            judge_waiting(s, g);
        }
    }
}

void all_exchanges(const struct layout *l, void (*judge)(void *to, const struct ring *g, uint32_t wait),
                   void *to)
{
    const struct search s = {l, judge, to};

    for (uint32_t u = 0; u < l->n_units; u++)
        for (uint32_t w = 0; w < l->n_units && may_move(l, u); w++) {
            if (!may_move(l, w) || l->unit_slot[w] == l->unit_slot[u])
                continue;
            struct ring g = {.unit = {u, w}, .slot = {l->unit_slot[u], l->unit_slot[w]}};
            close_ring(&s, &g);
        }
}
