/* resources.c: reservations, limits, shares and pools of the configuration. What the source has is kept
 * beside them, because the hypervisor divides its hosts by that. */
#include "overlay/application.h"

#include "base/order.h"
#include "base/texts.h"

#include <stdlib.h>
#include <string.h>

static bool same_of(const struct alloc *a, const struct alloc *b)
{
    return a->reservation == b->reservation && a->limit == b->limit && a->shares == b->shares &&
           a->expandable == b->expandable;
}

static bool same_alloc(const struct alloc a[RES_COUNT], const struct alloc b[RES_COUNT])
{
    return same_of(&a[RES_CPU], &b[RES_CPU]) && same_of(&a[RES_MEM], &b[RES_MEM]);
}

/* ---- what the source has ---- */

static void keep_source_of_vm(struct seen_vm *v)
{
    if (v->is.overridden)
        return;
    v->is.overridden = true;
    v->source_pool = v->pool;
    memcpy(v->is.source_alloc, v->is.alloc, sizeof v->is.alloc);
}

static void restore_vm(struct seen_vm *v)
{
    v->pool = v->source_pool;
    memcpy(v->is.alloc, v->is.source_alloc, sizeof v->is.alloc);
}

static void forget_source_of_vm(struct seen_vm *v)
{
    v->is.overridden = false;
    v->source_pool = NULL;
    memset(v->is.source_alloc, 0, sizeof v->is.source_alloc);
}

static void forget_source_of_pool(struct pool_facts *f)
{
    f->overridden = false;
    memset(f->source_alloc, 0, sizeof f->source_alloc);
}

static bool is_of_configuration(const struct inventory *inv, const char *pool)
{
    for (size_t i = 0; i < inv->n_pools; i++)
        if (inv->pools[i].is.origin != RULE_OF_SOURCE && texts_same(inv->pools[i].is.id, pool))
            return true;
    return false;
}

/* The source refers to no pool of the configuration, and no host has settings of one; a snapshot made by hand
 * may. */
static void drop_pools(struct inventory *inv)
{
    size_t n_pools = 0, n_settings = 0;

    for (size_t i = 0; i < inv->n_vms; i++)
        if (is_of_configuration(inv, inv->vms[i].pool))
            inv->vms[i].pool = NULL;
    for (size_t i = 0; i < inv->n_pools; i++)
        if (is_of_configuration(inv, inv->pools[i].parent))
            inv->pools[i].parent = NULL;

    for (size_t i = 0; i < inv->n_settings; i++)
        if (!is_of_configuration(inv, inv->settings[i].pool))
            inv->settings[n_settings++] = inv->settings[i];
    inv->n_settings = n_settings;
    for (size_t i = 0; i < inv->n_pools; i++)
        if (inv->pools[i].is.origin == RULE_OF_SOURCE)
            inv->pools[n_pools++] = inv->pools[i];
    inv->n_pools = n_pools;
}

void application_restore_source(struct application *p)
{
    struct inventory *inv = p->inv;
    bool added = false;

    for (size_t i = 0; i < inv->n_vms; i++)
        if (inv->vms[i].is.overridden) {
            restore_vm(&inv->vms[i]);
            forget_source_of_vm(&inv->vms[i]);
        }
    for (size_t i = 0; i < inv->n_pools; i++) {
        struct pool_facts *f = &inv->pools[i].is;

        added = added || f->origin != RULE_OF_SOURCE;
        if (!f->overridden)
            continue;
        memcpy(f->alloc, f->source_alloc, sizeof f->alloc);
        forget_source_of_pool(f);
    }
    if (added)
        drop_pools(inv);
}

static void set_alloc(const struct overlay_alloc set[RES_COUNT], struct alloc to[RES_COUNT])
{
    for (int r = 0; r < RES_COUNT; r++) {
        to[r].reservation = set[r].reservation_given ? set[r].is.reservation : to[r].reservation;
        to[r].limit = set[r].limit_given ? set[r].is.limit : to[r].limit;
        to[r].shares = set[r].shares_given ? set[r].is.shares : to[r].shares;
        to[r].expandable = set[r].expandable_given ? set[r].is.expandable : to[r].expandable;
    }
}

/* ---- VMs ---- */

