/* run_tasks.c: threads that take tasks from a list. It knows no peer. */
#include "preflight/run_tasks.h"

#include "base/clock.h"
#include "base/thread.h"
#include "base/xalloc.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define THREADS_MAX 256 /* a thread waits most of its time */
#define MS_PER_S 1000

enum progress { TASK_WAITS, TASK_RUNS, TASK_DONE, TASK_GIVEN_UP };

struct entry {
    struct preflight_task task;
    enum progress progress;
    int64_t until_ms; /* TASK_RUNS */
};

/* Never freed while a thread that was given up runs. */
struct run {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct entry *entries;
    pthread_t *threads; /* one for each task at most */
    size_t n, next, n_threads;
    size_t live; /* threads that can take a task */
    bool given_up;
};

static void *work(void *arg)
{
    struct run *r = arg;

    (void)pthread_mutex_lock(&r->lock);
    while (r->next < r->n) {
        struct entry *e = &r->entries[r->next++];

        e->progress = TASK_RUNS;
        e->until_ms = clock_monotonic_ms() + (int64_t)e->task.most_s * MS_PER_S;
        (void)pthread_cond_broadcast(&r->changed); /* one more time limit to watch */
        (void)pthread_mutex_unlock(&r->lock);
        e->task.run(e->task.ctx);
        (void)pthread_mutex_lock(&r->lock);
        bool late = e->progress == TASK_GIVEN_UP;
        e->progress = late ? TASK_GIVEN_UP : TASK_DONE;
        (void)pthread_cond_broadcast(&r->changed);
        if (late) { /* another thread has its place */
            (void)pthread_mutex_unlock(&r->lock);
            return NULL;
        }
    }
    r->live--;
    (void)pthread_mutex_unlock(&r->lock);
    return NULL;
}

static bool start_thread(struct run *r)
{
    if (pthread_create(&r->threads[r->n_threads], NULL, work, r) != 0)
        return false;
    r->n_threads++;
    r->live++;
    return true;
}

/* Gives up what is late. Returns the instant at which the next task will be; 0: none runs or waits. */
static int64_t watch(struct run *r)
{
    int64_t now = clock_monotonic_ms();
    int64_t next = 0;

    for (size_t i = 0; i < r->n; i++) {
        struct entry *e = &r->entries[i];

        if (e->progress == TASK_RUNS && e->until_ms <= now) {
            e->progress = TASK_GIVEN_UP;
            r->given_up = true;
            r->live--;
            if (r->next < r->n && r->n_threads < r->n)
                (void)start_thread(r);
        }
        if (e->progress == TASK_WAITS && r->live == 0) { /* no thread could be started for it */
            e->progress = TASK_GIVEN_UP;
            r->given_up = true;
        }
        int64_t at = e->progress == TASK_RUNS ? e->until_ms : e->progress == TASK_WAITS ? now + MS_PER_S : 0;
        if (at > 0 && (next == 0 || at < next))
            next = at;
    }
    return next;
}

static void wait_for_all(struct run *r)
{
    int64_t next;

    (void)pthread_mutex_lock(&r->lock);
    while ((next = watch(r)) > 0) {
        (void)thread_wait(&r->changed, &r->lock, next);
    }
    (void)pthread_mutex_unlock(&r->lock);
}

static void free_run(struct run *r)
{
    if (!r)
        return;
    free(r->entries);
    free(r->threads);
    free(r);
}

static struct run *new_run(const struct preflight_task *tasks, size_t n)
{
    struct run *r = xcalloc(1, sizeof *r);

    *r = (struct run){
        .entries = xcalloc(n, sizeof *r->entries), .threads = xcalloc(n, sizeof *r->threads), .n = n};
    for (size_t i = 0; i < n; i++)
        r->entries[i].task = tasks[i];
    (void)pthread_mutex_init(&r->lock, NULL);
    (void)pthread_cond_init(&r->changed, NULL);
    return r;
}

int run_tasks(struct preflight_task *tasks, size_t n, struct err *err)
{
    if (n == 0)
        return 0;
    struct run *r = new_run(tasks, n);

    (void)pthread_mutex_lock(&r->lock);
    while (r->n_threads < n && r->n_threads < THREADS_MAX && start_thread(r))
        ;
    (void)pthread_mutex_unlock(&r->lock);
    if (r->n_threads == 0) {
        free_run(r);
        return err_set(err, -EAGAIN, "no thread to ask the peers with");
    }
    wait_for_all(r);
    (void)pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < n; i++)
        tasks[i].done = r->entries[i].progress == TASK_DONE;
    (void)pthread_mutex_unlock(&r->lock);
    if (r->given_up)
        return 0;
    for (size_t i = 0; i < r->n_threads; i++)
        (void)pthread_join(r->threads[i], NULL);
    free_run(r);
    return 0;
}
