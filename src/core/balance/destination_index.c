/* Builds and updates the k-d trees of destinations; searches them for the best destination of a unit. */
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

/* ---- searching ---- */

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

static double box_gain(const struct move_score *score, const struct move_trial *trial,
                       const struct destination_class *c, const struct destination_node *box)
{
    return score->imbalance - move_trial_imbalance(trial, box->least, c->inverse);
}

/* A depth-first walk through a tree, the child with the higher bound first. */
struct walk {
    uint32_t node[STACK_MAX];
    double bound[STACK_MAX];
    uint32_t depth;
};

static void push_children(struct walk *w, const struct destination_node *nodes, uint32_t i,
                          const struct move_score *score, const struct move_trial *trial,
                          const struct destination_class *c)
{
    double left = box_gain(score, trial, c, &nodes[2 * i]);
    double right = box_gain(score, trial, c, &nodes[2 * i + 1]);
    uint32_t better = left >= right ? 2 * i : 2 * i + 1;

    w->node[w->depth] = better == 2 * i ? 2 * i + 1 : 2 * i;
    w->bound[w->depth++] = left >= right ? right : left;
    w->node[w->depth] = better;
    w->bound[w->depth++] = left >= right ? left : right;
}

double destination_index_relaxed(const struct destination_index *t, const struct move_score *score,
                                 const struct move_trial *trial, uint32_t except, double floor)
{
    for (uint32_t k = 0; k < t->n_classes; k++) {
        const struct destination_class *c = &t->classes[k];
        const struct destination_node *nodes = t->nodes + c->first_node;
        if (destination_index_too_slow(t, c, score->slowest))
            continue;
        struct walk w = {.node = {1}, .bound = {box_gain(score, trial, c, &nodes[1])}, .depth = 1};
        while (w.depth > 0) {
            w.depth--;
            uint32_t i = w.node[w.depth];
            if (w.bound[w.depth] <= floor)
                continue;
            if (i < c->leaves) {
                push_children(&w, nodes, i, score, trial, c);
                continue;
            }
            for (uint32_t p = destination_leaf_start(c, i - c->leaves);
                 p < destination_leaf_start(c, i - c->leaves + 1); p++) {
                if (t->order[p] == except)
                    continue;
                double gain = move_score_gain(score, trial, t->order[p]);
                floor = gain > floor ? gain : floor;
            }
        }
    }
    return floor;
}

/* Whether the copy rate rules the move out, without cost and benefit. */
static bool too_slow(const struct move_score *score, uint32_t unit, uint32_t slot)
{
    return score->slowest > 0 &&
           rates_between(&score->costs->rates, score->l->unit_slot[unit], slot) <= score->slowest;
}

/* The search for one unit's best destination. */
struct search {
    const struct destination_index *t;
    const struct move_score *score;
    const struct move_trial *trial;
    uint32_t unit;
    struct gain_range range;
    struct move *best;
    enum rejection rejected; /* moves that would have been better */
    struct unit_scores scores;
};

/* A gain less what the drop to this score costs. */
static double less_drop(const struct search *s, double gain, double score)
{
    return s->scores.own > score ? gain - s->scores.price * (s->scores.own - score) : gain;
}

/* The adjusted gain of the move. */
static double adjusted(const struct search *s, uint32_t slot, double gain)
{
    if (!s->scores.score)
        return move_score_adjusted(s->score, s->unit, slot, gain);
    return less_drop(s, gain, s->scores.score[s->t->l->slot_host[slot]]);
}

static void note_rejection(struct search *s, enum rejection r)
{
    s->rejected = rejection_worse(s->rejected, r);
}

static void try_slot(struct search *s, uint32_t slot)
{
    const struct move_score *score = s->score;
    double gain = move_score_gain(score, s->trial, slot);
    struct move m = {.unit = s->unit, .to_slot = slot, .gain = gain};

    if (gain < s->range.least || !move_score_is_better(score, &m, s->best))
        return;
    m.gain = adjusted(s, slot, gain);
    if (m.gain < gain && (m.gain < s->range.least || !move_score_is_better(score, &m, s->best))) {
        note_rejection(s, gain >= score->goodness ? REJECTION_LASTS : REJECTION_NONE); /* for its score */
        return;
    }
    if (m.gain > s->range.most)
        return;
    if (too_slow(score, s->unit, slot)) {
        score->stats->evaluated++;
        score->stats->rejected[CHECK_COST_BENEFIT]++;
        note_rejection(s, REJECTION_LASTS);
        return;
    }
    enum check check = move_score_check_cheaply(score, s->unit, slot, gain);
    if (check == CHECK_NONE)
        *s->best = m;
    else if (gain >= score->goodness)
        note_rejection(s, move_score_rejection(score, check));
}

