/* host_look.c: asks one host for everything that a pass needs. It decides nothing, and changes nothing. */
#include "collectors/libvirt/host_look.h"
#include "collectors/libvirt/cpu_traits.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "net/http.h"
#include "net/libvirt/connections.h"
#include "net/libvirt/controls.h"
#include "net/xml.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND_READING_MS 1000 /* after the first, where there is none before */
#define DOMAINS_MOST 100000
#define NAME_BYTES_MAX 1024
#define STATS                                                                                                \
    (VIR_DOMAIN_STATS_STATE | VIR_DOMAIN_STATS_CPU_TOTAL | VIR_DOMAIN_STATS_BALLOON |                        \
     VIR_DOMAIN_STATS_VCPU | VIR_DOMAIN_STATS_DIRTYRATE)

struct host_look *host_look_hold(struct host_look *look)
{
    if (look)
        (void)atomic_fetch_add(&look->holders, 1);
    return look;
}

void host_look_release(struct host_look *look)
{
    if (!look || atomic_fetch_sub(&look->holders, 1) != 1)
        return;
    arena_release(&look->arena);
    free(look);
}

const struct domain_look *host_look_find(const struct host_look *look, const char *uuid)
{
    for (size_t i = 0; look && i < look->n_domains; i++) {
        if (strcmp(look->domains[i].uuid, uuid) == 0)
            return &look->domains[i];
    }
    return NULL;
}

/* ---- the host ------------------------------------------------------------------------------------- */

static int read_capabilities(virConnectPtr conn, struct host_look *l, struct err *err)
{
    CLEANUP(freep) char *text = virConnectGetCapabilities(conn);

    if (!text)
        return libvirt_connections_fail(err, l->host);
    int r = capabilities_xml_read(text, &l->arena, &l->caps, err);

    return r < 0 ? err_widen(err, "%s", l->host) : 0;
}

/* All features of the host's CPU, also those of its model, as traits; where libvirt cannot name these, those
 * beyond it. */
static void read_traits(virConnectPtr conn, struct host_look *l)
{
    const char *cpu = l->caps.cpu_xml;
    CLEANUP(freep)
    char *all = cpu ? virConnectBaselineCPU(conn, &cpu, 1, VIR_CONNECT_BASELINE_CPU_EXPAND_FEATURES) : NULL;
    const struct ids features = all ? capabilities_xml_features(all, &l->arena) : l->caps.features;

    l->traits = cpu_traits_of(&features, &l->arena);
}

static double memory_of(const virNodeMemoryStats *list, int n, const char *field)
{
    for (int i = 0; i < n; i++) {
        if (strcmp(list[i].field, field) == 0)
            return (double)list[i].value / KIB_PER_MIB;
    }
    return UNKNOWN;
}

/* What is free, or would be given back at once. */
static void read_memory(virConnectPtr conn, struct host_look *l)
{
    virNodeMemoryStats list[32];
    int n = 0;

    if (virNodeGetMemoryStats(conn, VIR_NODE_MEMORY_STATS_ALL_CELLS, NULL, &n, 0) < 0 || n <= 0 ||
        n > (int)(sizeof list / sizeof list[0]) ||
        virNodeGetMemoryStats(conn, VIR_NODE_MEMORY_STATS_ALL_CELLS, list, &n, 0) < 0)
        return;
    double total = memory_of(list, n, VIR_NODE_MEMORY_STATS_TOTAL);
    double left = memory_of(list, n, VIR_NODE_MEMORY_STATS_FREE) +
                  memory_of(list, n, VIR_NODE_MEMORY_STATS_BUFFERS) +
                  memory_of(list, n, VIR_NODE_MEMORY_STATS_CACHED);

    if (total > 0)
        l->mem_mb = total;
    if (left <= l->mem_mb)
        l->mem_free_mb = left;
}

