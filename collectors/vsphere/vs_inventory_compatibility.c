/* vs_inventory_compatibility.c: what hosts offer and VMs need: networks, datastores, vGPUs, CPU baselines;
 * and which VMs stay where they are. */
#include "collectors/vsphere/vs_devices.h"

#include "base/cleanup.h"
#include "base/idmap.h"

#include <stdlib.h>
#include <string.h>

struct evc_modes vs_inventory_evc_modes(const xml_node *list, struct arena *a)
{
    struct evc_mode *items = NULL;
    size_t n = 0;
    size_t cap = 0;

    for (const xml_node *m = xml_child(list, "EVCMode"); m; m = xml_again(m)) {
        struct evc_mode mode = {.key = xml_text(xml_child(m, "key"), a),
                                .vendor = xml_text(xml_child(m, "vendor"), a)};
        if (!mode.key || !mode.vendor || xml_int(xml_child(m, "vendorTier"), &mode.tier) < 0)
            continue;
        items = arena_grow(a, items, n, &cap, sizeof *items);
        items[n++] = mode;
    }
    return (struct evc_modes){.items = items, .n = n};
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Names of networks or of datastores by id: as people know them, with the id where two have one name. */
struct names {
    struct arena *a;
    struct idmap by_id; /* char * */
};

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const struct vs_inventory_named *const *)a)->name,
                  (*(const struct vs_inventory_named *const *)b)->name);
}

static void names_init(struct names *names, const struct vs_inventory *s, bool datastores)
{
    CLEANUP(arena_releasep) struct arena work = {0};
    const struct vs_inventory_named **list =
        arena_array(&work, const struct vs_inventory_named *, s->n_named);
    size_t n = 0;

    *names = (struct names){.a = s->arena};
    for (size_t i = 0; i < s->n_named; i++) {
        if (s->named[i].datastore == datastores && s->named[i].name)
            list[n++] = &s->named[i];
    }
    qsort(list, n, sizeof *list, by_name);
    for (size_t i = 0; i < n; i++) {
        bool twice = (i > 0 && by_name(&list[i - 1], &list[i]) == 0) ||
                     (i + 1 < n && by_name(&list[i], &list[i + 1]) == 0);
        *idmap_slot(&names->by_id, list[i]->id) =
            twice ? arena_printf(s->arena, "%s (%s)", list[i]->name, list[i]->id) : (void *)list[i]->name;
    }
}

static void names_release(struct names *names)
{
    idmap_release(&names->by_id, NULL);
}

static struct ids names_of(const struct names *names, const struct ids *ids)
{
    const char **items = arena_array(names->a, const char *, ids->n);

    for (uint32_t i = 0; i < ids->n; i++) {
        const char *name = idmap_get(&names->by_id, ids->items[i]);
        items[i] = name ? name : ids->items[i];
    }
    return (struct ids){.items = items, .n = ids->n};
}

/* ---- hosts ----------------------------------------------------------------------------------- */

static const struct evc_mode *find_mode(const struct vs_inventory *s, const char *key)
{
    for (size_t i = 0; key && i < s->evc.n; i++) {
        if (strcmp(s->evc.items[i].key, key) == 0)
            return &s->evc.items[i];
    }
    return NULL;
}

/* The mode that masks its CPU, else the best that the CPU can do. */
static const struct evc_mode *mode_of(const struct vs_inventory *s, const struct vs_inventory_host *h)
{
    const struct evc_mode *now = find_mode(s, h->evc_mode);

    return now ? now : find_mode(s, h->evc_mode_max);
}

static const char *vendor_of(const struct vs_inventory *s, const struct vs_inventory_host *h)
{
    static const char *const vendors[][2] = {{"Intel", "intel"}, {"AMD", "amd"}, {"Hygon", "hygon"}};
    const struct evc_mode *mode = mode_of(s, h);

    if (mode)
        return mode->vendor;
    for (size_t i = 0; h->cpu_model && i < sizeof vendors / sizeof vendors[0]; i++) {
        if (strncmp(h->cpu_model, vendors[i][0], strlen(vendors[i][0])) == 0)
            return vendors[i][1];
    }
    return NULL;
}

