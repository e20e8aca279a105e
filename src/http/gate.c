/* gate.c: who asks, and from where: host name, origin, token or session. What a role may do is
 * request/request.h's. */
#include "http/header.h"
#include "http/internal.h"

#include "base/log.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct sockaddr *address_of(const struct http_call *c)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

    return info ? info->client_addr : NULL;
}

void gate_name_address(const struct http_call *c, char ret[INET6_ADDRSTRLEN])
{
    const struct sockaddr *from = address_of(c);
    const void *at = !from ? NULL
                     : from->sa_family == AF_INET
                         ? (const void *)&((const struct sockaddr_in *)from)->sin_addr
                         : (const void *)&((const struct sockaddr_in6 *)from)->sin6_addr;

    if (!at || !inet_ntop(from->sa_family, at, ret, INET6_ADDRSTRLEN))
        (void)snprintf(ret, INET6_ADDRSTRLEN, "an unknown address");
}

/* ---- host and origin -------------------------------------------------------------------------- */

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
        if (header_names_host(host, names[i]))
            return true;
    }
    return header_names_host(host, listen);
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

/* The cookie comes along with any request to this host, also with those of pages on other ports of it (they
 * are the same "site"). Only a link to here is no matter. */
bool gate_is_own_page(const struct http_call *c)
{
    const char *site = exchange_header(c, "Sec-Fetch-Site");
    const char *mode = exchange_header(c, "Sec-Fetch-Mode");

    return is_own_origin(c) && (!site || strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0 ||
                                (c->method == HTTP_GET && mode && strcmp(mode, "navigate") == 0));
}

/* ---- tokens ----------------------------------------------------------------------------------- */

/* Logged with the address, and slower the more there are of it. */
static enum MHD_Result refuse(struct http_call *c, const char *why)
{
    char from[INET6_ADDRSTRLEN];
    unsigned unlogged = 0;

    if (!attempts_note(c->http->attempts, address_of(c), time(NULL), &unlogged))
        return answer_problem(c, PROBLEM_ATTEMPTS,
                              "%s; too many such requests came from this address, wait a "
                              "second",
                              why);
    gate_name_address(c, from);
    if (unlogged > 0)
        log_notice("HTTP: %s %.100s refused for %s: %s (and %u more before that were not logged)",
                   http_method_name(c->method), c->raw, from, why, unlogged);
    else
        log_notice("HTTP: %s %.100s refused for %s: %s", http_method_name(c->method), c->raw, from, why);
    return answer_problem(c, PROBLEM_UNAUTHORIZED, "%s", why);
}

/* A sign-in is a try, too: with a token that is good one could else fill the log. */
bool gate_note_sign_in(struct http_call *c, enum MHD_Result *ret)
{
    unsigned unlogged = 0;

    if (attempts_note(c->http->attempts, address_of(c), time(NULL), &unlogged))
        return true;
    *ret = answer_problem(c, PROBLEM_ATTEMPTS,
                          "too many sign-ins or refused requests came from this address, wait a second");
    return false;
}

bool gate_check_token(struct http_call *c, const char *given, struct token *token, enum MHD_Result *ret)
{
    char why[128];
    int r = token_list_check(c->http->tokens, given, time(NULL), token);

    if (r == -EKEYEXPIRED) {
        (void)snprintf(why, sizeof why, "the token \"%s\" has expired", token->name);
        *ret = refuse(c, why);
    } else if (r < 0) {
        *ret = refuse(c, "the token is not one of this service's");
    } else {
        c->role = token->role;
        (void)snprintf(c->who, sizeof c->who, "%s (token)", token->name);
        (void)snprintf(c->person, sizeof c->person, "%s", token->owner);
        memcpy(c->credential.token, token->hash, sizeof c->credential.token);
    }
    return r == 0;
}

/* ---- sessions --------------------------------------------------------------------------------- */

void gate_take_session(struct http_call *c, const struct session *session)
{
    c->session = *session;
    c->by_session = true;
    c->role = session->token.role;
    (void)snprintf(c->who, sizeof c->who, "%s (token)", session->token.name);
    (void)snprintf(c->person, sizeof c->person, "%s", session->token.owner);
    memcpy(c->credential.token, session->token.hash, sizeof c->credential.token);
    memcpy(c->credential.session, session->hash, sizeof c->credential.session);
    c->credential.by_session = true;
}

