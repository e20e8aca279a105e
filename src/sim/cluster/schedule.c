/* schedule.c: what each VM of a host gets.
 *
 * SCHEDULER_SHARES: the host divides what migrations leave of its CPU, and its memory, down its own pool
 * tree: the parts that pools have there (per_host_pools.c), and the VMs with their own settings. The want of
 * a VM takes the place of its limit (§2.3), a pool wants what its members want within its own limit, and
 * reserves at least what they reserve. No child gets more than it wants, nothing is idle while a child wants
 * it.
 *
 * SCHEDULER_WEIGHTS: the same, with all VMs below the root (vm_weights.c).
 *
 * SCHEDULER_PROPORTIONAL is CloudSim's: requests that do not fit are all scaled by the same factor, down to
 * whole MHz. A VM that is migrated gets 90 % of what the source gives it, the destination is charged 10 % of
 * what it asks for, and counts as one that gives less than it is asked for meanwhile, because CloudSim
 * compares these 10 % with the whole request (HostDynamicWorkload, Helper.getSlaTimePerActiveHost). */
#include "sim/cluster/cluster_internal.h"

#include "base/xalloc.h"

#include <stdlib.h>

/* CloudSim's PowerVmAllocation: what a migration costs the VM, and its destination. */
#define PROPORTIONAL_LOSS 0.1
#define PROPORTIONAL_CHARGE 0.1

/* Sums of the same numbers in another order differ by less than this part. */
#define ROUNDING 1e-9

/* Sums that are only added to and taken from are made anew after so many times. */
#define SMALL_CHANGES_MAX 1000

double schedule_vm_most_mhz(const struct cluster *c, uint32_t vm, uint32_t host)
{
    return vm_of(c, vm)->is.vcpus * c->core_mhz[host];
}

/* ---- the tree -------------------------------------------------------------------------------- */

static void make_room(struct tree *t, uint32_t n)
{
    if (n <= t->cap)
        return;
    t->cap = n + n / 2;
    t->nodes = xreallocarray(t->nodes, t->cap, sizeof *t->nodes);
    t->child = xreallocarray(t->child, t->cap, sizeof *t->child);
    t->whole = xreallocarray(t->whole, t->cap, sizeof *t->whole);
    t->reserved = xreallocarray(t->reserved, t->cap, sizeof *t->reserved);
    t->got = xreallocarray(t->got, t->cap, sizeof *t->got);
}

static uint32_t pool_of(const struct host_sim *h, const struct node *n)
{
    return n->ix == IX_NONE ? IX_NONE : h->parts[n->ix].pool;
}

static uint32_t pool_on_host(const struct cluster *c, uint32_t vm)
{
    return c->s->scheduler == SCHEDULER_WEIGHTS ? IX_NONE : vm_of(c, vm)->pool;
}

static void add_vms(const struct cluster *c, struct tree *t, const struct index_list *vms, uint32_t parent,
                    uint32_t pool, bool arriving)
{
    for (uint32_t i = 0; i < vms->n; i++) {
        uint32_t vm = vms->items[i];

        if (pool_on_host(c, vm) == pool && (!arriving || is_moving(&c->vms[vm])))
            t->nodes[t->n++] = (struct node){.ix = vm, .parent = parent, .is_vm = true, .arriving = arriving};
    }
}

/* Breadth first: parents before children, the children of a node side by side. */
static void build_tree(struct cluster *c, uint32_t host)
{
    struct host_sim *h = &c->hosts[host];
    struct tree *t = &h->tree;

    per_host_pools_update(c, host);
    make_room(t, 1 + h->n_parts + h->vms.n + h->arrives.n);
    t->nodes[0] = (struct node){.ix = IX_NONE, .parent = IX_NONE};
    t->n = 1;
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->nodes[i].is_vm)
            continue;
        uint32_t pool = pool_of(h, &t->nodes[i]);

        t->nodes[i].first_child = t->n;
        for (uint32_t p = 0; p < h->n_parts; p++) {
            if (c->initial->pools[h->parts[p].pool].parent == pool)
                t->nodes[t->n++] = (struct node){.ix = p, .parent = i};
        }
        add_vms(c, t, &h->vms, i, pool, false);
        add_vms(c, t, &h->arrives, i, pool, true);
        t->nodes[i].n_children = t->n - t->nodes[i].first_child;
    }
    t->built = true;
}

/* ---- dividing -------------------------------------------------------------------------------- */

