/* secret.h: passwords in files of their own. */
#ifndef BALLAST_BASE_SECRET_H
#define BALLAST_BASE_SECRET_H

#include <ballast/arena.h>
#include <ballast/err.h>

#include <stdbool.h>

/* A password is at most as long as this. */
#define SECRET_MAX 4096

/* Reads the one line of the file without its newline. -EINVAL if the file cannot be a password (empty,
 * several lines, not a regular file, too long), else the error of the system. *ret_exposed: others than the
 * owner and its group can read the file, or others than the owner can write it.
 *
 * An exposed file is not refused: for an admin's trial with a file of mode 0644, a warning is better than a
 * service that does not start. A group may read the file: packages (root:ballast 0640) and systemd's
 * credentials (0440) give root's secrets to a service's user this way.
 */
int secret_read(const char *path, struct arena *a, const char **ret, bool *ret_exposed, struct err *err);

/* The secret as its file has it now, so that a changed one needs no restart. Where there is no file (NULL),
 * or it cannot be read, which is logged, it is the one of the start. `what` it is, for the log: "password".
 */
void secret_now(const char *path, const char *at_start, const char *what, char ret[SECRET_MAX + 1]);

#endif
