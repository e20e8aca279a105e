/* counters.c: asks vCenter for performance counters in batches and puts them into the inventory. It
 * chooses no VM's final figures; vsphere.c does. */
#include "collectors/vsphere/counters.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/rfc3339.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 100     /* VMs or hosts in a call: a vCenter answers so many in a second or two */
#define GONE_MAX 16   /* VMs of one batch that may vanish before the batch is given up */
#define REALTIME_S 20 /* the interval of real-time counters, the same on all versions */
#define INTERVAL_MAX_S 86400

static const struct {
    const char *group, *name, *rollup;
} counter_names[COUNTER_COUNT] = {
    [COUNTER_CPU_USED] = {"cpu", "usagemhz", "average"},     /* MHz */
    [COUNTER_CPU_READY] = {"cpu", "ready", "summation"},     /* ms, all vCPUs */
    [COUNTER_CPU_RUN] = {"cpu", "run", "summation"},         /* ms, all vCPUs */
    [COUNTER_CPU_WAIT] = {"cpu", "wait", "summation"},       /* ms, all vCPUs: idle and waiting for I/O */
    [COUNTER_MEM_ACTIVE] = {"mem", "active", "average"},     /* KiB */
    [COUNTER_MEM_CONSUMED] = {"mem", "consumed", "average"}, /* KiB */
    [COUNTER_MEM_OVERHEAD] = {"mem", "overhead", "average"}, /* KiB */
};

void counters_read_numbers(const xml_node *list, struct counters *ret)
{
    struct counters c = {.known = true, .power = -1};

    for (int i = 0; i < COUNTER_COUNT; i++)
        c.number[i] = -1;
    for (const xml_node *n = xml_child(list, "PerfCounterInfo"); n; n = xml_again(n)) {
        for (int i = 0; i < COUNTER_COUNT; i++) {
            if (xml_text_is(xml_child(n, "groupInfo/key"), counter_names[i].group) &&
                xml_text_is(xml_child(n, "nameInfo/key"), counter_names[i].name) &&
                xml_text_is(xml_child(n, "rollupType"), counter_names[i].rollup))
                (void)xml_int(xml_child(n, "key"), &c.number[i]);
        }
        if (xml_text_is(xml_child(n, "groupInfo/key"), "power") &&
            xml_text_is(xml_child(n, "nameInfo/key"), "power") &&
            xml_text_is(xml_child(n, "rollupType"), "average"))
            (void)xml_int(xml_child(n, "key"), &c.power);
    }
    *ret = c;
}

/* The last number of "1,2,3"; -1 when there is none. Negative numbers mean that nothing was measured. */
static int64_t last_number(const char *csv)
{
    const char *comma = strrchr(csv, ',');
    const char *begin = comma ? comma + 1 : csv;
    char *end = NULL;
    long long v;

    errno = 0;
    v = strtoll(begin, &end, 10);
    return end == begin || *end != '\0' || errno ? -1 : v;
}

/* Reads one series: PerfMetricIntSeries has a value element for each sample, PerfMetricSeriesCSV one for
 * all. */
static double series_value(const xml_node *series, struct arena *a)
{
    const xml_node *last = NULL;

    for (const xml_node *n = xml_child(series, "value"); n; n = xml_again(n))
        last = n;
    int64_t v = last ? last_number(xml_text(last, a)) : -1;

    return v < 0 || v > INT32_MAX * INT64_C(1024) ? UNKNOWN : (double)v;
}

static double interval_ms(const xml_node *metric, struct arena *a)
{
    const char *csv = xml_text(xml_child(metric, "sampleInfoCSV"), a);
    int64_t s = 0;

    if (csv) /* "20,2026-01-01T00:00:20Z": interval and instant in turn */
        s = strtoll(csv, NULL, 10);
    else
        (void)xml_int(xml_child(metric, "sampleInfo/interval"), &s);
    return 1000.0 * (double)(s > 0 && s <= INTERVAL_MAX_S ? s : REALTIME_S);
}

/* "20,2026-01-01T00:00:20Z": of several samples the last one counts, here as in series_value(). */
static instant_s measured(const xml_node *metric, struct arena *a)
{
    const char *csv = xml_text(xml_child(metric, "sampleInfoCSV"), a);
    const xml_node *last = NULL;
    instant_s t = 0;

    if (csv) {
        const char *comma = strrchr(csv, ',');
        return comma && rfc3339_parse(comma + 1, &t) == 0 ? t : 0;
    }
    for (const xml_node *n = xml_child(metric, "sampleInfo"); n; n = xml_again(n))
        last = n;
    const char *text = last ? xml_text(xml_child(last, "timestamp"), a) : NULL;

    return text && rfc3339_parse(text, &t) == 0 ? t : 0;
}

static void set_if_known(double *to, double value, double per)
{
    if (!isnan(value))
        *to = value / per;
}

static void take_metric(const struct counters *c, const xml_node *metric, struct vm_sample *x,
                        struct arena *a)
{
    double value[COUNTER_COUNT];

