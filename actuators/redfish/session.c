/* session.c: login, requests and logout of one Redfish service. It does not know what the resources mean. */
#include "actuators/redfish/session.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/xalloc.h"
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
#define NO_SESSIONS_MS (3600 * INT64_C(1000)) /* a firmware may offer them later */
#define FULL_MS (900 * INT64_C(1000))         /* others' sessions end */
#define AGAIN_S 1u                            /* "busy" without Retry-After: then 2 s, 4 s, ... */
#define AGAIN_MAX_S 8u

struct redfish_session {
    const struct power_host *host;
    struct http_session *http;
    char *base; /* "https://host:port" */
    int64_t deadline_ms;
    bool know_root;
    bool root_needs_login; /* its links are read after the login; until then the standard's paths count */
    struct redfish_path sessions, systems; /* of the root; "": it has none */
    struct redfish_path session;           /* ours, to end it; "": not known */
    char token[TOKEN_MAX];                 /* "": not logged in */
    int64_t basic_until_ms; /* user and password go with each request until then, and no login is tried */
    bool full;              /* because the controller has no session left, not because it offers none */
    bool sessions_only;     /* it refused them in a request, too: not sent so again before a login works */
    bool reached;           /* the last request was answered */
};

static const struct redfish_path root = {"/redfish/v1/"};
static const struct redfish_path default_sessions = {"/redfish/v1/SessionService/Sessions"};
static const struct redfish_path default_systems = {"/redfish/v1/Systems"};

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
            *ret = xstrdup(url);
            (*ret)[host] = '\0';
            return 0;
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
    struct redfish_session *t = xcalloc(1, sizeof *t);
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

void redfish_session_rest(struct redfish_session *t)
{
    http_rest(t->http);
}

static int64_t call_left_ms(const struct redfish_session *t)
{
    return t->deadline_ms - net_now_ms();
}

static bool stops(const struct redfish_session *t)
{
    return t->host->stop && atomic_load(t->host->stop);
}

int redfish_wait(struct redfish_session *t, int64_t ms)
{
    for (int64_t until = net_now_ms() + ms; net_now_ms() < until;) {
        const struct timespec step = {.tv_nsec = WAIT_STEP_MS * 1000000L};
        if (stops(t))
            return -ECANCELED;
        if (call_left_ms(t) <= WAIT_STEP_MS)
            return -ETIMEDOUT;
        (void)nanosleep(&step, NULL);
    }
    return 0;
}

bool redfish_is_busy(const struct redfish_reply *r)
{
    return r->status == 503 || r->status == 429;
}

int redfish_wait_retry(struct redfish_session *t, const struct redfish_reply *r, unsigned otherwise_s)
{
    int64_t ms = 1000 * (int64_t)(r->retry_s ? r->retry_s : otherwise_s);

    /* what cannot be awaited is not waited for */
    return ms + WAIT_STEP_MS < call_left_ms(t) ? redfish_wait(t, ms) : -ETIMEDOUT;
}

/* ---- one request ---- */

struct question {
    const char *method;
    const char *path;
    const char *body;     /* NULL: none */
    const char *if_match; /* NULL: none */
    bool no_secret;       /* without token or password: the root and the login itself */
    bool once;            /* must not arrive twice */
    bool same_peer;
    int64_t after_stop_ms; /* as in http.h */
    int64_t deadline_ms;   /* 0: the call's */
};

static bool is_basic(const struct redfish_session *t)
{
    return net_now_ms() < t->basic_until_ms;
}

