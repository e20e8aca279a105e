/* aggregates.c: aggregates as groups, and the filters that read the metadata of a host's aggregates. */
#include "dialect/nova/internal.h"

#include <ballast/expression.h>

#include <errno.h>
#include <string.h>

#define EXTRA_SPECS_SCOPE "aggregate_instance_extra_specs:"
#define TENANTS "filter_tenant_id"
#define TYPES "instance_type"
#define ZONE "availability_zone"
#define ZONE_VARIABLE "$vm.hints." ZONE
#define SPEC_VALUES "agrees:" /* the values that agree with an extra spec */
#define KEYS_MAX 32           /* in one condition for all VMs */

/* ---- reading ---- */

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
    const char *zone = cloud_text(aggregate, "availability_zone");
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

/* The nodes of the compute services of an aggregate. */
static int nodes_of(const struct cloud *c, const json_t *hosts, size_t aggregate, json_t *ret)
{
    size_t i;
    const json_t *host;

    json_array_foreach(hosts, i, host)
    {
        const char *name = json_string_value(host);

        if (!name || !json_object_get(c->nodes, name))
            return err_set(c->err, -EINVAL,
                           "/aggregates/%zu/hosts/%zu: \"%s\" is the host of none of hypervisors", aggregate,
                           i, name ? name : "");
        (void)json_array_extend(ret, json_object_get(c->nodes, name));
    }
    return 0;
}

int aggregates_read(struct cloud *c, json_t *groups)
{
    size_t i;
    const json_t *aggregate;

    json_array_foreach(json_object_get(c->lists, "aggregates"), i, aggregate)
    {
        const char *id = nova_python_str(json_object_get(aggregate, "id"), c->a);
        const char *name = cloud_text(aggregate, "name");
        json_t *metadata = metadata_of(c, aggregate);

        (void)json_array_append_new(c->metadata, metadata);
        if (!id || !*id)
            return err_set(c->err, -EINVAL, "/aggregates/%zu/id: missing, expected a number or a text", i);
        json_t *nodes = json_array();
        int e = nodes_of(c, json_object_get(aggregate, "hosts"), i, nodes);

        (void)json_array_append_new(groups, json_pack("{s: s, s: s, s: s, s: o, s: O}", "id", id, "name",
                                                      name ? name : id, "kind", AGGREGATE, "hosts", nodes,
                                                      "meta", metadata));
        if (e < 0)
            return e;
    }
    return 0;
}

/* ---- metadata of a host ---- */

static const char *meta(const struct cloud *c, const char *key)
{
    return arena_printf(c->a, META "%s", key);
}

/* Whether an aggregate of the host has the key. */
static json_t *some_given(const struct cloud *c, const char *key)
{
    return json_pack("[s, s, [s, s]]", "any_group", AGGREGATE, "given", meta(c, key));
}

/* Whether a value of the operand is among the values, between commas, that the host's aggregates have for the
 * key. Takes the operand. */
static json_t *some_value(const struct cloud *c, const char *key, json_t *operand)
{
    return json_pack("[s, s, [s, o, [s, s]]]", "any_group", AGGREGATE, "in", operand, "split", meta(c, key));
}

/* The same; a host without the key passes. */
static json_t *some_value_if_given(const struct cloud *c, const char *key, const char *variable)
{
    return json_pack("[s, [s, o], o]", "or", "not", some_given(c, key),
                     some_value(c, key, json_string(variable)));
}

static bool any_aggregate_has(const struct cloud *c, const char *key)
{
    size_t i;
    const json_t *metadata;

    json_array_foreach(c->metadata, i, metadata)
    {
        if (json_object_get(metadata, key))
            return true;
    }
    return false;
}

/* The values of the key in any aggregate that agree with the requirement. */
static struct words matching_values(const struct cloud *c, const char *key, const char *requirement)
{
    struct words ret = {0};
    size_t i;
    const json_t *metadata;

    json_array_foreach(c->metadata, i, metadata)
    {
        const char *text = json_string_value(json_object_get(metadata, key));
        struct words parts = text ? nova_parts_split(text, ',', c->a) : (struct words){0};

        for (size_t p = 0; p < parts.n; p++)
            if (!nova_words_have(&ret, parts.items[p]) &&
                extra_spec_matches(parts.items[p], requirement, c->a))
                nova_words_add(&ret, parts.items[p], c->a);
    }
    return ret;
}

/* The name of the key in the metadata; NULL: of another scope. */
static const char *spec_name(const char *key)
{
    const char *colon = strchr(key, ':');

    if (!colon)
        return key;
    return strncmp(key, EXTRA_SPECS_SCOPE, strlen(EXTRA_SPECS_SCOPE)) == 0 ? colon + 1 : NULL;
}

/* The values that agree, as a value of the VM; false in *ret_is: they are too many for that. */
static const char *set_spec(struct cloud *c, const struct request *r, const char *key,
                            const struct words *values, bool *ret_is)
{
    json_t *list = json_array();

    *ret_is = values->n <= ATTRIBUTE_TEXTS_MAX;
    for (size_t i = 0; *ret_is && i < values->n; i++)
        (void)json_array_append_new(list, json_string(values->items[i]));
    if (*ret_is)
        (void)vm_set(c, r, "flavor", arena_printf(c->a, SPEC_VALUES "%s", key), json_incref(list));
    json_decref(list);
    return arena_printf(c->a, "$vm.flavor." SPEC_VALUES "%s", key);
}