    for (int i = 0; i < COUNTER_COUNT; i++)
        value[i] = UNKNOWN;
    for (const xml_node *n = xml_child(metric, "value"); n; n = xml_again(n)) {
        int64_t number = -1;
        const char *instance = xml_text(xml_child(n, "id/instance"), a);
        if (xml_int(xml_child(n, "id/counterId"), &number) < 0 || (instance && instance[0]))
            continue; /* of a single vCPU */
        for (int i = 0; i < COUNTER_COUNT; i++) {
            if (c->number[i] == number && number >= 0)
                value[i] = series_value(n, a);
        }
    }
    if (isnan(value[COUNTER_CPU_USED]))
        return; /* just powered on: not measured yet */
    x->present = true;
    x->measured = measured(metric, a);
    x->interval_ms = interval_ms(metric, a);
    x->cpu_used_mhz = value[COUNTER_CPU_USED];
    x->cpu_ready_ms = value[COUNTER_CPU_READY];
    x->cpu_run_ms = value[COUNTER_CPU_RUN];
    x->cpu_sleep_ms = value[COUNTER_CPU_WAIT];
    set_if_known(&x->mem_active_mb, value[COUNTER_MEM_ACTIVE], KIB_PER_MIB);
    set_if_known(&x->mem_overhead_mb, value[COUNTER_MEM_OVERHEAD], KIB_PER_MIB);
    if (value[COUNTER_MEM_CONSUMED] > 0)
        x->mem_consumed_mb = value[COUNTER_MEM_CONSUMED] / KIB_PER_MIB;
}

static int by_id(const void *a, const void *b)
{
    return strcmp((*(struct vs_inventory_vm *const *)a)->id, (*(struct vs_inventory_vm *const *)b)->id);
}

static int id_is(const void *id, const void *vm)
{
    return strcmp(id, (*(struct vs_inventory_vm *const *)vm)->id);
}

/* All VMs that run, by id. */
static struct vs_inventory_vm **running(struct vs_inventory *s, struct arena *a, size_t *ret_n)
{
    struct vs_inventory_vm **vms = arena_array(a, struct vs_inventory_vm *, s->n_vms);
    size_t n = 0;

    for (size_t i = 0; i < s->n_vms; i++) {
        if (s->vms[i].state == VM_ON && !s->vms[i].template_)
            vms[n++] = &s->vms[i];
    }
    qsort(vms, n, sizeof *vms, by_id);
    *ret_n = n;
    return vms;
}

size_t counters_read(const struct counters *c, const xml_node *payload, struct vs_inventory *s)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    size_t n = 0;
    size_t filled = 0;
    struct vs_inventory_vm **vms = running(s, &a, &n);

    for (const xml_node *metric = xml_child(payload, "returnval"); metric; metric = xml_again(metric)) {
        const char *id = xml_text(xml_child(metric, "entity"), &a);
        struct vs_inventory_vm **vm = id && n ? bsearch(id, vms, n, sizeof *vms, id_is) : NULL;
        if (!vm)
            continue;
        double before = (*vm)->sample.interval_ms;
        take_metric(c, metric, &(*vm)->sample, &a);
        filled += isnan(before) && !isnan((*vm)->sample.interval_ms);
    }
    return filled;
}

static void put_query(struct strbuf *b, const struct vsphere *v, const struct counters *c,
                      struct vs_inventory_vm *const *vms, size_t n)
{
    vsphere_begin(b, "QueryPerf", "PerformanceManager", vsphere_content(v)->perf_manager);
    for (size_t i = 0; i < n; i++) {
        if (!vms[i])
            continue;
        strbuf_puts(b, "<querySpec>");
        vsphere_put_ref(b, "entity", "VirtualMachine", vms[i]->id);
        strbuf_puts(b, "<maxSample>1</maxSample>");
        for (int k = 0; k < COUNTER_COUNT; k++) {
            if (c->number[k] >= 0)
                strbuf_printf(b, "<metricId><counterId>%lld</counterId><instance></instance></metricId>",
                              (long long)c->number[k]);
        }
        strbuf_printf(b, "<intervalId>%d</intervalId><format>csv</format></querySpec>", REALTIME_S);
    }
    vsphere_end(b, "QueryPerf");
}

/* Removes the VM that a fault names from the batch and from the inventory. */
static bool drop_gone(struct vs_inventory_vm **vms, size_t n, const char *id)
{
    for (size_t i = 0; i < n; i++) {
        if (vms[i] && strcmp(vms[i]->id, id) == 0) {
            vms[i]->state_known = false;
            vms[i] = NULL;
            return true;
        }
    }
    return false;
}

static int collect_batch(struct vsphere *v, const struct counters *c, struct vs_inventory *s,
                         struct vs_inventory_vm **vms, size_t n, size_t *count, struct err *err)
{
    int r = -ENOENT;

    for (int tries = 0; r == -ENOENT && tries < GONE_MAX; tries++) {
        CLEANUP(strbuf_releasep) struct strbuf body = {0};
        CLEANUP(soap_answer_releasep) struct soap_answer answer = {0};

        strbuf_init(&body, STRBUF_NO_LIMIT);
        put_query(&body, v, c, vms, n);
        r = vsphere_call(v, "QueryPerf", &body, &answer, err);
        if (r == 0)
            *count += counters_read(c, answer.payload, s);
        else if (r == -ENOENT && !drop_gone(vms, n, vsphere_fault(v)->object))
            return r;
    }
    return r;
}