static void map_modes(const struct vs_inventory *s, const struct vs_inventory_host *h, struct host_facts *to)
{
    const struct evc_mode *best = mode_of(s, h);
    const char **items = arena_array(s->arena, const char *, s->evc.n);
    uint32_t n = 0;

    for (size_t i = 0; best && i < s->evc.n; i++) {
        const struct evc_mode *m = &s->evc.items[i];
        if (strcmp(m->vendor, best->vendor) == 0 && m->tier <= best->tier)
            items[n++] = m->key;
    }
    to->cpu_modes = (struct offer){.names = {.items = items, .n = n}, .known = best != NULL};
}

void vs_inventory_map_offers(const struct vs_inventory *s, struct inventory *inv)
{
    struct names networks, datastores;

    names_init(&networks, s, false);
    names_init(&datastores, s, true);
    for (size_t i = 0; i < s->n_hosts; i++) {
        const struct vs_inventory_host *h = &s->hosts[i];
        struct host_facts *to = &inv->hosts[i].is;

        to->networks = (struct offer){.names = names_of(&networks, &h->networks), .known = h->networks_known};
        to->datastores =
            (struct offer){.names = names_of(&datastores, &h->datastores), .known = h->datastores_known};
        to->devices = (struct offer){.names = h->vgpus, .known = h->devices_known};
        to->cpu_vendor = vendor_of(s, h);
        map_modes(s, h, to);
        to->quarantine = h->quarantine;
        to->failure_detection = h->failure_detection;
        to->hardware_uuid = h->uuid;
    }
    names_release(&networks);
    names_release(&datastores);
}

/* ---- VMs ------------------------------------------------------------------------------------- */

static const char *copy(const struct vs_inventory *s, const char *text)
{
    return text ? arena_strdup(s->arena, text) : NULL;
}

static const char *why_immovable(const struct vs_inventory *s, const struct vs_inventory_vm *v)
{
    if (v->state == VM_ON && v->asks)
        return "a question in vCenter that waits for an answer";
    /* while it is being migrated, a second migration is disabled as well */
    if (v->state == VM_ON && v->migration_disabled && !v->migrating)
        return "vCenter's ban on its migration, as during a backup";
    return v->devices ? copy(s, v->devices->immovable) : NULL;
}

static const char *why_mandatory_only(const struct vs_inventory *s, const struct vs_inventory_vm *v)
{
    if (v->devices && v->devices->mandatory_only)
        return copy(s, v->devices->mandatory_only);
    return v->latency_sensitive      ? "latency sensitivity high"
           : v->consolidation_needed ? "disks that need consolidation"
                                     : NULL;
}

static struct ids vgpus_of(const struct vs_inventory *s, const struct vs_inventory_vm *v)
{
    uint32_t n = v->devices ? v->devices->vgpus.n : 0;
    const char **items = arena_array(s->arena, const char *, n);

    for (uint32_t i = 0; i < n; i++)
        items[i] = copy(s, v->devices->vgpus.items[i]);
    return (struct ids){.items = items, .n = n};
}

void vs_inventory_map_needs(const struct vs_inventory *s, const bool *kept, struct inventory *inv)
{
    struct names networks, datastores;
    struct idmap hosts = {0};
    size_t to = 0;

    names_init(&networks, s, false);
    names_init(&datastores, s, true);
    for (size_t i = 0; i < s->n_hosts; i++)
        *idmap_slot(&hosts, s->hosts[i].id) = &s->hosts[i];
    for (size_t i = 0; i < s->n_vms; i++) {
        const struct vs_inventory_vm *v = &s->vms[i];
        if (!kept[i])
            continue;
        struct vm_facts *f = &inv->vms[to++].is;
        const struct vs_inventory_host *host = v->host ? idmap_get(&hosts, v->host) : NULL;

        f->networks = names_of(&networks, &v->networks);
        f->datastores = names_of(&datastores, &v->datastores);
        f->devices = vgpus_of(s, v);
        f->immovable = why_immovable(s, v);
        f->mandatory_only = why_mandatory_only(s, v);
        if (v->state == VM_OFF)
            continue; /* it starts with whatever CPU it finds */
        f->cpu_vendor = host ? vendor_of(s, host) : NULL;
        f->cpu_mode = find_mode(s, v->evc_mode) ? v->evc_mode : NULL;
    }
    idmap_release(&hosts, NULL);
    names_release(&networks);
    names_release(&datastores);
}
