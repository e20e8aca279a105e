/* internal.h: the server and one request of it. For the files of http only. */
#ifndef BALLAST_HTTP_INTERNAL_H
#define BALLAST_HTTP_INTERNAL_H

#include "http/attempts.h"
#include "http/http.h"
#include "http/list_text.h"
#include "http/pages.h"
#include "http/problem.h"
#include "http/route.h"
#include "http/session.h"
#include "http/stream.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define COOKIE_NAME_SIZE 32
#define SIGN_IN_BYTES_MAX 1024
#define STATUS_REPLIES 3

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
    struct session_list *sessions;
    char cookie[COOKIE_NAME_SIZE]; /* its name */
    struct attempts *attempts;
    struct streams *streams;
    struct pages *pages;
    struct list_text *description; /* the OpenAPI document */
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
    char person[PERSON_NAME_MAX]; /* the owner of its token; "": not said */
    struct credential credential;
    bool by_session;
    struct session session;
    char set_cookie[SESSION_TEXT_SIZE]; /* "": none */
    bool clear_cookie;
    struct strbuf body;
    size_t body_max;
    bool body_too_large;
    struct request *request;
    struct shared_text *reply;               /* the main thread's */
    struct err err;                          /* instead of a reply; code 0: none */
    struct list_text *shown[STATUS_REPLIES]; /* of the status page and of oVirt's API, those that are there */
    size_t n_shown;
    bool acted;                      /* oVirt's API: the change was asked for */
    const char *challenge;           /* of an answer with 401; NULL: none */
    char location[TARGET_BYTES_MAX]; /* of what was made; "": none */
    char basic[TOKEN_TEXT_SIZE + 1]; /* the token of "Authorization: Basic" */
};

/* ---- gate.c: who may ask --------------------------------------------------------------------- */

/* Host, origin, and name and role of the request's token or session. False: a problem was queued, *ret; as in
 * all below. */
bool gate_pass(struct http_call *c, enum MHD_Result *ret);

/* Who asks, by token or session. */
bool gate_identify(struct http_call *c, enum MHD_Result *ret);
bool gate_has_credentials(const struct http_call *c); /* good ones or not */

bool gate_check_token(struct http_call *c, const char *given, struct token *token, enum MHD_Result *ret);

/* False: too many lately. */
bool gate_note_sign_in(struct http_call *c, enum MHD_Result *ret);

void gate_take_session(struct http_call *c, const struct session *session);
void gate_end_session_of_cookie(struct http_call *c);
bool gate_is_csrf_token(const struct http_call *c, const char *given);
bool gate_is_own_page(const struct http_call *c); /* that sends the request, as far as the browser says */
enum MHD_Result gate_refuse_page(struct http_call *c, const char *why);
bool gate_lasts(void *http, const struct credential *credential); /* a stream_lasts_fn */
void gate_name_address(const struct http_call *c, char ret[INET6_ADDRSTRLEN]);

/* ---- sign_in.c: sessions ---------------------------------------------------------------------- */

void sign_in_name_cookie(const struct http *h, unsigned port, char ret[COOKIE_NAME_SIZE]);
void sign_in_add_cookie(const struct http_call *c, struct MHD_Response *r); /* that the answer sets */
bool sign_in(struct http_call *c, const char *given, enum MHD_Result *ret);
void sign_in_end(struct http_call *c);
enum MHD_Result sign_in_serve(struct http_call *c); /* the routes of kind ROUTE_SESSION */

/* ---- status_route.c: the status page ----------------------------------------------------------- */

enum MHD_Result status_route_serve(struct http_call *c);
enum MHD_Result status_route_go_on(struct http_call *c); /* with the reply that it has asked for */
enum MHD_Result status_route_serve_form(struct http_call *c);

/* ---- rest_route.c: oVirt's REST API ------------------------------------------------------------- */

bool rest_route_is_under(const struct target *t);
enum MHD_Result rest_route_serve(struct http_call *c);
enum MHD_Result rest_route_go_on(struct http_call *c); /* with the reply that it has asked for */
enum MHD_Result rest_route_login(struct http_call *c);

/* A problem in the engine's form. challenge: of 401, NULL: none. */
enum MHD_Result rest_route_refuse(struct http_call *c, enum problem p, const char *detail,
                                  const char *challenge);

/* The token of "Authorization: Basic", which only these paths take. False: there is none. */
bool rest_route_basic(const struct http_call *c, char ret[static TOKEN_TEXT_SIZE + 1]);

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

/* A page that the service has made, copied. */
enum MHD_Result answer_html(struct http_call *c, unsigned status, const char *text);

/* The sign-in of the status page; problem NULL: none before. */
enum MHD_Result answer_sign_in(struct http_call *c, unsigned status, const char *problem);

enum MHD_Result answer_see_other(struct http_call *c, const char *path);

/* Events, from the reply (NULL: no past ones are needed) on. */
enum MHD_Result answer_stream(struct http_call *c, struct list_text *reply);

/* The OpenAPI document, made by conf/schema/bundle. */
extern const char openapi_document[];

/* A file of the dashboard; not there: a problem. */
enum MHD_Result answer_page_file(struct http_call *c);

/* 204 with the methods of the path. */
enum MHD_Result answer_options(struct http_call *c, unsigned methods);
enum MHD_Result answer_wrong_method(struct http_call *c, unsigned methods);

/* The header of the request; NULL. */
const char *exchange_header(const struct http_call *c, const char *name);

/* Brings c->request to the main thread; exchange_handle() goes on with c->reply. */
enum MHD_Result exchange_ask(struct http_call *c);

/* A text that the main thread has published, a reference; NULL: none. */
struct list_text *exchange_published(struct http_call *c, enum request_kind kind);

/* The token of the Authorization header; NULL: none. */
const char *exchange_bearer(const struct http_call *c);

/* The body; NULL: it is empty. False: a problem was queued. */
bool exchange_body(struct http_call *c, json_t **ret, enum MHD_Result *ret_problem);

#endif
