/* mqtt_commands.h: commands that come over MQTT: read (mqtt/command.h), and carried out as requests of the
 * socket and of HTTP are.
 *
 * Nothing is carried out that mqtt.commands does not list. A message says nothing of its sender that could be
 * trusted: the broker's rules decide who may write to the topics, all that is done is recorded as done by
 * "mqtt", with the role of an operator. An "id" that came within the last COMMAND_REMEMBERED_S is refused,
 * also by the next process: a sender that got no confirmation from the broker sends its message again. What
 * cannot be remembered is not carried out.
 *
 * Each command is answered once, and logged. */
#ifndef BALLAST_DAEMON_MQTT_MQTT_COMMANDS_H
#define BALLAST_DAEMON_MQTT_MQTT_COMMANDS_H

#include "config/config.h"
#include "daemon/clients/client.h"
#include "daemon/mqtt/mqtt_feed.h"
#include "request/request.h"

#include <systemd/sd-event.h>

#define COMMAND_REMEMBERED_S 900

struct mqtt_commands;

struct mqtt_commands_options {
    sd_event *loop;
    struct clients *clients; /* that wait */
    struct mqtt_feed *feed;
    struct store *store;         /* remembers ids */
    const struct config *config; /* in force, until mqtt_commands_configure() */
    /* As serve_fn and gone_fn of server.h. */
    void (*serve)(void *ctx, struct client *c, struct request *q);
    void (*gone)(void *ctx, uint64_t ticket);
    void *ctx;
};

/* Without a broker *ret stays NULL. */
int mqtt_commands_start(const struct mqtt_commands_options *options, struct mqtt_commands **ret,
                        struct err *err);

/* After a reload. NULL is fine, here and below. */
void mqtt_commands_configure(struct mqtt_commands *m, const struct config *config);

/* Refuses what waits. Before mqtt_feed_stop(). */
void mqtt_commands_stop(struct mqtt_commands *m);

#endif
