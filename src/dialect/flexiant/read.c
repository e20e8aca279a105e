/* read.c: a cloud from JSON, by tables of fields; whether its references and figures can be right. */
#include "dialect/flexiant/internal.h"

#include "base/cleanup.h"
#include "model/attributes.h"
#include "schema/json_tree.h"
#include "schema/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MAX 1000000
#define PARTS_MAX 1000 /* keys, disks and NICs of one resource */
#define AMOUNT_MAX 1e12
#define MB_MAX 1e9
#define WEIGHT_MAX 1e9
#define RATIO_MAX 10 /* what `mem_overcommit` of a snapshot may be */
#define STEPS_MAX 1000

#define RAM_OVERHEAD_MB "1024"
#define MSAV_STEPS "10"
#define INITIAL_MSAV "80"
#define FINAL_MSAV "-10"

static const char *const owner_words[] = {"system", "billing_entity", "customer", NULL};
static const char *const node_words[] = {"running", "stopped", NULL};
static const char *const server_words[] = {"stopped", "running", NULL};

static int read_value(const struct reader *r, const struct node *n, void *at)
{
    struct value *v = at;
    int e = attributes_read_value(r, n, v);

    if (e == 0 && v->type == VALUE_NUMBER && !(v->number >= -AMOUNT_MAX && v->number <= AMOUNT_MAX))
        return reader_refuse(r, n, "a number from -1e12 to 1e12");
    return e;
}

/* ---- tables ---- */

#define REQ FIELD_REQUIRED
#define OPT FIELD_NULLABLE

#define TEXT(n, member, fl) FIELD_AT(n, S, member, FIELD_TEXT, .flags = (fl))
#define NUMBER(n, member, least, most, fl, ...)                                                              \
    FIELD_AT(n, S, member, FIELD_NUMBER, .min = (least), .max = (most), .flags = (fl), __VA_ARGS__)
#define COUNT(n, member, least, most, fl, ...)                                                               \
    FIELD_AT(n, S, member, FIELD_COUNT, .min = (least), .max = (most), .flags = (fl), __VA_ARGS__)
#define WORD(n, member, list, fl, ...)                                                                       \
    FIELD_AT(n, S, member, FIELD_WORD, .words = (list), .flags = (fl), __VA_ARGS__)
#define TRUTH(n, member) FIELD_AT(n, S, member, FIELD_BOOL, .flags = OPT)
#define ROWS(n, member, of, type_of_row, most, ...)                                                          \
    FIELD_AT(n, S, member, FIELD_ROWS, .inner = &(of), .size = sizeof(type_of_row), .max = (most),           \
             .flags = OPT, __VA_ARGS__)
#define KEYS ROWS("keys", r.keys, key_schema, struct placement_key, PARTS_MAX)
#define ID TEXT("id", r.id, REQ)
#define OFFER TEXT("product_offer", product_offer, OPT)
#define SCHEMA(name, text, ...) static const struct schema name##_schema = SCHEMA_WITH(text, __VA_ARGS__)

/* clang-format off */
#define S struct placement_key
SCHEMA(key, "key",
    TEXT("name", name, REQ),
    FIELD_OF(S, value, FIELD_OWN, .read = read_value, .flags = OPT),
    NUMBER("weight", weight, -WEIGHT_MAX, WEIGHT_MAX, OPT),
    WORD("owner", owner, owner_words, OPT, .given = offsetof(S, owner_given)),
    TRUTH("sticky", sticky),
);
#undef S

#define S struct cluster
SCHEMA(cluster, "cluster", ID, KEYS, TRUTH("local_storage", local_storage));
#undef S

#define S struct node_of_cloud
SCHEMA(node, "node",
    ID, KEYS,
    TEXT("name", name, OPT),
    TEXT("cluster", cluster, REQ),
    WORD("state", stopped, node_words, REQ),
    NUMBER("ram_mb", ram_mb, 1, MB_MAX, REQ),
    NUMBER("ram_ratio", ram_ratio, 0.1, RATIO_MAX, OPT),
    NUMBER("free_ram_mb", free_ram_mb, 0, MB_MAX, REQ),
    NUMBER("cpus", cpus, 1, 1e6, REQ),
    NUMBER("cpu_ratio", cpu_ratio, 0.1, 1000, OPT),
    NUMBER("load", load, 0, AMOUNT_MAX, REQ),
);
#undef S

#define S struct billing_entity
SCHEMA(billing_entity, "billing entity", ID, KEYS, TRUTH("master", master));
#undef S

