/* counters.c: asks vCenter for performance counters in batches and puts them into the inventory. It
 * chooses no VM's final figures; vsphere.c does. */
#include "collectors/vsphere/counters.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/rfc3339.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 100     /* VMs or hosts in a call: a vCenter answers so many in a second or two */
#define GONE_MAX 16   /* VMs of one batch that may vanish before the batch is given up */
#define REALTIME_S 20 /* the interval of real-time counters, the same on all versions */
#define INTERVAL_MAX_S 86400

#define SAMPLES_MOST 3 /* a minute, the time between two inventories; the hosts keep an hour */

unsigned counters_samples_since(int64_t elapsed_ms)
{
    const int64_t sample_ms = 1000 * REALTIME_S;
    int64_t n = (elapsed_ms + sample_ms / 2) / sample_ms;

    return elapsed_ms < 0 || n > SAMPLES_MOST ? SAMPLES_MOST : n < 1 ? 1 : (unsigned)n;
}

struct counter_name {
    const char *group, *name, *rollup;
};

static const struct counter_name counter_names[COUNTER_COUNT] = {
    [COUNTER_CPU_USED] = {"cpu", "usagemhz", "average"},     /* MHz */
    [COUNTER_CPU_READY] = {"cpu", "ready", "summation"},     /* ms, all vCPUs */
    [COUNTER_CPU_RUN] = {"cpu", "run", "summation"},         /* ms, all vCPUs */
    [COUNTER_CPU_WAIT] = {"cpu", "wait", "summation"},       /* ms, all vCPUs: idle and waiting for I/O */
    [COUNTER_MEM_ACTIVE] = {"mem", "active", "average"},     /* KiB */
    [COUNTER_MEM_CONSUMED] = {"mem", "consumed", "average"}, /* KiB */
    [COUNTER_MEM_OVERHEAD] = {"mem", "overhead", "average"}, /* KiB */
};

static const struct counter_name host_counter_names[HOST_COUNTER_COUNT] = {
    [HOST_COUNTER_POWER] = {"power", "power", "average"},      /* W */
    [HOST_COUNTER_SWAP_IN] = {"mem", "swapinRate", "average"}, /* KiB/s */
};

static void find_numbers(const xml_node *list, const struct counter_name *names, int n_names, int64_t *ret)
{
    for (int i = 0; i < n_names; i++)
        ret[i] = -1;
    for (const xml_node *n = xml_child(list, "PerfCounterInfo"); n; n = xml_again(n)) {
        for (int i = 0; i < n_names; i++) {
            if (xml_text_is(xml_child(n, "groupInfo/key"), names[i].group) &&
                xml_text_is(xml_child(n, "nameInfo/key"), names[i].name) &&
                xml_text_is(xml_child(n, "rollupType"), names[i].rollup))
                (void)xml_int(xml_child(n, "key"), &ret[i]);
        }
    }
}

void counters_read_numbers(const xml_node *list, struct counters *ret)
{
    ret->known = true;
    find_numbers(list, counter_names, COUNTER_COUNT, ret->number);
    find_numbers(list, host_counter_names, HOST_COUNTER_COUNT, ret->host);
}

/* The values of a series. UNKNOWN where there are none; negative ones mean that nothing was measured. */
struct series {
    double mean, last, least;
    size_t n;
};

/* One value, or several with commas between them. mean: their sum so far. */
static void add_values(const char *csv, struct series *x)
{
    while (csv && *csv) {
        char *end = NULL;

        errno = 0;
        long long v = strtoll(csv, &end, 10);
        if (end == csv)
            return;
        if (!errno && v >= 0 && v <= INT32_MAX * INT64_C(1024)) {
            x->last = (double)v;
            x->least = fmin(x->least, x->last);
            x->mean += x->last;
            x->n++;
        }
        csv = *end == ',' ? end + 1 : NULL;
    }
}

/* PerfMetricIntSeries has a value element for each sample, PerfMetricSeriesCSV one for all. */
static struct series read_series(const xml_node *series, struct arena *a)
{
    struct series x = {.last = UNKNOWN, .least = UNKNOWN};

    for (const xml_node *v = xml_child(series, "value"); v; v = xml_again(v))
        add_values(xml_text(v, a), &x);
    x.mean = x.n > 0 ? x.mean / (double)x.n : UNKNOWN;
    return x;
}

