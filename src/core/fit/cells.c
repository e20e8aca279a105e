/* cells.c: which NUMA cells and devices of a host a VM takes. */
#include "core/fit/cells.h"

#include <math.h>
#include <string.h>

/* Arrangements of cells that are tried, begun ones included: a VM that needs more does not fit. */
#define STEPS_MAX 20000

/* A host and its row. */
struct place_at {
    const struct fit_cells *c;
    const struct numa_cell *cells;
    const struct device_pool *pools;
    uint32_t n_cells, n_pools;
    const uint32_t *kinds;
    uint32_t stride;
    int64_t *row;
};

static struct place_at place_at(const struct fit_cells *c, uint32_t host, int64_t *row)
{
    const struct host_facts *h = &c->snap->hosts[host].is;

    return (struct place_at){.c = c,
                             .cells = h->numa.items,
                             .pools = h->device_pools.items,
                             .n_cells = h->numa.n,
                             .n_pools = h->device_pools.n,
                             .kinds = c->kind_of + c->pool_from[host],
                             .stride = CELLS_PAGES + c->pages[host],
                             .row = row};
}

static int64_t *figure_of(const struct place_at *p, uint32_t cell, uint32_t figure)
{
    return &p->row[cell * p->stride + figure];
}

static int64_t *devices_of(const struct place_at *p)
{
    return p->row + p->n_cells * p->stride;
}

static int64_t left_of_pool(const struct place_at *p, const int64_t *used, uint32_t pool)
{
    int64_t left = p->pools[pool].count - used[pool];

    return left > 0 ? left : 0;
}

void fit_cells_begin(const struct fit_cells *c, uint32_t host, int64_t *row)
{
    struct place_at p = place_at(c, host, row);

    memset(row, 0, fit_cells_width(c, host) * sizeof *row);
    for (uint32_t i = 0; i < p.n_cells; i++) {
        const struct numa_pages *pages = p.cells[i].pages.items;

        *figure_of(&p, i, CELLS_CPUS) = p.cells[i].cpus_used_elsewhere;
        *figure_of(&p, i, CELLS_DEDICATED) = p.cells[i].dedicated_used_elsewhere;
        *figure_of(&p, i, CELLS_MEM) = p.cells[i].mem_used_elsewhere_mb;
        for (uint32_t k = 0; k < p.cells[i].pages.n; k++)
            *figure_of(&p, i, CELLS_PAGES + k) = pages[k].used_elsewhere;
    }
}

/* ---- one cell of a VM in one cell of a host ---- */

static int64_t kib_of(const struct vm_numa_cell *v)
{
    return (int64_t)v->mem_mb * (int64_t)KIB_PER_MIB;
}

/* The pages that serve the cell of the VM: the largest of those that it takes of which enough are left;
 * without a wish the smallest, which all memory is made of. IX_NONE: none. */
static uint32_t pages_for(const struct place_at *p, const struct vm_numa_cell *v, uint32_t cell)
{
    const struct numa_cell *h = &p->cells[cell];
    const struct numa_pages *pages = h->pages.items;
    int64_t kib = kib_of(v);

    for (uint32_t k = h->pages.n; k-- > 0;) {
        bool taken = v->pages == NUMA_PAGES_ANY || (v->pages == NUMA_PAGES_SMALL && k == 0) ||
                     (v->pages == NUMA_PAGES_LARGE && k > 0) ||
                     (v->pages == NUMA_PAGES_BY_SIZE && v->page_kb == pages[k].size_kb);
        int64_t left = pages[k].total - *figure_of(p, cell, CELLS_PAGES + k);

        if (v->pages == NUMA_PAGES_BY_SIZE && v->page_kb == 0)
            taken = k == 0;
        if (v->pages == NUMA_PAGES_BY_SIZE && v->page_kb == 0)
            left = pages[k].total; /* ordinary memory: the cell's ratio limits it */
        if (taken && kib <= left * pages[k].size_kb && kib % pages[k].size_kb == 0)
            return k;
    }
    return IX_NONE;
}

static bool wants_pages(const struct vm_numa_cell *v)
{
    return v->pages != NUMA_PAGES_BY_SIZE || v->page_kb > 0;
}

