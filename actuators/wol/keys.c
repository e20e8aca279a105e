/* keys.c: what the configuration says of a host's network card that wakes it. */
#include "actuators/wol/wol.h"

#include "base/broadcast.h"
#include "base/mac.h"

#include <errno.h>
#include <string.h>

static const char *check_secureon(const char *text)
{
    struct mac password;

    return mac_parse(text, &password) < 0 ? "six bytes like 00:11:22:33:44:55" : NULL;
}

static const char *check_broadcast(const char *text)
{
    struct broadcast is;
    int r = broadcast_parse(text, &is);

    return r == -EDOM ? "the broadcast address of the network with that prefix, such as 10.0.3.255/24"
           : r < 0    ? "an IPv4 address such as \"10.0.0.255\" or \"10.0.3.255/24\""
                      : NULL;
}

static const char *check_relay(const char *text)
{
    return text[0] == '-' || !strchr(text, '@') ? "USER@HOST or USER@HOST:PORT" : NULL;
}

static const struct field keys[] = {
    {.name = "wol.mac",
     .type = FIELD_MAC,
     .offset = offsetof(struct power_host, wol.mac),
     .flags = FIELD_REQUIRED | FIELD_ONE_HOST,
     .meaning = "the MAC address to wake"},
    {.name = "wol.secureon_file",
     .type = FIELD_SECRET,
     .offset = offsetof(struct power_host, wol.secureon_file),
     .secret = offsetof(struct power_host, wol.secureon),
     .check = check_secureon,
     .meaning = "a file with the SecureOn password, six bytes written like a MAC address"},
    {.name = "wol.interface",
     .type = FIELD_TEXT,
     .offset = offsetof(struct power_host, wol.interface),
     .meaning = "the interface to send raw Ethernet frames from"},
    {.name = "wol.broadcast",
     .type = FIELD_TEXT,
     .offset = offsetof(struct power_host, wol.broadcast),
     .check = check_broadcast,
     .meaning = "the IPv4 address to send UDP packets to; with /PREFIX: of a network that a router passes on "
                "broadcasts to"},
    {.name = "wol.port",
     .type = FIELD_COUNT,
     .offset = offsetof(struct power_host, wol.port),
     .min = 1,
     .max = 65535,
     .fallback = "9",
     .meaning = "the UDP port"},
    {.name = "wol.relay",
     .type = FIELD_TEXT,
     .offset = offsetof(struct power_host, wol.relay),
     .check = check_relay,
     .meaning = "USER@HOST[:PORT] that sends the packet, reached by ssh"},
    {.name = "wol.relay_key",
     .type = FIELD_PATH,
     .offset = offsetof(struct power_host, wol.relay_key),
     .flags = FIELD_READABLE,
     .meaning = "a file with the ssh key for the relay; default: chosen by ssh"},
};

const struct power_keys wol_keys = {POWER_WOL, "wol", {"", keys, sizeof keys / sizeof *keys}};
