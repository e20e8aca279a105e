/* http.h: the API over HTTP: a second transport of the requests that the Unix socket has.
 *
 * Threads of libmicrohttpd read and check each request: its path, its token, its role, its body. What needs
 * the engine becomes an http_call, which ask() brings to the main thread; what many clients ask for is a text
 * that the main thread has published, and is given without it. README.md has the idea. */
#ifndef BALLAST_HTTP_HTTP_H
#define BALLAST_HTTP_HTTP_H

#include "base/listen_address.h"
#include "base/shared_text.h"
#include "http/token.h"
#include "request/request.h"

#include <ballast/err.h>

#include <stdbool.h>

#define HTTP_CALLS_MAX 256 /* that wait for the main thread */
#define HTTP_WHO_SIZE 64

struct http;

/* A request on its way to the main thread and back. The main thread must answer each once, and may not use it
 * afterwards. */
struct http_call;

/* In a thread of HTTP: hands the call to the main thread. */
typedef void (*http_ask_fn)(void *ctx, struct http_call *call);

struct http_options {
    struct listen_address listen;
    const char *listen_text;
    const char *cluster;
    const char *cert_file, *key_file; /* NULL: without TLS */
    unsigned connections, per_address;
    instant_s session_s, session_idle_s; /* a session of a browser lasts */
    const char *pages;                   /* folder of the dashboard's built files */
    http_ask_fn ask;
    void *ctx;
};

/* Listens, and starts its threads. The strings are copied. A negative errno and a sentence. */
int http_start(const struct http_options *options, struct http **ret, struct err *err);

/* First half of the stop: every call that waits may be answered until http_stop(); no new one is asked. */
void http_stop_asking(struct http *h);
void http_stop(struct http *h); /* after all calls were answered; NULL is fine, as in all below */

/* Reads the certificate and its key again, and uses them for new connections if they have changed. */
int http_reload_certificate(struct http *h, struct err *err);

void http_set_tokens(struct http *h, const struct token *list, size_t n);
instant_s http_token_used(struct http *h, const char *name);

/* Ends connections that are too slow. Call it every few seconds. */
void http_tick(struct http *h);

/* Events for the streams: the number of the newest at the start, then each one, its JSON on one line. */
void http_set_newest_event(struct http *h, uint64_t newest);
void http_add_event(struct http *h, uint64_t id, const char *json);

/* Whether the service has an inventory: /readyz. */
void http_set_ready(struct http *h, bool ready);

/* The reply to this request, for all that ask, until http_unpublish(). Takes a reference of its own. */
void http_publish(struct http *h, enum request_kind kind, struct shared_text *text);
void http_unpublish(struct http *h);

/* ---- calls, in the main thread --------------------------------------------------------------- */

struct request *http_call_request(struct http_call *call);
const char *http_call_who(const struct http_call *call);
const char *http_call_person(const struct http_call *call); /* the owner of its token; "": not said */
enum role http_call_role(const struct http_call *call);
int http_call_fd(const struct http_call *call); /* of its connection, until it is answered */
void http_answer(struct http_call *call, struct shared_text *text); /* takes a reference of its own */
void http_refuse(struct http_call *call, const struct err *err);

#endif
