/* day.h: figures of one VM, host or pool over the last hour and day, for the verbs that list them. */
#ifndef BALLAST_CLI_DAY_H
#define BALLAST_CLI_DAY_H

#include "cli/client.h"

/* The request for the last day of one object. kind: "vm", "host" or "pool", the field that names it. */
json_t *day_request(const char *kind, const char *name);

/* Prints its reply, for client_show() with the member "series". */
void day_show(const json_t *reply, struct arena *a, struct strbuf *out);

#endif
