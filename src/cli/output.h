/* output.h: the command's two ways out. */
#ifndef BALLAST_CLI_OUTPUT_H
#define BALLAST_CLI_OUTPUT_H

#include "cli/verb.h"

enum cli_format { FORMAT_TEXT, FORMAT_JSON };

/* One line on standard error, whatever the text has in it. */
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes all of it to standard output. A write that fails is said, and EXIT_FAILED. */
enum exit_code cli_write(const struct strbuf *out);

/* Writes all of it to the file, or to standard output where the path is "-": whole or not at all. A file that
 * is there is replaced once the new one is complete; one that is no plain file (a pipe, a terminal) is
 * written to.
 */
enum exit_code cli_write_file(const char *path, const struct strbuf *text);

/* The value of --format; "text" if it was not given. */
enum exit_code cli_format(const struct args *args, size_t option, enum cli_format *ret);

#endif