/* All that runs on the host, domains included. */
static void read_busy(virConnectPtr conn, struct host_look *l, const struct host_look *before)
{
    virNodeCPUStats list[32];
    int n = 0;

    l->cpu_used_mhz = UNKNOWN;
    if (virNodeGetCPUStats(conn, VIR_NODE_CPU_STATS_ALL_CPUS, NULL, &n, 0) < 0 || n <= 0 ||
        n > (int)(sizeof list / sizeof list[0]) ||
        virNodeGetCPUStats(conn, VIR_NODE_CPU_STATS_ALL_CPUS, list, &n, 0) < 0)
        return;
    l->cpu_at_ms = net_now_ms();
    for (int i = 0; i < n; i++)
        if (strcmp(list[i].field, VIR_NODE_CPU_STATS_KERNEL) == 0 ||
            strcmp(list[i].field, VIR_NODE_CPU_STATS_USER) == 0)
            l->cpu_busy_ns += (int64_t)list[i].value;
    if (!before || before->cpu_at_ms == 0 || l->cpu_at_ms <= before->cpu_at_ms ||
        l->cpu_busy_ns < before->cpu_busy_ns)
        return;
    double cpus =
        (double)(l->cpu_busy_ns - before->cpu_busy_ns) / 1e6 / (double)(l->cpu_at_ms - before->cpu_at_ms);

    l->cpu_used_mhz = fmin(cpus, l->cpus) * l->core_mhz;
}

/* The clock of the time stamp counter is the nominal one. The other is the present one of some CPU, which
 * follows the load: capacity must not, so the highest one seen counts. */
static double clock_of(const struct host_look *l, double now_mhz, const struct host_look *before)
{
    if (!isnan(l->caps.tsc_mhz))
        return l->caps.tsc_mhz;
    if (before && before->core_mhz > now_mhz)
        return before->core_mhz;
    return now_mhz > 0 ? now_mhz : UNKNOWN;
}

static int read_host(virConnectPtr conn, struct host_look *l, const struct host_look *before, struct err *err)
{
    virNodeInfo info;
    int r = read_capabilities(conn, l, err);

    if (r < 0)
        return r;
    read_traits(conn, l);
    if (virNodeGetInfo(conn, &info) < 0)
        return libvirt_connections_fail(err, l->host);
    if (info.cpus < 1 || info.memory == 0)
        return err_set(err, -EPROTO, "%s: the host has %u CPUs and %lu KiB of memory, expected some", l->host,
                       info.cpus, info.memory);
    (void)virConnectGetLibVersion(conn, &l->libvirt_version);
    (void)virConnectGetVersion(conn, &l->qemu_version);
    l->cpus = info.cpus;
    l->core_mhz = clock_of(l, info.mhz, before);
    l->mem_mb = (double)info.memory / KIB_PER_MIB;
    l->mem_free_mb = UNKNOWN;
    read_memory(conn, l);
    read_busy(conn, l, before);
    return 0;
}

/* ---- networks and storage ------------------------------------------------------------------------- */

struct names {
    const char **items;
    size_t n, cap;
};

static void add_name(struct host_look *l, struct names *to, const char *name)
{
    if (!name || !name[0] || strlen(name) > FACT_NAME_BYTES_MAX || to->n >= FACT_NAMES_MAX)
        return;
    for (size_t i = 0; i < to->n; i++) {
        if (strcmp(to->items[i], name) == 0)
            return;
    }
    to->items = arena_grow(&l->arena, to->items, to->n, &to->cap, sizeof *to->items);
    to->items[to->n++] = arena_strdup(&l->arena, name);
}

static void add_networks(virConnectPtr conn, struct host_look *l, struct names *to)
{
    virNetworkPtr *list = NULL;
    int n = virConnectListAllNetworks(conn, &list, VIR_CONNECT_LIST_NETWORKS_ACTIVE);

    for (int i = 0; i < n; i++) {
        CLEANUP(freep) char *bridge = virNetworkGetBridgeName(list[i]);

        add_name(l, to, virNetworkGetName(list[i]));
        add_name(l, to, bridge);
        (void)virNetworkFree(list[i]);
    }
    free(list);
}

/* A bridge without a running guest is inactive. A host that names no interface beside its loopback cannot see
 * its interfaces: it was asked over one. */
static bool add_interfaces(virConnectPtr conn, struct host_look *l, struct names *to)
{
    virInterfacePtr *list = NULL;
    int n = virConnectListAllInterfaces(
        conn, &list, VIR_CONNECT_LIST_INTERFACES_ACTIVE | VIR_CONNECT_LIST_INTERFACES_INACTIVE);
    bool any = false;

    for (int i = 0; i < n; i++) {
        const char *name = virInterfaceGetName(list[i]);

        any = any || (name && strcmp(name, "lo") != 0);
        add_name(l, to, name);
        (void)virInterfaceFree(list[i]);
    }
    free(list);
    return any;
}

/* And one that lacks what its own domains use does not see all of them. */
static bool has_those_in_use(const struct host_look *l, const struct names *names)
{
    for (size_t i = 0; i < l->n_domains; i++) {
        const struct domain_look *d = &l->domains[i];

        for (uint32_t k = 0; d->active && k < d->xml.networks.n; k++) {
            bool there = false;

            for (size_t m = 0; m < names->n && !there; m++)
                there = strcmp(names->items[m], d->xml.networks.items[k]) == 0;
            if (!there)
                return false;
        }
    }
    return true;
}

