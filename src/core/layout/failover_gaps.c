/* Measures and closes gaps: VMs without a failover slot. */
#include "core/layout/failover_internal.h"

/* Of several VMs without a failover slot each is judged by itself; correct_failover_review() finds out. */
static bool has_live(const struct failover_capacity *s, uint32_t vm, uint32_t slot)
{
    uint32_t unit = s->l->vm_unit[vm];

    if (!s->live)
        return true;
    return s->finding || unit == IX_NONE ? failover_live_fits(s, vm, slot)
                                         : failover_live_has_now(s, unit, slot);
}

static bool measure(const struct failover_capacity *s, const struct failover_gap *gap, uint32_t slot,
                    double ret_more[RES_COUNT], double ret_left[RES_COUNT])
{
    if (gap->vm == IX_NONE ||
        !failover_capacity_is_candidate(s, gap->lost, slot, s->l->rules->restart[gap->vm]))
        return false;
    const struct failover_reserved *k =
        gap->lost == IX_NONE ? NULL : failover_capacity_find_reserved(s, gap->lost, slot);
    for (int r = 0; r < RES_COUNT; r++) {
        double used = k ? k->used[r] : 0;
        ret_more[r] =
            gap->lost == IX_NONE ? gap->need[r] : failover_capacity_raise_of(s, r, slot, used, gap->need[r]);
        ret_left[r] =
            failover_capacity_of_slot(s, (enum resource)r, slot) - s->taken[r][slot] - s->reserved[r][slot];
    }
    return true;
}

bool failover_gap_measure(const struct failover_capacity *s, const struct failover_gap *gap, uint32_t slot,
                          double ret_more[RES_COUNT], double ret_left[RES_COUNT])
{
    return measure(s, gap, slot, ret_more, ret_left) && has_live(s, gap->vm, slot);
}

bool failover_gap_is_live(const struct failover_capacity *s, const struct failover_gap *gap)
{
    double more[RES_COUNT];
    double left[RES_COUNT];

    for (uint32_t t = 0; s->live && t < s->l->n_slots; t++)
        if (measure(s, gap, t, more, left) && failover_gap_fits(more, left))
            return true;
    return false;
}

bool failover_gap_fits(const double more[RES_COUNT], const double left[RES_COUNT])
{
    for (int r = 0; r < RES_COUNT; r++)
        if (more[r] > 0 && more[r] > left[r] + ROUNDING)
            return false;
    return true;
}

double failover_gaps_lack(const struct failover_capacity *s)
{
    double lack = 0;

    for (uint32_t i = 0; i < s->n_gaps; i++) {
        const struct failover_gap *gap = &s->gaps[i];
        if (gap->closed || gap->hopeless)
            continue;
        lack += gap->vm == IX_NONE;
        for (int r = 0; r < RES_COUNT; r++)
            lack += gap->need[r] * s->inverse_least[r];
    }
    return lack;
}

void failover_gap_dismiss(struct failover_capacity *s, struct failover_gap *gap)
{
    gap->closed = true;
    s->n_open--;
}

/* The slot of the spare VM's host in the snapshot; IX_NONE: none, or the gap is no spare VM's. */
static uint32_t home_of(const struct failover_capacity *s, const struct failover_gap *gap)
{
    uint32_t host = s->l->snap->vms[gap->vm].host;

    return gap->lost == IX_NONE && host != IX_NONE ? s->l->host_slot[host] : IX_NONE;
}

bool failover_gap_fits_at_home(const struct failover_capacity *s, const struct failover_gap *gap)
{
    uint32_t home = home_of(s, gap);
    double more[RES_COUNT];
    double left[RES_COUNT];

    return home != IX_NONE && failover_gap_measure(s, gap, home, more, left) && failover_gap_fits(more, left);
}

/* A spare VM prefers its host in the snapshot, then the host with most free capacity. */
bool failover_gap_close(struct failover_capacity *s, struct failover_gap *gap)
{
    const struct layout *l = s->l;
    uint32_t home = home_of(s, gap);
    uint32_t best = IX_NONE;
    double best_left = 0;

    for (uint32_t t = 0; t < l->n_slots; t++) {
        double more[RES_COUNT];
        double left[RES_COUNT];
        if (!failover_gap_measure(s, gap, t, more, left) || !failover_gap_fits(more, left))
            continue;
        double least = fmin((left[RES_CPU] - more[RES_CPU]) * l->inverse[RES_CPU][t],
                            (left[RES_MEM] - more[RES_MEM]) * l->inverse[RES_MEM][t]);
        if (t == home)
            least = NO_LIMIT;
        if (best == IX_NONE || least > best_left) {
            best = t;
            best_left = least;
        }
    }
    if (best == IX_NONE)
        return false;
    if (gap->lost != IX_NONE)
        failover_slot_reserve(s, gap->vm, gap->lost, best);
    for (int r = 0; r < RES_COUNT; r++) {
        s->use[r][best] = 0;
        if (gap->lost == IX_NONE)
            s->for_spare_vms[r][best] += gap->need[r];
    }
    if (gap->lost == IX_NONE && s->finding)
        failover_live_take(s, gap->vm, best, true);
    failover_capacity_refresh(s, best);
    failover_gap_dismiss(s, gap);
    return true;
}

/* by_admission: of memory, not the reservations but what policy.mem_admission asks for. */
static double excess_of(const struct failover_capacity *s, enum resource r, bool by_admission, double percent,
                        const uint32_t more[2])
{
    const struct layout *l = s->l;
    bool mem = by_admission && r == RES_MEM;
    const double *taken = mem ? l->mem_taken : l->reserved[r];
    const double *leaving = mem ? l->mem_leaving : l->leaving[r];
    const double *unit = mem ? l->unit_mem : l->unit_reserved[r];
    double units = (more[0] == IX_NONE ? 0 : unit[more[0]]) + (more[1] == IX_NONE ? 0 : unit[more[1]]);
    double sum = units;
    double capacity = 0;

    if (!(percent > 0) || (more[0] != IX_NONE && !(units > 0)))
        return -NO_LIMIT;
    for (uint32_t i = 0; i < l->n_slots; i++) {
        if (layout_counts(l, i))
            capacity += mem ? l->mem_limit[i] : failover_capacity_of_slot(s, r, i);
        sum += taken[i] - leaving[i]; /* a VM in flight counts once */
    }
    return sum - capacity * (1 - percent / 100);
}

double failover_gap_excess(const struct failover_capacity *s, enum resource r, uint32_t unit, uint32_t other,
                           double *ret_percent)
{
    const struct ha_facts *ha = &s->l->snap->ha;
    const struct ha_configured *own = &s->l->snap->ha_configured;
    const uint32_t more[2] = {unit, other};
    double percent[2] = {ha->policy == HA_PERCENT ? ha->percent[r] : 0,
                         own->policy == HA_PERCENT ? own->percent[r] : 0};
    double excess[2] = {excess_of(s, r, false, percent[0], more), excess_of(s, r, true, percent[1], more)};
    int worse = excess[1] > excess[0];

    if (ret_percent)
        *ret_percent = percent[worse];
    return excess[worse];
}
