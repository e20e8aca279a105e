/* answer.c: builds and parses the bytes of IPMI messages. It sends none of them. */
#include "answer.h"

#include <errno.h>
#include <string.h>

enum {
    GET_CHASSIS_STATUS = 0x01,
    GET_CHANNEL_AUTHENTICATION_CAPABILITIES = 0x38,
    GET_POWER_READING = 0x02,
    GET_SYSTEM_GUID = 0x37,
    GET_LAN_CONFIGURATION_PARAMETERS = 0x02
};

/* Completion codes, table 5-2; those of single commands, 80h...BEh, are not used by the commands here. */
static const struct {
    uint8_t code;
    int error;
    const char *says;
} completions[] = {
    {0xc0, -EBUSY, "it is busy"},
    {0xc1, -ENOTSUP, "it does not know the command"},
    {0xc2, -ENOTSUP, "it does not know the command at this unit"},
    {0xc3, -EBUSY, "it took too long itself"},
    {0xc4, -EBUSY, "it is out of room"},
    {0xc7, -ENOTSUP, "the request's length is not what it wants"},
    {0xc8, -ENOTSUP, "the request is too long for it"},
    {0xc9, -ENOTSUP, "a parameter is out of its range"},
    {0xcb, -ENOTSUP, "what was asked for is not there"},
    {0xcc, -ENOTSUP, "a field of the request is not valid for it"},
    {0xcd, -ENOTSUP, "the command is not valid for this"},
    {0xce, -EBUSY, "it could give no answer"},
    {0xd0, -EBUSY, "its sensor records are being updated"},
    {0xd1, -EBUSY, "its firmware is being updated"},
    {0xd2, -EBUSY, "it is starting up itself"},
    {0xd3, -EBUSY, "it cannot reach what should do it"},
    {0xd4, -EPERM, "the privilege is too low for this command, or its firmware firewall forbids it"},
    {0xd5, -EBUSY, "it cannot do that in the present state"},
    {0xd6, -ENOTSUP, "it is switched off there"},
    {0xff, -EBUSY, "it failed, and it does not say why"},
};

int ipmi_answer_done(const uint8_t *rs, size_t n, uint8_t command, struct err *err)
{
    if (n < 2)
        return err_set(err, -EPROTO, "the answer is cut short: %zu bytes", n);
    if (rs[0] != command)
        return err_set(err, -EPROTO, "the answer is to another command (%02Xh)", (unsigned)rs[0]);
    if (rs[1] == 0)
        return 0;
    for (size_t i = 0; i < sizeof completions / sizeof completions[0]; i++) {
        if (completions[i].code == rs[1])
            return err_set(err, completions[i].error, "the controller says: %s (%02Xh)", completions[i].says,
                           (unsigned)rs[1]);
    }
    return err_set(err, -EPROTO, "the controller refuses with a code that the command does not have (%02Xh)",
                   (unsigned)rs[1]);
}

int ipmi_answer_chassis(const uint8_t *rs, size_t n, enum chassis *ret, struct err *err)
{
    int r = ipmi_answer_done(rs, n, GET_CHASSIS_STATUS, err);

    if (r < 0)
        return r;
    if (n < 5) /* current state, last event, misc; front panel is optional */
        return err_set(err, -EPROTO, "the answer is cut short: %zu bytes of 5", n);
    *ret = rs[2] & 0x01 ? CHASSIS_ON : CHASSIS_OFF;
    return 0;
}

int ipmi_answer_watts(const uint8_t *rs, size_t n, double *ret, struct err *err)
{
    enum { GROUP = 2, NOW = 3, STATE = 19, WHOLE = 20 };
    int r = ipmi_answer_done(rs, n, GET_POWER_READING, err);

    if (r < 0)
        return r;
    if (n < WHOLE)
        return err_set(err, -EPROTO, "the answer is cut short: %zu bytes of %d", n, WHOLE);
    if (rs[GROUP] != 0xdc)
        return err_set(err, -EPROTO, "the answer is not DCMI's (group %02Xh)", (unsigned)rs[GROUP]);
    if (!(rs[STATE] & 0x40))
        return err_set(err, -EBUSY, "the controller says that it measures no power now");
    *ret = rs[NOW] + 256.0 * rs[NOW + 1];
    return 0;
}

