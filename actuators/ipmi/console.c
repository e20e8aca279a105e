/* console.c: reads a host's serial console over serial-over-LAN. It decides neither when to read nor how
 * to show the text. */
#include "console.h"

#include "base/clock.h"
#include "base/ipmi_workaround.h"
#include "base/xalloc.h"
#include "resolve.h"
#include "session.h"
#include "settings.h"

#include <errno.h>
#include <fcntl.h>
#include <ipmiconsole.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FLAG(name) IPMICONSOLE_WORKAROUND_##name

static const unsigned flags[IPMI_WORKAROUND_COUNT] = {
    [IPMI_WORKAROUND_authcap] = FLAG(AUTHENTICATION_CAPABILITIES),
    [IPMI_WORKAROUND_intel20] = FLAG(INTEL_2_0_SESSION),
    [IPMI_WORKAROUND_supermicro20] = FLAG(SUPERMICRO_2_0_SESSION),
    [IPMI_WORKAROUND_sun20] = FLAG(SUN_2_0_SESSION),
    [IPMI_WORKAROUND_opensesspriv] = FLAG(OPEN_SESSION_PRIVILEGE),
    [IPMI_WORKAROUND_integritycheckvalue] = FLAG(NON_EMPTY_INTEGRITY_CHECK_VALUE),
    [IPMI_WORKAROUND_nochecksumcheck] = FLAG(NO_CHECKSUM_CHECK),
    [IPMI_WORKAROUND_serialalertsdeferred] = FLAG(SERIAL_ALERTS_DEFERRED),
    [IPMI_WORKAROUND_solpacketseq] = FLAG(INCREMENT_SOL_PACKET_SEQUENCE),
    [IPMI_WORKAROUND_solpayloadsize] = FLAG(IGNORE_SOL_PAYLOAD_SIZE),
    [IPMI_WORKAROUND_solport] = FLAG(IGNORE_SOL_PORT),
    [IPMI_WORKAROUND_solstatus] = FLAG(SKIP_SOL_ACTIVATION_STATUS),
    [IPMI_WORKAROUND_solchannelsupport] = FLAG(SKIP_CHANNEL_PAYLOAD_SUPPORT),
};

static const int privileges[] = {[IPMI_USER] = IPMICONSOLE_PRIVILEGE_USER,
                                 [IPMI_OPERATOR] = IPMICONSOLE_PRIVILEGE_OPERATOR,
                                 [IPMI_ADMIN] = IPMICONSOLE_PRIVILEGE_ADMIN};

enum { LOOK_UP_MS = 2000, SESSION_MS = 20000, REPEAT_MS = 500, KEEP_ALIVE_MS = 5000, PARTING_MS = 700 };

#define PORT_MAX 32767 /* of libipmiconsole 1.6.10, which keeps it in 16 bits with a sign */

struct console {
    ipmiconsole_ctx_t ctx;
    int fd;
    char *name; /* of the host */
};

/* The library has one engine for the process, with threads of its own: the only state here that belongs to
 * no single console. */
static pthread_mutex_t engine_lock = PTHREAD_MUTEX_INITIALIZER;
static bool engine_runs;
static int64_t last_close_ms;

static int start_engine(struct err *err)
{
    sigset_t all, before;
    int r = 0;

    (void)pthread_mutex_lock(&engine_lock);
    if (!engine_runs) {
        (void)sigfillset(&all); /* signals are for the process's other threads */
        (void)pthread_sigmask(SIG_SETMASK, &all, &before);
        r = ipmiconsole_engine_init(1, 0);
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
        engine_runs = r == 0;
    }
    (void)pthread_mutex_unlock(&engine_lock);
    return r < 0 ? err_set(err, -ENOSYS, "libipmiconsole does not start") : 0;
}

/* The library's error codes, and what they mean to an admin. */
static const struct {
    int errnum;
    const char *says;
} meanings[] = {
    {IPMICONSOLE_ERR_SUCCESS, "it has ended"},
    {IPMICONSOLE_ERR_CIPHER_SUITE_ID_UNAVAILABLE, "the controller does not offer that cipher suite"},
    {IPMICONSOLE_ERR_IPMI_2_0_UNAVAILABLE, "the controller does not speak IPMI 2.0"},
    {IPMICONSOLE_ERR_USERNAME_INVALID, "there is no such user"},
    {IPMICONSOLE_ERR_PASSWORD_INVALID, "the password is wrong"},
    {IPMICONSOLE_ERR_K_G_INVALID, "the key K_g is wrong, missing, or not wanted"},
    {IPMICONSOLE_ERR_PRIVILEGE_LEVEL_INSUFFICIENT, "the privilege is too low for the console"},
    {IPMICONSOLE_ERR_PRIVILEGE_LEVEL_CANNOT_BE_OBTAINED,
     "the user cannot have that privilege, or the controller needs the workaround opensesspriv"},
    {IPMICONSOLE_ERR_SOL_UNAVAILABLE, "the controller offers no serial-over-LAN, or it is switched off"},
    {IPMICONSOLE_ERR_SOL_INUSE, "somebody else has the console"},
    {IPMICONSOLE_ERR_SOL_STOLEN, "somebody else has taken the console"},
    {IPMICONSOLE_ERR_BMC_BUSY, "the controller is busy, or has no session left"},
    {IPMICONSOLE_ERR_CONNECTION_TIMEOUT, "the controller does not answer"},
    {IPMICONSOLE_ERR_SESSION_TIMEOUT, "the controller fell silent"},
    {IPMICONSOLE_ERR_EXCESS_RETRANSMISSIONS_SENT, "the controller fell silent"},
    {IPMICONSOLE_ERR_EXCESS_ERRORS_RECEIVED, "the controller answers in garbage"},
};

