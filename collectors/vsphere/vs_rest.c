/* vs_rest.c: login, requests and logout of vCenter's API for tags. It does not know what the answers mean. */
#include "collectors/vsphere/vs_rest.h"

#include "base/cleanup.h"
#include "base/xalloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MAX ((size_t)16 * 1024 * 1024)
#define LOGOUT_MS 2000
#define SESSION_MAX 512
#define ID_MAX 256

/* One API at two places; the older one wraps its answers: {"value": ...}. */
static const struct place {
    const char *session, *tagging, *id_prefix, *action;
    bool wraps;
} places[] = {
    {"/rest/com/vmware/cis/session", "/rest/com/vmware/cis/tagging/", "id:", "~action", true},
    {"/api/session", "/api/cis/tagging/", "", "action", false},
};

struct vs_rest {
    const struct source_config *cfg;
    struct http_session *http;
    const struct place *place;
    int64_t deadline_ms;
    char header[SESSION_MAX + 32]; /* with the session's id; "": not logged in */
};

struct question {
    const char *method, *path;
    const char *body;     /* NULL: none */
    const char *password; /* a login; NULL: in the session */
    bool logout;
};

/* "https://vcenter.example" of "https://vcenter.example/sdk" */
static void put_base(struct strbuf *b, const char *url)
{
    const char *host = strstr(url, "://");

    strbuf_add(b, url, host ? (size_t)(host + 3 - url) + strcspn(host + 3, "/?#") : strlen(url));
}

static int refusal(const char *url, long status, struct err *err)
{
    int code = status == 401                                                      ? -EACCES
               : status == 403                                                    ? -EPERM
               : status == 404 || status == 405 || status == 410 || status == 501 ? -ENOENT
                                                                                  : -EREMOTEIO;

    return err_set(err, code, "%s: refused (HTTP %ld)", url, status);
}

static int read_answer(const struct vs_rest *r, const char *url, const struct strbuf *body, json_t **ret,
                       struct err *err)
{
    json_error_t why;
    json_t *o = body->len == 0 ? json_null() : json_loadb(body->text, body->len, JSON_DECODE_ANY, &why);

    if (!o)
        return err_set(err, -EPROTO, "%s: the answer is not JSON (line %d)", url, why.line);
    if (r->place->wraps && json_is_object(o)) {
        json_t *value = json_object_get(o, "value");

        value = value ? json_incref(value) : json_null();
        json_decref(o);
        o = value;
    }
    *ret = o;
    return 0;
}

static int ask(struct vs_rest *r, const struct question *q, json_t **ret, struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf url = STRBUF_EMPTY;
    const char *headers[4] = {"Accept: application/json"};
    struct http_answer answer = {0};
    size_t n = 1;

    put_base(&url, r->cfg->url);
    strbuf_puts(&url, q->path);
    if (q->body)
        headers[n++] = "Content-Type: application/json";
    if (!q->password)
        headers[n++] = r->header;
    const struct http_request request = {
        .method = q->method,
        .url = url.text,
        .headers = headers,
        .body = q->body,
        .body_len = q->body ? strlen(q->body) : 0,
        .username = q->password ? r->cfg->username : NULL,
        .password = q->password,
        .deadline_ms = r->deadline_ms,
        .answer_max = ANSWER_MAX,
        .once = q->password != NULL, /* a wrong password must not arrive twice */
        .after_stop_ms = q->password || q->logout ? LOGOUT_MS : 0,
    };
    int code = http_send(r->http, &request, &answer, err);
    if (code < 0)
        return code;
    code = answer.status >= 200 && answer.status < 300 ? read_answer(r, url.text, &answer.body, ret, err)
                                                       : refusal(url.text, answer.status, err);
    strbuf_release(&answer.body);
    return code;
}

/* The id becomes part of a header. */
static int take_session(struct vs_rest *r, const json_t *answer, struct err *err)
{
    const char *id = json_string_value(answer);
    size_t len = id ? strlen(id) : 0;
    bool good = len > 0 && len < SESSION_MAX;

    for (size_t i = 0; good && i < len; i++)
        good = id[i] > ' ' && id[i] < 0x7f;
    if (!good)
        return err_set(err, -EPROTO, "%s: the login for tags was answered without a session", r->cfg->url);
    (void)snprintf(r->header, sizeof r->header, "vmware-api-session-id: %s", id);
    return 0;
}

static int send_login(void *ctx, const char *password, bool *ret_refused, struct err *err)
{
    struct vs_rest *r = ctx;
    int code = -ENOENT;

    for (size_t i = 0; code == -ENOENT && i < sizeof places / sizeof places[0]; i++) {
        CLEANUP(json_decrefp) json_t *answer = NULL;

        r->place = &places[i];
        code = ask(r, &(struct question){.method = "POST", .path = r->place->session, .password = password},
                   &answer, err);
        if (code == 0)
            code = take_session(r, answer, err);
    }
    *ret_refused = code == -EACCES;
    return code == -ENOENT ? err_set(err, -ENOTSUP, "%s: the peer has no API for tags", r->cfg->url) : code;
}

int vs_rest_new(const struct source_config *cfg, struct vsphere *v, int64_t deadline_ms, struct vs_rest **ret,
                struct err *err)
{
    struct http_options options = {.ca_file = cfg->ca_file, .tls_verify = cfg->tls_verify, .stop = cfg->stop};
    struct vs_rest *r = xcalloc(1, sizeof *r);

    r->cfg = cfg;
    r->deadline_ms = deadline_ms;
    int code = http_session_new(&options, &r->http, err);
    if (code == 0)
        code = vsphere_guarded_login(v, deadline_ms, send_login, r, err);
    if (code < 0) {
        vs_rest_free(r);
        return code;
    }
    *ret = r;
    return 0;
}

void vs_rest_free(struct vs_rest *r)
{
    if (!r)
        return;
    if (r->header[0]) {
        CLEANUP(json_decrefp) json_t *answer = NULL;

        r->deadline_ms = net_now_ms() + LOGOUT_MS;
        (void)ask(r, &(struct question){.method = "DELETE", .path = r->place->session, .logout = true},
                  &answer, NULL);
    }
    http_session_free(r->http);
    explicit_bzero(r->header, sizeof r->header);
    free(r);
}

/* The peer's own ids become part of a path: "urn:vmomi:InventoryServiceTag:...:GLOBAL". */
static bool is_id(const char *id)
{
    size_t len = strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:_-");

    return len > 0 && len <= ID_MAX && !id[len];
}

int vs_rest_get(struct vs_rest *r, const char *object, const char *id, json_t **ret, struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf path = STRBUF_EMPTY;

    if (!is_id(id))
        return err_set(err, -EPROTO, "%s: the id of a %s is malformed", r->cfg->url, object);
    strbuf_printf(&path, "%s%s/%s%s", r->place->tagging, object, r->place->id_prefix, id);
    return ask(r, &(struct question){.method = "GET", .path = path.text}, ret, err);
}

int vs_rest_post(struct vs_rest *r, const char *object, const char *action, const json_t *body, json_t **ret,
                 struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf path = STRBUF_EMPTY;
    CLEANUP(freep) char *text = json_dumps(body, JSON_COMPACT);

    if (!text)
        return err_set(err, -ENOMEM, "out of memory");
    strbuf_printf(&path, "%s%s?%s=%s", r->place->tagging, object, r->place->action, action);
    return ask(r, &(struct question){.method = "POST", .path = path.text, .body = text}, ret, err);
}
