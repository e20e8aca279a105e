/* session.c: login, requests and logout of one Redfish service. It does not know what the resources mean. */
#include "actuators/redfish/session.h"

#include "base/cleanup.h"
#include "net/http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TIMEOUT_DEFAULT_S 30u
#define LOGOUT_MS 2000
#define TOKEN_MAX 4096 /* some are JSON web tokens */
#define WAIT_STEP_MS 100
#define RETRY_MAX_S 3600

struct redfish_session {
    const struct power_host *host;
    struct http_session *http;
    char *base; /* "https://host:port" */
    int64_t deadline_ms;
    bool know_root, basic;
    struct redfish_path sessions, systems; /* of the root; "": it has none */
    struct redfish_path session;           /* ours, to end it */
    char token[TOKEN_MAX];                 /* "": not logged in */
};

static const struct redfish_path root = {"/redfish/v1/"};

/* "https://bmc/" and "https://bmc/redfish/v1/" are the same as "https://bmc". */
static int read_url(const char *url, char **ret, struct err *err)
{
    static const char *const tails[] = {"", "/", "/redfish", "/redfish/", "/redfish/v1", "/redfish/v1/"};
    int r = http_url_check(url, err);

    if (r < 0)
        return r;
    if (strncasecmp(url, "https://", 8) != 0)
        return err_set(err, -EINVAL, "%s: expected a url that begins with https://", url);
    size_t host = 8 + strcspn(url + 8, "/?#");
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        if (strcmp(url + host, tails[i]) == 0) {
            *ret = strndup(url, host);
            return *ret ? 0 : err_set(err, -ENOMEM, "out of memory");
        }
    }
    return err_set(err, -EINVAL, "%s: expected https://HOST or https://HOST:PORT, and no path", url);
}

int redfish_session_new(const struct power_host *host, struct redfish_session **ret, struct err *err)
{
    CLEANUP(freep) char *base = NULL;
    int r = read_url(host->redfish.url, &base, err);

    if (r < 0)
        return r;
    if (!host->redfish.username || !host->redfish.username[0])
        return err_set(err, -EINVAL, "the username is missing");
    if (!host->redfish.password || !host->redfish.password[0])
        return err_set(err, -EINVAL, "the password is missing (password_file)");
    struct redfish_session *t = calloc(1, sizeof *t);
    if (!t)
        return err_set(err, -ENOMEM, "out of memory");
    struct http_options options = {
        .ca_file = host->redfish.ca_file, .tls_verify = host->redfish.tls_verify, .stop = host->stop};

    r = http_session_new(&options, &t->http, err);
    if (r < 0) {
        free(t);
        return r;
    }
    t->host = host;
    t->base = base;
    base = NULL;
    redfish_session_begin(t);
    *ret = t;
    return 0;
}

void redfish_session_begin(struct redfish_session *t)
{
    t->deadline_ms =
        net_now_ms() + 1000 * (int64_t)(t->host->timeout_s ? t->host->timeout_s : TIMEOUT_DEFAULT_S);
}

static int64_t call_left_ms(const struct redfish_session *t)
{
    return t->deadline_ms - net_now_ms();
}

int redfish_wait(struct redfish_session *t, int64_t ms)
{
    for (int64_t until = net_now_ms() + ms; net_now_ms() < until;) {
        const struct timespec step = {.tv_nsec = WAIT_STEP_MS * 1000000L};
        if (t->host->stop && atomic_load(t->host->stop))
            return -ECANCELED;
        if (call_left_ms(t) <= WAIT_STEP_MS)
            return -ETIMEDOUT;
        (void)nanosleep(&step, NULL);
    }
    return 0;
}

/* ---- one request ---- */

struct question {
    const char *method;
    const char *path;
    const char *body; /* NULL: none */
    bool no_secret;   /* without token or password: the root and the login itself */
    bool parting;
};

