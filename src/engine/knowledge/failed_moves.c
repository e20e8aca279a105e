/* failed_moves.c: counts failures by VM and host, by host, by VM and in the cluster, and says how long each
 * is avoided. Which failures count is decided where a move ends (actions/action_states.c). */
#include "engine/knowledge/failed_moves.h"

#include "base/idmap.h"
#include "base/xalloc.h"
#include "engine/knowledge/rejection_key.h"

#include <stdlib.h>
#include <string.h>

#define LAST_MOVES 20 /* of the cluster: avoid.cluster_failures of so many */
/* In the place of a host: the cluster's optional or mandatory moves that did harm. No host has these ids. */
#define HARM "\nharm"
#define HARM_MANDATORY "\nharm of mandatory moves"
#define REMEMBERED_S (24 * 3600) /* without another failure */
#define SOURCE_DESTINATIONS 2    /* to so many hosts the moves off one must fail before it is the cause */

/* By VM and host; "" stands for any: ("", h) is the host, (v, "") the VM, ("", "") the cluster, ("", HARM)
 * and ("", HARM_MANDATORY) its harmful moves. */
struct entry {
    struct failure_record r; /* owns its strings */
    bool gone;               /* to be forgotten by the store */
    bool dirty;
};

struct failed_moves {
    struct idmap entries;
    const struct policy *policy; /* borrowed until the next configure() */
    bool dirty;
};

/* ---- entries ---- */

static char *own(const char *text)
{
    return xstrdup(text ? text : "");
}

static void set_text(const char **at, const char *text)
{
    char *old = (char *)(uintptr_t)*at;

    *at = text ? xstrdup(text) : NULL;
    free(old);
}

static void entry_free(void *value)
{
    struct entry *x = value;

    if (!x)
        return;
    free((void *)(uintptr_t)x->r.vm);
    free((void *)(uintptr_t)x->r.host);
    free((void *)(uintptr_t)x->r.from);
    free((void *)(uintptr_t)x->r.reason);
    free(x);
}

/* Ids hold no newline. */
static char *key_of(const char *vm, const char *host)
{
    size_t n = strlen(vm);
    char *key = xcalloc(n + strlen(host) + 2, 1);

    memcpy(key, vm, n);
    key[n] = '\n';
    memcpy(key + n + 1, host, strlen(host));
    return key;
}

static struct entry *find_any(const struct failed_moves *f, const char *vm, const char *host)
{
    char *key = key_of(vm, host);
    struct entry *x = idmap_get(&f->entries, key);

    free(key);
    return x;
}

static struct entry *find(const struct failed_moves *f, const char *vm, const char *host)
{
    struct entry *x = find_any(f, vm, host);

    return x && !x->gone ? x : NULL;
}

static void touch(struct failed_moves *f, struct entry *x)
{
    x->dirty = true;
    f->dirty = true;
}

/* Found or made; the caller changes it. */
static struct entry *make(struct failed_moves *f, const char *vm, const char *host)
{
    struct entry *x = find_any(f, vm, host);

    if (!x) {
        char *key = key_of(vm, host);

        x = xcalloc(1, sizeof *x);
        x->r.vm = own(vm);
        x->r.host = own(host);
        *idmap_slot(&f->entries, key) = x;
        free(key);
    } else if (x->gone) {
        set_text(&x->r.from, NULL);
        set_text(&x->r.reason, NULL);
        x->r = (struct failure_record){.vm = x->r.vm, .host = x->r.host};
        x->gone = false;
    }
    touch(f, x);
    return x;
}

static void drop(struct failed_moves *f, struct entry *x)
{
    if (!x || x->gone)
        return;
    x->gone = true;
    touch(f, x);
}

static bool is_pair(const struct failure_record *r)
{
    return *r->vm && *r->host && r->host[0] != '\n';
}

/* An instant in the future tells of a clock that was set back: its age is unknown, and it holds nothing. */
static bool holds(const struct failure_record *r, instant_s now)
{
    return r->failed <= now && now < r->until;
}

