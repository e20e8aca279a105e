/* connections.c: opens connections to libvirt on threads of their own, keeps them, and lends each to one
 * thread at a time. It asks the hosts nothing but to let it in. */
#include "net/libvirt/connections.h"

#include "base/cleanup.h"
#include "base/hardware_uuid.h"
#include "base/log.h"
#include "base/peer_identities.h"
#include "base/thread.h"
#include "base/xalloc.h"
#include "net/http.h"
#include "net/libvirt/refusals.h"
#include "net/libvirt/watch.h"
#include "net/login_guard.h"
#include "net/xml.h"

#include <errno.h>
#include <libvirt/virterror.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WAKE_MS 200 /* how often a waiting caller looks at *stop */
#define STUCK_MS ((int64_t)300 * 1000)
#define STUCK_DOUBLINGS 6
#define IDENTITY_MAX 320

/* A connection that is open, or was. */
struct link {
    virConnectPtr conn;
    struct libvirt_watched watched;
    bool lent, used;
};

struct slot {
    char *name, *uri;
    struct link *links;
    size_t n_links;
    bool connecting;       /* a thread is at it */
    int64_t since_ms;      /* that it is */
    pid_t thread;          /* that is at it, by gettid(); 0: it has not begun */
    unsigned abandoned;    /* attempts in a row that were given up, whose threads may be stuck */
    uint64_t attempts;     /* that have ended */
    struct err err;        /* of the last one; code 0: it gave a connection */
    int64_t refused_until; /* no attempt before: the login was refused */
    int64_t pause_s;       /* the next pause */
};

struct libvirt_connections {
    pthread_mutex_t lock;
    pthread_cond_t ended; /* an attempt, or the use of a connection */
    unsigned holders;
    bool closed;
    char *username, *password;
    bool compares;                      /* hosts with what they were */
    struct peer_identities *identities; /* NULL once the object is closed */
    struct libvirt_watch *watch;
    size_t n;
    struct slot slots[];
};

struct attempt {
    struct libvirt_connections *of;
    size_t host;
    uint64_t number; /* by slot.attempts when it began */
};

/* ---- libvirt in this process ---------------------------------------------------------------------- */

static void *run_events(void *unused)
{
    (void)unused;
    while (virEventRunDefaultImpl() == 0)
        ;
    log_error("libvirt's event loop has ended: hosts that fall silent are no longer noticed at once");
    return NULL;
}

/* Errors are read where they happen; libvirt would print each on standard error, too. */
static void print_nothing(void *ctx, virErrorPtr e)
{
    (void)ctx;
    (void)e;
}

/* Keepalive needs an event loop, which libvirt has one of in a process, and wants before the first
 * connection. */
static void begin_once(void)
{
    (void)virInitialize();
    virSetErrorFunc(NULL, print_nothing);
    if (virEventRegisterDefaultImpl() < 0 || thread_begin(run_events, NULL) < 0)
        log_error("libvirt's event loop cannot be started: hosts that fall silent are noticed late");
}

static void begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, begin_once);
}

/* ---- errors --------------------------------------------------------------------------------------- */

static int code_of(const virError *e)
{
    switch (e->code) {
    case VIR_ERR_AUTH_FAILED:
    case VIR_ERR_AUTH_CANCELLED:
    case VIR_ERR_AUTH_UNAVAILABLE:
    case VIR_ERR_GNUTLS_ERROR:
        return -EACCES;
    case VIR_ERR_OPERATION_DENIED:
    case VIR_ERR_ACCESS_DENIED:
        return -EPERM;
    case VIR_ERR_NO_SUPPORT:
    case VIR_ERR_ARGUMENT_UNSUPPORTED:
    case VIR_ERR_CONFIG_UNSUPPORTED:
        return -ENOTSUP;
    case VIR_ERR_NO_DOMAIN:
        return -ENOENT;
    case VIR_ERR_RPC:
    case VIR_ERR_INVALID_CONN:
    case VIR_ERR_NO_CONNECT:
        return -ECONNRESET;
    default: /* libvirt has a hundred more, and adds to them */
        return -EREMOTEIO;
    }
}

int libvirt_connections_fail(struct err *err, const char *host)
{
    const virError *e = virGetLastError();
    char text[ERR_TEXT_MAX / 2];

    net_one_line(e && e->message ? e->message : "an error without a description", text, sizeof text);
    return err_set(err, e ? code_of(e) : -EREMOTEIO, "%s: %s", host, text);
}

/* ---- URIs ----------------------------------------------------------------------------------------- */

