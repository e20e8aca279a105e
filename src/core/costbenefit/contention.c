/* contention.c: divides what a host has among its VMs by the settings of the source. */
#include "core/costbenefit/contention.h"

#include "core/demand/sample_guard.h"
#include "core/divvy/divvy.h"
#include "core/divvy/enforced.h"

/* Steps of the search for λ. Each is Newton's, or halves the interval; a handful is enough. */
#define STEPS_MAX 100

/* A part of the quantity that is rounding. */
#define EXACT 1e-12

/* ---- the VMs' claims ---- */

/* The part of each node's siblings' shares, times that of its parent. Pools without VMs claim nothing. */
static double *find_weights(const struct divvy_tree *t, struct arena *a)
{
    double *weight = arena_array(a, double, t->n);
    double *sum = arena_array(a, double, t->n);
    uint32_t *members = arena_array(a, uint32_t, t->n);

    weight[0] = 1;
    for (uint32_t i = 1; i < t->n; i++) {
        sum[t->nodes[i].parent] += t->nodes[i].n_vms > 0 ? t->nodes[i].weight : 0;
        members[t->nodes[i].parent] += t->nodes[i].n_vms > 0;
    }
    for (uint32_t i = 1; i < t->n; i++) {
        uint32_t up = t->nodes[i].parent;
        double part = sum[up] > 0 ? t->nodes[i].weight / sum[up] : 1.0 / (members[up] > 0 ? members[up] : 1);

        weight[i] = weight[up] * part;
    }
    return weight;
}

/* Of all VMs, within the limits of VMs and pools. */
static double *find_wants(const struct snapshot *view, enum resource r, struct arena *a,
                          struct divvy_tree *ret)
{
    double *want = arena_array(a, double, view->n_vms);

    for (uint32_t i = 0; i < view->n_vms; i++) {
        const struct vm_facts *v = &view->vms[i].is;

        if (vm_takes_part(view, &view->vms[i]))
            want[i] = fmin(fmin(v->demand[r], sample_guard_most(view, i, r)), v->alloc[r].limit);
        else if (vm_waits(&view->vms[i]))
            want[i] = fmin(v->demand[r], v->alloc[r].limit);
    }
    divvy_build_reserved(view, r, want, a, ret);
    (void)divvy_limit(ret, a, want);
    return want;
}

static void find_claims(struct contention *c, const struct snapshot *view, enum resource r,
                        const double *entitlement, struct arena *a)
{
    struct divvy_tree t;
    const double *want = find_wants(view, r, a, &t);
    const double *weight = find_weights(&t, a);
    double shares = 0, parts = 0;

    c->claim[r] = arena_array(a, struct claim, view->n_vms);
    for (uint32_t i = 1; i < t.n; i++) {
        const struct divvy_node *node = &t.nodes[i];
        double most = node->kind == DIVVY_VM ? want[node->ix] : 0;

        if (node->kind != DIVVY_VM)
            continue;
        shares += node->weight;
        parts += weight[i];
        c->claim[r][node->ix] = (struct claim){.reservation = fmin(node->divvied.reservation, most),
                                               .want = most,
                                               .weight = weight[i],
                                               .entitled = fmin(entitlement[node->ix], most)};
    }
    /* a VM that is being placed is in no tree yet: it weighs as the others do on average for a share */
    for (uint32_t i = 0; i < view->n_vms; i++)
        if (vm_waits(&view->vms[i]))
            c->claim[r][i] =
                (struct claim){.reservation = fmin(view->vms[i].is.alloc[r].reservation, want[i]),
                               .want = want[i],
                               .weight = shares > 0 ? view->vms[i].is.alloc[r].shares * parts / shares : 1,
                               .entitled = fmin(entitlement[i], want[i])};
}

/* ---- the division of a host ---- */

/* The VMs of a slot, without those of one unit, with those of another (IX_NONE: none). rest: VMs with shares
 * have all that they want, and the others divide equally what is left. */
struct party {
    const struct contention *c;
    enum resource r;
    uint32_t slot, without, with;
    bool rest;
};

static struct claim claim_of(const struct party *p, uint32_t vm)
{
    struct claim x = p->c->claim[p->r][vm];

    if (p->rest) {
        x.reservation = x.weight > 0 ? x.want : x.reservation;
        x.weight = x.weight > 0 ? 0 : 1;
    }
    return x;
}

/* The next VM; *at is 0 for the first call. False: there are no more. */
static bool next_claim(const struct party *p, uint32_t *at, struct claim *ret)
{
    const struct layout *l = p->c->l;
    const struct unit_list *there = &p->c->vms[p->slot];

    for (; *at < there->n; (*at)++) {
        uint32_t vm = there->items[*at];

        if (p->without == IX_NONE || l->vm_unit[vm] != p->without) {
            (*at)++;
            *ret = claim_of(p, vm);
            return true;
        }
    }
    if (p->with == IX_NONE)
        return false;
    uint32_t k = l->unit_from[p->with] + (*at - there->n);

    if (k >= l->unit_from[p->with + 1])
        return false;
    (*at)++;
    *ret = claim_of(p, l->unit_vms[k]);
    return true;
}

static double got(const struct claim *x, double lambda)
{
    return fmin(fmax(lambda * x->weight, x->reservation), x->want);
}

/* The sum that λ gives: `fixed` of VMs at a bound, `growing` · λ of the others. */
static double sum_at(const struct party *p, double lambda, double *ret_fixed, double *ret_growing)
{
    struct claim x;
    uint32_t at = 0;

    *ret_fixed = *ret_growing = 0;
    while (next_claim(p, &at, &x)) {
        double level = lambda * x.weight;

        if (x.reservation < level && level < x.want)
            *ret_growing += x.weight;
        else
            *ret_fixed += got(&x, lambda);
    }
    return *ret_fixed + *ret_growing * lambda;
}

