#include "core/balance/bounds.h"

/* Bounds are products of many factors; this is more than their rounding adds up to. */
#define SLACK 1e-9

/* When the largest possible change of the variance comes this close to the variance itself, its square root
 * is too steep to say anything. */
#define VARIANCE_PART 0.9

void bounds_init(struct bounds *b, const struct layout *l, struct arena *a)
{
    *b = (struct bounds){.l = l, .grow = 1, .keep = 1};
    b->gain = arena_array(a, double, l->n_on);
    b->positive = arena_array(a, double, l->n_on);
    b->grow0 = arena_array(a, double, l->n_on);
    b->keep0 = arena_array(a, double, l->n_on);
    b->shift0 = arena_array(a, double, l->n_on);
    for (int r = 0; r < RES_COUNT; r++) {
        b->largest[r] = arena_array(a, double, l->n_on);
        double largest = 0;
        double inverse_max = 0;
        double inverse_min = NO_LIMIT;
        for (uint32_t u = 0; u < l->n_units; u++)
            if (l->unit_held[u] == CHECK_NONE)
                largest = fmax(largest, l->unit_demand[r][u]);
        for (uint32_t i = 0; i < l->n_on; i++) {
            inverse_max = fmax(inverse_max, l->inverse[r][i]);
            inverse_min = fmin(inverse_min, l->inverse[r][i]);
        }
        b->part_max[r] = largest * inverse_max;
        b->uneven[r] = l->n_on > 0 ? largest * (inverse_max - inverse_min) : 0;
    }
    bounds_forget_all(b);
}

static void set_bound(struct bounds *b, uint32_t slot, double gain, double positive)
{
    b->gain[slot] = gain;
    b->positive[slot] = positive;
    b->grow0[slot] = b->grow;
    b->keep0[slot] = b->keep;
    b->shift0[slot] = b->shift;
}

void bounds_set(struct bounds *b, uint32_t slot, double gain, double positive,
                const double largest[RES_COUNT])
{
    set_bound(b, slot, gain, positive);
    for (int r = 0; r < RES_COUNT; r++)
        b->largest[r][slot] = largest[r];
}

void bounds_lower(struct bounds *b, uint32_t slot, double gain)
{
    set_bound(b, slot, gain, b->positive[slot]);
}

void bounds_forget(struct bounds *b, uint32_t slot)
{
    set_bound(b, slot, NO_LIMIT, 0);
}

static double distance(const struct layout *l, int r, uint32_t slot)
{
    return fabs(l->norm[r][slot] - l->sum[r] / l->n_on);
}

void bounds_forget_all(struct bounds *b)
{
    const struct layout *l = b->l;

    b->grow = 1;
    b->keep = 1;
    b->shift = 0;
    layout_weights(l, b->weight);
    for (int r = 0; r < RES_COUNT; r++) {
        b->sigma[r] = layout_sigma(l, (enum resource)r);
        b->sum[r] = l->sum[r];
        b->spread[r] = 0;
        for (uint32_t i = 0; i < l->n_on; i++)
            b->spread[r] = fmax(b->spread[r], distance(l, r, i));
    }
    for (uint32_t i = 0; i < l->n_on; i++)
        bounds_forget(b, i);
}

/* Whether another host of the class is at least as cold as this one. Two witnesses are needed, or one whose
 * own bound is then forgotten: it cannot vouch for moves off itself. */
static bool has_witness(struct bounds *b, const struct targets *t, uint32_t slot)
{
    const struct target_class *c = &t->classes[t->class_of[slot]];
    const struct target_node *nodes = t->nodes + c->first_node;
    double cpu = b->l->norm[RES_CPU][slot];
    double mem = b->l->norm[RES_MEM][slot];
    uint32_t stack[64] = {1};
    uint32_t depth = 1;
    uint32_t found = IX_NONE;

    while (depth > 0) {
        uint32_t i = stack[--depth];
        if (nodes[i].least[RES_CPU] > cpu || nodes[i].least[RES_MEM] > mem)
            continue;
        if (i < c->leaves) {
            stack[depth++] = 2 * i + 1;
            stack[depth++] = 2 * i;
            continue;
        }
        uint32_t from = targets_leaf_start(c, i - c->leaves);
        uint32_t to = targets_leaf_start(c, i - c->leaves + 1);
        for (uint32_t p = from; p < to; p++) {
            uint32_t w = t->order[p];
            if (w == slot || b->l->norm[RES_CPU][w] > cpu || b->l->norm[RES_MEM][w] > mem)
                continue;
            if (found != IX_NONE)
                return true;
            found = w;
        }
    }
    if (found == IX_NONE)
        return false;
    bounds_forget(b, found);
    return true;
}

