/* pve_read.c: from JSON to rows. It sends no request. */
#include "collectors/proxmox/pve_read.h"

#include "net/peer_json.h"
#include "net/proxmox/session.h"

#include <ballast/units.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 255
#define TAGS_MAX_BYTES 16384
#define SIZE_MOST 1e18

/* 0 and more; nothing that is not told becomes 0. */
static double amount(const json_t *row, const char *key)
{
    double v = peer_json_number(row, key);

    return v >= 0 && v < SIZE_MOST ? v : UNKNOWN;
}

/* At most so many bytes, and whole characters. */
static const char *copy_most(const json_t *row, const char *key, size_t most, struct arena *a)
{
    const char *text = peer_json_text(row, key);
    size_t len = text ? strnlen(text, most) : 0;

    while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
        len--;
    return len > 0 ? arena_strndup(a, text, len) : NULL;
}

static const char *copy(const json_t *row, const char *key, struct arena *a)
{
    return copy_most(row, key, NAME_MAX_BYTES, a);
}

static void add_node(const json_t *row, struct arena *a, struct pve_view *v)
{
    const char *name = peer_json_text(row, "node");
    const char *status = copy(row, "status", a);

    if (!pve_is_node_name(name) || pve_find_node(v, name))
        return;
    v->nodes[v->n_nodes++] = (struct pve_node){.name = arena_strdup(a, name),
                                               .status = status ? status : "unknown",
                                               .hastate = copy(row, "hastate", a),
                                               .cpu = amount(row, "cpu"),
                                               .maxcpu = amount(row, "maxcpu"),
                                               .mem = amount(row, "mem"),
                                               .maxmem = amount(row, "maxmem"),
                                               .uptime = amount(row, "uptime"),
                                               .votes = UNKNOWN};
}

static void add_guest(const json_t *row, bool container, struct arena *a, struct pve_view *v)
{
    double id = peer_json_number(row, "vmid");
    const char *node = peer_json_text(row, "node");
    const char *name = copy(row, "name", a);
    const char *status = copy(row, "status", a);

    if (!(id >= 1 && id <= 999999999) || !pve_is_node_name(node))
        return;
    const char *text = arena_printf(a, "%.0f", id);
    v->guests[v->n_guests++] = (struct pve_guest){.id = text,
                                                  .name = name ? name : text,
                                                  .node = arena_strdup(a, node),
                                                  .status = status ? status : "unknown",
                                                  .container = container,
                                                  .is_template = peer_json_flag(row, "template"),
                                                  .cpu = amount(row, "cpu"),
                                                  .maxcpu = amount(row, "maxcpu"),
                                                  .mem = amount(row, "mem"),
                                                  .maxmem = amount(row, "maxmem"),
                                                  .memhost = amount(row, "memhost"),
                                                  .uptime = amount(row, "uptime"),
                                                  .tags = copy_most(row, "tags", TAGS_MAX_BYTES, a),
                                                  .lock = copy(row, "lock", a),
                                                  .pool = copy(row, "pool", a),
                                                  .hastate = copy(row, "hastate", a)};
}

static void add_storage(const json_t *row, struct arena *a, struct pve_view *v)
{
    const char *node = peer_json_text(row, "node");
    const char *name = copy(row, "storage", a);
    const char *status = peer_json_text(row, "status");
    const char *content = copy(row, "content", a);

    if (!name || !pve_is_node_name(node))
        return;
    v->storages[v->n_storages++] =
        (struct pve_storage){.name = name,
                             .node = arena_strdup(a, node),
                             .content = content ? content : "",
                             .shared = peer_json_flag(row, "shared"),
                             .available = status && strcmp(status, "available") == 0};
}

static int by_id(const void *x, const void *y)
{
    const struct pve_guest *a = x, *b = y;
    size_t la = strlen(a->id), lb = strlen(b->id);

    return la != lb ? (la > lb) - (la < lb) : strcmp(a->id, b->id);
}

/* A guest whose configuration is just being moved may stand in two nodes' rows: one of them is right. */
static void drop_twins(struct pve_view *v)
{
    size_t n = 0;

    if (v->n_guests > 0)
        qsort(v->guests, v->n_guests, sizeof *v->guests, by_id);
    for (size_t i = 0; i < v->n_guests; i++) {
        if (n == 0 || strcmp(v->guests[n - 1].id, v->guests[i].id) != 0)
            v->guests[n++] = v->guests[i];
        else if (strcmp(v->guests[i].status, "running") == 0)
            v->guests[n - 1] = v->guests[i];
    }
    v->n_guests = n;
}