#define EACH_ENTRY(f, x)                                                                                     \
    size_t i_ = 0;                                                                                           \
    i_ < (f)->entries.cap;                                                                                   \
    i_++)                                                                                                    \
        for (struct entry *x = (f)->entries.entries[i_].value; x && !x->gone; x = NULL

/* ---- how long ---- */

/* Twice as long each time. */
static instant_s pause_s(const struct failed_moves *f, uint32_t times)
{
    instant_s most = f->policy->avoid.pause_max_s;
    instant_s pause = f->policy->avoid.pause_s;

    for (uint32_t i = 1; i < times && pause < most; i++)
        pause *= 2;
    return pause < most ? pause : most;
}

/* A pause that holds is not made longer by moves that were under way when it began. */
static void begin_pause(struct failed_moves *f, struct entry *x, uint32_t failures, const struct move_end *m)
{
    bool paused = holds(&x->r, m->at);

    x->r.failures = failures;
    x->r.failed = m->at;
    set_text(&x->r.reason, m->why);
    if (paused)
        return;
    x->r.pauses++;
    x->r.until = m->at + pause_s(f, x->r.pauses);
}

/* ---- counting ---- */

struct run {
    struct idmap vms, hosts; /* distinct ones */
};

static void run_release(struct run *run)
{
    idmap_release(&run->vms, NULL);
    idmap_release(&run->hosts, NULL);
}

/* The pairs of this VM, this destination and this source (NULL: any) that failed since then. */
static void count_run(const struct failed_moves *f, const char *vm, const char *host, const char *from,
                      instant_s since, struct run *ret)
{
    *ret = (struct run){0};
    for (EACH_ENTRY(f, x)) {
        const struct failure_record *r = &x->r;

        if (!is_pair(r) || r->failed <= since || (vm && strcmp(r->vm, vm) != 0) ||
            (host && strcmp(r->host, host) != 0) || (from && (!r->from || strcmp(r->from, from) != 0)))
            continue;
        *idmap_slot(&ret->vms, r->vm) = x;
        *idmap_slot(&ret->hosts, r->host) = x;
    }
}

static bool any_pair(const struct failed_moves *f, const char *vm, const char *host, const char *from)
{
    struct run run;

    count_run(f, vm, host, from, 0, &run);
    bool any = run.vms.n > 0;
    run_release(&run);
    return any;
}

/* Where the moves of several VMs off one host to several others fail, the destinations are not the cause. */
static bool source_is_cause(const struct failed_moves *f, const char *from)
{
    const struct entry *source = find(f, "", from);
    struct run run;

    count_run(f, NULL, NULL, from, source ? source->r.departed : 0, &run);
    bool is = (int64_t)run.vms.n >= f->policy->avoid.host_failures && run.hosts.n >= SOURCE_DESTINATIONS;
    run_release(&run);
    return is;
}

static void count_for_vm(struct failed_moves *f, const struct move_end *m)
{
    const struct entry *vm = find(f, m->vm, "");
    struct run run;

    count_run(f, m->vm, NULL, NULL, vm ? vm->r.arrived : 0, &run);
    if ((int64_t)run.hosts.n >= f->policy->avoid.host_failures)
        begin_pause(f, make(f, m->vm, ""), (uint32_t)run.hosts.n, m);
    run_release(&run);
}

static void count_for_host(struct failed_moves *f, const struct move_end *m)
{
    const struct entry *host = find(f, "", m->to);
    struct run run;

    count_run(f, NULL, m->to, NULL, host ? host->r.arrived : 0, &run);
    if ((int64_t)run.vms.n >= f->policy->avoid.host_failures && !source_is_cause(f, m->from))
        begin_pause(f, make(f, "", m->to), (uint32_t)run.vms.n, m);
    run_release(&run);
}

static uint32_t failures_of(uint64_t recent)
{
    uint32_t n = 0;

    for (int i = 0; i < LAST_MOVES; i++)
        n += (uint32_t)(recent >> i & 1);
    return n;
}

/* host: "" for the failures of the cluster's moves, HARM and HARM_MANDATORY for those that did harm. */
static void count_for_cluster(struct failed_moves *f, const char *host, const struct move_end *m)
{
    struct entry *x = m->why ? make(f, "", host) : find(f, "", host);
    int64_t limit = f->policy->avoid.cluster_failures;

    if (!x)
        return;
    x->r.recent = (x->r.recent << 1 | (m->why != NULL)) & ((UINT64_C(1) << LAST_MOVES) - 1);
    x->r.failures = failures_of(x->r.recent);
    touch(f, x);
    if (x->r.failures == 0) {
        drop(f, x);
        return;
    }
    if (limit > 0 && x->r.failures >= limit) {
        if (m->why)
            begin_pause(f, x, x->r.failures, m);
        return;
    }
    x->r.until = 0; /* most of the last moves succeed again */
    if (x->r.failures * 2 < limit)
        x->r.pauses = 0;
}

static void take_failure(struct failed_moves *f, const struct move_end *m)
{
    struct entry *pair = make(f, m->vm, m->to);

    pair->r.failures++;
    pair->r.failed = m->at;
    pair->r.until = m->at + pause_s(f, pair->r.failures);
    set_text(&pair->r.from, m->from);
    set_text(&pair->r.reason, m->why);
    if (f->policy->avoid.host_failures == 0)
        return;
    count_for_vm(f, m);
    count_for_host(f, m);
}

/* Earlier failures of the VM, or at the host, stay known by themselves, and no longer count as in a row. */
static void end_run(struct failed_moves *f, const char *vm, const char *host, bool matters, instant_s at)
{
    struct entry *x = find(f, vm, host);

    if (!matters) {
        if (x && x->r.departed == 0)
            drop(f, x);
        return;
    }
    x = make(f, vm, host);
    x->r.failures = x->r.pauses = 0;
    x->r.until = 0;
    x->r.failed = x->r.arrived = at;
}

static void take_success(struct failed_moves *f, const struct move_end *m)
{
    drop(f, find(f, m->vm, m->to));
    end_run(f, m->vm, "", any_pair(f, m->vm, NULL, NULL), m->at);
    end_run(f, "", m->to, any_pair(f, NULL, m->to, NULL), m->at);
    if (!any_pair(f, NULL, NULL, m->from))
        return;
    struct entry *source = make(f, "", m->from);

    source->r.departed = m->at;
    if (source->r.failed == 0)
        source->r.failed = m->at;
}

void failed_moves_take(struct failed_moves *f, const struct move_end *m)
{
    if (m->why)
        take_failure(f, m);
    else if (f->entries.n > 0)
        take_success(f, m);
    count_for_cluster(f, "", m);
}

void failed_moves_judge(struct failed_moves *f, bool mandatory, const char *why, instant_s now)
{
    count_for_cluster(f, mandatory ? HARM_MANDATORY : HARM, &(struct move_end){.at = now, .why = why});
}

void failed_moves_reject(struct failed_moves *f, const struct action_record *r, const char *by, instant_s now)
{
    char as[REJECTION_KEY_MAX];

    if (f->policy->avoid.reject_s == 0 || !*rejection_key(r, as))
        return;
    struct entry *x = make(f, r->vm, as);
    x->r.failed = now;
    x->r.until = now + f->policy->avoid.reject_s;
    set_text(&x->r.reason, by);
}

instant_s failed_moves_rejected(const struct failed_moves *f, const struct action_record *r, instant_s now)
{
    char as[REJECTION_KEY_MAX];
    const struct entry *x = *rejection_key(r, as) ? find(f, r->vm, as) : NULL;

    return x && holds(&x->r, now) ? x->r.failed : 0;
}

/* ---- asked ---- */

bool failed_moves_empties_host(const struct action_record *r)
{
    return r->reason == REASON_MAINTENANCE || r->reason == REASON_STANDBY || r->reason == REASON_QUARANTINE;
}

const struct failure_record *failed_moves_find(const struct failed_moves *f, const struct action_record *r,
                                               instant_s now)
{
    bool mandatory = r->priority == PRIORITY_MANDATORY;
    const struct entry *const all[] = {find(f, r->vm, r->to),
                                       find(f, "", r->to),
                                       mandatory ? NULL : find(f, r->vm, ""),
                                       mandatory ? NULL : find(f, "", ""),
                                       mandatory ? NULL : find(f, "", HARM),
                                       failed_moves_empties_host(r) ? NULL : find(f, "", HARM_MANDATORY)};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i] && holds(&all[i]->r, now))
            return &all[i]->r;
    }
    return NULL;
}

