/* hosts.c: what is remembered of each host's power, because the source does not say it or would forget it. */
#include "engine/internal.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BOOT_LEAST_S 5   /* a boot that was shorter ... */
#define BOOT_MOST_S 7200 /* ... or longer than that was not timed, but misunderstood */
#define BOOT_NEWEST 0.25 /* what the newest boot counts for in the moving average */
#define TOUCH_S (24 * 3600)

static struct known_host *known(struct engine *e, const char *host)
{
    void **slot = idmap_slot(&e->hosts, host);

    if (!*slot) {
        struct known_host *k = xcalloc(1, sizeof *k);

        k->r.boot_s = UNKNOWN;
        k->state = host_state_count;
        *slot = k;
    }
    return *slot;
}

const struct known_host *hosts_find(const struct engine *e, const char *host)
{
    return idmap_get(&e->hosts, host);
}

/* Whoever has taken a way to wake it away may have taken the one that worked: which it was is not known. */
static bool has_its_ways(const struct host_record *r, const struct host_facts *f)
{
    return f->wake_methods == 0 || (r->woke_by & ~f->wake_methods) == 0;
}

/* A proof that came with the newest inventory is not in it yet. */
bool hosts_is_proven(const struct engine *e, const struct host_facts *f)
{
    const struct known_host *k = hosts_find(e, f->id);

    if (!k)
        return f->wake_verified;
    return k->r.wake_failed == 0 && (f->wake_verified || (k->r.woke != 0 && has_its_ways(&k->r, f)));
}

bool hosts_has_failed(const struct engine *e, const char *host)
{
    const struct known_host *k = hosts_find(e, host);

    return k && k->r.wake_failed != 0;
}

static void changed(struct engine *e, struct known_host *k)
{
    k->dirty = true;
    e->hosts_dirty = true;
}

/* ---- what an inventory says ------------------------------------------------------------------ */

static bool is_up(enum host_state s)
{
    return s == HOST_ON || s == HOST_ENTERING_STANDBY || s == HOST_ENTERING_MAINTENANCE;
}

/* Whether a host that is seen now was known not to be in service before. */
static bool was_out(const struct known_host *k)
{
    return k->r.standby_since != 0 || k->r.put_down != 0 || k->state == HOST_STANDBY ||
           k->state == HOST_POWERING_ON || k->state == HOST_MAINTENANCE;
}

/* What is known of the host once it was seen in this state. */
static struct host_record follow(const struct known_host *k, enum host_state state, instant_s now)
{
    struct host_record r = k->r;

    if (is_up(state) || state == HOST_MAINTENANCE) {
        if (is_up(state) && was_out(k))
            r.on_since = now;
        else if (state == HOST_MAINTENANCE)
            r.on_since = 0;
        r.standby_since = r.put_down = 0;
        if (state == HOST_MAINTENANCE)
            r.woken = (struct woken){0};
    } else if (state == HOST_STANDBY) {
        bool was_seen = k->state != host_state_count || r.on_since != 0 || r.put_down != 0;

        if (r.standby_since == 0 && was_seen && k->state != HOST_STANDBY)
            r.standby_since = r.put_down != 0 ? r.put_down : now;
        r.on_since = 0;
        r.woken = (struct woken){0};
    }
    return r;
}

bool hosts_is_unseen(const struct engine *e, const char *host)
{
    const struct known_host *k = hosts_find(e, host);

    return k && k->unseen;
}

/* What a host that its manager has lost is because of us: many managers show one so that sleeps, or is on its
 * way there. HOST_DISCONNECTED: it is no doing of ours. */
static enum host_state lost_because_of_us(const struct engine *e, const char *host)
{
    const struct known_host *k = hosts_find(e, host);

    if (k && k->r.put_down != 0)
        return HOST_STANDBY;
    const struct action_list *its = &host_use(e, host)->actions;

