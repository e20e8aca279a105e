/* failed_moves.c: counts failures by VM and host, by host, by VM and in the cluster, and says how long each
 * is avoided. Which failures count is decided where a move ends (actions/action_states.c). */
#include "engine/knowledge/failed_moves.h"

#include "base/xalloc.h"
#include "engine/knowledge/avoid_entries.h"
#include "engine/knowledge/host_losses.h"
#include "engine/knowledge/rejections.h"
#include "engine/retry.h"

#include <stdlib.h>
#include <string.h>

#define LAST_MOVES 20 /* of the cluster: avoid.cluster_failures of so many */
/* In the place of a host: the cluster's optional or mandatory moves that did harm. No host has these ids. */
#define HARM "\nharm"
#define HARM_MANDATORY "\nharm of mandatory moves"
#define REMEMBERED_S (24 * 3600) /* without another failure */
#define SOURCE_DESTINATIONS 2    /* to so many hosts the moves off one must fail before it is the cause */

/* Entries are by VM and host; "" stands for any: ("", h) is the host, (v, "") the VM, ("", "") the cluster,
 * ("", HARM) and ("", HARM_MANDATORY) its harmful moves. */

static bool is_pair(const struct failure_record *r)
{
    return *r->vm && *r->host && r->host[0] != '\n';
}

/* ---- how long ---- */

/* Twice as long each time. */
static instant_s pause_s(const struct failed_moves *f, uint32_t times, bool passes)
{
    const struct avoid_policy *p = &f->policy->avoid;
    instant_s first = passes && p->pause_s > RETRY_MOVE_S ? RETRY_MOVE_S : p->pause_s;

    return retry_doubled_s(first, p->pause_max_s, times);
}

/* A pause that holds is not made longer by moves that were under way when it began. */
static void begin_pause(struct failed_moves *f, struct avoid_entry *x, uint32_t failures,
                        const struct move_end *m)
{
    bool paused = avoid_entry_holds(&x->r, m->at);

    x->r.failures = failures;
    x->r.failed = m->at;
    xalloc_set_text(&x->r.reason, m->why);
    if (paused)
        return;
    x->r.pauses++;
    x->r.until = m->at + pause_s(f, x->r.pauses, false);
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
    const struct avoid_entry *source = avoid_entry_find(f, "", from);
    struct run run;

    count_run(f, NULL, NULL, from, source ? source->r.departed : 0, &run);
    bool is = (int64_t)run.vms.n >= f->policy->avoid.host_failures && run.hosts.n >= SOURCE_DESTINATIONS;
    run_release(&run);
    return is;
}

static void count_for_vm(struct failed_moves *f, const struct move_end *m)
{
    const struct avoid_entry *vm = avoid_entry_find(f, m->vm, "");
    struct run run;

    count_run(f, m->vm, NULL, NULL, vm ? vm->r.arrived : 0, &run);
    if ((int64_t)run.hosts.n >= f->policy->avoid.host_failures)
        begin_pause(f, avoid_entry_make(f, m->vm, ""), (uint32_t)run.hosts.n, m);
    run_release(&run);
}

static void count_for_host(struct failed_moves *f, const struct move_end *m)
{
    const struct avoid_entry *host = avoid_entry_find(f, "", m->to);
    struct run run;

    count_run(f, NULL, m->to, NULL, host ? host->r.arrived : 0, &run);
    if ((int64_t)run.vms.n >= f->policy->avoid.host_failures && !source_is_cause(f, m->from))
        begin_pause(f, avoid_entry_make(f, "", m->to), (uint32_t)run.vms.n, m);
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
    struct avoid_entry *x = m->why ? avoid_entry_make(f, "", host) : avoid_entry_find(f, "", host);
    int64_t limit = f->policy->avoid.cluster_failures;

    if (!x)
        return;
    x->r.recent = (x->r.recent << 1 | (m->why != NULL)) & ((UINT64_C(1) << LAST_MOVES) - 1);
    x->r.failures = failures_of(x->r.recent);
    knowledge_touch(&f->entries, &x->known);
    if (x->r.failures == 0) {
        avoid_entry_drop(f, x);
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
    struct avoid_entry *pair = avoid_entry_make(f, m->vm, m->to);

    pair->r.failures++;
    pair->r.failed = m->at;
    pair->r.until = m->at + pause_s(f, pair->r.failures, m->passes);
    xalloc_set_text(&pair->r.from, m->from);
    xalloc_set_text(&pair->r.reason, m->why);
    if (m->off || f->policy->avoid.host_failures == 0)
        return;
    count_for_vm(f, m);
    count_for_host(f, m);
}

/* Earlier failures of the VM, or at the host, stay known by themselves, and no longer count as in a row. */
static void end_run(struct failed_moves *f, const char *vm, const char *host, bool matters, instant_s at)
{
    struct avoid_entry *x = avoid_entry_find(f, vm, host);

    if (!matters) {
        if (x && x->r.departed == 0)
            avoid_entry_drop(f, x);
        return;
    }
    x = avoid_entry_make(f, vm, host);
    x->r.failures = x->r.pauses = 0;
    x->r.until = 0;
    x->r.failed = x->r.arrived = at;
}

static void take_success(struct failed_moves *f, const struct move_end *m)
{
    avoid_entry_drop(f, avoid_entry_find(f, m->vm, m->to));
    end_run(f, m->vm, "", any_pair(f, m->vm, NULL, NULL), m->at);
    end_run(f, "", m->to, any_pair(f, NULL, m->to, NULL), m->at);
    if (!any_pair(f, NULL, NULL, m->from))
        return;
    struct avoid_entry *source = avoid_entry_make(f, "", m->from);

    source->r.departed = m->at;
    if (source->r.failed == 0)
        source->r.failed = m->at;
}

void failed_moves_take(struct failed_moves *f, const struct move_end *m)
{
    if (m->why)
        take_failure(f, m);
    else if (f->entries.of.n > 0 && !m->off)
        take_success(f, m);
    if (!m->off)
        count_for_cluster(f, "", m);
}

void failed_moves_judge(struct failed_moves *f, bool mandatory, const char *why, instant_s now)
{
    count_for_cluster(f, mandatory ? HARM_MANDATORY : HARM, &(struct move_end){.at = now, .why = why});
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
    const struct avoid_entry *const all[] = {
        avoid_entry_find(f, r->vm, r->to),
        avoid_entry_find(f, "", r->to),
        mandatory ? NULL : avoid_entry_find(f, r->vm, ""),
        mandatory ? NULL : avoid_entry_find(f, "", ""),
        mandatory ? NULL : avoid_entry_find(f, "", HARM),
        failed_moves_empties_host(r) ? NULL : avoid_entry_find(f, "", HARM_MANDATORY)};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i] && avoid_entry_holds(&all[i]->r, now))
            return &all[i]->r;
    }
    return NULL;
}

