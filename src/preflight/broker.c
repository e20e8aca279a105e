/* broker.c: logs in to the MQTT broker, and publishes one message that is neither an event nor a state. */
#include "preflight/internal.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "mqtt/broker.h"
#include "mqtt/topic.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_MOST_S 10
#define STEP_MS 200
#define REFUSED 128 /* reason codes from here on are refusals */
#define MESSAGE "check-config"

struct conversation {
    bool connected;
    int answer; /* reason code; -1: none yet */
};

static void on_connected(void *ctx)
{
    ((struct conversation *)ctx)->connected = true;
}

static void on_answered(void *ctx, int mid, int reason)
{
    (void)mid;
    ((struct conversation *)ctx)->answer = reason;
}

static int step_until_connected(struct broker *b, const struct conversation *t, struct err *err)
{
    int r = 0;

    while (r == 0 && !t->connected)
        r = broker_step(b, -1, STEP_MS, err); /* which has a time limit for this */
    return r;
}

static int step_until_answered(struct broker *b, const struct conversation *t, struct err *err)
{
    const time_t until = clock_monotonic_s() + ANSWER_MOST_S;
    int r = 0;

    while (r == 0 && t->answer < 0 && clock_monotonic_s() < until)
        r = broker_step(b, -1, STEP_MS, err);
    if (r == 0 && t->answer < 0)
        return err_set(err, -ETIMEDOUT, "the broker has not confirmed a message within %d s", ANSWER_MOST_S);
    return r;
}

static void add_answer(const struct broker_part *p, const struct conversation *t, const char *topic,
                       struct preflight *ret)
{
    if (t->answer < REFUSED) {
        preflight_add(ret, PREFLIGHT_BROKER, PREFLIGHT_OK, "may publish: %s was accepted", topic);
        return;
    }
    preflight_add(ret, PREFLIGHT_BROKER, PREFLIGHT_PROBLEM,
                  "the broker refuses messages to %s: %s (reason %d)", topic, broker_reason(t->answer),
                  t->answer);
    preflight_advise(ret, "allow %s to write below %.*s# (mosquitto's acl_file: topic write %.*s#)",
                     p->config->mqtt.username ? p->config->mqtt.username : "the service",
                     (int)(strlen(topic) - strlen(TOPIC_CHECK)), topic,
                     (int)(strlen(topic) - strlen(TOPIC_CHECK)), topic);
}

static int talk(const struct broker_part *p, struct broker *b, struct conversation *t, const char *topic,
                struct preflight *ret, struct err *err)
{
    int mid;
    int r = step_until_connected(b, t, err);

    if (r < 0)
        return r;
    preflight_add(ret, PREFLIGHT_BROKER, PREFLIGHT_OK, "%s: connected%s%s", p->config->mqtt.url,
                  p->config->mqtt.username ? ", login accepted for " : "",
                  p->config->mqtt.username ? p->config->mqtt.username : "");
    if ((r = broker_publish(b, &(struct broker_message){.topic = topic, .payload = MESSAGE}, &mid, err)) <
            0 ||
        (r = step_until_answered(b, t, err)) < 0)
        return r;
    add_answer(p, t, topic, ret);
    return 0;
}

static void add_error(const struct broker_part *p, int r, const struct err *err, struct preflight *ret)
{
    preflight_add(ret, PREFLIGHT_BROKER, PREFLIGHT_PROBLEM, "%s", err->text);
    if (r == -EACCES)
        preflight_advise(ret, "correct mqtt.username or the password; events wait in the store meanwhile");
    else
        preflight_advise(ret, "check mqtt.url (%s)%s; events wait in the store meanwhile",
                         p->config->mqtt.url,
                         p->config->mqtt.tls ? ", mqtt.ca_file and the broker's certificate" : "");
}

/* An id of its own: the broker ends a connection when another one comes with the same id. */
static const char *client_id(const struct config_mqtt *m, struct arena *a)
{
    return m->client_id ? arena_printf(a, "%s-check", m->client_id)
                        : arena_printf(a, "ballast-check-%ld", (long)getpid());
}

void preflight_broker(void *part)
{
    struct broker_part *p = part;
    const struct config_mqtt *m = &p->config->mqtt;
    const struct topics topics = {m->topic, p->config->cluster};
    CLEANUP(strbuf_releasep) struct strbuf topic = STRBUF_EMPTY;
    const struct broker_options options = {
        .host = m->host,
        .port = (int)m->port,
        .tls = m->tls,
        .tls_verify = m->tls_verify,
        .ca_file = m->ca_file,
        .cert_file = m->cert_file,
        .key_file = m->key_file,
        .username = m->username,
        .password = m->password,
        .client_id = client_id(m, &p->found.arena),
    };
    const struct broker_handlers handlers = {.connected = on_connected, .answered = on_answered};
    struct conversation t = {.answer = -1};
    struct broker *b = NULL;
    struct err err = {0};

    if (m->password_file && !m->password) {
        preflight_add(&p->found.list, PREFLIGHT_BROKER, PREFLIGHT_PROBLEM,
                      "the broker is not asked: mqtt.password_file %s cannot be read", m->password_file);
        preflight_advise_unread(&p->found.list, m->password_file);
        return;
    }
    topic_check(&topics, &topic);
    int r = broker_connect(&options, &handlers, &t, &b, &err);

    if (r == 0)
        r = talk(p, b, &t, topic.text, &p->found.list, &err);
    if (r < 0)
        add_error(p, r, &err, &p->found.list);
    if (b)
        broker_disconnect(b, false);
    broker_free(b);
}
