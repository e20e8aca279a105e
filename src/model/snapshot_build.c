/* snapshot_build.c: sorts an inventory by id, resolves references, and checks what can be wrong between
 * objects. */
#include "model/snapshot_build.h"
#include "base/order.h"
#include "model/compatibility.h"
#include "model/find.h"
#include "model/inventory_check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A kind of object, sorted by id. */
struct entry {
    const char *id; /* first, for find_id() */
    uint32_t seen;  /* index in the inventory */
};

struct index {
    const char *kind;
    struct entry *sorted; /* position: the index in the snapshot */
    uint32_t *rank;       /* index in the inventory -> index in the snapshot */
    uint32_t n;
};

struct building {
    const struct inventory *inv;
    struct arena *a;
    struct snapshot *s;
    struct err *err;
    struct index hosts, vms, pools, rules;
};

static int by_id(const void *a, const void *b)
{
    const struct entry *x = a;
    const struct entry *y = b;
    int order = strcmp(x->id, y->id);

    if (order != 0)
        return order;
    return (x->seen > y->seen) - (x->seen < y->seen);
}

/* items: n structs of `stride` bytes; the first member of each is its id. */
static int index_init(struct building *f, const char *kind, const void *items, size_t n, size_t stride,
                      struct index *ret)
{
    if (n >= IX_NONE)
        return err_set(f->err, -EINVAL, "/%s: %zu objects are absurd, expected fewer than %u", kind, n,
                       IX_NONE);
    struct index x = {
        .kind = kind,
        .sorted = arena_array(f->a, struct entry, n),
        .rank = arena_array(f->a, uint32_t, n),
        .n = (uint32_t)n,
    };

    for (uint32_t i = 0; i < x.n; i++) {
        const char *const *id = (const void *)((const char *)items + i * stride);
        x.sorted[i] = (struct entry){.id = *id, .seen = i};
    }
    order_sort(x.sorted, x.n, sizeof *x.sorted, by_id);
    for (uint32_t i = 0; i < x.n; i++) {
        x.rank[x.sorted[i].seen] = i;
        if (i > 0 && strcmp(x.sorted[i].id, x.sorted[i - 1].id) == 0)
            return err_set(f->err, -EINVAL, "/%s/%u/id: \"%s\" is the id of /%s/%u already, expected another",
                           kind, x.sorted[i].seen, x.sorted[i].id, kind, x.sorted[i - 1].seen);
    }
    *ret = x;
    return 0;
}

static uint32_t index_find(const struct index *x, const char *id)
{
    return find_id(x->sorted, x->n, sizeof *x->sorted, id);
}

/* The index of the object whose id `field` holds; id NULL: IX_NONE. */
static int resolve(const struct place *at, const char *field, const struct index *x, const char *id,
                   uint32_t *ret)
{
    if (!id) {
        *ret = IX_NONE;
        return 0;
    }
    uint32_t ix = index_find(x, id);
    if (ix == IX_NONE)
        return inventory_check_refuse(
            at, field, "no object of /%s has the id \"%s\", expected one that is there", x->kind, id);
    *ret = ix;
    return 0;
}

static int resolve_all(struct building *f, const struct place *at, const char *field, const struct index *x,
                       const struct ids *ids, struct span *ret)
{
    if (ids->n == 0) {
        *ret = (struct span){0};
        return 0;
    }
    uint32_t *items = arena_array(f->a, uint32_t, ids->n);

    for (uint32_t i = 0; i < ids->n; i++) {
        items[i] = index_find(x, ids->items[i]);
        if (items[i] == IX_NONE) {
            char item[64];
            (void)snprintf(item, sizeof item, "%s/%u", field, i);
            return resolve(at, item, x, ids->items[i], &items[i]);
        }
    }
    qsort(items, ids->n, sizeof *items, order_indexes);
    for (uint32_t i = 1; i < ids->n; i++) {
        if (items[i] == items[i - 1])
            return inventory_check_refuse(at, field, "\"%s\" is listed twice, expected once",
                                          x->sorted[items[i]].id);
    }
    *ret = (struct span){.items = items, .n = ids->n};
    return 0;
}

