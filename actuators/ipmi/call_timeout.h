/* call_timeout.h: that a call which blocks in a library ends in time.
 *
 * FreeIPMI waits in select(), for as long as each single message may take; a session is seven of them and
 * more, and a controller that is always almost too late would hold a worker for a multiple of what it was
 * given. So a second thread looks at the clock and at the stop flag ten times a second, and when it is time
 * it sends SIGURG to the caller, again and again until call_timeout_end(): select() then returns EINTR, and
 * FreeIPMI gives up at once. After the caller has returned, nothing of the call is sent any more.
 *
 * SIGURG: its default is to be ignored, so one that comes late does no harm; the handler does nothing.
 */
#ifndef BALLAST_IPMI_CALL_TIMEOUT_H
#define BALLAST_IPMI_CALL_TIMEOUT_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* When a call must be over, on CLOCK_MONOTONIC, and what ends it before. */
struct deadline {
    int64_t at_ms;
    const atomic_bool *stop; /* NULL: never */
};

int64_t call_timeout_now_ms(void);
int64_t call_timeout_left_ms(const struct deadline *d); /* never below 0 */
bool call_timeout_stopped(const struct deadline *d);

struct call_timeout {
    const struct deadline *deadline;
    pthread_t caller, thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool ended;
    atomic_bool fired;
    sigset_t mask_before;
};

/* For calls of this thread until call_timeout_end(), which must follow if it returned 0. -EAGAIN: no thread.
 */
int call_timeout_begin(struct call_timeout *w, const struct deadline *d);

/* true: the watch has ended the call, and its result says nothing. */
bool call_timeout_end(struct call_timeout *w);

#endif
