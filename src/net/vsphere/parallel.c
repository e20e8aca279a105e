/* parallel.c: threads that share one session's requests. It knows no method. */
#include "net/vsphere/parallel.h"

#include "base/xalloc.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

struct parallel {
    struct vsphere *connections[PARALLEL_MAX]; /* NULL: not made yet */
};

struct run {
    size_t n;
    int (*work)(void *ctx, struct vsphere *v, size_t i, struct err *err);
    void *ctx;
    pthread_mutex_t lock;
    bool *done; /* by item */
    size_t next;
    bool expired;
    int code; /* of the first item that failed */
    size_t failed;
    struct err err;
};

struct worker {
    struct run *run;
    struct vsphere *v;
    pthread_t thread;
};

void parallel_free(struct parallel *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < PARALLEL_MAX; i++)
        vsphere_free(p->connections[i]);
    free(p);
}

/* The next item, or n: there is none, or the run has failed. */
static size_t take(struct run *r)
{
    size_t i = r->n;

    (void)pthread_mutex_lock(&r->lock);
    while (r->next < r->n && r->done[r->next])
        r->next++;
    if (r->code == 0 && !r->expired && r->next < r->n)
        i = r->next++;
    (void)pthread_mutex_unlock(&r->lock);
    return i;
}

static void note(struct run *r, size_t i, int code, const struct err *err)
{
    (void)pthread_mutex_lock(&r->lock);
    if (code == 0) {
        r->done[i] = true;
    } else if (code == -EKEYEXPIRED) {
        r->expired = true;
    } else if (r->code == 0 || i < r->failed) {
        r->code = code;
        r->failed = i;
        r->err = *err;
    }
    (void)pthread_mutex_unlock(&r->lock);
}

static void *work_on(void *arg)
{
    struct worker *w = arg;

    for (size_t i = take(w->run); i < w->run->n; i = take(w->run)) {
        struct err err = {0};
        note(w->run, i, w->run->work(w->run->ctx, w->v, i, &err), &err);
    }
    return NULL;
}

/* Starts fewer threads where one cannot be made. */
static size_t start_threads(struct parallel *p, struct vsphere *v, struct run *r, struct worker *workers)
{
    size_t n = 0;

    for (size_t i = 0; i < PARALLEL_MAX && i < r->n; i++) {
        if (!p->connections[i] && vsphere_new_connection(v, &p->connections[i], NULL) < 0)
            break;
        vsphere_connect_to_session(p->connections[i], v);
        workers[n] = (struct worker){.run = r, .v = p->connections[i]};
        if (pthread_create(&workers[n].thread, NULL, work_on, &workers[n]) != 0)
            break;
        n++;
    }
    return n;
}

static int run_once(struct parallel *p, struct vsphere *v, struct run *r, struct err *err)
{
    struct worker workers[PARALLEL_MAX];
    int code = vsphere_login(v, err); /* before the connections take over the session */

    if (code < 0)
        return code;
    r->next = 0;
    r->expired = false;
    size_t n = start_threads(p, v, r, workers);
    if (n == 0)
        return err_set(err, -EAGAIN, "%s: no thread to ask with", vsphere_url(v));
    for (size_t i = 0; i < n; i++)
        (void)pthread_join(workers[i].thread, NULL);
    if (r->code < 0 && err)
        *err = r->err;
    return r->code < 0  ? r->code
           : r->expired ? err_set(err, -EKEYEXPIRED, "%s: the session has expired", vsphere_url(v))
                        : 0;
}

int parallel_run(struct parallel **p, struct vsphere *v, size_t n,
                 int (*work)(void *ctx, struct vsphere *v, size_t i, struct err *err), void *ctx,
                 struct err *err)
{
    if (n <= 1)
        return n == 0 ? 0 : work(ctx, v, 0, err);
    struct run r = {.n = n, .work = work, .ctx = ctx, .done = xcalloc(n, sizeof *r.done)};

    if (!*p)
        *p = xcalloc(1, sizeof **p);
    (void)pthread_mutex_init(&r.lock, NULL);
    int code = run_once(*p, v, &r, err);
    if (code == -EKEYEXPIRED) {
        vsphere_expired(v);
        code = run_once(*p, v, &r, err);
    }
    (void)pthread_mutex_destroy(&r.lock);
    free(r.done);
    return code;
}
