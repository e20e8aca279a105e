/* console.h: reads the serial console of a booting host, by IPMI's serial-over-LAN (IPMI 2.0, section 15;
 * libipmiconsole).
 *
 * The library's own threads connect and keep the connection. Reading does not block; opening a console
 * resolves its name first, for two seconds at most. The text is untrusted and handed on unchanged: the
 * code that shows it must clean it.
 */
#ifndef BALLAST_IPMI_CONSOLE_H
#define BALLAST_IPMI_CONSOLE_H

#include <ballast/err.h>
#include <ballast/power.h>

#include <sys/types.h>

struct console;

/* Begins to connect. -ENOTSUP: the host has no IPMI, or its console is not configured; other errors: wrong
 * configuration. The host need not stay valid. */
int console_open(const struct power_host *host, struct console **ret, struct err *err);

/* The descriptor is readable when there is text, or when the console has ended. */
int console_fd(const struct console *c);

/* Reads up to n bytes; 0: no text now; -EPIPE: the console has ended, and *err has the reason (no answer
 * from the controller, another user's session, ...); -EACCES: because the login was refused. */
ssize_t console_read(struct console *c, void *buf, size_t n, struct err *err);

/* Ends the session without waiting for the controller. NULL is fine. */
void console_close(struct console *c);

/* Ends the library's threads. Called once, when no console is open and the process is about to end; no
 * other thread may use a console meanwhile. */
void console_shutdown(void);

#endif
