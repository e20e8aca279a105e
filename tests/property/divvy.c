/* The divvy against its definition: one level against the small chunks of §2.3; whole trees against a
 * second implementation that finds λ by bisection; and the promises of divvy.h for every node. */
#include "core/divvy/divvy.h"
#include "core/demand/demand.h"
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define CHILDREN_MAX 9
#define CHUNKS 4000
#define NODES_MAX 80 /* children of one node of the trees below */

/* Sums of thousands of numbers in another order. */
static bool near(double x, double y, double scale)
{
    return fabs(x - y) <= 1e-9 * (1 + fabs(scale));
}

/* ---- one level ---- */

struct level {
    struct divvy_child child[CHILDREN_MAX];
    uint32_t n;
    double quantity, reserved, most;
};

static double some_size(struct rng *r)
{
    return rng_unit(r) < 0.3 ? 1000 * rng_below(r, 10) : rng_range(r, 0, 10000);
}

static struct level random_level(struct rng *r)
{
    struct level l = {.n = 1 + rng_below(r, CHILDREN_MAX)};

    for (uint32_t i = 0; i < l.n; i++) {
        struct divvy_child *c = &l.child[i];
        c->reservation = rng_unit(r) < 0.5 ? 0 : some_size(r);
        c->limit = rng_unit(r) < 0.2   ? NO_LIMIT
                   : rng_unit(r) < 0.1 ? c->reservation
                                       : c->reservation + some_size(r);
        c->shares = rng_unit(r) < 0.1 ? 0 : rng_unit(r) < 0.5 ? 1000 * (1 + rng_below(r, 8)) : some_size(r);
        l.reserved += c->reservation;
        l.most += c->limit;
    }
    double up_to = l.most < NO_LIMIT ? l.most : l.reserved + 40000;
    l.quantity = rng_unit(r) < 0.1 ? l.reserved : rng_range(r, 0.5 * l.reserved, 1.2 * up_to);
    return l;
}

static void check_level(uint64_t seed, const struct level *l, const double *portion)
{
    double sum = 0;
    double growing = 0; /* λ is at least the portion / shares of each child that got more than its minimum */
    double waiting = NO_LIMIT;
    bool thirsty = false; /* a child without shares got more than its reservation */

    for (uint32_t i = 0; i < l->n; i++) {
        const struct divvy_child *c = &l->child[i];
        double p = portion[i];
        sum += p;
        if (l->reserved > l->quantity) {
            if (!near(p, c->reservation * l->quantity / l->reserved, l->reserved))
                fail_msg("seed %llu: child %u is not scaled down", (unsigned long long)seed, i);
            continue;
        }
        if (!(p >= c->reservation - 1e-9 * p) || !(p <= c->limit))
            fail_msg("seed %llu: child %u gets %.17g of [%.17g, %.17g]", (unsigned long long)seed, i, p,
                     c->reservation, c->limit);
        if (c->shares > 0 && p > c->reservation)
            growing = fmax(growing, p / c->shares);
        if (c->shares > 0 && p < c->limit)
            waiting = fmin(waiting, p / c->shares);
        thirsty = thirsty || (c->shares <= 0 && p > c->reservation);
    }
    double expected = l->quantity < l->most ? l->quantity : l->most;
    if (!near(sum, expected, l->quantity))
        fail_msg("seed %llu: %.17g is handed out of %.17g", (unsigned long long)seed, sum, expected);
    if (l->reserved > l->quantity)
        return;
    if (growing > waiting * (1 + 1e-9))
        fail_msg("seed %llu: one child has %.17g per share while another that wants more has %.17g",
                 (unsigned long long)seed, growing, waiting);
    if (thirsty && waiting < NO_LIMIT)
        fail_msg("seed %llu: a child without shares gets more before those that have some",
                 (unsigned long long)seed);
}

/* §2.3: "by giving a chunk to the child with minimum value of current allocation / shares". */
static void by_chunks(const struct level *l, double chunk, double *portion)
{
    double left = l->quantity - l->reserved;

    for (uint32_t i = 0; i < l->n; i++)
        portion[i] = l->child[i].reservation;
    while (left > 0) {
        uint32_t next = IX_NONE;
        for (uint32_t i = 0; i < l->n; i++) {
            const struct divvy_child *c = &l->child[i];
            if (portion[i] >= c->limit || c->shares <= 0)
                continue;
            if (next == IX_NONE || portion[i] / c->shares < portion[next] / l->child[next].shares)
                next = i;
        }
        if (next == IX_NONE)
            return;
        double some = fmin(fmin(chunk, left), l->child[next].limit - portion[next]);
        portion[next] += some;
        left -= some;
    }
}

