/* broker.h: a connection to an MQTT v5 broker, over libmosquitto.
 *
 * It belongs to one thread, which may be kept waiting by it: looking up the broker's name and reaching it
 * block. Each connection is a fresh one (clean start): what must be sent again is known by whoever uses it
 * (publish_queue.h), better than by the library, which forgets with the process.
 *
 * The last will: `offline` on the topic `online`, retained; `online` is for the user to send once connected.
 *
 * Bounded: a broker that does not answer CONNECT within BROKER_CONNECT_TIMEOUT_S is given up; later a ping
 * that is not answered ends the connection. The reasons that a broker gives are numbers; texts of its are not
 * read.
 */
#ifndef BALLAST_MQTT_BROKER_H
#define BALLAST_MQTT_BROKER_H

#include <ballast/err.h>

#include <stdbool.h>

#define BROKER_CONNECT_TIMEOUT_S 20

struct broker;

/* Strings are borrowed for as long as there is a broker. */
struct broker_options {
    const char *host;
    int port;
    bool tls, tls_verify;
    const char *ca_file;              /* NULL: the system's */
    const char *cert_file, *key_file; /* NULL: none; both or neither */
    const char *username, *password;  /* NULL: none */
    const char *client_id;
    const char *online_topic;
};

/* From within broker_step(). */
struct broker_handlers {
    void (*connected)(void *ctx);
    /* The broker has answered; reason 0 ... 127: taken, 128 ... 255: refused, see broker_reason(). */
    void (*answered)(void *ctx, int mid, int reason);
};

/* Looks the broker up, reaches it, and begins the conversation, which broker_step() goes on with. -EINVAL:
 * what is configured cannot be (certificates); other errors may be over later. */
int broker_connect(const struct broker_options *options, const struct broker_handlers *handlers, void *ctx,
                   struct broker **ret, struct err *err);

/* Waits until something arrives, wake_fd can be read, or the time is over; then does what there is to do.
 * -EACCES: the broker does not let us in. Another negative errno: the connection is over. To be freed either
 * way. */
int broker_step(struct broker *b, int wake_fd, int timeout_ms, struct err *err);

/* QoS 1. 0; -EMSGSIZE, -EINVAL: this message cannot be sent to this broker, ever; another negative errno: the
 * connection is over. content_type NULL: plain text. */
int broker_publish(struct broker *b, const char *topic, const char *payload, bool retain,
                   const char *content_type, int *ret_mid, struct err *err);

/* Says goodbye, as far as that goes at once. The last will is sent then only if it is wanted. */
void broker_disconnect(struct broker *b, bool will);
void broker_free(struct broker *b); /* NULL is fine */

const char *broker_reason(int reason);

#endif
