/* Counts the spaces of a slot: how many more VMs of the size of policy.room fit into what it has left. */
#include "core/room/spaces.h"

#include <string.h>

/* Sums of the same numbers may differ in their last digits. */
#define ROUNDING 1e-6

static double vcpus_of(const struct spaces *s, uint32_t vm)
{
    return s->l->snap->vms[vm].is.vcpus / s->size->cpu_ratio;
}

bool spaces_init(struct spaces *s, const struct layout *l, struct arena *a)
{
    *s = (struct spaces){.l = l, .size = &l->policy->room};
    if (s->size->cpus == 0 && s->size->mem_mb == 0)
        return false;
    s->takes[SPACE_CPUS] = (double)s->size->cpus / s->size->cpu_ratio;
    s->takes[SPACE_MEM] = s->size->mem_mb;
    s->takes[SPACE_MEM_FREE] = s->size->mem_mb;
    if (s->size->cells > 0) {
        s->cell_takes[SPACE_CELL_CPUS] = ceil((double)s->size->cpus / (double)s->size->cells);
        s->cell_takes[SPACE_CELL_MEM] = s->size->mem_mb / (double)s->size->cells;
    }
    s->cpus = arena_array(a, double, (size_t)l->n_slots + 1);
    s->unit_cpus = arena_array(a, double, l->n_units);
    for (uint32_t i = 0; i < l->n_slots; i++)
        s->cpus[i] = l->snap->hosts[l->slot_host[i]].is.cores;
    for (uint32_t vm = 0; vm < l->snap->n_vms; vm++)
        if (l->other_end[vm] != IX_NONE)
            s->cpus[l->other_end[vm]] -= vcpus_of(s, vm);
    for (uint32_t u = 0; u < l->n_units; u++)
        for (uint32_t i = l->unit_from[u]; i < l->unit_from[u + 1]; i++)
            s->unit_cpus[u] += vcpus_of(s, l->unit_vms[i]);
    return true;
}

/* ---- cells ---- */

/* The host's cells, if the size has some. */
static const struct objects *cells_at(const struct spaces *s, uint32_t slot)
{
    static const struct objects none = {0};

    return s->size->cells > 0 ? &s->l->snap->hosts[s->l->slot_host[slot]].is.numa : &none;
}

uint32_t spaces_width(const struct spaces *s, uint32_t slot)
{
    return SPACE_FIGURES + SPACE_CELL_FIGURES * cells_at(s, slot)->n;
}

/* VMs of the size take dedicated CPUs of a cell where VMs share none. */
static bool is_dedicated(const struct numa_cell *c)
{
    return c->cpus == 0;
}

/* The figure of the cell that an entry of the host's row (core/fit/cells.h) is, or IX_NONE. */
static uint32_t figure_of(const struct spaces *s, uint32_t slot, uint32_t entry)
{
    const struct objects *cells = cells_at(s, slot);
    uint32_t stride = CELLS_PAGES + s->l->rules->fit.cells.pages[s->l->slot_host[slot]];
    uint32_t cell = entry / stride;

    if (cell >= cells->n)
        return IX_NONE; /* a device, or the size has no cells */
    uint32_t first = SPACE_FIGURES + SPACE_CELL_FIGURES * cell;
    const struct numa_cell *c = (const struct numa_cell *)cells->items + cell;

    switch (entry % stride) {
    case CELLS_CPUS:
        return is_dedicated(c) ? IX_NONE : first + SPACE_CELL_CPUS;
    case CELLS_DEDICATED:
        return is_dedicated(c) ? first + SPACE_CELL_CPUS : IX_NONE;
    case CELLS_MEM:
        return first + SPACE_CELL_MEM;
    default:
        return IX_NONE; /* pages: a part of the memory */
    }
}

static void add_cells_left(const struct spaces *s, uint32_t slot, double *ret)
{
    const struct objects *cells = cells_at(s, slot);
    const struct layout *l = s->l;

    for (uint32_t i = 0; i < cells->n; i++) {
        const struct numa_cell *c = (const struct numa_cell *)cells->items + i;
        double *left = ret + SPACE_FIGURES + (size_t)SPACE_CELL_FIGURES * i;

        left[SPACE_CELL_CPUS] = is_dedicated(c)
                                    ? c->dedicated
                                    : c->cpus * (c->cpu_ratio_given ? c->cpu_ratio : s->size->cpu_ratio);
        left[SPACE_CELL_MEM] = c->mem_mb * (c->mem_ratio_given ? c->mem_ratio : 1);
        if (l->cells) /* the host's row has it */
            continue;
        left[SPACE_CELL_CPUS] -= is_dedicated(c) ? c->dedicated_used_elsewhere : c->cpus_used_elsewhere;
        left[SPACE_CELL_MEM] -= c->mem_used_elsewhere_mb;
    }
    if (!l->cells || cells->n == 0)
        return;
    const struct fit_cells *fit = &l->rules->fit.cells;
    const int64_t *row = l->cells->used + fit->row_from[l->slot_host[slot]];

    for (uint32_t i = 0; i < fit_cells_width(fit, l->slot_host[slot]); i++) {
        uint32_t figure = figure_of(s, slot, i);
        if (figure != IX_NONE)
            ret[figure] -= (double)row[i];
    }
}