static int build_hosts(struct building *f)
{
    struct snapshot *s = f->s;

    s->n_hosts = f->hosts.n;
    s->hosts = arena_array(f->a, struct host, s->n_hosts);
    for (uint32_t i = 0; i < s->n_hosts; i++) {
        const struct place at = {.kind = "hosts", .ix = i, .err = f->err};
        const struct seen_host *seen = &f->inv->hosts[i];
        struct host *h = &s->hosts[f->hosts.rank[i]];
        int r;

        h->is = seen->is;
        if (!h->is.name)
            h->is.name = h->is.id;
        for (int res = 0; res < RES_COUNT; res++)
            h->capacity[res] = h->is.total[res] - h->is.reserved[res];
        if ((r = resolve_all(f, &at, "agents_required", &f->vms, &seen->agents_required,
                             &h->agents_required)) < 0 ||
            (r = snapshot_build_sort_labels(&at, "labels", &h->is.labels, f->a)) < 0 ||
            (r = compatibility_sort_host(&at, &h->is, f->a)) < 0)
            return r;
    }
    return 0;
}

/* A running VM needs a host, in a state in which a host can run VMs. */
static int check_vm_place(const struct building *f, const struct place *at, const struct vm *v)
{
    if (v->is.state != VM_ON)
        return 0;
    if (v->host == IX_NONE)
        return inventory_check_refuse(at, "host", "missing though the VM is on, expected the id of its host");
    const struct host *h = &f->s->hosts[v->host];
    if (h->is.state == HOST_STANDBY || h->is.state == HOST_MAINTENANCE)
        return inventory_check_refuse(at, "host",
                                      "\"%s\" is in %s though the VM is on, expected a host that runs VMs",
                                      h->is.id, host_state_name(h->is.state));
    return 0;
}

static int build_vms(struct building *f)
{
    struct snapshot *s = f->s;

    s->n_vms = f->vms.n;
    s->vms = arena_array(f->a, struct vm, s->n_vms);
    for (uint32_t i = 0; i < s->n_vms; i++) {
        const struct place at = {.kind = "vms", .ix = i, .err = f->err};
        const struct seen_vm *seen = &f->inv->vms[i];
        struct vm *v = &s->vms[f->vms.rank[i]];
        int r;

        v->is = seen->is;
        if (!v->is.name)
            v->is.name = v->is.id;
        s->overridden |= v->is.overridden;
        s->needs_cells |= v->is.numa.n > 0 || v->is.device_requests.n > 0;
        v->compatible_given = seen->compatible_given;
        if ((r = resolve(&at, "host", &f->hosts, seen->host, &v->host)) < 0 ||
            (r = resolve(&at, "pool", &f->pools, seen->pool, &v->pool)) < 0 ||
            (r = resolve(&at, "source/pool", &f->pools, seen->is.overridden ? seen->source_pool : seen->pool,
                         &v->source_pool)) < 0 ||
            (r = resolve(&at, "ft_peer", &f->vms, seen->ft_peer, &v->ft_peer)) < 0 ||
            (r = snapshot_build_find_pipeline(s, &at, seen->pipeline, &v->pipeline)) < 0 ||
            (r = resolve(&at, "left_host", &f->hosts, seen->left_host, &v->left_host)) < 0 ||
            (r = check_vm_place(f, &at, v)) < 0 ||
            (r = snapshot_build_sort_labels(&at, "labels", &v->is.labels, f->a)) < 0 ||
            (r = compatibility_sort_vm(&at, &v->is, f->a)) < 0)
            return r;
        if (seen->compatible_given && (r = resolve_all(f, &at, "compatible_hosts", &f->hosts,
                                                       &seen->compatible_hosts, &v->compatible_hosts)) < 0)
            return r;
    }
    return 0;
}

/* A fault-tolerant pair is a primary and a secondary VM that refer to each other; a reference from one of
 * them is enough. */
