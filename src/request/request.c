/* request.c: parses one request, strictly. Carrying it out is request_handler.c's. */
#include "request/internal.h"

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "base/wake_method.h"
#include "engine/ports.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* "3.2": number and version of a recommendation, as people type it. */
static bool read_version(const char *text, uint64_t *ret_id, uint32_t *ret_version)
{
    char *end = NULL;

    if (!text || *text < '0' || *text > '9')
        return false;
    errno = 0;
    *ret_id = strtoull(text, &end, 10);
    if (errno != 0 || *ret_id == 0 || *ret_id > INT64_MAX || end[0] != '.' || end[1] < '0' || end[1] > '9')
        return false;
    unsigned long long version = strtoull(end + 1, &end, 10);

    *ret_version = (uint32_t)version;
    return errno == 0 && version > 0 && version <= UINT32_MAX && *end == '\0';
}

/* A field's type, and its place in the request. */
static int read_ids(const json_t *v, struct request *r, struct err *err)
{
    size_t n = json_array_size(v);

    if (!json_is_array(v) || n == 0 || n > REQUEST_IDS_MAX)
        return err_set(err, -EINVAL, "\"ids\": expected a list of 1 to %d numbers", REQUEST_IDS_MAX);
    for (size_t i = 0; i < n; i++) {
        const json_t *id = json_array_get(v, i);

        if (json_is_integer(id) && json_integer_value(id) > 0) {
            r->ids[i] = (uint64_t)json_integer_value(id);
            r->versions[i] = 1;
        } else if (!read_version(json_string_value(id), &r->ids[i], &r->versions[i])) {
            return err_set(err, -EINVAL,
                           "\"ids\": element %zu is not the number of a recommendation, such as 3 or \"3.2\"",
                           i);
        }
    }
    r->n_ids = n;
    return 0;
}

static int read_id(const json_t *v, struct request *r, struct err *err)
{
    if (!json_is_integer(v) || json_integer_value(v) <= 0)
        return err_set(err, -EINVAL, "\"id\": expected the number of an action");
    r->ids[0] = (uint64_t)json_integer_value(v);
    r->n_ids = 1;
    return 0;
}

static int read_host(const json_t *v, struct request *r, struct err *err)
{
    size_t len = json_string_length(v);

    if (!json_is_string(v) || len == 0 || len >= sizeof r->host || strlen(json_string_value(v)) != len)
        return err_set(err, -EINVAL, "\"host\": expected the id or the name of a host");
    memcpy(r->host, json_string_value(v), len + 1);
    return 0;
}

static int read_vm(const json_t *v, struct request *r, struct err *err)
{
    size_t len = json_string_length(v);

    if (!json_is_string(v) || len == 0 || len >= sizeof r->vm || strlen(json_string_value(v)) != len)
        return err_set(err, -EINVAL, "\"vm\": expected the id or the name of a VM");
    memcpy(r->vm, json_string_value(v), len + 1);
    return 0;
}

/* Only ended actions are history. */
static int read_state(const json_t *v, struct request *r, struct err *err)
{
    static const enum action_state ends[] = {ACTION_DONE, ACTION_FAILED, ACTION_CANCELLED, ACTION_REJECTED,
                                             ACTION_EXPIRED};
    const char *word = json_string_value(v);

    for (size_t i = 0; word && i < sizeof ends / sizeof *ends; i++) {
        if (strcmp(action_state_name(ends[i]), word) != 0)
            continue;
        r->state = ends[i];
        return 0;
    }
    return err_set(err, -EINVAL,
                   "\"state\": \"%.40s\" is not a state of an action that has ended, expected done, failed, "
                   "cancelled, rejected or expired",
                   word ? word : "?");
}

static int read_mode(const json_t *v, struct request *r, struct err *err)
{
    const char *word = json_string_value(v);

    if (!word || (strcmp(word, "enter") != 0 && strcmp(word, "exit") != 0))
        return err_set(err, -EINVAL, "\"mode\": expected \"enter\" or \"exit\"");
    r->enter = strcmp(word, "enter") == 0;
    return 0;
}

