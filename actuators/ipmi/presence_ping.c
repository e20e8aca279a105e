/* presence_ping.c: asks a controller for its presence and why it refuses a session, with packets outside
 * of sessions. It opens no session. */
#include "presence_ping.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/ipmi_workaround.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#define PACE_MS 500
#define LOOK_MS 100
#define REFUSALS 3 /* a controller that restarts refuses for a moment */

struct ping {
    const struct deadline *deadline;
    int fd;
    bool any_sum;
    int64_t sent_ms[64]; /* by seq */
    unsigned n_sent, refused, garbage;
    struct err why; /* of the last packet that was garbage */
};

static int connect_to(const struct ipmi_settings *s, const struct deadline *d, int *ret_fd,
                      struct ipmi_peer *ret, struct err *err)
{
    struct sockaddr_storage to;
    socklen_t len = 0;
    int r = ipmi_resolve(s->host, s->port, d, &to, &len, err);

    if (r < 0)
        return r;
    CLEANUP(closep) int fd = socket(to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, len) < 0)
        return err_set(err, -errno, "no packet can be sent there: %s", strerrordesc_np(errno));
    if ((r = ipmi_address_write(&to, len, ret->address, err)) < 0)
        return r;
    *ret_fd = fd;
    fd = -1;
    return 0;
}

/* -EAGAIN: nothing of use yet. */
static int look_at(struct ping *g, const uint8_t *packet, size_t n, struct ipmi_peer *ret)
{
    struct ipmi_ping says;

    if (ipmi_ping_read(packet, n, g->any_sum, &says, &g->why) < 0 || says.seq >= g->n_sent) {
        g->garbage++;
        return -EAGAIN;
    }
    ret->says = says;
    ret->answer_ms = clock_monotonic_ms() - g->sent_ms[says.seq];
    return 0;
}

/* The kernel reports an earlier packet's refusal with the next send or receive.
 */
static int trouble(struct ping *g, int code)
{
    if (code == EAGAIN || code == EINTR)
        return -EAGAIN;
    return ++g->refused >= REFUSALS ? -code : -EAGAIN;
}

static int say(struct ping *g, const uint8_t packet[IPMI_PING_LEN])
{
    return send(g->fd, packet, IPMI_PING_LEN, 0) < 0 ? trouble(g, errno) : -EAGAIN;
}

/* Waits until `until_ms` for an answer. */
static int hear(struct ping *g, int64_t until_ms, struct ipmi_peer *ret)
{
    uint8_t packet[1024];
    int64_t left;

    while ((left = until_ms - clock_monotonic_ms()) > 0 && !call_timeout_stopped(g->deadline)) {
        struct pollfd p = {.fd = g->fd, .events = POLLIN};
        if (poll(&p, 1, (int)(left < LOOK_MS ? left : LOOK_MS)) <= 0)
            continue;
        ssize_t n = recv(g->fd, packet, sizeof packet, 0);
        if (n >= 0 && look_at(g, packet, (size_t)n, ret) == 0)
            return 0;
        int r = n < 0 ? trouble(g, errno) : -EAGAIN;
        if (r != -EAGAIN)
            return r;
    }
    return -EAGAIN;
}

static int failure(const struct ping *g, int r, struct err *err)
{
    if (call_timeout_stopped(g->deadline))
        return err_set(err, -ECANCELED, "the service is going down");
    if (r == -ECONNREFUSED)
        return err_set(err, r, "nothing listens there: is IPMI over LAN switched on?");
    if (r != -EAGAIN)
        return err_set(err, r, "it cannot be reached: %s", strerrordesc_np(-r));
    if (g->garbage)
        return err_set(err, -EPROTO, "it answers, but not in IPMI (%u packets; the last one: %s)", g->garbage,
                       g->why.text[0] ? g->why.text : "it answers what was not asked");
    return err_set(err, -ETIMEDOUT, "it does not answer");
}

int ipmi_presence_ping(const struct ipmi_settings *s, const struct deadline *d, struct ipmi_peer *ret,
                       struct err *err)
{
    struct ping g = {
        .deadline = d, .fd = -1, .any_sum = s->workarounds & 1u << IPMI_WORKAROUND_nochecksumcheck};
    struct ipmi_peer peer = {.answer_ms = 0};
    CLEANUP(closep) int fd = -1;
    int r = connect_to(s, d, &fd, &peer, err);

    if (r < 0)
        return r;
    g.fd = fd;
    for (r = -EAGAIN; r == -EAGAIN && call_timeout_left_ms(d) > 0 && !call_timeout_stopped(d);) {
        uint8_t packet[IPMI_PING_LEN];
        int64_t now = clock_monotonic_ms(), until = now + PACE_MS;
        if (g.n_sent < sizeof g.sent_ms / sizeof g.sent_ms[0]) { /* else the controller does not answer, and
                                                                    the deadline ends the loop */
            ipmi_ping_write((uint8_t)g.n_sent, packet);
            g.sent_ms[g.n_sent++] = now;
            r = say(&g, packet);
        }
        if (r == -EAGAIN)
            r = hear(&g, until < d->at_ms ? until : d->at_ms, &peer);
    }
    if (r < 0)
        return failure(&g, r, err);
    *ret = peer;
    return 0;
}

int ipmi_ask_why(const struct ipmi_settings *s, const uint8_t algorithms[3], const struct deadline *d,
                 struct err *err)
{
    enum { TRIES = 3 };
    uint8_t packet[IPMI_OPENING_LEN], answer[1024];
    struct ipmi_peer peer;
    CLEANUP(closep) int fd = -1;

    if (connect_to(s, d, &fd, &peer, NULL) < 0)
        return 0;
    for (uint8_t tag = 0; tag < TRIES && call_timeout_left_ms(d) > 0; tag++) {
        int64_t until = clock_monotonic_ms() + PACE_MS, left;
        ipmi_opening_write(tag, algorithms, packet);
        (void)send(fd, packet, sizeof packet, 0);
        while ((left = until - clock_monotonic_ms()) > 0 && call_timeout_left_ms(d) > 0 &&
               !call_timeout_stopped(d)) {
            struct pollfd p = {.fd = fd, .events = POLLIN};
            if (poll(&p, 1, (int)(left < LOOK_MS ? left : LOOK_MS)) <= 0)
                continue;
            ssize_t n = recv(fd, answer, sizeof answer, 0);
            int r = n < 0 ? -EAGAIN : ipmi_opening_read(answer, (size_t)n, tag, err);
            if (r != -EAGAIN)
                return r;
        }
    }
    return 0;
}
