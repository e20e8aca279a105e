/* The keys of a kind of source: where they go. */
#include "unit.h"

#include "config/config.h"
#include "net/libvirt/migration_settings.h"
#include "sim/fake_cluster/fake_cluster.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* A URI of libvirt or a relay of Wake-on-LAN runs no program, gives ssh no option and a shell nothing to
 * interpret. */
static const struct {
    const char *key, *value;
    bool good;
} addresses[] = {
    {"uri", "qemu+ssh://h/system", true},
    {"uri", "qemu+ssh://root@h.example:22/system?keyfile=/etc/my%20key&no_verify=1", true},
    {"uri", "qemu+tls://[fd00::1]:16514/system?pkipath=/etc/pki", true},
    {"uri", "qemu+ssh://root@[fe80::1%25eth0]/system", true},
    {"uri", "qemu+ssh://root@[fe80::1%eth0]:22/system", true},
    {"uri", "qemu+tcp://h/system?authfile=/etc/ballast/libvirt%20auth.conf", true},
    {"uri", "qemu+tls:///system", true},
    {"uri", "qemu+unix:///system?socket=/run/libvirt/libvirt-sock&mode=direct", true},
    {"uri", "qemu+unix:///session", true},
    {"uri", "test+unix:///etc/host.xml?socket=/run/s", true},
    {"uri", "test+tls://h/default", true},
    {"uri", "qemu+ssh://h/system?command=/tmp/x", false},
    {"uri", "qemu+ssh://h/system?comm%61nd=/tmp/x", false},
    {"uri", "qemu+ssh://h/system?keyfile=/k&command=/tmp/x", false},
    {"uri", "qemu+ssh://h/system?keyfile=/k;command=/tmp/x", false},
    {"uri", "qemu+ssh://h/system?netcat=/tmp/x", false},
    {"uri", "qemu+unix:///system?command=/tmp/x", false},
    {"uri", "qemu+tls://h/system?name=qemu%2bssh://x/?command=/tmp/x", false},
    {"uri", "qemu+ssh://h/system?socket=-e/tmp/x", false},
    {"uri", "qemu+ssh://h/system?socket=%2de/tmp/x", false},
    {"uri", "qemu+ssh://h/system?socket=/tmp/%60x%60", false},
    {"uri", "qemu+ssh://h/system?keyfile=-oProxyCommand%3dreboot", false},
    {"uri", "qemu+ssh://h/system?socket=/run/$(reboot)", false},
    {"uri", "qemu+ssh://h/system#", false},
    {"uri", "qemu+ssh://h/system?", false},
    {"uri", "qemu+ssh://-oProxyCommand=reboot/system", false},
    {"uri", "qemu+ssh://%2doProxyCommand=reboot/system", false},
    {"uri", "qemu+ssh://-lroot@h/system", false},
    {"uri", "qemu+ssh://a;reboot@h/system", false},
    {"uri", "qemu+ssh://a%0areboot@h/system", false},
    {"uri", "qemu+ssh://h`reboot`/system", false},
    {"uri", "qemu+ssh://h:22x/system", false},
    {"uri", "qemu+ssh://h:99999/system", false},
    {"uri", "qemu+ssh://[fe80::1%25eth0;reboot]/system", false},
    {"uri", "qemu+ssh://[fe80::1/system", false},
    {"uri", "qemu+ssh://[%2doProxyCommand%3d/tmp/x:]/system", false},
    {"uri", "qemu+ssh://[fe80::1%2doProxyCommand]/system", false},
    {"uri", "qemu+ssh://[fe80::1%25%2dl]/system", false},
    {"uri", "qemu+ssh://[-oProxyCommand]/system", false},
    {"uri", "qemu+ssh://[%eth0]/system", false},
    {"uri", "qemu+ssh://[fe80::1%25]/system", false},
    {"uri", "qemu+ssh://h/system\\nreboot", false},
    {"uri", "qemu+ssh://h/$(reboot)", false},
    {"uri", "qemu+ssh://h/-x", false},
    {"uri", "qemu+ext://h/system?command=/tmp/x", false},
    {"uri", "qemu+libssh://h/system", false},
    {"peer_uri", "qemu+tls://h2.example/system", true},
    {"peer_uri", "qemu+ssh://h2/system?command=/tmp/x", false},
    {"migration_uri", "tcp://10.0.0.1", true},
    {"migration_uri", "tcp://[fd00::1]:49152", true},
    {"migration_uri", "tcp://-x", false},
    {"migration_uri", "tcp://h,server=on", false},
    {"migration_uri", "exec:reboot", false},
    {"relay", "root@h:22", true},
    {"relay", "root@[fe80::1%eth0]:22", true},
    {"relay", "@h", false},
    {"relay", "root@-oProxyCommand=reboot", false},
    {"relay", "-lroot@h", false},
    {"relay", "root@h;reboot", false},
    {"relay", "root@h\\nreboot", false},
    {"relay", "root$(reboot)@h", false},
    {"interface", "bond0.12", true},
    {"interface", "eth0;reboot", false},
    {"interface", "-i", false},
    {"broadcast", "10.0.0.255;reboot", false},
    {"mac", "02:00:00:00:00:01;reboot", false},
};

