/* options.h: parses a verb's command line and prints its --help, both from the verb's table. */
#ifndef BALLAST_CLI_OPTIONS_H
#define BALLAST_CLI_OPTIONS_H

#include "cli/verb.h"

enum parsed { PARSED_RUN, PARSED_HELP, PARSED_WRONG };

/* argv[0] is the verb. PARSED_WRONG: one line was written to standard error. Operands and options may be
 * mixed. */
enum parsed options_parse(const struct verb *v, int argc, char **argv, struct arena *a, struct args *ret);

/* Prints --help, at most 80 columns wide unless a single word is longer. */
void options_help(const struct verb *v, struct strbuf *out);

/* Prints one entry of a list: `what` in a column of this width, and its meaning, wrapped. */
void options_help_line(const char *what, size_t width, const char *meaning, struct strbuf *out);

#endif
