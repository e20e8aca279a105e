/* report_page.c: finds and reads the built page of reports. */
#include "cli/report_page.h"

#include "base/cleanup.h"
#include "cli/output.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define INSTALLED BALLAST_DATADIR "/report.html"
#define IN_BUILD_FOLDER "/dashboard/report.html"
#define PROGRAM_IN_BUILD_FOLDER "/src/cli/ballast"
#define PAGE_MAX (16u << 20)

/* NULL: this program is not in a build folder. */
static const char *path_in_build_folder(struct arena *a)
{
    char program[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    size_t end = strlen(PROGRAM_IN_BUILD_FOLDER);

    if (n < 0 || (size_t)n <= end)
        return NULL;
    program[n] = '\0';
    size_t folder = (size_t)n - end;
    if (strcmp(program + folder, PROGRAM_IN_BUILD_FOLDER) != 0)
        return NULL;
    return arena_printf(a, "%.*s%s", (int)folder, program, IN_BUILD_FOLDER);
}

enum exit_code report_page_read(struct arena *a, struct strbuf *text, const char **ret_path)
{
    const char *built = path_in_build_folder(a);
    const char *path = built ? built : INSTALLED;
    CLEANUP(fclosep) FILE *f = fopen(path, "re");
    char part[BUFSIZ];
    size_t n;

    *ret_path = NULL;
    if (!f && errno == ENOENT)
        return EXIT_DONE;
    while (f && text->len < PAGE_MAX && (n = fread(part, 1, sizeof part, f)) > 0)
        strbuf_add(text, part, n);
    if (!f || ferror(f)) {
        cli_error("%s: cannot be read: %s", path, strerror(errno));
        return EXIT_FAILED;
    }
    *ret_path = path;
    return EXIT_DONE;
}
