/* console.h: what a host says on its serial console while it boots, over IPMI's serial-over-LAN
 * (IPMI 2.0, section 15; libipmiconsole).
 *
 * The connection is made and kept by the library's own threads; reading does not block, opening one looks its
 * name up first, for two seconds at most. What comes is text from outside: it is handed on as it came, and
 * whoever shows it cleans it.
 */
#ifndef BALLAST_IPMI_CONSOLE_H
#define BALLAST_IPMI_CONSOLE_H

#include <ballast/err.h>
#include <ballast/power.h>

#include <sys/types.h>

struct console;

/* Begins to connect. -ENOTSUP: the host has no IPMI, or its console is not wanted; else what was wrong with
 * the configuration. The host need not stay valid. */
int console_open(const struct power_host *host, struct console **ret, struct err *err);

/* Readable when there is something to read, or it has ended. */
int console_fd(const struct console *c);

/* Up to n bytes; 0: nothing just now; -EPIPE: it has ended, and *err says why (a controller that is deaf,
 * a session of somebody else, ...). */
ssize_t console_read(struct console *c, void *buf, size_t n, struct err *err);

/* Ends the session without waiting for the controller. NULL is fine. */
void console_close(struct console *c);

/* Once, when no console is open any more and the process is about to end: ends the library's threads. Not
 * along with a call of another thread. */
void console_shutdown(void);

#endif
