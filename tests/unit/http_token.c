/* Tokens of the API over HTTP, sessions of browsers, and requests without either. */
#include "unit.h"

#include "http/attempts.h"
#include "http/session.h"
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

#define NAME "ballast-1"

/* A session lasts as long as its times and its token say. */
static void test_sessions(void **state)
{
    struct token_list *tokens = token_list_new();
    struct session_list *list = session_list_new(tokens, 1000, 100);
    struct token t[2] = {{.name = "a", .role = ROLE_VIEWER, .hash = {1}},
                         {.name = "b", .role = ROLE_ADMIN, .hash = {2}, .expires = 500}};
    char first[SESSION_TEXT_SIZE], second[SESSION_TEXT_SIZE];
    struct session is;

    (void)state;
    token_list_set(tokens, t, 2);
    assert_int_equal(session_begin(list, &t[0], 0, first, &is), 0);
    assert_int_equal(is.expires, 1000);
    assert_int_equal(session_begin(list, &t[1], 0, second, &is), 0);
    assert_int_equal(is.expires, 500); /* with its token */
    assert_string_not_equal(first, second);
    assert_string_not_equal(is.csrf, second);
    assert_int_equal(session_check(list, first, 99, &is), 0);
    assert_string_equal(is.token.name, "a");
    assert_true(session_lasts(list, is.hash, 198));
    assert_false(session_lasts(list, is.hash, 199)); /* looking at it was no use of it */
    t[0].role = ROLE_OPERATOR;
    token_list_set(tokens, t, 2);
    assert_int_equal(session_check(list, first, 198, &is), 0);
    assert_int_equal(is.token.role, ROLE_OPERATOR);
    assert_int_equal(token_list_used(tokens, "a"), 198);
    assert_int_equal(session_check(list, second, 100, &is), -EKEYEXPIRED);
    assert_string_equal(is.token.name, "b");
    assert_int_equal(session_check(list, second, 100, &is), -ENOENT);
    for (instant_s now = 198; now < 1000; now += 99)
        assert_int_equal(session_check(list, first, now, &is), 0);
    assert_int_equal(session_check(list, first, 1000, &is), -EKEYEXPIRED); /* in use, and over */
    assert_int_equal(session_begin(list, &t[0], 2000, first, &is), 0);
    token_list_set(tokens, t + 1, 1);
    assert_int_equal(session_check(list, first, 2001, &is), -ESTALE);
    token_list_set(tokens, t, 1);
    assert_int_equal(session_check(list, first, 2001, &is), -ENOENT); /* for good */
    assert_int_equal(session_begin(list, &t[0], 2000, first, &is), 0);
    session_end(list, is.hash);
    assert_int_equal(session_check(list, first, 2001, &is), -ENOENT);
    assert_int_equal(session_check(list, "", 2001, &is), -ENOENT);
    session_list_free(list);
    token_list_free(tokens);
}

/* More than a token may have end the least lately used; more than all may have are refused. */
static void test_many_sessions(void **state)
{
    struct token_list *tokens = token_list_new();
    struct session_list *list = session_list_new(tokens, 1000, 1000);
    enum { TOKENS = SESSIONS_MOST / SESSIONS_PER_TOKEN + 1 };
    static struct token t[TOKENS];
    char cookies[SESSIONS_PER_TOKEN + 1][SESSION_TEXT_SIZE], other[SESSION_TEXT_SIZE];
    struct session is;

    (void)state;
    for (size_t i = 0; i < TOKENS; i++)
        t[i] = (struct token){.name = "t", .hash = {(unsigned char)i, (unsigned char)(i >> 8), 1}};
    token_list_set(tokens, t, TOKENS);
    for (int i = 0; i < SESSIONS_PER_TOKEN; i++)
        assert_int_equal(session_begin(list, &t[0], i, cookies[i], &is), 0);
    assert_int_equal(session_check(list, cookies[0], 50, &is), 0);
    assert_int_equal(session_begin(list, &t[0], 51, cookies[SESSIONS_PER_TOKEN], &is), 0);
    for (int i = 0; i <= SESSIONS_PER_TOKEN; i++)
        assert_int_equal(session_check(list, cookies[i], 60, &is), i == 1 ? -ENOENT : 0);
    for (size_t i = 1; i < TOKENS - 1; i++) {
        for (int j = 0; j < SESSIONS_PER_TOKEN; j++)
            assert_int_equal(session_begin(list, &t[i], 60, other, &is), 0);
    }
    assert_int_equal(session_begin(list, &t[TOKENS - 1], 61, other, &is), -EUSERS);
    assert_int_equal(session_begin(list, &t[1], 61, other, &is), 0); /* its own make room */
    token_list_set(tokens, t + 1, TOKENS - 1);
    assert_int_equal(session_begin(list, &t[TOKENS - 1], 61, other, &is),
                     0); /* those of a revoked token, too */
    session_list_free(list);
    token_list_free(tokens);
}

#define DIGITS "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void test_cookies(void **state)
{
    static const struct {
        const char *header;
        int code;
    } list[] = {
        {NULL, -ENOENT},
        {"", -ENOENT},
        {"; ;=;", -ENOENT},
        {"ballast-12=" DIGITS, -ENOENT},
        {"xballast-1=" DIGITS, -ENOENT},
        {"Ballast-1=" DIGITS, -ENOENT},
        {"a=ballast-1=" DIGITS, -ENOENT},
        {NAME, -ENOENT},
        {NAME "=" DIGITS, 0},
        {"a=b;" NAME "=" DIGITS ";c=d", 0},
        {" \ta;\t" NAME "=" DIGITS " ", 0},
        {NAME "=", -EINVAL},
        {NAME "=" DIGITS "0", -EINVAL},
        {NAME "=\"" DIGITS "\"", -EINVAL},
        {NAME "= " DIGITS, -EINVAL},
        {NAME "=A123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", -EINVAL},
        {NAME "=" DIGITS "; " NAME "=" DIGITS, -EINVAL},
        {NAME "=; " NAME "=" DIGITS, -EINVAL},
    };
    char found[SESSION_TEXT_SIZE];

    (void)state;
    for (size_t i = 0; i < ELEMENTS(list); i++) {
        assert_int_equal(session_cookie(list[i].header, NAME, found), list[i].code);
        if (list[i].code == 0)
            assert_string_equal(found, DIGITS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens),        cmocka_unit_test(test_names),
        cmocka_unit_test(test_attempts),      cmocka_unit_test(test_sessions),
        cmocka_unit_test(test_many_sessions), cmocka_unit_test(test_cookies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
