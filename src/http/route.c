/* route.c: the table of routes, and a request from a route. Carrying it out is the service's. */
#include "http/route.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CLUSTER "/api/v1/clusters/{cluster}"
#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

#define REST "/ovirt-engine/api"

const struct route routes[] = {
    {HTTP_GET, "/", ROUTE_PAGE},
    {HTTP_GET, "/assets/{name}", ROUTE_PAGE},
    {HTTP_GET, "/status", ROUTE_STATUS_PAGE},
    {HTTP_POST, "/status", ROUTE_STATUS_FORM},
    {HTTP_POST, "/status/sign-out", ROUTE_STATUS_FORM},
    {HTTP_GET, "/healthz", ROUTE_HEALTHY, .type = "text/plain; charset=utf-8"},
    {HTTP_GET, "/readyz", ROUTE_READY, .type = "text/plain; charset=utf-8"},
    {HTTP_GET, "/metrics", ROUTE_MEMBER, REQUEST_METRICS, "metrics", METRICS_TYPE},
    {HTTP_GET, "/api/v1/openapi.json", ROUTE_DESCRIPTION},
    {HTTP_GET, "/api/v1/clusters", ROUTE_CLUSTERS},
    {HTTP_GET, "/api/v1/session", ROUTE_SESSION},
    {HTTP_POST, "/api/v1/session", ROUTE_SESSION},
    {HTTP_DELETE, "/api/v1/session", ROUTE_SESSION},
    {HTTP_GET, "/api/v1/tokens", ROUTE_REQUEST, REQUEST_TOKENS},
    {HTTP_POST, "/api/v1/tokens", ROUTE_REQUEST, REQUEST_TOKEN_CREATE},
    {HTTP_DELETE, "/api/v1/tokens/{name}", ROUTE_REQUEST, REQUEST_TOKEN_REVOKE},
    {HTTP_GET, CLUSTER "/status", ROUTE_REQUEST, REQUEST_STATUS},
    {HTTP_GET, CLUSTER "/summary", ROUTE_REQUEST, REQUEST_SUMMARY},
    {HTTP_GET, CLUSTER "/hosts", ROUTE_LIST, REQUEST_HOSTS, "hosts"},
    {HTTP_GET, CLUSTER "/hosts/{item}", ROUTE_ITEM, REQUEST_HOSTS, "hosts"},
    {HTTP_GET, CLUSTER "/vms", ROUTE_LIST, REQUEST_VMS, "vms"},
    {HTTP_GET, CLUSTER "/vms/{item}", ROUTE_ITEM, REQUEST_VMS, "vms"},
    {HTTP_GET, CLUSTER "/pools", ROUTE_LIST, REQUEST_POOLS, "pools"},
    {HTTP_GET, CLUSTER "/pools/{item}", ROUTE_ITEM, REQUEST_POOLS, "pools"},
    {HTTP_GET, CLUSTER "/series", ROUTE_REQUEST, REQUEST_SERIES},
    {HTTP_GET, CLUSTER "/hosts/{host}/series", ROUTE_REQUEST, REQUEST_SERIES},
    {HTTP_GET, CLUSTER "/vms/{vm}/series", ROUTE_REQUEST, REQUEST_SERIES},
    {HTTP_GET, CLUSTER "/pools/{pool}/series", ROUTE_REQUEST, REQUEST_SERIES},
    {HTTP_GET, CLUSTER "/samples", ROUTE_LIST, REQUEST_SAMPLES, "samples"},
    {HTTP_GET, CLUSTER "/recommendations", ROUTE_LIST, REQUEST_RECOMMENDATIONS, "recommendations"},
    {HTTP_GET, CLUSTER "/recommendations/{item}", ROUTE_ITEM, REQUEST_RECOMMENDATIONS, "recommendations"},
    {HTTP_POST, CLUSTER "/recommendations/{id}/apply", ROUTE_REQUEST, REQUEST_APPLY},
    {HTTP_POST, CLUSTER "/recommendations/{id}/reject", ROUTE_REQUEST, REQUEST_REJECT},
    {HTTP_POST, CLUSTER "/recommendations/apply", ROUTE_REQUEST, REQUEST_APPLY},
    {HTTP_POST, CLUSTER "/recommendations/reject", ROUTE_REQUEST, REQUEST_REJECT},
    {HTTP_GET, CLUSTER "/history", ROUTE_PAGED, REQUEST_HISTORY},
    {HTTP_GET, CLUSTER "/events", ROUTE_PAGED, REQUEST_EVENTS},
    {HTTP_GET, CLUSTER "/events/stream", ROUTE_STREAM, REQUEST_EVENTS, "events"},
    {HTTP_GET, CLUSTER "/energy", ROUTE_PAGED, REQUEST_ENERGY},
    {HTTP_GET, CLUSTER "/schedule", ROUTE_REQUEST, REQUEST_SCHEDULE},
    {HTTP_GET, CLUSTER "/forecast", ROUTE_REQUEST, REQUEST_FORECAST},
    {HTTP_GET, CLUSTER "/snapshot", ROUTE_MEMBER, REQUEST_SNAPSHOT, "snapshot"},
    {HTTP_GET, CLUSTER "/config/diff", ROUTE_REQUEST, REQUEST_CONFIG_DIFF},
    {HTTP_POST, CLUSTER "/config/diff", ROUTE_REQUEST, REQUEST_CONFIG_DIFF},
    {HTTP_GET, CLUSTER "/policies", ROUTE_REQUEST, REQUEST_POLICIES},
    {HTTP_POST, CLUSTER "/policies", ROUTE_REQUEST, REQUEST_POLICY_CHANGE},
    {HTTP_GET, CLUSTER "/console/{id}", ROUTE_REQUEST, REQUEST_CONSOLE},
    {HTTP_POST, CLUSTER "/alarms/{target}/test", ROUTE_REQUEST, REQUEST_ALARM_TEST},
    {HTTP_GET, CLUSTER "/passes", ROUTE_PAGED, REQUEST_PASSES},
    {HTTP_POST, CLUSTER "/passes", ROUTE_REQUEST, REQUEST_RUN},
    {HTTP_POST, CLUSTER "/pause", ROUTE_REQUEST, REQUEST_PAUSE},
    {HTTP_POST, CLUSTER "/resume", ROUTE_REQUEST, REQUEST_RESUME},
    {HTTP_POST, CLUSTER "/maintenance", ROUTE_REQUEST, REQUEST_MAINTENANCE},
    {HTTP_GET, CLUSTER "/maintenance/roll", ROUTE_REQUEST, REQUEST_ROLL},
    {HTTP_POST, CLUSTER "/maintenance/roll", ROUTE_REQUEST, REQUEST_ROLL},
    {HTTP_POST, CLUSTER "/standby", ROUTE_REQUEST, REQUEST_STANDBY},
    {HTTP_POST, CLUSTER "/wake", ROUTE_REQUEST, REQUEST_WAKE},
    {HTTP_POST, CLUSTER "/trust", ROUTE_REQUEST, REQUEST_TRUST},
    {HTTP_POST, CLUSTER "/confirm-controller", ROUTE_REQUEST, REQUEST_CONFIRM_CONTROLLER},
    {HTTP_POST, CLUSTER "/confirm-setting", ROUTE_REQUEST, REQUEST_CONFIRM_SETTING},
    {HTTP_POST, CLUSTER "/placements", ROUTE_REQUEST, REQUEST_PLACE},
    {HTTP_POST, CLUSTER "/migrations", ROUTE_REQUEST, REQUEST_MIGRATE},
    {HTTP_GET, CLUSTER "/plan", ROUTE_MEMBER, REQUEST_PLAN, "plan"},
    {HTTP_POST, CLUSTER "/plan", ROUTE_MEMBER, REQUEST_PLAN, "plan"},
    {HTTP_GET, CLUSTER "/vms/{vm}/explain", ROUTE_MEMBER, REQUEST_EXPLAIN, "explain"},
    {HTTP_GET, CLUSTER "/hosts/{host}/explain", ROUTE_MEMBER, REQUEST_EXPLAIN, "explain"},
    {HTTP_POST, CLUSTER "/explain", ROUTE_MEMBER, REQUEST_EXPLAIN, "explain"},
    {HTTP_POST, CLUSTER "/what-if", ROUTE_MEMBER, REQUEST_WHAT_IF, "what_if"},
    {HTTP_GET, CLUSTER "/entitlements", ROUTE_MEMBER, REQUEST_ENTITLEMENTS, "entitlements"},
    {HTTP_POST, "/ovirt-engine/sso/oauth/token", ROUTE_REST_LOGIN},
    {HTTP_POST, "/ovirt-engine/services/sso-logout", ROUTE_REST_LOGIN},
    {HTTP_GET, REST, ROUTE_REST, REQUEST_POLICIES},
    {HTTP_GET, REST "/{collection}", ROUTE_REST, REQUEST_POLICIES},
    {HTTP_GET, REST "/{collection}/{id}", ROUTE_REST, REQUEST_POLICIES},
    {HTTP_GET, REST "/{collection}/{id}/{list}", ROUTE_REST, REQUEST_POLICIES},
    {HTTP_GET, REST "/{collection}/{id}/{list}/{id}", ROUTE_REST, REQUEST_POLICIES},
    {HTTP_POST, REST "/schedulingpolicies", ROUTE_REST, REQUEST_POLICY_CHANGE},
    {HTTP_PUT, REST "/schedulingpolicies/{id}", ROUTE_REST, REQUEST_POLICY_CHANGE},
    {HTTP_DELETE, REST "/schedulingpolicies/{id}", ROUTE_REST, REQUEST_POLICY_CHANGE},
    {HTTP_POST, REST "/schedulingpolicies/{id}/{list}", ROUTE_REST, REQUEST_POLICY_CHANGE},
    {HTTP_DELETE, REST "/schedulingpolicies/{id}/{list}/{id}", ROUTE_REST, REQUEST_POLICY_CHANGE},
    {HTTP_DELETE, REST "/schedulingpolicyunits/{id}", ROUTE_REST, REQUEST_POLICY_CHANGE},
    {HTTP_PUT, REST "/clusters/{id}", ROUTE_REST, REQUEST_POLICY_CHANGE},
    {HTTP_POST, REST "/vms/{id}/start", ROUTE_REST, REQUEST_PLACE},
    {HTTP_POST, REST "/vms/{id}/migrate", ROUTE_REST, REQUEST_MIGRATE},
    {HTTP_POST, REST "/hosts/{id}/deactivate", ROUTE_REST, REQUEST_MAINTENANCE},
    {HTTP_POST, REST "/hosts/{id}/activate", ROUTE_REST, REQUEST_MAINTENANCE},
    {HTTP_POST, REST "/{collection}/{id}/{action}", ROUTE_REST_NEVER, REQUEST_PLACE},
};

