/* hosts.c: what is remembered of each host's power, because the source does not say it or would forget it. */
#include "engine/knowledge/hosts_map.h"

#include "base/idmap.h"
#include "base/instant.h"
#include "base/order.h"
#include "base/xalloc.h"
#include "engine/events.h"
#include "engine/knowledge/host_events.h"
#include "engine/knowledge/left_hosts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BOOT_LEAST_S 5   /* a boot that was shorter ... */
#define BOOT_MOST_S 7200 /* ... or longer than that was not timed, but misunderstood */
#define BOOT_NEWEST 0.25 /* what the newest boot counts for in the moving average */
#define TOUCH_S (24 * 3600)
#define WAKE_FACTOR 3 /* a host that has not come after this many times its boot has failed to wake ... */
#define WAKE_MIN_S 60 /* ... and not before this */
#define WAKE_UNKNOWN_S 1800 /* where it is not known how long a boot takes */
#define OLDER_SHOWN 10      /* hosts that an event names */

struct known_host *hosts_known(struct hosts *h, const char *host)
{
    void **slot = idmap_slot(&h->map.of, host);

    if (!*slot) {
        struct known_host *k = xcalloc(1, sizeof *k);

        k->r.boot_s = UNKNOWN;
        k->state = host_state_count;
        *slot = k;
    }
    return *slot;
}

const struct known_host *hosts_find(const struct hosts *h, const char *host)
{
    return idmap_get(&h->map.of, host);
}

bool hosts_has_failed(const struct hosts *h, const char *host)
{
    const struct known_host *k = hosts_find(h, host);

    return k && k->r.wake_failed != 0;
}

struct known_host *hosts_change(struct hosts *h, const char *host)
{
    struct known_host *k = hosts_known(h, host);

    knowledge_touch(&h->map, &k->known);
    return k;
}

/* ---- what an inventory says ------------------------------------------------------------------ */

