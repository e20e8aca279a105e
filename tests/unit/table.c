/* Tables of text: aligned, within 80 columns, nothing lost. */
#include "unit.h"

#include "render/table.h"

#include <ballast/snapshot.h>

/* Widths are of characters, and what could steer a terminal is not let through. */
static void test_table(void **state)
{
    static const struct column columns[] = {{"NAME", false}, {"N", true}, {"LAST", false}};
    struct arena a = {0};
    struct table t = table_of(&a, columns, ELEMENTS(columns));
    struct strbuf out;

    (void)state;
    table_cell(&t, "\xc3\xa4\xc3\xb6\xc3\xbc");
    table_number(&t, 1.25);
    table_cell(&t, "");
    table_cell(&t, "a\x1b[31m\xc2\x9b");
    table_number(&t, NO_LIMIT);
    table_cell(&t, NULL);
    strbuf_init(&out, STRBUF_NO_LIMIT);
    table_render(&t, "", &out);
    assert_string_equal(out.text, "NAME         N  LAST\n"
                                  "\xc3\xa4\xc3\xb6\xc3\xbc      1.250\n"
                                  "a?[31m?      -  -\n");
    strbuf_release(&out);
    arena_release(&a);
}

/* A sentence goes below its row, from the second column on, and no line is wider than it may be. */
static void test_table_below(void **state)
{
    static const struct column columns[] = {{"ID", true}, {"VM", false}, {"", false, .below = true}};
    struct arena a = {0};
    struct table t = table_of(&a, columns, ELEMENTS(columns));
    struct strbuf out;

    (void)state;
    table_cell(&t, "1");
    table_cell(&t, "web");
    table_cell(&t, "");
    table_cell(&t, "12");
    table_cell(&t, "db");
    table_cell(&t, "This sentence, which is longer than a line may be, goes on until the line is as full as "
                   "can be (some 12 "
                   "MiB): \x1b[31m.");
    strbuf_init(&out, STRBUF_NO_LIMIT);
    table_render(&t, " ", &out);
    assert_string_equal(out.text,
                        " ID  VM\n"
                        "  1  web\n"
                        " 12  db\n"
                        "     This sentence, which is longer than a line may be, goes on until the line\n"
                        "     is as full as can be (some 12 MiB): ?[31m.\n");
    strbuf_release(&out);
    arena_release(&a);
}

/* A table that is too wide: what has no value goes, then columns go below, then text gets its own line. */
static void test_table_fits(void **state)
{
    static const struct column columns[] = {
        {"ID", true},
        {"VM", false},
        {"FROM", .host = true},
        {"", .tight = true},
        {"TO", .host = true, .tight = true},
        {"REASON", .word = ""},
        {"IMBALANCE", true, .word = "imbalance"},
        {"NEEDS", .word = "needs", .optional = true},
        {"GROUP", .word = "group", .optional = true},
        {"", .below = true},
    };
    struct arena a = {0};
    struct table t = table_of(&a, columns, ELEMENTS(columns));
    struct strbuf out;

    (void)state;
    t.domain = ".dc1.example.com";
    const char *const rows[] = {
        "1",
        "a-name-of-thirty-characters-00",
        "esx-prod-17.dc1.example.com",
        "->",
        "esx-prod-2.dc1.example.com",
        "balance_cpu",
        "0.1234",
        "-",
        "-",
        "The first sentence.",
        "22",
        "short",
        "esx-prod-17.dc1.example.com",
        "->",
        "esx-prod-9.dc2.example.com",
        "balance_mem",
        "0.1000",
        "1,2",
        "-",
        "",
    };
    for (size_t i = 0; i < ELEMENTS(rows); i++)
        table_cell(&t, rows[i]);
    strbuf_init(&out, STRBUF_NO_LIMIT);
    table_render(&t, "", &out);
    assert_string_equal(out.text,
                        "ID  VM                              FROM           TO\n"
                        " 1  a-name-of-thirty-characters-00  esx-prod-17 -> esx-prod-2\n"
                        "    balance_cpu; imbalance 0.1234. The first sentence.\n"
                        "22  short                           esx-prod-17 -> esx-prod-9.dc2.example.com\n"
                        "    balance_mem; imbalance 0.1000; needs 1,2\n");
    strbuf_release(&out);
    arena_release(&a);
}

/* Names that are too long even so stand whole; the row goes on below them. */
static void test_table_long_names(void **state)
{
    static const struct column columns[] = {{"NAME", false}, {"ON", false}, {"N", true}};
    struct arena a = {0};
    struct table t = table_of(&a, columns, ELEMENTS(columns));
    struct strbuf out;

    (void)state;
    const char *const rows[] = {
        "short",
        "esx1",
        "1",
        "a-name-that-is-far-too-long-for-any-table-0123456789",
        "a-host-with-a-long-name.dc1.example.com",
        "1234567",
        "one-without-a-place-for-anything-beside-it-because-it-fills-the-whole-line-and-more",
        "esx1",
        "2",
    };
    for (size_t i = 0; i < ELEMENTS(rows); i++)
        table_cell(&t, rows[i]);
    strbuf_init(&out, STRBUF_NO_LIMIT);
    table_render(&t, "  ", &out);
    assert_string_equal(
        out.text, "  NAME                               ON                                        N\n"
                  "  short                              esx1                                      1\n"
                  "  a-name-that-is-far-too-long-for-any-table-0123456789\n"
                  "                                     a-host-with-a-long-name.dc1.example.com\n"
                  "                                                                         1234567\n"
                  "  one-without-a-place-for-anything-beside-it-because-it-fills-the-whole-line-and-more\n"
                  "                                     esx1                                      2\n");
    strbuf_release(&out);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_table_below),
        cmocka_unit_test(test_table_fits),
        cmocka_unit_test(test_table_long_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
