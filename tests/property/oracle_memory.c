/* What one VM needs of a host, and of the memory that backs it what the hypervisor may take back. */
#include "oracle.h"

#include "core/demand/sample_guard.h"

/* The physical memory that the VM cannot do without: consumed and admitted memory, unless the settings let
 * the hypervisor take back what the VM does not demand. */
static double physical_of(const struct oracle *o, uint32_t vm)
{
    const struct vm_facts *v = &o->snap->vms[vm].is;
    double consumed = (o->starts[vm] ? v->mem_mb : v->consumed_mb) + v->overhead_mb;
    double admitted = oracle_needs(o, vm, ORACLE_MEM);
    double times = fmax(o->policy->mem_overcommit, 1);
    bool by_reservation = o->policy->mem_admission == MEM_ADMISSION_RESERVATION;
    struct finding bad;

    if (v->no_reclaim || v->demand_unknown || o->starts[vm] || v->state != VM_ON ||
        (times <= 1 && !by_reservation) || sample_guard_find(o->snap, o->policy, vm, &bad))
        return fmax(admitted, consumed);
    double used = fmax(v->demand[RES_MEM], v->alloc[RES_MEM].reservation + v->overhead_mb);

    return fmin(fmax(admitted, consumed), fmax(used, admitted / times));
}

double oracle_needs(const struct oracle *o, uint32_t vm, enum oracle_need need)
{
    const struct vm_facts *v = &o->snap->vms[vm].is;
    double admitted = v->alloc[RES_MEM].reservation;
    double consumed = o->starts[vm] ? v->mem_mb : v->consumed_mb;

    switch (need) {
    case ORACLE_CPU_RESERVED:
        return v->alloc[RES_CPU].reservation;
    case ORACLE_MEM_RESERVED:
        return v->alloc[RES_MEM].reservation;
    case ORACLE_MEM:
        if (o->policy->mem_admission == MEM_ADMISSION_CONSUMED)
            admitted = fmax(consumed, admitted);
        if (o->policy->mem_admission == MEM_ADMISSION_CONFIGURED)
            admitted = v->mem_mb;
        return admitted + v->overhead_mb;
    case ORACLE_PHYSICAL:
        return physical_of(o, vm);
    case ORACLE_NEEDS:
        break;
    }
    return 0;
}

double oracle_frees(const struct oracle *o, uint32_t vm, enum oracle_need need)
{
    const struct vm_facts *v = &o->snap->vms[vm].is;

    return need == ORACLE_PHYSICAL ? fmin(v->consumed_mb + v->overhead_mb, physical_of(o, vm))
                                   : oracle_needs(o, vm, need);
}

double oracle_idle(const struct oracle *o, uint32_t vm)
{
    const struct vm_facts *v = &o->snap->vms[vm].is;

    return v->consumed_mb + v->overhead_mb - oracle_frees(o, vm, ORACLE_PHYSICAL);
}

double oracle_idle_on(const struct oracle *o, uint32_t host, bool at_start)
{
    double sum = 0;

    for (uint32_t i = 0; i < o->snap->n_vms; i++)
        if (at_start ? o->home[i] == host : oracle_is_on(o, i, host))
            sum += oracle_idle(o, i);
    return sum;
}
