/* migrations.c: keeps the calls of this process: which run, and what they gave. What a call does is in
 * call.c. */
#include "actuators/libvirt/migrations.h"

#include "actuators/libvirt/call.h"
#include "actuators/libvirt/leftovers.h"
#include "base/log.h"
#include "base/thread.h"
#include "base/xalloc.h"
#include "net/http.h"
#include "net/libvirt/connections.h"
#include "net/libvirt/migration_settings.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define CALLS_KEPT 256   /* that have ended */
#define POLLED_S 60      /* within which a task that begins is polled */
#define SILENCE_MS 60000 /* of a host, until its task counts as lost */

/* A task. */
struct entry {
    struct task_name task;
    enum call_state call;
    bool polled;       /* the caller has stored the name */
    bool asked;        /* libvirt was */
    bool given_up;     /* it must not be */
    int64_t silent_ms; /* since when its hosts do not tell; 0: they did */
    struct err why, blame;
    uint64_t number; /* the newest of a VM has the highest */
};

/* Threads that wait for an answer of a host. */
struct asked {
    unsigned n;
    int64_t since_ms; /* that there are some, or its last answer */
};

struct migrations {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned holders;
    bool closed;
    uint64_t last_number;
    struct libvirt_connections *conns;
    struct call_host *hosts;
    struct asked *asked; /* of each host */
    size_t n_hosts;
    struct libvirt_settings how; /* of VMs to migrate */
    struct arena arena;
    struct entry *entries;
    size_t n_entries;
    struct leftovers *leftovers;
};

/* ---- the object ----------------------------------------------------------------------------------- */

static void copy_settings(struct migrations *m, const struct libvirt_settings *s)
{
    const struct libvirt_host_settings *hosts = s->hosts.items;

    m->hosts = xcalloc(s->hosts.n + 1, sizeof *m->hosts);
    m->asked = xcalloc(s->hosts.n + 1, sizeof *m->asked);
    for (; m->n_hosts < s->hosts.n; m->n_hosts++) {
        const struct libvirt_host_settings *h = &hosts[m->n_hosts];

        m->hosts[m->n_hosts] = (struct call_host){.name = xstrdup(h->name),
                                                  .peer_uri = xstrdup(h->peer_uri ? h->peer_uri : h->uri),
                                                  .migration_uri = xstrdup(h->migration_uri)};
    }
    libvirt_migration_copy(s, &m->arena, &m->how);
}

struct migrations *migrations_new(struct libvirt_connections *conns, const struct libvirt_settings *settings)
{
    struct migrations *m = xcalloc(1, sizeof *m);
    pthread_condattr_t attr;

    (void)pthread_mutex_init(&m->lock, NULL);
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&m->changed, &attr);
    (void)pthread_condattr_destroy(&attr);
    m->holders = 1;
    m->conns = libvirt_connections_hold(conns);
    m->leftovers = leftovers_new();
    copy_settings(m, settings);
    return m;
}

struct migrations *migrations_hold(struct migrations *m)
{
    (void)pthread_mutex_lock(&m->lock);
    m->holders++;
    (void)pthread_mutex_unlock(&m->lock);
    return m;
}

void migrations_release(struct migrations *m)
{
    (void)pthread_mutex_lock(&m->lock);
    bool last = --m->holders == 0;
    (void)pthread_mutex_unlock(&m->lock);
    if (!last)
        return;
    for (size_t i = 0; i < m->n_hosts; i++) {
        free(m->hosts[i].name);
        free(m->hosts[i].peer_uri);
        free(m->hosts[i].migration_uri);
    }
    free(m->hosts);
    free(m->asked);
    arena_release(&m->arena);
    free(m->entries);
    leftovers_free(m->leftovers);
    libvirt_connections_release(m->conns);
    (void)pthread_mutex_destroy(&m->lock);
    (void)pthread_cond_destroy(&m->changed);
    free(m);
}

void migrations_close(struct migrations *m)
{
    (void)pthread_mutex_lock(&m->lock);
    m->closed = true;
    (void)pthread_cond_broadcast(&m->changed);
    (void)pthread_mutex_unlock(&m->lock);
    leftovers_close(m->leftovers);
    migrations_release(m);
}

/* ---- hosts ---------------------------------------------------------------------------------------- */

size_t migrations_host(const struct migrations *m, const char *name)
{
    for (size_t i = 0; name && i < m->n_hosts; i++) {
        if (strcmp(m->hosts[i].name, name) == 0)
            return i;
    }
    return SIZE_MAX;
}

size_t migrations_host_count(const struct migrations *m)
{
    return m->n_hosts;
}

const char *migrations_host_name(const struct migrations *m, size_t host)
{
    return host < m->n_hosts ? m->hosts[host].name : "?";
}

