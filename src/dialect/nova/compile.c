/* compile.c: the whole cloud as a snapshot: hypervisors, aggregates, servers, and a pipeline for each kind of
 * request. */
#include "dialect/nova/internal.h"

#include <errno.h>
#include <string.h>

#define FORMAT "ballast-snapshot/1"
#define MHZ_OF_CORE 1000 /* Nova knows no clock rate: a vCPU is as much everywhere */
#define SERVERS_MAX 1000 /* of one request */
#define FILTERS_DEFAULT                                                                                      \
    "ComputeFilter,ComputeCapabilitiesFilter,ImagePropertiesFilter,ServerGroupAntiAffinityFilter,"           \
    "ServerGroupAffinityFilter"

struct compiler {
    struct cloud c;
    json_t *groups, *pipelines, *vms, *rules;
    json_t *by_request; /* the name of a pipeline, by its stages; null: it has no stage */
    json_t *by_stages;  /* the same, by its stages */
};

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text && *text ? text : NULL;
}

static const json_t *find(const struct cloud *c, const char *list, const char *key, const char *wanted)
{
    size_t i;
    const json_t *item;

    json_array_foreach(json_object_get(c->lists, list), i, item)
    {
        const char *text = text_of(item, key);
        if (text && wanted && strcmp(text, wanted) == 0)
            return item;
    }
    return NULL;
}

/* ---- aggregates ---- */

static const char *without_blanks(const char *text, struct arena *a)
{
    struct words parts = nova_parts_split(text, ',', a);
    const char *ret = parts.items[0];

    for (size_t i = 1; i < parts.n; i++)
        ret = arena_printf(a, "%s,%s", ret, parts.items[i]);
    return ret;
}

static json_t *metadata_of(const struct cloud *c, const json_t *aggregate)
{
    const char *zone = text_of(aggregate, "availability_zone");
    json_t *ret = json_object();
    const char *key;
    json_t *value;
    json_int_t whole;

    if (zone)
        (void)json_object_set_new(ret, "availability_zone", json_string(without_blanks(zone, c->a)));
    json_object_foreach(json_object_get(aggregate, "metadata"), key, value)
    {
        const char *text = nova_python_str(value, c->a);

        if (!text)
            continue;
        text = without_blanks(text, c->a);
        if (strncmp(key, "max_", 4) == 0 && nova_python_int(text, c->a, &whole))
            text = arena_printf(c->a, "%" JSON_INTEGER_FORMAT, whole);
        (void)json_object_set_new(ret, key, json_string(text));
    }
    return ret;
}

/* The nodes of the compute services. */
static json_t *nodes_of(const struct cloud *c, const json_t *hosts)
{
    json_t *ret = json_array();
    size_t i;
    const json_t *host;

    json_array_foreach(hosts, i, host)
    {
        if (json_is_string(host))
            (void)json_array_extend(ret, json_object_get(c->nodes, json_string_value(host)));
    }
    return ret;
}

static int read_aggregates(struct compiler *m)
{
    struct cloud *c = &m->c;
    size_t i;
    const json_t *aggregate;

    json_array_foreach(json_object_get(c->lists, "aggregates"), i, aggregate)
    {
        const char *id = nova_python_str(json_object_get(aggregate, "id"), c->a);
        const char *name = text_of(aggregate, "name");
        json_t *metadata = metadata_of(c, aggregate);

        (void)json_array_append_new(c->metadata, metadata);
        if (!id || !*id)
            return err_set(c->err, -EINVAL, "aggregates/%zu/id: missing, expected a number or a text", i);
        (void)json_array_append_new(m->groups, json_pack("{s: s, s: s, s: s, s: o, s: O}", "id", id, "name",
                                                         name ? name : id, "kind", AGGREGATE, "hosts",
                                                         nodes_of(c, json_object_get(aggregate, "hosts")),
                                                         "meta", metadata));
    }
    return 0;
}

/* ---- pipelines ---- */

static int add_stage(struct cloud *c, const char *name, const struct request *r, json_t *stages)
{
    const struct filter *filter = filter_find(name);
    json_t *expression = NULL;

    if (!filter)
        return err_set(c->err, -EINVAL,
                       "nova.conf: [filter_scheduler] enabled_filters has \"%s\", which is not known here",
                       name);
    int e = filter->compile(c, r, &expression);

    if (e < 0)
        return e;
    if (json_array_size(expression) == 1) { /* "and" of nothing */
        json_decref(expression);
        expression = NULL;
    }
    if (!expression)
        return 0;
    json_t *stage = json_pack("{s: s, s: o}", "name", name, "filter", expression);

    if (filter->only_place)
        (void)json_object_set_new(stage, "applies", json_pack("[s]", "place"));
    (void)json_array_append_new(stages, stage);
    return 0;
}

