/* selection.c: by severity, kind, and the host or VM that an event is about. */
#include "alarm/selection.h"

#include "base/texts.h"

#include <jansson.h>
#include <string.h>

enum alarm_severity alarm_severity_of(const char *word)
{
    for (int i = ALARM_SEVERITY_INFO; i < ALARM_SEVERITY_ERROR; i++) {
        if (strcmp(config_alarm_severities[i], word) == 0)
            return (enum alarm_severity)i;
    }
    return ALARM_SEVERITY_ERROR;
}

static bool has(const char *const *list, const char *word)
{
    return word && texts_list_has(list, word);
}

/* Names are taken from the event itself: the inventory may not be there yet, or know the host no more. */
static bool names_one(const char *const *list, const json_t *data, const char *const *members)
{
    const json_t *action = json_object_get(data, "action");

    for (; *members; members++) {
        if (has(list, json_string_value(json_object_get(data, *members))) ||
            has(list, json_string_value(json_object_get(action, *members))))
            return true;
    }
    return false;
}

static bool is_about(const struct config_alarm *t, const struct alarm_candidate *e, const json_t *data)
{
    static const char *const host_names[] = {"host_name", "from_name", "to_name", NULL};
    static const char *const vm_names[] = {"vm_name", NULL};

    if (!*t->hosts && !*t->vms)
        return true;
    return has(t->hosts, e->host) || has(t->hosts, e->to_host) || has(t->vms, e->vm) ||
           names_one(t->hosts, data, host_names) || names_one(t->vms, data, vm_names);
}

static bool is_of_alarms(const char *kind)
{
    return strcmp(kind, event_kind_name(EVENT_ALARM_FAILED)) == 0 ||
           strcmp(kind, event_kind_name(EVENT_ALARM_BACK)) == 0;
}

bool alarm_selects(const struct config_alarm *t, const struct alarm_candidate *e)
{
    if ((int)alarm_severity_of(e->severity) < t->severity || (*t->kinds && !has(t->kinds, e->kind)))
        return false;
    const bool own = is_of_alarms(e->kind);

    if (!own && !*t->hosts && !*t->vms)
        return true;
    json_t *data = json_loads(e->data ? e->data : "", 0, NULL);
    const char *target = json_string_value(json_object_get(data, "target"));
    bool selected = !(own && target && strcmp(target, t->name) == 0) && is_about(t, e, data);

    json_decref(data);
    return selected;
}
