/* Tokens of the API over HTTP, and requests without one. */
#include "unit.h"

#include "http/attempts.h"
#include "http/token.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

static void test_tokens(void **state)
{
    struct token list[2] = {{.name = "a", .role = ROLE_VIEWER},
                            {.name = "b", .role = ROLE_ADMIN, .expires = 100}};
    char first[TOKEN_TEXT_SIZE], second[TOKEN_TEXT_SIZE];
    struct token_list *t = token_list_new();
    struct token found;

    (void)state;
    assert_int_equal(token_make(first, list[0].hash), 0);
    assert_int_equal(token_make(second, list[1].hash), 0);
    assert_int_equal(strlen(first), TOKEN_TEXT_SIZE - 1);
    assert_string_not_equal(first, second);
    assert_int_equal(token_list_check(t, first, 50, &found), -ENOENT);
    token_list_set(t, list, 2);
    assert_int_equal(token_list_check(t, first, 50, &found), 0);
    assert_int_equal(found.role, ROLE_VIEWER);
    assert_int_equal(token_list_check(t, second, 99, &found), 0);
    assert_int_equal(token_list_check(t, second, 100, &found), -EKEYEXPIRED);
    assert_string_equal(found.name, "b");
    second[TOKEN_TEXT_SIZE - 2] ^= 1;
    assert_int_equal(token_list_check(t, second, 99, &found), -ENOENT);
    assert_int_equal(token_list_check(t, "", 99, &found), -ENOENT);
    assert_int_equal(token_list_used(t, "a"), 50);
    token_list_set(t, list, 1); /* b is revoked; the use of a is kept */
    assert_int_equal(token_list_used(t, "a"), 50);
    assert_int_equal(token_list_used(t, "b"), 0);
    token_list_free(t);
}

static void test_names(void **state)
{
    (void)state;
    assert_true(token_name_is_good("grafana-1_x.y"));
    assert_false(token_name_is_good(""));
    assert_false(token_name_is_good("a b"));
    assert_false(token_name_is_good("a\nb"));
    assert_false(token_name_is_good("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
}

/* Ten at once, then one a second; another address is not held up. */
static void test_attempts(void **state)
{
    const struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = 1};
    const struct sockaddr_in b = {.sin_family = AF_INET, .sin_addr.s_addr = 2};
    struct attempts *list = attempts_new();
    unsigned unlogged;

    (void)state;
    for (int i = 0; i < 10; i++)
        assert_true(attempts_note(list, (const struct sockaddr *)&a, 1000, &unlogged));
    assert_false(attempts_note(list, (const struct sockaddr *)&a, 1000, &unlogged));
    assert_false(attempts_note(list, (const struct sockaddr *)&a, 1000, &unlogged));
    assert_true(attempts_note(list, (const struct sockaddr *)&b, 1000, &unlogged));
    assert_true(attempts_note(list, (const struct sockaddr *)&a, 1001, &unlogged));
    assert_int_equal(unlogged, 2);
    assert_false(attempts_note(list, (const struct sockaddr *)&a, 1001, &unlogged));
    for (uint32_t i = 10; i < 1000; i++) { /* more addresses than it remembers */
        const struct sockaddr_in c = {.sin_family = AF_INET, .sin_addr.s_addr = i};

        assert_true(attempts_note(list, (const struct sockaddr *)&c, 1002, &unlogged));
    }
    attempts_free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_attempts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
