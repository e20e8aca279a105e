/* The words of names.h: each list parses every word that it prints and no other. */
#include "unit.h"

#include <ballast/names.h>

#include <errno.h>

#define LISTS(X)                                                                                             \
    X(host_state)                                                                                            \
    X(vm_state)                                                                                              \
    X(vm_kind)                                                                                               \
    X(automation)                                                                                            \
    X(rule_kind)                                                                                             \
    X(ha_policy)                                                                                             \
    X(mem_admission)                                                                                         \
    X(objective)                                                                                             \
    X(search_kind)                                                                                           \
    X(action_kind)                                                                                           \
    X(reason)                                                                                                \
    X(fault_code)                                                                                            \
    X(verdict)                                                                                               \
    X(check)                                                                                                 \
    X(action_state)                                                                                          \
    X(change_kind)

#define TEST_LIST(list)                                                                                      \
    static void test_##list(void **state)                                                                    \
    {                                                                                                        \
        enum list value;                                                                                     \
        (void)state;                                                                                         \
        for (int i = 0; i < (int)list##_count; i++) {                                                        \
            assert_non_null(list##_meaning((enum list)i));                                                   \
            assert_int_equal(list##_parse(list##_name((enum list)i), &value), 0);                            \
            assert_int_equal(value, i);                                                                      \
        }                                                                                                    \
        assert_int_equal(list##_parse("", &value), -EINVAL);                                                 \
        assert_int_equal(list##_parse("no such word", &value), -EINVAL);                                     \
    }
LISTS(TEST_LIST)

#define TEST_ENTRY(list) cmocka_unit_test(test_##list),

int main(void)
{
    const struct CMUnitTest tests[] = {LISTS(TEST_ENTRY)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
