/* Computes cost and benefit of moving a unit from sums per slot, which it updates with each move. */
#include "core/costbenefit/migration_cost.h"

#include "base/thread_pool.h"
#include "core/costbenefit/shortfall.h"
#include "core/divvy/divvy.h"

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

/* A smaller part of a VM's demand that it is not entitled to is rounding. */
#define HELD_PART 1e-9

/* Two sums of the same numbers may differ by this factor, because their order of addition differs. */
#define MARGIN (1 + 1e-9)

/* Seconds until the workload of a VM whose host died is served again: high availability declares a host dead
 * after one to two minutes (Proxmox VE fences it first), and the guest boots. */
#define RESTART_S 180

/* Further losses of a host make no difference. */
#define LOSSES_MAX 32

static double stddev_of(const struct load_range *o, int r)
{
    double drift = hourly_drift[r] * o->varying;
    double variance = o->variance + drift * drift;

    return sqrt(variance > 0 ? variance : 0);
}

static double positive(double x)
{
    return x > 0 ? x : 0;
}

static double headroom_shortage(const struct migration_cost *costs, double load, int r, uint32_t slot)
{
    return shortfall_of_headroom(load, migration_cost_capacity(costs, r, slot),
                                 costs->l->policy->headroom_percent[r] / 100);
}

/* The shortage of a slot with this load. lack: of contention.h. */
struct load_shortage migration_cost_shortage(const struct migration_cost *costs, const struct load_range *o,
                                             int r, uint32_t slot, double lack)
{
    double headroom = headroom_shortage(costs, o->load, r, slot);
    double capacity = migration_cost_capacity(costs, r, slot);

    return (struct load_shortage){
        .expected = fmax(shortfall_expected(o->load, stddev_of(o, r), capacity), lack) + headroom,
        .today = fmax(o->load - capacity, lack) + headroom, /* lack >= 0 */
        .headroom = headroom};
}

/* ---- loads ---- */

static bool is_held(const struct migration_cost *costs, int r, uint32_t vm)
{
    return costs->entitlement[r][vm] < costs->demand[r][vm] * (1 - HELD_PART);
}

static double most_demand(const struct migration_cost *costs, int r, uint32_t vm)
{
    const struct vm_facts *v = &costs->l->snap->vms[vm].is;

    return fmin(fmax(v->window[WINDOW_60M][r].max, costs->demand[r][vm]), v->alloc[r].limit);
}

/* Under contention, the most that VMs may get is what they are entitled to if all demand their maximum. */
static void find_most(struct migration_cost *costs, int r, struct arena *a)
{
    const struct snapshot *snap = costs->l->snap;
    bool held = false;

    for (uint32_t i = 0; i < snap->n_vms && !held; i++)
        held = costs->l->vm_unit[i] != IX_NONE && is_held(costs, r, i);
    if (!held)
        return;
    double *demand = arena_array(a, double, snap->n_vms);
    costs->most[r] = arena_array(a, double, snap->n_vms);
    for (uint32_t i = 0; i < snap->n_vms; i++)
        demand[i] = most_demand(costs, r, i);
    (void)divvy_entitle(snap, (enum resource)r, demand, a, costs->most[r]);
}

/* A VM that is entitled to less than it demands gets no more by demanding more: its load is steady. */
static struct load_range load_range_of(const struct migration_cost *costs, int r, uint32_t vm)
{
    const struct vm_facts *v = &costs->l->snap->vms[vm].is;
    const struct demand_stats *hour = &v->window[WINDOW_60M][r];
    double demand = costs->demand[r][vm];
    double load = fmin(costs->entitlement[r][vm], demand);
    double jitter = within_interval[r] * demand;
    struct load_range range = {.load = load,
                               .min = fmin(hour->min, load),
                               .max = costs->most[r] ? costs->most[r][vm] : most_demand(costs, r, vm)};

    if (is_held(costs, r, vm))
        return range;
    range.varying = load;
    range.variance = hour->stddev * hour->stddev + jitter * jitter;
    return range;
}

