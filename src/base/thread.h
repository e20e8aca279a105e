/* thread.h: threads that end by themselves, and waits on a clock that cannot be set. */
#ifndef BALLAST_BASE_THREAD_H
#define BALLAST_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Begins a thread that cannot be joined; `arg` is its own from then on. Its stack has 1 MiB: there may be
 * hundreds of them. 0, or -errno of pthread_create(), and `arg` is still the caller's. */
int thread_begin(void *(*run)(void *), void *arg);

/* Waits for `changed`, whose lock is held, until the instant (milliseconds of CLOCK_MONOTONIC). False: the
 * time is over. True: look again, it may have changed. */
bool thread_wait(pthread_cond_t *changed, pthread_mutex_t *lock, int64_t until_ms);

#endif
