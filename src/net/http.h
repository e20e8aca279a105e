/* http.h: requests over HTTP and HTTPS, one at a time, that always end.
 *
 * A session keeps the connection, the cookies and the TLS settings of one peer; one thread uses it at a time.
 * Every request has a deadline and a largest answer, and ends early when *stop becomes true. What a peer
 * could do to us is refused: no redirects, no proxies, no other schemes, no answer without end.
 *
 * The program ignores SIGPIPE: a peer that hangs up while it is written to is an error here, not a signal.
 *
 * Errors are whole sentences that begin with the URL. Credentials travel in headers and bodies only, never in
 * a URL, so that no error and no log line can hold them; http_url_check() refuses "https://user:pass@host".
 */
#ifndef BALLAST_NET_HTTP_H
#define BALLAST_NET_HTTP_H

#include "base/strbuf.h"

#include <ballast/err.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define HTTP_ANSWER_MAX ((size_t)64 * 1024 * 1024)

struct http_session;

struct http_options {
    const char *ca_file; /* PEM; NULL: the system's */
    bool tls_verify;
    const atomic_bool *stop; /* NULL: never */
};

/* Instants on the monotonic clock, in ms: what deadlines are measured by. */
int64_t net_now_ms(void);

struct http_request {
    const char *method; /* "GET", "POST", ... */
    const char *url;
    const char *const *headers; /* "Name: value", NULL at the end; NULL: none */
    const void *body;           /* NULL: none */
    size_t body_len;
    const char *username, *password; /* sent with it as HTTP Basic credentials; NULL: none */
    int64_t deadline_ms;             /* by net_now_ms(): after this the request is given up */
    size_t answer_max;               /* bytes after decompression; 0: HTTP_ANSWER_MAX */
    bool once;    /* must not arrive twice: on a connection of its own (libcurl repeats a request whose
                     connection turns out to be dead, although the peer may have read it) */
    bool parting; /* a logout: sent although *stop is true */
};

struct http_answer {
    long status; /* 200, 404, ... */
    struct strbuf body;
};

/* http or https, with a host, without user or password. -EINVAL, with a sentence that does not repeat a
 * password. */
int http_url_check(const char *url, struct err *err);

/* Both copy nothing: what options points to stays valid until http_session_free(). -ENOMEM. */
int http_session_new(const struct http_options *options, struct http_session **ret, struct err *err);
void http_session_free(struct http_session *s); /* NULL is fine */

/* Forgets all cookies: the next request is a stranger's. */
void http_forget(struct http_session *s);

/* Sends it and reads the whole answer, whatever its status. The caller releases ret->body.
 * -ETIMEDOUT, -ECONNREFUSED, -EHOSTUNREACH (no such name or no way there), -EKEYREJECTED (the peer's
 * certificate), -ECONNRESET (the connection broke), -EFBIG (the answer is too large), -ECANCELED (stop),
 * -EPROTO. */
int http_send(struct http_session *s, const struct http_request *request, struct http_answer *ret,
              struct err *err);

/* A header of the last answer, the first of that name; NULL: it had none. Valid until the next request. */
const char *http_header(struct http_session *s, const char *name);

#endif
