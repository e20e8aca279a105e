/* topic.h: the topics that Ballast publishes to, and reads.
 *
 *   PREFIX/CLUSTER/events/KIND         events
 *   PREFIX/CLUSTER/state               retained: the state of the cluster
 *   PREFIX/CLUSTER/hosts/HOST/state    retained: the state of a host
 *   PREFIX/CLUSTER/online              retained: "online", or, by the last will, "offline"
 *   PREFIX/CLUSTER/cmd, .../cmd/WORD   read: commands (command.h), if any is enabled
 *   PREFIX/CLUSTER/reply               answers to commands, or a topic below it that the sender names
 *   PREFIX/CLUSTER/check               written by `check-config --connect`, to see whether it may
 *
 * CLUSTER and HOST (its id at the source) are names that are not ours. Each becomes one level: letters,
 * digits and - . _ stay, every other byte becomes %XX, as in a URL. So no name can add a level (/), match
 * others (+, #), look like the broker's own ($) or break a line. A level longer than TOPIC_LEVEL_MAX is cut
 * and ends with ~ and a hash of the whole name. PREFIX is the admin's and may have several levels. */
#ifndef BALLAST_MQTT_TOPIC_H
#define BALLAST_MQTT_TOPIC_H

#include "base/strbuf.h"

#define TOPIC_LEVEL_MAX 255
#define TOPIC_WORD_MAX 80
#define TOPIC_CHECK "check"

struct topics {
    const char *prefix, *cluster;
};

/* Adds a name as one level, without a slash before it. */
void topic_level(const char *name, struct strbuf *out);

/* The same of letters, digits, - and _ only: bytes other than letters, digits and - become _XX. A name longer
 * than TOPIC_WORD_MAX is cut and ends with ___ and the hash. */
void topic_word(const char *name, struct strbuf *out);

/* Each adds a whole topic. */
void topic_event(const struct topics *t, const char *kind, struct strbuf *out);
void topic_cluster(const struct topics *t, struct strbuf *out);
void topic_host(const struct topics *t, const char *host, struct strbuf *out);
void topic_online(const struct topics *t, struct strbuf *out);
void topic_check(const struct topics *t, struct strbuf *out);
void topic_commands(const struct topics *t, struct strbuf *out); /* .../cmd */
void topic_reply(const struct topics *t, struct strbuf *out);    /* .../reply */

#endif
