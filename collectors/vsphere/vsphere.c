/* vsphere.c: the vSphere collector: finds the cluster, reads inventory and counters, and decides which
 * figures to trust. */
#include "collectors/vsphere/vsphere.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/peer_identities.h"
#include "base/xalloc.h"
#include "collectors/vsphere/counters.h"
#include "collectors/vsphere/find_cluster.h"
#include "collectors/vsphere/vs_devices.h"
#include "collectors/vsphere/vs_labels.h"
#include "collectors/vsphere/vs_preflight.h"
#include "collectors/vsphere/vs_tags.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Objects an answer: some 3 MB of XML. */
#define PAGE 1000

struct collector {
    const struct source_config *cfg;
    struct vsphere *vsphere;
    enum vsphere_stats stats;
    char cluster[CLUSTER_ID_MAX]; /* "" until it was found */
    struct counters counters;
    int64_t counted_ms; /* when the counters were read; 0: never */
    unsigned samples;   /* of the last reading */
    struct parallel *parallel;
    struct vs_devices_cache *devices;
    struct vs_tags *tags;
    struct arena evc_arena;
    struct evc_modes evc; /* of the vCenter, once a host has named one */
    bool said_no_fields;
    bool evc_read;
    bool said_no_counters, said_no_devices, said_ha;
    size_t said_unreadable, said_rules;
};

static int create(const struct source_config *cfg, struct collector **ret, struct err *err)
{
    const struct vsphere_settings *settings = cfg->settings;
    struct collector *c = xcalloc(1, sizeof *c);

    int r = vsphere_new(cfg, &c->vsphere, err);
    if (r < 0) {
        free(c);
        return r;
    }
    c->tags = vs_tags_new(cfg);
    c->cfg = cfg;
    c->stats = settings->stats;
    *ret = c;
    return 0;
}

static void destroy(struct collector *c)
{
    if (!c)
        return;
    vs_devices_cache_free(c->devices);
    vs_tags_free(c->tags);
    parallel_free(c->parallel);
    arena_release(&c->evc_arena);
    vsphere_free(c->vsphere);
    free(c);
}

/* An id is used as it is; where it leads nowhere, the error lists what there is. */
static int choose_cluster(struct collector *c, bool id_leads_nowhere, struct err *err)
{
    const char *wanted = c->cfg->cluster;
    int r = 0;

    if (wanted && find_cluster_is_id(wanted) && strlen(wanted) < sizeof c->cluster && !id_leads_nowhere)
        memcpy(c->cluster, wanted, strlen(wanted) + 1);
    else
        r = find_cluster(c->vsphere, wanted, c->cluster, err);
    if (r == 0 && (r = peer_identities_check(c->cfg->identities, "the cluster", c->cluster, err)) < 0)
        c->cluster[0] = '\0';
    return r;
}

/* Simulators of vCenter have all the same instanceUuid: the address tells them apart. */
static void name_cluster(const struct collector *c)
{
    char address[HTTP_ADDRESS_MAX], name[HTTP_ADDRESS_MAX + CLUSTER_ID_MAX];

    vsphere_address(c->vsphere, address);
    (void)snprintf(name, sizeof name, "%s %s", address, c->cluster);
    peer_identities_offer_name(c->cfg->identities, name);
}

static int read_cluster(struct collector *c, struct vs_inventory *s, struct err *err)
{
    struct vsphere_query q;
    struct vsphere_reader reader = {.begin = vs_inventory_begin, .object = vs_inventory_object, .ctx = s};

    vs_inventory_query(c->cluster, PAGE, &q);
    return vsphere_retrieve(c->vsphere, &q, &reader, err);
}

static int see(struct collector *c, struct vs_inventory *s, struct err *err)
{
    int r = c->cluster[0] ? 0 : choose_cluster(c, false, err);

    if (r == 0)
        r = read_cluster(c, s, err);
    if (r == -ENOENT && c->cluster[0]) {
        c->cluster[0] = '\0'; /* the cluster is gone, or was created anew, with another id */
        r = choose_cluster(c, true, err);
        r = r < 0 ? r : read_cluster(c, s, err);
    }
    if (r == 0)
        name_cluster(c);
    return r;
}

/* The peer answered with a refusal, as opposed to a peer that could not be reached. */
static bool is_refusal(int r)
{
    return r == -ENOTSUP || r == -EPERM || r == -EREMOTEIO || r == -ENOENT;
}

