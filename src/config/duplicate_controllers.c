/* duplicate_controllers.c: finds two hosts of `power:` with one controller, in any spelling of its
 * address. */
#include "config/sections.h"

#include "base/mac.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A controller's address without scheme, path and brackets, for comparison. */
struct place {
    const char *host;
    size_t len;
    unsigned long port;
};

/* "HOST", "HOST:PORT", "[ADDRESS]:PORT" or a plain IPv6 address; up to a path. The reader refuses others. */
static struct place place_of(const char *text, unsigned long otherwise)
{
    const char *scheme = strstr(text, "://");
    struct place p = {.host = scheme ? scheme + 3 : text, .port = otherwise};
    const char *colon;

    p.len = strcspn(p.host, "/?#");
    if (p.host[0] == '[') {
        size_t end = strcspn(p.host, "]");

        colon = end < p.len && p.host[end + 1] == ':' ? p.host + end + 1 : NULL;
        p.host++;
        p.len = end - 1;
    } else {
        colon = memchr(p.host, ':', p.len);
        if (colon && memchr(colon + 1, ':', p.len - (size_t)(colon + 1 - p.host)))
            colon = NULL; /* IPv6 */
        p.len = colon ? (size_t)(colon - p.host) : p.len;
    }
    if (colon)
        p.port = strtoul(colon + 1, NULL, 10);
    return p;
}

static bool same_host(const struct place *x, const struct place *y)
{
    return x->len == y->len && strncasecmp(x->host, y->host, x->len) == 0;
}

static bool same_place(const char *x, const char *y, unsigned long otherwise)
{
    const struct place a = place_of(x, otherwise), b = place_of(y, otherwise);

    return same_host(&a, &b) && a.port == b.port;
}

/* In any spelling: 02:ab:... and 02-AB-... are equal. */
static bool same_mac(const char *x, const char *y)
{
    struct mac a, b;

    return mac_parse(x, &a) == 0 && mac_parse(y, &b) == 0 && memcmp(&a, &b, sizeof a) == 0;
}

enum { IPMI_PORT = 623, HTTPS_PORT = 443 };

/* One controller speaks IPMI and Redfish at one address, each at its own port. Other ports may be forwarded
 * to several controllers. */
static bool same_controller(const struct config_power_host *ipmi, const struct config_power_host *redfish)
{
    if (!config_power_uses(ipmi, POWER_IPMI) || !config_power_uses(redfish, POWER_REDFISH) ||
        redfish->host.redfish.system)
        return false;
    const struct place a = place_of(ipmi->host.ipmi.address, IPMI_PORT);
    const struct place b = place_of(redfish->host.redfish.url, HTTPS_PORT);

    return same_host(&a, &b) && a.port == IPMI_PORT && b.port == HTTPS_PORT;
}

/* A host without redfish.system has the only system of its controller. */
static bool same_system(const char *x, const char *y)
{
    return !x || !y || strcmp(x, y) == 0;
}

const char *duplicate_controllers_key(const struct config_power_host *x, const struct config_power_host *y)
{
    if (config_power_uses(x, POWER_IPMI) && config_power_uses(y, POWER_IPMI) &&
        same_place(x->host.ipmi.address, y->host.ipmi.address, IPMI_PORT))
        return "ipmi.address";
    if (config_power_uses(x, POWER_REDFISH) && config_power_uses(y, POWER_REDFISH) &&
        same_place(x->host.redfish.url, y->host.redfish.url, HTTPS_PORT) &&
        same_system(x->host.redfish.system, y->host.redfish.system))
        return "redfish.url";
    if (same_controller(x, y))
        return "redfish.url";
    if (same_controller(y, x))
        return "ipmi.address";
    if (config_power_uses(x, POWER_WOL) && config_power_uses(y, POWER_WOL) &&
        same_mac(x->host.wol.mac, y->host.wol.mac))
        return "wol.mac";
    return NULL;
}
