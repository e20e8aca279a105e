/* broker.c: one connection to an MQTT broker with libmosquitto. Reconnecting is daemon/mqtt/mqtt_thread.c's.
 */
#include "mqtt/broker.h"

#include "base/clock.h"
#include "base/xalloc.h"
#include "mqtt/command.h"

#include <errno.h>
#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <netdb.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEEPALIVE_S 15
#define PACKETS_A_STEP 64
#define REASON_REFUSED 128
#define VERIFY_NONE 0 /* SSL_VERIFY_NONE */
#define SYSTEM_CA_DIR "/etc/ssl/certs"

struct broker {
    struct mosquitto *mosq;
    const struct broker_options *options;
    struct broker_handlers handlers;
    void *ctx;
    time_t began; /* CLOCK_MONOTONIC */
    bool up;
    int refused; /* reason code of CONNACK or DISCONNECT; 0: none */
    bool gone;
    char detail[160]; /* the library's last message */
};

const char *broker_reason(int reason)
{
    return mosquitto_reason_string(reason);
}

/* ---- what the library calls ------------------------------------------------------------------ */

static void on_connect(struct mosquitto *m, void *obj, int reason, int flags, const mosquitto_property *props)
{
    struct broker *b = obj;

    (void)m, (void)flags, (void)props;
    if (reason != 0) {
        b->refused = reason;
        return;
    }
    b->up = true;
    b->handlers.connected(b->ctx);
}

static void on_disconnect(struct mosquitto *m, void *obj, int reason, const mosquitto_property *props)
{
    struct broker *b = obj;

    (void)m, (void)props;
    b->gone = true;
    if (reason >= REASON_REFUSED && b->refused == 0)
        b->refused = reason;
}

static void on_publish(struct mosquitto *m, void *obj, int mid, int reason, const mosquitto_property *props)
{
    struct broker *b = obj;

    (void)m, (void)props;
    b->handlers.answered(b->ctx, mid, reason);
}

static void on_subscribe(struct mosquitto *m, void *obj, int mid, int n, const int *reasons,
                         const mosquitto_property *props)
{
    struct broker *b = obj;
    int worst = 0;

    (void)m, (void)mid, (void)props;
    for (int i = 0; i < n; i++)
        worst = reasons[i] > worst ? reasons[i] : worst;
    if (b->handlers.subscribed)
        b->handlers.subscribed(b->ctx, worst);
}

static void on_message(struct mosquitto *m, void *obj, const struct mosquitto_message *in,
                       const mosquitto_property *props)
{
    struct broker *b = obj;
    char *response_topic = NULL;
    void *correlation = NULL;
    uint16_t len = 0;

    (void)m;
    if (!b->handlers.received || !in->topic || in->payloadlen < 0)
        return;
    (void)mosquitto_property_read_string(props, MQTT_PROP_RESPONSE_TOPIC, &response_topic, false);
    (void)mosquitto_property_read_binary(props, MQTT_PROP_CORRELATION_DATA, &correlation, &len, false);
    const struct command_message message = {.topic = in->topic,
                                            .payload = in->payload,
                                            .len = in->payload ? (size_t)in->payloadlen : 0,
                                            .retained = in->retain,
                                            .response_topic = response_topic,
                                            .correlation = correlation,
                                            .correlation_len = correlation ? len : 0};

    b->handlers.received(b->ctx, &message);
    free(response_topic);
    free(correlation);
}

/* The only place where libmosquitto reports why TLS failed. */
static void on_log(struct mosquitto *m, void *obj, int level, const char *text)
{
    struct broker *b = obj;

    (void)m;
    if (level == MOSQ_LOG_ERR)
        (void)snprintf(b->detail, sizeof b->detail, "%s", text);
}

/* ---- beginning ------------------------------------------------------------------------------- */

static int set_up_tls(struct broker *b)
{
    const struct broker_options *o = b->options;
    int rc;

    if (o->ca_file || o->cert_file)
        rc = mosquitto_tls_set(b->mosq, o->ca_file, o->ca_file ? NULL : SYSTEM_CA_DIR, o->cert_file,
                               o->key_file, NULL);
    else
        rc = mosquitto_int_option(b->mosq, MOSQ_OPT_TLS_USE_OS_CERTS, 1);
    if (rc == MOSQ_ERR_SUCCESS && !o->tls_verify &&
        (rc = mosquitto_tls_opts_set(b->mosq, VERIFY_NONE, NULL, NULL)) == MOSQ_ERR_SUCCESS)
        rc = mosquitto_tls_insecure_set(b->mosq, true);
    return rc;
}

