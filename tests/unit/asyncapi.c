/* conf/asyncapi.json describes all topics (AsyncAPI 3.0). It is made from the names of topics, the lists of
 * events and requests, the commands that mqtt.commands allows and the schemas of conf/schema, so that no
 * topic, event or command is missing. tests/peers/asyncapi.py holds it against what a broker really gets.
 *
 * When one of them changes: unit-asyncapi --print > conf/asyncapi.json */
#include "api_document.h"
#include "unit.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "config/config.h"
#include "config/sections.h"
#include "daemon/events/event_json.h"
#include "mqtt/broker.h"
#include "mqtt/cloudevent.h"
#include "mqtt/command.h"
#include "mqtt/home_assistant.h"
#include "mqtt/topic.h"
#include "request/request.h"

#include <ballast/names.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BINDING "0.2.0" /* of MQTT: https://github.com/asyncapi/bindings/tree/master/mqtt */
#define JSON "application/json"
#define TEXT "text/plain"

/* ---- addresses ---- */

/* Letters stay as they are in a topic: these become the parameters of its address. */
static const struct topics topics = {"TOPIC", "CLUSTER"};

static const struct {
    const char *word, *parameter;
} parameter_words[] = {
    {"TOPIC__CLUSTER__HOST", "{device}"},
    {"TOPIC", "{topic}"},
    {"CLUSTER", "{cluster}"},
    {"PREFIX", "{prefix}"},
    {"HOST", "{host}"},
};

static json_t *address_of(const struct strbuf *topic, const char *below)
{
    CLEANUP(strbuf_releasep) struct strbuf out = {0};
    const char *at = topic->text;

    strbuf_init(&out, STRBUF_NO_LIMIT);
    while (*at) {
        size_t i = 0;

        while (i < ELEMENTS(parameter_words) &&
               strncmp(at, parameter_words[i].word, strlen(parameter_words[i].word)) != 0)
            i++;
        if (i == ELEMENTS(parameter_words)) {
            strbuf_add(&out, at++, 1);
            continue;
        }
        strbuf_puts(&out, parameter_words[i].parameter);
        at += strlen(parameter_words[i].word);
    }
    strbuf_puts(&out, below);
    return json_string(out.text);
}

static void put_parameter(json_t *all, const char *name, const char *fallback, const char *description)
{
    json_t *p = json_pack("{s:s}", "description", description);

    if (fallback)
        json_object_set_new(p, "default", json_string(fallback));
    json_object_set_new(all, name, p);
}

static json_t *parameters(void)
{
    json_t *all = json_object();

    put_parameter(all, "topic", "ballast", "mqtt.topic of the configuration; it may have several levels");
    put_parameter(all, "cluster", NULL,
                  "the cluster's name as one level: letters, digits and -._ stay, each other byte is %XX");
    put_parameter(all, "host", NULL, "the host's id at the source, as one level like the cluster");
    put_parameter(all, "sender", NULL, "what a sender of commands chooses; it may have several levels");
    put_parameter(all, "prefix", HOME_ASSISTANT_PREFIX,
                  "mqtt.home_assistant, where it is a text; it may have several levels");
    put_parameter(all, "device", NULL,
                  "topic, cluster and of a host its id, with two underlines between them: letters, digits "
                  "and - stay, each other byte is _XX");
    return all;
}

/* ---- messages ---- */

static json_t *of_schema(const char *file, const char *name)
{
    return api_document_reference("schema/%s.json#/$defs/%s", file, name);
}

static json_t *member_of(const char *name, const char *member)
{
    return api_document_reference("schema/mqtt.json#/$defs/%s/properties/%s", name, member);
}

static json_t *message(const char *summary, const char *content_type, json_t *payload)
{
    return json_pack("{s:s, s:s, s:{s:{s:i, s:s}}, s:o}", "summary", summary, "contentType", content_type,
                     "bindings", "mqtt", "payloadFormatIndicator", 1, "bindingVersion", BINDING, "payload",
                     payload);
}

static json_t *mqtt_binding(json_t *message)
{
    return json_object_get(json_object_get(message, "bindings"), "mqtt");
}