static void compare_with_chunks(uint64_t seed, const struct level *l, const double *portion)
{
    double slow[CHILDREN_MAX];
    double chunk = l->quantity / CHUNKS;
    double with_shares = 0;

    for (uint32_t i = 0; i < l->n; i++)
        with_shares += l->child[i].shares > 0 ? l->child[i].limit : l->child[i].reservation;
    if (l->reserved > l->quantity || with_shares < l->quantity)
        return; /* check_level() says what must come out then */
    by_chunks(l, chunk, slow);
    for (uint32_t i = 0; i < l->n; i++)
        if (fabs(slow[i] - portion[i]) > 2 * CHILDREN_MAX * chunk)
            fail_msg("seed %llu: child %u gets %.17g, by small chunks %.17g", (unsigned long long)seed, i,
                     portion[i], slow[i]);
}

static void check_order_of_children(uint64_t seed, struct rng *r, const struct level *l,
                                    const double *portion, struct arena *a)
{
    struct divvy_child child[CHILDREN_MAX];
    uint32_t place[CHILDREN_MAX];
    double shuffled[CHILDREN_MAX];

    for (uint32_t i = 0; i < l->n; i++)
        place[i] = i;
    for (uint32_t i = l->n; i > 1; i--) {
        uint32_t j = rng_below(r, i);
        uint32_t keep = place[i - 1];
        place[i - 1] = place[j];
        place[j] = keep;
    }
    for (uint32_t i = 0; i < l->n; i++)
        child[i] = l->child[place[i]];
    divvy_solve_shares(child, l->n, l->quantity, a, shuffled);
    for (uint32_t i = 0; i < l->n; i++)
        if (!near(shuffled[i], portion[place[i]], l->quantity))
            fail_msg("seed %llu: in another order child %u gets %.17g, not %.17g", (unsigned long long)seed,
                     place[i], shuffled[i], portion[place[i]]);
}

static void test_one_level(void **state)
{
    (void)state;
    for (unsigned i = 0; i < test_clusters(20000); i++) {
        uint64_t seed = test_seed() + i;
        struct rng r = {.state = seed};
        struct arena a = {0};
        struct level l = random_level(&r);
        double portion[CHILDREN_MAX];

        divvy_solve_shares(l.child, l.n, l.quantity, &a, portion);
        check_level(seed, &l, portion);
        check_order_of_children(seed, &r, &l, portion, &a);
        if (i % 16 == 0)
            compare_with_chunks(seed, &l, portion);
        arena_release(&a);
    }
}

/* ---- trees ---- */

/* The twin: for each node the definition, with λ found by halving. */
struct twin {
    const struct divvy_tree *t;
    const struct snapshot *snap;
    enum resource r;
    double *reserve, *demand, *weight, *entitlement, *reservation, *limit;
};

static double at_lambda(const struct divvy_child *c, uint32_t n, double lambda, double *portion)
{
    double sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        portion[i] = fmin(fmax(lambda * c[i].shares, c[i].reservation), c[i].limit);
        sum += portion[i];
    }
    return sum;
}

static void portion_by_halving(const struct divvy_child *c, uint32_t n, double quantity, bool without,
                               double *portion)
{
    double low = 0;
    double high = 1;
    double reserved = at_lambda(c, n, 0, portion);

    if (reserved >= quantity) {
        for (uint32_t i = 0; i < n; i++)
            portion[i] = reserved > 0 ? c[i].reservation / reserved * quantity : 0;
        return;
    }
    while (at_lambda(c, n, high, portion) < quantity && high < 1e12)
        high *= 2;
    if (at_lambda(c, n, high, portion) < quantity && !without) {
        /* those who have shares are satisfied: those who have none take equal parts of what is left */
        struct divvy_child rest[NODES_MAX];
        for (uint32_t i = 0; i < n; i++)
            rest[i] = c[i].shares > 0 ? (struct divvy_child){c[i].limit, c[i].limit, 0}
                                      : (struct divvy_child){c[i].reservation, c[i].limit, 1};
        portion_by_halving(rest, n, quantity, true, portion);
        return;
    }
    for (int i = 0; i < 200; i++) {
        double middle = (low + high) / 2;
        if (at_lambda(c, n, middle, portion) < quantity)
            low = middle;
        else
            high = middle;
    }
    (void)at_lambda(c, n, high, portion);
}

