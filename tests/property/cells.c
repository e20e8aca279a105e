/* NUMA cells and devices: whether a VM fits, against all arrangements tried one by one; trials are undone to
 * the last figure; a plan overfills no cell and no pool at any moment, whatever the order that its
 * dependencies allow; and it is as without them where no VM asks for any. */
#include "core/fit/fit.h"

#include "core/pass.h"
#include "core/place/place.h"
#include "core/plan/pass_state.h"
#include "random_cluster.h"

#include "base/strbuf.h"
#include "model/snapshot_build.h"
#include "model/snapshot_to_inventory.h"
#include "render/render.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define SEED(i) ((unsigned long long)(test_seed() + (i)))

static const struct cluster_options small = {
    .hosts_max = 4, .vms_max = 30, .mixed_hosts = true, .cells = true, .in_flight = true};

static void make(uint64_t seed, const struct cluster_options *o, struct arena *a, struct snapshot *ret)
{
    struct rng r = {.state = seed};

    random_cluster(&r, o, a, ret);
}

/* ---- the second opinion ---- */

/* What is taken of a host: by cell, and by pool. */
struct taken {
    int64_t cpus[NUMA_CELLS_MAX], dedicated[NUMA_CELLS_MAX], mem[NUMA_CELLS_MAX];
    int64_t pages[NUMA_CELLS_MAX][NUMA_PAGES_MAX];
    int64_t devices[DEVICE_POOLS_MAX];
};

static const int64_t *read_row(const struct host_facts *h, const struct fit_cells *c, uint32_t host,
                               const int64_t *row, struct taken *ret)
{
    for (uint32_t i = 0; i < h->numa.n; i++) {
        ret->cpus[i] = *row++;
        ret->dedicated[i] = *row++;
        ret->mem[i] = *row++;
        for (uint32_t k = 0; k < c->pages[host]; k++)
            ret->pages[i][k] = *row++;
    }
    for (uint32_t i = 0; i < h->device_pools.n; i++)
        ret->devices[i] = *row++;
    return row;
}

static bool has_pages(const struct numa_cell *h, const struct taken *t, uint32_t cell,
                      const struct vm_numa_cell *v)
{
    const struct numa_pages *pages = h->pages.items;

    if (v->pages == NUMA_PAGES_BY_SIZE && v->page_kb == 0)
        return h->pages.n == 0 ? v->mem_mb <= h->mem_mb
                               : v->mem_mb * 1024ull <= (uint64_t)pages[0].total * pages[0].size_kb;
    for (uint32_t k = 0; k < h->pages.n; k++) {
        bool fits = v->mem_mb * 1024ll % pages[k].size_kb == 0 &&
                    v->mem_mb * 1024ll / pages[k].size_kb <= pages[k].total - t->pages[cell][k];
        bool wanted = v->pages == NUMA_PAGES_ANY     ? true
                      : v->pages == NUMA_PAGES_SMALL ? k == 0
                      : v->pages == NUMA_PAGES_LARGE ? k != 0
                                                     : pages[k].size_kb == v->page_kb;
        if (fits && wanted)
            return true;
    }
    return false;
}

static bool cell_fits(const struct numa_cell *h, const struct taken *t, uint32_t i,
                      const struct vm_numa_cell *v)
{
    double cpus = h->cpu_ratio_given ? h->cpus * h->cpu_ratio : 1e18;
    double mem = h->mem_ratio_given ? h->mem_mb * h->mem_ratio : h->mem_mb;

    if ((v->fixed && v->cell != h->id) || v->cpus > h->cpus || !has_pages(h, t, i, v))
        return false;
    if (v->dedicated > 0)
        return t->dedicated[i] + v->dedicated <= h->dedicated && t->mem[i] + v->mem_mb <= h->mem_mb;
    return (double)(t->cpus[i] + v->cpus) <= cpus && (double)(t->mem[i] + v->mem_mb) <= mem;
}

