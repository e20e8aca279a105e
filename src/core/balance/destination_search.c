/* destination_search.c: searches the trees of destinations for the best one of a unit. */
#include "core/balance/destination_index.h"

#define STACK_MAX 64 /* twice the depth of a tree over 2^31 leaves */

/* Exceeds what rounding may take from a variance, as a part of the terms that it is the difference of, and
 * from an imbalance. */
#define ROUNDING 1e-14

/* A trial on hosts of one class: the weighted deviation of a resource is √(at_0 + slope × N). */
struct class_trial {
    const struct destination_class *c;
    const struct destination_node *nodes;
    double imbalance; /* without the move */
    double at_0[RES_COUNT], slope[RES_COUNT];
};

static struct class_trial trial_in_class(const struct destination_index *t, const struct move_score *score,
                                         const struct move_trial *trial, const struct destination_class *c)
{
    struct class_trial ret = {
        .c = c, .nodes = t->nodes + c->first_node, .imbalance = score->imbalance + ROUNDING};

    for (int r = 0; r < RES_COUNT; r++) {
        double weight = trial->weight[r] * trial->weight[r];
        double part = trial->demand[r] * c->inverse[r];
        double mean = (trial->sum[r] + part) / trial->n;
        double square = (trial->sum_squares[r] + part * part) / trial->n;
        ret.at_0[r] = weight * (square - mean * mean - ROUNDING * (square + mean * mean));
        ret.slope[r] = weight * 2 * part / trial->n;
    }
    return ret;
}

/* At least the gain on a host with this N; by no more than rounding. */
static inline double gain_at(const struct class_trial *ct, double cpu, double mem)
{
    double of_cpu = ct->at_0[RES_CPU] + ct->slope[RES_CPU] * cpu;
    double of_mem = ct->at_0[RES_MEM] + ct->slope[RES_MEM] * mem;

    return ct->imbalance - (of_cpu > 0 ? sqrt(of_cpu) : 0) - (of_mem > 0 ? sqrt(of_mem) : 0);
}

static inline double box_gain(const struct class_trial *ct, uint32_t node)
{
    const struct destination_node *box = &ct->nodes[node];

    return gain_at(ct, box->least[RES_CPU], box->least[RES_MEM]);
}

/* A depth-first walk through a tree, the child with the higher bound first. */
struct walk {
    uint32_t node[STACK_MAX];
    double bound[STACK_MAX];
    uint32_t depth;
};

static inline struct walk walk_from_root(const struct class_trial *ct)
{
    struct walk w;

    w.node[0] = 1;
    w.bound[0] = box_gain(ct, 1);
    w.depth = 1;
    return w;
}

static inline void push_children(struct walk *w, const struct class_trial *ct, uint32_t i)
{
    double left = box_gain(ct, 2 * i);
    double right = box_gain(ct, 2 * i + 1);
    uint32_t better = left >= right ? 2 * i : 2 * i + 1;

    w->node[w->depth] = better == 2 * i ? 2 * i + 1 : 2 * i;
    w->bound[w->depth++] = left >= right ? right : left;
    w->node[w->depth] = better;
    w->bound[w->depth++] = left >= right ? left : right;
}

/* Raises the gain to the highest one in the leaf. */
static double relaxed_in_leaf(const struct destination_index *t, const struct class_trial *ct, uint32_t leaf,
                              const struct move_score *score, const struct move_trial *trial, uint32_t except,
                              double most)
{
    const struct layout *l = t->l;

    for (uint32_t p = destination_leaf_start(ct->c, leaf); p < destination_leaf_start(ct->c, leaf + 1); p++) {
        uint32_t slot = t->order[p];
        if (slot == except || gain_at(ct, l->norm[RES_CPU][slot], l->norm[RES_MEM][slot]) <= most)
            continue;
        double gain = move_score_gain(score, trial, slot);
        most = gain > most ? gain : most;
    }
    return most;
}