instant_s failed_moves_last(const struct failed_moves *f, const char *vm, const char *to)
{
    const struct entry *x = find(f, vm, to);

    return x ? x->r.failed : 0;
}

size_t failed_moves_forgive(struct failed_moves *f, const char *vm, const char *host)
{
    size_t n = 0;

    for (EACH_ENTRY(f, x)) {
        if ((vm && strcmp(x->r.vm, vm) != 0) || (host && strcmp(x->r.host, host) != 0)) {
            if (host && x->r.from && strcmp(x->r.from, host) == 0) { /* it may have been the cause */
                set_text(&x->r.from, NULL);
                touch(f, x);
            }
            continue;
        }
        drop(f, x);
        n++;
    }
    return n;
}

/* ---- as a piece of knowledge ---- */

static void *create(void)
{
    return xcalloc(1, sizeof(struct failed_moves));
}

static void release(void *piece)
{
    struct failed_moves *f = piece;

    idmap_release(&f->entries, entry_free);
    free(f);
}

static void configure(void *piece, const struct engine_settings *settings)
{
    struct failed_moves *f = piece;

    f->policy = &settings->policy;
}

/* Moves pause; without a number of failures, as none failed. */
static void avoid_harm(const struct failure_record *r, struct inventory *inv, struct arena *a)
{
    bool mandatory = strcmp(r->host, HARM_MANDATORY) == 0;

    *inventory_add_avoid(inv, a) = (struct seen_avoid){
        .until = r->until,
        .mandatory = mandatory,
        .reason =
            arena_printf(a, "%u of the last %d %s moves did harm, at last this: %s.", r->failures, LAST_MOVES,
                         mandatory ? "mandatory" : "optional", r->reason ? r->reason : "not known"),
    };
}

