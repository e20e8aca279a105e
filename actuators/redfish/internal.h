/* internal.h: what the files of the method share: its object, and the system that it switches. */
#ifndef BALLAST_REDFISH_INTERNAL_H
#define BALLAST_REDFISH_INTERNAL_H

#include "actuators/redfish/session.h"

#include <ballast/power.h>

#define REDFISH_METER_PATHS 8 /* power supplies of one host */

/* Where the system's draw is read: the sum of these. */
struct redfish_meter {
    enum redfish_source source;
    struct redfish_metered whose;
    struct redfish_path paths[REDFISH_METER_PATHS];
    size_t n; /* 0: not looked for yet, or without a reading the last time */
};

struct power_method {
    const struct power_host *host;
    struct redfish_session *talk;
    struct redfish_path system; /* ""; not looked for yet */
    bool alone;                 /* the service has no other system */
    bool wants_etag;            /* a reset needs If-Match */
    struct redfish_meter meter;
};

/* Reads the system, looking for it first where needed. -EINVAL: the configuration does not say which of
 * several. */
int redfish_get_system(struct power_method *m, struct redfish_reply *ret, struct err *err);

/* The identity of the system that was just read. Where the firmware has no serial number of its own, the
 * certificate distinguishes the controller. */
void redfish_identify(const struct power_method *m, const struct redfish_reply *system,
                      struct controller_identity *ret);

/* Power requests, as in power_method_ops. A request whose answer is lost has succeeded if the power state
 * says so afterwards. */
int redfish_wake(struct power_method *m, struct err *err);
int redfish_shut_down(struct power_method *m, const struct controller_identity *only, struct err *err);
int redfish_cut(struct power_method *m, const struct controller_identity *only, struct err *err);

/* The system's draw in watts. -ENOTSUP: no source has one; -EBUSY: none has a reading now. */
int redfish_measure(struct power_method *m, double *ret, struct err *err);

#endif
