/* compile.c: the whole cloud as a snapshot: hypervisors, aggregates, servers, and a pipeline for each kind of
 * request. */
#include "dialect/nova/internal.h"

#include <errno.h>
#include <string.h>

#define FORMAT "ballast-snapshot/1"
#define SERVERS_MAX 1000 /* of one request */
#define SOURCE "/source" /* what a server that moves has where it is: Nova keeps it for the migration */
#define FILTERS_DEFAULT                                                                                      \
    "ComputeFilter,ComputeCapabilitiesFilter,ImagePropertiesFilter,ServerGroupAntiAffinityFilter,"           \
    "ServerGroupAffinityFilter"

/* Requests that ask for the same. */
struct kind {
    struct server first;
    json_t *vm;       /* what the filters set of its VMs */
    json_t *pipeline; /* its name; null: no stage */
};

/* One VM. */
struct member {
    struct server server;
    const char *id, *name, *node; /* name, node NULL: none */
    bool on;
    bool leaves; /* what a server that moves has where it is */
    size_t kind;
};

struct compiler {
    struct cloud c;
    struct words enabled; /* filters */
    json_t *groups, *pipelines, *vms, *rules;
    json_t *by_request; /* the number of a kind, by what it asks for */
    json_t *by_stages;  /* the name of a pipeline, by its stages; null: it has no stage */
    struct kind *kinds;
    size_t n_kinds, cap_kinds;
    struct member *members;
    size_t n_members, cap_members;
};

/* ---- pipelines ---- */

/* The stage of what a filter has compiled; takes it. */
static void add_stage(const char *name, json_t *made, json_t *stages)
{
    if (json_array_size(made) == 1) { /* "and" of nothing */
        json_decref(made);
        return;
    }
    if (!made)
        return;
    json_t *stage = json_is_object(made) ? made : json_pack("{s: o}", "filter", made);

    (void)json_object_set_new(stage, "name", json_string(name));
    (void)json_array_append_new(stages, stage);
}

static int add_filter(struct cloud *c, const struct filter *filter, const struct request *r, json_t *stages)
{
    json_t *made = NULL;
    int e = filter->compile(c, r, &made);

    if (e == 0)
        add_stage(filter->name, made, stages);
    if (e < 0 || !filter->count)
        return e;
    made = NULL;
    e = filter->count(c, r, &made);
    if (e == 0)
        add_stage(arena_printf(c->a, "%s of many", filter->name), made, stages);
    return e;
}

static bool is_asked(const struct request *r, const struct filter *filter, bool passed_over)
{
    return filter->always || (r->stays ? r->rebuilds && filter->on_rebuild : !passed_over);
}

/* The stages of a request, which sets what its VM asks for. */
static int stages_of(struct compiler *m, const struct request *r, json_t *stages)
{
    struct cloud *c = &m->c;
    int e = quantities_ask(c, r);

    c->stages = stages;
    consumed_ask(c, r);

    for (size_t i = 0; e == 0 && i < n_prefilters; i++)
        if (is_asked(r, &prefilters[i], r->bypasses))
            e = add_filter(c, &prefilters[i], r, stages);
    if (e == 0 && !r->stays)
        quantities_add_stages(c, stages);
    for (size_t i = 0; e == 0 && i < m->enabled.n; i++) {
        const struct filter *filter = filter_find(m->enabled.items[i]);
        const char *own = filter ? NULL : filter_custom(c, m->enabled.items[i]);

        if (!filter && !own)
            return err_set(
                c->err, -EINVAL,
                "nova.conf: [filter_scheduler] enabled_filters has \"%s\", which is not known here",
                m->enabled.items[i]);
        if (own && !r->forced && !r->stays)
            add_stage(own, custom_filter(c, r, own), stages);
        else if (filter && is_asked(r, filter, r->forced))
            e = add_filter(c, filter, r, stages);
    }
    return e < 0 ? e : weighers_compile(c, r, stages);
}

static char *json_text(const json_t *value, struct arena *a)
{
    char *dumped = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);
    char *ret = arena_strdup(a, dumped ? dumped : "");

    free(dumped);
    return ret;
}

