/* command.h: a command that came over MQTT, read strictly.
 *
 * The payload is the JSON object of a request (request.h). On the topic .../cmd/WORD its "command" may be
 * missing, and must not differ from WORD; on .../cmd it must be there. An empty payload is {}. Two more
 * members are MQTT's own:
 *
 *   "id"    a text that the answer repeats, and by which a message that comes twice is known
 *   "sent"  when it was sent, RFC 3339. A command that is older than COMMAND_AGE_MAX_S is refused: it waited
 *           somewhere on its way, and its purpose may be over
 *
 * Refused, too: a retained message, which would come again at each connect. Not refused here: what the
 * configuration does not enable, and what came before (daemon/mqtt/mqtt_commands.c). */
#ifndef BALLAST_MQTT_COMMAND_H
#define BALLAST_MQTT_COMMAND_H

#include "mqtt/topic.h"
#include "request/request.h"

#include <ballast/err.h>
#include <ballast/units.h>

#define COMMAND_AGE_MAX_S 60
#define COMMAND_ID_MAX 64           /* bytes */
#define COMMAND_CORRELATION_MAX 256 /* bytes */

/* A message as it came. */
struct command_message {
    const char *topic;
    const char *payload; /* not terminated */
    size_t len;
    bool retained;
    const char *response_topic; /* MQTT 5; NULL: none */
    const void *correlation;    /* MQTT 5; NULL: none */
    size_t correlation_len;
};

struct command {
    char word[REQUEST_KIND_MAX]; /* for the log: the topic's, or the payload's; "": neither has one */
    char id[COMMAND_ID_MAX + 1]; /* "": none */
    const char *reply_topic;     /* the message's; NULL: .../reply */
    struct request request;
};

/* -EINVAL and a sentence. `word`, `id` and `reply_topic` are set as far as they were read, so that a refusal
 * can be answered; reply_topic is the message's own text. */
int command_read(const struct topics *topics, const struct command_message *m, instant_s now,
                 struct command *ret, struct err *err);

#endif
