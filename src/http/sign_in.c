/* sign_in.c: exchanges tokens for sessions, shows and ends them. Counting refused tries is gate.c's. */
#include "http/internal.h"

#include "base/cleanup.h"
#include "base/json_writer.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- cookies ---------------------------------------------------------------------------------- */

/* A browser gives a cookie to all ports of a host: the name keeps services of one machine apart. The prefix
 * forbids other hosts of the domain to set it (RFC 6265bis, section 4.1.3.2); it needs TLS. */
void sign_in_name_cookie(const struct http *h, unsigned port, char ret[COOKIE_NAME_SIZE])
{
    (void)snprintf(ret, COOKIE_NAME_SIZE, "%sballast-%u", h->cert_file ? "__Host-" : "", port);
}

void sign_in_add_cookie(const struct http_call *c, struct MHD_Response *r)
{
    char text[COOKIE_NAME_SIZE + SESSION_TEXT_SIZE + 80];

    if (!c->set_cookie[0] && !c->clear_cookie)
        return;
    (void)snprintf(text, sizeof text, "%s=%s; Path=/; HttpOnly; SameSite=Strict%s%s", c->http->cookie,
                   c->set_cookie, c->http->cert_file ? "; Secure" : "",
                   c->set_cookie[0] ? "" : "; Max-Age=0");
    (void)MHD_add_response_header(r, "Set-Cookie", text);
    explicit_bzero(text, sizeof text);
}

/* ---- replies ---------------------------------------------------------------------------------- */

/* Who asks, and the session; without one null. */
static enum MHD_Result answer_session(struct http_call *c)
{
    CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;
    const bool known = c->who[0] != '\0';
    struct json_writer w = {.out = &out};

    jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
    jw_bool(&w, "ok", true);
    jw_text(&w, "who", known ? c->who : NULL);
    jw_text(&w, "role", known ? role_name(c->role) : NULL);
    if (c->by_session) {
        jw_begin(&w, "session", JW_OBJECT, JW_INLINE);
        jw_instant(&w, "since", c->session.since);
        jw_instant(&w, "expires", c->session.expires);
        jw_int(&w, "idle_s", c->session.idle_s);
        jw_text(&w, "csrf_token", c->session.csrf);
        jw_end(&w);
    } else {
        jw_text(&w, "session", NULL);
    }
    jw_end(&w);
    strbuf_puts(&out, "\n");
    return answer_text(c, MHD_HTTP_OK, "application/json", out.text);
}

/* ---- sign-in and sign-out --------------------------------------------------------------------- */

/* {"token": "..."}. False: a problem was queued. */
static bool read_token(struct http_call *c, char ret[TOKEN_TEXT_SIZE + 1], enum MHD_Result *r)
{
    CLEANUP(json_decrefp) json_t *body = NULL;
    const char *token = NULL;

    if (!exchange_body(c, &body, r))
        return false;
    if (json_unpack(body, "{s:s!}", "token", &token) < 0) {
        *r = answer_problem(c, PROBLEM_REQUEST,
                            "expected a body such as {\"token\": \"" TOKEN_PREFIX
                            "...\"}, or the header \"Authorization: Bearer TOKEN\"");
        return false;
    }
    (void)snprintf(ret, TOKEN_TEXT_SIZE + 1, "%s", token); /* a longer one is none, cut off or not */
    return true;
}

/* False: a problem was queued. */
static bool begin(struct http_call *c, const struct token *token, enum MHD_Result *ret)
{
    char from[INET6_ADDRSTRLEN];
    struct session session;
    int r = session_begin(c->http->sessions, token, time(NULL), c->set_cookie, &session);

    if (r == -EUSERS)
        *ret = answer_problem(c, PROBLEM_OVERLOADED, "%d sessions are in use, the most at a time",
                              SESSIONS_MOST);
    else if (r < 0)
        *ret = answer_problem(c, PROBLEM_INTERNAL, "no random numbers for a session: %s", strerror(-r));
    if (r < 0) {
        c->set_cookie[0] = '\0';
        return false;
    }
    gate_end_session_of_cookie(c); /* of an earlier sign-in: this one takes its place in the browser */
    gate_take_session(c, &session);
    gate_name_address(c, from);
    log_notice("HTTP: %s, role %s, signed in from %s", c->who, role_name(c->role), from);
    return true;
}

bool sign_in(struct http_call *c, const char *given, enum MHD_Result *ret)
{
    struct token token;

    return gate_check_token(c, given, &token, ret) && gate_note_sign_in(c, ret) && begin(c, &token, ret);
}

static enum MHD_Result sign_in_by_json(struct http_call *c)
{
    const char *header = c->body.len > 0 ? NULL : exchange_bearer(c); /* a body is read, never passed over */
    char given[TOKEN_TEXT_SIZE + 1] = "";
    enum MHD_Result r = MHD_NO;
    bool done = header || read_token(c, given, &r);

    if (done)
        done = sign_in(c, header ? header : given, &r);
    explicit_bzero(given, sizeof given);
    return done ? answer_session(c) : r;
}

void sign_in_end(struct http_call *c)
{
    char from[INET6_ADDRSTRLEN];

    gate_name_address(c, from);
    log_notice("HTTP: %s signed out from %s", c->who, from);
    session_end(c->http->sessions, c->session.hash);
    stream_all_check(c->http->streams, gate_lasts, c->http);
    c->clear_cookie = true;
    c->by_session = false;
    c->who[0] = '\0';
    c->person[0] = '\0';
}

enum MHD_Result sign_in_serve(struct http_call *c)
{
    enum MHD_Result r = MHD_NO;

    if (c->method == HTTP_POST)
        return sign_in_by_json(c);
    if (c->method == HTTP_GET) /* a page asks at its start, when there may be none yet */
        return !gate_has_credentials(c) || gate_identify(c, &r) ? answer_session(c) : r;
    if (!c->by_session)
        return answer_problem(c, PROBLEM_REQUEST, "the request is by a token, and no session");
    sign_in_end(c);
    return answer_session(c);
}
