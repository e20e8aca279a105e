/* scheduler.c: sets the CPU controls of VMs on a host: the weight, and a limit of the whole VM. Before the
 * first change it keeps the VM's own ones in its metadata (net/libvirt/controls.h), and puts them back in the
 * end. Memory is left alone: a limit of it ends the VM. */
#include "actuators/libvirt/operations.h"

#include "base/cleanup.h"
#include "net/http.h"
#include "net/libvirt/connections.h"
#include "net/libvirt/controls.h"
#include "net/libvirt/domain_xml.h"

#include <errno.h>
#include <inttypes.h>
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PARAMS_MAX LIBVIRT_SCHEDULER_PARAMS_MAX
#define UNLIMITED (-1)
#define QUOTA_MIN_US 1000
#define QUOTA_MOST_US 10000000000000 /* beyond: none */
#define PERIOD_US 100000             /* the kernel's */
#define WEIGHT_MIN 2                 /* libvirt before 9.1 takes no 1 */
#define SAME 0.01                    /* limits that differ by less are one */

/* libvirt's numbers. Quotas in microseconds of each period; UNLIMITED. */
struct controls {
    unsigned long long weight;
    long long vcpu_quota, global_quota;
    unsigned long long vcpu_period, global_period;
};

/* A VM in one of its two places: running (VIR_DOMAIN_AFFECT_LIVE), or its definition. */
struct place {
    virDomainPtr dom;
    const char *host;
    unsigned affect;
    double default_weight;
    struct domain_xml xml;
    struct controls is;
};

/* ---- reading -------------------------------------------------------------------------------------- */

static int fail(struct err *err, const char *host)
{
    bool unable =
        virGetLastErrorCode() == VIR_ERR_OPERATION_INVALID; /* of a VM that runs: no control group */
    int r = libvirt_connections_fail(err, host);

    if (unable && err)
        err->code = -ENOTSUP;
    return unable ? -ENOTSUP : r;
}

static long long quota_of(const virTypedParameter *list, int n, const char *name)
{
    long long v = UNLIMITED;

    (void)virTypedParamsGetLLong((virTypedParameterPtr)(uintptr_t)list, n, name, &v);
    return v > 0 && v <= QUOTA_MOST_US ? v : UNLIMITED;
}

static unsigned long long period_of(const virTypedParameter *list, int n, const char *name)
{
    unsigned long long v = 0;

    (void)virTypedParamsGetULLong((virTypedParameterPtr)(uintptr_t)list, n, name, &v);
    return v > 0 ? v : PERIOD_US;
}

static int read_controls(const struct place *p, struct controls *ret, struct err *err)
{
    virTypedParameter list[PARAMS_MAX];
    int n = PARAMS_MAX;

    if (virDomainGetSchedulerParametersFlags(p->dom, list, &n, p->affect) < 0)
        return fail(err, p->host);
    *ret = (struct controls){.vcpu_quota = quota_of(list, n, VIR_DOMAIN_SCHEDULER_VCPU_QUOTA),
                             .global_quota = quota_of(list, n, VIR_DOMAIN_SCHEDULER_GLOBAL_QUOTA),
                             .vcpu_period = period_of(list, n, VIR_DOMAIN_SCHEDULER_VCPU_PERIOD),
                             .global_period = period_of(list, n, VIR_DOMAIN_SCHEDULER_GLOBAL_PERIOD)};
    (void)virTypedParamsGetULLong(list, n, VIR_DOMAIN_SCHEDULER_CPU_SHARES, &ret->weight);
    virTypedParamsClear(list, n);
    return 0;
}

static int read_xml(virDomainPtr dom, const char *host, unsigned affect, struct arena *a,
                    struct domain_xml *ret, struct err *err)
{
    CLEANUP(freep)
    char *text = virDomainGetXMLDesc(dom, affect == VIR_DOMAIN_AFFECT_CONFIG ? VIR_DOMAIN_XML_INACTIVE : 0);

    return text ? domain_xml_read(text, a, ret, err) : libvirt_connections_fail(err, host);
}

/* The weight that the host gives a VM without one: of its first running VM that has none. */
static double find_default_weight(virConnectPtr conn, const char *host, struct arena *a)
{
    virDomainPtr *list = NULL;
    int n = virConnectListAllDomains(conn, &list, VIR_CONNECT_LIST_DOMAINS_ACTIVE);
    double ret = 0;

    for (int i = 0; i < n; i++) {
        struct place p = {.dom = list[i], .host = host, .affect = VIR_DOMAIN_AFFECT_LIVE};

        if (!(ret > 0) && read_xml(p.dom, host, p.affect, a, &p.xml, NULL) == 0 && !(p.xml.shares > 0) &&
            read_controls(&p, &p.is, NULL) == 0)
            ret = (double)p.is.weight;
        (void)virDomainFree(list[i]);
    }
    free(list);
    return ret > 0 ? ret : LIBVIRT_WEIGHT_UNKNOWN;
}