int migrations_connect(struct migrations *m, size_t host, int64_t deadline_ms, virConnectPtr *ret,
                       struct err *err)
{
    if (host >= m->n_hosts)
        return err_set(err, -ENOENT, "the host is not in source.hosts any more");
    return libvirt_connections_get(m->conns, host, deadline_ms, NULL, ret, err);
}

void migrations_disconnect(struct migrations *m, size_t host, virConnectPtr conn)
{
    libvirt_connections_put(m->conns, host, conn);
}

int migrations_ask(struct migrations *m, size_t host, int64_t now_ms, struct err *err)
{
    int r = 0;

    if (host >= m->n_hosts)
        return 0;
    (void)pthread_mutex_lock(&m->lock);
    struct asked *a = &m->asked[host];
    if (a->n == 0)
        a->since_ms = now_ms;
    if (now_ms - a->since_ms > MIGRATIONS_STUCK_MS)
        r = err_set(err, -ETIMEDOUT,
                    "%s: no answer for %lld s; no more calls until it answers or its connection ends",
                    m->hosts[host].name, (long long)(now_ms - a->since_ms) / 1000);
    else if (a->n >= MIGRATIONS_ASKING_MOST)
        r = err_set(err, -ETIMEDOUT, "%s: %u questions wait for an answer", m->hosts[host].name, a->n);
    else
        a->n++;
    (void)pthread_mutex_unlock(&m->lock);
    return r;
}

void migrations_answered(struct migrations *m, size_t host, int64_t now_ms)
{
    if (host >= m->n_hosts)
        return;
    (void)pthread_mutex_lock(&m->lock);
    m->asked[host].n--;
    m->asked[host].since_ms = now_ms;
    (void)pthread_mutex_unlock(&m->lock);
}

struct libvirt_migration migrations_settings(const struct migrations *m, const char *vm, const char *name)
{
    return libvirt_migration_of(&m->how, vm, name);
}

const char *const *migrations_shared_paths(const struct migrations *m)
{
    return m->how.shared_paths;
}

/* The newest entry of the VM; with `same` only of this very task. The lock is held. */
static struct entry *find(struct migrations *m, const struct task_name *t, bool same)
{
    struct entry *newest = NULL;

    for (size_t i = 0; i < m->n_entries; i++) {
        struct entry *e = &m->entries[i];

        if (strcmp(e->task.vm, t->vm) == 0 && (!newest || e->number > newest->number))
            newest = e;
    }
    if (newest && same &&
        (newest->task.start != t->start || strcmp(newest->task.from, t->from) != 0 ||
         strcmp(newest->task.to, t->to) != 0))
        return NULL;
    return newest;
}

static struct entry *find_number(struct migrations *m, uint64_t number)
{
    for (size_t i = 0; i < m->n_entries; i++) {
        if (m->entries[i].number == number)
            return &m->entries[i];
    }
    return NULL;
}

struct running {
    struct migrations *of;
    uint64_t number;
    struct call call;
};

static bool waits_for_poll(const struct entry *e)
{
    return e && !e->polled && !e->given_up;
}

/* The last moment at which the call can be left undone. */
static bool may_ask(void *ctx)
{
    struct running *run = ctx;
    struct timespec until;
    int r = 0;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += POLLED_S;
    (void)pthread_mutex_lock(&run->of->lock);
    while (r == 0 && !run->of->closed && waits_for_poll(find_number(run->of, run->number)))
        r = pthread_cond_timedwait(&run->of->changed, &run->of->lock, &until);
    struct entry *e = find_number(run->of, run->number);
    bool may = e && e->polled && !e->given_up && !run->of->closed;
    if (may)
        e->asked = true;
    (void)pthread_mutex_unlock(&run->of->lock);
    return may;
}

static void *run_call(void *arg)
{
    struct running *run = arg;
    struct migrations *m = run->of;
    struct err why = {0};

    run->call.may_ask = may_ask;
    run->call.ctx = run;
    enum call_state end = call_run(m->conns, &run->call, &why);

    (void)pthread_mutex_lock(&m->lock);
    struct entry *e = find_number(m, run->number);
    if (e) {
        e->call = end;
        e->why = end == CALL_REFUSED && e->blame.code ? e->blame : why;
    }
    (void)pthread_mutex_unlock(&m->lock);
    if (end == CALL_NONE)
        log_warning("%s; the migration may go on", why.text);
    if (end == CALL_DONE && run->call.disks.images)
        log_info("%s: VM %s has its disks on %s now; what is left of them on %s is never deleted: %s",
                 run->call.from->name, run->call.task.vm, run->call.to->name, run->call.from->name,
                 run->call.disks.images);
    arena_release(&run->call.arena);
    free(run);
    migrations_release(m);
    return NULL;
}

/* Entries that say nothing any more. The lock is held. */
static void drop_old(struct migrations *m)
{
    while (m->n_entries >= CALLS_KEPT) {
        size_t i = 0;

        while (i < m->n_entries && m->entries[i].call == CALL_RUNS)
            i++;
        if (i == m->n_entries)
            return;
        memmove(&m->entries[i], &m->entries[i + 1], (--m->n_entries - i) * sizeof *m->entries);
    }
}

