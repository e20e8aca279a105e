/* pve_needs.c: bridges, storages and CPU types of hosts and guests, and why a guest stays where it is. */
#include "collectors/proxmox/pve_map.h"

#include "base/fingerprint.h"
#include "collectors/proxmox/pve_property.h"
#include "net/peer_json.h"
#include "net/proxmox/settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TYPE_DEFAULT "kvm64" /* of a guest without the key cpu */
#define REASON_BYTES 200
#define SIZE_UNKNOWN_MB 1048576

/* ---- CPUs ---- */

static const json_t *cpuinfo_of(const struct pve_map *m, const char *node)
{
    return json_object_get(pve_look_of_node(m->look, node, PVE_STATUS, PVE_CONFIG_MS), "cpuinfo");
}

/* Hosts whose CPUs have one model and the same flags: what runs on one runs on the other. NULL: not known. */
static const char *cpu_of(const struct pve_map *m, const char *node)
{
    const json_t *cpu = cpuinfo_of(m, node);
    const char *model = peer_json_text(cpu, "model");
    const char *flags = peer_json_text(cpu, "flags");

    if (!model || !model[0] || !flags)
        return NULL;
    return arena_printf(m->a, "%.100s (%08x)", model, (unsigned)fingerprint_add(FINGERPRINT_NONE, flags));
}

static bool has_flag(const char *flags, const char *flag, size_t len)
{
    for (const char *at = flags; at && *at;) {
        size_t n = strcspn(at, " ");

        if (n == len && strncmp(at, flag, len) == 0)
            return true;
        at += n;
        at += strspn(at, " ");
    }
    return false;
}

/* Types that are defined by flags, as Linux names them. QEMU documentation, "ABI compatibility levels for CPU
 * models". */
static const struct {
    const char *type, *flags;
} levels[] = {
    {"kvm64", "lm"},
    {"qemu64", "lm"},
    {"x86-64-v1", "lm"},
    {"x86-64-v2", "lm cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3"},
    {"x86-64-v2-AES", "lm cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3 aes"},
    {"x86-64-v3",
     "lm cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3 aes avx avx2 bmi1 bmi2 f16c fma abm movbe xsave"},
    {"x86-64-v4",
     "lm cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3 aes avx avx2 bmi1 bmi2 f16c fma abm movbe xsave "
     "avx512f avx512bw avx512cd avx512dq avx512vl"},
};

static bool is_level(const char *type)
{
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        if (strcmp(levels[i].type, type) == 0)
            return true;
    }
    return false;
}

static void offer_levels(struct pve_map *m, const char *node, struct offer *ret)
{
    const char *flags = peer_json_text(cpuinfo_of(m, node), "flags");

    for (size_t i = 0; flags && i < sizeof levels / sizeof levels[0]; i++) {
        bool all = true;

        for (const char *at = levels[i].flags; all && *at;) {
            size_t n = strcspn(at, " ");
            all = has_flag(flags, at, n);
            at += n + (at[n] == ' ');
        }
        if (all)
            pve_add_name(&ret->names, levels[i].type, m->a);
    }
}

/* A level is offered by every CPU that has its flags. The type host, and any other, is taken to run where the
 * CPUs are those of a host on which it runs: QEMU has no list that tells. */
static const char *mode_of(struct pve_map *m, const struct pve_guest *g, const json_t *config, bool on)
{
    const char *text = peer_json_text(config, "cpu");
    const char *type = pve_property(text, NULL, m->a);
    const char *cpu = cpu_of(m, g->node);

    type = type ? type : pve_property(text, "cputype", m->a);
    type = type ? type : TYPE_DEFAULT;
    if (is_level(type) && !pve_property(text, "flags", m->a))
        return type;
    if (!on) /* it takes the CPU of the host on which it is started */
        return NULL;
    if (strcmp(type, "host") == 0)
        return cpu ? arena_printf(m->a, "host: %s", cpu) : NULL;
    const char *mode = text ? arena_strndup(m->a, text, FACT_NAME_BYTES_MAX) : type;
    if (cpu) {
        void **slot = idmap_slot(&m->cpu_modes, cpu);

        if (!*slot)
            *slot = arena_new(m->a, struct ids);
        pve_add_name(*slot, mode, m->a);
    }
    return mode;
}

