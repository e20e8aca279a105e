/* request.c: parses one request, strictly. Carrying it out is request_handler.c's. */
#include "request/internal.h"

#include "base/cleanup.h"
#include "base/name_define.h"
#include "base/rfc3339.h"
#include "base/wake_method.h"
#include "engine/knowledge/rejections.h"
#include "engine/ports.h"
#include "schedule/span.h"

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

/* ---- readers that serve several fields ---- */

static int refuse(const struct request_field *f, const char *expected, struct err *err)
{
    return err_set(err, -EINVAL, "\"%s\": expected %s", f->name, expected);
}

/* false: it is no text, has a NUL, or does not fit. */
static bool copy_text(const json_t *v, char *into, size_t size)
{
    size_t len = json_string_length(v);

    if (!json_is_string(v) || len >= size || strlen(json_string_value(v)) != len)
        return false;
    memcpy(into, json_string_value(v), len + 1);
    return true;
}

static int read_text(const struct request_field *f, const json_t *v, struct request *r, struct err *err)
{
    return json_string_length(v) > 0 && copy_text(v, (char *)r + f->at, f->size)
               ? 0
               : refuse(f, f->expected, err);
}

static int read_flag(const struct request_field *f, const json_t *v, struct request *r, struct err *err)
{
    if (!json_is_boolean(v))
        return refuse(f, "true or false", err);
    *(bool *)((char *)r + f->at) = json_is_true(v);
    return 0;
}

/* A number of something, or where a list begins. */
static int read_number(const struct request_field *f, const json_t *v, struct request *r, struct err *err)
{
    if (!json_is_integer(v) || json_integer_value(v) < f->least)
        return refuse(f, f->expected, err);
    *(uint64_t *)((char *)r + f->at) = (uint64_t)json_integer_value(v);
    return 0;
}

static int read_count(const struct request_field *f, const json_t *v, struct request *r, struct err *err)
{
    if (!json_is_integer(v) || json_integer_value(v) < 1 || json_integer_value(v) > f->most)
        return err_set(err, -EINVAL, "\"%s\": expected a number from 1 to %d", f->name, f->most);
    *(unsigned *)((char *)r + f->at) = (unsigned)json_integer_value(v);
    return 0;
}

static int read_time(const struct request_field *f, const json_t *v, struct request *r, struct err *err)
{
    instant_s *at = (instant_s *)((char *)r + f->at);

    if (!json_is_string(v) || rfc3339_parse(json_string_value(v), at) < 0 || *at <= 0)
        return refuse(f, "a time such as \"2026-01-31T00:00:00Z\"", err);
    return 0;
}

/* ---- readers of one field ---- */

static int read_ids(const struct request_field *f, const json_t *v, struct request *r, struct err *err)
{
    size_t n = json_array_size(v);

    if (!json_is_array(v) || n == 0 || n > REQUEST_IDS_MAX)
        return err_set(err, -EINVAL, "\"%s\": expected a list of 1 to %d numbers", f->name, REQUEST_IDS_MAX);
    for (size_t i = 0; i < n; i++) {
        const json_t *id = json_array_get(v, i);

        if (json_is_integer(id) && json_integer_value(id) > 0) {
            r->ids[i] = (uint64_t)json_integer_value(id);
            r->versions[i] = 1;
        } else if (!read_version(json_string_value(id), &r->ids[i], &r->versions[i])) {
            return err_set(err, -EINVAL,
                           "\"%s\": element %zu is not the number of a recommendation, such as 3 or \"3.2\"",
                           f->name, i);
        }
    }
    r->n_ids = n;
    return 0;
}

static int read_for(const struct request_field *f, const json_t *v, struct request *r, struct err *err)
{
    const char *text = json_string_value(v);
    size_t len = json_string_length(v);

    if (text && strcmp(text, "ever") == 0)
        r->for_s = REJECT_FOR_EVER;
    else if (len == 0 || (text[len - 1] >= '0' && text[len - 1] <= '9') || /* of what? */
             span_parse(text, &r->for_s, NULL) < 0)
        return err_set(err, -EINVAL,
                       "\"%s\": \"%.40s\" is wrong, expected how long (90min, 12h, 7d, at most 400d) or ever",
                       f->name, text ? text : "?");
    return 0;
}

static int read_id(const struct request_field *f, const json_t *v, struct request *r, struct err *err)
{
    int code = read_number(f, v, r, err);

    r->n_ids = 1;
    return code;
}

