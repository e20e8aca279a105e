/* vm_controls.c: flattens each host's part of the pool tree into weights of its VMs, and lists the
 * differences to those that are set. */
#include "core/divvy/vm_controls.h"

#include "base/order.h"
#include "core/divvy/divvy.h"
#include "core/divvy/pool_parts.h"

#include <string.h>

#define OFF 0.05 /* relative to the target */
#define LIMIT_LEAST_MHZ 25.0
#define SHARES_STEP 10.0 /* of the coarsest host: weights of 1 ... 10000, of which 100 are 1000 shares */

/* Two results of the same sum differ by less than this part. */
#define ROUNDING 1e-9

/* A pool or a VM on one host; the root first. */
struct node {
    uint32_t vm;     /* IX_NONE: a pool, or the root */
    uint32_t parent; /* node; below: siblings as a list, IX_NONE at its end */
    uint32_t first_child, next, n_children;
    struct divvy_child of; /* limit: the own one of pools; of VMs what they want */
    double want;
    double entitled;
    double sum;    /* of the children's shares */
    double weight; /* in shares below the root */
};

struct flattening {
    const struct snapshot *snap;
    const double *demand; /* of CPU */
    struct arena *a;
    const struct host_setting *parts; /* by host */
    uint32_t n_parts;
    struct node *nodes;
    uint32_t *order; /* the root and pools, parents first */
    uint32_t n, n_order;
    uint32_t *pool_node;        /* by pool */
    struct divvy_child *wanted; /* scratch, for the children of one node */
    double *portion;
    struct vm_control *targets; /* by VM */
};

/* ---- the tree of a host ---- */

static uint32_t add_node(struct flattening *f, uint32_t vm, const struct alloc *alloc)
{
    f->nodes[f->n] = (struct node){.vm = vm,
                                   .parent = IX_NONE,
                                   .first_child = IX_NONE,
                                   .next = IX_NONE,
                                   .of = {alloc->reservation, alloc->limit, alloc->shares}};
    return f->n++;
}

static void hang(struct flattening *f, uint32_t child, uint32_t parent)
{
    f->nodes[child].parent = parent;
    f->nodes[child].next = f->nodes[parent].first_child;
    f->nodes[parent].first_child = child;
    f->nodes[parent].n_children++;
    f->nodes[parent].sum += f->nodes[child].of.shares;
}

static void add_vm(struct flattening *f, uint32_t vm)
{
    const struct vm *v = &f->snap->vms[vm];
    uint32_t node = add_node(f, vm, &v->is.alloc[RES_CPU]);
    struct node *n = &f->nodes[node];

    n->want = fmin(fmax(f->demand[vm], n->of.reservation), n->of.limit);
    hang(f, node, v->pool == IX_NONE ? 0 : f->pool_node[v->pool]);
}

static void build(struct flattening *f, uint32_t host)
{
    const struct snapshot *s = f->snap;
    const struct span *vms = &s->hosts[host].vms;

    f->n = 0;
    (void)add_node(f, IX_NONE, &(const struct alloc){.limit = NO_LIMIT});
    for (uint32_t i = 0; i < f->n_parts; i++)
        f->pool_node[f->parts[i].pool] = add_node(f, IX_NONE, &f->parts[i].alloc[RES_CPU]);
    for (uint32_t i = 0; i < f->n_parts; i++) {
        uint32_t up = s->pools[f->parts[i].pool].parent;
        hang(f, f->pool_node[f->parts[i].pool], up == IX_NONE ? 0 : f->pool_node[up]);
    }
    for (uint32_t i = 0; i < vms->n; i++)
        if (vm_takes_part(s, &s->vms[vms->items[i]]))
            add_vm(f, vms->items[i]);
    f->order[0] = 0;
    f->n_order = 1;
    for (uint32_t i = 0; i < f->n_order; i++)
        for (uint32_t c = f->nodes[f->order[i]].first_child; c != IX_NONE; c = f->nodes[c].next)
            if (f->nodes[c].vm == IX_NONE)
                f->order[f->n_order++] = c;
}

/* ---- entitlements on the host ---- */

/* What a pool reserves and its VMs do not want goes to others, so it is not wanted; what they reserve is
 * reserved for the pool, too. */
