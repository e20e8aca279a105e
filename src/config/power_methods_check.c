/* power_methods_check.c: checks a host's power methods: combinations of keys that cannot work, and risky
 * ones. */
#include "config/sections.h"

#define CIPHER_SUITE_SAFE 3 /* lower cipher suites lack integrity, encryption or both */

static void warn_about_ipmi(const struct section *s, const struct power_host *h)
{
    if (h->ipmi.address && (!h->ipmi.username || !h->ipmi.password_file))
        section_warn(s, section_line(s, "ipmi"), "%sipmi: %s is not given: the controller is asked %s",
                     s->prefix, h->ipmi.username ? "password_file" : "username",
                     h->ipmi.username ? "without a password" : "without a user name");
    if (section_has(s, "ipmi.cipher_suite") && h->ipmi.cipher_suite < CIPHER_SUITE_SAFE)
        section_warn(s, section_line(s, "ipmi.cipher_suite"),
                     "%sipmi.cipher_suite %u: traffic to the controller is not signed and encrypted",
                     s->prefix, h->ipmi.cipher_suite);
}

static void warn_about_redfish(const struct section *s, const struct power_host *h)
{
    if (section_has(s, "redfish.tls_verify") && !h->redfish.tls_verify)
        section_warn(s, section_line(s, "redfish.tls_verify"),
                     "%sredfish: TLS CERTIFICATES ARE NOT VERIFIED: a host in the network can pose as the "
                     "controller and read its password",
                     s->prefix);
}

int power_methods_check(const struct section *s, const struct power_host *h)
{
    if (h->wol.mac && h->wol.relay_key && !h->wol.relay)
        return section_refuse(s, "wol.relay_key", "is \"%.60s\", expected a wol.relay that it is for",
                              h->wol.relay_key);
    warn_about_ipmi(s, h);
    warn_about_redfish(s, h);
    return 0;
}
