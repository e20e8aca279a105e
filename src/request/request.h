/* request.h: one request to the service: a line of JSON, parsed strictly. README.md has the protocol.
 *
 * A client may send anything: lines and lists are capped (REQUEST_BYTES_MAX), and a field that the command
 * does not have is refused.
 */
#ifndef BALLAST_REQUEST_REQUEST_H
#define BALLAST_REQUEST_REQUEST_H

#include <ballast/err.h>
#include <ballast/names.h>
#include <ballast/units.h>

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REQUEST_BYTES_MAX ((size_t)64 * 1024)
#define REQUEST_IDS_MAX 5000
#define REQUEST_VMS_MAX 1000
#define REQUEST_NAME_MAX 256
#define REQUEST_KIND_MAX 32
#define HISTORY_LIMIT_MAX 1000
#define HISTORY_LIMIT_DEFAULT 50
#define SERIES_STEP_MAX_S (31 * 24 * 3600)
#define FORECAST_HOURS_MAX 840
#define FORECAST_HOURS_DEFAULT 24

/* What may be asked for: the word, the least role that may ask, the meaning. */
#define REQUESTS(X)                                                                                          \
    X(REQUEST_STATUS, "status", ROLE_VIEWER, "the state of the service and its cluster")                     \
    X(REQUEST_SUMMARY, "summary", ROLE_VIEWER, "what happened since a time, in a few figures")               \
    X(REQUEST_HOSTS, "hosts", ROLE_VIEWER, "the hosts and their load")                                       \
    X(REQUEST_VMS, "vms", ROLE_VIEWER, "the VMs, their demand and entitlement")                              \
    X(REQUEST_POOLS, "pools", ROLE_VIEWER, "the resource pools and their entitlement")                       \
    X(REQUEST_RECOMMENDATIONS, "recommendations", ROLE_VIEWER,                                               \
      "recommendations, and the actions made from them")                                                     \
    X(REQUEST_HISTORY, "history", ROLE_VIEWER, "actions that have ended, newest first")                      \
    X(REQUEST_SAMPLES, "samples", ROLE_VIEWER, "each VM's demand over the last hour")                        \
    X(REQUEST_APPLY, "apply", ROLE_OPERATOR, "approves recommendations")                                     \
    X(REQUEST_REJECT, "reject", ROLE_OPERATOR, "rejects recommendations, or withdraws an approval")          \
    X(REQUEST_RUN, "run", ROLE_OPERATOR, "makes a pass now")                                                 \
    X(REQUEST_SNAPSHOT, "snapshot", ROLE_ADMIN, "the snapshot of the last pass, or of a past one")           \
    X(REQUEST_PAUSE, "pause", ROLE_OPERATOR, "starts nothing until resumed")                                 \
    X(REQUEST_RESUME, "resume", ROLE_OPERATOR, "starts actions again")                                       \
    X(REQUEST_MAINTENANCE, "maintenance", ROLE_OPERATOR, "takes a host out of service, or puts it back")     \
    X(REQUEST_ROLL, "roll", ROLE_OPERATOR,                                                                   \
      "maintenance of several hosts, one after another: begins it, ends it, shows it")                       \
    X(REQUEST_PLACE, "place", ROLE_OPERATOR,                                                                 \
      "places VMs: where to power them on, and with `apply` doing so")                                       \
    X(REQUEST_MIGRATE, "migrate", ROLE_OPERATOR,                                                             \
      "finds the best host for a VM that runs, and with `apply` moves it there")                             \
    X(REQUEST_STANDBY, "standby", ROLE_OPERATOR, "puts a host to standby")                                   \
    X(REQUEST_WAKE, "wake", ROLE_OPERATOR, "wakes a host from standby, or tests that it wakes")              \
    X(REQUEST_TRUST, "trust", ROLE_OPERATOR, "trusts a host again that was lost repeatedly")                 \
    X(REQUEST_CONFIRM_CONTROLLER, "confirm_controller", ROLE_ADMIN,                                          \
      "confirms that a host's controllers are its own")                                                      \
    X(REQUEST_CONFIRM_SETTING, "confirm_setting", ROLE_ADMIN,                                                \
      "confirms a setting that waits for that since an upgrade")                                             \
    X(REQUEST_EVENTS, "events", ROLE_VIEWER, "past events, and new ones as they come")                       \
    X(REQUEST_SERIES, "series", ROLE_VIEWER, "figures of the cluster, a host, a pool or a VM over time")     \
    X(REQUEST_ENERGY, "energy", ROLE_VIEWER, "energy used by hosts, and demand of VMs not met")              \
    X(REQUEST_SCHEDULE, "schedule", ROLE_VIEWER, "when hosts may be put to standby and must be back")        \
    X(REQUEST_FORECAST, "forecast", ROLE_VIEWER, "the cluster's demand: expected, actual, and predicted")    \
    X(REQUEST_METRICS, "metrics", ROLE_VIEWER, "figures of service and cluster for Prometheus")              \
    X(REQUEST_TOKENS, "tokens", ROLE_ADMIN, "the tokens of the API over HTTP")                               \
    X(REQUEST_TOKEN_CREATE, "token_create", ROLE_ADMIN, "makes a token")                                     \
    X(REQUEST_TOKEN_REVOKE, "token_revoke", ROLE_ADMIN, "ends a token")                                      \
    X(REQUEST_ALARM_TEST, "alarm_test", ROLE_ADMIN, "sends a test message to a target of alarms")            \
    X(REQUEST_CONFIG_DIFF, "config_diff", ROLE_ADMIN, "what a reload of the configuration would change")     \
    X(REQUEST_CONSOLE, "console", ROLE_OPERATOR, "a host's console output while it woke")                    \
    X(REQUEST_PLAN, "plan", ROLE_VIEWER, "a plan from the last snapshot, or a past pass made again")         \
    X(REQUEST_EXPLAIN, "explain", ROLE_VIEWER,                                                               \
      "why a VM is or is not moved, or a host is or is not put to standby or woken")                         \
    X(REQUEST_WHAT_IF, "what_if", ROLE_VIEWER, "a plan from the last snapshot with assumed changes")         \
    X(REQUEST_ENTITLEMENTS, "entitlements", ROLE_VIEWER, "what each resource pool and VM is entitled to")    \
    X(REQUEST_PASSES, "passes", ROLE_VIEWER, "the passes that are kept, newest first")                       \
    X(REQUEST_POLICIES, "policies", ROLE_VIEWER,                                                             \
      "the scheduling policies, their units, and which one is attached")                                     \
    X(REQUEST_POLICY_CHANGE, "policy_change", ROLE_OPERATOR, "changes scheduling policies, or attaches one")

