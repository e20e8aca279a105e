/* pool_settings.c: what pools have on the hosts (§3.1.7): remembered, and set as the plans say.
 *
 * A plan says for each host what its pools should have there (core/divvy/host_settings.h). Setting that moves
 * nothing and can be repeated, so it takes no action, no number and no approval of its own: it is what the
 * admins of the pools have asked for already. It is done by itself in partial and full automation. In manual
 * it is not: there Ballast changes nothing that nobody told it to, and a trial stays a trial; the plans list
 * what would be set. Nor while paused, or on stale data.
 *
 * What was set is stored after it was set. Whatever moment the process dies at, the next pass finds the
 * difference again and sets it a second time, which does no harm. What fails is said once for a host, and
 * tried again when the next pass wants it; a newer plan takes the place of what an older one has left. */
#include "engine/internal.h"

#include "base/xalloc.h"
#include "engine/actions/preconditions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE 2 /* workers that it keeps busy at most: migrations go first */
#define SAID_MOST 20
#define KEY_MAX 512

struct set_part {
    char *host, *pool;
    struct alloc alloc[RES_COUNT];
    bool dirty;
    bool gone; /* to be forgotten */
};

/* One host's settings of a plan; all of it its own. */
struct pools_job {
    uint64_t serial; /* of the order; 0: no worker has it */
    char *host;
    struct pool_setting *settings;
    size_t n;
};

/* ---- what was set ---------------------------------------------------------------------------- */

static void part_free(void *value)
{
    struct set_part *p = value;

    free(p->host);
    free(p->pool);
    free(p);
}

static void remember(struct engine *e, const char *host, const char *pool,
                     const struct alloc alloc[RES_COUNT], bool gone, bool dirty)
{
    char key[KEY_MAX];

    if ((size_t)snprintf(key, sizeof key, "%s\n%s", host, pool) >= sizeof key)
        return; /* ids of no hypervisor; it is set anew at each pass */
    void **slot = idmap_slot(&e->pools.set, key);

    if (!*slot) {
        struct set_part *fresh = xcalloc(1, sizeof *fresh);
        fresh->host = xstrdup(host);
        fresh->pool = xstrdup(pool);
        *slot = fresh;
    }
    struct set_part *p = *slot;

    memcpy(p->alloc, alloc, sizeof p->alloc);
    p->gone = gone;
    p->dirty = dirty;
    e->pools.dirty = e->pools.dirty || dirty;
}

void pools_fill(const struct engine *e, struct inventory *inv, struct arena *a)
{
    struct idmap there = {0};

    if (inv->settings_seen || e->pools.set.n == 0)
        return;
    for (size_t i = 0; i < inv->n_hosts; i++) {
        if (inv->hosts[i].is.id)
            *idmap_slot(&there, arena_printf(a, "h%s", inv->hosts[i].is.id)) = inv;
    }
    for (size_t i = 0; i < inv->n_pools; i++) {
        if (inv->pools[i].is.id)
            *idmap_slot(&there, arena_printf(a, "p%s", inv->pools[i].is.id)) = inv;
    }
    for (size_t i = 0; i < e->pools.set.cap; i++) {
        const struct set_part *p = e->pools.set.entries[i].value;

        if (!p || p->gone || !idmap_get(&there, arena_printf(a, "h%s", p->host)) ||
            !idmap_get(&there, arena_printf(a, "p%s", p->pool)))
            continue;
        struct seen_setting *seen = inventory_add_setting(inv, a);

        seen->host = arena_strdup(a, p->host);
        seen->pool = arena_strdup(a, p->pool);
        memcpy(seen->alloc, p->alloc, sizeof seen->alloc);
    }
    idmap_release(&there, NULL);
}

/* A pool that was deleted took its settings along. */
static void forget_deleted(struct engine *e, const struct snapshot *s)
{
    for (size_t i = 0; i < e->pools.set.cap; i++) {
        struct set_part *p = e->pools.set.entries[i].value;

        if (!p || p->gone || snapshot_find_pool(s, p->pool) != IX_NONE)
            continue;
        p->gone = p->dirty = true;
        e->pools.dirty = true;
    }
}

