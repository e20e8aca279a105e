#include "daemon/switches.h"

#include "actuators/ipmi/ipmi.h"
#include "actuators/redfish/redfish.h"
#include "actuators/wol/wol.h"
#include "base/log.h"

#include <string.h>

int switches_init(const struct config *c, const struct actuator_ops *inner, const atomic_bool *stop,
                  struct arena *a, struct switches *ret, struct err *err)
{
    *ret = (struct switches){
        .setup =
            {.inner = inner,
             .hosts = config_power(c, stop, a),
             .n_hosts = c->n_power_hosts,
             .methods =
                 {[POWER_IPMI] = &ipmi_method, [POWER_REDFISH] = &redfish_method, [POWER_WOL] = &wol_method}},
    };
    if (c->n_power_hosts == 0)
        return 0;
    int r = power_check(&ret->setup, err);

    if (r < 0)
        return r;
    power_actuator(&ret->setup, &ret->ops);
    ret->ways = arena_array(a, struct host_way, c->n_power_hosts);
    struct host_draw *draws = arena_array(a, struct host_draw, c->n_power_hosts);

    for (size_t i = 0; i < c->n_power_hosts; i++) {
        const struct power_host *h = &ret->setup.hosts[i];

        draws[i] = (struct host_draw){c->power_hosts[i].watts, c->power_hosts[i].standby_w};
        ret->ways[i] = (struct host_way){
            .name = h->name,
            .wakes = power_wakes(&ret->setup, h),
            .sleeps = power_sleeps(&ret->setup, h),
            .draws = &draws[i],
        };
    }
    return 0;
}

/* How many hosts have that name; the last of them. */
static uint32_t count_named(const struct snapshot *s, const char *name, uint32_t *ret_ix)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->n_hosts; i++) {
        if (!s->hosts[i].is.name || strcmp(s->hosts[i].is.name, name) != 0)
            continue;
        *ret_ix = i;
        n++;
    }
    return n;
}

static bool has_entry(const struct switches *w, const char *name)
{
    for (size_t i = 0; i < w->setup.n_hosts; i++) {
        if (strcmp(w->setup.hosts[i].name, name) == 0)
            return true;
    }
    return false;
}

void switches_compare(struct switches *w, const struct snapshot *s)
{
    if (!s || w->compared)
        return;
    w->compared = true;
    for (size_t i = 0; i < w->setup.n_hosts; i++) {
        const char *name = w->setup.hosts[i].name;
        uint32_t ix = IX_NONE;

        if (snapshot_find_host(s, name) != IX_NONE)
            continue;
        uint32_t n = count_named(s, name, &ix);

        if (n == 0)
            log_warning("power.hosts.%s: the cluster has no host of that id or name", name);
        else if (n > 1)
            log_warning("power.hosts.%s: %u hosts of the cluster have that name, so it is used for none of "
                        "them: name "
                        "them by their ids",
                        name, n);
        else if (has_entry(w, s->hosts[ix].is.id))
            log_warning("power.hosts.%s: the host has an entry by its id, %s, too: this one is not used",
                        name, s->hosts[ix].is.id);
    }
}

const char *switches_name(const struct snapshot *s, const char *id)
{
    uint32_t ix = s && id ? snapshot_find_host(s, id) : IX_NONE;
    const char *name = ix == IX_NONE ? NULL : s->hosts[ix].is.name;
    uint32_t same = IX_NONE;

    /* a name that is another host's id would be taken for that */
    return name && snapshot_find_host(s, name) == IX_NONE && count_named(s, name, &same) == 1 ? name : NULL;
}

const struct power_host *switches_find(const struct switches *w, const struct snapshot *s, const char *id)
{
    const char *name = switches_name(s, id);
    const struct power_host *by_name = NULL;

    for (size_t i = 0; i < w->setup.n_hosts; i++) {
        const struct power_host *h = &w->setup.hosts[i];

        if (strcmp(h->name, id) == 0)
            return h;
        if (name && strcmp(h->name, name) == 0)
            by_name = h;
    }
    return by_name;
}