void pve_needs_cpu_modes(struct pve_map *m)
{
    for (size_t i = 0; i < m->inv->n_hosts; i++) {
        struct host_facts *h = &m->inv->hosts[i].is;
        const char *cpu = cpu_of(m, h->id);
        const struct ids *proven = cpu ? idmap_get(&m->cpu_modes, cpu) : NULL;

        if (!cpu)
            continue;
        h->cpu_modes.known = true;
        offer_levels(m, h->id, &h->cpu_modes);
        pve_add_name(&h->cpu_modes.names, arena_printf(m->a, "host: %s", cpu), m->a);
        for (uint32_t k = 0; proven && k < proven->n; k++)
            pve_add_name(&h->cpu_modes.names, proven->items[k], m->a);
    }
}

/* ---- what hosts have ---- */

/* The name under which a host offers this storage as the destination of copied disks. */
static const char *copy_storage(const struct pve_map *m, const char *storage)
{
    return arena_printf(m->a, "%s for copies", storage);
}

static const struct proxmox_settings *settings_of(const struct pve_map *m)
{
    static const struct proxmox_settings none = {0};

    return m->look->cfg->settings ? m->look->cfg->settings : &none;
}

/* A storage that is not shared is one of its own on each node. */
static const char *storage_name(const char *storage, const char *node, bool shared, struct arena *a)
{
    return shared ? storage : arena_printf(a, "%s of %s", storage, node);
}

void pve_needs_of_host(struct pve_map *m, const struct pve_node *n, struct seen_host *h)
{
    const json_t *rows = pve_look_of_node(m->look, n->name, PVE_NETWORK, PVE_FACTS_MS), *row;
    size_t i;

    h->is.networks.known = json_array_size(rows) > 0; /* none at all: they may not be seen */
    json_array_foreach(rows, i, row)
    {
        const json_t *active = json_object_get(row, "active");
        const char *name = peer_json_text(row, "iface");

        if (name && (!active || peer_json_flag(row, "active")))
            pve_add_name(&h->is.networks.names, arena_strdup(m->a, name), m->a);
    }
    for (i = 0; i < m->view->n_storages; i++) {
        const struct pve_storage *s = &m->view->storages[i];

        if (strcmp(s->node, n->name) != 0)
            continue;
        h->is.datastores.known = true;
        if (!s->available && n->online)
            continue; /* a node that is off has no available storage: the configured ones count */
        pve_add_name(&h->is.datastores.names, storage_name(s->name, s->node, s->shared, m->a), m->a);
        if (settings_of(m)->local_disks)
            pve_add_name(&h->is.datastores.names, copy_storage(m, s->name), m->a);
    }
}

/* ---- what guests need ---- */

/* The first reason counts. */
static void bind(struct pve_map *m, struct seen_vm *v, const char *why)
{
    if (!v->is.immovable)
        v->is.immovable = arena_strndup(m->a, why, strnlen(why, REASON_BYTES));
}

static const struct pve_storage *find_storage(const struct pve_map *m, const char *name, const char *node)
{
    for (size_t i = 0; i < m->view->n_storages; i++) {
        const struct pve_storage *s = &m->view->storages[i];
        if (strcmp(s->node, node) == 0 && strcmp(s->name, name) == 0)
            return s;
    }
    return NULL;
}

/* "32G", "528K". An unknown size counts as large, so that the migration does not look cheap. */
static double size_mb(const char *text)
{
    static const char units[] = "KMGT";
    char *end = NULL;
    double v = text ? strtod(text, &end) : NAN;
    const char *unit = end && *end ? strchr(units, *end) : NULL;

    if (!(v > 0 && v < 1e9))
        return SIZE_UNKNOWN_MB;
    return v * pow(1024, unit ? (double)(unit - units) + 1 : 0) / (1024 * 1024);
}

/* "store:vol,size=32G"; "none,media=cdrom"; "/dev/sdb" or "/srv/data,mp=/data": a path of the node. */
static void need_disk(struct pve_map *m, const struct pve_guest *g, const char *key, const char *value,
                      struct seen_vm *v)
{
    const char *volume = pve_property(value, NULL, m->a);
    volume = volume ? volume : pve_property(value, "file", m->a);
    volume = volume ? volume : pve_property(value, "volume", m->a);
    const char *colon = volume ? strchr(volume, ':') : NULL;
    const char *shared = pve_property(value, "shared", m->a);

