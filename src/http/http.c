/* http.c: starts and stops the servers of libmicrohttpd, and keeps what their threads share. */
#include "http/internal.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BACKLOG 1024
#define THREADS 2
#define NICE 10           /* of its threads: a pass comes first */
#define IDLE_S 30         /* of a connection that sends or reads nothing */
#define REQUEST_S 30      /* for a whole request, however it trickles */
#define HEADERS_MAX 32768 /* bytes of a request's headers, and of an answer's */
#define PEM_MAX (256 * 1024)
#define FILES_SPARE 256 /* descriptors beside the connections */

/* ---- certificates ------------------------------------------------------------------------------ */

static int read_pem(const char *path, char **ret, struct err *err)
{
    CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct strbuf text;
    char part[4096];
    ssize_t n = 0;

    if (fd < 0)
        return err_set(err, -errno, "%s cannot be opened: %s", path, strerror(errno));
    strbuf_init(&text, PEM_MAX);
    while ((n = read(fd, part, sizeof part)) > 0)
        strbuf_add(&text, part, (size_t)n);
    if (n < 0 || text.overflow) {
        strbuf_release(&text);
        return err_set(err, -EINVAL, "%s cannot be read, or is longer than 256 KiB", path);
    }
    *ret = text.text;
    return 0;
}

/* That libmicrohttpd would refuse without a reason. */
static int check_pair(const struct http *h, const char *cert, const char *key, struct err *err)
{
    gnutls_certificate_credentials_t pair;
    const gnutls_datum_t c = {(unsigned char *)cert, (unsigned)strlen(cert)};
    const gnutls_datum_t k = {(unsigned char *)key, (unsigned)strlen(key)};

    if (gnutls_certificate_allocate_credentials(&pair) < 0)
        return err_set(err, -ENOMEM, "out of memory");
    int r = gnutls_certificate_set_x509_key_mem(pair, &c, &k, GNUTLS_X509_FMT_PEM);

    gnutls_certificate_free_credentials(pair);
    return r < 0 ? err_set(err, -EINVAL, "%s and %s are no certificate and its key: %s", h->cert_file,
                           h->key_file, gnutls_strerror(r))
                 : 0;
}

static int read_certificate(const struct http *h, char **ret_cert, char **ret_key, struct err *err)
{
    int r = read_pem(h->cert_file, ret_cert, err);

    if (r == 0)
        r = read_pem(h->key_file, ret_key, err);
    return r == 0 ? check_pair(h, *ret_cert, *ret_key, err) : r;
}

/* ---- connections ------------------------------------------------------------------------------- */

static void on_connection(void *http, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct http *h = http;
    struct http_connection *x = *context;

    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

        x = xcalloc(1, sizeof *x);
        x->fd = info ? info->connect_fd : -1;
        x->waiting_since = time(NULL);
        (void)pthread_mutex_lock(&h->connections_lock);
        x->next = h->connections;
        h->connections = x;
        (void)pthread_mutex_unlock(&h->connections_lock);
        *context = x;
        return;
    }
    (void)pthread_mutex_lock(&h->connections_lock);
    struct http_connection **at = &h->connections;

    while (*at && *at != x)
        at = &(*at)->next;
    if (*at)
        *at = x->next;
    (void)pthread_mutex_unlock(&h->connections_lock);
    free(x);
    *context = NULL;
}

/* libmicrohttpd's own limit counts from the last byte, so one byte in 29 s would hold a place for days. */
static void end_slow_connections(struct http *h)
{
    const time_t now = time(NULL);

    (void)pthread_mutex_lock(&h->connections_lock);
    for (struct http_connection *x = h->connections; x; x = x->next) {
        if (x->waiting_since != 0 && x->waiting_since + REQUEST_S < now && x->fd >= 0)
            (void)shutdown(x->fd, SHUT_RDWR); /* its thread closes it */
    }
    (void)pthread_mutex_unlock(&h->connections_lock);
}

/* ---- servers ----------------------------------------------------------------------------------- */

