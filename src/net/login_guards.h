/* login_guards.h: a login guard for each account of each controller.
 *
 * An account is named by a word for people, such as "ipmi admin@10.0.0.5": the protocol, the user and the
 * address, so that entries of several hosts that share a controller share its guard. No secret is part of it.
 */
#ifndef BALLAST_NET_LOGIN_GUARDS_H
#define BALLAST_NET_LOGIN_GUARDS_H

#include "net/login_guard.h"

#include <ballast/arena.h>

struct login_guards; /* used by any number of threads */

struct login_guards *login_guards_new(void);
void login_guards_free(struct login_guards *all); /* no login is under way; NULL is fine */

/* The guard of this account; it lives as long as all of them. */
struct login_guard *login_guards_of(struct login_guards *all, const char *account);

/* The configuration was read again: each account may be tried at once. */
void login_guards_forget(struct login_guards *all);

/* An account whose password was refused, and is not tried again for so long. */
struct login_pause {
    const char *account;
    int64_t left_s;
};

/* By account; in the arena. */
size_t login_guards_paused(struct login_guards *all, int64_t now_ms, struct arena *a,
                           struct login_pause **ret);

#endif
