/* send.c: sends the packet from this machine. It cannot learn whether a host has heard it. */
#include "actuators/wol/send.h"

#include "base/cleanup.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

static void pause_ms(long ms)
{
    const struct timespec t = {.tv_nsec = ms * 1000000L};

    (void)nanosleep(&t, NULL);
}

/* 0: at least one was sent. */
static int send_some(int fd, const struct magic *m, const void *to, size_t to_len)
{
    int r = -EIO;

    for (int i = 0; i < WOL_TIMES; i++) {
        if (i > 0)
            pause_ms(WOL_GAP_MS);
        ssize_t n = sendto(fd, m->byte, m->len, MSG_NOSIGNAL, to, (socklen_t)to_len);
        if (n == (ssize_t)m->len)
            r = 0;
        else if (r < 0)
            r = n < 0 ? -errno : -EIO;
    }
    return r;
}

int wol_send_udp(const struct magic *m, const char *address, unsigned port, const char *interface,
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

int wol_send_raw(const struct magic *m, const char *interface, struct err *err)
{
    struct sockaddr_ll to = {.sll_family = AF_PACKET,
                             .sll_protocol = htons(WOL_ETHERTYPE),
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