/* The shares of a VM of this size. Normal are those of a VM whose source reports none. */
static void set_priority(enum vm_priority priority, struct vm_facts *f)
{
    static const double factor[] = {[PRIORITY_LOW] = 0.5, [PRIORITY_NORMAL] = 1, [PRIORITY_HIGH] = 2};
    struct vm_facts usual = {.vcpus = f->vcpus, .mem_mb = f->mem_mb};

    if (priority == PRIORITY_AS_SOURCE)
        return;
    vm_facts_default(&usual);
    for (int r = 0; r < RES_COUNT; r++)
        f->alloc[r].shares = usual.alloc[r].shares * factor[priority];
}

static bool sets_anything(const struct overlay_vms *entry)
{
    for (int r = 0; r < RES_COUNT; r++)
        if (entry->set[r].reservation_given || entry->set[r].limit_given || entry->set[r].shares_given)
            return true;
    return entry->priority != PRIORITY_AS_SOURCE;
}

void application_set_vm(struct application *p, const struct overlay_vms *entry, struct seen_vm *vm)
{
    if (!sets_anything(entry))
        return;
    if (!p->set_by)
        p->set_by = arena_array(p->a, size_t, p->inv->n_vms);
    p->set_by[vm - p->inv->vms] = (size_t)(entry - p->o->vms) + 1;
    keep_source_of_vm(vm);
    set_priority(entry->priority, &vm->is);
    set_alloc(entry->set, vm->is.alloc);
}

/* ---- pools ---- */

#define NO_POOL SIZE_MAX /* the root */

/* Where an entry is in the tree. */
struct target {
    size_t pool; /* in the inventory */
    bool known;
    bool selects; /* some VM */
    bool takes;   /* some VM that the source has elsewhere */
};

/* A pool of the source. */
struct indexed {
    const char *id;
    size_t pool;
};

struct pools {
    struct application *p;
    struct indexed *by_id;  /* sorted */
    struct target *targets; /* by entry */
    const char **paths;     /* by pool of the source */
    size_t *up;             /* by pool: its parent */
    size_t n_source;
};

/* Of the source. */
static size_t find_pool(const struct pools *x, const char *id)
{
    const struct indexed key = {.id = id};
    const struct indexed *found =
        id && x->n_source > 0 ? bsearch(&key, x->by_id, x->n_source, sizeof key, order_texts) : NULL;

    return found ? found->pool : NO_POOL;
}

static bool id_is_taken(const struct inventory *inv, const char *id)
{
    for (size_t i = 0; i < inv->n_pools; i++)
        if (texts_same(inv->pools[i].is.id, id))
            return true;
    return false;
}

static const char *name_of(const struct pool_facts *f)
{
    return f->name ? f->name : f->id;
}

/* Names from the root, with / between. Parents that go round in a circle are refused later. */
static const char *path_of(struct pools *x, size_t pool, size_t depth)
{
    const char *name = name_of(&x->p->inv->pools[pool].is);

    if (x->paths[pool])
        return x->paths[pool];
    name = name ? name : "";
    x->paths[pool] = x->up[pool] == NO_POOL || depth >= x->n_source
                         ? name
                         : arena_printf(x->p->a, "%s/%s", path_of(x, x->up[pool], depth + 1), name);
    return x->paths[pool];
}

/* The pool of the source with this id or path. */
static size_t find_by_path(struct pools *x, const char *path)
{
    for (size_t i = 0; i < x->n_source; i++)
        if (texts_same(x->p->inv->pools[i].is.id, path) || strcmp(path_of(x, i, 0), path) == 0)
            return i;
    return NO_POOL;
}

static size_t add_pool(struct pools *x, const char *path, size_t parent)
{
    struct application *p = x->p;
    const char *id = arena_printf(p->a, "%s:%s", rule_origin_name(RULE_OF_CONFIGURATION), path);

    while (id_is_taken(p->inv, id)) /* a source may use any id */
        id = arena_printf(p->a, "%s'", id);
    struct seen_pool *pool = inventory_add_pool(p->inv, p->a);

    pool_facts_default(&pool->is);
    pool->is.id = id;
    pool->is.name = arena_strdup(p->a, parent == NO_POOL ? path : strrchr(path, '/') + 1);
    pool->is.origin = RULE_OF_CONFIGURATION;
    pool->parent = parent == NO_POOL ? NULL : p->inv->pools[parent].is.id;
    x->up[p->inv->n_pools - 1] = parent;
    return p->inv->n_pools - 1;
}