static int read_limit(const json_t *v, struct request *r, struct err *err)
{
    if (!json_is_integer(v) || json_integer_value(v) < 1 || json_integer_value(v) > HISTORY_LIMIT_MAX)
        return err_set(err, -EINVAL, "\"limit\": expected a number from 1 to %d", HISTORY_LIMIT_MAX);
    r->limit = (unsigned)json_integer_value(v);
    return 0;
}

static int read_hours(const json_t *v, struct request *r, struct err *err)
{
    if (!json_is_integer(v) || json_integer_value(v) < 1 || json_integer_value(v) > FORECAST_HOURS_MAX)
        return err_set(err, -EINVAL, "\"hours\": expected a number from 1 to %d", FORECAST_HOURS_MAX);
    r->hours = (unsigned)json_integer_value(v);
    return 0;
}

static int read_vms(const json_t *v, struct request *r, struct err *err)
{
    struct request_words words;
    int code = request_read_names(v, "vms", "VMs", "a VM", r, &words, err);

    if (code == 0)
        r->n_vms = words.n;
    return code;
}

static int read_hosts(const json_t *v, struct request *r, struct err *err)
{
    struct request_words words;
    int code = request_read_names(v, "hosts", "hosts", "a host", r, &words, err);

    if (code == 0)
        r->n_hosts = words.n;
    return code;
}

static int read_at_once(const json_t *v, struct request *r, struct err *err)
{
    if (!json_is_integer(v) || json_integer_value(v) < 1 || json_integer_value(v) > REQUEST_VMS_MAX)
        return err_set(err, -EINVAL, "\"at_once\": expected a number from 1 to %d", REQUEST_VMS_MAX);
    r->at_once = (uint32_t)json_integer_value(v);
    return 0;
}

static int read_stop(const json_t *v, struct request *r, struct err *err)
{
    size_t len = json_string_length(v);

    if (!json_is_string(v) || len >= sizeof r->why || strlen(json_string_value(v)) != len)
        return err_set(err, -EINVAL, "\"stop\": expected what went wrong, or an empty text");
    r->stop = true;
    memcpy(r->why, json_string_value(v), len + 1);
    return 0;
}

static int read_apply(const json_t *v, struct request *r, struct err *err)
{
    if (!json_is_boolean(v))
        return err_set(err, -EINVAL, "\"apply\": expected true or false");
    r->apply = json_is_true(v);
    return 0;
}

static int read_verify(const json_t *v, struct request *r, struct err *err)
{
    if (!json_is_boolean(v))
        return err_set(err, -EINVAL, "\"verify\": expected true or false");
    r->verify = json_is_true(v);
    return 0;
}

static int read_method(const json_t *v, struct request *r, struct err *err)
{
    const char *word = json_string_value(v);

    r->method = word ? wake_method_parse(word) : 0;
    if (r->method == 0)
        return err_set(err, -EINVAL, "\"method\": expected ipmi, redfish, wol or hypervisor");
    return 0;
}

static int read_retry(const json_t *v, struct request *r, struct err *err)
{
    if (!json_is_boolean(v))
        return err_set(err, -EINVAL, "\"retry\": expected true or false");
    r->retry = json_is_true(v);
    return 0;
}

static int read_follow(const json_t *v, struct request *r, struct err *err)
{
    if (!json_is_boolean(v))
        return err_set(err, -EINVAL, "\"follow\": expected true or false");
    r->follow = json_is_true(v);
    return 0;
}

static int read_after(const json_t *v, struct request *r, struct err *err)
{
    if (!json_is_integer(v) || json_integer_value(v) < 0)
        return err_set(err, -EINVAL, "\"after\": expected the number of an event");
    r->after = (uint64_t)json_integer_value(v);
    r->from_start = true;
    return 0;
}

#define KIND_LISTED(e, word, meaning) " " word

static int read_event_kind(const json_t *v, struct request *r, struct err *err)
{
    enum event_kind kind;
    const char *word = json_string_value(v);

    if (!word || event_kind_parse(word, &kind) < 0 || strlen(word) >= sizeof r->event_kind)
        return err_set(err, -EINVAL,
                       "\"kind\": \"%.40s\" is no kind of event, expected one of" EVENTS(KIND_LISTED),
                       word ? word : "?");
    memcpy(r->event_kind, word, strlen(word) + 1);
    return 0;
}