/* ---- what is to be set ----------------------------------------------------------------------- */

static void pools_job_free(struct pools_job *j)
{
    for (size_t i = 0; i < j->n; i++)
        free((void *)(uintptr_t)j->settings[i].pool);
    free(j->settings);
    free(j->host);
    free(j);
}

static bool is_out(const struct pools *p, const char *host)
{
    for (size_t i = 0; i < p->n_out; i++) {
        if (strcmp(p->jobs[i]->host, host) == 0)
            return true;
    }
    return false;
}

static uint32_t depth_of(const struct snapshot *s, uint32_t pool)
{
    uint32_t depth = 0;

    while ((pool = s->pools[pool].parent) != IX_NONE)
        depth++;
    return depth;
}

/* Parents first; pools of one depth stay in the order of their ids. */
static struct pools_job *make_job(const struct snapshot *s, const struct host_setting *list, uint32_t n)
{
    struct pools_job *j = xcalloc(1, sizeof *j);

    j->host = xstrdup(s->hosts[list->host].is.id);
    j->settings = xcalloc(n, sizeof *j->settings);
    for (uint32_t depth = 0; j->n < n; depth++) {
        for (uint32_t i = 0; i < n; i++) {
            if (depth_of(s, list[i].pool) != depth)
                continue;
            struct pool_setting *p = &j->settings[j->n++];
            p->pool = xstrdup(s->pools[list[i].pool].is.id);
            memcpy(p->alloc, list[i].alloc, sizeof p->alloc);
            p->nothing = host_setting_is_nothing(&list[i]);
        }
    }
    return j;
}

/* What no worker has yet is not done any more. */
static void drop_waiting(struct pools *p)
{
    for (size_t i = p->n_out; i < p->n_jobs; i++)
        pools_job_free(p->jobs[i]);
    p->n_jobs = p->n_out;
}

static bool may_set_by_itself(const struct engine *e)
{
    enum automation a = e->settings.policy.automation;

    return e->settings.sets_pools && (a == AUTOMATION_PARTIAL || a == AUTOMATION_FULL);
}

/* A host that is about to sleep is left alone: it may be down before it hears of it. */
void pools_take(struct engine *e, const struct view *v)
{
    struct pools *p = &e->pools;
    const struct plan *plan = &v->plan;

    drop_waiting(p);
    forget_deleted(e, &v->snap);
    p->n_hosts = p->n_settings = p->n_said = 0;
    if (!may_set_by_itself(e))
        return;
    p->jobs = xreallocarray(p->jobs, p->n_jobs + v->snap.n_hosts + 1, sizeof(struct pools_job *));
    for (uint32_t i = 0, n; i < plan->n_settings; i += n) {
        const struct host_setting *first = &plan->settings[i];
        const char *host = v->snap.hosts[first->host].is.id;

        for (n = 1; i + n < plan->n_settings && plan->settings[i + n].host == first->host; n++)
            ;
        if (!is_out(p, host) && !idmap_get(&p->unable, host) && !power_is_leaving(e, host))
            p->jobs[p->n_jobs++] = make_job(&v->snap, first, n);
    }
}

void pools_carry_on(struct engine *e, instant_s now)
{
    struct pools *p = &e->pools;

    while (p->n_out < p->n_jobs && p->n_out < AT_ONCE && may_set_by_itself(e) && may_begin_anything(e, now)) {
        struct pools_job *j = p->jobs[p->n_out];
        struct err err = {0};
        const struct job job = {
            .kind = JOB_SET_POOLS,
            .id = p->serial + 1,
            .pools = {.host = j->host, .settings = j->settings, .n_settings = j->n},
        };

        if (e->port.actuators_ops->submit(e->port.actuators, &job, &err) < 0)
            return; /* they have enough to do: at the next tick */
        j->serial = ++p->serial;
        p->n_out++;
    }
}

/* ---- how it went ----------------------------------------------------------------------------- */

