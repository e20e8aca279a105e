/* broker.h: one connection to an MQTT v5 broker, with libmosquitto.
 *
 * A connection belongs to one thread, which it may block: name lookup and connect() wait. Every connection is
 * a clean start: inflight.h knows what must be sent again, and survives more than the library does.
 *
 * The last will is `offline` on the topic `online`, retained; the user publishes `online` once connected. A
 * connection without that topic has no will.
 *
 * Bounded: a broker that does not answer CONNECT within BROKER_CONNECT_TIMEOUT_S is given up; later an
 * unanswered ping ends the connection. Only the broker's reason codes are read, not its texts. The broker is
 * asked to drop what is longer than BROKER_PACKET_MAX on its way here.
 *
 * A clean start also means that the broker keeps nothing for the service while it is away: no message from
 * before a connection comes with it. */
#ifndef BALLAST_MQTT_BROKER_H
#define BALLAST_MQTT_BROKER_H

#include <ballast/err.h>

#include <stdbool.h>
#include <stddef.h>

#define BROKER_CONNECT_TIMEOUT_S 20
#define BROKER_PACKET_MAX (128 * 1024) /* bytes: the longest command, its topic and its properties */

struct broker;

/* Strings are borrowed while the connection exists. */
struct broker_options {
    const char *host;
    int port;
    bool tls, tls_verify;
    const char *ca_file;              /* NULL: the system's */
    const char *cert_file, *key_file; /* NULL: none; both or neither */
    const char *username, *password;  /* NULL: none */
    const char *client_id;
    const char *online_topic; /* NULL: no will */
};

/* A message to be published. */
struct broker_message {
    const char *topic, *payload;
    const char *content_type; /* NULL: plain text */
    bool retain;
    const void *correlation; /* of the request that this answers; NULL: none */
    size_t correlation_len;
};

struct command_message; /* command.h */

/* Called from broker_step(). */
struct broker_handlers {
    void (*connected)(void *ctx);
    /* The broker has answered; reason 0 ... 127: confirmed, 128 ... 255: refused, see broker_reason(). */
    void (*answered)(void *ctx, int mid, int reason);
    /* Of a subscription; NULL: there is none. received(): the message is valid during the call. */
    void (*subscribed)(void *ctx, int reason);
    void (*received)(void *ctx, const struct command_message *m);
};

/* Resolves the name, connects, and sends CONNECT; broker_step() does the rest. -EINVAL: the configuration
 * cannot work (certificates); other errors may be temporary. */
int broker_connect(const struct broker_options *options, const struct broker_handlers *handlers, void *ctx,
                   struct broker **ret, struct err *err);

/* Waits until data arrives, wake_fd becomes readable, or the timeout ends; then reads and writes. -EACCES:
 * the broker rejects the account. Another negative errno: the connection is lost. Free it in both cases. */
int broker_step(struct broker *b, int wake_fd, int timeout_ms, struct err *err);

/* Publishes with QoS 1. -EMSGSIZE, -EINVAL: this broker can never take this message; another negative errno:
 * the connection is lost. */
int broker_publish(struct broker *b, const struct broker_message *m, int *ret_mid, struct err *err);

/* Asks for messages, with QoS 1, without those that the broker retains; their retain flag stays as they were
 * published with. The broker answers with subscribed(). At most BROKER_FILTERS_MAX. A negative errno: the
 * connection is lost. */
#define BROKER_FILTERS_MAX 2
int broker_subscribe(struct broker *b, const char *const *filters, size_t n, struct err *err);
int broker_unsubscribe(struct broker *b, const char *const *filters, size_t n, struct err *err);

/* Disconnects without waiting. will: let the broker publish the last will. */
void broker_disconnect(struct broker *b, bool will);
void broker_free(struct broker *b); /* NULL is fine */

const char *broker_reason(int reason);

#endif
