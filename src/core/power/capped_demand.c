/* Caps the mean, deviation and maximum of each VM's demand by its own limit and its pools' limits. */
#include "core/power/capped_demand.h"

#include "core/divvy/divvy.h"
#include "core/divvy/enforced.h"

/* Not fmin(), which is called for each VM, window and resource: nothing here is NaN. */
static double least(double a, double b)
{
    return a < b ? a : b;
}

/* Caps the VM's figures by its own limit. */
static void own_figures(const struct vm_facts *v, enum window w, enum resource r, struct figures *ret)
{
    const struct demand_stats *is = &v->window[w][r];
    double limit = v->alloc[r].limit;

    ret->mean = least(is->mean, limit);
    ret->variance = is->stddev * is->stddev;
    if (w == WINDOW_60M && v->deviation[r] > is->stddev) /* false where it is UNKNOWN */
        ret->variance = v->deviation[r] * v->deviation[r];
    if (limit < NO_LIMIT)
        ret->variance = least(ret->variance, ret->mean * (limit - ret->mean));
    ret->most = least(is->max, limit);
}

void capped_demand_window(const struct capped_demand *capped, uint32_t vm, enum window w, enum resource r,
                          struct figures *ret)
{
    own_figures(&capped->snap->vms[vm].is, w, r, ret);
    if (!capped->mean[w][r])
        return;
    ret->mean = capped->mean[w][r][vm];
    ret->variance *= capped->deviation[w][r][vm] * capped->deviation[w][r][vm];
    ret->most *= capped->most[w][r][vm];
}

double capped_demand_now(const struct capped_demand *capped, uint32_t vm, enum resource r)
{
    const struct vm_facts *v = &capped->snap->vms[vm].is;

    return capped->now[r] ? capped->now[r][vm] : least(v->demand[r], v->alloc[r].limit);
}

/* Sums over all VMs below a node of the pool tree. */
struct sums {
    double mean, variance, deviation, most;
};

/* The factors by which a node's limit reduces the deviation and the maximum of the VMs below it. */
static void keep_within(double limit, double correlation, struct sums *is, double *ret_deviation,
                        double *ret_most)
{
    double all = (1 - correlation) * is->variance + correlation * is->deviation * is->deviation;
    double bound = fmax(is->mean * (limit - is->mean), 0);

    *ret_deviation = all > bound ? sqrt(bound / all) : 1;
    *ret_most = is->most > limit ? limit / is->most : 1;
    is->variance *= *ret_deviation * *ret_deviation;
    is->deviation *= *ret_deviation;
    is->most *= *ret_most;
}

/* The factors of each node, the root first: its own times those of its ancestors. */
static void find_parts(const struct divvy_tree *t, const struct snapshot *snap, enum window w,
                       enum resource r, const double *mean, struct arena *a, double *deviation, double *most)
{
    struct sums *sums = arena_array(a, struct sums, t->n);

    for (uint32_t i = t->n; i-- > 0;) {
        const struct divvy_node *node = &t->nodes[i];
        deviation[i] = most[i] = 1;
        if (node->kind == DIVVY_VM) {
            struct figures its;
            own_figures(&snap->vms[node->ix].is, w, r, &its);
            sums[i] = (struct sums){mean[node->ix], its.variance, sqrt(its.variance), its.most};
        } else if (i > 0 && node->set.limit < NO_LIMIT) {
            keep_within(node->set.limit, snap->correlation.of[w][r], &sums[i], &deviation[i], &most[i]);
        }
        if (i == 0)
            break;
        struct sums *up = &sums[node->parent];
        up->mean += sums[i].mean;
        up->variance += sums[i].variance;
        up->deviation += sums[i].deviation;
        up->most += sums[i].most;
    }
    for (uint32_t i = 1; i < t->n; i++) {
        deviation[i] *= deviation[t->nodes[i].parent];
        most[i] *= most[t->nodes[i].parent];
    }
}

/* Includes VMs that take no part; their figures are not used. */
static void limit_window(struct capped_demand *capped, const struct divvy_tree *t,
                         const struct snapshot *snap, enum window w, enum resource r, struct arena *a)
{
    double *mean = capped->mean[w][r] = arena_array(a, double, snap->n_vms);
    double *deviation = arena_array(a, double, t->n);
    double *most = arena_array(a, double, t->n);

    capped->deviation[w][r] = arena_array(a, double, snap->n_vms);
    capped->most[w][r] = arena_array(a, double, snap->n_vms);
    for (uint32_t i = 0; i < snap->n_vms; i++) {
        mean[i] = fmin(snap->vms[i].is.window[w][r].mean, snap->vms[i].is.alloc[r].limit);
        capped->deviation[w][r][i] = capped->most[w][r][i] = 1;
    }
    (void)divvy_limit(t, a, mean);
    find_parts(t, snap, w, r, mean, a, deviation, most);
    for (uint32_t i = 1; i < t->n; i++)
        if (t->nodes[i].kind == DIVVY_VM) {
            capped->deviation[w][r][t->nodes[i].ix] = deviation[i];
            capped->most[w][r][t->nodes[i].ix] = most[i];
        }
}

void capped_demand_init(struct capped_demand *capped, const struct snapshot *snap, struct arena *a)
{
    snap = enforced_view(snap, a);
    *capped = (struct capped_demand){.snap = snap};
    for (int r = 0; r < RES_COUNT; r++) {
        struct divvy_tree t;

        if (!divvy_has_limits(snap, (enum resource)r))
            continue;
        double *now = arena_array(a, double, snap->n_vms);
        for (uint32_t i = 0; i < snap->n_vms; i++)
            now[i] = fmin(snap->vms[i].is.demand[r], snap->vms[i].is.alloc[r].limit);
        divvy_build(snap, (enum resource)r, now, a, &t);
        (void)divvy_limit(&t, a, now);
        capped->now[r] = now;
        for (int w = 0; w < WINDOW_COUNT; w++)
            limit_window(capped, &t, snap, (enum window)w, (enum resource)r, a);
    }
}
