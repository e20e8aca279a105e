#include "config/mqtt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PORT_TLS 8883
#define PORT_CLEAR 1883
#define PORT_MOST 65535
#define TOPIC_MAX 200
#define CLIENT_ID_MAX 200

static unsigned line_of(const struct reader *r, const struct node *root, const char *path)
{
    return read_line(r, root, path);
}

static int wrong(const struct reader *r, const struct node *root, const char *path, const char *what)
{
    return err_set(r->err, -EINVAL, "%s:%u: %s %s", r->file, line_of(r, root, path), path, what);
}

/* The url is a scheme and an authority, as read.c has checked. */
static int take_apart(const struct reader *r, const struct node *root)
{
    struct config_mqtt *m = &r->config->mqtt;
    const char *at = strstr(m->url, "://") + strlen("://");
    bool bracket = *at == '[';
    size_t len = bracket ? strcspn(at, "]") - 1 : strcspn(at, ":/?#");
    const char *rest = at + len + (bracket ? 2 : 0);

    m->tls = strncmp(m->url, "mqtts:", strlen("mqtts:")) == 0;
    m->host = arena_strndup(r->a, at + bracket, len);
    m->port = m->tls ? PORT_TLS : PORT_CLEAR;
    if (*rest == ':') {
        char *end;

        m->port = strtoll(rest + 1, &end, 10);
        rest = end;
    }
    if (len == 0 || m->port < 1 || m->port > PORT_MOST)
        return wrong(r, root, "mqtt.url",
                     "has no host, or a port that there is not, expected mqtts://HOST[:PORT]");
    if (*rest != '\0' && strcmp(rest, "/") != 0)
        return wrong(r, root, "mqtt.url",
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

static int check_words(const struct reader *r, const struct node *root)
{
    const struct config_mqtt *m = &r->config->mqtt;
    size_t len = strlen(m->topic);

    if (strpbrk(m->topic, "+#") || has_control(m->topic) || m->topic[0] == '$' || m->topic[0] == '/' ||
        m->topic[len - 1] == '/' || len > TOPIC_MAX)
        return wrong(
            r, root, "mqtt.topic",
            "is no beginning of a topic, expected at most 200 bytes without +, # and control characters, "
            "that do not begin with $ or /, nor end with /");
    if (m->client_id && (has_control(m->client_id) || strlen(m->client_id) > CLIENT_ID_MAX))
        return wrong(r, root, "mqtt.client_id",
                     "is not a client's name, expected at most 200 printable bytes");
    if (m->password_file && !m->username)
        return wrong(r, root, "mqtt.username", "is missing, expected it because mqtt.password_file is given");
    if (!m->cert_file != !m->key_file)
        return wrong(r, root, m->cert_file ? "mqtt.key_file" : "mqtt.cert_file",
                     "is missing, expected both mqtt.cert_file and mqtt.key_file, or neither");
    return 0;
}

/* A missing one would show at the first connection only, and far from the line that names it. */
static int check_file(const struct reader *r, const struct node *root, const char *key, const char *path,
                      const char *expected)
{
    if (!path || access(path, R_OK) == 0)
        return 0;
    if (errno == EACCES && r->use == CONFIG_FOR_CHECK) {
        config_warn(r, line_of(r, root, key), "%s: %s cannot be read by this user, so it was not checked",
                    key, path);
        return 0;
    }
    return err_set(r->err, -EINVAL, "%s:%u: %s: %s cannot be read: %s, expected %s", r->file,
                   line_of(r, root, key), key, path, strerror(errno), expected);
}

static void warn(const struct reader *r, const struct node *root)
{
    static const char *const of_tls[] = {"mqtt.ca_file", "mqtt.cert_file", "mqtt.key_file",
                                         "mqtt.tls_verify"};
    const struct config_mqtt *m = &r->config->mqtt;

    for (size_t i = 0; !m->tls && i < sizeof of_tls / sizeof *of_tls; i++) {
        if (read_given(r, of_tls[i]) && (i < 3 || !m->tls_verify))
            config_warn(r, line_of(r, root, of_tls[i]), "%s is of no use to an mqtt.url without TLS",
                        of_tls[i]);
    }
    if (!m->tls && m->password_file)
        config_warn(r, line_of(r, root, "mqtt.url"),
                    "the broker is reached without TLS: its password goes over the network in the clear");
    if (m->tls && !m->tls_verify)
        config_warn(
            r, line_of(r, root, "mqtt.tls_verify"),
            "TLS CERTIFICATES ARE NOT VERIFIED: whoever can reach the network can pose as the broker and "
            "read its password");
    if (m->tls && !m->tls_verify && m->ca_file)
        config_warn(r, line_of(r, root, "mqtt.ca_file"),
                    "mqtt.ca_file is of no use while mqtt.tls_verify is false");
}

static void warn_of_no_url(const struct reader *r, const struct node *root)
{
    static const char *const keys[] = {"mqtt.username",  "mqtt.password_file", "mqtt.ca_file",
                                       "mqtt.cert_file", "mqtt.key_file",      "mqtt.client_id"};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (read_given(r, keys[i]))
            config_warn(r, line_of(r, root, keys[i]), "%s is of no use without mqtt.url", keys[i]);
    }
}

int check_mqtt(const struct reader *r, const struct node *root)
{
    struct config_mqtt *m = &r->config->mqtt;
    int e;

    if ((e = check_words(r, root)) < 0)
        return e;
    if (!m->url) {
        warn_of_no_url(r, root);
        return 0;
    }
    if ((e = take_apart(r, root)) < 0 ||
        (e = check_file(r, root, "mqtt.ca_file", m->ca_file, "PEM certificates")) < 0 ||
        (e = check_file(r, root, "mqtt.cert_file", m->cert_file, "a PEM certificate")) < 0 ||
        (e = check_file(r, root, "mqtt.key_file", m->key_file, "a PEM key")) < 0 ||
        (e = read_secret(r, "mqtt.password_file", m->password_file, &m->password)) < 0)
        return e;
    warn(r, root);
    return 0;
}
