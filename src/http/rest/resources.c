/* resources.c: replies of the service as oVirt's elements. */
#include "http/rest/resources.h"

#include "base/cleanup.h"
#include "base/uuid.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define OWN "own id"
#define MIB 1048576.0
#define KEY_MAX 512
#define CLUSTER_ID "cluster"

static const json_t *member(const json_t *of, const char *name)
{
    return json_object_get(of, name);
}

static const char *text_of(const json_t *of, const char *name)
{
    return json_string_value(member(of, name));
}

static double number_of(const json_t *of, const char *name)
{
    return json_is_number(member(of, name)) ? json_number_value(member(of, name)) : NAN;
}

static void set(json_t *of, const char *name, json_t *value)
{
    if (value)
        (void)json_object_set_new(of, name, value);
}

/* NULL: not known. */
static json_t *whole(double x)
{
    return isfinite(x) ? json_integer((json_int_t)x) : NULL;
}

/* ---- ids --------------------------------------------------------------------------------------- */

static json_t *id_of(const struct rest_source *source, const char *kind, const char *own)
{
    char key[KEY_MAX];
    char id[UUID_TEXT];

    if (uuid_is(own)) {
        for (size_t i = 0; i < sizeof id; i++)
            id[i] = (char)tolower((unsigned char)own[i]);
        return json_string(id);
    }
    const int n = strcmp(kind, CLUSTER_ID) == 0
                      ? snprintf(key, sizeof key, "%s/%.200s", kind, source->cluster)
                      : snprintf(key, sizeof key, "%s/%.200s/%.255s", kind, source->cluster, own);

    uuid_of(key, (size_t)n, id);
    return json_string(id);
}

static json_t *reference(const struct rest_source *source, const char *kind, const char *own)
{
    return own ? json_pack("{s: o}", "id", id_of(source, kind, own)) : NULL;
}

const char *rest_own_id_of(const json_t *element)
{
    return element ? text_of(element, OWN) : NULL;
}

const json_t *rest_find(const json_t *list, const char *id)
{
    size_t i;
    const json_t *one;

    json_array_foreach(list, i, one)
    {
        const char *own = text_of(one, OWN);

        if (strcasecmp(text_of(one, "id"), id) == 0 || (own && strcmp(own, id) == 0))
            return one;
    }
    return NULL;
}

bool rest_is_cluster(const char *name, const char *id)
{
    const struct rest_source source = {.cluster = name};
    CLEANUP(json_decrefp) json_t *its = id_of(&source, CLUSTER_ID, "");

    return strcmp(id, name) == 0 || strcasecmp(json_string_value(its), id) == 0;
}

/* ---- statistics -------------------------------------------------------------------------------- */

static void add_statistic(json_t *list, const struct rest_source *source, const char *of, const char *name,
                          const char *unit, double x)
{
    char key[KEY_MAX];

    if (!isfinite(x))
        return;
    (void)snprintf(key, sizeof key, "%.300s/%s", of, name);
    (void)json_array_append_new(
        list, json_pack("{s: o, s: s, s: s, s: s, s: s, s: [{s: f}]}", "id", id_of(source, "statistic", key),
                        "name", name, "kind", "gauge", "type",
                        strcmp(unit, "percent") == 0 ? "decimal" : "integer", "unit", unit, "values", "datum",
                        strcmp(unit, "percent") == 0 ? round(x * 100) / 100 : round(x)));
}

