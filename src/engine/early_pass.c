/* early_pass.c: what calls for a pass before its interval ends. It compares the newest inventory with that of
 * the last pass, and makes no pass. */
#include "engine/early_pass.h"

#include "base/idmap.h"
#include "engine/actions/action.h"
#include "engine/decide.h"
#include "engine/observation.h"
#include "engine/source_poll.h"
#include "engine/state.h"

#include <math.h>
#include <string.h>

/* ---- overload -------------------------------------------------------------------------------- */

static bool is_overloaded(const struct snapshot *s, uint32_t host)
{
    const struct host *h = &s->hosts[host];

    for (int r = 0; r < RES_COUNT && host_can_run_vms(h); r++) {
        double wanted = 0;

        for (uint32_t i = 0; i < h->vms.n; i++) {
            const struct vm_facts *v = &s->vms[h->vms.items[i]].is;

            wanted +=
                fmin(v->demand[r], vm_facts_limit_in_force(v, r)); /* demand above the limit cannot be met */
        }
        if (wanted > host_room(h, r))
            return true;
    }
    return false;
}

static bool overload_is_new(const struct snapshot *then, const struct snapshot *now)
{
    for (uint32_t i = 0; i < now->n_hosts; i++) {
        if (!is_overloaded(now, i))
            continue;
        uint32_t was = snapshot_find_host(then, now->hosts[i].is.id);
        if (was == IX_NONE || !is_overloaded(then, was))
            return true;
    }
    return false;
}

/* ---- changes from outside -------------------------------------------------------------------- */

/* The VMs and hosts that actions of ours concern, or have concerned since the last pass. */
static void find_ours(const struct engine *e, struct idmap *vms, struct idmap *hosts)
{
    const instant_s since = e->passes->decided->asked;

    for (size_t i = 0; i < e->actions->n; i++) {
        struct action *x = e->actions->list[i];

        if (x->r.started == 0 || (x->r.ended != 0 && x->r.ended < since))
            continue;
        if (x->r.vm)
            *idmap_slot(vms, x->r.vm) = x;
        if (x->r.host)
            *idmap_slot(hosts, x->r.host) = x;
    }
}

static bool host_is_on(const struct snapshot *s, uint32_t ix)
{
    return ix != IX_NONE && s->hosts[ix].is.state == HOST_ON;
}

static bool a_host_differs(const struct snapshot *a, const struct snapshot *b, const struct idmap *ours)
{
    for (uint32_t i = 0; i < a->n_hosts; i++) {
        const char *id = a->hosts[i].is.id;

        if (host_is_on(a, i) && !host_is_on(b, snapshot_find_host(b, id)) && !idmap_get(ours, id))
            return true;
    }
    return false;
}

static bool vm_is_on(const struct snapshot *s, uint32_t ix)
{
    return ix != IX_NONE && s->vms[ix].is.state == VM_ON;
}

static bool a_vm_differs(const struct snapshot *a, const struct snapshot *b, const struct idmap *ours)
{
    for (uint32_t i = 0; i < a->n_vms; i++) {
        const char *id = a->vms[i].is.id;

        if (vm_is_on(a, i) && !vm_is_on(b, snapshot_find_vm(b, id)) && !idmap_get(ours, id))
            return true;
    }
    return false;
}

/* Whether it keeps the rule is the pass's to find out. */
static bool a_ruled_vm_moved(const struct snapshot *then, const struct snapshot *now,
                             const struct idmap *ours)
{
    for (uint32_t i = 0; i < now->n_rules; i++) {
        const struct rule *rule = &now->rules[i];

        for (uint32_t k = 0; rule->is.enabled && k < rule->vms.n; k++) {
            const struct vm *v = &now->vms[rule->vms.items[k]];
            uint32_t was = snapshot_find_vm(then, v->is.id);

            if (v->is.state == VM_ON && v->host != IX_NONE && vm_is_on(then, was) &&
                then->vms[was].host != IX_NONE &&
                strcmp(then->hosts[then->vms[was].host].is.id, now->hosts[v->host].is.id) != 0 &&
                !idmap_get(ours, v->is.id))
                return true;
        }
    }
    return false;
}

/* The first inventory that shows it asks for another one soon. */
static bool hosts_stay_changed(struct engine *e, const struct snapshot *then, const struct snapshot *seen,
                               const struct idmap *ours, instant_s now)
{
    if (!a_host_differs(then, seen, ours) && !a_host_differs(seen, then, ours)) {
        e->passes->n_hosts_changed = 0;
        return false;
    }
    if (++e->passes->n_hosts_changed == 1)
        source_poll_changed(e, now);
    return e->passes->n_hosts_changed > 1 && now - e->passes->last_time >= EARLY_PASS_HOST_GAP_S;
}

static bool changed_from_outside(struct engine *e, const struct snapshot *then, const struct snapshot *seen,
                                 instant_s now)
{
    struct idmap vms = {0}, hosts = {0};

    find_ours(e, &vms, &hosts);
    bool ret = hosts_stay_changed(e, then, seen, &hosts, now);

    ret = ret || (!e->passes->early && (a_vm_differs(then, seen, &vms) || a_vm_differs(seen, then, &vms) ||
                                        a_ruled_vm_moved(then, seen, &vms)));
    idmap_release(&vms, NULL);
    idmap_release(&hosts, NULL);
    return ret;
}

const char *early_pass_trigger(struct engine *e, instant_s now)
{
    if (!e->passes->decided)
        return NULL;
    const struct snapshot *then = &e->passes->decided->snap, *seen = &e->now_seen->snap;

    if ((!e->passes->early && overload_is_new(then, seen)) || (then->labels_unread && !seen->labels_unread))
        return "overload";
    return e->poll->changed_since_pass && changed_from_outside(e, then, seen, now) ? "change" : NULL;
}
