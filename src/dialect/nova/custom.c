/* custom.c: filters and weighers of the user's own: stages that ask an external unit of the class's name, and
 * what such a class reads of hosts and requests. units/python hosts the class. */
#include "dialect/nova/internal.h"

#include <ballast/facts.h>

#include <stdint.h>
#include <string.h>

#define OWN "nova:" /* before the names of what classes read: no filter of Nova's uses such */

/* Texts of a snapshot are short: what does not fit, such as cpu_info, a class finds as None. */
static bool fits(const json_t *value)
{
    const char *text = json_string_value(value);

    return json_is_boolean(value) || json_is_number(value) || (text && strlen(text) <= FACT_NAME_BYTES_MAX);
}

static bool name_fits(const char *name)
{
    return *name && strlen(name) <= FACT_NAME_BYTES_MAX;
}

/* ---- hosts ---- */

static void set_host(struct cloud *c, size_t host, const char *kind, const char *name, const json_t *value)
{
    const char *full = arena_printf(c->a, OWN "%s%s", kind, name);

    if (name_fits(full) && fits(value))
        host_set(c, host, full, json_deep_copy(value));
}

static void set_supported(struct cloud *c, size_t host, const json_t *supported)
{
    json_t *texts = json_array();
    size_t i;
    const json_t *one;

    json_array_foreach(supported, i, one)
    {
        const char *architecture = json_string_value(json_array_get(one, 0));
        const char *type = json_string_value(json_array_get(one, 1));
        const char *mode = json_string_value(json_array_get(one, 2));

        if (architecture && type && mode && i < ATTRIBUTE_TEXTS_MAX)
            (void)json_array_append_new(texts, json_sprintf("%s,%s,%s", architecture, type, mode));
    }
    host_set(c, host, OWN "supported_instances", texts);
}

static void set_hosts(struct cloud *c)
{
    size_t h;
    json_t *state;
    const char *name;
    json_t *value;
    size_t i;

    if (cloud_found(c, "custom"))
        return;
    (void)cloud_keep(c, "custom", json_true());
    json_array_foreach(c->states, h, state)
    {
        const json_t *hypervisor = json_array_get(json_object_get(c->lists, "hypervisors"), h);

        json_object_foreach(state, name, value)
        {
            set_host(c, h, "", name, value);
        }
        json_object_foreach(json_object_get(state, "stats"), name, value)
        {
            set_host(c, h, "stats:", name, value);
        }
        json_array_foreach(json_object_get(state, "metrics"), i, value)
        {
            const char *metric = json_string_value(json_object_get(value, "name"));
            const json_t *of = json_object_get(value, "value");
            const char *full = arena_printf(c->a, OWN "metrics:%s", metric ? metric : "");

            if (metric && json_is_number(of) && name_fits(full))
                host_set(c, h, full, json_real(weighers_metric_value(metric, of)));
        }
        set_supported(c, h, json_object_get(state, "supported_instances"));
        set_host(c, h, "", "service_status", json_object_get(hypervisor, "status"));
        set_host(c, h, "", "service_state", json_object_get(hypervisor, "state"));
    }
}

/* ---- requests ---- */

static void set_vm(struct cloud *c, const struct request *r, const char *object, const char *kind,
                   const char *name, const json_t *value)
{
    const char *full = arena_printf(c->a, OWN "%s%s", kind, name);

    if (name_fits(full) && (fits(value) || (json_is_array(value) && json_array_size(value) > 0)))
        (void)vm_set(c, r, object, full, json_deep_copy(value));
}

static void set_flavor(struct cloud *c, const struct request *r)
{
    static const char *const fields[][2] = {{"vcpus", "vcpus"},
                                            {"ram", "memory_mb"},
                                            {"disk", "root_gb"},
                                            {"OS-FLV-EXT-DATA:ephemeral", "ephemeral_gb"},
                                            {"ephemeral", "ephemeral_gb"},
                                            {"swap", "swap"},
                                            {"id", "flavorid"}};
    const char *name;
    json_t *value;

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        set_vm(c, r, "flavor", "", fields[i][1], json_object_get(r->flavor_json, fields[i][0]));
    (void)vm_set(c, r, "flavor", OWN "name", json_string(r->flavor));
    json_object_foreach((json_t *)(uintptr_t)r->extra_specs, name, value)
    {
        set_vm(c, r, "flavor", "extra_specs:", name, value);
    }
}

static void set_request(struct cloud *c, const struct request *r)
{
    const char *name;
    json_t *value;

    set_flavor(c, r);
    if (r->image_json)
        set_vm(c, r, "image", "", "id", json_object_get(r->image_json, "id"));
    json_object_foreach((json_t *)(uintptr_t)r->image, name, value)
    {
        set_vm(c, r, "image", "", name, value);
    }
    json_object_foreach((json_t *)(uintptr_t)r->hints, name, value)
    {
        set_vm(c, r, "hints", "", name, value);
    }
    if (r->project)
        (void)vm_set(c, r, "hints", OWN "project_id", json_string(r->project));
    if (r->zone)
        (void)vm_set(c, r, "hints", OWN "availability_zone", json_string(r->zone));
    if (r->group) {
        set_vm(c, r, "hints", "server_group:", "id", json_object_get(r->group, "id"));
        set_vm(c, r, "hints", "server_group:", "policy", json_object_get(r->group, "policy"));
    }
}

/* ---- stages ---- */

const char *custom_class(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot && strncmp(path, "nova.", strlen("nova.")) != 0 && dot[1] ? dot + 1 : NULL;
}

json_t *custom_filter(struct cloud *c, const struct request *r, const char *class)
{
    set_hosts(c);
    set_request(c, r);
    return json_pack("{s: s, s: s}", "external", class, "filter", "$answer");
}

json_t *custom_weigher(struct cloud *c, const struct request *r, const char *class)
{
    set_hosts(c);
    set_request(c, r);
    return json_pack("{s: s, s: s, s: s}", "external", class, "score", "$answer", "multiplier",
                     "$answer.multiplier");
}