static void test_hostile_addresses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        const bool is_uri = strstr(addresses[i].key, "uri") != NULL;
        const char *uri = strcmp(addresses[i].key, "uri") == 0 ? "" : "uri: qemu+tls://h/system, ";
        const char *mac = strcmp(addresses[i].key, "mac") == 0 ? "" : "mac: '02:00:00:00:00:01', ";
        const char *text =
            is_uri ? arena_printf(&a, "cluster: a\nsource: {kind: libvirt, hosts: {h: {%s%s: \"%s\"}}}\n",
                                  uri, addresses[i].key, addresses[i].value)
                   : arena_printf(&a,
                                  "cluster: a\nsource: {kind: sim}\n"
                                  "power: {hosts: {h: {wol: {%s%s: \"%s\"}}}}\n",
                                  mac, addresses[i].key, addresses[i].value);
        struct config c;
        struct err err = {0};
        int r = config_from(text, CONFIG_FOR_POLICY, &a, &c, &err);

        if (r != (addresses[i].good ? 0 : -EINVAL) || (r < 0 && !strstr(err.text, "expected")))
            fail_msg("%s: %d %s", text, r, err.text);
    }
}

/* What stands in other_urls, fingerprints and username is checked. */
static void test_proxmox(void **state)
{
    static const struct {
        const char *keys;
        bool good;
    } cases[] = {
        {"username: \"b@pve!t\"", true},
        {"username: \"b@pam\"", true},
        {"username: ballast", false},
        {"username: \"b@pve!\"", false},
        {"username: \"b@pve\", other_urls: [\"https://n2:8006\"]", true},
        {"username: \"b@pve\", other_urls: [\"http://n2:8006\"]", false},
        {"username: \"b@pve\", fingerprints: [\"AB:CD\"]", false},
        {"username: \"b@pve\", fingerprints: "
         "[\"00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:"
         "FF\"]",
         true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        const char *text = arena_printf(
            &a, "cluster: a\nsource: {kind: proxmox, url: \"https://n1:8006\", %s, password_file: /x}\n",
            cases[i].keys);
        struct config c;
        struct err err = {0};

        assert_int_equal(config_from(text, CONFIG_FOR_POLICY, &a, &c, &err), cases[i].good ? 0 : -EINVAL);
        if (cases[i].good)
            assert_int_equal(c.n_warnings, 0);
    }
}

/* How KVM hosts migrate: for all VMs, and for some. */
static void test_migrations(void **state)
{
    static const char text[] =
        "cluster: a\nsource:\n  kind: libvirt\n  hosts: {h: {uri: \"qemu+tls://h/system\"}}\n"
        "  migration: {mode: managed, bandwidth_mbs: 100}\n"
        "  migrations: {db: {vms: [\"db-*\"], timeout_s: 60, auto_converge: true}}\n";
    CLEANUP(arena_releasep) struct arena a = {0};
    struct config c;
    struct err err = {0};
    struct source_config source;

    (void)state;
    assert_int_equal(config_from(text, CONFIG_FOR_SERVICE, &a, &c, &err), 0);
    assert_int_equal(c.n_warnings, 0);
    config_source(&c, &source);
    const struct libvirt_settings *s = source.settings;
    const struct libvirt_migration_entry *db = s->migrations.items;

    assert_int_equal(s->migration.mode, LIBVIRT_MIGRATION_MANAGED);
    assert_int_equal(s->migration.bandwidth_mbs, 100);
    assert_int_equal(s->migration.connections, 1);
    assert_false(s->migration.tls || s->migration.auto_converge || s->migration.post_copy);
    assert_int_equal(s->migrations.n, 1);
    assert_string_equal(db->vms[0], "db-*");
    assert_true(db->timeout_s_given && db->is.timeout_s == 60 && db->auto_converge_given &&
                db->is.auto_converge && !db->mode_given && !db->bandwidth_mbs_given);
}

/* Entries that name the same VM add up, also to what excludes each other. */
static void test_migration_of_a_vm(void **state)
{
    static const struct {
        const char *name;
        unsigned connections;
        const char *excluded;
    } vms[] = {{"web", 1, NULL}, {"db-1", 4, NULL}, {"old-db", 1, NULL}, {"db-old-db", 4, "post_copy"}};
    static const char text[] =
        "cluster: a\nsource:\n  kind: libvirt\n  hosts: {h: {uri: \"qemu+tls://h/system\"}}\n"
        "  migration: {timeout_s: 60}\n"
        "  migrations: {a: {vms: [\"db-*\"], connections: 4}, b: {vms: [x, \"*old-db\"], post_copy: true}}\n";
    CLEANUP(arena_releasep) struct arena a = {0}, copies = {0};
    struct config c;
    struct err err = {0};
    struct source_config source;
    struct libvirt_settings copy;

    (void)state;
    assert_int_equal(config_from(text, CONFIG_FOR_SERVICE, &a, &c, &err), 0);
    config_source(&c, &source);
    libvirt_migration_copy(source.settings, &copies, &copy);
    arena_release(&a);
    for (size_t i = 0; i < ELEMENTS(vms); i++) {
        const struct libvirt_migration m = libvirt_migration_of(&copy, "uuid", vms[i].name);
        const char *key = NULL;

        assert_int_equal(m.connections, vms[i].connections);
        assert_int_equal(m.timeout_s, 60);
        assert_int_equal(libvirt_migration_excluded(&m, &key) != NULL, vms[i].excluded != NULL);
        if (vms[i].excluded)
            assert_string_equal(key, vms[i].excluded);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_own_settings),
                                       cmocka_unit_test(test_hostile_addresses),
                                       cmocka_unit_test(test_proxmox), cmocka_unit_test(test_migrations),
                                       cmocka_unit_test(test_migration_of_a_vm)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
