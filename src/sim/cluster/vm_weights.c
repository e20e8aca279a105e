/* vm_weights.c: hosts without pools (SCHEDULER_WEIGHTS), as plain KVM: CPU is divided among VMs by one weight
 * each, below a limit each. A VM begins with the shares and the limit that the scenario gives it; those that
 * are set replace them, go with it to other hosts, and can be given back. */
#include "sim/cluster/cluster_internal.h"

#include <errno.h>

/* As its admin has it. */
static const struct alloc *own_of(const struct vm *v, enum resource r)
{
    return v->is.overridden ? &v->is.source_alloc[r] : &v->is.alloc[r];
}

struct alloc vm_weights_alloc(const struct cluster *c, uint32_t vm, enum resource r)
{
    const struct vm_control *set = &c->vms[vm].set;
    struct alloc alloc = vm_of(c, vm)->is.alloc[r];

    if (c->s->scheduler != SCHEDULER_WEIGHTS)
        return alloc;
    alloc = *own_of(vm_of(c, vm), r);
    if (r == RES_CPU) /* a kernel reserves none */
        alloc = (struct alloc){.shares = set->given ? set->shares : alloc.shares,
                               .limit = set->given ? set->limit : alloc.limit};
    return alloc;
}

static int set_one(struct cluster *c, uint32_t host, const struct vm_setting *s, struct err *err)
{
    uint32_t vm = snapshot_find_vm(c->initial, s->vm);

    if (vm == IX_NONE)
        return err_set(err, -ENOENT, "the VM %s does not exist", s->vm);
    if (c->vms[vm].home != host || is_moving(&c->vms[vm]))
        return 0; /* it has left, or is about to */
    totals_integrate_vm(c, vm);
    c->vms[vm].set = s->to;
    schedule_vm_due(c, vm);
    return 0;
}

int vm_weights_apply(struct cluster *c, uint32_t host, const struct pool_settings *q, struct err *err)
{
    int r = 0;

    if (q->n_vms > 0 && c->s->scheduler != SCHEDULER_WEIGHTS)
        return err_set(err, -ENOTSUP, "the host %s divides by pools, not by VMs", q->host);
    for (size_t i = 0; r == 0 && i < q->n_vms; i++)
        r = set_one(c, host, &q->vms[i], err);
    return r;
}
