/* Builds the pool tree: demand from the leaves up, quantities from the root down. */
#include "core/divvy/divvy.h"

/* Two sums of the same numbers differ by less than this factor. */
#define ROUNDED (1 + 1e-9)

/* Working arrays of a build; the tree itself points into the arena. */
struct build {
    const struct snapshot *snap;
    enum resource r;
    const double *demand;
    struct arena *a;
    uint32_t *vms;       /* VMs that take part, grouped by pool; the root's group last */
    uint32_t *vm_from;   /* [n_pools + 2] */
    uint32_t *pools;     /* grouped by parent, likewise */
    uint32_t *pool_from; /* [n_pools + 2] */
};

/* The root's index among the pools. */
static uint32_t group_of(const struct snapshot *s, uint32_t pool)
{
    return pool == IX_NONE ? s->n_pools : pool;
}

/* Counting sort of the children by parent; keeps their order within a group. */
static void group_children(struct build *b)
{
    const struct snapshot *s = b->snap;
    uint32_t groups = s->n_pools + 1;

    b->vm_from = arena_array(b->a, uint32_t, groups + 1);
    b->pool_from = arena_array(b->a, uint32_t, groups + 1);
    for (uint32_t i = 0; i < s->n_vms; i++)
        if (vm_takes_part(s, &s->vms[i]))
            b->vm_from[group_of(s, s->vms[i].pool) + 1]++;
    for (uint32_t i = 0; i < s->n_pools; i++)
        b->pool_from[group_of(s, s->pools[i].parent) + 1]++;
    for (uint32_t g = 0; g < groups; g++) {
        b->vm_from[g + 1] += b->vm_from[g];
        b->pool_from[g + 1] += b->pool_from[g];
    }
    b->vms = arena_array(b->a, uint32_t, b->vm_from[groups]);
    b->pools = arena_array(b->a, uint32_t, s->n_pools);
    uint32_t *vm_next = arena_array(b->a, uint32_t, groups);
    uint32_t *pool_next = arena_array(b->a, uint32_t, groups);
    for (uint32_t i = 0; i < s->n_vms; i++) {
        if (!vm_takes_part(s, &s->vms[i]))
            continue;
        uint32_t g = group_of(s, s->vms[i].pool);
        b->vms[b->vm_from[g] + vm_next[g]++] = i;
    }
    for (uint32_t i = 0; i < s->n_pools; i++) {
        uint32_t g = group_of(s, s->pools[i].parent);
        b->pools[b->pool_from[g] + pool_next[g]++] = i;
    }
}

/* Breadth first: parents come before children, and siblings are adjacent. */
static void lay_out_nodes(struct build *b, struct divvy_tree *t)
{
    const struct snapshot *s = b->snap;
    uint32_t n_vms = b->vm_from[s->n_pools + 1];

    t->nodes = arena_array(b->a, struct divvy_node, (size_t)1 + s->n_pools + n_vms);
    t->nodes[0] = (struct divvy_node){.kind = DIVVY_POOL, .ix = IX_NONE, .parent = IX_NONE};
    t->n = 1;
    for (uint32_t i = 0; i < t->n; i++) {
        struct divvy_node *node = &t->nodes[i];
        if (node->kind == DIVVY_VM)
            continue;
        uint32_t g = group_of(s, node->ix);
        node->first_child = t->n;
        for (uint32_t j = b->pool_from[g]; j < b->pool_from[g + 1]; j++)
            t->nodes[t->n++] = (struct divvy_node){.kind = DIVVY_POOL,
                                                   .ix = b->pools[j],
                                                   .parent = i,
                                                   .depth = node->depth + 1,
                                                   .set = s->pools[b->pools[j]].is.alloc[b->r]};
        for (uint32_t j = b->vm_from[g]; j < b->vm_from[g + 1]; j++)
            t->nodes[t->n++] = (struct divvy_node){.kind = DIVVY_VM,
                                                   .ix = b->vms[j],
                                                   .parent = i,
                                                   .depth = node->depth + 1,
                                                   .set = s->vms[b->vms[j]].is.alloc[b->r]};
        node->n_children = t->n - node->first_child;
    }
}

static double root_capacity(const struct snapshot *s, enum resource r)
{
    double sum = 0;

    for (uint32_t i = 0; i < s->n_hosts; i++)
        if (host_can_run_vms(&s->hosts[i]))
            sum += host_room(&s->hosts[i], r);
    return sum;
}