static bool within(const struct place_at *p, uint32_t cell, enum cells_figure figure, uint32_t takes,
                   double at_most, struct cells_shortage *ret)
{
    int64_t used = *figure_of(p, cell, figure);

    if ((double)(used + takes) <= at_most)
        return true;
    *ret = (struct cells_shortage){.lack = LACK_FIGURE,
                                   .figure = figure,
                                   .cell = p->cells[cell].id,
                                   .takes = takes,
                                   .used = used,
                                   .at_most = (int64_t)fmin(at_most, NUMA_COUNT_MAX)};
    return false;
}

/* Alone it must fit without any ratio. */
static bool fits_alone(const struct place_at *p, const struct vm_numa_cell *v, uint32_t cell,
                       struct cells_shortage *ret)
{
    const struct numa_cell *h = &p->cells[cell];
    const struct {
        enum cells_figure figure;
        uint32_t takes, at_most;
    } of[] = {{CELLS_CPUS, v->cpus, h->cpus},
              {CELLS_DEDICATED, v->dedicated, h->dedicated},
              {CELLS_MEM, h->pages.n == 0 && !wants_pages(v) ? v->mem_mb : 0, h->mem_mb}};

    for (int i = 0; i < 3; i++)
        if (of[i].takes > of[i].at_most) {
            *ret = (struct cells_shortage){LACK_FIGURE, of[i].figure, h->id, of[i].takes, 0, of[i].at_most};
            return false;
        }
    return true;
}

/* ret is filled if it does not fit. */
static bool cell_fits(const struct place_at *p, const struct vm_numa_cell *v, uint32_t cell,
                      struct cells_shortage *ret)
{
    const struct numa_cell *h = &p->cells[cell];
    bool shared = v->cpus > 0 || v->dedicated == 0;
    double cpus = h->cpu_ratio_given ? h->cpus * h->cpu_ratio : NO_LIMIT;
    double mem = h->mem_ratio_given ? h->mem_mb * h->mem_ratio : h->mem_mb;

    if (v->fixed && h->id != v->cell) {
        *ret = (struct cells_shortage){.lack = LACK_CELLS};
        return false;
    }
    if ((wants_pages(v) || h->pages.n > 0) && pages_for(p, v, cell) == IX_NONE) {
        *ret = (struct cells_shortage){.lack = LACK_PAGES, .cell = h->id, .takes = v->mem_mb};
        return false;
    }
    if (!fits_alone(p, v, cell, ret))
        return false;
    if (v->dedicated > 0 && (!within(p, cell, CELLS_DEDICATED, v->dedicated, h->dedicated, ret) ||
                             !within(p, cell, CELLS_MEM, v->mem_mb, h->mem_mb, ret)))
        return false;
    return !shared || (within(p, cell, CELLS_CPUS, v->cpus, cpus, ret) &&
                       within(p, cell, CELLS_MEM, v->mem_mb, mem, ret));
}

static void add_cell(const struct place_at *p, const struct vm_numa_cell *v, uint32_t cell, uint32_t pages)
{
    const struct numa_pages *of = p->cells[cell].pages.items;

    *figure_of(p, cell, CELLS_CPUS) += v->cpus;
    *figure_of(p, cell, CELLS_DEDICATED) += v->dedicated;
    *figure_of(p, cell, CELLS_MEM) += v->mem_mb;
    if (pages != IX_NONE)
        *figure_of(p, cell, CELLS_PAGES + pages) += kib_of(v) / of[pages].size_kb;
}

/* ---- devices ---- */

/* How near the pool is to the VM's cells: a cell of the VM, none known, elsewhere. */
enum nearness { NEAR, NOWHERE, FAR };

static enum nearness nearness_of(const struct device_pool *pool, const uint32_t *ids, uint32_t n)
{
    if (!pool->cell_given)
        return NOWHERE;
    for (uint32_t i = 0; i < n; i++)
        if (ids[i] == pool->cell)
            return NEAR;
    return FAR;
}

/* Whether the pool's cell is on the socket of one of these cells, by their ids. */
static bool is_on_socket(const struct place_at *p, const struct device_pool *pool, const uint32_t *ids,
                         uint32_t n)
{
    bool on = false;

    for (uint32_t i = 0; i < p->n_cells; i++) {
        if (!p->cells[i].socket_given)
            return false;
        for (uint32_t k = 0; pool->cell_given && p->cells[i].id == pool->cell && k < p->n_cells; k++)
            for (uint32_t m = 0; m < n; m++)
                on = on || (p->cells[k].id == ids[m] && p->cells[k].socket == p->cells[i].socket);
    }
    return on;
}