const size_t n_routes = sizeof routes / sizeof *routes;

static const char *const methods[http_method_count] = {
#define HTTP_METHOD_WORD(e, word) [e] = (word),
    HTTP_METHODS(HTTP_METHOD_WORD)};

const char *http_method_name(enum http_method method)
{
    return (unsigned)method < http_method_count ? methods[method] : "?";
}

/* ---- matching -------------------------------------------------------------------------------- */

/* A segment that is written out beats a value: /recommendations/apply is no recommendation. */
static bool matches(const struct route *r, const struct target *t, struct route_values *ret,
                    unsigned *ret_exact)
{
    const char *at = r->path;

    *ret = (struct route_values){0};
    *ret_exact = 0;
    if (t->n_segments == 0)
        return strcmp(at, "/") == 0;
    for (size_t i = 0; i < t->n_segments; i++) {
        if (*at++ != '/')
            return false;
        size_t len = strcspn(at, "/");

        if (*at == '{') {
            ret->names[ret->n] = at;
            ret->values[ret->n++] = t->segments[i];
        } else if (strlen(t->segments[i]) != len || memcmp(t->segments[i], at, len) != 0) {
            return false;
        } else {
            (*ret_exact)++;
        }
        at += len;
    }
    return *at == '\0';
}

const struct route *route_find(enum http_method method, const struct target *t, struct route_values *ret,
                               unsigned *ret_methods)
{
    const struct route *found = NULL;
    unsigned most = 0;

    *ret_methods = 0;
    for (size_t i = 0; i < n_routes; i++) {
        struct route_values values;
        unsigned exact;

        if (!matches(&routes[i], t, &values, &exact))
            continue;
        *ret_methods |= 1u << routes[i].method;
        if (routes[i].method == method && exact >= most) {
            found = &routes[i];
            most = exact;
            *ret = values;
        }
    }
    return found;
}

