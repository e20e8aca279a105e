/* The divvy: one level by a table, Figure 2 with its numbers, pools with reservations and pools with
 * shares. */
#include "unit.h"

#include "core/demand/demand.h"
#include "core/divvy/divvy.h"
#include "small_cluster.h"

#include <string.h>

#define MOST 4

static void test_one_level(void **state)
{
    static const struct {
        const char *what;
        double quantity;
        uint32_t n;
        struct divvy_child child[MOST];
        double portion[MOST];
    } cases[] = {
        {"by shares", 90, 2, {{0, NO_LIMIT, 2}, {0, NO_LIMIT, 1}}, {60, 30}},
        {"never past a limit", 90, 2, {{0, 20, 2}, {0, NO_LIMIT, 1}}, {20, 70}},
        {"never below a reservation", 90, 2, {{0, NO_LIMIT, 2}, {50, NO_LIMIT, 1}}, {40, 50}},
        {"a reservation is no bonus", 90, 2, {{0, NO_LIMIT, 1}, {30, NO_LIMIT, 1}}, {45, 45}},
        {"reservations that exceed it are scaled", 50, 2, {{60, 60, 1}, {40, 90, 9}}, {30, 20}},
        {"the rest stays when all are content", 90, 2, {{0, 20, 1}, {10, 30, 1}}, {20, 30}},
        {"without shares: what is left",
         90,
         3,
         {{0, 50, 1}, {0, NO_LIMIT, 0}, {0, NO_LIMIT, 0}},
         {50, 20, 20}},
        {"without shares: nothing is left", 40, 2, {{0, 50, 1}, {0, 50, 0}}, {40, 0}},
        {"nothing", 0, 2, {{0, 50, 1}, {0, 50, 1}}, {0, 0}},
        {"nobody", 10, 0, {{0}}, {0}},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct arena a = {0};
        double portion[MOST];
        divvy_solve_shares(cases[i].child, cases[i].n, cases[i].quantity, &a, portion);
        for (uint32_t k = 0; k < cases[i].n; k++)
            if (!(fabs(portion[k] - cases[i].portion[k]) < 1e-9))
                fail_msg("%s: child %u gets %.10g, expected %.10g", cases[i].what, k, portion[k],
                         cases[i].portion[k]);
        arena_release(&a);
    }
}

static const struct divvy_node *node_of(const struct small *s, const struct divvy_tree *t, const char *id)
{
    for (uint32_t i = 1; i < t->n; i++) {
        const struct divvy_node *n = &t->nodes[i];
        const char *mine = n->kind == DIVVY_VM ? s->snap.vms[n->ix].is.id : s->snap.pools[n->ix].is.id;
        if (strcmp(mine, id) == 0)
            return n;
    }
    fail_msg("no node %s", id);
    return NULL;
}

static void build(struct small *s, struct divvy_tree *t)
{
    small_build(s);
    double *demand = arena_array(&s->a, double, s->snap.n_vms);
    demand_estimate(&s->snap, RES_CPU, demand);
    divvy_build(&s->snap, RES_CPU, demand, &s->a, t);
}

/* 10 GHz, divided among RP1 (4 shares) and RP2 (1). The root is what the hosts have, so its limit is 10 GHz
 * too, where the paper's is 20. */
static void test_figure_2(void **state)
{
    struct small s;
    struct divvy_tree t;
    static const struct {
        const char *id, *parent;
        double reservation, limit, shares;
    } pools[] = {{"rp1", NULL, 3000, NO_LIMIT, 4000}, {"rp2", NULL, 2000, NO_LIMIT, 1000}};
    static const struct {
        const char *id, *pool;
        double demand, reservation, divvied;
    } vms[] = {{"vm1", "rp1", 3000, 0, 3000},
               {"vm2", "rp1", 7000, 0, 5000},
               {"vm3", "rp2", 1000, 0, 1000},
               {"vm4", "rp2", 1000, 0, 1000}};

    (void)state;
    small_init(&s);
    small_host(&s, "h1", 10000, 65536);
    for (size_t i = 0; i < ELEMENTS(pools); i++) {
        struct seen_pool *p = small_pool(&s, pools[i].id, pools[i].parent);
        p->is.alloc[RES_CPU] = (struct alloc){
            .reservation = pools[i].reservation, .limit = pools[i].limit, .shares = pools[i].shares};
    }
    for (size_t i = 0; i < ELEMENTS(vms); i++) {
        struct seen_vm *v = small_vm(&s, vms[i].id, "h1", vms[i].demand, 1024);
        v->pool = vms[i].pool;
    }
    build(&s, &t);
    assert_true(node_of(&s, &t, "rp1")->divvied.reservation == 8000);
    assert_true(node_of(&s, &t, "rp2")->divvied.reservation == 2000);
    for (size_t i = 0; i < ELEMENTS(vms); i++)
        assert_true(node_of(&s, &t, vms[i].id)->divvied.reservation == vms[i].divvied);
    small_release(&s);
}

