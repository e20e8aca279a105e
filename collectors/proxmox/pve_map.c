/* pve_map.c: hosts and guests, with the samples of guests, in Ballast's units. */
#include "collectors/proxmox/pve_map.h"

#include "base/order.h"
#include "net/peer_json.h"
#include "net/proxmox/ceph.h"
#include "net/proxmox/guest_identity.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define INTERVAL_MS 10000.0 /* pvestatd's: loads and pressures are of so long */
#define TURBO_MOST 2.5      /* a load so many times that of all vCPUs is still one */
#define TAGS_LABEL "tags"
#define SETTLES_S 300 /* after its boot a node is on at the latest */
#define SAME                                                                                                 \
    0.98 /* what the guest uses and what backs it are one figure: there are no balloon statistics            \
          */

/* ---- lists ---- */

void pve_add_name(struct ids *list, const char *name, struct arena *a)
{
    size_t len = name ? strlen(name) : 0;

    if (len == 0 || len > FACT_NAME_BYTES_MAX || list->n >= PVE_NAMES_MAX)
        return;
    for (uint32_t i = 0; i < list->n; i++) {
        if (strcmp(list->items[i], name) == 0)
            return;
    }
    size_t cap = 1;
    while (cap < list->n)
        cap *= 2;
    if (list->n == 0 || cap == list->n) {
        const char **items = arena_array(a, const char *, list->n == 0 ? 1 : 2 * cap);
        if (list->n > 0)
            memcpy(items, list->items, list->n * sizeof *items);
        list->items = items;
    }
    ((const char **)list->items)[list->n++] = name;
}

struct seen_host *pve_map_host(const struct pve_map *m, const char *name)
{
    size_t ix = (size_t)(uintptr_t)idmap_get(&m->hosts, name);

    return ix > 0 ? &m->inv->hosts[ix - 1] : NULL;
}

static void add_label(struct labels *l, const char *key, const char *value, struct arena *a)
{
    struct label *items = arena_array(a, struct label, l->n + 1);

    if (!value || !value[0])
        return;
    if (l->n > 0)
        memcpy(items, l->items, l->n * sizeof *items);
    items[l->n] = (struct label){.key = key, .value = value};
    *l = (struct labels){.items = items, .n = l->n + 1};
}

/* ---- hosts ---- */

/* The nominal clock stands in the names of many models; else the highest that was ever seen counts. */
double pve_core_mhz(struct pve_look *l, const char *node)
{
    const json_t *cpu = json_object_get(pve_look_of_node(l, node, PVE_STATUS, PVE_CONFIG_MS), "cpuinfo");
    const char *model = peer_json_text(cpu, "model");
    const char *at = model ? strstr(model, "@ ") : NULL;
    struct pve_node_memory *m = pve_look_node_memory(l, node);
    double mhz = peer_json_number(cpu, "mhz");
    char *end = NULL;
    double nominal = at ? strtod(at + 2, &end) : 0;

    if (at && strncmp(end, "GHz", 3) == 0 && nominal >= 0.1 && nominal <= 20)
        return nominal * 1000;
    if (mhz >= 100 && mhz <= 20000 && mhz > m->mhz)
        m->mhz = mhz;
    return m->mhz > 0 ? m->mhz : UNKNOWN;
}

static bool in_maintenance(const struct pve_map *m, const struct pve_node *n)
{
    const json_t *status = pve_cache_get(&m->look->cache, PVE_HA_STATUS, m->look->now_ms, PVE_FACTS_MS);
    const json_t *request =
        json_object_get(json_object_get(json_object_get(status, "manager_status"), "node_request"), n->name);

    return (n->hastate && strcmp(n->hastate, "maintenance") == 0) || peer_json_flag(request, "maintenance");
}

static bool runs_guests(const struct pve_map *m, const char *node)
{
    for (size_t i = 0; i < m->view->n_guests; i++) {
        const struct pve_guest *g = &m->view->guests[i];
        if (strcmp(g->node, node) == 0 && !g->is_template && strcmp(g->status, "stopped") != 0)
            return true;
    }
    return false;
}

/* Whether a node that has just booted can take guests: its storages are available, and HA knows its state.
 * After SETTLES_S missing storages are its normal state. */
static bool is_settled(const struct pve_map *m, const struct pve_node *n)
{
    if (!(n->uptime < SETTLES_S))
        return true;
    for (size_t i = 0; i < m->view->n_storages; i++) {
        const struct pve_storage *s = &m->view->storages[i];
        if (strcmp(s->node, n->name) == 0 && !s->available)
            return false;
    }
    return !n->hastate || strcmp(n->hastate, "unknown") != 0;
}

