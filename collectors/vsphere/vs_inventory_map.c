/* vs_inventory_map.c: makes the inventory of the objects read: resolves references between hosts, VMs,
 * pools and rules. It asks vCenter nothing. */
#include "base/order.h"
#include "collectors/vsphere/vs_inventory.h"
#include "collectors/vsphere/vs_labels.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ESXi reserves 2 to 20 percent of a host for itself. The cluster's figure for VMs is believed within that
 * range; outside it means something else (or, in a simulator, nothing). */
#define EFFECTIVE_LEAST 0.75

/* Pages that VMs share are counted once by the host and may be counted in each VM's figure. */
#define SHARED_SLACK 0.9

/* ids -> numbers, so that a cluster with thousands of VMs is not searched for each of them. */
struct index_entry {
    const char *id;
    size_t ix;
};

struct index {
    struct index_entry *items;
    size_t n;
};

#define INDEX_OF(a, list, n) index_make((a), (n) ? &(list)[0].id : NULL, (n), sizeof(list)[0])

static struct index index_make(struct arena *a, const char *const *first_id, size_t n, size_t stride)
{
    struct index ix = {.items = arena_array(a, struct index_entry, n), .n = n};

    for (size_t i = 0; i < n; i++) {
        const char *id;
        memcpy(&id, (const char *)first_id + i * stride, sizeof id);
        ix.items[i] = (struct index_entry){.id = id, .ix = i};
    }
    qsort(ix.items, n, sizeof *ix.items, order_texts);
    return ix;
}

#define NOT_THERE ((size_t)-1)

static size_t index_find(const struct index *ix, const char *id)
{
    struct index_entry key = {.id = id};
    const struct index_entry *e =
        id && ix->n ? bsearch(&key, ix->items, ix->n, sizeof key, order_texts) : NULL;

    return e ? e->ix : NOT_THERE;
}

struct map {
    struct vs_inventory *s;
    struct inventory *inv;
    struct arena *a;    /* the inventory's */
    struct arena *work; /* gone after the mapping */
    struct index hosts, vms, pools;
    bool *vm_kept;   /* by number: it is part of the inventory */
    uint32_t *marks; /* by number of VM or host: the list that named it last */
    uint32_t last_mark;
};

static bool runs(const struct vs_inventory_vm *v)
{
    return v->state == VM_ON && !v->template_;
}

/* The hosts' and VMs' states as the VMs and the tasks imply them. */
static void note_relations(struct map *m)
{
    struct vs_inventory *s = m->s;

    for (size_t i = 0; i < s->n_vms; i++) {
        size_t h = runs(&s->vms[i]) ? index_find(&m->hosts, s->vms[i].host) : NOT_THERE;
        if (h == NOT_THERE)
            continue;
        s->hosts[h].runs_vms = true;
        if (!isnan(s->vms[i].sample.mem_consumed_mb))
            s->hosts[h].vm_consumed_mb += s->vms[i].sample.mem_consumed_mb;
    }
    for (size_t i = 0; i < s->n_tasks; i++) {
        const struct vsphere_task *t = &s->tasks[i];
        size_t vm = index_find(&m->vms, t->entity);
        size_t host = index_find(&m->hosts, t->entity);
        if (vm != NOT_THERE && t->work == VSPHERE_WORK_MIGRATE)
            s->vms[vm].migrating = true;
        if (host != NOT_THERE && t->work == VSPHERE_WORK_ENTER_MAINTENANCE)
            s->hosts[host].entering_maintenance = true;
        if (host != NOT_THERE && t->work == VSPHERE_WORK_STANDBY && s->hosts[host].standby == STANDBY_NONE)
            s->hosts[host].standby = STANDBY_ENTERING;
        if (host != NOT_THERE && t->work == VSPHERE_WORK_WAKE && s->hosts[host].standby == STANDBY_IN)
            s->hosts[host].standby = STANDBY_EXITING;
    }
}

/* A sleeping host is not connected, so standby comes first. A sleeping host and a VM running on it
 * contradict each other, because the answers are not of one instant; the safe reading holds until they
 * agree. */
