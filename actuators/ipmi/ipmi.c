/* ipmi.c: the power method IPMI: each call opens a session, sends its commands and closes the session.
 * session.c speaks to the library, answer.c parses. */
#include "ipmi.h"

#include "answer.h"
#include "call_timeout.h"
#include "presence_ping.h"
#include "session.h"
#include "settings.h"

#include "base/clock.h"
#include "base/controller_identity.h"
#include "base/xalloc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Net functions and commands: IPMI 2.0, 22.14, 23.2, 28.2 and 28.3; DCMI 1.5, 6.6.1. */
enum { CHASSIS = 0x00, APP = 0x06, TRANSPORT = 0x0c, GROUP = 0x2c };
enum { STATUS = 0x01, CONTROL = 0x02, POWER_READING = 0x02, DCMI = 0xdc, STATISTICS = 0x01 };
enum { SYSTEM_GUID = 0x37, LAN_PARAMETERS = 0x02, THIS_CHANNEL = 0x0e, MAC_ADDRESS = 5 };
enum control { DOWN = 0x00, UP = 0x01, SOFT = 0x05 };

enum { REPEAT_MS = 500, PAUSE_MS = 250 };

struct power_method {
    const struct power_host *host;
    struct ipmi_settings settings;
};

/* The request of one call. */
struct request {
    const char *aim; /* for sentences: "asked to power on" */
    bool measure;
    struct controller_identity *identity;   /* not NULL: this is asked for */
    const struct controller_identity *only; /* the machine that is meant; NULL: whichever answers */
    enum chassis wanted;                    /* CHASSIS_UNKNOWN: only look */
    enum control control;
    bool sent;       /* the control, by a try whose answer may be lost */
    enum chassis is; /* the result */
    double watts;
};

/* A session in which a request is performed. */
struct talk {
    const struct power_method *method;
    const struct deadline *deadline;
    ipmi_ctx_t ctx;
    bool again; /* another session may succeed */
};

static int command(struct talk *t, uint8_t net_fn, const uint8_t *rq, size_t rq_len,
                   uint8_t rs[IPMI_ANSWER_MAX], struct err *err)
{
    return ipmi_session_command(t->ctx, &t->method->settings, net_fn, rq, rq_len, rs, &t->again, err);
}

static int measure(struct talk *t, struct request *q, struct err *err)
{
    const uint8_t rq[] = {POWER_READING, DCMI, STATISTICS, 0, 0};
    uint8_t rs[IPMI_ANSWER_MAX];
    int n = command(t, GROUP, rq, sizeof rq, rs, err);

    return n < 0 ? n : ipmi_answer_watts(rs, (size_t)n, &q->watts, err);
}

/* A refusal of one of the two commands is an answer, too: the controller does not offer it. */
static bool is_refusal(int code)
{
    return code == -ENOTSUP || code == -EACCES || code == -EPERM || code == -EPROTO;
}

static int identify(struct talk *t, struct controller_identity *ret, struct err *err)
{
    const uint8_t guid_rq[] = {SYSTEM_GUID};
    const uint8_t mac_rq[] = {LAN_PARAMETERS, THIS_CHANNEL, MAC_ADDRESS, 0, 0};
    uint8_t rs[IPMI_ANSWER_MAX];
    struct hardware_uuid uuid;
    struct mac mac;
    int n = command(t, APP, guid_rq, sizeof guid_rq, rs, err);

    *ret = (struct controller_identity){0};
    if (n < 0)
        return n;
    int r = ipmi_answer_guid(rs, (size_t)n, &uuid, err);
    if (r == 0)
        hardware_uuid_print(&uuid, ret->uuid);
    else if (!is_refusal(r))
        return r;
    n = command(t, TRANSPORT, mac_rq, sizeof mac_rq, rs, err);
    if (n < 0)
        return n;
    r = ipmi_answer_mac(rs, (size_t)n, &mac, err);
    if (r == 0 && mac_is_station(&mac))
        (void)snprintf(ret->mark, sizeof ret->mark, "MAC %02x:%02x:%02x:%02x:%02x:%02x",
                       (unsigned)mac.byte[0], (unsigned)mac.byte[1], (unsigned)mac.byte[2],
                       (unsigned)mac.byte[3], (unsigned)mac.byte[4], (unsigned)mac.byte[5]);
    return r < 0 && !is_refusal(r) ? r : 0;
}

