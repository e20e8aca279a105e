/* attempts.h: counts requests without a valid token by address, so that guessing is slow and the log short.
 */
#ifndef BALLAST_HTTP_ATTEMPTS_H
#define BALLAST_HTTP_ATTEMPTS_H

#include <stdbool.h>
#include <sys/socket.h>
#include <time.h>

struct attempts;
struct attempts *attempts_new(void);
void attempts_free(struct attempts *a); /* NULL is fine */

/* One more from this address (IPv6: its /64). True: answer it, and log it; *ret_unlogged: how many of this
 * address were not logged since. False: there were too many lately, wait. Any thread. */
bool attempts_note(struct attempts *a, const struct sockaddr *from, time_t now, unsigned *ret_unlogged);

#endif
