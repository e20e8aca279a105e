/* meter.c: finds where the controller tells what the system draws, and reads it there. Each source may lack
 * the reading for a while or for good, so the next one is tried; the one that answered is asked first the
 * next time. */
#include "actuators/redfish/internal.h"
#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

#define CHASSIS_MAX 8u
#define PAGES_MAX 4u      /* of a collection of sensors or reports */
#define CANDIDATES_MAX 8u /* of these, that are read */

/* Of these the next source is tried; other errors are of the connection or the account. */
static bool is_of_source(int r)
{
    return r == -ENOTSUP || r == -EPROTO || r == -EBUSY;
}

/* The service's clock: what came with the answer, else its manager's. */
static instant_s clock_of(struct power_method *m, const struct redfish_reply *reply)
{
    CLEANUP(redfish_reply_release) struct redfish_reply system = {0}, manager = {0};
    struct redfish_path at;

    if (reply->clock > 0)
        return reply->clock;
    if (redfish_get_system(m, &system, NULL) < 0 ||
        !redfish_link_at(system.body, "Links.ManagedBy", 0, &at) ||
        redfish_get(m->talk, &at, &manager, NULL) < 0)
        return 0;
    return redfish_clock(manager.body);
}

/* Reads the meter: one resource, or several whose sum counts. A power supply without a reading adds nothing,
 * as long as another one has one. */
static int read_meter(struct power_method *m, const struct redfish_meter *meter, double *ret, struct err *err)
{
    double sum = 0;
    bool any = false;
    int worst = -ENOTSUP;

    for (size_t i = 0; i < meter->n; i++) {
        CLEANUP(redfish_reply_release) struct redfish_reply reply = {0};
        struct redfish_metered whose = meter->whose;
        double w = 0;
        int r = redfish_get(m->talk, &meter->paths[i], &reply, err);

        if (r == 0 && meter->source == REDFISH_REPORT)
            whose.clock = clock_of(m, &reply);
        if (r == 0)
            r = redfish_watts(meter->source, reply.body, &whose, &w, err);
        if (r < 0 && !is_of_source(r))
            return r;
        worst = r < 0 ? r : worst;
        any = any || r == 0;
        sum += w;
    }
    if (!any)
        return worst;
    *ret = sum;
    return 0;
}

/* A host that is on draws something: 0 W is what firmware writes when it does not know. */
static int believe(struct power_method *m, double w, struct err *err)
{
    CLEANUP(redfish_reply_release) struct redfish_reply system = {0};
    enum redfish_power is = REDFISH_POWER_COUNT;

    if (w > 0)
        return 0;
    int r = redfish_get_system(m, &system, err);
    if (r < 0)
        return r;
    (void)redfish_power_state(system.body, &is, NULL);
    return is == REDFISH_OFF
               ? 0
               : err_set(err, -EBUSY, "the controller's power meter reads 0 W although the host is on");
}

/* Reads this meter, and keeps it if it has a reading. */
static int try_meter(struct power_method *m, const struct redfish_meter *meter, double *ret, struct err *err)
{
    double w = 0;
    int r = meter->n > 0 ? read_meter(m, meter, &w, err) : -ENOTSUP;

    if (r == 0)
        r = believe(m, w, err);
    if (r == 0) {
        m->meter = *meter;
        *ret = w;
    }
    return r;
}

/* What is looked for in a collection: members whose id will do, at most so many. */
struct members {
    bool (*wanted)(const char *id); /* NULL: any */
    struct redfish_path found[CANDIDATES_MAX];
    size_t n;
};

static int list_members(struct power_method *m, const struct redfish_path *collection, struct members *ret,
                        struct err *err)
{
    struct redfish_search pages = {.id = "", .next = *collection};
    int r = 0;

    for (unsigned page = 0; r == 0 && pages.next.text[0] && page < PAGES_MAX; page++) {
        CLEANUP(redfish_reply_release) struct redfish_reply reply = {0};
        const struct redfish_path path = pages.next;
        struct redfish_path member;

        r = redfish_get(m->talk, &path, &reply, err);
        if (r == 0)
            r = redfish_search_page(reply.body, &path, &pages, err);
        for (size_t i = 0;
             r == 0 && ret->n < CANDIDATES_MAX && redfish_link_at(reply.body, "Members", i, &member); i++) {
            char id[REDFISH_ID_MAX];

            redfish_id_of(&member, id);
            if (!ret->wanted || ret->wanted(id))
                ret->found[ret->n++] = member;
        }
    }
    return r;
}

/* The candidates of a collection, one after the other. */
static int try_members(struct power_method *m, struct redfish_meter *meter,
                       const struct redfish_path *collection, bool (*wanted)(const char *id), double *ret,
                       struct err *err)
{
    struct members all = {.wanted = wanted};
    int r = list_members(m, collection, &all, err);
    int worst = -ENOTSUP;

    for (size_t i = 0; r == 0 && i < all.n; i++) {
        meter->paths[0] = all.found[i];
        meter->n = 1;
        int tried = try_meter(m, meter, ret, err);

        if (tried == 0 || !is_of_source(tried))
            return tried;
        worst = tried == -ENOTSUP ? worst : tried;
    }
    return r < 0 ? r : worst;
}

