/* Targets of alarms in the configuration: line and message of each error and warning, and their manual. */
#include "unit.h"

#include "config/config.h"
#include "config/keys.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN "cluster: a\nsource: {kind: sim}\n"

static int parse(const char *alarms, struct arena *a, struct config *ret, struct err *err)
{
    const char *text = arena_printf(a, BEGIN "%s", alarms);

    return config_parse("f.yaml", text, strlen(text), CONFIG_FOR_SERVICE, a, ret, err);
}

static const struct {
    const char *text;
    const char *sentence; /* its beginning */
} wrong[] = {
    {"alarms: [a]\n", "f.yaml:3: alarms is a list, expected a section of at most 32 targets, by name"},
    {"alarms:\n  a b: {url: 'https://h'}\n",
     "f.yaml:4: alarms.a b is no name of a target, expected at most 32 letters, digits, _ and -"},
    {"alarms:\n  a: 5\n", "f.yaml:4: alarms.a is \"5\", expected a section"},
    {"alarms:\n  a: {}\n", "f.yaml:4: alarms.a.url is missing, expected url or command"},
    {"alarms:\n  a: {uri: 'https://h'}\n",
     "f.yaml:4: \"alarms.a.uri\" is not a known key, did you mean \"url\"?"},
    {"alarms:\n  a: {url: 'ftp://h'}\n",
     "f.yaml:4: alarms.a.url is \"ftp://h\", expected https://HOST[:PORT] or http://HOST[:PORT] or "
     "smtp://HOST[:PORT] or smtps://HOST[:PORT]"},
    {"alarms:\n  a: {url: 'file:///etc/passwd'}\n",
     "f.yaml:4: alarms.a.url is \"file:///etc/passwd\", expected"},
    {"alarms:\n  a: {url: 'https://u:hidden@h'}\n", "f.yaml:4: alarms.a.url has a user or a password in it"},
    {"alarms:\n  a: {url: 'https://h', command: [/bin/x]}\n",
     "f.yaml:4: alarms.a.command is given besides url, expected one of them"},
    {"alarms:\n  a: {command: [msmtp, -t]}\n",
     "f.yaml:4: alarms.a.command does not begin with the absolute path of a program"},
    {"alarms:\n  a: {command: /bin/x}\n", "f.yaml:4: alarms.a.command is no list, expected a list"},
    {"alarms:\n  a: {command: []}\n", "f.yaml:4: alarms.a.url is missing, expected url or command"},
    {"alarms:\n  a: {url: 'smtp://h/path', from: a@b, to: [a@b]}\n", "f.yaml:4: alarms.a.url has a path"},
    {"alarms:\n  a: {url: 'smtp://h', to: [a@b]}\n", "f.yaml:4: alarms.a.from is missing"},
    {"alarms:\n  a: {url: 'smtp://h', from: a@b}\n", "f.yaml:4: alarms.a.to is missing"},
    {"alarms:\n  a: {url: 'smtp://h', from: a@b, to: []}\n", "f.yaml:4: alarms.a.to is missing"},
    {"alarms:\n  a: {url: 'smtp://h', from: ab, to: [a@b]}\n",
     "f.yaml:4: alarms.a.from is \"ab\", expected an address such as ops@example.com"},
    {"alarms:\n  a: {url: 'smtp://h', from: a@b, to: [\"a@b\\r\\nRCPT TO:<x@y>\"]}\n",
     "f.yaml:4: alarms.a.to.0 has a control character in it"},
    {"alarms:\n  a: {url: 'smtp://h', from: a@b, to: [a@b], username: u}\n",
     "f.yaml:4: alarms.a.password_file is missing, expected both username and password_file, or neither"},
    {"alarms:\n  a: {url: 'https://h', password_file: /nowhere}\n", "f.yaml:4: alarms.a.username is missing"},
    {"alarms:\n  a: {url: 'https://h', secret_file: /nowhere}\n",
     "f.yaml:4: alarms.a.secret_file: /nowhere cannot be opened"},
    {"alarms:\n  a: {url: 'https://h', secret_file: /etc/hostname}\n",
     "f.yaml:4: alarms.a.secret_file: what /etc/hostname holds is not what was expected, expected whsec_ and "
     "24 to 64 random bytes"},
    {"alarms:\n  a: {url: 'https://h', ca_file: /nowhere}\n",
     "f.yaml:4: alarms.a.ca_file: /nowhere cannot be read: No such file or directory"},
    {"alarms:\n  a: {url: 'https://h', tls_verify: perhaps}\n",
     "f.yaml:4: alarms.a.tls_verify is \"perhaps\", expected"},
    {"alarms:\n  a: {url: 'https://h', severity: bad}\n",
     "f.yaml:4: alarms.a.severity is \"bad\", expected info, notice, warning, error or none"},
    {"alarms:\n  a: {url: 'https://h', kinds: [pause]}\n",
     "f.yaml:4: alarms.a.kinds has \"pause\" in it, expected a kind of event"},
    {"alarms:\n  a: {url: 'https://h', hosts: esx1}\n",
     "f.yaml:4: alarms.a.hosts is no list, expected a list"},
    {"alarms:\n  a: {url: 'https://h', digest: '25:00'}\n", "f.yaml:4: alarms.a.digest: \"25:00\""},
    {"alarms:\n  a: {url: 'https://h', interval_s: 0}\n",
     "f.yaml:4: alarms.a.interval_s is \"0\", expected a whole number from 1 to 86400"},
};

