/* nova.h: the filters of OpenStack Nova's scheduler as a snapshot with groups and pipelines (src/core/fit).
 *
 * The cloud is one JSON object of what an OpenStack admin can print: the lists of the API's answers and
 * nova.conf. README.md lists its keys. */
#ifndef BALLAST_DIALECT_NOVA_NOVA_H
#define BALLAST_DIALECT_NOVA_NOVA_H

#include <ballast/arena.h>
#include <ballast/err.h>

#include <jansson.h>
#include <stdbool.h>

/* The id of the VM that the request asks for, where the request has none. */
#define NOVA_REQUEST_ID "request"

/* Whether the member of a document asks for something, and is no part of the cloud. */
bool nova_is_asked(const char *member);

/* A request to move a server that is there: "web1 can be {migrated} {to} h2". */
struct nova_move {
    const char *action;    /* the member, such as "os-migrateLive" */
    const char *done, *to; /* "migrated live", "to" */
    const char *server;    /* its id or name, as the request has it */
};

/* False: the document asks for no such move. */
bool nova_find_move(const json_t *cloud, struct nova_move *ret);

/* The cloud as ballast-snapshot/1; the caller frees *ret. -EINVAL with "flavors/2/extra_specs: what is wrong,
 * what was expected". */
int nova_compile(const json_t *cloud, struct arena *a, json_t **ret, struct err *err);

#endif