void gate_end_session_of_cookie(struct http_call *c)
{
    char cookie[SESSION_TEXT_SIZE];
    unsigned char hash[TOKEN_HASH_BYTES];

    if (session_cookie(exchange_header(c, "Cookie"), c->http->cookie, cookie) == 0 &&
        token_hash(cookie, hash) == 0)
        session_end(c->http->sessions, hash);
}

/* The second secret, which a page of another site does not know. */
bool gate_is_csrf_token(const struct http_call *c, const char *given)
{
    return given && strlen(given) == SESSION_TEXT_SIZE - 1 &&
           gnutls_memcmp(given, c->session.csrf, SESSION_TEXT_SIZE - 1) == 0;
}

enum MHD_Result gate_refuse_page(struct http_call *c, const char *why)
{
    char from[INET6_ADDRSTRLEN];

    gate_name_address(c, from);
    log_notice("HTTP: %s %.100s refused for %s at %s: %s", http_method_name(c->method), c->raw, c->who, from,
               why);
    return answer_problem(c, PROBLEM_FORBIDDEN, "%s", why);
}

static bool check_session(struct http_call *c, const char *cookie, enum MHD_Result *ret)
{
    struct session session;
    char why[160];
    int r = session_check(c->http->sessions, cookie, time(NULL), &session);

    /* The cookie is not cleared: this answer may arrive after that to a new sign-in, whose cookie it would
     * clear. */
    if (r < 0) {
        if (r == -ENOENT)
            (void)snprintf(why, sizeof why,
                           "there is no such session: it has ended, or the service was started anew");
        else
            (void)snprintf(why, sizeof why, "the session of \"%s\" has ended: %s", session.token.name,
                           r == -ESTALE ? "its token was revoked or has expired" : "its time is over");
        *ret = refuse(c, why);
        return false;
    }
    gate_take_session(c, &session);
    if (!gate_is_own_page(c)) {
        *ret = gate_refuse_page(c, "the request comes from a page of another site");
        return false;
    }
    if (c->method == HTTP_GET || route_is_html(c->route) ||
        gate_is_csrf_token(c, exchange_header(c, "X-CSRF-Token")))
        return true;
    *ret = gate_refuse_page(
        c, "a request by a session that changes something needs the header X-CSRF-Token with "
           "the csrf_token of GET /api/v1/session");
    return false;
}

bool gate_has_credentials(const struct http_call *c)
{
    char cookie[SESSION_TEXT_SIZE];

    return exchange_header(c, "Authorization") ||
           session_cookie(exchange_header(c, "Cookie"), c->http->cookie, cookie) != -ENOENT;
}

bool gate_identify(struct http_call *c, enum MHD_Result *ret)
{
    const char *bearer = exchange_bearer(c);
    char cookie[SESSION_TEXT_SIZE];
    struct token token;

    if (bearer)
        return gate_check_token(c, bearer, &token, ret);
    int r = session_cookie(exchange_header(c, "Cookie"), c->http->cookie, cookie);

    if (r == 0 && !exchange_header(c, "Authorization"))
        return check_session(c, cookie, ret);
    c->clear_cookie = r == -EINVAL;
    *ret = refuse(c, r == -EINVAL ? "the cookie is not one of this service's"
                                  : "the request has no token, expected the header \"Authorization: Bearer "
                                    "TOKEN\"");
    return false;
}

bool gate_lasts(void *http, const struct credential *credential)
{
    struct http *h = http;
    const instant_s now = time(NULL);

    return token_list_find(h->tokens, credential->token, now, TOKEN_LOOKED_AT, NULL) == 0 &&
           (!credential->by_session || session_lasts(h->sessions, credential->session, now));
}

/* ---- all of it --------------------------------------------------------------------------------- */

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
    if (!gate_identify(c, ret))
        return false;
    if (!c->route || c->role >= route_needs(c->route))
        return true;
    gate_name_address(c, name);
    log_notice("HTTP: %s %.100s refused for %s at %s, which has the role %s", http_method_name(c->method),
               c->raw, c->who, name, role_name(c->role));
    *ret = answer_problem(c, PROBLEM_FORBIDDEN, "%s has the role %s, this needs the role %s", c->who,
                          role_name(c->role), role_name(route_needs(c->route)));
    return false;
}
