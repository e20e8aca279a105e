/* Compares the pools' parts with the hosts' present settings and lists the differences worth setting. */
#include "core/divvy/host_settings.h"

#include "core/divvy/pool_parts.h"

#define PART_OFF 0.05 /* relative to the target */
#define SUM_OFF 0.01
#define SUM_LEAST 2.0 /* units: possible by rounding alone */

static const double part_least[RES_COUNT] = {[RES_CPU] = 25, [RES_MEM] = 32};

/* A pool on a host, present and target. */
struct pair {
    uint32_t host, pool;
    const struct host_setting *was;  /* NULL: never set */
    const struct host_setting *will; /* NULL: no VM of the pool is left on the host */
    bool differs;
};

struct comparison {
    const struct snapshot *snap;
    struct pair *pairs; /* by host, then pool; of connected hosts */
    uint32_t n;
    bool *rewritten; /* by host: its differences are listed */
};

/* ---- pairs ---- */

static int order(const struct host_setting *x, const struct host_setting *y)
{
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    return (x->pool > y->pool) - (x->pool < y->pool);
}

static bool same(const struct host_setting *x, const struct host_setting *y)
{
    for (int r = 0; r < RES_COUNT; r++)
        if (x->alloc[r].reservation != y->alloc[r].reservation || x->alloc[r].limit != y->alloc[r].limit ||
            x->alloc[r].shares != y->alloc[r].shares)
            return false;
    return true;
}

static bool pair_differs(const struct pair *p)
{
    if (!p->was)
        return true;
    return p->will ? !same(p->was, p->will) : !host_setting_is_nothing(p->was);
}

/* Both lists have the same order. */
static void match(struct comparison *c, const struct host_setting *will, uint32_t n_will, struct arena *a)
{
    const struct host_setting *was = c->snap->settings;
    uint32_t n_was = c->snap->n_settings;
    uint32_t i = 0;
    uint32_t k = 0;

    c->pairs = arena_array(a, struct pair, (size_t)n_was + n_will);
    while (i < n_was || k < n_will) {
        int first = i == n_was ? 1 : k == n_will ? -1 : order(&was[i], &will[k]);
        struct pair p = {.was = first <= 0 ? &was[i] : NULL, .will = first >= 0 ? &will[k] : NULL};
        p.host = p.was ? p.was->host : p.will->host;
        p.pool = p.was ? p.was->pool : p.will->pool;
        p.differs = pair_differs(&p);
        i += first <= 0;
        k += first >= 0;
        if (host_is_up(&c->snap->hosts[p.host]))
            c->pairs[c->n++] = p;
    }
}

/* ---- differences ---- */

static bool off(double is, double should_be, double part, double least)
{
    return fabs(is - should_be) > fmax(part * should_be, least);
}

static bool part_is_off(const struct pair *p)
{
    if (!p->differs || !p->was || !p->will)
        return p->differs;
    for (int r = 0; r < RES_COUNT; r++) {
        const struct alloc *was = &p->was->alloc[r];
        const struct alloc *will = &p->will->alloc[r];
        bool limited = will->limit < NO_LIMIT;
        if (off(was->reservation, will->reservation, PART_OFF, part_least[r]) ||
            off(was->shares, will->shares, PART_OFF, 0) || limited != (was->limit < NO_LIMIT) ||
            (limited && off(was->limit, will->limit, PART_OFF, part_least[r])))
            return true;
    }
    return false;
}

/* Sums of a pool's parts over all hosts. */
struct sum {
    double reservation, limit;
};

static void add(struct sum *to, const struct host_setting *h, enum resource r)
{
    if (!h)
        return;
    to->reservation += h->alloc[r].reservation;
    to->limit += h->alloc[r].limit; /* both sides have a limit here, or neither has */
}

static bool pool_is_off(const struct snapshot *s, uint32_t pool, const struct sum *is, const struct sum *will)
{
    double wavers = s->pools[pool].parent == IX_NONE ? SUM_OFF : PART_OFF;

    if (off(is->reservation, will->reservation, wavers, SUM_LEAST))
        return true;
    return will->limit < NO_LIMIT && off(is->limit, will->limit, SUM_OFF, SUM_LEAST);
}

/* Lists the hosts on which a part of a pool that is off differs; returns whether there were any. */
static bool mend_sums(struct comparison *c, enum resource r, struct sum *is, struct sum *will)
{
    bool more = false;

    for (uint32_t p = 0; p < c->snap->n_pools; p++)
        is[p] = will[p] = (struct sum){0};
    for (uint32_t i = 0; i < c->n; i++) {
        const struct pair *p = &c->pairs[i];
        add(&is[p->pool], c->rewritten[p->host] ? p->will : p->was, r);
        add(&will[p->pool], p->will, r);
    }
    for (uint32_t i = 0; i < c->n; i++) {
        const struct pair *p = &c->pairs[i];
        if (c->rewritten[p->host] || !p->differs ||
            !pool_is_off(c->snap, p->pool, &is[p->pool], &will[p->pool]))
            continue;
        c->rewritten[p->host] = true;
        more = true;
    }
    return more;
}

static void choose_hosts(struct comparison *c, struct arena *a)
{
    struct sum *is = arena_array(a, struct sum, c->snap->n_pools);
    struct sum *will = arena_array(a, struct sum, c->snap->n_pools);
    bool more = true;

    c->rewritten = arena_array(a, bool, c->snap->n_hosts);
    for (uint32_t i = 0; i < c->n; i++)
        if (part_is_off(&c->pairs[i]))
            c->rewritten[c->pairs[i].host] = true;
    while (more) { /* a host that is listed changes the sums of its other pools */
        more = false;
        for (int r = 0; r < RES_COUNT; r++)
            more = mend_sums(c, (enum resource)r, is, will) || more;
    }
}

void host_settings(const struct snapshot *snap, double *const demand[RES_COUNT], struct arena *a,
                   struct host_setting **ret, uint32_t *ret_n)
{
    struct comparison c = {.snap = snap};
    struct host_setting *parts;
    uint32_t n_parts;
    uint32_t n = 0;

    pool_parts(snap, demand, a, &parts, &n_parts);
    match(&c, parts, n_parts, a);
    choose_hosts(&c, a);
    struct host_setting *list = arena_array(a, struct host_setting, c.n);
    for (uint32_t i = 0; i < c.n; i++) {
        const struct pair *p = &c.pairs[i];
        if (!p->differs || !c.rewritten[p->host])
            continue;
        list[n] = (struct host_setting){.host = p->host, .pool = p->pool};
        for (int r = 0; r < RES_COUNT; r++)
            list[n].alloc[r] = p->will ? p->will->alloc[r] : (struct alloc){.limit = NO_LIMIT};
        n++;
    }
    *ret = list;
    *ret_n = n;
}
