/* settings.h: how a controller is reached, taken from the configuration and checked: what power.h says in
 * words, as FreeIPMI wants it. No network is touched, and there are no FreeIPMI types here. */
#ifndef BALLAST_IPMI_SETTINGS_H
#define BALLAST_IPMI_SETTINGS_H

#include <ballast/err.h>
#include <ballast/power.h>

#define IPMI_NAME_MAX 255
#define IPMI_KEY_MAX 20 /* K_g and passwords, IPMI 2.0, 13.31 and 22.30 */
#define IPMI_USER_MAX 16

struct ipmi_settings {
    char host[IPMI_NAME_MAX + 1]; /* a name or an address, without brackets */
    char port[6];
    char username[IPMI_USER_MAX + 1], password[IPMI_KEY_MAX + 1];
    /* Always the whole length: FreeIPMI reads 20 bytes of it, however many it is told (1.6.10). */
    unsigned char k_g[IPMI_KEY_MAX];
    unsigned k_g_len; /* 0: none */
    enum ipmi_privilege { IPMI_USER, IPMI_OPERATOR, IPMI_ADMIN } privilege;
    unsigned cipher_suite;
    unsigned workarounds; /* 1u << enum ipmi_workaround */
};

/* -EINVAL: what is wrong with the configuration, in a sentence that names the host. */
int ipmi_settings_read(const struct power_host *host, struct ipmi_settings *ret, struct err *err);

/* Secrets do not stay in memory. */
void ipmi_settings_forget(struct ipmi_settings *s);

const char *ipmi_privilege_name(enum ipmi_privilege p);

#endif
