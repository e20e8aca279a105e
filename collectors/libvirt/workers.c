/* workers.c: the threads that ask the hosts. What they ask is in host_look.c. */
#include "collectors/libvirt/workers.h"

#include "base/thread.h"
#include "base/xalloc.h"
#include "net/http.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define WAKE_MS 100 /* how often the waiting collector looks at *stop */

struct result {
    bool busy, there;
    int r;
    struct err err;
    struct host_look *look;
};

struct workers {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    unsigned holders;
    struct libvirt_connections *conns;
    int64_t conn_ms;
    bool disks;
    size_t n;
    char **names;
    struct result results[];
};

struct question {
    struct workers *of;
    size_t host;
    struct host_look *before;
    struct host_look *verdicts; /* to be filled; NULL: all is asked for */
    struct cpu_list cpus;
};

static void release(struct workers *w)
{
    (void)pthread_mutex_lock(&w->lock);
    bool last = --w->holders == 0;
    (void)pthread_mutex_unlock(&w->lock);
    if (!last)
        return;
    for (size_t i = 0; i < w->n; i++) {
        host_look_release(w->results[i].look);
        free(w->names[i]);
    }
    free(w->names);
    libvirt_connections_release(w->conns);
    (void)pthread_mutex_destroy(&w->lock);
    (void)pthread_cond_destroy(&w->ended);
    free(w);
}

static void free_question(struct question *q)
{
    host_look_release(q->before);
    host_look_release(q->verdicts);
    arena_release(&q->cpus.arena);
    free(q);
}

static int ask_host(struct question *q, struct host_look **ret, struct err *err)
{
    struct workers *w = q->of;
    virConnectPtr conn = NULL;
    int r = libvirt_connections_get(w->conns, q->host, net_now_ms() + w->conn_ms, NULL, &conn, err);

    if (r == 0 && q->verdicts) {
        host_look_compare_cpus(conn, q->verdicts, q->before, &q->cpus);
        *ret = host_look_hold(q->verdicts);
    } else if (r == 0) {
        r = host_look_take(conn, w->names[q->host], w->disks, q->before, ret, err);
        if (r == 0)
            host_look_compare_cpus(conn, *ret, q->before, &q->cpus);
    }
    if (conn)
        libvirt_connections_put(w->conns, q->host, conn);
    return r;
}

static void *run(void *arg)
{
    struct question *q = arg;
    struct workers *w = q->of;
    struct result ret = {.there = true};

    ret.r = ask_host(q, &ret.look, &ret.err);
    (void)pthread_mutex_lock(&w->lock);
    host_look_release(w->results[q->host].look);
    w->results[q->host] = ret;
    (void)pthread_cond_broadcast(&w->ended);
    (void)pthread_mutex_unlock(&w->lock);
    free_question(q);
    release(w);
    return NULL;
}

/* The list may grow while the thread is at work. */
static void copy_cpus(struct cpu_list *to, const struct cpu_list *from)
{
    to->items = arena_array(&to->arena, struct cpu_verdict, from->n);
    for (; to->n < from->n; to->n++)
        to->items[to->n] =
            (struct cpu_verdict){.type = arena_strdup(&to->arena, from->items[to->n].type),
                                 .arch = arena_strdup(&to->arena, from->items[to->n].arch),
                                 .cpu_xml = arena_strdup(&to->arena, from->items[to->n].cpu_xml)};
}

bool workers_begin(struct workers *w, size_t host, struct host_look *before,
                   const struct host_look *verdicts_on, const struct cpu_list *cpus)
{
    (void)pthread_mutex_lock(&w->lock);
    struct result *res = &w->results[host];
    bool busy = res->busy;

    if (!busy) {
        host_look_release(res->look);
        *res = (struct result){.busy = true};
        w->holders++;
    }
    (void)pthread_mutex_unlock(&w->lock);
    if (busy)
        return false;
    struct question *q = xcalloc(1, sizeof *q);

    *q = (struct question){.of = w,
                           .host = host,
                           .before = host_look_hold(before),
                           .verdicts = verdicts_on ? host_look_of_verdicts(verdicts_on) : NULL};
    copy_cpus(&q->cpus, cpus);
    int r = thread_begin(run, q);
    if (r < 0) {
        (void)pthread_mutex_lock(&w->lock);
        *res = (struct result){.there = true, .r = r};
        (void)err_set(&res->err, r, "%s: no thread can be started", w->names[host]);
        (void)pthread_mutex_unlock(&w->lock);
        free_question(q);
        release(w);
    }
    return true;
}

static bool some_busy(const struct workers *w, const bool *hosts)
{
    for (size_t i = 0; i < w->n; i++) {
        if (hosts[i] && w->results[i].busy)
            return true;
    }
    return false;
}

void workers_wait(struct workers *w, const bool *hosts, int64_t deadline_ms, const atomic_bool *stop)
{
    (void)pthread_mutex_lock(&w->lock);
    while (some_busy(w, hosts) && net_now_ms() < deadline_ms && !(stop && *stop)) {
        int64_t until = net_now_ms() + WAKE_MS;

        if (until > deadline_ms)
            until = deadline_ms;
        (void)thread_wait(&w->ended, &w->lock, until);
    }
    (void)pthread_mutex_unlock(&w->lock);
}

int workers_take(struct workers *w, size_t host, struct host_look **ret, struct err *err)
{
    (void)pthread_mutex_lock(&w->lock);
    struct result *res = &w->results[host];
    int r = res->busy ? -EBUSY : !res->there ? -ENOENT : res->r;

    if (!res->busy && res->there) {
        if (r == 0)
            *ret = res->look;
        else if (err)
            *err = res->err;
        *res = (struct result){0};
    }
    (void)pthread_mutex_unlock(&w->lock);
    return r;
}

struct workers *workers_new(struct libvirt_connections *conns, const char *const *names, size_t n,
                            int64_t conn_ms, bool disks)
{
    struct workers *w = xcalloc(1, sizeof *w + n * sizeof w->results[0]);

    (void)pthread_mutex_init(&w->lock, NULL);
    (void)pthread_cond_init(&w->ended, NULL);
    w->holders = 1;
    w->conns = libvirt_connections_hold(conns);
    w->conn_ms = conn_ms;
    w->disks = disks;
    w->n = n;
    w->names = xcalloc(n + 1, sizeof *w->names);
    for (size_t i = 0; i < n; i++)
        w->names[i] = xstrdup(names[i]);
    return w;
}

void workers_free(struct workers *w)
{
    if (w)
        release(w);
}
