/* Commands over MQTT: what is read, and what is refused with which sentence. */
#include "unit.h"

#include "mqtt/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NOW 1790000000 /* 2026-09-21T14:13:20Z */

static const struct topics topics = {"dc1/ballast", "prod a"};

static const struct {
    const char *topic, *payload; /* the topic: below the cluster's */
    enum request_kind kind;
    const char *id;
} good[] = {
    {"cmd/pause", "", REQUEST_PAUSE, ""},
    {"cmd/pause", "{}", REQUEST_PAUSE, ""},
    {"cmd/pause", "{\"command\": \"pause\", \"id\": \"a 7\"}", REQUEST_PAUSE, "a 7"},
    {"cmd/freeze", "{}", REQUEST_PAUSE, ""}, /* the former word, as at the socket */
    {"cmd", "{\"command\": \"resume\"}", REQUEST_RESUME, ""},
    {"cmd/apply", "{\"ids\": [3, \"4.2\"]}", REQUEST_APPLY, ""},
    {"cmd/run", "{\"sent\": \"2026-09-21T14:12:20Z\"}", REQUEST_RUN, ""}, /* 60 s ago */
    {"cmd/run", "{\"sent\": \"2026-09-21T16:14:20+02:00\"}", REQUEST_RUN, ""},
    {"cmd/status", "", REQUEST_STATUS, ""}, /* the configuration cannot enable it */
};

static const struct {
    const char *topic, *payload, *sentence;
} wrong[] = {
    {"cmd", "", "\"command\": missing"},
    {"cmd", "{\"command\": 1}", "\"command\": missing"},
    {"cmdx", "{}", "not a topic of commands"},
    {"cmd/", "{}", "not a topic of commands"},
    {"cmd/a/b", "{}", "not a topic of commands"},
    {"events/frozen", "{}", "not a topic of commands"},
    {"cmd/pause", "{\"command\": \"resume\"}", "\"command\": expected \"pause\", as its topic says"},
    {"cmd/pause", "{\"command\": null}", "\"command\": expected \"pause\""},
    {"cmd/pause", "{\"verbose\": 1}", "\"verbose\": not a field of \"pause\""},
    {"cmd/pause", "{\"sent\": \"2026-09-21T14:12:19Z\"}", "it was sent 61 s ago, more than 60 s"},
    {"cmd/pause", "{\"sent\": \"2026-09-21T14:14:21Z\"}", "\"sent\" is 61 s ahead"},
    {"cmd/pause", "{\"sent\": 1790000000}", "\"sent\": expected a time"},
    {"cmd/pause", "{\"id\": 1}", "\"id\": expected a text"},
    {"cmd/pause", "{\"id\": \"\"}", "\"id\": expected a text"},
    {"cmd/pause", "{\"id\": \"\\u0007\"}", "\"id\": expected a text"},
    {"cmd/pause", "{\"id\": \"a\\u0000b\"}", "not a JSON object"},
    {"cmd/pause", "[1]", "not a JSON object"},
    {"cmd/pause", "pause", "not a JSON object"},
    {"cmd/pause", "{} {}", "not a JSON object"},
};

static int read_one(const char *below, const char *payload, struct command_message m, struct command *ret,
                    struct err *err)
{
    char topic[200];

    (void)snprintf(topic, sizeof topic, "dc1/ballast/prod%%20a/%s", below);
    m.topic = topic;
    m.payload = payload;
    m.len = m.len > 0 ? m.len : strlen(payload);
    return command_read(&topics, &m, NOW, ret, err);
}

static void test_good(void **state)
{
    struct command *c = malloc(sizeof *c);

    (void)state;
    for (size_t i = 0; i < ELEMENTS(good); i++) {
        struct err err = {0};
        int r = read_one(good[i].topic, good[i].payload, (struct command_message){0}, c, &err);

        if (r < 0)
            fail_msg("%s %s: %s", good[i].topic, good[i].payload, err.text);
        assert_int_equal(c->request.kind, good[i].kind);
        assert_string_equal(c->id, good[i].id);
        assert_null(c->reply_topic);
    }
    free(c);
}

static void test_wrong(void **state)
{
    struct command *c = malloc(sizeof *c);

    (void)state;
    for (size_t i = 0; i < ELEMENTS(wrong); i++) {
        struct err err = {0};

        assert_int_equal(read_one(wrong[i].topic, wrong[i].payload, (struct command_message){0}, c, &err),
                         -EINVAL);
        if (!strstr(err.text, wrong[i].sentence))
            fail_msg("%s %s: \"%s\" does not say \"%s\"", wrong[i].topic, wrong[i].payload, err.text,
                     wrong[i].sentence);
    }
    free(c);
}

/* A refusal is answered with the id, as far as it could be read. */
static void test_retained(void **state)
{
    struct command *c = malloc(sizeof *c);
    struct err err = {0};

    (void)state;
    assert_int_equal(read_one("cmd/standby", "{\"id\": \"x\", \"host\": \"esx1\"}",
                              (struct command_message){.retained = true}, c, &err),
                     -EINVAL);
    assert_string_equal(c->id, "x");
    assert_string_equal(c->word, "standby");
    assert_non_null(strstr(err.text, "retained"));
    free(c);
}

static void test_reply_topic(void **state)
{
    static const struct {
        const char *topic;
        bool good;
    } cases[] = {
        {"dc1/ballast/prod%20a/reply", true},       {"dc1/ballast/prod%20a/reply/a/b", true},
        {"dc1/ballast/prod%20a/replies", false},    {"dc1/ballast/prod%20a/state", false},
        {"dc1/ballast/other/reply", false},         {"", false},
        {"dc1/ballast/prod%20a/reply/+", false},    {"dc1/ballast/prod%20a/reply/#", false},
        {"dc1/ballast/prod%20a/reply/\x01", false},
    };
    struct command *c = malloc(sizeof *c);

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct err err = {0};
        int r =
            read_one("cmd/pause", "", (struct command_message){.response_topic = cases[i].topic}, c, &err);

        assert_int_equal(r, cases[i].good ? 0 : -EINVAL);
        assert_ptr_equal(c->reply_topic, cases[i].good ? cases[i].topic : NULL);
    }
    free(c);
}

static void test_long(void **state)
{
    struct command *c = malloc(sizeof *c);
    char *text = malloc(REQUEST_BYTES_MAX + 2);
    struct err err = {0};

    (void)state;
    memset(text, ' ', REQUEST_BYTES_MAX + 2);
    memcpy(text, "{}", 2);
    assert_int_equal(read_one("cmd/pause", text, (struct command_message){.len = REQUEST_BYTES_MAX}, c, &err),
                     0);
    assert_int_equal(
        read_one("cmd/pause", text, (struct command_message){.len = REQUEST_BYTES_MAX + 1}, c, &err),
        -EINVAL);
    assert_int_equal(read_one("cmd/pause", "",
                              (struct command_message){.correlation = text,
                                                       .correlation_len = COMMAND_CORRELATION_MAX + 1},
                              c, &err),
                     -EINVAL);
    free(text);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),        cmocka_unit_test(test_wrong), cmocka_unit_test(test_retained),
        cmocka_unit_test(test_reply_topic), cmocka_unit_test(test_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