/* With scalable shares, a pool's weight is its setting times the weight of its children. */
static double weight_of(const struct build *b, const struct divvy_tree *t, const struct divvy_node *node)
{
    if (node->kind == DIVVY_VM || node->ix == IX_NONE || !b->snap->pools[node->ix].is.scalable_shares)
        return node->set.shares;
    double sum = 0;

    for (uint32_t c = 0; c < node->n_children; c++)
        sum += t->nodes[node->first_child + c].weight;
    return node->set.shares * sum;
}

/* First phase: demand, expanded reservations and weights, from the leaves up. */
static void accumulate(struct build *b, struct divvy_tree *t)
{
    for (uint32_t i = t->n; i-- > 0;) {
        struct divvy_node *node = &t->nodes[i];
        double reserve = 0;
        double demand = node->kind == DIVVY_VM ? b->demand[node->ix] : 0;
        double shares = 0;

        node->n_vms = node->kind == DIVVY_VM;
        for (uint32_t c = 0; c < node->n_children; c++) {
            const struct divvy_node *kid = &t->nodes[node->first_child + c];
            node->n_vms += kid->n_vms;
            reserve += kid->reserve;
            demand += kid->demand;
            shares += kid->weight;
        }
        if (i == 0) {
            double capacity = root_capacity(b->snap, b->r);
            node->set = (struct alloc){.reservation = capacity, .limit = capacity, .shares = shares};
            node->demand = demand;
            node->reserve = reserve;
            node->divvied = (struct divvy_child){capacity, capacity, shares};
            break;
        }
        bool expands = node->kind == DIVVY_POOL && node->set.expandable;
        node->reserve =
            fmin(expands ? fmax(node->set.reservation, reserve) : node->set.reservation, node->set.limit);
        node->demand = fmin(fmax(demand, node->reserve), node->set.limit);
        node->weight = weight_of(b, t, node);
        node->divvied.shares = node->weight;
    }
}

enum quantity { Q_RESERVATION, Q_LIMIT, Q_ENTITLEMENT };

/* Divides one quantity of a node among its children. */
static void portion_out(struct build *b, struct divvy_tree *t, uint32_t i, enum quantity q, double *portion,
                        struct divvy_child *children)
{
    const struct divvy_node *node = &t->nodes[i];
    const struct divvy_node *kids = &t->nodes[node->first_child];
    double quantity = q == Q_RESERVATION ? node->divvied.reservation
                      : q == Q_LIMIT     ? node->divvied.limit
                                         : node->entitlement;
    double demand = 0;
    double reserve = 0;

    for (uint32_t c = 0; c < node->n_children; c++)
        demand += kids[c].demand;
    /* a quantity that was computed from these demands is no shortage, whatever its last digit */
    bool replace = q == Q_ENTITLEMENT || demand > quantity * ROUNDED;
    for (uint32_t c = 0; c < node->n_children; c++) {
        double r = t->nodes[node->first_child + c].reserve;
        double limit = replace ? fmin(kids[c].set.limit, fmax(kids[c].demand, r)) : kids[c].set.limit;
        children[c] = (struct divvy_child){.reservation = r, .limit = limit, .shares = kids[c].weight};
        reserve += r;
    }
    if (q == Q_ENTITLEMENT && reserve > quantity * ROUNDED && !t->overcommitted) {
        t->overcommitted = true;
        t->overcommitted_node = i;
    }
    divvy_solve_shares(children, node->n_children, quantity, b->a, portion);
}

static uint32_t most_children(const struct divvy_tree *t)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < t->n; i++)
        most = t->nodes[i].n_children > most ? t->nodes[i].n_children : most;
    return most;
}

static void entitle(struct build *b, struct divvy_tree *t)
{
    uint32_t most = most_children(t);
    double *portion = arena_array(b->a, double, most);
    struct divvy_child *children = arena_array(b->a, struct divvy_child, most);

    t->nodes[0].entitlement = t->nodes[0].divvied.reservation;
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->nodes[i].n_children == 0)
            continue;
        portion_out(b, t, i, Q_ENTITLEMENT, portion, children);
        for (uint32_t c = 0; c < t->nodes[i].n_children; c++)
            t->nodes[t->nodes[i].first_child + c].entitlement = portion[c];
    }
}