static int ask(struct redfish_session *t, const struct question *q, struct http_answer *ret, struct err *err)
{
    char token[TOKEN_MAX + 32], if_match[REDFISH_ETAG_MAX + 16];
    CLEANUP(strbuf_releasep) struct strbuf url = STRBUF_EMPTY;
    const char *headers[6] = {"Accept: application/json", "OData-Version: 4.0"};
    size_t n = 2;
    bool basic = !t->token[0] && is_basic(t) && !q->no_secret;

    strbuf_printf(&url, "%s%s", t->base, q->path);
    if (q->body)
        headers[n++] = "Content-Type: application/json";
    (void)snprintf(token, sizeof token, "X-Auth-Token: %s", t->token);
    if (t->token[0] && !q->no_secret)
        headers[n++] = token;
    (void)snprintf(if_match, sizeof if_match, "If-Match: %s", q->if_match ? q->if_match : "");
    if (q->if_match)
        headers[n++] = if_match;
    const struct http_request request = {
        .method = q->method,
        .url = url.text,
        .headers = headers,
        .body = q->body,
        .body_len = q->body ? strlen(q->body) : 0,
        .username = basic ? t->host->redfish.username : NULL,
        .password = basic ? t->host->redfish.password : NULL,
        .deadline_ms = q->deadline_ms ? q->deadline_ms : t->deadline_ms,
        .answer_max = REDFISH_ANSWER_MAX,
        .once = q->once,
        .same_peer = q->same_peer,
        .redirects = true,
        .after_stop_ms = q->after_stop_ms,
    };
    int r = http_send(t->http, &request, ret, err);
    explicit_bzero(token, sizeof token);
    return r == -EFBIG ? err_set(err, -EPROTO, "%s: the answer is larger than %zu KiB", url.text,
                                 REDFISH_ANSWER_MAX / 1024)
                       : r;
}

static void read_headers(struct redfish_session *t, const char *path, struct redfish_reply *ret)
{
    const char *location = http_header(t->http, "Location");
    const char *etag = http_header(t->http, "ETag");

    if (!location || redfish_path_from(path, location, &ret->location) < 0)
        ret->location.text[0] = '\0';
    if (etag && strlen(etag) < sizeof ret->etag)
        (void)snprintf(ret->etag, sizeof ret->etag, "%s", etag);
}

static int refused(const struct question *q, long status, const json_t *o, struct err *err)
{
    char words[REDFISH_WORDS_MAX];

    if (status >= 300 && status < 400)
        return err_set(
            err, -EPROTO,
            "%s: the service leads to another host, or in a circle (HTTP %ld), which is not followed",
            q->path, status);
    redfish_words(o, words);
    return err_set(err, redfish_refusal(status, o), "%s: refused (HTTP %ld)%s%s", q->path, status,
                   words[0] ? ": " : "", words);
}

/* One request and its answer, without repeats. On failure *ret has the status, retry_s, and `full`. */
static int exchange(struct redfish_session *t, const struct question *q, struct redfish_reply *ret,
                    struct err *err)
{
    struct http_answer answer = {0};
    struct redfish_reply reply = {0};

    *ret = (struct redfish_reply){0};
    int r = ask(t, q, &answer, err);
    t->reached = r == 0 || (t->reached && r == -ECANCELED);
    if (r < 0)
        return r;
    reply.status = answer.status;
    reply.retry_s =
        answer.retry_after_s > 0 && answer.retry_after_s <= RETRY_MAX_S ? (unsigned)answer.retry_after_s : 0;
    reply.clock = answer.date_s;
    read_headers(t, q->path, &reply);
    bool fine = answer.status >= 200 && answer.status < 300;
    bool needed = fine && strcmp(q->method, "GET") == 0 && answer.status != 202 && answer.status != 204;
    r = redfish_parse(answer.body.text, answer.body.len, &reply.body, err);
    strbuf_release(&answer.body);
    if (fine && (r == 0 || !needed)) {
        *ret = reply;
        return 0;
    }
    *ret = (struct redfish_reply){
        .status = reply.status, .retry_s = reply.retry_s, .full = redfish_sessions_are_full(reply.body)};
    r = fine ? err_widen(err, "%s", q->path) : refused(q, reply.status, reply.body, err);
    redfish_reply_release(&reply);
    return r;
}

/* The same, and again while the service says that it is busy just now (503, 429: the request was not carried
 * out), or the connection breaks, as long as the call may last. Not for what must not arrive twice. */
static int exchange_patiently(struct redfish_session *t, const struct question *q, struct redfish_reply *ret,
                              struct err *err)
{
    bool broke = false;

    for (unsigned wait_s = AGAIN_S;; wait_s = wait_s < AGAIN_MAX_S ? 2 * wait_s : wait_s) {
        int r = exchange(t, q, ret, err);

        if (r == -ECONNRESET && !broke) {
            broke = true; /* once: an idle connection that the controller has closed, or a hiccup */
            continue;
        }
        if (r == 0 || ret->full || !redfish_is_busy(ret) || redfish_wait_retry(t, ret, wait_s) < 0)
            return r;
    }
}

/* ---- the session ---- */

