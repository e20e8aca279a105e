/* route.h: the routes of the API: which method and path is which request of the service.
 *
 * A segment in braces is a value. {cluster} is the name of the service's cluster. Any other is a field of the
 * request, as are the parameters and the members of the body; {item} is the id, or the name, of one element
 * of the reply's list.
 *
 * conf/openapi.json describes each route; tests/unit/openapi.c makes it from this table. */
#ifndef BALLAST_HTTP_ROUTE_H
#define BALLAST_HTTP_ROUTE_H

#include "http/target.h"
#include "request/request.h"

#include <jansson.h>
#include <stdbool.h>

#define HTTP_METHODS(X)                                                                                      \
    X(HTTP_GET, "GET")                                                                                       \
    X(HTTP_POST, "POST")                                                                                     \
    X(HTTP_PUT, "PUT")                                                                                       \
    X(HTTP_DELETE, "DELETE")

#define HTTP_METHOD_ENUM(e, word) e,
enum http_method { HTTP_METHODS(HTTP_METHOD_ENUM) http_method_count };

const char *http_method_name(enum http_method method);

/* How a route is answered. */
enum route_kind {
    ROUTE_REQUEST, /* by the reply to the request */
    ROUTE_LIST,    /* by the reply, its list a page at a time */
    ROUTE_PAGED,   /* by the reply, which is a page, and whose "next" has the fields of the next one */
    ROUTE_ITEM,    /* by the element {item} of the reply's list */
    ROUTE_MEMBER,  /* by the text that is a member of the reply */
    ROUTE_STREAM,  /* by events as they come */
    ROUTE_CLUSTERS,
    ROUTE_SESSION,     /* by the session of the browser */
    ROUTE_DESCRIPTION, /* by the OpenAPI document of all routes */
    ROUTE_PAGE,        /* by a file of the dashboard: {name}, or its index.html */
    ROUTE_STATUS_PAGE, /* by the status page in plain HTML */
    ROUTE_STATUS_FORM, /* by what its forms do: sign-in and sign-out */
    ROUTE_REST,        /* by an element of oVirt's REST API */
    ROUTE_REST_NEVER,  /* by a fault of it: the service does no such thing */
    ROUTE_REST_LOGIN,  /* by its sign-in and sign-out */
    ROUTE_HEALTHY,
    ROUTE_READY,
};

struct route {
    enum http_method method;
    const char *path;
    enum route_kind kind;
    enum request_kind request; /* of the first six kinds */
    const char *member;        /* of the reply: the list, or the text */
    const char *type;          /* of the text; NULL: application/json */
};

extern const struct route routes[];
extern const size_t n_routes;

/* The values in the path. */
struct route_values {
    const char *names[TARGET_SEGMENTS_MAX]; /* with its braces */
    const char *values[TARGET_SEGMENTS_MAX];
    size_t n;
};

/* NULL: no route has this path and this method. *ret_methods: the methods that the path has, one bit each (1u
 * << HTTP_GET); 0: no route has the path. */
const struct route *route_find(enum http_method method, const struct target *t, struct route_values *ret,
                               unsigned *ret_methods);

const char *route_value(const struct route_values *v, const char *name); /* with its braces; NULL: none */

/* Of the pages for people that the service makes itself: errors are pages, too. NULL: no route. */
bool route_is_html(const struct route *r);

/* A route that takes less than any role. */
bool route_is_open(const struct route *r);

/* The least role that any other route takes. */
enum role route_needs(const struct route *r);

/* Whether path or parameters give a field of the request, as route_request() reads them. */
bool route_has_fields(const struct route *r, const struct route_values *v, const struct target *t);

/* The request of the route with its fields from path, parameters and body. body NULL: none. -EINVAL and a
 * sentence. Parameters that the route itself uses (limit and cursor of a list) are left out. */
int route_request(const struct route *r, const struct route_values *v, const struct target *t, json_t *body,
                  struct request *ret, struct err *err);

#endif