/* The pipeline with these stages: one that is there already, or a new one; null: no stages. Borrowed. */
static json_t *pipeline_of(struct compiler *m, json_t *stages)
{
    const char *key = json_text(stages, m->c.a);
    json_t *name = json_object_get(m->by_stages, key);

    if (name)
        return name;
    size_t n = json_array_size(m->pipelines);

    if (json_array_size(stages) == 0) {
        name = json_null();
    } else {
        name = json_string(n == 0 ? "nova" : arena_printf(m->c.a, "nova-%zu", n + 1));
        (void)json_array_append_new(m->pipelines, json_pack("{s: O, s: O}", "name", name, "stages", stages));
    }
    (void)json_object_set_new(m->by_stages, key, name);
    return name;
}

/* Filters run for all kinds of requests, and again when it is known what the VMs of the cloud have: so one
 * pipeline reads the values of many. */
static int compile_kinds(struct compiler *m)
{
    int e = 0;

    for (size_t round = 0; round < 2; round++)
        for (size_t i = 0; e == 0 && i < m->n_kinds; i++) {
            struct kind *kind = &m->kinds[i];
            json_t *stages = json_array();

            e = stages_of(m, &kind->first.asks, stages);
            if (e == 0 && round == 1)
                kind->pipeline = pipeline_of(m, stages);
            json_decref(stages);
        }
    return e;
}

/* ---- servers ---- */

/* The kind of the server, which keeps it if it is the first. */
static size_t kind_of(struct compiler *m, const struct server *s)
{
    const struct request *r = &s->asks;
    json_t *key =
        json_pack("[s?, s?, s?, s?, s?, s?, b, b, b, b, b, b, b, s?, s?, s?, O, O, O?, O?, O?, O?]",
                  r->project, r->zone, r->host, r->node, r->image_id, r->flavor, r->of_volume, r->forced,
                  r->of_many, r->is_new, r->bypasses, r->stays, r->rebuilds, r->home, r->left, r->cell,
                  r->flavor_json, r->image, r->hints, r->group, r->destination, r->live_from);
    const char *text = json_text(key, m->c.a);
    const json_t *known = json_object_get(m->by_request, text);

    json_decref(key);
    if (known)
        return (size_t)json_integer_value(known);
    m->kinds = arena_grow(m->c.a, m->kinds, m->n_kinds, &m->cap_kinds, sizeof *m->kinds);
    struct kind *kind = &m->kinds[m->n_kinds];

    *kind = (struct kind){.first = *s, .vm = json_object()};
    kind->first.asks.vm = kind->vm;
    (void)json_incref(s->image);
    (void)json_object_set_new(m->by_request, text, json_integer((json_int_t)m->n_kinds));
    return m->n_kinds++;
}

/* id, name, node and on of the member. */
static void add_member(struct compiler *m, const struct server *s, struct member member)
{
    m->members = arena_grow(m->c.a, m->members, m->n_members, &m->cap_members, sizeof *m->members);
    struct member *added = &m->members[m->n_members++];

    *added = member;
    added->server = *s;
    added->on = member.on && member.node;
    added->kind = kind_of(m, s);
}

static int read_listed(struct compiler *m, const json_t *json, size_t ix)
{
    const char *where = arena_printf(m->c.a, "/servers/%zu", ix);
    struct server s;
    bool moves = json == m->c.moves;
    const char *name = cloud_text(json, "name");

    if (!cloud_text(json, "id"))
        return err_set(m->c.err, -EINVAL, "%s/id: missing, expected a text", where);
    if (server_is_deleted(json) || (moves && !m->c.keeps_source))
        return 0;
    int e = server_read(&m->c, json, json_object_get(json, "os:scheduler_hints"), where, &s);

    if (e < 0)
        return e;
    s.asks.zone = cloud_text(json, "pinned_availability_zone"); /* where it is binds it not */
    add_member(m, &s,
               (struct member){
                   .id = moves ? arena_printf(m->c.a, "%s" SOURCE, s.asks.id) : s.asks.id,
                   .name = moves ? arena_printf(m->c.a, "%s" SOURCE, name ? name : s.asks.id) : name,
                   .node = server_node(&m->c, json),
                   .on = server_is_on(json),
                   .leaves = moves,
               });
    json_decref(s.image);
    return 0;
}

