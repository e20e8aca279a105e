/* Keeps the utilization of each host in three windows, move by move; computes the high and low score. */
#include "core/power/utilization.h"

#include "base/thread_pool.h"
#include "core/demand/sample_guard.h"

/* Two sums of the same numbers may differ by this share, because their order of addition differs. */
#define ROUNDING 1e-9

/* Hosts are filled up to the target plus this part of the tolerance (chosen by simulation, README.md). */
#define FILL_PART 0.25

/* §4.2 has "the mean of the demand over the last 60 minutes plus three standard deviations". Bursts are not
 * distributed normally: beyond three deviations they still lack more than an admin accepts (measured.md). */
#define WORST_DEVIATIONS 4

/* A VM that is being placed takes its configured demand. */
static double able_of(const struct utilization *u, uint32_t vm, enum resource r)
{
    const struct vm *v = &u->l->snap->vms[vm];
    double most = v->host != IX_NONE ? sample_guard_most(u->l->snap, vm, r) : v->is.demand[r];

    return fmin(most, vm_facts_limit_in_force(&v->is, r));
}

static void add_vm(const struct utilization *u, uint32_t vm, struct loads *to)
{
    for (int r = 0; r < RES_COUNT; r++) {
        to->now[r] += capped_demand_now(u->capped, vm, (enum resource)r);
        double rise = u->l->snap->vms[vm].is.rise[r];
        to->rise[r] += isnan(rise) ? 0 : rise;
        to->able[r] += able_of(u, vm, (enum resource)r);
    }
    for (int w = 0; w < WINDOW_COUNT; w++)
        for (int r = 0; r < RES_COUNT; r++) {
            struct figures is;
            capped_demand_window(u->capped, vm, (enum window)w, (enum resource)r, &is);
            to->mean[w][r] += is.mean;
            to->variance[w][r] += is.variance;
            to->deviation[w][r] += sqrt(is.variance);
            to->most[w][r] += is.most;
        }
}

static void add_loads(struct loads *to, const struct loads *of, double by)
{
    for (int r = 0; r < RES_COUNT; r++) {
        to->now[r] += by * of->now[r];
        to->rise[r] += by * of->rise[r];
        to->able[r] += by * of->able[r];
    }
    for (int w = 0; w < WINDOW_COUNT; w++)
        for (int r = 0; r < RES_COUNT; r++) {
            to->mean[w][r] += by * of->mean[w][r];
            to->variance[w][r] += by * of->variance[w][r];
            to->deviation[w][r] += by * of->deviation[w][r];
            to->most[w][r] += by * of->most[w][r];
        }
}

/* What a host uses itself: its highest use of the last hour is what it can use at most. */
static void add_own_use(const struct own_use *own, struct loads *to)
{
    for (int r = 0; r < RES_COUNT; r++) {
        to->now[r] += own->now[r];
        to->able[r] += own->window[WINDOW_60M][r].max;
    }
    for (int w = 0; w < WINDOW_COUNT; w++)
        for (int r = 0; r < RES_COUNT; r++) {
            const struct demand_stats *is = &own->window[w][r];
            to->mean[w][r] += is->mean;
            to->variance[w][r] += is->stddev * is->stddev;
            to->deviation[w][r] += is->stddev;
            to->most[w][r] += is->max;
        }
}

/* Each part of the slots looks at the slots of all VMs, so there are few of them. */
#define SLOT_PARTS 8

/* Sums over the host and the VMs of each slot, in the order of the units; a migrating VM counts on its
 * destination. */
static void load_slots(void *arg, uint32_t begin, uint32_t end)
{
    const struct utilization *u = arg;
    const struct layout *l = u->l;

    for (uint32_t i = begin; i < end && i < l->n_slots; i++)
        add_own_use(&l->snap->hosts[l->slot_host[i]].own, &u->slot[i]);
    for (uint32_t i = 0; i < l->n_units; i++)
        for (uint32_t k = l->unit_from[i]; k < l->unit_from[i + 1]; k++) {
            uint32_t slot = layout_slot_of(l, l->unit_vms[k]);
            if (slot >= begin && slot < end)
                add_vm(u, l->unit_vms[k], &u->slot[slot]);
        }
}

