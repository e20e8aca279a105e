/* broker.h: one connection to an MQTT v5 broker, with libmosquitto.
 *
 * A connection belongs to one thread, which it may block: name lookup and connect() wait. Every connection is
 * a clean start: inflight.h knows what must be sent again, and survives more than the library does.
 *
 * The last will is `offline` on the topic `online`, retained; the user publishes `online` once connected. A
 * connection without that topic has no will.
 *
 * Bounded: a broker that does not answer CONNECT within BROKER_CONNECT_TIMEOUT_S is given up; later an
 * unanswered ping ends the connection. Only the broker's reason codes are read, not its texts. */
#ifndef BALLAST_MQTT_BROKER_H
#define BALLAST_MQTT_BROKER_H

#include <ballast/err.h>

#include <stdbool.h>

#define BROKER_CONNECT_TIMEOUT_S 20

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

/* Called from broker_step(). */
struct broker_handlers {
    void (*connected)(void *ctx);
    /* The broker has answered; reason 0 ... 127: confirmed, 128 ... 255: refused, see broker_reason(). */
    void (*answered)(void *ctx, int mid, int reason);
};

/* Resolves the name, connects, and sends CONNECT; broker_step() does the rest. -EINVAL: the configuration
 * cannot work (certificates); other errors may be temporary. */
int broker_connect(const struct broker_options *options, const struct broker_handlers *handlers, void *ctx,
                   struct broker **ret, struct err *err);

/* Waits until data arrives, wake_fd becomes readable, or the timeout ends; then reads and writes. -EACCES:
 * the broker rejects the account. Another negative errno: the connection is lost. Free it in both cases. */
int broker_step(struct broker *b, int wake_fd, int timeout_ms, struct err *err);

/* Publishes with QoS 1. -EMSGSIZE, -EINVAL: this broker can never take this message; another negative errno:
 * the connection is lost. content_type NULL: plain text. */
int broker_publish(struct broker *b, const char *topic, const char *payload, bool retain,
                   const char *content_type, int *ret_mid, struct err *err);

/* Disconnects without waiting. will: let the broker publish the last will. */
void broker_disconnect(struct broker *b, bool will);
void broker_free(struct broker *b); /* NULL is fine */

const char *broker_reason(int reason);

#endif
