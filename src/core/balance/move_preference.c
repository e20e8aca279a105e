/* move_preference.c: scores and buckets of a unit's VMs on the hosts of slots. */
#include "core/balance/move_preference.h"

#include <math.h>

static double load_then(const struct move_preference *p, uint32_t unit, uint32_t slot)
{
    double mine = unit == IX_NONE ? 0 : p->l->unit_demand[RES_CPU][unit] * p->l->inverse[RES_CPU][slot];

    return fmax(p->load[slot] - mine, 0);
}

static double free_mem_then(const struct move_preference *p, uint32_t unit, uint32_t slot)
{
    double backed = unit == IX_NONE ? 0 : p->l->unit_backed[unit] + p->l->unit_idle[unit];

    return p->l->mem_free0[slot] >= NO_LIMIT ? UNKNOWN : p->l->mem_free0[slot] - p->idle[slot] + backed;
}

static double count_then(const struct move_preference *p, uint32_t vm, const struct expression_node *variable,
                         uint32_t slot, bool beside)
{
    const struct layout *l = p->l;
    uint32_t stage = variable->column;
    const struct stage_facts *s = &l->snap->stages[stage].is;
    double used = (double)layout_stage_used(l, p->used, vm, stage, slot,
                                            beside && !s->over ? USED_BESIDE_UNIT : USED_BY_ALL) /
                  FIT_AMOUNT_ONE;

    if (variable->variable == VARIABLE_HOST_USED)
        return used;
    int64_t limit = s->limit.n > 0 ? fit_limit(&l->rules->fit, vm, stage, l->slot_host[slot]) : FIT_NOTHING;

    return limit == FIT_NOTHING ? UNKNOWN : (double)limit / FIT_AMOUNT_ONE - used;
}

static double value_then(const struct move_preference *p, uint32_t vm, const struct expression_node *variable,
                         uint32_t host, bool beside)
{
    const struct layout *l = p->l;
    uint32_t slot = l->host_slot[host];
    uint32_t unit = beside ? l->vm_unit[vm] : IX_NONE;

    if (slot == IX_NONE)
        return UNKNOWN;
    unit = unit != IX_NONE && l->unit_slot[unit] == slot ? unit : IX_NONE;
    if (variable->variable == VARIABLE_HOST_LOAD)
        return load_then(p, unit, slot);
    return variable->variable == VARIABLE_HOST_FREE_MEM ? free_mem_then(p, unit, slot)
                                                        : count_then(p, vm, variable, slot, beside);
}

static double value_of_all(const void *with, uint32_t vm, const struct expression_node *variable,
                           uint32_t host)
{
    return value_then(with, vm, variable, host, false);
}

static double value_beside(const void *with, uint32_t vm, const struct expression_node *variable,
                           uint32_t host)
{
    return value_then(with, vm, variable, host, true);
}

/* The hosts that can run VMs. */
static const uint64_t *hosts_on(const struct layout *l, struct arena *a)
{
    uint64_t *bits = arena_array(a, uint64_t, (size_t)l->rules->fit.words + 1);

    for (uint32_t i = 0; i < l->n_on; i++)
        bits[l->slot_host[i] / 64] |= (uint64_t)1 << (l->slot_host[i] % 64);
    return bits;
}

struct move_preference *move_preference_new(const struct layout *l, double gain, struct arena *a)
{
    struct move_preference *p;

    if (l->snap->n_pipelines == 0)
        return NULL;
    p = arena_new(a, struct move_preference);
    *p = (struct move_preference){.l = l, .price = l->policy->score_weight * gain};
    p->then = (struct fit_then){.all = {value_of_all, p}, .beside = {value_beside, p}};
    p->frozen = fit_frozen_new(&l->rules->fit, hosts_on(l, a), &p->then, a);
    if (!p->frozen)
        return NULL;
    p->load = arena_copy(a, l->norm[RES_CPU], l->n_slots, sizeof *p->load);
    p->idle = arena_copy(a, l->mem_idle, l->n_slots, sizeof *p->idle);
    if (l->used)
        p->used = arena_copy(a, l->used, l->n_used, sizeof *p->used);
    return p;
}

double move_preference_cost(const struct move_preference *p, uint32_t unit, uint32_t to_slot)
{
    const struct layout *l = p->l;
    double drop = 0;

    for (uint32_t i = l->unit_from[unit]; p->price > 0 && i < l->unit_from[unit + 1]; i++)
        drop += fit_frozen_drop(p->frozen, l->unit_vms[i], l->slot_host[to_slot]);
    return p->price * drop;
}

uint32_t move_preference_worse_bucket(const struct move_preference *p, uint32_t unit, uint32_t to_slot,
                                      struct fit_frozen_bucket *ret)
{
    const struct layout *l = p->l;

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++)
        if (fit_frozen_worse_bucket(p->frozen, l->unit_vms[i], l->slot_host[to_slot], ret))
            return l->unit_vms[i];
    return IX_NONE;
}

struct move_rank move_preference_rank(const struct layout *l, const struct move_preference *preference,
                                      uint32_t unit, uint32_t to_slot, double imbalance_after)
{
    double reclaimed = layout_reclaims(l, unit, to_slot, 0) * l->inverse[RES_MEM][to_slot];
    struct move_rank r = {.distrusted = layout_is_distrusted(l, to_slot),
                          .imbalance = imbalance_after + reclaimed / RES_COUNT};

    if (!preference)
        return r;
    r.worse_bucket = move_preference_worse_bucket(preference, unit, to_slot, NULL) != IX_NONE;
    r.imbalance += move_preference_cost(preference, unit, to_slot);
    return r;
}

uint32_t move_preference_worst_vm(const struct move_preference *p, uint32_t unit, uint32_t from_slot,
                                  uint32_t to_slot)
{
    const struct layout *l = p->l;
    uint32_t to = l->slot_host[to_slot];
    uint32_t worst = l->unit_first[unit];
    double most = 0;

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        uint32_t vm = l->unit_vms[i];
        uint32_t from = from_slot == IX_NONE ? l->snap->vms[vm].host : l->slot_host[from_slot];
        double drop = fit_frozen_score(p->frozen, vm, from) - fit_frozen_score(p->frozen, vm, to);

        if (!(drop > most))
            continue;
        worst = vm;
        most = drop;
    }
    return worst;
}
