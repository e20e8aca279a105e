/* acting.c: the threads that change the cluster, and the engine's actuators port in front of them. */
#include "daemon/process.h"
#include "daemon/threads.h"

#include "base/xalloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORKERS 4
#define METERERS 4 /* as many as the engine asks at a time */
/* Hosts with controllers of their own: each may keep its caller waiting for as long as it is deaf, a rack of
 * them would hold up all migrations, and a hundred hosts are woken at a time. */
#define SWITCHERS 8
/* What was proven when an order was given is not any more, where it had to wait for so long for a thread. */
#define PROVEN_HOLDS_US (30 * INT64_C(1000000))
#define THREADS (WORKERS + METERERS + SWITCHERS)

/* What the actuators are made of. It does not change, and outlives them; a reload brings another one. */
struct kit {
    const struct actuator_ops *ops; /* NULL: there are none */
    const struct source_config *cfg;
};

/* An order with strings of its own. */
struct task_order {
    struct queue_item item;
    bool end;       /* the worker's last */
    struct kit kit; /* which carries it out */
    bool sets_pools;
    int64_t given_us;   /* when, on the steady clock */
    uint64_t measures;  /* the serial of the question what `host` draws; 0: it is another order */
    struct order order; /* unless it sets pools, or measures */
    char *uid, *vm, *from, *to, *host, *task;
    char *host_name;                /* NULL: not known */
    struct settings_order settings; /* if it does */
    struct pool_setting *list;
};

struct worker {
    pthread_t thread;
    struct actuators *actuators;
    struct queue *orders;      /* what it takes its orders from */
    struct kit kit;            /* of the actuator; the thread's own, once it runs */
    struct actuator *actuator; /* the same; NULL: none could be made of it */
    bool running;
};

struct actuators {
    struct kit kit; /* of orders that come now */
    const atomic_bool *stop;
    struct worker workers[THREADS]; /* those that act, that read meters, that switch hosts */
    struct queue orders, questions, switches;
    struct queue *news;
    const char *(*name)(void *ctx, const char *host); /* NULL: nobody can say */
    void *name_ctx;
};

void acting_names(struct actuators *h, const char *(*name)(void *ctx, const char *host), void *ctx)
{
    h->name = name;
    h->name_ctx = ctx;
}

static void order_free(struct queue_item *item)
{
    struct task_order *t = (struct task_order *)item;

    free(t->uid);
    free(t->vm);
    free(t->from);
    free(t->to);
    free(t->host);
    free(t->task);
    free(t->host_name);
    for (size_t i = 0; i < t->settings.request.n_settings; i++)
        free((void *)(uintptr_t)t->list[i].pool);
    free(t->list);
    free(t);
}

static void carry_out(const struct actuator_ops *ops, struct actuator *x, const struct order *o,
                      struct order_result *ret)
{
    switch (o->verb) {
    case ORDER_CHECK:
        ret->code = ops->check(x, &o->request, &ret->err);
        return;
    case ORDER_START:
        ret->code = ops->start(x, &o->request, ret->task, &ret->err);
        return;
    case ORDER_POLL:
        ret->code = ops->poll(x, &o->request, o->task, &ret->progress, &ret->err);
        return;
    case ORDER_CANCEL:
        ret->code = ops->cancel(x, &o->request, o->task, &ret->err);
        return;
    }
}

/* The answer to an order. The code is -EINPROGRESS: it is yet to be carried out. */
static struct news *answer_to(const struct task_order *t, int code, const struct err *err)
{
    struct news *n = xcalloc(1, sizeof *n);

    if (t->measures != 0) {
        n->kind = NEWS_MEASURED;
        n->host = xstrdup(t->host);
        n->measured = (struct measure_result){.serial = t->measures, .host = n->host, .code = code};
    } else if (t->sets_pools) {
        n->kind = NEWS_SETTINGS_RESULT;
        n->settings.serial = t->settings.serial;
        n->settings.code = code;
        n->settings.err = *err;
    } else {
        n->kind = NEWS_ORDER_RESULT;
        n->result.action = t->order.action;
        n->result.verb = t->order.verb;
        n->result.code = code;
        n->result.err = *err;
    }
    return n;
}

static struct news *do_order(const struct actuator_ops *ops, struct actuator *x, const struct task_order *t)
{
    struct err err = {0};
    struct news *n = answer_to(t, -EINPROGRESS, &err);

