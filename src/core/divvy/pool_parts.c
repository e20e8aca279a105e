/* Divides each pool into parts, one per host that runs its VMs, from the results of two divvied trees. A seat
 * is a VM on a host; a VM in flight has two. */
#include "core/divvy/pool_parts.h"

#include "core/divvy/divvy.h"

#include <string.h>

/* Two sums of whole numbers may differ by this much. */
#define ROUNDING 1e-6

/* The part of a limit that a host keeps, relative to its shares, when other hosts want all of it: an idle VM
 * that becomes busy must be able to run until the next pass. */
#define LIMIT_LEAST 0.1

struct part {
    uint32_t host, pool;
    uint32_t up; /* the parent pool's part on the host; IX_NONE: below the root */
};

struct division {
    const struct snapshot *snap;
    struct arena *a;

    uint32_t *seat_vm;   /* by host; a VM in flight has two seats */
    uint32_t *seat_from; /* [n_hosts + 1] */
    uint32_t *seat_part; /* the part of the VM's pool; IX_NONE: below the root */

    struct part *parts;    /* by pool, descendants first; then by host */
    uint32_t n;            /* number of parts */
    uint32_t *part_from;   /* [n_pools + 1], by rank */
    uint32_t *pool_ranked; /* by rank: a pool follows its descendants */
    uint32_t *parts_there; /* by host: number of parts */

    /* of the present resource */
    enum resource r;
    struct divvy_tree tree;
    uint32_t *vm_node, *pool_node;
    double *total;         /* by node: weight of the children that have VMs; 0: they count alike */
    double *seat_reserved; /* the VM's divvied reservation */
    double *own, *want, *entitled, *held; /* by part: divvied to VMs directly in the pool; demand;
                                             entitlement; share of the pool's weight */
    double *vm_entitled;                  /* by VM, where some pool has a limit */
    struct alloc *alloc;                  /* by part: result */
};

/* ---- seats ---- */

/* The second host of each VM in flight: its destination, or the source that it has not left. */
static uint32_t *second_hosts(const struct division *d)
{
    const struct snapshot *s = d->snap;
    uint32_t *second = arena_array(d->a, uint32_t, s->n_vms);

    for (uint32_t i = 0; i < s->n_vms; i++)
        second[i] = IX_NONE;
    for (uint32_t i = 0; i < s->n_migrations; i++) {
        const struct migration *m = &s->migrations[i];
        uint32_t other = s->vms[m->vm].host == m->from ? m->to : m->from;
        if (vm_takes_part(s, &s->vms[m->vm]) && host_is_up(&s->hosts[other]))
            second[m->vm] = other;
    }
    for (uint32_t i = 0; i < s->n_pending; i++) {
        const struct pending *p = &s->pending[i];
        if (p->action == ACTION_MIGRATE && second[p->vm] == IX_NONE && p->to != s->vms[p->vm].host &&
            vm_takes_part(s, &s->vms[p->vm]) && host_is_up(&s->hosts[p->to]))
            second[p->vm] = p->to;
    }
    return second;
}

static void take_seats(struct division *d)
{
    const struct snapshot *s = d->snap;
    const uint32_t *second = second_hosts(d);
    uint32_t *next = arena_array(d->a, uint32_t, s->n_hosts);

    d->seat_from = arena_array(d->a, uint32_t, s->n_hosts + 1);
    for (uint32_t i = 0; i < s->n_vms; i++) {
        if (vm_takes_part(s, &s->vms[i]))
            d->seat_from[s->vms[i].host + 1]++;
        if (second[i] != IX_NONE)
            d->seat_from[second[i] + 1]++;
    }
    for (uint32_t h = 0; h < s->n_hosts; h++) {
        d->seat_from[h + 1] += d->seat_from[h];
        next[h] = d->seat_from[h];
    }
    d->seat_vm = arena_array(d->a, uint32_t, d->seat_from[s->n_hosts]);
    d->seat_part = arena_array(d->a, uint32_t, d->seat_from[s->n_hosts]);
    for (uint32_t i = 0; i < s->n_vms; i++) {
        if (vm_takes_part(s, &s->vms[i]))
            d->seat_vm[next[s->vms[i].host]++] = i;
        if (second[i] != IX_NONE)
            d->seat_vm[next[second[i]]++] = i;
    }
}

