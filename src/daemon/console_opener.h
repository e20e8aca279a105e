/* console_opener.h: a thread that opens and closes consoles.
 *
 * Opening one reads a file with a password and looks a name up, which takes seconds where no name server
 * answers; and opening and closing take locks of libipmiconsole's that its own threads take in another order
 * (1.6.10). When hundreds of hosts wake, none of that may hold up the service. What is read from a console
 * that is open does not come through here. */
#ifndef BALLAST_DAEMON_CONSOLE_OPENER_H
#define BALLAST_DAEMON_CONSOLE_OPENER_H

#include "actuators/ipmi/console.h"
#include "daemon/queue.h"

#include <stdint.h>

struct console_opener;

/* What came of console_opener_open(): who pops it owns it, and the console. */
struct opened_console {
    struct queue_item item;
    uint64_t action;
    struct console *console; /* NULL: err says why there is none */
    struct err err;
};

/* Pushes what it has opened to that queue, which must live longer. */
int console_opener_start(struct queue *opened, struct console_opener **ret, struct err *err);

/* host: must stay valid until the answer is there. action: comes back with it. */
void console_opener_open(struct console_opener *d, uint64_t action, const struct power_host *host);
void console_opener_close(struct console_opener *d, struct console *console); /* NULL is fine */

/* Lets it close what it was told to and what it has opened and nobody has popped, and ends the library's
 * threads. Nobody may pop any more. -ETIMEDOUT: it has not ended by
 * then (time of day), and still uses what it was given. */
int console_opener_stop(struct console_opener *d, int64_t deadline_s);
void console_opener_free(struct console_opener *d); /* one that has stopped */

#endif
