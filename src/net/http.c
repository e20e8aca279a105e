/* http.c: sends one HTTP request with libcurl and reads a bounded answer, without interpreting it. */
#include "net/http.h"

#include "base/clock.h"
#include "base/xalloc.h"
#include "net/certificate.h"
#include "net/curl_setup.h"

#include <curl/curl.h>
#include <errno.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define CONNECT_MAX_MS 10000
#define REDIRECTS_MAX 3
#define DESCRIPTOR_KEPT_MAX 511 /* a connection with a higher one is not kept between calls */

struct http_session {
    CURL *easy;
    struct http_options options;
    struct strbuf *into;            /* receives the body of the current request */
    int64_t after_stop_ms;          /* of the current request */
    int64_t stopped_ms;             /* when it saw that *stop is true; 0: it did not */
    struct certificate certificate; /* of the peer that answered last; texts "": none */
    bool verified;                  /* a certificate of the peer was trusted before */
    char reason[HTTP_REASON_MAX];   /* of the current request's answer */
    char detail[CURL_ERROR_SIZE];
};

/* libcurl must be initialised once a process, and initialisation is not thread-safe. This is the only state
 * here outside a session. */
static pthread_once_t curl_once = PTHREAD_ONCE_INIT;

static void curl_set_up(void)
{
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
}

void net_curl_set_up(void)
{
    (void)pthread_once(&curl_once, curl_set_up);
}

int64_t net_now_ms(void)
{
    return clock_us(CLOCK_MONOTONIC) / 1000;
}

static bool url_has(CURLU *u, CURLUPart part)
{
    char *value = NULL;
    bool there = curl_url_get(u, part, &value, 0) == CURLUE_OK && value[0] != '\0';

    curl_free(value);
    return there;
}

int http_url_check(const char *url, struct err *err)
{
    if (!url || url[0] == '\0')
        return err_set(err, -EINVAL, "the url is missing");
    CURLU *u = curl_url();
    if (!u)
        return err_set(err, -ENOMEM, "out of memory");
    int r = 0;

    if (curl_url_set(u, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK ||
        !url_has(u, CURLUPART_HOST))
        r = err_set(err, -EINVAL, "the url is not one: expected something like https://host/path");
    else if (url_has(u, CURLUPART_USER) || url_has(u, CURLUPART_PASSWORD))
        r = err_set(err, -EINVAL, "the url holds a user name or a password: use username and password_file");
    else if (strncasecmp(url, "https://", 8) != 0 && strncasecmp(url, "http://", 7) != 0)
        r = err_set(err, -EINVAL, "%s: expected a url that begins with https:// or http://", url);
    curl_url_cleanup(u);
    return r;
}

static size_t receive_body(char *data, size_t size, size_t n, void *ctx)
{
    struct http_session *s = ctx;

    strbuf_add(s->into, data, size * n);
    return s->into->overflow ? 0 : size * n; /* 0 ends the transfer */
}

/* The first line of each answer: "HTTP/1.1 500 VM is locked". What comes last counts, after a redirect or a
 * "100 Continue". */
static size_t receive_header(char *data, size_t size, size_t n, void *ctx)
{
    struct http_session *s = ctx;
    size_t len = size * n, at = 0;

    if (len < 5 || memcmp(data, "HTTP/", 5) != 0)
        return len;
    for (int words = 0; at < len && words < 2; at++)
        words += data[at] == ' ';
    s->reason[0] = '\0';
    for (size_t to = 0; at < len && to + 1 < sizeof s->reason; at++) {
        const unsigned char c = (unsigned char)data[at];

        if (c >= ' ' && c != 0x7f) {
            s->reason[to++] = data[at];
            s->reason[to] = '\0';
        }
    }
    return len;
}

/* ---- pinned certificates ---- */

static bool is_fingerprint(const char *pinned, const unsigned char *digest, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        char hex[3];

        (void)snprintf(hex, sizeof hex, "%02x", (unsigned)digest[i]);
        pinned += *pinned == ':';
        if (strncasecmp(pinned, hex, 2) != 0)
            return false;
        pinned += 2;
    }
    return *pinned == '\0';
}

/* Instead of a chain up to an authority: the peer's own certificate is one of those that are pinned. */
static int verify_pinned(X509_STORE_CTX *chain, void *ctx)
{
    const struct http_session *s = ctx;
    X509 *own = X509_STORE_CTX_get0_cert(chain);
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;

    if (own && X509_digest(own, EVP_sha256(), digest, &n) == 1) {
        for (const char *const *f = s->options.fingerprints; *f; f++) {
            if (is_fingerprint(*f, digest, n)) {
                X509_STORE_CTX_set_error(chain, X509_V_OK);
                return 1;
            }
        }
    }
    X509_STORE_CTX_set_error(chain, X509_V_ERR_APPLICATION_VERIFICATION);
    return 0;
}

