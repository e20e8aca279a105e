#include "engine/actions/slot_usage.h"

#include "base/xalloc.h"
#include "engine/actions/action.h"
#include "engine/observation.h"

#include <stdlib.h>
#include <string.h>

/* What an action counts as. */
enum {
    COUNTS_COMMITTED = 1u << 0,
    COUNTS_UNDER_WAY = 1u << 1,
    COUNTS_VERIFYING = 1u << 2,
    COUNTS_ORDERED = 1u << 3, /* approved, and a worker asks whether it may begin */
};

#define COUNTS_BUSY (COUNTS_UNDER_WAY | COUNTS_VERIFYING | COUNTS_ORDERED)
#define COUNTS_SLOT (COUNTS_UNDER_WAY | COUNTS_ORDERED)

void action_list_add(struct action_list *l, struct action *x)
{
    l->items = xalloc_grow(l->items, l->n, &l->cap, sizeof(struct action *));
    l->items[l->n++] = x;
}

void action_list_release(struct action_list *l)
{
    free(l->items);
    *l = (struct action_list){0};
}

static unsigned counts_as(const struct action *x)
{
    unsigned ret = 0;

    if (action_committed(x))
        ret |= COUNTS_COMMITTED;
    if (action_under_way(x))
        ret |= COUNTS_UNDER_WAY;
    if (x->r.state == ACTION_VERIFYING)
        ret |= COUNTS_VERIFYING;
    /* the question to the controllers of a host that still has its VMs changes nothing */
    if (x->r.state == ACTION_APPROVED && x->job_out &&
        (x->r.kind != ACTION_POWER_OFF || x->controllers_checked))
        ret |= COUNTS_ORDERED;
    return ret;
}

/* ---- look-up --------------------------------------------------------------------------------- */

static struct host_use *use_of_host(struct actions *all, const char *host)
{
    return idmap_make(&all->usage.hosts, host, sizeof(struct host_use));
}

static struct vm_use *use_of_vm(struct actions *all, const char *vm)
{
    return idmap_make(&all->usage.vms, vm, sizeof(struct vm_use));
}

const struct host_use *slot_usage_of_host(const struct actions *all, const char *host)
{
    static const struct host_use none;
    const struct host_use *u = host ? idmap_get(&all->usage.hosts, host) : NULL;

    return u ? u : &none;
}

const struct vm_use *slot_usage_of_vm(const struct actions *all, const char *vm)
{
    static const struct vm_use none;
    const struct vm_use *u = vm ? idmap_get(&all->usage.vms, vm) : NULL;

    return u ? u : &none;
}

/* ---- counting -------------------------------------------------------------------------------- */

/* Its hosts, each once. Returns their number. */
static int ends_of(const struct action *x, const char *ends[3])
{
    const char *const named[] = {x->r.from, x->r.to, x->r.host};
    int n = 0;

    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        bool again = false;

        for (int k = 0; named[i] && k < n; k++)
            again = again || strcmp(ends[k], named[i]) == 0;
        if (named[i] && !again)
            ends[n++] = named[i];
    }
    return n;
}

/* One for yes, by which a number is raised or lowered: by = 1, or -1 in its arithmetic. */
static void count(struct actions *all, const struct action *x, unsigned as, uint32_t by)
{
    const bool committed = as & COUNTS_COMMITTED;
    const bool move = x->r.kind == ACTION_MIGRATE;
    struct slot_usage *o = &all->usage;
    const char *ends[3];
    int n = ends_of(x, ends);

    if (as == 0)
        return;
    if (move && as & COUNTS_SLOT) {
        o->slots += by;
        for (int i = 0; i < n; i++)
            use_of_host(all, ends[i])->slots += by;
    }
    if (committed && x->r.to)
        use_of_host(all, x->r.to)->arriving += by;
    if (move && x->r.from &&
        as & (x->r.reason == REASON_OFF_VM ? COUNTS_COMMITTED : COUNTS_UNDER_WAY | COUNTS_VERIFYING))
        use_of_host(all, x->r.from)->departing += by;
    if (committed && x->r.kind == ACTION_POWER_OFF)
        use_of_host(all, x->r.host)->to_sleep += by;
    if (committed && x->r.kind == ACTION_ENTER_MAINTENANCE)
        use_of_host(all, x->r.host)->to_maintenance += by;
    if (action_is_of_power(x) && as & COUNTS_BUSY)
        o->power_changes += by;
    if (x->r.vm) {
        struct vm_use *v = use_of_vm(all, x->r.vm);

        v->committed += committed ? by : 0;
        v->moves += move && as & (COUNTS_UNDER_WAY | COUNTS_VERIFYING) ? by : 0;
        /* a start that is only being asked about has no slot */
        v->busy += as & (move ? COUNTS_BUSY : COUNTS_UNDER_WAY | COUNTS_VERIFYING) ? by : 0;
    }
}

