/* action_facts.c: moves, starts, power changes and maintenance that are under way or approved, put into an
 * inventory that does not show them yet. */
#include "engine/actions/action_facts.h"

#include "base/idmap.h"
#include "engine/actions/action.h"
#include "engine/actions/own_maintenance.h"
#include "engine/actions/power_outcome.h"
#include "engine/actions/standby_maintenance.h"
#include "engine/knowledge/hosts.h"
#include "engine/state.h"

#include <string.h>

/* ---- hosts that their manager has lost -------------------------------------------------------- */

/* What a host that its manager has lost is because of us: many managers show one so that sleeps, or is on its
 * way there. HOST_DISCONNECTED: it is no doing of ours. */
static enum host_state lost_because_of_us(const struct engine *e, const char *host)
{
    const struct known_host *k = hosts_find(e->knowledge->hosts, host);

    if (k && k->r.put_down != 0)
        return HOST_STANDBY;
    const struct action_list *its = &slot_usage_of_host(e->actions, host)->actions;

    for (size_t i = 0; i < its->n; i++) {
        const struct action *x = its->items[i];

        if (x->r.kind != ACTION_POWER_OFF || strcmp(x->r.host, host) != 0)
            continue;
        if (x->r.state == ACTION_VERIFYING && x->r.unclear == 0)
            return HOST_STANDBY;
        if (x->r.state == ACTION_RUNNING || x->r.state == ACTION_STARTING) /* the call may have arrived */
            return HOST_ENTERING_STANDBY;
    }
    return power_outcome_off_completed_late(e, host) ? HOST_STANDBY : HOST_DISCONNECTED;
}

/* Hosts on which a VM runs, as far as the source knows. Only where that is asked: by hundreds of hosts that
 * sleep, where the source shows them as lost, or by none. */
static const struct idmap *busy_hosts(const struct inventory *inv, struct idmap *set)
{
    if (set->n > 0)
        return set;
    for (size_t i = 0; i < inv->n_vms; i++) {
        const char *host = inv->vms[i].is.state == VM_ON ? inv->vms[i].host : NULL;

        if (host)
            *idmap_slot(set, host) = (void *)(uintptr_t)host;
    }
    return set;
}

void action_facts_explain_lost_hosts(struct engine *e, struct inventory *inv)
{
    struct hosts *hosts = e->knowledge->hosts;
    struct idmap busy = {0};

    own_maintenance_fill(e, inv);
    for (size_t i = 0; i < inv->n_hosts; i++) {
        struct host_facts *f = &inv->hosts[i].is;

        if (!f->id)
            continue;
        bool held = standby_maintenance_explain(e, f, inv->time);
        bool lost = f->state == HOST_DISCONNECTED;

        if (lost && f->cores > 0 && !idmap_get(busy_hosts(inv, &busy), f->id))
            f->state = lost_because_of_us(e, f->id);
        if (f->state != HOST_DISCONNECTED)
            f->disconnected_why = NULL;
        if (lost && f->state == HOST_STANDBY && power_outcome_off_completed_late(e, f->id))
            hosts_put_down(hosts, f->id, inv->time);
        hosts_set_seen(hosts, f->id, lost && f->state == HOST_ENTERING_STANDBY, held);
    }
    idmap_release(&busy, NULL);
}

/* ---- what is left alone, and why --------------------------------------------------------------- */

/* The wake of ours that is not over yet: the inventory that is being filled may be the one that ends it. */
static struct woken being_woken(const struct engine *e, const char *host)
{
    const struct action_list *its = &slot_usage_of_host(e->actions, host)->actions;

    for (size_t i = 0; i < its->n; i++) {
        const struct action *x = its->items[i];

        if (x->r.kind == ACTION_POWER_ON && action_committed(x) && strcmp(x->r.host, host) == 0)
            return (struct woken){.at = x->r.approved, .reason = x->r.reason};
    }
    return (struct woken){0};
}

/* What a host is being woken for, and for how long it is left alone after a wake or a standby that failed. */
static void fill_host(const struct engine *e, struct host_facts *f, instant_s now)
{
    const struct known_host *k = hosts_find(e->knowledge->hosts, f->id);
    struct backoff *wake = idmap_get(&e->actions->wake_backoff, f->id);
    struct backoff *sleep = idmap_get(&e->actions->standby_backoff, f->id);

    backoff_clock(wake, now);
    backoff_clock(sleep, now);
    if (!hosts_is_up(f->state)) {
        if (k && k->r.wake_failed != 0 && wake && wake->until > now)
            f->wake_failed_at = k->r.wake_failed;
        return;
    }
    const struct woken coming = being_woken(e, f->id);

    if (coming.at != 0)
        f->woken = coming;
    if (sleep && sleep->until > now && f->on_since < sleep->tried)
        f->on_since = sleep->tried < now ? sleep->tried : now;
}

/* ---- what is under way or approved ------------------------------------------------------------ */

/* Indices of an inventory's objects, by id. */
struct finder {
    struct idmap vms, hosts;
};

