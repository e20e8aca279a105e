/* The configuration file: accepted input and the resulting settings. config_errors.c tests refused input. */
#include "unit.h"

#include "config/config.h"
#include "config/keys.h"
#include "schema/yaml_tree.h"

#include "base/cleanup.h"
#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SIM "cluster: a\nsource: {kind: sim}\n"
#define VSPHERE                                                                                              \
    "cluster: a\nsource:\n  kind: vsphere\n  url: https://vc/sdk\n  username: u\n  password_file: %s\n"

/* A file of the test's own, and its folder. */
struct place {
    char dir[64];
    char file[96];
};

static void place_make(struct place *p, const char *name, const char *content, mode_t mode)
{
    (void)snprintf(p->dir, sizeof p->dir, "/tmp/ballast-config-XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    (void)snprintf(p->file, sizeof p->file, "%s/%s", p->dir, name);
    CLEANUP(closep) int fd = open(p->file, O_CREAT | O_WRONLY, 0600);

    assert_int_equal(write(fd, content, strlen(content)), strlen(content));
    assert_int_equal(fchmod(fd, mode), 0);
}

static void place_remove(const struct place *p)
{
    (void)unlink(p->file);
    (void)rmdir(p->dir);
}

static int parse(const char *text, enum config_use use, struct arena *a, struct config *ret, struct err *err)
{
    return config_parse("f.yaml", text, strlen(text), use, a, ret, err);
}

static void test_defaults(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct config c;
    struct err err = {0};
    size_t n;
    const struct field *keys = config_keys("sim", &a, &n);

    (void)state;
    assert_int_equal(parse(SIM, CONFIG_FOR_SERVICE, &a, &c, &err), 0);
    assert_int_equal(c.n_warnings, 0);
    for (size_t i = 0; i < n; i++) {
        const char *value = config_get(&c, &keys[i], &a);

        assert_true(strlen(keys[i].meaning) > 5);
        if (keys[i].fallback)
            assert_string_equal(value, keys[i].fallback);
        else if (strcmp(keys[i].name, "cluster") != 0 && strcmp(keys[i].name, "source.kind") != 0)
            assert_null(value);
        /* field_copy() does not know what a reader of its own makes */
        if (keys[i].flags & FIELD_RESTART)
            assert_true(keys[i].type != FIELD_OWN);
    }
}

/* Each of these adds its warning and is taken. */
static const struct {
    const char *text;
    const char *warning;
} odd[] = {
    {SIM "mqtt: {url: 'mqtts://b', tls_verify: false}\n", "f.yaml:3: TLS CERTIFICATES ARE NOT VERIFIED"},
    {SIM "mqtt: {url: 'mqtt://b', tls_verify: false}\n",
     "f.yaml:3: mqtt.tls_verify is of no use to an mqtt.url"},
    {SIM "mqtt:\n  commands: [pause]\n", "f.yaml:4: mqtt.commands is of no use without mqtt.url"},
    {SIM "power: {hosts: {h: {redfish: {url: 'https://b', tls_verify: false}}}}\n",
     "f.yaml:3: power.hosts.h.redfish: TLS CERTIFICATES ARE NOT VERIFIED"},
    {SIM "power: {defaults: {redfish: {tls_verify: false}}}\n",
     "f.yaml:3: power.defaults.redfish: TLS CERTIFICATES ARE NOT VERIFIED"},
    {SIM "power: {hosts: {h: {ipmi: {address: b}}}}\n",
     "f.yaml:3: power.hosts.h.ipmi: username is not given: the controller is asked without a user name"},
    {SIM "power: {defaults: {ipmi: {cipher_suite: 0}}}\n",
     "f.yaml:3: power.defaults.ipmi.cipher_suite 0: traffic to the controller is not signed and "
     "encrypted"},
    {SIM "dpm:\n  enabled: true\n  windows: ['20:00 for 10']\n",
     "f.yaml:5: dpm.windows: \"20:00 for 10\" is a window of 10 s, too short to move VMs off a host"},
    {SIM "history:\n  mb: 7\n", "f.yaml:4: history.mb is called passes_mb now"},
    {"cluster: a\nsource:\n  kind: sim\n  url: https://vc\n  tls_verify: true\n",
     "f.yaml:4: source.url is of no use to source.kind sim"},
};

static void test_odd(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(odd); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct config c;
        struct err err = {0};

        assert_int_equal(parse(odd[i].text, CONFIG_FOR_SERVICE, &a, &c, &err), 0);
        assert_true(c.n_warnings >= 1);
        assert_memory_equal(c.warnings[0], odd[i].warning, strlen(odd[i].warning));
    }
}