    for (size_t i = 0; i < its->n; i++) {
        const struct action *x = its->items[i];

        if (x->r.kind != ACTION_POWER_OFF || strcmp(x->r.host, host) != 0)
            continue;
        if (x->r.state == ACTION_VERIFYING && !x->doubt)
            return HOST_STANDBY;
        if (x->r.state == ACTION_RUNNING)
            return HOST_ENTERING_STANDBY;
    }
    return power_went_late(e, host) ? HOST_STANDBY : HOST_DISCONNECTED;
}

/* Hosts on which a VM runs, as far as the source knows. Only where that is asked: by hundreds of hosts that
 * sleep, where the source shows them as lost, or by none. */
static const struct idmap *busy_hosts(const struct inventory *inv, struct idmap *set)
{
    for (size_t i = 0; set->n == 0 && i < inv->n_vms; i++) {
        const char *host = inv->vms[i].is.state == VM_ON ? inv->vms[i].host : NULL;

        if (host)
            *idmap_slot(set, host) = (void *)(uintptr_t)host;
    }
    return set;
}

/* The wake of ours that is not over yet: the inventory that is being filled may be the one that ends it. */
static struct woken being_woken(const struct engine *e, const char *host)
{
    const struct action_list *its = &host_use(e, host)->actions;

    for (size_t i = 0; i < its->n; i++) {
        const struct action *x = its->items[i];

        if (x->r.kind == ACTION_POWER_ON && action_committed(x) && strcmp(x->r.host, host) == 0)
            return (struct woken){.at = x->r.approved, .reason = x->r.reason};
    }
    return (struct woken){0};
}

static void fill(const struct engine *e, struct host_facts *f, instant_s now)
{
    const struct known_host none = {.r = {.boot_s = UNKNOWN}, .state = host_state_count};
    const struct known_host *k = hosts_find(e, f->id);
    const struct host_record r = follow(k ? k : &none, f->state, now);
    const struct hold *wake = idmap_get(&e->host_holds, f->id);
    const struct hold *sleep = idmap_get(&e->sleep_holds, f->id);

    if (is_up(f->state) && f->on_since == 0)
        f->on_since = r.on_since;
    if (f->state == HOST_STANDBY && f->standby_since == 0)
        f->standby_since = r.standby_since;
    if (is_up(f->state)) {
        struct woken coming = being_woken(e, f->id);

        f->woken = coming.at != 0 ? coming : r.woken;
    }
    if (isnan(f->boot_s))
        f->boot_s = r.boot_s;
    f->wake_verified = hosts_is_proven(e, f);
    if (!is_up(f->state) && r.wake_failed != 0 && wake && wake->until > now)
        f->wake_failed_at = r.wake_failed;
    if (is_up(f->state) && sleep && sleep->until > now && f->on_since < sleep->tried)
        f->on_since = sleep->tried < now ? sleep->tried : now;
}

/* By id, else by a name that only one host has: the wrong one must never be switched. */
void hosts_match(struct engine *e, const struct inventory *inv)
{
    struct idmap ids = {0};
    struct idmap names = {0};
    static const char twice[] = "";

    idmap_release(&e->ways, NULL);
    e->ways = (struct idmap){0};
    for (size_t i = 0; e->settings.n_ways > 0 && i < inv->n_hosts; i++) {
        const struct host_facts *f = &inv->hosts[i].is;

        if (!f->id)
            continue;
        *idmap_slot(&ids, f->id) = (void *)(uintptr_t)f->id;
        if (f->name) {
            void **slot = idmap_slot(&names, f->name);

            *slot = (void *)(uintptr_t)(*slot ? twice : f->id);
        }
    }
    for (size_t i = 0; i < e->settings.n_ways; i++) {
        const struct host_way *way = &e->settings.ways[i];
        const char *by_id = idmap_get(&ids, way->name);
        const char *id = by_id ? by_id : idmap_get(&names, way->name);

        if (!id || id == twice)
            continue;
        void **slot = idmap_slot(&e->ways, id);

        if (!*slot || by_id) /* who names the id means it */
            *slot = (void *)(uintptr_t)way;
    }
    idmap_release(&ids, NULL);
    idmap_release(&names, NULL);
}

