/* report_page.h: the built page (dashboard/) that --report puts its figures into. */
#ifndef BALLAST_CLI_REPORT_PAGE_H
#define BALLAST_CLI_REPORT_PAGE_H

#include "cli/verb.h"
#include "sim/report/report.h"

/* Writes the page, with the figures of one set or of two (b; NULL: one), to the file; "-" is standard output.
 * A note on standard error where Ballast was built without the page. */
enum exit_code report_page_write(const char *path, const struct run_set *a, const struct run_set *b,
                                 struct arena *arena);

#endif
