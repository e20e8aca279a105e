/* leftovers.c: looks at what tasks may have left over until it is settled. What follows from what the hosts
 * show is in decide.c, what is done about it in repair.c. */
#include "actuators/libvirt/leftovers.h"

#include "actuators/libvirt/repair.h"
#include "actuators/libvirt/vm_look.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "net/libvirt/connections.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAUSE_S 5 /* between two looks */

struct leftover {
    struct task_name task;
    uint64_t number;
};

struct leftovers {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool closed, running; /* its thread */
    uint64_t last_number;
    struct leftover *items;
    size_t n;
};

struct leftovers *leftovers_new(void)
{
    struct leftovers *l = xcalloc(1, sizeof *l);
    pthread_condattr_t attr;

    (void)pthread_mutex_init(&l->lock, NULL);
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&l->changed, &attr);
    (void)pthread_condattr_destroy(&attr);
    return l;
}

void leftovers_free(struct leftovers *l)
{
    if (!l)
        return;
    (void)pthread_cond_destroy(&l->changed);
    (void)pthread_mutex_destroy(&l->lock);
    free(l->items);
    free(l);
}

void leftovers_close(struct leftovers *l)
{
    (void)pthread_mutex_lock(&l->lock);
    l->closed = true;
    (void)pthread_cond_broadcast(&l->changed);
    (void)pthread_mutex_unlock(&l->lock);
}

/* ---- notes ---------------------------------------------------------------------------------------- */

/* Where the VM runs, or is defined. NULL: on no host that answers. */
static const struct vm_look *place_of(const struct vm_looks *l)
{
    const struct vm_look *both[] = {&l->to, &l->from};

    for (size_t i = 0; i < 2; i++) {
        if (both[i]->side.is == SIDE_RUNNING)
            return both[i];
    }
    return l->to.side.is == SIDE_OFF ? &l->to : l->from.side.is == SIDE_OFF ? &l->from : NULL;
}

static bool has_note(const struct vm_look *l)
{
    CLEANUP(freep)
    char *text = virDomainGetMetadata(l->dom, VIR_DOMAIN_METADATA_ELEMENT, LIBVIRT_LEFT_OVER_URI,
                                      VIR_DOMAIN_AFFECT_CURRENT);

    return text != NULL;
}

/* text: NULL: removes it. */
static void write_note(const struct vm_look *l, const char *text)
{
    const unsigned affect = (l->side.is == SIDE_RUNNING ? VIR_DOMAIN_AFFECT_LIVE : 0u) |
                            (l->side.defined ? VIR_DOMAIN_AFFECT_CONFIG : 0u);
    struct err err = {0};

    if (virDomainSetMetadata(l->dom, VIR_DOMAIN_METADATA_ELEMENT, text, LIBVIRT_LEFT_OVER_PREFIX,
                             LIBVIRT_LEFT_OVER_URI, affect) == 0)
        return;
    (void)libvirt_connections_fail(&err, l->host);
    log_warning("%s; VM %s: what a migration may have left over cannot be noted", err.text, l->name);
}

void leftovers_note(const struct vm_looks *looks, const struct task_name *t)
{
    const struct vm_look *at = place_of(looks);
    char task[TASK_NAME_MAX], text[TASK_NAME_MAX + 64];

    if (!at || has_note(at) || task_name_write(t, task, NULL) < 0 || strpbrk(task, "<>&'\""))
        return;
    (void)snprintf(text, sizeof text, "<" LIBVIRT_LEFT_OVER_ELEMENT " task='%s'/>", task);
    write_note(at, text);
}

static void remove_notes(const struct vm_looks *l)
{
    const struct vm_look *both[] = {&l->from, &l->to};

    for (size_t i = 0; i < 2; i++) {
        if (both[i]->dom && has_note(both[i]))
            write_note(both[i], NULL);
    }
}

void leftovers_found(struct migrations *m, const char *vm, const char *host, const char *task)
{
    struct task_name t, running;

    if (task_name_read(task, &t, NULL) < 0 || strcmp(t.vm, vm) != 0 || migrations_running(m, vm, &running))
        return;
    if (strcmp(host, t.from) != 0 && strlen(host) < sizeof t.to) /* it has gone on since */
        memcpy(t.to, host, strlen(host) + 1);
    if (strcmp(t.from, t.to) != 0 && migrations_host(m, t.from) != SIZE_MAX &&
        migrations_host(m, t.to) != SIZE_MAX)
        migrations_settle_later(m, &t);
}