/* What the samples of an answer were measured over. */
struct timing {
    double interval_ms; /* of all samples together */
    double samples;     /* 1 or more */
    instant_s measured; /* the end of the last one; 0: not known */
};

static void add_sample(struct timing *t, int64_t interval_s, const char *at)
{
    instant_s when = 0;

    t->interval_ms +=
        1000.0 * (double)(interval_s > 0 && interval_s <= INTERVAL_MAX_S ? interval_s : REALTIME_S);
    t->samples++;
    if (at && rfc3339_parse(at, &when) == 0)
        t->measured = when;
}

/* "20,2026-01-01T00:00:20Z,20,2026-01-01T00:00:40Z": interval and instant in turn. */
static void read_timing_csv(char *csv, struct timing *ret)
{
    char *rest = csv;

    for (char *interval = strsep(&rest, ","); interval && interval[0]; interval = strsep(&rest, ","))
        add_sample(ret, strtoll(interval, NULL, 10), strsep(&rest, ","));
}

static struct timing read_timing(const xml_node *metric, struct arena *a)
{
    struct timing t = {0};
    char *csv = xml_text(xml_child(metric, "sampleInfoCSV"), a);

    if (csv)
        read_timing_csv(csv, &t);
    for (const xml_node *n = xml_child(metric, "sampleInfo"); n; n = xml_again(n)) {
        int64_t interval = 0;
        (void)xml_int(xml_child(n, "interval"), &interval);
        add_sample(&t, interval, xml_text(xml_child(n, "timestamp"), a));
    }
    if (t.samples < 1)
        add_sample(&t, REALTIME_S, NULL);
    return t;
}

static void set_if_known(double *to, double value, double per)
{
    if (!isnan(value))
        *to = value / per;
}

static void take_metric(const struct counters *c, const xml_node *metric, struct vs_inventory_vm *vm,
                        struct arena *a)
{
    struct vm_sample *x = &vm->sample;
    struct series value[COUNTER_COUNT];

    for (int i = 0; i < COUNTER_COUNT; i++)
        value[i] = (struct series){.mean = UNKNOWN, .last = UNKNOWN};
    for (const xml_node *n = xml_child(metric, "value"); n; n = xml_again(n)) {
        int64_t number = -1;
        const char *instance = xml_text(xml_child(n, "id/instance"), a);
        if (xml_int(xml_child(n, "id/counterId"), &number) < 0 || (instance && instance[0]))
            continue; /* of a single vCPU */
        for (int i = 0; i < COUNTER_COUNT; i++) {
            if (c->number[i] == number && number >= 0)
                value[i] = read_series(n, a);
        }
    }
    if (isnan(value[COUNTER_CPU_USED].mean))
        return; /* just powered on: not measured yet */
    const struct timing t = read_timing(metric, a);

    x->present = true;
    x->measured = t.measured;
    x->interval_ms = t.interval_ms;
    x->cpu_used_mhz = value[COUNTER_CPU_USED].mean;
    vm->counted_last_mhz = value[COUNTER_CPU_USED].last;
    x->cpu_ready_ms = value[COUNTER_CPU_READY].mean * t.samples; /* sums, so of all samples together */
    x->cpu_run_ms = value[COUNTER_CPU_RUN].mean * t.samples;
    x->cpu_sleep_ms = value[COUNTER_CPU_WAIT].mean * t.samples;
    set_if_known(&x->mem_active_mb, value[COUNTER_MEM_ACTIVE].mean, KIB_PER_MIB);
    set_if_known(&x->mem_overhead_mb, value[COUNTER_MEM_OVERHEAD].mean, KIB_PER_MIB);
    if (value[COUNTER_MEM_CONSUMED].mean > 0)
        x->mem_consumed_mb = value[COUNTER_MEM_CONSUMED].mean / KIB_PER_MIB;
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

size_t counters_read(const struct counters *c, const xml_node *payload, struct vs_inventory_vm **vms,
                     size_t n)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    size_t filled = 0;

