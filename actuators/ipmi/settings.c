/* settings.c: checks a host's IPMI settings and converts them for FreeIPMI. It touches no network. */
#include "settings.h"

#include "base/ipmi_workaround.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PORT "623"

static const char *const privileges[] = {
    [IPMI_USER] = "user", [IPMI_OPERATOR] = "operator", [IPMI_ADMIN] = "admin"};

const char *ipmi_privilege_name(enum ipmi_privilege p)
{
    return privileges[p];
}

static int read_port(const char *text, char ret[6])
{
    char *end = NULL;
    unsigned long port = isdigit((unsigned char)*text) ? strtoul(text, &end, 10) : 0;

    if (port == 0 || port > 65535 || *end != '\0' || strlen(text) > 5)
        return -EINVAL;
    memcpy(ret, text, strlen(text) + 1);
    return 0;
}

/* host, host:port, [address]:port, [address], or an IPv6 address as it is, which has two colons at least. */
static int read_address(const char *text, struct ipmi_settings *ret)
{
    const char *from = text, *colon = strrchr(text, ':');
    size_t n = strlen(text);

    memcpy(ret->port, PORT, sizeof PORT);
    if (text[0] == '[') {
        const char *close = strchr(text, ']');
        if (!close || (close[1] != '\0' && close[1] != ':'))
            return -EINVAL;
        colon = close[1] ? close + 1 : NULL;
        from = text + 1;
        n = (size_t)(close - from);
    } else if (colon && strchr(text, ':') != colon) {
        colon = NULL;
    } else if (colon) {
        n = (size_t)(colon - text);
    }
    if (n == 0 || n > IPMI_NAME_MAX || strcspn(from, " \t[]/@") < n)
        return -EINVAL;
    memcpy(ret->host, from, n);
    ret->host[n] = '\0';
    return colon ? read_port(colon + 1, ret->port) : 0;
}

/* "0x" and two digits for each byte, as FreeIPMI's tools have it, or the bytes themselves. */
static int read_k_g(const char *text, struct ipmi_settings *ret)
{
    size_t n = strlen(text);

    memset(ret->k_g, 0, sizeof ret->k_g);
    if (strncasecmp(text, "0x", 2) != 0) {
        if (n > IPMI_KEY_MAX)
            return -EINVAL;
        memcpy(ret->k_g, text, n);
        ret->k_g_len = (unsigned)n;
        return 0;
    }
    text += 2;
    n -= 2;
    if (n == 0 || n % 2 != 0 || n / 2 > IPMI_KEY_MAX || strspn(text, "0123456789abcdefABCDEF") != n)
        return -EINVAL;
    for (size_t i = 0; i < n / 2; i++) {
        const char digits[3] = {text[2 * i], text[2 * i + 1], '\0'};
        ret->k_g[i] = (unsigned char)strtoul(digits, NULL, 16);
    }
    ret->k_g_len = (unsigned)(n / 2);
    return 0;
}

static int read_workarounds(const struct power_host *host, struct ipmi_settings *ret, struct err *err)
{
    for (const char *const *w = host->ipmi.workarounds; w && *w; w++) {
        enum ipmi_workaround i = ipmi_workaround_find(*w);
        if (i == IPMI_WORKAROUND_COUNT)
            return err_set(err, -EINVAL, "host %s: IPMI: there is no workaround \"%s\": there are %s",
                           host->name, *w, ipmi_workaround_names());
        ret->workarounds |= 1u << i;
    }
    return 0;
}

static int read_privilege(const struct power_host *host, struct ipmi_settings *ret, struct err *err)
{
    for (unsigned i = 0; i < sizeof privileges / sizeof privileges[0]; i++) {
        if (host->ipmi.privilege && strcmp(host->ipmi.privilege, privileges[i]) == 0) {
            ret->privilege = (enum ipmi_privilege)i;
            return 0;
        }
    }
    return err_set(err, -EINVAL, "host %s: IPMI: privilege %s: expected user, operator or admin", host->name,
                   host->ipmi.privilege ? host->ipmi.privilege : "is missing");
}

/* The suites whose algorithms FreeIPMI has; the others use RC4, which is broken. */
static bool cipher_suite_known(unsigned id)
{
    return id <= 3 || (id >= 6 && id <= 8) || id == 11 || id == 12 || (id >= 15 && id <= 17);
}

static int read_secret(const char *text, size_t max, char *to)
{
    size_t n = text ? strlen(text) : 0;

    if (n > max)
        return -EINVAL;
    memcpy(to, text ? text : "", n);
    to[n] = '\0';
    return 0;
}

int ipmi_settings_read(const struct power_host *host, struct ipmi_settings *ret, struct err *err)
{
    struct ipmi_settings s = {.cipher_suite = host->ipmi.cipher_suite};

    if (!host->ipmi.address)
        return err_set(err, -EINVAL, "host %s: IPMI: the address is missing", host->name);
    if (read_address(host->ipmi.address, &s) < 0)
        return err_set(err, -EINVAL, "host %s: IPMI: address %s: expected HOST, HOST:PORT or [ADDRESS]:PORT",
                       host->name, host->ipmi.address);
    if (read_secret(host->ipmi.username, IPMI_USER_MAX, s.username) < 0)
        return err_set(err, -EINVAL, "host %s: IPMI: a username has at most %d bytes", host->name,
                       IPMI_USER_MAX);
    if (read_secret(host->ipmi.password, IPMI_KEY_MAX, s.password) < 0)
        return err_set(err, -EINVAL, "host %s: IPMI: a password has at most %d bytes", host->name,
                       IPMI_KEY_MAX);
    if (host->ipmi.k_g && read_k_g(host->ipmi.k_g, &s) < 0)
        return err_set(err, -EINVAL,
                       "host %s: IPMI: k_g: expected at most %d bytes, or 0x and two digits for each",
                       host->name, IPMI_KEY_MAX);
    if (!cipher_suite_known(s.cipher_suite))
        return err_set(err, -EINVAL,
                       "host %s: IPMI: cipher suite %u: expected 3 or 17 (0, 1, 2, 6, 7, 8, 11, 12, 15 "
                       "and 16 are known, too)",
                       host->name, s.cipher_suite);
    int r = read_privilege(host, &s, err);
    if (r == 0)
        r = read_workarounds(host, &s, err);
    if (r == 0)
        *ret = s;
    ipmi_settings_forget(&s);
    return r;
}

void ipmi_settings_forget(struct ipmi_settings *s)
{
    explicit_bzero(s->password, sizeof s->password);
    explicit_bzero(s->k_g, sizeof s->k_g);
}