/* An object with the members of an envelope, those named here in place of its own; all are written out, for
 * programs that make code of the document. */
static json_t *envelope(json_t *definitions, const char *name, json_t *own)
{
    json_t *of = json_object_get(definitions, name);
    json_t *members = json_object();
    const char *member;
    json_t *ignored;

    json_object_foreach(json_object_get(of, "properties"), member, ignored)
    {
        json_t *special = json_object_get(own, member);

        json_object_set_new(members, member, special ? json_incref(special) : member_of(name, member));
    }
    json_decref(own);
    return json_pack("{s:s, s:o, s:O}", "type", "object", "properties", members, "required",
                     json_object_get(of, "required"));
}

static json_t *event_types(enum event_kind kind)
{
    const int n = kind == EVENT_ACTION ? action_state_count : kind == EVENT_HOST ? host_state_count : 1;
    json_t *all = json_array();

    for (int i = 0; i < n; i++) {
        const struct action_record action = {.state = (enum action_state)(kind == EVENT_ACTION ? i : 0)};
        const struct event ev = {
            .kind = kind, .action = &action, .is = (enum host_state)(kind == EVENT_HOST ? i : 0)};
        CLEANUP(strbuf_releasep) struct strbuf type = {0};

        strbuf_init(&type, STRBUF_NO_LIMIT);
        strbuf_puts(&type, CLOUDEVENT_TYPE_PREFIX);
        event_json_type(&ev, &type);
        json_array_append_new(all, json_string(type.text));
    }
    return json_pack("{s:o}", "enum", all);
}

static json_t *cloudevent(json_t *definitions, const char *summary, json_t *type, const char *data)
{
    return message(summary, CLOUDEVENT_CONTENT_TYPE,
                   envelope(definitions, "cloudevent",
                            json_pack("{s:o, s:o}", "type", type, "data", of_schema("events", data))));
}

/* The fields of the request, and those that all commands have. */
static json_t *command_payload(json_t *requests, const char *word, bool named)
{
    json_t *request = api_document_definition(requests, word);
    const char *alias = json_string_value(json_object_get(json_object_get(requests, word), "$ref"));
    json_t *members = json_pack("{s:{s:s}, s:o, s:o}", "command", "const", word, "id",
                                of_schema("mqtt", "command_id"), "sent", of_schema("mqtt", "command_sent"));
    json_t *required =
        json_object_get(request, "required") ? json_copy(json_object_get(request, "required")) : json_array();
    const char *field;
    json_t *ignored;

    json_object_foreach(json_object_get(request, "properties"), field, ignored)
    {
        json_object_set_new(members, field,
                            api_document_reference("schema/requests.json#/$defs/%s/properties/%s",
                                                   alias ? alias + strlen("#/$defs/") : word, field));
    }
    if (named)
        json_array_insert_new(required, 0, json_string("command"));
    return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", members, "required", required,
                     "additionalProperties", 0);
}

static json_t *command_message(json_t *requests, const char *word, bool named)
{
    json_t *m = message(named ? "the command named by `command`" : "an empty message stands for {}", JSON,
                        command_payload(requests, word, named));

    json_object_set_new(mqtt_binding(m), "responseTopic",
                        json_pack("{s:s, s:s, s:s}", "type", "string", "pattern", "/reply(/|$)",
                                  "description",
                                  "where the answer goes: TOPIC/CLUSTER/reply or below; without, there"));
    json_object_set_new(mqtt_binding(m), "correlationData",
                        json_pack("{s:s, s:i, s:s}", "type", "string", "maxLength", COMMAND_CORRELATION_MAX,
                                  "description", "bytes that the answer repeats"));
    return m;
}

static json_t *answer_message(json_t *definitions, const char *word, const char *summary)
{
    json_t *own = json_pack("{s:o}", "reply", of_schema("replies", word ? word : "error"));

    if (word)
        json_object_set_new(own, "command", json_pack("{s:s}", "const", word));
    json_t *m = message(summary, JSON, envelope(definitions, "answer", own));

    json_object_set_new(mqtt_binding(m), "correlationData",
                        json_pack("{s:s, s:i, s:s}", "type", "string", "maxLength", COMMAND_CORRELATION_MAX,
                                  "description", "the command's"));
    return m;
}