/* In the session of the request: its packets are signed with keys that another controller does not have. */
static int compare(struct talk *t, const struct controller_identity *only, struct err *err)
{
    struct controller_identity now;
    int r = identify(t, &now, err);

    return r < 0 ? r : controller_identity_same(only, &now, err);
}

static int look(struct talk *t, struct request *q, struct err *err)
{
    const uint8_t rq[] = {STATUS};
    uint8_t rs[IPMI_ANSWER_MAX];
    int n = command(t, CHASSIS, rq, sizeof rq, rs, err);

    return n < 0 ? n : ipmi_answer_chassis(rs, (size_t)n, &q->is, err);
}

static int perform_request(struct talk *t, struct request *q, struct err *err)
{
    if (q->measure)
        return measure(t, q, err);
    if (q->identity)
        return identify(t, q->identity, err);
    int r = q->only ? compare(t, q->only, err) : 0;
    if (r == 0)
        r = look(t, q, err);
    if (r < 0 || q->wanted == CHASSIS_UNKNOWN || q->is == q->wanted)
        return r;
    if (call_timeout_left_ms(t->deadline) == 0 || call_timeout_stopped(t->deadline))
        return err_set(err, -ETIMEDOUT, "there was no time left to ask for it");
    const uint8_t rq[] = {CONTROL, (uint8_t)q->control};
    uint8_t rs[IPMI_ANSWER_MAX];
    q->sent = true;
    int n = command(t, CHASSIS, rq, sizeof rq, rs, err);
    return n < 0 ? n : ipmi_answer_done(rs, (size_t)n, CONTROL, err);
}

/* A message is repeated only when its answer is overdue, and a session is given up early enough to try
 * another. */
static struct ipmi_pace pace_for(const struct power_method *m, const struct ipmi_peer *peer)
{
    unsigned repeat = REPEAT_MS + 2 * (unsigned)peer->answer_ms, fifth = m->host->timeout_s * 1000 / 5;

    return (struct ipmi_pace){.repeat_ms = repeat, .give_up_ms = fifth > 3 * repeat ? fifth : 3 * repeat};
}

static int in_a_session(struct talk *t, const struct ipmi_peer *peer, struct request *q, struct err *err)
{
    const struct power_method *m = t->method;
    struct call_timeout watch;
    int why;

    if (call_timeout_begin(&watch, t->deadline) < 0)
        return err_set(err, -EAGAIN, "no thread can be had to watch over it");
    int r = ipmi_session_open(&m->settings, peer, pace_for(m, peer), &t->ctx, &t->again, err);
    if (r == 0)
        r = perform_request(t, q, err);
    else if (r == -EPROTO && (why = ipmi_session_why(&m->settings, t->deadline, err)) < 0) {
        r = why;
        t->again = false;
    }
    if (r == -EBUSY && !q->measure) /* a measurement is repeated at its next period anyway */
        t->again = true;
    ipmi_session_close(t->ctx);
    if (call_timeout_end(&watch) && r < 0) {
        t->again = false;
        r = call_timeout_stopped(t->deadline)
                ? err_set(err, -ECANCELED, "the service is going down")
                : err_set(err, -ETIMEDOUT, "it answers, but was not through in %u s", m->host->timeout_s);
    }
    return r;
}