/* ---- what is due ---------------------------------------------------------------------------------- */

static long long us_of(double cpus, unsigned long long period)
{
    double us =
        isfinite(cpus) && cpus > 0 ? fmax(floor(cpus * (double)period + 0.5), QUOTA_MIN_US) : UNLIMITED;

    return us > QUOTA_MOST_US ? UNLIMITED : (long long)us;
}

/* Those of the VM's admin; the default weight cannot be removed again, only set. */
static struct controls own_of(const struct place *p)
{
    struct controls c = p->is;

    c.weight = (unsigned long long)(p->xml.own_shares > 0 ? p->xml.own_shares : p->default_weight);
    c.vcpu_quota = us_of(p->xml.own_vcpu_quota, c.vcpu_period);
    c.global_quota = us_of(p->xml.own_global_quota, c.global_period);
    return c;
}

/* A limit that is the VM's own stays as it is written; another one replaces both of its quotas. */
static struct controls due_of(const struct place *p, const struct vm_setting *s)
{
    struct controls c = own_of(p);
    double weight = floor(s->to.shares / LIBVIRT_SHARES_NORMAL * p->default_weight + 0.5);
    double own = fmin(p->xml.own_vcpu_quota * p->xml.vcpus, p->xml.own_global_quota);

    c.weight = (unsigned long long)fmax(weight, WEIGHT_MIN);
    own = own < p->xml.vcpus ? own : NO_LIMIT;
    if (own == s->limit_cpus || fabs(own - s->limit_cpus) <= SAME * own)
        return c;
    c.vcpu_quota = UNLIMITED;
    c.global_quota = us_of(s->limit_cpus, c.global_period);
    return c;
}

/* ---- writing -------------------------------------------------------------------------------------- */

/* The whole before its parts where it gets more, and after them where it gets less: the kernel refuses a part
 * that may use more than the whole. */
static int add_changes(const struct controls *is, const struct controls *to, virTypedParameterPtr *list,
                       int *n)
{
    bool more = to->global_quota == UNLIMITED ||
                (is->global_quota != UNLIMITED && to->global_quota > is->global_quota);
    int cap = 0, r = 0;

    if (to->weight != is->weight)
        r = virTypedParamsAddULLong(list, n, &cap, VIR_DOMAIN_SCHEDULER_CPU_SHARES, to->weight);
    for (int pass = 0; r == 0 && pass < 2; pass++) {
        bool whole = (pass == 0) == more;

        if (whole && to->global_quota != is->global_quota)
            r = virTypedParamsAddLLong(list, n, &cap, VIR_DOMAIN_SCHEDULER_GLOBAL_QUOTA, to->global_quota);
        else if (!whole && to->vcpu_quota != is->vcpu_quota)
            r = virTypedParamsAddLLong(list, n, &cap, VIR_DOMAIN_SCHEDULER_VCPU_QUOTA, to->vcpu_quota);
    }
    return r;
}

static bool is_same(const struct controls *a, const struct controls *b)
{
    return a->weight == b->weight && a->vcpu_quota == b->vcpu_quota && a->global_quota == b->global_quota;
}

/* And reads them back. */
static int write_controls(struct place *p, const struct controls *to, struct err *err)
{
    virTypedParameterPtr list = NULL;
    int n = 0;
    int r = add_changes(&p->is, to, &list, &n);

    if (r == 0 && n > 0)
        r = virDomainSetSchedulerParametersFlags(p->dom, list, n, p->affect);
    r = r < 0 ? fail(err, p->host) : 0;
    virTypedParamsFree(list, n);
    if (r < 0 || n == 0 || (r = read_controls(p, &p->is, err)) < 0)
        return r;
    if (is_same(&p->is, to))
        return 0;
    return err_set(
        err, -EREMOTEIO,
        "%s: %s has the weight %llu and the quotas %lld and %lld, after %llu, %lld and %lld were set",
        p->host, p->xml.name ? p->xml.name : "?", p->is.weight, p->is.vcpu_quota, p->is.global_quota,
        to->weight, to->vcpu_quota, to->global_quota);
}

/* NULL: removes the element. */
static int write_metadata(const struct place *p, const char *text, struct err *err)
{
    int r = virDomainSetMetadata(p->dom, VIR_DOMAIN_METADATA_ELEMENT, text, LIBVIRT_CONTROLS_PREFIX,
                                 LIBVIRT_CONTROLS_URI, p->affect);

    return r < 0 ? libvirt_connections_fail(err, p->host) : 0;
}

