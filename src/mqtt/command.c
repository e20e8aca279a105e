/* command.c: reads a command that came over MQTT. Carrying it out is daemon/clients/request_handler.c's. */
#include "mqtt/command.h"

#include "base/cleanup.h"
#include "base/rfc3339.h"

#include <errno.h>
#include <string.h>

/* One visible line: it is logged and sent back. */
static bool is_plain(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return false;
    }
    return true;
}

/* What comes after .../cmd: "" or the word; NULL: another topic. */
static const char *word_of(const struct topics *topics, const char *topic)
{
    CLEANUP(strbuf_releasep) struct strbuf base = STRBUF_EMPTY;
    const char *rest = topic;

    topic_commands(topics, &base);
    if (strncmp(topic, base.text, base.len) != 0)
        return NULL;
    rest += base.len;
    if (*rest == '\0')
        return rest;
    return *rest == '/' && rest[1] != '\0' && !strchr(rest + 1, '/') ? rest + 1 : NULL;
}

/* The sender names where the answer goes: elsewhere, it would make the service write in its stead. */
static int read_reply_topic(const struct topics *topics, const struct command_message *m, struct command *ret,
                            struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf base = STRBUF_EMPTY;
    const char *topic = m->response_topic;

    if (m->correlation_len > COMMAND_CORRELATION_MAX)
        return err_set(err, -EINVAL, "correlation data of %zu bytes, expected at most %d", m->correlation_len,
                       COMMAND_CORRELATION_MAX);
    if (!topic)
        return 0;
    topic_reply(topics, &base);
    if (strncmp(topic, base.text, base.len) != 0 || (topic[base.len] != '\0' && topic[base.len] != '/') ||
        strpbrk(topic, "+#") || !is_plain(topic, strlen(topic)))
        return err_set(err, -EINVAL, "the response topic is not %.100s or a topic below it", base.text);
    ret->reply_topic = topic;
    return 0;
}

static int take_id(json_t *root, struct command *ret, struct err *err)
{
    const json_t *v = json_object_get(root, "id");
    size_t len = json_string_length(v);

    if (!v)
        return 0;
    if (!json_is_string(v) || len == 0 || len > COMMAND_ID_MAX || strlen(json_string_value(v)) != len ||
        !is_plain(json_string_value(v), len))
        return err_set(err, -EINVAL, "\"id\": expected a text of 1 to %d printable bytes", COMMAND_ID_MAX);
    memcpy(ret->id, json_string_value(v), len + 1);
    (void)json_object_del(root, "id");
    return 0;
}

static int take_sent(json_t *root, instant_s now, struct err *err)
{
    const json_t *v = json_object_get(root, "sent");
    instant_s sent = 0;

    if (!v)
        return 0;
    if (!json_is_string(v) || rfc3339_parse(json_string_value(v), &sent) < 0)
        return err_set(err, -EINVAL, "\"sent\": expected a time such as \"2026-01-31T00:00:00Z\"");
    if (sent < now - COMMAND_AGE_MAX_S)
        return err_set(err, -EINVAL, "it was sent %lld s ago, more than %d s: not carried out",
                       (long long)(now - sent), COMMAND_AGE_MAX_S);
    if (sent > now + COMMAND_AGE_MAX_S)
        return err_set(err, -EINVAL, "\"sent\" is %lld s ahead of the service's clock: not carried out",
                       (long long)(sent - now));
    (void)json_object_del(root, "sent");
    return 0;
}

/* The topic's word stands for the member. */
static int put_word(json_t *root, const char *word, struct command *ret, struct err *err)
{
    const char *given = json_string_value(json_object_get(root, "command"));

    if (!*word) {
        if (given && strlen(given) < sizeof ret->word && is_plain(given, strlen(given)))
            memcpy(ret->word, given, strlen(given) + 1);
        return 0;
    }
    if (!given && !json_object_get(root, "command"))
        return json_object_set_new(root, "command", json_string(word)) == 0
                   ? 0
                   : err_set(err, -EINVAL, "\"%.30s\" is not a command of this service", word);
    if (!given || strcmp(given, word) != 0)
        return err_set(err, -EINVAL, "\"command\": expected \"%.30s\", as its topic says", word);
    return 0;
}

static int read_payload(const struct command_message *m, const char *word, instant_s now, struct command *ret,
                        struct err *err)
{
    json_error_t where;
    int r;

    if (m->len > REQUEST_BYTES_MAX)
        return err_set(err, -EINVAL, "a command of more than %zu bytes", REQUEST_BYTES_MAX);
    CLEANUP(json_decrefp)
    json_t *root =
        m->len == 0 ? json_object() : json_loadb(m->payload, m->len, JSON_REJECT_DUPLICATES, &where);

    if (!root)
        return err_set(err, -EINVAL, "not a JSON object: %s", where.text);
    if (!json_is_object(root))
        return err_set(err, -EINVAL, "not a JSON object");
    if ((r = take_id(root, ret, err)) < 0)
        return r;
    if (m->retained)
        return err_set(err, -EINVAL,
                       "a retained message is not carried out: it would come again at each connect");
    if ((r = put_word(root, word, ret, err)) < 0 || (r = take_sent(root, now, err)) < 0)
        return r;
    return request_read(root, &ret->request, err);
}

int command_read(const struct topics *topics, const struct command_message *m, instant_s now,
                 struct command *ret, struct err *err)
{
    const char *word = word_of(topics, m->topic);
    int r;

    ret->word[0] = ret->id[0] = '\0';
    ret->reply_topic = NULL;
    if (!word)
        return err_set(err, -EINVAL, "not a topic of commands");
    if (strlen(word) < sizeof ret->word && is_plain(word, strlen(word)))
        memcpy(ret->word, word, strlen(word) + 1);
    if ((r = read_reply_topic(topics, m, ret, err)) < 0)
        return r;
    return read_payload(m, word, now, ret, err);
}
