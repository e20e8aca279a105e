/* settings.h: a host's IPMI settings, checked and converted from power.h's text to FreeIPMI's numbers. No
 * network, and no FreeIPMI types. */
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
    /* Full length: FreeIPMI reads 20 bytes whatever length it is given (1.6.10). */
    unsigned char k_g[IPMI_KEY_MAX];
    unsigned k_g_len; /* 0: none */
    enum ipmi_privilege { IPMI_USER, IPMI_OPERATOR, IPMI_ADMIN } privilege;
    unsigned cipher_suite;
    unsigned workarounds; /* 1u << enum ipmi_workaround */
};

/* -EINVAL, with a sentence that names the host and the wrong setting. */
int ipmi_settings_read(const struct power_host *host, struct ipmi_settings *ret, struct err *err);

/* Overwrites the secrets in memory. */
void ipmi_settings_forget(struct ipmi_settings *s);

const char *ipmi_privilege_name(enum ipmi_privilege p);

#endif
