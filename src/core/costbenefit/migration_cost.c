/* Computes cost and benefit of moving a unit from sums per slot, which it updates with each move. */
#include "core/costbenefit/migration_cost.h"

#include "core/costbenefit/shortfall.h"

/* The windows hold averages over minutes. Within an interval, a VM's CPU demand varies by about this share
 * (median over VMs of the spread between neighbouring 5-minute samples: Bitbrains .26, PlanetLab .60)... */
static const double within_interval[RES_COUNT] = {[RES_CPU] = 0.25, [RES_MEM] = 0.02};

/* ... and the total demand of a host's VMs drifts by this share within the hour (root mean square for 40 VMs:
 * PlanetLab .16, Bitbrains .94). README.md describes both measurements. */
static const double hourly_drift[RES_COUNT] = {[RES_CPU] = 0.20, [RES_MEM] = 0.05};

/* The stable time of a VM without history, as a part of the horizon. */
#define STABLE_FALLBACK 0.25

/* A level lasts at least until the next sample, s. With 0, the first pass after a surge would see no benefit.
 */
#define STABLE_LEAST 60

/* Two sums of the same numbers may differ by this factor, because their order of addition differs. */
#define MARGIN (1 + 1e-9)

static double stddev_of(const struct demand_range *o, int r)
{
    double drift = hourly_drift[r] * o->demand;
    double variance = o->variance + drift * drift;

    return sqrt(variance > 0 ? variance : 0);
}

static struct demand_range plus(struct demand_range a, const struct demand_range *b, double by)
{
    a.demand += by * b->demand;
    a.variance += by * b->variance;
    a.min += by * b->min;
    a.max += by * b->max;
    return a;
}

static double capacity_of(const struct migration_cost *costs, int r, uint32_t slot)
{
    return costs->l->snap->hosts[costs->l->slot_host[slot]].capacity[r];
}

static double shortfall_of(const struct migration_cost *costs, const struct demand_range *o, int r,
                           uint32_t slot)
{
    return shortfall_expected(o->demand, stddev_of(o, r), capacity_of(costs, r, slot));
}

static double positive(double x)
{
    return x > 0 ? x : 0;
}

/* ---- demand ---- */

static struct demand_range demand_range_of(const struct layout *l, double *const demand[RES_COUNT], int r,
                                           uint32_t vm)
{
    const struct demand_stats *hour = &l->snap->vms[vm].is.window[WINDOW_60M][r];
    double limit = l->snap->vms[vm].is.alloc[r].limit; /* demand beyond its own limit is never served */
    double jitter = within_interval[r] * demand[r][vm];

    return (struct demand_range){.demand = demand[r][vm],
                                 .variance = hour->stddev * hour->stddev + jitter * jitter,
                                 .min = fmin(hour->min, demand[r][vm]),
                                 .max = fmin(fmax(hour->max, demand[r][vm]), limit)};
}

static void look_out(struct migration_cost *costs, uint32_t u, double *const demand[RES_COUNT])
{
    const struct layout *l = costs->l;
    double horizon = (double)l->policy->horizon_s;

    costs->unit_stable_s[u] = horizon;
    for (uint32_t i = l->unit_from[u]; i < l->unit_from[u + 1]; i++) {
        uint32_t vm = l->unit_vms[i];
        const struct vm_facts *v = &l->snap->vms[vm].is;
        for (int r = 0; r < RES_COUNT; r++) {
            struct demand_range mine = demand_range_of(l, demand, r, vm);
            costs->unit[r][u] = plus(costs->unit[r][u], &mine, 1);
        }
        double stable = isnan(v->stable_s) ? STABLE_FALLBACK * horizon : v->stable_s;
        costs->unit_stable_s[u] = fmin(costs->unit_stable_s[u], fmax(stable, STABLE_LEAST));
    }
}

static void add_to_slot(struct migration_cost *costs, uint32_t u, uint32_t slot, double by)
{
    for (int r = 0; r < RES_COUNT; r++)
        costs->slot[r][slot] = plus(costs->slot[r][slot], &costs->unit[r][u], by);
    costs->slot_stable[slot] += by * costs->unit_stable_s[u] * costs->unit[RES_CPU][u].demand;
}

