/* read.c: the cloud from JSON. Collections become lists and texts numbers first, so that one table describes
 * each kind of object. */
#include "base/cleanup.h"
#include "base/number.h"
#include "base/texts.h"
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
    if (!text || texts_list_has(texts, key))
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
    bool of_ids = level > 1 && texts_list_has(members, key);
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
        if (!texts_list_has(skipped, member))
            (void)json_object_set_new(ret, member, plain(member, inner, level + 1));
    }
    return ret;
}

/* ---- tables ---- */

#define TEXT(S, n, member, fl) FIELD_AT(n, S, member, FIELD_TEXT, .flags = (fl))
#define TRUTH(S, n, member, fl, ...) FIELD_AT(n, S, member, FIELD_BOOL, .flags = (fl), __VA_ARGS__)
#define RANGE(S, n, member, least, most, otherwise)                                                          \
    FIELD_AT(n, S, member, FIELD_NUMBER, .min = (least), .max = (most), .fallback = (otherwise), .flags = OPT)
#define NUMBER(S, n, member, fl, ...)                                                                        \
    FIELD_AT(n, S, member, FIELD_NUMBER, .min = 0, .max = AMOUNT_MAX, .flags = (fl), __VA_ARGS__)
#define IDS(S, n, member, fl, ...) FIELD_AT(n, S, member, FIELD_IDS, .flags = (fl), __VA_ARGS__)
#define ROWS(S, n, member, of, ...)                                                                          \
    FIELD_AT(n, S, member, FIELD_ROWS, .inner = &of##_schema, .size = sizeof(struct of), .max = LIST_MAX,    \
             .flags = OPT | FIELD_DEFAULTED, __VA_ARGS__)
#define LISTED(S, type, name, member, ...) type(S, name, member, __VA_ARGS__),

#define TABLE(name, text, LIST)                                                                              \
    const struct schema name##_schema = SCHEMA_WITH(text, LIST(LISTED, struct name))

static TABLE(property, "property", OF_PROPERTY);
static const struct schema unit_use_schema =
    SCHEMA_WITH("unit of a policy", TEXT(struct unit_use, "id", id, OPT),
                TEXT(struct unit_use, "scheduling_policy_unit.id", id, OPT),
                RANGE(struct unit_use, "position", position, -1, 1, "0"),
                RANGE(struct unit_use, "factor", factor, 0, 1e6, "1"));

#define P struct policy
#define USES_GIVEN(type) .given = offsetof(P, uses_given[type])
static const struct schema policy_schema =
    SCHEMA_WITH("scheduling policy", TEXT(P, "id", id, OPT), TEXT(P, "name", name, REQ),
                TEXT(P, "clone_of", clone_of, OPT), TEXT(P, "selector", selector, OPT),
                TRUTH(P, "default_policy", is_default, OPT),
                ROWS(P, "properties", properties, property, .given = offsetof(P, properties_given)),
                ROWS(P, "filters", uses[UNIT_FILTER], unit_use, USES_GIVEN(UNIT_FILTER)),
                ROWS(P, "weights", uses[UNIT_WEIGHT], unit_use, USES_GIVEN(UNIT_WEIGHT)),
                ROWS(P, "balances", uses[UNIT_BALANCE], unit_use, USES_GIVEN(UNIT_BALANCE)));

static TABLE(external_unit, "scheduling policy unit", OF_EXTERNAL_UNIT);
static TABLE(cluster, "cluster", OF_CLUSTER);
static TABLE(numa_node, "NUMA node", OF_NUMA_NODE);
static TABLE(cpu_unit, "CPU unit", OF_CPU_UNIT);
static TABLE(amount, "entry", OF_AMOUNT);
static TABLE(host_device, "device", OF_HOST_DEVICE);
TABLE(host, "host", OF_HOST);
static TABLE(nic, "NIC", OF_NIC);
static TABLE(cpu_pin, "vCPU pin", OF_CPU_PIN);
TABLE(vm, "VM", OF_VM);
static TABLE(affinity_group, "affinity group", OF_AFFINITY_GROUP);
static TABLE(affinity_label, "affinity label", OF_AFFINITY_LABEL);
static TABLE(cpu_type, "CPU type", OF_CPU_TYPE);
static const struct schema cloud_schema =
    SCHEMA_WITH("cloud", {.name = "dialect", .type = FIELD_SKIPPED}, OF_CLOUD(LISTED, struct cloud));

/* ---- references ---- */

bool ovirt_ids_have(const struct ids *ids, const char *id)
{
    return id && texts_have(ids->items, ids->n, id);
}

/* A number by id, or by name. wrong: what is said of one that is not its own. */
static json_t *index_rows(const struct cloud *c, const struct objects *rows, size_t size, size_t offset,
                          const char *list, const char *wrong)
{
    json_t *ret = json_object();

    for (uint32_t i = 0; i < rows->n; i++) {
        const char *word = *(const char *const *)((const char *)rows->items + i * size + offset);

        if (*word && !json_object_get(ret, word) && strlen(word) <= FACT_NAME_BYTES_MAX) {
            (void)json_object_set_new(ret, word, json_integer(i));
            continue;
        }
        json_decref(ret);
        (void)err_set(c->err, -EINVAL, "/%s/%u/%s", list, i, wrong);
        return NULL;
    }
    return ret;
}