/* The part of its CPU demand that a VM can use with this much memory. The hypervisor's own part for it is the
 * first to be missing. */
static double usable_part(const struct cluster *c, uint32_t vm, double mem)
{
    double working = c->vms[vm].working_mb;
    double lacks = working > 0 ? fmax(0, 1 - mem / working) : 0;

    return fmax(0, 1 - lacks * c->s->swap_slowdown);
}

void schedule_vm_due(struct cluster *c, uint32_t vm)
{
    struct vm_now *v = &c->vms[vm].now;

    for (int r = 0; r < RES_COUNT; r++)
        v->due[r] = c->s->scheduler == SCHEDULER_PROPORTIONAL
                        ? v->wants[r]
                        : fmin(v->wants[r], vm_weights_alloc(c, vm, (enum resource)r).limit);
    v->due[RES_CPU] = fmin(v->due[RES_CPU], v->wants[RES_CPU] * usable_part(c, vm, v->due[RES_MEM]));
}

static double cpu_wanted(const struct cluster *c, const struct node *n, uint32_t host)
{
    const struct vm_sim *v = &c->vms[n->ix];

    if (n->arriving || v->moving.stage == MOVING_STOPPED)
        return 0;
    double most = fmin(v->now.wants[RES_CPU], schedule_vm_most_mhz(c, n->ix, host));

    return most * usable_part(c, n->ix, v->now.gets[RES_MEM]);
}

static double wanted(const struct cluster *c, const struct node *n, uint32_t host, enum resource r)
{
    return r == RES_CPU ? cpu_wanted(c, n, host) : c->vms[n->ix].now.wants[RES_MEM];
}

/* What everybody wants, from the leaves up. Whether no pool holds its members back. */
static bool accumulate(struct cluster *c, uint32_t host, enum resource r)
{
    struct host_sim *h = &c->hosts[host];
    struct tree *t = &h->tree;
    bool free_pools = true;

    for (uint32_t i = 0; i < t->n; i++)
        t->whole[i] = t->reserved[i] = 0;
    for (uint32_t i = t->n; i-- > 1;) {
        const struct node *n = &t->nodes[i];
        const struct alloc set = n->is_vm ? vm_weights_alloc(c, n->ix, r) : h->parts[n->ix].alloc[r];
        double wants = n->is_vm ? wanted(c, n, host, r) : t->whole[i];
        double most = fmin(wants, set.limit);

        free_pools = free_pools && (n->is_vm || most >= wants);
        t->child[i] = (struct divvy_child){
            .reservation = fmin(fmax(set.reservation, t->reserved[i]), most),
            .limit = most,
            .shares = set.shares,
        };
        t->whole[n->parent] += most;
        t->reserved[n->parent] += t->child[i].reservation;
    }
    return free_pools;
}

static void divide(struct cluster *c, uint32_t host, enum resource r, double capacity)
{
    struct tree *t = &c->hosts[host].tree;
    bool free_pools = accumulate(c, host, r);

    if (free_pools && t->whole[0] <= capacity) { /* the usual case: there is enough for all */
        for (uint32_t i = 1; i < t->n; i++)
            t->got[i] = t->child[i].limit;
        return;
    }
    c->hosts[host].plenty = false;
    t->got[0] = capacity;
    for (uint32_t i = 0; i < t->n; i++) {
        const struct node *n = &t->nodes[i];

        if (n->n_children == 0)
            continue;
        if (t->got[i] * (1 + ROUNDING) >= t->whole[i]) {
            for (uint32_t k = n->first_child; k < n->first_child + n->n_children; k++)
                t->got[k] = t->child[k].limit;
        } else {
            divvy_solve_shares(&t->child[n->first_child], n->n_children, t->got[i], &c->scratch,
                               &t->got[n->first_child]);
        }
    }
    arena_reset(&c->scratch);
}

/* CloudSim's way: no tree, no settings. */
static void scale(struct cluster *c, uint32_t host, enum resource r, double capacity)
{
    struct tree *t = &c->hosts[host].tree;
    double sum = 0;

    for (uint32_t i = 1; i < t->n; i++) {
        const struct node *n = &t->nodes[i];
        double asks = 0;

        if (n->is_vm && r == RES_CPU && n->arriving)
            asks = PROPORTIONAL_CHARGE *
                   fmin(c->vms[n->ix].now.wants[RES_CPU], schedule_vm_most_mhz(c, n->ix, host));
        else if (n->is_vm)
            asks = wanted(c, n, host, r);
        t->got[i] = asks;
        sum += asks;
    }
    if (sum <= capacity)
        return;
    for (uint32_t i = 1; i < t->n; i++)
        t->got[i] = floor(t->got[i] * capacity / sum);
}