int ipmi_answer_guid(const uint8_t *rs, size_t n, struct hardware_uuid *ret, struct err *err)
{
    enum { GUID = 2, WHOLE = GUID + HARDWARE_UUID_BYTES };
    int r = ipmi_answer_done(rs, n, GET_SYSTEM_GUID, err);

    if (r < 0)
        return r;
    if (n < WHOLE)
        return err_set(err, -EPROTO, "the answer is cut short: %zu bytes of %d", n, WHOLE);
    memcpy(ret->byte, rs + GUID, HARDWARE_UUID_BYTES);
    return 0;
}

int ipmi_answer_mac(const uint8_t *rs, size_t n, struct mac *ret, struct err *err)
{
    enum { ADDRESS = 3, WHOLE = ADDRESS + MAC_SIZE }; /* after the parameter's revision */
    int r = ipmi_answer_done(rs, n, GET_LAN_CONFIGURATION_PARAMETERS, err);

    if (r < 0)
        return r;
    if (n < WHOLE)
        return err_set(err, -EPROTO, "the answer is cut short: %zu bytes of %d", n, WHOLE);
    memcpy(ret->byte, rs + ADDRESS, MAC_SIZE);
    return 0;
}

/* Two's complement: with it the bytes add up to 0. */
static uint8_t checksum(const uint8_t *p, size_t n)
{
    unsigned sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += p[i];
    return (uint8_t)(0x100 - (sum & 0xff));
}

/* RMCP: version 1.0, no acknowledge wanted, class IPMI. Session: none, sequence 0, id 0, then the length. */
static const uint8_t outside_of_a_session[] = {0x06, 0x00, 0xff, 0x07, 0x00, 0, 0, 0, 0, 0, 0, 0, 0};

enum { SESSION = sizeof outside_of_a_session, LENGTH = SESSION, MESSAGE };

void ipmi_ping_write(uint8_t seq, uint8_t to[IPMI_PING_LEN])
{
    enum { CONTROLLER = 0x20, US = 0x81, APP = 0x06 << 2, THIS_CHANNEL_AND_2_0 = 0x8e, ADMIN = 0x04 };
    uint8_t *m = to + MESSAGE;

    memcpy(to, outside_of_a_session, SESSION);
    to[LENGTH] = IPMI_PING_LEN - MESSAGE;
    m[0] = CONTROLLER;
    m[1] = APP;
    m[2] = checksum(m, 2);
    m[3] = US;
    m[4] = (uint8_t)((seq & 0x3f) << 2);
    m[5] = GET_CHANNEL_AUTHENTICATION_CAPABILITIES;
    m[6] = THIS_CHANNEL_AND_2_0;
    m[7] = ADMIN;
    m[8] = checksum(m + 3, 5);
}

int ipmi_ping_read(const uint8_t *packet, size_t n, bool any_sum, struct ipmi_ping *ret, struct err *err)
{
    enum {
        APP_ANSWER = 0x07,
        HEADER = 3,
        SEQ = 4,
        COMMAND = 5,
        CODE = 6,
        TYPES = 8,
        STATUS = 9,
        EXTENDED = 10,
        LEAST = 8
    };

    if (n < MESSAGE || packet[0] != 0x06 || (packet[3] & 0x1f) != 0x07)
        return err_set(err, -EPROTO, "that is no IPMI");
    if (packet[4] != 0x00 || packet[LENGTH] < LEAST || packet[LENGTH] > n - MESSAGE)
        return err_set(err, -EPROTO, "that is IPMI, but no answer outside of a session");
    const uint8_t *m = packet + MESSAGE;
    size_t len = packet[LENGTH];
    if (!any_sum && (checksum(m, HEADER) != 0 || checksum(m + HEADER, len - HEADER) != 0))
        return err_set(err, -EPROTO, "that is IPMI with wrong checksums");
    if (m[1] >> 2 != APP_ANSWER || m[COMMAND] != GET_CHANNEL_AUTHENTICATION_CAPABILITIES)
        return err_set(err, -EPROTO, "that is the answer to something else");
    bool whole = m[CODE] == 0 && len > EXTENDED + 1;
    *ret = (struct ipmi_ping){.seq = m[SEQ] >> 2,
                              .speaks_2_0 = whole && m[TYPES] & 0x80 && m[EXTENDED] & 0x02,
                              .wants_k_g = whole && m[STATUS] & 0x20};
    return 0;
}

