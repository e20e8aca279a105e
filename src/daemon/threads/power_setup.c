/* power_setup.c: combines the actuators of power.hosts with those of the source, and finds the host of an
 * entry. */
#include "daemon/threads/power_setup.h"

#include "actuators/power/kept_methods.h"
#include "base/log.h"
#include "daemon/process.h"
#include "net/login_guards.h"
#include "plugins/power_methods.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int build(struct power_setup *w, const struct config *c, const struct source_config *source,
                 const struct power_setup *before, struct err *err)
{
    struct arena *a = &w->arena;

    /* for the whole life of the service: a reload renews the objects of changed hosts (kept_methods.h) */
    if (!before)
        w->kept = kept_methods_new();
    w->config = (struct power_config){
        .inner = w->actuators,
        .source = source,
        .hosts = config_power(c, source->stop, a),
        .n_hosts = c->n_power_hosts,
        .kept = before ? before->config.kept : w->kept,
        .logins = w->logins,
        .life = arena_printf(a, "%lld-%lld", (long long)getpid(), (long long)process_steady_us()),
    };
    memcpy(w->config.methods, power_methods, sizeof w->config.methods);
    if (c->n_power_hosts == 0)
        return 0;
    int r = power_check(&w->config, err);

    if (r < 0)
        return r;
    power_actuator(&w->config, &w->own);
    w->actuators = &w->own;
    w->source.shared = &w->config;
    w->ways = arena_array(a, struct host_power_method, c->n_power_hosts);
    w->uses = arena_array(a, enum entry_use, c->n_power_hosts);
    struct host_draw *draws = arena_array(a, struct host_draw, c->n_power_hosts);

    for (size_t i = 0; i < c->n_power_hosts; i++) {
        const struct power_host *h = &w->config.hosts[i];

        draws[i] = (struct host_draw){config_watts(&c->power_hosts[i], a), c->power_hosts[i].standby_w};
        w->uses[i] = ENTRY_NOT_COMPARED;
        w->ways[i] = (struct host_power_method){
            .name = h->name,
            .wakes = power_wakes(&w->config, h),
            .sleeps = power_sleeps(&w->config, h),
            .settings = {h->settings[POWER_IPMI], h->settings[POWER_REDFISH], h->settings[POWER_WOL],
                         h->settings[POWER_HYPERVISOR]},
            .tries_s = power_wake_tries_s(&w->config, h),
            .draws = &draws[i],
        };
    }
    return 0;
}

int power_setup_new(const struct config *c, const struct actuator_ops *inner,
                    const struct source_config *source, struct power_setup *before, struct power_setup **ret,
                    struct err *err)
{
    struct arena a = {0};
    struct power_setup *w = arena_new(&a, struct power_setup);

    *w = (struct power_setup){.arena = a,
                              .actuators = inner,
                              .source = *source,
                              .logins = before ? before->logins : login_guards_new()};
    int r = build(w, c, source, before, err);

    if (r < 0) {
        if (before) /* still has them */
            w->logins = NULL;
        power_setup_free(w);
        return r;
    }
    w->before = before;
    *ret = w;
    return 0;
}

void power_setup_free(struct power_setup *w)
{
    struct kept_methods *kept = NULL;

    /* the objects borrow the hosts of the setups */
    for (const struct power_setup *one = w; one; one = one->before)
        kept = one->kept ? one->kept : kept;
    kept_methods_free(kept);
    while (w) {
        struct power_setup *before = w->before;

        if (!before)
            login_guards_free(w->logins);
        struct arena a = w->arena; /* the arena holds the struct itself */

        arena_release(&a);
        w = before;
    }
}

int power_setup_check(const struct config *c, struct err *err)
{
    const struct source_config none = {0};
    struct power_setup *w;
    int r = power_setup_new(c, NULL, &none, NULL, &w, err);

    if (r == 0)
        power_setup_free(w);
    return r;
}

int power_setup_change(struct power_setup **w, const struct config *c, const struct engine *e,
                       struct actuators *h, struct err *err)
{
    struct power_setup *fresh;

    if (engine_is_changing_power(e))
        return err_set(err, -EBUSY, "hosts are being put to standby or woken just now");
    int r = power_setup_new(c, (*w)->config.inner, (*w)->config.source, *w, &fresh, err);

    if (r < 0)
        return r;
    if ((r = actuator_workers_change(h, fresh->actuators, &fresh->source, err)) < 0) {
        fresh->before = (*w)->before; /* threads may still use it */
        (*w)->before = fresh;
        return r;
    }
    *w = fresh;
    return 0;
}

void power_setup_compare(struct power_setup *w, const struct snapshot *s)
{
    for (size_t i = 0; s && i < w->config.n_hosts; i++) {
        const char *name = w->config.hosts[i].name;
        const enum entry_use before = w->uses[i];
        const struct entry_match match = power_entries_match(w->config.hosts, w->config.n_hosts, s, name);

        w->uses[i] = match.use;
        if (w->uses[i] == before)
            continue;
        switch (w->uses[i]) {
        case ENTRY_NOT_COMPARED:
            break;
        case ENTRY_USED:
            if (before != ENTRY_NOT_COMPARED)
                log_notice("power.hosts.%s: it is used now", name);
            break;
        case ENTRY_UNKNOWN:
            log_warning("power.hosts.%s: the cluster has no host of that id or name", name);
            break;
        case ENTRY_NOT_CLEAR:
            log_warning("power.hosts.%s: %u hosts of the cluster have that name, so it is used for none of "
                        "them: name them by their ids",
                        name, match.named);
            break;
        case ENTRY_TWICE:
            log_warning("power.hosts.%s: the host has an entry by its id, %s, too: this one is not used",
                        name, s->hosts[match.host].is.id);
            break;
        }
    }
}

const char *power_setup_name(const struct snapshot *s, const char *id)
{
    return power_entries_host_name(s, id);
}

const struct power_host *power_setup_find(const struct power_setup *w, const struct snapshot *s,
                                          const char *id)
{
    return power_entries_find(w->config.hosts, w->config.n_hosts, s, id);
}