static int read_number_of(const struct compiler *m, const json_t *json, const char *key, json_int_t fallback,
                          json_int_t *ret)
{
    const char *text = nova_python_str(json_object_get(json, key), m->c.a);

    *ret = fallback;
    return !text || (nova_python_int(text, m->c.a, ret) && *ret >= 1 && *ret <= SERVERS_MAX)
               ? 0
               : err_set(m->c.err, -EINVAL, "/server/%s: \"%s\", expected 1 to %d", key, text, SERVERS_MAX);
}

/* Several have names such as "web-1". */
static void add_requested(struct compiler *m, const struct server *s, json_int_t n)
{
    const char *name = cloud_text(s->json, "name");

    for (json_int_t i = 1; i <= n; i++)
        add_member(m, s,
                   (struct member){
                       .id = n == 1 ? s->asks.id : arena_printf(m->c.a, "%s-%d", s->asks.id, (int)i),
                       .name = n == 1 || !name ? name : arena_printf(m->c.a, "%s-%d", name, (int)i),
                   });
}

/* max_count is min_count where it is not given. */
static int read_request(struct compiler *m, const json_t *json)
{
    const json_t *hints = json_object_get(m->c.lists, "os:scheduler_hints");
    json_int_t least = 1;
    json_int_t n;
    struct server s;
    int e = read_number_of(m, json, "min_count", 1, &least);

    if (e < 0 || (e = read_number_of(m, json, "max_count", least, &n)) < 0)
        return e;
    if (n < least)
        return err_set(m->c.err, -EINVAL, "/server/min_count: more than max_count");
    hints = hints ? hints : json_object_get(m->c.lists, "OS-SCH-HNT:scheduler_hints");
    hints = hints ? hints : json_object_get(json, "os:scheduler_hints");
    if ((e = server_read(&m->c, json, hints, "/server", &s)) < 0)
        return e;
    s.asks.project = s.asks.project ? s.asks.project : cloud_text(m->c.lists, "project_id");
    e = server_read_destination(&m->c, json, &s);
    server_take_destination(&m->c, &s.asks);
    s.asks.of_many = n > 1;
    s.asks.is_new = true;
    add_requested(m, &s, e == 0 ? n : 0);
    json_decref(s.image);
    return e;
}

static int read_action(struct compiler *m, struct server *action, bool is)
{
    const char *name = cloud_text(action->json, "name");

    if (is && json_object_get(m->c.lists, "server"))
        return err_set(m->c.err, -EINVAL,
                       "/server: given, expected a new server, or a move of one that is there");
    if (is)
        add_member(m, action, (struct member){.id = action->asks.id, .name = name});
    return 0;
}

static int read_servers(struct compiler *m)
{
    const json_t *request = json_object_get(m->c.lists, "server");
    size_t i;
    const json_t *server;
    struct server action = {0};
    bool is = false;
    int e = action_read(&m->c, &action, &is);

    json_array_foreach(json_object_get(m->c.lists, "servers"), i, server)
    {
        e = e < 0 ? e : read_listed(m, server, i);
    }
    e = e < 0 ? e : read_action(m, &action, is);
    json_decref(action.image);
    return e < 0 || !request ? e : read_request(m, request);
}

static void add_vms(struct compiler *m)
{
    for (size_t i = 0; i < m->n_members; i++) {
        const struct member *member = &m->members[i];
        const struct kind *kind = &m->kinds[member->kind];
        struct server s = member->server;

        s.asks.vm = kind->vm;
        json_t *vm = server_vm(&s, member->id, member->name);

        if (member->on)
            server_set_demand(s.json, vm);
        if (member->leaves)
            (void)json_object_set_new(vm, "immovable", json_string("its move that is asked for"));
        if (!json_is_null(kind->pipeline))
            (void)json_object_set(vm, "pipeline", kind->pipeline);
        (void)json_object_set_new(vm, "state", json_string(member->on ? "on" : "off"));
        if (member->node)
            (void)json_object_set_new(vm, "host", json_string(member->node));
        (void)json_array_append_new(m->vms, vm);
    }
}

/* ---- server groups ---- */

/* Members of an affinity group that are all still to be placed come to one host; where one is on a host, its
 * filter decides. */
