/* The keys of a kind of source: where they go. */
#include "unit.h"

#include "config/config.h"
#include "sim/fake_cluster/fake_cluster.h"

#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

static int config_from(const char *text, enum config_use use, struct arena *a, struct config *ret,
                       struct err *err)
{
    return config_parse("f.yaml", text, strlen(text), use, a, ret, err);
}

/* A kind's keys go to its own struct, also where another kind has one of the same name. */
static void test_own_settings(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct config c;
    struct err err = {0};
    struct source_config source;

    (void)state;
    assert_int_equal(config_from("cluster: a\nsource: {file: /x, kind: sim, speed: 5, cluster: y}\n",
                                 CONFIG_FOR_SERVICE, &a, &c, &err),
                     0);
    config_source(&c, &source);
    const struct fake_cluster_settings *settings = source.settings;

    assert_string_equal(settings->file, "/x");
    assert_null(settings->folder);
    assert_int_equal(settings->speed, 5);
    assert_string_equal(config_source_name(&c, &a), "sim /x y");
    assert_int_equal(
        config_from("cluster: a\nsource: {kind: file, file: /z}\n", CONFIG_FOR_SERVICE, &a, &c, &err), 0);
    assert_string_equal(config_source_name(&c, &a), "file /z -");
    assert_int_equal(config_from("cluster: a\nsource: {kind: skeleton}\n", CONFIG_FOR_POLICY, &a, &c, &err),
                     -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_own_settings)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
