/* Computes the lower bound of the imbalance: relaxed moves, by the method of Frank and Wolfe. */
#include "core/balance/plan_bound.h"

#include <stdlib.h>

/* Bound and relaxed plan differ by less: another round would not raise the bound. */
#define NEAR 1e-5
/* Rounding of sums of some thousand terms; taken off each bound. */
#define ROUNDING 1e-11
/* σ below this is rounding: the load is even. */
#define SIGMA_LEAST 1e-12
#define HALVINGS 40

static void add_item(struct plan_bound *b, uint32_t slot, uint32_t vms, const double load[RES_COUNT],
                     const uint64_t *allowed)
{
    struct bound_item *item = &b->items[b->n_items++];

    *item = (struct bound_item){.slot = slot, .vms = vms, .allowed = allowed};
    for (int r = 0; r < RES_COUNT; r++)
        item->load[r] = load[r];
}

/* Adds each VM of the unit as an item of its own, except VMs under migration. */
static void add_vms(struct plan_bound *b, uint32_t u, double *const entitlement[RES_COUNT])
{
    const struct layout *l = b->l;

    for (uint32_t i = l->unit_from[u]; i < l->unit_from[u + 1]; i++) {
        uint32_t vm = l->unit_vms[i];
        const double load[RES_COUNT] = {entitlement[RES_CPU][vm], entitlement[RES_MEM][vm]};
        if (!l->in_flight[vm])
            add_item(b, l->unit_slot[u], 1, load, NULL);
    }
}

static void add_unit(struct plan_bound *b, uint32_t u)
{
    const struct layout *l = b->l;
    const double load[RES_COUNT] = {l->unit_demand[RES_CPU][u], l->unit_demand[RES_MEM][u]};

    if (l->unit_held[u] == CHECK_NONE)
        add_item(b, l->unit_slot[u], l->unit_from[u + 1] - l->unit_from[u], load, l->unit_allowed[u]);
}

void plan_bound_begin(struct plan_bound *b, const struct layout *l, double *const entitlement[RES_COUNT],
                      bool with_rules, struct arena *a)
{
    *b = (struct plan_bound){.l = l};
    b->items = arena_array(a, struct bound_item, l->snap->n_vms);
    for (uint32_t u = 0; u < l->n_units; u++) {
        if (l->unit_slot[u] == l->outside)
            continue;
        if (with_rules)
            add_unit(b, u);
        else
            add_vms(b, u, entitlement);
    }
    for (int r = 0; r < RES_COUNT; r++) {
        b->start[r] = arena_array(a, double, l->n_on);
        b->norm[r] = arena_array(a, double, l->n_on);
        b->price[r] = arena_array(a, double, l->n_on);
        b->corner[r] = arena_array(a, double, l->n_on);
        for (uint32_t i = 0; i < l->n_on; i++)
            b->start[r][i] = l->norm[r][i];
    }
    b->cheapest = arena_array(a, struct bound_price, l->n_on);
    b->savings = arena_array(a, struct bound_saving, b->n_items);
}

/* ---- the relaxed plan ---- */

static double mean_of(const double *x, uint32_t n)
{
    double sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += x[i];
    return sum / n;
}

/* Moves the prices towards the gradient of the imbalance at the relaxed plan by this part; returns the
 * imbalance. */
static double follow_gradient(struct plan_bound *b, const double weight[RES_COUNT], double part)
{
    uint32_t n = b->l->n_on;
    double imbalance = 0;

    for (int r = 0; r < RES_COUNT; r++) {
        double mean = mean_of(b->norm[r], n);
        double squares = 0;
        for (uint32_t i = 0; i < n; i++)
            squares += (b->norm[r][i] - mean) * (b->norm[r][i] - mean);
        double sigma = sqrt(squares / n);
        imbalance += weight[r] * sigma;
        for (uint32_t i = 0; i < n; i++) {
            double slope = sigma > SIGMA_LEAST ? weight[r] * (b->norm[r][i] - mean) / (n * sigma) : 0;
            b->price[r][i] += part * (slope - b->price[r][i]);
        }
    }
    return imbalance;
}

