/* secret.h: passwords in files of their own. */
#ifndef BALLAST_CONFIG_SECRET_H
#define BALLAST_CONFIG_SECRET_H

#include <ballast/arena.h>
#include <ballast/err.h>

#include <stdbool.h>

/* A password is at most as long as this. */
#define SECRET_MAX 4096

/* Reads the one line of the file; the newline at its end is dropped. -EINVAL for what cannot be a password
 * (empty, several lines, not a regular file, too long), else what the system says. *ret_exposed: others than
 * the owner and its group can read it, or others than the owner can write it.
 *
 * It is not refused for that: an admin who tries things out with a file of mode 0644 shall see a warning, not
 * a service that does not start. A file that its group can read is fine: that is how a secret of root's is
 * given to a service's user, by packages (root:ballast 0640) and by systemd's credentials (0440) alike. */
int secret_read(const char *path, struct arena *a, const char **ret, bool *ret_exposed, struct err *err);

#endif
