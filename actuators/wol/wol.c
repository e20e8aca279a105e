/* wol.c: the power method Wake-on-LAN: sends the packet directly or by a relay. It can only wake. */
#include "actuators/wol/wol.h"

#include "actuators/wol/network.h"
#include "actuators/wol/relay.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "net/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define PORT_DISCARD 9u
#define TIMEOUT_DEFAULT_S 30u
#define TIMES 3
#define GAP_MS 50
#define ETHERTYPE 0x0842

struct power_method {
    const struct power_host *host;
    struct magic magic;
    struct remote_address relay; /* where host->wol.relay is given */
    bool raw;
    bool udp;
    char address[INET_ADDRSTRLEN]; /* of UDP */
    unsigned port;
};

/* interface given: raw frames. broadcast given: UDP. Both: both. Neither: UDP to 255.255.255.255. */
static int read_config(const struct power_host *host, struct power_method *m, struct err *err)
{
    int r = packet_build(host->wol.mac, host->wol.secureon, &m->magic, err);

    m->host = host;
    m->raw = host->wol.interface != NULL;
    m->udp = host->wol.broadcast || !m->raw;
    m->port = host->wol.port ? host->wol.port : PORT_DISCARD;
    if (r == 0 && m->port > UINT16_MAX)
        r = err_set(err, -EINVAL, "port is larger than 65535");
    if (r == 0 && host->wol.interface && !remote_address_is_interface(host->wol.interface))
        r = err_set(err, -EINVAL, "interface is not the name of one");
    if (r == 0)
        r = wol_address(host, m->address, err);
    if (r == 0 && host->wol.relay && remote_address_parse(host->wol.relay, &m->relay) < 0)
        r = err_set(err, -EINVAL, "relay is not USER@HOST or USER@HOST:PORT");
    if (r == 0 && host->wol.relay_key && !host->wol.relay)
        r = err_set(err, -EINVAL, "relay_key is given, and no relay");
    return r;
}

static int outcome(const struct power_host *host, int r, struct err *err)
{
    if (r < 0)
        (void)err_widen(err, "host %s: Wake-on-LAN", host->name);
    return r;
}

static int method_create(const struct power_host *host, struct power_method **ret, struct err *err)
{
    struct power_method *m = xcalloc(1, sizeof *m);
    int r = read_config(host, m, err);

    if (r < 0) {
        free(m);
        return outcome(host, r, err);
    }
    *ret = m;
    return 0;
}

static void method_destroy(struct power_method *m)
{
    if (m)
        explicit_bzero(&m->magic, sizeof m->magic); /* SecureOn */
    free(m);
}

/* ---- out of this machine ---- */

static void pause_ms(long ms)
{
    const struct timespec t = {.tv_nsec = ms * 1000000L};

    (void)nanosleep(&t, NULL);
}

/* Several times, because no host answers and one may get lost. 0: at least one was sent. */
static int send_some(int fd, const struct magic *m, const void *to, size_t to_len)
{
    int r = -EIO;

    for (int i = 0; i < TIMES; i++) {
        if (i > 0)
            pause_ms(GAP_MS);
        ssize_t n = sendto(fd, m->byte, m->len, MSG_NOSIGNAL, to, (socklen_t)to_len);
        if (n == (ssize_t)m->len)
            r = 0;
        else if (r < 0)
            r = n < 0 ? -errno : -EIO;
    }
    return r;
}

/* To an IPv4 address, by this interface or, with NULL, by the routes. */
static int send_udp(const struct magic *m, const char *address, unsigned port, const char *interface,
                    struct err *err)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    const int on = 1;

    if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
        return err_set(err, -EINVAL, "%s is not an IPv4 address", address);
    CLEANUP(closep) int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof on) < 0)
        return err_set(err, -errno, "no socket for UDP broadcasts: %s", strerrordesc_np(errno));
    if (interface &&
        setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface, (socklen_t)strlen(interface) + 1) < 0)
        return err_set(err, -errno, "the interface %s cannot be used: %s", interface, strerrordesc_np(errno));
    int r = send_some(fd, m, &to, sizeof to);
    if (r == -ENETUNREACH)
        return err_set(
            err, r,
            "no route leads to %s: set `broadcast` to the broadcast address of the host's network, or "
            "`interface`",
            address);
    return r < 0 ? err_set(err, r, "the packet to %s port %u was not sent: %s", address, port,
                           strerrordesc_np(-r))
                 : 0;
}

/* To all on the interface's segment. -EACCES: the service lacks CAP_NET_RAW. */
static int send_raw(const struct magic *m, const char *interface, struct err *err)
{
    struct sockaddr_ll to = {.sll_family = AF_PACKET,
                             .sll_protocol = htons(ETHERTYPE),
                             .sll_halen = MAC_SIZE,
                             .sll_ifindex = (int)if_nametoindex(interface)};

    if (to.sll_ifindex == 0)
        return err_set(err, -ENODEV, "there is no interface %s", interface);
    memset(to.sll_addr, 0xff, MAC_SIZE);
    /* SOCK_DGRAM: the kernel adds the frame's header. Protocol 0: the socket receives no frames. */
    CLEANUP(closep) int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 && (errno == EPERM || errno == EACCES || errno == EAFNOSUPPORT)) /* the last: by systemd */
        return err_set(
            err, -EACCES,
            "the service may not send raw frames: give it CAP_NET_RAW, or set `broadcast` instead of "
            "`interface`");
    if (fd < 0)
        return err_set(err, -errno, "no socket for raw frames: %s", strerrordesc_np(errno));
    int r = send_some(fd, m, &to, sizeof to);
    return r < 0 ? err_set(err, r, "the frame was not sent on %s: %s", interface, strerrordesc_np(-r)) : 0;
}

/* ---- the method ---- */

static int send_one(struct power_method *m, bool raw, int64_t deadline_ms, struct err *err)
{
    const char *interface = m->host->wol.interface;
    const struct relay_errand errand = {.relay = &m->relay,
                                        .key_file = m->host->wol.relay_key,
                                        .address = raw ? NULL : m->address,
                                        .port = m->port,
                                        .interface = interface,
                                        .deadline_ms = deadline_ms,
                                        .stop = m->host->stop};

    if (m->host->wol.relay)
        return relay_send(&errand, &m->magic, err);
    return raw ? send_raw(&m->magic, interface, err)
               : send_udp(&m->magic, m->address, m->port, interface, err);
}

/* Where both kinds are configured, one success is enough; the other's fault goes to the log.
 */
static int method_wake(struct power_method *m, struct err *err)
{
    unsigned timeout_s = m->host->timeout_s ? m->host->timeout_s : TIMEOUT_DEFAULT_S;
    int64_t deadline_ms = net_now_ms() + 1000 * (int64_t)timeout_s;
    struct err raw_err = {0}, udp_err = {0};
    int raw = m->raw ? outcome(m->host, send_one(m, true, deadline_ms, &raw_err), &raw_err) : 0;
    int udp = m->udp ? outcome(m->host, send_one(m, false, deadline_ms, &udp_err), &udp_err) : 0;
    bool sent = (m->raw && raw == 0) || (m->udp && udp == 0);
    const struct err *worst = raw < 0 ? &raw_err : &udp_err;

    if (raw < 0 || udp < 0) {
        if (sent)
            log_warning("%s; the other kind of packet was sent", worst->text);
        else
            return err_set(err, worst->code, "%s", worst->text);
    }
    return 0;
}

const struct power_method_ops wol_method = {
    .kind = POWER_WOL,
    .can = POWER_CAN_WAKE,
    .create = method_create,
    .wake = method_wake,
    .destroy = method_destroy,
};