static void try_leaf(struct search *s, const struct destination_class *c, uint32_t leaf)
{
    uint32_t own = s->score->l->unit_slot[s->unit];

    for (uint32_t p = destination_leaf_start(c, leaf); p < destination_leaf_start(c, leaf + 1); p++)
        if (s->t->order[p] != own)
            try_slot(s, s->t->order[p]);
}

/* Tries only the pairs with a known, faster copy rate, when the source's own rate is too slow. */
static bool only_pairs(struct search *s)
{
    const struct move_score *score = s->score;
    const struct rates *rates = &score->costs->rates;
    uint32_t from = score->l->unit_slot[s->unit];
    uint32_t n;

    if (!(score->slowest > 0 && rates->own[from] <= score->slowest))
        return false;
    const struct migration_rate *pairs = rates_pairs_of(rates, from, &n);

    note_rejection(s, REJECTION_LASTS); /* by the rate */
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slot = score->l->host_slot[pairs[i].to];
        if (slot < score->l->n_on && pairs[i].rate_mb_s > score->slowest)
            try_slot(s, slot);
    }
    return true;
}

/* The check for capacity that fails on every host of the box; CHECK_NONE: some host may have the capacity.
 * Doubts below one MiB or MHz are left to the exact checks. */
static enum check lacking(const struct layout *l, const struct destination_node *box, uint32_t unit)
{
    for (int r = 0; r < RES_COUNT; r++)
        if (l->unit_reserved[r][unit] > 0 && box->left[r] + 1 < l->unit_reserved[r][unit])
            return r == RES_CPU ? CHECK_RESERVATION_CPU : CHECK_RESERVATION_MEM;
    if (l->unit_mem[unit] > 0 && box->room_mb + 1 < l->unit_mem[unit])
        return CHECK_MEMORY;
    return box->free_mb + 1 < l->unit_phys[unit] ? CHECK_MEMORY_FREE : CHECK_NONE;
}

/* Skips all hosts of a box, and counts them as tried. */
static bool leave_out(struct search *s, const struct destination_class *c, uint32_t i)
{
    const struct layout *l = s->score->l;
    enum check check = lacking(l, &s->t->nodes[c->first_node + i], s->unit);
    uint32_t own = l->unit_slot[s->unit];
    uint32_t first = i;
    uint32_t end = i + 1;

    if (check == CHECK_NONE)
        return false;
    for (; first < c->leaves; end *= 2)
        first *= 2;
    uint32_t from = destination_leaf_start(c, first - c->leaves);
    uint32_t to = destination_leaf_start(c, end - c->leaves);
    bool here = own < l->n_on && s->t->position[own] >= from && s->t->position[own] < to;
    uint32_t hosts = to - from - here;
    s->score->stats->evaluated += hosts;
    s->score->stats->rejected[check] += hosts;
    note_rejection(s, move_score_rejection(s->score, check));
    return true;
}

/* Whether the hosts of a box gain too little. A bound equal to the best gain may hide a tie, which the
 * cheaper migration wins. */
static bool gains_too_little(const struct search *s, double bound)
{
    return bound < s->range.least || bound < s->score->goodness || bound < GAIN_LEAST ||
           bound < s->best->gain;
}

static void search_class(struct search *s, const struct destination_class *c)
{
    const struct destination_node *nodes = s->t->nodes + c->first_node;
    struct walk w = {.node = {1}, .bound = {box_gain(s->score, s->trial, c, &nodes[1])}, .depth = 1};

    while (w.depth > 0) {
        w.depth--;
        uint32_t i = w.node[w.depth];
        if (gains_too_little(s, w.bound[w.depth]))
            continue;
        if (nodes[i].rate_mb_s <= s->score->slowest) {
            note_rejection(s, REJECTION_LASTS);
            continue;
        }
        if (leave_out(s, c, i))
            continue;
        if (i < c->leaves)
            push_children(&w, nodes, i, s->score, s->trial, c);
        else
            try_leaf(s, c, i - c->leaves);
    }
}

/* ---- searching with scores ---- */

/* A box, and what its hosts gain at most, without the scores and with them. */
struct scored_box {
    uint32_t node;
    double gain, adjusted;
};

static struct scored_box box_of(const struct search *s, const struct destination_class *c, uint32_t i)
{
    double gain = box_gain(s->score, s->trial, c, &s->t->nodes[c->first_node + i]);

    return (struct scored_box){i, gain, less_drop(s, gain, s->scores.most[c->first_node + i])};
}