#define S struct owned
SCHEMA(customer, "customer", ID, KEYS, OFFER, TEXT("billing_entity", billing_entity, REQ));
SCHEMA(offer, "product offer", ID, KEYS);
SCHEMA(image, "image", ID, KEYS, OFFER);
SCHEMA(vdc, "VDC", ID, KEYS, OFFER, TEXT("customer", customer, REQ), TEXT("cluster", cluster, REQ));
SCHEMA(network, "network", ID, KEYS, OFFER);
#undef S

#define S struct disk
SCHEMA(disk, "disk", TEXT("id", r.id, OPT), KEYS, OFFER, TEXT("node", node, OPT));
#undef S

#define S struct nic
SCHEMA(nic, "NIC", TEXT("id", r.id, OPT), KEYS, OFFER, TEXT("network", network, OPT));
#undef S

#define S struct server
SCHEMA(server, "server",
    ID, KEYS, OFFER,
    TEXT("name", name, OPT),
    TEXT("vdc", vdc, REQ),
    TEXT("image", image, OPT),
    NUMBER("ram_mb", ram_mb, 1, MB_MAX, REQ),
    COUNT("cpus", cpus, 1, 1e6, REQ),
    WORD("state", running, server_words, REQ),
    NUMBER("cpus_used", cpus_used, 0, 1e6, OPT, .given = offsetof(S, cpus_used_known)),
    NUMBER("ram_used_mb", ram_used_mb, 0, MB_MAX, OPT, .given = offsetof(S, ram_used_known)),
    TEXT("node", node, OPT),
    ROWS("disks", disks, disk_schema, struct disk, PARTS_MAX),
    ROWS("nics", nics, nic_schema, struct nic, PARTS_MAX),
    ROWS("sticky_keys", sticky_keys, key_schema, struct placement_key, PARTS_MAX),
    ROWS("started_keys", started_keys, key_schema, struct placement_key, PARTS_MAX, .given = offsetof(S, started_known)),
);
#undef S

#define S struct cloud_settings
SCHEMA(settings, "settings",
    NUMBER("ram_overhead_mb", ram_overhead_mb, 0, MB_MAX, OPT, .fallback = RAM_OVERHEAD_MB),
    NUMBER("ram_ratio", ram_ratio, 0.1, RATIO_MAX, OPT, .fallback = "1"),
    NUMBER("cpu_ratio", cpu_ratio, 0.1, 1000, OPT, .fallback = "1"),
    COUNT("MSAV_STEPS", msav_steps, 1, STEPS_MAX, OPT, .fallback = MSAV_STEPS),
    NUMBER("INITIAL_MSAV", initial_msav, -AMOUNT_MAX, AMOUNT_MAX, OPT, .fallback = INITIAL_MSAV),
    NUMBER("FINAL_MSAV", final_msav, -AMOUNT_MAX, AMOUNT_MAX, OPT, .fallback = FINAL_MSAV),
    COUNT("seed", seed, 0, 0, OPT),
);
#undef S

#define S struct cloud
SCHEMA(cloud, "cloud",
    {.name = "dialect", .type = FIELD_SKIPPED},
    TEXT("name", name, OPT),
    TEXT("time", time, OPT),
    FIELD_OF(S, settings, FIELD_OBJECT, .inner = &settings_schema, .flags = OPT),
    ROWS("clusters", lists[CLUSTERS], cluster_schema, struct cluster, LIST_MAX),
    ROWS("nodes", lists[NODES], node_schema, struct node_of_cloud, LIST_MAX),
    ROWS("billing_entities", lists[BILLING_ENTITIES], billing_entity_schema, struct billing_entity, LIST_MAX),
    ROWS("customers", lists[CUSTOMERS], customer_schema, struct owned, LIST_MAX),
    ROWS("product_offers", lists[PRODUCT_OFFERS], offer_schema, struct owned, LIST_MAX),
    ROWS("images", lists[IMAGES], image_schema, struct owned, LIST_MAX),
    ROWS("vdcs", lists[VDCS], vdc_schema, struct owned, LIST_MAX),
    ROWS("networks", lists[NETWORKS], network_schema, struct owned, LIST_MAX),
    ROWS("servers", lists[SERVERS], server_schema, struct server, LIST_MAX),
);
#undef S
/* clang-format on */