static int build_ft_pairs(struct building *f)
{
    struct snapshot *s = f->s;

    for (uint32_t i = 0; i < s->n_vms; i++) {
        const struct place at = {.kind = "vms", .ix = i, .err = f->err};
        uint32_t ix = f->vms.rank[i];
        const struct vm *v = &s->vms[ix];
        if (v->ft_peer == IX_NONE)
            continue;
        struct vm *peer = &s->vms[v->ft_peer];
        enum vm_kind expected = v->is.kind == VM_FT_PRIMARY ? VM_FT_SECONDARY : VM_FT_PRIMARY;
        if (peer->is.kind != expected)
            return inventory_check_refuse(&at, "ft_peer", "\"%s\" is of kind \"%s\", expected %s",
                                          peer->is.id, vm_kind_name(peer->is.kind), vm_kind_name(expected));
        if (peer->ft_peer != IX_NONE && peer->ft_peer != ix)
            return inventory_check_refuse(&at, "ft_peer", "\"%s\" is the peer of \"%s\", expected \"%s\"",
                                          peer->is.id, s->vms[peer->ft_peer].is.id, v->is.id);
        peer->ft_peer = ix;
    }
    return 0;
}

static int build_pools(struct building *f)
{
    struct snapshot *s = f->s;

    s->n_pools = f->pools.n;
    s->pools = arena_array(f->a, struct pool, s->n_pools);
    for (uint32_t i = 0; i < s->n_pools; i++) {
        const struct place at = {.kind = "pools", .ix = i, .err = f->err};
        struct pool *p = &s->pools[f->pools.rank[i]];

        p->is = f->inv->pools[i].is;
        if (!p->is.name)
            p->is.name = p->is.id;
        s->overridden |= p->is.overridden || p->is.origin != RULE_OF_SOURCE;
        int r = resolve(&at, "parent", &f->pools, f->inv->pools[i].parent, &p->parent);
        if (r < 0)
            return r;
    }
    return 0;
}

/* From each pool up to the root or to a pool that is known to lead there: every pool is visited once. */
static int check_pool_tree(struct building *f)
{
    enum { UNSEEN, ON_THE_WAY, LEADS_TO_ROOT };
    const struct snapshot *s = f->s;
    unsigned char *mark = arena_array(f->a, unsigned char, s->n_pools);

    for (uint32_t i = 0; i < s->n_pools; i++) {
        const struct place at = {.kind = "pools", .ix = i, .err = f->err};
        uint32_t start = f->pools.rank[i];
        uint32_t p = start;
        while (p != IX_NONE && mark[p] == UNSEEN) {
            mark[p] = ON_THE_WAY;
            p = s->pools[p].parent;
        }
        if (p != IX_NONE && mark[p] == ON_THE_WAY)
            return inventory_check_refuse(&at, "parent",
                                          "the parents of \"%s\" go round in a circle, expected a tree",
                                          s->pools[p].is.id);
        for (p = start; p != IX_NONE && mark[p] == ON_THE_WAY; p = s->pools[p].parent)
            mark[p] = LEADS_TO_ROOT;
    }
    return 0;
}

static int build_rules(struct building *f)
{
    struct snapshot *s = f->s;

    s->n_rules = f->rules.n;
    s->rules = arena_array(f->a, struct rule, s->n_rules);
    for (uint32_t i = 0; i < s->n_rules; i++) {
        const struct place at = {.kind = "rules", .ix = i, .err = f->err};
        const struct seen_rule *seen = &f->inv->rules[i];
        struct rule *rule = &s->rules[f->rules.rank[i]];
        int r;

        rule->is = seen->is;
        if (!rule->is.name)
            rule->is.name = rule->is.id;
        if ((r = resolve_all(f, &at, "vms", &f->vms, &seen->vms, &rule->vms)) < 0 ||
            (r = resolve_all(f, &at, "hosts", &f->hosts, &seen->hosts, &rule->hosts)) < 0)
            return r;
    }
    return 0;
}

