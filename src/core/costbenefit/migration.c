/* Models one live migration: duration and data of a given dirty rate, and the reverse. Knows no layout. */
#include "core/costbenefit/migration.h"

#define DOWNTIME_ALLOWED_S 0.3 /* QEMU's default */
#define ROUNDS_MAX 30

/* An unknown dirty rate counts as a tenth of the copy rate: one short second round. */
#define DIRTY_FALLBACK 0.1

/* Auto-converge reduces the guest's CPU time step by step. Until it succeeds, the memory has been copied
 * about this often, and the guest has run at about half its speed. */
#define THROTTLED_COPIES 5
#define THROTTLED_LOSS 0.5

/* A workload loses about a tenth while its pages are tracked and copied (Voorsluys et al. 2009; also used by
 * CloudSim). */
#define TRACKING_LOSS 0.1

/* The first write to a page after its copy costs a fault of about 4,000 cycles: about 1 MHz s for the 256
 * pages of a MiB. */
#define TRACKING_MHZ_S_PER_MB 1.0

/* A 2 GHz core sends or receives about 2 GiB/s of plain memory; both hosts do it. */
#define COPY_MHZ_PER_MB_S 1.0
#define ENDS 2

/* Slows the guest down until its dirty rate is below the copy rate. */
static void throttle(double mem_mb, double rate_mb_s, struct migration_model *m)
{
    *m = (struct migration_model){.copied_mb = THROTTLED_COPIES * mem_mb,
                                  .again_mb = (THROTTLED_COPIES - 1) * mem_mb,
                                  .downtime_s = DOWNTIME_ALLOWED_S};
    m->duration_s = m->copied_mb / rate_mb_s + m->downtime_s;
}

void migration_model(double mem_mb, double dirty_mb_s, double rate_mb_s, struct migration_model *ret)
{
    double dirty = isnan(dirty_mb_s) ? DIRTY_FALLBACK * rate_mb_s : dirty_mb_s;
    struct migration_model m = {.converges = dirty < rate_mb_s};
    double rest = mem_mb;

    for (int i = 0; i < ROUNDS_MAX && rest > DOWNTIME_ALLOWED_S * rate_mb_s; i++) {
        double round_s = rest / rate_mb_s;
        m.duration_s += round_s;
        m.copied_mb += rest;
        rest = dirty * round_s;
    }
    m.converges = m.converges && rest <= DOWNTIME_ALLOWED_S * rate_mb_s;
    m.copied_mb += rest;
    m.again_mb = m.copied_mb - mem_mb;
    m.downtime_s = rest / rate_mb_s;
    m.duration_s += m.downtime_s;
    if (!m.converges)
        throttle(mem_mb, rate_mb_s, &m);
    *ret = m;
}

void migration_add_disks(double disks_mb, double rate_mb_s, struct migration_model *m)
{
    m->copied_mb += disks_mb;
    m->duration_s += disks_mb / rate_mb_s;
}

void migration_least(double mem_mb, double dirty_mb_s, double fastest_mb_s, double rate_mb_s,
                     struct migration_model *ret)
{
    double again = isnan(dirty_mb_s) ? DIRTY_FALLBACK : fmin(dirty_mb_s / fastest_mb_s, THROTTLED_COPIES - 1);
    bool at_once = mem_mb <= DOWNTIME_ALLOWED_S * fastest_mb_s;
    double copied = at_once ? mem_mb : mem_mb * (1 + again);

    *ret = (struct migration_model){.copied_mb = copied, .duration_s = copied / rate_mb_s, .converges = true};
}

double migration_copy_mhz_s(const struct migration_model *m)
{
    return ENDS * COPY_MHZ_PER_MB_S * m->copied_mb;
}

double migration_loss_mhz_s(const struct migration_model *m, double demand_mhz)
{
    double part = m->converges ? TRACKING_LOSS : THROTTLED_LOSS;
    double loss = demand_mhz * (part * (m->duration_s - m->downtime_s) + m->downtime_s);

    return fmin(loss + TRACKING_MHZ_S_PER_MB * m->again_mb, demand_mhz * m->duration_s);
}

/* ---- the reverse ---- */

#define HALVINGS 60

static double duration_at(double mem_mb, double dirty_mb_s, double rate_mb_s)
{
    struct migration_model m;

    migration_model(mem_mb, dirty_mb_s, rate_mb_s, &m);
    return m.duration_s;
}

/* Bisection between a rate at which the migration takes longer than duration_s and one at which it does not.
 * The duration may jump in between, where throttling begins. */
double migration_rate_of(double mem_mb, double dirty_mb_s, double duration_s)
{
    double low = mem_mb / duration_s;
    double high = low;

    while (duration_at(mem_mb, dirty_mb_s, high) > duration_s)
        high *= 2;
    for (int i = 0; i < HALVINGS; i++) {
        double mid = (low + high) / 2;
        if (duration_at(mem_mb, dirty_mb_s, mid) > duration_s)
            low = mid;
        else
            high = mid;
    }
    return high;
}

/* Bisection: while the migration converges, its duration rises with the dirty rate. */
double migration_dirty_of(double mem_mb, double rate_mb_s, double duration_s)
{
    double low = 0;
    double high = rate_mb_s * (1 - 1.0 / THROTTLED_COPIES);

    if (duration_at(mem_mb, 0, rate_mb_s) >= duration_s)
        return 0;
    if (duration_at(mem_mb, rate_mb_s, rate_mb_s) <= duration_s)
        return rate_mb_s;
    for (int i = 0; i < HALVINGS; i++) {
        double mid = (low + high) / 2;
        if (duration_at(mem_mb, mid, rate_mb_s) < duration_s)
            low = mid;
        else
            high = mid;
    }
    return low;
}
