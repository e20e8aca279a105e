/* source.c: reads the cluster once, reports the collector's findings, and compares the configuration with
 * the cluster. */
#include "preflight/internal.h"

#include "base/peer_identities.h"
#include "core/pass.h"
#include "model/snapshot_build.h"
#include "overlay/overlay.h"
#include "plugins/plugins.h"
#include "plugins/power_methods.h"
#include "render/wording/wording.h"

#include <stdlib.h>
#include <string.h>

#define OVERLAY_LISTED_MAX 50
#define CALLS 3     /* one to read, one for the collector's own questions, one to leave */
#define MARGIN_S 10 /* beyond the collector's own limits */
#define TIMEOUT_DEFAULT_S 60
#define MANDATORY_ONLY 1 /* the migration threshold of a pass without moves for balance */

unsigned preflight_source_most_s(const struct config *c)
{
    const struct plugin *plugin = plugins_find(c->source.kind);

    if (!plugin || !plugin->collector->preflight)
        return 0;
    return CALLS * (c->source.timeout_s ? c->source.timeout_s : TIMEOUT_DEFAULT_S) + MARGIN_S;
}

/* ---- the configuration's entries ---- */

static void add_entries(struct source_part *p, const struct overlay_findings *o)
{
    struct preflight *list = &p->found.list;

    for (size_t i = 0; i < o->n && i < OVERLAY_LISTED_MAX; i++) {
        preflight_add(list, PREFLIGHT_CONFIGURATION, PREFLIGHT_PROBLEM, "%s", o->items[i]);
        preflight_advise(list, "correct the entry; in patterns upper and lower case differ");
    }
    if (o->n > OVERLAY_LISTED_MAX)
        preflight_add(list, PREFLIGHT_CONFIGURATION, PREFLIGHT_PROBLEM, "and %zu more such entries",
                      o->n - OVERLAY_LISTED_MAX);
    const struct overlay *w = &p->config->overlay;

    const size_t n = w->n_rules + w->n_pools + w->n_vms + w->n_hosts;

    if (o->n == 0 && n > 0)
        preflight_add(list, PREFLIGHT_CONFIGURATION, PREFLIGHT_OK,
                      "rules, pools, vms and hosts: each of the %zu entries selects something", n);
}

/* ---- conflicts ---- */

/* The faults of a pass that follow from settings, whatever the load. */
static const struct {
    enum fault_code code;
    const char *advice;
} settled[] = {
    {FAULT_OTHER_BALANCER, "set the other balancer to manual, or let Ballast only recommend (automation: "
                           "manual); do not switch vCenter's DRS off where there are resource pools"},
    {FAULT_OTHER_POWER, "switch the other power management off, or set dpm.enabled: false"},
    {FAULT_VSAN, "leave such hosts on; dpm.enabled has no effect on them"},
    {FAULT_SERVES_STORAGE, "leave such hosts on; dpm.enabled has no effect on them"},
    {FAULT_LABELS_UNREAD,
     "give the user the right to read tags, as a global permission or on the tags; until "
     "they were read once, no move begins by itself"},
    {FAULT_RULE_CONFLICT, "change one of the rules"},
    {FAULT_RULE_TOO_LARGE, "take VMs out of the rule, or add hosts"},
};

static const char *advice_for(enum fault_code code)
{
    for (size_t i = 0; i < sizeof settled / sizeof settled[0]; i++) {
        if (settled[i].code == code)
            return settled[i].advice;
    }
    return NULL;
}

static void add_conflicts(struct source_part *p)
{
    struct preflight *list = &p->found.list;
    struct policy policy = p->config->policy;
    struct plan plan;
    struct err err = {0};
    size_t before = list->n;

    policy.migration_threshold = MANDATORY_ONLY;
    if (pass_run(&p->snap, &policy, &p->found.arena, &plan, &err) < 0) {
        preflight_add(list, PREFLIGHT_CLUSTER, PREFLIGHT_PROBLEM, "the cluster cannot be judged: %s",
                      err.text);
        return;
    }
    for (uint32_t i = 0; i < plan.n_faults; i++) {
        const char *advice = advice_for(plan.faults[i].code);

        if (!advice)
            continue;
        preflight_add(list, PREFLIGHT_CLUSTER, PREFLIGHT_PROBLEM, "%s",
                      wording_text(&p->snap, plan.faults[i].found, &p->found.arena));
        preflight_advise(list, "%s", advice);
    }
    if (list->n == before)
        preflight_add(list, PREFLIGHT_CLUSTER, PREFLIGHT_OK,
                      "no other balancer or power management acts on its own, and no rules contradict "
                      "each other");
}