static enum host_state host_state(const struct vs_inventory_host *h)
{
    if (isnan(h->core_mhz) || isnan(h->mem_mb) || !(h->cores >= 1) || !(h->core_mhz > 0) || !(h->mem_mb > 0))
        return HOST_DISCONNECTED;
    if (h->standby == STANDBY_EXITING)
        return h->runs_vms ? HOST_DISCONNECTED : HOST_POWERING_ON;
    if (h->standby == STANDBY_IN || h->power == HOST_POWER_STANDBY)
        return h->runs_vms ? HOST_DISCONNECTED : HOST_STANDBY;
    if (h->connection != CONNECTION_CONNECTED || h->power != HOST_POWER_ON)
        return HOST_DISCONNECTED;
    if (h->in_maintenance)
        return h->runs_vms ? HOST_ENTERING_MAINTENANCE : HOST_MAINTENANCE;
    if (h->entering_maintenance)
        return HOST_ENTERING_MAINTENANCE;
    if (h->standby == STANDBY_ENTERING)
        return HOST_ENTERING_STANDBY;
    return HOST_ON;
}

/* Physically free, unless the host's figure contradicts those of its own VMs. */
static double mem_free(const struct vs_inventory_host *h)
{
    bool sane = h->mem_used_mb > 0 && h->mem_used_mb <= h->mem_mb &&
                h->mem_used_mb >= SHARED_SLACK * h->vm_consumed_mb;

    return sane ? h->mem_mb - h->mem_used_mb : UNKNOWN;
}

static void map_hosts(struct map *m)
{
    struct vs_inventory *s = m->s;

    for (size_t i = 0; i < s->n_hosts; i++) {
        const struct vs_inventory_host *h = &s->hosts[i];
        struct seen_host *to = inventory_add_host(m->inv, m->a);

        to->is.id = h->id;
        to->is.name = h->name ? h->name : h->id;
        to->is.state = host_state(h);
        if (!isnan(h->core_mhz) && !isnan(h->cores))
            to->is.total[RES_CPU] = h->core_mhz * h->cores;
        if (!isnan(h->mem_mb))
            to->is.total[RES_MEM] = h->mem_mb;
        to->is.cores = isnan(h->cores) ? 0 : (uint32_t)fmin(h->cores, 1e6);
        to->is.mem_free_mb = to->is.state == HOST_DISCONNECTED ? UNKNOWN : mem_free(h);
        to->booted = h->boot;
        to->is.on_since = to->is.state == HOST_ON ? h->boot : 0;
        to->is.power_w = h->power_w;
        to->is.swap_in_mb_s = h->swap_in_mb_s;
        to->is.wake_methods = h->can_standby ? WAKE_HYPERVISOR : 0;
        to->is.vsan = h->vsan;
    }
}

/* The hosts that vCenter counts: running and not in maintenance yet. */
static bool is_effective(const struct seen_host *h)
{
    enum host_state st = h->is.state;

    return st == HOST_ON || st == HOST_ENTERING_MAINTENANCE || st == HOST_ENTERING_STANDBY;
}

/* vCenter has one figure for the capacity of all hosts together; each host gets its part of the
 * difference. */
static void map_reserved(struct map *m)
{
    struct inventory *inv = m->inv;

    for (int r = 0; r < RES_COUNT; r++) {
        double total = 0;
        for (size_t i = 0; i < inv->n_hosts; i++)
            total += is_effective(&inv->hosts[i]) ? inv->hosts[i].is.total[r] : 0;
        double effective = m->s->effective[r];
        if (isnan(effective) || effective > total || effective < EFFECTIVE_LEAST * total)
            continue;
        for (size_t i = 0; i < inv->n_hosts; i++)
            inv->hosts[i].is.reserved[r] = inv->hosts[i].is.total[r] * (1 - effective / total);
    }
}

static double shares_of(const struct vs_inventory_alloc *a, double normal)
{
    switch (a->level) {
    case SHARES_LOW:
        return normal / 2;
    case SHARES_HIGH:
        return normal * 2;
    case SHARES_CUSTOM:
        return isnan(a->shares) ? normal : a->shares;
    case SHARES_NORMAL:
        break;
    }
    return normal;
}