/* ---- parts ---- */

/* Parts are found host by host; a pool's stamp is the last host on which it was found, and its part there. */
struct finding {
    struct part *parts;
    size_t n, cap;
    uint32_t *host, *part; /* by pool */
};

/* Adds the missing parts of the VM's pool and its ancestors. */
static uint32_t find_chain(const struct division *d, struct finding *f, uint32_t host, uint32_t pool)
{
    uint32_t first = IX_NONE;
    uint32_t below = IX_NONE;

    for (uint32_t p = pool; p != IX_NONE; p = d->snap->pools[p].parent) {
        bool known = f->host[p] == host;
        if (!known) {
            f->parts = arena_grow(d->a, f->parts, f->n, &f->cap, sizeof f->parts[0]);
            f->parts[f->n] = (struct part){.host = host, .pool = p, .up = IX_NONE};
            f->host[p] = host;
            f->part[p] = (uint32_t)f->n++;
        }
        if (below == IX_NONE)
            first = f->part[p];
        else
            f->parts[below].up = f->part[p];
        if (known)
            break;
        below = f->part[p];
    }
    return first;
}

/* Ranks: each pool after its descendants, so that the parts of a subtree are adjacent. */
static uint32_t *rank_pools(struct division *d, const struct divvy_tree *t)
{
    uint32_t *rank = arena_array(d->a, uint32_t, d->snap->n_pools);
    uint32_t *size = arena_array(d->a, uint32_t, t->n);  /* pools in the subtree */
    uint32_t *begin = arena_array(d->a, uint32_t, t->n); /* the first rank of the subtree */

    for (uint32_t i = t->n; i-- > 1;) {
        if (t->nodes[i].kind == DIVVY_VM)
            continue;
        size[i]++;
        size[t->nodes[i].parent] += size[i];
    }
    for (uint32_t i = 0; i < t->n; i++) {
        const struct divvy_node *node = &t->nodes[i];
        uint32_t next = begin[i];
        for (uint32_t c = node->first_child; c < node->first_child + node->n_children; c++) {
            begin[c] = next;
            next += size[c];
        }
        if (node->kind == DIVVY_VM || i == 0)
            continue;
        rank[node->ix] = next;
        d->pool_ranked[next] = node->ix;
    }
    return rank;
}

static void find_parts(struct division *d, const struct divvy_tree *t)
{
    const struct snapshot *s = d->snap;
    struct finding f = {.host = arena_array(d->a, uint32_t, s->n_pools),
                        .part = arena_array(d->a, uint32_t, s->n_pools)};

    d->parts_there = arena_array(d->a, uint32_t, s->n_hosts);
    d->pool_ranked = arena_array(d->a, uint32_t, s->n_pools);
    d->part_from = arena_array(d->a, uint32_t, s->n_pools + 1);
    for (uint32_t p = 0; p < s->n_pools; p++)
        f.host[p] = IX_NONE;
    for (uint32_t h = 0; h < s->n_hosts; h++) {
        size_t before = f.n;
        for (uint32_t i = d->seat_from[h]; i < d->seat_from[h + 1]; i++)
            d->seat_part[i] = find_chain(d, &f, h, s->vms[d->seat_vm[i]].pool);
        d->parts_there[h] = (uint32_t)(f.n - before);
    }
    const uint32_t *rank = rank_pools(d, t);
    uint32_t *next = arena_array(d->a, uint32_t, s->n_pools);
    uint32_t *place = arena_array(d->a, uint32_t, f.n);
    for (size_t i = 0; i < f.n; i++)
        d->part_from[rank[f.parts[i].pool] + 1]++;
    for (uint32_t k = 0; k < s->n_pools; k++) {
        d->part_from[k + 1] += d->part_from[k];
        next[k] = d->part_from[k];
    }
    for (size_t i = 0; i < f.n; i++)
        place[i] = next[rank[f.parts[i].pool]]++;
    d->n = (uint32_t)f.n;
    d->parts = arena_array(d->a, struct part, f.n);
    for (size_t i = 0; i < f.n; i++) {
        struct part *part = &d->parts[place[i]];
        *part = f.parts[i];
        part->up = part->up == IX_NONE ? IX_NONE : place[part->up];
    }
    for (uint32_t i = 0; i < d->seat_from[s->n_hosts]; i++)
        d->seat_part[i] = d->seat_part[i] == IX_NONE ? IX_NONE : place[d->seat_part[i]];
}