static CURLcode pin(CURL *easy, void *ssl_ctx, void *ctx)
{
    (void)easy;
    SSL_CTX_set_cert_verify_callback(ssl_ctx, verify_pinned, ctx);
    return CURLE_OK;
}

static int watch(void *ctx, curl_off_t dl_total, curl_off_t dl, curl_off_t ul_total, curl_off_t ul)
{
    struct http_session *s = ctx;

    (void)dl_total, (void)dl, (void)ul_total, (void)ul;
    if (!s->options.stop || !atomic_load(s->options.stop))
        return 0;
    if (s->stopped_ms == 0)
        s->stopped_ms = net_now_ms();
    return net_now_ms() - s->stopped_ms >= s->after_stop_ms;
}

/* Sets the options that all requests share. */
static void set_session(struct http_session *s)
{
    CURL *c = s->easy;

    (void)curl_easy_setopt(c, CURLOPT_ERRORBUFFER, s->detail);
    (void)curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
    /* the environment's proxy is not meant for the management network */
    (void)curl_easy_setopt(c, CURLOPT_PROXY, "");
    (void)curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(c, CURLOPT_COOKIEFILE, "");
    (void)curl_easy_setopt(c, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
    (void)curl_easy_setopt(c, CURLOPT_ACCEPT_ENCODING, "gzip");
    (void)curl_easy_setopt(c, CURLOPT_USERAGENT, "ballast/" BALLAST_VERSION);
    (void)curl_easy_setopt(c, CURLOPT_SSL_VERIFYPEER, s->options.tls_verify ? 1L : 0L);
    (void)curl_easy_setopt(c, CURLOPT_SSL_VERIFYHOST, s->options.tls_verify ? 2L : 0L);
    if (s->options.ca_file) {
        (void)curl_easy_setopt(c, CURLOPT_CAINFO, s->options.ca_file);
        (void)curl_easy_setopt(c, CURLOPT_CAPATH, NULL); /* this CA and no other */
    }
    if (s->options.fingerprints) {
        (void)curl_easy_setopt(c, CURLOPT_SSL_VERIFYPEER, 1L);
        (void)curl_easy_setopt(c, CURLOPT_SSL_VERIFYHOST, 0L);
        (void)curl_easy_setopt(c, CURLOPT_SSL_CTX_FUNCTION, pin);
        (void)curl_easy_setopt(c, CURLOPT_SSL_CTX_DATA, s);
    }
    (void)curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, receive_header);
    (void)curl_easy_setopt(c, CURLOPT_HEADERDATA, s);
    (void)curl_easy_setopt(c, CURLOPT_CERTINFO, 1L);
    (void)curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, receive_body);
    (void)curl_easy_setopt(c, CURLOPT_WRITEDATA, s);
    (void)curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
    (void)curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, watch);
    (void)curl_easy_setopt(c, CURLOPT_XFERINFODATA, s);
}

int http_session_new(const struct http_options *options, struct http_session **ret, struct err *err)
{
    net_curl_set_up();
    struct http_session *s = xcalloc(1, sizeof *s);

    s->easy = curl_easy_init();
    if (!s->easy) {
        free(s);
        return err_set(err, -ENOMEM, "out of memory");
    }
    s->options = *options;
    set_session(s);
    *ret = s;
    return 0;
}

void http_session_free(struct http_session *s)
{
    if (!s)
        return;
    curl_easy_cleanup(s->easy);
    free(s);
}

/* With its connections, its cookies, and its TLS sessions. */
static void renew_handle(struct http_session *s)
{
    CURL *fresh = curl_easy_init();

    if (!fresh)
        return;
    curl_easy_cleanup(s->easy);
    s->easy = fresh;
    set_session(s);
}

void http_rest(struct http_session *s)
{
    curl_socket_t descriptor = CURL_SOCKET_BAD;

    (void)curl_easy_getinfo(s->easy, CURLINFO_ACTIVESOCKET, &descriptor);
    if (descriptor != CURL_SOCKET_BAD && descriptor > DESCRIPTOR_KEPT_MAX)
        renew_handle(s);
}

void http_forget(struct http_session *s)
{
    (void)curl_easy_setopt(s->easy, CURLOPT_COOKIELIST, "ALL");
}