/* to->shares holds what normal means for the object. */
static void map_alloc(const struct vs_inventory_alloc *a, struct alloc *to)
{
    if (!a->given)
        return;
    to->reservation = a->reservation;
    to->limit = a->limit;
    to->shares = shares_of(a, to->shares);
    to->expandable = a->expandable;
}

/* Whether some pool above this one has its descendants' shares scaled. A cycle ends at the number of pools.
 */
static bool is_scaled(const struct map *m, const struct vs_inventory_pool *p)
{
    for (size_t depth = 0; depth <= m->s->n_pools; depth++) {
        size_t up = index_find(&m->pools, p->parent);
        if (up == NOT_THERE)
            break;
        p = &m->s->pools[up];
        if (p->scales_descendants)
            return true;
    }
    return m->s->root_scales;
}

static const char *below_root(const struct map *m, const char *pool)
{
    bool root = !pool || (m->s->root_pool && strcmp(pool, m->s->root_pool) == 0);

    return root || index_find(&m->pools, pool) == NOT_THERE ? NULL : pool;
}

static void map_pools(struct map *m)
{
    for (size_t i = 0; i < m->s->n_pools; i++) {
        const struct vs_inventory_pool *p = &m->s->pools[i];
        if (m->s->root_pool && strcmp(p->id, m->s->root_pool) == 0)
            continue;
        struct seen_pool *to = inventory_add_pool(m->inv, m->a);

        to->is.id = p->id;
        to->is.name = p->name ? p->name : p->id;
        to->parent = below_root(m, p->parent);
        to->is.scalable_shares = is_scaled(m, p);
        for (int r = 0; r < RES_COUNT; r++)
            map_alloc(&p->alloc[r], &to->is.alloc[r]);
    }
}

/* Whether the measurements suffice to compute the VM's demand. Its memory demand can be taken as all of
 * its memory.
 */
static bool is_measured(const struct vm_sample *x)
{
    return x->present && !isnan(x->cpu_used_mhz);
}

static void map_vm_size(const struct vs_inventory_vm *v, struct vm_facts *f)
{
    bool known = v->vcpus >= 1 && v->mem_mb > 0;
    double consumed = v->sample.mem_consumed_mb;

    /* a VM with unreadable configuration still uses capacity; it stays where it is */
    f->vcpus = known ? (uint32_t)fmin(v->vcpus, 1e6) : 1;
    f->mem_mb = known ? v->mem_mb : consumed > 0 ? consumed : 1;
    vm_facts_default(f);
    f->demand_unknown = !known && v->state == VM_ON;
}

/* vSphere scales CPU use by a core's actual clock, while a core's size is its nominal clock: in turbo a VM
 * really uses more than its vCPUs' nominal MHz. Up to this factor (single-core turbo of server CPUs
 * reaches a little over twice the nominal clock) the use counts as all of its vCPUs. A larger figure is no
 * turbo; it stays as it is, and the pass finds that it cannot be right. */
#define TURBO_MOST 2.5

static void cap_turbo(struct vm_sample *x, uint32_t vcpus)
{
    double most = vcpus * x->core_mhz;

    if (x->cpu_used_mhz > most && x->cpu_used_mhz <= TURBO_MOST * most) /* false where one is not known */
        x->cpu_used_mhz = most;
}