static bool names_modes(const struct vs_inventory *s)
{
    for (size_t i = 0; i < s->n_hosts; i++) {
        if (s->hosts[i].evc_mode || s->hosts[i].evc_mode_max)
            return true;
    }
    return false;
}

/* The order of the CPU baselines is a property of the vCenter: read once. */
static int read_modes(struct collector *c, struct vs_inventory *s, struct err *err)
{
    static const char *const paths[] = {"capability.supportedEVCMode", NULL};
    CLEANUP(soap_answer_releasep) struct soap_answer answer = {0};
    struct vsphere_object o;

    if (!c->evc_read && names_modes(s)) {
        int r = vsphere_get(c->vsphere, "ServiceInstance", "ServiceInstance", paths, &answer, &o, err);
        if (r < 0 && !is_refusal(r))
            return r;
        if (r == 0)
            c->evc = vs_inventory_evc_modes(vsphere_prop(&o, "capability.supportedEVCMode"), &c->evc_arena);
        c->evc_read = true;
    }
    s->evc = c->evc;
    return 0;
}

static bool has_attributes(const struct vs_inventory *s)
{
    bool any = false;

    for (size_t i = 0; i < s->n_hosts && !any; i++)
        any = s->hosts[i].custom.n > 0;
    for (size_t i = 0; i < s->n_vms && !any; i++)
        any = s->vms[i].custom.n > 0;
    return any;
}

/* Custom attributes have numbers; their names are a property of the vCenter. Where they may not be read,
 * there are no labels. */
static int read_fields(struct collector *c, struct vs_inventory *s, struct err *err)
{
    static const char *const paths[] = {"field", NULL};
    CLEANUP(soap_answer_releasep) struct soap_answer answer = {0};
    struct vsphere_object o;

    if (!has_attributes(s))
        return 0;
    int r = vsphere_get(c->vsphere, "CustomFieldsManager", "CustomFieldsManager", paths, &answer, &o, err);

    if (r == 0)
        s->fields = vs_labels_fields(vsphere_prop(&o, "field"), s->arena);
    else if (is_refusal(r) && !c->said_no_fields)
        log_warning("%s: the names of custom attributes cannot be read, so they are no labels: %s",
                    c->cfg->url, err->text);
    c->said_no_fields = c->said_no_fields || r < 0;
    return r < 0 && !is_refusal(r) ? r : 0;
}

/* What binds VMs to hosts, beside what the inventory says. Where it may not be read, it binds nothing:
 * vCenter checks each migration anyway. */
static int read_bonds(struct collector *c, struct vs_inventory *s, struct err *err)
{
    int r = read_modes(c, s, err);

    if (r == 0)
        r = vs_devices_collect(&c->devices, &c->parallel, c->vsphere, s, err);
    if (r == 0 || !is_refusal(r))
        return r;
    if (!c->said_no_devices)
        log_warning("%s: the devices of VMs are not known: %s", c->cfg->url, err->text);
    c->said_no_devices = true;
    return 0;
}

/* Counters and quick stats are figures of the same hosts, some seconds apart: over a whole cluster they
 * agree. If they differ by more than this part of their sum, the counters are not measurements (a
 * simulator's, or a broken rollup). */
#define CONTRADICTION (1.0 / 3)

/* Nor are they measurements where a VM is backed by more memory than it has, beyond any overhead. */
#define BACKED_MOST 2

static bool contradict(const struct vs_inventory *s, const struct vm_sample *quick)
{
    double apart = 0;
    double most = 0;

    for (size_t i = 0; i < s->n_vms; i++) {
        double counted = s->vms[i].counted_last_mhz; /* quick stats are of the last seconds, too */
        if (s->vms[i].sample.mem_consumed_mb > BACKED_MOST * s->vms[i].mem_mb)
            return true;
        if (isnan(quick[i].cpu_used_mhz) || isnan(counted) || isnan(s->vms[i].sample.interval_ms))
            continue;
        apart += fabs(counted - quick[i].cpu_used_mhz);
        most += fmax(counted, quick[i].cpu_used_mhz);
    }
    return apart > CONTRADICTION * most;
}

static void say_no_counters(struct collector *c, const char *why)
{
    if (!c->said_no_counters)
        log_notice("%s: quick stats are used instead of performance counters: %s", c->cfg->url, why);
    c->said_no_counters = true;
}

