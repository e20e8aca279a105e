/* servers.c: servers as the API lists them and as a request asks for them, and the VMs that they become. */
#include "dialect/nova/internal.h"

#include <errno.h>
#include <string.h>

/* ---- reading ---- */

static int read_flavor(const struct cloud *c, struct server *s, const char *where)
{
    const json_t *embedded = json_object_get(s->json, "flavor");
    const char *ref = cloud_text(s->json, "flavorRef");
    const json_t *flavor;

    ref = ref ? ref : cloud_text(embedded, "id");
    flavor = json_object_get(embedded, "vcpus") ? embedded : cloud_find(c, "flavors", "id", ref);
    if (!flavor && ref)
        flavor = cloud_find(c, "flavors", "name", ref);
    if (!json_is_integer(json_object_get(flavor, "vcpus")) ||
        !json_is_integer(json_object_get(flavor, "ram")))
        return err_set(c->err, -EINVAL, "%s: flavor \"%s\" is not in flavors with its vcpus and ram", where,
                       ref ? ref : "");
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

    s->asks.image_id = id ? id : cloud_text(s->json, "imageRef");
    s->asks.image_json = cloud_find(c, "images", "id", s->asks.image_id);
    if (!id && s->asks.image_id && !s->asks.image_json && json_object_get(c->lists, "images"))
        return err_set(c->err, -EINVAL, "server/imageRef: \"%s\" is not in images", s->asks.image_id);
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

    *ret = (struct server){.json = json, .asks = {.hints = hints}};
    ret->asks.id = cloud_text(json, "id") ? cloud_text(json, "id") : NOVA_REQUEST_ID;
    ret->asks.project =
        cloud_text(json, "tenant_id") ? cloud_text(json, "tenant_id") : cloud_text(json, "project_id");
    ret->asks.group =
        group ? cloud_find(c, "server_groups", "id", group) : json_object_get(c->groups, ret->asks.id);
    if (hints && json_object_get(hints, "group") && !group)
        return err_set(c->err, -EINVAL, "os:scheduler_hints/group: expected the id of a server group");
    if (group && !ret->asks.group)
        return err_set(c->err, -EINVAL, "os:scheduler_hints/group: \"%s\" is not in server_groups", group);
    int e = read_flavor(c, ret, where);

    return e < 0 ? e : read_image(c, ret);
}

int server_read_destination(const struct cloud *c, const json_t *json, struct server *ret)
{
    const char *zone = cloud_text(json, "availability_zone");
    struct words parts = zone ? nova_parts_split(zone, ':', c->a) : (struct words){0};

    if (parts.n > 3)
        return err_set(c->err, -EINVAL,
                       "server/availability_zone: \"%s\", expected ZONE, ZONE:HOST or ZONE:HOST:NODE", zone);
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

/* ---- where servers are ---- */

bool server_is_on(const json_t *server)
{
    const char *status = cloud_text(server, "status");

    return !status || strcmp(status, "ACTIVE") == 0;
}

const char *server_node(const struct cloud *c, const json_t *server)
{
    const char *node = cloud_text(server, "OS-EXT-SRV-ATTR:hypervisor_hostname");
    const char *host = cloud_text(server, "OS-EXT-SRV-ATTR:host");
    const json_t *nodes = host ? json_object_get(c->nodes, host) : NULL;

    if (node && json_array_size(nodes) != 1)
        return node;
    return json_string_value(json_array_get(nodes, 0));
}

void servers_count(struct cloud *c)
{
    size_t i;
    const json_t *server;

    json_array_foreach(json_object_get(c->lists, "servers"), i, server)
    {
        const char *node = server_node(c, server);
        const char *id = json_string_value(json_object_get(server, "id"));
        json_t *host = json_object_get(server, "OS-EXT-SRV-ATTR:host");

        if (id && host)
            (void)json_object_set(c->host_of, id, host);
        if (node)
            (void)json_object_set_new(
                c->servers_at, node,
                json_integer(json_integer_value(json_object_get(c->servers_at, node)) + 1));
    }
}

/* ---- VMs ---- */

json_t *server_vm(const struct server *s, const char *id)
{
    json_t *vm = json_pack("{s: s, s: O, s: O, s: s*}", "id", id, "vcpus",
                           json_object_get(s->asks.flavor_json, "vcpus"), "mem_mb",
                           json_object_get(s->asks.flavor_json, "ram"), "owner", s->asks.project);
    const char *name = cloud_text(s->json, "name");

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
