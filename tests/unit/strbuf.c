/* Strings that grow: always terminated, never beyond their limit. */
#include "unit.h"

#include "base/strbuf.h"

#include <string.h>

static const struct {
    size_t limit;
    const char *pieces[4];
    const char *text; /* NULL: only the overflow counts */
    bool overflow;
} cases[] = {
    {100, {NULL}, "", false},
    {100, {"a", "", "bc"}, "abc", false},
    {3, {"abc"}, "abc", false},
    {3, {"abcd"}, NULL, true},
    {3, {"ab", "cd", "e"}, NULL, true},
    {0, {"a"}, "", true},
    {STRBUF_NO_LIMIT, {"a", "b", "c", "d"}, "abcd", false},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct strbuf b;
        strbuf_init(&b, cases[i].limit);
        for (size_t k = 0; k < 4 && cases[i].pieces[k]; k++)
            strbuf_puts(&b, cases[i].pieces[k]);
        assert_true(b.overflow == cases[i].overflow);
        assert_true(b.len <= cases[i].limit);
        assert_int_equal(strlen(b.text), b.len);
        if (cases[i].text)
            assert_string_equal(b.text, cases[i].text);
        strbuf_release(&b);
    }
}

static void test_printf_grows(void **state)
{
    struct strbuf b;

    (void)state;
    strbuf_init(&b, STRBUF_NO_LIMIT);
    for (int i = 0; i < 10000; i++)
        strbuf_printf(&b, "%04d", i);
    assert_int_equal(b.len, 40000);
    assert_memory_equal(b.text + 39996, "9999", 5);
    strbuf_clear(&b);
    assert_string_equal(b.text, "");
    strbuf_printf(&b, "%5000s", "x"); /* longer than any buffer on the stack */
    assert_int_equal(b.len, 5000);
    strbuf_release(&b);
}

static void test_bytes(void **state)
{
    struct strbuf b;

    (void)state;
    strbuf_init(&b, 10);
    strbuf_add(&b, "a\0b", 3);
    assert_int_equal(b.len, 3);
    assert_memory_equal(b.text, "a\0b", 4);
    strbuf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_printf_grows),
        cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
