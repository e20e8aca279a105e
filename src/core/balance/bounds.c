/* Keeps, for each host, an upper bound on the gain of any move off it, from step to step of the climb. */
#include "core/balance/bounds.h"

/* Bounds are products of many factors; the slack exceeds their accumulated rounding. */
#define SLACK 1e-9
/* Two gains of one move, computed from sums that differ in their last digits. */
#define ROUNDING 1e-13

/* Above this ratio of the largest possible change of the variance to the variance itself, the square root is
 * too steep for a useful bound. */
#define VARIANCE_PART 0.9

static void set_bound(struct bounds *b, uint32_t slot, double gain, const double positive[RES_COUNT])
{
    b->gain[slot] = gain / b->keep;
    b->keep0[slot] = b->keep;
    b->positive_kept[slot] = (positive[RES_CPU] + positive[RES_MEM]) / b->keep;
    for (int r = 0; r < RES_COUNT; r++)
        b->positive_grown[r][slot] = positive[r] / b->grow[r];
    b->grown[slot] = 1 / b->grow_any;
    b->shift0[slot] = b->shift;
    bounds_raise_blocks(b, slot);
}

void bounds_set(struct bounds *b, uint32_t slot, double gain, const double positive[RES_COUNT])
{
    set_bound(b, slot, gain, positive);
    if (!bounds_leaves_out(b, slot))
        return;
    uint32_t last = b->left_out[--b->n_left_out];
    b->left_out[b->left_out_at[slot]] = last;
    b->left_out_at[last] = b->left_out_at[slot];
    b->left_out_at[slot] = IX_NONE;
}

void bounds_forget(struct bounds *b, uint32_t slot)
{
    const double none[RES_COUNT] = {0};

    bounds_set(b, slot, NO_LIMIT, none);
}

void bounds_forget_rejections(struct bounds *b)
{
    while (b->n_left_out > 0)
        bounds_forget(b, b->left_out[0]);
}

static double distance(const struct layout *l, int r, uint32_t slot)
{
    return fabs(l->norm[r][slot] - l->sum[r] / l->n_on);
}

void bounds_forget_all(struct bounds *b)
{
    const struct layout *l = b->l;

    b->grow_any = 1;
    b->keep = 1;
    b->shift = 0;
    layout_weights(l, b->weight);
    for (int r = 0; r < RES_COUNT; r++) {
        b->sigma[r] = layout_load_stddev(l, (enum resource)r);
        b->grow[r] = 1;
        b->sum[r] = l->sum[r];
        b->spread[r] = 0;
        for (uint32_t i = 0; i < l->n_on; i++)
            b->spread[r] = fmax(b->spread[r], distance(l, r, i));
    }
    for (uint32_t i = 0; i < l->n_on; i++)
        bounds_forget(b, i);
}

