/* flexiant.h: Flexiant's dynamic workload placement as a snapshot with pipelines (src/core/fit).
 *
 * The cloud is one JSON object: clusters, nodes, customers, servers and the keys on them. README.md lists its
 * members. */
#ifndef BALLAST_DIALECT_FLEXIANT_FLEXIANT_H
#define BALLAST_DIALECT_FLEXIANT_FLEXIANT_H

#include "base/strbuf.h"

#include <ballast/arena.h>
#include <ballast/err.h>

#include <jansson.h>

/* The cloud as ballast-snapshot/1; the caller frees *ret. -EINVAL with "JSON-pointer: what is wrong, what was
 * expected". */
int flexiant_compile(const json_t *cloud, struct arena *a, json_t **ret, struct err *err);

/* What a customer sees: its own virtual data centres and servers with their keys, but no node, nothing of
 * others, and no key that begins with "_" or "#". -EINVAL as above, and for a customer that is not there. */
int flexiant_show_customer(const json_t *cloud, const char *customer, struct arena *a, struct strbuf *out,
                           struct err *err);

#endif