void http_share(struct http_session *s, struct http_session *with)
{
    struct curl_slist *cookies = NULL;

    http_forget(s);
    (void)curl_easy_getinfo(with->easy, CURLINFO_COOKIELIST, &cookies);
    for (const struct curl_slist *c = cookies; c; c = c->next)
        (void)curl_easy_setopt(s->easy, CURLOPT_COOKIELIST, c->data);
    curl_slist_free_all(cookies);
}

static struct curl_slist *set_request(struct http_session *s, const struct http_request *q, int64_t left_ms)
{
    CURL *c = s->easy;
    /* Without this a large body waits a second for a "100 Continue" that many servers never send. */
    struct curl_slist *headers = curl_slist_append(NULL, "Expect:");

    for (size_t i = 0; q->headers && q->headers[i]; i++)
        headers = curl_slist_append(headers, q->headers[i]);
    (void)curl_easy_setopt(c, CURLOPT_URL, q->url);
    (void)curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers);
    (void)curl_easy_setopt(c, CURLOPT_USERNAME, q->username);
    (void)curl_easy_setopt(c, CURLOPT_PASSWORD, q->password);
    if (strcmp(q->method, "GET") == 0 || (strcmp(q->method, "DELETE") == 0 && !q->body)) {
        (void)curl_easy_setopt(c, CURLOPT_HTTPGET, 1L);
        (void)curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, q->method);
    } else {
        (void)curl_easy_setopt(c, CURLOPT_POST, 1L);
        (void)curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->body_len);
        (void)curl_easy_setopt(c, CURLOPT_POSTFIELDS, q->body ? q->body : "");
        (void)curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, q->method);
    }
    (void)curl_easy_setopt(c, CURLOPT_CONNECT_ONLY, q->connect_only ? 1L : 0L);
    (void)curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)left_ms);
    (void)curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS,
                           (long)(left_ms < CONNECT_MAX_MS ? left_ms : CONNECT_MAX_MS));
    (void)curl_easy_setopt(c, CURLOPT_PINNEDPUBLICKEY,
                           q->same_peer && s->certificate.pin[0] ? s->certificate.pin : NULL);
    /* a resumed TLS session would show the certificate of its beginning */
    (void)curl_easy_setopt(c, CURLOPT_SSL_SESSIONID_CACHE, q->same_peer || s->options.fingerprints ? 0L : 1L);
    (void)curl_easy_setopt(c, CURLOPT_FRESH_CONNECT, q->once ? 1L : 0L);
    (void)curl_easy_setopt(c, CURLOPT_FORBID_REUSE, q->once ? 1L : 0L);
    return headers;
}

static int why_not(const struct http_session *s, const struct http_request *q, CURLcode code, struct err *err)
{
    const char *detail = s->detail[0] ? s->detail : curl_easy_strerror(code);

    switch ((int)code) {
    case CURLE_COULDNT_RESOLVE_HOST:
        return err_set(
            err, -EHOSTUNREACH,
            "%s: the host's name cannot be resolved; see whether `getent hosts` knows it on this machine",
            q->url);
    case CURLE_COULDNT_CONNECT: {
        long os = 0;
        (void)curl_easy_getinfo(s->easy, CURLINFO_OS_ERRNO, &os);
        if (os == ECONNREFUSED)
            return err_set(err, -ECONNREFUSED, "%s: the connection was refused: nothing listens there",
                           q->url);
        return err_set(err, -EHOSTUNREACH, "%s: no connection: %s", q->url, detail);
    }
    case CURLE_OPERATION_TIMEDOUT:
        return err_set(err, -ETIMEDOUT, "%s: no answer in time: %s", q->url, detail);
    case CURLE_PEER_FAILED_VERIFICATION:
        if (s->options.fingerprints)
            return err_set(err, -EKEYREJECTED,
                           "%s: the peer's certificate is none of those that are pinned: if it was renewed, "
                           "add its SHA-256 fingerprint to the fingerprints",
                           q->url);
        return err_set(err, -EKEYREJECTED,
                       s->verified
                           ? "%s: the peer's certificate has changed, and the new one cannot be "
                             "trusted (%s): if this was intended, renew ca_file"
                           : "%s: the certificate cannot be trusted (%s): check ca_file and the host's name",
                       q->url, detail);
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
        return err_set(
            err, -ESTALE,
            "%s: another controller answers at the address than right before: its TLS key is another. "
            "Nothing was requested. Check whether two machines use the address, or DHCP gave it to "
            "another one",
            q->url);
    case CURLE_SSL_CACERT_BADFILE:
        return err_set(err, -EKEYREJECTED, "%s: ca_file %s cannot be read as PEM certificates", q->url,
                       s->options.ca_file ? s->options.ca_file : "(the system's)");
    case CURLE_SSL_CONNECT_ERROR:
        return err_set(err, -EPROTO, "%s: no TLS connection: %s", q->url, detail);
    case CURLE_ABORTED_BY_CALLBACK:
        return err_set(err, -ECANCELED, "%s: cancelled, because the service stops", q->url);
    case CURLE_PARTIAL_FILE:
        return err_set(err, -ECONNRESET, "%s: the answer broke off in the middle: %s", q->url, detail);
    case CURLE_RECV_ERROR:
        if (strstr(detail, "response headers")) /* libcurl's limit of 300 KiB has no code of its own */
            return err_set(err, -EPROTO, "%s: the headers of the answer have no end: %s", q->url, detail);
        /* fall through */
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
        return err_set(err, -ECONNRESET, "%s: the connection broke before the answer was complete: %s",
                       q->url, detail);
    default:
        return err_set(err, -EPROTO, "%s: %s", q->url, detail);
    }
}

