/* answer.c: reads what is needed from a Redfish service's JSON. It sends no request. answer_text.c makes the
 * JSON. */
#include "actuators/redfish/answer.h"

#include "base/hardware_uuid.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MEMBERS_MAX 1024u

void redfish_id_of(const struct redfish_path *path, char ret[REDFISH_ID_MAX])
{
    size_t end = strlen(path->text);

    while (end > 0 && path->text[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin > 0 && path->text[begin - 1] != '/')
        begin--;
    (void)snprintf(ret, REDFISH_ID_MAX, "%.*s", (int)(end - begin), path->text + begin);
}

/* Another item of a list in words; what does not fit any more is left out. */
static void list(char *to, size_t size, const char *item)
{
    size_t len = strlen(to);

    if (len + strlen(item) + 3 < size)
        (void)snprintf(to + len, size - len, "%s%s", len ? ", " : "", item);
}

/* The next page. A link that cannot be followed must not pass for the end of the list: the system that is
 * looked for, or a second one, may be behind it. */
static int next_page(const json_t *o, const struct redfish_path *page, struct redfish_search *s,
                     struct err *err)
{
    const json_t *next = json_object_get(o, "Members@odata.nextLink");
    const json_t *count = json_object_get(o, "Members@odata.count");
    const char *link = json_string_value(next);

    s->next.text[0] = '\0';
    if (next && !json_is_null(next) && !(link && link[0] == '\0')) {
        if (!link || redfish_path_from(page->text, link, &s->next) < 0)
            return err_set(err, -EPROTO,
                           "a list whose next page cannot be asked for (Members@odata.nextLink)");
        return 0;
    }
    if (!s->id && json_is_number(count) && json_number_value(count) > (double)s->n_members)
        return err_set(err, -EPROTO, "a list of %.0f members that ends after %zu", json_number_value(count),
                       s->n_members);
    return 0;
}

int redfish_search_page(const json_t *o, const struct redfish_path *page, struct redfish_search *s,
                        struct err *err)
{
    const json_t *members = json_object_get(o, "Members");

    if (!json_is_array(members))
        return err_set(err, -EPROTO, "a collection without Members");
    for (size_t i = 0; i < json_array_size(members); i++) {
        struct redfish_path path;
        char id[REDFISH_ID_MAX];

        if (!redfish_path_in(json_object_get(json_array_get(members, i), "@odata.id"), &path))
            return err_set(err, -EPROTO, "a member of a collection without a link (@odata.id) to it");
        redfish_id_of(&path, id);
        list(s->ids, sizeof s->ids, id);
        if (++s->n_members > MEMBERS_MAX)
            return err_set(err, -EPROTO, "a collection with more than %u members", MEMBERS_MAX);
        if (s->id && strcmp(s->id, id) != 0)
            continue;
        if (s->n_found++ == 0)
            s->found = path;
    }
    return next_page(o, page, s, err);
}

bool redfish_session_in(const json_t *login, const struct redfish_path *sessions, struct redfish_path *ret)
{
    const char *id = json_string_value(json_object_get(login, "Id"));
    char path[2 * REDFISH_PATH_MAX + 16];

    if (redfish_path_in(json_object_get(login, "@odata.id"), ret))
        return true;
    if (!id || !id[0] || strpbrk(id, "/?#"))
        return false;
    (void)snprintf(path, sizeof path, "%s%s%.*s", sessions->text,
                   sessions->text[strlen(sessions->text) - 1] == '/' ? "" : "/", REDFISH_PATH_MAX, id);
    return redfish_path_of(path, ret) == 0;
}

static const char *const power_states[] = {[REDFISH_OFF] = "Off",
                                           [REDFISH_ON] = "On",
                                           [REDFISH_POWERING_ON] = "PoweringOn",
                                           [REDFISH_POWERING_OFF] = "PoweringOff",
                                           [REDFISH_PAUSED] = "Paused"};

int redfish_power_state(const json_t *system, enum redfish_power *ret, struct err *err)
{
    const json_t *state = json_object_get(system, "PowerState");
    const char *word = json_string_value(state);

    if (!state)
        return err_set(err, -ENOTSUP, "the system has no PowerState");
    if (json_is_null(state) || (word && (!word[0] || strcasecmp(word, "Unknown") == 0)))
        return err_set(err, -EBUSY, "the controller does not know the system's PowerState just now");
    for (unsigned i = 0; word && i < REDFISH_POWER_COUNT; i++) {
        if (strcasecmp(word, power_states[i]) == 0) {
            *ret = (enum redfish_power)i;
            return 0;
        }
    }
    if (word && strcmp(word, "Reset") == 0) { /* iLO 4: while it restarts */
        *ret = REDFISH_POWERING_ON;
        return 0;
    }
    return err_set(err, -EPROTO, "the system's PowerState is none of those that Redfish knows");
}

/* What firmware without a serial number has instead, the same in every machine: words of vendors, and one
 * character throughout. */
static bool is_no_serial(const char *s, size_t len)
{
    static const char *const words[] = {"To be filled by O.E.M.",
                                        "Default string",
                                        "System Serial Number",
                                        "Chassis Serial Number",
                                        "Serial Number",
                                        "Not Specified",
                                        "Not Available",
                                        "Not Applicable",
                                        "Not Provided",
                                        "Unknown",
                                        "Undefined",
                                        "Invalid",
                                        "Empty",
                                        "None",
                                        "NULL",
                                        "N/A",
                                        "NA",
                                        "OEM",
                                        "0123456789",
                                        "123456789",
                                        "1234567890"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strlen(words[i]) == len && strncasecmp(words[i], s, len) == 0)
            return true;
    }
    return strspn(s, (const char[]){s[0], '\0'}) >= len;
}