static void set_unit(struct migration_cost *costs, uint32_t u)
{
    const struct layout *l = costs->l;
    double horizon = (double)l->policy->horizon_s;

    costs->unit_stable_s[u] = horizon;
    for (uint32_t i = l->unit_from[u]; i < l->unit_from[u + 1]; i++) {
        uint32_t vm = l->unit_vms[i];
        const struct vm_facts *v = &l->snap->vms[vm].is;
        for (int r = 0; r < RES_COUNT; r++) {
            struct load_range mine = load_range_of(costs, r, vm);
            costs->unit[r][u] = load_range_plus(costs->unit[r][u], &mine, 1);
        }
        double stable = isnan(v->stable_s) ? STABLE_FALLBACK * horizon : v->stable_s;
        costs->unit_stable_s[u] = fmin(costs->unit_stable_s[u], fmax(stable, STABLE_LEAST));
    }
}

static void add_to_slot(struct migration_cost *costs, uint32_t u, uint32_t slot, double by)
{
    for (int r = 0; r < RES_COUNT; r++)
        costs->slot[r][slot] = load_range_plus(costs->slot[r][slot], &costs->unit[r][u], by);
    costs->slot_stable[slot] += by * costs->unit_stable_s[u] * costs->unit[RES_CPU][u].load;
}

/* The host's own use is expected to last. */
static void add_own_use(struct migration_cost *costs, uint32_t slot)
{
    const struct own_use *own = &costs->l->snap->hosts[costs->l->slot_host[slot]].own;

    for (int r = 0; r < RES_COUNT; r++) {
        const struct demand_stats *hour = &own->window[WINDOW_60M][r];
        double now = own->now[r];
        costs->slot[r][slot] = (struct load_range){.load = now,
                                                   .varying = now,
                                                   .variance = hour->stddev * hour->stddev,
                                                   .min = fmin(hour->min, now),
                                                   .max = hour->max};
    }
    costs->slot_stable[slot] = own->now[RES_CPU] * (double)costs->l->policy->horizon_s;
}

/* Counts the load of a migrating VM at its destination, where it is for most of the horizon. */
static void follow_flight(struct migration_cost *costs, uint32_t vm)
{
    const struct layout *l = costs->l;
    uint32_t from = l->unit_slot[l->vm_unit[vm]];
    uint32_t to = l->going_to[vm];
    double stable = costs->unit_stable_s[l->vm_unit[vm]] * load_range_of(costs, RES_CPU, vm).load;

    for (int r = 0; r < RES_COUNT; r++) {
        struct load_range mine = load_range_of(costs, r, vm);
        costs->slot[r][from] = load_range_plus(costs->slot[r][from], &mine, -1);
        costs->slot[r][to] = load_range_plus(costs->slot[r][to], &mine, 1);
    }
    costs->slot_stable[from] -= stable;
    costs->slot_stable[to] += stable;
}

static void set_shortage(struct migration_cost *costs, uint32_t slot)
{
    costs->changed_at[slot] = ++costs->n_changes;
    if (slot == costs->l->outside)
        return;
    for (int r = 0; r < RES_COUNT; r++)
        costs->slot_shortage[r][slot] =
            migration_cost_shortage(costs, &costs->slot[r][slot], r, slot,
                                    contention_lack(&costs->contention, (enum resource)r, slot));
}

/* The shortage of the unit's slot without the unit: the same for all destinations, until the slot changes. */
static const struct shortage_left *shortage_left(const struct migration_cost *costs, uint32_t unit)
{
    struct shortage_left *left = &costs->left[unit];
    uint32_t s = costs->l->unit_slot[unit];

    if (left->since == costs->changed_at[s])
        return left;
    left->since = costs->changed_at[s];
    for (int r = 0; r < RES_COUNT; r++) {
        struct load_range load = load_range_plus(costs->slot[r][s], &costs->unit[r][unit], -1);
        double lack = contention_lack_without(&costs->contention, (enum resource)r, s, unit);
        struct load_shortage shortage = migration_cost_shortage(costs, &load, r, s, lack);
        left->min[r] = load.min;
        left->expected[r] = shortage.expected;
        left->today[r] = shortage.today;
    }
    return left;
}

/* ---- cost ---- */

