/* The roles of users and groups at the socket, and what takes two people. */
#include "unit.h"

#include "base/cleanup.h"
#include "config/config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define BEGIN "cluster: a\nsource: {kind: file, file: /dev/null}\n"
#define NOBODY 65534 /* user nobody, group nogroup */

static int parse(const char *roles, struct arena *a, struct config *ret, struct err *err)
{
    const char *text = arena_printf(a, BEGIN "%s", roles);

    return config_parse("x.yaml", text, strlen(text), CONFIG_FOR_CHECK, a, ret, err);
}

static void test_role_of_a_process(void **state)
{
    static const gid_t daemon_too[] = {1}; /* group daemon */
    static const struct {
        const char *roles;
        enum role role; /* of nobody, who is in nogroup and daemon */
    } cases[] = {
        {"", ROLE_ADMIN},
        {"roles: {}\n", ROLE_ADMIN},
        {"roles: {users: {root: viewer}}\n", ROLE_ADMIN},
        {"roles: {users: {nobody: viewer}}\n", ROLE_VIEWER},
        {"roles: {groups: {nogroup: operator}}\n", ROLE_OPERATOR},
        {"roles: {groups: {nogroup: viewer, daemon: operator}}\n", ROLE_OPERATOR},
        {"roles: {groups: {root: viewer}}\n", ROLE_ADMIN},
        {"roles: {users: {nobody: viewer}, groups: {nogroup: admin}}\n", ROLE_VIEWER},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct config c;
        struct err err = {0};

        if (parse(cases[i].roles, &a, &c, &err) < 0)
            fail_msg("case %zu: %s", i, err.text);
        assert_int_equal(config_role(&c.roles, NOBODY, NOBODY, daemon_too, 1), cases[i].role);
    }
}

static void test_wrong_and_unknown(void **state)
{
    static const struct {
        const char *roles, *says;
    } cases[] = {
        {"roles: [a]\n", "roles is a list"},
        {"roles: {users: [nobody]}\n", "expected a section of at most 1,000 names"},
        {"roles: {users: {nobody: boss}}\n", "expected viewer, operator or admin"},
        {"roles: {user: {nobody: viewer}}\n", "is not a key, expected users or groups"},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct config c;
        struct err err = {0};

        assert_int_equal(parse(cases[i].roles, &a, &c, &err), -EINVAL);
        if (!strstr(err.text, cases[i].says))
            fail_msg("case %zu: %s", i, err.text);
    }
    CLEANUP(arena_releasep) struct arena a = {0};
    struct config c;
    struct err err = {0};

    assert_int_equal(parse("roles: {users: {no-such-user: viewer}}\n", &a, &c, &err), 0);
    assert_int_equal(c.n_warnings, 1);
    assert_non_null(strstr(c.warnings[0], "no user \"no-such-user\""));
}

static void test_four_eyes(void **state)
{
    static const struct {
        const char *four_eyes;
        unsigned actions; /* 0 with `says`: refused */
        int64_t within_s;
        const char *says;
    } cases[] = {
        {"", 0, 3600, NULL},
        {"four_eyes: {}\n", 0, 3600, NULL},
        {"four_eyes: {actions: []}\n", 0, 3600, NULL},
        {"four_eyes: {actions: [standby, approve], within_s: 60}\n",
         1u << FOUR_EYES_APPROVE | 1u << FOUR_EYES_STANDBY, 60, NULL},
        {"four_eyes: {actions: [approve, place, migrate, maintenance, roll, standby, wake]}\n",
         (1u << four_eyes_action_count) - 1, 3600, NULL},
        {"four_eyes: {actions: [reject]}\n", 0, 0,
         "four_eyes.actions has \"reject\" in it, expected approve, place, migrate, maintenance, roll, "
         "standby or wake"},
        {"four_eyes: {actions: approve}\n", 0, 0, "expected a list"},
        {"four_eyes: {within_s: 59}\n", 0, 0, "four_eyes.within_s"},
        {"four_eyes: {within_s: 604801}\n", 0, 0, "four_eyes.within_s"},
        {"four_eyes: {people: 3}\n", 0, 0, "four_eyes.people"},
        {"four_eyes: yes\n", 0, 0, "four_eyes"},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct config c;
        struct err err = {0};
        int r = parse(cases[i].four_eyes, &a, &c, &err);

        if (cases[i].says ? r != -EINVAL || !strstr(err.text, cases[i].says) : r < 0)
            fail_msg("case %zu: %d, %s", i, r, err.text);
        if (cases[i].says)
            continue;
        assert_int_equal(config_four_eyes(&c), cases[i].actions);
        assert_int_equal(c.four_eyes.within_s, cases[i].within_s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_role_of_a_process),
        cmocka_unit_test(test_wrong_and_unknown),
        cmocka_unit_test(test_four_eyes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