/* One condition for all VMs: of each key that a flavour of the cloud has. */
static void add_specs_of_all(const struct cloud *c, json_t *all)
{
    const char *const start = "$vm.flavor." SPEC_VALUES;
    const char *variable;
    json_t *value;

    json_object_foreach(c->given, variable, value)
    {
        if (strncmp(variable, start, strlen(start)) == 0)
            (void)json_array_append_new(
                all, vm_unless_given(variable, some_value(c, spec_name(variable + strlen(start)),
                                                          json_string(variable))));
    }
}

static size_t n_specs_of_all(const struct cloud *c)
{
    const char *const start = "$vm.flavor." SPEC_VALUES;
    const char *variable;
    json_t *value;
    size_t n = 0;

    json_object_foreach(c->given, variable, value)
    {
        n += strncmp(variable, start, strlen(start)) == 0;
    }
    return n;
}

static void append_operands(json_t *to, const json_t *of)
{
    for (size_t i = 1; i < json_array_size(of); i++)
        (void)json_array_append(to, json_array_get(of, i));
}

int nova_filter_extra_specs(struct cloud *c, const struct request *r, json_t **ret)
{
    const char *key;
    json_t *value;
    bool is_value;

    *ret = json_pack("[s]", "and");
    json_t *own = json_pack("[s]", "and");

    json_object_foreach((json_t *)r->extra_specs, key, value)
    {
        const char *requirement = nova_python_str(value, c->a);
        const char *name = spec_name(key);

        if (!name)
            continue;
        struct words values = matching_values(c, name, requirement ? requirement : "");
        const char *variable = set_spec(c, r, key, &values, &is_value);

        if (is_value)
            (void)json_array_append_new(own, some_value(c, name, json_string(variable)));
        else
            (void)json_array_append_new(
                *ret,
                json_pack("[s, s, o]", "any_group", AGGREGATE,
                          nova_expression_in(json_pack("[s, s]", "split", meta(c, name)), &values, c->a)));
    }
    if (n_specs_of_all(c) <= KEYS_MAX)
        add_specs_of_all(c, *ret);
    else
        append_operands(*ret, own);
    json_decref(own);
    return 0;
}

/* Whether image properties of the key take part. */
static const char *isolation_prefix(const struct cloud *c)
{
    const char *name_space =
        conf_text(c, "filter_scheduler", "aggregate_image_properties_isolation_namespace");
    const char *separator =
        conf_text(c, "filter_scheduler", "aggregate_image_properties_isolation_separator");

    return name_space && *name_space ? arena_printf(c->a, "%s%s", name_space, separator ? separator : ".")
                                     : "";
}

int nova_filter_image_isolation(struct cloud *c, const struct request *r, json_t **ret)
{
    const char *const start = "$vm.image.";
    const char *prefix = isolation_prefix(c);
    const char *key;
    json_t *value;

    *ret = json_pack("[s]", "and");
    json_object_foreach((json_t *)r->image, key, value)
    {
        if (strncmp(key, prefix, strlen(prefix)) == 0 && any_aggregate_has(c, key))
            (void)vm_set(c, r, "image", key, json_incref(value));
    }
    json_object_foreach(c->given, key, value)
    {
        if (strncmp(key, start, strlen(start)) == 0)
            (void)json_array_append_new(
                *ret, vm_unless_given(key, some_value_if_given(c, key + strlen(start), key)));
    }
    return 0;
}

int nova_filter_tenants(struct cloud *c, const struct request *r, json_t **ret)
{
    bool any = any_aggregate_has(c, TENANTS);
    int e = any ? server_need_project(c, r, "AggregateMultiTenancyIsolation") : 0;

    if (any && e == 0)
        *ret = some_value_if_given(c, TENANTS, "$vm.owner");
    return e;
}

int nova_filter_type(struct cloud *c, const struct request *r, json_t **ret)
{
    if (any_aggregate_has(c, TYPES))
        *ret = some_value_if_given(c, TYPES, vm_set(c, r, "flavor", "name", json_string(r->flavor)));
    return 0;
}

/* A host in no zone is in the default one. */
int nova_filter_zone(struct cloud *c, const struct request *r, json_t **ret)
{
    const char *zone = conf_text(c, "DEFAULT", "default_availability_zone");

    if (r->zone && *r->zone)
        (void)vm_set(c, r, "hints", ZONE, json_string(r->zone));
    if (!vm_given(c, ZONE_VARIABLE))
        return 0;
    *ret = vm_unless_given(
        ZONE_VARIABLE, json_pack("[s, o, [s, [s, s, s], [s, o]]]", "or",
                                 some_value(c, ZONE, json_string(ZONE_VARIABLE)), "and", "=", ZONE_VARIABLE,
                                 nova_constant(zone ? zone : "nova", c->a), "not", some_given(c, ZONE)));
    return 0;
}