/* ssh must not ask for a password or for the trust in a key: there is no terminal. */
static char *complete_uri(const char *uri)
{
    bool ssh = strstr(uri, "+ssh://") != NULL;
    char *ret = NULL;

    if (!ssh || strstr(uri, "no_tty="))
        return xstrdup(uri);
    if (asprintf(&ret, "%s%cno_tty=1", uri, strchr(uri, '?') ? '&' : '?') < 0)
        abort();
    return ret;
}

/* ---- connecting ----------------------------------------------------------------------------------- */

static int give_credentials(virConnectCredentialPtr cred, unsigned int n, void *ctx)
{
    const struct libvirt_connections *c = ctx;

    for (unsigned i = 0; i < n; i++) {
        bool name = cred[i].type == VIR_CRED_AUTHNAME || cred[i].type == VIR_CRED_USERNAME;
        const char *text = name ? c->username : c->password;

        if (!text)
            return -1;
        cred[i].result = strdup(text); /* libvirt frees it */
        if (!cred[i].result)
            return -1;
        cred[i].resultlen = (unsigned)strlen(text);
    }
    return 0;
}

/* "UUID NAME", without what does not tell a machine from others: a new board has another UUID, a libvirt that
 * finds none makes one up at each start, and a host may get another name. "": nothing does. */
static void tell_apart(virConnectPtr conn, char ret[IDENTITY_MAX])
{
    CLEANUP(freep) char *capabilities = virConnectGetCapabilities(conn);
    CLEANUP(freep) char *name = virConnectGetHostname(conn);
    struct hardware_uuid u;
    xml_doc *doc = NULL;
    char uuid[64] = "";

    if (capabilities && xml_parse(capabilities, strlen(capabilities), &doc, NULL) == 0)
        xml_line(xml_child(xml_root(doc), "host/uuid"), uuid, sizeof uuid);
    xml_free(doc);
    if (hardware_uuid_parse(uuid, &u) < 0 || hardware_uuid_is_placeholder(&u))
        uuid[0] = '\0';
    if (!name || strncmp(name, "localhost", 9) == 0 || strpbrk(name, " \t\n"))
        (void)snprintf(ret, IDENTITY_MAX, "%s", uuid);
    else
        (void)snprintf(ret, IDENTITY_MAX, "%s%s%.250s", uuid, uuid[0] ? " " : "", name);
}

/* Whether it is the host that it was. */
static bool is_same(struct libvirt_connections *c, const struct slot *s, virConnectPtr conn, struct err *err)
{
    char is[IDENTITY_MAX];

    if (c->compares)
        tell_apart(conn, is);
    (void)pthread_mutex_lock(&c->lock);
    int r = peer_identities_check(c->identities, s->name, c->compares ? is : "", err);

    if (r == 0 && c->compares)
        peer_identities_offer_name(c->identities, is);
    (void)pthread_mutex_unlock(&c->lock);
    return r == 0;
}

static virConnectPtr open_one(struct libvirt_connections *c, const struct slot *s, struct err *err)
{
    int types[] = {VIR_CRED_AUTHNAME, VIR_CRED_USERNAME, VIR_CRED_PASSPHRASE, VIR_CRED_NOECHOPROMPT};
    virConnectAuth auth = {
        .credtype = types, .ncredtype = sizeof types / sizeof types[0], .cb = give_credentials, .cbdata = c};
    virConnectPtr conn = virConnectOpenAuth(s->uri, &auth, 0);

    if (!conn) {
        (void)libvirt_refusals_fail(err, s->name, s->uri, c->username);
        return NULL;
    }
    if (virConnectSetKeepAlive(conn, LIBVIRT_KEEPALIVE_S, LIBVIRT_KEEPALIVE_COUNT) != 0)
        log_debug("%s: no keepalive: a host that falls silent is noticed late", s->name);
    if (!is_same(c, s, conn, err)) {
        (void)virConnectClose(conn);
        return NULL;
    }
    return conn;
}

/* Half-open connections to a machine that was cut off in the middle of the greeting never end. Another
 * attempt is made beside such a one after 5 min, 10, 20, up to hours, so that stuck threads stay few. */
static bool is_stuck(const struct slot *s)
{
    unsigned doublings = s->abandoned < STUCK_DOUBLINGS ? s->abandoned : STUCK_DOUBLINGS;

    return s->connecting && net_now_ms() - s->since_ms > (STUCK_MS << doublings);
}

/* Ends the ssh of an attempt: the only child of its thread. libvirt then gives the attempt up and waits for
 * the child. */
static void end_ssh(const struct slot *s)
{
    char path[64];
    int pid;

    (void)snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)s->thread);
    CLEANUP(fclosep) FILE *f = s->connecting && s->thread > 0 ? fopen(path, "re") : NULL;
    while (f && fscanf(f, "%9d", &pid) == 1)
        (void)kill(pid, SIGTERM);
}

