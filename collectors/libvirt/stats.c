/* stats.c: the statistics of domains as samples: reads typed parameters, and makes differences of counters.
 */
#include "collectors/libvirt/host_look.h"

#include <stdio.h>
#include <string.h>

#define NS_PER_MS 1e6
#define VCPUS_MOST 4096
#define INTERVAL_LEAST_MS 500                 /* below, a difference is mostly noise */
#define INTERVAL_MOST_MS 3600e3               /* above, it says nothing of now */
#define GUEST_SILENT_MS ((int64_t)120 * 1000) /* after this its balloon driver is not believed */
#define TURBO_MOST 2.5                        /* see cap_cpu() */

static double number_of(const virTypedParameter *p)
{
    switch (p->type) {
    case VIR_TYPED_PARAM_INT:
        return p->value.i;
    case VIR_TYPED_PARAM_UINT:
        return p->value.ui;
    case VIR_TYPED_PARAM_LLONG:
        return (double)p->value.l;
    case VIR_TYPED_PARAM_ULLONG:
        return (double)p->value.ul;
    case VIR_TYPED_PARAM_DOUBLE:
        return p->value.d;
    default: /* texts, booleans, and what later versions add */
        return UNKNOWN;
    }
}

static struct domain_disk *find_disk(struct domain_xml *d, const char *target)
{
    for (size_t i = 0; target && i < d->n_disks; i++) {
        if (d->disks[i].target && strcmp(d->disks[i].target, target) == 0)
            return &d->disks[i];
    }
    return NULL;
}

/* UNKNOWN: not there, not a number, or negative. */
static double find(const virTypedParameter *params, int n, const char *name)
{
    for (int i = 0; i < n; i++) {
        if (strcmp(params[i].field, name) == 0) {
            double v = number_of(&params[i]);
            return v >= 0 ? v : UNKNOWN;
        }
    }
    return UNKNOWN;
}

/* "vcpu.17.time": the sum over all vCPUs. One pass over the list: a VM may have hundreds. */
static double sum(const virTypedParameter *params, int n, const char *last)
{
    double total = UNKNOWN;

    for (int i = 0; i < n; i++) {
        unsigned ix;
        int end = 0;

        if (sscanf(params[i].field, "vcpu.%4u.%n", &ix, &end) < 1 || end == 0 || ix >= VCPUS_MOST ||
            strcmp(params[i].field + end, last) != 0)
            continue;
        double v = number_of(&params[i]);
        if (v >= 0)
            total = isnan(total) ? v : total + v;
    }
    return total;
}

/* "block.0.name", "block.0.physical": in this order. */
void host_look_read_disks(const virTypedParameter *params, int n, struct domain_xml *d)
{
    struct domain_disk *disk = NULL;

    for (int i = 0; i < n; i++) {
        unsigned ix;
        int end = 0;

        if (sscanf(params[i].field, "block.%4u.%n", &ix, &end) < 1 || end == 0)
            continue;
        if (strcmp(params[i].field + end, "name") == 0 && params[i].type == VIR_TYPED_PARAM_STRING)
            disk = find_disk(d, params[i].value.s);
        else if (disk && strcmp(params[i].field + end, "physical") == 0)
            disk->size_mb = fmax(0, number_of(&params[i])) / BYTES_PER_MIB;
    }
}

/* What the guest itself says that it uses. */
static double guest_used(const virTypedParameter *params, int n)
{
    double all = find(params, n, "balloon.available");
    double usable = find(params, n, "balloon.usable");
    double unused = find(params, n, "balloon.unused");
    double caches = find(params, n, "balloon.disk_caches");
    double left = !isnan(usable) ? usable : unused + (isnan(caches) ? 0 : caches);

    return left <= all && find(params, n, "balloon.last-update") > 0 ? (all - left) / KIB_PER_MIB : UNKNOWN;
}

