/* observed_state.c: what an action is about, as the newest inventory shows it. */
#include "engine/actions/observed_state.h"

#include "engine/actions/action.h"
#include "engine/knowledge/hosts.h"
#include "engine/observation.h"

#include <string.h>

static enum observed_state vm_observed(const struct snapshot *s, const struct action *x)
{
    uint32_t ix = snapshot_find_vm(s, x->r.vm);

    if (ix == IX_NONE)
        return GONE;
    const struct vm *v = &s->vms[ix];

    if (v->host == IX_NONE)
        return ELSEWHERE;
    const struct host_facts *h = &s->hosts[v->host].is;

    if (h->state == HOST_DISCONNECTED)
        return NOT_SEEN;
    if (strcmp(h->id, x->r.to) == 0)
        return AT_TARGET;
    return strcmp(h->id, x->r.from) == 0 ? AT_SOURCE : ELSEWHERE;
}

/* A VM to be powered on: wherever it is registered, it is at the source as long as it does not run. */
static enum observed_state start_observed(const struct snapshot *s, const struct action *x)
{
    uint32_t ix = snapshot_find_vm(s, x->r.vm);

    if (ix == IX_NONE)
        return GONE;
    const struct vm *v = &s->vms[ix];

    if (v->host != IX_NONE && s->hosts[v->host].is.state == HOST_DISCONNECTED)
        return NOT_SEEN;
    if (v->is.state != VM_ON)
        return AT_SOURCE;
    return strcmp(s->hosts[v->host].is.id, x->r.to) == 0 ? AT_TARGET : ELSEWHERE;
}

/* A host to be woken. It is not connected while it boots, which says nothing; nor does it where it was lost
 * on its way down. */
static enum observed_state wake_observed(const struct snapshot *s, const struct hosts *hosts,
                                         const struct action *x)
{
    uint32_t ix = snapshot_find_host(s, x->r.host);

    if (ix == IX_NONE)
        return GONE;
    switch (s->hosts[ix].is.state) {
    case HOST_ON:
    case HOST_ENTERING_MAINTENANCE: /* an admin wants it so, once it is on */
        return AT_TARGET;
    case HOST_STANDBY:
    case HOST_POWERING_ON:
        return AT_SOURCE;
    case HOST_DISCONNECTED:
        return NOT_SEEN;
    case HOST_ENTERING_STANDBY:
        return hosts_is_unseen(hosts, x->r.host) ? NOT_SEEN : ELSEWHERE;
    case HOST_MAINTENANCE:
    case host_state_count:
        break;
    }
    return ELSEWHERE;
}

/* A host to be put to standby. That it is not seen any more may mean that it sleeps:
 * action_facts_explain_lost_hosts() knows when.
 */
static enum observed_state sleep_observed(const struct snapshot *s, const struct hosts *hosts,
                                          const struct action *x)
{
    uint32_t ix = snapshot_find_host(s, x->r.host);

    if (ix == IX_NONE)
        return GONE;
    switch (s->hosts[ix].is.state) {
    case HOST_STANDBY:
        return AT_TARGET;
    case HOST_ON:
    case HOST_ENTERING_STANDBY:
        return hosts_is_unseen(hosts, x->r.host) ? NOT_SEEN : AT_SOURCE;
    case HOST_DISCONNECTED:
        return NOT_SEEN;
    case HOST_MAINTENANCE:
    case HOST_ENTERING_MAINTENANCE:
    case HOST_POWERING_ON:
    case host_state_count:
        break;
    }
    return ELSEWHERE;
}

static enum observed_state host_observed(const struct snapshot *s, const struct hosts *hosts,
                                         const struct action *x, bool entering)
{
    uint32_t ix = snapshot_find_host(s, x->r.host);

    if (ix == IX_NONE)
        return GONE;
    enum host_state state = s->hosts[ix].is.state;

    if (state == HOST_DISCONNECTED)
        return NOT_SEEN;
    if (!entering && hosts_is_held(hosts, x->r.host))
        return AT_SOURCE;
    return (state == HOST_MAINTENANCE) == entering ? AT_TARGET : AT_SOURCE;
}

enum observed_state observed_state(const struct observation *seen, const struct hosts *hosts,
                                   const struct action *x)
{
    const struct snapshot *s = &seen->snap;

    switch (x->r.kind) {
    case ACTION_MIGRATE:
        return vm_observed(s, x);
    case ACTION_PLACE:
        return start_observed(s, x);
    case ACTION_ENTER_MAINTENANCE:
        return host_observed(s, hosts, x, true);
    case ACTION_EXIT_MAINTENANCE:
        return host_observed(s, hosts, x, false);
    case ACTION_POWER_ON:
        return wake_observed(s, hosts, x);
    case ACTION_POWER_OFF:
        return sleep_observed(s, hosts, x);
    case action_kind_count:
        break;
    }
    return GONE;
}

bool observed_state_is_known(const struct observation *seen, const struct action *x)
{
    return seen && seen->serial > x->inventory_after;
}

bool observed_state_runs_on(const struct snapshot *s, const char *vm, const char *host)
{
    uint32_t ix = snapshot_find_vm(s, vm);

    return ix != IX_NONE && s->vms[ix].is.state == VM_ON && s->vms[ix].host != IX_NONE &&
           strcmp(s->hosts[s->vms[ix].host].is.id, host) == 0;
}