static size_t target_of(struct pools *x, size_t entry);

/* The pool above: of another entry, or of the source. */
static size_t find_parent(struct pools *x, const char *path)
{
    const struct overlay *o = x->p->o;

    for (size_t i = 0; i < o->n_pools; i++)
        if (strcmp(o->pools[i].path, path) == 0)
            return target_of(x, i);
    return find_by_path(x, path);
}

/* The pool of the entry: one of the source, or a new one. */
static size_t target_of(struct pools *x, size_t entry)
{
    const char *path = x->p->o->pools[entry].path;
    const char *slash = strrchr(path, '/');
    struct target *t = &x->targets[entry];
    size_t parent = NO_POOL;

    if (t->known)
        return t->pool;
    t->pool = find_by_path(x, path);
    if (t->pool == NO_POOL && slash) {
        parent = find_parent(x, arena_strndup(x->p->a, path, (size_t)(slash - path)));
        if (parent == NO_POOL)
            application_find(
                x->p, arena_printf(x->p->a, "there is no pool above pools.%s; it is below the root", path));
    }
    if (t->pool == NO_POOL)
        t->pool = add_pool(x, path, parent);
    t->known = true;
    return t->pool;
}

static bool is_above(const struct pools *x, size_t pool, size_t other)
{
    for (size_t depth = 0; other != NO_POOL && depth <= x->p->inv->n_pools; depth++) {
        if (other == pool)
            return true;
        other = x->up[other];
    }
    return false;
}

/* Two entries that select one VM, of which neither is above the other. */
struct conflict {
    size_t first, second; /* entries; the second holds the VMs */
    const char *vm;
    size_t more;
};

struct conflicts {
    struct conflict *items;
    size_t n, cap;
};

static void note_conflict(struct pools *x, struct conflicts *c, size_t first, size_t second,
                          const struct vm_facts *vm)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->items[i].first == first && c->items[i].second == second) {
            c->items[i].more++;
            return;
        }
    c->items = arena_grow(x->p->a, c->items, c->n, &c->cap, sizeof *c->items);
    c->items[c->n++] = (struct conflict){first, second, vm->name ? vm->name : vm->id, 0};
}

static void find_conflicts(struct pools *x, const struct conflicts *c)
{
    const struct overlay_pool *entries = x->p->o->pools;

    for (size_t i = 0; i < c->n; i++) {
        const struct conflict *is = &c->items[i];
        const char *others = is->more ? arena_printf(x->p->a, " and %zu more", is->more) : "";

        application_find(x->p,
                         arena_printf(x->p->a, "pools.%s and pools.%s both select %s%s; pools.%s counts",
                                      entries[is->first].path, entries[is->second].path, is->vm, others,
                                      entries[is->second].path));
    }
}

/* The entry that holds the VM: the deeper one, else the last. SIZE_MAX: none. */
static size_t holder_of(struct pools *x, const struct vm_facts *vm, struct conflicts *c)
{
    const struct overlay *o = x->p->o;
    size_t holder = SIZE_MAX;

    for (size_t i = 0; i < o->n_pools; i++) {
        if (!selector_takes_vm(&o->pools[i].vms, vm))
            continue;
        x->targets[i].selects = true;
        if (holder == SIZE_MAX || is_above(x, x->targets[holder].pool, x->targets[i].pool)) {
            holder = i;
        } else if (!is_above(x, x->targets[i].pool, x->targets[holder].pool)) {
            note_conflict(x, c, holder, i, vm);
            holder = i;
        }
    }
    return holder;
}

static void fill_pools(struct pools *x)
{
    struct conflicts conflicts = {0};
    const struct overlay *o = x->p->o;

    for (size_t k = 0; k < x->p->inv->n_vms; k++) {
        struct seen_vm *v = &x->p->inv->vms[k];
        size_t holder = holder_of(x, &v->is, &conflicts);

        if (holder == SIZE_MAX)
            continue;
        if (is_above(x, x->targets[holder].pool, find_pool(x, v->pool)))
            continue; /* the source has it there, or in a pool below */
        keep_source_of_vm(v);
        x->targets[holder].takes = true;
        v->pool = x->p->inv->pools[x->targets[holder].pool].is.id;
    }
    find_conflicts(x, &conflicts);
    for (size_t i = 0; i < o->n_pools; i++)
        if (o->pools[i].vms.n > 0 && !x->targets[i].selects)
            application_find(x->p, arena_printf(x->p->a, "pools.%s selects no VM", o->pools[i].path));
}