    if (t->host && ops->call_host)
        ops->call_host(x, t->host, t->host_name);
    if (t->measures != 0)
        n->measured.code = ops->measure(x, t->host, &n->measured.watts, &err);
    else if (t->sets_pools)
        n->settings.code = ops->apply_settings(x, &t->settings.request, &n->settings.err);
    else
        carry_out(ops, x, &t->order, &n->result);
    return n;
}

/* Makes the worker's actuator anew if that of the order is another one. */
static int refit(struct worker *w, const struct kit *kit, struct err *err)
{
    if (w->actuator && w->kit.ops == kit->ops && w->kit.cfg == kit->cfg)
        return 0;
    if (w->actuator)
        w->kit.ops->destroy(w->actuator);
    w->actuator = NULL;
    w->kit = *kit;
    return kit->ops->create(kit->cfg, &w->actuator, err);
}

/* An order may have waited for minutes, behind those of controllers that are deaf. */
static void age_request(struct task_order *t)
{
    struct operation *q = &t->order.request;
    const int64_t waited_us = process_steady_us() - t->given_us;

    if (waited_us > PROVEN_HOLDS_US)
        q->proven_empty = false; /* the engine asks again */
    if (q->now > 0)
        q->now += waited_us / (int64_t)USEC_PER_S;
}

static void *acting_main(void *arg)
{
    struct worker *w = arg;
    struct actuators *h = w->actuators;

    for (;;) {
        struct task_order *t = (struct task_order *)queue_pop(w->orders);

        if (!t)
            break;
        if (t->end) {
            order_free(&t->item);
            break;
        }
        if (h->stop && atomic_load(h->stop)) { /* not begun: the next process asks again */
            order_free(&t->item);
            continue;
        }
        age_request(t);
        struct err err = {0};
        int r = refit(w, &t->kit, &err);
        struct news *n = r < 0 ? answer_to(t, r, &err) : do_order(w->kit.ops, w->actuator, t);

        order_free(&t->item);
        queue_push(h->news, &n->item);
    }
    if (w->actuator)
        w->kit.ops->destroy(w->actuator);
    return NULL;
}

static int worker_start(struct worker *w, const struct kit *kit, struct err *err)
{
    int r = refit(w, kit, err);

    if (r < 0)
        return r;
    r = pthread_create(&w->thread, NULL, acting_main, w);
    if (r != 0) {
        w->kit.ops->destroy(w->actuator);
        w->actuator = NULL;
        return err_set(err, -r, "no thread to act with: %s", strerror(r));
    }
    w->running = true;
    return 0;
}

/* Where the i-th takes its orders from; NULL: there are none for it. */
static struct queue *orders_of(struct actuators *h, const struct actuator_ops *ops, size_t i)
{
    if (!ops)
        return NULL;
    if (i < WORKERS)
        return &h->orders;
    if (i < WORKERS + METERERS)
        return ops->measure ? &h->questions : NULL;
    return ops->call_host ? &h->switches : NULL;
}

/* Those that the kit has use for, and that do not run yet. */
static int workers_start(struct actuators *h, const struct kit *kit, struct err *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < THREADS; i++) {
        struct worker *w = &h->workers[i];

        if (w->running || !orders_of(h, kit->ops, i))
            continue;
        w->actuators = h;
        w->orders = orders_of(h, kit->ops, i);
        r = worker_start(w, kit, err);
    }
    return r;
}

int acting_change(struct actuators *h, const struct actuator_ops *ops, const struct source_config *cfg,
                  struct err *err)
{
    const struct kit kit = {.ops = ops, .cfg = cfg};
    int r = workers_start(h, &kit, err);

    if (r == 0)
        h->kit = kit;
    return r;
}

int acting_start(const struct actuator_ops *ops, const struct source_config *cfg, struct queue *news,
                 struct actuators **ret, struct err *err)
{
    struct actuators *h = xcalloc(1, sizeof *h);
    int r = queue_init(&h->orders, true);