static void read_links(struct redfish_session *t, const json_t *o)
{
    struct redfish_path service;

    t->systems.text[0] = t->sessions.text[0] = '\0';
    (void)redfish_link(o, "Systems", &t->systems);
    if (redfish_link(o, "Links.Sessions", &t->sessions))
        return;
    if (redfish_link(o, "SessionService", &service))
        t->sessions = default_sessions;
    else
        t->basic_until_ms = net_now_ms() + NO_SESSIONS_MS;
}

static int read_root(struct redfish_session *t, struct err *err)
{
    const struct question q = {.method = "GET", .path = root.text, .no_secret = true};
    CLEANUP(redfish_reply_release) struct redfish_reply reply = {0};

    if (t->know_root)
        return 0;
    int r = exchange_patiently(t, &q, &reply, err);
    if (r == 0)
        read_links(t, reply.body);
    t->root_needs_login = reply.status == 401 || reply.status == 403;
    if (t->root_needs_login) {
        t->sessions = default_sessions;
        t->systems = default_systems;
        r = 0;
    }
    t->know_root = r == 0;
    return r;
}

static char *credentials(const struct redfish_session *t)
{
    json_t *o =
        json_pack("{s:s,s:s}", "UserName", t->host->redfish.username, "Password", t->host->redfish.password);
    char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;

    json_decref(o);
    return text;
}

/* Of a login without Location: the path in the answer, by the id in it, or the only session that there is. */
static void find_session(struct redfish_session *t, const json_t *body)
{
    CLEANUP(redfish_reply_release) struct redfish_reply reply = {0};
    const struct question q = {.method = "GET", .path = t->sessions.text, .after_stop_ms = LOGOUT_MS};
    struct redfish_search all = {.id = NULL};

    if (redfish_session_in(body, &t->sessions, &t->session))
        return;
    if (exchange(t, &q, &reply, NULL) == 0 &&
        redfish_search_page(reply.body, &t->sessions, &all, NULL) == 0 && all.n_found == 1 &&
        !all.next.text[0])
        t->session = all.found;
    else
        log_warning(
            "host %s: Redfish: the login at %s does not tell the session's place: it will end by itself",
            t->host->name, t->base);
}

/* The result of a login: the token, and the session's path. */
static int take_session(struct redfish_session *t, const struct redfish_reply *reply, struct err *err)
{
    const char *token = http_header(t->http, "X-Auth-Token");

    t->session = reply->location;
    if (!token || !token[0] || strlen(token) >= sizeof t->token)
        return err_set(err, -EPROTO, "%s: the login was taken, but no token came with it", t->sessions.text);
    (void)snprintf(t->token, sizeof t->token, "%s", token);
    if (!t->session.text[0])
        find_session(t, reply->body);
    return 0;
}

/* The controller takes no login: user and password go with each request for a while. */
static int go_basic(struct redfish_session *t, bool full, const struct err *why)
{
    t->basic_until_ms = net_now_ms() + (full ? FULL_MS : NO_SESSIONS_MS);
    if (full && !t->full)
        log_warning(
            "host %s: Redfish: the controller has no session left (%s): user and password are sent with "
            "each request",
            t->host->name, why->text);
    t->full = full;
    return 0;
}

static int no_session_left(struct err *err)
{
    return err_set(err, -EBUSY, "the controller has no session left, and takes no request without one");
}

static int log_in(struct redfish_session *t, struct err *err)
{
    CLEANUP(redfish_reply_release) struct redfish_reply reply = {0};
    struct err why = {0};

    if (!t->sessions.text[0] && !is_basic(t))
        t->know_root = false; /* it offered no sessions; by now it may */
    int r = read_root(t, err);

    if (r < 0 || t->token[0] || is_basic(t))
        return r;
    char *body = credentials(t);
    if (!body)
        return err_set(err, -EINVAL, "user or password is not UTF-8");
    const struct question q = {.method = "POST",
                               .path = t->sessions.text,
                               .body = body,
                               .no_secret = true,
                               .after_stop_ms = stops(t) ? 0 : LOGOUT_MS};
    r = exchange_patiently(t, &q, &reply, &why);
    explicit_bzero(body, strlen(body));
    free(body);
    if (r == 0) {
        t->full = t->sessions_only = false;
        return take_session(t, &reply, err);
    }
    if (reply.full && t->sessions_only)
        return no_session_left(err);
    if (reply.full || reply.status == 404 || reply.status == 405 || reply.status == 501)
        return go_basic(t, reply.full, &why);
    if (reply.status == 400 && r == -EPROTO) /* some services answer a wrong password so */
        r = -EACCES;
    if (r == -EPERM)
        r = -EACCES;
    if (r == -EACCES)
        (void)err_widen(&why, "user or password is wrong, or may not log in");
    return err_set(err, r, "%s", why.text);
}

