/* read.c: the cloud from JSON. Collections become lists and texts numbers first, so that one table describes
 * each kind of object. */
#include "base/cleanup.h"
#include "base/number.h"
#include "dialect/ovirt/internal.h"
#include "schema/json_tree.h"
#include "schema/reader.h"

#include <ballast/facts.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#define LIST_MAX 1000000
#define AMOUNT_MAX 1e18
#define LEVELS_MAX 24
#define MIB (1024.0 * 1024.0)

/* ---- plain JSON ---- */

static bool is_one_of(const char *word, const char *const *words)
{
    while (*words && strcmp(*words, word) != 0)
        words++;
    return *words;
}

/* {"host": [...]} as the value of "hosts", or of "own_hosts": the list. */
static const json_t *collection(const char *key, const json_t *v)
{
    const char *last = strrchr(key, '_');
    const char *member;
    json_t *inner;

    if (json_object_size(v) != 1)
        return v;
    json_object_foreach((json_t *)v, member, inner)
    {
        size_t n = strlen(member);

        if (json_is_array(inner) && n > 0 &&
            (strncmp(member, key, n - 1) == 0 || (last && strncmp(member, last + 1, n - 1) == 0)))
            return inner;
    }
    return v;
}

/* REST also writes numbers and truths as texts; names and values of properties stay texts. */
static json_t *plain_value(const char *key, const json_t *v)
{
    static const char *const texts[] = {"id",      "name",   "value",           "address", "type",
                                        "cpu_set", "status", "display_network", NULL};
    const char *text = json_string_value(v);
    double number;

    if (strcmp(key, "value") == 0 && json_is_number(v)) {
        CLEANUP(freep) char *written = json_dumps(v, JSON_ENCODE_ANY);
        return json_string(written ? written : "");
    }
    if (!text || is_one_of(key, texts))
        return json_incref((json_t *)v);
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        return json_boolean(*text == 't');
    return number_parse(text, &number) ? json_real(number) : json_incref((json_t *)v);
}

/* The newest value of each, by its name. */
static json_t *plain_statistics(const json_t *list)
{
    json_t *ret = json_object();
    size_t i;
    const json_t *v;

    json_array_foreach(list, i, v)
    {
        const char *name = json_string_value(json_object_get(v, "name"));
        const json_t *values = collection("values", json_object_get(v, "values"));
        const json_t *datum = json_object_get(json_array_get(values, 0), "datum");

        if (name && datum)
            (void)json_object_set_new(ret, name, plain_value("datum", datum));
    }
    return ret;
}

static json_t *plain(const char *key, const json_t *value, unsigned level);

/* {"id": "x"} in a list of members is "x". */
static json_t *plain_list(const char *key, const json_t *list, unsigned level)
{
    static const char *const members[] = {"vms", "hosts", "vm_labels", "host_labels", NULL};
    bool of_ids = level > 1 && is_one_of(key, members);
    json_t *ret = json_array();
    size_t i;
    json_t *v;

    json_array_foreach((json_t *)list, i, v)
    {
        json_t *id = of_ids ? json_object_get(v, "id") : NULL;
        bool whole = id || !json_is_object(v);

        (void)json_array_append_new(ret, whole ? json_incref(id ? id : v) : plain(key, v, level + 1));
    }
    return ret;
}

static json_t *plain(const char *key, const json_t *value, unsigned level)
{
    static const char *const skipped[] = {"href", "link", "actions", "description", "comment", NULL};
    const json_t *v = collection(key, value);
    const char *member;
    json_t *inner;

    if (level > LEVELS_MAX)
        return json_null();
    if (strcmp(key, "statistics") == 0)
        return plain_statistics(v);
    if (json_is_array(v))
        return plain_list(key, v, level);
    if (!json_is_object(v))
        return plain_value(key, v);
    json_t *ret = json_object();

    json_object_foreach((json_t *)v, member, inner)
    {
        if (!is_one_of(member, skipped))
            (void)json_object_set_new(ret, member, plain(member, inner, level + 1));
    }
    return ret;
}

/* ---- tables ---- */

