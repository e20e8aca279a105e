/* Answers of Proxmox VE, and the texts within them. The same bytes are every answer of a look at once: what
 * is read of them becomes an inventory that a snapshot can be built of; and they are a property string. */
#include "collectors/proxmox/pve_map.h"

#include "collectors/proxmox/pve_property.h"
#include "model/snapshot_build.h"
#include "net/peer_json.h"

#include <stdlib.h>
#include <string.h>

static void read_texts(const char *text, struct arena *a)
{
    const char *at = text, *item;
    unsigned priority;
    size_t n = 0;

    (void)pve_property(text, NULL, a);
    (void)pve_property(text, "bridge", a);
    while ((item = pve_list_next(&at, a)) && n++ < 100000)
        if (!item[0] || strpbrk(item, ",; \t\r\n"))
            abort();
    for (at = text; (item = pve_node_next(&at, &priority, a));)
        if (strchr(item, ':'))
            abort();
    (void)pve_major(text);
}

static void keep(struct pve_look *l, const char *path, json_t *o)
{
    pve_cache_put(pve_cache_slot(&l->cache, path), json_incref(o), 1);
}

/* Every node and every guest has this answer, too. */
static void answer_all(struct pve_look *l, const struct pve_view *v, json_t *o)
{
    static const char *const of_cluster[] = {PVE_OPTIONS,   PVE_HA_RESOURCES, PVE_HA_RULES, PVE_HA_GROUPS,
                                             PVE_HA_STATUS, PVE_VOTES,        PVE_CEPH,     PVE_REPLICATION};
    static const char *const of_node[] = {PVE_STATUS, PVE_NETWORK, PVE_QEMU, PVE_RRD};
    char path[256];

    for (size_t i = 0; i < sizeof of_cluster / sizeof of_cluster[0]; i++)
        keep(l, of_cluster[i], o);
    for (size_t n = 0; n < v->n_nodes; n++)
        for (size_t i = 0; i < sizeof of_node / sizeof of_node[0]; i++) {
            (void)snprintf(path, sizeof path, "/nodes/%s/%s", v->nodes[n].name, of_node[i]);
            keep(l, path, o);
        }
    for (size_t g = 0; g < v->n_guests; g++) {
        (void)snprintf(path, sizeof path, "%s/" PVE_CONFIG, v->guests[g].id);
        keep(l, path, o);
        (void)snprintf(path, sizeof path, "%s/" PVE_CURRENT, v->guests[g].id);
        keep(l, path, o);
    }
}

/* The members of an object are the answers' parts: a list of rows, a configuration, ... */
static void map(json_t *rows, json_t *rest, struct arena *a)
{
    struct source_config cfg = {
        .kind = "proxmox", .url = "https://n:8006", .username = "u@pve!t", .password = "x"};
    struct pve_look l = {.cfg = &cfg, .now_ms = 2};
    struct pve_view view;
    struct inventory inv;
    struct snapshot snap;
    struct err err;

    if (pve_new(&cfg, &l.api, &err) < 0)
        abort();
    if (pve_read_resources(rows, a, &view, &err) == 0 && pve_read_status(rest, a, &view, &err) <= 0) {
        pve_read_votes(rest, &view);
        answer_all(&l, &view, rest);
        pve_map(&l, &view, a, &inv);
        if (snapshot_build(&inv, a, &snap, &err) < 0) {
            (void)fprintf(stderr, "%s\n", err.text);
            abort();
        }
    }
    pve_look_release(&l);
    pve_free(l.api);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    char *text = strndup((const char *)data, size);
    json_t *o = NULL;
    struct err err;

    if (text)
        read_texts(text, &a);
    free(text);
    if (peer_json_read((const char *)data, size, 16, &o, &err) == 0) {
        json_t *rows = json_object_get(o, "resources"), *rest = json_object_get(o, "rest");

        map(rows ? rows : o, rest ? rest : o, &a);
        json_decref(o);
    }
    arena_release(&a);
    return 0;
}