/* The CPU that migrating one VM costs: what copying takes, and what the workload in the VM loses. */
static double copy_cost(const struct migration_cost *costs, uint32_t vm, const struct migration_model *m)
{
    double load = fmin(costs->entitlement[RES_CPU][vm], costs->demand[RES_CPU][vm]);

    return migration_copy_mhz_s(m) + migration_loss_mhz_s(m, load);
}

/* CPU and time of moving a unit whose members migrate one after the other. */
static struct unit_copy copy_at(const struct migration_cost *costs, uint32_t u, double rate)
{
    const struct layout *l = costs->l;
    struct unit_copy copy = {.rate_mb_s = rate};

    for (uint32_t i = l->unit_from[u]; i < l->unit_from[u + 1]; i++) {
        const struct vm_facts *v = &l->snap->vms[l->unit_vms[i]].is;
        struct migration_model m;
        migration_model(v->consumed_mb, v->dirty_mb_s, rate, &m);
        migration_add_disks(v->disks_copied_mb, rate, &m);
        copy.duration_s += m.duration_s;
        copy.cost += copy_cost(costs, l->unit_vms[i], &m);
    }
    return copy;
}

/* The same between two slots: most copies of a unit run at the fastest rate off its slot. */
static struct unit_copy copy_between(const struct migration_cost *costs, uint32_t u, uint32_t from_slot,
                                     uint32_t to_slot)
{
    double rate = rates_between(&costs->rates, from_slot, to_slot);

    return rate == costs->fastest[u].rate_mb_s ? costs->fastest[u] : copy_at(costs, u, rate);
}

/* A lower bound of the CPU at this copy rate, which is at most the fastest one. */
static double copy_cost_least(const struct migration_cost *costs, uint32_t u, double fastest, double rate)
{
    const struct layout *l = costs->l;
    double cost = 0;

    for (uint32_t i = l->unit_from[u]; i < l->unit_from[u + 1]; i++) {
        const struct vm_facts *v = &l->snap->vms[l->unit_vms[i]].is;
        struct migration_model m;
        migration_least(v->consumed_mb, v->dirty_mb_s, fastest, rate, &m);
        migration_add_disks(v->disks_copied_mb, rate, &m);
        cost += copy_cost(costs, l->unit_vms[i], &m);
    }
    return cost;
}

/* A lower bound of the cost of moving the unit off this slot, to any destination. */
static void set_least(struct migration_cost *costs, uint32_t u, uint32_t slot)
{
    double fastest = costs->rates.fastest[slot];

    costs->fastest[u] = copy_at(costs, u, fastest);
    if (costs->rates.single[slot]) {
        costs->least[u] = costs->fastest[u].cost;
        costs->fixed[u] = costs->least[u];
    } else {
        costs->least[u] = copy_cost_least(costs, u, fastest, fastest);
        costs->fixed[u] = copy_cost_least(costs, u, fastest, NO_LIMIT);
    }
}

double migration_cost_over_capacity(const struct migration_cost *costs, const double amount[RES_COUNT])
{
    double sum = 0;

    for (int r = 0; r < RES_COUNT; r++)
        sum += costs->weight[r] * amount[r] / costs->capacity[r];
    return sum;
}

double migration_cost_duration(const struct migration_cost *costs, uint32_t unit, uint32_t from_slot,
                               uint32_t to_slot)
{
    return copy_between(costs, unit, from_slot, to_slot).duration_s;
}

void migration_cost_between(const struct migration_cost *costs, uint32_t unit, uint32_t from_slot,
                            uint32_t to_slot, struct migration_worth *ret)
{
    struct unit_copy copy = copy_between(costs, unit, from_slot, to_slot);

    *ret = (struct migration_worth){.cost = {[RES_CPU] = copy.cost}, .duration_s = copy.duration_s};
}

/* ---- sums per slot ---- */