static int look_up(struct vsphere *v, struct counters *c, struct err *err)
{
    static const char *const paths[] = {"perfCounter", NULL};
    CLEANUP(arena_releasep) struct arena a = {0};
    CLEANUP(soap_answer_releasep) struct soap_answer answer = {0};
    struct vsphere_object manager;
    const char *name = vsphere_content(v)->perf_manager;

    if (!name[0])
        return err_set(err, -ENOTSUP, "%s: the server has no performance manager", vsphere_url(v));
    int r = vsphere_get(v, "PerformanceManager", name, paths, &a, &answer, &manager, err);
    if (r < 0)
        return r;
    counters_read_numbers(vsphere_prop(&manager, "perfCounter"), c);
    if (c->number[COUNTER_CPU_USED] >= 0)
        return 0;
    *c = (struct counters){0};
    return err_set(err, -ENOTSUP, "%s: the server has no counter cpu.usagemhz.average", vsphere_url(v));
}

int counters_collect(struct vsphere *v, struct counters *c, struct vs_inventory *s, size_t *ret_vms,
                     struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    size_t n = 0;
    size_t count = 0;
    int r = c->known ? 0 : look_up(v, c, err);

    if (r < 0)
        return r;
    struct vs_inventory_vm **vms = running(s, &a, &n);
    for (size_t i = 0; i < n; i += BATCH) {
        r = collect_batch(v, c, s, vms + i, n - i < BATCH ? n - i : BATCH, &count, err);
        if (r < 0)
            return r;
    }
    *ret_vms = count;
    return 0;
}

/* ---- the hosts' draw ------------------------------------------------------------------------- */

#define WATTS_MOST 1e5 /* more than any host draws: an invalid measurement */

static struct vs_inventory_host *find_host(struct vs_inventory *s, const char *id)
{
    for (size_t i = 0; i < s->n_hosts; i++) {
        if (strcmp(s->hosts[i].id, id) == 0)
            return &s->hosts[i];
    }
    return NULL;
}

void counters_read_power(const struct counters *c, const xml_node *payload, struct vs_inventory *s)
{
    CLEANUP(arena_releasep) struct arena a = {0};

    for (const xml_node *metric = xml_child(payload, "returnval"); metric; metric = xml_again(metric)) {
        const char *id = xml_text(xml_child(metric, "entity"), &a);
        struct vs_inventory_host *h = id ? find_host(s, id) : NULL;

        for (const xml_node *n = xml_child(metric, "value"); h && n; n = xml_again(n)) {
            int64_t number = -1;
            double watts = series_value(n, &a);

            if (xml_int(xml_child(n, "id/counterId"), &number) == 0 && number == c->power && c->power >= 0 &&
                watts > 0 && watts <= WATTS_MOST) /* a host without a sensor says 0 */
                h->power_w = watts;
        }
    }
}

static bool is_up(const struct vs_inventory_host *h)
{
    return h->connection == CONNECTION_CONNECTED && h->power == HOST_POWER_ON && h->standby == STANDBY_NONE;
}

static void put_power_query(struct strbuf *b, const struct vsphere *v, const struct counters *c,
                            const struct vs_inventory_host *hosts, size_t n)
{
    vsphere_begin(b, "QueryPerf", "PerformanceManager", vsphere_content(v)->perf_manager);
    for (size_t i = 0; i < n; i++) {
        if (!is_up(&hosts[i]))
            continue;
        strbuf_puts(b, "<querySpec>");
        vsphere_put_ref(b, "entity", "HostSystem", hosts[i].id);
        strbuf_printf(b,
                      "<maxSample>1</maxSample><metricId><counterId>%lld</counterId><instance></instance>"
                      "</metricId><intervalId>%d</intervalId><format>csv</format></querySpec>",
                      (long long)c->power, REALTIME_S);
    }
    vsphere_end(b, "QueryPerf");
}

void counters_collect_power(struct vsphere *v, const struct counters *c, struct vs_inventory *s)
{
    for (size_t i = 0; c->known && c->power >= 0 && i < s->n_hosts; i += BATCH) {
        CLEANUP(strbuf_releasep) struct strbuf body = {0};
        CLEANUP(soap_answer_releasep) struct soap_answer answer = {0};
        struct err err = {0};
        size_t n = s->n_hosts - i < BATCH ? s->n_hosts - i : BATCH;
        size_t up = 0;

        for (size_t k = 0; k < n; k++)
            up += is_up(&s->hosts[i + k]);
        if (up == 0)
            continue;
        strbuf_init(&body, STRBUF_NO_LIMIT);
        put_power_query(&body, v, c, s->hosts + i, n);
        if (vsphere_call(v, "QueryPerf", &body, &answer, &err) < 0)
            return;
        counters_read_power(c, answer.payload, s);
    }
}
