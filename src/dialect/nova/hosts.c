/* hosts.c: hypervisors as the API lists them, and from them the host states that Nova's filters read. */
#include "dialect/nova/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MB_PER_GB 1024

/* Every host state has these; what the API calls them. NULL: the API does not tell, or it is made below. */
static const struct {
    const char *name, *of_api;
} state_names[] = {
    {"host", NULL},
    {"nodename", "hypervisor_hostname"},
    {"uuid", "id"},
    {"host_ip", "host_ip"},
    {"hypervisor_type", "hypervisor_type"},
    {"hypervisor_version", "hypervisor_version"},
    {"hypervisor_hostname", "hypervisor_hostname"},
    {"cpu_info", "cpu_info"},
    {"supported_instances", "supported_instances"},
    {"vcpus_total", "vcpus"},
    {"vcpus_used", "vcpus_used"},
    {"total_usable_ram_mb", "memory_mb"},
    {"free_ram_mb", "free_ram_mb"},
    {"total_usable_disk_gb", "local_gb"},
    {"disk_mb_used", NULL},
    {"free_disk_mb", NULL},
    {"num_instances", "running_vms"},
    {"num_io_ops", "current_workload"},
    {"failed_builds", NULL},
    {"cpu_allocation_ratio", "cpu_allocation_ratio"},
    {"ram_allocation_ratio", "ram_allocation_ratio"},
    {"disk_allocation_ratio", "disk_allocation_ratio"},
    {"cell_uuid", "cell_uuid"},
    {"metrics", "metrics"},
    {"stats", "stats"},
    {"pci_stats", NULL},
    {"numa_topology", NULL},
    {"limits", NULL},
    {"aggregates", NULL},
    {"instances", NULL},
    {"updated", NULL},
    {"service", NULL},
};

#define N_STATE_NAMES (sizeof state_names / sizeof *state_names)

bool host_state_has(const char *name)
{
    for (size_t i = 0; i < N_STATE_NAMES; i++)
        if (strcmp(state_names[i].name, name) == 0)
            return true;
    return false;
}

void host_set(struct cloud *c, size_t host, const char *name, json_t *value)
{
    (void)json_object_set_new(json_array_get(c->attributes, host), name, value);
}

/* A count of the statistics, which are texts there. */
static void take_count(struct cloud *c, json_t *state, const char *name, const char *of_stats)
{
    const char *text = nova_python_str(json_object_get(json_object_get(state, "stats"), of_stats), c->a);
    json_int_t n = 0;

    if (text && nova_python_int(text, c->a, &n))
        (void)json_object_set_new(state, name, json_integer(n));
    else if (!json_is_integer(json_object_get(state, name)))
        (void)json_object_set_new(state, name, json_integer(0));
}

static void set_mb(json_t *state, const char *name, const json_t *gb)
{
    if (json_is_integer(gb) && llabs(json_integer_value(gb)) <= COUNT_MAX)
        (void)json_object_set_new(state, name, json_integer(json_integer_value(gb) * MB_PER_GB));
}

/* From version 2.88 on the API leaves these to the placement service. What is reserved counts as used. */
static void take_inventory(json_t *state, const json_t *hypervisor, const char *class, const char *total,
                           const char *used, const char *free)
{
    const json_t *inventories = json_object_get(hypervisor, "inventories");
    const json_t *usages = json_object_get(hypervisor, "usages");
    const json_t *inner = json_object_get(inventories, "inventories");
    const json_t *of = json_object_get(inner ? inner : inventories, class);
    json_int_t has = json_integer_value(json_object_get(of, "total"));

    if (!json_is_null(json_object_get(state, total)) || !json_is_integer(json_object_get(of, "total")) ||
        has < 0 || has > COUNT_MAX)
        return;
    inner = json_object_get(usages, "usages");
    json_int_t takes = json_integer_value(json_object_get(inner ? inner : usages, class)) +
                       json_integer_value(json_object_get(of, "reserved"));

    (void)json_object_set_new(state, total, json_integer(has));
    if (usages && used)
        (void)json_object_set_new(state, used, json_integer(takes));
    if (usages && free)
        (void)json_object_set_new(state, free, json_integer(has - takes));
}

