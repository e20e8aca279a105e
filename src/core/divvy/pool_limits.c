/* Caps demand by the limits of pools, whatever the capacity. */
#include "core/divvy/divvy.h"

/* Two sums of the same numbers differ by less than this factor. */
#define ROUNDED (1 + 1e-9)

bool divvy_has_limits(const struct snapshot *snap, enum resource r)
{
    for (uint32_t i = 0; i < snap->n_pools; i++)
        if (snap->pools[i].is.alloc[r].limit < NO_LIMIT)
            return true;
    return false;
}

/* Demand of each node within its own limit, from the leaves up. Returns whether a limit binds. */
static bool add_up(const struct divvy_tree *t, const double *demand, double *ret_wants)
{
    bool binds = false;

    for (uint32_t i = t->n; i-- > 0;) {
        const struct divvy_node *node = &t->nodes[i];
        double wants = node->kind == DIVVY_VM ? demand[node->ix] : 0;

        for (uint32_t c = 0; c < node->n_children; c++)
            wants += ret_wants[node->first_child + c];
        bool over = i > 0 && node->kind == DIVVY_POOL && wants > node->set.limit * ROUNDED;
        binds = binds || over;
        ret_wants[i] = over ? node->set.limit : wants;
    }
    return binds;
}

/* Divides a node's capped demand among its children, as it divides its entitlement, if they want more. */
static void pass_down(const struct divvy_tree *t, uint32_t i, struct arena *a, double *has)
{
    const struct divvy_node *node = &t->nodes[i];
    struct divvy_child *children = arena_array(a, struct divvy_child, node->n_children);
    double wants = 0;

    for (uint32_t c = 0; c < node->n_children; c++) {
        const struct divvy_node *kid = &t->nodes[node->first_child + c];
        double its = has[node->first_child + c];

        wants += its;
        children[c] =
            (struct divvy_child){.reservation = fmin(kid->reserve, its), .limit = its, .shares = kid->weight};
    }
    if (i > 0 && wants > has[i] * ROUNDED)
        divvy_solve_shares(children, node->n_children, has[i], a, &has[node->first_child]);
}

bool divvy_limit(const struct divvy_tree *t, struct arena *a, double *demand)
{
    double *has = arena_array(a, double, t->n);

    if (!add_up(t, demand, has))
        return false;
    for (uint32_t i = 0; i < t->n; i++)
        if (t->nodes[i].n_children > 0)
            pass_down(t, i, a, has);
    for (uint32_t i = 1; i < t->n; i++)
        if (t->nodes[i].kind == DIVVY_VM)
            demand[t->nodes[i].ix] = has[i];
    return true;
}
