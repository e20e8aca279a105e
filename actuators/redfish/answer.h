/* answer.h: reads a Redfish service's JSON; no network here.
 *
 * The JSON is untrusted: sizes, depth and numbers of members are bounded, and every type is checked. Of a
 * link only the path counts, so that no request leaves the configured host. A missing property and one of
 * a wrong type are distinguished only where the difference matters to an admin.
 */
#ifndef BALLAST_REDFISH_ANSWER_H
#define BALLAST_REDFISH_ANSWER_H

#include <ballast/err.h>
#include <ballast/power.h>
#include <ballast/units.h>

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define REDFISH_ANSWER_MAX ((size_t)1024 * 1024) /* bytes */
#define REDFISH_DEPTH_MAX 32u
#define REDFISH_PATH_MAX 256
#define REDFISH_ID_MAX 64
#define REDFISH_WORDS_MAX 240
#define REDFISH_ETAG_MAX 128

struct redfish_path {
    char text[REDFISH_PATH_MAX]; /* begins with '/'; "": there is none */
};

/* One JSON object, at most so large and so deep. A byte order mark, NULs at the end, \u0000, Latin-1 and bare
 * control characters, which firmware writes, are no error. -EPROTO. The caller releases *ret with
 * json_decref(). */
int redfish_parse(const char *text, size_t len, json_t **ret, struct err *err);

/* The path of a link or a Location header, without host and fragment. -EPROTO: it has none that could be
 * asked for. */
int redfish_path_of(const char *link, struct redfish_path *ret);

/* The same of a reference that may be relative to the page that it is in, e.g. "?$skip=1" (RFC 3986, section
 * 5). -EPROTO. */
int redfish_path_from(const char *page, const char *reference, struct redfish_path *ret);

/* The path below a property: {"name": {"@odata.id": path}}; a dot in the name goes one object down
 * ("Links.Sessions"). false: it is not there. */
bool redfish_link(const json_t *o, const char *name, struct redfish_path *ret);

/* The i-th link of an array of links, e.g. of "Links.Chassis". */
bool redfish_link_at(const json_t *o, const char *name, size_t i, struct redfish_path *ret);

/* The value of "name", or of "outer.name"; NULL: it has none. */
const json_t *redfish_property(const json_t *o, const char *name);

/* The path that a JSON string holds. false: it is no string, or no path. */
bool redfish_path_in(const json_t *string, struct redfish_path *ret);

/* The last part of a path: a collection member's id, cut where it is too long. */
void redfish_id_of(const struct redfish_path *path, char ret[REDFISH_ID_MAX]);

/* Searches one page of a collection for the member with that id, or for any if id is NULL. Results add up
 * over the pages; a member counts if it matches. */
struct redfish_search {
    const char *id;
    size_t n_members;
    size_t n_found;
    struct redfish_path found;   /* the first */
    char ids[REDFISH_WORDS_MAX]; /* of all members, for an error: "1, 2, blade-7" */
    struct redfish_path next;    /* the page after this one; "": this was the last */
};
/* page: where this page was read. -EPROTO: no collection, or one whose rest cannot be read. */
int redfish_search_page(const json_t *o, const struct redfish_path *page, struct redfish_search *s,
                        struct err *err);

/* The place of the session in the answer to a login; false: it is not told. */
bool redfish_session_in(const json_t *login, const struct redfish_path *sessions, struct redfish_path *ret);

/* A system's PowerState, also in the words of older firmware. -ENOTSUP: it has no such property; -EBUSY: null
 * or Unknown, the controller does not know just now; -EPROTO. */
enum redfish_power {
    REDFISH_OFF,
    REDFISH_ON,
    REDFISH_POWERING_ON,
    REDFISH_POWERING_OFF,
    REDFISH_PAUSED,
    REDFISH_POWER_COUNT /* not known */
};
int redfish_power_state(const json_t *system, enum redfish_power *ret, struct err *err);

/* A system's UUID and SerialNumber. A missing, null or unusable property, and a serial number that a vendor
 * has left in every machine, leaves its text "". */