instant_s failed_moves_last(const struct failed_moves *f, const char *vm, const char *to)
{
    const struct avoid_entry *x = avoid_entry_find(f, vm, to);

    return x ? x->r.failed : 0;
}

size_t failed_moves_forgive(struct failed_moves *f, const char *vm, const char *host)
{
    size_t n = 0;

    for (EACH_ENTRY(f, x)) {
        if (host_losses_are(&x->r)) /* a host that dies is trusted again by its name alone */
            continue;
        if ((vm && strcmp(x->r.vm, vm) != 0) || (host && strcmp(x->r.host, host) != 0)) {
            if (host && x->r.from && strcmp(x->r.from, host) == 0) { /* it may have been the cause */
                xalloc_set_text(&x->r.from, NULL);
                knowledge_touch(&f->entries, &x->known);
            }
            continue;
        }
        avoid_entry_drop(f, x);
        n++;
    }
    return n;
}

/* ---- as a piece of knowledge ---- */

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
    if (f->entries.of.n == 0)
        return;
    for (size_t i = 0; i < inv->n_vms; i++)
        if (inv->vms[i].is.id)
            *idmap_slot(&vms, inv->vms[i].is.id) = inv;
    for (size_t i = 0; i < inv->n_hosts; i++)
        if (inv->hosts[i].is.id)
            *idmap_slot(&hosts, inv->hosts[i].is.id) = inv;
    for (EACH_ENTRY(f, x)) {
        const struct failure_record *r = &x->r;
        const char *rejected = rejections_reason(r);
        const char *alone = rejected ? rejections_host(r) : NULL;
        const char *vm = alone ? "" : r->vm;
        const char *host = alone ? alone : rejected ? "" : r->host;

        if (avoid_entry_holds(r, inv->time) && host[0] == '\n' && !*vm)
            avoid_harm(r, inv, a);
        if (!avoid_entry_holds(r, inv->time) || (*vm && !idmap_get(&vms, vm)) ||
            (*host && !idmap_get(&hosts, host)))
            continue;
        *inventory_add_avoid(inv, a) = (struct seen_avoid){
            .vm = *vm ? arena_strdup(a, vm) : NULL,
            .host = *host ? arena_strdup(a, host) : NULL,
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
    for (uint32_t i = 0; f->entries.of.n > 0 && c->before && i < s->n_hosts; i++) {
        const char *id = s->hosts[i].is.id;
        uint32_t was = s->hosts[i].is.state == HOST_ON ? snapshot_find_host(c->before, id) : IX_NONE;

        if (was != IX_NONE && is_out_of_service(c->before->hosts[was].is.state))
            (void)failed_moves_forgive(f, NULL, id);
    }
}

/* What failed at another source is to be forgotten in the store, too. */
static void disown(void *piece, struct engine *e, const struct stored *s, instant_s now)
{
    struct failed_moves *f = piece;

    (void)e;
    avoid_entries_recall(f, s, now);
    for (EACH_ENTRY(f, x))
        avoid_entry_drop(f, x);
}

static void forget(void *piece, const struct retention *keep, instant_s now)
{
    struct failed_moves *f = piece;

    (void)keep;
    for (EACH_ENTRY(f, x)) {
        if (host_losses_are(&x->r) ? !host_losses_count(&x->r, now)
                                   : x->r.until <= now && x->r.failed < now - REMEMBERED_S)
            avoid_entry_drop(f, x);
    }
}

const struct knowledge_ops failed_moves_ops = {
    .size = sizeof(struct failed_moves),
    .entry_free = avoid_entry_free,
    .entry_persist = avoid_entry_persist,
    .configure = configure,
    .fill = fill,
    .observe = observe,
    .recall = avoid_entries_recall,
    .disown = disown,
    .forget = forget,
};
