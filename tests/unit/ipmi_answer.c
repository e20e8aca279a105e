/* Answers of management controllers, byte by byte. */
#include "unit.h"

#include "actuators/ipmi/answer.h"
#include "base/ipmi_workaround.h"

#include <errno.h>
#include <string.h>

struct bytes {
    size_t n;
    uint8_t b[64];
};
#define BYTES(...)                                                                                           \
    {                                                                                                        \
        sizeof(uint8_t[]){__VA_ARGS__},                                                                      \
        {                                                                                                    \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    }

static const struct {
    struct bytes answer;
    int result;
    enum chassis is;
    const char *says;
} chassis_cases[] = {
    {BYTES(0x01, 0x00, 0x21, 0x10, 0x40, 0x00), 0, CHASSIS_ON, NULL},
    {BYTES(0x01, 0x00, 0x20, 0x10, 0x40), 0, CHASSIS_OFF, NULL}, /* without the front panel */
    {BYTES(0x01, 0x00, 0x61, 0x10), -EPROTO, CHASSIS_UNKNOWN, "cut short"},
    {BYTES(0x01), -EPROTO, CHASSIS_UNKNOWN, "cut short"},
    {{0, {0}}, -EPROTO, CHASSIS_UNKNOWN, "cut short"},
    {BYTES(0x02, 0x00, 0x21, 0x10, 0x40), -EPROTO, CHASSIS_UNKNOWN, "another command"},
    {BYTES(0x01, 0xc0), -EBUSY, CHASSIS_UNKNOWN, "busy"},
    {BYTES(0x01, 0xc1), -ENOTSUP, CHASSIS_UNKNOWN, "C1h"},
    {BYTES(0x01, 0xd4), -EPERM, CHASSIS_UNKNOWN, "privilege"},
    {BYTES(0x01, 0xd5), -EBUSY, CHASSIS_UNKNOWN, "present state"},
    {BYTES(0x01, 0x80), -EPROTO, CHASSIS_UNKNOWN, "80h"},
};

static void test_chassis(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(chassis_cases); i++) {
        struct err err = {0};
        enum chassis is = CHASSIS_UNKNOWN;
        assert_int_equal(ipmi_answer_chassis(chassis_cases[i].answer.b, chassis_cases[i].answer.n, &is, &err),
                         chassis_cases[i].result);
        assert_int_equal(is, chassis_cases[i].is);
        assert_true(!chassis_cases[i].says || strstr(err.text, chassis_cases[i].says));
    }
}

static void test_identity(void **state)
{
    uint8_t guid[18] = {0x37, 0x00, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 99};
    uint8_t lan[9] = {0x02, 0x00, 0x11, 0x00, 0x25, 0x90, 0x12, 0x34, 0x56};
    struct hardware_uuid uuid;
    struct mac mac;
    struct err err = {0};

    (void)state;
    assert_int_equal(ipmi_answer_guid(guid, sizeof guid, &uuid, &err), 0);
    assert_memory_equal(uuid.byte, guid + 2, sizeof uuid.byte);
    assert_int_equal(ipmi_answer_guid(guid, sizeof guid - 1, &uuid, &err), -EPROTO);
    assert_int_equal(ipmi_answer_guid(lan, sizeof lan, &uuid, &err), -EPROTO);
    guid[1] = 0xc1;
    assert_int_equal(ipmi_answer_guid(guid, 2, &uuid, &err), -ENOTSUP);
    assert_int_equal(ipmi_answer_mac(lan, sizeof lan, &mac, &err), 0);
    assert_memory_equal(mac.byte, lan + 3, sizeof mac.byte);
    assert_int_equal(ipmi_answer_mac(lan, sizeof lan - 1, &mac, &err), -EPROTO);
}