/* Of those that the peer sent, the last one, PEM, or its own; NULL: on a connection that was used before,
 * libcurl does not tell them again. */
static const char *sent_certificate(const struct http_session *s, bool last)
{
    static const char prefix[] = "Cert:";
    struct curl_certinfo *chain = NULL;

    if (curl_easy_getinfo(s->easy, CURLINFO_CERTINFO, &chain) != CURLE_OK || !chain ||
        chain->num_of_certs < 1)
        return NULL;
    for (const struct curl_slist *l = chain->certinfo[last ? chain->num_of_certs - 1 : 0]; l; l = l->next) {
        if (strncmp(l->data, prefix, sizeof prefix - 1) == 0)
            return l->data + sizeof prefix - 1;
    }
    return NULL;
}

static int send_one(struct http_session *s, const struct http_request *q, struct http_answer *ret,
                    struct err *err)
{
    int64_t left_ms = q->deadline_ms - net_now_ms();
    size_t most = q->answer_max ? q->answer_max : HTTP_ANSWER_MAX;

    if (left_ms <= 0)
        return err_set(err, -ETIMEDOUT, "%s: no time was left for the request", q->url);
    struct strbuf body;
    strbuf_init(&body, most);
    s->into = &body;
    s->after_stop_ms = q->after_stop_ms;
    s->stopped_ms = 0;
    s->detail[0] = s->reason[0] = '\0';
    struct curl_slist *headers = set_request(s, q, left_ms);
    CURLcode code = curl_easy_perform(s->easy);

    (void)curl_easy_setopt(s->easy, CURLOPT_HTTPHEADER, NULL); /* headers and body are freed below */
    (void)curl_easy_setopt(s->easy, CURLOPT_POSTFIELDS, NULL);
    (void)curl_easy_setopt(s->easy, CURLOPT_PASSWORD, NULL);
    curl_slist_free_all(headers);
    s->into = NULL;
    if (code == CURLE_OK) {
        curl_off_t retry = 0;

        s->verified = s->verified || s->options.tls_verify;
        const char *own = sent_certificate(s, false);

        if (own)
            (void)certificate_read(own, &s->certificate);
        ret->body = body;
        (void)snprintf(ret->reason, sizeof ret->reason, "%s", s->reason);
        (void)curl_easy_getinfo(s->easy, CURLINFO_RESPONSE_CODE, &ret->status);
        (void)curl_easy_getinfo(s->easy, CURLINFO_RETRY_AFTER, &retry);
        ret->retry_after_s = (long)retry;
        const char *date = http_header(s, "Date");
        const time_t told = date ? curl_getdate(date, NULL) : -1;

        ret->date_s = told > 0 ? (int64_t)told : 0;
        return 0;
    }
    int r = body.overflow ? err_set(err, -EFBIG, "%s: the answer is larger than %zu MiB and was dropped",
                                    q->url, most / (1024 * 1024))
                          : why_not(s, q, code, err);
    strbuf_release(&body);
    if (r == -ESTALE) /* the next request meets the peer that is there now */
        renew_handle(s);
    return r;
}

/* ---- redirects -------------------------------------------------------------------------------- */