static void share(struct cluster *c, uint32_t host, enum resource r, double capacity)
{
    if (c->s->scheduler == SCHEDULER_PROPORTIONAL)
        scale(c, host, r, capacity);
    else
        divide(c, host, r, capacity);
}

/* ---- what comes of it ------------------------------------------------------------------------ */

/* A host that is too warm, or saves power, gives less than it reports. */
static double cpu_given(const struct cluster *c, uint32_t host)
{
    return host_of(c, host)->capacity[RES_CPU] * (1 - c->s->hosts[host].throttled);
}

/* What each migration takes of the host's CPU. */
static double taken_by_migrations(const struct cluster *c, uint32_t host)
{
    double sum = 0;

    if (c->s->scheduler == SCHEDULER_PROPORTIONAL || c->hosts[host].n_moves == 0)
        return 0;
    for (uint32_t i = 0; i < c->moving.n; i++) {
        const struct moving *m = &c->vms[c->moving.items[i]].moving;

        if (m->from == host || m->to == host)
            sum += m->rate_mb_s * c->s->migration.cpu_mhz_per_mb_s;
    }
    return fmin(sum, cpu_given(c, host));
}

/* The part of its time that a vCPU waits. A VM does a piece of work, sleeps, and does the next: what it runs
 * and waits becomes longer under contention, what it sleeps does not, so it waits for the part of what it
 * wants that it does not get. From that the formula of §2.3 arrives exactly at what the VM wants. */
static double waiting_part(double wants_mhz, double used_mhz)
{
    return wants_mhz > 0 ? fmax(0, 1 - used_mhz / wants_mhz) : 0;
}

static void give_cpu(struct cluster *c, uint32_t host, const struct node *n, double got)
{
    struct vm_sim *v = &c->vms[n->ix];
    double most = schedule_vm_most_mhz(c, n->ix, host);
    double wants = cpu_wanted(c, n, host);
    double net = got;

    v->used_mhz = got;
    v->asked_mhz = v->now.due[RES_CPU];
    v->ready = vm_of(c, n->ix)->is.vcpus * waiting_part(wants, got);
    v->lost_mhz = 0;
    if (c->s->scheduler == SCHEDULER_PROPORTIONAL && is_moving(v)) {
        net = got * (1 - PROPORTIONAL_LOSS);
        v->lost_mhz =
            fmax(0, v->now.wants[RES_CPU] - net); /* all that it lacks meanwhile, as CloudSim does */
    } else if (v->moving.stage == MOVING_STOPPED) {
        v->lost_mhz = fmin(v->now.due[RES_CPU], most);
    } else if (is_moving(v)) {
        net = got * (1 - fmin(c->s->migration.slowdown, 1));
        v->lost_mhz = got - net;
    }
    v->now.gets[RES_CPU] = net;
    if (is_moving(v))
        v->moving.dirty_mb_s = most > 0 ? c->s->vms[n->ix].dirty_mb_s * net / most : 0;
}

static bool is_hot(const struct cluster *c, uint32_t host)
{
    const struct host_now *now = &c->hosts[host].now;
    const double *capacity = host_of(c, host)->capacity;

    return now->wanted[RES_CPU] > CLUSTER_HOT * capacity[RES_CPU] * (1 + ROUNDING) ||
           now->wanted[RES_MEM] > CLUSTER_HOT * capacity[RES_MEM] * (1 + ROUNDING);
}

/* What follows from the sums. arriving_mhz: what is wanted by those that are migrated to here. */
static void conclude(struct cluster *c, uint32_t host, double arriving_mhz)
{
    struct host_sim *h = &c->hosts[host];
    double asked = h->now.wanted[RES_CPU], given = h->given_mhz;

    if (c->s->scheduler == SCHEDULER_PROPORTIONAL) {
        asked += arriving_mhz;
        given += h->taken_mhz;
    }
    h->active = asked > 0;
    h->overloaded = given < asked * (1 - ROUNDING);
    totals_set_hot(c, host, is_up(h) && is_hot(c, host));
    h->now.watts = power_host_watts(c, host, h->given_mhz + h->taken_mhz);
    h->idle_off_watts = h->active ? h->now.watts : 0;
}

