/* keys.c: what the configuration says of a host's controller for Redfish. */
#include "actuators/redfish/redfish.h"

static const char *const redfish_schemes[] = {"https", NULL};

static const struct field keys[] = {
    {.name = "redfish.url",
     .type = FIELD_URL,
     .offset = offsetof(struct power_host, redfish.url),
     .flags = FIELD_REQUIRED | FIELD_ONE_HOST,
     .words = redfish_schemes,
     .meaning = "the URL of the Redfish service"},
    {.name = "redfish.username",
     .type = FIELD_TEXT,
     .offset = offsetof(struct power_host, redfish.username),
     .meaning = "the user to log in as"},
    {.name = "redfish.password_file",
     .type = FIELD_SECRET,
     .offset = offsetof(struct power_host, redfish.password_file),
     .secret = offsetof(struct power_host, redfish.password),
     .meaning = "a file with the password on its only line"},
    {.name = "redfish.ca_file",
     .type = FIELD_PATH,
     .offset = offsetof(struct power_host, redfish.ca_file),
     .flags = FIELD_READABLE,
     .meaning = "PEM certificates of the authorities to trust; default: the system's"},
    {.name = "redfish.tls_verify",
     .type = FIELD_BOOL,
     .offset = offsetof(struct power_host, redfish.tls_verify),
     .fallback = "true",
     .meaning = "false accepts any certificate; each start logs a warning"},
    {.name = "redfish.system",
     .type = FIELD_TEXT,
     .offset = offsetof(struct power_host, redfish.system),
     .flags = FIELD_ONE_HOST,
     .meaning = "the ID of the system, if the service has several"},
    {.name = "redfish.power_button",
     .type = FIELD_BOOL,
     .offset = offsetof(struct power_host, redfish.power_button),
     .fallback = "false",
     .meaning = "push the power button (PushPowerButton) where the controller has no On or GracefulShutdown"},
};

const struct power_keys redfish_keys = {POWER_REDFISH, "redfish", {"", keys, sizeof keys / sizeof *keys}};
