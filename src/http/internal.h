/* internal.h: the server and one request of it. For the files of http only. */
#ifndef BALLAST_HTTP_INTERNAL_H
#define BALLAST_HTTP_INTERNAL_H

#include "http/attempts.h"
#include "http/http.h"
#include "http/list_text.h"
#include "http/pages.h"
#include "http/problem.h"
#include "http/route.h"
#include "http/stream.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* A connection, so that one that never completes a request can be ended. */
struct http_connection {
    struct http_connection *next;
    int fd;
    time_t waiting_since; /* for a whole request; 0: one is being answered */
};

/* A server of libmicrohttpd. A new certificate makes a new one; the old one keeps its connections. */
struct http_listener {
    struct http_listener *next;
    struct MHD_Daemon *daemon;
    bool quiet; /* takes no new connections */
};

struct http {
    struct http_options is;
    char *cluster, *cert_file, *key_file, *cert, *key;
    int fd; /* listens */
    struct http_listener *listeners;
    struct token_list *tokens;
    struct attempts *attempts;
    struct streams *streams;
    struct pages *pages;
    atomic_bool ready;
    atomic_uint calls;    /* wait for the main thread */
    pthread_mutex_t lock; /* of what follows */
    bool stopping;
    struct list_text *published[request_kind_count];
    pthread_mutex_t connections_lock;
    struct http_connection *connections;
};

/* A request, from its first line to its last byte. */
struct http_call {
    struct http *http;
    struct MHD_Connection *connection;
    char *raw;    /* its target */
    bool begun;   /* its headers are there ... */
    bool checked; /* ... and were checked */
    bool head;    /* HEAD */
    bool asked;   /* the main thread has it, or has had it */
    bool answered;
    struct target target;
    const struct route *route;
    struct route_values values;
    enum http_method method;
    enum role role;
    char who[HTTP_WHO_SIZE];
    struct strbuf body;
    bool body_too_large;
    struct request *request;
    struct shared_text *reply; /* the main thread's */
    struct err err;            /* instead of a reply; code 0: none */
};

/* ---- gate.c: who may ask --------------------------------------------------------------------- */

/* The name and role of the request's token. False: a problem was queued, *ret. */
bool gate_pass(struct http_call *c, enum MHD_Result *ret);

/* ---- exchange.c: requests and their answers --------------------------------------------------- */

void *exchange_begin(void *http, const char *raw, struct MHD_Connection *connection);
enum MHD_Result exchange_handle(void *http, struct MHD_Connection *connection, const char *url,
                                const char *method, const char *version, const char *data, size_t *size,
                                void **state);
void exchange_end(void *http, struct MHD_Connection *connection, void **state,
                  enum MHD_RequestTerminationCode why);

/* ---- answer.c: answers ------------------------------------------------------------------------ */

enum MHD_Result answer_problem(struct http_call *c, enum problem p, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A short text, copied. */
enum MHD_Result answer_text(struct http_call *c, unsigned status, const char *type, const char *text);

/* The reply as the route gives it: whole, a page, an element or a member. */
enum MHD_Result answer_reply(struct http_call *c, struct list_text *reply);

/* Events, from the reply (NULL: no past ones are needed) on. */
enum MHD_Result answer_stream(struct http_call *c, struct list_text *reply);

/* A file of the dashboard; not there: a problem. */
enum MHD_Result answer_page_file(struct http_call *c);

/* 204 with the methods of the path. */
enum MHD_Result answer_options(struct http_call *c, unsigned methods);
enum MHD_Result answer_wrong_method(struct http_call *c, unsigned methods);

/* The header of the request; NULL. */
const char *exchange_header(const struct http_call *c, const char *name);

#endif