bool hosts_can(const struct engine *e, enum action_kind kind, const char *host)
{
    const struct host_way *way = idmap_get(&e->ways, host);

    if (way)
        return way->wakes != 0 && (kind == ACTION_POWER_ON || way->sleeps != 0);
    return (e->settings.operations & 1u << OPERATION_WAKE) &&
           (kind == ACTION_POWER_ON || (e->settings.operations & 1u << OPERATION_STANDBY));
}

instant_s hosts_wake_tries_s(const struct engine *e, const char *host)
{
    const struct host_way *way = idmap_get(&e->ways, host);

    return way ? way->tries_s : 0;
}

/* What the configuration says of the ways to switch a host counts; where it says something of some hosts,
 * those that cannot be switched are none of DPM's: that are on and nobody could put down, or wake again. One
 * that sleeps is woken when it is needed, though nobody could put it down a second time. */
static void fill_ways(const struct engine *e, struct host_facts *f)
{
    const struct host_way *way = idmap_get(&e->ways, f->id);
    bool sleeps = f->state == HOST_STANDBY || f->state == HOST_POWERING_ON;

    if (way)
        f->wake_methods = way->wakes;
    if (e->settings.n_ways > 0 && !hosts_can(e, sleeps ? ACTION_POWER_ON : ACTION_POWER_OFF, f->id))
        f->dpm = AUTOMATION_DISABLED;
}

static void fill_draws(const struct engine *e, struct host_facts *f)
{
    const struct host_way *way = idmap_get(&e->ways, f->id);

    if (!way || !way->draws)
        return;
    if (way->draws->watts.n > 0)
        host_facts_set_curve(f, &way->draws->watts);
    if (!isnan(way->draws->standby_w))
        f->power_standby_w = way->draws->standby_w;
}

void hosts_fill(struct engine *e, struct inventory *inv)
{
    struct idmap busy = {0};

    for (size_t i = 0; i < inv->n_hosts; i++) {
        struct host_facts *f = &inv->hosts[i].is;

        if (!f->id)
            continue;
        bool lost = f->state == HOST_DISCONNECTED;

        if (lost && !idmap_get(busy_hosts(inv, &busy), f->id))
            f->state = lost_because_of_us(e, f->id);
        if (lost && f->state == HOST_STANDBY && power_went_late(e, f->id))
            hosts_put_down(e, f->id, inv->time);
        known(e, f->id)->unseen = lost && f->state == HOST_ENTERING_STANDBY;
        fill_ways(e, f);
        fill_draws(e, f);
        fill(e, f, inv->time);
    }
    idmap_release(&busy, NULL);
}

/* What it was when it was last seen, also by an earlier process as far as that was stored. */
static enum host_state was(const struct known_host *k)
{
    if (k->state != host_state_count)
        return k->state;
    if (k->r.standby_since != 0 || k->r.put_down != 0)
        return HOST_STANDBY;
    return k->r.on_since != 0 ? HOST_ON : host_state_count;
}

/* names: the snapshot that has the host. */
static void tell(struct engine *e, enum event_kind kind, const struct snapshot *names, instant_s now,
                 const struct host_facts *f, enum host_state before, enum host_state is, const char *text)
{
    publish(e, &(struct event){.kind = kind,
                               .time = now,
                               .host = f->id,
                               .was = before,
                               .is = is,
                               .snapshot = names,
                               .text = text});
}

/* Each state that inventories show, whoever changed it. The first look at a host is none, unless an earlier
 * process saw it asleep and it is not, or the other way round. */
static void tell_change(struct engine *e, const struct snapshot *s, const struct host_facts *f,
                        const struct known_host *k)
{
    const enum host_state before = was(k);
    char text[256];

    if (before == f->state || before == host_state_count ||
        (k->state == host_state_count && before != HOST_STANDBY && f->state != HOST_STANDBY))
        return;
    (void)snprintf(text, sizeof text, "host %.100s was %s and is %s", f->name, host_state_name(before),
                   host_state_name(f->state));
    tell(e, EVENT_HOST, s, s->time, f, before, f->state, text);
}

/* Hosts that the inventory before this one had. Two inventories are compared, so that neither a start nor a
 * source that cannot be read for a while says anything of hosts. */