static const char *value_of(const struct labels *l, const char *key)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (strcmp(l->items[i].key, key) == 0)
            return l->items[i].value;
    return "";
}

static bool is_alike(const struct device_pool *p, const struct device_request *q, bool asked)
{
    const struct device_spec *specs = q->any_of.items;
    bool any = false, named = p->on_request.n == 0;

    for (uint32_t i = 0; i < q->any_of.n; i++) {
        bool all = true;
        for (uint32_t k = 0; k < specs[i].properties.n; k++)
            all = all && strcmp(value_of(&p->properties, specs[i].properties.items[k].key),
                                specs[i].properties.items[k].value) == 0;
        any = any || all;
        named =
            named || strcmp(value_of(&specs[i].properties, "type"), value_of(&p->properties, "type")) == 0;
    }
    return any && (!asked || named);
}

enum { IN_CELL, NO_CELL, ON_SOCKET, ANYWHERE };

static bool is_within(const struct host_facts *h, const struct device_pool *p, const uint32_t *chosen,
                      uint32_t n, int reach)
{
    const struct numa_cell *cells = h->numa.items;
    bool in = false, on = false, sockets = true;

    for (uint32_t i = 0; i < h->numa.n; i++)
        sockets = sockets && cells[i].socket_given;
    for (uint32_t i = 0; i < n; i++) {
        in = in || (p->cell_given && p->cell == cells[chosen[i]].id);
        for (uint32_t k = 0; k < h->numa.n; k++)
            on =
                on || (p->cell_given && p->cell == cells[k].id && cells[k].socket == cells[chosen[i]].socket);
    }
    return reach == IN_CELL     ? in
           : reach == NO_CELL   ? in || !p->cell_given
           : reach == ON_SOCKET ? sockets && on
                                : true;
}

static int64_t left_within(const struct host_facts *h, const struct taken *t, const struct device_request *q,
                           const uint32_t *chosen, uint32_t n, int reach, bool asked)
{
    const struct device_pool *pools = h->device_pools.items;
    int64_t sum = 0;

    for (uint32_t i = 0; i < h->device_pools.n; i++)
        if (is_alike(&pools[i], q, asked) && is_within(h, &pools[i], chosen, n, reach) &&
            pools[i].count > t->devices[i])
            sum += pools[i].count - t->devices[i];
    return sum;
}

/* Of one request: the widest reach that its affinity allows, unless a narrower one has enough that match. */
static bool request_fits(const struct host_facts *h, const struct taken *t, const struct device_request *q,
                         const uint32_t *chosen, uint32_t n)
{
    int reach = q->affinity == DEVICE_REQUIRED ? IN_CELL
                : q->affinity == DEVICE_LEGACY ? NO_CELL
                : q->affinity == DEVICE_SOCKET ? ON_SOCKET
                                               : ANYWHERE;

    if (n == 0)
        reach = ANYWHERE;
    else if (left_within(h, t, q, chosen, n, IN_CELL, false) >= q->count)
        reach = IN_CELL;
    else if (reach == ANYWHERE && left_within(h, t, q, chosen, n, NO_CELL, false) >= q->count)
        reach = NO_CELL;
    return left_within(h, t, q, chosen, n, reach, true) >= q->count;
}

/* Tries all arrangements from the i-th cell of the VM on. */
static bool arrange(const struct host_facts *h, const struct taken *t, const struct vm_facts *v, uint32_t i,
                    uint32_t *chosen)
{
    if (i == v->numa.n)
        return v->device_requests.n == 0 || request_fits(h, t, v->device_requests.items, chosen, i);
    for (uint32_t k = 0; k < h->numa.n; k++) {
        bool used = false;
        for (uint32_t m = 0; m < i; m++)
            used = used || chosen[m] == k;
        chosen[i] = k;
        if (!used &&
            cell_fits((const struct numa_cell *)h->numa.items + k, t, k,
                      (const struct vm_numa_cell *)v->numa.items + i) &&
            arrange(h, t, v, i + 1, chosen))
            return true;
    }
    return false;
}

