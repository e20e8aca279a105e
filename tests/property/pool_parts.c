/* The parts of the pool tree on the hosts against the promises of pool_parts.h, counted VM by VM. A plan's
 * settings, once set, are within the bounds of host_settings.h, and the next plan changes none. */
#include "core/divvy/pool_parts.h"
#include "core/demand/demand.h"
#include "core/divvy/divvy.h"
#include "core/divvy/host_settings.h"
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define PARTS_MOST 400

struct world {
    uint64_t seed;
    struct snapshot snap;
    double *demand[RES_COUNT];
    struct divvy_tree tree[RES_COUNT];
    uint32_t *vm_node[RES_COUNT], *pool_node[RES_COUNT];
    struct host_setting *parts;
    uint32_t n;
};

static void set_up(struct world *w, uint64_t seed, bool flights, struct arena *a)
{
    struct rng rng = {.state = seed};

    w->seed = seed;
    random_cluster(&rng,
                   &(struct cluster_options){.hosts_max = 6,
                                             .vms_max = 60,
                                             .pools_max = 10,
                                             .mixed_hosts = true,
                                             .tight = seed % 2 == 1,
                                             .evacuate = true,
                                             .in_flight = flights},
                   a, &w->snap);
    for (uint32_t p = 0; seed % 4 == 2 && p < w->snap.n_pools; p++) { /* more than some host has */
        struct alloc *cpu = &w->snap.pools[p].is.alloc[RES_CPU];
        cpu->reservation = cpu->reservation * 7 + 1234.5;
        cpu->limit = fmax(cpu->limit, cpu->reservation);
    }
    for (int r = 0; r < RES_COUNT; r++) {
        w->demand[r] = arena_array(a, double, w->snap.n_vms);
        w->vm_node[r] = arena_array(a, uint32_t, w->snap.n_vms);
        w->pool_node[r] = arena_array(a, uint32_t, w->snap.n_pools);
        demand_estimate(&w->snap, (enum resource)r, w->demand[r]);
        divvy_build_reserved(&w->snap, (enum resource)r, w->demand[r], a, &w->tree[r]);
        for (uint32_t i = 1; i < w->tree[r].n; i++) {
            const struct divvy_node *node = &w->tree[r].nodes[i];
            (node->kind == DIVVY_VM ? w->vm_node : w->pool_node)[r][node->ix] = i;
        }
    }
    pool_parts(&w->snap, w->demand, a, &w->parts, &w->n);
}

/* Whether the VM counts on the host: it is there, or in flight to or from there. */
static bool counts_on(const struct snapshot *s, uint32_t vm, uint32_t host)
{
    const struct vm *v = &s->vms[vm];
    bool moves = false;

    if (!vm_takes_part(s, v) || !host_is_up(&s->hosts[host]))
        return false;
    for (uint32_t i = 0; i < s->n_migrations; i++) {
        const struct migration *m = &s->migrations[i];
        moves = moves || m->vm == vm;
        if (m->vm == vm && (m->from == host || m->to == host))
            return true;
    }
    for (uint32_t i = 0; i < s->n_pending; i++)
        if (!moves && s->pending[i].vm == vm && s->pending[i].to == host)
            return true;
    return v->host == host;
}

static bool is_below(const struct snapshot *s, uint32_t pool, uint32_t above)
{
    for (; pool != IX_NONE; pool = s->pools[pool].parent)
        if (pool == above)
            return true;
    return false;
}

static const struct host_setting *part_of(const struct world *w, uint32_t host, uint32_t pool)
{
    for (uint32_t i = 0; i < w->n; i++)
        if (w->parts[i].host == host && w->parts[i].pool == pool)
            return &w->parts[i];
    return NULL;
}

static const struct divvy_node *node_of_vm(const struct world *w, int r, uint32_t vm)
{
    return &w->tree[r].nodes[w->vm_node[r][vm]];
}

/* What fraction of a pool's shares a VM below it holds. */
static double fraction(const struct world *w, int r, uint32_t vm, uint32_t pool)
{
    const struct divvy_tree *t = &w->tree[r];
    double product = 1;

    for (uint32_t i = w->vm_node[r][vm]; t->nodes[i].ix != pool || t->nodes[i].kind == DIVVY_VM;
         i = t->nodes[i].parent) {
        const struct divvy_node *up = &t->nodes[t->nodes[i].parent];
        double sum = 0;
        double n = 0;
        for (uint32_t c = up->first_child; c < up->first_child + up->n_children; c++) {
            sum += t->nodes[c].n_vms > 0 ? t->nodes[c].weight : 0;
            n += t->nodes[c].n_vms > 0;
        }
        product *= sum > 0 ? t->nodes[i].weight / sum : 1 / n;
    }
    return product;
}