static void sum_up(struct flattening *f)
{
    for (uint32_t i = f->n_order; i-- > 0;) {
        struct node *n = &f->nodes[f->order[i]];
        double reserved = 0;

        for (uint32_t c = n->first_child; c != IX_NONE; c = f->nodes[c].next) {
            n->want += f->nodes[c].want;
            reserved += fmin(f->nodes[c].of.reservation, f->nodes[c].want);
        }
        n->want = fmin(n->want, n->of.limit);
        n->of.reservation = fmin(fmax(n->of.reservation, reserved), n->want);
    }
}

static void divide_children(struct flattening *f, const struct node *n)
{
    uint32_t k = 0;

    for (uint32_t c = n->first_child; c != IX_NONE; c = f->nodes[c].next) {
        const struct node *child = &f->nodes[c];
        f->wanted[k++] = (struct divvy_child){.reservation = fmin(child->of.reservation, child->want),
                                              .limit = child->want,
                                              .shares = child->of.shares};
    }
    divvy_solve_shares(f->wanted, k, n->entitled, f->a, f->portion);
    k = 0;
    for (uint32_t c = n->first_child; c != IX_NONE; c = f->nodes[c].next)
        f->nodes[c].entitled = f->portion[k++];
}

static void entitle(struct flattening *f, double capacity)
{
    f->nodes[0].entitled = capacity;
    for (uint32_t i = 0; i < f->n_order; i++)
        divide_children(f, &f->nodes[f->order[i]]);
}

/* ---- weights ---- */

/* By shares alone. lambda > 0: a pool weighs no more than its limit is worth. */
static void weigh(struct flattening *f, double lambda)
{
    for (uint32_t i = 0; i < f->n_order; i++) {
        const struct node *n = &f->nodes[f->order[i]];

        for (uint32_t c = n->first_child; c != IX_NONE; c = f->nodes[c].next) {
            struct node *child = &f->nodes[c];

            if (n->parent == IX_NONE)
                child->weight = child->of.shares;
            else
                child->weight = n->weight * (n->sum > 0 ? child->of.shares / n->sum : 1.0 / n->n_children);
            if (lambda > 0 && child->vm == IX_NONE && child->of.limit < NO_LIMIT)
                child->weight = fmin(child->weight, child->of.limit / lambda);
        }
    }
}

/* Adds the idle MHz by shares, as if load grew until the host is full. */
static void spread_idle(struct flattening *f, double idle)
{
    double sum = f->nodes[0].sum;

    for (uint32_t i = 1; i < f->n && sum > 0; i++)
        f->nodes[i].entitled += idle * f->nodes[i].weight / sum;
}

/* MHz for each share below the root. Children that only have their reservation are worth more. */
static double find_lambda(const struct flattening *f, double capacity)
{
    double lambda = 0;

    for (uint32_t c = f->nodes[0].first_child; c != IX_NONE; c = f->nodes[c].next) {
        const struct node *n = &f->nodes[c];

        if (n->of.shares > 0 && n->entitled > n->of.reservation * (1 + ROUNDING))
            lambda = fmax(lambda, n->entitled / n->of.shares);
    }
    return lambda > 0 ? lambda : capacity / fmax(f->nodes[0].sum, 1);
}

static void flatten(struct flattening *f, uint32_t host)
{
    double capacity = host_room(&f->snap->hosts[host], RES_CPU);

    build(f, host);
    if (f->n == 1 || !(capacity > 0))
        return;
    sum_up(f);
    entitle(f, capacity);
    weigh(f, 0);
    if (f->nodes[0].want < capacity)
        spread_idle(f, capacity - f->nodes[0].want);
    double lambda = find_lambda(f, capacity);

    weigh(f, lambda);
    for (uint32_t i = 1; i < f->n; i++) {
        const struct node *n = &f->nodes[i];
        double least = n->entitled / lambda;

        if (n->vm == IX_NONE || !f->targets[n->vm].given)
            continue;
        /* a VM that lacks something gets its due, even where the reservations of its siblings take its
         * part of the shares */
        bool lacks = n->want > n->entitled * (1 + ROUNDING);
        double part = lacks ? 0 : n->weight;
        double weight = fabs(least - n->weight) <= ROUNDING * n->weight ? n->weight : fmax(part, least);
        f->targets[n->vm].shares =
            floor(fmin(fmax(weight, VM_CONTROLS_SHARES_MIN), VM_CONTROLS_SHARES_MAX) + 0.5);
    }
}

/* ---- targets ---- */