void redfish_identity(const json_t *system, struct controller_identity *ret)
{
    const char *serial = json_string_value(json_object_get(system, "SerialNumber"));
    struct hardware_uuid uuid;

    *ret = (struct controller_identity){0};
    if (hardware_uuid_parse(json_string_value(json_object_get(system, "UUID")), &uuid) == 0)
        hardware_uuid_print(&uuid, ret->uuid);
    if (!serial)
        return;
    serial += strspn(serial, " ");
    size_t len = strlen(serial);
    while (len > 0 && serial[len - 1] == ' ')
        len--;
    for (size_t i = 0; i < len; i++) { /* it is shown and stored */
        if (serial[i] < ' ' || serial[i] > '~')
            return;
    }
    if (len > 0 && !is_no_serial(serial, len) && len + sizeof "serial " <= sizeof ret->mark)
        (void)snprintf(ret->mark, sizeof ret->mark, "serial %.*s", (int)len, serial);
}

static const char *const reset_names[] = {[RESET_ON] = "On",
                                          [RESET_FORCE_ON] = "ForceOn",
                                          [RESET_GRACEFUL_SHUTDOWN] = "GracefulShutdown",
                                          [RESET_FORCE_OFF] = "ForceOff",
                                          [RESET_PUSH_POWER_BUTTON] = "PushPowerButton"};

const char *redfish_reset_name(enum redfish_reset r)
{
    return reset_names[r];
}

/* A text of the peer as part of a sentence of ours. */
static void clean(char *to, size_t size, const char *from)
{
    size_t len = 0;

    for (const unsigned char *c = (const unsigned char *)from; *c && len + 1 < size; c++) {
        if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) { /* control characters beyond ASCII */
            c++;
        } else if (*c > ' ' && *c != 0x7f) {
            to[len++] = (char)*c;
        } else if (len > 0 && to[len - 1] != ' ') {
            to[len++] = ' ';
        }
    }
    if (len + 1 == size) { /* cut: not in the middle of a character */
        while (len > 0 && ((unsigned char)to[len - 1] & 0xc0) == 0x80)
            len--;
        if (len > 0 && ((unsigned char)to[len - 1] & 0x80))
            len--;
    }
    while (len > 0 && to[len - 1] == ' ')
        len--;
    to[len] = '\0';
}

static void read_allowed(const json_t *values, struct redfish_action *ret)
{
    if (!json_is_array(values))
        return;
    ret->listed = true;
    for (size_t i = 0; i < json_array_size(values); i++) {
        const char *value = json_string_value(json_array_get(values, i));
        char word[REDFISH_ID_MAX];

        if (!value)
            continue;
        clean(word, sizeof word, value);
        list(ret->values, sizeof ret->values, word);
        for (unsigned r = 0; r < RESET_COUNT; r++) {
            if (strcmp(value, reset_names[r]) == 0)
                ret->allowed |= 1u << r;
        }
    }
}