static void tell_lost(struct engine *e, const struct snapshot *before, const struct snapshot *s)
{
    char text[256];

    for (uint32_t i = 0; i < before->n_hosts; i++) {
        const struct host_facts *f = &before->hosts[i].is;
        const struct known_host *k = hosts_find(e, f->id);

        if (snapshot_find_host(s, f->id) != IX_NONE)
            continue;
        (void)snprintf(text, sizeof text, "host %.100s, which was %s, is not in the inventory any more%s",
                       f->name, host_state_name(f->state),
                       k && k->r.put_down != 0 ? "; Ballast has put it to standby" : "");
        tell(e, EVENT_HOST_LOST, before, s->time, f, f->state, host_state_count, text);
    }
}

/* One that the inventory before this one did not have: known from earlier, or new. */
static void tell_arrival(struct engine *e, const struct snapshot *before, const struct snapshot *s,
                         const struct host_facts *f, const struct known_host *k)
{
    const bool is_new = k->state == host_state_count && k->r.seen == 0;
    char text[256];

    if (snapshot_find_host(before, f->id) != IX_NONE)
        return;
    (void)snprintf(text, sizeof text, "host %.100s is %s and is %s", f->name,
                   is_new ? "new" : "in the inventory again", host_state_name(f->state));
    tell(e, is_new ? EVENT_HOST : EVENT_HOST_BACK, s, s->time, f, was(k), f->state, text);
}

void hosts_look(struct engine *e, const struct snapshot *s)
{
    const struct snapshot *before = engine_snapshot(e);

    if (before)
        tell_lost(e, before, s);
    for (uint32_t i = 0; i < s->n_hosts; i++) {
        const struct host_facts *f = &s->hosts[i].is;
        struct known_host *k = known(e, f->id);
        struct host_record r = follow(k, f->state, s->time);
        bool news = r.on_since != k->r.on_since || r.standby_since != k->r.standby_since ||
                    r.put_down != k->r.put_down || r.woken.at != k->r.woken.at;

        if (news || s->time - r.seen >= TOUCH_S || s->time < r.seen) {
            r.seen = s->time;
            changed(e, k);
        }
        if (before)
            tell_arrival(e, before, s, f, k);
        tell_change(e, s, f, k);
        k->r = r;
        k->state = f->state;
    }
}

/* ---- what our own actions say ---------------------------------------------------------------- */

static unsigned ways_of(const struct engine *e, const char *host)
{
    const struct snapshot *s = engine_snapshot(e);
    uint32_t ix = s ? snapshot_find_host(s, host) : IX_NONE;

    return ix == IX_NONE ? 0 : s->hosts[ix].is.wake_methods;
}

void hosts_woken(struct engine *e, const char *host, double boot_s, instant_s now)
{
    struct known_host *k = known(e, host);

    k->r.woke = now;
    k->r.woke_by = ways_of(e, host);
    k->r.wake_failed = 0;
    if (boot_s >= BOOT_LEAST_S && boot_s <= BOOT_MOST_S)
        k->r.boot_s = isnan(k->r.boot_s) ? boot_s : k->r.boot_s + BOOT_NEWEST * (boot_s - k->r.boot_s);
    changed(e, k);
}

void hosts_wanted(struct engine *e, const char *host, enum reason reason, instant_s since)
{
    struct known_host *k = known(e, host);

    k->r.woken = (struct woken){.at = since, .reason = reason};
    changed(e, k);
}

void hosts_wake_failed(struct engine *e, const char *host, instant_s now)
{
    struct known_host *k = known(e, host);

    k->r.wake_failed = now;
    changed(e, k);
}

void hosts_put_down(struct engine *e, const char *host, instant_s now)
{
    struct known_host *k = known(e, host);

    k->r.put_down = now;
    k->r.on_since = 0;
    if (k->r.standby_since == 0)
        k->r.standby_since = now;
    changed(e, k);
}

/* ---- what can be seen ------------------------------------------------------------------------ */

static int by_host(const void *a, const void *b)
{
    const struct asleep *x = a;
    const struct asleep *y = b;

    return strcmp(x->host, y->host);
}

