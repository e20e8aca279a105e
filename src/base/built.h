/* built.h: where the built pages (dashboard/) are. */
#ifndef BALLAST_BASE_BUILT_H
#define BALLAST_BASE_BUILT_H

#include <limits.h>

/* The file in dashboard/ of the build folder if this program runs in one (its path there:
 * "/src/cli/ballast"), the name in the installed folder else. -ENAMETOOLONG. */
int built_path(const char *program, const char *name, char ret[PATH_MAX]);

#endif