static int ask(struct redfish_session *t, const struct question *q, struct http_answer *ret, struct err *err)
{
    char token[TOKEN_MAX + 32];
    CLEANUP(strbuf_releasep) struct strbuf url = {0};
    const char *headers[5] = {"Accept: application/json", "OData-Version: 4.0"};
    size_t n = 2;
    bool basic = t->basic && !q->no_secret;

    strbuf_init(&url, STRBUF_NO_LIMIT);
    strbuf_printf(&url, "%s%s", t->base, q->path);
    if (q->body)
        headers[n++] = "Content-Type: application/json";
    (void)snprintf(token, sizeof token, "X-Auth-Token: %s", t->token);
    if (t->token[0] && !q->no_secret)
        headers[n++] = token;
    const struct http_request request = {
        .method = q->method,
        .url = url.text,
        .headers = headers,
        .body = q->body,
        .body_len = q->body ? strlen(q->body) : 0,
        .username = basic ? t->host->redfish.username : NULL,
        .password = basic ? t->host->redfish.password : NULL,
        .deadline_ms = t->deadline_ms,
        .answer_max = REDFISH_ANSWER_MAX,
        .once = strcmp(q->method, "POST") == 0,
        .parting = q->parting,
    };
    int r = http_send(t->http, &request, ret, err);
    explicit_bzero(token, sizeof token);
    return r == -EFBIG ? err_set(err, -EPROTO, "%s: the answer is larger than %zu KiB", url.text,
                                 REDFISH_ANSWER_MAX / 1024)
                       : r;
}

static void read_headers(struct redfish_session *t, struct redfish_reply *ret)
{
    const char *location = http_header(t->http, "Location");
    const char *retry = http_header(t->http, "Retry-After");
    char *end = NULL;
    long s = retry ? strtol(retry, &end, 10) : 0;

    if (!location || redfish_path_of(location, &ret->location) < 0)
        ret->location.text[0] = '\0';
    ret->retry_s = end && *end == '\0' && s > 0 && s <= RETRY_MAX_S ? (unsigned)s : 0;
}

static int refused(const struct question *q, long status, const json_t *o, struct err *err)
{
    char words[REDFISH_WORDS_MAX];

    if (status >= 300 && status < 400)
        return err_set(err, -EPROTO, "%s: the service leads elsewhere (HTTP %ld), which is not followed",
                       q->path, status);
    redfish_words(o, words);
    return err_set(err, redfish_refusal(status, o), "%s: refused (HTTP %ld)%s%s", q->path, status,
                   words[0] ? ": " : "", words);
}

/* One request and its answer, without repeats. */
static int exchange(struct redfish_session *t, const struct question *q, struct redfish_reply *ret,
                    struct err *err)
{
    struct http_answer answer = {0};
    struct redfish_reply reply = {0};

    ret->status = 0;
    int r = ask(t, q, &answer, err);
    if (r < 0)
        return r;
    ret->status = reply.status = answer.status;
    read_headers(t, &reply);
    bool fine = answer.status >= 200 && answer.status < 300;
    bool needed = fine && strcmp(q->method, "GET") == 0 && answer.status != 202 && answer.status != 204;
    r = redfish_parse(answer.body.text, answer.body.len, &reply.body, err);
    strbuf_release(&answer.body);
    if (r < 0 && needed)
        return err_widen(err, "%s", q->path);
    if (!fine) {
        r = refused(q, answer.status, reply.body, err);
        redfish_reply_release(&reply);
        return r;
    }
    *ret = reply;
    return 0;
}

/* ---- the session ---- */

static int read_root(struct redfish_session *t, struct err *err)
{
    const struct question q = {.method = "GET", .path = root.text, .no_secret = true};
    CLEANUP(redfish_reply_release) struct redfish_reply reply = {0};
    struct redfish_path service;

    if (t->know_root)
        return 0;
    int r = exchange(t, &q, &reply, err);
    if (r < 0)
        return r;
    if (!redfish_link(reply.body, "Systems", &t->systems))
        t->systems.text[0] = '\0';
    if (!redfish_link(reply.body, "Links.Sessions", &t->sessions)) {
        if (redfish_link(reply.body, "SessionService", &service))
            t->sessions = (struct redfish_path){"/redfish/v1/SessionService/Sessions"};
        else
            t->basic = true;
    }
    t->know_root = true;
    return 0;
}

