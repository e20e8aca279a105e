/* Takes moves back, exactly: a move that was made, and trials. */
#include "core/layout/layout.h"

void layout_move_back(struct layout *l, uint32_t unit, uint32_t from_slot)
{
    uint32_t there = l->unit_slot[unit];
    double more = l->unit_phys[unit] - l->unit_backed[unit];

    layout_move(l, unit, from_slot);
    l->mem_free[there] += more;
    l->mem_free[from_slot] += more;
}

void layout_try(struct layout *l, uint32_t unit, uint32_t to_slot, struct layout_mark *ret)
{
    struct layout_mark m = {
        .unit = unit, .index = l->unit_index[unit], .slot = {l->unit_slot[unit], to_slot}};

    for (int i = 0; i < 2; i++) {
        for (int r = 0; r < RES_COUNT; r++) {
            m.norm[i][r] = l->norm[r][m.slot[i]];
            m.reserved[i][r] = l->reserved[r][m.slot[i]];
        }
        m.mem_taken[i] = l->mem_taken[m.slot[i]];
        m.mem_free[i] = l->mem_free[m.slot[i]];
        m.mem_idle[i] = l->mem_idle[m.slot[i]];
    }
    for (int r = 0; r < RES_COUNT; r++) {
        m.sum[r] = l->sum[r];
        m.sum_squares[r] = l->sum_squares[r];
    }
    if (l->cells)
        m.cells = layout_save_cells(l, unit);
    *ret = m;
    layout_move(l, unit, to_slot);
}

void layout_undo(struct layout *l, const struct layout_mark *m)
{
    layout_move(l, m->unit,
                m->slot[0]); /* the integer counts and the lists; the doubles are restored exactly below */
    if (l->cells)
        layout_restore_cells(l, m->unit, m->cells);
    for (int i = 0; i < 2; i++) {
        for (int r = 0; r < RES_COUNT; r++) {
            bool full = l->norm[r][m->slot[i]] > LAYOUT_FULL;
            l->norm[r][m->slot[i]] = m->norm[i][r];
            if (m->slot[i] < l->n_on)
                l->over[r] += (uint32_t)(m->norm[i][r] > LAYOUT_FULL) - (uint32_t)full;
            l->reserved[r][m->slot[i]] = m->reserved[i][r];
        }
        l->mem_taken[m->slot[i]] = m->mem_taken[i];
        l->mem_free[m->slot[i]] = m->mem_free[i];
        l->mem_idle[m->slot[i]] = m->mem_idle[i];
    }
    for (int r = 0; r < RES_COUNT; r++) {
        l->sum[r] = m->sum[r];
        l->sum_squares[r] = m->sum_squares[r];
    }
}

void layout_undo_in_order(struct layout *l, const struct layout_mark *m)
{
    struct unit_list *list = &l->list[m->slot[0]];

    layout_undo(l, m);
    uint32_t other = list->items[m->index];
    uint32_t last = l->unit_index[m->unit];

    list->items[m->index] = m->unit;
    list->items[last] = other;
    l->unit_index[other] = last;
    l->unit_index[m->unit] = m->index;
}