bool hosts_is_up(enum host_state s)
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

    if (hosts_is_up(state) || state == HOST_MAINTENANCE) {
        if (hosts_is_up(state) && was_out(k))
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

void hosts_set_seen(struct hosts *h, const char *host, bool unseen, bool held)
{
    struct known_host *k = hosts_known(h, host);

    k->unseen = unseen;
    k->held = held;
}

static void fill_host(const struct hosts *h, struct host_facts *f, instant_s now)
{
    const struct known_host none = {.r = {.boot_s = UNKNOWN}, .state = host_state_count};
    const struct known_host *k = hosts_find(h, f->id);
    const struct host_record r = follow(k ? k : &none, f->state, now);

    if (hosts_is_up(f->state) && f->on_since == 0)
        f->on_since = r.on_since;
    if (f->state == HOST_STANDBY && f->standby_since == 0)
        f->standby_since = r.standby_since;
    if (hosts_is_up(f->state))
        f->woken = r.woken;
    if (isnan(f->boot_s))
        f->boot_s = r.boot_s;
    f->wake_verified = hosts_is_proven(h, f);
    f->wake_failed_last = hosts_is_up(f->state) ? 0 : r.wake_failed;
}

/* Hosts by what an entry of the configuration may name them by. */
struct named_hosts {
    struct idmap ids, names; /* -> const char *: the host's id; "": several have the name */
};

static void add_named(struct named_hosts *all, const struct host_facts *f)
{
    void **slot;

    if (!f->id)
        return;
    *idmap_slot(&all->ids, f->id) = (void *)(uintptr_t)f->id;
    if (!f->name)
        return;
    slot = idmap_slot(&all->names, f->name);
    *slot = (void *)(uintptr_t)(*slot ? "" : f->id);
}

/* Finds out which host each of the settings' ways is meant for. By id, else by a name that only one host has:
 * the wrong one must never be switched. */
static void match_ways(struct hosts *h, struct named_hosts *all)
{
    idmap_release(&h->ways, NULL);
    h->ways = (struct idmap){0};
    for (size_t i = 0; i < h->settings->n_ways; i++) {
        const struct host_power_method *way = &h->settings->ways[i];
        const char *by_id = idmap_get(&all->ids, way->name);
        const char *id = by_id ? by_id : idmap_get(&all->names, way->name);

        if (!id || !*id)
            continue;
        void **slot = idmap_slot(&h->ways, id);

        if (!*slot || by_id) /* who names the id means it */
            *slot = (void *)(uintptr_t)way;
    }
    idmap_release(&all->ids, NULL);
    idmap_release(&all->names, NULL);
}

void hosts_match_entries(struct hosts *h, const struct snapshot *s)
{
    struct named_hosts all = {0};

    for (uint32_t i = 0; i < s->n_hosts; i++)
        add_named(&all, &s->hosts[i].is);
    match_ways(h, &all);
}

bool hosts_can(const struct hosts *h, enum action_kind kind, const char *host)
{
    const struct host_power_method *way = idmap_get(&h->ways, host);

    if (way)
        return way->wakes != 0 && (kind == ACTION_POWER_ON || way->sleeps != 0);
    return (h->settings->operations & 1u << OPERATION_WAKE) &&
           (kind == ACTION_POWER_ON || (h->settings->operations & 1u << OPERATION_STANDBY));
}

bool hosts_has_controller(const struct hosts *h, const char *host)
{
    const struct host_power_method *way = idmap_get(&h->ways, host);

    return way && ((way->wakes | way->sleeps) & (WAKE_IPMI | WAKE_REDFISH | WAKE_WOL)) != 0;
}

/* The time that the tries of a wake may take beside the boot. */
static instant_s wake_tries_s(const struct hosts *h, const char *host)
{
    const struct host_power_method *way = idmap_get(&h->ways, host);

    return way ? way->tries_s : 0;
}

instant_s hosts_wake_limit_s(const struct hosts *h, const char *host, double boot_s)
{
    const instant_s tries = wake_tries_s(h, host);

    if (isnan(boot_s) || boot_s > 1e6)
        return WAKE_UNKNOWN_S + tries;
    return (boot_s * WAKE_FACTOR > WAKE_MIN_S ? (instant_s)(boot_s * WAKE_FACTOR) : WAKE_MIN_S) + tries;
}

/* Each of n ways has its share of the limit: a controller that says that the host is on, and errs, is not
 * found out before (actuators/power/wake.c). The last way then needs a boot. */
static void fill_tries(const struct hosts *h, struct host_facts *f)
{
    const struct host_power_method *way = idmap_get(&h->ways, f->id);
    const int n = way ? __builtin_popcount(way->wakes) : 0;
    const instant_s limit = hosts_wake_limit_s(h, f->id, f->boot_s);

    if (n > 1)
        f->wake_tries_s = (double)(limit - limit / n);
}

/* What the configuration says of the ways to switch a host counts; where it says something of some hosts,
 * hosts that are on and cannot be put to standby or woken are not managed by DPM. One
 * that sleeps is woken when it is needed, though it could not be put to standby a second time. */
static void fill_ways(const struct hosts *h, struct host_facts *f)
{
    const struct host_power_method *way = idmap_get(&h->ways, f->id);
    bool sleeps = f->state == HOST_STANDBY || f->state == HOST_POWERING_ON;

    if (way)
        f->wake_methods = way->wakes;
    if (h->settings->n_ways > 0 && !hosts_can(h, sleeps ? ACTION_POWER_ON : ACTION_POWER_OFF, f->id))
        f->dpm = AUTOMATION_DISABLED;
}

/* Of a host that left the inventory, DPM relies on no more than one wake, and only where Ballast put the host
 * to standby itself: it may have been taken away for good. After that a person decides. */
static void fill_left(const struct hosts *h, struct host_facts *f)
{
    const struct known_host *k = hosts_find(h, f->id);

    if (f->left_inventory && (k->r.put_down == 0 || k->r.wake_failed != 0))
        f->dpm = AUTOMATION_DISABLED;
}

static void fill_draws(const struct hosts *h, struct host_facts *f)
{
    const struct host_power_method *way = idmap_get(&h->ways, f->id);

    if (!way || !way->draws)
        return;
    if (way->draws->watts.n > 0)
        host_facts_set_curve(f, &way->draws->watts);
    if (!isnan(way->draws->standby_w))
        f->power_standby_w = way->draws->standby_w;
}

void hosts_add_left(struct hosts *h, struct inventory *inv, struct arena *a)
{
    h->map.dirty |= left_hosts_add(&h->map.of, inv, a);
}

static void fill(void *piece, const struct knowledge_context *c, struct inventory *inv, struct arena *a)
{
    struct hosts *h = piece;
    struct named_hosts all = {0};
    const char *older = "";
    size_t n_older = 0;

    for (size_t i = 0; i < inv->n_hosts; i++)
        add_named(&all, &inv->hosts[i].is);
    match_ways(h, &all);
    for (size_t i = 0; i < inv->n_hosts; i++) {
        struct host_facts *f = &inv->hosts[i].is;

        if (!f->id)
            continue;
        struct known_host *k = hosts_known(h, f->id);

        fill_ways(h, f);
        fill_left(h, f);
        fill_draws(h, f);
        if (!f->left_inventory)
            k->says_proven = f->wake_verified;
        if (k->r.woke_by != 0 && !wake_proofs_take_older(h, k, f->id) && n_older++ < OLDER_SHOWN)
            older = arena_printf(a, "%s%s%s", older, n_older > 1 ? ", " : "", f->name ? f->name : f->id);
        fill_host(h, f, inv->time);
        fill_tries(h, f);
        wake_proofs_fill_fault(h, f, a);
    }
    wake_proofs_tell_older(c, n_older, older, inv->time);
}

static void observe(void *piece, const struct knowledge_context *c, struct snapshot *s, struct arena *a)
{
    struct hosts *h = piece;

    (void)a;
    if (c->before)
        host_events_lost(c->engine, h, c->before, s);
    for (uint32_t i = 0; i < s->n_hosts; i++) {
        const struct host_facts *f = &s->hosts[i].is;
        struct known_host *k = hosts_known(h, f->id);

        if (f->left_inventory) {
            k->state = f->state;
            continue;
        }
        struct host_record r = follow(k, f->state, s->time);
        bool news = r.on_since != k->r.on_since || r.standby_since != k->r.standby_since ||
                    r.put_down != k->r.put_down || r.woken.at != k->r.woken.at;

        if (news || s->time - r.seen >= TOUCH_S || s->time < r.seen) {
            r.seen = s->time;
            knowledge_touch(&h->map, &k->known);
        }
        if (c->before)
            host_events_arrival(c->engine, c->before, s, f, k);
        host_events_change(c->engine, s, f, k);
        k->r = r;
        k->state = f->state;
    }
    h->map.dirty |= left_hosts_keep(&h->map.of, c->before, s);
}

/* ---- what our own actions say ---------------------------------------------------------------- */

void hosts_woken(struct hosts *h, const char *host, double boot_s, instant_s now)
{
    struct known_host *k = hosts_change(h, host);

    k->r.woke = now;
    k->r.wake_failed = 0;
    if (boot_s >= BOOT_LEAST_S && boot_s <= BOOT_MOST_S)
        k->r.boot_s = isnan(k->r.boot_s) ? boot_s : k->r.boot_s + BOOT_NEWEST * (boot_s - k->r.boot_s);
}

void hosts_wanted(struct hosts *h, const char *host, enum reason reason, instant_s since)
{
    hosts_change(h, host)->r.woken = (struct woken){.at = since, .reason = reason};
}

void hosts_wake_failed(struct hosts *h, const char *host, instant_s now)
{
    hosts_change(h, host)->r.wake_failed = now;
}

void hosts_put_down(struct hosts *h, const char *host, instant_s now)
{
    struct known_host *k = hosts_change(h, host);

    k->r.put_down = now;
    k->r.on_since = 0;
    if (k->r.standby_since == 0)
        k->r.standby_since = now;
}

void hosts_confirm_controllers(struct hosts *h, const char *host, const char *is, const char *by,
                               instant_s now)
{
    struct known_host *k = hosts_change(h, host);

    xalloc_set_text(&k->r.confirmed, is);
    xalloc_set_text(&k->r.confirmed_by, by);
    k->r.confirmed_at = now;
}

/* ---- what can be seen ------------------------------------------------------------------------ */

static bool is_listed(const struct snapshot *s, const char *host)
{
    uint32_t ix = s ? snapshot_find_host(s, host) : IX_NONE;

    return ix != IX_NONE && !s->hosts[ix].is.left_inventory;
}

size_t hosts_asleep(const struct hosts *h, const struct snapshot *s, struct arena *a, struct asleep **ret)
{
    struct asleep *list = arena_array(a, struct asleep, h->map.of.n);
    size_t n = 0;

    for (size_t i = 0; i < h->map.of.cap; i++) {
        const struct known_host *k = h->map.of.entries[i].value;
        const char *host = h->map.of.entries[i].key;

        if (!host || (k->r.standby_since == 0 && k->r.put_down == 0 && k->state != HOST_STANDBY &&
                      k->state != HOST_POWERING_ON))
            continue;
        list[n++] = (struct asleep){
            .host = host,
            .name = k->name && (!s || snapshot_find_host(s, host) == IX_NONE) ? k->name
                                                                              : snapshot_host_name(s, host),
            .since = k->r.standby_since,
            .ours = k->r.put_down != 0,
            .there = is_listed(s, host),
            .boot_s = k->r.boot_s,
            .wake_failed = k->r.wake_failed,
        };
    }
    order_sort(list, n, sizeof *list, order_texts);
    *ret = list;
    return n;
}

/* ---- the store ------------------------------------------------------------------------------- */

static int entry_persist(const char *host, const void *entry, const struct store_ops *ops, struct store *s,
                         struct err *err)
{
    struct host_record r = ((const struct known_host *)entry)->r;

    r.host = host;
    return ops->put(s, &(struct record){RECORD_HOST, .host = &r}, err);
}

/* An instant in the future tells of a clock that was set back: taken for now. */
static void recall(void *piece, const struct stored *s, instant_s now)
{
    struct hosts *h = piece;

    for (size_t i = 0; i < s->n_hosts; i++) {
        struct host_record r = s->hosts[i];

        r.on_since = instant_earlier(r.on_since, now);
        r.standby_since = instant_earlier(r.standby_since, now);
        r.put_down = instant_earlier(r.put_down, now);
        r.woke = instant_earlier(r.woke, now);
        r.wake_failed = instant_earlier(r.wake_failed, now);
        r.our_maintenance = instant_earlier(r.our_maintenance, now);
        r.maintenance = instant_earlier(r.maintenance, now);
        r.woken.at = instant_earlier(r.woken.at, now);
        if (!(r.boot_s >= BOOT_LEAST_S && r.boot_s <= BOOT_MOST_S))
            r.boot_s = UNKNOWN;
        struct known_host *k = hosts_known(h, r.host);

        k->r = r;
        k->r.host = NULL; /* the map has it */
        k->r.confirmed = xstrdup(r.confirmed);
        k->r.confirmed_by = xstrdup(r.confirmed_by);
        for (int m = 0; m < WAKE_METHODS; m++) {
            k->r.proofs[m].why = xstrdup(r.proofs[m].why);
            k->r.proofs[m].proven = instant_earlier(r.proofs[m].proven, now);
            k->r.proofs[m].failed = instant_earlier(r.proofs[m].failed, now);
        }
        k->r.facts = xstrdup(r.facts);
        left_hosts_recall(k);
    }
}

/* Of another source the same ids may be other hosts, so they cannot be remembered; but not without a word. */
static void disown(void *piece, struct engine *e, const struct stored *s, instant_s now)
{
    char text[256];

    (void)piece;
    for (size_t i = 0; i < s->n_hosts; i++) {
        if (s->hosts[i].put_down == 0)
            continue;
        (void)snprintf(
            text, sizeof text,
            "host %.100s was put to standby by this service, and it is not known here any more that "
            "it sleeps: the configuration names another source than before",
            s->hosts[i].host);
        events_publish(e, &(struct event){.kind = EVENT_FAULT,
                                          .time = now,
                                          .fault = fault_code_count,
                                          .host = s->hosts[i].host,
                                          .text = text});
    }
}

static void free_known(void *value)
{
    struct known_host *k = value;

    xalloc_set_text(&k->r.confirmed, NULL);
    xalloc_set_text(&k->r.confirmed_by, NULL);
    for (int m = 0; m < WAKE_METHODS; m++)
        xalloc_set_text(&k->r.proofs[m].why, NULL);
    xalloc_set_text(&k->r.facts, NULL);
    free(k->name);
    free(k);
}

/* A host that Ballast put to standby or has in maintenance is never forgotten, however long inventories do
 * not show it. */
static bool keep_host(const char *key, void *value, void *ctx)
{
    const instant_s *before = ctx;
    const struct known_host *k = value;

    (void)key;
    if (k->r.put_down != 0 || k->r.our_maintenance != 0 || k->r.maintenance != 0 || k->r.seen >= *before)
        return true;
    free_known(value);
    return false;
}

static void forget(void *piece, const struct retention *keep, instant_s now)
{
    struct hosts *h = piece;
    instant_s before = keep->hosts_before;

    (void)now;
    idmap_keep(&h->map.of, keep_host, &before);
}

/* ---- life ------------------------------------------------------------------------------------ */

static void configure(void *piece, const struct engine_settings *settings)
{
    struct hosts *h = piece;

    h->settings = settings;
}

static void release(void *piece)
{
    struct hosts *h = piece;

    idmap_release(&h->map.of, free_known);
    idmap_release(&h->ways, NULL);
    free(h);
}

const struct knowledge_ops hosts_ops = {
    .size = sizeof(struct hosts),
    .release = release,
    .entry_free = free_known,
    .entry_persist = entry_persist,
    .configure = configure,
    .fill = fill,
    .observe = observe,
    .recall = recall,
    .disown = disown,
    .forget = forget,
};
