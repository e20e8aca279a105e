/* Finds the best host for a running VM, and plans the migration to it. */
#include "core/place/best.h"

#include "core/pass.h"
#include "core/place/options.h"
#include "core/place/starting.h"

#include <errno.h>

/* Whether this holds the VM even if an admin asks. */
static bool holds(enum check check)
{
    return check == CHECK_VM_NOT_RUNNING || check == CHECK_VM_KIND || check == CHECK_VM_HOST_UNSEEN ||
           check == CHECK_VM_MIGRATING || check == CHECK_VM_IMMOVABLE || check == CHECK_VM_RULES;
}

int best_host_find(const struct snapshot *snap, const struct policy *policy, uint32_t vm, struct arena *a,
                   struct best_host *ret, struct plan *ret_plan, struct err *err)
{
    struct pass *p = arena_new(a, struct pass);
    struct options o;

    pass_prepare(p, starting_counted(snap, a), policy, RULES_PREFERRED, IX_NONE, a);
    enum check check = layout_vm_check(&p->layout, vm);

    if (holds(check))
        return err_set(err, -EBUSY, "%s cannot be migrated: %s", snap->vms[vm].is.name, check_meaning(check));
    uint32_t unit = p->layout.vm_unit[vm];

    options_rank(&p->layout, unit, a, &o);
    *ret = (struct best_host){.host = IX_NONE};
    if (o.n > 0) {
        ret->host = p->layout.slot_host[o.items[0].slot];
        if (o.items[0].slot != p->layout.unit_slot[unit])
            (void)plan_move(p, unit, o.items[0].slot, REASON_ASKED, IX_NONE, PRIORITY_MANDATORY);
    } else {
        uint32_t closest;
        ret->why = finding_keep(a, options_none(p, unit, &closest));
    }
    *ret_plan =
        (struct plan){.snap = snap, .policy = p->policy, .before = p->before, .end = CHECK_MANDATORY_ONLY};
    pass_order(p, ret_plan);
    ret_plan->faults = p->faults;
    ret_plan->n_faults = (uint32_t)p->n_faults;
    ret_plan->stats = p->stats;
    return 0;
}
