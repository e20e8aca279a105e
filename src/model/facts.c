/* facts.c: the defaults of facts that a source does not report: never optimistic. */
#include <ballast/facts.h>

#include "model/inventory_check.h"

#include <math.h>
#include <string.h>

/* vSphere's normal shares: a cluster whose source reports no shares divides capacity as vSphere does. */
#define VM_CPU_SHARES_PER_VCPU 1000.0
#define VM_MEM_SHARES_PER_MB 10.0
#define POOL_CPU_SHARES 4000.0
#define POOL_MEM_SHARES 163840.0

void host_facts_default(struct host_facts *f)
{
    *f = (struct host_facts){
        .state = HOST_ON,
        .mem_free_mb = UNKNOWN,
        .power_idle_w = UNKNOWN,
        .power_peak_w = UNKNOWN,
        .power_standby_w = UNKNOWN,
        .power_w = UNKNOWN,
        .boot_s = UNKNOWN,
        .wake_tries_s = UNKNOWN,
        .dpm = AUTOMATION_INHERIT,
        .migration_rate_mb_s = UNKNOWN,
        .over_s = UNKNOWN,
    };
}

double power_curve_watts(const struct power_curve *c, double load)
{
    if (c->n == 0)
        return UNKNOWN;
    double at = fmin(fmax(load, 0), 1) * (c->n - 1);
    uint32_t i = (uint32_t)at;

    if (i + 1 >= c->n)
        return c->watts[c->n - 1];
    return c->watts[i] + (at - i) * (c->watts[i + 1] - c->watts[i]);
}

double host_facts_watts(const struct host_facts *f, double load)
{
    const double line[] = {f->power_idle_w, f->power_peak_w};

    return power_curve_watts(f->power_curve_w.n > 0 ? &f->power_curve_w : &(struct power_curve){line, 2},
                             load);
}

void host_facts_set_curve(struct host_facts *f, const struct power_curve *c)
{
    f->power_curve_w = *c;
    f->power_idle_w = c->watts[0];
    f->power_peak_w = c->watts[c->n - 1];
}

void vm_facts_default(struct vm_facts *f)
{
    uint32_t vcpus = f->vcpus;
    double mem_mb = f->mem_mb;

    *f = (struct vm_facts){
        .state = VM_ON,
        .kind = VM_NORMAL,
        .automation = AUTOMATION_INHERIT,
        .vcpus = vcpus,
        .mem_mb = mem_mb,
        .alloc = {[RES_CPU] = {.limit = NO_LIMIT, .shares = VM_CPU_SHARES_PER_VCPU * vcpus},
                  [RES_MEM] = {.limit = NO_LIMIT,
                               .shares = fmin(VM_MEM_SHARES_PER_MB * mem_mb, SIZE_ABSURD)}},
        .consumed_mb = mem_mb,
        .deviation = {UNKNOWN, UNKNOWN},
        .rise = {UNKNOWN, UNKNOWN},
        .stable_s = UNKNOWN,
        .dirty_mb_s = UNKNOWN,
        .sample_age_s = UNKNOWN,
    };
}

void vm_facts_windows(struct vm_facts *f)
{
    for (int w = 0; w < WINDOW_COUNT; w++) {
        for (int r = 0; r < RES_COUNT; r++) {
            double now = f->demand[r];
            f->window[w][r] = (struct demand_stats){.mean = now, .min = now, .max = now};
        }
    }
}

double vm_facts_squeezed_mb(const struct vm_facts *v)
{
    double taken = fmin(v->ballooned_mb + v->swapped_mb, v->mem_mb);
    double left = v->mem_mb - taken;
    bool wants_all = v->swap_in_mb_s > 0 || v->demand[RES_MEM] >= left;
    double more = wants_all ? taken : taken * v->demand[RES_MEM] / left;

    return fmin(more, fmax(v->mem_mb + v->overhead_mb - v->demand[RES_MEM], 0));
}

void pool_facts_default(struct pool_facts *f)
{
    *f = (struct pool_facts){
        .alloc = {[RES_CPU] = {.limit = NO_LIMIT, .shares = POOL_CPU_SHARES, .expandable = true},
                  [RES_MEM] = {.limit = NO_LIMIT, .shares = POOL_MEM_SHARES, .expandable = true}},
    };
}

void rule_facts_default(struct rule_facts *f, enum rule_kind kind)
{
    *f = (struct rule_facts){
        .kind = kind,
        .enabled = true,
        .mandatory = kind == RULE_VM_AFFINE || kind == RULE_VM_ANTI_AFFINE,
    };
}
