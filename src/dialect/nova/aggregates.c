/* aggregates.c: the filters that read the metadata of a host's aggregates. */
#include "dialect/nova/internal.h"

#include <string.h>

#define EXTRA_SPECS_SCOPE "aggregate_instance_extra_specs:"
#define TENANTS "filter_tenant_id"
#define TYPES "instance_type"
#define ZONE "availability_zone"

static const char *meta(const struct cloud *c, const char *key)
{
    return arena_printf(c->a, META "%s", key);
}

/* Whether an aggregate of the host has the key. */
static json_t *some_given(const struct cloud *c, const char *key)
{
    return json_pack("[s, s, [s, s]]", "any_group", AGGREGATE, "given", meta(c, key));
}

/* Whether one of the texts is among the values, between commas, that the host's aggregates have for the key.
 */
static json_t *some_value(const struct cloud *c, const char *key, const struct words *texts)
{
    json_t *of = json_pack("[s, s]", "split", meta(c, key));

    if (texts->n == 0) {
        json_decref(of);
        return json_false();
    }
    return json_pack("[s, s, o]", "any_group", AGGREGATE, nova_expression_in(of, texts, c->a));
}

/* The same; a host without the key passes. */
static json_t *some_value_if_given(const struct cloud *c, const char *key, const char *text)
{
    struct words texts = {0};

    nova_words_add(&texts, text, c->a);
    return json_pack("[s, [s, o], o]", "or", "not", some_given(c, key), some_value(c, key, &texts));
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

int nova_filter_extra_specs(struct cloud *c, const struct request *r, json_t **ret)
{
    json_t *all = json_pack("[s]", "and");
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)r->extra_specs, key, value)
    {
        const char *requirement = nova_python_str(value, c->a);

        if (strchr(key, ':') && strncmp(key, EXTRA_SPECS_SCOPE, strlen(EXTRA_SPECS_SCOPE)) != 0)
            continue;
        const char *name = strchr(key, ':') ? strchr(key, ':') + 1 : key;
        struct words values = matching_values(c, name, requirement ? requirement : "");

        (void)json_array_append_new(all, some_value(c, name, &values));
    }
    *ret = all;
    return 0;
}

int nova_filter_image_isolation(struct cloud *c, const struct request *r, json_t **ret)
{
    const char *name_space =
        conf_text(c, "filter_scheduler", "aggregate_image_properties_isolation_namespace");
    const char *separator =
        conf_text(c, "filter_scheduler", "aggregate_image_properties_isolation_separator");
    const char *prefix =
        arena_printf(c->a, "%s%s", name_space ? name_space : "", separator ? separator : ".");
    const char *key;
    json_t *value;

    *ret = json_pack("[s]", "and");
    json_object_foreach((json_t *)r->image, key, value)
    {
        const char *text = json_string_value(value);

        if (name_space && *name_space && strncmp(key, prefix, strlen(prefix)) != 0)
            continue;
        (void)json_array_append_new(*ret, some_value_if_given(c, key, text));
    }
    return 0;
}

int nova_filter_tenants(struct cloud *c, const struct request *r, json_t **ret)
{
    *ret = r->project ? some_value_if_given(c, TENANTS, r->project)
                      : json_pack("[s, o]", "not", some_given(c, TENANTS));
    return 0;
}

int nova_filter_type(struct cloud *c, const struct request *r, json_t **ret)
{
    *ret = some_value_if_given(c, TYPES, r->flavor);
    return 0;
}

int nova_filter_zone(struct cloud *c, const struct request *r, json_t **ret)
{
    const char *zone = conf_text(c, "DEFAULT", "default_availability_zone");
    struct words wanted = {0};

    if (!r->zone || !*r->zone)
        return 0;
    nova_words_add(&wanted, r->zone, c->a);
    *ret = strcmp(r->zone, zone ? zone : "nova") == 0 ? some_value_if_given(c, ZONE, r->zone)
                                                      : some_value(c, ZONE, &wanted);
    return 0;
}