static int by_price(const void *x, const void *y)
{
    const struct bound_price *a = x;
    const struct bound_price *b = y;

    for (int r = 0; r < RES_COUNT; r++)
        if (a->of[r] != b->of[r])
            return a->of[r] < b->of[r] ? -1 : 1;
    return (a->slot > b->slot) - (a->slot < b->slot);
}

/* Whether the middle one of three hosts by rising price of CPU is the cheapest for no VM. */
static bool is_above_line(const struct bound_price *a, const struct bound_price *m,
                          const struct bound_price *z)
{
    return (m->of[RES_MEM] - a->of[RES_MEM]) * (z->of[RES_CPU] - a->of[RES_CPU]) >=
           (z->of[RES_MEM] - a->of[RES_MEM]) * (m->of[RES_CPU] - a->of[RES_CPU]);
}

static struct bound_price price_on(const struct plan_bound *b, uint32_t slot)
{
    return (struct bound_price){{b->price[RES_CPU][slot] * b->l->inverse[RES_CPU][slot],
                                 b->price[RES_MEM][slot] * b->l->inverse[RES_MEM][slot]},
                                slot};
}

static double price_of(const struct bound_item *item, const struct bound_price *p)
{
    return item->load[RES_CPU] * p->of[RES_CPU] + item->load[RES_MEM] * p->of[RES_MEM];
}

/* Lists the hosts that are the cheapest for some VM: the lower left of the convex hull. Returns the number.
 */
static uint32_t list_cheapest(struct plan_bound *b)
{
    struct bound_price *hull = b->cheapest;
    uint32_t n = 0;

    for (uint32_t i = 0; i < b->l->n_on; i++)
        hull[i] = price_on(b, i);
    qsort(hull, b->l->n_on, sizeof *hull, by_price);
    for (uint32_t i = 0; i < b->l->n_on; i++) {
        struct bound_price next = hull[i];
        if (n > 0 && next.of[RES_MEM] >= hull[n - 1].of[RES_MEM])
            continue;
        while (n > 1 && is_above_line(&hull[n - 2], &hull[n - 1], &next))
            n--;
        hull[n++] = next;
    }
    return n;
}

/* The host with the lowest price for the item. */
static struct bound_price cheapest_for(const struct plan_bound *b, const struct bound_item *item, uint32_t n)
{
    struct bound_price best = {.slot = IX_NONE};

    for (uint32_t i = 0; i < (item->allowed ? b->l->n_on : n); i++) {
        struct bound_price p = item->allowed ? price_on(b, i) : b->cheapest[i];
        if (item->allowed && !bitmap_has(item->allowed, b->l->slot_host[i]))
            continue;
        if (best.slot == IX_NONE || price_of(item, &p) < price_of(item, &best))
            best = p;
    }
    return best;
}

static int by_saving(const void *x, const void *y)
{
    const struct bound_saving *a = x;
    const struct bound_saving *b = y;

    if (a->each != b->each)
        return a->each < b->each ? -1 : 1;
    return (a->item > b->item) - (a->item < b->item);
}

/* The items that save anything at these prices, those that save most first. */
static uint32_t list_savings(struct plan_bound *b)
{
    uint32_t n_cheapest = list_cheapest(b);
    uint32_t n = 0;

    for (uint32_t i = 0; i < b->n_items; i++) {
        const struct bound_item *item = &b->items[i];
        struct bound_price to = cheapest_for(b, item, n_cheapest);
        struct bound_price from = {.slot = item->slot};
        if (item->slot < b->l->n_on)
            from = price_on(b, item->slot);
        if (to.slot == IX_NONE)
            continue;
        double saves = price_of(item, &to) - price_of(item, &from);
        if (saves < 0)
            b->savings[n++] = (struct bound_saving){saves / item->vms, i, to.slot};
    }
    qsort(b->savings, n, sizeof *b->savings, by_saving);
    return n;
}

