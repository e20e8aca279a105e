/* keys.c: what the configuration says of a host's network card that wakes it. */
#include "actuators/wol/wol.h"

#include "base/broadcast.h"
#include "base/mac.h"
#include "base/remote_address.h"

#include <errno.h>

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
    struct remote_address relay;
    bool good = remote_address_parse(text, &relay) == 0 && relay.user[0];

    return good ? NULL : "USER@HOST or USER@HOST:PORT, in letters and digits";
}

static const char *check_interface(const char *text)
{
    return remote_address_is_interface(text) ? NULL : "the name of an interface such as eth0";
}

static const struct field keys[] = {
    FIELD_OF(struct power_host, wol.mac, FIELD_MAC, .flags = FIELD_REQUIRED | FIELD_ONE_HOST,
             .meaning = "the MAC address to wake"),
    FIELD_OF(struct power_host, wol.secureon_file, FIELD_SECRET,
             .secret = offsetof(struct power_host, wol.secureon), .check = check_secureon,
             .meaning = "a file with the SecureOn password, six bytes written like a MAC address"),
    FIELD_OF(struct power_host, wol.interface, FIELD_TEXT, .check = check_interface,
             .meaning = "the interface to send raw Ethernet frames from"),
    FIELD_OF(
        struct power_host, wol.broadcast, FIELD_TEXT, .check = check_broadcast,
        .meaning =
            "the IPv4 address to send UDP packets to; with /PREFIX: of a network that a router passes on "
            "broadcasts to"),
    FIELD_OF(struct power_host, wol.port, FIELD_COUNT, .min = 1, .max = 65535, .fallback = "9",
             .meaning = "the UDP port"),
    FIELD_OF(struct power_host, wol.relay, FIELD_TEXT, .check = check_relay,
             .meaning = "USER@HOST[:PORT] that sends the packet, reached by ssh"),
    FIELD_OF(struct power_host, wol.relay_key, FIELD_PATH, .flags = FIELD_READABLE,
             .meaning = "a file with the ssh key for the relay; default: chosen by ssh"),
};

const struct power_keys wol_keys = {POWER_WOL, "wol", {"", keys, sizeof keys / sizeof *keys}};