static void twin_up(struct twin *w, uint32_t i)
{
    const struct divvy_node *node = &w->t->nodes[i];
    double reserve = 0;
    double demand = 0;
    double weight = 0;

    for (uint32_t c = node->first_child; c < node->first_child + node->n_children; c++) {
        twin_up(w, c);
        reserve += w->reserve[c];
        demand += w->demand[c];
        weight += w->weight[c];
    }
    if (node->parent == IX_NONE)
        return;
    w->weight[i] = node->set.shares;
    w->reserve[i] = node->set.reservation;
    if (node->kind == DIVVY_VM) {
        const struct vm_facts *v = &w->snap->vms[node->ix].is;
        demand = v->demand[w->r];
        if (w->r == RES_MEM)
            demand = fmin(demand, v->mem_mb + v->overhead_mb); /* more cannot be */
    } else {
        if (w->snap->pools[node->ix].is.scalable_shares)
            w->weight[i] *= weight;
        if (node->set.expandable)
            w->reserve[i] = fmin(fmax(reserve, node->set.reservation), node->set.limit);
    }
    w->demand[i] = fmin(fmax(demand, w->reserve[i]), node->set.limit);
}

static void twin_down(struct twin *w, uint32_t i, struct arena *a)
{
    const struct divvy_node *node = &w->t->nodes[i];
    uint32_t n = node->n_children;
    uint32_t first = node->first_child;
    struct divvy_child *wanted = arena_array(a, struct divvy_child, n);
    struct divvy_child *set = arena_array(a, struct divvy_child, n);
    double demand = 0;

    for (uint32_t c = 0; c < n; c++) {
        const struct divvy_node *kid = &w->t->nodes[first + c];
        demand += w->demand[first + c];
        set[c] = (struct divvy_child){w->reserve[first + c], kid->set.limit, w->weight[first + c]};
        wanted[c] = set[c];
        wanted[c].limit = fmin(kid->set.limit, fmax(w->demand[first + c], w->reserve[first + c]));
    }
    if (n == 0)
        return;
    portion_by_halving(wanted, n, w->entitlement[i], false, w->entitlement + first);
    portion_by_halving(demand > w->reservation[i] * (1 + 1e-9) ? wanted : set, n, w->reservation[i], false,
                       w->reservation + first);
    portion_by_halving(demand > w->limit[i] * (1 + 1e-9) ? wanted : set, n, w->limit[i], false,
                       w->limit + first);
    for (uint32_t c = 0; c < n; c++)
        twin_down(w, first + c, a);
}

static void compare_with_twin(uint64_t seed, const struct snapshot *snap, enum resource r,
                              const struct divvy_tree *t, struct arena *a)
{
    struct twin w = {.t = t, .snap = snap, .r = r};
    double **fields[] = {&w.reserve, &w.demand, &w.weight, &w.entitlement, &w.reservation, &w.limit};
    double capacity = 0;

    for (size_t k = 0; k < sizeof fields / sizeof fields[0]; k++)
        *fields[k] = arena_array(a, double, t->n);
    for (uint32_t h = 0; h < snap->n_hosts; h++)
        capacity += host_can_run_vms(&snap->hosts[h]) ? host_room(&snap->hosts[h], r) : 0;
    w.entitlement[0] = capacity;
    w.reservation[0] = capacity;
    w.limit[0] = capacity;
    twin_up(&w, 0);
    twin_down(&w, 0, a);
    for (uint32_t i = 0; i < t->n; i++) {
        const struct divvy_node *node = &t->nodes[i];
        double slack = 1e-6 * (1 + capacity);
        if (fabs(node->entitlement - w.entitlement[i]) > slack ||
            fabs(node->divvied.reservation - w.reservation[i]) > slack ||
            (node->divvied.limit != w.limit[i] && !(fabs(node->divvied.limit - w.limit[i]) <= slack)))
            fail_msg("seed %llu: node %u: entitlement %.10g, the twin's %.10g; divvied reservation %.10g, "
                     "%.10g; limit %.10g, %.10g",
                     (unsigned long long)seed, i, node->entitlement, w.entitlement[i],
                     node->divvied.reservation, w.reservation[i], node->divvied.limit, w.limit[i]);
    }
}