/* The relaxed plan that is cheapest at the prices, as N by slot. Returns the bound. */
static double cheapest_plan(struct plan_bound *b, uint32_t vms)
{
    uint32_t n = list_savings(b);
    uint32_t left = vms;
    double bound = -ROUNDING;

    for (int r = 0; r < RES_COUNT; r++)
        for (uint32_t i = 0; i < b->l->n_on; i++)
            b->corner[r][i] = b->start[r][i];
    for (uint32_t k = 0; k < n && left > 0; k++) {
        const struct bound_item *item = &b->items[b->savings[k].item];
        uint32_t to = b->savings[k].to_slot;
        uint32_t moved = item->vms < left ? item->vms : left;
        double part = (double)moved / item->vms;
        left -= moved;
        for (int r = 0; r < RES_COUNT; r++) {
            b->corner[r][to] += part * item->load[r] * b->l->inverse[r][to];
            if (item->slot < b->l->n_on)
                b->corner[r][item->slot] -= part * item->load[r] * b->l->inverse[r][item->slot];
        }
    }
    for (int r = 0; r < RES_COUNT; r++)
        for (uint32_t i = 0; i < b->l->n_on; i++)
            bound += b->price[r][i] * b->corner[r][i];
    return bound;
}

/* The imbalance a part of the way from the relaxed plan to the corner: σ² is a parabola in the part. */
struct parabola {
    double a, b, c;
};

static double imbalance_at(const struct parabola p[RES_COUNT], const double weight[RES_COUNT], double part)
{
    double imbalance = 0;

    for (int r = 0; r < RES_COUNT; r++)
        imbalance += weight[r] * sqrt(fmax(0, p[r].a + part * (p[r].b + part * p[r].c)));
    return imbalance;
}

/* Goes towards the corner as far as the imbalance falls. */
static void go_towards_corner(struct plan_bound *b, const double weight[RES_COUNT])
{
    uint32_t n = b->l->n_on;
    struct parabola p[RES_COUNT] = {{0}};
    double low = 0;
    double high = 1;

    for (int r = 0; r < RES_COUNT; r++) {
        double mean = mean_of(b->norm[r], n);
        double change = mean_of(b->corner[r], n) - mean;
        for (uint32_t i = 0; i < n; i++) {
            double x = b->norm[r][i] - mean;
            double d = b->corner[r][i] - b->norm[r][i] - change;
            p[r].a += x * x / n;
            p[r].b += 2 * x * d / n;
            p[r].c += d * d / n;
        }
    }
    for (int i = 0; i < HALVINGS; i++) {
        double third = (high - low) / 3;
        if (imbalance_at(p, weight, low + third) < imbalance_at(p, weight, high - third))
            high -= third;
        else
            low += third;
    }
    for (int r = 0; r < RES_COUNT; r++)
        for (uint32_t i = 0; i < n; i++)
            b->norm[r][i] += low * (b->corner[r][i] - b->norm[r][i]);
}

/* Ends early once the bound is above `above`, or the imbalance of the relaxed plan is at most `within`. */
static double bound_between(struct plan_bound *b, const double weight[RES_COUNT], uint32_t vms, double above,
                            double within)
{
    double bound = 0;
    double relaxed = NO_LIMIT;

    if (b->l->n_on == 0)
        return 0;
    for (int r = 0; r < RES_COUNT; r++)
        for (uint32_t i = 0; i < b->l->n_on; i++) {
            b->norm[r][i] = b->start[r][i];
            b->price[r][i] = 0;
        }
    for (uint32_t round = 0; round < PLAN_BOUND_ROUNDS; round++) {
        relaxed = fmin(relaxed, follow_gradient(b, weight, fmin(1, 2.0 / (round + 2))));
        bound = fmax(bound, cheapest_plan(b, vms));
        if (bound > above || relaxed <= within || bound >= relaxed * (1 - NEAR))
            break;
        go_towards_corner(b, weight);
    }
    return bound;
}

double plan_bound_imbalance(struct plan_bound *b, const double weight[RES_COUNT], uint32_t vms)
{
    return bound_between(b, weight, vms, NO_LIMIT, 0);
}

uint32_t plan_bound_vms(struct plan_bound *b, const double weight[RES_COUNT], double target, uint32_t most)
{
    uint32_t least = 0;

    while (least < most) {
        uint32_t vms = least + (most - least) / 2;
        if (bound_between(b, weight, vms, target, target) > target)
            least = vms + 1;
        else
            most = vms;
    }
    return least;
}