/* ---- what each part is made of ---- */

struct tally {
    double divvied, own, demand, held; /* of the VMs below, where they count; own: their own reservations */
    uint32_t vms;
};

static struct tally tally(const struct world *w, int r, uint32_t host, uint32_t pool)
{
    struct tally sum = {0};

    for (uint32_t v = 0; v < w->snap.n_vms; v++) {
        if (!counts_on(&w->snap, v, host) || !is_below(&w->snap, w->snap.vms[v].pool, pool))
            continue;
        const struct divvy_node *node = node_of_vm(w, r, v);
        sum.divvied += node->divvied.reservation;
        sum.own += fmin(node->reserve, node->divvied.reservation);
        sum.demand += node->demand;
        sum.held += fraction(w, r, v, pool);
        sum.vms++;
    }
    return sum;
}

static void check_part(const struct world *w, const struct host_setting *h)
{
    for (int r = 0; r < RES_COUNT; r++) {
        const struct alloc *a = &h->alloc[r];
        const struct divvy_node *node = &w->tree[r].nodes[w->pool_node[r][h->pool]];
        struct tally t = tally(w, r, h->host, h->pool);
        double shares = node->weight * t.held;
        double below = 0;
        double direct = 0;

        if (a->reservation != floor(a->reservation) || a->shares != floor(a->shares) ||
            (a->limit < NO_LIMIT && a->limit != floor(a->limit)))
            fail_msg("seed %llu: not whole", (unsigned long long)w->seed);
        if (a->reservation < 0 || a->limit < a->reservation || a->shares < 1)
            fail_msg("seed %llu: reservation %g, limit %g, shares %g", (unsigned long long)w->seed,
                     a->reservation, a->limit, a->shares);
        if (fabs(a->shares - fmax(shares, 1)) > 0.5 + 1e-6 * shares && a->shares != 1)
            fail_msg("seed %llu: %s on %s has %g shares, and should have %.10g", (unsigned long long)w->seed,
                     w->snap.pools[h->pool].is.id, w->snap.hosts[h->host].is.id, a->shares, shares);
        if ((a->limit < NO_LIMIT) != (w->snap.pools[h->pool].is.alloc[r].limit < NO_LIMIT))
            fail_msg("seed %llu: a limit where there is none", (unsigned long long)w->seed);
        for (uint32_t i = 0; i < w->n; i++)
            if (w->parts[i].host == h->host && w->snap.pools[w->parts[i].pool].parent == h->pool)
                below += w->parts[i].alloc[r].reservation;
        for (uint32_t v = 0; v < w->snap.n_vms; v++)
            if (w->snap.vms[v].pool == h->pool && counts_on(&w->snap, v, h->host))
                direct += fmin(node_of_vm(w, r, v)->reserve, node_of_vm(w, r, v)->divvied.reservation);
        if (a->reservation < below + direct - 1)
            fail_msg("seed %llu: %g is less than what is below, %g and %g", (unsigned long long)w->seed,
                     a->reservation, below, direct);
    }
}

/* Every pair of a host and a pool with VMs there, and no other, in order. */
static void check_which(const struct world *w)
{
    uint32_t n = 0;

    for (uint32_t h = 0; h < w->snap.n_hosts; h++) {
        for (uint32_t p = 0; p < w->snap.n_pools; p++) {
            if (tally(w, RES_CPU, h, p).vms == 0)
                continue;
            if (n >= w->n || w->parts[n].host != h || w->parts[n].pool != p)
                fail_msg("seed %llu: part %u is not %s on %s", (unsigned long long)w->seed, n,
                         w->snap.pools[p].is.id, w->snap.hosts[h].is.id);
            n++;
        }
    }
    assert_int_equal(n, w->n);
}

/* ---- sums ---- */