static uint32_t seen_host(const struct actions *all, const struct action *x)
{
    return all->usage.snap ? snapshot_find_host(all->usage.snap, x->r.host) : IX_NONE;
}

static void enlist_power(struct actions *all, struct action *x)
{
    struct slot_usage *o = &all->usage;

    action_list_add(&o->power, x);
    o->power_host = xreallocarray(o->power_host, o->power.cap, sizeof *o->power_host);
    o->power_host[o->power.n - 1] = seen_host(all, x);
}

/* Into the lists, once, when it is first committed; one that is done already teaches how long a host took to
 * be emptied. */
static void enlist(struct actions *all, struct action *x)
{
    const char *ends[3];

    if (x->listed || !(action_committed(x) || x->r.state == ACTION_DONE))
        return;
    x->listed = true;
    int n = ends_of(x, ends);

    for (int i = 0; i < n; i++)
        action_list_add(&use_of_host(all, ends[i])->actions, x);
    if (x->r.vm)
        action_list_add(&use_of_vm(all, x->r.vm)->actions, x);
    if (!action_committed(x))
        return;
    action_list_add(&all->usage.committed, x);
    if (action_is_of_power(x))
        enlist_power(all, x);
}

/* ---- what others move ------------------------------------------------------------------------ */

static bool is_ours(const struct actions *all, const char *vm)
{
    return slot_usage_of_vm(all, vm)->moves > 0;
}

static void count_theirs(struct slot_usage *o, const struct migration *m, uint32_t by)
{
    o->theirs += by;
    o->seen[m->from].theirs += by;
    if (m->to != m->from)
        o->seen[m->to].theirs += by;
}

static int by_vm(const void *key, const void *item)
{
    const uint32_t *vm = key;
    const struct migration *m = item;

    return (*vm > m->vm) - (*vm < m->vm);
}

/* The one that the newest inventory shows of the VM, or NULL: they are sorted by VM, which has one at most.
 */
static const struct migration *seen_migration_of(const struct actions *all, const char *vm)
{
    const struct snapshot *s = all->usage.snap;
    uint32_t ix = s->n_migrations > 0 ? snapshot_find_vm(s, vm) : IX_NONE;

    return ix == IX_NONE ? NULL : bsearch(&ix, s->migrations, s->n_migrations, sizeof *s->migrations, by_vm);
}

/* The VM's migration, if there is one, counts from now on as ours or as a foreign one. */
static void change_owner(struct actions *all, const char *vm, bool ours)
{
    const struct migration *m = all->usage.seen ? seen_migration_of(all, vm) : NULL;

    if (m)
        count_theirs(&all->usage, m, ours ? (uint32_t)-1 : 1);
}

void slot_usage_observe(struct actions *all, const struct snapshot *s)
{
    struct slot_usage *o = &all->usage;

    free(o->seen);
    o->snap = s;
    o->seen = xcalloc(s->n_hosts, sizeof *o->seen);
    o->n_seen = s->n_hosts;
    o->theirs = 0;
    for (uint32_t i = 0; i < s->n_migrations; i++) {
        const struct migration *m = &s->migrations[i];

        o->seen[m->from].out++;
        o->seen[m->to].in++;
        if (!is_ours(all, s->vms[m->vm].is.id))
            count_theirs(o, m, 1);
    }
    for (size_t i = 0; i < o->power.n; i++)
        o->power_host[i] = seen_host(all, o->power.items[i]);
}