/* What stands below a former name counts as if below the present one. */
static void test_former_key(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct config c;
    struct err err = {0};

    (void)state;
    assert_int_equal(parse(SIM "history: {mb: 7, days: 3}\n", CONFIG_FOR_SERVICE, &a, &c, &err), 0);
    assert_true(c.history_passes_mb == 7 && c.history_days == 3 && c.n_warnings == 1);
}

/* An empty section is one of which all is commented out. */
static void test_taken(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct config c;
    struct err err = {0};

    (void)state;
    assert_int_equal(parse(SIM "dpm:\nmoves_max: auto\nmem_overcommit: 1.5\nautomation: \"full\"\n"
                               "socket: run/s\nsource2: \n",
                           CONFIG_FOR_SERVICE, &a, &c, &err),
                     -EINVAL);
    assert_int_equal(parse("\xef\xbb\xbf" SIM
                           "dpm:\nmoves_max: auto\nmem_overcommit: 1.5\nautomation: \"full\"\n",
                           CONFIG_FOR_SERVICE, &a, &c, &err),
                     0);
    assert_int_equal(c.policy.automation, AUTOMATION_FULL);
    assert_int_equal(c.policy.moves_max, MOVES_AUTO);
    assert_true(c.policy.mem_overcommit == 1.5);
    assert_int_equal(parse("cluster: 0123\nsource: {kind: sim, url: 'https://[::1]:8443/x'}\n",
                           CONFIG_FOR_SERVICE, &a, &c, &err),
                     0);
    assert_string_equal(c.cluster, "0123"); /* as written, not as a number */
}

static void test_power_hosts(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct config c;
    struct err err = {0};

    (void)state;
    assert_int_equal(
        parse(SIM
              "power:\n  hosts:\n    esx1:\n      ipmi: {address: 10.0.0.1, workarounds: [sun20, solport]}\n"
              "    esx2:\n      wol: {mac: '02:00:00:00:00:01'}\n",
              CONFIG_FOR_SERVICE, &a, &c, &err),
        0);
    assert_int_equal(c.n_power_hosts, 2);
    assert_string_equal(c.power_hosts[0].host.name, "esx1");
    assert_string_equal(c.power_hosts[0].host.ipmi.address, "10.0.0.1");
    assert_int_equal(c.power_hosts[0].host.ipmi.cipher_suite, 3);
    assert_string_equal(c.power_hosts[0].host.ipmi.workarounds[1], "solport");
    assert_null(c.power_hosts[0].host.ipmi.workarounds[2]);
    assert_null(c.power_hosts[1].host.ipmi.address);
    assert_non_null(c.power_hosts[1].host.ipmi.workarounds);
    assert_string_equal(c.power_hosts[1].host.wol.mac, "02:00:00:00:00:01");
}

/* What the defaults say, wherever they stand, holds where the host says nothing; the order of the methods is
 * the one that was given, without those that a host does not have, or all that it has and the hypervisor. */
