/* Magic packets as bytes, and configurations that are refused before anything is sent or started. */
#include "unit.h"

#include "actuators/wol/packet.h"
#include "actuators/wol/relay.h"
#include "actuators/wol/wol.h"

#include <errno.h>
#include <string.h>

static const struct {
    const char *text;
    int code;
    struct mac mac;
} macs[] = {
    {"02:00:00:63:00:07", 0, {{2, 0, 0, 0x63, 0, 7}}},
    {"DE-AD-be-ef-09-aF", 0, {{0xde, 0xad, 0xbe, 0xef, 9, 0xaf}}},
    {"", -EINVAL, {{0}}},
    {"0", -EINVAL, {{0}}},
    {"02:00:00:63:00", -EINVAL, {{0}}},
    {"02:00:00:63:00:", -EINVAL, {{0}}},
    {"02:00:00:63:00:7", -EINVAL, {{0}}},
    {"02:00:00:63:00:07:08", -EINVAL, {{0}}},
    {"02:00-00:63:00:07", -EINVAL, {{0}}},
    {"02.00.00.63.00.07", -EINVAL, {{0}}},
    {"0200.0063.0007", -EINVAL, {{0}}},
    {" 02:00:00:63:00:07", -EINVAL, {{0}}},
    {"0g:00:00:63:00:07", -EINVAL, {{0}}},
    {"02:00:00:63:00:07\n", -EINVAL, {{0}}},
    {"02:00:00:63:00:07;reboot", -EINVAL, {{0}}},
};

static void test_macs(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(macs); i++) {
        struct mac mac = {{0}};
        if (mac_parse(macs[i].text, &mac) != macs[i].code)
            fail_msg("%s", macs[i].text);
        assert_memory_equal(&mac, &macs[i].mac, sizeof mac);
    }
}

static void test_packet(void **state)
{
    static const uint8_t mac[] = {2, 0, 0, 0x63, 0, 7}, secureon[] = {1, 2, 3, 4, 5, 6};
    struct magic m;
    struct err err = {0};

    (void)state;
    for (int with = 0; with <= 1; with++) {
        assert_int_equal(packet_build("02:00:00:63:00:07", with ? "01:02:03:04:05:06" : NULL, &m, &err), 0);
        assert_int_equal(m.len, with ? 108 : 102);
        for (size_t i = 0; i < 6; i++)
            assert_int_equal(m.byte[i], 0xff);
        for (size_t i = 1; i <= 16; i++)
            assert_memory_equal(m.byte + 6 * i, mac, 6);
    }
    assert_memory_equal(m.byte + 102, secureon, 6);
    assert_int_equal(packet_build("02:00:00:63:00:07", "hunter2", &m, &err), -EINVAL);
    assert_null(strstr(err.text, "hunter2"));
    assert_int_equal(packet_build("ff:ff:ff:ff:ff:ff", NULL, &m, &err), -EINVAL); /* everybody */
    assert_int_equal(packet_build("01:00:5e:00:00:01", NULL, &m, &err), -EINVAL); /* a group */
    assert_int_equal(packet_build("00:00:00:00:00:00", NULL, &m, &err), -EINVAL);
    assert_int_equal(packet_build(NULL, NULL, &m, &err), -EINVAL);
}