/* ---- one resource ---- */

static const struct divvy_node *seat_node(const struct division *d, uint32_t seat)
{
    return &d->tree.nodes[d->vm_node[d->seat_vm[seat]]];
}

/* A child's weight among its siblings. */
static double standing(const struct division *d, const struct divvy_node *node)
{
    return d->total[node->parent] > 0 ? node->weight : 1;
}

static void index_nodes(struct division *d)
{
    const struct divvy_tree *t = &d->tree;

    memset(d->total, 0, t->n * sizeof d->total[0]);
    for (uint32_t i = 1; i < t->n; i++) {
        const struct divvy_node *node = &t->nodes[i];
        if (node->kind == DIVVY_VM)
            d->vm_node[node->ix] = i;
        else
            d->pool_node[node->ix] = i;
        d->total[node->parent] += node->n_vms > 0 ? node->weight : 0;
    }
}

/* If the VMs of a host were divvied more than its capacity, they keep their own reservations and divide the
 * rest. Returns whether the parts have no room for rounding up. */
static bool fit_host(struct division *d, uint32_t host)
{
    uint32_t from = d->seat_from[host];
    uint32_t n = d->seat_from[host + 1] - from;
    double room = host_room(&d->snap->hosts[host], d->r);
    double sum = 0;
    double least = 0;

    for (uint32_t i = from; i < from + n; i++) {
        const struct divvy_node *node = seat_node(d, i);
        if (d->seat_part[i] == IX_NONE)
            room -= node->reserve; /* a VM's own reservation is in no part */
        d->seat_reserved[i] = d->seat_part[i] == IX_NONE ? 0 : node->divvied.reservation;
        sum += d->seat_reserved[i];
        least += fmin(node->reserve, d->seat_reserved[i]);
    }
    if (sum <= fmax(room, least))
        return sum > room - d->parts_there[host];
    struct divvy_child *children = arena_array(d->a, struct divvy_child, n);
    for (uint32_t i = 0; i < n; i++) {
        double reserved = d->seat_reserved[from + i];
        children[i] =
            (struct divvy_child){fmin(seat_node(d, from + i)->reserve, reserved), reserved, reserved};
    }
    divvy_solve_shares(children, n, fmax(room, least), d->a, d->seat_reserved + from);
    return true;
}

static void add_seats(struct division *d)
{
    for (uint32_t i = 0; i < d->n; i++) {
        d->own[i] = d->want[i] = d->entitled[i] = d->held[i] = 0;
        d->alloc[i] = (struct alloc){0};
    }
    for (uint32_t h = 0; h < d->snap->n_hosts; h++) {
        bool full = fit_host(d, h);
        for (uint32_t i = d->seat_from[h]; i < d->seat_from[h + 1]; i++) {
            const struct divvy_node *node = seat_node(d, i);
            uint32_t part = d->seat_part[i];
            if (part == IX_NONE)
                continue;
            d->own[part] += d->seat_reserved[i];
            d->want[part] += node->demand;
            d->entitled[part] += d->vm_entitled[d->seat_vm[i]];
            d->held[part] += standing(d, node);
        }
        for (uint32_t i = d->seat_from[h]; full && i < d->seat_from[h + 1]; i++)
            if (d->seat_part[i] != IX_NONE)
                d->own[d->seat_part[i]] = floor(d->own[d->seat_part[i]] + ROUNDING);
    }
}

