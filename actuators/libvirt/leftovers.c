/* leftovers.c: looks at what tasks may have left over until it is settled. What follows from what the hosts
 * show is in decide.c, what is done about it in repair.c, which hosts may have something in leftover_list.c.
 */
#include "actuators/libvirt/leftovers.h"

#include "actuators/libvirt/leftover_list.h"
#include "actuators/libvirt/repair.h"
#include "base/cleanup.h"
#include "base/fingerprint.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "base/thread.h"
#include "base/xalloc.h"
#include "net/libvirt/connections.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PAUSE_S 5 /* between two looks */

/* Two hosts that a thread looks at. */
struct pair {
    char from[TASK_NAME_MAX], to[TASK_NAME_MAX];
};

struct leftovers {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool closed;
    struct leftover_list list;
    struct pair *pairs;
    size_t n_pairs;
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
    leftover_list_release(&l->list);
    free(l->pairs);
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

/* The next value of an attribute `task`, which has neither quotes nor entities. */
static const char *next_task_text(const char *at, char ret[TASK_NAME_MAX])
{
    while (at && (at = strstr(at, "task="))) {
        const char quote = at[strlen("task=")];
        const char *begin = at + strlen("task=") + 1;
        size_t len = quote == '"' || quote == '\'' ? strcspn(begin, quote == '"' ? "\"" : "'") : 0;

        at += strlen("task=");
        if (len == 0 || begin[len] == '\0' || len >= TASK_NAME_MAX)
            continue;
        memcpy(ret, begin, len);
        ret[len] = '\0';
        return begin + len;
    }
    return NULL;
}

/* Both are about what the same host has. */
static bool is_of_same_host(const struct task_name *x, const struct task_name *y)
{
    return strcmp(x->from, y->from) == 0 || (strcmp(x->from, y->to) == 0 && strcmp(x->to, y->from) == 0);
}

/* The element has the first task as its attribute, and the others in elements of its own. */
static void add_to_note(struct strbuf *b, const char *task, size_t *n)
{
    if ((*n)++ == 0)
        strbuf_printf(b, "<" LIBVIRT_LEFT_OVER_ELEMENT " task='%s'>", task);
    else
        strbuf_printf(b, "<" LIBVIRT_LEFT_OVER_ALSO " task='%s'/>", task);
}

int leftovers_note_text(const char *before, const struct task_name *t, bool there,
                        char ret[LEFTOVER_NOTE_MAX])
{
    CLEANUP(strbuf_releasep) struct strbuf b = {0};
    char task[TASK_NAME_MAX];
    size_t n = 0;

    strbuf_init(&b, LEFTOVER_NOTE_MAX);
    for (const char *at = before; (at = next_task_text(at, task));) {
        struct task_name is;

        if (task_name_read(task, &is, NULL) < 0)
            continue;
        const bool knows_more = is.arrived && !t->arrived; /* another process has seen it */
        const bool keeps = knows_more && (!there || leftover_list_is_same(&is, t));

        if (keeps || !is_of_same_host(&is, t))
            add_to_note(&b, task, &n);
        there = there && !keeps;
    }
    if (there && task_name_write(t, task, NULL) == 0 && !strpbrk(task, "<>&'\""))
        add_to_note(&b, task, &n);
    if (n == 0)
        return -ENOENT;
    strbuf_puts(&b, "</" LIBVIRT_LEFT_OVER_ELEMENT ">");
    if (b.overflow)
        return -E2BIG;
    memcpy(ret, b.text, strlen(b.text) + 1);
    return 0;
}

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

/* Whether both have the same tasks: libvirt writes the element in its own way. */
static bool is_same_note(const char *x, const char *y)
{
    char a[TASK_NAME_MAX], b[TASK_NAME_MAX];

    do {
        x = next_task_text(x, a);
        y = next_task_text(y, b);
    } while (x && y && strcmp(a, b) == 0);
    return !x && !y;
}

static void set_note(const struct vm_look *l, const struct task_name *t, bool there)
{
    const unsigned affect = (l->side.is == SIDE_OFF ? 0u : VIR_DOMAIN_AFFECT_LIVE) |
                            (l->side.defined ? VIR_DOMAIN_AFFECT_CONFIG : 0u);
    char text[LEFTOVER_NOTE_MAX];
    struct err err = {0};

    if (!l->dom)
        return;
    CLEANUP(freep)
    char *before = virDomainGetMetadata(l->dom, VIR_DOMAIN_METADATA_ELEMENT, LIBVIRT_LEFT_OVER_URI,
                                        VIR_DOMAIN_AFFECT_CURRENT);
    const int r = leftovers_note_text(before, t, there, text);

    if (r == -E2BIG || (r == -ENOENT && !before) || (r == 0 && before && is_same_note(before, text)))
        return;
    if (virDomainSetMetadata(l->dom, VIR_DOMAIN_METADATA_ELEMENT, r == 0 ? text : NULL,
                             LIBVIRT_LEFT_OVER_PREFIX, LIBVIRT_LEFT_OVER_URI, affect) == 0)
        return;
    (void)libvirt_connections_fail(&err, l->host);
    log_warning("%s; VM %s: possible leftovers of a migration cannot be noted in its metadata", err.text,
                l->name);
}

/* ---- threads -------------------------------------------------------------------------------------- */

struct thread {
    struct leftovers *of;
    struct migrations *m; /* held: it owns the leftovers */
    struct pair pair;
};

/* One look at one task. True: nothing of it is left over any more. */
static bool settle(struct thread *x, const struct task_name *t, struct err *err)
{
    struct task_name running;
    struct vm_looks looks;

    if (migrations_running(x->m, t->vm, &running)) /* its end tells where the VM is */
        return false;
    vm_look_take_both(x->m, t, false, &looks);
    const struct decision d = libvirt_decide(&looks.from.side, &looks.to.side, CALL_NONE, t);
    const int r = d.verdict == VERDICT_GOES_ON ? 0 : repair_run(&looks, t, &d, err);
    const bool settled = d.verdict != VERDICT_GOES_ON && d.settled && r != REPAIR_AGAIN;

    if (d.verdict != VERDICT_GOES_ON)
        leftovers_task_ended(x->of, x->m, &looks, t, &d, CALL_NONE, !settled);
    vm_look_release_both(&looks);
    return settled;
}

/* The next task of the thread after number *at. */
static bool next_task(struct thread *x, uint64_t *at, struct task_name *ret)
{
    struct leftovers *l = x->of;

    (void)pthread_mutex_lock(&l->lock);
    const struct leftover *next = leftover_list_next(&l->list, x->pair.from, x->pair.to, *at);
    if (next) {
        *at = next->number;
        *ret = next->task;
    }
    bool any = next && !l->closed;
    (void)pthread_mutex_unlock(&l->lock);
    return any;
}

/* A fault that stays is logged once. */
static void say(struct leftovers *l, const struct task_name *t, uint64_t number, const struct err *err)
{
    const uint64_t print = fingerprint_add(FINGERPRINT_NONE, err->code ? err->text : "");
    bool is_new = err->code != 0;

    (void)pthread_mutex_lock(&l->lock);
    struct leftover *is = leftover_list_next(&l->list, t->from, t->to, number - 1);
    if (is && is->number == number) {
        is_new = is_new && is->said != print;
        is->said = print;
    }
    (void)pthread_mutex_unlock(&l->lock);
    if (is_new)
        log_warning("%s", err->text);
}

static void forget_pair(struct leftovers *l, const struct pair *p)
{
    for (size_t i = 0; i < l->n_pairs; i++) {
        if (strcmp(l->pairs[i].from, p->from) == 0 && strcmp(l->pairs[i].to, p->to) == 0) {
            l->pairs[i] = l->pairs[--l->n_pairs];
            return;
        }
    }
}

/* False: the source is closed, or nothing is left over between these hosts. */
static bool wait_for_next_round(struct thread *x)
{
    struct leftovers *l = x->of;
    struct timespec until;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += PAUSE_S;
    (void)pthread_mutex_lock(&l->lock);
    while (!l->closed && pthread_cond_timedwait(&l->changed, &l->lock, &until) != ETIMEDOUT)
        ;
    bool any = !l->closed && leftover_list_next(&l->list, x->pair.from, x->pair.to, 0);
    if (!any)
        forget_pair(l, &x->pair);
    (void)pthread_mutex_unlock(&l->lock);
    return any;
}

static void *run(void *arg)
{
    struct thread *x = arg;
    struct task_name t;

    while (wait_for_next_round(x)) {
        for (uint64_t at = 0; next_task(x, &at, &t);) {
            struct err err = {0};

            if (!settle(x, &t, &err) || err.code)
                say(x->of, &t, at, &err);
        }
    }
    migrations_release(x->m);
    free(x);
    return NULL;
}

/* A thread for the hosts of a task that has none. False: each has one. The lock is held. */
static bool next_thread(struct leftovers *l, struct pair *ret)
{
    for (size_t i = 0; i < l->list.n && !l->closed; i++) {
        const struct task_name *t = &l->list.items[i].task;
        bool there = false;

        for (size_t k = 0; k < l->n_pairs && !there; k++)
            there = strcmp(l->pairs[k].from, t->from) == 0 && strcmp(l->pairs[k].to, t->to) == 0;
        if (there)
            continue;
        memcpy(ret->from, t->from, sizeof ret->from);
        memcpy(ret->to, t->to, sizeof ret->to);
        l->pairs = xreallocarray(l->pairs, l->n_pairs + 1, sizeof *l->pairs);
        l->pairs[l->n_pairs++] = *ret;
        return true;
    }
    return false;
}

/* Where a thread cannot be started, the next leftover tries it again. */
static void start_threads(struct leftovers *l, struct migrations *m)
{
    struct pair p;
    int r = 0;

    while (r == 0) {
        (void)pthread_mutex_lock(&l->lock);
        bool due = next_thread(l, &p);
        (void)pthread_mutex_unlock(&l->lock);
        if (!due)
            return;
        struct thread *x = xcalloc(1, sizeof *x);

        *x = (struct thread){.of = l, .m = migrations_hold(m), .pair = p};
        r = thread_begin(run, x);
        if (r == 0)
            continue;
        (void)pthread_mutex_lock(&l->lock);
        forget_pair(l, &p);
        (void)pthread_mutex_unlock(&l->lock);
        migrations_release(m);
        free(x);
    }
}

/* ---- what is known -------------------------------------------------------------------------------- */

/* Where the VM is, as the end of its task shows; NULL: that is not certain. */
static const char *home_of(const struct vm_looks *looks, const struct task_name *t, const struct decision *d)
{
    if (d->ambiguous)
        return NULL;
    if (d->verdict == VERDICT_ARRIVED)
        return t->to;
    return d->verdict == VERDICT_FAILED && !t->start && looks->from.side.is == SIDE_RUNNING ? t->from : NULL;
}

void leftovers_task_ended(struct leftovers *l, struct migrations *m, const struct vm_looks *looks,
                          const struct task_name *t, const struct decision *d, enum call_state call,
                          bool unsettled)
{
    const char *home = home_of(looks, t, d);
    struct task_name left = *t;

    left.arrived = left.arrived || home == t->to || (call == CALL_DONE && !t->start);
    if (home == t->from) { /* then the destination may have something left over */
        memcpy(left.from, t->to, sizeof left.from);
        memcpy(left.to, t->from, sizeof left.to);
        left.arrived = true;
    }
    (void)pthread_mutex_lock(&l->lock);
    if (home == t->from || !unsettled)
        leftover_list_drop(&l->list, t);
    if (home)
        leftover_list_moved(&l->list, t->vm, home);
    if (unsettled)
        leftover_list_add(&l->list, &left);
    else
        leftover_list_drop(&l->list, &left);
    (void)pthread_mutex_unlock(&l->lock);
    const struct vm_look *at = place_of(looks);

    if (unsettled && at) {
        set_note(at, &left, true);
    } else if (!unsettled) {
        set_note(&looks->from, &left, false);
        set_note(&looks->to, &left, false);
    }
    start_threads(l, m);
}

void leftovers_found(struct migrations *m, const char *vm, const char *host, bool runs, const char *task)
{
    struct leftovers *l = migrations_leftovers(m);
    struct task_name t, running;

    if (task_name_read(task, &t, NULL) < 0 || strcmp(t.vm, vm) != 0 || strcmp(t.from, t.to) == 0 ||
        migrations_host(m, t.from) == SIZE_MAX || migrations_host(m, t.to) == SIZE_MAX ||
        migrations_running(m, vm, &running))
        return;
    /* one that had left this host for another, and runs on it again, may have been started by mistake */
    runs = runs && !(t.arrived && strcmp(host, t.from) == 0);
    (void)pthread_mutex_lock(&l->lock);
    leftover_list_add(&l->list, &t);
    if (runs)
        leftover_list_moved(&l->list, vm, host);
    (void)pthread_mutex_unlock(&l->lock);
    start_threads(l, m);
}
