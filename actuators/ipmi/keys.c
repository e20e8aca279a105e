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
    {.name = "ipmi.address",
     .type = FIELD_ADDRESS,
     .offset = offsetof(struct power_host, ipmi.address),
     .flags = FIELD_REQUIRED | FIELD_ONE_HOST,
     .meaning = "name or address of the controller"},
    {.name = "ipmi.username",
     .type = FIELD_TEXT,
     .offset = offsetof(struct power_host, ipmi.username),
     .meaning = "the user to log in as"},
    {.name = "ipmi.password_file",
     .type = FIELD_SECRET,
     .offset = offsetof(struct power_host, ipmi.password_file),
     .secret = offsetof(struct power_host, ipmi.password),
     .meaning = "a file with the password on its only line"},
    {.name = "ipmi.k_g_file",
     .type = FIELD_SECRET,
     .offset = offsetof(struct power_host, ipmi.k_g_file),
     .secret = offsetof(struct power_host, ipmi.k_g),
     .meaning = "a file with the BMC key K_g, for controllers that need one"},
    {.name = "ipmi.cipher_suite",
     .type = FIELD_COUNT,
     .offset = offsetof(struct power_host, ipmi.cipher_suite),
     .min = 0,
     .max = 17,
     .fallback = "3",
     .meaning = "the ID of the cipher suite"},
    {.name = "ipmi.workarounds",
     .type = FIELD_LIST,
     .max = 32,
     .offset = offsetof(struct power_host, ipmi.workarounds),
     .check = check_workaround,
     .meaning = "workarounds for bugs of controllers, by FreeIPMI's names"},
    {.name = "ipmi.privilege",
     .type = FIELD_CHOICE,
     .offset = offsetof(struct power_host, ipmi.privilege),
     .words = privilege_words,
     .fallback = "operator",
     .meaning = "the privilege to request"},
    {.name = "ipmi.console",
     .type = FIELD_BOOL,
     .offset = offsetof(struct power_host, ipmi.console),
     .fallback = "false",
     .meaning = "whether the serial console of a waking host is captured"},
};

const struct power_keys ipmi_keys = {POWER_IPMI, "ipmi", {"", keys, sizeof keys / sizeof *keys}};