static int read_since(const json_t *v, struct request *r, struct err *err)
{
    if (!json_is_string(v) || rfc3339_parse(json_string_value(v), &r->since) < 0 || r->since <= 0)
        return err_set(err, -EINVAL, "\"since\": expected a time such as \"2026-01-31T00:00:00Z\"");
    r->from_start = true;
    return 0;
}

static int read_until(const json_t *v, struct request *r, struct err *err)
{
    if (!json_is_string(v) || rfc3339_parse(json_string_value(v), &r->until) < 0 || r->until <= 0)
        return err_set(err, -EINVAL, "\"until\": expected a time such as \"2026-01-31T00:00:00Z\"");
    return 0;
}

static int read_step(const json_t *v, struct request *r, struct err *err)
{
    if (!json_is_integer(v) || json_integer_value(v) < 1 || json_integer_value(v) > SERIES_STEP_MAX_S)
        return err_set(err, -EINVAL, "\"step\": expected seconds, 1 to %d", SERIES_STEP_MAX_S);
    r->step_s = json_integer_value(v);
    return 0;
}

static int read_pool(const json_t *v, struct request *r, struct err *err)
{
    size_t len = json_string_length(v);

    if (!json_is_string(v) || len == 0 || len >= sizeof r->pool || strlen(json_string_value(v)) != len)
        return err_set(err, -EINVAL, "\"pool\": expected the id or the name of a pool");
    memcpy(r->pool, json_string_value(v), len + 1);
    return 0;
}

static int read_token_name(const json_t *v, struct request *r, struct err *err)
{
    size_t len = json_string_length(v);

    if (!json_is_string(v) || len == 0 || len >= sizeof r->name || strlen(json_string_value(v)) != len)
        return err_set(err, -EINVAL, "\"name\": expected the name of a token");
    memcpy(r->name, json_string_value(v), len + 1);
    return 0;
}

static int read_word(const json_t *v, struct request *r, const char *expected, struct err *err)
{
    size_t len = json_string_length(v);

    if (!json_is_string(v) || len == 0 || len >= sizeof r->name || strlen(json_string_value(v)) != len)
        return err_set(err, -EINVAL, "%s", expected);
    memcpy(r->name, json_string_value(v), len + 1);
    return 0;
}

static int read_target(const json_t *v, struct request *r, struct err *err)
{
    return read_word(v, r, "\"target\": expected the name of a target below alarms:", err);
}

static int read_setting(const json_t *v, struct request *r, struct err *err)
{
    return read_word(v, r, "\"setting\": expected the name of a setting", err);
}

static int read_role(const json_t *v, struct request *r, struct err *err)
{
    const char *word = json_string_value(v);

    return word && role_parse(word, &r->role) == 0
               ? 0
               : err_set(err, -EINVAL, "\"role\": expected \"viewer\", \"operator\" or \"admin\"");
}

/* Which characters it may have is the service's to check. */
static int read_owner(const json_t *v, struct request *r, struct err *err)
{
    size_t len = json_string_length(v);

    if (!json_is_string(v) || len == 0 || len >= sizeof r->owner || strlen(json_string_value(v)) != len)
        return err_set(err, -EINVAL, "\"owner\": expected the name of a person, of at most %zu bytes",
                       sizeof r->owner - 1);
    memcpy(r->owner, json_string_value(v), len + 1);
    return 0;
}

static int read_expires(const json_t *v, struct request *r, struct err *err)
{
    if (!json_is_string(v) || rfc3339_parse(json_string_value(v), &r->expires) < 0 || r->expires <= 0)
        return err_set(err, -EINVAL, "\"expires\": expected a time such as \"2026-01-31T00:00:00Z\"");
    return 0;
}

static int read_text(const json_t *v, struct request *r, struct err *err)
{
    size_t len = json_string_length(v);

    if (!json_is_string(v) || len >= sizeof r->vms)
        return err_set(err, -EINVAL, "\"text\": expected the text of a configuration");
    memcpy(r->vms, json_string_value(v), len + 1);
    r->text_len = len;
    r->has_text = true;
    return 0;
}