void redfish_identity(const json_t *system, struct controller_identity *ret);

/* ResetType's values that are of use here, as bits. */
enum redfish_reset {
    RESET_ON,
    RESET_FORCE_ON,
    RESET_GRACEFUL_SHUTDOWN,
    RESET_FORCE_OFF,
    RESET_PUSH_POWER_BUTTON,
    RESET_COUNT
};
const char *redfish_reset_name(enum redfish_reset r);

/* How a system is reset: the target, and the accepted values. A service need not list them; info then
 * leads to a list elsewhere, or all are accepted. -ENOTSUP: it has no such action; -EPROTO. */
struct redfish_action {
    struct redfish_path target, info;
    bool listed;
    unsigned allowed;               /* 1u << enum redfish_reset */
    char values[REDFISH_WORDS_MAX]; /* as listed, for an error */
};
int redfish_action(const json_t *system, struct redfish_action *ret, struct err *err);

/* The list that info leads to, put into *ret where it has one. */
void redfish_action_info(const json_t *info, struct redfish_action *ret);

/* Where a controller tells what a system draws, the best first. */
enum redfish_source {
    REDFISH_ENVIRONMENT,   /* EnvironmentMetrics of a chassis: PowerWatts */
    REDFISH_POWER_CONTROL, /* Power of a chassis: the PowerControl that is about the system, or the chassis */
    REDFISH_SUPPLY,        /* the metrics of one power supply of a PowerSubsystem: InputPowerWatts */
    REDFISH_SENSOR,        /* a sensor of a chassis */
    REDFISH_REPORT         /* a metric report of the TelemetryService */
};

/* Whose draw is asked for. A chassis that holds other systems as well measures these, too: of it only what
 * names the system counts. */
struct redfish_metered {
    struct redfish_path system, chassis;
    bool shared;     /* the chassis holds other systems, too */
    bool alone;      /* the service has no other system */
    instant_s clock; /* of the service, when the resource was read: figures with a time are compared with it;
                        0: not known */
};

/* Watts, by the kind of resource. Of a metric report only a figure counts that is at most two periods of
 * POWER_METER_PERIOD_S old by the service's own clock, which may be wrong by years. -ENOTSUP: it has no such
 * reading of that system; -EBUSY: null, no reading now; -EPROTO: no number, or one that no host draws. */
int redfish_watts(enum redfish_source source, const json_t *o, const struct redfish_metered *whose,
                  double *ret, struct err *err);

/* A manager's clock (DateTime); 0: it tells none. */
instant_s redfish_clock(const json_t *manager);

/* Whether a chassis holds more than one system. */
bool redfish_chassis_is_shared(const json_t *chassis);

/* Whether a sensor or a report may be about a system's power, by its id: "total_power", "PowerMetrics". */
bool redfish_is_power_sensor(const char *id);
bool redfish_is_power_report(const char *id);

/* The state of a task (Task.TaskState). One that is completed with TaskStatus Critical has failed. */
enum redfish_task { REDFISH_NO_TASK, REDFISH_TASK_GOES_ON, REDFISH_TASK_DONE, REDFISH_TASK_FAILED };
enum redfish_task redfish_task_state(const json_t *o);

/* The ETag of a resource for If-Match: that of the header, else @odata.etag. false: it has none. */
bool redfish_etag(const json_t *o, const char *header, char ret[REDFISH_ETAG_MAX]);

/* The service's own words: the messages of an error (error."@Message.ExtendedInfo") or of a task
 * (Messages), two at most, without control characters; "" if there are none. */
void redfish_words(const json_t *o, char ret[REDFISH_WORDS_MAX]);

/* The errno of an unsuccessful answer: by its messages' ids where one is known, else by the status. */
int redfish_refusal(long status, const json_t *o);

/* Whether a refused login says that the service has no session left; controllers say so with several ids, and
 * statuses from 400 to 503. */
bool redfish_sessions_are_full(const json_t *o);

#endif
