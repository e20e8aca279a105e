/* Threads for loops. The calling thread works, too, and waits only for threads that have begun work on the
 * loop: one that sleeps too long misses it. */
#include "base/thread_pool.h"

#include "base/xalloc.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct loop {
    thread_pool_body *body;
    void *arg;
    uint32_t n, grain;
};

struct pool {
    struct thread_pool port; /* first: the pool is found by it */
    pthread_mutex_t lock;    /* of all but `next` */
    pthread_cond_t begun, left;
    bool started, ends;
    uint32_t n_threads; /* beside the calling one */
    pthread_t *threads;
    bool running;    /* a loop is */
    uint64_t number; /* of the loop, from 1 */
    struct loop loop;
    uint32_t n_working;    /* threads of the pool in the loop */
    _Atomic uint64_t next; /* the first item that no thread has taken */
};

static void work(struct pool *p, const struct loop *loop)
{
    for (;;) {
        uint64_t begin = atomic_fetch_add(&p->next, loop->grain);
        if (begin >= loop->n)
            return;
        uint64_t end = begin + loop->grain;
        loop->body(loop->arg, (uint32_t)begin, end < loop->n ? (uint32_t)end : loop->n);
    }
}

static void *pool_main(void *arg)
{
    struct pool *p = arg;
    uint64_t last = 0; /* loop of this thread */

    (void)pthread_mutex_lock(&p->lock);
    while (!p->ends) {
        if (!p->running || p->number == last) {
            (void)pthread_cond_wait(&p->begun, &p->lock);
            continue;
        }
        const struct loop loop = p->loop;
        last = p->number;
        p->n_working++;
        (void)pthread_mutex_unlock(&p->lock);
        work(p, &loop);
        (void)pthread_mutex_lock(&p->lock);
        if (--p->n_working == 0)
            (void)pthread_cond_signal(&p->left);
    }
    (void)pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* With the lock held. */
static void start_threads(struct pool *p)
{
    uint32_t wanted = p->n_threads;

    p->started = true;
    p->n_threads = 0;
    while (p->n_threads < wanted && pthread_create(&p->threads[p->n_threads], NULL, pool_main, p) == 0)
        p->n_threads++;
}

/* False: the threads are in another loop. */
static bool begin_loop(struct pool *p, const struct loop *loop)
{
    (void)pthread_mutex_lock(&p->lock);
    bool free = !p->running;
    if (free) {
        if (!p->started)
            start_threads(p);
        p->running = true;
        p->number++;
        p->loop = *loop;
        atomic_store(&p->next, 0);
        (void)pthread_cond_broadcast(&p->begun);
    }
    (void)pthread_mutex_unlock(&p->lock);
    return free;
}

/* The loop runs until all threads have left it: those would take the items of another one. A thread that
 * enters it now finds no item. */
static void end_loop(struct pool *p)
{
    (void)pthread_mutex_lock(&p->lock);
    while (p->n_working > 0)
        (void)pthread_cond_wait(&p->left, &p->lock);
    p->running = false;
    (void)pthread_mutex_unlock(&p->lock);
}

static void pool_run(struct thread_pool *port, uint32_t n, uint32_t grain, thread_pool_body *body, void *arg)
{
    struct pool *p = (struct pool *)port;
    const struct loop loop = {.body = body, .arg = arg, .n = n, .grain = grain > 0 ? grain : 1};

    if (n <= grain || !begin_loop(p, &loop)) {
        if (n > 0)
            body(arg, 0, n);
        return;
    }
    work(p, &loop);
    end_loop(p);
}

struct thread_pool *thread_pool_new(int64_t n_threads)
{
    if (n_threads <= 1)
        return NULL;
    struct pool *p = xcalloc(1, sizeof *p);

    p->port.run = pool_run;
    p->n_threads = (uint32_t)(n_threads < UINT32_MAX ? n_threads : UINT32_MAX) - 1;
    p->threads = xcalloc(p->n_threads, sizeof *p->threads);
    (void)pthread_mutex_init(&p->lock, NULL);
    (void)pthread_cond_init(&p->begun, NULL);
    (void)pthread_cond_init(&p->left, NULL);
    return &p->port;
}

void thread_pool_free(struct thread_pool *port)
{
    struct pool *p = (struct pool *)port;

    if (!p)
        return;
    (void)pthread_mutex_lock(&p->lock);
    p->ends = true;
    (void)pthread_cond_broadcast(&p->begun);
    (void)pthread_mutex_unlock(&p->lock);
    for (uint32_t i = 0; p->started && i < p->n_threads; i++)
        (void)pthread_join(p->threads[i], NULL);
    (void)pthread_cond_destroy(&p->begun);
    (void)pthread_cond_destroy(&p->left);
    (void)pthread_mutex_destroy(&p->lock);
    free(p->threads);
    free(p);
}
