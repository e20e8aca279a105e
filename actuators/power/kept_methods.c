/* kept_methods.c: makes, lends and destroys the objects of power methods. It calls none of them. */
#include "actuators/power/kept_methods.h"

#include "base/clock.h"
#include "base/thread.h"
#include "base/xalloc.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOK_MS 200 /* between two looks at power_host.stop while waiting */

struct kept {
    struct kept *next;
    const struct power_method_ops *ops;
    char *name;                    /* of the host */
    const struct power_host *host; /* the configuration that `method` was made with */
    struct power_method *method;   /* NULL: none was made yet */
    bool used;
};

struct kept_methods {
    pthread_mutex_t lock; /* of the list and its `used`; not held during calls */
    pthread_cond_t given;
    struct kept *first;
};

struct kept_methods *kept_methods_new(void)
{
    struct kept_methods *k = xcalloc(1, sizeof *k);

    (void)pthread_mutex_init(&k->lock, NULL);
    (void)pthread_cond_init(&k->given, NULL);
    return k;
}

static void drop_method(struct kept *e)
{
    if (e->method)
        e->ops->destroy(e->method);
    e->method = NULL;
}

void kept_methods_free(struct kept_methods *k)
{
    if (!k)
        return;
    for (struct kept *e = k->first, *next; e; e = next) {
        next = e->next;
        drop_method(e);
        free(e->name);
        free(e);
    }
    (void)pthread_cond_destroy(&k->given);
    (void)pthread_mutex_destroy(&k->lock);
    free(k);
}

static struct kept *find_or_add(struct kept_methods *k, const struct power_method_ops *ops,
                                const struct power_host *host)
{
    struct kept *e = k->first;

    while (e && (e->ops != ops || strcmp(e->name, host->name) != 0))
        e = e->next;
    if (e)
        return e;
    e = xcalloc(1, sizeof *e);
    *e = (struct kept){.next = k->first, .ops = ops, .name = xstrdup(host->name)};
    k->first = e;
    return e;
}

/* A call takes at most timeout_s: who waits for longer waits for two others. */
static int wait_for(struct kept_methods *k, const struct kept *e, const struct power_host *host,
                    struct err *err)
{
    long left_ms = 2000 * (long)host->timeout_s + LOOK_MS;

    while (e->used) {
        if (host->stop && atomic_load(host->stop))
            return err_set(err, -ECANCELED, "host %s: the service is going down", host->name);
        if (left_ms <= 0)
            return err_set(err, -EBUSY, "host %s: its controller is kept busy by other calls", host->name);
        if (!thread_wait(&k->given, &k->lock, clock_monotonic_ms() + LOOK_MS))
            left_ms -= LOOK_MS;
    }
    return 0;
}

static bool is_same(const struct power_host *x, const struct power_host *y)
{
    return x == y || (x->all_settings != 0 && x->all_settings == y->all_settings && x->stop == y->stop);
}

int kept_methods_take(struct kept_methods *k, const struct power_method_ops *ops,
                      const struct power_host *host, struct power_method **ret, struct err *err)
{
    if (!k)
        return ops->create(host, ret, err);
    (void)pthread_mutex_lock(&k->lock);
    struct kept *e = find_or_add(k, ops, host);
    int r = wait_for(k, e, host, err);

    if (r == 0)
        e->used = true;
    (void)pthread_mutex_unlock(&k->lock);
    if (r < 0)
        return r;
    if (!e->host || !is_same(e->host, host))
        drop_method(e);
    if (!e->method)
        e->host = host;
    if (!e->method && (r = ops->create(host, &e->method, err)) < 0) {
        e->method = NULL;
        (void)pthread_mutex_lock(&k->lock);
        e->used = false;
        (void)pthread_cond_broadcast(&k->given);
        (void)pthread_mutex_unlock(&k->lock);
        return r;
    }
    *ret = e->method;
    return 0;
}

void kept_methods_give(struct kept_methods *k, const struct power_method_ops *ops, struct power_method *m)
{
    if (!k) {
        ops->destroy(m);
        return;
    }
    (void)pthread_mutex_lock(&k->lock);
    for (struct kept *e = k->first; e; e = e->next) {
        if (e->ops == ops && e->method == m)
            e->used = false;
    }
    (void)pthread_cond_broadcast(&k->given);
    (void)pthread_mutex_unlock(&k->lock);
}

static struct kept *idle_of_stopped(struct kept_methods *k)
{
    for (struct kept *e = k->first; e; e = e->next) {
        if (!e->used && e->method && e->host->stop && atomic_load(e->host->stop))
            return e;
    }
    return NULL;
}

void kept_methods_close(struct kept_methods *k)
{
    struct kept *e;

    if (!k)
        return;
    (void)pthread_mutex_lock(&k->lock);
    while ((e = idle_of_stopped(k))) {
        e->used = true;
        (void)pthread_mutex_unlock(&k->lock);
        drop_method(e);
        (void)pthread_mutex_lock(&k->lock);
        e->used = false;
    }
    (void)pthread_mutex_unlock(&k->lock);
}