/* Rounds a running sum, so that adjacent parts add up to the rounded sum. */
static double whole(double *running, double more)
{
    double before = floor(*running + ROUNDING);

    *running += more;
    return floor(*running + ROUNDING) - before;
}

/* What each host of a pool wants of a limit: the parts' reservations and the least of idle hosts, if all of
 * that fits; then the demand of its VMs. */
static void ask_hosts(const struct division *d, uint32_t from, uint32_t n, double quantity,
                      struct divvy_child *hosts)
{
    double held = 0;
    double least = 0;

    for (uint32_t i = 0; i < n; i++)
        held += d->held[from + i];
    for (uint32_t i = 0; i < n; i++) {
        double keeps = held > 0 ? LIMIT_LEAST * quantity * d->held[from + i] / held : 0;
        hosts[i] = (struct divvy_child){.reservation = fmax(d->alloc[from + i].reservation, keeps),
                                        .shares = d->held[from + i]};
        least += hosts[i].reservation;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (least > quantity)
            hosts[i].reservation = d->alloc[from + i].reservation;
        hosts[i].limit = fmax(hosts[i].reservation, d->want[from + i]);
    }
}

/* The hosts' VMs want more than the limit: each host asks for what its VMs are entitled to of it. */
static double ask_entitlement(const struct division *d, uint32_t from, uint32_t n, struct divvy_child *hosts)
{
    double wanted = 0;

    for (uint32_t i = 0; i < n; i++) {
        hosts[i].limit = fmax(hosts[i].reservation, d->entitled[from + i]);
        wanted += hosts[i].limit;
    }
    return wanted;
}

/* Divides a pool's limit among its hosts: first by demand, or by entitlement where that is more than the
 * limit; the rest by shares, up to each host's capacity, so that busy hosts may use more. */
static void divide_limit(struct division *d, uint32_t from, uint32_t n, double limit)
{
    struct divvy_child *hosts = arena_array(d->a, struct divvy_child, n);
    double *portion = arena_array(d->a, double, n);
    double *base = arena_array(d->a, double, n);
    double reserved = 0, wanted = 0, most = 0, running = 0;

    for (uint32_t i = 0; i < n; i++)
        reserved += d->alloc[from + i].reservation;
    double quantity = fmax(floor(limit + 0.5), reserved);
    ask_hosts(d, from, n, quantity, hosts);
    for (uint32_t i = 0; i < n; i++)
        wanted += hosts[i].limit;
    if (wanted > quantity)
        wanted = ask_entitlement(d, from, n, hosts);
    for (uint32_t i = 0; i < n; i++)
        most += fmax(hosts[i].limit, host_room(&d->snap->hosts[d->parts[from + i].host], d->r));
    for (uint32_t i = 0; i < n && wanted <= quantity; i++) {
        double capacity = host_room(&d->snap->hosts[d->parts[from + i].host], d->r);
        base[i] = hosts[i].limit;
        hosts[i].reservation = 0;
        hosts[i].limit = most < quantity ? NO_LIMIT : fmax(capacity - base[i], 0);
    }
    divvy_solve_shares(hosts, n, wanted <= quantity ? quantity - wanted : quantity, d->a, portion);
    for (uint32_t i = 0; i < n; i++)
        d->alloc[from + i].limit = whole(&running, base[i] + portion[i]);
}