/* ---- channels and operations ---- */

struct document {
    json_t *channels, *operations, *messages;
    json_t *requests, *definitions; /* of schema/requests.json and mqtt.json */
};

static json_t *reference_to_message(const char *channel, const char *name)
{
    return api_document_reference("#/channels/%s/messages/%s", channel, name);
}

/* A channel without messages. */
static void add_channel(struct document *d, const char *name, const struct strbuf *topic, const char *below,
                        const char *description)
{
    json_t *address = address_of(topic, below);
    json_t *used = json_object();

    for (const char *at = json_string_value(address); (at = strchr(at, '{')) != NULL; at++) {
        char parameter[32];

        (void)snprintf(parameter, sizeof parameter, "%.*s", (int)strcspn(at + 1, "}"), at + 1);
        json_object_set_new(used, parameter, api_document_reference("#/components/parameters/%s", parameter));
    }
    json_object_set_new(d->channels, name,
                        json_pack("{s:o, s:s, s:o, s:{}}", "address", address, "description", description,
                                  "parameters", used, "messages"));
}

static void add_message(struct document *d, const char *channel, const char *name, const char *component)
{
    json_object_set_new(json_object_get(json_object_get(d->channels, channel), "messages"), name,
                        api_document_reference("#/components/messages/%s", component));
}

/* All messages have QoS 1. */
static void add_operation(struct document *d, const char *action, const char *channel, bool retain)
{
    char name[80];

    (void)snprintf(name, sizeof name, "%s_%s", action, channel);
    json_object_set_new(d->operations, name,
                        json_pack("{s:s, s:o, s:{s:{s:i, s:b, s:s}}}", "action", action, "channel",
                                  api_document_reference("#/channels/%s", channel), "bindings", "mqtt", "qos",
                                  1, "retain", (int)retain, "bindingVersion", BINDING));
}

/* A channel with one message of its own, which the service sends. */
static void add_sent(struct document *d, const char *name, const struct strbuf *topic, bool retain,
                     const char *description, json_t *m)
{
    json_object_set_new(d->messages, name, m);
    add_channel(d, name, topic, "", description);
    add_message(d, name, name, name);
    add_operation(d, "send", name, retain);
}

static void add_events(struct document *d)
{
    for (int i = 0; i < event_kind_count; i++) {
        const char *kind = event_kind_name((enum event_kind)i);
        const char *meaning = event_kind_meaning((enum event_kind)i);
        CLEANUP(strbuf_releasep) struct strbuf topic = {0};
        char name[64];

        strbuf_init(&topic, STRBUF_NO_LIMIT);
        topic_event(&topics, kind, &topic);
        (void)snprintf(name, sizeof name, "event_%s", kind);
        add_sent(d, name, &topic, false, meaning,
                 cloudevent(d->definitions, meaning, event_types((enum event_kind)i), kind));
    }
}

static void add_states(struct document *d)
{
    CLEANUP(strbuf_releasep) struct strbuf cluster = {0};
    CLEANUP(strbuf_releasep) struct strbuf host = {0};
    CLEANUP(strbuf_releasep) struct strbuf online = {0};
    CLEANUP(strbuf_releasep) struct strbuf check = {0};

    strbuf_init(&cluster, STRBUF_NO_LIMIT);
    strbuf_init(&host, STRBUF_NO_LIMIT);
    strbuf_init(&online, STRBUF_NO_LIMIT);
    strbuf_init(&check, STRBUF_NO_LIMIT);
    topic_cluster(&topics, &cluster);
    topic_host(&topics, "HOST", &host);
    topic_online(&topics, &online);
    topic_check(&topics, &check);
    json_object_set_new(d->messages, "cleared",
                        message("clears what is retained", TEXT, of_schema("mqtt", "cleared")));
    add_sent(d, "cluster_state", &cluster, true, "the state of service and cluster, when it changes",
             cloudevent(d->definitions, "the state of service and cluster",
                        json_pack("{s:s}", "const", "io.ballast.state"), "cluster_state"));
    add_sent(d, "host_state", &host, true, "the state of a host, when it changes; cleared when it is gone",
             cloudevent(d->definitions, "the state of a host",
                        json_pack("{s:s}", "const", "io.ballast.host.state"), "host_state"));
    add_message(d, "host_state", "cleared", "cleared");
    add_sent(d, "online", &online, true, "whether the service is there; its last will is `offline`",
             message("whether the service is there", TEXT, of_schema("mqtt", "online")));
    add_sent(d, "check", &check, false, "written by `ballast check-config --connect`; no event",
             message("a try", TEXT, of_schema("mqtt", "check")));
}

