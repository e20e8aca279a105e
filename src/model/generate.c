/* generate.c: clusters of independent hosts and VMs; the shapes with pools are in generate_pools.c and
 * generate_spike.c. */
#include "model/generate_parts.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TIME_OF_ALL 1767225600 /* 2026-01-01T00:00:00Z */
#define S_PER_DAY 86400
#define MB_PER_GIB 1024.0

#define CORE_MHZ 2400.0
#define VCPUS_MEAN 2.6         /* of vm_sizes below */
#define VCPUS_PER_CORE 2.5     /* typical overcommitment */
#define MEM_MB_PER_VCPU 3072.0 /* mean */
#define MEM_PER_MEM 1.2        /* configured memory of a host's VMs, as a part of the host's memory */
#define CORES_MIN 8
#define MEM_MIN_GIB 32
#define MEM_STEP_GIB 16
#define MEM_RESERVED_MB 2048.0
#define CPU_RESERVED_MHZ 1200.0
#define MEM_FULL 0.95 /* consumed memory is at most this part of a host */
#define IDLE_SHARE 0.25

/* §5.2: 40 VMs of one vCPU and 1 GiB on 8 cores of 2.5 GHz with 32 GB. */
#define SPIKE_CORE_MHZ 2500.0
#define SPIKE_VMS_PER_CORE 5.0
#define SPIKE_MB_PER_VM 819.2

#define SHAPE_NAME(e, word) [e] = (word),
static const char *const shapes[] = {GENERATE_SHAPES(SHAPE_NAME)};

/* The loads of the hosts: spread evenly from low to high, assigned at random. */
struct spread {
    double low, high;
};

static const struct {
    struct spread cpu, consumed;
} loads[] = {
    [SHAPE_UNIFORM] = {.cpu = {0.48, 0.52}, .consumed = {0.58, 0.62}},
    /* an even spread is √12 standard deviations wide */
    [SHAPE_SKEWED] = {.cpu = {0.55 - 0.433, 0.55 + 0.433}, .consumed = {0.25, 0.94}},
    [SHAPE_SPIKE] = {.cpu = {0, 0}, .consumed = {0, 0}},
    [SHAPE_POOLS] = {.cpu = {0.25, 1.15}, .consumed = {0.40, 0.94}},
};

static const struct {
    double share;
    uint32_t vcpus;
} vm_sizes[] = {{0.4, 1}, {0.3, 2}, {0.2, 4}, {0.1, 8}};

const char *generate_shape_name(enum generate_shape shape)
{
    return (unsigned)shape < SHAPE_COUNT ? shapes[shape] : "?";
}

int generate_shape_parse(const char *word, enum generate_shape *ret)
{
    for (int i = 0; i < SHAPE_COUNT; i++) {
        if (strcmp(shapes[i], word) == 0) {
            *ret = (enum generate_shape)i;
            return 0;
        }
    }
    return -EINVAL;
}

const char *generate_id(struct generation *g, const char *prefix, uint32_t number, uint32_t of)
{
    int width = 1;

    for (uint32_t n = of > 0 ? of - 1 : 0; n >= 10; n /= 10)
        width++;
    return arena_printf(g->a, "%s%0*u", prefix, width, number);
}

static void shuffle(struct rng *rng, uint32_t *items, uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = rng_below(rng, i);
        uint32_t t = items[i - 1];
        items[i - 1] = items[j];
        items[j] = t;
    }
}

/* The size of a host relative to the other hosts. */
static double host_factor(const struct generation *g, uint32_t ix)
{
    return g->options->shape == SHAPE_POOLS && ix % 3 == 2 ? 1.5 : 1;
}

