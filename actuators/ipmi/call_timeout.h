/* call_timeout.h: ends a blocking library call in time.
 *
 * FreeIPMI waits in select(), for as long as each single message may take. A session has at least seven
 * messages, so a controller that is slow for each of them would hold a worker for a multiple of the timeout.
 * A second thread therefore checks the clock and the stop flag ten times a second. When the time is up, it
 * sends SIGURG to the caller until call_timeout_end(): select() then returns EINTR, and FreeIPMI gives up at
 * once. When the call has returned, no message of it is sent any more.
 *
 * The default action of SIGURG is to ignore it, so a late signal does no harm; the handler does nothing.
 */
#ifndef BALLAST_IPMI_CALL_TIMEOUT_H
#define BALLAST_IPMI_CALL_TIMEOUT_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The deadline of a call, on CLOCK_MONOTONIC, and the flag that ends the call earlier. */
struct deadline {
    int64_t at_ms;
    const atomic_bool *stop; /* NULL: never */
};

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

/* Watches the calls of this thread until call_timeout_end(), which must follow if this returned 0.
 * -EAGAIN: no thread could be created.
 */
int call_timeout_begin(struct call_timeout *w, const struct deadline *d);

/* true: the call was interrupted, and its result says nothing. */
bool call_timeout_end(struct call_timeout *w);

#endif
