/* gate.c: who asks, and from where: host name, origin and token. What a role may do is request/request.h's.
 */
#include "http/internal.h"

#include "base/log.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define BEARER "Bearer "

static const struct sockaddr *address_of(const struct http_call *c)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

    return info ? info->client_addr : NULL;
}

static void name_address(const struct sockaddr *from, char ret[INET6_ADDRSTRLEN])
{
    const void *at = !from ? NULL
                     : from->sa_family == AF_INET
                         ? (const void *)&((const struct sockaddr_in *)from)->sin_addr
                         : (const void *)&((const struct sockaddr_in6 *)from)->sin6_addr;

    if (!at || !inet_ntop(from->sa_family, at, ret, INET6_ADDRSTRLEN))
        (void)snprintf(ret, INET6_ADDRSTRLEN, "an unknown address");
}

/* ---- host and origin -------------------------------------------------------------------------- */

/* The name without its port. */
static size_t name_length(const char *host)
{
    const char *end = *host == '[' ? strchr(host, ']') : strrchr(host, ':');

    if (*host == '[')
        return end ? (size_t)(end - host) + 1 : strlen(host);
    return end ? (size_t)(end - host) : strlen(host);
}

static bool is_name(const char *host, const char *name, size_t name_len)
{
    return name_length(host) == name_len && strncasecmp(host, name, name_len) == 0;
}

/* On a loopback address without TLS, a page from elsewhere could reach the service under a name of its own
 * that it lets point here (DNS rebinding). Its requests carry that name. */
static bool is_own_host(const struct http_call *c)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
    const char *host = exchange_header(c, "Host");
    const char *listen = c->http->is.listen_text;

    if (c->http->cert_file || !host)
        return true; /* without a Host (HTTP/1.0) it is no browser */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (is_name(host, names[i], strlen(names[i])))
            return true;
    }
    return is_name(host, listen, name_length(listen));
}

/* A page from elsewhere: a browser says where a request that changes something comes from. */
static bool is_own_origin(const struct http_call *c)
{
    const char *origin = exchange_header(c, "Origin");
    const char *host = exchange_header(c, "Host");
    const char *scheme = c->http->cert_file ? "https://" : "http://";

    if (!origin)
        return true;
    return host && strncmp(origin, scheme, strlen(scheme)) == 0 &&
           strcasecmp(origin + strlen(scheme), host) == 0;
}

/* ---- tokens ----------------------------------------------------------------------------------- */

/* Logged with the address, and slower the more there are of it. */
static enum MHD_Result refuse(struct http_call *c, const char *why)
{
    const struct sockaddr *from = address_of(c);
    char name[INET6_ADDRSTRLEN];
    unsigned unlogged = 0;

    if (!attempts_note(c->http->attempts, from, time(NULL), &unlogged))
        return answer_problem(c, PROBLEM_ATTEMPTS,
                              "%s; too many such requests came from this address, wait a "
                              "second",
                              why);
    name_address(from, name);
    if (unlogged > 0)
        log_notice("HTTP: %s %.100s refused for %s: %s (and %u more before that were not logged)",
                   http_method_name(c->method), c->raw, name, why, unlogged);
    else
        log_notice("HTTP: %s %.100s refused for %s: %s", http_method_name(c->method), c->raw, name, why);
    return answer_problem(c, PROBLEM_UNAUTHORIZED, "%s", why);
}

static bool check_token(struct http_call *c, enum MHD_Result *ret)
{
    const char *given = exchange_header(c, "Authorization");
    struct token token;
    char why[128];

    if (!given || strncasecmp(given, BEARER, strlen(BEARER)) != 0) {
        *ret = refuse(c, "the request has no token, expected the header \"Authorization: Bearer TOKEN\"");
        return false;
    }
    int r = token_list_check(c->http->tokens, given + strlen(BEARER), time(NULL), &token);

    if (r == -EKEYEXPIRED) {
        (void)snprintf(why, sizeof why, "the token \"%s\" has expired", token.name);
        *ret = refuse(c, why);
    } else if (r < 0) {
        *ret = refuse(c, "the token is not one of this service's");
    } else {
        c->role = token.role;
        (void)snprintf(c->who, sizeof c->who, "%s (token)", token.name);
    }
    return r == 0;
}

/* A roll may be looked at by a role that may not begin one. */
static enum role least_role(const struct route *r)
{
    if (r->kind == ROUTE_CLUSTERS || (r->request == REQUEST_ROLL && r->method == HTTP_GET))
        return ROLE_VIEWER;
    return request_kind_needs(r->request);
}

bool gate_pass(struct http_call *c, enum MHD_Result *ret)
{
    char name[INET6_ADDRSTRLEN];

    if (!is_own_host(c)) {
        *ret = answer_problem(c, PROBLEM_MISDIRECTED,
                              "the Host header names no address of this service, which listens on %s",
                              c->http->is.listen_text);
        return false;
    }
    if (c->method != HTTP_GET && !is_own_origin(c)) {
        *ret = answer_problem(c, PROBLEM_FORBIDDEN, "the request comes from a page of another site");
        return false;
    }
    if (c->route && route_is_open(c->route))
        return true;
    if (!check_token(c, ret))
        return false;
    if (!c->route || c->role >= least_role(c->route))
        return true;
    name_address(address_of(c), name);
    log_notice("HTTP: %s %.100s refused for %s at %s, which has the role %s", http_method_name(c->method),
               c->raw, c->who, name, role_name(c->role));
    *ret = answer_problem(c, PROBLEM_FORBIDDEN, "%s has the role %s, this needs the role %s", c->who,
                          role_name(c->role), role_name(least_role(c->route)));
    return false;
}