static const struct {
    const char *text, *user, *host; /* host NULL: refused */
    unsigned port;
} relays[] = {
    {"root@relay.example", "root", "relay.example", 0},
    {"root@relay.example:2222", "root", "relay.example", 2222},
    {"relay", "", "relay", 0},
    {"wol@10.0.0.5:22", "wol", "10.0.0.5", 22},
    {"wol@[fe80::1%eth0]:22", "wol", "fe80::1%eth0", 22},
    {"wol@[fd00::5]", "wol", "fd00::5", 0},
    {"", NULL, NULL, 0},
    {"@relay", NULL, NULL, 0},
    {"root@", NULL, NULL, 0},
    {"root@relay:", NULL, NULL, 0},
    {"root@relay:0", NULL, NULL, 0},
    {"root@relay:65536", NULL, NULL, 0},
    {"root@relay:22x", NULL, NULL, 0},
    {"root@relay:-1", NULL, NULL, 0},
    {"root@relay:1e3", NULL, NULL, 0},
    {"root@fd00::5", NULL, NULL, 0},
    {"root@[fd00::5", NULL, NULL, 0},
    {"-oProxyCommand=reboot", NULL, NULL, 0},
    {"root@-oProxyCommand=reboot", NULL, NULL, 0},
    {"-l@relay", NULL, NULL, 0},
    {"root@[-oProxyCommand]", NULL, NULL, 0},
    {"root@relay;reboot", NULL, NULL, 0},
    {"root@relay reboot", NULL, NULL, 0},
    {"root@$(reboot)", NULL, NULL, 0},
    {"a@b@relay", NULL, NULL, 0},
};

static void test_relays(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(relays); i++) {
        struct remote_address relay = {.port = 0};
        int r = remote_address_parse(relays[i].text, &relay);
        if (r != (relays[i].host ? 0 : -EINVAL))
            fail_msg("%s: %d", relays[i].text, r);
        if (r < 0)
            continue;
        assert_string_equal(relay.user, relays[i].user);
        assert_string_equal(relay.host, relays[i].host);
        assert_int_equal(relay.port, relays[i].port);
    }
}

#define GOOD .mac = "02:00:00:00:00:01"

static const struct {
    struct power_host host;
    const char *words; /* NULL: it is fine */
} hosts[] = {
    {{.wol = {GOOD}}, NULL},
    {{.wol = {GOOD, .interface = "bond0.12"}}, NULL},
    {{.wol = {GOOD, .broadcast = "10.0.0.255", .port = 7}}, NULL},
    {{.wol = {GOOD, .relay = "root@relay", .relay_key = "/etc/ballast/relay", .interface = "br-lan"}}, NULL},
    {{.wol = {.mac = "nonsense"}}, "mac"},
    {{.wol = {GOOD, .secureon = "1234"}}, "secureon"},
    {{.wol = {GOOD, .interface = "eth0;reboot"}}, "interface"},
    {{.wol = {GOOD, .interface = "-eth0"}}, "interface"},
    {{.wol = {GOOD, .interface = ""}}, "interface"},
    {{.wol = {GOOD, .interface = "a-name-of-sixteen"}}, "interface"},
    {{.wol = {GOOD, .broadcast = "10.0.0.255;reboot"}}, "broadcast"},
    {{.wol = {GOOD, .broadcast = "relay.example"}}, "broadcast"},
    {{.wol = {GOOD, .broadcast = "fd00::1"}}, "broadcast"},
    {{.wol = {GOOD, .port = 65536}}, "port"},
    {{.wol = {GOOD, .relay = "root@-x"}}, "relay"},
    {{.wol = {GOOD, .relay_key = "/etc/ballast/relay"}}, "relay_key"},
};

static void test_create(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(hosts); i++) {
        struct power_host host = hosts[i].host;
        struct power_method *m = NULL;
        struct err err = {0};

        host.name = "esx1";
        assert_int_equal(wol_method.create(&host, &m, &err), hosts[i].words ? -EINVAL : 0);
        if (hosts[i].words &&
            (!strstr(err.text, hosts[i].words) || !strstr(err.text, "host esx1: Wake-on-LAN: ")))
            fail_msg("%zu: %s", i, err.text);
        wol_method.destroy(m);
    }
    assert_int_equal(wol_method.can, POWER_CAN_WAKE);
    assert_true(!wol_method.chassis && !wol_method.cut && !wol_method.shut_down && !wol_method.watts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_macs),
        cmocka_unit_test(test_packet),
        cmocka_unit_test(test_relays),
        cmocka_unit_test(test_create),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