static const struct {
    const char *name;
    size_t size;
} kinds[CLOUD_KINDS] = {
    [CLUSTERS] = {"clusters", sizeof(struct cluster)},
    [NODES] = {"nodes", sizeof(struct node_of_cloud)},
    [BILLING_ENTITIES] = {"billing_entities", sizeof(struct billing_entity)},
    [CUSTOMERS] = {"customers", sizeof(struct owned)},
    [PRODUCT_OFFERS] = {"product_offers", sizeof(struct owned)},
    [IMAGES] = {"images", sizeof(struct owned)},
    [VDCS] = {"vdcs", sizeof(struct owned)},
    [NETWORKS] = {"networks", sizeof(struct owned)},
    [SERVERS] = {"servers", sizeof(struct server)},
};

/* ---- resources by id ---- */

const void *flexiant_item(const struct cloud *c, enum cloud_kind kind, uint32_t i)
{
    return (const char *)c->lists[kind].items + i * kinds[kind].size;
}

static int by_id(const void *a, const void *b)
{
    const struct keyed *const *x = a;
    const struct keyed *const *y = b;

    return strcmp((*x)->id, (*y)->id);
}

/* Sorts each list, so that ids are found by halving. Refuses an id that is given twice. */
static int index_ids(struct cloud *c, enum cloud_kind kind)
{
    const struct keyed **sorted = arena_array(c->a, const struct keyed *, c->lists[kind].n);

    for (uint32_t i = 0; i < c->lists[kind].n; i++) {
        sorted[i] = flexiant_item(c, kind, i);
        if (!*sorted[i]->id)
            return err_set(c->err, -EINVAL, "/%s/%u/id: empty, expected a text", kinds[kind].name, i);
    }
    if (c->lists[kind].n > 1)
        qsort(sorted, c->lists[kind].n, sizeof(*sorted), by_id);
    for (uint32_t i = 1; i < c->lists[kind].n; i++)
        if (strcmp(sorted[i - 1]->id, sorted[i]->id) == 0)
            return err_set(c->err, -EINVAL, "/%s: the id \"%.100s\" is given twice, expected once",
                           kinds[kind].name, sorted[i]->id);
    c->sorted[kind] = sorted;
    return 0;
}

const void *flexiant_find(const struct cloud *c, enum cloud_kind kind, const char *id)
{
    const struct keyed wanted = {.id = id};
    const struct keyed *key = &wanted;

    if (!id || c->lists[kind].n == 0)
        return NULL;
    const struct keyed *const *found =
        bsearch(&key, c->sorted[kind], c->lists[kind].n, sizeof(*c->sorted[kind]), by_id);

    return found ? *found : NULL;
}

/* ---- references ---- */

static int check_reference(const struct cloud *c, const char *pointer, const char *member,
                           enum cloud_kind kind, const char *id)
{
    if (!id || flexiant_find(c, kind, id))
        return 0;
    return err_set(c->err, -EINVAL,
                   "%s/%s: no object of /%s has the id \"%.100s\", expected one that is there", pointer,
                   member, kinds[kind].name, id);
}

static int check_node(const struct cloud *c, const struct node_of_cloud *n, const char *pointer)
{
    return check_reference(c, pointer, "cluster", CLUSTERS, n->cluster);
}

static int check_owned(const struct cloud *c, const struct owned *o, const char *pointer)
{
    int e;

    if ((e = check_reference(c, pointer, "product_offer", PRODUCT_OFFERS, o->product_offer)) < 0 ||
        (e = check_reference(c, pointer, "billing_entity", BILLING_ENTITIES, o->billing_entity)) < 0 ||
        (e = check_reference(c, pointer, "customer", CUSTOMERS, o->customer)) < 0)
        return e;
    return check_reference(c, pointer, "cluster", CLUSTERS, o->cluster);
}

static int check_server_node(const struct cloud *c, const struct server *s, const char *pointer,
                             const char *member, const char *id)
{
    const struct node_of_cloud *n = flexiant_find(c, NODES, id);
    int e = check_reference(c, pointer, member, NODES, id);

    if (e < 0 || !n || strcmp(n->cluster, flexiant_cluster(c, s)->r.id) == 0)
        return e;
    return err_set(
        c->err, -EINVAL,
        "%s/%s: \"%.100s\" is of another cluster than the server's VDC, expected one of this cluster",
        pointer, member, id);
}

static int check_disk(const struct cloud *c, const struct server *s, const struct disk *d,
                      const char *pointer)
{
    int e;

    if ((e = check_reference(c, pointer, "product_offer", PRODUCT_OFFERS, d->product_offer)) < 0 ||
        (e = check_server_node(c, s, pointer, "node", d->node)) < 0)
        return e;
    return keys_check(c, &d->r, SERVERS, false, pointer);
}