static bool is_short_for_long(const struct layout *l, uint32_t slot)
{
    const struct own_use *own = &l->snap->hosts[l->slot_host[slot]].own;
    double mean[RES_COUNT];

    for (int r = 0; r < RES_COUNT; r++)
        mean[r] = own->window[WINDOW_60M][r].mean * l->inverse[r][slot];
    for (uint32_t i = 0; i < l->list[slot].n; i++)
        for (uint32_t k = l->unit_from[l->list[slot].items[i]]; k < l->unit_from[l->list[slot].items[i] + 1];
             k++)
            for (int r = 0; r < RES_COUNT; r++)
                mean[r] += l->snap->vms[l->unit_vms[k]].is.window[WINDOW_60M][r].mean * l->inverse[r][slot];
    return mean[RES_CPU] > LAYOUT_FULL || mean[RES_MEM] > LAYOUT_FULL;
}

static void set_units(void *arg, uint32_t begin, uint32_t end)
{
    struct migration_cost *costs = arg;

    for (uint32_t u = begin; u < end; u++) {
        set_unit(costs, u);
        set_least(costs, u, costs->l->unit_slot[u]);
    }
}

void migration_cost_init(struct migration_cost *costs, const struct layout *l,
                         double *const demand[RES_COUNT], double *const entitlement[RES_COUNT],
                         struct arena *a)
{
    *costs = (struct migration_cost){.l = l, .ratio = 1};
    for (int r = 0; r < RES_COUNT; r++) {
        costs->demand[r] = demand[r];
        costs->entitlement[r] = entitlement[r];
        find_most(costs, r, a);
        costs->unit[r] = arena_array(a, struct load_range, l->n_units);
        costs->slot[r] = arena_array(a, struct load_range, (size_t)l->n_slots + 1);
        costs->slot_shortage[r] = arena_array(a, struct load_shortage, (size_t)l->n_slots + 1);
        for (uint32_t i = 0; i < l->n_on; i++)
            costs->capacity[r] += migration_cost_capacity(costs, r, i);
    }
    costs->fastest = arena_array(a, struct unit_copy, l->n_units);
    costs->left = arena_array(a, struct shortage_left, l->n_units);
    costs->changed_at = arena_array(a, uint64_t, (size_t)l->n_slots + 1);
    costs->least = arena_array(a, double, l->n_units);
    costs->fixed = arena_array(a, double, l->n_units);
    costs->unit_stable_s = arena_array(a, double, l->n_units);
    costs->slot_stable = arena_array(a, double, (size_t)l->n_slots + 1);
    costs->short_for_long = arena_array(a, bool, (size_t)l->n_slots + 1);
    for (uint32_t i = 0; i < l->n_on; i++)
        costs->short_for_long[i] = is_short_for_long(l, i);
    rates_init(&costs->rates, l, a);
    contention_init(&costs->contention, l, entitlement, a);
    parallel_for(l->policy->thread_pool, l->n_units, LAYOUT_UNITS_GRAIN, set_units, costs);
    for (uint32_t i = 0; i < l->n_slots; i++)
        add_own_use(costs, i);
    for (uint32_t u = 0; u < l->n_units; u++)
        add_to_slot(costs, u, l->unit_slot[u], 1);
    for (uint32_t i = 0; i < l->snap->n_vms; i++)
        if (l->going_to[i] != IX_NONE)
            follow_flight(costs, i);
    double load_sum = 0;
    double stable_sum = 0;
    for (uint32_t i = 0; i < l->n_slots; i++) {
        set_shortage(costs, i);
        load_sum += costs->slot[RES_CPU][i].load;
        stable_sum += costs->slot_stable[i];
    }
    costs->stable_mean = load_sum > 0 ? stable_sum / load_sum : 0;
    layout_weights(l, costs->weight);
}

void migration_cost_move(struct migration_cost *costs, uint32_t unit, uint32_t from_slot, uint32_t to_slot)
{
    add_to_slot(costs, unit, from_slot, -1);
    add_to_slot(costs, unit, to_slot, 1);
    contention_move(&costs->contention, unit, from_slot, to_slot);
    set_shortage(costs, from_slot);
    set_shortage(costs, to_slot);
    if (costs->rates.differ)
        set_least(costs, unit, to_slot);
}

void migration_cost_set_weights(struct migration_cost *costs, const double weight[RES_COUNT])
{
    costs->weight[RES_CPU] = weight[RES_CPU];
    costs->weight[RES_MEM] = weight[RES_MEM];
}

/* ---- benefit ---- */