/* What is on its way is used already. */
static json_t *statistics_of_host(const struct rest_source *source, const json_t *h)
{
    const json_t *cpu = member(h, "cpu");
    const json_t *mem = member(h, "mem");
    const double capacity = number_of(cpu, "capacity");
    const double used = number_of(h, "mem_used_mb") + number_of(mem, "pending");
    const double load = 100 * (number_of(cpu, "demand") + number_of(cpu, "pending")) / capacity;
    json_t *ret = json_array();

    add_statistic(ret, source, text_of(h, "id"), "memory.total", "bytes", number_of(mem, "capacity") * MIB);
    add_statistic(ret, source, text_of(h, "id"), "memory.used", "bytes", used * MIB);
    add_statistic(ret, source, text_of(h, "id"), "memory.free", "bytes",
                  fmax(number_of(mem, "capacity") - used, 0) * MIB);
    add_statistic(ret, source, text_of(h, "id"), "cpu.current.user", "percent", fmin(load, 100));
    add_statistic(ret, source, text_of(h, "id"), "cpu.current.system", "percent", 0);
    add_statistic(ret, source, text_of(h, "id"), "cpu.current.idle", "percent", fmax(100 - load, 0));
    return ret;
}

static json_t *statistics_of_vm(const struct rest_source *source, const json_t *v, double core_mhz)
{
    json_t *ret = json_array();
    const double percent = 100 * number_of(member(v, "cpu"), "delivered") / core_mhz;

    add_statistic(ret, source, text_of(v, "id"), "memory.installed", "bytes", number_of(v, "mem_mb") * MIB);
    add_statistic(ret, source, text_of(v, "id"), "memory.used", "bytes",
                  number_of(member(v, "mem"), "delivered") * MIB);
    add_statistic(ret, source, text_of(v, "id"), "cpu.current.guest", "percent", percent);
    add_statistic(ret, source, text_of(v, "id"), "cpu.current.total", "percent", percent);
    return ret;
}

/* ---- hosts and VMs ----------------------------------------------------------------------------- */

static const char *word_of(const char *state, const char *const words[][2], const char *otherwise)
{
    for (size_t i = 0; state && words[i][0]; i++)
        if (strcmp(words[i][0], state) == 0)
            return words[i][1];
    return otherwise;
}

static json_t *host_of(const struct rest_source *source, const json_t *h)
{
    static const char *const states[][2] = {{"on", "up"},
                                            {"maintenance", "maintenance"},
                                            {"entering_maintenance", "preparing_for_maintenance"},
                                            {"standby", "down"},
                                            {"entering_standby", "preparing_for_maintenance"},
                                            {"powering_on", "reboot"},
                                            {NULL, NULL}};
    const char *id = text_of(h, "id");
    const json_t *cpu = member(h, "cpu");
    const double cores = number_of(h, "cores");
    json_t *ret = json_pack(
        "{s: o, s: s, s: s, s: s, s: s, s: s, s: o, s: {s: s, s: o*, s: {s: i, s: o*, s: i}}, s: o*, "
        "s: {s: O*, s: i, s: O*}, s: {s: s}, s: {s: b, s: b}, s: {s: b}}",
        "id", id_of(source, "host", id), OWN, id, "name", text_of(h, "name"), "address", text_of(h, "name"),
        "status", word_of(text_of(h, "state"), states, "non_responsive"), "external_status", "ok", "cluster",
        reference(source, CLUSTER_ID, ""), "cpu", "architecture", "x86_64", "speed",
        whole(round(number_of(cpu, "capacity") / cores)), "topology", "sockets", 1, "cores", whole(cores),
        "threads", 1, "memory", whole(number_of(member(h, "mem"), "capacity") * MIB), "summary", "active",
        member(h, "vms"), "migrating", 0, "total", member(h, "vms"), "spm", "status", "none",
        "power_management", "enabled", json_array_size(member(h, "wake_methods")) > 0, "automatic_pm_enabled",
        text_of(h, "dpm") && strcmp(text_of(h, "dpm"), "disabled") != 0, "device_passthrough", "enabled", 0);

    if (source->statistics)
        set(ret, "statistics", statistics_of_host(source, h));
    return ret;
}

static const json_t *find_own(const json_t *list, const char *id)
{
    size_t i;
    const json_t *one;

    json_array_foreach(list, i, one)
    {
        if (id && strcmp(text_of(one, "id"), id) == 0)
            return one;
    }
    return NULL;
}