    h->kit = (struct kit){.ops = ops, .cfg = cfg};
    h->stop = cfg->stop;
    h->news = news;
    if (r == 0 && (r = queue_init(&h->questions, true)) < 0)
        queue_release(&h->orders, order_free);
    if (r == 0 && (r = queue_init(&h->switches, true)) < 0) {
        queue_release(&h->orders, order_free);
        queue_release(&h->questions, order_free);
    }
    if (r < 0) {
        free(h);
        return err_set(err, r, "no descriptor for a queue: %s", strerror(-r));
    }
    if ((r = workers_start(h, &h->kit, err)) < 0) {
        (void)acting_stop(h, INT32_MAX); /* they have nothing to do yet */
        acting_free(h);
        return r;
    }
    *ret = h;
    return 0;
}

static void take_strings(struct task_order *t, const struct order *o)
{
    t->uid = xstrdup(o->request.uid);
    t->vm = xstrdup(o->request.vm);
    t->from = xstrdup(o->request.from);
    t->to = xstrdup(o->request.to);
    t->host = xstrdup(o->request.host);
    t->task = xstrdup(o->task);
    t->order = *o;
    t->order.task = t->task;
    t->order.request.uid = t->uid;
    t->order.request.vm = t->vm;
    t->order.request.from = t->from;
    t->order.request.to = t->to;
    t->order.request.host = t->host;
    t->given_us = process_steady_us();
}

static int acting_submit(struct actuators *h, const struct order *order, struct err *err)
{
    if (!h->kit.ops)
        return err_set(err, -ENOTSUP, "this kind of source can only be looked at");
    struct task_order *t = xcalloc(1, sizeof *t);

    t->kit = h->kit;
    take_strings(t, order);
    t->host_name = h->name && t->host ? xstrdup(h->name(h->name_ctx, t->host)) : NULL;
    bool power = order->request.kind == OPERATION_STANDBY || order->request.kind == OPERATION_WAKE;

    queue_push(power && h->kit.ops->call_host ? &h->switches : &h->orders, &t->item);
    return 0;
}

static int acting_apply_settings(struct actuators *h, const struct settings_order *order, struct err *err)
{
    const struct settings_request *q = &order->request;

    if (!h->kit.ops || !h->kit.ops->apply_settings)
        return err_set(err, -ENOTSUP, "this kind of source has no pools on its hosts that could be set");
    struct task_order *t = xcalloc(1, sizeof *t);

    t->kit = h->kit;
    t->sets_pools = true;
    t->host = xstrdup(q->host);
    t->list = xcalloc(q->n_settings ? q->n_settings : 1, sizeof *t->list);
    for (size_t i = 0; i < q->n_settings; i++) {
        t->list[i] = q->settings[i];
        t->list[i].pool = xstrdup(q->settings[i].pool);
    }
    t->settings = (struct settings_order){
        .serial = order->serial,
        .request = {.host = t->host, .settings = t->list, .n_settings = q->n_settings},
    };
    queue_push(&h->orders, &t->item);
    return 0;
}

static int acting_measure(struct actuators *h, uint64_t serial, const char *host, struct err *err)
{
    if (!h->kit.ops || !h->kit.ops->measure)
        return err_set(err, -ENOTSUP, "this kind of source has no meters");
    struct task_order *t = xcalloc(1, sizeof *t);

    t->kit = h->kit;
    t->measures = serial;
    t->host = xstrdup(host);
    t->host_name = h->name ? xstrdup(h->name(h->name_ctx, host)) : NULL;
    queue_push(&h->questions, &t->item);
    return 0;
}

const struct actuators_ops acting_ops = {
    .submit = acting_submit, .apply_settings = acting_apply_settings, .measure = acting_measure};

int acting_stop(struct actuators *h, int64_t deadline_s)
{
    const struct timespec until = {.tv_sec = deadline_s};
    bool all = true;

    if (!h)
        return 0;
    for (size_t i = 0; i < THREADS; i++) {
        if (!h->workers[i].running)
            continue;
        struct task_order *t = xcalloc(1, sizeof *t);

        t->end = true;
        queue_push(h->workers[i].orders, &t->item);
    }
    for (size_t i = 0; i < THREADS; i++) {
        if (!h->workers[i].running)
            continue;
        if (pthread_timedjoin_np(h->workers[i].thread, NULL, &until) != 0)
            all = false;
        else
            h->workers[i].running = false;
    }
    return all ? 0 : -ETIMEDOUT;
}

void acting_free(struct actuators *h)
{
    if (!h)
        return;
    queue_release(&h->orders, order_free);
    queue_release(&h->questions, order_free);
    queue_release(&h->switches, order_free);
    free(h);
}