static void test_power_defaults(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    atomic_bool stop = false;
    struct config c;
    struct err err = {0};

    (void)state;
    assert_int_equal(
        parse(SIM "power:\n  hosts:\n"
                  "    a: {ipmi: {address: x}, wol: {mac: '02:00:00:00:00:01'}}\n"
                  "    b: {ipmi: {address: y, username: root}, timeout_s: 9, methods: [hypervisor, ipmi]}\n"
                  "  defaults:\n    timeout_s: 0.7e1\n    hard_off: true\n    methods: [wol, redfish, ipmi]\n"
                  "    ipmi: {username: admin, workarounds: [sun20], console: true}\n",
              CONFIG_FOR_SERVICE, &a, &c, &err),
        0);
    struct power_host *list = config_power(&c, &stop, &a);

    assert_int_equal(c.n_power_hosts, 2);
    assert_string_equal(list[0].name, "a");
    assert_int_equal(list[0].timeout_s, 7);
    assert_true(list[0].hard_off && list[0].ipmi.console);
    assert_string_equal(list[0].ipmi.username, "admin");
    assert_string_equal(list[0].ipmi.workarounds[0], "sun20");
    assert_ptr_equal(list[0].stop, &stop);
    assert_int_equal(list[0].n_sequence, 2);
    assert_int_equal(list[0].sequence[0], POWER_WOL);
    assert_int_equal(list[0].sequence[1], POWER_IPMI);
    assert_int_equal(list[1].timeout_s, 9);
    assert_string_equal(list[1].ipmi.username, "root");
    assert_int_equal(list[1].n_sequence, 2);
    assert_int_equal(list[1].sequence[0], POWER_HYPERVISOR);
    assert_int_equal(list[1].sequence[1], POWER_IPMI);

    /* the contract's own example: nothing but ipmi and wol given */
    assert_int_equal(
        parse(SIM "power:\n  hosts:\n    esx1: {ipmi: {address: 10.0.0.11, username: admin, cipher_suite: 3,"
                  " workarounds: []}, wol: {mac: \"02:00:00:00:00:01\"}}\n",
              CONFIG_FOR_SERVICE, &a, &c, &err),
        0);
    list = config_power(&c, &stop, &a);
    assert_int_equal(list[0].n_sequence, 3);
    assert_int_equal(list[0].sequence[0], POWER_IPMI);
    assert_int_equal(list[0].sequence[1], POWER_WOL);
    assert_int_equal(list[0].sequence[2], POWER_HYPERVISOR);
    assert_false(list[0].hard_off);
    assert_string_equal(list[0].ipmi.privilege, "operator");
}

static const struct {
    const char *content;
    mode_t mode;
    const char *password; /* NULL: refused */
    bool warned;
} secrets[] = {
    {"s3cret\n", 0600, "s3cret", false},
    {"s3cret", 0400, "s3cret", false},
    {"s3cret\r\n", 0600, "s3cret", false},
    {" with blanks \n", 0600, " with blanks ", false},
    {"s3cret\n", 0640, "s3cret", false},
    {"s3cret\n", 0440, "s3cret", false},
    {"s3cret\n", 0644, "s3cret", true},
    {"s3cret\n", 0660, "s3cret", true},
    {"", 0600, NULL, false},
    {"\n", 0600, NULL, false},
    {"s3cret\nand more\n", 0600, NULL, false},
};

static void test_secrets(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(secrets); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct place p;
        struct config c;
        struct err err = {0};

        place_make(&p, "pw", secrets[i].content, secrets[i].mode);
        const char *text = arena_printf(&a, VSPHERE, p.file);
        int r = parse(text, CONFIG_FOR_SERVICE, &a, &c, &err);

        assert_int_equal(r, secrets[i].password ? 0 : -EINVAL);
        assert_null(strstr(err.text, "s3cret"));
        if (r == 0) {
            struct source_config source;

            assert_string_equal(c.source.password, secrets[i].password);
            assert_int_equal(c.n_warnings, secrets[i].warned);
            config_source(&c, &source);
            assert_string_equal(source.password, secrets[i].password);
            assert_int_equal(source.timeout_s, 60);
        } else {
            assert_non_null(strstr(err.text, "f.yaml:6: source.password_file: "));
        }
        place_remove(&p);
    }
}

static void test_secret_is_capped(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    char *big = memset(arena_array(&a, char, 5001), 'x', 5000);
    struct place p;
    struct config c;
    struct err err = {0};

    (void)state;
    place_make(&p, "pw", big, 0600);
    assert_int_equal(parse(arena_printf(&a, VSPHERE, p.file), CONFIG_FOR_SERVICE, &a, &c, &err), -EINVAL);
    big[4096] = '\n';
    big[4097] = '\0';
    place_remove(&p);
    place_make(&p, "pw", big, 0600);
    assert_int_equal(parse(arena_printf(&a, VSPHERE, p.file), CONFIG_FOR_SERVICE, &a, &c, &err), 0);
    assert_int_equal(strlen(c.source.password), 4096);
    place_remove(&p);
}

