#include "config/reach.h"

#include "base/mac.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define CIPHER_SUITE_SAFE 3 /* those below neither sign nor encrypt, or not both */

static unsigned line_of(const struct reader *r, const char *key, unsigned otherwise)
{
    for (size_t i = 0; i < r->n_keys; i++) {
        if (strcmp(r->keys[i].path, key) == 0 && r->lines[i])
            return r->lines[i];
    }
    return otherwise;
}

static int refuse(const struct reader *r, const char *key, unsigned line, const char *value,
                  const char *expected)
{
    return err_set(r->err, -EINVAL, "%s:%u: %s%s is \"%.60s\", expected %s", r->file, line_of(r, key, line),
                   r->prefix, key, value, expected);
}

/* As libc takes it, or with a port; an IPv6 address also without brackets. */
static bool is_address(const char *text)
{
    struct in6_addr six;

    return read_is_authority(text, strlen(text)) || inet_pton(AF_INET6, text, &six) == 1;
}

static int check_ipmi(const struct reader *r, const struct config_power_host *h, unsigned line)
{
    if (h->ipmi.address && !is_address(h->ipmi.address))
        return refuse(r, "ipmi.address", line, h->ipmi.address, "HOST, HOST:PORT or [ADDRESS]:PORT");
    if (h->ipmi.address && (!h->ipmi.username || !h->ipmi.password_file))
        config_warn(r, line, "%sipmi: %s is not given: the controller is asked %s", r->prefix,
                    h->ipmi.username ? "password_file" : "username",
                    h->ipmi.username ? "without a password" : "as nobody");
    if (read_given(r, "ipmi.cipher_suite") && h->ipmi.cipher_suite < CIPHER_SUITE_SAFE)
        config_warn(r, line_of(r, "ipmi.cipher_suite", line),
                    "%sipmi.cipher_suite %lld: what is said to the controller is not signed and encrypted",
                    r->prefix, (long long)h->ipmi.cipher_suite);
    return 0;
}

static int check_wol(const struct reader *r, const struct config_power_host *h, unsigned line)
{
    struct in_addr four;
    struct mac secureon;

    if (read_given(r, "wol.broadcast") && inet_pton(AF_INET, h->wol.broadcast, &four) != 1)
        return refuse(r, "wol.broadcast", line, h->wol.broadcast, "an IPv4 address such as \"10.0.0.255\"");
    if (read_given(r, "wol.relay") && (h->wol.relay[0] == '-' || !strchr(h->wol.relay, '@')))
        return refuse(r, "wol.relay", line, h->wol.relay, "USER@HOST or USER@HOST:PORT");
    if (h->wol.mac && h->wol.relay_key && !h->wol.relay)
        return refuse(r, "wol.relay_key", line, h->wol.relay_key, "a wol.relay that it is for");
    if (read_given(r, "wol.relay_key") && r->use != CONFIG_FOR_POLICY && access(h->wol.relay_key, R_OK) < 0)
        return err_set(r->err, -EINVAL, "%s:%u: %swol.relay_key names %s, which cannot be read: %s", r->file,
                       line_of(r, "wol.relay_key", line), r->prefix, h->wol.relay_key, strerror(errno));
    if (read_given(r, "wol.secureon_file") && h->wol.secureon && mac_parse(h->wol.secureon, &secureon) < 0)
        return err_set(
            r->err, -EINVAL, /* not said back: it is a password */
            "%s:%u: %swol.secureon_file: what %s holds is no SecureOn password, expected six bytes like "
            "00:11:22:33:44:55",
            r->file, line_of(r, "wol.secureon_file", line), r->prefix, h->wol.secureon_file);
    return 0;
}

int reach_check(const struct reader *r, const struct config_power_host *h, unsigned line)
{
    int e = check_ipmi(r, h, line);

    return e < 0 ? e : check_wol(r, h, line);
}
