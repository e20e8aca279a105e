/* call_timeout.c: a second thread interrupts a blocking library call when its time is up. It does not know
 * what the call does. */
#include "call_timeout.h"

#include "base/clock.h"
#include "base/thread.h"

#include <errno.h>
#include <time.h>

#define LOOK_MS 100
#define AGAIN_MS 10 /* a signal that comes between two waits ends neither, so it is repeated */

bool call_timeout_stopped(const struct deadline *d)
{
    return d->stop && atomic_load(d->stop);
}

int64_t call_timeout_left_ms(const struct deadline *d)
{
    int64_t left = d->at_ms - clock_monotonic_ms();

    return left > 0 ? left : 0;
}

static void wake(int signal_number)
{
    (void)signal_number; /* the signal only interrupts select() */
}

static void *look(void *argument)
{
    struct call_timeout *w = argument;

    (void)pthread_mutex_lock(&w->lock);
    while (!w->ended) {
        int64_t left = call_timeout_left_ms(w->deadline), wait = left < LOOK_MS ? left : LOOK_MS;
        if (left == 0 || call_timeout_stopped(w->deadline)) {
            atomic_store(&w->fired, true);
            (void)pthread_kill(w->caller, SIGURG);
            wait = AGAIN_MS;
        }
        (void)thread_wait(&w->changed, &w->lock, clock_monotonic_ms() + (wait > 0 ? wait : 1));
    }
    (void)pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* The handler belongs to the process; installing the same one again changes nothing. */
static void listen_for_it(sigset_t *mask_before)
{
    struct sigaction action = {.sa_handler = wake};
    sigset_t only;

    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGURG, &action, NULL);
    (void)sigemptyset(&only);
    (void)sigaddset(&only, SIGURG);
    (void)pthread_sigmask(SIG_UNBLOCK, &only, mask_before);
}

int call_timeout_begin(struct call_timeout *w, const struct deadline *d)
{
    sigset_t all, before;

    *w = (struct call_timeout){.deadline = d, .caller = pthread_self()};
    (void)pthread_cond_init(&w->changed, NULL);
    (void)pthread_mutex_init(&w->lock, NULL);
    listen_for_it(&w->mask_before);
    (void)sigfillset(&all); /* signals are for the process's other threads */
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int r = pthread_create(&w->thread, NULL, look, w);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (r != 0) {
        w->ended = true;
        (void)pthread_sigmask(SIG_SETMASK, &w->mask_before, NULL);
        (void)pthread_cond_destroy(&w->changed);
        (void)pthread_mutex_destroy(&w->lock);
        return -EAGAIN;
    }
    return 0;
}

bool call_timeout_end(struct call_timeout *w)
{
    (void)pthread_mutex_lock(&w->lock);
    w->ended = true;
    (void)pthread_cond_signal(&w->changed);
    (void)pthread_mutex_unlock(&w->lock);
    (void)pthread_join(w->thread, NULL);
    (void)pthread_sigmask(SIG_SETMASK, &w->mask_before, NULL);
    (void)pthread_cond_destroy(&w->changed);
    (void)pthread_mutex_destroy(&w->lock);
    return atomic_load(&w->fired);
}
