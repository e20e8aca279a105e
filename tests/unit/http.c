/* HTTP requests that always end: refused addresses, endless answers, peers that hang, and cookies. */
#include "unit.h"

#include "net/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LATE_MS 1500
#define LATE "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate"
#define PATIENCE_MS 60000 /* for what must get through, however busy the machine is */

static const struct {
    const char *url;
    int code;
} urls[] = {
    {"https://vcenter.example/sdk", 0},
    {"http://127.0.0.1:8989/sdk", 0},
    {"HTTPS://[::1]:443/", 0},
    {NULL, -EINVAL},
    {"", -EINVAL},
    {"vcenter.example", -EINVAL},
    {"https://", -EINVAL},
    {"ftp://vcenter.example/", -EINVAL},
    {"file:///etc/passwd", -EINVAL},
    {"https://user:hunter2@vcenter.example/sdk", -EINVAL},
    {"https://user@vcenter.example/sdk", -EINVAL},
};

static void test_urls(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(urls); i++) {
        struct err err = {0};
        assert_int_equal(http_url_check(urls[i].url, &err), urls[i].code);
        assert_int_equal(err.text[0] == '\0', urls[i].code == 0);
        assert_null(strstr(err.text, "hunter2"));
    }
}

/* A server that answers each connection with the next of its scripts, and keeps what it was asked. */
struct peer {
    int listener;
    char url[64];
    const char *const
        *scripts; /* NULL at the end; "" closes at once, "hang" says nothing, "late" answers after LATE_MS */
    char asked[8][2048];
    size_t n_asked;
    atomic_bool hangs; /* it has been asked, and says nothing */
    pthread_t thread;
};

static void serve_one(struct peer *p, int fd, const char *script)
{
    char *to = p->asked[p->n_asked++];
    size_t len = 0;
    ssize_t n;

    while (len < sizeof p->asked[0] - 1 && !strstr(to, "\r\n\r\n") &&
           (n = read(fd, to + len, sizeof p->asked[0] - 1 - len)) > 0)
        len += (size_t)n;
    if (strcmp(script, "hang") == 0) {
        atomic_store(&p->hangs, true);
        (void)!read(fd, to, 1); /* until the client has enough */
    } else if (strcmp(script, "late") == 0) {
        atomic_store(&p->hangs, true);
        (void)usleep(LATE_MS * 1000);
        (void)!write(fd, LATE, strlen(LATE));
    } else {
        (void)!write(fd, script, strlen(script));
    }
    (void)close(fd);
}

static void *serve(void *ctx)
{
    struct peer *p = ctx;

    for (const char *const *script = p->scripts; *script; script++) {
        int fd = accept(p->listener, NULL, NULL);
        if (fd < 0)
            break;
        serve_one(p, fd, *script);
    }
    return NULL;
}

static void peer_bind(struct peer *p)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;

    p->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(p->listener, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(getsockname(p->listener, (struct sockaddr *)&at, &size), 0);
    (void)snprintf(p->url, sizeof p->url, "http://127.0.0.1:%d/", ntohs(at.sin_port));
}

static void peer_begin(struct peer *p, const char *const *scripts)
{
    *p = (struct peer){.scripts = scripts};
    peer_bind(p);
    assert_int_equal(listen(p->listener, 8), 0);
    assert_int_equal(pthread_create(&p->thread, NULL, serve, p), 0);
}

static void peer_end(struct peer *p)
{
    (void)pthread_join(p->thread, NULL);
    (void)close(p->listener);
}

#define OK(headers, body) "HTTP/1.1 200 OK\r\nConnection: close\r\n" headers "\r\n" body

static const struct {
    const char *script;
    size_t answer_max;
    int timeout_ms;
    int code;
    long status;
    const char *body; /* or, with an error, words of the sentence */
} answers[] = {
    {OK("", "hello"), 0, PATIENCE_MS, 0, 200, "hello"},
    {OK("Content-Length: 5\r\n", "hello"), 5, PATIENCE_MS, 0, 200, "hello"},
    {OK("", ""), 0, PATIENCE_MS, 0, 200, ""},
    {"HTTP/1.1 500 Oops\r\nConnection: close\r\n\r\nbad", 0, PATIENCE_MS, 0, 500, "bad"},
    {"HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: http://192.0.2.1/\r\n\r\n", 0, PATIENCE_MS, 0, 302,
     ""},
    {OK("", "hello!"), 5, PATIENCE_MS, -EFBIG, 0, "larger than"},
    {OK("Content-Length: 50\r\n", "hello"), 0, PATIENCE_MS, -ECONNRESET, 0, "broke off"},
    {OK("Content-Encoding: gzip\r\n", "not gzip at all"), 0, PATIENCE_MS, -EPROTO, 0, "http://127.0.0.1"},
    {"", 0, PATIENCE_MS, -ECONNRESET, 0, "connection broke"},
    {"SSH-2.0-OpenSSH\r\n\r\n", 0, PATIENCE_MS, -EPROTO, 0, "http://127.0.0.1"},
    {"hang", 0, 300, -ETIMEDOUT, 0, "no answer in time"},
    {OK("Content-Length: 50\r\n", "hello"), 0, 0, -ETIMEDOUT, 0, "no time was left"},
};