    if (!volume || strcmp(volume, "none") == 0 || strcmp(volume, "cdrom") == 0)
        return;
    if (!colon || volume[0] == '/') {
        if (!shared || strcmp(shared, "1") != 0)
            bind(m, v, arena_printf(m->a, "%s is %.100s of its node", key, volume));
        return;
    }
    const char *name = arena_strndup(m->a, volume, (size_t)(colon - volume));
    const struct pve_storage *s = find_storage(m, name, g->node);
    const char *media = pve_property(value, "media", m->a), *to = settings_of(m)->target_storage;
    bool is_shared = s && s->shared;

    if (s && !is_shared && settings_of(m)->local_disks && !g->container && v->is.state == VM_ON &&
        !(media && strcmp(media, "cdrom") == 0) && !idmap_get(&m->replicated, g->id)) {
        pve_add_name(&v->is.datastores, copy_storage(m, to ? to : name), m->a);
        v->is.disks_copied_mb += size_mb(pve_property(value, "size", m->a));
        return;
    }

    pve_add_name(&v->is.datastores, storage_name(name, g->node, is_shared, m->a), m->a);
    if (!is_shared && strncmp(key, "unused", 6) != 0)
        bind(m, v, arena_printf(m->a, "%s is on the storage %.100s, which is not shared", key, name));
}

static void need_network(struct pve_map *m, const char *value, struct seen_vm *v)
{
    const char *bridge = pve_property(value, "bridge", m->a);
    struct seen_host *h = v->host ? pve_map_host(m, v->host) : NULL;
    uint32_t before = v->is.networks.n;

    pve_add_name(&v->is.networks, bridge, m->a);
    if (v->is.networks.n == before || !h || !h->is.networks.known || v->is.state != VM_ON)
        return;
    for (uint32_t i = 0; i < h->is.networks.names.n; i++) {
        if (strcmp(h->is.networks.names.items[i], bridge) == 0)
            return;
    }
    h->is.networks.known = false; /* one that is in use is not in the list: the list is not whole */
}

/* "mapping=gpu" or "host=..."; "spice" needs nothing of the host. */
static void need_device(struct pve_map *m, const char *key, const char *value, struct seen_vm *v)
{
    const char *mapping = pve_property(value, "mapping", m->a);
    const char *first = pve_property(value, NULL, m->a);

    if (first && strcmp(first, "spice") == 0)
        return;
    if (mapping)
        bind(m, v, arena_printf(m->a, "%s is the mapped device %.100s", key, mapping));
    else
        bind(m, v, arena_printf(m->a, "%s is a device of its node", key));
}

/* The product of these is what QEMU is started with. */
static double vcpus_of(const json_t *config)
{
    double sockets = peer_json_number(config, "sockets"), cores = peer_json_number(config, "cores");

    return (sockets >= 1 ? sockets : 1) * (cores >= 1 ? cores : 1);
}

/* A node starts no VM with more vCPUs than it has CPUs ("MAX 2 vcpus allowed per VM on this node"), and the
 * API's own check before a migration does not look. */
static void need_cpus(struct pve_map *m, const struct pve_guest *g, const json_t *config, struct seen_vm *v)
{
    double vcpus = vcpus_of(config);
    const char **items = NULL;
    uint32_t n = 0;
    size_t cap = 0;

    for (size_t i = 0; i < m->inv->n_hosts; i++) {
        const struct host_facts *h = &m->inv->hosts[i].is;

        if (h->cores > 0 && h->cores < vcpus && strcmp(h->id, g->node) != 0)
            continue;
        items = arena_grow(m->a, items, n, &cap, sizeof *items);
        items[n++] = h->id;
    }
    v->compatible_given = n < m->inv->n_hosts;
    v->compatible_hosts = (struct ids){.items = items, .n = n};
}