static void load_units(void *arg, uint32_t begin, uint32_t end)
{
    const struct utilization *u = arg;

    for (uint32_t i = begin; i < end; i++)
        for (uint32_t k = u->l->unit_from[i]; k < u->l->unit_from[i + 1]; k++)
            add_vm(u, u->l->unit_vms[k], &u->unit[i]);
}

static void sum_wanted(struct utilization *u)
{
    const struct layout *l = u->l;

    for (uint32_t k = 0; k < l->unit_from[l->n_units]; k++) {
        const struct vm_facts *v = &l->snap->vms[l->unit_vms[k]].is;
        for (int w = 0; w < WINDOW_COUNT; w++)
            for (int r = 0; r < RES_COUNT; r++)
                u->wanted[w][r] += fmin(v->window[w][r].mean, vm_facts_limit_in_force(v, r));
    }
}

static double positive(double x)
{
    return x > 0 ? x : 0;
}

/* Mean plus so many deviations of the sum. */
static double upper(const struct utilization *u, const struct loads *loads, enum window w, enum resource r,
                    double deviations)
{
    double correlation = u->l->snap->correlation.of[w][r];
    double alone = positive(loads->variance[w][r]);
    double all = positive(loads->deviation[w][r]);
    double independent = loads->mean[w][r] + deviations * sqrt(alone);

    if (!(correlation > 0))
        return independent;
    double correlated =
        loads->mean[w][r] + deviations * sqrt((1 - correlation) * alone + correlation * all * all);
    return fmax(independent, fmin(correlated, loads->most[w][r]));
}

double utilization_of(const struct utilization *u, const struct loads *loads, enum window w, enum resource r,
                      uint32_t slot)
{
    double demand = upper(u, loads, w, r, UTILIZATION_DEVIATIONS);

    if (u->surge && w == WINDOW_5M)
        demand = fmax(demand, loads->now[r]);
    return demand * u->l->inverse[r][slot];
}

/* Whether mean plus deviations of both together is at most `most`; avoids the square root. */
static bool is_within(const struct utilization *u, const struct loads *x, const struct loads *y,
                      enum window w, enum resource r, double deviations, double most)
{
    double room = most - x->mean[w][r] - y->mean[w][r];
    double alone = x->variance[w][r] + y->variance[w][r];
    double correlation = u->l->snap->correlation.of[w][r];

    if (room < 0 || deviations * deviations * alone > room * room)
        return false;
    if (!(correlation > 0))
        return true;
    double all = x->deviation[w][r] + y->deviation[w][r];
    double variance = (1 - correlation) * alone + correlation * all * all;

    return deviations * deviations * variance <= room * room || x->most[w][r] + y->most[w][r] <= most;
}

/* The demand of the slot's VMs at a sudden rise. */
static double risen(const struct utilization *u, double mean, double rise, enum resource r)
{
    return fmax(u->rise[r] * mean, u->rise_is_missed[r] ? 0 : mean + rise);
}

bool utilization_holds_worst(const struct utilization *u, uint32_t unit, uint32_t slot)
{
    const struct loads *have = &u->slot[slot];
    const struct loads *more = &u->unit[unit];

    for (int r = 0; r < RES_COUNT; r++) {
        double most = (1 + ROUNDING) / u->l->inverse[r][slot];
        double now = have->mean[WINDOW_40M][r] + more->mean[WINDOW_40M][r];
        if (have->able[r] + more->able[r] <= most)
            continue;
        if (risen(u, now, have->rise[r] + more->rise[r], (enum resource)r) > most)
            return false;
        if (u->l->policy->dpm.bursts &&
            !is_within(u, have, more, WINDOW_60M, (enum resource)r, WORST_DEVIATIONS, most))
            return false;
    }
    return true;
}

