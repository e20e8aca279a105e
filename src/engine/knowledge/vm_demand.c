/* vm_demand.c: what each VM wants: made of what was measured, kept for an hour, and put into the next
 * inventory as windows. */
#include "engine/knowledge/vm_demand.h"

#include "base/xalloc.h"
#include "core/demand/demand.h"
#include "core/demand/sample_guard.h"
#include "engine/knowledge/demand_correlation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct vm_demand {
    struct demand_history *history;
    struct sample_record *kept; /* of the newest snapshot, in its memory */
    size_t n_kept;
};

const struct demand_history *vm_demand_history(const struct vm_demand *d)
{
    return d->history;
}

const struct sample_record *vm_demand_kept(const struct vm_demand *d, size_t *ret_n)
{
    *ret_n = d->n_kept;
    return d->kept;
}

/* ---- into an inventory ----------------------------------------------------------------------- */

/* A thousand petahertz or an exabyte is no measurement. */
#define FIGURE_MOST 1e12

/* The figures of a sample, as a fault names them. */
static const struct {
    const char *what, *unit;
    size_t offset;
} figures[] = {
    {"the interval of its figures", "ms", offsetof(struct vm_sample, interval_ms)},
    {"its CPU use", "MHz", offsetof(struct vm_sample, cpu_used_mhz)},
    {"the time that it ran", "ms", offsetof(struct vm_sample, cpu_run_ms)},
    {"the time that it slept", "ms", offsetof(struct vm_sample, cpu_sleep_ms)},
    {"the time that it waited for a core", "ms", offsetof(struct vm_sample, cpu_ready_ms)},
    {"the speed of its cores", "MHz", offsetof(struct vm_sample, core_mhz)},
    {"its memory in use", "MiB", offsetof(struct vm_sample, mem_active_mb)},
    {"what its guest uses", "MiB", offsetof(struct vm_sample, mem_guest_used_mb)},
    {"the memory that backs it", "MiB", offsetof(struct vm_sample, mem_consumed_mb)},
    {"its hypervisor's memory for it", "MiB", offsetof(struct vm_sample, mem_overhead_mb)},
};

/* A figure that cannot have been measured, as a phrase; NULL: there is none. A snapshot could not even hold
 * it. What is merely more than the VM could use is found by the pass, which knows the hosts. */
static const char *find_impossible(const struct vm_sample *x, struct arena *a)
{
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        double v;

        memcpy(&v, (const char *)x + figures[i].offset, sizeof v);
        if (v < 0 || v > FIGURE_MOST)
            return arena_printf(a, "%s is given as %.6g %s", figures[i].what, v, figures[i].unit);
    }
    return NULL;
}

static bool is_size(double v)
{
    return v >= 0 && v <= FIGURE_MOST;
}

/* Nothing of a sample with an impossible figure is believed; sizes that came of it become the usual ones. */
static void disbelieve(struct vm_facts *f, const char *why)
{
    f->sample_bad = why;
    if (!is_size(f->overhead_mb))
        f->overhead_mb = 0;
    if (!is_size(f->consumed_mb))
        f->consumed_mb = f->mem_mb;
    f->demand[RES_MEM] = f->consumed_mb + f->overhead_mb;
}

/* §2.3: what a VM wants, from what was measured of it. Where nothing was measured of its memory, it is taken
 * to want all that may be behind it: the most there can be is no guess that could do harm. CPU has no such
 * bound that would not turn the decisions upside down. */
static void fill_demand(struct seen_vm *v, double idle_percent, struct arena *a)
{
    if (v->is.state != VM_ON || !v->sample.present)
        return;
    const char *why = find_impossible(&v->sample, a);
    if (why) {
        disbelieve(&v->is, why);
        return;
    }
    double cpu = demand_cpu_mhz(&v->sample, v->is.vcpus);
    double mem = demand_mem_mb(&v->sample, idle_percent);

    v->is.no_reclaim = isnan(v->sample.mem_active_mb);
    v->is.demand[RES_MEM] = isnan(mem) ? v->is.consumed_mb + v->is.overhead_mb : mem;
    if (isnan(cpu))
        v->is.demand_unknown = true;
    else
        v->is.demand[RES_CPU] = cpu;
}

