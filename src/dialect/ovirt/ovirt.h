/* ovirt.h: oVirt's scheduling policies as a snapshot with pipelines (src/core/fit).
 *
 * The cloud is one JSON object: clusters, hosts, VMs, affinity groups and scheduling policies, in the words
 * of oVirt's REST API. README.md lists its members. */
#ifndef BALLAST_DIALECT_OVIRT_OVIRT_H
#define BALLAST_DIALECT_OVIRT_OVIRT_H

#include <ballast/arena.h>
#include <ballast/err.h>

#include <jansson.h>

/* The cloud as ballast-snapshot/1; the caller frees *ret. -EINVAL with "JSON-pointer: what is wrong, what was
 * expected". */
int ovirt_compile(const json_t *cloud, struct arena *a, json_t **ret, struct err *err);

#endif
