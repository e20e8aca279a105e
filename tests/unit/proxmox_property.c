/* The texts within values of a guest's configuration, versions and privileges. */
#include "unit.h"

#include "base/cleanup.h"
#include "collectors/proxmox/pve_property.h"
#include "collectors/proxmox/pve_read.h"

#include <string.h>

static void assert_text(const char *got, const char *expected)
{
    if (!expected)
        assert_null(got);
    else
        assert_string_equal(got ? got : "(none)", expected);
}

static void test_properties(void **state)
{
    static const struct {
        const char *text, *name, *value;
    } cases[] = {
        {"virtio=BC:24:11:00:00:01,bridge=vmbr0,tag=20", "bridge", "vmbr0"},
        {"virtio=BC:24:11:00:00:01,bridge=vmbr0,tag=20", "tag", "20"},
        {"virtio=BC:24:11:00:00:01,bridge=vmbr0", NULL, NULL},
        {"local-lvm:vm-100-disk-0,size=32G", NULL, "local-lvm:vm-100-disk-0"},
        {"size=32G,local-lvm:vm-100-disk-0", NULL, "local-lvm:vm-100-disk-0"},
        {"host,flags=+aes", NULL, "host"},
        {"cputype=host", "cputype", "host"},
        {"bridges=x,bridge=y", "bridge", "y"},
        {"bridge=", "bridge", ""},
        {"=x,bridge=y", "bridge", "y"},
        {",,,", NULL, NULL},
        {"", "bridge", NULL},
        {NULL, "bridge", NULL},
        {"bridge", "bridge", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        assert_text(pve_property(cases[i].text, cases[i].name, &a), cases[i].value);
    }
}

static void test_lists(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const char *at = " vm:100,ct:101;;web\n";
    unsigned priority;

    (void)state;
    assert_text(pve_list_next(&at, &a), "vm:100");
    assert_text(pve_list_next(&at, &a), "ct:101");
    assert_text(pve_list_next(&at, &a), "web");
    assert_null(pve_list_next(&at, &a));
    at = NULL;
    assert_null(pve_list_next(&at, &a));
    at = "n1:2,n2,n3:x,n4:-1,n5:99999999999999999999";
    static const unsigned expected[] = {2, 0, 0, 0, 0};
    for (size_t i = 0; i < 5; i++) {
        char name[] = {'n', (char)('1' + i), '\0'};
        assert_text(pve_node_next(&at, &priority, &a), name);
        assert_int_equal(priority, expected[i]);
    }
    assert_null(pve_node_next(&at, &priority, &a));
}

static void test_families(void **state)
{
    (void)state;
    assert_true(pve_is_of("net0", "net"));
    assert_true(pve_is_of("hostpci15", "hostpci"));
    assert_false(pve_is_of("net", "net"));
    assert_false(pve_is_of("netx", "net"));
    assert_false(pve_is_of("scsihw", "scsi"));
}

static void test_versions(void **state)
{
    (void)state;
    assert_int_equal(pve_major("9.1.11"), 9);
    assert_int_equal(pve_major("pve-manager/8.4.21/0a1b2c3d"), 8);
    assert_int_equal(pve_major("x"), 0);
    assert_int_equal(pve_major(NULL), 0);
}

/* The nearest path above counts, and nothing above that. */
static void test_privileges(void **state)
{
    json_t *has = json_pack("{s:{s:i},s:{s:i,s:i},s:{}}", "/", "Sys.Audit", 1, "/vms", "VM.Audit", 1,
                            "VM.Migrate", 1, "/vms/100");

    (void)state;
    assert_true(pve_may(has, "/", "Sys.Audit"));
    assert_true(pve_may(has, "/nodes/n1", "Sys.Audit"));
    assert_true(pve_may(has, "/vms", "VM.Audit"));
    assert_true(pve_may(has, "/vms/101", "VM.Migrate"));
    assert_false(pve_may(has, "/vms/100", "VM.Audit"));
    assert_false(pve_may(has, "/vms", "Sys.Audit"));
    assert_false(pve_may(has, "/", "VM.Audit"));
    assert_false(pve_may(NULL, "/", "VM.Audit"));
    json_decref(has);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_properties), cmocka_unit_test(test_lists),      cmocka_unit_test(test_families),
        cmocka_unit_test(test_versions),   cmocka_unit_test(test_privileges),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
