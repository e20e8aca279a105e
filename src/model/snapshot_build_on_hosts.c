/* The VMs that run on each host, and what the host uses itself. */
#include "model/snapshot_build.h"

#include <math.h>

/* From these on a host is short of memory, whatever its VMs' figures say. */
#define SWAPS_MB_S 0.1
#define STALLS 0.1

/* The VMs in state on, by host. A counting sort keeps the VMs of each host in ascending order. */
static void collect_vms_of_hosts(struct snapshot *s, struct arena *a)
{
    uint32_t *items = arena_array(a, uint32_t, s->n_vms);
    uint32_t *next = arena_array(a, uint32_t, s->n_hosts);
    uint32_t start = 0;

    for (uint32_t i = 0; i < s->n_vms; i++) {
        if (s->vms[i].is.state == VM_ON)
            s->hosts[s->vms[i].host].vms.n++;
    }
    for (uint32_t h = 0; h < s->n_hosts; h++) {
        s->hosts[h].vms.items = items + start;
        next[h] = start;
        start += s->hosts[h].vms.n;
    }
    for (uint32_t i = 0; i < s->n_vms; i++) {
        if (s->vms[i].is.state == VM_ON)
            items[next[s->vms[i].host]++] = i;
    }
}

/* Of memory only: what of the host's used memory its VMs do not explain. While a migration runs, or where a
 * sample is bad, the two were not measured together. */
static double unexplained_mb(const struct snapshot *s, uint32_t host)
{
    const struct host *h = &s->hosts[host];
    double used = h->is.total[RES_MEM] - h->is.mem_free_mb;

    for (uint32_t i = 0; i < s->n_migrations; i++)
        if (s->migrations[i].from == host || s->migrations[i].to == host)
            return 0;
    for (uint32_t i = 0; i < h->vms.n; i++) {
        const struct vm_facts *v = &s->vms[h->vms.items[i]].is;
        if (v->sample_bad || v->demand_unknown)
            return 0;
        used -= v->consumed_mb + v->overhead_mb;
    }
    return used > 0 ? used : 0; /* also where mem_free_mb is UNKNOWN */
}

/* The part of the own use beyond what is reserved, and within the capacity. */
static double beyond(const struct host *h, int r, double own)
{
    return fmin(fmax(own - h->is.reserved[r], 0), h->capacity[r]);
}

/* Of its memory, what its VMs do not want where it is short of memory all the same: it has none to give. */
static double withheld_mb(const struct snapshot *s, const struct host *h)
{
    double left = h->capacity[RES_MEM];

    if (!(h->is.swap_in_mb_s >= SWAPS_MB_S) && !(h->is.mem_pressure >= STALLS))
        return 0;
    for (uint32_t i = 0; i < h->vms.n; i++) {
        const struct vm_facts *v = &s->vms[h->vms.items[i]].is;
        left -= v->demand[RES_MEM] + vm_facts_squeezed_mb(v);
    }
    return left > 0 ? left : 0;
}

static void set_own_use(struct snapshot *s)
{
    for (uint32_t i = 0; i < s->n_hosts; i++) {
        struct host *h = &s->hosts[i];
        struct own_use own = h->is.own;
        if (h->is.state != HOST_ON && h->is.state != HOST_ENTERING_MAINTENANCE &&
            h->is.state != HOST_ENTERING_STANDBY)
            continue;
        if (!own.given)
            own.now[RES_MEM] = unexplained_mb(s, i);
        for (int r = 0; r < RES_COUNT; r++) {
            h->own.now[r] = beyond(h, r, own.now[r]);
            for (int w = 0; w < WINDOW_COUNT; w++) {
                struct demand_stats *to = &h->own.window[w][r];
                bool known = own.window[w][r].max >= own.now[r];
                *to = known ? own.window[w][r] : (struct demand_stats){own.now[r], 0, own.now[r], own.now[r]};
                to->mean = beyond(h, r, to->mean);
                to->min = beyond(h, r, to->min);
                to->max = beyond(h, r, to->max);
            }
        }
        h->own.now[RES_MEM] = fmax(h->own.now[RES_MEM], withheld_mb(s, h));
    }
}

void snapshot_build_on_hosts(struct snapshot *s, struct arena *a)
{
    collect_vms_of_hosts(s, a);
    set_own_use(s);
}