static bool is_disk(const char *key)
{
    static const char *const families[] = {"scsi", "virtio", "ide", "sata", "mp", "unused"};
    static const char *const single[] = {"rootfs", "efidisk0", "tpmstate0"};

    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        if (pve_is_of(key, families[i]))
            return true;
    }
    for (size_t i = 0; i < sizeof single / sizeof single[0]; i++) {
        if (strcmp(key, single[i]) == 0)
            return true;
    }
    return false;
}

static void need_configured(struct pve_map *m, const struct pve_guest *g, const json_t *config,
                            struct seen_vm *v)
{
    json_t *value;
    const char *key;

    json_object_foreach((json_t *)config, key, value)
    {
        const char *text = json_string_value(value);

        if (!text)
            continue;
        if (is_disk(key))
            need_disk(m, g, key, text, v);
        else if (pve_is_of(key, "net"))
            need_network(m, text, v);
        else if (pve_is_of(key, "hostpci") || pve_is_of(key, "usb") || pve_is_of(key, "dev"))
            need_device(m, key, text, v);
        else if (pve_is_of(key, "virtiofs"))
            bind(m, v, arena_printf(m->a, "%s is a directory of its node", key));
    }
    if (!g->container) {
        v->is.cpu_mode = mode_of(m, g, config, v->is.state == VM_ON);
        need_cpus(m, g, config, v);
    }
    if (peer_json_text(config, "affinity"))
        v->is.mandatory_only = "pinned to CPUs of its node";
    else if (peer_json_text(config, "hugepages"))
        v->is.mandatory_only = "huge pages";
    double limit = peer_json_number(config, "cpulimit") * pve_core_mhz(m->look, g->node);
    if (limit > 0)
        v->is.alloc[RES_CPU].limit = limit;
}

/* A state of the HA manager in which it acts on the guest itself, or has given it up. */
static const char *ha_busy(const struct pve_map *m, const struct pve_guest *g)
{
    static const char *const busy[] = {"error",    "fence",  "recovery",    "migrate",
                                       "relocate", "freeze", "request_stop"};
    const json_t *status = pve_cache_get(&m->look->cache, PVE_HA_STATUS, m->look->now_ms, PVE_PRESSURE_MS);
    const json_t *services = json_object_get(json_object_get(status, "manager_status"), "service_status");
    const char *sid = arena_printf(m->a, "%s:%s", g->container ? "ct" : "vm", g->id);
    const char *state = peer_json_text(json_object_get(services, sid), "state");

    for (size_t i = 0; state && i < sizeof busy / sizeof busy[0]; i++) {
        if (strcmp(state, busy[i]) == 0)
            return busy[i];
    }
    return NULL;
}

/* A guest that is off and cannot be moved is started where it is. */
static void stay_home(struct pve_map *m, const struct pve_guest *g, struct seen_vm *v)
{
    const char **items = arena_array(m->a, const char *, 1);

    items[0] = g->node;
    v->compatible_given = true;
    v->compatible_hosts = (struct ids){.items = items, .n = 1};
}

void pve_needs_of_guest(struct pve_map *m, const struct pve_guest *g, struct seen_vm *v)
{
    const json_t *config = pve_look_of_guest(m->look, g, PVE_CONFIG, PVE_CONFIG_MS);
    const char *target = idmap_get(&m->replicated, g->id);
    const char *ha = ha_busy(m, g);
    bool running = strcmp(g->status, "running") == 0;

    if (g->lock)
        bind(m, v, arena_printf(m->a, "it is locked (%.60s)", g->lock));
    if (ha)
        bind(m, v, arena_printf(m->a, "HA has it in state %s", ha));
    if (v->is.state == VM_ON && !running)
        bind(m, v, arena_printf(m->a, "it is not running but %.60s", g->status));
    if (g->container && v->is.state == VM_ON && !settings_of(m)->restart_containers)
        bind(m, v, "a container, which would have to be restarted");
    else if (g->container && v->is.state == VM_ON)
        v->is.mandatory_only = "a container, which is restarted when it moves";
    if (!config)
        bind(m, v, "its configuration has not been read yet");
    if (target)
        bind(m, v, arena_printf(m->a, "its local disks are replicated to %.60s", target));
    if (config)
        need_configured(m, g, config, v);
    if (v->is.state != VM_ON && v->is.immovable)
        stay_home(m, g, v);
}
