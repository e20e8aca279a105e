/* keys.c: what the configuration says of a host's controller for IPMI. */
#include "actuators/ipmi/ipmi.h"

#include "base/ipmi_workaround.h"

static const char *const privilege_words[] = {"user", "operator", "admin", NULL};

static const char *check_workaround(const char *word)
{
#define X(name) " " #name
    return ipmi_workaround_known(word) ? NULL : "one of FreeIPMI's names:" IPMI_WORKAROUNDS(X);
#undef X
}

static const struct field keys[] = {
    FIELD_OF(struct power_host, ipmi.address, FIELD_ADDRESS, .flags = FIELD_REQUIRED | FIELD_ONE_HOST,
             .meaning = "name or address of the controller"),
    FIELD_OF(struct power_host, ipmi.username, FIELD_TEXT, .meaning = "the user to log in as"),
    FIELD_OF(struct power_host, ipmi.password_file, FIELD_SECRET,
             .secret = offsetof(struct power_host, ipmi.password),
             .meaning = "a file with the password on its only line"),
    FIELD_OF(struct power_host, ipmi.k_g_file, FIELD_SECRET, .secret = offsetof(struct power_host, ipmi.k_g),
             .meaning = "a file with the BMC key K_g, for controllers that need one"),
    FIELD_OF(struct power_host, ipmi.cipher_suite, FIELD_COUNT, .min = 0, .max = 17, .fallback = "3",
             .meaning = "the ID of the cipher suite"),
    FIELD_OF(struct power_host, ipmi.workarounds, FIELD_LIST, .max = 32, .check = check_workaround,
             .meaning = "workarounds for bugs of controllers, by FreeIPMI's names"),
    FIELD_OF(struct power_host, ipmi.privilege, FIELD_CHOICE, .words = privilege_words,
             .fallback = "operator", .meaning = "the privilege to request"),
    FIELD_OF(struct power_host, ipmi.console, FIELD_BOOL, .fallback = "false",
             .meaning = "whether the serial console of a waking host is captured"),
};

const struct power_keys ipmi_keys = {POWER_IPMI, "ipmi", {"", keys, sizeof keys / sizeof *keys}};
