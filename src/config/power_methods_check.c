/* Addresses, files and suites of hosts' power methods: what could never work, and what is a bad idea. */
#include "config/power_methods_check.h"

#include "base/mac.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define CIPHER_SUITE_SAFE 3 /* those below neither sign nor encrypt, or not both */

static int refuse(const struct section *s, const char *key, const char *value, const char *expected)
{
    return section_refuse(s, key, "is \"%.60s\", expected %s", value, expected);
}

/* As libc takes it, or with a port; an IPv6 address also without brackets. */
static bool is_address(const char *text)
{
    struct in6_addr six;

    return reader_is_authority(text, strlen(text)) || inet_pton(AF_INET6, text, &six) == 1;
}

static int check_ipmi(const struct section *s, const struct config_power_host *h)
{
    if (h->ipmi.address && !is_address(h->ipmi.address))
        return refuse(s, "ipmi.address", h->ipmi.address, "HOST, HOST:PORT or [ADDRESS]:PORT");
    if (h->ipmi.address && (!h->ipmi.username || !h->ipmi.password_file))
        section_warn(s, section_line(s, "ipmi"), "%sipmi: %s is not given: the controller is asked %s",
                     s->prefix, h->ipmi.username ? "password_file" : "username",
                     h->ipmi.username ? "without a password" : "as nobody");
    if (section_has(s, "ipmi.cipher_suite") && h->ipmi.cipher_suite < CIPHER_SUITE_SAFE)
        section_warn(s, section_line(s, "ipmi.cipher_suite"),
                     "%sipmi.cipher_suite %lld: what is said to the controller is not signed and encrypted",
                     s->prefix, (long long)h->ipmi.cipher_suite);
    return 0;
}

static int check_wol(const struct section *s, const struct config_power_host *h)
{
    struct in_addr four;
    struct mac secureon;

    if (section_has(s, "wol.broadcast") && inet_pton(AF_INET, h->wol.broadcast, &four) != 1)
        return refuse(s, "wol.broadcast", h->wol.broadcast, "an IPv4 address such as \"10.0.0.255\"");
    if (section_has(s, "wol.relay") && (h->wol.relay[0] == '-' || !strchr(h->wol.relay, '@')))
        return refuse(s, "wol.relay", h->wol.relay, "USER@HOST or USER@HOST:PORT");
    if (h->wol.mac && h->wol.relay_key && !h->wol.relay)
        return refuse(s, "wol.relay_key", h->wol.relay_key, "a wol.relay that it is for");
    if (section_has(s, "wol.relay_key") && s->use != CONFIG_FOR_POLICY && access(h->wol.relay_key, R_OK) < 0)
        return section_refuse(s, "wol.relay_key", "names %s, which cannot be read: %s", h->wol.relay_key,
                              strerror(errno));
    if (section_has(s, "wol.secureon_file") && h->wol.secureon && mac_parse(h->wol.secureon, &secureon) < 0)
        /* not said back: it is a password */
        return section_refuse(s, "wol.secureon_file",
                              ": what %s holds is no SecureOn password, expected six bytes like "
                              "00:11:22:33:44:55",
                              h->wol.secureon_file);
    return 0;
}

int power_methods_check(const struct section *s, const struct config_power_host *h)
{
    int e = check_ipmi(s, h);

    return e < 0 ? e : check_wol(s, h);
}