const char *route_value(const struct route_values *v, const char *name)
{
    for (size_t i = 0; i < v->n; i++) {
        if (strncmp(v->names[i], name, strlen(name)) == 0)
            return v->values[i];
    }
    return NULL;
}

bool route_is_html(const struct route *r)
{
    return r && (r->kind == ROUTE_STATUS_PAGE || r->kind == ROUTE_STATUS_FORM);
}

bool route_is_open(const struct route *r)
{
    return r->kind == ROUTE_PAGE || r->kind == ROUTE_HEALTHY || r->kind == ROUTE_READY || route_is_html(r) ||
           r->kind == ROUTE_REST_LOGIN ||
           (r->kind == ROUTE_SESSION && r->method != HTTP_DELETE); /* these ask for themselves */
}

/* A roll may be looked at by a role that may not begin one. */
enum role route_needs(const struct route *r)
{
    if (r->kind == ROUTE_CLUSTERS || r->kind == ROUTE_SESSION || route_is_html(r) ||
        r->kind == ROUTE_DESCRIPTION || (r->request == REQUEST_ROLL && r->method == HTTP_GET))
        return ROLE_VIEWER;
    return request_kind_needs(r->request);
}

/* ---- requests -------------------------------------------------------------------------------- */

/* A text from a path or a parameter, as the field's form; a text that is no number stays one, and is refused
 * with the field's own sentence. */
