/* remote_address.c: parses addresses of machines that commands are sent to. It looks no name up. */
#include "base/remote_address.h"

#include "base/number.h"

#include <ctype.h>
#include <errno.h>
#include <net/if.h>
#include <string.h>

bool remote_address_is_plain_word(const char *word, const char *others)
{
    if (word[0] == '\0' || word[0] == '-')
        return false;
    for (const char *s = word; *s; s++) {
        if (!isalnum((unsigned char)*s) && !strchr(others, *s))
            return false;
    }
    return true;
}

bool remote_address_is_interface(const char *name)
{
    return remote_address_is_plain_word(name, "._:-") && strlen(name) < IF_NAMESIZE;
}

static bool take_part(char to[REMOTE_PART_MAX], const char *from, size_t len)
{
    if (len >= REMOTE_PART_MAX)
        return false;
    memcpy(to, from, len);
    to[len] = '\0';
    return true;
}

/* What follows the host: nothing, or a colon and a port. */
static bool read_port(const char *tail, unsigned *ret)
{
    double port = 0;

    if (tail[0] == '\0')
        return true;
    if (tail[0] != ':' || !isdigit((unsigned char)tail[1]) ||
        strspn(tail + 1, "0123456789") != strlen(tail + 1) || !number_parse(tail + 1, &port) || port < 1 ||
        port > 65535)
        return false;
    *ret = (unsigned)port;
    return true;
}

/* An IPv6 address and, behind "%25" or "%", the zone. Users of URIs take escapes out before they look what
 * the address is: a "%" that may begin another escape is refused. */
static bool is_literal(const char *text)
{
    const size_t address = strspn(text, "0123456789abcdefABCDEF:.");
    const char *zone = text + address;

    if (address == 0 || zone[0] == '\0')
        return address > 0;
    if (strncmp(zone, "%25", 3) == 0)
        zone += 3;
    else if (zone[0] != '%' || (isxdigit((unsigned char)zone[1]) && isxdigit((unsigned char)zone[2])))
        return false;
    else
        zone++;
    return remote_address_is_interface(zone);
}

int remote_address_parse(const char *text, struct remote_address *ret)
{
    struct remote_address is = {.port = 0};
    const char *at = strrchr(text, '@');
    const char *host = at ? at + 1 : text;
    bool ok = !at ||
              (take_part(is.user, text, (size_t)(at - text)) && remote_address_is_plain_word(is.user, "._-"));

    if (host[0] == '[') {
        size_t len = strcspn(host, "]");
        ok = ok && host[len] == ']' && take_part(is.host, host + 1, len - 1) && is_literal(is.host) &&
             read_port(host + len + 1, &is.port);
    } else {
        size_t len = strcspn(host, ":");
        ok = ok && take_part(is.host, host, len) && remote_address_is_plain_word(is.host, "._-") &&
             read_port(host + len, &is.port);
    }
    if (!ok)
        return -EINVAL;
    *ret = is;
    return 0;
}
