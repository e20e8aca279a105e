/* Builds and updates the k-d trees of destinations. destination_search.c searches them. */
#include "core/balance/destination_index.h"

#include <stdlib.h>

#define LEAF_HOSTS 4   /* scanning so few hosts is as fast as another level of boxes */
#define STACK_MAX 64   /* twice the depth of a tree over 2^31 leaves */
#define REBUILD_PART 4 /* a tree is rebuilt when this fraction (1 / 4) of the hosts has changed */
#define REBUILD_LEAST 16
#define RATE_BANDS 16

/* ---- building ---- */

struct slot_class {
    double inverse[RES_COUNT];
    uint32_t band; /* of the copy rate */
    uint32_t slot;
};

static int compare_classes(const void *a, const void *b)
{
    const struct slot_class *x = a;
    const struct slot_class *y = b;

    for (int r = 0; r < RES_COUNT; r++)
        if (x->inverse[r] != y->inverse[r])
            return x->inverse[r] < y->inverse[r] ? -1 : 1;
    if (x->band != y->band)
        return x->band < y->band ? -1 : 1;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

static bool same_class(const struct slot_class *x, const struct slot_class *y)
{
    return x->inverse[RES_CPU] == y->inverse[RES_CPU] && x->inverse[RES_MEM] == y->inverse[RES_MEM] &&
           x->band == y->band;
}

static uint32_t leaves_for(uint32_t n)
{
    uint32_t leaves = 1;

    while (leaves * LEAF_HOSTS < n)
        leaves *= 2;
    return leaves;
}

static void swap(uint32_t *x, uint32_t *y)
{
    uint32_t keep = *x;

    *x = *y;
    *y = keep;
}

/* Three-way quickselect: puts the k smallest by the axis first. */
static void select_by(const struct layout *l, uint32_t *slots, uint32_t n, uint32_t k, int axis)
{
    const double *norm = l->norm[axis];
    uint32_t from = 0;
    uint32_t to = n;

    while (to - from > 1) {
        double pivot = norm[slots[from + (to - from) / 2]];
        uint32_t less = from;
        uint32_t greater = to;
        for (uint32_t i = from; i < greater;) {
            if (norm[slots[i]] < pivot)
                swap(&slots[i++], &slots[less++]);
            else if (norm[slots[i]] > pivot)
                swap(&slots[i], &slots[--greater]);
            else
                i++;
        }
        if (k < less)
            to = less;
        else if (k >= greater)
            from = greater;
        else
            return;
    }
}

static void split(const struct destination_index *t, const struct destination_class *c, uint32_t leaf,
                  uint32_t n_leaves, int axis)
{
    if (n_leaves == 1)
        return;
    uint32_t from = destination_leaf_start(c, leaf);
    uint32_t mid = destination_leaf_start(c, leaf + n_leaves / 2);
    uint32_t to = destination_leaf_start(c, leaf + n_leaves);

    select_by(t->l, t->order + from, to - from, mid - from, axis);
    split(t, c, leaf, n_leaves / 2, !axis);
    split(t, c, leaf + n_leaves / 2, n_leaves / 2, !axis);
}

static double room_of(const struct layout *l, uint32_t slot)
{
    return l->mem_limit[slot] - l->mem_taken[slot];
}

static struct destination_node leaf_box(const struct destination_index *t, const struct destination_class *c,
                                        uint32_t leaf)
{
    struct destination_node box = {.least = {NO_LIMIT, NO_LIMIT},
                                   .room_mb = -NO_LIMIT,
                                   .free_mb = -NO_LIMIT,
                                   .left = {-NO_LIMIT, -NO_LIMIT}};

    for (uint32_t i = destination_leaf_start(c, leaf); i < destination_leaf_start(c, leaf + 1); i++) {
        uint32_t s = t->order[i];
        for (int r = 0; r < RES_COUNT; r++) {
            double left = t->l->snap->hosts[t->l->slot_host[s]].capacity[r] - t->l->reserved[r][s];
            box.least[r] = t->l->norm[r][s] < box.least[r] ? t->l->norm[r][s] : box.least[r];
            box.left[r] = left > box.left[r] ? left : box.left[r];
        }
        box.room_mb = room_of(t->l, s) > box.room_mb ? room_of(t->l, s) : box.room_mb;
        box.free_mb = t->l->mem_free[s] > box.free_mb ? t->l->mem_free[s] : box.free_mb;
        box.rate_mb_s = t->into[s] > box.rate_mb_s ? t->into[s] : box.rate_mb_s;
    }
    return box;
}

static struct destination_node join(const struct destination_node *x, const struct destination_node *y)
{
    struct destination_node box = *x;

    for (int r = 0; r < RES_COUNT; r++) {
        box.least[r] = y->least[r] < box.least[r] ? y->least[r] : box.least[r];
        box.left[r] = y->left[r] > box.left[r] ? y->left[r] : box.left[r];
    }
    box.room_mb = y->room_mb > box.room_mb ? y->room_mb : box.room_mb;
    box.free_mb = y->free_mb > box.free_mb ? y->free_mb : box.free_mb;
    box.rate_mb_s = y->rate_mb_s > box.rate_mb_s ? y->rate_mb_s : box.rate_mb_s;
    return box;
}

static void build_class(struct destination_index *t, const struct destination_class *c)
{
    struct destination_node *nodes = t->nodes + c->first_node;

    split(t, c, 0, c->leaves, RES_CPU);
    for (uint32_t i = 0; i < c->n; i++)
        t->position[t->order[c->from + i]] = c->from + i;
    for (uint32_t leaf = 0; leaf < c->leaves; leaf++)
        nodes[c->leaves + leaf] = leaf_box(t, c, leaf);
    for (uint32_t i = c->leaves; i-- > 1;)
        nodes[i] = join(&nodes[2 * i], &nodes[2 * i + 1]);
}

static void build(struct destination_index *t)
{
    for (uint32_t i = 0; i < t->n_classes; i++)
        build_class(t, &t->classes[i]);
    t->changes = 0;
    t->builds++;
}

/* Sixteen bands of copy rates in geometric progression: each is (most / least)^(1/16) times the one before.
 */
static double band_width(const struct layout *l, const double *into, double *ret_least)
{
    double most = 0;

    *ret_least = NO_LIMIT;
    for (uint32_t i = 0; i < l->n_on; i++) {
        most = fmax(most, into[i]);
        *ret_least = fmin(*ret_least, into[i]);
    }
    return most > *ret_least ? sqrt(sqrt(sqrt(sqrt(most / *ret_least)))) : 1;
}

static uint32_t band_of(double rate, double least, double width)
{
    uint32_t band = 0;

    for (double edge = least * width; width > 1 && rate > edge && band + 1 < RATE_BANDS; edge *= width)
        band++;
    return band;
}

void destination_index_init(struct destination_index *t, const struct layout *l, const double *into,
                            const struct move_preference *preference, struct arena *a)
{
    struct slot_class *by_class = arena_array(a, struct slot_class, l->n_on);

    double least;
    double width = band_width(l, into, &least);

    *t = (struct destination_index){.l = l, .into = into, .scores = destination_scores_new(preference, l, a)};
    for (uint32_t i = 0; i < l->n_on; i++)
        by_class[i] = (struct slot_class){
            {l->inverse[RES_CPU][i], l->inverse[RES_MEM][i]}, band_of(into[i], least, width), i};
    qsort(by_class, l->n_on, sizeof by_class[0], compare_classes);
    t->classes = arena_array(a, struct destination_class, l->n_on);
    t->class_of = arena_array(a, uint32_t, l->n_on);
    t->order = arena_array(a, uint32_t, l->n_on);
    t->position = arena_array(a, uint32_t, l->n_on);
    for (uint32_t i = 0; i < l->n_on; i++) {
        if (i == 0 || !same_class(&by_class[i], &by_class[i - 1]))
            t->classes[t->n_classes++] = (struct destination_class){
                .inverse = {by_class[i].inverse[RES_CPU], by_class[i].inverse[RES_MEM]}, .from = i};
        t->classes[t->n_classes - 1].n++;
        t->class_of[by_class[i].slot] = t->n_classes - 1;
        t->order[i] = by_class[i].slot;
    }
    for (uint32_t i = 0; i < t->n_classes; i++) {
        t->classes[i].leaves = leaves_for(t->classes[i].n);
        t->classes[i].first_node = t->n_nodes;
        t->n_nodes += 2 * t->classes[i].leaves;
    }
    t->nodes = arena_array(a, struct destination_node, t->n_nodes);
    build(t);
}

void destination_index_update(struct destination_index *t, uint32_t slot)
{
    const struct destination_class *c = &t->classes[t->class_of[slot]];
    struct destination_node *nodes = t->nodes + c->first_node;
    uint32_t place = t->position[slot] - c->from;
    /* the leaf whose range holds the index; the division may be off by one */
    uint32_t leaf = (uint32_t)((uint64_t)place * c->leaves / c->n);

    while (leaf + 1 < c->leaves && destination_leaf_start(c, leaf + 1) - c->from <= place)
        leaf++;
    nodes[c->leaves + leaf] = leaf_box(t, c, leaf);
    for (uint32_t i = (c->leaves + leaf) / 2; i >= 1; i /= 2)
        nodes[i] = join(&nodes[2 * i], &nodes[2 * i + 1]);
    t->changes++;
}

void destination_index_refresh(struct destination_index *t)
{
    if (t->changes < REBUILD_LEAST || t->changes < t->l->n_on / REBUILD_PART)
        return;
    build(t);
}

uint32_t destination_index_find_colder(const struct destination_index *t, uint32_t slot)
{
    const struct destination_class *c = &t->classes[t->class_of[slot]];
    const struct destination_node *nodes = t->nodes + c->first_node;
    double cpu = t->l->norm[RES_CPU][slot];
    double mem = t->l->norm[RES_MEM][slot];
    uint32_t stack[STACK_MAX] = {1};
    uint32_t depth = 1;

    while (depth > 0) {
        uint32_t i = stack[--depth];
        if (nodes[i].least[RES_CPU] > cpu || nodes[i].least[RES_MEM] > mem)
            continue;
        if (i < c->leaves) {
            stack[depth++] = 2 * i + 1;
            stack[depth++] = 2 * i;
            continue;
        }
        for (uint32_t p = destination_leaf_start(c, i - c->leaves);
             p < destination_leaf_start(c, i - c->leaves + 1); p++)
            if (t->order[p] != slot && t->l->norm[RES_CPU][t->order[p]] <= cpu &&
                t->l->norm[RES_MEM][t->order[p]] <= mem)
                return t->order[p];
    }
    return IX_NONE;
}