/* The power supplies of a PowerSubsystem, whose inputs add up. */
static int try_supplies(struct power_method *m, struct redfish_meter *meter,
                        const struct redfish_path *subsystem, double *ret, struct err *err)
{
    CLEANUP(redfish_reply_release) struct redfish_reply is = {0};
    struct members all = {.wanted = NULL};
    struct redfish_path supplies;
    int r = redfish_get(m->talk, subsystem, &is, err);

    if (r < 0 || !redfish_link(is.body, "PowerSupplies", &supplies))
        return r < 0 ? r : -ENOTSUP;
    r = list_members(m, &supplies, &all, err);
    meter->n = 0;
    for (size_t i = 0; r == 0 && i < all.n && meter->n < REDFISH_METER_PATHS; i++) {
        CLEANUP(redfish_reply_release) struct redfish_reply supply = {0};

        r = redfish_get(m->talk, &all.found[i], &supply, err);
        if (r == 0 && redfish_link(supply.body, "Metrics", &meter->paths[meter->n]))
            meter->n++;
        r = is_of_source(r) ? 0 : r;
    }
    return r < 0 ? r : try_meter(m, meter, ret, err);
}

/* The sources of one chassis, in this order. */
static const struct {
    const char *link;
    enum redfish_source source;
} sources[] = {
    {"EnvironmentMetrics", REDFISH_ENVIRONMENT},
    {"Power", REDFISH_POWER_CONTROL},
    {"PowerSubsystem", REDFISH_SUPPLY},
    {"Sensors", REDFISH_SENSOR},
};

static int try_source(struct power_method *m, struct redfish_meter *meter, const struct redfish_path *at,
                      double *ret, struct err *err)
{
    switch (meter->source) {
    case REDFISH_ENVIRONMENT:
    case REDFISH_POWER_CONTROL:
        meter->paths[0] = *at;
        meter->n = 1;
        return try_meter(m, meter, ret, err);
    case REDFISH_SUPPLY:
        return try_supplies(m, meter, at, ret, err);
    case REDFISH_SENSOR:
        return try_members(m, meter, at, redfish_is_power_sensor, ret, err);
    case REDFISH_REPORT:
        return try_members(m, meter, at, redfish_is_power_report, ret, err);
    }
    return -ENOTSUP;
}

/* The worst that is known of several sources: one that has no reading now says more than one that has none.
 */
static int worse(int a, int b)
{
    return b == -ENOTSUP ? a : b;
}

static int try_chassis(struct power_method *m, struct redfish_metered *whose, double *ret, struct err *err)
{
    CLEANUP(redfish_reply_release) struct redfish_reply is = {0};
    int worst = -ENOTSUP;
    int r = redfish_get(m->talk, &whose->chassis, &is, err);

    if (r < 0)
        return r;
    whose->shared = redfish_chassis_is_shared(is.body);
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        struct redfish_meter meter = {.source = sources[i].source, .whose = *whose};
        struct redfish_path at;
        struct err why = {0};

        if (!redfish_link(is.body, sources[i].link, &at))
            continue;
        r = try_source(m, &meter, &at, ret, &why);
        if (r < 0 && r != -ENOTSUP && err)
            *err = why;
        if (r == 0 || !is_of_source(r))
            return r;
        worst = worse(worst, r);
    }
    return worst;
}

static int try_telemetry(struct power_method *m, const struct redfish_metered *whose, double *ret,
                         struct err *err)
{
    CLEANUP(redfish_reply_release) struct redfish_reply root = {0}, service = {0};
    struct redfish_meter meter = {.source = REDFISH_REPORT, .whose = *whose};
    struct redfish_path at;
    int r = redfish_root(m->talk, &root, err);

    if (r < 0 || !redfish_link(root.body, "TelemetryService", &at))
        return r < 0 ? r : -ENOTSUP;
    r = redfish_get(m->talk, &at, &service, err);
    if (r < 0 || !redfish_link(service.body, "MetricReports", &at))
        return r < 0 ? r : -ENOTSUP;
    return try_source(m, &meter, &at, ret, err);
}

static int look_for_meter(struct power_method *m, double *ret, struct err *err)
{
    CLEANUP(redfish_reply_release) struct redfish_reply system = {0};
    struct redfish_metered whose = {0};
    int worst = -ENOTSUP;
    int r = redfish_get_system(m, &system, err);

    if (r < 0)
        return r;
    whose.system = m->system;
    whose.alone = m->alone;
    for (size_t i = 0; i < CHASSIS_MAX && redfish_link_at(system.body, "Links.Chassis", i, &whose.chassis);
         i++) {
        struct err why = {0};

        r = try_chassis(m, &whose, ret, &why);
        if (r < 0 && r != -ENOTSUP && err)
            *err = why;
        if (r == 0 || !is_of_source(r))
            return r;
        worst = worse(worst, r);
    }
    struct err why = {0};

    r = try_telemetry(m, &whose, ret, &why);
    if (r == 0)
        return 0;
    if ((r != -ENOTSUP && worst == -ENOTSUP) || !is_of_source(r)) {
        if (err)
            *err = why;
        return r;
    }
    return worst == -ENOTSUP ? err_set(err, worst, "the controller has no power meter") : worst;
}

int redfish_measure(struct power_method *m, double *ret, struct err *err)
{
    if (m->meter.n > 0) {
        const struct redfish_meter kept = m->meter;
        int r = try_meter(m, &kept, ret, err);

        if (!is_of_source(r))
            return r;
        m->meter.n = 0; /* another source may have a reading, or this one at another place */
    }
    return look_for_meter(m, ret, err);
}