static void add_cells_released(const struct spaces *s, uint32_t unit, double *ret)
{
    const struct layout *l = s->l;
    uint32_t slot = l->unit_slot[unit];

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1] && l->cells; i++) {
        uint32_t vm = l->unit_vms[i];
        const struct cells_take *takes = l->cells->takes + l->cells->takes_from[vm];

        for (uint32_t k = 0; k < l->cells->n_takes[vm]; k++) {
            uint32_t figure = figure_of(s, slot, takes[k].figure);
            if (figure != IX_NONE)
                ret[figure] += (double)takes[k].amount;
        }
    }
}

static bool add_cells_taken(const struct spaces *s, uint32_t unit, uint32_t slot, double *ret)
{
    const struct layout *l = s->l;
    const struct fit_cells *fit = &l->rules->fit.cells;
    uint32_t host = l->slot_host[slot];
    int64_t row[CELLS_ROW_MAX];

    if (!l->cells || !layout_takes_cells(l, unit))
        return true;
    const int64_t *before = l->cells->used + fit->row_from[host];
    uint32_t width = fit_cells_width(fit, host);
    memcpy(row, before, width * sizeof *row);
    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++)
        if (fit_cells_binds(fit, l->unit_vms[i]) &&
            fit_cells_take(fit, l->unit_vms[i], host, row, NULL) != CHECK_NONE)
            return false;
    for (uint32_t i = 0; i < width; i++) {
        uint32_t figure = row[i] == before[i] ? IX_NONE : figure_of(s, slot, i);
        if (figure != IX_NONE)
            ret[figure] += (double)(row[i] - before[i]);
    }
    return true;
}

/* ---- figures ---- */

static void clear_cells(const struct spaces *s, uint32_t slot, double *ret)
{
    for (uint32_t f = SPACE_FIGURES; f < spaces_width(s, slot); f++)
        ret[f] = 0;
}

void spaces_left(const struct spaces *s, uint32_t slot, double *ret)
{
    const struct layout *l = s->l;

    ret[SPACE_CPUS] = s->cpus[slot];
    ret[SPACE_MEM] = l->mem_limit[slot] - l->mem_taken[slot];
    ret[SPACE_MEM_FREE] = l->mem_free[slot];
    for (uint32_t i = 0; i < l->list[slot].n; i++)
        ret[SPACE_CPUS] -= s->unit_cpus[l->list[slot].items[i]];
    add_cells_left(s, slot, ret);
}

void spaces_released(const struct spaces *s, uint32_t unit, double *ret)
{
    ret[SPACE_CPUS] = s->unit_cpus[unit];
    ret[SPACE_MEM] = s->l->unit_mem[unit];
    ret[SPACE_MEM_FREE] = s->l->unit_backed[unit];
    clear_cells(s, s->l->unit_slot[unit], ret);
    if (s->size->cells > 0)
        add_cells_released(s, unit, ret);
}

bool spaces_taken(const struct spaces *s, uint32_t unit, uint32_t slot, double *ret)
{
    ret[SPACE_CPUS] = s->unit_cpus[unit];
    ret[SPACE_MEM] = s->l->unit_mem[unit];
    ret[SPACE_MEM_FREE] = s->l->unit_phys[unit];
    clear_cells(s, slot, ret);
    return s->size->cells == 0 || add_cells_taken(s, unit, slot, ret);
}

/* ---- spaces ---- */

static uint32_t times(double left, double takes)
{
    return left < takes ? (left + ROUNDING >= takes) : (uint32_t)fmin((left + ROUNDING) / takes, UINT32_MAX);
}

static uint32_t least_times(const double *left, const double *takes, int n)
{
    uint32_t least = UINT32_MAX;

    for (int f = 0; f < n; f++) {
        uint32_t here = takes[f] > 0 ? times(left[f], takes[f]) : UINT32_MAX;
        least = here < least ? here : least;
    }
    return least;
}

/* Cells of VMs of the size that fit into the cell of the host. */
static uint32_t fit_in_cell(const struct spaces *s, const double *left, uint32_t cell)
{
    return least_times(left + SPACE_FIGURES + (size_t)SPACE_CELL_FIGURES * cell, s->cell_takes,
                       SPACE_CELL_FIGURES);
}

