/* bundle.h: writes texts into one compressed tar archive (libarchive). */
#ifndef BALLAST_CLI_BUNDLE_H
#define BALLAST_CLI_BUNDLE_H

#include <ballast/arena.h>
#include <ballast/err.h>

#include <stdbool.h>
#include <stddef.h>

struct bundle;

/* A new file of mode 0600, whose members stand in `folder`. -EEXIST: the file is there. The bundle lives in
 * the arena. */
int bundle_begin(const char *file, const char *folder, struct arena *a, struct bundle **ret, struct err *err);

int bundle_add(struct bundle *b, const char *name, const char *text, size_t len, struct err *err);

/* Closes the file; without `keep`, or after an error, it is deleted. Always call it. */
int bundle_end(struct bundle *b, bool keep, struct err *err);

#endif