static int build_migrations(struct building *f)
{
    struct snapshot *s = f->s;
    const struct inventory *inv = f->inv;
    unsigned char *moving = arena_array(f->a, unsigned char, s->n_vms);

    s->n_migrations = (uint32_t)inv->n_migrations;
    s->migrations = arena_array(f->a, struct migration, s->n_migrations);
    for (uint32_t i = 0; i < s->n_migrations; i++) {
        const struct place at = {.kind = "migrations", .ix = i, .err = f->err};
        const struct seen_migration *seen = &inv->migrations[i];
        struct migration *m = &s->migrations[i];
        int r;

        if (!seen->vm || !seen->from || !seen->to)
            return inventory_check_refuse(&at,
                                          !seen->vm     ? "vm"
                                          : !seen->from ? "from"
                                                        : "to",
                                          "missing, expected an id");
        if ((r = resolve(&at, "vm", &f->vms, seen->vm, &m->vm)) < 0 ||
            (r = resolve(&at, "from", &f->hosts, seen->from, &m->from)) < 0 ||
            (r = resolve(&at, "to", &f->hosts, seen->to, &m->to)) < 0)
            return r;
        m->started = seen->started;
        const struct vm *v = &s->vms[m->vm];
        if (v->is.state != VM_ON)
            return inventory_check_refuse(&at, "vm", "\"%s\" is %s, expected a VM that is on", seen->vm,
                                          vm_state_name(v->is.state));
        if (m->from == m->to)
            return inventory_check_refuse(&at, "to", "\"%s\" is where it comes from, expected another host",
                                          seen->to);
        if (v->host != m->from && v->host != m->to)
            return inventory_check_refuse(&at, "vm", "\"%s\" runs on \"%s\", expected \"%s\" or \"%s\"",
                                          seen->vm, s->hosts[v->host].is.id, seen->from, seen->to);
        if (moving[m->vm]++)
            return inventory_check_refuse(
                &at, "vm", "\"%s\" is being migrated already, expected one migration of a VM", seen->vm);
    }
    order_sort(s->migrations, s->n_migrations, sizeof *s->migrations, order_indexes);
    return 0;
}

/* Whether the move takes the VM on from where the other one brings it. */
static bool continues(const struct pending *p, const struct pending *after)
{
    return p->action == ACTION_MIGRATE && after->action == ACTION_MIGRATE && p->from != IX_NONE &&
           p->from == after->to && p->to != after->from;
}

static int pending_order(const void *a, const void *b)
{
    const struct pending *x = a;
    const struct pending *y = b;

    if (x->vm != y->vm)
        return (x->vm > y->vm) - (x->vm < y->vm);
    if (x->host != y->host)
        return (x->host > y->host) - (x->host < y->host);
    if (x->action != y->action)
        return (int)x->action - (int)y->action;
    return continues(x, y) - continues(y, x);
}

/* The objects that an action must name: a migration its VM and destination, a placement its VM, a power
 * change its host. */
static int check_pending(const struct place *at, const struct seen_pending *p)
{
    bool of_vm = p->action == ACTION_MIGRATE || p->action == ACTION_PLACE;

    if (of_vm && !p->vm)
        return inventory_check_refuse(at, "vm", "missing, expected the VM of a %s",
                                      action_kind_name(p->action));
    if (of_vm && !p->to)
        return inventory_check_refuse(at, "to", "missing, expected the destination of a %s",
                                      action_kind_name(p->action));
    if (!of_vm && !p->host)
        return inventory_check_refuse(at, "host", "missing, expected the host of a %s",
                                      action_kind_name(p->action));
    return 0;
}

static int build_pending(struct building *f)
{
    struct snapshot *s = f->s;
    uint32_t *seen_at = arena_array(f->a, uint32_t, s->n_vms); /* + 1; IX_NONE: two already */

    s->n_pending = (uint32_t)f->inv->n_pending;
    s->pending = arena_array(f->a, struct pending, s->n_pending);
    for (uint32_t i = 0; i < s->n_pending; i++) {
        const struct place at = {.kind = "pending", .ix = i, .err = f->err};
        const struct seen_pending *seen = &f->inv->pending[i];
        struct pending *p = &s->pending[i];
        int r;

        p->action = seen->action;
        if ((r = check_pending(&at, seen)) < 0 || (r = resolve(&at, "vm", &f->vms, seen->vm, &p->vm)) < 0 ||
            (r = resolve(&at, "from", &f->hosts, seen->from, &p->from)) < 0 ||
            (r = resolve(&at, "to", &f->hosts, seen->to, &p->to)) < 0 ||
            (r = resolve(&at, "host", &f->hosts, seen->host, &p->host)) < 0)
            return r;
        uint32_t other = p->vm == IX_NONE ? 0 : seen_at[p->vm];
        if (other == IX_NONE ||
            (other > 0 && !continues(p, &s->pending[other - 1]) && !continues(&s->pending[other - 1], p)))
            return inventory_check_refuse(
                &at, "vm",
                "\"%s\" has a pending action already, expected one a VM, or a second "
                "move from where the first one ends",
                seen->vm);
        if (p->vm != IX_NONE)
            seen_at[p->vm] = other > 0 ? IX_NONE : i + 1;
    }
    order_sort(s->pending, s->n_pending, sizeof *s->pending, pending_order);
    return 0;
}