static void test_watts(void **state)
{
    uint8_t rs[20] = {0x02, 0x00, 0xdc, 0x39, 0x01, [19] = 0x40};
    struct err err = {0};
    double w = -1;

    (void)state;
    assert_int_equal(ipmi_answer_watts(rs, sizeof rs, &w, &err), 0);
    assert_true(w > 312.9 && w < 313.1);
    w = -1;
    assert_int_equal(ipmi_answer_watts(rs, sizeof rs - 1, &w, &err), -EPROTO);
    rs[19] = 0x00;
    assert_int_equal(ipmi_answer_watts(rs, sizeof rs, &w, &err), -EBUSY);
    rs[2] = 0xdd;
    assert_int_equal(ipmi_answer_watts(rs, sizeof rs, &w, &err), -EPROTO);
    rs[1] = 0xc1;
    assert_int_equal(ipmi_answer_watts(rs, 2, &w, &err), -ENOTSUP);
    assert_true(w < 0);
}

/* As OpenIPMI's simulator answers. */
static const uint8_t greeting[] = {0x06, 0x00, 0xff, 0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                                   0x00, 0x00, 0x00, 0x10, 0x81, 0x1c, 0x63, 0x20, 0x54, 0x38,
                                   0x00, 0x01, 0x97, 0x04, 0x03, 0x00, 0x00, 0x00, 0x00, 0xb5};

static void test_greetings(void **state)
{
    uint8_t packet[sizeof greeting + 4], ours[IPMI_PING_LEN];
    struct ipmi_ping says;
    struct err err = {0};

    (void)state;
    assert_int_equal(ipmi_ping_read(greeting, sizeof greeting, false, &says, &err), 0);
    assert_int_equal(says.seq, 0x15);
    assert_true(says.speaks_2_0 && !says.wants_k_g);
    for (size_t n = 0; n < sizeof greeting; n++) /* every piece of it is too little */
        assert_int_equal(ipmi_ping_read(greeting, n, false, &says, &err), -EPROTO);
    for (size_t i = 14; i < sizeof greeting; i++) { /* and every byte of the message counts */
        memcpy(packet, greeting, sizeof greeting);
        packet[i] ^= 0x10;
        assert_int_equal(ipmi_ping_read(packet, sizeof greeting, false, &says, &err), -EPROTO);
    }
    memcpy(packet, greeting, sizeof greeting);
    packet[sizeof greeting - 1] ^= 1;
    assert_int_equal(ipmi_ping_read(packet, sizeof greeting, true, &says, &err), 0);
    ipmi_ping_write(63, ours);
    assert_int_equal(ipmi_ping_read(ours, sizeof ours, false, &says, &err),
                     -EPROTO); /* a question is no answer */
}

static void test_openings(void **state)
{
    static const struct {
        uint8_t status;
        int result;
    } cases[] = {{0x00, 0},        {0x01, -EBUSY},  {0x04, -ENOTSUP},
                 {0x11, -ENOTSUP}, {0x09, -EACCES}, {0x77, -EPROTO}};
    uint8_t answer[] = {0x06, 0x00, 0xff, 0x07, 0x06, 0x11, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x00, 7, 0};
    struct err err = {0};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        answer[17] = cases[i].status;
        assert_int_equal(ipmi_opening_read(answer, sizeof answer, 7, &err), cases[i].result);
    }
    assert_int_equal(ipmi_opening_read(answer, sizeof answer, 8, &err), -EAGAIN);
    assert_int_equal(ipmi_opening_read(answer, sizeof answer - 1, 7, &err), -EAGAIN);
    assert_int_equal(ipmi_opening_read(greeting, sizeof greeting, 7, &err), -EAGAIN);
}

static void test_workarounds(void **state)
{
    (void)state;
    assert_true(ipmi_workaround_known("opensesspriv") && ipmi_workaround_known("authcap"));
    assert_false(ipmi_workaround_known("") || ipmi_workaround_known("none") ||
                 ipmi_workaround_known("Authcap"));
    assert_true(strncmp(ipmi_workaround_names(), "authcap, intel20", 16) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chassis),  cmocka_unit_test(test_watts),       cmocka_unit_test(test_greetings),
        cmocka_unit_test(test_openings), cmocka_unit_test(test_workarounds), cmocka_unit_test(test_identity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
