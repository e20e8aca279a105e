/* cells.c: which NUMA cells and devices VMs have on their slots; whether those of a slot suffice for a unit.
 */
#include "core/layout/layout.h"

#include <string.h>

static const struct fit_cells *cells_of(const struct layout *l)
{
    return &l->rules->fit.cells;
}

static bool binds(const struct layout *l, uint32_t vm)
{
    return l->cells->takes_from[vm + 1] > l->cells->takes_from[vm];
}

static int64_t *row_of(const struct layout *l, uint32_t slot)
{
    return l->cells->used + cells_of(l)->row_from[l->slot_host[slot]];
}

static void add(int64_t *row, const struct cells_take *takes, uint32_t n, int by)
{
    for (uint32_t i = 0; i < n; i++)
        row[takes[i].figure] += by * takes[i].amount;
}

/* Notes what the VM has taken: the row was `before`. */
static void note(struct layout *l, uint32_t vm, const int64_t *before, const int64_t *row, uint32_t width)
{
    struct cells_take *takes = &l->cells->takes[l->cells->takes_from[vm]];
    uint32_t n = 0;

    for (uint32_t i = 0; i < width; i++)
        if (row[i] != before[i])
            takes[n++] = (struct cells_take){i, row[i] - before[i]};
    l->cells->n_takes[vm] = n;
}

/* The VM takes on the slot, where it is whether it fits or not. known: only where it says that it is; returns
 * whether it does. */
static bool settle(struct layout *l, uint32_t vm, uint32_t slot, bool known)
{
    const struct fit_cells *c = cells_of(l);
    uint32_t host = l->slot_host[slot];
    uint32_t width = fit_cells_width(c, host);
    int64_t before[CELLS_ROW_MAX];
    int64_t *row = row_of(l, slot);

    memcpy(before, row, width * sizeof *row);
    if (known && !fit_cells_take_known(c, vm, host, row))
        return false;
    if (!known && fit_cells_take(c, vm, host, row, NULL) != CHECK_NONE)
        fit_cells_take_anyway(c, vm, host, row);
    note(l, vm, before, row, width);
    return true;
}

/* Of a VM in flight, where it is not yet: for good, because it does not move. */
static void settle_end(struct layout *l, uint32_t vm, uint32_t slot)
{
    if (slot == IX_NONE || slot == l->outside || !binds(l, vm))
        return;
    uint32_t host = l->slot_host[slot];
    int64_t *row = row_of(l, slot);

    if (fit_cells_take(cells_of(l), vm, host, row, NULL) != CHECK_NONE)
        fit_cells_take_anyway(cells_of(l), vm, host, row);
}

/* First those that say where they are, then the others, then the other ends of those in flight. */
static void settle_all(struct layout *l)
{
    bool *settled = arena_array(l->a, bool, l->snap->n_vms);

    for (int known = 1; known >= 0; known--)
        for (uint32_t vm = 0; vm < l->snap->n_vms; vm++) {
            uint32_t unit = l->vm_unit[vm];
            uint32_t slot = unit == IX_NONE ? l->outside : l->unit_slot[unit];

            if (slot != l->outside && binds(l, vm) && !settled[vm])
                settled[vm] = settle(l, vm, slot, known);
        }
    for (uint32_t vm = 0; vm < l->snap->n_vms; vm++) {
        settle_end(l, vm, l->other_end[vm]);
        if (l->going_to[vm] != l->other_end[vm]) /* a second move that is approved */
            settle_end(l, vm, l->going_to[vm]);
    }
}

void layout_init_cells(struct layout *l)
{
    const struct fit_cells *c = cells_of(l);
    const struct snapshot *s = l->snap;

    l->cells = arena_new(l->a, struct layout_cells);
    l->cells->used = arena_array(l->a, int64_t, c->row_from[s->n_hosts]);
    for (uint32_t h = 0; h < s->n_hosts; h++)
        fit_cells_begin(c, h, l->cells->used + c->row_from[h]);
    l->cells->n_takes = arena_array(l->a, uint32_t, s->n_vms);
    l->cells->takes_from = arena_array(l->a, size_t, (size_t)s->n_vms + 1);
    for (uint32_t vm = 0; vm < s->n_vms; vm++)
        l->cells->takes_from[vm + 1] = l->cells->takes_from[vm] + fit_cells_takes_max(c, vm);
    l->cells->takes = arena_array(l->a, struct cells_take, l->cells->takes_from[s->n_vms]);
    settle_all(l);
}