static void map_vm(struct map *m, const struct vs_inventory_vm *v)
{
    struct seen_vm *to = inventory_add_vm(m->inv, m->a);
    size_t host = index_find(&m->hosts, v->host);

    map_vm_size(v, &to->is);
    to->is.id = v->id;
    to->is.identity = v->identity;
    to->is.name = v->name ? v->name : v->id;
    to->is.state = v->state;
    to->is.kind = v->kind;
    to->host = host == NOT_THERE ? NULL : v->host;
    to->pool = below_root(m, v->pool);
    for (int r = 0; r < RES_COUNT; r++)
        map_alloc(&v->alloc[r], &to->is.alloc[r]);
    if (v->state != VM_ON)
        return;
    to->sample = v->sample;
    to->sample.core_mhz = m->s->hosts[host].core_mhz;
    cap_turbo(&to->sample, to->is.vcpus);
    if (!isnan(v->sample.mem_consumed_mb))
        to->is.consumed_mb = v->sample.mem_consumed_mb;
    if (!isnan(v->sample.mem_overhead_mb))
        to->is.overhead_mb = v->sample.mem_overhead_mb;
    to->is.ballooned_mb = fmax(v->ballooned_mb, 0); /* also where it is UNKNOWN */
    to->is.swapped_mb = fmax(v->swapped_mb, 0);
    if (!v->connected || !is_measured(&v->sample))
        to->is.demand_unknown = true;
    /* another user's migration, whose destination vCenter does not tell: the VM must not be moved */
    if (v->migrating)
        to->is.automation = AUTOMATION_DISABLED;
}

static bool wanted(const struct map *m, const struct vs_inventory_vm *v)
{
    if (v->template_ || !v->state_known)
        return false; /* without a power state the VM is about to appear or to disappear */
    if (v->state == VM_ON)
        return index_find(&m->hosts, v->host) != NOT_THERE; /* else it left the cluster meanwhile */
    return v->vcpus >= 1 && v->mem_mb > 0;
}

static void map_vms(struct map *m)
{
    struct vs_inventory *s = m->s;

    m->vm_kept = arena_array(m->work, bool, s->n_vms);
    for (size_t i = 0; i < s->n_vms; i++) {
        m->vm_kept[i] = wanted(m, &s->vms[i]);
        if (m->vm_kept[i])
            map_vm(m, &s->vms[i]);
        else if (!s->vms[i].template_)
            log_debug("VM %s is left out: its host or its configuration is not to be seen", s->vms[i].id);
    }
}

struct id_list {
    const char **items;
    size_t n, cap;
};

/* What is to run on a host before anything else does, by the host that it is registered on. */
static void map_agents(struct map *m)
{
    struct vs_inventory *s = m->s;
    struct id_list *of = arena_array(m->work, struct id_list, s->n_hosts);

    for (size_t i = 0; i < s->n_vms; i++) {
        const struct vs_inventory_vm *v = &s->vms[i];
        size_t h = m->vm_kept[i] && v->required ? index_find(&m->hosts, v->host) : NOT_THERE;
        if (h == NOT_THERE)
            continue;
        of[h].items = arena_grow(m->a, of[h].items, of[h].n, &of[h].cap, sizeof of[h].items[0]);
        of[h].items[of[h].n++] = v->id;
    }
    for (size_t i = 0; i < s->n_hosts; i++)
        m->inv->hosts[i].agents_required = (struct ids){.items = of[i].items, .n = (uint32_t)of[i].n};
}

/* The secondary of this primary: one that takes it for its primary. NOT_THERE: none is seen. */
static size_t secondary_of(const struct map *m, const struct vs_inventory_vm *primary)
{
    for (uint32_t i = 0; i < primary->ft_peers.n; i++) {
        size_t ix = index_find(&m->vms, primary->ft_peers.items[i]);
        if (ix != NOT_THERE && m->vm_kept[ix] && m->s->vms[ix].kind == VM_FT_SECONDARY &&
            texts_have(m->s->vms[ix].ft_peers.items, m->s->vms[ix].ft_peers.n, primary->id))
            return ix;
    }
    return NOT_THERE;
}

/* A fault-tolerant VM whose other half is missing or belongs to another pair by now becomes an ordinary VM
 * that stays where it is. */
static void map_peers(struct map *m)
{
    const struct vs_inventory *s = m->s;
    const char **peer = arena_array(m->work, const char *, s->n_vms);
    size_t to = 0;

    for (size_t i = 0; i < s->n_vms; i++) {
        bool primary = m->vm_kept[i] && s->vms[i].kind == VM_FT_PRIMARY;
        size_t second = primary ? secondary_of(m, &s->vms[i]) : NOT_THERE;
        if (second == NOT_THERE || peer[second])
            continue;
        peer[i] = s->vms[second].id;
        peer[second] = s->vms[i].id;
    }
    for (size_t i = 0; i < s->n_vms; i++) {
        const struct vs_inventory_vm *v = &s->vms[i];
        if (!m->vm_kept[i])
            continue;
        struct seen_vm *seen = &m->inv->vms[to++];
        if (v->kind != VM_FT_PRIMARY && v->kind != VM_FT_SECONDARY)
            continue;
        seen->ft_peer = peer[i];
        if (!peer[i]) {
            seen->is.kind = VM_NORMAL;
            seen->is.automation = AUTOMATION_DISABLED;
        }
    }
}

