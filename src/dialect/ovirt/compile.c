/* compile.c: the whole cloud as a snapshot: hosts, VMs, and two pipelines for each cluster: for VMs that
 * start, and for VMs that run. */
#include "base/cleanup.h"
#include "dialect/ovirt/internal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define FORMAT "ballast-snapshot/1"
#define MHZ_OF_CORE 1000 /* no clock rate counts: a core is as fast everywhere */
#define PERCENT_OF_CORE 100
#define OVERCOMMIT_MOST 10 /* of a snapshot; the filter Memory has the cluster's own limit */
#define MEMORY_UNKNOWN_MB 1e6

/* ---- hosts and VMs ---- */

static const char *pipeline_of(const struct compiler *m, uint32_t cluster, bool runs)
{
    return arena_printf(m->c->a, "%s %s", runs ? "migrate in" : "start in", CLUSTER(m->c, cluster)->name);
}

static json_t *host_of(const struct host *h, json_t *attributes)
{
    double cores = h->cpus >= 1 ? h->cpus : 1;
    bool maintained = strcmp(h->status, "maintenance") == 0 && h->taken.vms + h->coming.vms == 0;

    return json_pack("{s: s, s: s, s: s, s: f, s: f, s: f, s: {}, s: o}", "id", h->id, "name", h->name,
                     "state",
                     strcmp(h->status, "up") == 0 ? "on"
                     : maintained                 ? "maintenance"
                                                  : "disconnected",
                     "cores", cores, "cpu_mhz", cores * MHZ_OF_CORE, "mem_mb",
                     h->memory >= 1 ? h->memory : MEMORY_UNKNOWN_MB, "own", "attributes", attributes);
}

/* A VM that is scheduled to a host and has not arrived takes there already. */
static json_t *vm_of(const struct compiler *m, const struct vm *v, json_t *hints)
{
    uint32_t at = v->host != NONE ? v->host : v->pending_host;
    double used = at != NONE ? v->cpu_percent / PERCENT_OF_CORE * MHZ_OF_CORE : UNKNOWN;

    return json_pack("{s: s, s: s*, s: f, s: f, s: s, s: s, s: s*, s: o*, s: o*, s: o}", "id", v->id, "name",
                     v->name, "vcpus", v->vcpus, "mem_mb", v->memory, "pipeline",
                     pipeline_of(m, v->cluster, v->runs), "state", at != NONE ? "on" : "off", "host",
                     at != NONE ? HOST(m->c, at)->id : NULL, "demand_unknown",
                     at != NONE && isnan(used) ? json_true() : NULL, "cpu",
                     isnan(used) ? NULL : json_pack("{s: f}", "demand", used), "hints", hints);
}

static void add_objects(struct compiler *m, json_t *snapshot)
{
    const struct cloud *c = m->c;

    m->attributes = arena_array(c->a, json_t *, c->hosts.n);
    m->hints = arena_array(c->a, json_t *, c->vms.n);
    for (uint32_t i = 0; i < c->hosts.n; i++) {
        m->attributes[i] = json_object();
        (void)json_array_append_new(json_object_get(snapshot, "hosts"),
                                    host_of(HOST(c, i), m->attributes[i]));
    }
    for (uint32_t i = 0; i < c->vms.n; i++) {
        const struct vm *v = VM(c, i);

        m->hints[i] = json_object();
        (void)json_array_append_new(json_object_get(snapshot, "vms"), vm_of(m, v, m->hints[i]));
        if (v->host != NONE && v->pending_host != NONE && v->pending_host != v->host)
            (void)json_array_append_new(json_object_get(snapshot, "migrations"),
                                        json_pack("{s: s, s: s, s: s}", "vm", v->id, "from",
                                                  HOST(c, v->host)->id, "to", HOST(c, v->pending_host)->id));
    }
}

/* The clusters' hosts, over which members of affinity groups are counted. */
static void add_groups(const struct compiler *m, json_t *groups)
{
    for (uint32_t k = 0; k < m->c->clusters.n; k++) {
        json_t *members = json_array();

        for (uint32_t i = 0; i < m->c->hosts.n; i++)
            if (HOST(m->c, i)->cluster == k)
                (void)json_array_append_new(members, json_string(HOST(m->c, i)->id));
        (void)json_array_append_new(groups, json_pack("{s: s, s: s, s: o}", "id", CLUSTER(m->c, k)->id,
                                                      "kind", "cluster", "hosts", members));
    }
}

/* ---- pipelines ---- */

static void add_stage(const struct compiler *m, const char *name, const char *kind, json_t *expression)
{
    if (expression)
        (void)json_array_append_new(m->stages, json_pack("{s: s, s: o}", "name", name, kind, expression));
}

/* The policy's order: the first, those without an order, the last; then those of the user's own. */
static void add_filters(struct compiler *m, const struct policy *p)
{
    const struct unit_use *uses = USES(p, UNIT_FILTER);
    const uint32_t n = p->uses[UNIT_FILTER].n;

    if (m->c->clusters.n > 1)
        add_stage(m, "cluster", "filter", units_text(m, "['=', '@cluster.id', '%cluster.id']"));
    for (uint32_t i = 0; units_at(i); i++)
        if (units_at(i)->type == UNIT_MANDATORY)
            add_stage(m, units_at(i)->name, "filter", units_expression(m, units_at(i)));
    for (int position = -1; position <= 1; position++)
        for (uint32_t i = 0; i < n; i++) {
            const struct unit *u = units_find(uses[i].id, UNIT_FILTER);

            if (u && (int)uses[i].position == position && (m->c->swap_check || strcmp(u->name, "Swap") != 0))
                add_stage(m, u->name, "filter", units_expression(m, u));
        }
    for (uint32_t i = 0; i < n; i++) {
        const struct external_unit *own = policies_external(m->c, uses[i].id, UNIT_FILTER);
        if (own && own->enabled)
            (void)json_array_append_new(m->stages,
                                        json_pack("{s: s, s: s, s: s, s: s}", "name", own->name, "external",
                                                  own->name, "filter", "$answer", "on_failure", "ignore"));
    }
}

