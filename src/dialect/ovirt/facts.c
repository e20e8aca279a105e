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

static double static_overhead(const struct cloud *c, const struct vm *v)
{
    const char *architecture = CLUSTER(c, v->cluster)->architecture;

    if (architecture && strncmp(architecture, "ppc", 3) == 0)
        return 100 + floor(exp2(ceil(log2(v->memory))) / 64);
    return floor(v->memory / 512) + 64;
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
    v->static_mb = isnan(set->vm_overhead_mb) ? static_overhead(c, v) : set->vm_overhead_mb;
    v->need_mb = v->memory + v->static_mb;
    if (isnan(set->vm_overhead_mb))
        v->need_mb += v->video_memory + MB_OF_VCPU * (v->vcpus + v->io_threads);
    v->pages = v->hugepages_kib > 0 ? ceil(v->memory * KIB_OF_MIB / v->hugepages_kib) : 0;
    v->takes_mb = v->need_mb + (v->pages > 0 ? v->pages * v->hugepages_kib / KIB_OF_MIB - v->memory : 0);
    v->load = v->runs ? known(v->cpu_percent) : set->vcpu_percent * v->vcpus;
    return 0;
}

/* ---- hosts ---- */

/* CPUs that no VM holds alone, and their load. VMs that are pending and hold CPUs alone will have the lowest
 * free ones. */
static void find_cpus(const struct cloud *c, struct host *h)
{
    const struct cpu_unit *of = h->cpu_units.items;
    double cores = h->sockets * h->cores * (CLUSTER(c, h->cluster)->threads_as_cores ? h->threads : 1);
    double load = 0;
    double coming = h->coming.exclusive;

    h->cpus = isnan(h->threads) ? UNKNOWN : cores;
    h->exclusive = h->cpu_units.n > 0 ? 0 : h->taken.exclusive;
    for (uint32_t i = 0; i < h->cpu_units.n; i++) {
        h->per_cpu = h->per_cpu || !isnan(of[i].load);
        h->exclusive += of[i].exclusive;
        load += of[i].exclusive || coming > 0 ? 0 : known(of[i].load);
        coming -= !of[i].exclusive;
    }
    double shared = h->per_cpu ? h->cpu_units.n - h->exclusive - h->coming.exclusive : h->cpus;

    double spm = is(h->spm, "spm") ? c->settings.spm_vcpus * c->settings.vcpu_percent : 0;

    h->plain_cpus = isnan(h->threads) ? UNKNOWN : h->sockets * h->cores;
    h->load = (load > 0 ? load : (h->cpu_user + h->cpu_system) * h->cpus) + spm;
    h->plain_load = (load > 0 ? load : (h->cpu_user + h->cpu_system) * h->plain_cpus) + spm;
    h->eff = shared > 0 ? ceil(h->load / shared) : UNKNOWN;
}

static void take(const struct vm *v, struct taken *ret)
{
    ret->takes += v->takes_mb;
    ret->overhead += v->static_mb;
    ret->load += v->load;
    ret->exclusive += v->dedicated ? v->vcpus : 0;
    ret->vms++;
    ret->ha += v->ha && v->runs;
}

/* The memory of the host's NUMA nodes that the pinned nodes of a pending VM will take. */
static void take_nodes(const struct vm *v, const struct host *h)
{
    const struct numa_node *wanted = v->numa.items;
    struct numa_node *has = ROWS_OF(struct numa_node, h->numa);

    for (uint32_t i = 0; i < v->numa.n; i++)
        for (uint32_t k = 0; k < h->numa.n; k++)
            if (predicates_names(&wanted[i].pins, has[k].index)) {
                has[k].free = (isnan(has[k].free) ? has[k].memory : has[k].free) - wanted[i].memory;
                break;
            }
}

static void add_vm(const struct cloud *c, const struct vm *v)
{
    const uint32_t at[] = {v->host, v->pending_host};

    for (int i = 0; i < 2; i++) {
        if (at[i] == NONE)
            continue;
        struct host *h = HOST(c, at[i]);

        h->in_motion = h->in_motion || i == 1 || is(v->status, "migrating");
        take(v, i == 0 ? &h->taken : &h->coming);
        if (i == 1)
            take_nodes(v, h);
        if (!v->dedicated)
            h->largest_vm = fmax(h->largest_vm, v->sockets * v->cores);
    }
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
    return e;
}
