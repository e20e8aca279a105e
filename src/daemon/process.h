/* process.h: clocks and signals. */
#ifndef BALLAST_DAEMON_PROCESS_H
#define BALLAST_DAEMON_PROCESS_H

#include <ballast/err.h>
#include <ballast/names.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define USEC_PER_S ((uint64_t)1000000)

/* A clock that cannot be set, and that runs while the machine sleeps. */
int64_t process_steady_us(void);

/* Runs this program again in this process, with the same process id. Returns only on failure, a negative
 * errno. */
int process_restart(char *const argv[]);

/* Call it before any thread starts, so that only the loop receives SIGTERM, SIGINT and SIGHUP. */
int process_block_signals(struct err *err);

#define USER_NAME_MAX 64

/* "root (uid 0)", or "uid 4711" for a user without a name. */
void process_name_user(uid_t uid, char *ret, size_t size);

/* The same of a signal's sender; of systemd, which sends it as the user of the service: "systemctl reload".
 */
void process_name_sender(uid_t uid, char *ret, size_t size);

/* A name that tells a person from others: ASCII letters, digits and -_.@+\ of at most PERSON_NAME_MAX - 1
 * bytes, without spaces, so that two names that look alike are two names. */
bool process_person_is_good(const char *name);

/* The user's name as such a name; "" where it is none. */
void process_name_person(uid_t uid, char ret[PERSON_NAME_MAX]);

/* The person that a name means: of a user of this machine the first name of the user id, as the socket gives
 * it; else the name itself. */
void process_find_person(const char *name, char ret[PERSON_NAME_MAX]);

#endif
