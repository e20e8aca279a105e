/* nova.h: the filters of OpenStack Nova's scheduler as a snapshot with groups and pipelines (src/core/fit).
 *
 * The cloud is one JSON object of what an OpenStack admin can print: the lists of the API's answers and
 * nova.conf. README.md lists its keys. */
#ifndef BALLAST_DIALECT_NOVA_NOVA_H
#define BALLAST_DIALECT_NOVA_NOVA_H

#include <ballast/arena.h>
#include <ballast/err.h>

#include <jansson.h>

/* The id of the VM that the request asks for, where the request has none. */
#define NOVA_REQUEST_ID "request"

/* The cloud as ballast-snapshot/1; the caller frees *ret. -EINVAL with "flavors/2/extra_specs: what is wrong,
 * what was expected". */
int nova_compile(const json_t *cloud, struct arena *a, json_t **ret, struct err *err);

#endif