/* What the VM has taken is what it needs: each of its cells in another one, and all its devices from pools
 * that match. */
static bool is_served(const struct host_facts *h, const struct vm_facts *v, const struct taken *before,
                      const struct taken *now)
{
    const struct vm_numa_cell *cells = v->numa.items;
    const struct device_request *requests = v->device_requests.items;
    const struct device_pool *pools = h->device_pools.items;
    int64_t devices = 0;
    uint32_t found = 0;

    for (uint32_t i = 0; i < h->numa.n; i++) {
        int64_t mem = now->mem[i] - before->mem[i];
        bool is = mem == 0;
        for (uint32_t k = 0; k < v->numa.n; k++)
            is = is || (mem == cells[k].mem_mb && now->cpus[i] - before->cpus[i] == cells[k].cpus &&
                        now->dedicated[i] - before->dedicated[i] == cells[k].dedicated);
        found += mem > 0;
        if (!is)
            return false;
    }
    for (uint32_t i = 0; i < h->device_pools.n; i++) {
        int64_t n = now->devices[i] - before->devices[i];
        bool any = n == 0;
        for (uint32_t k = 0; k < v->device_requests.n; k++)
            any = any || is_alike(&pools[i], &requests[k], true);
        if (!any || n < 0 || (n > 0 && now->devices[i] > pools[i].count))
            return false;
        devices += n;
    }
    for (uint32_t k = 0; k < v->device_requests.n; k++)
        devices -= requests[k].count;
    return found == v->numa.n && devices == 0;
}

static void compare(uint64_t seed, const struct snapshot *s, const struct fit_cells *c, uint32_t vm,
                    uint32_t host, int64_t *row, unsigned count[2])
{
    const struct host_facts *h = &s->hosts[host].is;
    const struct vm_facts *v = &s->vms[vm].is;
    struct taken before = {0}, now = {0};
    uint32_t chosen[NUMA_CELLS_MAX];
    int64_t kept[CELLS_ROW_MAX];

    (void)read_row(h, c, host, row, &before);
    memcpy(kept, row, fit_cells_width(c, host) * sizeof *row);
    bool fits = fit_cells_take(c, vm, host, row, NULL) == CHECK_NONE;

    (void)read_row(h, c, host, row, &now);
    count[fits]++;
    if (!fits && memcmp(kept, row, fit_cells_width(c, host) * sizeof *row) != 0)
        fail_msg("seed %llu: %s is refused by %s and takes of it", (unsigned long long)seed, v->id, h->id);
    if (fits && !is_served(h, v, &before, &now))
        fail_msg("seed %llu: %s takes of %s what it does not need", (unsigned long long)seed, v->id, h->id);
    if (v->device_requests.n < 2 && arrange(h, &before, v, 0, chosen) != fits)
        fail_msg("seed %llu: %s on %s: fits %d, by all arrangements %d", (unsigned long long)seed, v->id,
                 h->id, fits, !fits);
}

/* VM after VM comes to each host, as long as they fit. */
static void test_against_all_arrangements(void **state)
{
    unsigned count[2] = {0, 0};
    unsigned n = test_clusters(3000);

    (void)state;
    for (unsigned i = 0; i < n; i++) {
        struct arena a = {0};
        struct snapshot s;
        struct fit_cells c;
        int64_t row[CELLS_ROW_MAX];

        make(test_seed() + i, &small, &a, &s);
        fit_cells_compile(&s, &a, &c);
        for (uint32_t host = 0; c.row_from && host < s.n_hosts; host++) {
            fit_cells_begin(&c, host, row);
            for (uint32_t vm = 0; vm < s.n_vms; vm++)
                if (fit_cells_binds(&c, vm))
                    compare(test_seed() + i, &s, &c, vm, host, row, count);
        }
        arena_release(&a);
    }
    (void)printf("%u fit, %u do not\n", count[1], count[0]);
    if (test_is_usual())
        assert_true(count[0] > 10000 && count[1] > 10000);
}

