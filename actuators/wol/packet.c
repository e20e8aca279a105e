/* packet.c: builds the magic packet. It sends nothing. */
#include "actuators/wol/packet.h"

#include <errno.h>
#include <string.h>

int packet_build(const char *mac, const char *secureon, struct magic *ret, struct err *err)
{
    struct magic m = {.len = MAC_SIZE};
    struct mac to, password;

    if (!mac || mac_parse(mac, &to) < 0)
        return err_set(err, -EINVAL, "mac is not an address like 02:00:00:00:00:01");
    if (!mac_is_station(&to))
        return err_set(err, -EINVAL, "mac is not the address of one network card");
    if (secureon && mac_parse(secureon, &password) < 0)
        return err_set(err, -EINVAL, "secureon is not six bytes like 00:11:22:33:44:55");
    memset(m.byte, 0xff, MAC_SIZE);
    for (unsigned i = 0; i < MAC_REPEATED; i++, m.len += MAC_SIZE)
        memcpy(m.byte + m.len, to.byte, MAC_SIZE);
    if (secureon) {
        memcpy(m.byte + m.len, password.byte, MAC_SIZE);
        m.len += MAC_SIZE;
    }
    *ret = m;
    return 0;
}
