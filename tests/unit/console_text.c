/* Bytes of a serial line, made into text that can be shown. */
#include "unit.h"

#include "base/console_text.h"

#include <string.h>

static const struct {
    const char *came, *shown;
} cases[] = {
    {"", ""},
    {"login: ", "login:\n"},
    {"a\r\nb\nc\r\r\n", "a\nb\nc\n"},
    {"\r\n\r\n\r\na\r\n\r\n\r\nb\r\n\r\n", "a\n\nb\n"},
    {"10%\r20%\r100%\r\n", "100%\n"},
    {"done\r", "done\n"},
    {"abc\b\bd\xc3\xa9\b!", "ad!\n"},
    {"a\tb", "a       b\n"},
    {"\x1b[31mred\x1b[0m", "red\n"},
    {"one\x1b[5;1Htwo\x1b[5;1H\x1b[5;1Hthree", "one\ntwo\nthree\n"},
    {"\x1b]0;title\a$ \x1bPq#0\x1b\\x\x1b(B", "$ x\n"},
    {"\x1b]0;never ends\nnext", "next\n"},
    {"broken off \x1b[3", "broken off\n"},
    {"\x1b", ""},
    {"\x1b[\x1b[1mx", "x\n"},
    {"\x01\x7f\x05ok", "ok\n"},
    {"\xff\xfe\xfdgarbage\x80", "\xef\xbf\xbdgarbage\xef\xbf\xbd\n"},
    {"\xc0\x80|\xed\xa0\x80|\xf4\x90\x80\x80|\xe2\x82",
     "\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd\n"},
    {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\n"},
    {"evil\xe2\x80\xaegpj.exe", "evil\xef\xbf\xbdgpj.exe\n"}, /* right-to-left override */
    {"\xc2\x9b"
     "31m",
     "\xef\xbf\xbd"
     "31m\n"}, /* CSI as one character */
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct strbuf b;
        strbuf_init(&b, STRBUF_NO_LIMIT);
        console_text_clean(cases[i].came, strlen(cases[i].came), &b);
        assert_string_equal(b.text, cases[i].shown);
        strbuf_release(&b);
    }
}

static void test_lines_without_an_end_are_broken(void **state)
{
    char line[10000];
    struct strbuf b;

    (void)state;
    memset(line, 'x', sizeof line);
    strbuf_init(&b, STRBUF_NO_LIMIT);
    console_text_clean(line, sizeof line, &b);
    assert_int_equal(b.len, sizeof line + 3);
    assert_int_equal(b.text[4096], '\n');
    strbuf_release(&b);
}

static void test_what_is_nul_is_left_out(void **state)
{
    struct strbuf b;

    (void)state;
    strbuf_init(&b, 100);
    console_text_clean("a\0b", 3, &b);
    assert_string_equal(b.text, "ab\n");
    console_text_clean(NULL, 0, &b);
    assert_string_equal(b.text, "ab\n");
    strbuf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_lines_without_an_end_are_broken),
        cmocka_unit_test(test_what_is_nul_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
