/* built.c: where the built pages are: in the build folder that this program runs in, or installed. */
#include "base/built.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int built_path(const char *program, const char *name, char ret[PATH_MAX])
{
    char at[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", at, sizeof at - 1);
    size_t end = strlen(program);
    int len;

    if (n > (ssize_t)end && memcmp(at + n - end, program, end) == 0)
        len = snprintf(ret, PATH_MAX, "%.*s/dashboard/%s", (int)((size_t)n - end), at, name);
    else
        len = snprintf(ret, PATH_MAX, "%s/%s", BALLAST_DATADIR, name);
    return len < PATH_MAX ? 0 : -ENAMETOOLONG;
}