/* A secret must not show in anything that is made to be shown. */
static void test_secret_is_not_shown(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct place p;
    struct config c, other;
    struct err err = {0};
    struct config_change *changes;
    size_t n;
    const struct field *keys = config_keys("vsphere", &a, &n);

    (void)state;
    place_make(&p, "pw", "s3cret\n", 0600);
    const char *text = arena_printf(&a, VSPHERE, p.file);

    assert_int_equal(parse(text, CONFIG_FOR_SERVICE, &a, &c, &err), 0);
    for (size_t i = 0; i < n; i++) {
        const char *shown = config_get(&c, &keys[i], &a);

        assert_true(!shown || !strstr(shown, "s3cret"));
    }
    place_remove(&p);
    assert_int_equal(mkdir(p.dir, 0700), 0);
    CLEANUP(fclosep) FILE *f = fopen(p.file, "w");

    assert_true(f && fputs("0ther\n", f) >= 0 && fflush(f) == 0);
    assert_int_equal(parse(text, CONFIG_FOR_SERVICE, &a, &other, &err), 0);
    assert_int_equal(config_changes(&c, &other, &a, &changes), 1);
    assert_string_equal(changes[0].key->name, "source.password_file");
    assert_true(changes[0].secret && changes[0].key->flags & FIELD_RESTART);
    assert_string_equal(changes[0].from, p.file);
    place_remove(&p);
}

static void test_loud_about_tls(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct place p;
    struct config c;
    struct err err = {0};

    (void)state;
    place_make(&p, "pw", "x", 0600);
    assert_int_equal(
        parse(arena_printf(&a, VSPHERE "  tls_verify: false\n", p.file), CONFIG_FOR_SERVICE, &a, &c, &err),
        0);
    assert_int_equal(c.n_warnings, 1);
    assert_non_null(strstr(c.warnings[0], "f.yaml:7: TLS CERTIFICATES ARE NOT VERIFIED"));
    assert_false(c.source.tls_verify);
    place_remove(&p);
}

static void test_for_policy(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct config c;
    struct err err = {0};

    (void)state;
    assert_int_equal(parse("migration_threshold: 5\n", CONFIG_FOR_POLICY, &a, &c, &err), 0);
    assert_int_equal(c.policy.migration_threshold, 5);
    assert_int_equal(
        parse(arena_printf(&a, VSPHERE "moves_max: 7\n", "/nonexistent"), CONFIG_FOR_POLICY, &a, &c, &err),
        0);
    assert_int_equal(c.policy.moves_max, 7);
    assert_null(c.source.password);
    assert_int_equal(parse("socket: 5\nnonsense: 1\n", CONFIG_FOR_POLICY, &a, &c, &err), -EINVAL);
}

static void test_relative_paths(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct place p;
    struct config c;
    struct err err = {0};

    (void)state;
    place_make(&p, "ballast.yaml", SIM "state_dir: state\nsocket: /run/s\n", 0600);
    assert_int_equal(config_load(p.file, &a, &c, &err), 0);
    assert_string_equal(c.state_dir, arena_printf(&a, "%s/state", p.dir));
    assert_string_equal(c.socket, "/run/s");
    place_remove(&p);
}