/* Only ended actions are history. */
static int read_state(const struct request_field *f, const json_t *v, struct request *r, struct err *err)
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
                   "\"%s\": \"%.40s\" is not a state of an action that has ended, expected done, failed, "
                   "cancelled, rejected or expired",
                   f->name, word ? word : "?");
}

static int read_mode(const struct request_field *f, const json_t *v, struct request *r, struct err *err)
{
    const char *word = json_string_value(v);

    if (!word || (strcmp(word, "enter") != 0 && strcmp(word, "exit") != 0))
        return refuse(f, "\"enter\" or \"exit\"", err);
    r->enter = strcmp(word, "enter") == 0;
    return 0;
}

static int read_stop(const struct request_field *f, const json_t *v, struct request *r, struct err *err)
{
    r->stop = true;
    return copy_text(v, r->why, sizeof r->why) ? 0 : refuse(f, "what went wrong, or an empty text", err);
}

static int read_method(const struct request_field *f, const json_t *v, struct request *r, struct err *err)
{
    const char *word = json_string_value(v);

    r->method = word ? wake_method_parse(word) : 0;
    if (r->method == 0)
        return refuse(f, "ipmi, redfish, wol or hypervisor", err);
    return 0;
}

static int read_after(const struct request_field *f, const json_t *v, struct request *r, struct err *err)
{
    r->from_start = true;
    return read_number(f, v, r, err);
}

#define KIND_LISTED(e, word, meaning) " " word

static int read_event_kind(const struct request_field *f, const json_t *v, struct request *r, struct err *err)
{
    enum event_kind kind;
    const char *word = json_string_value(v);

    if (!word || event_kind_parse(word, &kind) < 0 || strlen(word) >= sizeof r->event_kind)
        return err_set(err, -EINVAL,
                       "\"%s\": \"%.40s\" is no kind of event, expected one of" EVENTS(KIND_LISTED), f->name,
                       word ? word : "?");
    memcpy(r->event_kind, word, strlen(word) + 1);
    return 0;
}

static int read_since(const struct request_field *f, const json_t *v, struct request *r, struct err *err)
{
    r->from_start = true;
    return read_time(f, v, r, err);
}

static int read_step(const struct request_field *f, const json_t *v, struct request *r, struct err *err)
{
    if (!json_is_integer(v) || json_integer_value(v) < 1 || json_integer_value(v) > SERIES_STEP_MAX_S)
        return err_set(err, -EINVAL, "\"%s\": expected seconds, 1 to %d", f->name, SERIES_STEP_MAX_S);
    r->step_s = json_integer_value(v);
    return 0;
}

static int read_role(const struct request_field *f, const json_t *v, struct request *r, struct err *err)
{
    const char *word = json_string_value(v);

    return word && role_parse(word, &r->role) == 0 ? 0
                                                   : refuse(f, "\"viewer\", \"operator\" or \"admin\"", err);
}

/* Which characters it may have is the service's to check. */
static int read_owner(const struct request_field *f, const json_t *v, struct request *r, struct err *err)
{
    if (json_string_length(v) == 0 || !copy_text(v, r->owner, sizeof r->owner))
        return err_set(err, -EINVAL, "\"%s\": expected the name of a person, of at most %zu bytes", f->name,
                       sizeof r->owner - 1);
    return 0;
}

static int read_config(const struct request_field *f, const json_t *v, struct request *r, struct err *err)
{
    size_t len = json_string_length(v);

    if (!json_is_string(v) || len >= sizeof r->vms)
        return refuse(f, "the text of a configuration", err);
    memcpy(r->vms, json_string_value(v), len + 1);
    r->text_len = len;
    r->has_text = true;
    return 0;
}

/* Its JSON is in vms[]. */
static int read_element(const struct request_field *f, const json_t *v, struct request *r, struct err *err)
{
    size_t len = json_is_object(v) ? json_dumpb(v, r->vms, sizeof r->vms - 1, JSON_COMPACT) : 0;

    if (len == 0 || len >= sizeof r->vms)
        return refuse(f, "an object", err);
    r->vms[len] = '\0';
    r->text_len = len;
    r->has_text = true;
    return 0;
}

/* Relative paths in the text begin at the file's folder. */
static int read_file(const struct request_field *f, const json_t *v, struct request *r, struct err *err)
{
    if (!json_is_string(v) || json_string_value(v)[0] != '/' || !copy_text(v, r->name, sizeof r->name))
        return err_set(err, -EINVAL, "\"%s\": expected the absolute path of the text, of at most %d bytes",
                       f->name, REQUEST_NAME_MAX - 1);
    return 0;
}