/* What divvy.h promises of a node and its children. */
static void check_node(uint64_t seed, const struct divvy_tree *t, uint32_t i)
{
    const struct divvy_node *node = &t->nodes[i];
    double sum = 0;
    double shares = 0;
    double reserved = 0;
    bool wants_more = false;

    for (uint32_t c = node->first_child; c < node->first_child + node->n_children; c++) {
        const struct divvy_node *kid = &t->nodes[c];
        /* a node's demand is at least its (expanded) reservation, and within its limit */
        double most = fmin(kid->demand, kid->set.limit);
        if (kid->entitlement > fmax(kid->set.reservation, most) * (1 + 1e-12))
            fail_msg("seed %llu: node %u is entitled to %.17g, and may have %.17g", (unsigned long long)seed,
                     c, kid->entitlement, most);
        if (!t->overcommitted && kid->entitlement < kid->set.reservation * (1 - 1e-9))
            fail_msg("seed %llu: node %u is entitled to %.17g, and reserves %.17g", (unsigned long long)seed,
                     c, kid->entitlement, kid->set.reservation);
        if (kid->parent != i || kid->depth != node->depth + 1)
            fail_msg("seed %llu: node %u does not know its parent", (unsigned long long)seed, c);
        wants_more = wants_more || kid->entitlement < most * (1 - 1e-9);
        sum += kid->entitlement;
        shares += kid->divvied.shares;
        reserved += kid->set.reservation;
    }
    if (node->n_children == 0)
        return;
    if (sum > node->entitlement * (1 + 1e-12) + 1e-9)
        fail_msg("seed %llu: node %u has %.17g, its children %.17g", (unsigned long long)seed, i,
                 node->entitlement, sum);
    if (wants_more && sum < node->entitlement * (1 - 1e-9))
        fail_msg("seed %llu: node %u has %.17g idle while a child wants more", (unsigned long long)seed, i,
                 node->entitlement - sum);
    if (shares > 0 && !near(shares, node->divvied.shares, node->divvied.shares))
        fail_msg("seed %llu: node %u divides %.17g shares into %.17g", (unsigned long long)seed, i,
                 node->divvied.shares, shares);
    if (i == 0 && reserved > node->entitlement * (1 + 1e-9) && !t->overcommitted)
        fail_msg("seed %llu: more is reserved than there is, and nothing is said", (unsigned long long)seed);
}

static void check_tree(uint64_t seed, bool tight, uint32_t *depth)
{
    struct arena a = {0};
    struct rng rng = {.state = seed};
    struct snapshot snap;

    random_cluster(&rng,
                   &(struct cluster_options){.hosts_max = 6,
                                             .vms_max = 60,
                                             .pools_max = 10,
                                             .mixed_hosts = true,
                                             .tight = tight,
                                             .evacuate = tight},
                   &a, &snap);
    for (int r = 0; r < RES_COUNT; r++) {
        double *demand = arena_array(&a, double, snap.n_vms);
        double *entitlement = arena_array(&a, double, snap.n_vms);
        struct divvy_tree t;
        demand_estimate(&snap, (enum resource)r, demand);
        divvy_build(&snap, (enum resource)r, demand, &a, &t);
        assert_int_equal(divvy_entitle(&snap, (enum resource)r, demand, &a, entitlement), t.overcommitted);
        for (uint32_t i = 0; i < t.n; i++) {
            check_node(seed, &t, i);
            *depth = t.nodes[i].depth > *depth ? t.nodes[i].depth : *depth;
            if (t.nodes[i].kind == DIVVY_VM && entitlement[t.nodes[i].ix] != t.nodes[i].entitlement)
                fail_msg("seed %llu: the tree and the array disagree", (unsigned long long)seed);
        }
        compare_with_twin(seed, &snap, (enum resource)r, &t, &a);
    }
    arena_release(&a);
}

static void test_trees(void **state)
{
    uint32_t depth = 0;

    (void)state;
    for (unsigned i = 0; i < test_clusters(2000); i++)
        check_tree(test_seed() + i, i % 2 == 1, &depth);
    if (test_is_usual())
        assert_true(depth > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_level),
        cmocka_unit_test(test_trees),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