/* Counts the demand of a migrating VM at its destination, where it is for most of the horizon. */
static void follow_flight(struct migration_cost *costs, double *const demand[RES_COUNT], uint32_t vm)
{
    const struct layout *l = costs->l;
    uint32_t from = l->unit_slot[l->vm_unit[vm]];
    uint32_t to = l->going_to[vm];
    double stable = costs->unit_stable_s[l->vm_unit[vm]] * demand[RES_CPU][vm];

    for (int r = 0; r < RES_COUNT; r++) {
        struct demand_range mine = demand_range_of(l, demand, r, vm);
        costs->slot[r][from] = plus(costs->slot[r][from], &mine, -1);
        costs->slot[r][to] = plus(costs->slot[r][to], &mine, 1);
    }
    costs->slot_stable[from] -= stable;
    costs->slot_stable[to] += stable;
}

static void set_shortfall(struct migration_cost *costs, uint32_t slot)
{
    if (slot == costs->l->outside)
        return;
    for (int r = 0; r < RES_COUNT; r++)
        costs->slot_shortfall[r][slot] = shortfall_of(costs, &costs->slot[r][slot], r, slot);
}

/* ---- cost ---- */

/* Adds what migrating one VM costs. */
static void add_cost(const struct vm_facts *v, const struct migration_model *m, double cost[RES_COUNT])
{
    double demand = fmin(v->demand[RES_CPU], v->alloc[RES_CPU].limit);

    cost[RES_CPU] += demand * m->duration_s + migration_copy_mhz_s(m) + migration_loss_mhz_s(m, demand);
    cost[RES_MEM] += (v->consumed_mb + v->overhead_mb) * m->duration_s;
}

/* The members of a unit migrate one after the other. */
static void cost_at_rate(const struct migration_cost *costs, uint32_t u, double rate, double cost[RES_COUNT],
                         double *duration_s)
{
    const struct layout *l = costs->l;

    cost[RES_CPU] = 0;
    cost[RES_MEM] = 0;
    *duration_s = 0;
    for (uint32_t i = l->unit_from[u]; i < l->unit_from[u + 1]; i++) {
        const struct vm_facts *v = &l->snap->vms[l->unit_vms[i]].is;
        struct migration_model m;
        migration_model(v->consumed_mb, v->dirty_mb_s, rate, &m);
        *duration_s += m.duration_s;
        add_cost(v, &m, cost);
    }
}

/* A lower bound of the cost at this copy rate, which is at most the fastest one. */
static void cost_at_least(const struct migration_cost *costs, uint32_t u, double fastest, double rate,
                          double cost[RES_COUNT])
{
    const struct layout *l = costs->l;

    cost[RES_CPU] = 0;
    cost[RES_MEM] = 0;
    for (uint32_t i = l->unit_from[u]; i < l->unit_from[u + 1]; i++) {
        const struct vm_facts *v = &l->snap->vms[l->unit_vms[i]].is;
        struct migration_model m;
        migration_least(v->consumed_mb, v->dirty_mb_s, fastest, rate, &m);
        add_cost(v, &m, cost);
    }
}

/* A lower bound of the cost of moving the unit off this slot, to any destination. */
static void set_least(struct migration_cost *costs, uint32_t u, uint32_t slot)
{
    double fastest = costs->rates.fastest[slot];
    double fixed[RES_COUNT];
    double least[RES_COUNT];
    double duration;

    if (costs->rates.single[slot]) {
        cost_at_rate(costs, u, fastest, least, &duration);
    } else {
        cost_at_least(costs, u, fastest, fastest, least);
        cost_at_least(costs, u, fastest, NO_LIMIT, fixed);
    }
    for (int r = 0; r < RES_COUNT; r++) {
        costs->least[r][u] = least[r];
        costs->fixed[r][u] = costs->rates.single[slot] ? least[r] : fixed[r];
    }
}

static double over_capacity(const struct migration_cost *costs, const double amount[RES_COUNT])
{
    double sum = 0;

    for (int r = 0; r < RES_COUNT; r++)
        sum += costs->weight[r] * amount[r] / costs->capacity[r];
    return sum;
}