size_t engine_asleep(const struct engine *e, struct arena *a, struct asleep **ret)
{
    const struct snapshot *s = engine_snapshot(e);
    struct asleep *list = arena_array(a, struct asleep, e->hosts.n);
    size_t n = 0;

    for (size_t i = 0; i < e->hosts.cap; i++) {
        const struct known_host *k = e->hosts.entries[i].value;
        const char *host = e->hosts.entries[i].key;

        if (!host || (k->r.standby_since == 0 && k->r.put_down == 0 && k->state != HOST_STANDBY))
            continue;
        list[n++] = (struct asleep){
            .host = host,
            .since = k->r.standby_since,
            .ours = k->r.put_down != 0,
            .there = s && snapshot_find_host(s, host) != IX_NONE,
            .boot_s = k->r.boot_s,
            .wake_failed = k->r.wake_failed,
        };
    }
    if (n > 0)
        qsort(list, n, sizeof *list, by_host);
    *ret = list;
    return n;
}

/* ---- the store ------------------------------------------------------------------------------- */

int hosts_store(const struct engine *e, struct err *err)
{
    for (size_t i = 0; i < e->hosts.cap; i++) {
        const struct known_host *k = e->hosts.entries[i].value;

        if (!e->hosts.entries[i].key || !k->dirty)
            continue;
        struct host_record r = k->r;
        int code;

        r.host = e->hosts.entries[i].key;
        if ((code = e->port.store_ops->put_host(e->port.store, &r, err)) < 0)
            return code;
    }
    return 0;
}

void hosts_stored(struct engine *e)
{
    for (size_t i = 0; e->hosts_dirty && i < e->hosts.cap; i++) {
        struct known_host *k = e->hosts.entries[i].value;

        if (e->hosts.entries[i].key)
            k->dirty = false;
    }
    e->hosts_dirty = false;
}

/* An instant in the future tells of a clock that was set back: taken for now. */
static instant_s past(instant_s t, instant_s now)
{
    return t < now ? t : now;
}

void hosts_recall(struct engine *e, const struct stored *s, instant_s now)
{
    for (size_t i = 0; i < s->n_hosts; i++) {
        struct host_record r = s->hosts[i];

        r.on_since = past(r.on_since, now);
        r.standby_since = past(r.standby_since, now);
        r.put_down = past(r.put_down, now);
        r.woke = past(r.woke, now);
        r.wake_failed = past(r.wake_failed, now);
        r.woken.at = past(r.woken.at, now);
        if (!(r.boot_s >= BOOT_LEAST_S && r.boot_s <= BOOT_MOST_S))
            r.boot_s = UNKNOWN;
        known(e, r.host)->r = r;
        known(e, s->hosts[i].host)->r.host = NULL; /* the map has it */
    }
}

/* Of another source the same ids may be other hosts, so they cannot be remembered; but not without a word. */
void hosts_disown(struct engine *e, const struct stored *s, instant_s now)
{
    char text[256];

    for (size_t i = 0; i < s->n_hosts; i++) {
        if (s->hosts[i].put_down == 0)
            continue;
        (void)snprintf(
            text, sizeof text,
            "host %.100s was put to standby by this service, and it is not known here any more that "
            "it sleeps: the configuration names another source than before",
            s->hosts[i].host);
        publish(e, &(struct event){.kind = EVENT_FAULT,
                                   .time = now,
                                   .fault = fault_code_count,
                                   .host = s->hosts[i].host,
                                   .text = text});
    }
}

/* One that sleeps because of us is never forgotten, however long nobody sees it. */
static bool keep_host(const char *key, void *value, void *ctx)
{
    const instant_s *before = ctx;
    const struct known_host *k = value;

    (void)key;
    if (k->r.put_down != 0 || k->r.seen >= *before)
        return true;
    free(value);
    return false;
}

void hosts_forget(struct engine *e, instant_s before)
{
    idmap_keep(&e->hosts, keep_host, &before);
}

static void free_known(void *value)
{
    free(value);
}

void hosts_release(struct engine *e)
{
    idmap_release(&e->hosts, free_known);
    idmap_release(&e->ways, NULL);
}