static int ask_logged_in(struct redfish_session *t, const struct question *q, struct redfish_reply *ret,
                         struct err *err)
{
    bool fresh = !t->token[0];
    int (*send)(struct redfish_session *, const struct question *, struct redfish_reply *, struct err *) =
        q->once ? exchange : exchange_patiently;

    *ret = (struct redfish_reply){0};
    int r = log_in(t, err);
    if (r < 0)
        return r;
    r = send(t, q, ret, err);
    if (r < 0 && ret->status == 401 && t->token[0] && !fresh) {
        explicit_bzero(t->token, sizeof t->token); /* the service has forgotten the token: log in once more */
        if (q->once)
            return ret->session_ended = true,
                   r; /* it may be another service by now: the caller looks before it repeats */
        *ret = (struct redfish_reply){0};
        r = log_in(t, err);
        if (r == 0)
            r = send(t, q, ret, err);
    }
    if (r == -EACCES && ret->status == 401 && !t->token[0] && t->full) {
        t->basic_until_ms = 0; /* it takes sessions only: a login is tried again the next time */
        t->sessions_only = true;
        return no_session_left(err);
    }
    return r;
}

int redfish_get(struct redfish_session *t, const struct redfish_path *path, struct redfish_reply *ret,
                struct err *err)
{
    return ask_logged_in(t, &(struct question){.method = "GET", .path = path->text}, ret, err);
}

/* The answer gets two thirds of the time that is left: the rest is for finding out what became of a request
 * whose answer is lost. */
int redfish_post(struct redfish_session *t, const struct redfish_path *path, const char *body,
                 const char *if_match, bool same_peer, struct redfish_reply *ret, struct err *err)
{
    const struct question q = {.method = "POST",
                               .path = path->text,
                               .body = body,
                               .if_match = if_match,
                               .once = true,
                               .same_peer = same_peer,
                               .deadline_ms = t->deadline_ms - call_left_ms(t) / 3};

    return ask_logged_in(t, &q, ret, err);
}

const char *redfish_fingerprint(const struct redfish_session *t)
{
    return http_fingerprint(t->http);
}

int redfish_root(struct redfish_session *t, struct redfish_reply *ret, struct err *err)
{
    return redfish_get(t, &root, ret, err);
}

int redfish_systems(struct redfish_session *t, struct redfish_path *ret, struct err *err)
{
    int r = read_root(t, err);

    if (r == 0 && t->root_needs_login) {
        CLEANUP(redfish_reply_release) struct redfish_reply reply = {0};

        r = redfish_get(t, &root, &reply, err);
        if (r == 0) {
            const struct redfish_path sessions = t->sessions; /* the login worked there */
            read_links(t, reply.body);
            t->sessions = sessions;
            t->root_needs_login = false;
        }
    }
    if (r < 0)
        return r;
    if (!t->systems.text[0])
        return err_set(err, -ENOTSUP, "the service has no systems");
    *ret = t->systems;
    return 0;
}

/* A session that the service has forgotten has ended; to a service that does not answer it is not worth the
 * wait. */
static void log_out(struct redfish_session *t)
{
    const struct question q = {.method = "DELETE", .path = t->session.text, .after_stop_ms = LOGOUT_MS};
    CLEANUP(redfish_reply_release) struct redfish_reply reply = {0};
    struct err why = {0};

    if (!t->token[0] || !t->session.text[0] || !t->reached)
        return;
    t->deadline_ms = net_now_ms() + LOGOUT_MS;
    if (exchange(t, &q, &reply, &why) < 0 && reply.status != 401 && reply.status != 404)
        log_warning("host %s: Redfish: the session was not ended, and is left to end by itself: %s",
                    t->host->name, why.text);
}

void redfish_session_free(struct redfish_session *t)
{
    if (!t)
        return;
    log_out(t);
    explicit_bzero(t->token, sizeof t->token);
    http_session_free(t->http);
    free(t->base);
    free(t);
}
