/* The pure parts of the Proxmox VE actuator: names of tasks, lines of logs, and the table that decides the
 * state of a move by HA. */
#include "unit.h"

#include "actuators/proxmox/pve_ha.h"
#include "actuators/proxmox/pve_log.h"
#include "actuators/proxmox/pve_task.h"

#include <string.h>

#define UPID "UPID:n1:0000A1B2:00C3D4E5:6AB13B80:hamigrate:100:lb@pve!tok:"

static void test_upids(void **state)
{
    static const char *const wrong[] = {
        "",
        "UPID",
        "UPID:n1:0000A1B2:00C3D4E5:6AB13B80:qmigrate:100:lb@pve",
        "UPID:n1:0000A1B2:00C3D4E5:6AB13B80:qmigrate:100:lb@pve:more",
        "UPID:n/1:0000A1B2:00C3D4E5:6AB13B80:qmigrate:100:lb@pve:",
        "UPID:n1:0000A1B2:00C3D4E5:6AB13B80:qmigrate:../100:lb@pve:",
        "UPID:n1:0000A1B2:00C3D4E5:xyz:qmigrate:100:lb@pve:",
        "UPID:n1:0000A1B2:00C3D4E5:FFFFFFFFFFFFFFFF:qmigrate:100:lb@pve:",
        "UPID:n1:0000A1B2:00C3D4E5:6AB13B80:qmigrate:100::",
    };
    struct pve_upid u;

    (void)state;
    assert_true(pve_upid_read(UPID, &u));
    assert_string_equal(u.node, "n1");
    assert_string_equal(u.type, "hamigrate");
    assert_string_equal(u.id, "100");
    assert_int_equal(u.start_s, 0x6AB13B80);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(pve_upid_read(wrong[i], &u));
}

static void test_ha_names(void **state)
{
    struct pve_ha_move m = {.container = true, .id = "101", .from = "n1", .to = "n2", .since_s = 0x6AB13B80},
                       read;
    char name[TASK_NAME_MAX];

    (void)state;
    (void)snprintf(m.upid, sizeof m.upid, "%s", UPID);
    pve_ha_name_write(&m, name);
    assert_string_equal(name, "HA:ct:101:n1:n2:6AB13B80:" UPID);
    assert_true(pve_ha_name_read(name, &read));
    assert_memory_equal(&read, &m, sizeof m);
    memset(m.from, 'a', PVE_NODE_MAX - 1); /* too long with both: the request is left out, not the move */
    memset(m.to, 'b', PVE_NODE_MAX - 1);
    memset(m.upid, 0, sizeof m.upid);
    memcpy(m.upid, UPID, strlen(UPID) - 1);
    memset(m.upid + strlen(UPID) - 1, 'x', 80);
    m.upid[strlen(UPID) + 79] = ':';
    pve_ha_name_write(&m, name);
    assert_true(pve_ha_name_read(name, &read));
    assert_string_equal(read.upid, "");
    assert_string_equal(read.to, m.to);
    assert_false(pve_ha_name_read("HA:vm:100:n1:n2:6AB13B80:UPID:", &read));
    assert_false(pve_ha_name_read("HA:xx:100:n1:n2:6AB13B80:", &read));
    assert_false(pve_ha_name_read("HA:vm:100:n1:../n2:6AB13B80:", &read));
}

