/* filters.c: Nova's filters by name, and those that take one comparison. */
#include "dialect/nova/internal.h"

#include <string.h>

#define FILTERS "filter_scheduler"
#define IO_OPS_DEFAULT 8
#define INSTANCES_DEFAULT 50

static int filter_all_hosts(struct cloud *c, const struct request *r, json_t **ret)
{
    (void)c;
    (void)r;
    (void)ret;
    return 0;
}

/* ---- ComputeFilter ---- */

static int filter_compute(struct cloud *c, const struct request *r, json_t **ret)
{
    size_t i;
    const json_t *hypervisor;

    (void)r;
    json_array_foreach(json_object_get(c->lists, "hypervisors"), i, hypervisor)
    {
        const char *status = json_string_value(json_object_get(hypervisor, "status"));
        const char *state = json_string_value(json_object_get(hypervisor, "state"));
        host_set(c, i, "service_status", json_string(status ? status : "enabled"));
        host_set(c, i, "service_state", json_string(state ? state : "up"));
    }
    *ret = json_pack("[s, [s, s, s], [s, s, s]]", "and", "=", ATTRIBUTE "service_status", "enabled", "=",
                     ATTRIBUTE "service_state", "up");
    return 0;
}

/* ---- counts ---- */

static void set_count(struct cloud *c, const char *name)
{
    size_t i;
    json_t *state;

    json_array_foreach(c->states, i, state)
    {
        host_set(c, i, name, json_copy(json_object_get(state, name)));
    }
}

/* Less than the limit of the configuration. */
static int count_below(struct cloud *c, const char *count, const char *option, json_int_t fallback,
                       json_t **ret)
{
    json_int_t limit;
    int e = conf_whole(c, FILTERS, option, fallback, &limit);

    if (e < 0)
        return e;
    set_count(c, count);
    *ret = json_pack("[s, s, I]", "<", arena_printf(c->a, ATTRIBUTE "%s", count), limit);
    return 0;
}

/* The values of the key that are no whole numbers: with one of them the limit of the configuration holds. */
static struct words no_numbers(const struct cloud *c, const char *key)
{
    struct words ret = {0};
    size_t i;
    const json_t *metadata;
    json_int_t whole;

    json_array_foreach(c->metadata, i, metadata)
    {
        const char *text = json_string_value(json_object_get(metadata, key));
        if (text && !nova_python_int(text, c->a, &whole) && !nova_words_have(&ret, text))
            nova_words_add(&ret, text, c->a);
    }
    return ret;
}

/* Less than the least limit of the host's aggregates. */
static int count_below_aggregates(struct cloud *c, const char *count, const char *option, json_int_t fallback,
                                  json_t **ret)
{
    const char *key = arena_printf(c->a, META "%s", option);
    struct words wrong = no_numbers(c, option);
    json_t *below;
    int e = count_below(c, count, option, fallback, &below);

    if (e < 0)
        return e;
    json_t *general = json_array_get(below, 2);
    json_t *limit =
        json_pack("[s, [s, s, [s, s]], O]", "default", "least_of_groups", AGGREGATE, "number", key, general);

    if (wrong.n > 0)
        limit = json_pack("[s, [s, s, o], O, o]", "if", "any_group", AGGREGATE,
                          nova_expression_in(json_string(key), &wrong, c->a), general, limit);
    (void)json_array_set_new(below, 2, limit);
    *ret = below;
    return 0;
}

static int filter_io_ops(struct cloud *c, const struct request *r, json_t **ret)
{
    (void)r;
    return count_below(c, "num_io_ops", "max_io_ops_per_host", IO_OPS_DEFAULT, ret);
}

static int filter_aggregate_io_ops(struct cloud *c, const struct request *r, json_t **ret)
{
    (void)r;
    return count_below_aggregates(c, "num_io_ops", "max_io_ops_per_host", IO_OPS_DEFAULT, ret);
}

static int filter_num_instances(struct cloud *c, const struct request *r, json_t **ret)
{
    (void)r;
    return count_below(c, "num_instances", "max_instances_per_host", INSTANCES_DEFAULT, ret);
}

static int filter_aggregate_num_instances(struct cloud *c, const struct request *r, json_t **ret)
{
    (void)r;
    return count_below_aggregates(c, "num_instances", "max_instances_per_host", INSTANCES_DEFAULT, ret);
}

/* ---- MetricsFilter ---- */

static void set_metrics(struct cloud *c)
{
    size_t h;
    size_t i;
    const json_t *state;
    const json_t *metric;

    json_array_foreach(c->states, h, state)
    {
        json_t *names = json_array();

        json_array_foreach(json_object_get(state, "metrics"), i, metric)
        {
            if (json_is_string(json_object_get(metric, "name")))
                (void)json_array_append(names, json_object_get(metric, "name"));
        }
        host_set(c, h, "metrics", names);
    }
}

static int filter_metrics(struct cloud *c, const struct request *r, json_t **ret)
{
    struct words settings = conf_list(c, "metrics", "weight_setting", "");
    struct words names = {0};
    double weight;

    (void)r;
    *ret = json_pack("[s]", "and");
    set_metrics(c);
    for (size_t i = 0; i < settings.n; i++) { /* "name=2.5"; an entry without a weight is skipped */
        const char *equals = strchr(settings.items[i], '=');
        struct words one = {0};

        if (!equals || strchr(equals + 1, '=') || !nova_python_float(equals + 1, c->a, &weight))
            continue;
        nova_words_add(&one, arena_strndup(c->a, settings.items[i], (size_t)(equals - settings.items[i])),
                       c->a);
        if (!nova_words_have(&names, one.items[0]))
            (void)json_array_append_new(*ret,
                                        nova_expression_in(json_string(ATTRIBUTE "metrics"), &one, c->a));
        nova_words_add(&names, one.items[0], c->a);
    }
    return 0;
}

/* ---- by name ---- */

static const struct filter filters[] = {
    {"AggregateImagePropertiesIsolation", nova_filter_image_isolation, false},
    {"AggregateInstanceExtraSpecsFilter", nova_filter_extra_specs, false},
    {"AggregateIoOpsFilter", filter_aggregate_io_ops, false},
    {"AggregateMultiTenancyIsolation", nova_filter_tenants, false},
    {"AggregateNumInstancesFilter", filter_aggregate_num_instances, true},
    {"AggregateTypeAffinityFilter", nova_filter_type, false},
    {"AllHostsFilter", filter_all_hosts, false},
    {"AvailabilityZoneFilter", nova_filter_zone, false},
    {"ComputeCapabilitiesFilter", nova_filter_capabilities, false},
    {"ComputeFilter", filter_compute, false},
    {"DifferentHostFilter", nova_filter_different_host, false},
    {"ImagePropertiesFilter", nova_filter_image, false},
    {"IoOpsFilter", filter_io_ops, false},
    {"IsolatedHostsFilter", nova_filter_isolated_hosts, false},
    {"JsonFilter", nova_filter_json, false},
    {"MetricsFilter", filter_metrics, false},
    {"NumInstancesFilter", filter_num_instances, true},
    {"SameHostFilter", nova_filter_same_host, false},
    {"ServerGroupAffinityFilter", nova_filter_affinity, true},
    {"ServerGroupAntiAffinityFilter", nova_filter_anti_affinity, true},
    {"SimpleCIDRAffinityFilter", nova_filter_cidr, false},
};

const struct filter *filter_find(const char *name)
{
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        if (strcmp(filters[i].name, name) == 0)
            return &filters[i];
    return NULL;
}