/* Repeats the request until it succeeds, fails for good, or time is up. */
static int obey(struct power_method *m, struct request *q, struct err *err)
{
    const struct deadline d = {.at_ms = clock_monotonic_ms() + (int64_t)m->host->timeout_s * 1000,
                               .stop = m->host->stop};
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
    struct ipmi_peer peer;
    struct err last = {0};
    int r;

    for (bool again = true; again;) {
        struct talk talk = {.method = m, .deadline = &d};
        struct err now = {0};
        r = ipmi_presence_ping(&m->settings, &d, &peer, &now);
        if (r == 0)
            r = in_a_session(&talk, &peer, q, &now);
        if (r < 0 &&
            !(last.code && r == -ETIMEDOUT)) /* the error before a timeout says more than the timeout */
            last = now;
        again = r < 0 && talk.again && call_timeout_left_ms(&d) > PAUSE_MS && !call_timeout_stopped(&d);
        if (again)
            (void)nanosleep(&pause, NULL);
    }
    if (r == 0)
        return 0;
    (void)err_set(err, last.code, "%s", last.text);
    return err_widen(err, "host %s: IPMI at %s, %s", m->host->name, m->host->ipmi.address, q->aim);
}

static void ipmi_destroy(struct power_method *m)
{
    if (!m)
        return;
    ipmi_settings_forget(&m->settings);
    free(m);
}

static int ipmi_create(const struct power_host *host, struct power_method **ret, struct err *err)
{
    struct power_method *m = xcalloc(1, sizeof *m);

    m->host = host;
    int r = ipmi_settings_read(host, &m->settings, err);
    if (r == 0 && host->timeout_s == 0)
        r = err_set(err, -EINVAL, "host %s: IPMI: the timeout must be one second at least", host->name);
    if (r == 0)
        r = ipmi_set_up(err);
    if (r < 0) {
        ipmi_destroy(m);
        return r;
    }
    *ret = m;
    return 0;
}

static int ipmi_chassis(struct power_method *m, enum chassis *ret, struct err *err)
{
    struct request q = {.aim = "asked for the chassis", .wanted = CHASSIS_UNKNOWN};
    int r = obey(m, &q, err);

    if (r == 0)
        *ret = q.is;
    return r;
}

static int ipmi_wake(struct power_method *m, struct err *err)
{
    struct request q = {.aim = "asked to power on", .wanted = CHASSIS_ON, .control = UP};
    int r = obey(m, &q, err);

    return r < 0 || q.sent ? r
                           : err_set(err, -ESTALE, "host %s: IPMI at %s says that the host is on already",
                                     m->host->name, m->host->ipmi.address);
}

static int ipmi_shut_down(struct power_method *m, const struct controller_identity *only, struct err *err)
{
    struct request q = {
        .aim = "asked for a soft shutdown", .only = only, .wanted = CHASSIS_OFF, .control = SOFT};

    return obey(m, &q, err);
}

static int ipmi_cut(struct power_method *m, const struct controller_identity *only, struct err *err)
{
    struct request q = {
        .aim = "asked to cut the power", .only = only, .wanted = CHASSIS_OFF, .control = DOWN};

    if (!m->host->hard_off)
        return err_set(err, -EPERM, "host %s: its power is not cut: hard_off is not allowed", m->host->name);
    return obey(m, &q, err);
}

static int ipmi_watts(struct power_method *m, double *ret, struct err *err)
{
    struct request q = {.aim = "asked for the power drawn (DCMI)", .measure = true};
    int r = obey(m, &q, err);

    if (r == 0)
        *ret = q.watts;
    return r;
}

static int ipmi_identify(struct power_method *m, struct controller_identity *ret, struct err *err)
{
    struct request q = {.aim = "asked which machine it belongs to", .identity = ret};

    return obey(m, &q, err);
}

const struct power_method_ops ipmi_method = {
    .kind = POWER_IPMI,
    .can = POWER_CAN_WAKE | POWER_CAN_SHUT_DOWN | POWER_CAN_CUT | POWER_CAN_TELL | POWER_CAN_MEASURE |
           POWER_CAN_IDENTIFY,
    .create = ipmi_create,
    .chassis = ipmi_chassis,
    .wake = ipmi_wake,
    .shut_down = ipmi_shut_down,
    .cut = ipmi_cut,
    .watts = ipmi_watts,
    .identify = ipmi_identify,
    .destroy = ipmi_destroy,
};
