#include "base/thread.h"

#include <errno.h>
#include <time.h>

#define STACK_BYTES ((size_t)1 << 20)

int thread_begin(void *(*run)(void *), void *arg)
{
    pthread_attr_t attr;
    pthread_t thread;
    int r = pthread_attr_init(&attr);

    if (r != 0)
        return -r;
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    r = pthread_create(&thread, &attr, run, arg);
    (void)pthread_attr_destroy(&attr);
    return -r;
}

bool thread_wait(pthread_cond_t *changed, pthread_mutex_t *lock, int64_t until_ms)
{
    const struct timespec until = {.tv_sec = (time_t)(until_ms / 1000),
                                   .tv_nsec = (long)(until_ms % 1000) * 1000000};

    return pthread_cond_clockwait(changed, lock, CLOCK_MONOTONIC, &until) != ETIMEDOUT;
}