double migration_cost_duration(const struct migration_cost *costs, uint32_t unit, uint32_t from_slot,
                               uint32_t to_slot)
{
    double cost[RES_COUNT];
    double duration;

    cost_at_rate(costs, unit, rates_between(&costs->rates, from_slot, to_slot), cost, &duration);
    return duration;
}

void migration_cost_between(const struct migration_cost *costs, uint32_t unit, uint32_t from_slot,
                            uint32_t to_slot, struct migration_worth *ret)
{
    *ret = (struct migration_worth){0};
    cost_at_rate(costs, unit, rates_between(&costs->rates, from_slot, to_slot), ret->cost, &ret->duration_s);
}

/* ---- sums per slot ---- */

void migration_cost_init(struct migration_cost *costs, const struct layout *l,
                         double *const demand[RES_COUNT], struct arena *a)
{
    *costs = (struct migration_cost){.l = l};
    for (int r = 0; r < RES_COUNT; r++) {
        costs->unit[r] = arena_array(a, struct demand_range, l->n_units);
        costs->slot[r] = arena_array(a, struct demand_range, (size_t)l->n_slots + 1);
        costs->slot_shortfall[r] = arena_array(a, double, (size_t)l->n_slots + 1);
        costs->least[r] = arena_array(a, double, l->n_units);
        costs->fixed[r] = arena_array(a, double, l->n_units);
        for (uint32_t i = 0; i < l->n_on; i++)
            costs->capacity[r] += capacity_of(costs, r, i);
    }
    costs->unit_stable_s = arena_array(a, double, l->n_units);
    costs->slot_stable = arena_array(a, double, (size_t)l->n_slots + 1);
    rates_init(&costs->rates, l, a);
    for (uint32_t u = 0; u < l->n_units; u++) {
        look_out(costs, u, demand);
        add_to_slot(costs, u, l->unit_slot[u], 1);
        set_least(costs, u, l->unit_slot[u]);
    }
    for (uint32_t i = 0; i < l->snap->n_vms; i++)
        if (l->going_to[i] != IX_NONE)
            follow_flight(costs, demand, i);
    double demand_sum = 0;
    double stable_sum = 0;
    for (uint32_t i = 0; i < l->n_slots; i++) {
        set_shortfall(costs, i);
        demand_sum += costs->slot[RES_CPU][i].demand;
        stable_sum += costs->slot_stable[i];
    }
    costs->stable_mean = demand_sum > 0 ? stable_sum / demand_sum : 0;
    layout_weights(l, costs->weight);
}

void migration_cost_move(struct migration_cost *costs, uint32_t unit, uint32_t from_slot, uint32_t to_slot)
{
    add_to_slot(costs, unit, from_slot, -1);
    add_to_slot(costs, unit, to_slot, 1);
    set_shortfall(costs, from_slot);
    set_shortfall(costs, to_slot);
    if (costs->rates.differ)
        set_least(costs, unit, to_slot);
}

void migration_cost_set_weights(struct migration_cost *costs, const double weight[RES_COUNT])
{
    costs->weight[RES_CPU] = weight[RES_CPU];
    costs->weight[RES_MEM] = weight[RES_MEM];
}

/* ---- benefit ---- */

/* How long demand stays as it is: the mean over the source's VMs, weighted by their demand, or over the
 * cluster's VMs (for the destination) if that is shorter. One value for all destinations. */
static double stable_time(const struct migration_cost *costs, uint32_t slot)
{
    double demand = costs->slot[RES_CPU][slot].demand;
    double stable = demand > 0 ? costs->slot_stable[slot] / demand : 0;

    return stable < costs->stable_mean ? positive(stable) : costs->stable_mean;
}

void migration_cost_worth(const struct migration_cost *costs, uint32_t unit, uint32_t to_slot,
                          struct migration_worth *ret)
{
    const struct layout *l = costs->l;
    uint32_t s = l->unit_slot[unit];
    uint32_t d = to_slot;
    double stable = stable_time(costs, s);
    double gain[RES_COUNT];