double migration_cost_stable_time(const struct migration_cost *costs, uint32_t slot)
{
    double load = costs->slot[RES_CPU][slot].load;
    double stable = load > 0 ? costs->slot_stable[slot] / load : 0;

    return stable < costs->stable_mean ? positive(stable) : costs->stable_mean;
}

/* A time that is at least t with probability (stable / (stable + t))², so that stable is its mean: what is
 * left of it after the migration, in the mean. */
double migration_cost_time_after(const struct migration_cost *costs, uint32_t slot, double stable_s,
                                 double duration_s)
{
    if (!costs->short_for_long[slot] || !(stable_s > 0))
        return positive(stable_s - duration_s);
    return stable_s * stable_s / (stable_s + duration_s);
}

/* Fills what the shortage grows by, at today's loads and in the worst case. */
static void compare_shortage(const struct migration_cost *costs, uint32_t unit, uint32_t d,
                             struct migration_worth *ret)
{
    const struct layout *l = costs->l;
    uint32_t s = l->unit_slot[unit];
    const struct shortage_left *left = shortage_left(costs, unit);

    for (int r = 0; r < RES_COUNT; r++) {
        const struct load_range *u = &costs->unit[r][unit];
        const struct load_range *here = &costs->slot[r][s];
        const struct load_range *there = &costs->slot[r][d];
        const struct load_shortage *from = &costs->slot_shortage[r][s];
        const struct load_shortage *to = &costs->slot_shortage[r][d];
        double cs = migration_cost_capacity(costs, r, s);
        double cd = migration_cost_capacity(costs, r, d);
        double joined = there->load + u->load;
        double lack = contention_lack_with(&costs->contention, (enum resource)r, d, unit);
        double joined_today = fmax(joined - cd, lack) + headroom_shortage(costs, joined, r, d);
        double headroom = from->headroom + to->headroom;
        double now = from->expected + to->expected - headroom;
        double worst_stay = positive(left->min[r] + u->max - cs) + positive(there->max - cd);
        double worst_move = positive(left->min[r] - cs) + positive(there->max + u->max - cd);
        ret->worse_of[r] = worst_move - fmax(worst_stay, now);
        ret->more_of[r] = left->today[r] + joined_today - headroom -
                          fmax(here->load - cs, contention_lack(&costs->contention, (enum resource)r, s)) -
                          fmax(there->load - cd, contention_lack(&costs->contention, (enum resource)r, d));
    }
    double worst_case = migration_cost_over_capacity(costs, ret->worse_of);
    double today = migration_cost_over_capacity(costs, ret->more_of);
    ret->worse = fmax(worst_case, today);
    ret->today = today > worst_case;
}

double migration_cost_worse(const struct migration_cost *costs, uint32_t unit, uint32_t to_slot)
{
    struct migration_worth w;

    compare_shortage(costs, unit, to_slot, &w);
    return w.worse;
}

double migration_cost_stopped(const struct migration_cost *costs, uint32_t slot, double time_s)
{
    const struct snapshot *s = costs->l->snap;
    const struct host_losses *lost = &s->hosts[costs->l->slot_host[slot]].is.losses;
    double up_s = fmax((double)(s->time - lost->last), 0);
    double stays = 1;

    for (uint32_t i = 0; i < lost->n && i < LOSSES_MAX && time_s > 0; i++)
        stays *= up_s / (up_s + time_s);
    return (1 - stays) * RESTART_S;
}

void migration_cost_benefit(const struct migration_cost *costs, uint32_t unit, uint32_t to_slot,
                            struct migration_worth *ret)
{
    uint32_t s = costs->l->unit_slot[unit];
    double stable = migration_cost_stable_time(costs, s);
    const struct shortage_left *left = shortage_left(costs, unit);

