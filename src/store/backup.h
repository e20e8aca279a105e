/* backup.h: a copy of a store, also while a service writes to it. */
#ifndef BALLAST_STORE_BACKUP_H
#define BALLAST_STORE_BACKUP_H

#include <ballast/err.h>

#include <stdbool.h>

/* Copies the store below the directory to the file, with mode 0600, as it is at one moment; a service that
 * has it open goes on. The file appears when it is whole and on the disk. It is a store of its own: its name
 * differs, so no number that is given after a restore is taken for one that the original gave.
 *
 * -EEXIST: the file exists and `replace` is false, or it is one of the store or no regular file, which
 * `replace` does not replace either. -EINVAL: the name is empty. -EIO: the store is damaged, or no store of
 * Ballast, or the copy cannot be written. Else the system's error, such as -EACCES or -ENOENT. */
int store_backup(const char *state_dir, const char *file, bool replace, struct err *err);

#endif