static void set_host_state(struct pve_map *m, const struct pve_node *n, struct host_facts *h)
{
    const char *why = !n->in_members                     ? "no member of the cluster"
                      : !n->online                       ? "offline"
                      : strcmp(n->status, "online") != 0 ? "online, but nothing is known of it"
                      : !(h->total[RES_CPU] > 0)         ? "online, but its API does not tell its CPUs"
                      : !(h->total[RES_MEM] > 0)         ? "online, but its memory is not known"
                      : n->hastate && strcmp(n->hastate, "fence") == 0 ? "being fenced"
                                                                       : NULL;

    if (why) {
        h->state = HOST_DISCONNECTED;
        h->disconnected_why = why;
    } else if (in_maintenance(m, n)) {
        h->state = runs_guests(m, n->name) ? HOST_ENTERING_MAINTENANCE : HOST_MAINTENANCE;
    } else {
        h->state = is_settled(m, n) ? HOST_ON : HOST_POWERING_ON;
    }
    if (n->hastate && strcmp(n->hastate, "online") == 0)
        h->failure_detection = FAILURE_DETECTION_HEALTHY;
}

/* Also where the node that answers has none, or its API no such request. Of others nothing follows then: the
 * actuator asks them. */
static bool is_ceph_known(const struct pve_map *m, const json_t *ceph)
{
    const struct pve_kept *k = idmap_get(&m->look->cache.by_path, PVE_CEPH);

    return ceph ? pve_ceph_is_whole(ceph)
                : k && !k->data && (k->refused == -EOPNOTSUPP || pve_ceph_is_missing(k->refused, k->why));
}

/* The node runs HA's manager. Without it HA does nothing until another node has taken over. */
static bool is_master(const struct pve_map *m, const char *node)
{
    const json_t *status = pve_cache_get(&m->look->cache, PVE_HA_STATUS, m->look->now_ms, PVE_FACTS_MS);
    const char *master = peer_json_text(json_object_get(status, "manager_status"), "master_node");

    return master && strcmp(master, node) == 0;
}

/* The node is the target of a replication. */
static bool has_copies(const struct pve_map *m, const char *node)
{
    const json_t *jobs = pve_cache_get(&m->look->cache, PVE_REPLICATION, m->look->now_ms, PVE_FACTS_MS);
    json_t *job;
    size_t i;

    json_array_foreach(jobs, i, job)
    {
        const char *target = peer_json_text(job, "target");
        if (target && strcmp(target, node) == 0)
            return true;
    }
    return false;
}

/* A node that others need is never put to standby: it has services of Ceph or copies of disks, runs HA's
 * manager, or answers the requests. While it is not known where Ceph runs, any node may have its services. */
static void add_roles(const struct pve_map *m, const struct pve_node *n, struct host_facts *h)
{
    const json_t *ceph = pve_cache_get(&m->look->cache, PVE_CEPH, m->look->now_ms, PVE_CONFIG_MS);
    bool osd = pve_ceph_runs(ceph, "osd", n->name), mon = pve_ceph_runs(ceph, "mon", n->name);
    bool other = pve_ceph_runs(ceph, "mgr", n->name) || pve_ceph_runs(ceph, "mds", n->name);
    unsigned major = pve_look_major(m->look, n->name);

    h->serves_storage = osd;
    if (mon || other || !is_ceph_known(m, ceph) || n->local || is_master(m, n->name) ||
        has_copies(m, n->name))
        h->dpm = AUTOMATION_DISABLED;
    if (osd || mon)
        add_label(&h->labels, "ceph", osd && mon ? "mon;osd" : osd ? "osd" : "mon", m->a);
    if (major > 0)
        add_label(&h->labels, "pve", arena_printf(m->a, "%u", major), m->a);
    if (!isnan(n->votes))
        add_label(&h->labels, "votes", arena_printf(m->a, "%.0f", n->votes), m->a);
}

/* ZFS gives its cache back when memory is needed, so it counts as free. It is in `mem`. */
static double free_mb(const struct pve_map *m, const struct pve_node *n)
{
    double arc = peer_json_number(pve_look_of_node(m->look, n->name, PVE_RRD, PVE_ARC_MS), "arcsize");
    double used = n->mem - (arc > 0 && arc <= n->mem ? arc : 0);

    return used <= n->maxmem ? (n->maxmem - used) / BYTES_PER_MIB : UNKNOWN;
}