static void fill(void *piece, const struct knowledge_context *c, struct inventory *inv, struct arena *a)
{
    const struct failed_moves *f = piece;
    struct idmap vms = {0};
    struct idmap hosts = {0};

    (void)c;
    if (f->entries.n == 0)
        return;
    for (size_t i = 0; i < inv->n_vms; i++)
        if (inv->vms[i].is.id)
            *idmap_slot(&vms, inv->vms[i].is.id) = inv;
    for (size_t i = 0; i < inv->n_hosts; i++)
        if (inv->hosts[i].is.id)
            *idmap_slot(&hosts, inv->hosts[i].is.id) = inv;
    for (EACH_ENTRY(f, x)) {
        const struct failure_record *r = &x->r;
        const char *rejected = rejection_key_reason(r->host);

        if (holds(r, inv->time) && r->host[0] == '\n' && !*r->vm)
            avoid_harm(r, inv, a);
        if (!holds(r, inv->time) || (*r->vm && !idmap_get(&vms, r->vm)) ||
            (*r->host && !rejected && !idmap_get(&hosts, r->host)))
            continue;
        *inventory_add_avoid(inv, a) = (struct seen_avoid){
            .vm = *r->vm ? arena_strdup(a, r->vm) : NULL,
            .host = *r->host && !rejected ? arena_strdup(a, r->host) : NULL,
            .until = r->until,
            .failures = r->failures,
            .reason = r->reason ? arena_printf(a, "%s%s", rejected ? "rejected by " : "", r->reason) : NULL,
            .rejected = rejected ? arena_strdup(a, rejected) : NULL,
        };
    }
    idmap_release(&vms, NULL);
    idmap_release(&hosts, NULL);
}