/* ---- the cluster ---- */

static void look_at_cluster(struct source_part *p, struct inventory *inv)
{
    struct arena *a = &p->found.arena;
    struct overlay_findings entries = {0};
    struct err err = {0};

    if (inv->n_hosts == 0)
        return; /* the collector has said so */
    overlay_apply(&p->config->overlay, inv, a, &entries);
    if (snapshot_build(inv, a, &p->snap, &err) < 0) {
        preflight_add(&p->found.list, PREFLIGHT_CLUSTER, PREFLIGHT_PROBLEM, "the cluster is not usable: %s",
                      err.text);
        return;
    }
    p->seen = true;
    add_conflicts(p);
    add_entries(p, &entries);
}

/* Whether one of its own methods, a controller, puts the host to standby and wakes it. */
static bool has_controller(const struct power_host *hosts, size_t n, const struct host_facts *of)
{
    const unsigned both = POWER_CAN_SHUT_DOWN | POWER_CAN_WAKE;

    for (size_t i = 0; i < n; i++) {
        if (strcmp(hosts[i].name, of->id) != 0 && (!of->name || strcmp(hosts[i].name, of->name) != 0))
            continue;
        for (size_t k = 0; k < hosts[i].n_sequence; k++) {
            const struct power_method_ops *ops = power_methods[hosts[i].sequence[k]];

            if (ops && (ops->can & both) == both)
                return true;
        }
    }
    return false;
}

/* What the source is to carry out: where all hosts have controllers, only the maintenance mode around a
 * standby. */
static unsigned operations_of_source(const struct source_part *p, const struct inventory *inv,
                                     struct arena *a)
{
    const unsigned power = 1u << OPERATION_STANDBY | 1u << OPERATION_WAKE;
    const struct power_host *hosts = config_power(p->config, NULL, a);

    if (!(p->operations & power) || inv->n_hosts == 0)
        return p->operations;
    for (size_t i = 0; i < inv->n_hosts; i++) {
        if (!has_controller(hosts, p->config->n_power_hosts, &inv->hosts[i].is))
            return p->operations;
    }
    return (p->operations & ~power) | 1u << OPERATION_ENTER_MAINTENANCE | 1u << OPERATION_EXIT_MAINTENANCE;
}

static int ask(struct source_part *p, const struct plugin *plugin, const struct source_config *cfg,
               struct err *err)
{
    struct collector *c = NULL;
    struct inventory inv = {0};
    int r = plugin->collector->create(cfg, &c, err);

    if (r < 0)
        return r;
    r = plugin->collector->collect(c, &p->found.arena, &inv, err);
    plugin->collector->preflight(c, r == 0 ? &inv : NULL, r == 0 ? NULL : err,
                                 operations_of_source(p, &inv, &p->found.arena), &p->found.list);
    plugin->collector->destroy(c);
    if (r == 0)
        look_at_cluster(p, &inv);
    return 0; /* the collector has said what is wrong */
}

void preflight_source(void *part)
{
    struct source_part *p = part;
    const struct plugin *plugin = plugins_find(p->config->source.kind);
    struct source_config cfg;
    struct err err = {0};
    int r = 0;

    config_source(p->config, &cfg);
    if (cfg.password_file && !cfg.password) {
        preflight_add(&p->found.list, PREFLIGHT_SOURCE, PREFLIGHT_PROBLEM,
                      "the source is not asked: source.password_file %s cannot be read", cfg.password_file);
        preflight_advise_unread(&p->found.list, cfg.password_file);
        return;
    }
    cfg.identities = peer_identities_new(NULL); /* addresses are compared with each other */
    if (plugin->open)
        r = plugin->open(&cfg, &cfg.shared, &err);
    if (r == 0)
        r = ask(p, plugin, &cfg, &err);
    if (r < 0)
        preflight_add(&p->found.list, PREFLIGHT_SOURCE, PREFLIGHT_PROBLEM, "%s", err.text);
    if (plugin->close)
        plugin->close(cfg.shared);
    peer_identities_free(cfg.identities);
}