    for (const xml_node *metric = xml_child(payload, "returnval"); metric; metric = xml_again(metric)) {
        const char *id = xml_text(xml_child(metric, "entity"), &a);
        struct vs_inventory_vm **vm = id && n ? bsearch(id, vms, n, sizeof *vms, id_is) : NULL;
        if (!vm)
            continue;
        double before = (*vm)->sample.interval_ms;
        take_metric(c, metric, *vm, &a);
        filled += isnan(before) && !isnan((*vm)->sample.interval_ms);
    }
    return filled;
}

static void put_query(struct strbuf *b, const struct vsphere *v, const struct counters *c, unsigned samples,
                      struct vs_inventory_vm *const *vms, size_t n)
{
    vsphere_begin(b, "QueryPerf", "PerformanceManager", vsphere_content(v)->perf_manager);
    for (size_t i = 0; i < n; i++) {
        strbuf_puts(b, "<querySpec>");
        vsphere_put_ref(b, "entity", "VirtualMachine", vms[i]->id);
        strbuf_printf(b, "<maxSample>%u</maxSample>", samples);
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
static bool drop_gone(struct vs_inventory_vm **vms, size_t *n, const char *id)
{
    for (size_t i = 0; i < *n; i++) {
        if (strcmp(vms[i]->id, id) == 0) {
            vms[i]->state_known = false;
            memmove(vms + i, vms + i + 1, (*n - i - 1) * sizeof *vms);
            (*n)--;
            return true;
        }
    }
    return false;
}

/* All batches of a collection; each writes its own VMs and its own count. */
struct batches {
    const struct counters *c;
    unsigned samples;
    struct vs_inventory_vm **vms;
    size_t n;
    size_t *counts;
};

static int collect_batch(void *ctx, struct vsphere *v, size_t i, struct err *err)
{
    const struct batches *all = ctx;
    struct vs_inventory_vm **vms = all->vms + i * BATCH;
    size_t n = all->n - i * BATCH < BATCH ? all->n - i * BATCH : BATCH;
    int r = -ENOENT;

    for (int tries = 0; r == -ENOENT && n > 0 && tries < GONE_MAX; tries++) {
        CLEANUP(strbuf_releasep) struct strbuf body = STRBUF_EMPTY;
        CLEANUP(soap_answer_releasep) struct soap_answer answer = {0};

        put_query(&body, v, all->c, all->samples, vms, n);
        r = vsphere_call(v, "QueryPerf", &body, &answer, err);
        if (r == 0)
            all->counts[i] = counters_read(all->c, answer.payload, vms, n);
        else if (r == -ENOENT && !drop_gone(vms, &n, vsphere_fault(v)->object))
            return r;
    }
    return n == 0 ? 0 : r;
}

static int look_up(struct vsphere *v, struct counters *c, struct err *err)
{
    static const char *const paths[] = {"perfCounter", NULL};
    CLEANUP(soap_answer_releasep) struct soap_answer answer = {0};
    struct vsphere_object manager;
    const char *name = vsphere_content(v)->perf_manager;

    if (!name[0])
        return err_set(err, -ENOTSUP, "%s: the server has no performance manager", vsphere_url(v));
    int r = vsphere_get(v, "PerformanceManager", name, paths, &answer, &manager, err);
    if (r < 0)
        return r;
    counters_read_numbers(vsphere_prop(&manager, "perfCounter"), c);
    if (c->number[COUNTER_CPU_USED] >= 0)
        return 0;
    *c = (struct counters){0};
    return err_set(err, -ENOTSUP, "%s: the server has no counter cpu.usagemhz.average", vsphere_url(v));
}

int counters_collect(struct parallel **p, struct vsphere *v, struct counters *c, unsigned samples,
                     struct vs_inventory *s, size_t *ret_vms, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct batches all = {.c = c, .samples = samples};
    int r = c->known ? 0 : look_up(v, c, err);

    if (r < 0)
        return r;
    all.vms = running(s, &a, &all.n);
    size_t n = (all.n + BATCH - 1) / BATCH;
    all.counts = arena_array(&a, size_t, n);
    r = parallel_run(p, v, n, collect_batch, &all, err);
    if (r < 0)
        return r;
    *ret_vms = 0;
    for (size_t i = 0; i < n; i++)
        *ret_vms += all.counts[i];
    return 0;
}

/* ---- the hosts ------------------------------------------------------------------------------- */

#define WATTS_MOST 1e5    /* more than any host draws: an invalid measurement */
#define SWAPS_SAMPLES 15u /* five minutes */

static struct vs_inventory_host *find_host(struct vs_inventory *s, const char *id)
{
    for (size_t i = 0; i < s->n_hosts; i++) {
        if (strcmp(s->hosts[i].id, id) == 0)
            return &s->hosts[i];
    }
    return NULL;
}

static void take_host_metric(const struct counters *c, const xml_node *n, struct vs_inventory_host *h,
                             struct arena *a)
{
    int64_t number = -1;
    struct series x = read_series(n, a);

    if (xml_int(xml_child(n, "id/counterId"), &number) < 0 || number < 0)
        return;
    if (number == c->host[HOST_COUNTER_POWER] && x.mean > 0 && x.mean <= WATTS_MOST)
        h->power_w = x.mean; /* a host without a sensor says 0 */
    if (number == c->host[HOST_COUNTER_SWAP_IN] && x.n >= SWAPS_SAMPLES)
        h->swap_in_mb_s = x.least / KIB_PER_MIB;
}

void counters_read_hosts(const struct counters *c, const xml_node *payload, struct vs_inventory *s)
{
    CLEANUP(arena_releasep) struct arena a = {0};

    for (const xml_node *metric = xml_child(payload, "returnval"); metric; metric = xml_again(metric)) {
        const char *id = xml_text(xml_child(metric, "entity"), &a);
        struct vs_inventory_host *h = id ? find_host(s, id) : NULL;

        for (const xml_node *n = xml_child(metric, "value"); h && n; n = xml_again(n))
            take_host_metric(c, n, h, &a);
    }
}

static bool is_up(const struct vs_inventory_host *h)
{
    return h->connection == CONNECTION_CONNECTED && h->power == HOST_POWER_ON && h->standby == STANDBY_NONE;
}

static void put_hosts_query(struct strbuf *b, const struct vsphere *v, const struct counters *c,
                            unsigned samples, struct vs_inventory_host *const *hosts, size_t n)
{
    const unsigned of[HOST_COUNTER_COUNT] = {
        [HOST_COUNTER_POWER] = samples, [HOST_COUNTER_SWAP_IN] = SWAPS_SAMPLES};

    vsphere_begin(b, "QueryPerf", "PerformanceManager", vsphere_content(v)->perf_manager);
    for (size_t i = 0; i < n * HOST_COUNTER_COUNT; i++) {
        const size_t k = i % HOST_COUNTER_COUNT;

        if (c->host[k] < 0)
            continue;
        strbuf_puts(b, "<querySpec>");
        vsphere_put_ref(b, "entity", "HostSystem", hosts[i / HOST_COUNTER_COUNT]->id);
        strbuf_printf(b,
                      "<maxSample>%u</maxSample><metricId><counterId>%lld</counterId><instance></instance>"
                      "</metricId><intervalId>%d</intervalId><format>csv</format></querySpec>",
                      of[k], (long long)c->host[k], REALTIME_S);
    }
    vsphere_end(b, "QueryPerf");
}

void counters_collect_hosts(struct vsphere *v, const struct counters *c, unsigned samples,
                            struct vs_inventory *s)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct vs_inventory_host **up = arena_array(&a, struct vs_inventory_host *, s->n_hosts);
    size_t n = 0;

    if (!c->known || (c->host[HOST_COUNTER_POWER] < 0 && c->host[HOST_COUNTER_SWAP_IN] < 0))
        return;
    for (size_t i = 0; i < s->n_hosts; i++) {
        if (is_up(&s->hosts[i]))
            up[n++] = &s->hosts[i];
    }
    for (size_t i = 0; i < n; i += BATCH) {
        CLEANUP(strbuf_releasep) struct strbuf body = STRBUF_EMPTY;
        CLEANUP(soap_answer_releasep) struct soap_answer answer = {0};
        struct err err = {0};

        put_hosts_query(&body, v, c, samples, up + i, n - i < BATCH ? n - i : BATCH);
        if (vsphere_call(v, "QueryPerf", &body, &answer, &err) < 0)
            return;
        counters_read_hosts(c, answer.payload, s);
    }
}