static void add_rule(struct compiler *m, const json_t *group)
{
    const char *id = cloud_text(group, "id");
    json_t *vms = json_array();
    bool placed = false;

    for (size_t i = 0; i < m->n_members; i++) {
        if (m->members[i].server.asks.group != group)
            continue;
        placed = placed || m->members[i].node;
        (void)json_array_append_new(vms, json_string(m->members[i].id));
    }
    if (id && !placed && json_array_size(vms) > 1)
        (void)json_array_append_new(
            m->rules, json_pack("{s: s, s: s, s: O}", "id", id, "kind", "vm-vm-affine", "vms", vms));
    json_decref(vms);
}

static void add_rules(struct compiler *m)
{
    size_t i;
    const json_t *group;

    if (!nova_words_have(&m->enabled, "ServerGroupAffinityFilter"))
        return;
    json_array_foreach(json_object_get(m->c.lists, "server_groups"), i, group)
    {
        if (strcmp(hint_group_policy(group), "affinity") == 0)
            add_rule(m, group);
    }
}

/* The nodes of each compute service, where one has several. */
static void add_service_groups(struct compiler *m)
{
    const char *host;
    json_t *nodes;

    json_object_foreach(m->c.nodes, host, nodes)
    {
        if (m->c.shares_nodes)
            (void)json_array_append_new(m->groups,
                                        json_pack("{s: s+, s: s, s: s, s: O}", "id", SERVICE "/", host,
                                                  "name", host, "kind", SERVICE, "hosts", nodes));
    }
}

/* ---- the document ---- */

/* What listed servers take, by node. */
static json_t *taken_by_node(const struct compiler *m)
{
    json_t *ret = json_object();

    for (size_t i = 0; i < m->n_members; i++) {
        const struct member *member = &m->members[i];
        json_t *taken = member->node ? json_object_get(ret, member->node) : NULL;

        if (!member->node)
            continue;
        if (!taken) {
            taken = json_object();
            (void)json_object_set_new(ret, member->node, taken);
        }
        quantities_take(taken, m->kinds[member->kind].vm, member->on);
    }
    return ret;
}

static void add_hosts(const struct compiler *m, json_t *hosts)
{
    const struct cloud *c = &m->c;
    json_t *taken = taken_by_node(m);
    size_t i;
    const json_t *state;

    json_array_foreach(c->states, i, state)
    {
        const json_t *hypervisor = json_array_get(json_object_get(c->lists, "hypervisors"), i);
        const char *node = cloud_text(state, "nodename");
        const char *is = cloud_text(hypervisor, "state");
        json_int_t cores = json_integer_value(json_object_get(state, "vcpus_total"));

        (void)json_array_append_new(
            hosts, json_pack("{s: s, s: s, s: I, s: I, s: O, s: o, s: o, s: O}", "id", node, "state",
                             is && strcmp(is, "up") != 0 ? "disconnected" : "on", "cores", cores, "cpu_mhz",
                             cores * MHZ_OF_CORE, "mem_mb", json_object_get(state, "total_usable_ram_mb"),
                             "traits", prefilter_traits(c, i), "quantities",
                             quantities_of_host(c, i, json_object_get(taken, node)), "attributes",
                             json_array_get(c->attributes, i)));
    }
    json_decref(taken);
}

/* NUMA cells and devices of hosts, if any VM needs them, and which of them listed servers have. */
static void add_cells(struct compiler *m, json_t *hosts)
{
    json_t *by_node = json_object();
    size_t i;
    json_t *host;

    json_array_foreach(hosts, i, host)
    {
        (void)json_object_set_new(host, "numa", numa_hosts_cells(&m->c, i));
        (void)json_object_set_new(host, "device_pools", pci_pools_of_host(&m->c, i));
        (void)json_object_set(by_node, json_string_value(json_object_get(host, "id")), host);
    }
    for (i = 0; i < m->n_members; i++) {
        const struct member *member = &m->members[i];
        json_t *vm = json_array_get(m->vms, i);

        host = member->on ? json_object_get(by_node, member->node) : NULL;
        if (!host)
            continue;
        numa_hosts_give(&m->c, json_object_get(host, "numa"), member->server.json, vm);
        pci_give(json_object_get(host, "device_pools"), vm);
    }
    json_decref(by_node);
}

