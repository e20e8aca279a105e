/* Says why a unit that should leave its host cannot. */
#include "core/plan/correct.h"

/* The VM of the unit that fails the check. */
static uint32_t held_vm(const struct pass *p, const struct obstacle *why)
{
    const struct layout *l = &p->layout;

    for (uint32_t i = l->unit_from[why->unit]; i < l->unit_from[why->unit + 1]; i++) {
        const struct vm_facts *v = &p->snap->vms[l->unit_vms[i]].is;
        if (why->check == CHECK_VM_IMMOVABLE ? v->immovable != NULL : v->mandatory_only != NULL)
            return l->unit_vms[i];
    }
    return l->unit_first[why->unit];
}

const struct finding *obstacle_finding(const struct pass *p, struct obstacle why)
{
    if (why.slot == IX_NONE && why.unit != IX_NONE &&
        (why.check == CHECK_VM_IMMOVABLE || why.check == CHECK_VM_MANDATORY_ONLY))
        return check_finding(p, held_vm(p, &why), p->layout.slot_host[p->layout.unit_slot[why.unit]],
                             why.check, NULL);
    if (why.slot == IX_NONE)
        return finding_keep(
            p->a, (struct finding){.code = why.check == CHECK_HOST_NOT_ON ? FIND_NO_OTHER_HOST : FIND_MEANING,
                                   .check = why.check});
    uint32_t host = p->layout.slot_host[why.slot];
    return finding_keep(p->a,
                        (struct finding){.code = FIND_CLOSEST,
                                         .check = why.check,
                                         .subjects = {{SUBJECT_HOST, host}},
                                         .because = why.unit == IX_NONE
                                                        ? NULL
                                                        : check_finding(p, p->layout.unit_first[why.unit],
                                                                        host, why.check, NULL)});
}
