/* internal.h: what the files of the method share: its object, and the system that it switches. */
#ifndef BALLAST_REDFISH_INTERNAL_H
#define BALLAST_REDFISH_INTERNAL_H

#include "actuators/redfish/session.h"

#include <ballast/power.h>

struct power_method {
    const struct power_host *host;
    struct redfish_session *talk;
    struct redfish_path system; /* ""; not looked for yet */
    struct redfish_path meter;  /* "": not looked for yet */
};

/* Reads the system, looking for it first where needed. -EINVAL: the configuration does not say which of
 * several. */
int redfish_get_system(struct power_method *m, struct redfish_reply *ret, struct err *err);

/* Power requests, as in power_method_ops. A request whose answer is lost has succeeded if the power state
 * says so afterwards. */
int redfish_wake(struct power_method *m, struct err *err);
int redfish_shut_down(struct power_method *m, struct err *err);
int redfish_cut(struct power_method *m, struct err *err);

#endif