/* Divides one pool among its hosts; its descendants are done. */
static void settle_pool(struct division *d, uint32_t rank, double *running)
{
    uint32_t pool = d->pool_ranked[rank];
    uint32_t ix = d->pool_node[pool];
    const struct divvy_node *node = &d->tree.nodes[ix];
    uint32_t from = d->part_from[rank];
    uint32_t to = d->part_from[rank + 1];
    double members = 0; /* for VMs that all weigh nothing */

    if (from == to)
        return;
    for (uint32_t c = node->first_child; c < node->first_child + node->n_children; c++)
        members += d->tree.nodes[c].n_vms > 0;
    for (uint32_t i = from; i < to; i++) {
        d->held[i] /= d->total[ix] > 0 ? d->total[ix] : members;
        d->alloc[i].reservation += whole(running, d->own[i]);
        d->alloc[i].shares = fmax(1, floor(node->weight * d->held[i] + 0.5));
        d->alloc[i].limit = NO_LIMIT;
    }
    if (node->set.limit < NO_LIMIT)
        divide_limit(d, from, to - from, node->set.limit);
    for (uint32_t i = from; i < to; i++) {
        uint32_t up = d->parts[i].up;
        if (up == IX_NONE)
            continue;
        d->alloc[up].reservation += d->alloc[i].reservation;
        d->want[up] += fmin(d->want[i], d->alloc[i].limit);
        d->entitled[up] += d->entitled[i];
        d->held[up] += standing(d, node) * d->held[i];
    }
}

static void divide(struct division *d, enum resource r, const double *demand)
{
    double running = 0;

    d->r = r;
    if (r != RES_CPU) /* the CPU tree exists already, for its shape */
        divvy_build_reserved(d->snap, r, demand, d->a, &d->tree);
    index_nodes(d);
    if (divvy_has_limits(d->snap, r))
        (void)divvy_entitle(d->snap, r, demand, d->a, d->vm_entitled);
    add_seats(d);
    for (uint32_t k = 0; k < d->snap->n_pools; k++)
        settle_pool(d, k, &running);
}

/* ---- sorting ---- */

/* The index of each part in the result: by host, then pool. */
static uint32_t *places(const struct division *d)
{
    uint32_t *place = arena_array(d->a, uint32_t, d->n);
    uint32_t *next = arena_array(d->a, uint32_t, d->snap->n_hosts);
    uint32_t *rank = arena_array(d->a, uint32_t, d->snap->n_pools);
    uint32_t begin = 0;

    for (uint32_t h = 0; h < d->snap->n_hosts; h++) {
        next[h] = begin;
        begin += d->parts_there[h];
    }
    for (uint32_t k = 0; k < d->snap->n_pools; k++)
        rank[d->pool_ranked[k]] = k;
    for (uint32_t p = 0; p < d->snap->n_pools; p++)
        for (uint32_t i = d->part_from[rank[p]]; i < d->part_from[rank[p] + 1]; i++)
            place[i] = next[d->parts[i].host]++;
    return place;
}

void pool_parts(const struct snapshot *snap, double *const demand[RES_COUNT], struct arena *a,
                struct host_setting **ret, uint32_t *ret_n)
{
    struct division d = {.snap = snap, .a = a};

    *ret = NULL;
    *ret_n = 0;
    if (snap->n_pools == 0)
        return;
    divvy_build_reserved(snap, RES_CPU, demand[RES_CPU], a, &d.tree);
    take_seats(&d);
    find_parts(&d, &d.tree);
    d.vm_node = arena_array(a, uint32_t, snap->n_vms);
    d.pool_node = arena_array(a, uint32_t, snap->n_pools);
    d.total = arena_array(a, double, d.tree.n);
    d.seat_reserved = arena_array(a, double, d.seat_from[snap->n_hosts]);
    d.own = arena_array(a, double, d.n);
    d.want = arena_array(a, double, d.n);
    d.entitled = arena_array(a, double, d.n);
    d.vm_entitled = arena_array(a, double, snap->n_vms);
    d.held = arena_array(a, double, d.n);
    d.alloc = arena_array(a, struct alloc, d.n);
    struct host_setting *all = arena_array(a, struct host_setting, d.n);
    const uint32_t *place = places(&d);
    for (int r = 0; r < RES_COUNT; r++) {
        divide(&d, (enum resource)r, demand[r]);
        for (uint32_t i = 0; i < d.n; i++) {
            all[place[i]].host = d.parts[i].host;
            all[place[i]].pool = d.parts[i].pool;
            all[place[i]].alloc[r] = d.alloc[i];
        }
    }
    *ret = all;
    *ret_n = d.n;
}