    *ret = (struct migration_worth){0};
    cost_at_rate(costs, unit, rates_between(&costs->rates, s, d), ret->cost, &ret->duration_s);
    for (int r = 0; r < RES_COUNT; r++) {
        const struct demand_range *u = &costs->unit[r][unit];
        struct demand_range left = plus(costs->slot[r][s], u, -1);
        struct demand_range joined = plus(costs->slot[r][d], u, 1);
        double cs = capacity_of(costs, r, s);
        double cd = capacity_of(costs, r, d);
        double now = costs->slot_shortfall[r][s] + costs->slot_shortfall[r][d];
        double then = shortfall_of(costs, &left, r, s) + shortfall_of(costs, &joined, r, d);
        double worst_stay = positive(left.min + u->max - cs) + positive(costs->slot[r][d].max - cd);
        double worst_move = positive(left.min - cs) + positive(joined.max - cd);
        ret->benefit[r] = (now - then) * stable;
        gain[r] = ret->benefit[r] - ret->cost[r];
        ret->worse_of[r] = worst_move - fmax(worst_stay, now);
    }
    ret->net = over_capacity(costs, gain);
    ret->worse = over_capacity(costs, ret->worse_of);
}

/* An upper bound of the benefit: the relief of the source, without any shortage on the destination. */
static double most_to_gain(const struct migration_cost *costs, uint32_t unit, int r, double stable)
{
    uint32_t s = costs->l->unit_slot[unit];
    const struct demand_range *u = &costs->unit[r][unit];
    struct demand_range left = plus(costs->slot[r][s], u, -1);
    double now = costs->slot_shortfall[r][s];

    return now > 0 ? (now - shortfall_of(costs, &left, r, s)) * stable : 0;
}

/* At rate r the cost is at least fixed + (least - fixed) × fastest / r. */
double migration_cost_rate_needed(const struct migration_cost *costs, uint32_t unit)
{
    uint32_t s = costs->l->unit_slot[unit];
    double stable = stable_time(costs, s);
    double gain = 0;
    double by_rate = 0;

    for (int r = 0; r < RES_COUNT; r++) {
        double weight = costs->weight[r] / costs->capacity[r];
        gain += weight * (most_to_gain(costs, unit, r, stable) * MARGIN - costs->fixed[r][unit]);
        by_rate += weight * (costs->least[r][unit] - costs->fixed[r][unit]) * costs->rates.fastest[s];
    }
    return gain > 0 ? by_rate / gain / MARGIN : NO_LIMIT;
}

bool migration_cost_may_pay(const struct migration_cost *costs, uint32_t unit)
{
    uint32_t s = costs->l->unit_slot[unit];
    double stable = stable_time(costs, s);
    double net = 0;

    if (!costs->rates.single[s])
        return migration_cost_rate_needed(costs, unit) < costs->rates.fastest[s];
    for (int r = 0; r < RES_COUNT; r++)
        net += costs->weight[r] * (most_to_gain(costs, unit, r, stable) * MARGIN - costs->least[r][unit]) /
               costs->capacity[r];
    return net > 0;
}

int64_t migration_cost_moves_per_interval(const struct migration_cost *costs)
{
    const struct layout *l = costs->l;
    double sum_s = 0;
    uint32_t n = 0;
    double places = 0;

    for (uint32_t u = 0; u < l->n_units; u++) {
        if (l->unit_held[u] != CHECK_NONE)
            continue;
        sum_s += migration_cost_duration(costs, u, l->unit_slot[u], l->unit_slot[u]);
        n++;
    }
    for (uint32_t i = 0; i < l->n_on; i++) {
        uint32_t most = l->snap->hosts[l->slot_host[i]].is.migrations_max;
        places += most ? most : (double)l->policy->migrations_per_host;
    }
    places /= 2;
    if (l->policy->migrations_per_cluster > 0)
        places = fmin(places, (double)l->policy->migrations_per_cluster);
    double mean_s = n > 0 ? sum_s / n : 0;
    double moves = mean_s > 0 ? places * (double)l->policy->interval_s / mean_s : (double)l->n_units;

    return moves < 1 ? 1 : (int64_t)fmin(moves, 1e6);
}
