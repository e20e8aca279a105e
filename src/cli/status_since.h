/* status_since.h: `ballast status --since`: what happened since a time, in about ten lines. */
#ifndef BALLAST_CLI_STATUS_SINCE_H
#define BALLAST_CLI_STATUS_SINCE_H

#include "base/strbuf.h"
#include "cli/output.h"
#include "cli/verb.h"

/* since: as it was given. socket: NULL for the default. */
enum exit_code status_since(const char *socket, const char *since, enum cli_format format, struct arena *a,
                            struct strbuf *out);

#endif
