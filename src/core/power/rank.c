/* Sorts hosts for power-off and wake (§4.4). Hosts whose action needs no approval come first, because a plan
 * with an action that waits for approval proposes no other. Then inefficient and small hosts go to standby
 * first and wake last; of equal hosts, one whose power-off stands
 * and then the one with the cheaper evacuation goes to standby first, and the one
 * longest in standby wakes first. */
#include "core/power/power.h"

#include "base/order.h"
#include "base/rng.h"
#include "core/plan/host_wakes.h"

#define MHZ_LEAST 1.0

struct ranked {
    uint32_t slot;
    unsigned last; /* class: lower ones first */
    bool stands;   /* the last pass recommended it already */
    double watts;  /* per MHz */
    double size;   /* share of the largest host */
    double evacuation_mb;
    int64_t since; /* standby_since or on_since */
    int64_t on_since;
    uint64_t lot;
};

/* At the load that DPM aims at; UNKNOWN. */
static double watts_per_mhz(const struct power *w, uint32_t slot)
{
    const struct host_facts *h = &w->l->snap->hosts[w->l->slot_host[slot]].is;
    double load = w->l->policy->dpm.target / 100;

    return host_facts_watts(h, load) / fmax(load * h->total[RES_CPU], MHZ_LEAST);
}

/* The largest host of the cluster, per resource. */
static void find_largest(const struct snapshot *s, double ret[RES_COUNT])
{
    for (int r = 0; r < RES_COUNT; r++) {
        ret[r] = 0;
        for (uint32_t i = 0; i < s->n_hosts; i++)
            ret[r] = fmax(ret[r], s->hosts[i].capacity[r]);
    }
}

static double size_of(const struct power *w, const double largest[RES_COUNT], uint32_t slot)
{
    const double *capacity = w->l->snap->hosts[w->l->slot_host[slot]].capacity;

    return capacity[RES_CPU] / largest[RES_CPU] + capacity[RES_MEM] / largest[RES_MEM];
}

static double evacuation_of(const struct power *w, uint32_t slot)
{
    double mb = 0;

    for (uint32_t i = 0; i < w->l->list[slot].n; i++)
        mb += w->l->unit_backed[w->l->list[slot].items[i]];
    return mb;
}

/* A host without measured watts counts as the mean of the others. */
static void fill_watts(struct ranked *list, uint32_t n)
{
    double sum = 0;
    uint32_t known = 0;

    for (uint32_t i = 0; i < n; i++) {
        known += isnan(list[i].watts) ? 0 : 1;
        sum += isnan(list[i].watts) ? 0 : list[i].watts;
    }
    for (uint32_t i = 0; i < n; i++)
        if (isnan(list[i].watts))
            list[i].watts = known > 0 ? sum / known : 0;
}

static int to_sleep(const void *a, const void *b)
{
    const struct ranked *x = a;
    const struct ranked *y = b;

    if (x->last != y->last)
        return x->last < y->last ? -1 : 1;
    if (x->watts != y->watts)
        return x->watts > y->watts ? -1 : 1;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    if (x->stands != y->stands)
        return x->stands ? -1 : 1;
    if (x->evacuation_mb != y->evacuation_mb)
        return x->evacuation_mb < y->evacuation_mb ? -1 : 1;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

static int to_wake(const void *a, const void *b)
{
    const struct ranked *x = a;
    const struct ranked *y = b;

    if (x->last != y->last)
        return x->last < y->last ? -1 : 1;
    if (x->watts != y->watts)
        return x->watts < y->watts ? -1 : 1;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    if (x->since != y->since)
        return x->since < y->since ? -1 : 1;
    if (x->on_since != y->on_since)
        return x->on_since < y->on_since ? -1 : 1;
    if (x->lot != y->lot)
        return x->lot < y->lot ? -1 : 1;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

static uint32_t finish(struct ranked *list, uint32_t n, int (*order)(const void *, const void *),
                       uint32_t *ret)
{
    fill_watts(list, n);
    order_sort(list, n, sizeof list[0], order);
    for (uint32_t i = 0; i < n; i++)
        ret[i] = list[i].slot;
    return n;
}

uint32_t rank_to_sleep(const struct power *w, uint32_t *ret)
{
    struct ranked *list = arena_array(w->p->a, struct ranked, w->n_alive);
    double largest[RES_COUNT];

    find_largest(w->l->snap, largest);
    for (uint32_t i = 0; i < w->n_alive; i++)
        list[i] = (struct ranked){.slot = w->alive[i],
                                  .last = host_wake_uncertainty(w->p, w->alive[i]),
                                  .stands = w->p->standing_off[w->alive[i]],
                                  .watts = watts_per_mhz(w, w->alive[i]),
                                  .size = size_of(w, largest, w->alive[i]),
                                  .evacuation_mb = evacuation_of(w, w->alive[i])};
    return finish(list, w->n_alive, to_sleep, ret);
}

/* A tie-breaker that is equal in all passes with the same seed. */
static uint64_t draw(const struct power *w, uint32_t host)
{
    struct rng r = {.state = (uint64_t)w->l->policy->seed};

    r.state = rng_next(&r) + host;
    return rng_next(&r);
}

uint32_t rank_to_wake(const struct power *w, enum reason reason, uint32_t *ret)
{
    const struct layout *l = w->l;
    struct ranked *list = arena_array(w->p->a, struct ranked, l->n_slots);
    double largest[RES_COUNT];
    uint32_t n = 0;

    find_largest(l->snap, largest);
    for (uint32_t i = l->n_on; i < l->n_slots; i++) {
        const struct host_facts *h = &l->snap->hosts[l->slot_host[i]].is;
        if (l->waking[i] || !host_wake_is_allowed(w->p, i, reason) || power_is_disabled(w, i))
            continue;
        list[n++] = (struct ranked){.slot = i,
                                    .last = host_wake_uncertainty(w->p, i),
                                    .watts = watts_per_mhz(w, i),
                                    .size = size_of(w, largest, i),
                                    .since = h->standby_since,
                                    .on_since = h->on_since,
                                    .lot = draw(w, l->slot_host[i])};
    }
    return finish(list, n, to_wake, ret);
}