int pve_read_resources(const json_t *data, struct arena *a, struct pve_view *ret, struct err *err)
{
    size_t n = json_array_size(data), nodes = 0, guests = 0, storages = 0, i;
    json_t *row;

    if (!json_is_array(data))
        return err_set(err, -EPROTO, "/cluster/resources is no list");
    json_array_foreach(data, i, row)
    {
        const char *type = peer_json_text(row, "type");

        nodes += type && strcmp(type, "node") == 0;
        storages += type && strcmp(type, "storage") == 0;
        guests += type && (strcmp(type, "qemu") == 0 || strcmp(type, "lxc") == 0);
    }
    if (nodes > PVE_NODES_MAX || guests > PVE_GUESTS_MAX)
        return err_set(err, -EPROTO, "/cluster/resources has %zu nodes and %zu guests in %zu rows", nodes,
                       guests, n);
    *ret = (struct pve_view){.nodes = arena_array(a, struct pve_node, nodes),
                             .guests = arena_array(a, struct pve_guest, guests),
                             .storages = arena_array(a, struct pve_storage, storages)};
    json_array_foreach(data, i, row)
    {
        const char *type = peer_json_text(row, "type");

        if (type && strcmp(type, "node") == 0)
            add_node(row, a, ret);
        else if (type && (strcmp(type, "qemu") == 0 || strcmp(type, "lxc") == 0))
            add_guest(row, strcmp(type, "lxc") == 0, a, ret);
        else if (type && strcmp(type, "storage") == 0)
            add_storage(row, a, ret);
    }
    drop_twins(ret);
    return ret->n_nodes > 0 ? 0 : err_set(err, -EPROTO, "/cluster/resources has no node");
}

struct pve_node *pve_find_node(const struct pve_view *view, const char *name)
{
    for (size_t i = 0; i < view->n_nodes; i++) {
        if (strcmp(view->nodes[i].name, name) == 0)
            return &view->nodes[i];
    }
    return NULL;
}

int pve_read_status(const json_t *data, struct arena *a, struct pve_view *view, struct err *err)
{
    json_t *row;
    size_t i;

    if (!json_is_array(data))
        return err_set(err, -EPROTO, "/cluster/status is no list");
    view->quorate = true; /* a node of its own has no row of a cluster */
    json_array_foreach(data, i, row)
    {
        const char *type = peer_json_text(row, "type");
        const char *name = peer_json_text(row, "name");
        struct pve_node *n = name ? pve_find_node(view, name) : NULL;

        if (type && strcmp(type, "cluster") == 0) {
            view->cluster = copy(row, "name", a);
            view->quorate = peer_json_flag(row, "quorate");
        } else if (type && strcmp(type, "node") == 0 && n) {
            n->in_members = true;
            n->online = peer_json_flag(row, "online");
            n->local = peer_json_flag(row, "local");
        }
    }
    return 0;
}

void pve_read_votes(const json_t *data, struct pve_view *view)
{
    json_t *row;
    size_t i;

    json_array_foreach(data, i, row)
    {
        const char *name = peer_json_text(row, "node");
        struct pve_node *n = name ? pve_find_node(view, name) : NULL;

        if (n)
            n->votes = amount(row, "quorum_votes");
    }
}

unsigned pve_major(const char *version)
{
    const char *at = version ? strchr(version, '/') : NULL;
    unsigned long v = version ? strtoul(at ? at + 1 : version, NULL, 10) : 0;

    return v < 1000 ? (unsigned)v : 0;
}

bool pve_may(const json_t *permissions, const char *path, const char *privilege)
{
    const json_t *best = NULL;
    json_t *value;
    const char *key;
    size_t longest = 0;

    json_object_foreach((json_t *)permissions, key, value)
    {
        size_t len = strcmp(key, "/") == 0 ? 0 : strlen(key);

        if ((!best || len >= longest) && strncmp(path, key, len) == 0 && (!path[len] || path[len] == '/')) {
            best = value;
            longest = len;
        }
    }
    return best && json_object_get(best, privilege) != NULL;
}