/* Whether the collector gave windows of its own: those that stand for "not known" repeat the present demand.
 */
static bool windows_given(const struct vm_facts *f)
{
    for (int w = 0; w < WINDOW_COUNT; w++) {
        for (int r = 0; r < RES_COUNT; r++) {
            const struct demand_stats *s = &f->window[w][r];

            if (s->stddev != 0 || s->min != f->demand[r] || s->max != f->demand[r])
                return true;
        }
    }
    return false;
}

/* The demand of every running VM, and what the last hour says of it. One whose figures are missing or
 * impossible weighs what it did when they were last known, where they were. */
static void fill(void *piece, const struct knowledge_context *c, struct inventory *inv, struct arena *a)
{
    const struct demand_history *history = ((struct vm_demand *)piece)->history;
    const instant_s now = inv->time;
    struct demand_correlation *all = arena_new(a, struct demand_correlation);
    bool measured = false; /* otherwise what the source says holds, with its windows */

    for (size_t i = 0; i < inv->n_vms; i++) {
        struct seen_vm *v = &inv->vms[i];

        fill_demand(v, c->settings->policy.mem_idle_percent, a);
        if (v->is.state != VM_ON || !v->is.id)
            continue;
        if ((v->is.demand_unknown || v->is.sample_bad) &&
            !demand_history_last(history, v->is.id, now, v->is.demand))
            continue;
        if (v->sample.present || !windows_given(&v->is)) {
            double stable_s;

            demand_history_describe(history, v->is.id, now, c->settings->policy.dpm.low_s, v->is.demand, all,
                                    v->is.window, &stable_s);
            if (isnan(v->is.stable_s))
                v->is.stable_s = stable_s;
            demand_history_deviation(history, v->is.id, v->is.deviation);
            demand_history_rise(history, v->is.id, now, v->is.rise);
            measured = true;
        }
    }
    if (measured)
        inv->correlation = demand_correlation_result(all);
}

/* ---- out of a snapshot ----------------------------------------------------------------------- */

/* Only what was checked becomes history, and only what can be right. */
static void observe(void *piece, const struct knowledge_context *c, struct snapshot *s, struct arena *a)
{
    struct vm_demand *d = piece;

    d->kept = arena_array(a, struct sample_record, s->n_vms);
    d->n_kept = 0;
    for (uint32_t i = 0; i < s->n_vms; i++) {
        const struct vm_facts *f = &s->vms[i].is;
        struct finding wrong;

        if (!vm_takes_part(s, &s->vms[i]) || f->demand_unknown ||
            sample_guard_find(s, &c->settings->policy, i, &wrong))
            continue;
        if (demand_history_add(d->history, f->id, s->time, f->demand))
            d->kept[d->n_kept++] = (struct sample_record){
                .vm = f->id, .time = s->time, .demand = {f->demand[RES_CPU], f->demand[RES_MEM]}};
    }
    demand_history_look(d->history, d->kept, d->n_kept, s->time);
}

/* ---- the store ------------------------------------------------------------------------------- */

static void recall(void *piece, const struct stored *s, instant_s now)
{
    struct vm_demand *d = piece;

    for (size_t i = 0; i < s->n_samples; i++) {
        if (s->samples[i].time <= now && *s->samples[i].vm != '\n') /* those of hosts: own_use.c */
            (void)demand_history_add(d->history, s->samples[i].vm, s->samples[i].time, s->samples[i].demand);
    }
}

static void forget(void *piece, const struct retention *keep, instant_s now)
{
    struct vm_demand *d = piece;

    (void)keep;
    demand_history_forget(d->history, now);
}

/* ---- life ------------------------------------------------------------------------------------ */

static void *create(void)
{
    struct vm_demand *d = xcalloc(1, sizeof *d);

    d->history = demand_history_new();
    return d;
}

static void release(void *piece)
{
    struct vm_demand *d = piece;

    demand_history_free(d->history);
    free(d);
}

const struct knowledge_ops vm_demand_ops = {
    .create = create,
    .release = release,
    .fill = fill,
    .observe = observe,
    .recall = recall,
    .forget = forget,
};