static struct entry *add(struct migrations *m, const struct task_name *t)
{
    drop_old(m);
    m->entries = xreallocarray(m->entries, m->n_entries + 1, sizeof *m->entries);
    m->entries[m->n_entries] = (struct entry){.task = *t, .number = ++m->last_number};
    return &m->entries[m->n_entries++];
}

static void copy_disks(struct call *c, const struct call_disks *disks)
{
    const struct ids *targets = &disks->targets;

    c->disks =
        (struct call_disks){.targets = {arena_texts(&c->arena, targets->items, targets->n), targets->n},
                            .images = arena_strdup(&c->arena, disks->images)};
}

int migrations_begin(struct migrations *m, const struct task_name *t, const struct libvirt_migration *how,
                     const struct call_disks *disks, struct err *err)
{
    struct running *run = xcalloc(1, sizeof *run);
    int r = 0;

    (void)pthread_mutex_lock(&m->lock);
    const struct entry *other = find(m, t, false);
    if (other && other->call == CALL_RUNS)
        r = err_set(err, -EBUSY, "VM %s has a task that has not ended, %s to %s", t->vm, other->task.from,
                    other->task.to);
    if (m->closed)
        r = err_set(err, -ECANCELED, "the service is stopping");
    if (r == 0) {
        struct entry *e = add(m, t);
        e->call = CALL_RUNS;
        run->number = e->number;
        m->holders++;
    }
    (void)pthread_mutex_unlock(&m->lock);
    if (r < 0) {
        free(run);
        return r;
    }
    run->of = m;
    run->call = (struct call){
        .task = *t, .how = *how, .from_ix = migrations_host(m, t->from), .to_ix = migrations_host(m, t->to)};
    if (disks)
        copy_disks(&run->call, disks);
    run->call.from = &m->hosts[run->call.from_ix]; /* the caller has looked at both */
    run->call.to = &m->hosts[run->call.to_ix];
    r = thread_begin(run_call, run);
    if (r == 0)
        return 0;
    (void)pthread_mutex_lock(&m->lock);
    struct entry *e = find_number(m, run->number);
    if (e)
        e->call = CALL_NONE;
    (void)pthread_mutex_unlock(&m->lock);
    arena_release(&run->call.arena);
    free(run);
    migrations_release(m);
    return err_set(err, r, "no thread can be started for the migration of VM %s", t->vm);
}

enum call_state migrations_call(struct migrations *m, const struct task_name *t, struct err *ret_why)
{
    (void)pthread_mutex_lock(&m->lock);
    struct entry *e = find(m, t, true);
    enum call_state ret = e ? e->call : CALL_NONE;
    if (e) {
        *ret_why = e->why;
        e->polled = true;
        (void)pthread_cond_broadcast(&m->changed);
    }
    (void)pthread_mutex_unlock(&m->lock);
    return ret;
}

bool migrations_running(struct migrations *m, const char *vm, struct task_name *ret)
{
    struct task_name t = {0};

    memcpy(t.vm, vm, strlen(vm) < sizeof t.vm ? strlen(vm) + 1 : 0);
    (void)pthread_mutex_lock(&m->lock);
    const struct entry *e = find(m, &t, false);
    bool runs = e && e->call == CALL_RUNS;
    if (runs)
        *ret = e->task;
    (void)pthread_mutex_unlock(&m->lock);
    return runs;
}

bool migrations_give_up(struct migrations *m, const struct task_name *t)
{
    (void)pthread_mutex_lock(&m->lock);
    struct entry *e = find(m, t, true);
    bool given_up = e && e->call == CALL_RUNS && !e->asked;
    if (given_up) {
        e->given_up = true;
        (void)pthread_cond_broadcast(&m->changed);
    }
    (void)pthread_mutex_unlock(&m->lock);
    return given_up;
}

void migrations_blame(struct migrations *m, const struct task_name *t, const struct err *why)
{
    (void)pthread_mutex_lock(&m->lock);
    struct entry *e = find(m, t, true);
    if (e)
        e->blame = *why;
    (void)pthread_mutex_unlock(&m->lock);
}

bool migrations_wait_for(struct migrations *m, const struct task_name *t, bool silent)
{
    (void)pthread_mutex_lock(&m->lock);
    struct entry *e = find(m, t, true);
    if (!e && silent)
        e = add(m, t);
    if (e && !(silent && e->silent_ms))
        e->silent_ms = silent ? net_now_ms() : 0;
    bool wait = silent && net_now_ms() - e->silent_ms < SILENCE_MS;
    (void)pthread_mutex_unlock(&m->lock);
    return wait;
}

struct leftovers *migrations_leftovers(struct migrations *m)
{
    return m->leftovers;
}