static void test_logs(void **state)
{
    static const struct {
        const char *line;
        int percent;
    } lines[] = {
        {"2026-01-01 00:00:00 starting migration of VM 100 to node 'n2' (192.0.2.12)", -1},
        {"drive-scsi0: transferred 16.0 GiB of 32.0 GiB (50.00%) in 10s", 45},
        {"migration active, transferred 4.0 GiB of 8.0 GiB VM-state, 110.0 MiB/s", 95},
        {"migration active, transferred 512.0 MiB of 8.0 GiB VM-state, 110.0 MiB/s", 95}, /* never back */
        {"migration active, transferred 9.5 GiB of 8.0 GiB VM-state, 110.0 MiB/s", 99},
        {"migration active, transferred 9.5 GiB of 8.0 GiB VM-state, 55.0 MiB/s, VM dirties lots of memory: "
         "61.5 MiB/s",
         99},
        {"transferred nan of nan", 99},
        {"transferred 1 of", 99},
    };
    struct pve_log l;

    (void)state;
    pve_log_init(&l);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        pve_log_take(&l, lines[i].line);
        assert_int_equal(l.percent, lines[i].percent);
    }
    assert_string_equal(l.to, "n2");
    assert_float_equal(l.copied_mb, 9.5 * 1024, 1e-9);
    assert_float_equal(l.memory_mb, 8 * 1024, 1e-9);
    assert_float_equal(l.rate_mb_s, 55, 1e-9);
    assert_float_equal(l.dirty_mb_s, 61.5, 1e-9);
    pve_log_take(&l, "migration active, transferred 9.6 GiB of 8.0 GiB VM-state, 70.0 MiB/s");
    assert_float_equal(l.dirty_mb_s, 0, 1e-9); /* it writes less than is copied now */
    pve_log_take(&l, "average migration speed: 1.0 GiB/s - downtime 48 ms");
    pve_log_take(&l, "migration finished successfully (duration 01:02:03)");
    assert_float_equal(l.downtime_s, 0.048, 1e-9);
    assert_float_equal(l.took_s, 3723, 1e-9);
    pve_log_take(&l, "2026-01-01 00:00:00 ERROR: no space left");
    pve_log_take(&l, "TASK ERROR: migration problems");
    assert_string_equal(l.error, "no space left");
    pve_log_init(&l);
    pve_log_take(&l, "Requesting HA migration for VM 100 to node n2");
    assert_string_equal(l.to, "n2");
}

static void test_ha_table(void **state)
{
    static const struct {
        struct pve_ha_seen seen;
        enum pve_ha_verdict verdict;
    } cases[] = {
        {{.at_from = true, .request_runs = true}, PVE_HA_GOES_ON},
        {{.at_from = true, .now_s = 10}, PVE_HA_GOES_ON},
        {{.at_from = true, .now_s = PVE_HA_GRACE_S}, PVE_HA_IGNORED},
        {{.at_from = true, .now_s = 1000, .target = "n2"}, PVE_HA_GOES_ON},
        {{.at_from = true, .now_s = 1000, .target = "n3"}, PVE_HA_ELSEWHERE},
        {{.at_from = true, .now_s = 1000, .target = "n2", .later_task = true}, PVE_HA_FOLLOW},
        {{.at_from = true, .now_s = 1000, .target = "n3", .later_task = true}, PVE_HA_ELSEWHERE},
        {{.at_from = true, .request_failed = true, .now_s = 1}, PVE_HA_REFUSED},
        {{.at_from = true, .silent_s = 10000},
         PVE_HA_UNKNOWN}, /* the manager tells no clock, or makes no round */
        {{.at_from = true, .now_s = 1000, .target = "n2", .silent_s = 600}, PVE_HA_GOES_ON},
        {{.at_from = true, .now_s = 1000, .target = "n2", .silent_s = 601}, PVE_HA_UNKNOWN},
        {{.at_from = true, .now_s = 1000, .target = "n2", .silent_s = 601, .later_task = true},
         PVE_HA_FOLLOW},
        {{.at_to = true, .request_failed = true, .later_task = true}, PVE_HA_ARRIVED},
        {{.now_s = 1000}, PVE_HA_UNKNOWN}, /* on a third node */
        {{.gone = true}, PVE_HA_UNKNOWN},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pve_ha_seen s = cases[i].seen;

        s.to = "n2";
        s.target = s.target ? s.target : "";
        assert_int_equal(pve_ha_decide(&s), cases[i].verdict);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_upids), cmocka_unit_test(test_ha_names),
                                       cmocka_unit_test(test_logs), cmocka_unit_test(test_ha_table)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