/* A fault-tolerant VM's own level holds even if the cluster allows no levels of VMs: without EVC it cannot
 * be overridden (ClusterDrsConfigInfo.enableVmBehaviorOverrides). */
static bool override_counts(const struct map *m, const struct seen_vm *v)
{
    return m->s->overrides_count || v->is.kind == VM_FT_PRIMARY || v->is.kind == VM_FT_SECONDARY;
}

static void map_overrides(struct map *m)
{
    CLEANUP(arena_releasep) struct arena work = {0};
    struct inventory *inv = m->inv;
    struct index vms =
        index_make(&work, inv->n_vms ? &inv->vms[0].is.id : NULL, inv->n_vms, sizeof *inv->vms);

    for (size_t i = 0; i < m->s->n_overrides; i++) {
        const struct vs_inventory_override *o = &m->s->overrides[i];
        size_t host = o->of_host ? index_find(&m->hosts, o->id) : NOT_THERE;
        size_t vm = o->of_host ? NOT_THERE : index_find(&vms, o->id);

        if (host != NOT_THERE)
            inv->hosts[host].is.dpm = o->automation;
        if (vm != NOT_THERE && inv->vms[vm].is.automation == AUTOMATION_INHERIT &&
            override_counts(m, &inv->vms[vm]))
            inv->vms[vm].is.automation = o->automation;
    }
}

/* Those of the ids that are in the inventory: rules also name templates and VMs of other clusters. */
static struct ids present(struct map *m, const struct ids *ids, bool hosts)
{
    const char **items = arena_array(m->a, const char *, ids->n);
    uint32_t mark = ++m->last_mark;
    uint32_t n = 0;

    for (uint32_t i = 0; i < ids->n; i++) {
        size_t ix = index_find(hosts ? &m->hosts : &m->vms, ids->items[i]);

        if (ix == NOT_THERE || m->marks[ix] == mark || (!hosts && !m->vm_kept[ix]))
            continue;
        m->marks[ix] = mark;
        items[n++] = ids->items[i];
    }
    return (struct ids){.items = items, .n = n};
}

static struct ids members(struct map *m, const char *group, bool hosts)
{
    for (size_t i = 0; group && i < m->s->n_groups; i++) {
        const struct vs_inventory_group *g = &m->s->groups[i];
        if (g->of_hosts == hosts && strcmp(g->name, group) == 0)
            return present(m, &g->members, hosts);
    }
    return (struct ids){0};
}

static struct seen_rule *add_rule(struct map *m, const struct vs_inventory_rule *from, enum rule_kind kind,
                                  const char *id)
{
    struct seen_rule *r = inventory_add_rule(m->inv, m->a);

    rule_facts_default(&r->is, kind);
    r->is.id = id;
    r->is.name = from->name ? from->name : id;
    r->is.enabled = from->enabled;
    r->is.mandatory = from->mandatory;
    return r;
}

/* A rule of a VM group and a host group. One that names both kinds of host groups is two rules. */
static void map_group_rule(struct map *m, const struct vs_inventory_rule *from, const char *host_group,
                           enum rule_kind kind, const char *id)
{
    struct ids vms = members(m, from->vm_group, false);
    struct ids hosts = members(m, host_group, true);

    if (!host_group || vms.n == 0)
        return;
    if (hosts.n == 0) {
        m->s->rules_left_out++;
        m->s->rule_left_out = from->name ? from->name : id;
        return;
    }
    struct seen_rule *r = add_rule(m, from, kind, id);
    r->vms = vms;
    r->hosts = hosts;
}