/* ---- trials ---- */

static void test_trials(void **state)
{
    unsigned n = test_clusters(500);
    unsigned tried = 0;

    (void)state;
    for (unsigned i = 0; i < n; i++) {
        struct arena a = {0};
        struct rng r = {.state = test_seed() + i};
        struct snapshot s;
        struct policy policy;
        struct pass p;
        struct layout_mark marks[8];

        make(test_seed() + i, &small, &a, &s);
        policy_default(&policy);
        pass_prepare(&p, &s, &policy, RULES_PREFERRED, IX_NONE, &a);
        struct layout *l = &p.layout;
        size_t width = l->cells ? l->rules->fit.cells.row_from[s.n_hosts] : 0;
        int64_t *before = arena_array(&a, int64_t, width);
        uint32_t *takes = arena_array(&a, uint32_t, s.n_vms);

        if (!l->cells || l->n_units == 0 || l->n_on == 0) {
            arena_release(&a);
            continue;
        }
        memcpy(before, l->cells->used, width * sizeof *before);
        memcpy(takes, l->cells->n_takes, s.n_vms * sizeof *takes);
        for (int k = 0; k < 8; k++)
            layout_try(l, rng_below(&r, l->n_units), rng_below(&r, l->n_on), &marks[k]);
        tried += memcmp(before, l->cells->used, width * sizeof *before) != 0;
        for (int k = 8; k-- > 0;)
            layout_undo(l, &marks[k]);
        if (memcmp(before, l->cells->used, width * sizeof *before) != 0 ||
            memcmp(takes, l->cells->n_takes, s.n_vms * sizeof *takes) != 0 || l->cells->n_saved != 0)
            fail_msg("seed %llu: trials are not undone", SEED(i));
        arena_release(&a);
    }
    if (test_is_usual())
        assert_true(tried > 100);
}

/* ---- plans ---- */

/* The cluster while a plan is carried out, its actions in any order that their dependencies allow. */
struct replay {
    const struct snapshot *s;
    const struct plan *plan;
    struct fit_cells cells;
    struct layout at; /* where VMs are at the start, and what they take */
    int64_t **of;     /* by VM: what it takes of where it is, as a row */
    bool *begun, *ended;
};

static int64_t *row_at(const struct replay *p, uint32_t host)
{
    return p->at.cells->used + p->cells.row_from[host];
}

static void begin(struct replay *p, uint64_t seed, uint32_t i, struct arena *a)
{
    const struct recommendation *rec = &p->plan->recommendations[i];
    uint32_t width = rec->to == IX_NONE ? 0 : fit_cells_width(&p->cells, rec->to);

    p->begun[i] = true;
    if ((rec->action != ACTION_MIGRATE && rec->action != ACTION_PLACE) ||
        !fit_cells_binds(&p->cells, rec->vm))
        return;
    int64_t *row = row_at(p, rec->to);
    int64_t *takes = arena_array(a, int64_t, (size_t)width + 1);

    memcpy(takes, row, width * sizeof *row);
    if (fit_cells_take(&p->cells, rec->vm, rec->to, row, NULL) != CHECK_NONE)
        fail_msg("seed %llu: recommendation %u brings %s to %s, where it does not fit",
                 (unsigned long long)seed, rec->id, p->s->vms[rec->vm].is.id, p->s->hosts[rec->to].is.id);
    for (uint32_t k = 0; k < width; k++)
        takes[k] = row[k] - takes[k];
    /* until it ends it takes on both */
    p->of[p->s->n_vms + i] = takes;
}

static void end(struct replay *p, uint32_t i)
{
    const struct recommendation *rec = &p->plan->recommendations[i];

    p->ended[i] = true;
    if (rec->action != ACTION_MIGRATE || !fit_cells_binds(&p->cells, rec->vm))
        return;
    int64_t *row = row_at(p, rec->from);

    for (uint32_t k = 0; k < fit_cells_width(&p->cells, rec->from); k++)
        row[k] -= p->of[rec->vm][k];
    p->of[rec->vm] = p->of[p->s->n_vms + i];
}