static int set_up(struct broker *b, struct err *err)
{
    const struct broker_options *o = b->options;
    static const char will[] = "offline";
    int rc;

    mosquitto_connect_v5_callback_set(b->mosq, on_connect);
    mosquitto_disconnect_v5_callback_set(b->mosq, on_disconnect);
    mosquitto_publish_v5_callback_set(b->mosq, on_publish);
    mosquitto_subscribe_v5_callback_set(b->mosq, on_subscribe);
    mosquitto_message_v5_callback_set(b->mosq, on_message);
    mosquitto_log_callback_set(b->mosq, on_log);
    if ((rc = mosquitto_int_option(b->mosq, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5)) != 0 ||
        (rc = mosquitto_int_option(b->mosq, MOSQ_OPT_TCP_NODELAY, 1)) != 0 ||
        (o->online_topic && (rc = mosquitto_will_set_v5(b->mosq, o->online_topic, (int)strlen(will), will, 1,
                                                        true, NULL)) != 0) ||
        (o->username && (rc = mosquitto_username_pw_set(b->mosq, o->username, o->password)) != 0))
        return err_set(err, -EINVAL, "the connection to the broker cannot be set up: %s",
                       mosquitto_strerror(rc));
    if (o->tls && (rc = set_up_tls(b)) != 0)
        return err_set(err, -EINVAL, "TLS to the broker cannot be set up: %s%s%s", mosquitto_strerror(rc),
                       b->detail[0] ? ": " : "", b->detail);
    return 0;
}

static int unreachable(const struct broker *b, int rc, int code, struct err *err)
{
    const char *why = rc == MOSQ_ERR_ERRNO ? strerror(code)
                      : rc == MOSQ_ERR_EAI ? "its name cannot be looked up"
                      : b->detail[0]       ? b->detail
                                           : mosquitto_strerror(rc);

    return err_set(err, -ECONNREFUSED, "the broker %s:%d cannot be reached: %s", b->options->host,
                   b->options->port, why);
}

int broker_connect(const struct broker_options *options, const struct broker_handlers *handlers, void *ctx,
                   struct broker **ret, struct err *err)
{
    struct broker *b = xcalloc(1, sizeof *b);
    int r = 0;

    b->options = options;
    b->handlers = *handlers;
    b->ctx = ctx;
    (void)mosquitto_lib_init();
    b->mosq = mosquitto_new(options->client_id, true, b);
    if (!b->mosq)
        r = err_set(err, -ENOMEM, "no connection to the broker: %s", strerror(errno));
    else
        r = set_up(b, err);
    if (r == 0) {
        mosquitto_property *props = NULL;

        (void)mosquitto_property_add_int32(&props, MQTT_PROP_MAXIMUM_PACKET_SIZE, BROKER_PACKET_MAX);
        errno = 0;
        int rc = mosquitto_connect_bind_v5(b->mosq, options->host, options->port, KEEPALIVE_S, NULL, props);
        int code = errno;

        mosquitto_property_free_all(&props);
        if (rc != MOSQ_ERR_SUCCESS)
            r = unreachable(b, rc, code, err);
    }
    if (r < 0) {
        broker_free(b);
        return r;
    }
    b->began = clock_monotonic_s();
    *ret = b;
    return 0;
}

/* ---- going on -------------------------------------------------------------------------------- */

static int ended(const struct broker *b, int rc, int code, struct err *err)
{
    const char *host = b->options->host;
    int port = b->options->port;

    if (b->refused != 0 && !b->up)
        return err_set(err, -EACCES, "the broker %s:%d rejects the login: %s (reason %d)%s", host, port,
                       mosquitto_reason_string(b->refused), b->refused,
                       b->options->username ? "; are mqtt.username and the password right?" : "");
    if (b->refused != 0)
        return err_set(err, -ECONNRESET, "the broker %s:%d has ended the connection: %s (reason %d)", host,
                       port, mosquitto_reason_string(b->refused), b->refused);
    const char *why = rc == MOSQ_ERR_ERRNO && code != 0 ? strerror(code)
                      : b->detail[0]                    ? b->detail
                                                        : mosquitto_strerror(rc);

    return err_set(err, -ECONNRESET, "the connection to the broker %s:%d is %s: %s", host, port,
                   b->up ? "lost" : "not made", why);
}

/* poll() does not see what TLS has decrypted already, and mosquitto_loop_read() may end before it: on a stale
 * EAGAIN in errno it returns after one packet. Acknowledgements would then come in one by one, with the next
 * pings. */
static int read_all(struct broker *b)
{
    const SSL *tls = NULL; /* the connection may end at a read, and this with it */
    int left = PACKETS_A_STEP;
    int rc;

    do {
        errno = 0;
        rc = mosquitto_loop_read(b->mosq, PACKETS_A_STEP);
    } while (rc == MOSQ_ERR_SUCCESS && --left > 0 && (tls = mosquitto_ssl_get(b->mosq)) &&
             SSL_pending(tls) > 0);
    return rc;
}

