/* servers.c: servers as the API lists them and as a request asks for them, and the VMs that they become. */
#include "dialect/nova/internal.h"

#include <errno.h>
#include <string.h>

#define HINTS "os:scheduler_hints"
#define HOST_OF "OS-EXT-SRV-ATTR:host"
#define NODE_OF "OS-EXT-SRV-ATTR:hypervisor_hostname"

/* ---- reading ---- */

/* The object of the list that a reference means: its id, be it a number, or its address, which ends with it;
 * a flavour also by its name. */
static const json_t *find_referred(const struct cloud *c, const char *list, const char *ref)
{
    const char *slash = ref ? strrchr(ref, '/') : NULL;
    const json_t *ret = ref ? cloud_find(c, list, "id", ref) : NULL;

    if (!ret && slash)
        ret = cloud_find(c, list, "id", slash + 1);
    return ret;
}

static int read_flavor(const struct cloud *c, struct server *s)
{
    const json_t *embedded = json_object_get(s->json, "flavor");
    const char *ref = nova_python_str(json_object_get(s->json, "flavorRef"), c->a);
    bool asked = ref && *ref;

    ref = asked ? ref : nova_python_str(json_object_get(embedded, "id"), c->a);
    const json_t *flavor = json_object_get(embedded, "vcpus") ? embedded : find_referred(c, "flavors", ref);

    if (!flavor && ref)
        flavor = cloud_find(c, "flavors", "name", ref);
    if (!json_is_integer(json_object_get(flavor, "vcpus")) ||
        !json_is_integer(json_object_get(flavor, "ram")))
        return err_set(c->err, -EINVAL, "%s/%s: \"%s\" is not in flavors with its vcpus and ram",
                       s->asks.where, asked ? "flavorRef" : "flavor", ref ? ref : "");
    s->asks.flavor_json = flavor;
    s->asks.flavor = cloud_text(flavor, "original_name");
    if (!s->asks.flavor)
        s->asks.flavor = cloud_text(flavor, "name") ? cloud_text(flavor, "name") : "";
    s->asks.extra_specs = json_object_get(flavor, "extra_specs");
    return 0;
}

/* Whether the request's root disk is a volume. */
static bool boots_from_volume(const json_t *server)
{
    size_t i;
    const json_t *device;

    json_array_foreach(json_object_get(server, "block_device_mapping_v2"), i, device)
    {
        const json_t *boot_index = json_object_get(device, "boot_index");
        const char *to = cloud_text(device, "destination_type");
        if ((json_is_integer(boot_index)
                 ? json_integer_value(boot_index) == 0
                 : strcmp(json_is_string(boot_index) ? json_string_value(boot_index) : "", "0") == 0) &&
            to && strcmp(to, "volume") == 0)
            return true;
    }
    return false;
}

static int read_image(const struct cloud *c, struct server *s)
{
    const json_t *listed = json_object_get(s->json, "image");
    const char *id = cloud_text(listed, "id");
    const char *ref = nova_python_str(json_object_get(s->json, "imageRef"), c->a);

    s->asks.image_id = id ? id : ref && *ref ? ref : NULL;
    s->asks.image_json = find_referred(c, "images", s->asks.image_id);
    if (!id && s->asks.image_id && !s->asks.image_json && json_object_get(c->lists, "images"))
        return err_set(c->err, -EINVAL, "%s/imageRef: \"%s\" is not in images", s->asks.where,
                       s->asks.image_id);
    if (!id && s->asks.image_json) /* an address has become the id */
        s->asks.image_id = nova_python_str(json_object_get(s->asks.image_json, "id"), c->a);
    /* the API lists a server whose root disk is a volume with an empty text as its image */
    s->asks.of_volume = (json_is_string(listed) && !id) || boots_from_volume(s->json);
    int e = image_properties_read(c, s->asks.image_json, &s->image);

    s->asks.image = e == 0 ? s->image : NULL;
    return e;
}

void servers_read_groups(struct cloud *c)
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

int server_read(const struct cloud *c, const json_t *json, const json_t *hints, const char *where,
                struct server *ret)
{
    const char *group = json_string_value(json_object_get(hints, "group"));
    bool own = hints && json_object_get(json, HINTS) == hints;

    *ret = (struct server){.json = json,
                           .asks = {.hints = hints,
                                    .where = where,
                                    .hints_where = own ? arena_printf(c->a, "%s/" HINTS, where) : "/" HINTS}};
    ret->asks.id = cloud_text(json, "id") ? cloud_text(json, "id") : NOVA_REQUEST_ID;
    ret->asks.project =
        cloud_text(json, "tenant_id") ? cloud_text(json, "tenant_id") : cloud_text(json, "project_id");
    ret->asks.group =
        group ? cloud_find(c, "server_groups", "id", group) : json_object_get(c->groups, ret->asks.id);
    if (hints && json_object_get(hints, "group") && !group)
        return err_set(c->err, -EINVAL, "%s/group: expected the id of a server group", ret->asks.hints_where);
    if (group && !ret->asks.group)
        return err_set(c->err, -EINVAL, "%s/group: \"%s\" is not in server_groups", ret->asks.hints_where,
                       group);
    int e = read_flavor(c, ret);

    return e < 0 ? e : read_image(c, ret);
}