static void read_networks(virConnectPtr conn, struct host_look *l)
{
    struct names names = {0};
    bool seen;

    add_networks(conn, l, &names);
    seen = add_interfaces(conn, l, &names);
    l->networks = (struct offer){.names = {.items = names.items, .n = (uint32_t)names.n},
                                 .known = seen && has_those_in_use(l, &names)};
}

/* ---- domains -------------------------------------------------------------------------------------- */

static void read_xml(virDomainPtr dom, struct host_look *l, struct domain_look *d)
{
    CLEANUP(freep) char *text = virDomainGetXMLDesc(dom, 0);
    struct err err = {0};
    int r = text ? domain_xml_read(text, &l->arena, &d->xml, &err) : libvirt_connections_fail(&err, l->host);

    if (r < 0)
        d->xml_fault = arena_strdup(&l->arena, err.text);
}

static int take_stats(virConnectPtr conn, const char *host, unsigned groups, unsigned flags,
                      virDomainStatsRecordPtr **ret, int *ret_n, struct err *err)
{
    int n = virConnectGetAllDomainStats(conn, groups, ret, flags | VIR_CONNECT_GET_ALL_DOMAINS_STATS_NOWAIT);

    /* a driver that knows none of some groups */
    if (n < 0 && libvirt_connections_fail(err, host) == -ENOTSUP)
        n = virConnectGetAllDomainStats(conn, 0, ret, flags);
    if (n < 0)
        return libvirt_connections_fail(err, host);
    if (n > DOMAINS_MOST) {
        virDomainStatsRecordListFree(*ret);
        return err_set(err, -EPROTO, "%s: the host has %d domains, expected at most %d", host, n,
                       DOMAINS_MOST);
    }
    *ret_n = n;
    return 0;
}

static void read_domain(const virDomainStatsRecord *rec, struct host_look *l, struct domain_look *d)
{
    const char *name = virDomainGetName(rec->dom);
    char line[NAME_BYTES_MAX];

    net_one_line(name ? name : "?", line, sizeof line);
    d->name = arena_strdup(&l->arena, line);
    if (virDomainGetUUIDString(rec->dom, d->uuid) < 0)
        d->uuid[0] = '\0';
    host_look_read_stats(rec->params, rec->nparams, l->at_ms, &d->stats);
    d->active = d->stats.state != VIR_DOMAIN_SHUTOFF;
    read_xml(rec->dom, l, d);
    host_look_read_disks(rec->params, rec->nparams, &d->xml);
}

static int read_domains(virConnectPtr conn, struct host_look *l, struct err *err)
{
    virDomainStatsRecordPtr *list = NULL;
    int n = 0;
    int r = take_stats(conn, l->host, l->disks ? STATS | VIR_DOMAIN_STATS_BLOCK : STATS, 0, &list, &n, err);

    if (r < 0)
        return r;
    l->at_ms = net_now_ms();
    l->measured = (instant_s)time(NULL);
    l->domains = arena_array(&l->arena, struct domain_look, (size_t)n);
    for (int i = 0; i < n; i++) {
        read_domain(list[i], l, &l->domains[l->n_domains]);
        if (l->domains[l->n_domains].uuid[0])
            l->n_domains++;
    }
    virDomainStatsRecordListFree(list);
    return 0;
}

/* Domains whose memory was saved to a file of their host by `virsh managedsave`, or at its shutdown. */
static void read_saved(virConnectPtr conn, struct host_look *l)
{
    virDomainPtr *list = NULL;
    int n = virConnectListAllDomains(conn, &list, VIR_CONNECT_LIST_DOMAINS_MANAGEDSAVE);

    for (int i = 0; i < n; i++) {
        char uuid[LIBVIRT_UUID_MAX] = "";

        (void)virDomainGetUUIDString(list[i], uuid);
        for (size_t k = 0; k < l->n_domains; k++)
            l->domains[k].saved =
                l->domains[k].saved || (!l->domains[k].active && strcmp(l->domains[k].uuid, uuid) == 0);
        (void)virDomainFree(list[i]);
    }
    free(list);
}

/* ---- samples -------------------------------------------------------------------------------------- */

static bool is_sampled(const struct domain_look *d)
{
    return d->active && d->xml.vcpus > 0 && !isnan(d->stats.counters.cpu_ms);
}