/* ---- changes --------------------------------------------------------------------------------- */

bool slot_usage_update(struct actions *all, struct action *x)
{
    unsigned before = x->counted;
    unsigned as = counts_as(x);
    bool was_ours = x->r.vm && is_ours(all, x->r.vm);

    enlist(all, x);
    if (as == before)
        return false;
    count(all, x, before, (uint32_t)-1);
    count(all, x, as, 1);
    x->counted = as;
    if (x->r.vm && is_ours(all, x->r.vm) != was_ours)
        change_owner(all, x->r.vm, !was_ours);
    /* from being asked about to being begun, nothing is given up */
    return (before & ~as & (COUNTS_COMMITTED | COUNTS_VERIFYING)) ||
           (before & COUNTS_SLOT && !(as & COUNTS_SLOT));
}

static void free_host_use(void *value)
{
    struct host_use *u = value;

    if (u)
        action_list_release(&u->actions);
    free(u);
}

static void free_vm_use(void *value)
{
    struct vm_use *u = value;

    if (u)
        action_list_release(&u->actions);
    free(u);
}

void slot_usage_release(struct actions *all)
{
    struct slot_usage *o = &all->usage;

    idmap_release(&o->hosts, free_host_use);
    idmap_release(&o->vms, free_vm_use);
    action_list_release(&o->committed);
    action_list_release(&o->power);
    free(o->power_host);
    free(o->seen);
    *o = (struct slot_usage){0};
}

void slot_usage_rebuild(struct actions *all)
{
    const struct snapshot *s = all->usage.snap;

    slot_usage_release(all);
    for (size_t i = 0; i < all->n; i++) {
        struct action *x = all->list[i];

        x->counted = 0;
        x->listed = false;
        (void)slot_usage_update(all, x);
    }
    if (s)
        slot_usage_observe(all, s);
}

/* ---- slots ----------------------------------------------------------------------------------- */

static int64_t host_limit(const struct actions *all, const struct policy *p, uint32_t ix)
{
    int64_t own = ix == IX_NONE ? 0 : all->usage.snap->hosts[ix].is.migrations_max;

    return own > 0 ? own : p->migrations_per_host;
}

/* Beside the one that wants one, which may have it already. */
static bool host_has_room(const struct actions *all, const struct policy *p, const char *host,
                          const struct action *wants)
{
    uint32_t ix = snapshot_find_host(all->usage.snap, host);
    int64_t used = (int64_t)slot_usage_of_host(all, host)->slots - (wants->counted & COUNTS_SLOT ? 1 : 0);

    if (ix != IX_NONE)
        used += all->usage.seen[ix].theirs;
    return used < host_limit(all, p, ix);
}

static bool cluster_has_room(const struct actions *all, const struct policy *p, int64_t besides)
{
    const struct slot_usage *o = &all->usage;
    int64_t limit = p->migrations_per_cluster;

    return limit <= 0 || (int64_t)o->slots + o->theirs - besides < limit;
}

bool slot_usage_is_full(const struct actions *all, const struct policy *p)
{
    return !cluster_has_room(all, p, 0);
}

bool slot_usage_has_slot(const struct actions *all, const struct policy *p, const struct action *wants)
{
    return cluster_has_room(all, p, wants->counted & COUNTS_SLOT ? 1 : 0) &&
           host_has_room(all, p, wants->r.from, wants) && host_has_room(all, p, wants->r.to, wants);
}

bool slot_usage_sees_others(const struct actions *all, const struct action *move)
{
    const struct migration *own = seen_migration_of(all, move->r.vm);
    const char *const ends[] = {move->r.from, move->r.to};
    uint32_t others = 0;

    for (int i = 0; i < 2; i++) {
        uint32_t ix = snapshot_find_host(all->usage.snap, ends[i]);

        if (ix != IX_NONE)
            others += all->usage.seen[ix].in + all->usage.seen[ix].out -
                      (own && (own->from == ix || own->to == ix) ? 1 : 0);
    }
    return others > 0;
}
