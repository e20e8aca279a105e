/* pve_rules.c: the groups of HA (version 8) and its rules (version 9) as rules of the inventory. */
#include "collectors/proxmox/pve_map.h"

#include "collectors/proxmox/pve_property.h"
#include "net/peer_json.h"

#include <stdlib.h>
#include <string.h>

struct nodes {
    struct ids all, first; /* first: those of the highest priority */
    bool ranked;           /* there are others */
};

static struct nodes read_nodes(const struct pve_map *m, const char *text)
{
    struct nodes ret = {0};
    const char *at = text;
    const char *name;
    unsigned priority, most = 0, least = UINT32_MAX;

    while ((name = pve_node_next(&at, &priority, m->a))) {
        if (!pve_map_host(m, name))
            continue;
        most = priority > most ? priority : most;
        least = priority < least ? priority : least;
        pve_add_name(&ret.all, name, m->a);
    }
    ret.ranked = ret.all.n > 0 && most > least;
    for (at = text; ret.ranked && (name = pve_node_next(&at, &priority, m->a));) {
        if (priority == most && pve_map_host(m, name))
            pve_add_name(&ret.first, name, m->a);
    }
    return ret;
}

struct ha {
    struct pve_map *map;
    struct idmap guests;  /* those that are there, by id */
    struct idmap managed; /* by "vm:100": what HA is told to ignore, no rule of it binds */
    struct idmap members; /* of groups: struct ids */
    struct idmap named;   /* the rules so far, by id */
};

static void ha_release(struct ha *h)
{
    idmap_release(&h->guests, NULL);
    idmap_release(&h->managed, NULL);
    idmap_release(&h->members, NULL);
    idmap_release(&h->named, NULL);
}

/* "vm:100" -> "100", of a guest that is there. */
static void add_resource(struct ha *h, const char *sid, struct ids *ret)
{
    const char *colon = strchr(sid, ':');

    if (colon && idmap_get(&h->managed, sid) && idmap_get(&h->guests, colon + 1))
        pve_add_name(ret, arena_strdup(h->map->a, colon + 1), h->map->a);
}

static void read_resources(struct ha *h, const json_t *resources)
{
    const struct inventory *inv = h->map->inv;
    json_t *row;
    size_t i;

    for (i = 0; i < inv->n_vms; i++)
        *idmap_slot(&h->guests, inv->vms[i].is.id) = h;
    json_array_foreach(resources, i, row)
    {
        const char *sid = peer_json_text(row, "sid");
        const char *state = peer_json_text(row, "state");
        const char *group = peer_json_text(row, "group");

        if (!sid || (strncmp(sid, "vm:", 3) != 0 && strncmp(sid, "ct:", 3) != 0) ||
            (state && strcmp(state, "ignored") == 0))
            continue;
        *idmap_slot(&h->managed, sid) = h;
        if (!group)
            continue;
        void **members = idmap_slot(&h->members, group);
        if (!*members)
            *members = arena_new(h->map->a, struct ids);
        add_resource(h, sid, *members);
    }
}

/* While a cluster is upgraded, a group and a rule may have the same name. */
static const char *free_id(struct ha *h, const char *name, const char *suffix)
{
    const char *id = arena_printf(h->map->a, "ha:%.200s%s", name, suffix);

    for (unsigned i = 2; idmap_get(&h->named, id); i++)
        id = arena_printf(h->map->a, "ha:%.200s%s (%u)", name, suffix, i);
    *idmap_slot(&h->named, id) = h;
    return id;
}

static struct seen_rule *add_rule(struct ha *h, enum rule_kind kind, const char *name, const char *suffix,
                                  const struct ids *vms, const struct ids *hosts, bool mandatory)
{
    struct pve_map *m = h->map;
    struct seen_rule *r = inventory_add_rule(m->inv, m->a);

    rule_facts_default(&r->is, kind);
    r->is.id = free_id(h, name, suffix);
    r->is.name = arena_printf(m->a, "%.200s%s", name, suffix);
    r->is.origin = RULE_OF_SOURCE;
    r->is.enabled = true;
    r->is.mandatory = mandatory;
    r->vms = *vms;
    r->hosts = *hosts;
    return r;
}

/* Strict or restricted: these nodes and no others. Of nodes with priorities HA prefers those of the highest.
 */
static void add_host_rule(struct ha *h, const char *name, const struct ids *vms, const char *text,
                          bool strict, bool negative, bool enabled)
{
    struct nodes n = read_nodes(h->map, text);

    if (vms->n == 0 || n.all.n == 0)
        return;
    add_rule(h, negative ? RULE_HOST_ANTI_AFFINE : RULE_HOST_AFFINE, name, "", vms, &n.all, strict)
        ->is.enabled = enabled;
    if (n.ranked && !negative)
        add_rule(h, RULE_HOST_AFFINE, name, " (highest priority)", vms, &n.first, false)->is.enabled =
            enabled;
}

static void add_group(struct ha *h, const json_t *group)
{
    const char *name = peer_json_text(group, "group");
    const struct ids *vms = name ? idmap_get(&h->members, name) : NULL;

    if (vms)
        add_host_rule(h, name, vms, peer_json_text(group, "nodes"), peer_json_flag(group, "restricted"),
                      false, true);
}

static void add_rule_of_9(struct ha *h, const json_t *rule)
{
    struct arena *a = h->map->a;
    const char *name = peer_json_text(rule, "rule");
    const char *type = peer_json_text(rule, "type");
    const char *affinity = peer_json_text(rule, "affinity");
    const char *at = peer_json_text(rule, "resources");
    bool negative = affinity && strcmp(affinity, "negative") == 0;
    bool enabled = !peer_json_flag(rule, "disable") && !json_object_get(rule, "errors");
    const char *sid;
    struct ids vms = {0};

    while ((sid = pve_list_next(&at, a)))
        add_resource(h, sid, &vms);
    if (!name || !type)
        return;
    if (strcmp(type, "node-affinity") == 0)
        add_host_rule(h, name, &vms, peer_json_text(rule, "nodes"),
                      negative || peer_json_flag(rule, "strict"), negative, enabled);
    else if (strcmp(type, "resource-affinity") == 0 && affinity && vms.n > 1)
        add_rule(h, negative ? RULE_VM_ANTI_AFFINE : RULE_VM_AFFINE, name, "", &vms, &(struct ids){0}, true)
            ->is.enabled = enabled;
}

void pve_rules(struct pve_map *m)
{
    const struct pve_look *l = m->look;
    const json_t *resources = pve_cache_get(&l->cache, PVE_HA_RESOURCES, l->now_ms, PVE_FACTS_MS);
    const json_t *groups = pve_cache_get(&l->cache, PVE_HA_GROUPS, l->now_ms, PVE_FACTS_MS);
    const json_t *rules = pve_cache_get(&l->cache, PVE_HA_RULES, l->now_ms, PVE_FACTS_MS);
    struct ha h = {.map = m};
    json_t *row;
    size_t i;

    read_resources(&h, resources);
    json_array_foreach(groups, i, row) add_group(&h, row);
    json_array_foreach(rules, i, row) add_rule_of_9(&h, row);
    ha_release(&h);
}
