/* Topics: no name adds a level. CloudEvents: the envelope. */
#include "unit.h"

#include "base/cleanup.h"
#include "mqtt/cloudevent.h"
#include "mqtt/topic.h"

#include <jansson.h>
#include <string.h>

static const struct {
    const char *name, *level;
} levels[] = {
    {"esx1.example", "esx1.example"},
    {"host-31_a", "host-31_a"},
    {"a/b", "a%2Fb"},
    {"+", "%2B"},
    {"#", "%23"},
    {"$SYS", "%24SYS"},
    {"50%", "50%25"},
    {"a%2Fb", "a%252Fb"}, /* not the same as a/b */
    {"a~b", "a%7Eb"},     /* nor a hash */
    {"line\nend\x7f\x01", "line%0Aend%7F%01"},
    {"\xc3\xa9t\xc3\xa9", "%C3%A9t%C3%A9"},
    {"\xff\xfe", "%FF%FE"}, /* no UTF-8: a topic has to be */
    {" ", "%20"},
    {"", ""},
};

static void test_levels(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(levels); i++) {
        CLEANUP(strbuf_releasep) struct strbuf b = {0};

        strbuf_init(&b, STRBUF_NO_LIMIT);
        topic_level(levels[i].name, &b);
        assert_string_equal(b.text, levels[i].level);
    }
}

static const struct {
    const char *name, *word;
} topic_words[] = {
    {"host-31", "host-31"}, {"a_b", "a_5Fb"},       {"esx1.example", "esx1_2Eexample"},
    {"a/b", "a_2Fb"},       {"\xc3\xa9", "_C3_A9"},
};

static void test_words(void **state)
{
    char name[200];
    CLEANUP(strbuf_releasep) struct strbuf cut = {0};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(topic_words); i++) {
        CLEANUP(strbuf_releasep) struct strbuf b = {0};

        strbuf_init(&b, STRBUF_NO_LIMIT);
        topic_word(topic_words[i].name, &b);
        assert_string_equal(b.text, topic_words[i].word);
    }
    memset(name, '/', sizeof name);
    name[sizeof name - 1] = '\0';
    strbuf_init(&cut, STRBUF_NO_LIMIT);
    topic_word(name, &cut);
    assert_true(cut.len <= TOPIC_WORD_MAX && strstr(cut.text, "___") && !strpbrk(cut.text, "/~%"));
}

/* Long names are cut, differ all the same, and no cut goes through a %XX. */
static void test_long(void **state)
{
    char name[2][1000];

    (void)state;
    for (size_t len = 80; len < 300; len++) {
        CLEANUP(strbuf_releasep) struct strbuf a = {0};
        CLEANUP(strbuf_releasep) struct strbuf b = {0};

        for (int i = 0; i < 2; i++) {
            memset(name[i], len % 2 ? '/' : 'x', len);
            name[i][len] = (char)('a' + i);
            name[i][len + 1] = '\0';
        }
        strbuf_init(&a, STRBUF_NO_LIMIT);
        strbuf_init(&b, STRBUF_NO_LIMIT);
        topic_level(name[0], &a);
        topic_level(name[1], &b);
        assert_true(a.len <= TOPIC_LEVEL_MAX && a.len + 3 > (len < 80 ? len : 80));
        assert_string_not_equal(a.text, b.text);
        const char *cut = strchr(a.text, '~');

        if (cut)
            assert_true(strlen(cut) == 17 && cut[-1] != '%' && cut[-2] != '%');
    }
}

static void test_topics(void **state)
{
    const struct topics t = {"dc1/ballast", "prod a"};
    static const char expected[] = "dc1/ballast/prod%20a/events/action dc1/ballast/prod%20a/state "
                                   "dc1/ballast/prod%20a/hosts/h%2F1/state dc1/ballast/prod%20a/online";
    CLEANUP(strbuf_releasep) struct strbuf b = {0};

    (void)state;
    strbuf_init(&b, STRBUF_NO_LIMIT);
    topic_event(&t, "action", &b);
    strbuf_puts(&b, " ");
    topic_cluster(&t, &b);
    strbuf_puts(&b, " ");
    topic_host(&t, "h/1", &b);
    strbuf_puts(&b, " ");
    topic_online(&t, &b);
    assert_string_equal(b.text, expected);
}

static const struct {
    struct cloudevent ce;
    const char *json;
} envelopes[] = {
    {{.id = "abc-7",
      .source = "/ballast/prod",
      .type = "action.running",
      .subject = "vm-1",
      .time = 0,
      .data = "{\"a\": 1}"},
     "{\"specversion\": \"1.0\", \"id\": \"abc-7\", \"source\": \"/ballast/prod\", \"type\": "
     "\"io.ballast.action.running\", \"time\": \"1970-01-01T00:00:00Z\", \"subject\": \"vm-1\", "
     "\"datacontenttype\": \"application/json\", \"data\": {\"a\": 1}}"},
    {{.id = "i", .source = "/s", .type = "frozen", .time = 86400, .data = "{}"},
     "{\"specversion\": \"1.0\", \"id\": \"i\", \"source\": \"/s\", \"type\": \"io.ballast.frozen\", "
     "\"time\": "
     "\"1970-01-02T00:00:00Z\", \"datacontenttype\": \"application/json\", \"data\": {}}"},
    {{.id = "i", .source = "/s", .type = "host.on", .subject = "a\"\n\xff", .time = 0, .data = NULL},
     "{\"specversion\": \"1.0\", \"id\": \"i\", \"source\": \"/s\", \"type\": \"io.ballast.host.on\", "
     "\"time\": "
     "\"1970-01-01T00:00:00Z\", \"subject\": \"a\\\"\\n\xef\xbf\xbd\", \"datacontenttype\": "
     "\"application/json\", "
     "\"data\": null}"},
    {{.id = "i", .source = "/s", .type = "gap", .subject = "", .time = 0, .data = "{}"},
     "{\"specversion\": \"1.0\", \"id\": \"i\", \"source\": \"/s\", \"type\": \"io.ballast.gap\", \"time\": "
     "\"1970-01-01T00:00:00Z\", \"datacontenttype\": \"application/json\", \"data\": {}}"},
};

static void test_envelopes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(envelopes); i++) {
        CLEANUP(strbuf_releasep) struct strbuf b = {0};

        strbuf_init(&b, STRBUF_NO_LIMIT);
        cloudevent_json(&envelopes[i].ce, &b);
        assert_string_equal(b.text, envelopes[i].json);
        json_t *back = json_loads(b.text, JSON_REJECT_DUPLICATES, NULL);

        assert_non_null(back);
        json_decref(back);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels), cmocka_unit_test(test_words),     cmocka_unit_test(test_long),
        cmocka_unit_test(test_topics), cmocka_unit_test(test_envelopes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