/* What the VMs of a host may have of it beside what those below the root keep for themselves. */
static double room_of(const struct world *w, int r, uint32_t host, double *ret_own)
{
    double room = host_room(&w->snap.hosts[host], r);

    *ret_own = 0;
    for (uint32_t v = 0; v < w->snap.n_vms; v++) {
        if (!counts_on(&w->snap, v, host))
            continue;
        const struct divvy_node *node = node_of_vm(w, r, v);
        if (w->snap.vms[v].pool == IX_NONE)
            room -= node->reserve;
        else
            *ret_own += fmin(node->reserve, node->divvied.reservation);
    }
    return room;
}

static bool check_host(const struct world *w, int r, uint32_t host)
{
    double own;
    double room = room_of(w, r, host, &own);
    double top = 0;
    double divvied = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < w->n; i++) {
        if (w->parts[i].host != host)
            continue;
        n++;
        if (w->snap.pools[w->parts[i].pool].parent != IX_NONE)
            continue;
        top += w->parts[i].alloc[r].reservation;
        divvied += tally(w, r, host, w->parts[i].pool).divvied;
    }
    if (own <= room && top > room + 1e-3)
        fail_msg("seed %llu: %g is reserved on %s, which has %g for pools", (unsigned long long)w->seed, top,
                 w->snap.hosts[host].is.id, room);
    return divvied > room - n; /* full */
}

static void check_sums(const struct world *w, int r, const bool *full)
{
    const struct snapshot *s = &w->snap;

    for (uint32_t p = 0; p < s->n_pools; p++) {
        double is = 0, limit = 0, most = 0, least = 0, demand = 0;
        uint32_t n = 0;
        for (uint32_t h = 0; h < s->n_hosts; h++) {
            const struct host_setting *part = part_of(w, h, p);
            if (!part)
                continue;
            struct tally t = tally(w, r, h, p);
            is += part->alloc[r].reservation;
            limit += part->alloc[r].limit;
            most += t.divvied;
            least += full[h] ? t.own - w->n : t.divvied;
            demand += t.demand;
            n++;
        }
        if (n == 0)
            continue;
        if (is > most + 1 || is < least - 1)
            fail_msg("seed %llu: the parts of %s add up to %g, expected %g ... %g",
                     (unsigned long long)w->seed, s->pools[p].is.id, is, least, most);
        double set = s->pools[p].is.alloc[r].limit;
        if (set < NO_LIMIT && limit != fmax(floor(set + 0.5), is))
            fail_msg("seed %llu: the limits of %s add up to %g, expected %g", (unsigned long long)w->seed,
                     s->pools[p].is.id, limit, set);
    }
}

static bool limited_below(const struct world *w, int r, uint32_t pool)
{
    for (uint32_t p = 0; p < w->snap.n_pools; p++)
        if (p != pool && is_below(&w->snap, p, pool) && w->snap.pools[p].is.alloc[r].limit < NO_LIMIT)
            return true;
    return false;
}

/* A host has less than its VMs want only where the pool as a whole wants more than it may; with another limit
 * below it is hard to say from outside what they can want. */
static void check_limits(const struct world *w, int r)
{
    for (uint32_t p = 0; p < w->snap.n_pools; p++) {
        double set = w->snap.pools[p].is.alloc[r].limit;
        double most = 0; /* what the parts want at most, with what each keeps */
        if (limited_below(w, r, p))
            continue;
        for (uint32_t i = 0; i < w->n && set < NO_LIMIT; i++)
            if (w->parts[i].pool == p)
                most += fmax(fmax(tally(w, r, w->parts[i].host, p).demand, 0.1 * set),
                             w->parts[i].alloc[r].reservation) +
                        1;
        for (uint32_t i = 0; i < w->n && set < NO_LIMIT && most < set; i++)
            if (w->parts[i].pool == p &&
                w->parts[i].alloc[r].limit < floor(tally(w, r, w->parts[i].host, p).demand))
                fail_msg("seed %llu: %s is held back below its demand", (unsigned long long)w->seed,
                         w->snap.pools[p].is.id);
    }
}

/* divvy_build_reserved(): nobody gets less than it reserves unless its parent has less, nobody less than it
 * wants while the parent has enough, and what a parent has is handed out as far as it can be. */