/* Devices left in the pools of the kind that are this near, at most. */
static int64_t left_within(const struct place_at *p, const int64_t *used, const uint8_t *match,
                           const uint32_t *ids, uint32_t n, enum nearness most)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < p->n_pools; i++)
        if (match[p->kinds[i]] & CELLS_MATCHES && nearness_of(&p->pools[i], ids, n) <= most)
            sum += left_of_pool(p, used, i);
    return sum;
}

/* Whether the request takes from the pool; the strictest affinity that serves it is kept. `widest`: of all
 * pools that match. */
struct reach {
    enum nearness most;
    bool by_socket;
};

static struct reach reach_of(const struct place_at *p, const int64_t *used, const struct device_request *q,
                             const uint8_t *match, const uint32_t *ids, uint32_t n)
{
    if (n == 0)
        return (struct reach){.most = FAR};
    if (q->affinity == DEVICE_REQUIRED || left_within(p, used, match, ids, n, NEAR) >= q->count)
        return (struct reach){.most = NEAR};
    if (q->affinity == DEVICE_SOCKET)
        return (struct reach){.most = FAR, .by_socket = true};
    if (q->affinity == DEVICE_LEGACY || left_within(p, used, match, ids, n, NOWHERE) >= q->count)
        return (struct reach){.most = NOWHERE};
    return (struct reach){.most = FAR};
}

/* Takes from the pools of this nearness what the request still wants; returns that. */
static int64_t take_from(const struct place_at *p, int64_t *used, const uint8_t *match, const uint32_t *ids,
                         uint32_t n, struct reach reach, bool far, int64_t wants)
{
    for (uint32_t i = 0; i < p->n_pools && wants > 0; i++) {
        enum nearness is = nearness_of(&p->pools[i], ids, n);
        int64_t left = left_of_pool(p, used, i);

        if (match[p->kinds[i]] != (CELLS_MATCHES | CELLS_OPEN) || is > reach.most ||
            (n > 0 && !reach.by_socket && far != (is == FAR)) ||
            (reach.by_socket && !is_on_socket(p, &p->pools[i], ids, n)))
            continue;
        used[i] += left < wants ? left : wants;
        wants -= left < wants ? left : wants;
    }
    return wants;
}

/* Serves all requests of the VM from `used`, which it changes, next to these cells, by their ids; n 0:
 * anywhere. */
static bool serve(const struct place_at *p, int64_t *used, uint32_t vm, const uint32_t *ids, uint32_t n,
                  struct cells_shortage *ret)
{
    const struct objects *requests = &p->c->snap->vms[vm].is.device_requests;

    for (uint32_t i = 0; i < requests->n; i++) {
        const struct device_request *q = (const struct device_request *)requests->items + i;
        const uint8_t *match =
            p->c->match + (size_t)p->c->spec_of[p->c->request_from[vm] + i] * p->c->n_kinds;
        struct reach reach = reach_of(p, used, q, match, ids, n);
        int64_t wants = take_from(p, used, match, ids, n, reach, false, q->count);

        if (n > 0 && reach.most == FAR)
            wants = take_from(p, used, match, ids, n, reach, true, wants);
        if (wants > 0) {
            *ret =
                (struct cells_shortage){.lack = LACK_DEVICES, .takes = q->count, .at_most = q->count - wants};
            return false;
        }
    }
    return true;
}

/* ---- all cells of a VM ---- */

struct search {
    struct place_at at;
    uint32_t vm;
    const struct vm_numa_cell *cells;
    uint32_t n;
    uint32_t order[NUMA_CELLS_MAX];  /* the host's cells, the first to be tried first */
    uint64_t fits[NUMA_CELLS_MAX];   /* by cell of the VM: the ranks of those where it fits */
    uint32_t chosen[NUMA_CELLS_MAX]; /* by cell of the VM: a cell of the host */
    uint32_t steps;
    bool served; /* some arrangement of cells failed for want of devices only */
    int64_t devices[DEVICE_POOLS_MAX];
    struct cells_shortage short_of;
};

