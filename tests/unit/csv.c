/* Texts as fields of CSV: quoted where needed, no formula, and the same text when read back. */
#include "unit.h"

#include "base/cleanup.h"
#include "base/csv.h"

#include <string.h>

static const struct {
    const char *text, *field;
} cases[] = {
    {"", ""},
    {"web-1", "web-1"},
    {"two words", "two words"},
    {"a,b", "\"a,b\""},
    {"say \"hi\"", "\"say \"\"hi\"\"\""},
    {"two\nlines", "\"two\nlines\""},
    {"=1+1", "\"'=1+1\""},
    {"+1", "\"'+1\""},
    {"-1", "\"'-1\""},
    {"@x", "\"'@x\""},
    {"\tx", "\"'\tx\""},
    {"\rx", "\"'\rx\""},
    {"'quoted'", "\"''quoted'\""},
    {" x", "\" x\""},
    {"x ", "\"x \""},
    {"x\ty", "\"x\ty\""},
    {"it's", "it's"},
    {"a=b", "a=b"},
    {"\"", "\"\"\"\""},
    {"=\"\n,", "\"'=\"\"\n,\""},
};

static void test_there_and_back(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    CLEANUP(strbuf_releasep) struct strbuf out = {0};

    (void)state;
    strbuf_init(&out, STRBUF_NO_LIMIT);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        strbuf_clear(&out);
        csv_put_text(&out, cases[i].text);
        assert_string_equal(out.text, cases[i].field);
        assert_string_equal(csv_text(out.text, out.len, &a), cases[i].text);
        strbuf_puts(&out, ",7");
        const size_t len = out.len;
        strbuf_puts(&out, "\nnext,\"line\n\"");
        assert_int_equal(csv_line_length(out.text, out.len), len);
    }
}

/* What others write: names with quotes that are no field's. */
static void test_as_it_is(void **state)
{
    static const char *const fields[] = {"the \"big\" one", "\"open",  "\"a\" or b", "\"", "'x",
                                         "a\"\"b",          "\"a\"b\""};
    CLEANUP(arena_releasep) struct arena a = {0};

    (void)state;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        assert_string_equal(csv_text(fields[i], strlen(fields[i]), &a), fields[i]);
    assert_string_equal(csv_text("\"'x\"", 4, &a), "'x");
    assert_int_equal(csv_line_length("", 0), 0);
    assert_int_equal(csv_line_length("1,\"open,2\n3", 11), 9);
    assert_int_equal(csv_line_length("1,an \"inch,2\n3\",4", 17), 12);
    assert_int_equal(csv_line_length("1,\"a\nb\",\"c\nd\",2", 15), 15);
    assert_int_equal(csv_line_length("\"a\nb\",\"c\n\"\n1", 12), 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_there_and_back),
                                       cmocka_unit_test(test_as_it_is)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