static void check_divvy(const struct world *w, int r)
{
    const struct divvy_tree *t = &w->tree[r];

    for (uint32_t i = 0; i < t->n; i++) {
        const struct divvy_node *node = &t->nodes[i];
        double quantity = node->divvied.reservation;
        double reserve = 0, demand = 0, most = 0, sum = 0;
        if (node->n_children == 0)
            continue;
        for (uint32_t c = node->first_child; c < node->first_child + node->n_children; c++) {
            const struct divvy_node *kid = &t->nodes[c];
            sum += kid->divvied.reservation;
            reserve += kid->n_vms > 0 ? kid->reserve : 0;
            demand += kid->n_vms > 0 ? kid->demand : 0;
            most += kid->n_vms > 0 ? kid->set.limit : 0;
            if (kid->n_vms == 0 && kid->divvied.reservation > 0)
                fail_msg("seed %llu: something for nobody", (unsigned long long)w->seed);
        }
        double slack = 1e-9 * (1 + quantity);
        if (fabs(sum - fmin(quantity, most)) > slack)
            fail_msg("seed %llu: node %u hands down %g of %g", (unsigned long long)w->seed, i, sum, quantity);
        for (uint32_t c = node->first_child; c < node->first_child + node->n_children; c++) {
            const struct divvy_node *kid = &t->nodes[c];
            double due = demand <= quantity ? kid->demand : reserve <= quantity ? kid->reserve : 0;
            if (kid->n_vms > 0 && kid->divvied.reservation < due - slack)
                fail_msg("seed %llu: node %u gets %g, less than %g", (unsigned long long)w->seed, c,
                         kid->divvied.reservation, due);
        }
    }
}

static void test_parts(void **state)
{
    unsigned full_hosts = 0, limits = 0, nested = 0;

    (void)state;
    for (unsigned i = 0; i < test_clusters(1500); i++) {
        struct arena a = {0};
        struct world w;
        set_up(&w, test_seed() + i, i % 3 == 0, &a);
        assert_true(w.n <= PARTS_MOST);
        check_which(&w);
        for (uint32_t k = 0; k < w.n; k++) {
            check_part(&w, &w.parts[k]);
            limits += w.parts[k].alloc[RES_CPU].limit < NO_LIMIT;
            nested += w.snap.pools[w.parts[k].pool].parent != IX_NONE;
        }
        for (int r = 0; r < RES_COUNT; r++) {
            bool full[8] = {false};
            check_divvy(&w, r);
            for (uint32_t h = 0; h < w.snap.n_hosts; h++) {
                full[h] = check_host(&w, r, h);
                full_hosts += full[h];
            }
            check_sums(&w, r, full);
            check_limits(&w, r);
        }
        arena_release(&a);
    }
    if (test_is_usual()) {
        assert_true(full_hosts > 50);
        assert_true(limits > 500);
        assert_true(nested > 500);
    }
}

/* ---- settings ---- */

/* Applies a plan's settings to the last settings in the snapshot. */
static void apply_settings(struct snapshot *s, const struct host_setting *list, uint32_t n, struct arena *a)
{
    struct host_setting *all = arena_array(a, struct host_setting, s->n_settings + n);
    uint32_t n_all = 0;
    uint32_t i = 0;
    uint32_t k = 0;

    while (i < s->n_settings || k < n) {
        const struct host_setting *x = i < s->n_settings ? &s->settings[i] : NULL;
        const struct host_setting *y = k < n ? &list[k] : NULL;
        bool old = x && (!y || x->host < y->host || (x->host == y->host && x->pool < y->pool));
        bool replaced = x && y && x->host == y->host && x->pool == y->pool;
        if (old || !host_setting_is_nothing(y))
            all[n_all++] = old ? *x : *y;
        i += old || replaced;
        k += !old;
    }
    s->settings = all;
    s->n_settings = n_all;
}

static bool within(double is, double should_be, double part, double least)
{
    return fabs(is - should_be) <= fmax(part * should_be, least) + 1e-6;
}

