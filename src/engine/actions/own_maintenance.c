/* own_maintenance.c: the mark of hosts that are in maintenance where the hypervisor has no such mode. */
#include "engine/actions/own_maintenance.h"

#include "base/idmap.h"
#include "engine/actions/action.h"
#include "engine/knowledge/hosts.h"
#include "engine/knowledge/knowledge.h"
#include "engine/state.h"

#define MODE_OPERATIONS (1u << OPERATION_ENTER_MAINTENANCE | 1u << OPERATION_EXIT_MAINTENANCE)

bool own_maintenance_is_used(const struct engine *e)
{
    return e->settings.operations & 1u << OPERATION_MIGRATE && !(e->settings.operations & MODE_OPERATIONS);
}

bool own_maintenance_or_source_can(const struct engine *e, unsigned operations)
{
    return own_maintenance_is_used(e) || (e->settings.operations & operations) == operations;
}

bool own_maintenance_is_marked(const struct engine *e, const char *host)
{
    const struct known_host *k = hosts_find(e->knowledge->hosts, host);

    return k && k->r.maintenance != 0 && own_maintenance_is_used(e);
}

void own_maintenance_apply(struct engine *e, const struct action *x, instant_s now)
{
    hosts_change(e->knowledge->hosts, x->r.host)->r.maintenance =
        x->r.kind == ACTION_ENTER_MAINTENANCE ? now : 0;
}

void own_maintenance_fill(const struct engine *e, struct inventory *inv)
{
    struct idmap marked = {0}; /* id -> struct host_facts */

    for (size_t i = 0; i < inv->n_hosts; i++) {
        struct host_facts *f = &inv->hosts[i].is;

        if (!f->id || f->state != HOST_ON || !own_maintenance_is_marked(e, f->id))
            continue;
        f->state = HOST_MAINTENANCE;
        *idmap_slot(&marked, f->id) = f;
    }
    for (size_t i = 0; i < inv->n_vms && marked.n > 0; i++) {
        struct host_facts *f =
            inv->vms[i].host && inv->vms[i].is.state == VM_ON ? idmap_get(&marked, inv->vms[i].host) : NULL;

        if (f)
            f->state = HOST_ENTERING_MAINTENANCE;
    }
    idmap_release(&marked, NULL);
}