void snapshot_build_add_pending(struct snapshot *s, const struct recommendation *r, struct arena *a)
{
    struct pending *all = arena_array(a, struct pending, (size_t)s->n_pending + 1);

    for (uint32_t i = 0; i < s->n_pending; i++)
        all[i] = s->pending[i];
    s->pending = all;
    s->pending[s->n_pending++] = (struct pending){r->action, r->vm, r->from, r->to, r->host, 0, 0, 0};
    order_sort(s->pending, s->n_pending, sizeof *s->pending, pending_order);
}

static int rate_order(const void *a, const void *b)
{
    const struct migration_rate *x = a;
    const struct migration_rate *y = b;

    if (x->from != y->from)
        return (x->from > y->from) - (x->from < y->from);
    return (x->to > y->to) - (x->to < y->to);
}

static int build_migration_rates(struct building *f)
{
    struct snapshot *s = f->s;

    if (f->inv->n_migration_rates >= IX_NONE)
        return err_set(f->err, -EINVAL, "/migration_rates: %zu are absurd, expected fewer than %u",
                       f->inv->n_migration_rates, IX_NONE);
    s->n_migration_rates = (uint32_t)f->inv->n_migration_rates;
    s->migration_rates = arena_array(f->a, struct migration_rate, s->n_migration_rates);
    for (uint32_t i = 0; i < s->n_migration_rates; i++) {
        const struct place at = {.kind = "migration_rates", .ix = i, .err = f->err};
        const struct seen_migration_rate *seen = &f->inv->migration_rates[i];
        struct migration_rate *m = &s->migration_rates[i];
        int r = inventory_check_migration_rate(seen, i, f->err);

        if (r < 0 || (r = resolve(&at, "from", &f->hosts, seen->from, &m->from)) < 0 ||
            (r = resolve(&at, "to", &f->hosts, seen->to, &m->to)) < 0)
            return r;
        if (m->from == m->to)
            return inventory_check_refuse(&at, "to", "\"%s\" is where it comes from, expected another host",
                                          seen->to);
        m->rate_mb_s = seen->rate_mb_s;
    }
    order_sort(s->migration_rates, s->n_migration_rates, sizeof *s->migration_rates, rate_order);
    for (uint32_t i = 1; i < s->n_migration_rates; i++) {
        if (rate_order(&s->migration_rates[i - 1], &s->migration_rates[i]) == 0)
            return err_set(
                f->err, -EINVAL, "/migration_rates: from \"%s\" to \"%s\" is given twice, expected once",
                s->hosts[s->migration_rates[i].from].is.id, s->hosts[s->migration_rates[i].to].is.id);
    }
    return 0;
}

static int setting_order(const void *a, const void *b)
{
    const struct host_setting *x = a;
    const struct host_setting *y = b;

    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    return (x->pool > y->pool) - (x->pool < y->pool);
}

static int build_settings(struct building *f)
{
    struct snapshot *s = f->s;

    if (f->inv->n_settings >= IX_NONE)
        return err_set(f->err, -EINVAL, "/settings: %zu are absurd, expected fewer than %u",
                       f->inv->n_settings, IX_NONE);
    s->n_settings = (uint32_t)f->inv->n_settings;
    s->settings = arena_array(f->a, struct host_setting, s->n_settings);
    for (uint32_t i = 0; i < s->n_settings; i++) {
        const struct place at = {.kind = "settings", .ix = i, .err = f->err};
        const struct seen_setting *seen = &f->inv->settings[i];
        struct host_setting *h = &s->settings[i];
        int r = inventory_check_setting(seen, i, f->err);

        if (r < 0 || (r = resolve(&at, "host", &f->hosts, seen->host, &h->host)) < 0 ||
            (r = resolve(&at, "pool", &f->pools, seen->pool, &h->pool)) < 0)
            return r;
        memcpy(h->alloc, seen->alloc, sizeof h->alloc);
    }
    order_sort(s->settings, s->n_settings, sizeof *s->settings, setting_order);
    for (uint32_t i = 1; i < s->n_settings; i++) {
        const struct host_setting *h = &s->settings[i];
        if (setting_order(h, h - 1) == 0)
            return err_set(f->err, -EINVAL, "/settings: \"%s\" on \"%s\" is given twice, expected once",
                           s->pools[h->pool].is.id, s->hosts[h->host].is.id);
    }
    return 0;
}