#define REQ FIELD_REQUIRED
#define OPT FIELD_NULLABLE
#define TEXT(n, member, fl) FIELD_AT(n, S, member, FIELD_TEXT, .flags = (fl))
#define TRUTH(n, member, ...) FIELD_AT(n, S, member, FIELD_BOOL, .flags = OPT, __VA_ARGS__)
#define NUMBER(n, member, ...)                                                                               \
    FIELD_AT(n, S, member, FIELD_NUMBER, .min = 0, .max = AMOUNT_MAX, .flags = OPT, __VA_ARGS__)
#define IDS(n, member, ...) FIELD_AT(n, S, member, FIELD_IDS, .flags = OPT, __VA_ARGS__)
#define ROWS(n, member, of, type_of_row, ...)                                                                \
    FIELD_AT(n, S, member, FIELD_ROWS, .inner = &of##_schema, .size = sizeof(type_of_row), .max = LIST_MAX,  \
             .flags = OPT | FIELD_DEFAULTED, __VA_ARGS__)
#define GIVEN(member) .given = offsetof(S, member)
#define SCHEMA(name, text, ...) static const struct schema name##_schema = SCHEMA_WITH(text, __VA_ARGS__);

/* clang-format off */
#define S struct property
SCHEMA(property, "property", TEXT("name", name, REQ), TEXT("value", value, REQ))
#undef S

#define S struct unit_use
SCHEMA(unit_use, "unit of a policy", TEXT("id", id, OPT), TEXT("scheduling_policy_unit.id", id, OPT),
    FIELD_AT("position", S, position, FIELD_NUMBER, .min = -1, .max = 1, .fallback = "0", .flags = OPT),
    FIELD_AT("factor", S, factor, FIELD_NUMBER, .min = 0, .max = 1e6, .fallback = "1", .flags = OPT))
#undef S

#define S struct policy
SCHEMA(policy, "scheduling policy",
    TEXT("id", id, OPT), TEXT("name", name, REQ), TEXT("clone_of", clone_of, OPT), TEXT("selector", selector, OPT),
    TRUTH("default_policy", is_default),
    ROWS("properties", properties, property, struct property, GIVEN(properties_given)),
    ROWS("filters", filters, unit_use, struct unit_use, GIVEN(filters_given)),
    ROWS("weights", weights, unit_use, struct unit_use, GIVEN(weights_given)),
    ROWS("balances", balances, unit_use, struct unit_use, GIVEN(balances_given)))
#undef S

#define S struct external_unit
SCHEMA(unit, "scheduling policy unit",
    TEXT("id", id, REQ), TEXT("name", name, REQ), TEXT("type", type, REQ), TRUTH("enabled", enabled, GIVEN(enabled_given)))
#undef S

#define S struct cluster
SCHEMA(cluster, "cluster",
    TEXT("id", id, REQ), TEXT("name", name, OPT), TEXT("scheduling_policy.id", policy_id, OPT),
    ROWS("custom_scheduling_policy_properties", properties, property, struct property),
    TRUTH("threads_as_cores", threads_as_cores), TRUTH("ha_reservation", ha_reservation),
    NUMBER("version.major", major), NUMBER("version.minor", minor), TEXT("display_network", display_network, OPT), TEXT("cpu.architecture", architecture, OPT))
#undef S

#define S struct numa_node
SCHEMA(numa_node, "NUMA node",
    NUMBER("index", index), NUMBER("memory", memory), NUMBER("statistics.memory.free", free), IDS("cpus", cpus), IDS("pins", pins))
#undef S

#define S struct cpu_unit
SCHEMA(cpu_unit, "CPU unit", NUMBER("cpu_id", cpu_id), NUMBER("load", load), TRUTH("exclusive", exclusive))
#undef S

#define S struct amount
SCHEMA(amount, "entry", TEXT("name", name, REQ), NUMBER("free", n))
#undef S

#define S struct host_device
SCHEMA(device, "device", TEXT("name", name, REQ), TEXT("capability", capability, OPT), TRUTH("used", used))
#undef S