double destination_index_relaxed(const struct destination_index *t, const struct move_score *score,
                                 const struct move_trial *trial, uint32_t except, struct gain_range range)
{
    double most = range.least;

    for (uint32_t k = 0; k < t->n_classes && most < range.most; k++) {
        if (destination_index_too_slow(t, &t->classes[k], score->slowest))
            continue;
        struct class_trial ct = trial_in_class(t, score, trial, &t->classes[k]);
        struct walk w = walk_from_root(&ct);
        while (w.depth > 0 && most < range.most) {
            w.depth--;
            uint32_t i = w.node[w.depth];
            if (w.bound[w.depth] <= most)
                continue;
            if (i < ct.c->leaves)
                push_children(&w, &ct, i);
            else
                most = relaxed_in_leaf(t, &ct, i - ct.c->leaves, score, trial, except, most);
        }
    }
    return most;
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
    enum rejection rejected; /* of moves that would have been better */
    struct unit_scores scores;
};

/* The gain, less the cost of the drop to this score. */
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

/* A host that gains too little is tried all the same where the range has no lower end, so that the rejection
 * is counted. */
static void try_leaf(struct search *s, const struct class_trial *ct, uint32_t leaf)
{
    const struct layout *l = s->score->l;
    uint32_t own = l->unit_slot[s->unit];

    for (uint32_t p = destination_leaf_start(ct->c, leaf); p < destination_leaf_start(ct->c, leaf + 1); p++) {
        uint32_t slot = s->t->order[p];
        double bound = gain_at(ct, l->norm[RES_CPU][slot], l->norm[RES_MEM][slot]);
        if (slot == own || bound < s->range.least || (s->best->unit != IX_NONE && bound < s->best->gain))
            continue;
        try_slot(s, slot);
    }
}

static void search_class(struct search *s, const struct destination_class *c)
{
    struct class_trial ct = trial_in_class(s->t, s->score, s->trial, c);
    struct walk w = walk_from_root(&ct);

    while (w.depth > 0) {
        w.depth--;
        uint32_t i = w.node[w.depth];
        if (gains_too_little(s, w.bound[w.depth]))
            continue;
        if (ct.nodes[i].rate_mb_s <= s->score->slowest) {
            note_rejection(s, REJECTION_LASTS);
            continue;
        }
        if (leave_out(s, c, i))
            continue;
        if (i < c->leaves)
            push_children(&w, &ct, i);
        else
            try_leaf(s, &ct, i - c->leaves);
    }
}

/* ---- searching with scores ---- */

/* A box, with upper bounds of the gain and of the adjusted gain of its hosts. */
struct scored_box {
    uint32_t node;
    double gain, adjusted;
};

static struct scored_box box_of(const struct search *s, const struct class_trial *ct, uint32_t i)
{
    double gain = box_gain(ct, i);

    return (struct scored_box){i, gain, less_drop(s, gain, s->scores.most[ct->c->first_node + i])};
}

/* Whether the hosts of the box gain too little; notes if only for their scores. */
static bool scores_too_little(struct search *s, const struct scored_box *box)
{
    if (!gains_too_little(s, box->adjusted))
        return false;
    note_rejection(s, gains_too_little(s, box->gain) ? REJECTION_NONE : REJECTION_LASTS);
    return true;
}

static void try_scored_leaf(struct search *s, const struct destination_class *c, const struct scored_box *box)
{
    uint32_t own = s->score->l->unit_slot[s->unit];
    uint32_t leaf = box->node - c->leaves;

    for (uint32_t p = destination_leaf_start(c, leaf); p < destination_leaf_start(c, leaf + 1); p++) {
        uint32_t slot = s->t->order[p];

        const struct scored_box only = {box->node, box->gain, adjusted(s, slot, box->gain)};

        if (slot != own && !scores_too_little(s, &only))
            try_slot(s, slot);
    }
}

/* Like search_class(). */
static void search_scored_class(struct search *s, const struct destination_class *c)
{
    struct class_trial ct = trial_in_class(s->t, s->score, s->trial, c);
    struct scored_box stack[STACK_MAX] = {box_of(s, &ct, 1)};
    uint32_t depth = 1;

    while (depth > 0) {
        const struct scored_box box = stack[--depth];
        if (scores_too_little(s, &box))
            continue;
        if (ct.nodes[box.node].rate_mb_s <= s->score->slowest) {
            note_rejection(s, REJECTION_LASTS);
            continue;
        }
        if (leave_out(s, c, box.node))
            continue;
        if (box.node >= c->leaves) {
            try_scored_leaf(s, c, &box);
            continue;
        }
        const struct scored_box left = box_of(s, &ct, 2 * box.node);
        const struct scored_box right = box_of(s, &ct, 2 * box.node + 1);
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
