/* roll.h: ballast maintenance roll and stop. */
#ifndef BALLAST_CLI_ROLL_H
#define BALLAST_CLI_ROLL_H

#include "cli/client.h"

enum { ROLL_OPT_AT_ONCE = CLIENT_OPT_COUNT, ROLL_OPT_RUN, ROLL_OPT_YES, ROLL_OPT_COUNT };

/* The first operand is the mode, hosts follow. */
enum exit_code roll_run(const struct args *args, struct arena *a, struct strbuf *out);
enum exit_code roll_stop(const struct args *args, struct arena *a, struct strbuf *out);

/* The member "roll" of a reply as text; nothing for null. */
void roll_show(const json_t *roll, const char *domain, struct arena *a, struct strbuf *out);

#endif
