/* JSON texts as trees: refusals with their places, numbers to the last bit, lists entry by entry. That
 * jansson agrees on what is JSON is tests/fuzz/json.c's. */
#include "unit.h"

#include "base/rng.h"
#include "base/strbuf.h"
#include "schema/json_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text, *wrong;
} refused[] = {
    {"", "/: line 1, column 0: the text ends, expected a JSON value"},
    {" \n ", "/: line 2, column 1: the text ends, expected a JSON value"},
    {"{", "/: line 1, column 1: the text ends, expected a name in quotes or }"},
    {"{]", "/: line 1, column 2: ']', expected a name in quotes or }"},
    {"{\"a\":1,}", "/: line 1, column 8: '}', expected a name in quotes"},
    {"{\"a\" 1}", "/a: line 1, column 6: '1', expected :"},
    {"{\"a\":1 \"b\":2}", "/: line 1, column 8: '\"', expected , or }"},
    {"[1 2]", "/: line 1, column 4: '2', expected , or ]"},
    {"[1,]", "/1: line 1, column 4: ']', expected a JSON value"},
    {"{\"vms\":[{},\n {\"cpu\":nil}]}", "/vms/1/cpu: line 2, column 10: 'i', expected true, false or null"},
    {"[1] x", "/: line 1, column 5: 'x', expected the end of the text"},
    {"{\"a\":1,\n \"a\":2}", "/a: line 2, column 2: given twice, expected once"},
    {"{\"a\":\"b\nc\"}", "/a: line 1, column 8: byte 0x0a, expected control characters escaped"},
    {"[\"\xc3\xa9\", \"\xff\"]", "/1: line 1, column 8: byte 0xff, expected UTF-8"},
    {"[\"\xed\xa0\x80\"]", "/0: line 1, column 3: byte 0xed, expected UTF-8"},
    {"[\"\\x\"]", "/0: line 1, column 3: '\\', expected one of \\\""},
    {"[\"\\u12g4\"]", "/0: line 1, column 3: '\\', expected four hexadecimal digits"},
    {"[\"\\u0000\"]", "/0: line 1, column 3: '\\', expected a text without NUL"},
    {"[\"\\ud800\\u0041\"]", "/0: line 1, column 3: '\\', expected a surrogate pair"},
    {"[\"\\udc00\"]", "/0: line 1, column 3: '\\', expected a surrogate pair"},
    {"[\"abc", "/0: line 1, column 5: the text ends, expected the rest of a text and a quote"},
    {"[\"abc\\", "/0: line 1, column 6: '\\', expected one of"},
    {"[-]", "/0: line 1, column 3: ']', expected a digit"},
    {"[01]", "/0: line 1, column 3: '1', expected no digit after a leading 0"},
    {"[1.]", "/0: line 1, column 4: ']', expected a digit"},
    {"[1e+]", "/0: line 1, column 5: ']', expected a digit"},
    {"[.5]", "/0: line 1, column 2: '.', expected a JSON value"},
    {"[+5]", "/0: line 1, column 2: '+', expected a JSON value"},
    {"[NaN]", "/0: line 1, column 2: 'N', expected a JSON value"},
    {"[1e999]", "/0: line 1, column 2: '1', expected a number of 1.8e308 at most"},
    {"[9223372036854775808]", "/0: line 1, column 2: '9', expected a whole number of 64 bits at most"},
    {"{\"a~/b\": nil}", "/a~0~1b: line 1, column 11: 'i', expected true, false or null"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(refused); i++) {
        struct arena a = {0};
        struct err err = {0};
        struct node *n;
        int r = json_tree_parse(refused[i].text, &a, &n, &err);

        if (r != -EINVAL || strncmp(err.text, refused[i].wrong, strlen(refused[i].wrong)) != 0)
            fail_msg("%s: %d %s, expected %s", refused[i].text, r, err.text, refused[i].wrong);
        arena_release(&a);
    }
}

/* A name given twice is found in objects of any size. */
static void test_many_names(void **state)
{
    (void)state;
    for (int n = 2; n < 300; n += 31) {
        struct arena a = {0};
        struct err err = {0};
        struct node *node;
        struct strbuf text;

        strbuf_init(&text, STRBUF_NO_LIMIT);
        for (int i = 0; i < n; i++)
            strbuf_printf(&text, "%c\"n%d\":%d", i ? ',' : '{', i, i);
        size_t len = text.len;

        strbuf_puts(&text, "}");
        assert_int_equal(json_tree_parse(text.text, &a, &node, &err), 0);
        assert_int_equal(node->n, n);
        text.text[len] = '\0';
        text.len = len;
        strbuf_printf(&text, ",\"n%d\":0}", n / 2);
        assert_int_equal(json_tree_parse(text.text, &a, &node, &err), -EINVAL);
        assert_non_null(strstr(err.text, "given twice"));
        strbuf_release(&text);
        arena_release(&a);
    }
}

static void test_levels(void **state)
{
    char text[2 * (JSON_LEVELS_MAX + 1) + 1];
    struct err err = {0};
    struct node *n;

    (void)state;
    for (size_t levels = JSON_LEVELS_MAX; levels <= JSON_LEVELS_MAX + 1; levels++) {
        struct arena a = {0};

        memset(text, '[', levels);
        memset(text + levels, ']', levels);
        text[2 * levels] = '\0';
        assert_int_equal(json_tree_parse(text, &a, &n, &err), levels > JSON_LEVELS_MAX ? -EINVAL : 0);
        arena_release(&a);
    }
    assert_non_null(strstr(err.text, "expected fewer levels"));
}