int broker_step(struct broker *b, int wake_fd, int timeout_ms, struct err *err)
{
    struct pollfd fds[] = {
        {.fd = mosquitto_socket(b->mosq), .events = POLLIN},
        {.fd = wake_fd, .events = POLLIN},
    };
    int rc = MOSQ_ERR_SUCCESS;

    if (mosquitto_want_write(b->mosq))
        fds[0].events |= POLLOUT;
    if (poll(fds, sizeof fds / sizeof *fds, timeout_ms) < 0 && errno != EINTR)
        return err_set(err, -errno, "the broker's connection cannot be waited for: %s", strerror(errno));
    errno = 0;
    if (fds[0].revents & POLLOUT)
        rc = mosquitto_loop_write(b->mosq, PACKETS_A_STEP);
    if (rc == MOSQ_ERR_SUCCESS) /* even without new data on the socket: TLS may hold decrypted data */
        rc = read_all(b);
    if (rc == MOSQ_ERR_SUCCESS)
        rc = mosquitto_loop_misc(b->mosq);
    if (rc != MOSQ_ERR_SUCCESS || b->gone || b->refused != 0)
        return ended(b, rc, errno, err);
    if (!b->up && clock_monotonic_s() - b->began > BROKER_CONNECT_TIMEOUT_S)
        return err_set(err, -ETIMEDOUT, "the broker %s:%d takes the connection and does not answer",
                       b->options->host, b->options->port);
    return 0;
}

static mosquitto_property *properties(const struct broker_message *m)
{
    mosquitto_property *list = NULL;

    (void)mosquitto_property_add_byte(&list, MQTT_PROP_PAYLOAD_FORMAT_INDICATOR, 1); /* UTF-8 */
    if (m->content_type)
        (void)mosquitto_property_add_string(&list, MQTT_PROP_CONTENT_TYPE, m->content_type);
    if (m->correlation)
        (void)mosquitto_property_add_binary(&list, MQTT_PROP_CORRELATION_DATA, m->correlation,
                                            (uint16_t)m->correlation_len);
    return list;
}

int broker_publish(struct broker *b, const struct broker_message *m, int *ret_mid, struct err *err)
{
    mosquitto_property *props = properties(m);
    const char *topic = m->topic;
    size_t len = strlen(m->payload);

    errno = 0;
    int rc = len > MQTT_MAX_PAYLOAD
                 ? MOSQ_ERR_PAYLOAD_SIZE
                 : mosquitto_publish_v5(b->mosq, ret_mid, topic, (int)len, m->payload, 1, m->retain, props);
    int code = errno;

    mosquitto_property_free_all(&props);
    switch (rc) {
    case MOSQ_ERR_SUCCESS:
        return 0;
    case MOSQ_ERR_PAYLOAD_SIZE:
    case MOSQ_ERR_OVERSIZE_PACKET:
        return err_set(err, -EMSGSIZE, "a message to %s has %zu bytes, more than the broker takes", topic,
                       len);
    case MOSQ_ERR_INVAL:
    case MOSQ_ERR_MALFORMED_UTF8:
    case MOSQ_ERR_QOS_NOT_SUPPORTED:
    case MOSQ_ERR_RETAIN_NOT_SUPPORTED:
        return err_set(err, -EINVAL, "a message to %s cannot be sent to this broker: %s", topic,
                       mosquitto_strerror(rc));
    default:
        return ended(b, rc, code, err);
    }
}

int broker_subscribe(struct broker *b, const char *const *filters, size_t n, struct err *err)
{
    char *list[BROKER_FILTERS_MAX];
    const size_t size = n < BROKER_FILTERS_MAX ? n : BROKER_FILTERS_MAX;

    for (size_t i = 0; i < size; i++)
        list[i] = (char *)(uintptr_t)filters[i]; /* the library does not write to them */
    errno = 0;
    int rc =
        mosquitto_subscribe_multiple(b->mosq, NULL, (int)size, list, 1,
                                     MQTT_SUB_OPT_RETAIN_AS_PUBLISHED | MQTT_SUB_OPT_SEND_RETAIN_NEVER, NULL);

    return rc == MOSQ_ERR_SUCCESS ? 0 : ended(b, rc, errno, err);
}

int broker_unsubscribe(struct broker *b, const char *const *filters, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        errno = 0;
        int rc = mosquitto_unsubscribe(b->mosq, NULL, filters[i]);

        if (rc != MOSQ_ERR_SUCCESS)
            return ended(b, rc, errno, err);
    }
    return 0;
}

void broker_disconnect(struct broker *b, bool will)
{
    (void)mosquitto_disconnect_v5(
        b->mosq, will ? MQTT_RC_DISCONNECT_WITH_WILL_MSG : MQTT_RC_NORMAL_DISCONNECTION, NULL);
    (void)mosquitto_loop_write(b->mosq, PACKETS_A_STEP);
}

void broker_free(struct broker *b)
{
    if (!b)
        return;
    if (b->mosq)
        mosquitto_destroy(b->mosq);
    (void)mosquitto_lib_cleanup();
    free(b);
}
