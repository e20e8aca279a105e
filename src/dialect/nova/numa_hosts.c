/* numa_hosts.c: NUMA cells of hosts, as the table compute_nodes has them, and which of them listed servers
 * have. */
#include "dialect/nova/internal.h"

#include <errno.h>
#include <string.h>

#define FIGURE_MAX 1000000000
#define DATA "nova_object.data"

/* An object of Nova, without what its serialization wraps around it. */
static json_t *data_of(const json_t *object)
{
    json_t *data = json_object_get(object, DATA);

    return data ? data : (json_t *)object;
}

/* What a text holds, or the value itself. *ret is new; NULL: none. */
static int parsed(const struct cloud *c, size_t host, const char *name, const json_t *value, json_t **ret)
{
    const char *text = json_string_value(value);

    *ret = NULL;
    if (!value || json_is_null(value) || (text && !*text))
        return 0;
    *ret = text ? json_loads(text, 0, NULL) : json_deep_copy(value);
    return *ret ? 0 : err_set(c->err, -EINVAL, "hypervisors/%zu/%s: its text is no JSON", host, name);
}

static json_int_t figure(const json_t *of, const char *key)
{
    json_int_t n = json_integer_value(json_object_get(of, key));

    return n < 0 ? 0 : n > FIGURE_MAX ? FIGURE_MAX : n;
}

static json_int_t count_of(const json_t *of, const char *key)
{
    return (json_int_t)json_array_size(json_object_get(of, key));
}

int numa_hosts_read(struct cloud *c)
{
    size_t i;
    const json_t *hypervisor;
    int e = 0;

    json_array_foreach(json_object_get(c->lists, "hypervisors"), i, hypervisor)
    {
        json_t *topology = NULL;
        json_t *pools = NULL;

        e = parsed(c, i, "numa_topology", json_object_get(hypervisor, "numa_topology"), &topology);
        if (e == 0)
            e = parsed(c, i, "pci_device_pools", json_object_get(hypervisor, "pci_device_pools"), &pools);
        json_t *list = json_is_array(pools) ? pools : json_object_get(data_of(pools), "objects");
        json_t *plain = json_array();
        size_t k;
        const json_t *pool;

        json_array_foreach(list, k, pool)
        {
            (void)json_array_append(plain, data_of(pool));
        }
        (void)json_array_append_new(c->pools, plain);
        (void)json_array_append_new(c->topologies, topology ? json_incref(data_of(topology)) : json_null());
        json_decref(topology);
        json_decref(pools);
        if (e < 0)
            return e;
    }
    return 0;
}

/* ---- cells ---- */

static json_t *pages_of(const json_t *cell)
{
    json_t *ret = json_array();
    size_t i;
    const json_t *one;

    json_array_foreach(json_object_get(cell, "mempages"), i, one)
    {
        const json_t *of = data_of(one);
        (void)json_array_append_new(ret, json_pack("{s: I, s: I, s: I}", "size_kb", figure(of, "size_kb"),
                                                   "total", figure(of, "total"), "used_elsewhere",
                                                   figure(of, "used") + figure(of, "reserved")));
    }
    return ret;
}

/* The allocation ratio that filters see of the host. */
static double ratio_of(const struct cloud *c, size_t host, const char *name, const char *resource_class)
{
    const json_t *hypervisor = json_array_get(json_object_get(c->lists, "hypervisors"), host);
    const json_t *of = json_object_get(json_array_get(c->inventories, host), resource_class);
    double given = json_number_value(json_object_get(hypervisor, name));

    return given > 0 ? given : of ? json_number_value(json_object_get(of, "ratio")) : 1;
}