/* The most that any unit of `slot` could gain on the host `to`: for each resource by itself the part of its
 * largest unit that would fill the gap best. What a part e of demand does to n times the variance is A e² + B
 * e. */
static double gain_between(const struct bounds *b, uint32_t slot, uint32_t to)
{
    const struct layout *l = b->l;
    double n = l->n_on;
    double gain = 0;

    for (int r = 0; r < RES_COUNT; r++) {
        double from_inverse = l->inverse[r][slot];
        double to_inverse = l->inverse[r][to];
        double shift = to_inverse - from_inverse;
        double square = from_inverse * from_inverse + to_inverse * to_inverse - shift * shift / n;
        double linear =
            2 * (l->norm[r][to] * to_inverse - l->norm[r][slot] * from_inverse - l->sum[r] / n * shift);
        double best = linear < 0 ? -linear / (2 * square) : 0;
        double part = best < b->largest[r][slot] ? best : b->largest[r][slot];
        double variance = b->sigma[r] * b->sigma[r] + (square * part + linear) * part / n;
        gain += b->weight[r] * (b->sigma[r] - sqrt(variance > 0 ? variance : 0));
    }
    return gain * (1 + SLACK) + SLACK * SLACK;
}

/* `to` has become a better destination than any other of its class. */
static void raise_towards(struct bounds *b, uint32_t to)
{
    for (uint32_t i = 0; i < b->l->n_on; i++) {
        if (i == to || b->gain[i] == NO_LIMIT)
            continue;
        double there = gain_between(b, i, to);
        double positive = b->positive[i] * b->grow / b->grow0[i];
        if (there > bounds_now(b, i))
            set_bound(b, i, there, there > positive ? there : positive);
        else if (there > positive)
            set_bound(b, i, bounds_now(b, i), there);
    }
}

/* (σ0 + √(σ0² + δ)) / (σ1 + √(σ1² + δ)) */
static double factor(double sigma0, double sigma1, double delta)
{
    return (sigma0 + sqrt(fmax(sigma0 * sigma0 + delta, 0))) / (sigma1 + sqrt(sigma1 * sigma1 + delta));
}

/* One step's F, f and addition; false where nothing can be said. */
static bool carry(struct bounds *b, double *ret_grow, double *ret_keep, double *ret_shift)
{
    const struct layout *l = b->l;
    double n = l->n_on;
    double grow = 1;
    double keep = NO_LIMIT;
    double shift = 0;

    for (int r = 0; r < RES_COUNT; r++) {
        double sigma = layout_sigma(l, (enum resource)r);
        double variance = sigma * sigma;
        double moved = fabs(l->sum[r] - b->sum[r]);
        /* the mean moves too, and with it every distance from it */
        b->spread[r] += moved / n;
        double dev = b->spread[r];
        double part = b->part_max[r];
        double uneven = b->uneven[r];
        double down = (fmin(2 * dev * dev, 4 * part * dev) + uneven * uneven / n) / n;
        double up = (2 * part * part + 4 * part * dev) / n;
        double drift = 2 * uneven * moved / (n * n);
        if (down + drift >= VARIANCE_PART * fmin(variance, b->sigma[r] * b->sigma[r]))
            return false;
        double at_down = factor(b->sigma[r], sigma, -down);
        double at_up = factor(b->sigma[r], sigma, up);
        grow = fmax(grow, fmax(at_down, at_up));
        keep = fmin(keep, fmin(at_down, at_up));
        shift += b->weight[r] * drift / sqrt(variance - down - drift);
        b->sigma[r] = sigma;
        b->sum[r] = l->sum[r];
    }
    *ret_grow = grow * (1 + SLACK);
    *ret_keep = keep * (1 - SLACK);
    *ret_shift = shift * (1 + SLACK);
    return true;
}

void bounds_after_move(struct bounds *b, const struct targets *t, uint32_t from, uint32_t to)
{
    const struct layout *l = b->l;
    double weight[RES_COUNT];
    double grow;
    double keep;
    double shift;

    for (int r = 0; r < RES_COUNT; r++) {
        b->spread[r] = fmax(b->spread[r], distance(l, r, to));
        if (from < l->n_on)
            b->spread[r] = fmax(b->spread[r], distance(l, r, from));
    }
    layout_weights(l, weight);
    if (weight[RES_CPU] != b->weight[RES_CPU] || !carry(b, &grow, &keep, &shift)) {
        bounds_forget_all(b);
        return;
    }
    b->grow *= grow;
    b->keep *= keep;
    b->shift += shift;
    bounds_forget(b, to);
    if (from >= l->n_on)
        return;
    bounds_forget(b, from);
    if (!has_witness(b, t, from))
        raise_towards(b, from);
}