/* p1 may have 6 GHz, and p2 in it 1 GHz; v1 and v2 are in p1 (v2 by way of p3), v3 in p2, v4 in none. */
static void test_limits_of_pools(void **state)
{
    static const struct {
        const char *what;
        double outer, reservation; /* of v2 */
        double demand[4], gets[4];
        bool binds;
    } cases[] = {
        {"none binds", 30000, 0, {4000.1, 2000.7, 900.3, 9e4}, {4000.1, 2000.7, 900.3, 9e4}, false},
        {"just as much", 6000, 0, {3000, 2100, 900, 1}, {3000, 2100, 900, 1}, false},
        {"the inner one", 30000, 0, {4000, 2000, 5000, 9e4}, {4000, 2000, 1000, 9e4}, true},
        {"both", 6000, 0, {4000, 2000, 5000, 9e4}, {3000, 2000, 1000, 9e4}, true},
        {"by shares", 6000, 0, {9000, 9000, 0, 9e4}, {3000, 3000, 0, 9e4}, true},
        {"by reservation", 6000, 5000, {9000, 9000, 0, 9e4}, {1000, 5000, 0, 9e4}, true},
        {"what is reserved and not wanted", 6000, 5000, {9000, 100, 0, 1}, {5900, 100, 0, 1}, true},
        {"more is reserved than that", 4000, 4000, {9000, 9000, 0, 1}, {0, 4000, 0, 1}, true},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        static const char *const pools[] = {"p1", "p3", "p2", NULL};
        struct small s;
        struct divvy_tree t;
        small_init(&s);
        small_host(&s, "h1", 100, 65536); /* what hosts have does not matter */
        assert_false(divvy_has_limits(&s.snap, RES_CPU));
        small_pool(&s, "p1", NULL)->is.alloc[RES_CPU].limit = cases[i].outer;
        small_pool(&s, "p2", "p1")->is.alloc[RES_CPU].limit = 1000;
        small_pool(&s, "p3", "p1")->is.alloc[RES_CPU].shares = 1000;
        for (int v = 0; v < 4; v++) {
            struct seen_vm *vm =
                small_vm(&s, (const char *const[]){"v1", "v2", "v3", "v4"}[v], "h1", 1, 1024);
            vm->pool = pools[v];
            vm->is.alloc[RES_CPU].shares = 1000;
            vm->is.alloc[RES_CPU].reservation = v == 1 ? cases[i].reservation : 0;
        }
        build(&s, &t);
        assert_true(divvy_has_limits(&s.snap, RES_CPU) && !divvy_has_limits(&s.snap, RES_MEM));
        double demand[4];
        memcpy(demand, cases[i].demand, sizeof demand);
        if (divvy_limit(&t, &s.a, demand) != cases[i].binds)
            fail_msg("%s: a limit %s", cases[i].what, cases[i].binds ? "does not bind" : "binds");
        for (int v = 0; v < 4; v++)
            if (cases[i].binds ? fabs(demand[v] - cases[i].gets[v]) > 1e-6 : demand[v] != cases[i].gets[v])
                fail_msg("%s: v%d gets %.10g, expected %.10g", cases[i].what, v + 1, demand[v],
                         cases[i].gets[v]);
        small_release(&s);
    }
}

/* Capacity 10 GHz, two pools; what is in them takes all it can get. */
static void test_pools(void **state)
{
    static const struct {
        const char *what;
        double reservation; /* of p1 */
        bool expandable;
        double limit;          /* of p1 */
        bool scalable;         /* p1 and p2 */
        double vm_reservation; /* of v1, in p1 */
        double p1, v1, v2, v3; /* v1 and v2 in p1, v3 in p2; each wants 9 GHz */
        bool overcommitted;
    } cases[] = {
        {"equal shares", 0, true, NO_LIMIT, false, 0, 5000, 2500, 2500, 5000, false},
        {"a pool's limit", 0, true, 3000, false, 0, 3000, 1500, 1500, 7000, false},
        {"a pool's reservation", 8000, true, NO_LIMIT, false, 0, 8000, 4000, 4000, 2000, false},
        {"a pool expands for its VM", 0, true, NO_LIMIT, false, 7000, 7000, 7000, 0, 3000, false},
        {"one that may not does not", 0, false, NO_LIMIT, false, 7000, 5000, 5000, 0, 5000, true},
        {"shares that scale", 0, true, NO_LIMIT, true, 0, 20000.0 / 3, 10000.0 / 3, 10000.0 / 3, 10000.0 / 3,
         false},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct small s;
        struct divvy_tree t;
        small_init(&s);
        small_host(&s, "h1", 10000, 65536);
        struct seen_pool *p = small_pool(&s, "p1", NULL);
        p->is.alloc[RES_CPU].reservation = cases[i].reservation;
        p->is.alloc[RES_CPU].limit = cases[i].limit;
        p->is.alloc[RES_CPU].expandable = cases[i].expandable;
        p->is.scalable_shares = cases[i].scalable;
        small_pool(&s, "p2", NULL)->is.scalable_shares = cases[i].scalable;
        static const char *const names[] = {"v1", "v2", "v3"};
        for (int k = 0; k < 3; k++) {
            struct seen_vm *v = small_vm(&s, names[k], "h1", 9000, 1024);
            v->pool = k < 2 ? "p1" : "p2";
            v->is.alloc[RES_CPU].reservation = k == 0 ? cases[i].vm_reservation : 0;
        }
        build(&s, &t);
        const double expected[] = {cases[i].p1, cases[i].v1, cases[i].v2, cases[i].v3};
        const char *const ids[] = {"p1", "v1", "v2", "v3"};
        for (int k = 0; k < MOST; k++)
            if (!(fabs(node_of(&s, &t, ids[k])->entitlement - expected[k]) < 1e-6))
                fail_msg("%s: %s is entitled to %.10g, expected %.10g", cases[i].what, ids[k],
                         node_of(&s, &t, ids[k])->entitlement, expected[k]);
        if (t.overcommitted != cases[i].overcommitted)
            fail_msg("%s: overcommitted or not?", cases[i].what);
        small_release(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_level),
        cmocka_unit_test(test_figure_2),
        cmocka_unit_test(test_limits_of_pools),
        cmocka_unit_test(test_pools),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
