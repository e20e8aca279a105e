/* Pages and elements of a reply. */
#include "unit.h"

#include "base/cleanup.h"
#include "http/list_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct list_text *make(const char *text, const char *member)
{
    CLEANUP(strbuf_releasep) struct strbuf b = {0};

    strbuf_init(&b, STRBUF_NO_LIMIT);
    strbuf_puts(&b, text);
    struct shared_text *shared = shared_text_new(&b);
    struct list_text *l = list_text_new(shared, member);

    shared_text_unref(shared);
    return l;
}

static const char *page(struct list_text *l, const char *cursor, size_t limit,
                        char more[LIST_TEXT_CURSOR_SIZE])
{
    static char text[1000];
    struct iovec parts[3];

    if (list_text_page(l, cursor, limit, parts, more) < 0)
        return "wrong";
    (void)snprintf(text, sizeof text, "%.*s%.*s%.*s", (int)parts[0].iov_len, (char *)parts[0].iov_base,
                   (int)parts[1].iov_len, (char *)parts[1].iov_base, (int)parts[2].iov_len,
                   (char *)parts[2].iov_base);
    return text;
}

#define A "{\"id\": \"a\", \"name\": \"x]}\\\"\", \"t\": [1, {\"id\": 5}]}"
#define B "{\"id\": \"b\\\"\", \"name\": \"y\"}"
#define C "{\"id\": \"c\", \"name\": \"b\"}"
#define LIST(elements) "{\"ok\": true, \"skip\": [{\"list\": [1]}], \"list\": [" elements "], \"end\": 1}"

static void test_pages(void **state)
{
    char more[LIST_TEXT_CURSOR_SIZE], next[LIST_TEXT_CURSOR_SIZE];
    struct list_text *l = make(LIST(A ", " B ", " C), "list");

    (void)state;
    assert_int_equal(list_text_count(l), 3);
    assert_string_equal(page(l, NULL, 10, more), LIST(A ", " B ", " C));
    assert_string_equal(more, "");
    assert_string_equal(page(l, NULL, 2, more), LIST(A ", " B));
    assert_string_equal(more, "2~\"b\\\"\"");
    assert_string_equal(page(l, more, 2, next), LIST(C));
    assert_string_equal(next, "");
    assert_string_equal(page(l, "1~\"gone\"", 1, more), LIST(B)); /* behind the first, as counted */
    assert_string_equal(page(l, "9~\"a\"", 1, more), LIST(B));
    assert_string_equal(page(l, "9~", 1, more), LIST(""));
    assert_string_equal(page(l, "", 1, more), "wrong");
    assert_string_equal(page(l, "x", 1, more), "wrong");
    assert_string_equal(page(l, "1", 1, more), "wrong");
    assert_string_equal(page(l, "99999999999999999999999~", 1, more), "wrong");
    list_text_unref(l);
    l = make(LIST(""), "list");
    assert_string_equal(page(l, NULL, 2, more), LIST(""));
    assert_string_equal(more, "");
    list_text_unref(l);
    l = make(LIST("1, 2.5, \"a,b\", null, {}"), "list");
    assert_int_equal(list_text_count(l), 5);
    assert_string_equal(page(l, NULL, 3, more), LIST("1, 2.5, \"a,b\""));
    assert_string_equal(page(l, more, 3, next), LIST("null, {}"));
    list_text_unref(l);
}

static void test_elements(void **state)
{
    struct list_text *l = make(LIST(A ", " B ", " C ", {\"id\": 7}"), "list");
    struct iovec at;

    (void)state;
    assert_true(list_text_find(l, "b\"", &at));
    assert_memory_equal(at.iov_base, B, sizeof B - 1);
    assert_true(list_text_find(l, "b", &at)); /* a name */
    assert_memory_equal(at.iov_base, C, sizeof C - 1);
    assert_true(list_text_find(l, "7", &at));
    assert_false(list_text_find(l, "5", &at));
    assert_false(list_text_find(l, "", &at));
    list_text_unref(l);
}

static void test_etag_and_member(void **state)
{
    struct list_text *a = make("{\"ok\": true, \"text\": \"a\\n\\\"\"}", "text");
    struct list_text *b = make("{\"ok\": true, \"text\": \"a\\n\\\" \"}", "text");

    (void)state;
    assert_int_equal(strlen(list_text_etag(a)), LIST_TEXT_ETAG_SIZE - 1);
    assert_string_not_equal(list_text_etag(a), list_text_etag(b));
    assert_string_equal(shared_text_bytes(list_text_member(a)), "a\n\"");
    list_text_unref(a);
    list_text_unref(b);
    a = make("{\"ok\": true}", "text");
    assert_null(list_text_member(a));
    list_text_unref(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_elements),
        cmocka_unit_test(test_etag_and_member),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