/* Whether some running domain is still without a sample. */
static bool sample_all(struct host_look *l, const struct host_look *before)
{
    bool missing = false;
    double newest_said_s = 0;

    for (size_t i = 0; i < l->n_domains; i++)
        newest_said_s = fmax(newest_said_s, l->domains[i].stats.guest_said_s);
    for (size_t i = 0; i < l->n_domains; i++) {
        struct domain_look *d = &l->domains[i];
        const struct domain_look *then = is_sampled(d) ? host_look_find(before, d->uuid) : NULL;

        host_look_mark_silent(then ? &then->stats : NULL, newest_said_s, &d->stats);
        if (then && then->active)
            d->sample =
                host_look_sample(&then->stats.counters, &d->stats, d->xml.vcpus, l->core_mhz, d->xml.mem_mb);
        missing = missing || (is_sampled(d) && !d->sample.present);
    }
    return missing;
}

/* Reads the counters a second time, so that there is a difference. */
static int sample_rest(virConnectPtr conn, struct host_look *l, struct err *err)
{
    const struct timespec pause = {.tv_sec = SECOND_READING_MS / 1000,
                                   .tv_nsec = SECOND_READING_MS % 1000 * 1000000};
    virDomainStatsRecordPtr *list = NULL;
    int n = 0;

    (void)nanosleep(&pause, NULL);
    int r = take_stats(conn, l->host, STATS, VIR_CONNECT_GET_ALL_DOMAINS_STATS_ACTIVE, &list, &n, err);

    if (r < 0)
        return r;
    l->at_ms = net_now_ms();
    l->measured = (instant_s)time(NULL);
    for (int i = 0; i < n; i++) {
        char uuid[LIBVIRT_UUID_MAX] = "";
        (void)virDomainGetUUIDString(list[i]->dom, uuid);
        struct domain_look *d = (struct domain_look *)host_look_find(l, uuid);

        if (!d || !is_sampled(d))
            continue;
        const struct domain_stats first = d->stats;
        host_look_read_stats(list[i]->params, list[i]->nparams, l->at_ms, &d->stats);
        host_look_mark_silent(&first, first.guest_said_s, &d->stats);
        d->active = d->stats.state != VIR_DOMAIN_SHUTOFF;
        if (!d->sample.present)
            d->sample =
                host_look_sample(&first.counters, &d->stats, d->xml.vcpus, l->core_mhz, d->xml.mem_mb);
    }
    virDomainStatsRecordListFree(list);
    return 0;
}

/* ---- CPUs ----------------------------------------------------------------------------------------- */

static bool is_same_cpu(const struct cpu_verdict *v, const struct domain_xml *x)
{
    return strcmp(v->type, x->type) == 0 && strcmp(v->arch, x->arch) == 0 &&
           strcmp(v->cpu_xml, x->cpu_xml) == 0;
}

void host_look_add_cpus(struct cpu_list *list, const struct host_look *look)
{
    for (size_t i = 0; i < look->n_domains; i++) {
        const struct domain_xml *x = &look->domains[i].xml;
        bool there = x->cpu != DOMAIN_CPU_MODEL || !x->type || !x->arch || !look->domains[i].active;

        for (size_t k = 0; k < list->n && !there; k++)
            there = is_same_cpu(&list->items[k], x);
        if (there || list->n >= FACT_NAMES_MAX)
            continue;
        list->items = arena_grow(&list->arena, list->items, list->n, &list->cap, sizeof *list->items);
        list->items[list->n++] = (struct cpu_verdict){.type = arena_strdup(&list->arena, x->type),
                                                      .arch = arena_strdup(&list->arena, x->arch),
                                                      .cpu_xml = arena_strdup(&list->arena, x->cpu_xml)};
    }
}

static const struct cpu_verdict *find_verdict(const struct host_look *l, const struct cpu_verdict *of)
{
    for (size_t i = 0; l && i < l->n_verdicts; i++) {
        const struct cpu_verdict *v = &l->verdicts[i];

        if (strcmp(v->type, of->type) == 0 && strcmp(v->arch, of->arch) == 0 &&
            strcmp(v->cpu_xml, of->cpu_xml) == 0)
            return v;
    }
    return NULL;
}

static void add_verdict(struct host_look *l, const struct cpu_verdict *v)
{
    l->verdicts = arena_grow(&l->arena, l->verdicts, l->n_verdicts, &l->cap_verdicts, sizeof *l->verdicts);
    l->verdicts[l->n_verdicts++] = *v;
}

