/* What a relay of Wake-on-LAN says of its interfaces and routes, and addresses as an admin writes them. */
#include "actuators/wol/relay_network.h"
#include "base/broadcast.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void expect(bool true_)
{
    if (!true_)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct {
        const char *broadcast, *interface;
    } configured[] = {
        {NULL, NULL}, {"10.1.0.255", NULL}, {"10.9.0.255/24", NULL}, {"10.1.0.255", "eth1"}, {NULL, "lo"}};
    char text[64] = "";
    struct broadcast is;

    for (size_t i = 0; i < sizeof configured / sizeof configured[0]; i++) {
        const struct power_host host = {.name = "h",
                                        .wol = {.mac = "02:00:00:00:00:01",
                                                .relay = "r",
                                                .broadcast = configured[i].broadcast,
                                                .interface = configured[i].interface}};
        struct err err = {0};
        int r = wol_judge_by_text(&host, (const char *)data, size, &err);

        expect(r == 0 || ((r == -EINVAL || r == -ENETUNREACH || r == -ENOTSUP) && err.text[0]));
    }
    memcpy(text, data, size < sizeof text ? size : sizeof text - 1);
    if (broadcast_parse(text, &is) == 0 && is.prefix > 0)
        expect(is.prefix <= 30 && (ntohl(is.address.s_addr) & 3) == 3);
    return 0;
}