static void test_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(answers); i++) {
        const char *const scripts[] = {answers[i].timeout_ms ? answers[i].script : NULL, NULL};
        struct http_options options = {.tls_verify = true};
        struct http_session *s = NULL;
        struct http_answer answer = {0};
        struct err err = {0};
        struct peer p;

        peer_begin(&p, scripts);
        assert_int_equal(http_session_new(&options, &s, &err), 0);
        struct http_request q = {.method = "GET",
                                 .url = p.url,
                                 .deadline_ms = net_now_ms() + answers[i].timeout_ms,
                                 .answer_max = answers[i].answer_max};
        int r = http_send(s, &q, &answer, &err);
        if (r != answers[i].code)
            fail_msg("answer %zu: %d, expected %d: %s", i, r, answers[i].code, err.text);
        if (r == 0) {
            assert_int_equal(answer.status, answers[i].status);
            assert_string_equal(answer.body.text, answers[i].body);
            strbuf_release(&answer.body);
        } else if (!strstr(err.text, answers[i].body)) {
            fail_msg("answer %zu: %s", i, err.text);
        }
        http_session_free(s);
        peer_end(&p);
    }
}

static void get(struct http_session *s, struct peer *p)
{
    struct http_request q = {.method = "GET", .url = p->url, .deadline_ms = net_now_ms() + PATIENCE_MS};
    struct http_answer answer;
    struct err err;

    assert_int_equal(http_send(s, &q, &answer, &err), 0);
    strbuf_release(&answer.body);
}

static void test_cookies(void **state)
{
    static const char *const scripts[] = {OK("Set-Cookie: session=\"abc\"; Path=/\r\n", ""), OK("", ""),
                                          OK("", ""), NULL};
    struct http_options options = {.tls_verify = true};
    struct http_session *s = NULL;
    struct err err;
    struct peer p;

    (void)state;
    peer_begin(&p, scripts);
    assert_int_equal(http_session_new(&options, &s, &err), 0);
    get(s, &p);
    get(s, &p);
    http_forget(s);
    get(s, &p);
    http_session_free(s);
    peer_end(&p);
    assert_null(strstr(p.asked[0], "Cookie:"));
    assert_non_null(strstr(p.asked[1], "Cookie: session=\"abc\""));
    assert_null(strstr(p.asked[2], "Cookie:"));
    assert_null(strstr(p.asked[0], "Expect:"));
}

/* Methods without a body, Basic credentials for one request only, and headers of the answer. */
static void test_headers(void **state)
{
    static const char *const scripts[] = {OK("X-Auth-Token: abc\r\nLocation: /s/1\r\n", ""), OK("", ""),
                                          OK("", ""), NULL};
    struct http_options options = {.tls_verify = true};
    struct http_session *s = NULL;
    struct http_answer answer;
    struct err err;
    struct peer p;

    (void)state;
    peer_begin(&p, scripts);
    assert_int_equal(http_session_new(&options, &s, &err), 0);
    struct http_request q = {.method = "POST",
                             .url = p.url,
                             .deadline_ms = net_now_ms() + PATIENCE_MS,
                             .username = "Aladdin",
                             .password = "open sesame"};
    assert_int_equal(http_send(s, &q, &answer, &err), 0);
    strbuf_release(&answer.body);
    assert_string_equal(http_header(s, "x-auth-token"), "abc");
    assert_string_equal(http_header(s, "Location"), "/s/1");
    q = (struct http_request){.method = "DELETE", .url = p.url, .deadline_ms = net_now_ms() + PATIENCE_MS};
    assert_int_equal(http_send(s, &q, &answer, &err), 0);
    strbuf_release(&answer.body);
    assert_null(http_header(s, "X-Auth-Token"));
    get(s, &p);
    http_session_free(s);
    peer_end(&p);
    assert_non_null(strstr(p.asked[0], "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"));
    assert_int_equal(strncmp(p.asked[1], "DELETE / ", 9), 0);
    assert_null(strstr(p.asked[1], "Authorization"));
    assert_null(strstr(p.asked[1], "Content-"));
    assert_int_equal(strncmp(p.asked[2], "GET / ", 6), 0);
}

