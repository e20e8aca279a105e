/* console_opener.h: a thread that opens and closes consoles.
 *
 * Opening a console reads a password file and resolves a name, which takes seconds without a name server.
 * Opening and closing also take locks of libipmiconsole that its own threads take in another order (1.6.10).
 * The main thread must not wait for that when hundreds of hosts wake. It reads open consoles itself. */
#ifndef BALLAST_DAEMON_THREADS_CONSOLE_OPENER_H
#define BALLAST_DAEMON_THREADS_CONSOLE_OPENER_H

#include "actuators/ipmi/console.h"
#include "daemon/queue.h"

#include <stdint.h>

struct console_opener;

/* The result of console_opener_open(). The thread that pops it owns it and the console. */
struct opened_console {
    struct queue_item item;
    uint64_t action;
    struct console *console; /* NULL: opening failed, see err */
    struct err err;
};

/* Pushes results to the queue `opened`, which must outlive the opener. */
int console_opener_start(struct queue *opened, struct console_opener **ret, struct err *err);

/* host: borrowed until the result is popped. action: returned with the result. */
void console_opener_open(struct console_opener *d, uint64_t action, const struct power_host *host);
void console_opener_close(struct console_opener *d, struct console *console); /* NULL is fine */

/* Closes waiting and unpopped consoles and ends the library's threads. The queue must not be popped any more.
 * -ETIMEDOUT: the thread still runs at the deadline (time of day) and uses its arguments. */
int console_opener_stop(struct console_opener *d, int64_t deadline_s);
void console_opener_free(struct console_opener *d); /* after console_opener_stop() */

#endif