void host_look_mark_silent(const struct domain_stats *before, double newest_said_s, struct domain_stats *now)
{
    const double behind_ms = (newest_said_s - now->guest_said_s) * 1000;

    now->guest_heard_ms = now->counters.at_ms;
    if (before && now->guest_said_s == before->guest_said_s)
        now->guest_heard_ms = before->guest_heard_ms;
    else if (!before && behind_ms > 0)
        now->guest_heard_ms -= (int64_t)fmin(behind_ms, 2.0 * GUEST_SILENT_MS);
    if (now->counters.at_ms - now->guest_heard_ms > GUEST_SILENT_MS)
        now->guest_used_mb = UNKNOWN;
}

void host_look_read_stats(const virTypedParameter *params, int n, int64_t at_ms, struct domain_stats *ret)
{
    double state = find(params, n, "state.state");
    double reason = find(params, n, "state.reason");
    double status = find(params, n, "dirtyrate.calc_status");

    *ret = (struct domain_stats){
        .state = state <= VIR_DOMAIN_PMSUSPENDED ? (int)state : VIR_DOMAIN_NOSTATE,
        .reason = reason < 1000 ? (int)reason : 0,
        .counters = {.at_ms = at_ms,
                     .cpu_ms = find(params, n, "cpu.time") / NS_PER_MS,
                     .run_ms = sum(params, n, "time") / NS_PER_MS,
                     .delay_ms = sum(params, n, "delay") / NS_PER_MS},
        .rss_mb = find(params, n, "balloon.rss") / KIB_PER_MIB,
        .guest_used_mb = guest_used(params, n),
        .guest_said_s = find(params, n, "balloon.last-update"),
        .dirty_mb_s = status == VIR_DOMAIN_DIRTYRATE_MEASURED
                          ? find(params, n, "dirtyrate.megabytes_per_second")
                          : UNKNOWN,
        .dirty_running = status == VIR_DOMAIN_DIRTYRATE_MEASURING,
    };
}

/* Clocks above the nominal one, and the emulator's own threads, let a domain use more than its vCPUs' nominal
 * MHz. Up to this factor the use counts as all of its vCPUs; a larger figure stays, and the pass finds it
 * impossible. */
static double cap_cpu(double mhz, double most)
{
    return mhz > most && mhz <= TURBO_MOST * most ? most : mhz;
}

/* A counter that went back is that of another process. */
static double difference(double before, double now)
{
    return now >= before ? now - before : UNKNOWN;
}

struct vm_sample host_look_sample(const struct domain_counters *before, const struct domain_stats *now,
                                  uint32_t vcpus, double core_mhz, double mem_mb)
{
    const struct domain_counters *after = &now->counters;
    double interval = before ? (double)(after->at_ms - before->at_ms) : 0;
    double used = before ? difference(before->cpu_ms, after->cpu_ms) : UNKNOWN;

    if (interval < INTERVAL_LEAST_MS || interval > INTERVAL_MOST_MS || isnan(used) || isnan(core_mhz))
        return (struct vm_sample){0};
    double run = difference(before->run_ms, after->run_ms);
    double ready = difference(before->delay_ms, after->delay_ms);
    double all = interval * vcpus;

    ready = ready > all ? all : ready; /* the reading of many vCPUs takes time itself */
    run = run > all ? all : run;
    double rest = all - run - (isnan(ready) ? 0 : ready);
    double over = now->rss_mb - mem_mb;

    return (struct vm_sample){.present = true,
                              .interval_ms = interval,
                              .cpu_used_mhz = cap_cpu(used / interval * core_mhz, vcpus * core_mhz),
                              .cpu_run_ms = run,
                              .cpu_sleep_ms = rest > 0      ? rest
                                              : isnan(rest) ? UNKNOWN
                                                            : 0,
                              .cpu_ready_ms = ready,
                              .core_mhz = core_mhz,
                              .mem_active_mb = UNKNOWN,
                              .mem_guest_used_mb = now->guest_used_mb,
                              .mem_consumed_mb = now->rss_mb > mem_mb ? mem_mb : now->rss_mb,
                              .mem_overhead_mb = over > 0      ? over
                                                 : isnan(over) ? UNKNOWN
                                                               : 0};
}