static void add_host(struct pve_map *m, const struct pve_node *n)
{
    const json_t *status = pve_look_of_node(m->look, n->name, PVE_STATUS, PVE_CONFIG_MS);
    struct seen_host *h = inventory_add_host(m->inv, m->a);
    double cpus = peer_json_number(json_object_get(status, "cpuinfo"), "cpus");
    double mhz = pve_core_mhz(m->look, n->name);
    double mem = isnan(n->maxmem) ? peer_json_number(json_object_get(status, "memory"), "total") : n->maxmem;

    *idmap_slot(&m->hosts, n->name) = (void *)(uintptr_t)m->inv->n_hosts;
    h->is.id = h->is.name = n->name;
    if (cpus >= 1 && cpus <= 65536 && mhz > 0) {
        h->is.cores = (uint32_t)cpus;
        h->is.total[RES_CPU] = h->is.cores * mhz;
    }
    h->is.total[RES_MEM] = mem > 0 ? mem / BYTES_PER_MIB : 0;
    h->is.mem_free_mb = free_mb(m, n);
    double stalls =
        peer_json_number(pve_look_of_node(m->look, n->name, PVE_RRD, PVE_ARC_MS), "pressurememoryfull");
    h->is.mem_pressure = stalls > 0 && stalls <= 100 ? stalls / 100 : 0;
    h->cpu_used_mhz = n->cpu >= 0 && n->cpu <= 1 ? n->cpu * h->is.total[RES_CPU] : UNKNOWN;
    h->booted = n->uptime > 0 && n->uptime < (double)m->inv->time ? m->inv->time - (instant_s)n->uptime : 0;
    h->is.wake_methods = WAKE_HYPERVISOR; /* other nodes send the packet */
    set_host_state(m, n, &h->is);
    add_roles(m, n, &h->is);
    pve_needs_of_host(m, n, h);
}

/* ---- guests ---- */

/* The rows of `qemu` of all nodes, by guest: they have the pressures. */
static void index_pressures(struct pve_map *m)
{
    char id[32];

    for (size_t n = 0; n < m->view->n_nodes; n++) {
        const json_t *rows = pve_look_of_node(m->look, m->view->nodes[n].name, PVE_QEMU, PVE_PRESSURE_MS);
        json_t *row;
        size_t i;

        json_array_foreach(rows, i, row)
        {
            double vmid = peer_json_number(row, "vmid");
            if (!(vmid >= 1 && vmid <= 999999999))
                continue;
            (void)snprintf(id, sizeof id, "%.0f", vmid);
            *idmap_slot(&m->pressures, id) = row;
        }
    }
}

static void index_replication(struct pve_map *m)
{
    const json_t *jobs = pve_cache_get(&m->look->cache, PVE_REPLICATION, m->look->now_ms, PVE_FACTS_MS);
    json_t *job;
    char id[32];
    size_t i;

    json_array_foreach(jobs, i, job)
    {
        double guest = peer_json_number(job, "guest");
        const char *target = peer_json_text(job, "target");

        if (!(guest >= 1 && guest <= 999999999) || !target)
            continue;
        (void)snprintf(id, sizeof id, "%.0f", guest);
        *idmap_slot(&m->replicated, id) = arena_strdup(m->a, target);
    }
}

/* The part of the time in which at least one vCPU waited for a core is the least that they waited together.
 */
static void add_pressure(const struct pve_map *m, const struct pve_guest *g, struct vm_sample *s)
{
    double some = peer_json_number(idmap_get(&m->pressures, g->id), "pressurecpusome");

    if (!(some >= 0 && some <= 100) || isnan(s->core_mhz) || isnan(s->cpu_used_mhz))
        return;
    s->interval_ms = INTERVAL_MS;
    s->cpu_run_ms = s->cpu_used_mhz / s->core_mhz * INTERVAL_MS;
    s->cpu_ready_ms = some / 100 * INTERVAL_MS;
    s->cpu_sleep_ms = fmax(0, g->maxcpu * INTERVAL_MS - s->cpu_run_ms - s->cpu_ready_ms);
}

/* From version 9 on both figures are told; before, `mem` is either, and the balloon's details say which. */
static void add_memory(const struct pve_map *m, const struct pve_guest *g, struct vm_sample *s)
{
    const json_t *now = pve_look_of_guest(m->look, g, PVE_CURRENT, PVE_CONFIG_MS);
    double mem_mb = g->mem / BYTES_PER_MIB, host_mb = g->memhost / BYTES_PER_MIB;

    if (g->container)
        s->mem_guest_used_mb = s->mem_consumed_mb = mem_mb;
    else if (!isnan(host_mb))
        s->mem_consumed_mb = host_mb;
    else if (!json_object_get(now, "freemem"))
        s->mem_consumed_mb = mem_mb;
    if (!g->container && (isnan(host_mb) ? json_object_get(now, "freemem") != NULL : mem_mb < host_mb * SAME))
        s->mem_guest_used_mb = mem_mb;
}