static void host_size(const struct generation *g, double factor, struct host_facts *f)
{
    double vms = factor * g->options->vms / g->options->hosts;

    if (g->options->shape == SHAPE_SPIKE) {
        f->cores = (uint32_t)fmax(1, ceil(vms / SPIKE_VMS_PER_CORE));
        f->total[RES_CPU] = f->cores * SPIKE_CORE_MHZ;
        f->total[RES_MEM] = fmax(MB_PER_GIB, ceil(vms * SPIKE_MB_PER_VM));
        return;
    }
    double cores = fmax(CORES_MIN * factor, vms * VCPUS_MEAN / VCPUS_PER_CORE);
    double gib = fmax(MEM_MIN_GIB * factor, vms * VCPUS_MEAN * MEM_MB_PER_VCPU / MEM_PER_MEM / MB_PER_GIB);
    f->cores = (uint32_t)ceil(cores / 4) * 4;
    f->total[RES_CPU] = f->cores * CORE_MHZ;
    f->total[RES_MEM] = ceil(gib / MEM_STEP_GIB) * MEM_STEP_GIB * MB_PER_GIB;
    f->reserved[RES_CPU] = CPU_RESERVED_MHZ;
    f->reserved[RES_MEM] = MEM_RESERVED_MB;
}

static void add_hosts(struct generation *g)
{
    uint32_t n = g->options->hosts;

    g->cpu_capacity = arena_array(g->a, double, n);
    g->mem_capacity = arena_array(g->a, double, n);
    for (uint32_t i = 0; i < n; i++) {
        struct host_facts *f = &inventory_add_host(&g->inv, g->a)->is;
        double factor = host_factor(g, i);
        f->id = generate_id(g, "h", i, n);
        f->name = generate_id(g, "host-", i, n);
        host_size(g, factor, f);
        f->power_idle_w = 140 * factor;
        f->power_peak_w = 320 * factor;
        f->boot_s = 240;
        f->on_since = TIME_OF_ALL - (instant_s)(1 + rng_below(&g->rng, 30)) * S_PER_DAY;
        f->wake_methods = WAKE_IPMI;
        f->wake_verified = true;
        g->cpu_capacity[i] = f->total[RES_CPU] - f->reserved[RES_CPU];
        g->mem_capacity[i] = f->total[RES_MEM] - f->reserved[RES_MEM];
    }
}

/* Each host gets VMs in proportion to its size; the choice of VMs is random. */
static void deal_vms(struct generation *g)
{
    uint32_t n_hosts = g->options->hosts;
    uint32_t n_vms = g->options->vms;
    double all = 0;
    double so_far = 0;

    g->host_of = arena_array(g->a, uint32_t, n_vms);
    g->vms_of = arena_array(g->a, uint32_t, n_vms);
    g->first_of = arena_array(g->a, uint32_t, n_hosts + 1);
    for (uint32_t h = 0; h < n_hosts; h++)
        all += host_factor(g, h);
    for (uint32_t h = 0; h < n_hosts; h++) {
        so_far += host_factor(g, h);
        g->first_of[h + 1] = (uint32_t)floor(so_far / all * n_vms + 0.5);
    }
    g->first_of[n_hosts] = n_vms;
    for (uint32_t i = 0; i < n_vms; i++)
        g->vms_of[i] = i;
    shuffle(&g->rng, g->vms_of, n_vms);
    for (uint32_t h = 0; h < n_hosts; h++) {
        for (uint32_t k = g->first_of[h]; k < g->first_of[h + 1]; k++)
            g->host_of[g->vms_of[k]] = h;
    }
}

static uint32_t draw_vcpus(struct rng *rng)
{
    double u = rng_unit(rng);

    for (size_t i = 0; i < sizeof vm_sizes / sizeof *vm_sizes; i++) {
        if (u < vm_sizes[i].share)
            return vm_sizes[i].vcpus;
        u -= vm_sizes[i].share;
    }
    return 1;
}

