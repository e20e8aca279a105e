/* ovirt.h: oVirt's scheduling policies as a snapshot with pipelines (src/core/fit).
 *
 * The cloud is one JSON object: clusters, hosts, VMs, affinity groups and scheduling policies, in the words
 * of oVirt's REST API. README.md lists its members. */
#ifndef BALLAST_DIALECT_OVIRT_OVIRT_H
#define BALLAST_DIALECT_OVIRT_OVIRT_H

#include "schema/reader.h"

#include <ballast/arena.h>
#include <ballast/err.h>

#include <jansson.h>

/* The cloud as ballast-snapshot/1; the caller frees *ret. -EINVAL with "JSON-pointer: what is wrong, what was
 * expected". */
int ovirt_compile(const json_t *cloud, struct arena *a, json_t **ret, struct err *err);

/* An entry of `pipelines`, with stages and balance in place of its scheduling_policy; without that, *ret is
 * the entry itself. The policy is the name or id of a built-in one, or an object in REST's words with
 * clone_of, filters, weights and so on; `properties` may be a map, and an external unit of the configuration
 * has its name as id. It becomes the pipeline of VMs of any source, which run or start. In the reader's
 * arena. *ret_agrees: a weight wants what the balance does. -EINVAL with the line. */
#define OVIRT_POLICY_KEY "scheduling_policy"
int ovirt_expand(const struct reader *r, const struct node *entry, double mem_overcommit,
                 const struct node **ret, bool *ret_agrees);

#endif
