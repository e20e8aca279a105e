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

static enum exit_code read_page(struct arena *a, struct strbuf *text, const char **ret_path)
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
    if (!f || ferror(f))
        return cli_fail(EXIT_FAILED, "%s: cannot be read: %s", r < 0 ? PAGE : path,
                        strerror(r < 0 ? -r : errno));
    *ret_path = arena_printf(a, "%s", path);
    return EXIT_DONE;
}

enum exit_code report_page_write(const char *path, const struct run_set *a, const struct run_set *b,
                                 struct arena *arena)
{
    CLEANUP(strbuf_releasep) struct strbuf built = STRBUF_EMPTY;
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;
    const char *page;

    enum exit_code code = read_page(arena, &built, &page);
    if (code != EXIT_DONE)
        return code;
    if (report_html(a, b, page ? built.text : NULL, &text) < 0)
        return cli_fail(EXIT_FAILED,
                        "%s is not the page of this version of ballast; install or build it again", page);
    if (!page)
        cli_error(
            "note: Ballast was built without its pages (dashboard/build), so the report has tables only");
    return cli_write_file(path, &text);
}
