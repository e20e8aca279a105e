/* host_json.h: one host as JSON text, as in the hosts of ballast-snapshot/1, and back. For what is remembered
 * of a host that its source may stop to list. */
#ifndef BALLAST_MODEL_HOST_JSON_H
#define BALLAST_MODEL_HOST_JSON_H

#include "base/strbuf.h"

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/facts.h>

/* One line, without an end of line. The agent VMs that the host requires are left out: they are objects of
 * their own. */
void host_json_write(const struct host_facts *f, struct strbuf *out);

/* The strings are in the arena. -EINVAL with "JSON-pointer: what is wrong, what was expected". */
int host_json_read(const char *text, struct arena *a, struct host_facts *ret, struct err *err);

#endif