    migration_cost_between(costs, unit, s, to_slot, ret);
    ret->stable_s = stable;
    migration_cost_add_reclaimed(ret, layout_reclaims(costs->l, unit, to_slot, 0));
    double after_s = migration_cost_time_after(costs, s, stable, ret->duration_s);
    double stopped_s = migration_cost_stopped(costs, to_slot, stable);
    for (int r = 0; r < RES_COUNT; r++) {
        struct load_range joined = load_range_plus(costs->slot[r][to_slot], &costs->unit[r][unit], 1);
        double lack = contention_lack_with(&costs->contention, (enum resource)r, to_slot, unit);
        /* shortfall.c approximates, so that the difference may come out a little below 0 */
        double taken = positive(migration_cost_shortage(costs, &joined, r, to_slot, lack).expected -
                                costs->slot_shortage[r][to_slot].expected);
        double relief = costs->slot_shortage[r][s].expected - left->expected[r];
        /* the destination holds the VM's memory from the first page on */
        ret->benefit[r] = relief * after_s - taken * (r == RES_MEM ? stable : after_s) -
                          stopped_s * costs->unit[r][unit].load;
    }
    ret->gain = migration_cost_over_capacity(costs, ret->benefit);
    ret->loss = migration_cost_over_capacity(costs, ret->cost);
}

void migration_cost_worth(const struct migration_cost *costs, uint32_t unit, uint32_t to_slot,
                          struct migration_worth *ret)
{
    migration_cost_benefit(costs, unit, to_slot, ret);
    compare_shortage(costs, unit, to_slot, ret);
}

bool migration_cost_pays(const struct migration_cost *costs, const struct migration_worth *w)
{
    return costs->ratio > 0 ? w->gain > costs->ratio * w->loss : w->gain >= 0;
}

/* An upper bound of the benefit: the relief of the source, without any shortage on the destination. */
static double most_to_gain(const struct migration_cost *costs, uint32_t unit, int r, double stable)
{
    uint32_t s = costs->l->unit_slot[unit];
    double now = costs->slot_shortage[r][s].expected;

    return now > 0 ? (now - shortage_left(costs, unit)->expected[r]) * stable : 0;
}

/* ... over the cluster's capacity and weighted. */
static double most_gain(const struct migration_cost *costs, uint32_t unit, double stable)
{
    double gain[RES_COUNT];

    for (int r = 0; r < RES_COUNT; r++)
        gain[r] = most_to_gain(costs, unit, r, stable) * MARGIN;
    return migration_cost_over_capacity(costs, gain);
}

/* At rate r the cost is at least fixed + (least - fixed) × fastest / r. */
double migration_cost_rate_needed(const struct migration_cost *costs, uint32_t unit)
{
    double weight = costs->ratio * costs->weight[RES_CPU] / costs->capacity[RES_CPU];
    double stable = migration_cost_stable_time(costs, costs->l->unit_slot[unit]);
    double left = most_gain(costs, unit, stable) - weight * costs->fixed[unit];
    double by_rate =
        weight * (costs->least[unit] - costs->fixed[unit]) * costs->rates.fastest[costs->l->unit_slot[unit]];

    if (!(costs->ratio > 0))
        return 0;
    return left > 0 ? by_rate / left / MARGIN : NO_LIMIT;
}

/* An upper bound of most_gain() for every unit of the slot: the end of all its shortage. */
static double most_gain_of_slot(const struct migration_cost *costs, uint32_t slot, double stable)
{
    double gain[RES_COUNT];

    for (int r = 0; r < RES_COUNT; r++)
        gain[r] = costs->slot_shortage[r][slot].expected * stable * MARGIN;
    return migration_cost_over_capacity(costs, gain);
}

/* What a move of the unit must gain at least, where the source has a single copy rate. */
static double least_needed(const struct migration_cost *costs, uint32_t unit)
{
    return costs->ratio * costs->weight[RES_CPU] * costs->least[unit] / costs->capacity[RES_CPU];
}

bool migration_cost_may_pay(const struct migration_cost *costs, uint32_t unit)
{
    uint32_t s = costs->l->unit_slot[unit];

    if (!(costs->ratio > 0))
        return true;
    if (!costs->rates.single[s])
        return migration_cost_rate_needed(costs, unit) < costs->rates.fastest[s];
    double cost = least_needed(costs, unit);
    double after_s = migration_cost_time_after(costs, s, migration_cost_stable_time(costs, s),
                                               costs->fastest[unit].duration_s);
    return most_gain_of_slot(costs, s, after_s) > cost && most_gain(costs, unit, after_s) > cost;
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