/* The cells with most left first, as Nova has it: of equal devices by CPUs, of these by memory. With as many
 * cells as the VM has there is no choice. */
static double spare(const struct search *s, uint32_t cell, int by)
{
    const struct place_at *p = &s->at;
    int64_t devices = 0;

    switch (by) {
    case 0:
        for (uint32_t i = 0; i < p->n_pools; i++)
            if (p->pools[i].cell_given && p->pools[i].cell == p->cells[cell].id)
                devices += left_of_pool(p, devices_of(p), i);
        return (double)(p->c->snap->vms[s->vm].is.device_requests.n > 0 ? devices : -devices);
    case 1:
        return (double)(s->cells[0].dedicated > 0
                            ? p->cells[cell].dedicated - *figure_of(p, cell, CELLS_DEDICATED)
                            : -*figure_of(p, cell, CELLS_CPUS));
    default:
        return (double)(p->cells[cell].mem_mb - *figure_of(p, cell, CELLS_MEM));
    }
}

static bool comes_before(const struct search *s, uint32_t x, uint32_t y)
{
    for (int by = 0; by < 3; by++) {
        double of_x = spare(s, x, by);
        double of_y = spare(s, y, by);
        if (of_x != of_y)
            return of_x > of_y;
    }
    return false;
}

static void sort_cells(struct search *s)
{
    for (uint32_t i = 0; i < s->at.n_cells; i++) {
        uint32_t k = i;
        for (; k > 0 && s->at.n_cells > s->n && comes_before(s, i, s->order[k - 1]); k--)
            s->order[k] = s->order[k - 1];
        s->order[k] = i;
    }
}

static bool arranged(struct search *s)
{
    uint32_t ids[NUMA_CELLS_MAX];

    for (uint32_t i = 0; i < s->n; i++)
        ids[i] = s->at.cells[s->chosen[i]].id;
    if (s->at.n_pools > 0)
        memcpy(s->devices, devices_of(&s->at), s->at.n_pools * sizeof s->devices[0]);
    s->served = serve(&s->at, s->devices, s->vm, ids, s->n, &s->short_of);
    return s->served;
}

/* Places the cells of the VM from the i-th on. */
static bool arrange(struct search *s, uint32_t i, uint64_t taken)
{
    if (i == s->n)
        return arranged(s);
    for (uint32_t k = 0; k < s->at.n_cells && s->steps < STEPS_MAX; k++) {
        if (taken >> k & 1 || !(s->fits[i] >> k & 1))
            continue;
        s->steps++;
        s->chosen[i] = s->order[k];
        if (arrange(s, i + 1, taken | (uint64_t)1 << k))
            return true;
    }
    return false;
}

static enum check refuse(const struct cells_shortage *why, struct cells_shortage *ret)
{
    if (ret)
        *ret = *why;
    return why->lack == LACK_DEVICES ? CHECK_FIT_DEVICE : CHECK_FIT_NUMA;
}

/* Each cell of the VM by itself; false: one fits nowhere. */
static bool find_cells(struct search *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        struct cells_shortage first = {.lack = LACK_CELLS};

        s->fits[i] = 0;
        for (uint32_t k = 0; k < s->at.n_cells; k++) {
            struct cells_shortage why;
            if (cell_fits(&s->at, &s->cells[i], s->order[k], &why))
                s->fits[i] |= (uint64_t)1 << k;
            else if (first.lack == LACK_CELLS)
                first = why;
        }
        if (s->fits[i] == 0) {
            s->short_of = first;
            return false;
        }
    }
    return true;
}

enum check fit_cells_take(const struct fit_cells *c, uint32_t vm, uint32_t host, int64_t *row,
                          struct cells_shortage *ret)
{
    const struct vm_facts *v = &c->snap->vms[vm].is;
    struct search s = {.at = place_at(c, host, row), .vm = vm, .cells = v->numa.items, .n = v->numa.n};