static int build_ha(struct building *f)
{
    const struct place at = {.kind = "ha", .ix = NO_IX, .err = f->err};
    struct snapshot *s = f->s;
    struct span own;
    int r;
    s->ha = f->inv->ha;
    s->ha_configured = f->inv->ha_configured;
    if ((r = inventory_check_ha("ha", s->ha.percent, f->err)) < 0 ||
        (r = inventory_check_ha("ha/configured", s->ha_configured.percent, f->err)) < 0 ||
        (r = resolve_all(f, &at, "failover_hosts", &f->hosts, &f->inv->ha_failover_hosts,
                         &s->ha_failover_hosts)) < 0 ||
        (r = resolve_all(f, &at, "configured/failover_hosts", &f->hosts, &s->ha_configured.failover_hosts,
                         &own)) < 0)
        return r;
    for (uint32_t i = 0; s->ha.policy == HA_DEDICATED && i < s->ha_failover_hosts.n; i++)
        s->hosts[s->ha_failover_hosts.items[i]].failover = true;
    for (uint32_t i = 0; s->ha_configured.policy == HA_DEDICATED && i < own.n; i++)
        s->hosts[own.items[i]].failover = true;
    snapshot_build_promise(s);
    return 0;
}

static int index_all(struct building *f)
{
    const struct inventory *inv = f->inv;
    int r;

    if ((r = index_init(f, "hosts", inv->hosts, inv->n_hosts, sizeof *inv->hosts, &f->hosts)) < 0 ||
        (r = index_init(f, "vms", inv->vms, inv->n_vms, sizeof *inv->vms, &f->vms)) < 0 ||
        (r = index_init(f, "pools", inv->pools, inv->n_pools, sizeof *inv->pools, &f->pools)) < 0)
        return r;
    return index_init(f, "rules", inv->rules, inv->n_rules, sizeof *inv->rules, &f->rules);
}

int snapshot_build(const struct inventory *inv, struct arena *a, struct snapshot *ret, struct err *err)
{
    struct snapshot s = {.cluster = inv->cluster,
                         .time = inv->time,
                         .schedule = inv->schedule,
                         .balance = inv->balance,
                         .correlation = inv->correlation,
                         .conflicts = inv->conflicts,
                         .labels_unread = inv->labels_unread,
                         .source_faults = inv->source_faults,
                         .vm_controls = inv->vm_controls,
                         .moves_off_vms = inv->moves_off_vms,
                         .policy = inv->policy};
    struct building f = {.inv = inv, .a = a, .s = &s, .err = err};
    int r;

    /* in this order: each step relies on the checks of the steps before */
    if ((r = inventory_check_all(inv, err)) < 0 || (r = index_all(&f)) < 0 || (r = build_hosts(&f)) < 0 ||
        (r = snapshot_build_groups(inv, a, &s, err)) < 0 ||
        (r = snapshot_build_pipelines(inv, a, &s, err)) < 0 || (r = build_pools(&f)) < 0 ||
        (r = check_pool_tree(&f)) < 0 || (r = build_vms(&f)) < 0 || (r = build_ft_pairs(&f)) < 0 ||
        (r = build_rules(&f)) < 0 || (r = build_migrations(&f)) < 0 || (r = build_pending(&f)) < 0 ||
        (r = build_settings(&f)) < 0 || (r = build_migration_rates(&f)) < 0 || (r = build_ha(&f)) < 0 ||
        (r = snapshot_build_avoid(inv, a, &s, err)) < 0 ||
        (r = snapshot_build_answers(inv, a, &s, err)) < 0 ||
        (r = snapshot_build_forecast(inv, a, &s, err)) < 0 || (r = snapshot_build_quiet(inv, a, &s, err)) < 0)
        return r;
    snapshot_build_on_hosts(f.s, f.a);
    compatibility_compile(&s, a);
    *ret = s;
    return 0;
}
