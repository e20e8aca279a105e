/* status_route.c: the status page over HTTP: gathers the replies that it shows, and takes its forms. */
#include "http/internal.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "http/form.h"
#include "http/status_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HERE "/status"

static const enum request_kind shown[STATUS_REPLIES] = {REQUEST_STATUS, REQUEST_HOSTS,
                                                        REQUEST_RECOMMENDATIONS};

/* ---- the page --------------------------------------------------------------------------------- */

/* "0": never. */
static bool read_refresh(const struct http_call *c, unsigned *ret)
{
    const char *text = target_parameter(&c->target, "refresh");

    *ret = STATUS_PAGE_REFRESH_S;
    if (c->target.n_parameters > (text ? 1 : 0))
        return false;
    if (!text)
        return true;
    if (*text == '\0' || strlen(text) > 4 || strspn(text, "0123456789") < strlen(text))
        return false;
    *ret = (unsigned)strtoul(text, NULL, 10);
    return *ret == 0 || (*ret >= 5 && *ret <= STATUS_PAGE_REFRESH_MOST_S);
}

static json_t *parsed(struct list_text *reply)
{
    const struct shared_text *text = list_text_whole(reply);

    return json_loadb(shared_text_bytes(text), shared_text_length(text), 0, NULL);
}

static enum MHD_Result answer(struct http_call *c)
{
    CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;
    CLEANUP(json_decrefp) json_t *status = parsed(c->shown[0]);
    CLEANUP(json_decrefp) json_t *hosts = parsed(c->shown[1]);
    CLEANUP(json_decrefp) json_t *recommendations = parsed(c->shown[2]);
    struct status_page page = {.cluster = c->http->cluster,
                               .who = c->who,
                               .role = role_name(c->role),
                               .csrf = c->by_session ? c->session.csrf : NULL,
                               .status = status,
                               .hosts = hosts,
                               .recommendations = recommendations};

    (void)read_refresh(c, &page.refresh_s); /* was checked */
    status_page_write(&page, &out);
    return answer_html(c, MHD_HTTP_OK, out.text);
}

enum MHD_Result status_route_go_on(struct http_call *c)
{
    if (c->reply) {
        c->shown[c->n_shown++] = list_text_new(c->reply, NULL);
        shared_text_unref(c->reply);
        c->reply = NULL;
    }
    while (c->n_shown < STATUS_REPLIES) {
        CLEANUP(json_decrefp) json_t *root = NULL;
        struct list_text *text = exchange_published(c, shown[c->n_shown]);
        struct err err;

        if (text) {
            c->shown[c->n_shown++] = text;
            continue;
        }
        root = json_pack("{s:s}", "command", request_kind_name(shown[c->n_shown]));
        free(c->request);
        c->request = xcalloc(1, sizeof *c->request);
        if (request_read(root, c->request, &err) < 0)
            return answer_problem(c, PROBLEM_INTERNAL, "%s", err.text);
        return exchange_ask(c);
    }
    return answer(c);
}

enum MHD_Result status_route_serve(struct http_call *c)
{
    enum MHD_Result r = MHD_NO;
    unsigned refresh_s;

    if (!read_refresh(c, &refresh_s))
        return answer_problem(c, PROBLEM_REQUEST,
                              "expected no parameter, or \"refresh\": 0, or seconds from 5 to %d",
                              STATUS_PAGE_REFRESH_MOST_S);
    if (!gate_has_credentials(c))
        return answer_sign_in(c, MHD_HTTP_UNAUTHORIZED, NULL);
    return gate_identify(c, &r) ? status_route_go_on(c) : r;
}

/* ---- its forms -------------------------------------------------------------------------------- */

static bool is_form(const struct http_call *c)
{
    const char *type = exchange_header(c, "Content-Type");
    const size_t len = strlen(FORM_TYPE);

    return type && strncasecmp(type, FORM_TYPE, len) == 0 && (type[len] == '\0' || strchr("; ", type[len]));
}

static int field(const struct http_call *c, const char *name, char *ret, size_t size)
{
    return is_form(c) && !c->body_too_large ? form_field(c->body.text, c->body.len, name, ret, size)
                                            : -EINVAL;
}

static enum MHD_Result serve_sign_in(struct http_call *c)
{
    char token[SIGN_IN_BYTES_MAX];
    enum MHD_Result r = MHD_NO;

    if (!gate_is_own_page(c))
        return answer_problem(c, PROBLEM_FORBIDDEN, "the request comes from a page of another site");
    if (field(c, "token", token, sizeof token) < 0)
        return answer_sign_in(c, MHD_HTTP_BAD_REQUEST, "The form has no token, or one that is too long.");
    size_t len = strlen(token); /* pasted with a blank */

    while (len > 0 && token[len - 1] == ' ')
        token[--len] = '\0';
    const bool done = sign_in(c, token + strspn(token, " "), &r);

    explicit_bzero(token, sizeof token);
    return done ? answer_see_other(c, HERE) : r;
}

/* The CSRF token is a field here: forms have no headers. */
static enum MHD_Result serve_sign_out(struct http_call *c)
{
    char csrf[SESSION_TEXT_SIZE];
    enum MHD_Result r = MHD_NO;

    if (!gate_has_credentials(c))
        return answer_see_other(c, HERE);
    if (!gate_identify(c, &r))
        return r;
    if (!c->by_session || field(c, "csrf_token", csrf, sizeof csrf) < 0 || !gate_is_csrf_token(c, csrf))
        return gate_refuse_page(c, "the form is not from a page of this sign-in");
    sign_in_end(c);
    return answer_see_other(c, HERE);
}

enum MHD_Result status_route_serve_form(struct http_call *c)
{
    return strcmp(c->route->path, HERE) == 0 ? serve_sign_in(c) : serve_sign_out(c);
}