static void test_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(wrong); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct config c;
        struct err err = {0};

        if (parse(wrong[i].text, &a, &c, &err) != -EINVAL ||
            strncmp(err.text, wrong[i].sentence, strlen(wrong[i].sentence)) != 0)
            fail_msg("case %zu: \"%s\", expected \"%s...\"\n%s", i, err.text, wrong[i].sentence,
                     wrong[i].text);
        assert_null(strstr(err.text, "hidden"));
    }
}

/* Each of these adds its warning and is taken. */
static const struct {
    const char *text;
    const char *warning;
} odd[] = {
    {"alarms:\n  a: {url: 'http://h', username: u, password_file: /etc/hostname}\n",
     "f.yaml:4: alarms.a.url: what is sent, and the password, goes over the network in the clear"},
    {"alarms:\n  a: {url: 'smtp://h', from: a@b, to: [a@b], starttls: false}\n",
     "f.yaml:4: alarms.a.url: what is sent goes over the network in the clear"},
    {"alarms:\n  a: {url: 'smtps://h', from: a@b, to: [a@b], tls_verify: false}\n",
     "f.yaml:4: TLS CERTIFICATES ARE NOT VERIFIED: a host in the network can pose as the target of "
     "alarms.a "},
    {"alarms:\n  a: {url: 'https://h', from: a@b}\n", "f.yaml:4: alarms.a.from is of no use to a webhook"},
    {"alarms:\n  a: {url: 'https://h'}\n", "f.yaml:4: alarms.a.secret_file is not given"},
    {"alarms:\n  a: {command: [/bin/x], to: [a@b], ca_file: /etc/hostname}\n",
     "f.yaml:4: alarms.a.ca_file is of no use to a command"},
    {"alarms:\n  a: {command: [/bin/x], severity: none}\n",
     "f.yaml:4: alarms.a.severity is none and there is no digest: nothing is sent"},
};

static void test_odd(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(odd); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct config c;
        struct err err = {0};
        bool said = false;

        assert_int_equal(parse(odd[i].text, &a, &c, &err), 0);
        for (size_t k = 0; k < c.n_warnings; k++)
            said = said || strncmp(c.warnings[k], odd[i].warning, strlen(odd[i].warning)) == 0;
        if (!said)
            fail_msg("case %zu: %zu warnings, none begins with \"%s\"", i, c.n_warnings, odd[i].warning);
    }
}

/* conf/ballast.yaml describes each key, in one of its examples. */
static void test_documented(void **state)
{
    const char *source = getenv("BALLAST_SOURCE_DIR");
    CLEANUP(arena_releasep) struct arena a = {0};
    const char *path = arena_printf(&a, "%s/conf/ballast.yaml", source ? source : "../..");
    CLEANUP(fclosep) FILE *f = fopen(path, "re");
    char *text = arena_array(&a, char, CONFIG_SIZE_MAX);

    (void)state;
    if (!f)
        skip();
    assert_true(fread(text, 1, CONFIG_SIZE_MAX - 1, f) > 1000);
    const char *section = strstr(text, "\nalarms:\n");

    assert_non_null(section);
    *strstr(section, "\nmqtt:\n") = '\0';
    for (size_t i = 0; i < config_alarm_keys.n; i++) {
        const char *key = config_alarm_keys.fields[i].name;

        if (!strstr(section, arena_printf(&a, "\n#    %s: ", key)))
            fail_msg("%s does not document %s of a target of alarms", path, key);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_odd),
        cmocka_unit_test(test_documented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