/* What pvestatd has taken from the guest, and gives back when its node has memory again. */
static double ballooned_mb(const struct pve_map *m, const struct pve_guest *g)
{
    const struct pve_node *n = pve_find_node(m->view, g->node);
    double has = peer_json_number(pve_look_of_guest(m->look, g, PVE_CURRENT, PVE_BALLOON_MS), "balloon");

    return n && n->mem > PVE_SQUEEZES * n->maxmem && has > 0 && has < g->maxmem
               ? (g->maxmem - has) / BYTES_PER_MIB
               : 0;
}

static void add_sample(struct pve_map *m, const struct pve_guest *g, struct seen_vm *v)
{
    double core = pve_core_mhz(m->look, g->node);
    double load = g->cpu > 1 && g->cpu <= TURBO_MOST ? 1 : g->cpu;
    struct vm_sample s = {.present = true,
                          .interval_ms = UNKNOWN,
                          .cpu_used_mhz = load * g->maxcpu * core,
                          .cpu_run_ms = UNKNOWN,
                          .cpu_sleep_ms = UNKNOWN,
                          .cpu_ready_ms = UNKNOWN,
                          .core_mhz = core,
                          .mem_active_mb = UNKNOWN,
                          .mem_guest_used_mb = UNKNOWN,
                          .mem_consumed_mb = UNKNOWN,
                          .mem_overhead_mb = UNKNOWN};

    add_memory(m, g, &s);
    add_pressure(m, g, &s);
    if (s.mem_consumed_mb > v->is.mem_mb) { /* QEMU's own memory is in it */
        s.mem_overhead_mb = s.mem_consumed_mb - v->is.mem_mb;
        s.mem_consumed_mb = v->is.mem_mb;
        v->is.overhead_mb = s.mem_overhead_mb;
    }
    if (!isnan(s.mem_consumed_mb))
        v->is.consumed_mb = s.mem_consumed_mb;
    v->sample = s;
    v->is.ballooned_mb = ballooned_mb(m, g);
    v->is.demand_unknown = isnan(s.cpu_used_mhz) ||
                           (isnan(s.mem_consumed_mb) && isnan(s.mem_guest_used_mb)) ||
                           strcmp(g->status, "unknown") == 0;
}

/* A guest of a node that is not seen is as it was: it never counts as gone. */
static enum vm_state state_of(const struct pve_guest *g, struct pve_guest_memory *m)
{
    bool unknown = strcmp(g->status, "unknown") == 0;
    bool on = unknown ? m->on : strcmp(g->status, "stopped") != 0;

    m->on = on;
    return on ? VM_ON : g->lock && strncmp(g->lock, "suspend", 7) == 0 ? VM_SUSPENDED : VM_OFF;
}

static const char *identity_of(const struct pve_map *m, const struct pve_guest *g)
{
    char is[PVE_IDENTITY_MAX];

    pve_guest_identity(pve_look_of_guest(m->look, g, PVE_CONFIG, PVE_CONFIG_MS), is);
    return is[0] ? arena_strdup(m->a, is) : NULL;
}

static void add_guest(struct pve_map *m, const struct pve_guest *g)
{
    struct pve_guest_memory *memory = pve_look_guest_memory(m->look, g->id);

    memory->maxcpu = g->maxcpu > 0 ? g->maxcpu : memory->maxcpu;
    memory->maxmem = g->maxmem > 0 ? g->maxmem : memory->maxmem;
    if (g->is_template || !pve_map_host(m, g->node) || !(memory->maxcpu > 0) || !(memory->maxmem > 0) ||
        memory->maxcpu > 65536)
        return; /* a template runs nowhere; of a guest whose size was never told there is nothing to reckon
                   with */
    struct seen_vm *v = inventory_add_vm(m->inv, m->a);

    v->is.vcpus = (uint32_t)ceil(memory->maxcpu);
    v->is.mem_mb = memory->maxmem / BYTES_PER_MIB;
    vm_facts_default(&v->is);
    v->is.id = g->id;
    v->is.name = g->name;
    v->host = g->node;
    v->is.identity = identity_of(m, g);
    v->is.state = state_of(g, memory);
    if (g->tags)
        add_label(&v->is.labels, TAGS_LABEL, g->tags, m->a);
    if (g->pool)
        v->is.folder = arena_printf(m->a, "/%s", g->pool);
    if (v->is.state == VM_ON)
        add_sample(m, g, v);
    pve_needs_of_guest(m, g, v);
}

