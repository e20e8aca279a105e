/* Computes demand from samples, and the demand of each VM from a snapshot. */
#include "core/demand/demand.h"

#include "core/demand/sample_guard.h"

double demand_cpu_mhz(const struct vm_sample *s, uint32_t vcpus)
{
    if (!s->present || isnan(s->cpu_used_mhz))
        return UNKNOWN;
    if (isnan(s->cpu_ready_ms) || !(s->interval_ms > 0) || isnan(s->core_mhz))
        return s->cpu_used_mhz;
    double wanted = s->cpu_run_ms + s->cpu_sleep_ms; /* NaN if either is unknown */
    double busy = wanted > 0 ? s->cpu_run_ms / wanted : 1;
    double ready_mhz = s->cpu_ready_ms / s->interval_ms * s->core_mhz;
    double most = vcpus * s->core_mhz;
    double demand = s->cpu_used_mhz + busy * ready_mhz;

    return ready_mhz <= most ? fmax(s->cpu_used_mhz, fmin(demand, most)) : demand;
}

double demand_mem_mb(const struct vm_sample *s, double idle_percent)
{
    if (!s->present)
        return UNKNOWN;
    double working_set = !isnan(s->mem_active_mb) ? s->mem_active_mb : s->mem_guest_used_mb;

    if (isnan(working_set))
        working_set = s->mem_consumed_mb;
    if (isnan(working_set))
        return UNKNOWN;
    double idle = s->mem_consumed_mb > working_set ? s->mem_consumed_mb - working_set : 0;
    double overhead = isnan(s->mem_overhead_mb) ? 0 : s->mem_overhead_mb;

    return working_set + idle_percent / 100 * idle + overhead;
}

void demand_release(struct vm_facts *v)
{
    double more = vm_facts_squeezed_mb(v);
    double most = v->mem_mb + v->overhead_mb;

    if (more <= 0)
        return;
    v->demand[RES_MEM] += more;
    v->consumed_mb = fmin(v->consumed_mb + more, v->mem_mb);
    for (int w = 0; w < WINDOW_COUNT; w++) {
        struct demand_stats *of = &v->window[w][RES_MEM];
        of->mean = fmin(of->mean + more, most);
        of->min = fmin(of->min + more, most);
        of->max = fmin(of->max + more, most);
    }
    v->ballooned_mb = v->swapped_mb = v->swap_in_mb_s = 0;
}

void demand_estimate(const struct snapshot *snap, enum resource r, double *ret_demand)
{
    for (uint32_t i = 0; i < snap->n_vms; i++) {
        const struct vm *v = &snap->vms[i];
        const struct alloc *set = &v->is.alloc[r];

        ret_demand[i] = 0;
        if (!vm_takes_part(snap, v))
            continue;
        double squeezed = r == RES_MEM ? vm_facts_squeezed_mb(&v->is) : 0;
        double demand = fmin(v->is.demand[r] + squeezed, sample_guard_most(snap, i, r));
        ret_demand[i] = fmin(fmax(demand, set->reservation), set->limit);
    }
}

void demand_add_waiting(const struct snapshot *snap, enum resource r, double *demand)
{
    for (uint32_t i = 0; i < snap->n_vms; i++) {
        const struct vm_facts *v = &snap->vms[i].is;
        if (vm_waits(&snap->vms[i]))
            demand[i] = fmin(fmax(v->demand[r], v->alloc[r].reservation), v->alloc[r].limit);
    }
}