static char *text_of_json(const json_t *value, struct arena *a)
{
    char *dumped = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);
    char *ret = arena_strdup(a, dumped ? dumped : "");

    free(dumped);
    return ret;
}

/* The pipeline with these stages: one that is there already, or a new one; null: no stages. Borrowed. */
static json_t *pipeline_of(struct compiler *m, json_t *stages)
{
    const char *key = text_of_json(stages, m->c.a);
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

static int compile_request(struct compiler *m, const struct request *r, json_t **ret)
{
    struct words enabled = conf_list(&m->c, "filter_scheduler", "enabled_filters", FILTERS_DEFAULT);
    json_t *stages = json_array();
    int e = 0;

    for (size_t i = 0; i < enabled.n && e == 0; i++)
        e = add_stage(&m->c, enabled.items[i], r, stages);
    if (e == 0)
        e = weighers_compile(&m->c, r, stages);
    if (e == 0)
        *ret = pipeline_of(m, stages);
    json_decref(stages);
    return e;
}

/* The name of the request's pipeline, compiled once for equal requests. Borrowed. A member of a group counts
 * where it is itself. */
static int pipeline_for(struct compiler *m, const struct request *r, json_t **ret)
{
    json_t *key =
        json_pack("[s?, s?, s?, s?, s?, O?, O, O?, O?, O?]", r->project, r->zone, r->image_id, r->flavor,
                  r->group ? r->id : NULL, r->extra_specs, r->image, r->hints, r->group, r->destination);
    const char *text = text_of_json(key, m->c.a);
    int e = 0;

    json_decref(key);
    *ret = json_object_get(m->by_request, text);
    if (!*ret && (e = compile_request(m, r, ret)) == 0)
        (void)json_object_set(m->by_request, text, *ret);
    return e;
}

/* ---- servers ---- */

/* Of an object as GET /servers/detail or the body of POST /servers has it. */
struct server {
    const json_t *json;
    struct request asks;
    const json_t *flavor;
    json_t *image;
};

static int read_flavor(const struct cloud *c, struct server *s, const char *where)
{
    const json_t *embedded = json_object_get(s->json, "flavor");
    const char *ref = text_of(s->json, "flavorRef");

    ref = ref ? ref : text_of(embedded, "id");
    s->flavor = json_object_get(embedded, "vcpus") ? embedded : find(c, "flavors", "id", ref);
    if (!s->flavor && ref)
        s->flavor = find(c, "flavors", "name", ref);
    if (!json_is_integer(json_object_get(s->flavor, "vcpus")) ||
        !json_is_integer(json_object_get(s->flavor, "ram")))
        return err_set(c->err, -EINVAL, "%s: flavor \"%s\" is not in flavors with its vcpus and ram", where,
                       ref ? ref : "");
    s->asks.flavor = text_of(s->flavor, "original_name");
    if (!s->asks.flavor)
        s->asks.flavor = text_of(s->flavor, "name") ? text_of(s->flavor, "name") : "";
    s->asks.extra_specs = json_object_get(s->flavor, "extra_specs");
    return 0;
}

static int read_image(const struct cloud *c, struct server *s)
{
    const char *id = text_of(json_object_get(s->json, "image"), "id");

    s->asks.image_id = id ? id : text_of(s->json, "imageRef");
    int e = image_properties_read(c, find(c, "images", "id", s->asks.image_id), &s->image);

    s->asks.image = e == 0 ? s->image : NULL;
    return e;
}

static void read_groups(struct cloud *c)
{
    size_t i;
    size_t k;
    json_t *group;
    const json_t *member;

    json_array_foreach(json_object_get(c->lists, "server_groups"), i, group)
    {
        json_array_foreach(json_object_get(group, "members"), k, member)
        {
            if (json_is_string(member))
                (void)json_object_set(c->groups, json_string_value(member), group);
        }
    }
}

/* hints: those beside the request's server; a listed server has its own. */
static int read_server(const struct cloud *c, const json_t *json, const json_t *hints, const char *where,
                       struct server *ret)
{
    const char *group = json_string_value(json_object_get(hints, "group"));

    *ret = (struct server){.json = json, .asks = {.hints = hints}};
    ret->asks.id = text_of(json, "id") ? text_of(json, "id") : NOVA_REQUEST_ID;
    ret->asks.project = text_of(json, "tenant_id") ? text_of(json, "tenant_id") : text_of(json, "project_id");
    ret->asks.group =
        group ? find(c, "server_groups", "id", group) : json_object_get(c->groups, ret->asks.id);
    if (group && !ret->asks.group)
        return err_set(c->err, -EINVAL, "os:scheduler_hints/group: \"%s\" is not in server_groups", group);
    int e = read_flavor(c, ret, where);

    return e < 0 ? e : read_image(c, ret);
}

static json_t *vm_of(const struct cloud *c, const struct server *s, const char *id, json_t *pipeline)
{
    json_t *vm = json_pack("{s: s, s: O, s: O, s: s*, s: O*, s: o}", "id", id, "vcpus",
                           json_object_get(s->flavor, "vcpus"), "mem_mb", json_object_get(s->flavor, "ram"),
                           "owner", s->asks.project, "pipeline", json_is_null(pipeline) ? NULL : pipeline,
                           "flavor", consumed_by_flavor(c, s->flavor));
    const char *name = text_of(s->json, "name");
    const char *group = text_of(s->asks.group, "id");

    if (group)
        (void)json_object_set_new(vm, "groups", json_pack("[s]", group));

    if (name)
        (void)json_object_set_new(vm, "name", json_string(name));
    return vm;
}

/* The node of a server; NULL: it is on none. */
static const char *node_of(const struct cloud *c, const json_t *server)
{
    const char *node = text_of(server, "OS-EXT-SRV-ATTR:hypervisor_hostname");
    const char *host = text_of(server, "OS-EXT-SRV-ATTR:host");
    const json_t *nodes = host ? json_object_get(c->nodes, host) : NULL;

    if (node && json_array_size(nodes) != 1)
        return node;
    return json_string_value(json_array_get(nodes, 0));
}

static int add_server(struct compiler *m, const json_t *json, size_t ix)
{
    const char *where = arena_printf(m->c.a, "servers/%zu", ix);
    struct server s;
    json_t *pipeline;

    if (!text_of(json, "id"))
        return err_set(m->c.err, -EINVAL, "%s/id: missing, expected a text", where);
    int e = read_server(&m->c, json, json_object_get(json, "os:scheduler_hints"), where, &s);

    if (e < 0)
        return e;
    s.asks.zone = text_of(json, "pinned_availability_zone"); /* where it is binds it not */
    e = pipeline_for(m, &s.asks, &pipeline);
    if (e == 0) {
        const char *node = node_of(&m->c, json);
        const char *status = text_of(json, "status");
        json_t *vm = vm_of(&m->c, &s, s.asks.id, pipeline);

        (void)json_object_set_new(vm, "state",
                                  json_string(!status || strcmp(status, "ACTIVE") == 0 ? "on" : "off"));
        (void)json_object_set_new(vm, "demand_unknown", json_true());
        if (node)
            (void)json_object_set_new(vm, "host", json_string(node));
        else
            (void)json_object_set_new(vm, "state", json_string("off"));
        (void)json_array_append_new(m->vms, vm);
    }
    json_decref(s.image);
    return e;
}

static int add_request(struct compiler *m, const json_t *json)
{
    const json_t *hints = json_object_get(m->c.lists, "os:scheduler_hints");
    const char *count = nova_python_str(json_object_get(json, "max_count"), m->c.a);
    json_int_t n = 1;
    struct server s;
    json_t *pipeline;
    int e;

    if (count && (!nova_python_int(count, m->c.a, &n) || n < 1 || n > SERVERS_MAX))
        return err_set(m->c.err, -EINVAL, "server/max_count: \"%s\", expected 1 to %d", count, SERVERS_MAX);
    if ((e = read_server(&m->c, json, hints, "server", &s)) < 0)
        return e;
    s.asks.zone = text_of(json, "availability_zone");
    s.asks.destination = json_object_get(m->c.lists, "requested_destination");
    e = pipeline_for(m, &s.asks, &pipeline);
    for (json_int_t i = 1; e == 0 && i <= n; i++) {
        const char *id = n == 1 ? s.asks.id : arena_printf(m->c.a, "%s-%d", s.asks.id, (int)i);
        json_t *vm = vm_of(&m->c, &s, id, pipeline);

        (void)json_object_set_new(vm, "state", json_string("off"));
        (void)json_array_append_new(m->vms, vm);
    }
    json_decref(s.image);
    return e;
}

/* ---- server groups ---- */

/* As rules, which bind moves too: they count where the members are at each step. */
static int add_rule(struct compiler *m, const json_t *group)
{
    const char *id = text_of(group, "id");
    bool apart = strcmp(hint_group_policy(group), "anti-affinity") == 0;
    json_int_t limit;
    int e = hint_group_limit(&m->c, group, &limit);
    json_t *vms = json_array();
    size_t i;
    json_t *vm;

    json_array_foreach(m->vms, i, vm)
    {
        if (json_object_get(m->c.groups, text_of(vm, "id")) == group)
            (void)json_array_append(vms, json_object_get(vm, "id"));
    }
    if (e == 0 && id && json_array_size(vms) > 1 && (!apart || limit == 1))
        (void)json_array_append_new(m->rules,
                                    json_pack("{s: s, s: s, s: O}", "id", id, "kind",
                                              apart ? "vm-vm-anti-affine" : "vm-vm-affine", "vms", vms));
    json_decref(vms);
    return e;
}

static int add_rules(struct compiler *m)
{
    struct words enabled = conf_list(&m->c, "filter_scheduler", "enabled_filters", FILTERS_DEFAULT);
    size_t i;
    const json_t *group;
    int e = 0;

    json_array_foreach(json_object_get(m->c.lists, "server_groups"), i, group)
    {
        const char *policy = hint_group_policy(group);

        if ((strcmp(policy, "affinity") == 0 && nova_words_have(&enabled, "ServerGroupAffinityFilter")) ||
            (strcmp(policy, "anti-affinity") == 0 &&
             nova_words_have(&enabled, "ServerGroupAntiAffinityFilter")))
            e = e < 0 ? e : add_rule(m, group);
    }
    return e;
}

/* ---- the document ---- */

static void add_hosts(const struct cloud *c, json_t *hosts)
{
    size_t i;
    const json_t *state;

    json_array_foreach(c->states, i, state)
    {
        const json_t *hypervisor = json_array_get(json_object_get(c->lists, "hypervisors"), i);
        const char *is = text_of(hypervisor, "state");
        json_int_t cores = json_integer_value(json_object_get(state, "vcpus_total"));

        (void)json_array_append_new(hosts, json_pack("{s: O, s: s, s: I, s: I, s: O, s: O}", "id",
                                                     json_object_get(state, "nodename"), "state",
                                                     is && strcmp(is, "up") != 0 ? "disconnected" : "on",
                                                     "cores", cores, "cpu_mhz", cores * MHZ_OF_CORE, "mem_mb",
                                                     json_object_get(state, "total_usable_ram_mb"),
                                                     "attributes", json_array_get(c->attributes, i)));
    }
}

static json_t *document_of(const struct compiler *m)
{
    const char *time = text_of(m->c.lists, "time");
    const char *name = text_of(m->c.lists, "name");
    json_t *hosts = json_array();

    add_hosts(&m->c, hosts);
    return json_pack("{s: s, s: s, s: s, s: o, s: O, s: O, s: O, s: O}", "format", FORMAT, "cluster",
                     name ? name : "nova", "time", time ? time : "1970-01-01T00:00:00Z", "hosts", hosts,
                     "vms", m->vms, "groups", m->groups, "pipelines", m->pipelines, "rules", m->rules);
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
    const json_t *request = json_object_get(lists, "server");
    size_t i;
    const json_t *server;
    int e;

    if (!json_is_object(lists))
        return err_set(m->c.err, -EINVAL,
                       "expected an object with hypervisors, aggregates, flavors and so on");
    if ((e = read_conf(&m->c)) < 0 || (e = hosts_read(&m->c)) < 0 || (e = read_aggregates(m)) < 0)
        return e;
    read_groups(&m->c);
    json_array_foreach(json_object_get(lists, "servers"), i, server)
    {
        if ((e = add_server(m, server, i)) < 0)
            return e;
    }
    if (request && (e = add_request(m, request)) < 0)
        return e;
    if ((e = consumed_set(&m->c, m->vms)) < 0)
        return e;
    return add_rules(m);
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
              .groups = json_object()},
        .groups = json_array(),
        .pipelines = json_array(),
        .vms = json_array(),
        .rules = json_array(),
        .by_request = json_object(),
        .by_stages = json_object(),
    };
    json_t *const made[] = {m.c.states,  m.c.attributes, m.c.metadata, m.c.nodes,    m.c.groups, m.groups,
                            m.pipelines, m.vms,          m.rules,      m.by_request, m.by_stages};
    int e = compile_cloud(&m);

    if (e == 0)
        *ret = document_of(&m);
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        json_decref(made[i]);
    json_decref(m.c.conf);
    return e;
}
