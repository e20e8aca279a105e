/* keys.c: what the configuration says of a host's controller for Redfish. */
#include "actuators/redfish/redfish.h"

static const char *const redfish_schemes[] = {"https", NULL};

static const struct field keys[] = {
    FIELD_OF(struct power_host, redfish.url, FIELD_URL, .flags = FIELD_REQUIRED | FIELD_ONE_HOST,
             .words = redfish_schemes, .meaning = "the URL of the Redfish service"),
    FIELD_OF(struct power_host, redfish.username, FIELD_TEXT, .meaning = "the user to log in as"),
    FIELD_OF(struct power_host, redfish.password_file, FIELD_SECRET,
             .secret = offsetof(struct power_host, redfish.password),
             .meaning = "a file with the password on its only line"),
    FIELD_OF(struct power_host, redfish.ca_file, FIELD_PATH, .flags = FIELD_READABLE,
             .meaning = "PEM certificates of the authorities to trust; default: the system's"),
    FIELD_OF(struct power_host, redfish.tls_verify, FIELD_BOOL, .fallback = "true",
             .meaning = "false accepts any certificate; each start logs a warning"),
    FIELD_OF(struct power_host, redfish.system, FIELD_TEXT, .flags = FIELD_ONE_HOST,
             .meaning = "the ID of the system, if the service has several"),
    FIELD_OF(
        struct power_host, redfish.power_button, FIELD_BOOL, .fallback = "false",
        .meaning =
            "push the power button (PushPowerButton) where the controller has no On or GracefulShutdown"),
};

const struct power_keys redfish_keys = {POWER_REDFISH, "redfish", {"", keys, sizeof keys / sizeof *keys}};