static void map_rules(struct map *m)
{
    for (size_t i = 0; i < m->s->n_rules; i++) {
        const struct vs_inventory_rule *from = &m->s->rules[i];

        if (from->of_groups) {
            const char *second = from->on_hosts ? arena_printf(m->a, "%s-not", from->id) : from->id;
            map_group_rule(m, from, from->on_hosts, RULE_HOST_AFFINE, from->id);
            map_group_rule(m, from, from->off_hosts, RULE_HOST_ANTI_AFFINE, second);
            continue;
        }
        struct ids vms = present(m, &from->vms, false);
        if (vms.n < 2)
            continue; /* one VM alone cannot be together or apart */
        add_rule(m, from, from->apart ? RULE_VM_ANTI_AFFINE : RULE_VM_AFFINE, from->id)->vms = vms;
    }
}

static void map_host_groups(struct map *m)
{
    for (size_t i = 0; i < m->s->n_groups; i++) {
        const struct vs_inventory_group *g = &m->s->groups[i];

        if (!g->of_hosts || strlen(g->name) > FACT_NAME_BYTES_MAX)
            continue;
        struct seen_group *seen = inventory_add_group(m->inv, m->a);

        seen->is = (struct group_facts){.id = arena_printf(m->a, "%s:%s", VS_GROUP_KIND, g->name),
                                        .name = g->name,
                                        .kind = VS_GROUP_KIND};
        seen->hosts = present(m, &g->members, true);
    }
}

/* The groups of VMs that each VM is in. */
static void map_vm_groups(struct map *m)
{
    struct id_list *of = arena_array(m->work, struct id_list, m->s->n_vms);
    size_t n = 0;

    for (size_t i = 0; i < m->s->n_groups; i++) {
        const struct vs_inventory_group *g = &m->s->groups[i];
        struct ids vms = present(m, &g->members, false);

        for (uint32_t k = 0; !g->of_hosts && strlen(g->name) <= FACT_NAME_BYTES_MAX && k < vms.n; k++) {
            struct id_list *vm = &of[index_find(&m->vms, vms.items[k])];

            vm->items = arena_grow(m->a, vm->items, vm->n, &vm->cap, sizeof vm->items[0]);
            vm->items[vm->n++] = g->name;
        }
    }
    for (size_t i = 0; i < m->s->n_vms; i++)
        if (m->vm_kept[i])
            m->inv->vms[n++].is.groups = (struct ids){.items = of[i].items, .n = (uint32_t)of[i].n};
}

static void map_ha(struct map *m)
{
    m->inv->ha = m->s->ha.is;
    m->inv->ha_failover_hosts = present(m, &m->s->ha.failover_hosts, true);
}

int vs_inventory_map(struct vs_inventory *s, struct inventory *ret, struct err *err)
{
    CLEANUP(arena_releasep) struct arena work = {0};
    struct inventory inv = {.source_automation = s->automation,
                            .cluster = s->cluster,
                            .conflicts = s->conflicts,
                            .labels_unread = s->tags_unread};
    struct map m = {.s = s, .inv = &inv, .a = s->arena, .work = &work};

    if (!s->cluster || !s->root_pool)
        return err_set(err, -EPROTO, "the answer holds no cluster with a name and a resource pool");
    m.hosts = INDEX_OF(&work, s->hosts, s->n_hosts);
    m.vms = INDEX_OF(&work, s->vms, s->n_vms);
    m.pools = INDEX_OF(&work, s->pools, s->n_pools);
    m.marks = arena_array(&work, uint32_t, s->n_vms > s->n_hosts ? s->n_vms : s->n_hosts);
    note_relations(&m);
    map_hosts(&m);
    map_reserved(&m);
    map_pools(&m);
    map_vms(&m);
    map_agents(&m);
    map_peers(&m);
    vs_inventory_map_offers(s, &inv);
    vs_inventory_map_needs(s, m.vm_kept, &inv);
    vs_labels_map(s, m.vm_kept, &inv);
    map_overrides(&m);
    map_rules(&m);
    map_host_groups(&m);
    map_vm_groups(&m);
    map_ha(&m);
    *ret = inv;
    return 0;
}