/* What is in force is what it should be, give or take what host_settings.h allows. */
static void check_in_force(const struct world *w)
{
    static const double least[RES_COUNT] = {25, 32};
    const struct snapshot *s = &w->snap;

    assert_int_equal(s->n_settings, w->n);
    for (int r = 0; r < RES_COUNT; r++) {
        double *is = calloc(2 * (s->n_pools + 1), sizeof *is);
        double *sum = calloc(2 * (s->n_pools + 1), sizeof *sum);
        for (uint32_t i = 0; i < w->n; i++) {
            const struct alloc *x = &s->settings[i].alloc[r];
            const struct alloc *y = &w->parts[i].alloc[r];
            assert_true(s->settings[i].host == w->parts[i].host && s->settings[i].pool == w->parts[i].pool);
            if (!within(x->reservation, y->reservation, 0.05, least[r]) ||
                !within(x->shares, y->shares, 0.05, 0) ||
                (x->limit != y->limit && !within(x->limit, y->limit, 0.05, least[r])))
                fail_msg("seed %llu: a part is off", (unsigned long long)w->seed);
            uint32_t p = w->parts[i].pool;
            is[2 * p] += x->reservation;
            sum[2 * p] += y->reservation;
            is[2 * p + 1] += x->limit < NO_LIMIT ? x->limit : 0;
            sum[2 * p + 1] += y->limit < NO_LIMIT ? y->limit : 0;
        }
        for (uint32_t p = 0; p < s->n_pools; p++)
            if (!within(is[2 * p], sum[2 * p], s->pools[p].parent == IX_NONE ? 0.01 : 0.05, 2) ||
                !within(is[2 * p + 1], sum[2 * p + 1], 0.01, 2))
                fail_msg("seed %llu: a sum is off", (unsigned long long)w->seed);
        free(is);
        free(sum);
    }
}

/* Some VMs want a little more or less, some much, and some leave for another host. */
static void let_time_pass(struct world *w, struct rng *rng)
{
    struct snapshot *s = &w->snap;
    double waver = rng_below(rng, 3) == 0 ? 0.5 : 0.02;

    for (uint32_t i = 0; i < s->n_vms; i++)
        for (int r = 0; r < RES_COUNT; r++)
            w->demand[r][i] *= rng_range(rng, 1 - waver, 1 + waver);
    if (s->n_pools > 0 && rng_below(rng, 2) == 0) {
        struct pool *p = &s->pools[rng_below(rng, s->n_pools)];
        p->is.alloc[RES_CPU].limit = fmax(8000, p->is.alloc[RES_CPU].reservation);
    }
}

static void test_settings(void **state)
{
    unsigned listed = 0, kept = 0;

    (void)state;
    for (unsigned i = 0; i < test_clusters(1500); i++) {
        struct arena a = {0};
        struct world w;
        struct rng rng = {.state = test_seed() + i};
        set_up(&w, test_seed() + i, false, &a);
        for (int pass = 0; pass < 4; pass++) {
            struct host_setting *list;
            uint32_t n;
            host_settings(&w.snap, w.demand, &a, &list, &n);
            if (pass == 0)
                assert_int_equal(n, w.n);
            else
                listed += n;
            apply_settings(&w.snap, list, n, &a);
            pool_parts(&w.snap, w.demand, &a, &w.parts, &w.n);
            kept += w.n;
            check_in_force(&w);
            host_settings(&w.snap, w.demand, &a, &list, &n);
            if (n > 0)
                fail_msg("seed %llu: %u more settings after those of a plan were set",
                         (unsigned long long)w.seed, n);
            let_time_pass(&w, &rng);
        }
        arena_release(&a);
    }
    if (test_is_usual()) {
        assert_true(listed > 500);
        assert_true(listed < kept);
    }
}

/* A host that was emptied, and settings that were made by somebody else. */
static void test_leaving(void **state)
{
    (void)state;
    for (unsigned i = 0; i < test_clusters(500); i++) {
        struct arena a = {0};
        struct world w;
        struct host_setting *list;
        uint32_t n;
        set_up(&w, test_seed() + i, false, &a);
        w.snap.settings = arena_array(&a, struct host_setting, (size_t)w.snap.n_hosts * w.snap.n_pools);
        for (uint32_t h = 0; h < w.snap.n_hosts; h++)
            for (uint32_t p = 0; p < w.snap.n_pools; p++)
                w.snap.settings[w.snap.n_settings++] = (struct host_setting){
                    .host = h,
                    .pool = p,
                    .alloc = {{1, 1e6, 7, false}, {1, NO_LIMIT, 7, false}},
                };
        host_settings(&w.snap, w.demand, &a, &list, &n);
        uint32_t nothing = 0, up = 0;
        for (uint32_t k = 0; k < n; k++) {
            bool used = part_of(&w, list[k].host, list[k].pool) != NULL;
            assert_true(host_is_up(&w.snap.hosts[list[k].host]));
            assert_int_equal(host_setting_is_nothing(&list[k]), !used);
            nothing += !used;
        }
        for (uint32_t h = 0; h < w.snap.n_hosts; h++)
            up += host_is_up(&w.snap.hosts[h]);
        assert_int_equal(nothing, up * w.snap.n_pools - w.n);
        arena_release(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_leaving),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