#define REQUEST_ENUM(e, word, role, meaning) e,
enum request_kind { REQUESTS(REQUEST_ENUM) request_kind_count };

#define ENERGY_BYS(X)                                                                                        \
    X(ENERGY_BY_DAY, "day", "a row a day (UTC)")                                                             \
    X(ENERGY_BY_HOUR, "hour", "a row an hour; of what is older than a week, a row a day")                    \
    X(ENERGY_BY_HOST, "host", "a row a host")

NAME_DECLARE(energy_by, ENERGY_BYS)

const char *request_kind_name(enum request_kind kind);

/* The least role that may make the request. A roll may be shown by a viewer (request_needs()). */
enum role request_kind_needs(enum request_kind kind);

/* Words of a request: `n` of them from vms[at] on, each with its NUL. */
struct request_words {
    size_t at, n;
};

struct request {
    enum request_kind kind;
    uint64_t ids[REQUEST_IDS_MAX];      /* apply, reject: 1 or more; console: one */
    uint32_t versions[REQUEST_IDS_MAX]; /* apply, reject: of ids[]; 1 where none was given */
    size_t n_ids;
    instant_s for_s;             /* reject: how long it holds; 0: not said, REJECT_FOR_EVER */
    char host[REQUEST_NAME_MAX]; /* maintenance, standby, wake, trust, confirm_controller; explain; of history
                                    and events a filter */
    char vm[REQUEST_NAME_MAX];   /* explain; history, events: a filter, too; "": none */
    bool pool_in_path;
    bool vm_in_path, host_in_path; /* an HTTP path names it: one that is not there is not found */
    enum action_state state;       /* history: a filter; action_state_count: none */
    bool selected;                 /* reject: not by numbers */
    bool enter, yes;               /* maintenance */
    unsigned limit;                /* history, events, schedule, passes; energy: 0, all rows */
    uint64_t before;               /* history, passes: only those after this one in the list; 0: all */
    uint64_t offset;               /* energy: so many rows are left out */
    uint64_t pass;                 /* plan: makes this one again; snapshot: of this one; 0: none */
    unsigned hours;                /* forecast: length of the past part */
    bool follow;                   /* events, like the next four: send new events too */
    bool from_start;               /* `after` or `since` was given */
    uint64_t after;                /* only events with a greater number */
    instant_s since; /* also of energy, history, passes, summary: only from this time; 0: not given */
    char event_kind[REQUEST_KIND_MAX];               /* only events of this kind; "": all */
    size_t n_vms;                                    /* place: 1 or more ids or names, each with its NUL */
    bool apply;                                      /* place */
    bool verify;                                     /* wake */
    unsigned method;                                 /* wake: WAKE_*, to be tested; 0: none */
    bool retry;                                      /* run */
    enum energy_by by;                               /* energy */
    struct request_words sets;                       /* plan, explain, what_if: KEY=VALUE */
    struct request_words changes[change_kind_count]; /* what_if: hosts; of CHANGE_DEMAND VM=MHZ */
    bool without[RES_COUNT];                         /* entitlements: not this resource */
    bool wide;                                       /* entitlements */
    size_t words_len;                                /* what all of them take */
    char vms[REQUEST_BYTES_MAX];
    bool has_text;               /* config_diff: a configuration, policy_change: an element; in vms[], too */
    size_t text_len;             /* of it */
    char path[REQUEST_NAME_MAX]; /* policy_change: of oVirt's REST API, without its beginning */
    char verb[REQUEST_KIND_MAX]; /* policy_change: POST, PUT or DELETE */
    size_t n_hosts;              /* roll: in vms[], too; 0: none is begun */
    uint32_t at_once;            /* roll */
    bool stop;                   /* roll: ends it */
    char why[REQUEST_NAME_MAX];  /* roll: what went wrong; "": an admin ends it */
    char name[REQUEST_NAME_MAX]; /* token_create, token_revoke, confirm_setting; alarm_test: the target;
                                    config_diff: the file of the text */
    enum role role;              /* token_create */
    char owner[PERSON_NAME_MAX]; /* token_create; "": not said */
    char pool[REQUEST_NAME_MAX]; /* series; "": none */
    instant_s until;             /* series; 0: now */
    instant_s step_s;            /* series; 0: chosen by the service */
    instant_s expires;           /* token_create; 0: never */
};

/* The least role that may make this request: looking at a roll takes less than beginning one. */
enum role request_needs(const struct request *r);

/* How a field of the command is written in JSON. */
enum request_form { REQUEST_TEXT, REQUEST_NUMBER, REQUEST_FLAG, REQUEST_LIST, REQUEST_OBJECT };

/* -ENOENT: the command has no such field. */
int request_field_form(enum request_kind kind, const char *field, enum request_form *ret);

/* The i-th field of the command; NULL: it has no more. */
const char *request_field(enum request_kind kind, size_t i, bool *ret_required);

/* -EINVAL and a sentence that names the expected form. */
int request_parse(const char *line, size_t len, struct request *ret, struct err *err);

/* The same of an object that was read already. */
int request_read(json_t *root, struct request *ret, struct err *err);

#endif