/* Whether the hosts of the box gain too little; notes if only for their scores. */
static bool scores_too_little(struct search *s, const struct scored_box *box)
{
    if (!gains_too_little(s, box->adjusted))
        return false;
    note_rejection(s, box->gain >= s->score->goodness ? REJECTION_LASTS : REJECTION_NONE);
    return true;
}

static void try_scored_leaf(struct search *s, const struct destination_class *c, const struct scored_box *box)
{
    uint32_t own = s->score->l->unit_slot[s->unit];
    uint32_t leaf = box->node - c->leaves;

    for (uint32_t p = destination_leaf_start(c, leaf); p < destination_leaf_start(c, leaf + 1); p++) {
        uint32_t slot = s->t->order[p];

        if (slot == own)
            continue;
        if (gains_too_little(s, adjusted(s, slot, box->gain)))
            note_rejection(s, REJECTION_LASTS);
        else
            try_slot(s, slot);
    }
}

/* Like search_class(). */
static void search_scored_class(struct search *s, const struct destination_class *c)
{
    struct scored_box stack[STACK_MAX] = {box_of(s, c, 1)};
    uint32_t depth = 1;

    while (depth > 0) {
        const struct scored_box box = stack[--depth];
        if (scores_too_little(s, &box))
            continue;
        if (s->t->nodes[c->first_node + box.node].rate_mb_s <= s->score->slowest) {
            note_rejection(s, REJECTION_LASTS);
            continue;
        }
        if (leave_out(s, c, box.node))
            continue;
        if (box.node >= c->leaves) {
            try_scored_leaf(s, c, &box);
            continue;
        }
        const struct scored_box left = box_of(s, c, 2 * box.node);
        const struct scored_box right = box_of(s, c, 2 * box.node + 1);
        bool left_first = left.adjusted >= right.adjusted;

        stack[depth++] = left_first ? right : left;
        stack[depth++] = left_first ? left : right;
    }
}

enum rejection destination_index_best(const struct destination_index *t, const struct move_score *score,
                                      const struct move_trial *trial, uint32_t unit, struct gain_range range,
                                      struct move *best)
{
    struct search s = {.t = t, .score = score, .trial = trial, .unit = unit, .range = range, .best = best};

    if (t->scores)
        s.scores = destination_scores_of(t, unit);
    if (only_pairs(&s))
        return s.rejected;
    for (uint32_t k = 0; k < t->n_classes; k++) {
        if (destination_index_too_slow(t, &t->classes[k], score->slowest))
            continue;
        if (s.scores.score)
            search_scored_class(&s, &t->classes[k]);
        else
            search_class(&s, &t->classes[k]);
    }
    return s.rejected;
}

/* ---- power-ons ---- */

/* The most even of the slots that pass the checks so far. */
struct evenest {
    uint32_t slot; /* IX_NONE: none */
    double imbalance;
};

static void place_in_leaf(const struct destination_index *t, const struct destination_class *c, uint32_t leaf,
                          const struct move_trial *trial, uint32_t unit, struct evenest *best)
{
    for (uint32_t p = destination_leaf_start(c, leaf); p < destination_leaf_start(c, leaf + 1); p++) {
        uint32_t slot = t->order[p];
        double imbalance = move_trial_at(t->l, trial, slot);
        bool better = best->slot == IX_NONE || imbalance < best->imbalance ||
                      (imbalance == best->imbalance && slot < best->slot);

        if (better && layout_check(t->l, unit, slot) == CHECK_NONE)
            *best = (struct evenest){slot, imbalance};
    }
}

uint32_t destination_index_evenest(const struct destination_index *t, const struct move_trial *trial,
                                   uint32_t unit, double *ret_imbalance)
{
    struct evenest best = {.slot = IX_NONE};

    for (uint32_t k = 0; k < t->n_classes; k++) {
        const struct destination_class *c = &t->classes[k];
        const struct destination_node *nodes = t->nodes + c->first_node;
        uint32_t stack[STACK_MAX] = {1};
        uint32_t depth = 1;

        while (depth > 0) {
            uint32_t i = stack[--depth];
            if (lacking(t->l, &nodes[i], unit) != CHECK_NONE ||
                (best.slot != IX_NONE &&
                 move_trial_imbalance(trial, nodes[i].least, c->inverse) > best.imbalance))
                continue;
            if (i >= c->leaves) {
                place_in_leaf(t, c, i - c->leaves, trial, unit, &best);
                continue;
            }
            bool right = move_trial_imbalance(trial, nodes[2 * i + 1].least, c->inverse) <
                         move_trial_imbalance(trial, nodes[2 * i].least, c->inverse);
            stack[depth++] = 2 * i + !right;
            stack[depth++] = 2 * i + right; /* first */
        }
    }
    *ret_imbalance = best.imbalance;
    return best.slot;
}