static void leave(struct layout *l, uint32_t vm, uint32_t slot)
{
    if (slot != l->outside)
        add(row_of(l, slot), &l->cells->takes[l->cells->takes_from[vm]], l->cells->n_takes[vm], -1);
    l->cells->n_takes[vm] = 0;
}

void layout_move_cells(struct layout *l, uint32_t unit, uint32_t from, uint32_t to)
{
    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++)
        if (binds(l, l->unit_vms[i]))
            leave(l, l->unit_vms[i], from);
    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1] && to != l->outside; i++)
        if (binds(l, l->unit_vms[i]))
            (void)settle(l, l->unit_vms[i], to, false);
}

/* Of each VM the number of its takes, then these. */
size_t layout_save_cells(struct layout *l, uint32_t unit)
{
    struct layout_cells *c = l->cells;
    size_t from = c->n_saved;

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        uint32_t vm = l->unit_vms[i];
        uint32_t n = binds(l, vm) ? c->n_takes[vm] : 0;

        c->saved = arena_grow(l->a, c->saved, c->n_saved, &c->cap_saved, sizeof *c->saved);
        c->saved[c->n_saved++] = (struct cells_take){.figure = n};
        for (uint32_t k = 0; k < n; k++) {
            c->saved = arena_grow(l->a, c->saved, c->n_saved, &c->cap_saved, sizeof *c->saved);
            c->saved[c->n_saved++] = c->takes[c->takes_from[vm] + k];
        }
    }
    return from;
}

void layout_restore_cells(struct layout *l, uint32_t unit, size_t saved)
{
    struct layout_cells *c = l->cells;
    uint32_t slot = l->unit_slot[unit];
    size_t at = saved;

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        uint32_t vm = l->unit_vms[i];
        uint32_t n = c->saved[at++].figure;

        if (!binds(l, vm))
            continue;
        leave(l, vm, slot);
        if (n > 0)
            memcpy(&c->takes[c->takes_from[vm]], &c->saved[at], n * sizeof *c->saved);
        c->n_takes[vm] = n;
        at += n;
        if (slot != l->outside)
            add(row_of(l, slot), &c->takes[c->takes_from[vm]], n, 1);
    }
    c->n_saved = saved;
}

bool layout_takes_cells(const struct layout *l, uint32_t unit)
{
    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++)
        if (binds(l, l->unit_vms[i]))
            return true;
    return false;
}

static void add_unit(const struct layout *l, uint32_t unit, int64_t *row, int by)
{
    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        uint32_t vm = l->unit_vms[i];
        add(row, &l->cells->takes[l->cells->takes_from[vm]], l->cells->n_takes[vm], by);
    }
}

enum check layout_cells_refuse(const struct layout *l, uint32_t unit, uint32_t slot, uint32_t without,
                               uint32_t *ret_vm, struct cells_shortage *ret)
{
    const struct fit_cells *c = cells_of(l);
    uint32_t host = l->slot_host[slot];
    int64_t row[CELLS_ROW_MAX];

    if (!layout_takes_cells(l, unit))
        return CHECK_NONE;
    memcpy(row, row_of(l, slot), fit_cells_width(c, host) * sizeof *row);
    if (l->unit_slot[unit] == slot)
        add_unit(l, unit, row, -1);
    if (without != IX_NONE)
        add_unit(l, without, row, -1);
    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        uint32_t vm = l->unit_vms[i];
        enum check check = binds(l, vm) ? fit_cells_take(c, vm, host, row, ret) : CHECK_NONE;

        if (check != CHECK_NONE) {
            if (ret_vm)
                *ret_vm = vm;
            return check;
        }
    }
    return CHECK_NONE;
}

enum check layout_cells_refuse_vm(const struct layout *l, uint32_t vm, uint32_t slot,
                                  struct cells_shortage *ret)
{
    int64_t row[CELLS_ROW_MAX];

    if (!l->cells || !binds(l, vm))
        return CHECK_NONE;
    if (l->vm_unit[vm] != IX_NONE)
        return layout_cells_refuse(l, l->vm_unit[vm], slot, IX_NONE, NULL, ret);
    memcpy(row, row_of(l, slot), fit_cells_width(cells_of(l), l->slot_host[slot]) * sizeof *row);
    return fit_cells_take(cells_of(l), vm, l->slot_host[slot], row, ret);
}