/* Second phase: divides reservation, limit and entitlement, from the root down. */
static void divvy_settings(struct build *b, struct divvy_tree *t)
{
    uint32_t most = most_children(t);
    double *reservation = arena_array(b->a, double, most);
    double *limit = arena_array(b->a, double, most);
    struct divvy_child *children = arena_array(b->a, struct divvy_child, most);

    for (uint32_t i = 0; i < t->n; i++) {
        const struct divvy_node *node = &t->nodes[i];
        double weights = 0;

        if (node->n_children == 0)
            continue;
        portion_out(b, t, i, Q_RESERVATION, reservation, children);
        portion_out(b, t, i, Q_LIMIT, limit, children);
        for (uint32_t c = 0; c < node->n_children; c++)
            weights += t->nodes[node->first_child + c].weight;
        for (uint32_t c = 0; c < node->n_children; c++) {
            struct divvy_node *kid = &t->nodes[node->first_child + c];
            double shares = weights > 0 ? node->divvied.shares * kid->weight / weights : 0;
            kid->divvied = (struct divvy_child){reservation[c], limit[c], shares};
        }
    }
}

/* Divides a node's reservation among its children, for the hosts that run the VMs. */
static void portion_out_reserved(struct build *b, const struct divvy_tree *t, uint32_t i, double *portion,
                                 struct divvy_child *children)
{
    const struct divvy_node *node = &t->nodes[i];
    const struct divvy_node *kids = &t->nodes[node->first_child];
    double quantity = node->divvied.reservation;
    double demand = 0;

    for (uint32_t c = 0; c < node->n_children; c++)
        demand += kids[c].n_vms > 0 ? kids[c].demand : 0;
    for (uint32_t c = 0; c < node->n_children; c++) {
        struct divvy_child child = {0};
        if (kids[c].n_vms > 0) /* demand between reservation and limit */
            child = (struct divvy_child){.reservation = demand > quantity ? kids[c].reserve : kids[c].demand,
                                         .limit = demand > quantity ? kids[c].demand : kids[c].set.limit,
                                         .shares = kids[c].weight};
        children[c] = child;
    }
    divvy_solve_shares(children, node->n_children, quantity, b->a, portion);
}

static void divvy_reserved(struct build *b, struct divvy_tree *t)
{
    uint32_t most = most_children(t);
    double *portion = arena_array(b->a, double, most);
    struct divvy_child *children = arena_array(b->a, struct divvy_child, most);

    double reserve = 0;

    for (uint32_t c = t->nodes[0].first_child; c < t->nodes[0].first_child + t->nodes[0].n_children; c++)
        reserve += t->nodes[c].n_vms > 0 ? t->nodes[c].reserve : 0;
    t->nodes[0].divvied.reservation = fmin(reserve, t->nodes[0].set.reservation);
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->nodes[i].n_children == 0 || t->nodes[i].divvied.reservation <= 0)
            continue; /* a node without VMs gets nothing */
        portion_out_reserved(b, t, i, portion, children);
        for (uint32_t c = 0; c < t->nodes[i].n_children; c++)
            t->nodes[t->nodes[i].first_child + c].divvied.reservation = portion[c];
    }
}

static void build(struct build *b, struct divvy_tree *ret)
{
    *ret = (struct divvy_tree){.overcommitted_node = IX_NONE};
    group_children(b);
    lay_out_nodes(b, ret);
    accumulate(b, ret);
}

void divvy_build(const struct snapshot *snap, enum resource r, const double *demand, struct arena *a,
                 struct divvy_tree *ret)
{
    struct build b = {.snap = snap, .r = r, .demand = demand, .a = a};

    build(&b, ret);
    entitle(&b, ret);
    divvy_settings(&b, ret);
}

void divvy_build_reserved(const struct snapshot *snap, enum resource r, const double *demand, struct arena *a,
                          struct divvy_tree *ret)
{
    struct build b = {.snap = snap, .r = r, .demand = demand, .a = a};

    build(&b, ret);
    divvy_reserved(&b, ret);
}

bool divvy_entitle(const struct snapshot *snap, enum resource r, const double *demand, struct arena *a,
                   double *ret_entitlement)
{
    struct build b = {.snap = snap, .r = r, .demand = demand, .a = a};
    struct divvy_tree t;

    build(&b, &t);
    entitle(&b, &t);
    for (uint32_t i = 0; i < snap->n_vms; i++)
        ret_entitlement[i] = 0;
    for (uint32_t i = 1; i < t.n; i++)
        if (t.nodes[i].kind == DIVVY_VM)
            ret_entitlement[t.nodes[i].ix] = t.nodes[i].entitlement;
    return t.overcommitted;
}