static void add_home_assistant(struct document *d)
{
    const struct home_assistant ha = {.prefix = "PREFIX", .topics = topics};
    CLEANUP(strbuf_releasep) struct strbuf topic = {0};

    strbuf_init(&topic, STRBUF_NO_LIMIT);
    home_assistant_topic(&ha, "HOST", &topic);
    add_sent(
        d, "home_assistant_device", &topic, true,
        "with mqtt.home_assistant: the cluster, and each host, as devices of Home Assistant; cleared when "
        "the host is gone",
        message("a device of Home Assistant", JSON, of_schema("mqtt", "home_assistant_device")));
    add_message(d, "home_assistant_device", "cleared", "cleared");
}

/* The operation's answers: on `reply`, or below it where the command asks for that. */
static void add_reply(struct document *d, const char *operation, const char *word)
{
    json_object_set_new(json_object_get(d->operations, operation), "reply",
                        json_pack("{s:o, s:[o, o]}", "channel", api_document_reference("#/channels/reply"),
                                  "messages", reference_to_message("reply", word),
                                  reference_to_message("reply", "refused")));
}

static void add_command(struct document *d, const char *word, const char *meaning)
{
    CLEANUP(strbuf_releasep) struct strbuf topic = {0};
    char channel[64], below[64], sent[64], answer[64], operation[80];

    strbuf_init(&topic, STRBUF_NO_LIMIT);
    topic_commands(&topics, &topic);
    (void)snprintf(channel, sizeof channel, "command_%s", word);
    (void)snprintf(below, sizeof below, "/%s", word);
    (void)snprintf(sent, sizeof sent, "named_%s", word);
    (void)snprintf(answer, sizeof answer, "answer_%s", word);
    (void)snprintf(operation, sizeof operation, "receive_%s", channel);
    json_object_set_new(d->messages, channel, command_message(d->requests, word, false));
    json_object_set_new(d->messages, sent, command_message(d->requests, word, true));
    json_object_set_new(d->messages, answer,
                        answer_message(d->definitions, word, "the command was carried out"));
    add_channel(d, channel, &topic, below, meaning);
    add_message(d, channel, word, channel);
    add_message(d, "commands", word, sent);
    add_message(d, "reply", word, answer);
    add_message(d, "reply_below", word, answer);
    add_operation(d, "receive", channel, false);
    add_reply(d, operation, word);
}

static void add_commands(struct document *d)
{
    CLEANUP(strbuf_releasep) struct strbuf commands = {0};
    CLEANUP(strbuf_releasep) struct strbuf reply = {0};

#define REQUEST_MEANING(e, word, role, meaning) [e] = (meaning),
    static const char *const meanings[request_kind_count] = {REQUESTS(REQUEST_MEANING)};

    strbuf_init(&commands, STRBUF_NO_LIMIT);
    strbuf_init(&reply, STRBUF_NO_LIMIT);
    topic_commands(&topics, &commands);
    topic_reply(&topics, &reply);
    add_channel(d, "commands", &commands, "", "any command of mqtt.commands, for senders with one topic");
    add_channel(d, "reply", &reply, "", "answers to commands");
    add_channel(d, "reply_below", &reply, "/{sender}", "answers to commands with this response topic");
    add_operation(d, "receive", "commands", false);
    for (int i = 0; i < request_kind_count; i++) {
        if (!config_mqtt_command_check(request_kind_name((enum request_kind)i)))
            add_command(d, request_kind_name((enum request_kind)i), meanings[i]);
    }
    json_object_set_new(d->messages, "answer_refused",
                        answer_message(d->definitions, NULL, "the command was not carried out"));
    add_message(d, "reply", "refused", "answer_refused");
    add_message(d, "reply_below", "refused", "answer_refused");
    add_operation(d, "send", "reply", false);
    add_operation(d, "send", "reply_below", false);
}