static bool may_begin(const struct replay *p, uint32_t i)
{
    const struct recommendation *rec = &p->plan->recommendations[i];

    for (uint32_t k = 0; k < rec->n_depends_on; k++)
        if (!p->ended[rec->depends_on[k] - 1])
            return false;
    return !p->begun[i];
}

static void run_plan(struct replay *p, struct rng *r, uint64_t seed, struct arena *a)
{
    uint32_t n = p->plan->n_recommendations;
    uint32_t left = 2 * n;

    while (left > 0) {
        uint32_t i = rng_below(r, n);

        if (may_begin(p, i) && rng_below(r, 3) > 0) {
            begin(p, seed, i, a);
            left--;
        } else if (p->begun[i] && !p->ended[i] && rng_below(r, 3) == 0) {
            end(p, i);
            left--;
        }
    }
}

static void replay_begin(struct replay *p, const struct pass *pass, const struct plan *plan, struct arena *a)
{
    const struct snapshot *s = plan->snap;

    *p = (struct replay){.s = s, .plan = plan};
    fit_cells_compile(s, a, &p->cells);
    layout_init_bare(&p->at, s, &pass->policy, &pass->rules, pass->entitlement, a);
    p->begun = arena_array(a, bool, plan->n_recommendations);
    p->ended = arena_array(a, bool, plan->n_recommendations);
    p->of = arena_array(a, int64_t *, (size_t)s->n_vms + plan->n_recommendations);
    for (uint32_t vm = 0; vm < s->n_vms; vm++) {
        uint32_t unit = p->at.vm_unit[vm];
        if (unit == IX_NONE || !fit_cells_binds(&p->cells, vm) || p->at.unit_slot[unit] == p->at.outside)
            continue;
        p->of[vm] =
            arena_array(a, int64_t, fit_cells_width(&p->cells, p->at.slot_host[p->at.unit_slot[unit]]) + 1);
        for (uint32_t k = 0; k < p->at.cells->n_takes[vm]; k++) {
            const struct cells_take *t = &p->at.cells->takes[p->at.cells->takes_from[vm] + k];
            p->of[vm][t->figure] = t->amount;
        }
    }
}

static void test_plans(void **state)
{
    static const struct cluster_options all = {.hosts_max = 6,
                                               .vms_max = 40,
                                               .mixed_hosts = true,
                                               .cells = true,
                                               .rules = true,
                                               .evacuate = true,
                                               .in_flight = true,
                                               .ha = true,
                                               .power = true};
    unsigned n = test_clusters(1500);
    unsigned moves = 0, refused = 0, devices = 0;

    (void)state;
    for (unsigned i = 0; i < n; i++) {
        struct arena a = {0};
        struct rng r = {.state = test_seed() + i};
        struct snapshot s;
        struct policy policy;
        struct plan plan;
        struct pass p;
        struct replay replay;
        struct err err = {0};

        random_cluster(&r, &all, &a, &s);
        policy_default(&policy);
        if (rng_below(&r, 2) == 0)
            random_policy(&r, &policy);
        else
            random_dpm(&r, &policy);
        assert_int_equal(pass_run(&s, &policy, &a, &plan, &err), 0);
        pass_prepare(&p, &s, &plan.policy, RULES_PREFERRED, IX_NONE, &a);
        refused += plan.stats.rejected[CHECK_FIT_NUMA] > 0;
        devices += plan.stats.rejected[CHECK_FIT_DEVICE] > 0;
        for (int k = 0; k < 4 && p.layout.cells && plan.n_recommendations > 0; k++) {
            replay_begin(&replay, &p, &plan, &a);
            run_plan(&replay, &r, test_seed() + i, &a);
        }
        for (uint32_t k = 0; k < plan.n_recommendations; k++)
            moves += plan.recommendations[k].action == ACTION_MIGRATE && p.layout.cells &&
                     fit_cells_binds(&p.rules.fit.cells, plan.recommendations[k].vm);
        arena_release(&a);
    }
    (void)printf(
        "%u moves of VMs with cells or devices; hosts refused for cells in %u clusters, for devices in %u\n",
        moves, refused, devices);
    if (test_is_usual())
        assert_true(moves > 500 && refused > 100 && devices > 30);
}