static bool any_needs_cells(const struct compiler *m)
{
    for (size_t i = 0; i < m->n_kinds; i++)
        if (json_object_get(m->kinds[i].vm, "numa") || json_object_get(m->kinds[i].vm, "device_requests"))
            return true;
    return false;
}

static json_t *document_of(struct compiler *m)
{
    const char *time = cloud_text(m->c.lists, "time");
    const char *name = cloud_text(m->c.lists, "name");
    json_t *hosts = json_array();

    add_hosts(m, hosts);
    if (any_needs_cells(m))
        add_cells(m, hosts);
    /* memory is bound by the count of MEMORY_MB, which knows the ratio of each host */
    return json_pack("{s: s, s: s, s: s, s: o, s: O, s: O, s: O, s: O, s: {s: f}}", "format", FORMAT,
                     "cluster", name ? name : "nova", "time", time ? time : "1970-01-01T00:00:00Z", "hosts",
                     hosts, "vms", m->vms, "groups", m->groups, "pipelines", m->pipelines, "rules", m->rules,
                     "policy", "mem_overcommit", quantities_mem_ratio(&m->c));
}

static int read_conf(struct cloud *c)
{
    json_t *conf = json_object_get(c->lists, "nova.conf");

    if (json_is_string(conf))
        return nova_conf_read(json_string_value(conf), c->a, &c->conf, c->err);
    if (conf && !json_is_object(conf))
        return err_set(c->err, -EINVAL, "nova.conf: expected its text, or {SECTION: {OPTION: VALUE}}");
    c->conf = conf ? json_incref(conf) : json_object();
    return 0;
}

static int compile_cloud(struct compiler *m)
{
    const json_t *lists = m->c.lists;
    int e;

    if (!json_is_object(lists))
        return err_set(m->c.err, -EINVAL,
                       "/: expected an object with hypervisors, aggregates, flavors and so on");
    if ((e = cloud_check(&m->c)) < 0 || (e = read_conf(&m->c)) < 0)
        return e;
    m->enabled = conf_list(&m->c, "filter_scheduler", "enabled_filters", FILTERS_DEFAULT);
    if ((e = filter_check_available(&m->c, &m->enabled)) < 0 || (e = hosts_read(&m->c)) < 0 ||
        (e = quantities_read_inventories(&m->c)) < 0 || (e = numa_hosts_read(&m->c)) < 0 ||
        (e = aggregates_read(&m->c, m->groups)) < 0)
        return e;
    servers_read_groups(&m->c);
    if ((e = servers_count(&m->c)) < 0)
        return e;
    hosts_take_listed(&m->c);
    if ((e = read_servers(m)) < 0 || (e = compile_kinds(m)) < 0)
        return e;
    add_vms(m);
    add_service_groups(m);
    add_rules(m);
    return consumed_set(&m->c, m->vms);
}

int nova_compile(const json_t *cloud, struct arena *a, json_t **ret, struct err *err)
{
    struct compiler m = {
        .c = {.a = a,
              .err = err,
              .lists = cloud,
              .states = json_array(),
              .attributes = json_array(),
              .metadata = json_array(),
              .nodes = json_object(),
              .groups = json_object(),
              .given = json_object(),
              .inventories = json_array(),
              .topologies = json_array(),
              .pools = json_array(),
              .servers_at = json_object(),
              .host_of = json_object(),
              .found = json_object()},
        .groups = json_array(),
        .pipelines = json_array(),
        .vms = json_array(),
        .rules = json_array(),
        .by_request = json_object(),
        .by_stages = json_object(),
    };
    json_t *const made[] = {m.c.states,     m.c.attributes,  m.c.metadata,   m.c.nodes,   m.c.groups,
                            m.c.given,      m.c.inventories, m.c.servers_at, m.c.host_of, m.c.found,
                            m.c.topologies, m.c.pools,       m.groups,       m.pipelines, m.vms,
                            m.rules,        m.by_request,    m.by_stages};
    int e = compile_cloud(&m);

    if (e == 0)
        *ret = document_of(&m);
    for (size_t i = 0; i < m.n_kinds; i++) {
        json_decref(m.kinds[i].vm);
        json_decref(m.kinds[i].first.image);
    }
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        json_decref(made[i]);
    json_decref(m.c.conf);
    return e;
}
