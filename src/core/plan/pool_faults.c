/* Adds a fault for each pool whose reservations exceed what its parents and the cluster can give. */
#include "core/plan/faults.h"

/* Two sums of the same numbers may differ by this share, because their order of addition differs. */
#define ROUNDING 1e-6

struct pool_check {
    struct pass *p;
    enum resource r;
    double *set_below;  /* by pool: Σ of its children's configured reservations, without expansion */
    uint32_t *lacks_at; /* by pool: the pool (itself or an ancestor) that lacks the capacity; IX_NONE: none,
                           or the cluster lacks it */
    bool *named;        /* by pool: a descendant's fault already names this pool */
};

static bool exceeds(double a, double b)
{
    return a > b + ROUNDING + 1e-9 * b;
}

static void add_up_settings(struct pool_check *c)
{
    const struct snapshot *s = c->p->snap;

    for (uint32_t i = 0; i < s->n_vms; i++)
        if (s->vms[i].pool != IX_NONE && vm_takes_part(s, &s->vms[i]))
            c->set_below[s->vms[i].pool] += s->vms[i].is.alloc[c->r].reservation;
    for (uint32_t i = 0; i < s->n_pools; i++)
        if (s->pools[i].parent != IX_NONE)
            c->set_below[s->pools[i].parent] += s->pools[i].is.alloc[c->r].reservation;
}

/* Parents come first, so the ancestors' shortages are known. */
static void find_who_lacks(struct pool_check *c)
{
    const struct snapshot *s = c->p->snap;
    const struct admission *ad = &c->p->admission;

    for (uint32_t i = s->n_pools; i-- > 0;) {
        uint32_t pool = ad->order[i];
        const struct alloc *set = &s->pools[pool].is.alloc[c->r];
        double used = ad->used[c->r][pool];
        uint32_t parent = s->pools[pool].parent;
        bool own = exceeds(used, set->expandable ? set->limit : set->reservation);
        c->lacks_at[pool] = !exceeds(used, set->reservation) ? IX_NONE
                            : own                            ? pool
                            : parent == IX_NONE              ? IX_NONE
                                                             : c->lacks_at[parent];
    }
}

static struct finding find_pool(const struct pool_check *c, uint32_t pool)
{
    const struct alloc *set = &c->p->snap->pools[pool].is.alloc[c->r];
    uint32_t at = c->lacks_at[pool];

    return (struct finding){
        .code = FIND_POOL_OVERCOMMITTED,
        .resource = c->r,
        .subjects = {{SUBJECT_POOL, pool}, {SUBJECT_OTHER_POOL, at != pool ? at : IX_NONE}},
        .figures = {{FIGURE_NEED, c->p->admission.used[c->r][pool]},
                    {FIGURE_HAS, set->reservation},
                    {FIGURE_LIMIT, at == pool && set->expandable ? set->limit : UNKNOWN}}};
}

/* A pool gets a fault if the configured reservations of its children exceed what it can get. If only the
 * expansion of its children exceeds it, the children get the fault, unless none of them lacks anything. */
static void report_pools(struct pool_check *c)
{
    const struct snapshot *s = c->p->snap;
    bool *reported = arena_array(c->p->a, bool, s->n_pools);

    for (uint32_t i = 0; i < s->n_pools; i++) {
        uint32_t pool = c->p->admission.order[i];
        uint32_t at = c->lacks_at[pool];
        if (at == IX_NONE)
            continue;
        reported[pool] = exceeds(c->set_below[pool], s->pools[pool].is.alloc[c->r].reservation) ||
                         (at == pool && !c->named[pool]);
        c->named[at] = c->named[at] || reported[pool];
    }
    for (uint32_t i = 0; i < s->n_pools; i++)
        if (reported[i])
            plan_fault(c->p, FAULT_POOL_OVERCOMMITTED, IX_NONE, IX_NONE, IX_NONE, find_pool(c, i));
}

void plan_report_pools(struct pass *p)
{
    const struct snapshot *s = p->snap;

    for (int r = 0; r < RES_COUNT; r++) {
        struct pool_check c = {.p = p,
                               .r = (enum resource)r,
                               .set_below = arena_array(p->a, double, s->n_pools),
                               .lacks_at = arena_array(p->a, uint32_t, s->n_pools),
                               .named = arena_array(p->a, bool, s->n_pools)};
        double reserved = p->admission.used[r][s->n_pools];
        double capacity = p->admission.capacity[r];
        if (!(capacity > 0)) /* no host can run VMs: each VM that must leave has a fault of its own */
            continue;
        if (exceeds(reserved, capacity))
            plan_fault(p, FAULT_OVERCOMMITTED, IX_NONE, IX_NONE, IX_NONE,
                       (struct finding){.code = FIND_CLUSTER_OVERCOMMITTED,
                                        .resource = c.r,
                                        .figures = {{FIGURE_NEED, reserved}, {FIGURE_HAS, capacity}}});
        add_up_settings(&c);
        find_who_lacks(&c);
        report_pools(&c);
    }
}
