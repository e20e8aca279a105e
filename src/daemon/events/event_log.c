/* event_log.c: writes events to the log, with a severity each. Storing them is journal.c's. */
#include "daemon/events/event_log.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "engine/actions/move_result.h"
#include "model/named.h"

static enum log_level level_of(const struct event *ev)
{
    switch (ev->kind) {
    case EVENT_SOURCE_LOST:
    case EVENT_PASS_FAILED:
    case EVENT_FAULT:
    case EVENT_SETTINGS_FAILED:
    case EVENT_WAKE_FAILED:
    case EVENT_HOST_LOST:
    case EVENT_METER_LOST:
    case EVENT_CONFIGURATION_FAILED:
    case EVENT_ALARM_FAILED:
    case EVENT_UNIT_FAILED:
    case EVENT_GAP:
        return LOG_LEVEL_WARNING;
    case EVENT_STORE_FAILED:
    case EVENT_VM_WENT_DOWN:
        return LOG_LEVEL_ERROR;
    case EVENT_SOURCE_BACK:
    case EVENT_PAUSED:
    case EVENT_RESUMED:
    case EVENT_FAULT_CLEARED:
    case EVENT_HOST_BACK:
    case EVENT_METER_BACK:
    case EVENT_ALARM_BACK:
    case EVENT_UNIT_BACK:
    case EVENT_CONFIGURATION:
    case EVENT_RETRY:
    case EVENT_FIRST_REQUEST:
    case EVENT_MAINTENANCE_ROLL:
        return LOG_LEVEL_NOTICE;
    case EVENT_ACTION:
        return ev->action->state == ACTION_FAILED ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO;
    case EVENT_HOST: /* lost by its manager while not in standby */
        return ev->is == HOST_DISCONNECTED ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO;
    case EVENT_PASS_DONE:
    case EVENT_SETTINGS:
    case EVENT_NIGHT:
    case event_kind_count:
        break;
    }
    return LOG_LEVEL_INFO;
}

/* "12 migrate web-1 from esx1 to esx2: running" */
static void log_action(const struct event *ev)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct action_record *r = ev->action;
    const struct snapshot *s = ev->snapshot;
    /* the reason is logged once, with the recommendation; of maintenance, with the approval */
    enum action_state first = r->kind == ACTION_ENTER_MAINTENANCE ? ACTION_APPROVED : ACTION_RECOMMENDED;
    const char *text = r->state == first ? r->text : r->why;

    if (r->kind == ACTION_MIGRATE && r->state == ACTION_DONE && r->result.predicted_at != 0)
        text = arena_printf(&a, "%s%s%s", move_result_times(r, &a), text ? "; " : "", text ? text : "");

    log_at(level_of(ev), "%llu %s %s%s%s%s%s: %s%s%s%s%s", (unsigned long long)r->id,
           action_kind_name(r->kind), r->vm ? named_vm_label(s, r->vm, &a) : named_host_label(s, r->host, &a),
           r->from ? " from " : "", r->from ? named_host_label(s, r->from, &a) : "", r->to ? " to " : "",
           r->to ? named_host_label(s, r->to, &a) : "", action_state_name(r->state),
           r->state == ACTION_APPROVED ? " by " : "",
           r->state == ACTION_APPROVED && r->approved_by ? r->approved_by : "", text ? ": " : "",
           text ? text : "");
}

const char *event_log_severity(const struct event *ev)
{
    switch (level_of(ev)) {
    case LOG_LEVEL_ERROR:
        return "error";
    case LOG_LEVEL_WARNING:
        return "warning";
    case LOG_LEVEL_NOTICE:
        return "notice";
    case LOG_LEVEL_INFO:
    case LOG_LEVEL_DEBUG:
        break;
    }
    return "info";
}

void event_log_write(const struct event *ev)
{
    if (ev->kind == EVENT_ACTION)
        log_action(ev);
    else if (ev->kind == EVENT_PAUSED || ev->kind == EVENT_RESUMED)
        log_at(level_of(ev), "%s", ev->text); /* the text names the state; the event still says "frozen" */
    else
        log_at(level_of(ev), "%s: %s", event_kind_name(ev->kind), ev->text);
}