json_t *numa_hosts_cells(struct cloud *c, size_t host)
{
    json_t *ret = json_array();
    size_t i;
    const json_t *one;

    json_array_foreach(json_object_get(json_array_get(c->topologies, host), "cells"), i, one)
    {
        const json_t *of = data_of(one);
        json_t *cell = json_pack(
            "{s: I, s: I, s: I, s: I, s: f, s: f, s: I, s: I, s: I, s: o}", "id", figure(of, "id"), "cpus",
            count_of(of, "cpuset"), "dedicated", count_of(of, "pcpuset"), "mem_mb", figure(of, "memory"),
            "cpu_ratio", ratio_of(c, host, "cpu_allocation_ratio", "VCPU"), "mem_ratio",
            ratio_of(c, host, "ram_allocation_ratio", "MEMORY_MB"), "cpus_used_elsewhere",
            figure(of, "cpu_usage"), "dedicated_used_elsewhere", count_of(of, "pinned_cpus"),
            "mem_used_elsewhere_mb", figure(of, "memory_usage"), "pages", pages_of(of));
        if (json_is_integer(json_object_get(of, "socket")))
            (void)json_object_set(cell, "socket", json_object_get(of, "socket"));
        (void)json_array_append_new(ret, cell);
    }
    return ret;
}

/* ---- what listed servers have of them ---- */

static json_t *cell_with(json_t *cells, const json_t *id)
{
    size_t i;
    json_t *cell;

    json_array_foreach(cells, i, cell)
    {
        if (id && json_equal(json_object_get(cell, "id"), id))
            return cell;
    }
    return NULL;
}

/* Whether the use that the cell reports can be that of the server. */
static bool covers(const json_t *cell, const json_t *wants)
{
    return figure(cell, "cpus_used_elsewhere") >= figure(wants, "cpus") &&
           figure(cell, "dedicated_used_elsewhere") >= figure(wants, "dedicated") &&
           figure(cell, "mem_used_elsewhere_mb") >= figure(wants, "mem_mb");
}

static void subtract(json_t *from, const char *key, json_int_t n)
{
    json_int_t is = figure(from, key);

    (void)json_object_set_new(from, key, json_integer(is > n ? is - n : 0));
}

/* Its pages are of the size that its topology says, else of what it asks for, else the smallest. */
static void subtract_pages(json_t *cell, const json_t *wants)
{
    size_t i;
    json_t *one;
    json_t *of = NULL;

    json_array_foreach(json_object_get(cell, "pages"), i, one)
    {
        bool is = figure(wants, "page_kb") == figure(one, "size_kb");
        if (is || (figure(wants, "page_kb") == 0 && (!of || figure(one, "size_kb") < figure(of, "size_kb"))))
            of = one;
    }
    if (of && figure(of, "size_kb") > 0)
        subtract(of, "used_elsewhere", figure(wants, "mem_mb") * 1024 / figure(of, "size_kb"));
}

/* The cells of the server are those of its topology (GET /servers/ID/topology); without it the first ones
 * that report so much use. What it takes is no use of others. */
void numa_hosts_give(struct cloud *c, json_t *cells, const json_t *server, json_t *vm)
{
    const json_t *nodes = json_object_get(json_object_get(server, "topology"), "nodes");
    const json_t *page_kb = json_object_get(json_object_get(server, "topology"), "pagesize_kb");
    json_t *has = json_deep_copy(json_object_get(vm, "numa")); /* those of its kind are shared */
    json_t *given = json_object();
    size_t i;
    size_t k;
    json_t *mine;
    json_t *cell;

    json_array_foreach(has, i, mine)
    {
        json_t *of = cell_with(cells, json_object_get(json_array_get(nodes, i), "host_node"));

        json_array_foreach(cells, k, cell)
        {
            const char *id = nova_python_str(json_object_get(cell, "id"), c->a);
            of = of || json_object_get(given, id) || !covers(cell, mine) ? of : cell;
        }
        if (!of)
            continue;
        (void)json_object_set_new(given, nova_python_str(json_object_get(of, "id"), c->a), json_true());
        (void)json_object_set(mine, "cell", json_object_get(of, "id"));
        if (json_is_integer(page_kb))
            (void)json_object_set(mine, "page_kb", (json_t *)page_kb);
        subtract(of, "cpus_used_elsewhere", figure(mine, "cpus"));
        subtract(of, "dedicated_used_elsewhere", figure(mine, "dedicated"));
        subtract(of, "mem_used_elsewhere_mb", figure(mine, "mem_mb"));
        subtract_pages(of, mine);
    }
    if (has)
        (void)json_object_set_new(vm, "numa", has);
    json_decref(given);
}
