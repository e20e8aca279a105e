/* filters.c: Nova's filters by name, and those that take one comparison. */
#include "dialect/nova/internal.h"

#include <errno.h>
#include <string.h>

#define FILTERS "filter_scheduler"
#define IO_OPS_DEFAULT 8
#define INSTANCES_DEFAULT 50
#define ALL_FILTERS "nova.scheduler.filters.all_filters"

static int filter_all_hosts(struct cloud *c, const struct request *r, json_t **ret)
{
    (void)c;
    (void)r;
    (void)ret;
    return 0;
}

/* ---- ComputeFilter ---- */

static void set_services(struct cloud *c)
{
    size_t i;
    const json_t *hypervisor;

    if (!cloud_first(c, "services"))
        return;
    json_array_foreach(json_object_get(c->lists, "hypervisors"), i, hypervisor)
    {
        const char *status = json_string_value(json_object_get(hypervisor, "status"));
        const char *state = json_string_value(json_object_get(hypervisor, "state"));
        host_set(c, i, "service_status", json_string(status ? status : "enabled"));
        host_set(c, i, "service_state", json_string(state ? state : "up"));
    }
}

static int filter_compute(struct cloud *c, const struct request *r, json_t **ret)
{
    (void)r;
    set_services(c);
    *ret = json_pack("[s, [s, s, s], [s, s, s]]", "and", "=", ATTRIBUTE "service_status", "enabled", "=",
                     ATTRIBUTE "service_state", "up");
    return 0;
}

/* ---- counts ---- */

static void set_count(struct cloud *c, const char *name)
{
    size_t i;
    json_t *state;

    if (!cloud_first(c, name))
        return;
    json_array_foreach(c->states, i, state)
    {
        host_set(c, i, name, json_copy(json_object_get(state, name)));
    }
}

