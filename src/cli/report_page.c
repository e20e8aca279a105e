/* report_page.c: finds and reads the built page of reports. */
#include "cli/report_page.h"

#include "base/built.h"
#include "base/cleanup.h"
#include "cli/output.h"

#include <errno.h>
#include <string.h>

#define PROGRAM "/src/cli/ballast"
#define PAGE "report.html"
#define PAGE_MAX (16u << 20)

enum exit_code report_page_read(struct arena *a, struct strbuf *text, const char **ret_path)
{
    char path[PATH_MAX];
    int r = built_path(PROGRAM, PAGE, path);
    CLEANUP(fclosep) FILE *f = r < 0 ? NULL : fopen(path, "re");
    char part[BUFSIZ];
    size_t n;

    *ret_path = NULL;
    if (r == 0 && !f && errno == ENOENT)
        return EXIT_DONE;
    while (f && text->len < PAGE_MAX && (n = fread(part, 1, sizeof part, f)) > 0)
        strbuf_add(text, part, n);
    if (!f || ferror(f)) {
        cli_error("%s: cannot be read: %s", r < 0 ? PAGE : path, strerror(r < 0 ? -r : errno));
        return EXIT_FAILED;
    }
    *ret_path = arena_printf(a, "%s", path);
    return EXIT_DONE;
}