double utilization_worst(const struct utilization *u, uint32_t unit, uint32_t slot, enum resource r)
{
    struct loads both = u->slot[slot];

    add_loads(&both, &u->unit[unit], 1);
    double worst = fmax(upper(u, &both, WINDOW_60M, r, WORST_DEVIATIONS),
                        risen(u, both.mean[WINDOW_40M][r], both.rise[r], r));
    return fmin(worst, both.able[r]);
}

double utilization_risen(const struct utilization *u, uint32_t unit, uint32_t slot, enum resource r)
{
    const struct loads *have = &u->slot[slot];
    const struct loads *more = &u->unit[unit];

    return risen(u, have->mean[WINDOW_40M][r] + more->mean[WINDOW_40M][r], have->rise[r] + more->rise[r], r);
}

static double square_beyond(double excess)
{
    return excess > ROUNDING ? excess * excess : 0;
}

/* The top of the range, or of the host's own use, which no wake relieves. */
static double top_of(const struct utilization *u, uint32_t slot, enum resource r)
{
    const struct demand_stats *own = &u->l->snap->hosts[u->l->slot_host[slot]].own.window[WINDOW_5M][r];

    return fmax(u->above, (own->mean + UTILIZATION_DEVIATIONS * own->stddev) * u->l->inverse[r][slot]);
}

static void set_squares(struct utilization *u, uint32_t slot)
{
    const struct loads *loads = &u->slot[slot];

    for (int r = 0; r < RES_COUNT; r++) {
        u->high[r][slot] =
            square_beyond(utilization_of(u, loads, WINDOW_5M, (enum resource)r, slot) - top_of(u, slot, r));
        u->low[r][slot] =
            square_beyond(u->below - utilization_of(u, loads, WINDOW_40M, (enum resource)r, slot));
    }
}

static bool is_short(const struct utilization *u, uint32_t slot)
{
    return u->slot[slot].now[RES_CPU] * u->l->inverse[RES_CPU][slot] > 1 + ROUNDING ||
           u->slot[slot].now[RES_MEM] * u->l->inverse[RES_MEM][slot] > 1 + ROUNDING;
}

static void begin(struct utilization *u, const struct layout *l, struct arena *a)
{
    const struct capped_demand *capped = u->capped;

    if (!capped) {
        struct capped_demand *its = arena_new(a, struct capped_demand);
        capped_demand_init(its, l->snap, a);
        capped = its;
    }
    *u = (struct utilization){.l = l,
                              .capped = capped,
                              .aim = (l->policy->dpm.target + l->policy->dpm.tolerance * FILL_PART) / 100,
                              .above = (l->policy->dpm.target + l->policy->dpm.tolerance) / 100,
                              .below = (l->policy->dpm.target - l->policy->dpm.tolerance) / 100};
    u->slot = arena_array(a, struct loads, (size_t)l->n_slots + 1);
    for (int r = 0; r < RES_COUNT; r++) {
        u->high[r] = arena_array(a, double, l->n_slots);
        u->low[r] = arena_array(a, double, l->n_slots);
    }
    uint32_t grain = layout_slots_grain(l);
    uint32_t part = l->n_slots / SLOT_PARTS + 1;
    parallel_for(l->policy->thread_pool, l->n_slots + 1, part > grain ? part : grain, load_slots, u);
    for (uint32_t i = 0; i < l->n_slots && !u->surge; i++)
        u->surge = utilization_counts(l, i) && is_short(u, i);
    for (uint32_t i = 0; i < l->n_slots; i++)
        set_squares(u, i);
}

void utilization_init(struct utilization *u, const struct layout *l, struct arena *a)
{
    begin(u, l, a);
    sum_wanted(u);
    u->unit = arena_array(a, struct loads, l->n_units);
    parallel_for(l->policy->thread_pool, l->n_units, LAYOUT_UNITS_GRAIN, load_units, u);
}

void utilization_move(struct utilization *u, uint32_t unit, uint32_t from, uint32_t to,
                      struct utilization_mark *ret)
{
    *ret = (struct utilization_mark){.slot = {from, to}, .loads = {u->slot[from], u->slot[to]}};
    add_loads(&u->slot[from], &u->unit[unit], -1);
    add_loads(&u->slot[to], &u->unit[unit], 1);
    set_squares(u, from);
    set_squares(u, to);
}