/* As its admin has it. */
static const struct alloc *own_of(const struct vm *v)
{
    return v->is.overridden ? &v->is.source_alloc[RES_CPU] : &v->is.alloc[RES_CPU];
}

static bool is_asked_for(const struct snapshot *s, const struct vm *v)
{
    const struct alloc *is = &v->is.alloc[RES_CPU];
    const struct alloc *own = own_of(v);

    return s->vm_controls && (v->pool != v->source_pool || is->shares != own->shares ||
                              is->limit != own->limit || is->reservation != own->reservation);
}

static bool any_asked_for(const struct snapshot *s, struct vm_control *targets)
{
    bool any = false;

    for (uint32_t i = 0; i < s->n_vms; i++) {
        const struct vm *v = &s->vms[i];
        bool asked = is_asked_for(s, v);

        targets[i] = (struct vm_control){asked, own_of(v)->shares,
                                         asked ? v->is.alloc[RES_CPU].limit : own_of(v)->limit};
        any = any || asked;
    }
    return any;
}

struct vm_control *vm_controls_targets(const struct snapshot *snap, double *const demand[RES_COUNT],
                                       struct arena *a)
{
    struct flattening f = {.snap = snap, .demand = demand[RES_CPU], .a = a};
    struct host_setting *parts;
    uint32_t n_parts, from = 0;
    size_t most = (size_t)snap->n_pools + snap->n_vms + 1;

    f.targets = arena_array(a, struct vm_control, snap->n_vms);
    if (!any_asked_for(snap, f.targets))
        return f.targets;
    pool_parts(snap, demand, a, &parts, &n_parts);
    f.nodes = arena_array(a, struct node, most);
    f.order = arena_array(a, uint32_t, most);
    f.wanted = arena_array(a, struct divvy_child, most);
    f.portion = arena_array(a, double, most);
    f.pool_node = arena_array(a, uint32_t, snap->n_pools);
    for (uint32_t h = 0; h < snap->n_hosts; h++) {
        f.parts = parts + from;
        for (f.n_parts = 0; from < n_parts && parts[from].host == h; from++)
            f.n_parts++;
        if (host_is_up(&snap->hosts[h]))
            flatten(&f, h);
    }
    return f.targets;
}

/* ---- differences ---- */

static bool off(double is, double should_be, double least)
{
    return fabs(is - should_be) > fmax(OFF * should_be, least);
}

static bool is_off(const struct vm *v, const struct vm_control *to)
{
    const struct vm_control own = {false, own_of(v)->shares, own_of(v)->limit};
    const struct vm_control *is = v->is.set.given ? &v->is.set : &own;

    if (!to->given)
        return is->given;
    if ((is->limit < NO_LIMIT) != (to->limit < NO_LIMIT) ||
        (to->limit < NO_LIMIT && off(is->limit, to->limit, LIMIT_LEAST_MHZ)))
        return true;
    return off(is->shares, to->shares, SHARES_STEP);
}

static int by_host(const void *a, const void *b)
{
    const struct vm_setting_due *x = a, *y = b;

    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    return (x->vm > y->vm) - (x->vm < y->vm);
}

static bool *find_moving(const struct snapshot *s, struct arena *a)
{
    bool *moving = arena_array(a, bool, s->n_vms);

    for (uint32_t i = 0; i < s->n_migrations; i++)
        moving[s->migrations[i].vm] = true;
    return moving;
}

void vm_controls(const struct snapshot *snap, double *const demand[RES_COUNT], struct arena *a,
                 struct vm_setting_due **ret, uint32_t *ret_n)
{
    const struct vm_control *targets = vm_controls_targets(snap, demand, a);
    const bool *moving = find_moving(snap, a);
    uint32_t n = 0;

    *ret = arena_array(a, struct vm_setting_due, snap->n_vms);
    for (uint32_t i = 0; i < snap->n_vms; i++) {
        const struct vm *v = &snap->vms[i];
        bool there = v->host != IX_NONE && host_is_up(&snap->hosts[v->host]) && !moving[i];
        bool can = there && (vm_takes_part(snap, v) || !targets[i].given); /* off: only back */

        if (can && is_off(v, &targets[i]))
            (*ret)[n++] = (struct vm_setting_due){.vm = i, .host = v->host, .to = targets[i]};
    }
    order_sort(*ret, n, sizeof **ret, by_host);
    *ret_n = n;
}