static json_t *value_of(const char *text, enum request_form form)
{
    const bool digits = *text != '\0' && strspn(text, "0123456789") == strlen(text) && strlen(text) < 19;

    switch (form) {
    case REQUEST_NUMBER:
        return digits ? json_integer(strtoll(text, NULL, 10)) : json_string(text);
    case REQUEST_FLAG:
        return strcmp(text, "true") == 0    ? json_true()
               : strcmp(text, "false") == 0 ? json_false()
                                            : json_string(text);
    case REQUEST_LIST:
        return json_pack("[o]", value_of(text, REQUEST_NUMBER));
    case REQUEST_TEXT:
    case REQUEST_OBJECT: /* a body has it */
        break;
    }
    return json_string(text);
}

static int put(json_t *root, enum request_kind kind, const char *name, const char *text, struct err *err)
{
    enum request_form form = REQUEST_TEXT;

    if (strcmp(name, "command") == 0 || json_object_get(root, name))
        return err_set(err, -EINVAL, "\"%.40s\": given twice, or no field of \"%s\"", name,
                       request_kind_name(kind));
    (void)request_field_form(kind, name,
                             &form); /* a field that does not exist is refused by request_read() */
    return json_object_set_new(root, name, value_of(text, form)) == 0
               ? 0
               : err_set(err, -EINVAL, "\"%.40s\": not a text", name);
}

/* {id} of a request that is about several is a list of one. */
static int put_path(json_t *root, enum request_kind kind, const char *braced, const char *text,
                    struct err *err)
{
    enum request_form form;
    char name[32];
    size_t len = strcspn(braced, "}") - 1;

    if (len >= sizeof name)
        return err_set(err, -EINVAL, "the route has no such field");
    memcpy(name, braced + 1, len);
    name[len] = '\0';
    if (strcmp(name, "id") == 0 && request_field_form(kind, "id", &form) < 0)
        return put(root, kind, "ids", text, err);
    return put(root, kind, name, text, err);
}

/* Parameters that are the route's own. */
static bool is_of_route(const struct route *r, const char *parameter)
{
    return r->kind == ROUTE_LIST && (strcmp(parameter, "limit") == 0 || strcmp(parameter, "cursor") == 0);
}

static bool is_field(const char *braced)
{
    return strncmp(braced, "{cluster}", 9) != 0 && strncmp(braced, "{item}", 6) != 0;
}

bool route_has_fields(const struct route *r, const struct route_values *v, const struct target *t)
{
    for (size_t i = 0; i < t->n_parameters; i++) {
        if (!is_of_route(r, t->parameters[i].name))
            return true;
    }
    for (size_t i = 0; i < v->n; i++) {
        if (is_field(v->names[i]))
            return true;
    }
    return false;
}

int route_request(const struct route *r, const struct route_values *v, const struct target *t, json_t *body,
                  struct request *ret, struct err *err)
{
    CLEANUP(json_decrefp) json_t *root = body ? json_copy(body) : json_object();
    int e;

    if (!json_is_object(root))
        return err_set(err, -EINVAL, "the body is not a JSON object");
    if (json_object_get(root, "command"))
        return err_set(err, -EINVAL, "\"command\": not a field of \"%s\"", request_kind_name(r->request));
    for (size_t i = 0; i < t->n_parameters; i++) {
        if (!is_of_route(r, t->parameters[i].name) &&
            (e = put(root, r->request, t->parameters[i].name, t->parameters[i].value, err)) < 0)
            return e;
    }
    for (size_t i = 0; i < v->n; i++) {
        if (is_field(v->names[i]) && (e = put_path(root, r->request, v->names[i], v->values[i], err)) < 0)
            return e;
    }
    /* with its fields the request may need more than the route's role, and a GET must change nothing */
    if (request_kind_needs(r->request) > route_needs(r) && json_object_size(root) > 0)
        return err_set(err, -EINVAL, "%s has no fields here, expected a POST", request_kind_name(r->request));
    (void)json_object_set_new(root, "command", json_string(request_kind_name(r->request)));
    if ((e = request_read(root, ret, err)) < 0)
        return e;
    ret->vm_in_path = route_value(v, "{vm}") != NULL;
    ret->host_in_path = route_value(v, "{host}") != NULL;
    ret->pool_in_path = route_value(v, "{pool}") != NULL;
    return 0;
}