/* A pool that is new and holds neither VMs nor another entry: its name may be that of a pool of the source,
 * with an error in it. */
static void find_empty(struct pools *x)
{
    const struct overlay *o = x->p->o;
    const struct inventory *inv = x->p->inv;

    for (size_t i = 0; i < o->n_pools; i++) {
        const struct seen_pool *pool = &inv->pools[x->targets[i].pool];
        bool parent = false;

        if (pool->is.origin == RULE_OF_SOURCE || o->pools[i].vms.n > 0)
            continue;
        for (size_t k = 0; k < inv->n_pools && !parent; k++)
            parent = x->up[k] == x->targets[i].pool;
        if (!parent)
            application_find(x->p, arena_printf(x->p->a, "pools.%s is no pool of the source and holds no VM",
                                                o->pools[i].path));
    }
}

/* Whether some host has a part of the pool: Ballast keeps these parts as the configuration says. */
static bool is_on_a_host(const struct inventory *inv, const char *pool)
{
    for (size_t i = 0; i < inv->n_settings; i++)
        if (texts_same(inv->settings[i].pool, pool))
            return true;
    return false;
}

static bool sets_alloc(const struct overlay_alloc *set)
{
    return set->reservation_given || set->limit_given || set->shares_given;
}

/* Hosts without pools: Ballast sets weights of VMs by what pools have of CPU (core/divvy/vm_controls.h). */
static void find_not_in_weights(struct application *p)
{
    for (size_t i = 0; i < p->o->n_pools; i++) {
        const struct overlay_pool *entry = &p->o->pools[i];

        if (entry->set[RES_CPU].limit_given && entry->set[RES_CPU].is.limit < NO_LIMIT)
            application_find(
                p, arena_printf(p->a,
                                "pools.%s.cpu.limit holds only on hosts without idle CPU: libvirt has "
                                "no limit for several VMs together",
                                entry->path));
        if (sets_alloc(&entry->set[RES_MEM]))
            application_find(p, arena_printf(p->a,
                                             "pools.%s.mem: no hypervisor enforces what pools have of memory",
                                             entry->path));
    }
}

/* What VMs are entitled to by these entries is not what their hosts give them. */
static void find_not_enforced(struct pools *x)
{
    struct application *p = x->p;

    if (p->inv->vm_controls) {
        find_not_in_weights(p);
        return;
    }
    for (size_t i = 0; i < p->o->n_pools; i++) {
        const struct pool_facts *f = &p->inv->pools[x->targets[i].pool].is;
        const char *path = p->o->pools[i].path;

        if (f->origin != RULE_OF_SOURCE)
            application_find(
                p,
                arena_printf(p->a, "pools.%s is no pool of the source, so no hypervisor enforces it", path));
        else if (!same_alloc(f->alloc, f->source_alloc) && !is_on_a_host(p->inv, f->id))
            application_find(p,
                             arena_printf(p->a,
                                          "pools.%s differs from the pool of the source, whose settings the "
                                          "hypervisor enforces",
                                          path));
        if (f->origin == RULE_OF_SOURCE && x->targets[i].takes)
            application_find(
                p, arena_printf(p->a,
                                "pools.%s holds VMs that the source has elsewhere, so no hypervisor "
                                "enforces it for them",
                                path));
    }
}

void application_set_pools(struct application *p)
{
    struct pools x = {.p = p, .n_source = p->inv->n_pools};

    if (p->o->n_pools == 0)
        return;
    x.targets = arena_array(p->a, struct target, p->o->n_pools);
    x.paths = arena_array(p->a, const char *, x.n_source);
    x.up = arena_array(p->a, size_t, x.n_source + p->o->n_pools);
    x.by_id = arena_array(p->a, struct indexed, x.n_source);
    for (size_t i = 0; i < x.n_source; i++)
        x.by_id[i] = (struct indexed){p->inv->pools[i].is.id ? p->inv->pools[i].is.id : "", i};
    order_sort(x.by_id, x.n_source, sizeof *x.by_id, order_texts);
    for (size_t i = 0; i < x.n_source; i++)
        x.up[i] = find_pool(&x, p->inv->pools[i].parent);
    for (size_t i = 0; i < p->o->n_pools; i++)
        (void)target_of(&x, i);
    for (size_t i = 0; i < p->o->n_pools; i++) {
        struct pool_facts *f = &p->inv->pools[x.targets[i].pool].is;

        if (f->origin == RULE_OF_SOURCE && !f->overridden) {
            f->overridden = true;
            memcpy(f->source_alloc, f->alloc, sizeof f->alloc);
        }
        set_alloc(p->o->pools[i].set, f->alloc);
    }
    fill_pools(&x);
    find_empty(&x);
    find_not_enforced(&x);
}