int redfish_action(const json_t *system, struct redfish_action *ret, struct err *err)
{
    const json_t *action = json_object_get(json_object_get(system, "Actions"), "#ComputerSystem.Reset");

    *ret = (struct redfish_action){.listed = false};
    if (!json_is_object(action))
        return err_set(err, -ENOTSUP, "the system has no action ComputerSystem.Reset");
    if (!redfish_path_in(json_object_get(action, "target"), &ret->target))
        return err_set(err, -EPROTO, "the action ComputerSystem.Reset has no target");
    read_allowed(json_object_get(action, "ResetType@Redfish.AllowableValues"), ret);
    /* a string by the standard, an object with a link in some firmware */
    const json_t *info = json_object_get(action, "@Redfish.ActionInfo");
    if (ret->listed ||
        !redfish_path_in(json_is_object(info) ? json_object_get(info, "@odata.id") : info, &ret->info))
        ret->info.text[0] = '\0';
    return 0;
}

void redfish_action_info(const json_t *info, struct redfish_action *ret)
{
    const json_t *parameters = json_object_get(info, "Parameters");

    for (size_t i = 0; i < json_array_size(parameters); i++) {
        const json_t *p = json_array_get(parameters, i);
        const char *name = json_string_value(json_object_get(p, "Name"));
        if (name && strcmp(name, "ResetType") == 0)
            read_allowed(json_object_get(p, "AllowableValues"), ret);
    }
}

/* "Interrupted" is expected to start again; "Service" runs for ever, and was begun. */
static const struct {
    const char *word;
    enum redfish_task state;
} task_states[] = {
    {"Completed", REDFISH_TASK_DONE}, {"Service", REDFISH_TASK_DONE},     {"Exception", REDFISH_TASK_FAILED},
    {"Killed", REDFISH_TASK_FAILED},  {"Cancelled", REDFISH_TASK_FAILED},
};

enum redfish_task redfish_task_state(const json_t *o)
{
    const char *word = json_string_value(json_object_get(o, "TaskState"));
    const char *status = json_string_value(json_object_get(o, "TaskStatus"));

    if (!word)
        return REDFISH_NO_TASK;
    if (strcmp(word, "Completed") == 0 && status && strcmp(status, "Critical") == 0)
        return REDFISH_TASK_FAILED;
    for (size_t i = 0; i < sizeof task_states / sizeof task_states[0]; i++) {
        if (strcmp(word, task_states[i].word) == 0)
            return task_states[i].state;
    }
    return REDFISH_TASK_GOES_ON;
}

bool redfish_etag(const json_t *o, const char *header, char ret[REDFISH_ETAG_MAX])
{
    const char *etag = header[0] ? header : json_string_value(json_object_get(o, "@odata.etag"));
    size_t len = etag ? strlen(etag) : 0;

    if (len == 0 || len >= REDFISH_ETAG_MAX)
        return false;
    for (size_t i = 0; i < len; i++) { /* it becomes a header */
        if (etag[i] < ' ' || etag[i] > '~')
            return false;
    }
    memcpy(ret, etag, len + 1);
    return true;
}

/* The messages of an error or of a task; NULL: there are none. */
static const json_t *messages_of(const json_t *o)
{
    const json_t *places[] = {json_object_get(json_object_get(o, "error"), "@Message.ExtendedInfo"),
                              json_object_get(o, "@Message.ExtendedInfo"), json_object_get(o, "Messages")};

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (json_array_size(places[i]) > 0)
            return places[i];
    }
    return NULL;
}

/* iLO 4 writes "MessageID". */
static const char *id_of(const json_t *message)
{
    const char *id = json_string_value(json_object_get(message, "MessageId"));

    return id ? id : json_string_value(json_object_get(message, "MessageID"));
}