static char *credentials(const struct redfish_session *t)
{
    json_t *o =
        json_pack("{s:s,s:s}", "UserName", t->host->redfish.username, "Password", t->host->redfish.password);
    char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;

    json_decref(o);
    return text;
}

/* The result of a login: the token, and the session's path. */
static int take_session(struct redfish_session *t, const struct redfish_reply *reply, struct err *err)
{
    const char *token = http_header(t->http, "X-Auth-Token");
    const char *self = json_string_value(json_object_get(reply->body, "@odata.id"));

    if (!token || !token[0] || strlen(token) >= sizeof t->token)
        return err_set(err, -EPROTO, "%s: the login was taken, but no token came with it", t->sessions.text);
    t->session = reply->location;
    if (!t->session.text[0] && (!self || redfish_path_of(self, &t->session) < 0))
        t->session.text[0] = '\0'; /* the session expires by itself */
    (void)snprintf(t->token, sizeof t->token, "%s", token);
    return 0;
}

static int log_in(struct redfish_session *t, struct err *err)
{
    CLEANUP(redfish_reply_release) struct redfish_reply reply = {0};
    int r = read_root(t, err);

    if (r < 0 || t->basic || t->token[0])
        return r;
    char *body = credentials(t);
    if (!body)
        return err_set(err, -EINVAL, "user or password is not UTF-8");
    const struct question q = {.method = "POST", .path = t->sessions.text, .body = body, .no_secret = true};
    r = exchange(t, &q, &reply, err);
    explicit_bzero(body, strlen(body));
    free(body);
    if (r == 0)
        return take_session(t, &reply, err);
    if (reply.status == 404 || reply.status == 405 || reply.status == 501) {
        t->basic = true; /* the service links to sessions, and has none */
        return 0;
    }
    if (reply.status == 400 && r == -EPROTO) /* some services answer a wrong password so */
        r = -EACCES;
    if (r == -EACCES)
        (void)err_widen(err, "user or password is wrong, or may not log in");
    if (err)
        err->code = r;
    return r;
}

static int ask_logged_in(struct redfish_session *t, const struct question *q, struct redfish_reply *ret,
                         struct err *err)
{
    bool fresh = !t->token[0];

    ret->status = 0;
    int r = log_in(t, err);
    if (r < 0)
        return r;
    r = exchange(t, q, ret, err);
    if (r < 0 && ret->status == 401 && !t->basic && !fresh) {
        explicit_bzero(t->token, sizeof t->token); /* the service has forgotten the token: log in once more */
        ret->status = 0;
        r = log_in(t, err);
        if (r == 0)
            r = exchange(t, q, ret, err);
    }
    return r;
}

int redfish_get(struct redfish_session *t, const struct redfish_path *path, struct redfish_reply *ret,
                struct err *err)
{
    return ask_logged_in(t, &(struct question){.method = "GET", .path = path->text}, ret, err);
}

int redfish_post(struct redfish_session *t, const struct redfish_path *path, const char *body,
                 struct redfish_reply *ret, struct err *err)
{
    return ask_logged_in(t, &(struct question){.method = "POST", .path = path->text, .body = body}, ret, err);
}

int redfish_systems(struct redfish_session *t, struct redfish_path *ret, struct err *err)
{
    int r = read_root(t, err);

    if (r < 0)
        return r;
    if (!t->systems.text[0])
        return err_set(err, -ENOTSUP, "the service has no systems");
    *ret = t->systems;
    return 0;
}

void redfish_session_free(struct redfish_session *t)
{
    if (!t)
        return;
    if (t->token[0] && t->session.text[0]) {
        const struct question q = {.method = "DELETE", .path = t->session.text, .parting = true};
        CLEANUP(redfish_reply_release) struct redfish_reply reply = {0};

        t->deadline_ms = net_now_ms() + LOGOUT_MS;
        (void)exchange(t, &q, &reply, NULL);
    }
    explicit_bzero(t->token, sizeof t->token);
    http_session_free(t->http);
    free(t->base);
    free(t);
}
