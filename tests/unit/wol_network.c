/* Where a magic packet goes, by the interfaces of a made machine: 10.1.0.5/24 at eth0, 10.2.0.5/16 at eth1, a
 * tunnel, lo. */
#include "unit.h"

#include "actuators/wol/network.h"
#include "actuators/wol/relay_network.h"
#include "base/cleanup.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <string.h>

static struct in_addr ip(const char *text)
{
    struct in_addr a = {0};

    if (text)
        assert_int_equal(inet_pton(AF_INET, text, &a), 1);
    return a;
}

static const struct {
    const char *name, *broadcast, *interface, *leaves_from;
    int code;
    const char *says;
} cases[] = {
    {"that of a local network", "10.1.0.255", NULL, "10.1.0.5", 0, NULL},
    {"that of a larger one", "10.2.255.255", NULL, "10.2.0.5", 0, NULL},
    {"all, by the default route", NULL, NULL, "10.1.0.5", 0, NULL},
    {"all, and there is no route", NULL, NULL, NULL, -EINVAL, "no route"},
    {"frames", NULL, "eth0", NULL, 0, NULL},
    {"frames, and no such interface", NULL, "eth7", NULL, -EINVAL, "has no interface eth7"},
    {"frames by the loopback", NULL, "lo", NULL, -EINVAL, "lo cannot carry"},
    {"frames by a tunnel", NULL, "wg0", NULL, -EINVAL, "wg0 cannot carry"},
    {"frames, and the interface is down", NULL, "eth2", NULL, -EINVAL, "eth2 is down"},
    {"a host's own address", "10.1.0.77", NULL, "10.1.0.5", -EINVAL, "that of interface eth0 is 10.1.0.255"},
    {"the broadcast of a smaller network", "10.2.0.255", NULL, "10.2.0.5", -EINVAL, "is 10.2.255.255"},
    {"this machine", "127.0.0.1", NULL, "127.0.0.1", -EINVAL, "this machine itself"},
    {"another network, by a router", "10.9.0.255", NULL, "10.1.0.5", -ENETUNREACH, "a router"},
    {"another network, declared", "10.9.0.255/24", NULL, "10.1.0.5", 0, NULL},
    {"another network, declared, without a route", "10.9.0.255/24", NULL, NULL, -EINVAL, "no route"},
    {"an address of the declared network", "10.9.0.77/24", NULL, "10.1.0.5", -EINVAL,
     "its network of 24 bits"},
    {"a local one, declared smaller than it is", "10.2.0.255/24", NULL, "10.2.0.5", -EINVAL,
     "is 10.2.255.255"},
    {"no prefix", "10.9.0.255/33", NULL, "10.1.0.5", -EINVAL, "not an IPv4 address"},
    {"another network, without a route", "10.9.0.255", NULL, NULL, -EINVAL, "no route"},
    {"the route leads elsewhere", "10.1.0.255", NULL, "10.2.0.5", -EINVAL, "leave by interface eth1"},
    {"the interface is another", "10.1.0.255", "eth1", "10.1.0.5", -EINVAL, "said to be at eth1"},
    {"both fit", "10.1.0.255", "eth0", "10.1.0.5", 0, NULL},
    {"no address", "10.1.0", NULL, "10.1.0.5", -EINVAL, "not an IPv4 address"},
};

static void test_judge(void **state)
{
    const unsigned on = IFF_UP | IFF_BROADCAST;
    CLEANUP(wol_view_freep) struct wol_view *view = wol_view_new("this machine");
    const struct wol_interface list[] = {
        {"lo", IFF_UP | IFF_LOOPBACK, false, {0}, {0}, {0}},
        {"eth0", on, true, {0}, {0}, {0}},
        {"lo", IFF_UP | IFF_LOOPBACK, false, ip("127.0.0.1"), ip("255.0.0.0"), {0}},
        {"eth0", on, true, ip("10.1.0.5"), ip("255.255.255.0"), ip("10.1.0.255")},
        {"eth1", on, true, ip("10.2.0.5"), ip("255.255.0.0"), ip("10.2.255.255")},
        {"eth2", IFF_BROADCAST, true, {0}, {0}, {0}},
        {"wg0", IFF_UP | IFF_POINTOPOINT, false, ip("10.3.0.5"), ip("255.255.255.0"), {0}},
    };

    (void)state;
    memcpy(view->list, list, sizeof list);
    view->n = ELEMENTS(list);
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        const struct power_host host = {.name = "esx1",
                                        .wol = {.mac = "02:00:00:00:00:01",
                                                .broadcast = cases[i].broadcast,
                                                .interface = cases[i].interface}};
        struct err err = {0};

        print_message("  %s\n", cases[i].name);
        view->leaves_from = ip(cases[i].leaves_from);
        assert_int_equal(wol_judge(&host, view, &err), cases[i].code);
        if (cases[i].says && !strstr(err.text, cases[i].says))
            fail_msg("%s", err.text);
    }
}