int server_read_destination(const struct cloud *c, const json_t *json, struct server *ret)
{
    const char *zone = cloud_text(json, "availability_zone");
    struct words parts = zone ? nova_parts_split(zone, ':', c->a) : (struct words){0};

    if (parts.n > 3)
        return err_set(c->err, -EINVAL,
                       "/server/availability_zone: \"%s\", expected ZONE, ZONE:HOST or ZONE:HOST:NODE", zone);
    ret->asks.host = cloud_text(json, "host");
    ret->asks.node = cloud_text(json, "hypervisor_hostname");
    ret->asks.zone = parts.n > 0 && *parts.items[0] ? parts.items[0] : NULL;
    ret->asks.forced = (parts.n > 1 && *parts.items[1]) || (parts.n > 2 && *parts.items[2]);
    if (parts.n > 1 && *parts.items[1])
        ret->asks.host = parts.items[1];
    if (parts.n > 2 && *parts.items[2])
        ret->asks.node = parts.items[2];
    return 0;
}

void server_take_destination(const struct cloud *c, struct request *ret)
{
    const json_t *destination = json_object_get(c->lists, "requested_destination");

    ret->destination = destination;
    if (!json_is_true(json_object_get(destination, "allow_cross_cell_move")))
        ret->cell = cloud_text(destination, "cell");
}

int server_need_project(const struct cloud *c, const struct request *r, const char *what)
{
    return r->project || !r->is_new
               ? 0
               : err_set(c->err, -EINVAL,
                         "%s/tenant_id: missing, expected the project, by which %s decides (or "
                         "project_id beside the request)",
                         r->where, what);
}

/* ---- where servers are ---- */

static bool has_status(const json_t *server, const char *status)
{
    const char *is = cloud_text(server, "status");

    return is && strcmp(is, status) == 0;
}

bool server_is_deleted(const json_t *server)
{
    return has_status(server, "DELETED");
}

bool server_is_on(const json_t *server)
{
    const char *status = cloud_text(server, "status");

    return !status || strcmp(status, "ACTIVE") == 0;
}

/* Nova frees what these took, and counts what all others have, also those in the status ERROR. */
static bool takes(const json_t *server)
{
    return !server_is_deleted(server) && !has_status(server, "SHELVED_OFFLOADED");
}

const char *server_node(const struct cloud *c, const json_t *server)
{
    const char *node = cloud_text(server, NODE_OF);
    const char *host = cloud_text(server, HOST_OF);
    const json_t *nodes = host ? json_object_get(c->nodes, host) : NULL;

    if (!takes(server))
        return NULL;
    if (node && json_array_size(nodes) != 1)
        return node;
    return json_string_value(json_array_get(nodes, 0));
}

/* A hypervisor has the host and the node. */
static int check_host(const struct cloud *c, const json_t *server, size_t ix, const json_t *known)
{
    const char *host = cloud_text(server, HOST_OF);
    const char *node = server_node(c, server);

    if (host && !json_object_get(c->nodes, host))
        return err_set(c->err, -EINVAL, "/servers/%zu/" HOST_OF ": \"%s\" is the host of none of hypervisors",
                       ix, host);
    return !node || json_object_get(known, node)
               ? 0
               : err_set(c->err, -EINVAL, "/servers/%zu/" NODE_OF ": \"%s\" is none of hypervisors", ix,
                         node);
}

int servers_count(struct cloud *c)
{
    size_t i;
    const json_t *server;
    json_t *known = json_object();
    int e = 0;

    json_array_foreach(c->states, i, server)
    {
        (void)json_object_set_new(known, json_string_value(json_object_get(server, "nodename")), json_true());
    }
    json_array_foreach(json_object_get(c->lists, "servers"), i, server)
    {
        const char *node = server_node(c, server);
        const char *id = json_string_value(json_object_get(server, "id"));
        json_t *host = json_object_get(server, HOST_OF);

        if (e == 0 && takes(server))
            e = check_host(c, server, i, known);
        if (id && host && node)
            (void)json_object_set(c->host_of, id, host);
        if (node)
            (void)json_object_set_new(
                c->servers_at, node,
                json_integer(json_integer_value(json_object_get(c->servers_at, node)) + 1));
    }
    json_decref(known);
    return e;
}

/* ---- VMs ---- */

json_t *server_vm(const struct server *s, const char *id, const char *name)
{
    json_t *vm = json_pack("{s: s, s: O, s: O, s: s*}", "id", id, "vcpus",
                           json_object_get(s->asks.flavor_json, "vcpus"), "mem_mb",
                           json_object_get(s->asks.flavor_json, "ram"), "owner", s->asks.project);

    if (name)
        (void)json_object_set_new(vm, "name", json_string(name));
    (void)json_object_update(vm, s->asks.vm);
    return vm;
}

/* The load by GET /servers/ID/diagnostics, of version 2.48 of the API: percent of each vCPU, and MiB. */
void server_set_demand(const json_t *server, json_t *vm)
{
    const json_t *diagnostics = json_object_get(server, "diagnostics");
    const json_t *used = json_object_get(json_object_get(diagnostics, "memory_details"), "used");
    double percent = 0;
    bool known = false;
    size_t i;
    const json_t *cpu;

    json_array_foreach(json_object_get(diagnostics, "cpu_details"), i, cpu)
    {
        const json_t *of = json_object_get(cpu, "utilisation");
        known = known || json_is_number(of);
        percent += json_number_value(of);
    }
    if (known)
        (void)json_object_set_new(vm, "cpu", json_pack("{s: f}", "demand", percent / 100 * MHZ_OF_CORE));
    else
        (void)json_object_set_new(vm, "demand_unknown", json_true());
    if (json_is_number(used))
        (void)json_object_set_new(vm, "mem", json_pack("{s: O}", "demand", used));
}
