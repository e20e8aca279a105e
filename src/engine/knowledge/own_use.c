/* own_use.c: learns what each host uses itself, and puts it into the next inventory. */
#include "engine/knowledge/own_use.h"

#include "base/cleanup.h"
#include "base/idmap.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "core/demand/sample_guard.h"
#include "engine/knowledge/demand_history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Before the host's id, in the place of a VM's, among the samples of the store. No VM has such an id. */
#define OF_HOST "\nown "

struct own_use_pieces {
    bool dirty;                     /* a sample is not stored yet */
    struct demand_history *history; /* by host */
    struct idmap seen;              /* struct seen by host */
};

struct seen {
    instant_s at; /* of the last look that taught something; 0: none did */
    double now[RES_COUNT];
    double last[RES_COUNT]; /* what that look said by itself */
    bool has_last;
    uint64_t vms;   /* a hash of those that ran there at the last look */
    instant_s look; /* the last one */
    bool unsaved;   /* the sample at `at` is not stored yet */
};

/* What the VMs of a host use in this look. */
struct use {
    double cpu_mhz, mem_mb;
    uint64_t vms;
    bool unsure;
};

/* ---- into an inventory ----------------------------------------------------------------------- */

static void fill(void *piece, const struct knowledge_context *c, struct inventory *inv, struct arena *a)
{
    struct own_use_pieces *p = piece;

    (void)a;
    for (size_t i = 0; i < inv->n_hosts; i++) {
        struct host_facts *h = &inv->hosts[i].is;
        const struct seen *seen = h->id ? idmap_get(&p->seen, h->id) : NULL;
        double stable_s;

        if (h->own.given)
            continue;
        h->own = (struct own_use){.given = true};
        if (!seen || seen->at == 0)
            continue;
        h->own.at = seen->at;
        for (int r = 0; r < RES_COUNT; r++)
            h->own.now[r] = seen->now[r];
        demand_history_describe(p->history, h->id, inv->time, c->settings->policy.dpm.low_s, h->own.now, NULL,
                                h->own.window, &stable_s);
    }
}

/* ---- out of a snapshot ----------------------------------------------------------------------- */

static uint64_t hash_of(const char *text)
{
    uint64_t hash = 14695981039346656037U; /* FNV-1a */

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211U;
    return hash;
}

static void add_vm(struct use *u, const struct knowledge_context *c, const struct snapshot *s,
                   const struct seen_vm *v)
{
    uint32_t ix = snapshot_find_vm(s, v->is.id);
    struct finding wrong;

    u->vms += hash_of(v->is.id);
    u->unsure = u->unsure || ix == IX_NONE || !v->sample.present || v->is.demand_unknown ||
                !(v->sample.cpu_used_mhz >= 0) || s->vms[ix].is.sample_age_s > (double)c->look_period_s ||
                sample_guard_find(s, &c->settings->policy, ix, &wrong);
    u->cpu_mhz += v->sample.cpu_used_mhz;
    u->mem_mb += v->is.consumed_mb + v->is.overhead_mb;
}

static struct use *use_of_vms(const struct knowledge_context *c, const struct snapshot *s, struct arena *a)
{
    struct use *use = arena_array(a, struct use, s->n_hosts);

    for (size_t i = 0; i < c->inventory->n_vms; i++) {
        const struct seen_vm *v = &c->inventory->vms[i];
        uint32_t host = v->host && v->is.state == VM_ON ? snapshot_find_host(s, v->host) : IX_NONE;

        if (host != IX_NONE)
            add_vm(&use[host], c, s, v);
    }
    for (uint32_t i = 0; i < s->n_migrations; i++) {
        use[s->migrations[i].to].unsure = true;
        if (s->migrations[i].from != IX_NONE)
            use[s->migrations[i].from].unsure = true;
    }
    return use;
}

/* A host that does not tell what it uses of a resource has no own use of it. What one look says alone does
 * not count: a source says now and then that VMs use nothing. */