/* ---- contradictions ---- */

/* The limit counts: a reservation above it could never be used. */
static bool mend(struct alloc alloc[RES_COUNT])
{
    bool wrong = false;

    for (int r = 0; r < RES_COUNT; r++) {
        wrong = wrong || alloc[r].reservation > alloc[r].limit;
        alloc[r].reservation = alloc[r].reservation > alloc[r].limit ? alloc[r].limit : alloc[r].reservation;
    }
    return wrong;
}

/* Objects that share a contradiction, of which the first is named. */
struct mended {
    const char *first;
    size_t n;
};

static void add_mended(struct mended *m, const char *name, const char *id)
{
    m->first = m->n++ == 0 ? (name ? name : id) : m->first;
}

static void find_mended(struct application *p, const struct mended *m, const char *problem)
{
    if (m->n == 0)
        return;
    const char *more = m->n > 1 ? arena_printf(p->a, " (and of %zu more)", m->n - 1) : "";

    application_find(p, arena_printf(p->a, "the reservation of %s%s %s", m->first, more, problem));
}

/* By entry: how many VMs have other settings than in the source. */
static void find_vms_not_enforced(struct application *p)
{
    size_t *n = p->set_by ? arena_array(p->a, size_t, p->o->n_vms) : NULL;

    for (size_t i = 0; n && i < p->inv->n_vms; i++) {
        const struct vm_facts *f = &p->inv->vms[i].is;
        bool same = p->inv->vm_controls ? same_of(&f->alloc[RES_MEM], &f->source_alloc[RES_MEM])
                                        : same_alloc(f->alloc, f->source_alloc);

        if (p->set_by[i] > 0 && f->overridden && !same)
            n[p->set_by[i] - 1]++;
    }
    for (size_t i = 0; n && i < p->o->n_vms; i++)
        if (n[i] > 0)
            application_find(
                p,
                arena_printf(p->a,
                             p->inv->vm_controls
                                 ? "vms.%zu sets what the source does not have of the memory of %zu VM%s, so "
                                   "no hypervisor enforces it"
                                 : "vms.%zu sets what the source does not have of %zu VM%s, so no hypervisor "
                                   "enforces it",
                             i, n[i], n[i] == 1 ? "" : "s"));
}

void application_check_resources(struct application *p)
{
    struct mended limited = {0}, large = {0};

    for (size_t i = 0; i < p->inv->n_pools; i++) {
        struct pool_facts *f = &p->inv->pools[i].is;

        if ((f->overridden || f->origin != RULE_OF_SOURCE) && mend(f->alloc))
            add_mended(&limited, f->name, f->id);
        if (f->overridden && same_alloc(f->alloc, f->source_alloc))
            forget_source_of_pool(f);
    }
    for (size_t i = 0; i < p->inv->n_vms; i++) {
        struct seen_vm *v = &p->inv->vms[i];
        struct alloc *mem = &v->is.alloc[RES_MEM];

        if (!v->is.overridden)
            continue;
        if (mem->reservation > v->is.mem_mb) {
            mem->reservation = v->is.mem_mb;
            add_mended(&large, v->is.name, v->is.id);
        }
        if (mend(v->is.alloc))
            add_mended(&limited, v->is.name, v->is.id);
        if (same_alloc(v->is.alloc, v->is.source_alloc) && texts_same(v->pool, v->source_pool))
            forget_source_of_vm(v);
    }
    find_mended(p, &limited, "is above the limit and counts as much as the limit");
    find_mended(p, &large, "is above the memory size and counts as much as the size");
    find_vms_not_enforced(p);
}