/* ---- the whole ---- */

/* The number of nodes that must be on for the quorum to outlive the failure of any one of them, or of the
 * QDevice, whichever nodes are on: those with the fewest votes are counted, and the largest vote is left out.
 * Nodes that are off count as expected votes, too. A QDevice has one vote, with an odd number of nodes as
 * many as nodes less one. A node answers {} while its daemon of the QDevice does not run: the vote of a
 * QDevice that was seen before is expected then, and not there. All nodes must be on if the votes, or whether
 * there is a QDevice, are not known. Source: pve-docs (pvecm.adoc). */
static uint32_t hosts_on(struct pve_map *m)
{
    const json_t *device = pve_cache_get(&m->look->cache, PVE_QDEVICE, m->look->now_ms, PVE_FACTS_MS);
    const char *state = peer_json_text(device, "State");
    size_t n = m->view->n_nodes;
    double *votes = arena_array(m->a, double, n + 1), sum = 0;
    double of_device = !m->look->has_qdevice ? 0 : n % 2 == 0 ? 1 : (double)n - 1;

    if (!device)
        return (uint32_t)n;
    for (size_t i = 0; i < n; i++) {
        votes[i] = m->view->nodes[i].votes;
        if (!(votes[i] >= 0) || !m->view->quorate)
            return (uint32_t)n;
        sum += votes[i];
    }
    qsort(votes, n, sizeof *votes, order_numbers);
    double need = floor((sum + of_device) / 2) + 1 + fmax(n > 0 ? votes[n - 1] : 0, of_device);
    double there = state && strncmp(state, "Connected", 9) == 0 ? of_device : 0;
    uint32_t on = 0;

    while (on < n && there < need)
        there += votes[on++];
    return on;
}

static void add_cluster(struct pve_map *m)
{
    const json_t *options = pve_cache_get(&m->look->cache, PVE_OPTIONS, m->look->now_ms, PVE_FACTS_MS);
    const json_t *device = pve_cache_get(&m->look->cache, PVE_QDEVICE, m->look->now_ms, PVE_FACTS_MS);
    const json_t *crs = json_object_get(options, "crs");
    const char *mode = peer_json_text(crs, "ha");

    m->inv->conflicts.balancer = peer_json_flag(crs, "ha-auto-rebalance");
    if (mode)
        m->inv->source_automation = arena_printf(m->a, "crs: ha=%s%s", mode,
                                                 m->inv->conflicts.balancer ? ", ha-auto-rebalance=1" : "");
    m->inv->ha.hosts_on = hosts_on(m);
    if (m->look->has_qdevice && device && json_object_size(device) == 0)
        inventory_add_fault(
            m->inv,
            arena_printf(m->a,
                         "%s does not tell of the QDevice any more: its vote counts as lost. If the "
                         "cluster has none now, restart Ballast.",
                         pve_url(m->look->api)),
            m->a);
    for (size_t i = 0; i < pve_addresses(m->look->api); i++) {
        if (pve_wrong_address(m->look->api, i))
            inventory_add_fault(m->inv, pve_wrong_address(m->look->api, i), m->a);
    }
    if (!m->view->quorate)
        inventory_add_fault(
            m->inv,
            arena_printf(m->a,
                         "The cluster %s has no quorum, as %s sees it: nothing can be started or moved.",
                         m->inv->cluster, pve_url(m->look->api)),
            m->a);
}

void pve_map(struct pve_look *l, const struct pve_view *view, struct arena *a, struct inventory *ret)
{
    struct inventory inv = {.cluster = view->cluster     ? view->cluster
                                       : l->cfg->cluster ? l->cfg->cluster
                                                         : view->nodes[0].name,
                            .time = (instant_s)time(NULL)};
    struct pve_map m = {.look = l, .view = view, .a = a, .inv = &inv};

    for (size_t i = 0; i < view->n_nodes; i++)
        add_host(&m, &view->nodes[i]);
    index_pressures(&m);
    index_replication(&m);
    for (size_t i = 0; i < view->n_guests; i++)
        add_guest(&m, &view->guests[i]);
    pve_needs_cpu_modes(&m);
    pve_rules(&m);
    add_cluster(&m);
    idmap_release(&m.cpu_modes, NULL);
    idmap_release(&m.pressures, NULL);
    idmap_release(&m.replicated, NULL);
    idmap_release(&m.hosts, NULL);
    *ret = inv;
}
