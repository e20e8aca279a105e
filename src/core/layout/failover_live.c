/* failover_live.c: whether restarts after the loss of a host find the NUMA cells, devices and counts of
 * pipelines that they need. Restarts of a loss share what the running VMs leave free, and are undone after
 * it; a spare VM keeps its share for all losses. */
#include "core/layout/failover_internal.h"

#include <string.h>

struct taken {
    uint32_t vm, slot;
    int by;
};

struct failover_live {
    int64_t *used;       /* by counter: during the present loss; NULL: there are no counters */
    int64_t **kept;      /* by slot: the row of its cells, with spare VMs; NULL: as in the layout */
    int64_t **now;       /* by slot: the row of its cells during the loss `now_of` */
    uint32_t *now_of;    /* by slot: the number of that loss */
    uint32_t loss;       /* the number of the present loss */
    struct taken *taken; /* the changes of `used` by the present loss, to undo them */
    size_t n_taken, cap_taken;
};

static bool is_bound(const struct failover_capacity *s, uint32_t vm)
{
    const struct fit *fit = &s->l->rules->fit;
    const struct fit_bound *b;

    return (s->l->cells && fit_cells_binds(&fit->cells, vm)) || (s->l->used && fit_bounds(fit, vm, &b) > 0);
}

static bool any_binds(const struct failover_capacity *s)
{
    bool any = false;

    for (uint32_t vm = 0; vm < s->l->snap->n_vms && !any && (s->l->cells || s->l->used); vm++)
        any = failover_capacity_protects(s, vm) && is_bound(s, vm);
    return any;
}

void failover_live_init(struct failover_capacity *s)
{
    const struct layout *l = s->l;

    s->live = NULL;
    if (!any_binds(s))
        return;
    struct failover_live *v = arena_new(s->a, struct failover_live);

    s->live = v;
    if (l->used)
        v->used = arena_copy(s->a, l->used, l->n_used, sizeof *v->used);
    if (!l->cells)
        return;
    v->kept = arena_array(s->a, int64_t *, (size_t)l->n_slots + 1);
    v->now = arena_array(s->a, int64_t *, (size_t)l->n_slots + 1);
    v->now_of = arena_array(s->a, uint32_t, (size_t)l->n_slots + 1);
}

/* ---- counts ---- */

static void count(struct failover_capacity *s, uint32_t vm, uint32_t slot, int by)
{
    struct failover_live *v = s->live;

    if (!v->used)
        return;
    layout_count_shares(s->l, v->used, vm, slot, by);
    v->taken = arena_grow(s->a, v->taken, v->n_taken, &v->cap_taken, sizeof v->taken[0]);
    v->taken[v->n_taken++] = (struct taken){vm, slot, by};
}

static void lose_all(struct failover_capacity *s, uint32_t slot)
{
    const struct layout *l = s->l;

    for (uint32_t i = 0; i < l->list[slot].n; i++) {
        uint32_t u = l->list[slot].items[i];
        for (uint32_t k = l->unit_from[u]; k < l->unit_from[u + 1]; k++)
            count(s, l->unit_vms[k], slot, -1);
    }
}

void failover_live_begin(struct failover_capacity *s, uint32_t lost, uint32_t only)
{
    if (!s->live)
        return;
    s->live->loss++;
    if (only != IX_NONE) {
        count(s, only, lost, -1);
        return;
    }
    lose_all(s, lost);
    for (uint32_t i = 0; i < s->l->n_slots; i++)
        if (s->counted_on[i] && i != lost)
            lose_all(s, i);
}

void failover_live_end(struct failover_capacity *s)
{
    struct failover_live *v = s->live;

    while (v && v->n_taken > 0) {
        const struct taken *t = &v->taken[--v->n_taken];
        layout_count_shares(s->l, v->used, t->vm, t->slot, -t->by);
    }
    if (v)
        v->loss++; /* the rows of the loss that was at hand are no longer those of the hosts */
}

/* ---- cells ---- */

static const int64_t *row_of(const struct failover_capacity *s, uint32_t slot)
{
    const struct failover_live *v = s->live;

    if (v->loss > 0 && v->now_of[slot] == v->loss)
        return v->now[slot];
    return v->kept[slot] ? v->kept[slot]
                         : s->l->cells->used + s->l->rules->fit.cells.row_from[s->l->slot_host[slot]];
}

/* A copy of the slot's row that may be changed, for the present loss or for good. */
static int64_t *own_row(struct failover_capacity *s, uint32_t slot, bool for_good)
{
    struct failover_live *v = s->live;
    int64_t **row = for_good ? &v->kept[slot] : &v->now[slot];
    const int64_t *is = row_of(s, slot);
    size_t width = fit_cells_width(&s->l->rules->fit.cells, s->l->slot_host[slot]);

    if (is == *row)
        return *row;
    if (!*row)
        *row = arena_array(s->a, int64_t, width + 1);
    memcpy(*row, is, width * sizeof **row);
    if (!for_good)
        v->now_of[slot] = v->loss;
    return *row;
}

/* ---- the needs of a restart ---- */

bool failover_live_fits(const struct failover_capacity *s, uint32_t vm, uint32_t slot)
{
    const struct fit_cells *c = &s->l->rules->fit.cells;
    uint32_t host = s->l->slot_host[slot];
    int64_t row[CELLS_ROW_MAX];

    if (!s->live)
        return true;
    if (s->live->used && layout_vm_exceeds(s->l, s->live->used, vm, slot))
        return false;
    if (!s->l->cells || !fit_cells_binds(c, vm))
        return true;
    memcpy(row, row_of(s, slot), fit_cells_width(c, host) * sizeof *row);
    return fit_cells_take(c, vm, host, row, NULL) == CHECK_NONE;
}

void failover_live_take(struct failover_capacity *s, uint32_t vm, uint32_t slot, bool for_good)
{
    const struct fit_cells *c = &s->l->rules->fit.cells;

    if (!s->live)
        return;
    if (for_good && s->live->used)
        layout_count_shares(s->l, s->live->used, vm, slot, 1);
    else
        count(s, vm, slot, 1);
    if (s->l->cells && fit_cells_binds(c, vm))
        (void)fit_cells_take(c, vm, s->l->slot_host[slot], own_row(s, slot, for_good), NULL);
}

bool failover_live_has_now(const struct failover_capacity *s, uint32_t unit, uint32_t slot)
{
    const struct layout *l = s->l;

    return (!l->cells || layout_cells_refuse(l, unit, slot, IX_NONE, NULL, NULL) == CHECK_NONE) &&
           (!l->used || !layout_quantity_refuses(l, FIT_PLACE, unit, slot, NULL));
}