static void add_vms(struct generation *g)
{
    uint32_t n = g->options->vms;
    bool spike = g->options->shape == SHAPE_SPIKE;

    for (uint32_t i = 0; i < n; i++) {
        struct seen_vm *v = inventory_add_vm(&g->inv, g->a);
        v->is.vcpus = spike ? 1 : draw_vcpus(&g->rng);
        v->is.mem_mb = spike ? MB_PER_GIB : v->is.vcpus * (rng_below(&g->rng, 2) ? 4 : 2) * MB_PER_GIB;
        vm_facts_default(&v->is);
        v->is.id = generate_id(g, "v", i, n);
        v->is.name = generate_id(g, "vm-", i, n);
        v->host = g->inv.hosts[g->host_of[i]].is.id;
    }
}

static double at_least(double v, double least)
{
    return v < least ? least : v;
}

static double at_most(double v, double most)
{
    return v > most ? most : v;
}

/* An hour in which demand changed from `before` to `now`; a longer window holds more of `before`. */
static void fill_windows(struct generation *g, struct vm_facts *f, enum resource r, double now, double before,
                         double most)
{
    static const double of_before[WINDOW_COUNT] = {[WINDOW_5M] = 0, [WINDOW_40M] = 0.9, [WINDOW_60M] = 0.95};
    double restless = rng_range(&g->rng, 0.04, 0.15);
    double low = now;
    double high = now;

    for (int w = 0; w < WINDOW_COUNT; w++) {
        double drift = w == WINDOW_5M ? 1 : rng_range(&g->rng, 0.92, 1.04);
        double mean = at_most(drift * (now + (before - now) * of_before[w]), most);
        double step = fabs(now - before) * sqrt(of_before[w] * (1 - of_before[w]));
        double stddev = restless * mean + step;
        low = at_least(at_most(low, mean - rng_range(&g->rng, 1.5, 2.5) * restless * mean), 0);
        high = at_most(at_least(high, mean + rng_range(&g->rng, 1.5, 2.5) * restless * mean), most);
        f->window[w][r] = (struct demand_stats){
            .mean = round(mean), .stddev = round(stddev * 10) / 10, .min = floor(low), .max = ceil(high)};
    }
}

void generate_use(struct generation *g, struct vm_facts *f, const struct vm_use *use)
{
    f->overhead_mb = 24 + 8.0 * f->vcpus;
    f->consumed_mb = floor(use->consumed_mb);
    f->demand[RES_CPU] = round(use->cpu_mhz);
    f->demand[RES_MEM] =
        round(use->active_mb + IDLE_SHARE * (f->consumed_mb - use->active_mb) + f->overhead_mb);
    fill_windows(g, f, RES_CPU, f->demand[RES_CPU], use->cpu_before_mhz, ceil(use->cpu_most_mhz));
    fill_windows(g, f, RES_MEM, f->demand[RES_MEM], f->demand[RES_MEM], f->mem_mb + f->overhead_mb);
    f->stable_s = 60.0 * (5 + rng_below(&g->rng, 56));
    f->dirty_mb_s = round(rng_range(&g->rng, 0.5, 2 + 12.0 * f->vcpus) * 10) / 10;
}

/* Scales the values so that they add up to the sum, each at most its cap. Values at their cap leave the rest
 * to the others, so a few rounds suffice. */
static void scale_to(double *values, const double *caps, uint32_t n, double sum)
{
    for (int round = 0; round < 8; round++) {
        double now = 0;
        for (uint32_t i = 0; i < n; i++)
            now += values[i];
        if (now <= 0 || fabs(now - sum) < 1e-6 * sum)
            return;
        for (uint32_t i = 0; i < n; i++)
            values[i] = at_most(values[i] * (sum / now), caps[i]);
    }
}