/* As iproute2 5.10 and 6.1 print it; the older one has empty objects. */
#define LINKS                                                                                                \
    "[{},{\"ifindex\":1,\"ifname\":\"lo\",\"flags\":[\"LOOPBACK\",\"UP\",\"LOWER_UP\"],\"link_type\":"       \
    "\"loopback\","                                                                                          \
    "\"addr_info\":[{\"family\":\"inet\",\"local\":\"127.0.0.1\",\"prefixlen\":8}]},"                        \
    "{\"ifindex\":2,\"ifname\":\"eth1\",\"flags\":[\"BROADCAST\",\"MULTICAST\",\"UP\"],\"link_type\":"       \
    "\"ether\","                                                                                             \
    "\"addr_info\":[{\"family\":\"inet6\",\"local\":\"fe80::1\",\"prefixlen\":64},{\"family\":\"inet\","     \
    "\"local\":"                                                                                             \
    "\"10.1.0.5\",\"prefixlen\":24,\"broadcast\":\"10.1.0.255\"}]}]\n"
#define ROUTE "[{\"type\":\"broadcast\",\"dst\":\"10.1.0.255\",\"dev\":\"eth1\",\"prefsrc\":\"10.1.0.5\"}]\n"

static void test_relay(void **state)
{
    static const struct {
        const char *text, *broadcast, *interface;
        int code;
        const char *says;
    } at_relay[] = {
        {LINKS ROUTE, "10.1.0.255", NULL, 0, NULL},
        {LINKS ROUTE, "10.1.0.255", "eth1", 0, NULL},
        {LINKS ROUTE, "10.1.0.77", NULL, -EINVAL, "that of interface eth1 is 10.1.0.255"},
        {LINKS ROUTE, NULL, "lo", -EINVAL, "lo cannot carry"},
        {LINKS ROUTE, NULL, "eth0", -EINVAL, "the relay has no interface eth0"},
        {LINKS ROUTE, "10.9.0.255", NULL, -ENETUNREACH, "no network of the relay"},
        {LINKS, "10.9.0.255", NULL, -EINVAL, "the relay has no route to 10.9.0.255"},
        {"", "10.1.0.255", NULL, -ENOTSUP, "does not tell its interfaces"},
        {"[]\n[]\n", "10.1.0.255", NULL, -ENOTSUP, "does not tell its interfaces"},
        {"Option \"-json\" is unknown, try \"ip -help\".\n", "10.1.0.255", NULL, -ENOTSUP,
         "`ip -json address`"},
        {"[{\"ifname\": 7, \"addr_info\": [{\"family\": \"inet\", \"prefixlen\": 99}]}]", NULL, NULL,
         -ENOTSUP, ""},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(at_relay); i++) {
        const struct power_host host = {.name = "esx1",
                                        .wol = {.mac = "02:00:00:00:00:01",
                                                .relay = "root@10.1.0.5",
                                                .broadcast = at_relay[i].broadcast,
                                                .interface = at_relay[i].interface}};
        struct err err = {0};

        assert_int_equal(wol_judge_by_text(&host, at_relay[i].text, strlen(at_relay[i].text), &err),
                         at_relay[i].code);
        if (at_relay[i].says && !strstr(err.text, at_relay[i].says))
            fail_msg("%s", err.text);
    }
}

/* On this machine, whatever it has: the loopback carries none, and a relay is not judged from here. */
static void test_here(void **state)
{
    struct power_host host = {.name = "esx1", .wol = {.mac = "02:00:00:00:00:01", .interface = "lo"}};
    struct err err = {0};

    (void)state;
    assert_int_equal(wol_check_network(&host, &err), -EINVAL);
    assert_non_null(strstr(err.text, "host esx1: Wake-on-LAN"));
    host.wol.relay = "admin@there";
    assert_int_equal(wol_check_network(&host, &err), 0);
    host = (struct power_host){.name = "esx1"};
    assert_int_equal(wol_check_network(&host, &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_judge), cmocka_unit_test(test_relay),
                                       cmocka_unit_test(test_here)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