void redfish_words(const json_t *o, char ret[REDFISH_WORDS_MAX])
{
    const json_t *messages = messages_of(o);
    const char *single = json_string_value(json_object_get(json_object_get(o, "error"), "message"));
    size_t said = 0;

    ret[0] = '\0';
    for (size_t i = 0; i < json_array_size(messages) && said < 2; i++) {
        const json_t *m = json_array_get(messages, i);
        const char *text = json_string_value(json_object_get(m, "Message"));
        size_t len = strlen(ret);

        if (!text)
            text = id_of(m);
        if (!text || !text[0] || len + 2 >= REDFISH_WORDS_MAX)
            continue;
        if (said++ > 0)
            ret[len++] = ' ';
        clean(ret + len, REDFISH_WORDS_MAX - len, text);
    }
    if (said == 0 && single)
        clean(ret, REDFISH_WORDS_MAX, single);
}

/* By the last part of a message's id ("Base.1.8.ResourceInUse"): of the standard registries, and the one of
 * HPE's that is common. */
static const struct {
    const char *id;
    int code;
} refusals[] = {
    {"InsufficientPrivilege", -EACCES},
    {"NoValidSession", -EACCES},
    {"ResourceAtUriUnauthorized", -EACCES},
    {"AccessDenied", -EACCES},
    {"ActionNotSupported", -ENOTSUP},
    {"ActionParameterNotSupported", -ENOTSUP},
    {"ActionParameterUnknown", -ENOTSUP},
    {"ActionParameterValueNotInList", -ENOTSUP},
    {"PropertyValueNotInList", -ENOTSUP},
    {"InvalidOperationForSystemState", -EBUSY},
    {"ResourceInStandby", -EBUSY},
    {"ResourceInUse", -EBUSY},
    {"ServiceInUnknownState", -EBUSY},
    {"ServiceShuttingDown", -EBUSY},
    {"ServiceTemporarilyUnavailable", -EBUSY},
    {"SessionLimitExceeded", -EBUSY},
};

static const struct {
    long status;
    int code;
} statuses[] = {
    {401, -EACCES},  {403, -EACCES}, {404, -ENOTSUP}, {405, -ENOTSUP}, {409, -EBUSY},
    {410, -ENOTSUP}, {423, -EBUSY},  {429, -EBUSY},   {500, -EBUSY},   {501, -ENOTSUP},
    {502, -EBUSY},   {503, -EBUSY},  {504, -EBUSY},
};

/* The last part of the id of a message. */
static const char *short_id(const json_t *message)
{
    const char *id = id_of(message);
    const char *dot = id ? strrchr(id, '.') : NULL;

    return dot ? dot + 1 : id ? id : "";
}

static int refusal_by_id(long status, const json_t *o)
{
    const json_t *messages = messages_of(o);

    for (size_t i = 0; i < json_array_size(messages); i++) {
        const char *id = short_id(json_array_get(messages, i));

        for (size_t k = 0; k < sizeof refusals / sizeof refusals[0]; k++) {
            if (strcmp(id, refusals[k].id) == 0)
                return refusals[k].code;
        }
    }
    for (size_t k = 0; k < sizeof statuses / sizeof statuses[0]; k++) {
        if (statuses[k].status == status)
            return statuses[k].code;
    }
    return -EPROTO;
}

/* 403: the password was right, and the account lacks a privilege. */
int redfish_refusal(long status, const json_t *o)
{
    int code = refusal_by_id(status, o);

    return code == -EACCES && status == 403 ? -EPERM : code;
}

static bool says_full(const char *text)
{
    static const char *const words[] = {"maximum", "limit",   "exceed", "too many",
                                        "no more", "exhaust", "full"};

    for (size_t i = 0; text && strcasestr(text, "session") && i < sizeof words / sizeof words[0]; i++) {
        if (strcasestr(text, words[i]))
            return true;
    }
    return false;
}

/* "RAC0218" is Dell's. */
bool redfish_sessions_are_full(const json_t *o)
{
    static const char *const ids[] = {"SessionLimitExceeded", "CreateLimitReachedForResource", "RAC0218"};
    const json_t *messages = messages_of(o);
    const json_t *error = json_object_get(o, "error");

    for (size_t i = 0; i < json_array_size(messages); i++) {
        const json_t *m = json_array_get(messages, i);

        for (size_t k = 0; k < sizeof ids / sizeof ids[0]; k++) {
            if (strcmp(short_id(m), ids[k]) == 0)
                return true;
        }
        if (says_full(json_string_value(json_object_get(m, "Message"))))
            return true;
    }
    return says_full(json_string_value(json_object_get(error, "message")));
}
