/* retry.h: which errors may pass, and how long to wait before the next try. */
#ifndef BALLAST_ENGINE_RETRY_H
#define BALLAST_ENGINE_RETRY_H

#include <ballast/units.h>

#include <stdbool.h>

#define RETRY_FIRST_S 2 /* doubled from this ... */

#define RETRY_MOVE_S 30 /* the first wait of a mandatory move that failed because of what may pass */

/* `first`, twice as long after each failure in a row but the first, at most `most`. */
instant_s retry_doubled_s(instant_s first, instant_s most, unsigned failures);
/* Seconds to wait before trying again after so many failures in a row. */
instant_s retry_wait_s(unsigned failures);
/* The same where a login may have been refused: that is not tried quickly again, because directories lock an
 * account after a few wrong passwords in a row. */
instant_s retry_wait_after_s(int code, unsigned failures);
/* Errors that leave open whether the peer has received the request. */
bool retry_is_transient(int code);

/* Whether the failure of a move says something about the VM or the host: the peer refused it, or it came to
 * no end there. Not so a connection that was lost, a refused login, a VM that was deleted, a task that a
 * person cancelled. */
bool retry_blames_peer(int code);

#endif