static const struct {
    const char *before, *after;
    const char *changed; /* the paths, with blanks between */
    bool restart;        /* any of them */
} reloads[] = {
    {SIM, SIM, "", false},
    {SIM, SIM "interval_s: 60\n", "interval_s", false},
    {SIM, SIM "automation: full\nmigration_threshold: 5\n", "automation migration_threshold", false},
    {SIM, SIM "history: {days: 3}\n", "history.days", false},
    {SIM, SIM "state_dir: /other\n", "state_dir", true},
    {SIM "socket: /a\n", SIM "socket: /b\ninterval_s: 60\n", "socket interval_s", true},
    {SIM, "cluster: b\nsource: {kind: sim, speed: 5, timeout_s: 5}\n",
     "cluster source.timeout_s source.speed", true},
    {SIM, SIM "power: {hosts: {a: {ipmi: {address: x}}}}\n", "power.hosts", false},
    {SIM "power: {hosts: {a: {ipmi: {address: x}}}}\n", SIM "power: {hosts: {a: {ipmi: {address: y}}}}\n",
     "power.hosts", false},
    {SIM "power: {hosts: {a: {ipmi: {address: x}}}}\n",
     SIM "power: {defaults: {timeout_s: 7}, hosts: {a: {ipmi: {address: x}}}}\n",
     "power.hosts power.defaults", false},
    {SIM "power: {hosts: {a: {watts: [1, 2]}}}\n", SIM "power: {hosts: {a: {watts: [1, 1.5, 2]}}}\n",
     "power.hosts", false},
};

static void test_reload(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(reloads); i++) {
        CLEANUP(arena_releasep) struct arena old_arena = {0};
        CLEANUP(arena_releasep) struct arena a = {0};
        CLEANUP(strbuf_releasep) struct strbuf paths = {0};
        struct config old, now;
        struct err err = {0};
        struct config_change *changes;
        bool restart = false;

        assert_int_equal(parse(reloads[i].before, CONFIG_FOR_SERVICE, &old_arena, &old, &err), 0);
        assert_int_equal(parse(reloads[i].after, CONFIG_FOR_SERVICE, &a, &now, &err), 0);
        size_t n = config_changes(&old, &now, &a, &changes);

        strbuf_init(&paths, STRBUF_NO_LIMIT);
        for (size_t k = 0; k < n; k++) {
            strbuf_printf(&paths, "%s%s", k ? " " : "", changes[k].key->name);
            restart = restart || changes[k].key->flags & FIELD_RESTART;
        }
        assert_string_equal(paths.text, reloads[i].changed);
        assert_int_equal(restart, reloads[i].restart);
        /* what cannot change now is put back, and then nothing that needs a restart differs any more */
        config_keep_fixed(&old, &now, false, &a);
        n = config_changes(&old, &now, &a, &changes);
        bool power = false;

        for (size_t k = 0; k < n; k++) {
            assert_false(changes[k].key->flags & FIELD_RESTART);
            power = power || config_is_of_power(&changes[k]);
        }
        assert_int_equal(power, strstr(reloads[i].changed, "power.") != NULL);
        config_keep_fixed(&old, &now, true, &a);
        n = config_changes(&old, &now, &a, &changes);
        for (size_t k = 0; k < n; k++)
            assert_false(config_is_of_power(&changes[k]));
        arena_release(&old_arena);
        assert_true(strlen(now.state_dir) > 1); /* copied: the old one is gone */
    }
}

static void test_files(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct config c;
    struct err err = {0};
    struct place p;

    (void)state;
    assert_int_equal(config_load("/nonexistent/ballast.yaml", &a, &c, &err), -ENOENT);
    assert_non_null(strstr(err.text, "/ballast.yaml: cannot be opened: No such file or directory; `"));
    assert_int_equal(config_load("/tmp", &a, &c, &err), -EISDIR);
    assert_int_equal(config_load("/dev/zero", &a, &c, &err), -EINVAL);
    assert_non_null(strstr(err.text, "larger than 1 MiB"));
    place_make(&p, "ok.yaml", SIM, 0600);
    assert_int_equal(config_load(p.file, &a, &c, &err), 0);
    assert_string_equal(c.path, p.file);
    place_remove(&p);
}

/* A setting that is off: "#key: ...", "#    key: ..." or "#  - key: ...". Words have one blank after the #.
 */
static bool is_off(const char *line)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_-/0123456789";
    size_t blanks = line[0] == '#' ? strspn(line + 1, " -") : 1;
    size_t len = blanks == 1 ? 0 : strspn(line + 1 + blanks, letters);

    return len > 0 && line[1 + blanks + len] == ':';
}

