/* destination_scores.c: finds and keeps the highest score in each box. */
#include "core/balance/destination_scores.h"

#include "core/balance/destination_index.h"

#include <math.h>

#define NODES_MOST (1u << 22) /* of all boxes: 32 MiB */

/* Values of boxes_of; others are the index of the unit's boxes + BOXES_FIRST. */
enum { BOXES_UNKNOWN, BOXES_NONE, BOXES_FIRST };

/* The boxes of one table of scores. */
struct scored_boxes {
    const double *score; /* by host */
    double *most;        /* by node */
    uint32_t builds;     /* of the trees, when they were found; 0: never */
};

struct destination_scores {
    const struct move_preference *preference;
    const struct layout *l;
    struct arena *a;
    uint32_t *boxes_of; /* by unit */
    struct scored_boxes *items;
    uint32_t n;
    size_t cap;
};

struct destination_scores *destination_scores_new(const struct move_preference *preference,
                                                  const struct layout *l, struct arena *a)
{
    if (!preference || !(preference->price > 0))
        return NULL;
    struct destination_scores *s = arena_new(a, struct destination_scores);

    *s = (struct destination_scores){.preference = preference, .l = l, .a = a};
    s->boxes_of = arena_array(a, uint32_t, l->n_units);
    return s;
}

static double most_of_leaf(const struct destination_index *t, const double *score,
                           const struct destination_class *c, uint32_t leaf)
{
    double most = -INFINITY;

    for (uint32_t i = destination_leaf_start(c, leaf); i < destination_leaf_start(c, leaf + 1); i++) {
        double of = score[t->l->slot_host[t->order[i]]];
        most = of > most ? of : most;
    }
    return most;
}

static void find_most(const struct destination_index *t, struct scored_boxes *b)
{
    for (uint32_t k = 0; k < t->n_classes; k++) {
        const struct destination_class *c = &t->classes[k];
        double *most = b->most + c->first_node;

        for (uint32_t leaf = 0; leaf < c->leaves; leaf++)
            most[c->leaves + leaf] = most_of_leaf(t, b->score, c, leaf);
        for (uint32_t i = c->leaves; i-- > 1;)
            most[i] = most[2 * i] > most[2 * i + 1] ? most[2 * i] : most[2 * i + 1];
    }
    b->builds = t->builds;
}

/* The value of boxes_of for the unit. */
static uint32_t find_boxes(const struct destination_index *t, struct destination_scores *s, uint32_t unit)
{
    double own;
    const double *score = fit_frozen_table(s->preference->frozen, s->l->unit_first[unit], &own);

    if (!score || s->l->unit_from[unit + 1] - s->l->unit_from[unit] > 1)
        return BOXES_NONE;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->items[i].score == score)
            return BOXES_FIRST + i;
    if ((uint64_t)(s->n + 1) * t->n_nodes > NODES_MOST)
        return BOXES_NONE;
    s->items = arena_grow(s->a, s->items, s->n, &s->cap, sizeof *s->items);
    s->items[s->n] = (struct scored_boxes){.score = score, .most = arena_array(s->a, double, t->n_nodes)};
    return BOXES_FIRST + s->n++;
}

struct unit_scores destination_scores_of(const struct destination_index *t, uint32_t unit)
{
    struct destination_scores *s = t->scores;
    struct unit_scores ret = {0};

    if (!s)
        return ret;
    if (s->boxes_of[unit] == BOXES_UNKNOWN)
        s->boxes_of[unit] = find_boxes(t, s, unit);
    if (s->boxes_of[unit] == BOXES_NONE)
        return ret;
    struct scored_boxes *b = &s->items[s->boxes_of[unit] - BOXES_FIRST];

    if (b->builds != t->builds)
        find_most(t, b);
    ret = (struct unit_scores){.most = b->most, .price = s->preference->price};
    ret.score = fit_frozen_table(s->preference->frozen, s->l->unit_first[unit], &ret.own);
    return ret;
}
