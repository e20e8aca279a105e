/* compile.c: the whole cloud as a snapshot: nodes, servers, and a pipeline for each set of keys. */
#include "dialect/flexiant/internal.h"

#include <math.h>
#include <stdlib.h>

#define FORMAT "ballast-snapshot/1"
#define MHZ_OF_CORE 1000 /* no clock rate is known: a core is as fast everywhere */

static void set_key(const struct cloud *c, json_t *of, const char *name, double value)
{
    (void)json_object_set_new(of, arena_printf(c->a, KEY_PREFIX "%s", name), json_real(value));
}

/* ---- nodes ---- */

static json_t *attributes_of(const struct cloud *c, const struct node_of_cloud *n)
{
    const struct placement_key *keys = n->r.keys.items;
    json_t *ret = json_pack("{s: s, s: f, s: f, s: f, s: f}", "cluster", n->cluster, "ram_limit_mb",
                            stages_ram_limit(c, n), "ram_mb", n->ram_mb * stages_ram_ratio(c, n), "vcpus",
                            n->cpus * stages_cpu_ratio(c, n), "load", fmin(n->load, 1));

    for (uint32_t i = 0; i < n->r.keys.n; i++) {
        set_key(c, ret, keys[i].name, keys[i].value.number);
        if (keys[i].sticky) /* a server that starts here gets these keys; the service keeps them */
            (void)json_object_set_new(ret, arena_printf(c->a, STICKY_PREFIX "%s", keys[i].name),
                                      json_real(keys[i].weight));
    }
    return ret;
}

static json_t *hosts_of(const struct cloud *c)
{
    json_t *ret = json_array();

    for (uint32_t i = 0; i < c->lists[NODES].n; i++) {
        const struct node_of_cloud *n = flexiant_item(c, NODES, i);
        json_t *host = json_pack("{s: s, s: s, s: f, s: f, s: f, s: f, s: {}, s: o}", "id", n->r.id, "state",
                                 n->stopped ? "disconnected" : "on", "cores", n->cpus, "cpu_mhz",
                                 n->cpus * MHZ_OF_CORE, "mem_mb", n->ram_mb, "mem_free_mb", n->free_ram_mb,
                                 "own", "attributes", attributes_of(c, n));
        if (n->name)
            (void)json_object_set_new(host, "name", json_string(n->name));
        (void)json_array_append_new(ret, host);
    }
    return ret;
}

/* ---- servers ---- */

/* The keys that count on the node of a server: those of its start. One that is off has them when it starts.
 */
static json_t *hints_of(const struct cloud *c, const struct server *s)
{
    const struct placement_key *copies = s->sticky_keys.items;
    json_t *ret = json_object();

    for (uint32_t i = 0; i < s->sticky_keys.n; i++) {
        const char *name = copies[i].name;
        if (copies[i].weight == 0)
            continue;
        (void)json_object_set_new(ret, arena_printf(c->a, COPY_PREFIX "%s", name),
                                  json_real(copies[i].value.number));
        (void)json_object_set_new(ret, arena_printf(c->a, STICKY_PREFIX "%s", name),
                                  json_real(copies[i].weight));
    }

    if (s->running && s->started_known) {
        const struct placement_key *keys = s->started_keys.items;
        for (uint32_t i = 0; i < s->started_keys.n; i++)
            set_key(c, ret, keys[i].name, keys[i].value.number);
        return ret;
    }
    const struct compiled_keys keys = keys_compile(c, s).customer;

    for (uint32_t i = 0; i < keys.n; i++)
        set_key(c, ret, keys.items[i].name, keys.items[i].value);
    return ret;
}

static json_t *vm_of(const struct cloud *c, const struct server *s, const char *pipeline)
{
    const struct owned *vdc = flexiant_find(c, VDCS, s->vdc);
    json_t *vm = json_pack("{s: s, s: i, s: f, s: s, s: s, s: s, s: o}", "id", s->r.id, "vcpus", (int)s->cpus,
                           "mem_mb", s->ram_mb, "owner", vdc->customer, "pipeline", pipeline, "state",
                           s->running ? "on" : "off", "hints", hints_of(c, s));

    if (s->name)
        (void)json_object_set_new(vm, "name", json_string(s->name));
    if (!s->running)
        return vm;
    (void)json_object_set_new(vm, "host", json_string(s->node));
    if (s->cpus_used_known)
        (void)json_object_set_new(vm, "cpu", json_pack("{s: f}", "demand", s->cpus_used * MHZ_OF_CORE));
    else
        (void)json_object_set_new(vm, "demand_unknown", json_true());
    if (s->ram_used_known)
        (void)json_object_set_new(vm, "mem", json_pack("{s: f}", "demand", s->ram_used_mb));
    return vm;
}

struct pipelines {
    json_t *list;
    json_t *names; /* by their stages as text */
};

/* The name of the pipeline with these stages, which is added if it is not there. */
static const char *pipeline_with(const struct cloud *c, struct pipelines *p, json_t *stages)
{
    char *key = json_dumps(stages, JSON_COMPACT);
    const char *name = json_string_value(json_object_get(p->names, key ? key : ""));
    size_t n = json_array_size(p->list);

    if (!name) {
        name = n == 0 ? "flexiant" : arena_printf(c->a, "flexiant-%zu", n + 1);
        (void)json_array_append_new(p->list, json_pack("{s: s, s: O}", "name", name, "stages", stages));
        (void)json_object_set_new(p->names, key ? key : "", json_string(name));
    }
    free(key);
    return name;
}

static int add_servers(const struct cloud *c, struct pipelines *p, json_t *vms)
{
    int e = 0;

    for (uint32_t i = 0; e == 0 && i < c->lists[SERVERS].n; i++) {
        const struct server *s = flexiant_item(c, SERVERS, i);
        json_t *stages = NULL;

        if ((e = stages_compile(c, s, &stages)) == 0)
            (void)json_array_append_new(vms, vm_of(c, s, pipeline_with(c, p, stages)));
        json_decref(stages);
    }
    return e;
}

/* ---- the document ---- */

/* Each node keeps its own limit by a count, so the cluster's is that of the highest ratio. */
static double highest_ratio(const struct cloud *c)
{
    double ret = 0;

    for (uint32_t i = 0; i < c->lists[NODES].n; i++)
        ret = fmax(ret, stages_ram_ratio(c, flexiant_item(c, NODES, i)));
    return ret > 0 ? ret : 1;
}

int flexiant_compile(const json_t *cloud, struct arena *a, json_t **ret, struct err *err)
{
    struct cloud c;
    int e = flexiant_read(cloud, a, &c, err);

    if (e < 0)
        return e;
    struct pipelines p = {json_array(), json_object()};
    json_t *vms = json_array();

    if ((e = add_servers(&c, &p, vms)) == 0)
        *ret = json_pack("{s: s, s: s, s: s, s: {s: f}, s: o, s: O, s: O}", "format", FORMAT, "cluster",
                         c.name ? c.name : "flexiant", "time", c.time ? c.time : "1970-01-01T00:00:00Z",
                         "policy", "mem_overcommit", highest_ratio(&c), "hosts", hosts_of(&c), "vms", vms,
                         "pipelines", p.list);
    json_decref(vms);
    json_decref(p.list);
    json_decref(p.names);
    return e;
}