static json_t *vm_of(const struct rest_source *source, const json_t *v, const json_t *hosts)
{
    static const char *const states[][2] = {
        {"on", "up"}, {"off", "down"}, {"suspended", "suspended"}, {NULL, NULL}};
    const char *id = text_of(v, "id");
    const char *automation = text_of(v, "automation");
    const bool runs = text_of(v, "state") && strcmp(text_of(v, "state"), "on") == 0;
    json_t *ret = json_pack(
        "{s: o, s: s, s: s, s: s, s: s, s: o, s: o*, s: {s: s, s: {s: O*, s: i, s: i}}, s: o*, s: {s: s}}",
        "id", id_of(source, "vm", id), OWN, id, "name", text_of(v, "name"), "status",
        word_of(text_of(v, "state"), states, "unknown"), "type", "server", "cluster",
        reference(source, CLUSTER_ID, ""), "host",
        reference(source, "host", runs ? text_of(v, "host") : NULL), "cpu", "architecture", "x86_64",
        "topology", "sockets", member(v, "vcpus"), "cores", 1, "threads", 1, "memory",
        whole(number_of(v, "mem_mb") * MIB), "placement_policy", "affinity",
        automation && strcmp(automation, "disabled") == 0 ? "user_migratable" : "migratable");

    if (source->statistics) {
        const json_t *h = find_own(hosts, text_of(v, "host"));

        set(ret, "statistics",
            statistics_of_vm(source, v, number_of(member(h, "cpu"), "capacity") / number_of(h, "cores")));
    }
    return ret;
}

/* ---- policies ---------------------------------------------------------------------------------- */

static const struct {
    const char *segment;
    enum rest_kind of, kind;
} lists[] = {
    {"filters", REST_SCHEDULING_POLICY, REST_FILTER},
    {"weights", REST_SCHEDULING_POLICY, REST_WEIGHT},
    {"balances", REST_SCHEDULING_POLICY, REST_BALANCE},
    {"statistics", REST_HOST, REST_STATISTIC},
    {"statistics", REST_VM, REST_STATISTIC},
    {"affinitygroups", REST_CLUSTER, REST_AFFINITY_GROUP},
    {"clusters", REST_SCHEDULING_POLICY, REST_CLUSTER},
    {"clusters", REST_DATA_CENTER, REST_CLUSTER},
};

enum rest_kind rest_kind_of_list(enum rest_kind kind, const char *segment)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (lists[i].of == kind && strcmp(lists[i].segment, segment) == 0)
            return lists[i].kind;
    return REST_NONE;
}

/* Without the lists that are links. */
static json_t *policy_of(const struct rest_source *source, const json_t *policy, const json_t *clusters)
{
    json_t *ret = json_copy((json_t *)(uintptr_t)policy);

    for (size_t i = 0; i < 3 && !source->below && !source->all; i++)
        (void)json_object_del(ret, lists[i].segment);
    if (source->below)
        set(ret, "clusters", json_incref((json_t *)(uintptr_t)clusters));
    return ret;
}

static json_t *cluster_of(const struct rest_source *source, const json_t *cluster, const json_t *policies)
{
    const json_t *attached = member(cluster, "scheduling_policy");
    const json_t *policy = attached ? rest_find(policies, text_of(attached, "id")) : NULL;
    json_t *ret = json_pack(
        "{s: o, s: s, s: {s: s}, s: o, s: {s: i, s: i}, s: b, s: o*, s: O*}", "id",
        id_of(source, CLUSTER_ID, ""), "name", source->cluster, "cpu", "architecture", "x86_64",
        "data_center", reference(source, "datacenter", ""), "version", "major", 4, "minor", 7,
        "threads_as_cores", 0, "scheduling_policy",
        policy ? source->all || source->version == 3
                     ? policy_of(source, policy, NULL)
                     : json_pack("{s: s, s: s}", "id", text_of(policy, "id"), "name", text_of(policy, "name"))
               : NULL,
        "custom_scheduling_policy_properties", member(cluster, "custom_scheduling_policy_properties"));

    if (source->below)
        set(ret, "affinitygroups", json_array());
    return ret;
}