int http_resolve(const char *base, const char *reference, char **ret_host, char **ret_path)
{
    CURLU *u = curl_url();
    char *host = NULL, *path = NULL, *query = NULL;
    int r = u ? 0 : -ENOMEM;

    if (r == 0 && (curl_url_set(u, CURLUPART_URL, base, 0) != CURLUE_OK ||
                   curl_url_set(u, CURLUPART_URL, reference, 0) != CURLUE_OK ||
                   curl_url_get(u, CURLUPART_HOST, &host, 0) != CURLUE_OK ||
                   curl_url_get(u, CURLUPART_PATH, &path, 0) != CURLUE_OK))
        r = -EINVAL;
    if (r == 0) {
        (void)curl_url_get(u, CURLUPART_QUERY, &query, 0);
        *ret_host = strdup(host);
        if (!*ret_host || asprintf(ret_path, "%s%s%s", path, query ? "?" : "", query ? query : "") < 0) {
            free(*ret_host);
            r = -ENOMEM;
        }
    }
    curl_free(host);
    curl_free(path);
    curl_free(query);
    curl_url_cleanup(u);
    return r;
}

/* Where the answer leads to at the same host; NULL: nowhere that is followed. The caller frees it. */
static char *redirect_of(struct http_session *s, const struct http_request *q, long status)
{
    bool get = strcmp(q->method, "GET") == 0;
    const char *location = http_header(s, "Location");
    char *host = NULL, *own_host = NULL, *path = NULL, *own_path = NULL, *url = NULL;

    /* 302 and 303 may turn what is no GET into one */
    if (!q->redirects || !location ||
        !(status == 301 || status == 307 || status == 308 || (get && status == 302)))
        return NULL;
    if (http_resolve(q->url, location, &host, &path) == 0 &&
        http_resolve(q->url, q->url, &own_host, &own_path) == 0 && strcasecmp(host, own_host) == 0) {
        const char *authority = strstr(q->url, "://") + 3; /* scheme and port stay: no way to weaken them */
        int len = (int)(authority - q->url + (ptrdiff_t)strcspn(authority, "/?#"));

        if (asprintf(&url, "%.*s%s", len, q->url, path) < 0)
            url = NULL;
    }
    free(host);
    free(own_host);
    free(path);
    free(own_path);
    return url;
}

int http_send(struct http_session *s, const struct http_request *q, struct http_answer *ret, struct err *err)
{
    struct http_request now = *q;
    char *url = NULL;
    int r = send_one(s, &now, ret, err);

    for (int n = 0; r == 0 && n < REDIRECTS_MAX; n++) {
        char *next = redirect_of(s, &now, ret->status);

        if (!next)
            break;
        strbuf_release(&ret->body);
        free(url);
        now.url = url = next;
        r = send_one(s, &now, ret, err);
    }
    free(url);
    return r;
}

void http_offer_certificate(const char *url, const atomic_bool *stop, struct preflight *ret)
{
    const struct http_options options = {.stop = stop};
    const struct http_request request = {
        .method = "GET", .url = url, .deadline_ms = net_now_ms() + CONNECT_MAX_MS, .connect_only = true};
    struct http_answer answer = {.body = STRBUF_EMPTY};
    struct http_session *s = NULL;
    struct certificate c;

    if (http_session_new(&options, &s, NULL) < 0)
        return;
    const char *sent = http_send(s, &request, &answer, NULL) == 0 ? sent_certificate(s, true) : NULL;

    if (sent && certificate_read(sent, &c) == 0) {
        preflight_add(ret, PREFLIGHT_SOURCE, PREFLIGHT_NOTE,
                      "it sends the certificate %s, signed by %s, with the SHA-256 fingerprint %s", c.subject,
                      c.issuer, c.fingerprint);
        preflight_about(ret, "source.ca_file", sent);
    }
    strbuf_release(&answer.body);
    http_session_free(s);
}

void http_address(const struct http_session *s, char ret[HTTP_ADDRESS_MAX])
{
    const char *ip = NULL;
    long port = 0;

    (void)curl_easy_getinfo(s->easy, CURLINFO_PRIMARY_IP, &ip);
    (void)curl_easy_getinfo(s->easy, CURLINFO_PRIMARY_PORT, &port);
    (void)snprintf(ret, HTTP_ADDRESS_MAX, ip && ip[0] ? "%s:%ld" : "", ip, port);
}

const char *http_fingerprint(const struct http_session *s)
{
    return s->certificate.fingerprint;
}

const char *http_header(struct http_session *s, const char *name)
{
    struct curl_header *h = NULL;

    /* -1: of the last answer, after a "100 Continue" */
    return curl_easy_header(s->easy, name, 0, CURLH_HEADER, -1, &h) == CURLHE_OK ? h->value : NULL;
}