static void log_of_library(void *ctx, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

static void log_of_library(void *ctx, const char *format, va_list args)
{
    char line[256];

    (void)ctx;
    (void)vsnprintf(line, sizeof line, format, args);
    line[strcspn(line, "\n")] = '\0';
    log_debug("HTTP: %s", line);
}

static struct MHD_Daemon *start_daemon(struct http *h, int fd)
{
    const unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC |
                           MHD_USE_ERROR_LOG | (h->cert ? MHD_USE_TLS : 0);
    const struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_MEM_CERT, 0, h->cert},
                                         {MHD_OPTION_HTTPS_MEM_KEY, 0, h->key},
                                         {MHD_OPTION_HTTPS_PRIORITIES, 0, "NORMAL:-VERS-TLS1.0:-VERS-TLS1.1"},
                                         {MHD_OPTION_END, 0, NULL}};
    const struct MHD_OptionItem clear[] = {{MHD_OPTION_END, 0, NULL}};

    return MHD_start_daemon(
        flags, 0, NULL, NULL, exchange_handle, h, MHD_OPTION_EXTERNAL_LOGGER, log_of_library, NULL,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_THREAD_POOL_SIZE, (unsigned)THREADS,
        MHD_OPTION_CONNECTION_LIMIT, h->is.connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT, h->is.per_address,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)HEADERS_MAX, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_URI_LOG_CALLBACK, exchange_begin, h,
        MHD_OPTION_NOTIFY_COMPLETED, exchange_end, h, MHD_OPTION_NOTIFY_CONNECTION, on_connection, h,
        MHD_OPTION_ARRAY, h->cert ? tls : clear, MHD_OPTION_END);
}

struct start {
    struct http *http;
    struct MHD_Daemon *daemon;
};