/* Relative paths in the text begin at the file's folder. */
static int read_file(const json_t *v, struct request *r, struct err *err)
{
    size_t len = json_string_length(v);

    if (!json_is_string(v) || len == 0 || len >= sizeof r->name || json_string_value(v)[0] != '/' ||
        strlen(json_string_value(v)) != len)
        return err_set(err, -EINVAL, "\"file\": expected the absolute path of the text, of at most %d bytes",
                       REQUEST_NAME_MAX - 1);
    memcpy(r->name, json_string_value(v), len + 1);
    return 0;
}

static const char *const by_words[energy_by_count] = {
#define BY_WORD(e, word, meaning) [e] = (word),
    ENERGY_BYS(BY_WORD)};

const char *request_energy_by_name(enum energy_by by)
{
    return (unsigned)by < energy_by_count ? by_words[by] : "?";
}

static int read_by(const json_t *v, struct request *r, struct err *err)
{
    const char *word = json_string_value(v);

    for (unsigned i = 0; word && i < energy_by_count; i++) {
        if (strcmp(by_words[i], word) == 0) {
            r->by = (enum energy_by)i;
            return 0;
        }
    }
    return err_set(err, -EINVAL, "\"by\": expected \"day\", \"hour\" or \"host\"");
}

/* A set of requests; one bit each. */
#define OF(kind) (UINT64_C(1) << (kind))