static const char *meaning_of(int errnum)
{
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (meanings[i].errnum == errnum)
            return meanings[i].says;
    }
    return ipmiconsole_ctx_strerror(errnum);
}

static bool is_refused_login(int errnum)
{
    return errnum == IPMICONSOLE_ERR_PASSWORD_INVALID || errnum == IPMICONSOLE_ERR_USERNAME_INVALID ||
           errnum == IPMICONSOLE_ERR_K_G_INVALID || errnum == IPMICONSOLE_ERR_PRIVILEGE_LEVEL_INSUFFICIENT ||
           errnum == IPMICONSOLE_ERR_PRIVILEGE_LEVEL_CANNOT_BE_OBTAINED;
}

static ipmiconsole_ctx_t create(struct ipmi_settings *s, const char *address)
{
    unsigned wanted = 0;

    for (unsigned i = 0; i < IPMI_WORKAROUND_COUNT; i++)
        wanted |= s->workarounds & 1u << i ? flags[i] : 0;
    struct ipmiconsole_ipmi_config ipmi = {.username = s->username,
                                           .password = s->password,
                                           .k_g = s->k_g_len ? s->k_g : NULL,
                                           .k_g_len = s->k_g_len,
                                           .privilege_level = privileges[s->privilege],
                                           .cipher_suite_id = (int)s->cipher_suite,
                                           .workaround_flags = wanted};
    struct ipmiconsole_protocol_config protocol = {.session_timeout_len = SESSION_MS,
                                                   .retransmission_timeout_len = REPEAT_MS,
                                                   .keepalive_timeout_len = KEEP_ALIVE_MS};
    /* Does not take the console from an admin who uses it. */
    struct ipmiconsole_engine_config engine = {.behavior_flags = IPMICONSOLE_BEHAVIOR_ERROR_ON_SOL_INUSE};

    return ipmiconsole_ctx_create(address, &ipmi, &protocol, &engine);
}

/* The library itself resolves names without a time limit. */
static int find_address(const struct ipmi_settings *s, char to[IPMI_PEER_MAX], struct err *err)
{
    if (strtoul(s->port, NULL, 10) > PORT_MAX)
        return err_set(err, -EINVAL, "libipmiconsole takes ports up to %d", PORT_MAX);
    const struct deadline d = {.at_ms = clock_monotonic_ms() + LOOK_UP_MS};
    struct sockaddr_storage at;
    socklen_t len = 0;
    int r = ipmi_resolve(s->host, s->port, &d, &at, &len, err);

    return r < 0 ? r : ipmi_address_write(&at, len, to, err);
}

static int submit(struct ipmi_settings *s, struct console *c, struct err *err)
{
    char address[IPMI_PEER_MAX];
    int r = find_address(s, address, err);

    if (r == 0)
        r = start_engine(err);
    if (r < 0)
        return r;
    c->ctx = create(s, address);
    if (!c->ctx)
        return err_set(err, -errno, "libipmiconsole does not take these settings: %s",
                       strerrordesc_np(errno));
    if (ipmiconsole_engine_submit(c->ctx, NULL, NULL) < 0 || (c->fd = ipmiconsole_ctx_fd(c->ctx)) < 0)
        return err_set(err, -EIO, "%s", meaning_of(ipmiconsole_ctx_errnum(c->ctx)));
    (void)fcntl(c->fd, F_SETFL, O_NONBLOCK);
    (void)fcntl(c->fd, F_SETFD, FD_CLOEXEC);
    return 0;
}

int console_open(const struct power_host *host, struct console **ret, struct err *err)
{
    struct ipmi_settings s;

    if (!host->ipmi.address || !host->ipmi.console)
        return err_set(err, -ENOTSUP, "host %s: its console is not captured", host->name);
    int r = ipmi_settings_read(host, &s, err);
    if (r == 0)
        r = ipmi_set_up(err);
    if (r < 0)
        return r;
    struct console *c = xcalloc(1, sizeof *c);
    *c = (struct console){.fd = -1, .name = xstrdup(host->name)};
    r = submit(&s, c, err);
    ipmi_settings_forget(&s);
    if (r < 0) {
        console_close(c);
        return err_widen(err, "host %s: the console at %s", host->name, host->ipmi.address);
    }
    *ret = c;
    return 0;
}

int console_fd(const struct console *c)
{
    return c->fd;
}

ssize_t console_read(struct console *c, void *buf, size_t n, struct err *err)
{
    ssize_t r = read(c->fd, buf, n);

    if (r > 0)
        return r;
    if (r < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    const int errnum = ipmiconsole_ctx_errnum(c->ctx);

    return err_set(err, is_refused_login(errnum) ? -EACCES : -EPIPE, "host %s: its console: %s", c->name,
                   meaning_of(errnum));
}

void console_close(struct console *c)
{
    if (!c)
        return;
    if (c->fd >= 0)
        (void)close(c->fd); /* the engine then ends the session */
    (void)pthread_mutex_lock(&engine_lock);
    last_close_ms = clock_monotonic_ms();
    (void)pthread_mutex_unlock(&engine_lock);
    if (c->ctx)
        ipmiconsole_ctx_destroy(c->ctx);
    free(c->name);
    free(c);
}

/* The library would wait until every controller has confirmed the end: 20 s for one that does not answer. */
void console_shutdown(void)
{
    (void)pthread_mutex_lock(&engine_lock);
    if (engine_runs) {
        int64_t left = last_close_ms + PARTING_MS - clock_monotonic_ms();
        const struct timespec wait = {.tv_nsec = (left > 0 ? left : 0) * 1000000L};
        (void)nanosleep(&wait, NULL);
        ipmiconsole_engine_teardown(0);
    }
    engine_runs = false;
    (void)pthread_mutex_unlock(&engine_lock);
}