static bool is_out_of_service(enum host_state state)
{
    return state == HOST_MAINTENANCE || state == HOST_ENTERING_MAINTENANCE || state == HOST_DISCONNECTED ||
           state == HOST_STANDBY || state == HOST_POWERING_ON;
}

/* A host that is back may have been repaired. */
static void observe(void *piece, const struct knowledge_context *c, struct snapshot *s, struct arena *a)
{
    struct failed_moves *f = piece;

    (void)a;
    for (uint32_t i = 0; f->entries.n > 0 && c->before && i < s->n_hosts; i++) {
        const char *id = s->hosts[i].is.id;
        uint32_t was = s->hosts[i].is.state == HOST_ON ? snapshot_find_host(c->before, id) : IX_NONE;

        if (was != IX_NONE && is_out_of_service(c->before->hosts[was].is.state))
            (void)failed_moves_forgive(f, NULL, id);
    }
}

static bool is_dirty(const void *piece)
{
    return ((const struct failed_moves *)piece)->dirty;
}

static int persist(const void *piece, const struct store_ops *ops, struct store *s, struct err *err)
{
    const struct failed_moves *f = piece;
    int r = 0;

    for (size_t i = 0; r == 0 && i < f->entries.cap; i++) {
        const struct entry *x = f->entries.entries[i].value;

        if (!x || !x->dirty)
            continue;
        const struct record record = {RECORD_FAILURE, .failure = &x->r};

        r = x->gone ? ops->forget(s, &record, err) : ops->put(s, &record, err);
    }
    return r;
}

static bool is_kept(const char *key, void *value, void *ctx)
{
    struct entry *x = value;

    (void)key, (void)ctx;
    x->dirty = false;
    if (!x->gone)
        return true;
    entry_free(x);
    return false;
}

static void stored(void *piece)
{
    struct failed_moves *f = piece;

    idmap_keep(&f->entries, is_kept, NULL);
    f->dirty = false;
}

static void recall(void *piece, const struct stored *s, instant_s now)
{
    struct failed_moves *f = piece;

    for (size_t i = 0; i < s->n_failures; i++) {
        const struct failure_record *r = &s->failures[i];

        if (!r->vm || !r->host) /* what stands in a file may have been written by anybody */
            continue;
        struct entry *x = make(f, r->vm, r->host);
        const struct failure_record own_of = x->r;

        x->r = *r;
        x->r.vm = own_of.vm;
        x->r.host = own_of.host;
        x->r.from = r->from ? xstrdup(r->from) : NULL;
        x->r.reason = r->reason ? xstrdup(r->reason) : NULL;
        if (x->r.failed > now) { /* the clock was set back: it is avoided as long as before, and no longer */
            x->r.until = x->r.until > x->r.failed ? now + (x->r.until - x->r.failed) : 0;
            x->r.failed = now;
        }
        x->dirty = false;
    }
    f->dirty = false;
}

/* What failed at another source is to be forgotten in the store, too. */
static void disown(void *piece, struct engine *e, const struct stored *s, instant_s now)
{
    struct failed_moves *f = piece;

    (void)e;
    recall(f, s, now);
    (void)failed_moves_forgive(f, NULL, NULL);
}

static void forget(void *piece, const struct retention *keep, instant_s now)
{
    struct failed_moves *f = piece;

    (void)keep;
    for (EACH_ENTRY(f, x)) {
        if (x->r.until <= now && x->r.failed < now - REMEMBERED_S)
            drop(f, x);
    }
}

const struct knowledge_ops failed_moves_ops = {
    .create = create,
    .release = release,
    .configure = configure,
    .fill = fill,
    .observe = observe,
    .is_dirty = is_dirty,
    .persist = persist,
    .stored = stored,
    .recall = recall,
    .disown = disown,
    .forget = forget,
};
