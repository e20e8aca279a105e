/* Bounds what the units of an exchange could relieve, from the sums of migration_cost.h. */
#include "core/balance/exchange_relief.h"

/* Two sums of the same numbers may differ by this part, because their order of addition differs. */
#define ROUNDING 1e-9

void exchange_relief_init(struct exchange_relief *r, const struct layout *l)
{
    *r = (struct exchange_relief){.l = l,
                                  .since = arena_array(l->a, uint64_t, l->n_on),
                                  .surplus = arena_array(l->a, double, l->n_units),
                                  .most = arena_array(l->a, double, l->n_on),
                                  .all = arena_array(l->a, double, l->n_on)};
    for (int k = 0; k < RES_COUNT; k++)
        r->of[k] = arena_array(l->a, double, l->n_units);
}

/* The shortage that contention adds once the unit has left is left out. */
static double relief_of(const struct migration_cost *costs, int k, uint32_t slot, uint32_t unit)
{
    double now = costs->slot_shortage[k][slot].expected;

    if (!(now > 0))
        return 0;
    struct load_range load = load_range_plus(costs->slot[k][slot], &costs->unit[k][unit], -1);
    return fmax(now - migration_cost_shortage(costs, &load, k, slot, 0).expected, 0);
}

static void refresh_units(struct exchange_relief *r, const struct migration_cost *costs, uint32_t slot)
{
    const struct unit_list *list = &r->l->list[slot];

    if (r->since[slot] == costs->changed_at[slot])
        return;
    r->since[slot] = costs->changed_at[slot];
    for (uint32_t i = 0; i < list->n; i++)
        for (int k = 0; k < RES_COUNT; k++)
            r->of[k][list->items[i]] = relief_of(costs, k, slot, list->items[i]);
}

static void refresh_slot(struct exchange_relief *r, const struct migration_cost *costs, uint32_t slot)
{
    const struct unit_list *list = &r->l->list[slot];
    double stable = migration_cost_stable_time(costs, slot) * (1 + ROUNDING);
    const double lacks[] = {costs->slot_shortage[RES_CPU][slot].expected,
                            costs->slot_shortage[RES_MEM][slot].expected};

    refresh_units(r, costs, slot);
    r->all[slot] = migration_cost_over_capacity(costs, lacks) * stable;
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t u = list->items[i];
        if (r->l->unit_held[u] != CHECK_NONE)
            continue;
        const double relief[] = {r->of[RES_CPU][u], r->of[RES_MEM][u]};
        r->surplus[u] = migration_cost_over_capacity(costs, relief) * stable - r->price * costs->least[u];
        r->most[slot] = fmax(r->most[slot], r->surplus[u]);
    }
}

void exchange_relief_refresh(struct exchange_relief *r, const struct migration_cost *costs)
{
    r->pays = !r->l->policy->cost_benefit || !(costs->ratio > 0);
    r->price = costs->ratio * migration_cost_over_capacity(costs, (const double[]){1, 0});
    for (uint32_t i = 0; i < r->l->n_on; i++)
        r->most[i] = -NO_LIMIT;
    for (uint32_t i = 0; i < r->l->n_on && !r->pays; i++)
        refresh_slot(r, costs, i);
}