static void note_result(struct slot *s, virConnectPtr conn, const struct libvirt_watched *watched,
                        const struct err *err)
{
    s->connecting = false;
    s->thread = 0;
    s->abandoned = 0;
    s->attempts++;
    s->err = *err;
    if (conn) {
        s->links = xreallocarray(s->links, s->n_links + 1, sizeof *s->links);
        s->links[s->n_links++] = (struct link){.conn = conn, .watched = *watched};
    }
    if (!conn && err->code == -EACCES) {
        s->pause_s = s->pause_s ? s->pause_s * 2 : LOGIN_PAUSE_FIRST_S;
        if (s->pause_s > LOGIN_PAUSE_MOST_S)
            s->pause_s = LOGIN_PAUSE_MOST_S;
        s->refused_until = net_now_ms() + s->pause_s * 1000;
    } else {
        s->pause_s = 0;
        s->refused_until = 0;
    }
}

static void close_one(virConnectPtr conn, struct libvirt_watched *watched)
{
    libvirt_watch_end(conn, watched);
    (void)virConnectClose(conn);
}

static void *connect_one(void *arg)
{
    struct attempt *a = arg;
    struct libvirt_connections *c = a->of;
    struct err err = {0};
    struct libvirt_watched watched = {0};

    (void)pthread_mutex_lock(&c->lock);
    bool current = c->slots[a->host].attempts == a->number;
    if (current)
        c->slots[a->host].thread = gettid();
    (void)pthread_mutex_unlock(&c->lock);
    virConnectPtr conn = open_one(c, &c->slots[a->host], &err); /* name and uri never change */

    if (conn)
        libvirt_watch_begin(c->watch, conn, &watched);
    (void)pthread_mutex_lock(&c->lock);
    current = c->slots[a->host].attempts == a->number;
    if (current)
        note_result(&c->slots[a->host], conn, &watched, &err);
    (void)pthread_cond_broadcast(&c->ended);
    (void)pthread_mutex_unlock(&c->lock);
    if (conn && !current)
        close_one(conn, &watched);
    free(a);
    libvirt_connections_release(c);
    return NULL;
}

/* The lock is held. */
static int begin_attempt(struct libvirt_connections *c, size_t host, struct err *err)
{
    struct attempt *a = xcalloc(1, sizeof *a);

    *a = (struct attempt){.of = c, .host = host, .number = c->slots[host].attempts};
    c->holders++;
    int r = thread_begin(connect_one, a);
    if (r < 0) {
        c->holders--;
        free(a);
        return err_set(err, r, "%s: no thread can be started", c->slots[host].name);
    }
    c->slots[host].connecting = true;
    c->slots[host].since_ms = net_now_ms();
    return 0;
}

/* The lock is held. Waits for WAKE_MS at most. */
static void wait_a_little(struct libvirt_connections *c, int64_t deadline_ms)
{
    int64_t until = net_now_ms() + WAKE_MS;

    if (until > deadline_ms)
        until = deadline_ms;
    (void)thread_wait(&c->ended, &c->lock, until);
}

/* One that no thread has; NULL: there is none. Those that libvirt has closed are given up. The lock is held.
 */
static virConnectPtr take_link(struct slot *s)
{
    for (size_t i = s->n_links; i-- > 0;) {
        struct link *l = &s->links[i];

        if (l->lent)
            continue;
        if (virConnectIsAlive(l->conn) == 1) {
            l->lent = l->used = true;
            return l->conn;
        }
        if (!l->used)
            (void)err_set(&s->err, -EIO, "%s: the connection was closed as soon as it was open", s->name);
        close_one(l->conn, &l->watched); /* it is dead: the host is not asked */
        *l = s->links[--s->n_links];
    }
    return NULL;
}

/* Waits until there is a connection, or an attempt has failed that was begun or under way meanwhile. The lock
 * is held. */
static int wait_for_link(struct libvirt_connections *c, size_t host, int64_t deadline_ms,
                         const atomic_bool *stop, virConnectPtr *ret, struct err *err)
{
    struct slot *s = &c->slots[host];
    uint64_t before = s->attempts;

    while (!(*ret = take_link(s))) {
        if (s->attempts != before && s->err.code) {
            if (err)
                *err = s->err;
            return s->err.code;
        }
        int r = s->connecting ? 0 : begin_attempt(c, host, err);

        if (r < 0)
            return r;
        if (c->closed || (stop && *stop))
            return err_set(err, -ECANCELED, "%s: the service is stopping", s->name);
        if (net_now_ms() >= deadline_ms)
            return err_set(err, -ETIMEDOUT, "%s: no connection for %lld s", s->name,
                           (long long)(net_now_ms() - s->since_ms + 500) / 1000);
        wait_a_little(c, deadline_ms);
    }
    return 0;
}