#define S struct host
SCHEMA(host, "host",
    TEXT("id", id, REQ), TEXT("name", name, OPT), TEXT("address", address, OPT), TEXT("status", status, REQ),
    TEXT("cluster.id", cluster_id, OPT), TEXT("spm.status", spm, OPT), TEXT("os.type", os_type, OPT), TEXT("cpu.type", cpu_type, OPT),
    NUMBER("cpu.topology.sockets", sockets), NUMBER("cpu.topology.cores", cores), NUMBER("cpu.topology.threads", threads),
    NUMBER("memory", memory), NUMBER("max_scheduling_memory", max_scheduling),
    NUMBER("statistics.memory.free", mem_free), NUMBER("statistics.swap.total", swap_total), NUMBER("statistics.swap.free", swap_free),
    NUMBER("statistics.cpu.current.user", cpu_user), NUMBER("statistics.cpu.current.system", cpu_system),
    NUMBER("cpu_threshold_seconds", threshold_s), NUMBER("summary.active", active_vms), NUMBER("pending_memory", pending_memory),
    NUMBER("os.version.major", os_major),
    NUMBER("hosted_engine.score", he_score), TRUTH("hosted_engine.configured", he_configured),
    TRUTH("hosted_engine.local_maintenance", he_maintenance), NUMBER("tsc_frequency", tsc_hz), TRUTH("tsc_scaling", tsc_scaling),
    TRUTH("device_passthrough.enabled", device_passthrough),
    ROWS("numa_nodes", numa, numa_node, struct numa_node), ROWS("cpu_units", cpu_units, cpu_unit, struct cpu_unit),
    ROWS("devices", devices, device, struct host_device), ROWS("mdev_types", mdevs, amount, struct amount),
    ROWS("hugepages", hugepages, amount, struct amount),
    ROWS("virtual_functions", virtual_functions, amount, struct amount),
    IDS("networks", networks), IDS("networks_with_address", addressed_networks), IDS("emulated_machines", machines),
    IDS("supported_versions", versions), IDS("hooks", hooks), IDS("lease_domains", leases, GIVEN(leases_given)), IDS("cpu_flags", cpu_flags))
#undef S

#define S struct nic
SCHEMA(nic, "NIC", TEXT("network", network, OPT), TRUTH("pass_through", pass_through), TRUTH("unplugged", unplugged))
#undef S

#define S struct cpu_pin
SCHEMA(cpu_pin, "vCPU pin", NUMBER("vcpu", vcpu), TEXT("cpu_set", cpu_set, REQ))
#undef S

#define S struct vm
SCHEMA(vm, "VM",
    TEXT("id", id, REQ), TEXT("name", name, OPT), TEXT("status", status, REQ), TEXT("host.id", host_id, OPT),
    TEXT("pending_host.id", pending_host_id, OPT), TEXT("cluster.id", cluster_id, OPT), TEXT("type", type, OPT),
    TEXT("placement_policy.affinity", affinity, OPT), IDS("placement_policy.hosts", preferred), TEXT("custom_emulated_machine", machine, OPT),
    TEXT("cpu.type", cpu_type, OPT), TEXT("cpu.mode", cpu_mode, OPT), TEXT("cpu_pinning_policy", pinning_policy, OPT),
    TEXT("numa_tune_mode", numa_mode, OPT), TEXT("lease.storage_domain.id", lease_domain, OPT), TEXT("origin", origin, OPT),
    NUMBER("memory", memory), NUMBER("cpu.topology.sockets", sockets, .fallback = "1"), NUMBER("cpu.topology.cores", cores, .fallback = "1"),
    NUMBER("cpu.topology.threads", threads, .fallback = "1"), NUMBER("statistics.cpu.current.total", cpu_percent),
    NUMBER("io.threads", io_threads, .fallback = "0"), NUMBER("video_memory", video_memory, .fallback = "0"),
    NUMBER("hugepages", hugepages_kib, .fallback = "0"), NUMBER("tsc_frequency", tsc_hz),
    NUMBER("custom_compatibility_version.major", version_major), NUMBER("custom_compatibility_version.minor", version_minor),
    TRUTH("high_availability.enabled", ha), TRUTH("sap_agent", sap_agent),
    IDS("host_devices", devices), IDS("mdev_types", mdevs), IDS("cpu_flags", cpu_flags),
    ROWS("nics", nics, nic, struct nic), ROWS("cpu.cpu_tune.vcpu_pins", cpu_pins, cpu_pin, struct cpu_pin),
    ROWS("numa_nodes", numa, numa_node, struct numa_node))
