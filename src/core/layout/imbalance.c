/* Computes the metrics of §3.1.1: weights, σ, imbalance, target, outliers. */
#include "core/layout/layout.h"

/* 3 : 1, after the paper's experiments */
#define WEIGHT_SHORT 0.75
#define TARGET_STEP 0.1
#define OUTLIER_LOAD 0.5
/* A host that uses less than this part of its headroom is left alone within the target: DPM fills hosts up to
 * 81 %, and one host above the other by a percent is no reason for a migration. */
#define HEADROOM_UNUSED 0.1
#define ROUNDING 1e-9 /* two sums of the same numbers may differ by this share */

static void weights_of(bool cpu, bool mem, double ret_weight[RES_COUNT])
{
    ret_weight[RES_CPU] = cpu == mem ? 0.5 : cpu ? WEIGHT_SHORT : 1 - WEIGHT_SHORT;
    ret_weight[RES_MEM] = 1 - ret_weight[RES_CPU];
}

void layout_weights(const struct layout *l, double ret_weight[RES_COUNT])
{
    weights_of(l->over[RES_CPU] > 0, l->over[RES_MEM] > 0, ret_weight);
}

static double sigma_of(double sum, double sum_squares, uint32_t n)
{
    if (n == 0)
        return 0;
    double mean = sum / n;
    double variance = sum_squares / n - mean * mean;

    return sqrt(variance > 0 ? variance : 0);
}

double layout_load_stddev(const struct layout *l, enum resource r)
{
    return sigma_of(l->sum[r], l->sum_squares[r], l->n_on);
}

double layout_imbalance(const struct layout *l)
{
    double weight[RES_COUNT];

    layout_weights(l, weight);
    return weight[RES_CPU] * layout_load_stddev(l, RES_CPU) +
           weight[RES_MEM] * layout_load_stddev(l, RES_MEM);
}

double layout_target(const struct policy *policy, uint32_t n_on, int64_t level)
{
    double target = n_on == 0 ? 0 : TARGET_STEP * (double)(LAYOUT_LEVEL_LAST - level) * sqrt(2.0 / n_on);

    if (policy->target == TARGET_AUTO)
        return target;
    return level == policy->migration_threshold ? policy->target : fmax(target, policy->target);
}

/* How far max and min of N may differ, by level (README.md). */
static const double difference_of_level[] = {[2] = 0.30, [3] = 0.20, [4] = 0.10, [5] = 0.05};

/* The fullest and the emptiest of the slots that count. */
struct extremes {
    uint32_t fullest, emptiest; /* IX_NONE: no slot counts */
    double most, least;
};

/* end: at the end of the plan, with the hosts that it wakes and without those that it puts to standby. */
static struct extremes find_extremes(const struct layout *l, int r, bool end)
{
    struct extremes x = {.fullest = IX_NONE, .emptiest = IX_NONE, .least = NO_LIMIT};
    uint32_t n = end ? l->n_slots : l->n_on;

    for (uint32_t i = 0; i < n; i++) {
        if (end && !layout_counts(l, i))
            continue;
        if (x.fullest == IX_NONE || l->norm[r][i] > x.most) {
            x.fullest = i;
            x.most = l->norm[r][i];
        }
        if (l->norm[r][i] < x.least) {
            x.emptiest = i;
            x.least = l->norm[r][i];
        }
    }
    return x;
}

static bool is_outlier(const struct extremes *x, int64_t level)
{
    return level >= LAYOUT_LEVEL_FIRST && level <= LAYOUT_LEVEL_LAST && x->most > OUTLIER_LOAD + ROUNDING &&
           x->most - x->least > difference_of_level[level] + ROUNDING;
}

/* The load up to which a host keeps its headroom, which is a part of the benefit. */
static double load_with_headroom(const struct layout *l, int r)
{
    return !l->policy->cost_benefit ? 1 : 1 - l->policy->headroom_percent[r] / 100;
}

static bool lacks_headroom(const struct layout *l, int r, const struct extremes *x)
{
    double begins = 1 - (1 - HEADROOM_UNUSED) * (1 - load_with_headroom(l, r));

    return l->policy->cost_benefit && x->most > begins + ROUNDING && x->least < x->most - ROUNDING;
}

bool layout_has_outlier(const struct layout *l, int64_t level)
{
    for (int r = 0; r < RES_COUNT; r++) {
        struct extremes x = find_extremes(l, r, false);
        if (is_outlier(&x, level))
            return true;
    }
    return false;
}

bool layout_lacks_headroom(const struct layout *l)
{
    for (int r = 0; r < RES_COUNT; r++) {
        struct extremes x = find_extremes(l, r, false);
        if (lacks_headroom(l, r, &x))
            return true;
    }
    return false;
}

/* Lists the slots that count at the end of the plan: with the hosts that it wakes, without those that it puts
 * to standby. *ret_changed: whether there are any of either. */
static uint32_t list_counted(const struct layout *l, uint32_t *slots, bool *ret_changed)
{
    uint32_t n = 0;

    *ret_changed = false;
    for (uint32_t i = 0; i < l->n_slots; i++) {
        if (layout_counts(l, i))
            slots[n++] = i;
        *ret_changed = *ret_changed || layout_counts(l, i) != (i < l->n_on);
    }
    return n;
}