/* *ret: without an id, the one that is meant then. */
static int refer(const struct cloud *c, const json_t *by_id, const char *id, uint32_t otherwise,
                 const char *list, uint32_t ix, const char *member, uint32_t *ret)
{
    const json_t *found = id ? json_object_get(by_id, id) : NULL;

    *ret = found ? (uint32_t)json_integer_value(found) : otherwise;
    return !id || found ? 0
                        : err_set(c->err, -EINVAL,
                                  "/%s/%u/%s/id: \"%.100s\" is not there, expected the id of one that is",
                                  list, ix, member, id);
}

static int refer_cluster(const struct cloud *c, const json_t *by_id, const char *id, const char *list,
                         uint32_t ix, uint32_t *ret)
{
    if (!id && c->clusters.n > 1)
        return err_set(c->err, -EINVAL, "/%s/%u/cluster: missing, expected {\"id\": ID}", list, ix);
    return refer(c, by_id, id, 0, list, ix, "cluster", ret);
}

static int refer_vm(const struct cloud *c, const json_t *clusters, const json_t *hosts, uint32_t ix)
{
    struct vm *v = VM(c, ix);
    int e = refer_cluster(c, clusters, v->cluster_id, "vms", ix, &v->cluster);

    if (e < 0 || (e = refer(c, hosts, v->host_id, NONE, "vms", ix, "host", &v->host)) < 0 ||
        (e = refer(c, hosts, v->pending_host_id, NONE, "vms", ix, "pending_host", &v->pending_host)) < 0)
        return e;
    if (!(v->memory >= 1))
        return err_set(c->err, -EINVAL, "/vms/%u/memory: missing or too small, expected bytes", ix);
    v->vcpus = v->sockets * v->cores * v->threads;
    if (!(v->vcpus >= 1 && v->vcpus <= 1e6))
        return err_set(c->err, -EINVAL, "/vms/%u/cpu/topology: expected 1 to 1000000 vCPUs", ix);
    return 0;
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
static void find_members(const struct cloud *c, struct affinity_group *g, const json_t *hosts,
                         const json_t *vms)
{
    const struct affinity_label *labels = c->labels.items;

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

#define BY_ID(rows, type, list)                                                                              \
    index_rows(c, &(rows), sizeof(type), offsetof(type, id), list,                                           \
               "id: empty, too long or given twice, expected an id of its own")

static int find_references(const struct cloud *c)
{
    CLEANUP(json_decrefp) json_t *clusters = BY_ID(c->clusters, struct cluster, "clusters");
    CLEANUP(json_decrefp) json_t *hosts = clusters ? BY_ID(c->hosts, struct host, "hosts") : NULL;
    CLEANUP(json_decrefp) json_t *vms = hosts ? BY_ID(c->vms, struct vm, "vms") : NULL;
    int e = vms ? 0 : -EINVAL;

    for (uint32_t i = 0; e == 0 && i < c->hosts.n; i++)
        e = refer_cluster(c, clusters, HOST(c, i)->cluster_id, "hosts", i, &HOST(c, i)->cluster);
    for (uint32_t i = 0; e == 0 && i < c->vms.n; i++)
        e = refer_vm(c, clusters, hosts, i);
    for (uint32_t i = 0; e == 0 && i < c->groups.n; i++)
        find_members(c, GROUP(c, i), hosts, vms);
    return e;
}

static int name_clusters(const struct cloud *c)
{
    for (uint32_t i = 0; i < c->clusters.n; i++)
        CLUSTER(c, i)->name = CLUSTER(c, i)->name ? CLUSTER(c, i)->name : CLUSTER(c, i)->id;
    CLEANUP(json_decrefp)
    json_t *names =
        index_rows(c, &c->clusters, sizeof(struct cluster), offsetof(struct cluster, name), "clusters",
                   "name: empty, too long or given twice, expected a name of its own");
    return names ? 0 : -EINVAL;
}

/* ---- the whole ---- */

static void convert(struct cloud *c)
{
    for (uint32_t i = 0; i < c->hosts.n; i++) {
        struct host *h = HOST(c, i);
        double *const of[] = {&h->memory,     &h->max_scheduling, &h->mem_free,
                              &h->swap_total, &h->swap_free,      &h->pending_memory};

        h->name = h->name ? h->name : h->id;
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

int ovirt_read(const json_t *json, bool idle, struct arena *a, struct cloud *ret, struct err *err)
{
    *ret = (struct cloud){.idle = idle, .a = a, .err = err};
    int e = read_fields(json, ret);

    if (e == 0 && ret->clusters.n == 0)
        e = err_set(err, -EINVAL, "/clusters: missing or empty, expected one or more");
    if (e == 0)
        convert(ret);
    if (e < 0 || (e = find_references(ret)) < 0 || (e = policies_choose(ret)) < 0)
        return e;
    return name_clusters(ret);
}