#undef S

#define S struct affinity_group
SCHEMA(group, "affinity group",
    TEXT("id", id, REQ), FIELD_AT("priority", S, priority, FIELD_NUMBER, .min = -1e9, .max = 1e9, .fallback = "1", .flags = OPT),
    TRUTH("vms_rule.enabled", vms_enabled), TRUTH("vms_rule.positive", vms_positive), TRUTH("vms_rule.enforcing", vms_enforcing),
    TRUTH("hosts_rule.enabled", hosts_enabled), TRUTH("hosts_rule.positive", hosts_positive), TRUTH("hosts_rule.enforcing", hosts_enforcing),
    IDS("vms", vms), IDS("hosts", hosts), IDS("vm_labels", vm_labels), IDS("host_labels", host_labels))
#undef S

#define S struct affinity_label
SCHEMA(label, "affinity label", TEXT("id", id, REQ), IDS("vms", vms), IDS("hosts", hosts))
#undef S

#define S struct cpu_type
SCHEMA(cpu_type, "CPU type", TEXT("name", name, REQ), TEXT("vendor", vendor, REQ), NUMBER("level", level))
#undef S

#define S struct cloud
static const struct schema cloud_schema = SCHEMA_WITH("cloud",
    {.name = "dialect", .type = FIELD_SKIPPED}, TEXT("name", name, OPT), TEXT("time", time, OPT),
    NUMBER("settings.VcpuConsumptionPercentage", settings.vcpu_percent, .fallback = "10"),
    NUMBER("settings.SpmVCpuConsumption", settings.spm_vcpus, .fallback = "1"),
    TRUTH("settings.EnableSwapCheck", settings.swap_check, .fallback = "true"),
    NUMBER("settings.vm_overhead_mb", settings.vm_overhead_mb),
    ROWS("clusters", clusters, cluster, struct cluster), ROWS("scheduling_policies", policies, policy, struct policy),
    ROWS("scheduling_policy_units", units, unit, struct external_unit),
    ROWS("hosts", hosts, host, struct host), ROWS("vms", vms, vm, struct vm),
    ROWS("affinity_groups", groups, group, struct affinity_group),
    ROWS("affinity_labels", labels, label, struct affinity_label),
    ROWS("cpu_types", cpu_types, cpu_type, struct cpu_type));
#undef S
/* clang-format on */

/* ---- references ---- */

bool ovirt_ids_have(const struct ids *ids, const char *id)
{
    for (uint32_t i = 0; id && i < ids->n; i++)
        if (strcmp(ids->items[i], id) == 0)
            return true;
    return false;
}

/* A number by id. Every row begins with its id. */
static json_t *index_ids(const struct cloud *c, const struct objects *rows, size_t size, const char *list)
{
    json_t *ret = json_object();

    for (uint32_t i = 0; i < rows->n; i++) {
        const char *id = *(const char *const *)((const char *)rows->items + i * size);

        if (*id && !json_object_get(ret, id) && strlen(id) <= FACT_NAME_BYTES_MAX) {
            (void)json_object_set_new(ret, id, json_integer(i));
            continue;
        }
        json_decref(ret);
        (void)err_set(c->err, -EINVAL, "/%s/%u/id: empty, too long or given twice, expected an id of its own",
                      list, i);
        return NULL;
    }
    return ret;
}

