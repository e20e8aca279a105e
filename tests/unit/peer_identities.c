/* Which peers a source has led to: learned, compared, kept as text, forgotten. */
#include "unit.h"

#include "base/peer_identities.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void test_another_one(void **state)
{
    struct peer_identities *p = peer_identities_new(NULL);
    struct err err = {0};

    (void)state;
    assert_int_equal(peer_identities_check(NULL, "cluster", "AA", &err), 0);
    assert_null(peer_identities_write(p));
    assert_int_equal(peer_identities_check(p, "cluster", "", &err), 0); /* it says nothing of itself */
    assert_null(peer_identities_write(p));
    assert_int_equal(peer_identities_check(p, "cluster", "AA", &err), 0);
    assert_int_equal(peer_identities_check(p, "cluster", "AA", &err), 0);
    assert_int_equal(peer_identities_check(p, "hv1", "AB", &err), 0); /* another peer */
    assert_false(peer_identities_forget(p));
    assert_int_equal(peer_identities_check(p, "cluster", "AB", &err), -EKEYREJECTED);
    assert_non_null(strstr(err.text, "AA"));
    assert_int_equal(peer_identities_check(p, "cluster", "A", &err), -EKEYREJECTED);
    assert_int_equal(peer_identities_check(p, "cluster", "AA", &err), 0);
    assert_true(peer_identities_forget(p));
    assert_int_equal(peer_identities_check(p, "cluster", "AB", &err), 0);
    peer_identities_free(p);
}

/* A new board, then a new name; not both at once. */
static void test_one_word_suffices(void **state)
{
    struct peer_identities *p = peer_identities_new("hv1\tu1 alpha\n");
    char is[64];

    (void)state;
    assert_int_equal(peer_identities_check(p, "hv1", "u2 alpha", NULL), 0);
    assert_int_equal(peer_identities_check(p, "hv1", "u1", NULL), -EKEYREJECTED);
    assert_int_equal(peer_identities_check(p, "hv1", "u2 beta", NULL), 0);
    assert_int_equal(peer_identities_check(p, "hv1", "u3 alpha", NULL), -EKEYREJECTED);
    assert_int_equal(peer_identities_check(p, "hv1", "u22 bet", NULL), -EKEYREJECTED);
    peer_identities_name(p, is, sizeof is);
    assert_string_equal(is, "");
    peer_identities_offer_name(NULL, "u2");
    for (const char *name = "213"; *name; name++)
        peer_identities_offer_name(p, name);
    peer_identities_name(p, is, sizeof is);
    assert_string_equal(is, "13");
    peer_identities_free(p);
}

static void test_kept_as_text(void **state)
{
    static const char *const bad[] = {"", "\n", "hv1", "hv1\n\n\thv2", "\t\t\n"};
    struct peer_identities *p = peer_identities_new("hv1\tu1 alpha\nhv2\tu2\n");

    (void)state;
    assert_int_equal(peer_identities_check(p, "hv3", "u3", NULL), 0);
    char *text = peer_identities_write(p);

    assert_null(peer_identities_write(p));
    peer_identities_free(p);
    p = peer_identities_new(text);
    free(text);
    assert_int_equal(peer_identities_check(p, "hv1", "u2", NULL), -EKEYREJECTED);
    assert_int_equal(peer_identities_check(p, "hv2", "u2 beta", NULL), 0);
    assert_int_equal(peer_identities_check(p, "hv3", "u1", NULL), -EKEYREJECTED);
    peer_identities_free(p);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        p = peer_identities_new(bad[i]);
        assert_int_equal(peer_identities_check(p, "hv1", "u9", NULL), 0);
        peer_identities_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_another_one),
        cmocka_unit_test(test_one_word_suffices),
        cmocka_unit_test(test_kept_as_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