static void sum_up(struct cluster *c, uint32_t host)
{
    struct host_sim *h = &c->hosts[host];
    double arriving = 0;

    h->given_mhz = 0;
    for (int r = 0; r < RES_COUNT; r++)
        h->now.delivered[r] = h->now.wanted[r] = 0;
    for (uint32_t i = 0; i < h->vms.n; i++) {
        const struct vm_sim *v = &c->vms[h->vms.items[i]];

        for (int r = 0; r < RES_COUNT; r++) {
            h->now.delivered[r] += v->now.gets[r];
            h->now.wanted[r] += v->now.due[r];
        }
        h->given_mhz += v->used_mhz;
    }
    for (uint32_t i = 1; is_up(h) && c->s->scheduler == SCHEDULER_PROPORTIONAL && i < h->tree.n; i++) {
        const struct node *n = &h->tree.nodes[i];

        h->taken_mhz += n->arriving ? h->tree.got[i] : 0;
        arriving += n->arriving ? c->vms[n->ix].now.wants[RES_CPU] : 0;
    }
    h->now.n_vms = h->vms.n;
    h->small_changes = 0;
    conclude(c, host, arriving);
}

/* Memory first: who lacks some cannot use all of its CPU. */
static void give(struct cluster *c, uint32_t host)
{
    struct host_sim *h = &c->hosts[host];
    const struct host *is = host_of(c, host);

    if (!h->tree.built)
        build_tree(c, host);
    h->plenty = c->s->scheduler != SCHEDULER_PROPORTIONAL;
    for (uint32_t i = 0; i < h->n_parts; i++)
        h->plenty = h->plenty && !(h->parts[i].alloc[RES_CPU].limit < NO_LIMIT);
    share(c, host, RES_MEM, is->capacity[RES_MEM]);
    bool is_short = false;

    for (uint32_t i = 1; i < h->tree.n; i++) {
        const struct node *n = &h->tree.nodes[i];
        if (!n->is_vm || n->arriving)
            continue;
        c->vms[n->ix].now.gets[RES_MEM] = h->tree.got[i];
        is_short |= h->tree.got[i] < c->vms[n->ix].now.wants[RES_MEM] * (1 - ROUNDING);
    }
    if (is_short == isnan(h->short_since_s))
        h->short_since_s = is_short ? c->now_s : UNKNOWN;
    h->taken_mhz = taken_by_migrations(c, host);
    share(c, host, RES_CPU, fmax(cpu_given(c, host) - h->taken_mhz, 0));
    for (uint32_t i = 1; i < h->tree.n; i++) {
        const struct node *n = &h->tree.nodes[i];
        if (n->is_vm && !n->arriving)
            give_cpu(c, host, n, h->tree.got[i]);
    }
}

void schedule_host(struct cluster *c, uint32_t host)
{
    struct host_sim *h = &c->hosts[host];

    totals_integrate_host(c, host);
    for (uint32_t i = 0; i < h->vms.n; i++)
        totals_integrate_vm(c, h->vms.items[i]);
    h->taken_mhz = 0;
    h->plenty = false;
    if (is_up(h))
        give(c, host);
    sum_up(c, host);
}

bool schedule_vm(struct cluster *c, uint32_t vm)
{
    struct vm_sim *v = &c->vms[vm];
    uint32_t host = v->now.host;
    struct host_sim *h = &c->hosts[host];
    const struct node node = {.ix = vm, .is_vm = true};

    if (!h->plenty || h->marked || is_moving(v) || h->small_changes >= SMALL_CHANGES_MAX ||
        !(v->now.wants[RES_CPU] > 0)) /* a host without any demand must be seen to have exactly none */
        return false;
    double gets = fmin(cpu_wanted(c, &node, host), vm_weights_alloc(c, vm, RES_CPU).limit);
    double more = gets - v->used_mhz;

    if (h->given_mhz + more + h->taken_mhz > cpu_given(c, host))
        return false;
    totals_integrate_host(c, host);
    h->small_changes++;
    h->now.delivered[RES_CPU] += more;
    h->now.wanted[RES_CPU] += v->now.due[RES_CPU] - v->asked_mhz;
    h->given_mhz += more;
    give_cpu(c, host, &node, gets);
    conclude(c, host, 0);
    return true;
}