static json_t *of_policies(enum rest_kind kind, const json_t *replied, const struct rest_source *source)
{
    const json_t *policies = member(replied, "scheduling_policies");
    json_t *ret = json_array();
    CLEANUP(json_decrefp) json_t *clusters = json_array();
    size_t i;
    const json_t *one;

    json_array_foreach(member(replied, "clusters"), i, one)(void)
        json_array_append_new(clusters, cluster_of(source, one, policies));
    if (kind == REST_CLUSTER)
        (void)json_array_extend(ret, clusters);
    if (kind == REST_DATA_CENTER)
        (void)json_array_append_new(ret, json_pack("{s: o, s: s, s: b, s: s, s: {s: i, s: i}, s: O}", "id",
                                                   id_of(source, "datacenter", ""), "name", source->cluster,
                                                   "local", 0, "status", "up", "version", "major", 4, "minor",
                                                   7, "clusters", clusters));
    if (kind == REST_SCHEDULING_POLICY_UNIT)
        (void)json_array_extend(ret, (json_t *)(uintptr_t)member(replied, "scheduling_policy_units"));
    json_array_foreach(kind == REST_SCHEDULING_POLICY ? policies : NULL, i, one)(void)
        json_array_append_new(ret, policy_of(source, one, clusters));
    return ret;
}

/* ---- the whole --------------------------------------------------------------------------------- */

static json_t *parsed(struct list_text *reply, const char *name)
{
    const struct shared_text *text = reply ? list_text_whole(reply) : NULL;
    CLEANUP(json_decrefp)
    json_t *all = text ? json_loadb(shared_text_bytes(text), shared_text_length(text), 0, NULL) : NULL;

    return json_incref(json_object_get(all, name));
}

json_t *rest_elements(enum rest_kind kind, struct list_text *const *replies, const struct rest_source *source)
{
    const bool of_policy = kind == REST_SCHEDULING_POLICY || kind == REST_SCHEDULING_POLICY_UNIT ||
                           kind == REST_CLUSTER || kind == REST_DATA_CENTER;
    CLEANUP(json_decrefp)
    json_t *first = parsed(replies[0], kind == REST_HOST ? "hosts" : kind == REST_VM ? "vms" : "policies");
    CLEANUP(json_decrefp)
    json_t *hosts = kind == REST_VM && source->statistics ? parsed(replies[1], "hosts") : NULL;
    size_t i;
    const json_t *one;

    if (!first || !(of_policy || kind == REST_HOST || kind == REST_VM || kind == REST_AFFINITY_LABEL))
        return NULL;
    if (of_policy)
        return of_policies(kind, first, source);
    json_t *ret = json_array();

    json_array_foreach(kind == REST_AFFINITY_LABEL ? NULL : first, i, one)(void)
        json_array_append_new(ret, kind == REST_HOST ? host_of(source, one) : vm_of(source, one, hosts));
    return ret;
}

json_t *rest_changed(enum rest_kind kind, const json_t *is, const struct rest_source *source)
{
    return kind == REST_CLUSTER             ? cluster_of(source, is, NULL)
           : kind == REST_SCHEDULING_POLICY ? policy_of(source, is, NULL)
                                            : json_incref((json_t *)(uintptr_t)is);
}

json_t *rest_api(void)
{
    return json_pack("{s: {s: s, s: s, s: {s: i, s: i, s: i, s: i, s: s}}}", "product_info", "name",
                     "Ballast", "vendor", "Ballast", "version", "major", 4, "minor", 5, "build", 0,
                     "revision", 0, "full_version", "4.5.0");
}

void rest_put_refusal(const json_t *reply, struct strbuf *out)
{
    const json_t *faults = member(reply, "faults");
    size_t i;
    const json_t *one;

    strbuf_puts(
        out, "Cannot run VM. There is no host that satisfies current scheduling constraints. See below for "
             "details:");
    json_array_foreach(faults, i, one)
    {
        const char *text = text_of(one, "text");

        if (text)
            strbuf_printf(out, " %s", text);
    }
}