void bounds_init(struct bounds *b, const struct layout *l, bool adjusted, struct arena *a)
{
    *b = (struct bounds){.l = l, .adjusted = adjusted};
    b->gain = arena_array(a, double, l->n_on);
    b->positive_kept = arena_array(a, double, l->n_on);
    b->grown = arena_array(a, double, l->n_on);
    b->shift0 = arena_array(a, double, l->n_on);
    b->keep0 = arena_array(a, double, l->n_on);
    b->left_out = arena_array(a, uint32_t, l->n_on);
    b->left_out_at = arena_array(a, uint32_t, l->n_on);
    for (uint32_t i = 0; i < l->n_on; i++)
        b->left_out_at[i] = IX_NONE;
    bounds_init_blocks(b, a);
    b->rejected = arena_array(a, enum rejection, l->n_on);
    b->moment = arena_array(a, struct bounds_moment, l->n_on);
    for (int r = 0; r < RES_COUNT; r++) {
        b->largest[r] = arena_array(a, double, l->n_on);
        b->positive_grown[r] = arena_array(a, double, l->n_on);
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

/* The positive part of resource r, carried to the present step. */
static double positive_now(const struct bounds *b, int r, uint32_t slot)
{
    return b->positive_grown[r][slot] * b->grow[r];
}

void bounds_set_largest(struct bounds *b, uint32_t slot, const double largest[RES_COUNT])
{
    for (int r = 0; r < RES_COUNT; r++)
        b->largest[r][slot] = largest[r];
}

void bounds_lower(struct bounds *b, uint32_t slot, double gain)
{
    const double positive[RES_COUNT] = {positive_now(b, RES_CPU, slot), positive_now(b, RES_MEM, slot)};

    set_bound(b, slot, gain + ROUNDING, positive);
}

void bounds_leave_out(struct bounds *b, uint32_t slot, double gain, enum rejection rejected)
{
    bounds_lower(b, slot, gain);
    if (!bounds_leaves_out(b, slot)) {
        b->left_out_at[slot] = b->n_left_out;
        b->left_out[b->n_left_out++] = slot;
    }
    b->rejected[slot] = rejected;
    b->moment[slot] = bounds_moment_now(b);
}

/* A contribution t of then is now t' = F t + s, with f <= F <= F_r and |s| no more than the additions S. So
 * (F - f) t <= (1 - f / F_r) (t' + S). */
struct bounds_carry bounds_carry_of(const struct bounds *b, uint32_t slot)
{
    const struct bounds_moment *m = &b->moment[slot];
    double shift = b->grow_any / m->grow_any * (b->shift - m->shift);
    struct bounds_carry c = {
        .factor = b->keep / m->keep, .more = (1 + RES_COUNT) * shift + ROUNDING, .shift = shift + ROUNDING};

    for (int r = 0; r < RES_COUNT; r++) {
        c.grow[r] = b->grow[r] / m->grow[r];
        c.part[r] = 1 - c.factor / c.grow[r] + (b->adjusted ? fmax(c.factor - 1, 0) : 0);
    }
    return c;
}

double bounds_adjusted_more(const struct bounds *b, uint32_t slot)
{
    double shift = b->grow_any * b->grown[slot] * (b->shift - b->shift0[slot]);

    if (!bounds_leaves_out(b, slot))
        return 0;
    return fmax(b->keep / b->keep0[slot] - 1, 0) *
           (positive_now(b, RES_CPU, slot) + positive_now(b, RES_MEM, slot) + RES_COUNT * shift + ROUNDING);
}

/* How much colder `slot` is than the other host, in resource r. */
static double colder_by(const struct layout *l, int r, uint32_t slot, uint32_t other)
{
    double by = l->norm[r][other] - l->norm[r][slot];

    return by > 0 ? by : 0;
}

/* The host of the same class whose loads exceed this host's loads least; IX_NONE: no other host. */
static uint32_t nearest_witness(const struct bounds *b, const struct destination_index *t, uint32_t slot)
{
    const struct destination_class *c = &t->classes[t->class_of[slot]];
    uint32_t best = IX_NONE;
    double best_lack = NO_LIMIT;

    for (uint32_t p = c->from; p < c->from + c->n; p++) {
        uint32_t w = t->order[p];
        double lack = 0;
        if (w == slot)
            continue;
        for (int r = 0; r < RES_COUNT; r++)
            lack += b->weight[r] * b->steepness[r] * colder_by(b->l, r, slot, w);
        if (lack < best_lack) {
            best = w;
            best_lack = lack;
        }
    }
    return best;
}

/* Upper bounds on the gain of any unit of `slot` on a host with this N and 1 / capacity: per resource, the
 * part of the slot's largest unit that fills the difference best. A part e of demand changes n times the
 * variance by A e² + B e. With δ' the lowest change of the variance, it gains no more than -B e / n / (σ +
 * √(σ² + δ')). */
static struct bounds_towards gain_towards(const struct bounds *b, uint32_t slot, const double norm[RES_COUNT],
                                          const double inverse[RES_COUNT])
{
    const struct layout *l = b->l;
    struct bounds_towards ret = {.slot = IX_NONE};
    double n = l->n_on;

    for (int r = 0; r < RES_COUNT; r++) {
        double from_inverse = l->inverse[r][slot];
        double to_inverse = inverse[r];
        double shift = to_inverse - from_inverse;
        double square = from_inverse * from_inverse + to_inverse * to_inverse - shift * shift / n;
        double linear = 2 * (norm[r] * to_inverse - l->norm[r][slot] * from_inverse - l->sum[r] / n * shift);
        double best = linear < 0 ? -linear / (2 * square) : 0;
        double part = best < b->largest[r][slot] ? best : b->largest[r][slot];
        double variance = b->sigma[r] * b->sigma[r] + (square * part + linear) * part / n;
        double root = sqrt(variance > 0 ? variance : 0);
        double falls = b->sigma[r] - root;
        ret.of[r] = b->weight[r] * falls * (1 + SLACK) + SLACK * SLACK;
        ret.per_demand[r] = linear < 0 ? b->weight[r] * -linear / n / (b->sigma[r] + root) * (1 + SLACK) : 0;
    }
    ret.gain = ret.of[RES_CPU] + ret.of[RES_MEM];
    return ret;
}

struct bounds_towards bounds_gain_towards(const struct bounds *b, uint32_t slot, uint32_t to)
{
    const struct layout *l = b->l;
    const double norm[RES_COUNT] = {l->norm[RES_CPU][to], l->norm[RES_MEM][to]};
    const double inverse[RES_COUNT] = {l->inverse[RES_CPU][to], l->inverse[RES_MEM][to]};
    struct bounds_towards towards = gain_towards(b, slot, norm, inverse);

    towards.slot = to;
    towards.gain += ROUNDING;
    return towards;
}

/* Raises the bound of a slot for a host that has become a better destination. by_demand: from the witness, if
 * the slot has one. */
static void raise_bound(struct bounds *b, uint32_t slot, uint32_t to, const double by_demand[RES_COUNT])
{
    const struct layout *l = b->l;
    const double norm[RES_COUNT] = {l->norm[RES_CPU][to], l->norm[RES_MEM][to]};
    const double inverse[RES_COUNT] = {l->inverse[RES_CPU][to], l->inverse[RES_MEM][to]};
    double now = bounds_now(b, slot);
    struct bounds_towards there = gain_towards(b, slot, norm, inverse);

    if (b->adjusted)
        now = fmax(now + bounds_adjusted_more(b, slot), 0);

    if (by_demand) {
        double by =
            by_demand[RES_CPU] * b->largest[RES_CPU][slot] + by_demand[RES_MEM] * b->largest[RES_MEM][slot];
        there.gain = now + by < there.gain ? now + by : there.gain;
    }
    for (int r = 0; r < RES_COUNT; r++)
        there.of[r] = fmax(there.of[r], positive_now(b, r, slot));
    set_bound(b, slot, fmax(there.gain, now), there.of);
}

/* `to` has become a better destination. A move to `to` gains little more than the same move to the witness,
 * which the bounds already cover: for a part a and a load lower by ε, at most a ε / (n √(σ² + δ)) more. The
 * witness's own bound covers no move to itself, so moves off the witness are bounded separately. */
static void raise_bounds_towards(struct bounds *b, const struct destination_index *t, uint32_t to)
{
    const struct layout *l = b->l;
    uint32_t witness = destination_index_find_colder(t, to);
    double by_demand[RES_COUNT] = {0};

    if (witness != IX_NONE) {
        if (b->gain[witness] != NO_LIMIT)
            raise_bound(b, witness, to, NULL);
        return;
    }
    witness = nearest_witness(b, t, to);
    for (int r = 0; r < RES_COUNT && witness != IX_NONE; r++)
        by_demand[r] = b->weight[r] * b->steepness[r] * colder_by(l, r, to, witness) * l->inverse[r][to] /
                       l->n_on * (1 + SLACK);
    for (uint32_t i = 0; i < l->n_on; i++)
        if (i != to && b->gain[i] != NO_LIMIT)
            raise_bound(b, i, to, witness != IX_NONE && i != witness ? by_demand : NULL);
}

/* A host of a move may now accept moves that it rejected: raises the bounds that leave those out. */
static void raise_bounds_left_out(struct bounds *b, uint32_t changed, enum rejection least)
{
    for (uint32_t i = 0; i < b->n_left_out; i++)
        if (b->rejected[b->left_out[i]] >= least && b->left_out[i] != changed)
            raise_bound(b, b->left_out[i], changed, NULL);
}

/* Bounds a host that received a unit. That unit does not move again, so the largest movable unit is
 * unchanged; only the load is higher. */
static void bound_receiver(struct bounds *b, const struct destination_index *t, uint32_t slot)
{
    double most = -NO_LIMIT;
    double most_of[RES_COUNT] = {0};

    if (b->gain[slot] == NO_LIMIT)
        return;
    for (uint32_t k = 0; k < t->n_classes; k++) {
        const struct destination_class *c = &t->classes[k];
        struct bounds_towards there = gain_towards(b, slot, t->nodes[c->first_node + 1].least, c->inverse);
        most = fmax(most, there.gain);
        for (int r = 0; r < RES_COUNT; r++)
            most_of[r] = fmax(most_of[r], there.of[r]);
    }
    bounds_set(b, slot, most, most_of);
}

/* (σ0 + √(σ0² + δ)) / (σ1 + √(σ1² + δ)) */
static double term_factor(double sigma0, double sigma1, double delta)
{
    return (sigma0 + sqrt(fmax(sigma0 * sigma0 + delta, 0))) / (sigma1 + sqrt(sigma1 * sigma1 + delta));
}

/* The factors F and f and the addition of one step; false: no bound can be computed. */
static bool advance_step(struct bounds *b, double ret_grow[RES_COUNT], double *ret_keep, double *ret_shift)
{
    const struct layout *l = b->l;
    double n = l->n_on;
    double keep = NO_LIMIT;
    double shift = 0;

    for (int r = 0; r < RES_COUNT; r++) {
        double sigma = layout_load_stddev(l, (enum resource)r);
        double variance = sigma * sigma;
        double moved = fabs(l->sum[r] - b->sum[r]);
        /* the mean moves, and with it every distance from it */
        b->spread[r] += moved / n;
        double dev = b->spread[r];
        double part = b->part_max[r];
        double uneven = b->uneven[r];
        double down = (fmin(2 * dev * dev, 4 * part * dev) + uneven * uneven / n) / n;
        double up = (2 * part * part + 4 * part * dev) / n;
        double drift = 2 * uneven * moved / (n * n);
        if (down + drift >= VARIANCE_PART * fmin(variance, b->sigma[r] * b->sigma[r]))
            return false;
        double at_down = term_factor(b->sigma[r], sigma, -down);
        double at_up = term_factor(b->sigma[r], sigma, up);
        ret_grow[r] = fmax(at_down, at_up) * (1 + SLACK);
        keep = fmin(keep, fmin(at_down, at_up));
        b->steepness[r] = 1 / sqrt(variance - down - drift);
        shift += b->weight[r] * drift * b->steepness[r];
        b->sigma[r] = sigma;
        b->sum[r] = l->sum[r];
    }
    *ret_keep = keep * (1 - SLACK);
    *ret_shift = shift * (1 + SLACK);
    return true;
}

void bounds_after_move(struct bounds *b, const struct destination_index *t, uint32_t from, uint32_t to)
{
    const struct layout *l = b->l;
    double weight[RES_COUNT];
    double grow[RES_COUNT];
    double keep;
    double shift;

    if (to >= l->n_on) { /* a move to a host that is being woken is rare: forget all bounds */
        bounds_forget_all(b);
        return;
    }
    for (int r = 0; r < RES_COUNT; r++) {
        b->spread[r] = fmax(b->spread[r], distance(l, r, to));
        if (from < l->n_on)
            b->spread[r] = fmax(b->spread[r], distance(l, r, from));
    }
    layout_weights(l, weight);
    if (weight[RES_CPU] != b->weight[RES_CPU] || !advance_step(b, grow, &keep, &shift)) {
        bounds_forget_all(b);
        return;
    }
    for (int r = 0; r < RES_COUNT; r++)
        b->grow[r] *= grow[r];
    /* never below 1: a term added early is carried through fewer steps */
    b->grow_any *= fmax(1, fmax(grow[RES_CPU], grow[RES_MEM]));
    b->keep *= keep;
    b->shift += shift;
    bound_receiver(b, t, to);
    raise_bounds_left_out(b, to, REJECTION_MAY_END);
    if (from >= l->n_on)
        return;
    bounds_forget(b, from);
    raise_bounds_left_out(b, from, REJECTION_NONE);
    raise_bounds_towards(b, t, from);
}