/* Every double is read as strtod() reads it, in as many digits as writers give it. */
static void test_numbers(void **state)
{
    struct rng rng = {7};

    (void)state;
    for (int i = 0; i < 200000; i++) {
        struct arena a = {0};
        char text[64];
        uint64_t bits = rng_next(&rng);
        double v;
        struct node *n;

        memcpy(&v, &bits, sizeof v);
        if (i % 2) /* sizes as in snapshots */
            v = rng_range(&rng, 0, 1e6);
        if (v != v || v - v != 0)
            continue;
        (void)snprintf(text, sizeof text, "%.*g", 1 + (int)rng_below(&rng, 19), v);
        if (strspn(text, "-0123456789") == strlen(text) && strlen(text) > 18)
            continue; /* whole numbers beyond 64 bits are refused */
        double expected = strtod(text, NULL);

        if (expected - expected != 0)
            continue;
        assert_int_equal(json_tree_parse(text, &a, &n, NULL), 0);
        if (n->number != expected)
            fail_msg("%s is read as %.17g", text, n->number);
        arena_release(&a);
    }
}

struct taking {
    struct strbuf seen;
    size_t memory; /* of the arena of all else */
};

static bool is_long(void *context, const struct node *list)
{
    (void)context;
    return !list->key || strcmp(list->key, "long") == 0;
}

static void take(void *context, const struct node *entry)
{
    struct taking *t = context;
    char path[NODE_PATH_MAX];
    const struct node *id = entry->kind == NODE_MAP ? node_child(entry, "id") : NULL;

    strbuf_printf(&t->seen, "%s=%s ", node_path(entry, path), id ? id->text : "?");
}

static void test_entries(void **state)
{
    static const struct {
        const char *text, *seen, *kept; /* kept: the members of the document with their children */
    } cases[] = {
        {"{\"a\":1,\"long\":[{\"id\":\"x\"},{\"id\":\"y\"},7],\"short\":[1,2]}",
         "/long/0=x /long/1=y /long/2=? ", "a:0 long:3 short:2 "},
        {"{\"long\":[],\"b\":{\"long\":[1,2]}}", "", "long:0 b:1 "},
        {"[{\"id\":\"x\"},[1,[2]]]", "/0=x /1=? ", ""},
        {"{\"long\":7}", "", "long:0 "},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct arena a = {0};
        struct taking t = {0};
        const struct json_entries entries = {.taken = is_long, .entry = take, .context = &t};
        const struct json_source source = {.text = cases[i].text, .len = strlen(cases[i].text)};
        struct strbuf kept;
        struct node *n;

        strbuf_init(&t.seen, STRBUF_NO_LIMIT);
        strbuf_init(&kept, STRBUF_NO_LIMIT);
        assert_int_equal(json_tree_read(&source, &entries, &a, &n, NULL), 0);
        for (const struct node *c = n->first; c; c = c->next)
            strbuf_printf(&kept, "%s:%zu ", c->key, c->n);
        assert_string_equal(t.seen.text, cases[i].seen);
        assert_string_equal(kept.text, cases[i].kept);
        strbuf_release(&t.seen);
        strbuf_release(&kept);
        arena_release(&a);
    }
}

/* A text without end: entries of 40 bytes until `left` is 0. */
static ssize_t read_entries(void *from, void *into, size_t size)
{
    size_t *left = from;
    const bool first = *left == 1000000;
    int n = *left == 0 ? 0
            : *left == 1
                ? snprintf(into, size, "]")
                : snprintf(into, size, "%c{\"id\": \"a text of some twenty bytes\"}", first ? '[' : ',');

    *left -= *left > 0;
    return n;
}

static void count(void *context, const struct node *entry)
{
    *(size_t *)context += entry->n;
}

static void test_memory(void **state)
{
    struct arena a = {0};
    size_t left = 1000000, n_ids = 0;
    const struct json_entries entries = {.taken = is_long, .entry = count, .context = &n_ids};
    const struct json_source source = {.read = read_entries, .from = &left};
    struct node *n;

    (void)state;
    assert_int_equal(json_tree_read(&source, &entries, &a, &n, NULL), 0);
    assert_int_equal(n->n, 999999);
    assert_int_equal(n_ids, 999999);
    assert_true(arena_size(&a) < 1000000);
    arena_release(&a);
}

static ssize_t fail_to_read(void *from, void *into, size_t size)
{
    int *calls = from;

    return (*calls)++ == 0 ? snprintf(into, size, "[1, ") : -EIO;
}

static void test_sources_that_fail(void **state)
{
    struct arena a = {0};
    struct err err = {0};
    int calls = 0;
    const struct json_source broken = {.read = fail_to_read, .from = &calls};
    const struct json_source large = {.text = "[1, 2]", .len = 6, .most = 5};
    size_t left = 1000000;
    const struct json_source endless = {.read = read_entries, .from = &left, .most = 300};
    struct node *n;

    (void)state;
    assert_int_equal(json_tree_read(&broken, NULL, &a, &n, &err), -EIO);
    assert_string_equal(err.text, "cannot be read: Input/output error");
    assert_int_equal(json_tree_read(&large, NULL, &a, &n, &err), -EFBIG);
    assert_string_equal(err.text, "/: too large, expected at most 5 bytes");
    assert_int_equal(json_tree_read(&endless, NULL, &a, &n, &err), -EFBIG);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_many_names),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_entries),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_sources_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