/* *ret: NONE without an id. */
static int refer(const struct cloud *c, const json_t *by_id, const char *id, const char *list, uint32_t ix,
                 const char *member, uint32_t *ret)
{
    const json_t *found = id ? json_object_get(by_id, id) : NULL;

    *ret = found ? (uint32_t)json_integer_value(found) : NONE;
    return !id || found ? 0
                        : err_set(c->err, -EINVAL,
                                  "/%s/%u/%s/id: \"%.100s\" is not there, expected the id of one that is",
                                  list, ix, member, id);
}

/* Without an id: the only cluster. */
static int refer_cluster(const struct cloud *c, const json_t *by_id, const char *id, const char *list,
                         uint32_t ix, uint32_t *ret)
{
    int e = refer(c, by_id, id, list, ix, "cluster", ret);

    if (e < 0 || id)
        return e;
    *ret = 0;
    return c->clusters.n == 1
               ? 0
               : err_set(c->err, -EINVAL, "/%s/%u/cluster: missing, expected {\"id\": ID}", list, ix);
}

static int refer_objects(struct cloud *c, const json_t *clusters, const json_t *hosts)
{
    int e = 0;

    for (uint32_t i = 0; e == 0 && i < c->hosts.n; i++) {
        struct host *h = HOST(c, i);
        h->name = h->name ? h->name : h->id;
        e = refer_cluster(c, clusters, h->cluster_id, "hosts", i, &h->cluster);
    }
    for (uint32_t i = 0; e == 0 && i < c->vms.n; i++) {
        struct vm *v = VM(c, i);

        if ((e = refer_cluster(c, clusters, v->cluster_id, "vms", i, &v->cluster)) == 0 &&
            (e = refer(c, hosts, v->host_id, "vms", i, "host", &v->host)) == 0)
            e = refer(c, hosts, v->pending_host_id, "vms", i, "pending_host", &v->pending_host);
        if (e == 0 && !(v->memory >= 1))
            e = err_set(c->err, -EINVAL, "/vms/%u/memory: missing or too small, expected bytes", i);
        if (e == 0 && !(v->sockets * v->cores * v->threads >= 1 && v->sockets * v->cores * v->threads <= 1e6))
            e = err_set(c->err, -EINVAL, "/vms/%u/cpu/topology: expected 1 to 1000000 vCPUs", i);
    }
    return e;
}

static void mark(const json_t *by_id, const struct ids *ids, bool *ret)
{
    for (uint32_t i = 0; i < ids->n; i++) {
        const json_t *found = json_object_get(by_id, ids->items[i]);
        if (found)
            ret[json_integer_value(found)] = true;
    }
}

/* Members that are not there count for nothing: a VM of another data centre, say. */
static void find_members(struct cloud *c, const json_t *hosts, const json_t *vms)
{
    const struct affinity_label *labels = c->labels.items;

    for (uint32_t i = 0; i < c->groups.n; i++) {
        struct affinity_group *g = GROUP(c, i);

        g->has_vm = arena_array(c->a, bool, c->vms.n);
        g->has_host = arena_array(c->a, bool, c->hosts.n);
        mark(vms, &g->vms, g->has_vm);
        mark(hosts, &g->hosts, g->has_host);
        for (uint32_t k = 0; k < c->labels.n; k++) {
            if (ovirt_ids_have(&g->vm_labels, labels[k].id))
                mark(vms, &labels[k].vms, g->has_vm);
            if (ovirt_ids_have(&g->host_labels, labels[k].id))
                mark(hosts, &labels[k].hosts, g->has_host);
        }
    }
}

static int find_references(struct cloud *c)
{
    CLEANUP(json_decrefp) json_t *clusters = index_ids(c, &c->clusters, sizeof(struct cluster), "clusters");
    CLEANUP(json_decrefp)
    json_t *hosts = clusters ? index_ids(c, &c->hosts, sizeof(struct host), "hosts") : NULL;
    CLEANUP(json_decrefp) json_t *vms = hosts ? index_ids(c, &c->vms, sizeof(struct vm), "vms") : NULL;
    int e = vms ? refer_objects(c, clusters, hosts) : -EINVAL;

    if (e == 0)
        find_members(c, hosts, vms);
    return e;
}

/* ---- policies ---- */