/* The same file with every setting on. */
static char *switch_on(struct arena *a, const char *text)
{
    char *on = arena_strdup(a, text), *to = on;

    for (const char *line = text; *line;) {
        size_t len = strcspn(line, "\n") + (strchr(line, '\n') != NULL);
        size_t skipped = is_off(line);

        memcpy(to, line + skipped, len - skipped);
        to += len - skipped;
        line += len;
    }
    *to = '\0';
    return on;
}

static const char *source_file(struct arena *a, const char *path)
{
    const char *root = getenv("BALLAST_SOURCE_DIR");

    return arena_printf(a, "%s/%s", root ? root : ".", path);
}

static bool has(const struct node *map, const char *path)
{
    const char *dot = strchr(path, '.');
    char name[64];

    (void)snprintf(name, sizeof name, "%.*s", dot ? (int)(dot - path) : (int)strlen(path), path);
    const struct node *child = node_child(map, name);

    return child && (!dot || has(child, dot + 1));
}

/* conf/ballast.yaml is the manual of the settings: it must name each of them, with its default. */
static void test_everything_is_documented(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const char *path = source_file(&a, "conf/ballast.yaml");
    CLEANUP(fclosep) FILE *f = fopen(path, "re");
    char *text = arena_array(&a, char, CONFIG_SIZE_MAX);
    struct config c;
    struct err err = {0};
    size_t n;
    const struct field *keys = config_keys(NULL, &a, &n);

    (void)state;
    if (!f)
        skip();
    assert_true(fread(text, 1, CONFIG_SIZE_MAX - 1, f) > 1000);
    /* as it is delivered: every setting at its default */
    if (config_load_for(path, CONFIG_FOR_POLICY, &a, &c, &err) < 0)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < n; i++) {
        if (keys[i].fallback)
            assert_string_equal(config_get(&c, &keys[i], &a), keys[i].fallback);
    }
    /* with everything on, every key is there */
    const char *on = switch_on(&a, text);
    struct node *root = NULL;

    if (yaml_tree_parse(path, on, strlen(on), &a, &root, &err) < 0 ||
        config_parse(path, on, strlen(on), CONFIG_FOR_POLICY, &a, &c, &err) < 0)
        fail_msg("with every key: %s", err.text);
    for (size_t i = 0; i < n; i++) {
        if (!has(root, keys[i].name))
            fail_msg("%s does not document %s", path, keys[i].name);
    }
    assert_int_equal(c.n_power_hosts, 1);
    const struct schema of_host = config_power_keys(&a);

    for (size_t i = 0; i < of_host.n; i++) {
        const char *key = of_host.fields[i].name;

        if (!has(root, arena_printf(&a, "power.defaults.%s", key)) &&
            !has(root, arena_printf(&a, "power.hosts.esx1.%s", key)))
            fail_msg("%s does not document %s of a host", path, key);
    }
}

static void test_examples(void **state)
{
    static const char *const examples[] = {"manual-vsphere.yaml",    "libvirt.yaml",     "full-vsphere.yaml",
                                           "simulated.yaml",         "replay-file.yaml", "night.yaml",
                                           "night-and-weekend.yaml", "proxmox.yaml"};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(examples); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        const char *path = source_file(&a, arena_printf(&a, "conf/examples/%s", examples[i]));
        struct config c;
        struct err err = {0};
        int r = config_load_for(path, CONFIG_FOR_POLICY, &a, &c, &err);

        if (r == -ENOENT)
            skip();
        if (r < 0)
            fail_msg("%s", err.text);
        assert_non_null(c.cluster);
        assert_non_null(c.source.kind);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_odd),
        cmocka_unit_test(test_former_key),
        cmocka_unit_test(test_taken),
        cmocka_unit_test(test_power_hosts),
        cmocka_unit_test(test_power_defaults),
        cmocka_unit_test(test_secrets),
        cmocka_unit_test(test_secret_is_capped),
        cmocka_unit_test(test_secret_is_not_shown),
        cmocka_unit_test(test_loud_about_tls),
        cmocka_unit_test(test_for_policy),
        cmocka_unit_test(test_relative_paths),

        cmocka_unit_test(test_reload),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_everything_is_documented),
        cmocka_unit_test(test_examples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