/* The lock is held. */
static int get_locked(struct libvirt_connections *c, size_t host, int64_t deadline_ms,
                      const atomic_bool *stop, virConnectPtr *ret, struct err *err)
{
    struct slot *s = &c->slots[host];

    if ((*ret = take_link(s)) != NULL)
        return 0;
    if (!s->connecting && net_now_ms() < s->refused_until)
        return err_set(err, -EACCES, "%s; not tried again for %lld s", s->err.text,
                       (long long)(s->refused_until - net_now_ms()) / 1000 + 1);
    if (c->closed)
        return err_set(err, -ECANCELED, "%s: the service is stopping", s->name);
    if (is_stuck(s)) {
        end_ssh(s);
        s->connecting = false;
        s->thread = 0;
        s->abandoned++;
        s->attempts++;
    }
    return wait_for_link(c, host, deadline_ms, stop, ret, err);
}

int libvirt_connections_get(struct libvirt_connections *c, size_t host, int64_t deadline_ms,
                            const atomic_bool *stop, virConnectPtr *ret, struct err *err)
{
    begin();
    (void)pthread_mutex_lock(&c->lock);
    int r = get_locked(c, host, deadline_ms, stop, ret, err);
    (void)pthread_mutex_unlock(&c->lock);
    return r;
}

void libvirt_connections_put(struct libvirt_connections *c, size_t host, virConnectPtr conn)
{
    struct slot *s = &c->slots[host];

    (void)pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < s->n_links; i++) {
        if (s->links[i].conn == conn)
            s->links[i].lent = false;
    }
    (void)pthread_cond_broadcast(&c->ended);
    (void)pthread_mutex_unlock(&c->lock);
}

int libvirt_connections_open(struct libvirt_connections *c, size_t host, virConnectPtr *ret, struct err *err)
{
    struct err own = {0};

    begin();
    *ret = open_one(c, &c->slots[host], &own); /* name and uri never change */
    if (!*ret && err)
        *err = own;
    return *ret ? 0 : own.code;
}

void libvirt_connections_watch(struct libvirt_connections *c, void (*changed)(void *ctx), void *ctx)
{
    libvirt_watch_set(c->watch, changed, ctx);
}

/* ---- the object ----------------------------------------------------------------------------------- */

struct libvirt_connections *libvirt_connections_new(const struct libvirt_host *hosts, size_t n,
                                                    const char *username, const char *password,
                                                    struct peer_identities *identities)
{
    struct libvirt_connections *c = xcalloc(1, sizeof *c + n * sizeof c->slots[0]);

    (void)pthread_mutex_init(&c->lock, NULL);
    (void)pthread_cond_init(&c->ended, NULL);
    c->watch = libvirt_watch_new();
    c->holders = 1;
    c->username = xstrdup(username);
    c->password = xstrdup(password);
    c->identities = identities;
    c->compares = identities != NULL;
    c->n = n;
    for (size_t i = 0; i < n; i++) {
        c->slots[i].name = xstrdup(hosts[i].name);
        c->slots[i].uri = complete_uri(hosts[i].uri);
    }
    return c;
}

struct libvirt_connections *libvirt_connections_hold(struct libvirt_connections *c)
{
    (void)pthread_mutex_lock(&c->lock);
    c->holders++;
    (void)pthread_mutex_unlock(&c->lock);
    return c;
}

void libvirt_connections_close(struct libvirt_connections *c)
{
    (void)pthread_mutex_lock(&c->lock);
    c->closed = true;
    c->identities = NULL;
    for (size_t i = 0; i < c->n; i++)
        end_ssh(&c->slots[i]);
    (void)pthread_mutex_unlock(&c->lock);
    libvirt_connections_release(c);
}

/* Closing asks the host, which may be silent: no caller waits for that. */
static void *free_all(void *arg)
{
    struct libvirt_connections *c = arg;

    for (size_t i = 0; i < c->n; i++) {
        for (size_t k = 0; k < c->slots[i].n_links; k++)
            close_one(c->slots[i].links[k].conn, &c->slots[i].links[k].watched);
        free(c->slots[i].links);
        free(c->slots[i].name);
        free(c->slots[i].uri);
    }
    (void)pthread_mutex_destroy(&c->lock);
    (void)pthread_cond_destroy(&c->ended);
    libvirt_watch_release(c->watch);
    free(c->username);
    free(c->password);
    free(c);
    return NULL;
}

void libvirt_connections_release(struct libvirt_connections *c)
{
    if (!c)
        return;
    (void)pthread_mutex_lock(&c->lock);
    bool last = --c->holders == 0;
    (void)pthread_mutex_unlock(&c->lock);
    if (last && thread_begin(free_all, c) < 0)
        (void)free_all(c);
}
