/* Finds impossible samples, and replaces them in a copy of the snapshot; so the figures of squeezed guests.
 */
#include "core/demand/sample_guard.h"

#include "core/demand/demand.h"

/* Tolerance: figures are whole MHz and MiB, and the measured interval is not exact. */
#define HAIR 0.01

/* A sample older than this many passes is stale: three decisions have used it. It is never stale within the
 * shortest window, because a source may measure less often than the service asks. */
#define STALE_INTERVALS 3
#define STALE_LEAST_S 300

/* One in this many VMs may have bad samples. */
#define BAD_ONE_IN 10

/* Migrations are sorted by VM; a VM has at most one. */
static const struct migration *migration_of(const struct snapshot *s, uint32_t vm)
{
    uint32_t low = 0;
    uint32_t high = s->n_migrations;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (s->migrations[mid].vm == vm)
            return &s->migrations[mid];
        if (s->migrations[mid].vm < vm)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

double sample_guard_most(const struct snapshot *snap, uint32_t vm, enum resource r)
{
    const struct vm *v = &snap->vms[vm];

    if (r == RES_MEM)
        return v->is.mem_mb + v->is.overhead_mb;
    double core = host_core_mhz(&snap->hosts[v->host]);
    const struct migration *m = migration_of(snap, vm);
    if (m)
        core = fmax(host_core_mhz(&snap->hosts[m->from]), host_core_mhz(&snap->hosts[m->to]));
    return v->is.vcpus * core;
}

static bool is_stale(const struct vm_facts *v, const struct policy *policy)
{
    double most = fmax(STALE_INTERVALS * (double)policy->interval_s, STALE_LEAST_S);

    return !isnan(v->sample_age_s) && v->sample_age_s > most;
}

/* A figure above its possible maximum. */
static struct finding find_excess(enum finding_code code, enum resource r, uint32_t vm, double is,
                                  double most)
{
    return (struct finding){.code = code,
                            .resource = r,
                            .subjects = {{SUBJECT_VM, vm}},
                            .figures = {{FIGURE_NEED, is}, {FIGURE_LIMIT, most}}};
}

bool sample_guard_find(const struct snapshot *snap, const struct policy *policy, uint32_t vm,
                       struct finding *ret)
{
    const struct vm *v = &snap->vms[vm];
    double cpu = sample_guard_most(snap, vm, RES_CPU);
    double mem = sample_guard_most(snap, vm, RES_MEM);

    if (v->is.sample_bad) {
        *ret = (struct finding){.code = FIND_SAMPLE_MARKED, .subjects = {{SUBJECT_VM, vm}}};
    } else if (v->is.demand[RES_CPU] > cpu * (1 + HAIR)) {
        *ret = find_excess(FIND_SAMPLE_CPU, RES_CPU, vm, v->is.demand[RES_CPU], cpu);
        finding_subject(ret, SUBJECT_HOST, v->host);
    } else if (v->is.demand[RES_MEM] > mem * (1 + HAIR)) {
        *ret = find_excess(FIND_SAMPLE_MEM, RES_MEM, vm, v->is.demand[RES_MEM], mem);
    } else if (v->is.consumed_mb > mem * (1 + HAIR)) {
        *ret = find_excess(FIND_SAMPLE_CONSUMED, RES_MEM, vm, v->is.consumed_mb, mem);
    } else if (is_stale(&v->is, policy)) {
        *ret = (struct finding){.code = FIND_SAMPLE_OLD,
                                .subjects = {{SUBJECT_VM, vm}},
                                .figures = {{FIGURE_IS_S, v->is.sample_age_s}}};
    } else {
        return false;
    }
    return true;
}

const struct finding *sample_guard_found(const struct guard *g, uint32_t vm)
{
    return g->found ? g->found[vm] : NULL;
}

static void mend(const struct snapshot *snap, uint32_t vm, struct vm_facts *f)
{
    for (int r = 0; r < RES_COUNT; r++) {
        double most = sample_guard_most(snap, vm, (enum resource)r);
        f->demand[r] = fmin(f->demand[r], most);
        for (int w = 0; w < WINDOW_COUNT; w++) {
            struct demand_stats *d = &f->window[w][r];
            d->min = fmin(d->min, most);
            d->max = fmin(d->max, most);
            d->mean = fmin(d->mean, most);
            d->stddev = fmin(d->stddev, most / 2); /* the largest deviation of a value in 0 ... most */
        }
    }
    f->consumed_mb = fmin(f->consumed_mb, sample_guard_most(snap, vm, RES_MEM));
}

/* Copies the VMs before the first change; most passes change none. */
static struct vm *copy_vms(const struct snapshot *snap, struct arena *a, struct guard *g)
{
    struct snapshot *mended = arena_new(a, struct snapshot);
    struct vm *vms = arena_copy(a, snap->vms, snap->n_vms, sizeof *vms);

    *mended = *snap;
    mended->vms = vms;
    g->snap = mended;
    g->found = arena_array(a, const struct finding *, snap->n_vms);
    return vms;
}

void sample_guard_judge(const struct snapshot *snap, const struct policy *policy, struct arena *a,
                        struct guard *ret)
{
    struct guard g = {.snap = snap};
    struct vm *vms = NULL;

    for (uint32_t i = 0; i < snap->n_vms; i++) {
        if (!vm_takes_part(snap, &snap->vms[i]))
            continue;
        struct finding found;
        bool bad = sample_guard_find(snap, policy, i, &found);
        g.n++;
        g.n_bad += bad || snap->vms[i].is.demand_unknown;
        if (!bad && vm_facts_squeezed_mb(&snap->vms[i].is) <= 0)
            continue;
        if (!vms)
            vms = copy_vms(snap, a, &g);
        demand_release(&vms[i].is);
        if (!bad)
            continue;
        vms[i].is.sample_bad = fault_code_name(FAULT_SAMPLE_BAD); /* the reason is in `found` */
        g.found[i] = finding_keep(a, found);
        mend(snap, i, &vms[i].is);
    }
    *ret = g;
}

bool sample_guard_distrusts(const struct guard *g)
{
    return (uint64_t)g->n_bad * BAD_ONE_IN > g->n;
}
