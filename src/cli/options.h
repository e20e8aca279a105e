/* options.h: a verb's command line, read and explained by its table. */
#ifndef BALLAST_CLI_OPTIONS_H
#define BALLAST_CLI_OPTIONS_H

#include "cli/verb.h"

enum parsed { PARSED_RUN, PARSED_HELP, PARSED_WRONG };

/* argv[0] is the verb. PARSED_WRONG: one line was written to standard error. Operands and options may be
 * mixed. */
enum parsed options_parse(const struct verb *v, int argc, char **argv, struct arena *a, struct args *ret);

void options_help(const struct verb *v, struct strbuf *out);

#endif
