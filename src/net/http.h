/* http.h: sends one HTTP or HTTPS request and reads its answer, within a deadline.
 *
 * A session keeps one peer's connection, cookies and TLS settings; one thread uses a session at a time. Every
 * request has a deadline and a largest answer, and ends early when *stop becomes true. Proxies and other
 * schemes are refused; a redirect is followed only where the request allows it, and to the same host.
 *
 * The program ignores SIGPIPE: when the peer hangs up during a write, the call returns an error.
 *
 * Errors are whole sentences that begin with the URL. Credentials travel in headers and bodies only, never in
 * a URL, so that no error and no log line can hold them; http_url_check() refuses "https://user:pass@host".
 */
#ifndef BALLAST_NET_HTTP_H
#define BALLAST_NET_HTTP_H

#include "base/strbuf.h"

#include <ballast/err.h>
#include <ballast/preflight.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define HTTP_REASON_MAX 256
#define HTTP_ANSWER_MAX ((size_t)64 * 1024 * 1024)

struct http_session;

struct http_options {
    const char *ca_file; /* PEM; NULL: the system's certificates */
    bool tls_verify;
    /* SHA-256 fingerprints of certificates, hexadecimal with or without colons, NULL at the end: the peer has
     * one of these, whichever authority has signed it and whatever names it has. NULL: it is verified by
     * ca_file. */
    const char *const *fingerprints;
    const atomic_bool *stop; /* NULL: never */
};

/* Milliseconds on the monotonic clock; deadlines are instants on it. */
int64_t net_now_ms(void);

struct http_request {
    const char *method; /* "GET", "POST", ... */
    const char *url;
    const char *const *headers; /* "Name: value", NULL at the end; NULL: none */
    const void *body;           /* NULL: none */
    size_t body_len;
    const char *username, *password; /* sent as HTTP Basic credentials; NULL: none */
    int64_t deadline_ms;             /* on the clock of net_now_ms() */
    size_t answer_max;               /* bytes after decompression; 0: HTTP_ANSWER_MAX */
    bool once; /* must not arrive twice: uses a connection of its own, because libcurl repeats a request whose
                  connection turns out to be dead, although the peer may have read it */
    bool same_peer;    /* over TLS, only to the peer whose answer came before this request: one with another
                          public key is not sent anything, -ESTALE, and the next request goes to that one */
    bool connect_only; /* connects, with TLS if the URL says so, and asks nothing: the answer is empty */
    bool redirects;    /* follow a few that stay at the host, over the same scheme and port: of a GET any, of
                          other methods those that keep method and body. Else their answer is returned */
    int64_t after_stop_ms; /* how long it may go on once *stop is true: a logout, and a login, whose answer
                              names the session that is to be ended. 0: not at all */
};

struct http_answer {
    long status;                  /* 200, 404, ... */
    char reason[HTTP_REASON_MAX]; /* the text beside it on the first line; "": none */
    long retry_after_s;           /* Retry-After, as seconds or as a date; 0: none */
    int64_t date_s;               /* the peer's clock (Date), seconds since 1970; 0: not told */
    struct strbuf body;
};

/* Accepts http and https URLs with a host and without user or password. -EINVAL with a sentence that never
 * repeats a password. */
int http_url_check(const char *url, struct err *err);

/* options and the strings in it are borrowed until http_session_free(). -ENOMEM. */
int http_session_new(const struct http_options *options, struct http_session **ret, struct err *err);
void http_session_free(struct http_session *s); /* NULL is fine */

/* Between two calls of a session that is kept for long: closes its connection if the process has many
 * descriptors open. A service of a thousand controllers must not run out of them, and FreeIPMI's select()
 * takes none beyond 1,023. Cookies are lost then, too. */
void http_rest(struct http_session *s);

/* Forgets all cookies; the next request starts a new session at the peer. */
void http_forget(struct http_session *s);

/* Takes over the other session's cookies: both are one session to the peer. */
void http_share(struct http_session *s, struct http_session *with);

/* Sends the request and reads the whole answer, whatever its status. The caller releases ret->body.
 * -ETIMEDOUT, -ECONNREFUSED, -EHOSTUNREACH (the name is unknown or the host has no route), -EKEYREJECTED (the
 * peer's certificate is not trusted; the sentence says so if an earlier one was), -ECONNRESET (the connection
 * broke), -EFBIG (the answer is too large), -ESTALE (same_peer), -ECANCELED (stop), -EPROTO. */
int http_send(struct http_session *s, const struct http_request *request, struct http_answer *ret,
              struct err *err);

/* The SHA-256 fingerprint of the certificate of the peer that answered last, in hexadecimal digits; "": there
 * was no answer yet, or not over TLS. */
const char *http_fingerprint(const struct http_session *s);

/* For a peer that is not trusted: adds the last certificate that it sends, that of its authority or its own,
 * as a choice for source.ca_file, with the fingerprint to compare. Asks the peer for nothing. */
void http_offer_certificate(const char *url, const atomic_bool *stop, struct preflight *ret);

/* The address of the peer that answered last, "192.0.2.7:443"; "": there was no answer yet. */
#define HTTP_ADDRESS_MAX 64
void http_address(const struct http_session *s, char ret[HTTP_ADDRESS_MAX]);

/* The path, with its query, that a reference means in the document at `base` (RFC 3986, section 5), and the
 * host that it names. The caller frees both. -EINVAL: it means none; -ENOMEM. */
int http_resolve(const char *base, const char *reference, char **ret_host, char **ret_path);

/* The first header of this name in the last answer; NULL: the answer has none. Valid until the next request.
 */
const char *http_header(struct http_session *s, const char *name);

#endif