/* The limit of the configuration. */
static int limit_of(struct cloud *c, const char *option, json_int_t fallback, json_t **ret)
{
    json_int_t limit;
    int e = conf_whole(c, FILTERS, option, fallback, &limit);

    if (e == 0)
        *ret = json_integer(limit);
    return e;
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

/* The least limit of the host's aggregates, else that of the configuration. */
static int limit_of_aggregates(struct cloud *c, const char *option, json_int_t fallback, json_t **ret)
{
    const char *key = arena_printf(c->a, META "%s", option);
    struct words wrong = no_numbers(c, option);
    json_t *general = NULL;
    int e = limit_of(c, option, fallback, &general);

    if (e < 0)
        return e;
    *ret =
        json_pack("[s, [s, s, [s, s]], O]", "default", "least_of_groups", AGGREGATE, "number", key, general);
    if (wrong.n > 0)
        *ret = json_pack("[s, [s, s, o], O, o]", "if", "any_group", AGGREGATE,
                         nova_expression_in(json_string(key), &wrong, c->a), general, *ret);
    json_decref(general);
    return 0;
}

typedef int find_limit(struct cloud *c, const char *option, json_int_t fallback, json_t **ret);

/* Operations are of this moment: fewer than the limit. */
static int io_ops_below(struct cloud *c, find_limit *limit_by, json_t **ret)
{
    json_t *limit = NULL;
    int e = limit_by(c, "max_io_ops_per_host", IO_OPS_DEFAULT, &limit);

    if (e < 0)
        return e;
    set_count(c, "num_io_ops");
    *ret = json_pack("[s, s, o]", "<", ATTRIBUTE "num_io_ops", limit);
    return 0;
}

/* Each server of a request for many is an operation for those after it. */
static int io_ops_of_many(struct cloud *c, const struct request *r, find_limit *limit_by, json_t **ret)
{
    json_t *limit = NULL;

    if (r->of_many)
        (void)vm_set(c, r, "hints", "builds", json_integer(1));
    if (!vm_given(c, "$vm.hints.builds"))
        return 0;
    int e = limit_by(c, "max_io_ops_per_host", IO_OPS_DEFAULT, &limit);

    if (e == 0)
        *ret = json_pack("{s: [s, s, i], s: [s, o, s], s: [s]}", "count", "default", "$vm.hints.builds", 0,
                         "limit", "-", limit, ATTRIBUTE "num_io_ops", "applies", "place");
    return e;
}

static int filter_io_ops(struct cloud *c, const struct request *r, json_t **ret)
{
    (void)r;
    return io_ops_below(c, limit_of, ret);
}

static int count_io_ops(struct cloud *c, const struct request *r, json_t **ret)
{
    return io_ops_of_many(c, r, limit_of, ret);
}

static int filter_aggregate_io_ops(struct cloud *c, const struct request *r, json_t **ret)
{
    (void)r;
    return io_ops_below(c, limit_of_aggregates, ret);
}

static int count_aggregate_io_ops(struct cloud *c, const struct request *r, json_t **ret)
{
    return io_ops_of_many(c, r, limit_of_aggregates, ret);
}

/* Servers are counted, also those that are stopped; what a host reports beyond the listed ones is there in
 * any case. */
static int count_instances(struct cloud *c, find_limit *limit_by, json_t **ret)
{
    size_t i;
    const json_t *state;
    json_t *limit = NULL;
    int e = limit_by(c, "max_instances_per_host", INSTANCES_DEFAULT, &limit);
    const json_t *hosts = cloud_first(c, "instances_elsewhere") ? c->states : NULL;

    if (e < 0)
        return e;
    json_array_foreach(hosts, i, state)
    {
        const char *node = json_string_value(json_object_get(state, "nodename"));
        json_int_t listed = json_integer_value(json_object_get(c->servers_at, node));
        json_int_t n = json_integer_value(json_object_get(state, "num_instances"));
        host_set(c, i, "instances_elsewhere", json_integer(n - listed));
    }
    *ret = json_pack("{s: i, s: b, s: [s, o, s]}", "count", 1, "off", 1, "limit", "-", limit,
                     ATTRIBUTE "instances_elsewhere");
    return 0;
}

static int filter_num_instances(struct cloud *c, const struct request *r, json_t **ret)
{
    (void)r;
    return count_instances(c, limit_of, ret);
}

static int filter_aggregate_num_instances(struct cloud *c, const struct request *r, json_t **ret)
{
    (void)r;
    return count_instances(c, limit_of_aggregates, ret);
}

/* ---- MetricsFilter ---- */

static void set_metrics(struct cloud *c)
{
    size_t h;
    size_t i;
    const json_t *state;
    const json_t *metric;

    if (!cloud_first(c, "metrics"))
        return;
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
    {.name = "AggregateImagePropertiesIsolation", .compile = nova_filter_image_isolation, .on_rebuild = true},
    {.name = "AggregateInstanceExtraSpecsFilter", .compile = nova_filter_extra_specs},
    {.name = "AggregateIoOpsFilter", .compile = filter_aggregate_io_ops, .count = count_aggregate_io_ops},
    {.name = "AggregateMultiTenancyIsolation", .compile = nova_filter_tenants},
    {.name = "AggregateNumInstancesFilter", .compile = filter_aggregate_num_instances},
    {.name = "AggregateTypeAffinityFilter", .compile = nova_filter_type},
    {.name = "AllHostsFilter", .compile = filter_all_hosts},
    {.name = "AvailabilityZoneFilter", .compile = nova_filter_zone},
    {.name = "ComputeCapabilitiesFilter", .compile = nova_filter_capabilities},
    {.name = "ComputeFilter", .compile = filter_compute},
    {.name = "DifferentHostFilter", .compile = nova_filter_different_host},
    {.name = "ImagePropertiesFilter", .compile = nova_filter_image, .on_rebuild = true},
    {.name = "IoOpsFilter", .compile = filter_io_ops, .count = count_io_ops},
    {.name = "IsolatedHostsFilter", .compile = nova_filter_isolated_hosts, .on_rebuild = true},
    {.name = "JsonFilter", .compile = nova_filter_json},
    {.name = "MetricsFilter", .compile = filter_metrics},
    {.name = "NUMATopologyFilter", .compile = nova_filter_numa},
    {.name = "NumInstancesFilter", .compile = filter_num_instances},
    {.name = "PciPassthroughFilter", .compile = nova_filter_pci},
    {.name = "SameHostFilter", .compile = nova_filter_same_host},
    {.name = "ServerGroupAffinityFilter", .compile = nova_filter_affinity},
    {.name = "ServerGroupAntiAffinityFilter", .compile = nova_filter_anti_affinity},
    {.name = "SimpleCIDRAffinityFilter", .compile = nova_filter_cidr},
};

const struct filter *filter_find(const char *name)
{
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        if (strcmp(filters[i].name, name) == 0)
            return &filters[i];
    return NULL;
}

/* ---- available_filters ---- */

/* The class of a path such as "nova.scheduler.filters.compute_filter.ComputeFilter". */
static bool is_class_of(const char *path, const char *name)
{
    const char *dot = strrchr(path, '.');

    return strcmp(dot ? dot + 1 : path, name) == 0;
}

const char *filter_custom(const struct cloud *c, const char *name)
{
    struct words available = conf_list(c, FILTERS, "available_filters", ALL_FILTERS);

    for (size_t i = 0; i < available.n; i++) {
        const char *class = custom_class(available.items[i]);

        if (class && strcmp(class, name) == 0)
            return class;
    }
    return NULL;
}

int filter_check_available(const struct cloud *c, const struct words *enabled)
{
    struct words available = conf_list(c, FILTERS, "available_filters", ALL_FILTERS);

    for (size_t i = 0; i < enabled->n; i++) {
        const char *name = enabled->items[i];
        bool is = false;

        for (size_t k = 0; k < available.n; k++)
            is = is || is_class_of(available.items[k], name) ||
                 (strcmp(available.items[k], ALL_FILTERS) == 0 && filter_find(name));
        if (!is && filter_find(name))
            return err_set(c->err, -EINVAL,
                           "nova.conf: [filter_scheduler] enabled_filters has \"%s\", which is not among "
                           "available_filters",
                           name);
    }
    return 0;
}