static void learn(struct own_use_pieces *p, const struct seen_host *h, const struct use *u, instant_s now)
{
    struct seen *seen = idmap_make(&p->seen, h->is.id, sizeof *seen);
    bool same = seen->look != 0 && seen->vms == u->vms;

    seen->look = now;
    seen->vms = u->vms;
    if (!same || u->unsure || (isnan(h->is.mem_free_mb) && isnan(h->cpu_used_mhz)))
        return;
    double own[RES_COUNT] = {[RES_CPU] = h->cpu_used_mhz - u->cpu_mhz,
                             [RES_MEM] = h->is.total[RES_MEM] - h->is.mem_free_mb - u->mem_mb};

    for (int r = 0; r < RES_COUNT; r++) {
        own[r] = own[r] > 0 ? fmin(own[r], h->is.total[r]) : 0; /* false where it is UNKNOWN */
        seen->now[r] = fmin(own[r], seen->last[r]);
        seen->last[r] = own[r];
    }
    if (seen->has_last) {
        seen->at = now;
        seen->unsaved = demand_history_add(p->history, h->is.id, now, seen->now);
        p->dirty |= seen->unsaved;
    }
    seen->has_last = true;
}

static void observe(void *piece, const struct knowledge_context *c, struct snapshot *s, struct arena *a)
{
    struct own_use_pieces *p = piece;
    const struct use *use = use_of_vms(c, s, a);

    for (size_t i = 0; i < c->inventory->n_hosts; i++) {
        const struct seen_host *h = &c->inventory->hosts[i];
        uint32_t ix = snapshot_find_host(s, h->is.id);

        if (ix != IX_NONE && h->is.state == HOST_ON)
            learn(p, h, &use[ix], s->time);
    }
}

/* ---- the store ------------------------------------------------------------------------------- */

static int persist(const void *piece, const struct store_ops *ops, struct store *store, struct err *err)
{
    const struct own_use_pieces *p = piece;
    int code = 0;

    for (size_t i = 0; i < p->seen.cap && code == 0; i++) {
        const struct seen *seen = p->seen.entries[i].value;

        if (!seen || !seen->unsaved)
            continue;
        CLEANUP(strbuf_releasep) struct strbuf id = STRBUF_EMPTY;

        strbuf_printf(&id, OF_HOST "%s", p->seen.entries[i].key);
        code = ops->put(store,
                        &(struct record){RECORD_SAMPLE,
                                         .sample = &(struct sample_record){.vm = id.text,
                                                                           .time = seen->at,
                                                                           .demand = {seen->now[RES_CPU],
                                                                                      seen->now[RES_MEM]}}},
                        err);
    }
    return code;
}

static void stored(void *piece)
{
    struct own_use_pieces *p = piece;

    p->dirty = false;
    for (size_t i = 0; i < p->seen.cap; i++)
        if (p->seen.entries[i].value)
            ((struct seen *)p->seen.entries[i].value)->unsaved = false;
}

/* By VM, then oldest first: the last sample of a host is the newest. */
static void recall(void *piece, const struct stored *s, instant_s now)
{
    struct own_use_pieces *p = piece;

    for (size_t i = 0; i < s->n_samples; i++) {
        const struct sample_record *r = &s->samples[i];

        if (strncmp(r->vm, OF_HOST, strlen(OF_HOST)) != 0 || r->time > now)
            continue;
        const char *host = r->vm + strlen(OF_HOST);
        struct seen *seen = idmap_make(&p->seen, host, sizeof *seen);

        *seen = (struct seen){.at = r->time, .has_last = true, .look = r->time};
        memcpy(seen->now, r->demand, sizeof seen->now);
        memcpy(seen->last, r->demand, sizeof seen->last);
        (void)demand_history_add(p->history, host, r->time, r->demand);
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

static bool is_recent(const char *host, void *value, void *since)
{
    struct seen *seen = value;

    (void)host;
    if (seen->look >= *(instant_s *)since)
        return true;
    free(seen);
    return false;
}

/* A host that has not been on for a day uses other things when it is back. */
static void forget(void *piece, const struct retention *keep, instant_s now)
{
    struct own_use_pieces *p = piece;
    instant_s since = now - 86400;

    (void)keep;
    demand_history_forget(p->history, now);
    idmap_keep(&p->seen, is_recent, &since);
}

static void *create(void)
{
    struct own_use_pieces *p = xcalloc(1, sizeof *p);

    p->history = demand_history_new();
    return p;
}

static void release(void *piece)
{
    struct own_use_pieces *p = piece;

    demand_history_free(p->history);
    idmap_release(&p->seen, free);
    free(p);
}

const struct knowledge_ops own_use_ops = {
    .create = create,
    .release = release,
    .fill = fill,
    .observe = observe,
    .persist = persist,
    .stored = stored,
    .recall = recall,
    .forget = forget,
};