static int keep_own(const struct place *p, struct err *err)
{
    char weight[48] = "", vcpu[48] = "", global[48] = "", text[192];

    if (p->xml.shares > 0)
        (void)snprintf(weight, sizeof weight, " shares=\"%.0f\"", p->xml.shares);
    if (p->is.vcpu_quota != UNLIMITED)
        (void)snprintf(vcpu, sizeof vcpu, " vcpu_quota=\"%lld\"", p->is.vcpu_quota);
    if (p->is.global_quota != UNLIMITED)
        (void)snprintf(global, sizeof global, " global_quota=\"%lld\"", p->is.global_quota);
    (void)snprintf(text, sizeof text, "<" LIBVIRT_CONTROLS_ELEMENT "%s%s%s/>", weight, vcpu, global);
    return write_metadata(p, text, err);
}

static int give_back(struct place *p, struct err *err)
{
    const struct controls own = own_of(p);
    int r = p->xml.set ? write_controls(p, &own, err) : 0;

    return r == 0 && p->xml.set ? write_metadata(p, NULL, err) : r;
}

/* The own ones are kept first: whatever moment this ends at, they are known. */
static int set(struct place *p, const struct vm_setting *s, struct err *err)
{
    const struct controls due = due_of(p, s);
    int r = p->xml.set ? 0 : keep_own(p, err);

    if (r < 0)
        return r;
    r = write_controls(p, &due, err);
    if (r < 0 && !p->xml.set && is_same(&p->is, &(const struct controls){.weight = p->is.weight}))
        (void)write_metadata(p, NULL, NULL); /* nothing was changed */
    return r;
}

/* ---- VMs ------------------------------------------------------------------------------------------ */

/* In one place. wanted: false: the controls belong to its admin there, whatever the setting says. */
static int apply_at(virDomainPtr dom, const char *host, unsigned affect, double default_weight, bool wanted,
                    const struct vm_setting *s, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct place p = {.dom = dom, .host = host, .affect = affect, .default_weight = default_weight};
    int r = read_xml(dom, host, affect, &a, &p.xml, err);

    if (r < 0 || (!wanted && !p.xml.set))
        return r;
    r = read_controls(&p, &p.is, err);
    if (r < 0)
        return r;
    return wanted ? set(&p, s, err) : give_back(&p, err);
}

/* While a VM is migrated, saved or backed up, libvirt changes nothing of it. */
static bool is_busy(virDomainPtr dom)
{
    virDomainJobInfo job;

    return virDomainGetJobInfo(dom, &job) == 0 && job.type != VIR_DOMAIN_JOB_NONE &&
           job.type != VIR_DOMAIN_JOB_COMPLETED;
}

static int apply_one(virConnectPtr conn, const char *host, const struct vm_setting *s, bool persistent,
                     double default_weight, struct err *err)
{
    virDomainPtr dom = virDomainLookupByUUIDString(conn, s->vm);
    int r = 0;

    if (!dom) /* it has left */
        return virConnectIsAlive(conn) == 1 ? 0 : libvirt_connections_fail(err, host);
    bool runs = virDomainIsActive(dom) == 1;

    if (runs && !is_busy(dom))
        r = apply_at(dom, host, VIR_DOMAIN_AFFECT_LIVE, default_weight, s->to.given, s, err);
    if (r == 0 && (!runs || !is_busy(dom)) && virDomainIsPersistent(dom) == 1)
        r = apply_at(dom, host, VIR_DOMAIN_AFFECT_CONFIG, default_weight, s->to.given && persistent && runs,
                     s, err);
    if (r < 0 && virDomainIsActive(dom) != (int)runs && virConnectIsAlive(conn) == 1)
        r = 0; /* it has gone meanwhile */
    (void)virDomainFree(dom);
    return r;
}

int scheduler_apply(struct migrations *m, const struct pool_settings *q, bool persistent, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    virConnectPtr conn = NULL;
    int ret = 0;
    int r =
        migrations_connect(m, migrations_host(m, q->host), net_now_ms() + MIGRATIONS_CONNECT_MS, &conn, err);

    if (r < 0)
        return r;
    double weight = find_default_weight(conn, q->host, &a);

    for (size_t i = 0; i < q->n_vms; i++) { /* one that fails holds back no other */
        struct err why = {0};

        r = apply_one(conn, q->host, &q->vms[i], persistent, weight, &why);
        if (r < 0 && ret == 0) {
            ret = r;
            if (err)
                *err = why;
        }
    }
    migrations_disconnect(m, migrations_host(m, q->host), conn);
    return ret;
}