/* Whether the host can give a guest this CPU. An answer holds until the host's CPU changes, as it may with
 * new microcode, or its QEMU. */
void host_look_compare_cpus(virConnectPtr conn, struct host_look *l, const struct host_look *before,
                            const struct cpu_list *cpus)
{
    bool same = before && before->caps.host_cpu && l->caps.host_cpu &&
                strcmp(before->caps.host_cpu, l->caps.host_cpu) == 0 &&
                before->qemu_version == l->qemu_version;

    for (size_t i = 0; i < cpus->n; i++) {
        const struct cpu_verdict *c = &cpus->items[i];
        const struct cpu_verdict *known = same ? find_verdict(before, c) : NULL;
        struct cpu_verdict v = {.type = arena_strdup(&l->arena, c->type),
                                .arch = arena_strdup(&l->arena, c->arch),
                                .cpu_xml = arena_strdup(&l->arena, c->cpu_xml)};

        if (find_verdict(l, c))
            continue;
        if (known && known->sure) {
            v.fits = known->fits;
            v.sure = true;
        } else {
            int r = virConnectCompareHypervisorCPU(conn, NULL, c->arch, NULL, c->type, c->cpu_xml, 0);
            v.fits = r != VIR_CPU_COMPARE_INCOMPATIBLE;
            v.sure = r != VIR_CPU_COMPARE_ERROR;
        }
        add_verdict(l, &v);
    }
}

struct host_look *host_look_of_verdicts(const struct host_look *look)
{
    struct host_look *l = xcalloc(1, sizeof *l);

    l->holders = 1;
    l->verdicts_only = true;
    l->host = arena_strdup(&l->arena, look->host);
    l->caps.host_cpu = look->caps.host_cpu ? arena_strdup(&l->arena, look->caps.host_cpu) : NULL;
    l->qemu_version = look->qemu_version;
    host_look_add_verdicts(l, look);
    return l;
}

void host_look_add_verdicts(struct host_look *to, const struct host_look *from)
{
    for (size_t i = 0; i < from->n_verdicts; i++) {
        struct cpu_verdict v = from->verdicts[i];

        if (find_verdict(to, &v))
            continue;
        v.type = arena_strdup(&to->arena, v.type);
        v.arch = arena_strdup(&to->arena, v.arch);
        v.cpu_xml = arena_strdup(&to->arena, v.cpu_xml);
        add_verdict(to, &v);
    }
}

/* ---- shares --------------------------------------------------------------------------------------- */

/* The weight of a domain without one of its own differs between the two versions of cgroups. */
static double default_weight(virConnectPtr conn, const struct host_look *l)
{
    for (size_t i = 0; i < l->n_domains; i++) {
        const struct domain_look *d = &l->domains[i];
        unsigned long long shares = 0;
        virTypedParameter list[LIBVIRT_SCHEDULER_PARAMS_MAX];
        int n = (int)(sizeof list / sizeof list[0]);

        if (!d->active || d->xml_fault || d->xml.shares > 0)
            continue;
        virDomainPtr dom = virDomainLookupByUUIDString(conn, d->uuid);
        int r = dom ? virDomainGetSchedulerParametersFlags(dom, list, &n, VIR_DOMAIN_AFFECT_LIVE) : -1;
        if (r == 0)
            (void)virTypedParamsGetULLong(list, n, VIR_DOMAIN_SCHEDULER_CPU_SHARES, &shares);
        if (r == 0)
            virTypedParamsClear(list, n);
        if (dom)
            (void)virDomainFree(dom);
        return shares > 0 ? (double)shares : 0;
    }
    return 0;
}

int host_look_take(virConnectPtr conn, const char *host, bool disks, const struct host_look *before,
                   struct host_look **ret, struct err *err)
{
    struct host_look *l = xcalloc(1, sizeof *l);

    l->holders = 1;
    l->disks = disks;
    l->host = arena_strdup(&l->arena, host);
    int r = read_host(conn, l, before, err);

    if (r == 0)
        r = read_domains(conn, l, err);
    if (r == 0) {
        read_saved(conn, l);
        read_networks(conn, l);
        storage_pools_read(conn, &l->arena, &l->pools);
        l->weight_default =
            before && before->weight_default > 0 ? before->weight_default : default_weight(conn, l);
    }
    if (r == 0 && sample_all(l, before))
        r = sample_rest(conn, l, err);
    if (r == 0)
        host_look_measure_dirty(conn, l, before);
    if (r < 0)
        host_look_release(l);
    else
        *ret = l;
    return r;
}