NAME_DEFINE(energy_by, ENERGY_BYS)

static int read_by(const struct request_field *f, const json_t *v, struct request *r, struct err *err)
{
    const char *word = json_string_value(v);

    return word && energy_by_parse(word, &r->by) == 0 ? 0 : refuse(f, "\"day\", \"hour\" or \"host\"", err);
}

/* A set of requests; one bit each. */
#define OF(kind) (UINT64_C(1) << (kind))

#define IN(member) .at = offsetof(struct request, member), .size = sizeof((struct request *)NULL)->member
#define HOST_EXPECTED "the id or the name of a host"
#define VM_EXPECTED "the id or the name of a VM"

static const struct request_field fields[] = {
    {"ids", OF(REQUEST_APPLY) | OF(REQUEST_REJECT), true, read_ids, REQUEST_LIST},
    {"for", OF(REQUEST_REJECT), false, read_for, REQUEST_TEXT},
    {"selected", OF(REQUEST_REJECT), false, read_flag, REQUEST_FLAG, IN(selected)},
    {"host",
     OF(REQUEST_MAINTENANCE) | OF(REQUEST_STANDBY) | OF(REQUEST_WAKE) | OF(REQUEST_TRUST) |
         OF(REQUEST_CONFIRM_CONTROLLER),
     true, read_text, REQUEST_TEXT, IN(host), .expected = HOST_EXPECTED},
    {"host",
     OF(REQUEST_RECOMMENDATIONS) | OF(REQUEST_HISTORY) | OF(REQUEST_EVENTS) | OF(REQUEST_EXPLAIN) |
         OF(REQUEST_SERIES),
     false, read_text, REQUEST_TEXT, IN(host), .expected = HOST_EXPECTED},
    {"vm",
     OF(REQUEST_RECOMMENDATIONS) | OF(REQUEST_HISTORY) | OF(REQUEST_EVENTS) | OF(REQUEST_EXPLAIN) |
         OF(REQUEST_SERIES),
     false, read_text, REQUEST_TEXT, IN(vm), .expected = VM_EXPECTED},
    {"vm", OF(REQUEST_MIGRATE), true, read_text, REQUEST_TEXT, IN(vm), .expected = VM_EXPECTED},
    {"set", OF(REQUEST_PLAN) | OF(REQUEST_EXPLAIN) | OF(REQUEST_WHAT_IF), false, request_read_set,
     REQUEST_OBJECT},
    {"host_off", OF(REQUEST_WHAT_IF), false, request_read_names, REQUEST_LIST, IN(changes[CHANGE_HOST_OFF]),
     .expected = "host"},
    {"host_on", OF(REQUEST_WHAT_IF), false, request_read_names, REQUEST_LIST, IN(changes[CHANGE_HOST_ON]),
     .expected = "host"},
    {"maintenance", OF(REQUEST_WHAT_IF), false, request_read_names, REQUEST_LIST,
     IN(changes[CHANGE_MAINTENANCE]), .expected = "host"},
    {"demand", OF(REQUEST_WHAT_IF), false, request_read_demand, REQUEST_OBJECT},
    {"resource", OF(REQUEST_ENTITLEMENTS), false, request_read_resource, REQUEST_TEXT},
    {"wide", OF(REQUEST_ENTITLEMENTS), false, read_flag, REQUEST_FLAG, IN(wide)},
    {"state", OF(REQUEST_HISTORY), false, read_state, REQUEST_TEXT},
    {"mode", OF(REQUEST_MAINTENANCE), true, read_mode, REQUEST_TEXT},
    {"yes", OF(REQUEST_MAINTENANCE), false, read_flag, REQUEST_FLAG, IN(yes)},
    {"limit",
     OF(REQUEST_HISTORY) | OF(REQUEST_EVENTS) | OF(REQUEST_SCHEDULE) | OF(REQUEST_PASSES) |
         OF(REQUEST_ENERGY),
     false, read_count, REQUEST_NUMBER, IN(limit), .most = HISTORY_LIMIT_MAX},
    {"before", OF(REQUEST_HISTORY) | OF(REQUEST_PASSES), false, read_number, REQUEST_NUMBER, IN(before),
     .least = 1, .expected = "the number of the last one of the page before"},
    {"offset", OF(REQUEST_ENERGY), false, read_number, REQUEST_NUMBER, IN(offset),
     .expected = "how many rows to leave out"},
    {"pass", OF(REQUEST_PLAN) | OF(REQUEST_SNAPSHOT), false, read_number, REQUEST_NUMBER, IN(pass),
     .least = 1, .expected = "the number of a pass"},
    {"vms", OF(REQUEST_PLACE), true, request_read_list, REQUEST_LIST, IN(n_vms), .expected = "VM"},
    {"hosts", OF(REQUEST_ROLL), false, request_read_list, REQUEST_LIST, IN(n_hosts), .expected = "host"},
    {"at_once", OF(REQUEST_ROLL), false, read_count, REQUEST_NUMBER, IN(at_once), .most = REQUEST_VMS_MAX},
    {"stop", OF(REQUEST_ROLL), false, read_stop, REQUEST_TEXT},
    {"apply", OF(REQUEST_PLACE) | OF(REQUEST_MIGRATE), false, read_flag, REQUEST_FLAG, IN(apply)},
    {"verify", OF(REQUEST_WAKE), false, read_flag, REQUEST_FLAG, IN(verify)},
    {"method", OF(REQUEST_WAKE), false, read_method, REQUEST_TEXT},
    {"retry", OF(REQUEST_RUN), false, read_flag, REQUEST_FLAG, IN(retry)},
    {"follow", OF(REQUEST_EVENTS), false, read_flag, REQUEST_FLAG, IN(follow)},
    {"after", OF(REQUEST_EVENTS), false, read_after, REQUEST_NUMBER, IN(after),
     .expected = "the number of an event"},
    {"kind", OF(REQUEST_EVENTS), false, read_event_kind, REQUEST_TEXT},
    {"since",
     OF(REQUEST_ENERGY) | OF(REQUEST_EVENTS) | OF(REQUEST_HISTORY) | OF(REQUEST_SERIES) | OF(REQUEST_PASSES),
     false, read_since, REQUEST_TEXT, IN(since)},
    {"since", OF(REQUEST_SUMMARY), true, read_since, REQUEST_TEXT, IN(since)},
    {"pool", OF(REQUEST_SERIES), false, read_text, REQUEST_TEXT, IN(pool),
     .expected = "the id or the name of a pool"},
    {"until", OF(REQUEST_SERIES), false, read_time, REQUEST_TEXT, IN(until)},
    {"step", OF(REQUEST_SERIES), false, read_step, REQUEST_NUMBER},
    {"by", OF(REQUEST_ENERGY), false, read_by, REQUEST_TEXT},
    {"hours", OF(REQUEST_FORECAST), false, read_count, REQUEST_NUMBER, IN(hours), .most = FORECAST_HOURS_MAX},
    {"id", OF(REQUEST_CONSOLE), true, read_id, REQUEST_NUMBER, IN(ids), .least = 1,
     .expected = "the number of an action"},
    {"text", OF(REQUEST_CONFIG_DIFF), false, read_config, REQUEST_TEXT},
    {"file", OF(REQUEST_CONFIG_DIFF), false, read_file, REQUEST_TEXT},
    {"verb", OF(REQUEST_POLICY_CHANGE), true, read_text, REQUEST_TEXT, IN(verb),
     .expected = "POST, PUT or DELETE"},
    {"path", OF(REQUEST_POLICY_CHANGE), true, read_text, REQUEST_TEXT, IN(path),
     .expected = "a path such as \"schedulingpolicies\""},
    {"is", OF(REQUEST_POLICY_CHANGE), false, read_element, REQUEST_OBJECT},
    {"name", OF(REQUEST_TOKEN_CREATE) | OF(REQUEST_TOKEN_REVOKE), true, read_text, REQUEST_TEXT, IN(name),
     .expected = "the name of a token"},
    {"target", OF(REQUEST_ALARM_TEST), true, read_text, REQUEST_TEXT, IN(name),
     .expected = "the name of a target below alarms:"},
    {"setting", OF(REQUEST_CONFIRM_SETTING), true, read_text, REQUEST_TEXT, IN(name),
     .expected = "the name of a setting"},
    {"role", OF(REQUEST_TOKEN_CREATE), true, read_role, REQUEST_TEXT},
    {"owner", OF(REQUEST_TOKEN_CREATE), false, read_owner, REQUEST_TEXT},
    {"expires", OF(REQUEST_TOKEN_CREATE), false, read_time, REQUEST_TEXT, IN(expires)},
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

/* Former words: what older commands send, and `ballast` too (cli/requests.c). */
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
        if ((code = fields[i].read(&fields[i], v, r, err)) < 0)
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
