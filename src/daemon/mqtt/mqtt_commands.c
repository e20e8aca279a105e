/* mqtt_commands.c: brings commands from the MQTT thread to the request handler, and answers back. */
#include "daemon/mqtt/mqtt_commands.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/texts.h"
#include "base/xalloc.h"
#include "daemon/mqtt/mqtt_thread.h"
#include "daemon/process.h"
#include "daemon/replies/reply.h"
#include "store/events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#define WHO "mqtt"
#define AT_ONCE_US INT64_C(20000) /* then timers and other clients are served */
/* No more come within COMMAND_REMEMBERED_S, but where the service restarts meanwhile. */
#define REMEMBERED_MAX ((COMMAND_REMEMBERED_S / COMMAND_WINDOW_S + 1) * COMMANDS_A_WINDOW)
#define LOG_WINDOW_S 60
#define LOGGED_REFUSALS 20 /* in a window */

struct mqtt_commands {
    struct mqtt_commands_options is;
    sd_event_source *io;
    time_t log_window;
    unsigned logged, unlogged; /* refusals */
};

/* A command and its sender. */
struct mqtt_client {
    struct client is; /* first */
    struct mqtt_commands *of;
    struct mqtt_thread_received *from;
    struct command command;
};

/* ---- answers ---------------------------------------------------------------------------------- */

/* {"command": "pause", "id": "7", "reply": {...}} */
static void send_answer(struct mqtt_client *c, const char *reply, bool accepted)
{
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;
    CLEANUP(strbuf_releasep) struct strbuf topic = STRBUF_EMPTY;
    const struct command_message *m = &c->from->message;
    const char *const word = c->command.word;
    struct json_writer w = {.out = &text};

    jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
    jw_text(&w, "command", word[0] ? word : NULL);
    jw_text(&w, "id", c->command.id[0] ? c->command.id : NULL);
    jw_raw(&w, "reply", reply);
    jw_end(&w);
    topic_reply(mqtt_feed_topics(c->of->is.feed), &topic);
    /* correlation data that is too long is not sent back */
    mqtt_feed_reply(c->of->is.feed, c->command.reply_topic ? c->command.reply_topic : topic.text, text.text,
                    m->correlation_len <= COMMAND_CORRELATION_MAX ? m->correlation : NULL, m->correlation_len,
                    accepted);
}

static void client_free(struct mqtt_client *c)
{
    mqtt_thread_received_free(&c->from->item);
    free(c);
}

static void reply(struct client *is, struct shared_text *text)
{
    struct mqtt_client *c = (struct mqtt_client *)is;

    log_notice("mqtt: %s carried out%s%s%s", c->command.word, c->command.id[0] ? " (id " : "", c->command.id,
               c->command.id[0] ? ")" : "");
    send_answer(c, shared_text_bytes(text), true);
    client_free(c);
}

/* A sender of nonsense does not fill the log. */
static void log_refusal(struct mqtt_client *c, const struct err *err)
{
    struct mqtt_commands *m = c->of;
    time_t now = clock_monotonic_s();

    if (now - m->log_window >= LOG_WINDOW_S) {
        if (m->unlogged > 0)
            log_notice("mqtt: %u more commands were refused", m->unlogged);
        m->log_window = now;
        m->logged = m->unlogged = 0;
    }
    if (m->logged >= LOGGED_REFUSALS) {
        m->unlogged++;
        return;
    }
    m->logged++;
    log_notice("mqtt: %s refused%s%s%s: %s", c->command.word[0] ? c->command.word : "a command",
               c->command.id[0] ? " (id " : "", c->command.id, c->command.id[0] ? ")" : "", err->text);
}

static void refuse(struct client *is, const struct err *err)
{
    struct mqtt_client *c = (struct mqtt_client *)is;
    CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;

    reply_error(err, &out);
    log_refusal(c, err);
    send_answer(c, out.text, false);
    client_free(c);
}

static const struct client_ops mqtt_client_ops = {.reply = reply, .refuse = refuse};

/* ---- commands --------------------------------------------------------------------------------- */

static int check(struct mqtt_commands *m, struct mqtt_client *c, struct err *err)
{
    int r = command_read(mqtt_feed_topics(m->is.feed), &c->from->message, (instant_s)time(NULL), &c->command,
                         err);

    if (r < 0)
        return r;
    const char *word = request_kind_name(c->command.request.kind);

    if (!texts_list_has(m->is.config->mqtt.commands, word))
        return err_set(err, -EPERM, "\"%s\" is not among mqtt.commands of the configuration", word);
    /* durable before it is carried out: a crash in between loses the command, and never repeats it */
    return c->command.id[0]
               ? store_remember_command(m->is.store, c->command.id, COMMAND_REMEMBERED_S, REMEMBERED_MAX, err)
               : 0;
}

static int on_received(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
    struct mqtt_commands *m = userdata;
    const int64_t until_us = process_steady_us() + AT_ONCE_US;
    struct queue *queue = mqtt_feed_received(m->is.feed);
    struct mqtt_thread_received *item;

    (void)source, (void)fd, (void)revents;
    while (process_steady_us() < until_us &&
           (item = (struct mqtt_thread_received *)queue_pop(queue)) != NULL) {
        struct mqtt_client *c = xcalloc(1, sizeof *c);
        struct err err = {0};

        c->is = (struct client){.ops = &mqtt_client_ops, .all = m->is.clients, .role = ROLE_OPERATOR};
        (void)snprintf(c->is.who, sizeof c->is.who, WHO);
        c->of = m;
        c->from = item;
        if (check(m, c, &err) < 0)
            refuse(&c->is, &err);
        else
            m->is.serve(m->is.ctx, &c->is, &c->command.request);
    }
    return 0;
}

/* ---- start and stop --------------------------------------------------------------------------- */

int mqtt_commands_start(const struct mqtt_commands_options *options, struct mqtt_commands **ret,
                        struct err *err)
{
    if (!options->feed)
        return 0;
    struct mqtt_commands *m = xcalloc(1, sizeof *m);
    int r = sd_event_add_io(options->loop, &m->io, mqtt_feed_received(options->feed)->fd, EPOLLIN,
                            on_received, m);

    if (r < 0) {
        free(m);
        return err_set(err, r, "cannot watch for commands of the broker: %s", strerror(-r));
    }
    m->is = *options;
    *ret = m;
    mqtt_commands_configure(m, options->config);
    return 0;
}

void mqtt_commands_configure(struct mqtt_commands *m, const struct config *config)
{
    if (!m)
        return;
    m->is.config = config;
    mqtt_feed_listen(m->is.feed, config->mqtt.commands[0] != NULL,
                     texts_list_has(config->mqtt.commands, "pause") &&
                         texts_list_has(config->mqtt.commands, "resume"));
}

void mqtt_commands_stop(struct mqtt_commands *m)
{
    struct client *next;
    struct err err;

    if (!m)
        return;
    (void)sd_event_source_disable_unref(m->io);
    mqtt_feed_listen(m->is.feed, false, false);
    (void)err_set(&err, -EUSERS, "the service is stopping");
    for (struct client *c = m->is.clients->waiting; c; c = next) {
        next = c->next;
        if (c->ops != &mqtt_client_ops)
            continue;
        m->is.gone(m->is.ctx, c->ticket);
        client_refuse(c, &err);
    }
    free(m);
}