/* RMCP, then RMCP+: payload in the clear, of no session, its length. */
static const uint8_t before_a_session[] = {0x06, 0x00, 0xff, 0x07, 0x06, 0x10, 0, 0, 0, 0, 0, 0, 0, 0};

enum { PAYLOAD_TYPE = 5, PAYLOAD_LENGTH = sizeof before_a_session, PAYLOAD = PAYLOAD_LENGTH + 2 };

void ipmi_opening_write(uint8_t tag, const uint8_t algorithms[3], uint8_t to[IPMI_OPENING_LEN])
{
    enum { HIGHEST_PRIVILEGE = 0, ALGORITHMS = 8, EACH = 8 };
    static const uint8_t console_session_id[] = {0x62, 0x61, 0x6c, 0x6c}; /* any but 0 */
    uint8_t *p = to + PAYLOAD;

    memset(to, 0, IPMI_OPENING_LEN);
    memcpy(to, before_a_session, sizeof before_a_session);
    to[PAYLOAD_LENGTH] = IPMI_OPENING_LEN - PAYLOAD;
    p[0] = tag;
    p[1] = HIGHEST_PRIVILEGE;
    memcpy(p + 4, console_session_id, sizeof console_session_id);
    for (uint8_t i = 0; i < 3; i++) {
        uint8_t *a = p + ALGORITHMS + EACH * i;
        a[0] = i;
        a[3] = EACH;
        a[4] = algorithms[i];
    }
}

/* Table 13-15. A controller without the algorithms of a suite says so in several ways. */
static const struct {
    uint8_t code;
    int error;
    const char *says;
} statuses[] = {
    {0x01, -EBUSY, "it has no session left"},
    {0x04, -ENOTSUP, "it does not offer that cipher suite: the authentication of it is not known there"},
    {0x05, -ENOTSUP, "it does not offer that cipher suite: the integrity check of it is not known there"},
    {0x09, -EACCES, "it does not give that privilege"},
    {0x0a, -EACCES, "it does not give that privilege"},
    {0x0b, -EBUSY, "it has no session left for that privilege"},
    {0x10, -ENOTSUP, "it does not offer that cipher suite: the encryption of it is not known there"},
    {0x11, -ENOTSUP, "it does not offer that cipher suite"},
};

int ipmi_opening_read(const uint8_t *packet, size_t n, uint8_t tag, struct err *err)
{
    enum { ANSWER = 0x11, STATUS = PAYLOAD + 1 };

    if (n <= STATUS || packet[0] != 0x06 || (packet[3] & 0x1f) != 0x07 || packet[4] != 0x06 ||
        packet[PAYLOAD_TYPE] != ANSWER || packet[PAYLOAD] != tag)
        return -EAGAIN;
    if (packet[STATUS] == 0)
        return 0;
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        if (statuses[i].code == packet[STATUS])
            return err_set(err, statuses[i].error, "%s (status %02Xh)", statuses[i].says,
                           (unsigned)packet[STATUS]);
    }
    return err_set(err, -EPROTO, "it refuses to open a session (status %02Xh)", (unsigned)packet[STATUS]);
}