static json_t *state_of(struct cloud *c, const json_t *hypervisor, const char *host)
{
    const json_t *least = json_object_get(hypervisor, "disk_available_least");
    const json_t *free_gb = json_object_get(hypervisor, "free_disk_gb");
    json_t *state = json_object();

    for (size_t i = 0; i < N_STATE_NAMES; i++) {
        json_t *value = state_names[i].of_api ? json_object_get(hypervisor, state_names[i].of_api) : NULL;
        (void)json_object_set(state, state_names[i].name, value ? value : json_null());
    }
    (void)json_object_set_new(state, "host", json_string(host));
    if (json_is_integer(least) && json_integer_value(least) < json_integer_value(free_gb))
        free_gb = least;
    set_mb(state, "free_disk_mb", free_gb);
    set_mb(state, "disk_mb_used", json_object_get(hypervisor, "local_gb_used"));
    take_inventory(state, hypervisor, "VCPU", "vcpus_total", "vcpus_used", NULL);
    take_inventory(state, hypervisor, "MEMORY_MB", "total_usable_ram_mb", NULL, "free_ram_mb");
    take_count(c, state, "num_instances", "num_instances");
    take_count(c, state, "num_io_ops", "io_workload");
    take_count(c, state, "failed_builds", "failed_builds");
    return state;
}

static void add_node(struct cloud *c, const char *host, const char *node)
{
    json_t *nodes = json_object_get(c->nodes, host);

    if (!nodes) {
        nodes = json_array();
        (void)json_object_set_new(c->nodes, host, nodes);
    }
    c->shares_nodes = c->shares_nodes || json_array_size(nodes) > 0;
    (void)json_array_append_new(nodes, json_string(node));
}

int hosts_read(struct cloud *c)
{
    size_t i;
    const json_t *hypervisor;

    json_array_foreach(json_object_get(c->lists, "hypervisors"), i, hypervisor)
    {
        const char *node = json_string_value(json_object_get(hypervisor, "hypervisor_hostname"));
        const char *host = json_string_value(json_object_get(json_object_get(hypervisor, "service"), "host"));

        if (json_integer_value(json_object_get(hypervisor, "vcpus")) > COUNT_MAX ||
            json_integer_value(json_object_get(hypervisor, "vcpus")) < 0)
            return err_set(c->err, -EINVAL, "/hypervisors/%zu/vcpus: expected 0 to %lld", i,
                           (long long)COUNT_MAX);
        if (!node || !*node)
            return err_set(c->err, -EINVAL, "/hypervisors/%zu/hypervisor_hostname: missing, expected a name",
                           i);
        host = host ? host : node;
        add_node(c, host, node);
        (void)json_array_append_new(c->states, state_of(c, hypervisor, host));
        if (!json_is_number(json_object_get(json_array_get(c->states, i), "total_usable_ram_mb")))
            return err_set(c->err, -EINVAL,
                           "/hypervisors/%zu/memory_mb: missing, expected a number, or inventories of the "
                           "placement service (the API has it before version 2.88)",
                           i);
        (void)json_array_append_new(c->attributes, json_pack("{s: s}", "host", host));
    }
    return 0;
}

void hosts_take_listed(struct cloud *c)
{
    size_t i;
    json_t *state;

    json_array_foreach(c->states, i, state)
    {
        const json_t *hypervisor = json_array_get(json_object_get(c->lists, "hypervisors"), i);
        const json_t *listed =
            json_object_get(c->servers_at, json_string_value(json_object_get(state, "nodename")));
        bool reports = json_is_integer(json_object_get(hypervisor, "running_vms")) ||
                       json_object_get(json_object_get(hypervisor, "stats"), "num_instances");
        if (!reports && listed)
            (void)json_object_set(state, "num_instances", (json_t *)listed);
    }
}

const json_t *host_state_find(const json_t *state, const struct words *path, json_t **ret_parsed)
{
    const json_t *at = state;

    *ret_parsed = NULL;
    for (size_t i = 0; i < path->n && at; i++) {
        if (json_is_string(at)) { /* JSON in a text */
            json_t *parsed = json_loads(json_string_value(at), JSON_DECODE_ANY, NULL);
            json_decref(*ret_parsed);
            at = *ret_parsed = parsed;
        }
        const json_t *next = json_object_get(at, path->items[i]);

        if (i == 0 && (!next || json_is_null(next)))
            next = json_object_get(json_object_get(state, "stats"), path->items[i]);
        at = json_is_null(next) ? NULL : next;
    }
    return at;
}