/* The running sums cover the hosts that are on now, so these are computed anew. */
double layout_imbalance_woken(const struct layout *l, double ret_of[RES_COUNT], double ret_weight[RES_COUNT])
{
    double sum[RES_COUNT] = {0};
    double squares[RES_COUNT] = {0};
    bool over[RES_COUNT] = {false};
    uint32_t n = 0;
    double imbalance = 0;

    for (uint32_t i = 0; i < l->n_slots; i++) {
        if (!layout_counts(l, i))
            continue;
        n++;
        for (int r = 0; r < RES_COUNT; r++) {
            double load = l->norm[r][i];
            sum[r] += load;
            squares[r] += load * load;
            over[r] = over[r] || load > LAYOUT_FULL;
        }
    }
    weights_of(over[RES_CPU], over[RES_MEM], ret_weight);
    for (int r = 0; r < RES_COUNT; r++) {
        ret_of[r] = sigma_of(sum[r], squares[r], n);
        imbalance += ret_weight[r] * ret_of[r];
    }
    return imbalance;
}

static struct finding find_headroom(const struct layout *l, int r, uint32_t slot)
{
    return (struct finding){
        .code = FIND_UNEVEN_HEADROOM,
        .resource = (enum resource)r,
        .subjects = {{SUBJECT_HOST, l->slot_host[slot]}},
        .figures = {{FIGURE_LOAD, l->norm[r][slot]}, {FIGURE_LOAD_MAX, load_with_headroom(l, r)}}};
}

static struct finding find_outlier(const struct layout *l, int r, const struct extremes *x, int64_t level)
{
    return (struct finding){.code = FIND_UNEVEN_OUTLIER,
                            .resource = (enum resource)r,
                            .subjects = {{SUBJECT_HOST, l->slot_host[x->fullest]},
                                         {SUBJECT_OTHER_HOST, l->slot_host[x->emptiest]}},
                            .figures = {{FIGURE_LOAD, x->most},
                                        {FIGURE_LOAD_OTHER, x->least},
                                        {FIGURE_DIFFERENCE_MAX, difference_of_level[level]}}};
}

/* The outlier that ends at the slots of a move: their own difference, or that of the fullest and the emptiest
 * slot if one of the two is the move's. False: there is none. */
static bool find_outlier_of_move(const struct layout *l, int r, uint32_t from, uint32_t to, int64_t level,
                                 struct extremes *ret)
{
    *ret = (struct extremes){from, to, l->norm[r][from], l->norm[r][to]};
    if (is_outlier(ret, level))
        return true;
    *ret = find_extremes(l, r, false);
    return (ret->fullest == from || ret->emptiest == to) && is_outlier(ret, level);
}

const struct finding *layout_uneven_move(const struct layout *l, int64_t level, enum resource first,
                                         uint32_t from, uint32_t to, struct arena *a)
{
    const enum resource order[RES_COUNT] = {first, first == RES_CPU ? RES_MEM : RES_CPU};
    struct extremes x;

    for (int i = 0; i < RES_COUNT; i++) {
        enum resource r = order[i];
        if (l->norm[r][from] > load_with_headroom(l, r) + ROUNDING && load_with_headroom(l, r) < 1)
            return finding_keep(a, find_headroom(l, r, from));
    }
    for (int i = 0; i < RES_COUNT; i++)
        if (find_outlier_of_move(l, order[i], from, to, level, &x))
            return finding_keep(a, find_outlier(l, order[i], &x, level));
    return NULL;
}

uint32_t layout_unevenness(const struct layout *l, int64_t level, double imbalance,
                           struct unevenness ret[UNEVENNESS_MAX], struct arena *a)
{
    struct extremes x[RES_COUNT];
    uint32_t n_counted = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < l->n_slots; i++)
        n_counted += layout_counts(l, i);
    for (int r = 0; r < RES_COUNT; r++)
        x[r] = find_extremes(l, r, true);
    double target = layout_target(l->policy, n_counted, level);
    if (imbalance > target)
        ret[n++] = (struct unevenness){
            UNEVEN_IMBALANCE, finding_keep(a, (struct finding){.code = FIND_UNEVEN_IMBALANCE,
                                                               .figures = {{FIGURE_IMBALANCE, imbalance},
                                                                           {FIGURE_TARGET, target}}})};
    for (int r = 0; r < RES_COUNT; r++)
        if (lacks_headroom(l, r, &x[r]))
            ret[n++] =
                (struct unevenness){UNEVEN_HEADROOM, finding_keep(a, find_headroom(l, r, x[r].fullest))};
    for (int r = 0; r < RES_COUNT; r++)
        if (is_outlier(&x[r], level))
            ret[n++] = (struct unevenness){UNEVEN_OUTLIER, finding_keep(a, find_outlier(l, r, &x[r], level))};
    return n;
}

void layout_metrics(const struct layout *l, struct metrics *ret, struct arena *a)
{
    uint32_t *slots = arena_array(a, uint32_t, l->n_slots);
    bool changed;
    uint32_t n = list_counted(l, slots, &changed);

    *ret = (struct metrics){.imbalance = layout_imbalance(l),
                            .target = layout_target(l->policy, n, l->policy->migration_threshold),
                            .n_hosts = n};
    layout_weights(l, ret->weight);
    ret->hosts = arena_array(a, struct host_load, n);
    for (uint32_t i = 0; i < n; i++)
        ret->hosts[i].host = l->slot_host[slots[i]];
    for (int r = 0; r < RES_COUNT; r++) {
        ret->imbalance_of[r] = layout_load_stddev(l, (enum resource)r);
        for (uint32_t i = 0; i < n; i++)
            ret->hosts[i].n[r] = l->norm[r][slots[i]];
    }
    if (changed)
        ret->imbalance = layout_imbalance_woken(l, ret->imbalance_of, ret->weight);
    ret->n_uneven = layout_unevenness(l, l->policy->migration_threshold, ret->imbalance, ret->uneven, a);
}
