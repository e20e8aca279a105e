/* report_page.h: the built page (dashboard/) that `ballast simulate --report` puts its figures into. */
#ifndef BALLAST_CLI_REPORT_PAGE_H
#define BALLAST_CLI_REPORT_PAGE_H

#include "cli/verb.h"

/* Reads the page of the build folder that this program is in, or else the installed one, into *text, and
 * gives its path. *ret_path is NULL if there is none: Ballast can be built without it. */
enum exit_code report_page_read(struct arena *a, struct strbuf *text, const char **ret_path);

#endif