static int check_nic(const struct cloud *c, const struct nic *n, const char *pointer)
{
    int e;

    if ((e = check_reference(c, pointer, "product_offer", PRODUCT_OFFERS, n->product_offer)) < 0 ||
        (e = check_reference(c, pointer, "network", NETWORKS, n->network)) < 0)
        return e;
    return keys_check(c, &n->r, SERVERS, false, pointer);
}

static int check_parts(const struct cloud *c, const struct server *s, const char *pointer)
{
    int e = 0;

    for (uint32_t i = 0; e == 0 && i < s->disks.n; i++)
        e = check_disk(c, s, (const struct disk *)s->disks.items + i,
                       arena_printf(c->a, "%s/disks/%u", pointer, i));
    for (uint32_t i = 0; e == 0 && i < s->nics.n; i++)
        e = check_nic(c, (const struct nic *)s->nics.items + i, arena_printf(c->a, "%s/nics/%u", pointer, i));
    return e;
}

static int check_server(const struct cloud *c, const struct server *s, const char *pointer)
{
    int e;

    if ((e = check_reference(c, pointer, "vdc", VDCS, s->vdc)) < 0 ||
        (e = check_reference(c, pointer, "image", IMAGES, s->image)) < 0 ||
        (e = check_reference(c, pointer, "product_offer", PRODUCT_OFFERS, s->product_offer)) < 0 ||
        (e = check_server_node(c, s, pointer, "node", s->node)) < 0)
        return e;
    if (s->running != (s->node != NULL))
        return err_set(c->err, -EINVAL,
                       "%s/node: %s, expected the node of a server that runs, and of no other", pointer,
                       s->node ? "given" : "missing");
    if ((e = keys_check_copies(c, &s->sticky_keys, arena_printf(c->a, "%s/sticky_keys", pointer))) < 0 ||
        (e = keys_check_copies(c, &s->started_keys, arena_printf(c->a, "%s/started_keys", pointer))) < 0)
        return e;
    return check_parts(c, s, pointer);
}

static int check_resource(const struct cloud *c, enum cloud_kind kind, uint32_t i)
{
    const char *pointer = arena_printf(c->a, "/%s/%u", kinds[kind].name, i);
    const void *item = flexiant_item(c, kind, i);
    bool master = kind == BILLING_ENTITIES && ((const struct billing_entity *)item)->master;
    int e = kind == NODES ? 0 : keys_check(c, item, kind, master, pointer);

    if (e < 0)
        return e;
    switch (kind) {
    case NODES:
        return check_node(c, item, pointer);
    case CUSTOMERS:
    case PRODUCT_OFFERS:
    case IMAGES:
    case VDCS:
    case NETWORKS:
        return check_owned(c, item, pointer);
    case SERVERS:
        return check_server(c, item, pointer);
    case CLUSTERS:
    case BILLING_ENTITIES:
    case CLOUD_KINDS:
        break;
    }
    return 0;
}

/* ---- the whole ---- */

static int read_fields(const json_t *json, struct cloud *c)
{
    struct unknown_fields unknown = {0};
    const struct reader r = {.a = c->a, .unknown = &unknown, .err = c->err};
    CLEANUP(freep) char *text = json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY);
    struct node *document;
    int e = text ? json_tree_parse(text, c->a, &document, c->err) : err_set(c->err, -ENOMEM, "out of memory");

    if (e < 0)
        return e;
    if (document->kind != NODE_MAP)
        return err_set(c->err, -EINVAL, "/: expected an object with clusters, nodes, servers and so on");
    reader_defaults(&r, &settings_schema, &c->settings);
    e = reader_object(&r, document, &cloud_schema, c);
    if (e == 0 && unknown.n > 0)
        return err_set(c->err, -EINVAL, "%s: is no member of a %s, expected one that the manual lists",
                       unknown.items[0].pointer, unknown.items[0].what);
    return e;
}

int flexiant_read(const json_t *json, struct arena *a, struct cloud *ret, struct err *err)
{
    *ret = (struct cloud){.a = a, .err = err};
    int e = read_fields(json, ret);

    for (int kind = 0; e == 0 && kind < CLOUD_KINDS; kind++)
        e = index_ids(ret, (enum cloud_kind)kind);
    for (int kind = 0; e == 0 && kind < CLOUD_KINDS; kind++)
        for (uint32_t i = 0; e == 0 && i < ret->lists[kind].n; i++)
            e = check_resource(ret, (enum cloud_kind)kind, i);
    if (e == 0 && ret->settings.final_msav > ret->settings.initial_msav)
        return err_set(err, -EINVAL, "/settings/FINAL_MSAV: above INITIAL_MSAV, expected at most that");
    return e == 0 ? keys_check_nodes(ret) : e;
}