/* λ that gives the quantity, which is less than all wants and more than all reservations. */
static double find_lambda(const struct party *p, double quantity)
{
    struct claim x;
    uint32_t at = 0;
    double low = 0, high = 0;

    while (next_claim(p, &at, &x))
        if (x.weight > 0)
            high = fmax(high, x.want / x.weight);
    double lambda = high / 2;

    for (int i = 0; i < STEPS_MAX && low < high; i++) {
        double fixed, growing;
        double sum = sum_at(p, lambda, &fixed, &growing);

        if (fabs(sum - quantity) <= EXACT * quantity)
            break;
        if (sum < quantity)
            low = lambda;
        else
            high = lambda;
        double newton = growing > 0 ? (quantity - fixed) / growing : low;

        lambda = newton > low && newton < high ? newton : low + (high - low) / 2;
    }
    return lambda;
}

/* What the VMs are entitled to and do not get. */
static double lack_of(struct party p, double wanted)
{
    double capacity = host_room(&p.c->l->snap->hosts[p.c->l->slot_host[p.slot]], p.r);
    double reserved = 0, with_shares = 0, lack = 0;
    struct claim x;
    uint32_t at = 0;

    if (wanted <= capacity)
        return 0;
    while (next_claim(&p, &at, &x)) {
        reserved += x.reservation;
        with_shares += x.weight > 0 ? x.want : x.reservation;
    }
    p.rest = with_shares <= capacity;
    double scale = reserved > capacity ? capacity / reserved : 1; /* of the reservations, which is all then */
    double lambda = reserved > capacity ? 0 : find_lambda(&p, capacity);

    for (at = 0; next_claim(&p, &at, &x);)
        lack += fmax(x.entitled - got(&x, lambda) * scale, 0);
    return lack;
}

/* ---- slots ---- */

static double wanted_of(const struct contention *c, enum resource r, uint32_t unit)
{
    const struct layout *l = c->l;
    double sum = 0;

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++)
        sum += c->claim[r][l->unit_vms[i]].want;
    return sum;
}

/* Sums are made anew, so that they do not depend on the moves before. */
static void refresh(struct contention *c, uint32_t slot)
{
    if (slot == c->l->outside)
        return;
    for (int r = 0; r < RES_COUNT; r++) {
        const struct party p = {c, (enum resource)r, slot, IX_NONE, IX_NONE, false};
        struct claim x;
        uint32_t at = 0;

        c->wanted[r][slot] = 0;
        while (next_claim(&p, &at, &x))
            c->wanted[r][slot] += x.want;
        c->lack[r][slot] = lack_of(p, c->wanted[r][slot]);
    }
}

static void add_vm(struct contention *c, struct arena *a, uint32_t slot, uint32_t vm)
{
    struct unit_list *list = &c->vms[slot];

    list->items = arena_grow(a, list->items, list->n, &list->cap, sizeof *list->items);
    list->items[list->n++] = vm;
}

static void drop_vm(struct contention *c, uint32_t slot, uint32_t vm)
{
    struct unit_list *list = &c->vms[slot];
    uint32_t i = 0;

    while (i < list->n && list->items[i] != vm)
        i++;
    if (i == list->n)
        return;
    list->items[i] = list->items[--list->n];
}

void contention_init(struct contention *c, const struct layout *l, double *const entitlement[RES_COUNT],
                     struct arena *a)
{
    const struct snapshot *view = enforced_view(l->snap, a);

    *c = (struct contention){0};
    if (view == l->snap)
        return;
    c->l = l;
    c->vms = arena_array(a, struct unit_list, (size_t)l->n_slots + 1);
    for (int r = 0; r < RES_COUNT; r++) {
        c->wanted[r] = arena_array(a, double, (size_t)l->n_slots + 1);
        c->lack[r] = arena_array(a, double, (size_t)l->n_slots + 1);
        if (r == RES_CPU && view->vm_controls) /* the plans' settings enforce it */
            c->claim[r] = arena_array(a, struct claim, view->n_vms);
        else
            find_claims(c, view, (enum resource)r, entitlement[r], a);
    }
    for (uint32_t vm = 0; vm < l->snap->n_vms; vm++)
        if (layout_slot_of(l, vm) != IX_NONE)
            add_vm(c, a, layout_slot_of(l, vm), vm);
    for (uint32_t i = 0; i < l->n_slots; i++)
        refresh(c, i);
}

void contention_move(struct contention *c, uint32_t unit, uint32_t from_slot, uint32_t to_slot)
{
    if (!c->l)
        return;
    for (uint32_t i = c->l->unit_from[unit]; i < c->l->unit_from[unit + 1]; i++) {
        drop_vm(c, from_slot, c->l->unit_vms[i]);
        add_vm(c, c->l->a, to_slot, c->l->unit_vms[i]);
    }
    refresh(c, from_slot);
    refresh(c, to_slot);
}

double contention_divide_with(const struct contention *c, enum resource r, uint32_t slot, uint32_t unit)
{
    const struct party p = {c, r, slot, IX_NONE, unit, false};

    return lack_of(p, c->wanted[r][slot] + wanted_of(c, r, unit));
}

double contention_divide_without(const struct contention *c, enum resource r, uint32_t slot, uint32_t unit)
{
    const struct party p = {c, r, slot, unit, IX_NONE, false};

    return slot == c->l->outside ? 0 : lack_of(p, c->wanted[r][slot] - wanted_of(c, r, unit));
}