struct stopper {
    struct peer *peer;
    atomic_bool *stop;
};

/* Once the request is there; or the first script would be for the next one. */
static void *stop_soon(void *ctx)
{
    const struct stopper *s = ctx;

    while (!atomic_load(&s->peer->hangs))
        (void)usleep(10 * 1000);
    (void)usleep(200 * 1000);
    atomic_store(s->stop, true);
    return NULL;
}

static void test_stop(void **state)
{
    static const char *const scripts[] = {"hang", OK("", "bye"), NULL};
    atomic_bool stop = false;
    struct http_options options = {.tls_verify = true, .stop = &stop};
    struct http_session *s = NULL;
    struct http_answer answer;
    struct err err = {0};
    struct peer p;
    struct stopper stopper = {.peer = &p, .stop = &stop};
    pthread_t thread;

    (void)state;
    peer_begin(&p, scripts);
    assert_int_equal(http_session_new(&options, &s, &err), 0);
    struct http_request q = {.method = "GET", .url = p.url, .deadline_ms = net_now_ms() + PATIENCE_MS};
    int64_t began = net_now_ms();
    assert_int_equal(pthread_create(&thread, NULL, stop_soon, &stopper), 0);
    assert_int_equal(http_send(s, &q, &answer, &err), -ECANCELED);
    assert_true(net_now_ms() - began < PATIENCE_MS / 2);
    q.after_stop_ms = PATIENCE_MS; /* a logout still goes out */
    assert_int_equal(http_send(s, &q, &answer, &err), 0);
    assert_string_equal(answer.body.text, "bye");
    strbuf_release(&answer.body);
    http_session_free(s);
    (void)pthread_join(thread, NULL);
    peer_end(&p);
}

/* A login that has been sent is waited for, but not for long: its answer names the session to end. */
static void test_stop_during_login(void **state)
{
    static const struct {
        const char *script;
        int64_t after_stop_ms;
        int code;
    } cases[] = {{"late", PATIENCE_MS, 0}, {"late", 0, -ECANCELED}, {"hang", 300, -ECANCELED}};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        const char *const scripts[] = {cases[i].script, NULL};
        atomic_bool stop = false;
        struct http_options options = {.tls_verify = true, .stop = &stop};
        struct http_session *s = NULL;
        struct http_answer answer = {0};
        struct peer p;
        struct stopper stopper = {.peer = &p, .stop = &stop};
        pthread_t thread;

        peer_begin(&p, scripts);
        assert_int_equal(http_session_new(&options, &s, NULL), 0);
        struct http_request q = {.method = "POST",
                                 .url = p.url,
                                 .deadline_ms = net_now_ms() + PATIENCE_MS,
                                 .after_stop_ms = cases[i].after_stop_ms};
        int64_t began = net_now_ms();
        assert_int_equal(pthread_create(&thread, NULL, stop_soon, &stopper), 0);
        assert_int_equal(http_send(s, &q, &answer, NULL), cases[i].code);
        assert_true(net_now_ms() - began < PATIENCE_MS / 2);
        if (cases[i].code == 0)
            assert_string_equal(answer.body.text, "late");
        strbuf_release(&answer.body);
        http_session_free(s);
        (void)pthread_join(thread, NULL);
        peer_end(&p);
    }
}

static void test_nobody(void **state)
{
    struct http_options options = {.tls_verify = true};
    struct http_session *s = NULL;
    struct http_answer answer;
    struct err err = {0};
    struct peer p = {.listener = -1};

    (void)state;
    peer_bind(&p); /* nobody else can have its port, and nobody listens there */
    assert_int_equal(http_session_new(&options, &s, &err), 0);
    struct http_request q = {.method = "POST", .url = p.url, .deadline_ms = net_now_ms() + PATIENCE_MS};
    assert_int_equal(http_send(s, &q, &answer, &err), -ECONNREFUSED);
    assert_non_null(strstr(err.text, p.url));
    http_session_free(s);
    http_session_free(NULL);
    (void)close(p.listener);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_urls),    cmocka_unit_test(test_answers),
        cmocka_unit_test(test_cookies), cmocka_unit_test(test_headers),
        cmocka_unit_test(test_stop),    cmocka_unit_test(test_stop_during_login),
        cmocka_unit_test(test_nobody),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