    if (s.n > s.at.n_cells)
        return refuse(&(struct cells_shortage){.lack = LACK_CELLS, .cell = s.at.n_cells, .takes = s.n}, ret);
    if (s.at.n_pools > 0)
        memcpy(s.devices, devices_of(&s.at), s.at.n_pools * sizeof s.devices[0]);
    /* there must be devices also where cells do not count (Nova's PciPassthroughFilter) */
    if (!serve(&s.at, s.devices, vm, NULL, 0, &s.short_of))
        return refuse(&s.short_of, ret);
    if (s.n > 0) {
        sort_cells(&s);
        s.short_of.lack = LACK_TOGETHER;
        if (!find_cells(&s) || !arrange(&s, 0, 0))
            return refuse(&s.short_of, ret);
    }
    for (uint32_t i = 0; i < s.n; i++)
        add_cell(&s.at, &s.cells[i], s.chosen[i], pages_for(&s.at, &s.cells[i], s.chosen[i]));
    if (s.at.n_pools > 0)
        memcpy(devices_of(&s.at), s.devices, s.at.n_pools * sizeof s.devices[0]);
    return CHECK_NONE;
}

/* ---- VMs that are there ---- */

static uint32_t find_cell(const struct place_at *p, uint32_t id)
{
    for (uint32_t i = 0; i < p->n_cells; i++)
        if (p->cells[i].id == id)
            return i;
    return IX_NONE;
}

static uint32_t find_pool(const struct place_at *p, const char *id)
{
    for (uint32_t i = 0; i < p->n_pools; i++)
        if (p->pools[i].id && strcmp(p->pools[i].id, id) == 0)
            return i;
    return IX_NONE;
}

/* The pages that the VM has there: of its size, else the ones that would serve it, else the smallest. */
static uint32_t pages_of(const struct place_at *p, const struct vm_numa_cell *v, uint32_t cell)
{
    const struct numa_pages *pages = p->cells[cell].pages.items;

    for (uint32_t k = 0; k < p->cells[cell].pages.n; k++)
        if (pages[k].size_kb == v->page_kb)
            return k;
    uint32_t served = pages_for(p, v, cell);

    return served == IX_NONE && p->cells[cell].pages.n > 0 ? 0 : served;
}

bool fit_cells_take_known(const struct fit_cells *c, uint32_t vm, uint32_t host, int64_t *row)
{
    struct place_at p = place_at(c, host, row);
    const struct vm_facts *v = &c->snap->vms[vm].is;
    const struct vm_numa_cell *cells = v->numa.items;
    const struct device_request *requests = v->device_requests.items;

    for (uint32_t i = 0; i < v->numa.n; i++)
        if (!cells[i].cell_given || find_cell(&p, cells[i].cell) == IX_NONE)
            return false;
    for (uint32_t i = 0; i < v->device_requests.n; i++) {
        if (!requests[i].pool || find_pool(&p, requests[i].pool) == IX_NONE)
            return false;
    }
    for (uint32_t i = 0; i < v->numa.n; i++) {
        uint32_t cell = find_cell(&p, cells[i].cell);
        add_cell(&p, &cells[i], cell, pages_of(&p, &cells[i], cell));
    }
    for (uint32_t i = 0; i < v->device_requests.n; i++)
        devices_of(&p)[find_pool(&p, requests[i].pool)] += requests[i].count;
    return true;
}

void fit_cells_take_anyway(const struct fit_cells *c, uint32_t vm, uint32_t host, int64_t *row)
{
    struct place_at p = place_at(c, host, row);
    const struct vm_facts *v = &c->snap->vms[vm].is;
    const struct vm_numa_cell *cells = v->numa.items;
    const struct device_request *requests = v->device_requests.items;

    for (uint32_t i = 0; i < v->numa.n && p.n_cells > 0; i++) {
        uint32_t cell = cells[i].cell_given ? find_cell(&p, cells[i].cell) : IX_NONE;
        cell = cell == IX_NONE ? i % p.n_cells : cell;
        add_cell(&p, &cells[i], cell, pages_of(&p, &cells[i], cell));
    }
    for (uint32_t i = 0; i < v->device_requests.n; i++) {
        const uint8_t *match = c->match + (size_t)c->spec_of[c->request_from[vm] + i] * c->n_kinds;
        uint32_t pool = 0;

        while (pool < p.n_pools && match[p.kinds[pool]] != (CELLS_MATCHES | CELLS_OPEN))
            pool++;
        if (pool < p.n_pools)
            devices_of(&p)[pool] += requests[i].count;
    }
}
