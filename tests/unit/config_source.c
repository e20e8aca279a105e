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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_own_settings), cmocka_unit_test(test_proxmox),
                                       cmocka_unit_test(test_migrations),
                                       cmocka_unit_test(test_migration_of_a_vm)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
