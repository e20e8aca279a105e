/* mqtt.c: checks the keys of `mqtt:` that depend on each other. */
#include "config/sections.h"

#include <stdlib.h>
#include <string.h>

#define PORT_TLS 8883
#define PORT_CLEAR 1883
#define PORT_MOST 65535
#define TOPIC_MAX 200
#define CLIENT_ID_MAX 200

/* Requests (request.h) of operators that need no looking at an answer. */
static const char *const commands[] = {"apply",       "reject",  "pause", "resume", "run",
                                       "maintenance", "standby", "wake",  "migrate"};

const char *config_mqtt_command_check(const char *word)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(word, commands[i]) == 0)
            return NULL;
    }
    return "apply, reject, pause, resume, run, maintenance, standby, wake or migrate";
}

/* The reader has checked that the url is a scheme and an authority. */
static int take_apart(const struct section *s)
{
    struct config_mqtt *m = &s->config->mqtt;
    const char *at = strstr(m->url, "://") + strlen("://");
    bool bracket = *at == '[';
    size_t len = bracket ? strcspn(at, "]") - 1 : strcspn(at, ":/?#");
    const char *rest = at + len + (bracket ? 2 : 0);

    m->tls = strncmp(m->url, "mqtts:", strlen("mqtts:")) == 0;
    m->host = arena_strndup(s->reader.a, at + bracket, len);
    m->port = m->tls ? PORT_TLS : PORT_CLEAR;
    if (*rest == ':') {
        char *end;

        m->port = strtoll(rest + 1, &end, 10);
        rest = end;
    }
    if (len == 0 || m->port < 1 || m->port > PORT_MOST)
        return section_refuse(s, "mqtt.url",
                              "has no host, or a port that there is not, expected mqtts://HOST[:PORT]");
    if (*rest != '\0' && strcmp(rest, "/") != 0)
        return section_refuse(s, "mqtt.url",
                              "has a path, expected mqtts://HOST[:PORT]; topics begin with mqtt.topic");
    return 0;
}

static bool has_control(const char *text)
{
    for (const char *c = text; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return true;
    }
    return false;
}

static bool begins_topics(const char *text)
{
    size_t len = strlen(text);

    return len > 0 && len <= TOPIC_MAX && !strpbrk(text, "+#") && !has_control(text) && text[0] != '$' &&
           text[0] != '/' && text[len - 1] != '/';
}

static int check_words(const struct section *s)
{
    struct config_mqtt *m = &s->config->mqtt;

    if (m->home_assistant && strcmp(m->home_assistant, "true") == 0)
        m->home_assistant = "homeassistant";
    else if (m->home_assistant && strcmp(m->home_assistant, "false") == 0)
        m->home_assistant = NULL;
    if (m->home_assistant && !begins_topics(m->home_assistant))
        return section_refuse(s, "mqtt.home_assistant",
                              "is no beginning of a topic, expected true, false or the prefix");
    if (!begins_topics(m->topic))
        return section_refuse(
            s, "mqtt.topic",
            "is no beginning of a topic, expected at most 200 bytes without +, # and control characters, "
            "that do not begin with $ or /, nor end with /");
    if (m->client_id && (has_control(m->client_id) || strlen(m->client_id) > CLIENT_ID_MAX))
        return section_refuse(s, "mqtt.client_id",
                              "is not a client's name, expected at most 200 printable bytes");
    if (m->password_file && !m->username)
        return section_refuse(s, "mqtt.username",
                              "is missing, expected it because mqtt.password_file is given");
    if (!m->cert_file != !m->key_file)
        return section_refuse(s, m->cert_file ? "mqtt.key_file" : "mqtt.cert_file",
                              "is missing, expected both mqtt.cert_file and mqtt.key_file, or neither");
    return 0;
}

/* A command over MQTT names no person. */
static void warn_of_two_people(const struct section *s)
{
    for (const char *const *w = s->config->mqtt.commands; *w; w++) {
        const char *action = strcmp(*w, "apply") == 0 ? "approve" : *w;

        for (const char *const *chosen = s->config->four_eyes.actions; *chosen; chosen++) {
            if (strcmp(*chosen, action) == 0 ||
                (strcmp(*w, "migrate") == 0 && strcmp(*chosen, "approve") == 0))
                section_warn(
                    s, section_line(s, "mqtt.commands"),
                    "mqtt.commands has %s, which is refused while four_eyes.actions has %s: a command "
                    "over MQTT names no person",
                    *w, *chosen);
        }
    }
}

static void warn(const struct section *s)
{
    static const char *const of_tls[] = {"mqtt.ca_file", "mqtt.cert_file", "mqtt.key_file",
                                         "mqtt.tls_verify"};
    const struct config_mqtt *m = &s->config->mqtt;

    for (size_t i = 0; !m->tls && i < sizeof of_tls / sizeof *of_tls; i++) {
        if (section_has(s, of_tls[i]) && (i < 3 || !m->tls_verify))
            section_warn(s, section_line(s, of_tls[i]), "%s is of no use to an mqtt.url without TLS",
                         of_tls[i]);
    }
    if (!m->tls && m->password_file)
        section_warn(s, section_line(s, "mqtt.url"),
                     "the broker is reached without TLS: its password goes over the network in the clear");
    if (m->tls && !m->tls_verify)
        section_warn(s, section_line(s, "mqtt.tls_verify"),
                     "TLS CERTIFICATES ARE NOT VERIFIED: a host in the network can pose as the broker and "
                     "read its password");
    if (m->tls && !m->tls_verify && m->ca_file)
        section_warn(s, section_line(s, "mqtt.ca_file"),
                     "mqtt.ca_file is of no use while mqtt.tls_verify is false");
}

static void warn_of_no_url(const struct section *s)
{
    static const char *const keys[] = {"mqtt.username",  "mqtt.password_file", "mqtt.ca_file",
                                       "mqtt.cert_file", "mqtt.key_file",      "mqtt.client_id",
                                       "mqtt.commands",  "mqtt.home_assistant"};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (section_has(s, keys[i]))
            section_warn(s, section_line(s, keys[i]), "%s is of no use without mqtt.url", keys[i]);
    }
}

int config_check_mqtt(const struct section *s, const struct schema *keys)
{
    struct config_mqtt *m = &s->config->mqtt;
    int e;

    if ((e = check_words(s)) < 0)
        return e;
    if (!m->url) {
        warn_of_no_url(s);
        return 0;
    }
    if ((e = take_apart(s)) < 0 || (e = section_files(s, keys, "mqtt.", s->config)) < 0)
        return e;
    warn(s);
    warn_of_two_people(s);
    return 0;
}
