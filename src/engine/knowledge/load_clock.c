/* load_clock.c: since when the load of a host is beyond a level. */
#include "engine/knowledge/load_clock.h"

#include <math.h>
#include <stdlib.h>

#define PERCENT 100

struct load_clock {
    struct known_map beyond; /* struct clock by host; never dirty: nothing is stored */
    instant_s last;          /* look */
};

struct clock {
    instant_s since, seen; /* the last look at which it was beyond a level */
};

static const struct pipeline_balance *levels_of(const struct snapshot *s)
{
    for (uint32_t i = 0; i < s->n_pipelines; i++)
        if (s->pipelines[i].balance.high_given || s->pipelines[i].balance.low_given)
            return &s->pipelines[i].balance;
    return NULL;
}

static bool is_beyond(const struct pipeline_balance *b, const struct snapshot *s, const struct host *h)
{
    double mhz = h->own.now[RES_CPU];

    for (uint32_t i = 0; i < h->vms.n; i++)
        mhz += s->vms[h->vms.items[i]].is.demand[RES_CPU];
    double load = ceil(PERCENT * mhz / h->is.total[RES_CPU]);

    return (b->high_given && load >= b->high) || (b->low_given && load <= b->low);
}

/* What a source says itself stands. */
static void observe(void *piece, const struct knowledge_context *c, struct snapshot *s, struct arena *a)
{
    struct load_clock *p = piece;
    const struct pipeline_balance *levels = levels_of(s);

    (void)c;
    (void)a;
    for (uint32_t i = 0; levels && i < s->n_hosts; i++) {
        struct host *h = &s->hosts[i];

        if (h->is.state != HOST_ON || !isnan(h->is.over_s) || !is_beyond(levels, s, h))
            continue;
        struct clock *clock = idmap_make(&p->beyond.of, h->is.id, sizeof *clock);
        if (clock->since == 0 || clock->seen != p->last)
            clock->since = s->time;
        clock->seen = s->time;
        h->is.over_s = (double)(s->time - clock->since);
    }
    p->last = s->time;
}

const struct knowledge_ops load_clock_ops = {
    .size = sizeof(struct load_clock),
    .entry_free = free,
    .observe = observe,
};