static void finder_init(struct finder *f, struct inventory *inv)
{
    for (size_t i = 0; i < inv->n_vms; i++) {
        if (inv->vms[i].is.id)
            *idmap_slot(&f->vms, inv->vms[i].is.id) = &inv->vms[i];
    }
    for (size_t i = 0; i < inv->n_hosts; i++) {
        if (inv->hosts[i].is.id)
            *idmap_slot(&f->hosts, inv->hosts[i].is.id) = &inv->hosts[i];
    }
}

static void finder_release(struct finder *f)
{
    idmap_release(&f->vms, NULL);
    idmap_release(&f->hosts, NULL);
}

/* When a VM was moved last, or when a move of it last came to nothing: both keep it where it is for the
 * cool-down. What the source knows of moves by others counts too. An instant in the future tells of a clock
 * that was set back, and is taken for now: a rest is no longer than a rest. */
static void fill_last_migrated(const struct engine *e, struct inventory *inv, struct arena *a,
                               const struct finder *finder)
{
    const instant_s now = inv->time;

    for (size_t i = 0; i < inv->n_vms; i++) {
        struct vm_facts *f = &inv->vms[i].is;
        struct backoff *h = f->id ? idmap_get(&e->actions->vm_backoff, f->id) : NULL;

        if (!h)
            continue;
        backoff_clock(h, now);
        if (h->left && f->last_migrated <= h->moved && idmap_get(&finder->hosts, h->left))
            inv->vms[i].left_host = arena_strdup(a, h->left);
        if (f->last_migrated < h->moved)
            f->last_migrated = h->moved;
        if (f->last_migrated < h->tried)
            f->last_migrated = h->tried;
    }
}

static bool migration_listed(const struct inventory *inv, const char *vm)
{
    for (size_t i = 0; i < inv->n_migrations; i++) {
        if (inv->migrations[i].vm && strcmp(inv->migrations[i].vm, vm) == 0)
            return true;
    }
    return false;
}

/* The second move of an exchange in which the VM waits on a third host: from where the first one takes it. */
static bool continues_a_move(const struct inventory *inv, const struct action *x)
{
    for (size_t i = 0; i < inv->n_migrations; i++) {
        const struct seen_migration *m = &inv->migrations[i];
        if (m->vm && m->to && strcmp(m->vm, x->r.vm) == 0 && strcmp(m->to, x->r.from) == 0)
            return true;
    }
    for (size_t i = 0; i < inv->n_pending; i++) {
        const struct seen_pending *p = &inv->pending[i];
        if (p->vm && p->to && strcmp(p->vm, x->r.vm) == 0 && strcmp(p->to, x->r.from) == 0)
            return true;
    }
    return false;
}

/* A VM has one action at a time; should it ever be given two, the first counts, and one that continues it. */
static bool pending_listed(const struct inventory *inv, const char *vm)
{
    for (size_t i = 0; i < inv->n_pending; i++) {
        if (inv->pending[i].vm && strcmp(inv->pending[i].vm, vm) == 0)
            return true;
    }
    return false;
}

/* A move of ours: in flight, or approved and not begun. What the inventory contradicts (the VM or a host is
 * gone, the VM is elsewhere) is left out; the action finds out by itself. */
static void add_move(struct inventory *inv, struct arena *a, const struct finder *f, const struct action *x)
{
    struct seen_vm *v = idmap_get(&f->vms, x->r.vm);

    if (v && v->host && x->r.state != ACTION_APPROVED && strcmp(v->host, x->r.to) == 0) {
        v->is.last_migrated = inv->time; /* it has just arrived */
        v->left_host = idmap_get(&f->hosts, x->r.from) ? arena_strdup(a, x->r.from) : NULL;
    }
    if (!v || v->is.state != VM_ON || !v->host || !idmap_get(&f->hosts, x->r.from) ||
        !idmap_get(&f->hosts, x->r.to))
        return;
    bool listed = migration_listed(inv, x->r.vm) || pending_listed(inv, x->r.vm);
    if (listed ? x->r.state != ACTION_APPROVED || !continues_a_move(inv, x) : strcmp(v->host, x->r.from) != 0)
        return;
    if (x->r.state == ACTION_APPROVED) {
        *inventory_add_pending(inv, a) = (struct seen_pending){.action = ACTION_MIGRATE,
                                                               .vm = arena_strdup(a, x->r.vm),
                                                               .from = arena_strdup(a, x->r.from),
                                                               .to = arena_strdup(a, x->r.to)};
    } else {
        *inventory_add_migration(inv, a) = (struct seen_migration){.vm = arena_strdup(a, x->r.vm),
                                                                   .from = arena_strdup(a, x->r.from),
                                                                   .to = arena_strdup(a, x->r.to),
                                                                   .started = x->r.started};
    }
}

/* A VM that is to be powered on, begun or not: it weighs where it will be, until the inventory shows it run.
 */
