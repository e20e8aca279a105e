/* thread_pool.h: loops whose items several threads work on at once.
 *
 * The core is given a pool and starts no thread itself. Its loops have the same result for any number of
 * threads: an item reads nothing that another item of the loop writes, and what the items found is combined
 * after the loop, in their order. */
#ifndef BALLAST_BASE_THREAD_POOL_H
#define BALLAST_BASE_THREAD_POOL_H

#include <stddef.h>
#include <stdint.h>

/* Works on the items from `begin` to `end`, without `end`. */
typedef void thread_pool_body(void *arg, uint32_t begin, uint32_t end);

struct thread_pool {
    /* Calls the body for all n items, some at a time, in any order and perhaps in other threads. Returns when
     * all are done. grain: the number of items that are worth another thread. */
    void (*run)(struct thread_pool *p, uint32_t n, uint32_t grain, thread_pool_body *body, void *arg);
};

/* Without a pool the calling thread works on all items. */
static inline void parallel_for(struct thread_pool *p, uint32_t n, uint32_t grain, thread_pool_body *body,
                                void *arg)
{
    if (p)
        p->run(p, n, grain, body, arg);
    else if (n > 0)
        body(arg, 0, n);
}

/* A pool of so many threads, the calling one included; NULL for one thread. The others begin with the first
 * loop of more items than its grain; those that cannot begin are missing without notice. While a loop runs,
 * other loops of the pool (within it, or of other threads) are left to the threads that call them. */
struct thread_pool *thread_pool_new(int64_t n_threads);

/* Ends the threads; no loop may be running. NULL is fine. */
void thread_pool_free(struct thread_pool *p);

static inline void thread_pool_freep(struct thread_pool **p)
{
    thread_pool_free(*p);
}

#endif
