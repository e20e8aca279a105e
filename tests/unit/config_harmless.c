/* A configuration as it may be shown holds no text that could be a secret, whatever key the text stands at.
 */
#include "unit.h"

#include "base/cleanup.h"
#include "config/config.h"
#include "config/harmless.h"
#include "config/keys.h"
#include "schema/yaml_tree.h"

#include <errno.h>
#include <string.h>

#define SECRET "Hunter2-hunter2"

/* Values that a person may write at a key, rightly or by mistake. */
static const char *const shapes[] = {
    SECRET,
    "\"" SECRET "\"",
    "'x --token " SECRET "'",
    "https://a:" SECRET "@h/x",
    "https://" SECRET ".example/" SECRET,
    "[" SECRET "]",
    "[1, " SECRET ", true]",
    "[/bin/prog, --token, " SECRET "]",
    "[/bin/" SECRET "/prog, 4711]",
    "[prog" SECRET "]",
    "['/bin/prog --token " SECRET "']",
    "[/bin/prog --token=" SECRET "]",
    "[[x, " SECRET "]]",
    "{a: " SECRET ", b: [" SECRET "]}",
};

static const char *shown(const char *text, struct arena *a)
{
    CLEANUP(strbuf_releasep) struct strbuf out = {0};
    struct node *root = NULL;
    struct err err = {0};

    strbuf_init(&out, STRBUF_NO_LIMIT);
    assert_int_equal(yaml_tree_parse("f", text, strlen(text), a, &root, &err), 0);
    config_put_harmless(root, a, &out);
    return arena_strdup(a, out.text);
}

/* "a.b.c" in nested sections. */
static const char *nested(const char *path, const char *value, struct arena *a)
{
    const char *dot = strchr(path, '.');

    if (dot)
        return arena_printf(a, "{%.*s: %s}", (int)(dot - path), path, nested(dot + 1, value, a));
    return arena_printf(a, "{%s: %s}", path, value);
}

/* At each key of the table, in sections around it. */
static void plant(const char *around, const struct schema *keys, struct arena *a)
{
    for (size_t i = 0; i < keys->n; i++) {
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
            const char *key = arena_printf(a, "%s%s", around, keys->fields[i].name);
            const char *text = shown(nested(key, shapes[k], a), a);

            if (strstr(text, SECRET))
                fail_msg("%s: %s is shown as %s", key, shapes[k], text);
        }
    }
}

static void test_every_key(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct schema all = {.what = ""};

    (void)state;
    all.fields = config_keys(NULL, &a, &all.n);
    assert_true(all.n > 100);
    plant("", &all, &a);
    all = config_power_keys(&a);
    plant("power.hosts.esx1.", &all, &a);
    plant("power.defaults.", &all, &a);
    plant("alarms.ops.", &config_alarm_keys, &a);
}

/* What helps, and can hold no secret, stays. */
static void test_harmless(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};

    (void)state;
    assert_string_equal(
        shown("cluster: prod\nautomation: full\ninterval_s: 300\ntarget: auto\n"
              "source: {kind: vsphere, url: 'https://vcenter/sdk', tls_verify: true}\n"
              "mqtt: {commands: [pause, resume]}\nrules: {web: {vms: [a, b], mandatory: false}}\n"
              "power: {hosts: {esx1: {watts: [120, 310], wol: {port: 9, mac: '02:00:00:00:00:01'}}}}\n"
              "alarms: {ops: {command: [/usr/bin/msmtp, ops@example], severity: error, kinds: "
              "[wake_failed]}}\n",
              &a),
        "cluster: ***\nautomation: full\ninterval_s: 300\ntarget: auto\n"
        "source: {kind: vsphere, url: ***, tls_verify: true}\n"
        "mqtt: {commands: [pause, resume]}\nrules: {web: {vms: [***, ***], mandatory: false}}\n"
        "power: {hosts: {esx1: {watts: [120, 310], wol: {port: 9, mac: ***}}}}\n"
        "alarms: {ops: {command: [msmtp, ***], severity: error, kinds: [wake_failed]}}\n");
}

/* A reload tells what changed, in the log and in an event; `config diff` likewise. */
static void test_changes(void **state)
{
    static const char before[] = "cluster: c\nsource: {kind: sim}\n"
                                 "alarms: {ops: {command: [/bin/prog, --token, x], severity: error}}\n"
                                 "units: {u: {command: [/bin/prog, x]}}\n";
    static const char after[] = "cluster: c\nsource: {kind: sim}\n"
                                "alarms: {ops: {command: [/bin/prog, --token, " SECRET "], severity: info}}\n"
                                "units: {u: {command: [/bin/prog, " SECRET "]}}\n";
    CLEANUP(arena_releasep) struct arena a = {0};
    struct config old, now;
    struct config_change *changes;
    struct err err = {0};

    (void)state;
    assert_int_equal(config_parse("f", before, strlen(before), CONFIG_FOR_SERVICE, &a, &old, &err), 0);
    assert_int_equal(config_parse("f", after, strlen(after), CONFIG_FOR_SERVICE, &a, &now, &err), 0);
    assert_int_equal(config_changes(&old, &now, &a, &changes), 2);
    assert_string_equal(changes[0].key->name, "alarms");
    assert_string_equal(changes[0].to, "{ops: {command: [prog, ***, ***], severity: info}}");
    assert_false(changes[0].secret);
    assert_string_equal(changes[1].key->name, "units");
    assert_string_equal(changes[1].to, "{u: {command: [prog, ***]}}");
    assert_true(changes[1].secret);
}

/* A command line in the place of a list: the error goes to the log and into an event. */
static void test_error(void **state)
{
    static const char text[] =
        "cluster: c\nsource: {kind: sim}\nalarms: {ops: {command: /bin/prog " SECRET "}}\n";
    CLEANUP(arena_releasep) struct arena a = {0};
    struct config c;
    struct err err = {0};

    (void)state;
    assert_int_equal(config_parse("f", text, strlen(text), CONFIG_FOR_SERVICE, &a, &c, &err), -EINVAL);
    assert_non_null(strstr(err.text, "command is no list"));
    assert_null(strstr(err.text, SECRET));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_key),
        cmocka_unit_test(test_harmless),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