static void add_start(struct inventory *inv, struct arena *a, const struct finder *f, const struct action *x)
{
    const struct seen_vm *v = idmap_get(&f->vms, x->r.vm);

    if (!v || v->is.state == VM_ON || !idmap_get(&f->hosts, x->r.to) || pending_listed(inv, x->r.vm))
        return;
    *inventory_add_pending(inv, a) = (struct seen_pending){
        .action = ACTION_PLACE, .vm = arena_strdup(a, x->r.vm), .to = arena_strdup(a, x->r.to)};
}

/* A host that is to be woken, or is being woken and does not show it yet. */
static void add_wake(struct inventory *inv, struct arena *a, const struct finder *f, const struct action *x)
{
    const struct seen_host *h = idmap_get(&f->hosts, x->r.host);

    if (h && h->is.state == HOST_STANDBY)
        *inventory_add_pending(inv, a) =
            (struct seen_pending){.action = ACTION_POWER_ON, .host = arena_strdup(a, x->r.host)};
}

/* A host that an admin wants out of service is to be evacuated, whether the source knows it yet or not. */
static void add_maintenance(const struct finder *f, const struct action *x)
{
    struct seen_host *h = idmap_get(&f->hosts, x->r.host);

    if (h && h->is.state == HOST_ON)
        h->is.state = HOST_ENTERING_MAINTENANCE;
    else if (h && h->is.state == HOST_STANDBY)
        h->is.dpm = AUTOMATION_DISABLED; /* an admin may be working on the host: it is not woken */
}

/* One that is to sleep: nothing goes there any more, and what runs there leaves. */
static void add_standby(const struct finder *f, const struct action *x)
{
    struct seen_host *h = idmap_get(&f->hosts, x->r.host);

    if (h && h->is.state == HOST_ON)
        h->is.state = HOST_ENTERING_STANDBY;
}

static void fill_action(struct inventory *inv, struct arena *a, const struct finder *f,
                        const struct action *x)
{
    switch (x->r.kind) {
    case ACTION_MIGRATE:
        add_move(inv, a, f, x);
        return;
    case ACTION_PLACE:
        add_start(inv, a, f, x);
        return;
    case ACTION_POWER_ON:
        add_wake(inv, a, f, x);
        return;
    case ACTION_ENTER_MAINTENANCE:
        add_maintenance(f, x);
        return;
    case ACTION_POWER_OFF:
        add_standby(f, x);
        return;
    case ACTION_EXIT_MAINTENANCE:
    case action_kind_count:
        return;
    }
}

/* What the last pass recommends and nobody has approved. What the inventory contradicts is left out. */
static void fill_standing(const struct engine *e, struct inventory *inv, struct arena *a,
                          const struct finder *f)
{
    const struct action_record **list;
    size_t n = engine_actions(e, a, &list);

    for (size_t i = 0; i < n; i++) {
        const struct action_record *r = list[i];
        const struct seen_vm *v = r->vm ? idmap_get(&f->vms, r->vm) : NULL;
        bool known = r->kind == ACTION_MIGRATE ? v && v->is.state == VM_ON && idmap_get(&f->hosts, r->from) &&
                                                     idmap_get(&f->hosts, r->to)
                                               : r->host && idmap_get(&f->hosts, r->host);
        if (!known || r->state != ACTION_RECOMMENDED || r->reason == REASON_WAKE_TEST)
            continue;
        *inventory_add_standing(inv, a) = (struct seen_pending){
            .action = r->kind,
            .vm = arena_strdup(a, r->vm),
            .from = arena_strdup(a, r->from),
            .to = arena_strdup(a, r->to),
            .host = arena_strdup(a, r->host),
            .reason = r->reason,
            .group = r->group,
            .since = r->redirected != 0 ? r->redirected : r->created,
        };
    }
}

void action_facts_fill(const struct engine *e, struct inventory *inv, struct arena *a)
{
    struct finder f = {0};

    inv->moves_off_vms = (e->settings.operations & 1u << OPERATION_MIGRATE_OFF) != 0;
    finder_init(&f, inv);
    fill_last_migrated(e, inv, a, &f);
    for (size_t i = 0; i < inv->n_hosts; i++) {
        if (inv->hosts[i].is.id)
            fill_host(e, &inv->hosts[i].is, inv->time);
    }
    for (size_t i = 0; i < e->actions->n; i++) {
        const struct action *x = e->actions->list[i];

        if (action_committed(x))
            fill_action(inv, a, &f, x);
        else if (power_outcome_off_uncertain(e, x, inv->time))
            add_standby(&f, x);
    }
    fill_standing(e, inv, a, &f);
    finder_release(&f);
}

size_t action_facts_wakes(const struct engine *e, struct arena *a, const struct wake_under_way **ret)
{
    const struct action_list *power = &e->actions->usage.power;
    struct wake_under_way *list = arena_array(a, struct wake_under_way, power->n);
    size_t n = 0;

    for (size_t i = 0; i < power->n; i++) {
        const struct action *x = power->items[i];

        if (x->r.kind == ACTION_POWER_ON && action_committed(x))
            list[n++] = (struct wake_under_way){
                .host = x->r.host,
                .reason = x->r.reason,
                .asked = x->r.state == ACTION_RUNNING || x->r.state == ACTION_VERIFYING,
            };
    }
    *ret = list;
    return n;
}