static const struct request_field {
    const char *name;
    uint64_t kinds; /* OF(REQUEST_*): commands with this field */
    bool required;
    int (*read)(const json_t *v, struct request *r, struct err *err);
    enum request_form form;
} fields[] = {
    {"ids", OF(REQUEST_APPLY) | OF(REQUEST_REJECT), true, read_ids, REQUEST_LIST},
    {"host",
     OF(REQUEST_MAINTENANCE) | OF(REQUEST_STANDBY) | OF(REQUEST_WAKE) | OF(REQUEST_CONFIRM_CONTROLLER), true,
     read_host, REQUEST_TEXT},
    {"host",
     OF(REQUEST_RECOMMENDATIONS) | OF(REQUEST_HISTORY) | OF(REQUEST_EVENTS) | OF(REQUEST_EXPLAIN) |
         OF(REQUEST_SERIES),
     false, read_host, REQUEST_TEXT},
    {"vm",
     OF(REQUEST_RECOMMENDATIONS) | OF(REQUEST_HISTORY) | OF(REQUEST_EVENTS) | OF(REQUEST_EXPLAIN) |
         OF(REQUEST_SERIES),
     false, read_vm, REQUEST_TEXT},
    {"vm", OF(REQUEST_MIGRATE), true, read_vm, REQUEST_TEXT},
    {"set", OF(REQUEST_PLAN) | OF(REQUEST_EXPLAIN) | OF(REQUEST_WHAT_IF), false, request_read_set,
     REQUEST_OBJECT},
    {"host_off", OF(REQUEST_WHAT_IF), false, request_read_host_off, REQUEST_LIST},
    {"host_on", OF(REQUEST_WHAT_IF), false, request_read_host_on, REQUEST_LIST},
    {"maintenance", OF(REQUEST_WHAT_IF), false, request_read_maintenance, REQUEST_LIST},
    {"demand", OF(REQUEST_WHAT_IF), false, request_read_demand, REQUEST_OBJECT},
    {"resource", OF(REQUEST_ENTITLEMENTS), false, request_read_resource, REQUEST_TEXT},
    {"wide", OF(REQUEST_ENTITLEMENTS), false, request_read_wide, REQUEST_FLAG},
    {"state", OF(REQUEST_HISTORY), false, read_state, REQUEST_TEXT},
    {"mode", OF(REQUEST_MAINTENANCE), true, read_mode, REQUEST_TEXT},
    {"limit",
     OF(REQUEST_HISTORY) | OF(REQUEST_EVENTS) | OF(REQUEST_SCHEDULE) | OF(REQUEST_PASSES) |
         OF(REQUEST_ENERGY),
     false, read_limit, REQUEST_NUMBER},
    {"before", OF(REQUEST_HISTORY) | OF(REQUEST_PASSES), false, request_read_before, REQUEST_NUMBER},
    {"offset", OF(REQUEST_ENERGY), false, request_read_offset, REQUEST_NUMBER},
    {"pass", OF(REQUEST_PLAN) | OF(REQUEST_SNAPSHOT), false, request_read_pass, REQUEST_NUMBER},
    {"vms", OF(REQUEST_PLACE), true, read_vms, REQUEST_LIST},
    {"hosts", OF(REQUEST_ROLL), false, read_hosts, REQUEST_LIST},
    {"at_once", OF(REQUEST_ROLL), false, read_at_once, REQUEST_NUMBER},
    {"stop", OF(REQUEST_ROLL), false, read_stop, REQUEST_TEXT},
    {"apply", OF(REQUEST_PLACE) | OF(REQUEST_MIGRATE), false, read_apply, REQUEST_FLAG},
    {"verify", OF(REQUEST_WAKE), false, read_verify, REQUEST_FLAG},
    {"method", OF(REQUEST_WAKE), false, read_method, REQUEST_TEXT},
    {"retry", OF(REQUEST_RUN), false, read_retry, REQUEST_FLAG},
    {"follow", OF(REQUEST_EVENTS), false, read_follow, REQUEST_FLAG},
    {"after", OF(REQUEST_EVENTS), false, read_after, REQUEST_NUMBER},
    {"kind", OF(REQUEST_EVENTS), false, read_event_kind, REQUEST_TEXT},
    {"since",
     OF(REQUEST_ENERGY) | OF(REQUEST_EVENTS) | OF(REQUEST_HISTORY) | OF(REQUEST_SERIES) | OF(REQUEST_PASSES),
     false, read_since, REQUEST_TEXT},
    {"since", OF(REQUEST_SUMMARY), true, read_since, REQUEST_TEXT},
    {"pool", OF(REQUEST_SERIES), false, read_pool, REQUEST_TEXT},
    {"until", OF(REQUEST_SERIES), false, read_until, REQUEST_TEXT},
    {"step", OF(REQUEST_SERIES), false, read_step, REQUEST_NUMBER},
    {"by", OF(REQUEST_ENERGY), false, read_by, REQUEST_TEXT},
    {"hours", OF(REQUEST_FORECAST), false, read_hours, REQUEST_NUMBER},
    {"id", OF(REQUEST_CONSOLE), true, read_id, REQUEST_NUMBER},
    {"text", OF(REQUEST_CONFIG_DIFF), false, read_text, REQUEST_TEXT},
    {"file", OF(REQUEST_CONFIG_DIFF), false, read_file, REQUEST_TEXT},
    {"name", OF(REQUEST_TOKEN_CREATE) | OF(REQUEST_TOKEN_REVOKE), true, read_token_name, REQUEST_TEXT},
    {"target", OF(REQUEST_ALARM_TEST), true, read_target, REQUEST_TEXT},
    {"setting", OF(REQUEST_CONFIRM_SETTING), true, read_setting, REQUEST_TEXT},
    {"role", OF(REQUEST_TOKEN_CREATE), true, read_role, REQUEST_TEXT},
    {"owner", OF(REQUEST_TOKEN_CREATE), false, read_owner, REQUEST_TEXT},
    {"expires", OF(REQUEST_TOKEN_CREATE), false, read_expires, REQUEST_TEXT},
};

#define N_FIELDS (sizeof fields / sizeof *fields)

_Static_assert(request_kind_count <= 64, "a field's commands are bits of a uint64_t");

static const char *const words[request_kind_count] = {
#define REQUEST_WORD(e, word, role, meaning) [e] = (word),
    REQUESTS(REQUEST_WORD)};

static const enum role needs[request_kind_count] = {
#define REQUEST_NEEDS(e, word, role, meaning) [e] = (role),
    REQUESTS(REQUEST_NEEDS)};

const char *request_kind_name(enum request_kind kind)
{
    return (unsigned)kind < request_kind_count ? words[kind] : "?";
}

