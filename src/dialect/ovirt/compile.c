/* compile.c: the whole cloud as a snapshot: hosts, VMs, and two pipelines for each cluster: for VMs that
 * start, and for VMs that run. */
#include "base/cleanup.h"
#include "dialect/ovirt/internal.h"

#include <ballast/facts.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#define FORMAT "ballast-snapshot/1"
#define MHZ_OF_CORE 1000 /* no clock rate counts: a core is as fast everywhere */
#define PERCENT_OF_CORE 100
#define OVERCOMMIT_MOST 10 /* of a snapshot; the filter Memory has the cluster's own limit */
#define MEMORY_UNKNOWN_MB 1e6

static const char *pipeline_of(const struct compiler *m, uint32_t cluster, bool runs)
{
    return arena_printf(m->c->a, "%s %s", runs ? "migrate in" : "start in", CLUSTER(m->c, cluster)->name);
}

static json_t *host_of(const struct compiler *m, uint32_t ix)
{
    const struct host *h = HOST(m->c, ix);
    double cores = h->cpus >= 1 ? h->cpus : 1;
    bool maintained = strcmp(h->status, "maintenance") == 0 && h->taken.vms + h->coming.vms == 0;

    return json_pack("{s: s, s: s, s: s, s: f, s: f, s: f, s: {}, s: O}", "id", h->id, "name", h->name,
                     "state",
                     strcmp(h->status, "up") == 0 ? "on"
                     : maintained                 ? "maintenance"
                                                  : "disconnected",
                     "cores", cores, "cpu_mhz", cores * MHZ_OF_CORE, "mem_mb",
                     h->memory >= 1 ? h->memory : MEMORY_UNKNOWN_MB, "own", "attributes", m->attributes[ix]);
}

/* A VM that is scheduled to a host and has not arrived takes there already. */
static json_t *vm_of(const struct compiler *m, uint32_t ix)
{
    const struct vm *v = VM(m->c, ix);
    uint32_t at = v->host != NONE ? v->host : v->pending_host;
    json_t *vm = json_pack("{s: s, s: f, s: f, s: s, s: s, s: O}", "id", v->id, "vcpus", v->vcpus, "mem_mb",
                           v->memory, "pipeline", pipeline_of(m, v->cluster, v->runs), "state",
                           at != NONE ? "on" : "off", "hints", m->hints[ix]);

    if (v->name)
        (void)json_object_set_new(vm, "name", json_string(v->name));
    if (at == NONE)
        return vm;
    (void)json_object_set_new(vm, "host", json_string(HOST(m->c, at)->id));
    if (isnan(v->cpu_percent))
        (void)json_object_set_new(vm, "demand_unknown", json_true());
    else
        (void)json_object_set_new(
            vm, "cpu", json_pack("{s: f}", "demand", v->cpu_percent / PERCENT_OF_CORE * MHZ_OF_CORE));
    return vm;
}

static void add_objects(const struct compiler *m, json_t *hosts, json_t *vms, json_t *groups,
                        json_t *migrations)
{
    const struct cloud *c = m->c;

    for (uint32_t i = 0; i < c->hosts.n; i++)
        (void)json_array_append_new(hosts, host_of(m, i));
    for (uint32_t i = 0; i < c->vms.n; i++) {
        const struct vm *v = VM(c, i);

        (void)json_array_append_new(vms, vm_of(m, i));
        if (v->host != NONE && v->pending_host != NONE && v->pending_host != v->host)
            (void)json_array_append_new(migrations,
                                        json_pack("{s: s, s: s, s: s}", "vm", v->id, "from",
                                                  HOST(c, v->host)->id, "to", HOST(c, v->pending_host)->id));
    }
    for (uint32_t k = 0; m->colours > 0 && k < c->clusters.n; k++) {
        json_t *members = json_array();

        for (uint32_t i = 0; i < c->hosts.n; i++)
            if (HOST(c, i)->cluster == k)
                (void)json_array_append_new(members, json_string(HOST(c, i)->id));
        (void)json_array_append_new(groups, json_pack("{s: s, s: s, s: o}", "id", CLUSTER(c, k)->id, "kind",
                                                      "cluster", "hosts", members));
    }
}

/* Both pipelines of each cluster. */
static int add_pipelines(struct compiler *m, json_t *pipelines)
{
    for (uint32_t i = 0; i < 2 * m->c->clusters.n; i++) {
        m->cluster = CLUSTER(m->c, i / 2);
        m->runs = i % 2;
        m->stages = json_array();
        stages_add_all(m);
        size_t n = json_array_size(m->stages);

        json_t *pipeline =
            json_pack("{s: s, s: o}", "name", pipeline_of(m, i / 2, m->runs), "stages", m->stages);

        if (m->runs)
            (void)json_object_set_new(pipeline, "balance", balances_common(m));
        (void)json_array_append_new(pipelines, pipeline);
        if (n > STAGES_MAX)
            return err_set(m->c->err, -EINVAL,
                           "/clusters/%u: %zu stages, of which %u are for affinity groups with common VMs; "
                           "expected at most %d",
                           i / 2, n, 3 * m->colours, STAGES_MAX);
    }
    return 0;
}

static int name_clusters(const struct cloud *c)
{
    for (uint32_t i = 0; i < c->clusters.n; i++) {
        struct cluster *cl = CLUSTER(c, i);

        cl->name = cl->name ? cl->name : cl->id;
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(CLUSTER(c, k)->name, cl->name) == 0)
                return err_set(c->err, -EINVAL, "/clusters/%u/name: given twice, expected a name of its own",
                               i);
    }
    return 0;
}

static json_t *compile(struct compiler *m)
{
    const struct cloud *c = m->c;
    json_t *hosts = json_array();
    json_t *vms = json_array();
    json_t *groups = json_array();
    json_t *migrations = json_array();
    json_t *pipelines = json_array();

    stages_set_facts(m);
    affinity_find(m);
    int e = add_pipelines(m, pipelines);

    add_objects(m, hosts, vms, groups, migrations);
    json_t *ret =
        json_pack("{s: s, s: s, s: s, s: {s: i}, s: o, s: o, s: o, s: o, s: o, s: o}", "format", FORMAT,
                  "cluster", c->name ? c->name : "ovirt", "time", c->time ? c->time : "1970-01-01T00:00:00Z",
                  "policy", "mem_overcommit", OVERCOMMIT_MOST, "hosts", hosts, "vms", vms, "groups", groups,
                  "migrations", migrations, "rules", affinity_rules(c), "pipelines", pipelines);

    if (e == 0)
        return ret;
    json_decref(ret);
    return NULL;
}

int ovirt_compile(const json_t *cloud, struct arena *a, json_t **ret, struct err *err)
{
    struct cloud c;
    int e = ovirt_read(cloud, a, &c, err);

    if (e < 0 || (e = name_clusters(&c)) < 0 || (e = facts_find(&c)) < 0)
        return e;
    struct compiler m = {.c = &c, .known = json_object()};

    m.attributes = arena_array(a, json_t *, c.hosts.n);
    m.hints = arena_array(a, json_t *, c.vms.n);
    for (uint32_t i = 0; i < c.hosts.n; i++)
        m.attributes[i] = json_object();
    for (uint32_t i = 0; i < c.vms.n; i++)
        m.hints[i] = json_object();
    *ret = compile(&m);
    for (uint32_t i = 0; i < c.hosts.n; i++)
        json_decref(m.attributes[i]);
    for (uint32_t i = 0; i < c.vms.n; i++)
        json_decref(m.hints[i]);
    json_decref(m.known);
    return *ret ? 0 : -EINVAL;
}
