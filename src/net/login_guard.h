/* login_guard.h: keeps the threads that use one account from locking it.
 *
 * Directories and controllers lock an account after a few wrong passwords. The collector, each actuator
 * worker and each reading of a meter log in on their own, so they share a guard: one login at a time, and
 * after a refused one none with the same password until a pause is over. The pause doubles from a minute to
 * 15 min with each refusal. Another password (its file has changed) may be tried at once.
 *
 * A controller is a slow peer with one account for all calls: where `parallel` is set, logins do not wait for
 * each other once the password was accepted, so that a hanging meter delays no wake.
 */
#ifndef BALLAST_NET_LOGIN_GUARD_H
#define BALLAST_NET_LOGIN_GUARD_H

#include <ballast/err.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define LOGIN_PAUSE_FIRST_S 60
#define LOGIN_PAUSE_MOST_S 900

struct login_guard; /* used by any number of threads */
struct source_config;

struct login_guard *login_guard_new(bool parallel);
void login_guard_free(struct login_guard *g); /* no login is under way; NULL is fine */

/* The same as open() and close() of a plug-in whose sessions share a guard (plugin.h). */
int login_guard_open(const struct source_config *cfg, void **ret, struct err *err);
void login_guard_close(void *guard);

/* Asks for a login with this password; instants are milliseconds on the clock of net_now_ms(). Waits while
 * another login is under way, until the deadline or until *stop (NULL: never). After 0 the caller logs in and
 * calls login_guard_end(). -EACCES: this password was refused before, and the pause has *ret_left_s to go;
 * -ETIMEDOUT, -ECANCELED: the wait has ended. */
int login_guard_begin(struct login_guard *g, const char *password, int64_t now_ms, int64_t deadline_ms,
                      const atomic_bool *stop, int64_t *ret_left_s);

/* The result of that login. refused: the peer did not accept the password; otherwise `accepted` says whether
 * it did, or could not be reached. Returns the seconds until the next try with the same password; 0: at once.
 */
int64_t login_guard_end(struct login_guard *g, const char *password, bool accepted, bool refused,
                        int64_t now_ms);

/* Whether the last login that was answered had this password, and was accepted. */
bool login_guard_accepts(struct login_guard *g, const char *password);

/* How long no login is tried with the password that was refused last; 0: there is none. */
int64_t login_guard_left_s(struct login_guard *g, int64_t now_ms);

/* The next login is tried at once, whatever was refused before. */
void login_guard_forget(struct login_guard *g);

#endif