/* Gives the VMs of a host demands and memory that add up to the host's loads. */
static void load_host(struct generation *g, uint32_t h, double cpu_load, double consumed_load)
{
    const uint32_t *vms = g->vms_of + g->first_of[h];
    uint32_t n = g->first_of[h + 1] - g->first_of[h];
    CLEANUP(arena_releasep) struct arena scratch = {0};
    double *cpu = arena_array(&scratch, double, n);
    double *cpu_cap = arena_array(&scratch, double, n);
    double *mem = arena_array(&scratch, double, n);
    double *mem_cap = arena_array(&scratch, double, n);
    double overheads = 0;

    for (uint32_t i = 0; i < n; i++) {
        const struct vm_facts *f = &g->inv.vms[vms[i]].is;
        cpu_cap[i] = f->vcpus * CORE_MHZ;
        mem_cap[i] = f->mem_mb;
        cpu[i] = cpu_cap[i] * rng_range(&g->rng, 0.03, 0.6) * rng_range(&g->rng, 0.3, 1);
        mem[i] = mem_cap[i] * rng_range(&g->rng, 0.3, 0.9);
        overheads += 24 + 8.0 * f->vcpus;
    }
    scale_to(cpu, cpu_cap, n, cpu_load * g->cpu_capacity[h]);
    scale_to(mem, mem_cap, n, at_most(consumed_load, MEM_FULL) * g->mem_capacity[h] - overheads);
    for (uint32_t i = 0; i < n; i++) {
        const struct vm_use use = {
            .cpu_mhz = cpu[i],
            .cpu_before_mhz = cpu[i],
            .cpu_most_mhz = cpu_cap[i],
            .consumed_mb = mem[i],
            .active_mb = floor(mem[i] * rng_range(&g->rng, 0.3, 0.9)),
        };
        generate_use(g, &g->inv.vms[vms[i]].is, &use);
    }
}

static double nth_of_spread(const struct spread *s, uint32_t nth, uint32_t n)
{
    return s->low + (s->high - s->low) * (nth + 0.5) / n;
}

static void load_hosts(struct generation *g)
{
    uint32_t n = g->options->hosts;
    uint32_t *cpu_rank = arena_array(g->a, uint32_t, n);
    uint32_t *mem_rank = arena_array(g->a, uint32_t, n);

    for (uint32_t h = 0; h < n; h++)
        cpu_rank[h] = mem_rank[h] = h;
    shuffle(&g->rng, cpu_rank, n);
    shuffle(&g->rng, mem_rank, n);
    for (uint32_t h = 0; h < n; h++)
        load_host(g, h, nth_of_spread(&loads[g->options->shape].cpu, cpu_rank[h], n),
                  nth_of_spread(&loads[g->options->shape].consumed, mem_rank[h], n));
}

static void note_free_memory(struct generation *g)
{
    for (uint32_t h = 0; h < g->options->hosts; h++) {
        double used = 0;
        for (uint32_t k = g->first_of[h]; k < g->first_of[h + 1]; k++)
            used += g->inv.vms[g->vms_of[k]].is.consumed_mb + g->inv.vms[g->vms_of[k]].is.overhead_mb;
        g->inv.hosts[h].is.mem_free_mb = at_least(g->mem_capacity[h] - used, 0);
    }
}

int generate(const struct generate_options *options, struct arena *a, struct inventory *ret, struct err *err)
{
    struct generation g = {.options = options, .a = a, .rng = {.state = options->seed}};

    if (options->hosts < 1 || options->hosts > GENERATE_HOSTS_MAX)
        return err_set(err, -EINVAL, "hosts: %u, expected 1 to %u", options->hosts, GENERATE_HOSTS_MAX);
    if (options->vms > GENERATE_VMS_MAX)
        return err_set(err, -EINVAL, "vms: %u, expected at most %u", options->vms, GENERATE_VMS_MAX);
    g.inv.cluster = arena_printf(a, "generated-%s-%ux%u", generate_shape_name(options->shape), options->hosts,
                                 options->vms);
    g.inv.time = TIME_OF_ALL;
    add_hosts(&g);
    deal_vms(&g);
    add_vms(&g);
    if (options->shape == SHAPE_SPIKE)
        generate_spike_vms(&g);
    else
        load_hosts(&g);
    if (options->shape == SHAPE_POOLS) {
        generate_pools(&g);
        generate_pools_rules(&g);
    }
    note_free_memory(&g);
    *ret = g.inv;
    return 0;
}