static int find_policies(struct cloud *c)
{
    struct policy *all = arena_array(c->a, struct policy, POLICIES_BUILT_IN + c->policies.n);
    const struct policy *chosen = all;
    uint32_t defaults = 0;
    int e = 0;

    policies_built_in(all, c->a);
    for (uint32_t i = 0; i < c->policies.n; i++)
        all[POLICIES_BUILT_IN + i] = ROWS_OF(struct policy, c->policies)[i];
    c->policies = (struct objects){all, POLICIES_BUILT_IN + c->policies.n};
    for (uint32_t i = POLICIES_BUILT_IN; e == 0 && i < c->policies.n; i++) {
        e = policies_check(c, &all[i], arena_printf(c->a, "/scheduling_policies/%u", i - POLICIES_BUILT_IN));
        chosen = all[i].is_default ? &all[i] : chosen;
        defaults += all[i].is_default;
    }
    if (e == 0 && defaults > 1)
        return err_set(c->err, -EINVAL, "/scheduling_policies: %u have default_policy, expected one",
                       defaults);
    for (uint32_t i = 0; e == 0 && i < c->clusters.n; i++) {
        struct cluster *cl = CLUSTER(c, i);

        cl->policy = cl->policy_id ? NULL : chosen;
        for (uint32_t k = 0; !cl->policy && k < c->policies.n; k++)
            if (strcmp(all[k].id, cl->policy_id) == 0 || strcmp(all[k].name, cl->policy_id) == 0)
                cl->policy = &all[k];
        if (!cl->policy)
            return err_set(c->err, -EINVAL,
                           "/clusters/%u/scheduling_policy/id: no policy \"%.100s\", expected the id or name "
                           "of one, such as power_saving",
                           i, cl->policy_id);
        e = policies_check_properties(
            c, cl->policy, &cl->properties,
            arena_printf(c->a, "/clusters/%u/custom_scheduling_policy_properties", i));
    }
    return e;
}

/* ---- the whole ---- */

static void convert(struct cloud *c)
{
    for (uint32_t i = 0; i < c->hosts.n; i++) {
        struct host *h = HOST(c, i);
        double *const of[] = {&h->memory,     &h->max_scheduling, &h->mem_free,
                              &h->swap_total, &h->swap_free,      &h->pending_memory};

        for (size_t k = 0; k < sizeof of / sizeof *of; k++)
            *of[k] /= MIB;
    }
    for (uint32_t i = 0; i < c->vms.n; i++)
        VM(c, i)->memory /= MIB;
}

static int read_fields(const json_t *json, struct cloud *c)
{
    struct unknown_fields unknown = {0};
    const struct reader r = {.a = c->a, .unknown = &unknown, .err = c->err};
    struct node *document;

    if (!json_is_object(json))
        return err_set(c->err, -EINVAL, "/: expected an object with clusters, hosts, vms and so on");
    CLEANUP(json_decrefp) json_t *as_read = plain("", json, 0);
    CLEANUP(freep) char *text = json_dumps(as_read, JSON_COMPACT);
    int e = text ? json_tree_parse(text, c->a, &document, c->err) : err_set(c->err, -ENOMEM, "out of memory");

    if (e < 0)
        return e;
    reader_defaults(&r, &cloud_schema, c);
    e = reader_object(&r, document, &cloud_schema, c);
    for (size_t i = 0; e == 0 && i < unknown.n; i++)
        if (strcmp(unknown.items[i].what, "cloud") == 0)
            return err_set(c->err, -EINVAL, "%s: is no member of a cloud, expected one that the manual lists",
                           unknown.items[i].pointer);
    return e;
}

int ovirt_read(const json_t *json, struct arena *a, struct cloud *ret, struct err *err)
{
    *ret = (struct cloud){.a = a, .err = err};
    int e = read_fields(json, ret);

    if (e == 0 && ret->clusters.n == 0)
        e = err_set(err, -EINVAL, "/clusters: missing or empty, expected one or more");
    if (e == 0)
        convert(ret);
    if (e == 0)
        e = find_references(ret);
    return e == 0 ? find_policies(ret) : e;
}