/* ---- the thread ----------------------------------------------------------------------------------- */

/* One look at one task. True: nothing of it is left over any more. */
static bool settle(struct migrations *m, const struct task_name *t)
{
    struct vm_looks looks;
    struct err err = {0};

    vm_look_take_both(m, t, false, &looks);
    struct decision d = libvirt_decide(&looks.from.side, &looks.to.side, CALL_NONE, t->start, t->persistent);
    int r = d.verdict == VERDICT_GOES_ON ? 0 : repair_run(&looks, t, &d, &err);

    bool settled = d.verdict != VERDICT_GOES_ON && d.settled && r != REPAIR_AGAIN;

    if (settled)
        remove_notes(&looks);
    else if (d.verdict != VERDICT_GOES_ON)
        leftovers_note(&looks, t);
    vm_look_release_both(&looks);
    if (r < 0)
        log_warning("%s", err.text);
    return settled;
}

/* The next task after number *at. */
static bool next_task(struct leftovers *l, uint64_t *at, struct task_name *ret)
{
    const struct leftover *next = NULL;

    (void)pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < l->n && !next; i++)
        next = l->items[i].number > *at ? &l->items[i] : NULL; /* in the order of their numbers */
    if (next) {
        *at = next->number;
        *ret = next->task;
    }
    (void)pthread_mutex_unlock(&l->lock);
    return next != NULL;
}

static void drop(struct leftovers *l, uint64_t number)
{
    (void)pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < l->n; i++) {
        if (l->items[i].number != number)
            continue;
        memmove(&l->items[i], &l->items[i + 1], (--l->n - i) * sizeof *l->items);
        break;
    }
    (void)pthread_mutex_unlock(&l->lock);
}

/* False: the source is closed, or nothing is left over. */
static bool wait_for_next_round(struct leftovers *l)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += PAUSE_S;
    (void)pthread_mutex_lock(&l->lock);
    while (!l->closed && pthread_cond_timedwait(&l->changed, &l->lock, &until) != ETIMEDOUT)
        ;
    bool any = !l->closed && l->n > 0;
    l->running = any;
    (void)pthread_mutex_unlock(&l->lock);
    return any;
}

struct thread {
    struct leftovers *of;
    struct migrations *m; /* held: it owns the leftovers */
};

static void *run(void *arg)
{
    struct thread *x = arg;
    struct task_name t;

    while (wait_for_next_round(x->of)) {
        for (uint64_t at = 0; next_task(x->of, &at, &t);) {
            if (settle(x->m, &t))
                drop(x->of, at);
        }
    }
    migrations_release(x->m);
    free(x);
    return NULL;
}

static void start(struct leftovers *l, struct migrations *m)
{
    struct thread *x = xcalloc(1, sizeof *x);

    *x = (struct thread){.of = l, .m = migrations_hold(m)};
    if (migrations_thread(run, x) == 0)
        return;
    (void)pthread_mutex_lock(&l->lock);
    l->running = false; /* the next leftover tries it again */
    (void)pthread_mutex_unlock(&l->lock);
    migrations_release(m);
    free(x);
}

/* ---- the states of both hosts ----------------------------------------------------------------------- */

static bool has(const struct leftovers *l, const struct task_name *t)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct task_name *is = &l->items[i].task;

        if (is->start == t->start && strcmp(is->vm, t->vm) == 0 && strcmp(is->from, t->from) == 0 &&
            strcmp(is->to, t->to) == 0)
            return true;
    }
    return false;
}

void leftovers_add(struct leftovers *l, struct migrations *m, const struct task_name *t)
{
    (void)pthread_mutex_lock(&l->lock);
    if (!has(l, t)) {
        l->items = xreallocarray(l->items, l->n + 1, sizeof *l->items);
        l->items[l->n++] = (struct leftover){.task = *t, .number = ++l->last_number};
    }
    bool begin = !l->running && !l->closed;
    l->running = l->running || begin;
    (void)pthread_mutex_unlock(&l->lock);
    if (begin)
        start(l, m);
}

void leftovers_redirect(struct leftovers *l, const struct task_name *t)
{
    (void)pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < l->n; i++) {
        struct task_name *is = &l->items[i].task;

        if (strcmp(is->vm, t->vm) == 0 && strcmp(is->from, t->to) != 0)
            memcpy(is->to, t->to, sizeof is->to);
    }
    (void)pthread_mutex_unlock(&l->lock);
}