/* ---- the document ---- */

#define ABOUT                                                                                                \
    "What a Ballast service sends to an MQTT broker, and the commands that it reads there. A command is "    \
    "read "                                                                                                  \
    "only if mqtt.commands of the configuration lists it; a retained one is refused, and so is one that is " \
    "more than 60 s old. Events come at least once and in order, by the number in their `id`. Members are "  \
    "added to messages, none changes its meaning: a subscriber ignores those that it does not know."

static json_t *server(void)
{
    CLEANUP(strbuf_releasep) struct strbuf online = {0};

    strbuf_init(&online, STRBUF_NO_LIMIT);
    topic_online(&topics, &online);
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:{s:{s:s, s:s}}, s:[{s:s}, {s:s}], s:{s:{s:b, s:{s:o, s:i, s:s, s:b}, s:i, "
        "s:s}}}",
        "host", "{broker}", "protocol", "secure-mqtt", "protocolVersion", "5", "description",
        "The broker of mqtt.url. With mqtt:// instead of mqtts:// there is no TLS, and the port is 1883.",
        "variables", "broker", "default", "broker.example:8883", "description", "host and port of mqtt.url",
        "security", "$ref", "#/components/securitySchemes/password", "$ref",
        "#/components/securitySchemes/certificate", "bindings", "mqtt", "cleanSession", 1, "lastWill",
        "topic", address_of(&online, ""), "qos", 1, "message", "offline", "retain", 1, "maximumPacketSize",
        BROKER_PACKET_MAX, "bindingVersion", BINDING);
}

static json_t *document(void)
{
    struct document d = {json_object(), json_object(), json_object(), api_document_definitions("requests"),
                         api_document_definitions("mqtt")};
    json_t *all = json_object();

    add_states(&d);
    add_events(&d);
    add_commands(&d);
    add_home_assistant(&d);
    json_object_set_new(all, "asyncapi", json_string("3.0.0"));
    json_object_set_new(all, "info",
                        json_pack("{s:s, s:s, s:s, s:{s:s, s:s}}", "title", "Ballast", "version", "1",
                                  "description", ABOUT, "license", "name", "GPL-3.0-or-later", "url",
                                  "https://www.gnu.org/licenses/gpl-3.0.html"));
    json_object_set_new(all, "defaultContentType", json_string(JSON));
    json_object_set_new(all, "servers", json_pack("{s:o}", "broker", server()));
    json_object_set_new(all, "channels", d.channels);
    json_object_set_new(all, "operations", d.operations);
    json_object_set_new(all, "components",
                        json_pack("{s:{s:{s:s, s:s}, s:{s:s, s:s}}, s:o, s:o, s:{}}", "securitySchemes",
                                  "password", "type", "userPassword", "description",
                                  "mqtt.username, mqtt.password_file", "certificate", "type", "X509",
                                  "description", "mqtt.cert_file, mqtt.key_file", "parameters", parameters(),
                                  "messages", d.messages, "schemas"));
    json_decref(d.requests);
    json_decref(d.definitions);
    return all;
}

/* ---- tests ---- */

static void test_document(void **state)
{
    json_t *d = document();

    (void)state;
    api_document_compare(d, "asyncapi.json", "unit-asyncapi --print > conf/asyncapi.json");
    json_decref(d);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_document)};

    if (argc == 2 && strcmp(argv[1], "--print") == 0) {
        json_t *d = document();
        char *text = api_document_text(d);

        json_decref(d);
        (void)fputs(text, stdout);
        free(text);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
