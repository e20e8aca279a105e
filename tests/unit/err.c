/* Errors: the code is returned, context is added on the left, and long messages are truncated. */
#include "unit.h"

#include <ballast/err.h>

#include <errno.h>
#include <string.h>

static void test_set_and_widen(void **state)
{
    struct err err = {0};

    (void)state;
    assert_int_equal(err_set(&err, -EINVAL, "no host has the id \"%s\"", "h9"), -EINVAL);
    assert_int_equal(err.code, -EINVAL);
    assert_string_equal(err.text, "no host has the id \"h9\"");
    assert_int_equal(err_widen(&err, "/vms/%d/host", 3), -EINVAL);
    assert_string_equal(err.text, "/vms/3/host: no host has the id \"h9\"");
}

static void test_nobody_listens(void **state)
{
    (void)state;
    assert_int_equal(err_set(NULL, -EIO, "x"), -EIO);
}

static void test_too_long(void **state)
{
    struct err err = {0};

    (void)state;
    (void)err_set(&err, -EIO, "%*d", 10 * ERR_TEXT_MAX, 1);
    assert_int_equal(strlen(err.text), ERR_TEXT_MAX - 1);
    (void)err_widen(&err, "%*d", 10 * ERR_TEXT_MAX, 2);
    assert_true(strlen(err.text) < ERR_TEXT_MAX);
    (void)err_set(&err, -EIO, "short");
    (void)err_widen(&err, "%*d", 10 * ERR_TEXT_MAX, 3);
    assert_true(strlen(err.text) < ERR_TEXT_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set_and_widen),
        cmocka_unit_test(test_nobody_listens),
        cmocka_unit_test(test_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