enum role request_kind_needs(enum request_kind kind)
{
    return (unsigned)kind < request_kind_count ? needs[kind] : ROLE_ADMIN;
}

enum role request_needs(const struct request *r)
{
    if (r->kind == REQUEST_ROLL && r->n_hosts == 0 && !r->stop)
        return ROLE_VIEWER;
    return request_kind_needs(r->kind);
}

int request_field_form(enum request_kind kind, const char *field, enum request_form *ret)
{
    for (size_t i = 0; i < N_FIELDS; i++) {
        if ((fields[i].kinds & OF(kind)) && strcmp(fields[i].name, field) == 0) {
            *ret = fields[i].form;
            return 0;
        }
    }
    return -ENOENT;
}

const char *request_field(enum request_kind kind, size_t i, bool *ret_required)
{
    for (size_t f = 0; f < N_FIELDS; f++) {
        if ((fields[f].kinds & OF(kind)) && i-- == 0) {
            *ret_required = fields[f].required;
            return fields[f].name;
        }
    }
    return NULL;
}

/* Former words: what older commands send, and `ballast` too (cli/pause.c). */
static const struct {
    const char *word;
    enum request_kind kind;
} former_words[] = {{"freeze", REQUEST_PAUSE}, {"thaw", REQUEST_RESUME}};

static int read_kind(const json_t *root, enum request_kind *ret, struct err *err)
{
    const char *word = json_string_value(json_object_get(root, "command"));

    if (!word)
        return err_set(err, -EINVAL, "\"command\": missing, or not a text");
    for (unsigned i = 0; i < request_kind_count; i++) {
        if (strcmp(words[i], word) == 0) {
            *ret = (enum request_kind)i;
            return 0;
        }
    }
    for (size_t i = 0; i < sizeof former_words / sizeof *former_words; i++) {
        if (strcmp(former_words[i].word, word) == 0) {
            *ret = former_words[i].kind;
            return 0;
        }
    }
    return err_set(err, -EINVAL, "\"command\": \"%.40s\" is not a command of this service", word);
}

static int read_fields(json_t *root, struct request *r, struct err *err)
{
    uint64_t mask = OF(r->kind);
    bool given[N_FIELDS] = {false};
    const char *key;
    json_t *v;
    int code;

    json_object_foreach(root, key, v)
    {
        size_t i = 0;

        if (strcmp(key, "command") == 0)
            continue;
        while (i < N_FIELDS && (strcmp(fields[i].name, key) != 0 || !(fields[i].kinds & mask)))
            i++;
        if (i == N_FIELDS)
            return err_set(err, -EINVAL, "\"%.40s\": not a field of \"%s\"", key, words[r->kind]);
        if ((code = fields[i].read(v, r, err)) < 0)
            return code;
        given[i] = true;
    }
    for (size_t i = 0; i < N_FIELDS; i++) {
        if (fields[i].required && (fields[i].kinds & mask) && !given[i])
            return err_set(err, -EINVAL, "\"%s\": missing in \"%s\"", fields[i].name, words[r->kind]);
    }
    return 0;
}

int request_read(json_t *root, struct request *ret, struct err *err)
{
    int r;

    if (!json_is_object(root))
        return err_set(err, -EINVAL, "expected a JSON object on one line");
    memset(ret, 0, sizeof *ret);
    ret->limit = HISTORY_LIMIT_DEFAULT;
    ret->hours = FORECAST_HOURS_DEFAULT;
    ret->state = action_state_count;
    if ((r = read_kind(root, &ret->kind, err)) < 0)
        return r;
    if (ret->kind == REQUEST_ENERGY)
        ret->limit = 0;
    return read_fields(root, ret, err);
}

int request_parse(const char *line, size_t len, struct request *ret, struct err *err)
{
    json_error_t where;

    if (len > REQUEST_BYTES_MAX)
        return err_set(err, -EINVAL, "a request of more than %zu bytes", REQUEST_BYTES_MAX);
    CLEANUP(json_decrefp) json_t *root = json_loadb(line, len, JSON_REJECT_DUPLICATES, &where);

    if (!root)
        return err_set(err, -EINVAL, "not a JSON object on one line: %s", where.text);
    return request_read(root, ret, err);
}