/* A thread has the priority of the one that starts it. */
static void *start_with_low_priority(void *arg)
{
    struct start *s = arg;
    int fd = fcntl(s->http->fd, F_DUPFD_CLOEXEC, 0);

    (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
    s->daemon = fd < 0 ? NULL : start_daemon(s->http, fd);
    if (!s->daemon && fd >= 0)
        (void)close(fd);
    return NULL;
}

static int add_listener(struct http *h, struct err *err)
{
    struct start s = {.http = h};
    pthread_t thread;

    if (pthread_create(&thread, NULL, start_with_low_priority, &s) != 0)
        return err_set(err, -EAGAIN, "no thread for HTTP");
    (void)pthread_join(thread, NULL);
    if (!s.daemon)
        return err_set(err, -EIO, "the HTTP server cannot be started");
    struct http_listener *l = xcalloc(1, sizeof *l);

    l->daemon = s.daemon;
    l->next = h->listeners;
    h->listeners = l;
    return 0;
}

static int open_socket(struct http *h, struct err *err)
{
    const struct listen_address *a = &h->is.listen;
    struct sockaddr_storage bound = {0};
    socklen_t len = sizeof bound;
    const int on = 1;

    h->fd = socket(a->at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (h->fd < 0)
        return err_set(err, -errno, "no socket for HTTP: %s", strerror(errno));
    (void)setsockopt(h->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(h->fd, (const struct sockaddr *)&a->at, a->len) < 0 || listen(h->fd, BACKLOG) < 0)
        return err_set(err, -errno,
                       "http.listen: %s cannot be listened on: %s; expected an address of this machine with "
                       "a port that is free (`ss -ltn`)",
                       h->is.listen_text, strerror(errno));
    (void)getsockname(h->fd, (struct sockaddr *)&bound, &len);
    const unsigned port = ntohs(bound.ss_family == AF_INET ? ((struct sockaddr_in *)&bound)->sin_port
                                                           : ((struct sockaddr_in6 *)&bound)->sin6_port);

    sign_in_name_cookie(h, port, h->cookie);
    log_info("HTTP%s: listens on %s, port %u", h->cert_file ? "S" : "", h->is.listen_text, port);
    return 0;
}

/* A service may be started with a limit of 1,024. */
static void allow_descriptors(unsigned connections)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= connections + FILES_SPARE)
        return;
    limit.rlim_cur = limit.rlim_max < connections + FILES_SPARE ? limit.rlim_max : connections + FILES_SPARE;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static struct list_text *describe(void)
{
    struct strbuf text = STRBUF_EMPTY;

    strbuf_puts(&text, openapi_document);
    CLEANUP(shared_text_unrefp) struct shared_text *whole = shared_text_new(&text);

    return list_text_new(whole, NULL);
}

static char *copy(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

int http_start(const struct http_options *options, struct http **ret, struct err *err)
{
    struct http *h = xcalloc(1, sizeof *h);
    int r = 0;

    h->is = *options;
    h->is.listen_text = xstrdup(options->listen_text);
    h->cluster = xstrdup(options->cluster);
    h->cert_file = copy(options->cert_file);
    h->key_file = copy(options->key_file);
    h->tokens = token_list_new();
    h->sessions = session_list_new(h->tokens, options->session_s, options->session_idle_s);
    h->attempts = attempts_new();
    h->streams = stream_all_new();
    h->pages = pages_read(options->pages);
    h->description = describe();
    h->fd = -1;
    (void)pthread_mutex_init(&h->lock, NULL);
    (void)pthread_mutex_init(&h->connections_lock, NULL);
    *ret = h;
    allow_descriptors(h->is.connections);
    if (h->cert_file)
        r = read_certificate(h, &h->cert, &h->key, err);
    if (r == 0)
        r = open_socket(h, err);
    return r == 0 ? add_listener(h, err) : r;
}

void http_stop_asking(struct http *h)
{
    if (!h)
        return;
    (void)pthread_mutex_lock(&h->lock);
    h->stopping = true;
    (void)pthread_mutex_unlock(&h->lock);
    stream_all_stop(h->streams);
}

void http_stop(struct http *h)
{
    if (!h)
        return;
    for (struct http_listener *l = h->listeners, *next; l; l = next) {
        next = l->next;
        MHD_stop_daemon(l->daemon);
        free(l);
    }
    http_unpublish(h);
    session_list_free(h->sessions);
    token_list_free(h->tokens);
    attempts_free(h->attempts);
    stream_all_free(h->streams);
    pages_free(h->pages);
    list_text_unref(h->description);
    (void)pthread_mutex_destroy(&h->lock);
    (void)pthread_mutex_destroy(&h->connections_lock);
    if (h->fd >= 0)
        (void)close(h->fd);
    free((char *)h->is.listen_text);
    free(h->cluster);
    free(h->cert_file);
    free(h->key_file);
    free(h->cert);
    free(h->key);
    free(h);
}

/* ---- changes ----------------------------------------------------------------------------------- */

/* Of the servers with an older certificate those without connections. */
static void end_quiet_listeners(struct http *h)
{
    struct http_listener **at = &h->listeners;

    while (*at) {
        struct http_listener *l = *at;
        const union MHD_DaemonInfo *info =
            MHD_get_daemon_info(l->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);

        if (l->quiet && info && info->num_connections == 0) {
            *at = l->next;
            MHD_stop_daemon(l->daemon);
            free(l);
        } else {
            at = &l->next;
        }
    }
}

int http_reload_certificate(struct http *h, struct err *err)
{
    char *cert = NULL;
    char *key = NULL;
    int r = h && h->cert_file ? read_certificate(h, &cert, &key, err) : 0;

    if (r < 0 || !cert || (strcmp(cert, h->cert) == 0 && strcmp(key, h->key) == 0)) {
        free(cert);
        free(key);
        return r;
    }
    struct http_listener *old = h->listeners;
    char *old_cert = h->cert;
    char *old_key = h->key;

    h->cert = cert;
    h->key = key;
    if ((r = add_listener(h, err)) < 0) {
        h->cert = old_cert;
        h->key = old_key;
        free(cert);
        free(key);
        return r;
    }
    MHD_socket fd = MHD_quiesce_daemon(old->daemon);

    if (fd != MHD_INVALID_SOCKET)
        (void)close(fd);
    old->quiet = true;
    free(old_cert);
    free(old_key);
    log_notice("HTTPS: a new certificate is in use for new connections");
    return 0;
}

void http_tick(struct http *h)
{
    if (!h)
        return;
    end_slow_connections(h);
    stream_all_check(h->streams, gate_lasts, h);
    stream_all_tick(h->streams);
    end_quiet_listeners(h);
}

void http_set_tokens(struct http *h, const struct token *list, size_t n)
{
    if (!h)
        return;
    token_list_set(h->tokens, list, n);
    stream_all_check(h->streams, gate_lasts, h);
}

instant_s http_token_used(struct http *h, const char *name)
{
    return h ? token_list_used(h->tokens, name) : 0;
}

void http_set_newest_event(struct http *h, uint64_t newest)
{
    if (h)
        stream_all_set_newest(h->streams, newest);
}

void http_add_event(struct http *h, uint64_t id, const char *json)
{
    if (h)
        stream_add_event(h->streams, id, json);
}

void http_set_ready(struct http *h, bool ready)
{
    if (h)
        atomic_store(&h->ready, ready);
}

static const char *member_of(enum request_kind kind)
{
    for (size_t i = 0; i < n_routes; i++) {
        if (routes[i].member && routes[i].request == kind)
            return routes[i].member;
    }
    return NULL;
}

void http_publish(struct http *h, enum request_kind kind, struct shared_text *text)
{
    if (!h)
        return;
    struct list_text *fresh = list_text_new(text, member_of(kind));

    (void)pthread_mutex_lock(&h->lock);
    struct list_text *old = h->published[kind];

    h->published[kind] = fresh;
    (void)pthread_mutex_unlock(&h->lock);
    list_text_unref(old);
}

void http_unpublish(struct http *h)
{
    if (!h)
        return;
    for (size_t i = 0; i < request_kind_count; i++) {
        (void)pthread_mutex_lock(&h->lock);
        struct list_text *old = h->published[i];

        h->published[i] = NULL;
        (void)pthread_mutex_unlock(&h->lock);
        list_text_unref(old);
    }
}