/* ---- VMs that ask for none ---- */

static void plan_text(const struct inventory *inv, const struct policy *policy, struct arena *a,
                      struct strbuf *ret)
{
    struct snapshot s;
    struct plan plan;
    struct err err = {0};

    if (snapshot_build(inv, a, &s, &err) < 0 || pass_run(&s, policy, a, &plan, &err) < 0)
        fail_msg("%s", err.text);
    strbuf_init(ret, STRBUF_NO_LIMIT);
    render_plan_json(&plan, ret);
}

static void test_without_demand(void **state)
{
    unsigned n = test_clusters(200);

    (void)state;
    for (unsigned i = 0; i < n; i++) {
        struct arena a = {0};
        struct rng r = {.state = test_seed() + i};
        struct snapshot s;
        struct inventory inv;
        struct policy policy;
        struct strbuf with, without;

        make(test_seed() + i, &small, &a, &s);
        random_policy(&r, &policy);
        snapshot_to_inventory(&s, &a, &inv);
        for (size_t k = 0; k < inv.n_vms; k++)
            inv.vms[k].is.numa = inv.vms[k].is.device_requests = (struct objects){0};
        plan_text(&inv, &policy, &a, &with);
        for (size_t k = 0; k < inv.n_hosts; k++)
            inv.hosts[k].is.numa = inv.hosts[k].is.device_pools = (struct objects){0};
        plan_text(&inv, &policy, &a, &without);
        if (strcmp(with.text, without.text) != 0)
            fail_msg("seed %llu: cells that no VM needs change the plan:\n%s\n%s", SEED(i), with.text,
                     without.text);
        strbuf_release(&with);
        strbuf_release(&without);
        arena_release(&a);
    }
}

/* VMs that are powered on see those before them, also in the room that other moves make. */
static void test_placements(void **state)
{
    static const struct cluster_options all = {.hosts_max = 5,
                                               .vms_max = 30,
                                               .mixed_hosts = true,
                                               .cells = true,
                                               .newcomers = true,
                                               .in_flight = true};
    unsigned n = test_clusters(1500);
    unsigned placed = 0, asked = 0;

    (void)state;
    for (unsigned i = 0; i < n; i++) {
        struct arena a = {0};
        struct rng r = {.state = test_seed() + i};
        struct snapshot s;
        struct policy policy;
        struct plan plan;
        struct pass p;
        struct replay replay;
        struct err err = {0};
        uint32_t n_new;

        random_cluster(&r, &all, &a, &s);
        policy_default(&policy);
        const uint32_t *new = new_vms(&s, &a, &n_new);

        if (n_new > 0 && place_run(&s, &policy, new, n_new, &a, &plan, &err) == 0 && plan.snap->needs_cells) {
            pass_prepare(&p, plan.snap, &plan.policy, RULES_PREFERRED, IX_NONE, &a);
            replay_begin(&replay, &p, &plan, &a);
            run_plan(&replay, &r, test_seed() + i, &a);
            for (uint32_t k = 0; k < plan.n_recommendations; k++)
                placed += plan.recommendations[k].action == ACTION_PLACE &&
                          fit_cells_binds(&replay.cells, plan.recommendations[k].vm);
            for (uint32_t k = 0; k < n_new; k++)
                asked += fit_cells_binds(&replay.cells, new[k]);
        }
        arena_release(&a);
    }
    (void)printf("%u of %u VMs with cells or devices are placed\n", placed, asked);
    if (test_is_usual())
        assert_true(placed > 500 && asked > placed + 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_all_arrangements),
        cmocka_unit_test(test_trials),
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_placements),
        cmocka_unit_test(test_without_demand),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