/* Numbers of which the least is best, as scores. With the rank selector each unit gives a host as many points
 * as other hosts have no lower weight, times its factor; with the basic one the weights times the factors are
 * added up. A weight that is a rank is one more than the number of hosts that have less of it. */
static void add_weight(const struct compiler *m, const char *name, const char *external, json_t *x,
                       double factor)
{
    bool ranks = m->cluster->policy->ranks;
    bool negative = ranks || !m->by_rank;

    (void)json_array_append_new(
        m->stages, json_pack("{s: s, s: s*, s: o, s: s, s: f}", "name", name, "external", external, "score",
                             negative ? json_pack("[s, i, o]", "-", 0, x) : x, "normalise",
                             ranks        ? "rank_high"
                             : m->by_rank ? "rank"
                                          : "none",
                             "multiplier", negative ? factor : -factor));
}

static void add_weights(struct compiler *m, const struct policy *p)
{
    const struct unit_use *uses = USES(p, UNIT_WEIGHT);

    for (uint32_t i = 0; i < p->uses[UNIT_WEIGHT].n; i++) {
        const struct unit *u = units_find(uses[i].id, UNIT_WEIGHT);
        const struct external_unit *own = u ? NULL : policies_external(m->c, uses[i].id, UNIT_WEIGHT);
        bool filters = policies_external(m->c, uses[i].id, UNIT_FILTER) != NULL;
        json_t *x = NULL;

        m->by_rank = false;
        if (u && (x = units_expression(m, u)) != NULL)
            add_weight(m, u->name, NULL, x, uses[i].factor);
        if (own && own->enabled)
            add_weight(m, filters ? arena_printf(m->c->a, "%s weight", own->name) : own->name, own->name,
                       units_text(m, "['default', '$answer', 0]"), uses[i].factor);
    }
    if (!m->of_source) /* all other scores are whole numbers */
        (void)json_array_append_new(m->stages, units_text(m, "{order of the list}"));
}

void compile_stages(struct compiler *m)
{
    const struct policy *p = m->cluster->policy;
    const struct unit_use *balance = p->uses[UNIT_BALANCE].n > 0 ? USES(p, UNIT_BALANCE) : NULL;
    const struct unit *u = m->runs && balance ? units_find(balance->id, UNIT_BALANCE) : NULL;

    m->stages = units_text(m, "{counts}");
    add_filters(m, p);
    add_weights(m, p);
    if (u)
        balances_add(m, u);
}

/* Both pipelines of each cluster. */
static int add_pipelines(struct compiler *m, json_t *pipelines)
{
    const size_t n_colours = json_object_size(json_object_get(m->series, "colours"));

    for (uint32_t i = 0; i < 2 * m->c->clusters.n; i++) {
        m->cluster = CLUSTER(m->c, i / 2);
        m->runs = i % 2;
        compile_stages(m);
        size_t n = json_array_size(m->stages);

        json_t *pipeline = json_pack("{s: s, s: o, s: b}", "name", pipeline_of(m, i / 2, m->runs), "stages",
                                     m->stages, "of_ovirt", true);

        if (m->runs)
            (void)json_object_set_new(pipeline, "balance", balances_common(m));
        (void)json_array_append_new(pipelines, pipeline);
        if (n > STAGES_MAX)
            return err_set(m->c->err, -EINVAL,
                           "/clusters/%u: %zu stages, of which %zu are for affinity groups with common VMs; "
                           "expected at most %d",
                           i / 2, n, 3 * n_colours, STAGES_MAX);
    }
    return 0;
}

/* ---- the whole ---- */

int ovirt_compile(const json_t *cloud, struct arena *a, json_t **ret, struct err *err)
{
    struct cloud c;
    struct compiler m = {.c = &c};
    int e = ovirt_read(cloud, false, a, &c, err);

    if (e < 0 || (e = facts_find(&c)) < 0)
        return e;
    CLEANUP(json_decrefp) json_t *known = m.known = json_object();
    CLEANUP(json_decrefp)
    json_t *series = m.series =
        json_pack("{s: {}, s: {}, s: {}, s: {}, s: {}}", "sizes", "groups", "colours", "companies", "slots");
    CLEANUP(json_decrefp)
    json_t *made =
        json_pack("{s: s, s: s, s: s, s: {s: i}, s: [], s: [], s: [], s: [], s: o, s: []}", "format", FORMAT,
                  "cluster", c.name ? c.name : "ovirt", "time", c.time ? c.time : "1970-01-01T00:00:00Z",
                  "policy", "mem_overcommit", OVERCOMMIT_MOST, "hosts", "vms", "groups", "migrations",
                  "rules", affinity_rules(&c), "pipelines");

    add_objects(&m, made);
    facts_set_all(&m);
    affinity_find(&m);
    if (json_object_size(json_object_get(series, "groups")) > 0)
        add_groups(&m, json_object_get(made, "groups"));
    e = add_pipelines(&m, json_object_get(made, "pipelines"));
    *ret = e == 0 ? json_incref(made) : NULL;
    return e;
}
