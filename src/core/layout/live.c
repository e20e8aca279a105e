/* live.c: what moves change, for filters and scores of pipelines, and whether a filter that reads it keeps a
 * unit off a slot. */
#include "core/layout/layout.h"

#include <math.h>

/* Sums of the same numbers may differ in their last digits, by the order of the moves: a comparison must not.
 */
#define LOAD_DIGITS 1e6
#define MEM_DIGITS 1e3

static double left(const struct layout *l, uint32_t vm, uint32_t stage, uint32_t slot, double used)
{
    bool limited = vm != IX_NONE && l->snap->stages[stage].is.limit.n > 0;
    int64_t limit = limited ? fit_limit(&l->rules->fit, vm, stage, l->slot_host[slot]) : FIT_NOTHING;

    return limit == FIT_NOTHING ? UNKNOWN : (double)limit / FIT_AMOUNT_ONE - used;
}

/* What the other VMs of its unit demand of CPU, take of the free memory of a host to which they come, and
 * have where they are. */
struct mates {
    double cpu, comes, backed;
};

static struct mates mates_of(const struct layout *l, uint32_t vm)
{
    const uint32_t unit = l->vm_unit[vm];
    struct mates ret = {0};

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        if (l->unit_vms[i] == vm)
            continue;
        const struct vm_weight w = layout_weigh_vm(l, l->unit_vms[i]);

        ret.cpu += w.demand[RES_CPU];
        ret.comes += w.phys + w.idle;
        ret.backed += w.backed + w.idle;
    }
    return ret;
}

/* vm IX_NONE: no VM is asked about, so all of the host's count. */
static double load(const struct layout *l, uint32_t vm, uint32_t slot)
{
    const uint32_t unit = vm == IX_NONE ? IX_NONE : l->vm_unit[vm];
    double more = unit == IX_NONE ? 0 : mates_of(l, vm).cpu;

    if (unit != IX_NONE && l->unit_slot[unit] == slot)
        more -= l->unit_demand[RES_CPU][unit];
    return round(fmax(l->norm[RES_CPU][slot] + more * l->inverse[RES_CPU][slot], 0) * LOAD_DIGITS) /
           LOAD_DIGITS;
}

static double free_mem(const struct layout *l, uint32_t vm, uint32_t slot)
{
    const uint32_t unit = vm == IX_NONE ? IX_NONE : l->vm_unit[vm];
    double unused = l->mem_free[slot] - l->mem_idle[slot];

    if (unit != IX_NONE) {
        const struct mates mates = mates_of(l, vm);

        unused += l->unit_slot[unit] == slot ? l->unit_backed[unit] + l->unit_idle[unit] - mates.backed
                                             : -mates.comes;
    }
    return l->mem_free[slot] >= NO_LIMIT ? UNKNOWN : round(unused * MEM_DIGITS) / MEM_DIGITS;
}

static double value_of(const void *with, uint32_t vm, const struct expression_node *variable, uint32_t host)
{
    const struct layout *l = with;
    uint32_t slot = l->host_slot[host];

    if (slot == IX_NONE)
        return UNKNOWN;
    switch ((int)variable->variable) { /* the others are no live ones */
    case VARIABLE_HOST_FREE_MEM:
        return free_mem(l, vm, slot);
    case VARIABLE_HOST_LOAD:
        return load(l, vm, slot);
    default:
        break;
    }
    double used =
        (double)layout_stage_used(l, l->used, vm, variable->column, slot, USED_BY_OTHERS) / FIT_AMOUNT_ONE;

    return variable->variable == VARIABLE_HOST_USED ? used : left(l, vm, variable->column, slot, used);
}

/* Of counters by host; of the VM on a host where it is not. */
static bool values_of(const void *with, uint32_t vm, const struct expression_node *variable,
                      const uint32_t *hosts, uint32_t first, uint32_t n, double *ret)
{
    const struct layout *l = with;
    const struct fit_counts *counts = &l->rules->fit.counts;
    bool used = variable->variable == VARIABLE_HOST_USED;
    uint32_t unit = l->vm_unit[vm];

    if ((!used && variable->variable != VARIABLE_HOST_LEFT) || !l->used || counts->over_groups ||
        (unit != IX_NONE &&
         (l->unit_slot[unit] != l->outside || l->unit_from[unit + 1] - l->unit_from[unit] > 1)))
        return false;
    uint32_t measure = counts->measure_of[variable->column];
    uint32_t whole = counts->whole[measure];
    uint32_t from = whole == IX_NONE ? counts->shares_from[vm] : 0;
    uint32_t to = whole == IX_NONE ? counts->shares_from[vm + 1] : 1;

    for (uint32_t i = 0; i < n; i++)
        ret[i] = 0;
    for (uint32_t k = from; k < to; k++) {
        uint32_t counter = whole == IX_NONE ? counts->shares[k].counter : whole;
        const int64_t *of = l->used + l->used_from[counter];

        for (uint32_t i = 0; counts->counters[counter].measure == measure && i < n; i++) {
            uint32_t slot = l->host_slot[hosts ? hosts[i] : first + i];
            double amount = slot == IX_NONE ? 0 : (double)of[slot];

            ret[i] = amount > ret[i] ? amount : ret[i];
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t host = hosts ? hosts[i] : first + i;
        double amount = ret[i] / FIT_AMOUNT_ONE;

        ret[i] = l->host_slot[host] == IX_NONE ? UNKNOWN
                 : used                        ? amount
                                               : left(l, vm, variable->column, l->host_slot[host], amount);
    }
    return true;
}

static bool exceeds(const void *with, uint32_t vm, uint32_t stage, uint32_t host)
{
    const struct layout *l = with;
    uint32_t slot = l->host_slot[host];

    return slot != IX_NONE && layout_stage_exceeds(l, vm, stage, slot, NULL);
}

static enum check lacks(const void *with, uint32_t vm, uint32_t host)
{
    const struct layout *l = with;
    uint32_t slot = l->host_slot[host];

    return slot == IX_NONE ? CHECK_NONE : layout_cells_refuse_vm(l, vm, slot, NULL);
}

struct fit_live layout_live(const struct layout *l)
{
    return (struct fit_live){
        .is = {.value = value_of, .with = l, .values = values_of}, .exceeds = exceeds, .lacks = lacks};
}

bool layout_live_refuses(const struct layout *l, uint32_t unit, uint32_t slot)
{
    const struct expression_live live = {.value = value_of, .with = l};

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        uint32_t vm = l->unit_vms[i];

        if (fit_live_refuses(&l->rules->fit, rules_fit_use(&l->snap->vms[vm]), vm, l->slot_host[slot], &live))
            return true;
    }
    return false;
}