void utilization_undo(struct utilization *u, const struct utilization_mark *mark)
{
    for (int i = 0; i < 2; i++) {
        u->slot[mark->slot[i]] = mark->loads[i];
        set_squares(u, mark->slot[i]);
    }
}

/* Scales as if there were so many times the VMs, independent of one another: variances add. The forecast is
 * an upper value already. */
/* all: of the cluster. As far as VMs have risen together before, each rises as it did then, and the rest in
 * proportion to its demand. */
static void scale_loads(struct loads *x, const struct loads *all, const double by[RES_COUNT])
{
    for (int w = 0; w < WINDOW_COUNT; w++)
        for (int r = 0; r < RES_COUNT; r++) {
            double more = (by[r] - 1) * all->mean[w][r];
            double own = more > 0 && all->rise[r] > 0 ? fmin(more / all->rise[r], 1) : 0;
            double rest = all->mean[w][r] > 0 ? (more - own * all->rise[r]) / all->mean[w][r] : 0;
            x->mean[w][r] += x->mean[w][r] * rest + own * x->rise[r];
            x->variance[w][r] *= by[r];
            x->deviation[w][r] *= by[r];
            x->most[w][r] *= by[r];
        }
}

void utilization_scale(struct utilization *u, const double by[RES_COUNT])
{
    struct loads all = {0};

    u->surge = false;
    for (uint32_t i = 0; i < u->l->n_units; i++)
        add_loads(&all, &u->unit[i], 1);
    for (uint32_t i = 0; i < u->l->n_units; i++)
        scale_loads(&u->unit[i], &all, by);
    for (uint32_t i = 0; i < u->l->n_slots; i++) {
        scale_loads(&u->slot[i], &all, by);
        set_squares(u, i);
    }
}

void utilization_score(const struct utilization *u, struct scores *ret)
{
    *ret = (struct scores){0};
    for (uint32_t i = 0; i < u->l->n_slots; i++) {
        if (!utilization_counts(u->l, i))
            continue;
        for (int r = 0; r < RES_COUNT; r++) {
            ret->high[r] += u->high[r][i];
            ret->low[r] += u->low[r][i];
        }
    }
    for (int r = 0; r < RES_COUNT; r++) {
        ret->high[r] = sqrt(ret->high[r]);
        ret->low[r] = sqrt(ret->low[r]);
    }
}

bool utilization_takes(const struct utilization *u, uint32_t unit, uint32_t slot, enum window w, double most)
{
    const struct loads *have = &u->slot[slot];
    const struct loads *more = &u->unit[unit];

    for (int r = 0; r < RES_COUNT; r++) {
        if (u->surge && w == WINDOW_5M &&
            (have->now[r] + more->now[r]) * u->l->inverse[r][slot] > most + ROUNDING)
            return false;
        if (!is_within(u, have, more, w, (enum resource)r, UTILIZATION_DEVIATIONS,
                       most / u->l->inverse[r][slot]))
            return false;
    }
    return true;
}

double utilization_high_without(const struct utilization *u, uint32_t unit, uint32_t slot)
{
    struct loads left = u->slot[slot];
    double squares = 0;

    add_loads(&left, &u->unit[unit], -1);
    for (int r = 0; r < RES_COUNT; r++)
        squares +=
            square_beyond(utilization_of(u, &left, WINDOW_5M, (enum resource)r, slot) - top_of(u, slot, r));
    return squares;
}

void utilization_scores(const struct layout *l, const struct capped_demand *capped,
                        double ret_high[RES_COUNT], double ret_low[RES_COUNT])
{
    struct utilization u = {.capped = capped};
    struct scores s;

    begin(&u, l, l->a);
    utilization_score(&u, &s);
    for (int r = 0; r < RES_COUNT; r++) {
        ret_high[r] = s.high[r];
        ret_low[r] = s.low[r];
    }
}