/* The counters, as means over the time since they were last read. */
static int read_counters(struct collector *c, struct vs_inventory *s, struct err *err)
{
    int64_t now = net_now_ms();
    size_t n = 0;

    c->samples = counters_samples_since(c->counted_ms > 0 ? now - c->counted_ms : -1);
    int r = counters_collect(&c->parallel, c->vsphere, &c->counters, c->samples, s, &n, err);
    if (r == 0)
        c->counted_ms = now;
    return r;
}

/* Counters where there are any, quick stats for the rest; quick stats alone where the two contradict each
 * other. */
static int measure_auto(struct collector *c, struct vs_inventory *s, struct err *err)
{
    struct vm_sample *quick = arena_array(s->arena, struct vm_sample, s->n_vms);

    for (size_t i = 0; i < s->n_vms; i++)
        quick[i] = s->vms[i].sample;
    int r = read_counters(c, s, err);
    if (r < 0 && !is_refusal(r))
        return r;
    if (r < 0) {
        say_no_counters(c, err->text);
    } else if (contradict(s, quick)) {
        say_no_counters(c, "the two contradict each other");
        for (size_t i = 0; i < s->n_vms; i++)
            s->vms[i].sample = quick[i];
    } else {
        counters_collect_hosts(c->vsphere, &c->counters, c->samples, s);
    }
    return 0;
}

static int measure(struct collector *c, struct vs_inventory *s, struct err *err)
{
    int r;

    switch (c->stats) {
    case VSPHERE_STATS_AUTO:
        return measure_auto(c, s, err);
    case VSPHERE_STATS_COUNTERS:
        for (size_t i = 0; i < s->n_vms; i++)
            s->vms[i].sample.present = false; /* quick stats are not configured, not even as a substitute */
        r = read_counters(c, s, err);
        if (r == 0)
            counters_collect_hosts(c->vsphere, &c->counters, c->samples, s);
        return r;
    case VSPHERE_STATS_QUICK:
        break;
    }
    return 0;
}

/* Logged when it gets worse, not at every pass. */
static void say_what_is_missing(struct collector *c, const struct vs_inventory *s)
{
    if (s->unreadable > c->said_unreadable)
        log_warning("%s: %s may not read %zu properties: what they say is treated as not known", c->cfg->url,
                    c->cfg->username, s->unreadable);
    if (s->rules_left_out > c->said_rules)
        log_warning("%s: %zu rules are left out, because no host of their groups is in the cluster: %s",
                    c->cfg->url, s->rules_left_out, s->rule_left_out);
    if (s->ha.unknown && !c->said_ha)
        log_warning("%s: HA of cluster %s: %s, so nothing is kept free for failures", c->cfg->url, s->cluster,
                    s->ha.unknown);
    c->said_ha = s->ha.unknown != NULL;
    c->said_unreadable = s->unreadable;
    c->said_rules = s->rules_left_out;
}

static int collect(struct collector *c, struct arena *a, struct inventory *ret, struct err *err)
{
    struct err own = {0};
    struct vs_inventory s;
    struct inventory inv;

    if (!err)
        err = &own;
    vsphere_deadline_from_config(c->vsphere);
    vs_inventory_init(&s, a);
    int r = see(c, &s, err);
    if (r == 0)
        r = read_bonds(c, &s, err);
    if (r == 0)
        r = read_fields(c, &s, err);
    if (r == 0)
        r = measure(c, &s, err);
    if (r < 0)
        return r;
    instant_s measured = (instant_s)time(NULL);
    vs_tags_collect(c->tags, c->vsphere, &s);
    r = vs_inventory_map(&s, &inv, err);
    if (r < 0)
        return err_widen(err, "%s", c->cfg->url);
    say_what_is_missing(c, &s);
    inv.time = measured;
    *ret = inv;
    return 0;
}

static void preflight(struct collector *c, const struct inventory *inv, const struct err *err,
                      unsigned operations, struct preflight *ret)
{
    const struct vs_seen seen = {.cfg = c->cfg,
                                 .vsphere = c->vsphere,
                                 .tags = c->tags,
                                 .cluster = c->cluster,
                                 .inv = inv,
                                 .err = err,
                                 .unreadable = c->said_unreadable,
                                 .no_counters = c->said_no_counters,
                                 .no_attributes = c->said_no_fields,
                                 .no_devices = c->said_no_devices};

    vs_preflight(&seen, operations, ret);
}

const struct collector_ops vsphere_collector = {
    .kind = "vsphere", .create = create, .collect = collect, .preflight = preflight, .destroy = destroy};