/* VMs of the size that fit into the cells, each in as many different ones as it has: n of them do if there is
 * room for that many cells without more than n in one. */
static uint32_t fit_in_cells(const struct spaces *s, const double *left, uint32_t n_cells)
{
    uint64_t each = (uint64_t)s->size->cells;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < n_cells; i++)
        sum += fit_in_cell(s, left, i);
    for (uint64_t n = sum / each; n > 0; n--) {
        sum = 0;
        for (uint32_t i = 0; i < n_cells; i++) {
            uint32_t here = fit_in_cell(s, left, i);
            sum += here < n ? here : n;
        }
        if (sum >= n * each)
            return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
    }
    return 0;
}

bool spaces_receives(const struct spaces *s, uint32_t slot)
{
    const struct layout *l = s->l;

    return slot < l->n_on && !l->closing[slot] && !l->asleep[slot] && l->agents_ready[slot];
}

uint32_t spaces_count(const struct spaces *s, uint32_t slot, const double *left)
{
    if (!spaces_receives(s, slot))
        return 0;
    uint32_t n = least_times(left, s->takes, SPACE_FIGURES);
    uint32_t in_cells = n > 0 && s->size->cells > 0 ? fit_in_cells(s, left, cells_at(s, slot)->n) : n;

    return in_cells < n ? in_cells : n;
}

static double part_unused(const double *left, const double *takes, int n)
{
    double whole = least_times(left, takes, n);
    double sum = 0;

    for (int f = 0; f < n; f++)
        if (takes[f] > 0 && left[f] < NO_LIMIT)
            sum += left[f] / takes[f] - whole;
    return sum;
}

double spaces_unused(const struct spaces *s, uint32_t slot, const double *left)
{
    uint32_t cells = cells_at(s, slot)->n;
    double sum = 0;

    if (cells == 0)
        return part_unused(left, s->takes, SPACE_FIGURES);
    for (uint32_t i = 0; i < cells; i++)
        sum += part_unused(left + SPACE_FIGURES + (size_t)SPACE_CELL_FIGURES * i, s->cell_takes,
                           SPACE_CELL_FIGURES);
    return sum;
}

/* floor(a - b) <= floor(a) - floor(b), in each figure. For VMs of several cells there is no such bound. */
uint32_t spaces_covered(const struct spaces *s, uint32_t slot, const double *taken)
{
    uint32_t covered = least_times(taken, s->takes, SPACE_FIGURES);
    uint32_t in_cells = 0;

    if (s->size->cells == 0)
        return covered;
    for (uint32_t i = 0; i < cells_at(s, slot)->n && s->size->cells == 1; i++)
        in_cells += fit_in_cell(s, taken, i);
    return in_cells < covered ? in_cells : covered;
}

uint32_t spaces_of(const struct spaces *s, uint32_t slot)
{
    double left[SPACE_FIGURES_MAX];

    spaces_left(s, slot, left);
    return spaces_count(s, slot, left);
}

uint64_t spaces_of_all(const struct spaces *s)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < s->l->n_on; i++)
        n += spaces_of(s, i);
    return n;
}

void spaces_guard_begin(struct spaces_guard *g, const struct spaces *s, uint64_t kept)
{
    *g = (struct spaces_guard){.s = s, .kept = kept, .now = spaces_of_all(s)};
    g->fewest = g->now;
}

static bool lacks_headroom(const struct layout *l, uint32_t slot)
{
    for (int r = 0; r < RES_COUNT; r++)
        if (l->norm[r][slot] > 1 - l->policy->headroom_percent[r] / 100)
            return true;
    return false;
}

bool spaces_guard_refuses(const struct spaces_guard *g, uint32_t unit, uint32_t slot)
{
    double left[SPACE_FIGURES_MAX];
    double taken[SPACE_FIGURES_MAX];

    spaces_left(g->s, slot, left);
    uint32_t before = spaces_count(g->s, slot, left);
    if (!spaces_taken(g->s, unit, slot, taken))
        return false; /* layout_check() refuses it */
    for (uint32_t f = 0; f < spaces_width(g->s, slot); f++)
        left[f] -= taken[f];
    uint32_t after = spaces_count(g->s, slot, left);

    return after < before && g->fewest < g->kept + (before - after) &&
           !lacks_headroom(g->s->l, g->s->l->unit_slot[unit]);
}

void spaces_guard_follow(struct spaces_guard *g, uint32_t from, uint32_t to, uint32_t before)
{
    g->now += spaces_of(g->s, from) + spaces_of(g->s, to);
    g->now -= before;
    g->fewest = g->now < g->fewest ? g->now : g->fewest;
}