static void say_failed(struct engine *e, const struct pools_job *j, const struct err *why, instant_s now)
{
    struct pools *p = &e->pools;
    void **failing = idmap_slot(&p->failing, j->host);
    bool news = !*failing && p->n_said < SAID_MOST;

    *failing = e;
    if (why->code == -ENOTSUP) {
        *idmap_slot(&p->unable, j->host) = e;
        news = !p->said_unable;
        p->said_unable = true;
    }
    if (!news)
        return;
    p->n_said++;
    publish(e, &(struct event){
                   .kind = EVENT_SETTINGS_FAILED, .time = now, .pass = e->decided_pass, .text = why->text});
}

static void take_over(struct engine *e, const struct pools_job *j)
{
    for (size_t i = 0; i < j->n; i++)
        remember(e, j->host, j->settings[i].pool, j->settings[i].alloc, j->settings[i].nothing, true);
    if (idmap_get(&e->pools.failing, j->host))
        *idmap_slot(&e->pools.failing, j->host) = NULL;
    e->pools.n_hosts++;
    e->pools.n_settings += j->n;
}

static void say_set(struct engine *e, instant_s now)
{
    char text[160];
    const struct pools *p = &e->pools;

    (void)snprintf(text, sizeof text, "%zu setting%s of pools on %zu host%s w%s set", p->n_settings,
                   p->n_settings == 1 ? "" : "s", p->n_hosts, p->n_hosts == 1 ? "" : "s",
                   p->n_settings == 1 ? "as" : "ere");
    publish(e, &(struct event){.kind = EVENT_SETTINGS, .time = now, .pass = e->decided_pass, .text = text});
}

void pools_result(struct engine *e, const struct job *job, const struct job_result *result, instant_s now)
{
    struct pools *p = &e->pools;
    size_t i = 0;

    while (i < p->n_out && p->jobs[i]->serial != job->id)
        i++;
    if (i == p->n_out)
        return; /* of an earlier life: the pass finds out what is different */
    struct pools_job *j = p->jobs[i];

    memmove(&p->jobs[i], &p->jobs[i + 1], (p->n_jobs - i - 1) * sizeof(struct pools_job *));
    p->n_out--;
    p->n_jobs--;
    if (result->code == 0) {
        take_over(e, j);
    } else if (!power_is_leaving(e, j->host)) { /* else no wonder */
        struct err why = result->err;

        why.code = result->code;
        say_failed(e, j, &why, now);
    }
    pools_job_free(j);
    if (p->n_jobs == 0 && p->n_hosts > 0)
        say_set(e, now);
}

/* ---- the store ------------------------------------------------------------------------------- */

int pools_store(const struct engine *e, struct err *err)
{
    const struct store_ops *ops = e->port.store_ops;
    int r = 0;

    for (size_t i = 0; r == 0 && i < e->pools.set.cap; i++) {
        const struct set_part *p = e->pools.set.entries[i].value;

        if (!p || !p->dirty)
            continue;
        struct setting_record record = {.host = p->host, .pool = p->pool};

        memcpy(record.alloc, p->alloc, sizeof record.alloc);
        r = p->gone ? ops->forget_setting(e->port.store, p->host, p->pool, err)
                    : ops->put_setting(e->port.store, &record, err);
    }
    return r;
}

static bool is_kept(const char *key, void *value, void *ctx)
{
    struct set_part *p = value;

    (void)key, (void)ctx;
    p->dirty = false;
    if (!p->gone)
        return true;
    part_free(p);
    return false;
}

void pools_stored(struct engine *e)
{
    if (!e->pools.dirty)
        return;
    idmap_keep(&e->pools.set, is_kept, NULL);
    e->pools.dirty = false;
}

void pools_recall(struct engine *e, const struct stored *s, bool same)
{
    for (size_t i = 0; i < s->n_settings; i++)
        remember(e, s->settings[i].host, s->settings[i].pool, s->settings[i].alloc, !same, !same);
}

void pools_release(struct engine *e)
{
    struct pools *p = &e->pools;

    p->n_out = 0;
    drop_waiting(p);
    free(p->jobs);
    idmap_release(&p->set, part_free);
    idmap_release(&p->failing, NULL);
    idmap_release(&p->unable, NULL);
}
