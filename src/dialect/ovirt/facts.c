/* facts.c: what the scheduler computes of hosts and VMs before any unit is asked: effective CPUs, load, and
 * what a VM needs. */
#include "dialect/ovirt/internal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define KIB_OF_MIB 1024.0
#define MB_OF_VCPU 8 /* also of an I/O thread */

static bool is(const char *text, const char *word)
{
    return text && strcmp(text, word) == 0;
}

static double known(double v)
{
    return isnan(v) ? 0 : v;
}

/* ---- VMs ---- */

static bool runs(const char *status)
{
    static const char *const off[] = {"down", "suspended", "image_locked", "image_illegal"};

    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        if (strcmp(status, off[i]) == 0)
            return false;
    return true;
}

static int find_vm(const struct cloud *c, struct vm *v, uint32_t ix)
{
    const struct settings *set = &c->settings;

    v->runs = runs(v->status);
    if (v->runs != (v->host != NONE))
        return err_set(c->err, -EINVAL,
                       "/vms/%u/host: %s, expected the host of a VM that runs, and of no other", ix,
                       v->runs ? "missing" : "given");
    v->paused = is(v->status, "paused");
    v->engine = is(v->origin, "hosted_engine") || is(v->origin, "managed_hosted_engine");
    v->dedicated = is(v->pinning_policy, "dedicated") || is(v->pinning_policy, "isolate_threads");
    v->vcpus = v->sockets * v->cores * v->threads;
    v->static_mb = isnan(set->vm_overhead_mb) ? floor(v->memory / 512) + 64 : set->vm_overhead_mb;
    v->need_mb = v->memory + v->static_mb;
    if (isnan(set->vm_overhead_mb))
        v->need_mb += v->video_memory + MB_OF_VCPU * (v->vcpus + v->io_threads);
    v->pages = v->hugepages_kib > 0 ? ceil(v->memory * KIB_OF_MIB / v->hugepages_kib) : 0;
    v->load = v->runs ? known(v->cpu_percent) : set->vcpu_percent * v->vcpus;
    return 0;
}

/* ---- hosts ---- */

/* CPUs that no VM holds alone, and their load. */
static void find_cpus(const struct cloud *c, struct host *h)
{
    const struct cpu_unit *of = h->cpu_units.items;
    double cores = h->sockets * h->cores * (CLUSTER(c, h->cluster)->threads_as_cores ? h->threads : 1);
    double load = 0;

    h->cpus = isnan(h->threads) ? UNKNOWN : cores;
    h->exclusive = h->cpu_units.n > 0 ? 0 : h->taken.exclusive;
    for (uint32_t i = 0; i < h->cpu_units.n; i++) {
        h->exclusive += of[i].exclusive;
        load += of[i].exclusive ? 0 : known(of[i].load);
    }
    double total = h->cpu_units.n > 0 ? h->cpu_units.n : h->cpus;

    h->load = load > 0 ? load : (h->cpu_user + h->cpu_system) * h->cpus;
    if (is(h->spm, "spm"))
        h->load += c->settings.spm_vcpus * c->settings.vcpu_percent;
    h->eff = total > h->exclusive ? ceil(h->load / (total - h->exclusive)) : UNKNOWN;
}

static void add_vm(const struct cloud *c, const struct vm *v)
{
    struct host *h = v->host == NONE ? NULL : HOST(c, v->host);
    struct host *next = v->pending_host == NONE ? NULL : HOST(c, v->pending_host);

    if (h) {
        h->taken.need += v->need_mb;
        h->taken.overhead += v->static_mb;
        h->taken.load += v->load;
        h->taken.exclusive += v->dedicated ? v->vcpus : 0;
        h->taken.vms++;
    }
    for (int i = 0; i < 2; i++) {
        struct host *at = i == 0 ? h : next;
        if (at && !v->dedicated)
            at->largest_vm = fmax(at->largest_vm, v->sockets * v->cores);
    }
}

static void find_newest(struct cluster *cl, const struct host *h)
{
    if (!h->os_type || isnan(h->os_major))
        return;
    cl->several_os = cl->several_os || (cl->newest_os && strcmp(cl->newest_os, h->os_type) != 0);
    cl->newest_os = h->os_type;
    cl->newest_major = fmax(cl->newest_major, h->os_major);
}

int facts_find(struct cloud *c)
{
    int e = 0;

    for (uint32_t i = 0; e == 0 && i < c->vms.n; i++)
        e = find_vm(c, VM(c, i), i);
    for (uint32_t i = 0; e == 0 && i < c->vms.n; i++)
        add_vm(c, VM(c, i));
    for (uint32_t i = 0; e == 0 && i < c->hosts.n; i++)
        find_cpus(c, HOST(c, i));
    for (uint32_t i = 0; e == 0 && i < c->hosts.n; i++)
        find_newest(CLUSTER(c, HOST(c, i)->cluster), HOST(c, i));
    return e;
}
